//! Operators that tell shapes, give elements another shape, move or repeat them, or make tensors.

use std::collections::BTreeSet;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{Class, DType, Result, Tensor};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::types::numbered;
use crate::errors;
use crate::indices::axis as axis_of;
use crate::layout::openvino::added_axes;
use crate::lowering::terms::{
    Term, f, gathered, in_shape, ints, joined, of, part, pick, shaped, turned, unsqueezed, whole, with,
};
use crate::lowering::{LoweredValue, Lowering, along, int, word};
use crate::words;

/// Notes what a dimension that does not fit becomes, if there may be one.
fn narrow(l: &mut Lowering<'_>) {
    let most = i64::from(i32::MAX);
    let fits = |dims: Vec<Option<i64>>| dims.iter().all(|dim| dim.is_some_and(|dim| dim <= most));
    if !l.dims(0).is_some_and(fits) {
        l.edges("sizes out of the range of int32 depend on the runtime");
    }
}

/// Writes `ShapeOf` as `Shape`.
pub fn shape_of(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let all = l.shape(x)?;
    if l.attributes.dtype("output_type")? == Some(DType::I32) {
        narrow(l);
        return Ok(vec![l.cast(all, DType::I32)?]);
    }
    Ok(vec![all])
}

/// ONNX has one type for all; OpenVINO casts what it is given.
pub fn range(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let types = [l.dtype_of(0)?, l.dtype_of(1)?, l.dtype_of(2)?];
    let to = l.attributes.dtype("output_type")?.unwrap_or(types[0]);
    let mut scalars = [l.input(0)?, l.input(1)?, l.input(2)?];
    // ONNX Runtime loads no range of int32 whose ends it computes from shapes that it knows.
    for (input, scalar) in scalars.iter_mut().enumerate() {
        if types[input].is_integer()
            && !l.is_constant(input)
            && let Some(known) = l.known(input)?
        {
            *scalar = l.constant(known)?;
        }
    }
    if types.contains(&DType::U64) {
        l.edges("numbers of 2^63 and more are out of range for int64, which ONNX uses for sizes");
    }
    if types.iter().all(|&dtype| dtype == to) {
        return Ok(vec![l.ranged(scalars, to, to)?]);
    }
    let whole = |dtype: &DType| dtype.is_integer();
    let short = |dtype: &DType| matches!(dtype, DType::F16 | DType::BF16 | DType::F32);
    let between = if whole(&to) || types.iter().all(whole) {
        if !types.iter().all(whole) {
            l.edges(caveats::CAST);
        }
        DType::I64
    } else if types.iter().all(short) && short(&to) {
        // Short floats are as exact in float32, all others in float64.
        DType::F32
    } else {
        DType::F64
    };
    let mut all = scalars;
    for (scalar, dtype) in all.iter_mut().zip(types) {
        if dtype != between {
            *scalar = l.cast(*scalar, between)?;
        }
    }
    Ok(vec![l.ranged(all, between, to)?])
}

/// Without axes, or with none, all of one element are removed. Named axes of other dimensions are
/// kept.
pub fn squeeze(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let known = if l.has(1) { l.known_integers(1)? } else { Some(Vec::new()) };
    let axes = match known {
        None if l.len(1).is_some_and(|len| len > 0) => {
            l.edges(SKIPPED);
            l.whole_list(1)?
        }
        None => return Err(l.unknown("list of the squeezed axes")),
        Some(axes) if axes.is_empty() => LoweredValue::NONE,
        Some(axes) => {
            let mut gone = Vec::new();
            for axis in axes {
                let (axis, size) = match l.rank_if_known(0) {
                    Some(rank) => {
                        let axis = axis_of(axis, rank)?;
                        (i64_of(axis), l.known_size(0, axis))
                    }
                    None => (axis, None),
                };
                if size.is_none() {
                    if l.attributes.flag("allow_axis_skip", false)? {
                        return Err(l.unknown(&format!("size of axis {axis}")));
                    }
                    l.edges(SKIPPED);
                }
                if size.is_none_or(|size| size == 1) && !gone.contains(&axis) {
                    gone.push(axis);
                }
            }
            if gone.is_empty() {
                return Ok(vec![l.apply("Identity", &[x], &[])?]);
            }
            let gone = l.axes_in_set("Squeeze", gone, l.rank_if_known(0))?;
            l.list(&gone)?
        }
    };
    Ok(vec![l.apply("Squeeze", &[x, axes], &[])?])
}

