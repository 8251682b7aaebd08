"""Writes `crates/formats/src/paddle/fields.rs`: numbers of the fields and enumerations of old Paddle programs.

The descriptors are those of an installed `paddlepaddle`; the package itself need not be loaded.

    python scripts/paddle_tables.py [--check]
"""

import importlib.metadata
import importlib.util
import pathlib
import re
import sys

from generated import ROOT, write_or_check

TARGET = ROOT / "crates/formats/src/paddle/fields.rs"
MESSAGES = ["ProgramDesc", "Version", "BlockDesc", "VarDesc", "OpDesc", "OpDesc.Attr", "OpDesc.Var", "VarType",
            "VarType.TensorDesc", "VarType.DenseTensorDesc", "VarType.LoDTensorDesc", "Scalar"]
ENUMERATIONS = ["AttrType", "VarType.Type", "Scalar.Type"]


def descriptor():
    package = importlib.util.find_spec("paddle")
    path = pathlib.Path(package.submodule_search_locations[0]) / "base/proto/framework_pb2.py"
    spec = importlib.util.spec_from_file_location("framework_pb2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DESCRIPTOR


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace(".", "_")).lower()


def find(file, name, kind):
    outer, *inner = name.split(".")
    if not inner:
        return (file.message_types_by_name if kind == "message" else file.enum_types_by_name).get(outer)
    message = file.message_types_by_name.get(outer)
    return message and (message.nested_types_by_name if kind == "message" else message.enum_types_by_name).get(inner[0])


def table(file):
    version = importlib.metadata.version("paddlepaddle")
    yield "//! Numbers of the fields and enumerations in old Paddle programs."
    yield "//!"
    yield f"//! Made by `scripts/paddle_tables.py` from paddlepaddle {version}; do not edit."
    yield '#![allow(missing_docs, reason = "the names are those of the format")]'
    yield '#![allow(dead_code, reason = "the tables are whole; the reader keeps what it does not know")]'
    for name in MESSAGES:
        message = find(file, name, "message")
        if message:
            yield from ["", f"pub mod {snake(name)} {{"]
            yield from (f"    pub const {field.name.upper()}: u32 = {field.number};" for field in message.fields)
            yield "}"
    for name in ENUMERATIONS:
        enumeration = find(file, name, "enumeration")
        if enumeration:
            yield from ["", f"pub mod {snake(name)} {{"]
            yield from (f"    pub const {value.name.upper()}: i64 = {value.number};" for value in enumeration.values)
            yield "}"


if __name__ == "__main__":
    text = "\n".join(table(descriptor())) + "\n"
    sys.exit(write_or_check({TARGET: text.encode()}))
