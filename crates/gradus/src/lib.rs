//! Gradus computes the sequences and the shapes inside tensor programs, exactly as their standards
//! say.
//!
//! Open a [`Model`] and run it:
//!
//! ```
//! use gradus::{Model, RunOptions, Shape, Tensor};
//! let model = Model::open("examples/positions.onnx")?;
//! let tokens = Tensor::from_vec(Shape::new([1, 3])?, vec![101i64, 2023, 102])?;
//! let outputs = model.run([("tokens", &tokens)])?;
//! assert_eq!(outputs["position_ids"].tensor()?.to_i64()?, [0, 1, 2]);
//!
//! // To run it many times, compile it once.
//! let program = model.compile(&["token_count"], &RunOptions::default())?;
//! assert_eq!(program.run([("tokens", &tokens)])?[0].tensor()?.to_i64()?, [3]);
//! # Ok::<(), gradus::Error>(())
//! ```
//!
//! Infer the shapes of all values, without running it, and fold what can be computed before a run:
//!
//! ```
//! use gradus::Model;
//! use gradus::fold::FoldOptions;
//! use gradus::infer::InferOptions;
//! let model = Model::open("examples/heads.onnx")?;
//! let inference = model.infer(&InferOptions::default())?;
//! assert_eq!(inference.describe(inference.fact(model.value("y")?)), "float32[batch, 2, seq, 4]");
//! assert!(inference.problems().is_empty());
//!
//! let folded = model.edited(&model.fold(&FoldOptions::default())?.model)?;
//! assert_eq!((model.graph().nodes().len(), folded.graph().nodes().len()), (14, 2));
//! # Ok::<(), gradus::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | open, limit, save | [`Model::open`], [`OpenOptions`], [`Limits`], [`Model::save`] |
//! | infer types, shapes, conditions | [`Model::infer`](Source::infer) gives an [`Inference`](infer::Inference) |
//! | compute with sizes | [`dim`] |
//! | run | [`Model::run`], [`Model::compile`] gives a [`Program`]; values are [`Tensor`]s, [`Map`]s and sequences ([`Value`]) |
//! | fold | [`Model::fold`], [`mod@fold`] |
//! | convert | [`Model::convert`], [`conversion`] |
//! | compare | [`Model::check`] and [`Model::check_in`] ([`check`]), [`diff`], [`portability`] |
//! | find what changes the bits of a runtime | [`Model::audit`] ([`audit`]) |
//! | make test cases of an operator | [`cases`] |
//! | find what is wrong or unwise | [`Model::lint`], [`lint`] |
//! | tell costs | [`Model::cost`], [`cost`] |
//! | write a function that checks sizes | [`Model::contract`], [`contract`] |
//! | make a graph | [`graph::Builder`], [`Model::from_source`] |
//! | add an operator | [`Operator`], [`OpenOptions::operator`] |
//! | make a sequence | [`seq`], [`fill()`], [`filled`], on a GPU [`gpu`] |
//! | predict other programs' sequences | [`profiles`], [`compare`] |
//!
//! Options have public fields: start with their `default()` and set what differs.
//!
//! # Features
//!
//! All are on by default. Without any, a program opens and infers models, and builds in less time.
//!
//! | feature | adds |
//! |---|---|
//! | `run` | `Model::compile` and `Model::run`, `gpu`, and fills with wide vectors |
//! | `write` | `Model::save`, `Model::to_onnx`, `edit` |
//! | `convert` | `write`, `conversion` and `portability`; with `run`, `audit`, `cases`, `check` and `prove` |
//! | `fold` | `fold`, `lint`, with `run` and `convert` |
//! | `paddle` | programs of Paddle, and its operators |
//!
//! `cost` and `contract` come with `run` or `convert`. Without `run`, inference evaluates the
//! operators by which models compute sizes; elements of other results are unknown, of constants
//! too.
//!
//! # Sequences
//!
//! Plan a sequence ([`seq`]) and fill it ([`fill`]):
//!
//! ```
//! use gradus::seq::{Plan, RangePlan};
//! use gradus::{DType, Number};
//! let [start, stop, step] = [0.0, 1.0, 0.25].map(Number::Float);
//! let plan = RangePlan::new(start, stop, step, DType::F32)?;
//! let mut out = [0f32; 4];
//! gradus::fill(&plan, &mut out);
//! assert_eq!(out, [0.0, 0.25, 0.5, 0.75]);
//! # Ok::<(), gradus::seq::RangeError>(())
//! ```

