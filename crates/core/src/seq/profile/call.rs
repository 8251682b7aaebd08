//! The calls whose outcome is predicted.

use crate::convert::nearest_f64;
use crate::dtype::DType;
use crate::error::{Error, Kind, Result};
use crate::exact::Number;
use crate::seq::profile::machine::typed;

/// A call of range: three arguments of one type, and the type that the elements shall have.
///
/// Programs that take scalars of the language (NumPy, PyTorch, Paddle, JAX) get Python numbers with the values of the
/// arguments, integers for integer types; the others get tensors of the argument type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeCall {
    /// The first element.
    pub start: Number,
    /// What the elements stay short of.
    pub stop: Number,
    /// The difference of neighbours.
    pub step: Number,
    /// The type of the three arguments, of which they are values.
    pub input: DType,
    /// The type of the elements.
    pub dtype: DType,
}

impl RangeCall {
    /// The call with those arguments, each converted to the type `input`.
    ///
    /// # Errors
    /// [`Kind::Type`] if a type is text or complex: no program has a range of those.
    pub fn new([start, stop, step]: [Number; 3], input: DType, dtype: DType) -> Result<RangeCall> {
        if let Some(bad) = [input, dtype].into_iter().find(|&t| !t.is_real() && t != DType::Bool) {
            return Err(Error::new(Kind::Type, format!("a range cannot be of {bad}")));
        }
        let [start, stop, step] = [start, stop, step].map(|number| typed(input, number));
        Ok(RangeCall { start, stop, step, input, dtype })
    }

    pub(super) fn arguments(&self) -> [Number; 3] {
        [self.start, self.stop, self.step]
    }

    /// The arguments as integers, if they are of an integer type.
    pub(super) fn ints(&self) -> Option<[i128; 3]> {
        match self.arguments() {
            [Number::Int(start), Number::Int(stop), Number::Int(step)] => Some([start, stop, step]),
            _ => None,
        }
    }

    /// The arguments as float64, rounded if they are integers beyond 2^53.
    pub(super) fn floats(&self) -> [f64; 3] {
        self.arguments().map(nearest_f64)
    }
}
