//! Operators, a file each family: a table of versions, the operator, inference, evaluation, rows, tests.

mod arithmetic;
mod cast;
mod constant;
mod control;
mod identity;
mod range;
mod rounding;
mod shape;

use crate::op::Schema;

/// The rows of all families.
pub(crate) const ALL: &[&[Schema]] = &[
    arithmetic::SCHEMAS,
    cast::SCHEMAS,
    constant::SCHEMAS,
    control::SCHEMAS,
    identity::SCHEMAS,
    range::SCHEMAS,
    rounding::SCHEMAS,
    shape::SCHEMAS,
];
