"""Sequences with NumPy's signatures, defaults, casts and errors.

Elements are exact, rounded once; where NumPy rounds differently, the
result is NumPy's up to that: integers of `linspace` are rounded down,
and integers of `logspace` and `geomspace` toward zero.
`profile="numpy"` of `gradus.linspace` and its kin predicts NumPy's own
bits.

Source: NumPy 2.4, `numpy._core.function_base` and `numpy.arange`.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as _np

from . import _native, _types
from ._dlpack import as_array

__all__ = ["arange", "geomspace", "linspace", "logspace", "shape", "size"]

Array = _np.ndarray[Any, Any]


def _check(device: Any, like: Any = None) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    if like is not None:
        raise TypeError("like is given, but arrays are NumPy's own")


def _samples(num: Any) -> int:
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    return num


def arange(
    *numbers: Any,
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    device: Any = None,
    like: Any = None,
) -> Array:
    """Returns `numpy.arange([start,] stop[, step,], dtype=None)`, exactly.

    Args:
        *numbers: start, stop, step and dtype by position; the stop alone.
        start: the first element; by default 0.
        stop: the end, which is not an element.
        step: the distance of neighbours; by default 1.
        dtype: the element type; by default NumPy's choice.
        device: `"cpu"`.
        like: `None`, as arrays are NumPy's own.

    Returns:
        An array of one axis.

    Raises:
        ZeroDivisionError: if the step is zero.
        TypeError: if the stop is missing, or an argument is given twice.
        ValueError: if an argument is NaN or infinite, or `device` is
            another one.
        OverflowError: if the integer type does not hold the first two
            elements.

    Example:
        >>> import gradus
        >>> gradus.numpy.arange(1, 2, 0.25)
        array([1.  , 1.25, 1.5 , 1.75])
    """
    _check(device, like)
    if len(numbers) == 1 and stop is None:
        stop, numbers = numbers[0], ()
    names = ("start", "stop", "step", "dtype")
    if len(numbers) > len(names):
        raise TypeError(f"arange() takes from 1 to 4 positional arguments but {len(numbers)} were given")
    given = {"start": start, "stop": stop, "step": step, "dtype": dtype}
    for name, value in zip(names, numbers, strict=False):
        if given[name] is not None:
            raise TypeError(f"argument for arange() given by name ('{name}') and position")
        given[name] = value
    if given["stop"] is None:
        if given["start"] is None or not numbers:
            raise TypeError("arange() requires stop to be specified.")
        given["start"], given["stop"] = None, given["start"]
    if given["step"] is not None and not _np.any(as_array(given["step"])):
        raise ZeroDivisionError("division by zero")
    start, stop, step, dtype = (given[name] for name in names)
    if dtype is not None and _np.dtype(dtype).kind in "iu":
        message = _native._refusal("numpy", "range", start, stop, step, None, dtype)
        if message is not None and "out of bounds" in message:
            raise OverflowError(message)
    return _native.arange(0 if start is None else start, stop, step, dtype)


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Returns `numpy.linspace`, exactly; integers are rounded down.

    Args:
        start: the first end, a number or an array.
        stop: the other end.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        retstep: also return the distance of neighbours.
        dtype: the element type; by default NumPy's choice.
        axis: the axis of the samples, if an end is an array.
        device: `"cpu"`.

    Returns:
        An array; with `retstep`, a pair of it and the distance.

    Raises:
        ValueError: if `num` is negative, an end is NaN, or an integer type
            does not hold an element.

    Example:
        >>> import gradus
        >>> gradus.numpy.linspace(-1, 1, 4, dtype=int)
        array([-1, -1,  0,  1])
    """
    _check(device)
    num = _samples(num)
    if dtype is None or _np.dtype(dtype).kind not in "iu":
        return _native.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    start, stop = as_array(start), as_array(stop)
    if _np.any(start < 0) or _np.any(stop < 0):
        made = _floors(start, stop, num, endpoint, _np.dtype(dtype), axis)
    else:
        made = _native.linspace(start, stop, num, endpoint, False, dtype, axis)
    return (made, _types.step(start, stop, num, endpoint)) if retstep else made


def _floors(start: Array, stop: Array, num: int, endpoint: bool, dtype: Any, axis: int) -> Array:
    """Samples rounded down, where rounding toward zero is something else."""

    def floors(a: Any, b: Any) -> Array:
        if not (math.isfinite(a) and math.isfinite(b)):
            raise ValueError("cannot convert float NaN or infinity to integer")
        a, b = Fraction(a), Fraction(b)
        last = b if endpoint and num > 1 else b - (b - a) / max(num, 1)
        least = min(_np.array([math.floor(a), math.floor(last)], dtype).tolist())
        # Shifted by the least one, no number is negative; there, both roundings are the same.
        above = _native.linspace(a - least, b - least, num, endpoint, False, "uint64", 0)
        above += _np.uint64(least % 2**64)
        return above.astype(dtype)

    start, stop = _np.broadcast_arrays(start, stop)
    each = [floors(a, b) for a, b in zip(start.ravel().tolist(), stop.ravel().tolist(), strict=True)]
    made = _np.array(each, dtype).reshape(*start.shape, num)
    return _np.moveaxis(made, -1, axis) if start.ndim else made[...]


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Array:
    """Returns `numpy.logspace`, exactly.

    Args:
        start: the first exponent, a number or an array.
        stop: the last exponent.
        num: the number of samples.
        endpoint: include `stop` as the last exponent.
        base: the base, a number or an array.
        dtype: the element type; by default NumPy's choice.
        axis: the axis of the samples, if an argument is an array.

    Returns:
        An array; integers are rounded toward zero.

    Raises:
        ValueError: if `num` is negative, an end is NaN, or an integer type
            does not hold an element.

    Example:
        >>> import gradus
        >>> gradus.numpy.logspace(0, 1, 4, base=1000, dtype=int)
        array([   1,   10,  100, 1000])
    """
    return _native.logspace(start, stop, _samples(num), endpoint, base, dtype, axis)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """Returns `numpy.geomspace`, exactly.

    Args:
        start: the first end, a number or an array.
        stop: the other end.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        dtype: the element type; by default NumPy's choice.
        axis: the axis of the samples, if an end is an array.

    Returns:
        An array; integers are rounded toward zero.

    Raises:
        ValueError: if an end is zero, or `num` is negative.

    Example:
        >>> import gradus
        >>> gradus.numpy.geomspace(1, 1000, 4, dtype=int)
        array([   1,   10,  100, 1000])
    """
    num = _samples(num)
    if not _np.all(as_array(start)) or not _np.all(as_array(stop)):
        raise ValueError("Geometric sequence cannot include zero")
    return _native.geomspace(start, stop, num, endpoint, dtype, axis)


def shape(a: Any) -> tuple[int, ...]:
    """Returns `numpy.shape`: the shape of an array.

    Args:
        a: an array, a tensor of any library, or nested lists.

    Returns:
        A tuple of integers.

    Example:
        >>> import gradus
        >>> gradus.numpy.shape([[1, 2, 3]])
        (1, 3)
    """
    return _np.shape(a if hasattr(a, "shape") else as_array(a))


def size(a: Any, axis: Any = None) -> int:
    """Returns `numpy.size`: the number of elements.

    Args:
        a: an array, a tensor of any library, or nested lists.
        axis: an axis or several; `None` stands for all.

    Returns:
        An integer.

    Example:
        >>> import gradus
        >>> gradus.numpy.size([[1, 2, 3]], 1)
        3
    """
    return _np.size(a if hasattr(a, "shape") else as_array(a), axis)
