//! Operators that move elements: ONNX's, but for
//!
//! | operator | Paddle |
//! |---|---|
//! | `slice` | axes in `decrease_axis` go |
//! | `split` | one of the sections may be -1: what is left |
//! | `squeeze` | axes of other dimensions than 1 stay |
//! | `unsqueeze` | axes are added one after the other, each counted among those that are there then |
//! | `expand` | -1 keeps a dimension |
//! | `tile` | repeats and axes are counted from the last |
//! | `gather` | indices of shape `[n, 1]` pass for `[n]` |

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::indices::index;
use crate::errors;
use crate::lowering::terms::{f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int, not_known};

/// The list of integers that an attribute or an input says, as int64.
pub(super) fn list(l: &mut Lowering<'_>, name: &str, input: usize) -> Result<LoweredValue> {
    if let Some(values) = l.attributes.ints(name)? {
        let values = values.to_vec();
        return l.list(&values);
    }
    let given = l.input(input).map_err(|_| errors::missing(format_args!("attribute or input \"{name}\"")))?;
    let flat = if l.rank_of(input)? == 1 { given } else { l.reshape(given, &[-1])? };
    if l.dtype_of(input)? == DType::I64 { Ok(flat) } else { l.cast(flat, DType::I64) }
}

/// Writes an ONNX operator whose second input is a list: an attribute or an input of Paddle's.
pub fn with_list(l: &mut Lowering<'_>, operator: &str, name: &str) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let list = list(l, name, 1)?;
    Ok(vec![l.apply(operator, &[x, list], &[])?])
}

/// The axis that an attribute names: an input that stands for it is one, if it is constant.
fn constant_axis(l: &Lowering<'_>, rank: usize, default: Option<i64>) -> Result<usize> {
    let named = l.attributes.int("axis")?.or(default);
    axis(named.ok_or_else(|| not_known("axis".to_owned()))?, rank)
}

/// All inputs, in order.
pub(super) fn inputs(l: &Lowering<'_>) -> Result<Vec<LoweredValue>> {
    (0..l.count()).map(|input| l.input(input)).collect()
}

/// `concat`: the inputs, concatenated along an axis.
pub fn concat(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let parts = inputs(l)?;
    let axis = constant_axis(l, l.rank_of(0)?, None)?;
    Ok(vec![l.apply("Concat", &parts, &[along(axis)])?])
}

/// `stack`: the inputs, stacked along a new axis.
pub fn stack(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axis = constant_axis(l, l.rank_of(0)? + 1, Some(0))?;
    let at = l.list(&[i64_of(axis)])?;
    let parts = inputs(l)?.into_iter().map(|part| l.apply("Unsqueeze", &[part, at], &[]));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply("Concat", &parts, &[along(axis)])?])
}

/// `split`: slices of given sizes along an axis; -1 is the size that is left.
pub fn split(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, outputs) = (l.input(0)?, l.outputs());
    let axis = constant_axis(l, l.rank_of(0)?, None)?;
    let open = l.attributes.ints("sections")?.filter(|sections| sections.contains(&-1)).map(<[_]>::to_vec);
    let sizes = match open {
        None => list(l, "sections", 1)?,
        Some(sections) => {
            // A second -1 makes the sum wrong, which the split refuses.
            let at = sections.iter().position(|&size| size == -1).unwrap_or(0);
            let others = sections.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &size)| size);
            let others = others.fold(0, i64::saturating_add);
            let whole = of("Gather", f("Shape", x), ints(&[i64_of(axis)])).put(l)?;
            let rest = (whole - ints(&[others])).put(l)?;
            let after = l.list(&sections[at + 1..])?;
            with("Concat", [ints(&sections[..at]), rest.into(), after.into()], [along(0)]).put(l)?
        }
    };
    l.apply_many("Split", &[x, sizes], &[along(axis)], outputs)
}

/// `split_with_num`: a number of slices of equal size along an axis.
pub fn split_with_num(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, outputs) = (l.input(0)?, l.outputs());
    let (axis, count) =
        (constant_axis(l, l.rank_of(0)?, None)?, l.attributes.int("num")?.unwrap_or(i64_of(outputs)));
    if count != i64_of(outputs) || count == 0 {
        return Err(errors::value(
            "attribute \"num\"",
            count,
            format_args!("the number of outputs, {outputs}"),
        ));
    }
    // Parts must be alike, where ONNX would make the last one shorter.
    let (whole, by) = (of("Gather", f("Shape", x), ints(&[i64_of(axis)])).put(l)?, l.list(&[count])?);
    let sizes = of("Expand", whole / by, by).put(l)?;
    l.apply_many("Split", &[x, sizes], &[along(axis)], outputs)
}

