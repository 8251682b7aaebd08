//! Binary floating-point formats of any width, and the one place where a number is rounded to one
//! of them.
//!
//! | type | sign, exponent, mantissa bits | bias | largest | all ones in the exponent |
//! |---|---|---|---|---|
//! | `float64` | 1, 11, 52 | 1023 | 1.8e308 | infinity, NaN |
//! | `float32` | 1, 8, 23 | 127 | 3.4e38 | infinity, NaN |
//! | `bfloat16` | 1, 8, 7 | 127 | 3.4e38 | infinity, NaN |
//! | `float16` | 1, 5, 10 | 15 | 65504 | infinity, NaN |
//! | `float8_e5m2` | 1, 5, 2 | 15 | 57344 | infinity, NaN |
//! | `float8_e4m3fn` | 1, 4, 3 | 7 | 448 | numbers; NaN where the mantissa is all ones too |
//! | `float8_e5m2fnuz` | 1, 5, 2 | 16 | 57344 | numbers; NaN is the code of -0 |
//! | `float8_e4m3fnuz` | 1, 4, 3 | 8 | 240 | numbers; NaN is the code of -0 |
//! | `float6_e3m2` | 1, 3, 2 | 3 | 28 | numbers; no NaN |
//! | `float6_e2m3` | 1, 2, 3 | 1 | 7.5 | numbers; no NaN |
//! | `float4_e2m1` | 1, 2, 1 | 1 | 6 | numbers; no NaN |
//!
//! Sources: IEEE 754-2019; the tables of ONNX Cast; the OCP specification of microscaling formats.
//! `float8_e8m0` and `nf4` have neither sign nor mantissa and are in [`crate::convert`].

use crate::convert::{low_u64, shifted_left, shifted_right, small_i32};
use crate::dtype::DType;

/// A real number other than zero, or zero with a sign: `mantissa * 2^exponent`, and a little more
/// (less than one unit of the mantissa) if `sticky`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Returns true if the number is below zero, or a zero with a sign.
    pub negative: bool,
    /// The magnitude's leading bits.
    pub mantissa: u128,
    /// The power of two of the mantissa's lowest bit.
    pub exponent: i32,
    /// True if bits below the mantissa were cut off. The mantissa then has at least 64 bits.
    pub sticky: bool,
}

impl Parts {
    /// The parts of an integer.
    pub fn of_int(value: i128) -> Parts {
        Parts { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0, sticky: false }
    }

    /// The parts of a finite float.
    pub fn of_float(value: f64) -> Parts {
        let bits = value.abs().to_bits();
        let field = bits >> 52;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, field) = if field == 0 { (fraction, 1) } else { (fraction | 1 << 52, field) };
        let exponent = small_i32(field) - 1075;
        Parts { negative: value.is_sign_negative(), mantissa: u128::from(mantissa), exponent, sticky: false }
    }

    /// The power of two of the leading bit, of a number other than zero.
    pub fn leading(self) -> i32 {
        self.exponent + 127 - self.mantissa.leading_zeros().cast_signed()
    }

    /// The magnitude in units of `2^unit`, rounded to the nearest; of two equally near, to the even
    /// one.
    ///
    /// The unit must be coarse enough that the result has at most 64 bits, and, if the number is
    /// sticky, coarser than the number's own.
    pub fn in_units_of(self, unit: i32) -> u64 {
        let drop = unit - self.exponent;
        if drop <= 0 {
            return low_u64(shifted_left(self.mantissa, drop.unsigned_abs()));
        }
        let drop = drop.unsigned_abs();
        let down = low_u64(shifted_right(self.mantissa, drop));
        let rest = self.mantissa - shifted_left(u128::from(down), drop);
        let half = shifted_left(1, drop - 1);
        // Dropping more than 128 bits drops the whole number, which is then below half a unit.
        let above = drop <= 128 && (rest > half || (rest == half && self.sticky));
        let tie = drop <= 128 && rest == half && !self.sticky;
        down + u64::from(above || (tie && down & 1 == 1))
    }
}

/// The meaning of codes that are not finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// All ones in the exponent: infinity, or NaN with a mantissa.
    Ieee,
    /// All ones everywhere: NaN. No infinity.
    Nan,
    /// The code of negative zero: NaN. No infinity, no negative zero.
    Unsigned,
    /// Nothing: no NaN, no infinity.
    None,
}

/// The result for a number beyond the largest of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Infinity; NaN where the format has no infinity; the largest number where it has neither.
    Special,
    /// The largest number. So does an infinity.
    Saturate,
}

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, special: Special) -> Format {
    Format { exponent_bits, mantissa_bits, bias, special }
}

/// IEEE 754 binary64.
pub const F64: Format = format(11, 52, 1023, Special::Ieee);
/// IEEE 754 binary32.
pub const F32: Format = format(8, 23, 127, Special::Ieee);
/// IEEE 754 binary16.
pub const F16: Format = format(5, 10, 15, Special::Ieee);
/// The upper half of a binary32.
pub const BF16: Format = format(8, 7, 127, Special::Ieee);

impl Format {
    /// The format of an element type, if it is one of the table above.
    pub const fn of(dtype: DType) -> Option<Format> {
        Some(match dtype {
            DType::F64 => F64,
            DType::F32 => F32,
            DType::F16 => F16,
            DType::BF16 => BF16,
            DType::F8E5M2 => format(5, 2, 15, Special::Ieee),
            DType::F8E4M3FN => format(4, 3, 7, Special::Nan),
            DType::F8E5M2FNUZ => format(5, 2, 16, Special::Unsigned),
            DType::F8E4M3FNUZ => format(4, 3, 8, Special::Unsigned),
            DType::F6E3M2 => format(3, 2, 3, Special::None),
            DType::F6E2M3 => format(2, 3, 1, Special::None),
            DType::F4E2M1 => format(2, 1, 1, Special::None),
            _ => return None,
        })
    }

