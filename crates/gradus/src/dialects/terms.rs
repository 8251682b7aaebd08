//! Formulas of values, written as they are read: `(x - low) * 2.0` is a Sub and a Mul.

use std::ops;

use gradus_core::convert::{self, Rules};
use gradus_core::{DType, Number, Result, Tensor};

use crate::lowering::{LoweredValue, Lowering};

/// A formula that is not written yet.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Value(LoweredValue),
    /// A number of the type that the formula is written for.
    Number(f64),
    Apply(&'static str, Vec<Term>),
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
    Term::Apply(operator, vec![x.into()])
}

/// A function of two terms.
pub(crate) fn of(operator: &'static str, x: impl Into<Term>, y: impl Into<Term>) -> Term {
    Term::Apply(operator, vec![x.into(), y.into()])
}

/// One of two terms, by a condition.
pub(crate) fn pick(condition: impl Into<Term>, yes: impl Into<Term>, no: impl Into<Term>) -> Term {
    Term::Apply("Where", vec![condition.into(), yes.into(), no.into()])
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
            Term::Apply(operator, operands) => {
                let operands = operands.into_iter().map(|operand| operand.write(l, dtype));
                let operands = operands.collect::<Result<Vec<_>>>()?;
                l.apply(operator, &operands, &[])
            }
        }
    }
}
