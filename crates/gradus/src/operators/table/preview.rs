//! The operators of ONNX's preview domains.

use super::super::preview;
use super::super::row::{Row, preview as row, training};

pub(super) const PREVIEW: &[Row] = &[
    row("FlexAttention").infer(preview::flex_attention),
    training("Adagrad").infer(preview::adagrad),
    training("Adam").infer(preview::adam),
    // It names values of the graph around it.
    training("Gradient").infer(preview::gradient).stateful(),
    training("Momentum").infer(preview::momentum),
];
