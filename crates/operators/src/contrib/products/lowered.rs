//! Products and convolutions with more in one node, as graphs of ONNX's operators, in float64.

use gradus_core::Result;
use gradus_core::convert::i64_of;
use gradus_core::graph::Content;

use crate::contrib::activations::lowered::leaky_relu;
use crate::contrib::images::lowered::channels_second_of;
use crate::contrib::inputs::unsupported;
use crate::contrib::values::{
    channels_second, given, like_first, maybe_wide, number, plus, wide, wide_input,
};
use crate::elementwise::activations::Activation;
use crate::lowering::terms::{ints, of, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::words;

/// `GemmFastGelu`: the approximate Gelu of a product and a bias.
pub fn gemm_fast_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, weights) = (wide_input(l, 0)?, wide_input(l, 1)?);
    let value = l.apply("MatMul", &[x, weights], &[])?;
    let value = plus(l, value, 2)?;
    let value = l.apply("Gelu", &[value], &[("approximate", Content::Bytes("tanh".into()))])?;
    like_first(l, value)
}

/// `CDist`: distances between all rows of two matrices.
pub fn c_dist(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let square = words::METRIC.of(&l.attributes)? == "sqeuclidean";
    let (a, b) = (wide_input(l, 0)?, wide_input(l, 1)?);
    let last = l.list(&[-1])?;
    let (a, b) = (of("Unsqueeze", a, ints(&[1])).put(l)?, of("Unsqueeze", b, ints(&[0])).put(l)?);
    let mut value = with("ReduceSumSquare", [a - b, last.into()], [int("keepdims", 0)]).put(l)?;
    if !square {
        value = l.apply("Sqrt", &[value], &[])?;
    }
    like_first(l, value)
}

/// A factor of `FusedMatMul`, its axes in the order that attributes say.
fn factor(l: &mut Lowering<'_>, input: usize, last: &str, batch: &str) -> Result<LoweredValue> {
    let (value, rank) = (wide_input(l, input)?, l.rank_of(input)?);
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    if l.attributes.flag(batch, false)? && rank > 2 {
        perm[..rank - 1].rotate_left(1);
    }
    if l.attributes.flag(last, false)? && rank > 1 {
        perm.swap(rank - 1, rank - 2);
    }
    if perm.is_sorted() {
        return Ok(value);
    }
    l.transposed(value, &perm)
}

/// `FusedMatMul`: a product of factors that may be transposed, times a number.
pub fn fused_mat_mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b) = (factor(l, 0, "transA", "transBatchA")?, factor(l, 1, "transB", "transBatchB")?);
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
    let alpha = number(l, alpha.into())?;
    let value = (of("MatMul", a, b) * alpha).put(l)?;
    like_first(l, value)
}

/// Applies the function that `activation` names, with these parameters.
fn activated(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    parameter: impl Fn(&Lowering<'_>, usize, &str) -> Result<Option<f32>>,
) -> Result<LoweredValue> {
    let name = words::FUSED_ACTIVATION.of(&l.attributes)?;
    match name {
        "" => return Ok(value),
        "LeakyRelu" => {
            let alpha = parameter(l, 0, "alpha")?.unwrap_or(0.01);
            return leaky_relu(l, value, alpha);
        }
        "Clip" => {
            let low = parameter(l, 0, "min")?.unwrap_or(f32::MIN);
            let high = parameter(l, 1, "max")?.unwrap_or(f32::MAX);
            let (low, high) = (number(l, low.into())?, number(l, high.into())?);
            return l.apply("Clip", &[value, low, high], &[]);
        }
        _ => {}
    }
    let Some((operator, names)) = Activation::operator(name) else {
        return Err(unsupported(&format!("activation {name} by ONNX operators")));
    };
    let mut attributes = Vec::new();
    for (index, own) in names.enumerate() {
        if let Some(x) = parameter(l, index, own)? {
            attributes.push((own, Content::Float(x)));
        }
    }
    l.apply(operator, &[value], &attributes)
}

/// `FusedGemm`: a `Gemm` and an activation.
pub fn fused_gemm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [wide_input(l, 0)?, wide_input(l, 1)?, maybe_wide(l, 2)?];
    let attributes = given(l, &["alpha", "beta", "transA", "transB"]);
    let value = l.apply("Gemm", &inputs, &attributes)?;
    let value = activated(l, value, |l, _, name| l.attributes.float(&format!("activation_{name}")))?;
    like_first(l, value)
}

/// `FusedConv`, `NhwcConv`, `NhwcFusedConv`: a convolution, a sum with another input, and an
/// activation.
pub fn fused_conv(l: &mut Lowering<'_>, last: bool) -> Result<Vec<LoweredValue>> {
    let (rank, x) = (l.rank_of(0)?, l.input(0)?);
    let (weights, bias, mut added) = (l.input(1)?, l.maybe(2), maybe_wide(l, 3)?);
    if last && l.has(3) {
        added = channels_second_of(l, rank, added)?;
    }
    let attributes = given(l, &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"]);
    let value = channels_second(l, rank, last, x, |l, x| {
        // Few programs have convolutions of float64.
        let value = l.apply("Conv", &[x, weights, bias], &attributes)?;
        let mut value = wide(l, value)?;
        if added != LoweredValue::NONE {
            value = l.apply("Add", &[value, added], &[])?;
        }
        activated(l, value, |l, index, _| {
            let parameters = l.attributes.floats("activation_params")?.unwrap_or_default();
            Ok(parameters.get(index).copied())
        })
    })?;
    like_first(l, value)
}
