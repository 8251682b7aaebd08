"""Models that are folded and saved."""

import pathlib

import numpy as np
import onnx
import pytest
from conftest import bits, corpus
from onnx import TensorProto, helper, numpy_helper

import gradus
from gradus.errors import FileError, GradusError, UnsupportedError, UsageError

POSITIONS = "examples/positions.onnx"


def alike(before, after, inputs):
    """Runs both and compares the bits."""
    before, after = before.run(inputs), after.run(inputs)
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert value.dtype == after[name].dtype and value.shape == after[name].shape
        assert bits(value).tolist() == bits(after[name]).tolist()


def test_a_folded_model_gives_the_same_with_fewer_nodes(tmp_path):
    model = gradus.load(POSITIONS)
    folded = model.fold({"seq": 5}, verify=True)
    report = folded.report
    assert report.nodes[0] == 6 and report.nodes[1] < 6
    assert report.operators["Range"] == (1, 0) and report.operators["Constant"] == (0, 2)
    bindings, values = report.verified
    assert bindings == 5 and values > 0
    runs, elements = report.ran
    assert runs == 6 and elements > 0 and report.differing is None
    assert report.sizes == ["1", "unequal", "equal", "batch = 0", "1 to 39"] and report.not_compared is None
    assert report.proved == {"position_ids": False, "phase": False, "token_count": True} and report.not_proved is None
    unseen = model.fold(verify=False).report
    assert unseen.verified is None and unseen.ran is None and unseen.proved is None
    for level in ("exact", "fuse"):
        assert all(model.fold(level=level, prove=True).report.proved.values())
    given = model.fold(verify=True, values={"tokens": np.zeros((2, 5), np.int64)}).report
    assert given.ran[0] == 2 and given.sizes == []
    assert str(folded.inputs["tokens"]) == "int64[batch, 5]" and str(model.inputs["tokens"]) == "int64[batch, seq]"
    assert f"nodes 6 -> {report.nodes[1]}" in str(report) and "Range: 1 -> 0" in str(report)
    path = tmp_path / "folded.onnx"
    folded.save(path)
    onnx.checker.check_model(str(path), full_check=True)
    again = gradus.load(path)
    for batch in (1, 3):
        tokens = {"tokens": np.zeros((batch, 5), np.int64)}
        alike(model, folded, tokens)
        alike(model, again, tokens)
    with pytest.raises(GradusError, match="5"):
        again.run({"tokens": np.zeros((1, 4), np.int64)})
    assert again.fold().report.nodes == (report.nodes[1], report.nodes[1])


def test_what_stays_has_a_reason():
    report = gradus.load(POSITIONS).fold().report
    assert report.ran is None and report.problems == []
    assert report.kept and [(kept.node, kept.operator) for kept in report.kept] == [
        ('node "length"', "Shape"),
        ('node "count"', "Size"),
    ]
    assert all("is not known before the run" in kept.reason for kept in report.kept)


def test_options_of_folding():
    model = gradus.load(POSITIONS)
    fixed = model.fold(input_shapes={"tokens": [2, 9]})
    assert str(fixed.inputs["tokens"]) == "int64[2, 9]" and not fixed.report.kept
    assert {node.op_type for node in onnx.load_from_string(fixed.to_bytes()).graph.node} == {"Constant"}
    small = model.fold({"seq": 1000}, max_constant=16)
    assert small.report.operators["Range"] == (1, 1)
    assert (small.report.constants, small.report.constant_bytes) == (2, 12)
    assert model.fold(declare=False).report.declared == 0 and model.fold().report.declared > 0
    for call in (
        lambda: model.fold({"nothing": 1}),
        lambda: model.fold(input_shapes={"nothing": [1]}),
        lambda: model.fold(input_shapes={"tokens": [1, 2, 3]}),
    ):
        with pytest.raises(UsageError):
            call()


