"""What a model costs: parameters, operations, bytes and memory, as formulas of its dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _html
from ._native import Dim

__all__ = ["Amounts", "Block", "Cost", "Fit", "MemoryPlan", "NodeCost"]


@dataclass(frozen=True)
class Amounts:
    """A sum of costs of nodes; ``None`` for a sum that exceeds 64 bits."""

    #: The number of nodes.
    nodes: int
    #: Elements of constants.
    parameters: int
    #: Multiplications with an addition.
    macs: int | Dim | None
    #: Other elementary operations.
    operations: int | Dim | None
    #: Those that are sums, products, quotients, signs, roundings, conversions or logical.
    arithmetic: int | Dim | None
    #: Those that are comparisons, minima, maxima, selections or look-ups.
    comparisons: int | Dim | None
    #: Exponentials, logarithms, powers, roots, trigonometric, hyperbolic and error functions.
    transcendentals: int | Dim | None
    #: Bytes of the inputs of each node.
    bytes_read: int | Dim | None
    #: Bytes of the outputs of each node.
    bytes_written: int | Dim | None
    #: Operations for each byte that is read or written, of which a MAC is two; ``None`` unless all
    #: sums are numbers.
    intensity: float | None
    #: Nodes that are missing in ``macs`` and ``operations``, as their operators are not counted.
    uncounted: int
    #: Nodes that are missing in the bytes, as the size of a value is not known.
    unsized: int


@dataclass(frozen=True)
class NodeCost:
    """The cost of one node; ``None`` for what is not counted or not known."""

    #: Its name, or its place in the graph.
    node: str
    operator: str
    #: Elements of the constants that it reads and no node before it does.
    parameters: int
    macs: int | Dim | None
    operations: int | Dim | None
    #: The classes of operations, as in :class:`Amounts`.
    arithmetic: int | Dim | None
    comparisons: int | Dim | None
    transcendentals: int | Dim | None
    bytes_read: int | Dim | None
    bytes_written: int | Dim | None
    #: Operations for each byte, as in :class:`Amounts`.
    intensity: float | None
    #: Why ``macs`` and ``operations`` are not counted; ``None`` if they are.
    uncounted: str | None


@dataclass(frozen=True)
class Fit:
    """The largest size at which a model fits a memory."""

    #: The symbol.
    symbol: str
    #: Its largest number that fits; ``None`` if not even the smallest does.
    most: int | None
    #: Bytes that are needed at that number, or at the smallest one.
    bytes: int
    #: The condition that the next number does not meet though it fits, and its node; ``None`` where it
    #: does not fit.
    limit: tuple[str, str] | None = None
    #: The numbers of other symbols without a number, at that number.
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A range of bytes of an arena."""

    #: The node that makes the value, or that runs graphs.
    node: str
    #: The value; ``None`` for the values within the graphs that the node runs.
    value: str | None
    #: The value of a node whose bytes this value shares.
    shares: str | None
    offset: int
    bytes: int
    #: The steps of the run at which the bytes are needed.
    first: int
    last: int


class MemoryPlan:
    """The offsets of values of nodes in one arena."""

    def __init__(self, found: tuple[int, int, int, int, list[tuple[Any, ...]]]) -> None:
        #: Bytes of the arena; the most that live at one step, below which no arena is; and those of all blocks together.
        self.bytes, self.live, self.apart = found[:3]
        #: The number of which each offset is a multiple.
        self.alignment = found[3]
        #: The values of nodes, and what graphs within nodes need, in the order of a run.
        self.blocks = [Block(*block) for block in found[4]]

    def __repr__(self) -> str:
        return f"<MemoryPlan: {self.bytes} bytes, {self.live} of them at one time, {len(self.blocks)} blocks>"

    def _repr_html_(self) -> str:
        rows = [[it.value or it.node, it.offset, it.bytes, it.first, it.last, it.shares] for it in self.blocks]
        caption = f"{self.bytes} bytes hold all values; {self.live} live at one time, and all take {self.apart}"
        return _html.table(["value", "offset", "bytes", "first", "last", "shares"], rows, caption)


