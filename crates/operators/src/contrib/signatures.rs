//! Signatures of the operators of ONNX Runtime that are run, as its documentation lists them.

use gradus_core::DType;

use crate::schema::{Arity, AttributeRule, Param, Signature, Sort, Types, attribute, param};

const FLOATS: Types = Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
const INTEGERS: Types = Types::tensors(&[DType::I32, DType::I64]);
const BYTES: Types = Types::tensors(&[DType::U8]);
const ZEROS: Types = Types::tensors(&[DType::U8, DType::F16, DType::BF16, DType::F32]);

const fn float(name: &'static str) -> Param {
    param(name, "T", FLOATS, Arity::One)
}

const fn maybe(name: &'static str) -> Param {
    param(name, "T", FLOATS, Arity::Optional)
}

const GATED: Types = Types::tensors(&[DType::F16, DType::BF16, DType::F32]);

const fn gated(name: &'static str) -> Param {
    param(name, "T", GATED, Arity::One)
}

const fn weights(name: &'static str) -> Param {
    param(name, "T", GATED, Arity::Optional)
}

/// A float whose type is its own.
const fn other(name: &'static str) -> Param {
    param(name, "", FLOATS, Arity::Optional)
}

const fn integers(name: &'static str, arity: Arity) -> Param {
    param(name, "", INTEGERS, arity)
}

const fn given(name: &'static str, sort: Sort) -> AttributeRule {
    attribute(name, sort, false)
}

const fn needed(name: &'static str) -> AttributeRule {
    attribute(name, Sort::Int, true)
}

const fn of(
    name: &'static str,
    inputs: &'static [Param],
    outputs: &'static [Param],
    attributes: &'static [AttributeRule],
) -> Signature {
    Signature { domain: "com.microsoft", name, since: 1, deprecated: false, inputs, outputs, attributes }
}

const Y: &[Param] = &[float("Y")];
const STATISTICS: &[Param] = &[float("Y"), other("mean"), other("inv_std_var"), maybe("sum")];
const NORMALIZED: &[AttributeRule] =
    &[given("axis", Sort::Int), given("epsilon", Sort::Float), given("stash_type", Sort::Int)];
const EPSILON: &[AttributeRule] = &[given("epsilon", Sort::Float)];