/// The error for features that ONNX lacks.
const SKIPPED: &str = "OpenVINO keeps a named axis whose size is not 1, which is an error in ONNX";

/// Writes `Broadcast` as `Expand`, with axes in place for the mode.
pub fn broadcast(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, target) = (l.input(0)?, l.whole_list(1)?);
    let (rank, all) = (l.rank_if_known(0), l.len(1));
    let added = |axes: Vec<i64>| if axes.is_empty() { x.into() } else { unsqueezed(x, &axes) };
    let x = match words::BROADCAST_MODE.of(&l.attributes)? {
        "explicit" => {
            if let (Some(own), Some(all)) = (l.known_integers(2)?, all) {
                added((0..i64_of(all)).filter(|axis| !own.contains(axis)).collect())
            } else {
                // Sizes of 1, but those of the axes that the input has.
                let (own, places) = (l.shape(x)?, l.whole_list(2)?);
                let ones = ones_of(f("Shape", target));
                in_shape(x, with("ScatterElements", [ones, places.into(), own.into()], [along(0)]))
            }
        }
        "pdpd" => match (l.attributes.int("axis")?.filter(|&axis| axis >= 0), rank, all) {
            (None, ..) => x.into(),
            (Some(start), Some(rank), Some(all)) => {
                added((start + i64_of(rank)..i64_of(all)).map(|axis| axis - start).collect())
            }
            (Some(start), ..) => {
                let own = l.shape(x)?;
                let after = f("Shape", target) - ints(&[start]) - f("Shape", own);
                in_shape(x, joined([own.into(), ones_of(after)], 0))
            }
        },
        _ => x.into(),
    };
    Ok(vec![of("Expand", x, target).write(l, DType::I64)?])
}

/// A list of ones, whose number is computed.
fn ones_of(count: Term) -> Term {
    with("ConstantOfShape", [count], [("value", Content::Tensor(Tensor::vector(&[1i64]).into()))])
}

/// Missing repeats or axes are 1, in front.
pub fn tile(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, repeats) = (l.input(0)?, l.whole_list(1)?);
    let (mut x, mut repeats) = (Term::from(x), Term::from(repeats));
    if let (Some(rank), Some(count)) = (l.rank_if_known(0), l.len(1)) {
        if count < rank {
            repeats = joined([ints(&vec![1; rank - count]), repeats], 0);
        }
        if count > rank {
            x = unsqueezed(x, &(0..i64_of(count - rank)).collect::<Vec<_>>());
        }
    } else {
        let sizes = f("Shape", x.clone()).write(l, DType::I64)?;
        let rank = l.shape(sizes)?;
        let count = f("Shape", repeats.clone()).write(l, DType::I64)?;
        let filled = |list: Term, missing: Term| joined([ones_of(of("Max", missing, ints(&[0]))), list], 0);
        x = in_shape(x, filled(sizes.into(), count - rank));
        repeats = filled(repeats, rank - count);
    }
    Ok(vec![of("Tile", x, repeats).write(l, DType::I64)?])
}

/// Writes `Pad`, whose begins and ends ONNX has in one list.
pub fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mode = words::PAD_KIND.of(&l.attributes)?;
    if mode == "symmetric" {
        return symmetric(l);
    }
    let pads = l.pads(1, 2)?;
    let value = if mode == "constant" { l.maybe(3) } else { LoweredValue::NONE };
    Ok(vec![with("Pad", [l.input(0)?.into(), pads.into(), value.into()], [word("mode", mode)]).put(l)?])
}

/// Elements of an axis mirrored at its ends, whose first and last elements occur twice.
fn symmetric(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, mut x) = (l.rank_of(0)?, l.input(0)?);
    let known = [l.known_integers(1)?, l.known_integers(2)?];
    let pads = [l.whole_list(1)?, l.whole_list(2)?];
    for axis in 0..rank {
        if known.iter().all(|pads| pads.as_ref().is_some_and(|pads| pads.get(axis) == Some(&0))) {
            continue;
        }
        let place = |list: Term| gathered(list, whole(i64_of(axis)), 0);
        let size = place(f("Shape", x)).write(l, DType::I64)?;
        let ends = [whole(0) - place(pads[0].into()), size + place(pads[1].into()), whole(1)];
        let twice = (size + size).write(l, DType::I64)?;
        let ahead = of("Mod", with("Range", ends, []), twice).write(l, DType::I64)?;
        let indices = of("Min", ahead, twice - whole(1) - ahead);
        x = gathered(x, indices, axis).write(l, DType::I64)?;
    }
    Ok(vec![x])
}

