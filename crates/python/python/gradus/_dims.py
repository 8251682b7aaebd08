"""Conditions of sizes, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from . import _native


class Decision(NamedTuple):
    """The answer to a condition.

    Attributes:
        answer: `"true"`, `"false"`, `"unknown"` or `"contradiction"`.
        counterexample: numbers by name for which the condition fails;
            `None` if it does not fail.
    """

    answer: Literal["true", "false", "unknown", "contradiction"]
    counterexample: dict[str, int] | None


def decide(
    condition: str,
    *,
    assume: Sequence[str] = (),
    ranges: Mapping[str, tuple[int, int | None]] | None = None,
    timeout: float | None = None,
) -> Decision:
    """Decides whether a condition holds for all integers that are allowed.

    `true` rests on a proof, `false` on numbers for which both sides were
    evaluated. Where the condition divides by zero, nothing is claimed.
    `docs/explanation/dims.md` explains the expressions.

    Args:
        condition: two expressions with `==`, `!=`, `<=`, `>=`, `<` or `>`
            between them, or such that `and`, `or` and `not` join.
        assume: conditions that hold.
        ranges: by name, the smallest and the largest number; `None` for no
            largest. Other names are 0 and above.
        timeout: seconds after which the answer is `unknown`.

    Returns:
        The answer, and a counterexample if it is `false`.

    Raises:
        ArgumentError: if a text is not a condition.

    Example:
        >>> import gradus
        >>> gradus.decide("(n + 7)//8*8 >= n").answer
        'true'
        >>> gradus.decide("a*b >= a").counterexample
        {'a': 1, 'b': 0}
    """
    return Decision(*_native._decide(condition, list(assume), dict(ranges or {}), timeout))
