"""The table of what programs give."""

import numpy as np
import pytest

import gradus


def test_rows_are_what_the_command_shows():
    table = gradus.compare("range", 16777216, 16777226, 1, dtype="float32")
    assert [row.profile for row in table][0] == "exact" and len(table) == 10
    numpy = table["numpy"]
    assert numpy.length == 10 and numpy.difference == (2, "16777216.0", "16777218.0")
    assert numpy.why == "takes the step to be the difference of the first two elements"
    assert np.arange(16777216, 16777226, 1, dtype="float32")[2] == float(numpy.difference[1])
    assert table["torch"].exact and table[-1] is table["jax"]
    assert "first difference" in repr(table).splitlines()[0] and len(repr(table).splitlines()) == 11
    with pytest.raises(KeyError):
        table["matlab"]


def test_notebooks_show_a_table():
    page = gradus.compare("logspace", 0, 3, 4, dtype="int8" if False else "float64")._repr_html_()
    assert page.startswith("<table>") and page.count("<tr") == 11 and "gradus.plan.logspace" in page
    from xml.etree import ElementTree

    assert ElementTree.fromstring(page).tag == "table"


def test_failures_are_rows():
    table = gradus.compare("linspace", 0, 1, 4, dtype="float16")
    assert table["paddle"].error and "float16" in table["paddle"].error
    assert table["onnxruntime"].cells()[1] == "fails"
    with pytest.raises(gradus.errors.UsageError):
        gradus.compare("geomspace", 1, 2, 3)
    with pytest.raises(gradus.errors.ArgumentError):
        gradus.compare("range", 0, 1, 0)
