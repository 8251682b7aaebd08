"""Writes `conformance/recorded/accuracy.json` from a recording of how accurate programs are on long sequences.

    python scripts/recorded_accuracy.py RECORDING.json

Kept: of every sequence its arguments, and of every program the largest distance from the exact value in units in the
last place, and how many elements of a hundred are not correctly rounded. The arguments stand in the sequence's name.
"""

import json
import math
import pathlib
import re
import sys

FILE = pathlib.Path(__file__).parent.parent / "conformance/recorded/accuracy.json"
NUM = 100_000
NAME = re.compile(r"(?:f|lin)(?P<bits>32|64)(?:_b(?P<base>[^_]+))?_(?P<start>[^_]+)_(?P<stop>[^_]+)")


def number(text: str) -> float:
    named = {"e": math.e, "2pi": 2 * math.pi}
    return named[text] if text in named else float(text.replace("m", "-"))


def row(name: str, programs: dict) -> dict:
    found = NAME.fullmatch(name)
    arguments = {key: number(text) for key in ("base", "start", "stop") if (text := found[key])}
    accuracy = {}
    for program, recorded in programs.items():
        recorded = recorded.get("exact", recorded)
        if program.isidentifier():
            accuracy[program] = [round(recorded["max_ulp"], 4), round(recorded["not_cr_pct"], 3)]
    function = "logspace" if "base" in arguments else "linspace"
    return {"id": f"{function} {name}", "dtype": f"float{found['bits']}"} | arguments | {"programs": accuracy}


def main() -> None:
    recording = json.loads(pathlib.Path(sys.argv[1]).read_text())
    dump = lambda x: json.dumps(x, separators=(",", ":"))  # noqa: E731
    rows = [row(*item) for table in recording["accuracy_n100000"].values() for item in table.items()]
    versions = dump(recording["meta"]["versions"])
    lines = ",\n".join(map(dump, rows))
    FILE.write_text(f'{{\n"num": {NUM},\n"versions": {versions},\n"rows": [\n{lines}\n]\n}}\n')


if __name__ == "__main__":
    main()
