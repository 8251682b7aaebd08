//! Operators, a file each family: a table of versions, the operator, inference, evaluation, rows, tests.

mod arithmetic;
mod bodies;
mod branches;
mod cast;
mod constant;
mod control;
mod elementwise;
mod folds;
mod generate;
mod identity;
mod lists;
mod matmul;
mod microsoft;
mod ml;
mod moves;
mod network;
mod openvino;
mod paddle;
mod places;
mod range;
mod reduce;
mod reshape;
mod resize;
mod rounding;
mod sequence;
mod shape;
mod slice;
mod spaces;
mod window;

pub(crate) use elementwise::fraction_of;
#[cfg(test)]
pub(crate) use microsoft::IN_STANDARD_DOMAIN;
pub(crate) use openvino::elementwise::clamp_bound;
pub(crate) use paddle::lowered;
pub(crate) use places::axis as axis_of;
pub(crate) use rounding::missing_bound;
pub(crate) use spaces::DOMAIN as OWN_DOMAIN;

use crate::infer::Rules;
use crate::op::Schema;

/// The rules of inference of all families.
pub(crate) const RULES: &[&[Rules]] = &[
    bodies::RULES,
    constant::RULES,
    elementwise::RULES,
    generate::RULES,
    matmul::RULES,
    microsoft::RULES,
    ml::RULES,
    network::RULES,
    openvino::bodies::RULES,
    openvino::elementwise::RULES,
    openvino::network::RULES,
    openvino::parts::RULES,
    openvino::reduce::RULES,
    openvino::shapes::RULES,
    paddle::RULES[0],
    paddle::RULES[1],
    paddle::RULES[2],
    paddle::RULES[3],
    paddle::RULES[4],
    range::RULES,
    reduce::RULES,
    reshape::RULES,
    resize::RULES,
    sequence::RULES,
    shape::RULES,
    slice::RULES,
    spaces::RULES,
    window::RULES,
];

/// The rows of all families.
pub(crate) const ALL: &[&[Schema]] = &[
    arithmetic::SCHEMAS,
    branches::SCHEMAS,
    cast::SCHEMAS,
    constant::SCHEMAS,
    control::SCHEMAS,
    folds::SCHEMAS,
    identity::SCHEMAS,
    lists::SCHEMAS,
    moves::SCHEMAS,
    openvino::bodies::SCHEMAS,
    openvino::elementwise::SCHEMAS,
    openvino::network::SCHEMAS,
    openvino::parts::SCHEMAS,
    openvino::reduce::SCHEMAS,
    openvino::shapes::SCHEMAS,
    paddle::SCHEMAS[0],
    paddle::SCHEMAS[1],
    paddle::SCHEMAS[2],
    paddle::SCHEMAS[3],
    paddle::SCHEMAS[4],
    range::SCHEMAS,
    rounding::SCHEMAS,
    shape::SCHEMAS,
    spaces::SCHEMAS,
];
