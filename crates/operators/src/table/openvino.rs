//! The operators of OpenVINO.

use gradus_kernels::Function;

use super::super::operation::Operation;

use super::super::rounding::Rounding::{Chosen, Exact, Formula, Ieee, Lowered, Moved, Open, Order};
use super::super::row::Role;
use super::super::row::{Row, openvino};
use super::super::{control_flow, elementwise, generate, indexing, layout, matmul, range, reduction, shape};
use crate::dialects::elimination as eliminated;
use crate::dialects::openvino::{images, random, rows, types};
use crate::dialects::special;
use crate::work::{Each, OF_TEXTS, Work};

pub(super) const OPENVINO: &[Row] = &[
    openvino("Abs", Exact)
        .same_as("Abs")
        .infer(elementwise::infer::abs)
        .map(elementwise::unary::abs)
        .build(elementwise::unary::build)
        .becomes("Abs", "", |l| l.unary("Abs")),
    openvino("Acos", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Acos)
        .build(elementwise::openvino::floats)
        .becomes("Acos", "rounding", |l| l.function("Acos")),
    openvino("Acosh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Acosh)
        .build(elementwise::openvino::floats)
        .becomes("Acosh", "rounding", |l| l.function("Acosh")),
    openvino("Add", Ieee)
        .same_as("Add")
        .infer(elementwise::infer::binary)
        .operation(Operation::Add)
        .build(elementwise::openvino::both)
        .becomes("Add", "", |l| elementwise::to_onnx::binary(l, "Add")),
    openvino("Asin", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Asin)
        .build(elementwise::openvino::floats)
        .becomes("Asin", "rounding", |l| l.function("Asin")),
    openvino("Asinh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Asinh)
        .build(elementwise::openvino::floats)
        .becomes("Asinh", "rounding", |l| l.function("Asinh")),
    openvino("Assign", Open)
        .works(Work::None)
        .infer(layout::infer::identity)
        .build(layout::identity::Identity::build)
        .stateful(),
    openvino("Atan", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Atan)
        .build(elementwise::openvino::floats)
        .becomes("Atan", "rounding", |l| l.function("Atan")),
    openvino("Atanh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Atanh)
        .build(elementwise::openvino::floats)
        .becomes("Atanh", "rounding", |l| l.function("Atanh")),
    openvino("BatchToSpace", Moved).infer(indexing::openvino::batches).becomes(
        "Reshape, Transpose, Slice",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("BitwiseAnd", Exact)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::And)
        .build(elementwise::openvino::both)
        .becomes("BitwiseAnd, And", "", |l| elementwise::to_onnx::bitwise(l, "BitwiseAnd", "And")),
    openvino("BitwiseLeftShift", Open)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Left)
        .build(elementwise::openvino::both)
        .becomes("BitShift", "counts of the width or more", |l| elementwise::to_onnx::shift(l, "LEFT")),
    openvino("BitwiseNot", Exact)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .eval(elementwise::openvino::bitwise_not)
        .becomes("BitwiseNot, Not", "", elementwise::to_onnx::bitwise_not),
    openvino("BitwiseOr", Exact)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Or)
        .build(elementwise::openvino::both)
        .becomes("BitwiseOr, Or", "", |l| elementwise::to_onnx::bitwise(l, "BitwiseOr", "Or")),
    openvino("BitwiseRightShift", Open)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Right)
        .build(elementwise::openvino::both)
        .becomes("BitShift", "counts of the width or more", |l| elementwise::to_onnx::shift(l, "RIGHT")),
    openvino("BitwiseXor", Exact)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .becomes("BitwiseXor, Xor", "", |l| elementwise::to_onnx::bitwise(l, "BitwiseXor", "Xor")),
    openvino("Broadcast", Moved)
        .infer(layout::openvino::broadcast)
        .eval(layout::openvino::run_broadcast)
        .becomes("Expand, Unsqueeze", "", layout::to_onnx::broadcast)
        .role(Role::Expand),
    openvino("Bucketize", Chosen)
        .works(Work::Search { table: 1, values: 0 })
        .infer(reduction::openvino::bucketize)
        .becomes(
            "Less, LessOrEqual, ReduceSum",
            "floats: NaN; two element types: integers of 64 bits",
            reduction::to_onnx::bucketize,
        ),
    openvino("Ceiling", Exact)
        .same_as("Ceil")
        .meaning("Ceil")
        .infer(elementwise::openvino::whole_or_rounded)
        .map(elementwise::unary::ceil)
        .build(elementwise::unary::build)
        .becomes("Ceil", "", |l| elementwise::to_onnx::of_floats(l, "Ceil")),
    openvino("Clamp", Chosen)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .eval(elementwise::openvino::clamp)
        .becomes("Clip", "floats: NaN", elementwise::to_onnx::clamp),
    openvino("Concat", Moved)
        .infer(layout::infer::concat)
        .eval(layout::eval::concat)
        .becomes("Concat", "", layout::to_onnx::concat)
        .role(Role::Join),
    openvino("Convert", Ieee)
        .infer(elementwise::infer::cast_rule)
        .build(elementwise::openvino::convert)
        .becomes("Cast", "from floats to integers: numbers that do not fit", elementwise::to_onnx::convert)
        .role(Role::Cast),
    openvino("ConvertLike", Ieee)
        .infer(elementwise::infer::cast_like)
        .eval(elementwise::openvino::convert_like)
        .becomes(
            "Cast",
            "from floats to integers: numbers that do not fit",
            elementwise::to_onnx::convert_like,
        )
        .role(Role::Cast),
    openvino("ConvertPromoteTypes", Lowered).works(Work::None).lowers(types::promote),
    openvino("Cos", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Cos)
        .build(elementwise::openvino::floats)
        .becomes("Cos", "rounding", |l| l.function("Cos")),
    openvino("Cosh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Cosh)
        .build(elementwise::openvino::floats)
        .becomes("Cosh", "rounding", |l| l.function("Cosh")),
    openvino("CumSum", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .eval(reduction::eval::cum_sum)
        .becomes("CumSum", "floats: rounding", reduction::to_onnx::cum_sum),
    openvino("DFT", Order).works(Work::Fourier).infer(indexing::openvino::transformed).becomes(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("Divide", Ieee)
        .same_as("Div")
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .meaning("FloorDiv")
        .infer(elementwise::openvino::divide_rule)
        .build(elementwise::openvino::divide)
        .becomes(
            "Div; of integers with the floor: and Mul, Sub, Less, Xor",
            "",
            elementwise::to_onnx::divide,
        ),
    openvino("Einsum", Order).works(Work::Einsum).infer(matmul::infer::einsum).becomes(
        "Einsum",
        "floats: rounding",
        reduction::to_onnx::einsum,
    ),
    openvino("Elu", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Elu", "rounding", elementwise::to_onnx::elu),
    openvino("EmbeddingBagOffsets", Order)
        .works(Work::Bags { weights: 4 })
        .infer(indexing::openvino::embedding_bag_offsets)
        .becomes("Gather, Mul, ScatterND, Div", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagOffsetsSum", Order)
        .works(Work::Bags { weights: 4 })
        .infer(indexing::openvino::embedding_bag_offsets)
        .becomes("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("EmbeddingBagPacked", Order)
        .works(Work::Bags { weights: 2 })
        .infer(indexing::openvino::embedding_bag_packed)
        .becomes("Gather, Mul, ReduceSum, ReduceMean", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingBagPackedSum", Order)
        .works(Work::Bags { weights: 2 })
        .infer(indexing::openvino::embedding_bag_packed)
        .becomes("Gather, Mul, ReduceSum", "floats: rounding", indexing::to_onnx::embedding_bag),
    openvino("EmbeddingSegmentsSum", Order)
        .works(Work::Bags { weights: 5 })
        .infer(indexing::openvino::segments)
        .becomes("Gather, Mul, ScatterND", "floats: rounding", indexing::segments_to_onnx::embedding),
    openvino("Equal", Exact)
        .infer(elementwise::openvino::compare)
        .operation(Operation::Equal)
        .build(elementwise::openvino::both)
        .becomes("Equal", "", |l| elementwise::to_onnx::binary(l, "Equal")),
    openvino("Erf", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Erf", "rounding", |l| l.function("Erf")),
    openvino("ErfInv", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .computes(|_, cx| elementwise::special::mapped(cx, elementwise::special::erf_inv))
        .lower(special::erf_inv),
    openvino("Exp", Formula)
        .same_as("Exp")
        .infer(elementwise::infer::same)
        .real(Function::Exp)
        .build(elementwise::openvino::floats)
        .becomes("Exp", "rounding", |l| l.function("Exp")),
    openvino("Eye", Moved).infer(indexing::openvino::eye).eval(indexing::openvino::run_eye).becomes(
        "EyeLike, ConstantOfShape, Expand",
        "",
        layout::to_onnx::eye,
    ),
    openvino("FakeConvert", Formula)
        .works(Work::EachInput(Each::arithmetic(2)))
        .infer(elementwise::infer::same)
        .becomes("Mul, Sub, Cast, Add, Div", "rounding", elementwise::to_onnx::fake_convert),
    openvino("Floor", Exact)
        .same_as("Floor")
        .infer(elementwise::openvino::whole_or_rounded)
        .map(elementwise::unary::floor)
        .build(elementwise::unary::build)
        .becomes("Floor", "", |l| elementwise::to_onnx::of_floats(l, "Floor")),
    openvino("FloorMod", Open)
        .meaning("Mod")
        .infer(elementwise::infer::binary)
        .operation(Operation::Mod)
        .build(elementwise::openvino::both)
        .becomes(
            "Mod; of floats: and Less, Xor, Add, Where",
            "floats: rounding",
            elementwise::to_onnx::floor_mod,
        ),
    openvino("Gather", Moved).infer(indexing::openvino::gather).eval(indexing::openvino::run_gather).becomes(
        "Gather, GatherND",
        "since version 8: indices out of range",
        indexing::to_onnx::gather,
    ),
    openvino("GatherElements", Moved)
        .infer(indexing::openvino::gather_elements)
        .eval(indexing::eval::gather_elements)
        .becomes("GatherElements", "", indexing::to_onnx::gather_elements),
    openvino("GatherND", Moved)
        .infer(indexing::openvino::gather_nd_merged)
        .eval(indexing::openvino::run_gather_nd)
        .becomes("GatherND, Reshape", "", indexing::to_onnx::gather_nd),
    openvino("GatherTree", Moved).works(Work::None).infer(elementwise::infer::same).lowers(rows::gather_tree),
    openvino("Gelu", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Gelu", "rounding", elementwise::to_onnx::gelu),
    openvino("Greater", Exact)
        .infer(elementwise::openvino::compare)
        .operation(Operation::Greater)
        .build(elementwise::openvino::both)
        .becomes("Greater", "", |l| elementwise::to_onnx::binary(l, "Greater")),
    openvino("GreaterEqual", Exact)
        .meaning("GreaterOrEqual")
        .infer(elementwise::openvino::compare)
        .operation(Operation::GreaterOrEqual)
        .build(elementwise::openvino::both)
        .becomes("GreaterOrEqual", "", |l| elementwise::to_onnx::binary(l, "GreaterOrEqual")),
    openvino("GroupedMatMul", Lowered).lowers(rows::grouped_product),
    openvino("HSigmoid", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .becomes("Add, Clip, Div", "rounding", elementwise::to_onnx::h_sigmoid),
    openvino("HSwish", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .becomes("HardSwish", "rounding", |l| l.function("HardSwish")),
    openvino("HardSigmoid", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .becomes("HardSigmoid", "rounding", |l| {
            elementwise::to_onnx::with_numbers(l, "HardSigmoid", ["alpha", "beta"])
        }),
    openvino("IDFT", Order).works(Work::Fourier).infer(indexing::openvino::transformed).becomes(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("Identity", Moved)
        .infer(layout::infer::identity)
        .build(layout::identity::Identity::build)
        .becomes("Identity", "", |l| l.unary("Identity"))
        .role(Role::Copy),
    openvino("If", Moved)
        .works(Work::Graphs)
        .infer(control_flow::openvino::branch)
        .build(control_flow::openvino::PortedIf::build)
        .converts("If", "", control_flow::to_onnx::branch)
        .role(Role::If),
    openvino("Inverse", Order)
        .works(Work::Elimination { parts: 1 })
        .infer(matmul::elimination::square)
        .computes(matmul::elimination::inverse)
        .lower(eliminated::inverse)
        .becomes(eliminated::WRITTEN, "rounding", |l| eliminated::rounded(l, eliminated::inverse)),
    openvino("IRDFT", Order).works(Work::Fourier).infer(indexing::openvino::transformed).becomes(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("IsFinite", Exact)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::openvino::is_finite)
        .becomes("IsNaN, IsInf, Or, Not", "", elementwise::to_onnx::is_finite),
    openvino("IsInf", Exact)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_inf)
        .becomes("IsInf", "", elementwise::to_onnx::is_inf),
    openvino("IsNaN", Exact)
        .elementwise()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_na_n)
        .becomes("IsNaN", "", |l| l.unary("IsNaN")),
    openvino("Less", Exact)
        .infer(elementwise::openvino::compare)
        .operation(Operation::Less)
        .build(elementwise::openvino::both)
        .becomes("Less", "", |l| elementwise::to_onnx::binary(l, "Less")),
    openvino("LessEqual", Exact)
        .meaning("LessOrEqual")
        .infer(elementwise::openvino::compare)
        .operation(Operation::LessOrEqual)
        .build(elementwise::openvino::both)
        .becomes("LessOrEqual", "", |l| elementwise::to_onnx::binary(l, "LessOrEqual")),
    openvino("Log", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Log)
        .build(elementwise::openvino::floats)
        .becomes("Log", "rounding", |l| l.function("Log")),
    openvino("LogicalAnd", Exact)
        .same_as("And")
        .meaning("And")
        .infer(elementwise::openvino::compare)
        .operation(Operation::And)
        .build(elementwise::openvino::both)
        .becomes("And", "", |l| elementwise::to_onnx::binary(l, "And")),
    openvino("LogicalNot", Exact)
        .same_as("Not")
        .meaning("Not")
        .infer(elementwise::infer::not)
        .map(elementwise::unary::logical_not)
        .build(elementwise::unary::build)
        .becomes("Not", "", |l| l.unary("Not")),
    openvino("LogicalOr", Exact)
        .same_as("Or")
        .meaning("Or")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Or)
        .build(elementwise::openvino::both)
        .becomes("Or", "", |l| elementwise::to_onnx::binary(l, "Or")),
    openvino("LogicalXor", Exact)
        .same_as("Xor")
        .meaning("Xor")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .becomes("Xor", "", |l| elementwise::to_onnx::binary(l, "Xor")),
    openvino("Loop", Moved)
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, true)
        }),
    openvino("MatMul", Order)
        .works(Work::MatMul)
        .infer(matmul::openvino::mat_mul)
        .eval(matmul::openvino::run_mat_mul)
        .becomes("MatMul, Transpose", "floats: rounding", matmul::to_onnx::mat_mul),
    openvino("Maximum", Chosen)
        .meaning("Max")
        .infer(elementwise::infer::binary)
        .operation(Operation::Max)
        .build(elementwise::openvino::both)
        .becomes("Max", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Max")),
    openvino("Minimum", Chosen)
        .meaning("Min")
        .infer(elementwise::infer::binary)
        .operation(Operation::Min)
        .build(elementwise::openvino::both)
        .becomes("Min", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Min")),
    openvino("Mish", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Mish", "rounding", |l| l.function("Mish")),
    openvino("Mod", Open)
        .meaning("Fmod")
        .infer(elementwise::infer::binary)
        .operation(Operation::Fmod)
        .build(elementwise::openvino::both)
        .becomes("Mod; of integers: Div, Mul, Sub", "floats: rounding", elementwise::to_onnx::mod_row),
    openvino("Multinomial", Open)
        .infer(reduction::openvino::multinomial)
        .lowers(random::multinomial)
        .random(),
    openvino("Multiply", Ieee)
        .same_as("Mul")
        .meaning("Mul")
        .infer(elementwise::infer::binary)
        .operation(Operation::Mul)
        .build(elementwise::openvino::both)
        .becomes("Mul", "", |l| elementwise::to_onnx::binary(l, "Mul")),
    openvino("Negative", Exact)
        .same_as("Neg")
        .meaning("Neg")
        .infer(elementwise::infer::neg)
        .map(elementwise::unary::neg)
        .build(elementwise::unary::build)
        .becomes("Neg", "", |l| l.unary("Neg")),
    openvino("NonZero", Exact)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::non_zero)
        .eval(reduction::openvino::run_non_zero)
        .becomes(
            "NonZero, Cast",
            "of a scalar; as int32: indices of 2^31 or more",
            layout::to_onnx::non_zero,
        ),
    openvino("NotEqual", Exact)
        .infer(elementwise::openvino::compare)
        .operation(Operation::NotEqual)
        .build(elementwise::openvino::both)
        .becomes("Equal, Not", "", elementwise::to_onnx::not_equal),
    openvino("OneHot", Moved)
        .infer(indexing::openvino::one_hot)
        .eval(indexing::openvino::run_one_hot)
        .becomes("OneHot, Where", "", layout::to_onnx::one_hot),
    openvino("PReLU", Ieee)
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .becomes("PRelu", "", elementwise::to_onnx::p_relu),
    openvino("Pad", Moved)
        .infer(layout::openvino::pad)
        .eval(layout::openvino::run_pad)
        .becomes("Pad, Concat; symmetric: Range, Mod, Gather", "", layout::to_onnx::pad)
        .role(Role::Pad),
    openvino("Power", Formula)
        .same_as("Pow")
        .meaning("Pow")
        .infer(elementwise::infer::binary)
        .operation(Operation::Pow)
        .build(elementwise::openvino::both)
        .becomes("Pow", "floats: rounding; integers: negative exponents", elementwise::to_onnx::power),
    openvino("RDFT", Order).works(Work::Fourier).infer(indexing::openvino::transformed).becomes(
        "DFT, Shape, Gather, Equal, Where",
        "rounding",
        generate::to_onnx::dft,
    ),
    openvino("RandomUniform", Open)
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(indexing::openvino::random_uniform)
        .lowers(random::uniform)
        .random(),
    openvino("Range", Open)
        .works(Work::EachOutput(Each::arithmetic(2)))
        .signatures_are(&[range::eval::RANGE_1, range::eval::RANGE_4])
        .infer(range::infer::rule)
        .build(range::eval::RangeOp::build)
        .becomes(
            "Range, Cast",
            "floats: rounding, and with it perhaps the number of elements; uint64: 2^63 or more",
            layout::to_onnx::range,
        ),
    openvino("ReLU", Chosen)
        .same_as("Relu")
        .elementwise()
        .meaning("Relu")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::relu)
        .eval(elementwise::unary::relu)
        .becomes("Relu", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Relu")),
    openvino("ReduceL1", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceL1", "floats: rounding; computed axes named twice", |l| {
            reduction::to_onnx::sums(l, "ReduceL1")
        }),
    openvino("ReduceL2", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceL2", "rounding; computed axes named twice", reduction::to_onnx::reduce_l2),
    openvino("ReduceLogicalAnd", Exact)
        .works(Work::EachInput(Each::arithmetic(1)))
        .meaning("ReduceMin")
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceMin, Cast", "no elements; computed axes named twice", |l| {
            reduction::to_onnx::of_truth(l, "ReduceMin")
        }),
    openvino("ReduceLogicalOr", Exact)
        .works(Work::EachInput(Each::arithmetic(1)))
        .meaning("ReduceMax")
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceMax, Cast", "no elements; computed axes named twice", |l| {
            reduction::to_onnx::of_truth(l, "ReduceMax")
        }),
    openvino("ReduceMax", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceMax", "floats: NaN; no elements; computed axes named twice", |l| {
            reduction::to_onnx::min_max(l, "ReduceMax")
        }),
    openvino("ReduceMean", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceMean", "rounding; computed axes named twice", reduction::to_onnx::reduce_mean),
    openvino("ReduceMin", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceMin", "floats: NaN; no elements; computed axes named twice", |l| {
            reduction::to_onnx::min_max(l, "ReduceMin")
        }),
    openvino("ReduceProd", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceProd", "floats: rounding; computed axes named twice", |l| {
            reduction::to_onnx::sums(l, "ReduceProd")
        }),
    openvino("ReduceSum", Order)
        .works(Work::EachInput(Each::arithmetic(1)))
        .infer(reduction::infer::reduce)
        .eval(reduction::openvino::run_reduce)
        .becomes("ReduceSum", "floats: rounding; computed axes named twice", |l| {
            reduction::to_onnx::sums(l, "ReduceSum")
        }),
    openvino("Reshape", Moved)
        .infer(layout::openvino::reshape)
        .eval(layout::openvino::run_reshape)
        .becomes("Reshape", "", layout::to_onnx::reshape)
        .role(Role::Reshape),
    openvino("Reverse", Moved)
        .works(Work::None)
        .infer(elementwise::infer::same)
        .eval(indexing::openvino::run_reverse)
        .becomes("Slice", "", indexing::to_onnx::reverse),
    openvino("ReverseSequence", Moved).infer(elementwise::infer::same).becomes(
        "ReverseSequence, Transpose",
        "",
        layout::to_onnx::reverse_sequence,
    ),
    openvino("Roll", Moved).infer(indexing::openvino::roll).eval(indexing::openvino::run_roll).becomes(
        "Range, Mod, Gather",
        "",
        indexing::to_onnx::roll,
    ),
    openvino("Round", Exact)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .build(elementwise::openvino::round)
        .becomes("Round; away from zero: Abs, Floor, Where", "", elementwise::to_onnx::round),
    openvino("STFT", Order)
        .works(Work::FourierOfFrames)
        .infer(indexing::openvino::windows_transformed)
        .becomes("STFT", "rounding", generate::to_onnx::stft),
    openvino("ScatterElementsUpdate", Moved)
        .works(Work::None)
        .infer(indexing::openvino::scatter_elements_update)
        .build(indexing::openvino::scatter_elements)
        .lower(rows::scatter_elements)
        .becomes(
            "ScatterElements; of means and without initial values: Expand, Max, Div",
            "indices that occur twice",
            indexing::to_onnx::scatter_elements_update,
        ),
    openvino("ScatterNDUpdate", Moved)
        .works(Work::None)
        .infer(indexing::openvino::scatter_nd_update)
        .eval(indexing::openvino::run_scatter_nd)
        .becomes("ScatterND", "indices that occur twice", indexing::to_onnx::scatter_nd_update),
    openvino("ScatterUpdate", Moved)
        .works(Work::None)
        .infer(indexing::openvino::scatter_update)
        .eval(indexing::openvino::run_scatter_update)
        .becomes("ScatterElements, Expand", "indices that occur twice", indexing::to_onnx::scatter_update),
    openvino("SearchSorted", Chosen)
        .works(Work::Search { table: 0, values: 1 })
        .infer(reduction::openvino::search_sorted)
        .becomes("Less, LessOrEqual, ReduceSum", "floats: NaN", reduction::to_onnx::search_sorted),
    openvino("SegmentMax", Chosen).infer(indexing::openvino::segments).becomes(
        "ScatterND, Where, Slice",
        "floats: NaN",
        indexing::segments_to_onnx::segment_max,
    ),
    openvino("Select", Moved)
        .same_as("Where")
        .elementwise()
        .infer(elementwise::openvino::select)
        .eval(elementwise::select::select)
        .becomes("Where", "", elementwise::to_onnx::select),
    openvino("Selu", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Selu", "rounding", |l| elementwise::to_onnx::with_numbers(l, "Selu", ["alpha", "gamma"])),
    openvino("ShapeOf", Moved)
        .signatures_are(&[shape::eval::SHAPE_OF_1, shape::eval::SHAPE_OF_3])
        .infer(shape::infer::shape_rule)
        .build(shape::eval::ShapeOp::typed)
        .becomes("Shape, Cast", "as int32: sizes of 2^31 or more", layout::to_onnx::shape_of)
        .role(Role::Shape)
        .shape_only(),
    openvino("ShuffleChannels", Moved).infer(elementwise::infer::same).becomes(
        "Reshape, Transpose",
        "",
        layout::to_onnx::shuffle_channels,
    ),
    openvino("Sigmoid", Formula)
        .same_as("Sigmoid")
        .infer(elementwise::infer::same)
        .real(Function::Sigmoid)
        .build(elementwise::openvino::floats)
        .becomes("Sigmoid", "rounding", |l| l.function("Sigmoid")),
    openvino("Sign", Exact)
        .same_as("Sign")
        .infer(elementwise::infer::sign)
        .map(elementwise::unary::sign)
        .build(elementwise::unary::build)
        .becomes("Sign", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Sign")),
    openvino("Sin", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Sin)
        .build(elementwise::openvino::floats)
        .becomes("Sin", "rounding", |l| l.function("Sin")),
    openvino("Sinh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Sinh)
        .build(elementwise::openvino::floats)
        .becomes("Sinh", "rounding", |l| l.function("Sinh")),
    openvino("Slice", Moved)
        .infer(indexing::infer::slice)
        .eval(indexing::eval::slice)
        .becomes("Slice", "", indexing::to_onnx::slice)
        .role(Role::Slice),
    openvino("SliceScatter", Moved)
        .works(Work::None)
        .infer(elementwise::infer::same)
        .lowers(images::slice_scatter),
    openvino("SoftPlus", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Softplus", "rounding", |l| l.function("Softplus")),
    openvino("SoftSign", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::arithmetic(1)))
        .infer(elementwise::infer::same)
        .becomes("Softsign", "rounding", |l| l.function("Softsign")),
    openvino("SpaceToBatch", Moved).infer(indexing::openvino::batches).becomes(
        "Reshape, Transpose, Pad",
        "",
        indexing::to_onnx::batches,
    ),
    openvino("SparseFillEmptyRows", Moved).works(Work::None).lowers(rows::fill_empty_rows),
    openvino("Split", Moved)
        .infer(indexing::openvino::split)
        .eval(indexing::openvino::run_split)
        .becomes("Split", "", indexing::to_onnx::split)
        .role(Role::Split),
    openvino("Sqrt", Ieee)
        .infer(elementwise::infer::same)
        .real(Function::Sqrt)
        .build(elementwise::openvino::floats)
        .becomes("Sqrt", "", |l| l.unary("Sqrt")),
    openvino("SquaredDifference", Formula)
        .infer(elementwise::openvino::bitwise_and)
        .operation(Operation::SquaredDifference)
        .build(elementwise::openvino::both)
        .becomes("Sub, Mul", "floats: rounding", elementwise::to_onnx::squared_difference),
    openvino("Squeeze", Moved)
        .infer(layout::openvino::squeeze)
        .eval(layout::openvino::run_squeeze)
        .becomes(
            "Squeeze",
            "named axes of other than one element, if that is not known",
            layout::to_onnx::squeeze,
        )
        .role(Role::View),
    openvino("StridedSlice", Moved)
        .infer(indexing::openvino::strided_slice)
        .eval(indexing::openvino::run_strided_slice)
        .becomes("Slice, Gather, Unsqueeze", "", indexing::to_onnx::strided_slice)
        .role(Role::Slice),
    openvino("StringTensorPack", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::text::packed)
        .computes(elementwise::text::pack)
        .lacks("operator that makes strings of bytes"),
    openvino("StringTensorUnpack", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::text::unpacked)
        .computes(elementwise::text::unpack)
        .lacks("operator that reads the bytes of strings"),
    openvino("Subtract", Ieee)
        .same_as("Sub")
        .meaning("Sub")
        .infer(elementwise::infer::binary)
        .operation(Operation::Sub)
        .build(elementwise::openvino::both)
        .becomes("Sub", "", |l| elementwise::to_onnx::binary(l, "Sub")),
    openvino("Swish", Formula)
        .elementwise()
        .works(Work::EachOutput(Each::TRANSCENDENTAL))
        .infer(elementwise::infer::same)
        .becomes("Sigmoid, Mul", "rounding", elementwise::to_onnx::swish),
    openvino("Tan", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Tan)
        .build(elementwise::openvino::floats)
        .becomes("Tan", "rounding", |l| l.function("Tan")),
    openvino("Tanh", Formula)
        .infer(elementwise::infer::same)
        .real(Function::Tanh)
        .build(elementwise::openvino::floats)
        .becomes("Tanh", "rounding", |l| l.function("Tanh")),
    openvino("TensorIterator", Moved)
        .works(Work::Graphs)
        .infer(control_flow::openvino::repeat)
        .build(control_flow::openvino::Repeat::build)
        .converts("Loop, Slice, Gather, Transpose, Reshape", "parts of a loop that does not run", |cx| {
            control_flow::to_onnx::repeat(cx, false)
        }),
    openvino("Tile", Moved)
        .infer(layout::openvino::tile)
        .eval(layout::openvino::run_tile)
        .becomes("Tile, Concat, Unsqueeze", "", layout::to_onnx::tile)
        .role(Role::Tile),
    openvino("TopK", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::top_k)
        .eval(reduction::openvino::run_top_k)
        .becomes(
            "TopK, GatherElements, Cast",
            "floats: NaN; equal elements unless `stable`",
            reduction::to_onnx::top_k,
        ),
    openvino("Transpose", Moved)
        .infer(layout::openvino::transpose)
        .eval(layout::openvino::run_transpose)
        .becomes("Transpose", "", layout::to_onnx::transpose)
        .role(Role::Transpose),
    openvino("Unique", Chosen)
        .works(Work::EachInput(Each::COMPARISON))
        .infer(reduction::openvino::unique)
        .eval(reduction::openvino::run_unique)
        .becomes("Unique", "floats: NaN", reduction::to_onnx::unique),
    openvino("Unsqueeze", Moved)
        .infer(layout::openvino::unsqueeze)
        .eval(layout::openvino::run_unsqueeze)
        .becomes("Unsqueeze", "", layout::to_onnx::unsqueeze)
        .role(Role::View),
    openvino("VariadicSplit", Moved)
        .infer(indexing::openvino::variadic_split)
        .eval(indexing::openvino::run_variadic_split)
        .becomes("Split; with an open length: Shape, Sub, Where", "", indexing::to_onnx::variadic_split)
        .role(Role::Split),
    openvino("Xor", Exact)
        .meaning("Xor")
        .infer(elementwise::openvino::compare)
        .operation(Operation::Xor)
        .build(elementwise::openvino::both)
        .becomes("Xor", "", |l| elementwise::to_onnx::binary(l, "Xor")),
];
