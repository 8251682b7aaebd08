"use strict";

/**
 * Draws what follows from sizes: totals, memory, cost and tables. Everything from the model becomes
 * text nodes; nothing is parsed as HTML.
 *
 * @typedef {number | null} Index of a formula, a type or a shape
 * @typedef {{name: string, origin: "input" | "data" | "unknown", why?: string, min?: number | string,
 *   max?: number | string, limit?: number}} SizeSymbol
 * @typedef {{left: number, relation: "==" | "<=" | ">=" | "broadcasts with", right: number, text: string,
 *   place: string}} Condition
 * @typedef {"macs" | "operations" | "arithmetic" | "comparisons" | "transcendentals" | "read" | "written"} Metric
 * @typedef {{
 *   symbols: SizeSymbol[], formulas: Entry[], texts: [number, string][],
 *   operators: string[], attributes: string[], types: string[], elements: string[], shapes: (number[] | string)[],
 *   values: {name: string[], type: Index[], shape: Index[], bytes: Index[], kind: number[], elements: number[], lasts: (number | null)[]},
 *   nodes: {name: (string | number)[], operator: number[], attributes: number[], of_sizes: string, inputs: (number | null)[][], outputs: (number | null)[][],
 *     parameters: (number | string)[], macs: Index[], operations: Index[],
 *     arithmetic: Index[], comparisons: Index[], transcendentals: Index[], read: Index[], written: Index[]},
 *   inputs: number[], outputs: number[], reasons: [number, string[]][],
 *   bodies: {path: string, values: [string, Index, Index][]}[],
 *   conditions: (Condition | null)[], within: [number, number][],
 *   totals: {macs: Index, operations: Index, arithmetic: Index, comparisons: Index, transcendentals: Index, read: Index, written: Index, peak: Index, inputs: Index,
 *     constants: number | string, parameters: number | string},
 *   other?: {name: string, symbols: SizeSymbol[], formulas: Entry[], totals: Data["totals"]}
 * }} Data
 */
