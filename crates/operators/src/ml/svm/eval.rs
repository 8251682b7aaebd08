//! Support vector machines: `SVMRegressor` and `SVMClassifier`, as libsvm computes them.

use gradus_core::convert::{float_of, product, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::ml::samples::{SampleRows, features};
use crate::ml::scores::{Labels, PostTransform, largest, logistic};
use crate::op::EvalContext;
use crate::words;

#[derive(Clone, Copy, Debug)]
pub(super) enum SvmKernel {
    Linear,
    Poly,
    Rbf,
    Sigmoid,
}

/// The attributes of a machine. Without support vectors, coefficients are those of features.
#[derive(Debug)]
pub struct Machine<'a> {
    pub(super) kernel: SvmKernel,
    pub(super) gamma: f64,
    pub(super) offset: f64,
    pub(super) degree: f64,
    pub(super) vectors: &'a [f32],
    pub(super) coefficients: &'a [f32],
    pub(super) rho: &'a [f32],
    /// The number of support vectors.
    pub(super) supports: usize,
    pub(super) transform: PostTransform,
}

impl<'a> Machine<'a> {
    fn of(attributes: &Attributes<'a>, supports: usize) -> Result<Machine<'a>> {
        let kernel = match words::KERNEL.of(attributes)? {
            _ if supports == 0 => SvmKernel::Linear,
            "LINEAR" => SvmKernel::Linear,
            "POLY" => SvmKernel::Poly,
            "RBF" => SvmKernel::Rbf,
            _ => SvmKernel::Sigmoid,
        };
        let params = match attributes.floats("kernel_params")?.unwrap_or(&[]) {
            [] => [0.0; 3],
            &[gamma, offset, degree] => [gamma, offset, degree],
            other => return Err(errors::count("elements of attribute \"kernel_params\"", other.len(), 3)),
        };
        Ok(Machine {
            kernel,
            gamma: params[0].into(),
            offset: params[1].into(),
            degree: f64::from(params[2]).trunc(),
            vectors: attributes.floats("support_vectors")?.unwrap_or(&[]),
            coefficients: required("coefficients", attributes.floats("coefficients")?)?,
            rho: required("rho", attributes.floats("rho")?)?,
            supports,
            transform: PostTransform::of(attributes)?,
        })
    }

    /// Checks the numbers of coefficients and offsets for samples of `features` features.
    fn check(&self, features: usize, coefficients: usize, rho: usize) -> Result<()> {
        let vectors = self.supports.saturating_mul(features);
        let counts = [
            ("support_vectors", if self.supports > 0 { self.vectors.len() } else { vectors }, vectors),
            ("coefficients", self.coefficients.len(), coefficients),
            ("rho", self.rho.len().min(rho), rho),
        ];
        match counts.into_iter().find(|(_, got, wanted)| got != wanted) {
            Some((name, got, wanted)) => {
                Err(errors::count(&format!("elements of attribute \"{name}\""), got, wanted))
            }
            None => Ok(()),
        }
    }

    /// Returns true if all samples are of the second of two classes: as in ONNX Runtime, if no
    /// coefficient is below zero.
    pub(super) fn all_second(&self) -> bool {
        self.coefficients.iter().all(|&c| c >= 0.0)
    }

    fn kernel(&self, sample: &[f64], vector: &[f32]) -> f64 {
        let pairs = || sample.iter().zip(vector).map(|(&x, &v)| (x, f64::from(v)));
        let dot = || pairs().map(|(x, v)| x * v).sum::<f64>();
        match self.kernel {
            SvmKernel::Linear => dot(),
            SvmKernel::Poly => libm::pow(self.gamma * dot() + self.offset, self.degree),
            SvmKernel::Sigmoid => libm::tanh(self.gamma * dot() + self.offset),
            SvmKernel::Rbf => libm::exp(-self.gamma * pairs().map(|(x, v)| (x - v) * (x - v)).sum::<f64>()),
        }
    }

    /// The kernel of a sample and each support vector.
    fn kernels(&self, sample: &[f64]) -> Vec<f64> {
        let vectors = self.vectors.chunks(sample.len().max(1));
        vectors.take(self.supports).map(|vector| self.kernel(sample, vector)).collect()
    }
}

fn coefficient(list: &[f32], index: usize) -> f64 {
    list[index].into()
}

/// The machine of a regressor.
#[derive(Debug)]
pub struct Regressor<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) one_class: bool,
}

