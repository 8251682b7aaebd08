//! The elements of a value that belong to an index of a dimension, by its symbolic shape.

use std::collections::BTreeMap;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::ValueId;
use gradus_core::{Limits, Result, Value};
use gradus_engine::infer::Inference;

use crate::check::rows::{RowAxis, woven};

/// Returns the axis of a value whose size is a multiple of a dimension, the one of the smallest
/// multiple; nothing if no axis is. The other dimensions have these numbers.
pub(super) fn axis_of(
    inference: &Inference,
    id: ValueId,
    name: &str,
    numbers: &BTreeMap<String, i64>,
) -> Option<RowAxis> {
    /// Sizes that tell a multiple from other expressions.
    const SIZES: [usize; 4] = [2, 3, 5, 8];
    let dims = inference.fact(id).as_tensor()?.dims.as_ref()?;
    let symbols = inference.symbols();
    let multiple = |dim| {
        let size = |number: usize| {
            let of = |symbol: &str| {
                if symbol == name { Some(i64_of(number)) } else { numbers.get(symbol).copied() }
            };
            symbols.evaluate(dim, &of).and_then(usize_of_i64)
        };
        let each = size(1).filter(|&each| each > 0)?;
        SIZES.iter().all(|&number| size(number) == each.checked_mul(number)).then_some(each)
    };
    let axes = dims.iter().enumerate().filter_map(|(axis, &dim)| {
        let each = multiple(dim)?;
        Some(RowAxis { axis, each })
    });
    axes.min_by_key(|found| found.each)
}

/// The elements of a value at these indices along the axis; nothing for values that are no tensors,
/// or whose size is another.
pub(super) fn slice(
    value: &Value,
    of: RowAxis,
    total: usize,
    indices: std::ops::Range<usize>,
    limits: &Limits,
) -> Option<Result<Value>> {
    let Value::Tensor(tensor) = value else { return None };
    let size = *tensor.shape().dims().get(of.axis)?;
    if Some(size) != of.each.checked_mul(total) {
        return None;
    }
    let picks: Vec<_> = indices.map(|index| (0, index)).collect();
    Some(woven([tensor, tensor], of, &picks, limits).map(Value::from))
}
