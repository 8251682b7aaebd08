//! Positive reals of 384 bits, fast enough to check as many elements as a fill writes.

use dashu_base::BitTest;
use dashu_int::UBig;

use crate::Real;

const LIMBS: usize = 6;

/// Bits of a [`WideFloat`].
pub const WIDE_BITS: u32 = 64 * 6;

/// An exponent of zero: below all that formats have.
const FAR_BELOW: i64 = -(1 << 40);

/// A real that is not negative: its leading 384 bits, the first of which is 1, unless it is zero.
#[derive(Clone, Copy, Debug)]
pub struct WideFloat {
    /// A fraction from 1/2 to 1, the least significant limb first.
    limbs: [u64; LIMBS],
    exponent: i64,
    /// True if bits below the leading ones are set.
    inexact: bool,
}

/// A binary format of IEEE 754, by its bits.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa.
    pub mantissa_bits: u32,
}

/// The number of a format that is nearest to a real, and where the real lies between two of them.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// The code; of two that are as near, the one whose last bit is 0.
    pub code: u64,
    /// The code of the largest number that is not above the real.
    pub below: u64,
    /// How far the nearest number is from the real, in units in the last place; infinities are no
    /// distance away.
    pub error: f64,
    /// The real is less than 2^-`tie_bits` units in the last place from the middle between two
    /// numbers.
    pub tie_bits: u32,
}

impl Binary {
    /// `binary16`.
    pub const F16: Binary = Binary { exponent_bits: 5, mantissa_bits: 10 };
    /// The upper half of a `binary32`.
    pub const BF16: Binary = Binary { exponent_bits: 8, mantissa_bits: 7 };
    /// `binary32`.
    pub const F32: Binary = Binary { exponent_bits: 8, mantissa_bits: 23 };
    /// `binary64`.
    pub const F64: Binary = Binary { exponent_bits: 11, mantissa_bits: 52 };

    fn bias(self) -> i64 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The code of infinity: all ones in the exponent.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// The middle between the number of a code and the next one.
    pub fn middle(self, code: u64) -> Real {
        let implicit = 1 << self.mantissa_bits;
        let field = i64::try_from(code >> self.mantissa_bits).expect("there are few bits");
        let mantissa = code & (implicit - 1);
        let (mantissa, field) = if field == 0 { (mantissa, 1) } else { (mantissa + implicit, field) };
        let exponent = field - self.bias() - i64::from(self.mantissa_bits) - 1;
        let power = Real::from(UBig::ONE << usize::try_from(exponent.unsigned_abs()).expect("few"));
        let odd = Real::from(2 * mantissa + 1);
        if exponent < 0 { odd / power } else { odd * power }
    }
}

impl WideFloat {
    /// The leading bits of `limbs * 2^exponent`, the least significant limb first.
    fn new(limbs: &[u64], exponent: i64, inexact: bool) -> WideFloat {
        let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else {
            return WideFloat { limbs: [0; LIMBS], exponent: FAR_BELOW, inexact };
        };
        let zeros = limbs[top].leading_zeros();
        let limb = |below_top: usize| top.checked_sub(below_top).map_or(0, |i| limbs[i]);
        let kept = std::array::from_fn(|i| {
            let below_top = LIMBS - 1 - i;
            let carried = if zeros == 0 { 0 } else { limb(below_top + 1) >> (64 - zeros) };
            limb(below_top) << zeros | carried
        });
        let cut =
            limb(LIMBS) << zeros != 0 || limbs[..top.saturating_sub(LIMBS)].iter().any(|&limb| limb != 0);
        let bits = 64 * (i64::try_from(top).expect("there are few limbs") + 1) - i64::from(zeros);
        WideFloat { limbs: kept, exponent: exponent + bits, inexact: inexact || cut }
    }

    /// Converts a real that is not negative.
    pub fn of(x: &Real) -> WideFloat {
        let (_, numerator) = x.numerator().clone().into_parts();
        let bits = |number: &UBig| i64::try_from(number.bit_len()).expect("numbers are of moderate size");
        let shift = (i64::from(WIDE_BITS) + 1 + bits(x.denominator()) - bits(&numerator)).max(0);
        let scaled = numerator << usize::try_from(shift).expect("not negative");
        let quotient = &scaled / x.denominator();
        let inexact = &quotient * x.denominator() != scaled;
        WideFloat::new(&limbs(&quotient.to_le_bytes()), -shift, inexact)
    }

