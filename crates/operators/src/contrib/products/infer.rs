//! Rules of products with more in one node.

use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// Shape of `GemmFastGelu`: the first input's with the columns of the second as last axis.
pub fn gemm_fast_gelu(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, weights) = (cx.dims(0)?, cx.dims_of_rank(1, 2)?);
    let mut all = dims.to_vec();
    if let Some(last) = all.last_mut() {
        *last = weights[1];
    }
    Ok(vec![Fact::tensor(cx.dtype(0), all)])
}

/// Shape of `CDist`: rows of the first by rows of the second input.
pub fn c_dist(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (a, b) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(1, 2)?);
    Ok(vec![Fact::tensor(cx.dtype(0), [a[0], b[0]])])
}
