//! Operators of OpenVINO that take features from boxes.
//!
//! | operators | results |
//! |---|---|
//! | `PSROIPooling` | means of the bins of boxes, each bin in channels of its own; or samples between elements |

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::attributes::required;
use crate::dialects::boxes::only_float32;
use crate::dialects::indices::{positions, size};
use crate::dialects::openvino::{cannot, expect_rank};
use crate::dialects::terms::{Term, f, of, pick};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::operators::errors;

/// Most bins along an axis.
const MOST_BINS: i64 = 256;

/// How many bins an attribute names.
fn bins(l: &Lowering<'_>, name: &str) -> Result<i64> {
    let bins = l.attributes.int_or(name, 1)?;
    if (1..=MOST_BINS).contains(&bins) {
        return Ok(bins);
    }
    Err(errors::value(format_args!("attribute \"{name}\""), bins, format_args!("from 1 to {MOST_BINS}")))
}

/// A size of a value as a float.
fn float_size(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<LoweredValue> {
    let size = size(l, x, axis)?;
    let size = l.reshape(size, &[])?;
    l.cast(size, DType::F32)
}

/// The integers from zero up to a number, as float32 of some dimensions.
fn counted(l: &mut Lowering<'_>, count: LoweredValue, dims: &[i64]) -> Result<LoweredValue> {
    let all = positions(l, count)?;
    let all = l.cast(all, DType::F32)?;
    l.reshape(all, dims)
}

/// The integer next to a number; of two, that farther from zero.
fn rounded(x: LoweredValue) -> Term {
    of("Mul", f("Sign", x), f("Floor", f("Abs", x) + 0.5))
}

pub(crate) fn psroi_pooling(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for (input, rank) in [(0, 4), (1, 2)] {
        only_float32(l, input)?;
        expect_rank(l, input, rank)?;
    }
    match l.attributes.text("mode")?.unwrap_or("average") {
        "average" => averages(l),
        "bilinear" => Err(cannot("PSROIPooling with mode=bilinear")),
        other => Err(errors::value("attribute \"mode\"", other, "average or bilinear")),
    }
}

/// `PSROIPooling` with mode `average`: products of the data and of which elements are in each bin.
fn averages(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, boxes, groups) = (l.input(0)?, l.input(1)?, bins(l, "group_size")?);
    let channels =
        errors::at_least_1("output_dim", required("output_dim", l.attributes.int("output_dim")?)?)?;
    let scale = required("spatial_scale", l.float("spatial_scale")?)?;
    let parts = l.apply_many("Split", &[boxes], &[int("axis", 1), int("num_outputs", 5)], 5)?;
    let mut inside = Vec::new();
    for (axis, low, high) in [(2, parts[2], parts[4]), (3, parts[1], parts[3])] {
        // [box, bin, element]
        let len = float_size(l, x, axis)?;
        let start = (rounded(low) * scale).write(l, DType::F32)?;
        let width = ((rounded(high) + 1.0) * scale - start).write(l, DType::F32)?;
        let width = (width / groups).write(l, DType::F32)?;
        let group = l.list(&[groups])?;
        let bin = counted(l, group, &[1, -1])?;
        let from = of("Min", of("Max", f("Floor", start + bin * width), 0.0), len);
        let to = of("Min", of("Max", f("Ceil", start + (bin + 1.0) * width), 0.0), len);
        let (from, to, last) = (from.write(l, DType::F32)?, to.write(l, DType::F32)?, l.list(&[-1])?);
        let [from, to] = [from, to].map(|end| l.apply("Unsqueeze", &[end, last], &[]));
        let count = size(l, x, axis)?;
        let element = counted(l, count, &[1, 1, -1])?;
        let within = of("And", of("GreaterOrEqual", element, from?), of("Less", element, to?));
        inside.push(pick(within, 1.0, 0.0).write(l, DType::F32)?);
    }
    // [row bin and column bin, box, row and column]
    let [rows, columns] = [inside[0], inside[1]];
    let (first, second) = (l.list(&[2, 4])?, l.list(&[1, 3])?);
    let rows = l.apply("Unsqueeze", &[rows, first], &[])?;
    let columns = l.apply("Unsqueeze", &[columns, second], &[])?;
    let both = (rows * columns).write(l, DType::F32)?;
    let both = l.apply("Transpose", &[both], &[("perm", Content::Ints(vec![1, 2, 0, 3, 4]))])?;
    let (count, area) = (size(l, boxes, 0)?, of("Mul", size(l, x, 2)?, size(l, x, 3)?));
    let (area, bins) = (area.write(l, DType::I64)?, l.list(&[groups * groups])?);
    let dims = l.apply("Concat", &[bins, count, area], &[along(0)])?;
    let both = l.apply("Reshape", &[both, dims], &[int("allowzero", 1)])?;
    // [image, bin, element, channel]
    let (images, each) = (size(l, x, 0)?, l.list(&[channels])?);
    let dims = l.apply("Concat", &[images, each, bins, area], &[along(0)])?;
    let data = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    let data = l.apply("Transpose", &[data], &[("perm", Content::Ints(vec![0, 2, 3, 1]))])?;
    let sums = l.apply("MatMul", &[both, data], &[])?;
    let last = l.list(&[-1])?;
    let elements = l.apply("ReduceSum", &[both, last], &[])?;
    let means = pick(of("Greater", elements, 0.0), sums / of("Max", elements, 1.0), 0.0);
    let means = means.write(l, DType::F32)?;
    // The means of the image of each box, as [box, image, channel, bin].
    let means = l.apply("Transpose", &[means], &[("perm", Content::Ints(vec![2, 0, 3, 1]))])?;
    let image = l.cast(parts[0], DType::I64)?;
    let means = l.apply("GatherND", &[means, image], &[int("batch_dims", 1)])?;
    let sides = l.constant(Tensor::vector(&[channels, groups, groups]))?;
    let dims = l.apply("Concat", &[count, sides], &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[means, dims], &[int("allowzero", 1)])?])
}
