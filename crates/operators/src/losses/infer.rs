//! Rules of losses, and of decoders of scores of classes over time.

use gradus_core::DType;

use crate::dim::Dim;
use crate::errors;
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferResult};
use crate::words;

/// The sizes of `CTCGreedyDecoder`.
pub fn by_mask(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let mask = cx.dims_of_rank(1, 2)?;
    let steps = cx.equal(dims[0], mask[0], "number of steps")?;
    let batch = cx.equal(dims[1], mask[1], "number of sequences")?;
    Ok(vec![Fact::tensor(cx.dtype(0), [batch, steps, Dim::ONE, Dim::ONE])])
}

/// The sizes of `CTCGreedyDecoderSeqLen`.
pub fn by_length(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let lengths = cx.dims_of_rank(1, 1)?;
    let batch = cx.equal(dims[0], lengths[0], "number of sequences")?;
    let mut types = [DType::I32; 2];
    for (dtype, name) in types.iter_mut().zip(["classes_index_type", "sequence_length_type"]) {
        *dtype = cx.attributes.index_dtype(name)?.unwrap_or(*dtype);
    }
    Ok(vec![Fact::typed(types[0], [batch, dims[1]]), Fact::typed(types[1], [batch])])
}

/// One loss for each sequence.
pub fn of_sequences(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (logits, labels) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(2, 2)?);
    let mut batch = cx.equal(logits[0], labels[0], "number of sequences")?;
    for input in [1, 3] {
        let lengths = cx.dims_of_rank(input, 1)?;
        batch = cx.equal(batch, lengths[0], "number of sequences")?;
    }
    if cx.has(4) {
        cx.one_element(4)?;
    }
    Ok(vec![Fact::tensor(cx.dtype(0), [batch])])
}

/// Shapes of `NegativeLogLikelihoodLoss` and `SoftmaxCrossEntropyLoss`: losses as the reduction
/// says, and log probabilities.
pub fn loss(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    if let Some(dims) = cx.known_dims(0) {
        let [batch, classes, rest @ ..] = &*dims else {
            return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
        };
        cx.same_shape(1, &[&[*batch], rest].concat())?;
        cx.same_shape(2, &[*classes])?;
        let ignored = cx.attributes.int("ignore_index")?;
        let last = cx.subtract(*classes, Dim::ONE);
        require_up_to(cx, (1, "label"), last, ignored)?;
    }
    let probabilities = cx.known_dims(0).map_or(Fact::tensor_type(dtype), |dims| Fact::tensor(dtype, dims));
    let first = match words::LOSS.of(&cx.attributes)? {
        "none" => {
            if let Some(labels) = cx.known_dims(1) {
                Fact::tensor(dtype, labels)
            } else {
                let dims = cx.dims(0)?;
                let [batch, _, rest @ ..] = &*dims else {
                    return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
                };
                Fact::tensor(dtype, std::iter::once(*batch).chain(rest.iter().copied()).collect::<Vec<_>>())
            }
        }
        _ => Fact::tensor(dtype, []),
    };
    Ok(vec![first, probabilities])
}