/// ONNX counts indices below zero from the end; OpenVINO does so only if an attribute asks for it,
/// and selects nothing without it.
pub fn one_hot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut indices, depth) = (l.whole(0)?, l.whole_scalar(1)?);
    let signed = matches!(l.dtype_of(0)?.class(), Class::Signed);
    if signed && words::NEGATIVES.of(&l.attributes)? != "normalize" {
        indices = pick(of("Less", indices, 0), depth, indices).write(l, DType::I64)?;
    }
    let values = joined([shaped(l.input(3)?, &[1]), shaped(l.input(2)?, &[1])], 0).write(l, DType::I64)?;
    let axis = required("axis", l.attributes.int("axis")?)?;
    Ok(vec![l.apply("OneHot", &[indices, depth, values], &[int("axis", axis)])?])
}

/// Writes `Reshape`, whose flag says what a zero means.
pub fn reshape(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, shape) = (l.input(0)?, l.whole_list(1)?);
    let zero = l.attributes.flag("special_zero", false)?;
    Ok(vec![l.apply("Reshape", &[x, shape], &[int("allowzero", i64::from(!zero))])?])
}

/// Writes `Unsqueeze` with each axis named once.
pub fn unsqueeze(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axes = if let Some(axes) = l.known_integers(1)? {
        let axes = if let Some(rank) = l.rank_if_known(0) {
            added_axes(&axes, rank)?
        } else {
            let listed = axes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            l.axes_in_set("Unsqueeze", listed, None)?
        };
        l.list(&axes)?
    } else {
        if l.len(1) != Some(1) {
            l.edges("OpenVINO adds an axis once that is named twice, which is an error in ONNX");
        }
        l.whole_list(1)?
    };
    Ok(vec![of("Unsqueeze", l.input(0)?, axes).put(l)?])
}

/// Writes `Transpose` with a constant order.
pub fn transpose(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, order) = (l.input(0)?, l.integers(1)?);
    let perm = (!order.is_empty()).then_some(("perm", Content::Ints(order.into())));
    Ok(vec![l.apply("Transpose", &[x], perm.as_slice())?])
}

/// Writes `Concat` along its axis.
pub fn concat(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let parts = l.given()?;
    let axis = l.attributes.int("axis")?.unwrap_or(0);
    let axis = l.axis_in_set("Concat", axis, l.rank_if_known(0))?;
    Ok(vec![l.apply("Concat", &parts, &[int("axis", axis)])?])
}

/// Writes `NonZero`, with indices in the type of the node.
pub fn non_zero(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.rank_if_known(0).is_none_or(|rank| rank == 0) {
        l.edges("the specifications do not define the indices of a scalar");
    }
    let found = f("NonZero", l.input(0)?).put(l)?;
    if l.attributes.dtype("output_type")? == Some(DType::I32) {
        narrow(l);
        return Ok(vec![l.cast(found, DType::I32)?]);
    }
    Ok(vec![found])
}

/// Groups of an axis, and the elements within them, change places.
pub fn shuffle_channels(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = axis_of(l.attributes.int_or("axis", 1)?, rank)?;
    let groups = l.attributes.int_or("group", 1)?;
    let (shape, at) = (l.shape(x)?, i64_of(axis));
    let each = part(shape, at, at + 1) / ints(&[groups]);
    let apart = [part(shape, 0, at), ints(&[groups]), each, part(shape, at + 1, i64::MAX)];
    let mut order: Vec<_> = (0..=rank).collect();
    order.swap(axis, axis + 1);
    let swapped = turned(in_shape(x, joined(apart, 0)), order);
    Ok(vec![in_shape(swapped, shape).write(l, DType::I64)?])
}

