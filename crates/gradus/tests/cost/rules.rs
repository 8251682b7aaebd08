//! Every rule of costs, on a node of each operator that has one, against figures derived by hand.
//!
//! A line is a node: its standard or domain, its operator and version, inputs, attributes, how many
//! outputs it has (`/3`), and its MACs and operations, or that these are `open`. Operations are sums of
//! classes: `18+6c+6t` are 18 of arithmetic, 6 comparisons and 6 transcendentals.
//!
//! | written | is |
//! |---|---|
//! | `f[2,3]` | an input of float32 and its sizes; `-` is none, and `?` one of which nothing is known |
//! | `=i64[2]:1,5` | a constant |
//! | `axis=1`, `axes=1,2,`, `alpha~0.5`, `mode:linear` | an attribute: an integer, integers, a float, a text |
//! | `splits%f:0.5,` | an attribute that is a list of float32 or uint8 in a tensor |

use std::collections::BTreeSet;

use gradus::graph::{Builder, Content, Standard};
use gradus::infer::InferOptions;
use gradus::{Model, Tensor, operators};

use crate::common::sketch::Sketch;

/// Operators that cost what their graphs do, as the `Loop` and `Scan` of `cost.rs`.
const OF_GRAPHS: [&str; 2] = ["SequenceMap", "TensorIterator"];

/// Tests of operators that take more than a line.
const ELSEWHERE: [&str; 2] = [include_str!("figures.rs"), include_str!("operators.rs")];

