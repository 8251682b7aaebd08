//! The operators of Paddle.

use super::super::control_flow;
use super::super::row::{Row, paddle};
use crate::dialects::paddle::{
    convert, create, layout, many, math, maybe, network, one, sequences, signature,
};
use crate::lowering;

/// Rows of operators that are lowered: a name, its inputs, and the function that writes the graph.
macro_rules! lowered {
    ($($name:literal [$($input:expr),*] $lower:expr;)*) => {
        pub(super) const LOWERED: &[Row] = &[$(
            paddle(const { &[signature($name, const { &[$($input),*] })] })
                .lowers($lower)
        ),*];
    };
}

lowered! {
    "abs" [one("x")] |l| math::unary(l, "Abs");
    "add" [one("x"), one("y")] |l| math::binary(l, "Add");
    "argmax" [one("x"), maybe("axis")] |l| network::arg(l, "ArgMax");
    "argmin" [one("x"), maybe("axis")] |l| network::arg(l, "ArgMin");
    "assign" [one("x")] create::same;
    "assign_out_" [one("x"), maybe("output")] create::same;
    "assign_value" [] create::assign_value;
    "assign_value_" [one("output")] create::assign_value;
    "batch_norm" [one("x"), one("mean"), one("variance"), one("scale"), one("bias")] network::batch_norm;
    "batch_norm_" [one("x"), one("mean"), one("variance"), one("scale"), one("bias")] network::batch_norm;
    "bilinear_interp" [one("x"), maybe("out_size"), maybe("size_tensor"), maybe("scale_tensor")] |l| network::resize(l, true);
    "bitwise_and" [one("x"), one("y")] |l| math::binary(l, "BitwiseAnd");
    "bitwise_or" [one("x"), one("y")] |l| math::binary(l, "BitwiseOr");
    "bitwise_xor" [one("x"), one("y")] |l| math::binary(l, "BitwiseXor");
    "cast" [one("x")] create::cast;
    "ceil" [one("x")] |l| math::unary(l, "Ceil");
    "clip" [one("x"), maybe("min"), maybe("max")] |l| network::clip(l, None);
    "concat" [many("x")] layout::concat;
    "conv2d" [one("input"), one("filter")] network::conv;
    "conv2d_transpose" [one("x"), one("filter"), maybe("output_size")] network::conv_transpose;
    "cos" [one("x")] |l| math::unary(l, "Cos");
    "cumsum" [one("x"), maybe("axis")] network::cumsum;
    "depthwise_conv2d" [one("input"), one("filter")] network::conv;
    "divide" [one("x"), one("y")] |l| math::binary(l, "Div");
    "dropout" [one("x"), maybe("seed_tensor"), maybe("p")] network::dropout;
    "elementwise_pow" [one("x"), one("y")] |l| math::binary(l, "Pow");
    "elu" [one("x")] |l| network::activation(l, "Elu", &[("alpha", "alpha", 1.0)]);
    "embedding" [one("x"), one("weight")] network::embedding;
    "equal" [one("x"), one("y")] |l| math::binary(l, "Equal");
    "erf" [one("x")] |l| math::unary(l, "Erf");
    "exp" [one("x")] |l| math::unary(l, "Exp");
    "expand" [one("x"), maybe("shape")] layout::expand;
    "expand_as" [one("x"), maybe("y")] layout::expand_as;
    "fetch" [one("x")] create::same;
    "flatten" [one("x")] layout::flatten;
    "flip" [one("x")] network::flip;
    "floor" [one("x")] |l| math::unary(l, "Floor");
    "floor_divide" [one("x"), one("y")] math::floor_divide;
    "full" [] create::full;
    "full_int_array" [] create::full_int_array;
    "full_like" [one("x"), maybe("value")] create::full_like;
    "full_with_tensor" [one("value"), one("shape")] create::full_with_tensor;
    "gather" [one("x"), one("index"), maybe("axis")] layout::gather;
    "gather_nd" [one("x"), one("index")] layout::gather_nd;
    "gelu" [one("x")] network::gelu;
    "greater_equal" [one("x"), one("y")] |l| math::binary(l, "GreaterOrEqual");
    "greater_than" [one("x"), one("y")] |l| math::binary(l, "Greater");
    "group_norm" [one("x"), maybe("scale"), maybe("bias")] network::group_norm;
    "hardsigmoid" [one("x")] |l| network::activation(l, "HardSigmoid", &[("slope", "alpha", 0.2), ("offset", "beta", 0.5)]);
    "hardswish" [one("x")] |l| math::unary(l, "HardSwish");
    "increment" [one("x")] math::increment;
    "increment_" [one("x")] math::increment;
    "index_select" [one("x"), one("index")] layout::gather;
    "layer_norm" [one("x"), maybe("scale"), maybe("bias")] network::layer_norm;
    "leaky_relu" [one("x")] |l| network::activation(l, "LeakyRelu", &[("negative_slope", "alpha", 0.02)]);
    "less_equal" [one("x"), one("y")] |l| math::binary(l, "LessOrEqual");
    "less_than" [one("x"), one("y")] |l| math::binary(l, "Less");
    "log" [one("x")] |l| math::unary(l, "Log");
    "log_softmax" [one("x")] |l| math::softmax(l, "LogSoftmax");
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
    "mish" [one("x")] |l| math::unary(l, "Mish");
    "multiply" [one("x"), one("y")] |l| math::binary(l, "Mul");
    "nearest_interp" [one("x"), maybe("out_size"), maybe("size_tensor"), maybe("scale_tensor")] |l| network::resize(l, false);
    "nonzero" [one("condition")] network::nonzero;
    "not_equal" [one("x"), one("y")] math::not_equal;
    "numel" [one("x")] create::numel;
    "pool2d" [one("x"), maybe("kernel_size")] network::pool;
    "pow" [one("x"), maybe("y")] network::pow;
    "print" [one("in")] create::same;
    "prod" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceProd");
    "reciprocal" [one("x")] |l| math::unary(l, "Reciprocal");
    "relu" [one("x")] |l| math::unary(l, "Relu");
    "relu6" [one("x")] |l| network::clip(l, Some((0.0, 6.0)));
    "remainder" [one("x"), one("y")] |l| math::binary(l, "Mod");
    "reshape" [one("x"), maybe("shape")] |l| layout::with_list(l, "Reshape", "shape");
    "round" [one("x")] |l| math::unary(l, "Round");
    "rsqrt" [one("x")] |l| network::chain(l, &["Sqrt", "Reciprocal"]);
    "scale" [one("x"), maybe("scale")] math::scale;
    "shape" [one("input")] create::shape_lower;
    "shape64" [one("input")] create::shape64;
    "share_data_" [one("x")] create::same;
    "sigmoid" [one("x")] |l| math::unary(l, "Sigmoid");
    "sign" [one("x")] |l| math::unary(l, "Sign");
    "silu" [one("x")] |l| math::unary(l, "Swish");
    "sin" [one("x")] |l| math::unary(l, "Sin");
    "slice" [one("input"), maybe("starts"), maybe("ends")] layout::slice;
    "softmax" [one("x")] |l| math::softmax(l, "Softmax");
    "split" [one("x"), maybe("sections"), maybe("axis")] layout::split;
    "split_with_num" [one("x"), maybe("axis")] layout::split_with_num;
    "sqrt" [one("x")] |l| math::unary(l, "Sqrt");
    "square" [one("x")] network::square;
    "squeeze" [one("x"), maybe("axis")] layout::squeeze;
    "stack" [many("x")] layout::stack;
    "strided_slice" [one("x"), maybe("starts"), maybe("ends"), maybe("strides")] layout::strided_slice;
    "subtract" [one("x"), one("y")] |l| math::binary(l, "Sub");
    "sum" [one("x"), maybe("axis")] |l| math::reduce(l, "ReduceSum");
    "swish" [one("x")] |l| network::activation(l, "Swish", &[("beta", "alpha", 1.0)]);
    "take_along_axis" [one("arr"), one("indices")] network::take_along_axis;
    "tanh" [one("x")] |l| math::unary(l, "Tanh");
    "tile" [one("x"), maybe("repeat_times")] layout::tile;
    "topk" [one("x"), maybe("k")] network::topk;
    "transpose" [one("x")] layout::transpose;
    "tril" [one("x")] |l| network::triangle(l, false);
    "triu" [one("x")] |l| network::triangle(l, true);
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
