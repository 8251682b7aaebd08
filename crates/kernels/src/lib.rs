//! Fills: the elements of a plan, written into memory; and products of matrices.
//!
//! A fill is total and deterministic: plans are validated, and any slice, written by any number of
//! threads, has the bits that [`Plan::at`](gradus_sequences::Plan::at) gives.
//!
//! And functions of elements: a [`Call`] writes their values, correctly rounded in floats of at most
//! 32 bits.

#![allow(clippy::inline_always, reason = "functions compiled for a SIMD level must be inlined into it")]

#[cfg(feature = "vectors")]
mod affine;
#[cfg(feature = "vectors")]
mod certain;
#[cfg(feature = "vectors")]
mod codes;
mod double_double;
#[cfg(not(feature = "vectors"))]
mod each;
#[cfg(feature = "vectors")]
mod fills;
mod functions;
#[cfg(feature = "vectors")]
mod halves;
#[cfg(feature = "vectors")]
mod int_affine;
#[cfg(feature = "vectors")]
mod lanes;
mod options;
#[cfg(feature = "vectors")]
mod pair;
#[cfg(feature = "vectors")]
mod power;
#[cfg(feature = "vectors")]
pub mod product;
#[cfg(feature = "vectors")]
mod range;
#[cfg(feature = "vectors")]
mod spiral;
#[cfg(feature = "vectors")]
mod steps;
#[cfg(feature = "vectors")]
mod stream;
pub mod sums;
#[cfg(feature = "vectors")]
mod tables;
mod threads;
#[cfg(feature = "vectors")]
mod writer;

#[cfg(feature = "vectors")]
pub use codes::{fill_codes, fill_codes_within};
#[cfg(not(feature = "vectors"))]
pub use each::tensor;
#[cfg(feature = "vectors")]
pub use fills::{fill, fill_with, tensor};
pub use functions::{Call, Float, Function, power};
#[cfg(not(feature = "vectors"))]
pub use gradus_sequences::Plan as Fill;
pub use options::{Level, Options, Stores, widest};
#[cfg(feature = "vectors")]
pub use product::multiply_with;
pub use sums::{Accumulator, Destination, Sums};
pub use threads::{share, share_map, stay_alone, threads};
#[cfg(feature = "vectors")]
pub use writer::{Each, Fill, Form, Write, Writer};

/// Prepared inputs of fills, for fills on other devices.
#[cfg(feature = "vectors")]
pub mod prepared {
    pub use crate::affine::{Affine, BLOCK as AFFINE_BLOCK};
    pub use crate::double_double::DoubleDouble;
    pub use crate::int_affine::IntAffine;
    pub use crate::lanes::Run;
    pub use crate::range::{Fused, Wrapping};
    pub use crate::tables::{Span, Tables, bounds, has_long_mantissa, spans};
    pub use crate::writer::Kernel;
}
