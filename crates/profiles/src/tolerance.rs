//! Tolerances of predictions.

use gradus_core::convert::{self, Rules, nearest_f64};
use gradus_core::float::Format;
use gradus_core::{DType, Number};

/// The largest difference between an element of the program and the predicted one.
///
/// Units in the last place are those of the element type; of elements that are integers, those of
/// the float type `of`, in which the program computes them, and the cut to an integer is 1 more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Bit for bit, but for the bits of NaN.
    Bits,
    /// At most `ulps` units in the last place of the element: the program calls a power function,
    /// and those differ between libraries.
    Ulps {
        /// The number of units.
        ulps: u64,
        /// The type in which integers are computed.
        of: DType,
    },
    /// At most `ulps` units in the last place of a number, the larger end of a line: which
    /// operations are fused is left to a compiler.
    UlpsAt {
        /// The number of units.
        ulps: u64,
        /// The type in which integers are computed.
        of: DType,
        /// The number that has the units.
        at: f64,
    },
}

impl Tolerance {
    /// How far elements of a type may be from the predicted ones, in words: `1 ulp`; nothing where
    /// none is.
    pub fn describe(self, dtype: DType) -> Option<String> {
        let (ulps, of, at) = match self {
            Tolerance::Bits => return None,
            Tolerance::Ulps { ulps, of } => (ulps, of, ""),
            Tolerance::UlpsAt { ulps, of, .. } => (ulps, of, " of the larger end"),
        };
        Some(match Format::of(dtype) {
            Some(_) => format!("{ulps} ulp{at}"),
            None => format!("{ulps} ulp of {of}{at}, then cut"),
        })
    }

    /// Returns true if a program may return `element` where `predicted` is predicted.
    pub(crate) fn allows(self, dtype: DType, predicted: Number, element: Number) -> bool {
        if predicted == element {
            return true;
        }
        let (a, b) = (nearest_f64(predicted), nearest_f64(element));
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        let is_near = |ulps: u64, of: DType, at: f64| {
            let units = nearest_f64(Number::Int(ulps.into()));
            // Numbers that are cut to integers are apart by one more than the whole units between.
            let most = match Format::of(dtype) {
                Some(_) => units * ulp(dtype, at),
                None => (units * ulp(of, at)).floor() + 1.0,
            };
            (a - b).abs() <= most
        };
        match self {
            Tolerance::Bits => false,
            // Infinity is the next to the largest.
            Tolerance::Ulps { ulps, .. } if Format::of(dtype).is_some() => {
                place(dtype, a).abs_diff(place(dtype, b)) <= ulps
            }
            Tolerance::Ulps { ulps, of } => is_near(ulps, of, a),
            Tolerance::UlpsAt { ulps, of, at } => is_near(ulps, of, at),
        }
    }
}

/// The number of elements of a type between two, and one of them; `None` if one is NaN or complex.
/// Both zeros count as one element.
pub fn distance(dtype: DType, a: Number, b: Number) -> Option<u64> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => u64::try_from(a.abs_diff(b)).ok(),
        (Number::Float(a), Number::Float(b)) if !a.is_nan() && !b.is_nan() => {
            Some(place(dtype, a).abs_diff(place(dtype, b)))
        }
        _ => None,
    }
}

/// The position of a float in the ordered floats of its type; both zeros are at 0.
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
    fn a_tolerance_says_what_has_the_units() {
        let powers = Tolerance::Ulps { ulps: 1, of: DType::F64 };
        assert_eq!(powers.describe(DType::F32).unwrap(), "1 ulp");
        assert_eq!(powers.describe(DType::I64).unwrap(), "1 ulp of float64, then cut");
        let line = Tolerance::UlpsAt { ulps: 10, of: DType::F32, at: 8.0 };
        assert_eq!(line.describe(DType::F32).unwrap(), "10 ulp of the larger end");
        assert_eq!(Tolerance::Bits.describe(DType::F32), None);
    }

    #[test]
    fn a_tolerance_is_as_wide_as_it_says() {
        let float = |x: f64| Number::Float(x);
        let one = Tolerance::Ulps { ulps: 1, of: DType::F64 };
        let many = Tolerance::Ulps { ulps: 47, of: DType::F64 };
        let one_narrow = Tolerance::Ulps { ulps: 1, of: DType::F32 };
        let two_at_8 = Tolerance::UlpsAt { ulps: 2, of: DType::F64, at: 8.0 };
        let cases = [
            (Tolerance::Bits, DType::F64, float(1.0), float(1.0), true),
            (Tolerance::Bits, DType::F64, float(1.0), float(1.0f64.next_up()), false),
            (Tolerance::Bits, DType::F64, float(0.0), float(-0.0), false),
            (Tolerance::Bits, DType::F32, float(f64::NAN), float(-f64::NAN), true),
            (one, DType::F64, float(1.0), float(1.0f64.next_up()), true),
            (one, DType::F64, float(1.0), float(1.0f64.next_up().next_up()), false),
            (one, DType::F64, float(f64::INFINITY), float(f64::MAX), true),
            (one, DType::F64, float(f64::NAN), float(f64::MAX), false),
            (one, DType::I32, Number::Int(99), Number::Int(100), true),
            (one, DType::I32, Number::Int(98), Number::Int(100), false),
            (one, DType::I64, Number::Int(1 << 54), Number::Int((1 << 54) + 4), true),
            (one, DType::I64, Number::Int(1 << 54), Number::Int((1 << 54) + 8), false),
            (one_narrow, DType::I32, Number::Int(1 << 30), Number::Int((1 << 30) + 128), true),
            (one_narrow, DType::I32, Number::Int(1 << 30), Number::Int((1 << 30) + 130), false),
            (many, DType::I64, Number::Int(9), Number::Int(10), true),
            (many, DType::I64, Number::Int(9), Number::Int(11), false),
            (two_at_8, DType::F32, float(0.0), float(1e-6), true),
            (two_at_8, DType::F32, float(0.0), float(2e-6), false),
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
