//! Constant: a value that the node itself holds.
//!
//! | standard | operator | versions | attributes, of which exactly one is given |
//! |---|---|---|---|
//! | ONNX | `Constant` | 1, 9 | `value` |
//! | ONNX | `Constant` | 11 | and `sparse_value` |
//! | ONNX | `Constant` | 12, 13, 19, 21, 23, 24, 25 | and `value_int`, `value_ints`, `value_float`, `value_floats`, `value_string`, `value_strings` |

use bytes::Bytes;
use gradus_core::graph::Content;
use gradus_core::{Error, Kind, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferContext, InferResult};
use crate::op::{BuildContext, EvalContext, Op};

/// Maximum number of elements that are read before a run: shapes and scalars are small.
const MAX_READ: usize = 1 << 16;

/// A large constant is not read.
pub fn rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let content = only_value(&cx.attributes)?;
    if let Content::Tensor(constant) = content
        && constant.shape().len() > MAX_READ
    {
        let dims: Vec<_> = constant.shape().dims().iter().map(|&len| Dim::from(len)).collect();
        return Ok(vec![Fact::typed(constant.dtype(), dims)]);
    }
    Ok(vec![Fact::Tensor(TensorFact::of(tensor_of(content)?))])
}

/// The one attribute that gives the value.
fn only_value<'a>(attributes: &Attributes<'a>) -> Result<&'a Content> {
    let given: Vec<_> = VALUES.iter().filter_map(|name| attributes.get(name)).collect();
    match given[..] {
        [content] => Ok(content),
        _ => Err(Error::mismatch(Kind::Graph, "the number of attributes that give a value", given.len(), 1)),
    }
}

/// The attributes that give a value.
const VALUES: [&str; 8] = [
    "value",
    "sparse_value",
    "value_int",
    "value_ints",
    "value_float",
    "value_floats",
    "value_string",
    "value_strings",
];

/// The tensor that a node holds.
pub fn held(attributes: &Attributes<'_>) -> Result<Tensor> {
    tensor_of(only_value(attributes)?)
}

/// The tensor that an attribute gives.
fn tensor_of(content: &Content) -> Result<Tensor> {
    Ok(match content {
        Content::Tensor(constant) => constant.tensor()?,
        Content::Int(value) => Tensor::scalar(*value),
        Content::Ints(values) => Tensor::vector(values),
        Content::Float(value) => Tensor::scalar(*value),
        Content::Floats(values) => Tensor::vector(values),
        Content::Bytes(bytes) => Tensor::from_text(Shape::SCALAR, vec![text(bytes)?])?,
        Content::Strings(all) => {
            Tensor::from_text(Shape::vector(all.len()), all.iter().map(text).collect::<Result<_>>()?)?
        }
        other => {
            return Err(Error::mismatch(Kind::Type, "value", other.sort(), "a tensor"));
        }
    })
}

#[derive(Debug)]
pub struct ConstantOp {
    tensor: Tensor,
}

impl ConstantOp {
    /// Builds the operator of a node. Before operator set 9, the text lists floats only; exporters
    /// wrote integers all the same, and ONNX Runtime takes them.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(ConstantOp { tensor: held(&cx.attributes)? }))
    }
}

fn text(bytes: &Bytes) -> Result<Box<str>> {
    let text = std::str::from_utf8(bytes);
    text.map(Into::into).map_err(|_| Error::mismatch(Kind::Syntax, "value", "a string of bytes", "UTF-8"))
}

impl Op for ConstantOp {
    fn eval(&self, _: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        Ok(vec![self.tensor.clone().into()])
    }
}
