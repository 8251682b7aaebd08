"""Types of the values of a model, and the result of inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _html
from ._native import Dim

__all__ = ["Condition", "Inference", "MapType", "OptionalType", "SequenceType", "TensorType", "Type", "UnknownType"]


@dataclass(frozen=True)
class TensorType:
    """The type of a tensor, as far as it is known.

    Attributes:
        dtype: the name of the element type: `float32`; `None` if unknown.
        shape: the sizes: integers, and expressions of symbols; `None` if
            the rank is unknown.
        elements: the elements of a small integer tensor in row-major order,
            if something is known about them.
    """

    dtype: str | None
    shape: tuple[int | Dim | str | None, ...] | None
    elements: tuple[int | Dim, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype or '?'}[...]"
        return f"{self.dtype or '?'}[{', '.join('?' if dim is None else str(dim) for dim in self.shape)}]"


@dataclass(frozen=True)
class SequenceType:
    """The type of a list of values, as far as it is known.

    Attributes:
        each: the type of its values.
        length: the number of values.
    """

    each: Type
    length: int | Dim | None = None

    def __str__(self) -> str:
        return f"sequence of {self.length or ''} {self.each}".replace("  ", " ")


@dataclass(frozen=True)
class OptionalType:
    """The type of a value that may be missing, as far as it is known.

    Attributes:
        value: the type of the value.
        present: whether it is there; `None` if unknown.
    """

    value: Type
    present: bool | None = None

    def __str__(self) -> str:
        return f"optional {self.value}"


@dataclass(frozen=True)
class MapType:
    """The type of a map, as far as it is known.

    Attributes:
        key: the name of the type of keys.
        dtype: the name of the type of values.
    """

    key: str | None = None
    dtype: str | None = None

    def __str__(self) -> str:
        return f"map from {self.key or '?'} to {self.dtype or '?'}"


@dataclass(frozen=True)
class UnknownType:
    """The type of a value of which nothing is known."""

    def __str__(self) -> str:
        return "?"


Type = TensorType | SequenceType | OptionalType | MapType | UnknownType


@dataclass(frozen=True)
class Condition:
    """A condition that inputs must meet.

    Attributes:
        text: the condition in words.
        node: the node that needs it, `"the inputs"` or `"the options"`.
        why: `"run"` if a run fails without it; `"declared"` if the model or
            the caller says so and no run checks it; `"taken"` if inference
            assumes it.
        decided: true if sizes, or elements of inputs, decide it.
        when: the conditions under which it applies; `None` if its node may
            not run and sizes do not tell.
        elements: an input, and the numbers between which its elements must
            lie, if the condition says that.
        among: the numbers one of which a size or an element must be, if the
            condition says that of two or more (`sr in {8000, 16000}`).

    Example:
        >>> import gradus
        >>> model = gradus.load("examples/positions.onnx")
        >>> model.infer().conditions[0].text
        'seq <= 16777216'
    """

    text: str
    node: str
    why: str
    decided: bool
    when: list[str] | None
    elements: tuple[str, int | Dim, int | Dim] | None = None
    among: list[int] | None = None

    def __str__(self) -> str:
        return self.text


class Inference(Mapping[str, Type]):
    """The result of inference: a mapping from names of values to types.

    Attributes:
        reasons: by name of a value, why its type is not known in full.
        conditions: conditions that inputs must meet, the narrowest first.
        assumptions: the same, as pairs of the node and a sentence.
        warnings: declared shapes that are wrong: the value, and a sentence.
        problems: contradictions: the place, and a sentence.
        peak_bytes: maximum bytes of the values that are needed at one time.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._types: dict[str, Type] = found["types"]
        self.reasons: dict[str, str] = found["reasons"]
        self.conditions: list[Condition] = [Condition(*of) for of in found["conditions"]]
        self.assumptions: list[tuple[str, str]] = [(of.node, of.text) for of in self.conditions]
        self.warnings: list[tuple[str, str]] = found["warnings"]
        self.problems: list[tuple[str, str]] = found["problems"]
        self.peak_bytes: int | Dim | None = found["peak_bytes"]

    def __getitem__(self, name: str) -> Type:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {of}" for name, of in self._types.items())

    def _repr_html_(self) -> str:
        problems = _html.notes(f"{place}: {text}" for place, text in self.problems)
        rows = ([name, str(of), self.reasons.get(name)] for name, of in self._types.items())
        values = _html.table(["value", "type", "not known, because"], rows, f"{len(self)} values")
        return problems + values + _html.notes(f"{of.why}: {of.text} ({of.node})" for of in self.conditions)
