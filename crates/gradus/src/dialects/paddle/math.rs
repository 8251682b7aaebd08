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

use crate::lowering::{LoweredValue, Lowering, int};

pub(crate) fn unary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![l.apply(operator, &[x], &[])?])
}

pub(crate) fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (x, y) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply(operator, &[x, y], &[])?])
}

/// For any type, what is not zero is true.
pub(crate) fn logical(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut inputs = (0..l.count()).map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    for (index, value) in inputs.iter_mut().enumerate() {
        if l.dtype_of(index)? != DType::Bool {
            *value = l.cast(*value, DType::Bool)?;
        }
    }
    Ok(vec![l.apply(operator, &inputs, &[])?])
}

/// A number of the type of the first input.
fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let dtype = l.dtype_of(0)?;
    l.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::IEEE)?)
}

pub(crate) fn floor_divide(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let plain = l.apply("Div", &[x, y], &[])?;
    if matches!(dtype.class(), Class::Unsigned) {
        return Ok(vec![plain]);
    }
    let zero = number(l, 0.0)?;
    if dtype.is_integer() {
        // The quotient is cut toward zero: one less where something of another sign than the
        // divisor is left over.
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
    // The quotient is whole but for the rounding of the difference. By zero, it is what the
    // division says.
    let (floor, by_zero) = (l.apply("Round", &[quotient], &[])?, l.apply("Equal", &[y, zero], &[])?);
    Ok(vec![l.apply("Where", &[by_zero, plain, floor], &[])?])
}

pub(crate) fn scale(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
    let (bias, after) = (number(l, bias)?, l.attributes.flag("bias_after_scale", true)?);
    let (first, second) =
        if after { (("Mul", factor), ("Add", bias)) } else { (("Add", bias), ("Mul", factor)) };
    let value = l.apply(first.0, &[x, first.1], &[])?;
    Ok(vec![l.apply(second.0, &[value, second.1], &[])?])
}

pub(crate) fn increment(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let by = l.float("value")?.unwrap_or(1.0);
    let by = number(l, by)?;
    Ok(vec![l.apply("Add", &[x, by], &[])?])
}

pub(crate) fn matmul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut operands = [l.input(0)?, l.input(1)?];
    for (index, name) in ["transpose_x", "transpose_y"].into_iter().enumerate() {
        let rank = l.rank_of(index)?;
        if l.attributes.flag(name, false)? && rank >= 2 {
            let mut perm: Vec<_> = (0..convert::i64_of(rank)).collect();
            perm.swap(rank - 2, rank - 1);
            operands[index] = l.apply("Transpose", &[operands[index]], &[("perm", Content::Ints(perm))])?;
        }
    }
    Ok(vec![l.apply("MatMul", &operands, &[])?])
}

pub(crate) fn reduce(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    if let Some(to) = l.dtype("dtype")?
        && l.dtype_of(0)? != to
    {
        x = l.cast(x, to)?;
    } else if operator == "ReduceSum" && matches!(l.dtype_of(0)?, DType::Bool | DType::I32) {
        // Sums of narrow integers are int64.
        x = l.cast(x, DType::I64)?;
    }
    let axes = match l.attributes.ints("axis")? {
        Some(axes) => {
            let axes = axes.to_vec();
            Some(l.list(&axes)?)
        }
        None if l.has(1) => Some(l.input(1)?),
        None => None,
    };
    let inputs: Vec<_> = [x].into_iter().chain(axes).collect();
    let keep = int("keepdims", i64::from(l.attributes.flag("keepdim", false)?));
    Ok(vec![l.apply(operator, &inputs, &[keep])?])
}

pub(crate) fn not_equal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [equal] = *binary(l, "Equal")? else { return Ok(vec![]) };
    Ok(vec![l.apply("Not", &[equal], &[])?])
}

pub(crate) fn softmax(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (x, axis) = (l.input(0)?, l.attributes.int("axis")?.unwrap_or(-1));
    Ok(vec![l.apply(operator, &[x], &[int("axis", axis)])?])
}
