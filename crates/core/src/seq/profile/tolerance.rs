//! How far a program's element may be from the predicted one.

use crate::convert::{self, Rules, nearest_f64};
use crate::dtype::DType;
use crate::exact::Number;
use crate::float::Format;

/// How far a program's element may be from the predicted one.
///
/// Units in the last place are those of the element type; of elements that are integers, those of float64, but at
/// least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Bit for bit, but for the bits of NaN.
    Bits,
    /// So many units in the last place of the element: the program calls a power function, and those differ between
    /// libraries.
    Ulps(u64),
    /// So many units in the last place of that number, the larger end of a line: which operations are fused is left
    /// to a compiler.
    UlpsOf(u64, f64),
}

impl Tolerance {
    /// Whether a program may have this element where that one is predicted.
    pub(super) fn allows(self, dtype: DType, predicted: Number, element: Number) -> bool {
        if predicted == element {
            return true;
        }
        let (a, b) = (nearest_f64(predicted), nearest_f64(element));
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        let times = |ulps: u64, unit: f64| nearest_f64(Number::Int(ulps.into())) * unit;
        match (self, Format::of(dtype)) {
            (Tolerance::Bits, _) => false,
            (Tolerance::Ulps(ulps), Some(_)) => place(dtype, a).abs_diff(place(dtype, b)) <= ulps,
            (Tolerance::Ulps(ulps), None) => (a - b).abs() <= times(ulps, ulp(DType::F64, a).max(1.0)),
            (Tolerance::UlpsOf(ulps, of), format) => {
                let unit = if format.is_some() { ulp(dtype, of) } else { ulp(DType::F64, of).max(1.0) };
                (a - b).abs() <= times(ulps, unit)
            }
        }
    }
}

/// Where a float stands among the floats of its type in their order; both zeros are at 0.
fn place(dtype: DType, x: f64) -> i64 {
    let magnitude = convert::code(dtype, Number::Float(x.abs()), Rules::IEEE).cast_signed();
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The distance to the next float of a type.
fn ulp(dtype: DType, x: f64) -> f64 {
    let code = convert::code(dtype, Number::Float(x.abs()), Rules::IEEE);
    let value = |code| nearest_f64(convert::number(dtype, code));
    let step = value(code + 1) - value(code);
    if step.is_finite() { step } else { value(code) - value(code.saturating_sub(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_as_wide_as_it_says() {
        let float = |x: f64| Number::Float(x);
        let cases = [
            (Tolerance::Bits, DType::F64, float(1.0), float(1.0), true),
            (Tolerance::Bits, DType::F64, float(1.0), float(1.0f64.next_up()), false),
            (Tolerance::Bits, DType::F64, float(0.0), float(-0.0), false),
            (Tolerance::Bits, DType::F32, float(f64::NAN), float(-f64::NAN), true),
            (Tolerance::Ulps(1), DType::F64, float(1.0), float(1.0f64.next_up()), true),
            (Tolerance::Ulps(1), DType::F64, float(1.0), float(1.0f64.next_up().next_up()), false),
            (Tolerance::Ulps(1), DType::F64, float(f64::INFINITY), float(f64::MAX), true),
            (Tolerance::Ulps(1), DType::F64, float(f64::NAN), float(f64::MAX), false),
            (Tolerance::Ulps(1), DType::I32, Number::Int(99), Number::Int(100), true),
            (Tolerance::Ulps(1), DType::I32, Number::Int(98), Number::Int(100), false),
            (Tolerance::Ulps(1), DType::I64, Number::Int(1 << 54), Number::Int((1 << 54) + 4), true),
            (Tolerance::Ulps(1), DType::I64, Number::Int(1 << 54), Number::Int((1 << 54) + 8), false),
            (Tolerance::UlpsOf(2, 8.0), DType::F32, float(0.0), float(1e-6), true),
            (Tolerance::UlpsOf(2, 8.0), DType::F32, float(0.0), float(2e-6), false),
        ];
        for (tolerance, dtype, predicted, element, want) in cases {
            assert_eq!(
                tolerance.allows(dtype, predicted, element),
                want,
                "{tolerance:?}: {predicted:?} {element:?}"
            );
        }
    }
}
