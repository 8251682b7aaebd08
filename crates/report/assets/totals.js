/** Totals, and inputs and outputs. */

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
    ["Bytes read", "bytes_read"],
    ["Bytes written", "bytes_written"],
    ["Bytes of inputs", "inputs"],
    ["Peak of values in bytes, at most", "peak"],
    ["– in place, at most", "in_place"],
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
  { key: "bytes_read", label: "Bytes read", unit: "B" },
  { key: "bytes_written", label: "Bytes written", unit: "B" },
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
  const { inputs, in_place: inPlace } = data.totals;
  figure("total-inputs", "Inputs", "B", () => (inputs === null ? null : values[inputs]), inputs);
  figure("total-peak", "Peak of values", "B", () => memory.peak, data.totals.peak);
  const note = "where outputs of elementwise nodes take the room of an input of their size";
  figure("total-in-place", "Peak in place, at most", "B", () => (inPlace === null ? null : values[inPlace]), inPlace, note);
}

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
