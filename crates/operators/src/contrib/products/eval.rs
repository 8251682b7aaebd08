//! Evaluation of products and convolutions with more in one node, computed in float64 and rounded
//! once.

use gradus_core::convert::product;
use gradus_core::graph::Content;
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::{maybe_shaped, shaped};
use crate::elementwise::activations::Activation;
use crate::indices;
use crate::matmul::eval::{Gemm, Product, products, round};
use crate::op::EvalContext;
use crate::windows::convolutions::{add_bias, convolved};
use crate::words;

/// `FusedMatMul`: a product of factors that may be transposed, times a number.
pub fn fused_mat_mul(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let factor = |input: usize, last: &str, batch: &str| -> Result<(Vec<f64>, Vec<usize>)> {
        let tensor = cx.tensor(input)?;
        let dims = tensor.shape().dims();
        let mut perm: Vec<_> = (0..dims.len()).collect();
        if attributes.flag(batch, false)? && dims.len() > 2 {
            perm[..dims.len() - 1].rotate_left(1);
        }
        if attributes.flag(last, false)? && dims.len() > 1 {
            perm.swap(dims.len() - 1, dims.len() - 2);
        }
        cx.reserve(product(tensor.len(), 24))?;
        let numbers = cx.floats(input)?;
        let turned = indices::turned(dims, &perm).into_iter().map(|place| numbers[place]).collect();
        Ok((turned, perm.iter().map(|&axis| dims[axis]).collect()))
    };
    let (a, a_dims) = factor(0, "transA", "transBatchA")?;
    let (b, b_dims) = factor(1, "transB", "transBatchB")?;
    let Product { sizes, pairs, .. } = Product::new(cx, cx.tensor(0)?.dtype(), &a_dims, &b_dims)?;
    let alpha = f64::from(attributes.float("alpha")?.unwrap_or(1.0));
    let limits = cx.limits();
    let adding = cx.adding(&limits)?;
    let mut sums = products(cx, &a, &b, sizes, &pairs, adding)?;
    for sum in &mut sums {
        *sum *= alpha;
    }
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `FusedConv`: a convolution, a sum with another input, and an activation.
pub fn fused_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (x, weights) = (cx.factor(0)?, cx.factor(1)?);
    let factors = [x.numbers(), weights.numbers()];
    let mut sums = convolved::<f64>(attributes, cx, [0, 1], factors, |_, sums, out| round(sums, out))?;
    let (_, shape) = cx.output(0)?;
    if cx.has(2) {
        add_bias(&mut sums, &shape, &shaped(cx, 2, &shape.dims()[1..2])?);
    }
    if let Some(added) = maybe_shaped(cx, 3, shape.dims())? {
        sums.iter_mut().zip(added).for_each(|(sum, x)| *sum += x);
    }
    let given = match attributes.get("activation_params") {
        Some(Content::Floats(given)) => given.clone(),
        _ => [].into(),
    };
    match words::FUSED_ACTIVATION.of(attributes)? {
        "" => {}
        "Clip" => {
            let (low, high) = (given.first().copied(), given.get(1).copied());
            for x in &mut sums {
                *x = x.max(low.unwrap_or(f32::MIN).into()).min(high.unwrap_or(f32::MAX).into());
            }
        }
        name => {
            let mut left = given.iter().copied();
            let left = std::cell::RefCell::new(&mut left);
            let activation = Activation::named(name, |name| {
                Ok(if name.is_empty() { None } else { left.borrow_mut().next() })
            })?;
            for x in &mut sums {
                *x = activation.at(*x);
            }
        }
    }
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `FusedGemm`: a product of matrices, a sum, and an activation.
pub fn fused_gemm(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let named = attributes.text("activation")?.filter(|name| !name.is_empty());
    let activation =
        named.map(|name| Activation::named(name, |name| attributes.float(&format!("activation_{name}"))));
    let activation = activation.transpose()?;
    let last = |x| activation.as_ref().map_or(x, |activation| activation.at(x));
    let (_, numbers) = Gemm::new(attributes, cx)?.floats::<f64>(cx, last)?;
    Ok(vec![cx.rounded(0, &numbers)?])
}