#![cfg_attr(
    not(all(feature = "fold", feature = "paddle")),
    allow(dead_code, unused_imports, reason = "parts that the build leaves out use them")
)]

#[cfg(all(feature = "run", feature = "convert"))]
pub mod audit;
#[cfg(all(feature = "run", feature = "convert"))]
pub mod cases;
#[cfg(all(feature = "run", feature = "convert"))]
pub mod check;
pub mod compare;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod contract;
#[cfg(feature = "convert")]
pub mod conversion;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod cost;
mod declare;
pub mod diff;
#[cfg(feature = "fold")]
pub mod dynamic;
#[cfg(feature = "write")]
pub mod edit;
#[cfg(feature = "write")]
mod encode;
#[doc(hidden)]
pub mod files;
#[cfg(feature = "fold")]
pub mod fold;
/// Inference: what is given to it, and what it finds.
pub mod infer {
    pub use gradus_engine::infer::{
        Completeness, ElementRange, InferContext, InferError, InferOptions, InferResult, Inference,
        InputFact, ModelCondition, Peak, Problem, Reuse, SizeAssumptions, Sizes, Subgraph, SubgraphPath,
        Trace, Traced, When, Why,
    };
}
#[cfg(feature = "fold")]
pub mod lint;
mod model;
#[cfg(feature = "convert")]
pub mod portability;
#[cfg(all(feature = "run", feature = "convert"))]
pub mod prove;
#[cfg(feature = "run")]
mod run;
#[cfg(feature = "write")]
mod save;

pub use constants::{HeldConstant, is_constant};
pub use dim::Dim;
pub use fact::{Fact, TensorFact};
pub use gradus_core::convert::Rules;
pub use gradus_core::tensor::byte_len as tensor_bytes;
pub use gradus_core::{
    Class, DType, DTypeSet, Element, Error, Kind, Limits, Map, Number, Result, Shape, Tensor, Value, element,
    error, graph,
};
// The command line and the Python package use these; they may change in any version.
#[doc(hidden)]
#[doc(hidden)]
pub use gradus_core::sort;
pub use gradus_core::{convert, dispatch, display, text};
pub use gradus_dims as dim;
#[doc(hidden)]
pub use gradus_engine::schema;
pub use gradus_engine::{arrays, fact};
use gradus_engine::{attributes, complex, constants, lowering, normalize, operator, program, source};
#[doc(hidden)]
pub use gradus_formats as formats;
pub use gradus_formats::{Files, InMemory};
#[cfg(feature = "run")]
pub use gradus_gpu as gpu;
#[cfg(any(feature = "run", feature = "convert"))]
#[doc(hidden)]
pub use gradus_kernels::prepared::Kernel;
pub use gradus_kernels::{
    Destination, Fill, Level, Options as FillOptions, Stores, Sums, hold_level, stay_alone, tensor as filled,
    with_threads,
};
#[cfg(any(feature = "run", feature = "convert"))]
pub use gradus_kernels::{Each, Form, Write, Writer, fill, fill_codes, fill_codes_within, fill_with};
#[doc(hidden)]
pub use gradus_operators as operators;
pub use gradus_profiles as profiles;
pub use gradus_sequences as seq;
pub use model::{Model, OpenOptions};
pub use operator::{Call, Operator};
pub use program::{NodeRun, RunOptions};
#[cfg(feature = "run")]
pub use run::{Outputs, Program};
pub use source::Source;

/// The example of the README must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
