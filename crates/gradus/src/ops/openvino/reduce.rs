//! Operators that make one element of many along axes.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Reduce…` | `Reduce…` | no axes are none; `keep_dims` is false |
//! | `TopK` | `TopK` | indices are int32 unless `index_element_type` says otherwise |
//! | `NonZero`, `Unique` | the same | the type of indices is an attribute |

use gradus_core::DType;

use super::super::network::of;
use super::super::reduce::{non_zero, reduced, top_k, uniques};
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{Cx, Outcome, Rules, Stop, openvino};

pub(in super::super) const RULES: &[Rules] = &[
    openvino(
        &[
            "ReduceL1",
            "ReduceL2",
            "ReduceLogicalAnd",
            "ReduceLogicalOr",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
        ],
        |cx| {
            let keep = cx.flag("keep_dims", false);
            reduced(cx, keep, true)
        },
    ),
    openvino(&["TopK"], |cx| {
        let indices = cx.type_of("index_element_type").unwrap_or(DType::I32);
        top_k(cx, indices)
    }),
    openvino(&["NonZero"], non_zero),
    openvino(&["Unique"], unique),
    openvino(&["Bucketize"], |cx| Ok(vec![of(cx.type_of("output_type").or(Some(DType::I64)), cx.dims(0)?)])),
    openvino(&["SearchSorted"], |cx| {
        Ok(vec![of(cx.type_of("output_type").or(Some(DType::I64)), cx.dims(1)?)])
    }),
    openvino(&["Multinomial"], multinomial),
    openvino(&["NonMaxSuppression"], |cx| {
        let indices = cx.type_of("output_type").or(Some(DType::I64));
        let count = cx.data("how many boxes are chosen", Bounds::EXTENT);
        let scores = if cx.dtype(1) == Some(DType::F16) { DType::F16 } else { DType::F32 };
        let chosen = [count, Dim::Known(3)];
        Ok(vec![of(indices, chosen), Fact::typed(scores, chosen), of(indices, [Dim::ONE])])
    }),
];

fn unique(cx: &mut Cx<'_, '_>) -> Outcome {
    let axis = match (cx.has(1), cx.integer(1).and_then(Dim::known)) {
        (false, _) => None,
        (true, Some(axis)) => Some(axis),
        (true, None) => return Err(Stop::Unknown(Some(1), "names an axis that is not known".into())),
    };
    let indices = cx.type_of("index_element_type").unwrap_or(DType::I64);
    let counts = cx.type_of("count_element_type").unwrap_or(DType::I64);
    uniques(cx, axis, indices, counts)
}

fn multinomial(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let samples = match cx.integer(1) {
        Some(samples) => samples,
        None => cx.data("how many samples are drawn", Bounds::EXTENT),
    };
    let all: Vec<_> = dims[..dims.len().saturating_sub(1)].iter().copied().chain([samples]).collect();
    Ok(vec![of(cx.type_of("convert_type").or(cx.type_of("output_type")), all)])
}
