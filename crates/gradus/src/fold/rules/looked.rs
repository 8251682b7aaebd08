//! Operators as the table of rules tells them apart, so that each node is only shown to the rules
//! that may apply to it.

use gradus_core::graph::{Node, Standard};

use super::super::dialect::Role;
use crate::operators::{self, Reduces, Row};
use crate::schema::Signature;

/// Knowledge of the operator of a node.
pub(in crate::fold) struct Looked<'n> {
    /// ONNX's operator; empty for those of other domains and standards.
    operator: &'n str,
    /// The function that it computes, in ONNX's words, if both standards have it; otherwise the
    /// operator.
    pub(super) function: &'n str,
    pub(super) role: Role,
    row: Option<&'static Row>,
}

impl<'n> Looked<'n> {
    /// The operator of a node of the file that has this row.
    pub(in crate::fold) fn of(standard: Standard, node: &'n Node, row: Option<&'static Row>) -> Looked<'n> {
        let own = standard == Standard::Onnx && node.operator.domain.is_empty();
        let operator = if own { &*node.operator.name } else { "" };
        let function = row.and_then(|row| row.same_as).unwrap_or(operator);
        Looked { operator, function, role: row.map_or(Role::Other, |row| row.role), row }
    }

    /// The operator of a node that folding makes.
    pub(super) fn of_new(operator: &'n str) -> Looked<'n> {
        let row = operators::row(Standard::Onnx, "", operator);
        Looked { operator, function: operator, role: Role::Other, row }
    }

    /// Returns true if it is this operator of ONNX.
    pub(super) fn is(&self, operator: &str) -> bool {
        self.operator == operator
    }

    /// Returns true if it is one of these operators of ONNX.
    pub(super) fn is_one(&self, operators: &[&str]) -> bool {
        operators.contains(&self.operator)
    }

    /// Returns true if it computes one of these functions.
    pub(super) fn computes(&self, functions: &[&str]) -> bool {
        functions.contains(&self.function)
    }
}

/// Returns true if an operator gives the elements of its first input another shape.
pub(super) fn is_view(of: &Looked<'_>) -> bool {
    matches!(of.role, Role::Reshape | Role::View) || of.is_one(&["Reshape", "Squeeze", "Unsqueeze"])
}

/// Returns true if an operator permutes axes.
pub(super) fn transposes(of: &Looked<'_>) -> bool {
    of.role == Role::Transpose || of.is("Transpose")
}

/// Returns true if an operator of ONNX reduces axes.
pub(super) fn reduces(of: &Looked<'_>) -> bool {
    operators::row(Standard::Onnx, "", of.operator).is_some_and(|row| row.reduces != Reduces::No)
}

/// Returns true if an operator has any number of inputs, and one of one input returns that.
pub(super) fn joins(of: &Looked<'_>) -> bool {
    of.row.is_some_and(|row| {
        row.role == Role::Join
            || (row.is_of_elements() && row.signatures().last().is_some_and(Signature::joins))
    })
}
