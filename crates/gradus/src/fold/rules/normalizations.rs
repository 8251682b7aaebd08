//! Rules that find the functions which newer operator sets have as one operator.

use gradus_core::convert::nearest_f64;
use gradus_core::graph::{Content, ValueId};
use gradus_core::{DType, Number};

use super::node_view::NodeView;
use super::{Change, Replacement, Source};
use crate::dim::Symbols;
use crate::fact::Dims;

/// The only number of a constant input.
pub(super) fn number(view: &NodeView<'_, '_>, input: usize) -> Option<f64> {
    let tensor = view.constant(input).filter(|tensor| tensor.shape().len() == 1)?;
    tensor.number(0).ok().map(|number: Number| nearest_f64(number))
}

fn is_near(value: Option<f64>, wanted: f64) -> bool {
    value.is_some_and(|value| (value - wanted).abs() <= 1e-3 * wanted.abs())
}

/// The operand of a commutative node whose other operand is a constant of about that value.
fn beside(view: &NodeView<'_, '_>, wanted: f64) -> Option<usize> {
    [(0, 1), (1, 0)]
        .into_iter()
        .find(|&(_, other)| is_near(number(view, other), wanted))
        .map(|(input, _)| input)
}

/// The factors of a product of several nodes, each with its node.
fn factors<'s, 'm>(view: &NodeView<'s, 'm>, input: usize, found: &mut Vec<(NodeView<'s, 'm>, usize)>) {
    match view.only_producer(input).filter(|producer| producer.operator() == "Mul") {
        Some(product) => [0, 1].into_iter().for_each(|input| factors(&product, input, found)),
        None => found.push((view.clone(), input)),
    }
}

/// `x` of `1 + erf(x / sqrt(2))`, and of the approximation by tanh.
fn gelu_factor(view: &NodeView<'_, '_>, input: usize) -> Option<(ValueId, &'static [u8])> {
    let sum = view.only_producer(input).filter(|sum| sum.operator() == "Add")?;
    let inner = sum.only_producer(beside(&sum, 1.0)?)?;
    let argument = inner.only_producer(0)?;
    let root = std::f64::consts::SQRT_2;
    match (inner.operator(), argument.operator()) {
        ("Erf", "Div") if is_near(number(&argument, 1), root) => Some((argument.value(0)?, b"none")),
        ("Erf", "Mul") => Some((argument.value(beside(&argument, 1.0 / root)?)?, b"none")),
        ("Tanh", "Mul") => {
            let polynomial =
                argument.only_producer(beside(&argument, (2.0 / std::f64::consts::PI).sqrt())?)?;
            let sides = [(0, 1), (1, 0)].into_iter().filter(|_| polynomial.operator() == "Add");
            sides.into_iter().find_map(|(plain, cubed)| {
                let scaled = polynomial.only_producer(cubed).filter(|scaled| scaled.operator() == "Mul")?;
                let cube = scaled.only_producer(beside(&scaled, 0.044_715)?)?;
                let is_cube = cube.operator() == "Pow" && is_near(number(&cube, 1), 3.0);
                let x = polynomial.value(plain)?;
                (is_cube && cube.value(0) == Some(x)).then_some((x, &b"tanh"[..]))
            })
        }
        _ => None,
    }
}

/// Fuses `x * 0.5 * (1 + Erf(x / sqrt(2)))`, or its approximation by `Tanh`, into `Gelu`, from
/// operator set 20 on.
pub(super) fn gelu(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.set_has("Gelu") {
        return None;
    }
    let mut parts = Vec::new();
    for input in [0, 1] {
        factors(view, input, &mut parts);
    }
    let half = parts.iter().position(|(node, input)| is_near(number(node, *input), 0.5))?;
    let (at, x, approximate) = parts.iter().enumerate().find_map(|(at, (node, input))| {
        gelu_factor(node, *input).map(|(x, approximate)| (at, x, approximate))
    })?;
    let plain = parts.iter().enumerate().find(|&(other, _)| other != half && other != at)?.1;
    if parts.len() != 3 || plain.0.value(plain.1) != Some(x) || view.dims_of(x) != view.output_dims() {
        return None;
    }
    let attributes = match approximate {
        b"none" => Vec::new(),
        other => vec![("approximate", Content::Bytes(bytes::Bytes::from_static(other)))],
    };
    Some(Change::Node(Replacement::new("Gelu", vec![Source::Value(x)], attributes)))
}

