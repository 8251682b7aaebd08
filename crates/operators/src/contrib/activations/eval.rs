//! Evaluation of `Gelu`, `FastGelu` and `BiasGelu`.

use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::add;
use crate::elementwise::activations::Activation;
use crate::op::{EvalContext, Op};

/// `Gelu`, `FastGelu`, `BiasGelu`.
pub fn biased_gelu(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let gelu = Activation::gelu(cx.operator == "FastGelu");
    if !cx.has(1) {
        return gelu.eval(cx);
    }
    let mut numbers = cx.floats(0)?;
    add(cx, &mut numbers, 1)?;
    for x in &mut numbers {
        *x = gelu.at(*x);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}
