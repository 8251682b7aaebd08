"""What tests share: the repository's files, and the exact values of sequences."""

import json
import math
import os
import pathlib
from fractions import Fraction

import hypothesis
import ml_dtypes
import mpmath
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]

hypothesis.settings.register_profile("gradus", deadline=None, max_examples=200, print_blob=True)
hypothesis.settings.load_profile("gradus")

# Roundings of powers are decided with this many bits, so that none is left open.
mpmath.mp.prec = 400


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    """Examples name files as seen from the root."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def recorded():
    """Recorded calls of linspace, logspace and geomspace, with what programs returned and the exact results."""
    return json.loads((ROOT / "conformance/recorded/logspace.json").read_text())["cases"]


def corpus():
    """The folder of real models, where there is one."""
    return os.environ.get("GRADUS_CORPUS")


def rounded(value, dtype):
    """A fraction or an mpf as an element: to the nearest with ties to even, or toward zero. By NumPy, from integers only."""
    dtype = np.dtype(dtype)
    if isinstance(value, mpmath.mpf):
        sign, mantissa, exponent, _ = value._mpf_
        value = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent
    if dtype.kind in "iu":
        return int(value)
    info = ml_dtypes.finfo(dtype)
    if value == 0:
        return dtype.type(0.0)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    steps = round(value / unit)  # Python rounds halves to even.
    result = steps * unit
    largest = Fraction(float(info.max)) if dtype != np.float64 else Fraction(np.finfo(np.float64).max)
    if abs(result) > largest:
        return dtype.type(float("inf") if value > 0 else float("-inf"))
    # Numbers too small for the type keep their sign.
    return dtype.type(math.copysign(float(result), value))


def bits(array):
    """The elements as integers, so that signs of zeros and NaN compare too."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind != "c" else array.view(array.real.dtype)
