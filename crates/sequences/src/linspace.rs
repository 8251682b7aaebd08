//! Linspace: a number of samples at equal distances from `start` to `stop`.
//!
//! | what | exact rule |
//! |---|---|
//! | element `i` | `start + i * (stop - start) / d`, exactly, then rounded once; `d` is the number of samples, less one if the endpoint is one of them |
//! | integers | rounded toward zero |
//! | complex | the real parts and the imaginary parts, each as a linspace |
//! | one sample | `start`; `stop` is ignored |
//! | zeros | a zero is 0.0, save that an end that is -0.0 is kept |
//! | refused | NaN; infinite ends, unless both are the same; integers that their type cannot hold |
//!
//! Sources: NumPy `linspace` (endpoint), PyTorch and Paddle `linspace`; docs/numerics.md.

use std::ops::Range;

use gradus_core::{DType, Number};

use crate::exact::ExactNumber;
use crate::points::Points;
use crate::space::{self, Integer};
use crate::window::Window;
use crate::{Line, Plan, SpaceError};

/// A validated linspace.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{LinspacePlan, Plan};
/// let plan = LinspacePlan::new(Number::Int(0), Number::Int(1), 4, true, DType::F64)?;
/// assert_eq!(plan.len(), 4);
/// assert_eq!(plan.at(1), Number::Float(1.0 / 3.0));
/// assert_eq!(plan.at(3), Number::Float(1.0));
/// # Ok::<(), gradus_sequences::SpaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinspacePlan {
    dtype: DType,
    re: Points,
    im: Points,
    window: Window,
}

impl LinspacePlan {
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
    ) -> Result<LinspacePlan, SpaceError> {
        space::check_type(dtype)?;
        let (start, stop) = (start.into(), stop.into());
        let [re, im] = if dtype.is_complex() {
            Points::complex(start.nearest(), stop.nearest(), num, endpoint)?
        } else {
            [Points::new(start, stop, num, endpoint)?, Points::ZERO]
        };
        space::check_integers(dtype, num, false, |i| match re.infinite() {
            Some(infinity) => Integer::of_float(dtype, infinity),
            None => Integer::of(dtype, re.at(i).parts()),
        })?;
        Ok(LinspacePlan { dtype, re, im, window: Window::whole(num) })
    }

    /// The real and the imaginary parts of complex elements, as sequences.
    pub fn components(&self) -> Option<[LinspacePlan; 2]> {
        let part = |points: &Points| LinspacePlan {
            dtype: self.dtype.component(),
            re: points.clone(),
            im: Points::ZERO,
            window: self.window,
        };
        self.dtype.is_complex().then(|| [part(&self.re), part(&self.im)])
    }

    /// Real elements in fixed point, without the signs that zeros have at the ends; nothing if all
    /// elements are zero or infinite.
    pub fn line(&self) -> Option<Line> {
        self.re.line(self.window.first())
    }
}

impl Plan for LinspacePlan {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.window.len()
    }

    fn at(&self, i: u64) -> Number {
        let (index, dtype) = (self.window.index(i), self.dtype.component());
        let re = self.re.element(index, dtype);
        if self.dtype.is_complex() { re.with_imaginary(self.im.element(index, dtype)) } else { re }
    }

    fn slice(&self, indices: Range<u64>) -> LinspacePlan {
        LinspacePlan { window: self.window.slice(indices), ..self.clone() }
    }
}
