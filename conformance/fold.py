"""Holds `gradus fold` against the programs that run what it writes.

    python conformance/fold.py GRADUS [MODEL|FOLDER ...] [--peers openvino,onnxsim,onnxslim] [--json FILE] [--jobs 2]

Each model is folded as it is, and with the sizes of its inputs fixed. Checked are: `onnx.checker` accepts the result; folding
again gives the same bytes; what is no node stays (interface, metadata, versions; functions may be inlined); every output has the same bits as
the original's in ONNX Runtime (nearly the same where it optimises both), under several bindings of the symbols, empty inputs too where the original
takes them. What ONNX Runtime does not run is run by the reference of the `onnx` package; what that does not run either is
only folded and checked.

Without models, they are the corpus ($GRADUS_CORPUS), and the test data and node tests of the installed `onnx` package, and
`fold.toml` is held against them from both sides. Peers are measured beside it: how many nodes, and how many Shape, Range, and
Expand or ConstantOfShape each leaves. Bodies are counted, Constant is not.
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
import warnings

import onnx

import execution
import expectations
import fold_peers
from execution import Reference, Runtime

LIST = pathlib.Path(__file__).with_name("fold.toml")
SECONDS = 900
DIED = "the process died"
# How far floats may be apart where ONNX Runtime rewrites both models, as a part of the greatest.
CLOSE = 1e-5
# Parts that are no nodes, and must stay as they were.
UNTOUCHED = (
    "ir_version", "opset_import", "metadata_props", "training_info", "producer_name", "producer_version",
    "domain", "model_version", "doc_string",
)  # fmt: skip
# Random whole numbers are below these: the largest with which the original runs, because they may be indices.
TOPS = (8, 2, 1)
COUNTED = {"Shape": ("Shape",), "Range": ("Range",), "Expand…": ("Expand", "ConstantOfShape")}


def first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


# Models and inputs


def truth_of(path: pathlib.Path) -> dict | None:
    """What the corpus says of a model."""
    file = path.parent.parent / "truth" / path.with_suffix(".json").name
    return json.loads(file.read_text()) if file.exists() else None


def bindings(model, truth: dict | None) -> dict[str, tuple[dict, int]]:
    """Values for the symbols, and for sizes without a name: those of the corpus, all one, and each of them zero."""
    names = execution.symbols(model)
    known = {
        "A": {name: 4 + i for i, name in enumerate(names)},
        "B": {name: 11 - i % 8 for i, name in enumerate(names)},
    }
    if truth:
        known = {key: bind | truth["bind"][key] for key, bind in known.items()}

    def whole(bind: dict) -> dict:
        if {"past_seq", "seq", "total_seq"} <= set(names):
            return bind | {"total_seq": bind["past_seq"] + bind["seq"]}
        return bind

    found = {key: (known[key], unnamed) for key, unnamed in execution.UNNAMED.items()}
    if names:
        found["all 1"] = whole(dict.fromkeys(names, 1)), 1
        found |= {f"{name} 0": (whole(known["A"] | {name: 0}), execution.UNNAMED["A"]) for name in names}
    return found


def cases(path: pathlib.Path, model, empty: bool) -> dict[str, list[dict]]:
    """Inputs to try, until the original takes them, by what they are; perhaps with empty ones."""
    sets = sorted(path.parent.glob("test_data_set_*")) if path.name == "model.onnx" else []
    if sets:
        return {folder.name: [execution.stored(model, folder)] for folder in sets}
    found = {}
    for name, (bind, unnamed) in bindings(model, truth_of(path)).items():
        if empty or not name.endswith(" 0"):
            found[name] = [execution.feeds(model, bind, unnamed, top) for top in TOPS]
    if other := execution.overrides(model):
        found["defaults overridden"] = [inputs | other for inputs in found["A"]]
    return found


def fixed(path: pathlib.Path, model) -> list[str]:
    """The options of binding A."""
    bind, unnamed = bindings(model, truth_of(path))["A"]
    options = [f"--dim={name}={bind[name]}" for name in execution.symbols(model)]
    for info in execution.required(model)[0]:
        if any(execution.is_open(dim) and not dim.dim_param for dim in info.type.tensor_type.shape.dim):
            options.append(f"--input-shape={info.name}={','.join(map(str, execution.shape(info, bind, unnamed)))}")
    return options


# One model


def answers(path, asked: dict, ways: dict, notes: list[str]) -> dict:
    """What the original gives in each way: inputs, outputs, and which of these it gives again if it is asked again.

    Inputs that the first way refuses are not given to others: optimised pools of ONNX Runtime divide by empty sizes."""
    found, refused = {}, set()
    for how, make in ways.items():
        try:
            runner = make(path)
        except Exception as error:
            notes.append(f"the original does not load ({how}): {first_line(error)}")
            continue
        for name, candidates in asked.items():
            if name in refused:
                continue
            for inputs in candidates:
                try:
                    one, other = runner.run(inputs), runner.run(inputs)
                except Exception as error:
                    failed = first_line(error)
                    continue
                stable = [key for key in one if not execution.difference(one[key], other[key])]
                found[how, name] = inputs, {key: one[key] for key in stable}
                if len(stable) < len(one):
                    notes.append(f"the original gives other values each time ({how}, {name})")
                break
            else:
                refused.add(name)
                notes.append(f"the original does not run ({how}, {name}): {failed}")
    return found


def compare(path, ways: dict, expected: dict) -> list[str]:
    """How the outputs of a folded model differ."""
    wrong, runners = [], {}
    for (how, name), (inputs, outputs) in expected.items():
        try:
            if how not in runners:
                runners[how] = ways[how](path)
            found = runners[how].run(inputs)
        except Exception as error:
            wrong.append(f"does not run ({how}, {name}): {first_line(error)}")
            continue
        # What ONNX Runtime makes of a model, it makes of what it recognises in it: more, where shapes are known.
        if why := execution.first_difference(outputs, found, CLOSE if how == "optimised" else 0):
            wrong.append(f"{how}, {name}: {why}")
    return wrong


def checks(path) -> set[bool]:
    """With which strictness the checker accepts a model."""
    accepted = set()
    for full in (False, True):
        try:
            onnx.checker.check_model(str(path), full_check=full)
            accepted.add(full)
        except Exception:
            continue
    return accepted


def fold(gradus, source, out, options=()) -> dict:
    """What `gradus fold` says."""
    command = [str(gradus), "fold", str(source), "-o", str(out), *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise ValueError(f"refused ({done.returncode}): {first_line(done.stderr)}")
    return json.loads(done.stdout)


def untouched(original, folded, whole: bool) -> list[str]:
    """What changed and should not have."""
    same = lambda name: getattr(original, name) == getattr(folded, name)  # noqa: E731
    wrong = [f"{name} changed" for name in UNTOUCHED if not same(name)]
    if any(function not in original.functions for function in folded.functions):
        wrong.append("a function changed")
    for side in ("input", "output"):
        one, other = (getattr(model.graph, side) for model in (original, folded))
        # Outputs that were declared with a wrong rank have the right one.
        rank = lambda info: len(info.type.tensor_type.shape.dim)  # noqa: E731
        differ = any(a != b and (side == "input" or rank(a) == rank(b)) for a, b in zip(one, other))
        if [x.name for x in one] != [x.name for x in other] or whole and differ:
            wrong.append(f"the {side}s changed")
    return wrong


def ask(path: pathlib.Path, model, empty: bool) -> tuple[dict, dict, list[str]]:
    """The ways to run a model, what it gives, and notes."""
    notes = []
    try:
        asked = cases(path, model, empty)
    except execution.NotRun as error:
        return {}, {}, [str(error)]
    runtime = {"plain": lambda file: Runtime(file, False), "optimised": lambda file: Runtime(file, True)}
    for ways in (runtime, {"reference": Reference}):
        if expected := answers(path, asked, ways, notes):
            break
    return ways, expected, notes


def survives(path: pathlib.Path) -> dict:
    ask(path, onnx.load(path, load_external_data=False), True)
    return {}


def check(gradus, path: pathlib.Path, work: pathlib.Path, empty: bool) -> dict:
    """Folds a model in every way; says what is wrong."""
    model = onnx.load(path, load_external_data=False)
    ways, expected, notes = ask(path, model, empty)
    problems, variants, accepted = [], {"dynamic": []}, checks(path)
    if any(name == "A" for _, name in expected) and (options := fixed(path, model)):
        variants["fixed"] = options
    result = {"before": execution.operators(model), "runs": len(expected), "notes": notes, "problems": problems}
    for variant, options in variants.items():
        out, again = work / f"{variant}.onnx", work / f"{variant}.again.onnx"
        try:
            said = fold(gradus, path, out, options)
            folded = onnx.load(out, load_external_data=False)
            wrong = untouched(model, folded, variant == "dynamic")
            if lost := accepted - checks(out):
                try:
                    onnx.checker.check_model(str(out), full_check=max(lost))
                except Exception as error:
                    wrong.append(f"the checker: {first_line(error)}")
            fold(gradus, out, again)
            if out.read_bytes() != again.read_bytes():
                wrong.append("folding again gives other bytes")
            held = {key: value for key, value in expected.items() if variant == "dynamic" or key[1] == "A"}
            wrong += compare(out, ways, held)
            result[variant] = {"after": execution.operators(folded), "said": said}
        except Exception as error:
            wrong = [first_line(error)]
        problems.extend(f"{variant}: {why}" for why in wrong)
    return result


def peer(name: str, path: pathlib.Path, work: pathlib.Path) -> dict:
    return dict(fold_peers.simplify(name, str(path), str(work / f"{name}.onnx")))


# All models


def serve(pipe, function, arguments) -> None:
    # Output of the programs is not shown.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    try:
        pipe.send(function(*arguments))
    except Exception as error:
        pipe.send({"error": f"{type(error).__name__}: {first_line(error)}"})


def apart(context, function, *arguments) -> dict:
    """The function's result from a process of its own, which may die or hang."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(SECONDS) else {"error": f"takes more than {SECONDS} s"}
    except EOFError:
        process.join()
        return {"error": f"{DIED} ({process.exitcode})"}
    finally:
        process.kill()
        process.join()


