/** The table of nodes, and the details of each. */

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
          (state.value === "unsized" && (nodes.bytes_read[node] === null || nodes.bytes_written[node] === null))) &&
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
