//! Any bytes as an OpenVINO model, with some constants beside it: inferred, folded and read again,
//! run, and written anew.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::formats::{Files, InMemory, openvino};
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{Kind, Limits, OpenOptions, Tensor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 1000);
    let constants = Bytes::from_static(&[2, 0, 0, 0, 23, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("model.bin".to_owned(), constants)])));
    let bytes = Bytes::copy_from_slice(data);
    let Ok(model) = OpenOptions::new().limits(limits).with_files(&bytes, "model", files) else { return };
    if model.source().standard != Standard::OpenVino {
        return;
    }
    let _ = model.infer(&InferOptions::default());
    let mut options = FoldOptions::default();
    options.max_constant = 1 << 12;
    if let Ok(folded) = model.fold(&options) {
        // What lies outside the file of constants is found when it is moved.
        if let Err(error) = model.edited(&folded.edit) {
            assert!(matches!(error.kind(), Kind::Syntax | Kind::Unsupported), "what is folded can be read: {error}");
        }
    }
    if let Ok(written) = openvino::encode_model(model.source()) {
        let files = HashMap::from([("model.bin".to_owned(), written.bin.to_bytes(&[]).into())]);
        let files: Arc<dyn Files> = Arc::new(InMemory(files));
        openvino::read_model(&written.xml.to_bytes(&[]), "model.bin", &files, &limits).expect("what is written can be read");
    }
    let _ = model.run::<&str, Tensor>([]);
});
