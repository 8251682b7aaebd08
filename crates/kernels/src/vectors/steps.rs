//! Sequences of few values: floats of at most 8 bits, and integers of that many which are powers.
//!
//! Elements are in order, so that those with one code are neighbours. The index at which a line or
//! a power crosses the number between two codes is a quotient of doubles, with a bound of its
//! error: only an element within it is made to be asked.

use bytemuck::Pod;
use gradus_core::convert::{self, FromNumber, Rules, i32_of, low_u8, nearest_f64, u64_of, usize_of};
use gradus_core::dtype::Class;
use gradus_core::{DType, Number, float};
use gradus_sequences::PowerLine;

use crate::functions::power_of_two;
use crate::vectors::affine::Affine;
use crate::vectors::stream;
use crate::vectors::writer::{ExactElement, is_nan};

/// A sequence in order.
#[derive(Clone, Debug)]
pub enum Curve {
    /// Numbers on a straight line.
    Line(Box<Affine>),
    /// Powers.
    Powers(PowerLine),
}

/// A sequence of few values, prepared.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The sequence.
    pub curve: Curve,
    dtype: DType,
    /// The number at index 0, or its logarithm.
    start: f64,
    /// The difference of neighbours.
    step: f64,
    /// Elements before those of the curve.
    before: f64,
    /// Error bound of an index, besides that of the operations.
    error: f64,
}

/// Elements for each code from which on its crossing is sought; of fewer, each is made.
const FEW: usize = 2;

/// Fewer powers of integers than this are made by tables.
const MANY: u64 = 256;

/// Error bound of a logarithm to base 2 of the standard library, for what lies between codes.
const LOGARITHM: f64 = power_of_two(-44);

impl Curve {
    /// The code of an element, if the bounds of the number say so; a zero may have a sign.
    fn settled(&self, i: u64, dtype: DType) -> Option<u64> {
        match self {
            Curve::Line(affine) => affine.settled(i, dtype),
            Curve::Powers(line) => settled(line, i, dtype),
        }
    }
}

/// The code of an element on a line of powers, if the bounds of the wide power round to the same.
pub fn settled(line: &PowerLine, i: u64, dtype: DType) -> Option<u64> {
    let power = line.at(i.checked_sub(line.before).filter(|&i| i < line.len)?);
    // With 127 bits, 2^-110 of the power is less than 2^18 units.
    let [low, high] = [power.mantissa / 2 - (1 << 18), power.mantissa / 2 + (1 << 18)].map(|mantissa| {
        let bound = float::Parts { mantissa, exponent: power.exponent + 1, ..power };
        convert::code_of_parts(dtype, bound, Rules::IEEE)
    });
    (low == high).then_some(low)
}

impl Steps {
    /// Returns true if a type has few numbers.
    pub fn are_few(dtype: DType) -> bool {
        dtype.is_real() && dtype.bits() <= 8
    }

    /// Returns true if `len` powers are worth steps: floats of few bits, and many integers that do
    /// not wrap around.
    pub fn fits(line: &PowerLine, len: u64, dtype: DType) -> bool {
        let bits = i32_of(dtype.bits()) - i32::from(dtype.class() == Class::Signed);
        let is_within = || line.len > 0 && [0, line.len - 1].iter().all(|&i| line.logarithm(i) < bits);
        Steps::are_few(dtype) && (dtype.is_float() || len >= MANY && is_within())
    }

    /// The elements of a type of at most 8 bits on a curve, if [`fits`](Self::fits) says so of
    /// powers.
    pub fn new(curve: Curve, dtype: DType) -> Steps {
        let (start, step, before, slack) = match &curve {
            Curve::Line(affine) => (affine.first(0).high, affine.step.high, 0, 2.0 * affine.slack),
            Curve::Powers(line) => (line.start(), line.slope(), line.before, LOGARITHM),
        };
        // The start is off by a part of 2^-52.
        let error = (power_of_two(-51) * start.abs() + slack) / step.abs();
        let before = nearest_f64(Number::Int(before.into()));
        Steps { curve, dtype, start, step, before, error }
    }

    /// Writes elements from index `lo` on as codes, past the caches if `streams`; `exact` makes one
    /// that is in doubt.
    #[inline(always)]
    pub fn write<T: Pod>(&self, streams: bool, exact: ExactElement<'_, T>, lo: u64, out: &mut [T]) {
        let walk = Walk { steps: self, streams, exact };
        if let Some((end, before)) = out.split_last_mut() {
            *end = walk.element(lo + u64_of(before.len()));
            if !before.is_empty() {
                walk.between(lo, [walk.code(lo), bytemuck::cast(*end)], before);
            }
        }
    }

