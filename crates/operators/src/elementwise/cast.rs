//! Cast: the same values in another element type.
//!
//! | standard | operator | versions | attributes | adds |
//! |---|---|---|---|---|
//! | ONNX | `Cast` | 1 | `to`: the name of a type | bool, integers, float16 to float64 |
//! | ONNX | `Cast` | 6 | `to`: the number of a type | |
//! | ONNX | `Cast` | 9, 13 | | text; bfloat16 |
//! | ONNX | `Cast` | 19, 21, 23 | and `saturate` | 8-bit floats; 4-bit integers; float4 |
//! | ONNX | `Cast` | 24, 25, 28 | and `round_mode` | `float8_e8m0`; 2-bit integers; float6 |
//!
//! The rules are [`convert::cast`]'s. What the text leaves undefined is defined there: floats
//! beyond the range of an integer type lose their high bits, as the text says of integers; negative
//! numbers are NaN in `float8_e8m0`.

use gradus_core::convert::{self, Rules, ScaleRounding};
use gradus_core::float::Overflow;
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Result, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::op::{BuildContext, EvalContext, Op};
use crate::output::one;
use crate::words;

#[derive(Debug)]
pub struct CastOp {
    pub to: DType,
    pub rules: Rules,
}

impl CastOp {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let to = required("to", cx.attributes.dtype("to")?)?;
        let admitted = cx.signature.outputs[0].types.tensor;
        if !admitted.contains(to) {
            let wanted = format!("an output type of Cast-{}: {admitted}", cx.signature.since);
            return Err(Error::mismatch(Kind::Type, "attribute \"to\"", to, wanted));
        }
        Ok(Box::new(CastOp {
            to,
            rules: rules(cx.attributes.flag("saturate", true)?, words::ROUND_MODE.of(&cx.attributes)?),
        }))
    }
}

/// The conversion rules that the attributes choose.
pub fn rules(saturate: bool, round_mode: &str) -> Rules {
    let overflow = if saturate { Overflow::Saturate } else { Overflow::Special };
    let scale_rounding = match round_mode {
        "down" => ScaleRounding::Down,
        "nearest" => ScaleRounding::Nearest,
        _ => ScaleRounding::Up,
    };
    Rules { overflow, scale_rounding }
}

impl Op for CastOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let input = cx.tensor(0)?;
        Ok(vec![cast(cx, input, self.to, self.rules)?.into()])
    }
}

/// `CastLike`: elements in the type of the second input.
pub fn cast_like(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, like) = (cx.tensor(0)?, cx.tensor(1)?);
    let rules = rules(attributes.flag("saturate", true)?, words::ROUND_MODE.of(attributes)?);
    one(cast(cx, data, like.dtype(), rules)?)
}

/// The elements as another type, if the limits allow them.
fn cast(cx: &EvalContext<'_>, data: &Tensor, to: DType, rules: Rules) -> Result<Tensor> {
    /// Characters of a number, with what an allocation of their own takes.
    const TEXT: usize = 48;
    let texts = if to == DType::String { convert::product(data.len(), TEXT) } else { 0 };
    cx.reserve(byte_len(to, data.shape()) + texts)?;
    convert::cast(data, to, rules)
}
