"""Models that PyTorch exports, and sequences as PyTorch has them.

Sequences have PyTorch's signatures, defaults, casts and errors.
Results are arrays that `torch.from_dlpack` reads without a copy (of
bfloat16 by `gradus.to_dlpack`). Elements are exact, rounded once. As in
PyTorch, ends are cast to the output type first, and the base is a
double.

Source: PyTorch 2.15, `aten/src/ATen/native/RangeFactories.cpp` and
`RangeUtils.h`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as _np

from . import _native
from ._exports import ExportedCondition, ExportedModel, ExportReport, export, exported
from ._frameworks import Array, cast, is_tensor, named, scalar

__all__ = ["ExportReport", "ExportedCondition", "ExportedModel", "arange", "export", "exported", "linspace", "logspace"]

_TYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
_COMPLEX = ["complex64", "complex128"]


def _number(x: Any, name: str) -> Any:
    if is_tensor(x) and _np.ndim(x) != 0:
        raise RuntimeError(f"{name} must be a number or a tensor without axes, but has shape {tuple(_np.shape(x))}")
    value = scalar(x)
    if not isinstance(value, int | float | complex):
        raise TypeError(f"{name} must be Number, not {type(x).__name__}")
    return value


def _check(layout: Any, device: Any, requires_grad: bool, pin_memory: bool) -> None:
    if layout is not None and str(layout) != "torch.strided":
        raise RuntimeError(f"layout {layout} is not there; arrays are strided")
    if device is not None and str(device) != "cpu":
        raise RuntimeError(f'device {device} is not there; there is only "cpu"')
    if requires_grad:
        raise RuntimeError("arrays of NumPy have no gradient")
    if pin_memory:
        raise RuntimeError("arrays of NumPy lie in memory that is not pinned")


def _type(dtype: Any, out: Array | None, default: str, function: str, types: list[str]) -> _np.dtype[Any]:
    found = named(dtype if dtype is not None else out.dtype if out is not None else default)
    if found.name not in types:
        raise NotImplementedError(f'"{function}_cpu" not implemented for {found}')
    return found


def _steps(steps: Any) -> int:
    steps = operator.index(scalar(steps))
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return steps


def _refuse(function: str, start: Any, end: Any, third: Any, steps: int | None, dtype: _np.dtype[Any]) -> None:
    """Raises the error that PyTorch raises for these numbers; the profile `torch` has the rules."""
    if any(isinstance(x, complex) for x in (start, end)):
        if dtype.kind == "c":
            return
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow")
    if dtype.kind != "c":
        message = _native._refusal("torch", function, start, end, third, steps, dtype)
        if message is not None:
            raise RuntimeError(message)


def arange(
    *numbers: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    out: Array | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Array:
    """Returns `torch.arange(start=0, end, step=1)`, exactly.

    Args:
        *numbers: start, end and step by position; the end alone.
        start: the first element; by default 0.
        end: the end, which is not an element.
        step: the distance of neighbours; by default 1.
        out: an array to write into.
        dtype: the element type; by default int64 or float32.
        layout: `None` or `torch.strided`.
        device: `"cpu"`.
        requires_grad: `False`, as arrays of NumPy have no gradient.
        pin_memory: `False`, as memory of NumPy is not pinned.

    Returns:
        An array of one axis: `out`, if it is given.

    Raises:
        RuntimeError: if the step is zero or not finite, or a bound is not
            finite or on the wrong side.
        TypeError: if the end is missing, or an argument is not a number.
        NotImplementedError: if PyTorch has no such type.

    Example:
        >>> import gradus
        >>> gradus.torch.arange(1, 2.5, 0.5)
        array([1. , 1.5, 2. ], dtype=float32)
    """
    _check(layout, device, requires_grad, pin_memory)
    if len(numbers) > 3:
        raise TypeError(f"arange() takes from 1 to 3 positional arguments, but {len(numbers)} were given")
    if len(numbers) == 1 and end is None:
        end, numbers = numbers[0], ()
    given: dict[str, Any] = dict(zip(("start", "end", "step"), numbers, strict=False))
    for name, value in (("start", start), ("end", end), ("step", step)):
        if value is not None:
            if name in given:
                raise TypeError(f"arange() got multiple values for argument '{name}'")
            given[name] = value
    if "end" not in given:
        raise TypeError("arange() missing 1 required positional argument: 'end'")
    first, last, by = (_number(given.get(name, of), name) for name, of in (("start", 0), ("end", 0), ("step", 1)))
    if any(isinstance(x, complex) for x in (first, last, by)):
        raise RuntimeError("arange() takes real numbers")
    whole = all(isinstance(x, int) for x in (first, last, by))
    made = _type(dtype, out, "int64" if whole else "float32", "arange", _TYPES)
    _refuse("range", first, last, by, None, made)
    if made.kind in "iu" and not whole:
        # The length is that of the numbers as they are; start and step are cut toward zero.
        count = max(math.ceil((last - first) / by), 0)
        first, by = int(first), int(by)
        if by == 0:
            result = _np.full(count, cast(first, made), made)
            return _given(result, out)
        last = first + count * by
    return _native.arange(first, last, by, made, out=out)


def _given(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    _np.copyto(out, result, casting="no")
    return out


def _ends(
    start: Any, end: Any, steps: int, base: Any, dtype: Any, out: Array | None, function: str
) -> tuple[Any, Any, _np.dtype[Any]]:
    """The ends after their cast to the output type, of which PyTorch reads none for no steps and one for one step."""
    first, last = _number(start, "start"), _number(end, "end")
    default = "complex64" if isinstance(first, complex) or isinstance(last, complex) else "float32"
    made = _type(dtype, out, default, function, [*_TYPES, *_COMPLEX])
    _refuse(function, first, last, base, steps, made)
    first, last = ((0, 0), (first, first), (first, last))[min(steps, 2)]
    return cast(first, made), cast(last, made), made


def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    out: Array | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Array:
    """Returns `torch.linspace`, exactly; integers are rounded toward zero.

    Args:
        start: the first end, a number or a tensor of rank 0.
        end: the other end.
        steps: the number of samples.
        out: an array to write into.
        dtype: the element type; by default float32 or complex64.
        layout: `None` or `torch.strided`.
        device: `"cpu"`.
        requires_grad: `False`, as arrays of NumPy have no gradient.
        pin_memory: `False`, as memory of NumPy is not pinned.

    Returns:
        An array of shape `(steps,)`: `out`, if it is given.

    Raises:
        RuntimeError: if `steps` is negative, or the type does not hold an
            end.
        TypeError: if an end is not a number.
        NotImplementedError: if PyTorch has no such type.

    Example:
        >>> import gradus
        >>> gradus.torch.linspace(0, 1, 5)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    _check(layout, device, requires_grad, pin_memory)
    count = _steps(steps)
    first, last, made = _ends(start, end, count, None, dtype, out, "linspace")
    return _native.linspace(first, last, count, True, False, made, out=out)


