"""The exact functions: against rationals and 400 bits, and against NumPy where NumPy is right."""

import pickle
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
import pytest
from conftest import bits, rounded
from hypothesis import given
from hypothesis import strategies as st

import gradus
from gradus.errors import ArgumentError, DTypeError, LimitError, ShapeError, UnsupportedError, UsageError

FLOATS = ["float16", "float32", "float64", "bfloat16"]
NATIVE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
SMALL = [
    "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2",
]  # fmt: skip

# Keywords that NumPy has since version 2.
NUMPY_2 = pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 has no such keyword")

ends = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(ends, st.floats(1e-3, 1e3), st.integers(0, 40), st.sampled_from(FLOATS))
def test_ranges_are_exact(start, step, count, dtype):
    got = gradus.arange(start, start + count * step, step, dtype=dtype)
    want = [rounded(Fraction(start) + i * Fraction(step), got.dtype) for i in range(len(got))]
    assert abs(len(got) - count) <= 1
    assert bits(got).tolist() == bits(np.array(want, got.dtype)).tolist()


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 30), st.integers(-(2**58), 2**58).filter(bool))
def test_ranges_of_integers_are_those_of_python(start, count, step):
    stop = start + count * step
    if not -(2**63) <= stop < 2**63:
        return
    assert gradus.arange(start, stop, step).tolist() == list(range(start, stop, step))


@given(ends, ends, st.integers(1, 70), st.booleans(), st.sampled_from([*FLOATS, "int64"]))
def test_linspaces_are_exact(start, stop, num, endpoint, dtype):
    got = gradus.linspace(start, stop, num, endpoint, dtype=dtype)
    span, steps = Fraction(stop) - Fraction(start), max(num - endpoint, 1)
    want = [rounded(Fraction(start) + i * span / steps, got.dtype) for i in range(num)]
    assert np.array_equal(got, np.array(want, got.dtype))


@given(
    st.floats(-30, 30),
    st.floats(-30, 30),
    st.integers(1, 20),
    st.sampled_from([2, 10, 0.5, 1.0001, 2.718281828459045, 1000]),
    st.sampled_from(["float32", "float64", "float16"]),
)
def test_logspaces_are_exact(start, stop, num, base, dtype):
    got = gradus.logspace(start, stop, num, base=base, dtype=dtype)
    span, steps = Fraction(stop) - Fraction(start), max(num - 1, 1)
    exponents = [Fraction(start) + i * span / steps for i in range(num)]
    powers = [mpmath.power(mpmath.mpf(base), mpmath.mpf(e.numerator) / e.denominator) for e in exponents]
    assert bits(got).tolist() == bits(np.array([rounded(p, got.dtype) for p in powers], got.dtype)).tolist()


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 20))
def test_geomspaces_are_exact(start, stop, num):
    got = gradus.geomspace(start, stop, num)
    ratio = mpmath.mpf(stop) / mpmath.mpf(start)
    want = [rounded(mpmath.mpf(start) * ratio ** (mpmath.mpf(i) / (num - 1)), np.float64) for i in range(num)]
    assert got.tolist() == want


def test_recorded_calls_have_their_exact_results(recorded):
    compared = 0
    for case in recorded:
        exact = case.get("exact")
        if not isinstance(exact, dict):
            continue
        keywords = {key: case[key] for key in ("endpoint", "base") if key in case}
        ends = [float(x) if isinstance(x, str) else x for x in (case["start"], case["stop"])]
        if isinstance(keywords.get("base"), str):
            keywords["base"] = float(keywords["base"])
        got = getattr(gradus, case["fn"])(*ends, case["num"], dtype="float64", **keywords)
        want = np.array([float(x) for x in exact["f64"]])
        if case["id"] in ("L050", "L051"):
            # Infinities of the base -0.0 have signs by IEEE 754 pow, which the recording does not give.
            got, want = abs(got), abs(want)
        assert np.array_equal(got, want, equal_nan=True), case["id"]
        compared += 1
    assert compared >= 60