class Cost:
    """The cost of a model."""

    def __init__(self, found: dict[str, Any], plan: Callable[[Mapping[str, int], int, bool], Any]) -> None:
        self._plan = plan
        #: The sum over all nodes of the main graph.
        self.total = Amounts(**found["total"])
        #: The nodes of the main graph, in the order of a run.
        self.nodes = [NodeCost(*node) for node in found["nodes"]]
        #: The sums by operator.
        self.operators = {name: Amounts(**of) for name, of in found["operators"]}
        #: The sums by the beginning of the names of nodes.
        self.groups = {name: Amounts(**of) for name, of in found["groups"]}
        #: Bytes of all constants.
        self.constants: int = found["constants"]
        #: Bytes of the inputs.
        self.inputs: int | Dim | None = found["inputs"]
        #: Bytes of values of nodes at one time, at most, and at which node.
        self.peak_bytes: int | Dim | None = found["peak_bytes"]
        self.peak_at: str | None = found["peak_at"]
        #: Values of unknown size, which the bound leaves out.
        self.peak_unknown: int = found["peak_unknown"]
        #: The same where outputs of elementwise nodes take the room of an input of their size that no later node needs.
        self.in_place_bytes: int | Dim | None = found["in_place_bytes"]
        self.in_place_at: str | None = found["in_place_at"]
        #: The bytes of the values that live at the peak.
        self.live: dict[str, int | Dim | None] = dict(found["live"])
        #: The largest size that fits, if ``fit`` was given.
        self.fit = found["fit"] and Fit(*found["fit"])
        #: Assumptions under which the sizes hold: the node that needs it, and a sentence.
        self.assumptions: list[tuple[str, str]] = found["assumptions"]
        #: Declared shapes that are wrong: the value, and a sentence.
        self.warnings: list[tuple[str, str]] = found["warnings"]
        #: Contradictions: the place, and a sentence.
        self.problems: list[tuple[str, str]] = found["problems"]

    def plan(self, dims: Mapping[str, int] | None = None, *, alignment: int = 64, in_place: bool = False) -> MemoryPlan:
        """Gives each value of a node its place in one arena, so that values that live at the same step never overlap.

        Args:
            dims: numbers of the symbols that have none yet.
            alignment: the number of which each offset is a multiple.
            in_place: let outputs of elementwise nodes take the room of an input of their size that no later node needs.

        Raises:
            UsageError: if a symbol has no number, or the alignment is 0.
            UnsupportedError: if the size of a value is not known.

        Example:
            >>> import gradus
            >>> gradus.load("examples/positions.onnx").cost().plan({"batch": 8, "seq": 128})
            <MemoryPlan: 2176 bytes, 2176 of them at one time, 6 blocks>
        """
        return MemoryPlan(self._plan(dims or {}, alignment, in_place))

    def __repr__(self) -> str:
        total = self.total
        return f"<Cost: {total.parameters} parameters, {total.macs} MACs, {total.operations} operations, {self.peak_bytes} bytes at most>"

    def _repr_html_(self) -> str:
        def row(name: str, of: Amounts) -> list[Any]:
            classes = [of.arithmetic, of.comparisons, of.transcendentals]
            return [name, of.nodes, of.parameters, of.macs, of.operations, *classes, of.bytes_read, of.bytes_written]

        heads = ["operator", "nodes", "parameters", "MACs", "operations", "arithmetic", "comparisons", "transcendentals"]
        heads += ["bytes read", "bytes written"]
        rows = [row("all", self.total), *(row(name, of) for name, of in self.operators.items())]
        peak = f"at most {self.peak_bytes} bytes of values at one time, at {self.peak_at}"
        if self.peak_unknown:
            peak += f", without {self.peak_unknown} of unknown size"
        return _html.table(heads, rows, peak) + _html.notes(f"{place}: {text}" for place, text in self.problems)
