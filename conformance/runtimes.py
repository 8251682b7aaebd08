"""Holds `gradus convert --for onnxruntime` against ONNX Runtime.

    python conformance/runtimes.py GRADUS

The node tests of the installed `onnx` package and the ONNX models and IRs of the corpus ($GRADUS_CORPUS) are converted. ONNX
Runtime must load what is written. What is refused, because ONNX Runtime does not run a node, is converted without
`--for`, in the newest operator set that it loads: it must refuse that too.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import onnx
import onnxruntime
from onnx.backend.test.loader import load_model_tests
from onnxruntime.capi import onnxruntime_pybind11_state as native

warnings.filterwarnings("ignore")
NEWEST_OPSET = 26
SECONDS = 120


def tests(folder: pathlib.Path) -> list[pathlib.Path]:
    """The models of the node tests, in a folder."""
    paths = []
    for case in load_model_tests(kind="node"):
        path = folder / f"{case.name}.onnx"
        onnx.save(case.model, path)
        paths.append(path)
    return paths


def convert(program: str, path: pathlib.Path, output: pathlib.Path, *options: str) -> str:
    """Why a model is not converted; nothing if it is."""
    command = [program, "convert", path, output, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return "" if done.returncode == 0 else json.loads(done.stdout.splitlines()[0])["error"]["message"]


def loaded(path: pathlib.Path) -> Exception | None:
    """What ONNX Runtime says against a model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Folding would do away with nodes that have no kernel.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return error
    return None


def valid(path: pathlib.Path) -> bool:
    """True unless ONNX Runtime refuses a model for another reason than that it lacks an implementation."""
    error = loaded(path) if path.suffix == ".onnx" else None
    return error is None or isinstance(error, native.NotImplemented) or "opset" in str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gradus")
    arguments = parser.parse_args()
    failures, accepted, refused, others = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        paths = tests(folder)
        if corpus := os.environ.get("GRADUS_CORPUS"):
            paths += sorted(p for p in pathlib.Path(corpus).rglob("*") if p.suffix in (".onnx", ".xml"))
        output = folder / "converted.onnx"
        for path in paths:
            why = convert(arguments.gradus, path, output, "--for", "onnxruntime")
            if not why:
                accepted += 1
                if (error := loaded(output)) and valid(path):
                    failures.append(f"{path.name}: accepted, but {error}")
            elif "for onnxruntime" in why and not convert(
                arguments.gradus, path, output, "--opset", str(NEWEST_OPSET)
            ):
                refused += 1
                if loaded(output) is None:
                    failures.append(f"{path.name}: refused, but ONNX Runtime loads it: {why}")
            else:
                others += 1
    print("\n".join(failures))
    print(f"{accepted} accepted, {refused} refused for ONNX Runtime, {others} not converted; {len(failures)} wrong")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
