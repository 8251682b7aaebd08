"""Range and ShapeOf as OpenVINO's operator sets define them.

Source: OpenVINO Range-1, Range-4, ShapeOf-1, ShapeOf-3.
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._frameworks import Array, named

__all__ = ["range", "shape_of"]


def range(start: Any, stop: Any, step: Any, output_type: Any = None) -> Array:  # noqa: A001, the name is OpenVINO's
    """Computes Range: `start`, `start + step`, … before `stop`.

    Args:
        start: a scalar: an array of shape `()`, a tensor that speaks
            DLPack, or a number of Python, which is int64 or float64.
        stop: a scalar, which is not an element.
        step: a scalar; not zero.
        output_type: the element type of the result, as Range-4 has it:
            inputs may then differ in type, and are cut toward zero for
            integers. `None` stands for Range-1: all have one type, which is
            the result's.

    Returns:
        An array of one axis; every element is exact, rounded once.

    Raises:
        DTypeError: if a type is not numeric, or the three differ in
            Range-1.
        ShapeError: if an input is not a scalar.
        ArgumentError: if the step is zero, also after the cast, or an input
            is NaN or infinite.

    Example:
        >>> import gradus
        >>> gradus.openvino.range(1.2, 5.3, 1.6, "i32")
        array([1, 2, 3, 4], dtype=int32)
    """
    if output_type is None:
        return _native._evaluate("openvino", "Range", 1, [start, stop, step], {})
    name = output_type if isinstance(output_type, str) else _native._dtype_name(named(output_type))
    return _native._evaluate("openvino", "Range", 4, [start, stop, step], {"output_type": name})


def shape_of(data: Any, output_type: Any = "i64") -> Array:
    """Computes ShapeOf-3: the sizes of all axes.

    Args:
        data: an array, a tensor that speaks DLPack, or numbers and lists.
        output_type: `"i64"` or `"i32"`.

    Returns:
        An array of one axis, of int64 or int32.

    Raises:
        ArgumentError: if `output_type` is another text.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.openvino.shape_of(np.zeros((2, 3)), "i32")
        array([2, 3], dtype=int32)
    """
    name = output_type if isinstance(output_type, str) else _native._dtype_name(named(output_type))
    return _native._evaluate("openvino", "ShapeOf", 3, [data], {"output_type": name})
