//! Any bytes as a NumPy array or an archive of arrays; what is read must be written and read again
//! the same.
#![no_main]

use bytes::Bytes;
use gradus::formats::numpy;
use gradus::{DType, Limits};
use gradus_fuzz::{forms, structured};
use libfuzzer_sys::fuzz_target;

structured!(forms::Npy, forms::Npz);

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 20;
    let bytes = Bytes::copy_from_slice(data);
    let _ = numpy::read_npz(&bytes, None, |_| Some(DType::BF16), &limits);
    for hint in [None, Some(DType::BF16), Some(DType::I4)] {
        let Ok(tensor) = numpy::read_npy(&bytes, hint, &limits) else { continue };
        let mut written = Vec::new();
        numpy::write_npy(&tensor, &mut written).expect("what was read can be written");
        // Written out, short texts take the room of the longest.
        let mut roomy = limits;
        roomy.max_bytes = 1 << 30;
        let again = numpy::read_npy(&written.into(), Some(tensor.dtype()), &roomy)
            .expect("what was written can be read");
        assert!(again == tensor, "{tensor:?} became {again:?}");
    }
});
