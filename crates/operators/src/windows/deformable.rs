//! `DeformConv`: its evaluation, and its graph in operator sets that lack it. Elements are read
//! between positions, as `images` reads them.

use gradus_core::convert::{float_of, nearest_f64, product, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Error, Number, Result, Value};

use crate::attributes::Attributes;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::older::New;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::writer::NewValue;
use crate::errors;
use crate::floats::{Matrix, Numbers, Sizes, product_of};
use crate::images::lowered::{computed_in, note, sums, taps_around};
use crate::images::sampling::{Interpolation, Outside, around, taps};
use crate::indexing::eval::positions;
use crate::lowering::int;
use crate::op::EvalContext;
use crate::windows::convolutions::add_bias;

/// Maximum number of elements of a window, and of windows whose places are listed.
const MAX_TAPS: i64 = 1 << 16;

/// `DeformConv` of images in operator sets that lack it: the elements at the positions of each
/// window become channels, of which a convolution by kernels of one element is the sum.
pub fn deform_conv_lowered(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let of_node = match &*cx.node.operator.name {
        "DeformConv" => [1, 2],
        _ => [2, 1],
    };
    let [weights, windows] = of_node.map(|input| cx.dims(input));
    let weights = weights.and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>());
    let Some(&[filters, inner, height, width]) = weights.as_deref() else {
        return Err(not_known("sizes of the weights of DeformConv of an image"));
    };
    let taps_count = height.saturating_mul(width);
    if !(0..=MAX_TAPS).contains(&taps_count) {
        let most = format_args!("at most {MAX_TAPS}");
        return Err(cannot(format!(
            "cannot convert: elements of a window are {taps_count}, expected {most}"
        )));
    }
    note(cx);
    cx.rounding(caveats::ORDER);
    let list = |name: &str, default: [i64; 2]| match new.get(name) {
        Some(Content::Ints(given)) if given.len() >= 2 => [given[0], given[1]],
        _ => default,
    };
    let (strides, dilations, pads) =
        (list("strides", [1, 1]), list("dilations", [1, 1]), list("pads", [0, 0]));
    let (groups, parts) = (new.int("group", 1).max(1), new.int("offset_group", 1).max(1));
    let (own, channels) = (cx.operand_dtype()?, inner.saturating_mul(groups));
    let dtype = computed_in(own)?;
    let Some(&[x, weights, offsets]) = new.inputs.first_chunk::<3>() else {
        return Err(errors::missing("offsets of DeformConv"));
    };
    let (x, offsets) = (cx.of_type(x, dtype)?, cx.of_type(offsets, dtype)?);
    let (sizes, of_offsets) = (cx.sizes(x)?, cx.sizes(offsets)?);
    let [rows, columns] = [2, 3].map(|axis| cx.part_of(of_offsets, axis, axis + 1));
    let (rows, columns) = (rows?, columns?);
    let count = cx.put("Mul", &[rows, columns], &[])?;
    let lead = cx.list(&[-1, taps_count, 2]);
    let dims = cx.joined(&[lead, count])?;
    let offsets = cx.put("Reshape", &[offsets, dims], &[])?;
    // Each part of the channels has positions of its own, and counts as an image.
    let area = [2, 3].map(|axis| cx.part_of(sizes, axis, axis + 1));
    let [tall, wide] = area;
    let (tall, wide) = (tall?, wide?);
    let area = cx.put("Mul", &[tall, wide], &[])?;
    let lead = cx.list(&[-1, channels / parts]);
    let dims = cx.joined(&[lead, area])?;
    let images = cx.put("Reshape", &[x, dims], &[])?;
    let of_images = cx.sizes(images)?;
    let known =
        windows.and_then(|dims| Some([dims.get(2).copied().flatten()?, dims.get(3).copied().flatten()?]));
    let known = known.filter(|[rows, columns]| (0..=MAX_TAPS).contains(&rows.saturating_mul(*columns)));
    let indices = if let Some([rows, columns]) = known {
        [
            cx.list(&(0..rows * columns).map(|at| at / columns).collect::<Vec<_>>()),
            cx.list(&(0..rows * columns).map(|at| at % columns).collect::<Vec<_>>()),
        ]
    } else {
        let (zero, one, none) = (cx.scalar(0), cx.scalar(1), cx.list(&[]));
        let end = cx.put("Reshape", &[count, none], &[])?;
        let all = cx.put("Range", &[zero, end, one], &[])?;
        [cx.put("Div", &[all, columns], &[])?, cx.put("Mod", &[all, columns], &[])?]
    };
    let (mut axes, pairs) = (Vec::new(), cx.list(&[0, -1]));
    for (axis, size) in [tall, wide].into_iter().enumerate() {
        let at = cx.scalar(i64::try_from(axis).unwrap_or(0));
        let given = cx.put("Gather", &[offsets, at], &[int("axis", 2)])?;
        let step = cx.scalar(strides[axis]);
        let first = cx.put("Mul", &[indices[axis], step], &[])?;
        let tap = |tap: i64| if axis == 0 { tap / width } else { tap % width };
        let begins: Vec<_> = (0..taps_count)
            .map(|at| tap(at).saturating_mul(dilations[axis]).saturating_sub(pads[axis]))
            .collect();
        let (begins, column) = (cx.list(&begins), cx.list(&[-1, 1]));
        let begins = cx.put("Reshape", &[begins, column], &[])?;
        let base = cx.put("Add", &[first, begins], &[])?;
        let base = cx.cast(base, dtype)?;
        let at = cx.put("Add", &[given, base], &[])?;
        let at = cx.put("Reshape", &[at, pairs], &[])?;
        let extent = cx.cast(size, dtype)?;
        axes.push(taps_around(cx, at, (size, extent), dtype, (Interpolation::Linear, Outside::Zeros))?);
    }
    let mut value = sums(cx, images, of_images, axes, (dtype, true))?;
    if let Some(mask) = new.input(4) {
        let mask = cx.cast(mask, dtype)?;
        let every = cx.list(&[taps_count]);
        let every = cx.put("Mul", &[count, every], &[])?;
        let lead = cx.list(&[-1, 1]);
        let dims = cx.joined(&[lead, every])?;
        let mask = cx.put("Reshape", &[mask, dims], &[])?;
        value = cx.put("Mul", &[value, mask], &[])?;
    }
    let (samples, all) = (cx.part_of(sizes, 0, 1)?, cx.list(&[channels.saturating_mul(taps_count)]));
    let dims = cx.joined(&[samples, all, rows, columns])?;
    let value = cx.put("Reshape", &[value, dims], &[])?;
    let value = cx.cast(value, own)?;
    let kernels = cx.list(&[filters, inner.saturating_mul(taps_count), 1, 1]);
    let kernels = cx.put("Reshape", &[weights, kernels], &[])?;
    let mut inputs = vec![value, kernels];
    inputs.extend(new.input(3));
    Ok(vec![cx.put("Conv", &inputs, &[int("group", groups)])?])
}

