//! Formulas of values, written as they are read: `(x - low) * 2.0` is a Sub and a Mul.

use std::ops;

use gradus_core::convert::{self, Rules};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Tensor};

use crate::attributes::NewAttributes;
use crate::lowering::{LoweredValue, Lowering, int};

/// A formula that is not written yet.
#[derive(Clone, Debug)]
pub(crate) enum Term {
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
pub(crate) fn f(operator: &'static str, x: impl Into<Term>) -> Term {
    with(operator, [x.into()], [])
}

/// A function of two terms.
pub(crate) fn of(operator: &'static str, x: impl Into<Term>, y: impl Into<Term>) -> Term {
    with(operator, [x.into(), y.into()], [])
}

/// One of two terms, by a condition.
pub(crate) fn pick(condition: impl Into<Term>, yes: impl Into<Term>, no: impl Into<Term>) -> Term {
    with("Where", [condition.into(), yes.into(), no.into()], [])
}

/// An operator with attributes.
pub(crate) fn with<const OPERANDS: usize, const ATTRIBUTES: usize>(
    operator: &'static str,
    operands: [Term; OPERANDS],
    attributes: [(&'static str, Content); ATTRIBUTES],
) -> Term {
    Term::Apply(operator, operands.into(), attributes.into())
}

/// A list of int64.
pub(crate) fn ints(values: &[i64]) -> Term {
    Term::Tensor(Tensor::vector(values))
}

/// An int64.
pub(crate) fn whole(value: i64) -> Term {
    Term::Tensor(Tensor::scalar(value))
}

/// A term in another element type.
pub(crate) fn cast(x: impl Into<Term>, to: DType) -> Term {
    Term::Cast(x.into().into(), to)
}

/// The sum of a term along axes, which are dropped.
pub(crate) fn summed(x: impl Into<Term>, axes: &[i64]) -> Term {
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
    /// Writes the operators of the formula; its numbers are of the type `dtype`.
    pub(crate) fn write(self, l: &mut Lowering<'_>, dtype: DType) -> Result<LoweredValue> {
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