impl<'a> Regressor<'a> {
    /// The attributes of an `SVMRegressor`.
    pub fn of(attributes: &Attributes<'a>) -> Result<Regressor<'a>> {
        let supports = attributes.int_or("n_supports", 0)?;
        let supports = usize_of_i64(supports)
            .ok_or_else(|| errors::value("attribute \"n_supports\"", supports, "at least 0"))?;
        let one_class = attributes.flag("one_class", false)?;
        Ok(Regressor { machine: Machine::of(attributes, supports)?, one_class })
    }

    /// Checks that the attributes have as many numbers as the features take.
    pub fn check(&self, features: usize) -> Result<()> {
        let supports = self.machine.supports;
        self.machine.check(features, if supports > 0 { supports } else { features }, 1)
    }
}

/// `SVMRegressor`: a sum of kernels with support vectors, or a linear score.
pub fn regress(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let Regressor { machine, one_class } = Regressor::of(attributes)?;
    let features = features(cx)?;
    let mut all = Vec::new();
    for sample in SampleRows::of(cx, 1)?.iter() {
        cx.run.touch(product(machine.supports, features))?;
        let sum = if machine.supports > 0 {
            let kernels = machine.kernels(sample);
            kernels.iter().zip(machine.coefficients).map(|(k, &c)| k * f64::from(c)).sum::<f64>()
        } else {
            machine.kernel(sample, machine.coefficients)
        };
        let score = sum + coefficient(machine.rho, 0);
        let mut score = [if one_class { if score > 0.0 { 1.0 } else { -1.0 } } else { score }];
        machine.transform.apply(&mut score);
        all.extend(score);
    }
    Ok(vec![cx.rounded(0, &all)?])
}

/// The smallest distance of probabilities of pairs from 0 and 1, as in libsvm.
pub(super) const NEAREST: f64 = 1e-7;

/// The machines of a classifier: one for each pair of classes, or one of features for each class.
#[derive(Debug)]
pub struct Classifier<'a> {
    pub(super) machine: Machine<'a>,
    pub labels: Labels<'a>,
    /// The number of support vectors of each class.
    pub(super) of_class: Vec<usize>,
    /// The parameters of the probabilities of each pair.
    pub(super) probabilities: Option<(&'a [f32], &'a [f32])>,
    pub(super) classes: usize,
}

