//! The operators of ONNX's preview domains.

use super::super::preview;
use super::super::row::{Row, preview as row, training};
use crate::cost::{Each, Work};

pub(super) const PREVIEW: &[Row] = &[
    row("FlexAttention").infer(preview::flex_attention),
    training("Adagrad").works(Work::EachOutput(Each::arithmetic(4))).infer(preview::adagrad),
    training("Adam").works(Work::EachOutput(Each::arithmetic(4))).infer(preview::adam),
    // It names values of the graph around it.
    training("Gradient").infer(preview::gradient).stateful(),
    training("Momentum").works(Work::EachOutput(Each::arithmetic(4))).infer(preview::momentum),
];
