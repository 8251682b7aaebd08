"""The command of the package: the program ``gradus``, from the same module."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradus
from gradus.errors import UsageError

PROGRAM = Path(sys.executable).with_name("gradus")


def command(*arguments, program=(sys.executable, "-m", "gradus")):
    done = subprocess.run([*program, *arguments], capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def test_python_m_gradus_is_the_command():
    assert command("--version") == (0, f"gradus {gradus.__version__}\n", "")
    assert command("linspace", "0", "1/3", "3") == (0, "0.0\n0.16666666666666666\n0.3333333333333333\n", "")
    status, out, error = command("range", "0", "x", "1")
    assert (status, out) == (2, "") and error == 'error: STOP: "x" is not a number\n'


@pytest.mark.skipif(not PROGRAM.exists(), reason="the package is not installed in an environment")
def test_the_program_is_installed():
    assert command("range", "3", "5", "1", program=[str(PROGRAM)]) == (0, "3\n4\n", "")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int8"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("range", ("0", "1", "0.1")),
        ("range", ("-1/3", "7", "0.7")),
        ("linspace", ("0.1", "9.3", "7")),
        ("logspace", ("0.1", "1.9", "5")),
        ("geomspace", ("0.1", "100", "7")),
    ],
)
def test_the_command_gives_what_python_gives(function, arguments, dtype):
    *ends, last = arguments
    made = getattr(gradus, function)(*ends, last if function == "range" else int(last), dtype=dtype)
    printed = command(function, *arguments, "--dtype", dtype, "--json")[1]
    assert np.array(json.loads(printed)["data"]).astype(made.dtype).tobytes() == made.tobytes()


def plain(of):
    """Expressions as the command prints them."""
    if dataclasses.is_dataclass(of):
        of = {name: plain(value) for name, value in dataclasses.asdict(of).items()}
    return str(of) if isinstance(of, gradus.Dim) else of


@pytest.mark.parametrize("model", sorted(Path("examples").glob("*.onnx")), ids=lambda path: path.stem)
def test_cost_is_what_the_command_prints(model):
    cost = gradus.load(model).cost(depth=1)
    printed = json.loads(command("cost", str(model), "--depth", "1", "--json")[1])
    assert plain(cost.total) == printed["total"]
    for groups, name in [(cost.operators, "operators"), (cost.groups, "groups")]:
        assert {key: plain(of) for key, of in groups.items()} == printed[name]
    assert [plain(node) for node in cost.nodes] == printed["nodes"]
    memory = printed["memory"]
    assert [cost.constants, plain(cost.inputs), plain(cost.peak_bytes), cost.peak_at] == list(memory.values())[:4]
    assert [plain(cost.in_place_bytes), cost.in_place_at] == [memory["in_place_bytes"], memory["in_place_at"]]
    assert {name: plain(of) for name, of in cost.live.items()} == {each["value"]: each["bytes"] for each in memory["live"]}


def test_a_plan_is_what_the_command_prints():
    cost = gradus.load("examples/heads.onnx").cost({"batch": 8})
    plan = cost.plan({"seq": 16}, alignment=256)
    words = ["--dim", "batch=8", "--dim", "seq=16", "--plan", "--align", "256", "--json"]
    printed = json.loads(command("cost", "examples/heads.onnx", *words)[1])
    assert [plan.bytes, plan.live, plan.apart, plan.alignment] == list(printed.values())[1:5]
    assert [plain(block) for block in plan.blocks] == printed["blocks"]
    with pytest.raises(UsageError, match="expected a number"):
        cost.plan()
    with pytest.raises(UsageError, match="alignment"):
        cost.plan({"seq": 16}, alignment=0)


def test_the_largest_size_that_fits():
    model = gradus.load("examples/positions.onnx")
    fit = model.cost({"batch": 8}, fit=1 << 20).fit
    assert fit == gradus.Fit("seq", 13106, 1048508)
    assert model.cost({"batch": 8}, fit=1).fit.most is None
    with pytest.raises(UsageError, match="exactly one"):
        model.cost(fit=1 << 20)
