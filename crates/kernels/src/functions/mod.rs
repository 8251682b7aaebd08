//! Functions of elements: correctly rounded in float16, bfloat16 and float32, and with the same bits
//! at every level and on every platform.
//!
//! [`formulas`] has each function as one formula for [`real::Real`]s of four kinds. Vectors of
//! doubles give a value and a bound of its error. Where both ends of the bound round to
//! the same element, that is the nearest to the exact value; where they do not, the formula is
//! computed in intervals until it is told. So nothing depends on how doubles were computed, as long
//! as the bound holds.
//!
//! Float64 has no such bound: [`pairs`] of doubles, or doubles, are rounded. Additions,
//! multiplications, divisions and square roots, and fused multiplications where they are exact, have
//! the same bits everywhere; the functions of `libm` are made of these.

mod formulas;
pub(crate) mod pairs;
pub(crate) mod real;

use std::convert::Infallible;

use gradus_core::convert::{self, FromNumber, Rules};
use gradus_core::{Limits, Number, Result};
use gradus_sequences::{Interval, LogspacePlan, Plan, nearest};
use half::{bf16, f16};

use crate::build::{self, Token};
use crate::options::Options;
use crate::threads::share;
pub use formulas::{Course, Function};
use pairs::{Pair, half_exp, ln_twice};

/// A function with its parameters.
///
/// ```
/// use gradus_core::Limits;
/// use gradus_kernels::{Call, Function, Options};
/// let mut out = [0f32; 2];
/// let call = Call { function: Function::Exp, parameters: [0.0; 2] };
/// call.map(&[0.0, 1.0], &mut out, Options::default(), &Limits::DEFAULT)?;
/// assert_eq!(out, [1.0, std::f32::consts::E]);
/// # Ok::<(), gradus_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// Parameters; those that the function lacks have no effect.
    pub parameters: [f64; 2],
}

/// Doubles that are computed at a time.
pub(crate) const CHUNK: usize = 256;

/// Elements from which threads are used: a few hundred microseconds of work.
const THREADS_FROM: usize = 1 << 16;

/// Elements between two checks of the time.
const CHECKED: usize = 1 << 19;

/// Element types of functions.
pub trait Float: FromNumber + Default + Send + Sync {
    /// Writes the values of a function, with the instructions of a level.
    #[doc(hidden)]
    fn write(call: &Call, token: Token, x: &[Self], out: &mut [Self]);
}

impl Call {
    /// Writes the value at each element.
    ///
    /// # Errors
    /// As [`Limits::check`]; some elements are written then.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn map<T: Float>(&self, x: &[T], out: &mut [T], options: Options, limits: &Limits) -> Result<()> {
        assert_eq!(x.len(), out.len(), "the slices are of different lengths");
        let token = options.token();
        for (x, out) in x.chunks(CHECKED).zip(out.chunks_mut(CHECKED)) {
            limits.check()?;
            let threads = if x.len() < THREADS_FROM { 1 } else { options.count() };
            let part = x.len().div_ceil(if threads > 1 { 4 * threads } else { 1 }).next_multiple_of(CHUNK);
            let parts = x.chunks(part).zip(out.chunks_mut(part));
            let Ok(()) = share(
                parts,
                options,
                || (),
                |(), (x, out)| {
                    T::write(self, token, x, out);
                    Ok::<_, Infallible>(())
                },
            );
        }
        Ok(())
    }

    /// The value at a double, in doubles: less accurate than [`Call::map`], and with the same bits
    /// everywhere too.
    pub fn at(&self, x: f64) -> f64 {
        let y = match self.function {
            Function::Relu if x == 0.0 => 0.0,
            Function::Asinh if x.is_infinite() => x,
            Function::Asinh if x.abs() > LARGE => ln_twice(x.abs()).copysign(x),
            Function::Acosh if x > LARGE && x.is_finite() => ln_twice(x),
            Function::Cosh if x.abs() > 700.0 => half_exp(x.abs()),
            Function::Sinh if x.abs() > 700.0 => half_exp(x.abs()).copysign(x),
            function => function.at(&x, &self.parameters),
        };
        self.finished(x, y)
    }

    /// One NaN for all, and zeros with the sign of the zeros that they are the values of.
    fn finished(&self, x: f64, y: f64) -> f64 {
        if y.is_nan() {
            f64::NAN
        } else if x == 0.0 && y == 0.0 && self.keeps_zero() {
            x
        } else {
            y
        }
    }

    /// Returns true if the function is increasing at zero, and zero there: the sign is kept then.
    pub(crate) fn keeps_zero(&self) -> bool {
        use Function::{Affine, HardSigmoid, Relu, Shrink, ThresholdedRelu};
        !matches!(self.function, Affine | HardSigmoid | Relu | Shrink | ThresholdedRelu)
    }

    /// The value at a double, rounded from a pair.
    fn double(&self, x: f64) -> f64 {
        let y = self.at(x);
        if !x.is_finite() || !y.is_finite() || y == 0.0 || matches!(self.function, Function::Sqrt) {
            return y;
        }
        let large = match self.function {
            Function::Asinh | Function::Acosh => LARGE,
            Function::Sinh | Function::Cosh => 700.0,
            _ => f64::INFINITY,
        };
        if x.abs() > large {
            return y;
        }
        let Pair(high, low) = self.function.at(&Pair(x, 0.0), &self.parameters.map(|x| Pair(x, 0.0)));
        let refined = high + low;
        if refined.is_finite() { self.finished(x, refined) } else { y }
    }

    /// The element nearest to the value, by intervals.
    pub(crate) fn exact<T: FromNumber>(&self, x: f64) -> T {
        let y = self.at(x);
        if !x.is_finite() || !y.is_finite() || y == 0.0 {
            return T::from_f64(y);
        }
        let real = |bits| {
            let parameters = self.parameters.map(|x| Interval::new(x, bits));
            self.function.at(&Interval::new(x, bits), &parameters)
        };
        let code = nearest(real, |parts| convert::code_of_parts(T::DTYPE, parts, Rules::IEEE));
        T::from_number(convert::number(T::DTYPE, code))
    }
}

