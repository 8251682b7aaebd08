/** The graph, one group at a time. */

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
