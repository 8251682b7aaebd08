//! Fills: the elements of a plan, written into memory; and products of matrices.
//!
//! A fill is total and deterministic: plans are validated, and any slice, written by any number of
//! threads, has the bits that [`Plan::at`](gradus_sequences::Plan::at) gives.
//!
//! And functions of elements: a [`Call`] writes their values, correctly rounded in floats of at most
//! 32 bits.

#![allow(clippy::inline_always, reason = "functions compiled for a SIMD level must be inlined into it")]

mod functions;
mod options;
#[cfg(not(feature = "vectors"))]
mod scalar;
pub mod sums;
mod threads;
#[cfg(feature = "vectors")]
mod vectors;

#[cfg(not(feature = "vectors"))]
use scalar as build;
#[cfg(feature = "vectors")]
use vectors as build;

pub use build::{Fill, tensor, widest};
pub use functions::{Call, Course, Float, Function, power};
pub use options::{Level, Options, Stores, hold_level};
pub use sums::{Accumulator, Destination, SumType, Sums};
pub use threads::{share, share_map, stay_alone, threads, with_threads};
#[cfg(feature = "vectors")]
pub use vectors::{
    Each, Form, Write, Writer, fill, fill_codes, fill_codes_within, fill_with, multiply_with, prepared,
    product,
};
