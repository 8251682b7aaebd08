//! Windows as graphs of simpler operators: `Col2Im`, `LpPool`, and the adaptive pools of OpenVINO.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Result, Tensor};

use crate::attributes::required;
use crate::dialects::adaptive;
use crate::errors;
use crate::graphs::{like, number, unsupported, widened};
use crate::losses::lowered::nearest;
use crate::lowering::terms::{ints, joined, with};
use crate::lowering::{LoweredValue, Lowering, int, terms};
use crate::windows::infer::beyond;

/// Maximum of elements of a block whose columns are added up by kernels, which have as many each.
const MAX_TAPS: i64 = 1024;

/// Columns of windows, added up where they were taken from: the transposed convolution by kernels
/// that have a 1 at one place each.
pub fn col2im(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    if !dtype.is_float() {
        return Err(unsupported(&format!("Col2Im of {dtype}")));
    }
    let (image, block) = (l.integers_of(1)?.to_vec(), l.integers_of(2)?.to_vec());
    let axes = image.len();
    let list = |name: &str, default: i64, len: usize| {
        let given = l.attributes.ints(name)?.map(<[i64]>::to_vec);
        Ok::<_, Error>(given.filter(|list| list.len() == len).unwrap_or_else(|| vec![default; len]))
    };
    let (strides, dilations) = (list("strides", 1, axes)?, list("dilations", 1, axes)?);
    let pads = list("pads", 0, 2 * axes)?;
    let taps = block.iter().try_fold(1, |taps: i64, &size| taps.checked_mul(size));
    let taps = taps.filter(|taps| (1..=MAX_TAPS).contains(taps) && block.len() == axes);
    let taps =
        taps.ok_or_else(|| unsupported(&format!("Col2Im of blocks of more than {MAX_TAPS} elements")))?;
    let (mut grid, mut more, mut kernel) = (vec![taps], Vec::new(), vec![taps, 1]);
    for axis in 0..axes {
        let sizes = [image[axis], block[axis], dilations[axis], strides[axis], pads[axis], pads[axes + axis]];
        let [image, block, dilation, stride, before, behind] = sizes.map(i128::from);
        let room = image + before + behind - (dilation * (block - 1) + 1);
        let [count, rest] = [room.checked_div_euclid(stride), room.checked_rem_euclid(stride)]
            .map(|number| number.and_then(|number| i64::try_from(number).ok()));
        let (Some(count), Some(rest)) = (count.and_then(|count| count.checked_add(1)), rest) else {
            return Err(unsupported("Col2Im of windows beyond 64 bits"));
        };
        grid.push(count);
        more.push(rest);
        kernel.push(sizes[1]);
    }
    let taps = usize_of_i64(taps).unwrap_or(0);
    let x = l.input(0)?;
    let mut shape = vec![-1];
    shape.extend(&grid);
    let planes = l.reshape(x, &shape)?;
    let rules = gradus_core::convert::Rules::IEEE;
    let identity: Vec<f32> =
        (0..taps * taps).map(|at| if at / taps == at % taps { 1.0 } else { 0.0 }).collect();
    let identity = l.constant(gradus_core::convert::cast(&Tensor::vector(&identity), dtype, rules)?)?;
    let kernels = l.reshape(identity, &kernel)?;
    let ints = |name, list: &[i64]| (name, Content::Ints(list.to_vec().into()));
    let attributes = [
        ints("strides", &strides),
        ints("dilations", &dilations),
        ints("pads", &pads),
        ints("output_padding", &more),
    ];
    let sum = l.apply("ConvTranspose", &[planes, kernels], &attributes)?;
    let batch = l.apply("Shape", &[x], &[int("start", 0), int("end", 1)])?;
    let sizes = l.list(&image)?;
    let shape = joined([batch.into(), terms::ints(&[-1]), sizes.into()], 0).put(l)?;
    Ok(vec![l.apply("Reshape", &[sum, shape], &[])?])
}

/// The norm of each window, or of all elements of a channel.
pub fn lp_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let order = l.attributes.int_or("p", 2)?;
    let x = widened(l, 0)?;
    let x = l.apply("Abs", &[x], &[])?;
    let raised = match order {
        1 => x,
        2 => l.apply("Mul", &[x, x], &[])?,
        _ => {
            let power = number(l, nearest(order))?;
            l.apply("Pow", &[x, power], &[])?
        }
    };
    let sum = if l.node_is("GlobalLpPool") {
        let axes: Vec<_> = (2..i64_of(l.rank_of(0)?)).collect();
        with("ReduceSum", [raised.into(), ints(&axes)], [int("noop_with_empty_axes", 1)]).put(l)?
    } else {
        if l.attributes.flag("ceil_mode", false)? {
            return Err(unsupported("LpPool with ceil_mode=1"));
        }
        let kernel = required("kernel_shape", l.attributes.ints("kernel_shape")?)?;
        let sizes: Vec<_> = l.dims_of(0)?.iter().skip(2).map(|size| size.map(i64_of)).collect();
        if beyond(&l.attributes, &sizes)?.iter().any(|&beyond| beyond > 0) {
            return Err(unsupported("LpPool of a window larger than the padded data"));
        }
        let taps = number(l, kernel.iter().copied().map(nearest).product())?;
        let names = ["auto_pad", "kernel_shape", "strides", "dilations", "pads"];
        let given = names.map(|name| l.attributes.get(name).map(|content| (name, content.clone())));
        let attributes: Vec<_> = given.into_iter().flatten().chain([int("count_include_pad", 1)]).collect();
        let mean = l.apply("AveragePool", &[raised], &attributes)?;
        l.apply("Mul", &[mean, taps], &[])?
    };
    let norm = match order {
        1 => sum,
        2 => l.apply("Sqrt", &[sum], &[])?,
        _ => {
            let inverse = number(l, 1.0 / nearest(order))?;
            l.apply("Pow", &[sum, inverse], &[])?
        }
    };
    Ok(vec![like(l, norm, 0)?])
}

/// The sizes of the result of an adaptive pool, of which there is one for each axis after the
/// channels.
fn windows(l: &Lowering<'_>) -> Result<Vec<i64>> {
    let (rank, sizes) = (l.rank_of(0)?, l.integers_of(1)?.to_vec());
    if !(3..=5).contains(&rank) {
        return Err(errors::rank("input 0", rank, "from 3 to 5"));
    }
    errors::expect_count("elements of input 1", sizes.len(), rank - 2)?;
    Ok(sizes)
}

/// `AdaptiveAvgPool` of OpenVINO: averages of windows that together cover each axis.
pub fn adaptive_average(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, counts) = (l.input(0)?, windows(l)?);
    Ok(vec![adaptive::pool(l, x, 2, &counts, true)?])
}

/// `AdaptiveMaxPool` of OpenVINO: maxima of windows that together cover each axis, and their
/// indices.
pub fn adaptive_maximum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, counts) = (l.input(0)?, windows(l)?);
    let to = l.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I64);
    let [value, index] = adaptive::pool_with_index(l, x, &counts, None)?;
    Ok(vec![value, if to == DType::I64 { index } else { l.cast(index, to)? }])
}
