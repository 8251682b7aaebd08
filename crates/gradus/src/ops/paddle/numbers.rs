//! Operators that compute each element from others at its place, and those that fold axes.
//!
//! | operators | result |
//! |---|---|
//! | `add`, `multiply`, … | ONNX's; `divide` of integers cuts toward zero |
//! | `floor_divide` | the floor of the quotient; of integers, a divisor of zero is an error |
//! | `remainder` | has the sign of the divisor |
//! | `scale` | `x * scale + bias`, or `(x + bias) * scale`, scale and bias cast to the type of `x` |
//! | `increment` | the input and `value`, cast to its type |
//! | `sum`, `max`, … | over the axes of `axis`, or all; `keepdim` leaves 1 in their place |

use gradus_core::convert::{self, Rules};
use gradus_core::graph::Content;
use gradus_core::{Class, DType, Result, Tensor};

use super::lowering::{Lowering, V, int};
use super::{maybe, one};

super::rows! {
    "add" [one("x"), one("y")] |l| binary(l, "Add");
    "subtract" [one("x"), one("y")] |l| binary(l, "Sub");
    "multiply" [one("x"), one("y")] |l| binary(l, "Mul");
    "divide" [one("x"), one("y")] |l| binary(l, "Div");
    "floor_divide" [one("x"), one("y")] floor_divide;
    "remainder" [one("x"), one("y")] |l| binary(l, "Mod");
    "elementwise_pow" [one("x"), one("y")] |l| binary(l, "Pow");
    "minimum" [one("x"), one("y")] |l| binary(l, "Min");
    "maximum" [one("x"), one("y")] |l| binary(l, "Max");
    "equal" [one("x"), one("y")] |l| binary(l, "Equal");
    "not_equal" [one("x"), one("y")] |l| { let [equal] = *binary(l, "Equal")? else { return Ok(vec![]) }; Ok(vec![l.apply("Not", &[equal], &[])?]) };
    "less_than" [one("x"), one("y")] |l| binary(l, "Less");
    "less_equal" [one("x"), one("y")] |l| binary(l, "LessOrEqual");
    "greater_than" [one("x"), one("y")] |l| binary(l, "Greater");
    "greater_equal" [one("x"), one("y")] |l| binary(l, "GreaterOrEqual");
    "logical_and" [one("x"), one("y")] |l| logical(l, "And");
    "logical_or" [one("x"), one("y")] |l| logical(l, "Or");
    "logical_xor" [one("x"), one("y")] |l| logical(l, "Xor");
    "logical_not" [one("x")] |l| logical(l, "Not");
    "bitwise_and" [one("x"), one("y")] |l| binary(l, "BitwiseAnd");
    "bitwise_or" [one("x"), one("y")] |l| binary(l, "BitwiseOr");
    "bitwise_xor" [one("x"), one("y")] |l| binary(l, "BitwiseXor");
    "scale" [one("x"), maybe("scale")] scale;
    "increment" [one("x")] increment;
    "increment_" [one("x")] increment;
    "matmul" [one("x"), one("y")] matmul;
    "softmax" [one("x")] |l| { let (x, axis) = (l.input(0)?, l.int("axis")?.unwrap_or(-1)); Ok(vec![l.apply("Softmax", &[x], &[int("axis", axis)])?]) };
    "sum" [one("x"), maybe("axis")] |l| reduce(l, "ReduceSum");
    "mean" [one("x"), maybe("axis")] |l| reduce(l, "ReduceMean");
    "max" [one("x"), maybe("axis")] |l| reduce(l, "ReduceMax");
    "min" [one("x"), maybe("axis")] |l| reduce(l, "ReduceMin");
    "prod" [one("x"), maybe("axis")] |l| reduce(l, "ReduceProd");
    "abs" [one("x")] |l| unary(l, "Abs");
    "ceil" [one("x")] |l| unary(l, "Ceil");
    "cos" [one("x")] |l| unary(l, "Cos");
    "erf" [one("x")] |l| unary(l, "Erf");
    "exp" [one("x")] |l| unary(l, "Exp");
    "floor" [one("x")] |l| unary(l, "Floor");
    "log" [one("x")] |l| unary(l, "Log");
    "relu" [one("x")] |l| unary(l, "Relu");
    "sigmoid" [one("x")] |l| unary(l, "Sigmoid");
    "sign" [one("x")] |l| unary(l, "Sign");
    "sin" [one("x")] |l| unary(l, "Sin");
    "sqrt" [one("x")] |l| unary(l, "Sqrt");
    "tanh" [one("x")] |l| unary(l, "Tanh");
}

fn unary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<V>> {
    let x = l.input(0)?;
    Ok(vec![l.apply(operator, &[x], &[])?])
}

fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<V>> {
    let (x, y) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply(operator, &[x, y], &[])?])
}