def examine(context, gradus, name, path, peers) -> tuple[str, dict]:
    with tempfile.TemporaryDirectory(prefix="gradus-fold-") as folder:
        work = pathlib.Path(folder)
        result = apart(context, check, gradus, path, work, True)
        # Empty inputs may end the process of the original: that is known, and not held against what was folded.
        if DIED in result.get("error", "") and DIED in apart(context, survives, path).get("error", ""):
            result = apart(context, check, gradus, path, work, False)
        if "error" in result:
            result = {"before": {}, "runs": 0, "notes": [], "problems": [result["error"]]}
        result["peers"] = {key: apart(context, peer, key, path, work) for key in peers}
        return name, result


def node_tests(folder: pathlib.Path) -> None:
    """Writes the node tests of the `onnx` package as its other test data are."""
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        root = folder / case.name
        root.mkdir(parents=True)
        (root / "model.onnx").write_bytes(case.model.SerializeToString())
        for i, (inputs, _) in enumerate(case.data_sets):
            data = root / f"test_data_set_{i}"
            data.mkdir()
            for k, (info, value) in enumerate(zip(case.model.graph.input, inputs, strict=False)):
                kind = info.type.WhichOneof("value")
                if not isinstance(value, onnx.TensorProto):
                    make = {"sequence_type": numpy_helper.from_list, "optional_type": numpy_helper.from_optional}
                    value = make.get(kind, numpy_helper.from_array)(value)
                (data / f"input_{k}.pb").write_bytes(value.SerializeToString())


