/** Memory over the run. */

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
 * @template {{[step: number]: any}} T
 * @param {T} live zeros
 * @param {(bytes: bigint) => number | bigint} of
 * @param {number[]} ids
 */
function addBytes(live, of, ids) {
  /** @type {any[]} */
  const known = values.map((value) => of(value ?? 0n));
  /** @type {{[step: number]: any}} */
  const sums = live;
  for (const id of ids) {
    const bytes = known[Number(tensors.bytes[id])];
    sums[made[id]] += bytes;
    sums[last[id] + 1] -= bytes;
  }
  for (let step = 1; step < count; step += 1) sums[step] += sums[step - 1];
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
