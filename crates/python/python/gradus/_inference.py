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
    """The known facts about a tensor."""

    #: The name of the element type: ``float32``; ``None`` if it is not known.
    dtype: str | None
    #: The sizes: integers, and expressions of symbols; ``None`` if not even their number is known.
    shape: tuple[int | Dim | str | None, ...] | None
    #: The elements of a small tensor of whole numbers in row-major order, if something is known of them.
    elements: tuple[int | Dim, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype or '?'}[...]"
        return f"{self.dtype or '?'}[{', '.join('?' if dim is None else str(dim) for dim in self.shape)}]"


@dataclass(frozen=True)
class SequenceType:
    """The known facts about a list of values."""

    each: Type
    length: int | Dim | None = None

    def __str__(self) -> str:
        return f"sequence of {self.length or ''} {self.each}".replace("  ", " ")


@dataclass(frozen=True)
class OptionalType:
    """The known facts about a value that may be missing."""

    value: Type
    present: bool | None = None

    def __str__(self) -> str:
        return f"optional {self.value}"


@dataclass(frozen=True)
class MapType:
    """The known facts about values under keys: the types of both."""

    key: str | None = None
    dtype: str | None = None

    def __str__(self) -> str:
        return f"map from {self.key or '?'} to {self.dtype or '?'}"


@dataclass(frozen=True)
class UnknownType:
    """Nothing is known."""

    def __str__(self) -> str:
        return "?"


Type = TensorType | SequenceType | OptionalType | MapType | UnknownType


@dataclass(frozen=True)
class Condition:
    """A condition of a model: what must hold of its inputs.

    Examples:
        >>> import gradus
        >>> gradus.load("examples/positions.onnx").infer().conditions[0].text
        'seq <= 16777216'
    """

    #: The condition in words.
    text: str
    #: The node that needs it, ``"the inputs"`` or ``"the options"``.
    node: str
    #: ``"run"`` if a run fails without it, ``"declared"`` if the model or the caller says so and no run
    #: checks it, ``"taken"`` if inference takes it for granted.
    why: str
    #: True if sizes, or elements of inputs, decide it.
    decided: bool
    #: The conditions under which it applies; ``None`` if its node may not run and sizes do not tell.
    when: list[str] | None
    #: An input, and the numbers between which its elements must lie, if the condition says that.
    elements: tuple[str, int | Dim, int | Dim] | None = None

    def __str__(self) -> str:
        return self.text


class Inference(Mapping[str, Type]):
    """The result of inference: a mapping from the names of a model's values to their types."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._types: dict[str, Type] = found["types"]
        #: By name of a value: why its type is not known in full.
        self.reasons: dict[str, str] = found["reasons"]
        #: What must hold of inputs, the narrowest conditions first.
        self.conditions: list[Condition] = [Condition(*of) for of in found["conditions"]]
        #: The same as the node that needs it, and a sentence.
        self.assumptions: list[tuple[str, str]] = [(of.node, of.text) for of in self.conditions]
        #: Declared shapes that are wrong: the value, and a sentence.
        self.warnings: list[tuple[str, str]] = found["warnings"]
        #: Contradictions: the place, and a sentence.
        self.problems: list[tuple[str, str]] = found["problems"]
        #: Bytes of all values that are needed at one time, at most.
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
