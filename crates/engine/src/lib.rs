#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    missing_docs,
    clippy::implicit_hasher,
    clippy::len_without_is_empty,
    clippy::return_self_not_must_use,
    reason = "the crate is a part of gradus, which documents what users name"
)]

pub mod arrays;
pub mod attributes;
pub mod complex;
pub mod constants;
pub mod conversion;
pub mod draws;
pub mod fact;
pub mod infer;
pub mod keys;
pub mod lowering;
pub mod normalize;
pub mod numbers;
pub mod op;
pub mod operator;
pub mod operators;
pub mod program;
pub mod schema;
pub mod source;
pub mod words;

pub use gradus_dims as dim;
