//! Signatures of the operators of ONNX Runtime that are run, as its documentation lists them.

use gradus_core::DType;

use crate::schema::{Arity, Param, Signature, Sort, Types, attribute, param};

const FLOATS: Types = Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
const INTEGERS: Types = Types::tensors(&[DType::I32, DType::I64]);
const BYTES: Types = Types::tensors(&[DType::U8]);
const ZEROS: Types = Types::tensors(&[DType::U8, DType::F16, DType::BF16, DType::F32]);
const GATED: Types = Types::tensors(&[DType::F16, DType::BF16, DType::F32]);
/// The type of a cache, which may be quantized.
const CACHE: Types =
    Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::U8, DType::F8E4M3FN]);
const QUANTIZED: Types = Types::tensors(&[DType::I8, DType::U8]);
const SINGLES: Types = Types::tensors(&[DType::F32]);

/// Functions of a name that make parameters: the type variable, the types, and how often it occurs.
macro_rules! params {
    ($($make:ident $variable:literal $types:ident $arity:ident;)*) => {
        $(const fn $make(name: &'static str) -> Param {
            param(name, $variable, $types, Arity::$arity)
        })*
    };
}

params! {
    float "T" FLOATS One;
    maybe "T" FLOATS Optional;
    gated "T" GATED One;
    weights "T" GATED Optional;
    // A float whose type is its own.
    other "" FLOATS Optional;
    integers "" INTEGERS One;
    maybe_integers "" INTEGERS Optional;
    cache "T_CACHE" CACHE One;
    maybe_cache "T_CACHE" CACHE Optional;
    scales "T_KV_SCALE" SINGLES Optional;
    codes "T2" QUANTIZED One;
    single "T" SINGLES One;
    maybe_single "T" SINGLES Optional;
}

const Y: &[Param] = &[float("Y")];
const STATISTICS: &[Param] = &[float("Y"), other("mean"), other("inv_std_var"), maybe("sum")];

/// An attribute that must be given.
const NEEDED: bool = true;

/// Rows: the constant, the operator, its inputs and outputs, and its attributes by name.
macro_rules! signatures {
    ($(
        $row:ident $operator:literal [$($input:expr),*] => $outputs:expr,
            { $($attribute:ident: $sort:ident $($needed:ident)?),* };
    )*) => {
        $(pub const $row: &[Signature] = &[Signature {
            domain: "com.microsoft",
            name: $operator,
            since: 1,
            deprecated: false,
            inputs: &[$($input),*],
            outputs: $outputs,
            attributes: &[$(attribute(stringify!($attribute), Sort::$sort, [$($needed,)? false][0])),*],
        }];)*
    };
}

