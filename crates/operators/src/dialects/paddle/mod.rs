//! Operators of Paddle.
//!
//! Most operators are *lowered*: a node becomes a small graph of ONNX operators that mean the same,
//! which is run and inferred in its place, so that an operator is written once for all standards. A
//! row is a name, its inputs, and the function that writes the graph. Of their own are only
//! sequences, solutions of systems and special functions that ONNX does not have, and what has the
//! form of ONNX's operators already: `if` and `while`.
//!
//! | file | operators |
//! |---|---|
//! | `activations.rs` | `gelu`, `hardswish`, `softmax`, `prelu` and their like |
//! | `arrays.rs` | `create_array`, `array_write`, `array_read`, `array_to_tensor` and their like |
//! | `complex.rs` | Fourier transforms, and the parts of complex numbers |
//! | `create.rs` | `full`, `full_int_array`, `full_like`, `full_with_tensor`, `assign_value`, `shape`, `shape64`, `numel`, `cast`, `assign`, `fetch` |
//! | `detection.rs` | `yolo_box`, `prior_box`, `box_coder`, `roi_align`, `roi_pool` |
//! | `fused.rs` | normalizations and softmax with sums before them |
//! | `images.rs` | `nearest_interp` and its like, `pad`, `grid_sample`, `affine_grid`, `pixel_shuffle` |
//! | `indexing.rs` | `embedding`, `argsort`, `unique`, `one_hot`, `roll`, `meshgrid`, `scatter`, `set_value` and their like |
//! | `layout.rs` | `concat`, `stack`, `split`, `slice`, `strided_slice`, `reshape`, `squeeze`, `unsqueeze`, `expand`, `tile`, `gather`, `transpose`, `where` and their like |
//! | `ordering_eval.rs` | evaluation of `mode`, `cummax`, `searchsorted` and their like |
//! | `losses.rs` | losses |
//! | `math.rs` | arithmetic, comparisons, functions of one tensor, reductions, `matmul` |
//! | `matrices.rs` | determinants, products and diagonals of matrices |
//! | `normalization.rs` | normalizations, `dropout` |
//! | `ordering.rs` | `topk`, `argmax`, `median`, `mode`, `cummax`, `searchsorted`, `histogram` and their like |
//! | `patches.rs` | `unfold`, `fold`, `frame`, `temporal_shift`, `deformable_conv` |
//! | `quantized.rs` | `quantize_linear`, `dequantize_linear` and their like |
//! | `random.rs` | `gaussian`, `uniform`, `randint` and their like |
//! | `recurrent.rs` | `rnn` |
//! | `sequences.rs` | `linspace`, `logspace`, `arange` |
//! | `suppression.rs` | `multiclass_nms3`, `matrix_nms`, `nms`, `generate_proposals`, `distribute_fpn_proposals` |
//! | `windows.rs` | convolutions, pools |
//!
//! Texts are followed where PaddlePaddle computes something else; `conformance/paddle.toml` lists
//! the results that differ.
//!
//! Sources: the texts of the Python API of PaddlePaddle 3.3, and results of the program.

pub mod activations;
pub mod arrays;
pub mod attributes;
pub mod complex;
#[cfg(feature = "convert")]
pub mod convert;
pub mod create;
pub mod detection;
pub mod fused;
pub mod images;
pub mod indexing;
pub mod layout;
pub mod losses;
pub mod math;
pub mod matrices;
pub mod normalization;
pub mod ordering;
#[cfg(feature = "run")]
pub mod ordering_eval;
pub mod patches;
pub mod quantized;
pub mod random;
pub mod recurrent;
pub mod sequences;
pub mod spaces;
pub mod suppression;
pub mod windows;

use gradus_core::DType;

use crate::schema::{Arity, Param, Signature, Types, param};

/// Tensors of every type that Paddle has: what an operator does not admit is refused by those that
/// it is lowered to.
#[rustfmt::skip]
const ANY: Types = Types::tensors(&[
    DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2, DType::C64, DType::C128,
]);

/// Arrays of tensors, of the types that ONNX's sequences have.
#[rustfmt::skip]
const ARRAYS: Types = Types::sequences(&[
    DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::F32, DType::F64, DType::C64, DType::C128,
]);

const ANYTHING: Types = Types { sequence: ARRAYS.sequence, ..ANY };

/// An input that is an array of tensors.
pub const fn array(name: &'static str) -> Param {
    param(name, "", ARRAYS, Arity::One)
}

/// An input that is a tensor or an array of tensors.
pub const fn any(name: &'static str) -> Param {
    param(name, "", ANYTHING, Arity::One)
}

/// A matrix, or several, of floats: Paddle has no such kernels of integers.
pub const fn matrix(name: &'static str) -> Param {
    const FLOATS: Types =
        Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128]);
    param(name, "", FLOATS, Arity::One)
}

/// An input that must be there.
pub const fn one(name: &'static str) -> Param {
    param(name, "", ANY, Arity::One)
}

/// An input that may be missing.
pub const fn maybe(name: &'static str) -> Param {
    param(name, "", ANY, Arity::Optional)
}

/// Any number of tensors and arrays of tensors.
pub const fn carried(name: &'static str) -> Param {
    param(name, "", ANYTHING, Arity::Many { alike: false, least: 0 })
}

/// Any number of inputs.
pub const fn many(name: &'static str) -> Param {
    param(name, "", ANY, Arity::Many { alike: false, least: 1 })
}

/// Any number of inputs, of which none need be there.
pub const fn rest(name: &'static str) -> Param {
    param(name, "", ANY, Arity::Many { alike: false, least: 0 })
}

/// Describes what an operator takes and gives: arrays only where it takes some.
pub const fn signature(name: &'static str, inputs: &'static [Param]) -> Signature {
    const OUT: &[Param] = &[param("out", "", ANY, Arity::Many { alike: false, least: 0 })];
    let mut outputs = OUT;
    let mut at = 0;
    while at < inputs.len() {
        if !inputs[at].types.sequence.is_empty() {
            outputs = OUT_ANYTHING;
        }
        at += 1;
    }
    let since = gradus_formats::paddle::OPERATORS;
    Signature { domain: "", name, since, deprecated: false, inputs, outputs, attributes: &[] }
}

const OUT_ANYTHING: &[Param] = &[param("out", "", ANYTHING, Arity::Many { alike: false, least: 0 })];

/// The signature of an operator that returns arrays without taking any.
pub const fn making_arrays(name: &'static str, inputs: &'static [Param]) -> Signature {
    Signature { outputs: OUT_ANYTHING, ..signature(name, inputs) }
}