const NODES: &[&str] = &[
    // Elements of the output, once each.
    "onnx Bernoulli-22 f[2,3] -> 0 6",
    "onnx BitShift-11 u8[2,3] u8[3] direction:LEFT -> 0 6",
    "onnx Celu-12 f[2,3] -> 0 6t",
    "onnx Clip-13 f[2,3] f[] f[] -> 0 6c",
    "onnx DequantizeLinear-21 u8[2,3] f[] -> 0 6",
    "onnx Dropout-22 f[2,3] -> 0 6",
    "onnx Elu-22 f[2,3] -> 0 6t",
    "onnx Gelu-20 f[2,3] -> 0 6t",
    "onnx HardSigmoid-22 f[2,3] -> 0 6c",
    "onnx HardSwish-22 f[2,3] -> 0 6c",
    "onnx Hardmax-13 f[2,3] -> 0 6c",
    "onnx IsInf-20 f[2,3] -> 0 6c",
    "onnx IsNaN-20 f[2,3] -> 0 6c",
    "onnx LeakyRelu-16 f[2,3] -> 0 6c",
    "onnx Mean-13 f[2,3] f[3] -> 0 6",
    "onnx Mish-22 f[2,3] -> 0 6t",
    "onnx PRelu-16 f[2,3] f[3] -> 0 6c",
    "onnx QuantizeLinear-21 f[2,3] f[] u8[] -> 0 6",
    "onnx RandomNormal-22 shape=2,3, -> 0 6",
    "onnx RandomNormalLike-22 f[2,3] -> 0 6",
    "onnx RandomUniform-22 shape=2,3, -> 0 6",
    "onnx RandomUniformLike-22 f[2,3] -> 0 6",
    "onnx Selu-22 f[2,3] -> 0 6t",
    "onnx Shrink-9 f[2,3] -> 0 6c",
    "onnx Softsign-22 f[2,3] -> 0 6",
    "onnx Swish-24 f[2,3] -> 0 6t",
    "onnx ThresholdedRelu-22 f[2,3] -> 0 6c",
    "ml CategoryMapper-1 i64[2,3] cats_int64s=1, cats_strings:a; -> 0 6c",
    "ml LabelEncoder-4 i64[2,3] keys_int64s=1, values_int64s=2, -> 0 6c",
    "microsoft BiasAdd-1 f[2,2,3] f[3] f[2,2,3] -> 0 12",
    "microsoft BiasGelu-1 f[1,3] f[3] -> 0 3t",
    "microsoft DequantizeLinear-1 u8[4,3,4] f[] u8[] -> 0 48",
    "microsoft FastGelu-1 f[2,3,4] f[4] -> 0 24t",
    "microsoft Gelu-1 f[4,3] -> 0 12t",
    "microsoft MulInteger-1 i8[1,2,1] i8[] i8[4,2,1] i8[] -> 0 8",
    "microsoft QLinearAdd-1 u8[3] f[] u8[] u8[2,2,3] f[] u8[] f[] - -> 0 12",
    "microsoft QLinearConcat-1 f[] i8[] i8[3] f[] i8[] i8[1] f[] i8[] axis=-1 -> 0 4",
    "microsoft QLinearLeakyRelu-1 u8[3,2,2] f[] u8[] f[] u8[] alpha~0.5 -> 0 12c",
    "microsoft QLinearMul-1 i8[1] f[] i8[] i8[3,1] f[] i8[] f[] i8[] -> 0 3",
    "microsoft QLinearSigmoid-1 i8[4,4,2] f[] i8[] f[] i8[] -> 0 32t",
    "microsoft QLinearWhere-1 b[2,3] u8[2,3] f[] u8[] u8[2,3] f[] u8[] f[] u8[] -> 0 6",
    "microsoft QuantizeLinear-1 f[1,3] f[] u16[] -> 0 3",
    "microsoft Tokenizer-1 s[2] mark=0 mincharnum=1 tokenexp:a -> open",
    "microsoft QuickGelu-1 f[2] alpha~1.5 -> 0 2t",
    "microsoft ScaledSiLU-1 f[4,3] f[] alpha~0.5 -> 0 12t",
    "openvino BitwiseNot-13 i32[2,3] -> 0 6",
    "openvino Clamp-1 f[2,3] min:0 max:1 -> 0 6c",
    "openvino Divide-1 f[2,3] f[3] -> 0 6",
    "openvino Elu-1 f[2,3] alpha:1 -> 0 6t",
    "openvino Erf-1 f[2,3] -> 0 6t",
    "openvino ErfInv-17 f[2,3] -> 0 6t",
    "openvino Gelu-7 f[2,3] approximation_mode:ERF -> 0 6t",
    "openvino HSigmoid-5 f[2,3] -> 0 6c",
    "openvino HSwish-4 f[2,3] -> 0 6c",
    "openvino HardSigmoid-1 f[2,3] f[] f[] -> 0 6c",
    "openvino IsFinite-10 f[2,3] -> 0 6c",
    "openvino IsInf-10 f[2,3] -> 0 6c",
    "openvino IsNaN-10 f[2,3] -> 0 6c",
    "openvino Mish-4 f[2,3] -> 0 6t",
    "openvino PReLU-1 f[2,3] f[3] -> 0 6c",
    "openvino RandomUniform-8 =i64[2]:2,3 f[] f[] output_type:f32 -> 0 6",
    "openvino ReLU-1 f[2,3] -> 0 6c",
    "openvino Round-5 f[2,3] mode:half_to_even -> 0 6",
    "openvino Selu-1 f[2,3] f[] f[] -> 0 6t",
    "openvino SoftPlus-4 f[2,3] -> 0 6t",
    "openvino SoftSign-9 f[2,3] -> 0 6",
    "openvino Swish-4 f[2,3] -> 0 6t",
    // Elements of the output, several times each.
    "onnx Range-11 =i64[]:0 =i64[]:5 =i64[]:1 -> 0 10",
    "onnx MelWeightMatrix-17 =i64[]:4 =i64[]:16 =i64[]:8000 f[] f[] -> 0 72",
    "ml OneHotEncoder-1 i64[2,3] cats_int64s=1,2,3,4, -> 0 24c",
    "microsoft EmbedLayerNormalization-1 i32[2,2] - f[6,3] f[4,3] - f[3] f[3] i32[2,2] /2 -> 0 108",
    "microsoft QEmbedLayerNormalization-1 i32[2,3] i32[2,3] u8[6,4] u8[4,4] u8[2,4] u8[4] u8[4] - f[] f[] f[] f[] f[] \
     u8[] u8[] u8[] u8[] u8[] /2 -> 0 216",
    "microsoft Range-1 =i64[]:0 =i64[]:5 -> 0 10",
    "openvino Range-4 =i64[]:0 =i64[]:5 =i64[]:1 output_type:i64 -> 0 10",
    "gradus LinSpace-1 f[] f[] =i64[]:5 dtype:float32 -> 0 10",
    "gradus LogSpace-1 f[] f[] =i64[]:5 f[] dtype:float32 -> 0 10+5t",
    "gradus GeomSpace-1 f[] f[] =i64[]:5 dtype:float32 -> 0 10+5t",
    // Elements of the input.
    "onnx ArgMax-13 f[2,3] axis=1 -> 0 6c",
    "onnx ArgMin-13 f[2,3] axis=1 -> 0 6c",
    "onnx CumProd-26 f[2,3] =i64[]:1 -> 0 6",
    "onnx CumSum-14 f[2,3] =i64[]:1 -> 0 6",
    "onnx DynamicQuantizeLinear-11 f[2,3] /3 -> 0 6+12c",
    "onnx BatchNormalization-15 f[1,2,3] f[2] f[2] f[2] f[2] -> 0 12",
    "onnx GlobalAveragePool-22 f[1,2,3,3] -> 0 18",
    "onnx GlobalLpPool-22 f[1,2,3,3] -> 0 18",
    "onnx GlobalMaxPool-22 f[1,2,3,3] -> 0 18c",
    "onnx GroupNormalization-21 f[1,2,3] f[2] f[2] num_groups=1 -> 0 42",
    "onnx InstanceNormalization-22 f[1,2,3] f[2] f[2] -> 0 42",
    "onnx LayerNormalization-17 f[2,3] f[3] -> 0 42",
    "onnx LogSoftmax-13 f[2,3] -> 0 18+6c+6t",
    "onnx LpNormalization-22 f[2,3] -> 0 18",
    "onnx MeanVarianceNormalization-13 f[1,2,3,1] -> 0 30",
    "onnx RMSNormalization-23 f[2,3] f[3] -> 0 24",
    "onnx ReduceL1-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx ReduceL2-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx ReduceLogSum-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx ReduceLogSumExp-18 f[2,3] =i64[1]:1 -> 0 12+6c+6t",
    "onnx ReduceMax-20 f[2,3] =i64[1]:1 -> 0 6c",
    "onnx ReduceMean-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx ReduceMin-20 f[2,3] =i64[1]:1 -> 0 6c",
    "onnx ReduceProd-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx ReduceSumSquare-18 f[2,3] =i64[1]:1 -> 0 6",
    "onnx RotaryEmbedding-23 f[1,2,3,4] f[1,3,2] f[1,3,2] -> 0 72",
    "onnx SimplifiedLayerNormalization-1 f[2,3] f[3] -> 0 24",
    "onnx Softmax-13 f[2,3] -> 0 18+6c+6t",
    "onnx TopK-11 f[2,3] =i64[1]:1 /2 -> 0 6c",
    "onnx Unique-11 f[5] /4 -> 0 5c",
    "microsoft DynamicQuantizeLinear-1 f[2,3] /3 -> 0 6+12c",
    "microsoft GroupNorm-1 f[1,2,1,4] f[4] f[4] activation=1 groups=2 -> 0 56",
    "microsoft IsAllFinite-1 f[4,4] f[3] f[2] -> 0 21c",
    "microsoft LayerNormalization-1 f[2,3] f[3] -> 0 42",
    "microsoft QLinearGlobalAveragePool-1 u8[2,4,2,3] f[] u8[] f[] u8[] channels_last=0 -> 0 48",
    "microsoft QLinearReduceMean-1 i8[3,4,1] f[] i8[] f[] i8[] axes=2, keepdims=1 -> 0 12",
    "microsoft QLinearSoftmax-1 u8[4,4] f[] u8[] f[] u8[] opset=13 axis=-2 -> 0 48+16c+16t",
    "microsoft ReduceSumInteger-1 i8[2,4,3] axes=2, keepdims=0 -> 0 24",
    "microsoft RotaryEmbedding-1 f[1,1,4] i64[1] f[8,2] f[8,2] num_heads=1 rotary_embedding_dim=4 -> 0 12",
    "microsoft SimplifiedLayerNormalization-1 f[2,3] f[3] -> 0 24",
    "microsoft SkipGroupNorm-1 f[2,1,2,2] f[2] f[2] f[2,1,1,2] f[2] activation=0 groups=1 /2 -> 0 64",
    "microsoft SkipLayerNormalization-1 f[4,2,2] f[4,2,2] f[2] - f[2] -> 0 128",
    "microsoft SkipSimplifiedLayerNormalization-1 f[3,2,3] f[3,2,3] f[3] f[3] -> 0 90",
    "microsoft Unique-1 f[2] /3 -> 0 2c",
    "openvino BatchNormInference-5 f[1,2,3] f[2] f[2] f[2] f[2] epsilon:1e-5 -> 0 12",
    "openvino CumSum-3 f[2,3] =i64[]:0 -> 0 6",
    "openvino FakeQuantize-1 f[2,3] f[] f[] f[] f[] levels:256 -> 0 6+6c",
    "openvino GroupNormalization-12 f[1,2,3] f[2] f[2] num_groups:1 epsilon:1e-5 -> 0 42",
    "openvino LogSoftmax-5 f[2,3] axis:1 -> 0 18+6c+6t",
    "openvino MVN-6 f[2,3] =i64[1]:1 normalize_variance:true eps:1e-9 eps_mode:inside_sqrt -> 0 30",
    "openvino ReduceL1-4 f[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino ReduceL2-4 f[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino ReduceLogicalAnd-1 b[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino ReduceLogicalOr-1 b[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino ReduceMax-1 f[2,3] =i64[1]:1 keep_dims:false -> 0 6c",
    "openvino ReduceMean-1 f[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino ReduceMin-1 f[2,3] =i64[1]:1 keep_dims:false -> 0 6c",
    "openvino ReduceProd-1 f[2,3] =i64[1]:1 keep_dims:false -> 0 6",
    "openvino TopK-11 f[2,3] =i64[]:1 axis:1 mode:max sort:value index_element_type:i64 /2 -> 0 6c",
    "openvino Unique-10 f[5] /4 -> 0 5c",
    // Products, convolutions, pools: the output times what is summed.
    "onnx AffineGrid-20 f[1,2,3] =i64[4]:1,1,4,5 -> 120 0",
    "onnx QLinearConv-10 u8[1,2,5,5] f[] u8[] u8[3,2,3,3] f[] u8[] f[] u8[] -> 486 0",
    "onnx QLinearMatMul-21 u8[2,3] f[] u8[] u8[3,4] f[] u8[] f[] u8[] -> 24 0",
    "microsoft DynamicQuantizeLSTM-1 f[3,1,4] i8[1,4,8] i8[1,2,8] - - - - - f[1] i8[1] f[1] i8[1] hidden_size=2 /3 -> 144 0",
    "microsoft DynamicQuantizeMatMul-1 f[3,3,4] i8[4,3] f[] i8[] - -> 108 0",
    "microsoft FusedConv-1 f[1,1,5,5] f[1,1,2,2] f[1] activation:Relu pads=0,0,0,0, -> 64 0",
    "microsoft FusedGemm-1 f[3,1] f[1,2] f[2] activation:Relu -> 6 0",
    "microsoft FusedMatMul-1 f[1,3,1] f[1,4,1] transA=0 transB=1 alpha~0.5 -> 12 0",
    "microsoft FusedMatMulActivation-1 f[2,3] f[3,4] activation:Relu -> 24 0",
    "microsoft GemmFastGelu-1 f[2,1] f[1,3] f[3] -> 6 0",
    "microsoft GemmFloat8-1 f[2,3] f[3,4] -> 24 0",
    "microsoft MatMulBnb4-1 f[1,1,1] u8[1] f[1] K=1 N=1 block_size=32 quant_type=0 -> 1 0",
    "microsoft MatMulInteger16-1 i16[2,2] i16[2,2] -> 8 0",
    "microsoft MatMulIntegerToFloat-1 u8[1,3] u8[3,1] f[] f[] u8[] - - -> 3 0",
    "microsoft MatMulFpQ4-1 f[2,3] u8[84] =i64[2]:3,4 -> 24 0",
    "microsoft MatMulNBits-1 f[1,24] u8[1,2,8] f[2] - i32[32] - K=24 N=1 bits=4 block_size=16 -> 24 0",
    "microsoft MaxpoolWithMask-1 f[1,1,4,4] i32[1,1,4,4] kernel_shape=2,2, -> 0 36c",
    "microsoft NhwcConv-1 f[1,3,3,4] f[4,2,1,1] f[4] group=2 strides=2,2, kernel_shape=1,1, -> 32 0",
    "microsoft NhwcFusedConv-1 f[1,3,3,2] f[2,2,2,2] f[2] - strides=2,2, kernel_shape=2,2, activation:Relu -> 16 0",
    "microsoft NhwcMaxPool-1 u8[2,5,4,3] kernel_shape=3,2, strides=2,1, -> 0 216c",
    "microsoft QGemm-1 u8[2,2] f[] u8[] i8[2,3] f[] i8[] - f[] u8[] -> 12 0",
    "microsoft QLinearAveragePool-1 u8[1,2,5,4] f[] u8[] f[] u8[] kernel_shape=2,3, strides=2,1, pads=0,1,1,1, -> 0 144",
    "microsoft QLinearConv-1 u8[1,5,5,2] f[] u8[] i8[3,2,3,3] f[3] i8[3] f[] u8[] channels_last=1 pads=1,1,1,1, -> 1350 0",
    "microsoft TransposeMatMul-1 f[2,2,1,3] f[2,2,4,3] transB=1 -> 48 0",
    "openvino DeformableConvolution-8 f[1,2,4,4] f[1,8,3,3] f[3,2,2,2] strides:1,1 pads_begin:0,0 pads_end:0,0 \
     dilations:1,1 -> 504 0",
    // Attention: queries and outputs times keys, five operations for each score, and the
    // projection.
    "microsoft GroupQueryAttention-1 h[2,2,64] - - - - i32[2] =i32[]:2 - - num_heads=4 kv_num_heads=2 /3 -> 512 96+32c+32t",
    "microsoft MultiHeadAttention-1 f[2,2,4] f[2,2,1,2] f[2,2,1,2] num_heads=2 -> 32 24+8c+8t",
    "microsoft QAttention-1 u8[2,1,4] u8[4,6] f[6] f[] f[] - u8[] u8[] num_heads=2 -> 56 12+4c+4t",
    "openvino ScaledDotProductAttention-13 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] causal:false -> 300 90+30c+30t",
    // Neighbours, and samples between them.
    "onnx GridSample-22 f[1,2,2,3] f[1,1,3,2] -> 24 0",
    "onnx Upsample-9 f[1,1,2,2] f[4] mode:nearest -> 0 0",
    "microsoft CropAndResize-1 f[2,1,2,4] f[1,4] i32[1] =i32[2]:3,1 mode:bilinear -> 12 0",
    "microsoft GridSample-1 f[1,2,2,3] f[1,1,3,2] mode:bilinear -> 24 0",
    "openvino GridSample-9 f[1,2,2,3] f[1,1,3,2] align_corners:false mode:bilinear padding_mode:zeros -> 24 0",
    "openvino Interpolate-4 f[1,1,2,2] =i64[2]:4,4 f[2] =i64[2]:2,3 mode:linear shape_calculation_mode:sizes \
     coordinate_transformation_mode:half_pixel nearest_mode:round_prefer_floor antialias:false pads_begin:0 pads_end:0 \
     cube_coeff:-0.75 -> 64 0",
    // Three lines of four numbers, 5 * 4 * 2 operations each, half of them for real numbers.
    "openvino IDFT-7 f[3,4,2] =i64[1]:1 -> 0 120",
    "openvino IRDFT-9 f[3,3,2] =i64[1]:1 -> 0 60",
    // Two rows of five elements: three support vectors and a coefficient each; two comparisons and
    // a leaf.
    "ml SVMClassifier-1 f[2,5] support_vectors~1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, coefficients~1,1,1, rho~0, vectors_per_class=1,2, \
     classlabels_ints=0,1, /2 -> 36 0",
    "ml TreeEnsembleClassifier-1 f[2,5] nodes_modes:BRANCH_LEQ;LEAF;LEAF; nodes_treeids=0,0,0, nodes_nodeids=0,1,2, \
     nodes_featureids=0,0,0, nodes_truenodeids=1,0,0, nodes_falsenodeids=2,0,0, nodes_values~0.5,0,0, class_treeids=0,0, \
     class_nodeids=1,2, class_ids=0,1, class_weights~1,1, classlabels_int64s=0,1, /2 -> 0 2+2c",
    "ml TreeEnsemble-5 f[2,5] nodes_modes%u8:0, nodes_featureids=0, nodes_truenodeids=0, nodes_falsenodeids=1, \
     nodes_trueleafs=1, nodes_falseleafs=1, nodes_splits%f:0.5, leaf_weights%f:1,1, leaf_targetids=0,0, tree_roots=0, \
     -> 0 2+2c",
    // The data decide the work.
    "onnx ImageDecoder-20 u8[9] -> open",
    "onnx RegexFullMatch-20 s[2] pattern:a -> open",
    "onnx StringNormalizer-10 s[2] -> open",
    "onnx StringSplit-20 s[2] /2 -> open",
    "microsoft BeamSearch-1 i32[1,2] -> open",
    "microsoft GreedySearch-1 i32[1,2] -> open",
    "microsoft Sampling-1 i32[1,2] -> open",
    // No arithmetic.
    "onnx BitCast-26 f[2,3] to=6 -> 0 0",
    "onnx CenterCropPad-18 f[2,3] =i64[2]:3,3 -> 0 0",
    "onnx ConcatFromSequence-11 ? axis=0 -> 0 0",
    "onnx MaxUnpool-22 f[1,1,2,2] i64[1,1,2,2] kernel_shape=2,2, -> 0 0",
    "onnx Optional-15 f[2,3] -> 0 0",
    "onnx OptionalGetElement-18 ? -> 0 0",
    "onnx OptionalHasElement-18 ? -> 0 0",
    "onnx Scatter-9 f[2,3] i64[1,1] f[1,1] -> 0 0",
    "onnx SequenceAt-11 ? i64[] -> 0 0",
    "onnx SequenceConstruct-11 f[2,3] f[3] -> 0 0",
    "onnx SequenceEmpty-11 -> 0 0",
    "onnx SequenceErase-11 ? -> 0 0",
    "onnx SequenceInsert-11 ? f[2] -> 0 0",
    "onnx SequenceLength-11 ? -> 0 0",
    "onnx SplitToSequence-24 f[2,3] -> 0 0",
    "onnx TensorScatter-24 f[1,2,5,3] f[1,2,1,3] -> 0 0",
    "ml CastMap-1 ? -> 0 0",
    "ml DictVectorizer-1 ? int64_vocabulary=1, -> 0 0",
    "ml FeatureVectorizer-1 f[2,3] f[2,1] inputdimensions=3,1, -> 0 0",
    "ml ZipMap-1 f[2,3] classlabels_int64s=1,2,3, -> 0 0",
    "microsoft BitmaskDropout-1 f[2,3] /3 -> 0 0",
    "microsoft ExpandDims-1 f[3,4] =i32[]:2 -> 0 0",
    "microsoft GatherND-1 f[1,4,2] i32[2,2] -> 0 0",
    "microsoft Pad-1 f[3,4,4] =i64[6]:1,0,1,1,0,1 -> 0 0",
    "microsoft Trilu-1 f[2,1] - upper=0 -> 0 0",
    "microsoft UnfoldTensor-1 f[1,3] dim=1 size=3 step=1 -> 0 0",
    "openvino Assign-6 f[2] variable_id:v -> 0 0",
    "openvino ConvertPromoteTypes-14 f[2,3] i32[3] promote_unsafe:true /2 -> 0 0",
    "openvino GatherTree-1 i32[2,1,3] i32[2,1,3] i32[1] i32[] -> 0 0",
    "openvino ReadValue-6 f[2] variable_id:v -> 0 0",
    "openvino Reverse-1 f[2,3] =i64[1]:0 mode:index -> 0 0",
    "openvino ScatterElementsUpdate-3 f[2,3] i64[1,1] f[1,1] =i64[]:0 -> 0 0",
    "openvino SparseFillEmptyRows-16 f[2] i64[2] i64[2,2] f[] /3 -> 0 0",
    "openvino ScatterNDUpdate-3 f[4] i64[2,1] f[2] -> 0 0",
    "openvino ScatterUpdate-3 f[4,2] i64[1] f[1,2] =i64[]:0 -> 0 0",
    "openvino SliceScatter-15 f[4] f[2] =i64[1]:0 =i64[1]:2 =i64[1]:1 -> 0 0",
];

