//! Any bytes as an ONNX model: opened, its constants read, inferred, folded and run, within small
//! limits.
#![no_main]

use bytes::Bytes;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{Limits, OpenOptions, RunOptions, Tensor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 1000);
    let Ok(model) = OpenOptions::new().limits(limits).from_bytes(&Bytes::copy_from_slice(data)) else { return };
    // Other standards have targets of their own, with the files that they want beside them.
    if model.source().standard != Standard::Onnx {
        return;
    }
    for (_, constant) in model.graph().constants() {
        let _ = constant.tensor();
    }
    let _ = model.infer(&InferOptions::default());
    let mut options = FoldOptions::default();
    options.max_constant = 1 << 12;
    if let Ok(folded) = model.fold(&options) {
        model.edited(&folded.edit).expect("what is folded can be read");
    }
    let _ = model.run::<&str, Tensor>([]);
    let mut options = RunOptions::default();
    options.expand_functions = true;
    let _ = model.compile(&[], &options).and_then(|program| program.run::<&str, Tensor>([]));
});
