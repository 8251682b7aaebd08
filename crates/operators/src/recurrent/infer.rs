//! The rule of `RNN`, `GRU`, `LSTM`, and ONNX Runtime's `DynamicQuantizeLSTM`.

use crate::dim::Dim;
use crate::errors;
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferResult};
use crate::words;

/// An LSTM whose weights are codes, in matrices of a row for each element that they multiply. The
/// input, and the hidden state of each step, are quantized before their products: the state of each
/// sample alone. ONNX Runtime quantizes the samples of a thread together, so that its results
/// depend on the number of its threads.
pub const QUANTIZED_LSTM: &str = "DynamicQuantizeLSTM";

/// Shapes of `RNN`, `GRU` and `LSTM`: outputs of all steps, and the last states.
pub fn recurrent(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    if let Some(clip) = cx.attributes.float("clip")?.filter(|clip| clip.is_nan() || *clip < 0.0) {
        return Err(errors::value("attribute \"clip\"", clip, "at least 0").into());
    }
    let last = cx.attributes.flag("layout", false)?;
    let (steps, batch) = if last { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
    let directions = Dim::Known(if words::DIRECTION.of(&cx.attributes)? == "bidirectional" { 2 } else { 1 });
    let hidden = match cx.attributes.int("hidden_size")? {
        Some(size) => Dim::Known(size),
        None => cx.dims_of_rank(2, 3)?[if cx.operator == QUANTIZED_LSTM { 1 } else { 2 }],
    };
    let gates = match cx.operator {
        "LSTM" | QUANTIZED_LSTM => 4,
        "GRU" => 3,
        _ => 1,
    };
    let rows = cx.multiply(hidden, Dim::Known(gates));
    let biases = cx.multiply(rows, Dim::Known(2));
    let peepholes = cx.multiply(hidden, Dim::Known(3));
    let (all, state) = if last {
        ([batch, steps, directions, hidden], [batch, directions, hidden])
    } else {
        ([steps, directions, batch, hidden], [directions, batch, hidden])
    };
    if cx.operator == QUANTIZED_LSTM {
        cx.same_shape(1, &[directions, dims[2], rows])?;
        cx.same_shape(2, &[directions, hidden, rows])?;
        for input in 8..12 {
            let each = cx.dims(input).is_ok_and(|dims| dims.len() != 1);
            let shape = if each { vec![directions, rows] } else { vec![directions] };
            cx.same_shape(input, &shape)?;
        }
    } else {
        cx.same_shape(1, &[directions, rows, dims[2]])?;
        cx.same_shape(2, &[directions, rows, hidden])?;
    }
    cx.same_shape(3, &[directions, biases])?;
    cx.same_shape(4, &[batch])?;
    require_up_to(cx, (4, "sequence length"), steps, None)?;
    cx.same_shape(5, &state)?;
    cx.same_shape(6, &state)?;
    cx.same_shape(7, &[directions, peepholes])?;
    let dtype = cx.dtype(0);
    Ok(vec![Fact::tensor(dtype, all), Fact::tensor(dtype, state), Fact::tensor(dtype, state)])
}
