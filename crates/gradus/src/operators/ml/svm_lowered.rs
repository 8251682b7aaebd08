//! Support vector machines as graphs of ONNX's operators: a matrix of kernels, of samples and
//! support vectors, times a matrix of coefficients.

use gradus_core::{DType, Result, Shape, Tensor};

use super::lowered::{class_of_one, floats64, labelled, matrix_of_samples, transformed};
use super::svm::{Classifier, Kernel, Machine, Regressor};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::operators::nn::decomposed::unsupported;

/// A matrix of float64, whose elements a function of row and column gives.
fn matrix(
    l: &mut Lowering<'_>,
    [rows, columns]: [usize; 2],
    element: impl Fn(usize, usize) -> f64,
) -> Result<LoweredValue> {
    let element = &element;
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| element(row, column))).collect();
    l.constant(Tensor::from_vec(Shape::new([rows, columns])?, all)?)
}

fn features(l: &Lowering<'_>) -> Result<usize> {
    let features = l.dims_of(0)?.last().copied().flatten();
    features.ok_or_else(|| not_known("number of features".to_owned()))
}

/// The kernels of each sample and support vector.
fn kernels(l: &mut Lowering<'_>, machine: &Machine<'_>, features: usize) -> Result<LoweredValue> {
    let x = matrix_of_samples(l)?;
    let x = if l.dtype_of(0)? == DType::F64 { x } else { l.cast(x, DType::F64)? };
    let vector = |support: usize, feature: usize| f64::from(machine.vectors[support * features + feature]);
    if let Kernel::Rbf = machine.kernel {
        let vectors = matrix(l, [machine.supports, features], vector)?;
        let (axis, last) = (l.list(&[1])?, l.list(&[2])?);
        let samples = l.apply("Unsqueeze", &[x, axis], &[])?;
        let apart = l.apply("Sub", &[samples, vectors], &[])?;
        let distance = l.apply("ReduceSumSquare", &[apart, last], &[int("keepdims", 0)])?;
        let gamma = floats64(l, &[-machine.gamma])?;
        let scaled = l.apply("Mul", &[distance, gamma], &[])?;
        return l.apply("Exp", &[scaled], &[]);
    }
    let vectors = matrix(l, [features, machine.supports], |feature, support| vector(support, feature))?;
    let dot = l.apply("MatMul", &[x, vectors], &[])?;
    if let Kernel::Linear = machine.kernel {
        return Ok(dot);
    }
    let (gamma, offset) = (floats64(l, &[machine.gamma])?, floats64(l, &[machine.offset])?);
    let scaled = l.apply("Mul", &[dot, gamma], &[])?;
    let moved = l.apply("Add", &[scaled, offset], &[])?;
    if let Kernel::Sigmoid = machine.kernel {
        return l.apply("Tanh", &[moved], &[]);
    }
    let degree = floats64(l, &[machine.degree])?;
    l.apply("Pow", &[moved, degree], &[])
}

/// Products of features and rows of coefficients, of machines without support vectors.
fn linear(l: &mut Lowering<'_>, machine: &Machine<'_>, rows: usize, features: usize) -> Result<LoweredValue> {
    let x = matrix_of_samples(l)?;
    let x = if l.dtype_of(0)? == DType::F64 { x } else { l.cast(x, DType::F64)? };
    let coefficient = |feature, row| f64::from(machine.coefficients[row * features + feature]);
    let coefficients = matrix(l, [features, rows], coefficient)?;
    l.apply("MatMul", &[x, coefficients], &[])
}

