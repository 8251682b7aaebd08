//! The file formats of Gradus: untrusted bytes in, graphs and tensors out.
//!
//! | format | files | module |
//! |---|---|---|
//! | ONNX | `.onnx`, with external data; `.pb` tensors | [`onnx`] |
//! | OpenVINO IR 10 and 11 | `.xml` with `.bin` | [`openvino`] |
//! | Paddle programs | `.json` or `.pdmodel`, with `.pdiparams` | `paddle`, with the feature `paddle` |
//! | NumPy | `.npy`, `.npz` | `numpy`, with the feature `arrays` |
//!
//! Bytes are borrowed, not copied: tensors share the memory of the file they come from. Nothing
//! that a file says is believed before it is checked, and nothing here panics on any input: the
//! lints below see to most of that and the fuzz targets to the rest.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "paddle", feature = "write")),
    allow(dead_code, unused_imports, reason = "parts that the build leaves out use them")
)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::expect_used, clippy::panic))]

mod files;
#[cfg(feature = "arrays")]
pub mod numpy;
pub mod onnx;
pub mod openvino;
#[cfg(feature = "paddle")]
pub mod paddle;
mod regions;
mod splice;
mod varint;
mod wire;

pub use files::{Files, InMemory, Sniffed, part_of, sniff};
pub use splice::{Part, Splice};
