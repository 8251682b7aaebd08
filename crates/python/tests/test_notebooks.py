"""Objects as notebooks show them: tables, in which every text of a model is text."""

import xml.etree.ElementTree as ElementTree

from test_command import command

import gradus

HOSTILE = "</td><script>alert(1)</script>\"'&"


def cells(shown):
    """The cells of the tables, row by row; the text must be well formed."""
    root = ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")
    assert not root.findall(".//script")
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_models_and_what_is_known_of_them():
    model = gradus.load("examples/positions.onnx")
    assert ["input", "tokens", "int64[batch, seq]"] in cells(model)
    assert ["phase", "float32[seq]", ""] in cells(model.infer())
    total = next(row for row in cells(model.cost()) if row[0] == "all")
    assert total[1] == "6" and total[4:8] == ["4*seq + 1", "4*seq + 1", "0", "0"]
    assert cells(gradus.load("examples/heads.onnx").fold().report)[1][0] == "all"
    assert cells(gradus.load("examples/loop.onnx").convert("openvino").report)[1][2] == "edge cases"
    assert "3 of 3 outputs are proved" in model.check(model)._repr_html_()
    assert cells(model.check(model, prove=False))[1][:3] == ["position_ids", "53", "0"]
    assert gradus.Dim("min(a, b) + 1")._repr_html_() == "<code>min(a, b) + 1</code>"


def test_sequences_show_both_ends():
    assert cells(gradus.plan.arange(3))[1:] == [["0", "0"], ["1", "1"], ["2", "2"]]
    rows = cells(gradus.plan.linspace(0, 1, 101))
    assert len(rows) == 1 + 5 + 1 + 5 and rows[1] == ["0", "0.0"] and rows[6] == ["…", "…"] and rows[-1] == ["100", "1.0"]


def test_graphs_show_what_is_known_of_their_values():
    g = gradus.Graph()
    assert g._repr_html_() == "<p>no nodes</p>"
    x = g.input(HOSTILE, "float32", ["n", 3])
    g.apply("Relu", x)
    rows = cells(g)
    assert [HOSTILE, "float32[n, 3]"] in [row[:2] for row in rows] and len(rows) == 3


def test_runtimes():
    report = gradus.load("examples/positions.onnx").check_in("onnxruntime", runs=1)
    rows = cells(report)
    assert rows[1][0] == "position_ids" and rows[-1][0] == "node alone"


def test_texts_of_models_stay_text():
    from gradus import _html

    shown = _html.table([HOSTILE], [[HOSTILE], [None], [1234567], [0.5]], HOSTILE) + _html.notes([HOSTILE])
    root = ElementTree.fromstring(f"<div>{shown}</div>")
    assert not root.findall(".//script")
    assert [cell.text for cell in root.iter("td")] == [HOSTILE, None, "1,234,567", "0.5"]
    assert root.find(".//li").text == HOSTILE


def test_long_tables_say_how_many_rows_are_not_shown():
    from gradus import _html

    assert "and 3 more" in _html.table(["n"], [[n] for n in range(203)])


def test_pages_are_those_of_the_command(tmp_path):
    path = "examples/heads.onnx"
    status, _, error = command("report", path, "-o", str(tmp_path / "page.html"), "--dim", "batch=3")
    assert (status, error) == (0, "")
    page = gradus.load(path).to_html({"batch": 3}, name=path)
    assert page == (tmp_path / "page.html").read_text() and "heads.onnx" in page
