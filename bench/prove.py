"""What other tools make of models, proved the same or shown to differ by `gradus prove`.

    cargo build --release -p gradus-cli
    python bench/prove.py GRADUS MODEL... [--tools onnxsim,…] [--json FILE]

A model is a file or a folder of ONNX models. Every tool that is installed writes its model, in a process of its own; what is not installed
is named. `gradus prove` then says of each pair: equivalent, different with inputs that show it, undecided, or refused; what ONNX Runtime
refuses to load too is invalid. A difference counts only if ONNX Runtime, optimising nothing, gives other bits for these inputs too, and is one of

- rounding: floats that differ by at most 1e-3 of the largest;
- zeros: only the signs of zeros differ;
- values: anything else, such as shapes, integers, or NaN on one side alone.

Unconfirmed are those for which ONNX Runtime gives the same bits, or does not run one of the two: Gradus computes fused operators in float64.

--json writes a line for each pair, and pairs of a file that is there are not tried again.
"""

import argparse
import collections
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 120
OPSET = 21
EXTENDED = """
import sys, onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
options.optimized_model_filepath = sys.argv[2]
onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
"""
VERSIONS = """
import sys, onnx, onnx.version_converter
onnx.save(onnx.version_converter.convert_version(onnx.load(sys.argv[1]), int(sys.argv[3])), sys.argv[2])
"""
# The package of each tool.
TOOLS = {
    "onnxsim": "onnxsim",
    "onnxslim": "onnxslim",
    "onnxscript": "onnxscript",
    "ONNX Runtime, basic": "onnxruntime",
    "ONNX Runtime, extended": "onnxruntime",
    "version_converter": "onnx",
}
ANSWERS = ["equivalent", "rounding", "zeros", "values", "unconfirmed", "undecided", "refused", "invalid", "failed"]


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def command(tool: str, model: pathlib.Path, out: pathlib.Path) -> list:
    if tool == "ONNX Runtime, extended":
        return [sys.executable, "-c", EXTENDED, model, out]
    if tool == "version_converter":
        return [sys.executable, "-c", VERSIONS, model, out, str(OPSET)]
    return [sys.executable, ROOT / "conformance/fold_peers.py", TOOLS[tool], model, out]


def ran(words: list) -> subprocess.CompletedProcess:
    return subprocess.run(["timeout", str(SECONDS), *words], capture_output=True, text=True)


def loaded(model: pathlib.Path):
    """A session that optimises nothing."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def refused(model: pathlib.Path, why: str) -> dict:
    """The answer about a model that Gradus does not read or prove anything of."""
    try:
        loaded(model)
    except Exception as error:  # noqa: BLE001 - errors of ONNX Runtime have no common type
        return {"answer": "invalid", "why": why, "onnxruntime": str(error)}
    return {"answer": "refused", "why": why}


def outputs(model: pathlib.Path, inputs: dict) -> dict | None:
    """The outputs by name; nothing if ONNX Runtime refuses the model or the inputs."""
    try:
        session = loaded(model)
        wanted = {given.name for given in session.get_inputs()}
        results = session.run(None, {name: value for name, value in inputs.items() if name in wanted})
    except Exception:  # noqa: BLE001 - errors of ONNX Runtime have no common type
        return None
    return dict(zip((given.name for given in session.get_outputs()), results, strict=True))


def kind(before: np.ndarray, after: np.ndarray) -> str | None:
    """How two outputs differ; nothing if they are the same bits, all NaNs alike."""
    if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray):
        return None
    if before.dtype != after.dtype or before.shape != after.shape:
        return "values"
    if before.dtype.kind != "f":
        return None if np.array_equal(before, after) else "values"
    nan = np.isnan(before)
    if not np.array_equal(nan, np.isnan(after)):
        return "values"
    before, after = before[~nan].astype(np.float64), after[~nan].astype(np.float64)
    if np.array_equal(before, after):
        return None if np.array_equal(np.signbit(before), np.signbit(after)) else "zeros"
    largest = np.abs(before[np.isfinite(before)]).max(initial=0)
    with np.errstate(invalid="ignore"):
        apart = np.where(before == after, 0, np.abs(before - after)).max()
    return "rounding" if apart <= 1e-3 * largest else "values"


def confirmed(model: pathlib.Path, out: pathlib.Path, saved: list) -> str | None:
    """How the outputs of ONNX Runtime differ for the inputs of a witness, at worst."""
    inputs = {file["name"]: np.load(file["path"]) for file in saved}
    before, after = outputs(model, inputs), outputs(out, inputs)
    if before is None or after is None:
        return None
    kinds = {kind(value, after[name]) for name, value in before.items() if name in after}
    return next((worst for worst in ("values", "rounding", "zeros") if worst in kinds), None)


def pair(gradus: str, tool: str, model: pathlib.Path, folder: pathlib.Path) -> dict:
    """The answer about what a tool makes of a model."""
    out = folder / "out.onnx"
    if ran(command(tool, model, out)).returncode or not out.exists():
        return {"answer": "failed"}
    proved = ran([gradus, "prove", model, out, "--json", "--seconds", "5", "--timeout", "60", "--witness", folder])
    if not proved.stdout:
        return refused(out, proved.stderr.strip())
    said = json.loads(proved.stdout.splitlines()[0])
    if "error" in said:
        return refused(out, said["error"]["message"])
    if said["verdict"] == "different":
        witness = said["witness"]
        found = {"parting": witness.get("parting"), "differing": witness["outputs"]}
        return {"answer": confirmed(model, out, witness["inputs"]) or "unconfirmed", **found}
    if said["verdict"] == "undecided" and not said["outputs"]:
        return refused(out, said.get("reason"))
    first = said["frontier"][0] if said["frontier"] else {}
    return {"answer": said["verdict"], "reason": said.get("reason"), "frontier": first}


def table(found: list[dict], tools: list[str]) -> str:
    counts = collections.Counter((one["tool"], one["answer"]) for one in found)
    lines = [["tool", *ANSWERS], ["---"] * (len(ANSWERS) + 1)]
    for tool in tools:
        name = f"{tool} {version(TOOLS[tool])}"
        lines.append([name, *(str(counts[tool, answer]) for answer in ANSWERS)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--tools", default=",".join(TOOLS).replace(", ", " "))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    wanted = {name.strip().replace("Runtime ", "Runtime, ") for name in args.tools.split(",")}
    tools = [tool for tool in TOOLS if tool in wanted and version(TOOLS[tool])]
    if missing := wanted - set(tools):
        print("not installed, or unknown:", ", ".join(sorted(missing)), file=sys.stderr)
    files = [file for path in args.models for file in (sorted(path.rglob("*.onnx")) if path.is_dir() else [path])]
    lines = args.json.read_text().splitlines() if args.json and args.json.exists() else []
    found = [json.loads(line) for line in lines]
    known = {(one["tool"], one["model"]) for one in found}
    for model in files:
        newest = max((of.version for of in onnx.load(model, load_external_data=False).opset_import if not of.domain), default=OPSET)
        for tool in tools:
            if (tool, str(model)) in known or (tool == "version_converter" and newest >= OPSET):
                continue
            with tempfile.TemporaryDirectory() as folder:
                one = {"tool": tool, "model": str(model), **pair(args.gradus, tool, model, pathlib.Path(folder))}
            found.append(one)
            if args.json:
                with args.json.open("a") as log:
                    print(json.dumps(one), file=log)
    print(table(found, tools))
    for one in found:
        if one["answer"] in ("values", "zeros"):
            print(f"{one['tool']}: {one['model']}: {one['answer']} at {one['parting']}")


if __name__ == "__main__":
    main()
