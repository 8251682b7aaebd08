//! Facts about the operators of `ai.onnx.ml`: features of samples, one sample a row.

use std::sync::Arc;

use gradus_core::DType;
use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;

use super::maps::{MapCast, class_labels, vocabulary};
use super::scores::Labels;
use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Fact, SequenceFact};
use crate::infer::{InferContext, InferError, InferResult, InputLabel};
use crate::ml::encode::eval::{Encoder, categories};
use crate::ml::features::eval::{Imputed, norm_of, one_or_each};
use crate::ml::linear::eval::Linear;
use crate::ml::svm::eval::{Classifier, Regressor};
use crate::ml::trees::ensemble::Ensemble;
use crate::schema::Typed;

/// Number of entries of an attribute's list, if it has any.
fn count(cx: &InferContext<'_, '_>, name: &str) -> Option<usize> {
    let count = match cx.attributes.get(name)? {
        Content::Ints(all) => all.len(),
        Content::Strings(all) => all.len(),
        Content::Floats(all) => all.len(),
        _ => 0,
    };
    Some(count).filter(|&count| count > 0)
}

/// The number of samples and of their features: a single axis is one sample.
fn samples(cx: &InferContext<'_, '_>) -> Result<(Dim, Dim), InferError> {
    match *cx.dims(0)? {
        [features] => Ok((Dim::ONE, features)),
        [rows, features] => Ok((rows, features)),
        ref dims => Err(errors::rank(cx.input_label(0), dims.len(), "1 or 2").into()),
    }
}

/// A dimension, if it is a number that counts.
fn known(dim: Dim) -> Option<usize> {
    dim.known().and_then(usize_of_i64)
}

/// The number of features of a sample of any rank, if it is known.
fn last(cx: &InferContext<'_, '_>) -> Result<Option<usize>, InferError> {
    Ok(cx.dims(0)?.last().map_or(Some(1), |&dim| known(dim)))
}

/// Shape of `ArrayFeatureExtractor`: the chosen features as last axis.
pub fn extract(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, chosen) = (cx.dims(0)?, cx.dims(1)?);
    let chosen = cx.product(&chosen);
    let all = match &*dims {
        [] => return Err(errors::rank(cx.input_label(0), 0, "at least 1").into()),
        [_] => vec![Dim::ONE, chosen],
        [before @ .., _] => before.iter().copied().chain([chosen]).collect(),
    };
    let indices = cx.known_integers(1);
    if let (Some(features), Some(indices)) = (known(dims[dims.len() - 1]), indices)
        && let Some(&index) =
            indices.iter().find(|&&index| usize_of_i64(index).is_none_or(|at| at >= features))
    {
        return Err(errors::out_of_range("index", index, features).into());
    }
    Ok(vec![Fact::tensor(cx.dtype(0), all)])
}

/// Shape of `LabelEncoder` and `CategoryMapper`: the input's, in the type of the values.
pub fn encoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = match cx.dtype(0) {
        Some(dtype) => Some(Encoder::of(&cx.attributes, dtype)?.dtype()),
        None => None,
    };
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

/// Requires that there is a row of coefficients, one for each feature, for each target.
fn coefficients_fit(cx: &mut InferContext<'_, '_>, linear: &Linear<'_>, features: Dim, targets: Dim) {
    let all = cx.multiply(features, targets);
    cx.require(all, Relation::Equal, Dim::from(linear.coefficients.len()));
}

/// Shape of `LinearRegressor`: rows by targets.
pub fn linear_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    let linear = Linear::regressor(&cx.attributes)?;
    let (rows, features) = samples(cx)?;
    if let Some(features) = known(features) {
        linear.targets_of(features)?;
    }
    let targets = linear.targets.unwrap_or(1);
    coefficients_fit(cx, &linear, features, Dim::from(targets));
    Ok(vec![Fact::typed(DType::F32, [rows, Dim::from(targets)])])
}

