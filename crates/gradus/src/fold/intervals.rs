//! Integers and truth values that nodes make of floats, where these differ from program to program
//! and the integers do not.
//!
//! A program is taken to compute each float32 or float64 within 2^-16 of it, or within 2^-20 of
//! small ones. The floats are then known as intervals, and an integer is settled if both ends of
//! its interval give it.

use gradus_core::convert::nearest_f64;
use gradus_core::{Class, DType, Tensor};
use gradus_engine::infer::float_range::{FloatRange, has_zero, range_of_results};

use super::dialect::Role;
use super::reproducible::bound;
use super::rules::{NodeView, is_view};
use crate::fact::range_of;
use crate::operators::operation::Operation;

/// Maximum number of elements of a tensor that is looked at.
const MAX_ELEMENTS: usize = 1 << 18;

/// Maximum number of nodes between a result and its constants.
const MAX_NODES: usize = 32;

/// Error of a float relative to itself, and error of a small one.
const RELATIVE: f64 = 1.0 / 65_536.0;
const ABSOLUTE: f64 = 1.0 / 1_048_576.0;

/// Magnitude of floats beyond which float32 may be infinite.
const MAX_FLOAT: f64 = 1e30;

/// The range of floats that are within some, with the errors of programs.
fn widened([low, high]: FloatRange) -> Option<FloatRange> {
    let slack = |x: f64| x.abs() * RELATIVE + ABSOLUTE;
    let (low, high) = (low - slack(low), high + slack(high));
    (low > -MAX_FLOAT && high < MAX_FLOAT).then_some([low, high])
}

/// The range of results of a node for operands within ranges, with the errors of programs.
fn applied(view: &NodeView<'_, '_>, operands: &[FloatRange]) -> Option<FloatRange> {
    match operands {
        &[a] if view.role() == Role::Cast => widened(a),
        _ => widened(range_of_results(view.known()?, operands)?),
    }
}

/// The intervals of an input: of each element, or one of all.
fn intervals(view: &NodeView<'_, '_>, input: usize, nodes: &mut usize) -> Option<Vec<FloatRange>> {
    let is_float = |dtype| matches!(dtype, DType::F32 | DType::F64);
    if let Some(constant) = view.constant(input) {
        if !is_float(constant.dtype()) || constant.shape().len() > MAX_ELEMENTS {
            return None;
        }
        let point = |x: f64| (x.abs() < MAX_FLOAT).then_some([x, x]);
        return constant.numbers().ok()?.map(|x| point(nearest_f64(x))).collect();
    }
    *nodes = nodes.checked_sub(1)?;
    let producer = view.producer(input)?;
    if !is_float(producer.dtype_of(producer.output()?)?) {
        return None;
    }
    if is_view(&producer) || producer.role() == Role::Copy {
        return intervals(&producer, 0, nodes);
    }
    let a = intervals(&producer, 0, nodes)?;
    if producer.input_count() == 1 {
        return a.into_iter().map(|a| applied(&producer, &[a])).collect();
    }
    let b = intervals(&producer, 1, nodes).filter(|_| producer.input_count() == 2)?;
    let both = |(a, b)| applied(&producer, &[a, b]);
    pairs(&a, &b, len(&producer)?)?.map(both).collect()
}

/// The number of elements of the first output.
fn len(view: &NodeView<'_, '_>) -> Option<usize> {
    let sizes = view.output_dims()?.iter().map(|dim| usize::try_from(dim.known()?).ok());
    sizes.into_iter().try_fold(1usize, |len, size| len.checked_mul(size?)).filter(|len| *len <= MAX_ELEMENTS)
}

/// Elements of two operands side by side, of which each has all elements of the result, or one.
fn pairs<'a>(
    a: &'a [FloatRange],
    b: &'a [FloatRange],
    len: usize,
) -> Option<impl Iterator<Item = (FloatRange, FloatRange)> + 'a> {
    let fits = |one: &[FloatRange]| one.len() == len || one.len() == 1;
    let at = |one: &'a [FloatRange], i: usize| one[if one.len() == 1 { 0 } else { i }];
    (fits(a) && fits(b)).then(|| (0..len).map(move |i| (at(a, i), at(b, i))))
}

