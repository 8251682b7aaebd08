//! Scores of classes: what becomes of them, and the labels that they choose.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::Attributes;
use crate::errors;

/// The transformation of the scores of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostTransform {
    None,
    Softmax,
    Logistic,
    SoftmaxZero,
    Probit,
}

use crate::words;
use PostTransform::{Logistic, None as Same, Probit, Softmax, SoftmaxZero};

impl PostTransform {
    /// The function of the attribute `post_transform`.
    pub fn of(attributes: &Attributes<'_>) -> Result<PostTransform> {
        match words::POST_TRANSFORM.of(attributes)? {
            "NONE" => Ok(Same),
            "SOFTMAX" => Ok(Softmax),
            "LOGISTIC" => Ok(Logistic),
            "SOFTMAX_ZERO" => Ok(SoftmaxZero),
            _ => Ok(Probit),
        }
    }

    /// The transform of that number in `TreeEnsemble`.
    pub fn numbered(number: i64) -> Result<PostTransform> {
        let all = [Same, Softmax, Logistic, SoftmaxZero, Probit];
        let known = usize::try_from(number).ok().and_then(|number| all.get(number));
        known.copied().ok_or_else(|| errors::value("attribute \"post_transform\"", number, "from 0 to 4"))
    }

    /// Replaces the scores of a sample by their transformed values.
    pub fn apply(self, scores: &mut [f64]) {
        match self {
            Same => {}
            Logistic => scores.iter_mut().for_each(|x| *x = logistic(*x)),
            Probit => scores.iter_mut().for_each(|x| *x = probit(*x)),
            Softmax | SoftmaxZero => {
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for x in &mut *scores {
                    // Scores of zero stay zero.
                    let zero = self == SoftmaxZero && x.abs() <= 1e-7;
                    *x = if zero { *x * libm::exp(-largest) } else { libm::exp(*x - largest) };
                }
                let sum: f64 = scores.iter().sum();
                for x in scores {
                    *x = if sum == 0.0 { 0.5 } else { *x / sum };
                }
            }
        }
    }
}

/// The logistic function.
pub fn logistic(x: f64) -> f64 {
    let of_magnitude = 1.0 / (1.0 + libm::exp(-x.abs()));
    if x < 0.0 { 1.0 - of_magnitude } else { of_magnitude }
}

/// The inverse of the normal distribution's cumulative function, by Halley's method.
fn probit(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Winitzki's approximation is the start.
    let y = 2.0 * p - 1.0;
    let log = libm::log((1.0 - y) * (1.0 + y));
    let v = 2.0 / (std::f64::consts::PI * 0.147) + 0.5 * log;
    let mut x = (((v * v - log / 0.147).sqrt() - v).max(0.0)).sqrt().copysign(y) * std::f64::consts::SQRT_2;
    for _ in 0..4 {
        let error = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) - p;
        let step = error * (2.0 * std::f64::consts::PI).sqrt() * libm::exp(x * x / 2.0);
        x -= step / (1.0 + x * step / 2.0);
    }
    x
}

/// The index of the first of the largest scores.
pub fn largest(scores: &[f64]) -> usize {
    let mut best = 0;
    for (index, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = index;
        }
    }
    best
}

/// The labels of classes.
#[derive(Debug)]
pub enum Labels<'a> {
    Integers(&'a [i64]),
    Texts(Vec<&'a str>),
}

impl<'a> Labels<'a> {
    /// The labels of attributes: of texts, and of integers by this name.
    pub fn of(attributes: &Attributes<'a>, integers: &str) -> Result<Labels<'a>> {
        let texts = attributes.texts("classlabels_strings")?.filter(|texts| !texts.is_empty());
        Ok(match texts {
            Some(texts) => Labels::Texts(texts),
            None => Labels::Integers(attributes.ints(integers)?.unwrap_or(&[])),
        })
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        match self {
            Labels::Integers(all) => all.len(),
            Labels::Texts(all) => all.len(),
        }
    }

    /// The element type of the labels.
    pub fn dtype(&self) -> DType {
        match self {
            Labels::Integers(_) => DType::I64,
            Labels::Texts(_) => DType::String,
        }
    }

    /// The labels of classes by number. Without labels, or with one for the second of two classes,
    /// numbers stand for themselves.
    pub fn tensor(&self, classes: &[usize]) -> Result<Tensor> {
        let shape = Shape::vector(classes.len());
        match self {
            Labels::Integers(all) => {
                let label = |&class: &usize| match (all, class) {
                    ([only], 1) => *only,
                    ([_], _) => 0,
                    _ => all.get(class).copied().unwrap_or(i64_of(class)),
                };
                Tensor::from_vec(shape, classes.iter().map(label).collect())
            }
            Labels::Texts(all) => {
                let label = |&class: &usize| match (&all[..], class) {
                    ([only], 1) => *only,
                    ([_], _) => "",
                    _ => all.get(class).copied().unwrap_or_default(),
                };
                Tensor::from_text(shape, classes.iter().map(|class| label(class).into()).collect())
            }
        }
    }
}
