"""Writes `conformance/recorded/logspace.json` from a recording of what programs returned for linspace and logspace.

    python scripts/recorded_spaces.py RECORDING.json

Kept: the versions, and of every case its arguments, the exact result, and what each program returned, with equal
results once under the names of all programs that gave them. Left out: groupings and flags, which follow from these;
all but the beginning of messages; and the statistics over long sequences. One case is one line.
"""

import json
import pathlib
import sys

FILE = pathlib.Path(__file__).parent.parent / "conformance/recorded/logspace.json"
ARGUMENTS = ["id", "fn", "start", "stop", "step", "num", "base", "endpoint", "axis", "dtype", "exact"]
MESSAGE = 60


def result(recorded: dict) -> dict:
    if "error" in recorded:
        return {"error": recorded["error"], "message": " ".join(recorded["message"].split())[:MESSAGE]}
    return {key: recorded[key] for key in ("dtype", "shape", "values")}


def compact(case: dict) -> dict:
    by_result: dict[str, list[str]] = {}
    for program, recorded in case["results"].items():
        by_result.setdefault(json.dumps(result(recorded)), []).append(program)
    results = {" ".join(programs): json.loads(text) for text, programs in by_result.items()}
    arguments = {key: case[key] for key in ARGUMENTS if key in case and (key != "exact" or case[key] is not None)}
    return arguments | {"results": results}


def main() -> None:
    recording = json.loads(pathlib.Path(sys.argv[1]).read_text())
    dump = lambda x: json.dumps(x, separators=(",", ":"))  # noqa: E731
    kept = {"versions": recording["meta"]["versions"], "programs": recording["meta"]["frameworks"]}
    head = "".join(f"{json.dumps(key)}: {dump(value)},\n" for key, value in kept.items())
    cases = ",\n".join(dump(compact(case)) for case in recording["cases"])
    FILE.write_text(f"{{\n{head}\"cases\": [\n{cases}\n]\n}}\n")


if __name__ == "__main__":
    main()
