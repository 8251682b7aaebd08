//! The operators of OpenVINO.

use gradus_kernels::Function;

use super::super::operation::Operation;
use super::super::row::Role;
use super::super::row::{Row, openvino};
use super::super::{control_flow, elementwise, generate, indexing, layout, matmul, range, reduction, shape};
use crate::conversion::lowered::rounded_graph_of;
use crate::cost::{Each, OF_TEXTS, Work};
use crate::dialects::elimination as eliminated;
use crate::dialects::openvino::{images, random, rows, types};
use crate::dialects::special;

pub(super) const OPENVINO: &[Row] = &[
    openvino("Abs")
        .infer(elementwise::infer::abs)
        .map(elementwise::unary::abs)
        .build(elementwise::unary::build)
        .converts("Abs", "", |cx| cx.unary("Abs"))
        .rounded(),
    openvino("Acos")
        .infer(elementwise::infer::same)
        .real(Function::Acos)
        .build(elementwise::openvino::floats)
        .converts("Acos", "rounding", |cx| cx.function("Acos")),
    openvino("Acosh")
        .infer(elementwise::infer::same)
        .real(Function::Acosh)
        .build(elementwise::openvino::floats)
        .converts("Acosh", "rounding", |cx| cx.function("Acosh")),
    openvino("Add")
        .infer(elementwise::infer::binary)
        .operation(Operation::Add)
        .build(elementwise::openvino::both)
        .converts("Add", "", |cx| elementwise::to_onnx::binary(cx, "Add"))
        .rounded(),
    openvino("Asin")
        .infer(elementwise::infer::same)
        .real(Function::Asin)
        .build(elementwise::openvino::floats)
        .converts("Asin", "rounding", |cx| cx.function("Asin")),
    openvino("Asinh")
        .infer(elementwise::infer::same)
        .real(Function::Asinh)
        .build(elementwise::openvino::floats)
        .converts("Asinh", "rounding", |cx| cx.function("Asinh")),
    openvino("Assign")
        .works(Work::None)
        .infer(layout::infer::identity)
        .build(layout::identity::Identity::build)
        .stateful(),
    openvino("Atan")
        .infer(elementwise::infer::same)
        .real(Function::Atan)
        .build(elementwise::openvino::floats)
        .converts("Atan", "rounding", |cx| cx.function("Atan")),
    openvino("Atanh")
        .infer(elementwise::infer::same)
        .real(Function::Atanh)
        .build(elementwise::openvino::floats)
        .converts("Atanh", "rounding", |cx| cx.function("Atanh")),
    openvino("BatchToSpace").infer(indexing::openvino::batches).moves().converts(
        "Reshape, Transpose, Slice",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("BitwiseAnd")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::And)
        .build(elementwise::openvino::both)
        .converts("BitwiseAnd, And", "", |cx| elementwise::to_onnx::bitwise(cx, "BitwiseAnd", "And")),
    openvino("BitwiseLeftShift")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Left)
        .build(elementwise::openvino::both)
        .converts("BitShift", "counts of the width or more", |cx| elementwise::to_onnx::shift(cx, "LEFT")),
    openvino("BitwiseNot")
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .eval(elementwise::openvino::bitwise_not)
        .converts("BitwiseNot, Not", "", elementwise::to_onnx::bitwise_not),
    openvino("BitwiseOr")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Or)
        .build(elementwise::openvino::both)
        .converts("BitwiseOr, Or", "", |cx| elementwise::to_onnx::bitwise(cx, "BitwiseOr", "Or")),
    openvino("BitwiseRightShift")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Right)
        .build(elementwise::openvino::both)
        .converts("BitShift", "counts of the width or more", |cx| elementwise::to_onnx::shift(cx, "RIGHT")),
    openvino("BitwiseXor")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .converts("BitwiseXor, Xor", "", |cx| elementwise::to_onnx::bitwise(cx, "BitwiseXor", "Xor")),
    openvino("Broadcast")
        .infer(layout::openvino::broadcast)
        .eval(layout::openvino::run_broadcast)
        .converts("Expand, Unsqueeze", "", layout::to_onnx::broadcast)
        .moves()
        .role(Role::Expand),
    openvino("Bucketize")
        .works(Work::Search { table: 1, values: 0 })
        .infer(reduction::openvino::bucketize)
        .converts(
            "Less, LessOrEqual, ReduceSum",
            "floats: NaN; two element types: integers of 64 bits",
            reduction::to_onnx::bucketize,
        ),
    openvino("Ceiling")
        .meaning("Ceil")
        .infer(elementwise::openvino::whole_or_rounded)
        .map(elementwise::unary::ceil)
        .build(elementwise::unary::build)
        .converts("Ceil", "", |cx| elementwise::to_onnx::of_floats(cx, "Ceil"))
        .rounded(),
    openvino("Clamp")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .eval(elementwise::openvino::clamp)
        .converts("Clip", "floats: NaN", elementwise::to_onnx::clamp),
    openvino("Concat")
        .infer(layout::infer::concat)
        .eval(layout::eval::concat)
        .converts("Concat", "", layout::to_onnx::concat)
        .moves()
        .role(Role::Join),
    openvino("Convert")
        .infer(elementwise::infer::cast_rule)
        .build(elementwise::openvino::convert)
        .converts("Cast", "from floats to integers: numbers that do not fit", elementwise::to_onnx::convert)
        .rounded()
        .role(Role::Cast),
    openvino("ConvertLike")
        .infer(elementwise::infer::cast_like)
        .eval(elementwise::openvino::convert_like)
        .converts(
            "Cast",
            "from floats to integers: numbers that do not fit",
            elementwise::to_onnx::convert_like,
        )
        .moves()
        .role(Role::Cast),
    openvino("ConvertPromoteTypes").works(Work::None).lowers(types::promote),
    openvino("Cos")
        .infer(elementwise::infer::same)
        .real(Function::Cos)
        .build(elementwise::openvino::floats)
        .converts("Cos", "rounding", |cx| cx.function("Cos")),
    openvino("Cosh")
        .infer(elementwise::infer::same)
        .real(Function::Cosh)
        .build(elementwise::openvino::floats)
        .converts("Cosh", "rounding", |cx| cx.function("Cosh")),
    openvino("CumSum")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .eval(reduction::eval::cum_sum)
        .converts("CumSum", "floats: rounding", reduction::to_onnx::cum_sum),
    openvino("DFT").works(Work::Fourier).infer(indexing::openvino::transformed).converts(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("Divide")
        .works(Work::EachOutput(Each::arithmetic(1)))
        .meaning("FloorDiv")
        .infer(elementwise::openvino::divide_rule)
        .build(elementwise::openvino::divide)
        .converts(
            "Div; of integers with the floor: and Mul, Sub, Less, Xor",
            "",
            elementwise::to_onnx::divide,
        )
        .rounded(),
    openvino("Einsum").works(Work::Einsum).infer(matmul::infer::einsum).converts(
        "Einsum",
        "floats: rounding",
        reduction::to_onnx::einsum,
    ),
    openvino("Elu").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Elu",
        "rounding",
        elementwise::to_onnx::elu,
    ),
    openvino("EmbeddingBagOffsets")
        .works(Work::Bags { weights: 4 })
        .infer(indexing::openvino::embedding_bag_offsets)
        .converts("Gather, Mul, ScatterND, Div", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagOffsetsSum")
        .works(Work::Bags { weights: 4 })
        .infer(indexing::openvino::embedding_bag_offsets)
        .converts("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagPacked")
        .works(Work::Bags { weights: 2 })
        .infer(indexing::openvino::embedding_bag_packed)
        .converts("Gather, Mul, ReduceSum, ReduceMean", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingBagPackedSum")
        .works(Work::Bags { weights: 2 })
        .infer(indexing::openvino::embedding_bag_packed)
        .converts("Gather, Mul, ReduceSum", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingSegmentsSum")
        .works(Work::Bags { weights: 5 })
        .infer(indexing::openvino::segments)
        .converts("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("Equal")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Equal)
        .build(elementwise::openvino::both)
        .converts("Equal", "", |cx| elementwise::to_onnx::binary(cx, "Equal"))
        .rounded(),
    openvino("Erf").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Erf",
        "rounding",
        |cx| cx.function("Erf"),
    ),
    openvino("ErfInv")
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(|_, cx| elementwise::special::mapped(cx, elementwise::special::erf_inv))
        .lower(special::erf_inv),
    openvino("Exp")
        .infer(elementwise::infer::same)
        .real(Function::Exp)
        .build(elementwise::openvino::floats)
        .converts("Exp", "rounding", |cx| cx.function("Exp")),
    openvino("Eye").infer(indexing::openvino::eye).eval(indexing::openvino::run_eye).moves().converts(
        "EyeLike, ConstantOfShape, Expand",
        "",
        layout::to_onnx::eye,
    ),
    openvino("FakeConvert")
        .works(Work::EachInput(Each::arithmetic(2)))
        .infer(elementwise::infer::same)
        .converts("Mul, Sub, Cast, Add, Div", "rounding", elementwise::to_onnx::fake_convert),
    openvino("Floor")
        .infer(elementwise::openvino::whole_or_rounded)
        .map(elementwise::unary::floor)
        .build(elementwise::unary::build)
        .converts("Floor", "", |cx| elementwise::to_onnx::of_floats(cx, "Floor"))
        .rounded(),
    openvino("FloorMod")
        .meaning("Mod")
        .infer(elementwise::infer::binary)
        .operation(Operation::Mod)
        .build(elementwise::openvino::both)
        .converts(
            "Mod; of floats: and Less, Xor, Add, Where",
            "floats: rounding",
            elementwise::to_onnx::floor_mod,
        ),
    openvino("Gather")
        .infer(indexing::openvino::gather)
        .eval(indexing::openvino::run_gather)
        .converts("Gather, GatherND", "since version 8: indices out of range", indexing::to_onnx::gather)
        .moves(),
    openvino("GatherElements")
        .infer(indexing::openvino::gather_elements)
        .eval(indexing::eval::gather_elements)
        .converts("GatherElements", "", indexing::to_onnx::gather_elements)
        .moves(),
    openvino("GatherND")
        .infer(indexing::openvino::gather_nd_merged)
        .eval(indexing::openvino::run_gather_nd)
        .converts("GatherND, Reshape", "", indexing::to_onnx::gather_nd)
        .moves(),
    openvino("GatherTree")
        .works(Work::None)
        .infer(elementwise::infer::same)
        .lowers(rows::gather_tree)
        .moves(),
    openvino("Gelu").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Gelu",
        "rounding",
        elementwise::to_onnx::gelu,
    ),
    openvino("Greater")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Greater)
        .build(elementwise::openvino::both)
        .converts("Greater", "", |cx| elementwise::to_onnx::binary(cx, "Greater"))
        .rounded(),
    openvino("GreaterEqual")
        .meaning("GreaterOrEqual")
        .infer(elementwise::openvino::compare)
        .operation(Operation::GreaterOrEqual)
        .build(elementwise::openvino::both)
        .converts("GreaterOrEqual", "", |cx| elementwise::to_onnx::binary(cx, "GreaterOrEqual"))
        .rounded(),
    openvino("GroupedMatMul").lowers(rows::grouped_product),
    openvino("HSigmoid").works(Work::EachOutput(Each::COMPARISON)).infer(elementwise::infer::same).converts(
        "Add, Clip, Div",
        "rounding",
        elementwise::to_onnx::h_sigmoid,
    ),
    openvino("HSwish").works(Work::EachOutput(Each::COMPARISON)).infer(elementwise::infer::same).converts(
        "HardSwish",
        "rounding",
        |cx| cx.function("HardSwish"),
    ),
    openvino("HardSigmoid")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .converts("HardSigmoid", "rounding", elementwise::to_onnx::hard_sigmoid),
    openvino("IDFT").works(Work::Fourier).infer(indexing::openvino::transformed).converts(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("Identity")
        .infer(layout::infer::identity)
        .build(layout::identity::Identity::build)
        .converts("Identity", "", elementwise::to_onnx::identity)
        .moves()
        .role(Role::Copy),
    openvino("If")
        .works(Work::Graphs)
        .infer(control_flow::openvino::branch)
        .build(control_flow::openvino::PortedIf::build)
        .converts("If", "", control_flow::to_onnx::branch)
        .moves()
        .role(Role::If),
    openvino("Inverse")
        .works(Work::Elimination { parts: 1 })
        .infer(matmul::elimination::square)
        .computes(matmul::elimination::inverse)
        .lower(eliminated::inverse)
        .converts(eliminated::WRITTEN, "rounding", rounded_graph_of),
    openvino("IRDFT").works(Work::Fourier).infer(indexing::openvino::transformed).converts(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("IsFinite")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::openvino::is_finite)
        .converts("IsNaN, IsInf, Or, Not", "", elementwise::to_onnx::is_finite)
        .rounded(),
    openvino("IsInf")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_inf)
        .converts("IsInf", "", elementwise::to_onnx::is_inf)
        .rounded(),
    openvino("IsNaN")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_na_n)
        .converts("IsNaN", "", |cx| cx.unary("IsNaN"))
        .rounded(),
    openvino("Less")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Less)
        .build(elementwise::openvino::both)
        .converts("Less", "", |cx| elementwise::to_onnx::binary(cx, "Less"))
        .rounded(),
    openvino("LessEqual")
        .meaning("LessOrEqual")
        .infer(elementwise::openvino::compare)
        .operation(Operation::LessOrEqual)
        .build(elementwise::openvino::both)
        .converts("LessOrEqual", "", |cx| elementwise::to_onnx::binary(cx, "LessOrEqual"))
        .rounded(),
    openvino("Log")
        .infer(elementwise::infer::same)
        .real(Function::Log)
        .build(elementwise::openvino::floats)
        .converts("Log", "rounding", |cx| cx.function("Log")),
    openvino("LogicalAnd")
        .meaning("And")
        .infer(elementwise::openvino::compare)
        .operation(Operation::And)
        .build(elementwise::openvino::both)
        .converts("And", "", |cx| elementwise::to_onnx::binary(cx, "And"))
        .rounded(),
    openvino("LogicalNot")
        .meaning("Not")
        .infer(elementwise::infer::not)
        .map(elementwise::unary::logical_not)
        .build(elementwise::unary::build)
        .converts("Not", "", |cx| cx.unary("Not"))
        .rounded(),
    openvino("LogicalOr")
        .meaning("Or")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Or)
        .build(elementwise::openvino::both)
        .converts("Or", "", |cx| elementwise::to_onnx::binary(cx, "Or"))
        .rounded(),
    openvino("LogicalXor")
        .meaning("Xor")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .converts("Xor", "", |cx| elementwise::to_onnx::binary(cx, "Xor"))
        .rounded(),
    openvino("Loop")
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, true)
        })
        .moves(),
    openvino("MatMul")
        .works(Work::MatMul)
        .infer(matmul::openvino::mat_mul)
        .eval(matmul::openvino::run_mat_mul)
        .converts("MatMul, Transpose", "floats: rounding", matmul::to_onnx::mat_mul),
    openvino("Maximum")
        .meaning("Max")
        .infer(elementwise::infer::binary)
        .operation(Operation::Max)
        .build(elementwise::openvino::both)
        .converts("Max", "floats: NaN", elementwise::to_onnx::maximum),
    openvino("Minimum")
        .meaning("Min")
        .infer(elementwise::infer::binary)
        .operation(Operation::Min)
        .build(elementwise::openvino::both)
        .converts("Min", "floats: NaN", elementwise::to_onnx::minimum),
    openvino("Mish").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Mish",
        "rounding",
        |cx| cx.function("Mish"),
    ),
    openvino("Mod")
        .meaning("Fmod")
        .infer(elementwise::infer::binary)
        .operation(Operation::Fmod)
        .build(elementwise::openvino::both)
        .converts("Mod; of integers: Div, Mul, Sub", "floats: rounding", elementwise::to_onnx::mod_row),
    openvino("Multinomial").infer(reduction::openvino::multinomial).lowers(random::multinomial).random(),
    openvino("Multiply")
        .meaning("Mul")
        .infer(elementwise::infer::binary)
        .operation(Operation::Mul)
        .build(elementwise::openvino::both)
        .converts("Mul", "", |cx| elementwise::to_onnx::binary(cx, "Mul"))
        .rounded(),
    openvino("Negative")
        .meaning("Neg")
        .infer(elementwise::infer::neg)
        .map(elementwise::unary::neg)
        .build(elementwise::unary::build)
        .converts("Neg", "", |cx| cx.unary("Neg"))
        .rounded(),
    openvino("NonZero")
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::non_zero)
        .eval(reduction::openvino::run_non_zero)
        .converts(
            "NonZero, Cast",
            "of a scalar; as int32: indices of 2^31 or more",
            layout::to_onnx::non_zero,
        )
        .rounded(),
    openvino("NotEqual")
        .infer(elementwise::openvino::compare)
        .operation(Operation::NotEqual)
        .build(elementwise::openvino::both)
        .converts("Equal, Not", "", elementwise::to_onnx::not_equal)
        .rounded(),
    openvino("OneHot")
        .infer(indexing::openvino::one_hot)
        .eval(indexing::openvino::run_one_hot)
        .converts("OneHot, Where", "", layout::to_onnx::one_hot)
        .moves(),
    openvino("PReLU").works(Work::EachOutput(Each::COMPARISON)).infer(elementwise::infer::same).converts(
        "PRelu",
        "",
        elementwise::to_onnx::p_relu,
    ),
    openvino("Pad")
        .infer(layout::openvino::pad)
        .eval(layout::openvino::run_pad)
        .converts("Pad, Concat; symmetric: Range, Mod, Gather", "", layout::to_onnx::pad)
        .moves()
        .role(Role::Pad),
    openvino("Power")
        .meaning("Pow")
        .infer(elementwise::infer::binary)
        .operation(Operation::Pow)
        .build(elementwise::openvino::both)
        .converts("Pow", "floats: rounding; integers: negative exponents", elementwise::to_onnx::power),
    openvino("RDFT").works(Work::Fourier).infer(indexing::openvino::transformed).converts(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("RandomUniform")
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(indexing::openvino::random_uniform)
        .lowers(random::uniform)
        .random(),
    openvino("Range")
        .works(Work::EachOutput(Each::arithmetic(2)))
        .signatures_are(&[range::eval::RANGE_1, range::eval::RANGE_4])
        .infer(range::infer::rule)
        .build(range::eval::RangeOp::build)
        .converts(
            "Range, Cast",
            "floats: rounding, and with it perhaps the number of elements; uint64: 2^63 or more",
            layout::to_onnx::range,
        ),
    openvino("ReLU")
        .meaning("Relu")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::relu)
        .eval(elementwise::unary::relu)
        .converts("Relu", "floats: NaN", elementwise::to_onnx::re_lu),
    openvino("ReduceL1")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceL1", "floats: rounding; computed axes named twice", reduction::to_onnx::reduce_l1),
    openvino("ReduceL2")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceL2", "rounding; computed axes named twice", reduction::to_onnx::reduce_l2),
    openvino("ReduceLogicalAnd")
        .works(Work::EachInput(Each::arithmetic(1)))
        .meaning("ReduceMin")
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceMin, Cast", "no elements; computed axes named twice", |cx| {
            reduction::to_onnx::of_truth(cx, "ReduceMin")
        }),
    openvino("ReduceLogicalOr")
        .works(Work::EachInput(Each::arithmetic(1)))
        .meaning("ReduceMax")
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceMax, Cast", "no elements; computed axes named twice", |cx| {
            reduction::to_onnx::of_truth(cx, "ReduceMax")
        }),
    openvino("ReduceMax")
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceMax", "floats: NaN; no elements; computed axes named twice", |cx| {
            reduction::to_onnx::min_max(cx, "ReduceMax")
        }),
    openvino("ReduceMean")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceMean", "rounding; computed axes named twice", reduction::to_onnx::reduce_mean),
    openvino("ReduceMin")
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceMin", "floats: NaN; no elements; computed axes named twice", |cx| {
            reduction::to_onnx::min_max(cx, "ReduceMin")
        }),
    openvino("ReduceProd")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts(
            "ReduceProd",
            "floats: rounding; computed axes named twice",
            reduction::to_onnx::reduce_prod,
        ),
    openvino("ReduceSum")
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .converts("ReduceSum", "floats: rounding; computed axes named twice", reduction::to_onnx::reduce_sum),
    openvino("Reshape")
        .infer(layout::openvino::reshape)
        .eval(layout::openvino::run_reshape)
        .converts("Reshape", "", layout::to_onnx::reshape)
        .moves()
        .role(Role::Reshape),
    openvino("Reverse")
        .works(Work::None)
        .infer(elementwise::infer::same)
        .eval(indexing::openvino::run_reverse)
        .converts("Slice", "", indexing::to_onnx::reverse),
    openvino("ReverseSequence").infer(elementwise::infer::same).moves().converts(
        "ReverseSequence, Transpose",
        "",
        layout::to_onnx::reverse_sequence,
    ),
    openvino("Roll").infer(indexing::openvino::roll).eval(indexing::openvino::run_roll).moves().converts(
        "Range, Mod, Gather",
        "",
        indexing::to_onnx::roll,
    ),
    openvino("Round")
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .build(elementwise::openvino::round)
        .converts("Round; away from zero: Abs, Floor, Where", "", elementwise::to_onnx::round)
        .rounded(),
    openvino("STFT").works(Work::FourierOfFrames).infer(indexing::openvino::windows_transformed).converts(
        "STFT",
        "rounding",
        generate::to_onnx::stft,
    ),
    openvino("ScatterElementsUpdate")
        .works(Work::None)
        .infer(indexing::openvino::scatter_elements_update)
        .build(indexing::openvino::scatter_elements)
        .lower(rows::scatter_elements)
        .converts(
            "ScatterElements; of means and without initial values: Expand, Max, Div",
            "indices that occur twice",
            indexing::to_onnx::scatter_elements_update,
        ),
    openvino("ScatterNDUpdate")
        .works(Work::None)
        .infer(indexing::openvino::scatter_nd_update)
        .eval(indexing::openvino::run_scatter_nd)
        .converts("ScatterND", "indices that occur twice", indexing::to_onnx::scatter_nd_update),
    openvino("ScatterUpdate")
        .works(Work::None)
        .infer(indexing::openvino::scatter_update)
        .eval(indexing::openvino::run_scatter_update)
        .converts("ScatterElements, Expand", "indices that occur twice", indexing::to_onnx::scatter_update),
    openvino("SearchSorted")
        .works(Work::Search { table: 0, values: 1 })
        .infer(reduction::openvino::search_sorted)
        .converts("Less, LessOrEqual, ReduceSum", "floats: NaN", reduction::to_onnx::search_sorted),
    openvino("SegmentMax").infer(indexing::openvino::segments).converts(
        "ScatterND, Where, Slice",
        "floats: NaN",
        indexing::segments_to_onnx::segment_max,
    ),
    openvino("Select")
        .infer(elementwise::openvino::select)
        .eval(elementwise::select::select)
        .converts("Where", "", elementwise::to_onnx::select)
        .moves(),
    openvino("Selu").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Selu",
        "rounding",
        elementwise::to_onnx::selu,
    ),
    openvino("ShapeOf")
        .signatures_are(&[shape::eval::SHAPE_OF_1, shape::eval::SHAPE_OF_3])
        .infer(shape::infer::shape_rule)
        .build(shape::eval::ShapeOp::typed)
        .converts("Shape, Cast", "as int32: sizes of 2^31 or more", layout::to_onnx::shape_of)
        .moves()
        .role(Role::Shape)
        .shape_only(),
    openvino("ShuffleChannels").infer(elementwise::infer::same).moves().converts(
        "Reshape, Transpose",
        "",
        layout::to_onnx::shuffle_channels,
    ),
    openvino("Sigmoid")
        .infer(elementwise::infer::same)
        .real(Function::Sigmoid)
        .build(elementwise::openvino::floats)
        .converts("Sigmoid", "rounding", |cx| cx.function("Sigmoid")),
    openvino("Sign")
        .infer(elementwise::infer::sign)
        .map(elementwise::unary::sign)
        .build(elementwise::unary::build)
        .converts("Sign", "floats: NaN", elementwise::to_onnx::sign)
        .rounded(),
    openvino("Sin")
        .infer(elementwise::infer::same)
        .real(Function::Sin)
        .build(elementwise::openvino::floats)
        .converts("Sin", "rounding", |cx| cx.function("Sin")),
    openvino("Sinh")
        .infer(elementwise::infer::same)
        .real(Function::Sinh)
        .build(elementwise::openvino::floats)
        .converts("Sinh", "rounding", |cx| cx.function("Sinh")),
    openvino("Slice")
        .infer(indexing::infer::slice)
        .eval(indexing::eval::slice)
        .converts("Slice", "", indexing::to_onnx::slice)
        .moves()
        .role(Role::Slice),
    openvino("SliceScatter")
        .works(Work::None)
        .infer(elementwise::infer::same)
        .lowers(images::slice_scatter)
        .moves(),
    openvino("SoftPlus")
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .converts("Softplus", "rounding", |cx| cx.function("Softplus")),
    openvino("SoftSign")
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .converts("Softsign", "rounding", |cx| cx.function("Softsign")),
    openvino("SpaceToBatch").infer(indexing::openvino::batches).moves().converts(
        "Reshape, Transpose, Pad",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("SparseFillEmptyRows").works(Work::None).lowers(rows::fill_empty_rows).moves(),
    openvino("Split")
        .infer(indexing::openvino::split)
        .eval(indexing::openvino::run_split)
        .converts("Split", "", indexing::to_onnx::split)
        .moves()
        .role(Role::Split),
    openvino("Sqrt")
        .infer(elementwise::infer::same)
        .real(Function::Sqrt)
        .build(elementwise::openvino::floats)
        .converts("Sqrt", "", |cx| cx.unary("Sqrt"))
        .rounded(),
    openvino("SquaredDifference")
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::SquaredDifference)
        .build(elementwise::openvino::both)
        .converts("Sub, Mul", "floats: rounding", elementwise::to_onnx::squared_difference),
    openvino("Squeeze")
        .infer(layout::openvino::squeeze)
        .eval(layout::openvino::run_squeeze)
        .converts(
            "Squeeze",
            "named axes of other than one element, if that is not known",
            layout::to_onnx::squeeze,
        )
        .moves()
        .role(Role::View),
    openvino("StridedSlice")
        .infer(indexing::openvino::strided_slice)
        .eval(indexing::openvino::run_strided_slice)
        .converts("Slice, Gather, Unsqueeze", "", indexing::to_onnx::strided_slice)
        .moves()
        .role(Role::Slice),
    openvino("StringTensorPack")
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::text::packed)
        .computes(elementwise::text::pack)
        .lacks("operator that makes strings of bytes"),
    openvino("StringTensorUnpack")
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::text::unpacked)
        .computes(elementwise::text::unpack)
        .lacks("operator that reads the bytes of strings"),
    openvino("Subtract")
        .meaning("Sub")
        .infer(elementwise::infer::binary)
        .operation(Operation::Sub)
        .build(elementwise::openvino::both)
        .converts("Sub", "", |cx| elementwise::to_onnx::binary(cx, "Sub"))
        .rounded(),
    openvino("Swish").works(Work::EachOutput(Each::TRANSCENDENTAL)).infer(elementwise::infer::same).converts(
        "Sigmoid, Mul",
        "rounding",
        elementwise::to_onnx::swish,
    ),
    openvino("Tan")
        .infer(elementwise::infer::same)
        .real(Function::Tan)
        .build(elementwise::openvino::floats)
        .converts("Tan", "rounding", |cx| cx.function("Tan")),
    openvino("Tanh")
        .infer(elementwise::infer::same)
        .real(Function::Tanh)
        .build(elementwise::openvino::floats)
        .converts("Tanh", "rounding", |cx| cx.function("Tanh")),
    openvino("TensorIterator")
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, false)
        })
        .moves(),
    openvino("Tile")
        .infer(layout::openvino::tile)
        .eval(layout::openvino::run_tile)
        .converts("Tile, Concat, Unsqueeze", "", layout::to_onnx::tile)
        .moves()
        .role(Role::Tile),
    openvino("TopK")
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::top_k)
        .eval(reduction::openvino::run_top_k)
        .converts(
            "TopK, GatherElements, Cast",
            "floats: NaN; equal elements unless `stable`",
            reduction::to_onnx::top_k,
        ),
    openvino("Transpose")
        .infer(layout::openvino::transpose)
        .eval(layout::openvino::run_transpose)
        .converts("Transpose", "", layout::to_onnx::transpose)
        .moves()
        .role(Role::Transpose),
    openvino("Unique")
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::unique)
        .eval(reduction::openvino::run_unique)
        .converts("Unique", "floats: NaN", reduction::to_onnx::unique),
    openvino("Unsqueeze")
        .infer(layout::openvino::unsqueeze)
        .eval(layout::openvino::run_unsqueeze)
        .converts("Unsqueeze", "", layout::to_onnx::unsqueeze)
        .moves()
        .role(Role::View),
    openvino("VariadicSplit")
        .infer(indexing::openvino::variadic_split)
        .eval(indexing::openvino::run_variadic_split)
        .converts("Split; with an open length: Shape, Sub, Where", "", indexing::to_onnx::variadic_split)
        .moves()
        .role(Role::Split),
    openvino("Xor")
        .meaning("Xor")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .converts("Xor", "", |cx| elementwise::to_onnx::binary(cx, "Xor")),
];
