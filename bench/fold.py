"""`gradus fold` beside other simplifiers, each as a whole process, in one run.

    cargo build --release -p gradus-cli
    GRADUS_CORPUS=… python bench/fold.py [--rounds 3] [--slow] [--large FOLDER] [--peers onnxsim,…] [--json FILE]
    python bench/fold.py --all FOLDER… [--peers onnxsim,…] [--json FILE]

Models are the three of the corpus that are large or well known, and blocks of shape arithmetic that its script makes. Peers are
those of onnxsim, onnxslim, onnxscript, ONNX Runtime's basic optimisations and OpenVINO's converter that can be imported; they are not given what takes them minutes without
--slow. OpenVINO converts only, and writes nothing. The programs take turns; the round with the least processor time counts. A
process seems to need no less memory than this one, from which it is started, about 10 MiB.

--all takes every ONNX model below some folders, once, and prints in total and model by model where a peer leaves fewer nodes than
the levels exact and fuse.

--large makes a model of 1.6 GB with its weights inside in that folder, and folds it and converts it to OpenVINO beside copying it.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

from target import ROOT, target

GRADUS = target() / "release/gradus"
PEERS = ["onnxsim", "onnxslim", "onnxscript", "onnxruntime", "openvino"]
LEVELS = ["exact", "fuse"]
NAMED = ["hf/bert.ts", "hf/gpt2_48.ts", "hf/llama_32_past.ts"]
BLOCKS = [25, 250, 2500]
# Slower peers are left out for models of more bytes.
MAX_BYTES = 5_000_000
LAYERS, WIDTH = 24, 4096


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def measure(command):
    """Runs a command: seconds by the clock and of processors, bytes at most, and what it prints."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if process.returncode:
        return None
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "bytes": usage.ru_maxrss * 1024, "text": text}


def best(commands, rounds):
    """The round with the least processor time of each command; nothing for one that fails."""
    taken = {}
    for _ in range(rounds):
        for name, command in commands.items():
            if taken.get(name, True) and (found := measure(command)):
                taken[name] = min(taken.get(name) or found, found, key=lambda one: one["cpu"])
            else:
                taken[name] = None
    return taken


def left(text):
    """Nodes and Shape nodes that a program says are left, and how many there were if it says that."""
    if not text:
        return None, None, None
    said = json.loads(text)
    nodes = said.get("nodes", {"after": said})
    count = lambda operators: sum(number for name, number in operators.items() if name != "Constant")  # noqa: E731
    before = count(nodes["before"]) if "before" in nodes else None
    return before, count(nodes["after"]), nodes["after"].get("Shape", 0)


def folding(model, out, peers):
    commands = {"gradus": [GRADUS, "fold", model, "-o", out, "--json"]}
    script = ROOT / "conformance/fold_peers.py"
    return commands | {peer: [sys.executable, script, peer, model, out] for peer in peers}


# The fields of the format that are written by hand: this process must stay small, and the model does not fit in memory.


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer(number, value):
    return varint(number << 3) + varint(value)


def node(operator, inputs, output, *attributes):
    parts = [*(field(1, name.encode()) for name in inputs), field(2, output.encode()), field(4, operator.encode())]
    return field(1, b"".join([*parts, *(field(5, attribute) for attribute in attributes)]))


def axis(value):
    return field(1, b"axis") + integer(3, value) + integer(20, 2)


def small(name, values, scalar=False):
    """An int64 constant."""
    data = b"".join(value.to_bytes(8, "little", signed=True) for value in values)
    dims = b"" if scalar else integer(1, len(values))
    return field(5, dims + integer(2, 7) + field(8, name.encode()) + field(9, data))


