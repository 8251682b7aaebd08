"""Protocols of other libraries: arithmetic and SymPy of dimensions, DLPack and Arrow of plans, pickles of models."""

import pickle
import random
from fractions import Fraction

import gradus
import numpy as np
import pyarrow
import pytest
import sympy

N, M = gradus.Dim("n"), gradus.Dim("m")


def test_arithmetic_of_dimensions_is_that_of_their_values():
    assert (N + 1) * 2 - N * 2 == 2
    assert str(1 - N) == "1 - n" and str(-N) == "-n" and str(7 % N) == str(gradus.Dim("7 % n"))
    generator = random.Random(1)
    operators = ["+", "-", "*", "//", "%"]
    for _ in range(300):
        dims, values = [N, M, gradus.Dim("n//2 + m"), 3, -2], {"n": generator.randrange(1, 40), "m": generator.randrange(1, 40)}
        a, b = generator.choice(dims[:3]), generator.choice(dims)
        operator = generator.choice(operators)
        got = eval(f"a {operator} b")
        value = lambda dim: dim.evaluate(values) if isinstance(dim, gradus.Dim) else dim  # noqa: E731
        try:
            want = eval(f"a {operator} b", {"a": value(a), "b": value(b)})
        except ZeroDivisionError:
            continue
        assert value(got) == want, (a, operator, b, values)


def test_comparisons_of_dimensions_hold_for_all_sizes():
    assert N + 1 > N and N <= N + M and not N + M + 1 < M and N >= 0 and not N < 0
    assert N != M and N != 3 and gradus.Dim("n + m") == M + N and hash(M + N) == hash(N + M)
    with pytest.raises(gradus.errors.ArgumentError, match="order of n and m is unknown"):
        assert N < M
    with pytest.raises(TypeError):
        N + 1.5


def test_dimensions_are_proved_refuted_and_solved():
    assert gradus.Dim.prove("n//8*8 <= n") and not gradus.Dim.prove("n//8*8 == n")
    assert gradus.Dim.prove("n//8*8 == n", assume=["n % 16 == 0"]) and gradus.Dim.refute("n < 3", ranges={"n": (0, 2)}) is None
    assert gradus.Dim.refute("n//8*8 == n") == {"n": 1}
    assert str(gradus.Dim("h//32*32").simplify(assume=["h % 32 == 0"])) == "h"
    assert gradus.Dim("min(n, 8)").simplify(ranges={"n": (8, None)}) == 8
    assert gradus.Dim("n - n//8*8").bounds() == (0, 7) and gradus.Dim("a - n", {"a"}).bounds() == (None, None)
    assert gradus.Dim("6*n").solve_for("n", 816) == (136, 136) and gradus.Dim("n*m").solve_for("n", 5) is None
    assert gradus.Dim("6*n").solve_for("n", M) == ((M + 5) // 6, M // 6)
    assert gradus.Dim("3*n + m").solve_for("n", 10, "<=") == (None, (10 - M) // 3)
    with pytest.raises(gradus.errors.UsageError, match="relation is ~"):
        N.solve_for("n", 1, "~")


def test_dimensions_are_written_in_dialects():
    dim = gradus.Dim("max(n//2, m)")
    written = {"": "max(n//2, m)", "gradus": "max(n//2, m)", "onnx": "Max(n//2, m)", "sympy": "Max(floor(n/2), m)", "torch": "Max(n//2, m)"}
    for dialect, text in written.items():
        assert sorted(format(dim, dialect)) == sorted(text) and gradus.Dim(format(dim, dialect)) == dim
    model = gradus.load("examples/positions.onnx")
    assert str(model.infer(shapes={"tokens": (1, "h//2")}, dialect="sympy")["phase"]) == "float32[floor(h/2)]"
    with pytest.raises(gradus.errors.UsageError, match='unknown dialect "julia"'):
        format(dim, "julia")


@pytest.mark.parametrize("text", ["n", "min(n, 2*m)//3", "'a b'*n + max(n, 'it''s')", "broadcast(n, m) % 4", "x.y + $z:1"])
def test_dimensions_become_expressions_of_sympy(text):
    dim = gradus.Dim(text)
    values = {name: index + 3 for index, name in enumerate(dim.symbols)}
    expression = sympy.sympify(dim)
    assert expression.subs({symbol: values[symbol.name] for symbol in expression.free_symbols}) == dim.evaluate(values)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint16", "complex64"])
def test_plans_speak_dlpack(dtype):
    plan = gradus.plan.linspace(0, 100, 11, dtype=dtype)
    assert plan.__dlpack_device__() == (1, 0)
    assert np.array_equal(np.from_dlpack(plan), plan.to_numpy())
    assert np.array_equal(np.from_dlpack(plan[::-3]), plan.to_numpy()[::-3])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"])
def test_plans_speak_arrow(dtype):
    plan = gradus.plan.arange(0, 100, Fraction(7, 2) if dtype.startswith("f") else 3, dtype=dtype)
    for part in (plan, plan[5:], plan[::-1], plan[:0]):
        array = pyarrow.array(part)
        assert array.type == pyarrow.from_numpy_dtype(np.dtype(dtype)) and array.null_count == 0
        assert np.array_equal(array.to_numpy(zero_copy_only=False), part.to_numpy())
    del plan
    assert array.validate(full=True) is None


def test_capsules_that_nobody_takes_free_their_memory():
    for _ in range(1000):
        gradus.plan.arange(100_000).__arrow_c_array__()
    with pytest.raises(gradus.errors.DTypeError, match="expected a type of Arrow"):
        gradus.plan.arange(3, dtype="bfloat16").__arrow_c_array__()


@pytest.mark.parametrize("made", [lambda m: m, lambda m: m.fold({"batch": 1}), lambda m: m.convert("openvino")])
def test_models_are_pickled_with_their_reports(made):
    model = made(gradus.load("examples/positions.onnx"))
    back = pickle.loads(pickle.dumps(model))
    assert type(back) is type(model) and back.standard == model.standard
    assert getattr(back, "report", None) == getattr(model, "report", None)
    tokens = {"tokens": [[101, 2023, 2003, 102]]}
    for name, value in model.run(tokens).items():
        assert np.array_equal(back.run(tokens)[name], value)


@pytest.mark.parametrize("namespace", [gradus, gradus.numpy, gradus.jax])
def test_creation_functions_have_the_signatures_of_the_array_api(namespace):
    # Array API 2024.12: arange(start, /, stop, step, *, dtype, device),
    # linspace(start, stop, /, num, *, dtype, device, endpoint).
    assert namespace.arange(3, stop=None, step=1, dtype=None, device=None).tolist() == [0, 1, 2]
    assert namespace.arange(0, stop=5, step=2, device="cpu").tolist() == [0, 2, 4]
    made = namespace.linspace(0, 1, num=4, dtype=np.float32, device="cpu", endpoint=False)
    assert made.tolist() == [0, 0.25, 0.5, 0.75] and made.dtype == np.float32
    assert namespace.linspace(0, 1, 3, dtype=None, device=None, endpoint=True).dtype == np.float64
    assert namespace.linspace(0, 1j, 2).dtype == np.complex128
    if hasattr(made, "__array_namespace__"):
        assert made.__array_namespace__().arange(2).tolist() == namespace.arange(2).tolist()