def found(root: pathlib.Path, prefix: str) -> dict[str, pathlib.Path]:
    """Models in a folder, by name."""
    name = lambda path: str(path.relative_to(root)).removesuffix("/model.onnx").removesuffix(".onnx")  # noqa: E731
    return {f"{prefix}{name(path)}": path for path in sorted(root.rglob("*.onnx"))}


def standing(work: pathlib.Path) -> dict[str, pathlib.Path]:
    """The corpus, and what the `onnx` package has."""
    models = {}
    if corpus := os.environ.get("GRADUS_CORPUS"):
        models |= found(pathlib.Path(corpus), "corpus/")
    models |= found(pathlib.Path(onnx.__file__).parent / "backend/test/data", "data/")
    with warnings.catch_warnings(action="ignore"):
        node_tests(work)
    return models | found(work, "node/")


# The report


def counts(operators: dict) -> list[int]:
    nodes = sum(count for name, count in operators.items() if name != "Constant")
    return [nodes, *(sum(operators.get(name, 0) for name in names) for names in COUNTED.values())]


def rows(name: str, result: dict) -> list[list]:
    """Counts of a model before and after, by variant and peer."""
    before = counts(result["before"])
    after = [(key, result[key]["after"]) for key in ("dynamic", "fixed") if key in result]
    after += [(key, value) for key, value in result["peers"].items()]
    return [
        [name, key, *(["failed", *[""] * len(COUNTED)] if "error" in found else [f"{a} -> {b}" for a, b in zip(before, counts(found), strict=True)])]
        for key, found in after
    ]  # fmt: skip


