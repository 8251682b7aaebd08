//! The two parts of a fill on any device: the elements that the device makes, and those left to the
//! processor.

use std::ops::Range;

use gradus_core::convert::u64_of;
use gradus_core::{DType, Error, Kind, Result};
use gradus_kernels::Form;

use crate::device::DeviceReport;
use crate::plan::AnyPlan;

/// Elements that a device leaves to the processor.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Indices of elements whose rounding is not certain.
    pub(crate) doubts: Vec<u64>,
    /// Ranges of indices that are not made at all.
    pub(crate) ranges: Vec<Range<u64>>,
}

/// Memory of a device that plans are written into.
pub(crate) trait Memory {
    /// Makes the elements of a plan that the device can make.
    fn make(&mut self, plan: &dyn AnyPlan) -> Result<Rest>;

    /// Copies elements to the device, from an index on.
    fn upload(&mut self, lo: u64, bytes: &[u8]) -> Result<()>;

    /// Puts codes at indices.
    fn put(&mut self, codes: &[(u64, u64)]) -> Result<()>;
}

/// Elements that the processor makes at a time; devices leave it ranges that begin at multiples of
/// it, or anywhere if they can store elements one by one.
pub(crate) const PART: u64 = 1 << 24;

/// Checks that a plan is of an array's type and length.
pub(crate) fn check(dtype: DType, len: u64, plan: &dyn AnyPlan) -> Result<()> {
    if plan.element_type() != dtype {
        let what = "element type of the plan";
        return Err(Error::mismatch(Kind::Type, what, plan.element_type(), dtype));
    }
    if plan.count() != len {
        return Err(Error::mismatch(Kind::Shape, "number of elements of the plan", plan.count(), len));
    }
    Ok(())
}

/// Writes all elements of a plan.
pub(crate) fn fill(
    memory: &mut impl Memory,
    dtype: DType,
    len: u64,
    plan: &dyn AnyPlan,
) -> Result<DeviceReport> {
    check(dtype, len, plan)?;
    if len == 0 {
        return Ok(DeviceReport::default());
    }
    let Rest { mut doubts, ranges } = memory.make(plan)?;
    let mut copied = 0;
    for range in ranges {
        let mut lo = range.start;
        while lo < range.end {
            let hi = range.end.min(lo + PART);
            let part = plan.part(lo, hi)?;
            memory.upload(lo, part.bytes().map_or(&[][..], |bytes| bytes))?;
            lo = hi;
        }
        copied += range.end - range.start;
    }
    doubts.extend(signed_zeros(plan));
    doubts.sort_unstable();
    doubts.dedup();
    let codes: Vec<_> = doubts.iter().map(|&i| (i, plan.code(i))).collect();
    if !codes.is_empty() {
        memory.put(&codes)?;
    }
    Ok(DeviceReport { decided: u64_of(codes.len()), copied })
}

/// The ends of a line that are -0.0: lines have no signs of zeros.
fn signed_zeros(plan: &dyn AnyPlan) -> impl Iterator<Item = u64> {
    let lines = plan.element_type().is_float() && matches!(plan.made_from(), Form::Line(_));
    let negative_zero = 1u64 << (plan.element_type().bits() - 1);
    [0, plan.count() - 1].into_iter().filter(move |&end| lines && plan.code(end) == negative_zero)
}
