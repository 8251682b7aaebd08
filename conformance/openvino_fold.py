"""Holds `gradus fold` of OpenVINO models against OpenVINO.

    python conformance/openvino_fold.py GRADUS [MODEL|FOLDER ...] [--only REGEX] [--json FILE] [--jobs 2]

Each model is folded as it is, and with the sizes of its inputs fixed. Checked are: OpenVINO reads the result; inputs and
outputs have the names and, unless fixed, the shapes that they had; folding again gives the same bytes of both files; ShapeOf is not asked more often than
before; every output has the same bits as the original's, by the CPU plugin for several sizes of the inputs. Where sizes are
fixed, the original is reshaped to them. The plugin rewrites what it recognises, in another way where more is known, and rounds otherwise then: floats may
differ by 1e-5 of the greatest, which is printed.

Without models, they are those of the corpus ($GRADUS_CORPUS) and the recorded ones (recorded/openvino.json), and
`openvino_fold.toml` is held against them from both sides.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import openvino as ov

import expectations
import openvino_truth

HERE = pathlib.Path(__file__).parent
LIST, RECORDED = HERE / "openvino_fold.toml", HERE / "recorded" / "openvino.json"
SECONDS = 300
# How many sets of sizes each model is run with.
RUNS = 3
# How far floats may be apart where the plugin rewrites the models, as a part of the greatest.
CLOSE = 1e-5


def first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1][:200]


def fold(gradus, source, out, options=()) -> dict:
    command = [str(gradus), "fold", str(source), "-o", str(out), "--json", "--verify", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise ValueError(f"refused ({done.returncode}): {first_line(done.stderr)}")
    return json.loads(done.stdout)


def named(port) -> str:
    """The first name; of an input that of its layer, if it has it."""
    own = port.node.friendly_name
    if not port.names or port.node.get_type_name() == "Parameter" and own in port.names:
        return own
    return min(port.names)


def other_interface(before, after) -> list[str]:
    """What is otherwise to be seen of a model from outside: names, types, and shapes that do not refine those before."""
    wrong = []
    for side in ("inputs", "outputs"):
        one, other = getattr(before, side), getattr(after, side)
        if len(one) != len(other):
            wrong.append(f"there are {len(other)} {side}, not {len(one)}")
        for a, b in zip(one, other, strict=False):
            if a.names != b.names or a.element_type != b.element_type or not b.partial_shape.refines(a.partial_shape):
                told = [f"{sorted(port.names)} {port.element_type} {port.partial_shape}" for port in (a, b)]
                wrong.append(f"{side}: {told[0]} became {told[1]}")
    return wrong


def feeds_of(model, shapes, seed: int) -> dict:
    random = np.random.default_rng(seed)
    find = lambda port: next(shapes[name] for name in [*port.names, port.node.friendly_name] if name in shapes)  # noqa: E731
    return {named(port): openvino_truth.array(port, find(port), random) for port in model.inputs}


def asked(path, corpus) -> list[dict]:
    """Inputs that the original takes."""
    core = ov.Core()
    model = core.read_model(path)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found, tried = [], []
    for shapes in openvino_truth.shapes_of(model, path, corpus):
        if shapes is None or shapes in tried or len(found) == RUNS:
            continue
        tried.append(shapes)
        feeds = feeds_of(model, shapes, len(found))
        try:
            compiled(feeds)
        except Exception:
            continue
        found.append(feeds)
    return found


def by_plugin(path, feeds, fixed: bool = False) -> list[list]:
    """The outputs for each of the inputs; perhaps of the model reshaped to the sizes of the first."""
    core = ov.Core()

    def compiled_with(reshape: bool):
        model = core.read_model(path)
        if reshape:
            model.reshape({port: list(feeds[0][named(port)].shape) for port in model.inputs})
        return core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    try:
        compiled = compiled_with(fixed)
    except RuntimeError:
        # Some models run, but not once they are reshaped.
        compiled = compiled_with(False)
    results = []
    for inputs in feeds:
        given = compiled(inputs)
        results.append([np.array(given[i]) for i in range(len(compiled.outputs))])
    return results


def apart_by(one, other) -> float:
    """How far arrays are apart, as a part of the greatest; 0 if they have the same bits."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return np.inf
    if one.dtype.kind in "OSU":
        return 0.0 if one.tolist() == other.tolist() else np.inf
    if one.tobytes() == other.tobytes():
        return 0.0
    if one.dtype.kind != "f" or not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf
    finite = np.isfinite(one)
    one, other = one[finite].astype(np.float64), other[finite].astype(np.float64)
    return float(np.abs(one - other).max(initial=0) / max(np.abs(one).max(initial=0), 1e-30)) or 1e-30


def differences(one: list[list], other: list[list], notes: list[str]) -> list[str]:
    wrong = []
    for run, (left, right) in enumerate(zip(one, other, strict=True)):
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            far = apart_by(a, b)
            if far > CLOSE:
                wrong.append(f"run {run}, output {i}: {a.dtype}{a.shape} and {b.dtype}{b.shape} are {far:.1e} apart")
            elif far:
                notes.append(f"run {run}, output {i}: floats are {far:.1e} apart")
    return wrong


def asks(counts: dict) -> int:
    return counts.get("ShapeOf", 0)


