//! Shapes of operators that compute each element on its own, and what they make of symbolic
//! elements.
//!
//! | rule | operators |
//! |---|---|
//! | as the first input | functions of one tensor, normalisations, activations |
//! | broadcast | functions of two or more tensors, since version 7; before, as the first input |
//! | integers | `Add`, `Sub`, `Mul`, `Div`, `Mod`, `Min`, `Max`, `Pow`, comparisons, logic, `Where`, `Neg`, `Abs`, `Sign`, `Clip`, `Cast` are computed on symbols |
//! | fractions | `Cast` to a float, `Add`, `Sub`, `Mul`, `Div`, `Floor`, `Ceil`, `Cast` back: exactly, as long as the numbers fit the float's precision, which is an assumption where it is not known |

use std::sync::Arc;

use gradus_core::float::Parts;
use gradus_core::{DType, Number, convert};

use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Elements, Fact, Fraction, TensorFact, known_shape};
use crate::infer::{InferContext, InferError, InferResult};
use crate::operators::indices;

/// As the first input.
pub(crate) fn same(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// As the first input, which has the axis.
pub(crate) fn cumulative(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.dims(0)?.len();
    if let Some(axes) = cx.known_integers(1) {
        cx.axes(&axes, rank)?;
    }
    same(cx)
}

/// As the first input, whose element type it has.
pub(crate) fn microsoft_same(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut dims = cx.dims(0)?;
    // The bias and the gate are halves of one axis.
    if cx.operator == "BiasSplitGelu"
        && let [rest @ .., last] = &*dims
    {
        let half = cx.floor_divide(*last, Dim::Known(2));
        dims = rest.iter().copied().chain([half]).collect();
    }
    if cx.operator == "Rfft" {
        return Err(InferError::unknown("the shape is not modelled"));
    }
    Ok(vec![Fact::Tensor(TensorFact::new(cx.dtype(0), Some(dims)))])
}

/// The dimensions that all inputs from one on broadcast to; those of the first where the
/// attribute `broadcast` says how the second is brought to its shape.
pub(crate) fn broadcast_inputs(cx: &mut InferContext<'_, '_>, first: usize) -> Result<Vec<Dim>, InferError> {
    // OpenVINO says it by node.
    if matches!(cx.attributes.text("auto_broadcast")?, Some("none" | "pdpd")) {
        return Ok(cx.dims(first)?.to_vec());
    }
    if cx.attributes.int("broadcast")?.is_some() {
        return Ok(cx.dims(first)?.to_vec());
    }
    let all = (first..cx.count()).map(|input| cx.dims(input)).collect::<Result<Vec<_>, _>>()?;
    cx.broadcast(&all)
}

pub(crate) fn qlinear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let all = [cx.dims(0)?, cx.dims(3)?];
    let dims = cx.broadcast(&all)?;
    Ok(vec![Fact::Tensor(TensorFact::new(cx.dtype(0), Some(dims.into())))])
}

pub(crate) fn bit_cast(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("to")?;
    Ok(vec![Fact::Tensor(TensorFact::new(to, Some(cx.dims(0)?)))])
}

/// The elements of integers made from those of one input.
fn mapped(
    cx: &mut InferContext<'_, '_>,
    of: &mut dyn FnMut(&mut InferContext<'_, '_>, Dim) -> Option<Dim>,
) -> Option<Elements> {
    let all = cx.integers(0)?;
    let results = all.iter().map(|&dim| of(cx, dim)).collect::<Option<Vec<_>>>()?;
    Some(Elements::Integers(results.into()))
}

