//! Any bytes as an OpenVINO model, with some constants beside it.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::formats::{Files, InMemory, openvino};
use gradus::infer::InferOptions;
use gradus::{Limits, Model, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits { max_bytes: 1 << 24, max_steps: 1000, ..Limits::DEFAULT };
    let constants = Bytes::from_static(&[2, 0, 0, 0, 23, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("model.bin".to_owned(), constants)])));
    let Ok(source) = openvino::read_model(data, "model.bin", &files, &limits) else { return };
    let model = Model::from_source(source);
    let options = Options { limits, ..Options::default() };
    let _ = model.infer(&InferOptions { limits, ..InferOptions::default() });
    let _ = model.run(&Default::default(), &[], &options);
});
