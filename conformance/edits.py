"""Edits of models against the scripts that people use: the same parts and sizes, and parts that joined are the whole.

    python conformance/edits.py MODEL… --gradus target/debug/gradus

For each model: `edit --extract :VALUE` and `onnx.utils.extract_model` keep the same nodes, initializers, inputs and outputs; `edit --dim` and
`onnxruntime.tools.make_dynamic_shape_fixed` declare the same inputs; `split --at VALUE` proves that its parts are the model. Values are random ones.
"""

import argparse
import contextlib
import io
import json
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import onnx
from onnx import utils
from onnxruntime.tools.onnx_model_utils import make_dim_param_fixed


def contents(model):
    """What an extracted model has, in no order; names of nodes are those of the file."""
    graph = model.graph
    nodes = Counter(node.SerializeToString(deterministic=True) for node in graph.node)
    names = [sorted(of.name for of in list_) for list_ in (graph.initializer, graph.input, graph.output)]
    return nodes, names


def extract(run, path, value, folder):
    ours, theirs = folder / "ours.onnx", folder / "theirs.onnx"
    model = onnx.load(path)
    constants = {of.name for of in model.graph.initializer}
    inputs = [of.name for of in model.graph.input if of.name not in constants]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            utils.extract_model(path, theirs, inputs, [value])
        except Exception as refused:
            return f"not by onnx: {str(refused)[:80]}"
    made = run("edit", path, "-o", ours, "--extract", f"{','.join(inputs)}:{value}")
    if made.returncode:
        return f"refused: {made.stderr.strip()[:200]}"
    return "same" if contents(onnx.load(ours)) == contents(onnx.load(theirs)) else "other"


def fix(run, path, _, folder):
    model, ours = onnx.load(path), folder / "ours.onnx"
    shapes = [of.type.tensor_type.shape.dim for of in model.graph.input]
    names = sorted({dim.dim_param for shape in shapes for dim in shape if dim.dim_param.isidentifier()})
    if not names:
        return "no names"
    sizes = {name: 2 + number for number, name in enumerate(names)}
    for name, size in sizes.items():
        make_dim_param_fixed(model.graph, name, size)
    made = run("edit", path, "-o", ours, *(word for name, size in sizes.items() for word in ("--dim", f"{name}={size}")))
    if made.returncode:
        return f"refused: {made.stderr.strip()[:200]}"
    same = [of.type for of in onnx.load(ours).graph.input] == [of.type for of in model.graph.input]
    return "same" if same else "other"


def split(run, path, value, folder):
    made = run("split", path, "--at", value, "-o", folder, "--json")
    return json.loads(made.stdout)["verdict"] if made.returncode == 0 else f"refused: {made.stderr.strip()[:200]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--gradus", default="gradus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts", type=int, default=2, help="values of each model")
    args = parser.parse_args()

    def run(*words):
        return subprocess.run([args.gradus, *words], capture_output=True, text=True, check=False)

    counts = Counter()
    for path in args.models:
        values = [name for node in onnx.load(path).graph.node for name in node.output if name and node.op_type != "Constant"]
        for kind, turns in ((extract, args.cuts), (fix, 1), (split, args.cuts)):
            chosen = random.Random(args.seed).sample(values, min(turns, len(values)))
            for value in chosen:
                with tempfile.TemporaryDirectory() as folder:
                    found = kind(run, path, value, Path(folder))
                counts[kind.__name__, found.partition(":")[0]] += 1
                if found not in ("same", "equivalent", "no names"):
                    print(path, kind.__name__, value, found, flush=True)
    for (kind, found), count in sorted(counts.items()):
        print(kind, found, count)


if __name__ == "__main__":
    main()
