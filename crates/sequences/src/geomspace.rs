//! Geomspace: a number of samples at equal ratios from `start` to `stop`.
//!
//! | what | exact rule |
//! |---|---|
//! | element `i` | `start * (stop / start) ^ (i / d)`, exactly, then rounded once; `d` is the number of samples, less one if the endpoint is one of them |
//! | integers | rounded toward zero |
//! | complex | the same with the principal power: a spiral, the shorter way around; each part rounded once |
//! | one sample | `start`; `stop` is ignored |
//! | refused | ends that are zero, infinite or NaN; real ends of different signs; integers that their type cannot hold |
//!
//! Sources: NumPy `geomspace`; docs/numerics.md.

use std::ops::Range;

use gradus_core::convert::{self, Rules, nearest_f64};
use gradus_core::{DType, Number};

use crate::complex::SpiralPlan;
use crate::exact::ExactNumber;
use crate::points::{End, steps};
use crate::power::{Exponential, Geometric, Positive, decide};
use crate::space::{self, Integer};
use crate::window::Window;
use crate::{Plan, PowerLine, SpaceError, SpiralLine};

/// A validated geomspace.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{GeomspacePlan, Plan};
/// let plan = GeomspacePlan::new(Number::Int(1), Number::Int(256), 9, true, DType::I32)?;
/// let elements: Vec<_> = (0..4).map(|i| plan.at(i)).collect();
/// assert_eq!(elements, [1, 2, 4, 8].map(Number::Int));
/// # Ok::<(), gradus_sequences::SpaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GeomspacePlan {
    dtype: DType,
    start: ExactNumber,
    stop: ExactNumber,
    divisor: u64,
    window: Window,
}

impl GeomspacePlan {
    /// Plans `num` samples from `start` to `stop`, which is the last of them if `endpoint`, and
    /// else would be the next.
    ///
    /// # Errors
    /// See [`SpaceError`].
    pub fn new(
        start: impl Into<ExactNumber>,
        stop: impl Into<ExactNumber>,
        num: u64,
        endpoint: bool,
        dtype: DType,
    ) -> Result<GeomspacePlan, SpaceError> {
        space::check_type(dtype)?;
        let start = start.into();
        let stop = if num <= 1 { start.clone() } else { stop.into() };
        let divisor = steps(num, endpoint)?;
        for (end, number) in [(End::Start, &start), (End::Stop, &stop)] {
            if !number.is_finite() {
                let number = number.nearest();
                let value = [number.re(), number.im()].into_iter().find(|part| !part.is_finite());
                return Err(SpaceError::NotFinite(end, value.map_or(f64::NAN, nearest_f64)));
            }
            if matches!(number, ExactNumber::Number(Number::Complex(..))) && !dtype.is_complex() {
                return Err(SpaceError::NotReal(end));
            }
            if number.is_zero() {
                return Err(SpaceError::Zero(end));
            }
        }
        if !dtype.is_complex() && start.parts().negative != stop.parts().negative {
            return Err(SpaceError::Signs);
        }
        let plan = GeomspacePlan { dtype, start, stop, divisor, window: Window::whole(num) };
        space::check_integers(dtype, num, false, |i| match i {
            0 => Integer::of(dtype, plan.start.parts()),
            _ if i == divisor => Integer::of(dtype, plan.stop.parts()),
            _ => decide(&plan.geometric(i), plan.negative(), |parts| Integer::of(dtype, parts)),
        })?;
        Ok(plan)
    }

    /// The logarithms of the elements, if they are real.
    pub fn line(&self) -> Option<PowerLine> {
        (!self.dtype.is_complex()).then(|| {
            let first = self.geometric(self.window.first());
            PowerLine::new(
                |bits| first.log2(bits),
                |bits| first.step(bits),
                self.window.len(),
                self.negative(),
            )
        })
    }

    /// The elements as points on a spiral, if they are complex.
    pub fn spiral(&self) -> Option<SpiralLine> {
        self.dtype.is_complex().then(|| self.between().line(self.window.first(), self.window.len()))
    }

    /// The spiral between complex ends.
    fn between(&self) -> SpiralPlan {
        SpiralPlan::new(self.start.nearest(), self.stop.nearest(), self.divisor)
    }

    /// True if real elements are negative.
    fn negative(&self) -> bool {
        self.start.parts().negative
    }

    fn geometric(&self, index: u64) -> Geometric {
        let (start, stop) = (Positive::of(&self.start), Positive::of(&self.stop));
        Geometric { start, stop, index, divisor: self.divisor }
    }
}

impl Plan for GeomspacePlan {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.window.len()
    }

    fn at(&self, i: u64) -> Number {
        let index = self.window.index(i);
        if self.dtype.is_complex() {
            return self.between().at(index, self.dtype.component());
        }
        let code = decide(&self.geometric(index), self.negative(), |parts| {
            convert::code_of_parts(self.dtype, parts, Rules::IEEE)
        });
        convert::number(self.dtype, code)
    }

    fn slice(&self, indices: Range<u64>) -> GeomspacePlan {
        GeomspacePlan { window: self.window.slice(indices), ..self.clone() }
    }
}
