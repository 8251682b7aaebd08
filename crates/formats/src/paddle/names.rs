//! Operators of old programs under the names that PIR gives them.
//!
//! Inputs and outputs of old operators have names, of which each may stand for several values;
//! where PIR has a list of integers, an old operator has an attribute, one tensor, or a tensor for
//! each.

/// An input of the operator of PIR.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// The meaning of the input of that name.
    Of(&'static str),
    /// Tensors of one element each, or a tensor of all, or else the attribute: under the last name,
    /// in PIR.
    List(&'static str, &'static str, &'static str, &'static str),
}

/// How an old operator is named in PIR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed {
    pub(super) old: &'static str,
    pub(super) new: &'static str,
    pub(super) inputs: &'static [Argument],
    /// Slots of the outputs, in PIR's order.
    pub(super) outputs: &'static [&'static str],
    /// Attributes: the old name and the new one.
    pub(super) attributes: &'static [(&'static str, &'static str)],
    /// Inputs that must be empty for the meaning to be PIR's.
    pub(super) without: &'static [&'static str],
}

use Argument::{List, Of};

const fn row(
    old: &'static str,
    new: &'static str,
    inputs: &'static [Argument],
    attributes: &'static [(&'static str, &'static str)],
) -> Renamed {
    Renamed { old, new, inputs, outputs: &["Out"], attributes, without: &[] }
}

const fn without(row: Renamed, without: &'static [&'static str]) -> Renamed {
    Renamed { without, ..row }
}

const fn gives(row: Renamed, outputs: &'static [&'static str]) -> Renamed {
    Renamed { outputs, ..row }
}

const X: &[Argument] = &[Of("X")];
const XY: &[Argument] = &[Of("X"), Of("Y")];
const STARTS: Argument = List("StartsTensorList", "StartsTensor", "starts", "starts");
const ENDS: Argument = List("EndsTensorList", "EndsTensor", "ends", "ends");
const STRIDES: Argument = List("StridesTensorList", "StridesTensor", "strides", "strides");
const AXES: Argument = List("AxesTensorList", "AxesTensor", "axes", "axis");
const SHAPE: Argument = List("ShapeTensor", "Shape", "shape", "shape");
const SLICED: &[(&str, &str)] = &[("axes", "axes"), ("decrease_axis", "decrease_axis")];
const REDUCED: &[(&str, &str)] = &[("dim", "axis"), ("keep_dim", "keepdim"), ("out_dtype", "dtype")];
const BROADCAST: &[(&str, &str)] = &[("axis", "axis")];
const DTYPE: &[(&str, &str)] = &[("dtype", "dtype")];