signatures! {
    GELU "Gelu" [float("X")] => Y, {};
    GATED_ADD "GatedAdd" [gated("X"), gated("Y"), gated("gate"), weights("gate_weight")]
        => &[gated("output")], {};
    FAST_GELU "FastGelu" [float("X"), maybe("bias")] => Y, {};
    BIAS_GELU "BiasGelu" [float("A"), float("B")] => Y, {};
    QUICK_GELU "QuickGelu" [float("X")] => Y, { alpha: Float };
    LAYER "LayerNormalization" [float("X"), other("Scale"), other("B")] => STATISTICS.split_at(3).0,
        { axis: Int, epsilon: Float, stash_type: Int };
    SIMPLIFIED "SimplifiedLayerNormalization" [float("X"), other("scale")]
        => &[float("Y"), other("inv_std_var")], { axis: Int, epsilon: Float, stash_type: Int };
    SKIP "SkipLayerNormalization"
        [float("input"), float("skip"), float("gamma"), maybe("beta"), maybe("bias")] => STATISTICS,
        { epsilon: Float };
    SKIP_SIMPLIFIED "SkipSimplifiedLayerNormalization"
        [float("input"), float("skip"), float("gamma"), maybe("bias")] => STATISTICS, { epsilon: Float };
    EMBED "EmbedLayerNormalization"
        [integers("input_ids"), maybe_integers("segment_ids"), float("word_embedding"),
         float("position_embedding"), maybe("segment_embedding"), float("gamma"), float("beta"),
         maybe_integers("mask"), maybe_integers("position_ids")]
        => &[float("output"), maybe_integers("mask_index"), maybe("embedding_sum")],
        { epsilon: Float, mask_index_type: Int };
    FUSED_MAT_MUL "FusedMatMul" [float("A"), float("B")] => Y,
        { alpha: Float, transA: Int, transB: Int, transBatchA: Int, transBatchB: Int };
    FUSED_CONV "FusedConv" [float("X"), float("W"), maybe("B"), maybe("Z")] => Y,
        { activation: String, activation_params: Floats, auto_pad: String, dilations: Ints, group: Int,
          kernel_shape: Ints, pads: Ints, strides: Ints };
    FUSED_GEMM "FusedGemm" [float("A"), float("B"), maybe("C")] => Y,
        { activation: String, activation_alpha: Float, activation_beta: Float, activation_gamma: Float,
          alpha: Float, beta: Float, transA: Int, transB: Int };
    MAT_MUL_N_BITS "MatMulNBits"
        [float("A"), param("B", "", BYTES, Arity::One), other("scales"),
         param("zero_points", "", ZEROS, Arity::Optional), maybe_integers("g_idx"), maybe("bias")] => Y,
        { K: Int NEEDED, N: Int NEEDED, accuracy_level: Int, bits: Int, block_size: Int NEEDED,
          weight_prepacked: Int };
    ROTARY "RotaryEmbedding"
        [float("input"), integers("position_ids"), float("cos_cache"), float("sin_cache")] => Y,
        { interleaved: Int, is_packed_batching: Int, num_heads: Int, rotary_embedding_dim: Int,
          scale: Float };
    ATTENTION "Attention"
        [float("input"), float("weights"), maybe("bias"), maybe_integers("mask_index"), maybe("past"),
         maybe("attention_bias"), maybe_integers("past_sequence_length")]
        => &[float("output"), maybe("present")],
        { do_rotary: Int, mask_filter_value: Float, num_heads: Int NEEDED, past_present_share_buffer: Int,
          qkv_hidden_sizes: Ints, rotary_embedding_dim: Int, scale: Float, unidirectional: Int };
    MULTI_HEAD "MultiHeadAttention"
        [float("query"), maybe("key"), maybe("value"), maybe("bias"), maybe_integers("key_padding_mask"),
         maybe("attention_bias"), maybe("past_key"), maybe("past_value"),
         maybe_integers("past_sequence_length"), maybe_integers("cache_indirection")]
        => &[float("output"), maybe("present_key"), maybe("present_value"), maybe("qk")],
        { mask_filter_value: Float, num_heads: Int NEEDED, scale: Float, unidirectional: Int };
    GROUP_QUERY "GroupQueryAttention"
        [float("query"), maybe("key"), maybe("value"), maybe_cache("past_key"), maybe_cache("past_value"),
         integers("seqlens_k"), integers("total_sequence_length"), maybe("cos_cache"), maybe("sin_cache"),
         maybe_integers("position_ids"), maybe("attention_bias"), maybe("head_sink"), scales("k_scale"),
         scales("v_scale"), maybe("q_norm_weight"), maybe("k_norm_weight"), maybe_integers("query_seqlens")]
        => &[float("output"), cache("present_key"), cache("present_value"), maybe("output_qk")],
        { causal: Int, do_rotary: Int, k_norm_epsilon: Float, k_quant_type: String, kv_cache_bit_width: Int,
          kv_num_heads: Int NEEDED, local_window_size: Int, num_heads: Int NEEDED, q_norm_epsilon: Float,
          qk_norm_epsilon: Float, qk_output: Int, rotary_interleaved: Int, scale: Float,
          sliding_window_cache: Int, smooth_softmax: Int, softcap: Float, v_quant_type: String };
    DYNAMIC_QUANTIZE_LSTM "DynamicQuantizeLSTM"
        [single("X"), codes("W"), codes("R"), maybe_single("B"),
         param("sequence_lens", "T1", Types::tensors(&[DType::I32]), Arity::Optional),
         maybe_single("initial_h"), maybe_single("initial_c"), maybe_single("P"), single("W_scale"),
         codes("W_zero_point"), single("R_scale"), codes("R_zero_point")]
        => &[maybe_single("Y"), maybe_single("Y_h"), maybe_single("Y_c")],
        { activation_alpha: Floats, activation_beta: Floats, activations: Strings, clip: Float,
          direction: String, hidden_size: Int, input_forget: Int };
}

pub const TRANSPOSE_MAT_MUL: &[Signature] = &[Signature { name: "TransposeMatMul", ..FUSED_MAT_MUL[0] }];