    /// The index at which elements change from one number to the next, and by how much it may be
    /// off: four operations are off by 2^-53 of it each.
    #[inline(always)]
    fn crossing(&self, number: f64, next: f64) -> (f64, f64) {
        let threshold = match self.dtype.is_integer() {
            true if number.abs() < next.abs() => next,
            true => number,
            false => 0.5 * (number + next),
        };
        let place = match self.curve {
            Curve::Line(_) => threshold,
            Curve::Powers(_) => threshold.abs().log2(),
        };
        let index = self.before + (place - self.start) / self.step;
        (index, power_of_two(-50) * index.abs() + self.error)
    }

    fn number(&self, code: u8) -> f64 {
        nearest_f64(convert::number(self.dtype, code.into()))
    }

    /// Returns true if two codes differ in their lower bits, and stand for finite numbers.
    fn are_comparable(&self, codes: [u8; 2]) -> bool {
        let top = 1 << (self.dtype.bits() - 1);
        (codes[0] ^ codes[1]) & top == 0 && codes.into_iter().all(|code| self.number(code).is_finite())
    }
}

/// A slice, from one code to the next.
struct Walk<'a, T> {
    steps: &'a Steps,
    streams: bool,
    exact: ExactElement<'a, T>,
}

impl<T: Pod> Walk<'_, T> {
    /// Writes a slice of which the first code is known, and the one after the last.
    #[inline(always)]
    fn between(&self, mut lo: u64, [mut first, behind]: [u8; 2], mut out: &mut [T]) {
        let apart = usize::from(first.abs_diff(behind));
        if self.steps.are_comparable([first, behind]) && apart * FEW <= out.len() {
            let mut number = self.steps.number(first);
            while first != behind {
                let next = if first < behind { first + 1 } else { first - 1 };
                let next_number = self.steps.number(next);
                let crossing = self.steps.crossing(number, next_number);
                let Some(count) = self.reach(lo, out.len(), first, crossing) else {
                    // Codes before may have had no element.
                    first = if out.is_empty() { first } else { self.code(lo) };
                    break;
                };
                let part = out.split_off_mut(..count).unwrap_or_default();
                stream::fill(self.streams, part, bytemuck::cast(first));
                (lo, first, number) = (lo + u64_of(count), next, next_number);
            }
        }
        // NaN may stand for both what is too large and what is too small.
        let is_nan = is_nan(convert::number(self.steps.dtype, first.into()));
        if out.len() <= 1 || first == behind && !is_nan {
            return stream::fill(self.streams, out, bytemuck::cast(first));
        }
        let (before, after) = out.split_at_mut(out.len() / 2);
        let middle = lo + u64_of(before.len());
        let code = self.code(middle);
        self.between(lo, [first, code], before);
        self.between(middle, [code, behind], after);
    }

    /// The number of elements with a code from an index on, up to the crossing where they change.
    #[inline(always)]
    fn reach(&self, lo: u64, len: usize, code: u8, (index, error): (f64, f64)) -> Option<usize> {
        if error.is_nan() || error > 0.25 {
            return None;
        }
        let place = |index: f64| usize_of(u64::from_f64(index).saturating_sub(lo)).min(len);
        let end = index.ceil();
        let doubtful = [end, end - 1.0].into_iter().find(|whole| (whole - index).abs() <= error);
        let Some(at) = doubtful.map(place).filter(|&at| at < len) else { return Some(place(end)) };
        Some(at + usize::from(self.code(lo + u64_of(at)) == code))
    }

    fn code(&self, i: u64) -> u8 {
        bytemuck::cast(self.element(i))
    }

    fn element(&self, i: u64) -> T {
        let settled = self.steps.curve.settled(i, self.steps.dtype);
        settled.map_or_else(|| (self.exact)(i), |code| bytemuck::cast(low_u8(code)))
    }
}

#[cfg(test)]
mod tests {
    use gradus_sequences::{LogspacePlan, Plan as _};

    use super::*;

    #[test]
    fn logarithms_are_as_near_as_they_say() {
        let between = |dtype: DType| {
            let numbers = move |code: u64| nearest_f64(convert::number(dtype, code));
            (0..255).map(move |code| f64::midpoint(numbers(code), numbers(code + 1)).abs())
        };
        let floats = DType::ALL.iter().filter(|dtype| dtype.is_float() && dtype.bits() <= 8);
        let integers = (1..=255).map(f64::from);
        for x in floats.flat_map(|&dtype| between(dtype)).chain(integers).filter(|x| x.is_normal()) {
            let [start, stop] = [-LOGARITHM, LOGARITHM].map(|off| Number::Float(x.log2() + off));
            let plan = LogspacePlan::new(Number::Int(2), start, stop, 2, true, DType::F64).expect("a plan");
            let [low, high] = [0, 1].map(|i| nearest_f64(plan.at(i)));
            assert!(low < x && x < high, "the logarithm of {x} is {}", x.log2());
        }
    }
}
