//! The operators of Paddle.

use gradus_core::DType;

#[cfg(feature = "convert")]
use crate::dialects::paddle::convert;
#[cfg(feature = "run")]
use crate::dialects::paddle::ordering_eval;
use crate::dialects::paddle::{
    activations, any, array, arrays, carried, complex, create, detection, fused, images, indexing, layout,
    losses, making_arrays, many, math, matrices, matrix, maybe, normalization, one, ordering, patches,
    quantized, random, recurrent, rest, sequences, signature, spaces, suppression, windows,
};
use crate::dialects::{elimination as eliminated, special as graphs};
use crate::elementwise::special;
use crate::infer::Rule;
use crate::matmul::{eigen, elimination, orthogonal};
use crate::op::Compute;
use crate::rounding::Rounding::{Exact, Formula, Lowered, Moved, Open, Order};
use crate::row::{Row, Sequence, paddle};
use crate::schema::Signature;
use crate::work::{Each, Work};
use crate::{control_flow, elementwise, lowering, matmul, words};

/// The signature of an operator: a name and its inputs.
macro_rules! signed {
    ($name:literal $(, $input:expr)*) => { const { &[signature($name, const { &[$($input),*] })] } };
}

/// Rows of operators that are lowered: a name, its inputs, perhaps attributes of few texts, the
/// function that writes the graph, and perhaps one that runs faster than the graph, and the work,
/// where it is not that of the graph.
macro_rules! lowered {
    ($($name:literal [$($input:expr),*] $(@[$($word:expr),*])? $lower:expr $(=> $compute:expr)? $(, $work:expr)?;)*) => {
        pub(super) const LOWERED: &[Row] = rows![$(
            paddle(Lowered, signed!($name $(, $input)*))
                .lowers($lower)
                $(.words(&[$($word),*]))?
                $(.computes($compute))?
                $(.works($work))?
        ),*];
    };
}

