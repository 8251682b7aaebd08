"""Shapes and sizes of arrays, as arrays: what the operators Shape and Size give."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import assign
from .errors import UnsupportedError


def _dims(a: Any) -> tuple[int, ...]:
    dims = getattr(a, "shape", None)
    # Tensors of other libraries have shapes of their own types.
    return np.shape(a) if dims is None or callable(dims) else tuple(int(dim) for dim in dims)


def _given(result: np.ndarray[Any, Any], out: np.ndarray[Any, Any] | None, device: str | None) -> np.ndarray[Any, Any]:
    if device not in (None, "cpu"):
        raise UnsupportedError.mismatch("device", f'"{device}"', '"cpu"')
    if out is None:
        return result
    assign(out, result)
    return out


def shape(
    a: Any,
    start: int = 0,
    end: int | None = None,
    *,
    dtype: Any = np.int64,
    out: np.ndarray[Any, Any] | None = None,
    device: str | None = None,
) -> np.ndarray[Any, Any]:
    """The shape of an array, or a window of it, as an array of one axis.

    Args:
        a: an array, a tensor of any library, or nested lists.
        start: the first axis; below zero, counted from the end.
        end: the axis before which the window ends; ``None`` stands for the end.
        dtype: the element type of the result.
        out: an array to write the result into.
        device: ``"cpu"``.

    Returns:
        The sizes of axes ``start`` to ``end``, of shape ``(number of these axes,)``. Both bounds are clamped to the
        rank (ONNX Shape-15).

    Raises:
        DTypeError, ShapeError: if ``out`` does not fit.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.shape(np.zeros((2, 3, 4)), start=1)
        array([3, 4])
    """
    result = np.array(_dims(a)[start:end], np.int64).astype(dtype if out is None else out.dtype, copy=False)
    return _given(result, out, device)


def size(
    a: Any,
    axis: int | tuple[int, ...] | None = None,
    *,
    dtype: Any = np.int64,
    out: np.ndarray[Any, Any] | None = None,
    device: str | None = None,
) -> np.ndarray[Any, Any]:
    """The number of elements of an array, or along some of its axes, as an array without axes.

    Args:
        a: an array, a tensor of any library, or nested lists.
        axis: an axis or several; ``None`` stands for all.
        dtype: the element type of the result.
        out: an array to write the result into.
        device: ``"cpu"``.

    Returns:
        The product of the sizes, of shape ``()``.

    Raises:
        IndexError: if there is no such axis.
        DTypeError, ShapeError: if ``out`` does not fit.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.size(np.zeros((2, 3, 4))), gradus.size(np.zeros((2, 3, 4)), axis=-1)
        (array(24), array(4))
    """
    dims = _dims(a)
    axes = tuple(_axes(axis)) if axis is not None else tuple(np.arange(len(dims)))
    count = 1
    for each in axes:
        count *= dims[each]
    return _given(np.array(count, np.int64).astype(dtype if out is None else out.dtype, copy=False), out, device)


def _axes(axis: int | tuple[int, ...]) -> tuple[int, ...]:
    return axis if isinstance(axis, tuple) else (axis,)
