//! Rules that may change the last bits of floats.

use super::attention::attention;
use super::convolutions::{affine_into_conv, matmul_add, pad_into_conv, transpose_into_gemm};
use super::exact::{clips, scales, transposes_around_functions, zero_sum};
use super::normalizations::{gelu, layer_normalization, normalization_bias, rms_normalization, swish};

rules! { RULES:
    Fuse "affine-into-conv" |of| of.is_one(&["Add", "BatchNormalization", "Div", "Mul", "Sub"])
        => affine_into_conv, "BatchNormalization, Mul, Div, Add, Sub by channel after Conv, ConvTranspose, Gemm -> weights and bias";
    Fuse "pad-into-conv" |of| of.is_one(&["AveragePool", "Conv"]) => pad_into_conv,
        "Pad with zeros before Conv, AveragePool -> its attribute pads";
    Fuse "zero-sum" |of| of.is("Add") => zero_sum, "x + 0 -> x: -0 stays";
    Fuse "matmul-add" |of| of.is("Add") => matmul_add, "Add(MatMul(a, b), c) of matrices -> Gemm";
    Fuse "transpose-into-gemm" |of| of.is("Gemm") => transpose_into_gemm,
        "Gemm of a transposed matrix -> its attributes transA, transB";
    Fuse "transposes-around-functions" |of| of.is("Transpose") => transposes_around_functions,
        "Transpose(f(Transpose(x))) that keep the order together, f one of Exp, Erf, Sigmoid, Tanh, … -> f(x)";
    Fuse "clips" |of| of.is_one(&["Clip", "Max", "Min", "Relu"]) => clips,
        "Clip, Max, Min, Relu of one another with constant bounds -> Clip: -0 may stay";
    Fuse "scales" |of| of.is_one(&["Div", "Mul"]) => scales,
        "Mul, Div of one another by constants of one element -> Mul";
    Fuse "swish" |of| of.is("Mul") => swish, "x * Sigmoid(x) -> Swish, from operator set 24";
    Fuse "gelu" |of| of.is("Mul") => gelu,
        "x * 0.5 * (1 + Erf(x / sqrt(2))), or by Tanh -> Gelu, from operator set 20";
    Fuse "layer-normalization" |of| of.is("Mul") => layer_normalization,
        "(x - mean) / Sqrt(variance + epsilon) * scale -> LayerNormalization, from operator set 17";
    Fuse "normalization-bias" |of| of.is("Add") => normalization_bias,
        "LayerNormalization without bias + bias -> LayerNormalization";
    Fuse "rms-normalization" |of| of.is("Mul") => rms_normalization,
        "x / Sqrt(mean of squares + epsilon) * scale -> RMSNormalization, from operator set 23";
    Fuse "attention" |of| of.is("MatMul") => attention,
        "MatMul(Softmax(MatMul(q, transposed k) * scale + mask), v) of four axes -> Attention, from operator set 23";
}
