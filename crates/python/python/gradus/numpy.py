"""``arange``, ``linspace``, ``logspace``, ``geomspace``, ``shape`` and ``size`` with NumPy's signatures, defaults, casts and errors.

Elements are exact, rounded once; where NumPy rounds otherwise, the result is NumPy's up to that: integers of ``linspace``
are rounded down, and integers of ``logspace`` and ``geomspace`` toward zero. For NumPy's own bits there is
``profile="numpy"`` of the functions of :mod:`gradus`.

Source: NumPy 2.4, ``numpy._core.function_base`` and ``numpy.arange``.
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
    """``numpy.arange([start,] stop[, step,], dtype=None)``.

    Raises:
        ZeroDivisionError: of a step of zero.
        TypeError: if there is no stop.
        ValueError: of NaN and infinities.
        OverflowError: if the integer type does not hold the first two elements.
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
    """``numpy.linspace``: integers are rounded down.

    Raises:
        ValueError: of a negative number of samples, of NaN, of integers that their type cannot hold.
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
    """``numpy.logspace``.

    Raises:
        ValueError: of a negative number of samples, of NaN, of integers that their type cannot hold.
    """
    return _native.logspace(start, stop, _samples(num), endpoint, base, dtype, axis)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """``numpy.geomspace``.

    Raises:
        ValueError: of ends that are zero, of a negative number of samples.
    """
    num = _samples(num)
    if not _np.all(as_array(start)) or not _np.all(as_array(stop)):
        raise ValueError("Geometric sequence cannot include zero")
    return _native.geomspace(start, stop, num, endpoint, dtype, axis)


def shape(a: Any) -> tuple[int, ...]:
    """``numpy.shape``: a tuple."""
    return _np.shape(a if hasattr(a, "shape") else as_array(a))


def size(a: Any, axis: Any = None) -> int:
    """``numpy.size``: an integer."""
    return _np.size(a if hasattr(a, "shape") else as_array(a), axis)
