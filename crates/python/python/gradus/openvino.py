"""``range`` and ``shape_of`` as OpenVINO's operator sets define them.

Source: OpenVINO Range-1, Range-4, ShapeOf-1, ShapeOf-3.
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._frameworks import Array, named

__all__ = ["range", "shape_of"]


def range(start: Any, stop: Any, step: Any, output_type: Any = None) -> Array:  # noqa: A001, the name is OpenVINO's
    """``start``, ``start + step``, … while short of ``stop``.

    Args:
        start, stop, step: scalars: arrays without axes, tensors that speak DLPack, or numbers of Python, which are int64 and
            float64.
        output_type: the element type of the result, as Range-4 has it; the inputs may then be of different types, and are cut
            toward zero if it is an integer. ``None`` stands for Range-1: all of one type, which is the result's.

    Raises:
        DTypeError: if a type is not numeric, or the three differ in Range-1.
        ShapeError: if an input is no scalar.
        ArgumentError: if the step is zero, also after the cast, or an input is NaN or infinite.

    Example:
        >>> import gradus
        >>> gradus.openvino.range(1.2, 11.3, 1.6, "i32")
        array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10], dtype=int32)
    """
    if output_type is None:
        return _native._evaluate("openvino", "Range", 1, [start, stop, step], {})
    name = output_type if isinstance(output_type, str) else _native._dtype_name(named(output_type))
    return _native._evaluate("openvino", "Range", 4, [start, stop, step], {"output_type": name})


def shape_of(data: Any, output_type: Any = "i64") -> Array:
    """The sizes of all axes, as int64 or int32 (ShapeOf-3)."""
    name = output_type if isinstance(output_type, str) else _native._dtype_name(named(output_type))
    return _native._evaluate("openvino", "ShapeOf", 3, [data], {"output_type": name})
