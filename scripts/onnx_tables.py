"""Writes the tables of facts that Gradus takes from the installed `onnx` package.

    python scripts/onnx_tables.py            write them
    python scripts/onnx_tables.py --check    fail if they differ from what is checked in

Made are the operators' versions, type lists and attributes (from `onnx.defs`) and the field and enumeration
numbers of the file format (from the descriptor of its messages).
"""

import re
import sys

import numpy
import onnx
import onnx.defs
from google.protobuf import descriptor_pb2
from onnx import onnx_ml_pb2

from generated import ROOT, write_or_check

SIGNATURES = ROOT / "crates/engine/src/schema/onnx.rs"
FIELDS = ROOT / "crates/formats/src/onnx/fields.rs"
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")

# The element types under the names of `DType`.
ELEMENTS = {
    "bool": "Bool", "string": "String", "int2": "I2", "int4": "I4", "int8": "I8", "int16": "I16", "int32": "I32",
    "int64": "I64", "uint2": "U2", "uint4": "U4", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
    "float16": "F16", "bfloat16": "BF16", "float": "F32", "double": "F64", "float8e4m3fn": "F8E4M3FN",
    "float8e4m3fnuz": "F8E4M3FNUZ", "float8e5m2": "F8E5M2", "float8e5m2fnuz": "F8E5M2FNUZ", "float8e8m0": "F8E8M0",
    "float6e2m3": "F6E2M3", "float6e3m2": "F6E3M2", "float4e2m1": "F4E2M1", "complex64": "C64",
    "complex128": "C128",
}  # fmt: skip


def header(what: str) -> str:
    return (
        f"//! {what}\n//!\n"
        f"//! Made by `scripts/onnx_tables.py` from onnx {onnx.__version__}; do not edit.\n\n"
    )


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def dtype_set(names: list[str]) -> str:
    order = list(ELEMENTS)
    ordered = sorted(names, key=order.index)
    return "DTypeSet::of(&[" + ", ".join(f"D::{ELEMENTS[name]}" for name in ordered) + "])"


def types_expression(allowed: list[str]) -> str:
    """The Rust expression of a set of types such as `tensor(float)`, `seq(tensor(int64))`, `map(string, float)`."""
    forms = {"tensor": [], "sequence": [], "optional": [], "optional_sequence": []}
    patterns = [
        (r"tensor\((\w+)\)", "tensor"),
        (r"seq\(tensor\((\w+)\)\)", "sequence"),
        (r"optional\(tensor\((\w+)\)\)", "optional"),
        (r"optional\(seq\(tensor\((\w+)\)\)\)", "optional_sequence"),
    ]
    other = False
    for text in allowed:
        for pattern, form in patterns:
            if found := re.fullmatch(pattern, text):
                forms[form].append(found[1])
                break
        else:
            other = True
    fields = [f"{form}: {dtype_set(names)}" for form, names in forms.items() if names]
    if other:
        fields.append("other: true")
    return "Types { " + ", ".join(fields) + ", ..Types::NONE }"


class Sets:
    """Names each set of types after the first schema that uses it."""

    def __init__(self):
        self.names = {}
        self.lines = []

    def name(self, allowed: list[str], wish: str) -> str:
        key = frozenset(allowed)
        if key not in self.names:
            self.names[key] = wish
            self.lines.append(f"    {wish} = {types_expression(sorted(allowed))};")
        return self.names[key]


def param(schema, parameter, constraints, sets: Sets) -> str:
    allowed = constraints.get(parameter.type_str, [parameter.type_str])
    domain = {"ai.onnx.ml": "ML_"}.get(schema.domain, "")
    if parameter.type_str in constraints:
        wish = f"{domain}{snake(schema.name)}_{schema.since_version}_{parameter.type_str}".upper()
        variable = parameter.type_str
    else:
        wish = re.sub(r"\W+", "_", parameter.type_str).strip("_").upper()
        variable = ""
    types = sets.name(allowed, wish)
    option = str(parameter.option).rsplit(".", 1)[-1]
    if option == "Variadic":
        alike = str(parameter.is_homogeneous).lower()
        arity = f"Arity::Many {{ alike: {alike}, least: {parameter.min_arity} }}"
    else:
        arity = {"Single": "Arity::One", "Optional": "Arity::Optional"}[option]
    return f'p("{parameter.name}", "{variable}", {types}, {arity})'