/// `DeformConv`: convolutions of samples at shifted positions.
pub fn deform_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, weights_dims) = (cx.tensor(0)?.shape().dims(), cx.tensor(1)?.shape().dims());
    let (_, shape) = cx.output(0)?;
    let number =
        |name: &str| Ok::<_, Error>(attributes.int(name)?.and_then(usize_of_i64).unwrap_or(1).max(1));
    let (groups, offset_groups) = (number("group")?, number("offset_group")?);
    let (sizes, kernel, windows) = (&dims[2..], &weights_dims[2..], &shape.dims()[2..]);
    let axes = sizes.len();
    let list = |name: &str, default: i64| {
        Ok::<_, Error>(attributes.ints(name)?.map_or_else(|| vec![default; 2 * axes], <[i64]>::to_vec))
    };
    let (strides, dilations, pads) = (list("strides", 1)?, list("dilations", 1)?, list("pads", 0)?);
    let (x, weights, offsets) = (cx.floats(0)?, cx.floats(1)?, cx.floats(2)?);
    let (bias, mask) = (cx.maybe_floats(3)?, cx.maybe_floats(4)?);
    let (channels, filters) = (dims[1], shape.dims()[1]);
    let (count, taps_count): (usize, usize) = (windows.iter().product(), kernel.iter().product());
    let plane: usize = sizes.iter().product();
    let mut y = vec![0.0; shape.len()];
    if y.is_empty() || x.is_empty() || weights.is_empty() {
        return Ok(vec![cx.rounded(0, &y)?]);
    }
    let columns_len = product(channels * taps_count, count);
    cx.reserve(columns_len.saturating_mul(8))?;
    let each = 1u128 << axes.min(64);
    cx.run.touch(columns_len.saturating_mul(product(dims[0], filters / groups)).saturating_mul(each))?;
    let (inner, outer) = (channels / groups, filters / groups);
    let all: Vec<_> = positions(windows).collect();
    for sample in 0..dims[0] {
        let mut columns = vec![0.0; channels * taps_count * count];
        for group in 0..offset_groups {
            for (tap, tap_position) in positions(kernel).enumerate() {
                cx.limits().check()?;
                let first = (sample * offset_groups + group) * taps_count + tap;
                for (window, position) in all.iter().enumerate() {
                    let along = (0..axes).map(|axis| {
                        let [at, tap] = [position[axis], tap_position[axis]].map(float_of);
                        let [stride, dilation, pad] = [strides[axis], dilations[axis], pads[axis]]
                            .map(|x| nearest_f64(Number::Int(x.into())));
                        let x = at * stride - pad
                            + tap * dilation
                            + offsets[(first * axes + axis) * count + window];
                        taps(x, sizes[axis], Interpolation::Linear, Outside::Zeros)
                    });
                    let around = around(&along.collect::<Vec<_>>(), sizes);
                    let factor = mask.as_ref().map_or(1.0, |mask| mask[first * count + window]);
                    let own = channels / offset_groups;
                    for channel in group * own..(group + 1) * own {
                        let plane = &x[(sample * channels + channel) * plane..][..plane];
                        let sum: f64 = around.iter().map(|&(place, weight)| weight * plane[place]).sum();
                        columns[(channel * taps_count + tap) * count + window] = sum * factor;
                    }
                }
            }
        }
        let depth = inner * taps_count;
        let limits = cx.limits();
        let adding = cx.adding_doubles(&limits)?;
        for group in 0..groups {
            let weights = &weights[group * outer * depth..][..outer * depth];
            let columns = &columns[group * depth * count..][..depth * count];
            let y = &mut y[(sample * filters + group * outer) * count..][..outer * count];
            let by_row = |numbers, row| Matrix::new(Numbers::Doubles(numbers), row, 1);
            let sizes = Sizes { rows: outer, inner: depth, columns: count };
            y.copy_from_slice(&product_of(by_row(weights, depth), by_row(columns, count), sizes, adding)?);
        }
    }
    if let Some(bias) = bias {
        add_bias(&mut y, &shape, &bias);
    }
    Ok(vec![cx.rounded(0, &y)?])
}
