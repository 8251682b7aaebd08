"""Fixed exports that `gradus edit --dynamic` and `gradus generalize` make dynamic again.

    python bench/dynamic.py EXPORTS --gradus target/release/gradus

EXPORTS is the folder that scripts/export_fixed.py fills where torch is installed: `NAME.a.onnx`,
`NAME.b.onnx` and `NAME.c.onnx` are one network at three sizes (c has the batch of a), `NAME.npz` has
inputs and torch's outputs at sizes that none of them has. Each dynamic model runs in ONNX Runtime,
without optimisations, at those sizes: right, refused, partly right (the rest is outside of the
conditions), told (wrong, and a line says which numbers stay), or wrong.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, NotImplemented, RuntimeException

KINDS = ("batch", "all", "two", "three")


def run(path, store, kind):
    """The numbers of right and wrong runs, and of runs that ONNX Runtime refuses."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except NotImplemented:
        return Counter(["fails"])
    names = {i.name for i in session.get_inputs()}
    found = Counter()
    numbers = sorted({key.split("/")[1] for key in store if key.startswith(kind)}, key=int)
    for number in numbers:
        inputs = {
            key.rsplit("/", 1)[1]: store[key]
            for key in store
            if key.startswith(f"{kind}/{number}/in/") and key.rsplit("/", 1)[1] in names
        }
        wanted = store[f"{kind}/{number}/out"]
        try:
            got = session.run(None, inputs)[0]
        except (Fail, InvalidArgument, RuntimeException):
            found["fails"] += 1
            continue
        near = got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-3, atol=1e-4, equal_nan=True)
        found["right" if near else "wrong"] += 1
    return found


def sizes(net, kind, path):
    """Options that declare the inputs; for the batch alone, other sizes are those of the file."""
    words = []
    specs = net["spec"] if isinstance(net["spec"], list) else [net["spec"]] * len(net["inputs"])
    declared = {value.name: value.type.tensor_type.shape.dim for value in onnx.load(path).graph.input}
    for name, spec in zip(net["inputs"], specs, strict=True):
        each = zip(spec.split(","), declared[name], strict=True)
        own = [str(size.dim_value) if kind == "batch" and word != "n" else word for word, size in each]
        words += ["--dynamic", f"{name}={','.join(own)}"]
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exports", type=Path)
    parser.add_argument("--gradus", default="gradus")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    nets = json.loads((args.exports / "nets.json").read_text())
    totals = {kind: Counter() for kind in KINDS}
    for name, net in nets.items():
        if args.only and name not in args.only.split(","):
            continue
        a, b, c = (args.exports / f"{name}.{which}.onnx" for which in "abc")
        store = dict(np.load(args.exports / net.get("values", f"{name}.npz")))
        for kind in KINDS:
            models = {"two": [a, b], "three": [a, c, b]}.get(kind, [a])
            if not all(path.exists() for path in models):
                continue
            out = args.exports / f"{name}.{kind}.onnx"
            out.unlink(missing_ok=True)
            command = "edit" if len(models) == 1 else "generalize"
            line = [args.gradus, command, *map(str, models), "-o", str(out), *sizes(net, kind, a)]
            ran = subprocess.run(line, capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                said = (ran.stderr + ran.stdout).strip().splitlines()
                verdict, said = "refused", next((s for s in said if "error" in s), said[:1])
            else:
                found = run(str(out), store, "batch" if kind == "batch" else "all")
                said = dict(found)
                verdict = "wrong" if found["wrong"] else "right" if not found["fails"] else "partly"
                if verdict == "wrong" and " stays " in ran.stdout + ran.stderr:
                    verdict = "told"
            totals[kind][verdict] += 1
            print(f"{name:14} {kind:6} {verdict:8} {'' if verdict == 'right' else str(said)[:230]}", flush=True)
    for kind, found in totals.items():
        print(f"{kind:6} {dict(found)}")
    return 1 if any(found["wrong"] for found in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
