"""The table of what programs give."""

import numpy as np
import pytest

import gradus


def test_rows_are_what_the_command_shows():
    table = gradus.compare("range", 16777216, 16777226, 1, dtype="float32")
    assert [row.profile for row in table][0] == "exact" and len(table) == 13
    numpy = table["numpy"]
    assert numpy.length == 10 and numpy.difference == (2, "16777216.0", "16777218.0")
    assert numpy.why == "takes the step to be the difference of the first two elements"
    assert np.arange(16777216, 16777226, 1, dtype="float32")[2] == float(numpy.difference[1])
    assert table["torch"].exact and table[-1] is table["octave"]
    assert "first difference" in repr(table).splitlines()[0] and len(repr(table).splitlines()) == len(table) + 1
    with pytest.raises(KeyError):
        table["matlab"]


def test_notebooks_show_a_table():
    table = gradus.compare("logspace", 0, 3, 4, dtype="float64")
    page = table._repr_html_()
    assert page.startswith("<table>") and page.count("<tr") == len(table) + 1 and "gradus.plan.logspace" in page
    from xml.etree import ElementTree

    assert ElementTree.fromstring(page).tag == "table"


def test_a_difference_within_the_tolerance_is_not_exact():
    numpy = gradus.compare("logspace", 0, 1, 4, base=1000, dtype="int64")["numpy"]
    assert numpy.difference == (1, "9", "10") and not numpy.exact
    assert numpy.why.endswith("the exact elements are within the tolerance of the prediction")


def test_failures_are_rows():
    table = gradus.compare("linspace", 0, 1, 4, dtype="float16")
    assert table["paddle"].error and "float16" in table["paddle"].error
    assert table["paddle"].cells()[1] == "fails"
    with pytest.raises(gradus.errors.UsageError):
        gradus.compare("eye", 1, 2, 3)
    with pytest.raises(gradus.errors.ArgumentError):
        gradus.compare("range", 0, "x", 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("range", 0, 1, 0), "step is zero, expected a nonzero number"),
        (("range", 0, float("nan"), 1), "stop is nan, expected a finite number"),
        (("logspace", 0, 3, 4, True, 10, "int8"), "element 3 is 1000.0, expected a number in the range of int8"),
        (("linspace", 0, float("inf"), 4), "stop is inf, expected a finite number"),
    ],
)
def test_where_the_exact_call_fails_it_has_a_row_too(call, message):
    table = gradus.compare(*call)
    assert message in table["exact"].error and table["exact"].cells()[1] == "fails"
    assert len(table) == {"range": 13, "linspace": 8, "logspace": 6}[call[0]] and table.call.startswith("gradus.plan.")
    gives = [row for row in table if row.error is None]
    assert gives and all(row.why.startswith("there is no exact result") and not row.exact for row in gives)
    assert "fails" in table._repr_html_()


def test_every_difference_is_counted():
    row = gradus.compare("logspace", 0, 1, 4, base=1000, dtype="int64")["numpy"]
    assert (row.exact, row.compared, row.differing, row.difference, row.largest) == (False, 4, 2, (1, "9", "10"), (1, 1))
    row = gradus.compare("range", 16777216, 16777226, 1, dtype="float32")["paddle"]
    assert (row.differing, row.largest) == (8, (7, 4))
    # Integers become tensors of the element type: int32, not int64.
    assert gradus.compare("range", 0, 5, 1, dtype="int32")["onnxruntime"].exact
    assert gradus.compare("range", 2**63, 2**63 + 5)["numpy"].exact


def test_programs_without_the_function_are_left_out():
    assert [row.profile for row in gradus.compare("geomspace", 1, 256, 9)] == ["exact", "numpy", "jax"]


def test_models_have_the_nodes_at_which_programs_differ():
    model = gradus.load("examples/positions.onnx")
    found = model.compare()
    it, division = found
    assert (division.node, division.rule, division.of) == ('node "phase"', "division-by-reciprocal", "data")
    assert (it.node, it.of, it.condition, it.sequences) == ('node "pos"', "sizes", "seq >= 2147483648", {})
    assert list(it.results) == list(found.programs) == ["onnx", "onnxruntime", "openvino"]
    assert repr(found) == "<Portability: differences: 2, nodes: 2>"
    assert found._repr_html_().count("<tr>") == 3
    # Quotients of a power of two are exact.
    assert len(model.compare({"seq": 4})) == 0
    assert [it.rule for it in model.compare(ranges={"seq": (0, 1000)})] == ["division-by-reciprocal"]
    with pytest.raises(gradus.GradusError, match="no such symbol|unknown"):
        model.compare({"nothing": 1})


def test_models_have_the_sequences_that_programs_return_otherwise():
    assert gradus.load("examples/heads.onnx").compare().sequences == []
    found = gradus.load("conformance/recorded/paddle/sequences.pir/model.json").compare().sequences
    it = next(it for it in found if it.results.call.startswith("linspace 0.0 1.0 7 "))
    assert it.operator == "linspace"
    own = gradus.compare("linspace", 0, 1, 7, dtype="float32")
    assert [row.cells() for row in it.results] == [row.cells() for row in own]
    assert repr(it) == f"<ModelSequence: {it.node} (linspace)>"
