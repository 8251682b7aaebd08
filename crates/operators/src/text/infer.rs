//! Rules of operators on texts, whose data or vocabulary decide their shapes.

use gradus_core::DType;

use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::text::grams::Grams;
#[cfg(feature = "run")]
use crate::text::{
    patterns::pattern,
    strings::{Normalizer, Tokenizer},
};

/// Shape of `StringNormalizer`: the input's, without stopwords.
pub fn string_normalizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    #[cfg(feature = "run")]
    Normalizer::of(&cx.attributes)?;
    let dims = cx.dims(0)?;
    match *dims {
        [_] => {}
        [rows, _] => {
            cx.equal(rows, Dim::ONE, "number of rows")?;
        }
        _ => return Err(errors::rank(cx.input_label(0), dims.len(), "1 or 2").into()),
    }
    let stopwords = cx.attributes.texts("stopwords")?.is_some_and(|words| !words.is_empty());
    let mut all = dims.to_vec();
    if let Some(last) = all.last_mut().filter(|_| stopwords) {
        *last = cx.data("number of strings that are not stopwords", Bounds::SIZE);
    }
    Ok(vec![Fact::typed(DType::String, all)])
}

/// Shape of `TfIdfVectorizer`: the batch by the width of the output.
pub fn tf_idf(cx: &mut InferContext<'_, '_>) -> InferResult {
    let grams = Grams::of(&cx.attributes)?;
    if let Some(dtype) = cx.dtype(0) {
        grams.check(dtype)?;
    }
    let dims = cx.dims(0)?;
    let width = Dim::Known(grams.width());
    let all = match &*dims {
        [] | [_] => vec![width],
        [batch, _] => vec![*batch, width],
        _ => return Err(errors::rank(cx.input_label(0), dims.len(), "at most 2").into()),
    };
    Ok(vec![Fact::typed(DType::F32, all)])
}

/// Shape of `RegexFullMatch`: the input's, of truth values.
pub fn regex(cx: &mut InferContext<'_, '_>) -> InferResult {
    #[cfg(feature = "run")]
    pattern(&cx.attributes)?;
    Ok(vec![Fact::typed(DType::Bool, cx.dims(0)?)])
}

/// Shapes of `StringSplit`: the input's with an axis of pieces, and the number of pieces.
pub fn string_split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let most = cx.data("number of pieces of the longest string", Bounds::SIZE);
    let parts: Vec<_> = dims.iter().copied().chain([most]).collect();
    Ok(vec![Fact::typed(DType::String, parts), Fact::typed(DType::I64, dims)])
}

/// ONNX Runtime's `Tokenizer`, of one or two axes.
pub fn tokenizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    #[cfg(feature = "run")]
    Tokenizer::of(&cx.attributes)?;
    let dims = cx.dims(0)?;
    if !matches!(dims.len(), 1 | 2) {
        return Err(errors::rank("of the texts", dims.len(), "1 or 2").into());
    }
    let most = cx.data("number of tokens of the longest text", Bounds::SIZE);
    let dims: Vec<_> = dims.iter().copied().chain([most]).collect();
    Ok(vec![Fact::typed(DType::String, dims)])
}
