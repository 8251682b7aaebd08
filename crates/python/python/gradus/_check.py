"""What differs when two models run on the same inputs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CheckReport", "OutputCheck"]


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
