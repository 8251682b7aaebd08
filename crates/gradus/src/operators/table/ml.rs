//! The operators of `ai.onnx.ml`.

use super::super::contrib;
use super::super::row::{Row, ml};

pub(super) const ML: &[Row] = &[
    ml("ArrayFeatureExtractor").infer(contrib::ml::extract),
    ml("Binarizer").infer(contrib::ml::binarizer),
    ml("CastMap").infer(contrib::ml::cast_map),
    ml("CategoryMapper").infer(contrib::ml::category_mapper),
    ml("DictVectorizer").infer(contrib::ml::cast_map),
    ml("FeatureVectorizer").infer(contrib::ml::feature_vectorizer),
    ml("Imputer").infer(contrib::ml::binarizer),
    ml("LabelEncoder").infer(contrib::ml::label_encoder),
    ml("LinearClassifier").infer(contrib::ml::classifier),
    ml("LinearRegressor").infer(contrib::ml::linear_regressor),
    ml("Normalizer").infer(contrib::ml::normalizer),
    ml("OneHotEncoder").infer(contrib::ml::one_hot_encoder),
    ml("SVMClassifier").infer(contrib::ml::classifier),
    ml("SVMRegressor").infer(contrib::ml::svm_regressor),
    ml("Scaler").infer(contrib::ml::normalizer),
    ml("TreeEnsemble").infer(contrib::ml::tree_ensemble_regressor),
    ml("TreeEnsembleClassifier").infer(contrib::ml::classifier),
    ml("TreeEnsembleRegressor").infer(contrib::ml::tree_ensemble_regressor),
    ml("ZipMap").infer(contrib::ml::zip_map),
];