/// Shapes of `LinearClassifier`: a label for each row, and scores of all classes.
pub fn linear_classifier(cx: &mut InferContext<'_, '_>) -> InferResult {
    let linear = Linear::classifier(&cx.attributes)?;
    let labels = Labels::of(&cx.attributes, "classlabels_ints")?;
    let (rows, features) = samples(cx)?;
    let targets = if let Some(features) = known(features) {
        Dim::from(linear.targets_of(features)?)
    } else {
        cx.require(features, Relation::AtLeast, Dim::ONE);
        // Two labels may have one row of coefficients.
        let targets = match (linear.intercepts.len(), labels.len()) {
            (0, 0 | 2) => cx.floor_divide(Dim::from(linear.coefficients.len()), features),
            (0, named) => Dim::from(named),
            (added, _) => Dim::from(added),
        };
        coefficients_fit(cx, &linear, features, targets);
        targets
    };
    let width = match known(targets) {
        Some(targets) => {
            let binary = targets == 1 && labels.len() <= 2;
            if targets == 0 || (labels.len() > 0 && labels.len() != targets && !binary) {
                return Err(errors::count("classes", labels.len(), targets.max(1)).into());
            }
            Dim::from(targets.max(if binary { labels.len() } else { 1 }))
        }
        None if labels.len() == 2 => {
            cx.require(targets, Relation::AtMost, Dim::from(2_usize));
            Dim::from(2_usize)
        }
        None => targets,
    };
    Ok(vec![Fact::typed(labels.dtype(), [rows]), Fact::typed(DType::F32, [rows, width])])
}

/// Shape of `SVMRegressor`: a score for each row.
pub fn svm_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    let machine = Regressor::of(&cx.attributes)?;
    let (rows, features) = samples(cx)?;
    if let Some(features) = known(features) {
        machine.check(features)?;
    }
    Ok(vec![Fact::typed(DType::F32, [rows, Dim::ONE])])
}

/// Shapes of `SVMClassifier`: a label for each row, and scores or probabilities.
pub fn svm_classifier(cx: &mut InferContext<'_, '_>) -> InferResult {
    let machine = Classifier::of(&cx.attributes)?;
    let (rows, features) = samples(cx)?;
    if let Some(features) = known(features) {
        machine.check(features)?;
    }
    let width = Dim::from(machine.width());
    Ok(vec![Fact::typed(machine.labels.dtype(), [rows]), Fact::typed(DType::F32, [rows, width])])
}

/// The scores of trees, and of classes their labels before.
fn trees(cx: &mut InferContext<'_, '_>, ensemble: &Ensemble, dtype: Option<DType>) -> InferResult {
    let (rows, features) = samples(cx)?;
    if let Some(features) = known(features) {
        ensemble.check_features(features)?;
    }
    Ok(vec![Fact::tensor(dtype, [rows, Dim::Known(i64_of(ensemble.targets))])])
}

/// Shape of `TreeEnsembleRegressor`: rows by targets.
pub fn tree_regressor(cx: &mut InferContext<'_, '_>) -> InferResult {
    let ensemble = Ensemble::regressor(&cx.attributes)?;
    trees(cx, &ensemble, Some(DType::F32))
}

/// Shape of `TreeEnsemble`: rows by targets, in the type of the input.
pub fn tree_ensemble(cx: &mut InferContext<'_, '_>) -> InferResult {
    let ensemble = Ensemble::newest(&cx.attributes)?;
    let dtype = cx.dtype(0);
    trees(cx, &ensemble, dtype)
}

/// Shapes of `TreeEnsembleClassifier`: a label for each row, and scores of all classes.
pub fn tree_classifier(cx: &mut InferContext<'_, '_>) -> InferResult {
    let ensemble = Ensemble::classifier(&cx.attributes)?;
    let labels = Labels::of(&cx.attributes, "classlabels_int64s")?.dtype();
    let (rows, _) = samples(cx)?;
    let mut facts = vec![Fact::typed(labels, [rows])];
    facts.extend(trees(cx, &ensemble, Some(DType::F32))?);
    Ok(facts)
}

/// Shape of `Imputer`: the input's.
pub fn imputer(cx: &mut InferContext<'_, '_>) -> InferResult {
    if let Some(dtype) = cx.dtype(0) {
        let imputed = Imputed::of(&cx.attributes, dtype.is_integer())?;
        if let Some(features) = last(cx)? {
            one_or_each("imputed_value_*", imputed.len(), features)?;
        }
    }
    Ok(vec![Fact::tensor(cx.dtype(0), cx.dims(0)?)])
}

