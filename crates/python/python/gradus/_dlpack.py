"""DLPack, with the types that NumPy's own export and import leave out: bfloat16 and the floats of 8 bits and less.

NumPy makes and reads the capsules; only the code of the element type in them is ours.

Source: the header `dlpack.h`, version 1.1 (`DLTensor`, `DLDataType`, `DLManagedTensorVersioned`).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

# kDLBfloat, and the kDLFloat… of the small floats.
_CODES = {
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}
_NAMES = {code: name for name, code in _CODES.items()}


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


def _data_type(capsule: object) -> _DataType:
    """The element type that a capsule states; it may be changed until the capsule is consumed."""
    if _is_valid(capsule, b"dltensor_versioned"):
        return _Versioned.from_address(_pointer(capsule, b"dltensor_versioned")).tensor.dtype
    return _Tensor.from_address(_pointer(capsule, b"dltensor")).dtype


class Exported:
    """An array of NumPy as other libraries take it in, without a copy: `torch.from_dlpack(gradus.to_dlpack(array))`."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array: Any = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, **how: Any) -> object:
        code = _CODES.get(self._array.dtype.name)
        if code is None:
            return self._array.__dlpack__(**how)
        codes = self._array.view(np.uint16 if code[1] == 16 else np.uint8)
        capsule = codes.__dlpack__(**how)
        stated = _data_type(capsule)
        stated.code, stated.bits = code
        return capsule


class _Codes:
    """A tensor of another library, whose elements NumPy shall take for plain integers."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.name: str | None = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **how: Any) -> object:
        try:
            capsule = self.tensor.__dlpack__(**how)
        except TypeError:
            # Libraries that know an older version of the protocol take no arguments.
            capsule = self.tensor.__dlpack__()
        stated = _data_type(capsule)
        self.name = _NAMES.get((stated.code, stated.bits))
        if self.name is not None:
            stated.code = 1
        return capsule


def from_dlpack(tensor: Any) -> np.ndarray[Any, Any]:
    """Returns an array that shares the memory of a tensor of another library.

    Source: DLPack 1.1.

    Args:
        tensor: an object with `__dlpack__` and `__dlpack_device__` (of
            torch, JAX, Paddle, …), on the CPU.

    Returns:
        An array of the same shape; of bfloat16 and the small floats, of the
        types of `ml_dtypes`.

    Raises:
        BufferError: if the tensor is on another device.
        RuntimeError: if NumPy does not read its element type.

    Example:
        >>> import gradus, numpy as np
        >>> gradus.from_dlpack(np.arange(3))
        array([0, 1, 2])
    """
    codes = _Codes(tensor)
    array: np.ndarray[Any, Any] = np.from_dlpack(codes)  # type: ignore[arg-type]
    if codes.name is None:
        return array
    import ml_dtypes

    return array.view(getattr(ml_dtypes, codes.name))


def to_dlpack(array: Any) -> Exported:
    """Wraps an array so that other libraries read it, without a copy.

    Arrays of `ml_dtypes` need this; arrays of NumPy's own types speak
    DLPack themselves.

    Args:
        array: an array of any shape and type.

    Returns:
        An object with `__dlpack__` and `__dlpack_device__`.

    Example:
        >>> import gradus
        >>> halves = gradus.arange(3, dtype="bfloat16")
        >>> gradus.from_dlpack(gradus.to_dlpack(halves))
        array([0, 1, 2], dtype=bfloat16)
    """
    return Exported(np.asarray(array))


def as_array(x: Any) -> np.ndarray[Any, Any]:
    """The array of a number, a list, an array, or a tensor of another library."""
    if isinstance(x, np.ndarray | np.generic) or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    return from_dlpack(x)