def test_a_model_in_memory_is_folded():
    g = gradus.Graph(opset=21)
    x = g.input("x", "float32", ["N", 3])
    y = g.reshape(x, [g.shape(x)[0] * 3])
    model = g.model([y])
    folded = model.fold()
    assert folded.report.nodes[1] < folded.report.nodes[0] and list(folded.inputs) == ["x"]
    alike(model, folded, {"x": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("call", [lambda m, path: m.fold(), lambda m, path: m.save(path), lambda m, path: m.to_bytes()])
def test_programs_of_paddle_are_not_written(call, tmp_path):
    with pytest.raises(UnsupportedError, match="standard (of the model )?is paddle"):
        call(gradus.load("conformance/recorded/paddle/layer.pir/model.json"), tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def test_models_of_openvino_are_folded_and_written_as_such(tmp_path):
    model = gradus.load("examples/range_const.xml")
    with pytest.raises(UsageError, match="is written to a file that ends in .xml"):
        model.save(tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match="standard (of the model )?is openvino"):
        model.to_bytes()
    model.fold().save(tmp_path / "m.xml")
    [(name, want)] = model.run({}).items()
    assert gradus.load(tmp_path / "m.xml").run({})[name].tolist() == want.tolist()


def external(folder):
    """A model whose constant lies in a file of its own."""
    values = np.arange(6, dtype=np.float32)
    w = numpy_helper.from_array(values, "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [6])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Identity", ["s"], ["y"])]
    model = helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], [w]), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    path = folder / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path, values


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize(("keep_names", "name"), [(False, "n.onnx.data"), (True, "w.bin")])
def test_external_data_is_copied(fold, keep_names, name, tmp_path):
    path, values = external(tmp_path)
    model = gradus.load(path)
    model = model.fold() if fold else model
    there = tmp_path / "there"
    there.mkdir()
    model.save(there / "n.onnx", keep_names=keep_names)
    assert sorted(each.name for each in there.iterdir()) == ["n.onnx", name]
    assert (there / name).read_bytes() == values.tobytes()
    assert gradus.load(there / "n.onnx").run({"x": values})["y"].tolist() == (2 * values).tolist()
    if keep_names and not fold:
        assert (there / "n.onnx").read_bytes() == path.read_bytes() == model.to_bytes()
    (there / name).write_bytes(b"another")
    if not keep_names:
        model.save(there / "n.onnx")
        (there / "n.onnx").unlink()
        (there / name).write_bytes(b"another")
    with pytest.raises(FileError, match="another file of this name"):
        model.save(there / "n.onnx", keep_names=keep_names)


def test_files_are_whole_or_not_there(tmp_path):
    model = gradus.load(POSITIONS)
    path = tmp_path / "m.onnx"
    model.save(str(path))
    assert path.read_bytes() == pathlib.Path(POSITIONS).read_bytes()
    # The file that a model was read from may be the one that is written.
    folded = gradus.load(path).fold({"seq": 4})
    folded.save(path)
    assert path.read_bytes() == folded.to_bytes()
    with pytest.raises(FileError):
        model.save(tmp_path / "no" / "such" / "folder.onnx")
    assert [each.name for each in tmp_path.iterdir()] == ["m.onnx"]


def test_onnx_runtime_verifies_and_names_the_outputs_that_differ(tmp_path):
    pytest.importorskip("onnxruntime")
    model = gradus.load(POSITIONS)
    assert model.fold(verify="onnxruntime").report.differing == []
    nodes = [onnx.helper.make_node("Mul", ["x", "c"], ["y"]), onnx.helper.make_node("Relu", ["x"], ["z"])]
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n"])  # noqa: E731
    for name, factor in (("a", 2.0), ("b", 3.0)):
        constants = [onnx.helper.make_tensor("c", onnx.TensorProto.FLOAT, [], [factor])]
        graph = onnx.helper.make_graph(nodes, "g", [value("x")], [value("y"), value("z")], constants)
        made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(made, tmp_path / f"{name}.onnx")
    first, second = (gradus.load(tmp_path / f"{name}.onnx") for name in "ab")
    runs, differing = first._native._verify_in(second._native, "onnxruntime", ({}, {}, ({}, False, [])))
    assert runs == 5 and [output[0] for output in differing] == ["y"]
    with pytest.raises(UsageError):
        model.fold(verify="openvino")


@pytest.mark.skipif(corpus() is None, reason="GRADUS_CORPUS names no folder of models")
def test_real_models_are_folded_and_saved(tmp_path):
    paths = sorted(pathlib.Path(corpus()).rglob("*.onnx"), key=lambda path: path.stat().st_size)[:3]
    assert paths
    for path in paths:
        folded = gradus.load(path).fold(verify=True)
        assert folded.report.nodes[1] <= folded.report.nodes[0] and folded.report.verified[0] > 0
        folded.save(tmp_path / path.name)
        assert len(gradus.load(tmp_path / path.name).infer()) > 0
