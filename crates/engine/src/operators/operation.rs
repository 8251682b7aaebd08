//! Operations on two elements, by the names that all standards share.

use gradus_core::convert::{self, FromNumber};
use gradus_core::float::{Format, Overflow};
use gradus_core::{DType, Number, Result, dispatch};

use crate::operators::allowed::Carries;
use crate::operators::errors;
use crate::operators::work::Each;

/// An operation on two elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
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
    /// Checks that both operands have one type. The exponent of a power may have another.
    ///
    /// # Errors
    ///
    /// Returns an error that names the type of the second and the wanted one.
    pub fn check_types(self, first: DType, second: DType) -> Result<()> {
        if first == second || self == Self::Pow {
            return Ok(());
        }
        Err(errors::dtype(second, &format!("{first}, as the first input")))
    }

    /// Returns true if the result is bool: comparisons.
    pub fn compares(self) -> bool {
        use Operation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    /// Returns true for comparisons that tell which of two numbers is larger.
    pub fn orders(self) -> bool {
        self.compares() && !matches!(self, Operation::Equal | Operation::NotEqual)
    }

    /// How errors of the elements carry to the result.
    pub fn carries(self) -> Carries {
        use Operation::{Add, Div, Max, Min, Mul, Pow, SquaredDifference, Sub};
        match self {
            Add | Sub | Mul | Min | Max | SquaredDifference => Carries::Ends,
            Div => Carries::Quotient(1),
            Pow => Carries::Power,
            _ if self.orders() => Carries::Ends,
            _ => Carries::Open,
        }
    }

    /// The elementary operation of two elements.
    pub fn work(self) -> Each {
        match self {
            Operation::Pow => Each::TRANSCENDENTAL,
            Operation::Min | Operation::Max => Each::COMPARISON,
            _ if self.compares() => Each::COMPARISON,
            _ => Each::arithmetic(1),
        }
    }

    /// Returns true for sums, differences, products and quotients.
    pub fn is_arithmetic(self) -> bool {
        use Operation::{Add, Div, Mul, Sub};
        matches!(self, Add | Sub | Mul | Div)
    }

    /// Returns true if the result is a truth value: comparisons and logical operations.
    pub fn gives_truth(self) -> bool {
        self.compares() || matches!(self, Operation::And | Operation::Or | Operation::Xor)
    }
}

/// The function of Relu.
#[inline]
pub fn rectified<T: PartialOrd>(x: T, zero: T) -> T {
    if x <= zero { zero } else { x }
}

/// The function of Clip. NaN is kept, and so is a number that equals a bound.
#[inline]
pub fn clipped<T: Copy + PartialOrd>(x: T, [low, high]: [Option<T>; 2]) -> T {
    let raised = low.filter(|low| *low > x).unwrap_or(x);
    high.filter(|high| *high < raised).unwrap_or(raised)
}

/// The size of the bounds that Clip has where none is given: for floats, the largest finite number,
/// so that infinities become that.
pub fn missing_bound(dtype: DType) -> Option<f64> {
    let format = Format::of(dtype)?;
    dtype.is_float().then(|| format.decode(format.overflow(false, Overflow::Saturate)))
}

impl Operation {
    /// The result for two elements, of which the first has a type: a number that is to be converted
    /// to that type; an error if an integer is divided by zero.
    pub fn apply(self, dtype: DType, a: Number, b: Number) -> Result<Number> {
        let by_zero = errors::zero_divisor;
        let bits = u32::try_from(dtype.bits()).unwrap_or(64);
        Ok(match (a, b) {
            (Number::Int(a), Number::Int(b)) => Number::Int(match self {
                Operation::Add => a + b,
                Operation::Sub => a - b,
                // Products of integers of 64 bits without a sign may be beyond 128 bits with one;
                // the low bits count.
                Operation::Mul => a.wrapping_mul(b),
                Operation::Div => a.checked_div(b).ok_or_else(by_zero)?,
                Operation::FloorDiv => {
                    let quotient = a.checked_div(b).ok_or_else(by_zero)?;
                    let rest = a - quotient * b;
                    if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient }
                }
                Operation::Mod => {
                    let rest = a.checked_rem(b).ok_or_else(by_zero)?;
                    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
                }
                Operation::Fmod => a.checked_rem(b).ok_or_else(by_zero)?,
                Operation::Pow => power(a, b),
                Operation::Left => u32::try_from(b).ok().filter(|&by| by < bits).map_or(0, |by| a << by),
                // A count beyond the width leaves the sign.
                Operation::Right => a >> u32::try_from(b).map_or(bits, |by| by.min(bits)),
                Operation::And => a & b,
                Operation::Or => a | b,
                Operation::Xor => a ^ b,
                Operation::Min => a.min(b),
                Operation::Max => a.max(b),
                Operation::SquaredDifference => (a - b).wrapping_mul(a - b),
                _ => return Err(errors::dtype(dtype, "a float type")),
            }),
            // The types narrower than float64 have at most 24 bits of precision, and float64 at
            // least 2 * 24 + 2: so rounding to float64 first does not change the second rounding.
            (Number::Float(a), Number::Float(b)) => Number::Float(match self {
                Operation::Add => a + b,
                Operation::Sub => a - b,
                Operation::Mul => a * b,
                Operation::Div | Operation::FloorDiv => a / b,
                Operation::SquaredDifference => (a - b) * (a - b),
                Operation::Fmod => a % b,
                Operation::Mod => {
                    let rest = a % b;
                    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
                }
                Operation::Pow => return Ok(float_power(dtype, a, b)),
                // NaN of either operand is the result.
                Operation::Min | Operation::Max if a.is_nan() || b.is_nan() => f64::NAN,
                Operation::Min => a.min(b),
                Operation::Max => a.max(b),
                _ => return Err(errors::dtype(dtype, "an integer type")),
            }),
            (a, b) if self == Operation::Pow => {
                float_power(dtype, convert::nearest_f64(a), convert::nearest_f64(b))
            }
            _ => return Err(errors::dtype(dtype, "a real numeric type")),
        })
    }

    /// Returns true if a comparison holds for two elements; NaN is only not equal.
    pub fn holds(self, a: Number, b: Number) -> bool {
        let order = match (a, b) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (a, b) => convert::nearest_f64(a).partial_cmp(&convert::nearest_f64(b)),
        };
        let Some(order) = order else { return self == Operation::NotEqual };
        match self {
            Operation::NotEqual => order.is_ne(),
            Operation::Less => order.is_lt(),
            Operation::LessOrEqual => order.is_le(),
            Operation::Greater => order.is_gt(),
            Operation::GreaterOrEqual => order.is_ge(),
            _ => order.is_eq(),
        }
    }
}

/// A power of floats, rounded to an element of a type once.
fn float_power(dtype: DType, base: f64, exponent: f64) -> Number {
    fn power<T: FromNumber>(base: f64, exponent: f64) -> Number {
        gradus_kernels::power::<T>(base, exponent).number()
    }
    dispatch!(dtype, [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32] => power(base, exponent),
        _ => power::<f64>(base, exponent))
}

/// A power of integers, modulo 2^64; with a negative exponent, cut toward zero.
fn power(base: i128, exponent: i128) -> i128 {
    let Ok(mut exponent) = u64::try_from(exponent) else {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    };
    let low = |x: i128| convert::wrapped(Number::Int(x));
    let (mut power, mut square) = (1i128, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = i128::from(low(power).wrapping_mul(low(square)));
        }
        square = i128::from(low(square).wrapping_mul(low(square)));
        exponent >>= 1;
    }
    power
}
