"""The tests that the text of `paddle.logspace` lists, eager and static; and the recorded results of Paddle."""

import numpy as np
import pytest
from conftest import bits

import gradus
from gradus.errors import ArgumentError, DTypeError, ShapeError

TYPES = ["float32", "float64", "int32", "int64"]


def eager(start, stop, num, base, dtype):
    return gradus.paddle.logspace(start, stop, num, base, dtype)


def static(start, stop, num, base, dtype):
    """The same as a graph: the casts of Paddle's rule are nodes."""
    g = gradus.Graph()
    cast = [g.cast(g.constant(x), dtype) for x in (start, stop, base)]
    count = g.input("num", "int64", [])
    out = g.logspace(cast[0], cast[1], count, base=cast[2], dtype=dtype)
    assert out.dtype == dtype and len(out.shape) == 1
    return g.run({"num": num}, [out])[0]


@pytest.mark.parametrize("mode", [eager, static])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("start", "stop", "num", "base"),
    [
        (0, 10, 5, 2),  # start < end
        (10, 0, 5, 2),  # end < start
        (0, 10, 1, 2),  # num = 1
        (0, 3, 4, 10.0),  # base > 0
        (0, 10, 5, 0),  # base = 0
        (0, 4, 5, -2),  # base < 0
        (1, 3, 3, 3),
    ],
)
def test_agrees_with_numpy(mode, start, stop, num, base, dtype):
    got = mode(start, stop, num, base, dtype)
    want = np.logspace(start, stop, num, base=base).astype(dtype)
    assert got.dtype == np.dtype(dtype)
    if dtype in ("float32", "float64"):
        assert np.allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-13, equal_nan=True)
    else:
        # NumPy comes out one too small where its power is a hair below a whole number.
        assert (abs(got - want) <= 1).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_eager_and_static_give_the_same_bits(dtype):
    for start, stop, num, base in [(0, 2, 7, 10), (5, 0.5, 100, 2), (0.9, 3.9, 4, 10.7), (1, 1, 3, 3), (0, 8, 9, 1)]:
        a, b = eager(start, stop, num, base, dtype), static(start, stop, num, base, dtype)
        assert bits(a).tolist() == bits(b).tolist(), (start, stop, num, base)


@pytest.mark.parametrize("num", [-1, 2.5, 5.0, "5", None, [5]])
def test_num_is_an_integer(num):
    for function in (gradus.paddle.logspace, gradus.paddle.linspace):
        with pytest.raises((ArgumentError, DTypeError), match="num of .*space is"):
            function(0, 10, num)


def test_only_linspace_can_be_empty():
    assert gradus.paddle.linspace(0, 1, 0).tolist() == []
    with pytest.raises(ArgumentError, match="num of logspace is 0, expected at least 1"):
        gradus.paddle.logspace(0, 1, 0)


def test_defaults_and_casts():
    assert gradus.paddle.logspace(0, 3, 4).dtype == np.float32
    # Ends and base are cast to the output type first.
    assert gradus.paddle.logspace(0.9, 3.9, 4, dtype="int32").tolist() == [1, 10, 100, 1000]
    assert gradus.paddle.logspace(0, 4, 5, 2.7, "int32").tolist() == [1, 2, 4, 8, 16]
    base = float(np.float32(1.0001))
    assert gradus.paddle.logspace(0, 1e5, 11, 1.0001).tolist() == gradus.logspace(0, 1e5, 11, base=base, dtype="float32").tolist()
    assert gradus.paddle.logspace(0, 1, 4, 1000, "int64").tolist() == [1, 10, 100, 1000]
    assert gradus.paddle.logspace(0, 3, 4, name="a").tolist() == [1, 10, 100, 1000]
    for dtype in ("float16", "bfloat16"):
        assert gradus.paddle.logspace(0, 3, 4, dtype=dtype).tolist() == [1, 10, 100, 1000]


