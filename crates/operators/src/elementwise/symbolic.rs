//! Operations on symbolic elements: integers, progressions and fractions.

use std::sync::Arc;

use gradus_core::DType;

use crate::dim::{Condition, Dim, Relation, Symbols};
use crate::fact::{Elements, Fraction, known_shape};
use crate::indices;
use crate::infer::InferContext;
use crate::operation::Operation;

/// Returns true if a comparison holds, if that is decided: 0 or 1.
pub(super) fn compare(cx: &mut InferContext<'_, '_>, operation: Operation, a: Dim, b: Dim) -> Option<i64> {
    let apart = cx.symbols().subtract(a, b)?;
    let bounds = cx.symbols().bounds(apart);
    let (min, most) = (bounds.lower(), bounds.upper());
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
    match operation {
        Operation::Equal => decide(apart == Dim::ZERO, above(min, 1) || below(most, -1)),
        Operation::NotEqual => decide(above(min, 1) || below(most, -1), apart == Dim::ZERO),
        Operation::Less => decide(below(most, -1), above(min, 0)),
        Operation::LessOrEqual => decide(below(most, 0), above(min, 1)),
        Operation::Greater => decide(above(min, 1), below(most, 0)),
        Operation::GreaterOrEqual => decide(above(min, 0), below(most, -1)),
        _ => None,
    }
}

/// The condition under which a comparison, or a logical operation on comparisons, holds.
pub(super) fn condition_of(
    cx: &mut InferContext<'_, '_>,
    operation: Operation,
    a: Dim,
    b: Dim,
) -> Option<Condition> {
    let symbols = cx.symbols();
    let above_zero = |number| Some(Condition::new(number, Relation::AtLeast, Dim::ONE));
    match operation {
        Operation::Equal => Some(Condition::new(a, Relation::Equal, b)),
        Operation::NotEqual => Some(Condition::new(a, Relation::NotEqual, b)),
        Operation::LessOrEqual => Some(Condition::new(a, Relation::AtMost, b)),
        Operation::GreaterOrEqual => Some(Condition::new(a, Relation::AtLeast, b)),
        Operation::Less => above_zero(symbols.subtract(b, a)?),
        Operation::Greater => above_zero(symbols.subtract(a, b)?),
        Operation::And | Operation::Or => {
            let (a, b) = (symbols.above_zero_if(a)?, symbols.above_zero_if(b)?);
            let both = if operation == Operation::And { symbols.min(a, b) } else { symbols.max(a, b) };
            above_zero(both?)
        }
        _ => None,
    }
}

/// The element that an operation makes of two integers, if it has a canonical form.
pub(super) fn combined(cx: &mut InferContext<'_, '_>, operation: Operation, a: Dim, b: Dim) -> Option<Dim> {
    let symbols = cx.symbols();
    match operation {
        Operation::Add => symbols.add(a, b),
        Operation::Sub => symbols.subtract(a, b),
        Operation::Mul => symbols.multiply(a, b),
        Operation::Min => symbols.min(a, b),
        Operation::Max => symbols.max(a, b),
        Operation::Mod => symbols.modulo(a, b),
        Operation::FloorDiv => floor_quotient(symbols, a, b),
        Operation::Div => truncated_quotient(symbols, a, b),
        Operation::Fmod => {
            let quotient = truncated_quotient(symbols, a, b)?;
            let whole = symbols.multiply(quotient, b)?;
            symbols.subtract(a, whole)
        }
        Operation::Pow => {
            let exponent = b.known().filter(|exponent| (0..=8).contains(exponent))?;
            symbols.product((0..exponent).map(|_| a))
        }
        Operation::And | Operation::Or | Operation::Xor => logical(operation, a, b),
        _ => compare(cx, operation, a, b).map(Dim::Known),
    }
}

fn floor_quotient(symbols: &mut Symbols, a: Dim, b: Dim) -> Option<Dim> {
    match b {
        Dim::Known(by) if by < 0 => {
            let (a, b) = (symbols.negate(a)?, symbols.negate(b)?);
            symbols.floor_divide(a, b)
        }
        // A divisor that is not negative is above zero where there is a quotient.
        _ if symbols.at_least(b, 0) => symbols.floor_divide(a, b),
        _ => None,
    }
}

fn truncated_quotient(symbols: &mut Symbols, a: Dim, b: Dim) -> Option<Dim> {
    match b {
        Dim::Known(by) if by < 0 => {
            let positive = symbols.truncated_divide(a, Dim::Known(by.checked_neg()?))?;
            symbols.negate(positive)
        }
        _ if symbols.at_least(b, 0) => symbols.truncated_divide(a, b),
        _ => None,
    }
}

