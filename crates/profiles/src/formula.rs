//! The formulas of elements that several programs share.

use std::fmt::Debug;

use gradus_core::convert::{self, Rules, nearest_f64};
use gradus_core::float::Format;
use gradus_core::{DType, Number};

use crate::machine::{index, rounded, typed};

/// How the elements of a prediction come about.
pub(crate) trait Formula: Debug + Send + Sync {
    /// Element `i` of the whole sequence.
    fn at(&self, i: u64) -> Number;

    /// All elements from `i` on, without end.
    fn from(&self, i: u64) -> Box<dyn Iterator<Item = Number> + '_> {
        Box::new((i..).map(|i| self.at(i)))
    }
}

/// A cast of a value to the type of the elements.
pub(crate) type CastFunction = fn(DType, f64) -> Number;

/// Rounding to the type of the elements.
pub(crate) fn nearest(dtype: DType, x: f64) -> Number {
    typed(dtype, Number::Float(x))
}

/// `start + i * step` in integers, cut to the low bits of `width`: also the sum of integers that
/// wrap.
#[derive(Debug)]
pub(crate) struct WrappingRange {
    pub width: DType,
    pub dtype: DType,
    pub start: i128,
    pub step: i128,
}

impl Formula for WrappingRange {
    fn at(&self, i: u64) -> Number {
        // The low 64 bits of the index and of the step make those of the product.
        let exact = self.start.wrapping_add(self.step.wrapping_mul(i128::from(i)));
        typed(self.dtype, typed(self.width, Number::Int(exact)))
    }
}

/// `start + i * step`, with index, product and sum each rounded to `format`, and the result cast.
#[derive(Debug)]
pub(crate) struct ScaledLine {
    pub format: DType,
    pub start: f64,
    pub step: f64,
    pub dtype: DType,
    pub cast: CastFunction,
}

impl Formula for ScaledLine {
    fn at(&self, i: u64) -> Number {
        let product = rounded(self.format, index(self.format, i) * self.step);
        (self.cast)(self.dtype, rounded(self.format, self.start + product))
    }
}

/// `value = value + step`, over and over, in `float32` or `float64`; and each cast.
#[derive(Debug)]
pub(crate) struct Summed {
    pub format: DType,
    pub start: f64,
    pub step: f64,
    pub dtype: DType,
    pub cast: CastFunction,
}

impl Summed {
    fn add(&self, value: f64) -> f64 {
        rounded(self.format, value + self.step)
    }

    /// The sum of `start` and `i` steps, without taking every step.
    ///
    /// While the sum stays among the numbers of one sign and exponent, which are multiples of one
    /// `ulp`, a step takes it further by the multiple nearest to the step. If two are equally near,
    /// the first step makes the last bit even, and from there on always the same of the two does.
    /// So all steps after the first are equal, and those that stay strictly inside can be taken at
    /// once. At either end a sum may be rounded to another ulp: there steps are taken one by one. A
    /// sum meets each exponent at most twice, and is soon too large for the step.
    fn sum(&self, i: u64) -> f64 {
        let format = Format::of(self.format).expect("sums are of floats");
        let fraction_bits = format.precision() - 1;
        let code = |x: f64| convert::code(self.format, Number::Float(x), Rules::IEEE);
        let (mut value, mut left) = (self.start, i);
        while left > 0 {
            let next = self.add(value);
            left -= 1;
            if next.is_nan() {
                return next;
            }
            let codes = [value, next, self.add(next)].map(code);
            value = next;
            let [first, second, third] = codes;
            if codes.iter().any(|code| code >> fraction_bits != first >> fraction_bits) {
                continue;
            }
            let fraction = second & ((1 << fraction_bits) - 1);
            let (room, stride) = if third >= second {
                ((1 << fraction_bits) - 1 - fraction, third - second)
            } else {
                (fraction.saturating_sub(1), second - third)
            };
            if stride == 0 {
                return value;
            }
            let taken = left.min(room / stride);
            let code = if third >= second { second + taken * stride } else { second - taken * stride };
            value = nearest_f64(convert::number(self.format, code));
            left -= taken;
        }
        value
    }
}

impl Formula for Summed {
    fn at(&self, i: u64) -> Number {
        (self.cast)(self.dtype, self.sum(i))
    }

    fn from(&self, i: u64) -> Box<dyn Iterator<Item = Number> + '_> {
        let sums = std::iter::successors(Some(self.sum(i)), |&value| Some(self.add(value)));
        Box::new(sums.map(|value| (self.cast)(self.dtype, value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summed(format: DType, start: f64, step: f64) -> Summed {
        Summed { format, start, step, dtype: format, cast: nearest }
    }

    /// Every sum up to the `n`th against the one before it and a step.
    fn check(sums: &Summed, n: u64) {
        let mut value = sums.start;
        for i in 0..n {
            assert_eq!(sums.sum(i).to_bits(), value.to_bits(), "{sums:?}: {i}");
            value = sums.add(value);
        }
    }

    #[test]
    fn sums_stall_cross_zero_and_break_ties_as_if_taken_one_by_one() {
        for (start, step) in [
            (16_777_208.0, 1.0),
            (16_777_216.0, 1.0),
            (-16_777_216.0, 1.0),
            (8_388_608.0, 0.5),
            (8_388_609.0, 0.5),
            (8_388_609.0, 1.5),
            (8_388_700.0, -0.5),
            (33_554_500.0, -3.0),
            (-1.0, 0.1),
            (1.0, -0.001),
            (0.0, 1e-45),
            (1e-44, -1e-45),
            (-0.0, 0.0),
            (f64::INFINITY, 1.0),
            (f64::NAN, 1.0),
            (3e38, 1e37),
        ] {
            let narrow = |x| rounded(DType::F32, x);
            check(&summed(DType::F32, narrow(start), narrow(step)), 300);
            check(&summed(DType::F64, start, step), 300);
        }
    }

    #[test]
    fn a_long_sum_takes_no_longer_than_a_short_one() {
        let sums = summed(DType::F32, 0.0, 1.0);
        assert_eq!(sums.sum(u64::MAX), 16_777_216.0);
        let sums = summed(DType::F32, 0.0, rounded(DType::F32, 0.1));
        assert_eq!(rounded(DType::F32, sums.sum(999_999)), rounded(DType::F32, 100_958.24));
    }

    proptest! {
        #[test]
        fn sums_are_those_of_single_steps(
            start in any::<u32>().prop_map(f32::from_bits),
            step in any::<u32>().prop_map(f32::from_bits),
            part in -2.0..2.0f32,
            power in -30..2i32,
            is_near in any::<bool>(),
        ) {
            let step = if is_near { start * part * 2f32.powi(power) } else { step };
            check(&summed(DType::F32, start.into(), step.into()), 200);
        }

        #[test]
        fn sums_in_float64_are_those_of_single_steps(start in -1e3..1e3f64, step in -1e3..1e3f64, n in 0..60i32) {
            check(&summed(DType::F64, start, step * 2f64.powi(-n)), 200);
        }
    }
}
