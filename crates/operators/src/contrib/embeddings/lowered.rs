//! Embeddings as graphs of ONNX's operators.

use gradus_core::{DType, Result, Tensor};

use crate::contrib::normalization::lowered::normalized;
use crate::contrib::values::{maybe_wide, wide_input};
use crate::lowering::terms::{cast, ints, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// `TorchEmbedding`: rows of a table. What is said of gradients changes no result.
pub fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("Gather", l.input(0)?, l.input(1)?).put(l)?])
}

/// Tables of `EmbedLayerNormalization` and of its like with codes, in float64.
pub struct Tables {
    pub words: LoweredValue,
    pub positions: LoweredValue,
    pub segments: LoweredValue,
    pub gamma: LoweredValue,
    pub beta: LoweredValue,
}

/// The sum of embeddings, normalized; the number of keys that a mask leaves, and the sum.
pub fn embedded(l: &mut Lowering<'_>, given: &Tables) -> Result<[LoweredValue; 3]> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-12);
    let ids = l.input(0)?;
    let ids = l.cast(ids, DType::I64)?;
    let mut sum = l.apply("Gather", &[given.words, ids], &[])?;
    let positions = if l.has(8) && l.node_is("EmbedLayerNormalization") {
        let given = l.input(8)?;
        l.cast(given, DType::I64)?
    } else {
        l.positions(ids, 1)?
    };
    let rows = l.apply("Gather", &[given.positions, positions], &[])?;
    sum = l.apply("Add", &[sum, rows], &[])?;
    if l.has(1) && given.segments != LoweredValue::NONE {
        let rows = of("Gather", given.segments, cast(l.input(1)?, DType::I64)).put(l)?;
        sum = l.apply("Add", &[sum, rows], &[])?;
    }
    let [value, _, _] = normalized(l, sum, &[-1], epsilon, true)?;
    let value = (value * given.gamma + given.beta).put(l)?;
    // The number of keys that are attended to.
    let kept = if l.has(7) {
        let one = l.constant(Tensor::scalar(1i64))?;
        let kept = of("Equal", cast(l.input(7)?, DType::I64), one).put(l)?;
        l.cast(kept, DType::I64)?
    } else {
        (ids * whole(0)).put(l)?
    };
    let counts = with("ReduceSum", [kept.into(), ints(&[1])], [int("keepdims", 0)]).put(l)?;
    Ok([value, l.cast(counts, DType::I32)?, sum])
}

/// `EmbedLayerNormalization`: normalized sums of embeddings of words, positions and segments.
pub fn embed(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let given = Tables {
        words: wide_input(l, 2)?,
        positions: wide_input(l, 3)?,
        segments: maybe_wide(l, 4)?,
        gamma: wide_input(l, 5)?,
        beta: wide_input(l, 6)?,
    };
    let dtype = l.dtype_of(2)?;
    let [value, counts, sum] = embedded(l, &given)?;
    Ok(vec![l.cast(value, dtype)?, counts, l.cast(sum, dtype)?])
}
