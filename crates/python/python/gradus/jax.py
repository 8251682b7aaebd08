"""Sequences with the signatures, defaults and errors of `jax.numpy`.

64-bit types are enabled. Results are arrays that
`jax.dlpack.from_dlpack` reads. Elements are exact, rounded once. As in
JAX, integers of `linspace` are rounded down, and those of `logspace`
toward zero.

Source: JAX 0.10, `jax/_src/numpy/lax_numpy.py` and `array_creation.py`.
"""

from __future__ import annotations

from typing import Any

from . import _native
from . import numpy as _numpy
from ._frameworks import Array, named, scalar

__all__ = ["arange", "geomspace", "linspace", "logspace"]


def _check(device: Any, out_sharding: Any = None) -> None:
    if device not in (None, "cpu") or out_sharding is not None:
        raise ValueError("arrays are on the CPU: device and out_sharding have no meaning")


def _dtype(dtype: Any) -> Any:
    return None if dtype is None else named(dtype)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Returns `jax.numpy.arange([start,] stop[, step])`, exactly.

    Args:
        start: the first element, or the stop if it is the only number.
        stop: the end, which is not an element.
        step: the distance of neighbours; by default 1.
        dtype: the element type; by default int64 or float64.
        device: `"cpu"`.
        out_sharding: `None`, as arrays are on the CPU.

    Returns:
        An array of one axis.

    Raises:
        ValueError: if the step is zero, or a bound is not finite.

    Example:
        >>> import gradus
        >>> gradus.jax.arange(0, 1, 0.25)
        array([0.  , 0.25, 0.5 , 0.75])
    """
    _check(device, out_sharding)
    if stop is None:
        start, stop = 0, start
    start, stop, step = (scalar(x) for x in (start, stop, 1 if step is None else step))
    whole = all(isinstance(x, int) for x in (start, stop, step))
    made = named(dtype if dtype is not None else "int64" if whole else "float64")
    message = _native._refusal("jax", "range", start, stop, step, None, made)
    if message is not None:
        raise ValueError(message)
    return _native.arange(start, stop, step, made)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Returns `jax.numpy.linspace`, exactly; integers are rounded down.

    Args:
        start: the first end, a number or an array.
        stop: the other end.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        retstep: also return the distance of neighbours.
        dtype: the element type; by default float64.
        axis: the axis of the samples, if an end is an array.
        device: `"cpu"`.

    Returns:
        An array; with `retstep`, a pair of it and the distance.

    Raises:
        ValueError: if `num` is negative, or an integer type does not hold
            an element.

    Example:
        >>> import gradus
        >>> gradus.jax.linspace(0, 1, 5)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    _check(device)
    return _numpy.linspace(start, stop, num, endpoint, retstep, _dtype(dtype), axis)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Array:
    """Returns `jax.numpy.logspace`, exactly.

    Args:
        start: the first exponent, a number or an array.
        stop: the last exponent.
        num: the number of samples.
        endpoint: include `stop` as the last exponent.
        base: the base, a number or an array.
        dtype: the element type; by default float64.
        axis: the axis of the samples, if an argument is an array.

    Returns:
        An array; integers are rounded toward zero.

    Raises:
        ValueError: if `num` is negative, or an integer type does not hold
            an element.

    Example:
        >>> import gradus
        >>> gradus.jax.logspace(0, 3, 4)
        array([   1.,   10.,  100., 1000.])
    """
    return _numpy.logspace(start, stop, num, endpoint, base, _dtype(dtype), axis)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """Returns `jax.numpy.geomspace`, exactly.

    Args:
        start: the first end, a number or an array.
        stop: the other end.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        dtype: the element type; by default float64.
        axis: the axis of the samples, if an end is an array.

    Returns:
        An array; integers are rounded toward zero.

    Raises:
        ValueError: if an end is zero, or `num` is negative.

    Example:
        >>> import gradus
        >>> gradus.jax.geomspace(1, 8, 4)
        array([1., 2., 4., 8.])
    """
    return _numpy.geomspace(start, stop, num, endpoint, _dtype(dtype), axis)
