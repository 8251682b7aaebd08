"""The namespaces beside PyTorch and Paddle themselves, where these are installed: random calls, and calls that are refused."""

import random
from pathlib import Path

import numpy as np
import pytest

import gradus

FLOATS = {"float32": 2e-6, "float64": 1e-12, "float16": 2e-3, "bfloat16": 1.6e-2}
WHOLE = ["int32", "int64"]
CALLS = 400


def calls(seed, dtypes):
    """Random calls: a function, its arguments, an element type."""
    choose = random.Random(seed)
    for _ in range(CALLS):
        function, dtype = choose.choice(["arange", "linspace", "logspace"]), choose.choice(dtypes)
        if function == "arange":
            step = choose.choice([1, 2, -3, 7] if dtype in WHOLE else [0.5, -0.25, 1.0, 3.0])
            start = choose.randint(-40, 40)
            yield function, (start, start + step * choose.randint(0, 90), step), dtype
        elif function == "linspace":
            ends = [choose.randint(-200, 200) if dtype in WHOLE else choose.uniform(-200, 200) for _ in range(2)]
            yield function, (*ends, choose.randint(1, 300)), dtype
        else:
            ends = [choose.randint(0, 9) if dtype in WHOLE else choose.uniform(-4, 4) for _ in range(2)]
            yield function, (*ends, choose.randint(1, 300), choose.choice([2.0, 3.0, 10.0])), dtype


def agree(got, want, function, dtype, call):
    assert got.shape == want.shape and str(got.dtype) == dtype, call
    got, want = got.astype(np.float64), want.astype(np.float64)
    if dtype in WHOLE:
        # Where the program's float is a hair below a whole number, cutting it gives one less.
        assert (abs(got - want) <= (function != "arange") * (1 + abs(want) * 2.0**-20)).all(), call
        return
    # A linspace of the others is off by a part of its ends, a logspace by a part of the element and its exponent.
    scale = abs(want).max() if function == "linspace" else abs(want) * 12
    assert (abs(got - want) <= FLOATS[dtype] * scale).all(), call


def test_torch():
    torch = pytest.importorskip("torch")
    for function, arguments, dtype in calls(1, [*FLOATS, *WHOLE]):
        call = (function, arguments, dtype)
        want = getattr(torch, function)(*arguments, dtype=getattr(torch, dtype))
        got = getattr(gradus.torch, function)(*arguments, dtype=getattr(torch, dtype))
        agree(got, want.double().numpy() if dtype in FLOATS else want.numpy(), function, dtype, call)
    assert torch.from_dlpack(gradus.torch.logspace(0, 2, 3)).tolist() == [1, 10, 100]
    assert gradus.torch.linspace(torch.tensor(1.0), torch.tensor(3.0), 3).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.arange(0, 5, 0),
        lambda m: m.arange(0, 5, -1),
        lambda m: m.arange(0, float("inf")),
        lambda m: m.arange(0, float("nan")),
        lambda m: m.linspace(0, 1, -1),
        lambda m: m.linspace(0, 1),
        lambda m: m.logspace(0, 1, -1),
        lambda m: m.logspace(0, 1, "3"),
        lambda m: m.arange("1"),
    ],
)
def test_torch_refuses_the_same(call):
    raised = []
    for module in (pytest.importorskip("torch"), gradus.torch):
        with pytest.raises((RuntimeError, TypeError)) as caught:
            call(module)
        raised.append(caught.value)
    theirs, ours = raised
    assert isinstance(ours, type(theirs)) or isinstance(ours, RuntimeError | TypeError)


def test_paddle():
    paddle = pytest.importorskip("paddle")
    paddle.set_device("cpu")
    for function, arguments, dtype in calls(2, ["float32", "float64", *WHOLE]):
        if function == "arange" and arguments[0] == arguments[1]:
            continue
        call = (function, arguments, dtype)
        want = getattr(paddle, function)(*arguments, dtype=dtype).numpy()
        got = getattr(gradus.paddle, function)(*arguments, dtype=dtype)
        agree(got, want, function, dtype, call)
    tensors = [paddle.to_tensor([x]) for x in (0.0, 3.0)]
    num, base = paddle.to_tensor([4], dtype="int32"), paddle.to_tensor([2.0])
    assert gradus.paddle.logspace(*tensors, num, base).tolist() == paddle.logspace(*tensors, num, base).tolist()
    back = paddle.utils.dlpack.from_dlpack(gradus.to_dlpack(gradus.arange(3, dtype="bfloat16")))
    assert back.dtype == paddle.bfloat16 and back.astype("float32").numpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.logspace(0, 10, 5, 2, "int8"),
        lambda m: m.logspace(0, [10], 5, 2),
        lambda m: m.logspace(0, 10, [5], 2),
        lambda m: m.logspace(0, 10, 5, [2]),
        lambda m: m.logspace(0, 10, 0),
        lambda m: m.arange(0, 5, 0),
    ],
)
def test_paddle_refuses_the_same(call):
    for module in (pytest.importorskip("paddle"), gradus.paddle):
        with pytest.raises(Exception):  # noqa: B017, PT011: each has its own
            call(module)


@pytest.mark.parametrize("model", ["branches.pir/model.json", "network.pir/model.json", "network.old/model.pdmodel"])
def test_paddle_shows_the_values_of_its_programs(model):
    pytest.importorskip("paddle")
    path = Path(__file__).parents[3] / "conformance/recorded/paddle" / model
    report = gradus.check(path, with_="paddle", runs=2)
    assert report.hidden is None and report.nodes
    assert max(output.relative for output in report.outputs) < 1e-5
    assert max(node.value.relative for node in report.nodes) < 1e-5


def test_values_that_paddle_overwrites_are_not_shown():
    pytest.importorskip("paddle")
    path = Path(__file__).parents[3] / "conformance/recorded/paddle/indexing.pir/model.json"
    report = gradus.check(path, with_="paddle", runs=2)
    assert report and max(node.value.relative for node in report.nodes) == 0