pub const GELU: &[Signature] = &[of("Gelu", &[float("X")], Y, &[])];
pub const GATED_ADD: &[Signature] = &[of(
    "GatedAdd",
    &[gated("X"), gated("Y"), gated("gate"), weights("gate_weight")],
    &[gated("output")],
    &[],
)];
pub const FAST_GELU: &[Signature] = &[of("FastGelu", &[float("X"), maybe("bias")], Y, &[])];
pub const BIAS_GELU: &[Signature] = &[of("BiasGelu", &[float("A"), float("B")], Y, &[])];
pub const QUICK_GELU: &[Signature] = &[of("QuickGelu", &[float("X")], Y, &[given("alpha", Sort::Float)])];
pub const LAYER: &[Signature] = &[of(
    "LayerNormalization",
    &[float("X"), other("Scale"), other("B")],
    STATISTICS.split_at(3).0,
    NORMALIZED,
)];
pub const SIMPLIFIED: &[Signature] = &[of(
    "SimplifiedLayerNormalization",
    &[float("X"), other("scale")],
    &[float("Y"), other("inv_std_var")],
    NORMALIZED,
)];
pub const SKIP: &[Signature] = &[of(
    "SkipLayerNormalization",
    &[float("input"), float("skip"), float("gamma"), maybe("beta"), maybe("bias")],
    STATISTICS,
    EPSILON,
)];
pub const SKIP_SIMPLIFIED: &[Signature] = &[of(
    "SkipSimplifiedLayerNormalization",
    &[float("input"), float("skip"), float("gamma"), maybe("bias")],
    STATISTICS,
    EPSILON,
)];
pub const EMBED: &[Signature] = &[of(
    "EmbedLayerNormalization",
    &[
        integers("input_ids", Arity::One),
        integers("segment_ids", Arity::Optional),
        float("word_embedding"),
        float("position_embedding"),
        maybe("segment_embedding"),
        float("gamma"),
        float("beta"),
        integers("mask", Arity::Optional),
        integers("position_ids", Arity::Optional),
    ],
    &[float("output"), integers("mask_index", Arity::Optional), maybe("embedding_sum")],
    &[given("epsilon", Sort::Float), given("mask_index_type", Sort::Int)],
)];
pub const FUSED_MAT_MUL: &[Signature] = &[of(
    "FusedMatMul",
    &[float("A"), float("B")],
    Y,
    &[
        given("alpha", Sort::Float),
        given("transA", Sort::Int),
        given("transB", Sort::Int),
        given("transBatchA", Sort::Int),
        given("transBatchB", Sort::Int),
    ],
)];
pub const TRANSPOSE_MAT_MUL: &[Signature] = &[Signature { name: "TransposeMatMul", ..FUSED_MAT_MUL[0] }];
pub const FUSED_CONV: &[Signature] = &[of(
    "FusedConv",
    &[float("X"), float("W"), maybe("B"), maybe("Z")],
    Y,
    &[
        given("activation", Sort::String),
        given("activation_params", Sort::Floats),
        given("auto_pad", Sort::String),
        given("dilations", Sort::Ints),
        given("group", Sort::Int),
        given("kernel_shape", Sort::Ints),
        given("pads", Sort::Ints),
        given("strides", Sort::Ints),
    ],
)];
pub const FUSED_GEMM: &[Signature] = &[of(
    "FusedGemm",
    &[float("A"), float("B"), maybe("C")],
    Y,
    &[
        given("activation", Sort::String),
        given("activation_alpha", Sort::Float),
        given("activation_beta", Sort::Float),
        given("activation_gamma", Sort::Float),
        given("alpha", Sort::Float),
        given("beta", Sort::Float),
        given("transA", Sort::Int),
        given("transB", Sort::Int),
    ],
)];
pub const MAT_MUL_N_BITS: &[Signature] = &[of(
    "MatMulNBits",
    &[
        float("A"),
        param("B", "", BYTES, Arity::One),
        other("scales"),
        param("zero_points", "", ZEROS, Arity::Optional),
        integers("g_idx", Arity::Optional),
        maybe("bias"),
    ],
    Y,
    &[
        needed("K"),
        needed("N"),
        given("accuracy_level", Sort::Int),
        given("bits", Sort::Int),
        needed("block_size"),
        given("weight_prepacked", Sort::Int),
    ],
)];
pub const ROTARY: &[Signature] = &[of(
    "RotaryEmbedding",
    &[float("input"), integers("position_ids", Arity::One), float("cos_cache"), float("sin_cache")],
    Y,
    &[
        given("interleaved", Sort::Int),
        given("is_packed_batching", Sort::Int),
        given("num_heads", Sort::Int),
        given("rotary_embedding_dim", Sort::Int),
        given("scale", Sort::Float),
    ],
)];
pub const ATTENTION: &[Signature] = &[of(
    "Attention",
    &[
        float("input"),
        float("weights"),
        maybe("bias"),
        integers("mask_index", Arity::Optional),
        maybe("past"),
        maybe("attention_bias"),
        integers("past_sequence_length", Arity::Optional),
    ],
    &[float("output"), maybe("present")],
    &[
        given("do_rotary", Sort::Int),
        given("mask_filter_value", Sort::Float),
        needed("num_heads"),
        given("past_present_share_buffer", Sort::Int),
        given("qkv_hidden_sizes", Sort::Ints),
        given("rotary_embedding_dim", Sort::Int),
        given("scale", Sort::Float),
        given("unidirectional", Sort::Int),
    ],
)];
pub const MULTI_HEAD: &[Signature] = &[of(
    "MultiHeadAttention",
    &[
        float("query"),
        maybe("key"),
        maybe("value"),
        maybe("bias"),
        integers("key_padding_mask", Arity::Optional),
        maybe("attention_bias"),
        maybe("past_key"),
        maybe("past_value"),
        integers("past_sequence_length", Arity::Optional),
        integers("cache_indirection", Arity::Optional),
    ],
    &[float("output"), maybe("present_key"), maybe("present_value"), maybe("qk")],
    &[
        given("mask_filter_value", Sort::Float),
        needed("num_heads"),
        given("scale", Sort::Float),
        given("unidirectional", Sort::Int),
    ],
)];
/// The type of a cache, which may be quantized.
const CACHE: Types =
    Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::U8, DType::F8E4M3FN]);

