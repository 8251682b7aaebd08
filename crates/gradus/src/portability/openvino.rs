//! Differences at operators that only OpenVINO has; other programs run the model that is converted.

use gradus_core::DType;

use super::conditions::NodeFacts;
use super::{Rule, When};

rules! {
    "division-rounded-down" [Divide]
        "a quotient of integers is below zero, and no integer"
        ["rounds down", "rounds toward zero", "rounds down"]
        rounds_down;
    "fake-quantization-to-equal-bounds" [FakeQuantize]
        "both bounds of the output are equal"
        ["returns the bound", "returns other numbers", "returns the bound"]
        |node| {
            let (low, high) = (node.stored(3)?, node.stored(4)?);
            let mut pairs = low.iter().cycle().zip(&high);
            pairs.any(|(low, high)| low == high).then_some(When::Always)
        };
    "local-response-with-fractional-bias" [LRN]
        "the bias is no integer, and axis 1 is summed over"
        ["adds the bias", "drops the fraction of the bias", "adds the bias"]
        |node| {
            let bias = node.attributes.float("bias").ok()??;
            let axes = node.stored(1)?;
            (bias.fract() != 0.0 && axes == [gradus_core::Number::Int(1)]).then_some(When::Always)
        };
    "prior-box-of-ignored-sizes" [PriorBox]
        "scale_all_sizes is false, and max_size is given"
        ["ignores max_size", "adds boxes of max_size, and drops as many at the end", "ignores max_size"]
        |node| {
            let scales = node.attributes.flag("scale_all_sizes", true).ok()?;
            let sizes = node.attributes.numbers("max_size").ok()??;
            (!scales && !sizes.is_empty()).then_some(When::Always)
        };
}

/// Quotients of which one may be below zero.
fn rounds_down(node: &mut NodeFacts<'_>) -> Option<When> {
    let is_signed = node.is(0, &[DType::I16, DType::I32, DType::I64]);
    let down = node.attributes.flag("m_pythondiv", true).ok()?;
    let is_natural = |index| node.bounds(index).lower().is_some_and(|low| low >= 0);
    (is_signed && down && !(is_natural(0) && is_natural(1))).then_some(When::Data)
}
