//! Rules that find the functions which newer operator sets have as one operator.

use gradus_core::Number;
use gradus_core::convert::nearest_f64;
use gradus_core::graph::{Content, ValueId};

use super::node_view::NodeView;
use super::{Change, Replacement, Source};
use crate::dim::Symbols;

/// The only number of a constant input.
fn number(view: &NodeView<'_, '_>, input: usize) -> Option<f64> {
    let tensor = view.constant(input).filter(|tensor| tensor.shape().len() == 1)?;
    tensor.number(0).ok().map(|number: Number| nearest_f64(number))
}

fn is_near(value: Option<f64>, wanted: f64) -> bool {
    value.is_some_and(|value| (value - wanted).abs() <= 1e-3 * wanted.abs())
}

/// The operand of a commutative node beside a constant of about that value.
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

pub(super) fn gelu(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if view.operator() != "Mul" || view.version() < 20 {
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
    Some(Change::Node(Replacement { operator: "Gelu", inputs: vec![Source::Value(x)], attributes }))
}

/// The value whose mean over the last axis a node computes.
fn mean(view: &NodeView<'_, '_>) -> Option<ValueId> {
    let last = i64::try_from(view.dims(0)?.len()).ok()? - 1;
    let axes = match view.ints("axes") {
        Some(axes) => axes.to_vec(),
        None => view.constant(1)?.to_i64().ok()?,
    };
    let of_last = matches!(*axes, [axis] if axis == -1 || axis == last);
    let kept = view.operator() == "ReduceMean" && view.int("keepdims", 1) == 1;
    if of_last && kept { view.value(0) } else { None }
}

/// `x - mean(x)` that an input reads, and `x`.
fn centred(view: &NodeView<'_, '_>, input: usize) -> Option<(ValueId, ValueId)> {
    let difference = view.producer(input).filter(|node| node.operator() == "Sub")?;
    let x = difference.value(0)?;
    (mean(&difference.producer(1)?) == Some(x)).then_some((difference.output()?, x))
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
    let same = |input| centred(&square, input).is_some_and(|(_, other)| other == x);
    let squares = match square.operator() {
        "Pow" => is_near(number(&square, 1), 2.0) && same(0),
        "Mul" => square.value(0) == square.value(1) && same(0),
        _ => false,
    };
    (squares && view.dims_of(difference) == view.dims_of(x)).then_some((x, epsilon))
}

pub(super) fn layer_normalization(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if view.operator() != "Add" || view.version() < 17 {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(input, other)| {
        let product = view.only_producer(input).filter(|node| node.operator() == "Mul")?;
        let (scaled, gain) =
            [(0, 1), (1, 0)].into_iter().find(|&(input, _)| normalized(&product, input).is_some())?;
        let (x, epsilon) = normalized(&product, scaled)?;
        let last = view.dims_of(x)?.last()?;
        let of_last = |dims: Option<&crate::fact::Dims>| dims.is_some_and(|dims| **dims == [*last]);
        if !of_last(product.dims(gain)) || !of_last(view.dims(other)) || view.dims_of(x) != view.output_dims()
        {
            return None;
        }
        let epsilon = gradus_core::convert::nearest_f32(Number::Float(epsilon));
        let inputs = vec![Source::Value(x), product.input(gain), view.input(other)];
        let attributes = vec![("axis", Content::Int(-1)), ("epsilon", Content::Float(epsilon))];
        Some(Change::Node(Replacement { operator: "LayerNormalization", inputs, attributes }))
    })
}