/// A logical operation on truth values of which one may be unknown.
fn logical(operation: Operation, a: Dim, b: Dim) -> Option<Dim> {
    use Operation::{And, Or, Xor};
    match (operation, a.min(b), a.max(b)) {
        (And, Dim::Known(0), _) | (Xor, Dim::Known(1), Dim::Known(1)) => Some(Dim::ZERO),
        (And, Dim::Known(1), other) | (Or | Xor, Dim::Known(0), other) => Some(other),
        (Or, Dim::Known(1), _) => Some(Dim::ONE),
        _ => None,
    }
}

/// A progression and a single number make a progression.
pub(super) fn progression(
    cx: &mut InferContext<'_, '_>,
    operation: Operation,
    dtype: DType,
) -> Option<Elements> {
    if !matches!(operation, Operation::Add | Operation::Sub | Operation::Mul) || dtype != DType::I64 {
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
    let both = match (operation, flipped) {
        (Operation::Add, _) => (symbols.add(first, other)?, step),
        (Operation::Sub, false) => (symbols.subtract(first, other)?, step),
        (Operation::Sub, true) => (symbols.subtract(other, first)?, symbols.negate(step)?),
        _ => (symbols.multiply(first, other)?, symbols.multiply(step, other)?),
    };
    Some(Elements::Progression(Arc::new(both)))
}

/// The elements of floats that are fractions of symbols.
pub(super) fn fractions(
    cx: &mut InferContext<'_, '_>,
    operation: Operation,
    dtype: DType,
    dims: &[Dim],
) -> Option<Elements> {
    // For floats, a floor division is a division.
    let operation = if operation == Operation::FloorDiv { Operation::Div } else { operation };
    let is_fraction = |elements: &Elements| matches!(elements, Elements::Fractions(_));
    let known = match operation {
        Operation::Add | Operation::Sub | Operation::Mul | Operation::Div => true,
        // These take any number of inputs.
        Operation::Min | Operation::Max => cx.count() == 2,
        _ => false,
    };
    if !known {
        return None;
    }
    if !(is_fraction(&cx.elements(0)) || is_fraction(&cx.elements(1))) {
        return None;
    }
    let (a, b) = (cx.fractions(0)?, cx.fractions(1)?);
    let result = known_shape(dims)?;
    let shapes = [cx.tensor(0)?.shape()?, cx.tensor(1)?.shape()?];
    let places = shapes.map(|shape| indices::broadcast(shape.dims(), result.dims()));
    let each = places[0].iter().zip(&places[1]).map(|(&i, &j)| computed(cx, operation, dtype, a[i], b[j]));
    Some(Elements::Fractions(each.collect::<Option<Vec<_>>>()?.into()))
}

fn computed(
    cx: &mut InferContext<'_, '_>,
    operation: Operation,
    dtype: DType,
    a: Fraction,
    b: Fraction,
) -> Option<Fraction> {
    let ordered = matches!(operation, Operation::Min | Operation::Max);
    // Numbers keep their order where they are rounded.
    if (a.rounded || b.rounded) && !ordered {
        return None;
    }
    let symbols = cx.symbols();
    let (over, under) = match operation {
        Operation::Mul => (symbols.multiply(a.over, b.over)?, a.under.checked_mul(b.under)?),
        Operation::Div => match b.over {
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
            let over = match operation {
                Operation::Add => symbols.add(x, y),
                Operation::Min => symbols.min(x, y),
                Operation::Max => symbols.max(x, y),
                _ => symbols.subtract(x, y),
            };
            (over?, a.under.checked_mul(b.under)?)
        }
    };
    let (over, under) = lowest(cx, over, under)?;
    if ordered {
        return Some(Fraction { over, under, rounded: a.rounded || b.rounded });
    }
    let power_of_two = under & (under - 1) == 0;
    // A quotient of integers within the precision is never rounded to an integer that it
    // does not have.
    if !power_of_two && operation != Operation::Div {
        return None;
    }
    let result = Fraction { over, under, rounded: !power_of_two };
    exact(cx, result, dtype).then_some(result)
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

/// Returns true if the integer above a fraction's bar is exact in a float type: proved, or
/// assumed where that is open and leaves most of the numbers that sizes are.
pub(super) fn exact(cx: &mut InferContext<'_, '_>, fraction: Fraction, dtype: DType) -> bool {
    let Some(bits) = precision(dtype) else { return false };
    let (dim, most) = (fraction.over, 1i64 << bits);
    let bounds = cx.symbols().bounds(dim);
    if let Dim::Known(value) = dim {
        return value.unsigned_abs() <= most.unsigned_abs();
    }
    // In float32, numbers up to 4096: for a step of 0.3, which is 10066330/2^25, up to 3 else.
    let wide = fraction.under <= 1 << (bits / 2);
    let low = bounds.lower().is_some_and(|min| min >= -most);
    // No tensor has a dimension or a number of elements beyond the integers of float64.
    let high = dtype == DType::F64 || bounds.upper().is_some_and(|max| max <= most);
    (low || wide && cx.may_assume(dim, Relation::AtLeast, Dim::Known(-most)))
        && (high || wide && cx.may_assume(dim, Relation::AtMost, Dim::Known(most)))
}