def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: Any = 10.0,
    *,
    out: Array | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Array:
    """Returns `torch.logspace`, exactly; integers are rounded toward zero.

    Ends are cast to the element type first; the base is a double.

    Args:
        start: the first exponent, a number or a tensor of rank 0.
        end: the last exponent.
        steps: the number of samples.
        base: the base.
        out: an array to write into.
        dtype: the element type; by default float32 or complex64.
        layout: `None` or `torch.strided`.
        device: `"cpu"`.
        requires_grad: `False`, as arrays of NumPy have no gradient.
        pin_memory: `False`, as memory of NumPy is not pinned.

    Returns:
        An array of shape `(steps,)`: `out`, if it is given.

    Raises:
        RuntimeError: if `steps` is negative, or the type does not hold an
            end.
        TypeError: if an end is not a number.
        NotImplementedError: if PyTorch has no such type.

    Example:
        >>> import gradus
        >>> gradus.torch.logspace(1, 10, 4, 2)
        array([   2.,   16.,  128., 1024.], dtype=float32)
    """
    _check(layout, device, requires_grad, pin_memory)
    count, power = _steps(steps), float(scalar(base))
    first, last, made = _ends(start, end, count, power, dtype, out, "logspace")
    return _native.logspace(first, last, count, True, power, made, out=out)
