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

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{Content, Standard};
use gradus_core::{Class, DType, Result, Tensor, convert};

use crate::attributes::required;
use crate::dialects::paddle::attributes::constant_like;
use crate::dialects::paddle::complex;
use crate::dialects::paddle::layout::inputs;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, axis, int, not_known};
use crate::matmul;
use crate::operation::Operation;

/// A function of one element, under ONNX's name; absolute values and exponentials of complex
/// numbers too.
pub fn unary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    match operator {
        "Abs" if l.is_complex(0) => return complex::abs(l),
        "Exp" if l.is_complex(0) => return complex::exp(l),
        _ => {}
    }
    let x = l.input(0)?;
    Ok(vec![l.apply(operator, &[x], &[])?])
}

/// A function of floats: of integers, in float32.
pub fn float_function(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    if !l.dtype_of(0)?.is_float() {
        x = l.cast(x, DType::F32)?;
    }
    Ok(vec![l.apply(operator, &[x], &[])?])
}

/// `floor` and its like: integers are unchanged.
pub fn rounded(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    unary(l, if l.dtype_of(0)?.is_float() { operator } else { "Identity" })
}

/// Two inputs that broadcast. In old programs, the attribute `axis` says with which axis of the
/// one with more axes those of the other begin.
fn operands(l: &mut Lowering<'_>) -> Result<[LoweredValue; 2]> {
    let mut operands = [l.input(0)?, l.input(1)?];
    let from = l.attributes.int_or("axis", -1)?;
    if from == -1 {
        return Ok(operands);
    }
    let ranks = [l.rank_of(0)?, l.rank_of(1)?];
    let short = usize::from(ranks[0] >= ranks[1]);
    let (rank, own) = (ranks[1 - short], ranks[short]);
    let behind = usize_of_i64(from).and_then(|from| rank.checked_sub(from)?.checked_sub(own));
    let behind = behind.ok_or_else(|| {
        errors::value("attribute \"axis\"", from, format_args!("-1, or from 0 to {rank} - {own}"))
    })?;
    if behind > 0 {
        let axes = l.list(&(own..own + behind).map(convert::i64_of).collect::<Vec<_>>())?;
        operands[short] = l.apply("Unsqueeze", &[operands[short], axes], &[])?;
    }
    Ok(operands)
}

/// A function of two elements, under ONNX's name; also of truth values and complex numbers.
pub fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    if l.is_complex(0) || l.is_complex(1) {
        return complex::binary(l, operator);
    }
    let mut operands = operands(l)?;
    let operator = match operator {
        _ if l.dtype_of(0) != Ok(DType::Bool) => operator,
        "Add" => "Or",
        "Mul" => "And",
        _ if crate::row(Standard::Onnx, "", operator)
            .and_then(|row| row.operation)
            .is_some_and(Operation::orders) =>
        {
            for value in &mut operands {
                *value = l.cast(*value, DType::I32)?;
            }
            operator
        }
        _ => operator,
    };
    Ok(vec![l.apply(operator, &operands, &[])?])
}

/// Bits of integers; of booleans, the logical operator.
pub fn bitwise(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    if l.dtype_of(0)? == DType::Bool {
        return logical(l, operator);
    }
    let inputs = (0..l.count()).map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply(&format!("Bitwise{operator}"), &inputs, &[])?])
}

/// Shifts of the bits of integers. To the right, the sign fills the places that become free, unless
/// the shift is not arithmetic.
pub fn shift(l: &mut Lowering<'_>, direction: &str) -> Result<Vec<LoweredValue>> {
    let (mut x, count, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let unsigned = match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    };
    let fills = direction == "RIGHT" && unsigned != dtype && l.attributes.flag("is_arithmetic", true)?;
    let mut mask = None;
    if fills {
        // The complement of negative integers is shifted.
        let (zero, ones) = (constant_like(l, 0.0)?, constant_like(l, -1.0)?);
        let signs = pick(of("Less", x, zero), ones, zero).put(l)?;
        x = l.apply("BitwiseXor", &[x, signs], &[])?;
        mask = Some(signs);
    }
    let count = l.cast(count, unsigned)?;
    let to = ("direction", Content::Bytes(direction.to_owned().into()));
    let shifted = with("BitShift", [cast(x, unsigned), count.into()], [to]).put(l)?;
    let shifted = l.cast(shifted, dtype)?;
    Ok(vec![match mask {
        Some(signs) => l.apply("BitwiseXor", &[shifted, signs], &[])?,
        None => shifted,
    }])
}

