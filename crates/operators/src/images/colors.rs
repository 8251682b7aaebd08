//! Conversions of colors of OpenVINO: `NV12toRGB`, `NV12toBGR`, `I420toRGB` and `I420toBGR`, whose
//! pixels lie in one plane or several.

use gradus_core::{DType, Result};

use crate::dialects::boxes::expect_sizes;
use crate::dialects::indices::size;
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// Half of a size.
fn half(l: &mut Lowering<'_>, size: LoweredValue) -> Result<LoweredValue> {
    (size / 2i64).write(l, DType::I64)
}

/// Colors of pixels: an image of brightness, and at half its size two differences of colors, which
/// are interleaved, or `planes` of their own. `order` picks the channels red, green and blue.
pub fn colors(l: &mut Lowering<'_>, planes: bool, order: [usize; 3]) -> Result<Vec<LoweredValue>> {
    let (mut y, dtype) = (l.input(0)?, l.dtype_of(0)?);
    if dtype != DType::U8 && !dtype.is_float() {
        return Err(errors::dtype(dtype, "uint8 or a float"));
    }
    let channels = if planes { 1 } else { 2 };
    for input in 0..l.count() {
        expect_sizes(l, input, &[None, None, None, Some(if input == 0 { 1 } else { channels })])?;
    }
    let (images, columns) = (size(l, y, 0)?, size(l, y, 2)?);
    let uv = match l.count() {
        1 => {
            // The planes are below each other.
            let all = size(l, y, 1)?;
            let rows = (all * 2i64 / 3i64).write(l, DType::I64)?;
            let (none, most) = (l.list(&[0])?, l.list(&[i64::MAX])?);
            let below = l.between(y, [rows, most], 1)?;
            y = l.between(y, [none, rows], 1)?;
            let (rows, columns, two) = (half(l, rows)?, half(l, columns)?, l.list(&[2])?);
            if planes {
                let dims = l.apply("Concat", &[images, two, rows, columns], &[along(0)])?;
                let both = l.apply("Reshape", &[below, dims], &[int("allowzero", 1)])?;
                l.transposed(both, &[0, 2, 3, 1])?
            } else {
                let dims = l.apply("Concat", &[images, rows, columns, two], &[along(0)])?;
                l.apply("Reshape", &[below, dims], &[int("allowzero", 1)])?
            }
        }
        2 if !planes => l.input(1)?,
        3 if planes => {
            let both = [l.input(1)?, l.input(2)?];
            l.apply("Concat", &both, &[int("axis", 3)])?
        }
        count => {
            let wanted = if planes { "1 or 3" } else { "1 or 2" };
            return Err(errors::count("inputs", count, wanted));
        }
    };
    // Each difference is that of a square of four pixels.
    let four = l.list(&[1, 1, 2, 1, 2, 1])?;
    let wide = of("Expand", of("Unsqueeze", uv, ints(&[2, 4])), four).put(l)?;
    let two = l.list(&[2])?;
    let dims = with("Concat", [with("Shape", [y.into()], [int("end", 3)]), two.into()], [along(0)]).put(l)?;
    let wide = l.apply("Reshape", &[wide, dims], &[int("allowzero", 1)])?;
    // Multiples of a thousandth, so that all but the last step is exact.
    let wide = l.cast(wide, DType::F64)?;
    let parts = l.apply_many("Split", &[wide], &[int("axis", 3), int("num_outputs", 2)], 2)?;
    let light = ((cast(y, DType::F64) - 16.0) * 1164.0).write(l, DType::F64)?;
    let (u, v) = ((parts[0] - 128.0).write(l, DType::F64)?, (parts[1] - 128.0).write(l, DType::F64)?);
    let rgb = [light + v * 1596.0, light - u * 391.0 - v * 813.0, light + u * 2018.0];
    let mut colors = Vec::new();
    for from in order {
        let mut color = of("Min", of("Max", rgb[from].clone() / 1000.0, 0.0), 255.0);
        if dtype == DType::U8 {
            color = f("Floor", color + 0.5);
        }
        colors.push(color.write(l, DType::F64)?);
    }
    let colors = l.apply("Concat", &colors, &[int("axis", 3)])?;
    Ok(vec![l.cast(colors, dtype)?])
}
