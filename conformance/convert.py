"""Holds what `gradus convert` writes against the programs that run it, and `convert.toml` against both sides.

    python conformance/convert.py GRADUS RANDOM [--write] [--nodes REGEX]

RANDOM is a folder of models that `crates/gradus/tests/conversion/graphs.rs` wrote: there, and back again, with what goes in and comes
out. Besides, the node tests of the installed `onnx` package are converted to OpenVINO's IR; the models of
`openvino_models.py` to ONNX; the recorded programs of Paddle to both; and the models of the corpus ($GRADUS_CORPUS), of which only the number that convert, and that OpenVINO and `onnx.checker`
take, is held.

A case is NAME.RUNNER. Runners: `evaluate`, OpenVINO's reference; `cpu`, its plugin; `ort`, ONNX Runtime. Results are the same
numbers where the conversion says that it is exact, and within the tolerance of the case elsewhere. `--write` lists as expected failures what
fails now, with the reasons that are there.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import warnings

import ml_dtypes
import numpy as np

warnings.filterwarnings("ignore")
os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"

LIST = pathlib.Path(__file__).with_name("convert.toml")
RECORDED = pathlib.Path(__file__).with_name("recorded") / "paddle"
SECONDS = 60
NATIVE = {"bool", "float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
# The operator set of what ONNX Runtime is to run.
OPSET = 22
# The newest that it has RoiAlign of.
OPSET_OF_NETWORKS = 20


def first_line(error: object) -> str:
    """What an error says, without where in the program it was found."""
    lines = [line.strip() for line in str(error).splitlines()]
    noise = ("Exception from", "Check '", "Details:", "While validating", "Not Implemented:", "Shape inference input")
    said = [line for line in lines if line and not line.startswith(noise)]
    return (said or lines or [type(error).__name__])[0][:160]


# Running


def openvino_array(array):
    import openvino as ov

    if array.dtype == ml_dtypes.bfloat16:
        tensor = ov.Tensor(ov.Type.bf16, ov.Shape(array.shape))
        tensor.data[...] = array.view(tensor.data.dtype) if tensor.data.dtype.itemsize == 2 else array
        return tensor
    # Scalars stay scalars, which `ascontiguousarray` does not leave them.
    return ov.Tensor(np.array(array, order="C"), shared_memory=False)


def name_of(port) -> str:
    """The name of an input or output of a model; one of an input that is that of its layer too comes first."""
    own, names = port.get_node().friendly_name, port.get_names()
    if not names or port.get_node().get_type_name() == "Parameter" and own in names:
        return own
    return port.get_any_name()


def run_openvino(path: str, inputs: dict, runner: str) -> dict:
    import openvino as ov

    core = ov.Core()
    model = core.read_model(path)
    if model.inputs:
        model.reshape({port: list(inputs[name_of(port)].shape) for port in model.inputs})
    names = [name_of(port) for port in model.outputs]
    taken = [name_of(port) for port in model.inputs]
    if runner == "evaluate":
        given = [openvino_array(inputs[name]) for name in taken]
        results = [ov.Tensor(port.element_type, ov.Shape([])) for port in model.outputs]
        try:
            done = model.evaluate(results, given)
        except RuntimeError as error:
            if "Evaluation failed on" in str(error):
                return {}
            raise
        if not done:
            return {}
        return {name: np.array(result.data) for name, result in zip(names, results)}
    hints = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
    compiled = core.compile_model(model, "CPU", hints)
    results = compiled({i: openvino_array(inputs[name]) for i, name in enumerate(taken)})
    return {name: np.array(results[i]) for i, name in enumerate(names)}


def run_onnx(path: str, inputs: dict) -> dict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [info.name for info in session.get_outputs()]
    wanted = {info.name for info in session.get_inputs()}
    return dict(zip(names, session.run(names, {name: array for name, array in inputs.items() if name in wanted})))


def serve(pipe):
    while True:
        try:
            path, inputs, runner = pipe.recv()
        except EOFError:
            return
        try:
            found = run_onnx(path, inputs) if runner == "ort" else run_openvino(path, inputs, runner)
            pipe.send((found, None))
        except Exception as error:
            pipe.send((None, first_line(error)))


class Runner:
    """Runs models in processes, one for each program: programs die, some of them later than what damaged their memory. A model
    where a process died is run again in one of its own. What they print when they end, as `munmap_chunk(): invalid pointer`, is of
    OpenVINO or ONNX Runtime: Gradus is run as a command, and no process here loads it."""

    def __init__(self):
        self.running = {}

    def run(self, path, inputs, runner):
        if runner not in self.running:
            self.running[runner] = start()
        result, why = asked(*self.running[runner], (str(path), inputs, runner))
        if not why:
            return result
        stop(*self.running.pop(runner))
        if why != DIED:
            return None, why
        alone = start()
        result, why = asked(*alone, (str(path), inputs, runner))
        stop(*alone)
        return result or (None, why)


DIED = "the process died"


def start():
    context = multiprocessing.get_context("forkserver")
    pipe, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return process, pipe


def asked(_, pipe, question):
    """What a process answers, or why it does not."""
    try:
        pipe.send(question)
        if pipe.poll(SECONDS):
            return pipe.recv(), None
        return None, f"no result in {SECONDS} seconds"
    except (EOFError, OSError):
        return None, DIED


def stop(process, pipe):
    process.kill()
    process.join()
    pipe.close()


# Comparing


def difference(want, got, close: float) -> str | None:
    """How two arrays differ, if they do. `close`: how far floats may be apart, as a part of the greatest."""
    want, got = np.asarray(want), np.asarray(got)
    if want.dtype != got.dtype and not (want.dtype == ml_dtypes.bfloat16 and got.dtype.itemsize == 2):
        return f"{got.dtype}, not {want.dtype}"
    if want.shape != got.shape:
        return f"shape {list(got.shape)}, not {list(want.shape)}"
    if got.dtype != want.dtype:
        got = got.view(want.dtype)
    if want.dtype.kind in "biu" or want.dtype.kind in "SUO":
        same = want == got
    else:
        a, b = want.astype(np.float64), got.astype(np.float64)
        finite = np.abs(a[np.isfinite(a)])
        room = close * (finite.max() if finite.size else 0)
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= room)
    if np.all(same):
        return None
    at = int(np.argmin(np.ravel(same)))
    return f"element {at} is {np.ravel(got)[at]}, not {np.ravel(want)[at]}"


class NotEvaluated(Exception):
    """The reference of OpenVINO does not have every operator."""


def compared(runner: Runner, path, inputs, outputs: dict, how: str, close: float) -> str | None:
    found, error = runner.run(path, inputs, how)
    if error:
        return f"does not run: {error}"
    if how == "evaluate" and not found:
        raise NotEvaluated
    for name, want in outputs.items():
        if name not in found:
            return f"there is no output {name}"
        if why := difference(want, found[name], close):
            return f"{name}: {why}"
    return None


# Converting


class Refused(Exception):
    """The other standard cannot say it."""


class Failed(Exception):
    """The model is wrong, or the conversion."""


def convert(gradus, source, to, *options) -> dict:
    done = subprocess.run([gradus, "convert", source, to, "--json", *options], capture_output=True, text=True)
    if done.returncode:
        error = json.loads(done.stderr)["error"]
        if error["kind"] == "unsupported":
            raise Refused(error["message"])
        raise Failed(error["message"])
    return json.loads(done.stdout)


def known(why: str, how: str, model: pathlib.Path, arrays: list) -> bool:
    """Whether a difference of a random graph is of a kind that the list has, by what the graph holds."""
    import onnx

    graphs = [onnx.load(model).graph]
    operators = set()
    while graphs:
        for node in graphs.pop().node:
            operators.add(node.op_type)
            graphs.extend(attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH)
    empty = any(not array.size for array in arrays)
    for kind in tomllib.loads(LIST.read_text())["random"]:
        held = not kind["operators"] or operators & set(kind["operators"])
        if how in kind["runners"] and held and (empty or not kind.get("empty")) and re.search(kind["says"], why):
            return True
    return False


def random_cases(folder: pathlib.Path, runner: Runner) -> dict:
    """Random graphs differ in kinds that the list has, or fail."""
    cases = {}
    for case in sorted(folder.glob("random-*")):
        load = lambda prefix: {
            file.name.removeprefix(prefix).removesuffix(".npy"): np.load(file) for file in sorted(case.glob(f"{prefix}*.npy"))
        }
        inputs, outputs = load("in."), load("out.")
        close = 0 if json.loads((case / "case.json").read_text())["exact"] else 1e-5
        # The plugin computes int64 in int32, and dies of tensors without elements: of random graphs, the reference is asked.
        for file, how in (("a.onnx", "ort"), ("b.xml", "evaluate"), ("c.onnx", "ort")):
            key = f"{case.name}.{file[0]}.{how}"
            try:
                why = compared(runner, case / file, inputs, outputs, how, close)
            except NotEvaluated:
                continue
            if not (why and known(why, how, case / "a.onnx", [*inputs.values(), *outputs.values()])):
                cases[key] = why
    return cases


def node_cases(gradus, wanted: str, folder: pathlib.Path, runner: Runner) -> tuple[dict, dict]:
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    cases, refused = {}, {}
    for case in collect_testcases(None):
        if "_expanded" in case.name or not re.search(wanted, case.name):
            continue
        path = folder / "model.onnx"
        path.write_bytes(case.model.SerializeToString())
        xml = folder / "model.xml"
        try:
            report = convert(gradus, path, xml)
        except Refused as error:
            refused[case.name] = str(error)
            continue
        except Failed as error:
            cases[f"{case.name}.convert"] = str(error)
            continue
        array = lambda value: numpy_helper.to_array(value) if hasattr(value, "data_type") else np.asarray(value)
        given, expected = case.data_sets[0]
        inputs = {info.name: array(value) for info, value in zip(case.model.graph.input, given)}
        outputs = {}
        for info, value in zip(case.model.graph.output, expected):
            if not isinstance(value, list):
                outputs[info.name] = array(value)
            elif any("slices of a tensor" in lost for lost in report["lost"]):
                outputs[info.name] = np.stack([array(item) for item in value])
            else:
                # The items of a sequence are an output each.
                outputs |= {f"{info.name}_{place}": array(item) for place, item in enumerate(value)}
        # Elements below a byte, of 8 bits of float, and text are no arrays of the package that runs the models.
        if any(array.dtype.name not in NATIVE for array in [*inputs.values(), *outputs.values()]):
            continue
        close = max(case.rtol or 1e-3, 1e-5) if report["notes"] else 1e-7
        for how in ("evaluate", "cpu"):
            try:
                cases[f"{case.name}.{how}"] = compared(runner, xml, inputs, outputs, how, close)
            except NotEvaluated:
                pass
    return cases, refused


def openvino_cases(gradus, wanted: str, folder: pathlib.Path, runner: Runner) -> dict:
    import openvino_models

    cases = {}
    for name, write in openvino_models.writers():
        key = f"openvino_{name}"
        if not re.search(wanted, key):
            continue
        xml, path = folder / "back.xml", folder / "back.onnx"
        inputs = write(str(xml))
        try:
            report = convert(gradus, xml, path, "--opset", str(OPSET_OF_NETWORKS))
        except (Refused, Failed) as error:
            cases[f"{key}.ort"] = f"is not converted: {error}"
            continue
        outputs, error = runner.run(xml, inputs, "cpu")
        close = 1e-5 if report["notes"] else 0
        cases[f"{key}.ort"] = f"does not run: {error}" if error else compared(runner, path, inputs, outputs, "ort", close)
    return cases


def paddle_cases(gradus, folder: pathlib.Path, runner: Runner) -> dict:
    cases = {}
    for case in sorted(RECORDED.iterdir()):
        if not (case / "arrays.npz").exists():
            continue
        model = next(file for file in (case / "model.json", case / "model.pdmodel") if file.exists())
        arrays = np.load(case / "arrays.npz")
        inputs = {key[3:]: arrays[key] for key in arrays if key.startswith("in.")}
        ulps = json.loads((case / "case.json").read_text())["ulps"]
        for ending, hows in (("onnx", ("ort",)), ("xml", ("evaluate", "cpu"))):
            path = folder / f"paddle.{ending}"
            try:
                report = convert(gradus, model, path, *(["--opset", str(OPSET)] if ending == "onnx" else []))
            except (Refused, Failed) as error:
                for how in hows:
                    cases[f"{case.name}.{how}"] = f"is not converted: {error}"
                continue
            for how in hows:
                found, error = runner.run(path, inputs, how)
                if how == "evaluate" and found == {}:
                    continue
                wrong = f"does not run: {error}" if error else None
                for i, allowed in enumerate(ulps):
                    if wrong:
                        break
                    want, got = arrays[f"out.{i}"], list(found.values())[i]
                    room = max(allowed * float(np.finfo(want.dtype).eps), 1e-6) if want.dtype.kind == "f" else 0
                    if why := difference(want, got, room):
                        wrong = f"output {i}: {why}"
                cases[f"{case.name}.{how}"] = wrong
    return cases


def corpus(gradus, folder: pathlib.Path) -> dict:
    """How many models convert, and are taken by those who read them."""
    import onnx
    import openvino as ov

    root = os.environ.get("GRADUS_CORPUS")
    if not root:
        print("GRADUS_CORPUS is not set: no models are converted", file=sys.stderr)
        return {}
    counts, why = {}, {}
    for ending, to in (("onnx", "xml"), ("xml", "onnx")):
        key = f"{ending} to {to}"
        models = [path for path in sorted(pathlib.Path(root).rglob(f"*.{ending}")) if path.stat().st_size < 1 << 27]
        done = 0
        for path in models:
            out = folder / f"corpus.{to}"
            try:
                convert(gradus, path, out)
                ov.Core().read_model(out) if to == "xml" else onnx.checker.check_model(str(out))
                done += 1
            except Refused as error:
                reason = re.sub(r".*operator (\S+) of", r"\1 of", str(error))
                why[reason] = why.get(reason, 0) + 1
            except Exception as error:
                print(f"{path.name}: {first_line(error)}", file=sys.stderr)
        counts[key] = [done, len(models)]
    for reason, count in sorted(why.items(), key=lambda item: -item[1])[:15]:
        print(f"{count:5} not converted: {reason}", file=sys.stderr)
    return counts


# The list


def write_list(wrong: dict, passed: list, counts: dict, old: dict):
    skipped = old.get("skip", {})
    wrong = {name: why for name, why in wrong.items() if name not in skipped}
    passed = [name for name in passed if name not in skipped and not name.startswith("random-")]
    lines = [LIST.read_text().split("\n\n")[0] if LIST.exists() else "# What is expected.", ""]
    lines += ["pass = ["] + [f'    "{name}",' for name in sorted(passed)] + ["]", "", "[models]"]
    lines += [f'"{key}" = {count}' for key, count in (counts or old.get("models", {})).items()]
    lines += ["", "[xfail]"]
    for name, why in sorted(wrong.items()):
        reason = old.get("xfail", {}).get(name, why).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'"{name}" = "{reason}"')
    lines += ["", "[skip]"] + [f'"{name}" = "{why}"' for name, why in sorted(skipped.items())]
    for kind in old.get("random", []):
        lines += ["", "[[random]]"] + [f"{key} = {json.dumps(value)}" for key, value in kind.items()]
    LIST.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("gradus")
    parser.add_argument("random", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--nodes", default="")
    args = parser.parse_args()
    runner = Runner()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = random_cases(args.random, runner)
        nodes, refused = node_cases(args.gradus, args.nodes, folder, runner)
        cases |= nodes | openvino_cases(args.gradus, args.nodes, folder, runner)
        if not args.nodes:
            cases |= paddle_cases(args.gradus, folder, runner)
            counts = corpus(args.gradus, folder)
        else:
            counts = {}
    wrong = {name: why for name, why in cases.items() if why}
    passed = [name for name, why in cases.items() if not why]
    print(f"{len(passed)} cases agree, {len(wrong)} do not; {len(refused)} node tests are of operators that are not converted; models: {counts}")
    old = tomllib.loads(LIST.read_text()) if LIST.exists() else {}
    if args.nodes:
        for name, why in wrong.items():
            print(f"{name}: {why}")
        return 0
    if args.write:
        write_list(wrong, passed, counts, old)
        return 0
    listed = {"pass": set(old.get("pass", [])), "xfail": set(old.get("xfail", {})), "skip": set(old.get("skip", {}))}
    failures = [f"{name}: {why}" for name, why in wrong.items() if name not in listed["xfail"] | listed["skip"]]
    failures += [f"{name}: passes, but is expected to fail" for name in passed if name in listed["xfail"]]
    failures += [f"{name}: is not listed" for name in passed if name not in listed["pass"] | listed["xfail"] | listed["skip"] and not name.startswith("random-")]
    failures += [f"{name}: is listed, but there is no such case" for name in (listed["pass"] | listed["xfail"]) - set(cases)]
    failures += [f"models, {key}: {count}, not {old.get('models', {}).get(key)}" for key, count in counts.items() if count != old.get("models", {}).get(key)]
    print("\n".join(failures))
    # `cargo xtask test` reads this line.
    print(f"{max(0, len(cases) - len(failures))} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
