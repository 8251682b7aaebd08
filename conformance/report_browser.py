"""Holds the pages of `gradus report`, in Chromium without a screen, against what the command itself prints.

    python conformance/report_browser.py GRADUS CHROMIUM MODEL...

For each model, sizes are typed at random, and shapes, costs and the peak of memory on the page are compared with those of
`gradus infer --dim ... --json` and `gradus cost --dim ... --json`. The sliders, the tree, the table, its CSV and the chart are used as a
reader uses them, with the keyboard too. A model whose names are hostile must have them as text. No page may print an error or ask for
another file.
"""

import csv
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import Browser, Page, sync_playwright

BINDINGS = 4
LARGEST = 200
METRICS = ["macs", "operations", "arithmetic", "comparisons", "transcendentals", "bytes_read", "bytes_written"]
HOSTILE = [
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "\"'`&amp;<!--",
    "a\u202egpj.exe\u0007\n\u0000",
    "=HYPERLINK(\"x\"),b",
]


def check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def same(got: object, want: object, what: str) -> None:
    check(got == want, f"{what} is {got!r}, expected {want!r}")


def number(text: str) -> int | None:
    """A number of the page: digits with commas, perhaps a unit."""
    found = re.match(r"-?[\d,]+", text)
    return int(found.group().replace(",", "")) if found else None


