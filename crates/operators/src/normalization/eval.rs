//! Evaluation of normalizations: statistics in float64 of groups of elements, then a scale and a
//! shift, rounded once.

use gradus_core::convert::{float_of, product, usize_of_i64};
use gradus_core::{Result, Value};
use gradus_kernels::share_map;

use crate::attributes::Attributes;
use crate::floats::{Adding, Ring};
use crate::normalization::infer::trains;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::reduction::eval::groups;
use crate::strided::{Strided, threads_for};
use crate::windows::pools::{norm, order_of_norm};
use crate::{errors, indices};

/// Mean and variance.
fn moments(numbers: &[f64], adding: Adding<'_>) -> (f64, f64) {
    let mean = adding.within().sum(numbers.iter().copied()) / float_of(numbers.len());
    (mean, mean_square(numbers.iter().map(|x| x - mean), adding))
}

/// The mean of the squares of numbers.
fn mean_square(numbers: impl ExactSizeIterator<Item = f64>, adding: Adding<'_>) -> f64 {
    let count = float_of(numbers.len());
    adding.within().products(numbers.map(|x| (x, x))) / count
}

/// Subtracts the mean, unless only the root of the mean square is wanted, and divides by the
/// deviation. Returns the mean and the reciprocal of the deviation.
pub fn standardize(numbers: &mut [f64], epsilon: f64, centered: bool, adding: Adding<'_>) -> (f64, f64) {
    let (mean, variance) =
        if centered { moments(numbers, adding) } else { (0.0, mean_square(numbers.iter().copied(), adding)) };
    let deviation = (variance + epsilon).sqrt();
    for x in &mut *numbers {
        *x = (*x - mean) / deviation;
    }
    (mean, deviation.recip())
}

fn epsilon(attributes: &Attributes<'_>) -> Result<f64> {
    Ok(attributes.float("epsilon")?.unwrap_or(1e-5).into())
}

