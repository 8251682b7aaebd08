"""Sequences on a GPU of NVIDIA: gradus beside PyTorch and CuPy, where they are installed, and beside their filling of memory.

    MATURIN_PEP517_ARGS="--features cuda" pip install . torch cupy-cuda13x && python bench/gpu.py [--bytes 1073741824] [--rounds 15]

Each call makes a new array on the device, as a user's does: PyTorch and CuPy in memory that they keep, gradus in memory of the
driver's pool, which may give it back whenever somebody waits. Every call is followed by a synchronisation. The programs take turns, the median counts, and factors are medians of the factors of the rounds.
"""

import argparse
import importlib.util
import statistics
import time

import gradus

CALLS = [(function, dtype) for function in ("arange", "linspace", "logspace") for dtype in ("float32", "float64")]


def arguments(function, size):
    return {"arange": (0, size, 1), "linspace": (0, 1000, size), "logspace": (0, 9, size)}[function]


def calls(function, dtype, size):
    """The calls of all programs, by name; each waits for the device."""
    given = arguments(function, size)
    found = {"gradus": lambda: getattr(gradus, function)(*given, dtype=dtype, device="cuda")}
    if importlib.util.find_spec("torch"):
        import torch

        of, kind = getattr(torch, function), getattr(torch, dtype)

        def waited(call):
            def run():
                call()
                torch.cuda.synchronize()

            return run

        found["torch.full"] = waited(lambda: torch.full((size,), 1.5, dtype=kind, device="cuda"))
        found["torch"] = waited(lambda: of(*given, dtype=kind, device="cuda"))
    if importlib.util.find_spec("cupy"):
        import cupy

        make = getattr(cupy, function)

        def finished(call):
            def run():
                call()
                cupy.cuda.Device().synchronize()

            return run

        found["cupy.full"] = finished(lambda: cupy.full(size, 1.5, dtype))
        found["cupy"] = finished(lambda: make(*given, dtype=dtype))
    return found


def measured(found, rounds):
    times = {name: [] for name in found}
    for turn in range(rounds + 2):
        for name, call in found.items():
            start = time.perf_counter()
            call()
            taken = time.perf_counter() - start
            # The first two compile and warm up.
            if turn >= 2:
                times[name].append(taken)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    devices = [device for device in gradus.devices() if device["backend"] == "cuda"]
    if not devices:
        parser.exit(1, "there is no GPU of NVIDIA: gradus devices says why\n")
    print(f"{devices[0]['device']}; gradus {gradus.__version__}; {options.rounds} rounds; {options.bytes} bytes\n")
    names = ["gradus", "torch.full", "torch", "cupy.full", "cupy"]
    # Times of short arrays say more than speeds.
    unit, speed = ("us", lambda seconds: seconds * 1e6)
    if options.bytes >= 1 << 26:
        unit, speed = ("GB/s", lambda seconds: options.bytes / seconds / 1e9)
    heads = ["call", *(f"{name}, {unit}" for name in names), "gradus / torch.full", "gradus / torch", "gradus / cupy"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for function, dtype in CALLS:
        size = options.bytes // (4 if dtype == "float32" else 8)
        times = measured(calls(function, dtype, size), options.rounds)
        cells = [f"{function} {dtype}"]
        cells += [f"{speed(statistics.median(times[n])):.4g}" if n in times else "" for n in names]
        for name in ("torch.full", "torch", "cupy"):
            both = zip(times.get(name, []), times["gradus"], strict=False)
            factors = [other / ours for other, ours in both]
            cells.append(f"{statistics.median(factors):.2f}" if factors else "")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