lowered! {
    "abs" [one("x")] |l| math::unary(l, "Abs");
    "acos" [one("x")] |l| math::unary(l, "Acos");
    "acosh" [one("x")] |l| math::unary(l, "Acosh");
    "add" [one("x"), one("y")] |l| math::binary(l, "Add");
    "add_n" [many("x")] math::add_n;
    "addmm" [one("input"), one("x"), one("y")] math::addmm;
    "affine_channel" [one("x"), one("scale"), one("bias")] @[words::CHANNELS] normalization::affine_channel;
    "affine_grid" [one("input"), maybe("output_shape")] images::affine_grid;
    "all" [one("x")] |l| math::reduce_truth(l, "ReduceMin");
    "allclose" [one("x"), one("y"), maybe("rtol"), maybe("atol")] |l| math::is_close(l, true);
    "amax" [one("x")] |l| math::reduce(l, "ReduceMax");
    "amin" [one("x")] |l| math::reduce(l, "ReduceMin");
    "any" [one("x")] |l| math::reduce_truth(l, "ReduceMax");
    "angle" [one("x")] complex::angle;
    "argmax" [one("x"), maybe("axis")] |l| ordering::arg(l, "ArgMax");
    "argmin" [one("x"), maybe("axis")] |l| ordering::arg(l, "ArgMin");
    "argsort" [one("x")] indexing::argsort;
    "array_length" [array("x")] arrays::length;
    "array_pop" [array("input")] arrays::pop;
    "array_read" [array("array"), one("i")] arrays::read;
    "array_to_tensor" [array("x")] arrays::join, Work::None;
    "array_write" [array("array"), one("x"), maybe("i")] arrays::write, Work::None;
    "as_complex" [one("x")] complex::as_complex, Work::None;
    "as_real" [one("x")] complex::as_real, Work::None;
    "asin" [one("x")] |l| math::unary(l, "Asin");
    "asinh" [one("x")] |l| math::unary(l, "Asinh");
    "assign" [any("x")] create::same;
    "assign_out_" [one("x"), maybe("output")] create::same;
    "assign_value_" [one("output")] create::assign_value;
    "atan" [one("x")] |l| math::unary(l, "Atan");
    "atan2" [one("x"), one("y")] math::atan2;
    "atanh" [one("x")] |l| math::unary(l, "Atanh");
    "baddbmm" [one("input"), one("x"), one("y")] math::addmm;
    "batch_norm" [one("x"), one("mean"), one("variance"), maybe("scale"), maybe("bias")] @[words::CHANNELS] normalization::batch_norm;
    "bce_loss" [one("input"), one("label")] losses::bce;
    "bicubic_interp" [one("x"), maybe("out_size"), rest("sizes_and_scale")] @[words::CHANNELS, words::INTERPOLATION] |l| images::resize(l, "cubic");
    "bilinear" [one("x"), one("y"), one("weight"), maybe("bias")] matrices::bilinear;
    "bilinear_interp" [one("x"), maybe("out_size"), rest("sizes_and_scale")] @[words::CHANNELS, words::INTERPOLATION] |l| images::resize(l, "linear");
    "bincount" [one("x"), maybe("weights"), maybe("minlength")] ordering::bincount;
    "bitwise_and" [one("x"), one("y")] |l| math::bitwise(l, "And");
    "bitwise_left_shift" [one("x"), one("y")] |l| math::shift(l, "LEFT");
    "bitwise_not" [one("x")] |l| math::bitwise(l, "Not");
    "bitwise_or" [one("x"), one("y")] |l| math::bitwise(l, "Or");
    "bitwise_right_shift" [one("x"), one("y")] |l| math::shift(l, "RIGHT");
    "bitwise_xor" [one("x"), one("y")] |l| math::bitwise(l, "Xor");
    "bmm" [one("x"), one("y")] |l| complex::product(l, |l| math::binary(l, "MatMul"));
    "box_coder" [one("prior_box"), maybe("prior_box_var"), one("target_box")] @[words::BOX_CODE] detection::box_coder;
    "broadcast_tensors" [many("input")] indexing::broadcast_tensors;
    "cast" [one("x")] create::cast;
    "ceil" [one("x")] |l| math::rounded(l, "Ceil");
    "celu" [one("x")] |l| activations::activation(l, "Celu", &[("alpha", "alpha", 1.0)]);
    "channel_shuffle" [one("x")] @[words::CHANNELS] |l| images::shuffle(l, "groups");
    "clip" [one("x"), maybe("min"), maybe("max")] |l| activations::clip(l, None);
    "complex" [one("real"), one("imag")] complex::complex, Work::None;
    "concat" [many("x")] |l| complex::by_parts(l, layout::concat);
    "conj" [one("x")] complex::conj;
    "conv2d" [one("input"), one("filter")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv;
    "conv2d_transpose" [one("x"), one("filter"), maybe("output_size")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv_transpose;
    "conv3d" [one("input"), one("filter")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv;
    "conv3d_transpose" [one("x"), one("filter"), maybe("output_size")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv_transpose;
    "cos" [one("x")] |l| math::unary(l, "Cos");
    "copysign" [one("x"), one("y")] math::copysign;
    "cosh" [one("x")] |l| math::unary(l, "Cosh");
    "crop" [one("x"), maybe("shape"), maybe("offsets")] layout::crop;
    "cross" [one("x"), one("y")] matrices::cross;
    "cross_entropy_with_softmax" [one("input"), one("label")] losses::cross_entropy;
    "cummax" [one("x")] |l| ordering::extreme(l, "ReduceMax", "ArgMax") => ordering_eval::extreme;
    "cummin" [one("x")] |l| ordering::extreme(l, "ReduceMin", "ArgMin") => ordering_eval::extreme;
    "cumprod" [one("x")] |l| math::cumulative(l, "CumProd");
    "cumsum" [one("x"), maybe("axis")] |l| complex::by_parts(l, |l| math::cumulative(l, "CumSum"));
    "deformable_conv" [one("x"), one("offset"), one("filter"), maybe("mask")] patches::deformable_conv;
    "depthwise_conv2d" [one("input"), one("filter")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv;
    "depthwise_conv2d_transpose" [one("x"), one("filter"), maybe("output_size")] @[words::PADDING_ALGORITHM, words::CHANNELS] windows::conv_transpose;
    "dequantize_linear" [one("x"), one("scale"), maybe("zero_point"), maybe("in_accum"), maybe("in_state")] quantized::dequantize_linear;
    "det" [one("x")] |l| math::unary(l, "Det");
    "diag" [one("x")] matrices::diag;
    "diag_embed" [one("input")] matrices::diag_embed;
    "diagonal" [one("x")] matrices::diagonal;
    "dist" [one("x"), one("y")] matrices::dist;
    "distribute_fpn_proposals" [one("fpn_rois"), maybe("rois_num")] suppression::distribute_fpn_proposals;
    "divide" [one("x"), one("y")] |l| math::binary(l, "Div");
    "dot" [one("x"), one("y")] math::dot;
    "dropout" [one("x"), maybe("seed_tensor"), maybe("p")] @[words::DROPOUT] normalization::dropout;
    "einsum" [many("x")] math::einsum;
    "elementwise_pow" [one("x"), one("y")] |l| math::binary(l, "Pow");
    "elu" [one("x")] |l| activations::activation(l, "Elu", &[("alpha", "alpha", 1.0)]);
    "embedding" [one("x"), one("weight")] indexing::embedding;
    "empty" [maybe("shape")] create::empty;
    "equal" [one("x"), one("y")] |l| math::binary(l, "Equal");
    "equal_all" [one("x"), one("y")] math::equal_all;
    "erf" [one("x")] |l| math::unary(l, "Erf");
    "exp" [one("x")] |l| math::unary(l, "Exp");
    "expand" [one("x"), maybe("shape")] |l| complex::by_parts(l, layout::expand);
    "expand_as" [one("x"), maybe("y")] |l| complex::by_parts(l, layout::expand_as);
    "expm1" [one("x")] activations::wide;
    "eye" [maybe("num_rows"), maybe("num_columns")] indexing::eye;
    "fake_channel_wise_quantize_dequantize_abs_max" [one("x")] |l| quantized::fake_by_greatest(l, true);
    "fake_quantize_dequantize_abs_max" [one("x")] |l| quantized::fake_by_greatest(l, false);
    "fake_quantize_dequantize_moving_average_abs_max" [one("x"), one("in_scale"), maybe("in_accum"), maybe("in_state")] quantized::fake_by_given;
    "fetch" [one("x")] create::same;
    "flatten" [one("x")] |l| complex::by_parts(l, layout::flatten);
    "flatten2" [one("x")] layout::flatten_to_matrix;
    "flip" [one("x")] |l| complex::by_parts(l, indexing::flip);
    "floor" [one("x")] |l| math::rounded(l, "Floor");
    "floor_divide" [one("x"), one("y")] math::floor_divide;
    "fill_diagonal_tensor" [one("x"), one("y")] matrices::fill_diagonal;
    "fmax" [one("x"), one("y")] |l| math::number_of(l, "Max");
    "fmin" [one("x"), one("y")] |l| math::number_of(l, "Min");
    "fold" [one("x")] patches::fold;
    "fractional_max_pool2d" [one("x")] patches::fractional_pool;
    "fractional_max_pool3d" [one("x")] patches::fractional_pool;
    "frame" [one("x")] patches::frame;
    "frobenius_norm" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceL2");
    "full" [] create::full;
    "full_batch_size_like" [one("input")] create::full_batch_size_like;
    "full_int_array" [] create::full_int_array;
    "full_like" [one("x"), maybe("value")] create::full_like;
    "full_with_tensor" [one("value"), one("shape")] create::full_with_tensor;
    "fused_bias_residual_layernorm" [one("x"), maybe("bias"), maybe("residual"), maybe("norm_weight"), maybe("norm_bias")] fused::layer_norm;
    "fused_rms_norm_quant" [one("x"), maybe("bias"), maybe("residual"), maybe("norm_weight"), maybe("norm_bias")] fused::rms_norm;
    "fused_softmax_mask" [one("x"), one("mask")] fused::softmax_mask;
    "gather" [one("x"), one("index"), maybe("axis")] |l| complex::by_parts(l, layout::gather);
    "gather_nd" [one("x"), one("index")] |l| complex::by_parts(l, layout::gather_nd);
    "gather_tree" [one("ids"), one("parents")] ordering::gather_tree;
    "gelu" [one("x")] activations::gelu;
    "generate_proposals" [one("scores"), one("bbox_deltas"), one("im_shape"), one("anchors"), one("variances")] suppression::generate_proposals;
    "greater_equal" [one("x"), one("y")] |l| math::binary(l, "GreaterOrEqual");
    "greater_than" [one("x"), one("y")] |l| math::binary(l, "Greater");
    "grid_sample" [one("x"), one("grid")] @[words::CROP_MODE, words::GRID_PADDING] images::grid_sample;
    "group_norm" [one("x"), maybe("scale"), maybe("bias")] @[words::CHANNELS] normalization::group_norm;
    "hardshrink" [one("x")] |l| activations::shrink(l, false);
    "hardsigmoid" [one("x")] |l| activations::activation(l, "HardSigmoid", &[("slope", "alpha", 0.2), ("offset", "beta", 0.5)]);
    "hardswish" [one("x")] activations::hardswish;
    "hardtanh" [one("x")] |l| activations::clip(l, None);
    "heaviside" [one("x"), one("y")] math::heaviside;
    "histogram" [one("input"), maybe("weight")] ordering::histogram;
    "hsigmoid_loss" [one("x"), one("label"), one("w"), maybe("bias"), maybe("path"), maybe("code")] losses::hsigmoid;
    "huber_loss" [one("input"), one("label")] losses::huber;
    "imag" [one("x")] |l| complex::part_at(l, 1), Work::None;
    "increment" [one("x")] math::increment;
    "index_add" [one("x"), one("index"), one("add_value")] indexing::index_add;
    "index_put" [one("x"), many("indices_and_value")] indexing::index_put;
    "index_sample" [one("x"), one("index")] indexing::index_sample;
    "index_select" [one("x"), one("index")] |l| complex::by_parts(l, layout::gather);
    "instance_norm" [one("x"), maybe("scale"), maybe("bias")] @[words::CHANNELS] normalization::instance_norm;
    "isclose" [one("x"), one("y"), maybe("rtol"), maybe("atol")] |l| math::is_close(l, false);
    "isfinite" [one("x")] math::is_finite;
    "isinf" [one("x")] |l| math::float_function(l, "IsInf");
    "isnan" [one("x")] |l| math::float_function(l, "IsNaN");
    "kldiv_loss" [one("x"), one("label")] @[words::DIVERGENCE] losses::kldiv;
    "kron" [one("x"), one("y")] matrices::kron;
    "kthvalue" [one("x")] ordering::kthvalue;
    "label_smooth" [one("label"), maybe("prior_dist")] losses::label_smooth;
    "layer_norm" [one("x"), maybe("scale"), maybe("bias")] normalization::layer_norm;
    "leaky_relu" [one("x")] |l| activations::activation(l, "LeakyRelu", &[("negative_slope", "alpha", 0.02)]);
    "lerp" [one("x"), one("y"), one("weight")] math::lerp;
    "less_equal" [one("x"), one("y")] |l| math::binary(l, "LessOrEqual");
    "less_than" [one("x"), one("y")] |l| math::binary(l, "Less");
    "linear_interp" [one("x"), maybe("out_size"), rest("sizes_and_scale")] @[words::CHANNELS, words::INTERPOLATION] |l| images::resize(l, "linear");
    "log" [one("x")] |l| math::unary(l, "Log");
    "log10" [one("x")] activations::wide;
    "log1p" [one("x")] activations::wide;
    "log2" [one("x")] activations::wide;
    "log_loss" [one("input"), one("label")] losses::log_loss;
    "log_softmax" [one("x")] |l| activations::softmax(l, "LogSoftmax");
    "lp_pool2d" [one("x")] @[words::CHANNELS, words::PADDING_ALGORITHM] windows::power_pool;
    "logcumsumexp" [one("x")] ordering::logcumsumexp;
    "logical_and" [one("x"), one("y")] |l| math::logical(l, "And");
    "logical_not" [one("x")] |l| math::logical(l, "Not");
    "logical_or" [one("x"), one("y")] |l| math::logical(l, "Or");
    "logical_xor" [one("x"), one("y")] |l| math::logical(l, "Xor");
    "logit" [one("x")] math::logit;
    "logsigmoid" [one("x")] |l| activations::chain(l, &["Neg", "Softplus", "Neg"]);
    "logsumexp" [one("x")] |l| math::reduce(l, "ReduceLogSumExp");
    "lookup_table" [one("ids"), one("w")] indexing::embedding;
    "masked_fill" [one("x"), one("mask"), one("value")] indexing::masked_fill;
    "masked_select" [one("x"), one("mask")] indexing::masked_select;
    "matmul" [one("x"), one("y")] |l| complex::product(l, math::matmul);
    "matrix_nms" [one("bboxes"), one("scores")] suppression::matrix_nms;
    "matrix_power" [one("x")] matrices::matrix_power;
    "max" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceMax");
    "max_pool2d_with_index" [one("x")] windows::pool_with_index;
    "max_pool3d_with_index" [one("x")] windows::pool_with_index;
    "maximum" [one("x"), one("y")] |l| math::binary(l, "Max");
    "maxout" [one("x")] activations::maxout;
    "mean" [one("x"), maybe("axis")] |l| complex::by_parts(l, |l| math::reduce(l, "ReduceMean"));
    "mean_all" [one("x")] losses::mean_all;
    "median" [one("x")] @[words::MIDDLE] |l| ordering::median(l, false);
    "memcpy_d2h" [one("x")] create::same;
    "memcpy_h2d" [one("x")] create::same;
    "meshgrid" [many("inputs")] indexing::meshgrid;
    "min" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceMin");
    "minimum" [one("x"), one("y")] |l| math::binary(l, "Min");
    "mish" [one("x")] activations::mish;
    "mode" [one("x")] ordering::mode => ordering_eval::mode;
    "mul" [one("x"), one("y")] matrices::mul;
    "multi_dot" [many("x")] math::multi_dot;
    "multiclass_nms3" [one("bboxes"), one("scores"), maybe("rois_num")] suppression::multiclass_nms;
    "multiplex" [many("inputs_and_index")] indexing::multiplex;
    "multiply" [one("x"), one("y")] |l| math::binary(l, "Mul");
    "mv" [one("x"), one("vec")] |l| math::binary(l, "MatMul");
    "nanmedian" [one("x")] @[words::MIDDLE] |l| ordering::median(l, true);
    "nearest_interp" [one("x"), maybe("out_size"), rest("sizes_and_scale")] @[words::CHANNELS, words::INTERPOLATION] |l| images::resize(l, "nearest");
    "nll_loss" [one("input"), one("label"), maybe("weight")] @[words::LOSS] losses::nll;
    "nms" [one("x")] suppression::nms;
    "nonzero" [one("condition")] indexing::nonzero;
    "norm" [one("x")] matrices::norm;
    "not_equal" [one("x"), one("y")] math::not_equal;
    "numel" [one("x")] |l| l.unary("Size");
    "one_hot" [one("x"), maybe("num_classes")] indexing::one_hot;
    "p_norm" [one("x")] math::p_norm;
    "pad" [one("x"), maybe("pad_value")] |l| complex::by_parts(l, images::pad);
    "pad2d" [one("x"), maybe("paddings")] @[words::CHANNELS] |l| complex::by_parts(l, images::pad);
    "pad3d" [one("x"), maybe("paddings")] @[words::PADDING, words::CHANNELS] |l| complex::by_parts(l, images::pad);
    "pixel_shuffle" [one("x")] @[words::CHANNELS] |l| images::shuffle(l, "upscale_factor");
    "pixel_unshuffle" [one("x")] @[words::CHANNELS] |l| images::shuffle(l, "downscale_factor");
    "pool2d" [one("x"), maybe("kernel_size")] @[words::PADDING_ALGORITHM, words::POOLING, words::CHANNELS] windows::pool;
    "pool3d" [one("x"), maybe("kernel_size")] @[words::PADDING_ALGORITHM, words::POOLING, words::CHANNELS] windows::pool;
    "pow" [one("x"), maybe("y")] activations::pow;
    "prelu" [one("x"), one("alpha")] @[words::SLOPES, words::CHANNELS] activations::prelu;
    "print" [one("in")] create::same;
    "prior_box" [one("input"), one("image")] detection::prior_box;
    "prod" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceProd");
    "psroi_pool" [one("x"), one("boxes"), maybe("boxes_num")] detection::psroi_pool;
    "quantize_linear" [one("x"), one("scale"), maybe("zero_point"), maybe("in_accum"), maybe("in_state")] quantized::quantize_linear;
    "put_along_axis" [one("arr"), one("indices"), one("values")] @[words::PUT] indexing::put_along_axis;
    "real" [one("x")] |l| complex::part_at(l, 0), Work::None;
    "reciprocal" [one("x")] |l| math::unary(l, "Reciprocal");
    "reduce_as" [one("x"), one("target")] math::reduce_as;
    "relu" [one("x")] |l| math::unary(l, "Relu");
    "relu6" [one("x")] |l| activations::clip(l, Some((0.0, 6.0)));
    "remainder" [one("x"), one("y")] |l| math::binary(l, "Mod");
    "renorm" [one("x")] matrices::renorm;
    "repeat_interleave" [one("x"), maybe("repeats")] indexing::repeat_interleave;
    "repeat_interleave_with_tensor_index" [one("x"), one("repeats")] indexing::repeat_interleave;
    "reshape" [one("x"), maybe("shape")] |l| complex::by_parts(l, |l| layout::with_list(l, "Reshape", "shape"));
    "rnn" [one("x"), many("states_and_weights")] @[words::NETWORK] recurrent::rnn;
    "roi_align" [one("x"), one("boxes"), maybe("boxes_num")] detection::roi_align;
    "roi_pool" [one("x"), one("boxes"), maybe("boxes_num")] detection::roi_pool;
    "roll" [one("x"), maybe("shifts")] |l| complex::by_parts(l, indexing::roll);
    "round" [one("x")] math::round;
    "rrelu" [one("x")] activations::rrelu;
    "rsqrt" [one("x")] |l| activations::chain(l, &["Sqrt", "Reciprocal"]);
    "scale" [one("x"), maybe("scale")] math::scale;
    "scatter" [one("x"), one("index"), one("updates")] indexing::scatter;
    "scatter_nd_add" [one("x"), one("index"), one("updates")] indexing::scatter_nd_add;
    "searchsorted" [one("sorted_sequence"), one("values")] ordering::searchsorted => ordering_eval::search;
    "segment_pool" [one("x"), one("segment_ids")] @[words::SEGMENTS] indexing::segment_pool;
    "selu" [one("x")] |l| activations::activation(l, "Selu", &[("alpha", "alpha", 1.673_263_2), ("scale", "gamma", 1.050_701)]);
    "sequence_mask" [one("x"), maybe("max_len")] indexing::sequence_mask;
    "set_value" [one("x"), maybe("starts"), maybe("ends"), maybe("steps")] |l| indexing::set_value(l, [1, 2, 3], usize::MAX);
    "set_value_with_tensor" [one("x"), maybe("values"), maybe("starts"), maybe("ends"), maybe("steps")] |l| indexing::set_value(l, [2, 3, 4], 1);
    "shape" [one("input")] |l| create::shape(l, DType::I32);
    "shape64" [one("input")] |l| create::shape(l, DType::I64);
    "shard_index" [one("input")] indexing::shard_index;
    "share_data_" [one("x")] create::same;
    "sigmoid" [one("x")] |l| math::unary(l, "Sigmoid");
    "sigmoid_cross_entropy_with_logits" [one("x"), one("label"), maybe("pos_weight")] losses::sigmoid_cross_entropy;
    "sign" [one("x")] |l| math::unary(l, "Sign");
    "silu" [one("x")] |l| math::unary(l, "Swish");
    "sin" [one("x")] |l| math::unary(l, "Sin");
    "sinh" [one("x")] |l| math::unary(l, "Sinh");
    "slice" [one("input"), maybe("starts"), maybe("ends")] |l| complex::by_parts(l, layout::slice);
    "slogdet" [one("x")] matrices::slogdet;
    "slice_array_dense" [array("input"), maybe("starts")] arrays::read;
    "softmax" [one("x")] |l| activations::softmax(l, "Softmax");
    "softplus" [one("x")] activations::softplus;
    "softshrink" [one("x")] |l| activations::shrink(l, true);
    "softsign" [one("x")] |l| math::unary(l, "Softsign");
    "split" [one("x"), maybe("sections"), maybe("axis")] |l| complex::by_parts(l, layout::split);
    "split_with_num" [one("x"), maybe("axis")] |l| complex::by_parts(l, layout::split_with_num);
    "sqrt" [one("x")] |l| math::unary(l, "Sqrt");
    "square" [one("x")] activations::square;
    "squared_l2_norm" [one("x")] math::squared_norm;
    "squeeze" [one("x"), maybe("axis")] |l| complex::by_parts(l, layout::squeeze);
    "stack" [many("x")] |l| complex::by_parts(l, layout::stack);
    "stanh" [one("x")] activations::stanh;
    "strided_slice" [one("x"), maybe("starts"), maybe("ends"), maybe("strides")] |l| complex::by_parts(l, layout::strided_slice);
    "subtract" [one("x"), one("y")] |l| math::binary(l, "Sub");
    "sum" [one("x"), maybe("axis")] |l| complex::by_parts(l, |l| math::reduce(l, "ReduceSum"));
    "swiglu" [one("x"), maybe("y")] activations::swiglu;
    "swish" [one("x")] |l| activations::activation(l, "Swish", &[("beta", "alpha", 1.0)]);
    "sync_batch_norm" [one("x"), one("mean"), one("variance"), maybe("scale"), maybe("bias")] @[words::CHANNELS] normalization::batch_norm;
    "take_along_axis" [one("arr"), one("indices")] indexing::take_along_axis;
    "tan" [one("x")] |l| math::unary(l, "Tan");
    "tanh" [one("x")] |l| math::unary(l, "Tanh");
    "tanh_shrink" [one("x")] activations::tanh_shrink;
    "temporal_shift" [one("x")] @[words::CHANNELS] patches::temporal_shift;
    "thresholded_relu" [one("x")] activations::thresholded_relu;
    "tile" [one("x"), maybe("repeat_times")] |l| complex::by_parts(l, layout::tile);
    "topk" [one("x"), maybe("k")] ordering::topk;
    "trace" [one("x")] matrices::trace;
    "transpose" [one("x")] |l| complex::by_parts(l, layout::transpose);
    "tril" [one("x")] |l| layout::triangle(l, false);
    "tril_indices" [] |l| indexing::triangle_places(l, ["rows", "cols"], false);
    "tril_triu" [one("x")] |l| layout::triangle(l, false);
    "trilinear_interp" [one("x"), maybe("out_size"), rest("sizes_and_scale")] @[words::CHANNELS, words::INTERPOLATION] |l| images::resize(l, "linear");
    "triu" [one("x")] |l| layout::triangle(l, true);
    "triu_indices" [] |l| indexing::triangle_places(l, ["row", "col"], true);
    "trunc" [one("input")] math::trunc;
    "unbind" [one("input")] |l| complex::by_parts(l, layout::unbind);
    "unfold" [one("x")] patches::unfold;
    "unique" [one("x")] indexing::unique;
    "unique_consecutive" [one("x")] ordering::unique_consecutive;
    "unpool" [one("x"), one("indices"), maybe("output_size")] @[words::CHANNELS] windows::unpool;
    "unpool3d" [one("x"), one("indices"), maybe("output_size")] @[words::CHANNELS] windows::unpool;
    "unsqueeze" [one("x"), maybe("axis")] |l| complex::by_parts(l, layout::unsqueeze);
    "unstack" [one("x")] |l| complex::by_parts(l, layout::unbind);
    "viterbi_decode" [one("potentials"), one("transition_params"), one("lengths")] ordering::viterbi;
    "where" [one("condition"), one("x"), one("y")] layout::where_lower;
    "yolo_box" [one("x"), one("img_size")] detection::yolo_box;
}

/// A row of an operator that is lowered and whose results are drawn at random.
const fn drawn(signatures: &'static [Signature], lower: lowering::Lower) -> Row {
    paddle(Open, signatures).lowers(lower).random()
}

/// A row of a function of the elements of one tensor that ONNX does not have.
const fn function(signatures: &'static [Signature], compute: Compute) -> Row {
    paddle(Formula, signatures)
        .infer(elementwise::infer::alike)
        .computes(compute)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
}

/// A row of a Fourier transform along several axes.
const fn fourier(signatures: &'static [Signature]) -> Row {
    paddle(Order, signatures)
        .words(&[words::FOURIER])
        .infer(complex::fourier_rule)
        .computes(complex::fourier)
        .works(Work::Fourier)
        .lower(complex::fourier_graph)
}

/// A row of an operator of matrices that ONNX does not have.
const fn matrices(signatures: &'static [Signature], rule: Rule, compute: Compute) -> Row {
    paddle(Order, signatures).infer(rule).computes(compute).works(Work::Elimination { parts: 1 })
}

pub(super) const PADDLE: &[Row] = rows![
    fourier(signed!("fft_c2c", one("x"))),
    fourier(signed!("fft_c2r", one("x"))),
    fourier(signed!("fft_r2c", one("x"))),
    paddle(Moved, const { &[making_arrays("create_array", &[])] }).lowers(arrays::create),
    drawn(signed!("bernoulli", one("x")), |l| l.unary("Bernoulli")),
    matrices(signed!("cholesky", matrix("x")), matmul::infer::square, elimination::cholesky),
    matrices(
        signed!("cholesky_solve", matrix("x"), matrix("y")),
        elimination::factor_solution,
        elimination::solve_by_factor,
    ),
    function(signed!("digamma", one("x")), |_, cx| special::mapped(cx, special::digamma))
        .lower(graphs::digamma),
    matrices(signed!("eig", matrix("x")), eigen::eig_rule, eigen::eig),
    matrices(signed!("eigvals", matrix("x")), eigen::eig_rule, eigen::eig),
    matrices(signed!("eigh", matrix("x")), orthogonal::eigh_rule, orthogonal::eigh)
        .words(&[words::HALF_OF_EIGH]),
    matrices(signed!("eigvalsh", matrix("x")), orthogonal::eigh_rule, orthogonal::eigh)
        .words(&[words::HALF_OF_EIGVALSH]),
    function(signed!("erfinv", one("x")), |_, cx| special::mapped(cx, special::erf_inv))
        .lower(graphs::erf_inv),
    paddle(Formula, signed!("gammaincc", one("x"), one("y")))
        .infer(elementwise::infer::together)
        .computes(special::gamma_above)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .lower(graphs::gamma_above),
    function(signed!("gammaln", one("x")), |_, cx| special::mapped(cx, special::ln_gamma))
        .lower(graphs::ln_gamma),
    drawn(signed!("gaussian", maybe("shape")), random::gaussian),
    drawn(signed!("gumbel_softmax", one("x")), random::gumbel_softmax),
    matrices(
        signed!("lstsq", matrix("x"), matrix("y"), maybe("rcond")),
        orthogonal::least_squares_rule,
        orthogonal::least_squares,
    )
    .words(&[words::DRIVER]),
    matrices(signed!("lu", matrix("x")), elimination::lu_rule, elimination::lu),
    matrices(
        signed!("lu_unpack", matrix("x"), one("y")),
        elimination::unpack_lu_rule,
        elimination::unpack_lu,
    ),
    matrices(signed!("matrix_rank", matrix("x")), orthogonal::rank_rule, orthogonal::rank),
    drawn(signed!("multinomial", one("x"), maybe("num_samples")), random::multinomial),
    matrices(signed!("qr", matrix("x")), orthogonal::qr_rule, orthogonal::qr).words(&[words::QR]),
    drawn(signed!("randint", maybe("shape")), random::randint),
    drawn(signed!("randperm", maybe("n")), random::randperm),
    matrices(signed!("solve", matrix("x"), matrix("y")), elimination::solution, elimination::solve)
        .lower(eliminated::solution)
        .becomes(eliminated::WRITTEN, "rounding", |l| eliminated::rounded(l, eliminated::solution)),
    matrices(signed!("svd", matrix("x")), orthogonal::svd_rule, orthogonal::svd),
    matrices(signed!("svdvals", matrix("x")), orthogonal::svdvals_rule, orthogonal::svdvals),
    matrices(
        signed!("triangular_solve", matrix("x"), matrix("y")),
        elimination::solution,
        elimination::solve_triangle,
    ),
    drawn(signed!("uniform", maybe("shape"), maybe("min"), maybe("max")), random::uniform),
    paddle(Moved, signed!("assign_value")).lowers(create::assign_value).holds_values(),
    paddle(Open, sequences::ARANGE).sequence(Sequence::Range).lowers(create::arange).build(sequences::arange),
    paddle(Moved, const { &[making_arrays("if", const { &[one("cond")] })] })
        .works(Work::Graphs)
        .infer(control_flow::branches::onnx_if)
        .build(control_flow::eval::IfOp::build)
        .converts("If", "", convert::branch),
    matrices(signed!("inverse", matrix("x")), matmul::infer::square, elimination::inverse)
        .lower(eliminated::inverse)
        .becomes(eliminated::WRITTEN, "rounding", |l| eliminated::rounded(l, eliminated::inverse)),
    function(signed!("i0", one("x")), |_, cx| special::mapped(cx, |x| special::bessel(x, 0, false)))
        .lower(|l| graphs::bessel(l, 0, false)),
    function(signed!("i0e", one("x")), |_, cx| special::mapped(cx, |x| special::bessel(x, 0, true)))
        .lower(|l| graphs::bessel(l, 0, true)),
    function(signed!("i1", one("x")), |_, cx| special::mapped(cx, |x| special::bessel(x, 1, false)))
        .lower(|l| graphs::bessel(l, 1, false)),
    function(signed!("i1e", one("x")), |_, cx| special::mapped(cx, |x| special::bessel(x, 1, true)))
        .lower(|l| graphs::bessel(l, 1, true)),
    function(signed!("lgamma", one("x")), |_, cx| special::mapped(cx, special::ln_gamma))
        .lower(graphs::ln_gamma),
    paddle(Exact, signed!("nextafter", one("x"), one("y")))
        .infer(elementwise::infer::together)
        .computes(special::next_after)
        .works(Work::EachOutput(Each::arithmetic(1))),
    function(signed!("polygamma", one("x")), special::polygamma).lower(graphs::polygamma),
    paddle(Formula, sequences::LINSPACE)
        .sequence(Sequence::LinSpace)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(sequences::rule)
        .build(sequences::linspace)
        .becomes("a constant; of computed ends: Range, Mul, Add, Where", "rounding", |l| {
            spaces::space(l, None)
        }),
    paddle(Formula, sequences::LOGSPACE)
        .sequence(Sequence::LogSpace)
        .works(Work::EachOutput(Each::of(2, 0, 1)))
        .infer(sequences::rule)
        .build(sequences::logspace)
        .becomes("a constant; of computed ends: Range, Mul, Add, Where, Pow", "rounding", |l| {
            spaces::space(l, Some(3))
        }),
    paddle(Moved, signed!("while", maybe("most"), one("cond"), carried("inputs")))
        .works(Work::Graphs)
        .infer(control_flow::infer::repeat)
        .build(control_flow::loops::Loop::build)
        .converts("Loop", "", convert::repeat),
];
