//! Operators that make tensors of a shape that is given, and those that turn one kind of data into
//! another.
//!
//! | operators | shape |
//! |---|---|
//! | `ConstantOfShape`, `RandomNormal`, `RandomUniform`, `EyeLike` | the elements of the input, the attribute, the input's |
//! | `OneHot`, `Multinomial` | another axis |
//! | `HannWindow`, …, `MelWeightMatrix`, `DFT`, `STFT` | signals |
//! | `NonMaxSuppression`, `StringNormalizer`, `StringSplit`, `ImageDecoder` | the data decide |
//! | `TfIdfVectorizer` | the vocabulary |

use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, DTypeSet, Number};

use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Elements, Fact, TensorFact, known_shape};
use crate::indexing::eval::{flat_index, positions};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};

use super::text::{Grams, Normalizer};

/// The element type that the attribute names, or another one, if random elements may have it.
fn drawn_type(cx: &InferContext<'_, '_>, other: Option<DType>) -> Result<Option<DType>, InferError> {
    const FLOATS: DTypeSet = DTypeSet::of(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
    let dtype = cx.attributes.dtype("dtype")?.or(other);
    let wanted = |dtype: DType| match cx.operator {
        "Bernoulli" => (!dtype.is_real() && dtype != DType::Bool, "a real number or a bool"),
        "Multinomial" => (![DType::I32, DType::I64].contains(&dtype), "int32 or int64"),
        _ => (!FLOATS.contains(dtype), "float16, bfloat16, float32 or float64"),
    };
    match dtype.map(wanted).zip(dtype) {
        Some(((true, wanted), dtype)) => Err(errors::dtype(dtype, wanted).into()),
        _ => Ok(dtype),
    }
}

/// Random elements in the shape of the first input, of the element type that the attribute names
/// or else of the input's.
pub fn random_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = drawn_type(cx, cx.dtype(0))?;
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

pub fn constant_of_shape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let value = match cx.attributes.get("value") {
        Some(Content::Tensor(constant)) => Some(constant.tensor()?),
        _ => None,
    };
    let dtype = value.as_ref().map_or(DType::F32, gradus_core::Tensor::dtype);
    let Some(shape) = cx.integers(0) else {
        let rank = cx.needed_len(0)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return Ok(vec![Fact::typed(dtype, dims)]);
    };
    for (axis, dim) in shape.iter().enumerate() {
        if let Dim::Known(size @ ..0) = dim {
            return Err(errors::element(axis, *size, "at least 0").into());
        }
    }
    let whole = dtype.is_integer() || dtype == DType::Bool;
    let element = match value {
        Some(value) => match value.number(0) {
            Ok(Number::Int(element)) if whole => i64::try_from(element).ok(),
            _ => None,
        },
        None => None,
    };
    let elements = element.map(|element| {
        let element = Dim::Known(element);
        match known_shape(&shape).map(|shape| shape.len()) {
            Some(count) if count <= crate::fact::MAX_INTEGERS => {
                Elements::Integers(vec![element; count].into())
            }
            _ => Elements::Progression(Arc::new((element, Dim::ZERO))),
        }
    });
    Ok(vec![Fact::Tensor(TensorFact {
        dtype: Some(dtype),
        dims: Some(shape),
        elements: elements.unwrap_or_default(),
    })])
}

pub fn random(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = drawn_type(cx, Some(DType::F32))?;
    let shape = cx.attributes.ints("shape")?.unwrap_or(&[]);
    Ok(vec![Fact::tensor(dtype, shape.iter().map(|&size| Dim::Known(size)).collect::<Vec<_>>())])
}

pub fn one_hot(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len() + 1;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, rank)?;
    cx.one_element(1)?;
    cx.same_shape(2, &[Dim::Known(2)])?;
    let depth = match cx.integer(1) {
        Some(depth) => depth,
        // The depth may be a float.
        None => match cx.constant(1).map(|tensor| tensor.only_number()) {
            Some(Ok(number)) => {
                let whole = gradus_core::convert::truncated(gradus_core::convert::nearest_f64(number));
                Dim::Known(whole.and_then(|whole| i64::try_from(whole).ok()).unwrap_or(0))
            }
            _ => cx.data("the depth is not known before the run", Bounds::SIZE),
        },
    };
    let mut all = dims.to_vec();
    all.insert(axis, depth);
    let elements = one_hot_elements(cx, &all, axis);
    let dims = Some(all.into());
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(2), dims, elements: elements.unwrap_or_default() })])
}

