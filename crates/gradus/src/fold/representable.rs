//! Results of powers, elementary functions and ranges that are numbers of their type: rounding does
//! not change them, so they are the same bits wherever they are rounded at all.

use gradus_core::convert::{i64_of, nearest_f64, truncated};
use gradus_core::float::Parts;
use gradus_core::{DType, Number, Tensor};

use super::rules::NodeView;
use crate::operators::range::exact_length;

/// Most elements that are looked at one by one.
const MOST_ELEMENTS: usize = 1 << 12;

/// The only arguments for which these functions are rational, and the values there.
const RATIONAL: [(&str, f64, f64); 15] = [
    ("Exp", 0.0, 1.0),
    ("Log", 1.0, 0.0),
    ("Sin", 0.0, 0.0),
    ("Cos", 0.0, 1.0),
    ("Tan", 0.0, 0.0),
    ("Asin", 0.0, 0.0),
    ("Acos", 1.0, 0.0),
    ("Atan", 0.0, 0.0),
    ("Sinh", 0.0, 0.0),
    ("Cosh", 0.0, 1.0),
    ("Tanh", 0.0, 0.0),
    ("Asinh", 0.0, 0.0),
    ("Acosh", 1.0, 0.0),
    ("Atanh", 0.0, 0.0),
    ("Erf", 0.0, 0.0),
];

/// Returns true if a node computes a power, an elementary function or a range.
pub(super) fn may_be(view: &NodeView<'_, '_>) -> bool {
    matches!(view.function(), "Pow" | "Range") || RATIONAL.iter().any(|(name, ..)| *name == view.function())
}

/// Returns true if each element that such a node has of constants is exact.
pub(super) fn is_representable(view: &NodeView<'_, '_>, output: &Tensor) -> bool {
    let function = RATIONAL.iter().find(|(name, ..)| *name == view.function());
    if output.shape().len() > MOST_ELEMENTS || !matches!(output.dtype(), DType::F32 | DType::F64) {
        return false;
    }
    let numbers = |tensor: &Tensor| -> Option<Vec<f64>> {
        let is_double = tensor.dtype().bits() < 64 || tensor.dtype() == DType::F64;
        is_double.then(|| tensor.numbers().ok().map(|all| all.map(nearest_f64).collect()))?
    };
    let input = |input: usize| numbers(&view.constant(input)?);
    if view.function() == "Range" {
        return is_exact_range(&[0, 1, 2].map(input), output.shape().len());
    }
    let (Some(values), Some(arguments)) = (numbers(output), input(0)) else { return false };
    if let Some((_, argument, value)) = function {
        let same = |a: &f64, b: f64| a.to_bits() == b.to_bits();
        return arguments.iter().all(|x| same(x, *argument)) && values.iter().all(|x| same(x, *value));
    }
    let Some(exponents) = input(1) else { return false };
    let fits = |all: &[f64]| all.len() == 1 || all.len() == values.len();
    let one = |all: &[f64], i: usize| if all.len() == 1 { all[0] } else { all[i] };
    let least = if output.dtype() == DType::F32 { f32::MIN_POSITIVE.into() } else { f64::MIN_POSITIVE };
    let exact = |(i, &value): (usize, &f64)| {
        is_power_of(value, one(&arguments, i), one(&exponents, i)) && value.abs() >= least
    };
    fits(&arguments) && fits(&exponents) && values.iter().enumerate().all(exact)
}

/// Returns true if nothing is rounded in a range: neither its elements, nor the span and the
/// quotient that its length comes from.
fn is_exact_range(arguments: &[Option<Vec<f64>>; 3], len: usize) -> bool {
    let one = |argument: &Option<Vec<f64>>| argument.as_ref()?.first().copied();
    let [Some(start), Some(limit), Some(step)] = arguments.each_ref().map(one) else { return false };
    let has_length = exact_length(start, step).is_some_and(|most| i64_of(len) <= most);
    let is_exact = |x: f64| exact_length(x, step).is_some();
    has_length && is_exact(limit) && is_exact(limit - start)
}

/// An odd integer and a power of two whose product is a finite number other than zero.
fn odd(value: f64) -> (u128, i64) {
    let Parts { mantissa, exponent, .. } = Number::Float(value).parts();
    let zeros = mantissa.trailing_zeros();
    (mantissa >> zeros, i64::from(exponent) + i64::from(zeros))
}

/// Returns true if a number is a power of another, exactly: the exponent is an integer, or half of
/// one and the base a square.
fn is_power_of(value: f64, base: f64, exponent: f64) -> bool {
    let halves = exponent * 2.0;
    if !(value.is_finite() && base.is_finite() && halves.abs() < 4096.0) || value == 0.0 || base == 0.0 {
        return false;
    }
    let whole = truncated(halves).filter(|_| halves.fract() == 0.0);
    let Some(halves) = whole.and_then(|halves| i32::try_from(halves).ok()) else { return false };
    let (mut mantissa, mut power) = odd(base);
    let mut times = halves / 2;
    if halves % 2 != 0 {
        let root = mantissa.isqrt();
        if base < 0.0 || root * root != mantissa || power % 2 != 0 {
            return false;
        }
        (mantissa, power, times) = (root, power / 2, halves);
    }
    if times < 0 && mantissa != 1 {
        return false;
    }
    let Some(product) = mantissa.checked_pow(times.unsigned_abs()) else { return false };
    let negative = base < 0.0 && times % 2 != 0;
    odd(value) == (product, power * i64::from(times)) && (value < 0.0) == negative
}

#[cfg(test)]
mod tests {
    use super::{is_exact_range, is_power_of};

    #[test]
    fn ranges_are_exact_where_nothing_is_rounded() {
        let range = |start: f64, limit: f64, step: f64, len| {
            is_exact_range(&[start, limit, step].map(|x| Some(vec![x])), len)
        };
        assert!(range(0.0, 28.0, 1.0, 28) && range(7.5, 0.0, -0.25, 30) && range(0.0, 0.0, 1.0, 0));
        assert!(!range(0.0, 1.0, f64::from(0.1f32), 10), "elements are rounded");
        assert!(!range(-1.0, 1e-9, 1.0, 2), "the span is rounded, and with it the length");
        assert!(!range(16_777_210.0, 16_777_222.0, 1.0, 12), "elements have more than 24 bits");
        assert!(!is_exact_range(&[Some(vec![0.0]), None, Some(vec![1.0])], 1));
    }

    #[test]
    fn powers_are_told_from_roundings() {
        let exact = [
            (4.0, 16.0, 0.5),
            (0.25, 16.0, -0.5),
            (27.0, 9.0, 1.5),
            (-8.0, -2.0, 3.0),
            (4.0, -2.0, 2.0),
            (-0.125, -2.0, -3.0),
            (1.0, 7.0, 0.0),
            (0.0625, 0.25, 2.0),
            (2f64.powi(1000), 2f64.powi(500), 2.0),
        ];
        for (value, base, exponent) in exact {
            assert!(is_power_of(value, base, exponent), "{base}^{exponent}");
            assert!(!is_power_of(-value, base, exponent), "{base}^{exponent}");
            assert!(!is_power_of(value.next_up(), base, exponent), "{base}^{exponent}");
        }
        let rounded =
            [(2.0, 0.5), (8.0, 0.5), (3.0, -1.0), (16.0, 0.25), (3.0, 41.0), (1.1, 2.0), (2.0, 1e300)];
        for (base, exponent) in rounded {
            assert!(!is_power_of(f64::powf(base, exponent), base, exponent), "{base}^{exponent}");
        }
    }
}
