//! Floating-point formats as lists of their numbers.

use dashu_base::Approximation;

use crate::{Real, real};

/// The double nearest to a real, ties to even.
pub fn nearest_f64(x: &Real) -> f64 {
    match x.to_f64() {
        Approximation::Exact(value) | Approximation::Inexact(value, _) => value,
    }
}

/// The single nearest to a real, ties to even.
pub fn nearest_f32(x: &Real) -> f32 {
    match x.to_f32() {
        Approximation::Exact(value) | Approximation::Inexact(value, _) => value,
    }
}

/// A format of at most 16 bits: one sign bit, then the exponent, then the mantissa.
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa.
    pub mantissa_bits: u32,
    /// The bias of the exponent field.
    pub bias: i32,
    /// The codes of finite magnitudes are those below this one.
    pub finite_codes: u32,
}

impl FloatFormat {
    /// The magnitude of a code without its sign bit, by the definition.
    pub fn magnitude(&self, code: u32) -> f64 {
        let fraction = f64::from(code & ((1 << self.mantissa_bits) - 1));
        let field = code >> self.mantissa_bits;
        let unit = 2f64.powi(-i32::try_from(self.mantissa_bits).expect("there are few bits"));
        let power = |field: u32| 2f64.powi(i32::try_from(field).expect("there are few bits") - self.bias);
        if field == 0 { power(1) * fraction * unit } else { power(field) * (1.0 + fraction * unit) }
    }

    /// The code nearest to a real, ties to the code whose last bit is 0; nothing beyond the largest
    /// number, that is where the next number, if there were one, would be as near.
    pub fn nearest(&self, x: &Real) -> Option<u32> {
        let zero = Real::ZERO;
        let negative = *x < zero;
        let magnitude = if negative { -x.clone() } else { x.clone() };
        // The first code whose number is not below the real; one more number than there are shows
        // where overflow is.
        let (mut low, mut high) = (0, self.finite_codes);
        while low < high {
            let middle = u32::midpoint(low, high);
            if real(self.magnitude(middle)) < magnitude { low = middle + 1 } else { high = middle }
        }
        let code = match low.checked_sub(1) {
            None => 0,
            Some(below) => {
                let to = real(self.magnitude(low)) - &magnitude;
                let from = &magnitude - real(self.magnitude(below));
                if from < to || (from == to && below & 1 == 0) { below } else { low }
            }
        };
        let sign = u32::from(negative) << (self.exponent_bits + self.mantissa_bits);
        (code < self.finite_codes).then_some(sign | code)
    }
}