def test_tensors_of_one_element_are_numbers():
    for dtype in TYPES:
        for shape in ([], [1], [1, 1]):
            ends = [np.full(shape, x, dtype) for x in (1, 10, 2)]
            got = gradus.paddle.logspace(ends[0], ends[1], np.full(shape, 4, "int32"), ends[2])
            assert got.tolist() == [2, 16, 128, 1024]
    with pytest.raises(ShapeError, match=r"the shape of start of logspace is \(2,\)"):
        gradus.paddle.logspace(np.zeros(2), 1, 3)
    with pytest.raises(DTypeError, match="stop of logspace is of int8"):
        gradus.paddle.logspace(0, np.int8(1), 3)
    with pytest.raises(DTypeError, match="start of logspace is of type complex"):
        gradus.paddle.logspace(1j, 1, 3)
    with pytest.raises(DTypeError, match="dtype of logspace is int8"):
        gradus.paddle.logspace(0, 1, 3, dtype="int8")


def argument(x):
    if isinstance(x, dict):
        return None
    return float(x) if isinstance(x, str) else x


def test_recorded_results_of_paddle(recorded):
    """Paddle's own results, within the error that its kernels have; the same lengths, types and, of integers, values."""
    compared = 0
    for case in recorded:
        result = next((r for names, r in case["results"].items() if "paddle" in names.split()), None)
        function = getattr(gradus.paddle, case["fn"], None)
        arguments = [argument(case[key]) for key in ("start", "stop")]
        if result is None or "values" not in result or function is None or None in arguments or "endpoint" in case:
            continue
        keywords = {"dtype": case["dtype"]} if isinstance(case.get("dtype"), str) else {}
        if "base" in case:
            keywords["base"] = argument(case["base"])
        if not isinstance(case.get("num"), int) or keywords.get("base", 0) is None:
            continue
        values = [v if isinstance(v, int) else float(v) for v in result["values"]]
        try:
            got = function(*arguments, case["num"], **keywords)
        except gradus.GradusError:
            # Ends that no integer type holds, NaN and infinities: Paddle gives something there.
            whole = result["dtype"].startswith("int")
            ends_are_finite = np.isfinite([float(x) for x in arguments]).all()
            assert whole or not ends_are_finite or case["num"] == 0, case["id"]
            continue
        assert str(got.dtype) == result["dtype"] and len(got) == len(values), case["id"]
        if not np.isfinite([float(x) for x in arguments]).all():
            continue  # Paddle subtracts the ends first, so that two equal infinities give NaN.
        if got.dtype.kind == "f":
            want = np.array(values, np.float64)
            tolerance = 1e-6 if got.dtype == np.float32 else 1e-12
            small = np.finfo(got.dtype).smallest_normal + tolerance * max((abs(w) for w in want if np.isfinite(w)), default=0) * (case["fn"] == "linspace")
            # Where the difference of the ends overflows, Paddle gives infinities and NaN.
            same = np.isfinite(want) | ~np.isfinite(got)
            assert np.allclose(got.astype(np.float64)[same], want[same], rtol=tolerance, atol=small, equal_nan=True), case["id"]
        else:
            # Powers of Paddle are doubles that are cut: one too small at times, and without the bits beyond 53.
            # Numbers that do not fit become the least integer.
            want = np.array(values, object)
            near = abs(got.astype(object) - want) <= 1 + abs(want) // 2**52
            assert (near | (want == np.iinfo(got.dtype).min)).all(), case["id"]
        compared += 1
    assert compared >= 40, compared


def test_linspace_arange_and_shape():
    assert gradus.paddle.linspace(0, 10, 5).dtype == np.float32
    assert gradus.paddle.linspace(-1, 0, 4, "int32").tolist() == [-1, 0, 0, 0]
    assert gradus.paddle.arange(5).dtype == np.int64 and gradus.paddle.arange(5.0).dtype == np.float32
    assert gradus.paddle.arange(1, 6, 2).tolist() == [1, 3, 5] and gradus.paddle.arange(5, 0).tolist() == []
    assert gradus.paddle.arange(0, 5, 1.9, dtype="int32").tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ArgumentError, match="step is zero"):
        gradus.paddle.arange(0, 5, 0.5, dtype="int32")
    assert gradus.paddle.shape(np.zeros((2, 3))).tolist() == [2, 3]
    assert gradus.paddle.shape([[1, 2, 3]]).tolist() == [1, 3]
    with pytest.raises(DTypeError, match="input of shape"):
        gradus.paddle.shape(object())
