//! Shared vocabulary of Gradus: element types, exact conversions, tensors and graphs. Correct, not
//! fast.
//!
//! [`DType`] names the element types and [`convert`] converts between them. [`Tensor`] holds
//! elements. [`graph`] holds models as graphs of nodes and values, whatever file they came from.
//! The crate `gradus-sequences` plans sequences of these elements.

#![forbid(unsafe_code)]

const _: () = assert!(usize::BITS == 64, "sizes of tensors are 64-bit numbers");
const _: () =
    assert!(cfg!(target_endian = "little"), "files and tensors are little-endian, and are mapped, not read");

#[macro_use]
mod names;

pub mod convert;
pub mod display;
pub mod dtype;
pub mod element;
pub mod error;
pub mod exact;
pub mod float;
pub mod graph;
pub mod limits;
pub mod packed;
pub mod shape;
pub mod sort;
pub mod tensor;
pub mod text;
pub mod value;

pub use dtype::{Class, DType, DTypeSet};
pub use element::Element;
pub use error::{Error, Kind, Result};
pub use exact::Number;
pub use limits::{Limits, room_for};
pub use shape::Shape;
pub use tensor::Tensor;
pub use value::{Map, Value};
