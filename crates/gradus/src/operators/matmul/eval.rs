//! Evaluation of products of matrices.

use gradus_core::convert::{self, FromNumber};
use gradus_core::{Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::operators::errors;
use crate::operators::indices;
use crate::operators::output::allowed;
use crate::operators::reduction::eval::one;

/// The sum of products of numbers at pairs of places.
fn dot(a: &[Number], b: &[Number], places: impl Iterator<Item = (usize, usize)>) -> Number {
    let mut ints = 0i128;
    let mut floats = 0.0;
    let mut whole = true;
    for (i, j) in places {
        match (a[i], b[j]) {
            (Number::Int(x), Number::Int(y)) => {
                ints = i128::from(i64::from_number(Number::Int(ints + x * y)));
            }
            (x, y) => {
                whole = false;
                floats += convert::nearest_f64(x) * convert::nearest_f64(y);
            }
        }
    }
    if whole { Number::Int(ints) } else { Number::Float(floats) }
}

/// The elements of a product, each the sum of so many products.
fn each(
    cx: &mut EvalContext<'_>,
    shape: &Shape,
    inner: usize,
    element: impl Fn(usize) -> Number,
) -> Result<Vec<Number>> {
    cx.run.touch(convert::product(shape.len(), inner))?;
    let limits = cx.limits();
    let checked = |place| limits.check().map(|()| element(place));
    (0..shape.len()).map(checked).collect()
}

#[allow(clippy::many_single_char_names, reason = "matrices and their indices have the names of the text")]
pub(crate) fn mat_mul(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let (mut x, mut y) = (a.shape().dims().to_vec(), b.shape().dims().to_vec());
    if x.is_empty() || y.is_empty() {
        return Err(errors::rank("an input of MatMul", 0, "at least 1"));
    }
    let (row, column) = (x.len() == 1, y.len() == 1);
    if row {
        x.insert(0, 1);
    }
    if column {
        y.push(1);
    }
    let (inner, rows, columns) = (x[x.len() - 1], x[x.len() - 2], y[y.len() - 1]);
    if inner != y[y.len() - 2] {
        return Err(errors::shape(errors::INNER_SIZE, inner, y[y.len() - 2]));
    }
    let (batch_x, batch_y) = (Shape::new(&x[..x.len() - 2])?, Shape::new(&y[..y.len() - 2])?);
    let batch = batch_x.broadcast(&batch_y)?;
    let mut dims = [batch.dims(), &[rows, columns]].concat();
    let shape = allowed(cx, a.dtype(), &dims)?;
    // A product without elements may have any number of matrices.
    let from = |own: &Shape| {
        if shape.is_empty() { Vec::new() } else { indices::broadcast(own.dims(), batch.dims()) }
    };
    let (from_a, from_b) = (from(&batch_x), from(&batch_y));
    let (p, q): (Vec<_>, Vec<_>) = (a.numbers()?.collect(), b.numbers()?.collect());
    let product = |place: usize| {
        let (c, r, at) = (place % columns, place / columns % rows, place / columns / rows);
        let (i, j) = (from_a[at], from_b[at]);
        dot(&p, &q, (0..inner).map(|k| ((i * rows + r) * inner + k, (j * inner + k) * columns + c)))
    };
    let products = each(cx, &shape, inner, product)?;
    if column {
        dims.pop();
    }
    if row {
        dims.remove(batch.rank());
    }
    let result = Tensor::from_numbers(a.dtype(), shape, products, convert::Rules::IEEE)?;
    one(result.reshaped(Shape::new(dims)?)?)
}

#[allow(clippy::many_single_char_names, reason = "matrices and their indices have the names of the text")]
pub(crate) fn gemm(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let matrix = |input: usize, tensor: &Tensor| match *tensor.shape().dims() {
        [rows, columns] => Ok([rows, columns]),
        _ => Err(errors::rank(format_args!("input {input}"), tensor.shape().rank(), 2)),
    };
    let ([ar, ac], [br, bc]) = (matrix(0, a)?, matrix(1, b)?);
    let (turn_a, turn_b) = (attributes.flag("transA", false)?, attributes.flag("transB", false)?);
    let (rows, inner) = if turn_a { (ac, ar) } else { (ar, ac) };
    let (inner_b, columns) = if turn_b { (bc, br) } else { (br, bc) };
    if inner != inner_b {
        return Err(errors::shape(errors::INNER_SIZE, inner, inner_b));
    }
    let shape = allowed(cx, a.dtype(), &[rows, columns])?;
    let (p, q): (Vec<_>, Vec<_>) = (a.numbers()?.collect(), b.numbers()?.collect());
    let bias = if cx.has(2) {
        let c = cx.tensor(2)?;
        if c.shape().broadcast(&shape)? != shape {
            let wanted = format_args!("one that broadcasts to {shape}");
            return Err(errors::shape("shape of input 2", c.shape(), wanted));
        }
        let places = indices::broadcast(c.shape().dims(), shape.dims());
        Some((places, c.numbers()?.collect::<Vec<_>>()))
    } else {
        None
    };
    let alpha = f64::from(attributes.float("alpha")?.unwrap_or(1.0));
    let beta = f64::from(attributes.float("beta")?.unwrap_or(1.0));
    let sum = |place: usize| {
        let (r, c) = (place / columns, place % columns);
        let pairs = (0..inner).map(|k| {
            let i = if turn_a { k * ac + r } else { r * ac + k };
            let j = if turn_b { c * bc + k } else { k * bc + c };
            (i, j)
        });
        let added = bias.as_ref().map(|(places, numbers)| numbers[places[place]]);
        match (dot(&p, &q, pairs), added) {
            (Number::Int(x), None) if alpha == 1.0 => Number::Int(x),
            (Number::Int(x), Some(Number::Int(y))) if alpha == 1.0 && beta == 1.0 => Number::Int(x + y),
            (x, y) => Number::Float(
                alpha * convert::nearest_f64(x) + y.map_or(0.0, |y| beta * convert::nearest_f64(y)),
            ),
        }
    };
    let sums = each(cx, &shape, inner, sum)?;
    one(Tensor::from_numbers(a.dtype(), shape, sums, convert::Rules::IEEE)?)
}
