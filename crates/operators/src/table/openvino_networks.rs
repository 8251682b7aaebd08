//! The operators of OpenVINO that networks are made of.

use super::super::rounding::Rounding::{Chosen, Formula, Interpolated, Lowered, Moved, Open, Order};
use super::super::row::{Row, openvino};
use super::super::{elementwise, indexing, nn, reduction};
use crate::dialects::openvino::{
    detection, features, images, priors, samples, sequences, signal, suppression,
};
use crate::work::{Attention, Each, Work};

pub(super) const OPENVINO_NETWORKS: &[Row] = &[
    openvino("AdaptiveAvgPool", Order)
        .works(Work::AdaptivePool(Each::arithmetic(1)))
        .infer(nn::openvino::adaptive_pool)
        .lowers(images::adaptive_average),
    openvino("AdaptiveMaxPool", Chosen)
        .works(Work::AdaptivePool(Each::COMPARISON))
        .infer(nn::openvino::adaptive_pool)
        .lowers(images::adaptive_maximum),
    openvino("AvgPool", Order).works(Work::Window(Each::arithmetic(1))).infer(nn::openvino::pool).becomes(
        "AveragePool",
        "rounding",
        nn::windows_to_onnx::average_pool,
    ),
    openvino("BatchNormInference", Formula)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(nn::openvino::batch_norm)
        .becomes("BatchNormalization", "rounding", nn::to_onnx::batch_normalization),
    openvino("BinaryConvolution", Order)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(nn::openvino::convolution_rule)
        .computes(nn::windows::binary_conv)
        .becomes(
            "Greater, Where, Conv",
            "pads that are no integers: rounding",
            nn::windows_to_onnx::binary_conv,
        ),
    openvino("CTCGreedyDecoder", Lowered)
        .infer(nn::ctc::by_mask)
        .computes(nn::ctc::decode_masked)
        .lower(sequences::greedy_by_mask),
    openvino("CTCGreedyDecoderSeqLen", Lowered)
        .infer(nn::ctc::by_length)
        .computes(nn::ctc::decode)
        .lower(sequences::greedy_by_length),
    openvino("CTCLoss", Formula)
        .infer(nn::loss::of_sequences)
        .computes(nn::loss::ctc)
        .lower(sequences::ctc_loss),
    openvino("Col2Im", Order).infer(nn::conv_pool::col2im_of_any_rank).becomes(
        "Col2Im",
        "floats: rounding",
        nn::windows_to_onnx::col2im,
    ),
    openvino("Convolution", Order)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(nn::openvino::convolution_rule)
        .becomes("Conv", "rounding", |l| nn::windows_to_onnx::conv(l, false)),
    openvino("ConvolutionBackpropData", Order)
        .works(Work::ConvTranspose { skip: 1 })
        .infer(nn::openvino::convolution_backprop_data)
        .becomes("ConvTranspose, Slice", "rounding", |l| nn::windows_to_onnx::conv_transpose(l, false)),
    openvino("DeformableConvolution", Order)
        .works(Work::DeformConv { weight: 2 })
        .infer(nn::openvino::deformable)
        .becomes("DeformConv", "rounding", nn::windows_to_onnx::deformable_convolution),
    openvino("DeformablePSROIPooling", Lowered).lowers(samples::deformable_psroi),
    openvino("DepthToSpace", Moved).infer(indexing::openvino::blocks).becomes(
        "DepthToSpace, Reshape, Transpose",
        "",
        |l| nn::windows_to_onnx::blocks(l, "DepthToSpace"),
    ),
    openvino("DetectionOutput", Lowered).lowers(detection::detection_output),
    openvino("ExperimentalDetectronDetectionOutput", Lowered).lowers(detection::detectron_output),
    openvino("ExperimentalDetectronGenerateProposalsSingleImage", Lowered)
        .lowers(detection::proposals_of_image),
    openvino("ExperimentalDetectronPriorGridGenerator", Lowered).lowers(priors::prior_grid),
    openvino("ExperimentalDetectronROIFeatureExtractor", Lowered).lowers(features::pyramid),
    openvino("ExperimentalDetectronTopKROIs", Lowered).lowers(detection::top_boxes),
    openvino("ExtractImagePatches", Moved).infer(nn::openvino::image_patches).becomes(
        "Shape, Slice, Sub, Mod, Max, Div, Concat, Pad",
        "",
        nn::windows_to_onnx::image_patches,
    ),
    openvino("FakeQuantize", Formula)
        .works(Work::EachInput(Each::of(1, 1, 0)))
        .infer(elementwise::openvino::bitwise_and)
        .becomes("Min, Max, Round, Mul, Add", "rounding", nn::windows_to_onnx::fake_quantize),
    openvino("GRN", Order)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(elementwise::infer::same)
        .becomes("Mul, ReduceSum, Sqrt, Div", "rounding", nn::to_onnx::global_response),
    openvino("GRUCell", Order).works(Work::Recurrent { weight: 2 }).infer(nn::openvino::lstm_cell).becomes(
        "GRU",
        "rounding",
        |l| nn::recurrent_to_onnx::cell(l, nn::recurrent_to_openvino::Network::Gru),
    ),
    openvino("GRUSequence", Order)
        .works(Work::Recurrent { weight: 3 })
        .infer(nn::openvino::sequence)
        .becomes("GRU", "rounding", |l| {
            nn::recurrent_to_onnx::sequence(l, nn::recurrent_to_openvino::Network::Gru)
        }),
    openvino("GenerateProposals", Lowered).lowers(detection::generate_proposals),
    openvino("GridSample", Formula).works(Work::GridSample).infer(nn::conv_pool::grid_sample).becomes(
        "GridSample",
        "rounding; nearest: halfway",
        nn::sampling_to_onnx::grid_sample,
    ),
    openvino("GroupConvolution", Order)
        .works(Work::Conv { weight: 1, skip: 2 })
        .infer(nn::openvino::group_convolution)
        .becomes("Reshape, Conv", "rounding", |l| nn::windows_to_onnx::conv(l, true)),
    openvino("GroupConvolutionBackpropData", Order)
        .works(Work::ConvTranspose { skip: 2 })
        .infer(nn::openvino::group_convolution_backprop_data)
        .becomes("Reshape, ConvTranspose, Slice", "rounding", |l| {
            nn::windows_to_onnx::conv_transpose(l, true)
        }),
    openvino("GroupNormalization", Order)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(elementwise::infer::same)
        .becomes("GroupNormalization", "rounding", nn::to_onnx::group_normalization),
    openvino("I420toBGR", Lowered).lowers(images::i420_to_bgr),
    openvino("I420toRGB", Lowered).lowers(images::i420_to_rgb),
    openvino("ISTFT", Lowered).lowers(signal::inverse_stft),
    openvino("Interpolate", Interpolated).works(Work::Resize).infer(nn::openvino::interpolate).becomes(
        "Resize, Pad, Gather, Mul, ReduceSum",
        "rounding",
        nn::resize_to_onnx::interpolate,
    ),
    openvino("LRN", Formula).works(Work::LocalResponse).infer(elementwise::infer::same).becomes(
        "LRN",
        "rounding",
        nn::to_onnx::local_response,
    ),
    openvino("LSTMCell", Order).works(Work::Recurrent { weight: 3 }).infer(nn::openvino::lstm_cell).becomes(
        "LSTM",
        "rounding",
        |l| nn::recurrent_to_onnx::cell(l, nn::recurrent_to_openvino::Network::Lstm),
    ),
    openvino("LSTMSequence", Order)
        .works(Work::Recurrent { weight: 4 })
        .infer(nn::openvino::sequence)
        .becomes("LSTM", "rounding", |l| {
            nn::recurrent_to_onnx::sequence(l, nn::recurrent_to_openvino::Network::Lstm)
        }),
    openvino("LogSoftmax", Formula)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::same)
        .becomes("LogSoftmax", "rounding", |l| nn::to_onnx::softmax(l, "LogSoftmax")),
    openvino("MVN", Order)
        .works(Work::EachInput(Each::arithmetic(5)))
        .infer(elementwise::infer::same)
        .becomes("ReduceMean, Sub, Mul, Add, Sqrt, Div", "rounding", nn::to_onnx::mean_variance),
    openvino("MatrixNms", Lowered).lowers(detection::matrix_nms),
    openvino("MaxPool", Chosen).works(Work::Window(Each::COMPARISON)).infer(nn::openvino::pool).becomes(
        "MaxPool, Pad, Mod",
        "floats: NaN",
        nn::windows_to_onnx::max_pool,
    ),
    openvino("MulticlassNms", Lowered).lowers(detection::multiclass_nms),
    openvino("NMSRotated", Lowered)
        .works(Work::NonMaxSuppression)
        .infer(nn::rotated::rule)
        .computes(nn::rotated::suppressed)
        .lower(suppression::of_turned),
    openvino("NV12toBGR", Lowered).lowers(images::nv12_to_bgr),
    openvino("NV12toRGB", Lowered).lowers(images::nv12_to_rgb),
    openvino("NonMaxSuppression", Chosen)
        .works(Work::NonMaxSuppression)
        .infer(reduction::openvino::non_max_suppression)
        .computes(nn::suppression::of_upright)
        .lower(suppression::of_upright)
        .becomes(
            "NonMaxSuppression; with soft_nms_sigma: Loop",
            "boxes of equal scores, or that overlap by the threshold; with soft_nms_sigma: rounding",
            nn::sampling_to_onnx::non_max_suppression,
        ),
    openvino("NormalizeL2", Order)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(elementwise::infer::same)
        .becomes("Mul, ReduceSum, Sqrt, Div", "rounding", nn::to_onnx::normalize_l2),
    openvino("PSROIPooling", Lowered).lowers(features::psroi_pooling),
    openvino("PriorBox", Lowered).lowers(priors::prior_box),
    openvino("PriorBoxClustered", Lowered).lowers(priors::prior_box_clustered),
    openvino("Proposal", Lowered).lowers(detection::proposal),
    openvino("RNNCell", Order).works(Work::Recurrent { weight: 2 }).infer(nn::openvino::lstm_cell).becomes(
        "RNN",
        "rounding",
        |l| nn::recurrent_to_onnx::cell(l, nn::recurrent_to_openvino::Network::Rnn),
    ),
    openvino("RNNSequence", Order)
        .works(Work::Recurrent { weight: 3 })
        .infer(nn::openvino::sequence)
        .becomes("RNN", "rounding", |l| {
            nn::recurrent_to_onnx::sequence(l, nn::recurrent_to_openvino::Network::Rnn)
        }),
    openvino("ROIAlign", Formula).works(Work::RoiAlign).infer(nn::openvino::roi).becomes(
        "RoiAlign",
        "rounding",
        nn::sampling_to_onnx::roi_align,
    ),
    openvino("ROIAlignRotated", Lowered)
        .works(Work::RoiAlign)
        .infer(nn::openvino::roi)
        .lowers(samples::rotated_align),
    openvino("ROIPooling", Formula).works(Work::RoiPooling).infer(nn::openvino::roi).becomes(
        "MaxRoiPool; bilinear: Gather, GridSample, Where",
        "max: floats: NaN; bilinear: rounding",
        nn::sampling_to_onnx::roi_pooling,
    ),
    openvino("ReadValue", Open)
        .works(Work::None)
        .infer(nn::openvino::read_value)
        .eval(nn::openvino::read_value_eval)
        .stateful(),
    openvino("RegionYolo", Lowered).lowers(images::region_yolo),
    openvino("ReorgYolo", Moved).lowers(images::reorg_yolo),
    openvino("ScaledDotProductAttention", Formula)
        .works(Work::Attention(Attention::Separate))
        .infer(nn::openvino::attention)
        .becomes("MatMul, Softmax, MatMul", "rounding", nn::windows_to_onnx::attention),
    openvino("SoftMax", Formula)
        .same_as("Softmax")
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::same)
        .becomes("Softmax", "rounding", |l| nn::to_onnx::softmax(l, "Softmax")),
    openvino("SpaceToDepth", Moved).infer(indexing::openvino::blocks).becomes(
        "SpaceToDepth, Reshape, Transpose",
        "",
        |l| nn::windows_to_onnx::blocks(l, "SpaceToDepth"),
    ),
];
