"""Holds every command against ONNX Runtime on random graphs of mixed operators (`graph_makers.py`).

    python conformance/random_graphs.py GRADUS [--count N] [--seed S] [--only SEED,…] [--save FOLDER]

Each graph has the outputs that ONNX Runtime, its optimiser off, computes for up to six bindings of its sizes, 0 and 1 and equal
ones among them. The same outputs must come from `run`; from what `fold` writes, at each level and with fixed sizes; from what
`convert` writes, an IR (run by Gradus), that as ONNX again, and other operator sets. `infer` must find the shapes of all values.
Bits are compared, signs of zeros too; loose values must be near. Without `--seed`, the seed is the day, and it is printed. The
exit status is 1 where something is wrong; `--save` keeps those models with their inputs.
"""

import argparse
import collections
import datetime
import json
import multiprocessing
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx

import execution
import field
import graph_makers
from fold import DIED, SECONDS

warnings.filterwarnings("ignore")
BINDINGS = ({}, {"n": 0}, {"n": 1, "m": 1}, {"n": 3, "m": 3}, {"n": 3, "m": 2}, {"m": 1, "k": 1})
LEVELS = ("exact", "shapes", "fuse")
OPSETS = (13, 17, 24)
# How far loose values may be apart, as a part of the largest.
CLOSE = 2e-3
# Refusals for a reason that the documents name: those that match are counted, and are not failures.
LIMITS = {
    "convert": [
        "expected one of the types of",
        "operator set is .*, expected at least",
        "openvino has no operator that joins strings",
        "rank of input .* is unknown, expected known before the run",
        "OpenVINO has no pool whose window is larger than the padded data",
    ],
    "run .xml": ["window of axis .* is .*, expected at most .*, the padded data"],
}


# Operators whose texts do not say the sign of a result of zero.
UNSIGNED = graph_makers.SUMS | set("Relu Max Min Clip Mean ReduceMax ReduceMin ReduceMean MaxPool AveragePool GlobalAveragePool".split())


def bound(model, first, binding) -> dict:
    """Inputs of other sizes: the elements of the first ones, again and again."""
    sizes = graph_makers.SYMBOLS | binding
    found = {}
    for info in model.graph.input:
        shape = [sizes.get(dim.dim_param, dim.dim_value) for dim in info.type.tensor_type.shape.dim]
        array = first[info.name]
        found[info.name] = np.resize(array, shape).astype(array.dtype) if array.size else np.zeros(shape, array.dtype)
    return found


