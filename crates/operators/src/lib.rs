#![doc = include_str!("../README.md")]
//!
//! # Structure
//!
//! One table of all, and a folder for each family.
//!
//! A row of the table says what is known about an operator of a standard, and names the
//! functions that infer, evaluate and convert it. A family holds these functions, in files that say
//! their part:
//!
//! | file | has |
//! |---|---|
//! | `infer.rs` | rules, which work on facts |
//! | `eval.rs`, or files named by subject | evaluation of tensors |
//! | `lowered.rs` | graphs of simpler operators, for a run or for an operator set that lacks the operator |
//! | `openvino.rs` | operators of OpenVINO that mean something else than ONNX's |
//! | `to_onnx.rs`, `to_openvino.rs` | the operators of the other standard |

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "run", feature = "convert", feature = "paddle")),
    allow(dead_code, unused_imports, reason = "parts that the build leaves out use them")
)]
#![allow(
    missing_docs,
    clippy::implicit_hasher,
    clippy::len_without_is_empty,
    clippy::return_self_not_must_use,
    reason = "the crate is a part of gradus, which documents what users name"
)]

mod attention;
mod boxes;
mod contrib;
mod control_flow;
mod dialects;
mod elementwise;
mod generate;
mod graphs;
#[cfg(feature = "convert")]
mod idle;
mod images;
mod indexing;
mod layout;
mod losses;
mod matmul;
mod ml;
mod normalization;
mod numbers;
mod output;
mod preview;
mod quantization;
mod range;
mod recurrent;
mod reduction;
mod sequence;
mod shape;
mod signal;
mod table;
mod text;
mod windows;
mod words;

use gradus_core::graph::{Node, Standard};

pub use control_flow::loops::lead;
pub use gradus_engine::operators::*;
use gradus_engine::{
    attributes, complex, conversion, dim, draws, fact, infer, lowering, normalize, op, program, schema,
};
#[cfg(feature = "convert")]
pub use idle::is_false;
#[cfg(feature = "convert")]
pub use normalization::to_openvino::softmax_axis;
pub use range::exact_length;
#[cfg(feature = "convert")]
pub use sequence::to_openvino::type_of_stacked;
pub use table::TABLE;

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
pub fn row_of(standard: Standard, node: &Node) -> Option<&'static Row> {
    table().row_of(standard, node)
}

/// The table of all operators.
pub fn table() -> &'static Registry {
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