/// Shape of `Scaler`: the input's, of float32.
pub fn scaler(cx: &mut InferContext<'_, '_>) -> InferResult {
    let features = cx.dims(0)?.last().copied().unwrap_or(Dim::ONE);
    for name in ["offset", "scale"] {
        let len = cx.attributes.floats(name)?.map_or(1, <[f32]>::len);
        if let Some(features) = known(features) {
            one_or_each(name, len, features)?;
        } else if len != 1 {
            cx.require(features, Relation::Equal, Dim::from(len));
        }
    }
    Ok(vec![Fact::typed(DType::F32, cx.dims(0)?)])
}

/// Shape of `Normalizer`: the input's, of float32.
pub fn normalizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    norm_of(&cx.attributes)?;
    Ok(vec![Fact::typed(DType::F32, cx.dims(0)?)])
}

/// The types of the keys and values of a map that is an input.
fn map_types(cx: &InferContext<'_, '_>) -> Result<(Option<DType>, Option<DType>), InferError> {
    let fact = cx.fact(0);
    match fact {
        Fact::Map(key, of) => Ok((*key, *of)),
        Fact::Unknown => Ok((None, None)),
        _ => Err(errors::value("type of input 0", fact.value_type(), "a map").into()),
    }
}

/// Shape of `CastMap`: one row, with an element for each key.
pub fn cast_map(cx: &mut InferContext<'_, '_>) -> InferResult {
    let cast = MapCast::of(&cx.attributes)?;
    map_types(cx)?;
    let width = match cast.sparse {
        Some(most) => Dim::from(most),
        None => cx.data("number of keys of the map", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(cast.to, [Dim::ONE, width])])
}

/// Shape of `DictVectorizer`: one row, with an element for each key of the vocabulary.
pub fn dict_vectorizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (key, dtype) = map_types(cx)?;
    let width = match key {
        Some(key) => Dim::from(vocabulary(&cx.attributes, key)?.len()),
        None => cx.data("number of keys of the vocabulary", Bounds::SIZE),
    };
    Ok(vec![Fact::tensor(dtype, [Dim::ONE, width])])
}

/// Shape of `FeatureVectorizer`: rows by the sum of the widths.
pub fn feature_vectorizer(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(widths) = cx.attributes.ints("inputdimensions")? else {
        return Err(errors::missing("attribute \"inputdimensions\"").into());
    };
    if widths.len() != cx.count() {
        return Err(
            errors::count("elements of attribute \"inputdimensions\"", widths.len(), cx.count()).into()
        );
    }
    let mut width = 0i64;
    for &own in widths {
        if own < 0 {
            return Err(errors::value("attribute \"inputdimensions\"", own, "at least 0").into());
        }
        width = width.saturating_add(own);
    }
    // A vector is a row.
    let rows = |dims: &[Dim], label: InputLabel| match *dims {
        [_] => Ok(Dim::ONE),
        [rows, _] => Ok(rows),
        _ => Err(errors::rank(label, dims.len(), "1 or 2")),
    };
    let first = rows(&cx.dims(0)?, cx.input_label(0))?;
    for input in 1..cx.count() {
        let own = rows(&cx.dims(input)?, cx.input_label(input))?;
        cx.equal(own, first, "number of samples")?;
    }
    Ok(vec![Fact::typed(DType::F32, [first, Dim::Known(width)])])
}

/// Shape of `OneHotEncoder`: the input's, with an axis of the categories.
pub fn one_hot_encoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let named = ["cats_int64s", "cats_strings"].iter().find_map(|name| count(cx, name));
    let kinds = match cx.dtype(0) {
        Some(dtype) => categories(&cx.attributes, dtype)?.len(),
        None => named.unwrap_or(0),
    };
    let all: Vec<_> = dims.iter().copied().chain([Dim::from(kinds)]).collect();
    Ok(vec![Fact::typed(DType::F32, all)])
}

/// Fact of `ZipMap`: a sequence of a map for each row.
pub fn zip_map(cx: &mut InferContext<'_, '_>) -> InferResult {
    let labels = class_labels(&cx.attributes)?;
    let (rows, classes) = samples(cx)?;
    if let Some(classes) = known(classes).filter(|&classes| classes != labels.len()) {
        return Err(errors::count("class labels", labels.len(), classes).into());
    }
    cx.require(classes, Relation::Equal, Dim::from(labels.len()));
    let each = Fact::Map(Some(labels.dtype()), Some(DType::F32));
    Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each, len: rows, items: None }))])
}
