"""Sequences as Paddle defines them.

`logspace` follows its text: start, stop and base are cast to the output
type first; the number of samples is an integer above zero; the type is
float32 by default. Elements are exact, rounded once.

Source: the text of `paddle.logspace` (design of 2022-03-21); Paddle 3.3
for the others.
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
    """Returns `paddle.logspace`, exactly: `num` powers of `base`.

    Args:
        start: the first exponent: a number, or a tensor of one element of
            float32, float64, int32 or int64. It is cast to the output type
            first: to the nearest, or toward zero.
        stop: the last exponent, alike.
        num: the number of samples, above zero: an integer, or a tensor of
            one element.
        base: the base, alike.
        dtype: float32, float64, int32, int64, float16 or bfloat16; `None`
            stands for float32.
        name: accepted; without effect.

    Returns:
        An array of shape `(num,)`; integers are rounded toward zero.

    Raises:
        DTypeError: if an argument is of another type.
        ArgumentError: if `num` is out of range, or an integer type does not
            hold an element.
        ShapeError: if a tensor has more than one element.

    Example:
        >>> import gradus
        >>> gradus.paddle.logspace(0, 10, 5, base=2, dtype="int32")
        array([   1,    5,   32,  181, 1024], dtype=int32)
    """
    made = _type(dtype, "logspace")
    count = _count(num, "logspace")
    ends = [cast(_number(x, of, "logspace"), made) for x, of in ((start, "start"), (stop, "stop"), (base, "base"))]
    return _native.logspace(ends[0], ends[1], count, True, ends[2], made)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Array:
    """Returns `paddle.linspace`, exactly: samples at equal distances.

    Args:
        start: the first end: a number, or a tensor of one element, cast to
            the output type first.
        stop: the other end, alike.
        num: the number of samples: an integer, or a tensor of one element.
        dtype: float32, float64, int32, int64, float16 or bfloat16; `None`
            stands for float32.
        name: accepted; without effect.

    Returns:
        An array of shape `(num,)`; integers are rounded toward zero.

    Raises:
        DTypeError: if an argument is of another type.
        ArgumentError: if `num` is out of range, or an integer type does not
            hold an element.
        ShapeError: if a tensor has more than one element.

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
    """Returns `paddle.arange`, exactly: evenly spaced numbers.

    Args:
        start: the first element, or the end if it is the only number; cast
            to the output type first.
        end: the end, which is not an element.
        step: the distance of neighbours.
        dtype: the element type; `None` stands for int64 if all arguments
            are integers, else float32.
        name: accepted; without effect.

    Returns:
        An array of one axis.

    Raises:
        DTypeError: if an argument is of another type.
        ArgumentError: if the step is zero, also after its cast.
        ShapeError: if a tensor has more than one element.

    Example:
        >>> import gradus
        >>> gradus.paddle.arange(1, 3, 0.5)
        array([1. , 1.5, 2. , 2.5], dtype=float32)
    """
    start, end = (0, start) if end is None else (start, end)
    numbers = [_number(x, of, "arange") for x, of in ((start, "start"), (end, "end"), (step, "step"))]
    whole = all(isinstance(number, int) for number in numbers)
    made = _type(dtype, "arange", "int64" if whole else "float32")
    first, last, by = (cast(number, made) for number in numbers)
    return _native.arange(first, last, by, made)


def shape(input: Any) -> Array:  # noqa: A002, the name is Paddle's
    """Returns `paddle.shape`: the shape of a tensor, as an array.

    Args:
        input: a tensor, an array, or numbers.

    Returns:
        An int64 array with an element for each axis.

    Raises:
        DTypeError: if the input has no elements, such as a value of a
            static program.

    Example:
        >>> import gradus
        >>> gradus.paddle.shape([[1, 2, 3]])
        array([1, 3])
    """
    array = as_array(input)
    if array.dtype == object:
        found = f"of type {type(input).__name__}"
        raise DTypeError.mismatch("input of shape", found, "a tensor, an array, or numbers")
    return _np.array(array.shape, _np.int64)
