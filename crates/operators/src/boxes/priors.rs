//! Operators of OpenVINO that make boxes without looking at data.
//!
//! | operators | results |
//! |---|---|
//! | `PriorBox` | boxes around the centers of cells, for each size and aspect ratio; and their variances |
//! | `PriorBoxClustered` | the same, of given widths and heights |
//! | `ExperimentalDetectronPriorGridGenerator` | given boxes, moved to the center of each cell |

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use crate::attributes::required;
use crate::dialects::boxes::{columns, expect_rank, expect_sizes};
use crate::dialects::indices::{positions, size};
use crate::errors;
use crate::lowering::terms::{Term, cast, f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// Maximum number of boxes around a center.
const MAX_BOXES: usize = 4096;

/// A box around each center.
#[derive(Clone, Copy, Debug, Default)]
struct Prior {
    /// Distance from the center of the cell.
    shift: [f64; 2],
    /// Half its width and height, in pixels.
    half: [f64; 2],
    /// True if it does not leave the image.
    clipped: bool,
}

impl Prior {
    fn square(side: f64) -> Prior {
        Prior { half: [side / 2.0; 2], ..Prior::default() }
    }

    /// A box of the area of a square.
    fn shaped(side: f64, ratio: f64) -> Prior {
        Prior { half: [side * ratio.sqrt() / 2.0, side / ratio.sqrt() / 2.0], ..Prior::default() }
    }
}

/// Floats of an attribute, none if it is not given.
fn floats(l: &Lowering<'_>, name: &str) -> Result<Vec<f64>> {
    Ok(l.attributes.numbers(name)?.unwrap_or_default())
}

/// The boxes of `fixed_size`: several in each cell.
fn dense(priors: &mut Vec<Prior>, size: f64, density: f64, shape: Prior) -> Result<()> {
    let density = density.trunc();
    if !(1.0..=64.0).contains(&density) {
        return Err(errors::value("attribute \"density\"", density, "from 1 to 64"));
    }
    let (shift, half) = ((size / density).trunc(), (size.trunc() / 2.0).trunc());
    let mut row = 0.0;
    while row < density {
        let mut column = 0.0;
        while column < density {
            let at = |place: f64| shift / 2.0 + place * shift - half;
            priors.push(Prior { shift: [at(column), at(row)], clipped: true, ..shape });
            column += 1.0;
        }
        row += 1.0;
        if priors.len() > MAX_BOXES {
            let wanted = format_args!("at most {MAX_BOXES}");
            return Err(errors::value("number of boxes of each cell", priors.len(), wanted));
        }
    }
    Ok(())
}

/// The boxes around a center. Sizes are parts of the height of the image, if not all are scaled.
fn priors(l: &Lowering<'_>, scales: bool) -> Result<Vec<Prior>> {
    let [least, most, given] = ["min_size", "max_size", "aspect_ratio"].map(|name| floats(l, name));
    let (least, most, given) = (least?, most?, given?);
    let [fixed, fixed_ratios, densities] =
        ["fixed_size", "fixed_ratio", "density"].map(|name| floats(l, name));
    let (fixed, fixed_ratios, densities) = (fixed?, fixed_ratios?, densities?);
    // OpenVINO counts boxes of all sizes, and leaves those without a min_size unwritten.
    if most.len() > least.len() {
        let wanted = format_args!("at most {}, as many as min_size has", least.len());
        return Err(errors::count("elements of attribute \"max_size\"", most.len(), wanted));
    }
    let flip = l.attributes.flag("flip", false)?;
    let mut ratios = vec![1.0];
    for ratio in given {
        if ratios.iter().all(|other: &f64| (other - ratio).abs() >= 1e-6) {
            ratios.push(ratio);
            if flip {
                ratios.push(1.0 / ratio);
            }
        }
    }
    ratios.retain(|ratio| (ratio - 1.0).abs() >= 1e-6);
    let kinds = fixed_ratios.len().max(ratios.len() + 1);
    let all = fixed.len().saturating_mul(kinds).saturating_add(least.len().saturating_mul(ratios.len() + 2));
    if all > MAX_BOXES {
        let wanted = format_args!("at most {MAX_BOXES}");
        return Err(errors::value("number of sizes times aspect ratios", all, wanted));
    }
    let mut priors = Vec::new();
    for (i, &size) in fixed.iter().enumerate() {
        let density = densities.get(i).copied();
        let density = density.ok_or_else(|| {
            errors::count("elements of attribute \"density\"", densities.len(), fixed.len())
        })?;
        if fixed_ratios.is_empty() {
            dense(&mut priors, size, density, Prior::square(size.trunc()))?;
            for &ratio in &ratios {
                dense(&mut priors, size, density, Prior::shaped(size, ratio))?;
            }
        } else {
            for &ratio in &fixed_ratios {
                dense(&mut priors, size, density, Prior::shaped(size, ratio))?;
            }
        }
    }
    for (i, &low) in least.iter().enumerate() {
        let between = most.get(i).filter(|_| scales).map(|high| Prior::square((low * high).sqrt()));
        // Sizes that are parts of the image: only the first has other shapes, after the last.
        let shaped = if scales { Some(low) } else { (i + 1 == least.len()).then_some(least[0]) };
        let shaped =
            shaped.into_iter().flat_map(|side| ratios.iter().map(move |&ratio| Prior::shaped(side, ratio)));
        priors.push(Prior::square(low));
        if l.attributes.flag("min_max_aspect_ratios_order", true)? {
            priors.extend(between);
            priors.extend(shaped);
        } else {
            priors.extend(shaped);
            priors.extend(between);
        }
    }
    Ok(priors)
}

/// An element of an input of two integers, as a scalar of float32 and as a list of one.
fn side(l: &mut Lowering<'_>, input: usize, at: i64) -> Result<(LoweredValue, LoweredValue)> {
    let (from, to) = (l.list(&[at])?, l.list(&[at + 1])?);
    let whole = with("Slice", [cast(l.input(input)?, DType::I64), from.into(), to.into()], []).put(l)?;
    let scalar = l.reshape(whole, &[])?;
    Ok((l.cast(scalar, DType::F32)?, whole))
}

/// Positions of cells, as float32 along the first or the second axis of `[rows, columns, box]`.
fn cells(l: &mut Lowering<'_>, count: LoweredValue, rows: bool) -> Result<LoweredValue> {
    let all = positions(l, count)?;
    let all = l.cast(all, DType::F32)?;
    l.reshape(all, if rows { &[-1, 1, 1] } else { &[-1, 1] })
}

/// A row of boxes, and a row of their variances.
fn rows(
    l: &mut Lowering<'_>,
    corners: [Term; 4],
    [height, width]: [LoweredValue; 2],
    count: i64,
    clip: bool,
) -> Result<Vec<LoweredValue>> {
    let (count, last) = (l.list(&[count])?, l.list(&[-1])?);
    let sides = l.apply("Concat", &[height, width, count], &[along(0)])?;
    let mut parts = Vec::new();
    for corner in corners {
        let corner = if clip { of("Min", of("Max", corner, 0.0), 1.0) } else { corner };
        let corner = corner.write(l, DType::F32)?;
        parts.push(of("Unsqueeze", of("Expand", corner, sides), last).put(l)?);
    }
    let boxes = l.apply("Concat", &parts, &[int("axis", -1)])?;
    let given = floats(l, "variance")?;
    let variances = match given[..] {
        [] => vec![0.1],
        [_] | [_, _, _, _] => given,
        _ => return Err(errors::count("elements of attribute \"variance\"", given.len(), "0, 1 or 4")),
    };
    let variances = l.constant(Tensor::vector(&variances))?;
    let dims = l.shape(boxes)?;
    let variances = of("Expand", cast(variances, DType::F32), dims).put(l)?;
    let all = with("Concat", [sides.into(), ints(&[4])], [along(0)]).put(l)?;
    let one = l.list(&[1])?;
    let dims = with("Concat", [one.into(), f("ReduceProd", all)], [along(0)]).put(l)?;
    let mut rows = [boxes, variances];
    for row in &mut rows {
        *row = l.apply("Reshape", &[*row, dims], &[int("allowzero", 1)])?;
    }
    Ok(vec![l.apply("Concat", &rows, &[along(0)])?])
}

/// Numbers of each box.
fn listed(l: &mut Lowering<'_>, numbers: impl Iterator<Item = f64>) -> Result<LoweredValue> {
    let numbers = l.constant(Tensor::vector(&numbers.collect::<Vec<_>>()))?;
    l.cast(numbers, DType::F32)
}

/// The sizes of an axis.
#[derive(Clone, Copy, Debug)]
struct PriorSide {
    /// The number of cells, as a list of one and as a scalar.
    count: LoweredValue,
    cells: LoweredValue,
    /// The size of the image.
    image: LoweredValue,
}

/// The columns and the rows of the grid and of the image, whose sizes must be lists of two.
fn sides(l: &mut Lowering<'_>) -> Result<[PriorSide; 2]> {
    for input in 0..2 {
        expect_sizes(l, input, &[Some(2)])?;
    }
    let mut of = |at: i64| {
        let ((cells, count), (image, _)) = (side(l, 0, at)?, side(l, 1, at)?);
        Ok(PriorSide { count, cells, image })
    };
    Ok([of(1)?, of(0)?])
}

/// `PriorBox` of OpenVINO: boxes of several sizes and ratios around each cell of a grid.
pub fn prior_box(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [wide, high] = sides(l)?;
    let scales = l.attributes.flag("scale_all_sizes", true)?;
    let (priors, offset) = (priors(l, scales)?, required("offset", l.attributes.float("offset")?)?);
    if !scales && !floats(l, "max_size")?.is_empty() {
        l.edges("OpenVINO adds boxes of max_size, which its text ignores, and drops as many at the end");
    }
    let step = l.float("step")?.unwrap_or(0.0);
    let mut ends = Vec::new();
    for (axis, PriorSide { count, cells: grid, image }) in [wide, high].into_iter().enumerate() {
        let place = cells(l, count, axis == 1)?;
        let center = match (scales, step) {
            (true, 0.0) => (place + 0.5) * (image / grid),
            (true, step) => (place + f64::from(offset)) * step,
            // Steps are parts of the height of the image.
            (false, -1.0) => (place + f64::from(offset)) * (high.image / high.cells),
            (false, 0.0) => (place + 0.5) * (image / grid),
            (false, step) => (place + f64::from(offset)) * (high.image * step),
        };
        let shifts = listed(l, priors.iter().map(|prior| prior.shift[axis]))?;
        // Fixed sizes are pixels, also where others are parts of the image.
        let halves = |is_part: bool| {
            let is_own = |prior: &Prior| (!scales && !prior.clipped) == is_part;
            let half = |prior: &Prior| if is_own(prior) { prior.half[axis] } else { 0.0 };
            priors.iter().map(half).collect::<Vec<_>>().into_iter()
        };
        let (pixels, parts) = (listed(l, halves(false))?, listed(l, halves(true))?);
        let halves = if scales { Term::from(pixels) } else { parts * high.image + pixels };
        let center = (center + shifts).write(l, DType::F32)?;
        let (mut low, mut high) = ((center - halves.clone()) / image, (center + halves) / image);
        if priors.iter().any(|prior| prior.clipped) {
            let bound = |bound: f64, open: f64| {
                priors.iter().map(move |prior| if prior.clipped { bound } else { open }).collect::<Vec<_>>()
            };
            let least = listed(l, bound(0.0, f64::NEG_INFINITY).into_iter())?;
            let most = listed(l, bound(1.0, f64::INFINITY).into_iter())?;
            (low, high) = (of("Max", low, least), of("Min", high, most));
        }
        ends.push((low, high));
    }
    let [(left, right), (top, bottom)] = <[_; 2]>::try_from(ends).expect("two axes");
    let clip = l.attributes.flag("clip", false)?;
    let count = i64_of(priors.len());
    rows(l, [left, top, right, bottom], [high.count, wide.count], count, clip)
}

/// `PriorBoxClustered` of OpenVINO: boxes of listed widths and heights around each cell of a grid.
pub fn prior_box_clustered(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [wide, high] = sides(l)?;
    let offset = f64::from(required("offset", l.attributes.float("offset")?)?);
    let sizes = [floats(l, "width")?, floats(l, "height")?];
    errors::expect_count("elements of attribute \"height\"", sizes[1].len(), sizes[0].len())?;
    let [step, across, down] = ["step", "step_w", "step_h"].map(|name| l.float(name));
    let (step, across, down) = (step?.unwrap_or(0.0), across?.unwrap_or(0.0), down?.unwrap_or(0.0));
    let steps = [across, down].map(|own| if own == 0.0 { step } else { own });
    let mut ends = Vec::new();
    for (axis, PriorSide { count, cells: grid, image }) in [wide, high].into_iter().enumerate() {
        let place = cells(l, count, axis == 1)?;
        let by = if steps == [0.0; 2] { image / grid } else { steps[axis].into() };
        let center = ((place + offset) * by).write(l, DType::F32)?;
        let halves = listed(l, sizes[axis].iter().map(|size| size / 2.0))?;
        ends.push(((center - halves) / image, (center + halves) / image));
    }
    let [(left, right), (top, bottom)] = <[_; 2]>::try_from(ends).expect("two axes");
    let clip = l.attributes.flag("clip", true)?;
    let count = i64_of(sizes[0].len());
    rows(l, [left, top, right, bottom], [high.count, wide.count], count, clip)
}

/// Boxes of each cell: the given ones, moved to its center.
pub fn prior_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_sizes(l, 0, &[None, Some(4)])?;
    expect_rank(l, 1, 4)?;
    let images = l.dims_of(1)?[0];
    expect_sizes(l, 2, &[images, None, None, None])?;
    let (priors, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let (features, image) = (l.input(1)?, l.input(2)?);
    let (mut centers, mut counts) = (Vec::new(), Vec::new());
    // Columns first.
    for (axis, size_name, stride_name) in [(3, "w", "stride_x"), (2, "h", "stride_y")] {
        let count = match l.attributes.int(size_name)?.filter(|&count| count != 0) {
            Some(count) => l.list(&[errors::at_least_1(size_name, count)?])?,
            None => size(l, features, axis)?,
        };
        let step = if let Some(step) = l.float(stride_name)?.filter(|&step| step != 0.0) {
            Term::from(step)
        } else {
            let whole = size(l, image, axis)?;
            let (whole, count) = (l.cast(whole, dtype)?, l.cast(count, dtype)?);
            whole / count
        };
        let places = positions(l, count)?;
        let places = l.cast(places, dtype)?;
        let places = l.reshape(places, if axis == 3 { &[-1, 1] } else { &[-1, 1, 1] })?;
        centers.push(((places + 0.5) * step).write(l, dtype)?);
        counts.push(count);
    }
    let each = size(l, priors, 0)?;
    let sides = l.apply("Concat", &[counts[1], counts[0], each], &[along(0)])?;
    let (parts, last) = (columns(l, priors)?, l.list(&[-1])?);
    let mut corners = Vec::new();
    for (i, part) in parts.into_iter().enumerate() {
        let part = l.reshape(part, &[-1])?;
        let corner = (centers[i % 2] + part).write(l, dtype)?;
        corners.push(of("Unsqueeze", of("Expand", corner, sides), last).put(l)?);
    }
    let boxes = l.apply("Concat", &corners, &[int("axis", -1)])?;
    if l.attributes.flag("flatten", true)? {
        return Ok(vec![l.reshape(boxes, &[-1, 4])?]);
    }
    Ok(vec![boxes])
}
