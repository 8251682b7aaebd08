//! Formulas of values, written as they are read: `(x - low) * 2.0` is a Sub and a Mul.

use std::ops;

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Tensor};

use crate::attributes::NewAttributes;
use crate::lowering::{LoweredValue, Lowering, along, int};

/// A formula that is not written yet.
#[derive(Clone, Debug)]
pub enum Term {
    Value(LoweredValue),
    /// A number of the type that the formula is written for.
    Number(f64),
    Tensor(Tensor),
    Cast(Box<Term>, DType),
    Apply(&'static str, Vec<Term>, NewAttributes),
}

impl From<LoweredValue> for Term {
    fn from(value: LoweredValue) -> Term {
        Term::Value(value)
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Term {
        Term::Number(number)
    }
}

impl From<i64> for Term {
    fn from(number: i64) -> Term {
        Term::Number(convert::nearest_f64(Number::Int(number.into())))
    }
}

/// A function of one term.
pub fn f(operator: &'static str, x: impl Into<Term>) -> Term {
    with(operator, [x.into()], [])
}

/// A function of two terms.
pub fn of(operator: &'static str, x: impl Into<Term>, y: impl Into<Term>) -> Term {
    with(operator, [x.into(), y.into()], [])
}

/// One of two terms, by a condition.
pub fn pick(condition: impl Into<Term>, yes: impl Into<Term>, no: impl Into<Term>) -> Term {
    with("Where", [condition.into(), yes.into(), no.into()], [])
}

/// An operator with attributes.
pub fn with<const OPERANDS: usize, const ATTRIBUTES: usize>(
    operator: &'static str,
    operands: [Term; OPERANDS],
    attributes: [(&'static str, Content); ATTRIBUTES],
) -> Term {
    Term::Apply(operator, operands.into(), attributes.into())
}

/// A list of int64.
pub fn ints(values: &[i64]) -> Term {
    Term::Tensor(Tensor::vector(values))
}

/// An int64.
pub fn whole(value: i64) -> Term {
    Term::Tensor(Tensor::scalar(value))
}

/// The number of an element type that is nearest to one.
pub fn number(value: f64, dtype: DType) -> Result<Term> {
    convert::cast(&Tensor::scalar(value), dtype, Rules::SATURATING).map(Term::Tensor)
}

/// A term in another element type.
pub fn cast(x: impl Into<Term>, to: DType) -> Term {
    Term::Cast(x.into().into(), to)
}

/// Terms, one after the other along an axis.
pub fn joined(all: impl IntoIterator<Item = impl Into<Term>>, axis: usize) -> Term {
    Term::Apply("Concat", all.into_iter().map(Into::into).collect(), vec![along(axis)])
}

/// The elements of a term at indices of an axis.
pub fn gathered(x: impl Into<Term>, indices: impl Into<Term>, axis: usize) -> Term {
    with("Gather", [x.into(), indices.into()], [along(axis)])
}

/// The elements of `x` in another shape.
pub fn shaped(x: impl Into<Term>, dims: &[i64]) -> Term {
    of("Reshape", x, ints(dims))
}

/// The elements of `x` in a shape that is computed, in which a 0 is a size of 0.
pub fn in_shape(x: impl Into<Term>, dims: impl Into<Term>) -> Term {
    with("Reshape", [x.into(), dims.into()], [int("allowzero", 1)])
}

/// The axes of a term in another order.
pub fn turned(x: impl Into<Term>, order: impl IntoIterator<Item = usize>) -> Term {
    let order = order.into_iter().map(i64_of).collect();
    with("Transpose", [x.into()], [("perm", Content::Ints(order))])
}

/// A term with axes of one element.
pub fn unsqueezed(x: impl Into<Term>, axes: &[i64]) -> Term {
    of("Unsqueeze", x, ints(axes))
}

/// The elements of a list from an index to before another.
pub fn part(list: impl Into<Term>, from: i64, to: i64) -> Term {
    with("Slice", [list.into(), ints(&[from]), ints(&[to]), ints(&[0])], [])
}

/// The dimension of an axis, as a list of one.
pub fn size(x: impl Into<Term>, axis: usize) -> Term {
    part(f("Shape", x), i64_of(axis), i64_of(axis) + 1)
}

/// The integers from 0 up to an int64.
pub fn range(end: impl Into<Term>) -> Term {
    with("Range", [whole(0), end.into(), whole(1)], [])
}

/// The sum of a term along axes, which are dropped.
pub fn summed(x: impl Into<Term>, axes: &[i64]) -> Term {
    with("ReduceSum", [x.into(), ints(axes)], [int("keepdims", 0)])
}

macro_rules! arithmetic {
    ($($class:ident $method:ident $operator:literal;)*) => {$(
        impl<T: Into<Term>> ops::$class<T> for Term {
            type Output = Term;

            fn $method(self, other: T) -> Term {
                of($operator, self, other)
            }
        }

        impl<T: Into<Term>> ops::$class<T> for LoweredValue {
            type Output = Term;

            fn $method(self, other: T) -> Term {
                of($operator, self, other)
            }
        }
    )*};
}

arithmetic! {
    Add add "Add";
    Sub sub "Sub";
    Mul mul "Mul";
    Div div "Div";
}

impl Term {
    /// Writes the operators of a formula that has no numbers, or only numbers of int64.
    pub fn put(self, l: &mut Lowering<'_>) -> Result<LoweredValue> {
        self.write(l, DType::I64)
    }

    /// Writes the operators of the formula; its numbers are of the type `dtype`.
    pub fn write(self, l: &mut Lowering<'_>, dtype: DType) -> Result<LoweredValue> {
        match self {
            Term::Value(value) => Ok(value),
            Term::Number(number) => l.constant(convert::cast(&Tensor::scalar(number), dtype, Rules::IEEE)?),
            Term::Tensor(tensor) => l.constant(tensor),
            Term::Cast(x, to) => {
                let x = x.write(l, dtype)?;
                l.cast(x, to)
            }
            Term::Apply(operator, operands, attributes) => {
                let operands = operands.into_iter().map(|operand| operand.write(l, dtype));
                let operands = operands.collect::<Result<Vec<_>>>()?;
                l.apply(operator, &operands, &attributes)
            }
        }
    }
}
