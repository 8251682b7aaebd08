//! The operators of `ai.onnx.ml`.

use crate::ml::trees::Ensemble;
use crate::ml::{encode, features, infer, linear, lowered, maps, svm, svm_lowered, trees, trees_lowered};
use crate::rounding::Rounding::{Exact, Formula, Moved, Order};
use crate::row::{Row, ml};
use crate::work::{Each, Work};

pub(super) const ML: &[Row] = &[
    ml("ArrayFeatureExtractor", Moved)
        .infer(infer::extract)
        .computes(features::extract)
        .lower(lowered::extract),
    ml("Binarizer", Exact)
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::binarizer)
        .computes(features::binarizer)
        .lower(lowered::binarizer),
    ml("CastMap", Moved).works(Work::None).infer(infer::cast_map).computes(maps::cast),
    ml("CategoryMapper", Moved)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::encode),
    ml("DictVectorizer", Moved)
        .learned()
        .works(Work::None)
        .infer(infer::dict_vectorizer)
        .computes(maps::vectorize),
    ml("FeatureVectorizer", Moved)
        .works(Work::None)
        .infer(infer::feature_vectorizer)
        .computes(features::vectorizer),
    ml("Imputer", Exact)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::imputer)
        .computes(features::imputer)
        .lower(lowered::imputer),
    ml("LabelEncoder", Moved)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::encoder)
        .computes(encode::encode)
        .lower(lowered::encode),
    ml("LinearClassifier", Formula)
        .learned()
        .works(Work::Linear)
        .infer(infer::linear_classifier)
        .computes(linear::classify)
        .lower(lowered::linear_classifier),
    ml("LinearRegressor", Order)
        .learned()
        .works(Work::Linear)
        .infer(infer::linear_regressor)
        .computes(linear::regress)
        .lower(lowered::linear_regressor),
    ml("Normalizer", Order)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(infer::normalizer)
        .computes(features::normalizer)
        .lower(lowered::normalizer),
    ml("OneHotEncoder", Exact)
        .learned()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(infer::one_hot_encoder)
        .computes(encode::one_hot)
        .lower(lowered::one_hot),
    ml("SVMClassifier", Formula)
        .learned()
        .works(Work::SupportVectors)
        .infer(infer::svm_classifier)
        .computes(svm::classify)
        .lower(svm_lowered::classifier),
    ml("SVMRegressor", Formula)
        .learned()
        .works(Work::SupportVectors)
        .infer(infer::svm_regressor)
        .computes(svm::regress)
        .lower(svm_lowered::regressor),
    ml("Scaler", Formula)
        .learned()
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(infer::scaler)
        .computes(features::scaler)
        .lower(lowered::scaler),
    ml("TreeEnsemble", Order)
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::newest(of)?.operations())))
        .infer(infer::tree_ensemble)
        .build(trees::build)
        .lower(trees_lowered::ensemble),
    ml("TreeEnsembleClassifier", Order)
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::classifier(of)?.operations())))
        .infer(infer::tree_classifier)
        .build(trees::build)
        .lower(trees_lowered::classifier),
    ml("TreeEnsembleRegressor", Order)
        .learned()
        .works(Work::Trees(|of| Ok(Ensemble::regressor(of)?.operations())))
        .infer(infer::tree_regressor)
        .build(trees::build)
        .lower(trees_lowered::regressor),
    ml("ZipMap", Moved).works(Work::None).infer(infer::zip_map).computes(maps::zip).converts(
        "Reshape",
        "maps are rows",
        maps::zip_to_openvino,
    ),
];
