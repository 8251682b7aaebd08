"""Writes the node tests of the installed `onnx` package.

    python conformance/onnx_nodes.py OPERATORS.json FOLDER

Each becomes a folder with `model.onnx`, its tensors, and a `case.json` that says which tensor is which, and whether the case
is run: OPERATORS.json is what `gradus ops --json` prints, and run are the cases all of whose nodes are such operators, and
those that test one of them, whatever else they need. Of all cases, shapes are inferred.
"""

import json
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

warnings.filterwarnings("ignore")


def operators(graph) -> set[str]:
    found = set()
    for node in graph.node:
        found.add(node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators(attribute.g)
    return found


def chosen(case, known: set[str]) -> bool:
    used = operators(case.model.graph)
    tested = [name for name in used & known if re.match(rf"test_{name.lower()}(_|\d|$)", case.name)]
    return used <= known or bool(tested)


def save(folder: pathlib.Path, name: str, value) -> dict:
    """Saves a value as one file a tensor."""
    if value is None:
        return {"sort": "none"}
    if isinstance(value, list):
        return {"sort": "sequence", "values": [save(folder, f"{name}_{i}", item) for i, item in enumerate(value)]}
    tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))
    (folder / f"{name}.pb").write_bytes(tensor.SerializeToString())
    return {"sort": "tensor", "file": f"{name}.pb"}


def main() -> None:
    from onnx.backend.test.case.node import collect_testcases

    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())["operators"]
    known = {row["operator"] for row in rows if row["standard"] == "onnx" and row["domain"] in ("", "ai.onnx.ml")}
    root = pathlib.Path(sys.argv[2])
    for case in collect_testcases(None):
        run = chosen(case, known)
        folder = root / case.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for inputs, outputs in case.data_sets:
            described = {
                "run": run,
                "inputs": {
                    info.name: save(folder, f"input_{i}", value)
                    for i, (info, value) in enumerate(zip(case.model.graph.input, inputs))
                },
                "outputs": {
                    info.name: save(folder, f"output_{i}", value)
                    for i, (info, value) in enumerate(zip(case.model.graph.output, outputs))
                },
            }
            (folder / "case.json").write_text(json.dumps(described))


if __name__ == "__main__":
    main()
