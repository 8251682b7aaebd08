//! Results that are the same bits in every implementation, so that they may be computed beforehand.
//!
//! Whole numbers are, and so is what only moves elements. IEEE 754 rounds sums, differences,
//! products, quotients, square roots and conversions in one way. Everything else that makes floats
//! (exponentials, sums of many, products of matrices) differs in its last bits from program to
//! program, and from one set of instructions to the next.

use gradus_core::graph::{Graph, Node, Standard};
use gradus_core::{Class, DType, Number, Tensor};

use super::dialect::{Role, role};
use crate::fact::range_of;
use crate::operators::{self, Chance, Rounding};

fn moves(standard: Standard, node: &Node) -> bool {
    let row = operators::row_of(standard, node);
    row.is_some_and(|row| row.rounding.of_node(node) == Rounding::Moved)
}

/// Returns true if a node, and every node in its graphs, gives the same bits everywhere for the
/// same inputs. `whole` says that neither its inputs nor its outputs are floats.
pub(super) fn is_exact(standard: Standard, node: &Node, whole: bool) -> bool {
    let Some(row) = operators::row_of(standard, node) else { return false };
    let exact = row.is_exact(node) || (whole && row.chance == Chance::No);
    row.domain.is_empty() && exact && node.graphs().all(|graph| graph_is_exact(standard, graph))
}

fn graph_is_exact(standard: Standard, graph: &Graph) -> bool {
    graph.nodes().iter().all(|node| is_exact(standard, node, false))
}

/// Returns true if a node makes floats of narrower ones. OpenVINO keeps weights narrow so, and
/// computes with them as they are.
pub(super) fn widens(standard: Standard, role: Role, from: Option<DType>, to: Option<DType>) -> bool {
    let wider = |(from, to): (DType, DType)| to.is_float() && from.bits() < to.bits();
    standard == Standard::OpenVino && role == Role::Cast && from.zip(to).is_some_and(wider)
}

/// Returns true if an element type is that of integers, truth values or text.
pub(super) fn is_whole(dtype: DType) -> bool {
    matches!(dtype.class(), Class::Bool | Class::Signed | Class::Unsigned | Class::Text)
}

/// Returns true if an element is -0.
pub(super) fn has_negative_zero(tensor: &Tensor) -> bool {
    let is_so = |number: Number| matches!(number, Number::Float(x) if x.to_bits() == (-0.0f64).to_bits());
    tensor.numbers().is_ok_and(|mut numbers| numbers.any(is_so))
}

/// Returns true if the result of an exact node may be computed beforehand: NaN that it makes has
/// other bits elsewhere, and what does not fit an integer type is converted to anything.
pub(super) fn is_settled(
    standard: Standard,
    node: &Node,
    inputs: &[Option<&Tensor>],
    output: &Tensor,
) -> bool {
    let converts = role(standard, node) == Role::Cast;
    if moves(standard, node) && !converts {
        return true;
    }
    if !is_whole(output.dtype()) {
        // Programs compute halves in float32, and round some of what is between.
        let known = matches!(output.dtype(), DType::F32 | DType::F64);
        let nan = |number| matches!(number, Number::Float(value) if value.is_nan());
        return known && output.numbers().is_ok_and(|mut numbers| !numbers.any(nan));
    }
    let Some(input) = inputs.first().copied().flatten() else { return true };
    let converts = converts && !is_whole(input.dtype());
    let (Some((low, high)), true) = (range_of(output.dtype()), converts) else { return true };
    let fits = |number| match number {
        Number::Float(value) => value.is_finite() && value >= bound(low) && value < bound(high) + 1.0,
        Number::Int(_) | Number::Complex(..) => true,
    };
    output.dtype() == DType::Bool || input.numbers().is_ok_and(|mut numbers| numbers.all(fits))
}

/// The float next to a bound of an integer type.
pub(super) fn bound(value: i64) -> f64 {
    gradus_core::convert::nearest_f64(Number::Int(value.into()))
}
