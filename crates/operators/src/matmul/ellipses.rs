//! Equations whose ellipses broadcast, for ONNX, where they stand for as many axes each.

use gradus_core::Result;
use gradus_core::convert::i64_of;

use crate::equation::Equation;
use crate::lowering::terms::unsqueezed;
use crate::lowering::{LoweredValue, Lowering, word};

/// `Einsum` of operands whose ellipses broadcast, with axes of size 1 where ONNX wants them.
pub fn einsum(l: &mut Lowering<'_>, mut operands: Vec<LoweredValue>, equation: &str) -> Result<LoweredValue> {
    if equation.contains("...") {
        let ranks = (0..operands.len()).map(|input| l.rank_of(input)).collect::<Result<Vec<_>>>()?;
        for (input, axes) in Equation::new(equation, &ranks)?.padding() {
            if !axes.is_empty() {
                let axes: Vec<_> = axes.map(i64_of).collect();
                operands[input] = unsqueezed(operands[input], &axes).put(l)?;
            }
        }
    }
    l.apply("Einsum", &operands, &[word("equation", equation)])
}
