//! Operators: one table of all, and a folder for each family.
//!
//! A row of the table says what is known about an operator of a standard, and names the
//! functions that infer, evaluate and convert it. A family holds these functions: `infer.rs` works
//! on facts, `eval.rs` on tensors, `to_onnx.rs` and `to_openvino.rs` write the operators of the
//! other standard, and `openvino.rs` adapts what OpenVINO spells differently.

pub(crate) mod contrib;
pub(crate) mod control_flow;
pub(crate) mod elementwise;
pub(crate) mod equation;
pub(crate) mod errors;
pub(crate) mod floats;
pub(crate) mod fused;
pub(crate) mod generate;
pub(crate) mod indexing;
pub(crate) mod indices;
pub(crate) mod layout;
pub(crate) mod matmul;
pub(crate) mod ml;
pub(crate) mod nn;
pub(crate) mod operation;
pub(crate) mod output;
pub(crate) mod preview;
pub(crate) mod range;
pub(crate) mod reduction;
pub(crate) mod registry;
pub(crate) mod reshape;
mod rounding;
pub(crate) mod row;
pub(crate) mod sequence;
pub(crate) mod shape;
pub(crate) mod strided;
mod table;
pub(crate) mod work;

use gradus_core::graph::{Node, Standard};

pub(crate) use registry::{Registry, signature};
pub use rounding::Rounding;
pub(crate) use row::OWN_DOMAIN;
pub(crate) use row::{Chance, Eval, Reduces, Role, ZeroSigns};
pub use row::{Conversion, Row};
pub(crate) use table::TABLE;

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    table().all()
}

/// The row of an operator, if there is one. Paddle's `relu_`, which may write where it reads, is
/// `relu`.
pub fn row(standard: Standard, domain: &str, name: &str) -> Option<&'static Row> {
    table().row(standard, domain, name)
}

/// The row of a node's operator, if there is one.
pub(crate) fn row_of(standard: Standard, node: &Node) -> Option<&'static Row> {
    table().row_of(standard, node)
}

/// The table of all operators.
pub(crate) fn table() -> &'static Registry {
    Registry::install(TABLE)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::schema::{onnx_operators, onnx_versions, openvino_operators};

    #[test]
    fn no_operator_has_two_rows() {
        let mut seen = HashSet::new();
        for row in all() {
            assert!(seen.insert((row.standard, row.domain, row.name)), "{row:?} is there twice");
        }
    }

    #[test]
    fn every_operator_of_onnx_has_a_row_that_is_inferred() {
        let inferred = |domain, name| row(Standard::Onnx, domain, name).is_some_and(Row::is_inferred);
        let missing: Vec<_> = onnx_operators().filter(|(domain, name)| !inferred(domain, name)).collect();
        assert!(missing.is_empty(), "no rule for {missing:?}");
    }

    #[test]
    fn every_operator_of_openvino_runs() {
        let runs = |row: &Row| row.is_evaluated() || row.runs_by_conversion();
        let missing: Vec<_> = openvino_operators()
            .filter(|name| !row(Standard::OpenVino, "", name).is_some_and(runs))
            .collect();
        assert!(missing.is_empty(), "cannot run {missing:?}");
    }

    #[test]
    fn every_row_claims_something_that_exists() {
        for row in all() {
            assert!(row.is_inferred() || row.is_evaluated() || row.conversion.is_some(), "{row:?}");
            if row.is_evaluated() {
                assert!(!row.signatures().is_empty(), "{row:?} is evaluated without a signature");
            }
            if row.standard == Standard::Onnx && (row.domain.is_empty() || row.domain.starts_with("ai.onnx."))
            {
                let known = !onnx_versions(row.domain, row.name).is_empty();
                // ONNX Runtime writes this one in ONNX's own domain.
                assert!(known || row.name == "SimplifiedLayerNormalization", "{row:?}");
            }
        }
    }
}
