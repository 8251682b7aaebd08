//! The operators of ONNX's own domain for neural networks.

use super::super::rounding::Rounding::{Chosen, Formula, Ieee, Interpolated, Moved, Open, Order, Quantized};
use super::super::row::{Row, ZeroSigns, onnx};
use super::super::{contrib, elementwise, nn};
use crate::work::{Attention, Each, OF_REGIONS, Work};

pub(super) const NETWORKS: &[Row] = &[
    onnx("AffineGrid", Order)
        .works(Work::MatMul)
        .infer(nn::conv_pool::affine_grid)
        .computes(nn::sampling::affine_grid)
        .lower(nn::decomposed::affine_grid),
    onnx("Attention", Formula)
        .zeros(ZeroSigns::OfAll)
        .works(Work::Attention(Attention::Onnx))
        .infer(nn::infer::attention)
        .computes(nn::attention::eval)
        .lower(nn::decomposed::attention),
    onnx("AveragePool", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Window(Each::arithmetic(1)))
        .infer(nn::conv_pool::pool)
        .computes(nn::pools::average_pool)
        .converts("AvgPool", "rounding", nn::windows_to_openvino::average_pool),
    onnx("BatchNormalization", Formula)
        .before(14, nn::older::batch_normalization)
        .bias(2)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(nn::infer::batch_norm)
        .computes(nn::normalization::batch)
        .converts(
            "BatchNormInference; in training: MVN, ReduceMean, Multiply, Add",
            "rounding",
            nn::windows_to_openvino::batch_normalization,
        ),
    onnx("CausalConvWithState", Order)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(nn::conv_pool::causal_conv)
        .computes(nn::attention::causal_conv),
    onnx("Col2Im", Order)
        .infer(nn::conv_pool::col2im)
        .computes(nn::windows::col2im)
        .lower(nn::decomposed::col2im),
    onnx("Conv", Order)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(nn::conv_pool::conv_rule)
        .computes(nn::windows::conv)
        .converts("Convolution, GroupConvolution", "rounding", nn::windows_to_openvino::conv),
    onnx("ConvInteger", Order)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(nn::conv_pool::conv_rule)
        .computes(nn::quantization::conv_integer)
        .lower(contrib::quantized::conv_integer),
    onnx("ConvTranspose", Order)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::ConvTranspose { skip: 1 })
        .infer(nn::conv_pool::conv_transpose)
        .computes(nn::windows::conv)
        .converts(
            "ConvolutionBackpropData, GroupConvolutionBackpropData",
            "rounding",
            nn::windows_to_openvino::conv_transpose,
        ),
    onnx("DeformConv", Order)
        .sampled_before(19, nn::sampled::deform_conv)
        .works(Work::DeformConv { weight: 1 })
        .infer(nn::conv_pool::deform_conv)
        .computes(nn::sampling::deform_conv)
        .converts("DeformableConvolution", "rounding", nn::windows_to_openvino::deform_conv),
    onnx("DequantizeLinear", Quantized)
        .before(21, nn::older::dequantize_linear)
        .axis(1)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(nn::infer::dequantize)
        .computes(nn::quantization::dequantize)
        .converts("Convert, Subtract, Multiply", "", nn::quantization_to_openvino::dequantize),
    onnx("Dropout", Moved)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(nn::infer::dropout)
        .eval(nn::eval::dropout)
        .random_in_training()
        .converts("Convert to the same type", "", nn::sampling_to_openvino::dropout),
    onnx("DynamicQuantizeLinear", Formula)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::of(1, 2, 0)))
        .infer(nn::infer::dynamic_quantize_linear)
        .computes(nn::quantization::dynamic_quantize)
        .converts(
            "ReduceMin, ReduceMax, Divide, Round, Clamp, Convert",
            "rounding",
            nn::quantization_to_openvino::dynamic_quantize,
        ),
    onnx("GRU", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Recurrent { weight: 1 })
        .infer(nn::infer::recurrent)
        .computes(nn::recurrent::eval)
        .converts("GRUSequence", "rounding", |cx| {
            nn::recurrent_to_openvino::recurrent(cx, nn::recurrent_to_openvino::Network::Gru)
        }),
    onnx("GlobalAveragePool", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(nn::conv_pool::global_average_pool)
        .computes(nn::pools::average_pool)
        .converts("ReduceMean", "rounding", |cx| nn::windows_to_openvino::global_pool(cx, "ReduceMean")),
    onnx("GlobalLpPool", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(nn::conv_pool::global_average_pool)
        .computes(nn::pools::lp_pool)
        .lower(nn::decomposed::lp_pool),
    onnx("GlobalMaxPool", Chosen)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .works(Work::EachInput(Each::COMPARISON))
        .infer(nn::conv_pool::global_average_pool)
        .computes(nn::pools::max_pool)
        .converts("ReduceMax", "floats: NaN", |cx| nn::windows_to_openvino::global_pool(cx, "ReduceMax")),
    onnx("GridSample", Formula)
        .sampled_before(20, nn::sampled::grid_sample)
        .works(Work::GridSample)
        .infer(nn::conv_pool::grid_sample)
        .computes(nn::sampling::grid_sample)
        .converts(
            "GridSample; of volumes: Gather, Multiply, Add",
            "rounding; nearest: halfway",
            nn::sampling_to_openvino::grid_sample,
        ),
    onnx("GroupNormalization", Order)
        .composed_before(21, nn::older::group_normalization)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(nn::infer::by_channel)
        .computes(nn::normalization::group)
        .converts("GroupNormalization", "rounding", nn::to_openvino::group_normalization),
    onnx("InstanceNormalization", Order)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(nn::infer::by_channel)
        .computes(nn::normalization::group)
        .converts("MVN, Multiply, Add", "rounding", nn::windows_to_openvino::instance_normalization),
    onnx("LRN", Formula)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::LocalResponse)
        .infer(nn::infer::lrn)
        .computes(nn::normalization::lrn)
        .converts("LRN, Multiply", "rounding", nn::sampling_to_openvino::local_response),
    onnx("LSTM", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Recurrent { weight: 1 })
        .infer(nn::infer::recurrent)
        .computes(nn::recurrent::eval)
        .converts("LSTMSequence", "rounding", |cx| {
            nn::recurrent_to_openvino::recurrent(cx, nn::recurrent_to_openvino::Network::Lstm)
        }),
    onnx("LayerNormalization", Order)
        .composed_before(17, nn::older::layer_normalization)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .early_signatures_are(contrib::signatures::LAYER)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(nn::infer::layer_norm)
        .computes(nn::normalization::layer)
        .converts("MVN, Multiply, Add", "rounding", nn::to_openvino::layer_normalization),
    onnx("LinearAttention", Order)
        .works(Work::LinearAttention)
        .infer(nn::infer::linear_attention)
        .computes(nn::attention::linear),
    onnx("LpNormalization", Order)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(nn::infer::along)
        .computes(nn::normalization::lp)
        .lower(nn::decomposed::lp_normalization),
    onnx("LpPool", Order)
        .works(Work::Window(Each::arithmetic(1)))
        .infer(nn::conv_pool::pool)
        .computes(nn::pools::lp_pool)
        .lower(nn::decomposed::lp_pool),
    onnx("MaxPool", Chosen)
        .works(Work::Window(Each::COMPARISON))
        .infer(nn::conv_pool::pool)
        .computes(nn::pools::max_pool)
        .converts("MaxPool", "floats: NaN", nn::windows_to_openvino::max_pool),
    onnx("MaxRoiPool", Chosen)
        .works(Work::Open(OF_REGIONS))
        .infer(nn::conv_pool::roi_pool)
        .computes(nn::sampling::max_roi_pool)
        .converts("ROIPooling", "floats: NaN", nn::sampling_to_openvino::max_roi_pool),
    onnx("MaxUnpool", Open)
        .works(Work::None)
        .infer(nn::conv_pool::max_unpool)
        .computes(nn::windows::max_unpool),
    onnx("MeanVarianceNormalization", Order)
        .works(Work::EachInput(Each::arithmetic(5)))
        .infer(nn::infer::mean_variance)
        .computes(nn::normalization::mean_variance)
        .converts("MVN", "rounding", nn::sampling_to_openvino::mean_variance),
    onnx("NegativeLogLikelihoodLoss", Order)
        .infer(nn::infer::loss)
        .computes(nn::loss::eval)
        .lower(nn::decomposed::loss),
    onnx("PRelu", Ieee)
        .zeros(ZeroSigns::OfAll)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(nn::infer::p_relu)
        .computes(elementwise::activations::p_relu)
        .converts("PReLU; with other slopes: Less, Multiply, Select", "", elementwise::to_openvino::p_relu),
    onnx("QLinearConv", Order)
        .works(Work::Conv { weight: 3, skip: 1 })
        .infer(nn::conv_pool::q_linear_conv)
        .computes(nn::quantization::q_linear_conv)
        .lower(contrib::quantized::conv),
    onnx("QuantizeLinear", Quantized)
        .before(21, nn::older::quantize_linear)
        .axis(1)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(nn::infer::quantize)
        .computes(nn::quantization::quantize)
        .converts("Divide, Round, Add, Clamp, Convert", "NaN", nn::quantization_to_openvino::quantize),
    onnx("RMSNormalization", Order)
        .composed_before(23, nn::older::rms_normalization)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachInput(Each::arithmetic(4)))
        .infer(nn::infer::scaled)
        .computes(nn::normalization::layer)
        .converts("ReduceMean, Sqrt, Divide, Multiply", "rounding", nn::to_openvino::rms_normalization),
    onnx("RNN", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Recurrent { weight: 1 })
        .infer(nn::infer::recurrent)
        .computes(nn::recurrent::eval)
        .converts("RNNSequence", "rounding", |cx| {
            nn::recurrent_to_openvino::recurrent(cx, nn::recurrent_to_openvino::Network::Rnn)
        }),
    onnx("Resize", Interpolated)
        .before(18, nn::older::resize)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Resize)
        .infer(nn::resize::resize)
        .computes(nn::resize_eval::resize)
        .converts(
            "Interpolate; where it has no equivalent: Gather, Multiply, ReduceSum",
            "rounding",
            nn::windows_to_openvino::resize,
        ),
    onnx("RoiAlign", Formula)
        .works(Work::RoiAlign)
        .infer(nn::conv_pool::roi_align)
        .computes(nn::sampling::roi_align)
        .converts("ROIAlign", "rounding", nn::sampling_to_openvino::roi_align),
    onnx("RotaryEmbedding", Formula)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(nn::infer::rotary)
        .computes(nn::attention::rotary)
        .lower(nn::decomposed::rotary),
    onnx("SoftmaxCrossEntropyLoss", Formula)
        .infer(nn::infer::loss)
        .computes(nn::loss::eval)
        .lower(nn::decomposed::loss),
    onnx("SwiGLU", Formula)
        .infer(nn::infer::swiglu)
        .computes(nn::attention::swiglu)
        .lower(nn::decomposed::swiglu),
    onnx("TensorScatter", Moved)
        .works(Work::None)
        .infer(nn::infer::tensor_scatter)
        .computes(nn::attention::tensor_scatter),
    onnx("Upsample", Interpolated)
        .works(Work::Resize)
        .infer(nn::resize::upsample)
        .computes(nn::resize_eval::resize)
        .lower(nn::decomposed::upsample),
];
