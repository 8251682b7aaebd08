//! Rules that put scales, sums, padding and transposes into the convolution or Gemm before or after
//! them.

use gradus_core::convert::{Rules, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Shape, Tensor};

use super::node_view::NodeView;
use super::{Change, Replacement, Source};
use crate::attributes::NewAttributes;
use crate::dim::{Dim, Symbols};
use crate::normalize::Older;

/// Attributes of Conv, `ConvTranspose` and Gemm, but for the factor of the bias.
const ATTRIBUTES: [&str; 11] = [
    "alpha",
    "auto_pad",
    "dilations",
    "group",
    "kernel_shape",
    "output_padding",
    "output_shape",
    "pads",
    "strides",
    "transA",
    "transB",
];

/// A factor and a summand for each channel.
struct Affine {
    scale: Vec<f64>,
    shift: Vec<f64>,
}

/// The numbers of a constant input.
fn floats(view: &NodeView<'_, '_>, input: usize) -> Option<Vec<f64>> {
    Some(view.constant(input)?.numbers().ok()?.map(nearest_f64).collect())
}

/// Numbers as a constant of the type and shape of another.
fn like(tensor: &Tensor, shape: Shape, numbers: Vec<f64>) -> Option<Tensor> {
    let numbers = numbers.into_iter().map(Number::Float);
    Tensor::from_numbers(tensor.dtype(), shape, numbers, Rules::IEEE).ok()
}

/// The number of channels of a convolution or columns of Gemm, and the axis of its weights that has
/// them.
fn channels(conv: &NodeView<'_, '_>) -> Option<(usize, usize)> {
    let axis = match conv.operator() {
        "Conv" => 0,
        "ConvTranspose" if conv.int("group", 1)? == 1 => 1,
        "Gemm" if conv.has_newest_meaning() => usize::from(conv.int("transB", 0)? == 0),
        _ => return None,
    };
    let weights = conv.weight(1)?;
    Some((*weights.shape().dims().get(axis)?, axis))
}

/// A constant operand as one number for each channel.
fn by_channel(view: &NodeView<'_, '_>, input: usize, channels: usize) -> Option<Vec<f64>> {
    let (tensor, rank) = (view.constant(input)?, view.output_dims()?.len());
    let dims = tensor.shape().dims();
    // The operand must not make the result larger.
    let offset = rank.checked_sub(dims.len())?;
    let of_channels = |(axis, &size): (usize, &usize)| size == 1 || (axis + offset == 1 && size == channels);
    let numbers = floats(view, input)?;
    match numbers.len() {
        _ if !dims.iter().enumerate().all(of_channels) => None,
        1 => Some(vec![numbers[0]; channels]),
        _ => Some(numbers),
    }
}

/// Returns the input that a node scales and shifts by channel, and by how much.
fn affine<'s, 'm>(view: &NodeView<'s, 'm>) -> Option<(usize, Affine, NodeView<'s, 'm>)> {
    if view.operator() == "BatchNormalization" {
        let conv = view.only_producer(0)?;
        let (channels, _) = channels(&conv)?;
        let [gain, bias, mean, variance] = [1, 2, 3, 4].map(|input| floats(view, input));
        let (gain, bias, mean, variance) = (gain?, bias?, mean?, variance?);
        let inference = view.int("training_mode", 0)? == 0 && view.int("spatial", 1)? == 1;
        let single = view.node.outputs.len() == 1;
        let fits = [&gain, &bias, &mean, &variance].iter().all(|list| list.len() == channels);
        if view.form().is(Older::Training) || !inference || !single || !fits {
            return None;
        }
        let epsilon = f64::from(view.float("epsilon", 1e-5)?);
        let scale: Vec<f64> =
            gain.iter().zip(&variance).map(|(gain, v)| gain / (v + epsilon).sqrt()).collect();
        let shift = bias.iter().zip(mean.iter().zip(&scale)).map(|(bias, (mean, scale))| bias - mean * scale);
        return Some((0, Affine { shift: shift.collect(), scale }, conv));
    }
    let commutes = match view.operator() {
        "Mul" | "Add" => true,
        "Div" | "Sub" => false,
        _ => return None,
    };
    let sides: &[(usize, usize)] = if commutes { &[(0, 1), (1, 0)] } else { &[(0, 1)] };
    sides.iter().find_map(|&(input, operand)| {
        let conv = view.only_producer(input)?;
        let (channels, _) = channels(&conv)?;
        let numbers = by_channel(view, operand, channels)?;
        let (ones, zeros) = (vec![1.0; channels], vec![0.0; channels]);
        let affine = match view.operator() {
            "Mul" => Affine { scale: numbers, shift: zeros },
            "Div" => Affine { scale: numbers.iter().map(|x| 1.0 / x).collect(), shift: zeros },
            "Add" => Affine { scale: ones, shift: numbers },
            _ => Affine { scale: ones, shift: numbers.iter().map(|x| -x).collect() },
        };
        Some((input, affine, conv))
    })
}

