"""Sequences with TensorFlow's signatures, defaults and errors.

Results are arrays that `tf.experimental.dlpack.from_dlpack` reads.
Elements are exact, rounded once.

Source: TensorFlow 2.21, `tensorflow/python/ops/math_ops.py`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as _np

from . import _native
from ._frameworks import Array, cast, is_tensor, named, scalar

__all__ = ["linspace", "range"]

# The types of tf.range, from the narrowest in TensorFlow's hierarchy on.
_TYPES = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]


def _own_type(x: Any) -> str:
    if is_tensor(x):
        return named(x.dtype).name
    return "int32" if isinstance(x, int) else "float32"


def range(  # noqa: A001
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Array:
    """Returns `tf.range(limit)` or `tf.range(start, limit, delta=1)`, exactly.

    The type is the one of the arguments' that comes last in int32, int64,
    float16, bfloat16, float32, float64; numbers of Python are int32 and
    float32.

    Args:
        start: the first element, or the limit if it is the only number.
        limit: the end, which is not an element.
        delta: the distance of neighbours.
        dtype: the element type.
        name: accepted; without effect.

    Returns:
        An array of one axis.

    Raises:
        ValueError: if the delta is zero, or a bound is on the wrong side.
        TypeError: if a type is not one of these.

    Example:
        >>> import gradus
        >>> gradus.tensorflow.range(3, 18, 3)
        array([ 3,  6,  9, 12, 15], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    given = (start, limit, delta)
    types = [named(dtype).name] if dtype is not None else [_own_type(x) for x in given]
    wrong = [type for type in types if type not in _TYPES]
    if wrong:
        raise TypeError(f"range() makes {', '.join(_TYPES)}, and no {wrong[0]}")
    made = _np.dtype(named(max(types, key=_TYPES.index)))
    first, last, by = (cast(scalar(x), made) for x in given)
    message = _native._refusal("tensorflow", "range", first, last, by, None, made)
    if message is not None:
        raise ValueError(message)
    return _native.arange(first, last, by, made)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Array:
    """Returns `tf.linspace(start, stop, num, axis=0)`, exactly.

    Args:
        start: the first end, a number or an array.
        stop: the other end, of the same type.
        num: the number of samples.
        name: accepted; without effect.
        axis: the axis of the samples, if an end is an array.

    Returns:
        An array of the type of the ends; float64 for integers.

    Raises:
        ValueError: if `num` is negative.
        TypeError: if the ends are of different types.

    Example:
        >>> import gradus
        >>> gradus.tensorflow.linspace(0.0, 1.0, 3)
        array([0. , 0.5, 1. ], dtype=float32)
    """
    num = operator.index(scalar(num))
    if num < 0:
        raise ValueError(f"Argument `num` must be non-negative, but is {num}")
    first, last = (x if is_tensor(x) else _np.asarray(x) for x in (start, stop))
    types = {named(x.dtype).name for x, given in ((first, start), (last, stop)) if is_tensor(given)}
    if len(types) > 1:
        raise TypeError(f"ends have the types {', '.join(sorted(types))}, but must have one")
    own = types.pop() if types else "float32" if "f" in (first.dtype.kind, last.dtype.kind) else "float64"
    return _native.linspace(first, last, num, True, False, own if "float" in own else "float64", axis)
