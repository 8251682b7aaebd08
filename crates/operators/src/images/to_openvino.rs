//! Images in the operators of OpenVINO: `Resize` as `Interpolate`, of which only axes whose size
//! changes are named, or as sums by constant weights; and `GridSample`.

use gradus_core::convert::{Rules, i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::Standard;
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Result, Shape, Tensor, convert};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;
use crate::dim::Dim;
use crate::fact::{Elements, Fact};
use crate::images::lowered::{Grid, at_grid};
use crate::images::resize::{Resizing, Weights};
use crate::images::to_onnx::keeps_size;
use crate::lowering::int;
use crate::normalize::Older;
use crate::windows::to_openvino::list;

/// Elements of images at the positions of a grid.
pub fn grid_sample(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    match cx.rank(0)? {
        4 => {}
        5 => {
            let (mode, padding) = (cx.attributes.text("mode")?, cx.attributes.text("padding_mode")?);
            let mode = mode.unwrap_or("linear").to_owned();
            if matches!(&*mode, "cubic" | "bicubic") {
                return Err(cannot("ONNX does not define GridSample of volumes with mode=cubic"));
            }
            let padding = padding.unwrap_or("zeros").to_owned();
            let corners = cx.attributes.flag("align_corners", false)?;
            let (both, own) = ([cx.input(0)?, cx.input(1)?], cx.dtype(0)?);
            let how = Grid { mode: &mode, padding: &padding, corners };
            return Ok(vec![at_grid(cx, both, (5, own), how)?]);
        }
        _ => {
            return Err(cannot(
                "OpenVINO has no equivalent of GridSample of other tensors than images and volumes",
            ));
        }
    }
    cx.rounding(caveats::FUNCTION);
    let mode = match cx.attributes.text("mode")?.unwrap_or("linear") {
        "linear" | "bilinear" => "bilinear",
        "cubic" | "bicubic" => "bicubic",
        "nearest" => "nearest",
        other => return Err(cannot(format!("OpenVINO has no equivalent of GridSample with mode={other}"))),
    };
    if mode == "nearest" {
        cx.edges("the OpenVINO specification does not define which neighbor is nearest halfway");
    }
    let padding = cx.attributes.text("padding_mode")?.unwrap_or("zeros").to_owned();
    if mode == "bicubic" && padding == "border" {
        cx.edges(caveats::BORDER);
    }
    let aligned = cx.attributes.flag("align_corners", false)?;
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    let attributes = [say("align_corners", aligned), say("mode", mode), say("padding_mode", padding)];
    Ok(vec![cx.put("GridSample", &[x, grid], &attributes)?])
}

/// The axes that are resized, and what they become: sizes or scales.
fn resized(cx: &mut ConvertContext<'_, '_>) -> Result<(Vec<i64>, NewValue, &'static str)> {
    let rank = cx.rank(0)?;
    let axes = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    let is_empty = |cx: &ConvertContext<'_, '_>| cx.len(2) == Some(0);
    if cx.has(2) && !is_empty(cx) {
        let scales = cx.known(2)?.ok_or_else(|| not_known("scales"))?;
        let scales = convert::cast(&scales, DType::F32, Rules::IEEE)?;
        let scales = scales.elements::<f32>()?.to_vec();
        let (axes, scales): (Vec<_>, Vec<_>) =
            axes.into_iter().map(i64_of).zip(scales).filter(|(_, scale)| *scale != 1.0).unzip();
        return Ok((axes, cx.constant(Tensor::vector(&scales)), "scales"));
    }
    let dims = cx.fact(0).as_tensor().and_then(|fact| fact.dims.clone()).ok_or_else(|| not_known("rank"))?;
    let sizes: Vec<Dim> = match &cx.fact(3).as_tensor().ok_or_else(|| not_known("sizes"))?.elements {
        Elements::Integers(sizes) => sizes.to_vec(),
        _ => match cx.known_integers(3)? {
            Some(sizes) => sizes.into_iter().map(Dim::Known).collect(),
            None => return Err(not_known("sizes")),
        },
    };
    let changed: Vec<_> = (0..axes.len()).filter(|&i| sizes.get(i) != Some(&dims[axes[i]])).collect();
    let all = cx.input(3)?;
    let (places, axis) = (cx.list(&changed.iter().copied().map(i64_of).collect::<Vec<_>>()), cx.scalar(0));
    let sizes = cx.put("Gather", &[all, places, axis], &[say("batch_dims", 0)])?;
    Ok((changed.into_iter().map(|i| i64_of(axes[i])).collect(), sizes, "sizes"))
}

