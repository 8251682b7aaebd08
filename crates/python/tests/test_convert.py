"""Models that are converted."""

import numpy as np
import pytest
from conftest import bits

import gradus
from gradus.errors import UnsupportedError, UsageError

POSITIONS = "examples/positions.onnx"
TOKENS = {"tokens": np.zeros((2, 5), np.int64)}


def alike(one, other):
    one, other = one.run(TOKENS), other.run(TOKENS)
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.dtype == other[name].dtype and bits(value).tolist() == bits(other[name]).tolist()


def test_a_model_is_converted_there_and_back(tmp_path):
    model = gradus.load(POSITIONS)
    there = model.convert("openvino")
    assert there.report.exact and there.report.notes == [] and there.report.nodes == 6
    assert there.report.lost == [
        'the name of axis 0 of input "tokens": batch',
        'the name of axis 1 of input "tokens": seq',
    ]
    assert str(there.report).splitlines()[0] == "nodes 6: 0 not kept bit for bit"
    there.save(tmp_path / "p.xml")
    assert (tmp_path / "p.bin").is_file()
    again = gradus.load(tmp_path / "p.xml")
    back = again.convert("onnx", opset=18)
    assert back.opsets == {"": 18}
    for other in (there, again, back):
        alike(model, other)


def test_openvino_reads_what_is_converted(tmp_path):
    openvino = pytest.importorskip("openvino")
    model = gradus.load(POSITIONS)
    model.convert("openvino", dims={"batch": 2}).save(tmp_path / "p.xml")
    run = openvino.Core().compile_model(tmp_path / "p.xml", "CPU")(TOKENS)
    for name, value in model.run(TOKENS).items():
        assert np.array_equal(run[name], value)


def test_graphs_are_converted():
    g = gradus.Graph()
    x = g.input("x", "float32", ["N"])
    y = g.range(0.0, g.cast(g.size(x), "float32"), 0.5)
    report = g.model([y]).convert("openvino").report
    (note,) = report.notes
    assert (note.operator.split("-")[0], note.kept) == ("onnx Range", "rounding") and "running sum" in note.why
    assert f"rounding: {note.node} ({note.operator}): {note.why}" in str(report)


def test_what_is_not_converted_says_why():
    model = gradus.load(POSITIONS)
    with pytest.raises(UnsupportedError, match="cannot convert: target is"):
        model.convert("onnx")
    with pytest.raises(UsageError, match='unknown standard to write "paddle"; known: "onnx", "openvino"'):
        model.convert("paddle")
    with pytest.raises(UsageError, match="opset is for models of ONNX"):
        model.convert("openvino", opset=18)
    with pytest.raises(UsageError, match="nobody"):
        model.convert("openvino", dims={"nobody": 3})
