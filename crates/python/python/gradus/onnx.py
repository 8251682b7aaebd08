"""Range, Shape and Size as ONNX's operator sets define them.

Each call is one node of that operator set, checked and run as in a
model: element types, attributes and errors are those of the version.

Source: ONNX Range-11 and -27, Shape-1 to -25, Size-1 to -25.
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._frameworks import Array

__all__ = ["Range", "Shape", "Size"]

_NEWEST = 28


def Range(start: Any, limit: Any, delta: Any, *, opset: int = _NEWEST, stash_type: int | None = None) -> Array:
    """Computes Range: `start`, `start + delta`, … before `limit`.

    Args:
        start: a scalar: an array, a tensor that speaks DLPack, or a number
            of Python, which is int64 or float64.
        limit: a scalar of the same type, which is not an element.
        delta: a scalar of the same type; not zero.
        opset: the version of the operator set: 11 or later.
        stash_type: the attribute of that name, of version 27 and later.

    Returns:
        An array of one axis, of the type of the inputs; every element is
        exact, rounded once.

    Raises:
        DTypeError: if a type is not one of the version's, or the three
            differ.
        ArgumentError: if `delta` is zero.
        GraphError: if the operator set has no Range, or no such attribute.
        ShapeError: if an input is not a scalar.

    Example:
        >>> import gradus, numpy as np
        >>> ends = np.float32(1), np.float32(2.5), np.float32(0.5)
        >>> gradus.onnx.Range(*ends, opset=11)
        array([1. , 1.5, 2. ], dtype=float32)
    """
    attributes = {} if stash_type is None else {"stash_type": stash_type}
    return _native._evaluate("onnx", "Range", opset, [start, limit, delta], attributes)


def Shape(data: Any, *, opset: int = _NEWEST, start: int | None = None, end: int | None = None) -> Array:
    """Computes Shape: the sizes of axes `start` to `end`.

    Args:
        data: an array, a tensor that speaks DLPack, or numbers and lists.
        opset: the version of the operator set.
        start: the first axis, of version 15 and later; a negative one
            counts from the end. It is clamped to the rank.
        end: the axis after the last one, alike; `None` stands for the rank.

    Returns:
        An int64 array of one axis.

    Raises:
        DTypeError: if the version does not take the element type.
        GraphError: if the version has no such attribute.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.onnx.Shape(np.zeros((2, 3, 4)), start=1)
        array([3, 4])
    """
    window = {name: bound for name, bound in (("start", start), ("end", end)) if bound is not None}
    return _native._evaluate("onnx", "Shape", opset, [data], window)


def Size(data: Any, *, opset: int = _NEWEST) -> Array:
    """Computes Size: the number of elements.

    Args:
        data: an array, a tensor that speaks DLPack, or numbers and lists.
        opset: the version of the operator set.

    Returns:
        An int64 array of shape `()`.

    Raises:
        DTypeError: if the version does not take the element type.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.onnx.Size(np.zeros((2, 3, 4)))
        array(24)
    """
    return _native._evaluate("onnx", "Size", opset, [data], {})