impl<'a> Classifier<'a> {
    /// The attributes of an `SVMClassifier`.
    pub fn of(attributes: &Attributes<'a>) -> Result<Classifier<'a>> {
        let labels = Labels::of(attributes, "classlabels_ints")?;
        let classes = labels.len().max(1);
        let given = attributes.ints("vectors_per_class")?.unwrap_or(&[]);
        let wrong = |count| errors::value("attribute \"vectors_per_class\"", count, "at least 0");
        let of_class = given.iter().map(|&count| usize_of_i64(count).ok_or_else(|| wrong(count)));
        let of_class = of_class.collect::<Result<Vec<_>>>()?;
        let supports = of_class.iter().fold(0, |sum: usize, count| sum.saturating_add(*count));
        if supports > 0 && (of_class.len() != classes || classes < 2) {
            let wanted = format_args!("{classes}, the number of labels, and at least 2");
            return Err(errors::count("elements of attribute \"vectors_per_class\"", of_class.len(), wanted));
        }
        let a = attributes.floats("prob_a")?.filter(|a| !a.is_empty() && supports > 0);
        let b = attributes.floats("prob_b")?.unwrap_or(&[]);
        let pairs = classes * (classes - 1) / 2;
        if let Some(a) = a
            && (a.len() != pairs || b.len() != pairs)
        {
            let got = format_args!("{} and {}", a.len(), b.len());
            return Err(errors::count("elements of attributes \"prob_a\" and \"prob_b\"", got, pairs));
        }
        let machine = Machine::of(attributes, supports)?;
        Ok(Classifier { machine, labels, of_class, probabilities: a.map(|a| (a, b)), classes })
    }

    fn pairs(&self) -> usize {
        self.classes * (self.classes - 1) / 2
    }

    /// The number of scores of a sample.
    pub fn width(&self) -> usize {
        let scores = self.machine.supports > 0 && self.probabilities.is_none() && self.classes > 2;
        if scores { self.pairs() } else { self.classes }
    }

    /// Checks that the attributes have as many numbers as the features and classes take.
    pub fn check(&self, features: usize) -> Result<()> {
        let supports = self.machine.supports;
        let (coefficients, rho) = if supports > 0 {
            (supports.saturating_mul(self.classes - 1), self.pairs())
        } else {
            (features.saturating_mul(self.classes), 1)
        };
        self.machine.check(features, coefficients, rho)
    }

    /// Votes for classes, and the score of each pair.
    fn votes(&self, sample: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let kernels = self.machine.kernels(sample);
        let supports = self.machine.supports;
        let starts: Vec<_> = self
            .of_class
            .iter()
            .scan(0, |start, count| {
                let own = *start;
                *start += count;
                Some(own)
            })
            .collect();
        let sum = |row: usize, class: usize| {
            let own = starts[class]..starts[class] + self.of_class[class];
            own.map(|at| coefficient(self.machine.coefficients, row * supports + at) * kernels[at])
                .sum::<f64>()
        };
        let (mut votes, mut scores) = (vec![0.0; self.classes], Vec::new());
        for i in 0..self.classes {
            for j in i + 1..self.classes {
                let score = coefficient(self.machine.rho, scores.len()) + sum(j - 1, i) + sum(i, j);
                votes[if score > 0.0 { i } else { j }] += 1.0;
                scores.push(score);
            }
        }
        (votes, scores)
    }
}

/// The probabilities of classes from those of pairs, as libsvm finds them by iteration.
fn coupled(pairs: &[Vec<f64>]) -> Vec<f64> {
    let k = pairs.len();
    let mut q = vec![vec![0.0; k]; k];
    for t in 0..k {
        for j in (0..k).filter(|&j| j != t) {
            q[t][t] += pairs[j][t] * pairs[j][t];
            q[t][j] = -pairs[j][t] * pairs[t][j];
        }
    }
    let mut p = vec![1.0 / float_of(k); k];
    for _ in 0..k.max(100) {
        let mut qp: Vec<f64> = q.iter().map(|row| row.iter().zip(&p).map(|(q, p)| q * p).sum()).collect();
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, qp)| p * qp).sum();
        if qp.iter().all(|qp| (qp - pqp).abs() < 0.005 / float_of(k)) {
            break;
        }
        for t in 0..k {
            let step = (pqp - qp[t]) / q[t][t];
            p[t] += step;
            pqp = (pqp + step * (step * q[t][t] + 2.0 * qp[t])) / (1.0 + step) / (1.0 + step);
            for j in 0..k {
                qp[j] = (qp[j] + step * q[t][j]) / (1.0 + step);
                p[j] /= 1.0 + step;
            }
        }
    }
    p
}

/// `SVMClassifier`: the label that pairs of classes vote for, and scores or probabilities.
pub fn classify(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let classifier = Classifier::of(attributes)?;
    let (machine, classes, features) = (&classifier.machine, classifier.classes, features(cx)?);
    let (mut all, mut chosen) = (Vec::new(), Vec::new());
    let square = product(classes, 2 * classes * size_of::<f64>());
    cx.reserve(square)?;
    for sample in SampleRows::of(cx, classes)?.iter() {
        cx.run.touch(product(machine.supports.max(classes), features + classes))?;
        if machine.supports == 0 {
            let rows = machine.coefficients.chunks(features.max(1)).take(classes);
            let mut scores: Vec<_> =
                rows.map(|row| machine.kernel(sample, row) + coefficient(machine.rho, 0)).collect();
            scores.resize(classes, coefficient(machine.rho, 0));
            chosen.push(if classes == 1 { usize::from(scores[0] > 0.0) } else { largest(&scores) });
            machine.transform.apply(&mut scores);
            all.extend(scores);
            continue;
        }
        let (votes, mut scores) = classifier.votes(sample);
        let mut best = largest(&votes);
        if let Some((a, b)) = classifier.probabilities {
            let mut pairs = vec![vec![0.0; classes]; classes];
            let of_pairs = (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j)));
            for ((i, j), ((score, &a), &b)) in of_pairs.zip(scores.iter().zip(a).zip(b)) {
                let p = 1.0 - logistic(score * f64::from(a) + f64::from(b));
                pairs[i][j] = p.clamp(NEAREST, 1.0 - NEAREST);
                pairs[j][i] = 1.0 - pairs[i][j];
            }
            scores = coupled(&pairs);
        } else if classes == 2 {
            if machine.all_second() {
                best = 1;
            }
            scores = vec![-scores[0], scores[0]];
        }
        machine.transform.apply(&mut scores);
        chosen.push(best);
        all.extend(scores);
    }
    Ok(vec![classifier.labels.tensor(&chosen)?.into(), cx.rounded(1, &all)?])
}
