"""``logspace``, ``linspace``, ``arange`` and ``shape`` as Paddle defines them.

``logspace`` is what its text says: start, stop and base are cast to the output type first; the number of samples is an
integer above zero; the type is float32 unless it is named. Elements are exact, rounded once.

Source: the text of ``paddle.logspace`` (design of 2022-03-21); Paddle 3.3 for the others.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as _np

from . import _native
from ._dlpack import as_array
from ._frameworks import Array, cast, is_tensor, named
from .errors import ArgumentError, DTypeError, ShapeError

__all__ = ["arange", "linspace", "logspace", "shape"]

_TYPES = ["float32", "float64", "int32", "int64"]
_WIDER = [*_TYPES, "float16", "bfloat16"]


def _number(x: Any, name: str, function: str) -> Any:
    """A number, or the only element of a tensor."""
    if is_tensor(x):
        array = as_array(x)
        if array.size != 1:
            raise ShapeError.mismatch(f"the shape of {name} of {function}", array.shape, "one element")
        if array.dtype.name not in _WIDER:
            raise DTypeError.mismatch(f"{name} of {function}", f"of {array.dtype}", f"one of {', '.join(_TYPES)}")
        return array.reshape(-1)[0].item() if array.dtype.name != "bfloat16" else float(array.reshape(-1)[0])
    if isinstance(x, int | float):
        return x
    raise DTypeError.mismatch(f"{name} of {function}", f"of type {type(x).__name__}", "a number or a tensor")


def _count(num: Any, function: str) -> int:
    if is_tensor(num):
        array = as_array(num)
        if array.size != 1 or array.dtype.name not in ("int32", "int64"):
            found = f"{array.dtype} of shape {array.shape}"
            raise DTypeError.mismatch(f"num of {function}", found, "an integer")
        num = array.reshape(-1)[0].item()
    try:
        num = operator.index(num)
    except TypeError:
        raise DTypeError.mismatch(f"num of {function}", f"{num!r}", "an integer") from None
    least = 1 if function == "logspace" else 0
    if num < least:
        raise ArgumentError.mismatch(f"num of {function}", num, f"at least {least}")
    return num


def _type(dtype: Any, function: str, default: str = "float32") -> _np.dtype[Any]:
    found = named(default if dtype is None else dtype)
    if found.name not in _WIDER:
        raise DTypeError.mismatch(f"dtype of {function}", found, f"one of {', '.join(_WIDER)}")
    return found


def logspace(start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None) -> Array:
    """``num`` numbers from ``base ** start`` to ``base ** stop``, each ``base ** (1 / (num - 1))``-th part of the way.

    Args:
        start, stop, base: numbers, or tensors of one element of float32, float64, int32 or int64. They are cast to the
            output type first: to the nearest, or toward zero.
        num: an integer above zero, or a tensor of one element.
        dtype: float32, float64, int32, int64, float16 or bfloat16; float32 if it is ``None``.
        name: not used.

    Returns:
        An array of shape ``(num,)``; integers are rounded toward zero.

    Raises:
        DTypeError: if an argument is of another type.
        ArgumentError: if ``num`` is below 1, or an element is not one that an integer type holds.
        ShapeError: if a tensor has more than one element.

    Example:
        >>> import gradus
        >>> gradus.paddle.logspace(0, 10, 5, base=2)
        array([1.0000000e+00, 5.6568542e+00, 3.2000000e+01, 1.8101933e+02,
               1.0240000e+03], dtype=float32)
    """
    made = _type(dtype, "logspace")
    count = _count(num, "logspace")
    ends = [cast(_number(x, of, "logspace"), made) for x, of in ((start, "start"), (stop, "stop"), (base, "base"))]
    return _native.logspace(ends[0], ends[1], count, True, ends[2], made)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Array:
    """``num`` numbers at equal distances from ``start`` to ``stop``; arguments as of :func:`logspace`.

    Returns:
        An array of shape ``(num,)``; integers are rounded toward zero.

    Example:
        >>> import gradus
        >>> gradus.paddle.linspace(0, 10, 5, "int32")
        array([ 0,  2,  5,  7, 10], dtype=int32)
    """
    made = _type(dtype, "linspace")
    count = _count(num, "linspace")
    ends = [cast(_number(x, of, "linspace"), made) for x, of in ((start, "start"), (stop, "stop"))]
    return _native.linspace(ends[0], ends[1], count, True, False, made)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Array:
    """``start``, ``start + step``, … while short of ``end``.

    Args:
        start, end, step: numbers, or tensors of one element, cast to the output type first; ``arange(end)`` begins at 0.
        dtype: as of :func:`logspace`; int64 if all arguments are integers, else float32.
        name: not used.

    Raises:
        ArgumentError: if the step is zero, also after its cast.
    """
    start, end = (0, start) if end is None else (start, end)
    numbers = [_number(x, of, "arange") for x, of in ((start, "start"), (end, "end"), (step, "step"))]
    whole = all(isinstance(number, int) for number in numbers)
    made = _type(dtype, "arange", "int64" if whole else "float32")
    first, last, by = (cast(number, made) for number in numbers)
    return _native.arange(first, last, by, made)


def shape(input: Any) -> Array:  # noqa: A002, the name is Paddle's
    """The shape of a tensor, an array of int64 with as many elements as it has axes.

    Raises:
        DTypeError: if the input has no elements to be looked at, as a value of a static program.
    """
    array = as_array(input)
    if array.dtype == object:
        found = f"of type {type(input).__name__}"
        raise DTypeError.mismatch("input of shape", found, "a tensor, an array, or numbers")
    return _np.array(array.shape, _np.int64)
