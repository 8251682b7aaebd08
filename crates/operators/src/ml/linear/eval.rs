//! `LinearRegressor` and `LinearClassifier`.

use gradus_core::convert::usize_of_i64;
use gradus_core::{Result, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::ml::samples::{SampleRows, features};
use crate::ml::scores::{Labels, PostTransform, largest};
use crate::op::EvalContext;

/// A row of coefficients and an intercept for each target.
#[derive(Debug)]
pub struct Linear<'a> {
    pub coefficients: &'a [f32],
    pub intercepts: &'a [f32],
    /// The number of targets, if an attribute says it.
    pub targets: Option<usize>,
    pub(super) transform: PostTransform,
}

impl<'a> Linear<'a> {
    /// The attributes of a `LinearRegressor`.
    pub fn regressor(attributes: &Attributes<'a>) -> Result<Linear<'a>> {
        let targets = errors::at_least_1("targets", attributes.int_or("targets", 1)?)?;
        Ok(Linear { targets: usize_of_i64(targets), ..Linear::classifier(attributes)? })
    }

    /// The attributes of a `LinearClassifier`, whose number of targets they do not say.
    pub fn classifier(attributes: &Attributes<'a>) -> Result<Linear<'a>> {
        Ok(Linear {
            coefficients: required("coefficients", attributes.floats("coefficients")?)?,
            intercepts: attributes.floats("intercepts")?.unwrap_or(&[]),
            targets: None,
            transform: PostTransform::of(attributes)?,
        })
    }

    /// The number of targets, if samples have `features` features.
    pub fn targets_of(&self, features: usize) -> Result<usize> {
        let targets = self.targets.or(self.coefficients.len().checked_div(features)).unwrap_or(0);
        if targets.checked_mul(features) != Some(self.coefficients.len()) {
            let wanted = format_args!("{features} for each target");
            return Err(errors::count("coefficients", self.coefficients.len(), wanted));
        }
        if !self.intercepts.is_empty() && self.intercepts.len() != targets {
            return Err(errors::count("intercepts", self.intercepts.len(), targets));
        }
        Ok(targets)
    }

    fn scores(&self, sample: &[f64], targets: usize) -> Vec<f64> {
        let row = |target| &self.coefficients[target * sample.len()..][..sample.len()];
        let dot = |target| row(target).iter().zip(sample).map(|(&c, x)| f64::from(c) * x).sum::<f64>();
        let intercept = |target| self.intercepts.get(target).map_or(0.0, |&x| f64::from(x));
        (0..targets).map(|target| dot(target) + intercept(target)).collect()
    }
}

/// `LinearRegressor`: linear scores of each sample, transformed.
pub fn regress(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let linear = Linear::regressor(attributes)?;
    let targets = linear.targets_of(features(cx)?)?;
    let mut all = Vec::new();
    for sample in SampleRows::of(cx, targets)?.iter() {
        let mut scores = linear.scores(sample, targets);
        linear.transform.apply(&mut scores);
        all.extend(scores);
    }
    Ok(vec![cx.rounded(0, &all)?])
}

/// `LinearClassifier`: the label of the largest score of each sample, and all scores.
pub fn classify(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let linear = Linear::classifier(attributes)?;
    let labels = Labels::of(attributes, "classlabels_ints")?;
    let targets = linear.targets_of(features(cx)?)?;
    let (mut all, mut classes) = (Vec::new(), Vec::new());
    for sample in SampleRows::of(cx, targets)?.iter() {
        let mut scores = linear.scores(sample, targets);
        if targets == 1 {
            classes.push(usize::from(scores[0] > 0.0));
        } else {
            classes.push(largest(&scores));
        }
        if targets == 1 && labels.len() == 2 {
            scores.insert(0, -scores[0]);
        }
        linear.transform.apply(&mut scores);
        all.extend(scores);
    }
    Ok(vec![labels.tensor(&classes)?.into(), cx.rounded(1, &all)?])
}
