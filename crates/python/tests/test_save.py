"""Graphs as files of ONNX: other programs take them, and give the same bits."""

import numpy as np
import onnx
import pytest
from conftest import bits

import gradus
from gradus.errors import ArgumentError, GraphError, UnsupportedError, UsageError

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def saved(g, path, outputs=None):
    """The model that is saved, which the checker of ONNX accepts."""
    g.save(path, outputs)
    onnx.checker.check_model(str(path), full_check=True)
    return gradus.load(path)


def same_bits(results, others):
    for a, b in zip(results, others, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and bits(a).tolist() == bits(b).tolist()


def holds(g, path, outputs, inputs):
    """What is saved gives the bits of the graph, here and by ONNX Runtime."""
    model = saved(g, path, outputs)
    wanted = g.run(inputs, outputs)
    names = [value.name for value in outputs]
    assert list(model.outputs) == names
    found = model.run(inputs)
    same_bits([found[name] for name in names], wanted)
    if onnxruntime is not None:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        same_bits(session.run(names, inputs), wanted)
    return model


def test_shapes_are_computed_by_the_saved_model(tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", "float32", ["N", 3, "H"])
    shape = g.shape(x)
    n, h = shape[0], shape[2]
    outputs = [g.range(0, n, 1), g.reshape(x, [n * h, 3]), (n + 1) * 2 - h, g.concat([shape, shape]), g.expand(g.constant(1.0), shape)]
    model = holds(g, tmp_path / "m.onnx", outputs, {"x": np.arange(30, dtype=np.float32).reshape(2, 3, 5)})
    assert {name: str(of) for name, of in model.inputs.items()} == {"x": "float32[N, 3, H]"}
    assert str(model.outputs[outputs[0].name]) == "int64[N]"
    assert str(model.outputs[outputs[1].name]) == "float32[N*H, 3]"
    assert model.opsets == {"": 21}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32"])
def test_sequences_of_constants_are_saved_as_they_are(dtype, tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", dtype, ["N", 5])
    num = g.squeeze(g.shape(x, 1, 2), [0])  # Known, though it is computed.
    spaces = [
        g.linspace(1, 9, num, dtype=dtype),
        g.logspace(0, 1, 4, base=1000, dtype=dtype),
        g.geomspace(1, 256, 9, False, dtype=dtype),
        g.logspace(0, 1, 0, dtype=dtype),
    ]
    outputs = [*spaces, g.cast(g.cast(x, "float64"), "float32")]
    model = holds(g, tmp_path / "m.onnx", outputs, {"x": np.ones((2, 5), dtype)})
    same_bits(
        [model.run({"x": np.ones((1, 5), dtype)})[spaces[1].name]], [gradus.logspace(0, 1, 4, base=1000, dtype=dtype)]
    )
    nodes = onnx.load(tmp_path / "m.onnx").graph.node
    assert {node.domain for node in nodes} == {""} and "Constant" in {node.op_type for node in nodes}


def test_long_sequences_and_lists(tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", "int64", ["N"])
    long = g.logspace(0, 1, 300_000)
    pair = g.apply("SequenceConstruct", x, x)
    model = saved(g, tmp_path / "m.onnx", [long, pair])
    results = model.run({"x": [1, 2]})
    same_bits([results[long.name]], [gradus.logspace(0, 1, 300_000)])
    assert [each.tolist() for each in results[pair.name]] == [[1, 2], [1, 2]]
    assert str(model.outputs[pair.name]) == "sequence of int64[...]"


@pytest.mark.parametrize("dtype", ["bfloat16", "complex64", "int8", "uint16"])
def test_types_that_few_programs_know(dtype, tmp_path):
    g = gradus.Graph()
    value = g.linspace(1, 9, 5, dtype=dtype)
    model = saved(g, tmp_path / "m.onnx")
    same_bits([model.run()[value.name]], [gradus.linspace(1, 9, 5, dtype=dtype)])


def test_what_onnx_cannot_express_is_refused_with_its_node(tmp_path):
    g = gradus.Graph(opset=21)
    n = g.input("n", "int64", [])
    value = g.logspace(0, 3, n)
    with pytest.raises(UnsupportedError) as caught:
        g.save(tmp_path / "m.onnx", [value])
    assert caught.value.location.nodes[0].startswith('node "LogSpace_')
    assert 'input 2 "n" is known only in a run' in caught.value.message and "LogSpace has no equivalent in ONNX" in caught.value.message
    assert not list(tmp_path.iterdir())
    # Outputs that do not need the node can be saved.
    holds(g, tmp_path / "m.onnx", [g.add(n, 1)], {"n": np.array(3)})


def test_elements_that_do_not_fit_are_said():
    g = gradus.Graph()
    with pytest.raises(ArgumentError, match="element 3 is 1000.0, expected a number in the range of int8"):
        g.logspace(0, 3, 4, dtype="int8")


def test_outputs_are_what_nobody_reads(tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", "float32", [2, "M"])
    shape = g.shape(x)
    first, second = g.add(shape, 1), g.mul(shape, 2)
    g.constant(7)
    model = saved(g, tmp_path / "m.onnx")
    assert list(model.outputs) == [first.name, second.name]
    assert len(onnx.load(tmp_path / "m.onnx").graph.initializer) == 2
    with pytest.raises(UsageError, match="has no nodes"):
        gradus.Graph().save(tmp_path / "n.onnx")
    with pytest.raises(UsageError, match="another graph"):
        gradus.Graph().save(tmp_path / "n.onnx", [first])
    with pytest.raises(GraphError, match="is listed twice"):
        g.save(tmp_path / "n.onnx", [first, first])


def test_inputs_and_constants_may_be_outputs(tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", "int64", [2])
    holds(g, tmp_path / "m.onnx", [x, g.constant([1, 2, 3]), g.add(x, 1)], {"x": np.array([4, 5])})


def test_inputs_of_unknown_rank_have_no_shape(tmp_path):
    g = gradus.Graph()
    x = g.input("x", "float32")
    g.save(tmp_path / "m.onnx", [g.shape(x)])
    [given] = onnx.load(tmp_path / "m.onnx").graph.input
    assert given.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert not given.type.tensor_type.HasField("shape")


def test_texts(tmp_path):
    g = gradus.Graph(opset=21)
    x = g.input("x", "int64", [])
    value = g.gather(g.constant(np.array(["a", "é"], object)), x)
    model = saved(g, tmp_path / "m.onnx")
    assert model.run({"x": 1})[value.name].item() == "é"


@pytest.mark.parametrize("opset", [11, 13, 18, 21, 25, 28])
def test_the_format_is_as_old_as_the_operator_set(opset, tmp_path):
    g = gradus.Graph(opset=opset)
    g.shape(g.input("x", "float32", ["N"]))
    saved(g, tmp_path / "m.onnx")
    expected = min(ir for _, ir, of, *_ in onnx.helper.VERSION_TABLE if of >= opset)
    assert onnx.load(tmp_path / "m.onnx").ir_version == expected
