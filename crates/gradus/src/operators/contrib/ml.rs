//! Operators of `ai.onnx.ml`: features of samples, one sample a row.

use gradus_core::DType;
use gradus_core::graph::Content;

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::operators::errors;
use crate::operators::nn::infer::of;

/// How many entries an attribute's list has, if it has any.
fn count(cx: &InferContext<'_, '_>, name: &str) -> Option<usize> {
    let count = match cx.attributes.get(name)? {
        Content::Ints(all) => all.len(),
        Content::Strings(all) => all.len(),
        Content::Floats(all) => all.len(),
        _ => 0,
    };
    Some(count).filter(|&count| count > 0)
}

/// The number of samples: a single axis is one sample.
fn rows(cx: &InferContext<'_, '_>) -> Result<Dim, InferError> {
    Ok(match &*cx.dims(0)? {
        [] | [_] => Dim::ONE,
        [rows, ..] => *rows,
    })
}

pub(crate) fn extract(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, chosen) = (cx.dims(0)?, cx.dims(1)?);
    let chosen = cx.product(&chosen);
    let all = match &*dims {
        [] => return Err(errors::rank("input 0", 0, "at least 1").into()),
        [_] => vec![Dim::ONE, chosen],
        [before @ .., _] => before.iter().copied().chain([chosen]).collect(),
    };
    Ok(vec![of(cx.dtype(0), all)])
}

pub(crate) fn label_encoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let values =
        [("values_strings", DType::String), ("values_int64s", DType::I64), ("values_floats", DType::F32)];
    let named = values.iter().find(|(name, _)| cx.attributes.get(name).is_some()).map(|(_, dtype)| *dtype);
    let tensor = match cx.attributes.get("values_tensor") {
        Some(Content::Tensor(tensor)) => Some(tensor.dtype()),
        _ => None,
    };
    // Version 1 maps texts to numbers and back.
    let old = match cx.dtype(0) {
        Some(DType::String) => Some(DType::I64),
        Some(_) => Some(DType::String),
        None => None,
    };
    Ok(vec![of(named.or(tensor).or(old), cx.dims(0)?)])
}

fn regressor(cx: &mut InferContext<'_, '_>, targets: &str) -> InferResult {
    let rows = rows(cx)?;
    let dtype = if &*cx.node.operator.name == "TreeEnsemble" { cx.dtype(0) } else { Some(DType::F32) };
    Ok(vec![of(dtype, [rows, Dim::Known(cx.attributes.int_or(targets, 1)?)])])
}

pub(crate) fn classifier(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rows = rows(cx)?;
    let names = ["classlabels_strings", "classlabels_ints", "classlabels_int64s"];
    let classes = names.iter().find_map(|name| count(cx, name));
    let texts = count(cx, "classlabels_strings").is_some();
    let width = match classes {
        Some(classes) => Dim::from(classes),
        None => cx.unknown("the classes are not named", Bounds::SIZE),
    };
    // A machine of vectors without probabilities scores each pair of classes.
    let pairs = &*cx.node.operator.name == "SVMClassifier" && count(cx, "prob_a").is_none();
    let width = match classes {
        Some(classes) if pairs && classes > 2 && count(cx, "vectors_per_class").is_some() => {
            Dim::from(classes * (classes - 1) / 2)
        }
        _ => width,
    };
    let label = if texts { DType::String } else { DType::I64 };
    Ok(vec![Fact::typed(label, [rows]), Fact::typed(DType::F32, [rows, width])])
}

pub(crate) fn binarizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![of(cx.dtype(0), cx.dims(0)?)])
}

pub(crate) fn normalizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::F32, cx.dims(0)?)])
}

pub(crate) fn category_mapper(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = if cx.dtype(0) == Some(DType::String) { DType::I64 } else { DType::String };
    Ok(vec![Fact::typed(to, cx.dims(0)?)])
}

pub(crate) fn cast_map(cx: &mut InferContext<'_, '_>) -> InferResult {
    let keys = ["string_vocabulary", "int64_vocabulary"].iter().find_map(|name| count(cx, name));
    let width = match (keys, cx.attributes.int("max_map")?) {
        (Some(width), _) => Dim::from(width),
        (None, Some(width)) if cx.attributes.text("map_form")? == Some("SPARSE") => Dim::Known(width),
        _ => cx.data("number of keys of the map", Bounds::SIZE),
    };
    let to = match cx.attributes.text("cast_to")? {
        Some("TO_STRING") => Some(DType::String),
        Some("TO_INT64") => Some(DType::I64),
        Some(_) => Some(DType::F32),
        None => None,
    };
    Ok(vec![of(to, [Dim::ONE, width])])
}

pub(crate) fn feature_vectorizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    let widths = cx
        .attributes
        .ints("inputdimensions")?
        .map(|widths| widths.iter().fold(0i64, |sum, width| sum.saturating_add(*width)));
    let rows = rows(cx)?;
    let width = match widths {
        Some(width) => Dim::Known(width),
        None => cx.unknown("attribute \"inputdimensions\" is missing", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(DType::F32, [rows, width])])
}

pub(crate) fn one_hot_encoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let kinds = ["cats_int64s", "cats_strings"].iter().find_map(|name| count(cx, name)).unwrap_or(0);
    let all: Vec<_> = dims.iter().copied().chain([Dim::from(kinds)]).collect();
    Ok(vec![Fact::typed(DType::F32, all)])
}

pub(crate) fn linear_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    regressor(cx, "targets")
}

pub(crate) fn tree_ensemble_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    regressor(cx, "n_targets")
}

pub(crate) fn svm_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rows = rows(cx)?;
    Ok(vec![Fact::typed(DType::F32, [rows, Dim::ONE])])
}

pub(crate) fn zip_map(_: &mut InferContext<'_, '_>) -> InferResult {
    Err(InferError::unknown("maps are not supported"))
}
