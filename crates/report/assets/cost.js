/** Costs by name and by operator, as a table and as a treemap. */

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
     * Boxes within that of a group, where there is room: pictures alone, as it opens the group.
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
