/**
 * The data of the page, elements, and numbers as they are shown. Everything from the model becomes
 * text nodes; nothing is parsed as HTML.
 *
 * @typedef {number | null} Index of a formula, a type or a shape
 * @typedef {{name: string, origin: "input" | "data" | "unknown", why?: string, min?: number | string,
 *   max?: number | string, limit?: number}} SizeSymbol
 * @typedef {{left: number, relation: "==" | "!=" | "<=" | ">=" | "broadcasts with", right: number}} Relation
 * @typedef {{when: Relation[], holds: Relation, text: string, place: string}} Condition
 * @typedef {"macs" | "operations" | "arithmetic" | "comparisons" | "transcendentals" | "bytes_read" | "bytes_written"} Metric
 * @typedef {{
 *   symbols: SizeSymbol[], formulas: Entry[], texts: [number, string][],
 *   operators: string[], attributes: string[], types: string[], elements: string[], shapes: (number[] | string)[],
 *   values: {name: string[], type: Index[], shape: Index[], bytes: Index[], kind: number[], elements: number[], lasts: (number | null)[]},
 *   nodes: {name: (string | number)[], operator: number[], attributes: number[], of_sizes: string, inputs: (number | null)[][], outputs: (number | null)[][],
 *     parameters: (number | string)[], macs: Index[], operations: Index[],
 *     arithmetic: Index[], comparisons: Index[], transcendentals: Index[], bytes_read: Index[], bytes_written: Index[]},
 *   inputs: number[], outputs: number[], reasons: [number, string[]][],
 *   bodies: {path: string, values: [string, Index, Index][]}[],
 *   conditions: (Condition | null)[], within: [number, number][],
 *   totals: {macs: Index, operations: Index, arithmetic: Index, comparisons: Index, transcendentals: Index, bytes_read: Index, bytes_written: Index, peak: Index, in_place: Index, inputs: Index,
 *     constants: number | string, parameters: number | string},
 *   other?: {name: string, symbols: SizeSymbol[], formulas: Entry[], totals: Data["totals"]}
 * }} Data
 */
/** @type {Data} */
const data = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("data")).textContent || "");
const { nodes, values: tensors } = data;
/** Names of nodes. A number says how much longer the name of the first output is. */
const names = nodes.name.map((name, node) =>
  typeof name === "string" ? name : tensors.name[Number(nodes.outputs[node][0])].slice(0, name === 0 ? undefined : -name),
);
/** The step at which a value is made, and the last that needs it; -1 of what no node makes. */
const made = new Int32Array(tensors.name.length).fill(-1);
nodes.outputs.forEach((ids, node) => {
  for (const id of ids) if (id !== null) made[id] = node;
});
const last = made.map((step, id) => (step < 0 ? -1 : step + Number(tensors.lasts[id])));
const texts = new Map(data.texts);
const reasons = new Map(data.reasons);
const count = names.length;
const allNodes = Array.from({ length: count }, (_, index) => index);
const outputsOfModel = new Set(data.outputs);
/** @param {number} node */
const parametersOf = (node) => BigInt(nodes.parameters[node]);

/** Rows of the table of nodes on a page of it, and entries of other lists. */
const PAGE = 100;
const MOST = 200;
/** Lines of the origin of a shape. */
const CHAIN = 200;

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
const content = (id) => /** @type {HTMLElement} */ (document.querySelector(`#${id} .content`));

/**
 * Makes an element. Attributes that begin with "on" are listeners; false and null leave one out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 * @returns {SVGElement}
 */
function svg(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** @param {string} text */
const named = (text) => el("bdi", { class: "name" }, text);

/**
 * A table with a heading for each column; numbers are aligned on the right.
 * @param {[string, ("number" | "")?][]} columns
 * @param {string} label
 */
function tableOf(columns, label) {
  const body = el("tbody");
  const heads = columns.map(([name, kind]) => el("th", { scope: "col", class: kind || null }, name));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body);
  return { body, box: el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table) };
}

/** @param {bigint | null} value */
const exact = (value) => (value === null ? "?" : String(value).replace(/\B(?=(\d{3})+$)/g, ","));

/**
 * 1 node, 2 nodes.
 * @param {number} number
 * @param {string} what
 */
const counted = (number, what) => `${exact(BigInt(number))} ${what}${number === 1 ? "" : "s"}`;

const PREFIXES = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];

/**
 * Three digits with a prefix of SI: 12.6 M.
 * @param {bigint | null} value
 * @param {string} unit
 */
function scaled(value, unit) {
  if (value === null) return "?";
  const digits = value < 0n ? -value : value;
  let power = 0;
  let scale = 1n;
  while (power + 1 < PREFIXES.length && digits >= scale * 1000n) {
    scale *= 1000n;
    power += 1;
  }
  const number = Number((value * 1000n) / scale) / 1000;
  const shown = power === 0 ? String(value) : number.toPrecision(Math.max(3, String(Math.trunc(number)).length));
  const prefixed = PREFIXES[power] + unit;
  return prefixed === "" ? shown : `${shown}\u00a0${prefixed}`;
}

/** @param {bigint | null} bytes */
const bytesText = (bytes) => scaled(bytes, "B");
