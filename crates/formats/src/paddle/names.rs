//! Operators of old programs under the names that PIR gives them.
//!
//! Inputs and outputs of old operators have names, of which each may stand for several values;
//! where PIR has a list of integers, an old operator has an attribute, one tensor, or a tensor for
//! each.

use std::sync::LazyLock;

use foldhash::HashMap;

/// An input of the operator of PIR.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// The meaning of the input of that name.
    Of(&'static str),
    /// Tensors of one element each, or a tensor of all, or else the attribute: under the last name,
    /// in PIR.
    List(&'static str, &'static str, &'static str, &'static str),
}

/// How an old operator is named in PIR. Lists of names are separated by spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed {
    /// The name, of a row of the [`TABLE`].
    pub(super) new: &'static str,
    /// Names of inputs; `each|all|attribute` is a list, and `attribute=name` renames its attribute.
    inputs: &'static str,
    /// Slots of the outputs, in PIR's order.
    outputs: &'static str,
    /// Attributes; `old=new` where PIR has another name.
    attributes: &'static str,
    /// Inputs that must be empty for the meaning to be PIR's.
    without: &'static str,
}

impl Renamed {
    /// The inputs of the operator of PIR.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Argument> {
        self.inputs.split_ascii_whitespace().map(|word| match word.split_once('|') {
            None => Argument::Of(word),
            Some((each, rest)) => {
                let (all, attribute) = rest.split_once('|').unwrap_or((rest, ""));
                let (attribute, name) = both_names(attribute);
                Argument::List(each, all, attribute, name)
            }
        })
    }

    /// The slots of the outputs, in PIR's order.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'static str> {
        self.outputs.split_ascii_whitespace()
    }

    /// The old and the new name of each attribute.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.attributes.split_ascii_whitespace().map(both_names)
    }

    /// Inputs that must be empty for the meaning to be PIR's.
    pub(super) fn without(&self) -> impl Iterator<Item = &'static str> {
        self.without.split_ascii_whitespace()
    }
}

/// The old and the new name of `old=new`, or twice the only name.
fn both_names(word: &'static str) -> (&'static str, &'static str) {
    word.split_once('=').unwrap_or((word, word))
}

// Attributes of several operators.
const REDUCED: &str = "dim=axis keep_dim=keepdim out_dtype=dtype";
const WINDOWS: &str =
    "strides paddings padding_algorithm dilations groups data_format output_padding output_size";
const POOLED: &str = "ksize=kernel_size strides paddings padding_algorithm ceil_mode exclusive pooling_type \
    global_pooling adaptive data_format norm_type";
const NORMS: &str =
    "epsilon is_test use_global_stats trainable_statistics data_layout=data_format begin_norm_axis groups";
const SOUGHT: &str = "axis keepdims flatten dtype";
const SUMMED: &str = "axis flatten exclusive reverse";
const SIZES: &str = "scale out_d out_h out_w align_corners align_mode data_layout=data_format";
const PADS: &str = "mode value=pad_value pad_value data_format";
const FRACTIONS: &str = "output_size kernel_size random_u";
const CODED: &str = "quant_axis bit_length qmax round_type is_test only_observer";
const PLACES: &str = "rows cols row col offset dtype";
const DEFORMS: &str = "strides paddings dilations deformable_groups groups";
const SUPPRESSES: &str =
    "score_threshold nms_top_k keep_top_k nms_threshold nms_eta normalized background_label";
const POOLS_BOXES: &str = "pooled_height pooled_width spatial_scale sampling_ratio aligned";
const PATCHES: &str = "output_sizes kernel_sizes strides paddings dilations";
const SPECTRA: &str = "axes normalization forward onesided last_dim_size";

/// Selects the first text, or the second where there is none.
macro_rules! or {
    (; $default:expr) => {
        $default
    };
    ($given:expr; $default:expr) => {
        $given
    };
}

/// Rows: old names, `old=new` where PIR has another one; inputs, attributes, outputs that are not
/// `Out`, and the inputs that must be empty.
macro_rules! rows {
    ($(
        $names:literal, $inputs:expr, $attributes:expr
        $(=> $outputs:expr)? $(, without $without:literal)?;
    )*) => {
        &[$(($names, Renamed {
            new: "",
            inputs: $inputs,
            outputs: or!($($outputs)?; "Out"),
            attributes: $attributes,
            without: or!($($without)?; ""),
        })),*]
    };
}

