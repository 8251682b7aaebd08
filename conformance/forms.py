"""Runs operators in every combination of their attributes, and holds `gradus run` and conversions against ONNX Runtime and OpenVINO.

    python conformance/forms.py GRADUS [--sample N] [--seed S] [--only REGEX]

`forms_onnx.py`, `forms_openvino.py`, `forms_windows.py` and `forms_data.py` list the combinations: models of one node, in one standard. Each model is run, converted to the
other standard, and converted back. Each of the three is run by Gradus and by the program of its standard; all results must be those of
`gradus run` on the first. Models of ONNX are converted with open sizes too, as OpenVINO compiles them differently.

A case is FAMILY/ATTRIBUTES.STEP, where the steps are `run`, `there`, `open` and `back`, by `gradus` or the program: `ort`, `cpu`.
`forms.toml` lists the cases that differ, as regular expressions with reasons, and what Gradus says where it does not convert or run a
form. An expression that matches a case without a difference is a failure, unless it says that only some elements are `sometimes`
different, and so is one that matches none. `--sample` tries N cases of each family, chosen by the seed.
"""

import argparse
import collections
import concurrent.futures
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import convert
import numpy as np

LIST = pathlib.Path(__file__).with_name("forms.toml")
SECONDS = 60


class Form:
    """A model of one node: its file of the fixed sizes, perhaps one of open sizes, its inputs, and how far floats may be apart."""

    def __init__(self, family, attributes, write, inputs, close=0.0):
        self.family = family
        self.name = family + "/" + ",".join(f"{key}={text(value)}" for key, value in attributes.items())
        self.write, self.inputs, self.close = write, inputs, close


def text(value) -> str:
    return "x".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def product(**values):
    """All combinations of attributes, as dictionaries."""
    combinations = [{}]
    for name, all_values in values.items():
        combinations = [known | {name: value} for known in combinations for value in all_values]
    return combinations


