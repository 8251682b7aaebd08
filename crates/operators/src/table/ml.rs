//! The operators of `ai.onnx.ml`.

use crate::allowed::Allowed;
use crate::elementwise;
#[cfg(feature = "convert")]
use crate::ml::to_openvino;
use crate::ml::trees::ensemble;
use crate::ml::trees::ensemble::Ensemble;
use crate::ml::{encode, features, infer, linear, maps, svm, trees};
use crate::rounding::Rounding::{Exact, Formula, Moved, Order};
use crate::row::{Row, ml};
use crate::words;
use crate::work::{Each, Work};

pub(super) const ML: &[Row] = rows![
    ml("ArrayFeatureExtractor", Moved)
        .infer(infer::extract)
        .computes(features::eval::extract)
        .lower(features::lowered::extract),
    ml("Binarizer", Exact)
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::alike)
        .computes(features::eval::binarizer)
        .lower(features::lowered::binarizer),
    ml("CastMap", Moved)
        .words(&[words::CAST_TO, words::MAP_FORM])
        .works(Work::None)
        .infer(infer::cast_map)
        .computes(maps::cast),
    ml("CategoryMapper", Moved)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::eval::encode),
    ml("DictVectorizer", Moved)
        .learned()
        .works(Work::None)
        .infer(infer::dict_vectorizer)
        .computes(maps::vectorize),
    ml("FeatureVectorizer", Moved)
        .works(Work::None)
        .infer(infer::feature_vectorizer)
        .computes(features::eval::vectorizer),
    ml("Imputer", Exact)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::imputer)
        .computes(features::eval::imputer)
        .lower(features::lowered::imputer),
    ml("LabelEncoder", Moved)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::eval::encode)
        .lower(encode::lowered::encode),
    ml("LinearClassifier", Formula)
        .words(&[words::POST_TRANSFORM])
        .learned()
        .works(Work::Linear)
        .infer(infer::linear_classifier)
        .computes(linear::eval::classify)
        .lower(linear::lowered::linear_classifier),
    ml("LinearRegressor", Order)
        .allows(Allowed::Unknown)
        .words(&[words::POST_TRANSFORM])
        .learned()
        .works(Work::Linear)
        .infer(infer::linear_regressor)
        .computes(linear::eval::regress)
        .lower(linear::lowered::linear_regressor),
    ml("Normalizer", Order)
        .allows(Allowed::Unknown)
        .words(&[words::NORM])
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(infer::normalizer)
        .computes(features::eval::normalizer)
        .lower(features::lowered::normalizer),
    ml("OneHotEncoder", Exact)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::one_hot_encoder)
        .computes(encode::eval::one_hot)
        .lower(encode::lowered::one_hot),
    ml("SVMClassifier", Formula)
        .words(&[words::KERNEL, words::POST_TRANSFORM])
        .learned()
        .works(Work::SupportVectors)
        .infer(infer::svm_classifier)
        .computes(svm::eval::classify)
        .lower(svm::lowered::classifier),
    ml("SVMRegressor", Formula)
        .words(&[words::KERNEL, words::POST_TRANSFORM])
        .learned()
        .works(Work::SupportVectors)
        .infer(infer::svm_regressor)
        .computes(svm::eval::regress)
        .lower(svm::lowered::regressor),
    ml("Scaler", Formula)
        .learned()
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(infer::scaler)
        .computes(features::eval::scaler)
        .lower(features::lowered::scaler),
    ml("TreeEnsemble", Order)
        .allows(Allowed::Unknown)
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::newest(of)?.operations())))
        .infer(infer::tree_ensemble)
        .build(ensemble::build)
        .lower(trees::lowered::ensemble),
    ml("TreeEnsembleClassifier", Order)
        .allows(Allowed::Unknown)
        .words(&[words::POST_TRANSFORM, words::TREE_MODES])
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::classifier(of)?.operations())))
        .infer(infer::tree_classifier)
        .build(ensemble::build)
        .lower(trees::lowered::classifier),
    ml("TreeEnsembleRegressor", Order)
        .allows(Allowed::Unknown)
        .words(&[words::AGGREGATE, words::POST_TRANSFORM, words::TREE_MODES])
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::regressor(of)?.operations())))
        .infer(infer::tree_regressor)
        .build(ensemble::build)
        .lower(trees::lowered::regressor),
    ml("ZipMap", Moved).works(Work::None).infer(infer::zip_map).computes(maps::zip).converts(
        "Reshape",
        "maps are rows",
        to_openvino::zip_map,
    ),
];