/// Classes of operators that have a test elsewhere, or no rule of their own: functions of elements.
const CLASSES: &[&str] = &[
    "onnx Abs-13 f[2,3] -> 0 6",
    "onnx Add-14 f[2,3] f[3] -> 0 6",
    "onnx And-7 b[2,3] b[3] -> 0 6",
    "onnx Cast-19 f[2,3] to=7 -> 0 6",
    "onnx Div-14 f[2,3] f[3] -> 0 6",
    "onnx Greater-13 f[2,3] f[3] -> 0 6c",
    "onnx Max-13 f[2,3] f[3] -> 0 6c",
    "onnx Relu-14 f[2,3] -> 0 6c",
    "onnx Erf-13 f[2,3] -> 0 6t",
    "onnx Exp-13 f[2,3] -> 0 6t",
    "onnx Pow-15 f[2,3] f[3] -> 0 6t",
    "onnx Sigmoid-13 f[2,3] -> 0 6t",
    "onnx Sqrt-13 f[2,3] -> 0 6t",
    "onnx Tanh-13 f[2,3] -> 0 6t",
    "onnx Softplus-22 f[2,3] -> 0 6t",
    "openvino GreaterEqual-1 f[2,3] f[3] -> 0 6c",
    "openvino Maximum-1 f[2,3] f[3] -> 0 6c",
    "openvino Power-1 f[2,3] f[3] -> 0 6t",
    "onnx ReduceSum-13 f[2,3] =i64[1]:1 -> 0 6",
    "onnx MatMul-13 f[2,3] f[3,4] -> 24 0",
    "onnx Conv-22 f[1,2,5,5] f[3,2,3,3] -> 486 0",
    "onnx MaxPool-22 f[1,1,4,4] kernel_shape=2,2, -> 0 36c",
    "onnx AveragePool-22 f[1,1,4,4] kernel_shape=2,2, -> 0 36",
    "onnx LpPool-22 f[1,1,4,4] kernel_shape=2,2, -> 0 36",
    // Eight elements, windows of three neighbours.
    "onnx LRN-13 f[1,2,2,2] size=3 -> 24 16+8t",
    // Scores: 15; queries and outputs: 12 + 18 elements.
    "onnx Attention-23 f[1,1,3,4] f[1,1,5,4] f[1,1,5,6] -> 150 45+15c+15t",
    // Each of 2 classes and 4 boxes, with one that is selected.
    "onnx NonMaxSuppression-11 f[1,4,4] f[1,2,4] =i64[1]:1 -> 0 48+56c",
    // Three values, a search among eight.
    "openvino Bucketize-3 f[3] f[8] output_type:i64 -> 0 12c",
    // A path of two comparisons with a leaf of one weight exceeds one of a comparison with one of two.
    "ml TreeEnsembleRegressor-1 f[1,5] nodes_modes:BRANCH_LEQ;BRANCH_LEQ;LEAF;LEAF;LEAF; nodes_treeids=0,0,0,0,0, \
     nodes_nodeids=0,1,2,3,4, nodes_featureids=0,0,0,0,0, nodes_truenodeids=1,2,0,0,0, nodes_falsenodeids=4,3,0,0,0, \
     nodes_values~0.5,0.25,0,0,0, target_treeids=0,0,0, target_nodeids=2,3,4, target_ids=0,0,0, target_weights~1,2,3, \
     n_targets=1 -> 0 1+2c",
    "openvino AdaptiveMaxPool-8 f[1,1,4] =i64[1]:2 index_element_type:i64 /2 -> 0 4c",
    "openvino AdaptiveAvgPool-8 f[1,1,4] =i64[1]:2 -> 0 4",
];

