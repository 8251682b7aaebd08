//! The operators of ONNX's own domain that compute each element from those at its place.

use gradus_kernels::Function;

use crate::allowed::{Allowed, Carries};
use crate::elementwise;
use crate::lowering::terms::{f, of};
use crate::operation::Operation;
use crate::rounding::Rounding::{Chosen, Exact, Formula, Ieee, Moved, Open, Order};
use crate::row::{Checked, Role, Row, ZeroSigns, onnx};
use crate::words;
use crate::work::{Each, OF_TEXTS, Work};

pub(super) const ELEMENTS: &[Row] = rows![
    onnx("Abs", Exact)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .idempotent()
        .infer(elementwise::infer::abs)
        .maps(elementwise::unary::abs)
        .converts_unary("Abs"),
    onnx("Acos", Formula).maps_real(Function::Acos).converts_function("Acos"),
    onnx("Acosh", Formula).maps_real(Function::Acosh).converts_function("Acosh"),
    onnx("Add", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .combines(Operation::Add)
        .converts_binary("Add"),
    onnx("And", Exact)
        .infer(elementwise::infer::binary)
        .combines(Operation::And)
        .converts_binary("LogicalAnd"),
    onnx("Asin", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Asin).converts_function("Asin"),
    onnx("Asinh", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Asinh).converts_function("Asinh"),
    onnx("Atan", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Atan).converts_function("Atan"),
    onnx("Atanh", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Atanh).converts_function("Atanh"),
    onnx("BitCast", Moved)
        .works(Work::None)
        .infer(elementwise::infer::bit_cast)
        .computes(elementwise::mixed::bit_cast),
    onnx("BitShift", Open)
        .words(&[words::SHIFT])
        .each_output(Each::arithmetic(1))
        .infer(elementwise::infer::broadcast)
        .build(elementwise::binary::bit_shift)
        .converts(
            "BitwiseLeftShift, BitwiseRightShift",
            "counts of the width or more",
            elementwise::to_openvino::bit_shift,
        ),
    onnx("BitwiseAnd", Exact)
        .before(18, |l| elementwise::lowered::bitwise(l, |a, b| of("Min", a, b)))
        .infer(elementwise::infer::broadcast)
        .combines(Operation::And)
        .converts_binary("BitwiseAnd"),
    onnx("BitwiseNot", Exact)
        .before(18, elementwise::lowered::bitwise_not)
        .infer(elementwise::infer::same)
        .maps(elementwise::unary::bitwise_not)
        .converts_unary("BitwiseNot"),
    onnx("BitwiseOr", Exact)
        .before(18, |l| elementwise::lowered::bitwise(l, |a, b| of("Max", a, b)))
        .infer(elementwise::infer::broadcast)
        .combines(Operation::Or)
        .converts_binary("BitwiseOr"),
    onnx("BitwiseXor", Exact)
        .before(18, |l| elementwise::lowered::bitwise(l, |a, b| f("Abs", a - b)))
        .infer(elementwise::infer::broadcast)
        .combines(Operation::Xor)
        .converts_binary("BitwiseXor"),
    onnx("Cast", Ieee)
        .words(&[words::ROUND_MODE])
        .infer(elementwise::infer::cast_rule)
        .build(elementwise::cast::CastOp::build)
        .converts(
            "Convert",
            "from floats to integers: numbers that do not fit",
            elementwise::to_openvino::cast_row,
        )
        .role(Role::Cast),
    onnx("CastLike", Ieee)
        .words(&[words::ROUND_MODE])
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
        .maps(elementwise::unary::ceil)
        .converts_unary("Ceiling"),
    onnx("Celu", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Celu, Each::TRANSCENDENTAL)
        .lower(elementwise::lowered::celu),
    onnx("Clip", Chosen)
        .carries(Carries::Ends)
        .scalars(&[1, 2])
        .zeros(ZeroSigns::OfFirst)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::clip)
        .eval(elementwise::unary::clip)
        .converts("Maximum, Minimum", "floats: NaN", elementwise::to_openvino::clip),
    onnx("Cos", Formula).zeros(ZeroSigns::Unseen).maps_real(Function::Cos).converts_function("Cos"),
    onnx("Cosh", Formula)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .maps_real(Function::Cosh)
        .converts_function("Cosh"),
    onnx("Div", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::binary)
        .combines(Operation::Div)
        .converts("Divide", "", elementwise::to_openvino::div),
    onnx("Elu", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Elu, Each::TRANSCENDENTAL)
        .converts("Elu", "rounding", elementwise::to_openvino::elu),
    onnx("Equal", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .combines(Operation::Equal)
        .converts_binary("Equal"),
    onnx("Erf", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Erf).converts_function("Erf"),
    onnx("Exp", Formula)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .maps_real(Function::Exp)
        .converts_function("Exp"),
    onnx("Floor", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::rounding)
        .maps(elementwise::unary::floor)
        .converts_unary("Floor"),
    onnx("Gelu", Formula)
        .carries(Carries::As(Function::Gelu))
        .allows(Allowed::OF_ELEMENT)
        .words(&[words::GELU])
        .composed_before(20, elementwise::lowered::gelu)
        .zeros(ZeroSigns::OfFirst)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .computes(elementwise::activations::eval_gelu)
        .converts("Gelu", "rounding", elementwise::to_openvino::gelu),
    onnx("Greater", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .combines(Operation::Greater)
        .converts_binary("Greater"),
    onnx("GreaterOrEqual", Exact)
        .before(12, |l| elementwise::lowered::ordered(l, ["Greater", "Less"]))
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .combines(Operation::GreaterOrEqual)
        .converts_binary("GreaterEqual"),
    onnx("HardSigmoid", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::HardSigmoid, Each::COMPARISON)
        .converts("HardSigmoid", "rounding", elementwise::to_openvino::hard_sigmoid),
    onnx("HardSwish", Formula)
        .allows(Allowed::OF_ELEMENT)
        .composed_before(14, elementwise::lowered::hard_swish)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::HardSwish, Each::COMPARISON)
        .converts_function("HSwish"),
    onnx("IsInf", Exact)
        .carries(Carries::Ends)
        .zeros(ZeroSigns::Unseen)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::same)
        .eval(elementwise::unary::is_inf)
        .converts("IsInf", "", elementwise::to_openvino::is_inf),
    onnx("IsNaN", Exact)
        .carries(Carries::Ends)
        .zeros(ZeroSigns::Unseen)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::same)
        .eval(elementwise::unary::is_na_n)
        .converts_unary("IsNaN"),
    onnx("LeakyRelu", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::LeakyRelu, Each::COMPARISON)
        .converts("PReLU", "of fewer than 32 bits: rounding", elementwise::to_openvino::leaky_relu),
    onnx("Less", Exact)
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .combines(Operation::Less)
        .converts_binary("Less"),
    onnx("LessOrEqual", Exact)
        .before(12, |l| elementwise::lowered::ordered(l, ["Less", "Greater"]))
        .zeros(ZeroSigns::Unseen)
        .infer(elementwise::infer::binary)
        .combines(Operation::LessOrEqual)
        .converts_binary("LessEqual"),
    onnx("Log", Formula).zeros(ZeroSigns::Unseen).maps_real(Function::Log).converts_function("Log"),
    onnx("Max", Chosen)
        .before(12, elementwise::lowered::max)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Max)
        .build(elementwise::binary::fold)
        .converts("Maximum", "floats: NaN", elementwise::to_openvino::max),
    onnx("Mean", Order)
        .checked(Checked::Mean)
        .zeros(ZeroSigns::OfAll)
        .each_output(Each::arithmetic(1))
        .infer(elementwise::infer::broadcast)
        .computes(elementwise::mixed::mean)
        .lower(elementwise::lowered::mean),
    onnx("Min", Chosen)
        .before(12, elementwise::lowered::min)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .operation(Operation::Min)
        .build(elementwise::binary::fold)
        .converts("Minimum", "floats: NaN", elementwise::to_openvino::min),
    onnx("Mish", Formula)
        .allows(Allowed::OF_ELEMENT)
        .composed_before(18, elementwise::lowered::mish)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Mish, Each::TRANSCENDENTAL)
        .converts_function("Mish"),
    onnx("Mod", Open)
        .checked(Checked::Remainder)
        .before(i64::MAX, elementwise::lowered::floor_mod)
        .infer(elementwise::infer::modulo)
        .operation(Operation::Mod)
        .build(elementwise::binary::mod_build)
        .converts("FloorMod, Mod", "floats: rounding", elementwise::to_openvino::modulo),
    onnx("Mul", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .combines(Operation::Mul)
        .converts_binary("Multiply"),
    onnx("Neg", Exact)
        .zeros(ZeroSigns::OfFirst)
        .infer(elementwise::infer::neg)
        .maps(elementwise::unary::neg)
        .converts_unary("Negative"),
    onnx("Not", Exact)
        .infer(elementwise::infer::not)
        .maps(elementwise::unary::logical_not)
        .converts_unary("LogicalNot"),
    onnx("Or", Exact).infer(elementwise::infer::binary).combines(Operation::Or).converts_binary("LogicalOr"),
    onnx("Pow", Formula)
        .checked(Checked::Power)
        .before(12, elementwise::lowered::pow)
        .infer(elementwise::infer::binary)
        .combines(Operation::Pow)
        .converts(
            "Power, Convert",
            "floats: rounding, and exponents beyond 2^53; integers: negative exponents",
            elementwise::to_openvino::power,
        ),
    onnx("Reciprocal", Ieee)
        .carries(Carries::Quotient(0))
        .infer(elementwise::infer::same)
        .maps(elementwise::unary::reciprocal)
        .converts("Divide", "", elementwise::to_openvino::reciprocal),
    onnx("Relu", Chosen)
        .carries(Carries::As(Function::Relu))
        .zeros(ZeroSigns::OfFirst)
        .elementwise()
        .idempotent()
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::relu)
        .eval(elementwise::unary::relu)
        .converts("ReLU", "floats: NaN", elementwise::to_openvino::relu),
    onnx("Round", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::same)
        .maps(elementwise::unary::round)
        .converts("Round", "", elementwise::to_openvino::round),
    onnx("Selu", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Selu, Each::TRANSCENDENTAL)
        .converts("Selu", "rounding", elementwise::to_openvino::selu),
    onnx("Shrink", Ieee)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Shrink, Each::COMPARISON)
        .lower(elementwise::lowered::shrink),
    onnx("Sigmoid", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::Unseen)
        .unsigned()
        .maps_real(Function::Sigmoid)
        .converts_function("Sigmoid"),
    onnx("Sign", Exact)
        .zeros(ZeroSigns::OfFirst)
        .idempotent()
        .infer(elementwise::infer::sign)
        .maps(elementwise::unary::sign)
        .converts("Sign", "floats: NaN", elementwise::to_openvino::sign),
    onnx("Sin", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Sin).converts_function("Sin"),
    onnx("Sinh", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Sinh).converts_function("Sinh"),
    onnx("Softplus", Formula)
        .allows(Allowed::OF_ONE)
        .zeros(ZeroSigns::Unseen)
        .maps_real(Function::Softplus)
        .converts_function("SoftPlus"),
    onnx("Softsign", Formula)
        .allows(Allowed::FUNCTION)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Softsign, Each::arithmetic(1))
        .converts_function("SoftSign"),
    onnx("Sqrt", Ieee).zeros(ZeroSigns::OfFirst).maps_real(Function::Sqrt).converts_unary("Sqrt"),
    onnx("StringConcat", Moved)
        .works(Work::Open(OF_TEXTS))
        .infer(elementwise::infer::broadcast)
        .computes(elementwise::mixed::string_concat)
        .lacks("operator that joins strings"),
    onnx("Sub", Ieee)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::binary)
        .combines(Operation::Sub)
        .converts_binary("Subtract"),
    onnx("Sum", Order)
        .checked(Checked::Sum)
        .zeros(ZeroSigns::OfAll)
        .infer(elementwise::infer::broadcast)
        .operation(Operation::Add)
        .build(elementwise::binary::fold)
        .converts("Add", "floats, three or more: rounding", elementwise::to_openvino::sum)
        .role(Role::Join),
    onnx("Swish", Formula)
        .allows(Allowed::OF_ELEMENT)
        .composed_before(24, elementwise::lowered::swish)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::Swish, Each::TRANSCENDENTAL)
        .converts("Swish", "rounding", elementwise::to_openvino::swish),
    onnx("Tan", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Tan).converts_function("Tan"),
    onnx("Tanh", Formula).zeros(ZeroSigns::OfFirst).maps_real(Function::Tanh).converts_function("Tanh"),
    onnx("ThresholdedRelu", Exact)
        .zeros(ZeroSigns::OfFirst)
        .activates(Function::ThresholdedRelu, Each::COMPARISON)
        .lower(elementwise::lowered::thresholded_relu),
    onnx("Where", Moved)
        .sizes(&[1, 2])
        .zeros(ZeroSigns::OfAll)
        .elementwise()
        .infer(elementwise::infer::select)
        .eval(elementwise::select::select)
        .converts("Select", "", elementwise::to_openvino::where_row),
    onnx("Xor", Exact)
        .infer(elementwise::infer::binary)
        .combines(Operation::Xor)
        .converts_binary("LogicalXor"),
];
