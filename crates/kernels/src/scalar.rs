//! Builds without vectors, in which elements are computed one by one on the calling thread: kernels
//! take longer to compile than short sequences take to make.

use gradus_core::convert::{Rules, u64_of, usize_of};
use gradus_core::{Limits, Result, Shape, Tensor};
pub use gradus_sequences::Plan as Fill;
use gradus_sequences::Plan;

use crate::options::{Level, Options};

/// The elements of a plan as a new tensor of one axis, each made by the plan.
///
/// # Errors
/// [`Kind::Limit`](gradus_core::Kind::Limit) if they take more bytes than the limits allow besides
/// those in use.
pub fn tensor(plan: &impl Plan, limits: &Limits, in_use: u64) -> Result<Tensor> {
    let bits = u128::from(plan.len()) * u128::from(u64_of(plan.dtype().bits().max(8)));
    limits.allow_bytes(in_use, bits.div_ceil(8))?;
    let mut ended = None;
    let element = |index: u64| {
        if index.is_multiple_of(CHECKED) {
            ended = limits.check().err();
        }
        ended.is_none().then(|| plan.at(index))
    };
    let shape = Shape::vector(usize_of(plan.len()));
    let elements = (0..plan.len()).map_while(element);
    let tensor = Tensor::from_numbers(plan.dtype(), shape, elements, Rules::IEEE);
    ended.map_or(tensor, Err)
}

/// Number of elements between two checks of the time.
const CHECKED: u64 = 1 << 12;

/// The instructions of a build without vectors.
pub type Token = Option<Level>;

impl Options {
    /// The instructions of the build.
    pub(crate) fn token(&self) -> Token {
        self.level
    }
}

/// Calls a function.
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The calling thread, with which all work is done.
pub(crate) mod pool {
    /// The number of threads that there are.
    pub(crate) fn threads() -> usize {
        1
    }

    /// Calls a function.
    pub(crate) fn with<R>(_: usize, work: impl FnOnce() -> R) -> gradus_core::Result<R> {
        Ok(work())
    }

    /// Calls a function.
    pub(crate) fn run(_: usize, work: &(dyn Fn() + Sync)) {
        work();
    }
}

/// Functions of elements of at most 32 bits, by intervals.
pub(crate) mod functions {
    use gradus_core::convert::FromNumber;

    use super::Token;
    use crate::functions::Call;

    /// Writes the values of a function whose parameters are finite.
    pub(crate) fn write<T: Copy + FromNumber + Into<f64>>(call: &Call, _: Token, x: &[T], out: &mut [T]) {
        for (x, out) in x.iter().zip(out) {
            *out = call.exact((*x).into());
        }
    }
}
