"""What differs when two models run on the same inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import _html

__all__ = ["CheckReport", "NodeCheck", "OutputCheck", "RuntimeReport"]


@dataclass(frozen=True)
class OutputCheck:
    """The comparison of an output over all runs.

    Attributes:
        name: the name in the first model.
        elements: the number of elements that were compared.
        differing: the number of these that differ.
        ulps: the largest difference in units in the last place; `None` for
            NaN, text and complex numbers.
        relative: the largest difference, divided by the largest magnitude
            of the output in its run.
        first: the first element that differs: its index in row-major order,
            and both elements as text.
        types: the types of both models, where types or shapes differ.
    """

    name: str
    elements: int
    differing: int
    ulps: int | None
    relative: float
    first: tuple[int, str, str] | None
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
    """The result of `gradus.Model.check`.

    It is true if all outputs have the same types, shapes and bits.

    Attributes:
        runs: the number of runs that were compared.
        outputs: the outputs that runs compared, in the order of the first
            model.
        parting: the first value of both models that differs, and the nodes
            that compute it; `None` if no value of a common name differs.
        proved: outputs by name, and whether they are proved to be the same
            for all inputs and sizes, so that no run compares them; `None`
            for `prove=False`, and where proofs are not about the models.
        not_proved: why nothing is proved, if the proof did not end.
    """

    runs: int
    outputs: list[OutputCheck]
    parting: tuple[str, str, str] | None
    proved: dict[str, bool] | None = None
    not_proved: str | None = None

    def __bool__(self) -> bool:
        return all(output.differing == 0 and output.types is None for output in self.outputs)

    def _repr_html_(self) -> str:
        notes = ["the models part at {}: {} and {}".format(*self.parting)] if self.parting else []
        if self.proved:
            count = f"{sum(self.proved.values())} of {len(self.proved)}"
            notes.append(f"{count} outputs are proved to be the same for all inputs and sizes")
        outputs = ((output.name, output) for output in self.outputs)
        return _outputs("output", outputs, f"{self.runs} runs") + _html.notes(notes)


@dataclass(frozen=True)
class ProofReport:
    """The result of `gradus.Model.prove`.

    It is true if the models are proved to be the same.

    Attributes:
        verdict: `"equivalent"`, `"different"` or `"undecided"`.
        outputs: outputs by name, and whether they are proved to be the
            same.
        differing: the outputs that differ in a run.
        frontier: the pairs of values up to which everything is proved: name
            and term in each model, and how often the pair was met.
        assumptions: assumptions of the proof about sizes.
        runs: the number of runs that found no difference, where there is no
            proof.
        reason: why nothing is proved, where the models do not correspond.
        inputs: the inputs that the proof is about, with their types and the
            sizes that both models declare.
        conditions: further conditions without which a run of a model fails.
        readings: how operators of other standards than ONNX are read, where
            that is not the same to the bit.
        certificate: the steps of a proof, if they were asked for: a line of
            JSON each, which `gradus.verify_proof` replays.
        laws: the laws of these steps, and how often each was applied.
        up_to: what proved outputs may differ in: nothing (`"bits"`), the
            order of sums (`"order"`), or rounding (`"rounding"`).
    """

    verdict: str
    outputs: dict[str, bool]
    differing: list[str]
    frontier: list[tuple[tuple[str | None, str], tuple[str | None, str], int]]
    assumptions: list[str]
    runs: int
    reason: str | None
    inputs: list[str]
    conditions: list[str]
    readings: list[str]
    certificate: str | None
    laws: dict[str, int]
    up_to: str = "bits"

    def __bool__(self) -> bool:
        return self.verdict == "equivalent"


@dataclass(frozen=True)
class NodeCheck:
    """A value that a node computes in a runtime, next to the exact result.

    The exact result is that for the inputs that the runtime gave the node,
    so the difference is the node's own, and not that of the nodes before
    it.

    Attributes:
        node: the node in words, with its operator.
        value: the comparison of the value.
        label: `"exact"` for equal bits; `"rounding"` for errors that the
            arithmetic of the type allows, whatever order a program adds in;
            `"beyond"` for a larger error; `"unbounded"` where no bound is
            known.
        ratio: the largest error, divided by the error that is allowed.
        pattern: the cause of errors beyond the bound, if their pattern
            tells it: `"bfloat16"`, `"tf32"`, `"float16"`,
            `"flushed subnormals"`, `"not finite"` or `"other type"`.
        worst: the element of the largest ratio: its index in row-major
            order, the exact element, that of the runtime, and the error
            that is allowed.
    """

    node: str
    value: OutputCheck
    label: str
    ratio: float
    pattern: str | None
    worst: tuple[int, str, str, float] | None


def _judged(node: NodeCheck) -> list[Any]:
    label = f"{node.label}: {node.pattern}" if node.pattern else node.label
    ratio = None if node.label == "unbounded" else f"{node.ratio:.2g}"
    worst = "{}: {} for {}".format(node.worst[0], node.worst[2], node.worst[1]) if node.worst else None
    return [node.node, label, ratio, node.value.differing, node.value.ulps, worst]


@dataclass(frozen=True)
class RuntimeReport:
    """The result of `gradus.Model.check_in`.

    It is true if all outputs have the same types, shapes and bits.

    Attributes:
        runs: the number of runs that were compared.
        outputs: the outputs in the order of the first model.
        nodes: the values that nodes compute, those beyond their bound
            first, each label by the largest ratio.
        hidden: why the runtime did not show these values, if a run did not.
        refused: the error of the last run that the runtime refused, and
            that was not compared.
        first_beyond: the first node beyond its bound, in words, and the
            name of its value.
    """

    runs: int
    outputs: list[OutputCheck]
    nodes: list[NodeCheck]
    hidden: str | None
    refused: str | None
    first_beyond: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        return all(output.differing == 0 and output.types is None for output in self.outputs)

    def _repr_html_(self) -> str:
        different = [node for node in self.nodes if node.label != "exact"]
        outputs = _outputs("output", ((output.name, output) for output in self.outputs), f"{self.runs} runs")
        heads = ["node alone", "label", "error/bound", "differ", "largest, in ulp", "worst element"]
        caption = f"{len(different)} of {len(self.nodes)} values of nodes differ"
        table = _html.table(heads, [_judged(node) for node in different], caption, 20)
        first = "first beyond its bound: {}, value {}".format(*self.first_beyond) if self.first_beyond else None
        return outputs + table + _html.notes([text for text in (first, self.hidden, self.refused) if text])
