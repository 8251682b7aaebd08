"""What all methods of a model use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._native import Model as NativeModel

Sizes: TypeAlias = tuple[
    dict[str, int], dict[str, Any], tuple[dict[str, tuple[int, int | None]], bool, list[str]]
]


class Interval(NamedTuple):
    """Two arrays between which the real numbers of a value lie.

    `gradus.Model.intervals` finds them.

    Attributes:
        low: the smallest numbers that the elements may be, in float64.
        high: the largest numbers that the elements may be, in float64.

    Example:
        >>> import gradus
        >>> gradus.Interval._fields
        ('low', 'high')
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


class Base:
    """The compiled model."""

    _native: NativeModel


def sizes_of(
    dims: Mapping[str, int] | None,
    shapes: Mapping[str, Sequence[Any]] | None,
    ranges: Mapping[str, tuple[int, int | None]] | None = None,
    nonempty: bool = False,
    assume: Sequence[str] = (),
) -> Sizes:
    """Sizes of inputs, as native methods take them."""
    return dict(dims or {}), dict(shapes or {}), (dict(ranges or {}), nonempty, list(assume))
