//! Operators that tell shapes, give elements another shape, move or repeat them, or make tensors.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::{ConvertContext, GivenIntegers};
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::named;
use crate::conversion::writer::{NONE, NewValue};
use crate::generate::constant::held;

/// Writes `Shape` as `ShapeOf`, sliced if it starts or ends within.
pub fn shape(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let all = cx.shape_of(x)?;
    let (start, end) = (cx.attributes.int("start")?.unwrap_or(0), cx.attributes.int("end")?);
    if start == 0 && end.is_none() {
        return Ok(vec![all]);
    }
    Ok(vec![cx.sliced(all, start, end.unwrap_or(i64::MAX))?])
}

/// Writes `Size` as the product of `ShapeOf`.
pub fn size(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let (all, axis) = (cx.shape_of(x)?, cx.list(&[0]));
    Ok(vec![cx.put("ReduceProd", &[all, axis], &[say("keep_dims", false)])?])
}

/// Writes `Range` in the element type of its inputs.
pub fn range(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::RANGE);
    let dtype = cx.dtype(0)?;
    let scalars = [cx.scalar_input(0)?, cx.scalar_input(1)?, cx.scalar_input(2)?];
    Ok(vec![cx.put("Range", &scalars, &[named("output_type", dtype)?])?])
}

/// Writes `Constant` as a constant of its own.
pub fn constant(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let tensor = held(&cx.attributes)?;
    if tensor.dtype() == DType::String {
        return Err(cannot("OpenVINO has no string constants"));
    }
    crate::conversion::types::expect(cx.conversion.to, tensor.dtype())?;
    // One of its own, as it gets the name of the node's output.
    Ok(vec![cx.target.constant(None, tensor.into())])
}

/// Writes `ConstantOfShape` as `Broadcast` of a constant.
pub fn constant_of_shape(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let value = match cx.attributes.tensor("value")? {
        Some(value) => value.reshaped(Shape::SCALAR)?,
        None => Tensor::scalar(0f32),
    };
    let (shape, value) = (cx.input(0)?, cx.constant(value));
    Ok(vec![cx.put("Broadcast", &[value, shape], &[say("mode", "numpy")])?])
}

/// Writes `Reshape`, whose flag says what a zero means.
pub fn reshape(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let shape = cx.input(1)?;
    let zero = !cx.attributes.flag("allowzero", false)?;
    Ok(vec![cx.put("Reshape", &[x, shape], &[say("special_zero", zero)])?])
}

/// Writes `Flatten` as `Reshape`.
pub fn flatten(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let axis = cx.attributes.int("axis")?.unwrap_or(1);
    Ok(vec![flattened(cx, x, axis)?])
}

/// Two axes: the dimensions before the axis together, and all others.
pub fn flattened(cx: &mut ConvertContext<'_, '_>, x: NewValue, axis: i64) -> Result<NewValue> {
    let dims = cx.shape_of(x)?;
    let (zero, one) = (cx.list(&[0]), cx.list(&[1]));
    let mut parts = Vec::new();
    for (from, to) in [(0, axis), (axis, i64::MAX)] {
        parts.push(if (from, to) == (0, 0) {
            one
        } else {
            let part = cx.sliced(dims, from, to)?;
            cx.put("ReduceProd", &[part, zero], &[say("keep_dims", true)])?
        });
    }
    let target = cx.put("Concat", &parts, &[say("axis", 0)])?;
    cx.put("Reshape", &[x, target], &[say("special_zero", false)])
}

/// A list without axes changes nothing; to OpenVINO's Squeeze, it would name all of one element.
pub fn on_axes(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let axes = match cx.given_integers(1)? {
        GivenIntegers::No => NONE,
        GivenIntegers::Known(axes) if axes.is_empty() => return Ok(vec![x]),
        GivenIntegers::Known(axes) => cx.list(&axes),
        GivenIntegers::Computed if cx.len(1).is_some_and(|len| len > 0) => cx.input(1)?,
        GivenIntegers::Computed => return Err(not_known("number of axes in input 1")),
    };
    Ok(vec![cx.put(operator, &[x, axes], &[])?])
}

/// Writes `Pad`, with begins and ends as inputs of their own.
pub fn pad(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mode = cx.attributes.text("mode")?.unwrap_or("constant").to_owned();
    match &*mode {
        "constant" | "edge" | "reflect" => {}
        "wrap" => return Ok(vec![wrapped(cx)?]),
        _ => return Err(cannot(format!("OpenVINO has no equivalent of pad mode \"{mode}\""))),
    }
    let x = cx.input(0)?;
    let (before, behind) = pads(cx)?;
    let mut inputs = vec![x, before, behind];
    if cx.has(2) {
        inputs.push(cx.scalar_input(2)?);
    }
    Ok(vec![cx.put("Pad", &inputs, &[say("pad_mode", mode)])?])
}

