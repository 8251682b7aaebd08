//! Logspace: the powers of a base at equally spaced exponents.
//!
//! | what | exact rule |
//! |---|---|
//! | element `i` | `base ^ (start + i * (stop - start) / d)`, exactly, then rounded once; `d` is the number of samples, less one if the endpoint is one of them |
//! | integers | rounded toward zero |
//! | base zero, negative, infinite or NaN | as IEEE 754 `pow`: see the table in [`special`] |
//! | complex | `exp(exponent * log(base))` with the principal logarithm; each part rounded once |
//! | one sample | `base ^ start`; `stop` is ignored |
//! | refused | NaN exponents; infinite exponents, unless both are the same; integers that their type cannot hold |
//!
//! Sources: Paddle `logspace`; NumPy (endpoint) and PyTorch (complex exponents) `logspace`; IEEE
//! 754-2019, 9.2.1; docs/numerics.md.

use std::ops::Range;

use dashu_int::ops::BitTest;
use gradus_core::convert::{self, Rules, nearest_f64};
use gradus_core::float::Parts;
use gradus_core::{DType, Number};

use crate::exact::ExactNumber;
use crate::points::Points;
use crate::power::{Positive, Power, decide, short_times_log2, times_log2};
use crate::power_line::LINE_BITS;
use crate::space::{self, Integer};
use crate::window::Window;
use crate::{Plan, PowerLine, SpaceError, SpiralLine, complex};

/// A validated logspace.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{LogspacePlan, Plan};
/// let (base, start, stop) = (Number::Int(1000), Number::Int(0), Number::Int(1));
/// let plan = LogspacePlan::new(base, start, stop, 4, true, DType::I64)?;
/// assert_eq!((0..4).map(|i| plan.at(i)).collect::<Vec<_>>(), [1, 10, 100, 1000].map(Number::Int));
/// # Ok::<(), gradus_sequences::SpaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LogspacePlan {
    dtype: DType,
    base: ExactNumber,
    re: Points,
    im: Points,
    window: Window,
}

impl LogspacePlan {
    /// Plans `num` powers of `base`, with exponents from `start` to `stop`, which is the last of
    /// them if `endpoint`, and else would be the next.
    ///
    /// # Errors
    /// See [`SpaceError`].
    pub fn new(
        base: impl Into<ExactNumber>,
        start: impl Into<ExactNumber>,
        stop: impl Into<ExactNumber>,
        num: u64,
        endpoint: bool,
        dtype: DType,
    ) -> Result<LogspacePlan, SpaceError> {
        space::check_type(dtype)?;
        let (base, start, stop) = (base.into(), start.into(), stop.into());
        let [re, im] = if dtype.is_complex() {
            Points::complex(start.nearest(), stop.nearest(), num, endpoint)?
        } else if matches!(base, ExactNumber::Number(Number::Complex(..))) {
            return Err(SpaceError::ComplexBase);
        } else {
            [Points::new(start, stop, num, endpoint)?, Points::ZERO]
        };
        let alternating = base.parts().negative;
        space::check_integers(dtype, num, alternating, |i| match power(&base, &re, i) {
            RealPart::Special(value) => Integer::of_float(dtype, value),
            RealPart::Exact(parts) => Integer::of(dtype, parts),
            RealPart::Power(power, negative) => decide(&power, negative, |parts| Integer::of(dtype, parts)),
        })?;
        Ok(LogspacePlan { dtype, base, re, im, window: Window::whole(num) })
    }

    /// The logarithms of the elements, if they are real and powers of a positive base.
    pub fn line(&self) -> Option<PowerLine> {
        let regular = !self.dtype.is_complex()
            && self.base.is_finite()
            && !self.base.is_zero()
            && !self.base.parts().negative
            && self.re.infinite().is_none();
        regular.then(|| {
            let base = &Positive::of(&self.base);
            let (first, step) = (&self.re.at(self.window.first()), &self.re.step());
            let short = |factor| short_times_log2(factor, base, LINE_BITS);
            let near = || PowerLine::near([short(first)?, short(step)?], self.window.len(), false);
            let log2 = |factor| move |bits| times_log2(factor, base, bits);
            near().unwrap_or_else(|| PowerLine::new(log2(first), log2(step), self.window.len(), false))
        })
    }

    /// The elements as points on a spiral, if they are complex, and powers of a finite base other
    /// than zero.
    pub fn spiral(&self) -> Option<SpiralLine> {
        let line = || {
            complex::line(self.base.nearest(), [&self.re, &self.im], self.window.first(), self.window.len())
        };
        if self.dtype.is_complex() { line() } else { None }
    }
}

