//! The operators of Paddle.

use super::super::control_flow;
use super::super::row::{Row, paddle};
use crate::dialects::paddle::{
    convert, create, layout, lowering, many, math, maybe, one, sequences, signature,
};

/// Rows of operators that are lowered: a name, its inputs, and the function that writes the graph.
macro_rules! lowered {
    ($($name:literal [$($input:expr),*] $lower:expr;)*) => {
        pub(super) const LOWERED: &[Row] = &[$(
            paddle(const { &[signature($name, const { &[$($input),*] })] })
                .infer(lowering::infer)
                .build(lowering::build)
                .lower($lower)
        ),*];
    };
}

lowered! {
    "abs" [one("x")] |l| math::unary(l, "Abs");
    "add" [one("x"), one("y")] |l| math::binary(l, "Add");
    "assign" [one("x")] create::same;
    "assign_out_" [one("x"), maybe("output")] create::same;
    "assign_value" [] create::assign_value;
    "assign_value_" [one("output")] create::assign_value;
    "bitwise_and" [one("x"), one("y")] |l| math::binary(l, "BitwiseAnd");
    "bitwise_or" [one("x"), one("y")] |l| math::binary(l, "BitwiseOr");
    "bitwise_xor" [one("x"), one("y")] |l| math::binary(l, "BitwiseXor");
    "cast" [one("x")] create::cast;
    "ceil" [one("x")] |l| math::unary(l, "Ceil");
    "concat" [many("x")] layout::concat;
    "cos" [one("x")] |l| math::unary(l, "Cos");
    "divide" [one("x"), one("y")] |l| math::binary(l, "Div");
    "elementwise_pow" [one("x"), one("y")] |l| math::binary(l, "Pow");
    "equal" [one("x"), one("y")] |l| math::binary(l, "Equal");
    "erf" [one("x")] |l| math::unary(l, "Erf");
    "exp" [one("x")] |l| math::unary(l, "Exp");
    "expand" [one("x"), maybe("shape")] layout::expand;
    "expand_as" [one("x"), maybe("y")] layout::expand_as;
    "fetch" [one("x")] create::same;
    "flatten" [one("x")] layout::flatten;
    "floor" [one("x")] |l| math::unary(l, "Floor");
    "floor_divide" [one("x"), one("y")] math::floor_divide;
    "full" [] create::full;
    "full_int_array" [] create::full_int_array;
    "full_like" [one("x"), maybe("value")] create::full_like;
    "full_with_tensor" [one("value"), one("shape")] create::full_with_tensor;
    "gather" [one("x"), one("index"), maybe("axis")] layout::gather;
    "gather_nd" [one("x"), one("index")] layout::gather_nd;
    "greater_equal" [one("x"), one("y")] |l| math::binary(l, "GreaterOrEqual");
    "greater_than" [one("x"), one("y")] |l| math::binary(l, "Greater");
    "increment" [one("x")] math::increment;
    "increment_" [one("x")] math::increment;
    "index_select" [one("x"), one("index")] layout::gather;
    "less_equal" [one("x"), one("y")] |l| math::binary(l, "LessOrEqual");
    "less_than" [one("x"), one("y")] |l| math::binary(l, "Less");
    "log" [one("x")] |l| math::unary(l, "Log");
    "logical_and" [one("x"), one("y")] |l| math::logical(l, "And");
    "logical_not" [one("x")] |l| math::logical(l, "Not");
    "logical_or" [one("x"), one("y")] |l| math::logical(l, "Or");
    "logical_xor" [one("x"), one("y")] |l| math::logical(l, "Xor");
    "matmul" [one("x"), one("y")] math::matmul;
    "max" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceMax");
    "maximum" [one("x"), one("y")] |l| math::binary(l, "Max");
    "mean" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceMean");
    "memcpy_d2h" [one("x")] create::same;
    "memcpy_h2d" [one("x")] create::same;
    "min" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceMin");
    "minimum" [one("x"), one("y")] |l| math::binary(l, "Min");
    "multiply" [one("x"), one("y")] |l| math::binary(l, "Mul");
    "not_equal" [one("x"), one("y")] math::not_equal;
    "numel" [one("x")] create::numel;
    "print" [one("in")] create::same;
    "prod" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceProd");
    "relu" [one("x")] |l| math::unary(l, "Relu");
    "remainder" [one("x"), one("y")] |l| math::binary(l, "Mod");
    "reshape" [one("x"), maybe("shape")] |l| layout::with_list(l, "Reshape", "shape");
    "scale" [one("x"), maybe("scale")] math::scale;
    "shape" [one("input")] create::shape_lower;
    "shape64" [one("input")] create::shape64;
    "share_data_" [one("x")] create::same;
    "sigmoid" [one("x")] |l| math::unary(l, "Sigmoid");
    "sign" [one("x")] |l| math::unary(l, "Sign");
    "sin" [one("x")] |l| math::unary(l, "Sin");
    "slice" [one("input"), maybe("starts"), maybe("ends")] layout::slice;
    "softmax" [one("x")] math::softmax;
    "split" [one("x"), maybe("sections"), maybe("axis")] layout::split;
    "split_with_num" [one("x"), maybe("axis")] layout::split_with_num;
    "sqrt" [one("x")] |l| math::unary(l, "Sqrt");
    "squeeze" [one("x"), maybe("axis")] layout::squeeze;
    "stack" [many("x")] layout::stack;
    "strided_slice" [one("x"), maybe("starts"), maybe("ends"), maybe("strides")] layout::strided_slice;
    "subtract" [one("x"), one("y")] |l| math::binary(l, "Sub");
    "sum" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceSum");
    "tanh" [one("x")] |l| math::unary(l, "Tanh");
    "tile" [one("x"), maybe("repeat_times")] layout::tile;
    "transpose" [one("x")] layout::transpose;
    "unbind" [one("input")] layout::unbind;
    "unsqueeze" [one("x"), maybe("axis")] layout::unsqueeze;
    "where" [one("condition"), one("x"), one("y")] layout::where_lower;
}

pub(super) const PADDLE: &[Row] = &[
    paddle(sequences::ARANGE).infer(lowering::infer).build(sequences::arange).lower(create::arange),
    paddle(const { &[signature("if", const { &[one("cond")] })] })
        .infer(control_flow::infer::branch)
        .build(control_flow::eval::IfOp::build)
        .converts("If", "", convert::branch),
    paddle(sequences::LINSPACE).infer(sequences::rule).build(sequences::linspace).converts(
        "a constant; of computed ends: Range, Mul, Add, Where",
        "of computed ends: rounding",
        |cx| convert::space(cx, None),
    ),
    paddle(sequences::LOGSPACE).infer(sequences::rule).build(sequences::logspace).converts(
        "a constant; of computed ends: Range, Mul, Add, Where, Pow",
        "of computed ends: rounding",
        |cx| convert::space(cx, Some(3)),
    ),
    paddle(const { &[signature("while", const { &[maybe("most"), one("cond"), many("inputs")] })] })
        .infer(control_flow::infer::repeat)
        .build(control_flow::loops::Loop::build)
        .converts("Loop", "", convert::repeat),
];