const fn cache(name: &'static str, arity: Arity) -> Param {
    param(name, "T_CACHE", CACHE, arity)
}

const fn scales(name: &'static str) -> Param {
    param(name, "T_KV_SCALE", SINGLES, Arity::Optional)
}

pub const GROUP_QUERY: &[Signature] = &[of(
    "GroupQueryAttention",
    &[
        float("query"),
        maybe("key"),
        maybe("value"),
        cache("past_key", Arity::Optional),
        cache("past_value", Arity::Optional),
        integers("seqlens_k", Arity::One),
        integers("total_sequence_length", Arity::One),
        maybe("cos_cache"),
        maybe("sin_cache"),
        integers("position_ids", Arity::Optional),
        maybe("attention_bias"),
        maybe("head_sink"),
        scales("k_scale"),
        scales("v_scale"),
        maybe("q_norm_weight"),
        maybe("k_norm_weight"),
        integers("query_seqlens", Arity::Optional),
    ],
    &[
        float("output"),
        cache("present_key", Arity::One),
        cache("present_value", Arity::One),
        maybe("output_qk"),
    ],
    &[
        given("causal", Sort::Int),
        given("do_rotary", Sort::Int),
        given("k_norm_epsilon", Sort::Float),
        given("k_quant_type", Sort::String),
        given("kv_cache_bit_width", Sort::Int),
        needed("kv_num_heads"),
        given("local_window_size", Sort::Int),
        needed("num_heads"),
        given("q_norm_epsilon", Sort::Float),
        given("qk_norm_epsilon", Sort::Float),
        given("qk_output", Sort::Int),
        given("rotary_interleaved", Sort::Int),
        given("scale", Sort::Float),
        given("sliding_window_cache", Sort::Int),
        given("smooth_softmax", Sort::Int),
        given("softcap", Sort::Float),
        given("v_quant_type", Sort::String),
    ],
)];

const QUANTIZED: Types = Types::tensors(&[DType::I8, DType::U8]);
const SINGLES: Types = Types::tensors(&[DType::F32]);

const fn codes(name: &'static str) -> Param {
    param(name, "T2", QUANTIZED, Arity::One)
}

const fn single(name: &'static str, arity: Arity) -> Param {
    param(name, "T", SINGLES, arity)
}

pub const DYNAMIC_QUANTIZE_LSTM: &[Signature] = &[of(
    "DynamicQuantizeLSTM",
    &[
        single("X", Arity::One),
        codes("W"),
        codes("R"),
        single("B", Arity::Optional),
        param("sequence_lens", "T1", Types::tensors(&[DType::I32]), Arity::Optional),
        single("initial_h", Arity::Optional),
        single("initial_c", Arity::Optional),
        single("P", Arity::Optional),
        single("W_scale", Arity::One),
        codes("W_zero_point"),
        single("R_scale", Arity::One),
        codes("R_zero_point"),
    ],
    &[single("Y", Arity::Optional), single("Y_h", Arity::Optional), single("Y_c", Arity::Optional)],
    &[
        given("activation_alpha", Sort::Floats),
        given("activation_beta", Sort::Floats),
        given("activations", Sort::Strings),
        given("clip", Sort::Float),
        given("direction", Sort::String),
        given("hidden_size", Sort::Int),
        given("input_forget", Sort::Int),
    ],
)];