pub(crate) fn unary(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let dtype = cx.dtype(0);
    let whole = dtype.is_some_and(|dtype| dtype.is_integer() || dtype == DType::Bool);
    let mut elements = None;
    if whole {
        let dtype = dtype.unwrap_or(DType::I64);
        let bounds = match cx.operator {
            "Clip" => [1, 2].map(|input| cx.has(input).then(|| cx.integer(input))),
            _ => [None, None],
        };
        let name = cx.operator;
        elements = mapped(cx, &mut |cx, dim| {
            let symbols = cx.symbols();
            let result = match name {
                "Neg" => symbols.negate(dim),
                "Not" => symbols.subtract(Dim::ONE, dim),
                "Relu" => symbols.greatest(dim, Dim::ZERO),
                "Abs" => {
                    let opposite = symbols.negate(dim)?;
                    symbols.greatest(dim, opposite)
                }
                "Sign" => {
                    let positive = symbols.least(dim, Dim::ONE)?;
                    symbols.greatest(positive, Dim::Known(-1))
                }
                _ => {
                    let [low, high] = bounds;
                    // A bound that is given but not known leaves nothing known.
                    let raised = match low {
                        Some(low) => symbols.greatest(dim, low?)?,
                        None => dim,
                    };
                    match high {
                        Some(high) => symbols.least(raised, high?),
                        None => Some(raised),
                    }
                }
            }?;
            cx.fits(result, dtype).then_some(result)
        });
    }
    Ok(vec![Fact::Tensor(TensorFact {
        dtype: None,
        dims: Some(dims),
        elements: elements.unwrap_or_default(),
    })])
}

pub(crate) fn rounding(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let up = cx.operator == "Ceil";
    let mut elements = Elements::Unknown;
    if let Elements::Fractions(all) = cx.elements(0) {
        let whole = all.iter().map(|fraction| {
            let Fraction { over, under, .. } = *fraction;
            let symbols = cx.symbols();
            let rounded = if up {
                symbols.ceil_divide(over, Dim::Known(under))
            } else {
                symbols.floor_divide(over, Dim::Known(under))
            };
            rounded.map(Fraction::whole)
        });
        elements = whole
            .collect::<Option<Vec<_>>>()
            .map_or(Elements::Unknown, |all| Elements::Fractions(all.into()));
    }
    Ok(vec![Fact::Tensor(TensorFact { dtype: None, dims: Some(dims), elements })])
}

/// Bits of a float that is exact up to two to that power.
fn precision(dtype: DType) -> Option<u32> {
    match dtype {
        DType::F64 => Some(53),
        DType::F32 => Some(24),
        DType::F16 => Some(11),
        DType::BF16 => Some(8),
        _ => None,
    }
}

/// Returns true if an integer is exact in a float type: proved, or assumed where that
/// is open.
fn exact(cx: &mut InferContext<'_, '_>, dim: Dim, dtype: DType) -> bool {
    let Some(bits) = precision(dtype) else { return false };
    let most = 1i64 << bits;
    let bounds = cx.symbols().bounds(dim);
    if let Dim::Known(value) = dim {
        return value.unsigned_abs() <= most.unsigned_abs();
    }
    let low = bounds.least().is_some_and(|least| least >= -most);
    // No tensor has a dimension or a number of elements beyond the integers of float64.
    let high = dtype == DType::F64 || bounds.greatest().is_some_and(|greatest| greatest <= most);
    (low || cx.may_assume(dim, ">=", Dim::Known(-most)))
        && (high || cx.may_assume(dim, "<=", Dim::Known(most)))
}

/// A finite float as a fraction, if both parts fit.
pub(crate) fn fraction_of(number: Number) -> Option<Fraction> {
    let value = match number {
        Number::Int(value) => {
            return i64::try_from(value).ok().map(|value| Fraction::whole(Dim::Known(value)));
        }
        Number::Float(value) if value.is_finite() => value,
        _ => return None,
    };
    let Parts { negative, mantissa, exponent, .. } = Parts::of_float(value);
    if mantissa == 0 {
        return Some(Fraction::whole(Dim::ZERO));
    }
    let zeros = mantissa.trailing_zeros();
    let (mantissa, exponent) =
        (i64::try_from(mantissa >> zeros).ok()?, exponent + i32::try_from(zeros).ok()?);
    let mantissa = if negative { -mantissa } else { mantissa };
    let power = 1i64.checked_shl(exponent.unsigned_abs()).filter(|power| *power > 0)?;
    if exponent >= 0 {
        Some(Fraction::whole(Dim::Known(mantissa.checked_mul(power)?)))
    } else {
        Some(Fraction { over: Dim::Known(mantissa), under: power, rounded: false })
    }
}

