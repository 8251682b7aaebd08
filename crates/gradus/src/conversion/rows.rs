//! The rows of all tables.

use gradus_core::graph::{Model, Node, Standard};
use gradus_core::{Error, Kind, Result};

use super::node::Convert;
use super::{OLDEST_OPSET, onnx, openvino, paddle};

/// An operator, and what it becomes.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub operator: &'static str,
    /// The operators that are written for it.
    pub becomes: &'static str,
    /// What is not kept bit for bit; empty if everything is.
    pub kept: &'static str,
    pub(super) convert: Convert,
}

/// Rows: the operator, what it becomes, what is not kept, and the function that writes it.
macro_rules! rows {
    ($($operator:literal $becomes:literal $kept:literal $convert:expr;)*) => {
        pub(in crate::conversion) const ROWS: &[crate::conversion::Row] = &[$(crate::conversion::Row {
            operator: $operator,
            becomes: $becomes,
            kept: $kept,
            convert: $convert,
        }),*];
    };
}
pub(super) use rows;

/// The tables from a standard to another.
fn tables(from: Standard, to: Standard) -> &'static [&'static [Row]] {
    match (from, to) {
        (Standard::Onnx, Standard::OpenVino) => onnx::TABLES,
        (Standard::OpenVino, Standard::Onnx) => openvino::TABLES,
        (Standard::Paddle, Standard::Onnx) => paddle::TABLES,
        _ => &[],
    }
}

/// The operators that are converted from a standard to another, with what is not kept.
pub fn all(from: Standard, to: Standard) -> impl Iterator<Item = &'static Row> {
    tables(from, to).iter().copied().flatten()
}

/// The row of a node.
pub(super) fn find(source: &Model, to: Standard, node: &Node) -> Result<&'static Row> {
    let from = source.standard;
    let refuse = |why: String| Err(Error::new(Kind::Unsupported, why));
    if source.functions.iter().any(|function| function.id == node.operator) {
        return refuse("calls of functions of the model are not converted".to_owned());
    }
    if from == Standard::Onnx && node.version.is_some_and(|version| version < OLDEST_OPSET) {
        return refuse(format!("operators of sets before {OLDEST_OPSET} are not converted"));
    }
    if from == Standard::Paddle {
        return paddle::find(node);
    }
    let own = node.operator.domain.is_empty();
    match all(from, to).find(|row| own && row.operator == &*node.operator.name) {
        Some(row) => Ok(row),
        None => refuse(format!("operator {} of {from} is not converted to {to}", node.operator)),
    }
}
