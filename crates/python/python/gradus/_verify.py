"""Models that are compared: by runs, by a runtime, and by proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from . import _native
from ._check import CheckReport, ProofReport, RuntimeReport
from ._models import _opened
from ._models.base import sizes_of
from ._models.checks import proof_of
from .errors import UsageError

__all__ = ["check", "prove", "verify_proof"]


@overload
def check(
    a: Any,
    b: Any,
    *,
    with_: None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
    prove: bool = True,
) -> CheckReport: ...


@overload
def check(
    a: Any,
    b: Any = None,
    *,
    with_: str,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
) -> RuntimeReport: ...


def check(
    a: Any,
    b: Any = None,
    *,
    with_: str | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
    prove: bool = True,
) -> CheckReport | RuntimeReport:
    """Compares two models, or a model and a runtime, on random inputs.

    All outputs are compared bit for bit.

    Args:
        a: the model whose results are wanted: a `gradus.Model`, or a source
            that `gradus.load` opens.
        b: the model to compare; with `with_`, the one that the runtime
            runs, by default `a`.
        with_: the program that runs the second model: `"onnxruntime"`,
            `"openvino"`, `"paddle"`, or `"cmd:"` and a command line; by
            default Gradus.
        dims: numbers for symbols of the inputs' shapes, by name.
        shapes: shapes of inputs by name, in place of the declared ones.
        values: inputs by name that are the same in all runs.
        runs: the number of runs that are compared.
        seed: the seed of the random inputs.
        prove: take up to 10 seconds to prove outputs of two models the same
            for all inputs and sizes: no run compares these.

    Returns:
        The report of `gradus.Model.check`, or with `with_` that of
        `gradus.Model.check_in`. It is true if nothing differs.

    Raises:
        UsageError: if neither a second model nor a runtime is given.
        GradusError: if a model fails in a run.

    Example:
        >>> import gradus
        >>> bool(gradus.check("examples/heads.onnx", with_="onnxruntime"))
        True
    """
    first = _opened(a)
    if with_ is not None:
        second = None if b is None else _opened(b)
        return first.check_in(with_, second, dims, shapes=shapes, values=values, runs=runs, seed=seed)
    if b is None:
        raise UsageError.mismatch("the second model", "None", "a model, or a runtime in with_")
    return first.check(_opened(b), dims, shapes=shapes, values=values, runs=runs, seed=seed, prove=prove)


def prove(
    a: Any,
    b: Any,
    dims: Mapping[str, int] | None = None,
    *,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    seconds: float = 30,
    seed: int = 1,
    certificate: bool = False,
    up_to: Literal["bits", "order", "rounding"] = "bits",
) -> ProofReport:
    """Proves that two models return the same bits for all inputs and sizes.

    Where there is no proof, runs look for inputs for which they differ.

    Args:
        a: a `gradus.Model`, or a source that `gradus.load` opens.
        b: the other model, alike.
        dims: numbers for symbols of the inputs' shapes, by name.
        shapes: shapes of inputs by name, in place of the declared ones.
        seconds: the time of the runs that look for a difference.
        seed: the seed of the random inputs of these runs.
        certificate: whether the report has the steps of a proof.
        up_to: what equal outputs may differ in: nothing, the order of sums,
            or rounding of floats.

    Returns:
        The report of `gradus.Model.prove`, which is true if the models are
        proved to be the same.

    Raises:
        UsageError: if a symbol or an input has no such name.

    Example:
        >>> import gradus
        >>> model = "examples/heads.onnx"
        >>> bool(gradus.prove(model, model))
        True
    """
    return _opened(a).prove(
        _opened(b), dims, shapes=shapes, seconds=seconds, seed=seed, certificate=certificate, up_to=up_to
    )


def verify_proof(
    a: Any,
    b: Any,
    certificate: str,
    dims: Mapping[str, int] | None = None,
    *,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    up_to: Literal["bits", "order", "rounding"] = "bits",
) -> ProofReport:
    """Replays the certificate of a proof that two models return the same bits.

    Nothing is searched, and nothing that the certificate says is believed.

    Args:
        a: a `gradus.Model`, or a source that `gradus.load` opens.
        b: the other model, alike.
        certificate: the steps, as the report of `gradus.prove` or a file of
            `gradus prove --certificate` has them.
        dims: numbers for symbols, as in the proof.
        shapes: shapes of inputs, as in the proof.
        up_to: what equal outputs may differ in, as in the proof.

    Returns:
        A report, which is true.

    Raises:
        ArgumentError: if the certificate is refused, with its line: of
            other models, sizes or another version of Gradus, or changed.

    Example:
        >>> import gradus
        >>> model = gradus.load("examples/heads.onnx")
        >>> steps = model.prove(model, certificate=True).certificate
        >>> gradus.verify_proof(model, model, steps).laws
        {'transpose': 1, 'view': 1}
    """
    models = (_opened(a)._native, _opened(b)._native)
    return proof_of(_native._verify_proof(models, certificate, sizes_of(dims, shapes), up_to))
