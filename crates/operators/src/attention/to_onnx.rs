//! `ScaledDotProductAttention` of OpenVINO in the operators of ONNX.

use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, joined, of, pick, size, turned, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// `softmax(query * key^T * scale + mask) * value`.
pub fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let (query, key, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let (rank, key_rank) = (l.rank_of(0)?, l.rank_of(1)?);
    for (input, rank) in [(0, rank), (1, key_rank), (2, l.rank_of(2)?)] {
        if rank < 2 {
            return Err(errors::rank(format_args!("input {input}"), rank, "at least 2"));
        }
    }
    let mut order: Vec<_> = (0..key_rank).collect();
    order.swap(key_rank - 1, key_rank - 2);
    let scale = if l.has(4) {
        l.input(4)?.into()
    } else {
        f("Reciprocal", f("Sqrt", cast(size(query, rank - 1), dtype)))
    };
    let query = (query * scale).write(l, dtype)?;
    let mut scores = of("MatMul", query, turned(key, order));
    if l.attributes.flag("causal", false)? {
        // Each row sees the columns up to its own.
        let sizes = joined([size(query, rank - 2), size(key, key_rank - 2)], 0);
        let ones = Term::Tensor(Tensor::scalar(1_f32));
        let seen = with("Trilu", [of("Expand", ones, sizes)], [int("upper", 0)]);
        scores = pick(cast(seen, DType::Bool), scores, f64::NEG_INFINITY);
    } else if l.has(3) {
        let mask = l.input(3)?;
        let is_bool = l.dtype_of(3)? == DType::Bool;
        scores = if is_bool { pick(mask, scores, f64::NEG_INFINITY) } else { scores + mask };
    }
    let weights = with("Softmax", [scores], [int("axis", -1)]);
    Ok(vec![of("MatMul", weights, l.input(2)?).write(l, dtype)?])
}
