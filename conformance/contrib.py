"""Makes random nodes of ONNX Runtime's domain `com.microsoft`, and writes what ONNX Runtime gives for them.

    python conformance/contrib.py FILE [--count N] [--seed S] [--only NAME,…]

FILE becomes the JSON text that `crates/gradus/tests/operators/contrib.rs` reads: of each node its operator, attributes, inputs,
outputs, and how far another program's outputs may be away. `conformance/recorded/contrib.json` is checked in.
Operators that ONNX Runtime only runs on other devices are computed here, in float64, as their texts say.

Bounds: `steps` are codes of quantized outputs, since ONNX Runtime computes in float32 before it rounds to a code.
`ulps` are units in the last place of float32, or of float16, at the largest element of the output: sums of float32
are rounded in each term there, and once in Gradus.
"""

import argparse
import json
import sys
import zlib

import contrib_floats as _  # fills the table
import contrib_quantized as _  # fills the table
import numpy as np
import onnxruntime
from contrib_case import MAKERS, Case, Rng
from one_node import one_node

DOMAIN = "com.microsoft"


def element(dtype) -> str:
    return str(np.dtype(dtype))


def tensor(value):
    value = np.asarray(value)
    flat = value.reshape(-1)
    if value.dtype.kind == "f":
        data = [float(x) if np.isfinite(x) else str(x) for x in flat.astype(np.float64)]
    elif value.dtype.kind in "OU":
        data = [str(x) for x in flat]
    else:
        data = [int(x) for x in flat]
    name = "string" if value.dtype.kind in "OU" else element(value.dtype)
    return {"type": name, "dims": list(value.shape), "data": data}


def reference(name, case) -> list[np.ndarray]:
    """What ONNX Runtime gives, its optimizations off."""
    # Some kernels take parameters only as constants.
    model, values = one_node(name, case.inputs, case.attributes, outputs=case.outputs, domain=(DOMAIN, 1), defaults=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, values)


# Operators that ONNX Runtime has in float16 too.
SHORT = {"FastGelu", "GroupQueryAttention", "MatMulNBits", "RotaryEmbedding", "SkipLayerNormalization"}


def shortened(case: Case) -> Case:
    """The case in float16."""
    case.inputs = [
        value.astype(np.float16) if value is not None and np.asarray(value).dtype == np.float32 else value
        for value in case.inputs
    ]
    # A unit is 8192 times as large, and sums are rounded to it.
    case.ulps = 8
    return case


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    lines, refused = [], {}
    for name, make in sorted(MAKERS.items()):
        if only and name not in only:
            continue
        made = 0
        for attempt in range(8 * given.count):
            if made == given.count:
                break
            case = make(Rng([given.seed, attempt, zlib.crc32(name.encode())]), name)
            if name in SHORT and attempt % 3 == 1:
                case = shortened(case)
            try:
                outputs = case.expected or reference(name, case)
            except Exception as error:
                refused.setdefault(name, str(error).splitlines()[0][:300])
                continue
            for cache in outputs[1:3] if case.held is not None else []:
                cache[:, :, case.held:] = 0
            made += 1
            line = {
                "operator": name,
                "attributes": case.attributes,
                "inputs": [None if value is None else tensor(value) for value in case.inputs],
                "outputs": [tensor(value) for value in outputs],
            }
            line |= {key: value for key in ("steps", "ulps") if (value := getattr(case, key))}
            lines.append(json.dumps(line, separators=(",", ":")))
        if made < given.count:
            print(f"{name}: {made} of {given.count}; {refused.get(name)}", file=sys.stderr)
        elif name in refused and given.count < 20:
            print(f"{name}: also refused {refused[name]}", file=sys.stderr)
    with open(given.file, "w", encoding="utf-8") as file:
        version = onnxruntime.__version__
        file.write(f'{{"onnxruntime": "{version}", "cases": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(lines)} cases of {len(MAKERS)} operators")


if __name__ == "__main__":
    main()
