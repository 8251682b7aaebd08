//! The operators of ONNX's own domain.

use gradus_kernels::Function;

use crate::operation::Operation;
use crate::rounding::Rounding::{Chosen, Exact, Formula, Ieee, Moved, Open, Order};
use crate::row::{Reduces, Role, Row, ZeroSigns, onnx};
use crate::work::{Each, OF_TEXTS, Work};
use crate::{
    boxes, contrib, control_flow, elementwise, generate, images, indexing, layout, matmul, normalization,
    quantization, range, reduction, shape, signal, text,
};

pub(super) const ONNX: &[Row] = &[
    onnx("Abs", Exact)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .idempotent()
        .infer(elementwise::infer::abs)
        .map(elementwise::unary::abs)
        .build(elementwise::unary::build)
        .converts("Abs", "", |cx| cx.unary("Abs")),
    onnx("Acos", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Acos)
        .build(elementwise::unary::build)
        .converts("Acos", "rounding", |cx| cx.function("Acos")),
    onnx("Acosh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Acosh)
        .build(elementwise::unary::build)
        .converts("Acosh", "rounding", |cx| cx.function("Acosh")),
    onnx("Add", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Add)
        .build(elementwise::binary::build)
        .converts("Add", "", |cx| elementwise::to_openvino::binary(cx, "Add")),
    onnx("And", Exact)
        .infer(elementwise::infer::binary)
        .operation(Operation::And)
        .build(elementwise::binary::build)
        .converts("LogicalAnd", "", |cx| elementwise::to_openvino::binary(cx, "LogicalAnd")),
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
    onnx("Asin", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Asin)
        .build(elementwise::unary::build)
        .converts("Asin", "rounding", |cx| cx.function("Asin")),
    onnx("Asinh", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Asinh)
        .build(elementwise::unary::build)
        .converts("Asinh", "rounding", |cx| cx.function("Asinh")),
    onnx("Atan", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Atan)
        .build(elementwise::unary::build)
        .converts("Atan", "rounding", |cx| cx.function("Atan")),
    onnx("Atanh", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Atanh)
        .build(elementwise::unary::build)
        .converts("Atanh", "rounding", |cx| cx.function("Atanh")),
    onnx("Bernoulli", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(generate::infer::random_like)
        .computes(generate::random::bernoulli)
        .converts("RandomUniform, Less", "other random numbers", generate::to_openvino::bernoulli)
        .random(),
    onnx("BitCast", Moved)
        .works(Work::None)
        .infer(elementwise::infer::bit_cast)
        .computes(elementwise::mixed::bit_cast),
    onnx("BitShift", Open)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::bit_shift)
        .build(elementwise::binary::bit_shift)
        .converts(
            "BitwiseLeftShift, BitwiseRightShift",
            "counts of the width or more",
            elementwise::to_openvino::bit_shift,
        ),
    onnx("BitwiseAnd", Exact)
        .before(18, elementwise::lowered::bitwise_and)
        .infer(elementwise::infer::bit_shift)
        .operation(Operation::And)
        .build(elementwise::binary::build)
        .converts("BitwiseAnd", "", |cx| elementwise::to_openvino::binary(cx, "BitwiseAnd")),
    onnx("BitwiseNot", Exact)
        .before(18, elementwise::lowered::bitwise_not)
        .infer(elementwise::infer::same)
        .map(elementwise::unary::bitwise_not)
        .build(elementwise::unary::build)
        .converts("BitwiseNot", "", |cx| cx.unary("BitwiseNot")),
    onnx("BitwiseOr", Exact)
        .before(18, elementwise::lowered::bitwise_or)
        .infer(elementwise::infer::bit_shift)
        .operation(Operation::Or)
        .build(elementwise::binary::build)
        .converts("BitwiseOr", "", |cx| elementwise::to_openvino::binary(cx, "BitwiseOr")),
    onnx("BitwiseXor", Exact)
        .before(18, elementwise::lowered::bitwise_xor)
        .infer(elementwise::infer::bit_shift)
        .operation(Operation::Xor)
        .build(elementwise::binary::build)
        .converts("BitwiseXor", "", |cx| elementwise::to_openvino::binary(cx, "BitwiseXor")),
    onnx("BlackmanWindow", Formula)
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::BLACKMAN)),
    onnx("Cast", Ieee)
        .infer(elementwise::infer::cast_rule)
        .build(elementwise::cast::CastOp::build)
        .converts(
            "Convert",
            "from floats to integers: numbers that do not fit",
            elementwise::to_openvino::cast_row,
        )
        .role(Role::Cast),
    onnx("CastLike", Ieee)
        .before(15, elementwise::lowered::cast_like)
        .infer(elementwise::infer::cast_like)
        .eval(elementwise::cast::cast_like)
        .converts(
            "Convert",
            "from floats to integers: numbers that do not fit",
            elementwise::to_openvino::cast_like,
        )
        .role(Role::Cast),
    onnx("Ceil", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::rounding)
        .map(elementwise::unary::ceil)
        .build(elementwise::unary::build)
        .converts("Ceiling", "", |cx| cx.unary("Ceiling")),
    onnx("Celu", Formula)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .lower(elementwise::lowered::celu),
    onnx("CenterCropPad", Moved)
        .works(Work::None)
        .infer(layout::infer::center_crop_pad)
        .computes(layout::rearrange::center_crop_pad)
        .lower(layout::lowered::center_crop_pad),
    onnx("Clip", Chosen)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::clip)
        .eval(elementwise::unary::clip)
        .converts("Maximum, Minimum", "floats: NaN", elementwise::to_openvino::clip),
    onnx("Compress", Moved).infer(indexing::infer::compress).eval(indexing::eval::compress).converts(
        "NonZero, Gather",
        "",
        indexing::to_openvino::compress,
    ),
    onnx("Concat", Moved)
        .zeros(ZeroSigns::OfAll)
        .infer(layout::infer::concat)
        .eval(layout::eval::concat)
        .converts("Concat", "", layout::to_openvino::concat)
        .role(Role::Join),
    onnx("Constant", Moved)
        .infer(generate::constant::rule)
        .build(generate::constant::ConstantOp::build)
        .converts("a constant", "", layout::to_openvino::constant)
        .role(Role::Constant),
    onnx("ConstantOfShape", Moved)
        .infer(generate::infer::constant_of_shape)
        .eval(generate::eval::constant_of_shape)
        .converts("Broadcast", "", layout::to_openvino::constant_of_shape),
    onnx("Cos", Formula)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::same)
        .real(Function::Cos)
        .build(elementwise::unary::build)
        .converts("Cos", "rounding", |cx| cx.function("Cos")),
    onnx("Cosh", Formula)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .infer(elementwise::infer::same)
        .real(Function::Cosh)
        .build(elementwise::unary::build)
        .converts("Cosh", "rounding", |cx| cx.function("Cosh")),
    onnx("CumProd", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::cumulative)
        .eval(reduction::eval::cum_sum)
        .lower(reduction::lowered::cum_prod),
    onnx("CumSum", Order)
        .zeros(ZeroSigns::OfFirst)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::cumulative)
        .eval(reduction::eval::cum_sum)
        .converts("CumSum", "floats: rounding", reduction::to_openvino::cum_sum),
    onnx("DFT", Order)
        .composed_before(17, signal::lowered::dft)
        .works(Work::Fourier)
        .infer(signal::infer::dft)
        .computes(signal::eval::dft)
        .converts("DFT, IDFT, RDFT, IRDFT", "rounding", signal::to_openvino::dft),
    onnx("DepthToSpace", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::depth_to_space)
        .computes(layout::rearrange::depth_to_space)
        .converts("DepthToSpace", "", |cx| layout::to_openvino::blocks(cx, "DepthToSpace")),
    onnx("Det", Order)
        .works(Work::Elimination { parts: 3 })
        .infer(matmul::infer::det)
        .computes(matmul::elimination::det)
        .lower(matmul::elimination::det_by_steps),
    onnx("Div", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::binary)
        .operation(Operation::Div)
        .build(elementwise::binary::build)
        .converts("Divide", "", elementwise::to_openvino::div),
    onnx("Einsum", Order)
        .composed_before(12, matmul::to_onnx::einsum_of_products)
        .zeros(ZeroSigns::OfAll)
        .works(Work::Einsum)
        .infer(matmul::infer::einsum)
        .computes(matmul::eval::einsum)
        .converts("Einsum", "floats: rounding", reduction::to_openvino::einsum),
    onnx("Elu", Formula)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("Elu", "rounding", elementwise::to_openvino::elu),
    onnx("Equal", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .operation(Operation::Equal)
        .build(elementwise::binary::build)
        .converts("Equal", "", |cx| elementwise::to_openvino::binary(cx, "Equal")),
    onnx("Erf", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Erf)
        .build(elementwise::unary::build)
        .converts("Erf", "rounding", |cx| cx.function("Erf")),
    onnx("Exp", Formula)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .infer(elementwise::infer::same)
        .real(Function::Exp)
        .build(elementwise::unary::build)
        .converts("Exp", "rounding", |cx| cx.function("Exp")),
    onnx("Expand", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::expand)
        .eval(layout::eval::expand)
        .converts("Broadcast", "", layout::to_openvino::expand)
        .role(Role::Expand),
    onnx("EyeLike", Moved).infer(generate::infer::eye_like).eval(generate::eval::eye_like).converts(
        "Eye",
        "",
        layout::to_openvino::eye_like,
    ),
    onnx("Flatten", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::flatten)
        .eval(layout::eval::flatten)
        .converts("Reshape", "", layout::to_openvino::flatten)
        .role(Role::View),
    onnx("Floor", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::rounding)
        .map(elementwise::unary::floor)
        .build(elementwise::unary::build)
        .converts("Floor", "", |cx| cx.unary("Floor")),
    onnx("Gather", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(indexing::infer::gather)
        .eval(indexing::eval::gather)
        .converts("Gather", "", indexing::to_openvino::gather),
    onnx("GatherElements", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(indexing::infer::gather_elements)
        .eval(indexing::eval::gather_elements)
        .converts("GatherElements, StridedSlice", "", indexing::to_openvino::gather_elements),
    onnx("GatherND", Moved)
        .before(12, indexing::lowered::gather_nd)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(indexing::infer::gather_nd)
        .eval(indexing::eval::gather_nd)
        .converts("GatherND", "", indexing::to_openvino::gather_nd),
    onnx("Gelu", Formula)
        .composed_before(20, elementwise::lowered::gelu)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval_gelu)
        .converts("Gelu", "rounding", elementwise::to_openvino::gelu),
    onnx("Gemm", Order)
        .before(11, matmul::lowered::gemm)
        .zeros(ZeroSigns::OfAll)
        .bias(2)
        .works(Work::MatMul)
        .infer(matmul::infer::gemm)
        .eval(matmul::eval::gemm)
        .converts("MatMul, Multiply, Add", "floats: rounding", matmul::to_openvino::gemm),
    onnx("Greater", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .operation(Operation::Greater)
        .build(elementwise::binary::build)
        .converts("Greater", "", |cx| elementwise::to_openvino::binary(cx, "Greater")),
    onnx("GreaterOrEqual", Exact)
        .before(12, elementwise::lowered::greater_or_equal)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .operation(Operation::GreaterOrEqual)
        .build(elementwise::binary::build)
        .converts("GreaterEqual", "", |cx| elementwise::to_openvino::binary(cx, "GreaterEqual")),
    onnx("HammingWindow", Formula)
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::HAMMING)),
    onnx("HannWindow", Formula)
        .infer(signal::infer::window)
        .computes(signal::eval::window)
        .lower(|l| signal::lowered::window(l, signal::eval::HANN)),
    onnx("HardSigmoid", Formula)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("HardSigmoid", "rounding", elementwise::to_openvino::hard_sigmoid),
    onnx("HardSwish", Formula)
        .composed_before(14, elementwise::lowered::hard_swish)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("HSwish", "rounding", |cx| cx.function("HSwish")),
    onnx("Hardmax", Chosen)
        .before(13, |l| normalization::lowered::softmax(l, "Hardmax"))
        .axis(-1)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(elementwise::infer::along_axis)
        .eval(normalization::softmax::hardmax)
        .lower(normalization::lowered::hardmax),
    onnx("Identity", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::identity)
        .build(layout::identity::Identity::build)
        .converts("Convert to the same type", "", elementwise::to_openvino::identity)
        .role(Role::Copy),
    onnx("If", Moved)
        .works(Work::Graphs)
        .infer(control_flow::infer::branch)
        .build(control_flow::eval::IfOp::build)
        .converts("If", "", control_flow::to_openvino::branch)
        .role(Role::If),
    onnx("ImageDecoder", Open)
        .works(Work::Open("the contents of images decide the number of operations"))
        .infer(images::infer::image_decoder),
    onnx("IsInf", Exact)
        .zeros(ZeroSigns::Unseen)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .eval(elementwise::unary::is_inf)
        .converts("IsInf", "", elementwise::to_openvino::is_inf),
    onnx("IsNaN", Exact)
        .zeros(ZeroSigns::Unseen)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .eval(elementwise::unary::is_na_n)
        .converts("IsNaN", "", |cx| cx.unary("IsNaN")),
    onnx("LeakyRelu", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("PReLU", "of fewer than 32 bits: rounding", elementwise::to_openvino::leaky_relu),
    onnx("Less", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .operation(Operation::Less)
        .build(elementwise::binary::build)
        .converts("Less", "", |cx| elementwise::to_openvino::binary(cx, "Less")),
    onnx("LessOrEqual", Exact)
        .before(12, elementwise::lowered::less_or_equal)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .operation(Operation::LessOrEqual)
        .build(elementwise::binary::build)
        .converts("LessEqual", "", |cx| elementwise::to_openvino::binary(cx, "LessEqual")),
    onnx("Log", Formula)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::same)
        .real(Function::Log)
        .build(elementwise::unary::build)
        .converts("Log", "rounding", |cx| cx.function("Log")),
    onnx("LogSoftmax", Formula)
        .before(13, |l| normalization::lowered::softmax(l, "LogSoftmax"))
        .zeros(ZeroSigns::OfFirst)
        .axis(-1)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::along_axis)
        .eval(normalization::softmax::log_softmax)
        .converts("LogSoftmax", "rounding", |cx| normalization::to_openvino::softmax(cx, "LogSoftmax")),
    onnx("Loop", Moved)
        .works(Work::Graphs)
        .infer(control_flow::infer::repeat)
        .build(control_flow::loops::Loop::build)
        .converts("Loop", "scans of a loop that does not run", control_flow::to_openvino::repeat),
    onnx("MatMul", Order)
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
    onnx("Max", Chosen)
        .before(12, elementwise::lowered::max)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Max)
        .build(elementwise::binary::fold)
        .converts("Maximum", "floats: NaN", elementwise::to_openvino::max),
    onnx("Mean", Order)
        .zeros(ZeroSigns::OfAll)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::bit_shift)
        .computes(elementwise::mixed::mean)
        .lower(elementwise::lowered::mean),
    onnx("MelWeightMatrix", Formula)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(signal::infer::mel_weights)
        .computes(signal::eval::mel_weights),
    onnx("Min", Chosen)
        .before(12, elementwise::lowered::min)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Min)
        .build(elementwise::binary::fold)
        .converts("Minimum", "floats: NaN", elementwise::to_openvino::min),
    onnx("Mish", Formula)
        .composed_before(18, elementwise::lowered::mish)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("Mish", "rounding", |cx| cx.function("Mish")),
    onnx("Mod", Open)
        .before(i64::MAX, elementwise::lowered::floor_mod)
        .infer(elementwise::infer::modulo)
        .operation(Operation::Mod)
        .build(elementwise::binary::mod_build)
        .converts("FloorMod, Mod", "floats: rounding", elementwise::to_openvino::modulo),
    onnx("Mul", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Mul)
        .build(elementwise::binary::build)
        .converts("Multiply", "", |cx| elementwise::to_openvino::binary(cx, "Multiply")),
    onnx("Multinomial", Open)
        .infer(generate::infer::multinomial)
        .computes(generate::random::multinomial)
        .converts("Multinomial", "other random numbers", generate::to_openvino::multinomial)
        .random(),
    onnx("Neg", Exact)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::neg)
        .map(elementwise::unary::neg)
        .build(elementwise::unary::build)
        .converts("Negative", "", |cx| cx.unary("Negative")),
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
    onnx("Not", Exact)
        .infer(elementwise::infer::not)
        .map(elementwise::unary::logical_not)
        .build(elementwise::unary::build)
        .converts("LogicalNot", "", |cx| cx.unary("LogicalNot")),
    onnx("OneHot", Moved).infer(generate::infer::one_hot).eval(generate::eval::one_hot).converts(
        "OneHot",
        "indices of floats",
        layout::to_openvino::one_hot,
    ),
    onnx("Or", Exact)
        .infer(elementwise::infer::binary)
        .operation(Operation::Or)
        .build(elementwise::binary::build)
        .converts("LogicalOr", "", |cx| elementwise::to_openvino::binary(cx, "LogicalOr")),
    onnx("Pad", Moved)
        .before(18, layout::lowered::pad)
        .zeros(ZeroSigns::OfFirst)
        .infer(layout::infer::pad)
        .eval(layout::eval::pad)
        .converts("Pad; wrapped: Gather", "", layout::to_openvino::pad)
        .role(Role::Pad),
    onnx("Pow", Formula)
        .before(12, elementwise::lowered::pow)
        .infer(elementwise::infer::binary)
        .operation(Operation::Pow)
        .build(elementwise::binary::build)
        .converts(
            "Power, Convert",
            "floats: rounding, and exponents beyond 2^53; integers: negative exponents",
            elementwise::to_openvino::power,
        ),
    onnx("QLinearMatMul", Order)
        .works(Work::MatMul)
        .infer(matmul::infer::q_linear_mat_mul)
        .computes(quantization::eval::q_linear_mat_mul)
        .lower(contrib::quantized::q_linear_mat_mul),
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
        .works(Work::EachOutput(Each::arithmetic(2)))
        .infer(range::infer::rule)
        .build(range::eval::RangeOp::build)
        .body(range::eval::RangeFunction::build)
        .converts(
            "Range",
            "floats: rounding, and with it perhaps the number of elements",
            layout::to_openvino::range,
        ),
    onnx("Reciprocal", Ieee)
        .infer(elementwise::infer::same)
        .map(elementwise::unary::reciprocal)
        .build(elementwise::unary::build)
        .converts("Divide", "", elementwise::to_openvino::reciprocal),
    onnx("ReduceL1", Order)
        .zeros(ZeroSigns::OfFirst)
        .unsigned()
        .reduces(Reduces::Once)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceL1, Abs", "floats: rounding", reduction::to_openvino::reduce_l1),
    onnx("ReduceL2", Order)
        .zeros(ZeroSigns::OfFirst)
        .unsigned()
        .reduces(Reduces::Once)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceL2, Abs", "rounding", reduction::to_openvino::reduce_l2),
    onnx("ReduceLogSum", Formula)
        .zeros(ZeroSigns::OfFirst)
        .reduces(Reduces::Once)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceSum, Log", "rounding", reduction::to_openvino::reduce_log_sum),
    onnx("ReduceLogSumExp", Formula)
        .zeros(ZeroSigns::OfFirst)
        .reduces(Reduces::Once)
        .works(Work::EachInput(Each::of(2, 1, 1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .lower(reduction::lowered::reduce_log_sum_exp),
    onnx("ReduceMax", Chosen)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .reduces(Reduces::Nested)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceMax, ReduceLogicalOr", "floats: NaN; no elements", |cx| {
            reduction::to_openvino::min_max(cx, "ReduceMax", "ReduceLogicalOr")
        }),
    onnx("ReduceMean", Order)
        .zeros(ZeroSigns::OfFirst)
        .reduces(Reduces::Nested)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceMean", "rounding", reduction::to_openvino::reduce_mean),
    onnx("ReduceMin", Chosen)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .reduces(Reduces::Nested)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceMin, ReduceLogicalAnd", "floats: NaN; no elements", |cx| {
            reduction::to_openvino::min_max(cx, "ReduceMin", "ReduceLogicalAnd")
        }),
    onnx("ReduceProd", Order)
        .zeros(ZeroSigns::OfFirst)
        .reduces(Reduces::Nested)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceProd", "floats: rounding", reduction::to_openvino::reduce_prod),
    onnx("ReduceSum", Order)
        .zeros(ZeroSigns::OfFirst)
        .reduces(Reduces::Nested)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("ReduceSum", "floats: rounding", reduction::to_openvino::reduce_sum),
    onnx("ReduceSumSquare", Order)
        .zeros(ZeroSigns::OfFirst)
        .unsigned()
        .reduces(Reduces::Once)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::eval::reduce)
        .converts("Multiply, ReduceSum", "floats: rounding", reduction::to_openvino::reduce_sum_square),
    onnx("RegexFullMatch", Open)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::regex)
        .computes(text::patterns::full_match)
        .lacks("operator that matches strings"),
    onnx("Relu", Chosen)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .idempotent()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::relu)
        .eval(elementwise::unary::relu)
        .converts("ReLU", "floats: NaN", elementwise::to_openvino::relu),
    onnx("Reshape", Moved)
        .before(14, layout::lowered::reshape)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::reshape)
        .eval(layout::eval::reshape)
        .converts("Reshape", "", layout::to_openvino::reshape)
        .role(Role::Reshape),
    onnx("ReverseSequence", Moved)
        .zeros(ZeroSigns::OfFirst)
        .infer(layout::infer::reverse_sequence)
        .computes(layout::rearrange::reverse_sequence)
        .converts("ReverseSequence", "", layout::to_openvino::reverse_sequence),
    onnx("Round", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::same)
        .map(elementwise::unary::round)
        .build(elementwise::unary::build)
        .converts("Round", "", elementwise::to_openvino::round),
    onnx("STFT", Order)
        .composed_before(17, signal::lowered::stft)
        .works(Work::FourierOfFrames)
        .infer(signal::infer::stft)
        .computes(signal::eval::stft)
        .converts("STFT", "rounding", signal::to_openvino::stft),
    onnx("Scan", Moved)
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
        .before(18, indexing::lowered::scatter_nd)
        .zeros(ZeroSigns::OfFirst)
        .infer(indexing::infer::scatter_nd)
        .eval(indexing::eval::scatter_nd)
        .converts("ScatterNDUpdate", "indices that occur twice", indexing::to_openvino::scatter_nd),
    onnx("Selu", Formula)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("Selu", "rounding", elementwise::to_openvino::selu),
    onnx("Shape", Moved)
        .before(15, layout::lowered::shape)
        .infer(shape::infer::shape_rule)
        .build(shape::eval::ShapeOp::windowed)
        .converts("ShapeOf, Slice", "", layout::to_openvino::shape)
        .role(Role::Shape)
        .shape_only(),
    onnx("Shrink", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .lower(elementwise::lowered::shrink),
    onnx("Sigmoid", Formula)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .infer(elementwise::infer::same)
        .real(Function::Sigmoid)
        .build(elementwise::unary::build)
        .converts("Sigmoid", "rounding", |cx| cx.function("Sigmoid")),
    onnx("Sign", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::sign)
        .map(elementwise::unary::sign)
        .build(elementwise::unary::build)
        .converts("Sign", "floats: NaN", elementwise::to_openvino::sign),
    onnx("Sin", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Sin)
        .build(elementwise::unary::build)
        .converts("Sin", "rounding", |cx| cx.function("Sin")),
    onnx("Sinh", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Sinh)
        .build(elementwise::unary::build)
        .converts("Sinh", "rounding", |cx| cx.function("Sinh")),
    onnx("Size", Moved)
        .infer(shape::infer::size_rule)
        .build(shape::eval::Size::build)
        .converts("ShapeOf, ReduceProd", "", layout::to_openvino::size)
        .role(Role::Size)
        .shape_only(),
    onnx("Slice", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(indexing::infer::slice)
        .eval(indexing::eval::slice)
        .converts("Slice", "", indexing::to_openvino::slice)
        .role(Role::Slice),
    onnx("Softmax", Formula)
        .before(13, |l| normalization::lowered::softmax(l, "Softmax"))
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .axis(-1)
        .works(Work::EachInput(Each::SOFTMAX))
        .infer(elementwise::infer::along_axis)
        .eval(normalization::softmax::softmax)
        .converts("SoftMax", "rounding", |cx| normalization::to_openvino::softmax(cx, "SoftMax")),
    onnx("Softplus", Formula)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::same)
        .real(Function::Softplus)
        .build(elementwise::unary::build)
        .converts("SoftPlus", "rounding", |cx| cx.function("SoftPlus")),
    onnx("Softsign", Formula)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("SoftSign", "rounding", |cx| cx.function("SoftSign")),
    onnx("SpaceToDepth", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::space_to_depth)
        .computes(layout::rearrange::space_to_depth)
        .converts("SpaceToDepth", "", |cx| layout::to_openvino::blocks(cx, "SpaceToDepth")),
    onnx("Split", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .axis(0)
        .infer(layout::infer::split)
        .eval(layout::eval::split)
        .converts("Split, VariadicSplit", "", indexing::to_openvino::split)
        .role(Role::Split),
    onnx("Sqrt", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Sqrt)
        .build(elementwise::unary::build)
        .converts("Sqrt", "", |cx| cx.unary("Sqrt")),
    onnx("Squeeze", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::squeeze)
        .eval(layout::eval::squeeze)
        .converts("Squeeze", "", |cx| layout::to_openvino::on_axes(cx, "Squeeze"))
        .role(Role::View),
    onnx("StringConcat", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::infer::bit_shift)
        .computes(elementwise::mixed::string_concat)
        .lacks("operator that joins strings"),
    onnx("StringNormalizer", Open)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::string_normalizer)
        .computes(text::strings::normalize)
        .lacks("operator that normalizes strings"),
    onnx("StringSplit", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(text::infer::string_split)
        .computes(elementwise::mixed::string_split)
        .lacks("operator that splits strings"),
    onnx("Sub", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Sub)
        .build(elementwise::binary::build)
        .converts("Subtract", "", |cx| elementwise::to_openvino::binary(cx, "Subtract")),
    onnx("Sum", Order)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::bit_shift)
        .operation(Operation::Add)
        .build(elementwise::binary::fold)
        .converts("Add", "floats, three or more: rounding", elementwise::to_openvino::sum)
        .role(Role::Join),
    onnx("Swish", Formula)
        .composed_before(24, elementwise::lowered::swish)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .converts("Swish", "rounding", elementwise::to_openvino::swish),
    onnx("Tan", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Tan)
        .build(elementwise::unary::build)
        .converts("Tan", "rounding", |cx| cx.function("Tan")),
    onnx("Tanh", Formula)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::same)
        .real(Function::Tanh)
        .build(elementwise::unary::build)
        .converts("Tanh", "rounding", |cx| cx.function("Tanh")),
    onnx("TfIdfVectorizer", Ieee)
        .learned()
        .works(Work::Grams)
        .infer(text::infer::tf_idf)
        .computes(text::grams::tf_idf)
        .lower(text::grams::compared_grams),
    onnx("ThresholdedRelu", Exact)
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval)
        .lower(elementwise::lowered::thresholded_relu),
    onnx("Tile", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::tile)
        .eval(layout::eval::tile)
        .converts("Tile", "", layout::to_openvino::tile)
        .role(Role::Tile),
    onnx("TopK", Chosen)
        .picks()
        .axis(-1)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::top_k_rule)
        .eval(reduction::eval::top_k)
        .converts(
            "TopK",
            "floats: NaN; the order if `sorted` is 0; no elements",
            reduction::to_openvino::top_k,
        ),
    onnx("Transpose", Moved)
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::transpose)
        .eval(layout::eval::transpose)
        .converts("Transpose", "", layout::to_openvino::transpose)
        .role(Role::Transpose),
    onnx("Trilu", Moved)
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
        .zeros(ZeroSigns::OfFirst)
        .picks()
        .infer(layout::infer::unsqueeze)
        .eval(layout::eval::unsqueeze)
        .converts("Unsqueeze", "", |cx| layout::to_openvino::on_axes(cx, "Unsqueeze"))
        .role(Role::View),
    onnx("Where", Moved)
        .zeros(ZeroSigns::OfAll)
        .elementwise()
        .infer(elementwise::infer::select)
        .eval(elementwise::select::select)
        .converts("Select", "", elementwise::to_openvino::where_row),
    onnx("Xor", Exact)
        .infer(elementwise::infer::binary)
        .operation(Operation::Xor)
        .build(elementwise::binary::build)
        .converts("LogicalXor", "", |cx| elementwise::to_openvino::binary(cx, "LogicalXor")),
];