/// A product of matrices, from the first to the last.
pub fn multi_dot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let factors = inputs(l)?;
    let rest = factors[1..].iter();
    let product =
        rest.copied().try_fold(factors[0], |product, factor| l.apply("MatMul", &[product, factor], &[]));
    Ok(vec![product?])
}

/// For any type, what is not zero is true.
pub fn logical(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut inputs = (0..l.count()).map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    for (index, value) in inputs.iter_mut().enumerate() {
        if l.dtype_of(index)? != DType::Bool {
            *value = l.cast(*value, DType::Bool)?;
        }
    }
    Ok(vec![l.apply(operator, &inputs, &[])?])
}

/// `floor_divide`: the quotient, rounded down.
pub fn floor_divide(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operands = operands(l)?;
    Ok(vec![floor_of_quotient(l, operands)?])
}

/// The floor of a quotient of values of the type of the first input.
pub(super) fn floor_of_quotient(l: &mut Lowering<'_>, [x, y]: [LoweredValue; 2]) -> Result<LoweredValue> {
    let (plain, dtype) = (l.apply("Div", &[x, y], &[])?, l.dtype_of(0)?);
    if matches!(dtype.class(), Class::Unsigned) {
        return Ok(plain);
    }
    let zero = constant_like(l, 0.0)?;
    if dtype.is_integer() {
        // The quotient is cut toward zero: one less where something of another sign than the
        // divisor is left over.
        let rest = (x - (plain * y)).put(l)?;
        let some = f("Not", of("Equal", rest, zero)).put(l)?;
        let less = of("And", some, of("Xor", of("Less", rest, zero), of("Less", y, zero))).put(l)?;
        let less = l.cast(less, dtype)?;
        return l.apply("Sub", &[plain, less], &[]);
    }
    let less = (x - of("Mod", x, y)).put(l)?;
    let quotient = l.apply("Div", &[less, y], &[])?;
    // The quotient is whole but for the rounding of the difference. By zero, it is what the
    // division says.
    let (floor, by_zero) = (l.apply("Round", &[quotient], &[])?, l.apply("Equal", &[y, zero], &[])?);
    l.apply("Where", &[by_zero, plain, floor], &[])
}

/// `scale`: elements times a factor, with a bias added before or after.
pub fn scale(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.is_complex(0) {
        return complex::scale(l);
    }
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let factor = if l.has(1) {
        let given = l.input(1)?;
        let given = l.reshape(given, &[])?;
        if l.dtype_of(1)? == dtype { given } else { l.cast(given, dtype)? }
    } else {
        let factor = l.float("scale")?.unwrap_or(1.0);
        constant_like(l, factor)?
    };
    let bias = l.float("bias")?.unwrap_or(0.0);
    let (bias, after) = (constant_like(l, bias)?, l.attributes.flag("bias_after_scale", true)?);
    let (first, second) =
        if after { (("Mul", factor), ("Add", bias)) } else { (("Add", bias), ("Mul", factor)) };
    let value = l.apply(first.0, &[x, first.1], &[])?;
    Ok(vec![l.apply(second.0, &[value, second.1], &[])?])
}

/// `increment`: the input plus a number.
pub fn increment(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let by = l.float("value")?.unwrap_or(1.0);
    let by = constant_like(l, by)?;
    Ok(vec![(l.input(0)? + by).put(l)?])
}

/// `matmul`: a product of matrices that may be transposed.
pub fn matmul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut operands = [l.input(0)?, l.input(1)?];
    for (index, name) in ["transpose_x", "transpose_y"].into_iter().enumerate() {
        let rank = l.rank_of(index)?;
        if l.attributes.flag(name, false)? && rank >= 2 {
            let mut perm: Vec<_> = (0..convert::i64_of(rank)).collect();
            perm.swap(rank - 2, rank - 1);
            operands[index] = l.transposed(operands[index], &perm)?;
        }
    }
    let mut product = l.apply("MatMul", &operands, &[])?;
    if let Some(alpha) = l.float("alpha")?.filter(|&alpha| alpha != 1.0) {
        let alpha = constant_like(l, alpha)?;
        product = l.apply("Mul", &[product, alpha], &[])?;
    }
    Ok(vec![product])
}

