"""Writes the table of ONNX operators that other programs run, from the installed packages.

    python scripts/runtime_tables.py            write it
    python scripts/runtime_tables.py --check    fail if it differs from what is checked in

ONNX Runtime lists the kernels of its processor, with versions and types. What it runs without a kernel of its own, by
the function that defines an operator or by casts that it inserts, shows when it loads a model of one node. OpenVINO's
reader lists no operators: it is given a model of one node of each version.
"""

import itertools
import re
import sys

import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as native

from generated import ROOT, write_or_check
from onnx_tables import ELEMENTS, dtype_set

TABLE = ROOT / "crates/engine/src/schema/runtimes.rs"
OLDEST_OPSET = 7
# The other domains whose operators Gradus knows.
DOMAINS = ("", "ai.onnx.ml", "com.microsoft")
# Most models of one node that are tried of one version of an operator.
MAX_TRIED = 1000
# Shapes of all inputs, one after the other: the functions of some operators depend on the rank.
SHAPES = (None, [2, 4, 8, 8], [4, 4])
NUMBERS = {name: TensorProto.DataType.Value(name.upper()) for name in ELEMENTS}


def element(text: str) -> str | None:
    found = re.fullmatch(r"tensor\((\w+)\)", text)
    return found[1] if found and found[1] in ELEMENTS else None


def elements(types) -> frozenset[str]:
    return frozenset(filter(None, map(element, types)))


def name_of(enumerated) -> str:
    return str(enumerated).rsplit(".", 1)[-1]


def first_of(count: int) -> onnx.GraphProto:
    """A graph within a node that returns the first of its inputs."""
    names = [f"in{index}" for index in range(count)]
    node = helper.make_node("Identity", names[:1], ["out"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    return helper.make_graph([node], "body", [onnx.ValueInfoProto(name=name) for name in names], [out])


class Version:
    """One version of an operator: its schema, and which types its variables may stand for."""

    def __init__(self, schema):
        self.schema = schema
        self.domain, self.name, self.since = schema.domain, schema.name, schema.since_version
        self.parameters = [*schema.inputs, *schema.outputs]
        self.variables = {}
        for one in self.parameters:
            if "(" not in one.typeStr and (allowed := elements(one.types)):
                self.variables[one.typeStr] = allowed

    def variable(self, name: str) -> str | None:
        """The type variable of that name, or of the parameter of that name."""
        if name in self.variables:
            return name
        return next((one.typeStr for one in self.parameters if one.name == name and one.typeStr in self.variables), None)

    def required(self) -> list[str]:
        """The type variables of the inputs that every node has."""
        given = [one.typeStr for one in self.given()]
        return [variable for variable in self.variables if variable in given]

    def given(self):
        return [one for one in self.schema.inputs if name_of(one.option) != "Optional"]

    def model(self, opset: int, types: dict[str, str], shape) -> onnx.ModelProto:
        """A model of one node, whose variables stand for these types."""
        inputs = []
        for index, one in enumerate(self.given()):
            own = types.get(one.typeStr) or element(one.typeStr) or min(elements(one.types), default=None)
            if own is not None:
                inputs.append(helper.make_tensor_value_info(f"x{index}", NUMBERS[own], shape))
            elif "seq(tensor(float))" in one.types:
                inputs.append(helper.make_tensor_sequence_value_info(f"x{index}", TensorProto.FLOAT, shape))
            else:
                return None
        attributes = {}
        for name, attribute in self.schema.attributes.items():
            if attribute.required:
                example = {"INT": 1, "INTS": [1], "FLOAT": 1.0, "FLOATS": [1.0], "STRING": "", "STRINGS": [""]}
                example["GRAPH"] = first_of(len(inputs))
                kind = name_of(attribute.type)
                if kind not in example:
                    return None
                attributes[name] = example[kind]
        node = helper.make_node(self.name, [i.name for i in inputs], ["y"], domain=self.domain, **attributes)
        graph = helper.make_graph([node], "one", inputs, [onnx.ValueInfoProto(name="y")])
        sets = {"": opset, self.domain: self.since if self.domain else opset}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*one) for one in sets.items()])
        model.ir_version = min(model.ir_version, 11)
        return model


def quiet() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Folding would do away with nodes that have no kernel.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def loads(model: onnx.ModelProto | None) -> bool | None:
    """True if ONNX Runtime loads a model, False if it lacks a kernel, None if something else is wrong."""
    if model is None:
        return None
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), quiet(), providers=["CPUExecutionProvider"])
    except native.NotImplemented:
        return False
    except Exception:
        return None
    return True


