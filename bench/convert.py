"""Conversions by Gradus, OpenVINO's converter and `onnx.version_converter`, on the same models, each in a process of its own.

    python bench/convert.py GRADUS MODEL... [--opset 17]

A model is a file or a folder of ONNX models. To OpenVINO: `gradus convert` and `openvino.convert_model` with
`save_model`; to another operator set: `gradus convert --opset` and `onnx.version_converter`. A result is right if its
program runs it on random inputs (dimensions without a number are 2, or what a run needs), and gives what ONNX Runtime gives for the
source, within 1e-3 of the largest number. Models that ONNX Runtime does not run on such inputs count only as converted.
Times are CPU seconds of all processes, the start of Python and imports included; memory is the largest peak.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SECONDS = 120
OPENVINO = """
import sys, openvino
openvino.save_model(openvino.convert_model(sys.argv[1]), sys.argv[2], compress_to_fp16=False)
"""
VERSIONS = """
import sys, onnx, onnx.version_converter
onnx.save(onnx.version_converter.convert_version(onnx.load(sys.argv[1]), int(sys.argv[3])), sys.argv[2])
"""
ELEMENTS = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(bool)": np.bool_,
    "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
}  # fmt: skip


def measured(command: list[str]) -> tuple[bool, float, int]:
    """Whether a command succeeds, its CPU seconds, and its peak memory in MiB."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode == 0, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def limited(command: list[str]) -> list[str]:
    return ["timeout", str(SECONDS), *command]


def session(path: pathlib.Path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def expected(path: pathlib.Path) -> tuple[dict, list] | None:
    """Random inputs of a model, and what ONNX Runtime gives for them."""
    random = np.random.default_rng(1)
    try:
        source = session(path)
        inputs = {}
        for one in source.get_inputs():
            sizes = [size if isinstance(size, int) else 2 for size in one.shape]
            dtype = ELEMENTS[one.type]
            whole = not np.issubdtype(dtype, np.floating)
            numbers = random.integers(0, 2, sizes) if whole else random.standard_normal(sizes)
            inputs[one.name] = np.asarray(numbers).astype(dtype)
        return inputs, source.run(None, inputs)
    except Exception:
        return None


def results(path: pathlib.Path, inputs: dict) -> list:
    if path.suffix == ".onnx":
        return session(path).run(None, inputs)
    import openvino

    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    wanted = {name: array for name, array in inputs.items() if any(name in one.names for one in compiled.inputs)}
    given = compiled(wanted)
    return [given[output] for output in compiled.outputs]


def close(a, b) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    a, b = a.astype(np.float64), b.astype(np.float64)
    largest = np.max(np.abs(a), where=np.isfinite(a), initial=0)
    return np.allclose(a, b, rtol=1e-3, atol=1e-3 * largest, equal_nan=True)


def is_right(path: pathlib.Path, inputs: dict, want: list) -> bool:
    try:
        got = results(path, inputs)
        return len(got) == len(want) and all(map(close, want, got))
    except Exception:
        return False


def judged(path: pathlib.Path, source: pathlib.Path) -> str:
    """Whether a converted model is right, in a process of its own: programs crash."""
    command = limited([sys.executable, __file__, "--judge", str(path), str(source)])
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def judge(path: str, source: str) -> None:
    known = expected(pathlib.Path(source))
    print("unknown" if known is None else "right" if is_right(pathlib.Path(path), *known) else "wrong")


def main() -> None:
    if sys.argv[1:2] == ["--judge"]:
        judge(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("gradus")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--opset", default="17")
    arguments = parser.parse_args()
    paths = []
    for given in arguments.models:
        paths += sorted(given.rglob("*.onnx")) if given.is_dir() else [given]
    programs = [
        ("Gradus, to OpenVINO", "xml", [arguments.gradus, "convert"], []),
        ("OpenVINO's converter", "xml", [sys.executable, "-c", OPENVINO], []),
        (f"Gradus, to set {arguments.opset}", "onnx", [arguments.gradus, "convert"], ["--opset", arguments.opset]),
        ("onnx.version_converter", "onnx", [sys.executable, "-c", VERSIONS], [arguments.opset]),
    ]
    sums = {name: {"converted": 0, "right": 0, "wrong": 0, "seconds": 0.0, "memory": 0} for name, *_ in programs}
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            for name, suffix, command, more in programs:
                output = pathlib.Path(folder) / f"converted.{suffix}"
                done, seconds, memory = measured(limited([*command, str(path), str(output), *more]))
                own = sums[name]
                own["seconds"] += seconds
                own["memory"] = max(own["memory"], memory)
                if done:
                    own["converted"] += 1
                    verdict = judged(output, path)
                    own["right"] += verdict == "right"
                    own["wrong"] += verdict not in ("right", "unknown")
                for written in pathlib.Path(folder).iterdir():
                    written.unlink()
    print(f"{len(paths)} models\n\n| | converted | right | not right | CPU s | peak MiB |\n|---|---|---|---|---|---|")
    for name, own in sums.items():
        counts = " | ".join(str(own[key]) for key in ("converted", "right", "wrong"))
        print(f"| {name} | {counts} | {own['seconds']:.1f} | {own['memory']} |")


if __name__ == "__main__":
    main()