    /// Bits of the significand, the implicit one included.
    pub const fn precision(self) -> u32 {
        self.mantissa_bits + 1
    }

    /// The power of two of the smallest subnormal.
    pub const fn least_exponent(self) -> i32 {
        1 - self.bias - self.mantissa_bits.cast_signed()
    }

    /// The power of two of the largest normal number.
    const fn largest_exponent(self) -> i32 {
        let codes = (1 << self.exponent_bits) - 1;
        codes - self.bias - if self.has_infinity() { 1 } else { 0 }
    }

    /// Returns true if it has infinities, and so NaN and -0.
    pub const fn has_infinity(self) -> bool {
        matches!(self.special, Special::Ieee)
    }

    /// Returns true if it has every number of another format, and its NaN, infinities and -0.
    pub const fn holds(self, other: Format) -> bool {
        self.has_infinity()
            && other.precision() <= self.precision()
            && other.least_exponent() >= self.least_exponent()
            && other.largest_exponent() <= self.largest_exponent()
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The code of the largest number.
    const fn largest(self) -> u64 {
        match self.special {
            Special::Ieee => self.infinity() - 1,
            Special::Nan => self.sign_bit() - 2,
            Special::Unsigned | Special::None => self.sign_bit() - 1,
        }
    }

    /// The code with all ones in the exponent and none in the mantissa.
    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// The code of NaN with that sign. Without a NaN there is no good answer; it is that of the
    /// `ml_dtypes` package, and so of ONNX's tests of Cast: zero with the other sign.
    pub const fn nan(self, negative: bool) -> u64 {
        let sign = if negative { self.sign_bit() } else { 0 };
        match self.special {
            Special::Ieee => sign | self.infinity() | 1 << (self.mantissa_bits - 1),
            Special::Nan => sign | (self.sign_bit() - 1),
            Special::Unsigned => self.sign_bit(),
            Special::None => sign ^ self.sign_bit(),
        }
    }

    /// The code of what overflow, or an infinity, becomes.
    pub const fn overflow(self, negative: bool, rule: Overflow) -> u64 {
        let sign = if negative { self.sign_bit() } else { 0 };
        match (rule, self.special) {
            (Overflow::Saturate, _) | (_, Special::None) => sign | self.largest(),
            (Overflow::Special, Special::Ieee) => sign | self.infinity(),
            (Overflow::Special, Special::Nan | Special::Unsigned) => self.nan(negative),
        }
    }

    /// The code nearest to a number; of two equally near, the one whose last bit is 0.
    pub fn round(self, number: Parts, overflow: Overflow) -> u64 {
        let sign = if number.negative { self.sign_bit() } else { 0 };
        if number.mantissa == 0 {
            return if self.special == Special::Unsigned { 0 } else { sign };
        }
        // In units of the last place that the format has at this magnitude.
        let least_normal = 1 - self.bias;
        let normal = number.leading().max(least_normal);
        let quotient = number.in_units_of(normal - self.mantissa_bits.cast_signed());
        let exponents_above_least = (normal - least_normal).unsigned_abs();
        if exponents_above_least >= 1 << self.exponent_bits {
            return self.overflow(number.negative, overflow);
        }
        // A carry out of the mantissa lands in the exponent, where it belongs.
        let code = (u64::from(exponents_above_least) << self.mantissa_bits) + quotient;
        if code > self.largest() {
            return self.overflow(number.negative, overflow);
        }
        if code == 0 && self.special == Special::Unsigned { 0 } else { sign | code }
    }

    /// The code of a float: rounded if finite, and the format's own infinity or NaN otherwise.
    pub fn encode(self, value: f64, overflow: Overflow) -> u64 {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            self.nan(negative)
        } else if value.is_infinite() {
            self.overflow(negative, overflow)
        } else {
            self.round(Parts::of_float(value), overflow)
        }
    }

    /// The value of a code; bits above the format's width are ignored.
    pub fn decode(self, code: u64) -> f64 {
        let negative = code & self.sign_bit() != 0;
        let code = code & (self.sign_bit() - 1);
        let fraction = code & ((1 << self.mantissa_bits) - 1);
        let field = small_i32(code >> self.mantissa_bits);
        let magnitude = match self.special {
            Special::Ieee if code >= self.infinity() => {
                if fraction == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            Special::Nan if code == self.sign_bit() - 1 => f64::NAN,
            Special::Unsigned if negative && code == 0 => return f64::NAN,
            _ => {
                let (mantissa, field) =
                    if field == 0 { (fraction, 1) } else { (fraction | 1 << self.mantissa_bits, field) };
                scaled(mantissa, field - self.bias - self.mantissa_bits.cast_signed())
            }
        };
        if negative { -magnitude } else { magnitude }
    }
}

/// `mantissa * 2^exponent`, which must be a float.
fn scaled(mantissa: u64, exponent: i32) -> f64 {
    if let (Ok(short), Ok(field)) = (u32::try_from(mantissa), u32::try_from(exponent + 1023))
        && field > 0
    {
        // Both factors are normal numbers, and the product is a float.
        return f64::from(short) * f64::from_bits(u64::from(field) << 52);
    }
    let parts = Parts { negative: false, mantissa: u128::from(mantissa), exponent, sticky: false };
    f64::from_bits(F64.round(parts, Overflow::Special))
}