def check(gradus, path, corpus, given) -> dict:
    """Folds a model in every way; says what is wrong."""
    core, notes, problems = ov.Core(), [], []
    model = core.read_model(path)
    try:
        feeds = [given] if given is not None else asked(path, corpus)
    except Exception as error:
        notes.append(f"the original does not run: {first_line(error)}")
        feeds = []
    result = {"runs": len(feeds), "notes": notes, "problems": problems}
    variants = {"dynamic": ([], feeds)}
    if feeds and any(port.partial_shape.is_dynamic for port in model.inputs):
        shapes = {named(port): feeds[0][named(port)].shape for port in model.inputs}
        variants["fixed"] = [f"--input-shape={name}={','.join(map(str, shape))}" for name, shape in shapes.items()], feeds[:1]
    with tempfile.TemporaryDirectory(prefix="gradus-ir-") as folder:
        for variant, (options, inputs) in variants.items():
            out, again = pathlib.Path(folder) / f"{variant}.xml", pathlib.Path(folder) / f"{variant}.again.xml"
            wrong = []
            try:
                said = fold(gradus, path, out, options)
                result[variant] = said
                wrong += other_interface(model, core.read_model(out))
                if asks(said["nodes"]["after"]) > asks(said["nodes"]["before"]):
                    wrong.append("ShapeOf is asked more often")
                fold(gradus, out, again)
                for ending in ("xml", "bin"):
                    if out.with_suffix(f".{ending}").read_bytes() != again.with_suffix(f".{ending}").read_bytes():
                        wrong.append(f"folding again gives another .{ending}")
                if inputs:
                    one, other = by_plugin(path, inputs, bool(options)), by_plugin(out, inputs)
                    told = []
                    wrong += differences(one, other, told)
                    notes.extend(f"{variant}: {note}" for note in told)
            except Exception as error:
                wrong.append(first_line(error))
            problems.extend(f"{variant}: {why}" for why in wrong)
    return result


def serve(pipe, arguments) -> None:
    # Output of the programs is not shown.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    try:
        pipe.send(check(*arguments))
    except Exception as error:
        pipe.send({"runs": 0, "notes": [], "problems": [f"{type(error).__name__}: {first_line(error)}"]})


def apart(context, name, arguments) -> tuple[str, dict]:
    """The result from a process of its own, which may die or hang."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(sender, arguments))
    process.start()
    sender.close()
    try:
        if receiver.poll(SECONDS):
            return name, receiver.recv()
        return name, {"runs": 0, "notes": [], "problems": [f"takes more than {SECONDS} s"]}
    except EOFError:
        return name, {"runs": 0, "notes": [], "problems": ["the process died"]}
    finally:
        process.kill()
        process.join()


def recorded(folder: pathlib.Path) -> dict:
    """The recorded models as files, with the inputs that they were recorded with."""
    models = {}
    for name, cases in json.loads(RECORDED.read_text())["operators"].items():
        for i, case in enumerate(cases):
            path = folder / f"{name}.{i}.xml"
            path.write_text(case["xml"])
            path.with_suffix(".bin").write_bytes(bytes.fromhex(case["bin"]))
            inputs = {}
            for key, said in case["inputs"].items():
                kind = getattr(ov.Type, said["type"]).to_dtype()
                numbers = [float(x) if isinstance(x, str) else x for x in said["elements"]]
                inputs[key] = np.array(numbers, dtype=kind).reshape(said["shape"])
            models[f"recorded/{name}.{i}"] = path, inputs
    return models


def found(root: pathlib.Path, prefix: str) -> dict:
    name = lambda path: str(path.relative_to(root)).removesuffix(".xml")  # noqa: E731
    return {f"{prefix}{name(path)}": (path, None) for path in sorted(root.rglob("*.xml"))}


def table(results: dict) -> str:
    head = ["model", "folded", "nodes", "ShapeOf", "bytes"]
    lines = [head, ["---"] * len(head)]
    for name, result in results.items():
        for variant in ("dynamic", "fixed"):
            if said := result.get(variant):
                before, after = said["nodes"]["before"], said["nodes"]["after"]
                counts = [f"{sum(before.values())} -> {sum(after.values())}", f"{asks(before)} -> {asks(after)}"]
                lines.append([name, variant, *counts, f"{said['bytes']['before']} -> {said['bytes']['after']}"])
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="*")
    parser.add_argument("--only", default="", metavar="REGEX", help="only models with such a name")
    parser.add_argument("--json", type=pathlib.Path, help="write everything there")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", "openvino"])
    corpus = [pathlib.Path(os.environ["GRADUS_CORPUS"])] if "GRADUS_CORPUS" in os.environ else []
    results = {}
    with tempfile.TemporaryDirectory(prefix="gradus-recorded-") as folder:
        models = {}
        for path in arguments.models:
            models |= found(path, "") if path.is_dir() else {path.stem: (path, None)}
        if not models:
            models = recorded(pathlib.Path(folder))
            for root in corpus:
                models |= found(root, "corpus/")
        wanted = {name: item for name, item in models.items() if re.search(arguments.only, name)}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            gradus = arguments.gradus.resolve()
            work = [pool.submit(apart, context, name, (gradus, path.resolve(), corpus, given)) for name, (path, given) in wanted.items()]
            for done in concurrent.futures.as_completed(work):
                name, result = done.result()
                results[name] = result
                if sys.stderr.isatty():
                    print(f"\r\x1b[K{len(results)}/{len(work)} {name}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    results = dict(sorted(results.items()))
    wrong = expectations.differences(LIST, results, complete=not arguments.models and not arguments.only)
    shown = {name: result for name, result in results.items() if arguments.models or name.startswith("corpus/")}
    print(table(shown))
    for name, result in results.items():
        for note in result["notes"] if arguments.models or not name.startswith("recorded/") else []:
            print(f"{name}: {note}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    runs = sum(result["runs"] for result in results.values())
    print(f"\n{len(results)} models, {runs} runs, {len(wrong)} not as listed")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
