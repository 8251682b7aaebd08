//! Validation of the arguments of linspace, logspace and geomspace.

use std::fmt;

use gradus_core::convert::{self, nearest_f64};
use gradus_core::float::Parts;
use gradus_core::{DType, Error, Kind, Number, text};

use crate::points::{End, LONGEST};

/// Why the arguments of linspace, logspace or geomspace are invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpaceError {
    /// An end is NaN, or it is infinite and differs from the other end.
    NotFinite(End, f64),
    /// An end of a sequence of real elements is complex.
    NotReal(End),
    /// The base of a sequence of real elements is complex.
    ComplexBase,
    /// The number of samples is not a natural number.
    Samples(f64),
    /// The number of samples exceeds 2^63 - 1.
    TooLong(u64),
    /// The output type has no rounding: it is text or bool.
    OutputType(DType),
    /// An element is out of range for the integer type.
    Beyond {
        /// The integer type.
        dtype: DType,
        /// The element's index.
        index: u64,
        /// The element, or the double nearest to it.
        value: f64,
    },
    /// An end of a geomspace is zero.
    Zero(End),
    /// The ends of a geomspace of real elements have different signs.
    Signs,
}

impl SpaceError {
    /// The error, with the caller's names of start, stop, base and number of samples.
    pub fn describe(self, [start, stop, base, samples]: [&str; 4]) -> Error {
        let word = |end| if end == End::Start { start } else { stop };
        let shortest = |value| text::shortest(Number::Float(value), DType::F64);
        let complex =
            |name| Error::mismatch(Kind::Type, name, "complex", "a real number for elements of a real type");
        let value =
            |what: &str, got: f64, wanted: &str| Error::mismatch(Kind::Value, what, shortest(got), wanted);
        match self {
            SpaceError::NotFinite(end, got) => value(word(end), got, "a finite number"),
            SpaceError::NotReal(end) => complex(word(end)),
            SpaceError::ComplexBase => complex(base),
            SpaceError::Samples(got) => value(samples, got, "an integer of at least 0"),
            SpaceError::TooLong(got) => {
                Error::mismatch(Kind::Limit, samples, got, format_args!("at most {LONGEST}"))
            }
            SpaceError::OutputType(dtype) => {
                Error::mismatch(Kind::Type, "element type of the sequence", dtype, "a numeric type")
            }
            SpaceError::Beyond { dtype, index, value: got } => {
                value(&format!("element {index}"), got, &format!("a number in the range of {dtype}"))
            }
            SpaceError::Zero(end) => {
                Error::mismatch(Kind::Value, word(end), "zero", "a nonzero end of a geometric sequence")
            }
            SpaceError::Signs => Error::new(
                Kind::Value,
                format!("signs of {start} and {stop} are different, expected equal ones for real elements"),
            )
            .with_got("different signs")
            .with_wanted("equal signs"),
        }
    }
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe(["start", "stop", "base", "num"]).message())
    }
}

impl std::error::Error for SpaceError {}

/// Reads a number of samples: an integer from 0 to 2^63 - 1, or a float that equals one.
///
/// # Errors
/// [`SpaceError::Samples`], [`SpaceError::TooLong`].
pub fn samples(num: Number) -> Result<u64, SpaceError> {
    match num {
        Number::Int(n) if n >= 0 => u64::try_from(n).map_err(|_| SpaceError::TooLong(u64::MAX)),
        Number::Float(x) if x >= 0.0 && x.trunc() == x => {
            convert::truncated(x).map_or(Err(SpaceError::TooLong(u64::MAX)), |n| samples(Number::Int(n)))
        }
        _ => Err(SpaceError::Samples(nearest_f64(num))),
    }
}

/// Range check of an element for an integer type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Integer {
    /// In range.
    Held,
    /// Out of range; the double nearest to the element.
    Beyond(f64),
}

impl Integer {
    /// Classifies a real, rounded toward zero.
    pub(crate) fn of(dtype: DType, parts: Parts) -> Integer {
        if convert::holds(dtype, parts) {
            Integer::Held
        } else {
            Integer::Beyond(convert::f64_of_parts(parts))
        }
    }

    /// Classifies a float, which may be infinite or NaN.
    pub(crate) fn of_float(dtype: DType, value: f64) -> Integer {
        if value.is_finite() { Integer::of(dtype, Parts::of_float(value)) } else { Integer::Beyond(value) }
    }
}

/// Checks that all elements are in range for an integer type. The elements at both ends bound all
/// others; if signs alternate, so do their neighbours.
pub(crate) fn check_integers(
    dtype: DType,
    len: u64,
    alternating: bool,
    value: impl Fn(u64) -> Integer,
) -> Result<(), SpaceError> {
    if !dtype.is_integer() {
        return Ok(());
    }
    let neighbours = if alternating { &[0, 1][..] } else { &[0] };
    let last = neighbours.iter().map(|&i| len.saturating_sub(1 + i));
    for index in neighbours.iter().copied().chain(last) {
        if index < len
            && let Integer::Beyond(value) = value(index)
        {
            return Err(SpaceError::Beyond { dtype, index, value });
        }
    }
    Ok(())
}

/// Checks that a sequence can have this element type.
pub(crate) fn check_type(dtype: DType) -> Result<(), SpaceError> {
    if dtype.is_real() || dtype.is_complex() { Ok(()) } else { Err(SpaceError::OutputType(dtype)) }
}