/// Fuses `x * Sigmoid(x)` into `Swish`, from operator set 24 on.
pub(super) fn swish(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.set_has("Swish") {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(plain, gate)| {
        let gate = view.only_producer(gate).filter(|gate| gate.operator() == "Sigmoid")?;
        let x = view.value(plain).filter(|&x| gate.value(0) == Some(x))?;
        let inputs = vec![Source::Value(x)];
        Some(Change::Node(Replacement::new("Swish", inputs, Vec::new())))
    })
}

/// The value whose mean over the last axis a node computes.
fn mean(view: &NodeView<'_, '_>) -> Option<ValueId> {
    let last = i64::try_from(view.dims(0)?.len()).ok()? - 1;
    let axes = view.constant(1)?.to_i64().ok()?;
    let of_last = matches!(*axes, [axis] if axis == -1 || axis == last);
    let kept = view.operator() == "ReduceMean" && view.int("keepdims", 1)? == 1;
    if of_last && kept { view.value(0) } else { None }
}

/// `x - mean(x)` that an input reads, and `x`.
fn centred(view: &NodeView<'_, '_>, input: usize) -> Option<(ValueId, ValueId)> {
    let difference = view.producer(input).filter(|node| node.operator() == "Sub")?;
    let x = difference.value(0)?;
    (mean(&difference.producer(1)?) == Some(x)).then_some((difference.output()?, x))
}

/// Returns true if a node multiplies its first input by itself.
fn is_square(node: &NodeView<'_, '_>) -> bool {
    match node.operator() {
        "Pow" => number(node, 1) == Some(2.0),
        "Mul" => node.value(0) == node.value(1),
        _ => false,
    }
}

/// `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)` that an input reads: `x` and epsilon.
fn normalized(view: &NodeView<'_, '_>, input: usize) -> Option<(ValueId, f64)> {
    let quotient = view.only_producer(input).filter(|node| node.operator() == "Div")?;
    let (difference, x) = centred(&quotient, 0)?;
    let root = quotient.producer(1).filter(|node| node.operator() == "Sqrt")?;
    let sum = root.producer(0).filter(|node| node.operator() == "Add")?;
    let variance = [0, 1].into_iter().find(|&input| number(&sum, 1 - input).is_some())?;
    let epsilon = number(&sum, 1 - variance)?;
    let variance = sum.producer(variance)?;
    mean(&variance)?;
    let square = variance.producer(0)?;
    // Two differences of the same values are as good as one.
    let same = centred(&square, 0).is_some_and(|(_, other)| other == x);
    (same && is_square(&square) && view.dims_of(difference) == view.dims_of(x)).then_some((x, epsilon))
}

/// Returns true if the operator of a normalization computes a type in float32, or more exactly.
fn is_normalized(dtype: Option<DType>) -> bool {
    matches!(dtype, Some(DType::F16 | DType::BF16 | DType::F32))
}

/// The replacement of a node by a normalization of the last axis, if `gain` has that axis alone.
fn normalization(
    view: &NodeView<'_, '_>,
    operator: &'static str,
    (x, epsilon): (ValueId, f64),
    gain: (&NodeView<'_, '_>, usize),
) -> Option<Change> {
    let fits = is_of_last(view, x, gain.0.dims(gain.1)) && view.dims_of(x) == view.output_dims();
    let same = view.dtype_of(x) == view.output().and_then(|id| view.dtype_of(id));
    if !fits || !same || !is_normalized(view.dtype_of(x)) {
        return None;
    }
    let epsilon = gradus_core::convert::nearest_f32(Number::Float(epsilon));
    let attributes = vec![("axis", Content::Int(-1)), ("epsilon", Content::Float(epsilon))];
    let inputs = vec![Source::Value(x), gain.0.input(gain.1)];
    Some(Change::Node(Replacement::new(operator, inputs, attributes)))
}

