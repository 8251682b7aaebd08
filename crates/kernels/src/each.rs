//! Tensors of plans in builds without kernels for them, which take longer to compile than short
//! sequences take to make.

use gradus_core::convert::{Rules, u64_of, usize_of};
use gradus_core::{Limits, Result, Shape, Tensor};
use gradus_sequences::Plan;

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
