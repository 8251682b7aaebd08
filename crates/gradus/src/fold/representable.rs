//! Results of powers, elementary functions, ranges, sums and products that are numbers of their
//! type, and so is whatever programs have between: rounding does not change them, so they are the
//! same bits wherever they are rounded at all. Minima and maxima are among their operands.

use gradus_core::convert::{i64_of, nearest_f64, truncated};
use gradus_core::float::Parts;
use gradus_core::{DType, Number, Tensor};

use super::rules::{NodeView, Source};
use crate::normalize::Older;
use crate::operators::exact_length;
use crate::operators::{Checked, Reduces, Rounding, Row};

/// Maximum number of elements that are looked at one by one.
const MAX_ELEMENTS: usize = 1 << 12;

/// Returns true if each result of a node is one of the operands. Programs differ in NaN and in which
/// of -0 and 0 is larger.
fn chooses(view: &NodeView<'_, '_>) -> bool {
    view.known().is_some_and(|row| {
        row.rounding == Rounding::Chosen && (row.is_of_elements() || row.reduces != Reduces::No)
    })
}

/// The only argument for which the function of a node is rational, and the value there.
fn rational(view: &NodeView<'_, '_>) -> Option<[f64; 2]> {
    view.known()?.real?.rational()
}

/// The check of the function that a node computes, if it has one.
fn check(view: &NodeView<'_, '_>) -> Option<Checked> {
    view.known()?.checked.filter(|checked| match *checked {
        Checked::Nearest => !view.form().is(Older::Upsampled),
        _ => true,
    })
}

/// Returns true if results of a node may be the same in every program.
pub(super) fn may_be(view: &NodeView<'_, '_>) -> bool {
    check(view).is_some() || chooses(view) || rational(view).is_some()
}

