//! The operators of ONNX's own domain for neural networks.

use crate::allowed::{Allowed, Carries, Magnitudes};
use crate::numbers;
use crate::rounding::Rounding::{Chosen, Formula, Ieee, Interpolated, Moved, Open, Order, Quantized};
use crate::row::{Checked, Role, Row, ZeroSigns, onnx};
use crate::words;
use crate::work::{Attention, Each, OF_REGIONS, Work};
use crate::{
    attention, boxes, contrib, elementwise, generate, images, losses, normalization, quantization, recurrent,
    windows,
};

pub(super) const NETWORKS: &[Row] = rows![
    onnx("AffineGrid", Order)
        .allows(Allowed::Unknown)
        .works(Work::MatMul)
        .infer(images::infer::affine_grid)
        .computes(images::sampling::affine_grid)
        .lower(images::lowered::affine_grid),
    onnx("Attention", Formula)
        .zeros(ZeroSigns::OfAll)
        .works(Work::Attention(Attention::Onnx))
        .infer(attention::infer::attention)
        .computes(attention::eval::attention)
        .lower(attention::lowered::attention),
    onnx("AveragePool", Order)
        .auto_pads()
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Window(Each::arithmetic(1)))
        .infer(windows::infer::pool)
        .computes(windows::pools::average_pool)
        .converts("AvgPool", "rounding", windows::to_openvino::average_pool),
    onnx("BatchNormalization", Formula)
        .allows(Allowed::Sums(Magnitudes { subtracted: Some(3), kept: &[4], ..Magnitudes::steps(8) }))
        .idle(crate::idle::batch_normalization)
        .before(14, normalization::lowered::batch_normalization)
        .bias(2)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(normalization::infer::batch_norm)
        .computes(normalization::eval::batch)
        .converts(
            "BatchNormInference; in training: MVN, ReduceMean, Multiply, Add",
            "rounding",
            normalization::to_openvino::batch_normalization,
        ),
    onnx("CausalConvWithState", Order)
        .allows(Allowed::Unknown)
        .words(&[words::CONVOLUTION_ACTIVATION])
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(windows::infer::causal_conv)
        .computes(windows::convolutions::causal_conv),
    onnx("Col2Im", Order)
        .infer(windows::infer::col2im)
        .computes(windows::convolutions::col2im)
        .lower(windows::lowered::col2im),
    onnx("Conv", Order)
        .auto_pads()
        .weights(&[1])
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(windows::infer::conv_rule)
        .computes(windows::convolutions::conv)
        .converts("Convolution, GroupConvolution", "rounding", windows::to_openvino::conv),
    onnx("ConvInteger", Order)
        .auto_pads()
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(windows::infer::conv_rule)
        .computes(quantization::eval::conv_integer)
        .lower(contrib::quantized::lowered::conv_integer),
    onnx("ConvTranspose", Order)
        .auto_pads()
        .weights(&[1])
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::ConvTranspose { skip: 1 })
        .infer(windows::infer::conv_transpose)
        .computes(windows::convolutions::conv)
        .converts(
            "ConvolutionBackpropData, GroupConvolutionBackpropData",
            "rounding; output_shape of open sizes",
            windows::to_openvino::conv_transpose,
        ),
    onnx("DeformConv", Order)
        .allows(Allowed::Unknown)
        .numbers(&[numbers::WINDOW_PADS])
        .sampled_before(19, windows::deformable::deform_conv_lowered)
        .works(Work::DeformConv { weight: 1 })
        .infer(windows::infer::deform_conv)
        .computes(windows::deformable::deform_conv)
        .converts("DeformableConvolution", "rounding", windows::to_openvino::deform_conv),
    onnx("DequantizeLinear", Quantized)
        .role(Role::Dequantize)
        .numbers(&[numbers::BLOCKS])
        .idle(crate::idle::dequantize)
        .before(21, quantization::lowered::dequantize_linear)
        .axis(1)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(quantization::infer::dequantize)
        .computes(quantization::eval::dequantize)
        .converts("Convert, Subtract, Multiply", "", quantization::to_openvino::dequantize),
    onnx("Dropout", Moved)
        .scalars(&[1, 2])
        .idle(crate::idle::dropout)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::dropout)
        .eval(generate::random::dropout)
        .random_in_training()
        .converts("Convert to the same type", "", generate::to_openvino::dropout),
    onnx("DynamicQuantizeLinear", Formula)
        .role(Role::Quantize)
        .allows(Allowed::Code)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::of(1, 2, 0)))
        .infer(quantization::infer::dynamic_quantize_linear)
        .computes(quantization::eval::dynamic_quantize)
        .converts(
            "ReduceMin, ReduceMax, Select, Divide, Round, Clamp, Convert",
            "rounding",
            quantization::to_openvino::dynamic_quantize,
        ),
    onnx("GRU", Order).recurs(Gru, "GRUSequence"),
    onnx("GlobalAveragePool", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(windows::infer::global_average_pool)
        .computes(windows::pools::average_pool)
        .converts("ReduceMean", "rounding", |cx| windows::to_openvino::global_pool(cx, "ReduceMean")),
    onnx("GlobalLpPool", Order)
        .allows(Allowed::Sums(Magnitudes::steps(40)))
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(windows::infer::global_average_pool)
        .computes(windows::pools::lp_pool)
        .lower(windows::lowered::lp_pool),
    onnx("GlobalMaxPool", Chosen)
        .carries(Carries::Ends)
        .picks()
        .works(Work::EachInput(Each::COMPARISON))
        .infer(windows::infer::global_average_pool)
        .computes(windows::pools::max_pool)
        .converts("ReduceMax", "floats: NaN", |cx| windows::to_openvino::global_pool(cx, "ReduceMax")),
    onnx("GridSample", Formula)
        .allows(Allowed::Interpolated)
        .words(&[words::GRID_MODE, words::GRID_PADDING])
        .sampled_before(20, images::lowered::grid_sample)
        .works(Work::GridSample)
        .infer(images::infer::grid_sample)
        .computes(images::sampling::grid_sample)
        .converts(
            "GridSample; of volumes: Gather, Multiply, Add",
            "rounding; nearest: halfway; cubic at the border",
            images::to_openvino::grid_sample,
        ),
    onnx("GroupNormalization", Order)
        .allows(Allowed::Steps)
        .composed_before(21, normalization::lowered::group_normalization)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(normalization::infer::by_channel)
        .computes(normalization::eval::group)
        .converts("GroupNormalization", "rounding", normalization::to_openvino::group_normalization),
    onnx("Hardmax", Chosen)
        .before(13, |l| normalization::lowered::softmax(l, "Hardmax"))
        .axis(-1)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(normalization::infer::along)
        .eval(normalization::softmax::hardmax)
        .lower(normalization::lowered::hardmax),
    onnx("InstanceNormalization", Order)
        .allows(Allowed::Unknown)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(normalization::infer::by_channel)
        .computes(normalization::eval::group)
        .converts("MVN, Multiply, Add", "rounding", normalization::to_openvino::instance_normalization),
    onnx("LRN", Formula)
        .allows(Allowed::Sums(Magnitudes { divided: true, ..Magnitudes::steps(40) }))
        .zeros(ZeroSigns::OfFirst)
        .works(Work::LocalResponse)
        .infer(normalization::infer::lrn)
        .computes(normalization::eval::lrn)
        .converts("LRN, Multiply", "rounding", normalization::to_openvino::local_response),
    onnx("LSTM", Order).recurs(Lstm, "LSTMSequence"),
    onnx("LayerNormalization", Order)
        .allows(Allowed::Steps)
        .composed_before(17, normalization::lowered::layer_normalization)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .early_signatures_are(contrib::signatures::LAYER)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(normalization::infer::layer_norm)
        .computes(normalization::eval::layer)
        .converts("MVN, Multiply, Add", "rounding", normalization::to_openvino::layer_normalization),
    onnx("LinearAttention", Order)
        .allows(Allowed::Unknown)
        .words(&[words::UPDATE_RULE])
        .works(Work::LinearAttention)
        .infer(attention::infer::linear_attention)
        .computes(attention::eval::linear),
    onnx("LogSoftmax", Formula)
        .allows(Allowed::LogSoftmax)
        .before(13, |l| normalization::lowered::softmax(l, "LogSoftmax"))
        .zeros(ZeroSigns::OfFirst)
        .axis(-1)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(normalization::infer::along)
        .eval(normalization::softmax::log_softmax)
        .converts("LogSoftmax", "rounding", |cx| normalization::to_openvino::softmax(cx, "LogSoftmax")),
    onnx("LpNormalization", Order)
        .allows(Allowed::Sums(Magnitudes { divided: true, ..Magnitudes::steps(8) }))
        .numbers(&[numbers::NORM_ORDER])
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(normalization::infer::along)
        .computes(normalization::eval::lp)
        .lower(normalization::lowered::lp_normalization),
    onnx("LpPool", Order)
        .allows(Allowed::Sums(Magnitudes::steps(40)))
        .auto_pads()
        .works(Work::Window(Each::arithmetic(1)))
        .infer(windows::infer::pool)
        .computes(windows::pools::lp_pool)
        .lower(windows::lowered::lp_pool),
    onnx("MaxPool", Chosen)
        .carries(Carries::Ends)
        .auto_pads()
        .idle(crate::idle::max_pool)
        .works(Work::Window(Each::COMPARISON))
        .infer(windows::infer::pool)
        .computes(windows::pools::max_pool)
        .converts("MaxPool", "floats: NaN", windows::to_openvino::max_pool),
    onnx("MaxRoiPool", Chosen)
        .works(Work::Open(OF_REGIONS))
        .infer(boxes::infer::roi_pool)
        .computes(boxes::regions::max_roi_pool)
        .converts("ROIPooling", "floats: NaN", boxes::to_openvino::max_roi_pool),
    onnx("MaxUnpool", Open)
        .numbers(&[numbers::WINDOW_PADS])
        .works(Work::None)
        .infer(windows::infer::max_unpool)
        .computes(windows::pools::max_unpool),
    onnx("MeanVarianceNormalization", Order)
        .allows(Allowed::Unknown)
        .works(Work::EachInput(Each::arithmetic(5)))
        .infer(normalization::infer::mean_variance)
        .computes(normalization::eval::mean_variance)
        .converts("MVN", "rounding", normalization::to_openvino::mean_variance),
    onnx("NegativeLogLikelihoodLoss", Order)
        .allows(Allowed::Steps)
        .words(&[words::LOSS])
        .infer(losses::infer::loss)
        .computes(losses::eval::loss)
        .lower(losses::lowered::loss),
    onnx("PRelu", Ieee)
        .zeros(ZeroSigns::OfAll)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::p_relu)
        .computes(elementwise::activations::p_relu)
        .converts("PReLU; with other slopes: Less, Multiply, Select", "", elementwise::to_openvino::p_relu),
    onnx("QLinearConv", Order)
        .allows(Allowed::Code)
        .auto_pads()
        .works(Work::Conv { weight: 3, skip: 1 })
        .infer(windows::infer::q_linear_conv)
        .computes(quantization::eval::q_linear_conv)
        .lower(contrib::quantized::lowered::conv),
    onnx("QuantizeLinear", Quantized)
        .role(Role::Quantize)
        .numbers(&[numbers::BLOCKS])
        .idle(crate::idle::quantize)
        .before(21, quantization::lowered::quantize_linear)
        .axis(1)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(quantization::infer::quantize)
        .computes(quantization::eval::quantize)
        .converts("Divide, Round, Add, Clamp, Convert", "NaN", quantization::to_openvino::quantize),
    onnx("RMSNormalization", Order)
        .allows(Allowed::Steps)
        .composed_before(23, normalization::lowered::rms_normalization)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachInput(Each::arithmetic(4)))
        .infer(normalization::infer::scaled)
        .computes(normalization::eval::layer)
        .converts(
            "ReduceMean, Sqrt, Divide, Multiply",
            "rounding",
            normalization::to_openvino::rms_normalization,
        ),
    onnx("RNN", Order).recurs(Rnn, "RNNSequence"),
    onnx("Resize", Interpolated)
        .allows(Allowed::Interpolated)
        .sizes(&[3])
        .words(&[words::COORDINATES, words::RATIO_POLICY, words::RESIZE_MODE, words::NEAREST])
        .instead(images::lowered::resize_by_weights)
        .idle(crate::idle::resize)
        .checked(Checked::Nearest)
        .before(18, images::lowered::resize)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::Resize)
        .infer(images::infer::resize)
        .computes(images::resize::resize)
        .converts(
            "Interpolate; where it has no equivalent: Gather, Multiply, ReduceSum",
            "rounding",
            images::to_openvino::resize,
        ),
    onnx("RoiAlign", Formula)
        .allows(Allowed::Interpolated)
        .words(&[words::REGION_COORDINATES, words::REGION_MODE])
        .works(Work::RoiAlign)
        .infer(boxes::infer::roi_align)
        .computes(boxes::regions::roi_align)
        .converts(
            "ROIAlign",
            "rounding; half_pixel without sampling_ratio: no area",
            boxes::to_openvino::roi_align
        ),
    onnx("RotaryEmbedding", Formula)
        .numbers(&[numbers::HEADS])
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(attention::infer::rotary)
        .computes(attention::rotary::rotary)
        .lower(attention::lowered::rotary),
    onnx("Softmax", Formula)
        .allows(Allowed::Softmax)
        .before(13, |l| normalization::lowered::softmax(l, "Softmax"))
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .axis(-1)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(normalization::infer::along)
        .eval(normalization::softmax::softmax)
        .converts("SoftMax", "rounding", |cx| normalization::to_openvino::softmax(cx, "SoftMax")),
    onnx("SoftmaxCrossEntropyLoss", Formula)
        .words(&[words::LOSS])
        .infer(losses::infer::loss)
        .computes(losses::eval::loss)
        .lower(losses::lowered::loss),
    onnx("SwiGLU", Formula)
        .infer(elementwise::infer::swiglu)
        .computes(elementwise::activations::swiglu)
        .lower(elementwise::lowered::swiglu),
    onnx("TensorScatter", Moved)
        .words(&[words::CACHE])
        .works(Work::None)
        .infer(attention::infer::tensor_scatter)
        .computes(attention::eval::tensor_scatter),
    onnx("Upsample", Interpolated)
        .allows(Allowed::Interpolated)
        .words(&[words::RESIZE_MODE])
        .works(Work::Resize)
        .infer(images::infer::upsample)
        .computes(images::resize::resize)
        .lower(images::lowered::upsample),
];