fn attributes(conv: &NodeView<'_, '_>) -> NewAttributes {
    ATTRIBUTES.iter().filter_map(|name| Some((*name, conv.attribute(name)?.clone()))).collect()
}

fn operator(conv: &NodeView<'_, '_>) -> &'static str {
    match conv.operator() {
        "Conv" => "Conv",
        "Gemm" => "Gemm",
        _ => "ConvTranspose",
    }
}

/// The bias of each channel.
fn bias(conv: &NodeView<'_, '_>, channels: usize) -> Option<Vec<f64>> {
    let Source::Missing = conv.input(2) else {
        let by_channel = conv.constant(2)?.shape().dims().last() == Some(&channels);
        let numbers = floats(conv, 2).filter(|bias| by_channel && bias.len() == channels)?;
        let factor = f64::from(conv.float("beta", 1.0)?);
        return Some(numbers.into_iter().map(|number| number * factor).collect());
    };
    Some(vec![0.0; channels])
}

/// Multiplies the scale of each channel into the weights of the node before, and adds the shift to
/// its bias.
pub(super) fn affine_into_conv(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let (input, Affine { scale, shift }, conv) = affine(view)?;
    if !view.is_like(input) {
        return None;
    }
    let (weights, (channels, axis)) = (conv.weight(1)?, channels(&conv)?);
    let before = bias(&conv, channels)?;
    let shifted = before.iter().zip(scale.iter().zip(&shift)).map(|(b, (scale, shift))| b * scale + shift);
    let bias = like(&weights, Shape::vector(channels), shifted.collect())?;
    let scaled = if scale.iter().all(|&factor| factor.to_bits() == 1f64.to_bits()) {
        conv.input(1)
    } else {
        let inner: usize = weights.shape().dims()[axis + 1..].iter().product();
        let numbers = weights.numbers().ok()?.map(nearest_f64).enumerate();
        let numbers = numbers.map(|(i, weight)| weight * scale[i / inner % channels]).collect();
        Source::Tensor(like(&weights, weights.shape().clone(), numbers)?)
    };
    let inputs = vec![conv.input(0), scaled, Source::Tensor(bias)];
    let (operator, attributes) = (operator(&conv), attributes(&conv));
    Some(Change::Node(Replacement::new(operator, inputs, attributes)))
}

