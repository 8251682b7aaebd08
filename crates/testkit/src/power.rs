//! Powers of reals, in another library's arithmetic.

use std::cell::RefCell;

use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use dashu_base::BitTest;
use dashu_int::{IBig, UBig};

use crate::Real;

/// The bits of the leading one downward that [`power`] gets right, at least.
pub const POWER_BITS: usize = 320;

thread_local! {
    static CONSTS: RefCell<Consts> = RefCell::new(Consts::new().expect("memory suffices"));
}

/// Computes with enough bits of precision and the constants of the library.
pub(crate) fn with<T>(compute: impl FnOnce(usize, RoundingMode, &mut Consts) -> T) -> T {
    CONSTS.with_borrow_mut(|consts| compute(POWER_BITS + 64, RoundingMode::None, consts))
}

/// The nearest number of the library.
pub(crate) fn float(x: &Real) -> BigFloat {
    let integer = |magnitude: &UBig| {
        let bytes = magnitude.to_le_bytes();
        let words: Vec<u64> = bytes
            .chunks(8)
            .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
            .collect();
        if words.is_empty() {
            return BigFloat::from_u8(0, POWER_BITS);
        }
        let bits = i32::try_from(64 * words.len()).expect("numbers are of moderate size");
        BigFloat::from_words(&words, Sign::Pos, bits)
    };
    let (sign, numerator) = x.numerator().clone().into_parts();
    let quotient = with(|bits, rounding, _| {
        integer(&numerator).div(&integer(x.denominator()), bits + 64 * numerator.as_words().len(), rounding)
    });
    if sign == dashu_base::Sign::Negative { quotient.neg() } else { quotient }
}

/// The exact real of a finite number of the library.
pub(crate) fn real(x: &BigFloat) -> Real {
    let (words, _, sign, exponent, _) = x.as_raw_parts().expect("the number is finite");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let magnitude = Real::from(IBig::from(UBig::from_le_bytes(&bytes)));
    let magnitude = if sign == Sign::Neg { -magnitude } else { magnitude };
    let shift = i64::from(exponent) - 64 * i64::try_from(words.len()).expect("there are few words");
    let power =
        Real::from(IBig::ONE << usize::try_from(shift.unsigned_abs()).expect("exponents are moderate"));
    if shift < 0 { magnitude / power } else { magnitude * power }
}

/// `base ^ exponent` of a positive base; relatively off by less than 2^-[`POWER_BITS`].
pub fn power(base: &Real, exponent: &Real) -> Real {
    let (base, exponent) = (float(base), float(exponent));
    real(&with(|bits, rounding, consts| base.pow(&exponent, bits, rounding, consts)))
}

/// Returns true if `value` is `base ^ exponent`, for a positive base that is a quotient of two
/// floats.
///
/// With the exponent `p/q` in lowest terms, `value^q` is `base^p` only if numerator and denominator
/// of the base are `q`th powers, which no number other than 1 is that has fewer bits than `q`.
pub fn is_power(value: &Real, base: &Real, exponent: &Real) -> bool {
    if *base == Real::ONE {
        return *value == Real::ONE;
    }
    let (Ok(p), Ok(q)) =
        (isize::try_from(exponent.numerator().clone()), isize::try_from(exponent.denominator().clone()))
    else {
        return false;
    };
    let bits = |x: &Real| x.numerator().bit_len().max(x.denominator().bit_len());
    // Nor is `p` larger than the bits of the value's power.
    if q.unsigned_abs() > bits(base) || p.unsigned_abs() > bits(value) * q.unsigned_abs() {
        return false;
    }
    value.pow(q) == base.pow(p)
}

/// The complex number `e ^ (re + i im)`, each part off by less than 2^-[`POWER_BITS`] of the
/// modulus.
pub fn exponential(re: &Real, im: &Real) -> [Real; 2] {
    let (re, im) = (float(re), float(im));
    let parts = with(|bits, rounding, consts| {
        let modulus = re.exp(bits, rounding, consts);
        [im.cos(bits, rounding, consts), im.sin(bits, rounding, consts)]
            .map(|part| part.mul(&modulus, bits, rounding))
    });
    parts.each_ref().map(real)
}

/// The principal logarithm of a complex number other than zero.
pub fn logarithm(re: &Real, im: &Real) -> [Real; 2] {
    let square = float(&(re * re + im * im));
    let log = with(|bits, rounding, consts| square.ln(bits, rounding, consts));
    let pi = real(&with(|bits, rounding, consts| consts.pi(bits, rounding)));
    let (zero, two) = (Real::ZERO, Real::from(2u8));
    let arc_tangent = |x: &Real| {
        let x = float(x);
        real(&with(|bits, rounding, consts| x.atan(bits, rounding, consts)))
    };
    let angle = if re.clone() > zero {
        arc_tangent(&(im / re))
    } else if im.clone() == zero {
        pi
    } else {
        // Off the axis the quotient with the imaginary part below is defined: a quarter turn less
        // its arc tangent.
        let quarter = if im.clone() > zero { pi / &two } else { -pi / &two };
        quarter - arc_tangent(&(re / im))
    };
    [real(&log) / two, angle]
}
