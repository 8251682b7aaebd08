"""Helpers of the frameworks' namespaces: scalars that are taken from tensors, and casts as C makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._dlpack import as_array

Array = np.ndarray[Any, Any]


def is_tensor(x: Any) -> bool:
    """Returns true for an array or a tensor, and false for a number of Python."""
    return isinstance(x, np.ndarray | np.generic) or hasattr(x, "__dlpack__")


def scalar(x: Any) -> Any:
    """The only element of a tensor, as a number of Python; a number as it is."""
    if not is_tensor(x):
        return x
    return as_array(x).reshape(-1)[0].item()


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """A number after a conversion to a type: to the nearest float, or toward zero and to the integer's low bits."""
    if dtype.kind in "iu":
        whole = int(x.real if isinstance(x, complex) else x)
        return int(np.array(whole & (2 ** (8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)[()])
    if not np.isfinite(x):
        return x
    element = _native.linspace(x, x, 1, True, False, dtype)[0]
    return complex(element) if dtype.kind == "c" else float(element)


def named(dtype: Any) -> np.dtype[Any]:
    """The type of an array, of what frameworks call it: `torch.float32` and `paddle.float32` are texts at their ends."""
    if isinstance(dtype, str | type | np.dtype):
        return _native._dtype(dtype)
    return _native._dtype(str(dtype).rpartition(".")[2].lower())
