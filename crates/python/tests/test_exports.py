"""Models of exporters in memory: onnx_ir, and PyTorch where it is installed."""

import ml_dtypes
import numpy as np
import onnx
import pytest

import gradus
from gradus import _ir

ir = pytest.importorskip("onnx_ir")

TRACE = '''File "/src/train.py", line 90, in <module>
    main()
File "/src/net.py", line 12, in forward
    return self.p(positions) + x
File "/env/lib/python3.13/site-packages/torch/nn/modules/sparse.py", line 189, in forward
    return F.embedding('''

TABLE = np.arange(64 * 8, dtype=np.float32).reshape(64, 8)


def tensor(name, array, **keywords):
    return ir.Value(name=name, const_value=ir.Tensor(array, name=name, **keywords))


def value(name, dtype=None, shape=None):
    return ir.Value(name=name, type=dtype and ir.TensorType(dtype), shape=shape and ir.Shape(shape))


def positions(batch="batch", trace=TRACE):
    """A sum of `x: float32[batch, seq, 8]` and a table of 64 positions, as an exporter of PyTorch would have it."""
    x = value("x", ir.DataType.FLOAT, [batch, "seq", 8])
    table, zero, one = tensor("table", TABLE), tensor("zero", np.int64(0)), tensor("one", np.int64(1))
    axis = tensor("axis", np.int64([0]))
    nodes = []

    def node(operator, inputs, output, metadata=None, **attributes):
        made = ir.node(operator, inputs, attributes=attributes, outputs=[output], name=f"node_{output.name}", metadata_props=metadata)
        nodes.append(made)
        return output

    sizes = node("Shape", [x], value("sizes"), start=1, end=2)
    seq = node("Squeeze", [sizes, axis], value("seq_len"))
    numbers = node("Range", [zero, seq, one], value("numbers"))
    rows = node("Gather", [table, numbers], value("rows"), trace and {"pkg.torch.onnx.stack_trace": trace}, axis=0)
    same = node("Identity", [x], value("same"))
    y = node("Add", [same, rows], value("y", ir.DataType.FLOAT, [batch, "seq", 8]))
    graph = ir.Graph([x], [y], nodes=nodes, initializers=[table, zero, one, axis], opset_imports={"": 18}, name="net")
    return ir.Model(graph, ir_version=10)


def test_models_are_read_from_memory_and_stay_as_they_are():
    model = positions()
    before = ir.to_proto(model).SerializeToString()
    files = _ir.files_of(model)
    # Large constants are views, and no part of the message.
    assert len(files["model.onnx"]) < 2048
    (table,) = files["constants"]
    assert np.shares_memory(table, model.graph.initializers["table"].const_value.numpy())
    x = np.ones((2, 3, 8), np.float32)
    found = gradus.load(model).run({"x": x})["y"]
    assert found.tobytes() == gradus.load(before).run({"x": x})["y"].tobytes() == (x + TABLE[:3]).tobytes()
    assert ir.to_proto(model).SerializeToString() == before
    with pytest.raises(gradus.errors.LimitError):
        gradus.load(model, timeout=0)


@pytest.mark.parametrize("dtype", ["int4", "bfloat16", "float64", "bool"])
def test_constants_of_all_widths_are_read(dtype):
    arrays = [((np.arange(3001) + i) % 7).astype(getattr(ml_dtypes, dtype, dtype)) for i in range(2)]
    weights = [tensor(f"w{i}", array) for i, array in enumerate(arrays)]
    sums = [value(f"y{i}", ir.DataType.FLOAT, [3001]) for i in range(2)]
    nodes = [ir.node("Cast", [w], attributes={"to": 1}, outputs=[y]) for w, y in zip(weights, sums, strict=True)]
    graph = ir.Graph([], sums, nodes=nodes, initializers=weights, opset_imports={"": 21}, name="cast")
    found = gradus.load(ir.Model(graph, ir_version=10)).run({})
    assert all(np.array_equal(found[f"y{i}"], array.astype(np.float32)) for i, array in enumerate(arrays))