pub(crate) fn cast(cx: &mut InferContext<'_, '_>, to: Option<DType>) -> InferResult {
    let dims = cx.known_dims(0);
    if dims.is_none() {
        return match to {
            Some(to) => Ok(vec![Fact::tensor_type(Some(to))]),
            None => Err(InferError::Unknown(Some(0), "has unknown rank".into())),
        };
    }
    let from = cx.dtype(0);
    if to.is_some() && from == to {
        return Ok(vec![cx.read_fact(0)]);
    }
    let mut elements = Elements::Unknown;
    // A constant is cast to the type of what is not one.
    if cx.has(1)
        && let (Some(to), Some(constant)) = (to, cx.constant(0))
        && to.is_integer()
    {
        let cast = convert::cast(&constant, to, convert::Rules::SATURATING)?;
        return Ok(vec![Fact::Tensor(TensorFact::of(cast))]);
    }
    if let (Some(to), Some(from)) = (to, from) {
        let whole = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
        elements = match cx.elements(0) {
            Elements::Integers(all) if to.is_float() => {
                let each = all.iter().map(|&dim| exact(cx, dim, to).then(|| Fraction::whole(dim)));
                let each = each.collect::<Option<Vec<_>>>();
                // Tensors whose elements are all known are evaluated.
                let symbolic = all.iter().any(|dim| dim.known().is_none());
                each.filter(|_| symbolic).map_or(Elements::Unknown, |all| Elements::Fractions(all.into()))
            }
            Elements::Integers(all) if to == DType::Bool => {
                let truth = all
                    .iter()
                    .map(|&dim| compare(cx, "Equal", dim, Dim::ZERO).map(|zero| Dim::Known(1 - zero)));
                truth
                    .collect::<Option<Vec<_>>>()
                    .map_or(Elements::Unknown, |all| Elements::Integers(all.into()))
            }
            Elements::Integers(all) if whole(to) && all.iter().all(|&dim| cx.fits(dim, to)) => {
                Elements::Integers(all)
            }
            Elements::Progression(both)
                if whole(from) && to.is_integer() && (to == DType::I64 || from == to) =>
            {
                Elements::Progression(both)
            }
            Elements::Fractions(all) if to.is_integer() => {
                let each = all.iter().map(|fraction| {
                    let whole = cx.symbols().truncated_divide(fraction.over, Dim::Known(fraction.under))?;
                    cx.fits(whole, to).then_some(whole)
                });
                each.collect::<Option<Vec<_>>>()
                    .map_or(Elements::Unknown, |all| Elements::Integers(all.into()))
            }
            Elements::Fractions(all)
                if to.is_float()
                    && all.iter().all(|fraction| !fraction.rounded && exact(cx, fraction.over, to)) =>
            {
                Elements::Fractions(all)
            }
            _ => Elements::Unknown,
        };
    }
    Ok(vec![Fact::Tensor(TensorFact { dtype: to, dims, elements })])
}

/// Returns true if a comparison holds, if that is decided: 0 or 1.
fn compare(cx: &mut InferContext<'_, '_>, name: &str, a: Dim, b: Dim) -> Option<i64> {
    let apart = cx.symbols().subtract(a, b)?;
    let bounds = cx.symbols().bounds(apart);
    let (least, most) = (bounds.least(), bounds.greatest());
    let above = |bound: Option<i64>, limit: i64| bound.is_some_and(|bound| bound >= limit);
    let below = |bound: Option<i64>, limit: i64| bound.is_some_and(|bound| bound <= limit);
    let decide = |yes: bool, no: bool| {
        if yes {
            Some(1)
        } else if no {
            Some(0)
        } else {
            None
        }
    };
    match name {
        "Equal" => decide(apart == Dim::ZERO, above(least, 1) || below(most, -1)),
        "NotEqual" => decide(above(least, 1) || below(most, -1), apart == Dim::ZERO),
        "Less" => decide(below(most, -1), above(least, 0)),
        "LessOrEqual" => decide(below(most, 0), above(least, 1)),
        "Greater" => decide(above(least, 1), below(most, 0)),
        _ => decide(above(least, 0), below(most, -1)),
    }
}

