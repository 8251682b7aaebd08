"""What changes the bits that a runtime computes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _html, _native
from ._check import OutputCheck
from ._models import _opened
from ._models.base import sizes_of
from ._runtimes import RUNTIMES, must_be_known

__all__ = ["AuditReport", "InvarianceCheck", "RunPair", "audit"]


@dataclass(frozen=True)
class RunPair:
    """Two runs that should have the same bits, and have not.

    Attributes:
        first: the first run in words.
        second: the second run in words.
        rows: rows of the batch before some were dropped, and after.
        elements: elements of the inputs of the first run, and those of them
            that are not zero.
    """

    first: str
    second: str
    rows: tuple[int, int]
    elements: tuple[int, int]


@dataclass(frozen=True)
class InvarianceCheck:
    """An invariance and the pairs of runs that were compared for it.

    Attributes:
        name: `"runs"`, `"session"`, `"rows"`, `"place"`, `"batch"`,
            `"padding"`, `"chunks"`, `"threads"`, `"optimization"` or
            `"processor"`.
        status: `"holds"`; `"differs"`; `"inherent"` if the exact results of
            the pair differ too; `"unsteady"` if a run differs from itself;
            `"not applicable"`; or `"refused"` by the runtime.
        pairs: the number of pairs that were compared.
        reason: the reason of another status than `"holds"` and `"differs"`.
        outputs: the outputs that were compared in the first pair that
            differs.
        uncompared: outputs that were not compared, with the reason.
        first: the first node that differs, in words, and its value.
        hidden: why no first node is known, if the runtime does not show it.
        pair: the smallest pair that was found.
    """

    name: str
    status: str
    pairs: int
    reason: str | None
    outputs: list[OutputCheck]
    uncompared: list[tuple[str, str]]
    first: tuple[str, str] | None
    hidden: str | None
    pair: RunPair | None


@dataclass(frozen=True)
class AuditReport:
    """The result of `gradus.audit`.

    It is true if no invariance differs.

    Attributes:
        batch: the dimension that counts rows, if there is one.
        holds: true if no pair of runs has a difference that the exact
            results do not have.
        checks: the invariances.
    """

    batch: str | None
    holds: bool
    checks: list[InvarianceCheck]

    def __bool__(self) -> bool:
        return self.holds

    def __getitem__(self, name: str) -> InvarianceCheck:
        """The check of an invariance."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def _repr_html_(self) -> str:
        def row(check: InvarianceCheck) -> list[Any]:
            differing = ", ".join(output.name for output in check.outputs if output.differing or output.types)
            first = "" if check.first is None else check.first[0]
            return [check.name, check.status, check.pairs, differing, first, check.reason]

        heads = ["invariance", "result", "pairs", "outputs that differ", "first node", "reason"]
        return _html.table(heads, [row(check) for check in self.checks], f"rows: {self.batch}", len(self.checks))


def audit(
    model: Any,
    with_: str,
    *,
    only: Sequence[str] | None = None,
    batch: str | None = None,
    mask: str | None = None,
    rows: int = 8,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 3,
    seed: int = 1,
    save_case: str | os.PathLike[str] | None = None,
) -> AuditReport:
    """Finds what changes the bits that a runtime computes.

    Pairs of runs that should have the same bits are compared: a row
    beside other rows of the batch, at another index, in a batch of
    another size; a sequence with padding, or in chunks; other numbers of
    threads; and so on.

    Args:
        model: a `gradus.Model`, or a source that `gradus.load` opens, in a
            file.
        with_: the program that runs it: `"gradus"`, `"onnxruntime"`,
            `"openvino"`, `"paddle"`, or `"cmd:"` and a command line, as of
            `gradus audit --with`.
        only: names of the invariances; by default all.
        batch: the dimension that counts rows; by default one that inputs
            and outputs share.
        mask: the input that is 1 for elements and 0 for padding; by default
            one whose name has the word `mask`.
        rows: the largest number of rows of a batch.
        dims: numbers for symbols of the inputs' shapes, by name.
        shapes: shapes of inputs by name, in place of the declared ones.
        values: inputs by name that are the same in all runs.
        runs: the number of draws of random inputs.
        seed: the seed of the random inputs.
        save_case: a folder: the smallest pair of each invariance that
            differs is saved in a folder of its name there.

    Returns:
        The report, which is true if nothing differs.

    Raises:
        UnsupportedError: if the runtime is not installed or does not run
            the model, or the model is not in a file.
        UsageError: if an argument names what is not known.

    Example:
        >>> import gradus
        >>> report = gradus.audit("examples/heads.onnx", "gradus")
        >>> bool(report), report["batch"].status
        (True, 'holds')
    """
    must_be_known(with_, ("gradus", *RUNTIMES))
    named, numbers = (batch, mask), (rows, runs, seed)
    found = _native._audit(
        _opened(model)._native,
        with_,
        sizes_of(dims, shapes),
        dict(values or {}),
        None if only is None else list(only),
        named,
        numbers,
        save_case,
    )
    axis, holds, checks = found
    return AuditReport(axis, holds, [_checked(*check) for check in checks])


def _checked(
    name: str,
    status: str,
    pairs: int,
    reason: str | None,
    outputs: list[tuple[Any, ...]],
    uncompared: list[tuple[str, str]],
    first: tuple[str, str] | None,
    hidden: str | None,
    pair: tuple[Any, ...] | None,
) -> InvarianceCheck:
    compared = [OutputCheck(*output) for output in outputs]
    smallest = None if pair is None else RunPair(*pair)
    return InvarianceCheck(name, status, pairs, reason, compared, uncompared, first, hidden, smallest)
