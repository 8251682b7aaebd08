//! Operations on two elements, by the names that all standards share.

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