/// Elements of each axis by their places, modulo its size.
fn wrapped(cx: &mut ConvertContext<'_, '_>) -> Result<NewValue> {
    let mut x = cx.input(0)?;
    let known = cx.given_integers(1)?.known();
    let places = places_of_pads(cx, known.as_deref())?;
    let known = known.map(|known| places.each_ref().map(|places| picked(&known, places)));
    let (before, behind) = pads(cx)?;
    let (zero, one) = (cx.scalar(0), cx.scalar(1));
    let pick = [say("batch_dims", 0)];
    for at in 0..places[0].len() {
        if known.as_ref().is_some_and(|[before, behind]| (before[at], behind[at]) == (0, 0)) {
            continue;
        }
        let (dims, axis) = (cx.shape_of(x)?, cx.scalar(i64_of(at)));
        let size = cx.put("Gather", &[dims, axis, zero], &pick)?;
        let before = cx.put("Gather", &[before, axis, zero], &pick)?;
        let behind = cx.put("Gather", &[behind, axis, zero], &pick)?;
        let (start, stop) = (cx.put("Negative", &[before], &[])?, cx.put("Add", &[size, behind], &[])?);
        let places = cx.put("Range", &[start, stop, one], &[named("output_type", DType::I64)?])?;
        // Nothing can be found in an axis without elements.
        let size = cx.put("Maximum", &[size, one], &[])?;
        let places = cx.put("FloorMod", &[places, size], &[])?;
        x = cx.put("Gather", &[x, places, axis], &pick)?;
    }
    Ok(x)
}

/// Places in the list of pads of those before and after each axis; a zero follows the list.
fn places_of_pads(cx: &ConvertContext<'_, '_>, known: Option<&[i64]>) -> Result<[Vec<usize>; 2]> {
    let count = known.map(<[i64]>::len).or_else(|| cx.len(1)).map(|count| count / 2);
    let count = count.ok_or_else(|| not_known("number of pads"))?;
    let before: Vec<usize> = if cx.has(3) {
        let (axes, rank) = (cx.integers(3)?, cx.rank(0)?);
        let axes = axes.into_iter().map(|axis| cx.axis(axis, 0)).collect::<Result<Vec<_>>>()?;
        let at = |axis| axes.iter().position(|&named| named == axis);
        (0..rank).map(|axis| at(axis).unwrap_or(2 * count)).collect()
    } else {
        (0..count).collect()
    };
    let behind = before.iter().map(|&at| if at == 2 * count { at } else { at + count }).collect();
    Ok([before, behind])
}

fn picked(pads: &[i64], places: &[usize]) -> Vec<i64> {
    places.iter().map(|&at| pads.get(at).copied().unwrap_or(0)).collect()
}

/// The pads before and after each axis.
fn pads(cx: &mut ConvertContext<'_, '_>) -> Result<(NewValue, NewValue)> {
    let known = cx.given_integers(1)?.known();
    let [before, behind] = places_of_pads(cx, known.as_deref())?;
    if let Some(known) = known {
        return Ok((cx.list(&picked(&known, &before)), cx.list(&picked(&known, &behind))));
    }
    let (list, zero, axis) = (cx.input(1)?, cx.list(&[0]), cx.scalar(0));
    let list = cx.put("Concat", &[list, zero], &[say("axis", 0)])?;
    let mut picked = |places: &[usize]| {
        let places = cx.list(&places.iter().map(|&at| i64_of(at)).collect::<Vec<_>>());
        cx.put("Gather", &[list, places, axis], &[say("batch_dims", 0)])
    };
    Ok((picked(&before)?, picked(&behind)?))
}

/// Writes `NonZero`.
pub fn non_zero(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.rank_if_known(0).is_none_or(|rank| rank == 0) {
        cx.edges("the specifications do not define the indices of a scalar");
    }
    let mut x = cx.input(0)?;
    // The plug-in removes a conversion before it, and finds what is 0 in another type.
    if cx.target.maker(x).is_some_and(|(operator, _)| operator == "Convert") {
        let zero = cx.number(0.0, cx.dtype(0)?)?;
        x = cx.put("NotEqual", &[x, zero], &[numpy()])?;
    }
    Ok(vec![cx.put("NonZero", &[x], &[say("output_type", "i64")])?])
}

/// Writes `OneHot`, with the values for on and off as inputs of their own.
pub fn one_hot(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut indices = cx.input(0)?;
    if !cx.dtype(0)?.is_integer() {
        cx.edges("the specification does not define indices that are not integers");
        indices = cx.converted(indices, DType::I64)?;
    }
    let mut depth = cx.scalar_input(1)?;
    if !cx.dtype(1)?.is_integer() {
        depth = cx.converted(depth, DType::I64)?;
    }
    let (values, axis) = (cx.input(2)?, cx.scalar(0));
    let mut value = |at: i64| {
        let at = cx.scalar(at);
        cx.put("Gather", &[values, at, axis], &[say("batch_dims", 0)])
    };
    let (off, on) = (value(0)?, value(1)?);
    let axis = cx.attributes.int("axis")?.unwrap_or(-1);
    let attributes = [say("axis", axis), say("negative_indices_mode", "normalize")];
    Ok(vec![cx.put("OneHot", &[indices, depth, on, off], &attributes)?])
}

