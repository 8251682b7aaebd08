"""What changes the bits that a runtime computes."""

import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gradus
from gradus import _runtimes
from gradus.errors import UnsupportedError, UsageError

NAMES = ["runs", "session", "rows", "place", "batch", "padding", "chunks", "threads", "optimization", "processor"]


@pytest.fixture
def product(tmp_path):
    """A model that multiplies rows by a constant, and the softmax of the result."""
    value = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size])
    weights = np.random.default_rng(1).uniform(-1, 1, (301, 71)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "product"), helper.make_node("Softmax", ["h"], ["y"], "softmax")]
    graph = helper.make_graph(nodes, "g", [value("x", 301)], [value("y", 71)], [numpy_helper.from_array(weights, "w")])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


#: A runtime by NumPy, which adds something to the sum of a row.
SCRIPT = """
import os, sys, numpy as np
weights, inputs, outputs, values, threads, *_ = sys.argv[1:]
w = np.load(weights)
x = np.load(inputs)["x"]
h = np.stack([np.sum(row[:, None].astype(np.float64) * w, axis=0) for row in x]).astype(np.float32)
FAULT
e = np.exp(h.astype(np.float64))
found = {"h": h, "y": (e / e.sum(axis=1, keepdims=True)).astype(np.float32)}
np.savez(outputs, **{name: found[name] for name in open(values).read().split()})
"""

#: Lines that depend on what they should not, by the invariance that finds them.
FAULTS = {
    "rows": "h[:, 0] += np.roll(x, 1, axis=0)[:, 0]",
    "place": "h[:, 0] += np.arange(len(h), dtype=np.float32)",
    "batch": "h[:, 0] += np.float32(len(h))",
    "threads": "h[:, 0] += np.float32(int(threads) > 1)",
    "runs": "h[:, 0] += np.float32(np.frombuffer(os.urandom(4), np.uint32)[0] / 2**32)",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_dependences_are_found_at_their_node(fault, product, tmp_path):
    script = tmp_path / "runtime.py"
    script.write_text(SCRIPT.replace("FAULT", FAULTS[fault]))
    [weights] = onnx.load(product).graph.initializer
    np.save(tmp_path / "w.npy", numpy_helper.to_array(weights))
    # The program does not read the model.
    words = f"{script} {tmp_path / 'w.npy'} {{inputs}} {{outputs}} {{values}} {{threads}} {{model}}"
    program = f"cmd:{sys.executable} {words}"
    only = ["rows", "place", fault] if fault in ("batch", "threads", "runs") else ["rows", "place"]
    report = gradus.audit(product, program, only=only, rows=2, runs=1, save_case=tmp_path / "case")
    assert not report and report.batch == "batch"
    status = {check.name: check.status for check in report.checks}
    assert set(status) == set(only)
    wanted = {name: "differs" if name == fault else "holds" for name in only}
    if fault == "runs":
        # Rows at two places are those of one run.
        wanted["rows"] = "unsteady"
    assert status == wanted
    found = report[fault]
    assert found.first == ('node "product" (onnx MatMul)', "h") and found.pair.rows[1] <= 2
    first, second = (np.load(tmp_path / f"case/{fault}/{side}_outputs.npz")["y"] for side in ("first", "second"))
    assert first.shape != second.shape or not np.array_equal(first, second) or fault == "place"
    assert fault in report._repr_html_()


def test_gradus_keeps_all(product):
    report = gradus.audit(product, "gradus")
    assert report and [check.name for check in report.checks] == NAMES
    assert all(check.reason for check in report.checks if check.status == "not applicable")
    with pytest.raises(KeyError):
        report["bits"]


def test_libraries_are_audited_by_their_own_switches(product):
    report = gradus.audit(product, "onnxruntime", runs=1)
    assert {check.name for check in report.checks if check.status == "not applicable"} == {"padding", "chunks", "processor"}
    assert all(check.status != "refused" for check in report.checks)
    runtime = _runtimes.find("onnxruntime")
    x = np.ones((2, 301), np.float32)
    [one] = runtime.anew(1, True, None).run(str(product), {"x": x}, ["y"])
    assert np.allclose(one, runtime.run(str(product), {"x": x}, ["y"])[0], atol=1e-6)
    with pytest.raises(UnsupportedError, match="no switch"):
        runtime.anew(None, False, "AVX2")


def test_a_process_of_its_own_has_its_own_instructions(product):
    pytest.importorskip("openvino", reason="OpenVINO is not installed in the environment of these tests")
    report = gradus.audit(product, "openvino", only=["processor", "optimization"], runs=1)
    assert report["processor"].pairs > 0 and report["optimization"].status == "not applicable"
    assert _runtimes.find("openvino").processors() == ["SSE41", "AVX2", "AVX512_CORE"]
    with pytest.raises(UnsupportedError, match="no such file"):
        _runtimes.Elsewhere("openvino", {}).run("no such file.onnx", {}, [])


def test_wrong_arguments_are_told(product):
    with pytest.raises(UsageError, match='unknown invariance "thread"; did you mean "threads"'):
        gradus.audit(product, "gradus", only=["thread"])
    with pytest.raises(UsageError, match="tensorrt"):
        gradus.audit(product, "tensorrt")
