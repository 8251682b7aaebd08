//! Rules of embeddings: rows of tables that indices choose, their sums and normalization.

use gradus_core::DType;

use crate::dim::Dim;
use crate::fact::{Dims, Fact};
use crate::infer::{InferContext, InferResult};

/// Shapes of `EmbedLayerNormalization`, also quantized: normalized embeddings, counts of the mask,
/// and sums.
pub fn embedded(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (ids, words) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(2, 2)?);
    if let Some(mask) = cx.known_dims(7) {
        let (own, all) = (cx.product(&mask), cx.product(&ids));
        cx.not_apart(own, all, "number of elements of the mask")?;
    }
    // The quantised tables have their scales as floats after them.
    let quantised = cx.node.operator.name.starts_with('Q');
    if !quantised {
        [5, 6].into_iter().try_for_each(|input| cx.same_shape(input, &[words[1]]))?;
        for input in (3..5).filter(|&input| cx.has(input)).collect::<Vec<_>>() {
            let width = cx.dims_of_rank(input, 2)?[1];
            cx.equal(width, words[1], "width of embeddings")?;
        }
    }
    let most = cx.subtract(words[0], Dim::ONE);
    cx.require_elements(0, Dim::ZERO, most);
    // Without positions, these are 0, 1, 2, ….
    if let Some(positions) = cx.known_dims(3).filter(|_| !cx.has(8)) {
        cx.require_if_any(&ids, positions[0], ids[1]);
    }
    let dtype = if quantised { Some(DType::F32) } else { cx.dtype(2) };
    let all: Dims = [ids[0], ids[1], words[1]].into();
    Ok(vec![Fact::tensor(dtype, all.clone()), Fact::typed(DType::I32, [ids[0]]), Fact::tensor(dtype, all)])
}

/// Shape of `TorchEmbedding`: the shape of the indices and the width of the table.
pub fn torch_embedding(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (table, indices) = (cx.dims_of_rank(0, 2)?, cx.dims(1)?);
    Ok(vec![Fact::tensor(cx.dtype(0), indices.iter().copied().chain([table[1]]).collect::<Vec<_>>())])
}