/// The standard and the domain of a line's first word.
fn home(word: &str) -> (Standard, &'static str) {
    match word {
        "onnx" => (Standard::Onnx, ""),
        "ml" => (Standard::Onnx, "ai.onnx.ml"),
        "microsoft" => (Standard::Onnx, "com.microsoft"),
        "gradus" => (Standard::Onnx, "gradus"),
        "openvino" => (Standard::OpenVino, ""),
        other => panic!("{other} has no operators"),
    }
}

/// A type as models are written.
fn dtype(name: &str) -> String {
    match (name, name.split_at(1)) {
        ("f", _) => "float32".to_owned(),
        ("h", _) => "float16".to_owned(),
        ("b", _) => "bool".to_owned(),
        ("s", _) => "string".to_owned(),
        (_, ("u", bits)) => format!("uint{bits}"),
        (_, (_, bits)) => format!("int{bits}"),
    }
}

fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split([',', ';']).filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
}

/// Adds an input: its type and sizes, and its elements if it is a constant.
fn input(sketch: Sketch, number: usize, word: &str) -> (Sketch, String) {
    let name = format!("x{number}");
    let declared = match word.trim_start_matches('=').split_once('[') {
        None if word == "-" => return (sketch, String::new()),
        None => format!("{name}: ?"),
        Some((kind, rest)) => {
            let (sizes, elements) = rest.split_once(']').unwrap();
            let declared = format!("{}[{sizes}]", dtype(kind));
            match word.strip_prefix('=') {
                Some(_) => format!("{name} = {declared}({})", elements.trim_start_matches(':')),
                None => format!("{name}: {declared}"),
            }
        }
    };
    (sketch.text(&declared), name)
}

