"""Assertions about models, and test cases of operators, for tests.

Where the package is installed, pytest has the fixture `model_snapshot`
too: it keeps the inputs, outputs, conditions and costs of a model in a
file beside the test, and `--gradus-update` writes these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _models, _native, _verify

__all__ = ["Case", "assert_exact", "assert_same", "cases"]


@dataclass(frozen=True)
class Case:
    """A test case of an operator.

    Attributes:
        name: its name: `"test_softmax_0000"`.
        model: a model of one node.
        inputs: the inputs of the model, by name.
        outputs: the exact outputs, by name.
    """

    name: str
    model: _models.Model
    inputs: dict[str, Any]
    outputs: dict[str, Any]


def cases(operator: str, count: int = 100, *, seed: int = 1, opset: int | None = None) -> list[Case]:
    """Makes test cases of an operator, with hard inputs and exact outputs.

    Attributes, types and shapes are random combinations that the operator
    takes. Among the elements are NaN, infinities, -0, subnormals, ties and
    the ends of integers, among sizes 0 and 1. Sums are rounded once.

    Args:
        operator: the name of an operator of ONNX, in other domains with its
            domain: `"ai.onnx.ml.Scaler"`.
        count: the number of cases.
        seed: the seed of all that is random; the first cases are the same
            for any number of cases.
        opset: the operator set; by default the first that has the newest
            version of the operator.

    Returns:
        The cases.

    Raises:
        UsageError: if the operator set has no operator of that name.
        UnsupportedError: if no random nodes of the operator run, or its
            outputs are random.

    Example:
        >>> from gradus.testing import cases
        >>> case = cases("Softmax", 3)[0]
        >>> case.name, list(case.outputs)
        ('test_softmax_0000', ['out0'])
    """
    made = _native._cases(operator, count, seed, opset)
    return [Case(name, _models.Model(model), inputs, outputs) for name, model, inputs, outputs in made]


def assert_same(
    a: Any, b: Any, dims: Mapping[str, int] | None = None, *, seconds: float = 10
) -> None:
    """Fails if two models return other bits for some inputs.

    What is not proved for all inputs and sizes is compared in runs.

    Args:
        a: the first model, or the path of its file.
        b: the second model, or the path of its file.
        dims: numbers for symbols of inputs, by name.
        seconds: the time of runs where there is no proof.

    Raises:
        AssertionError: if a run shows a difference, or if there is
            neither a proof nor a run.

    Example:
        >>> from gradus.testing import assert_same
        >>> assert_same("examples/heads.onnx", "examples/heads.onnx")
    """
    __tracebackhide__ = True
    report = _verify.prove(a, b, dims, seconds=seconds)
    if report.verdict == "different":
        raise AssertionError(f"outputs differ: {', '.join(report.differing)}")
    if report.verdict == "undecided" and report.runs == 0:
        raise AssertionError(f"neither proved nor compared: {report.reason or 'no run was made'}")


def assert_exact(
    model: Any, runtime: str, dims: Mapping[str, int] | None = None, *, max_ulp: int = 0, runs: int = 5
) -> None:
    """Fails if a runtime is further from the exact results than allowed.

    Args:
        model: the model, or the path of its file.
        runtime: `"onnxruntime"`, `"openvino"`, `"paddle"`, or `"cmd:"` and
            a command line, as of `gradus.Model.check_in`.
        dims: numbers for symbols of inputs, by name.
        max_ulp: units in the last place that an output may be away.
        runs: the number of runs on random inputs.

    Raises:
        AssertionError: if an output is further away, or has another type
            or shape.

    Example:
        >>> from gradus.testing import assert_exact
        >>> assert_exact("examples/heads.onnx", "onnxruntime", runs=1)
    """
    __tracebackhide__ = True
    report = _models._opened(model).check_in(runtime, dims=dims, runs=runs)
    if report.runs == 0:
        raise AssertionError(f"{runtime} made no run: {report.refused or 'no reason is known'}")
    for output in report.outputs:
        if output.types is not None:
            raise AssertionError(f'output "{output.name}" is {output.types[1]}, expected {output.types[0]}')
        if output.differing and (output.ulps is None or output.ulps > max_ulp):
            away = "elements that are no neighbours" if output.ulps is None else f"elements {output.ulps} ulp away"
            raise AssertionError(f'output "{output.name}" has {away}, expected at most {max_ulp} ulp')
