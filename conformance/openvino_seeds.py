"""Writes the recorded models of OpenVINO's shape family as files, from which a fuzz target starts.

    python conformance/openvino_seeds.py FOLDER
"""

import json
import pathlib
import sys

RECORDED = pathlib.Path(__file__).parent / "recorded" / "openvino.json"

if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    for name, cases in json.loads(RECORDED.read_text())["operators"].items():
        for i, case in enumerate(cases):
            (target / f"{name}.{i}.xml").write_text(case["xml"])