@pytest.mark.parametrize("dtype", NATIVE)
def test_numpy_agrees_where_it_is_right(dtype):
    for arguments in [(7,), (2, 9), (2, 90, 3), (0, 0), (5, 2)]:
        assert np.array_equal(gradus.arange(*arguments, dtype=dtype), np.arange(*arguments, dtype=dtype))
    assert np.array_equal(gradus.linspace(0, 100, 101, dtype=dtype), np.linspace(0, 100, 101, dtype=dtype))
    assert np.array_equal(gradus.logspace(0, 4, 5, base=2, dtype=dtype), np.logspace(0, 4, 5, base=2, dtype=dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.arange(stop=3),
        lambda m: m.arange(1, None),
        lambda m: m.arange(3.0),
        lambda m: m.arange(np.float32(3)),
        lambda m: m.arange(np.int8(1), 5),
        lambda m: m.arange(np.uint8(3), dtype=None),
        lambda m: m.arange(0, 10, 2, "int16"),
        lambda m: m.linspace(0, 1),
        lambda m: m.linspace(0, 1, 0),
        lambda m: m.linspace(0, 1, 1),
        lambda m: m.linspace(0, 8, 4, False),
        lambda m: m.linspace(0, 8, 4, False, True),
        lambda m: m.linspace(np.float32(0), 1, 3),
        lambda m: m.linspace(np.float16(0), np.float32(1), 3),
        lambda m: m.linspace(0, 1, np.int32(3)),
        lambda m: m.linspace([0, 1], [8, 9], 5),
        lambda m: m.linspace([0, 1], 8, 5, axis=1),
        lambda m: m.linspace([[0, 1]], [[8], [9]], 5, axis=-1),
        lambda m: m.linspace([0, 4], 8, 5, retstep=True),
        lambda m: m.linspace(0, 4 + 8j, 5),
        lambda m: m.logspace(0, 4, 5, True, 2.0, None, 0),
        lambda m: m.logspace([0, 1], [2, 3], 3, base=[2, 4]),
        lambda m: m.geomspace(1, 256, 9),
        lambda m: m.geomspace([1, 2], [256, 512], 9, axis=1),
        pytest.param(lambda m: m.linspace(0, 1, 3, device="cpu"), marks=NUMPY_2),
    ],
)
def test_signatures_are_numpy_s(call):
    got, want = call(gradus), call(np)
    if isinstance(want, tuple):
        assert np.array_equal(got[1], want[1])
        got, want = got[0], want[0]
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert np.allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("dtype", SMALL)
def test_small_types(dtype):
    got = gradus.arange(2, dtype=dtype) if dtype != "float8_e8m0fnu" else gradus.arange(1, 3, dtype=dtype)
    assert got.dtype == np.dtype(getattr(ml_dtypes, dtype))
    assert got.tolist() == ([1, 2] if dtype == "float8_e8m0fnu" else [0, 1])
    named = gradus.arange(2, dtype=getattr(ml_dtypes, dtype))
    assert named.dtype == got.dtype
    out = np.zeros(5000, got.dtype)
    assert gradus.linspace(0.5, 1, 5000, dtype=dtype, out=out) is out if "int" not in dtype else True
    if "int" not in dtype:
        assert np.array_equal(bits(out), bits(gradus.linspace(0.5, 1, 5000, dtype=dtype)))


