//! Builds with vectors: fills, products of matrices and functions, compiled for each level of
//! instructions, and threads.

mod affine;
mod certain;
mod codes;
mod double_double;
mod fills;
pub(crate) mod functions;
mod halves;
mod int_affine;
mod lanes;
mod levels;
mod pair;
pub(crate) mod pool;
mod power;
pub mod product;
mod range;
mod real_lanes;
mod spiral;
mod steps;
mod stream;
mod sums;
mod tables;
mod writer;

pub use codes::{fill_codes, fill_codes_within};
pub use fills::{fill, fill_with, tensor};
pub use levels::{Token, widest};
pub use product::multiply_with;
pub use writer::{Each, Fill, Form, Write, Writer};

/// Prepared inputs of fills, for fills on other devices.
pub mod prepared {
    pub use super::affine::{Affine, BLOCK as AFFINE_BLOCK};
    pub use super::double_double::DoubleDouble;
    pub use super::int_affine::IntAffine;
    pub use super::lanes::Run;
    pub use super::range::{Fused, Wrapping};
    pub use super::tables::{Span, Tables, bounds, has_long_mantissa, spans};
    pub use super::writer::Kernel;
}