/// Returns true if a scale other than 1 leaves the size of its axis as it is; nothing where sizes
/// that are not known decide it.
fn leaves_sizes(cx: &ConvertContext<'_, '_>) -> Result<Option<bool>> {
    let Some(scales) = cx.known(2)? else { return Ok(None) };
    let dims = cx.dims(0).unwrap_or_default();
    let axes = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<Vec<_>>>()?,
        None => (0..dims.len()).collect(),
    };
    let scales: Vec<_> = scales.numbers()?.map(convert::nearest_f64).collect();
    let kept =
        scales.iter().zip(axes).map(|(&scale, axis)| keeps_size(scale, dims.get(axis).copied().flatten()));
    let kept: Vec<_> = kept.collect();
    Ok(if kept.contains(&Some(true)) { Some(true) } else { (!kept.contains(&None)).then_some(false) })
}

/// The sizes of the axes of a Resize before and after it, and the axes that keep a size that is not
/// known: these count as one element.
struct ResizedSizes {
    before: Vec<usize>,
    after: Vec<usize>,
    kept: Vec<usize>,
}

impl ResizedSizes {
    fn of(cx: &ConvertContext<'_, '_>) -> Option<ResizedSizes> {
        let dims = |fact: &Fact| fact.as_tensor()?.dims.clone();
        let before = dims(cx.fact(0))?;
        let after = dims(cx.scope.fact(cx.node.outputs.first().copied().flatten()?))?;
        let mut sizes = ResizedSizes { before: Vec::new(), after: Vec::new(), kept: Vec::new() };
        for (axis, (own, wanted)) in before.iter().zip(after.iter()).enumerate() {
            let size = |dim: &Dim| dim.known().and_then(usize_of_i64);
            let (own, wanted) = match (size(own), size(wanted)) {
                (Some(own), Some(wanted)) => (own, wanted),
                _ if own == wanted => {
                    sizes.kept.push(axis);
                    (1, 1)
                }
                _ => return None,
            };
            sizes.before.push(own);
            sizes.after.push(wanted);
        }
        Some(sizes)
    }
}

/// Elements as weighted sums along one axis after another, whose weights are constants, for a
/// Resize that `Interpolate` does not do.
pub fn by_weights(cx: &mut ConvertContext<'_, '_>, because: &str) -> Result<Vec<NewValue>> {
    let unknown = |what: &str| cannot(format!("cannot convert Resize with {because}: {what} is not known"));
    let open = || unknown("the size of a resized axis");
    let ResizedSizes { before: dims, after: wanted, kept } = ResizedSizes::of(cx).ok_or_else(open)?;
    let stretches = cx.attributes.text("keep_aspect_ratio_policy")?.is_none_or(|policy| policy == "stretch");
    let mut given = [const { None }; 3];
    for (input, given) in [1, 2, 3].into_iter().zip(&mut given) {
        if !cx.has(input) || cx.len(input) == Some(0) {
            continue;
        }
        *given = match cx.known(input)? {
            Some(tensor) => Some(tensor.numbers()?.map(convert::nearest_f64).collect::<Vec<_>>()),
            // The sizes after it tell the scales.
            None if input == 3 && stretches => Some(Vec::new()),
            None => return Err(unknown(&format!("the value of input {input}"))),
        };
    }
    let [region, scales, sizes] = given;
    let named = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<_>>()?,
        None => (0..dims.len()).collect::<Vec<_>>(),
    };
    let crops = cx.attributes.text("coordinate_transformation_mode")? == Some("tf_crop_and_resize");
    for place in (0..named.len()).filter(|&place| kept.contains(&named[place])) {
        // Sizes decide the scale of all axes together, or where the region of an axis lies.
        let is_whole = |region: &Vec<f64>| {
            region.get(place) == Some(&0.0) && region.get(place + named.len()) == Some(&1.0)
        };
        if (sizes.is_some() && !stretches) || (crops && !region.as_ref().is_some_and(is_whole)) {
            return Err(open());
        }
    }
    let resizing = Resizing { operator: "Resize", dims: &dims, wanted: &wanted, scales, sizes, region };
    let limits = cx.conversion.limits;
    let axes = resizing.axes(&cx.attributes, |size, wanted| {
        limits.allow_bytes(0, convert::product(wanted, 256) + convert::product(size, 128))
    })?;
    let moves = cx.attributes.text("mode")?.unwrap_or("nearest") == "nearest";
    let own = cx.dtype(0)?;
    let dtype = if !moves && own.is_float() && own.bits() < 32 { DType::F32 } else { own };
    if !moves {
        cx.rounding(caveats::ORDER);
        cx.expect_floats(0)?;
    }
    let mut x = cx.input(0)?;
    if dtype != own {
        x = cx.of_type(x, dtype)?;
    }
    let mut outside = Vec::new();
    for (at, axis) in axes.into_iter().enumerate().filter(|(at, axis)| !axis.stays && !kept.contains(at)) {
        let column = [vec![1; at], vec![axis.weights.len()], vec![1; dims.len() - at - 1]].concat();
        if axis.weights.iter().any(Option::is_none) {
            let beyond: Vec<_> = axis.weights.iter().map(|weights| Bool::from(weights.is_none())).collect();
            outside.push(cx.constant(Tensor::from_vec(Shape::new(column)?, beyond)?));
        }
        x = summed(cx, x, at, &axis.weights, if moves { None } else { Some(dtype) })?;
    }
    if !outside.is_empty() {
        let value = cx.attributes.float("extrapolation_value")?.unwrap_or(0.0);
        let value = cx.number(value.into(), dtype)?;
        for beyond in outside {
            x = cx.elements("Where", &[beyond, value, x])?;
        }
    }
    Ok(vec![if dtype == own { x } else { cx.of_type(x, own)? }])
}

