//! Ranges of which one instruction makes an element.

use std::ops::Add;

use gradus_core::convert::{FromNumber, nearest_f64, wrapped};
use gradus_core::{DType, Number};
use gradus_sequences::ExactNumber::Number as Element;
use gradus_sequences::{Plan, RangePlan};

/// The elements of an integer range, modulo a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Wrapping {
    /// The low bits of the element at index 0.
    pub first: u64,
    /// The low bits of the difference of neighbours.
    pub step: u64,
}

impl Wrapping {
    /// If the elements are integers, and were integers before they were cut to their type.
    pub fn new(plan: &RangePlan) -> Option<Wrapping> {
        match (plan.dtype().is_integer(), plan.start(), plan.step()) {
            (true, &Element(start @ Number::Int(_)), &Element(step @ Number::Int(_))) => {
                let step = wrapped(step);
                Some(Wrapping { first: wrapped(start).wrapping_add(step.wrapping_mul(plan.first())), step })
            }
            _ => None,
        }
    }

    /// Writes elements from index `lo` on.
    #[inline(always)]
    pub fn write<T: IntegerElement>(self, lo: u64, out: &mut [T]) {
        let mut element = T::low(self.first.wrapping_add(self.step.wrapping_mul(lo)));
        let step = T::low(self.step);
        for slot in out {
            *slot = element;
            element = element.plus(step);
        }
    }
}

/// Integers modulo a power of two.
pub trait IntegerElement: FromNumber + Default {
    /// The low bits.
    #[inline(always)]
    fn low(bits: u64) -> Self {
        Self::from_number(Number::Int(bits.into()))
    }

    /// The sum modulo the power.
    fn plus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl IntegerElement for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 }

/// The elements of a float range, each a fused multiplication and addition: one rounding of the
/// exact value.
#[derive(Clone, Copy, Debug)]
pub struct Fused {
    /// The number that multiples of the step are added to.
    pub start: f64,
    /// The difference of neighbours.
    pub step: f64,
    /// Number of steps from the start to the element at index 0.
    pub first: u64,
}

/// Floats that can be multiplied and added with one rounding.
pub trait FusedFloat: FromNumber + From<u16> + Add<Output = Self> {
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl FusedFloat for $type {
            #[inline(always)]
            fn fused(self, factor: $type, term: $type) -> $type {
                self.mul_add(factor, term)
            }
        }
    )*};
}

floats! { f32 f64 }

/// Elements at a time, so that their places are numbers of 16 bits.
const CHUNK: u16 = 1 << 15;

impl Fused {
    /// If the elements, the start, the step and every index are of one of the two types.
    pub fn new(plan: &RangePlan) -> Option<Fused> {
        let (&Element(exact_start), &Element(exact_step)) = (plan.start(), plan.step()) else { return None };
        if !plan.dtype().is_float() {
            return None;
        }
        let end = plan.first() + plan.len();
        let (start, step) = (nearest_f64(exact_start), nearest_f64(exact_step));
        let kept = [(exact_start, start), (exact_step, step)]
            .iter()
            .all(|&(exact, double)| matches!(exact, Number::Float(_)) || exact == Number::Int(whole(double)));
        let fits = match plan.dtype() {
            DType::F64 => end <= 1 << 53,
            DType::F32 => end <= 1 << 24 && [start, step].iter().all(|&x| is_single(x)),
            _ => false,
        };
        // A start of -0.0 is zero, and the zeros of a range have no sign.
        (kept && fits).then_some(Fused { start: start + 0.0, step, first: plan.first() })
    }

    /// Writes elements from index `lo` on.
    #[inline(always)]
    pub fn write<T: FusedFloat>(self, lo: u64, out: &mut [T]) {
        let (start, step) = (T::from_f64(self.start), T::from_f64(self.step));
        let chunks = out.chunks_mut(usize::from(CHUNK));
        for (first, chunk) in (self.first + lo..).step_by(usize::from(CHUNK)).zip(chunks) {
            // Exact, as all indices are.
            let first = T::from_number(Number::Int(first.into()));
            for (i, element) in (0..CHUNK).zip(chunk) {
                *element = (first + T::from(i)).fused(step, start);
            }
        }
    }
}

fn whole(x: f64) -> i128 {
    gradus_core::convert::truncated(x).unwrap_or(i128::MAX)
}

fn is_single(x: f64) -> bool {
    f64::from(f32::from_f64(x)).to_bits() == x.to_bits()
}
