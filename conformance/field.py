"""Runs every command of Gradus on models of a folder, and holds what it says and writes against ONNX Runtime and OpenVINO.

    python conformance/field.py GRADUS [MODEL|FOLDER ...] [--only REGEX] [--json FILE]

For models that nobody has looked at. Of each: `show`, `cost` and `report` succeed; `infer` finds the shapes that all values
have in ONNX Runtime, for two bindings of the symbols; `run` gives ONNX Runtime's outputs; what `fold` writes has the same
bits, as `fold.py` says, at level fuse about the same values, of fixed sizes too, and folds to itself; `infer --emit` writes
contracts, and Python runs its own; what `convert` writes, IR and back and operator sets 13 to 23, gives the same outputs. Outputs of an
IR are held against OpenVINO's, those of its conversion to ONNX and back too. One line for each thing that is wrong, refused or
unknown; the exit status is 1 where something is wrong.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import convert
import execution
import fold
import openvino_fold
from execution import Runtime

SECONDS = 60
# How far outputs of a network may be apart, as a part of the largest: sums of floats in another order.
CLOSE = 1e-3
OPSETS = (13, 17, 21, 23)
# Sizes to try for open axes, the first and the others, until the original runs with two of them.
SIZES = ((1, 64), (2, 96), (1, 5), (2, 3), (1, 640), (2, 576), (1, 1))


def gradus(program, *arguments) -> tuple[int, str, str]:
    """The exit status of a command, and what it prints."""
    try:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, "", f"no result in {SECONDS} seconds"
    return done.returncode, done.stdout, done.stderr


def message(status: int, errors: str) -> str:
    """What a command that failed says, in one line; a panic is named."""
    kind = "PANIC " if "panicked" in errors or status == 101 or status < 0 else ""
    try:
        return kind + json.loads(errors)["error"]["message"][:300]
    except (ValueError, KeyError, TypeError):
        return f"{kind}({status}) {' '.join(errors.split())[:300]}"


def bound(model, first: int, other: int) -> dict[str, list[int]]:
    """The shapes of inputs whose open axes have these sizes; an axis of a symbol has that of its first place, and one named by
    a sum of symbols (`past + 1`, as exporters write caches) has the sum."""
    symbols, shapes, sums = {}, {}, []
    for info in execution.required(model)[0]:
        if info.type.WhichOneof("value") != "tensor_type":
            raise execution.NotRun(f"input {info.name!r} is no tensor")
        shape = shapes[info.name] = []
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            size = first if axis == 0 else other
            if re.search(r"[-+*]", dim.dim_param):
                sums.append((shape, axis, dim.dim_param))
            elif dim.dim_param:
                size = symbols.setdefault(dim.dim_param, size)
            shape.append(size if execution.is_open(dim) else dim.dim_value)
    for shape, axis, text in sums:
        size = evaluated(text, symbols)
        shape[axis] = shape[axis] if size is None else size
    return shapes


def exposed(path, out) -> list[str]:
    """Writes the model with all values of its main graph as outputs."""
    model = onnx.load(path)
    had = {x.name for x in model.graph.output}
    names = [name for node in model.graph.node for name in node.output if name and name not in had]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(model, out)
    return names


def originals(path, work, sizes=SIZES, given=None) -> list[tuple[dict, dict, dict]]:
    """Inputs, outputs and shapes of all values in ONNX Runtime, for two bindings; `given` are inputs that are not random."""
    model = onnx.load(path, load_external_data=False)
    plain, found, why = Runtime(path, False), [], "no sizes"
    try:
        exposed(path, work / "exposed.onnx")
        shown = Runtime(work / "exposed.onnx", False)
    except Exception:
        shown = plain
    for first, other in sizes:
        shapes = bound(model, first, other)
        if any(shapes == {name: list(x.shape) for name, x in had.items()} for had, _, _ in found):
            continue
        for top in fold.TOPS:
            rng = np.random.default_rng(first)
            types = {x.name: x.type.tensor_type.elem_type for x in execution.required(model)[0]}
            inputs = {name: execution.made(rng, types[name], shape, top) for name, shape in shapes.items()} | (given or {})
            try:
                outputs = plain.run(inputs)
                try:
                    values = shown.run(inputs)
                except Exception:
                    values = outputs
            except Exception as error:
                why = fold.first_line(error)
                continue
            found.append((inputs, outputs, {k: x.shape for k, x in values.items() if isinstance(x, np.ndarray)}))
            break
        if len(found) == 2:
            break
    if not found:
        raise execution.NotRun(why)
    return found


def values_of_outputs(path) -> dict[str, str]:
    """The names by which Gradus knows the outputs of an IR: of those without one, that of the node before."""
    import openvino as ov

    def value(port) -> str:
        if port.get_names():
            return convert.name_of(port)
        source = port.get_node().input_value(0)
        name = source.get_node().get_friendly_name()
        return f"{name}.{source.get_index()}" if source.get_index() else name

    return {convert.name_of(port): value(port) for port in ov.Core().read_model(path).outputs}


def originals_of_ir(path) -> list[tuple[dict, dict, dict]]:
    """Inputs, outputs and shapes of the outputs in OpenVINO, for up to three sets of sizes."""
    feeds = openvino_fold.asked(path, [])
    if not feeds:
        raise execution.NotRun("no sizes")
    runs, values = [], values_of_outputs(path)
    for inputs in feeds:
        # Each in a request of its own: variables keep their values from run to run.
        outputs = convert.run_openvino(str(path), inputs, "cpu")
        runs.append((inputs, outputs, {values[name]: x.shape for name, x in outputs.items()}))
    return runs


def broadcast(*sizes):
    """The size of axes that are broadcast to each other."""
    return next((size for size in sizes if size != 1), 1)


def evaluated(size, symbols: dict):
    """A size that `infer` prints, as a number; nothing if symbols are not known."""
    if isinstance(size, int):
        return size
    text = size
    for name in sorted(symbols, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", f"({symbols[name]})", text)
    try:
        return eval(text, {"__builtins__": {}}, {"min": min, "max": max, "broadcast": broadcast})
    except (NameError, SyntaxError, TypeError, AttributeError):
        return None


def shapes_of(said: dict, inputs: dict, shapes: dict) -> tuple[list[str], int]:
    """Shapes that are not those of a run, and how many sizes are not known."""
    wrong, unknown, symbols = [], 0, {}
    for name, array in inputs.items():
        for size, number in zip(said["values"][name]["shape"] or [], array.shape):
            if isinstance(size, str) and re.fullmatch(r"[^ ()*/+%,-]+", size):
                symbols[size] = number
    for name, shape in shapes.items():
        value = said["values"].get(name)
        if value is None or value["shape"] is None:
            unknown += 1
            continue
        sizes = [evaluated(size, symbols) for size in value["shape"]]
        unknown += None in sizes
        if len(sizes) != len(shape) or any(a is not None and a != b for a, b in zip(sizes, shape)):
            wrong.append(f"{name} is {value['shape']} = {sizes}, expected {list(shape)}")
    return wrong, unknown


def fixed(inputs: dict) -> list[str]:
    return [f"--input-shape={name}={','.join(map(str, array.shape))}" for name, array in inputs.items() if array.ndim]


def compared(expected: dict, found: dict, close: float) -> str | None:
    # Outputs without a name in OpenVINO have one in ONNX.
    if not expected.keys() <= found.keys() and len(expected) == len(found):
        found = dict(zip(expected, found.values()))
    # Lists of maps are the rows of an array in OpenVINO.
    rows = {name: np.array([list(row.values()) for row in maps], np.float32) for name, maps in expected.items()
            if isinstance(maps, list) and isinstance(found.get(name), np.ndarray)}
    return execution.first_difference({**expected, **rows}, found, close)


def in_runner(runner, path, inputs, how) -> dict:
    found, why = runner.run(path, inputs, how)
    if why:
        raise execution.NotRun(why)
    return found


class Field:
    """One model, and what is noted about it."""

    def __init__(self, program, path, work):
        self.program, self.path, self.work = program, path, work
        self.notes = collections.defaultdict(list)

    def ask(self, kind: str, *arguments):
        """The object that a command prints; a failure is noted."""
        status, out, errors = gradus(self.program, *arguments, "--json")
        # `infer` and `cost` of a model with problems print all the same.
        said = json.loads(out.splitlines()[0]) if status in (0, 1) and out.strip() else {}
        if "error" not in said and (status == 0 or said):
            return said
        what = message(status, errors)
        self.note("wrong" if what.startswith("PANIC") else "refused", kind, what)
        return None

    def note(self, level: str, kind: str, what: str):
        self.notes[level].append(f"{kind}: {what}")

    def infer(self, runs):
        said = self.ask("infer", "infer", self.path)
        if said is None:
            return
        for problem in said.get("problems", []):
            level = "declared" if problem["message"].endswith("as declared") else "wrong" if runs else "refused"
            self.note(level, "infer", f"problem {problem['place']}: {problem['message'][:200]}")
        for inputs, _, shapes in runs:
            wrong, unknown = shapes_of(said, inputs, shapes)
            for line in wrong[:3]:
                self.note("wrong", "infer", line)
            if unknown:
                names = [f"{name}: {why}" for name, why in said["unknown"].items() if isinstance(why, str)][:2]
                self.note("unknown", "infer", f"{unknown} of {len(shapes)} shapes {' | '.join(names)[:300]}")
            with_sizes = self.ask("infer --input-shape", "infer", self.path, *fixed(inputs))
            if with_sizes is not None:
                wrong, unknown = shapes_of(with_sizes, inputs, shapes)
                for line in wrong[:3]:
                    self.note("wrong", "infer --input-shape", line)
                problems = with_sizes.get("problems", [])
                for problem in (problem for problem in problems if not problem["message"].endswith("as declared")):
                    self.note("wrong", "infer --input-shape", f"problem {problem['place']}: {problem['message'][:200]}")

    def run(self, inputs, expected):
        # Text is an array of objects in ONNX Runtime.
        plain = {name: x.astype(str) if x.dtype == object else x for name, x in inputs.items()}
        np.savez(self.work / "in.npz", **plain)
        out = self.work / "outputs"
        said = self.ask("run", "run", self.path, "-i", self.work / "in.npz", "--out", out)
        if said is None or any(not isinstance(x, np.ndarray) or x.dtype == object for x in expected.values()):
            return
        found = {name: np.load(file) for name, file in said["files"].items()}
        if why := compared(expected, found, CLOSE):
            self.note("wrong", "run", why)

    def fold(self, runs):
        for line in fold.check(self.program, self.path, self.work, False)["problems"] if runs else []:
            self.note("wrong", "fold", line)
        fused = self.work / "fused.onnx"
        if self.ask("fold --level fuse", "fold", self.path, "-o", fused, "--level", "fuse") is None:
            return
        for inputs, expected, _ in runs:
            self.same("fold --level fuse", lambda: Runtime(fused, False).run(inputs), expected)
        again = self.work / "again.onnx"
        if self.ask("fold again", "fold", fused, "-o", again, "--level", "fuse") is not None:
            counts = [sum(execution.operators(onnx.load(path)).values()) for path in (fused, again)]
            if counts[0] != counts[1]:
                self.note("wrong", "fold again", f"{counts[1]} nodes, expected {counts[0]}")
        for inputs, expected, _ in runs[:1]:
            of_sizes = self.work / "fixed.onnx"
            options = ("-o", of_sizes, "--level", "fuse", *fixed(inputs))
            if self.ask("fold --input-shape", "fold", self.path, *options) is not None:
                self.same("fold --input-shape", lambda: Runtime(of_sizes, False).run(inputs), expected)

    def emit(self):
        """The contract of the shapes, in each language; that of Python is a program that ends well."""
        for language in ("rust", "c", "python"):
            kind = f"infer --emit {language}"
            status, out, errors = gradus(self.program, "infer", self.path, "--emit", language)
            if status:
                what = message(status, errors)
                self.note("wrong" if what.startswith("PANIC") else "refused", kind, what)
            elif language == "python":
                done = subprocess.run([sys.executable, "-"], input=out, capture_output=True, text=True, timeout=SECONDS)
                if done.returncode:
                    said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
                    self.note("wrong", kind, said[-1][:200])

    def same(self, kind: str, run, expected, close=CLOSE):
        """Whether what is written runs, and gives the outputs."""
        try:
            found = run()
        except Exception as error:
            self.note("wrong", kind, f"does not run: {convert.first_line(error)}")
            return
        if why := compared(expected, found, close):
            self.note("wrong", kind, why)

    def fold_ir(self, runs):
        folded = self.work / "folded.xml"
        if self.ask("fold", "fold", self.path, "-o", folded) is None:
            return
        for inputs, expected, _ in runs:
            values = lambda: convert.run_openvino(str(folded), inputs, "cpu")  # noqa: E731
            self.same("fold", values, expected, openvino_fold.CLOSE)

    def convert_ir(self, runs, runner):
        """The IR to ONNX, and that to an IR again."""
        again = self.work / "again.xml"
        for opset in OPSETS:
            kind, out = f"convert --opset {opset}", self.work / f"{opset}.onnx"
            if self.ask(kind, "convert", self.path, out, "--opset", opset) is None:
                continue
            for inputs, expected, _ in runs:
                self.same(kind, lambda: in_runner(runner, out, inputs, "ort"), expected)
            if opset == OPSETS[-1] and self.ask("convert again", "convert", out, again) is not None:
                for inputs, expected, _ in runs:
                    self.same("convert again", lambda: in_runner(runner, again, inputs, "cpu"), expected)

    def convert(self, runs, runner):
        xml, back = self.work / "to.xml", self.work / "back.onnx"
        if self.ask("convert .xml", "convert", self.path, xml) is not None:
            for inputs, expected, _ in runs[:1]:
                self.same("convert .xml", lambda: in_runner(runner, xml, inputs, "cpu"), expected)
            if self.ask("convert back", "convert", xml, back, "--opset", 20) is not None:
                for inputs, expected, _ in runs:
                    self.same("convert back", lambda: in_runner(runner, back, inputs, "ort"), expected)
        for opset in OPSETS:
            kind, out = f"convert --opset {opset}", self.work / f"{opset}.onnx"
            if self.ask(kind, "convert", self.path, out, "--opset", opset) is not None:
                for inputs, expected, _ in runs[:1]:
                    self.same(kind, lambda: in_runner(runner, out, inputs, "ort"), expected, 1e-5)


def examine(program, path, work, runner, sizes=SIZES, given=None) -> dict:
    field, runs = Field(program, path, work), []
    of_program = {".onnx": ("onnxruntime", lambda: originals(path, work, sizes, given)), ".xml": ("openvino", lambda: originals_of_ir(path))}
    if path.suffix in of_program:
        name, asked = of_program[path.suffix]
        try:
            runs = asked()
        except Exception as error:
            field.note("not run", name, fold.first_line(error))
    for command in ("show", "cost"):
        field.ask(command, command, path)
    field.ask("report", "report", path, "-o", work / "report.html")
    field.infer(runs)
    for inputs, expected, _ in runs[:1]:
        field.run(inputs, expected)
    if path.suffix == ".xml":
        field.fold_ir(runs)
        field.convert_ir(runs, runner)
        return dict(field.notes)
    if path.suffix == ".onnx":
        field.fold(runs)
        field.emit()
    field.convert(runs, runner)
    return dict(field.notes)


def apart(program, path, *sizes) -> dict:
    """`examine` in a process of its own, since programs die."""
    with tempfile.TemporaryDirectory(prefix="gradus-field-") as name:
        runner = convert.Runner()
        try:
            return examine(program, path, pathlib.Path(name), runner, *sizes)
        finally:
            for running in runner.running.values():
                convert.stop(*running)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    program, results = arguments.gradus.resolve(), {}
    endings = (".onnx", ".xml", ".pdmodel")
    paths = [path for root in arguments.models for path in (sorted(root.rglob("*")) if root.is_dir() else [root])]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["onnxruntime", "convert", "fold"])
    paths.sort(key=lambda path: path.stat().st_size)
    for path in paths:
        if path.suffix not in endings or not re.search(arguments.only, str(path)):
            continue
        start = time.monotonic()
        results[str(path)] = notes = fold.apart(context, apart, program, path)
        for level, lines in notes.items():
            for line in [lines] if isinstance(lines, str) else lines:
                print(f"{level:8} {path}: {line}", flush=True)
        print(f"{time.monotonic() - start:8.1f} s {path}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(results))
    wrong = sum(bool(notes.get("wrong") or notes.get("error")) for notes in results.values())
    print(f"{len(results)} models, {wrong} with something wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