/// Weighted sums of elements along an axis in a type of floats, or single elements.
pub fn summed(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    at: usize,
    weights: &[Weights],
    dtype: Option<DType>,
) -> Result<NewValue> {
    let axis = i64_of(at);
    let Some(dtype) = dtype else {
        let last = |weights: &Weights| weights.as_ref().and_then(|row| row.last()).map_or(0, |last| last.0);
        let indices: Vec<_> = weights.iter().map(|weights| i64_of(last(weights))).collect();
        let indices = cx.list(&indices);
        return cx.gathered(x, indices, axis);
    };
    let (indices, weights) = weight_tables(weights, cx.rank(0)? - at - 1, dtype)?;
    let (indices, weights) = (cx.constant(indices), cx.constant(weights));
    let taken = cx.gathered(x, indices, axis)?;
    let products = cx.elements("Mul", &[taken, weights])?;
    let axis = cx.list(&[i64_of(at) + 1]);
    let drops =
        if cx.target.standard == Standard::Onnx { int("keepdims", 0) } else { say("keep_dims", false) };
    cx.put("ReduceSum", &[products, axis], &[drops])
}

/// The indices of the elements of weighted sums, a row for each sum, and their weights, which axes
/// of one element follow.
pub fn weight_tables(weights: &[Weights], behind: usize, dtype: DType) -> Result<(Tensor, Tensor)> {
    let most = weights.iter().flatten().map(Vec::len).max().unwrap_or(1).max(1);
    let mut rows = Vec::with_capacity(weights.len());
    for weights in weights {
        let mut row = weights.clone().unwrap_or_default();
        // Rows of one length: the last weight is halved until there are enough.
        let (index, mut weight) = row.pop().unwrap_or((0, 0.0));
        while row.len() + 1 < most {
            weight /= 2.0;
            row.push((index, weight));
        }
        row.push((index, weight));
        rows.push(row);
    }
    let indices: Vec<_> = rows.iter().flatten().map(|&(index, _)| i64_of(index)).collect();
    let indices = Tensor::from_vec(Shape::new(vec![rows.len(), most])?, indices)?;
    let shape = Shape::new([vec![rows.len(), most], vec![1; behind]].concat())?;
    let weights: Vec<_> = rows.iter().flatten().map(|&(_, weight)| weight).collect();
    Ok((indices, convert::cast(&Tensor::from_vec(shape, weights)?, dtype, Rules::IEEE)?))
}

