"""What lint finds in a model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """A finding of ``gradus.Model.lint``; docs/lint.md has all rules."""

    #: The code of its rule: ``"GR102"``.
    code: str
    #: The name of its rule: ``"single-size"``.
    rule: str
    #: ``"note"``, ``"warning"`` or ``"error"``.
    severity: str
    #: Where it is, in words: ``'node "scores" (MatMul)'``.
    place: str
    #: What is found there.
    message: str