/// All that are renamed. What is not here keeps its name, its inputs in order, and its attributes.
const ROWS: &[(&str, Renamed)] = rows! {
    "elementwise_add=add elementwise_sub=subtract elementwise_mul=multiply elementwise_div=divide \
     elementwise_floordiv=floor_divide elementwise_mod=remainder elementwise_min=minimum \
     elementwise_max=maximum elementwise_pow elementwise_fmax=fmax elementwise_fmin=fmin \
     elementwise_heaviside=heaviside", "X Y", "axis";
    "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor \
     bitwise_and bitwise_or bitwise_xor bmm dot kron equal_all solve complex", "X Y", "";
    "logical_not assign abs ceil cos erf exp floor log relu sigmoid sign sin sqrt tanh relu6 silu square \
     rsqrt reciprocal round add_n sum=add_n mean bitwise_not isnan_v2=isnan isinf_v2=isinf \
     isfinite_v2=isfinite acos acosh asin asinh atan atanh cosh expm1 log10 log1p log2 logsigmoid sinh \
     softsign tan tanh_shrink trunc meshgrid broadcast_tensors bernoulli squared_l2_norm share_data=assign \
     memcpy_d2h=assign memcpy_h2d=assign lod_array_length=array_length eigvals multi_dot real imag conj \
     angle as_real as_complex lgamma digamma erfinv", "X", "";
    "range=arange", "Start End Step", "dtype";
    "linspace", "Start Stop Num", "dtype";
    "logspace", "Start Stop Num Base", "dtype";
    "shape size=numel determinant=det slogdeterminant=slogdet", "Input", "";
    "cast", "X", "out_dtype=dtype";
    "assign_value",
        "",
        "shape dtype values bool_values=values fp32_values=values fp64_values=values int32_values=values \
         int64_values=values";
    "fill_constant_batch_size_like=full_batch_size_like",
        "Input", "shape value dtype input_dim_idx output_dim_idx";
    "fill_any_like=full_like", "X", "value dtype";
    "scale", "X ScaleTensor", "scale bias bias_after_scale";
    "increment", "X", "step=value";
    "concat", "X", "axis", without "AxisTensor";
    "stack", "X", "axis" => "Y";
    "split", "X", "sections num axis", without "AxisTensor SectionsTensorList";
    "unbind softmax log_softmax flip flatten=flatten2 flatten2 reverse=flip", "X", "axis";
    "slice",
        "Input StartsTensorList|StartsTensor|starts EndsTensorList|EndsTensor|ends", "axes decrease_axis";
    "strided_slice",
        "Input StartsTensorList|StartsTensor|starts EndsTensorList|EndsTensor|ends \
         StridesTensorList|StridesTensor|strides", "axes decrease_axis";
    "reshape2=reshape reshape", "X ShapeTensor|Shape|shape", "";
    "flatten_contiguous_range=flatten", "X", "start_axis stop_axis";
    "squeeze2=squeeze unsqueeze2=unsqueeze squeeze unsqueeze", "X AxesTensorList|AxesTensor|axes=axis", "";
    "expand_v2=expand", "X expand_shapes_tensor|Shape|shape", "";
    "expand_as_v2=expand_as", "X Y", "target_shape";
    "tile", "X repeat_times_tensor|RepeatTimes|repeat_times", "";
    "gather", "X Index", "axis", without "Axis";
    "gather_nd index_sample", "X Index", "";
    "index_select", "X Index", "dim=axis";
    "transpose2=transpose transpose", "X", "axis=perm";
    "where", "Condition X Y", "";
    "matmul_v2=matmul", "X Y", "trans_x=transpose_x trans_y=transpose_y";
    "reduce_sum=sum reduce_mean=mean reduce_max=max reduce_min=min reduce_prod=prod reduce_all=all \
     reduce_any=any reduce_amax=amax reduce_amin=amin frobenius_norm", "X", REDUCED;
    "conv2d depthwise_conv2d conv2d_transpose conv3d conv3d_transpose depthwise_conv2d_transpose",
        "Input Filter", WINDOWS => "Output";
    "lp_pool2d pool2d pool3d", "X", POOLED;
    "batch_norm sync_batch_norm", "X Mean Variance Scale Bias", NORMS => "Y";
    "layer_norm group_norm instance_norm", "X Scale Bias", NORMS => "Y";
    "lookup_table_v2=embedding lookup_table", "Ids W", "padding_idx";
    "dropout", "X", "dropout_prob=p is_test dropout_implementation=mode";
    "gelu", "X", "approximate";
    "swish", "X", "beta";
    "mish", "X", "threshold=lambda";
    "elu celu", "X", "alpha";
    "hard_swish=hardswish", "X", "threshold scale offset";
    "hard_sigmoid=hardsigmoid", "X", "slope offset";
    "leaky_relu", "X", "alpha=negative_slope";
    "pow", "X FactorTensor", "factor=y";
    "clip", "X Min Max", "min max";
    "arg_max=argmax arg_min=argmin", "X", SOUGHT;
    "cumsum logcumsumexp", "X", SUMMED;
    "where_index=nonzero", "Condition", "";
    "take_along_axis", "Input Index", "Axis=axis" => "Result";
    "linear_interp_v2=linear_interp trilinear_interp_v2=trilinear_interp bicubic_interp_v2=bicubic_interp \
     nearest_interp_v2=nearest_interp bilinear_interp_v2=bilinear_interp linear_interp bilinear_interp \
     trilinear_interp bicubic_interp nearest_interp", "X OutSize SizeTensor Scale", SIZES;
    "matmul", "X Y", "transpose_X=transpose_x transpose_Y=transpose_y alpha";
    "logsumexp", "X", "axis keepdim";
    "p_norm", "X", "porder axis keepdim asvector";
    "brelu=hardtanh", "X", "t_min t_max";
    "hard_shrink=hardshrink", "X", "threshold";
    "maxout", "X", "groups axis";
    "prelu", "X Alpha", "mode data_format";
    "selu", "X", "alpha scale";
    "softplus", "X", "beta threshold";
    "softshrink", "X", "lambda=threshold";
    "stanh", "X", "scale_a scale_b";
    "thresholded_relu", "X", "threshold value";
    "mv", "X Vec", "";
    "addmm baddbmm", "Input X Y", "Alpha=alpha Beta=beta";
    "einsum", "Operands", "equation";
    "argsort", "X", "axis descending" => "Out Indices";
    "top_k_v2=topk", "X K", "k axis largest" => "Out Indices";
    "unique",
        "X", "return_index return_inverse return_counts axis dtype is_sorted" => "Out Indices Index Counts";
    "one_hot_v2=one_hot", "X depth_tensor", "depth=num_classes dtype";
    "eye", "", "num_rows num_columns dtype";
    "tril_triu", "X", "diagonal lower";
    "cumprod", "X", "dim exclusive reverse";
    "roll", "X |ShiftsTensor|shifts", "axis";
    "pad", "X", "paddings pad_value";
    "pad2d pad3d", "X |Paddings|paddings", PADS;
    "repeat_interleave", "X RepeatsTensor", "Repeats=repeats dim=axis";
    "unstack", "X", "axis num" => "Y";
    "index_add", "X Index AddValue", "axis";
    "index_put", "x indices value", "accumulate" => "out";
    "masked_fill", "x mask value", "" => "out";
    "masked_select", "X Mask", "" => "Y";
    "put_along_axis", "Input Index Value", "Axis=axis Reduce=reduce Include_self=include_self" => "Result";
    "scatter", "X Ids Updates", "overwrite";
    "scatter_nd_add", "X Index Updates", "";
    "set_value=set_value_with_tensor",
        "Input ValueTensor StartsTensorList||starts EndsTensorList||ends StepsTensorList||steps",
        "axes decrease_axes none_axes dtype shape values";
    "pixel_shuffle", "X", "upscale_factor data_format";
    "pixel_unshuffle", "X", "downscale_factor data_format";
    "channel_shuffle", "X", "groups data_format";
    "fractional_max_pool2d fractional_max_pool3d", "x", FRACTIONS => "out mask";
    "max_pool2d_with_index max_pool3d_with_index", "X", POOLED => "Out Mask";
    "rnn",
        "Input PreState WeightList SequenceLength",
        "mode num_layers is_bidirec hidden_size dropout_prob is_test" => "Out DropoutState State Reserve";
    "grid_sampler=grid_sample", "X Grid", "mode padding_mode align_corners" => "Output";
    "affine_grid", "Theta |OutputShape|output_shape", "align_corners" => "Output";
    "atan2", "X1 X2", "";
    "bce_loss", "X Label", "";
    "bincount", "X Weights", "minlength";
    "box_coder", "PriorBox PriorBoxVar TargetBox", "code_type box_normalized axis variance" => "OutputBox";
    "softmax_with_cross_entropy=cross_entropy_with_softmax",
        "Logits Label", "axis ignore_index soft_label use_softmax" => "Softmax Loss";
    "quantize_linear dequantize_linear",
        "X Scale ZeroPoint InAccum InState", CODED => "Y OutState OutAccum OutScale";
    "fake_quantize_dequantize_moving_average_abs_max",
        "X InScale InAccum InState", CODED => "Out OutScale OutState OutAccum";
    "fake_quantize_dequantize_abs_max fake_channel_wise_quantize_dequantize_abs_max",
        "X", CODED => "Out OutScale";
    "segment_pool", "X SegmentIds", "pooltype" => "Out SummedIds";
    "gather_tree", "Ids Parents", "";
    "tril_indices triu_indices", "", PLACES => "out";
    "label_smooth", "X PriorDist", "epsilon";
    "crop_tensor=crop", "X ShapeTensor|Shape|shape OffsetsTensor|Offsets|offsets", "";
    "deformable_conv deformable_conv_v1=deformable_conv", "Input Offset Filter Mask", DEFORMS => "Output";
    "diag_v2=diag", "X", "offset padding_value";
    "diag_embed", "Input", "offset dim1 dim2";
    "diagonal trace", "Input", "offset axis1 axis2";
    "distribute_fpn_proposals",
        "FpnRois RoisNum", "min_level max_level refer_level refer_scale pixel_offset" =>
        "MultiFpnRois MultiLevelRoIsNum RestoreIndex";
    "fused_bias_residual_layernorm",
        "x bias residual norm_weight norm_bias", "epsilon residual_alpha begin_norm_axis quant_scale" =>
        "out residual_out mean variance";
    "fused_rms_norm_quant",
        "x bias residual norm_weight norm_bias", "epsilon begin_norm_axis quant_scale" =>
        "out residual_out inv_var";
    "generate_proposals_v2=generate_proposals",
        "Scores BboxDeltas ImShape Anchors Variances",
        "pre_nms_topN=pre_nms_top_n post_nms_topN=post_nms_top_n nms_thresh min_size eta pixel_offset" =>
        "RpnRois RpnRoiProbs RpnRoisNum";
    "huber_loss", "X Y", "delta" => "Out Residual";
    "kldiv_loss", "X Target", "reduction log_target" => "Loss";
    "hierarchical_sigmoid=hsigmoid_loss",
        "X Label W Bias PathTable PathCode", "num_classes" => "Out PreOut W_Out";
    "kthvalue", "X", "k axis keepdim" => "Out Indices";
    "log_loss", "Predicted Labels", "epsilon" => "Loss";
    "matrix_nms",
        "BBoxes Scores",
        "score_threshold nms_top_k keep_top_k post_threshold use_gaussian gaussian_sigma background_label \
         normalized" => "Out Index RoisNum";
    "mode", "X", "axis keepdim" => "Out Indices";
    "multiclass_nms2=multiclass_nms3", "BBoxes Scores RoisNum", SUPPRESSES => "Out Index";
    "multiclass_nms3", "BBoxes Scores RoisNum", SUPPRESSES => "Out Index NmsRoisNum";
    "multiplex", "X Ids", "";
    "nll_loss", "X Label Weight", "ignore_index reduction" => "Out Total_weight";
    "nms", "Boxes", "iou_threshold=threshold" => "KeepBoxesIdxs";
    "prior_box",
        "Input Image",
        "min_sizes max_sizes aspect_ratios variances flip clip step_w step_h offset \
         min_max_aspect_ratios_order" => "Boxes Variances";
    "psroi_pool", "X ROIs RoisNum", "pooled_height pooled_width output_channels spatial_scale";
    "renorm", "X", "p axis max_norm";
    "roi_align", "X ROIs RoisNum", POOLS_BOXES;
    "roi_pool", "X ROIs RoisNum", POOLS_BOXES => "Out Argmax";
    "searchsorted", "SortedSequence Values", "out_int32 right";
    "sequence_mask", "X MaxLenTensor", "maxlen out_dtype" => "Y";
    "shard_index", "X", "index_num nshards shard_id ignore_value";
    "sigmoid_cross_entropy_with_logits", "X Label pos_weight", "ignore_index normalize";
    "temporal_shift", "X", "seg_num shift_ratio data_format";
    "unfold fold", "X", PATCHES => "Y";
    "yolo_box",
        "X ImgSize",
        "anchors class_num conf_thresh downsample_ratio clip_bbox scale_x_y iou_aware iou_aware_factor" =>
        "Boxes Scores";
    "gaussian_random=gaussian", "ShapeTensorList|ShapeTensor|shape", "mean std seed dtype";
    "uniform_random=uniform", "ShapeTensorList|ShapeTensor|shape", "min max seed dtype";
    "randint", "ShapeTensorList|ShapeTensor|shape", "low high seed dtype";
    "allclose isclose", "Input Other Rtol Atol", "rtol atol equal_nan";
    "cross", "X Y", "dim=axis";
    "cummax cummin", "x", "axis dtype" => "out indices";
    "dist", "X Y", "p";
    "empty", "ShapeTensorList|ShapeTensor|shape", "dtype";
    "frame", "X", "frame_length hop_length axis";
    "histogram", "X Weight", "bins min max density";
    "logit", "X", "eps";
    "lerp", "X Y Weight", "";
    "matrix_power", "X", "n";
    "median", "x", "axis keepdim mode" => "out medians", without "AxisTensor AxisTensorList";
    "nanmedian", "X", "axis keepdim mode" => "Out MedianIndex";
    "multinomial", "X", "num_samples replacement";
    "gumbel_softmax", "X", "temperature hard axis";
    "randperm", "", "n dtype";
    "rrelu", "X", "lower upper is_test" => "Out Noise";
    "unique_consecutive", "X", "axis dtype" => "Out Index Counts";
    "swiglu nextafter gammaincc", "x y", "" => "out";
    "print=assign", "In", "";
    "shape64", "input", "" => "out";
    "fused_softmax_mask", "X Mask", "";
    "expand=tile", "X expand_times_tensor|ExpandTimes|expand_times=repeat_times", "";
    "crop", "X ||shape ||offsets", "", without "Y Offsets";
    "mul", "X Y", "x_num_col_dims y_num_col_dims";
    "norm", "X", "axis epsilon" => "Out Norm";
    "top_k=topk", "X K", "k" => "Out Indices";
    "affine_channel", "X Scale Bias", "data_layout=data_format";
    "multiclass_nms=multiclass_nms3", "BBoxes Scores RoisNum", SUPPRESSES;
    "read_from_array=array_read", "X I", "";
    "tensor_array_to_tensor=array_to_tensor", "X", "axis use_stack" => "Out OutIndex";
    "inverse", "Input", "" => "Output";
    "cholesky", "X", "upper";
    "cholesky_solve", "X Y", "upper";
    "eig", "X", "" => "Eigenvalues Eigenvectors";
    "lu", "X", "pivot" => "Out Pivots Infos";
    "lu_unpack", "X Pivots", "unpack_ludata unpack_pivots" => "Pmat L U";
    "matrix_rank", "X", "tol use_default_tol hermitian", without "TolTensor";
    "eigh", "X", "UPLO" => "Eigenvalues Eigenvectors";
    "eigvalsh", "X", "UPLO=uplo" => "Eigenvalues Eigenvectors";
    "qr", "X", "mode" => "Q R";
    "svd", "X", "full_matrices" => "U S VH";
    "triangular_solve", "X Y", "upper transpose unitriangular";
    "unpool unpool3d", "X Indices ||output_size", "";
    "bitwise_left_shift bitwise_right_shift", "x y", "is_arithmetic" => "out";
    "viterbi_decode", "Input Transition Length", "include_bos_eos_tag" => "Scores Path";
    "fill_diagonal_tensor", "X Y", "offset dim1 dim2";
    "i0 i0e i1 i1e", "x", "" => "out";
    "polygamma", "x", "n" => "out";
    "fft_c2c fft_r2c fft_c2r", "X", SPECTRA;
    "bilinear_tensor_product=bilinear", "X Y Weight Bias", "";
};

/// Operators whose outputs PaddlePaddle 3.3 declares with the type or the shape of the input, or
/// with none; those on complex numbers and `fetch`, which repeat that.
pub(super) const MISDECLARED: &[&str] = &[
    "all",
    "any",
    "array_to_tensor",
    "as_complex",
    "as_real",
    "conj",
    "equal_all",
    "fetch",
    "fft_c2r",
    "fft_r2c",
    "generate_proposals",
    "hsigmoid_loss",
    "imag",
    "lstsq",
    "matrix_rank",
    "real",
    "slogdet",
    "unique",
    "viterbi_decode",
];

/// Operators of PIR by the old name.
static TABLE: LazyLock<HashMap<&str, Renamed>> = LazyLock::new(|| {
    let named = |(names, row): &(&'static str, Renamed)| {
        let row = *row;
        names.split_ascii_whitespace().map(both_names).map(move |(old, new)| (old, Renamed { new, ..row }))
    };
    ROWS.iter().flat_map(named).collect()
});

/// How an old operator is named in PIR, if the table says.
pub(super) fn renamed(old: &str) -> Option<&'static Renamed> {
    TABLE.get(old)
}
