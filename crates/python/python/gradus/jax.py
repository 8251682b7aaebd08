"""``arange``, ``linspace``, ``logspace`` and ``geomspace`` with the signatures, defaults and errors of ``jax.numpy``, with 64-bit
types enabled.

Results are arrays that ``jax.dlpack.from_dlpack`` takes in. Elements are exact, rounded once. As in JAX, integers of
``linspace`` are rounded down, and those of ``logspace`` toward zero.

Source: JAX 0.10, ``jax/_src/numpy/lax_numpy.py`` and ``array_creation.py``.
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
    """``jax.numpy.arange([start,] stop[, step])``.

    Raises:
        ValueError: of a step of zero, of bounds that are not finite.

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
    """``jax.numpy.linspace``: integers are rounded down.

    Raises:
        ValueError: of a negative number of samples, of integers that their type cannot hold.
    """
    _check(device)
    return _numpy.linspace(start, stop, num, endpoint, retstep, _dtype(dtype), axis)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Array:
    """``jax.numpy.logspace``.

    Raises:
        ValueError: of a negative number of samples, of integers that their type cannot hold.
    """
    return _numpy.logspace(start, stop, num, endpoint, base, _dtype(dtype), axis)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """``jax.numpy.geomspace``.

    Raises:
        ValueError: of ends that are zero, of a negative number of samples.
    """
    return _numpy.geomspace(start, stop, num, endpoint, _dtype(dtype), axis)
