//! Rules of normalizations: as the first input, with scales, shifts and statistics.

use gradus_core::{DType, Error, Kind, Result};

use crate::attributes::{Attributes, required};
use crate::dim::Dim;
use crate::fact::{Dims, Fact};
use crate::infer::{InferContext, InferResult};
use crate::normalize::Older;
use crate::windows::infer::image;
use crate::{errors, indices};

/// Shape of the first input, to which the others broadcast.
pub fn scaled(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if let Some(axis) = cx.attributes.int("axis")? {
        indices::axis(axis, dims.len())?;
    }
    (1..cx.count()).try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of the first input, along an axis of it.
pub fn along(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `MeanVarianceNormalization`: the input's, which has the axes.
pub fn mean_variance(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axes(cx.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]), dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of the first input, with a scale and a shift for each channel or group.
pub fn by_channel(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (_, mut features, _) = image(cx, 0)?;
    if let Some(groups) = cx.attributes.int("num_groups")? {
        let groups = Dim::Known(errors::at_least_1("num_groups", groups)?);
        let label = cx.input_label(0);
        cx.multiple(features, groups, format_args!("size of axis 1 of {label}"))?;
        if cx.attributes.form().is(Older::ScaledByGroup) {
            features = groups;
        }
    }
    [1, 2].into_iter().try_for_each(|input| cx.same_shape(input, &[features]))?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// Shape of `LRN`: the input's, which has channels.
pub fn lrn(cx: &mut InferContext<'_, '_>) -> InferResult {
    image(cx, 0)?;
    errors::at_least_1("size", required("size", cx.attributes.int("size")?)?)?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// Shapes of `LayerNormalization`: the input's, and statistics with size 1 along normalized axes.
pub fn layer_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    [1, 2].into_iter().try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    let stash = cx.attributes.dtype("stash_type")?.unwrap_or(DType::F32);
    let one = |(at, &dim): (usize, &Dim)| if at < axis { dim } else { Dim::ONE };
    let statistics: Dims = dims.iter().enumerate().map(one).collect();
    Ok(vec![
        Fact::tensor(cx.dtype(0), dims),
        Fact::typed(stash, statistics.clone()),
        Fact::typed(stash, statistics),
    ])
}

/// Shapes of `BatchNormalization`: the input's, and statistics of each feature.
pub fn batch_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    let features = if cx.attributes.flag("spatial", true)? {
        vec![channels]
    } else {
        dims.iter().skip(1).copied().collect()
    };
    (1..5).try_for_each(|input| cx.same_shape(input, &features))?;
    let (form, outputs) = (cx.attributes.form(), cx.node.outputs.iter().flatten().count());
    let open = form.is(Older::Training) || form.is(Older::TrainingByOutputs);
    if outputs > 1 && !open && !trains(&cx.attributes, outputs)? {
        let wanted = "1 unless attribute \"training_mode\" is 1";
        return Err(Error::mismatch(Kind::Graph, "number of outputs", outputs, wanted).into());
    }
    let mut facts = vec![Fact::tensor(cx.dtype(0), dims)];
    facts.extend((1..cx.node.outputs.len()).map(|output| {
        let input = if output % 2 == 1 { 3 } else { 4 };
        Fact::tensor(cx.dtype(input).or(cx.dtype(0)), features.clone())
    }));
    Ok(facts)
}

/// Returns true if a `BatchNormalization` normalizes by the statistics of its batch.
pub fn trains(attributes: &Attributes<'_>, outputs: usize) -> Result<bool> {
    let form = attributes.form();
    Ok(if form.is(Older::Training) {
        !attributes.flag("is_test", false)?
    } else if form.is(Older::TrainingByOutputs) {
        outputs > 1
    } else {
        attributes.flag("training_mode", false)?
    })
}
