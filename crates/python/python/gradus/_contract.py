"""Contracts of models, asked for shapes and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import _native

__all__ = ["Contract", "ContractShapes", "OutputShape"]


@dataclass(frozen=True)
class OutputShape:
    """The sizes and bytes of an output of a contract.

    Attributes:
        sizes: the smallest and the largest size of each axis, which are one
            number unless the data decide it; `None` for a largest that is
            not known, and if the rank is not known or it is no tensor.
        bytes: the most bytes that it has; `None` if that is not known.
    """

    sizes: list[tuple[int, int | None]] | None
    bytes: int | None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The sizes, if sizes of the inputs decide them all."""
        sizes = self.sizes
        exact = sizes is not None and all(least == most for least, most in sizes)
        return tuple(least for least, _ in sizes or ()) if exact else None


@dataclass(frozen=True)
class ContractShapes:
    """Shapes and memory of a run.

    Attributes:
        outputs: the shapes of the outputs, by name.
        input_bytes: bytes of the inputs; `None` if a size is not known.
        peak_bytes: an upper bound of the bytes of values of nodes at one
            time; `None` if it is not known.
    """

    outputs: dict[str, OutputShape]
    input_bytes: int | None
    peak_bytes: int | None


class Contract:
    """The sizes that a model takes, and the shapes and memory that follow.

    `gradus.Model.contract` makes one. Asking it takes microseconds, as
    nothing is inferred again.

    Attributes:
        conditions: conditions that sizes must meet, each with the node that
            needs it.
        unchecked: conditions that sizes do not decide, alike.
    """

    def __init__(self, native: _native.Contract) -> None:
        self._native = native
        self.conditions, self.unchecked = native._conditions()

    def shapes(self, inputs: Mapping[str, Sequence[int]], numbers: Mapping[str, int] | None = None) -> ContractShapes:
        """Computes shapes and memory for sizes of the inputs.

        Args:
            inputs: the sizes of all inputs with axes, by name.
            numbers: numbers of symbols that are no size alone, and of elements
                of inputs that decide conditions, by name. Elements may be left
                out.

        Returns:
            The shapes of the outputs, and bytes.

        Raises:
            ShapeError: if the sizes do not meet a condition, with its node.
            UsageError: if sizes of an input are missing, or a name is not
                known.

        Example:
            >>> import gradus
            >>> contract = gradus.load("examples/heads.onnx").contract(None)
            >>> shapes = contract.shapes({"x": (2, 128, 8)})
            >>> shapes.outputs["y"].shape, shapes.peak_bytes
            ((2, 2, 128, 4), 16384)
        """
        named = [(name, list(sizes)) for name, sizes in inputs.items()]
        outputs, input_bytes, peak_bytes = self._native._shapes(named, list((numbers or {}).items()))
        return ContractShapes({name: OutputShape(*shape) for name, shape in outputs}, input_bytes, peak_bytes)
