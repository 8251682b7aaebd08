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

use gradus_core::convert::{self, Rules, i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Class, DType, Result, Tensor};

use crate::lowering::{LoweredValue, Lowering, int};
use crate::operators::errors;

pub(crate) fn unary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![l.apply(operator, &[x], &[])?])
}

/// Two inputs that broadcast. In old programs, `axis` is the axis of the first at which the axes of
/// the second begin.
fn operands(l: &mut Lowering<'_>) -> Result<[LoweredValue; 2]> {
    let (x, y) = (l.input(0)?, l.input(1)?);
    let from = l.attributes.int_or("axis", -1)?;
    if from == -1 {
        return Ok([x, y]);
    }
    let (rank, own) = (l.rank_of(0)?, l.rank_of(1)?);
    let behind = usize_of_i64(from).and_then(|from| rank.checked_sub(from)?.checked_sub(own));
    let behind = behind.ok_or_else(|| {
        errors::value("attribute \"axis\"", from, format_args!("-1, or from 0 to {rank} - {own}"))
    })?;
    if behind == 0 {
        return Ok([x, y]);
    }
    let axes = l.list(&(own..own + behind).map(i64_of).collect::<Vec<_>>())?;
    Ok([x, l.apply("Unsqueeze", &[y, axes], &[])?])
}

pub(crate) fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let operands = operands(l)?;
    Ok(vec![l.apply(operator, &operands, &[])?])
}

/// `round`: to so many decimals, ties to even.
pub(crate) fn round(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, decimals) = (l.input(0)?, l.attributes.int_or("decimals", 0)?);
    if decimals == 0 {
        return unary(l, "Round");
    }
    let decimals =
        i32::try_from(decimals).map_err(|_| errors::value("attribute \"decimals\"", decimals, "32 bits"))?;
    let factor = number(l, 10f64.powi(decimals))?;
    for (operator, inputs) in [("Mul", 2), ("Round", 1), ("Div", 2)] {
        x = l.apply(operator, &[x, factor][..inputs], &[])?;
    }
    Ok(vec![x])
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
pub(super) fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let dtype = l.dtype_of(0)?;
    l.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::IEEE)?)
}

pub(crate) fn floor_divide(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ([x, y], dtype) = (operands(l)?, l.dtype_of(0)?);
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

/// `bitwise_and` and its like: of truth values, what is logical.
pub(crate) fn bitwise(l: &mut Lowering<'_>, name: &str) -> Result<Vec<LoweredValue>> {
    if l.dtype_of(0)? == DType::Bool {
        return logical(l, name);
    }
    let inputs = (0..l.count()).map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply(&format!("Bitwise{name}"), &inputs, &[])?])
}

/// `all` and `any`: for any type, what is not zero is true.
pub(crate) fn truth(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let x = if l.dtype_of(0)? == DType::Bool { x } else { l.cast(x, DType::Bool)? };
    reduced(l, x, operator)
}

pub(crate) fn is_finite(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (nan, infinite) = (l.apply("IsNaN", &[x], &[])?, l.apply("IsInf", &[x], &[])?);
    let neither = l.apply("Or", &[nan, infinite], &[])?;
    Ok(vec![l.apply("Not", &[neither], &[])?])
}

/// A function that is computed in float64 and rounded once.
fn wide(
    l: &mut Lowering<'_>,
    of: fn(&mut Lowering<'_>, LoweredValue) -> Result<LoweredValue>,
) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let x = if dtype == DType::F64 { x } else { l.cast(x, DType::F64)? };
    let y = of(l, x)?;
    let to = if dtype.is_float() { dtype } else { DType::F32 };
    Ok(vec![if to == DType::F64 { y } else { l.cast(y, to)? }])
}

fn float64(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    l.constant(Tensor::scalar(value))
}

pub(crate) fn log2(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    wide(l, |l, x| {
        let (y, by) = (l.apply("Log", &[x], &[])?, float64(l, std::f64::consts::LN_2)?);
        l.apply("Div", &[y, by], &[])
    })
}

