//! Any bytes as an ONNX model: opened, its constants read, inferred, folded and run, within small limits.
#![no_main]

use bytes::Bytes;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{Limits, Model, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits { max_bytes: 1 << 24, max_steps: 1000, ..Limits::DEFAULT };
    let Ok(model) = Model::from_bytes(&Bytes::copy_from_slice(data), &limits) else { return };
    // Other standards have targets of their own, with the files that they want beside them.
    if model.source().standard != Standard::Onnx {
        return;
    }
    for (_, constant) in model.graph().constants() {
        let _ = constant.tensor();
    }
    let options = Options { limits, ..Options::default() };
    let _ = model.infer(&InferOptions { limits, ..InferOptions::default() });
    if let Ok(folded) = model.fold(&FoldOptions { limits, max_constant: 1 << 12, ..FoldOptions::default() }) {
        model.edited(&folded.edit).expect("what is folded can be read");
    }
    let _ = model.run(&Default::default(), &[], &options);
    let _ = model.run(&Default::default(), &[], &Options { expand_functions: true, ..options });
});