/// `addmm` and `baddbmm`: `beta * input + alpha * x @ y`.
pub fn addmm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [input, x, y] = [l.input(0)?, l.input(1)?, l.input(2)?];
    let mut terms = [input, l.apply("MatMul", &[x, y], &[])?];
    for (term, name) in terms.iter_mut().zip(["beta", "alpha"]) {
        let factor = l.float(name)?.unwrap_or(1.0);
        let factor = constant_like(l, factor)?;
        *term = l.apply("Mul", &[*term, factor], &[])?;
    }
    Ok(vec![l.apply("Add", &terms, &[])?])
}

/// `dot`: along the last axis.
pub fn dot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (y, last) = (l.input(1)?, l.list(&[-1])?);
    Ok(vec![with("ReduceSum", [l.input(0)? * y, last.into()], [int("keepdims", 0)]).put(l)?])
}

/// `einsum`. Outputs after the first are for training: caches, declared as scalars, and the
/// operands.
pub fn einsum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operands = inputs(l)?;
    let equation = required("equation", l.attributes.text("equation")?)?.to_owned();
    let mut outputs = vec![matmul::ellipses::einsum(l, operands.clone(), &equation)?];
    if l.outputs() > 1 {
        outputs.extend(vec![constant_like(l, 0.0)?; operands.len()]);
        outputs.extend(operands);
    }
    Ok(outputs)
}

/// `add_n`: the sum of all inputs, from the first to the last.
pub fn add_n(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let terms = inputs(l)?;
    let mut sum = terms[0];
    for &term in &terms[1..] {
        sum = l.apply("Add", &[sum, term], &[])?;
    }
    Ok(vec![sum])
}

/// A reduction over axes, under ONNX's name, in the type that Paddle's operator returns.
pub fn reduce(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (mut x, mut dtype) = (l.input(0)?, l.dtype_of(0)?);
    let sum = operator == "ReduceSum";
    let to = l.dtype("dtype")?.unwrap_or(match dtype {
        DType::Bool | DType::I32 if sum => DType::I64,
        _ => dtype,
    });
    // ONNX has no sums of narrow integers.
    let between = if sum && to.is_integer() { DType::I64 } else { to };
    if between != dtype {
        x = l.cast(x, between)?;
        dtype = between;
    }
    let mut values = reduced(l, x, operator)?;
    if to != dtype {
        values[0] = l.cast(values[0], to)?;
    }
    Ok(values)
}

/// `reduce_as`: sums along the axes that a target lacks, or has one element along.
pub fn reduce_as(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, target) = (l.input(0)?, l.dtype_of(0)?, l.dims_of(1)?.to_vec());
    let behind = l.rank_of(0)?.checked_sub(target.len());
    let behind = behind.ok_or_else(|| errors::rank("target", target.len(), "at most that of \"x\""))?;
    let own = &l.dims_of(0)?[behind..];
    let mut axes: Vec<_> = (0..behind).collect();
    for (axis, (own, wanted)) in own.iter().zip(&target).enumerate() {
        match (own, wanted) {
            (own, wanted) if own == wanted && own.is_some() => {}
            (_, Some(1)) => axes.push(behind + axis),
            (_, Some(_)) => {}
            (_, None) => return Err(not_known(format!("size of axis {axis} of the target"))),
        }
    }
    let axes = l.list(&axes.into_iter().map(convert::i64_of).collect::<Vec<_>>())?;
    let x = if dtype == DType::Bool { l.cast(x, DType::I64)? } else { x };
    let y = l.apply("ReduceSum", &[x, axes], &[int("noop_with_empty_axes", 1)])?;
    Ok(vec![with("Reshape", [y.into(), f("Shape", l.input(1)?)], [int("allowzero", 1)]).put(l)?])
}

/// `all` and `any`: the minimum and the maximum of what is not zero.
pub fn reduce_truth(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    if l.dtype_of(0)? != DType::Bool {
        x = l.cast(x, DType::Bool)?;
    }
    reduced(l, x, operator)
}

