//! Evaluation of `SkipLayerNormalization` and its like, in float64.

use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::{add, maybe_shaped, shaped};
use crate::normalization::eval::standardize;
use crate::op::EvalContext;

/// `SkipLayerNormalization` and its like without a mean: the sum of two inputs and a bias,
/// normalized.
pub fn skip_layer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let centered = cx.operator == "SkipLayerNormalization";
    let epsilon = attributes.float("epsilon")?.unwrap_or(1e-12).into();
    let width = cx.tensor(0)?.shape().dims().last().copied().unwrap_or(1);
    let mut sum = cx.floats(0)?;
    let (beta, bias) = if centered { (maybe_shaped(cx, 3, &[width])?, 4) } else { (None, 3) };
    add(cx, &mut sum, 1)?;
    add(cx, &mut sum, bias)?;
    let gamma = shaped(cx, 2, &[width])?;
    let (limits, mut numbers) = (cx.limits(), sum.clone());
    let adding = cx.adding_doubles(&limits)?;
    let (mut means, mut inverses) = (Vec::new(), Vec::new());
    for row in numbers.chunks_mut(width.max(1)) {
        let (mean, inverse) = standardize(row, epsilon, centered, adding);
        means.push(mean);
        inverses.push(inverse);
        for (at, x) in row.iter_mut().enumerate() {
            *x = *x * gamma[at] + beta.as_ref().map_or(0.0, |beta| beta[at]);
        }
    }
    if width == 0 && cx.outputs > 1 {
        // Nothing has a mean.
        let rows = cx.output(1)?.1.len();
        (means, inverses) = (vec![if centered { f64::NAN } else { 0.0 }; rows], vec![f64::NAN; rows]);
    }
    let all = [numbers, means, inverses, sum];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}