/// The elements, where all indices are known and the values are integers.
fn one_hot_elements(cx: &mut InferContext<'_, '_>, dims: &[Dim], axis: usize) -> Option<Elements> {
    let shape = known_shape(dims).filter(|shape| shape.len() <= crate::fact::MAX_INTEGERS)?;
    let (hot, values) = (cx.known_integers(0)?, cx.integers(2)?);
    let taken = hot_elements(&hot, shape.dims(), axis);
    Some(Elements::Integers(
        taken.into_iter().map(|value| values.get(value).copied()).collect::<Option<_>>()?,
    ))
}

/// By element of the output: 1 if an index selects it, otherwise 0.
pub(super) fn hot_elements(indices: &[i64], dims: &[usize], axis: usize) -> Vec<usize> {
    let mut outer = dims.to_vec();
    let depth = i64_of(outer.remove(axis));
    let each = positions(dims).map(|mut position| {
        let at = position.remove(axis);
        let index = indices[flat_index(&position, &outer)];
        let index = if index < 0 { index.saturating_add(depth) } else { index };
        usize::from(index == i64_of(at))
    });
    each.collect()
}

pub fn multinomial(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 2)?;
    if dims[1] == Dim::ZERO {
        return Err(errors::count("classes", 0, "at least 1").into());
    }
    cx.require(dims[1], Relation::AtLeast, Dim::ONE);
    let dtype = drawn_type(cx, Some(DType::I32))?;
    Ok(vec![Fact::tensor(dtype, [dims[0], Dim::Known(cx.attributes.int_or("sample_size", 1)?)])])
}

pub fn window(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    cx.one_element(0)?;
    let size = match cx.integer(0) {
        Some(size) => size,
        None => cx.data("the size is not known before the run", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(dtype, [size])])
}

pub fn mel_weights(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    (0..5).try_for_each(|input| cx.one_element(input))?;
    let bins = match cx.integer(0) {
        Some(bins) => bins,
        None => cx.data("the number of bins is not known before the run", Bounds::SIZE),
    };
    let spectrum = match cx.integer(1) {
        Some(len) => half(cx, len),
        None => cx.data("the length is not known before the run", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(dtype, [spectrum, bins])])
}

/// Frequencies of a real signal: the others mirror them.
pub fn half(cx: &mut InferContext<'_, '_>, len: Dim) -> Dim {
    let half = cx.floor_divide(len, Dim::Known(2));
    cx.add(half, Dim::ONE)
}

/// Checks that numbers are real or complex, by the size of their axis.
fn parts(size: Dim) -> Result<(), InferError> {
    match size {
        Dim::Known(1 | 2) | Dim::Symbolic(_) => Ok(()),
        Dim::Known(other) => Err(errors::shape("size of the last axis", other, "1 or 2").into()),
    }
}

