"""Holds `gradus fold` of OpenVINO models against OpenVINO.

    python conformance/openvino_fold.py GRADUS [MODEL|FOLDER ...] [--only REGEX] [--json FILE] [--jobs 2]

Each model is folded as it is, and with the extents of its inputs fixed. Checked are: OpenVINO reads the result; inputs and
outputs have the names and, unless fixed, the shapes that they had; folding again gives the same bytes of both files; ShapeOf is not asked more often than
before; every output has the same bits as the original's, by the CPU plugin for several extents of the inputs. Where the plugin
makes other bits of the two, because it rewrites what it recognises, OpenVINO's own evaluation decides, operator by operator.

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
import tomllib

import numpy as np
import openvino as ov

import openvino_truth

HERE = pathlib.Path(__file__).parent
LIST, RECORDED = HERE / "openvino_fold.toml", HERE / "recorded" / "openvino.json"
SECONDS = 300
# How many sets of extents each model is run with.
RUNS = 3


def first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1][:200]


def fold(gradus, source, out, options=()) -> dict:
    command = [str(gradus), "fold", str(source), "-o", str(out), "--json", "--verify", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise ValueError(f"refused ({done.returncode}): {first_line(done.stderr)}")
    return json.loads(done.stdout)


def named(port) -> str:
    return min(port.names) if port.names else port.node.friendly_name


def interface(model, shapes: bool) -> list:
    """What is seen of a model from outside."""
    return [
        [(sorted(port.names), str(port.element_type), str(port.partial_shape) if shapes else "") for port in side]
        for side in (model.inputs, model.outputs)
    ]


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


def bits(array) -> tuple:
    array = np.asarray(array)
    return array.dtype.str, array.shape, array.tobytes() if array.dtype != object and array.dtype.kind not in "SU" else array.tolist()


def by_plugin(path, feeds) -> list[list]:
    core = ov.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = []
    for inputs in feeds:
        given = compiled(inputs)
        results.append([bits(given[i]) for i in range(len(compiled.outputs))])
    return results


def by_reference(path, feeds) -> list[list]:
    model = ov.Core().read_model(path)
    results = []
    for inputs in feeds:
        out = [ov.Tensor(port.element_type, ov.Shape([0] * max(port.partial_shape.rank.get_length(), 1) if port.partial_shape.rank.is_static else [0])) for port in model.outputs]
        if not model.evaluate(out, [ov.Tensor(inputs[named(port)]) for port in model.inputs]):
            raise ValueError("not evaluated")
        results.append([bits(tensor.data) for tensor in out])
    return results


def differences(one: list[list], other: list[list]) -> list[str]:
    return [
        f"run {run}, output {i}: {a[:2]} and {b[:2]}" if a[:2] != b[:2] else f"run {run}, output {i}: other elements"
        for run, (left, right) in enumerate(zip(one, other, strict=True))
        for i, (a, b) in enumerate(zip(left, right, strict=True))
        if a != b
    ]


def compare(original, folded, feeds, notes) -> list[str]:
    wrong = differences(by_plugin(original, feeds), by_plugin(folded, feeds))
    if not wrong:
        return []
    try:
        decided = differences(by_reference(original, feeds), by_reference(folded, feeds))
    except Exception as error:
        return [f"{why} (not evaluated: {first_line(error)})" for why in wrong]
    if not decided:
        notes.append(f"the plugin makes other bits: {wrong[0]}")
    return decided


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
                dynamic = variant == "dynamic"
                before, after = interface(model, dynamic), interface(core.read_model(out), dynamic)
                if before != after:
                    wrong.append(f"other inputs or outputs: {before} and {after}")
                if asks(said["nodes"]["after"]) > asks(said["nodes"]["before"]):
                    wrong.append("ShapeOf is asked more often")
                fold(gradus, out, again)
                for ending in ("xml", "bin"):
                    if out.with_suffix(f".{ending}").read_bytes() != again.with_suffix(f".{ending}").read_bytes():
                        wrong.append(f"folding again gives another .{ending}")
                wrong += compare(path, out, inputs, notes)
            except Exception as error:
                wrong.append(first_line(error))
            problems.extend(f"{variant}: {why}" for why in wrong)
    return result


def serve(pipe, arguments) -> None:
    # What the programs say while they work is not ours.
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


def hold(results: dict, complete: bool) -> list[str]:
    """What is not as the list says."""
    stated = tomllib.loads(LIST.read_text())
    expected, skipped = stated.get("xfail", {}), stated.get("skip", {})
    wrong = []
    for name, result in results.items():
        if name in skipped:
            continue
        if result["problems"] and name not in expected:
            wrong.extend(f"{name}: {why}" for why in result["problems"])
        if not result["problems"] and name in expected:
            wrong.append(f"{name} passes, but is listed as failing")
    if complete:
        groups = {name.split("/")[0] for name in results}
        gone = [name for name in [*expected, *skipped] if name not in results and name.split("/")[0] in groups]
        wrong.extend(f"{name} is listed, but does not exist" for name in gone)
    return wrong


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
    wrong = hold(results, complete=not arguments.models and not arguments.only)
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
