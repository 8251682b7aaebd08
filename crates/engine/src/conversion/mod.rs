//! The means by which rules of conversion write: contexts, graphs of the target, and the report.

pub mod arithmetic;
pub mod caveats;
pub mod lowered;
pub mod nested;
pub mod node;
pub mod older;
pub mod report;
pub mod runtime;
pub mod scope;
pub mod to_onnx;
pub mod to_openvino;
pub mod types;
pub mod writer;

pub use node::{ConvertRule, Writer};
pub use report::{ConversionReport, Exactness, Note, Obstacle, Obstacles};
pub use runtime::Runtime;
