//! Inputs and attributes that several operators of old programs have.

use super::names::Argument::{self, List, Of};

pub(super) const X: &[Argument] = &[Of("X")];
pub(super) const XY: &[Argument] = &[Of("X"), Of("Y")];
pub(super) const LOWER_XY: &[Argument] = &[Of("x"), Of("y")];
pub(super) const SHIFTS: &[(&str, &str)] = &[("is_arithmetic", "is_arithmetic")];
pub(super) const STARTS: Argument = List("StartsTensorList", "StartsTensor", "starts", "starts");
pub(super) const ENDS: Argument = List("EndsTensorList", "EndsTensor", "ends", "ends");
pub(super) const STRIDES: Argument = List("StridesTensorList", "StridesTensor", "strides", "strides");
pub(super) const AXES: Argument = List("AxesTensorList", "AxesTensor", "axes", "axis");
pub(super) const SHAPE: Argument = List("ShapeTensor", "Shape", "shape", "shape");
pub(super) const SLICED: &[(&str, &str)] = &[("axes", "axes"), ("decrease_axis", "decrease_axis")];
pub(super) const REDUCED: &[(&str, &str)] =
    &[("dim", "axis"), ("keep_dim", "keepdim"), ("out_dtype", "dtype")];
pub(super) const BROADCAST: &[(&str, &str)] = &[("axis", "axis")];
pub(super) const DTYPE: &[(&str, &str)] = &[("dtype", "dtype")];

pub(super) const CONVOLVED: &[Argument] = &[Of("Input"), Of("Filter")];
pub(super) const WINDOWS: &[(&str, &str)] = &[
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("padding_algorithm", "padding_algorithm"),
    ("dilations", "dilations"),
    ("groups", "groups"),
    ("data_format", "data_format"),
    ("output_padding", "output_padding"),
    ("output_size", "output_size"),
];
pub(super) const POOLED: &[(&str, &str)] = &[
    ("ksize", "kernel_size"),
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("padding_algorithm", "padding_algorithm"),
    ("ceil_mode", "ceil_mode"),
    ("exclusive", "exclusive"),
    ("pooling_type", "pooling_type"),
    ("global_pooling", "global_pooling"),
    ("adaptive", "adaptive"),
    ("data_format", "data_format"),
    ("norm_type", "norm_type"),
];
pub(super) const NORMALIZED: &[Argument] = &[Of("X"), Of("Mean"), Of("Variance"), Of("Scale"), Of("Bias")];
pub(super) const SCALED: &[Argument] = &[Of("X"), Of("Scale"), Of("Bias")];
pub(super) const NORMS: &[(&str, &str)] = &[
    ("epsilon", "epsilon"),
    ("is_test", "is_test"),
    ("use_global_stats", "use_global_stats"),
    ("data_layout", "data_format"),
    ("begin_norm_axis", "begin_norm_axis"),
    ("groups", "groups"),
];
pub(super) const DROPPED: &[(&str, &str)] =
    &[("dropout_prob", "p"), ("is_test", "is_test"), ("dropout_implementation", "mode")];
pub(super) const SOUGHT: &[(&str, &str)] =
    &[("axis", "axis"), ("keepdims", "keepdims"), ("flatten", "flatten"), ("dtype", "dtype")];
pub(super) const SPECTRA: &[(&str, &str)] = &[
    ("axes", "axes"),
    ("normalization", "normalization"),
    ("forward", "forward"),
    ("onesided", "onesided"),
    ("last_dim_size", "last_dim_size"),
];
pub(super) const SUMMED: &[(&str, &str)] =
    &[("axis", "axis"), ("flatten", "flatten"), ("exclusive", "exclusive"), ("reverse", "reverse")];
pub(super) const QUANTIZED: &[Argument] =
    &[Of("X"), Of("Scale"), Of("ZeroPoint"), Of("InAccum"), Of("InState")];
pub(super) const CODED: &[(&str, &str)] = &[
    ("quant_axis", "quant_axis"),
    ("bit_length", "bit_length"),
    ("qmax", "qmax"),
    ("round_type", "round_type"),
    ("is_test", "is_test"),
    ("only_observer", "only_observer"),
];
pub(super) const CODES: &[&str] = &["Y", "OutState", "OutAccum", "OutScale"];
pub(super) const PLACES: &[(&str, &str)] = &[
    ("rows", "rows"),
    ("cols", "cols"),
    ("row", "row"),
    ("col", "col"),
    ("offset", "offset"),
    ("dtype", "dtype"),
];
pub(super) const RESIZED: &[Argument] = &[Of("X"), Of("OutSize"), Of("SizeTensor"), Of("Scale")];
pub(super) const SIZES: &[(&str, &str)] = &[
    ("scale", "scale"),
    ("out_d", "out_d"),
    ("out_h", "out_h"),
    ("out_w", "out_w"),
    ("align_corners", "align_corners"),
    ("align_mode", "align_mode"),
    ("data_layout", "data_format"),
];

