//! Operators of layout as graphs of simpler operators, in operator sets and standards that lack
//! them.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::writer::NewValue;
use crate::lowering::terms::{f, ints, of, pick, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, axis as axis_of, int};

/// The middle of each axis, between zeros where more is wanted than there is.
pub fn center_crop_pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, wanted, rank) = (l.input(0)?, l.input(1)?, l.rank_of(0)?);
    let axes = l.attributes.ints("axes")?.map_or_else(|| (0..i64_of(rank)).collect(), <[i64]>::to_vec);
    let axes = axes.into_iter().map(|axis| crate::lowering::axis(axis, rank)).collect::<Result<Vec<_>>>()?;
    let places: Vec<_> = axes.iter().copied().map(i64_of).collect();
    let (zero, two, axes_list) = (l.list(&[0])?, l.list(&[2])?, l.list(&places)?);
    let wanted = l.cast(wanted, DType::I64)?;
    let own = of("Gather", f("Shape", x), axes_list).put(l)?;
    let more = l.apply("Sub", &[wanted, own], &[])?;
    let less = l.apply("Neg", &[more], &[])?;
    let [more, less] = [l.apply("Max", &[more, zero], &[])?, l.apply("Max", &[less, zero], &[])?];
    let [before, start] = [l.apply("Div", &[more, two], &[])?, l.apply("Div", &[less, two], &[])?];
    let end = (start + of("Min", wanted, own)).put(l)?;
    let middle = l.apply("Slice", &[x, start, end, axes_list], &[])?;
    // The last pad is 0, for the axes that are not named.
    let pads = with("Concat", [before.into(), more - before, zero.into()], [int("axis", 0)]).put(l)?;
    let mut from = vec![i64_of(2 * axes.len()); 2 * rank];
    for (place, &axis) in axes.iter().enumerate() {
        from[axis] = i64_of(place);
        from[rank + axis] = i64_of(axes.len() + place);
    }
    let nothing = Tensor::zeros(l.dtype_of(0)?, Shape::SCALAR)?;
    let (pads, nothing) = (of("Gather", pads, ints(&from)).put(l)?, l.constant(nothing)?);
    Ok(vec![l.apply("Pad", &[middle, pads, nothing], &[])?])
}

/// Pads of all axes, of a node that pads the axes that it names.
pub fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.has(3) {
        return l.itself();
    }
    let (rank, axes) = (l.rank_of(0)?, l.known_integers(3)?.ok_or_else(|| l.unknown("axes of Pad"))?);
    // The pad after those of the node is 0.
    let mut places = vec![i64_of(2 * axes.len()); 2 * rank];
    for (place, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, rank)?;
        places[axis] = i64_of(place);
        places[rank + axis] = i64_of(axes.len() + place);
    }
    // Older operator sets take no pads that are computed.
    let pads = if let Some(pads) = l.known_integers(1)? {
        let pad = |&place: &i64| usize_of_i64(place).and_then(|place| pads.get(place).copied());
        ints(&places.iter().map(|place| pad(place).unwrap_or(0)).collect::<Vec<_>>())
    } else {
        let pads = with("Concat", [l.input(1)?.into(), ints(&[0])], [along(0)]);
        with("Gather", [pads, ints(&places)], [along(0)])
    };
    let pads = pads.write(l, DType::I64)?;
    let inputs = [l.input(0)?, pads, l.maybe(2)];
    Ok(vec![l.apply("Pad", &inputs, &l.own_attributes())?])
}

/// The elements of the input in another shape, of which a dimension of 0 is none of the input's:
/// one that may be 0 is made one of the input first, which then has no elements.
pub fn reshape(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, shape) = (l.input(0)?, l.input(1)?);
    let has_zero = l.known_integers(1)?.is_none_or(|dims| dims.contains(&0));
    if l.attributes.flag("allowzero", false)? && has_zero {
        x = l.reshape(x, &[-1])?;
        // Shape inference of `onnx` takes casts to bool and back for the number itself.
        x = of("Expand", x, f("Abs", f("Sign", shape))).write(l, DType::I64)?;
    }
    Ok(vec![l.apply("Reshape", &[x, shape], &[])?])
}

/// The sizes of some axes.
pub fn shape(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (start, end) = (l.attributes.int_or("start", 0)?, l.attributes.int_or("end", i64::MAX)?);
    let x = l.input(0)?;
    let all = l.shape(x)?;
    Ok(vec![if (start, end) == (0, i64::MAX) { all } else { l.part_of(all, start, end)? }])
}

/// The elements on one side of a diagonal, chosen by the distance of their column and row.
pub fn trilu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let sizes = l.shape(x)?;
    let line = |axis| with("Range", [whole(0), of("Gather", sizes, whole(axis)), whole(1)], []);
    let distance = of("Unsqueeze", line(-1), ints(&[0])) - of("Unsqueeze", line(-2), ints(&[-1]));
    let diagonal = if l.has(1) { l.input(1)?.into() } else { whole(0) };
    let upper = l.attributes.flag("upper", true)?;
    let beyond = of(if upper { "Less" } else { "Greater" }, distance, diagonal);
    // ONNX Runtime has no `Where` that chooses among booleans.
    let kept = if dtype == DType::Bool { of("And", x, f("Not", beyond)) } else { pick(beyond, 0.0, x) };
    Ok(vec![kept.write(l, dtype)?])
}

/// Parts of which the last may be smaller, in sets whose equal parts are equal.
pub fn smaller_last_part(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    let count = i64_of(cx.node.outputs.len());
    if cx.has(1) || cx.attributes.get("num_outputs").is_none() || cx.set_has("num_outputs") {
        return Ok(None);
    }
    let axis = i64_of(cx.axis(cx.attributes.int_or("axis", 0)?, 0)?);
    let size = cx.known_size(0, usize_of_i64(axis).unwrap_or_default());
    let x = cx.input(0)?;
    if let Some(size) = size {
        if size % count == 0 {
            return Ok(None);
        }
        let each = size / count + 1;
        let sizes = (0..count).map(|part| (size - part * each).clamp(0, each)).collect::<Vec<_>>();
        let sizes = cx.list(&sizes);
        return cx
            .put_many("Split", &[x, sizes], &[("axis", Content::Int(axis))], cx.node.outputs.len())
            .map(Some);
    }
    let (shape, at, less) = (cx.sizes(x)?, cx.list(&[axis]), cx.list(&[count - 1]));
    let size = cx.put("Gather", &[shape, at], &[])?;
    let size = cx.put("Add", &[size, less], &[])?;
    let count = cx.list(&[count]);
    let each = cx.put("Div", &[size, count], &[])?;
    let (mut parts, mut start) = (Vec::new(), cx.list(&[0]));
    for _ in 0..cx.node.outputs.len() {
        let end = cx.put("Add", &[start, each], &[])?;
        parts.push(cx.put("Slice", &[x, start, end, at], &[])?);
        start = end;
    }
    Ok(Some(parts))
}