pub fn dft(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len();
    if rank < 2 {
        return Err(errors::rank(cx.input_label(0), rank, "at least 2").into());
    }
    parts(dims[rank - 1])?;
    [1, 2].into_iter().try_for_each(|input| cx.one_element(input))?;
    let (one_sided, inverse) =
        (cx.attributes.flag("onesided", false)?, cx.attributes.flag("inverse", false)?);
    let axis = if cx.has(2) { cx.known_integers(2).and_then(|axis| axis.first().copied()) } else { Some(-2) };
    let Some(axis) = axis else {
        let dims = cx.any_dims("the axis is not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    };
    let axis = indices::axis(axis, rank)?;
    if axis == rank - 1 {
        return Err(errors::value("axis", axis, "another axis than that of the parts of numbers").into());
    }
    let len = match (cx.has(1), cx.integer(1)) {
        (false, _) => {
            // The other half of an input of one side is not counted.
            if inverse && one_sided {
                let less = cx.subtract(dims[axis], Dim::ONE);
                cx.multiply(less, Dim::Known(2))
            } else {
                dims[axis]
            }
        }
        (true, Some(len)) => len,
        (true, None) => cx.data("the length is not known before the run", Bounds::SIZE),
    };
    let mut all = dims.to_vec();
    all[axis] = if one_sided && !inverse { half(cx, len) } else { len };
    all[rank - 1] = if one_sided && inverse { Dim::ONE } else { Dim::Known(2) };
    Ok(vec![Fact::shaped(all)])
}

pub fn stft(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let (batch, signal) = match *dims {
        [batch, signal] => (batch, signal),
        [batch, signal, last] => {
            parts(last)?;
            (batch, signal)
        }
        _ => return Err(errors::rank("the signal", dims.len(), "2 or 3").into()),
    };
    [1, 3].into_iter().try_for_each(|input| cx.one_element(input))?;
    cx.dims_of_known_rank(2, 1)?;
    let step = cx.integer(1);
    let frame = match (cx.has(3), cx.integer(3), cx.has(2)) {
        (true, Some(len), _) => Some(len),
        (true, None, _) => None,
        (false, _, true) => cx.known_dims(2).and_then(|dims| dims.first().copied()),
        (false, _, false) => Some(signal),
    };
    let (Some(step), Some(frame)) = (step, frame) else {
        let [frames, bins] = ["the frames", "their length"].map(|what| cx.data(what, Bounds::SIZE));
        return Ok(vec![Fact::shaped([batch, frames, bins, Dim::Known(2)])]);
    };
    cx.same_shape(2, &[frame])?;
    let room = cx.subtract(signal, frame);
    let steps = cx.floor_divide(room, step);
    let frames = cx.add(steps, Dim::ONE);
    let bins = if cx.attributes.flag("onesided", true)? { half(cx, frame) } else { frame };
    Ok(vec![Fact::shaped([batch, frames, bins, Dim::Known(2)])])
}

pub fn string_normalizer(cx: &mut InferContext<'_, '_>) -> InferResult {
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

pub fn regex(cx: &mut InferContext<'_, '_>) -> InferResult {
    super::text::pattern(&cx.attributes)?;
    Ok(vec![Fact::typed(DType::Bool, cx.dims(0)?)])
}

pub fn eye_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("dtype")?.or(cx.dtype(0));
    Ok(vec![Fact::tensor(to, cx.dims_of_rank(0, 2)?)])
}

pub fn non_max_suppression(cx: &mut InferContext<'_, '_>) -> InferResult {
    scored_boxes(cx)?;
    let count = selected_boxes(cx);
    Ok(vec![Fact::typed(DType::I64, [count, Dim::Known(3)])])
}

/// Checks that there is a box for each score.
pub fn scored_boxes(cx: &mut InferContext<'_, '_>) -> Result<(), InferError> {
    let (boxes, scores) = (cx.known_dims(0), cx.known_dims(1));
    cx.dims_of_known_rank(0, 3)?;
    cx.dims_of_known_rank(1, 3)?;
    if let (Some(boxes), Some(scores)) = (boxes, scores) {
        cx.same_shape(0, &[scores[0], scores[2], Dim::Known(4)])?;
        cx.equal(boxes[1], scores[2], "number of boxes")?;
    }
    Ok(())
}

/// The number of boxes that `NonMaxSuppression` selects: of each class of each batch no more than
/// there are, or than the third input says, without which there are none.
pub fn selected_boxes(cx: &mut InferContext<'_, '_>) -> Dim {
    const WHAT: &str = "number of selected boxes";
    let limit = if cx.has(2) {
        cx.constant(2).and_then(|most| most.to_i64().ok()?.first().copied())
    } else {
        Some(0)
    };
    let Some(&[batch, classes, boxes]) = cx.known_dims(1).as_deref() else {
        return cx.data(WHAT, Bounds::SIZE);
    };
    let each = match limit {
        Some(limit) => cx.symbols().min(boxes, Dim::Known(limit.max(0))).unwrap_or(boxes),
        None => boxes,
    };
    let most = cx.product(&[batch, classes, each]);
    cx.at_most(WHAT, most)
}

pub fn string_split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let most = cx.data("number of pieces of the longest string", Bounds::SIZE);
    let parts: Vec<_> = dims.iter().copied().chain([most]).collect();
    Ok(vec![Fact::typed(DType::String, parts), Fact::typed(DType::I64, dims)])
}

/// ONNX Runtime's `Tokenizer`, of one or two axes.
pub fn tokenizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    super::text::Tokenizer::of(&cx.attributes)?;
    let dims = cx.dims(0)?;
    if !matches!(dims.len(), 1 | 2) {
        return Err(errors::rank("of the texts", dims.len(), "1 or 2").into());
    }
    let most = cx.data("number of tokens of the longest text", Bounds::SIZE);
    let dims: Vec<_> = dims.iter().copied().chain([most]).collect();
    Ok(vec![Fact::typed(DType::String, dims)])
}

pub fn image_decoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let channels = if cx.attributes.text("pixel_format")? == Some("Grayscale") { 1 } else { 3 };
    let [height, width] = ["the image's height", "the image's width"].map(|what| cx.data(what, Bounds::SIZE));
    Ok(vec![Fact::typed(DType::U8, [height, width, Dim::Known(channels)])])
}
