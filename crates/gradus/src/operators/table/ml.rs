//! The operators of `ai.onnx.ml`.

use super::super::ml::{
    encode, features, infer, linear, lowered, maps, svm, svm_lowered, trees, trees_lowered,
};
use super::super::row::{Row, ml};
use crate::cost::{Each, Work};

pub(super) const ML: &[Row] = &[
    ml("ArrayFeatureExtractor")
        .infer(infer::extract)
        .computes(features::extract)
        .lower(lowered::extract)
        .moves(),
    ml("Binarizer")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::binarizer)
        .computes(features::binarizer)
        .lower(lowered::binarizer),
    ml("CastMap").works(Work::None).infer(infer::cast_map).computes(maps::cast),
    ml("CategoryMapper")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::encode),
    ml("DictVectorizer").works(Work::None).infer(infer::dict_vectorizer).computes(maps::vectorize),
    ml("FeatureVectorizer").works(Work::None).infer(infer::feature_vectorizer).computes(features::vectorizer),
    ml("Imputer")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::imputer)
        .computes(features::imputer)
        .lower(lowered::imputer),
    ml("LabelEncoder")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::encode)
        .lower(lowered::encode),
    ml("LinearClassifier")
        .works(Work::Linear)
        .infer(infer::linear_classifier)
        .computes(linear::classify)
        .lower(lowered::linear_classifier),
    ml("LinearRegressor")
        .works(Work::Linear)
        .infer(infer::linear_regressor)
        .computes(linear::regress)
        .lower(lowered::linear_regressor),
    ml("Normalizer")
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(infer::normalizer)
        .computes(features::normalizer)
        .lower(lowered::normalizer),
    ml("OneHotEncoder")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::one_hot_encoder)
        .computes(encode::one_hot)
        .lower(lowered::one_hot),
    ml("SVMClassifier")
        .works(Work::SupportVectors)
        .infer(infer::svm_classifier)
        .computes(svm::classify)
        .lower(svm_lowered::classifier),
    ml("SVMRegressor")
        .works(Work::SupportVectors)
        .infer(infer::svm_regressor)
        .computes(svm::regress)
        .lower(svm_lowered::regressor),
    ml("Scaler")
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(infer::scaler)
        .computes(features::scaler)
        .lower(lowered::scaler),
    ml("TreeEnsemble")
        .works(Work::Trees)
        .infer(infer::tree_ensemble)
        .computes(trees::ensemble)
        .lower(trees_lowered::ensemble),
    ml("TreeEnsembleClassifier")
        .works(Work::Trees)
        .infer(infer::tree_classifier)
        .computes(trees::classify)
        .lower(trees_lowered::classifier),
    ml("TreeEnsembleRegressor")
        .works(Work::Trees)
        .infer(infer::tree_regressor)
        .computes(trees::regress)
        .lower(trees_lowered::regressor),
    ml("ZipMap").works(Work::None).infer(infer::zip_map).computes(maps::zip).converts(
        "Reshape",
        "maps are rows",
        maps::zip_to_openvino,
    ),
];