def declared(number, name, dims):
    shape = b"".join(field(1, field(2, dim.encode()) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
    return field(number, field(1, name.encode()) + field(2, field(1, integer(1, 1) + field(2, shape))))


def layer(i, x):
    """A MatMul and a split into heads, with the shape arithmetic of an exporter."""
    y, shape = f"y{i}", f"shape{i}"
    parts = [node("MatMul", [x, f"W{i}"], y), node("Shape", [y], shape)]
    for at, dim in enumerate(("batch", "seq")):
        parts.append(node("Gather", [shape, f"i{at}"], f"{dim}{i}", axis(0)))
        parts.append(node("Unsqueeze", [f"{dim}{i}", "axes"], f"{dim}_{i}"))
    parts.append(node("Concat", [f"batch_{i}", f"seq_{i}", "heads"], f"target{i}", axis(0)))
    parts.append(node("Reshape", [y, f"target{i}"], f"z{i}"))
    parts.append(node("Reshape", [f"z{i}", "whole"], f"x{i + 1}"))
    return parts


def write_large(path):
    """A model of LAYERS weights, random, WIDTH by WIDTH."""
    x, parts = "x0", []
    for i in range(LAYERS):
        parts += layer(i, x)
        x = f"x{i + 1}"
    parts += [field(2, b"large"), declared(11, "x0", ["batch", "seq", WIDTH]), declared(12, x, ["batch", "seq", WIDTH])]
    parts += [small("i0", [0], True), small("i1", [1], True), small("axes", [0])]
    parts += [small("heads", [WIDTH // 64, 64]), small("whole", [0, 0, WIDTH])]
    # Each weight begins with a block of its own; the rest does not matter.
    block, size = os.urandom(1 << 20), WIDTH * WIDTH * 4
    heads = []
    for i in range(LAYERS):
        tensor = integer(1, WIDTH) * 2 + integer(2, 1) + field(8, f"W{i}".encode()) + varint(9 << 3 | 2) + varint(size)
        heads.append(varint(5 << 3 | 2) + varint(len(tensor) + size) + tensor)
    graph = b"".join(parts)
    length = len(graph) + sum(map(len, heads)) + LAYERS * size
    with path.open("wb") as file:
        file.write(integer(1, 8) + field(8, integer(2, 17)) + varint(7 << 3 | 2) + varint(length) + graph)
        for head in heads:
            file.write(head)
            file.write(os.urandom(len(block)))
            for _ in range(size // len(block) - 1):
                file.write(block)


def rows(name, taken):
    lines = []
    before = left(taken["gradus"]["text"])[0] if taken["gradus"] else None
    for program, one in taken.items():
        if not one:
            lines.append([name, before or "", program, "failed", "", "", "", ""])
            continue
        _, nodes, shapes = left(one["text"])
        numbers = [f"{one['cpu']:.3f}", f"{one['wall']:.3f}", f"{one['bytes'] / 2**20:.0f}"]
        remaining = ["" if count is None else f"{count:,}" for count in (nodes, shapes)]
        lines.append([name, f"{before:,}" if before else "", program, *numbers, *remaining])
        name, before = "", None
    return lines


def table(lines):
    head = ["model", "nodes", "program", "CPU s", "wall s", "peak MiB", "nodes left", "Shape left"]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in [head, ["---"] * len(head), *lines])


def large(folder, rounds, peers):
    model, out = folder / "gradus-large.onnx", folder / "gradus-large.out.onnx"
    pair = [folder / f"gradus-large.out.{ending}" for ending in ("xml", "bin")]
    try:
        write_large(model)
        copies = {
            "gradus convert": ["sh", "-c", 'exec "$0" convert "$1" "$2" > /dev/null', GRADUS, model, pair[0]],
            "cp": ["cp", model, out],
            "dd conv=fsync": ["dd", f"if={model}", f"of={out}", "bs=1M", "conv=fsync"],
        }
        return f"weights ({model.stat().st_size / 1e9:.2f} GB)", best(folding(model, out, peers) | copies, rounds)
    finally:
        for path in [model, out, *pair]:
            path.unlink(missing_ok=True)


def compare(folders, peers, out):
    """Every model once: what is left, and the time, of each level and peer."""
    measured = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.onnx")):
        commands = {level: [GRADUS, "fold", path, "-o", out, "--json", "--level", level] for level in LEVELS}
        commands |= {peer: command for peer, command in folding(path, out, peers).items() if peer != "gradus"}
        measured[str(path)] = best(commands, 1)
    return measured


def totals(measured, peers):
    """A table of the models that a level and a peer both take, and the models where the peer leaves fewer nodes."""
    head = ["level", "peer", "models", "nodes left", "of the peer", "CPU s", "of the peer", "larger than the peer's", "smaller"]
    lines, larger = [head, ["---"] * len(head)], []
    for level in LEVELS:
        for peer in peers:
            pairs = [(name, taken[level], taken[peer]) for name, taken in measured.items() if taken[level] and taken[peer]]
            nodes = [(name, left(ours["text"])[1], left(theirs["text"])[1]) for name, ours, theirs in pairs]
            behind = [(name, level, peer, ours, theirs) for name, ours, theirs in nodes if ours > theirs]
            times = [sum(pair[side]["cpu"] for pair in pairs) for side in (1, 2)]
            sums = [sum(each[side] for each in nodes) for side in (1, 2)]
            ahead = sum(ours < theirs for _, ours, theirs in nodes)
            lines.append([level, peer, len(pairs), *sums, *(f"{cpu:.1f}" for cpu in times), len(behind), ahead])
            larger += behind
    text = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    return text + "".join(f"\n{name}: {level} leaves {ours}, {peer} {theirs}" for name, level, peer, ours, theirs in larger)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow", action="store_true", help="give the peers the largest models too")
    parser.add_argument("--all", type=pathlib.Path, nargs="+", metavar="FOLDER", help="compare all models below these")
    parser.add_argument("--large", type=pathlib.Path, metavar="FOLDER", help="where 5 GB may be used for a while")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--json", type=pathlib.Path, help="write the measurements there")
    arguments = parser.parse_args()
    peers = [name for name in arguments.peers.split(",") if name and importlib.util.find_spec(name)]
    if arguments.all:
        peers = [peer for peer in peers if peer != "openvino"]
        with tempfile.TemporaryDirectory(prefix="gradus-bench-") as folder:
            measured = compare(arguments.all, peers, pathlib.Path(folder) / "out.onnx")
        print(totals(measured, peers))
        if arguments.json:
            arguments.json.write_text(json.dumps(measured))
        return
    corpus, measured = os.environ.get("GRADUS_CORPUS"), {}
    with tempfile.TemporaryDirectory(prefix="gradus-bench-") as folder:
        out, models = pathlib.Path(folder) / "out.onnx", {}
        if corpus:
            models = {name: pathlib.Path(corpus) / f"{name}.onnx" for name in NAMED}
            for count in BLOCKS:
                models[f"blocks {count}"] = path = pathlib.Path(folder) / f"blocks{count}.onnx"
                script = pathlib.Path(corpus) / "make_big.py"
                subprocess.run([sys.executable, script, str(count), path], check=True, stdout=subprocess.DEVNULL)
        for name, path in models.items():
            able = peers if arguments.slow or path.stat().st_size < MAX_BYTES else []
            measured[name] = best(folding(path, out, able), arguments.rounds)
    if arguments.large:
        name, taken = large(arguments.large, arguments.rounds, peers if arguments.slow else [])
        measured[name] = taken
    print(f"{processor()}; the best of {arguments.rounds} rounds\n")
    print(table([line for name, taken in measured.items() for line in rows(name, taken)]))
    if arguments.json:
        arguments.json.write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