/// The element that an operator makes of two integers, if it has a canonical form.
fn combined(cx: &mut InferContext<'_, '_>, name: &str, a: Dim, b: Dim) -> Option<Dim> {
    let (name, fmod) = match name {
        "Fmod" => ("Mod", true),
        other => (other, false),
    };
    let symbols = cx.symbols();
    match name {
        "Add" => symbols.add(a, b),
        "Sub" => symbols.subtract(a, b),
        "Mul" => symbols.multiply(a, b),
        "Min" => symbols.least(a, b),
        "Max" => symbols.greatest(a, b),
        "Mod" if !fmod => symbols.modulo(a, b),
        "FloorDiv" => match b {
            Dim::Known(by) if by < 0 => {
                let (a, b) = (symbols.negate(a)?, symbols.negate(b)?);
                symbols.floor_divide(a, b)
            }
            _ if symbols.at_least(b, 0) => symbols.floor_divide(a, b),
            _ => None,
        },
        "Div" | "Mod" => {
            let quotient = match b {
                Dim::Known(by) if by < 0 => {
                    let positive = symbols.truncated_divide(a, Dim::Known(by.checked_neg()?))?;
                    symbols.negate(positive)
                }
                // A divisor that is not negative is above zero where there is a quotient.
                _ if symbols.at_least(b, 0) => symbols.truncated_divide(a, b),
                _ => None,
            }?;
            if name == "Div" {
                return Some(quotient);
            }
            let whole = symbols.multiply(quotient, b)?;
            symbols.subtract(a, whole)
        }
        "Pow" => {
            let exponent = b.known().filter(|exponent| (0..=8).contains(exponent))?;
            symbols.product((0..exponent).map(|_| a))
        }
        "And" | "Or" | "Xor" => match (name, a.min(b), a.max(b)) {
            ("And", Dim::Known(0), _) | ("Xor", Dim::Known(1), Dim::Known(1)) => Some(Dim::ZERO),
            ("And", Dim::Known(1), other) | ("Or" | "Xor", Dim::Known(0), other) => Some(other),
            ("Or", Dim::Known(1), _) => Some(Dim::ONE),
            _ => None,
        },
        _ => compare(cx, name, a, b).map(Dim::Known),
    }
}

/// The elements of inputs of integers, brought to the shape of the result.
fn aligned(cx: &mut InferContext<'_, '_>, inputs: &[usize], result: &[Dim]) -> Option<Vec<Vec<Dim>>> {
    let result = known_shape(result).filter(|shape| shape.len() <= crate::fact::MOST_INTEGERS)?;
    let each = inputs.iter().map(|&input| {
        let all = cx.integers(input)?;
        let shape = cx.tensor(input)?.shape()?;
        Some(indices::broadcast(shape.dims(), result.dims()).into_iter().map(|place| all[place]).collect())
    });
    each.collect()
}

pub(crate) fn binary(cx: &mut InferContext<'_, '_>) -> InferResult {
    if cx.operator == "Mod" && cx.attributes.flag("fmod", false)? {
        cx.operator = "Fmod";
    }
    let dims: Dims = broadcast_inputs(cx, 0)?.into();
    let elements = binary_elements(cx, &dims).unwrap_or_default();
    let dtype = match elements {
        Elements::Unknown => None,
        _ => match cx.operator {
            "Equal" | "NotEqual" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "And" | "Or"
            | "Xor" => Some(DType::Bool),
            _ => cx.dtype(0),
        },
    };
    Ok(vec![Fact::Tensor(TensorFact { dtype, dims: Some(dims), elements })])
}

