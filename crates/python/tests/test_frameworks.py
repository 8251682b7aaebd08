"""Namespaces: signatures, defaults, casts and errors of frameworks."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradus
from gradus.errors import ArgumentError, DTypeError, GraphError, ShapeError


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace", "shape", "size"])
def test_numpy_s_signatures_are_the_same(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (gradus.numpy, np))
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [(p.name, p.kind, p.default) for p in theirs.values()]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.arange(),
        lambda m: m.arange(start=3),
        lambda m: m.arange(0, 1, 0),
        lambda m: m.arange(0, 1, 0.0),
        lambda m: m.arange(3, device="gpu"),
        lambda m: m.arange(float("nan")),
        lambda m: m.linspace(0, 1, -1),
        lambda m: m.linspace(0, 1, 2.5),
        lambda m: m.linspace(0, 1, 3, device="gpu"),
        lambda m: m.logspace(0, 1, -1),
        lambda m: m.geomspace(0, 1),
        lambda m: m.geomspace(1, [0, 2]),
        lambda m: m.geomspace(1, 2, -3),
    ],
)
def test_numpy_s_errors_are_the_same(call):
    raised = []
    for module in (np, gradus.numpy):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            call(module)
        raised.append(caught.value)
    assert isinstance(raised[1], type(raised[0]))
    if not isinstance(raised[1], gradus.GradusError) and "integer" not in str(raised[0]):
        assert str(raised[0]) in (str(raised[1]), "float division by zero")


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(0, 20), st.booleans())
def test_numpy_s_integers_are_rounded_down(start, stop, num, endpoint):
    from fractions import Fraction
    from math import floor

    got = gradus.numpy.linspace(start, stop, num, endpoint, dtype="int32")
    steps = max(num - endpoint, 1)
    assert got.tolist() == [floor(start + Fraction(i * (stop - start), steps)) for i in range(num)]


@pytest.mark.parametrize(
    ("start", "stop", "dtype"),
    [(-1, 1000, "int64"), (-0.5, -0.5, "int8"), (-(2**63), 2**63 - 1, "int64"), (7.25, -128, "int8"), (-3, 0.1, "int16")],
)
@pytest.mark.parametrize("endpoint", [True, False])
def test_numpy_s_integers_of_long_sequences_are_rounded_down(start, stop, dtype, endpoint):
    from fractions import Fraction
    from math import floor

    num = 10_007
    got = gradus.numpy.linspace(start, stop, num, endpoint, dtype=dtype)
    distance = Fraction(stop) - Fraction(start)
    assert got.dtype == dtype
    assert got.tolist() == [floor(start + i * distance / (num - endpoint)) for i in range(num)]


def test_numpy_s_integers_must_fit():
    with pytest.raises(OverflowError):
        gradus.numpy.linspace(-129, 3, 5, dtype="int8")


def test_numpy_s_integers_between_arrays():
    got = gradus.numpy.linspace([-1, 0], [0, 3], 4, dtype=int, axis=1, retstep=True)
    want = np.linspace([-1, 0], [0, 3], 4, dtype=int, axis=1, retstep=True)
    assert np.array_equal(got[0], want[0]) and np.array_equal(got[1], want[1])
    assert gradus.numpy.shape([[1, 2]]) == (1, 2) and gradus.numpy.size([[1, 2]], 1) == 2


def test_torch_s_defaults_and_casts():
    t = gradus.torch
    assert t.arange(5).dtype == np.int64 and t.arange(5.0).dtype == np.float32
    assert t.arange(1, 4).tolist() == [1, 2, 3] and t.arange(start=1, end=4, step=2).tolist() == [1, 3]
    assert t.arange(0, 5, 0.5, dtype="int32").tolist() == [0] * 10
    assert t.arange(1.2, 11.3, 1.6, dtype="int32").tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert t.arange(5, 5).tolist() == []
    assert t.linspace(0, 1, 3).dtype == np.float32 and t.linspace(0, 1, 3, dtype="float64").dtype == np.float64
    assert t.linspace(0, 1j, 3).dtype == np.complex64
    assert t.linspace(-1, 0, 4, dtype="int32").tolist() == [-1, 0, 0, 0]
    assert t.logspace(0.5, 2.5, 3, dtype="int32").tolist() == [1, 10, 100]
    assert t.logspace(0, 4, 5, 2.7, dtype="int32").tolist() == [1, 2, 7, 19, 53]
    assert t.logspace(0, 3, 4, base=np.array(10.0)).tolist() == [1, 10, 100, 1000]
    assert t.linspace(-1, 1, 3, dtype="uint8").tolist()[0] == 255 and t.linspace(0, 300, 1, dtype="uint8").tolist() == [0]
    out = np.zeros(3, np.float64)
    assert t.linspace(0, 1, 3, out=out) is out and out.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda t: t.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda t: t.linspace(0, 1), TypeError, "steps"),
        (lambda t: t.linspace(0, 1, 2.5), TypeError, "integer"),
        (lambda t: t.linspace(0, 300, 3, dtype="uint8"), RuntimeError, "without overflow"),
        (lambda t: t.linspace(0, 65519, 2, dtype="float16"), RuntimeError, "without overflow"),
        (lambda t: t.arange(0, 2, 1e-20), RuntimeError, "possible overflow"),
        (lambda t: t.linspace(0, 1, 3, dtype="bool"), NotImplementedError, "not implemented for bool"),
        (lambda t: t.linspace(0, 1, 3, requires_grad=True), RuntimeError, "no gradient"),
        (lambda t: t.linspace(0, 1, 3, device="cuda"), RuntimeError, 'there is only "cpu"'),
        (lambda t: t.linspace(np.zeros(1), 1, 3), RuntimeError, "tensor without axes"),
        (lambda t: t.arange(0, 1, 0), RuntimeError, "step must be nonzero"),
        (lambda t: t.arange(0, 1, float("nan")), RuntimeError, "step must be finite but got nan"),
        (lambda t: t.arange(0, float("inf")), RuntimeError, "unsupported range"),
        (lambda t: t.arange(1, 0), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        (lambda t: t.arange(), TypeError, "end"),
        (lambda t: t.arange(1, 2, 3, 4), TypeError, "positional"),
        (lambda t: t.arange(1, 2, end=3), TypeError, "multiple values"),
        (lambda t: t.arange(3j), RuntimeError, "real numbers"),
    ],
)
def test_torch_s_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(gradus.torch)


def test_onnx_by_version():
    o = gradus.onnx
    assert o.Range(np.int32(1), np.int32(7), np.int32(2)).tolist() == [1, 3, 5]
    assert o.Range(np.float16(0), np.float16(1), np.float16(0.25), stash_type=1).dtype == np.float16
    with pytest.raises(DTypeError, match="float16, expected one of the types of Range-11"):
        o.Range(np.float16(0), np.float16(1), np.float16(0.25), opset=11)
    with pytest.raises(DTypeError, match="is float64, expected int64 as input 0"):
        o.Range(0, 1.5, 1)
    with pytest.raises(ArgumentError, match='input 2 "delta" is zero') as caught:
        o.Range(0, 1, 0)
    assert caught.value.location.nodes and "Range-27" in caught.value.location.nodes[0]
    with pytest.raises(GraphError, match="expected at least 11"):
        o.Range(0, 1, 1, opset=10)
    with pytest.raises(GraphError, match='unknown attribute "start"'):
        o.Shape(np.zeros(3), opset=13, start=0)
    with pytest.raises(DTypeError, match="expected one of the types of Shape-1"):
        o.Shape(np.zeros(3, np.dtype("bfloat16") if False else gradus.arange(3, dtype="bfloat16").dtype), opset=1)
    assert o.Size(np.zeros((2, 3))) == 6


def test_openvino_by_version():
    o = gradus.openvino
    assert o.range(0, 5, 2).tolist() == [0, 2, 4]
    assert o.range(1.2, 11.3, 1.6, "i32").tolist() == list(range(1, 11))
    assert o.range(0, 5, np.float32(2), np.float32).dtype == np.float32
    with pytest.raises(ShapeError, match="a scalar"):
        o.range(np.zeros(1), 5, 1, "f32")
    with pytest.raises(ArgumentError, match="not 0 after the cast"):
        o.range(0.0, 5.0, 0.5, "i32")
    with pytest.raises(DTypeError):
        o.range(0, 5.0, 1)
    assert o.shape_of(np.zeros((2, 3)), "i32").dtype == np.int32


def test_jax_s_defaults_are_those_of_64_bit_types():
    jax = gradus.jax
    assert [jax.arange(3).dtype, jax.arange(3.0).dtype, jax.linspace(0, 1, 3).dtype] == ["int64", "float64", "float64"]
    assert jax.arange(5, 0, -2).tolist() == [5, 3, 1] and jax.arange(0, 1, 0.1, dtype="float32").size == 10
    assert jax.linspace(-3, 3, 4, dtype="int32").tolist() == [-3, -1, 1, 3] == np.linspace(-3, 3, 4, dtype="int32").tolist()
    assert jax.logspace(0, 1, 4, base=1000, dtype="int64").tolist() == [1, 10, 100, 1000]
    assert jax.geomspace(1, 256, 9, dtype=int).tolist() == [2**i for i in range(9)]
    for call in (lambda: jax.arange(0, 1, 0), lambda: jax.arange(float("inf")), lambda: jax.arange(3, device="gpu")):
        with pytest.raises(ValueError, match="zero|infinity|CPU"):
            call()


def test_tensorflow_s_types_are_the_last_of_the_arguments():
    tf = gradus.tensorflow
    assert tf.range(3).dtype == "int32" and tf.range(3.0).dtype == "float32" and tf.range(np.int64(3)).dtype == "int64"
    assert tf.range(np.float16(0), np.float64(1), 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert tf.range(0, 1, 0.25, dtype="float64").dtype == "float64" and tf.range(9, 3, -3).tolist() == [9, 6]
    assert tf.linspace(0.0, 1.0, 3).dtype == "float32" and tf.linspace(0, 4, 3).tolist() == [0, 2, 4]
    assert tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=1).tolist() == [[0, 0.5, 1], [1, 2, 3]]
    wrong = (lambda: tf.range(0, 3, 0), lambda: tf.range(3, 0), lambda: tf.linspace(0.0, 1.0, -1))
    for call, message in zip(wrong, ("delta", "start <= limit", "non-negative"), strict=True):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="no uint8"):
        tf.range(np.uint8(3))
    with pytest.raises(TypeError, match="float32, float64"):
        tf.linspace(np.float32(0), np.float64(1), 3)