pub(crate) fn log10(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    wide(l, |l, x| {
        let (y, by) = (l.apply("Log", &[x], &[])?, float64(l, std::f64::consts::LN_10)?);
        l.apply("Div", &[y, by], &[])
    })
}

/// `log(1 + x)`: the logarithm of the rounded sum, by the part of `x` that the sum has of it.
pub(crate) fn log1p(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    wide(l, |l, x| {
        let one = float64(l, 1.0)?;
        let sum = l.apply("Add", &[x, one], &[])?;
        let part = l.apply("Sub", &[sum, one], &[])?;
        let log = l.apply("Log", &[sum], &[])?;
        let (quotient, limit) = (l.apply("Div", &[x, part], &[])?, float64(l, f64::INFINITY)?);
        let y = l.apply("Mul", &[log, quotient], &[])?;
        let (none, endless) = (l.apply("Equal", &[sum, one], &[])?, l.apply("Equal", &[x, limit], &[])?);
        let same = l.apply("Or", &[none, endless], &[])?;
        l.apply("Where", &[same, x, y], &[])
    })
}

/// `exp(x) - 1`: `2 t / (1 - t)` with `t = tanh(x / 2)`, which is exact where the difference is
/// not.
pub(crate) fn expm1(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    wide(l, |l, x| {
        let [one, half, near] = [float64(l, 1.0)?, float64(l, 0.5)?, float64(l, 0.5)?];
        let exp = l.apply("Exp", &[x], &[])?;
        let plain = l.apply("Sub", &[exp, one], &[])?;
        let less = l.apply("Mul", &[x, half], &[])?;
        let t = l.apply("Tanh", &[less], &[])?;
        let (twice, rest) = (l.apply("Add", &[t, t], &[])?, l.apply("Sub", &[one, t], &[])?);
        let y = l.apply("Div", &[twice, rest], &[])?;
        let size = l.apply("Abs", &[x], &[])?;
        let small = l.apply("Less", &[size, near], &[])?;
        l.apply("Where", &[small, y, plain], &[])
    })
}

/// `trunc`: cut toward zero.
pub(crate) fn trunc(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    if !l.dtype_of(0)?.is_float() {
        return Ok(vec![l.apply("Identity", &[x], &[])?]);
    }
    let zero = number(l, 0.0)?;
    let (up, down) = (l.apply("Ceil", &[x], &[])?, l.apply("Floor", &[x], &[])?);
    let negative = l.apply("Less", &[x, zero], &[])?;
    Ok(vec![l.apply("Where", &[negative, up, down], &[])?])
}

/// `softplus`: `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is above the threshold.
pub(crate) fn softplus(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (beta, most) = (l.float("beta")?.unwrap_or(1.0), l.float("threshold")?.unwrap_or(20.0));
    let (beta, most) = (number(l, beta)?, number(l, most)?);
    let scaled = l.apply("Mul", &[x, beta], &[])?;
    let y = l.apply("Softplus", &[scaled], &[])?;
    let y = l.apply("Div", &[y, beta], &[])?;
    let large = l.apply("Greater", &[scaled, most], &[])?;
    Ok(vec![l.apply("Where", &[large, x, y], &[])?])
}

/// `tanh_shrink`: what the function takes away.
pub(crate) fn tanh_shrink(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let y = l.apply("Tanh", &[x], &[])?;
    Ok(vec![l.apply("Sub", &[x, y], &[])?])
}

/// `thresholded_relu`: `x` above a threshold, and a value elsewhere.
pub(crate) fn thresholded_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (least, value) = (l.float("threshold")?.unwrap_or(1.0), l.float("value")?.unwrap_or(0.0));
    let (least, value) = (number(l, least)?, number(l, value)?);
    let above = l.apply("Greater", &[x, least], &[])?;
    Ok(vec![l.apply("Where", &[above, x, value], &[])?])
}