/// `unbind`: the slices along an axis, without the axis.
pub fn unbind(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, outputs) = (l.input(0)?, l.outputs());
    let axis = constant_axis(l, l.rank_of(0)?, Some(0))?;
    let (sizes, at) = (l.list(&vec![1; outputs])?, l.list(&[i64_of(axis)])?);
    let parts = l.apply_many("Split", &[x, sizes], &[along(axis)], outputs)?;
    parts.into_iter().map(|part| l.apply("Squeeze", &[part, at], &[])).collect()
}

/// `slice`: elements from starts to ends along axes.
pub fn slice(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, starts, ends) = (l.input(0)?, list(l, "starts", 1)?, list(l, "ends", 2)?);
    let axes = list(l, "axes", usize::MAX)?;
    let part = l.apply("Slice", &[x, starts, ends, axes], &[])?;
    Ok(vec![decreased(l, part)?])
}

/// `strided_slice`: elements from starts to ends along axes, with steps.
pub fn strided_slice(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, starts, mut ends) = (l.input(0)?, list(l, "starts", 1)?, list(l, "ends", 2)?);
    let forwards =
        l.attributes.ints("strides")?.is_some_and(|strides| strides.iter().all(|&stride| stride > 0));
    let (axes, strides) = (list(l, "axes", usize::MAX)?, list(l, "strides", 3)?);
    if !forwards {
        // Backwards from before the first element, there is nothing; to ONNX, it would be that
        // element.
        let sizes = of("Gather", f("Shape", x), axes).put(l)?;
        let (before, back) =
            (of("Less", starts, f("Neg", sizes)).put(l)?, of("Less", strides, ints(&[0])).put(l)?);
        ends = pick(back, pick(before, ints(&[i64::MAX]), ends), ends).put(l)?;
    }
    let part = l.apply("Slice", &[x, starts, ends, axes, strides], &[])?;
    Ok(vec![decreased(l, part)?])
}

/// Without the axes that the attribute names: of each, one element was taken.
fn decreased(l: &mut Lowering<'_>, part: LoweredValue) -> Result<LoweredValue> {
    match l.attributes.ints("decrease_axis")? {
        Some(axes) if !axes.is_empty() => {
            let axes = axes.to_vec();
            let axes = l.list(&axes)?;
            l.apply("Squeeze", &[part, axes], &[])
        }
        _ => Ok(part),
    }
}

/// `flatten`: the axes of a range, merged into one.
pub fn flatten(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    if rank == 0 {
        return Ok(vec![l.reshape(x, &[1])?]);
    }
    let first = axis(l.attributes.int("start_axis")?.unwrap_or(1), rank)?;
    let last = axis(l.attributes.int("stop_axis")?.unwrap_or(-1), rank)?.max(first);
    let window = |l: &mut Lowering<'_>, from: usize, to: usize| {
        l.apply("Shape", &[x], &[("start", Content::Int(i64_of(from))), ("end", Content::Int(i64_of(to)))])
    };
    let (before, middle, after) =
        (window(l, 0, first)?, window(l, first, last + 1)?, window(l, last + 1, rank)?);
    let product = l.apply("ReduceProd", &[middle], &[("keepdims", Content::Int(1))])?;
    let dims = l.apply("Concat", &[before, product, after], &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[x, dims], &[("allowzero", Content::Int(1))])?])
}

/// `squeeze`: the input without the named axes that have size 1.
pub fn squeeze(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dims) = (l.input(0)?, l.dims_of(0)?.to_vec());
    let Some(named) = l.attributes.ints("axis")?.map(<[_]>::to_vec) else {
        return with_list(l, "Squeeze", "axis");
    };
    if named.is_empty() {
        return Ok(vec![l.apply("Squeeze", &[x], &[])?]);
    }
    let mut axes = Vec::new();
    for each in named {
        let axis = axis(each, dims.len())?;
        // Dimensions that are not known are taken for 1, as Paddle does.
        if dims[axis].is_none_or(|len| len == 1) && !axes.contains(&i64_of(axis)) {
            axes.push(i64_of(axis));
        }
    }
    if axes.is_empty() {
        return Ok(vec![l.apply("Identity", &[x], &[])?]);
    }
    Ok(vec![of("Squeeze", x, ints(&axes)).put(l)?])
}