/// ONNX takes the first two axes only: others are moved there and back.
pub fn reverse_sequence(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, lengths, rank) = (l.input(0)?, l.whole(1)?, l.rank_of(0)?);
    let batch = axis_of(l.attributes.int_or("batch_axis", 0)?, rank)?;
    let steps = axis_of(l.attributes.int_or("seq_axis", 1)?, rank)?;
    let axes = |batch: i64| [int("batch_axis", batch), int("time_axis", 1 - batch)];
    if batch < 2 && steps < 2 {
        return Ok(vec![l.apply("ReverseSequence", &[x, lengths], &axes(i64_of(batch)))?]);
    }
    let others = (0..rank).filter(|&axis| axis != batch && axis != steps);
    let order: Vec<_> = [batch, steps].into_iter().chain(others).collect();
    let mut back = vec![0; rank];
    for (to, &from) in order.iter().enumerate() {
        back[from] = to;
    }
    let reversed = with("ReverseSequence", [turned(x, order), lengths.into()], axes(0));
    Ok(vec![turned(reversed, back).write(l, DType::I64)?])
}

/// Ones on a diagonal; zeros elsewhere.
pub fn eye(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = required("output_type", l.attributes.dtype("output_type")?)?;
    let (rows, columns, diagonal) = (l.whole_list(0)?, l.whole_list(1)?, l.integer(2)?);
    let shape = joined([rows, columns], 0).write(l, DType::I64)?;
    let attributes = [numbered("dtype", dtype)?, int("k", diagonal)];
    let value = with("EyeLike", [f("ConstantOfShape", shape)], attributes);
    if !l.has(3) {
        return Ok(vec![value.write(l, dtype)?]);
    }
    let batch = l.whole_list(3)?;
    Ok(vec![of("Expand", value, joined([batch, shape], 0)).write(l, dtype)?])
}

/// Blocks of the channels' axis become blocks of the image, or the other way round.
pub fn blocks(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (spreads, spatial) = (operator == "DepthToSpace", l.rank_of(0)?.saturating_sub(2));
    let block = errors::at_least_1("block_size", l.attributes.int_or("block_size", 1)?)?;
    let deep = words::DEPTH.of(&l.attributes)? == "depth_first";
    let x = l.input(0)?;
    if spatial == 2 && (spreads || !deep) {
        let mut attributes = vec![int("blocksize", block)];
        if deep {
            attributes.push(word("mode", "CRD"));
        }
        return Ok(vec![l.apply(operator, &[x], &attributes)?]);
    }
    // Each axis of the image next to one of its blocks, which belong to the channels, before or
    // after them.
    let sizes = l.shape(x)?;
    let each = || ints(&[block]);
    let all = ints(&[block.saturating_pow(u32::try_from(spatial).unwrap_or(u32::MAX))]);
    let length = |axis: usize| part(sizes, i64_of(axis), i64_of(axis) + 1);
    let (batch, mut channels) = (length(0).write(l, DType::I64)?, length(1));
    let mut axes = Vec::new();
    for axis in 0..spatial {
        let own = length(axis + 2);
        axes.push(if spreads { own } else { own / each() }.write(l, DType::I64)?);
    }
    channels = if spreads { channels / all.clone() } else { channels };
    let channels = channels.write(l, DType::I64)?;
    let (apart, order): (Vec<Term>, Vec<_>) = if spreads {
        let blocks = (0..spatial).map(|_| each());
        let own: Vec<_> = if deep {
            [channels.into()].into_iter().chain(blocks).collect()
        } else {
            blocks.chain([channels.into()]).collect()
        };
        let first = usize::from(deep) + 1;
        let pairs = (0..spatial).flat_map(|axis| [spatial + 2 + axis, first + axis]);
        let channel = if deep { 1 } else { spatial + 1 };
        let lengths = axes.iter().map(|&axis| axis.into());
        (
            [batch.into()].into_iter().chain(own).chain(lengths).collect(),
            [0, channel].into_iter().chain(pairs).collect(),
        )
    } else {
        let pairs = axes.iter().flat_map(|&axis| [axis.into(), each()]);
        let inner = (0..spatial).map(|axis| 2 * axis + 3);
        let own: Vec<_> =
            if deep { [1].into_iter().chain(inner).collect() } else { inner.chain([1]).collect() };
        let outer = (0..spatial).map(|axis| 2 * axis + 2);
        let lead = [batch.into(), channels.into()];
        (lead.into_iter().chain(pairs).collect(), [0].into_iter().chain(own).chain(outer).collect())
    };
    let apart = turned(in_shape(x, joined(apart, 0)), order);
    let channels = if spreads { channels.into() } else { channels * all };
    let axes = axes.into_iter().map(|axis| if spreads { axis * each() } else { axis.into() });
    let together = joined([batch.into(), channels].into_iter().chain(axes), 0);
    Ok(vec![in_shape(apart, together).write(l, DType::I64)?])
}
