"""Writes conversions between element types as the installed `ml_dtypes` and `onnx` packages do them.

    python conformance/casts.py FOLDER

For each type of at most 16 bits: the value of every code (`decode/TYPE.npy`, as float64); and for each narrow type
the codes of a list of float32 numbers (`encode/TYPE.RULES.npy`), which has every float16, every bfloat16 and their
neighbours (`encode/numbers.npy`). RULES are `special` (overflow gives infinity or NaN) and `saturate`, or for scales
`MODE` of ONNX's `round_mode`.
"""

import pathlib
import sys

import ml_dtypes
import numpy as np
from onnx import numpy_helper

FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8_e8m0": ml_dtypes.float8_e8m0fnu,
    "float6_e2m3": ml_dtypes.float6_e2m3fn,
    "float6_e3m2": ml_dtypes.float6_e3m2fn,
    "float4_e2m1": ml_dtypes.float4_e2m1fn,
}
INTEGERS = {"int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2}
BITS = {"float16": 16, "bfloat16": 16, "float6_e2m3": 6, "float6_e3m2": 6, "float4_e2m1": 4, "int4": 4, "uint4": 4,
        "int2": 2, "uint2": 2}  # fmt: skip
SATURATING = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]


def codes(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)


def numbers() -> np.ndarray:
    """Every float16 and bfloat16, with the float32 numbers beside them."""
    all_codes = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    halves = all_codes.view(np.float16).astype(np.float32)
    brains = all_codes.view(ml_dtypes.bfloat16).astype(np.float32)
    # Which of the two zeros is kept depends on how the processor sorts.
    here = np.unique(np.concatenate([halves, brains])[np.isfinite(np.concatenate([halves, brains]))]) + np.float32(0)
    beside = [np.nextafter(here, np.float32(np.inf)), np.nextafter(here, np.float32(-np.inf))]
    special = np.array([np.inf, -np.inf, np.nan, -0.0], dtype=np.float32)
    return np.concatenate([here, *beside, special]).astype(np.float32)


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    (root / "decode").mkdir(parents=True, exist_ok=True)
    (root / "encode").mkdir(parents=True, exist_ok=True)
    x = numbers()
    np.save(root / "encode/numbers.npy", x)
    with np.errstate(all="ignore"):
        for name, dtype in (FLOATS | INTEGERS).items():
            bits = BITS.get(name, 8)
            raw = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
            np.save(root / f"decode/{name}.npy", raw.view(dtype).astype(np.float64))
        for name, dtype in FLOATS.items():
            if name == "float8_e8m0":
                for mode in ("up", "down", "nearest"):
                    y = numpy_helper.to_float8e8m0(x, saturate=True, round_mode=mode)
                    np.save(root / f"encode/{name}.{mode}.npy", codes(y))
                continue
            np.save(root / f"encode/{name}.special.npy", codes(x.astype(dtype)))
            if name in SATURATING:
                y = numpy_helper.saturate_cast(x, np.dtype(dtype))
                np.save(root / f"encode/{name}.saturate.npy", codes(y))
        small = x[np.abs(x) < 1e6]
        np.save(root / "encode/small_numbers.npy", small)
        for name, dtype in INTEGERS.items():
            np.save(root / f"encode/{name}.special.npy", codes(small.astype(dtype)))


if __name__ == "__main__":
    main()
