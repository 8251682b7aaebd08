//! Any bytes as an OpenVINO model, with some constants next to it: what is written can be read.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus::OpenOptions;
use gradus::formats::{Files, InMemory, Splice, openvino};
use gradus::graph::Standard;
use gradus_fuzz::budget::{limits, within};
use gradus_fuzz::{forms, model, structured};
use libfuzzer_sys::fuzz_target;

structured!(forms::Xml);

fuzz_target!(|data: &[u8]| {
    let limits = limits();
    let constants = Bytes::from_static(&[2, 0, 0, 0, 23, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("model.bin".to_owned(), constants)])));
    let bytes = Bytes::copy_from_slice(data);
    let open = || OpenOptions::new().limits(limits).with_files(&bytes, "model", files);
    let Ok(opened) = within("reading", open) else { return };
    if opened.source().standard != Standard::OpenVino {
        return;
    }
    model::bear(&opened);
    if let Ok(written) = openvino::encode_model(opened.source()) {
        let bytes = |file: &Splice| file.to_bytes(&[]).expect("the model was in memory");
        let files = HashMap::from([("model.bin".to_owned(), bytes(&written.bin))]);
        let files: Arc<dyn Files> = Arc::new(InMemory(files));
        openvino::read_model(&bytes(&written.xml), "model.bin", &files, &limits)
            .expect("what is written can be read");
    }
});
