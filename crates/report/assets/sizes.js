/** Fields for the sizes of inputs, and the values of all formulas at these. */

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
