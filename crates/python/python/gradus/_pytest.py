"""The plugin of pytest: a fixture that keeps what is known of models beside the tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from . import _models


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option by which the files are written."""
    group = parser.getgroup("gradus")
    group.addoption("--gradus-update", action="store_true", help="write what model_snapshot keeps of models")


def _known(model: _models.Model, dims: dict[str, int] | None) -> dict[str, Any]:
    """What the file of a model has."""
    inference, cost = model.infer(dims), model.cost(dims)
    return {
        "inputs": {name: str(of) for name, of in model.inputs.items()},
        "outputs": {name: str(inference[name]) for name in model.outputs},
        "conditions": [str(condition) for condition in inference.conditions],
        "parameters": cost.total.parameters,
        "macs": str(cost.total.macs),
        "operations": str(cost.total.operations),
        "peak": str(cost.peak_bytes),
    }


@pytest.fixture
def model_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that fails if a model has other inputs, outputs, conditions or costs than its file says."""
    count = 0

    def check(model: Any, dims: dict[str, int] | None = None) -> None:
        __tracebackhide__ = True
        nonlocal count
        count += 1
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{request.path.stem}.{request.node.name}.{count}")
        file = request.path.parent / "model_snapshots" / f"{name}.json"
        known = json.dumps(_known(_models._opened(model), dims), indent=1) + "\n"
        if request.config.getoption("--gradus-update"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(known, encoding="utf-8")
            return
        if not file.exists():
            pytest.fail(f"{file} does not exist: pytest --gradus-update writes it")
        kept = json.loads(file.read_text(encoding="utf-8"))
        assert json.loads(known) == kept, f"the model is not what {file.name} says; pytest --gradus-update writes it"

    return check
