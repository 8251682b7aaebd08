"""Makers of random nodes of ONNX Runtime's domain `com.microsoft`: cases, and the table of makers by operator."""

import numpy as np

MAKERS = {}


class Case:
    """A node: inputs (None where one is missing), attributes, the number of outputs, and bounds."""

    def __init__(self, inputs, attributes=None, outputs=1, steps=0, ulps=0.0, expected=None, held=None):
        self.inputs = inputs
        self.attributes = attributes or {}
        self.outputs = outputs
        self.steps = steps
        self.ulps = ulps
        # The outputs, where ONNX Runtime has no kernel for the processor.
        self.expected = expected
        # The rows of the caches (outputs 1 and 2) that have a meaning; others are zeros here.
        self.held = held


def maker(*names):
    def add(function):
        for name in names:
            MAKERS[name] = function
        return function

    return add


class Rng:
    """Random tensors."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def choice(self, all_of):
        return all_of[self.rng.integers(len(all_of))]

    def flag(self):
        return bool(self.rng.integers(2))

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def dims(self, low, high, most=4):
        return [self.int(1, most) for _ in range(self.int(low, high))]

    def floats(self, *dims, dtype=np.float32, scale=1.0):
        return np.asarray(self.rng.normal(size=dims) * scale, dtype=dtype)

    def codes(self, *dims, dtype=np.uint8):
        info = np.iinfo(dtype)
        return np.asarray(self.rng.integers(info.min, info.max + 1, size=dims), dtype=dtype)

    def weights(self, *dims, dtype):
        """Codes whose products with u8 do not saturate at 16 bits, as they do in ONNX Runtime on processors without VNNI."""
        codes = self.codes(*dims, dtype=dtype)
        return codes // 2 if dtype == np.int8 else codes

    def zero(self, dtype=np.uint8):
        info = np.iinfo(dtype)
        middle = (info.min + info.max + 1) // 2
        return np.asarray(self.rng.integers(middle - 20, middle + 20), dtype=dtype)

    def scale(self, low=0.005, high=0.1):
        return np.asarray(self.rng.uniform(low, high), dtype=np.float32)

    def byte_type(self):
        return self.choice([np.uint8, np.int8])

    def mask(self, *dims):
        """A mask of keys, of which none masks all: the sum of -10000 and a score has few digits in float32."""
        mask = self.rng.integers(2, size=dims).astype(np.int32)
        mask[..., 0] = 1
        return mask

    def broadcast_pair(self):
        dims = self.dims(1, 3)
        other = [1 if self.rng.integers(3) == 0 else dim for dim in dims]
        other = other[self.int(0, len(other) - 1) :]
        return (dims, other) if self.flag() else (other, dims)
