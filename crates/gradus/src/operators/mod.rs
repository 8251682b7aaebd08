//! Operators: one table of all, and a folder for each family.
//!
//! A row of the table says what is known about an operator of a standard, and names the
//! functions that infer, evaluate and convert it. A family holds these functions: `infer.rs` works
//! on facts, `eval.rs` on tensors, `to_onnx.rs` and `to_openvino.rs` write the operators of the
//! other standard, and `openvino.rs` adapts what OpenVINO spells differently.

pub(crate) mod contrib;
pub(crate) mod control_flow;
pub(crate) mod elementwise;
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
mod rounding;
mod row;
pub(crate) mod sequence;
pub(crate) mod shape;
pub(crate) mod strided;
mod table;
pub(crate) mod work;

use std::sync::OnceLock;

use foldhash::HashMap;
use gradus_core::error::near;
use gradus_core::graph::{Node, Standard};
use gradus_core::{Error, Kind, Result};

pub(crate) use range::spaces::DOMAIN as OWN_DOMAIN;
pub use rounding::Rounding;
pub(crate) use row::{Chance, Eval, Reduces, Role, ZeroSigns};
pub use row::{Conversion, Row};

use crate::schema::Signature;

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    table::TABLE.iter().copied().flatten()
}

/// The row of an operator, if there is one. Paddle's `relu_`, which may write where it reads, is
/// `relu`.
pub fn row(standard: Standard, domain: &str, name: &str) -> Option<&'static Row> {
    type Key = (Standard, &'static str, &'static str);
    static INDEX: OnceLock<HashMap<Key, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| all().map(|row| ((row.standard, row.domain, row.name), row)).collect());
    let plain = || name.strip_suffix('_').filter(|_| standard == Standard::Paddle);
    let found = index.get(&(standard, domain, name));
    found.or_else(|| index.get(&(standard, domain, plain()?))).copied()
}

/// The row of a node's operator, if there is one.
pub(crate) fn row_of(standard: Standard, node: &Node) -> Option<&'static Row> {
    row(standard, &node.operator.domain, &node.operator.name)
}

/// The signature of the version of an operator that applies to a node.
///
/// # Errors
/// [`Kind::Graph`] if the model imports no operator set of the domain, or one that is older than
/// the operator.
pub(crate) fn signature(row: &Row, node: &Node) -> Result<&'static Signature> {
    let Row { domain, name, .. } = row;
    let Some(version) = node.version else {
        let message =
            format!("cannot tell the version of {name}: the import of domain \"{domain}\" is missing");
        return Err(Error::new(Kind::Graph, message));
    };
    row.signature_in(version).ok_or_else(|| {
        let since = row.signatures().first().map_or(1, |first| first.since);
        let what = format_args!("cannot use {name}: operator set");
        Error::mismatch(Kind::Graph, what, version, format_args!("at least {since}"))
    })
}

/// The row and signature of a node whose operator is evaluated.
///
/// # Errors
/// [`Kind::Unsupported`] if Gradus does not evaluate the operator; as [`signature`].
pub(crate) fn evaluated(standard: Standard, node: &Node) -> Result<(&'static Row, &'static Signature)> {
    let unsupported = |hint: &str| {
        let message = format!("cannot evaluate operator {} of {standard}{hint}", node.operator);
        Error::new(Kind::Unsupported, message)
    };
    let row = row_of(standard, node).ok_or_else(|| {
        let known: Vec<_> = all().filter(|row| row.standard == standard).map(|row| row.name).collect();
        let near = near(&node.operator.name, &known);
        unsupported(&near.first().map_or(String::new(), |near| format!("; did you mean {near}?")))
    })?;
    if !row.is_evaluated() {
        return Err(unsupported(""));
    }
    Ok((row, signature(row, node)?))
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
