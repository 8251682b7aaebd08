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
    """Returns the shape of an array, or part of it, as an array.

    Source: ONNX Shape-15; `start` and `end` are clamped to the rank.

    Args:
        a: an array, a tensor of any library, or nested lists.
        start: the first axis; a negative one counts from the end.
        end: the axis after the last one; `None` stands for the rank.
        dtype: the element type of the result.
        out: an array to write into.
        device: `"cpu"`.

    Returns:
        The sizes of axes `start` to `end`, an array of one axis.

    Raises:
        DTypeError: if `out` has another element type.
        ShapeError: if `out` has another shape.
        UnsupportedError: if `device` is another one.

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
    """Returns the number of elements of an array, as an array of shape `()`.

    Source: ONNX Size-1, and NumPy 2.4, `numpy.size`, for axes.

    Args:
        a: an array, a tensor of any library, or nested lists.
        axis: an axis or several; `None` stands for all.
        dtype: the element type of the result.
        out: an array to write into.
        device: `"cpu"`.

    Returns:
        The product of the sizes, an array of shape `()`.

    Raises:
        IndexError: if an axis is out of range.
        DTypeError: if `out` has another element type.
        ShapeError: if `out` has another shape.
        UnsupportedError: if `device` is another one.

    Example:
        >>> import gradus, numpy as np
        >>> x = np.zeros((2, 3, 4))
        >>> gradus.size(x), gradus.size(x, axis=-1)
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