/// Adds the sizes of a `Pad` with zeros along spatial axes to the attribute `pads` of its reader.
pub(super) fn pad_into_conv(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let operator = ["AveragePool", "Conv"].into_iter().find(|name| *name == view.operator())?;
    let pad = view.only_producer(0).filter(|pad| pad.operator() == "Pad")?;
    let rank = pad.output_dims()?.len();
    let constant = pad.text("mode", "constant")? == "constant";
    let zero = matches!(pad.input(2), Source::Missing) || pad.is_number(2, 0);
    let explicit = view.text("auto_pad", "NOTSET")? == "NOTSET";
    let all_axes = matches!(pad.input(3), Source::Missing);
    if !(constant && zero && explicit && all_axes) {
        return None;
    }
    let added = pad.constant(1)?.to_i64().ok().filter(|added| added.len() == 2 * rank && rank > 2)?;
    let (begin, end) = added.split_at(rank);
    let outside = [&begin[..2], &end[..2]].concat();
    if added.iter().any(|&size| size < 0) || outside.iter().any(|&size| size != 0) {
        return None;
    }
    let spatial = [&begin[2..], &end[2..]].concat();
    let own = view.ints("pads").ok()?.map_or_else(|| vec![0; spatial.len()], <[i64]>::to_vec);
    let pads: Vec<_> = own.iter().zip(&spatial).map(|(own, added)| own + added).collect();
    let mut attributes = attributes(view);
    attributes.retain(|(name, _)| *name != "pads");
    if operator == "AveragePool" {
        // Zeros count as elements: those of the padding must too. No window may have these alone.
        let counts = view.int("count_include_pad", 0)? == 1 || own.iter().all(|&size| size == 0);
        let kernel = view.ints("kernel_shape").ok()??;
        let narrow = pads.iter().zip(kernel.iter().chain(kernel)).all(|(pad, size)| pad < size);
        if !counts || !narrow || view.int("ceil_mode", 0)? != 0 {
            return None;
        }
        attributes.push(("count_include_pad", Content::Int(1)));
    }
    attributes.push(("pads", Content::Ints(pads.into())));
    let inputs =
        (0..view.input_count()).map(|input| if input == 0 { pad.input(0) } else { view.input(input) });
    Some(Change::Node(Replacement::new(operator, inputs.collect(), attributes)))
}

/// Fuses `MatMul` of matrices and the `Add` of a bias that broadcasts to the product into `Gemm`.
pub(super) fn matmul_add(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.has_newest_meaning() {
        return None;
    }
    [(0, 1), (1, 0)].into_iter().find_map(|(input, other)| {
        let product = view.only_producer(input).filter(|product| product.operator() == "MatMul")?;
        let [a, b] = [product.dims(0)?, product.dims(1)?];
        let (out, bias) = (view.output_dims()?, view.dims(other)?);
        let one = |dim: Dim| dim == Dim::Known(1);
        let fits = bias.iter().rev().zip(out.iter().rev()).all(|(bias, out)| bias == out || one(*bias));
        let whole = a.len() == 2 && b.len() == 2 && out.len() == 2 && bias.len() <= 2 && fits;
        let inputs = vec![product.input(0), product.input(1), view.input(other)];
        let is_float = view.output().and_then(|id| view.dtype_of(id)).is_some_and(DType::is_float);
        let gemm = Replacement::new("Gemm", inputs, Vec::new());
        (whole && is_float && view.is_like(input)).then_some(Change::Node(gemm))
    })
}

/// Flips `transA` or `transB` of `Gemm` in place of an input's `Transpose`.
pub(super) fn transpose_into_gemm(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.has_newest_meaning() {
        return None;
    }
    [(0, "transA"), (1, "transB")].into_iter().find_map(|(input, name)| {
        let before = view.only_producer(input).filter(|before| before.operator() == "Transpose")?;
        let exchanges =
            before.dims(0)?.len() == 2 && matches!(before.ints("perm").ok()?, None | Some([1, 0]));
        let mut attributes = attributes(view);
        attributes.extend(view.attribute("beta").map(|beta| ("beta", beta.clone())));
        attributes.retain(|(other, _)| *other != name);
        attributes.push((name, Content::Int(i64::from(view.int(name, 0)? == 0))));
        let inputs =
            (0..view.input_count()).map(|at| if at == input { before.input(0) } else { view.input(at) });
        let gemm = Replacement::new("Gemm", inputs.collect(), attributes);
        exchanges.then_some(Change::Node(gemm))
    })
}