class Report:
    """A page that is open, with what went wrong on it."""

    def __init__(self, browser: Browser, file: pathlib.Path, **options: object) -> None:
        self.file = file
        self.wrong: list[str] = []
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked(request.url))
        self.page.goto(file.as_uri())
        self.settle()

    def asked(self, url: str) -> None:
        if url.split("#")[0] != self.file.as_uri() and not url.startswith("data:"):
            self.wrong.append(f"request: {url}")

    def settle(self) -> None:
        """Waits until what was changed is drawn."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def data(self) -> dict:
        data = json.loads(self.page.locator("#data").text_content() or "")
        nodes, values = data["nodes"], data["values"]["name"]
        # A number: the name of the first output is so much longer.
        for index, name in enumerate(nodes["name"]):
            if isinstance(name, int):
                output = values[nodes["outputs"][index][0]]
                nodes["name"][index] = output[: len(output) - name]
        return data

    def close(self) -> None:
        self.context.close()
        check(not self.wrong, "; ".join(self.wrong))


def gradus(program: str, *arguments: str) -> dict | None:
    """Output of the command, or nothing if the model contradicts itself at the given sizes."""
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, encoding="utf-8", check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def sizes(data: dict) -> dict[str, int]:
    """Random sizes of the inputs, within bounds."""
    chosen = {}
    for symbol in data["symbols"]:
        if symbol["origin"] == "input":
            least, most = max(int(symbol.get("min", 0)), 1), int(symbol.get("max", LARGEST))
            chosen[symbol["name"]] = random.randint(least, max(least, min(most, LARGEST)))
    return chosen


def set_sizes(report: Report, data: dict, chosen: dict[str, int]) -> None:
    for details in report.page.locator("#sizes details").all():
        if details.get_attribute("open") is None:
            details.locator("summary").click()
    for index, symbol in enumerate(data["symbols"]):
        if symbol["name"] in chosen:
            report.page.locator(f"#size-{index}").fill(str(chosen[symbol["name"]]))
    report.settle()


def evaluated(report: Report, table: str, chosen: dict[str, int]) -> list[int | None]:
    """The formulas of this model (`data`) or of the other (`data.other`) at sizes of the inputs.

    Those with sizes that the data decide have no number: the command may know the data that follow from sizes.
    """
    values = report.page.evaluate(
        """([table, sizes]) => {
            const data = JSON.parse(document.getElementById("data").textContent);
            const { formulas, symbols } = table === "data" ? data : data.other;
            const values = evaluate(formulas, symbols.map(({ name }) => name in sizes ? BigInt(sizes[name]) : null));
            return values.map((value) => value === null ? null : String(value));
        }""",
        [table, chosen],
    )
    return [None if value is None else int(value) for value in values]


def branches(cost: dict) -> bool:
    """At sizes that decide a branch, the command counts no other branch."""
    return "If" in cost["operators"]


def compare_numbers(report: Report, program: str, model: str) -> int:
    """Compares the page at random sizes with the command; returns how many numbers were compared."""
    data = report.data()
    compared = 0
    for _ in range(BINDINGS):
        chosen = sizes(data)
        dims = [f"--dim={name}={size}" for name, size in chosen.items()]
        cost, infer = gradus(program, "cost", model, *dims), gradus(program, "infer", model, *dims)
        if cost is None or infer is None:
            continue
        set_sizes(report, data, chosen)
        where = f"{model} at {chosen}"
        values = evaluated(report, "data", chosen)

        def size(formula: int | None, values: list = values) -> int | None:
            return None if formula is None else values[formula]

        wanted = {key: cost["total"][key] for key in METRICS}
        wanted |= {"inputs": cost["memory"]["inputs"], "peak": cost["memory"]["peak_bytes"]}
        for key, value in wanted.items():
            if isinstance(value, int) and size(data["totals"][key]) is not None and not branches(cost):
                same(number(report.text(f"#total-{key}")), value, f"{where}: {key}")
                compared += 1
        for index, node in enumerate(cost["nodes"]):
            for key in METRICS if not branches(cost) else []:
                if isinstance(node[key], int) and (got := size(data["nodes"][key][index])) is not None:
                    same(got, node[key], f"{where}: {key} of {node['node']}")
                    compared += 1
        for index, name in enumerate(data["values"]["name"]):
            of, shape = infer["values"].get(name), data["values"]["shape"][index]
            if of is None or of["shape"] is None or shape is None:
                continue
            for formula, wanted_size in zip(data["shapes"][shape], of["shape"], strict=True):
                if isinstance(wanted_size, int) and (got := size(formula)) is not None:
                    same(got, wanted_size, f"{where}: a size of {name}")
                    compared += 1
    return compared


def use_sizes(report: Report) -> None:
    """Moves a slider with the keyboard; the number, the totals and the address follow."""
    page, data = report.page, report.data()
    texts = dict(data["texts"])
    symbol = data["symbols"][0]["name"] if data["symbols"] else None
    if symbol is None or symbol not in texts.get(data["totals"]["inputs"], ""):
        return
    slider, field = page.locator("#sizes input[type=range]").first, page.locator("#sizes input[type=number]").first
    slider.focus()
    slider.press("Home")
    report.settle()
    before, total = field.input_value(), report.text("#total-inputs")
    slider.press("ArrowRight")
    report.settle()
    check(int(field.input_value()) > int(before), "the number does not follow its slider")
    check(report.text("#total-inputs") != total, "the inputs do not follow the slider")
    check(f"={field.input_value()}" in page.url, f"the address {page.url} has no size")
    field.fill("")
    report.settle()
    same(field.get_attribute("aria-invalid"), "", "the mark of a field without a number")
    page.get_by_role("button", name="Reset").click()
    report.settle()
    same(field.get_attribute("aria-invalid"), None, "the mark of a field that was reset")


def use_nodes(report: Report) -> None:
    """Searches, sorts, filters, opens and copies nodes."""
    page, data = report.page, report.data()
    names = data["nodes"]["name"]
    same(number(report.text("#found")), len(names), "the number of nodes")
    check("undefined" not in report.text("#interface"), f"a size is undefined: {report.text('#interface')}")
    if not names:
        return
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })")
    page.get_by_role("button", name="Copy as CSV").click()
    rows = list(csv.DictReader(io.StringIO(page.evaluate("window.copied"))))
    same([row["node"] for row in rows], names, "the nodes of the CSV")
    page.locator("#nodes thead button", has_text="Bytes written").click()
    report.settle()
    written = [number(text) for text in page.locator("#node-rows tr td:last-child").all_inner_texts()]
    largest = sorted((int(row["bytes_written"] or -1) for row in rows), reverse=True)[: len(written)]
    same([-1 if value is None else value for value in written], largest, "bytes written, sorted")
    same(page.locator("#nodes th[aria-sort=descending]").count(), 1, "sorted columns")
    operator = data["operators"][data["nodes"]["operator"][0]]
    page.locator("#operator").select_option(operator)
    with_operator = [index for index in data["nodes"]["operator"] if data["operators"][index] == operator]
    same(number(report.text("#found")), len(with_operator), f"nodes with {operator}")
    page.locator("#operator").select_option("")
    page.locator("#search").fill(names[-1])
    check((number(report.text("#found")) or 0) >= 1, f"no node is found by {names[-1]!r}")
    page.locator("#node-rows th button").first.press("Enter")
    check(page.locator("#node-rows .detail table").count() == 1, "a node that is opened shows no values")
    page.locator("#search").fill("")


def use_memory(report: Report) -> None:
    """Goes over the steps of the chart with the keyboard and the mouse."""
    page, data = report.page, report.data()
    count = len(data["nodes"]["name"])
    if count == 0:
        return
    chart = page.locator("#chart")
    chart.focus()
    chart.press("End")
    same(chart.get_attribute("aria-valuenow"), str(count), "the last step")
    chart.press("Home")
    same(chart.get_attribute("aria-valuenow"), "1", "the first step")
    page.get_by_role("button", name="Go to the peak").click()
    same(number(report.text("#live-title").split(": ")[1]), number(report.text("#total-peak")), "the bytes at the peak")
    layers = page.locator("#legend .swatch").count()
    same(page.locator("#chart .area").count(), layers, "areas of the chart")
    live = page.locator("#live tr td:nth-child(4)").all_inner_texts()
    if len(live) < 200:
        same(sum(number(text) or 0 for text in live), number(report.text("#total-peak")), "the sum of values at the peak")
    chart.press("Enter")
    same(page.evaluate("document.activeElement.id"), "live-title", "the element that Enter goes to")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    check(box is not None and box["width"] > 200, "the chart has no size")
    chart.click(position={"x": box["width"] - 20, "y": 100})
    check(int(chart.get_attribute("aria-valuenow") or 0) > 0.9 * count - 1, "a click at the end is not the last steps")


def use_cost(report: Report, program: str, model: str) -> None:
    """Opens all groups; their sums are those of the command."""
    page, data = report.page, report.data()
    chosen = sizes(data)
    set_sizes(report, data, chosen)
    dims = [f"--dim={name}={size}" for name, size in chosen.items()]
    for depth in range(1, 4):
        cost = gradus(program, "cost", model, f"--depth={depth}", *dims)
        if cost is None:
            return
        page.evaluate(
            """() => {
                const closed = () => document.querySelector("#cost-rows button[aria-expanded=false]");
                for (let left = 1000; left > 0 && closed() !== null; left -= 1) closed().click();
            }"""
        )
        for button in page.locator("#cost-rows button[data-path]").all():
            path = button.get_attribute("data-path") or ""
            group = cost["groups"].get(path)
            if group is None or len(path.split("/")) != depth or not isinstance(group["bytes_written"], int):
                continue
            row = button.locator("xpath=ancestor::tr")
            cells = [number(text) for text in row.locator("td").all_inner_texts()]
            same([cells[1], cells[-1]], [group["nodes"], group["bytes_written"]], f"the sums of {path}")
    page.get_by_label("Operator", exact=True).first.check()
    cost = gradus(program, "cost", model, *dims)
    if cost is not None and len(cost["operators"]) <= 200:
        same(page.locator("#cost-rows tr").count(), len(cost["operators"]) + 1, "rows by operator")


def use_treemap(report: Report, program: str, model: str) -> None:
    """The boxes are the groups of the command, in proportion; they follow sizes, and the keyboard opens and leaves them."""
    page, data = report.page, report.data()
    page.locator("input[name=group]").first.check()
    boxes = page.locator("#treemap button")
    for name in ["bytes_written", "parameters", "macs"]:
        page.locator(f"input[name=share][value={name}]").check()
        for _ in range(2):
            chosen = sizes(data)
            set_sizes(report, data, chosen)
            shown = boxes.evaluate_all("(all) => all.map(({ title, clientWidth, clientHeight }) => [title, clientWidth * clientHeight])")
            if not shown:
                continue
            depth = page.locator("#treemap-note").evaluate("(note) => note.parentElement.querySelectorAll('nav > *').length")
            cost = gradus(program, "cost", model, f"--depth={depth}", *[f"--dim={of}={size}" for of, size in chosen.items()])
            if cost is None:
                continue
            amounts = []
            for title, area in shown:
                found = re.fullmatch(r"(.*): ([\d,]+) [A-Za-z ]+, [\d.]+ %", title, re.DOTALL)
                check(found is not None, f"the box {title!r} has no number")
                group = cost["groups"].get(found[1])
                if group is not None and isinstance(group[name], int) and found[1].count("/") == depth - 1:
                    same(number(found[2]), group[name], f"the box of {found[1]} at {chosen}")
                amounts.append((number(found[2]), area))
            same([amount for amount, _ in amounts], sorted((amount for amount, _ in amounts), reverse=True), "boxes by size")
            large = [area / amount for amount, area in amounts if area > 10_000]
            check(not large or max(large) < 1.2 * min(large), f"areas are not in proportion: {amounts}")
    if boxes.count() == 0:
        return
    boxes.first.focus()
    if boxes.count() > 1:
        page.keyboard.press("ArrowRight")
        same(page.evaluate("document.activeElement.title"), boxes.nth(1).get_attribute("title"), "the box that the arrow goes to")
        same(page.locator("#treemap button[tabindex='0']").count(), 1, "boxes that the tabulator reaches")
    groups = page.locator("#treemap button.groups")
    if groups.count() > 0:
        name, path = groups.first.get_attribute("title"), groups.first.get_attribute("data-path")
        groups.first.press("Enter")
        check(path in report.text("#treemap-note"), f"the group {path} is not opened")
        within = boxes.evaluate_all("(all) => all.map(({ dataset }) => dataset.path)")
        check(all(of.lstrip("/").startswith(f"{path}/") for of in within), f"boxes within {path} are {within}")
        boxes.first.press("Escape")
        same(page.evaluate("document.activeElement.title"), name, "the box that was left")
    page.locator("input[name=share]").first.check()


def use_chain(report: Report, program: str, model: str) -> None:
    """The origin of a shape is what the command prints."""
    page, data = report.page, report.data()
    made = [(node, ids[0]) for node, ids in enumerate(data["nodes"]["outputs"]) if ids and ids[0] is not None]
    names = data["values"]["name"]
    for node, value in random.sample(made, min(4, len(made))):
        name = names[value]
        if names.count(name) > 1 or "\\" in name:
            continue
        page.locator("#search").fill(name)
        row = page.locator(f"#node-rows tr[data-node='{node}'] th button")
        check(row.count() == 1, f"the node of {name} is not found")
        row.press("Enter")
        page.locator("#node-rows .chain summary").first.press("Enter")
        report.settle()
        lines = page.locator("#node-rows .chain").first.locator("li").evaluate_all(
            "(all) => all.map((line) => '  '.repeat(Number(line.style.getPropertyValue('--level'))) + line.textContent)"
        )
        wanted = subprocess.run(
            [program, "infer", model, f"--why={name}"], check=False, capture_output=True, encoding="utf-8"
        ).stdout.splitlines()
        same(lines, wanted, f"the origin of {name}")
    page.locator("#search").fill("")


def use_graph(report: Report) -> None:
    """Opens groups of the graph with the keyboard until a node is reached, and goes back to the model."""
    page, data = report.page, report.data()
    canvas = page.locator("#canvas")
    depth = page.locator("#graph nav > *").count()
    while (groups := canvas.locator("button.groups")).count() > 0:
        path = groups.first.get_attribute("title") or ""
        groups.first.press("Enter")
        depth += 1
        same(page.locator("#graph nav > *").count(), depth, f"the groups around {path}")
        boxes = canvas.locator("button").evaluate_all("(boxes) => boxes.map(({ title }) => title)")
        check(all(title.lstrip("/").startswith(f"{path}/") for title in boxes), f"boxes within {path} are {boxes}")
    check(canvas.locator("button").count() <= 60, "more boxes are drawn than asked for")
    if canvas.locator("button").count() > 0:
        name = canvas.locator("button").first.get_attribute("title")
        canvas.locator("button").first.press("Enter")
        same(page.locator("#search").input_value(), name, "the node that is searched")
        check(name in data["nodes"]["name"], f"{name!r} is no node")
        detail = page.locator("#node-rows .detail")
        same(detail.count(), 1, "nodes that are open")
        lines = data["nodes"]["attributes"][data["nodes"]["name"].index(name)]
        shown = detail.locator(".attributes li").all_inner_texts()
        same(shown, data["attributes"][lines - 1].split("\n") if lines > 0 else [], f"attributes of {name!r}")
        if detail.locator("button").count() > 0:
            neighbour = detail.locator("button").first.inner_text()
            detail.locator("button").first.press("Enter")
            same(page.locator("#search").input_value(), neighbour, f"the neighbour of {name!r}")
        page.locator("#search").fill("")
    if depth > 1:
        page.locator("#graph nav button").first.press("Enter")
        same(page.locator("#graph nav > *").count(), 1, "the groups around the model")


def field(tag: int, content: bytes | str | int) -> bytes:
    """A field of protobuf."""

    def varint(value: int) -> bytes:
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes([*out, value])

    if isinstance(content, int):
        return varint(tag << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(tag << 3 | 2) + varint(len(content)) + content


def hostile(folder: pathlib.Path) -> pathlib.Path:
    """An ONNX model whose names are hostile."""

    def value(name: str) -> bytes:
        shape = b"".join(field(1, field(2, symbol)) for symbol in ("n", HOSTILE[0]))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    names = ["input", *(f"{name}/value" for name in HOSTILE)]
    nodes = b"".join(
        field(1, field(1, before) + field(2, after) + field(3, f"{name}/{name}") + field(4, "Abs"))
        for before, after, name in zip(names, names[1:], HOSTILE, strict=False)
    )
    graph = nodes + field(2, HOSTILE[1]) + field(11, value(names[0])) + field(12, value(names[-1]))
    model = field(1, 9) + field(2, HOSTILE[0]) + field(7, graph) + field(8, field(2, 17))
    path = folder / "<b>hostile & '\".onnx"
    path.write_bytes(model)
    return path


def use_hostile(browser: Browser, program: str, folder: pathlib.Path) -> None:
    model, page = hostile(folder), folder / "hostile.html"
    subprocess.run([program, "report", model, "-o", page], check=True, capture_output=True)
    hold_hostile(browser, model, page)
    subprocess.run([program, "report", model, "--compare", model, "-o", page], check=True, capture_output=True)
    hold_hostile(browser, model, page)


def hold_hostile(browser: Browser, model: pathlib.Path, page: pathlib.Path) -> None:
    report = Report(browser, page)
    same(report.page.evaluate("window.pwned"), None, "what a name ran")
    same(report.text("h1"), model.name, "the name of the file")
    same(report.page.locator("b, img, script:not(head script, body > script)").count(), 0, "elements made of names")
    shown = report.page.locator("#node-rows th").all_inner_texts()
    check(any("</script><script>" in text for text in shown), f"no name is {HOSTILE[0]!r}: {shown}")
    check(any(r"a\u{202e}gpj.exe\u{7}\n\u{0}" in text for text in shown), f"escapes are not shown: {shown}")
    use_nodes(report)
    use_memory(report)
    use_graph(report)
    report.close()


def use_compared(browser: Browser, program: str, model: str, folder: pathlib.Path) -> int:
    """The totals of a model beside those of the folded one are those of the command; returns how many were compared."""
    folded, page = folder / f"folded{pathlib.Path(model).suffix}", folder / "compared.html"
    done = subprocess.run([program, "fold", model, "-o", folded], check=False, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        check("problem: " in done.stdout, f"fold says {done.stderr}")
        # A model that contradicts itself.
        return 0
    subprocess.run([program, "report", folded, "--compare", model, "-o", page], check=True, capture_output=True)
    report = Report(browser, page)
    data = report.data()
    chosen = sizes(data)
    set_sizes(report, data, chosen)
    dims = [f"--dim={name}={size}" for name, size in chosen.items()]
    costs = [gradus(program, "cost", str(path), *dims) for path in (folded, model)]
    rows = [row.inner_text().split("\t") for row in report.page.locator("#compared .content tbody tr").all()]
    shown = {label: [number(text) for text in texts[:2]] for label, *texts in rows}
    compared = 0
    for number_of, (table, of, cost) in enumerate([("data", data, costs[0]), ("data.other", data["other"], costs[1])]):
        if cost is None or branches(cost):
            continue
        values = evaluated(report, table, chosen)
        for label, part, key in [
            ("MACs", "total", "macs"),
            ("Operations", "total", "operations"),
            ("Bytes read", "total", "bytes_read"),
            ("Bytes written", "total", "bytes_written"),
            ("Bytes of inputs", "memory", "inputs"),
        ]:
            formula, wanted = of["totals"][key], cost[part][key]
            if isinstance(wanted, int) and formula is not None and values[formula] is not None:
                same(shown[label][number_of], wanted, f"{label} at {chosen}")
                compared += 1
        same(shown["Bytes of constants"][number_of], cost["memory"]["constants"], "bytes of constants")
        same(shown["Parameters"][number_of], cost["total"]["parameters"], "parameters")
        compared += 2
    report.close()
    return compared


def use_sequences(report: Report, program: str, model: str) -> None:
    """The sequences of the page, where no size is open, are those of the command."""
    page, data = report.page, report.data()
    found = gradus(program, "compare", model)
    if found is None or any(symbol["origin"] == "input" for symbol in data["symbols"]):
        return
    shown = page.locator("#sequences h3 code").all_inner_texts()
    for sequence in found["sequences"][:20]:
        check(sequence["call"] in shown, f"{sequence['call']} is not among {shown}")
        section = page.locator("#sequences h3", has_text=sequence["call"]).first.locator("xpath=following-sibling::div[1]")
        rows = section.locator("tbody th").all_inner_texts()
        wanted = [name for name, result in sequence["results"].items() if not result.get("exact")]
        same(rows, wanted, f"the programs that differ at {sequence['node']}")


def use_conditions(report: Report) -> None:
    """Conditions that do not hold at the sizes are marked in their list and told above the page."""
    data = report.data()
    for _ in range(3):
        set_sizes(report, data, sizes(data))
        wanted = violated(report, data)
        rows = report.page.locator("#conditions tbody tr").all()
        marked = [index for index, row in enumerate(rows) if "bad" in (row.get_attribute("class") or "")]
        same(marked, wanted[: len(rows)], "marked conditions")
        same(report.page.locator("#violations li").count(), min(len(wanted), 5) + (len(wanted) > 5), "listed conditions")
        fields = report.page.locator(".size.bad").all()
        check(not fields or wanted, "a size is marked where all conditions hold")
        for field in fields:
            told = (field.get_attribute("title") or "").splitlines()
            texts = {f"does not run: expected {data['conditions'][index]['text']}" for index in wanted}
            check(bool(told) and texts.issuperset(told), f"a size is marked with {told}")
    for condition in data["conditions"]:
        if condition is None or not re.fullmatch(r"\w+ <= \d+", condition["text"]):
            continue
        name, bound = condition["text"].split(" <= ")
        symbol = next(symbol for symbol in data["symbols"] if symbol["name"] == name)
        if int(symbol.get("max", bound)) >= int(bound) + ("max" in symbol):
            set_sizes(report, data, {name: int(bound) + 1})
            check(condition["text"] in report.text("#violations"), f"{condition['text']} is not told")
            index = data["symbols"].index(symbol)
            marked = report.page.locator(f".size.bad:has(#size-{index})").get_attribute("title")
            check(condition["text"] in (marked or ""), f"{name} is not marked where {condition['text']} fails")
            set_sizes(report, data, {name: max(int(symbol.get("min", 0)), 1)})
            check(condition["text"] not in report.text("#violations"), f"{condition['text']} is told where it holds")


def violated(report: Report, data: dict) -> list[int]:
    """Conditions that do not hold at the sizes of the page, by their index."""
    chosen = [report.page.locator(f"#size-{index}").input_value() for index in range(len(data["symbols"]))]
    values = report.page.evaluate(
        "([table, sizes]) => evaluate(table, sizes.map((size) => size === '' ? null : BigInt(size)))"
        ".map((value) => value === null ? null : String(value))",
        [data["formulas"], chosen],
    )
    found = []
    for index, condition in enumerate(data["conditions"]):
        if condition and all(holds(values, guard) for guard in condition["when"]) and holds(values, condition["holds"]) is False:
            found.append(index)
    return found


def holds(values: list, relation: dict) -> bool | None:
    """Whether a relation of two formulas holds; nothing where one has no value."""
    a, b = (values[relation[side]] for side in ("left", "right"))
    if a is None or b is None:
        return None
    x, y = int(a), int(b)
    signs = {"==": x == y, "!=": x != y, "<=": x <= y, ">=": x >= y, "broadcasts with": x == y or 1 in (x, y)}
    return signs[relation["relation"]]


def evaluator(report: Report) -> None:
    """The evaluator of the page against Python's integers, which round as the library does."""
    for _ in range(200):
        table: list = [random.randint(-9, 9) for _ in range(3)] + [str(2**70), ["s", 0], ["s", 1]]
        symbols = [random.randint(-30, 30), random.randint(0, 3)]
        values: list = [int(entry) for entry in table[:4]] + symbols
        for _ in range(12):
            a, b = random.randrange(len(table)), random.randrange(len(table))
            x, y = values[a], values[b]
            form = random.choice(["/", "min", "max", "b", "+"])
            table.append(["+", [random.randint(-3, 3), a, b], [2, a], [str(-(2**60))]] if form == "+" else [form, a, b])
            if x is None or (y is None and not (form == "b" and x != 1)):
                values.append(None)
            elif form == "/":
                values.append(None if y == 0 else x // y)
            elif form == "+":
                values.append(table[-1][1][0] * x * y + 2 * x - 2**60)
            elif form == "b":
                values.append(y if x == 1 else x)
            else:
                values.append({"min": min, "max": max}[form](x, y))
        got = report.page.evaluate(
            "([table, symbols]) => evaluate(table, symbols.map(BigInt)).map((value) => value === null ? null : String(value))",
            [table, symbols],
        )
        same(got, [None if value is None else str(value) for value in values], f"{table} of {symbols}")


def schemes(browser: Browser, file: pathlib.Path) -> None:
    """Light, dark, print and a narrow screen: nothing is wider than the page, and controls are not printed."""
    backgrounds = set()
    for scheme in ("light", "dark"):
        report = Report(browser, file, color_scheme=scheme)
        backgrounds.add(report.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        for width in (360, 800, 1600):
            report.page.set_viewport_size({"width": width, "height": 900})
            report.settle()
            over = report.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            check(over <= 0, f"the page is {over} pixels too wide at {width}")
        report.page.emulate_media(media="print")
        same(report.page.locator("#sizes input[type=range]:visible").count(), 0, "sliders that are printed")
        report.close()
    same(len(backgrounds), 2, "backgrounds of both schemes")


def main() -> None:
    program, chromium, *models = sys.argv[1:]
    random.seed(1)
    passed, failed = 0, 0
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        # Without a sandbox, as tests may run as root; the pages are ours.
        browser = playwright.chromium.launch(executable_path=shutil.which(chromium) or chromium, args=["--no-sandbox"])

        def run(name: str, test) -> None:
            nonlocal passed, failed
            try:
                test()
                passed += 1
            except Exception as error:
                print(f"FAILED {name}: {error}")
                failed += 1

        compared = 0

        def one(model: str) -> None:
            nonlocal compared
            page = folder / f"{pathlib.Path(model).name}.html"
            done = subprocess.run([program, "report", model, "-o", page], check=False, capture_output=True, encoding="utf-8")
            check(page.exists(), done.stderr)
            report = Report(browser, page)
            compared += compare_numbers(report, program, model)
            use_sizes(report)
            use_conditions(report)
            use_sequences(report, program, model)
            use_nodes(report)
            use_memory(report)
            use_treemap(report, program, model)
            use_chain(report, program, model)
            use_cost(report, program, model)
            use_graph(report)
            report.close()

        def both(model: str) -> None:
            nonlocal compared
            compared += use_compared(browser, program, model, folder)

        for model in models:
            run(model, lambda model=model: one(model))
            if model.endswith(".onnx"):
                run(f"{model} beside the folded one", lambda model=model: both(model))
        run("hostile names", lambda: use_hostile(browser, program, folder))
        first = folder / f"{pathlib.Path(models[0]).name}.html"
        run("schemes", lambda: schemes(browser, first))

        def evaluates() -> None:
            report = Report(browser, first)
            evaluator(report)
            report.close()

        run("evaluator", evaluates)
        browser.close()
    print(f"{compared} numbers compared")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
