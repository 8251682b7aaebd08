"""The compiler of CUDA, where a package of Python has brought it."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib


@functools.cache
def load() -> None:
    """Loads NVRTC from the packages `nvidia-cuda-nvrtc`, which PyTorch and CuPy bring, so that it is found by its name.

    Where there is none, nothing happens: the system may have one.
    """
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or [] if found else []:
        for library in sorted(pathlib.Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True):
            try:
                ctypes.CDLL(str(library))
            except OSError:
                continue
            return
