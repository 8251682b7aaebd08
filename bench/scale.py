"""`gradus infer`, `fold`, `convert` and `report` on models of 10^4, 10^5 and 10^6 nodes: time and memory by node, in one run.

    cargo build --release -p gradus-cli
    python bench/scale.py [--nodes 10000,100000,1000000] [--gradus PROGRAM]

The models are blocks of attention with shape arithmetic, which `scripts/bench_model.py` makes (38 nodes a block). A command that
takes time or memory linear in the model has about the same numbers by node in each row; `growth` is how many times the time by node is
that of the row before.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from fold import GRADUS, measure
from target import ROOT

BLOCK = 38
# Arguments, and the end of the name of what is written.
COMMANDS = {
    "infer": (["--json"], None),
    "fold": (["--json"], ".onnx"),
    "convert": (["--to", "openvino"], ".xml"),
    "report": ([], ".html"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10000,100000,1000000")
    parser.add_argument("--gradus", type=pathlib.Path, default=GRADUS)
    arguments = parser.parse_args()
    print("| nodes | command | wall s | CPU s | µs by node | growth | peak MiB | bytes by node |")
    print("|---|---|---|---|---|---|---|---|")
    before = {}
    with tempfile.TemporaryDirectory() as folder:
        for wanted in map(int, arguments.nodes.split(",")):
            blocks = max(wanted // BLOCK, 1)
            nodes, model = blocks * BLOCK, pathlib.Path(folder) / f"{wanted}.onnx"
            made = [sys.executable, ROOT / "scripts/bench_model.py", str(blocks), model]
            subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
            for name, (options, suffix) in COMMANDS.items():
                output = ["-o", pathlib.Path(folder) / f"out{suffix}"] if suffix else []
                taken = measure([arguments.gradus, name, model, *options, *output])
                if taken is None:
                    print(f"| {nodes} | {name} | failed |", flush=True)
                    continue
                each = taken["cpu"] / nodes
                growth = f"{each / before[name]:.2f}" if name in before else ""
                before[name] = each
                row = [f"{taken['wall']:.2f}", f"{taken['cpu']:.2f}", f"{each * 1e6:.2f}", growth, f"{taken['bytes'] / 2**20:.0f}"]
                print(f"| {nodes} | {name} | {' | '.join(row)} | {taken['bytes'] / nodes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