/// Returns true if each element that such a node has of constants is exact.
pub(super) fn is_representable(view: &NodeView<'_, '_>, output: &Tensor) -> bool {
    let check = check(view);
    if check == Some(Checked::Nearest) {
        return picks_alike(view, output) == Some(true);
    }
    let function = rational(view);
    if output.shape().len() > MAX_ELEMENTS || !matches!(output.dtype(), DType::F32 | DType::F64) {
        return false;
    }
    let numbers = |tensor: &Tensor| -> Option<Vec<f64>> {
        let is_double = tensor.dtype().bits() < 64 || tensor.dtype() == DType::F64;
        is_double.then(|| tensor.numbers().ok().map(|all| all.map(nearest_f64).collect()))?
    };
    let input = |input: usize| numbers(&view.constant(input)?);
    match check {
        Some(Checked::Range) => return is_exact_range(&[0, 1, 2].map(input), output.shape().len()),
        None | Some(Checked::Power) if !chooses(view) => {}
        _ => return is_joined(view, output, &input),
    }
    let (Some(values), Some(arguments)) = (numbers(output), input(0)) else { return false };
    if let Some([argument, value]) = function {
        let same = |a: &f64, b: f64| a.to_bits() == b.to_bits();
        return arguments.iter().all(|x| same(x, argument)) && values.iter().all(|x| same(x, value));
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

/// Distance from a half or a whole at which no rounding of a coordinate picks another element.
const APART: f64 = 1.0 / 1024.0;

/// Returns true if a Resize picks the same nearest elements wherever coordinates are rounded: where
/// these are exact, as scales are powers of two, or far from where another element is nearest.
fn picks_alike(view: &NodeView<'_, '_>, output: &Tensor) -> Option<bool> {
    let coordinates = view.text("coordinate_transformation_mode", "half_pixel")?;
    let nearest = view.text("nearest_mode", "round_prefer_floor")?;
    let is_nearest = view.text("mode", "nearest")? == "nearest" && view.int("antialias", 0)? == 0;
    let given = match view.input(2) {
        Source::Missing => Vec::new(),
        _ => view.constant(2)?.numbers().ok()?.map(nearest_f64).collect(),
    };
    if !is_nearest || output.shape().len() > MAX_ELEMENTS {
        return None;
    }
    let is_power = |scale: f64| scale.is_normal() && Parts::of_float(scale).mantissa.is_power_of_two();
    let (from, to) = (view.constant(0)?, output.shape().dims());
    let mut all = from.shape().dims().iter().zip(to).map(|(&size, &wanted)| {
        let float = |size: usize| nearest_f64(Number::Int(i64_of(size).into()));
        let scale = float(wanted) / float(size);
        // Scales that are not what the sizes are to each other mean other coordinates.
        let is_given = given.is_empty() || given.contains(&scale);
        let offset = match coordinates {
            "asymmetric" => 0.0,
            "half_pixel" => 0.5,
            "pytorch_half_pixel" if wanted > 1 => 0.5,
            "align_corners" | "half_pixel_symmetric" => return wanted == size && is_given,
            _ => return false,
        };
        let edge = if nearest.starts_with("round") { 0.5 } else { 0.0 };
        let is_apart = |at: usize| {
            let distance = (float(at) + offset) / scale - offset - edge;
            (distance - distance.round()).abs() > APART
        };
        is_given && (is_power(scale) || (0..wanted).all(is_apart))
    });
    Some(all.all(|is_alike| is_alike))
}

/// Returns true if a node chooses among numbers, or adds or multiplies some without rounding.
fn is_joined(view: &NodeView<'_, '_>, output: &Tensor, input: &impl Fn(usize) -> Option<Vec<f64>>) -> bool {
    let of_elements = view.known().is_some_and(Row::is_of_elements);
    // The inputs after the first are axes.
    let operands = if of_elements { view.input_count() } else { 1 };
    let given = (0..operands).filter(|&operand| view.value(operand).is_some());
    let Some(all) = given.map(input).collect::<Option<Vec<_>>>() else { return false };
    let has_sign = |x: &f64| x.is_nan() || x.to_bits() == (-0.0f64).to_bits();
    if all.iter().any(|one| one.len() > MAX_ELEMENTS || one.iter().any(has_sign)) {
        return false;
    }
    let bits = if output.dtype() == DType::F32 { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    let flat = || all.iter().flatten().copied();
    match check(view) {
        // Bounds that are attributes, or in the wrong order, mean other things elsewhere.
        _ if view.function() == "Clip" => {
            let is_ordered = |low: &Vec<f64>, high: &Vec<f64>| low.first() <= high.first();
            let (low, high) = (view.value(1).and(all.get(1)), view.value(2).and(all.last()));
            view.former_inputs().is_empty() && low.zip(high).is_none_or(|(low, high)| is_ordered(low, high))
        }
        _ if chooses(view) => true,
        // The remainder of division by truncation is exact.
        Some(Checked::Remainder) => {
            let [dividends, divisors] = &all[..] else { return false };
            let is_positive = |x: &f64| *x > 0.0 && x.is_finite();
            dividends.iter().all(|x| *x == 0.0 || is_positive(x)) && divisors.iter().all(is_positive)
        }
        Some(Checked::Mean) => {
            let reduced = || all[0].len().checked_div(output.shape().len()).unwrap_or(0);
            let count = if of_elements { all.len() } else { reduced() };
            count.is_power_of_two() && is_exact_sum(flat(), bits)
        }
        Some(Checked::Product) => is_exact_product(flat(), bits),
        Some(Checked::SumOfSquares) => {
            flat().all(|x| x.abs() < f64::from(1u32 << 26) && has_bits(x, 26))
                && is_exact_sum(flat().map(|x| x * x), bits)
        }
        _ => is_exact_sum(flat(), bits),
    }
}

/// Smallest and largest exponents of numbers that are added or multiplied: products and quotients
/// stay far from the ends of float32.
const EXPONENTS: std::ops::RangeInclusive<i64> = -40..=40;

/// Returns true if the significant digits of a number are at most `bits`.
fn has_bits(x: f64, bits: u32) -> bool {
    x == 0.0 || (x.is_finite() && 128 - odd(x).0.leading_zeros() <= bits)
}

/// Returns true if no sum of some of these numbers, in any order, has more significant digits.
fn is_exact_sum(numbers: impl Iterator<Item = f64>, bits: u32) -> bool {
    let numbers: Vec<_> = numbers.filter(|x| *x != 0.0).collect();
    if !numbers.iter().all(|x| x.is_finite()) {
        return false;
    }
    let parts: Vec<_> = numbers.into_iter().map(odd).collect();
    let Some(least) = parts.iter().map(|(_, power)| *power).min() else { return true };
    let units = parts.into_iter().try_fold(0u128, |sum, (mantissa, power)| {
        let shift = u32::try_from(power - least).ok().filter(|shift| *shift < 64)?;
        let units = mantissa.checked_shl(shift).filter(|_| mantissa.leading_zeros() > shift)?;
        sum.checked_add(units).filter(|sum| *sum <= 1u128 << bits)
    });
    EXPONENTS.contains(&least) && units.is_some()
}

/// Returns true if no product of some of these numbers, in any order, has more significant digits.
fn is_exact_product(numbers: impl Iterator<Item = f64>, bits: u32) -> bool {
    let mut product = (1u128, 0i64);
    for x in numbers {
        if x == 0.0 || !x.is_finite() {
            return false;
        }
        let (mantissa, power) = odd(x);
        let Some(next) = product.0.checked_mul(mantissa).filter(|next| *next <= 1u128 << bits) else {
            return false;
        };
        product = (next, product.1 + power.abs());
    }
    EXPONENTS.contains(&product.1)
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
    use super::{has_bits, is_exact_product, is_exact_range, is_exact_sum, is_power_of};

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
    fn sums_and_products_are_exact_in_every_order() {
        let sum = |numbers: &[f64]| is_exact_sum(numbers.iter().copied(), 24);
        assert!(sum(&[]) && sum(&[0.0]) && sum(&[1.5, -2.25, 1e6]) && sum(&[16_777_215.0, 1.0]));
        assert!(!sum(&[16_777_215.0, 2.0]), "a sum of 25 bits");
        assert!(!sum(&[16_777_215.0, 2.0, -16_777_215.0]), "some order has a sum of 25 bits");
        assert!(!sum(&[1.0, 2f64.powi(-30)]) && !sum(&[f64::INFINITY]) && !sum(&[2f64.powi(-60)]));
        assert!(has_bits(0.0, 1) && has_bits(-3.0, 2) && !has_bits(5.0, 2) && !has_bits(f64::NAN, 52));
        let product = |numbers: &[f64]| is_exact_product(numbers.iter().copied(), 24);
        assert!(product(&[]) && product(&[3.0, -0.5, 5.0]) && product(&[4096.0, 0.25]));
        assert!(!product(&[f64::from(0.1f32), f64::from(0.3f32)]) && !product(&[0.0]));
        assert!(!product(&[2f64.powi(30), 2f64.powi(-30)]), "some order may leave the range of a type");
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