const CONVOLVED: &[Argument] = &[Of("Input"), Of("Filter")];
const WINDOWS: &[(&str, &str)] = &[
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("padding_algorithm", "padding_algorithm"),
    ("dilations", "dilations"),
    ("groups", "groups"),
    ("data_format", "data_format"),
    ("output_padding", "output_padding"),
    ("output_size", "output_size"),
];
const POOLED: &[(&str, &str)] = &[
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
const NORMALIZED: &[Argument] = &[Of("X"), Of("Mean"), Of("Variance"), Of("Scale"), Of("Bias")];
const SCALED: &[Argument] = &[Of("X"), Of("Scale"), Of("Bias")];
const NORMS: &[(&str, &str)] = &[
    ("epsilon", "epsilon"),
    ("is_test", "is_test"),
    ("use_global_stats", "use_global_stats"),
    ("data_layout", "data_format"),
    ("begin_norm_axis", "begin_norm_axis"),
    ("groups", "groups"),
];
const DROPPED: &[(&str, &str)] =
    &[("dropout_prob", "p"), ("is_test", "is_test"), ("dropout_implementation", "mode")];
const SOUGHT: &[(&str, &str)] =
    &[("axis", "axis"), ("keepdims", "keepdims"), ("flatten", "flatten"), ("dtype", "dtype")];
const SUMMED: &[(&str, &str)] =
    &[("axis", "axis"), ("flatten", "flatten"), ("exclusive", "exclusive"), ("reverse", "reverse")];
const QUANTIZED: &[Argument] = &[Of("X"), Of("Scale"), Of("ZeroPoint"), Of("InAccum"), Of("InState")];
const CODED: &[(&str, &str)] = &[
    ("quant_axis", "quant_axis"),
    ("bit_length", "bit_length"),
    ("qmax", "qmax"),
    ("round_type", "round_type"),
    ("is_test", "is_test"),
    ("only_observer", "only_observer"),
];
const CODES: &[&str] = &["Y", "OutState", "OutAccum", "OutScale"];
const PLACES: &[(&str, &str)] = &[
    ("rows", "rows"),
    ("cols", "cols"),
    ("row", "row"),
    ("col", "col"),
    ("offset", "offset"),
    ("dtype", "dtype"),
];
const RESIZED: &[Argument] = &[Of("X"), Of("OutSize"), Of("SizeTensor"), Of("Scale")];
const SIZES: &[(&str, &str)] = &[
    ("scale", "scale"),
    ("out_d", "out_d"),
    ("out_h", "out_h"),
    ("out_w", "out_w"),
    ("align_corners", "align_corners"),
    ("align_mode", "align_mode"),
    ("data_layout", "data_format"),
];

const PADDED: &[Argument] = &[Of("X"), List("", "Paddings", "paddings", "paddings")];
const PADS: &[(&str, &str)] =
    &[("mode", "mode"), ("value", "pad_value"), ("pad_value", "pad_value"), ("data_format", "data_format")];
const SET: &[Argument] = &[
    Of("Input"),
    Of("ValueTensor"),
    List("StartsTensorList", "", "starts", "starts"),
    List("EndsTensorList", "", "ends", "ends"),
    List("StepsTensorList", "", "steps", "steps"),
];
const SORTED: &[&str] = &["Out", "Indices"];
const DEFORMED: &[Argument] = &[Of("Input"), Of("Offset"), Of("Filter"), Of("Mask")];
const DEFORMS: &[(&str, &str)] = &[
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("dilations", "dilations"),
    ("deformable_groups", "deformable_groups"),
    ("groups", "groups"),
];
const DIAGONAL: &[(&str, &str)] = &[("offset", "offset"), ("axis1", "axis1"), ("axis2", "axis2")];
const DRAWN: &[Argument] = &[List("ShapeTensorList", "ShapeTensor", "shape", "shape")];
const FUSED: &[Argument] = &[Of("x"), Of("bias"), Of("residual"), Of("norm_weight"), Of("norm_bias")];
const PATCHES: &[(&str, &str)] = &[
    ("output_sizes", "output_sizes"),
    ("kernel_sizes", "kernel_sizes"),
    ("strides", "strides"),
    ("paddings", "paddings"),
    ("dilations", "dilations"),
];
const POOLED_BOXES: &[Argument] = &[Of("X"), Of("ROIs"), Of("RoisNum")];
const POOLS_BOXES: &[(&str, &str)] = &[
    ("pooled_height", "pooled_height"),
    ("pooled_width", "pooled_width"),
    ("spatial_scale", "spatial_scale"),
    ("sampling_ratio", "sampling_ratio"),
    ("aligned", "aligned"),
];
const SUPPRESSED: &[Argument] = &[Of("BBoxes"), Of("Scores"), Of("RoisNum")];
const SUPPRESSES: &[(&str, &str)] = &[
    ("score_threshold", "score_threshold"),
    ("nms_top_k", "nms_top_k"),
    ("keep_top_k", "keep_top_k"),
    ("nms_threshold", "nms_threshold"),
    ("nms_eta", "nms_eta"),
    ("normalized", "normalized"),
    ("background_label", "background_label"),
];

/// All that are renamed. What is not here keeps its name, its inputs in order, and its attributes.
pub(super) const TABLE: &[Renamed] = &[
    row("elementwise_add", "add", XY, BROADCAST),
    row("elementwise_sub", "subtract", XY, BROADCAST),
    row("elementwise_mul", "multiply", XY, BROADCAST),
    row("elementwise_div", "divide", XY, BROADCAST),
    row("elementwise_floordiv", "floor_divide", XY, BROADCAST),
    row("elementwise_mod", "remainder", XY, BROADCAST),
    row("elementwise_min", "minimum", XY, BROADCAST),
    row("elementwise_max", "maximum", XY, BROADCAST),
    row("elementwise_pow", "elementwise_pow", XY, BROADCAST),
    row("equal", "equal", XY, &[]),
    row("not_equal", "not_equal", XY, &[]),
    row("less_than", "less_than", XY, &[]),
    row("less_equal", "less_equal", XY, &[]),
    row("greater_than", "greater_than", XY, &[]),
    row("greater_equal", "greater_equal", XY, &[]),
    row("logical_and", "logical_and", XY, &[]),
    row("logical_or", "logical_or", XY, &[]),
    row("logical_xor", "logical_xor", XY, &[]),
    row("logical_not", "logical_not", X, &[]),
    row("range", "arange", &[Of("Start"), Of("End"), Of("Step")], DTYPE),
    row("linspace", "linspace", &[Of("Start"), Of("Stop"), Of("Num")], DTYPE),
    row("logspace", "logspace", &[Of("Start"), Of("Stop"), Of("Num"), Of("Base")], DTYPE),
    row("shape", "shape", &[Of("Input")], &[]),
    row("size", "numel", &[Of("Input")], &[]),
    row("cast", "cast", X, &[("out_dtype", "dtype")]),
    row("assign", "assign", X, &[]),
    row("assign_value", "assign_value", &[], &[("shape", "shape"), ("dtype", "dtype"), ("values", "values")]),
    row(
        "fill_constant_batch_size_like",
        "full_batch_size_like",
        &[Of("Input")],
        &[
            ("shape", "shape"),
            ("value", "value"),
            ("dtype", "dtype"),
            ("input_dim_idx", "input_dim_idx"),
            ("output_dim_idx", "output_dim_idx"),
        ],
    ),
    row("fill_any_like", "full_like", X, &[("value", "value"), ("dtype", "dtype")]),
    row(
        "scale",
        "scale",
        &[Of("X"), Of("ScaleTensor")],
        &[("scale", "scale"), ("bias", "bias"), ("bias_after_scale", "bias_after_scale")],
    ),
    row("increment", "increment", X, &[("step", "value")]),
    without(row("concat", "concat", X, &[("axis", "axis")]), &["AxisTensor"]),
    gives(row("stack", "stack", X, &[("axis", "axis")]), &["Y"]),
    without(
        row("split", "split", X, &[("sections", "sections"), ("num", "num"), ("axis", "axis")]),
        &["AxisTensor", "SectionsTensorList"],
    ),
    row("unbind", "unbind", X, &[("axis", "axis")]),
    row("slice", "slice", &[Of("Input"), STARTS, ENDS], SLICED),
    row("strided_slice", "strided_slice", &[Of("Input"), STARTS, ENDS, STRIDES], SLICED),
    row("reshape2", "reshape", &[Of("X"), SHAPE], &[]),
    row(
        "flatten_contiguous_range",
        "flatten",
        X,
        &[("start_axis", "start_axis"), ("stop_axis", "stop_axis")],
    ),
    row("squeeze2", "squeeze", &[Of("X"), AXES], &[]),
    row("unsqueeze2", "unsqueeze", &[Of("X"), AXES], &[]),
    row("expand_v2", "expand", &[Of("X"), List("expand_shapes_tensor", "Shape", "shape", "shape")], &[]),
    row("expand_as_v2", "expand_as", XY, &[("target_shape", "target_shape")]),
    row(
        "tile",
        "tile",
        &[Of("X"), List("repeat_times_tensor", "RepeatTimes", "repeat_times", "repeat_times")],
        &[],
    ),
    without(row("gather", "gather", &[Of("X"), Of("Index")], &[("axis", "axis")]), &["Axis"]),
    row("gather_nd", "gather_nd", &[Of("X"), Of("Index")], &[]),
    row("index_select", "index_select", &[Of("X"), Of("Index")], &[("dim", "axis")]),
    row("transpose2", "transpose", X, &[("axis", "perm")]),
    row("where", "where", &[Of("Condition"), Of("X"), Of("Y")], &[]),
    row("matmul_v2", "matmul", XY, &[("trans_x", "transpose_x"), ("trans_y", "transpose_y")]),
    row("softmax", "softmax", X, &[("axis", "axis")]),
    row("reduce_sum", "sum", X, REDUCED),
    row("reduce_mean", "mean", X, REDUCED),
    row("reduce_max", "max", X, REDUCED),
    row("reduce_min", "min", X, REDUCED),
    row("reduce_prod", "prod", X, REDUCED),
    row("abs", "abs", X, &[]),
    row("ceil", "ceil", X, &[]),
    row("cos", "cos", X, &[]),
    row("erf", "erf", X, &[]),
    row("exp", "exp", X, &[]),
    row("floor", "floor", X, &[]),
    row("log", "log", X, &[]),
    row("relu", "relu", X, &[]),
    row("sigmoid", "sigmoid", X, &[]),
    row("sign", "sign", X, &[]),
    row("sin", "sin", X, &[]),
    row("sqrt", "sqrt", X, &[]),
    row("tanh", "tanh", X, &[]),
    gives(row("conv2d", "conv2d", CONVOLVED, WINDOWS), &["Output"]),
    gives(row("depthwise_conv2d", "depthwise_conv2d", CONVOLVED, WINDOWS), &["Output"]),
    gives(row("conv2d_transpose", "conv2d_transpose", CONVOLVED, WINDOWS), &["Output"]),
    row("lp_pool2d", "lp_pool2d", X, POOLED),
    row("pool2d", "pool2d", X, POOLED),
    gives(row("batch_norm", "batch_norm", NORMALIZED, NORMS), &["Y"]),
    gives(row("sync_batch_norm", "sync_batch_norm", NORMALIZED, NORMS), &["Y"]),
    gives(row("layer_norm", "layer_norm", SCALED, NORMS), &["Y"]),
    gives(row("group_norm", "group_norm", SCALED, NORMS), &["Y"]),
    row("lookup_table_v2", "embedding", &[Of("Ids"), Of("W")], &[("padding_idx", "padding_idx")]),
    row("dropout", "dropout", X, DROPPED),
    row("gelu", "gelu", X, &[("approximate", "approximate")]),
    row("relu6", "relu6", X, &[]),
    row("silu", "silu", X, &[]),
    row("swish", "swish", X, &[("beta", "beta")]),
    row("mish", "mish", X, &[]),
    row("elu", "elu", X, &[("alpha", "alpha")]),
    row(
        "hard_swish",
        "hardswish",
        X,
        &[("threshold", "threshold"), ("scale", "scale"), ("offset", "offset")],
    ),
    row("hard_sigmoid", "hardsigmoid", X, &[("slope", "slope"), ("offset", "offset")]),
    row("leaky_relu", "leaky_relu", X, &[("alpha", "negative_slope")]),
    row("log_softmax", "log_softmax", X, &[("axis", "axis")]),
    row("pow", "pow", &[Of("X"), Of("FactorTensor")], &[("factor", "y")]),
    row("clip", "clip", &[Of("X"), Of("Min"), Of("Max")], &[("min", "min"), ("max", "max")]),
    row("square", "square", X, &[]),
    row("rsqrt", "rsqrt", X, &[]),
    row("reciprocal", "reciprocal", X, &[]),
    row("round", "round", X, &[]),
    row("arg_max", "argmax", X, SOUGHT),
    row("arg_min", "argmin", X, SOUGHT),
    row("cumsum", "cumsum", X, SUMMED),
    row("flip", "flip", X, &[("axis", "axis")]),
    row("where_index", "nonzero", &[Of("Condition")], &[]),
    gives(
        row("take_along_axis", "take_along_axis", &[Of("Input"), Of("Index")], &[("Axis", "axis")]),
        &["Result"],
    ),
    row("linear_interp_v2", "linear_interp", RESIZED, SIZES),
    row("trilinear_interp_v2", "trilinear_interp", RESIZED, SIZES),
    row("bicubic_interp_v2", "bicubic_interp", RESIZED, SIZES),
    row("nearest_interp_v2", "nearest_interp", RESIZED, SIZES),
    row("bilinear_interp_v2", "bilinear_interp", RESIZED, SIZES),
    row("add_n", "add_n", X, &[]),
    row("sum", "add_n", X, &[]),
    row("mean", "mean", X, &[]),
    row(
        "matmul",
        "matmul",
        XY,
        &[("transpose_X", "transpose_x"), ("transpose_Y", "transpose_y"), ("alpha", "alpha")],
    ),
    row("elementwise_fmax", "fmax", XY, BROADCAST),
    row("elementwise_fmin", "fmin", XY, BROADCAST),
    row("elementwise_heaviside", "heaviside", XY, BROADCAST),
    row("bitwise_and", "bitwise_and", XY, &[]),
    row("bitwise_or", "bitwise_or", XY, &[]),
    row("bitwise_xor", "bitwise_xor", XY, &[]),
    row("bitwise_not", "bitwise_not", X, &[]),
    row("isnan_v2", "isnan", X, &[]),
    row("isinf_v2", "isinf", X, &[]),
    row("isfinite_v2", "isfinite", X, &[]),
    row("reduce_all", "all", X, REDUCED),
    row("reduce_any", "any", X, REDUCED),
    row("reduce_amax", "amax", X, REDUCED),
    row("reduce_amin", "amin", X, REDUCED),
    row("frobenius_norm", "frobenius_norm", X, REDUCED),
    row("logsumexp", "logsumexp", X, &[("axis", "axis"), ("keepdim", "keepdim")]),
    row(
        "p_norm",
        "p_norm",
        X,
        &[("porder", "porder"), ("axis", "axis"), ("keepdim", "keepdim"), ("asvector", "asvector")],
    ),
    row("acos", "acos", X, &[]),
    row("acosh", "acosh", X, &[]),
    row("asin", "asin", X, &[]),
    row("asinh", "asinh", X, &[]),
    row("atan", "atan", X, &[]),
    row("atanh", "atanh", X, &[]),
    row("cosh", "cosh", X, &[]),
    row("expm1", "expm1", X, &[]),
    row("log10", "log10", X, &[]),
    row("log1p", "log1p", X, &[]),
    row("log2", "log2", X, &[]),
    row("logsigmoid", "logsigmoid", X, &[]),
    row("sinh", "sinh", X, &[]),
    row("softsign", "softsign", X, &[]),
    row("tan", "tan", X, &[]),
    row("tanh_shrink", "tanh_shrink", X, &[]),
    row("trunc", "trunc", X, &[]),
    row("brelu", "hardtanh", X, &[("t_min", "t_min"), ("t_max", "t_max")]),
    row("celu", "celu", X, &[("alpha", "alpha")]),
    row("hard_shrink", "hardshrink", X, &[("threshold", "threshold")]),
    row("maxout", "maxout", X, &[("groups", "groups"), ("axis", "axis")]),
    row("prelu", "prelu", &[Of("X"), Of("Alpha")], &[("mode", "mode"), ("data_format", "data_format")]),
    row("selu", "selu", X, &[("alpha", "alpha"), ("scale", "scale")]),
    row("softplus", "softplus", X, &[("beta", "beta"), ("threshold", "threshold")]),
    row("softshrink", "softshrink", X, &[("lambda", "threshold")]),
    row("stanh", "stanh", X, &[("scale_a", "scale_a"), ("scale_b", "scale_b")]),
    row("thresholded_relu", "thresholded_relu", X, &[("threshold", "threshold"), ("value", "value")]),
    row("bmm", "bmm", XY, &[]),
    row("dot", "dot", XY, &[]),
    row("mv", "mv", &[Of("X"), Of("Vec")], &[]),
    row("addmm", "addmm", &[Of("Input"), Of("X"), Of("Y")], &[("Alpha", "alpha"), ("Beta", "beta")]),
    row("baddbmm", "baddbmm", &[Of("Input"), Of("X"), Of("Y")], &[("Alpha", "alpha"), ("Beta", "beta")]),
    row("einsum", "einsum", &[Of("Operands")], &[("equation", "equation")]),
    gives(row("argsort", "argsort", X, &[("axis", "axis"), ("descending", "descending")]), SORTED),
    gives(
        row("top_k_v2", "topk", &[Of("X"), Of("K")], &[("k", "k"), ("axis", "axis"), ("largest", "largest")]),
        SORTED,
    ),
    gives(
        row(
            "unique",
            "unique",
            X,
            &[
                ("return_index", "return_index"),
                ("return_inverse", "return_inverse"),
                ("return_counts", "return_counts"),
                ("axis", "axis"),
                ("dtype", "dtype"),
                ("is_sorted", "is_sorted"),
            ],
        ),
        &["Out", "Indices", "Index", "Counts"],
    ),
    row(
        "one_hot_v2",
        "one_hot",
        &[Of("X"), Of("depth_tensor")],
        &[("depth", "num_classes"), ("dtype", "dtype")],
    ),
    row("eye", "eye", &[], &[("num_rows", "num_rows"), ("num_columns", "num_columns"), ("dtype", "dtype")]),
    row("tril_triu", "tril_triu", X, &[("diagonal", "diagonal"), ("lower", "lower")]),
    row("cumprod", "cumprod", X, &[("dim", "dim"), ("exclusive", "exclusive"), ("reverse", "reverse")]),
    row("roll", "roll", &[Of("X"), List("", "ShiftsTensor", "shifts", "shifts")], &[("axis", "axis")]),
    row("meshgrid", "meshgrid", X, &[]),
    row("broadcast_tensors", "broadcast_tensors", X, &[]),
    row("pad", "pad", X, &[("paddings", "paddings"), ("pad_value", "pad_value")]),
    row("pad2d", "pad2d", PADDED, PADS),
    row("pad3d", "pad3d", PADDED, PADS),
    row(
        "repeat_interleave",
        "repeat_interleave",
        &[Of("X"), Of("RepeatsTensor")],
        &[("Repeats", "repeats"), ("dim", "axis")],
    ),
    gives(row("unstack", "unstack", X, &[("axis", "axis"), ("num", "num")]), &["Y"]),
    row("index_sample", "index_sample", &[Of("X"), Of("Index")], &[]),
    row("index_add", "index_add", &[Of("X"), Of("Index"), Of("AddValue")], &[("axis", "axis")]),
    gives(
        row(
            "index_put",
            "index_put",
            &[Of("x"), Of("indices"), Of("value")],
            &[("accumulate", "accumulate")],
        ),
        &["out"],
    ),
    gives(row("masked_fill", "masked_fill", &[Of("x"), Of("mask"), Of("value")], &[]), &["out"]),
    gives(row("masked_select", "masked_select", &[Of("X"), Of("Mask")], &[]), &["Y"]),
    gives(
        row(
            "put_along_axis",
            "put_along_axis",
            &[Of("Input"), Of("Index"), Of("Value")],
            &[("Axis", "axis"), ("Reduce", "reduce"), ("Include_self", "include_self")],
        ),
        &["Result"],
    ),
    row("scatter", "scatter", &[Of("X"), Of("Ids"), Of("Updates")], &[("overwrite", "overwrite")]),
    row("scatter_nd_add", "scatter_nd_add", &[Of("X"), Of("Index"), Of("Updates")], &[]),
    row(
        "set_value",
        "set_value_with_tensor",
        SET,
        &[
            ("axes", "axes"),
            ("decrease_axes", "decrease_axes"),
            ("none_axes", "none_axes"),
            ("dtype", "dtype"),
            ("shape", "shape"),
            ("values", "values"),
        ],
    ),
    row(
        "pixel_shuffle",
        "pixel_shuffle",
        X,
        &[("upscale_factor", "upscale_factor"), ("data_format", "data_format")],
    ),
    row(
        "pixel_unshuffle",
        "pixel_unshuffle",
        X,
        &[("downscale_factor", "downscale_factor"), ("data_format", "data_format")],
    ),
    row("channel_shuffle", "channel_shuffle", X, &[("groups", "groups"), ("data_format", "data_format")]),
    gives(row("conv3d", "conv3d", CONVOLVED, WINDOWS), &["Output"]),
    gives(row("conv3d_transpose", "conv3d_transpose", CONVOLVED, WINDOWS), &["Output"]),
    gives(row("depthwise_conv2d_transpose", "depthwise_conv2d_transpose", CONVOLVED, WINDOWS), &["Output"]),
    row("pool3d", "pool3d", X, POOLED),
    gives(row("max_pool2d_with_index", "max_pool2d_with_index", X, POOLED), &["Out", "Mask"]),
    gives(row("max_pool3d_with_index", "max_pool3d_with_index", X, POOLED), &["Out", "Mask"]),
    gives(row("instance_norm", "instance_norm", SCALED, NORMS), &["Y"]),
    gives(
        row(
            "rnn",
            "rnn",
            &[Of("Input"), Of("PreState"), Of("WeightList"), Of("SequenceLength")],
            &[
                ("mode", "mode"),
                ("num_layers", "num_layers"),
                ("is_bidirec", "is_bidirec"),
                ("hidden_size", "hidden_size"),
                ("dropout_prob", "dropout_prob"),
                ("is_test", "is_test"),
            ],
        ),
        &["Out", "DropoutState", "State", "Reserve"],
    ),
    gives(
        row(
            "grid_sampler",
            "grid_sample",
            &[Of("X"), Of("Grid")],
            &[("mode", "mode"), ("padding_mode", "padding_mode"), ("align_corners", "align_corners")],
        ),
        &["Output"],
    ),
    gives(
        row(
            "affine_grid",
            "affine_grid",
            &[Of("Theta"), List("", "OutputShape", "output_shape", "output_shape")],
            &[("align_corners", "align_corners")],
        ),
        &["Output"],
    ),
    row("atan2", "atan2", &[Of("X1"), Of("X2")], &[]),
    row("bce_loss", "bce_loss", &[Of("X"), Of("Label")], &[]),
    row("bincount", "bincount", &[Of("X"), Of("Weights")], &[("minlength", "minlength")]),
    gives(
        row(
            "box_coder",
            "box_coder",
            &[Of("PriorBox"), Of("PriorBoxVar"), Of("TargetBox")],
            &[
                ("code_type", "code_type"),
                ("box_normalized", "box_normalized"),
                ("axis", "axis"),
                ("variance", "variance"),
            ],
        ),
        &["OutputBox"],
    ),
    gives(
        row(
            "softmax_with_cross_entropy",
            "cross_entropy_with_softmax",
            &[Of("Logits"), Of("Label")],
            &[
                ("axis", "axis"),
                ("ignore_index", "ignore_index"),
                ("soft_label", "soft_label"),
                ("use_softmax", "use_softmax"),
            ],
        ),
        &["Softmax", "Loss"],
    ),
    gives(row("quantize_linear", "quantize_linear", QUANTIZED, CODED), CODES),
    gives(row("dequantize_linear", "dequantize_linear", QUANTIZED, CODED), CODES),
    gives(
        row(
            "fake_quantize_dequantize_moving_average_abs_max",
            "fake_quantize_dequantize_moving_average_abs_max",
            &[Of("X"), Of("InScale"), Of("InAccum"), Of("InState")],
            CODED,
        ),
        &["Out", "OutScale", "OutState", "OutAccum"],
    ),
    gives(
        row("fake_quantize_dequantize_abs_max", "fake_quantize_dequantize_abs_max", X, CODED),
        &["Out", "OutScale"],
    ),
    gives(
        row(
            "fake_channel_wise_quantize_dequantize_abs_max",
            "fake_channel_wise_quantize_dequantize_abs_max",
            X,
            CODED,
        ),
        &["Out", "OutScale"],
    ),
    gives(
        row("segment_pool", "segment_pool", &[Of("X"), Of("SegmentIds")], &[("pooltype", "pooltype")]),
        &["Out", "SummedIds"],
    ),
    gives(row("tril_indices", "tril_indices", &[], PLACES), &["out"]),
    gives(row("triu_indices", "triu_indices", &[], PLACES), &["out"]),
    row("label_smooth", "label_smooth", &[Of("X"), Of("PriorDist")], &[("epsilon", "epsilon")]),
    row(
        "crop_tensor",
        "crop",
        &[
            Of("X"),
            List("ShapeTensor", "Shape", "shape", "shape"),
            List("OffsetsTensor", "Offsets", "offsets", "offsets"),
        ],
        &[],
    ),
    gives(row("deformable_conv", "deformable_conv", DEFORMED, DEFORMS), &["Output"]),
    gives(row("deformable_conv_v1", "deformable_conv", DEFORMED, DEFORMS), &["Output"]),
    row("determinant", "det", &[Of("Input")], &[]),
    row("slogdeterminant", "slogdet", &[Of("Input")], &[]),
    row("diag_v2", "diag", X, &[("offset", "offset"), ("padding_value", "padding_value")]),
    row(
        "diag_embed",
        "diag_embed",
        &[Of("Input")],
        &[("offset", "offset"), ("dim1", "dim1"), ("dim2", "dim2")],
    ),
    row("diagonal", "diagonal", &[Of("Input")], DIAGONAL),
    row("trace", "trace", &[Of("Input")], DIAGONAL),
    gives(
        row(
            "distribute_fpn_proposals",
            "distribute_fpn_proposals",
            &[Of("FpnRois"), Of("RoisNum")],
            &[
                ("min_level", "min_level"),
                ("max_level", "max_level"),
                ("refer_level", "refer_level"),
                ("refer_scale", "refer_scale"),
                ("pixel_offset", "pixel_offset"),
            ],
        ),
        &["MultiFpnRois", "MultiLevelRoIsNum", "RestoreIndex"],
    ),
    gives(
        row(
            "fused_bias_residual_layernorm",
            "fused_bias_residual_layernorm",
            FUSED,
            &[
                ("epsilon", "epsilon"),
                ("residual_alpha", "residual_alpha"),
                ("begin_norm_axis", "begin_norm_axis"),
                ("quant_scale", "quant_scale"),
            ],
        ),
        &["out", "residual_out", "mean", "variance"],
    ),
    gives(
        row(
            "fused_rms_norm_quant",
            "fused_rms_norm_quant",
            FUSED,
            &[("epsilon", "epsilon"), ("begin_norm_axis", "begin_norm_axis"), ("quant_scale", "quant_scale")],
        ),
        &["out", "residual_out", "inv_var"],
    ),
    gives(
        row(
            "generate_proposals_v2",
            "generate_proposals",
            &[Of("Scores"), Of("BboxDeltas"), Of("ImShape"), Of("Anchors"), Of("Variances")],
            &[
                ("pre_nms_topN", "pre_nms_top_n"),
                ("post_nms_topN", "post_nms_top_n"),
                ("nms_thresh", "nms_thresh"),
                ("min_size", "min_size"),
                ("eta", "eta"),
                ("pixel_offset", "pixel_offset"),
            ],
        ),
        &["RpnRois", "RpnRoiProbs", "RpnRoisNum"],
    ),
    gives(row("huber_loss", "huber_loss", XY, &[("delta", "delta")]), &["Out", "Residual"]),
    gives(
        row(
            "kldiv_loss",
            "kldiv_loss",
            &[Of("X"), Of("Target")],
            &[("reduction", "reduction"), ("log_target", "log_target")],
        ),
        &["Loss"],
    ),
    row("kron", "kron", XY, &[]),
    gives(row("kthvalue", "kthvalue", X, &[("k", "k"), ("axis", "axis"), ("keepdim", "keepdim")]), SORTED),
    gives(
        row("log_loss", "log_loss", &[Of("Predicted"), Of("Labels")], &[("epsilon", "epsilon")]),
        &["Loss"],
    ),
    row("logcumsumexp", "logcumsumexp", X, SUMMED),
    gives(
        row(
            "matrix_nms",
            "matrix_nms",
            &[Of("BBoxes"), Of("Scores")],
            &[
                ("score_threshold", "score_threshold"),
                ("nms_top_k", "nms_top_k"),
                ("keep_top_k", "keep_top_k"),
                ("post_threshold", "post_threshold"),
                ("use_gaussian", "use_gaussian"),
                ("gaussian_sigma", "gaussian_sigma"),
                ("background_label", "background_label"),
                ("normalized", "normalized"),
            ],
        ),
        &["Out", "Index", "RoisNum"],
    ),
    gives(row("mode", "mode", X, &[("axis", "axis"), ("keepdim", "keepdim")]), SORTED),
    gives(row("multiclass_nms2", "multiclass_nms3", SUPPRESSED, SUPPRESSES), &["Out", "Index"]),
    gives(row("multiclass_nms3", "multiclass_nms3", SUPPRESSED, SUPPRESSES), &["Out", "Index", "NmsRoisNum"]),
    row("multiplex", "multiplex", &[Of("X"), Of("Ids")], &[]),
    gives(
        row(
            "nll_loss",
            "nll_loss",
            &[Of("X"), Of("Label"), Of("Weight")],
            &[("ignore_index", "ignore_index"), ("reduction", "reduction")],
        ),
        &["Out", "Total_weight"],
    ),
    gives(row("nms", "nms", &[Of("Boxes")], &[("iou_threshold", "threshold")]), &["KeepBoxesIdxs"]),
    gives(
        row(
            "prior_box",
            "prior_box",
            &[Of("Input"), Of("Image")],
            &[
                ("min_sizes", "min_sizes"),
                ("max_sizes", "max_sizes"),
                ("aspect_ratios", "aspect_ratios"),
                ("variances", "variances"),
                ("flip", "flip"),
                ("clip", "clip"),
                ("step_w", "step_w"),
                ("step_h", "step_h"),
                ("offset", "offset"),
                ("min_max_aspect_ratios_order", "min_max_aspect_ratios_order"),
            ],
        ),
        &["Boxes", "Variances"],
    ),
    row("renorm", "renorm", X, &[("p", "p"), ("axis", "axis"), ("max_norm", "max_norm")]),
    row("roi_align", "roi_align", POOLED_BOXES, POOLS_BOXES),
    gives(row("roi_pool", "roi_pool", POOLED_BOXES, POOLS_BOXES), &["Out", "Argmax"]),
    row(
        "searchsorted",
        "searchsorted",
        &[Of("SortedSequence"), Of("Values")],
        &[("out_int32", "out_int32"), ("right", "right")],
    ),
    gives(
        row(
            "sequence_mask",
            "sequence_mask",
            &[Of("X"), Of("MaxLenTensor")],
            &[("maxlen", "maxlen"), ("out_dtype", "out_dtype")],
        ),
        &["Y"],
    ),
    row(
        "shard_index",
        "shard_index",
        X,
        &[
            ("index_num", "index_num"),
            ("nshards", "nshards"),
            ("shard_id", "shard_id"),
            ("ignore_value", "ignore_value"),
        ],
    ),
    row(
        "sigmoid_cross_entropy_with_logits",
        "sigmoid_cross_entropy_with_logits",
        &[Of("X"), Of("Label"), Of("pos_weight")],
        &[("ignore_index", "ignore_index"), ("normalize", "normalize")],
    ),
    row(
        "temporal_shift",
        "temporal_shift",
        X,
        &[("seg_num", "seg_num"), ("shift_ratio", "shift_ratio"), ("data_format", "data_format")],
    ),
    gives(row("unfold", "unfold", X, PATCHES), &["Y"]),
    gives(row("fold", "fold", X, PATCHES), &["Y"]),
    gives(
        row(
            "yolo_box",
            "yolo_box",
            &[Of("X"), Of("ImgSize")],
            &[
                ("anchors", "anchors"),
                ("class_num", "class_num"),
                ("conf_thresh", "conf_thresh"),
                ("downsample_ratio", "downsample_ratio"),
                ("clip_bbox", "clip_bbox"),
                ("scale_x_y", "scale_x_y"),
                ("iou_aware", "iou_aware"),
                ("iou_aware_factor", "iou_aware_factor"),
            ],
        ),
        &["Boxes", "Scores"],
    ),
    row(
        "gaussian_random",
        "gaussian",
        DRAWN,
        &[("mean", "mean"), ("std", "std"), ("seed", "seed"), ("dtype", "dtype")],
    ),
    row(
        "uniform_random",
        "uniform",
        DRAWN,
        &[("min", "min"), ("max", "max"), ("seed", "seed"), ("dtype", "dtype")],
    ),
    row(
        "randint",
        "randint",
        DRAWN,
        &[("low", "low"), ("high", "high"), ("seed", "seed"), ("dtype", "dtype")],
    ),
    row("bernoulli", "bernoulli", X, &[]),
    row(
        "allclose",
        "allclose",
        &[Of("Input"), Of("Other"), Of("Rtol"), Of("Atol")],
        &[("rtol", "rtol"), ("atol", "atol"), ("equal_nan", "equal_nan")],
    ),
    row(
        "isclose",
        "isclose",
        &[Of("Input"), Of("Other"), Of("Rtol"), Of("Atol")],
        &[("rtol", "rtol"), ("atol", "atol"), ("equal_nan", "equal_nan")],
    ),
    row("cross", "cross", XY, &[("dim", "axis")]),
    gives(row("cummax", "cummax", &[Of("x")], &[("axis", "axis"), ("dtype", "dtype")]), &["out", "indices"]),
    gives(row("cummin", "cummin", &[Of("x")], &[("axis", "axis"), ("dtype", "dtype")]), &["out", "indices"]),
    row("dist", "dist", XY, &[("p", "p")]),
    row("empty", "empty", DRAWN, DTYPE),
    row("equal_all", "equal_all", XY, &[]),
    row(
        "frame",
        "frame",
        X,
        &[("frame_length", "frame_length"), ("hop_length", "hop_length"), ("axis", "axis")],
    ),
    row(
        "histogram",
        "histogram",
        &[Of("X"), Of("Weight")],
        &[("bins", "bins"), ("min", "min"), ("max", "max"), ("density", "density")],
    ),
    row("logit", "logit", X, &[("eps", "eps")]),
    row("lerp", "lerp", &[Of("X"), Of("Y"), Of("Weight")], &[]),
    row("matrix_power", "matrix_power", X, &[("n", "n")]),
    without(
        gives(
            row(
                "median",
                "median",
                &[Of("x")],
                &[("axis", "axis"), ("keepdim", "keepdim"), ("mode", "mode")],
            ),
            &["out", "medians"],
        ),
        &["AxisTensor", "AxisTensorList"],
    ),
    gives(
        row("nanmedian", "nanmedian", X, &[("axis", "axis"), ("keepdim", "keepdim"), ("mode", "mode")]),
        &["Out", "MedianIndex"],
    ),
    row("multinomial", "multinomial", X, &[("num_samples", "num_samples"), ("replacement", "replacement")]),
    row(
        "gumbel_softmax",
        "gumbel_softmax",
        X,
        &[("temperature", "temperature"), ("hard", "hard"), ("axis", "axis")],
    ),
    row("randperm", "randperm", &[], &[("n", "n"), ("dtype", "dtype")]),
    gives(
        row("rrelu", "rrelu", X, &[("lower", "lower"), ("upper", "upper"), ("is_test", "is_test")]),
        &["Out", "Noise"],
    ),
    gives(
        row("unique_consecutive", "unique_consecutive", X, &[("axis", "axis"), ("dtype", "dtype")]),
        &["Out", "Index", "Counts"],
    ),
    row("squared_l2_norm", "squared_l2_norm", X, &[]),
    gives(row("swiglu", "swiglu", &[Of("x"), Of("y")], &[]), &["out"]),
    row("share_data", "assign", X, &[]),
    row("memcpy_d2h", "assign", X, &[]),
    row("memcpy_h2d", "assign", X, &[]),
    row("print", "assign", &[Of("In")], &[]),
    gives(row("shape64", "shape64", &[Of("input")], &[]), &["out"]),
    row("fused_softmax_mask", "fused_softmax_mask", &[Of("X"), Of("Mask")], &[]),
    row("reshape", "reshape", &[Of("X"), SHAPE], &[]),
    row("transpose", "transpose", X, &[("axis", "perm")]),
    row("squeeze", "squeeze", &[Of("X"), AXES], &[]),
    row("unsqueeze", "unsqueeze", &[Of("X"), AXES], &[]),
    row("flatten", "flatten2", X, &[("axis", "axis")]),
    row("flatten2", "flatten2", X, &[("axis", "axis")]),
    row(
        "expand",
        "tile",
        &[Of("X"), List("expand_times_tensor", "ExpandTimes", "expand_times", "repeat_times")],
        &[],
    ),
    without(
        row(
            "crop",
            "crop",
            &[Of("X"), List("", "", "shape", "shape"), List("", "", "offsets", "offsets")],
            &[],
        ),
        &["Y", "Offsets"],
    ),
    row("reverse", "flip", X, &[("axis", "axis")]),
    row("mul", "mul", XY, &[("x_num_col_dims", "x_num_col_dims"), ("y_num_col_dims", "y_num_col_dims")]),
    gives(row("norm", "norm", X, &[("axis", "axis"), ("epsilon", "epsilon")]), &["Out", "Norm"]),
    gives(row("top_k", "topk", &[Of("X"), Of("K")], &[("k", "k")]), &["Out", "Indices"]),
    row("lookup_table", "lookup_table", &[Of("Ids"), Of("W")], &[("padding_idx", "padding_idx")]),
    row(
        "affine_channel",
        "affine_channel",
        &[Of("X"), Of("Scale"), Of("Bias")],
        &[("data_layout", "data_format")],
    ),
    row("linear_interp", "linear_interp", RESIZED, SIZES),
    row("bilinear_interp", "bilinear_interp", RESIZED, SIZES),
    row("trilinear_interp", "trilinear_interp", RESIZED, SIZES),
    row("bicubic_interp", "bicubic_interp", RESIZED, SIZES),
    row("nearest_interp", "nearest_interp", RESIZED, SIZES),
    row("multiclass_nms", "multiclass_nms3", SUPPRESSED, SUPPRESSES),
    row("bilinear_tensor_product", "bilinear", &[Of("X"), Of("Y"), Of("Weight"), Of("Bias")], &[]),
];

/// Operators whose outputs PaddlePaddle 3.3 declares with the type or the shape of the input, and
/// `fetch`, which repeats that.
pub(super) const MISDECLARED: &[&str] =
    &["all", "any", "equal_all", "fetch", "generate_proposals", "slogdet", "unique"];

/// How an old operator is named in PIR, if the table says.
pub(super) fn renamed(old: &str) -> Option<&'static Renamed> {
    TABLE.iter().find(|row| row.old == old)
}
