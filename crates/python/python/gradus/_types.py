"""NumPy's rules for what a call does not say: the element type of the result, and the step between samples."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from . import _dlpack
from .errors import DTypeError, ShapeError


def result_type(arguments: list[Any], inexact: bool) -> np.dtype[Any]:
    """The type in which NumPy computes with these: a float at least, if so asked, and else an int64 at least."""
    weak = (bool, int, float, complex)
    given = [a if type(a) in weak else _dlpack.as_array(a) for a in arguments]
    # NumPy does not take truth values for weak.
    given = [int(a) if isinstance(a, bool) else a for a in given]
    try:
        return np.result_type(*given, 1.0 if inexact else np.int64)
    except TypeError as error:
        types = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in given)
        raise DTypeError(f"the arguments are of {types}, but these have no type in common: name a dtype") from error


def _exact(start: complex, stop: complex, steps: int) -> float:
    if not (math.isfinite(start.real) and math.isfinite(stop.real)):
        return math.nan
    return float((Fraction(stop.real) - Fraction(start.real)) / steps)


def _step_of(start: Any, stop: Any, steps: int) -> Any:
    start, stop = (x.item() if isinstance(x, np.generic) else x for x in (start, stop))
    start, stop = (x if isinstance(x, int | float | complex) else Fraction(x) for x in (start, stop))
    if steps == 0:
        return math.nan
    real = _exact(start, stop, steps)
    if isinstance(start, complex) or isinstance(stop, complex):
        parts = (complex(start).imag, complex(stop).imag)
        return complex(real, _exact(*parts, steps))
    return real


def step(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    """The distance of neighbours of a linspace, the exact one rounded once; NaN where there are none."""
    steps = operator.index(num) - bool(endpoint)
    start, stop = _dlpack.as_array(start), _dlpack.as_array(stop)
    each = np.frompyfunc(lambda a, b: _step_of(a, b, max(steps, 0)), 2, 1)(start, stop)
    complex_ends = np.iscomplexobj(start) or np.iscomplexobj(stop)
    return np.asarray(each, np.complex128 if complex_ends else np.float64)[()]


def assign(out: Any, made: np.ndarray[Any, Any]) -> None:
    """Writes an array into another of the same shape and type."""
    if not isinstance(out, np.ndarray):
        raise DTypeError.mismatch("out", f"of type {type(out).__name__}", "an array")
    if out.shape != made.shape:
        raise ShapeError.mismatch("the shape of out", out.shape, made.shape)
    if out.dtype != made.dtype:
        raise DTypeError.mismatch("out", f"of {out.dtype}", made.dtype)
    out[...] = made
