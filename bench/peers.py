"""Sequences against the other programs that are installed, side by side in one run.

    cargo build --release -p gradus-bench
    python bench/peers.py [--threads 1] [--rounds 9] [--json FILE] [--svg FILE]

Called are those of NumPy, ONNX Runtime, PyTorch and Paddle that can be imported. Each writes into memory that it already
has where it can: PyTorch by `out=`, and Paddle but for logspace; ONNX Runtime by a bound output. NumPy makes a new array each time. Their
times include the call from Python; those of Gradus are taken in Rust, its plan included. What a call costs shows at 10
elements. The programs take turns; the median counts.
"""

import argparse
import importlib.util
import json
import math
import pathlib
import platform
import statistics
import subprocess
import time

from target import target

GRADUS = target() / "release/gradus-bench"
SIZES = [10, 1000, 100_000, 1 << 24]
SEQUENCES = [
    ("range", "int64"),
    ("range", "float32"),
    ("linspace", "float32"),
    ("linspace", "float64"),
    ("logspace", "float32"),
    ("logspace", "float64"),
]
# The sequences: 0, 1, 2, …; from 0 to 1000; powers of 10 from 0 to 9.
STOP = {"linspace": 1000, "logspace": 9}
LEAST = 2e-3


def numpy_calls(threads):
    import numpy as np

    def call(function, dtype, size):
        if function == "range":
            return lambda: np.arange(0, size, 1, dtype=dtype)
        make = getattr(np, function)
        return lambda: make(0, STOP[function], size, dtype=dtype)

    return f"NumPy {np.__version__}", "new array", call


def onnxruntime_calls(threads):
    import numpy as np
    import onnxruntime as ort
    from onnx import TensorProto, helper

    def call(function, dtype, size):
        if function != "range":
            return None
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        inputs = [helper.make_tensor_value_info(name, element, []) for name in ("start", "limit", "delta")]
        output = helper.make_tensor_value_info("output", element, [None])
        node = helper.make_node("Range", ["start", "limit", "delta"], ["output"])
        graph = helper.make_graph([node], "range", inputs, [output])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, value in zip(("start", "limit", "delta"), (0, size, 1), strict=True):
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(np.array(value, dtype)))
        bound = ort.OrtValue.ortvalue_from_shape_and_type([size], np.dtype(dtype).type)
        binding.bind_ortvalue_output("output", bound)
        call = lambda: session.run_with_iobinding(binding)  # noqa: E731
        call()
        assert bound.numpy()[-1] == size - 1
        return call

    return f"ONNX Runtime {ort.__version__}", "bound output", call


def torch_calls(threads):
    import torch

    if threads:
        torch.set_num_threads(threads)

    def call(function, dtype, size):
        dtype = getattr(torch, dtype)
        out = torch.empty(size, dtype=dtype)
        if function == "range":
            return lambda: torch.arange(0, size, 1, dtype=dtype, out=out)
        make = getattr(torch, function)
        return lambda: make(0, STOP[function], size, dtype=dtype, out=out)

    return f"PyTorch {torch.__version__}", "out=", call


def paddle_calls(threads):
    import paddle

    paddle.set_device("cpu")

    def call(function, dtype, size):
        out = paddle.empty([size], dtype)
        if function == "range":
            return lambda: paddle.arange(0, size, 1, dtype=dtype, out=out)
        if function == "linspace":
            return lambda: paddle.linspace(0, STOP[function], size, dtype=dtype, out=out)
        return lambda: paddle.logspace(0, STOP[function], size, dtype=dtype)

    return f"Paddle {paddle.__version__}", "out=, but new arrays for logspace", call


PROGRAMS = {"numpy": numpy_calls, "onnxruntime": onnxruntime_calls, "torch": torch_calls, "paddle": paddle_calls}