pub(crate) fn regressor(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let regressor = Regressor::of(&l.attributes)?;
    let features = features(l)?;
    regressor.check(features)?;
    let machine = &regressor.machine;
    let sum = if machine.supports > 0 {
        let kernels = kernels(l, machine, features)?;
        let coefficients =
            matrix(l, [machine.supports, 1], |support, _| machine.coefficients[support].into())?;
        l.apply("MatMul", &[kernels, coefficients], &[])?
    } else {
        linear(l, machine, 1, features)?
    };
    let rho = floats64(l, &[machine.rho[0].into()])?;
    let mut score = l.apply("Add", &[sum, rho], &[])?;
    if regressor.one_class {
        let [zero, inside, outside] = [0.0, 1.0, -1.0].map(|number| floats64(l, &[number]));
        let above = l.apply("Greater", &[score, zero?], &[])?;
        score = l.apply("Where", &[above, inside?, outside?], &[])?;
    }
    Ok(vec![transformed(l, score, machine.transform, DType::F32)?])
}

/// The scores of pairs of classes, and the votes for classes that follow from them.
fn votes(l: &mut Lowering<'_>, c: &Classifier<'_>, features: usize) -> Result<[LoweredValue; 2]> {
    let (machine, classes) = (&c.machine, c.classes);
    let kernels = kernels(l, machine, features)?;
    let class_of: Vec<_> =
        c.of_class.iter().enumerate().flat_map(|(class, &count)| std::iter::repeat_n(class, count)).collect();
    let pairs: Vec<_> = (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j))).collect();
    let coefficients = matrix(l, [machine.supports, pairs.len()], |support, pair| {
        let (i, j) = pairs[pair];
        let row = match class_of[support] {
            class if class == i => j - 1,
            class if class == j => i,
            _ => return 0.0,
        };
        machine.coefficients[row * machine.supports + support].into()
    })?;
    let sums = l.apply("MatMul", &[kernels, coefficients], &[])?;
    let rho: Vec<_> = machine.rho[..pairs.len()].iter().copied().map(f64::from).collect();
    let (rho, zero) = (floats64(l, &rho)?, floats64(l, &[0.0])?);
    let scores = l.apply("Add", &[sums, rho], &[])?;
    // A score above zero is a vote for the first of the pair, others are for the second.
    let above = l.apply("Greater", &[scores, zero], &[])?;
    let above = l.cast(above, DType::F64)?;
    let moves = matrix(l, [pairs.len(), classes], |pair, class| match pairs[pair] {
        (i, _) if i == class => 1.0,
        (_, j) if j == class => -1.0,
        _ => 0.0,
    })?;
    let moved = l.apply("MatMul", &[above, moves], &[])?;
    let mut second = vec![0.0; classes];
    for &(_, j) in &pairs {
        second[j] += 1.0;
    }
    let second = floats64(l, &second)?;
    Ok([scores, l.apply("Add", &[moved, second], &[])?])
}

pub(crate) fn classifier(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let classifier = Classifier::of(&l.attributes)?;
    let features = features(l)?;
    classifier.check(features)?;
    let (machine, classes, labels) = (&classifier.machine, classifier.classes, &classifier.labels);
    if classifier.probabilities.is_some() {
        let what = "SVMClassifier with probabilities (\"prob_a\"), which an iteration finds for each sample,";
        return Err(unsupported(what));
    }
    let largest = [int("axis", 1), int("keepdims", 0)];
    if machine.supports == 0 {
        let sums = linear(l, machine, classes, features)?;
        let rho = floats64(l, &[machine.rho[0].into()])?;
        let scores = l.apply("Add", &[sums, rho], &[])?;
        let class = match classes {
            1 => class_of_one(l, scores, 0.0)?,
            _ => l.apply("ArgMax", &[scores], &largest)?,
        };
        return Ok(vec![labelled(l, labels, class)?, transformed(l, scores, machine.transform, DType::F32)?]);
    }
    let [mut scores, votes] = votes(l, &classifier, features)?;
    let mut class = l.apply("ArgMax", &[votes], &largest)?;
    if classes == 2 {
        let other = l.apply("Neg", &[scores], &[])?;
        scores = l.apply("Concat", &[other, scores], &[int("axis", 1)])?;
        if machine.all_second() {
            let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
            class = l.apply("Mul", &[class, zero], &[])?;
            class = l.apply("Add", &[class, one], &[])?;
        }
    }
    Ok(vec![labelled(l, labels, class)?, transformed(l, scores, machine.transform, DType::F32)?])
}
