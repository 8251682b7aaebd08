"""What differs when two models run on the same inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import _html

__all__ = ["CheckReport", "NodeCheck", "OutputCheck", "RuntimeReport"]


@dataclass(frozen=True)
class OutputCheck:
    """The comparison of an output over all runs."""

    #: The name in the first model.
    name: str
    #: Elements that were compared, and how many of them differ.
    elements: int
    differing: int
    #: The largest difference in units in the last place; ``None`` of NaN, text and complex numbers.
    ulps: int | None
    #: The largest difference, as a part of the largest magnitude of the output in its run.
    relative: float
    #: The first element that differs: its index in row-major order, and what both models give, as text.
    first: tuple[int, str, str] | None
    #: The types of both models, where types or shapes differ.
    types: tuple[str, str] | None


def _outputs(heading: str, outputs: Iterable[tuple[str, OutputCheck]], caption: str, most: int = _html.MOST) -> str:
    def row(name: str, of: OutputCheck) -> list[Any]:
        first = "" if of.first is None else "{}: {} for {}".format(of.first[0], of.first[2], of.first[1])
        other = " and ".join(of.types or ())
        return [name, of.elements, of.differing, of.ulps, f"{of.relative:.1e}" if of.relative else None, other or first]

    heads = [heading, "elements", "differ", "largest, in ulp", "relative", "first difference"]
    return _html.table(heads, [row(name, of) for name, of in outputs], caption, most)


@dataclass(frozen=True)
class CheckReport:
    """The result of :meth:`gradus.Model.check`. It is true if all outputs have the same types, shapes and bits."""

    #: The runs that were compared.
    runs: int
    #: The outputs in the order of the first model.
    outputs: list[OutputCheck]
    #: The first value of both models that differs, and the nodes that compute it; ``None`` if no
    #: value of a common name does.
    parting: tuple[str, str, str] | None

    def __bool__(self) -> bool:
        return all(output.differing == 0 and output.types is None for output in self.outputs)

    def _repr_html_(self) -> str:
        parting = self.parting and "the models part at {}: {} and {}".format(*self.parting)
        outputs = ((output.name, output) for output in self.outputs)
        return _outputs("output", outputs, f"{self.runs} runs") + _html.notes([parting] if parting else [])


@dataclass(frozen=True)
class ProofReport:
    """The result of :meth:`gradus.Model.prove`. It is true if the models are proved to be the same."""

    #: ``"equivalent"``, ``"different"`` or ``"undecided"``.
    verdict: str
    #: Outputs by name, and whether they are proved to be the same.
    outputs: dict[str, bool]
    #: The outputs that differ in a run.
    differing: list[str]
    #: The pairs of values up to which all is proved: name and term in each model, and how often the pair was met.
    frontier: list[tuple[tuple[str | None, str], tuple[str | None, str], int]]
    #: What the proof takes for granted of sizes.
    assumptions: list[str]
    #: Runs that found no difference, where there is no proof.
    runs: int
    #: Why nothing is proved, where the models do not go together.
    reason: str | None

    def __bool__(self) -> bool:
        return self.verdict == "equivalent"


@dataclass(frozen=True)
class NodeCheck:
    """A value that a node computes in a runtime, beside the exact result for the inputs that the runtime gave the node: the
    difference is the node's own, and not that of the nodes before it."""

    #: The node in words, with its operator.
    node: str
    #: The comparison of the value.
    value: OutputCheck


@dataclass(frozen=True)
class RuntimeReport:
    """The result of :meth:`gradus.Model.check_in`. It is true if all outputs have the same types, shapes and bits."""

    #: The runs that were compared.
    runs: int
    #: The outputs in the order of the first model.
    outputs: list[OutputCheck]
    #: The values that nodes compute, the largest difference first.
    nodes: list[NodeCheck]
    #: Why the runtime did not show these values, if a run did not.
    hidden: str | None
    #: The error of the last run that the runtime refused, and that was not compared.
    refused: str | None

    def __bool__(self) -> bool:
        return all(output.differing == 0 and output.types is None for output in self.outputs)

    def _repr_html_(self) -> str:
        nodes = [(node.node, node.value) for node in self.nodes if node.value.differing or node.value.types]
        outputs = _outputs("output", ((output.name, output) for output in self.outputs), f"{self.runs} runs")
        caption = f"{len(nodes)} of {len(self.nodes)} values of nodes differ"
        errors = [text for text in (self.hidden, self.refused) if text]
        return outputs + _outputs("node alone", nodes, caption, 20) + _html.notes(errors)
