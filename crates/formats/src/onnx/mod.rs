//! ONNX files: models, and tensors on their own.
//!
//! The reader turns `ModelProto` into a [`Model`](gradus_core::graph::Model) in one pass over the
//! fields; what it does not know it skips, and elements of tensors stay where they are until they
//! are needed. Sources: the format's messages as the `onnx` package describes them (field numbers
//! in `fields.rs`), and its IR specification.

mod attribute;
mod external;
mod fields;
mod function;
mod graph;
mod lists;
mod model;
mod sparse;
mod tensor;
mod types;
#[cfg(feature = "write")]
mod write;

pub use external::STRIPPED;
pub use fields::{IR_VERSIONS, NEWEST_IR_VERSION, NEWEST_OPSET};
pub use model::{read_edited, read_model};
pub use tensor::{dtype_of, number_of, read_tensor};
#[cfg(feature = "write")]
pub use write::{
    Joint, Place, Placed, edit_interface, edit_model, encode_model, encode_model_beside, encode_tensor,
    external_files, mentioned, mentioned_in_training, place_weights, rename_external_files, set_inputs,
    without_docs,
};