/// `p_norm`: along an axis, or of all elements.
pub fn p_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, p) = (l.input(0)?, l.float("porder")?.unwrap_or(2.0));
    let mut inputs = vec![l.apply("Abs", &[x], &[])?];
    if !l.attributes.flag("asvector", false)? {
        let axis = axis(l.attributes.int_or("axis", -1)?, l.rank_of(0)?)?;
        inputs.push(l.list(&[convert::i64_of(axis)])?);
    }
    let keep = [int("keepdims", l.attributes.flag("keepdim", false)?.into())];
    let operator = match p {
        1.0 => "ReduceSum",
        2.0 => "ReduceL2",
        f64::INFINITY => "ReduceMax",
        f64::NEG_INFINITY => "ReduceMin",
        _ => {
            if p == 0.0 {
                let dtype = l.dtype_of(0)?;
                let some = l.cast(x, DType::Bool)?;
                inputs[0] = l.cast(some, dtype)?;
                return Ok(vec![l.apply("ReduceSum", &inputs, &keep)?]);
            }
            let (power, root) = (constant_like(l, p)?, constant_like(l, p.recip())?);
            inputs[0] = l.apply("Pow", &[inputs[0], power], &[])?;
            let sum = l.apply("ReduceSum", &inputs, &keep)?;
            return Ok(vec![l.apply("Pow", &[sum, root], &[])?]);
        }
    };
    Ok(vec![l.apply(operator, &inputs, &keep)?])
}

/// `squared_l2_norm`, which has one axis.
pub fn squared_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sum = f("ReduceSumSquare", l.input(0)?).put(l)?;
    Ok(vec![l.reshape(sum, &[1])?])
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
    // `frobenius_norm` has a name of its own.
    let keep = l.attributes.flag("keepdim", false)? || l.attributes.flag("keep_dim", false)?;
    Ok(vec![l.apply(operator, &inputs, &[int("keepdims", keep.into())])?])
}

/// `not_equal`: true where elements differ.
pub fn not_equal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [equal] = *binary(l, "Equal")? else { return Ok(vec![]) };
    Ok(vec![l.apply("Not", &[equal], &[])?])
}

/// `isfinite`: true where elements are neither infinite nor NaN.
pub fn is_finite(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let tests = [float_function(l, "IsNaN")?, float_function(l, "IsInf")?].concat();
    let either = l.apply("Or", &tests, &[])?;
    Ok(vec![l.apply("Not", &[either], &[])?])
}

/// `round`: rounds to a number of decimals.
pub fn round(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, decimals) = (l.input(0)?, l.attributes.int_or("decimals", 0)?);
    if decimals == 0 || !l.dtype_of(0)?.is_float() {
        return rounded(l, "Round");
    }
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    let factor = constant_like(l, 10f64.powi(decimals))?;
    for (operator, inputs) in [("Mul", 2), ("Round", 1), ("Div", 2)] {
        x = l.apply(operator, &[x, factor][..inputs], &[])?;
    }
    Ok(vec![x])
}

/// `trunc`: integers are unchanged.
pub fn trunc(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.dtype_of(0)?.is_float() {
        return unary(l, "Identity");
    }
    let (x, zero) = (l.input(0)?, constant_like(l, 0.0)?);
    Ok(vec![pick(of("Less", x, zero), f("Ceil", x), f("Floor", x)).put(l)?])
}

/// `fmax` and `fmin`: of a NaN and a number, the number.
pub fn number_of(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let [x, y] = operands(l)?;
    let mut value = l.apply(operator, &[x, y], &[])?;
    if l.dtype_of(0)?.is_float() {
        for (nan, other) in [(x, y), (y, x)] {
            value = pick(f("IsNaN", nan), other, value).put(l)?;
        }
    }
    Ok(vec![value])
}

/// `lerp`: `x + weight * (y - x)`.
pub fn lerp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [x, y, weight] = [l.input(0)?, l.input(1)?, l.input(2)?];
    let part = (weight * (y - x)).put(l)?;
    Ok(vec![l.apply("Add", &[x, part], &[])?])
}

/// True for floats of the sign of -1; zeros have signs.
fn is_negative(x: LoweredValue) -> Term {
    let sign = of("Less", Term::from(1.0) / x, 0.0);
    of("Or", of("Less", x, 0.0), of("And", of("Equal", x, 0.0), sign))
}

/// `copysign`: the absolute value with the sign of the second input.
pub fn copysign(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (y, dtype) = (l.input(1)?, l.dtype_of(0)?);
    let size = f("Abs", l.input(0)?).write(l, dtype)?;
    let negative = if dtype.is_float() { is_negative(y) } else { of("Less", y, 0.0) };
    Ok(vec![pick(negative, f("Neg", size), size).write(l, dtype)?])
}

