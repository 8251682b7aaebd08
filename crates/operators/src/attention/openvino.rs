//! The rule of `ScaledDotProductAttention` of OpenVINO.

use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// Shape of OpenVINO's `ScaledDotProductAttention`: batches broadcast, queries by size of the
/// values.
pub fn attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims(0)?, cx.dims(1)?, cx.dims(2)?);
    let ([q_batch @ .., len, _], [k_batch @ .., _, _], [v_batch @ .., _, size]) = (&*q, &*k, &*v) else {
        let rank = q.len().min(k.len()).min(v.len());
        return Err(errors::rank("query, key or value", rank, "at least 2").into());
    };
    let mut all = cx.broadcast(&[q_batch.into(), k_batch.into(), v_batch.into()])?;
    all.extend([*len, *size]);
    Ok(vec![Fact::shaped(all)])
}