def totals(results: dict) -> list[list]:
    """Sums by group and variant, over the models of which there is a result."""
    sums = {}
    for name, result in results.items():
        group = "/".join(name.split("/")[:2]) if name.startswith("corpus/") else name.split("/")[0]
        after = {key: result[key]["after"] for key in ("dynamic", "fixed") if key in result} | result["peers"]
        for key, operators in after.items():
            if "error" not in operators:
                for whole in (group, "all"):
                    pairs = sums.setdefault((whole, key), [0, [0] * 4, [0] * 4])
                    pairs[0] += 1
                    pairs[1] = [a + b for a, b in zip(pairs[1], counts(result["before"]), strict=True)]
                    pairs[2] = [a + b for a, b in zip(pairs[2], counts(operators), strict=True)]
    return [
        [f"{group} ({count})", key, *(f"{a} -> {b}" for a, b in zip(one, other, strict=True))]
        for (group, key), (count, one, other) in sums.items()
    ]


def table(lines: list[list]) -> str:
    head = ["model", "folded", "nodes", *COUNTED]
    lines = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gradus", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="*")
    parser.add_argument("--peers", default="", help=f"of {', '.join(fold_peers.PEERS)}; or all that are installed")
    parser.add_argument("--only", default="", metavar="REGEX", help="only models with such a name")
    parser.add_argument("--json", type=pathlib.Path, help="write everything there")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    peers = fold_peers.installed() if arguments.peers == "all" else [x for x in arguments.peers.split(",") if x]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["onnx", "onnx.reference", "onnxruntime", "ml_dtypes", *peers])
    with tempfile.TemporaryDirectory(prefix="gradus-nodes-") as nodes:
        models = {}
        for path in arguments.models:
            models |= found(path, "") if path.is_dir() else {path.stem: path}
        models = models or standing(pathlib.Path(nodes))
        wanted = {name: path.resolve() for name, path in models.items() if re.search(arguments.only, name)}
        results = {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            gradus = arguments.gradus.resolve()
            work = [pool.submit(examine, context, gradus, *item, peers) for item in wanted.items()]
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
    print(table([row for name, result in shown.items() for row in rows(name, result)]))
    print(f"\n{table(totals(results))}\n")
    silent = [name for name, result in results.items() if not result["runs"]]
    for name in silent:
        print(f"not run: {name}: {(results[name]['notes'] or ['no inputs'])[-1]}")
    for line in wrong:
        print(f"wrong: {line}")
    runs = sum(result["runs"] for result in results.values())
    print(f"{len(results)} models, {runs} runs compared, {len(silent)} models not run, {len(wrong)} wrong")
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
