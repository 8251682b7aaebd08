//! Rules of normalizations with a sum before them.

use gradus_core::DType;

use crate::dim::Dim;
use crate::fact::Fact;
use crate::indices;
use crate::infer::{InferContext, InferResult};

/// The first input's dimensions; statistics of all but the last axis; and the sum with the skipped
/// input.
pub fn normalised(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, dtype) = (cx.dims(0)?, cx.dtype(0));
    let skips = cx.node.operator.name.starts_with("Skip");
    if skips {
        let width = dims.last().copied().unwrap_or(Dim::ONE);
        cx.broadcasts_to(1, &dims)?;
        cx.same_shape(2, &[width])?;
        if cx.operator == "SkipLayerNormalization" {
            cx.same_shape(3, &[width])?;
            cx.broadcasts_to(4, &dims)?;
        } else {
            cx.broadcasts_to(3, &dims)?;
        }
    } else {
        [1, 2].into_iter().try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    }
    let mut statistics = dims.to_vec();
    let axis = if skips {
        dims.len().saturating_sub(1)
    } else {
        indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?
    };
    statistics.iter_mut().skip(axis).for_each(|dim| *dim = Dim::ONE);
    let statistic = || Fact::typed(DType::F32, statistics.clone());
    Ok(vec![Fact::tensor(dtype, dims.clone()), statistic(), statistic(), Fact::tensor(dtype, dims)])
}

/// Shapes of `SkipGroupNorm`: the first input's for the normalized sum and the sum.
pub fn skip_group_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims.clone()), Fact::tensor(cx.dtype(0), dims)])
}
