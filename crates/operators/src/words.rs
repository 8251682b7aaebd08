//! The attributes that have one of a few texts: which texts each has, the default first.

use crate::elementwise::activations::{ACTIVATIONS, FUSED_ACTIVATIONS};
use crate::ml::trees::ensemble;
pub use gradus_engine::words::Words;

const fn new(attribute: &'static str, texts: &'static [&'static str]) -> Words {
    Words::new(attribute, texts)
}

// Attributes of ONNX.
pub const AGGREGATE: Words = new("aggregate_function", &ensemble::AGGREGATE_NAMES);
/// ONNX Runtime reads an empty text as `NOTSET`.
pub const AUTO_PAD: Words = new("auto_pad", &["NOTSET", "", "SAME_UPPER", "SAME_LOWER", "VALID"]);
pub const BLOCK_ORDER: Words = new("mode", &["DCR", "CRD"]);
pub const CACHE: Words = new("mode", &["linear", "circular"]);
pub const CASE_CHANGE: Words = new("case_change_action", &["NONE", "LOWER", "UPPER"]);
pub const CAST_TO: Words = new("cast_to", &["TO_FLOAT", "TO_INT64", "TO_STRING"]);
pub const CONVOLUTION_ACTIVATION: Words = new("activation", &["none", "silu", "swish"]);
pub const COORDINATES: Words = new(
    "coordinate_transformation_mode",
    &[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
        "tf_crop_and_resize",
    ],
);
pub const DIRECTION: Words = new("direction", &["forward", "reverse", "bidirectional"]).in_any_case();
pub const GATES: Words = new("activations", &ACTIVATIONS).in_any_case();
pub const GELU: Words = new("approximate", &["none", "tanh"]);
pub const GRAMS: Words = new("mode", &["TF", "IDF", "TFIDF"]);
pub const GRID_MODE: Words = new("mode", &["linear", "bilinear", "nearest", "cubic", "bicubic"]);
pub const GRID_PADDING: Words = new("padding_mode", &["zeros", "border", "reflection"]);
pub const KERNEL: Words = new("kernel_type", &["LINEAR", "POLY", "RBF", "SIGMOID"]);
pub const LOSS: Words = new("reduction", &["mean", "sum", "none"]);
pub const MAP_FORM: Words = new("map_form", &["DENSE", "SPARSE"]);
pub const MOMENTUM: Words = new("mode", &["standard", "nesterov"]);
pub const NEAREST: Words = new("nearest_mode", &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]);
pub const NORM: Words = new("norm", &["MAX", "L1", "L2"]);
pub const PAD_MODE: Words = new("mode", &["constant", "edge", "reflect", "wrap"]);
pub const PIXEL_FORMAT: Words = new("pixel_format", &["RGB", "BGR", "Grayscale"]);
pub const POST_TRANSFORM: Words =
    new("post_transform", &["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]);
pub const RATIO_POLICY: Words = new("keep_aspect_ratio_policy", &["stretch", "not_larger", "not_smaller"]);
pub const REGION_COORDINATES: Words =
    new("coordinate_transformation_mode", &["half_pixel", "output_half_pixel"]);
pub const REGION_MODE: Words = new("mode", &["avg", "max"]);
pub const RESIZE_MODE: Words = new("mode", &["nearest", "linear", "bilinear", "cubic"]);
pub const ROUND_MODE: Words = new("round_mode", &["up", "down", "nearest"]);
pub const SCATTER: Words = new("reduction", &["none", "add", "mul", "min", "max"]);
pub const SHIFT: Words = new("direction", &["LEFT", "RIGHT"]);
pub const TREE_MODES: Words = new("nodes_modes", &ensemble::MODE_NAMES);
pub const UPDATE_RULE: Words = new("update_rule", &["gated_delta", "linear", "gated", "delta"]);

// Attributes of ONNX Runtime.
pub const CROP_MODE: Words = new("mode", &["bilinear", "nearest"]);
pub const EXPERT_ACTIVATION: Words = new("activation_type", &["relu", "gelu", "silu", "swiglu", "identity"]);
pub const FUSED_ACTIVATION: Words = new("activation", &FUSED_ACTIVATIONS).in_any_case();
pub const GATE_ACTIVATION: Words = new("activation", &["silu", "swish", "sigmoid"]);
pub const K_QUANTIZED: Words = new("k_quant_type", &["NONE", "PER_TENSOR", "PER_CHANNEL"]);
pub const METRIC: Words = new("metric", &["sqeuclidean", "euclidean"]);
pub const RUNTIME_GRID_MODE: Words = new("mode", &["bilinear", "bicubic", "nearest"]);
pub const V_QUANTIZED: Words = new("v_quant_type", &["NONE", "PER_TENSOR", "PER_CHANNEL"]);

// Attributes of OpenVINO, which reads them in any case.
pub const BAG: Words = new("reduction", &["sum", "mean"]);
pub const BINARY: Words = new("mode", &["xnor-popcount"]);
pub const BOX_ENCODING: Words = new("box_encoding", &["corner", "center"]);
pub const BROADCAST: Words = new("auto_broadcast", &["numpy", "none", "explicit", "pdpd"]);
pub const BROADCAST_MODE: Words = new("mode", &["numpy", "explicit", "bidirectional", "pdpd"]);
pub const CODE_TYPE: Words =
    new("code_type", &["caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"]);
pub const DECAY: Words = new("decay_function", &["linear", "gaussian"]);
pub const DEFORMABLE: Words = new("mode", &["bilinear_deformable"]);
pub const DEPTH: Words = new("mode", &["blocks_first", "depth_first"]);
pub const EPS: Words = new("eps_mode", &["add", "max"]);
pub const EPS_ROOT: Words = new("eps_mode", &["outside_sqrt", "inside_sqrt"]);
pub const EXTREME: Words = new("mode", &["max", "min"]);
pub const FILL: Words = new("fill_mode", &["zero", "lowest"]);
pub const GATES_OF_CELL: Words = new("activations", &["", "relu", "sigmoid", "tanh"]).listed();
pub const GELU_MODE: Words = new("approximation_mode", &["erf", "tanh"]);
pub const HALF: Words = new("mode", &["half_to_even", "half_away_from_zero"]);
pub const INTERPOLATE_COORDINATES: Words = new(
    "coordinate_transformation_mode",
    &["half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"],
);
pub const INTERPOLATE_MODE: Words =
    new("mode", &["nearest", "linear", "linear_onnx", "cubic", "area", "bilinear_pillow", "bicubic_pillow"]);
pub const INTERPOLATE_NEAREST: Words =
    new("nearest_mode", &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]);
pub const NEGATIVES: Words = new("negative_indices_mode", &["ignore_negative", "normalize"]);
pub const PADS: Words = new("auto_pad", &["explicit", "notset", "same_upper", "same_lower", "valid"]);
pub const PAD_KIND: Words = new("pad_mode", &["constant", "edge", "reflect", "symmetric"]);
pub const PHILOX: Words = new("alignment", &["tensorflow", "pytorch"]);
pub const REGION_ALIGNED: Words = new("aligned_mode", &["asymmetric", "half_pixel_for_nn", "half_pixel"]);
pub const REGION_METHOD: Words = new("method", &["max", "bilinear"]);
pub const REGION_POOL: Words = new("mode", &["average", "bilinear"]);
pub const REVERSE: Words = new("mode", &["index", "mask"]);
pub const ROUNDING: Words = new("rounding_type", &["floor", "ceil", "ceil_torch"]);
pub const SCATTER_ELEMENTS: Words = new("reduction", &["none", "sum", "prod", "min", "max", "mean"]);
pub const SCATTER_ND: Words = new("reduction", &["none", "sum", "sub", "prod", "min", "max"]);
pub const SHAPE_BY: Words = new("shape_calculation_mode", &["sizes", "scales"]);
pub const SORT: Words = new("sort", &["value", "index", "none"]);
pub const SORT_BOXES: Words = new("sort_result_type", &["none", "classid", "class", "score"]);
pub const SORT_RESULT: Words = new("sort_result", SORT_BOXES.texts);
pub const WEIGHTS: Words = new("weights_format", &["fico", "icof", "ifco", "ifoc", "iofc"]);

// Attributes of Paddle.
pub const BOX_CODE: Words = new("code_type", &["encode_center_size", "decode_center_size"]);
/// Names of layouts, of which those that end with C have the channels last.
pub const CHANNELS: Words =
    new("data_format", &["NCHW", "NHWC", "NC", "NCL", "NLC", "NCW", "NWC", "NCDHW", "NDHWC", "AnyLayout"])
        .in_any_case();
pub const DIVERGENCE: Words = new("reduction", &["mean", "sum", "batchmean", "none"]);
pub const DROPOUT: Words = new("mode", &["downgrade_in_infer", "upscale_in_train"]);
pub const DRIVER: Words = new("driver", &["gelsy", "gels", "gelsd", "gelss"]);
pub const FOURIER: Words = new("normalization", &["backward", "", "ortho", "forward"]);
pub const HALF_OF_EIGH: Words = new("UPLO", &["L", "U"]);
pub const HALF_OF_EIGVALSH: Words = new("uplo", HALF_OF_EIGH.texts);
pub const INTERPOLATION: Words =
    new("interp_method", &["nearest", "linear", "bilinear", "trilinear", "bicubic"]);
pub const MIDDLE: Words = new("mode", &["avg", "min"]);
pub const NETWORK: Words = new("mode", &["RNN_TANH", "RNN_RELU", "LSTM", "GRU"]);
pub const PADDING: Words = new("mode", &["constant", "reflect", "replicate", "edge", "circular"]);
pub const PADDING_ALGORITHM: Words = new("padding_algorithm", &["EXPLICIT", "SAME", "VALID"]);
pub const QR: Words = new("mode", &["reduced", "complete", "r"]);
pub const POOLING: Words = new("pooling_type", &["max", "avg"]);
pub const PUT: Words = new("reduce", &["assign", "add", "mean", "mul", "multiply", "amax", "amin"]);
pub const SEGMENTS: Words = new("pooltype", &["SUM", "MEAN", "MAX", "MIN"]);
pub const SLOPES: Words = new("mode", &["all", "channel", "element"]);
