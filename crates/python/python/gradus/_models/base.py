"""What all methods of a model use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .._native import Model as NativeModel

Sizes: TypeAlias = tuple[
    dict[str, int], dict[str, Any], tuple[dict[str, tuple[int, int | None]], bool, list[str]]
]


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
