//! The operators of OpenVINO that compute each element from those at its place.

use gradus_kernels::Function;

use crate::allowed::{Allowed, Carries};
use crate::operation::Operation;
use crate::rounding::Rounding::{Chosen, Exact, Formula, Ieee, Moved, Open};
use crate::row::{Role, Row, openvino};
use crate::words;
use crate::work::{Each, OF_TEXTS, Work};
use crate::{dialects, elementwise};

pub(super) const OPENVINO_ELEMENTS: &[Row] = rows![
    openvino("Abs", Exact)
        .same_as("Abs")
        .infer(elementwise::infer::abs)
        .maps(elementwise::unary::abs)
        .becomes_unary("Abs"),
    openvino("Acos", Formula).maps_floats(Function::Acos).becomes_function("Acos"),
    openvino("Acosh", Formula).maps_floats(Function::Acosh).becomes_function("Acosh"),
    openvino("Add", Ieee)
        .same_as("Add")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Add)
        .becomes_binary("Add"),
    openvino("Asin", Formula).maps_floats(Function::Asin).becomes_function("Asin"),
    openvino("Asinh", Formula).maps_floats(Function::Asinh).becomes_function("Asinh"),
    openvino("Atan", Formula).maps_floats(Function::Atan).becomes_function("Atan"),
    openvino("Atanh", Formula).maps_floats(Function::Atanh).becomes_function("Atanh"),
    openvino("BitwiseAnd", Exact).infer(elementwise::infer::broadcast).combines_both(Operation::And).becomes(
        "BitwiseAnd, And",
        "",
        |l| elementwise::to_onnx::bitwise(l, "BitwiseAnd", "And")
    ),
    openvino("BitwiseLeftShift", Open)
        .infer(elementwise::infer::broadcast)
        .combines_both(Operation::Left)
        .becomes("BitShift", "counts of the width or more", |l| elementwise::to_onnx::shift(l, "LEFT")),
    openvino("BitwiseNot", Exact)
        .each_output(Each::arithmetic(1))
        .infer(elementwise::infer::same)
        .eval(elementwise::openvino::bitwise_not)
        .becomes("BitwiseNot, Not", "", elementwise::to_onnx::bitwise_not),
    openvino("BitwiseOr", Exact).infer(elementwise::infer::broadcast).combines_both(Operation::Or).becomes(
        "BitwiseOr, Or",
        "",
        |l| elementwise::to_onnx::bitwise(l, "BitwiseOr", "Or")
    ),
    openvino("BitwiseRightShift", Open)
        .infer(elementwise::infer::broadcast)
        .combines_both(Operation::Right)
        .becomes("BitShift", "counts of the width or more", |l| elementwise::to_onnx::shift(l, "RIGHT")),
    openvino("BitwiseXor", Exact).infer(elementwise::infer::broadcast).combines_both(Operation::Xor).becomes(
        "BitwiseXor, Xor",
        "",
        |l| elementwise::to_onnx::bitwise(l, "BitwiseXor", "Xor")
    ),
    openvino("Ceiling", Exact)
        .same_as("Ceil")
        .meaning("Ceil")
        .infer(elementwise::openvino::whole_or_rounded)
        .maps(elementwise::unary::ceil)
        .becomes("Ceil", "", |l| elementwise::to_onnx::of_floats(l, "Ceil")),
    openvino("Clamp", Chosen)
        .carries(Carries::Ends)
        .each_output(Each::COMPARISON)
        .infer(elementwise::openvino::clamp_rule)
        .eval(elementwise::openvino::clamp)
        .becomes("Clip", "floats: NaN", elementwise::to_onnx::clamp),
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
    openvino("Cos", Formula).maps_floats(Function::Cos).becomes_function("Cos"),
    openvino("Cosh", Formula).maps_floats(Function::Cosh).becomes_function("Cosh"),
    openvino("Divide", Ieee)
        .carries(Carries::Quotient(1))
        .words(&[words::BROADCAST])
        .same_as("Div")
        .each_output(Each::arithmetic(1))
        .meaning("FloorDiv")
        .infer(elementwise::openvino::divide_rule)
        .build(elementwise::openvino::divide)
        .becomes(
            "Div; of integers with the floor: and Mul, Sub, Less, Xor",
            "",
            elementwise::to_onnx::divide,
        ),
    openvino("Elu", Formula)
        .carries(Carries::As(Function::Elu))
        .allows(Allowed::OF_ONE)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes("Elu", "rounding", elementwise::to_onnx::elu),
    openvino("Equal", Exact)
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::Equal)
        .becomes_binary("Equal"),
    openvino("Erf", Formula)
        .carries(Carries::As(Function::Erf))
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes_function("Erf"),
    openvino("ErfInv", Formula)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .computes(|_, cx| elementwise::special::mapped(cx, elementwise::special::erf_inv))
        .lower(dialects::special::erf_inv),
    openvino("Exp", Formula).same_as("Exp").maps_floats(Function::Exp).becomes_function("Exp"),
    openvino("FakeConvert", Formula)
        .works(Work::EachInput(Each::arithmetic(2)))
        .infer(elementwise::infer::same)
        .becomes("Mul, Sub, Cast, Add, Div", "rounding", elementwise::to_onnx::fake_convert),
    openvino("Floor", Exact)
        .same_as("Floor")
        .infer(elementwise::openvino::whole_or_rounded)
        .maps(elementwise::unary::floor)
        .becomes("Floor", "", |l| elementwise::to_onnx::of_floats(l, "Floor")),
    openvino("FloorMod", Open)
        .meaning("Mod")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Mod)
        .becomes(
            "Mod; of floats: and Less, Xor, Add, Where",
            "floats: rounding",
            elementwise::to_onnx::floor_mod,
        ),
    openvino("Gelu", Formula)
        .carries(Carries::As(Function::Gelu))
        .allows(Allowed::OF_ELEMENT)
        .words(&[words::GELU_MODE])
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes("Gelu", "rounding", elementwise::to_onnx::gelu),
    openvino("Greater", Exact)
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::Greater)
        .becomes_binary("Greater"),
    openvino("GreaterEqual", Exact)
        .meaning("GreaterOrEqual")
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::GreaterOrEqual)
        .becomes_binary("GreaterOrEqual"),
    openvino("HSigmoid", Formula)
        .carries(Carries::Ends)
        .allows(Allowed::OF_ONE)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::same)
        .becomes("Add, Clip, Div", "rounding", elementwise::to_onnx::h_sigmoid),
    openvino("HSwish", Formula)
        .carries(Carries::As(Function::HardSwish))
        .allows(Allowed::OF_ELEMENT)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::same)
        .becomes_function("HardSwish"),
    openvino("HardSigmoid", Formula)
        .carries(Carries::As(Function::HardSigmoid))
        .allows(Allowed::OF_ONE)
        .each_output(Each::COMPARISON)
        .infer(elementwise::infer::same)
        .becomes("HardSigmoid", "rounding", |l| {
            elementwise::to_onnx::with_numbers(l, "HardSigmoid", ["alpha", "beta"])
        }),
    openvino("IsFinite", Exact)
        .carries(Carries::Ends)
        .each_output(Each::COMPARISON)
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::openvino::is_finite)
        .becomes("IsNaN, IsInf, Or, Not", "", elementwise::to_onnx::is_finite),
    openvino("IsInf", Exact)
        .carries(Carries::Ends)
        .each_output(Each::COMPARISON)
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_inf)
        .becomes("IsInf", "", elementwise::to_onnx::is_inf),
    openvino("IsNaN", Exact)
        .carries(Carries::Ends)
        .each_output(Each::COMPARISON)
        .infer(elementwise::openvino::is_finite_rule)
        .eval(elementwise::unary::is_na_n)
        .becomes_unary("IsNaN"),
    openvino("Less", Exact)
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::Less)
        .becomes_binary("Less"),
    openvino("LessEqual", Exact)
        .meaning("LessOrEqual")
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::LessOrEqual)
        .becomes_binary("LessOrEqual"),
    openvino("Log", Formula).maps_floats(Function::Log).becomes_function("Log"),
    openvino("LogicalAnd", Exact)
        .words(&[words::BROADCAST])
        .same_as("And")
        .meaning("And")
        .infer(elementwise::openvino::logical)
        .operation(Operation::And)
        .build(elementwise::openvino::logical_build)
        .becomes_binary("And"),
    openvino("LogicalNot", Exact)
        .same_as("Not")
        .meaning("Not")
        .infer(elementwise::infer::not)
        .maps(elementwise::unary::logical_not)
        .becomes_unary("Not"),
    openvino("LogicalOr", Exact)
        .words(&[words::BROADCAST])
        .same_as("Or")
        .meaning("Or")
        .infer(elementwise::openvino::logical)
        .operation(Operation::Or)
        .build(elementwise::openvino::logical_build)
        .becomes_binary("Or"),
    openvino("LogicalXor", Exact)
        .words(&[words::BROADCAST])
        .same_as("Xor")
        .meaning("Xor")
        .infer(elementwise::openvino::logical)
        .operation(Operation::Xor)
        .build(elementwise::openvino::logical_build)
        .becomes_binary("Xor"),
    openvino("Maximum", Chosen)
        .meaning("Max")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Max)
        .becomes("Max", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Max")),
    openvino("Minimum", Chosen)
        .meaning("Min")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Min)
        .becomes("Min", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Min")),
    openvino("Mish", Formula)
        .carries(Carries::As(Function::Mish))
        .allows(Allowed::OF_ELEMENT)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes_function("Mish"),
    openvino("Mod", Open)
        .meaning("Fmod")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Fmod)
        .becomes("Mod; of integers: Div, Mul, Sub", "floats: rounding", elementwise::to_onnx::mod_row),
    openvino("Multiply", Ieee)
        .same_as("Mul")
        .meaning("Mul")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Mul)
        .becomes_binary("Mul"),
    openvino("Negative", Exact)
        .same_as("Neg")
        .meaning("Neg")
        .infer(elementwise::infer::neg)
        .maps(elementwise::unary::neg)
        .becomes_unary("Neg"),
    openvino("NotEqual", Exact)
        .infer(elementwise::openvino::compare)
        .combines_both(Operation::NotEqual)
        .becomes("Equal, Not", "", elementwise::to_onnx::not_equal),
    openvino("PReLU", Ieee)
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::same)
        .becomes("PRelu", "", elementwise::to_onnx::p_relu),
    openvino("Power", Formula)
        .same_as("Pow")
        .meaning("Pow")
        .infer(elementwise::infer::binary)
        .combines_both(Operation::Pow)
        .becomes("Pow", "floats: rounding; integers: negative exponents", elementwise::to_onnx::power),
    openvino("ReLU", Chosen)
        .carries(Carries::As(Function::Relu))
        .same_as("Relu")
        .elementwise()
        .meaning("Relu")
        .works(Work::EachOutput(Each::COMPARISON))
        .infer(elementwise::infer::relu)
        .eval(elementwise::unary::relu)
        .becomes("Relu", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Relu")),
    openvino("Round", Exact)
        .carries(Carries::Ends)
        .words(&[words::HALF])
        .each_output(Each::arithmetic(1))
        .infer(elementwise::infer::same)
        .build(elementwise::openvino::round)
        .becomes("Round; away from zero: Abs, Floor, Where", "", elementwise::to_onnx::round),
    openvino("Select", Moved)
        .words(&[words::BROADCAST])
        .same_as("Where")
        .elementwise()
        .infer(elementwise::openvino::select)
        .eval(elementwise::select::select)
        .becomes("Where", "", elementwise::to_onnx::select),
    openvino("Selu", Formula)
        .carries(Carries::As(Function::Selu))
        .allows(Allowed::OF_ONE)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes("Selu", "rounding", |l| elementwise::to_onnx::with_numbers(l, "Selu", ["alpha", "gamma"])),
    openvino("Sigmoid", Formula)
        .allows(Allowed::OF_ONE)
        .same_as("Sigmoid")
        .maps_floats(Function::Sigmoid)
        .becomes_function("Sigmoid"),
    openvino("Sign", Exact)
        .same_as("Sign")
        .infer(elementwise::infer::sign)
        .maps(elementwise::unary::sign)
        .becomes("Sign", "floats: NaN", |l| elementwise::to_onnx::chosen(l, "Sign")),
    openvino("Sin", Formula).maps_floats(Function::Sin).becomes_function("Sin"),
    openvino("Sinh", Formula).maps_floats(Function::Sinh).becomes_function("Sinh"),
    openvino("SoftPlus", Formula)
        .carries(Carries::As(Function::Softplus))
        .allows(Allowed::OF_ONE)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes_function("Softplus"),
    openvino("SoftSign", Formula)
        .carries(Carries::As(Function::Softsign))
        .each_output(Each::arithmetic(1))
        .infer(elementwise::infer::same)
        .becomes_function("Softsign"),
    openvino("Sqrt", Ieee).maps_floats(Function::Sqrt).becomes_unary("Sqrt"),
    openvino("SquaredDifference", Formula)
        .infer(elementwise::infer::broadcast)
        .combines_both(Operation::SquaredDifference)
        .becomes("Sub, Mul", "floats: rounding", elementwise::to_onnx::squared_difference),
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
        .combines_both(Operation::Sub)
        .becomes_binary("Sub"),
    openvino("Swish", Formula)
        .carries(Carries::As(Function::Swish))
        .allows(Allowed::OF_ELEMENT)
        .each_output(Each::TRANSCENDENTAL)
        .infer(elementwise::infer::same)
        .becomes("Sigmoid, Mul", "rounding", elementwise::to_onnx::swish),
    openvino("Tan", Formula).maps_floats(Function::Tan).becomes_function("Tan"),
    openvino("Tanh", Formula).maps_floats(Function::Tanh).becomes_function("Tanh"),
    openvino("Xor", Exact)
        .words(&[words::BROADCAST])
        .meaning("Xor")
        .infer(elementwise::openvino::logical)
        .operation(Operation::Xor)
        .build(elementwise::openvino::logical_build)
        .becomes_binary("Xor"),
];
