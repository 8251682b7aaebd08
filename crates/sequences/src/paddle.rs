//! Paddle's rules for its sequences, as one cast rule.
//!
//! | what | rule |
//! |---|---|
//! | types | float32 (which stands for none), float64, int32, int64, float16, bfloat16 |
//! | start, stop, base | cast to the output type first: to the nearest, or toward zero |
//! | number of samples | an integer above zero; for linspace, zero too |
//! | integer elements | rounded toward zero |
//!
//! Source: the text of `paddle.logspace`.

use gradus_core::convert::{self, Rules};
use gradus_core::{DType, Number};

use crate::{LinspacePlan, LogspacePlan, SpaceError, samples};

/// The output type, and the number of samples.
fn checked(num: Number, dtype: Option<DType>) -> Result<(DType, u64), SpaceError> {
    use DType::{BF16, F16, F32, F64, I32, I64};
    let dtype = dtype.unwrap_or(F32);
    if ![F32, F64, I32, I64, F16, BF16].contains(&dtype) {
        return Err(SpaceError::OutputType(dtype));
    }
    Ok((dtype, samples(num)?))
}

/// The value after a cast to the output type.
fn cast(number: Number, dtype: DType) -> Number {
    convert::number(dtype, convert::code(dtype, number, Rules::IEEE))
}

impl LinspacePlan {
    /// Plans what Paddle's text says of `linspace(start, stop, num, dtype)`.
    ///
    /// # Errors
    /// As [`LinspacePlan::new`]; [`SpaceError::OutputType`] for other types.
    pub fn paddle(
        start: Number,
        stop: Number,
        num: Number,
        dtype: Option<DType>,
    ) -> Result<LinspacePlan, SpaceError> {
        let (dtype, num) = checked(num, dtype)?;
        LinspacePlan::new(cast(start, dtype), cast(stop, dtype), num, true, dtype)
    }
}

impl LogspacePlan {
    /// Plans what Paddle's text says of `logspace(start, stop, num, base, dtype)`.
    ///
    /// ```
    /// use gradus_core::{DType, Number};
    /// use gradus_sequences::{LogspacePlan, Plan};
    /// let (start, stop) = (Number::Float(0.9), Number::Float(3.9));
    /// let plan = LogspacePlan::paddle(start, stop, Number::Int(4), Number::Int(10), Some(DType::I32))?;
    /// assert_eq!(plan.at(3), Number::Int(1000)); // from 0 to 3
    /// # Ok::<(), gradus_sequences::SpaceError>(())
    /// ```
    ///
    /// # Errors
    /// As [`LogspacePlan::new`]; [`SpaceError::Samples`] for 0, [`SpaceError::OutputType`] for
    /// other types.
    pub fn paddle(
        start: Number,
        stop: Number,
        num: Number,
        base: Number,
        dtype: Option<DType>,
    ) -> Result<LogspacePlan, SpaceError> {
        let (dtype, num) = checked(num, dtype)?;
        if num == 0 {
            return Err(SpaceError::Samples(0.0));
        }
        LogspacePlan::new(cast(base, dtype), cast(start, dtype), cast(stop, dtype), num, true, dtype)
    }
}

#[cfg(test)]
mod tests {
    use Number::{Float, Int};

    use super::*;
    use crate::Plan;

    fn logspace(
        start: f64,
        stop: f64,
        num: f64,
        base: f64,
        dtype: Option<DType>,
    ) -> Result<Vec<Number>, SpaceError> {
        let plan = LogspacePlan::paddle(Float(start), Float(stop), Float(num), Float(base), dtype)?;
        Ok((0..plan.len()).map(|i| plan.at(i)).collect())
    }

    #[test]
    fn logspace_does_what_the_text_lists() {
        let floats = |values: &[f64]| Ok(values.iter().map(|&x| Float(x)).collect());
        let ints = |values: &[i128]| Ok(values.iter().map(|&x| Int(x)).collect());
        assert_eq!(logspace(0.0, 2.0, 3.0, 10.0, None), floats(&[1.0, 10.0, 100.0]));
        assert_eq!(logspace(2.0, 0.0, 3.0, 10.0, None), floats(&[100.0, 10.0, 1.0]));
        assert_eq!(logspace(2.0, 9.0, 1.0, 10.0, None), floats(&[100.0]));
        for num in [0.0, -1.0, 2.5, f64::NAN] {
            assert!(matches!(logspace(0.0, 1.0, num, 10.0, None), Err(SpaceError::Samples(_))), "{num}");
        }
        assert_eq!(logspace(0.0, 2.0, 3.0, 0.0, None), floats(&[1.0, 0.0, 0.0]));
        assert_eq!(logspace(1.0, 3.0, 3.0, -2.0, None), floats(&[-2.0, 4.0, -8.0]));
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            assert_eq!(logspace(0.0, 2.0, 3.0, 4.0, Some(dtype)), floats(&[1.0, 4.0, 16.0]), "{dtype}");
        }
        for dtype in [DType::I32, DType::I64] {
            assert_eq!(logspace(0.0, 1.0, 3.0, 10.9, Some(dtype)), ints(&[1, 3, 10]), "{dtype}");
        }
        assert_eq!(logspace(0.0, 1.0, 2.0, 2.0, Some(DType::I8)), Err(SpaceError::OutputType(DType::I8)));
    }

    #[test]
    fn linspace_casts_first() {
        let plan = LinspacePlan::paddle(Float(0.9), Float(3.9), Int(4), Some(DType::I64)).unwrap();
        assert_eq!((0..4).map(|i| plan.at(i)).collect::<Vec<_>>(), [0, 1, 2, 3].map(Int));
    }
}
