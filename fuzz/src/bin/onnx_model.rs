//! Any bytes as an ONNX model.
#![no_main]

use bytes::Bytes;
use gradus::OpenOptions;
use gradus::graph::Standard;
use gradus_fuzz::budget::{limits, within};
use gradus_fuzz::{forms, model, structured};
use libfuzzer_sys::fuzz_target;

structured!(forms::Protobuf);

fuzz_target!(|data: &[u8]| {
    let open = || OpenOptions::new().limits(limits()).from_bytes(&Bytes::copy_from_slice(data));
    let Ok(opened) = within("reading", open) else { return };
    // Models of other standards have targets of their own, with the files that they want next to
    // them.
    if opened.source().standard == Standard::Onnx {
        model::bear(&opened);
    }
});