/// Returns true if a node makes integers or truth values of floats, or rounds them to integers.
pub(super) fn may_be(view: &NodeView<'_, '_>) -> bool {
    let orders = view.known().and_then(|row| row.operation).is_some_and(Operation::orders);
    orders || matches!(view.function(), "Ceil" | "Floor" | "Round") || view.role() == Role::Cast
}

/// Returns true if a node gives these results whatever the floats are rounded to that it reads.
pub(super) fn is_settled(view: &NodeView<'_, '_>, output: &Tensor) -> bool {
    let mut nodes = MAX_NODES;
    let Some(a) = intervals(view, 0, &mut nodes) else { return false };
    let same = |function: fn(f64) -> f64| {
        a.iter().map(|ends| ends.map(|end| function(end).to_bits())).all(|[low, high]| low == high)
    };
    match view.function() {
        _ if view.role() == Role::Cast => match output.dtype().class() {
            Class::Bool => a.iter().all(|&a| !has_zero(a) || a == [0.0, 0.0]),
            Class::Signed | Class::Unsigned => range_of(output.dtype()).is_some_and(|(min, max)| {
                let fits = |low: f64, high: f64| low >= bound(min) && high < bound(max);
                // Both zeros are one integer.
                a.iter().all(|&[low, high]| fits(low, high) && low.trunc() - high.trunc() == 0.0)
            }),
            _ => false,
        },
        "Ceil" => same(f64::ceil),
        "Floor" => same(f64::floor),
        "Round" => same(f64::round_ties_even),
        _ => {
            let b = intervals(view, 1, &mut nodes);
            let is_apart = |(a, b): (FloatRange, FloatRange)| a[1] < b[0] || a[0] > b[1];
            let apart = b.zip(len(view)).and_then(|(b, len)| Some(pairs(&a, &b, len)?.all(is_apart)));
            apart == Some(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use gradus_core::graph::Standard;

    use super::{FloatRange, range_of_results, widened};
    use crate::operators::row;

    type One = (&'static str, fn(f64) -> f64);
    type Two = (&'static str, fn(f64, f64) -> f64);

    /// The range of results of an operator, with the errors of programs.
    fn applied(name: &str, operands: &[FloatRange]) -> Option<FloatRange> {
        widened(range_of_results(row(Standard::Onnx, "", name).unwrap(), operands)?)
    }

    /// Results of random operands within the intervals lie within those of the results, with errors
    /// of programs.
    #[test]
    fn intervals_hold_results_with_errors() {
        let (mut state, mut held) = (1u64, 0);
        let mut random = |low: f64, high: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + (high - low) * f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX)
        };
        let one: [One; 8] = [
            ("Abs", f64::abs),
            ("Neg", |x| -x),
            ("Exp", f64::exp),
            ("Tanh", f64::tanh),
            ("Acos", f64::acos),
            ("Log", f64::ln),
            ("Sqrt", f64::sqrt),
            ("Reciprocal", f64::recip),
        ];
        let two: [Two; 7] = [
            ("Add", |x, y| x + y),
            ("Sub", |x, y| x - y),
            ("Mul", |x, y| x * y),
            ("Div", |x, y| x / y),
            ("Pow", f64::powf),
            ("Max", f64::max),
            ("Min", f64::min),
        ];
        for _ in 0..2000 {
            let mut some = || {
                let low = random(-9.0, 9.0);
                [low, low + random(0.0, 2.0)]
            };
            let (a, b) = (some(), some());
            let mut holds = |found: Option<FloatRange>, result: &dyn Fn(f64, f64) -> f64| {
                for _ in 0..8 {
                    let (x, y) = (random(a[0], a[1]), random(b[0], b[1]));
                    let error = 1.0 + random(-1e-5, 1e-5);
                    let result = result(x, y) * error;
                    if let Some([low, high]) = found {
                        assert!(low <= result && result <= high, "{a:?} {b:?} {x} {y} {result}");
                        held += 1;
                    }
                }
            };
            for (name, function) in one {
                holds(applied(name, &[a]), &|x, _| function(x));
            }
            for (name, function) in two {
                holds(applied(name, &[a, b]), &|x, y| function(x, y));
            }
        }
        assert!(held > 100_000, "{held}");
        assert!(applied("Log", &[[0.0; 2]]).is_none() && applied("Exp", &[[1e3; 2]]).is_none());
        assert!(applied("Div", &[[1.0; 2], [-1.0, 1.0]]).is_none());
    }
}
