"""The picture of errors in docs/explanation/profiles.md: how far the elements of each program are from the exact values.

    python scripts/error_plot.py GRADUS docs/errors.svg

Needs matplotlib. The elements of the programs are those that `gradus` predicts, exact values are those of float64.
"""

import json
import pathlib
import subprocess
import sys
import textwrap

import matplotlib
import numpy as np

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gradus", "font.size": 8})
from matplotlib import pyplot  # noqa: E402

CALLS = ["range 0 1 1/1000", "linspace 0 1 1000", "logspace -3 3 1000", "geomspace 0.001 1000 1000"]
STRETCHES = 50
LEAST = 0.1


def run(program: str, arguments: list[str]):
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True).stdout)


def errors(program: str, call: str) -> dict[bytes, tuple[list[str], np.ndarray]]:
    """By the elements that they give: the profiles, and the largest error in each stretch, in float32 units in the last place."""
    exact = np.array(run(program, [*call.split(), "--dtype", "float64"])["data"])
    lines: dict[bytes, tuple[list[str], np.ndarray]] = {}
    results = run(program, ["compare", *call.split(), "--dtype", "float32"])["results"]
    for profile in (name for name, row in results.items() if "error" not in row):
        elements = run(program, [*call.split(), "--dtype", "float32", "--profile", profile])["data"]
        elements = np.array(elements, np.float32)[: exact.size]
        units = np.abs(elements - exact) / np.spacing(np.abs(exact).astype(np.float32))
        largest = [stretch.max() for stretch in np.array_split(units, STRETCHES)]
        lines.setdefault(elements.tobytes(), ([], np.array(largest)))[0].append(profile)
    return lines


def main() -> None:
    program, picture = sys.argv[1:]
    figure, axes = pyplot.subplots(len(CALLS), 1, figsize=(8, 8), sharex=True, layout="constrained")
    for call, plot in zip(CALLS, axes, strict=True):
        for names, largest in errors(program, call).values():
            exact = "exact" in names
            middles = (np.arange(STRETCHES) + 0.5) * 1000 / STRETCHES
            style = {"color": "black", "linewidth": 2, "zorder": 3} if exact else {"linewidth": 1}
            plot.plot(middles, np.maximum(largest, LEAST), label=textwrap.fill(", ".join(names), 26), **style)
        plot.axhline(0.5, color="grey", linewidth=0.5, linestyle=":")
        plot.set_yscale("log", base=2)
        plot.set_yticks([0.125, 0.5, 2, 8, 32, 128], ["1/8", "1/2", "2", "8", "32", "128"])
        plot.set_ylim(LEAST, 256)
        plot.set_title(f"{call} --dtype float32", loc="left", family="monospace")
        plot.set_ylabel("largest error (ulp)")
        plot.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    axes[-1].set_xlabel("index")
    figure.savefig(picture, metadata={"Date": None, "Creator": None})
    # Matplotlib ends lines of paths with a space.
    lines = [line.rstrip() for line in pathlib.Path(picture).read_text().splitlines()]
    pathlib.Path(picture).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
