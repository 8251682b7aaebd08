"""Writes the table of operators that Gradus takes from the installed `onnxruntime` package.

    python scripts/onnxruntime_tables.py            write it
    python scripts/onnxruntime_tables.py --check    fail if it differs from what is checked in

It has the signatures of the operators of `com.microsoft` that the table of operators names without a signature of
its own.
"""

import re
import sys
import types

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native

from generated import ROOT, write_or_check
from onnx_tables import Sets, signature

SIGNATURES = ROOT / "crates/engine/src/schema/microsoft.rs"
TABLE = ROOT / "crates/operators/src/table/contrib.rs"
DOMAIN = "com.microsoft"


def wanted() -> set[str]:
    """The names of rows without a signature of their own."""
    rows = re.split(r"\n    (?=\w)", TABLE.read_text())
    named = ((re.match(r'microsoft\(\s*"(\w+)"', row), row) for row in rows)
    return {found[1] for found, row in named if found and ".signatures_are" not in row}


def parameter(of):
    """A parameter under the names that the `onnx` package has for its fields."""
    return types.SimpleNamespace(
        name=of.name,
        type_str=of.typeStr,
        option=of.option,
        is_homogeneous=of.isHomogeneous,
        # The least number is not told.
        min_arity=1,
    )


def schema(of):
    """A schema under the names that the `onnx` package has for its fields."""
    both = [*of.inputs, *of.outputs]
    constraints = {one.typeStr: sorted(one.types) for one in both if "(" not in one.typeStr}
    return types.SimpleNamespace(
        domain=of.domain,
        name=of.name,
        since_version=of.since_version,
        deprecated=of.deprecated,
        inputs=[parameter(one) for one in of.inputs],
        outputs=[parameter(one) for one in of.outputs],
        attributes=of.attributes,
        type_constraints=[
            types.SimpleNamespace(type_param_str=name, allowed_type_strs=allowed)
            for name, allowed in constraints.items()
        ],
    )


def signatures() -> str:
    names = wanted()
    schemas = [schema(s) for s in native.get_all_operator_schema() if s.domain == DOMAIN and s.name in names]
    schemas.sort(key=lambda s: (s.name, s.since_version))
    sets = Sets()
    rows = [signature(one, sets) for one in schemas]
    return "\n".join(
        [
            "//! The inputs, outputs and attributes of operators of ONNX Runtime.",
            "//!",
            f"//! Made by `scripts/onnxruntime_tables.py` from onnxruntime {onnxruntime.__version__}; do not edit.",
            "",
            "use gradus_core::{DType as D, DTypeSet};",
            "",
            "use super::{Arity, Signature, Sort, Types, attribute as a, param as p};",
            "",
            "types! {",
            *sets.lines,
            "}",
            "",
            "/// Sorted by name and version.",
            "#[rustfmt::skip]",
            "pub const SIGNATURES: &[Signature] = &[",
            *rows,
            "];",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(write_or_check({SIGNATURES: signatures().encode()}))
