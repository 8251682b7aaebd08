//! Any bytes as an ONNX tensor.
#![no_main]

use bytes::Bytes;
use gradus::formats::onnx;
use gradus::{Limits, display};
use gradus_fuzz::{forms, structured};
use libfuzzer_sys::fuzz_target;

structured!(forms::Protobuf);

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 24;
    if let Ok(tensor) = onnx::read_tensor(&Bytes::copy_from_slice(data), limits) {
        let _ = display::elided(&tensor, 3);
    }
});