/// Writes `Resize` as `Interpolate`, or as sums by constant weights.
pub fn resize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.attributes.form().is(Older::Upsampled) {
        return by_weights(cx, "operator set 10");
    }
    for attribute in ["exclude_outside", "antialias"] {
        if cx.attributes.flag(attribute, false)? {
            return by_weights(cx, attribute);
        }
    }
    if cx.attributes.text("keep_aspect_ratio_policy")?.is_some_and(|policy| policy != "stretch") {
        return by_weights(cx, "keep_aspect_ratio_policy");
    }
    let coordinates = cx.attributes.text("coordinate_transformation_mode")?.unwrap_or("half_pixel");
    let known = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn"];
    if !known.contains(&coordinates) {
        return by_weights(cx, &format!("coordinate_transformation_mode={coordinates}"));
    }
    let mode = cx.attributes.text("mode")?.unwrap_or("nearest");
    let (mut axes, mut target, by) = resized(cx)?;
    if by == "scales" && coordinates != "align_corners" {
        match leaves_sizes(cx)? {
            Some(true) if ResizedSizes::of(cx).is_some() => {
                return by_weights(cx, "a scale that leaves a size as it is");
            }
            Some(false) => {}
            _ => cx.edges(caveats::UNSCALED),
        }
    }
    let (mut x, rank) = (cx.input(0)?, cx.rank(0)?);
    if axes.is_empty() {
        let dtype = cx.dtype(0)?;
        return Ok(vec![cx.target.copy(x, Some(dtype))?]);
    }
    // Images have two axes before those of space: others become such.
    let is_image = |axes: &[i64]| axes.len() <= 3 && axes.iter().all(|&axis| axis >= 2);
    let mut back = None;
    if mode == "linear" && !is_image(&axes) && axes.len() <= 3 && axes.len() + 2 <= rank {
        let order: Vec<_> =
            (0..i64_of(rank)).filter(|axis| !axes.contains(axis)).chain(axes.clone()).collect();
        let list = cx.list(&order);
        x = cx.put("Transpose", &[x, list], &[])?;
        axes = (i64_of(rank - axes.len())..i64_of(rank)).collect();
        let place = |axis| order.iter().position(|&own| own == axis).map_or(axis, i64_of);
        back = Some((0..i64_of(rank)).map(place).collect::<Vec<_>>());
    }
    let mode = match mode {
        "nearest" => "nearest",
        "linear" if is_image(&axes) => "linear_onnx",
        "cubic" if axes.len() == 2 => "cubic",
        // Another axis, which keeps its size, if weights cannot be constants.
        "cubic"
            if axes.len() == 1
                && rank > 1
                && coordinates != "tf_half_pixel_for_nn"
                && ResizedSizes::of(cx).is_none() =>
        {
            let other = i64_of(rank) - if axes[0] == i64_of(rank) - 1 { 2 } else { 1 };
            let own = if by == "scales" {
                cx.constant(Tensor::vector(&[1.0f32]))
            } else {
                let sizes = cx.shape_of(x)?;
                cx.sliced(sizes, other, other + 1)?
            };
            let (first, second) = if other < axes[0] { (own, target) } else { (target, own) };
            target = cx.put("Concat", &[first, second], &[say("axis", 0)])?;
            axes.push(other);
            axes.shared_sort();
            "cubic"
        }
        mode => return by_weights(cx, &format!("mode={mode} over axes {}", list(&axes))),
    };
    if mode != "nearest" {
        cx.rounding(caveats::ORDER);
    }
    let nearest = cx.attributes.text("nearest_mode")?.unwrap_or("round_prefer_floor");
    let cubic = cx.attributes.float("cubic_coeff_a")?.unwrap_or(-0.75);
    let attributes = [
        say("mode", mode),
        say("shape_calculation_mode", by),
        say("coordinate_transformation_mode", coordinates),
        say("nearest_mode", nearest),
        say("cube_coeff", cubic),
        say("antialias", false),
        say("pads_begin", list(&vec![0; rank])),
        say("pads_end", list(&vec![0; rank])),
    ];
    let axes = cx.list(&axes);
    let resized = cx.put("Interpolate", &[x, target, axes], &attributes)?;
    let Some(back) = back else { return Ok(vec![resized]) };
    let back = cx.list(&back);
    Ok(vec![cx.put("Transpose", &[resized, back], &[])?])
}
