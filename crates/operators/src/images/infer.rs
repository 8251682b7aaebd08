//! Rules of operators that make images of images.
//!
//! | operator | dimension |
//! |---|---|
//! | `Resize` with `sizes` | they are the dimensions; with `keep_aspect_ratio_policy`, the nearest to one scale for all |
//! | `Resize` with `scales`, `Upsample` | `floor(size*scale)`, the product rounded to float32, as implementations compute it |
//! | `GridSample`, `AffineGrid` | those of the grid |
//! | `ImageDecoder` | the data decide |
//!
//! Sources: ONNX Resize-10 to -19, Upsample-1 to -10, `GridSample`, `AffineGrid`, `ImageDecoder`.

use gradus_core::{DType, Number, Tensor, convert};

use crate::dim::{Bounds, Dim, Relation};
use crate::fact::{Dims, Elements, Fact, Fraction};
use crate::infer::{InferContext, InferError, InferResult};
use crate::windows::infer::image;
use crate::words;
use crate::{errors, indices};

/// Shape of `ImageDecoder`: height and width of the image, and 1 or 3 channels.
pub fn image_decoder(cx: &mut InferContext<'_, '_>) -> InferResult {
    let channels = if words::PIXEL_FORMAT.of(&cx.attributes)? == "Grayscale" { 1 } else { 3 };
    let [height, width] = ["the image's height", "the image's width"].map(|what| cx.data(what, Bounds::SIZE));
    Ok(vec![Fact::typed(DType::U8, [height, width, Dim::Known(channels)])])
}

/// Shape of `GridSample`: batch and channels of the image, and the spatial axes of the grid.
pub fn grid_sample(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, sizes) = image(cx, 0)?;
    let grid = cx.dims_of_rank(1, sizes.len() + 2)?;
    let spatial = &grid[1..grid.len() - 1];
    cx.equal(grid[0], batch, "number of samples")?;
    cx.equal(grid[grid.len() - 1], Dim::from(sizes.len()), "number of coordinates")?;
    let all: Vec<_> = [batch, channels].iter().chain(spatial).copied().collect();
    Ok(vec![Fact::shaped(all)])
}

/// Returns an error unless a list of sizes is that of a batch of images or volumes.
pub fn sizes_of_grid(len: usize) -> gradus_core::Result<()> {
    if matches!(len, 4 | 5) { Ok(()) } else { Err(errors::count("elements of the size", len, "4 or 5")) }
}