    /// `magnitude * 2^exponent / divisor`, the least significant limb first: the leading bits of
    /// the exact quotient.
    pub(crate) fn quotient(magnitude: &[u64], exponent: i64, divisor: u64) -> WideFloat {
        let top = magnitude.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1);
        let cut = top.saturating_sub(LIMBS + 1);
        let (rest, leading) = magnitude[..top].split_at(cut);
        // Short dividends are followed by zeros, so that as many bits are decided.
        let mut quotient = [0; LIMBS + 1];
        let behind = quotient.len() - leading.len();
        quotient[behind..].copy_from_slice(leading);
        let mut remainder = 0;
        for limb in quotient.iter_mut().rev() {
            let dividend = u128::from(remainder) << 64 | u128::from(*limb);
            let divisor = u128::from(divisor);
            *limb = u64::try_from(dividend / divisor).expect("the remainder is less than the divisor");
            remainder = u64::try_from(dividend % divisor).expect("it is less than the divisor");
        }
        let places = |limbs: usize| 64 * i64::try_from(limbs).expect("there are few limbs");
        let inexact = remainder != 0 || rest.iter().any(|&limb| limb != 0);
        WideFloat::new(&quotient, exponent + places(cut) - places(behind), inexact)
    }

    /// The product; its relative error is less than 2^-382, in addition to those of the factors.
    #[must_use]
    pub fn times(&self, other: &WideFloat) -> WideFloat {
        let mut product = [0u64; 2 * LIMBS];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.limbs.iter().enumerate() {
                (product[i + j], carry) = a.carrying_mul_add(b, product[i + j], carry);
            }
            product[i + LIMBS] = carry;
        }
        let mut limbs = [0; LIMBS];
        limbs.copy_from_slice(&product[LIMBS..]);
        let mut exponent = self.exponent + other.exponent;
        if limbs[LIMBS - 1] >> 63 == 0 {
            limbs = shifted_left(&limbs, 1);
            limbs[0] |= product[LIMBS - 1] >> 63;
            exponent -= 1;
        }
        WideFloat { limbs, exponent, inexact: true }
    }

    /// The nearest number of a format.
    pub fn nearest(&self, format: Binary) -> Nearest {
        let mantissa_bits = i64::from(format.mantissa_bits);
        let least_normal = 1 - format.bias();
        let leading = self.exponent - 1;
        let infinity = format.infinity();
        if leading > format.bias() {
            return Nearest { code: infinity, below: infinity - 1, error: 0.0, tie_bits: 0 };
        }
        // The first `whole_bits` of the leading bits are units in the last place; the others are a
        // fraction of one.
        let whole_bits = self.exponent - (leading.max(least_normal) - mantissa_bits);
        let (whole, fraction) = match u32::try_from(whole_bits) {
            Ok(0) => (0, self.limbs),
            Ok(bits) => (self.limbs[LIMBS - 1] >> (64 - bits), shifted_left(&self.limbs, bits)),
            Err(_) => (0, shifted_right(&self.limbs, whole_bits.unsigned_abs())),
        };
        let exponents =
            u64::try_from((leading - least_normal).max(0)).expect("not negative") << format.mantissa_bits;
        let below = exponents + whole;
        let half = fraction[LIMBS - 1] >> 63 == 1;
        let mut from_middle = if half { fraction } else { fraction.map(|limb| !limb) };
        from_middle[LIMBS - 1] &= u64::MAX >> 1;
        let tie_bits = leading_zeros(&from_middle);
        let tie = half && tie_bits == WIDE_BITS && !self.inexact;
        let up = half && (!tie || below & 1 == 1);
        let fraction =
            f64::from(u32::try_from(fraction[LIMBS - 1] >> 32).expect("32 bits are left")) * 2f64.powi(-32);
        let code = below + u64::from(up);
        let error = match code == infinity {
            true => 0.0,
            false if up => 1.0 - fraction,
            false => fraction,
        };
        Nearest { code, below, error, tie_bits }
    }
}

/// The limbs of a little-endian number.
pub(crate) fn limbs(bytes: &[u8]) -> Vec<u64> {
    let limb = |chunk: &[u8]| chunk.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
    bytes.chunks(8).map(limb).collect()
}

/// Shifted by less than a limb; what leaves at the top is dropped.
fn shifted_left(limbs: &[u64; LIMBS], by: u32) -> [u64; LIMBS] {
    if by == 0 {
        return *limbs;
    }
    std::array::from_fn(|i| limbs[i] << by | if i == 0 { 0 } else { limbs[i - 1] >> (64 - by) })
}

fn shifted_right(limbs: &[u64; LIMBS], by: u64) -> [u64; LIMBS] {
    let places = usize::try_from(by / 64).unwrap_or(LIMBS).min(LIMBS);
    let by = by % 64;
    let limb = |i: usize| limbs.get(i + places).copied().unwrap_or(0);
    std::array::from_fn(|i| limb(i) >> by | if by == 0 { 0 } else { limb(i + 1) << (64 - by) })
}

fn leading_zeros(limbs: &[u64; LIMBS]) -> u32 {
    let mut zeros = 0;
    for limb in limbs.iter().rev() {
        zeros += limb.leading_zeros();
        if *limb != 0 {
            break;
        }
    }
    zeros
}
