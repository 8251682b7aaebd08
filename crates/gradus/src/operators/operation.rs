//! Operations on two elements, by the names that all standards share.

use gradus_core::DType;
use gradus_core::float::{Format, Overflow};

use crate::operators::work::Each;

/// An operation on two elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    /// A quotient rounded down, of integers.
    FloorDiv,
    Mod,
    Fmod,
    Left,
    Right,
    And,
    Or,
    Xor,
    Min,
    Max,
    SquaredDifference,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operation {
    /// Returns true if the result is bool: comparisons.
    pub(crate) fn compares(self) -> bool {
        use Operation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    /// Returns true for comparisons that tell which of two numbers is larger.
    pub(crate) fn orders(self) -> bool {
        self.compares() && !matches!(self, Operation::Equal | Operation::NotEqual)
    }

    /// The elementary operation of two elements.
    pub(crate) fn work(self) -> Each {
        match self {
            Operation::Pow => Each::TRANSCENDENTAL,
            Operation::Min | Operation::Max => Each::COMPARISON,
            _ if self.compares() => Each::COMPARISON,
            _ => Each::arithmetic(1),
        }
    }

    /// Returns true for sums, differences, products and quotients.
    pub(crate) fn is_arithmetic(self) -> bool {
        use Operation::{Add, Div, Mul, Sub};
        matches!(self, Add | Sub | Mul | Div)
    }

    /// Returns true if the result is a truth value: comparisons and logical operations.
    pub(crate) fn gives_truth(self) -> bool {
        self.compares() || matches!(self, Operation::And | Operation::Or | Operation::Xor)
    }
}

/// The function of Relu.
#[inline]
pub(crate) fn rectified<T: PartialOrd>(x: T, zero: T) -> T {
    if x <= zero { zero } else { x }
}

/// The function of Clip. NaN stays, and so does what equals a bound.
#[inline]
pub(crate) fn clipped<T: Copy + PartialOrd>(x: T, [low, high]: [Option<T>; 2]) -> T {
    let raised = low.filter(|low| *low > x).unwrap_or(x);
    high.filter(|high| *high < raised).unwrap_or(raised)
}

/// The size of the bounds that Clip has where none is given: for floats, the largest finite number,
/// so that infinities become that.
pub(crate) fn missing_bound(dtype: DType) -> Option<f64> {
    let format = Format::of(dtype)?;
    dtype.is_float().then(|| format.decode(format.overflow(false, Overflow::Saturate)))
}