/// Of any type, what is not zero is true.
fn logical(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<V>> {
    let mut inputs = (0..l.count()).map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    for (index, value) in inputs.iter_mut().enumerate() {
        if l.dtype_of(index)? != DType::Bool {
            *value = l.cast(*value, DType::Bool)?;
        }
    }
    Ok(vec![l.apply(operator, &inputs, &[])?])
}

/// A number of the type of the first input.
fn number(l: &mut Lowering<'_>, value: f64) -> Result<V> {
    let dtype = l.dtype_of(0)?;
    l.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::IEEE)?)
}

fn floor_divide(l: &mut Lowering<'_>) -> Result<Vec<V>> {
    let (x, y, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let plain = l.apply("Div", &[x, y], &[])?;
    if matches!(dtype.class(), Class::Unsigned) {
        return Ok(vec![plain]);
    }
    let zero = number(l, 0.0)?;
    if dtype.is_integer() {
        // The quotient is cut toward zero: one less where something of another sign than the divisor is left over.
        let covered = l.apply("Mul", &[plain, y], &[])?;
        let rest = l.apply("Sub", &[x, covered], &[])?;
        let (none, below) = (l.apply("Equal", &[rest, zero], &[])?, l.apply("Less", &[rest, zero], &[])?);
        let (some, by_below) = (l.apply("Not", &[none], &[])?, l.apply("Less", &[y, zero], &[])?);
        let other = l.apply("Xor", &[below, by_below], &[])?;
        let less = l.apply("And", &[some, other], &[])?;
        let less = l.cast(less, dtype)?;
        return Ok(vec![l.apply("Sub", &[plain, less], &[])?]);
    }
    let rest = l.apply("Mod", &[x, y], &[])?;
    let less = l.apply("Sub", &[x, rest], &[])?;
    let quotient = l.apply("Div", &[less, y], &[])?;
    // The quotient is whole but for the rounding of the difference. By zero, it is what the division says.
    let (floor, by_zero) = (l.apply("Round", &[quotient], &[])?, l.apply("Equal", &[y, zero], &[])?);
    Ok(vec![l.apply("Where", &[by_zero, plain, floor], &[])?])
}

fn scale(l: &mut Lowering<'_>) -> Result<Vec<V>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let factor = if l.has(1) {
        let given = l.input(1)?;
        let given = l.reshape(given, &[])?;
        if l.dtype_of(1)? == dtype { given } else { l.cast(given, dtype)? }
    } else {
        let factor = l.float("scale")?.unwrap_or(1.0);
        number(l, factor)?
    };
    let bias = l.float("bias")?.unwrap_or(0.0);
    let (bias, after) = (number(l, bias)?, l.flag("bias_after_scale", true)?);
    let (first, second) =
        if after { (("Mul", factor), ("Add", bias)) } else { (("Add", bias), ("Mul", factor)) };
    let value = l.apply(first.0, &[x, first.1], &[])?;
    Ok(vec![l.apply(second.0, &[value, second.1], &[])?])
}

fn increment(l: &mut Lowering<'_>) -> Result<Vec<V>> {
    let x = l.input(0)?;
    let by = l.float("value")?.unwrap_or(1.0);
    let by = number(l, by)?;
    Ok(vec![l.apply("Add", &[x, by], &[])?])
}

fn matmul(l: &mut Lowering<'_>) -> Result<Vec<V>> {
    let mut operands = [l.input(0)?, l.input(1)?];
    for (index, name) in ["transpose_x", "transpose_y"].into_iter().enumerate() {
        let rank = l.rank_of(index)?;
        if l.flag(name, false)? && rank >= 2 {
            let mut perm: Vec<_> = (0..convert::i64_of(rank)).collect();
            perm.swap(rank - 2, rank - 1);
            operands[index] = l.apply("Transpose", &[operands[index]], &[("perm", Content::Ints(perm))])?;
        }
    }
    Ok(vec![l.apply("MatMul", &operands, &[])?])
}

fn reduce(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<V>> {
    let mut x = l.input(0)?;
    if let Some(to) = l.dtype("dtype")?
        && l.dtype_of(0)? != to
    {
        x = l.cast(x, to)?;
    } else if operator == "ReduceSum" && matches!(l.dtype_of(0)?, DType::Bool | DType::I32) {
        // Sums of narrow integers are int64.
        x = l.cast(x, DType::I64)?;
    }
    let axes = match l.ints("axis")? {
        Some(axes) => {
            let axes = axes.to_vec();
            Some(l.list(&axes)?)
        }
        None if l.has(1) => Some(l.input(1)?),
        None => None,
    };
    let inputs: Vec<_> = [x].into_iter().chain(axes).collect();
    let keep = int("keepdims", i64::from(l.flag("keepdim", false)?));
    Ok(vec![l.apply(operator, &inputs, &[keep])?])
}
