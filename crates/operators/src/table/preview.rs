//! The operators of ONNX's preview domains.

use crate::preview;
use crate::rounding::Rounding::{Formula, Open};
use crate::row::{Row, preview as row, training};
use crate::words;

pub(super) const PREVIEW: &[Row] = rows![
    row("FlexAttention", Formula).infer(preview::flex_attention),
    training("Adagrad", Formula).infer(|cx| preview::updated(cx, 3, &[0, 2])),
    training("Adam", Formula).infer(|cx| preview::updated(cx, 4, &[0, 2, 3])),
    // The operator names values of the graph around it.
    training("Gradient", Open).infer(preview::gradient).stateful(),
    training("Momentum", Formula).words(&[words::MOMENTUM]).infer(|cx| preview::updated(cx, 3, &[0, 2])),
];
