//! Fills: the elements of a plan, written into memory; and products of matrices.
//!
//! A fill is total and deterministic: plans are validated, and any slice, written by any number of
//! threads, has the bits that [`Plan::at`](gradus_sequences::Plan::at) gives.
//!
//! And functions of elements: a [`Call`] writes their values, correctly rounded in floats of at most
//! 32 bits.

#![allow(clippy::inline_always, reason = "functions compiled for a SIMD level must be inlined into it")]

mod affine;
mod certain;
mod codes;
mod double_double;
mod functions;
mod halves;
mod int_affine;
mod lanes;
mod options;
mod pair;
mod power;
pub mod product;
mod range;
mod spiral;
mod steps;
mod stream;
pub mod sums;
mod tables;
mod threads;
mod writer;

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{DType, Limits, Result, Shape, Tensor, dispatch};

pub use codes::{fill_codes, fill_codes_within};
pub use functions::{Call, Float, Function, power};
pub use options::{Level, Options, Stores, widest};
pub use sums::{Accumulator, Destination, Sums, multiply_with};
pub use threads::{share, share_map, stay_alone, threads};
pub use writer::{Each, Fill, Form, Write, Writer};

/// Prepared inputs of fills, for fills on other devices.
pub mod prepared {
    pub use crate::affine::{Affine, BLOCK as AFFINE_BLOCK};
    pub use crate::double_double::DoubleDouble;
    pub use crate::int_affine::IntAffine;
    pub use crate::lanes::Run;
    pub use crate::range::{Fused, Wrapping};
    pub use crate::tables::{Span, Tables, bounds, has_long_mantissa, spans};
    pub use crate::writer::Kernel;
}

/// Writes all elements of a plan.
///
/// # Panics
/// If the slice is of another length or type than the plan.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{Plan, RangePlan};
/// let plan = RangePlan::new(Number::Int(0), Number::Int(10), Number::Int(3), DType::I64)?;
/// let mut out = [0i64; 2];
/// gradus_kernels::fill(&plan.slice(1..3), &mut out);
/// assert_eq!(out, [3, 6]);
/// # Ok::<(), gradus_sequences::RangeError>(())
/// ```
pub fn fill<T: Write>(plan: &impl Fill, out: &mut [T]) {
    fill_with(plan, out, Options::default());
}

/// Writes all elements of a plan as the options say, which change no bit of them.
///
/// # Panics
/// If the slice is of another length or type than the plan.
pub fn fill_with<T: Write>(plan: &impl Fill, out: &mut [T], options: Options) {
    assert_eq!(plan.len(), u64_of(out.len()), "the plan is of another length than the slice");
    Writer::new(plan, options).write(0, out);
}

/// The elements of a plan as a new tensor of one axis.
///
/// # Errors
/// [`Kind::Limit`](gradus_core::Kind::Limit) if they take more bytes than the limits allow besides
/// those in use.
pub fn tensor(plan: &impl Fill, limits: &Limits, in_use: u64) -> Result<Tensor> {
    // Packed elements are made one a byte, and then packed.
    let bits = u128::from(plan.len()) * u128::from(u64_of(plan.dtype().bits().max(8)));
    limits.allow_bytes(in_use, bits.div_ceil(8))?;
    dispatch!(plan.dtype(),
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => filled(plan, limits),
        dtype => filled_codes(plan, dtype, limits))
}

fn filled<T: Write>(plan: &impl Fill, limits: &Limits) -> Result<Tensor> {
    let mut out = vec![T::default(); usize_of(plan.len())];
    Writer::new(plan, Options::default()).write_within(0, &mut out, limits)?;
    Tensor::from_vec(Shape::vector(out.len()), out)
}

/// Elements that have no Rust type, as codes.
fn filled_codes(plan: &impl Fill, dtype: DType, limits: &Limits) -> Result<Tensor> {
    let mut codes = vec![0; usize_of(plan.len())];
    fill_codes_within(plan, 0, &mut codes, Options::default(), limits)?;
    Tensor::from_codes(dtype, Shape::vector(codes.len()), &codes)
}