def gradus(program, *arguments) -> str:
    """Why the program fails, if it does."""
    command = [program, *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no result in {SECONDS} seconds"
    if done.returncode == 0:
        return ""
    said = (done.stdout + done.stderr).splitlines() or [f"exit status {done.returncode}"]
    # `--json` makes JSON of errors.
    error = next((line for line in said if line.startswith('{"error"')), None)
    return json.loads(error)["error"]["message"] if error else said[0]


def run_gradus(program, model, inputs, folder):
    """Outputs in their order, and why there are none."""
    shutil.rmtree(folder, ignore_errors=True)
    arguments = []
    for name, array in inputs.items():
        path = folder.with_name(f"{folder.name}_{name}.npy")
        np.save(path, array)
        arguments += ["-i", f"{name}={path}"]
    why = gradus(program, "run", model, *arguments, "-o", folder, "--json")
    if why:
        return None, why
    return [loaded(folder / f"y{i}.npy") for i in range(len(list(folder.glob("y*.npy"))))], None


def loaded(path):
    """An array; of floats of 8 bits, which NumPy does not have, their codes."""
    return np.load(io.BytesIO(path.read_bytes().replace(b"'<f1'", b"'|u1'", 1)))


def run_other(runner, model, inputs):
    """The same of the program of the standard."""
    found, why = runner.run(model, inputs, "cpu" if model.suffix == ".xml" else "ort")
    return (None, why) if found is None else ([found[name] for name in sorted(found)], None)


def differs(want, got, close) -> str | None:
    if len(want) != len(got):
        return f"{len(got)} outputs, not {len(want)}"
    return next((why for a, b in zip(want, got) if (why := convert.difference(bits(a), bits(b), close))), None)


def bits(array):
    """Codes of floats and integers of 8 bits and less, which NumPy does not have."""
    array = np.asarray(array)
    return array.view(np.uint8) if array.dtype.itemsize == 1 and array.dtype.name not in convert.NATIVE else array


class Tried:
    """What was found about cases: problems, and what Gradus does not do."""

    def __init__(self):
        self.cases, self.limits = {}, {}

    def note(self, case, problem):
        self.cases[case] = problem


def attempt(program, form, folder, runner, tried):
    """Runs a form, and what it is converted to."""
    try:
        model, opened = form.write(folder)
    except RuntimeError:
        # OpenVINO makes no node of such attributes.
        return
    want, why = run_gradus(program, model, form.inputs, folder / "source")
    own, refused = run_other(runner, model, form.inputs)
    name = "cpu" if model.suffix == ".xml" else "ort"
    if want is None:
        # A form that no program runs is none.
        if own is not None:
            tried.limits[f"{form.name}.run.gradus"] = why
        return
    if own is not None:
        tried.note(f"{form.name}.run.{name}", differs(want, own, form.close))
    other = ".onnx" if model.suffix == ".xml" else ".xml"
    steps = [("there", model, other)]
    if opened:
        steps.append(("open", opened, other))
    steps.append(("back", folder / f"there{other}", model.suffix))
    for step, source, suffix in steps:
        written = folder / f"{step}{suffix}"
        if not source.exists():
            continue
        if why := gradus(program, "convert", source, written, "--json"):
            written.unlink(missing_ok=True)
            tried.limits[f"{form.name}.{step}"] = why
            continue
        name = "cpu" if suffix == ".xml" else "ort"
        # ONNX Runtime lacks kernels for some types of what it refuses in the source too.
        for by, (got, why) in [
            ("gradus", run_gradus(program, written, form.inputs, folder / step)),
            (name, run_other(runner, written, form.inputs)),
        ]:
            if got is None and step == "back" and refused:
                continue
            problem = f"refused: {why}" if got is None else differs(want, got, form.close)
            tried.note(f"{form.name}.{step}.{by}", problem)


def judged(tried, whole) -> list[str]:
    """What is not as `forms.toml` says."""
    listed = tomllib.loads(LIST.read_text())
    differing = [(re.compile(entry["case"]), entry) for entry in listed.get("differs", [])]
    limits = [(re.compile(entry["says"]), entry) for entry in listed.get("limits", [])]
    wrong, used = [], set()
    for case, problem in tried.cases.items():
        entries = [entry for pattern, entry in differing if pattern.fullmatch(case)]
        if problem:
            used.update(id(entry) for entry in entries)
            if not entries:
                wrong.append(f"{case}: {problem}")
        elif any(not entry.get("sometimes") for entry in entries):
            wrong.append(f"{case} is listed as different, and is not")
    for case, why in tried.limits.items():
        entries = [entry for pattern, entry in limits if pattern.search(why)]
        used.update(id(entry) for entry in entries)
        if not entries:
            wrong.append(f"{case} is not done: {why}")
    if whole:
        wrong += [f"nothing is {entry}" for _, entry in differing + limits if id(entry) not in used]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("gradus")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    import forms_data
    import forms_onnx
    import forms_openvino
    import forms_windows

    families = collections.defaultdict(list)
    for module in (forms_onnx, forms_openvino, forms_windows, forms_data):
        for form in module.forms():
            if re.search(given.only, form.name):
                families[form.family].append(form)
    rng = random.Random(given.seed)
    chosen = []
    for forms in families.values():
        chosen += forms if given.sample is None else rng.sample(forms, min(given.sample, len(forms)))
    tried = Tried()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def work(part):
            runner = convert.Runner()
            for i, form in part:
                own = folder / str(i)
                own.mkdir()
                attempt(given.gradus, form, own, runner, tried)
                shutil.rmtree(own)

        numbered, workers = list(enumerate(chosen)), 2
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for done in [pool.submit(work, numbered[i::workers]) for i in range(workers)]:
                done.result()
    wrong = judged(tried, given.sample is None and not given.only)
    print("\n".join(wrong))
    print(f"{len(chosen)} forms, {len(tried.cases)} results, {len(tried.limits)} not done; {len(wrong)} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
