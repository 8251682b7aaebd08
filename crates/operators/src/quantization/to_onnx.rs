//! `FakeQuantize` of OpenVINO in the operators of ONNX.

use gradus_core::convert::nearest_f64;
use gradus_core::{Number, Result};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::lowering::terms::{f, of};
use crate::lowering::{LoweredValue, Lowering};

/// Maps numbers between two bounds to one of `levels` levels between two others.
pub fn fake_quantize(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let levels = required("levels", l.attributes.int("levels")?)?;
    let steps = nearest_f64(Number::Int((levels - 1).into()));
    let [x, low, high, from, to] = [0, 1, 2, 3, 4].map(|input| l.input(input));
    let (x, low, high, from, to) = (x?, low?, high?, from?, to?);
    let share = (of("Min", of("Max", x, low), high) - low) / (high - low);
    let level = f("Round", share * steps) / steps;
    Ok(vec![(level * (to - from) + from).write(l, l.dtype_of(0)?)?])
}
