//! Common parts of the predictions of linspace and logspace.

use std::fmt::Debug;

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, Number};

use crate::formula::{CastFunction, Formula};
use crate::machine::{fused, index, rounded, typed};
use crate::tolerance::Tolerance;

/// By how much two libraries' powers differ: none is wrong by more than 0.7 ulp, so that two are
/// neighbours at most; and so are their elements, rounded or cut.
pub(crate) const POWERS_DIFFER: Tolerance = Tolerance::Ulps { ulps: 1, of: DType::F64 };

/// The rule of every length here.
pub(crate) const NUM: &str = "as asked for";

/// The points of a line, as a program computes them.
pub(crate) trait LineFormula: Debug + Send + Sync {
    fn point(&self, i: u64) -> f64;
}

/// Elements of a linspace: points, cast.
#[derive(Debug)]
pub(crate) struct FormulaPoints<L> {
    pub line: L,
    pub dtype: DType,
    pub cast: CastFunction,
}

impl<L: LineFormula> Formula for FormulaPoints<L> {
    fn at(&self, i: u64) -> Number {
        (self.cast)(self.dtype, self.line.point(i))
    }
}

/// Elements of a logspace: the base to the power of each point, rounded to `format`, cast.
#[derive(Debug)]
pub(crate) struct FormulaPowers<L> {
    pub line: L,
    pub base: f64,
    pub format: DType,
    pub dtype: DType,
    pub cast: CastFunction,
}

impl<L: LineFormula> Formula for FormulaPowers<L> {
    fn at(&self, i: u64) -> Number {
        (self.cast)(self.dtype, rounded(self.format, self.base.powf(self.line.point(i))))
    }
}

/// A line whose first half is computed from its start, and the second from its stop.
#[derive(Debug)]
pub(crate) struct Halves {
    pub format: DType,
    pub start: f64,
    pub stop: f64,
    pub step: f64,
    pub len: u64,
    /// True if product and sum are one fused operation.
    pub fused: bool,
}

impl LineFormula for Halves {
    fn point(&self, i: u64) -> f64 {
        let (from, step, steps) = if i < self.len / 2 {
            (self.start, self.step, i)
        } else {
            (self.stop, -self.step, self.len - 1 - i)
        };
        let steps = index(self.format, steps);
        if self.fused {
            fused(self.format, steps, step, from)
        } else {
            rounded(self.format, from + rounded(self.format, steps * step))
        }
    }
}

/// The exponents of a logspace of C++, in float64, but for the difference of the ends, which is one
/// of their type.
pub(crate) fn power_line(dtype: DType, [start, stop]: [Number; 2], len: u64) -> Halves {
    let span = match (start, stop) {
        // C has no arithmetic in types narrower than int.
        (Number::Int(start), Number::Int(stop)) if dtype.bits() < 32 => {
            nearest_f64(Number::Int(stop - start))
        }
        (Number::Int(start), Number::Int(stop)) => nearest_f64(typed(dtype, Number::Int(stop - start))),
        (start, stop) => rounded(dtype, nearest_f64(stop) - nearest_f64(start)),
    };
    let step = if len == 1 { 0.0 } else { span / index(DType::F64, len.saturating_sub(1)) };
    let [start, stop] = [start, stop].map(nearest_f64);
    Halves { format: DType::F64, start, stop, step, len, fused: false }
}