fn attribute(standard: Standard, word: &str) -> (&str, Content) {
    let at = word.find(['=', '~', ':', '%']).unwrap();
    let (name, text) = (&word[..at], &word[at + 1..]);
    let is_list = text.ends_with([',', ';']);
    let content = match &word[at..=at] {
        ":" if standard == Standard::OpenVino => Content::Text(text.into()),
        "=" if is_list => Content::Ints(list(text).into()),
        "=" => Content::Int(text.parse().unwrap()),
        "%" => match text.split_once(':').unwrap() {
            ("u8", numbers) => Content::Tensor(Tensor::vector(&list::<u8>(numbers)).into()),
            (_, numbers) => Content::Tensor(Tensor::vector(&list::<f32>(numbers)).into()),
        },
        "~" if is_list => Content::Floats(list(text).into()),
        "~" => Content::Float(text.parse().unwrap()),
        _ if is_list => {
            Content::Strings(list::<String>(text).into_iter().map(|text| text.into_bytes().into()).collect())
        }
        _ => Content::Bytes(text.as_bytes().to_vec().into()),
    };
    (name, content)
}

/// MACs, all operations, arithmetic, comparisons and transcendentals.
type Counts = [Option<i64>; 5];

/// The counts that the end of a line states.
fn counts(text: &str) -> Counts {
    let Some((macs, operations)) = text.split_once(' ') else { return [None; 5] };
    let (mut all, mut classes) = (0, [0; 3]);
    for term in operations.split('+') {
        let class = ["", "c", "t"].iter().rposition(|suffix| term.ends_with(suffix)).unwrap();
        let number: i64 = term.trim_end_matches(['c', 't']).parse().unwrap();
        all += number;
        classes[class] += number;
    }
    let [arithmetic, comparisons, transcendentals] = classes;
    [macs.parse().unwrap(), all, arithmetic, comparisons, transcendentals].map(Some)
}

