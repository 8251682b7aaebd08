//! Support vector machines as graphs of ONNX's operators: a matrix of kernels, of samples and
//! support vectors, times a matrix of coefficients.

use std::cmp::Ordering;

use gradus_core::convert::{float_of, i64_of};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::graphs::unsupported;
use crate::lowering::terms::{cast, f, ints, of, pick, whole, with};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::ml::lowered::{class_of_one, floats64, labelled, matrix_of_samples, transformed};
use crate::ml::svm::eval::{Classifier, Machine, NEAREST, Regressor, SvmKernel};

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
    if let SvmKernel::Rbf = machine.kernel {
        let vectors = matrix(l, [machine.supports, features], vector)?;
        let apart = (of("Unsqueeze", x, ints(&[1])) - vectors).put(l)?;
        let distance = with("ReduceSumSquare", [apart.into(), ints(&[2])], [int("keepdims", 0)]).put(l)?;
        let gamma = floats64(l, &[-machine.gamma])?;
        let scaled = l.apply("Mul", &[distance, gamma], &[])?;
        return l.apply("Exp", &[scaled], &[]);
    }
    let vectors = matrix(l, [features, machine.supports], |feature, support| vector(support, feature))?;
    let dot = l.apply("MatMul", &[x, vectors], &[])?;
    if let SvmKernel::Linear = machine.kernel {
        return Ok(dot);
    }
    let (gamma, offset) = (floats64(l, &[machine.gamma])?, floats64(l, &[machine.offset])?);
    let moved = (dot * gamma + offset).put(l)?;
    if let SvmKernel::Sigmoid = machine.kernel {
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

/// `SVMRegressor`: a sum of kernels with support vectors, or a linear score.
pub fn regressor(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
        score = pick(of("Greater", score, zero?), inside?, outside?).put(l)?;
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
    let rho: Vec<_> = machine.rho[..pairs.len()].iter().copied().map(f64::from).collect();
    let (rho, zero) = (floats64(l, &rho)?, floats64(l, &[0.0])?);
    let scores = (of("MatMul", kernels, coefficients) + rho).put(l)?;
    // A score above zero is a vote for the first of the pair, others are for the second.
    let moves = matrix(l, [pairs.len(), classes], |pair, class| match pairs[pair] {
        (i, _) if i == class => 1.0,
        (_, j) if j == class => -1.0,
        _ => 0.0,
    })?;
    let moved = of("MatMul", cast(of("Greater", scores, zero), DType::F64), moves).put(l)?;
    let mut second = vec![0.0; classes];
    for &(_, j) in &pairs {
        second[j] += 1.0;
    }
    let second = floats64(l, &second)?;
    Ok([scores, l.apply("Add", &[moved, second], &[])?])
}

/// The most classes whose probabilities are written as a graph, which has nodes for each.
const MAX_CLASSES: usize = 100;

/// The probabilities of classes from the scores of pairs: for all samples at once, the iteration
/// that finds them for each, until none changes.
fn probabilities(
    l: &mut Lowering<'_>,
    scores: LoweredValue,
    (factors, shifts): (&[f32], &[f32]),
    classes: usize,
) -> Result<LoweredValue> {
    if classes > MAX_CLASSES {
        return Err(unsupported(&format!("SVMClassifier with probabilities of {classes} classes")));
    }
    let list = |l: &mut Lowering<'_>, numbers: &[f32]| {
        floats64(l, &numbers.iter().copied().map(f64::from).collect::<Vec<_>>())
    };
    let (factors, shifts, one, zero) =
        (list(l, factors)?, list(l, shifts)?, floats64(l, &[1.0])?, floats64(l, &[0.0])?);
    let [low, high] = [NEAREST, 1.0 - NEAREST].map(|bound| l.constant(Tensor::scalar(bound)));
    let scaled = (scores * factors + shifts).put(l)?;
    let first = with("Clip", [one - f("Sigmoid", scaled), low?.into(), high?.into()], []).put(l)?;
    // By sample, the probability of each class against each other, and zeros on the diagonal.
    let column = with("Gather", [first.into(), ints(&[0])], [int("axis", 1)]).put(l)?;
    let nothing = l.apply("Mul", &[column, zero], &[])?;
    let all = with("Concat", [first.into(), one - first, nothing.into()], [int("axis", 1)]).put(l)?;
    let pairs = classes * (classes - 1) / 2;
    let pair = |i: usize, j: usize| i * classes - i * (i + 1) / 2 + j - i - 1;
    let place = |i: usize, j: usize| match i.cmp(&j) {
        Ordering::Less => pair(i, j),
        Ordering::Greater => pairs + pair(j, i),
        Ordering::Equal => 2 * pairs,
    };
    let places = (0..classes * classes).map(|at| i64_of(place(at / classes, at % classes))).collect();
    let places = l.constant(Tensor::from_vec(Shape::new([classes, classes])?, places)?)?;
    let own = l.apply("Gather", &[all, places], &[int("axis", 1)])?;
    let others = l.transposed(own, &[0, 2, 1])?;
    let (last, middle) = (l.list(&[2])?, l.list(&[1])?);
    let diagonal = l.apply("ReduceSumSquare", &[others, last], &[int("keepdims", 0)])?;
    let unit = matrix(l, [classes, classes], |i, j| if i == j { 1.0 } else { 0.0 })?;
    let along = (of("Unsqueeze", diagonal, last) * unit).put(l)?;
    let q = (along - (others * own)).put(l)?;
    let even = floats64(l, &vec![1.0 / float_of(classes); classes])?;
    let p = l.apply("Add", &[nothing, even], &[])?;
    let done = l.apply("Greater", &[nothing, zero], &[])?;
    let most = l.constant(Tensor::scalar(i64_of(classes.max(100))))?;
    let found = l.repeated(most, &[p, done], |l, _, state| {
        let (before, done) = (state[0], state[1]);
        let qp = of("MatMul", q, of("Unsqueeze", before, last)).put(l)?;
        let mut qp = l.apply("Squeeze", &[qp, last], &[])?;
        let mut pqp = of("ReduceSum", before * qp, middle).put(l)?;
        let apart = f("Abs", qp - pqp).put(l)?;
        let near = floats64(l, &[0.005 / float_of(classes)])?;
        let done = of("Or", done, of("Less", of("ReduceMax", apart, middle), near)).put(l)?;
        let (one, two) = (floats64(l, &[1.0])?, floats64(l, &[2.0])?);
        let mut p = before;
        for class in 0..classes {
            let index = l.list(&[i64_of(class)])?;
            let scalar = l.constant(Tensor::scalar(i64_of(class)))?;
            let own = l.apply("Gather", &[qp, index], &[int("axis", 1)])?;
            let corner = l.apply("Gather", &[diagonal, index], &[int("axis", 1)])?;
            let unit = (0..classes).map(|at| if at == class { 1.0 } else { 0.0 });
            let unit = floats64(l, &unit.collect::<Vec<_>>())?;
            let step = ((pqp - own) / corner).put(l)?;
            let whole = l.apply("Add", &[one, step], &[])?;
            p = (p + (step * unit)).put(l)?;
            p = l.apply("Div", &[p, whole], &[])?;
            let bent = (step * ((step * corner) + (own * two))).put(l)?;
            pqp = l.apply("Add", &[pqp, bent], &[])?;
            pqp = l.apply("Div", &[pqp, whole], &[])?;
            pqp = l.apply("Div", &[pqp, whole], &[])?;
            qp = (qp + (step * with("Gather", [q.into(), scalar.into()], [int("axis", 1)]))).put(l)?;
            qp = l.apply("Div", &[qp, whole], &[])?;
        }
        let p = l.apply("Where", &[done, before, p], &[])?;
        let open = with("ReduceSum", [cast(f("Not", done), DType::F32)], [int("keepdims", 0)]).put(l)?;
        let none = l.constant(Tensor::scalar(0.0f32))?;
        Ok((l.apply("Greater", &[open, none], &[])?, vec![p, done]))
    })?;
    Ok(found[0])
}

/// `SVMClassifier`: the label that pairs of classes vote for, and scores or probabilities.
pub fn classifier(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let classifier = Classifier::of(&l.attributes)?;
    let features = features(l)?;
    classifier.check(features)?;
    let (machine, classes, labels) = (&classifier.machine, classifier.classes, &classifier.labels);
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
    if let Some(parameters) = classifier.probabilities {
        scores = probabilities(l, scores, parameters, classes)?;
    } else if classes == 2 {
        scores = with("Concat", [f("Neg", scores), scores.into()], [int("axis", 1)]).put(l)?;
        if machine.all_second() {
            class = (class * whole(0)).put(l)?;
            class = (class + whole(1)).put(l)?;
        }
    }
    Ok(vec![labelled(l, labels, class)?, transformed(l, scores, machine.transform, DType::F32)?])
}
