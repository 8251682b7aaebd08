//! Exact arguments of sequences: numbers of element types, and fractions of integers of any size.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dashu_int::ops::{BitTest, Gcd, UnsignedAbs};
use dashu_int::{IBig, UBig};
use gradus_core::convert::{f64_of_parts, i32_of, i64_of, small_usize, u64_of, usize_of};
use gradus_core::float::Parts;
use gradus_core::{DType, Error, Kind, Number, Result, text};

use crate::fraction::BigFraction;

/// An exact argument of a sequence.
///
/// Text is read exactly: decimals, integers of any size, and quotients of two of them. The result
/// is a [`Number`] if one has that value, else a [`Fraction`].
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{ExactNumber, Plan, RangePlan};
/// let [zero, one, tenth]: [ExactNumber; 3] = [0.into(), 1.into(), "0.1".parse()?];
/// let plan = RangePlan::new(zero, one, tenth, DType::F64)?;
/// assert_eq!((plan.len(), plan.at(3)), (10, Number::Float(0.3)));
/// assert_eq!("1e3".parse(), Ok(ExactNumber::from(1000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ExactNumber {
    /// The value of an element of some type.
    Number(Number),
    /// A real number that no element of at most 64 bits has.
    Fraction(Fraction),
}

/// A quotient of two integers, in lowest terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Fraction(Arc<BigFraction>);

/// The most digits of a number that is read, and the largest exponent.
const DIGITS: usize = 5000;

impl ExactNumber {
    pub(crate) const ZERO: ExactNumber = ExactNumber::Number(Number::Int(0));
    pub(crate) const ONE: ExactNumber = ExactNumber::Number(Number::Int(1));

    /// The number of this value, or the nearest double.
    pub fn nearest(&self) -> Number {
        match self {
            ExactNumber::Number(number) => *number,
            ExactNumber::Fraction(Fraction(fraction)) => Number::Float(f64_of_parts(fraction.parts())),
        }
    }

    /// The fraction that a finite number is; of a complex number, its real part.
    pub(crate) fn fraction(&self) -> BigFraction {
        match self {
            ExactNumber::Fraction(Fraction(fraction)) => BigFraction::clone(fraction),
            ExactNumber::Number(number) => {
                let Parts { negative, mantissa, exponent, .. } = number.parts();
                let numerator = IBig::from(mantissa);
                let numerator = if negative { -numerator } else { numerator };
                BigFraction { numerator, exponent, denominator: UBig::ONE }
            }
        }
    }

    /// Returns true for zero.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, ExactNumber::Number(number) if number.is_zero())
    }

    /// Returns true for a number that is neither infinite nor NaN.
    pub(crate) fn is_finite(&self) -> bool {
        !matches!(self, ExactNumber::Number(number) if !number.is_finite())
    }

    /// The real part.
    pub(crate) fn re(&self) -> ExactNumber {
        match self {
            ExactNumber::Number(number) => number.re().into(),
            ExactNumber::Fraction(_) => self.clone(),
        }
    }

    /// The number as mantissa and exponent.
    pub(crate) fn parts(&self) -> Parts {
        match self {
            ExactNumber::Number(number) => number.parts(),
            ExactNumber::Fraction(Fraction(fraction)) => fraction.parts(),
        }
    }

    /// A quotient in lowest terms; or the magnitudes that there are, if none of them is its own.
    fn reduced(numerator: IBig, denominator: UBig) -> Result<ExactNumber, &'static str> {
        let Some(zeros) = numerator.trailing_zeros() else { return Ok(ExactNumber::ZERO) };
        let below = denominator.trailing_zeros().unwrap_or(0);
        let (numerator, denominator) = (numerator >> zeros, denominator >> below);
        let common = (&numerator).unsigned_abs().gcd(&denominator);
        let (numerator, denominator) = (numerator / IBig::from(common.clone()), denominator / common);
        let exponent = i32_of(zeros) - i32_of(below);
        let fraction = BigFraction { numerator, exponent, denominator };
        let leading = fraction.parts().leading();
        if !(-1074..1024).contains(&leading) {
            return Err("a magnitude from 2^-1074 to 2^1024");
        }
        if fraction.denominator.is_one() {
            let length = fraction.numerator.bit_len();
            if exponent >= 0 && i64_of(length) + i64::from(exponent) <= 64 {
                let whole = i128::try_from(fraction.numerator << small_usize(exponent));
                return Ok(Number::Int(whole.expect("64 bits hold it")).into());
            }
            if length <= 53 && exponent >= -1074 {
                return Ok(Number::Float(f64_of_parts(fraction.parts())).into());
            }
        }
        Ok(ExactNumber::Fraction(Fraction(Arc::new(fraction))))
    }
}

impl From<Number> for ExactNumber {
    fn from(number: Number) -> ExactNumber {
        ExactNumber::Number(number)
    }
}

impl From<&ExactNumber> for ExactNumber {
    fn from(number: &ExactNumber) -> ExactNumber {
        number.clone()
    }
}

impl From<i64> for ExactNumber {
    fn from(number: i64) -> ExactNumber {
        Number::Int(number.into()).into()
    }
}