/// Arguments from which `x + sqrt(x^2 + 1)` and `x + sqrt(x^2 - 1)` are `2 x`, to 2^-62.
const LARGE: f64 = power_of_two(30);

impl Float for f64 {
    fn write(call: &Call, _token: Token, x: &[f64], out: &mut [f64]) {
        for (x, out) in x.iter().zip(out) {
            *out = call.double(*x);
        }
    }
}

macro_rules! short_floats {
    ($($type:ty)*) => {$(
        impl Float for $type {
            fn write(call: &Call, token: Token, x: &[$type], out: &mut [$type]) {
                if !call.parameters.iter().all(|x| x.is_finite()) {
                    for (x, out) in x.iter().zip(out) {
                        *out = <$type>::from_f64(call.at(f64::from(*x)));
                    }
                    return;
                }
                if let Function::Relu = call.function {
                    let zero = <$type>::from_f64(0.0);
                    for (x, out) in x.iter().zip(out) {
                        *out = if *x > zero { *x } else if *x <= zero { zero } else { <$type>::NAN };
                    }
                    return;
                }
                build::functions::write(call, token, x, out);
            }
        }
    )*};
}

short_floats! { f16 bf16 f32 }

/// A power of doubles by the rules of IEEE 754 `pow`, rounded to an element once; to float64, off by
/// less than a unit in the last place.
pub fn power<T: FromNumber>(base: f64, exponent: f64) -> T {
    let y = libm::pow(base, exponent);
    if y.is_nan() {
        return T::from_f64(f64::NAN);
    }
    // libm's powers are off by less than 0.7 units.
    let [low, high] = [1.0 - POWER_BOUND, 1.0 + POWER_BOUND].map(|factor| T::from_f64(y * factor));
    if T::DTYPE.bits() > 32 || !T::DTYPE.is_float() {
        return T::from_number(Number::Float(y));
    }
    if bytemuck::bytes_of(&low) == bytemuck::bytes_of(&high) {
        return low;
    }
    let [base, exponent] = [base, exponent].map(Number::Float);
    LogspacePlan::new(base, exponent, exponent, 1, true, T::DTYPE)
        .map_or_else(|_| T::from_f64(y), |plan| T::from_number(plan.at(0)))
}

/// A bound of the relative error of a power in doubles.
const POWER_BOUND: f64 = power_of_two(-50);

/// A power of two among the normal doubles.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    assert!(-1022 <= exponent && exponent <= 1023);
    f64::from_bits(convert::u64_of(convert::usize_of_u32((exponent + 1023).cast_unsigned())) << 52)
}
