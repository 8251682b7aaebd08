"""Runs random models of one ONNX operator in Gradus, ONNX Runtime and the reference evaluator of `onnx`, and compares.

    python conformance/random_nodes.py [--count N] [--seed S] [--only NAME,…] [--save FOLDER]

Needs the Python package `gradus`. Types, attributes, broadcasting, empty extents and special floats are random. A table says,
by operator, in how many models all three agree, which of them is alone with its result, and what only Gradus refuses or
runs. The exit status is 1 if Gradus is alone. Elements agree if they are equal, both NaN, or floats nearer than a bound
relative to the largest element, as sums and functions are rounded otherwise there.
"""

import argparse
import collections
import pathlib
import sys
import tempfile
import warnings
import zlib

import numpy as np
import onnx
from execution import Reference, Runtime
import newer_node_makers as _  # fills the table
from node_makers import MAKERS, Random
from one_node import one_node

import gradus

warnings.filterwarnings("ignore")
OPSET = 22
BOUND = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-11}
# Verdicts whose models are printed.
DEVIATIONS = ["gradus alone", "all differ", "two differ", "only gradus refuses"]


def model_of(name, inputs, attributes):
    own = {key: value for key, value in attributes.items() if key[0] != "_"}
    return one_node(name, inputs, own, outputs=attributes.get("_outputs", 1), opset=attributes.get("_opset", OPSET))


def result(program, values):
    """The outputs of a program that is made of the model, or why there are none."""
    try:
        found = program().run(values)
    except Exception as error:
        return error
    return [found[name] for name in sorted(found)]


def same(a, b) -> bool:
    """Whether two lists of outputs agree."""
    for one, other in zip(a, b, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype.kind != "f":
            if not np.array_equal(one, other):
                return False
            continue
        wide = [array.astype(np.float64) for array in (one, other)]
        finite = np.isfinite(wide[0]) & np.isfinite(wide[1])
        if not all(np.array_equal(test(wide[0]), test(wide[1])) for test in (np.isnan, np.isposinf, np.isneginf)):
            return False
        if finite.any():
            largest = max(np.abs(wide[0][finite]).max(), 1.0)
            if np.abs(wide[0][finite] - wide[1][finite]).max() > BOUND[str(one.dtype)] * largest:
                return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--save", type=pathlib.Path)
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    columns = ["agree", *DEVIATIONS, "runtime alone", "reference alone", "only gradus runs", "refused by two", "refused by all"]
    print(f"{'operator':26}" + "".join(f"{column:>21}" for column in columns))
    total = collections.Counter()
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "model.onnx"
    for name in sorted(only or MAKERS):
        found = collections.Counter()
        for attempt in range(given.count):
            inputs, attributes = MAKERS[name](Random([given.seed, attempt, zlib.crc32(name.encode())]), name)
            model, values = model_of(name, inputs, attributes)
            onnx.save(model, path)
            programs = (lambda: gradus.load(path), lambda: Runtime(path, optimised=False), lambda: Reference(path))
            results = [result(program, values) for program in programs]
            verdict = judged(*results)
            found[verdict] += 1
            if verdict in DEVIATIONS:
                shapes = ", ".join(f"{key}: {value.dtype}{list(value.shape)}" for key, value in values.items())
                why = results[0] if isinstance(results[0], Exception) else ""
                print(f"{name} #{attempt} {verdict}: {shapes} {attributes} {str(why)[:200]}", file=sys.stderr)
                if given.save:
                    given.save.mkdir(parents=True, exist_ok=True)
                    onnx.save(model, given.save / f"{name}_{attempt}.onnx")
                    np.savez(given.save / f"{name}_{attempt}.npz", **values)
        total += found
        print(f"{name:26}" + "".join(f"{found[column] or '':>21}" for column in columns))
    print(f"{'all':26}" + "".join(f"{total[column]:>21}" for column in columns))
    return int(total["gradus alone"] > 0)


def judged(mine, runs, text) -> str:
    """Who deviates."""
    ran = [not isinstance(result, Exception) for result in (mine, runs, text)]
    if ran == [True, True, True]:
        if same(mine, runs):
            return "agree" if same(mine, text) else "reference alone"
        if same(mine, text):
            return "runtime alone"
        return "gradus alone" if same(runs, text) else "all differ"
    if ran[0]:
        if not any(ran[1:]):
            return "only gradus runs"
        return "agree" if same(mine, runs if ran[1] else text) else "two differ"
    return "only gradus refuses" if all(ran[1:]) else "refused by two" if any(ran) else "refused by all"


if __name__ == "__main__":
    sys.exit(main())