fn binary_elements(cx: &mut InferContext<'_, '_>, dims: &[Dim]) -> Option<Elements> {
    let dtype = cx.dtype(0)?;
    let name = cx.operator;
    if cx.attributes.get("broadcast").is_some() {
        return None;
    }
    if dtype.is_float() {
        return fractions(cx, name, dtype, dims);
    }
    if let Some(progression) = progression(cx, name, dtype) {
        return Some(progression);
    }
    let inputs: Vec<_> = (0..cx.count()).collect();
    let all = aligned(cx, &inputs, dims)?;
    let count = all.first()?.len();
    let logical = matches!(
        name,
        "Equal" | "NotEqual" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "And" | "Or" | "Xor"
    );
    let mut results = Vec::with_capacity(count);
    for i in 0..count {
        let mut result = Some(all[0][i]);
        for operand in &all[1..] {
            result = result.and_then(|result| combined(cx, name, result, operand[i]));
        }
        let known = all.iter().all(|operand| operand[i].known().is_some());
        let result = match result {
            Some(result) if logical || cx.fits(result, dtype) => result,
            // Known elements are evaluated, with the wrap of their type.
            _ if known => return None,
            _ if logical => {
                cx.data("a comparison that the extents decide", Bounds::between(Some(0), Some(1)))
            }
            _ => cx.data("an element that has no canonical form", Bounds::ANY),
        };
        results.push(result);
    }
    Some(Elements::Integers(results.into()))
}

/// A progression and a single number make a progression.
fn progression(cx: &mut InferContext<'_, '_>, name: &str, dtype: DType) -> Option<Elements> {
    if !matches!(name, "Add" | "Sub" | "Mul") || dtype != DType::I64 {
        return None;
    }
    let (first, step, other, flipped) = match (cx.elements(0), cx.elements(1)) {
        (Elements::Progression(both), _) => (both.0, both.1, cx.integer(1)?, false),
        (_, Elements::Progression(both)) => (both.0, both.1, cx.integer(0)?, true),
        _ => return None,
    };
    // The single number must not broadcast the progression to more axes.
    let (long, single) = if flipped { (1, 0) } else { (0, 1) };
    if cx.dims(single).ok()?.len() > cx.dims(long).ok()?.len() {
        return None;
    }
    let symbols = cx.symbols();
    let both = match (name, flipped) {
        ("Add", _) => (symbols.add(first, other)?, step),
        ("Sub", false) => (symbols.subtract(first, other)?, step),
        ("Sub", true) => (symbols.subtract(other, first)?, symbols.negate(step)?),
        _ => (symbols.multiply(first, other)?, symbols.multiply(step, other)?),
    };
    Some(Elements::Progression(Arc::new(both)))
}

fn fractions(cx: &mut InferContext<'_, '_>, name: &str, dtype: DType, dims: &[Dim]) -> Option<Elements> {
    // For floats, a floor division is a division.
    let name = if name == "FloorDiv" { "Div" } else { name };
    let is_fraction = |elements: &Elements| matches!(elements, Elements::Fractions(_));
    if !matches!(name, "Add" | "Sub" | "Mul" | "Div" | "FloorDiv") {
        return None;
    }
    if !(is_fraction(&cx.elements(0)) || is_fraction(&cx.elements(1))) {
        return None;
    }
    let (a, b) = (cx.fractions(0)?, cx.fractions(1)?);
    let result = known_shape(dims)?;
    let shapes = [cx.tensor(0)?.shape()?, cx.tensor(1)?.shape()?];
    let places = shapes.map(|shape| indices::broadcast(shape.dims(), result.dims()));
    let each = places[0].iter().zip(&places[1]).map(|(&i, &j)| computed(cx, name, dtype, a[i], b[j]));
    Some(Elements::Fractions(each.collect::<Option<Vec<_>>>()?.into()))
}

