//! Rounding by comparing, for each type of floats.

use gradus_testkit::{Binary, FloatFormat, Real, nearest_f32, nearest_f64};
use half::{bf16, f16};

/// Floats, rounded by the testkit.
pub trait Rounded: std::fmt::Debug {
    /// Their bits.
    const FORMAT: Binary;

    /// The nearest to a real.
    fn rounded(x: &Real) -> Self;
}

impl Rounded for f64 {
    const FORMAT: Binary = Binary::F64;

    fn rounded(x: &Real) -> f64 {
        nearest_f64(x)
    }
}

impl Rounded for f32 {
    const FORMAT: Binary = Binary::F32;

    fn rounded(x: &Real) -> f32 {
        nearest_f32(x)
    }
}

/// The code of a number of 16 bits.
fn code(format: Binary, x: &Real) -> u16 {
    let Binary { exponent_bits, mantissa_bits } = format;
    let infinity = u32::try_from(format.infinity()).expect("16 bits");
    let bias = (1 << (exponent_bits - 1)) - 1;
    let format = FloatFormat { exponent_bits, mantissa_bits, bias, finite_codes: infinity };
    let beyond = if *x < Real::ZERO { 0x8000 | infinity } else { infinity };
    u16::try_from(format.nearest(x).unwrap_or(beyond)).expect("16 bits")
}

impl Rounded for f16 {
    const FORMAT: Binary = Binary::F16;

    fn rounded(x: &Real) -> f16 {
        f16::from_bits(code(Self::FORMAT, x))
    }
}

impl Rounded for bf16 {
    const FORMAT: Binary = Binary::BF16;

    fn rounded(x: &Real) -> bf16 {
        bf16::from_bits(code(Self::FORMAT, x))
    }
}