/// The model of a line, and the numbers that it should cost.
fn read(line: &str) -> (Model, Counts) {
    let (node, wanted) = line.split_once(" -> ").unwrap();
    let mut words = node.split_whitespace();
    let (standard, domain) = home(words.next().unwrap());
    let (operator, version) = words.next().unwrap().split_once('-').unwrap();
    let mut sketch = Sketch(Builder::new("one"), standard);
    let (mut names, mut attributes, mut outputs) = (Vec::new(), Vec::new(), 1);
    for word in words {
        if let Some(count) = word.strip_prefix('/') {
            outputs = count.parse().unwrap();
        } else if word == "-" || word == "?" || word.contains('[') {
            let name;
            (sketch, name) = input(sketch, names.len(), word);
            names.push(name);
        } else {
            attributes.push(attribute(standard, word));
        }
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let results: Vec<_> = (0..outputs).map(|output| format!("y{output}")).collect();
    let results: Vec<_> = results.iter().map(String::as_str).collect();
    let dot = if domain.is_empty() { "" } else { "." };
    let sketch = sketch.with(&format!("{domain}{dot}{operator}@{version}"), &names, &results, attributes);
    let version = version.parse().unwrap();
    let set = if domain.is_empty() { version } else { 21 };
    let mut model = sketch.text(&format!("return {}", results.join(", "))).source(set);
    model.opsets.extend((!domain.is_empty()).then(|| (domain.into(), version)));
    (Model::from_source(model), counts(wanted))
}

#[test]
fn nodes_cost_what_their_lines_say() {
    let mut wrong = Vec::new();
    for line in NODES.iter().chain(CLASSES) {
        let (model, wanted) = read(line);
        let cost = model.cost(&InferOptions::default()).unwrap();
        let problems = cost.inference().problems();
        let of = &cost.nodes[0];
        let found = [
            of.counts.macs,
            of.counts.operations,
            of.counts.arithmetic,
            of.counts.comparisons,
            of.counts.transcendentals,
        ];
        let found = found.map(|dim| dim?.known());
        // Rules that say that an operator costs nothing hold for all inputs.
        let is_good = wanted == [Some(0); 5] || wanted[0].is_none() || problems.is_empty();
        if found != wanted || !is_good {
            wrong.push(format!("{line}: {found:?} {problems:?} {:?}", cost.nodes[0].uncounted));
        }
    }
    assert!(wrong.is_empty(), "{} nodes:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_is_reached() {
    let of_line = |line: &&str| {
        let mut words = line.split_whitespace();
        let (standard, domain) = home(words.next().unwrap());
        let (operator, _) = words.next().unwrap().split_once('-').unwrap();
        (standard.name(), domain, operator.to_owned())
    };
    let lines: BTreeSet<_> = NODES.iter().map(of_line).collect();
    assert_eq!(lines.len(), NODES.len(), "an operator has two lines");
    let rules = operators::all().filter(|row| row.standard != Standard::Paddle && row.has_work_rule());
    let rules: BTreeSet<_> =
        rules.map(|row| (row.standard.name(), row.domain, row.name.to_owned())).collect();
    let without: Vec<_> = lines.difference(&rules).collect();
    assert!(without.is_empty(), "these have no rule: {without:?}");
    let is_elsewhere = |name: &str| {
        let written = [format!("\"{name}\""), format!(" = {name}("), format!(" = {name}@")];
        OF_GRAPHS.contains(&name) || ELSEWHERE.iter().any(|text| written.iter().any(|it| text.contains(it)))
    };
    let unreached: Vec<_> = rules.difference(&lines).filter(|(.., name)| !is_elsewhere(name)).collect();
    assert!(unreached.is_empty(), "no test reaches the rules of {unreached:?}");
}
