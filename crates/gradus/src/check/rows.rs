//! Rows of tensors.

use gradus_core::{Limits, Result, Shape, Tensor};

/// The axis of a value along which it has `each` elements for an index of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowAxis {
    pub(crate) axis: usize,
    pub(crate) each: usize,
}

/// Elements of two tensors of the same type: `picks` has, for each index along the axis, the tensor
/// and the index there.
pub(crate) fn woven(
    tensors: [&Tensor; 2],
    of: RowAxis,
    picks: &[(usize, usize)],
    limits: &Limits,
) -> Result<Tensor> {
    let dims = tensors.map(|tensor| tensor.shape().dims());
    let [before, after] =
        [&dims[0][..of.axis], &dims[0][of.axis + 1..]].map(|dims| dims.iter().product::<usize>());
    let block = of.each * after;
    let places = (0..before).flat_map(|outer| {
        picks.iter().flat_map(move |&(tensor, index)| {
            let start = (outer * dims[tensor][of.axis] + index * of.each) * after;
            (start..start + block).map(move |place| (tensor, place))
        })
    });
    let size = [picks.len() * of.each];
    let shape = Shape::new([&dims[0][..of.axis], &size, &dims[0][of.axis + 1..]].concat())?;
    Tensor::woven(&tensors, shape, places, limits)
}
