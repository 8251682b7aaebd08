//! The columns of conversions in a row of the table: which functions write what a node becomes.

use gradus_core::Result;
use gradus_core::graph::Content;

#[cfg(not(feature = "run"))]
use super::left_out::{ConvertContext, New, NewValue};
#[cfg(feature = "run")]
use super::{node::ConvertContext, older::New, writer::NewValue};
use crate::lowering::Lower;

/// Writes what a node becomes; gives the values that are its outputs.
pub type ConvertRule = fn(&mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>>;

/// The function that writes what a node becomes.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// Operators of OpenVINO, and operators of ONNX that have graphs.
    Context(ConvertRule),
    /// A graph of operators of ONNX.
    Graph(Lower),
}

/// Writes other operators where the operator set lacks something that a node needs.
pub type Instead = fn(&mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>>;

/// Returns true if an attribute changes nothing of what a node computes.
pub type Idle = fn(&ConvertContext<'_, '_>, &str, &Content) -> Result<bool>;

/// How an operator is written in operator sets that lack it as it is now.
#[derive(Clone, Copy, Debug)]
pub struct OlderForm {
    /// The first operator set that has it.
    pub since: i64,
    /// True if other operators are written for each of its nodes, and round floats in several
    /// steps.
    pub is_whole: bool,
    pub write: OlderWriter,
}

/// The function that writes the other operators.
#[derive(Clone, Copy, Debug)]
pub enum OlderWriter {
    Graph(Lower),
    /// The rule writes operators of OpenVINO too.
    Context(OlderRule),
}

/// Writes what an operator becomes in an older operator set.
pub type OlderRule = fn(&mut ConvertContext<'_, '_>, &New<'_>) -> Result<Vec<NewValue>>;
