"""Maps of ONNX are dicts of Python."""

import numpy as np
import pytest

import gradus

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def model(operator, x, y, **attributes):
    node = helper.make_node(operator, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "maps", [helper.make_value_info("x", x)], [helper.make_value_info("y", y)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    return gradus.load(helper.make_model(graph, opset_imports=opsets, ir_version=8))


def tensor(dtype, shape=None):
    return helper.make_tensor_type_proto(dtype, shape)


def of(key, dtype):
    return helper.make_map_type_proto(key, tensor(dtype, []))


def test_zip_map_gives_dicts():
    each = helper.make_sequence_type_proto(of(TensorProto.STRING, TensorProto.FLOAT))
    zipped = model("ZipMap", tensor(TensorProto.FLOAT, ["n", 2]), each, classlabels_strings=["no", "yes"])
    assert zipped.run({"x": [[0.25, 0.75], [1, 0]]})["y"] == [{"no": 0.25, "yes": 0.75}, {"no": 1.0, "yes": 0.0}]
    assert str(zipped.infer()["y"]) == "sequence of n map from string to float32"
    assert zipped.outputs["y"] == gradus.SequenceType(gradus.MapType("string", "float32"))


def test_dicts_are_inputs():
    x = of(TensorProto.STRING, TensorProto.INT64)
    rows = model("DictVectorizer", x, tensor(TensorProto.INT64), string_vocabulary=["a", "b", "c"])
    found = rows.run({"x": {"c": 3, "a": 2**62 + 1}})["y"]
    assert (found.dtype, found.tolist()) == (np.dtype("i8"), [[2**62 + 1, 0, 3]])
    assert rows.inputs == {"x": gradus.MapType("string", "int64")}
    with pytest.raises(gradus.GradusError, match="not in the vocabulary"):
        rows.run({"x": {"d": 1}})
    with pytest.raises(gradus.GradusError):
        rows.run({"x": {"a": 0.5}})
    with pytest.raises(gradus.GradusError, match="map from string to int64"):
        rows.run({"x": [1, 2]})


def test_maps_are_those_of_onnxruntime():
    onnxruntime = pytest.importorskip("onnxruntime")
    for attributes in [{}, {"map_form": "SPARSE", "max_map": 9}]:
        x = of(TensorProto.INT64, TensorProto.FLOAT)
        cast = model("CastMap", x, tensor(TensorProto.FLOAT), **attributes)
        session = onnxruntime.InferenceSession(cast.to_bytes(), providers=["CPUExecutionProvider"])
        given = {8: 0.5, 2: -1.0, 3: 7.0}
        assert cast.run({"x": given})["y"].tolist() == session.run(None, {"x": given})[0].tolist()
