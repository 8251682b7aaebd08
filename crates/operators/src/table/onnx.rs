//! The operators of ONNX's own domain, but for those of elements and networks.

use gradus_core::DType;

use crate::allowed::{Allowed, Carries, Magnitudes};
use crate::numbers;
use crate::rounding::Rounding::{Chosen, Exact, Formula, Ieee, Moved, Open, Order};
use crate::row::{Checked, Reduces, Role, Row, Sequence, ZeroSigns, onnx};
use crate::words;
use crate::work::{Each, OF_TEXTS, Work};
use crate::{
    boxes, contrib, control_flow, elementwise, generate, images, indexing, layout, matmul, quantization,
    range, reduction, shape, signal, text,
};

pub(super) const ONNX: &[Row] = rows![
    onnx("ArgMax", Chosen)
        .zeros(ZeroSigns::Unseen)
        .axis(0)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::arg)
        .eval(reduction::eval::arg)
        .converts("TopK, Squeeze", "floats: NaN; no elements", |cx| reduction::to_openvino::arg(cx, "max")),
    onnx("ArgMin", Chosen)
        .zeros(ZeroSigns::Unseen)
        .axis(0)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::arg)
        .eval(reduction::eval::arg)
        .converts("TopK, Squeeze", "floats: NaN; no elements", |cx| reduction::to_openvino::arg(cx, "min")),
    onnx("Bernoulli", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random_like)
        .computes(generate::random::bernoulli)
        .converts("RandomUniform, Less", "other random numbers", generate::to_openvino::bernoulli)
        .random(),
    onnx("BlackmanWindow", Formula)
        .scalars(&[0])
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::BLACKMAN)),
    onnx("CenterCropPad", Moved)
        .sizes(&[1])
        .works(Work::None)
        .infer(layout::infer::center_crop_pad)
        .computes(layout::rearrange::center_crop_pad)
        .lower(layout::lowered::center_crop_pad),
    onnx("Compress", Moved).infer(indexing::infer::compress).eval(indexing::eval::compress).converts(
        "NonZero, Gather",
        "",
        indexing::to_openvino::compress,
    ),
    onnx("Concat", Moved)
        .sizes(&[0, 1, 2, 3, 4, 5, 6, 7])
        .zeros(ZeroSigns::OfAll)
        .infer(layout::infer::concat)
        .eval(layout::eval::concat)
        .converts("Concat", "", layout::to_openvino::concat)
        .role(Role::Join),
    onnx("Constant", Moved)
        .instead(generate::older::constant_as_tensor)
        .infer(generate::constant::rule)
        .build(generate::constant::ConstantOp::build)
        .converts("a constant", "", layout::to_openvino::constant)
        .role(Role::Constant),
    onnx("ConstantOfShape", Moved)
        .lists(&[0])
        .sizes(&[0])
        .infer(generate::infer::constant_of_shape)
        .eval(generate::eval::constant_of_shape)
        .converts("Broadcast", "", layout::to_openvino::constant_of_shape),
    onnx("CumProd", Order)
        .allows(Allowed::Scan)
        .scalars(&[1])
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::cumulative)
        .eval(reduction::eval::cum_sum)
        .lower(reduction::lowered::cum_prod),
    onnx("CumSum", Order)
        .allows(Allowed::Scan)
        .scalars(&[1])
        .checked(Checked::Sum)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::cumulative)
        .eval(reduction::eval::cum_sum)
        .converts("CumSum", "floats: rounding", reduction::to_openvino::cum_sum),
    onnx("DFT", Order)
        .allows(Allowed::Unknown)
        .scalars(&[1, 2])
        .composed_before(17, signal::lowered::dft)
        .works(Work::Fourier)
        .infer(signal::infer::dft)
        .computes(signal::eval::dft)
        .converts("DFT, IDFT, RDFT, IRDFT", "rounding", signal::to_openvino::dft),
    onnx("DepthToSpace", Moved)
        .words(&[words::BLOCK_ORDER])
        .picks()
        .infer(layout::infer::depth_to_space)
        .computes(layout::rearrange::depth_to_space)
        .converts("DepthToSpace", "", |cx| layout::to_openvino::blocks(cx, "DepthToSpace")),
    onnx("Det", Order)
        .allows(Allowed::Unknown)
        .works(Work::Elimination { parts: 3 })
        .infer(matmul::infer::det)
        .computes(matmul::elimination::det)
        .lower(matmul::elimination::det_by_steps),
    onnx("Einsum", Order)
        .composed_before(12, matmul::to_onnx::einsum_of_products)
        .zeros(ZeroSigns::OfAll)
        .works(Work::Einsum)
        .infer(matmul::infer::einsum)
        .computes(matmul::eval::einsum)
        .converts("Einsum", "floats: rounding", reduction::to_openvino::einsum),
    onnx("Expand", Moved)
        .sizes(&[1])
        .picks()
        .infer(layout::infer::expand)
        .eval(layout::eval::expand)
        .converts("Broadcast", "", layout::to_openvino::expand)
        .role(Role::Expand),
    onnx("EyeLike", Moved)
        .instead(generate::older::eye_in_other_type)
        .infer(generate::infer::eye_like)
        .eval(generate::eval::eye_like)
        .converts("Eye", "", layout::to_openvino::eye_like),
    onnx("Flatten", Moved)
        .picks()
        .infer(layout::reshaped::flatten)
        .eval(layout::eval::flatten)
        .converts("Reshape", "", layout::to_openvino::flatten)
        .role(Role::View),
    onnx("Gather", Moved).picks().infer(indexing::infer::gather).eval(indexing::eval::gather).converts(
        "Gather",
        "",
        indexing::to_openvino::gather
    ),
    onnx("GatherElements", Moved)
        .picks()
        .infer(indexing::infer::gather_elements)
        .eval(indexing::eval::gather_elements)
        .converts("GatherElements, StridedSlice", "", indexing::to_openvino::gather_elements),
    onnx("GatherND", Moved)
        .numbers(&[numbers::BATCH_AXES])
        .before(12, indexing::lowered::gather_nd)
        .picks()
        .infer(indexing::infer::gather_nd)
        .eval(indexing::eval::gather_nd)
        .converts("GatherND", "", indexing::to_openvino::gather_nd),
    onnx("Gemm", Order)
        .weights(&[0, 1])
        .before(11, matmul::lowered::gemm)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::MatMul)
        .infer(matmul::infer::gemm)
        .eval(matmul::eval::gemm)
        .converts("MatMul, Multiply, Add", "floats: rounding", matmul::to_openvino::gemm),
    onnx("HammingWindow", Formula)
        .scalars(&[0])
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::HAMMING)),
    onnx("HannWindow", Formula)
        .scalars(&[0])
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::HANN)),
    onnx("Identity", Moved)
        .picks()
        .infer(layout::reshaped::identity)
        .build(layout::identity::Identity::build)
        .converts("Convert to the same type", "", elementwise::to_openvino::identity)
        .role(Role::Copy),
    onnx("If", Moved)
        .allows(Allowed::Unknown)
        .works(Work::Graphs)
        .infer(control_flow::branches::onnx_if)
        .build(control_flow::eval::IfOp::build)
        .converts("If", "", control_flow::to_openvino::branch)
        .role(Role::If),
    onnx("ImageDecoder", Open)
        .words(&[words::PIXEL_FORMAT])
        .works(Work::Open("the contents of images decide the number of operations"))
        .infer(images::infer::image_decoder),
    onnx("Loop", Moved)
        .allows(Allowed::Unknown)
        .sizes(&[0])
        .works(Work::Graphs)
        .infer(control_flow::infer::repeat)
        .build(control_flow::loops::Loop::build)
        .converts("Loop", "scans of a loop that does not run", control_flow::to_openvino::repeat),
    onnx("MatMul", Order)
        .weights(&[0, 1])
        .zeros(ZeroSigns::OfAll)
        .works(Work::MatMul)
        .infer(matmul::infer::mat_mul)
        .eval(matmul::eval::mat_mul)
        .converts("MatMul", "floats: rounding", reduction::to_openvino::mat_mul),
    onnx("MatMulInteger", Order)
        .works(Work::MatMul)
        .infer(matmul::infer::mat_mul_integer)
        .computes(matmul::eval::mat_mul_integer)
        .converts(
            "Convert, Subtract, MatMul",
            "sums of 2^24 and more",
            quantization::to_openvino::mat_mul_integer,
        ),
    onnx("MelWeightMatrix", Formula)
        .scalars(&[0, 1, 2, 3, 4])
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(signal::infer::mel_weights)
        .computes(signal::eval::mel_weights),
    onnx("Multinomial", Open)
        .infer(generate::infer::multinomial)
        .computes(generate::random::multinomial)
        .converts("Multinomial", "other random numbers", generate::to_openvino::multinomial)
        .random(),
    onnx("NonMaxSuppression", Chosen)
        .works(Work::NonMaxSuppression)
        .infer(boxes::infer::non_max_suppression)
        .computes(boxes::suppression::non_max_suppression)
        .converts(
            "NonMaxSuppression",
            "boxes of equal scores, or that overlap by the threshold",
            boxes::to_openvino::non_max_suppression,
        ),
    onnx("NonZero", Exact)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::non_zero)
        .eval(reduction::eval::non_zero)
        .converts("NonZero", "of a scalar", layout::to_openvino::non_zero),
    onnx("OneHot", Moved)
        .carries(Carries::Open)
        .scalars(&[1])
        .sizes(&[1])
        .infer(generate::infer::one_hot)
        .eval(generate::eval::one_hot)
        .converts("OneHot", "indices of floats", layout::to_openvino::one_hot,),
    onnx("Pad", Moved)
        .lists(&[1, 3])
        .sizes(&[1])
        .words(&[words::PAD_MODE])
        .before(18, layout::lowered::pad)
        .zeros(ZeroSigns::OfFirst)
        .infer(layout::infer::pad)
        .eval(layout::eval::pad)
        .converts("Pad; wrapped: Gather", "", layout::to_openvino::pad)
        .role(Role::Pad),
    onnx("QLinearMatMul", Order)
        .allows(Allowed::Code)
        .works(Work::MatMul)
        .infer(matmul::infer::q_linear_mat_mul)
        .computes(quantization::eval::q_linear_mat_mul)
        .lower(contrib::quantized::lowered::q_linear_mat_mul),
    onnx("RandomNormal", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random)
        .computes(generate::random::normal)
        .converts("RandomUniform, Log, Sqrt, Cos", "other random numbers", generate::to_openvino::normal)
        .random(),
    onnx("RandomNormalLike", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random_like)
        .computes(generate::random::normal)
        .converts("RandomUniform, Log, Sqrt, Cos", "other random numbers", generate::to_openvino::normal)
        .random(),
    onnx("RandomUniform", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random)
        .computes(generate::random::uniform)
        .converts("RandomUniform", "other random numbers", generate::to_openvino::uniform)
        .random(),
    onnx("RandomUniformLike", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random_like)
        .computes(generate::random::uniform)
        .converts("RandomUniform", "other random numbers", generate::to_openvino::uniform)
        .random(),
    onnx("Range", Open)
        .sizes(&[0, 1])
        .sequence(Sequence::Range)
        .checked(Checked::Range)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(range::infer::rule)
        .build(range::eval::RangeOp::build)
        .body(range::eval::RangeFunction::build)
        .converts(
            "Range",
            "floats: rounding, and with it perhaps the number of elements",
            layout::to_openvino::range,
        ),
    onnx("ReduceL1", Order)
        .checked(Checked::Sum)
        .unsigned()
        .reduces_axes(Reduces::Once, Each::arithmetic(1))
        .converts("ReduceL1, Abs", "floats: rounding", reduction::to_openvino::reduce_l1),
    onnx("ReduceL2", Order)
        .allows(Allowed::Sums(Magnitudes::steps(8)))
        .unsigned()
        .reduces_axes(Reduces::Once, Each::arithmetic(1))
        .converts("ReduceL2, Abs", "rounding", reduction::to_openvino::reduce_l2),
    onnx("ReduceLogSum", Formula).reduces_axes(Reduces::Once, Each::arithmetic(1)).converts(
        "ReduceSum, Log",
        "rounding",
        reduction::to_openvino::reduce_log_sum
    ),
    onnx("ReduceLogSumExp", Formula)
        .reduces_axes(Reduces::Once, Each::of(2, 1, 1))
        .lower(reduction::lowered::reduce_log_sum_exp),
    onnx("ReduceMax", Chosen)
        .carries(Carries::Ends)
        .picks()
        .reduces_axes(Reduces::Nested, Each::COMPARISON)
        .converts("ReduceMax, ReduceLogicalOr", "floats: NaN; no elements", |cx| {
            reduction::to_openvino::min_max(cx, "ReduceMax", "ReduceLogicalOr")
        }),
    onnx("ReduceMean", Order)
        .checked(Checked::Mean)
        .reduces_axes(Reduces::Nested, Each::arithmetic(1))
        .converts("ReduceMean", "rounding", reduction::to_openvino::reduce_mean),
    onnx("ReduceMin", Chosen)
        .carries(Carries::Ends)
        .picks()
        .reduces_axes(Reduces::Nested, Each::COMPARISON)
        .converts("ReduceMin, ReduceLogicalAnd", "floats: NaN; no elements", |cx| {
            reduction::to_openvino::min_max(cx, "ReduceMin", "ReduceLogicalAnd")
        }),
    onnx("ReduceProd", Order)
        .checked(Checked::Product)
        .reduces_axes(Reduces::Nested, Each::arithmetic(1))
        .converts("ReduceProd", "floats: rounding", reduction::to_openvino::reduce_prod),
    onnx("ReduceSum", Order)
        .checked(Checked::Sum)
        .reduces_axes(Reduces::Nested, Each::arithmetic(1))
        .converts("ReduceSum", "floats: rounding", reduction::to_openvino::reduce_sum),
    onnx("ReduceSumSquare", Order)
        .checked(Checked::SumOfSquares)
        .unsigned()
        .reduces_axes(Reduces::Once, Each::arithmetic(1))
        .converts("Multiply, ReduceSum", "floats: rounding", reduction::to_openvino::reduce_sum_square),
    onnx("RegexFullMatch", Open)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::regex)
        .computes(text::patterns::full_match)
        .lacks("operator that matches strings"),
    onnx("Reshape", Moved)
        .lists(&[1])
        .idle(crate::idle::reshape)
        .before(14, layout::lowered::reshape)
        .picks()
        .infer(layout::reshaped::reshape)
        .eval(layout::eval::reshape)
        .converts("Reshape", "", layout::to_openvino::reshape)
        .role(Role::Reshape),
    onnx("ReverseSequence", Moved)
        .zeros(ZeroSigns::OfFirst)
        .infer(layout::infer::reverse_sequence)
        .computes(layout::rearrange::reverse_sequence)
        .converts("ReverseSequence", "", layout::to_openvino::reverse_sequence),
    onnx("STFT", Order)
        .allows(Allowed::Unknown)
        .scalars(&[1, 3])
        .composed_before(17, signal::lowered::stft)
        .works(Work::FourierOfFrames)
        .infer(signal::infer::stft)
        .computes(signal::eval::stft)
        .converts("STFT", "rounding", signal::to_openvino::stft),
    onnx("Scan", Moved)
        .allows(Allowed::Unknown)
        .numbers(&[numbers::SCAN_DIRECTIONS])
        .works(Work::Graphs)
        .infer(control_flow::infer::scan)
        .build(control_flow::eval::Scan::build)
        .converts("TensorIterator", "a scan over no elements", control_flow::to_openvino::scan),
    onnx("Scatter", Moved)
        .works(Work::None)
        .infer(indexing::infer::scatter_elements)
        .eval(indexing::eval::scatter_elements)
        .lower(indexing::lowered::scatter)
        .converts(
            "ScatterElementsUpdate",
            "indices that occur twice",
            indexing::to_openvino::scatter_elements,
        ),
    onnx("ScatterElements", Moved)
        .words(&[words::SCATTER])
        .before(18, indexing::lowered::scatter_elements)
        .zeros(ZeroSigns::OfFirst)
        .infer(indexing::infer::scatter_elements)
        .eval(indexing::eval::scatter_elements)
        .converts(
            "ScatterElementsUpdate",
            "indices that occur twice",
            indexing::to_openvino::scatter_elements,
        ),
    onnx("ScatterND", Moved)
        .words(&[words::SCATTER])
        .before(18, indexing::lowered::scatter_nd)
        .zeros(ZeroSigns::OfFirst)
        .infer(indexing::infer::scatter_nd)
        .eval(indexing::eval::scatter_nd)
        .converts("ScatterNDUpdate", "indices that occur twice", indexing::to_openvino::scatter_nd),
    onnx("Shape", Moved)
        .before(15, layout::lowered::shape)
        .infer(shape::infer::shape_rule)
        .build(shape::eval::ShapeOp::windowed)
        .converts("ShapeOf, Slice", "", layout::to_openvino::shape)
        .role(Role::Shape)
        .shape_only(),
    onnx("Size", Moved)
        .infer(shape::infer::size_rule)
        .build(shape::eval::Size::build)
        .converts("ShapeOf, ReduceProd", "", layout::to_openvino::size)
        .role(Role::Size)
        .shape_only(),
    onnx("Slice", Moved)
        .lists(&[1, 2, 3, 4])
        .sizes(&[1, 2])
        .picks()
        .infer(indexing::infer::slice)
        .eval(indexing::eval::slice)
        .converts("Slice", "", indexing::to_openvino::slice)
        .role(Role::Slice),
    onnx("SpaceToDepth", Moved)
        .words(&[words::BLOCK_ORDER])
        .picks()
        .infer(layout::infer::space_to_depth)
        .computes(layout::rearrange::space_to_depth)
        .converts("SpaceToDepth", "", |cx| layout::to_openvino::blocks(cx, "SpaceToDepth")),
    onnx("Split", Moved)
        .numbers(&[numbers::PARTS_OF_SPLIT])
        .lists(&[1])
        .sizes(&[1])
        .instead(layout::lowered::smaller_last_part)
        .picks()
        .axis(0)
        .infer(layout::infer::split)
        .eval(layout::eval::split)
        .converts("Split, VariadicSplit", "", indexing::to_openvino::split)
        .role(Role::Split),
    onnx("Squeeze", Moved)
        .lists(&[1])
        .picks()
        .infer(layout::reshaped::squeeze)
        .eval(layout::eval::squeeze)
        .converts("Squeeze", "", |cx| layout::to_openvino::on_axes(cx, "Squeeze"))
        .role(Role::View),
    onnx("StringNormalizer", Open)
        .words(&[words::CASE_CHANGE])
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::string_normalizer)
        .computes(text::strings::normalize)
        .lacks("operator that normalizes strings"),
    onnx("StringSplit", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::string_split)
        .computes(elementwise::mixed::string_split)
        .lacks("operator that splits strings"),
    onnx("TfIdfVectorizer", Ieee)
        .words(&[words::GRAMS])
        .learned()
        .works(Work::Grams)
        .infer(text::infer::tf_idf)
        .computes(text::grams::tf_idf)
        .lower(text::grams::compared_grams),
    onnx("Tile", Moved)
        .lists(&[1])
        .sizes(&[1])
        .picks()
        .infer(layout::infer::tile)
        .eval(layout::eval::tile)
        .converts("Tile", "", layout::to_openvino::tile)
        .role(Role::Tile),
    onnx("TopK", Chosen)
        .carries(Carries::Ends)
        .lists(&[1])
        .sizes(&[1])
        .picks()
        .zeros(ZeroSigns::Any)
        .axis(-1)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(|cx| reduction::infer::top_k(cx, DType::I64))
        .eval(reduction::eval::top_k)
        .converts(
            "TopK",
            "floats: NaN; the order if `sorted` is 0; no elements",
            reduction::to_openvino::top_k,
        ),
    onnx("Transpose", Moved)
        .picks()
        .infer(layout::infer::transpose)
        .eval(layout::eval::transpose)
        .converts("Transpose", "", layout::to_openvino::transpose)
        .role(Role::Transpose),
    onnx("Trilu", Moved)
        .scalars(&[1])
        .sizes(&[1])
        .before(14, layout::lowered::trilu)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::trilu)
        .eval(layout::eval::trilu)
        .converts("Range, Select", "", layout::to_openvino::trilu),
    onnx("Unique", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::unique)
        .eval(reduction::eval::unique)
        .converts("Unique", "floats: NaN", reduction::to_openvino::unique),
    onnx("Unsqueeze", Moved)
        .scalars(&[1])
        .picks()
        .infer(layout::reshaped::unsqueeze)
        .eval(layout::eval::unsqueeze)
        .converts("Unsqueeze", "", |cx| layout::to_openvino::on_axes(cx, "Unsqueeze"))
        .role(Role::View),
];
