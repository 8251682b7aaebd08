//! Identity: its input, whatever it is.
//!
//! | standard | operator | versions | takes |
//! |---|---|---|---|
//! | ONNX | `Identity` | 1, 13 | tensors |
//! | ONNX | `Identity` | 14 | tensors and sequences |
//! | ONNX | `Identity` | 16, 19, 21, 23, 24, 25 | tensors, sequences, optionals |

use gradus_core::{Result, Value};

use crate::op::{BuildContext, EvalContext, Op};

#[derive(Debug)]
pub struct Identity;

impl Identity {
    /// Builds an `Identity`.
    pub fn build(_: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(Identity))
    }
}

impl Op for Identity {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        Ok(vec![cx.value(0)?.clone()])
    }
}