def default(attribute) -> str:
    """The Rust call that adds an attribute's default to its rule; empty for lists, and where none is told."""
    value = getattr(attribute, "default_value", None)
    match str(attribute.type).rsplit(".", 1)[-1] if value is not None and value.type else "":
        case "INT":
            return f".or(Int({value.i}))"
        case "FLOAT":
            return f".or(Float({numpy.float32(value.f)!s}))"
        case "STRING":
            return f'.or(Text("{value.s.decode()}"))'
        case _:
            return ""


def signature(schema, sets: Sets) -> str:
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    inputs = ", ".join(param(schema, p, constraints, sets) for p in schema.inputs)
    outputs = ", ".join(param(schema, p, constraints, sets) for p in schema.outputs)
    sorts = {"TYPE_PROTO": "Type", "SPARSE_TENSOR": "SparseTensor"}
    attributes = ", ".join(
        f'a("{name}", Sort::{sorts.get(kind, kind.capitalize())}, {str(attribute.required).lower()})'
        f"{default(attribute)}"
        for name, attribute in sorted(schema.attributes.items())
        for kind in [str(attribute.type).rsplit(".", 1)[-1]]
    )
    return (
        f'    Signature {{ domain: "{schema.domain}", name: "{schema.name}", since: {schema.since_version}, '
        f"deprecated: {str(schema.deprecated).lower()}, inputs: &[{inputs}], outputs: &[{outputs}], "
        f"attributes: &[{attributes}] }},"
    )


def signatures() -> str:
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS]
    schemas.sort(key=lambda s: (s.domain, s.name, s.since_version))
    sets = Sets()
    rows = [signature(schema, sets) for schema in schemas]
    return "\n".join(
        [
            header("The inputs, outputs and attributes of every version of every ONNX operator.").rstrip("\n"),
            "",
            "use gradus_core::{DType as D, DTypeSet};",
            "",
            "use super::DefaultContent::{Float, Int, Text};",
            "use super::{Arity, Signature, Sort, Types, attribute as a, param as p};",
            "",
            "types! {",
            *sets.lines,
            "}",
            "",
            "/// Sorted by domain, name and version.",
            "#[rustfmt::skip]",
            "pub const SIGNATURES: &[Signature] = &[",
            *rows,
            "];",
            "",
        ]
    )


def fields() -> str:
    file = descriptor_pb2.FileDescriptorProto()
    onnx_ml_pb2.DESCRIPTOR.CopyToProto(file)
    # A row is a release: its name, the file format, the operator set, and others. Sets without one came with the next.
    releases = [(opset, ir) for _, ir, opset, *_ in onnx.helper.VERSION_TABLE]
    newest = onnx.defs.onnx_opset_version()
    ir_versions = [min(ir for opset, ir in releases if opset >= wanted) for wanted in range(1, newest + 1)]
    lines = [
        header("Numbers of the fields and enumerations in ONNX files.").rstrip("\n"),
        "#![allow(missing_docs, reason = \"the names are those of the format\")]",
        "#![allow(dead_code, reason = \"the tables are whole; the reader keeps what it does not know\")]",
        "",
        "/// The newest version of the file format.",
        f"pub const NEWEST_IR_VERSION: i64 = {onnx.IR_VERSION};",
        "",
        "/// The newest version of the standard's own operator set.",
        f"pub const NEWEST_OPSET: i64 = {onnx.defs.onnx_opset_version()};",
        "",
        "/// The version of the file format that each operator set came with, from set 1 on.",
        "#[rustfmt::skip]",
        f"pub const IR_VERSIONS: [i64; {len(ir_versions)}] = {ir_versions};",
    ]

    def enumeration(path: str, enum) -> None:
        lines.extend(["", f"pub mod {path} {{"])
        lines.extend(f"    pub const {value.name.strip('_')}: i32 = {value.number};" for value in enum.value)
        lines.append("}")

    def message(path: str, msg) -> None:
        lines.extend(["", f"pub mod {path} {{"])
        lines.extend(
            f"    pub const {field.name.upper()}: u32 = {field.number};"
            for field in sorted(msg.field, key=lambda field: field.number)
        )
        lines.append("}")
        for enum in msg.enum_type:
            enumeration(f"{path}_{snake(enum.name)}", enum)
        for inner in msg.nested_type:
            message(f"{path}_{snake(inner.name)}", inner)

    for msg in file.message_type:
        message(snake(msg.name), msg)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check({SIGNATURES: signatures().encode(), FIELDS: fields().encode()}))