impl Plan for LogspacePlan {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.window.len()
    }

    fn at(&self, i: u64) -> Number {
        let index = self.window.index(i);
        let dtype = self.dtype.component();
        if self.dtype.is_complex() && !complex::is_real(self.base.nearest(), &self.im, index) {
            return complex::power(dtype, self.base.nearest(), &self.re.at(index), &self.im.at(index));
        }
        let real = match power(&self.base.re(), &self.re, index) {
            RealPart::Special(value) => convert::code(dtype, Number::Float(value), Rules::IEEE),
            RealPart::Exact(parts) => convert::code_of_parts(dtype, parts, Rules::IEEE),
            RealPart::Power(power, negative) => {
                decide(&power, negative, |parts| convert::code_of_parts(dtype, parts, Rules::IEEE))
            }
        };
        let real = convert::number(dtype, real);
        if self.dtype.is_complex() { real.with_imaginary(Number::Float(0.0)) } else { real }
    }

    fn slice(&self, indices: Range<u64>) -> LogspacePlan {
        LogspacePlan { window: self.window.slice(indices), ..self.clone() }
    }
}

/// A real power.
enum RealPart {
    /// A value that needs no computation.
    Special(f64),
    /// A power of few bits.
    Exact(Parts),
    /// A power of a positive base, and whether it is below zero.
    Power(Power, bool),
}

/// The power of a real base at point `i`.
fn power(base: &ExactNumber, exponents: &Points, i: u64) -> RealPart {
    if let Some(infinity) = exponents.infinite() {
        return RealPart::Special(special(base.nearest(), Exponent::Infinite { negative: infinity < 0.0 }));
    }
    let exponent = exponents.at(i);
    let whole = exponent.whole_multiple(1);
    let odd = whole.as_ref().map(|whole| whole.bit(0));
    let kind = Exponent::Finite { sign: exponent.sign(), odd };
    let regular = base.is_finite() && !base.is_zero() && exponent.sign() != 0;
    // Powers of integers are common, and those that are integers lie where rounding changes.
    if let (ExactNumber::Number(Number::Int(base)), Some(whole), true) = (base, &whole, regular)
        && let Ok(exponent) = u32::try_from(whole)
        && let Some(mantissa) = base.unsigned_abs().checked_pow(exponent)
    {
        let negative = *base < 0 && odd == Some(true);
        return RealPart::Exact(Parts { negative, mantissa, exponent: 0, sticky: false });
    }
    match kind {
        Exponent::Finite { odd, .. } if regular && (!base.parts().negative || odd.is_some()) => {
            let negative = base.parts().negative && odd == Some(true);
            RealPart::Power(Power { base: Positive::of(base), exponent }, negative)
        }
        _ => RealPart::Special(special(base.nearest(), kind)),
    }
}

/// The class of an exponent in the special cases of `pow`.
#[derive(Clone, Copy)]
enum Exponent {
    Finite { sign: i8, odd: Option<bool> },
    Infinite { negative: bool },
}

/// The power where it is no real number that is to be rounded.
///
/// | base | exponent | power |
/// |---|---|---|
/// | any, NaN too | 0 | 1 |
/// | 1 | any | 1 |
/// | NaN | not 0 | NaN |
/// | +-0, +-infinity | above 0, not odd | 0, infinity |
/// | +-0, +-infinity | above 0, odd | the base |
/// | +-0, +-infinity | below 0, not odd | infinity, 0 |
/// | +-0, +-infinity | below 0, odd | +-infinity, +-0 |
/// | below 0, finite | not an integer | NaN |
/// | -1 | +-infinity | 1 |
/// | magnitude above 1 | infinity, -infinity | infinity, 0 |
/// | magnitude below 1 | infinity, -infinity | 0, infinity |
fn special(base: Number, exponent: Exponent) -> f64 {
    let base = nearest_f64(base);
    let magnitude = match exponent {
        Exponent::Finite { sign: 0, .. } => return 1.0,
        _ if base == 1.0 => return 1.0,
        _ if base.is_nan() => return f64::NAN,
        Exponent::Infinite { .. } if base == -1.0 => return 1.0,
        Exponent::Finite { .. } if base != 0.0 && base.is_finite() => return f64::NAN,
        Exponent::Finite { sign: below, .. } if (below < 0) == (base == 0.0) => f64::INFINITY,
        Exponent::Infinite { negative } if negative == (base.abs() < 1.0) => f64::INFINITY,
        _ => 0.0,
    };
    let odd = matches!(exponent, Exponent::Finite { odd: Some(true), .. });
    if odd { magnitude.copysign(base) } else { magnitude }
}
