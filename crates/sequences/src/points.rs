//! Evenly spaced real numbers: the elements of a linspace, the exponents of a logspace.

use gradus_core::convert::{self, Rules};
use gradus_core::{DType, Number};

use crate::SpaceError;
use crate::exact::ExactNumber;
use crate::fraction::BigFraction;
use crate::line::Line;

/// An end of a sequence, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first point.
    Start,
    /// The last point.
    Stop,
}

/// The points `start + i (stop - start) / divisor`, exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Points {
    start: ExactNumber,
    stop: ExactNumber,
    divisor: u64,
}

/// The largest number of samples.
pub(crate) const LONGEST: u64 = i64::MAX.unsigned_abs();

/// Number of steps between the ends, one at least.
pub(crate) fn steps(num: u64, endpoint: bool) -> Result<u64, SpaceError> {
    if num > LONGEST {
        return Err(SpaceError::TooLong(num));
    }
    Ok(if endpoint { num.saturating_sub(1) } else { num }.max(1))
}

impl Points {
    /// Points between real ends, which are finite; a single infinity can be repeated. A single
    /// point needs no stop.
    pub(crate) fn new(
        start: ExactNumber,
        stop: ExactNumber,
        num: u64,
        endpoint: bool,
    ) -> Result<Points, SpaceError> {
        let stop = if num <= 1 { start.clone() } else { stop };
        let divisor = steps(num, endpoint)?;
        for (end, number) in [(End::Start, &start), (End::Stop, &stop)] {
            match *number {
                ExactNumber::Number(Number::Complex(..)) => return Err(SpaceError::NotReal(end)),
                ExactNumber::Number(Number::Float(x)) if !x.is_finite() && (x.is_nan() || start != stop) => {
                    return Err(SpaceError::NotFinite(end, x));
                }
                _ => {}
            }
        }
        Ok(Points { start, stop, divisor })
    }

    /// The real parts and the imaginary parts of points between complex ends, which are finite.
    pub(crate) fn complex(
        start: Number,
        stop: Number,
        num: u64,
        endpoint: bool,
    ) -> Result<[Points; 2], SpaceError> {
        let part = |of: fn(Number) -> Number| {
            let points = Points::new(of(start).into(), of(stop).into(), num, endpoint)?;
            match points.infinite() {
                Some(infinity) => Err(SpaceError::NotFinite(End::Start, infinity)),
                None => Ok(points),
            }
        };
        Ok([part(Number::re)?, part(Number::im)?])
    }

    /// Zeros, for parts that real elements do not have.
    pub(crate) const ZERO: Points = Points { start: ExactNumber::ZERO, stop: ExactNumber::ZERO, divisor: 1 };

    /// The infinity that all points are, if they are.
    pub(crate) fn infinite(&self) -> Option<f64> {
        match self.start {
            ExactNumber::Number(Number::Float(x)) if x.is_infinite() => Some(x),
            _ => None,
        }
    }

    /// Point `i`, if the points are finite.
    pub(crate) fn at(&self, i: u64) -> BigFraction {
        let weight = |times: u64| i64::try_from(times).expect("indices are below 2^63");
        BigFraction::new([(&self.start, weight(self.divisor - i)), (&self.stop, weight(i))], self.divisor)
    }

    /// Point `i` as an element of a real type. A zero is 0.0, but an end that is -0.0 is kept.
    pub(crate) fn element(&self, i: u64, dtype: DType) -> Number {
        let end = match i {
            0 => Some(&self.start),
            _ if i == self.divisor || self.start == self.stop => Some(&self.stop),
            _ => None,
        };
        let code = match end {
            Some(&ExactNumber::Number(end)) => convert::code(dtype, end, Rules::IEEE),
            _ => self.at(i).code(dtype),
        };
        convert::number(dtype, code)
    }

    /// The difference of neighbours.
    pub(crate) fn step(&self) -> BigFraction {
        BigFraction::new([(&self.stop, 1), (&self.start, -1)], self.divisor)
    }

    /// The points in fixed point, from the one at index `first` on; nothing if they are all one
    /// infinity or zero.
    pub(crate) fn line(&self, first: u64) -> Option<Line> {
        let constant = self.start == self.stop && (self.start.is_zero() || !self.start.is_finite());
        (!constant).then(|| Line::new(&self.at(first), &self.step(), [self.start.parts(), self.stop.parts()]))
    }
}
