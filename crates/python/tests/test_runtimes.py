"""Models in other programs, held against the exact results."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_command import command

import gradus
from gradus import _runtimes
from gradus.errors import UnsupportedError, UsageError


def model(tmp_path, external=False):
    """A model that adds random weights to its input, takes the sum, and the square root."""
    weights = numpy_helper.from_array(np.linspace(0.1, 1, 40, dtype=np.float32).reshape(5, 8), "weights")
    value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    nodes = [
        helper.make_node("Add", ["x", "weights"], ["a"], "add"),
        helper.make_node("Sigmoid", ["a"], ["s"], "sigmoid"),
        helper.make_node("Sqrt", ["s"], ["y"], "root"),
    ]
    graph = helper.make_graph(nodes, "g", [value("x", ["n", 5, 8])], [value("y", ["n", 5, 8])], [weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    onnx.save(made, path, save_as_external_data=external, location="weights.bin", size_threshold=0)
    return path


@pytest.mark.parametrize("external", [False, True])
def test_the_node_that_rounds_differently_is_found(tmp_path, external):
    report = gradus.load(model(tmp_path, external)).check_in("onnxruntime", dims={"n": 50}, runs=2)
    assert report.runs == 2 and report.hidden is None and len(report.nodes) == 3
    by_name = {node.value.name: node.value for node in report.nodes}
    assert {name: value.elements for name, value in by_name.items()} == {"a": 4000, "s": 4000, "y": 4000}
    # IEEE 754 says what Add and Sqrt are; ONNX Runtime's Sigmoid is an approximation.
    assert by_name["a"].differing == by_name["y"].differing == 0
    assert by_name["s"].differing > 0 and report.nodes[0].value.name == "s" and "Sigmoid" in report.nodes[0].node
    assert not report and report.outputs[0].relative < 1e-6
    assert [node.label for node in report.nodes] == ["rounding", "exact", "exact"] and report.first_beyond is None
    index, exact, given, bound = report.nodes[0].worst
    assert 0 < report.nodes[0].ratio <= 1 and abs(float(exact) - float(given)) <= bound and index < 4000
    assert "rounding" in report._repr_html_()


def test_products_of_a_shorter_type_are_beyond_and_saved(tmp_path):
    value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    random = np.random.default_rng(1).uniform(-1, 1, (32, 8)).astype(np.float32)
    weights = numpy_helper.from_array(random, "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    graph = helper.make_graph([node], "g", [value("x", ["n", 32])], [value("y", ["n", 8])], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    script = tmp_path / "runtime.py"
    script.write_text(
        "import sys, numpy as np, onnx\n"
        "from onnx import numpy_helper\n"
        "short = lambda x: ((x.view(np.uint32) + 0x8000) & 0xffff0000).view(np.float32)\n"
        "w = numpy_helper.to_array(onnx.load(sys.argv[1]).graph.initializer[-1])\n"
        "x = np.load(sys.argv[2])['x']\n"
        "np.savez(sys.argv[3], y=short(x) @ short(w))\n"
    )
    program = f"cmd:{sys.executable} {script} {{model}} {{inputs}} {{outputs}}"
    case = tmp_path / "case"
    report = gradus.load(tmp_path / "m.onnx").check_in(program, dims={"n": 16}, runs=1, save_case=case)
    [node] = report.nodes
    assert (node.label, node.pattern) == ("beyond", "bfloat16") and node.ratio > 1
    assert report.first_beyond == (node.node, "y")
    assert gradus.load(case / "model.onnx").check_in("onnxruntime").nodes[0].label in ("exact", "rounding")
    assert np.load(case / "inputs.npz")["x"].shape[0] == 1


def test_values_are_shown_without_the_library_that_writes_models(tmp_path):
    path = str(model(tmp_path))
    runtime = _runtimes.find("onnxruntime")
    x = np.zeros((1, 5, 8), np.float32)
    [y, a] = runtime.run(path, {"x": x}, ["y", "a"])
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert np.array_equal(y, session.run(["y"], {"x": x})[0]) and a[0, 0, 0] == np.float32(0.1)


def test_a_converted_model_in_its_program(tmp_path):
    pytest.importorskip("openvino", reason="OpenVINO is not installed in the environment of these tests")
    path = model(tmp_path)
    gradus.load(path).convert("openvino").save(tmp_path / "model.xml")
    report = gradus.load(path).check_in("openvino", gradus.load(tmp_path / "model.xml"), dims={"n": 3})
    assert report.hidden is None and len(report.nodes) == 3 and report.outputs[0].relative < 1e-6


def test_models_are_checked_by_one_function(tmp_path):
    path = model(tmp_path)
    assert gradus.check(path, gradus.load(path).convert("onnx", opset=20), dims={"n": 2}, runs=2, prove=False).runs == 2
    report = gradus.check(path, with_="onnxruntime", dims={"n": 50}, runs=2)
    assert report == gradus.load(path).check_in("onnxruntime", dims={"n": 50}, runs=2)
    with pytest.raises(UsageError, match="the second model is None, expected a model, or a runtime in with_"):
        gradus.check(path)
    with pytest.raises(UsageError, match="the runtime"):
        gradus.check(path, with_="tensorrt")


def test_a_command_line_is_a_runtime(tmp_path):
    path = "examples/positions.onnx"
    script = tmp_path / "runtime.py"
    script.write_text(
        "import sys, numpy, gradus\n"
        "model, inputs, outputs, values = sys.argv[1:]\n"
        "names = open(values).read().splitlines()\n"
        "found = gradus.load(model).run(dict(numpy.load(inputs)), names)\n"
        "found['phase'] = numpy.nextafter(found['phase'], numpy.float32(9))\n"
        "numpy.savez(outputs, **found)\n"
    )
    command = f"cmd:'{sys.executable}' '{script}' {{model}} {{inputs}} {{outputs}} {{values}}"
    report = gradus.check(path, with_=command, runs=2)
    assert not report and [node.value.name for node in report.nodes if node.value.differing] == ["phase"]
    assert [output.name for output in report.outputs if output.differing] == ["phase"]
    with pytest.raises(UsageError, match="outputs"):
        gradus.check(path, with_="cmd:./my_runtime {model} {inputs}")


def test_the_mask_index_of_embeddings_is_the_number_of_ones(tmp_path):
    value = lambda name, dtype, dims: helper.make_tensor_value_info(name, dtype, dims)
    names = ["ids", "", "words", "positions", "", "gamma", "beta", "mask"]
    node = helper.make_node("EmbedLayerNormalization", names, ["y", "mask_index"], "embed", domain="com.microsoft")
    tables = [numpy_helper.from_array(np.arange(1.0, 33, dtype=np.float32).reshape(8, 4) ** 0.5, name) for name in names[2:4]]
    scales = [numpy_helper.from_array(np.ones(4, np.float32), name) for name in names[5:7]]
    inputs = [value(name, TensorProto.INT32, ["n", 6]) for name in ("ids", "mask")]
    outputs = [value("y", TensorProto.FLOAT, ["n", 6, 4]), value("mask_index", TensorProto.INT32, ["n"])]
    graph = helper.make_graph([node], "g", inputs, outputs, tables + scales)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "embed.onnx")
    report = gradus.load(tmp_path / "embed.onnx").check_in("onnxruntime", dims={"n": 20})
    assert report.outputs[0].relative < 1e-5 and report.outputs[1].elements == 100 and report.outputs[1].differing == 0


def test_refusals(tmp_path):
    loaded = gradus.load(model(tmp_path))
    with pytest.raises(UsageError, match="onnxruntime or openvino"):
        loaded.check_in("tensorflow")
    with pytest.raises(UnsupportedError, match="save it first"):
        gradus.load(loaded.to_bytes()).check_in("onnxruntime")
    # ONNX Runtime has no such kernel.
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.BFLOAT16, [2])
    graph = helper.make_graph([helper.make_node("Cos", ["x"], ["y"])], "g", [value("x")], [value("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), tmp_path / "cos.onnx")
    with pytest.raises(UnsupportedError, match="onnxruntime: .*Cos"):
        gradus.load(tmp_path / "cos.onnx").check_in("onnxruntime")


def test_the_command(tmp_path):
    status, out, error = command("check", str(model(tmp_path)), "--with", "onnxruntime", "--dim", "n=4")
    assert (status, error) == (1, "") and out.startswith("onnxruntime: 1 output, 800 elements, 5 runs\n")
    assert "(onnx Sigmoid-13)" in out and "\n1 of 3 values of nodes differ" in out
    accepted = command("check", str(model(tmp_path)), "--with", "onnxruntime", "--max-ulp", "4", "--dim", "n=4")
    assert accepted[0] == 0
