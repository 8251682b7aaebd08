//! OpenVINO IR: an `.xml` file of layers and edges, and a `.bin` file of constants.
//!
//! The reader turns a network into a [`Model`](gradus_core::graph::Model): `Parameter` layers
//! become inputs, `Const` layers constants, `Result` layers outputs, all others nodes whose
//! attributes are the text of their `<data>`. The writer makes files of models that were made in
//! memory, and of models that were read and edited. Source: OpenVINO's documentation of the IR, and
//! files that OpenVINO 2026.4 writes and reads.

mod body;
mod constant;
mod model;
mod names;
mod shape;
#[cfg(feature = "write")]
mod write;

pub use model::{NEWEST_OPSET, read_model};
pub use shape::{element_type, shape, shape_text};
#[cfg(feature = "write")]
pub use write::{Written, edit_model, encode_model, set_inputs};