/// `atan2`: the angle of the point `(y, x)`; of integers, in float64.
pub fn atan2(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut rise, mut run, given) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let dtype = match given {
        DType::F64 => DType::F64,
        given if given.is_float() => DType::F32,
        _ => DType::F64,
    };
    if given != dtype {
        (rise, run) = (l.cast(rise, dtype)?, l.cast(run, dtype)?);
    }
    let angle = angle_of(l, rise, run, dtype)?;
    Ok(vec![if given.is_float() && given != dtype { l.cast(angle, given)? } else { angle }])
}

/// The angle of a rise over a run, in all four quadrants.
pub fn angle_of(
    l: &mut Lowering<'_>,
    rise: LoweredValue,
    run: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let (down, back) = (is_negative(rise).write(l, dtype)?, is_negative(run).write(l, dtype)?);
    let nothing = of("Equal", rise, 0.0);
    let endless = of("And", f("IsInf", rise), f("IsInf", run)).write(l, dtype)?;
    let slope = pick(endless, f("Sign", rise) / f("Sign", run), rise / run);
    // A rise of nothing is an angle of nothing, of the sign of the slope.
    let flat = pick(of("Xor", down, back), -0.0, 0.0);
    let angle = pick(nothing, flat, f("Atan", slope));
    let turn = pick(down, -std::f64::consts::PI, std::f64::consts::PI);
    let odd = of("Or", f("IsNaN", rise), f("IsNaN", run));
    pick(odd, f64::NAN, angle + pick(back, turn, 0.0)).write(l, dtype)
}

/// `heaviside`: 0 below zero, 1 above, and the second input in between.
pub fn heaviside(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ([x, y], dtype) = (operands(l)?, l.dtype_of(0)?);
    let step = pick(of("Greater", x, 0.0), 1.0, 0.0);
    let step = if dtype.is_float() { pick(f("IsNaN", x), x, step) } else { step };
    Ok(vec![pick(of("Equal", x, 0.0), y, step).write(l, dtype)?])
}

/// `logit`: of elements that are not as close to 0 or 1 as `eps`.
pub fn logit(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, least) = (l.input(0)?, l.dtype_of(0)?, l.float("eps")?.unwrap_or(0.0));
    let inner = of("Min", of("Max", x, least), 1.0 - least);
    let inner = if least > 0.0 { inner } else { x.into() }.write(l, dtype)?;
    Ok(vec![f("Log", inner / (Term::from(1.0) - inner)).write(l, dtype)?])
}

/// `isclose` and `allclose`: `|x - y| <= atol + rtol * |y|`.
pub fn is_close(l: &mut Lowering<'_>, all: bool) -> Result<Vec<LoweredValue>> {
    let (x, y, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let mut bounds = Vec::new();
    for (input, name, default) in [(2, "rtol", 1e-5), (3, "atol", 1e-8)] {
        bounds.push(if l.has(input) {
            let given = l.input(input)?;
            Term::from(l.cast(given, dtype)?)
        } else {
            l.float(name)?.unwrap_or(default).into()
        });
    }
    let [part, least] = <[_; 2]>::try_from(bounds).expect("two bounds");
    let near = of("LessOrEqual", f("Abs", x - y), least + of("Mul", part, f("Abs", y)));
    let mut close = of("Or", of("Equal", x, y), near);
    if l.attributes.flag("equal_nan", false)? {
        close = of("Or", close, of("And", f("IsNaN", x), f("IsNaN", y)));
    }
    let close = close.write(l, dtype)?;
    if !all {
        return Ok(vec![close]);
    }
    every(l, close)
}

/// True if all elements are.
fn every(l: &mut Lowering<'_>, truth: LoweredValue) -> Result<Vec<LoweredValue>> {
    Ok(vec![l.apply("ReduceMin", &[truth], &[int("keepdims", 0)])?])
}

/// `equal_all`.
pub fn equal_all(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [equal] = *binary(l, "Equal")? else { return Ok(vec![]) };
    every(l, equal)
}

/// A cumulative sum or product along an axis, under ONNX's name.
pub fn cumulative(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let mut axis = l.attributes.int("axis")?.or(l.attributes.int("dim")?).unwrap_or(-1);
    if l.attributes.flag("flatten", false)? {
        x = l.reshape(x, &[-1])?;
        axis = 0;
    }
    let axis = l.constant(Tensor::scalar(axis))?;
    let attributes = ["exclusive", "reverse"].map(|name| (name, l.attributes.flag(name, false)));
    let attributes =
        attributes.into_iter().map(|(name, flag)| Ok(int(name, flag?.into()))).collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply(operator, &[x, axis], &attributes)?])
}
