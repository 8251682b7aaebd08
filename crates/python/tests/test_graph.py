"""Static graphs: shapes as the graph is built, errors at the line that makes them, the bits of the eager functions."""

import traceback

import numpy as np
import pytest
from conftest import bits

import gradus
from gradus.errors import ArgumentError, DTypeError, GraphError, ShapeError, UnsupportedError, UsageError


def text(value):
    return str(value.type)


def test_shapes_are_inferred_as_the_graph_is_built():
    g = gradus.Graph()
    x = g.input("x", "float32", ["N", 3, "H"])
    assert text(x) == "float32[N, 3, H]"
    shape = g.shape(x)
    assert text(shape) == "int64[3]" and [str(e) for e in shape.elements] == ["N", "3", "H"]
    assert [str(e) for e in g.shape(x, 1).elements] == ["3", "H"]
    n, h = shape[0], shape[2]
    assert g.reshape(x, [n * h, 3]).shape == (gradus.Dim("N*H"), 3)
    assert text(g.range(0, n, 1)) == "int64[N]" and g.range(0, n, 2).shape[0].evaluate(N=7) == 4
    assert g.range(0, 2 * n, 2).shape == g.range(0, n).shape
    assert text(g.logspace(0, 3, h, dtype="float64")) == "float64[H]"
    assert text(g.linspace(0, 3, 7, dtype="bfloat16")) == "bfloat16[7]"
    assert text(g.expand(g.constant(1.0), shape)) == "float64[N, 3, H]"
    assert text(g.unsqueeze(x, [0])) == "float32[1, N, 3, H]" and text(g.squeeze(g.unsqueeze(x, [0]), [0])) == "float32[N, 3, H]"
    assert text(g.transpose(x, [2, 0, 1])) == "float32[H, N, 3]"
    assert text(g.slice(x, [1], [3], [1])) == "float32[N, 2, H]"
    assert text(g.concat([x, x], axis=1)) == "float32[N, 6, H]"
    assert text(g.constant_of_shape(shape, np.int8(7))) == "int8[N, 3, H]"
    assert text(g.cast(g.size(x), "float64")) == "float64[]"
    assert g.reduce_prod(shape).elements == (gradus.Dim("3*H*N"),)
    assert text(g.where(g.equal(n, 1), n, g.max(n, 2))) == "int64[]"
    assert isinstance(g.div(n, 2).elements[0], gradus.Dim)


def test_the_operator_set_is_the_lowest_that_has_the_graph(tmp_path):
    g = gradus.Graph()
    x = g.input("x", "float32", ["N"])
    n = g.size(x)
    assert g.opset == 21
    values = [g.range(0, n, 1), g.apply("Add", x, x)]
    assert g.opset == 21
    values.append(g.range(np.float16(0), np.float16(3), np.float16(1)))  # from Range-27 on
    assert g.opset == 27
    path = tmp_path / "m.onnx"
    g.save(path, values)
    model = gradus.load(path)
    assert model.opsets == {"": 27}
    assert model.run({"x": np.zeros(2, np.float32)})[values[2].name].tolist() == [0, 1, 2]
    by_type = gradus.Graph()
    by_type.input("x", "float8_e8m0", [])
    assert by_type.opset == 24
    old = gradus.Graph(opset=26)
    with pytest.raises(DTypeError, match="Range-11"):
        old.range(np.float16(0), np.float16(3), np.float16(1))
    assert old.opset == 26
    with pytest.raises(ArgumentError, match="Range-11"):
        gradus.Graph().range(0, 1, 0)


def test_a_run_gives_what_was_inferred():
    g = gradus.Graph()
    x = g.input("x", "float32", ["N", 3, "H"])
    shape = g.shape(x)
    n, h = shape[0], shape[2]
    outputs = [
        g.range(0, n, 1),
        g.reshape(x, [n * h, 3]),
        g.logspace(0, 3, h),
        g.concat([shape, shape]),
        (n + 1) * 2 - h,
        g.mod(n, 2),
        g.min(n, h),
        g.geomspace(1, 8, 4, dtype="int64"),
        g.slice(shape, [0], [10], steps=[2]),
    ]
    for batch, height in [(1, 4), (5, 2)]:
        given = np.arange(batch * 3 * height, dtype=np.float32).reshape(batch, 3, height)
        results = g.run({"x": given}, outputs)
        for value, result in zip(outputs, results, strict=True):
            sizes = tuple(e.evaluate(N=batch, H=height) if isinstance(e, gradus.Dim) else e for e in value.shape)
            assert (sizes, value.dtype) == (result.shape, str(result.dtype))
        assert results[0].tolist() == list(range(batch)) and results[4] == (batch + 1) * 2 - height
    assert str(g.infer(outputs)[outputs[0].name]) == "int64[N]"
    assert g.model(outputs).infer({"N": 4})[outputs[0].name].shape == (4,)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32"])
