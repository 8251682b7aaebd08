"""Losses of quantized models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _html

__all__ = ["Loss", "QuantizationReport", "TensorLoss"]


@dataclass(frozen=True)
class Loss:
    """The difference of two tensors, over all runs.

    Attributes:
        elements: the number of elements.
        decibels: the ratio of signal to noise: 20 for each digit that is
            right, infinite where nothing is lost.
        largest: the largest difference of two elements.
    """

    elements: int
    decibels: float
    largest: float


@dataclass(frozen=True)
class TensorLoss:
    """The losses of one tensor in a quantized model.

    Attributes:
        name: the name of the tensor in the first model.
        kind: `"weight"`, `"activation"` or `"output"`.
        codes: the type of the codes; `None` where there are none.
        clipped: the number of elements beyond the smallest and the largest
            number that has a code; `None` for weights and outputs.
        own: the loss of this quantization alone: the tensor of the first
            model next to what its codes stand for; `None` for outputs.
        whole: the loss of all quantizations up to here: the tensor of the
            first model next to that of the second; `None` for weights.
    """

    name: str
    kind: str
    codes: str | None
    clipped: int | None
    own: Loss | None
    whole: Loss | None


@dataclass(frozen=True)
class QuantizationReport:
    """The result of `gradus.Model.quantization`.

    Attributes:
        runs: the number of runs that were compared.
        tensors: the tensors that are quantized, and the outputs: those that
            lose most by their own quantization first, then those without
            one of their own.
    """

    runs: int
    tensors: list[TensorLoss]

    def _repr_html_(self) -> str:
        def decibels(loss: Loss | None) -> str | None:
            return None if loss is None else f"{loss.decibels:.1f} dB"

        def row(of: TensorLoss) -> list[Any]:
            return [of.name, of.kind, of.codes, of.clipped or None, decibels(of.own), decibels(of.whole)]

        heads = ["tensor", "kind", "codes", "clipped", "SNR alone", "SNR in all"]
        return _html.table(heads, [row(of) for of in self.tensors], f"{self.runs} runs", 20)


def report_of(runs: int, tensors: list[Any]) -> QuantizationReport:
    def loss(of: tuple[int, float, float] | None) -> Loss | None:
        return None if of is None else Loss(*of)

    of = [
        TensorLoss(name, kind, codes, clipped, loss(own), loss(whole))
        for name, kind, codes, clipped, own, whole in tensors
    ]
    return QuantizationReport(runs, of)