def seconds(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def repeats(call):
    count = 1
    while seconds(call, count) * count < LEAST:
        count *= 2
    return count


def gradus(threads):
    """The times of Gradus, once each."""
    sizes = ",".join(map(str, SIZES))
    command = [GRADUS, "peers", "--sizes", sizes, "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(threads, rounds):
    """The names of the programs, and the median times of every sequence and size by each of them."""
    programs = [make(threads) for module, make in PROGRAMS.items() if importlib.util.find_spec(module)]
    work = {}
    for function, dtype in SEQUENCES:
        for size in SIZES:
            for name, _, make in programs:
                if call := make(function, dtype, size):
                    call()
                    work[f"{function} {dtype}", size, name] = call, repeats(call)
    times = {key: [] for key in work}
    for _ in range(rounds):
        for key, (call, count) in work.items():
            times[key].append(seconds(call, count))
        for sequence, by_size in gradus(threads).items():
            for size, taken in by_size.items():
                times.setdefault((sequence, int(size), "Gradus"), []).append(taken)
    medians = {key: statistics.median(taken) for key, taken in times.items()}
    return {name: how for name, how, _ in programs} | {"Gradus": "given slice"}, medians


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def shown(taken):
    for unit, scale in (("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if taken * scale >= 1 or unit == "ns":
            return f"{taken * scale:.3g} {unit}"


def table(programs, medians):
    others = [name for name in programs if name != "Gradus"]
    lines = [["sequence", "elements", "Gradus", *others, "the fastest of them / Gradus"]]
    for function, dtype in SEQUENCES:
        for size in SIZES:
            taken = {name: medians.get((f"{function} {dtype}", size, name)) for name in programs}
            fastest = min(taken[name] for name in others if taken[name])
            cells = [shown(taken[name]) if taken[name] else "" for name in ["Gradus", *others]]
            lines.append([f"{function} {dtype}", f"{size:,}", *cells, f"{fastest / taken['Gradus']:.2f}"])
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


COLOURS = ["#0b6e4f", "#4d77cf", "#7f7f7f", "#ee4c2c", "#8a5fbf"]


def plot(programs, medians, threads):
    """Bars of GB/s at the largest size, on a logarithmic scale."""
    names = ["Gradus", *(name for name in programs if name != "Gradus")]
    size, left, width, bar, top = SIZES[-1], 150, 480, 13, 46
    lowest, highest = 0.1, 100.0
    at = lambda speed: left + width * math.log(max(speed, lowest) / lowest) / math.log(highest / lowest)  # noqa: E731
    parts, y = [], top
    for function, dtype in SEQUENCES:
        sequence, begin = f"{function} {dtype}", y
        for name, colour in zip(names, COLOURS, strict=False):
            if taken := medians.get((sequence, size, name)):
                speed = size * int(dtype[-2:]) / 8 / taken / 1e9
                parts.append(
                    f'<rect x="{left}" y="{y}" width="{at(speed) - left:.1f}" height="{bar - 2}" fill="{colour}"/>'
                    f'<text x="{at(speed) + 4:.1f}" y="{y + bar - 4}">{speed:.2g}</text>'
                )
                y += bar
        parts.append(f'<text x="{left - 8}" y="{(begin + y) / 2 + 3}" text-anchor="end">{sequence}</text>')
        y += bar
    for speed in (0.1, 1, 10, 100):
        x = f"{at(speed):.1f}"
        parts.append(f'<line x1="{x}" y1="{top - 6}" x2="{x}" y2="{y - bar}" stroke="#ccc"/>')
        parts.append(f'<text x="{x}" y="{y + 2}" text-anchor="middle">{speed}</text>')
    x = left
    for name, colour in zip(names, COLOURS, strict=False):
        parts.append(f'<rect x="{x}" y="24" width="10" height="10" fill="{colour}"/><text x="{x + 14}" y="33">{name}</text>')
        x += 30 + 6 * len(name)
    how = "one thread" if threads == 1 else "all threads"
    title = f"GB/s at {size:,} elements, {how}, logarithmic scale; {processor()}"
    body = f'<text x="{left}" y="14">{title}</text>' + "".join(reversed(parts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {y + 12}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as each program takes by itself")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path, help="write the medians there, in seconds")
    parser.add_argument("--svg", type=pathlib.Path, help="write a plot there")
    arguments = parser.parse_args()
    programs, medians = measure(arguments.threads, arguments.rounds)
    print(f"{processor()}; {arguments.rounds} rounds; threads: {arguments.threads or 'all'}")
    print("; ".join(f"{name}: {how}" for name, how in programs.items()) + "\n")
    print(table(programs, medians))
    if arguments.json:
        arguments.json.write_text(json.dumps([[*key, taken] for key, taken in medians.items()]))
    if arguments.svg:
        arguments.svg.write_text(plot(programs, medians, arguments.threads))


if __name__ == "__main__":
    main()
