//! The operators of OpenVINO that networks are made of.

use crate::allowed::{Allowed, Carries};
use crate::boxes::{detection_output, features, multiclass, priors, proposals, samples};
use crate::images::{colors, yolo};
use crate::rounding::Rounding::{Chosen, Formula, Interpolated, Lowered, Moved, Open, Order};
use crate::row::{Role, Row, openvino};
use crate::words;
use crate::work::{Attention, Each, Work};
use crate::{
    attention, boxes, control_flow, elementwise, images, layout, losses, normalization, numbers,
    quantization, recurrent, signal, windows,
};

pub(super) const OPENVINO_NETWORKS: &[Row] = rows![
    openvino("AdaptiveAvgPool", Order)
        .works(Work::AdaptivePool(Each::arithmetic(1)))
        .infer(windows::openvino::adaptive_pool)
        .lowers(windows::lowered::adaptive_average),
    openvino("AdaptiveMaxPool", Chosen)
        .carries(Carries::Ends)
        .works(Work::AdaptivePool(Each::COMPARISON))
        .infer(windows::openvino::adaptive_pool)
        .lowers(windows::lowered::adaptive_maximum),
    openvino("AvgPool", Order)
        .pads(words::ROUNDING)
        .works(Work::Window(Each::arithmetic(1)))
        .infer(windows::openvino::pool)
        .becomes("AveragePool", "rounding", windows::to_onnx::average_pool),
    openvino("BatchNormInference", Formula)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(normalization::openvino::batch_norm)
        .becomes("BatchNormalization", "rounding", normalization::to_onnx::batch_normalization),
    openvino("BinaryConvolution", Order)
        .allows(Allowed::Unknown)
        .pads(words::BINARY)
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(|cx| windows::openvino::convolution(cx, 1, 0))
        .computes(windows::convolutions::binary_conv)
        .becomes(
            "Greater, Where, Conv",
            "pads that are no integers: rounding",
            windows::to_onnx::binary_conv,
        ),
    openvino("CTCGreedyDecoder", Lowered)
        .infer(losses::infer::by_mask)
        .computes(losses::ctc::decode_masked)
        .lower(losses::ctc_lowered::greedy_by_mask),
    openvino("CTCGreedyDecoderSeqLen", Lowered)
        .infer(losses::infer::by_length)
        .computes(losses::ctc::decode)
        .lower(losses::ctc_lowered::greedy_by_length),
    openvino("CTCLoss", Formula)
        .infer(losses::infer::of_sequences)
        .computes(losses::ctc::ctc)
        .lower(losses::ctc_lowered::ctc_loss),
    openvino("Col2Im", Order).infer(windows::infer::col2im_of_any_rank).becomes(
        "Col2Im",
        "floats: rounding",
        windows::to_onnx::col2im,
    ),
    openvino("Convolution", Order)
        .pads()
        .weights(&[1])
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(|cx| windows::openvino::convolution(cx, 1, 0))
        .becomes("Conv", "rounding", |l| windows::to_onnx::conv(l, false)),
    openvino("ConvolutionBackpropData", Order)
        .pads()
        .weights(&[1])
        .works(Work::ConvTranspose { skip: 1 })
        .infer(|cx| windows::openvino::transposed(cx, 0))
        .becomes("ConvTranspose, Slice", "rounding", |l| windows::to_onnx::conv_transpose(l, false)),
    openvino("DeformableConvolution", Order)
        .allows(Allowed::Unknown)
        .pads()
        .works(Work::DeformConv { weight: 2 })
        .infer(|cx| windows::openvino::convolution(cx, 2, 0))
        .becomes("DeformConv", "rounding", windows::to_onnx::deformable_convolution),
    openvino("DeformablePSROIPooling", Lowered).words(&[words::DEFORMABLE]).lowers(samples::deformable_psroi),
    openvino("DepthToSpace", Moved).words(&[words::DEPTH]).infer(layout::openvino::blocks).becomes(
        "DepthToSpace, Reshape, Transpose",
        "",
        |l| layout::to_onnx::blocks(l, "DepthToSpace"),
    ),
    openvino("DetectionOutput", Lowered)
        .words(&[words::CODE_TYPE])
        .lowers(detection_output::detection_output),
    openvino("ExperimentalDetectronDetectionOutput", Lowered).lowers(proposals::detectron_output),
    openvino("ExperimentalDetectronGenerateProposalsSingleImage", Lowered)
        .lowers(proposals::proposals_of_image),
    openvino("ExperimentalDetectronPriorGridGenerator", Lowered).lowers(priors::prior_grid),
    openvino("ExperimentalDetectronROIFeatureExtractor", Lowered).lowers(features::pyramid),
    openvino("ExperimentalDetectronTopKROIs", Lowered).lowers(proposals::top_boxes),
    openvino("ExtractImagePatches", Moved)
        .words(&[words::PADS])
        .infer(windows::openvino::image_patches)
        .becomes("Shape, Slice, Sub, Mod, Max, Div, Concat, Pad", "", windows::to_onnx::image_patches),
    openvino("FakeQuantize", Formula)
        .role(Role::Quantize)
        .words(&[words::BROADCAST])
        .works(Work::EachInput(Each::of(1, 1, 0)))
        .infer(elementwise::infer::broadcast)
        .becomes("Min, Max, Round, Mul, Add", "rounding", quantization::to_onnx::fake_quantize),
    openvino("GRN", Order)
        .allows(Allowed::Unknown)
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(elementwise::infer::same)
        .becomes("Mul, ReduceSum, Sqrt, Div", "rounding", normalization::to_onnx::global_response),
    openvino("GRUCell", Order)
        .allows(Allowed::Unknown)
        .words(&[words::GATES_OF_CELL])
        .works(Work::Recurrent { weight: 2 })
        .infer(recurrent::openvino::lstm_cell)
        .becomes("GRU", "rounding", |l| recurrent::to_onnx::cell(l, recurrent::to_openvino::Network::Gru)),
    openvino("GRUSequence", Order)
        .allows(Allowed::Unknown)
        .words(&[words::DIRECTION, words::GATES_OF_CELL])
        .works(Work::Recurrent { weight: 3 })
        .infer(recurrent::openvino::sequence)
        .becomes("GRU", "rounding", |l| {
            recurrent::to_onnx::sequence(l, recurrent::to_openvino::Network::Gru)
        }),
    openvino("GenerateProposals", Lowered).lowers(proposals::generate_proposals),
    openvino("GridSample", Formula)
        .words(&[words::RUNTIME_GRID_MODE, words::GRID_PADDING])
        .works(Work::GridSample)
        .infer(images::infer::grid_sample)
        .becomes(
            "GridSample",
            "rounding; nearest: halfway; cubic at the border",
            images::to_onnx::grid_sample
        ),
    openvino("GroupConvolution", Order)
        .pads()
        .weights(&[1])
        .works(Work::Conv { weight: 1, skip: 2 })
        .infer(|cx| windows::openvino::convolution(cx, 1, 1))
        .becomes("Reshape, Conv", "rounding", |l| windows::to_onnx::conv(l, true)),
    openvino("GroupConvolutionBackpropData", Order)
        .pads()
        .weights(&[1])
        .works(Work::ConvTranspose { skip: 2 })
        .infer(|cx| windows::openvino::transposed(cx, 1))
        .becomes("Reshape, ConvTranspose, Slice", "rounding", |l| windows::to_onnx::conv_transpose(l, true)),
    openvino("GroupNormalization", Order)
        .allows(Allowed::Unknown)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(elementwise::infer::same)
        .becomes("GroupNormalization", "rounding", normalization::to_onnx::group_normalization),
    openvino("I420toBGR", Lowered).lowers(|l| colors::colors(l, true, [2, 1, 0])),
    openvino("I420toRGB", Lowered).lowers(|l| colors::colors(l, true, [0, 1, 2])),
    openvino("ISTFT", Lowered).lowers(signal::lowered::inverse_stft),
    openvino("Interpolate", Interpolated)
        .words(&[
            words::INTERPOLATE_COORDINATES,
            words::INTERPOLATE_MODE,
            words::INTERPOLATE_NEAREST,
            words::SHAPE_BY,
        ])
        .works(Work::Resize)
        .infer(images::openvino::interpolate)
        .becomes("Resize, Pad, Gather, Mul, ReduceSum", "rounding", images::to_onnx::interpolate),
    openvino("LRN", Formula).works(Work::LocalResponse).infer(elementwise::infer::same).becomes(
        "LRN",
        "rounding",
        normalization::to_onnx::local_response,
    ),
    openvino("LSTMCell", Order)
        .allows(Allowed::Unknown)
        .words(&[words::GATES_OF_CELL, words::WEIGHTS])
        .works(Work::Recurrent { weight: 3 })
        .infer(recurrent::openvino::lstm_cell)
        .becomes("LSTM", "rounding", |l| recurrent::to_onnx::cell(l, recurrent::to_openvino::Network::Lstm)),
    openvino("LSTMSequence", Order)
        .allows(Allowed::Unknown)
        .words(&[words::DIRECTION, words::GATES_OF_CELL])
        .works(Work::Recurrent { weight: 4 })
        .infer(recurrent::openvino::sequence)
        .becomes("LSTM", "rounding", |l| {
            recurrent::to_onnx::sequence(l, recurrent::to_openvino::Network::Lstm)
        }),
    openvino("LogSoftmax", Formula)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::same)
        .becomes("LogSoftmax", "rounding", |l| normalization::to_onnx::softmax(l, "LogSoftmax")),
    openvino("MVN", Order)
        .allows(Allowed::Unknown)
        .words(&[words::EPS_ROOT])
        .works(Work::EachInput(Each::arithmetic(5)))
        .infer(elementwise::infer::same)
        .becomes("ReduceMean, Sub, Mul, Add, Sqrt, Div", "rounding", normalization::to_onnx::mean_variance),
    openvino("MatrixNms", Lowered)
        .words(&[words::DECAY, words::SORT_BOXES, words::SORT_RESULT])
        .lowers(multiclass::matrix_nms),
    openvino("MaxPool", Chosen)
        .carries(Carries::Ends)
        .pads(words::ROUNDING)
        .works(Work::Window(Each::COMPARISON))
        .infer(windows::openvino::pool)
        .becomes("MaxPool, Pad, Mod", "floats: NaN", windows::to_onnx::max_pool),
    openvino("MulticlassNms", Lowered)
        .words(&[words::SORT_BOXES, words::SORT_RESULT])
        .lowers(multiclass::multiclass_nms),
    openvino("NMSRotated", Lowered)
        .works(Work::NonMaxSuppression)
        .infer(boxes::openvino::rotated)
        .computes(boxes::rotated::suppressed)
        .lower(boxes::lowered::of_turned),
    openvino("NV12toBGR", Lowered).lowers(|l| colors::colors(l, false, [2, 1, 0])),
    openvino("NV12toRGB", Lowered).lowers(|l| colors::colors(l, false, [0, 1, 2])),
    openvino("NonMaxSuppression", Chosen)
        .words(&[words::BOX_ENCODING])
        .works(Work::NonMaxSuppression)
        .infer(boxes::openvino::non_max_suppression)
        .computes(boxes::suppression::of_upright)
        .lower(boxes::lowered::of_upright)
        .becomes(
            "NonMaxSuppression; with soft_nms_sigma: Loop",
            "boxes of equal scores, or that overlap by the threshold; with soft_nms_sigma: rounding",
            boxes::to_onnx::non_max_suppression,
        ),
    openvino("NormalizeL2", Order)
        .allows(Allowed::Unknown)
        .words(&[words::EPS])
        .works(Work::EachInput(Each::arithmetic(3)))
        .infer(elementwise::infer::same)
        .becomes("Mul, ReduceSum, Sqrt, Div", "rounding", normalization::to_onnx::normalize_l2),
    openvino("PSROIPooling", Lowered).words(&[words::REGION_POOL]).lowers(features::psroi_pooling),
    openvino("PriorBox", Lowered).lowers(priors::prior_box),
    openvino("PriorBoxClustered", Lowered).lowers(priors::prior_box_clustered),
    openvino("Proposal", Lowered).lowers(proposals::proposal),
    openvino("RNNCell", Order)
        .allows(Allowed::Unknown)
        .words(&[words::GATES_OF_CELL])
        .works(Work::Recurrent { weight: 2 })
        .infer(recurrent::openvino::lstm_cell)
        .becomes("RNN", "rounding", |l| recurrent::to_onnx::cell(l, recurrent::to_openvino::Network::Rnn)),
    openvino("RNNSequence", Order)
        .allows(Allowed::Unknown)
        .words(&[words::DIRECTION, words::GATES_OF_CELL])
        .works(Work::Recurrent { weight: 3 })
        .infer(recurrent::openvino::sequence)
        .becomes("RNN", "rounding", |l| {
            recurrent::to_onnx::sequence(l, recurrent::to_openvino::Network::Rnn)
        }),
    openvino("ROIAlign", Formula)
        .words(&[words::REGION_ALIGNED, words::REGION_MODE])
        .works(Work::RoiAlign)
        .infer(boxes::openvino::roi)
        .becomes("RoiAlign", "rounding", boxes::to_onnx::roi_align),
    openvino("ROIAlignRotated", Lowered)
        .works(Work::RoiAlign)
        .infer(boxes::openvino::roi)
        .lowers(samples::rotated_align),
    openvino("ROIPooling", Formula)
        .words(&[words::REGION_METHOD])
        .works(Work::RoiPooling)
        .infer(boxes::openvino::roi)
        .becomes(
            "MaxRoiPool; bilinear: Gather, GridSample, Where",
            "max: floats: NaN; bilinear: rounding",
            boxes::to_onnx::roi_pooling,
        ),
    openvino("ReadValue", Open)
        .works(Work::None)
        .infer(control_flow::variables::read_value)
        .eval(control_flow::variables::read_value_eval)
        .stateful(),
    openvino("RegionYolo", Lowered).lowers(yolo::region_yolo),
    openvino("ReorgYolo", Moved).lowers(yolo::reorg_yolo),
    openvino("ScaledDotProductAttention", Formula)
        .works(Work::Attention(Attention::Separate))
        .infer(attention::openvino::attention)
        .becomes("MatMul, Softmax, MatMul", "rounding", attention::to_onnx::attention),
    openvino("SoftMax", Formula)
        .same_as("Softmax")
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::same)
        .becomes("Softmax", "rounding", |l| normalization::to_onnx::softmax(l, "Softmax")),
    openvino("SpaceToDepth", Moved).words(&[words::DEPTH]).infer(layout::openvino::blocks).becomes(
        "SpaceToDepth, Reshape, Transpose",
        "",
        |l| layout::to_onnx::blocks(l, "SpaceToDepth"),
    ),
];