@pytest.mark.parametrize("size", [0, 1, 3, 63, 64, 65, 1000, 5000, 300_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bfloat16", "bool", "complex64"])
def test_out_is_written_in_place_whatever_its_strides(size, dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    make = gradus.plan.linspace if dtype != "bool" else None
    want = np.zeros(size, bool) if make is None else make(0, 7, size, dtype=dtype).to_numpy()
    for out in (np.zeros(size, kind), np.zeros(3 * size, kind)[::3], np.zeros(size, kind)[::-1]):
        if make is None:
            if size > 2:
                continue
            gradus.arange(size, out=out)
            want = np.arange(size).astype(bool)
        else:
            assert gradus.linspace(0, 7, size, out=out) is out
        assert out.tolist() == want.tolist()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gradus.arange(0, 1, 0), ArgumentError, "step is zero, expected a nonzero number"),
        (lambda: gradus.arange(float("nan")), ArgumentError, "stop is nan, expected a finite number"),
        (lambda: gradus.arange(), DTypeError, "stop is missing, expected a number"),
        (lambda: gradus.arange("a"), ArgumentError, 'stop: "a" is not a number'),
        (lambda: gradus.arange([1, "a"]), DTypeError, "stop is of type list, expected a number"),
        (lambda: gradus.arange([1, 2]), ShapeError, "stop is an array, expected a number"),
        (lambda: gradus.arange(1j), DTypeError, "element type of the range is complex128, expected a real numeric type"),
        (lambda: gradus.arange(3, dtype="nf4"), UnsupportedError, "NumPy has no arrays of nf4"),
        (lambda: gradus.arange(3, dtype=object), DTypeError, "dtype is <class 'object'>, expected a numeric type"),
        (lambda: gradus.arange(3, dtype=True), DTypeError, "dtype is bool, expected one of "),
        (lambda: gradus.linspace(np.ma.array([1, 2], mask=[1, 0]), 3, 2), DTypeError, "start is of type MaskedArray, expected a plain array"),
        (lambda: gradus.linspace(0, np.ones(2).view(np.recarray), 2), DTypeError, "stop is of type recarray, expected a plain array"),
        (lambda: gradus.linspace(np.ones(2, np.longdouble), 3, 2), DTypeError, "float128, expected"),
        (lambda: gradus.arange(3, dtype=object()), (DTypeError, TypeError), "object"),
        (lambda: gradus.arange(3, device="cuda:1000"), UnsupportedError, 'cannot open device "cuda:1000": '),
        (lambda: gradus.arange(3, profile="matlab"), UsageError, '"matlab" is not a profile'),
        (lambda: gradus.arange(3, out=np.zeros(4)), ShapeError, "the shape of out is (4,), expected (3,)"),
        (lambda: gradus.arange(3, dtype="int8", out=np.zeros(3)), DTypeError, "the type of out is float64, expected int8"),
        (lambda: gradus.arange(3, out=[0, 0, 0]), DTypeError, "out is of type list, expected an array"),
        (lambda: gradus.arange(2**62), LimitError, "more bytes than memory has addresses"),
        (lambda: gradus.linspace(0, 1, -1), ArgumentError, "num is -1, expected"),
        (lambda: gradus.linspace(0, 1, 2.5), TypeError, "integer"),
        (lambda: gradus.linspace(0, 1, 3, axis=2), ShapeError, "axis is 2, expected -1 or 0"),
        (lambda: gradus.linspace([1, 2], [1, 2, 3]), ShapeError, ""),
        (lambda: gradus.logspace(0, 3, 4, dtype="int8"), ArgumentError, "element 3 is 1000.0, expected a number in the range of int8"),
        (lambda: gradus.geomspace(0, 1), ArgumentError, "start is zero"),
        (lambda: gradus.geomspace(1, 2, profile="torch"), ArgumentError, "has no geomspace"),
        (lambda: gradus.arange(3, profile="tensorflow", dtype="int8"), ArgumentError, "TensorFlow"),
    ],
)
def test_what_is_wrong_is_said(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)
    if isinstance(caught.value, gradus.GradusError):
        assert caught.value.location == gradus.errors.Location()


def test_an_array_that_is_read_only_is_refused():
    out = np.zeros(3)
    out.setflags(write=False)
    with pytest.raises(ArgumentError, match="cannot write out"):
        gradus.arange(3, out=out, dtype=float)


def test_profiles_predict_programs():
    assert np.array_equal(gradus.arange(0, 1, 0.1, dtype="float32", profile="numpy"), np.arange(0, 1, 0.1, dtype="float32"))
    assert np.array_equal(gradus.linspace(0.1, 0.7, 1000, profile="numpy"), np.linspace(0.1, 0.7, 1000))
    assert gradus.arange(0, 0.3, 0.1, dtype="float32", profile="paddle").size == 3


def test_shape_and_size_are_arrays():
    x = np.zeros((2, 3, 4))
    for start in range(-5, 6):
        for end in [None, *range(-5, 6)]:
            assert gradus.shape(x, start, end).tolist() == list(x.shape[start:end])
            window = {} if end is None else {"end": end}
            assert np.array_equal(gradus.shape(x, start, end), gradus.onnx.Shape(x, start=start, **window))
    assert gradus.size(x).shape == () and gradus.size(x) == 24 and gradus.size(x, (0, -1)) == 8
    assert gradus.shape(5).shape == (0,) and gradus.shape([[1, 2]]).tolist() == [1, 2]
    out = np.zeros(3, np.int32)
    assert gradus.shape(x, out=out) is out and out.tolist() == [2, 3, 4]
    with pytest.raises(IndexError):
        gradus.size(x, 3)