def test_conditions_are_said_in_the_words_of_the_export():
    said = lambda *given, **sizes: [of.text for of in gradus.torch.exported(*given, **sizes).report.conditions]
    place = 'node "node_rows" (Gather), line 12 of /src/net.py: return self.p(positions) + x'
    for sizes in ({"x": {0: "batch", 1: "seq"}}, ({1: "seq"},), {"x": ["batch", "seq", None]}, {"sizes": [{1: "seq"}]}):
        assert said(positions(), dynamic_shapes=sizes) == [f"seq must be at most 64: {place}"], sizes

    class tokens:
        """A size, as PyTorch has it."""

    assert said(positions(), dynamic_shapes={"x": {1: tokens}}) == [f"tokens must be at most 64: {place}"]
    assert said(positions(), dynamic_shapes={"x": {1: 3}})[0].startswith("x.shape[1] must be at most 64: node")
    assert said(positions(trace=None))[0] == 'x.shape[1] must be at most 64: node "node_rows" (Gather)'
    fixed = said(positions(batch=2), dynamic_shapes={"x": {0: "batch", 1: "seq"}})
    assert fixed[0] == 'batch must be 2: the exporter fixed axis 0 of input "x"' and len(fixed) == 2
    for sizes in (({0: "batch"}, None), (None, None)):
        with pytest.raises(gradus.errors.UsageError, match="number of inputs in dynamic_shapes is 2, expected 1"):
            said(positions(), dynamic_shapes=sizes)


def test_exported_models_have_inferred_shapes_and_findings(tmp_path):
    made = gradus.torch.exported(positions())
    (condition,) = made.report.conditions
    assert condition.source == ("/src/net.py", 12) and condition.condition.text == "seq <= 64"
    assert made.report.fold.nodes == (6, 5) and made.report.check is None
    made.save(tmp_path / "made.onnx")
    graph = onnx.load(tmp_path / "made.onnx").graph
    shapes = {of.name: [dim.dim_param or dim.dim_value for dim in of.type.tensor_type.shape.dim] for of in graph.value_info}
    assert shapes["rows"] == ["seq", 8]
    assert str(made.report).splitlines()[0] == condition.text
    assert gradus.load(tmp_path / "made.onnx").run({"x": np.zeros((1, 9, 8), np.float32)})["y"].tobytes() == TABLE[:9].tobytes()
    assert (tmp_path / "made.onnx.data").stat().st_size == TABLE.nbytes
    plain = gradus.torch.exported(positions(), fold=False)
    assert plain.report.fold is None and "GR204" in [of.code for of in plain.report.findings]


class Rows:
    """A runtime that computes in NumPy, and knows no file."""

    reads_file = False

    def __init__(self, off=0):
        self.off = off

    def run(self, path, inputs, names):
        values = {"y": inputs["x"] + TABLE[: inputs["x"].shape[1]] + np.float32(self.off)}
        return [values.get(name) for name in names]


def test_objects_are_runtimes():
    model = gradus.load(positions())
    report = model.check_in(Rows(), dims={"seq": 5})
    assert report and report.runs == 5
    assert not model.check_in(Rows(off=1), dims={"seq": 5})
    with pytest.raises(gradus.errors.UnsupportedError, match="in no file"):
        model.check_in("onnxruntime")


def test_sizes_that_the_exporter_made_one_are_told():
    x, y = (value(name, ir.DataType.FLOAT, ["n", 4]) for name in ("x", "y"))
    total = value("z", ir.DataType.FLOAT, ["n", 4])
    nodes = [ir.node("Add", [x, y], outputs=[total])]
    model = ir.Model(ir.Graph([x, y], [total], nodes=nodes, opset_imports={"": 18}, name="sum"), ir_version=10)
    said = [of.text for of in gradus.torch.exported(model, dynamic_shapes=({0: "n"}, {0: "m"})).report.conditions]
    assert said == ['m must be n: the exporter made axis 0 of input "y" as long as axis 0 of input "x"']
    assert not gradus.torch.exported(model, dynamic_shapes=({0: "n"}, {0: "n"})).report.conditions


