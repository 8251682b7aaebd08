//! Operators of elements as graphs of simpler operators, in operator sets and standards that lack
//! them.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use gradus_core::convert::i64_of;
use gradus_core::{Class, DType, Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::types::{exactly, numbered};
use crate::elementwise::to_onnx::{floor_mod_of_floats, part_of_six};
use crate::errors;
use crate::graphs::{compute_type, like, number, parameter, unsupported, widened};
use crate::lowering::terms::{Term, cast, f, ints, of, pick, summed};
use crate::lowering::{LoweredValue, Lowering, wide};

/// `Celu`: `alpha * elu(x / alpha)`.
pub fn celu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let slope = l.attributes.float("alpha")?.unwrap_or(1.0);
    if !(slope > 0.0 && slope.is_finite()) {
        return Err(unsupported(&format!("Celu with alpha={slope}")));
    }
    let (x, alpha) = (widened(l, 0)?, number(l, slope.into())?);
    let value = f("Elu", x / alpha).put(l)?;
    let value = l.apply("Mul", &[value, alpha], &[])?;
    Ok(vec![like(l, value, 0)?])
}

/// `ThresholdedRelu`: `x` above alpha, otherwise 0.
pub fn thresholded_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, alpha, zero) = (widened(l, 0)?, parameter(l, "alpha", 1.0)?, number(l, 0.0)?);
    let value = pick(of("Greater", x, alpha), x, zero).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// `Shrink`: `x + bias` below `-lambd`, `x - bias` above `lambd`, otherwise 0.
pub fn shrink(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let most = l.attributes.float("lambd")?.unwrap_or(0.5);
    let (x, bias, zero) = (widened(l, 0)?, parameter(l, "bias", 0.0)?, number(l, 0.0)?);
    let (low, high) = (number(l, (-most).into())?, number(l, most.into())?);
    let value = pick(of("Less", x, low), x + bias, pick(of("Greater", x, high), x - bias, zero)).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// The mean of all inputs.
pub fn mean(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = l.count();
    let mut sum = widened(l, 0)?;
    for input in 1..count {
        let added = widened(l, input)?;
        sum = l.apply("Add", &[sum, added], &[])?;
    }
    if count > 1 {
        let count = l.constant(Tensor::scalar(i64_of(count)))?;
        let dtype = compute_type(l)?;
        sum = (sum / cast(count, dtype)).put(l)?;
    }
    Ok(vec![like(l, sum, 0)?])
}

/// `SwiGLU`: `gate * sigmoid(alpha * gate) * linear`.
pub fn swiglu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (gate, linear, alpha) = (widened(l, 0)?, widened(l, 1)?, parameter(l, "alpha", 1.0)?);
    let share = f("Sigmoid", gate * alpha).put(l)?;
    let value = (gate * share * linear).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// A function of the first input, of shorter floats in float32, so that its result is rounded once.
fn function(
    l: &mut Lowering<'_>,
    formula: impl FnOnce(&mut Lowering<'_>, LoweredValue, DType) -> Result<Term>,
) -> Result<Vec<LoweredValue>> {
    let (x, own) = (l.input(0)?, l.dtype_of(0)?);
    let wide = wide(own);
    let x = l.in_type(x, own, wide)?;
    let y = formula(l, x, wide)?.write(l, wide)?;
    Ok(vec![l.in_type(y, wide, own)?])
}

/// `Gelu`, exact or by the hyperbolic tangent.
pub fn gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let tanh = l.attributes.text("approximate")? == Some("tanh");
    function(l, |_, x, _| {
        let inner = if tanh {
            f("Tanh", (x * x * 0.044_715 * x + x) * FRAC_2_PI.sqrt())
        } else {
            f("Erf", x * FRAC_1_SQRT_2)
        };
        Ok(x * 0.5 * (inner + 1.0))
    })
}

/// `HardSwish`: `x * max(0, min(1, x / 6 + 0.5))`.
pub fn hard_swish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    function(l, |_, x, _| Ok(x * part_of_six(x)))
}

/// `Mish`: `x * tanh(softplus(x))`.
pub fn mish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    function(l, |_, x, _| Ok(x * f("Tanh", f("Softplus", x))))
}

/// `Swish`: `x * sigmoid(alpha * x)`.
pub fn swish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let alpha = f64::from(l.attributes.float("alpha")?.unwrap_or(1.0));
    function(l, |_, x, _| Ok(x * f("Sigmoid", if alpha == 1.0 { x.into() } else { x * alpha })))
}

/// Bits of integers, 32 at a time, each as an int64 of its own on a last axis: the smaller one is
/// set in both, the larger one in either, and the size of the difference in one of two.
pub fn bitwise(l: &mut Lowering<'_>, operation: fn(Term, Term) -> Term) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    let width = dtype.bits().min(32);
    let whole = 1_i64 << width;
    let powers = ints(&(0..width).map(|bit| 1 << bit).collect::<Vec<_>>()).write(l, DType::I64)?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for input in l.given()? {
        let x = l.in_type(input, dtype, DType::I64)?;
        let part = of("Mod", x, whole).write(l, DType::I64)?;
        low.push(part);
        if dtype.bits() > 32 {
            high.push(of("Mod", (x - part) / whole, whole).write(l, DType::I64)?);
        }
    }
    let bits = |part: LoweredValue| of("Mod", of("Unsqueeze", part, ints(&[-1])) / powers, 2);
    let mut parts = Vec::new();
    for operands in [low, high] {
        if let [a, b] = operands[..] {
            parts.push(summed(operation(bits(a), bits(b)) * powers, &[-1]).write(l, DType::I64)?);
        }
    }
    // The part with the sign of the type is below zero where that bit is set.
    let top = parts.len() - 1;
    let mut value = Term::from(parts[top]);
    if dtype.class() == Class::Signed || top > 0 {
        value = parts[top] - pick(of("Less", parts[top], whole / 2), 0, whole);
    }
    if top > 0 {
        value = value * whole + parts[0];
    }
    let value = value.write(l, DType::I64)?;
    Ok(vec![l.in_type(value, DType::I64, dtype)?])
}

