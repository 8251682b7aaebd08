//! Any ONNX model that opens, folded, converted to OpenVINO and back, and compared with itself.
#![no_main]

use std::time::{Duration, Instant};

use bytes::Bytes;
use gradus::conversion::ConvertOptions;
use gradus::diff::Diff;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{DType, Kind, Limits, Model, OpenOptions, Tensor};
use libfuzzer_sys::fuzz_target;

/// The element types of the outputs, if inference finds no problem.
fn types(model: &Model) -> Option<Vec<Option<DType>>> {
    let inference = model.infer(&InferOptions::default()).ok()?;
    let dtype = |&id| inference.fact(id).as_tensor().and_then(|tensor| tensor.dtype);
    inference.problems().is_empty().then(|| model.graph().outputs().iter().map(dtype).collect())
}

/// Checks that a rewritten model has the types of its source, wherever both are known.
fn agree(model: &Model, rewritten: &Model) {
    let (Some(before), Some(after)) = (types(model), types(rewritten)) else { return };
    assert_eq!(before.len(), after.len(), "the outputs");
    let agree = |(a, b): (&Option<DType>, &Option<DType>)| a.is_none() || b.is_none() || a == b;
    assert!(before.iter().zip(&after).all(agree), "{before:?} became {after:?}");
}

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps, limits.max_work) = (1 << 24, 1000, 1 << 22);
    limits.deadline = Instant::now().checked_add(Duration::from_secs(2));
    let Ok(model) = OpenOptions::new().limits(limits).from_bytes(&Bytes::copy_from_slice(data)) else { return };
    if model.source().standard != Standard::Onnx {
        return;
    }
    if let Ok(diff) = Diff::of(&model, &model) {
        assert!(diff.is_empty(), "a model differs from itself: {diff:?}");
    }
    let mut options = FoldOptions::default();
    options.max_constant = 1 << 12;
    if let Ok(folded) = model.fold(&options) {
        let folded = match model.edited(&folded.edit) {
            Ok(folded) => folded,
            Err(error) if error.kind() == Kind::Limit => return,
            Err(error) => panic!("what is folded cannot be read: {error}"),
        };
        agree(&model, &folded);
        if let Err(error) = model.verify(&folded, &InferOptions::default(), 1, 1) {
            assert_ne!(error.kind(), Kind::Graph, "{error}");
        }
        if let Ok(outputs) = model.run::<&str, Tensor>([]) {
            match folded.run::<&str, Tensor>([]) {
                Ok(after) => assert_eq!(format!("{outputs:?}"), format!("{after:?}")),
                Err(error) => assert_eq!(error.kind(), Kind::Limit, "the folded model fails: {error}"),
            }
        }
    }
    if let Ok(converted) = model.convert(Standard::OpenVino, &ConvertOptions::default()) {
        let back = converted.model.convert(Standard::Onnx, &ConvertOptions::default());
        if let Ok(back) = back {
            agree(&converted.model, &back.model);
        }
    }
});
