//! The C interface of Gradus: `include/gradus.h`, which is made from the functions here.
//!
//! Handles are boxes whose insides C does not see. A function reads its pointers by `given`, and
//! does its work in `error::made` or `error::done`, which keep panics and errors from C. The head of
//! the header, in `cbindgen.toml`, has the rules that callers keep.

#![allow(unsafe_code, reason = "C hands pointers over")]
#![allow(clippy::missing_safety_doc, reason = "the head of gradus.h has the rules")]

mod given;

// The order of the header; one list would be sorted by the formatter.
mod error;

mod model;

mod infer;

mod contract;

mod run;

mod sequence;

use std::ffi::c_char;

/// The version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn gradus_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