# PyTorch warns of its older exporter, and of modules in training mode.
of_torch = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def net(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.e, self.p = torch.nn.Embedding(10, 8), torch.nn.Embedding(64, 8)

        def forward(self, x):
            batch, seq = x.shape
            places = torch.arange(seq).unsqueeze(0).expand(batch, seq)
            return self.e(x) + self.p(places)

    return Net().eval()


@of_torch
@pytest.mark.parametrize("dynamo", [True, False])
def test_modules_of_pytorch_are_exported_and_compared(torch, net, dynamo):
    x = torch.zeros(2, 5, dtype=torch.int64)
    d = torch.export.Dim
    for sizes, word in (
        ({"x": {0: "batch", 1: "seq"}}, "seq"),
        ({"x": ("batch", "seq")}, "seq"),
        (({0: d("batch"), 1: d("seq", max=64)},), "seq"),
        ([{0: d.DYNAMIC, 1: d.AUTO}], "x.shape[1]"),
        ({"x": {0: d.STATIC, 1: d.DYNAMIC}}, "x.shape[1]"),
        (({0: None, 1: "seq"},), "seq"),
    ):
        made = gradus.torch.export(net, (x,), dynamic_shapes=sizes, dynamo=dynamo)
        assert made.report.check and made.report.check.runs == 1, sizes
        (said,) = (of for of in made.report.conditions if "64" in of.text)
        assert said.text.startswith(f"{word} must be at most 64"), sizes
        if dynamo:
            assert said.source[0].endswith("test_exports.py")
            assert said.text.endswith("return self.e(x) + self.p(places)")
    for sizes in (None, {"x": None}):
        (said,) = gradus.torch.export(net, (x,), dynamic_shapes=sizes, dynamo=dynamo).report.conditions
        assert 'elements of "x"' in said.text
    with pytest.raises(gradus.errors.UsageError, match="type of args is Tensor, expected a tuple of tensors"):
        gradus.torch.export(net, x, dynamo=dynamo)


@of_torch
def test_sizes_belong_to_arguments_in_containers(torch):
    class Nested(torch.nn.Module):
        def forward(self, d, tensors, *, scale=None, flag=True):
            y = d["a"][:, None] + d["b"].sum() + tensors[0].sum() * tensors[1][0]
            return {"y": y if scale is None else y * scale, "z": (y.sum(-1), y > 0), "flag": None}

    a, b = torch.ones(3), torch.ones(4)
    sizes = {
        "d": {"a": {0: "n"}, "b": {0: torch.export.Dim("m")}},
        "tensors": [None, ({0: "k"},)],
        "scale": {0: "k"},
        "flag": None,
    }
    given = {"scale": torch.ones(5), "flag": False, "tensors": [torch.ones(2), (torch.ones(5),)]}
    for order in (sizes, tuple(sizes.values())):
        made = gradus.torch.export(Nested(), ({"b": b, "a": a},), given, dynamic_shapes=order)
        assert made.report.check and not made.report.conditions
        assert len(made.inputs) == 5
    program = torch.onnx.export(Nested(), ({"b": b, "a": a},), kwargs=given, dynamic_shapes=sizes, verbose=False)
    assert not gradus.torch.exported(program, dynamic_shapes=sizes).report.conditions


@of_torch
@pytest.mark.parametrize("dynamo", [True, False])
def test_arguments_that_nothing_reads_have_sizes(torch, dynamo):
    class Unused(torch.nn.Module):
        def forward(self, x, y, z):
            return x + z

    tensors = tuple(torch.ones(2, 3) for _ in range(3))
    made = gradus.torch.export(Unused(), tensors, dynamic_shapes=[{0: "n"}, {1: "m"}, {0: "n"}], dynamo=dynamo)
    assert made.report.check and not made.report.conditions


@of_torch
def test_modules_may_write_into_their_arguments(torch):
    class InPlace(torch.nn.Module):
        def forward(self, x, y):
            x.add_(1)
            return x * 2, y & (x > 1)

    x = torch.zeros(2, 3)
    made = gradus.torch.export(InPlace(), (x, x < 1))
    assert made.report.check and x.sum() == 0


@of_torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_modules_of_other_types_are_compared(torch, dtype):
    net = torch.nn.Linear(4, 8).to(getattr(torch, dtype))
    made = gradus.torch.export(net, (torch.ones(3, 4, dtype=getattr(torch, dtype)),), dynamic_shapes=({0: "n"},))
    assert str(next(iter(made.outputs.values()))) == f"{dtype}[n, 8]" and made.report.check is not None