/// Writes `Expand` as `Broadcast` in both directions. A list of no sizes changes nothing, and ends
/// OpenVINO.
pub fn expand(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, shape) = (cx.input(0)?, cx.input(1)?);
    if cx.len(1) == Some(0) {
        return Ok(vec![x]);
    }
    Ok(vec![cx.put("Broadcast", &[x, shape], &[say("mode", "bidirectional")])?])
}

/// Writes `Tile`. OpenVINO returns other numbers for one without axes.
pub fn tile(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, repeats) = (cx.input(0)?, cx.input(1)?);
    if cx.len(1) == Some(0) {
        return Ok(vec![x]);
    }
    Ok(vec![cx.put("Tile", &[x, repeats], &[])?])
}

/// Writes `Transpose` with its order as an input.
pub fn transpose(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    // An empty order would turn all axes as well, but OpenVINO reads no file of constants without
    // bytes.
    let all = cx.rank_if_known(0).map(|rank| (0..i64_of(rank)).rev().collect());
    let order = cx.attributes.list("perm")?.or(all).unwrap_or_default();
    let (x, order) = (cx.input(0)?, cx.list(&order));
    Ok(vec![cx.put("Transpose", &[x, order], &[])?])
}

/// Writes `Concat`, without constants of no elements.
pub fn concat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut parts = cx.inputs()?;
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    // OpenVINO crashes on constants of no elements; exporters write them as the last of a shape.
    let is_empty = |input: usize| {
        let axis = cx.axis(axis, input).ok();
        axis.and_then(|axis| cx.dims(input)?.get(axis).copied()?) == Some(0)
    };
    let empty: Vec<_> = (0..parts.len()).map(is_empty).collect();
    if empty.contains(&false) {
        let mut empty = empty.into_iter();
        parts.retain(|_| empty.next() != Some(true));
    }
    if let [only] = parts[..] {
        return Ok(vec![only]);
    }
    Ok(vec![cx.put("Concat", &parts, &[say("axis", axis)])?])
}

/// Writes `ReverseSequence` along its axes.
pub fn reverse_sequence(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, lengths) = (cx.input(0)?, cx.input(1)?);
    let (batch, steps) = (cx.attributes.int_or("batch_axis", 1)?, cx.attributes.int_or("time_axis", 0)?);
    Ok(vec![cx.put("ReverseSequence", &[x, lengths], &[say("batch_axis", batch), say("seq_axis", steps)])?])
}

/// Ones on a diagonal; zeros elsewhere.
pub fn eye_like(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let dtype = match cx.attributes.dtype("dtype")? {
        Some(dtype) => dtype,
        None => cx.dtype(0)?,
    };
    let x = cx.input(0)?;
    let shape = cx.shape_of(x)?;
    let (rows, columns) = (cx.sliced(shape, 0, 1)?, cx.sliced(shape, 1, 2)?);
    let (rows, columns) = (cx.reshaped(rows, &[])?, cx.reshaped(columns, &[])?);
    let diagonal = cx.attributes.int_or("k", 0)?;
    let diagonal = cx.scalar(diagonal);
    Ok(vec![cx.put("Eye", &[rows, columns, diagonal], &[named("output_type", dtype)?])?])
}

/// Elements on one side of a diagonal; zeros elsewhere.
pub fn trilu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let upper = cx.attributes.flag("upper", true)?;
    let (x, rank, dtype) = (cx.input(0)?, i64_of(cx.rank(0)?), cx.dtype(0)?);
    let shape = cx.shape_of(x)?;
    let (zero, one) = (cx.scalar(0), cx.scalar(1));
    let mut numbered = |axis: i64| -> Result<NewValue> {
        let size = cx.sliced(shape, axis, axis + 1)?;
        let size = cx.reshaped(size, &[])?;
        cx.put("Range", &[zero, size, one], &[say("output_type", "i64")])
    };
    let (rows, columns) = (numbered(rank - 2)?, numbered(rank - 1)?);
    let rows = cx.reshaped(rows, &[-1, 1])?;
    let diagonal = if cx.has(1) { cx.scalar_input(1)? } else { zero };
    // Sums with the diagonal may exceed 64 bits.
    let above = cx.put("Subtract", &[columns, rows], &[numpy()])?;
    let kept = cx.put(if upper { "GreaterEqual" } else { "LessEqual" }, &[above, diagonal], &[numpy()])?;
    let nothing = cx.number(0.0, dtype)?;
    Ok(vec![cx.put("Select", &[kept, x, nothing], &[numpy()])?])
}

/// Blocks of the channels' axis become blocks of the image, or the other way round.
pub fn blocks(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let mode = if cx.attributes.text("mode")? == Some("CRD") { "depth_first" } else { "blocks_first" };
    let size = cx.attributes.int("blocksize")?.and_then(usize_of_i64).unwrap_or(1);
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[say("block_size", size), say("mode", mode)])?])
}