fn computed(
    cx: &mut InferContext<'_, '_>,
    name: &str,
    dtype: DType,
    a: Fraction,
    b: Fraction,
) -> Option<Fraction> {
    if a.rounded || b.rounded {
        return None;
    }
    let symbols = cx.symbols();
    let (over, under) = match name {
        "Mul" => (symbols.multiply(a.over, b.over)?, a.under.checked_mul(b.under)?),
        "Div" => match b.over {
            Dim::Known(0) => return None,
            Dim::Known(by) => {
                let under = a.under.checked_mul(by.checked_abs()?)?;
                let over = symbols.multiply(a.over, Dim::Known(b.under.checked_mul(by.signum())?))?;
                (over, under)
            }
            by @ Dim::Symbolic(_) => {
                // Exact quotients only: whether another is rounded up to an integer is not
                // known.
                let over = symbols.multiply(a.over, Dim::Known(b.under))?;
                if !symbols.divides(by, over) {
                    return None;
                }
                (symbols.floor_divide(over, by)?, a.under)
            }
        },
        _ => {
            let (x, y) = (
                symbols.multiply(a.over, Dim::Known(b.under))?,
                symbols.multiply(b.over, Dim::Known(a.under))?,
            );
            let over = if name == "Add" { symbols.add(x, y) } else { symbols.subtract(x, y) };
            (over?, a.under.checked_mul(b.under)?)
        }
    };
    let (over, under) = lowest(cx, over, under)?;
    let power_of_two = under & (under - 1) == 0;
    // A quotient of integers within the precision is never rounded to an integer that it
    // does not have.
    if !power_of_two && name != "Div" {
        return None;
    }
    exact(cx, over, dtype).then_some(Fraction { over, under, rounded: !power_of_two })
}

/// The fraction in lower terms.
fn lowest(cx: &mut InferContext<'_, '_>, over: Dim, under: i64) -> Option<(Dim, i64)> {
    let (mut over, mut under) = (over, under);
    for factor in [2, 3, 5, 7] {
        while under % factor == 0 && cx.symbols().divides(Dim::Known(factor), over) {
            over = cx.symbols().floor_divide(over, Dim::Known(factor))?;
            under /= factor;
        }
    }
    if cx.symbols().divides(Dim::Known(under), over) {
        over = cx.symbols().floor_divide(over, Dim::Known(under))?;
        under = 1;
    }
    Some((over, under))
}

pub(crate) fn select(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims: Dims = broadcast_inputs(cx, 0)?.into();
    let dtype = cx.dtype(1);
    let elements = aligned(cx, &[0, 1, 2], &dims).map(|all| {
        let each = (0..all[0].len()).map(|i| match (all[0][i], all[1][i], all[2][i]) {
            (_, yes, no) if yes == no => yes,
            (Dim::Known(condition), yes, no) => {
                if condition != 0 {
                    yes
                } else {
                    no
                }
            }
            (_, yes, no) => {
                let bounds = cx.symbols().bounds(yes).either(cx.symbols().bounds(no));
                cx.data("an element that a condition decides", bounds)
            }
        });
        Elements::Integers(each.collect())
    });
    Ok(vec![Fact::Tensor(TensorFact { dtype, dims: Some(dims), elements: elements.unwrap_or_default() })])
}

pub(crate) fn trilu(cx: &mut InferContext<'_, '_>) -> InferResult {
    match cx.dims(0)?.len() {
        0 | 1 => Err(InferError::shape("the input has no two axes")),
        _ => same(cx),
    }
}

pub(crate) fn cast_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("to")?;
    cast(cx, to)
}

pub(crate) fn cast_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.dtype(1);
    cast(cx, to)
}

pub(crate) fn bit_shift(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::shaped(broadcast_inputs(cx, 0)?)])
}

pub(crate) fn q_linear_where(cx: &mut InferContext<'_, '_>) -> InferResult {
    let all = [cx.dims(0)?, cx.dims(1)?, cx.dims(4)?];
    let dims = cx.broadcast(&all)?;
    Ok(vec![Fact::Tensor(TensorFact::new(cx.dtype(1), Some(dims.into())))])
}