/// `unsqueeze`: the input with axes of size 1, inserted one after the other.
pub fn unsqueeze(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Some(axes) = l.attributes.ints("axis")?.map(<[_]>::to_vec) else {
        return with_list(l, "Unsqueeze", "axis");
    };
    let mut value = l.input(0)?;
    for axis in axes {
        value = of("Unsqueeze", value, ints(&[axis])).put(l)?;
    }
    Ok(vec![value])
}

/// `expand`: the input, broadcast to a shape in which -1 keeps a dimension.
pub fn expand(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let target = list(l, "shape", 1)?;
    // A dimension of 1 is one that is kept.
    let one = l.list(&[1])?;
    let target = pick(of("Equal", target, ints(&[-1])), one, target).put(l)?;
    Ok(vec![of("Expand", l.input(0)?, target).put(l)?])
}

/// `expand_as`: the input, broadcast to the shape of another.
pub fn expand_as(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.has(1) {
        return with_list(l, "Expand", "target_shape");
    }
    Ok(vec![of("Expand", l.input(0)?, f("Shape", l.input(1)?)).put(l)?])
}

/// `tile`: the input, repeated along each axis.
pub fn tile(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, rank) = (l.input(0)?, l.rank_of(0)?);
    let count = match l.attributes.ints("repeat_times")? {
        Some(repeats) => repeats.len(),
        None => l.len_of(1)?,
    };
    let mut repeats = list(l, "repeat_times", 1)?;
    if count < rank {
        repeats = with("Concat", [ints(&vec![1; rank - count]), repeats.into()], [along(0)]).put(l)?;
    }
    if count > rank {
        x = of("Unsqueeze", x, ints(&(0..i64_of(count - rank)).collect::<Vec<_>>())).put(l)?;
    }
    Ok(vec![l.apply("Tile", &[x, repeats], &[])?])
}

/// `gather`: slices at indices of an axis.
pub fn gather(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut index) = (l.input(0)?, l.input(1)?);
    let axis = constant_axis(l, l.rank_of(0)?, if l.has(2) { None } else { Some(0) })?;
    if !matches!(l.dtype_of(1)?, DType::I32 | DType::I64) {
        index = l.cast(index, DType::I64)?;
    }
    // The second axis of an index has size 1.
    if l.rank_of(1)? == 2 {
        index = of("Squeeze", index, ints(&[1])).put(l)?;
    }
    Ok(vec![l.apply("Gather", &[x, index], &[along(axis)])?])
}

/// `transpose`: the axes in another order.
pub fn transpose(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let perm = l.attributes.ints("perm")?.unwrap_or(&[]).iter().map(|&each| axis(each, rank).map(i64_of));
    let perm = perm.collect::<Result<Vec<_>>>()?;
    Ok(vec![with("Transpose", [l.input(0)?.into()], [("perm", Content::Ints(perm.into()))]).put(l)?])
}

/// `gather_nd`: slices at tuples of indices.
pub fn gather_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, index(l, 1)?];
    Ok(vec![l.apply("GatherND", &inputs, &[])?])
}

/// `where`: elements of the second or third input, by a condition.
pub fn where_lower(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, l.input(1)?, l.input(2)?];
    Ok(vec![l.apply("Where", &inputs, &[])?])
}

/// `crop`: from the offsets on, of the shape; -1 is what is left.
pub fn crop(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, shape, starts) = (l.input(0)?, list(l, "shape", 1)?, list(l, "offsets", 2)?);
    let ends = pick(of("Less", shape, ints(&[0])), f("Shape", x), starts + shape).put(l)?;
    Ok(vec![l.apply("Slice", &[x, starts, ends], &[])?])
}

/// `flatten2` of old programs: a matrix, whose rows are the first axes, by number.
pub fn flatten_to_matrix(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rows = l.attributes.int_or("axis", 1)?;
    Ok(vec![with("Flatten", [l.input(0)?.into()], [("axis", Content::Int(rows))]).put(l)?])
}

/// `tril` and `triu`; of old programs `tril_triu`, with the attribute `lower`.
pub fn triangle(l: &mut Lowering<'_>, upper: bool) -> Result<Vec<LoweredValue>> {
    let upper = !l.attributes.flag("lower", !upper)?;
    let diagonal = l.attributes.int_or("diagonal", 0)?;
    let diagonal = l.constant(Tensor::scalar(diagonal))?;
    Ok(vec![with("Trilu", [l.input(0)?.into(), diagonal.into()], [int("upper", upper.into())]).put(l)?])
}
