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
    """A sum of costs of nodes; `None` for a sum that exceeds 64 bits.

    Attributes:
        nodes: the number of nodes.
        parameters: elements of constants.
        macs: multiplications with an addition.
        operations: other elementary operations.
        arithmetic: those that are sums, products, quotients, signs,
            roundings, conversions or logical.
        comparisons: those that are comparisons, minima, maxima, selections
            or look-ups.
        transcendentals: exponentials, logarithms, powers, roots,
            trigonometric, hyperbolic and error functions.
        bytes_read: bytes of the inputs of each node.
        bytes_written: bytes of the outputs of each node.
        intensity: operations per byte that is read or written, where a MAC
            is two; `None` unless all sums are numbers.
        uncounted: nodes missing in `macs` and `operations`, as their
            operators are not counted.
        unsized: nodes missing in the bytes, as the size of a value is
            unknown.
    """

    nodes: int
    parameters: int
    macs: int | Dim | None
    operations: int | Dim | None
    arithmetic: int | Dim | None
    comparisons: int | Dim | None
    transcendentals: int | Dim | None
    bytes_read: int | Dim | None
    bytes_written: int | Dim | None
    intensity: float | None
    uncounted: int
    unsized: int


@dataclass(frozen=True)
class NodeCost:
    """The cost of a node; `None` for what is not counted or unknown.

    Attributes:
        node: its name, or its index in the graph.
        operator: its operator.
        parameters: elements of the constants that no node before it reads.
        macs: multiplications with an addition.
        operations: other elementary operations.
        arithmetic: operations of the class of that name in
            `gradus.Amounts`.
        comparisons: operations of the class of that name.
        transcendentals: operations of the class of that name.
        bytes_read: bytes of its inputs.
        bytes_written: bytes of its outputs.
        intensity: operations per byte that is read or written.
        uncounted: why `macs` and `operations` are not counted; `None` if
            they are.
    """

    node: str
    operator: str
    parameters: int
    macs: int | Dim | None
    operations: int | Dim | None
    arithmetic: int | Dim | None
    comparisons: int | Dim | None
    transcendentals: int | Dim | None
    bytes_read: int | Dim | None
    bytes_written: int | Dim | None
    intensity: float | None
    uncounted: str | None


@dataclass(frozen=True)
class Fit:
    """The largest size at which a model fits into memory.

    Attributes:
        symbol: the symbol.
        most: its largest number that fits; `None` if not even the smallest
            does.
        bytes: bytes that are needed at that number, or at the smallest one.
        limit: the condition that the next number violates though it fits,
            and its node; `None` if it does not fit.
        sizes: the numbers of other symbols, at that number.
    """

    symbol: str
    most: int | None
    bytes: int
    limit: tuple[str, str] | None = None
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A range of bytes of an arena.

    Attributes:
        node: the node that computes the value, or that runs graphs.
        value: the value; `None` for the values within the graphs that the
            node runs.
        shares: the value whose bytes this value shares.
        offset: the first byte.
        bytes: the number of bytes.
        first: the first step of the run at which the bytes are needed.
        last: the last such step.
    """

    node: str
    value: str | None
    shares: str | None
    offset: int
    bytes: int
    first: int
    last: int


class MemoryPlan:
    """The offsets of values in one arena.

    Attributes:
        bytes: bytes of the arena.
        live: maximum bytes that are needed at one step: no arena is
            smaller.
        apart: bytes of all blocks together.
        alignment: the number of which each offset is a multiple.
        blocks: the values of nodes, and the memory of graphs within nodes,
            in the order of a run.
    """

    def __init__(self, found: tuple[int, int, int, int, list[tuple[Any, ...]]]) -> None:
        self.bytes: int = found[0]
        self.live: int = found[1]
        self.apart: int = found[2]
        self.alignment: int = found[3]
        self.blocks: list[Block] = [Block(*block) for block in found[4]]

    def __repr__(self) -> str:
        return f"<MemoryPlan: {self.bytes} bytes, {self.live} of them at one time, {len(self.blocks)} blocks>"

    def _repr_html_(self) -> str:
        rows = [[it.value or it.node, it.offset, it.bytes, it.first, it.last, it.shares] for it in self.blocks]
        caption = f"{self.bytes} bytes hold all values; {self.live} live at one time, and all take {self.apart}"
        return _html.table(["value", "offset", "bytes", "first", "last", "shares"], rows, caption)


class Cost:
    """The cost of a model.

    Attributes:
        total: the sum over all nodes of the main graph.
        nodes: the nodes of the main graph, in the order of a run.
        operators: sums by operator.
        groups: sums by the first components of the names of nodes.
        constants: bytes of all constants.
        inputs: bytes of the inputs.
        peak_bytes: maximum bytes of values of nodes at one time.
        peak_at: the node at which they are needed.
        peak_unknown: the number of values of unknown size, which the bound
            leaves out.
        in_place_bytes: the same maximum if outputs of elementwise nodes
            take the memory of an input of their size that no later node
            reads.
        in_place_at: the node at which they are needed.
        live: the bytes of the values that are needed at the peak, by name.
        fit: the largest size that fits, if `fit` was given.
        assumptions: assumptions under which the sizes hold: the node, and a
            sentence.
        warnings: declared shapes that are wrong: the value, and a sentence.
        problems: contradictions: the place, and a sentence.
    """

    def __init__(self, found: dict[str, Any], plan: Callable[[Mapping[str, int], int, bool], Any]) -> None:
        self._plan = plan
        self.total: Amounts = Amounts(**found["total"])
        self.nodes: list[NodeCost] = [NodeCost(*node) for node in found["nodes"]]
        self.operators: dict[str, Amounts] = {name: Amounts(**of) for name, of in found["operators"]}
        self.groups: dict[str, Amounts] = {name: Amounts(**of) for name, of in found["groups"]}
        self.constants: int = found["constants"]
        self.inputs: int | Dim | None = found["inputs"]
        self.peak_bytes: int | Dim | None = found["peak_bytes"]
        self.peak_at: str | None = found["peak_at"]
        self.peak_unknown: int = found["peak_unknown"]
        self.in_place_bytes: int | Dim | None = found["in_place_bytes"]
        self.in_place_at: str | None = found["in_place_at"]
        self.live: dict[str, int | Dim | None] = dict(found["live"])
        self.fit: Fit | None = found["fit"] and Fit(*found["fit"])
        self.assumptions: list[tuple[str, str]] = found["assumptions"]
        self.warnings: list[tuple[str, str]] = found["warnings"]
        self.problems: list[tuple[str, str]] = found["problems"]

    def plan(self, dims: Mapping[str, int] | None = None, *, alignment: int = 64, in_place: bool = False) -> MemoryPlan:
        """Gives each value an offset in one arena.

        Values that are needed at the same step never overlap.

        Args:
            dims: numbers of the symbols that have none yet.
            alignment: the number of which each offset is a multiple.
            in_place: let outputs of elementwise nodes take the memory of an
                input of their size that no later node reads.

        Returns:
            The plan, in bytes.

        Raises:
            UsageError: if a symbol has no number, or the alignment is 0.
            UnsupportedError: if the size of a value is unknown.

        Example:
            >>> import gradus
            >>> cost = gradus.load("examples/positions.onnx").cost()
            >>> plan = cost.plan({"batch": 8, "seq": 128})
            >>> plan.bytes, plan.live, len(plan.blocks)
            (2176, 2176, 6)
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
