"""The Python package beside NumPy, and beside PyTorch and Paddle where they are installed, in one run.

    pip install . && python bench/python.py [--rounds 15]

Each call is timed as a user makes it: into a new array, and into one that is there (`out=`) where the program can. `np.full`
is the floor for a new array: memory that is written for the first time costs page faults, whoever writes it. The programs take
turns; the median counts, and so a factor is the median of the factors of the rounds.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import statistics
import time

# Threads of one program must not spin while the next is timed; their libraries read this when they are loaded.
os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}

import numpy as np

import gradus

SIZES = [10, 1000, 10_000, 100_000, 1 << 20, 1 << 24]
CALLS = [
    ("arange", "int64"),
    ("arange", "float64"),
    ("arange", "float32"),
    ("linspace", "float64"),
    ("linspace", "float32"),
    ("logspace", "float64"),
    ("logspace", "float32"),
    ("geomspace", "float64"),
]
LEAST = 2e-3


def arguments(function, size):
    if function == "arange":
        return 0, size, 1
    return (1, 1000, size) if function == "geomspace" else (0, 9 if function == "logspace" else 1000, size)


def calls(function, dtype, size):
    """The calls of all programs, by name."""
    given = arguments(function, size)
    ours, theirs = getattr(gradus, function), getattr(np, function)
    out = np.empty(size, dtype)
    one = np.dtype(dtype).type(1)
    found = {
        "gradus": lambda: ours(*given, dtype=dtype),
        "gradus out=": lambda: ours(*given, out=out),
        "numpy": lambda: theirs(*given, dtype=dtype),
        "np.full": lambda: np.full(size, one),
    }
    if importlib.util.find_spec("torch") and function != "geomspace":
        import torch

        of = getattr(torch, function)
        found["torch"] = lambda: of(*given, dtype=getattr(torch, dtype))
    if importlib.util.find_spec("paddle") and function != "geomspace":
        import paddle

        paddle.set_device("cpu")
        make = getattr(paddle, function)
        found["paddle"] = lambda: make(*given, dtype=dtype)
    return found


def seconds(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def measured(found, rounds):
    """The times of every program in every round."""
    counts = {}
    for name, call in found.items():
        call()
        counts[name] = 1
        while seconds(call, counts[name]) * counts[name] < LEAST:
            counts[name] *= 2
    times = {name: [] for name in found}
    names = list(found)
    for _ in range(rounds):
        # The order changes: memory that one gives back is another's to take.
        random.shuffle(names)
        for name in names:
            times[name].append(seconds(found[name], counts[name]))
    return times


def shown(taken):
    for unit, scale in (("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if taken * scale >= 1 or unit == "ns":
            return f"{taken * scale:.3g} {unit}"


def factor(times, over, under):
    if over not in times:
        return ""
    return f"{statistics.median(a / b for a, b in zip(times[over], times[under], strict=True)):.2f}"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "?"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="write the medians there, in seconds")
    options = parser.parse_args()
    others = [name for name in ("torch", "paddle") if importlib.util.find_spec(name)]
    heads = ["call", "elements", "gradus", "gradus `out=`", "numpy", "`np.full`", *others]
    heads += ["numpy / gradus", "numpy / `out=`", "gradus / `np.full`", *(f"{name} / gradus" for name in others)]
    print(f"{processor()}; NumPy {np.__version__}; gradus {gradus.__version__}; {options.rounds} rounds\n")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    medians = {}
    for function, dtype in CALLS:
        for size in SIZES:
            times = measured(calls(function, dtype, size), options.rounds)
            median = {name: statistics.median(taken) for name, taken in times.items()}
            medians[f"{function} {dtype} {size}"] = median
            cells = [f"{function} {dtype}", f"{size:,}"]
            names = ["gradus", "gradus out=", "numpy", "np.full", *others]
            cells += [shown(median[name]) if name in median else "" for name in names]
            cells += [factor(times, "numpy", "gradus"), factor(times, "numpy", "gradus out=")]
            cells += [factor(times, "gradus", "np.full"), *(factor(times, name, "gradus") for name in others)]
            print(f"| {' | '.join(cells)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(medians))


if __name__ == "__main__":
    main()
