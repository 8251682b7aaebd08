//! Range: `start`, `start + step`, `start + 2 step`, … up to but excluding `limit`.
//!
//! | what | exact rule |
//! |---|---|
//! | length, integers | `max(ceil((limit - start) / step), 0)`, exactly |
//! | length, as soon as one argument is a fraction that no float holds | the same, exactly |
//! | length, else, as soon as one argument is a float | the same, the difference and the quotient each rounded to 53 bits |
//! | element `i`, float | `start + i * step`, exactly, then rounded once to nearest even |
//! | element `i`, integer | `start + i * step`, exactly, then toward zero, then the low bits |
//! | element `i`, bool | true unless `start + i * step` is zero |
//! | refused | a step of zero; NaN and infinities; more than 2^63 - 1 elements |
//!
//! Sources: ONNX Range-11 and -27; OpenVINO Range-1 and -4 ("calculated in the floating-point
//! type": the 53 bits, without overflow or underflow); docs/numerics.md.

use std::fmt;
use std::ops::Range;

use dashu_int::IBig;
use gradus_core::convert::{self, Rules, low_u64, shifted_left, shifted_right};
use gradus_core::float::Parts;
use gradus_core::{DType, Error, Kind, Number, text};

use crate::exact::ExactNumber;
use crate::exact::ExactNumber::Number as Element;
use crate::fraction::BigFraction;
use crate::window::Window;
use crate::{Line, Plan};

/// An argument of a range. Callers supply its name for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The first element.
    Start,
    /// The exclusive end.
    Limit,
    /// The difference of neighbours.
    Step,
}

/// Why the arguments of a range are invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RangeError {
    /// The step is zero.
    ZeroStep,
    /// An argument is NaN or infinite.
    NotFinite(Argument, f64),
    /// An argument is out of range for every integer type, in a range computed in integers.
    Beyond(Argument, f64),
    /// An argument is complex.
    NotReal(Argument),
    /// The output type is text or complex.
    OutputType(DType),
    /// The range has more than 2^63 - 1 elements.
    TooLong,
}

/// The longest range.
const LONGEST: u64 = i64::MAX.unsigned_abs();

impl RangeError {
    /// The error, with the caller's names of start, limit and step.
    pub fn describe(self, words: [&str; 3]) -> Error {
        let [start, limit, step] = words;
        let word = |argument| match argument {
            Argument::Start => start,
            Argument::Limit => limit,
            Argument::Step => step,
        };
        let shortest = |value| text::shortest(Number::Float(value), DType::F64);
        match self {
            RangeError::ZeroStep => Error::mismatch(Kind::Value, step, "zero", "a nonzero number"),
            RangeError::NotFinite(argument, value) => {
                Error::mismatch(Kind::Value, word(argument), shortest(value), "a finite number")
            }
            RangeError::Beyond(argument, value) => {
                let wanted = "a number in the range of an integer type";
                Error::mismatch(Kind::Value, word(argument), shortest(value), wanted)
            }
            RangeError::NotReal(argument) => {
                Error::mismatch(Kind::Type, word(argument), "complex", "a real number")
            }
            RangeError::OutputType(dtype) => {
                Error::mismatch(Kind::Type, "element type of the range", dtype, "a real numeric type")
            }
            RangeError::TooLong => {
                let what = format_args!("length of the range from {start} to {limit} by {step}");
                let wanted = format_args!("at most {LONGEST}");
                Error::mismatch(Kind::Limit, what, format_args!("more than {LONGEST}"), wanted)
            }
        }
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe(["start", "limit", "step"]).message())
    }
}

impl std::error::Error for RangeError {}

/// A validated range: its length and the exact value of every element.
///
/// ```
/// use gradus_core::{text, DType, Number};
/// use gradus_sequences::{Plan, RangePlan};
/// let [start, stop, step] = [1.0, 2.5, 0.5].map(Number::Float);
/// let plan = RangePlan::new(start, stop, step, DType::F32)?;
/// assert_eq!(plan.len(), 3);
/// assert_eq!(plan.at(2), Number::Float(2.0));
/// assert_eq!(plan.slice(1..3).at(0), Number::Float(1.5));
/// # Ok::<(), gradus_sequences::RangeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RangePlan {
    dtype: DType,
    start: ExactNumber,
    step: ExactNumber,
    window: Window,
}

impl RangePlan {
    /// Plans the range from `start` up to but excluding `limit` by `step`, with elements of type
    /// `dtype`.
    ///
    /// # Errors
    /// See [`RangeError`].
    pub fn new(
        start: impl Into<ExactNumber>,
        limit: impl Into<ExactNumber>,
        step: impl Into<ExactNumber>,
        dtype: DType,
    ) -> Result<RangePlan, RangeError> {
        let (start, limit, step) = (start.into(), limit.into(), step.into());
        if !dtype.is_real() && dtype != DType::Bool {
            return Err(RangeError::OutputType(dtype));
        }
        let arguments = [(Argument::Start, &start), (Argument::Limit, &limit), (Argument::Step, &step)];
        for (argument, number) in arguments {
            match *number {
                ExactNumber::Number(Number::Float(x)) if !x.is_finite() => {
                    return Err(RangeError::NotFinite(argument, x));
                }
                ExactNumber::Number(Number::Complex(..)) => return Err(RangeError::NotReal(argument)),
                _ => {}
            }
        }
        if step.is_zero() {
            return Err(RangeError::ZeroStep);
        }
        let len = match (&start, &limit, &step) {
            (&Element(Number::Int(start)), &Element(Number::Int(limit)), &Element(Number::Int(step))) => {
                count_of_ints(start, limit, step)
            }
            (&Element(start), &Element(limit), &Element(step)) => count_of_floats(start, limit, step),
            _ => count_of_fractions(&start, &limit, &step),
        };
        let len = len.filter(|&len| len <= LONGEST).ok_or(RangeError::TooLong)?;
        Ok(RangePlan { dtype, start, step, window: Window::whole(len) })
    }

