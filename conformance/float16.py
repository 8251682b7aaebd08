"""Models that `gradus edit --float16` shortens, in ONNX Runtime: errors of outputs, beside onnxconverter-common where it is installed.

    python conformance/float16.py MODEL… --gradus target/debug/gradus

Open sizes are small numbers, `--dim NAME=NUMBER` gives others. A model is right if ONNX Runtime loads the result and no output differs from the
original's by more than `--max-error` of its largest magnitude. Models that ONNX Runtime does not run at these sizes are not counted.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(bool)": np.bool_}


def session(path):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs(model, dims):
    random = np.random.default_rng(7)
    for of in model.get_inputs():
        shape = [d if isinstance(d, int) else dims.setdefault(d, 3 + len(dims)) for d in of.shape]
        dtype = np.dtype(TYPES.get(of.type, of.type[7:-1]))
        is_float = dtype.kind == "f"
        yield of.name, (random.uniform(-1, 1, shape) if is_float else random.integers(0, 2, shape)).astype(dtype)


def error(wanted, got):
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return np.inf
    wanted, got = wanted.astype(np.float64), got.astype(np.float64)
    same = (wanted == got) | (np.isnan(wanted) & np.isnan(got))
    apart = np.abs(np.where(same, 0, wanted - got)).max(initial=0)
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
    return apart if apart == 0 or np.isnan(apart) else apart / largest


def measured(path, given, wanted):
    """The largest error of an output, or why there is none."""
    try:
        got = session(path).run(None, given)
    except Exception as refused:  # ONNX Runtime has many kinds
        return f"refused: {str(refused)[:100]}"
    return max(map(error, wanted, got), default=0.0)


def gradus(args, path, given, folder):
    to, command = folder / "gradus.onnx", [args.gradus, "edit", path, "--float16", "--max-error", str(args.max_error)]
    for number, (name, value) in enumerate(given.items()):
        np.save(folder / f"{number}.npy", value)
        command += ["-i", f"{name}={folder / str(number)}.npy"]
    made = subprocess.run([*command, "-o", to], capture_output=True, text=True, check=False)
    return to if made.returncode == 0 else made.stderr.strip()


def common(_, path, given, folder):
    from onnxconverter_common import float16

    try:
        onnx.save(float16.convert_float_to_float16(onnx.load(path), keep_io_types=True), folder / "common.onnx")
    except Exception as refused:
        return f"refused: {refused!r}"
    return folder / "common.onnx"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--gradus", default="gradus")
    parser.add_argument("--max-error", type=float, default=1e-3)
    parser.add_argument("--dim", action="append", default=[])
    args = parser.parse_args()
    makers, counts, models = [gradus, common], {}, 0
    for path in args.models:
        try:
            original = session(path)
            given = dict(inputs(original, {k: int(v) for k, v in (d.split("=") for d in args.dim)}))
            wanted = original.run(None, given)
        except Exception as refused:
            print(path, f"not run: {str(refused)[:100]}")
            continue
        models += 1
        for maker in makers:
            with tempfile.TemporaryDirectory() as folder:
                made = maker(args, path, given, Path(folder))
                found = made if isinstance(made, str) else measured(made, given, wanted)
            loads = not isinstance(found, str)
            count = counts.setdefault(maker.__name__, [0, 0])
            count[0] += loads
            count[1] += loads and found <= args.max_error
            print(path, maker.__name__, found if isinstance(found, str) else f"{found:.1e}", flush=True)
    for name, (loads, right) in counts.items():
        print(f"{name}: {loads} of {models} load, {right} hold {args.max_error:g}")


if __name__ == "__main__":
    main()