def test_geomspace_turns_clockwise_to_the_negative_imaginary_axis():
    half = 0.5**0.5
    assert gradus.geomspace(1, -1j, 3).tolist() == [1, complex(half, -half), -1j]
    assert gradus.geomspace(1j, complex(0, -1), 3).tolist() == np.geomspace(1j, complex(0, -1), 3).round(9).tolist()
    assert gradus.geomspace(-1 + 1j, 1 - 1j, 3)[1] == 1 + 1j


@pytest.mark.parametrize("tenth", ["0.1", "1/10", Fraction(1, 10), Decimal("0.1")])
def test_arguments_are_exact(tenth):
    assert gradus.arange(0, 1, tenth).tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert gradus.arange(1, "1.3", tenth, dtype="float16").tolist() == np.array([1, 1.1, 1.2], "float16").tolist()
    assert gradus.linspace(0, tenth, 5, retstep=True)[1] == 0.025
    assert gradus.logspace(-3, 0, 4, base=tenth, dtype=int).tolist() == [1000, 100, 10, 1]
    assert gradus.geomspace(tenth, 1000, 5).tolist() == [0.1, 1, 10, 100, 1000]
    assert "'1/10'" in repr(gradus.plan.arange(0, 1, tenth))
    assert pickle.loads(pickle.dumps(gradus.plan.arange(0, 1, tenth)))[3] == 0.3


def test_arrays_of_any_byte_order_and_of_files_are_read(tmp_path):
    np.array([1.5, 2.5]).tofile(tmp_path / "ends")
    mapped = np.memmap(tmp_path / "ends", np.float64, "r")
    for ends in (np.array([1.5, 2.5], ">f8"), mapped):
        assert gradus.linspace(ends, 3, 2).tolist() == [[1.5, 2.5], [3, 3]]
    assert gradus.linspace(np.longdouble(1), 3, 3).tolist() == [1, 2, 3]


def test_integers_of_any_size_are_exact():
    assert gradus.arange(2**63, 2**63 + 3).tolist() == [2**63, 2**63 + 1, 2**63 + 2]
    assert gradus.linspace(0, 2**200, 3).tolist() == [0, 2.0**199, 2.0**200]
    with pytest.raises(gradus.errors.DTypeError, match="dtype is None, expected a type that holds integers beyond 64 bits"):
        gradus.arange(2**64, 2**64 + 3)
    assert gradus.arange(2**64 + 1, 2**64 + 4, dtype=int).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradus.linspace("one", 1, 3), 'start: "one" is not a number'),
        (lambda: gradus.linspace(0, "1/0", 3), 'stop: "1/0" divides by zero, expected a nonzero denominator'),
        (lambda: gradus.arange(0, 1, Decimal("1e-999")), "step: .* is out of range, expected a magnitude from 2\\^-1074 to 2\\^1024"),
        (lambda: gradus.linspace(0, Decimal("NaN"), 3), "stop is nan, expected a finite number"),
    ],
)
def test_what_is_no_number_is_refused(call, message):
    with pytest.raises(gradus.GradusError, match=message):
        call()


def test_switches_are_whatever_python_takes_for_true():
    assert gradus.logspace(1, 10, 4, 2).tolist() == [10, 10**4, 10**7, 10**10]
    assert gradus.linspace(0, 1, 2, 0, 1)[1] == 0.5
    assert gradus.linspace(0, 1, 2, np.False_).tolist() == [0, 0.5]


def test_types_of_numpy():
    one, two = np.float32(1), np.float32(2)
    for name in ("linspace", "logspace", "geomspace"):
        assert getattr(gradus, name)(one, two, 3).dtype == getattr(np, name)(one, two, 3).dtype
    with pytest.raises(OverflowError, match="out of bounds for uint16"):
        gradus.numpy.arange(-2.3, 29.0, dtype="u2")
