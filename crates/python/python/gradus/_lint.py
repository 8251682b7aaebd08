"""What lint finds in a model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """A finding of `gradus.Model.lint`.

    Attributes:
        code: the code of its rule: `"GR102"`.
        rule: the name of its rule: `"single-size"`.
        severity: `"note"`, `"warning"` or `"error"`.
        place: where it is, in words: `'node "scores" (MatMul)'`.
        message: the finding, a sentence.
    """

    code: str
    rule: str
    severity: str
    place: str
    message: str
