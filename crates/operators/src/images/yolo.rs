//! Layers of YOLO in OpenVINO: `ReorgYolo`, which makes channels of blocks of pixels in the order
//! of Darknet, and `RegionYolo`, which makes probabilities of regions: sigmoids, and of classes a
//! softmax if that is asked for.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::attributes::required;
use crate::dialects::boxes::expect_rank;
use crate::dialects::indices::size;
use crate::errors;
use crate::lowering::{LoweredValue, Lowering, along, axis, int};

/// `ReorgYolo` of OpenVINO: blocks of pixels as channels, in the order of Darknet.
pub fn reorg_yolo(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 4)?;
    let x = l.input(0)?;
    let stride = required("stride", l.attributes.int("stride")?)?;
    let square = errors::at_least_1("stride", stride)?.saturating_mul(stride);
    for (axis, by) in [(1, square), (2, stride), (3, stride)] {
        if let Some(len) = l.dims_of(0)?[axis].map(i64_of)
            && (len % by != 0 || axis == 1 && len == 0)
        {
            let kind = if axis == 1 { "positive multiple" } else { "multiple" };
            let wanted = format_args!("a {kind} of {by}");
            return Err(errors::value(format_args!("size of axis {axis}"), len, wanted));
        }
    }
    let [images, channels, rows, columns] = [size(l, x, 0)?, size(l, x, 1)?, size(l, x, 2)?, size(l, x, 3)?];
    let fewer = (channels / square).write(l, DType::I64)?;
    let by = l.list(&[stride])?;
    // The data are read as if they were larger images of fewer channels.
    let dims = l.apply("Concat", &[images, fewer, rows, by, columns, by], &[along(0)])?;
    let y = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    let y = l.transposed(y, &[0, 3, 5, 1, 2, 4])?;
    let more = (channels * square).write(l, DType::I64)?;
    let (rows, columns) = ((rows / stride).write(l, DType::I64)?, (columns / stride).write(l, DType::I64)?);
    let dims = l.apply("Concat", &[images, more, rows, columns], &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[y, dims], &[int("allowzero", 1)])?])
}

/// `RegionYolo` of OpenVINO: sigmoids of regions, with a softmax of classes if asked for.
pub fn region_yolo(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 4)?;
    let x = l.input(0)?;
    let whole = |name: &str| {
        let value = required(name, l.attributes.int(name)?)?;
        if (0..=i64::from(u16::MAX)).contains(&value) {
            return Ok(value);
        }
        Err(errors::value(format_args!("attribute \"{name}\""), value, "from 0 to 65535"))
    };
    let (places, classes) = (whole("coords")?, whole("classes")?);
    if places < 2 {
        return Err(errors::value("attribute \"coords\"", places, "at least 2"));
    }
    let softmax = l.attributes.flag("do_softmax", true)?;
    let regions =
        if softmax { whole("num")? } else { i64_of(l.attributes.list("mask")?.unwrap_or_default().len()) };
    // [image, region, number, row, column]
    let (images, inner) = (size(l, x, 0)?, l.list(&[regions, places + 1 + classes])?);
    let sides = l.apply("Shape", &[x], &[int("start", 2)])?;
    let dims = l.apply("Concat", &[images, inner, sides], &[along(0)])?;
    let y = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    let (third, sizes) = (int("axis", 2), l.list(&[2, places - 2, 1, classes])?);
    let mut parts = l.apply_many("Split", &[y, sizes], std::slice::from_ref(&third), 4)?;
    for (part, function) in [(0, "Sigmoid"), (2, "Sigmoid"), (3, if softmax { "Softmax" } else { "Sigmoid" })]
    {
        let along = if function == "Softmax" { &[third.clone()][..] } else { &[] };
        parts[part] = l.apply(function, &[parts[part]], along)?;
    }
    let y = l.apply("Concat", &parts, &[third])?;
    let dims = if softmax {
        let [from, to] = ["axis", "end_axis"].map(|name| {
            let given = required(name, l.attributes.int(name)?)?;
            axis(given, 4)
        });
        let (from, to) = (from?, to?);
        if from > to {
            return Err(errors::value(
                "attribute \"axis\"",
                from,
                format_args!("at most {to}, the end_axis"),
            ));
        }
        let all = l.shape(x)?;
        let mut parts = Vec::new();
        let between = |l: &mut Lowering<'_>, ends: [usize; 2]| {
            let ends = ends.map(|end| l.list(&[i64_of(end)]));
            let [from, to] = ends;
            l.between(all, [from?, to?], 0)
        };
        parts.push(between(l, [0, from])?);
        let flat = between(l, [from, to + 1])?;
        parts.push(l.apply("ReduceProd", &[flat], &[])?);
        parts.push(between(l, [to + 1, 4])?);
        l.apply("Concat", &parts, &[along(0)])?
    } else {
        let channels = l.list(&[regions.saturating_mul(places + 1 + classes)])?;
        l.apply("Concat", &[images, channels, sides], &[along(0)])?
    };
    Ok(vec![l.apply("Reshape", &[y, dims], &[int("allowzero", 1)])?])
}