(() => {
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

  // --- Elements ------------------------------------------------------------------------------

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

  // --- Numbers -------------------------------------------------------------------------------

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

  // --- Sizes ---------------------------------------------------------------------------------

  /** Sizes that the reader set; null follows from the limit. @type {(bigint | null)[]} */
  const chosen = data.symbols.map(() => null);
  /** @type {(bigint | null)[]} */
  let sizes = [];
  /** @type {(bigint | null)[]} */
  let values = [];
  let showsFormulas = false;
  /** @type {(() => void)[]} */
  const drawers = [];

  /** @param {SizeSymbol} symbol */
  const leastOf = (symbol) => (symbol.min === undefined ? (symbol.origin === "input" ? 1n : 0n) : BigInt(symbol.min));
  /** @param {SizeSymbol} symbol */
  const mostOf = (symbol) => (symbol.max === undefined ? null : BigInt(symbol.max));

  /**
   * The size that a symbol begins with: 1 for first axes of inputs, which are mostly batches.
   * @param {SizeSymbol} symbol
   * @param {number} index
   */
  function initial(symbol, index) {
    if (symbol.limit !== undefined) return null;
    const isFirst = data.inputs.some((id) => {
      const shape = data.shapes[tensors.shape[id] ?? -1];
      const first = Array.isArray(shape) && shape.length > 1 ? data.formulas[shape[0]] : null;
      return Array.isArray(first) && first[0] === "s" && first[1] === index;
    });
    let size = isFirst || symbol.origin !== "input" ? 1n : 128n;
    const [least, most] = [leastOf(symbol), mostOf(symbol)];
    if (most !== null && size > most) size = most;
    return size < least ? least : size;
  }

  /** Evaluates all formulas; sizes that the data decide are at their limits. */
  function compute() {
    sizes = chosen.slice();
    values = evaluate(data.formulas, sizes);
    for (let pass = 0; pass < 3 && sizes.includes(null); pass += 1) {
      sizes = sizes.map((size, index) => {
        const { limit } = data.symbols[index];
        return size === null && limit !== undefined ? values[limit] : size;
      });
      values = evaluate(data.formulas, sizes);
    }
  }

  let isScheduled = false;
  function schedule() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      draw();
    });
  }

  function draw() {
    compute();
    for (const drawer of drawers) drawer();
  }

  /** Keeps the sizes in the address, so that it can be shared. */
  function remember() {
    const parts = data.symbols.flatMap((symbol, index) => {
      const size = chosen[index];
      return size === null ? [] : [`${encodeURIComponent(symbol.name)}=${size}`];
    });
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // Some browsers keep addresses of local files as they are.
    }
  }

  /** Reads the sizes of the address. */
  function recall() {
    data.symbols.forEach((symbol, index) => {
      chosen[index] = initial(symbol, index);
    });
    for (const part of location.hash.slice(1).split("&")) {
      const [name, size] = part.split("=");
      if (size === undefined || !/^\d{1,18}$/.test(size)) continue;
      let decoded = "";
      try {
        decoded = decodeURIComponent(name);
      } catch {
        continue;
      }
      const index = data.symbols.findIndex((symbol) => symbol.name === decoded);
      if (index >= 0 && isWithin(data.symbols[index], BigInt(size))) chosen[index] = BigInt(size);
    }
  }

  /**
   * @param {SizeSymbol} symbol
   * @param {bigint} size
   */
  function isWithin(symbol, size) {
    const most = mostOf(symbol);
    return size >= (symbol.min === undefined ? 0n : BigInt(symbol.min)) && (most === null || size <= most);
  }

  /**
   * The sizes that a slider has: powers of two, and those between them.
   * @param {SizeSymbol} symbol
   */
  function stops(symbol) {
    const [least, most] = [leastOf(symbol), mostOf(symbol) ?? 65536n];
    const found = new Set([least]);
    for (let power = 1n; power < most; power *= 2n) {
      for (const size of [power, (power * 3n) / 2n]) if (size > least && size < most) found.add(size);
    }
    if (most > least) found.add(most);
    return [...found].sort((a, b) => (a < b ? -1 : 1));
  }

  /**
   * @param {number} index
   * @returns {HTMLElement}
   */
  function sizeField(index) {
    const symbol = data.symbols[index];
    const all = stops(symbol);
    const most = mostOf(symbol);
    const number = /** @type {HTMLInputElement} */ (
      el("input", {
        type: "number",
        id: `size-${index}`,
        min: symbol.min ?? 0,
        max: most,
        step: 1,
        inputmode: "numeric",
        autocomplete: "off",
      })
    );
    const range = /** @type {HTMLInputElement} */ (
      el("input", { type: "range", min: 0, max: all.length - 1, step: 1, "aria-label": `${symbol.name}, slider` })
    );
    const set = (/** @type {bigint} */ size) => {
      chosen[index] = size;
      remember();
      schedule();
    };
    number.addEventListener("input", () => {
      const isNumber = /^\d{1,18}$/.test(number.value);
      const isGood = isNumber && isWithin(symbol, BigInt(number.value));
      number.setCustomValidity(isGood ? "" : "a whole number within the bounds");
      number.toggleAttribute("aria-invalid", !isGood);
      if (isGood) set(BigInt(number.value));
    });
    range.addEventListener("input", () => set(all[Number(range.value)]));
    drawers.push(() => {
      const size = sizes[index];
      if (size === null) return;
      if (document.activeElement !== number || (/^\d+$/.test(number.value) && BigInt(number.value) !== size)) {
        number.value = String(size);
        number.setCustomValidity("");
        number.removeAttribute("aria-invalid");
      }
      let nearest = 0;
      while (nearest + 1 < all.length && all[nearest + 1] <= size) nearest += 1;
      range.value = String(nearest);
      range.setAttribute("aria-valuetext", String(size));
    });
    const label = el("label", { for: `size-${index}` }, named(symbol.name));
    const why = symbol.why === undefined ? null : el("p", { class: "why", id: `why-${index}` }, symbol.why);
    if (why !== null) number.setAttribute("aria-describedby", why.id);
    return el("div", { class: "size" }, label, number, range, why);
  }

  function drawSizes() {
    const form = /** @type {HTMLFormElement} */ (document.getElementById("sizes"));
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    const indices = data.symbols.map((_, index) => index);
    const open = indices.filter((index) => data.symbols[index].origin === "input");
    const decided = indices.filter((index) => data.symbols[index].origin !== "input");
    const fields = el("div", { class: "fields" }, ...open.slice(0, 6).map(sizeField));
    if (open.length === 0) fields.append(el("p", { class: "quiet" }, "All sizes of the inputs are numbers."));
    form.append(fields);
    const group = (/** @type {string} */ title, /** @type {number[]} */ of) =>
      el("details", {}, el("summary", {}, `${title} (${of.length})`), el("div", { class: "fields" }, ...of.map(sizeField)));
    const formulas = el("input", {
      type: "checkbox",
      id: "formulas",
      onchange: (/** @type {Event} */ event) => {
        showsFormulas = /** @type {HTMLInputElement} */ (event.target).checked;
        schedule();
      },
    });
    const reset = el(
      "button",
      {
        type: "button",
        onclick: () => {
          data.symbols.forEach((symbol, index) => {
            chosen[index] = initial(symbol, index);
          });
          remember();
          schedule();
        },
      },
      "Reset",
    );
    if (data.symbols.length > 0) {
      const box = el("label", { class: "check", for: "formulas" }, formulas, "Show formulas");
      form.append(el("div", { class: "tools" }, box, reset));
    }
    if (open.length > 6) form.append(group("More sizes", open.slice(6)));
    if (decided.length > 0) form.append(group("Sizes that the data decide, at most", decided));
  }

  /**
   * A number or, where formulas are shown, its formula.
   * @param {Index} formula
   */
  function amount(formula) {
    if (formula === null) return "?";
    return (showsFormulas && texts.get(formula)) || exact(values[formula]);
  }

  /**
   * @param {Index} shape
   * @param {boolean} [asFormula]
   */
  function shapeText(shape, asFormula = showsFormulas) {
    if (shape === null) return "[...]";
    const known = data.shapes[shape];
    if (typeof known === "string") return known;
    const size = (/** @type {number} */ formula) =>
      (asFormula && texts.get(formula)) || (values[formula] === null ? "?" : String(values[formula]));
    return `[${known.map(size).join(", ")}]`;
  }

  /** @param {number} id */
  function typeText(id) {
    const type = tensors.type[id];
    if (type !== null) return data.types[type];
    return typeof data.shapes[tensors.shape[id] ?? -1] === "string" ? "" : "?";
  }

  // --- Totals --------------------------------------------------------------------------------

  /** Totals of this model beside those of the other, at the sizes of the symbols of one name. */
  function drawCompared() {
    const { other } = data;
    if (other === undefined) return;
    const { body, box } = tableOf(
      [["Total"], ["This model", "number"], ["Other", "number"], ["This / other", "number"]],
      "Totals of both models",
    );
    content("compared").append(box);
    /** @type {[string, keyof Data["totals"]][]} */
    const rows = [
      ["MACs", "macs"],
      ["Operations", "operations"],
      ["– arithmetic", "arithmetic"],
      ["– comparisons", "comparisons"],
      ["– transcendentals", "transcendentals"],
      ["Bytes read", "read"],
      ["Bytes written", "written"],
      ["Bytes of inputs", "inputs"],
      ["Peak of values in bytes, at most", "peak"],
      ["Bytes of constants", "constants"],
      ["Parameters", "parameters"],
    ];
    const indexOf = new Map(data.symbols.map((symbol, index) => [symbol.name, index]));
    drawers.push(() => {
      /** @type {(bigint | null)[]} */
      let own = other.symbols.map(({ name }) => sizes[indexOf.get(name) ?? -1] ?? null);
      let known = evaluate(other.formulas, own);
      for (let pass = 0; pass < 3 && own.includes(null); pass += 1) {
        own = own.map((size, index) => {
          const { limit } = other.symbols[index];
          return size === null && limit !== undefined ? known[limit] : size;
        });
        known = evaluate(other.formulas, own);
      }
      body.replaceChildren(
        ...rows.map(([label, key]) => {
          const isNumber = key === "constants" || key === "parameters";
          const amount = (/** @type {Data["totals"]} */ totals, /** @type {(bigint | null)[]} */ all) => {
            const entry = totals[key];
            if (isNumber) return BigInt(entry ?? 0);
            return entry === null ? null : all[Number(entry)];
          };
          const [here, there] = [amount(data.totals, values), amount(other.totals, known)];
          const ratio = here === null || there === null || there === 0n ? "" : (Number(here) / Number(there)).toPrecision(3);
          return el(
            "tr",
            {},
            el("th", { scope: "row" }, label),
            ...[exact(here), exact(there), ratio].map((text) => el("td", { class: "number" }, text)),
          );
        }),
      );
    });
  }

  /** @type {{key: Metric, label: string, unit: string}[]} */
  const METRICS = [
    { key: "macs", label: "MACs", unit: "" },
    { key: "operations", label: "Operations", unit: "" },
    { key: "arithmetic", label: "Arithmetic", unit: "" },
    { key: "comparisons", label: "Comparisons", unit: "" },
    { key: "transcendentals", label: "Transcendentals", unit: "" },
    { key: "read", label: "Bytes read", unit: "B" },
    { key: "written", label: "Bytes written", unit: "B" },
  ];
  /** Those that the table of nodes has. */
  const COLUMNS = METRICS.filter(({ key }) => !["arithmetic", "comparisons", "transcendentals"].includes(key));

  /**
   * How often each formula occurs in a column of some nodes; sums of many nodes have few formulas.
   * @param {number[]} of
   * @param {Index[]} column
   */
  function tally(of, column) {
    const times = new Uint32Array(of.length < 1000 ? 0 : data.formulas.length);
    /** @type {Map<number, bigint>} */
    const counts = new Map();
    let missing = 0;
    for (const node of of) {
      const formula = column[node];
      if (formula === null) missing += 1;
      else if (times.length > 0) times[formula] += 1;
      else counts.set(formula, (counts.get(formula) ?? 0n) + 1n);
    }
    times.forEach((number, formula) => number > 0 && counts.set(formula, BigInt(number)));
    return { counts: [...counts], missing };
  }

  /** Sums over nodes. */
  class Sums {
    /** @param {number[]} of */
    constructor(of) {
      this.nodes = of;
      /** @type {bigint | null} */
      this.allParameters = null;
      /** @type {Partial<Record<Metric, ReturnType<typeof tally>>>} */
      this.tallies = {};
    }

    /** Parameters of all nodes. */
    get parameters() {
      if (this.allParameters !== null) return this.allParameters;
      // Numbers are added as such, as long as their sum is exact.
      let [exactSum, sum] = [0n, 0];
      for (const node of this.nodes) {
        const number = nodes.parameters[node];
        if (typeof number === "number" && Number.isSafeInteger(sum + number)) sum += number;
        else exactSum += BigInt(number);
      }
      this.allParameters = exactSum + BigInt(sum);
      return this.allParameters;
    }

    /** @param {Metric} metric */
    tally(metric) {
      const known = this.tallies[metric] ?? tally(this.nodes, nodes[metric]);
      this.tallies[metric] = known;
      return known;
    }

    /** @param {Metric} metric */
    sum(metric) {
      let sum = 0n;
      for (const [formula, times] of this.tally(metric).counts) sum += (values[formula] ?? 0n) * times;
      return sum;
    }

    /** @param {Metric | "parameters"} metric */
    amount(metric) {
      return metric === "parameters" ? this.parameters : this.sum(metric);
    }

    /**
     * The sum as text; "?" if no node of it is counted.
     * @param {Metric} metric
     */
    text(metric) {
      const { counts, missing } = this.tally(metric);
      return counts.length === 0 && missing > 0 ? "?" : exact(this.sum(metric));
    }
  }

  const whole = new Sums(allNodes);

  function drawTotals() {
    const list = el("dl", { class: "totals" });
    content("totals").append(list);
    /**
     * @param {string} id
     * @param {string} label
     * @param {string} unit
     * @param {() => bigint | null} value
     * @param {Index} formula
     * @param {string} [note]
     */
    const figure = (id, label, unit, value, formula, note) => {
      const [large, small, code] = [el("dd", { class: "large" }), el("dd", { class: "exact", id }), el("dd", { class: "formula" })];
      const text = formula === null ? undefined : texts.get(formula);
      // The formula of the peak is a bound for all sizes.
      if (text !== undefined) code.append(id === "total-peak" ? "at most " : "", el("code", {}, text));
      if (note) code.append(el("div", {}, note));
      list.append(el("div", {}, el("dt", {}, label), large, small, code));
      drawers.push(() => {
        const now = value();
        large.textContent = scaled(now, unit);
        small.textContent = unit === "B" && now !== null ? `${exact(now)} bytes` : exact(now);
      });
    };
    for (const { key, label, unit } of METRICS) {
      const { missing } = whole.tally(key);
      const note = missing > 0 ? `without ${counted(missing, "node")}` : "";
      figure(`total-${key}`, label, unit, () => whole.sum(key), data.totals[key], note);
    }
    figure("total-parameters", "Parameters", "", () => BigInt(data.totals.parameters), null);
    figure("total-constants", "Constants", "B", () => BigInt(data.totals.constants), null);
    const { inputs } = data.totals;
    figure("total-inputs", "Inputs", "B", () => (inputs === null ? null : values[inputs]), inputs);
    figure("total-peak", "Peak of values", "B", () => memory.peak, data.totals.peak);
  }

  // --- Inputs and outputs --------------------------------------------------------------------

  function drawInterface() {
    const { body, box } = tableOf(
      [["", ""], ["Name"], ["Type"], ["Shape"], ["Formula"], ["Bytes", "number"]],
      "Inputs and outputs",
    );
    content("interface").append(box);
    /**
     * @param {string} role
     * @param {number} id
     */
    const row = (role, id) => {
      const [shape, bytes] = [el("td", { class: "shape" }), el("td", { class: "number" })];
      const formula = shapeText(tensors.shape[id], true);
      body.append(
        el(
          "tr",
          {},
          el("td", { class: "quiet" }, role),
          el("th", { scope: "row" }, named(tensors.name[id])),
          el("td", {}, typeText(id)),
          shape,
          el("td", { class: "shape" }, formula),
          bytes,
        ),
      );
      drawers.push(() => {
        shape.textContent = shapeText(tensors.shape[id], false);
        const formulaOfBytes = tensors.bytes[id];
        bytes.textContent = formulaOfBytes === null ? "?" : exact(values[formulaOfBytes]);
      });
    };
    data.inputs.slice(0, MOST).forEach((id) => row(tensors.kind[id] === 3 ? "input with a default" : "input", id));
    data.outputs.slice(0, MOST).forEach((id) => row("output", id));
  }

  // --- Memory --------------------------------------------------------------------------------

  /** Values of nodes with sizes, which the chart counts. */
  /** @type {number[]} */
  const held = [];
  let unsized = 0;
  made.forEach((step, id) => {
    if (step < 0) return;
    if (tensors.bytes[id] === null) unsized += 1;
    else held.push(id);
  });

  /**
   * Sums of what is made and freed, step by step.
   * @template {number | bigint} T
   * @param {{[step: number]: T}} live zeros
   * @param {(bytes: bigint) => T} of
   * @param {number[]} ids
   */
  function addBytes(live, of, ids) {
    /** @type {any[]} */
    const known = values.map((value) => of(value ?? 0n));
    for (const id of ids) {
      const bytes = known[Number(tensors.bytes[id])];
      live[made[id]] += bytes;
      live[last[id] + 1] -= bytes;
    }
    for (let step = 1; step < count; step += 1) /** @type {any} */ (live)[step] += live[step - 1];
    return live;
  }

  const memory = {
    /** Bytes that values occupy at each step: as numbers, where all sums are exact. @type {{[step: number]: number | bigint}} */
    live: [],
    /** Those of them within the graphs of the node. @type {Map<number, bigint>} */
    within: new Map(),
    peak: /** @type {bigint | null} */ (count === 0 ? 0n : null),
    peakAt: 0,
    compute() {
      const largest = values.reduce((/** @type {bigint} */ most, value) => (value !== null && value > most ? value : most), 0n);
      const isExact = largest * BigInt(held.length + 1) <= BigInt(Number.MAX_SAFE_INTEGER);
      /** @type {any} */
      const live = isExact
        ? addBytes(new Float64Array(count + 1), Number, held)
        : addBytes(new Array(count + 1).fill(0n), (bytes) => bytes, held);
      this.within = new Map(data.within.map(([step, formula]) => [step, values[formula] ?? 0n]));
      for (const [step, bytes] of this.within) live[step] += isExact ? Number(bytes) : bytes;
      this.live = live;
      let most = 0;
      for (let step = 1; step < count; step += 1) if (this.live[step] > this.live[most]) most = step;
      if (count > 0) [this.peak, this.peakAt] = [this.at(most), most];
    },
    /** @param {number} step */
    at(step) {
      return BigInt(this.live[step]);
    },
    /**
     * The operators whose values are largest at the peak: names, and their bytes at each step for a picture.
     * @param {number} most
     */
    layers(most) {
      /** @type {Map<number, number[]>} */
      const byOperator = new Map();
      /** @type {Map<number, bigint>} */
      const atPeak = new Map();
      for (const id of held) {
        const operator = nodes.operator[made[id]];
        const list = byOperator.get(operator);
        if (list === undefined) byOperator.set(operator, [id]);
        else list.push(id);
        if (made[id] > this.peakAt || last[id] < this.peakAt) continue;
        atPeak.set(operator, (atPeak.get(operator) ?? 0n) + (values[Number(tensors.bytes[id])] ?? 0n));
      }
      return [...atPeak]
        .sort(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0))
        .slice(0, most)
        .map(([operator, bytes]) => ({
          name: data.operators[operator],
          bytes,
          live: addBytes(new Float64Array(count + 1), Number, byOperator.get(operator) ?? []),
        }));
    },
  };

  /** @param {number} step */
  const stepText = (step) =>
    `step ${exact(BigInt(step + 1))} of ${exact(BigInt(count))}, ${names[step]} (${data.operators[nodes.operator[step]]}): ${bytesText(memory.at(step))}`;

  function drawMemory() {
    const box = content("memory");
    if (count === 0) {
      box.append(el("p", { class: "quiet" }, "The model has no nodes."));
      return;
    }
    let cursor = 0;
    let followsPeak = true;
    const slider = el("div", {
      class: "chart",
      id: "chart",
      role: "slider",
      tabindex: "0",
      "aria-label": "Step of the run",
      "aria-valuemin": 1,
      "aria-valuemax": count,
      "aria-describedby": "chart-help",
    });
    const legend = el("p", { class: "legend", id: "legend" });
    const about = el("p", { class: "step", id: "step" });
    const toPeak = el("button", { type: "button", onclick: () => choose(memory.peakAt, true) }, "Go to the peak");
    const help = el(
      "p",
      { class: "quiet screen", id: "chart-help" },
      "Click a step of the chart, or focus it and use the arrow, page, home and end keys. Enter goes to the list of values.",
    );
    const caption = el("h3", { id: "live-title", tabindex: "-1" });
    const live = tableOf(
      [["Value"], ["Type"], ["Shape"], ["Bytes", "number"], ["Share", "number"], ["Made at step", "number"], ["Last needed by"]],
      "Values in memory",
    );
    live.body.id = "live";
    const more = el("p", { class: "quiet" });
    box.append(
      el("p", { class: "quiet" }, "Values of nodes, where nodes run in order and each value is freed after its last use. Values within a graph that a node runs count at its step. Constants and inputs come on top."),
      slider,
      legend,
      el("div", { class: "tools" }, about, toPeak),
      help,
      caption,
      live.box,
      more,
    );
    if (unsized > 0) box.append(el("p", { class: "quiet" }, `Values of unknown size are not counted: ${exact(BigInt(unsized))}.`));

    /**
     * @param {number} step
     * @param {boolean} follow
     */
    function choose(step, follow) {
      cursor = Math.min(count - 1, Math.max(0, step));
      followsPeak = follow;
      drawCursor();
      drawLive();
    }

    const HEIGHT = 240;
    const [LEFT, RIGHT, TOP, BOTTOM] = [72, 16, 30, 26];
    let width = 0;
    /** @param {number} step */
    const x = (step) => LEFT + ((step + 0.5) / count) * (width - LEFT - RIGHT);
    /** @param {number} clientX */
    const stepAt = (clientX) => {
      const at = clientX - slider.getBoundingClientRect().left;
      return Math.min(count - 1, Math.max(0, Math.floor(((at - LEFT) / (width - LEFT - RIGHT)) * count)));
    };
    const marker = svg("g", { class: "marker" });

    function drawChart() {
      memory.compute();
      if (followsPeak) cursor = memory.peakAt;
      width = Math.max(280, slider.clientWidth);
      const inner = width - LEFT - RIGHT;
      const top = Number(memory.peak) || 1;
      // Ticks at 1, 2 or 5 times a power of ten.
      const rough = top / 4;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = Math.max(1, [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? power);
      const y = (/** @type {number} */ bytes) => HEIGHT - BOTTOM - (bytes / top) * (HEIGHT - TOP - BOTTOM);
      const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, "aria-hidden": "true" });
      for (let bytes = 0; bytes <= top; bytes += step) {
        picture.append(
          svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(bytes), y2: y(bytes) }),
          svg("text", { class: "tick end", x: LEFT - 8, y: y(bytes) + 4 }, bytesText(BigInt(Math.round(bytes)))),
        );
      }
      // A column of pixels shows the step of it at which most lives.
      const columns = Math.min(count, Math.floor(inner));
      const fullest = Array.from({ length: columns }, (_, column) => {
        const [from, to] = [Math.floor((column * count) / columns), Math.floor(((column + 1) * count) / columns)];
        let most = from;
        for (let at = from + 1; at < to; at += 1) if (memory.live[at] > memory.live[most]) most = at;
        return most;
      });
      /**
       * An area below the bytes at each step.
       * @param {string} name
       * @param {(step: number) => number} bytesAt
       */
      const area = (name, bytesAt) => {
        let path = `M${LEFT},${y(0)}`;
        fullest.forEach((at, column) => {
          const height = y(bytesAt(at)).toFixed(1);
          path += `L${(LEFT + (column / columns) * inner).toFixed(1)},${height}L${(LEFT + ((column + 1) / columns) * inner).toFixed(1)},${height}`;
        });
        picture.append(svg("path", { class: name, d: `${path}L${LEFT + inner},${y(0)}Z` }));
      };
      // Areas lie upon each other: the sum of all, of all but the last operator, and so on.
      area("area", (at) => Number(memory.live[at]));
      const layers = memory.layers(4);
      for (let number = layers.length; number > 0; number -= 1) {
        area(`area layer-${number}`, (at) => layers.slice(0, number).reduce((sum, { live: bytes }) => sum + bytes[at], 0));
      }
      legend.replaceChildren(
        el("span", {}, "At the peak, made by:"),
        ...layers.map(({ name, bytes }, index) => el("span", {}, el("span", { class: `swatch layer-${index + 1}` }), named(name), ` ${bytesText(bytes)}`)),
        el("span", {}, el("span", { class: "swatch" }), "others"),
      );
      const [peakX, isRight] = [x(memory.peakAt), memory.peakAt > count / 2];
      picture.append(
        svg("line", { class: "peak", x1: peakX, x2: peakX, y1: TOP - 8, y2: HEIGHT - BOTTOM }),
        svg("circle", { class: "peak", cx: peakX, cy: y(top), r: 4 }),
        svg(
          "text",
          { class: isRight ? "peak end" : "peak", x: peakX + (isRight ? -8 : 8), y: TOP - 12 },
          `peak ${bytesText(memory.peak)} at step ${exact(BigInt(memory.peakAt + 1))}`,
        ),
        svg("text", { class: "tick", x: LEFT, y: HEIGHT - 6 }, "step 1"),
        svg("text", { class: "tick end", x: width - RIGHT, y: HEIGHT - 6 }, `step ${exact(BigInt(count))}`),
        marker,
      );
      slider.replaceChildren(picture);
      drawCursor();
      drawLive();
    }

    function drawCursor() {
      marker.replaceChildren(svg("line", { x1: x(cursor), x2: x(cursor), y1: TOP - 8, y2: HEIGHT - BOTTOM }));
      slider.setAttribute("aria-valuenow", String(cursor + 1));
      slider.setAttribute("aria-valuetext", stepText(cursor));
      about.textContent = stepText(cursor);
    }

    function drawLive() {
      const present = held.filter((id) => made[id] <= cursor && cursor <= last[id]);
      const bytesOf = (/** @type {number} */ id) => values[Number(tensors.bytes[id])] ?? 0n;
      present.sort((a, b) => (bytesOf(a) > bytesOf(b) ? -1 : bytesOf(a) < bytesOf(b) ? 1 : a - b));
      const total = memory.at(cursor);
      caption.textContent = `${counted(present.length, "value")} in memory at step ${exact(BigInt(cursor + 1))}: ${exact(total)} bytes`;
      const rows = present.slice(0, MOST).map((id) => {
        const share = total > 0n ? Number((bytesOf(id) * 1000n) / total) / 10 : 0;
        return el(
          "tr",
          {},
          el("th", { scope: "row" }, named(tensors.name[id])),
          el("td", {}, typeText(id)),
          el("td", { class: "shape" }, shapeText(tensors.shape[id])),
          el("td", { class: "number" }, amount(tensors.bytes[id])),
          el("td", { class: "number" }, `${share.toFixed(1)} %`),
          el("td", { class: "number" }, exact(BigInt(made[id] + 1))),
          el("td", {}, outputsOfModel.has(id) ? "an output of the model" : named(names[last[id]])),
        );
      });
      const within = memory.within.get(cursor) ?? 0n;
      if (within > 0n) {
        const share = Number((within * 1000n) / total) / 10;
        const step = exact(BigInt(cursor + 1));
        rows.push(
          el(
            "tr",
            {},
            el("th", { scope: "row" }, "values within graphs of the node"),
            el("td", {}),
            el("td", { class: "shape" }),
            el("td", { class: "number" }, exact(within)),
            el("td", { class: "number" }, `${share.toFixed(1)} %`),
            el("td", { class: "number" }, step),
            el("td", {}, named(names[cursor])),
          ),
        );
      }
      live.body.replaceChildren(...rows);
      more.textContent = present.length > MOST ? `and ${exact(BigInt(present.length - MOST))} smaller values` : "";
    }

    slider.addEventListener("pointermove", (event) => {
      about.textContent = stepText(stepAt(event.clientX));
    });
    slider.addEventListener("pointerleave", drawCursor);
    slider.addEventListener("click", (event) => choose(stepAt(event.clientX), false));
    slider.addEventListener("keydown", (event) => {
      const jump = Math.max(1, Math.round(count / 10));
      /** @type {Record<string, number>} */
      const targets = {
        ArrowRight: cursor + 1,
        ArrowUp: cursor + 1,
        ArrowLeft: cursor - 1,
        ArrowDown: cursor - 1,
        PageUp: cursor + jump,
        PageDown: cursor - jump,
        Home: 0,
        End: count - 1,
      };
      if (event.key === "Enter" || event.key === " ") {
        caption.focus();
      } else if (event.key in targets) {
        choose(targets[event.key], false);
      } else {
        return;
      }
      event.preventDefault();
    });
    new ResizeObserver(() => {
      if (Math.max(280, slider.clientWidth) !== width) schedule();
    }).observe(slider);
    // Printed pages have their own width.
    window.addEventListener("beforeprint", drawChart);
    drawers.push(drawChart);
  }

  // --- Cost ----------------------------------------------------------------------------------

  /**
   * A part of a name between slashes. The last part is the node's own, and nothing here.
   * @param {string} name
   * @param {number} depth
   */
  function partOf(name, depth) {
    let begin = 0;
    while (name[begin] === "/") begin += 1;
    for (let part = 0; ; part += 1) {
      const end = name.indexOf("/", begin);
      if (end < 0) return "";
      if (part === depth) return name.slice(begin, end);
      begin = end + 1;
    }
  }

  /** Nodes whose names begin alike. */
  class Group {
    /**
     * @param {string} name
     * @param {string} path
     * @param {number} depth
     * @param {number[]} of
     */
    constructor(name, path, depth, of) {
      this.name = name;
      this.path = path;
      this.depth = depth;
      this.sums = new Sums(of);
      this.isOpen = false;
      /** @type {Group[] | null} */
      this.groups = null;
    }

    /** The groups within, in the order of the run; made when they are asked for. */
    children() {
      if (this.groups !== null) return this.groups;
      /** @type {Map<string, number[]>} */
      const found = new Map();
      for (const node of this.sums.nodes) {
        const part = partOf(names[node], this.depth);
        const list = found.get(part);
        if (list === undefined) found.set(part, [node]);
        else list.push(node);
      }
      const isLeaf = found.size === 1 && found.has("");
      this.groups = isLeaf
        ? []
        : [...found].map(([name, of]) =>
            name === ""
              ? new Group("", this.path, Infinity, of)
              : new Group(name, this.path === "" ? name : `${this.path}/${name}`, this.depth + 1, of),
          );
      return this.groups;
    }
  }

  const root = new Group("", "", 0, allNodes);

  /** Shows some nodes in the table of nodes, one of them open. @type {(search: string, operator: string, open?: number) => void} */
  let showNodes = () => {};

  function drawCost() {
    const box = content("cost");
    /** @type {Metric | "parameters"} */
    let metric = "macs";
    let isByName = true;
    root.isOpen = true;
    // A chain of groups with one group each is open.
    for (let group = root; ; ) {
      const inner = group.children().filter(({ name }) => name !== "");
      if (inner.length !== 1) break;
      [group] = inner;
      group.isOpen = true;
    }
    if (root.children().length === 0) isByName = false;
    /** @type {Map<number, number[]>} */
    const byOperator = new Map();
    nodes.operator.forEach((operator, node) => {
      const list = byOperator.get(operator);
      if (list === undefined) byOperator.set(operator, [node]);
      else list.push(node);
    });
    const operators = [...byOperator].map(([operator, of]) => ({ name: data.operators[operator], sums: new Sums(of) }));

    /**
     * A choice of one of several.
     * @param {string} legend
     * @param {string} name
     * @param {[string, string][]} choices
     * @param {string} first
     * @param {(value: string) => void} choose
     */
    const radios = (legend, name, choices, first, choose) => {
      const inputs = choices.map(([value, label]) =>
        el(
          "label",
          {},
          el("input", { type: "radio", name, value, checked: value === first, onchange: () => choose(value) }),
          el("span", {}, label),
        ),
      );
      return el("fieldset", { class: "choice" }, el("legend", {}, legend), ...inputs);
    };
    if (whole.sum("macs") === 0n) metric = "operations";
    const table = tableOf(
      [["Name"], ["Share", "number"], ["Nodes", "number"], ["Parameters", "number"], ...METRICS.map(({ label }) => /** @type {[string, "number"]} */ ([label, "number"]))],
      "Cost",
    );
    table.box.classList.add("cost");
    table.body.id = "cost-rows";
    box.append(
      el(
        "div",
        { class: "tools" },
        radios("Group by", "group", [["name", "Name"], ["operator", "Operator"]], isByName ? "name" : "operator", (value) => {
          isByName = value === "name";
          drawRows();
        }),
        radios(
          "Share of",
          "share",
          [...METRICS.map(({ key, label }) => /** @type {[string, string]} */ ([key, label])), ["parameters", "Parameters"]],
          metric,
          (value) => {
            metric = /** @type {Metric | "parameters"} */ (value);
            drawRows();
          },
        ),
      ),
      table.box,
    );
    const drawMap = drawTreemap(box);
    const missing = whole.tally("macs").missing;
    if (missing > 0) {
      box.append(el("p", { class: "quiet" }, `MACs and operations of ${counted(missing, "node")} are not counted.`));
    }

    /**
     * @param {HTMLElement} name
     * @param {Sums} sums
     * @param {bigint} total
     */
    function rowOf(name, sums, total) {
      const share = total > 0n ? Number((sums.amount(metric) * 10000n) / total) / 100 : 0;
      const bar = el("span", { class: "bar" });
      bar.style.width = `${share}%`;
      const number = (/** @type {string} */ text) => el("td", { class: "number" }, text);
      return el(
        "tr",
        {},
        name,
        el("td", { class: "number share" }, bar, el("span", {}, `${share.toFixed(1)} %`)),
        number(exact(BigInt(sums.nodes.length))),
        number(exact(sums.parameters)),
        ...METRICS.map(({ key }) => number(sums.text(key))),
      );
    }

    /**
     * @param {Group} group
     * @param {number} level
     * @param {bigint} total
     * @returns {HTMLElement[]}
     */
    function groupRows(group, level, total) {
      const head = el("th", { scope: "row", class: "group" });
      head.style.setProperty("--level", String(level));
      const isLeaf = group.depth === Infinity || group.children().length === 0;
      const label = group.name === "" ? el("span", { class: "quiet" }, "nodes here") : named(group.name);
      if (isLeaf) {
        head.append(el("span", { class: "twist" }), label);
      } else {
        const button = el(
          "button",
          {
            type: "button",
            class: "twist-button",
            "aria-expanded": String(group.isOpen),
            "data-path": group.path,
            onclick: () => {
              group.isOpen = !group.isOpen;
              drawRows();
              for (const other of table.body.querySelectorAll("button[data-path]")) {
                if (other instanceof HTMLElement && other.dataset.path === group.path) other.focus();
              }
            },
          },
          el("span", { class: "twist", "aria-hidden": "true" }, group.isOpen ? "▾" : "▸"),
          label,
        );
        head.append(button);
      }
      if (group.name !== "") head.append(nodesButton(`${group.path}/`, "", group.path));
      const rows = [rowOf(head, group.sums, total)];
      if (!isLeaf && group.isOpen) {
        const children = group.children();
        for (const child of children.slice(0, MOST)) rows.push(...groupRows(child, level + 1, total));
        if (children.length > MOST) {
          rows.push(el("tr", {}, el("td", { colspan: 4 + METRICS.length, class: "quiet" }, `and ${exact(BigInt(children.length - MOST))} more groups`)));
        }
      }
      return rows;
    }

    /**
     * @param {string} search
     * @param {string} operator
     * @param {string} label
     */
    const nodesButton = (search, operator, label) =>
      el("button", { type: "button", class: "link", "aria-label": `show nodes of ${label}`, onclick: () => showNodes(search, operator) }, "nodes");

    function drawRows() {
      const total = whole.amount(metric);
      /** @type {HTMLElement[]} */
      let rows;
      if (isByName) {
        const groups = root.children();
        rows = groups.slice(0, MOST).flatMap((group) => groupRows(group, 0, total));
        if (groups.length === 0) rows = [rowOf(el("th", { scope: "row", class: "quiet" }, "names have no groups"), whole, total)];
      } else {
        const key = metric;
        operators.sort((a, b) => {
          const [x, y] = [a.sums.amount(key), b.sums.amount(key)];
          return x > y ? -1 : x < y ? 1 : a.name < b.name ? -1 : 1;
        });
        rows = operators.map(({ name, sums }) =>
          rowOf(el("th", { scope: "row", class: "group" }, el("span", {}, named(name), nodesButton("", name, name))), sums, total),
        );
      }
      const sum = rowOf(el("th", { scope: "row" }, "Total"), whole, total);
      sum.className = "total";
      sum.querySelector(".bar")?.remove();
      table.body.replaceChildren(...rows, sum);
      drawMap();
    }
    drawers.push(drawRows);

    /**
     * Boxes of the groups within one, and what draws them.
     * @param {HTMLElement} around
     */
    function drawTreemap(around) {
      /** The groups around the one that is shown, the outermost first, and itself. @type {Group[]} */
      let path = [root];
      const nav = el("nav", { class: "path", "aria-label": "Groups around the boxes" });
      const map = el("div", { class: "map", id: "treemap", role: "group", "aria-label": "Cost by layer" });
      const note = el("p", { class: "quiet", id: "treemap-note", role: "status" });
      around.append(nav, map, note);
      /** The box that the keyboard is at. */
      let current = 0;
      /** The width for which boxes are drawn. */
      let drawn = 0;

      /** Nodes of a list by their formulas, for a metric. @type {WeakMap<number[], Map<string, Map<any, number[]>>>} */
      const byFormula = new WeakMap();

      /**
       * The nodes with the largest amounts, and how many have some: many nodes have few formulas.
       * @param {number[]} of
       * @param {number} most
       */
      function largestOf(of, most) {
        const known = byFormula.get(of) ?? new Map();
        byFormula.set(of, known);
        /** @type {Map<any, number[]>} */
        let lists = known.get(metric);
        if (lists === undefined) {
          lists = new Map();
          const column = nodes[metric];
          for (const node of of) {
            const list = lists.get(column[node]);
            if (list === undefined) lists.set(column[node], [node]);
            else list.push(node);
          }
          known.set(metric, lists);
        }
        const sizeOf = (/** @type {any} */ key) => (metric === "parameters" ? BigInt(key) : (values[key ?? -1] ?? 0n));
        const found = [...lists].map(([key, list]) => ({ size: sizeOf(key), list })).filter(({ size }) => size > 0n);
        found.sort((a, b) => (a.size > b.size ? -1 : a.size < b.size ? 1 : 0));
        /** @type {Part[]} */
        const parts = [];
        for (const { size, list } of found) {
          for (const node of list.slice(0, most - parts.length)) {
            parts.push({ name: names[node].slice(names[node].lastIndexOf("/") + 1), path: names[node], group: null, node, size });
          }
        }
        return { parts, some: found.reduce((sum, { list }) => sum + list.length, 0) };
      }

      /** @typedef {{name: string, path: string, group: Group | null, node: number, size: bigint}} Part */

      /**
       * The boxes of a group, from the largest on; many small ones are one.
       * @param {Group} group
       * @param {number} most
       */
      function boxesOf(group, most) {
        const children = group.children();
        const own = children.length === 0 ? group.sums.nodes : (children.find(({ name }) => name === "")?.sums.nodes ?? []);
        const { parts, some } = largestOf(own, most);
        const groups = children.filter(({ name }) => name !== "");
        const sizes = groups.map((child) => child.sums.amount(metric));
        groups.forEach((child, index) => {
          if (sizes[index] > 0n) parts.push({ name: child.name, path: child.path, group: child, node: -1, size: sizes[index] });
        });
        parts.sort((a, b) => (a.size > b.size ? -1 : a.size < b.size ? 1 : 0));
        const shown = parts.slice(0, most);
        const all = some + sizes.filter((size) => size > 0n).length;
        const rest = shown.reduce((sum, { size }) => sum - size, group.sums.amount(metric));
        return { shown, rest, left: all - shown.length, none: own.length + groups.length - all };
      }

      /**
       * Boxes within the box of a group, where there is room: pictures alone, as the box opens the group.
       * @param {Group} group
       * @param {number} width
       * @param {number} height
       * @param {number} level
       * @returns {HTMLElement[]}
       */
      function innerBoxes(group, width, height, level) {
        const room = { left: 4, top: TITLE, width: width - 10, height: height - TITLE - 6 };
        if (level > 3 || room.width < 60 || room.height < 24) return [];
        const total = group.sums.amount(metric);
        const { shown, rest } = boxesOf(group, 24);
        const all = [...shown.map(({ size }) => size), rest].map((size) => (total > 0n ? Number((size * 1000000n) / total) : 0));
        // The rest has no box, only room.
        const places = treemap(all, room);
        return shown.flatMap(({ name, group: inner }, index) => {
          const place = places[index];
          if (place.width < 3 || place.height < 3) return [];
          const isNamed = place.width > 40 && place.height > TITLE;
          const box = el("span", { class: inner === null ? "inner" : "inner groups", "aria-hidden": "true" }, isNamed ? el("span", { class: "label" }, named(name)) : null);
          Object.assign(box.style, { left: `${place.left}px`, top: `${place.top}px`, width: `${place.width}px`, height: `${place.height}px` });
          if (inner !== null) box.append(...innerBoxes(inner, place.width, place.height, level + 1));
          return [box];
        });
      }

      /** @param {Group} group */
      function enter(group) {
        path.push(group);
        current = 0;
        draw();
        focus();
      }

      /** @param {number} depth */
      function leave(depth) {
        const from = path[depth + 1];
        path = path.slice(0, depth + 1);
        const { shown } = boxesOf(path[depth], BOXES);
        current = Math.max(0, shown.findIndex(({ group }) => group === from));
        draw();
        focus();
      }

      const buttons = () => /** @type {HTMLElement[]} */ ([...map.querySelectorAll("button")]);
      const focus = () => buttons()[current]?.focus();

      function draw() {
        const group = path[path.length - 1];
        const { shown, rest, left, none } = boxesOf(group, BOXES);
        const total = group.sums.amount(metric);
        const share = (/** @type {bigint} */ size) => (total > 0n ? Number((size * 1000000n) / total) / 1e6 : 0);
        const parts = shown.map(({ size }) => share(size));
        if (left > 0) parts.push(share(rest));
        const { clientWidth: width, clientHeight: height } = map;
        drawn = width;
        const whole = { left: 0, top: 0, width: Math.max(1, width), height: Math.max(1, height) };
        // The rest may exceed the last box.
        const order = parts.map((_, index) => index).sort((a, b) => parts[b] - parts[a]);
        const places = treemap(order.map((index) => parts[index]), whole);
        const { label, unit } = METRICS.find(({ key }) => key === metric) ?? { label: "Parameters", unit: "" };
        current = Math.min(current, Math.max(0, shown.length - 1));
        const boxes = order.map((index, place) => {
          const { left: x, top: y, width: w, height: h } = places[place];
          const part = shown[index];
          const percent = `${(parts[index] * 100).toFixed(1)} %`;
          const size = part === undefined ? rest : part.size;
          const name = part === undefined ? `${exact(BigInt(left))} more` : part.name;
          const about = `${scaled(size, unit)}, ${percent}`;
          const style = { left: `${(x / whole.width) * 100}%`, top: `${(y / whole.height) * 100}%`, width: `${(w / whole.width) * 100}%`, height: `${(h / whole.height) * 100}%` };
          const content = [el("span", { class: "label" }, named(name)), el("span", { class: "about" }, about)];
          if (part === undefined) {
            const box = el("div", { class: "box rest", title: `${name}: ${about}` }, ...content);
            Object.assign(box.style, style);
            return { index, box };
          }
          const { group: inner } = part;
          const box = el(
            "button",
            {
              type: "button",
              class: inner !== null ? "box groups" : "box",
              tabindex: index === current ? "0" : "-1",
              title: `${part.path}: ${exact(size)} ${label}, ${percent}`,
              "aria-description": inner === null ? "shows the node" : "opens the group",
              "data-path": part.path,
              onclick: () => (inner === null ? showNodes(part.path, "", part.node) : enter(inner)),
              onfocus: () => {
                current = index;
              },
            },
            ...content,
          );
          Object.assign(box.style, style);
          if (inner !== null) box.append(...innerBoxes(inner, w, h, 1));
          return { index, box };
        });
        const hadFocus = map.contains(document.activeElement);
        // The keyboard goes from the largest on.
        map.replaceChildren(...boxes.sort((a, b) => a.index - b.index).map(({ box }) => box));
        if (hadFocus) focus();
        nav.replaceChildren(
          ...path.map((one, depth) =>
            one === group
              ? el("span", { "aria-current": "true" }, named(one.name || "model"))
              : el("button", { type: "button", class: "link", onclick: () => leave(depth) }, named(one.name || "model")),
          ),
        );
        const zero = none > 0 ? ` ${exact(BigInt(none))} without any are left out.` : "";
        note.textContent = `${label} of ${group.name === "" ? "the model" : group.path}: ${exact(total)}.${zero}`;
      }

      map.addEventListener("keydown", (event) => {
        const last = buttons().length - 1;
        /** @type {Record<string, number>} */
        const targets = { ArrowRight: current + 1, ArrowDown: current + 1, ArrowLeft: current - 1, ArrowUp: current - 1, Home: 0, End: last };
        if (event.key in targets) {
          current = Math.min(last, Math.max(0, targets[event.key]));
          buttons().forEach((button, index) => button.setAttribute("tabindex", index === current ? "0" : "-1"));
          focus();
        } else if ((event.key === "Escape" || event.key === "Backspace") && path.length > 1) {
          leave(path.length - 2);
        } else {
          return;
        }
        event.preventDefault();
      });
      new ResizeObserver(() => {
        if (map.clientWidth !== drawn) draw();
      }).observe(map);
      // A group that has all of the amount is open.
      for (;;) {
        const { shown } = boxesOf(path[path.length - 1], 2);
        const [only] = shown;
        if (shown.length !== 1 || only.group === null) break;
        path.push(only.group);
      }
      return draw;
    }
  }

  /** Boxes of the treemap, and pixels above the boxes within one. */
  const BOXES = 80;
  const TITLE = 22;

  // --- Graph ---------------------------------------------------------------------------------

  /** A box of the graph: a node, or a group of nodes whose names begin alike. */
  class Item {
    /**
     * @param {Group | null} group
     * @param {number[]} of its nodes
     */
    constructor(group, of) {
      this.group = group;
      this.nodes = of;
      this.row = 0;
      this.left = 0;
      this.top = 0;
    }

    name() {
      if (this.group !== null) return this.group.name;
      const name = names[this.nodes[0]];
      return name.slice(name.lastIndexOf("/") + 1) || name;
    }

    about() {
      const [node] = this.nodes;
      if (this.group !== null) return counted(this.nodes.length, "node");
      const output = nodes.outputs[node].find((id) => id !== null);
      const shape = output === undefined || output === null ? "" : ` ${shapeText(tensors.shape[output])}`;
      return data.operators[nodes.operator[node]] + shape;
    }
  }

  function drawGraph() {
    const box = content("graph");
    const [WIDTH, HEIGHT, GAP, ROW] = [200, 44, 16, 36];
    /** Boxes that are drawn before more are asked for. */
    const STEP = 60;
    let limit = STEP;
    let group = root;
    /** The groups around it, the outermost first. @type {Group[]} */
    const around = [];
    for (;;) {
      const inner = group.children();
      if (inner.length !== 1 || inner[0].name === "") break;
      around.push(group);
      [group] = inner;
    }
    const path = el("nav", { class: "path", "aria-label": "Groups around" });
    const canvas = el("div", { class: "canvas", id: "canvas" });
    const more = el("button", { type: "button", onclick: () => show(limit + STEP) }, "Show more");
    const note = el("p", { class: "quiet", id: "graph-note", role: "status" });
    box.append(
      path,
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Graph" }, canvas),
      el("div", { class: "tools" }, note, more),
    );
    /** @type {{item: Item, button: HTMLElement, about: HTMLElement}[]} */
    let shown = [];

    /** Nodes that read a value that is no constant, and is not made of constants alone; the others are left out. */
    const reads = new Uint8Array(count);
    const isOpen = Uint8Array.from(tensors.kind, (kind) => (kind === 1 ? 0 : 1));
    for (const node of allNodes) {
      for (const id of nodes.inputs[node]) if (id !== null && isOpen[id] === 1) reads[node] = 1;
      if (reads[node] === 0) for (const id of nodes.outputs[node]) if (id !== null) isOpen[id] = 0;
    }

    /** The boxes within the group, in the order of the run: the first of them, and how many there are. */
    function itemsOf() {
      const inner = group.children();
      const groups = inner.filter(({ name }) => name !== "");
      const own = inner.length === 0 ? group.sums.nodes : inner.filter(({ name }) => name === "").flatMap(({ sums }) => sums.nodes);
      const nodesHere = own.filter((node) => reads[node] === 1);
      // Both are in the order of the run, so the first of all are among the first of each.
      const items = groups.slice(0, limit).map((child) => new Item(child, child.sums.nodes));
      items.push(...nodesHere.slice(0, limit).map((node) => new Item(null, [node])));
      items.sort((a, b) => a.nodes[0] - b.nodes[0]);
      return { items: items.slice(0, limit), all: groups.length + nodesHere.length };
    }

    /**
     * Which boxes read from which: pairs of indices. Nodes are in the order of the run, so a value is
     * made by the node of its step.
     * @param {Item[]} items
     */
    function edgesOf(items) {
      /** @type {Map<number, number>} */
      const home = new Map();
      items.forEach((item, index) => item.nodes.forEach((node) => home.set(node, index)));
      /** @type {Map<string, [number, number]>} */
      const edges = new Map();
      for (const [node, to] of home) {
        for (const id of nodes.inputs[node]) {
          const from = id === null || made[id] < 0 ? undefined : home.get(made[id]);
          if (from !== undefined && from !== to) edges.set(`${from} ${to}`, [from, to]);
        }
      }
      return [...edges.values()];
    }

    /** @param {number} boxes */
    function show(boxes) {
      limit = boxes;
      const { items, all } = itemsOf();
      const edges = edgesOf(items);
      // A box stands below all that it reads from and that begin before it.
      edges.sort((a, b) => a[1] - b[1]);
      for (const [from, to] of edges) {
        if (from < to) items[to].row = Math.max(items[to].row, items[from].row + 1);
      }
      /** @type {Item[][]} */
      const rows = [];
      for (const item of items) (rows[item.row] = rows[item.row] ?? []).push(item);
      // Rows that are wider than the page are several.
      const most = Math.max(2, Math.floor((box.clientWidth - GAP) / (WIDTH + GAP)));
      const lined = rows.flatMap((row) =>
        Array.from({ length: Math.ceil(row.length / most) }, (_, index) => row.slice(index * most, (index + 1) * most)),
      );
      const widest = Math.max(0, ...lined.map((row) => row.length)) * (WIDTH + GAP) + GAP;
      lined.forEach((row, index) => {
        const begin = (widest - row.length * (WIDTH + GAP) + GAP) / 2;
        row.forEach((item, column) => {
          [item.left, item.top] = [begin + column * (WIDTH + GAP), GAP + index * (HEIGHT + ROW)];
        });
      });
      const height = Math.max(0, lined.length * (HEIGHT + ROW) - ROW) + 2 * GAP;
      const lines = svg("svg", { width: widest, height, "aria-hidden": "true" });
      for (const [from, to] of edges) {
        const [x1, y1] = [items[from].left + WIDTH / 2, items[from].top + HEIGHT];
        const [x2, y2] = [items[to].left + WIDTH / 2, items[to].top];
        const bend = Math.max(ROW / 2, Math.abs(y2 - y1) / 3);
        lines.append(svg("path", { class: from < to ? "edge" : "edge back", d: `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}` }));
      }
      shown = items.map((item, index) => {
        const about = el("span", { class: "about" });
        const sources = edges.filter(([, to]) => to === index).map(([from]) => items[from].name());
        const button = el(
          "button",
          {
            type: "button",
            class: item.group !== null ? "box groups" : nodes.of_sizes[item.nodes[0]] === "1" ? "box arithmetic" : "box",
            title: item.group === null ? names[item.nodes[0]] : item.group.path,
            "aria-description": sources.length > 0 ? `reads from ${sources.slice(0, 8).join(", ")}` : null,
            onclick: () => open(item),
          },
          el("span", { class: "label" }, named(item.name())),
          about,
        );
        Object.assign(button.style, { left: `${item.left}px`, top: `${item.top}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` });
        return { item, button, about };
      });
      Object.assign(canvas.style, { width: `${widest}px`, height: `${height}px` });
      canvas.replaceChildren(lines, ...shown.map(({ button }) => button));
      const crumbs = [...around, group].map((one, index) => {
        const label = one.name === "" ? "model" : one.name;
        return one === group
          ? el("span", { "aria-current": "true" }, named(label))
          : el("button", { type: "button", class: "link", onclick: () => leave(index) }, named(label));
      });
      path.replaceChildren(...crumbs);
      more.hidden = all <= limit;
      const first =
        all > limit
          ? `The first ${exact(BigInt(limit))} of ${exact(BigInt(all))} boxes, in the order of the run. `
          : "";
      note.textContent = `${first}A group opens, a node is shown in the table. Nodes that read only constants are left out.`;
      label();
    }

    /** Writes what follows from sizes. */
    function label() {
      for (const { item, about } of shown) about.textContent = item.about();
    }

    /** @param {Item} item */
    function open(item) {
      if (item.group === null) {
        showNodes(names[item.nodes[0]], "", item.nodes[0]);
        return;
      }
      around.push(group);
      group = item.group;
      show(STEP);
      const first = canvas.querySelector("button");
      if (first !== null) first.focus();
    }

    /** @param {number} depth */
    function leave(depth) {
      group = around[depth];
      around.length = depth;
      show(STEP);
      const first = canvas.querySelector("button");
      if (first !== null) first.focus();
    }

    show(STEP);
    drawers.push(label);
  }

  // --- Nodes ---------------------------------------------------------------------------------

  function drawNodes() {
    const box = content("nodes");
    /** @typedef {{key: string, label: string, kind: "number" | "", text: (node: number) => string}} Column */
    const outputs = (/** @type {number} */ node) => /** @type {number[]} */ (nodes.outputs[node].filter((id) => id !== null));
    /** @type {Column[]} */
    const columns = [
      { key: "step", label: "Step", kind: "number", text: (node) => exact(BigInt(node + 1)) },
      { key: "name", label: "Node", kind: "", text: (node) => names[node] },
      { key: "operator", label: "Operator", kind: "", text: (node) => data.operators[nodes.operator[node]] },
      { key: "output", label: "Output", kind: "", text: (node) => outputs(node).map((id) => `${typeText(id)}${shapeText(tensors.shape[id])}`).join("\n") },
      { key: "parameters", label: "Parameters", kind: "number", text: (node) => exact(parametersOf(node)) },
      ...COLUMNS.map(({ key, label }) => ({ key, label, kind: /** @type {"number"} */ ("number"), text: (/** @type {number} */ node) => amount(nodes[key][node]) })),
    ];
    let sorted = "step";
    let isDescending = false;
    let page = 0;
    let opened = -1;
    /** @type {number[]} */
    let found = allNodes;

    const search = /** @type {HTMLInputElement} */ (el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" }));
    const operator = /** @type {HTMLSelectElement} */ (el("select", { id: "operator" }, el("option", { value: "" }, "all")));
    const used = [...new Set(nodes.operator)].map((index) => data.operators[index]).sort();
    for (const name of used) operator.append(el("option", { value: name }, name));
    const state = /** @type {HTMLSelectElement} */ (
      el(
        "select",
        { id: "state" },
        el("option", { value: "" }, "all"),
        el("option", { value: "open" }, "shapes not known in full"),
        el("option", { value: "uncounted" }, "operations not counted"),
        el("option", { value: "unsized" }, "bytes not known"),
      )
    );
    const status = el("p", { role: "status", class: "quiet", id: "found" });
    const copy = el("button", { type: "button", onclick: () => copyCsv() }, "Copy as CSV");
    const [before, after] = ["Previous", "Next"].map((label, index) =>
      el("button", { type: "button", onclick: () => turn(index === 0 ? -1 : 1) }, label),
    );
    const heads = columns.map(({ key, label, kind }) => {
      const button = el("button", { type: "button", class: "sort", onclick: () => sortBy(key) }, label, el("span", { "aria-hidden": "true" }));
      return el("th", { scope: "col", class: kind || null }, button);
    });
    const body = el("tbody", { id: "node-rows" });
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body);
    const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) => el("label", { class: "field" }, el("span", {}, label), input);
    box.append(
      el("div", { class: "tools filters" }, field("Search", search), field("Operator", operator), field("Show", state), copy),
      el("div", { class: "tools" }, status, el("span", { class: "pager" }, before, after)),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nodes" }, table),
    );

    /** Names in lower case, once a text is searched. @type {string[]} */
    let lower = [];
    /** @param {number} node */
    const isOpen = (node) => outputs(node).some((id) => reasons.has(id) || tensors.shape[id] === null);

    function filter() {
      const text = search.value.trim().toLowerCase();
      if (text !== "" && lower.length === 0) lower = names.map((name) => name.toLowerCase());
      const wanted = data.operators.indexOf(operator.value);
      /** @param {number} node */
      const has = (node) =>
        lower[node].includes(text) ||
        data.operators[nodes.operator[node]].toLowerCase().includes(text) ||
        outputs(node).some((id) => tensors.name[id].toLowerCase().includes(text));
      found = allNodes.filter(
        (node) =>
          (operator.value === "" || nodes.operator[node] === wanted) &&
          (state.value === "" ||
            (state.value === "open" && isOpen(node)) ||
            (state.value === "uncounted" && nodes.macs[node] === null) ||
            (state.value === "unsized" && (nodes.read[node] === null || nodes.written[node] === null))) &&
          (text === "" || has(node)),
      );
      page = 0;
      opened = -1;
      drawRows();
    }

    /** The order of all nodes by a column. @returns {(a: number, b: number) => number} */
    function order() {
      const sign = isDescending ? -1 : 1;
      const compare = (/** @type {any} */ a, /** @type {any} */ b) => (a < b ? -1 : a > b ? 1 : 0);
      const by = (/** @type {(node: number) => any} */ key) => (/** @type {number} */ a, /** @type {number} */ b) => sign * compare(key(a), key(b)) || a - b;
      switch (sorted) {
        case "step":
          return (a, b) => sign * (a - b);
        case "name":
          return by((node) => names[node]);
        case "operator":
          return by((node) => data.operators[nodes.operator[node]]);
        case "output": {
          const bytes = (/** @type {number} */ node) => outputs(node).reduce((sum, id) => sum + (values[tensors.bytes[id] ?? -1] ?? 0n), 0n);
          const all = allNodes.map(bytes);
          return by((node) => all[node]);
        }
        case "parameters":
          return by(parametersOf);
        default: {
          const column = nodes[/** @type {Metric} */ (sorted)];
          return by((node) => values[column[node] ?? -1] ?? -1n);
        }
      }
    }

    /** @param {string} key */
    function sortBy(key) {
      // Numbers begin with the largest.
      isDescending = key === sorted ? !isDescending : !["step", "name", "operator"].includes(key);
      sorted = key;
      page = 0;
      drawRows();
    }

    /** @param {number} by */
    function turn(by) {
      page += by;
      opened = -1;
      drawRows();
    }

    const inOrder = () => (sorted === "step" && !isDescending ? found : found.slice().sort(order()));

    function drawRows() {
      const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
      page = Math.min(last, Math.max(0, page));
      const shown = inOrder().slice(page * PAGE, (page + 1) * PAGE);
      const range = found.length > PAGE ? `; shown are ${exact(BigInt(page * PAGE + 1))} to ${exact(BigInt(page * PAGE + shown.length))}` : "";
      status.textContent = `${exact(BigInt(found.length))} of ${exact(BigInt(count))} nodes${range}`;
      before.toggleAttribute("disabled", page === 0);
      after.toggleAttribute("disabled", page === last);
      columns.forEach(({ key }, index) => {
        const direction = key !== sorted ? "none" : isDescending ? "descending" : "ascending";
        heads[index].setAttribute("aria-sort", direction);
        const arrow = heads[index].querySelector("span");
        if (arrow !== null) arrow.textContent = key !== sorted ? "" : isDescending ? " ↓" : " ↑";
      });
      body.replaceChildren(...shown.flatMap(nodeRows));
    }

    /** @param {number} node */
    function nodeRows(node) {
      const cells = columns.map(({ key, kind, text }) => {
        if (key !== "name") {
          const special = key === "output" ? "shape lines" : kind;
          return el("td", { class: special || null }, text(node));
        }
        const button = el(
          "button",
          {
            type: "button",
            class: "link name",
            "aria-expanded": String(opened === node),
            onclick: () => {
              opened = opened === node ? -1 : node;
              drawRows();
              const again = body.querySelector(`[data-node="${node}"] button`);
              if (again instanceof HTMLElement) again.focus();
            },
          },
          named(names[node]),
        );
        return el("th", { scope: "row" }, button);
      });
      const rows = [el("tr", { "data-node": node, class: isOpen(node) ? "open" : null }, ...cells)];
      if (opened === node) rows.push(el("tr", { class: "detail" }, el("td", { colspan: columns.length }, detail(node))));
      return rows;
    }

    /**
     * The node that makes an input, or those that read an output.
     * @param {string} role
     * @param {number} id
     */
    function neighbours(role, id) {
      const readers = () => allNodes.filter((node) => nodes.inputs[node].includes(id));
      const found = role === "output" ? readers() : made[id] < 0 ? [] : [made[id]];
      const buttons = found.slice(0, 8).map((node) =>
        el("button", { type: "button", class: "link name", onclick: () => showNodes(names[node], "", node) }, named(names[node])),
      );
      if (found.length > buttons.length) buttons.push(el("span", { class: "quiet" }, `and ${found.length - buttons.length} more`));
      return buttons.flatMap((button) => [button, " "]);
    }

    /** The attributes, inputs and outputs of a node. @param {number} node */
    function detail(node) {
      const { body: rows, box: table } = tableOf([[""], ["Name"], ["Made or read by"], ["Type"], ["Shape"], ["Formula"], ["Bytes", "number"], ["Not known because"]], `Values of ${names[node]}`);
      /**
       * @param {string} role
       * @param {(number | null)[]} ids
       */
      const add = (role, ids) => {
        for (const id of ids.slice(0, MOST)) {
          if (id === null) continue;
          const kind = role === "input" && tensors.kind[id] === 1 ? "constant" : role;
          const bytes = tensors.bytes[id];
          rows.append(
            el(
              "tr",
              {},
              el("td", { class: "quiet" }, kind),
              el("th", { scope: "row" }, named(tensors.name[id])),
              el("td", {}, ...neighbours(role, id)),
              el("td", {}, typeText(id)),
              el("td", { class: "shape" }, shapeText(tensors.shape[id], false)),
              el("td", { class: "shape" }, shapeText(tensors.shape[id], true)),
              el("td", { class: "number" }, bytes === null ? "?" : exact(values[bytes])),
              el("td", {}, (reasons.get(id) ?? []).join("; ")),
            ),
          );
        }
      };
      add("input", nodes.inputs[node]);
      add("output", nodes.outputs[node]);
      const why = outputs(node).slice(0, 8).map((id) => chainBox(id, outputs(node).length > 1));
      const note = nodes.macs[node] === null ? el("p", { class: "quiet" }, "Its operations are not counted.") : null;
      const attributes = nodes.attributes[node] > 0 ? data.attributes[nodes.attributes[node] - 1].split("\n") : [];
      const list = attributes.length > 0 ? el("ul", { class: "attributes" }, ...attributes.map((line) => el("li", {}, named(line)))) : null;
      return el("div", {}, list, table, note, ...why);
    }

    /**
     * The values that the shape of a value comes from, as a list that opens.
     * @param {number} id
     * @param {boolean} isNamed
     */
    function chainBox(id, isNamed) {
      const title = isNamed ? el("summary", {}, "Origin of the shape of ", named(tensors.name[id])) : el("summary", {}, "Origin of its shape");
      const box = /** @type {HTMLDetailsElement} */ (el("details", { class: "chain" }, title));
      box.addEventListener("toggle", () => {
        if (!box.open || box.childElementCount > 1) return;
        const { links, hasMore } = chainOf(id, CHAIN, {
          inputsOf: (value) => (made[value] < 0 || tensors.kind[value] === 4 ? [] : nodes.inputs[made[value]]),
          reasonsOf: (value) => reasons.get(value) ?? [],
        });
        const lines = links.flatMap((link) => {
          const line = el("li", {}, ...linkText(link));
          const because = link.reasons.map((reason) => el("li", { class: "quiet" }, `because ${reason}`));
          line.style.setProperty("--level", String(link.depth));
          for (const reason of because) reason.style.setProperty("--level", String(link.depth + 1));
          return [line, ...because];
        });
        if (hasMore) lines.push(el("li", {}, "…"));
        box.append(el("ul", {}, ...lines));
      });
      return box;
    }

    /** @param {Link} link */
    function linkText({ value, isAgain }) {
      const step = made[value];
      const shape = tensors.shape[value];
      const isText = shape !== null && typeof data.shapes[shape] === "string";
      const type = isText ? "" : tensors.type[value] === null && shape === null ? "?" : typeText(value);
      const fact = `${type}${type === "?" && shape === null ? "" : shapeText(shape, true)}`;
      const elements = tensors.elements[value] > 0 ? ` = ${data.elements[tensors.elements[value] - 1]}` : "";
      const label = step < 0 || /^node \d+$/.test(names[step]) ? names[step] : `node "${names[step]}"`;
      const origin =
        step < 0
          ? [tensors.kind[value] === 1 ? "a constant" : "an input"]
          : [
              el("button", { type: "button", class: "link name", onclick: () => showNodes(names[step], "", step) }, named(label)),
              ` (${data.operators[nodes.operator[step]]})`,
            ];
      return [named(tensors.name[value]), `: ${fact}${elements} by `, ...origin, isAgain ? ", see above" : ""];
    }

    /** @param {string} text */
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

    /** All nodes that are found, as CSV. */
    function csv() {
      const number = (/** @type {Index} */ formula) => (formula === null || values[formula] === null ? "" : String(values[formula]));
      const lines = inOrder().map((node) => {
        const ids = outputs(node);
        return [
          String(node + 1),
          names[node],
          data.operators[nodes.operator[node]],
          ids.map((id) => tensors.name[id]).join(" "),
          ids.map(typeText).join(" "),
          ids.map((id) => shapeText(tensors.shape[id], false)).join(" "),
          String(nodes.parameters[node]),
          ...METRICS.map(({ key }) => number(nodes[key][node])),
        ].map(quoted).join(",");
      });
      const head = "step,node,operator,outputs,types,shapes,parameters,macs,operations,arithmetic,comparisons,transcendentals,bytes_read,bytes_written";
      return `${[head, ...lines].join("\n")}\n`;
    }

    async function copyCsv() {
      const text = csv();
      let isCopied = true;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Without permission, a selection is copied.
        const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "hidden" }));
        area.value = text;
        document.body.append(area);
        area.select();
        isCopied = document.execCommand("copy");
        area.remove();
        copy.focus();
      }
      copy.textContent = isCopied ? "Copied" : "Cannot copy";
      setTimeout(() => {
        copy.textContent = "Copy as CSV";
      }, 1500);
    }

    search.addEventListener("input", filter);
    operator.addEventListener("change", filter);
    state.addEventListener("change", filter);
    showNodes = (text, name, node = -1) => {
      [search.value, operator.value, state.value] = [text, name, ""];
      filter();
      if (node >= 0) {
        page = Math.floor(inOrder().indexOf(node) / PAGE);
        opened = node;
        drawRows();
      }
      /** @type {HTMLElement} */ (document.getElementById("nodes")).scrollIntoView();
      search.focus({ preventScroll: true });
    };
    drawers.push(drawRows);
    drawBodies(box);
  }

  /** Graphs within nodes, and functions. @param {HTMLElement} box */
  function drawBodies(box) {
    if (data.bodies.length === 0) return;
    box.append(el("h3", {}, `Graphs within nodes (${data.bodies.length})`));
    for (const { path, values: inner } of data.bodies.slice(0, MOST)) {
      const details = /** @type {HTMLDetailsElement} */ (el("details", {}, el("summary", {}, named(path), ` – ${counted(inner.length, "value")}`)));
      const { body, box: table } = tableOf([["Value"], ["Type"], ["Shape"], ["Formula"]], path);
      details.append(table);
      const fill = () => {
        if (!details.open) return;
        const rows = inner.slice(0, 1000).map(([name, type, shape]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, named(name)),
            el("td", {}, type === null ? "?" : data.types[type]),
            el("td", { class: "shape" }, shapeText(shape, false)),
            el("td", { class: "shape" }, shapeText(shape, true)),
          ),
        );
        body.replaceChildren(...rows);
      };
      details.addEventListener("toggle", fill);
      drawers.push(fill);
      box.append(details);
    }
  }

  // --- Conditions ----------------------------------------------------------------------------

  /**
   * Whether a condition does not hold at the sizes; false where a formula has no value.
   * @param {Condition} condition
   */
  function isViolated({ left, relation, right }) {
    const [a, b] = [values[left], values[right]];
    if (a === null || b === null) return false;
    switch (relation) {
      case "==":
        return a !== b;
      case "<=":
        return a > b;
      case ">=":
        return a < b;
      default:
        return a !== b && a !== 1n && b !== 1n;
    }
  }

  /** Says which conditions do not hold, above the page and in their list. */
  function drawConditions() {
    const box = /** @type {HTMLElement} */ (document.getElementById("violations"));
    const rows = document.querySelectorAll("#conditions tbody tr");
    const cells = [...rows].map((row) => {
      const sign = el("span", { class: "sign", hidden: true }, " – does not hold at these sizes");
      row.lastElementChild?.append(sign);
      return { row, sign };
    });
    drawers.push(() => {
      const violated = data.conditions.flatMap((condition) => (condition !== null && isViolated(condition) ? condition : []));
      data.conditions.forEach((condition, index) => {
        if (index >= cells.length) return;
        const isBad = condition !== null && isViolated(condition);
        cells[index].row.classList.toggle("bad", isBad);
        cells[index].sign.hidden = !isBad;
      });
      const text = `${counted(violated.length, "condition")} ${violated.length === 1 ? "does" : "do"} not hold: the model does not take these sizes, or its shapes are others.`;
      const items = violated.slice(0, 5).map(({ text: of, place }) => el("li", {}, named(of), " (", named(place), ")"));
      if (violated.length > 5) items.push(el("li", {}, `and ${violated.length - 5} more`));
      if (violated.length === 0) box.replaceChildren();
      else box.replaceChildren(el("p", { class: "bad" }, text), el("ul", {}, ...items));
    });
  }

  recall();
  compute();
  drawSizes();
  drawMemory();
  drawTotals();
  drawCompared();
  drawInterface();
  drawCost();
  drawGraph();
  drawNodes();
  drawConditions();
  draw();
  window.addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    recall();
    schedule();
  });
})();
