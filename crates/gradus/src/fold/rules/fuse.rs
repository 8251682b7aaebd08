//! Rules that may change the last bits of floats.

use super::Level::Fuse;
use super::attention::attention;
use super::convolutions::{affine_into_conv, matmul_add, pad_into_conv, transpose_into_gemm};
use super::exact::{clips, scales, transposes_around_functions, zero_sum};
use super::normalizations::{gelu, layer_normalization, normalization_bias, rms_normalization, swish};
use super::{Rule, local};

pub(super) const RULES: &[Rule] = &[
    local(
        "affine-into-conv",
        Fuse,
        "BatchNormalization, Mul, Div, Add, Sub by channel after Conv, ConvTranspose, Gemm -> weights and bias",
        |of| of.is_one(&["Add", "BatchNormalization", "Div", "Mul", "Sub"]),
        affine_into_conv,
    ),
    local(
        "pad-into-conv",
        Fuse,
        "Pad with zeros before Conv, AveragePool -> its attribute pads",
        |of| of.is_one(&["AveragePool", "Conv"]),
        pad_into_conv,
    ),
    local("zero-sum", Fuse, "x + 0 -> x: -0 stays", |of| of.is("Add"), zero_sum),
    local("matmul-add", Fuse, "Add(MatMul(a, b), c) of matrices -> Gemm", |of| of.is("Add"), matmul_add),
    local(
        "transpose-into-gemm",
        Fuse,
        "Gemm of a transposed matrix -> its attributes transA, transB",
        |of| of.is("Gemm"),
        transpose_into_gemm,
    ),
    local(
        "transposes-around-functions",
        Fuse,
        "Transpose(f(Transpose(x))) that keep the order together, f one of Exp, Erf, Sigmoid, Tanh, … -> f(x)",
        |of| of.is("Transpose"),
        transposes_around_functions,
    ),
    local(
        "clips",
        Fuse,
        "Clip, Max, Min, Relu of one another with constant bounds -> Clip: -0 may stay",
        |of| of.is_one(&["Clip", "Max", "Min", "Relu"]),
        clips,
    ),
    local(
        "scales",
        Fuse,
        "Mul, Div of one another by constants of one element -> Mul",
        |of| of.is_one(&["Div", "Mul"]),
        scales,
    ),
    local("swish", Fuse, "x * Sigmoid(x) -> Swish, from operator set 24", |of| of.is("Mul"), swish),
    local(
        "gelu",
        Fuse,
        "x * 0.5 * (1 + Erf(x / sqrt(2))), or by Tanh -> Gelu, from operator set 20",
        |of| of.is("Mul"),
        gelu,
    ),
    local(
        "layer-normalization",
        Fuse,
        "(x - mean) / Sqrt(variance + epsilon) * scale -> LayerNormalization, from operator set 17",
        |of| of.is("Mul"),
        layer_normalization,
    ),
    local(
        "normalization-bias",
        Fuse,
        "LayerNormalization without bias + bias -> LayerNormalization",
        |of| of.is("Add"),
        normalization_bias,
    ),
    local(
        "rms-normalization",
        Fuse,
        "x / Sqrt(mean of squares + epsilon) * scale -> RMSNormalization, from operator set 23",
        |of| of.is("Mul"),
        rms_normalization,
    ),
    local(
        "attention",
        Fuse,
        "MatMul(Softmax(MatMul(q, transposed k) * scale + mask), v) of four axes -> Attention, from operator set 23",
        |of| of.is("MatMul"),
        attention,
    ),
];
