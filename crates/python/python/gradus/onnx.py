"""``Range``, ``Shape`` and ``Size`` as ONNX's operator sets define them.

Each call is one node of that operator set, checked and run as in a model: element types, attributes and errors are those of
the version.

Source: ONNX Range-11 and -27, Shape-1 to -25, Size-1 to -25.
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._frameworks import Array

__all__ = ["Range", "Shape", "Size"]

_NEWEST = 28


def Range(start: Any, limit: Any, delta: Any, *, opset: int = _NEWEST, stash_type: int | None = None) -> Array:
    """``start``, ``start + delta``, … while short of ``limit``.

    Args:
        start, limit, delta: scalars of one element type: arrays, tensors that speak DLPack, or numbers of Python, which are
            int64 and float64.
        opset: the version of the operator set: 11 or later.
        stash_type: the attribute of that name, of version 27 and later.

    Returns:
        An array of one axis, of the type of the inputs; every element exact, rounded once.

    Raises:
        DTypeError: if a type is none of the version's, or the three differ.
        ArgumentError: if ``delta`` is zero.
        GraphError: if the operator set has no Range, or no such attribute.
        ShapeError: if an input is no scalar.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.onnx.Range(np.float32(1), np.float32(2.5), np.float32(0.5), opset=11)
        array([1. , 1.5, 2. ], dtype=float32)
    """
    attributes = {} if stash_type is None else {"stash_type": stash_type}
    return _native._evaluate("onnx", "Range", opset, [start, limit, delta], attributes)


def Shape(data: Any, *, opset: int = _NEWEST, start: int | None = None, end: int | None = None) -> Array:
    """The sizes of axes ``start`` to ``end``, as int64.

    Args:
        data: an array, a tensor that speaks DLPack, or numbers and lists of Python.
        opset: the version of the operator set.
        start, end: attributes of version 15 and later; below zero, counted from the end; clamped to the rank.

    Raises:
        DTypeError: if the version does not take the type.
        GraphError: if it has no such attribute.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.onnx.Shape(np.zeros((2, 3, 4)), start=1)
        array([3, 4])
    """
    window = {name: bound for name, bound in (("start", start), ("end", end)) if bound is not None}
    return _native._evaluate("onnx", "Shape", opset, [data], window)


def Size(data: Any, *, opset: int = _NEWEST) -> Array:
    """The number of elements, as an int64 without axes."""
    return _native._evaluate("onnx", "Size", opset, [data], {})
