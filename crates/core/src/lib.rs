//! Meaning without speed: the words that every other crate of Gradus speaks.
//!
//! [`DType`] names the element types and [`convert`] converts between them; [`Tensor`] holds
//! elements; [`graph`] holds models as graphs of nodes and values, whatever file they came from;
//! [`seq`] plans sequences. Everything is exact and portable; `gradus-kernels` writes the same
//! elements fast.

#![forbid(unsafe_code)]

const _: () = assert!(usize::BITS == 64, "sizes of tensors are 64-bit numbers");
const _: () =
    assert!(cfg!(target_endian = "little"), "files and tensors are little-endian, and are mapped, not read");

pub mod convert;
pub mod display;
pub mod dtype;
pub mod element;
mod elementary;
pub mod error;
pub mod exact;
mod exp2;
pub mod float;
pub mod graph;
pub mod limits;
pub mod packed;
pub mod seq;
pub mod shape;
pub mod tensor;
pub mod text;
pub mod value;

pub use dtype::{Class, DType, DTypeSet};
pub use element::Element;
pub use error::{Error, Kind, Result};
pub use exact::Number;
pub use limits::Limits;
pub use shape::Shape;
pub use tensor::Tensor;
pub use value::Value;