pub(super) const PADDED: &[Argument] = &[Of("X"), List("", "Paddings", "paddings", "paddings")];
pub(super) const PADS: &[(&str, &str)] =
    &[("mode", "mode"), ("value", "pad_value"), ("pad_value", "pad_value"), ("data_format", "data_format")];
pub(super) const SET: &[Argument] = &[
    Of("Input"),
    Of("ValueTensor"),
    List("StartsTensorList", "", "starts", "starts"),
    List("EndsTensorList", "", "ends", "ends"),
    List("StepsTensorList", "", "steps", "steps"),
];
pub(super) const SORTED: &[&str] = &["Out", "Indices"];
pub(super) const DEFORMED: &[Argument] = &[Of("Input"), Of("Offset"), Of("Filter"), Of("Mask")];
pub(super) const DEFORMS: &[(&str, &str)] = &[
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("dilations", "dilations"),
    ("deformable_groups", "deformable_groups"),
    ("groups", "groups"),
];
pub(super) const DIAGONAL: &[(&str, &str)] = &[("offset", "offset"), ("axis1", "axis1"), ("axis2", "axis2")];
pub(super) const DIMS: &[(&str, &str)] = &[("offset", "offset"), ("dim1", "dim1"), ("dim2", "dim2")];
pub(super) const DRAWN: &[Argument] = &[List("ShapeTensorList", "ShapeTensor", "shape", "shape")];
pub(super) const FUSED: &[Argument] =
    &[Of("x"), Of("bias"), Of("residual"), Of("norm_weight"), Of("norm_bias")];
pub(super) const PATCHES: &[(&str, &str)] = &[
    ("output_sizes", "output_sizes"),
    ("kernel_sizes", "kernel_sizes"),
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("dilations", "dilations"),
];
pub(super) const POOLED_BOXES: &[Argument] = &[Of("X"), Of("ROIs"), Of("RoisNum")];
pub(super) const POOLS_BOXES: &[(&str, &str)] = &[
    ("pooled_height", "pooled_height"),
    ("pooled_width", "pooled_width"),
    ("spatial_scale", "spatial_scale"),
    ("sampling_ratio", "sampling_ratio"),
    ("aligned", "aligned"),
];
pub(super) const POOLS_CHANNELS: &[(&str, &str)] = &[
    ("pooled_height", "pooled_height"),
    ("pooled_width", "pooled_width"),
    ("output_channels", "output_channels"),
    ("spatial_scale", "spatial_scale"),
];
pub(super) const DECIDED: &[Argument] =
    &[Of("X"), Of("Label"), Of("W"), Of("Bias"), Of("PathTable"), Of("PathCode")];
pub(super) const CLASSES: &[(&str, &str)] = &[("num_classes", "num_classes")];
pub(super) const TAGGED: &[Argument] = &[Of("Input"), Of("Transition"), Of("Length")];
pub(super) const TAGS: &[(&str, &str)] = &[("include_bos_eos_tag", "include_bos_eos_tag")];
pub(super) const LOWER_X: &[Argument] = &[Of("x")];
pub(super) const FRACTIONS: &[(&str, &str)] =
    &[("output_size", "output_size"), ("kernel_size", "kernel_size"), ("random_u", "random_u")];
pub(super) const SUPPRESSED: &[Argument] = &[Of("BBoxes"), Of("Scores"), Of("RoisNum")];
pub(super) const SUPPRESSES: &[(&str, &str)] = &[
    ("score_threshold", "score_threshold"),
    ("nms_top_k", "nms_top_k"),
    ("keep_top_k", "keep_top_k"),
    ("nms_threshold", "nms_threshold"),
    ("nms_eta", "nms_eta"),
    ("normalized", "normalized"),
    ("background_label", "background_label"),
];
pub(super) const UNPACKED: &[(&str, &str)] =
    &[("unpack_ludata", "unpack_ludata"), ("unpack_pivots", "unpack_pivots")];
pub(super) const RANKED: &[(&str, &str)] =
    &[("tol", "tol"), ("use_default_tol", "use_default_tol"), ("hermitian", "hermitian")];
