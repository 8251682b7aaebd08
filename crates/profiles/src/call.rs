//! The calls whose outcome is predicted.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, DTypeSet, Number};

use crate::Profile;
use crate::machine::typed;
use crate::predicted::Failure;

/// The element types that are predicted. The behaviour of programs with other types is not known.
const KNOWN: DTypeSet = DTypeSet::of(&[
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::F8E4M3FN,
    DType::F8E5M2,
]);

fn check_known(dtype: DType) -> Result<(), Failure> {
    if KNOWN.contains(dtype) {
        return Ok(());
    }
    Err(Failure::undetermined(format!("cannot predict a call: dtype is {dtype}, expected one of {KNOWN}")))
}

/// A call of range: three arguments of one type, and the type that the elements shall have.
///
/// Programs that take scalars of the language (NumPy, PyTorch, Paddle, JAX) get Python numbers with
/// the values of the arguments, integers for integer types; the others get tensors of the argument
/// type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeCall {
    pub(crate) start: Number,
    pub(crate) stop: Number,
    pub(crate) step: Number,
    /// The type of the three arguments, of which they are values.
    pub(crate) input: DType,
    /// The type of the elements.
    pub(crate) dtype: DType,
    /// True if each program takes the numbers in its own way.
    native: bool,
}

impl RangeCall {
    /// The call with start, stop and step, each converted to the type `input`, for elements of type
    /// `dtype`.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Type`] if a type is text or complex: no program has a range of those.
    pub fn new([start, stop, step]: [Number; 3], input: DType, dtype: DType) -> crate::Result<RangeCall> {
        if let Some(bad) = [input, dtype].into_iter().find(|&t| !t.is_real() && t != DType::Bool) {
            return Err(gradus_sequences::RangeError::OutputType(bad).describe([""; 3]));
        }
        let [start, stop, step] = [start, stop, step].map(|number| typed(input, number));
        Ok(RangeCall { start, stop, step, input, dtype, native: false })
    }

    /// The call with numbers that every program takes in its own way: as tensors of the element
    /// type, or as Python numbers, which are integers of 64 bits if all three are.
    ///
    /// # Errors
    /// As [`RangeCall::new`].
    pub fn of_numbers(numbers: [Number; 3], dtype: DType) -> crate::Result<RangeCall> {
        let all_are = |dtype| {
            let is_one =
                |&number: &Number| matches!(number, Number::Int(_)) && typed(dtype, number) == number;
            numbers.iter().all(is_one)
        };
        let input = [DType::I64, DType::U64].into_iter().find(|&dtype| all_are(dtype));
        let [start, stop, step] = numbers;
        let call = RangeCall::new(numbers, input.unwrap_or(DType::F64), dtype)?;
        Ok(RangeCall { start, stop, step, native: true, ..call })
    }

    /// The call as a program takes it.
    pub(crate) fn taken_by(&self, profile: Profile) -> RangeCall {
        use Profile::{
            Exact, Octave, OnnxBody, Onnxruntime, Openvino, OpenvinoCpu, OpenvinoCpuAvx2, Tensorflow,
        };
        let input = match profile {
            Exact => return *self,
            _ if !self.native => return *self,
            OnnxBody | Onnxruntime | Openvino | OpenvinoCpu | OpenvinoCpuAvx2 | Tensorflow | Octave => {
                self.dtype
            }
            _ => self.input,
        };
        let [start, stop, step] = self.arguments().map(|number| typed(input, number));
        RangeCall { start, stop, step, input, ..*self }
    }

    /// The call with other ends.
    pub(crate) fn with_ends(&self, start: Number, stop: Number) -> RangeCall {
        RangeCall { start, stop, ..*self }
    }

    /// Checks that calls with these types are predicted.
    pub(crate) fn check_types(&self) -> Result<(), Failure> {
        check_known(self.input)?;
        check_known(self.dtype)
    }

    /// Start, stop and step.
    pub(crate) fn arguments(&self) -> [Number; 3] {
        [self.start, self.stop, self.step]
    }

    /// The arguments as integers, if they are of an integer type.
    pub(crate) fn ints(&self) -> Option<[i128; 3]> {
        match self.arguments() {
            [Number::Int(start), Number::Int(stop), Number::Int(step)] => Some([start, stop, step]),
            _ => None,
        }
    }

    /// The arguments as float64, rounded if they are integers beyond 2^53.
    pub(crate) fn floats(&self) -> [f64; 3] {
        self.arguments().map(nearest_f64)
    }
}

/// A call of linspace with Python numbers, and the type that the elements shall have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinspaceCall {
    /// The first element.
    pub start: Number,
    /// The last element; or, without `endpoint`, the one after it.
    pub stop: Number,
    /// The number of elements.
    pub num: i64,
    /// True if `stop` is the last element.
    pub endpoint: bool,
    /// The type of the elements.
    pub dtype: DType,
}

impl LinspaceCall {
    /// The number of intervals between `start` and `stop`.
    pub(crate) fn intervals(&self) -> u64 {
        let num = self.num.max(0).unsigned_abs();
        if self.endpoint { num.saturating_sub(1) } else { num }
    }

    /// The number of elements, checked to be non-negative; the element type must be one that is
    /// predicted.
    pub(crate) fn len(&self) -> Result<u64, Failure> {
        check_known(self.dtype)?;
        if [self.start, self.stop].into_iter().any(|number| matches!(number, Number::Complex(..))) {
            return Err(Failure::undetermined(
                "cannot predict a call: an end is complex, expected real numbers",
            ));
        }
        u64::try_from(self.num).map_err(|_| {
            Failure::refused(format!("the number of samples, {}, must be non-negative", self.num))
        })
    }

    /// As [`LinspaceCall::len`], for functions that always have the endpoint.
    pub(crate) fn len_with_endpoint(&self) -> Result<u64, Failure> {
        if !self.endpoint {
            return Err(Failure::unsupported("there is no argument endpoint"));
        }
        self.len()
    }
}

/// A call of logspace: the powers of `base` with the exponents of a linspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogspaceCall {
    /// The exponents; their `dtype` is that of the elements.
    pub exponents: LinspaceCall,
    /// The base.
    pub base: Number,
}
