//! Gradus computes the sequences and the shapes inside tensor programs, exactly as their standards
//! say.
//!
//! Open a [`Model`] and run it; or plan a sequence ([`seq`]) and fill it ([`fill`]). The words are
//! those of `gradus-core`, whose items stand here too.
//!
//! ```
//! use gradus::seq::{Plan, RangePlan};
//! use gradus::{DType, Number};
//! let plan = RangePlan::new(Number::Float(0.0), Number::Float(1.0), Number::Float(0.25), DType::F32)?;
//! let mut out = [0f32; 4];
//! gradus::fill(&plan, &mut out);
//! assert_eq!(out, [0.0, 0.25, 0.5, 0.75]);
//! # Ok::<(), gradus::seq::RangeError>(())
//! ```

pub mod arrays;
mod attributes;
pub mod compare;
pub mod conversion;
mod declare;
mod dialects;
pub mod diff;
pub mod dim;
mod encode;
pub mod fact;
pub mod files;
pub mod fold;
pub mod infer;
mod model;
mod normalize;
mod op;
mod operator;
pub mod operators;
mod program;
mod run;
mod save;
pub mod schema;

pub use dim::Dim;
pub use fact::{Fact, TensorFact};
pub use gradus_core::convert::Rules;
pub use gradus_core::tensor::byte_len as tensor_bytes;
pub use gradus_core::{
    Class, DType, DTypeSet, Element, Error, Kind, Limits, Number, Result, Shape, Tensor, Value, element,
    error, graph,
};
// The command line and the Python package use these; they may change in any version.
#[doc(hidden)]
pub use gradus_core::{convert, dispatch, display, text};
pub use gradus_formats as formats;
pub use gradus_gpu as gpu;
pub use gradus_kernels::{
    Each, Fill, Level, Options as FillOptions, Stores, Write, Writer, fill, fill_codes, fill_with,
    tensor as filled,
};
pub use gradus_profiles as profiles;
pub use gradus_sequences as seq;
pub use model::{Model, OpenOptions};
pub use operator::{Call, Operator};
pub use program::RunOptions;
pub use run::{Outputs, Program};

/// The example of the README must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