/// `lerp`: from `x` to `y`, by a weight.
pub(crate) fn lerp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, weight) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let apart = l.apply("Sub", &[y, x], &[])?;
    let part = l.apply("Mul", &[apart, weight], &[])?;
    Ok(vec![l.apply("Add", &[x, part], &[])?])
}

/// `swiglu`: the swish of one half, times the other.
pub(crate) fn swiglu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let halves = if l.has(1) {
        vec![x, l.input(1)?]
    } else {
        l.apply_many("Split", &[x], &[int("axis", -1), int("num_outputs", 2)], 2)?
    };
    let gate = l.apply("Swish", &[halves[0]], &[])?;
    Ok(vec![l.apply("Mul", &[gate, halves[1]], &[])?])
}

/// `dot`: the sum of products along the last axis.
pub(crate) fn dot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, last) = (l.input(0)?, l.input(1)?, l.list(&[-1])?);
    let products = l.apply("Mul", &[x, y], &[])?;
    Ok(vec![l.apply("ReduceSum", &[products, last], &[int("keepdims", 0)])?])
}

/// `addmm`: `beta input + alpha x y`.
pub(crate) fn addmm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (input, x, y) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let factors = ["alpha", "beta"].map(|name| (name, l.float(name)));
    let factors =
        factors.into_iter().map(|(name, value)| Ok(super::network::float(name, value?.unwrap_or(1.0))));
    Ok(vec![l.apply("Gemm", &[x, y, input], &factors.collect::<Result<Vec<_>>>()?)?])
}

/// `p_norm`: along an axis, or of all elements.
pub(crate) fn p_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let power = l.float("porder")?.unwrap_or(2.0);
    let keep = int("keepdims", l.attributes.flag("keepdim", false)?.into());
    let mut inputs = vec![x];
    if !l.attributes.flag("asvector", false)? {
        let axis = l.attributes.int_or("axis", -1)?;
        inputs.push(l.list(&[axis])?);
    }
    let simple = if power == 1.0 {
        Some("ReduceL1")
    } else if power == 2.0 {
        Some("ReduceL2")
    } else {
        None
    };
    if let Some(operator) = simple {
        return Ok(vec![l.apply(operator, &inputs, &[keep])?]);
    }
    inputs[0] = l.apply("Abs", &[x], &[])?;
    if power.is_infinite() {
        let operator = if power > 0.0 { "ReduceMax" } else { "ReduceMin" };
        return Ok(vec![l.apply(operator, &inputs, &[keep])?]);
    }
    if power == 0.0 {
        let (zero, dtype) = (number(l, 0.0)?, l.dtype_of(0)?);
        let some = l.apply("Greater", &[inputs[0], zero], &[])?;
        inputs[0] = l.cast(some, dtype)?;
        return Ok(vec![l.apply("ReduceSum", &inputs, &[keep])?]);
    }
    let (by, root) = (number(l, power)?, number(l, 1.0 / power)?);
    inputs[0] = l.apply("Pow", &[inputs[0], by], &[])?;
    let sum = l.apply("ReduceSum", &inputs, &[keep])?;
    Ok(vec![l.apply("Pow", &[sum, root], &[])?])
}

pub(crate) fn matmul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut operands = [l.input(0)?, l.input(1)?];
    for (index, name) in ["transpose_x", "transpose_y"].into_iter().enumerate() {
        let rank = l.rank_of(index)?;
        if l.attributes.flag(name, false)? && rank >= 2 {
            let mut perm: Vec<_> = (0..i64_of(rank)).collect();
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
    reduced(l, x, operator)
}

fn reduced(l: &mut Lowering<'_>, x: LoweredValue, operator: &str) -> Result<Vec<LoweredValue>> {
    let axes = match l.attributes.ints("axis")? {
        _ if l.attributes.flag("reduce_all", false)? => None,
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
