//! The means by which rules of conversion write: contexts, graphs of the target, and the report.

#[cfg(feature = "run")]
pub mod arithmetic;
pub mod caveats;
pub mod columns;
#[cfg(not(feature = "run"))]
mod left_out;
#[cfg(feature = "run")]
pub mod lowered;
#[cfg(feature = "run")]
pub mod nested;
#[cfg(feature = "run")]
pub mod node;
#[cfg(feature = "run")]
pub mod older;
pub mod report;
#[cfg(feature = "run")]
pub mod runtime;
#[cfg(feature = "run")]
pub mod scope;
#[cfg(feature = "run")]
pub mod to_onnx;
#[cfg(feature = "run")]
pub mod to_openvino;
pub mod types;
#[cfg(feature = "run")]
pub mod writer;

pub use columns::{ConvertRule, Writer};
pub use report::{ConversionReport, Exactness, Note, Obstacle, Obstacles};
#[cfg(feature = "run")]
pub use runtime::Runtime;
