"""Reports of folding and of conversions."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import _html
from ._check import OutputCheck

__all__ = ["ConversionNote", "ConversionReport", "FoldReport", "Kept"]


@dataclass(frozen=True)
class Kept:
    """A node that computes shapes and stayed when a model was folded."""

    #: The node in words: ``node "length"``.
    node: str
    #: Its operator.
    operator: str
    #: Why it stayed.
    reason: str


@dataclass(frozen=True)
class FoldReport:
    """The changes that folding made to a model."""

    #: By operator: how many nodes there were in all graphs of the model, and how many there are.
    operators: dict[str, tuple[int, int]]
    #: Constants that were added.
    constants: int
    #: Bytes of these.
    constant_bytes: int
    #: Constants that went, because nothing reads them any more.
    dropped: int
    #: Conditions that were known, so that the branch stands in place of If, and Loops of one iteration.
    inlined: int
    #: Types of values that were added, or that say more than before.
    declared: int
    #: Nodes that read a weight which was computed and is a constant now: runtimes may pack it, and
    #: choose another kernel.
    weights: list[str]
    #: Nodes that compute shapes and stayed.
    kept: list[Kept]
    #: Conditions under which the folded model is the same: where each was assumed, and a sentence.
    assumptions: list[tuple[str, str]]
    #: Contradictions in the model: the place, and a sentence.
    problems: list[tuple[str, str]]
    #: Random numbers that symbols stood for, and values that were the same before and after;
    #: ``None`` for ``verify=False``.
    verified: tuple[int, int] | None = None
    #: Runs of both models on random inputs, and elements of outputs that were compared;
    #: ``None`` if the model could not be run.
    ran: tuple[int, int] | None = None
    #: The sizes of these runs: ``"1"``, ``"unequal"``, ``"n = 0"``.
    sizes: list[str] = field(default_factory=list)
    #: Why outputs were not compared, if they were not.
    not_compared: str | None = None
    #: Floats of a run on random inputs that were compared, and their largest difference, in units
    #: in the last place and as a part of the largest float; ``None`` if no rule may change floats,
    #: or no run was possible.
    measured: tuple[int, int, float] | None = None
    #: The same of each output, by name.
    measured_outputs: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    #: Outputs that ONNX Runtime computes otherwise of the folded model; ``None`` if it was not
    #: asked for.
    differing: list[OutputCheck] | None = None

    @property
    def nodes(self) -> tuple[int, int]:
        """The number of nodes before and after."""
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
    """A node whose meaning a conversion does not keep bit for bit."""

    #: The node in words: ``node "pos"``.
    node: str
    #: Its operator, as its standard names it: ``onnx Range-11``.
    operator: str
    #: The exception to exactness: ``"rounding"`` or ``"edge cases"``.
    kept: str
    #: Why, in a sentence.
    why: str


@dataclass(frozen=True)
class ConversionReport:
    """The report of a conversion."""

    #: Nodes that were converted, those of inner graphs included.
    nodes: int
    #: Nodes that are not kept bit for bit; all others are.
    notes: list[ConversionNote]
    #: Facts about the model that the other format cannot express.
    lost: list[str]
    #: Runs of both models on random inputs, elements of outputs that are the same bits, and outputs
    #: of which only types were compared, as nodes are not exact; ``None`` if there was no run.
    ran: tuple[int, int, int] | None = None
    #: The sizes of these runs: ``"1"``, ``"unequal"``, ``"n = 0"``.
    sizes: list[str] = field(default_factory=list)
    #: Why outputs were not compared, if they were not.
    not_compared: str | None = None

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