@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_graphs_have_the_bits_of_the_eager_functions(name, dtype):
    for start, stop, num, endpoint in [(1, 9, 5, True), (1, 3, 100, False), (2, 2, 1, True), (3, 1, 10, True)]:
        keywords = {"base": 3} if name == "logspace" else {}
        g = gradus.Graph()
        n = g.input("n", "int64", [])
        value = getattr(g, name)(start, stop, n, endpoint, dtype=dtype, **keywords)
        eager = getattr(gradus, name)(start, stop, num, endpoint, dtype=dtype, **keywords)
        static = g.run({"n": num}, [value])[0]
        assert static.dtype == eager.dtype and bits(static).tolist() == bits(eager).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int16", "float16"])
def test_ranges_of_graphs_have_the_bits_of_the_eager_function(dtype):
    g = gradus.Graph()
    ends = [g.input(name, dtype, []) for name in ("start", "limit", "delta")]
    value = g.range(*ends)
    for numbers in [(0, 100, 3), (5, -5, -2), (0, 0, 1)]:
        given = {name: np.array(x, dtype) for name, x in zip(("start", "limit", "delta"), numbers, strict=True)}
        static = g.run(given, [value])[0]
        eager = gradus.arange(*numbers, dtype=dtype)
        assert bits(static).tolist() == bits(eager).tolist()


def made(line):
    g = gradus.Graph()
    x = g.input("x", "float32", ["N", 3])
    line(g, x)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (lambda g, x: g.add(x, np.zeros((2, 4), np.float32)), ShapeError, "3"),
        (lambda g, x: g.reshape(x, [4, 5]), ShapeError, "number of elements is 3*N, expected 20"),
        (lambda g, x: g.reshape(x, ["N", 4]), DTypeError, "expected integers"),
        (lambda g, x: g.reshape(x, [2.5, -1]), DTypeError, "is of float64, expected integers"),
        (lambda g, x: g.concat([x, g.shape(x)]), DTypeError, 'expected float32 as input 0 "inputs"'),
        (lambda g, x: g.range(0, 1, 0), ArgumentError, "is zero, expected a nonzero number"),
        (lambda g, x: g.range(g.size(x), np.float32(1.5), 1), DTypeError, 'expected int64 as input 0 "start"'),
        (lambda g, x: g.transpose(x, [0, 5]), ArgumentError, "axis 5 is out of range"),
        (lambda g, x: g.gather(x, 0, axis=4), ArgumentError, "axis 4 is out of range"),
        (lambda g, x: g.logspace(0, 1, -1), ArgumentError, "num"),
        (lambda g, x: g.logspace(0, 1, 3.5), DTypeError, "num"),
        (lambda g, x: g.linspace(0, 1, 3, dtype="bool"), DTypeError, "dtype"),
        (lambda g, x: g.apply("NoSuchOperator", x), UnsupportedError, "NoSuchOperator"),
        (lambda g, x: g.apply("Shape", x, colour=3), GraphError, 'unknown attribute "colour"'),
        (lambda g, x: g.apply("Shape"), GraphError, "is missing"),
        (lambda g, x: g.input("x", "float32"), GraphError, '"x" is defined twice'),
        (lambda g, x: g.input("y", "float99"), DTypeError, "float99"),
        (lambda g, x: g.input("y", "float32", [-1]), ArgumentError, "a size is -1, expected"),
        (lambda g, x: g.input("y", "float32", [1.5]), DTypeError, "a size is of type float"),
        (lambda g, x: g.shape(gradus.Graph().input("z", "float32", [])), UsageError, "another graph"),
        (lambda g, x: g.run({}, [g.shape(x)]), UsageError, 'input "x"'),
        (lambda g, x: g.shape(x)[1.5], UsageError, "indexed by a number"),
    ],
)
def test_errors_are_raised_at_the_line_that_makes_them(line, kind, message):
    with pytest.raises(kind) as caught:
        made(line)
    assert message in str(caught.value)
    assert any(frame.name == "<lambda>" for frame in traceback.extract_tb(caught.value.__traceback__))


def test_what_a_graph_takes_for_granted_is_said():
    g = gradus.Graph()
    a, b = g.input("a", "float32", ["N"]), g.input("b", "float32", ["M"])
    g.apply("Concat", g.unsqueeze(a, [0]), g.unsqueeze(b, [0]), axis=0)
    (node, sentence), = g.assumptions
    assert "Concat" in node and sentence in ("N == M", "M == N")


def test_old_operator_sets():
    g = gradus.Graph(opset=11)
    x = g.input("x", "float32", ["N", 3])
    assert g.run({"x": np.zeros((2, 3), np.float32)}, [g.shape(x)])[0].tolist() == [2, 3]
    with pytest.raises(GraphError, match='unknown attribute "start"'):
        g.shape(x, 1)