def newest_set() -> int:
    """The newest operator set that ONNX Runtime loads."""

    def identity(opset):
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "one", info[:1], info[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 10
        return model

    return max(opset for opset in range(OLDEST_OPSET, 40) if loads(identity(opset)))


def merged(rows: list[dict]) -> list[dict]:
    """Rows that differ in the types of one variable are one."""
    rows = list(rows)
    again = True
    while again:
        again = False
        for a, b in itertools.combinations(rows, 2):
            differ = [name for name in a if a[name] != b[name]]
            if len(differ) <= 1:
                rows.remove(b)
                for name in differ:
                    a[name] = a[name] | b[name]
                again = True
                break
    return rows


def kernels_of(version: Version, kernels) -> list[dict]:
    """The types that ONNX Runtime's kernels for a version take."""
    rows = []
    for kernel in kernels:
        first, last = kernel.version_range
        # A kernel without an end is for the one version that it begins with.
        if not (first == version.since or (first < version.since <= last and last < 2**31 - 1)):
            continue
        row = dict(version.variables)
        for name, types in kernel.type_constraints.items():
            if variable := version.variable(name):
                row[variable] = row[variable] & elements(types)
        if all(row.values()):
            rows.append(row)
    return merged(rows)


def onnxruntime_rows(version: Version, kernels, opset: int) -> list[dict]:
    if version.schema.deprecated:
        return []
    # Its graph makes initializers of them.
    if (version.domain, version.name) == ("", "Constant"):
        return [dict(version.variables)]
    rows = kernels_of(version, kernels)
    required = version.required()
    combinations = list(itertools.product(*(sorted(version.variables[name]) for name in required)))
    if not 1 < len(combinations) <= MAX_TRIED:
        return rows
    known = lambda types: [row for row in rows if all(types[name] in row[name] for name in required)]
    found = []
    for chosen in combinations:
        types = dict(zip(required, chosen, strict=True))
        tried = {loads(version.model(opset, types, shape)) for shape in SHAPES}
        # float16 is computed in float32 where there is no kernel.
        wide = {name: "float" if own == "float16" else own for name, own in types.items()}
        # The list decides where a model of one node alone is not valid.
        if True in tried or (tried == {None} and (known(types) or known(wide))):
            exactly = {name: frozenset([own]) for name, own in types.items()}
            found += [row | exactly for row in known(types) or [version.variables]]
    return merged(found)


def openvino_rows(version: Version, opset: int, core: openvino.Core) -> list[dict]:
    # Its reader crashes on nodes of this domain that lack inputs; Gradus writes others in their place.
    if version.domain == "com.microsoft" or version.schema.deprecated:
        return []
    types = {name: "float" if "float" in allowed else min(allowed) for name, allowed in version.variables.items()}
    model = version.model(opset, types, SHAPES[1])
    if model is None:
        return []
    try:
        core.read_model(model.SerializeToString(), b"")
    except RuntimeError as error:
        if "No conversion rule" in str(error):
            return []
    return [{}]


def versions(newest: int) -> list[tuple[Version, int]]:
    """The versions that operator sets from the oldest to the newest have, each with such a set."""
    by_name = {}
    for schema in native.get_all_operator_schema():
        if schema.domain in DOMAINS:
            by_name.setdefault((schema.domain, schema.name), []).append(schema)
    found = []
    for (domain, _), schemas in sorted(by_name.items()):
        schemas.sort(key=lambda schema: schema.since_version)
        for schema, after in itertools.zip_longest(schemas, schemas[1:]):
            last = after.since_version - 1 if after and not domain else newest
            if last >= OLDEST_OPSET and schema.since_version <= newest:
                found.append((Version(schema), min(last, newest)))
    return found


def expression(row: dict, version: Version) -> str:
    """The Rust expression of the variables that not all types of the signature may stand for."""
    limited = {name: own for name, own in row.items() if own != version.variables[name]}
    return "&[" + ", ".join(f'("{name}", {dtype_set(own)})' for name, own in sorted(limited.items())) + "]"


def table() -> str:
    newest = newest_set()
    kernels = {}
    for kernel in native.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            kernels.setdefault((kernel.domain, kernel.op_name), []).append(kernel)
    core = openvino.Core()
    lines = {"ONNXRUNTIME": [], "OPENVINO": []}
    before = {}
    for version, opset in versions(newest):
        own = kernels.get((version.domain, version.name), [])
        for table, rows in [
            ("ONNXRUNTIME", onnxruntime_rows(version, own, opset)),
            ("OPENVINO", openvino_rows(version, opset, core)),
        ]:
            all_rows = ", ".join(sorted(expression(row, version) for row in rows))
            operator = (table, version.domain, version.name)
            # Rows that equal those of the version before are left out.
            if all_rows != before.get(operator, ""):
                before[operator] = all_rows
                lines[table].append(f'    o("{version.domain}", "{version.name}", {version.since}, &[{all_rows}]),')
    text = [
        "//! The ONNX operators that other programs run, and the types that they take.",
        "//!",
        f"//! Made by `scripts/runtime_tables.py` from onnxruntime {onnxruntime.__version__} and openvino",
        f"//! {openvino.__version__.split('-')[0]}; do not edit.",
        "",
        "use gradus_core::{DType as D, DTypeSet};",
        "",
        "use super::{RuntimeOperator, runtime_operator as o};",
        "",
        "/// The newest operator set of the tables, which is the newest that ONNX Runtime loads.",
        f"pub const NEWEST_OPSET: i64 = {newest};",
    ]
    for name, rows in lines.items():
        text += ["", "/// Sorted by domain, name and version; each holds until the next.", "#[rustfmt::skip]"]
        text += [f"pub const {name}: &[RuntimeOperator] = &[", *rows, "];"]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check({TABLE: table().encode()}))