def inner(node):
    """The nodes of the graphs within a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for own in attribute.g.node:
                yield own
                yield from inner(own)


def is_open(model, values, loose) -> bool:
    """Whether the text leaves results open for these values: the quotient of a zero whose sign it does not say, NaN as an
    integer or among maxima, and sums that are rounded. ONNX Runtime joins values without elements, which a body may do, to any shape."""
    unsigned, rounded = set(), set()
    for node in model.graph.node:
        nodes = [node, *inner(node)]
        read = {name for own in nodes for name in own.input}
        given = [values[name] for name in node.input if isinstance(values.get(name), np.ndarray)]
        floats = [x for x in given if x.dtype.kind == "f"]
        kinds = {own.op_type for own in nodes}
        if kinds & {"Reciprocal", "Div"} and read & unsigned and any((x == 0).any() for x in (floats if len(nodes) > 1 else floats[-1:])):
            return True
        if node.op_type in ("Cast", "QuantizeLinear") and any(np.isnan(x).any() for x in floats):
            result = values.get(node.output[0])
            if result is None or result.dtype.kind in "iu":
                return True
        if node.op_type in ("ReduceMax", "ReduceMin", "MaxPool") and any(np.isnan(x).any() for x in floats):
            return True
        if "Concat" in kinds and node.op_type != "Concat" and any(np.size(x) == 0 for x in values.values()):
            return True
        if kinds & UNSIGNED or read & unsigned:
            unsigned.update(node.output)
        if read & rounded or (node.op_type in graph_makers.SUMS and not all(map(graph_makers.small, given))):
            rounded.update(node.output)
    return any(x.name in rounded and x.name not in loose for x in model.graph.output)


def fits(node, values) -> bool:
    """Whether the values that a node joins differ along its axis only, or not at all if they get a new one."""
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    given = [values[name] for name in node.input if name in values]
    items = given if node.op_type == "Concat" else [x for sequence in given for x in sequence]
    shapes = [x.shape if attributes.get("new_axis") else tuple(np.delete(x.shape, attributes["axis"])) for x in items]
    return len(set(shapes)) <= 1


def make(seed, folder) -> dict:
    """Writes a model, and what ONNX Runtime computes: inputs, outputs, and shapes of all values."""
    model, first, loose = graph_makers.made(seed)
    path = folder / f"{seed}.onnx"
    onnx.save(model, path)
    runs, seen = [], set()
    names = [x.name for x in model.graph.output]
    stacked = [x for node in model.graph.node if node.op_type == "Loop" for x in node.output[1:]]
    joined = [node for node in model.graph.node if node.op_type in ("Concat", "ConcatFromSequence")]
    reduced = [node.input[0] for node in model.graph.node if re.match("Reduce|Arg", node.op_type)]
    all_names = [x for node in model.graph.node for x in node.output]
    shown = onnx.ModelProto.FromString(model.SerializeToString())
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in all_names if name not in names)
    shown = execution.session(shown.SerializeToString(), optimised=False)
    for binding in BINDINGS:
        inputs = first if not binding else bound(model, first, binding)
        key = tuple(x.shape for x in inputs.values())
        if key in seen:
            continue
        seen.add(key)
        (folder / f"{seed}.pickle").write_bytes(pickle.dumps((runs, loose, binding)))
        try:
            values = inputs | dict(zip((x.name for x in shown.get_outputs()), shown.run(None, inputs), strict=True))
        except Exception:
            continue
        # The text does not say the shape of the outputs of no iteration; ONNX Runtime reduces nothing
        # to other shapes, and joins values without elements to any shape.
        is_left = any(values[name].shape[:1] == (0,) for name in stacked) or any(values[name].size == 0 for name in reduced)
        if is_left or not all(fits(node, values) for node in joined) or is_open(model, values, loose):
            if not binding:
                # Fixed sizes are those of the first run.
                break
            continue
        shapes = {name: x.shape for name, x in values.items() if isinstance(x, np.ndarray)}
        runs.append((inputs, {name: values[name] for name in names}, shapes))
    (folder / f"{seed}.pickle").write_bytes(pickle.dumps((runs, loose, None)))
    return {"symbols": [name for name in graph_makers.SYMBOLS if name in execution.symbols(model)], "runs": len(runs), "nodes": len(model.graph.node)}


def difference(expected, found, loose) -> str | None:
    """The first output that differs."""
    for name, want in expected.items():
        if name not in found:
            return f"there is no output {name!r}"
        got = np.asarray(found[name])
        if want.dtype == object:
            want, got = want.astype(str), got.astype(str)
        if want.dtype.kind == "f" and want.dtype == got.dtype and want.shape == got.shape:
            if name in loose:
                if why := execution.difference(want, got, CLOSE):
                    return f"{name} {why}"
                continue
            # Which NaN a result is may differ.
            want, got = (np.where(np.isnan(x), np.array(np.nan, x.dtype), x) for x in (want, got))
        if why := execution.difference(want, got):
            return f"{name} {why}"
    return None


def judge(path, runs, loose) -> dict:
    """What ONNX Runtime says of a model that was written."""
    try:
        runs_of = execution.Runtime(path, optimised=False)
    except Exception as error:
        return {"why": f"does not load: {' '.join(str(error).split())[:300]}"}
    for inputs, expected, _ in runs:
        shapes = {name: list(x.shape) for name, x in inputs.items()}
        wanted = {x.name for x in runs_of.session.get_inputs()}
        try:
            found = runs_of.run({name: x for name, x in inputs.items() if name in wanted})
        except Exception as error:
            return {"why": f"does not run at {shapes}: {' '.join(str(error).split())[:300]}"}
        if why := difference(expected, found, loose):
            return {"why": f"at {shapes}: {why}"}
    return {"runs": len(runs)}


def holds(said, inputs) -> bool:
    """Whether sizes are those that inference assumes."""
    sizes = {}
    for name, array in inputs.items():
        sizes |= {size: number for size, number in zip(said["values"][name]["shape"], array.shape) if isinstance(size, str)}
    return all(field.evaluated(assumed["message"], sizes) is not False for assumed in said["assumptions"])


def serve(pipe):
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(function(*arguments))
        except Exception as error:
            pipe.send({"error": f"{type(error).__name__}: {error}"})


class Worker:
    """A process that calls functions: ONNX Runtime ends it at some graphs, dividing by an empty axis."""

    def __init__(self):
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["onnxruntime", "random_graphs"])
        self.process = None

    def asked(self, function, arguments) -> dict | None:
        if self.process is None:
            self.pipe, theirs = self.context.Pipe()
            self.process = self.context.Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        try:
            self.pipe.send((function, arguments))
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.process = None
        return None

    def __call__(self, function, *arguments) -> dict:
        """The result of a call; of one that ends the process twice, an error: an earlier call may have damaged its memory."""
        return self.asked(function, arguments) or self.asked(function, arguments) or {"error": DIED}


class Batch:
    """Models in one folder, and what is wrong with each."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.worker = Worker()
        self.about, self.runs, self.loose = {}, {}, {}
        self.notes, self.limits, self.asked = [], collections.Counter(), collections.Counter()

    def wrong(self, seed, kind, why):
        self.notes.append((seed, kind, why))

    def make(self, seeds):
        (self.folder / "source").mkdir()
        for seed in seeds:
            self.about[seed] = self.worker(make, seed, self.folder / "source")
            file = self.folder / "source" / f"{seed}.pickle"
            if not file.exists():
                continue
            # Where ONNX Runtime ended the process, the runs before are there.
            self.runs[seed], self.loose[seed], _ = pickle.loads(file.read_bytes())
            file.unlink()

    def fleet(self, kind, seeds, source, ending, *arguments) -> list[int]:
        """Runs a command on many models; returns those that it took."""
        if not seeds:
            return []
        listed = self.folder / "list.txt"
        listed.write_text("".join(f"{self.folder / source / f'{seed}.{ending}'}\n" for seed in seeds))
        done = subprocess.run([self.program, *arguments, f"@{listed}", "--json"], capture_output=True, text=True)
        taken = []
        for line in done.stdout.splitlines():
            said = json.loads(line)
            if "model" not in said:
                continue
            seed = int(pathlib.Path(said["model"]).stem)
            self.asked[kind] += 1
            if "error" in said:
                self.refused(seed, kind, said["error"])
            else:
                taken.append((seed, said))
        if len(taken) < len(seeds) and done.returncode not in (0, 1):
            self.wrong(-1, kind, f"exit status {done.returncode}: {done.stderr[-300:]}")
        return taken

    def refused(self, seed, kind, error):
        if error.get("kind") != "unsupported" or not self.limited(kind.split()[0], error["message"]):
            self.wrong(seed, kind, f"refused ({error.get('kind')}): {error['message']}")

    def limited(self, kind, why) -> bool:
        """Counts a refusal for a reason that the documents name."""
        pattern = next((pattern for pattern in LIMITS.get(kind, []) if re.search(pattern, why)), None)
        self.limits.update([pattern] if pattern else [])
        return pattern is not None

    def judged(self, kind, taken, folder, runs=None):
        for seed, _ in taken:
            path = self.folder / folder / f"{seed}.onnx"
            said = self.worker(judge, path, (runs or self.runs)[seed], self.loose[seed])
            if why := said.get("why") or said.get("error"):
                self.wrong(seed, kind, why)

    def infer(self, seeds):
        for seed, said in self.fleet("infer", seeds, "source", "onnx", "infer"):
            for problem in said.get("problems", []):
                self.wrong(seed, "infer", f"problem {problem['place']}: {problem['message'][:200]}")
            for inputs, _, shapes in self.runs[seed]:
                if holds(said, inputs):
                    for line in field.shapes_of(said, inputs, shapes)[0][:1]:
                        self.wrong(seed, "infer", line)

    def run(self, kind, seeds, source, ending):
        for seed in seeds:
            for inputs, expected, _ in self.runs[seed]:
                given, out = self.folder / "in.npz", self.folder / "outputs"
                np.savez(given, **{name: x.astype(str) if x.dtype == object else x for name, x in inputs.items()})
                path = self.folder / source / f"{seed}.{ending}"
                status, printed, errors = field.gradus(self.program, "run", path, "-i", given, "--out", out, "--json")
                self.asked[kind] += 1
                shapes = {name: list(x.shape) for name, x in inputs.items()}
                if status:
                    why = field.message(status, errors)
                    if not self.limited(kind, why):
                        self.wrong(seed, kind, f"at {shapes}: {why}")
                    break
                found = {name: np.load(file) for name, file in json.loads(printed)["files"].items()}
                if why := difference(expected, found, self.loose[seed]):
                    self.wrong(seed, kind, f"at {shapes}: {why}")
                    break

    def fold(self, seeds):
        for level in LEVELS:
            kind = f"fold --level {level}"
            taken = self.fleet(kind, seeds, "source", "onnx", "fold", "-o", f"{self.folder / level}/", "--level", level)
            self.judged(kind, taken, level)
        groups = collections.defaultdict(list)
        for seed in seeds:
            groups[tuple(self.about[seed].get("symbols", ()))].append(seed)
        for symbols, group in groups.items():
            sizes = [f"--dim={name}={graph_makers.SYMBOLS[name]}" for name in symbols]
            taken = self.fleet("fold --dim", group, "source", "onnx", "fold", "-o", f"{self.folder / 'fixed'}/", *sizes)
            self.judged("fold --dim", taken, "fixed", {seed: self.runs[seed][:1] for seed in group})

    def convert(self, seeds):
        xml, back = self.folder / "xml", self.folder / "back"
        taken = [seed for seed, _ in self.fleet("convert .xml", seeds, "source", "onnx", "convert", "-o", f"{xml}/", "--to", "openvino")]
        self.run("run .xml", taken, "xml", "xml")
        self.judged("convert back", self.fleet("convert back", taken, "xml", "xml", "convert", "-o", f"{back}/", "--to", "onnx"), "back")
        for opset in OPSETS:
            kind, out = f"convert --opset {opset}", f"{self.folder / str(opset)}/"
            taken = self.fleet(kind, seeds, "source", "onnx", "convert", "-o", out, "--to", "onnx", "--opset", str(opset))
            self.judged(kind, taken, str(opset))

    def check(self, seeds):
        self.make(seeds)
        seeds = [seed for seed in seeds if self.runs.get(seed)]
        self.infer(seeds)
        self.run("run", seeds, "source", "onnx")
        self.fold(seeds)
        self.convert(seeds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--save", type=pathlib.Path)
    given = parser.parse_args()
    first = given.seed if given.seed is not None else datetime.date.today().toordinal() * 1000
    seeds = [int(seed) for seed in given.only.split(",") if seed] or list(range(first, first + given.count))
    print(f"seeds {seeds[0]} to {seeds[-1]}", flush=True)
    total, asked, limits, runs = [], collections.Counter(), collections.Counter(), 0
    for start in range(0, len(seeds), 500):
        with tempfile.TemporaryDirectory(prefix="gradus-graphs-") as name:
            batch = Batch(given.gradus.resolve(), pathlib.Path(name))
            batch.check(seeds[start : start + 500])
            for seed, kind, why in batch.notes:
                print(f"{seed} {kind}: {why}", flush=True)
                if given.save and seed >= 0:
                    given.save.mkdir(parents=True, exist_ok=True)
                    shutil.copy(batch.folder / "source" / f"{seed}.onnx", given.save)
                    (given.save / f"{seed}.pickle").write_bytes(pickle.dumps(batch.runs[seed]))
        total += batch.notes
        asked, limits = asked + batch.asked, limits + batch.limits
        runs += sum(map(len, batch.runs.values()))
    print(", ".join(f"{kind} {count}" for kind, count in asked.items()))
    print(", ".join(f"{count} refused for {why}" for why, count in limits.items()))
    wrong = len({seed for seed, _, _ in total})
    print(f"{len(seeds)} graphs, {runs} runs of them; {wrong} with something wrong")
    # `cargo xtask test` reads this line.
    print(f"{len(seeds) - wrong} passed, {wrong} failed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
