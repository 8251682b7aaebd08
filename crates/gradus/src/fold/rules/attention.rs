//! The rule that finds the product of softmax which newer operator sets have as Attention.

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{Content, ValueId};
use gradus_core::{DType, Number};

use super::node_view::NodeView;
use super::normalizations::number;
use super::{Change, Replacement, Source};
use crate::dim::{Dim, Symbols};

/// A value by which a constant multiplies, and the constant.
struct Scaled<'s, 'm> {
    node: NodeView<'s, 'm>,
    input: usize,
    factor: f64,
}

/// The value that an input reads, without products and quotients by a constant.
fn unscaled<'s, 'm>(view: &NodeView<'s, 'm>, input: usize) -> Scaled<'s, 'm> {
    let scaled = view.only_producer(input).and_then(|node| {
        let (inner, factor) = match node.operator() {
            "Mul" => [(0, 1), (1, 0)].into_iter().find_map(|(x, c)| Some((x, number(&node, c)?)))?,
            "Div" => (0, 1.0 / number(&node, 1)?),
            _ => return None,
        };
        // The constant must not add axes.
        (node.is_like(inner) && factor.is_finite()).then_some((node, inner, factor))
    });
    match scaled {
        Some((node, inner, factor)) => {
            let rest = unscaled(&node, inner);
            Scaled { factor: rest.factor * factor, ..rest }
        }
        None => Scaled { node: view.clone(), input, factor: 1.0 },
    }
}

/// The keys of which an input reads the last two axes exchanged, and their factor.
fn keys(product: &NodeView<'_, '_>) -> Option<(Source, f64)> {
    let Scaled { node, input, factor } = unscaled(product, 1);
    let exchange = node.only_producer(input).filter(|node| node.operator() == "Transpose")?;
    let &[a, b, c, d] = exchange.ints("perm").ok()?? else { return None };
    if [a, b, c, d] == [0, 1, 3, 2] {
        let inner = unscaled(&exchange, 0);
        return Some((inner.node.input(inner.input), factor * inner.factor));
    }
    // In the file the axes may have been exchanged twice; the keys are in between.
    let exchanged = exchange.in_file().ints("perm").ok()? == Some(&[0, 1, 3, 2]);
    let keys = match exchange.written(0).filter(|_| exchanged) {
        Some(between) => Source::Value(between),
        None => Source::Transposed(exchange.value(0)?, [a, b, d, c]),
    };
    Some((keys, factor))
}

/// The value that a source is made from, and the sizes of its axes.
fn sized(view: &NodeView<'_, '_>, source: &Source) -> Option<(ValueId, Vec<Dim>)> {
    match *source {
        Source::Value(id) => Some((id, view.dims_of(id)?.to_vec())),
        Source::Transposed(id, perm) => {
            let dims = view.dims_of(id)?;
            let axis = |axis| dims.get(usize_of_i64(axis)?).copied();
            Some((id, perm.into_iter().map(axis).collect::<Option<_>>()?))
        }
        Source::Tensor(_) | Source::Missing => None,
    }
}

/// Returns true if a mask has two to four axes, the last two of which are those of the scores.
fn is_mask(mask: &[Dim], scores: &[Dim]) -> bool {
    let fits = |(i, (mask, score)): (usize, (&Dim, &Dim))| mask == score || (i > 1 && *mask == Dim::Known(1));
    (2..=4).contains(&mask.len()) && mask.iter().rev().zip(scores.iter().rev()).enumerate().all(fits)
}

/// Fuses `MatMul(Softmax(MatMul(q, k) * scale + mask), v)` of rank 4 into `Attention`, from
/// operator set 23 on.
pub(super) fn attention(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.set_has("Attention") {
        return None;
    }
    let softmax = view.only_producer(0).filter(|node| node.operator() == "Softmax")?;
    if !matches!(softmax.int("axis", -1)?, -1 | 3) {
        return None;
    }
    let sides = [(0, 1), (1, 0)].into_iter();
    let sum = softmax.only_producer(0).filter(|sum| sum.operator() == "Add");
    let masked = sum.and_then(|sum| {
        let scores = softmax.dims(0)?;
        sides.into_iter().find_map(|(scored, mask)| {
            let found = unscaled(&sum, scored);
            let product = found.node.only_producer(found.input)?;
            let fits = product.operator() == "MatMul" && is_mask(sum.dims(mask)?, scores);
            (fits && sum.is_like(scored)).then(|| (found, Some(sum.input(mask))))
        })
    });
    let (found, mask) = masked.unwrap_or_else(|| (unscaled(&softmax, 0), None));
    let product = found.node.only_producer(found.input).filter(|node| node.operator() == "MatMul")?;
    let queries = unscaled(&product, 0);
    let (keys, factor) = keys(&product)?;
    let query = queries.node.input(queries.input);
    let value = Source::Value(view.value(1)?);
    let [(q, q_dims), (k, k_dims), (v, v_dims)] =
        [sized(view, &query)?, sized(view, &keys)?, sized(view, &value)?];
    let ([batch, heads, _, size], [k_batch, k_heads, total, k_size], [v_batch, v_heads, v_total, _]) =
        (&*q_dims, &*k_dims, &*v_dims)
    else {
        return None;
    };
    let like = [batch, heads, size] == [k_batch, k_heads, k_size];
    let dtype = view.dtype_of(q);
    let same = [k, v].iter().all(|&id| view.dtype_of(id) == dtype)
        && matches!(dtype, Some(DType::F32 | DType::F16 | DType::BF16));
    if !like || !same || [batch, heads, total] != [v_batch, v_heads, v_total] {
        return None;
    }
    let scale = found.factor * queries.factor * factor;
    // Implementations may multiply both factors by the root of the scale.
    let scale = Some(gradus_core::convert::nearest_f32(Number::Float(scale))).filter(|&scale| scale > 0.0)?;
    let mut inputs = vec![query, keys, value];
    inputs.extend(mask);
    let attributes = vec![("scale", Content::Float(scale))];
    Some(Change::Node(Replacement::new("Attention", inputs, attributes)))
}
