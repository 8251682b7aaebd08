"""Lengths and scales at which ONNX Runtime samples other elements than exact coordinates name, for `Resize` in mode nearest.

    python conformance/resize_scales.py conformance/recorded/resize_scales.json

Lengths are 1 to 20, scales multiples of 1/8 and 1/10. `crates/gradus/tests/models/portability.rs` holds `gradus compare` against the recording.
"""

import json
import sys
from fractions import Fraction
from importlib import metadata
from math import ceil, floor

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

COORDINATES = ["align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"]
NEAREST = ["ceil", "floor", "round_prefer_ceil", "round_prefer_floor"]
SCALES = sorted({k / 8 for k in range(1, 33)} | {k / 10 for k in range(1, 41)})
HALF = Fraction(1, 2)


def coordinate(mode, at, scale, size, wanted):
    half_pixel = (at + HALF) / scale - HALF
    if mode == "half_pixel_symmetric":
        return Fraction(size, 2) * (1 - wanted / (scale * size)) + half_pixel
    if mode in ("align_corners", "pytorch_half_pixel") and wanted == 1:
        return Fraction(0)
    if mode == "align_corners":
        return Fraction(at * (size - 1), wanted - 1)
    return at / scale if mode == "asymmetric" else half_pixel


def nearest(mode, x):
    below, rest = floor(x), x - floor(x)
    if mode in ("floor", "ceil"):
        return below if mode == "floor" else ceil(x)
    return below + (rest > HALF or (rest == HALF and mode == "round_prefer_ceil"))


def session(coordinates, mode, scale):
    attributes = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": mode}
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, "n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    scales = helper.make_tensor("scales", TensorProto.FLOAT, [3], [1, 1, scale])
    graph = helper.make_graph([node], "g", [x], [y], [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return onnxruntime.InferenceSession(model.SerializeToString())


def main(path):
    onnxruntime.set_default_logger_severity(3)
    found = {}
    for coordinates in COORDINATES:
        for mode in NEAREST:
            for scale in SCALES:
                program = session(coordinates, mode, scale)
                exact, differing = Fraction(float(np.float32(scale))), []
                for size in range(1, 21):
                    wanted = int(np.floor(np.float32(scale) * np.float32(size)))
                    if wanted == 0:
                        continue
                    x = np.arange(size, dtype=np.float32).reshape(1, 1, size)
                    at = [nearest(mode, coordinate(coordinates, at, exact, size, wanted)) for at in range(wanted)]
                    if program.run(None, {"x": x})[0].ravel().tolist() != np.clip(at, 0, size - 1).tolist():
                        differing.append(size)
                if differing:
                    found.setdefault(f"{coordinates} {mode}", {})[str(scale)] = differing
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in found.items())
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'{{"version": "{metadata.version("onnxruntime")}", "differing": {{\n{lines}\n}}}}\n')


main(sys.argv[1])