/// Shape of `AffineGrid`: batch, spatial axes, and a coordinate for each of them.
pub fn affine_grid(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.needed_len(1)?;
    sizes_of_grid(rank)?;
    let Some(size) = cx.integers(1) else {
        let dims = cx.any_dims("the size is not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    };
    let [batch, _, spatial @ ..] = &*size else {
        return Err(errors::count("elements of the size", size.len(), "at least 2").into());
    };
    let axes = Dim::from(spatial.len());
    cx.same_shape(0, &[*batch, axes, Dim::from(spatial.len() + 1)])?;
    let all: Vec<_> = std::iter::once(*batch).chain(spatial.iter().copied()).chain([axes]).collect();
    Ok(vec![Fact::shaped(all)])
}

/// Shape of ONNX Runtime's `GridSample`, in the type of the image.
pub fn grid_sample_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut facts = grid_sample(cx)?;
    if let Fact::Tensor(fact) = &mut facts[0] {
        fact.dtype = cx.dtype(0);
    }
    Ok(facts)
}

/// Numerators of scales beyond this are rounded with the product.
const MAX_NUMERATOR: i64 = 1 << 12;

/// The caveat for numbers that float32 does not hold exactly.
const EXACT: i64 = 1 << 24;

/// Shape of `Upsample`: the sizes times the scales, rounded down.
pub fn upsample(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if let (Some(gradus_core::graph::Content::Float(h)), Some(gradus_core::graph::Content::Float(w))) =
        (cx.attributes.get("height_scale"), cx.attributes.get("width_scale"))
    {
        return scaled(cx, &dims, &[Some(1.0), Some(1.0), Some(*h), Some(*w)]);
    }
    by_scales(cx, &dims, 1)
}

/// Shape of `Resize`: the sizes that are given, or the input's times the scales.
pub fn resize(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if !cx.has(3) {
        return by_scales(cx, &dims, 2);
    }
    // An empty tensor stands for an input that is not given.
    if let (Some(scales @ 1..), Some(1..)) = (cx.len(2), cx.len(3)) {
        let what = format_args!("number of elements of {}", cx.input_label(2));
        return Err(errors::shape(what, scales, "0, as sizes are given").into());
    }
    let axes = axes(cx, dims.len())?;
    let Some(sizes) = cx.integers(3) else {
        if cx.len(3) == Some(0) {
            return by_scales(cx, &dims, 2);
        }
        let mut all = dims.to_vec();
        for axis in axes {
            all[axis] = cx.data("the sizes are not known before the run", Bounds::SIZE);
        }
        return Ok(vec![Fact::shaped(all)]);
    };
    if sizes.is_empty() {
        return by_scales(cx, &dims, 2);
    }
    errors::expect_count("sizes", sizes.len(), axes.len())?;
    let mut all = dims.to_vec();
    let policy = words::RATIO_POLICY.of(&cx.attributes)?;
    for (i, &axis) in axes.iter().enumerate() {
        if policy != "stretch" {
            // The scale to a size above 0 is a quotient by the dimension.
            let least = cx.min(sizes[i], Dim::ONE);
            cx.require(dims[axis], Relation::AtLeast, least);
        }
        all[axis] = match policy {
            "stretch" => sizes[i],
            _ => match proportional(&dims, &sizes, &axes, policy, axis) {
                Some(size) => Dim::Known(size),
                None => cx.unknown("the aspect ratio is kept, and the sizes are not known", Bounds::SIZE),
            },
        };
    }
    let symbols = cx.symbols();
    if let Some(count) = symbols.product(all.iter().copied())
        && let Some(least) = symbols.min(count, Dim::ONE)
    {
        // Nothing is sampled where there are no results.
        dims.iter().for_each(|&dim| cx.require(dim, Relation::AtLeast, least));
    }
    Ok(vec![Fact::shaped(all)])
}

/// The axes that are resized.
fn axes(cx: &InferContext<'_, '_>, rank: usize) -> Result<Vec<usize>, InferError> {
    match cx.attributes.ints("axes")? {
        Some(axes) => Ok(indices::axes(axes, rank)?),
        None => Ok((0..rank).collect()),
    }
}

/// A dimension by the one scale for all axes that makes none larger, or none smaller, than asked.
fn proportional(dims: &[Dim], sizes: &[Dim], axes: &[usize], policy: &str, axis: usize) -> Option<i64> {
    let scales = axes.iter().zip(sizes).map(|(&axis, size)| match (size.known()?, dims[axis].known()?) {
        // As in ONNX Runtime, an axis that has no elements, and is to have none, keeps its scale.
        (0, 0) => Some((1, 1)),
        (_, 0) => None,
        scale => Some(scale),
    });
    let scales = scales.collect::<Option<Vec<_>>>()?;
    let order = |a: &(i64, i64), b: &(i64, i64)| {
        (i128::from(a.0) * i128::from(b.1)).cmp(&(i128::from(b.0) * i128::from(a.1)))
    };
    let (size, original) = if policy == "not_larger" {
        scales.into_iter().min_by(order)?
    } else {
        scales.into_iter().max_by(order)?
    };
    // Half is rounded up.
    let twice = i128::from(dims[axis].known()?) * i128::from(size) * 2 + i128::from(original);
    i64::try_from(twice / (i128::from(original) * 2)).ok()
}

fn by_scales(cx: &mut InferContext<'_, '_>, dims: &Dims, input: usize) -> InferResult {
    let axes = axes(cx, dims.len())?;
    if let Elements::Fractions(all) = cx.elements(input) {
        return by_fractions(cx, dims, &axes, &all);
    }
    if !cx.has(input) {
        return Err(errors::missing(format_args!("input {input}")).into());
    }
    let constant = cx.constant(input);
    let len = constant.as_ref().map(Tensor::len).or_else(|| cx.len(input));
    if let Some(len) = len.filter(|&len| len != axes.len()) {
        return Err(errors::count("scales", len, axes.len()).into());
    }
    cx.elements_of(input, convert::i64_of(axes.len()))?;
    let scales = constant.and_then(|tensor| numbers(&tensor));
    let Some(scales) = scales else {
        cx.require_of_values("scales are finite numbers above 0".to_owned());
        let mut all = dims.to_vec();
        for axis in axes {
            all[axis] = cx.data("the scales are not known before the run", Bounds::SIZE);
        }
        return Ok(vec![Fact::shaped(all)]);
    };
    let mut each = vec![None; dims.len()];
    for (axis, scale) in axes.into_iter().zip(scales) {
        each[axis] = Some(scale);
    }
    scaled(cx, dims, &each)
}

fn numbers(tensor: &Tensor) -> Option<Vec<f32>> {
    Some(tensor.numbers().ok()?.map(convert::nearest_f32).collect())
}

fn scaled(cx: &mut InferContext<'_, '_>, dims: &[Dim], scales: &[Option<f32>]) -> InferResult {
    errors::expect_count("scales", scales.len(), dims.len())?;
    for (axis, scale) in scales.iter().enumerate() {
        if let Some(scale) = scale.filter(|&scale| !(scale > 0.0 && scale.is_finite())) {
            let wanted = "a number above 0";
            return Err(errors::value(format_args!("scale of axis {axis}"), scale, wanted).into());
        }
    }
    let all = dims.iter().zip(scales).map(|(&dim, scale)| match (*scale, dim) {
        (None | Some(1.0), dim) => dim,
        (Some(scale), Dim::Known(size)) => {
            let product = convert::nearest_f32(Number::Int(size.into())) * scale;
            let whole =
                convert::truncated(f64::from(product.floor())).and_then(|whole| i64::try_from(whole).ok());
            whole.map_or_else(|| cx.unknown("a scale is not finite", Bounds::SIZE), Dim::Known)
        }
        (Some(scale), dim) => match crate::fact::fraction_of(Number::Float(scale.into())) {
            Some(Fraction { over: Dim::Known(over), under, .. }) if (0..=MAX_NUMERATOR).contains(&over) => {
                let product = cx.multiply(dim, Dim::Known(over));
                floor_of(cx, product, under)
            }
            _ => cx.unknown("the rounding of the product with the scale is not known", Bounds::SIZE),
        },
    });
    let all: Vec<_> = all.collect();
    Ok(vec![Fact::shaped(all)])
}

/// The floor of a fraction, which floats find if its numerator is exact.
fn floor_of(cx: &mut InferContext<'_, '_>, over: Dim, under: i64) -> Dim {
    let exact = cx.symbols().bounds(over).upper().is_some_and(|most| most <= EXACT);
    if exact || cx.may_assume(over, Relation::AtMost, Dim::Known(EXACT)) {
        cx.floor_divide(over, Dim::Known(under))
    } else {
        cx.unknown("the rounding of the product with the scale is not known", Bounds::SIZE)
    }
}

/// Scales that are fractions of dimensions: only those that are not rounded.
fn by_fractions(
    cx: &mut InferContext<'_, '_>,
    dims: &[Dim],
    axes: &[usize],
    scales: &[Fraction],
) -> InferResult {
    errors::expect_count("scales", scales.len(), axes.len())?;
    let mut all = dims.to_vec();
    for (&axis, fraction) in axes.iter().zip(scales) {
        all[axis] = if fraction.rounded {
            cx.unknown("the scale is a rounded quotient of dimensions", Bounds::SIZE)
        } else {
            let product = cx.multiply(dims[axis], fraction.over);
            floor_of(cx, product, fraction.under)
        };
    }
    Ok(vec![Fact::shaped(all)])
}