    /// The index of element 0 in the whole range: element `i` is `start + (first + i) * step`.
    pub fn first(&self) -> u64 {
        self.window.first()
    }

    /// The number at index 0 of the whole range.
    pub fn start(&self) -> &ExactNumber {
        &self.start
    }

    /// The difference of neighbours.
    pub fn step(&self) -> &ExactNumber {
        &self.step
    }

    /// The exact values in fixed point; `None` for fewer than two elements.
    pub fn line(&self) -> Option<Line> {
        let last = self.len().checked_sub(1).filter(|&last| last > 0)?;
        let (first, last) = (self.exact(self.first()), self.exact(self.first() + last));
        let bounds = [first.parts(), last.parts()];
        Some(Line::new(&first, &BigFraction::new([(&self.step, 1), (&ExactNumber::ZERO, 0)], 1), bounds))
    }

    fn exact(&self, index: u64) -> BigFraction {
        let times = i64::try_from(index).expect("indices are below 2^63");
        BigFraction::new([(&self.start, 1), (&self.step, times)], 1)
    }
}

impl Plan for RangePlan {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.window.len()
    }

    fn at(&self, i: u64) -> Number {
        let index = self.window.index(i);
        let code = match (&self.start, &self.step) {
            (ExactNumber::Number(Number::Int(start)), ExactNumber::Number(Number::Int(step))) => {
                let exact = Number::Int(start + step * i128::from(index));
                convert::code(self.dtype, exact, Rules::IEEE)
            }
            _ => self.exact(index).code(self.dtype),
        };
        convert::number(self.dtype, code)
    }

    fn slice(&self, indices: Range<u64>) -> RangePlan {
        RangePlan { window: self.window.slice(indices), ..self.clone() }
    }
}

/// The number of elements; `None` if it exceeds 64 bits.
fn count_of_ints(start: i128, limit: i128, step: i128) -> Option<u64> {
    let (span, step) = if step > 0 { (limit - start, step) } else { (start - limit, -step) };
    match (u64::try_from(span.max(0)), u64::try_from(step)) {
        (Ok(span), Ok(step)) => Some(span.div_ceil(step)),
        _ => u64::try_from((span.max(0) + step - 1) / step).ok(),
    }
}

fn count_of_fractions(start: &ExactNumber, limit: &ExactNumber, step: &ExactNumber) -> Option<u64> {
    let span = BigFraction::new([(limit, 1), (start, -1)], 1);
    let count = span.ceil_of_quotient(&step.fraction());
    u64::try_from(count.max(IBig::ZERO)).ok()
}

fn count_of_floats(start: Number, limit: Number, step: Number) -> Option<u64> {
    if let (Number::Float(start), Number::Float(limit), Number::Float(step)) = (start, limit, step) {
        // The difference of two doubles does not underflow. A quotient that does is below 1 either
        // way.
        let span = limit - start;
        let quotient = span / step;
        if span.is_finite() && quotient.is_finite() {
            let below_one = quotient < 1.0 && span != 0.0 && (span < 0.0) == (step < 0.0);
            let count = if below_one { 1.0 } else { quotient.max(0.0).ceil() };
            return convert::truncated(count).and_then(|count| u64::try_from(count).ok());
        }
    }
    count_of_mixed(start, limit, step)
}

/// As the doubles count, without their overflow, and with the exact values of integers.
fn count_of_mixed(start: Number, limit: Number, step: Number) -> Option<u64> {
    let span = BigFraction::new([(&limit.into(), 1), (&start.into(), -1)], 1).parts();
    let step = step.parts();
    if span.mantissa == 0 || span.negative != step.negative {
        return Some(0);
    }
    let span = Rounded::of(span);
    // Both operands have their leading bit at a fixed place, so the quotient has 63 or 64 bits and
    // a rest.
    let divisor = step.mantissa << step.mantissa.leading_zeros() >> 64;
    let dividend = u128::from(span.mantissa) << 74;
    let quotient = Rounded::of(Parts {
        negative: false,
        mantissa: dividend / divisor,
        exponent: (span.exponent - 74) - (step.leading() - 63),
        sticky: dividend % divisor != 0,
    });
    quotient.ceil()
}

/// A number above zero of 53 bits, with any exponent.
struct Rounded {
    mantissa: u64,
    exponent: i32,
}

impl Rounded {
    /// The nearest to a number other than zero.
    fn of(number: Parts) -> Rounded {
        let exponent = number.leading() - 52;
        Rounded { mantissa: number.in_units_of(exponent), exponent }
    }

    /// The smallest integer that is not below it, if it fits 64 bits.
    fn ceil(&self) -> Option<u64> {
        let by = self.exponent.unsigned_abs();
        if self.exponent < 0 {
            let whole = shifted_right(u128::from(self.mantissa), by);
            let exact = shifted_left(whole, by) == u128::from(self.mantissa) && by < 64;
            Some(low_u64(whole) + u64::from(!exact))
        } else {
            (by < 64).then(|| u128::from(self.mantissa) << by).and_then(|count| u64::try_from(count).ok())
        }
    }
}
