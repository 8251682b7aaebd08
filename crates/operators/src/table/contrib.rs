//! The operators that ONNX Runtime adds to ONNX, and those that Gradus adds.

use gradus_kernels::Function;

use crate::allowed::{Allowed, Carries};
use crate::numbers;
use crate::rounding::Rounding::{Chosen, Exact, Formula, Lowered, Open, Order};
use crate::row::{Role, Row, Sequence, ZeroSigns, microsoft, onnx, own};
use crate::words;
use crate::work::{Attention, Each, OF_TEXTS, OF_TOKENS, Work};
use crate::{
    contrib, dialects, elementwise, images, indexing, layout, matmul, normalization, range, recurrent, text,
    windows,
};

pub(super) const CONTRIB: &[Row] = rows![
    onnx("SimplifiedLayerNormalization", Order)
        .allows(Allowed::Unknown)
        .works(Work::EachInput(Each::arithmetic(4)))
        .signatures_are(contrib::signatures::SIMPLIFIED)
        .infer(contrib::normalization::infer::normalised)
        .computes(normalization::eval::layer)
        .lower(|l| contrib::normalization::lowered::layer(l, false)),
    own("GeomSpace", Formula, &[range::spaces::GEOMSPACE])
        .sequence(Sequence::GeomSpace)
        .works(Work::EachOutput(Each::of(2, 0, 1)))
        .infer(range::spaces::rule)
        .build(range::spaces::build),
    own("LinSpace", Formula, &[range::spaces::LINSPACE])
        .sequence(Sequence::LinSpace)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(range::spaces::rule)
        .build(range::spaces::build),
    own("LogSpace", Formula, &[range::spaces::LOGSPACE])
        .sequence(Sequence::LogSpace)
        .works(Work::EachOutput(Each::of(2, 0, 1)))
        .infer(range::spaces::rule)
        .build(range::spaces::build),
    microsoft("Attention", Lowered)
        .zeros(ZeroSigns::OfAll)
        .works(Work::Attention(Attention::Projected))
        .signatures_are(contrib::signatures::ATTENTION)
        .infer(|cx| contrib::attention::infer::attention(cx, 4, 0))
        .computes(contrib::attention::eval::attention)
        .lower(contrib::attention::lowered::attention),
    microsoft("BeamSearch", Open).works(Work::Open(OF_TOKENS)).infer(contrib::tokens::infer::beam_search),
    microsoft("BiasAdd", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::activations::lowered::bias_add),
    microsoft("BiasDropout", Lowered)
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::activations::lowered::bias_dropout)
        .random_in_training(),
    microsoft("BiasGelu", Lowered)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .signatures_are(contrib::signatures::BIAS_GELU)
        .infer(elementwise::infer::microsoft_same)
        .computes(contrib::activations::eval::biased_gelu)
        .lower(|l| contrib::activations::lowered::biased_gelu(l, false)),
    microsoft("BiasSoftmax", Lowered)
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::activations::lowered::bias_softmax),
    microsoft("BiasSplitGelu", Lowered)
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::activations::lowered::bias_split_gelu),
    microsoft("BitmaskDropout", Open).works(Work::None).infer(elementwise::infer::same),
    microsoft("CDist", Lowered)
        .words(&[words::METRIC])
        .infer(contrib::products::infer::c_dist)
        .lowers(contrib::products::lowered::c_dist),
    microsoft("ComplexMul", Lowered).lowers(|l| contrib::signal::complex_mul(l, false)),
    microsoft("ComplexMulConj", Lowered).lowers(|l| contrib::signal::complex_mul(l, true)),
    microsoft("CropAndResize", Formula)
        .allows(Allowed::Interpolated)
        .words(&[words::CROP_MODE])
        .works(Work::GridSample)
        .infer(contrib::images::infer::crop_and_resize)
        .computes(contrib::images::eval::crop_and_resize),
    microsoft("DequantizeLinear", Lowered)
        .role(Role::Dequantize)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(contrib::quantized::infer::dequantize_linear)
        .lowers(|l| contrib::quantized::lowered::linear(l, "DequantizeLinear")),
    microsoft("DynamicQuantizeLinear", Formula)
        .role(Role::Quantize)
        .allows(Allowed::Code)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::of(1, 2, 0)))
        .infer(contrib::quantized::infer::dynamic_quantize_linear),
    microsoft("DynamicQuantizeLSTM", Lowered)
        .words(&[words::DIRECTION, words::GATES])
        .works(Work::Recurrent { weight: 1 })
        .signatures_are(contrib::signatures::DYNAMIC_QUANTIZE_LSTM)
        .infer(recurrent::infer::recurrent)
        .computes(recurrent::eval::recurrent)
        .lower(contrib::quantized::lstm::lstm),
    microsoft("DynamicQuantizeMatMul", Lowered)
        .works(Work::MatMul)
        .infer(matmul::infer::dynamic_quantize_mat_mul)
        .lowers(contrib::quantized::lowered::dynamic_quantize_mat_mul),
    microsoft("EmbedLayerNormalization", Lowered)
        .works(Work::EachOutput(Each::arithmetic(9)))
        .signatures_are(contrib::signatures::EMBED)
        .infer(contrib::embeddings::infer::embedded)
        .computes(contrib::embeddings::eval::embed)
        .lower(contrib::embeddings::lowered::embed),
    microsoft("ExpandDims", Lowered)
        .works(Work::None)
        .infer(contrib::renamed::infer::expand_dims)
        .lowers(contrib::renamed::lowered::expand_dims),
    microsoft("FastGelu", Lowered)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .signatures_are(contrib::signatures::FAST_GELU)
        .infer(elementwise::infer::microsoft_same)
        .computes(contrib::activations::eval::biased_gelu)
        .lower(|l| contrib::activations::lowered::biased_gelu(l, true)),
    microsoft("FusedConv", Lowered)
        .words(&[words::FUSED_ACTIVATION, words::AUTO_PAD])
        .numbers(&[numbers::WINDOW_PADS])
        .works(Work::Conv { weight: 1, skip: 1 })
        .signatures_are(contrib::signatures::FUSED_CONV)
        .infer(windows::infer::fused_conv)
        .computes(contrib::products::eval::fused_conv)
        .lower(|l| contrib::products::lowered::fused_conv(l, false)),
    microsoft("FusedGemm", Lowered)
        .words(&[words::FUSED_ACTIVATION])
        .works(Work::MatMul)
        .signatures_are(contrib::signatures::FUSED_GEMM)
        .infer(matmul::infer::fused_gemm)
        .computes(contrib::products::eval::fused_gemm)
        .lower(contrib::products::lowered::fused_gemm),
    microsoft("FusedMatMul", Lowered)
        .weights(&[0, 1])
        .zeros(ZeroSigns::OfAll)
        .works(Work::MatMul)
        .signatures_are(contrib::signatures::FUSED_MAT_MUL)
        .infer(matmul::infer::fused)
        .computes(contrib::products::eval::fused_mat_mul)
        .lower(contrib::products::lowered::fused_mat_mul),
    microsoft("FusedMatMulActivation", Order)
        .allows(Allowed::Unknown)
        .words(&[words::FUSED_ACTIVATION])
        .works(Work::MatMul)
        .infer(matmul::infer::fused),
    microsoft("GatedAdd", Lowered)
        .signatures_are(contrib::signatures::GATED_ADD)
        .lowers(contrib::activations::lowered::gated_add),
    microsoft("GatedRMSNorm", Lowered)
        .words(&[words::GATE_ACTIVATION])
        .lowers(contrib::normalization::lowered::gated_rms_norm),
    microsoft("GatedRelativePositionBias", Lowered)
        .lowers(contrib::attention::lowered::gated_relative_position_bias),
    microsoft("GatherBlockQuantized", Lowered)
        .infer(contrib::quantized::infer::gather_quantized)
        .lowers(contrib::quantized::lowered::gather),
    microsoft("GatherND", Lowered)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::None)
        .infer(indexing::infer::gather_nd)
        .lowers(contrib::renamed::lowered::gather_nd),
    microsoft("Gelu", Formula)
        .carries(Carries::As(Function::Gelu))
        .allows(Allowed::OF_ELEMENT)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .signatures_are(contrib::signatures::GELU)
        .infer(elementwise::infer::microsoft_same)
        .computes(contrib::activations::eval::biased_gelu)
        .lower(|l| contrib::activations::lowered::biased_gelu(l, false)),
    microsoft("GemmFastGelu", Lowered)
        .works(Work::MatMul)
        .infer(contrib::products::infer::gemm_fast_gelu)
        .lowers(contrib::products::lowered::gemm_fast_gelu),
    microsoft("GemmFloat8", Order)
        .allows(Allowed::Unknown)
        .words(&[words::FUSED_ACTIVATION])
        .works(Work::MatMul)
        .infer(matmul::infer::gemm_float8),
    microsoft("GemmaRotaryEmbedding", Formula).infer(elementwise::infer::microsoft_same),
    microsoft("GreedySearch", Open).works(Work::Open(OF_TOKENS)).infer(contrib::tokens::infer::beam_search),
    microsoft("GridSample", Lowered)
        .words(&[words::RUNTIME_GRID_MODE, words::GRID_PADDING])
        .works(Work::GridSample)
        .infer(images::infer::grid_sample_rule)
        .lowers(contrib::images::lowered::grid_sample),
    microsoft("GroupNorm", Lowered)
        .works(Work::EachInput(Each::arithmetic(7)))
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::normalization::lowered::group_norm),
    microsoft("GroupQueryAttention", Lowered)
        .words(&[words::K_QUANTIZED, words::V_QUANTIZED])
        .works(Work::Attention(Attention::GroupQuery))
        .signatures_are(contrib::signatures::GROUP_QUERY)
        .infer(contrib::attention::infer::group_query)
        .computes(contrib::attention::group_query_eval::group_query)
        .lower(contrib::attention::group_query_lowered::group_query),
    microsoft("Inverse", Order)
        .allows(Allowed::Unknown)
        .works(Work::Elimination { parts: 1 })
        .infer(matmul::infer::square)
        .computes(matmul::elimination::inverse)
        .lower(dialects::elimination::inverse)
        .converts("Inverse", "rounding", matmul::to_openvino::inverse),
    microsoft("Irfft", Lowered).lowers(contrib::signal::irfft),
    microsoft("IsAllFinite", Lowered)
        .works(Work::AllInputs(Each::COMPARISON))
        .infer(contrib::renamed::infer::is_all_finite)
        .lowers(contrib::renamed::lowered::is_all_finite),
    microsoft("LayerNormalization", Order)
        .allows(Allowed::Unknown)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::EachInput(Each::arithmetic(7)))
        .signatures_are(contrib::signatures::LAYER)
        .infer(contrib::normalization::infer::normalised)
        .computes(normalization::eval::layer)
        .lower(|l| contrib::normalization::lowered::layer(l, true)),
    microsoft("LongformerAttention", Formula).infer(elementwise::infer::microsoft_same),
    microsoft("MatMulBnb4", Order)
        .allows(Allowed::Unknown)
        .works(Work::MatMul)
        .infer(matmul::infer::packed_in_blocks)
        .computes(contrib::packed::eval::mat_mul_bnb4)
        .becomes("DequantizeLinear, Gather, MatMul", "rounding", contrib::packed::lowered::mat_mul_bnb4),
    microsoft("MatMulFpQ4", Order)
        .allows(Allowed::Unknown)
        .works(Work::MatMul)
        .infer(contrib::packed::fp_q4::rule)
        .computes(contrib::packed::fp_q4::mat_mul_fp_q4)
        .becomes("DequantizeLinear, Transpose, MatMul", "rounding", contrib::packed::fp_q4::to_onnx),
    microsoft("MatMulInteger16", Lowered)
        .works(Work::MatMul)
        .infer(matmul::infer::mat_mul_integer16)
        .lowers(contrib::quantized::lowered::mat_mul_integer16),
    microsoft("MatMulIntegerToFloat", Lowered)
        .works(Work::MatMul)
        .infer(matmul::infer::mat_mul_integer_to_float)
        .lowers(contrib::quantized::lowered::mat_mul_integer_to_float),
    microsoft("MatMulNBits", Order)
        .allows(Allowed::Unknown)
        .works(Work::MatMul)
        .signatures_are(contrib::signatures::MAT_MUL_N_BITS)
        .infer(matmul::infer::packed)
        .computes(contrib::packed::eval::mat_mul_n_bits)
        .becomes(
            "DequantizeLinear, Gather, Sub, Mul, Transpose, MatMul",
            "rounding",
            contrib::packed::lowered::mat_mul_n_bits,
        ),
    microsoft("MaxpoolWithMask", Chosen)
        .auto_pads()
        .works(Work::Window(Each::COMPARISON))
        .infer(windows::infer::microsoft_pool),
    microsoft("MoE", Order)
        .allows(Allowed::Unknown)
        .words(&[words::EXPERT_ACTIVATION])
        .works(Work::Experts { weights: [2, 4, 6] })
        .infer(elementwise::infer::microsoft_same),
    microsoft("MulInteger", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .lowers(contrib::quantized::lowered::mul_integer),
    microsoft("MultiHeadAttention", Lowered)
        .works(Work::Attention(Attention::MultiHead))
        .signatures_are(contrib::signatures::MULTI_HEAD)
        .infer(contrib::attention::infer::multi_head)
        .computes(contrib::attention::eval::multi_head)
        .lower(contrib::attention::lowered::multi_head),
    microsoft("MurmurHash3", Exact)
        .infer(contrib::tokens::infer::murmur_hash3)
        .computes(contrib::tokens::eval::murmur_hash3),
    microsoft("NGramRepeatBlock", Exact)
        .infer(contrib::tokens::infer::n_gram_repeat_block)
        .computes(contrib::tokens::eval::n_gram_repeat_block),
    microsoft("NhwcConv", Lowered)
        .auto_pads()
        .works(Work::Conv { weight: 1, skip: 1 })
        .lowers(|l| contrib::products::lowered::fused_conv(l, true)),
    microsoft("NhwcFusedConv", Lowered)
        .words(&[words::FUSED_ACTIVATION, words::AUTO_PAD])
        .numbers(&[numbers::WINDOW_PADS])
        .works(Work::Conv { weight: 1, skip: 1 })
        .infer(windows::infer::fused_conv)
        .lowers(|l| contrib::products::lowered::fused_conv(l, true)),
    microsoft("NhwcMaxPool", Lowered)
        .auto_pads()
        .works(Work::Window(Each::COMPARISON))
        .infer(windows::infer::microsoft_pool)
        .lowers(contrib::images::lowered::nhwc_max_pool),
    microsoft("Pad", Lowered)
        .words(&[words::PAD_MODE])
        .zeros(ZeroSigns::OfFirst)
        .works(Work::None)
        .infer(layout::infer::pad)
        .lowers(contrib::renamed::lowered::pad),
    microsoft("QAttention", Lowered)
        .works(Work::Attention(Attention::Projected))
        .infer(|cx| contrib::attention::infer::attention(cx, 8, 3))
        .lowers(contrib::quantized::lowered::attention),
    microsoft("QEmbedLayerNormalization", Lowered)
        .works(Work::EachOutput(Each::arithmetic(9)))
        .infer(contrib::embeddings::infer::embedded)
        .lowers(contrib::quantized::lowered::embed),
    microsoft("QGemm", Lowered)
        .works(Work::MatMul)
        .infer(matmul::infer::q_gemm)
        .lowers(contrib::quantized::lowered::gemm),
    microsoft("QLinearAdd", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::qlinear)
        .lowers(|l| contrib::quantized::lowered::binary(l, "Add")),
    microsoft("QLinearAveragePool", Lowered)
        .auto_pads()
        .works(Work::Window(Each::arithmetic(1)))
        .infer(windows::infer::microsoft_pool)
        .lowers(contrib::quantized::lowered::average_pool),
    microsoft("QLinearConcat", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(layout::infer::qlinear_concat)
        .lowers(contrib::quantized::lowered::concat),
    microsoft("QLinearConv", Lowered)
        .auto_pads()
        .works(Work::Conv { weight: 3, skip: 1 })
        .infer(windows::infer::q_linear_conv_rule)
        .lowers(contrib::quantized::lowered::conv),
    microsoft("QLinearGlobalAveragePool", Lowered)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(windows::infer::q_linear_global_average_pool)
        .lowers(contrib::quantized::lowered::global_average_pool),
    microsoft("QLinearLeakyRelu", Lowered)
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::quantized::lowered::leaky_relu),
    microsoft("QLinearMul", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::qlinear)
        .lowers(|l| contrib::quantized::lowered::binary(l, "Mul")),
    microsoft("QLinearReduceMean", Lowered)
        .works(Work::EachInput(Each::arithmetic(1)))
        .lowers(contrib::quantized::lowered::reduce_mean),
    microsoft("QLinearSigmoid", Lowered)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::quantized::lowered::sigmoid),
    microsoft("QLinearSoftmax", Lowered)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::microsoft_same)
        .lowers(contrib::quantized::lowered::softmax),
    microsoft("QLinearWhere", Lowered)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::q_linear_where)
        .lowers(contrib::quantized::lowered::choose),
    microsoft("QMoE", Order)
        .allows(Allowed::Unknown)
        .words(&[words::EXPERT_ACTIVATION])
        .works(Work::Experts { weights: [2, 5, 8] })
        .infer(elementwise::infer::microsoft_same),
    microsoft("QuantizeLinear", Lowered)
        .role(Role::Quantize)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(contrib::quantized::infer::quantize_linear)
        .lowers(|l| contrib::quantized::lowered::linear(l, "QuantizeLinear")),
    microsoft("QuickGelu", Lowered)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .signatures_are(contrib::signatures::QUICK_GELU)
        .infer(elementwise::infer::microsoft_same)
        .computes(elementwise::activations::eval)
        .lower(contrib::activations::lowered::quick_gelu),
    microsoft("Range", Lowered)
        .sequence(Sequence::Range)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .lowers(contrib::renamed::lowered::range),
    microsoft("ReduceSumInteger", Lowered)
        .works(Work::EachInput(Each::arithmetic(1)))
        .lowers(contrib::quantized::lowered::reduce_sum_integer),
    microsoft("RelativePositionBias", Exact).infer(contrib::attention::infer::relative_position_bias),
    microsoft("Rfft", Lowered).infer(elementwise::infer::microsoft_same).lowers(contrib::signal::rfft),
    microsoft("RotaryEmbedding", Formula)
        .zeros(ZeroSigns::OfAll)
        .works(Work::EachInput(Each::arithmetic(3)))
        .signatures_are(contrib::signatures::ROTARY)
        .infer(contrib::attention::infer::rotary)
        .computes(contrib::attention::eval::rotary),
    microsoft("Sampling", Open).works(Work::Open(OF_TOKENS)).infer(contrib::tokens::infer::beam_search),
    microsoft("ScaledSiLU", Lowered)
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .lowers(contrib::activations::lowered::scaled_silu),
    microsoft("SimplifiedLayerNormalization", Order)
        .allows(Allowed::Unknown)
        .works(Work::EachInput(Each::arithmetic(4)))
        .signatures_are(contrib::signatures::SIMPLIFIED)
        .infer(contrib::normalization::infer::normalised)
        .computes(normalization::eval::layer)
        .lower(|l| contrib::normalization::lowered::layer(l, false)),
    microsoft("SkipGroupNorm", Lowered)
        .works(Work::EachInput(Each::arithmetic(8)))
        .infer(contrib::normalization::infer::skip_group_norm)
        .lowers(contrib::normalization::lowered::skip_group_norm),
    microsoft("SkipLayerNormalization", Lowered)
        .zeros(ZeroSigns::OfAll)
        .bias(3)
        .works(Work::EachInput(Each::arithmetic(8)))
        .signatures_are(contrib::signatures::SKIP)
        .infer(contrib::normalization::infer::normalised)
        .computes(contrib::normalization::eval::skip_layer)
        .lower(|l| contrib::normalization::lowered::skip_layer(l, true)),
    microsoft("SkipSimplifiedLayerNormalization", Lowered)
        .works(Work::EachInput(Each::arithmetic(5)))
        .signatures_are(contrib::signatures::SKIP_SIMPLIFIED)
        .infer(contrib::normalization::infer::normalised)
        .computes(contrib::normalization::eval::skip_layer)
        .lower(|l| contrib::normalization::lowered::skip_layer(l, false)),
    microsoft("Tokenizer", Open)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::tokenizer)
        .computes(text::strings::tokenize)
        .lacks("operator that splits strings"),
    microsoft("TorchEmbedding", Lowered)
        .infer(contrib::embeddings::infer::torch_embedding)
        .lowers(contrib::embeddings::lowered::embedding),
    microsoft("TransposeMatMul", Lowered)
        .works(Work::MatMul)
        .signatures_are(contrib::signatures::TRANSPOSE_MAT_MUL)
        .infer(matmul::infer::fused)
        .computes(contrib::products::eval::fused_mat_mul)
        .lower(contrib::products::lowered::fused_mat_mul),
    microsoft("Trilu", Lowered)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::None)
        .infer(elementwise::infer::microsoft_same)
        .lowers(|l| contrib::renamed::lowered::same(l, "Trilu", &["upper"])),
    microsoft("UnfoldTensor", Lowered).works(Work::None).lowers(contrib::images::lowered::unfold),
    microsoft("Unique", Lowered)
        .works(Work::EachInput(Each::COMPARISON))
        .lowers(contrib::renamed::lowered::unique),
];
