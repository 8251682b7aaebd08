//! Rules of operators on tokens: their search, and hashes.

use gradus_core::DType;

use crate::dim::Dim;
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferResult};

/// Shape of `NGramRepeatBlock`: that of the scores.
pub fn n_gram_repeat_block(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (ids, scores) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(1, 2)?);
    cx.equal(ids[0], scores[0], "number of rows")?;
    let last = cx.subtract(scores[1], Dim::ONE);
    require_up_to(cx, (0, "token"), last, None)?;
    Ok(vec![Fact::tensor(cx.dtype(1), scores)])
}

/// Shape of `BeamSearch`, `GreedySearch` and `Sampling`: sequences of the maximum length.
pub fn beam_search(cx: &mut InferContext<'_, '_>) -> InferResult {
    let batch = cx.dims(0)?.first().copied().unwrap_or(Dim::ONE);
    let len = cx.integer_or(1, "the length is not known before the run");
    if &*cx.node.operator.name != "BeamSearch" {
        return Ok(vec![Fact::typed(DType::I32, [batch, len])]);
    }
    let count = cx.integer_or(4, "number of returned sequences");
    Ok(vec![Fact::typed(DType::I32, [batch, count, len])])
}

/// A hash for each element, as an unsigned integer unless the attribute says otherwise.
pub fn murmur_hash3(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = if cx.attributes.flag("positive", true)? { DType::U32 } else { DType::I32 };
    Ok(vec![Fact::typed(dtype, cx.dims(0)?)])
}
