"""Writes the table of OpenVINO's operators from the installed `openvino` package.

    python scripts/openvino_tables.py            write it
    python scripts/openvino_tables.py --check    fail if it differs from what is checked in

Versions are those that the package's factories of operator sets give; inputs are the parameters of the functions that make
nodes, attributes those of a node without inputs. Element types are found by making nodes of each (`openvino_types.py`).
"""

import importlib
import inspect
import json
import os
import re
import sys

import openvino
from openvino.utils.node_factory import NodeFactory

import openvino_types
from generated import ROOT, write_or_check

TABLE = ROOT / "crates/engine/src/schema/openvino.rs"
NEWEST = max(int(name[5:]) for name in os.listdir(os.path.dirname(openvino.__file__)) if re.fullmatch(r"opset\d+", name))

# Files call these otherwise than the package does.
IN_FILES = {"Constant": "Const", "PRelu": "PReLU", "Relu": "ReLU", "Softmax": "SoftMax"}
# Operators with inner graphs have no functions that make them: any number of inputs.
WITH_BODIES = ["If", "Loop", "TensorIterator"]
# The package makes these, but has no functions for them.
WITHOUT_FUNCTIONS = [
    "ExperimentalDetectronDetectionOutput", "ExperimentalDetectronGenerateProposalsSingleImage",
    "ExperimentalDetectronPriorGridGenerator", "ExperimentalDetectronROIFeatureExtractor", "ExperimentalDetectronTopKROIs",
    "Reverse", "Xor",
]  # fmt: skip
# Lists of texts, which are empty in a node without inputs.
TEXTS = ["activations"]
# The name in the first set of an operator that has another there.
RENAMED = {"Xor": "LogicalXor"}
# Readers turn these into inputs, outputs and constants of graphs.
PARTS_OF_GRAPHS = ["Constant", "Parameter", "Result"]


def functions():
    """By operator set: by operator, the function that makes it."""
    sets = {}
    for number in range(1, NEWEST + 1):
        module = importlib.import_module(f"openvino.opset{number}")
        sets[number] = {}
        for _, function in inspect.getmembers(module, callable):
            try:
                source = inspect.getsource(function)
            except (TypeError, OSError):
                continue
            if made := re.findall(r"\.create\(\s*\"(\w+)\"", source):
                sets[number][made[-1]] = function
    return sets


def in_a_child(work):
    """What a function returns in a process of its own: nodes without inputs can end the process."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.write(write, json.dumps(work()).encode())
        except Exception:
            pass
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def sort(value) -> str:
    if isinstance(value, (bool, int)):
        return "Int"
    if isinstance(value, float):
        return "Float"
    if isinstance(value, list):
        return "Floats" if value and isinstance(value[0], float) else "Ints"
    return "String"


def made(number: int, name: str):
    """The operator set that an operator of a set is of, and its attributes."""
    version = in_a_child(lambda: NodeFactory(f"opset{number}").create(name).get_type_info().version_id)
    if version is None:
        return None
    given = in_a_child(
        lambda: {k: sort(v) for k, v in NodeFactory(f"opset{number}").create(name).get_attributes().items()}
    )
    return int(version.removeprefix("opset")), {key: "Strings" if key in TEXTS else kind for key, kind in (given or {}).items()}


# Inputs that OpenVINO's files leave out, though the function of Python wants them.
OPTIONAL = {("Squeeze", "axes")}


def params(name: str, version: int, function, named: dict[str, str]) -> list[str]:
    """The inputs of an operator; `named` has the sets of types, by the names that they got so far."""
    if name in WITH_BODIES or function is None:
        return ['p("inputs", "", ANY, Arity::Many { alike: false, least: 0 })']
    inputs = []
    for parameter in inspect.signature(function).parameters.values():
        text = str(parameter.annotation)
        if "Node" not in text or parameter.name == "name":
            continue
        optional = "None" in text or "Optional" in text or parameter.default is not inspect.Parameter.empty
        if text.startswith(("List", "list", "typing.List", "Sequence", "typing.Sequence")):
            arity = "Many"
        elif optional or (name, parameter.name) in OPTIONAL:
            arity = "Optional"
        else:
            arity = "One"
        inputs.append((parameter.name, arity))
    arities = [arity for _, arity in inputs]
    found = in_a_child(lambda: openvino_types.admitted(f"opset{version}", name, arities))
    rows = []
    for (own, arity), (variable, types) in zip(inputs, found or [("", None)] * len(inputs), strict=True):
        if arity == "Many":
            arity = f"Many {{ alike: {str(bool(variable)).lower()}, least: 1 }}"
        rows.append(f'p("{own}", "{variable}", {constant(types, f"{name}_{version}_{own}", named)}, Arity::{arity})')
    return rows


def constant(types: list[str] | None, name: str, named: dict[str, str]) -> str:
    """The name of a set of element types in the table: that of the first input which has it."""
    if types is None or len(types) == len(openvino_types.TYPES):
        return "ANY"
    listed = ", ".join(f"D::{openvino_types.TYPES[each]}" for each in types)
    return named.setdefault(listed, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper())


def table() -> bytes:
    sets = functions()
    names = sorted({name for of in sets.values() for name in of} | set(WITH_BODIES + WITHOUT_FUNCTIONS))
    rows, named = {}, {}
    for name in names:
        if name in PARTS_OF_GRAPHS:
            continue
        for number in range(1, NEWEST + 1):
            if (found := made(number, name)) is None:
                continue
            version, attributes = found
            if (name, version) in rows:
                continue
            function = sets[version].get(name) or sets[number].get(RENAMED.get(name, name))
            listed = ", ".join(f'a("{key}", Sort::{kind}, false)' for key, kind in sorted(attributes.items()))
            own = IN_FILES.get(name, name)
            rows[name, version] = (own, version, (
                f'    Signature {{ domain: "", name: "{own}", since: {version}, deprecated: false, '
                f"inputs: &[{', '.join(params(name, version, function, named))}], "
                f"outputs: &[OUTPUTS], attributes: &[{listed}] }},"
            ))
    lines = [
        "//! Versions of OpenVINO's operators, and their inputs and attributes.",
        "//!",
        f"//! Made by `scripts/openvino_tables.py` from openvino {openvino.__version__.split('-')[0]}; do not edit.",
        "",
        "use gradus_core::DType as D;",
        "",
        "use super::{ANY, Arity, Param, Signature, Sort, Types, attribute as a, param as p};",
        "",
        "types! {",
        *(f"    {name} = Types::tensors(&[{listed}]);" for listed, name in named.items()),
        "}",
        "",
        'const OUTPUTS: Param = p("output", "", ANY, Arity::Many { alike: false, least: 0 });',
        "",
        "/// Sorted by name and version.",
        "#[rustfmt::skip]",
        "pub const SIGNATURES: &[Signature] = &[",
        *(row for _, _, row in sorted(rows.values())),
        "];",
        "",
    ]
    return "\n".join(lines).encode()


if __name__ == "__main__":
    sys.exit(write_or_check({TABLE: table()}))
