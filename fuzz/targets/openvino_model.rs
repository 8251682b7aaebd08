//! Any bytes as an OpenVINO model, with some constants beside it: inferred, folded and read again, run, and written anew.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::formats::{Files, InMemory, openvino};
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{Kind, Limits, Model, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits { max_bytes: 1 << 24, max_steps: 1000, ..Limits::DEFAULT };
    let constants = Bytes::from_static(&[2, 0, 0, 0, 23, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("model.bin".to_owned(), constants)])));
    let bytes = Bytes::copy_from_slice(data);
    let Ok(model) = Model::with_files(&bytes, "model", files, &limits) else { return };
    if model.source().standard != Standard::OpenVino {
        return;
    }
    let options = Options { limits, ..Options::default() };
    let _ = model.infer(&InferOptions { limits, ..InferOptions::default() });
    if let Ok(folded) = model.fold(&FoldOptions { limits, max_constant: 1 << 12, ..FoldOptions::default() }) {
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
    let _ = model.run(&Default::default(), &[], &options);
});
