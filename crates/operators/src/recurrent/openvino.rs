//! Rules of OpenVINO's recurrent cells and sequences, which take the batch first.

use crate::attributes::required;
use crate::dim::Dim;
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::words;

fn hidden(cx: &InferContext<'_, '_>) -> Result<Dim, InferError> {
    Ok(Dim::Known(required("hidden_size", cx.attributes.int("hidden_size")?)?))
}

/// Shapes of OpenVINO's recurrent sequences: outputs of all steps, and the last states.
pub fn sequence(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.dims_of_known_rank(0, 3)?;
    let (dims, hidden) = (cx.dims_or_unknown(0, 3)?, hidden(cx)?);
    let directions = Dim::Known(if words::DIRECTION.of(&cx.attributes)? == "bidirectional" { 2 } else { 1 });
    let state = Fact::shaped([dims[0], directions, hidden]);
    Ok(vec![Fact::shaped([dims[0], directions, dims[1], hidden]), state.clone(), state])
}

/// Shapes of OpenVINO's recurrent cells: batch by hidden size, for each state.
pub fn lstm_cell(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, hidden) = (cx.dims_of_rank(0, 2)?[0], hidden(cx)?);
    let state = Fact::tensor(cx.dtype(0), [batch, hidden]);
    Ok(vec![state.clone(), state])
}
