"""Reports of folding and of conversions."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import _html
from ._check import OutputCheck

__all__ = ["ConversionNote", "ConversionReport", "FoldReport", "Kept"]


@dataclass(frozen=True)
class Kept:
    """A node that computes shapes and remains in a folded model.

    Attributes:
        node: the node in words: `node "length"`.
        operator: its operator.
        reason: why it remains.
    """

    node: str
    operator: str
    reason: str


@dataclass(frozen=True)
class FoldReport:
    """The changes that folding made to a model.

    Attributes:
        operators: by operator, the number of nodes before and after, in all
            graphs of the model.
        constants: the number of constants that were added.
        constant_bytes: their bytes.
        dropped: the number of constants that nothing reads any more.
        inlined: the number of branches in place of If, and of Loops of one
            iteration.
        declared: the number of types that were added or made more precise.
        weights: nodes that read a weight which was computed and is now a
            constant: runtimes may pack it, and choose another kernel.
        kept: nodes that compute shapes and remain.
        assumptions: conditions under which the folded model is the same:
            the place, and a sentence.
        problems: contradictions in the model: the place, and a sentence.
        verified: the numbers of random sizes and of values whose shapes
            were the same; `None` for `verify=False`.
        ran: the numbers of runs on random inputs and of elements that were
            compared; `None` if the model could not be run.
        sizes: the sizes of these runs: `"1"`, `"unequal"`, `"n = 0"`.
        not_compared: why outputs were not compared, if they were not.
        measured: for rules that change floats: the number that was
            compared, and their largest difference in units in the last
            place and as a part of the largest float.
        measured_outputs: the same of each output, by name.
        differing: outputs that ONNX Runtime computes differently for the
            folded model; `None` if it was not asked.
        proved: outputs by name, and whether they are proved to be the same
            for all inputs and sizes, for `level="fuse"` up to rounding;
            `None` for `verify=False`, and where proofs are not about the
            models.
        not_proved: why nothing is proved, if the proof did not end.
    """

    operators: dict[str, tuple[int, int]]
    constants: int
    constant_bytes: int
    dropped: int
    inlined: int
    declared: int
    weights: list[str]
    kept: list[Kept]
    assumptions: list[tuple[str, str]]
    problems: list[tuple[str, str]]
    verified: tuple[int, int] | None = None
    ran: tuple[int, int] | None = None
    sizes: list[str] = field(default_factory=list)
    not_compared: str | None = None
    measured: tuple[int, int, float] | None = None
    measured_outputs: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    differing: list[OutputCheck] | None = None
    proved: dict[str, bool] | None = None
    not_proved: str | None = None

    @property
    def nodes(self) -> tuple[int, int]:
        """The numbers of nodes before and after."""
        counts = self.operators.values()
        return sum(before for before, _ in counts), sum(after for _, after in counts)

    def __str__(self) -> str:
        before, after = self.nodes
        lines = [f"nodes {before} -> {after}, {self.constants} constants added ({self.constant_bytes} bytes)"]
        lines += [f"{name}: {b} -> {a}" for name, (b, a) in self.operators.items() if a != b]
        lines += [f"reads a weight that was computed: {node}" for node in self.weights]
        lines += [f"stayed: {kept.node} ({kept.operator}): {kept.reason}" for kept in self.kept]
        lines += [f"assumption: {message} ({place})" for place, message in self.assumptions]
        lines += [f"problem: {place}: {message}" for place, message in self.problems]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        before, after = self.nodes
        changed = ([name, b, a] for name, (b, a) in self.operators.items() if a != b)
        table = _html.table(["operator", "before", "after"], [["all", before, after], *changed])
        return table + _html.notes(str(self).splitlines()[1 + sum(a != b for b, a in self.operators.values()) :])


@dataclass(frozen=True)
class ConversionNote:
    """A node that a conversion does not keep bit for bit.

    Attributes:
        node: the node in words: `node "pos"`.
        operator: its operator, as its standard names it: `onnx Range-11`.
        kept: the exception to exactness: `"rounding"` or `"edge cases"`.
        why: the reason, a sentence.
    """

    node: str
    operator: str
    kept: str
    why: str


@dataclass(frozen=True)
class ConversionReport:
    """The report of a conversion.

    Attributes:
        nodes: the number of nodes, those of inner graphs included.
        notes: the nodes that are not kept bit for bit.
        lost: facts about the model that the other format cannot express.
        ran: the numbers of runs on random inputs, of elements that are the
            same bits, and of outputs of which only types were compared;
            `None` if there was no run.
        sizes: the sizes of these runs: `"1"`, `"unequal"`, `"n = 0"`.
        not_compared: why outputs were not compared, if they were not.
        proved: outputs by name, and whether they are proved to be the same
            for all inputs and sizes; `None` for `verify=False`, and where
            proofs are not about the models.
        not_proved: why nothing is proved, if the proof did not end.
    """

    nodes: int
    notes: list[ConversionNote]
    lost: list[str]
    ran: tuple[int, int, int] | None = None
    sizes: list[str] = field(default_factory=list)
    not_compared: str | None = None
    proved: dict[str, bool] | None = None
    not_proved: str | None = None

    @property
    def exact(self) -> bool:
        """True if all nodes give the same bits."""
        return not self.notes

    def __str__(self) -> str:
        lines = [f"nodes {self.nodes}: {len({note.node for note in self.notes})} not kept bit for bit"]
        lines += [f"{note.kept}: {note.node} ({note.operator}): {note.why}" for note in self.notes]
        lines += [f"not kept: {what}" for what in self.lost]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = ([note.node, note.operator, note.kept, note.why] for note in self.notes)
        table = _html.table(["node", "operator", "kept", "why"], rows, str(self).splitlines()[0])
        return table + _html.notes(f"not kept: {what}" for what in self.lost)
