"""Conditions of sizes, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from . import _native


class Decision(NamedTuple):
    """The answer to a condition: see :func:`decide`."""

    answer: Literal["true", "false", "unknown", "contradiction"]
    #: Names and numbers for which the condition fails, if it does.
    counterexample: dict[str, int] | None


def decide(
    condition: str,
    *,
    assume: Sequence[str] = (),
    ranges: Mapping[str, tuple[int, int | None]] | None = None,
    timeout: float | None = None,
) -> Decision:
    """Decides whether a condition holds for all integers that meet what is assumed.

    ``true`` stands on a proof, ``false`` on numbers for which both sides were evaluated. Where the condition divides by
    zero, it says nothing. docs/explanation/dims.md has the expressions that are read.

    Args:
        condition: two expressions with ``==``, ``!=``, ``<=``, ``>=``, ``<`` or ``>`` between them.
        assume: conditions that hold.
        ranges: the smallest and the largest number of a name, ``None`` for no largest; other names are 0 and above.
        timeout: seconds after which ``unknown`` is the answer.

    Returns:
        The answer, and a counterexample if it is ``false``.

    Raises:
        ArgumentError: if a text is no condition.

    Example:
        >>> import gradus
        >>> gradus.decide("(n + 7)//8*8 >= n").answer
        'true'
        >>> gradus.decide("a*b >= a", ranges={"a": (0, None)})
        Decision(answer='false', counterexample={'a': 1, 'b': 0})
    """
    return Decision(*_native._decide(condition, list(assume), dict(ranges or {}), timeout))