/// A fraction as an integer, or as two with a slash between them.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BigFraction { numerator, exponent, denominator } = &*self.0;
        let by = small_usize(exponent.abs());
        let (above, below) = if *exponent < 0 {
            (numerator.clone(), denominator << by)
        } else {
            (numerator << by, denominator.clone())
        };
        write!(f, "{above}")?;
        if below.is_one() { Ok(()) } else { write!(f, "/{below}") }
    }
}

impl FromStr for ExactNumber {
    type Err = Error;

    /// Reads an integer, a decimal, a quotient of two of these with a slash between them, or `inf`
    /// or `nan`, exactly.
    ///
    /// # Errors
    /// [`Kind::Value`] if the text is not a number, or divides by zero; [`Kind::Limit`] if the
    /// number has thousands of digits, or a magnitude that no float64 has.
    fn from_str(text: &str) -> Result<ExactNumber> {
        let fail = |kind, is: &str, wanted: &str| {
            let shown: String = text.chars().take(40).collect();
            let error = Error::new(kind, format!("\"{shown}\" {is}, expected {wanted}"));
            error.with_got(format_args!("\"{shown}\"")).with_wanted(wanted)
        };
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        let (Some(above), Some(below)) = (Decimal::parse(above.trim()), Decimal::parse(below.trim())) else {
            return text::parse_for(text, DType::F64).map(ExactNumber::from);
        };
        let tens = above.tens.saturating_sub(below.tens);
        if text.len() > DIGITS || tens.unsigned_abs() > u64_of(DIGITS) {
            return Err(fail(Kind::Limit, "is too long", "at most 5000 digits"));
        }
        if below.integer.is_zero() {
            return Err(fail(Kind::Value, "divides by zero", "a nonzero denominator"));
        }
        if above.integer.is_zero() {
            // As in Python, only a float has a negative zero.
            return Ok(if above.is_float {
                text::parse_for(text, DType::F64)?.into()
            } else {
                ExactNumber::ZERO
            });
        }
        let power = UBig::from(10u8).pow(usize_of(tens.unsigned_abs()));
        let (numerator, denominator) = if tens < 0 {
            (above.integer, below.integer * power)
        } else {
            (above.integer * power, below.integer)
        };
        let numerator = if denominator < IBig::ZERO { -numerator } else { numerator };
        ExactNumber::reduced(numerator, denominator.unsigned_abs())
            .map_err(|wanted| fail(Kind::Limit, "is out of range", wanted))
    }
}

/// A decimal as it is written: `integer * 10^tens`.
struct Decimal {
    integer: IBig,
    tens: i64,
    /// True if there is a dot or an exponent.
    is_float: bool,
}

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (text, 0i64),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{}{fraction}", whole.strip_prefix(['+', '-']).unwrap_or(whole));
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        // More digits are refused, but not converted first.
        let integer: IBig = digits[..digits.len().min(DIGITS + 1)].parse().ok()?;
        Some(Decimal {
            integer: if whole.starts_with('-') { -integer } else { integer },
            tens: exponent.checked_sub(i64_of(fraction.len()))?,
            is_float: mantissa.len() < text.len() || whole.len() < mantissa.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ExactNumber> {
        text.parse()
    }

    #[test]
    fn text_is_read_exactly_and_as_a_number_where_one_has_the_value() {
        let numbers = [
            ("10", Number::Int(10)),
            ("-9223372036854775809", Number::Int(-9_223_372_036_854_775_809)),
            ("1e3", Number::Int(1000)),
            ("10.50", Number::Float(10.5)),
            ("-6/4", Number::Float(-1.5)),
            ("6/-3", Number::Int(-2)),
            ("0.3/0.1", Number::Int(3)),
            ("36893488147419103232", Number::Float(36893488147419103232.0)),
            ("5e-324/5e-324", Number::Int(1)),
            ("-0", Number::Int(0)),
            ("-0.0", Number::Float(-0.0)),
            ("-inf", Number::Float(f64::NEG_INFINITY)),
        ];
        for (text, want) in numbers {
            assert_eq!(read(text), Ok(want.into()), "{text}");
        }
        let fractions = [
            ("0.1", "1/10", 0.1),
            ("-2/6", "-1/3", -1.0 / 3.0),
            ("1e-30", "1/1000000000000000000000000000000", 1e-30),
            ("36893488147419103233", "36893488147419103233", 36893488147419103232.0),
        ];
        for (text, shown, nearest) in fractions {
            let number = read(text).unwrap();
            assert_eq!(number.nearest(), Number::Float(nearest), "{text}");
            assert!(matches!(&number, ExactNumber::Fraction(fraction) if fraction.to_string() == shown));
            assert_eq!(read(shown), Ok(number));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let cases = [
            ("1/0", "\"1/0\" divides by zero, expected a nonzero denominator"),
            ("1e400", "\"1e400\" is out of range, expected a magnitude from 2^-1074 to 2^1024"),
            ("1e999999999999", "\"1e999999999999\" is too long, expected at most 5000 digits"),
            ("1/2/3", "\"1/2/3\" is not a number"),
            ("1_000", "\"1_000\" is not a number"),
            ("--1", "\"--1\" is not a number"),
            ("", "\"\" is not a number"),
            (".", "\".\" is not a number"),
        ];
        for (text, message) in cases {
            assert_eq!(read(text).unwrap_err().message(), message);
        }
        assert_eq!(read(&"9".repeat(100_000)).unwrap_err().kind(), Kind::Limit);
    }
}
