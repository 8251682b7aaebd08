//! `MatMul` of OpenVINO.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{Result as Computed, Value};

use crate::attributes::Attributes;
use crate::dialects::openvino::{called, input};
use crate::dim::Dim;
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::layout;
#[cfg(any(feature = "run", feature = "convert"))]
use crate::matmul;
use crate::matmul::infer::product;
use crate::op::EvalContext;

/// Shape of OpenVINO's `MatMul`: that of the product of factors that may be transposed.
pub fn mat_mul(cx: &mut InferContext<'_, '_>) -> InferResult {
    let turned = |cx: &InferContext<'_, '_>, input: usize, name: &str| -> Result<Vec<Dim>, InferError> {
        let mut dims = cx.dims(input)?.to_vec();
        let rank = dims.len();
        if cx.attributes.flag(name, false)? && rank > 1 {
            dims.swap(rank - 1, rank - 2);
        }
        Ok(dims)
    };
    let (a, b) = (turned(cx, 0, "transpose_a")?, turned(cx, 1, "transpose_b")?);
    Ok(vec![Fact::shaped(product(cx, &a, &b)?)])
}

/// `MatMul` of OpenVINO: products of matrices that may be transposed.
#[cfg(any(feature = "run", feature = "convert"))]
pub fn run_mat_mul(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let mut factors = Vec::new();
    for (index, name) in [(0, "transpose_a"), (1, "transpose_b")] {
        let rank = cx.tensor(index)?.shape().rank();
        let factor = [input(cx, index)];
        if !attributes.flag(name, false)? || rank < 2 {
            factors.extend(factor);
            continue;
        }
        let mut perm: Vec<_> = (0..i64_of(rank)).collect();
        perm.swap(rank - 1, rank - 2);
        let turned =
            called(cx, layout::eval::transpose, vec![("perm", Content::Ints(perm.into()))], &factor)?;
        factors.extend(turned.into_iter().map(Some));
    }
    called(cx, matmul::eval::mat_mul, Vec::new(), &factors)
}
