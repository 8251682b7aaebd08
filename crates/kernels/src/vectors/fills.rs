//! Fills: all elements of a plan, in a slice or a tensor.

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{Limits, Result, Shape, Tensor, dispatch};

use crate::options::Options;
use crate::vectors::writer::{ErasedPlan, Fill, Write, Writer};

/// Writes all elements of a plan.
///
/// # Panics
/// If the slice is of another length or type than the plan.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{Plan, RangePlan};
/// let plan = RangePlan::new(Number::Int(0), Number::Int(10), Number::Int(3), DType::I64)?;
/// let mut out = [0i64; 2];
/// gradus_kernels::fill(&plan.slice(1..3), &mut out);
/// assert_eq!(out, [3, 6]);
/// # Ok::<(), gradus_sequences::RangeError>(())
/// ```
pub fn fill<T: Write>(plan: &impl Fill, out: &mut [T]) {
    fill_with(plan, out, Options::default());
}

/// Writes all elements of a plan as the options say, which change no bit of them.
///
/// # Panics
/// If the slice is of another length or type than the plan.
pub fn fill_with<T: Write>(plan: &impl Fill, out: &mut [T], options: Options) {
    assert_eq!(plan.len(), u64_of(out.len()), "the plan is of another length than the slice");
    Writer::new(plan, options).write(0, out);
}

/// The elements of a plan as a new tensor of one axis.
///
/// # Errors
/// [`Kind::Limit`](gradus_core::Kind::Limit) if they take more bytes than the limits allow besides
/// those in use.
pub fn tensor(plan: &impl Fill, limits: &Limits, in_use: u64) -> Result<Tensor> {
    // Packed elements are made one a byte, and then packed.
    let bits = u128::from(plan.len()) * u128::from(u64_of(plan.dtype().bits().max(8)));
    limits.allow_bytes(in_use, bits.div_ceil(8))?;
    Writer::new(plan, Options::default()).erased(|plan| filled(&plan, limits))
}

fn filled(plan: &ErasedPlan<'_>, limits: &Limits) -> Result<Tensor> {
    fn elements<T: Write>(plan: &ErasedPlan<'_>, limits: &Limits) -> Result<Tensor> {
        let mut out = vec![T::default(); usize_of(plan.len)];
        plan.write_within(0, bytemuck::cast_slice_mut(&mut out), limits)?;
        Tensor::from_vec(Shape::vector(out.len()), out)
    }
    dispatch!(plan.dtype,
    [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => elements(plan, limits),
    dtype => {
        let mut codes = vec![0; usize_of(plan.len)];
        plan.write_codes_within(0, &mut codes, limits)?;
        Tensor::from_codes(dtype, Shape::vector(codes.len()), &codes)
    })
}