/// Returns true if dimensions are the last one of a value, and nothing else.
fn is_of_last(view: &NodeView<'_, '_>, x: ValueId, dims: Option<&Dims>) -> bool {
    let last = view.dims_of(x).and_then(|dims| dims.last().copied());
    last.zip(dims).is_some_and(|(last, dims)| **dims == [last])
}

/// Fuses `(x - mean) / sqrt(variance + epsilon) * scale` over the last axis into
/// `LayerNormalization`, from operator set 17 on.
pub(super) fn layer_normalization(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.set_has("LayerNormalization") {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(input, other)| {
        let found = normalized(view, input)?;
        normalization(view, "LayerNormalization", found, (view, other))
    })
}

/// Makes a bias of the last axis, added to a `LayerNormalization` without one, its third input.
pub(super) fn normalization_bias(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    [(0, 1), (1, 0)].into_iter().find_map(|(input, other)| {
        let norm = view.only_producer(input).filter(|node| node.operator() == "LayerNormalization")?;
        let (x, alone) = (norm.value(0)?, norm.input_count() == 2 && norm.node.outputs.len() == 1);
        let of_last = norm.int("axis", -1)? == -1 && is_of_last(view, x, view.dims(other));
        if !alone || !of_last || !view.is_like(input) || view.dtype_of(view.value(other)?) != view.dtype_of(x)
        {
            return None;
        }
        let inputs = vec![norm.input(0), norm.input(1), view.input(other)];
        let kept = ["axis", "epsilon", "stash_type"].into_iter();
        let attributes = kept.filter_map(|name| Some((name, norm.attribute(name)?.clone()))).collect();
        Some(Change::Node(Replacement::new("LayerNormalization", inputs, attributes)))
    })
}

/// `x / sqrt(mean(x^2) + epsilon)` that an input reads: `x` and epsilon. `x` may be computed from
/// one of fewer bits, and the result made one of that type again.
fn scaled_by_root(view: &NodeView<'_, '_>, input: usize) -> Option<(ValueId, f64)> {
    let node = view.only_producer(input)?;
    if node.operator() == "Cast" {
        let (wide, epsilon) = scaled_by_root(&node, 0)?;
        let first = view.producer_of(wide).filter(|first| first.operator() == "Cast")?;
        let narrow = first.value(0)?;
        let (from, to) = (view.dtype_of(narrow), view.dtype_of(wide));
        let back = from == node.output().and_then(|id| view.dtype_of(id));
        let by_float = to == Some(DType::F32) && is_normalized(from);
        return (back && by_float).then_some((narrow, epsilon));
    }
    let (x, root) = match node.operator() {
        "Div" => (node.value(0)?, node.only_producer(1)?),
        "Mul" => [(0, 1), (1, 0)].into_iter().find_map(|(x, factor)| {
            let factor = node.only_producer(factor)?;
            match factor.operator() {
                "Reciprocal" => Some((node.value(x)?, factor.only_producer(0)?)),
                "Div" if number(&factor, 0) == Some(1.0) => Some((node.value(x)?, factor.only_producer(1)?)),
                _ => None,
            }
        })?,
        _ => return None,
    };
    let (square, epsilon) = mean_square(&root)?;
    (square == x).then_some((x, epsilon))
}

/// `x` and epsilon of `sqrt(mean(x^2) + epsilon)`.
fn mean_square(root: &NodeView<'_, '_>) -> Option<(ValueId, f64)> {
    let sum = root.only_producer(0).filter(|sum| root.operator() == "Sqrt" && sum.operator() == "Add")?;
    let square_mean = [0, 1].into_iter().find(|&input| number(&sum, 1 - input).is_some())?;
    let epsilon = number(&sum, 1 - square_mean)?;
    let square_mean = sum.only_producer(square_mean)?;
    mean(&square_mean)?;
    let square = square_mean.only_producer(0)?;
    let x = square.value(0)?;
    is_square(&square).then_some((x, epsilon))
}

/// Fuses `x / sqrt(mean(x^2) + epsilon) * scale` over the last axis into `RMSNormalization`, from
/// operator set 23 on.
pub(super) fn rms_normalization(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.set_has("RMSNormalization") {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(input, other)| {
        let found = scaled_by_root(view, input)?;
        normalization(view, "RMSNormalization", found, (view, other))
    })
}