/// The bits that are not set: the largest number of the type less the given one, or -1 less it.
pub fn bitwise_not(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let unsigned = dtype.class() != Class::Signed && dtype.bits() < 64;
    let most = if unsigned { (1 << dtype.bits()) - 1 } else { -1 };
    let x = l.in_type(x, dtype, DType::I64)?;
    let value = (Term::from(most) - x).write(l, DType::I64)?;
    Ok(vec![l.in_type(value, DType::I64, dtype)?])
}

/// A Cast to the type of the other input, which must be known.
pub fn cast_like(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, to) = (l.input(0)?, l.dtype_of(1)?);
    let given = l.attributes.all().map(|(name, content)| (name, content.clone()));
    let attributes: Vec<_> = [numbered("to", to)?].into_iter().chain(given).collect();
    Ok(vec![l.apply("Cast", &[x], &attributes)?])
}

/// The remainder of floats with the sign of the divisor.
pub fn floor_mod(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.dtype_of(0).is_ok_and(DType::is_float) || l.attributes.flag("fmod", false)? {
        return l.itself();
    }
    let (a, b, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    Ok(vec![floor_mod_of_floats(l, [a, b], dtype)?])
}

/// `Max` of integers, by comparisons, in operator sets that have it for floats alone.
pub fn max(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    extreme(l, ["Max", "Greater"])
}

/// `Min` of integers, by comparisons, in operator sets that have it for floats alone.
pub fn min(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    extreme(l, ["Min", "Less"])
}

/// The largest or smallest elements. Integers are compared and chosen, as older sets take floats
/// alone.
fn extreme(l: &mut Lowering<'_>, [operator, beyond]: [&'static str; 2]) -> Result<Vec<LoweredValue>> {
    if l.dtype_of(0).map_or(true, |dtype| l.admits(operator, dtype)) {
        return l.itself();
    }
    let given = l.given()?;
    let (&first, rest) = given.split_first().ok_or_else(|| errors::missing("input 0"))?;
    if rest.is_empty() {
        return l.unary("Identity");
    }
    let mut all = first;
    for &value in rest {
        all = pick(of(beyond, value, all), value, all).write(l, DType::I64)?;
    }
    Ok(vec![all])
}

/// Largest exponent of an integer that becomes multiplications.
const MAX_FACTORS: i64 = 64;

/// Powers whose exponent has another type, and powers of integers: older sets take two floats of
/// one type alone.
pub fn pow(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (Ok(own), Ok(other)) = (l.dtype_of(0), l.dtype_of(1)) else { return l.itself() };
    let (base, exponent, known) = (l.input(0)?, l.input(1)?, l.known(1)?);
    if own.is_float() {
        let same = match &known {
            _ if other == own => Some(exponent),
            Some(known) => exactly(known, own)?.map(|known| l.constant(known)).transpose()?,
            None => None,
        };
        if let Some(exponent) = same {
            return Ok(vec![l.apply("Pow", &[base, exponent], &[])?]);
        }
    } else if let Some(known) = known
        && known.shape().len() == 1
        && l.rank_of(0)? >= known.shape().dims().len()
        && let Some(whole) = exactly(&known, DType::I64)?
        && let [factors @ 1..=MAX_FACTORS] = whole.to_i64()?[..]
    {
        return Ok(vec![multiplied(l, base, factors)?]);
    }
    if own.is_float() {
        l.rounding(caveats::FUNCTION);
    }
    l.edges("results that float64 or the type does not hold, and exponents above 2^53");
    let (base, exponent) = (l.in_type(base, own, DType::F64)?, l.in_type(exponent, other, DType::F64)?);
    let power = l.apply("Pow", &[base, exponent], &[])?;
    Ok(vec![l.in_type(power, DType::F64, own)?])
}

/// The power of a value with the exponent `factors`, by squares.
fn multiplied(l: &mut Lowering<'_>, value: LoweredValue, factors: i64) -> Result<LoweredValue> {
    if factors == 1 {
        return l.apply("Identity", &[value], &[]);
    }
    let (mut square, mut left, mut product) = (value, factors, None);
    loop {
        if left % 2 == 1 {
            product = Some(match product {
                Some(product) => l.apply("Mul", &[product, square], &[])?,
                None => square,
            });
        }
        left /= 2;
        match product {
            Some(product) if left == 0 => return Ok(product),
            _ => square = l.apply("Mul", &[square, square], &[])?,
        }
    }
}

/// A comparison that equal numbers pass, by its strict form and the other one. NaN passes neither.
pub fn ordered(l: &mut Lowering<'_>, [strict, other]: [&'static str; 2]) -> Result<Vec<LoweredValue>> {
    let (a, b, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let nan = |x: LoweredValue| f("IsNaN", x);
    let passes = if !dtype.is_float() {
        f("Not", of(other, a, b))
    } else if l.admits("Equal", dtype) {
        of("Or", of(strict, a, b), of("Equal", a, b))
    } else {
        f("Not", of("Or", of("Or", of(other, a, b), nan(a)), nan(b)))
    };
    Ok(vec![passes.write(l, dtype)?])
}
