/** Conditions of sizes; and the start, after all that it draws. */

/**
 * Whether a relation holds at the sizes; null where a formula has no value.
 * @param {Relation} relation
 */
function holds({ left, relation, right }) {
  const [a, b] = [values[left], values[right]];
  if (a === null || b === null) return null;
  switch (relation) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    case "<=":
      return a <= b;
    case ">=":
      return a >= b;
    default:
      return a === b || a === 1n || b === 1n;
  }
}

/**
 * True if a condition applies at the sizes and does not hold.
 * @param {Condition} condition
 */
function isViolated({ when, holds: relation }) {
  return when.every((guard) => holds(guard) === true) && holds(relation) === false;
}

/**
 * The symbols of a formula, by their indices.
 * @param {number} formula
 * @param {Set<number>} [seen] formulas that were looked at
 * @returns {number[]}
 */
function symbolsOf(formula, seen = new Set()) {
  const entry = data.formulas[formula];
  if (!Array.isArray(entry) || seen.has(formula)) return [];
  seen.add(formula);
  const [form, ...operands] = entry;
  if (form === "s") return [Number(operands[0])];
  const all = form === "+" ? operands.flatMap((product) => /** @type {(number | string)[]} */ (product).slice(1)) : operands;
  return all.flatMap((operand) => symbolsOf(Number(operand), seen));
}

/**
 * Marks the fields of sizes that conditions are about which do not hold, with these.
 * @param {Condition[]} violated
 */
function markSizes(violated) {
  data.symbols.forEach((_, index) => {
    const field = document.getElementById(`size-${index}`)?.closest(".size");
    const isAbout = (/** @type {Condition} */ { holds: { left, right } }) => [left, right].some((side) => symbolsOf(side).includes(index));
    const texts = violated.filter(isAbout).map(({ text }) => text);
    field?.classList.toggle("bad", texts.length > 0);
    field?.setAttribute("title", texts.map((text) => `does not run: expected ${text}`).join("\n"));
  });
}

/** Says which conditions do not hold: above the page, in their list, and at the sizes. */
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
    markSizes(violated);
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
