//! Rules that may change the last bits of floats.

use super::Level::Fuse;
use super::convolutions::{affine_into_conv, matmul_add, pad_into_conv};
use super::exact::zero_sum;
use super::normalizations::{gelu, layer_normalization};
use super::{Rule, local};

pub(super) const RULES: &[Rule] = &[
    local(
        "affine-into-conv",
        Fuse,
        "BatchNormalization, Mul, Div, Add, Sub by channel behind Conv, ConvTranspose -> weights and bias",
        affine_into_conv,
    ),
    local("pad-into-conv", Fuse, "Pad with zeros before Conv -> its attribute pads", pad_into_conv),
    local("zero-sum", Fuse, "x + 0 -> x: -0 stays", zero_sum),
    local("matmul-add", Fuse, "Add(MatMul(a, b), c) of matrices -> Gemm", matmul_add),
    local("gelu", Fuse, "x * 0.5 * (1 + Erf(x / sqrt(2))), or by Tanh -> Gelu, from operator set 20", gelu),
    local(
        "layer-normalization",
        Fuse,
        "(x - mean) / Sqrt(variance + epsilon) * scale + bias -> LayerNormalization, from operator set 17",
        layer_normalization,
    ),
];