/// Multiplies with an input, and adds another if it is given; both broadcast to the first.
fn scale_and_shift(cx: &EvalContext<'_>, numbers: &mut [f64], scale: usize, shift: usize) -> Result<()> {
    for (input, scales) in [(scale, true), (shift, false)] {
        let Some(by) = cx.maybe_floats(input)? else { continue };
        let strided = Strided::broadcast([cx.tensor(input)?.shape()], cx.tensor(0)?.shape());
        let step = strided.steps[0];
        strided.fill(numbers, &cx.limits(), |[place], out| {
            for (at, x) in out.iter_mut().enumerate() {
                let by = by[place + at * step];
                *x = if scales { *x * by } else { *x + by };
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// `LayerNormalization`, `RMSNormalization`: rows of the last axes.
pub fn layer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-1), dims.len())?;
    let (epsilon, centered) = (epsilon(attributes)?, cx.operator == "LayerNormalization");
    let only_inverse = cx.operator == "SimplifiedLayerNormalization";
    let mut numbers = cx.floats(0)?;
    let row: usize = dims[axis..].iter().product();
    let (limits, options) = (cx.limits(), threads_for(product(numbers.len(), 1)));
    let adding = cx.adding_doubles(&limits)?;
    let statistics: Vec<_> = share_map(numbers.chunks_mut(row.max(1)), options, |row| {
        limits.check()?;
        Ok::<_, gradus_core::Error>(standardize(row, epsilon, centered, adding))
    })?;
    scale_and_shift(cx, &mut numbers, 1, 2)?;
    let mut outputs = vec![cx.rounded(0, &numbers)?];
    let (means, inverses): (Vec<_>, Vec<_>) = statistics.into_iter().unzip();
    let statistics = if only_inverse { vec![inverses] } else { vec![means, inverses] };
    for (output, numbers) in statistics.into_iter().enumerate().take(cx.outputs.saturating_sub(1)) {
        let (dtype, shape) = cx.output(output + 1)?;
        // Rows without elements have no statistics.
        let numbers = if numbers.is_empty() { vec![f64::NAN; shape.len()] } else { numbers };
        outputs.push(f64::tensor(dtype, shape, &numbers)?.into());
    }
    Ok(outputs)
}

/// `InstanceNormalization` and `GroupNormalization`: groups of channels, each of which has a scale
/// and a shift.
pub fn group(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let [_, channels, spatial @ ..] = dims else {
        return Err(errors::rank("input 0", dims.len(), "at least 2"));
    };
    let groups = attributes.int("num_groups")?.and_then(usize_of_i64).unwrap_or(*channels);
    let plane: usize = spatial.iter().product();
    let epsilon = epsilon(attributes)?;
    let (limits, mut numbers) = (cx.limits(), cx.floats(0)?);
    let adding = cx.adding_doubles(&limits)?;
    let size = channels.checked_div(groups).unwrap_or(0).saturating_mul(plane);
    numbers.chunks_mut(size.max(1)).for_each(|group| {
        standardize(group, epsilon, true, adding);
    });
    let (scale, shift) = (cx.floats(1)?, cx.floats(2)?);
    let by_group = attributes.form().is(Older::ScaledByGroup);
    for (at, plane) in numbers.chunks_mut(plane.max(1)).enumerate() {
        let channel = at % channels;
        let of = if by_group { channel * groups / channels } else { channel };
        let (scale, shift) = (scale[of], shift[of]);
        for x in plane {
            *x = *x * scale + shift;
        }
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `BatchNormalization`, by given statistics or by those of the batch.
pub fn batch(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let spatial = attributes.flag("spatial", true)?;
    let epsilon = epsilon(attributes)?;
    let mut numbers = cx.floats(0)?;
    let (scale, shift) = (cx.floats(1)?, cx.floats(2)?);
    let (mut mean, mut variance) = (cx.floats(3)?, cx.floats(4)?);
    // The first versions may have statistics for each element of a sample.
    let features = scale.len();
    let plane: usize = dims.iter().skip(2).product();
    let plane = if spatial { plane } else { 1 };
    let mut outputs = Vec::new();
    if trains(attributes, cx.outputs)? {
        let momentum = f64::from(attributes.float("momentum")?.unwrap_or(0.9));
        let axes: Vec<_> = (0..dims.len()).filter(|&axis| axis == 0 || (axis > 1 && spatial)).collect();
        let limits = cx.limits();
        let adding = cx.adding_doubles(&limits)?;
        let group = |places: &[usize]| places.iter().map(|&place| numbers[place]).collect::<Vec<_>>();
        let own = groups(cx, dims, &axes)?;
        let own: Vec<_> = own.iter().map(|places| moments(&group(places), adding)).collect();
        let running = |old: &[f64], new: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            old.iter().zip(&own).map(|(old, own)| old * momentum + new(own) * (1.0 - momentum)).collect()
        };
        outputs = vec![running(&mean, |own| own.0), running(&variance, |own| own.1)];
        (mean, variance) = own.into_iter().unzip();
        // The first versions have the statistics of the batch as well.
        outputs.extend([mean.clone(), variance.clone()]);
    } else if cx.outputs > 1 {
        // Statistics that are not made are those that are given.
        outputs = [&mean, &variance, &mean, &variance].map(Vec::clone).to_vec();
    }
    if features > 0 {
        for (at, plane) in numbers.chunks_mut(plane.max(1)).enumerate() {
            let feature = at % features;
            let deviation = (variance[feature] + epsilon).sqrt();
            let (mean, scale, shift) = (mean[feature], scale[feature], shift[feature]);
            for x in plane {
                *x = (*x - mean) / deviation * scale + shift;
            }
        }
    }
    let mut values = vec![cx.rounded(0, &numbers)?];
    for (output, numbers) in outputs.iter().enumerate().take(cx.outputs.saturating_sub(1)) {
        values.push(cx.rounded(output + 1, numbers)?);
    }
    Ok(values)
}

/// Applies a function to the elements along some axes, which become its result.
fn along(
    cx: &EvalContext<'_>,
    axes: &[usize],
    function: impl Fn(&mut [f64], Adding<'_>),
) -> Result<Vec<Value>> {
    let (limits, mut numbers) = (cx.limits(), cx.floats(0)?);
    let adding = cx.adding_doubles(&limits)?;
    for places in groups(cx, cx.tensor(0)?.shape().dims(), axes)?.iter() {
        let mut group: Vec<_> = places.iter().map(|&place| numbers[place]).collect();
        function(&mut group, adding);
        places.iter().zip(group).for_each(|(&place, number)| numbers[place] = number);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `LpNormalization`: elements divided by the norm along an axis.
pub fn lp(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let rank = cx.tensor(0)?.shape().rank();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-1), rank)?;
    let p = order_of_norm(attributes)?;
    along(cx, &[axis], |group, adding| {
        let norm = norm(group.iter().copied(), p, adding);
        // A group of zeros is unchanged.
        group.iter_mut().filter(|_| norm != 0.0).for_each(|x| *x /= norm);
    })
}

/// `MeanVarianceNormalization`: elements less their mean, divided by their deviation.
pub fn mean_variance(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let rank = cx.tensor(0)?.shape().rank();
    let axes = indices::axes(attributes.ints("axes")?.unwrap_or(&[0, 2, 3]), rank)?;
    along(cx, &axes, |group, adding| {
        let (mean, variance) = moments(group, adding);
        for x in group {
            *x = (*x - mean) / (variance.sqrt() + 1e-9);
        }
    })
}

/// `LRN`: each element by the squares of those of the channels around it.
pub fn lrn(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let parameter = |name: &str, default: f32| {
        Ok::<_, gradus_core::Error>(f64::from(attributes.float(name)?.unwrap_or(default)))
    };
    let (alpha, beta, bias) = (parameter("alpha", 1e-4)?, parameter("beta", 0.75)?, parameter("bias", 1.0)?);
    let size = usize_of_i64(attributes.int("size")?.unwrap_or(1)).unwrap_or(0);
    let (before, after) = (size.saturating_sub(1) / 2, size.saturating_sub(1).div_ceil(2));
    along(cx, &[1], |channels, adding| {
        let own = channels.to_vec();
        for (at, x) in channels.iter_mut().enumerate() {
            let last = at.saturating_add(after).min(own.len() - 1);
            let window = &own[at.saturating_sub(before)..=last];
            let sum = adding.within().products(window.iter().map(|&x| (x, x)));
            *x /= libm::pow(bias + alpha / float_of(size) * sum, beta);
        }
    })
}
