//! Laws of functions of elements.

use gradus_core::{DType, Number};
use gradus_engine::dim::Dim;
use gradus_engine::fact::Dims;
use gradus_engine::operators::ZeroSigns;

use super::layout::filled;
use super::{Call, Law, law};
use crate::attributes::{self, ContentKey};
use crate::table::{Arguments, Info, Term, TermId};
use crate::terms::{Terms, is_whole};
use crate::views::{align, broadcast_through, inverse, permuted};

pub(super) const LAWS: &[Law] = &[
    law(
        "same-cast",
        &["Cast", "CastLike"],
        "Cast(x) to the type of x = x; of a Cast that keeps every number, the Cast of what that casts",
        "each number of the first type is one of the second, NaN and -0 too",
        cast,
    ),
    law(
        "neutral",
        &["Add", "And", "Div", "Mul", "Or", "Pow", "Sub"],
        "x * 1, x / 1, x - 0, x + -0, x ** 1, x And true, x Or false = x, where x has the shape and type of the result",
        "IEEE 754 rounds none of them; x + 0 is not among them, as -0 + 0 = 0",
        neutral,
    ),
    law(
        "involution",
        &["Neg", "Not"],
        "Neg(Neg(x)) = x for floats and wrapping integers, Not(Not(x)) = x",
        "the sign bit, or the truth, changes twice",
        involution,
    ),
    law(
        "idempotent",
        &["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"],
        "f(f(x)) = f(x)",
        "f leaves each of its results",
        idempotent,
    ),
    law(
        "unseen-zeros",
        &[],
        "f(x + 0) = f(x) where no result of f depends on signs of zeros",
        "x + 0 is x but for the sign of a zero",
        unseen_zeros,
    ),
    law(
        "commutative",
        &["Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Mul", "Or", "Xor"],
        "f(a, b) = f(b, a)",
        "IEEE 754 defines sums and products of a set of two; which NaN aside",
        commutative,
    ),
    law(
        "elements",
        &[],
        "a function of elements of views or permutations = the view or permutation of the function",
        "each element is computed from those at its place alone",
        pulled,
    ),
];

/// Returns true if the second type has every number of the first, and its NaN, infinities and -0.
fn keeps(from: DType, to: DType) -> bool {
    use DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let wider: &[DType] = match from {
        F16 | BF16 => &[F32, F64],
        F32 | I32 | U32 if to == F64 => &[F64],
        I8 => &[I16, I32, I64, F16, F32, F64],
        U8 => &[I16, I32, I64, U16, U32, U64, F16, F32, F64],
        I16 => &[I32, I64, F32, F64],
        U16 => &[I32, I64, U32, U64, F32, F64],
        I32 => &[I64],
        U32 => &[I64, U64],
        _ => &[],
    };
    from == to || wider.contains(&to)
}

fn cast(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let to = call.infos.first()?.dtype?;
    let from = terms.table.dtype(x)?;
    if from == to {
        return Some(vec![x]);
    }
    // The type is that of the output; what an argument of CastLike is besides does not count.
    call.arguments.truncate(1);
    let operator = std::sync::Arc::make_mut(&mut call.operator);
    operator.name = "Cast".into();
    let name = ContentKey::Text(bytes::Bytes::from(to.to_string()));
    attributes::set(&mut operator.attributes, "to", Some(name));
    let floats8 = |dtype: DType| dtype.is_float() && dtype.bits() <= 8;
    if !floats8(to) && !floats8(from) {
        attributes::set(&mut operator.attributes, "saturate", None);
        attributes::set(&mut operator.attributes, "round_mode", None);
    }
    let inner = terms.arguments_of(x, "Cast")?.first().copied().flatten()?;
    let first = terms.table.dtype(inner)?;
    // A number as text shows its type.
    if !keeps(first, from) || to == DType::String {
        return None;
    }
    let info = call.infos[0].clone();
    Some(vec![terms.only(call, vec![Some(inner)], info)?])
}

/// Returns true if a term has the type and sizes of an output.
fn is_like(terms: &Terms<'_>, id: TermId, info: &Info) -> bool {
    let own = terms.table.info(id);
    info.dims.is_some() && own.dims == info.dims && info.dtype.is_some() && own.dtype == info.dtype
}

fn neutral(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (a, b) = (call.argument(0)?, call.argument(1)?);
    let info = call.infos.first()?;
    let dtype = info.dtype?;
    let is = |id: TermId, value: f64| match filled(terms, id) {
        Some(Number::Int(own)) => gradus_core::convert::nearest_f64(Number::Int(own)) == value,
        Some(Number::Float(own)) => own.to_bits() == value.to_bits(),
        _ => false,
    };
    let whole = is_whole(dtype);
    let second = match call.name() {
        "Mul" | "Div" | "Pow" => is(b, 1.0),
        "Sub" => is(b, 0.0),
        "Add" => is(b, if whole { 0.0 } else { -0.0 }),
        "And" => is(b, 1.0),
        _ => is(b, 0.0),
    };
    if second && is_like(terms, a, info) {
        return Some(vec![a]);
    }
    let first = match call.name() {
        "Mul" | "And" => is(a, 1.0),
        "Add" => is(a, if whole { 0.0 } else { -0.0 }),
        "Or" => is(a, 0.0),
        _ => false,
    };
    (first && is_like(terms, b, info)).then(|| vec![b])
}

fn involution(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let inner = terms.arguments_of(x, call.name())?.first().copied().flatten()?;
    Some(vec![inner])
}

fn idempotent(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let same = terms.applied(x).is_some_and(|(operator, ..)| *operator == *call.operator);
    same.then(|| vec![x])
}

fn unseen_zeros(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.row.zeros != ZeroSigns::Unseen {
        return None;
    }
    for argument in &mut call.arguments {
        let Some(x) = *argument else { continue };
        let Some(&[Some(a), Some(b)]) = terms.arguments_of(x, "Add") else { continue };
        let zero = |id: TermId| match filled(terms, id) {
            Some(Number::Int(value)) => value == 0,
            Some(Number::Float(value)) => value == 0.0,
            _ => false,
        };
        let info = terms.table.info(x);
        if zero(b) && is_like(terms, a, info) {
            *argument = Some(a);
        } else if zero(a) && is_like(terms, b, info) {
            *argument = Some(b);
        }
    }
    None
}

fn commutative(_: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.arguments.len() == 2 {
        call.arguments.sort_unstable();
    }
    None
}

/// Returns true if each element of the only output is computed from those at its place in arguments
/// that are broadcast.
fn is_of_elements(call: &Call) -> bool {
    let plain = call.row.is_of_elements() && call.operator.domain.is_empty() && call.infos.len() == 1;
    // A slope or a scale of each channel is not broadcast.
    plain
        && !matches!(call.name(), "PRelu" | "QuantizeLinear" | "DequantizeLinear" | "Dropout")
        && !call
            .attributes()
            .iter()
            .any(|(name, _)| name.is_empty() || &**name == "axis" || &**name == "broadcast")
}

fn pulled(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if !is_of_elements(call) || call.arguments.iter().any(Option::is_none) {
        return None;
    }
    let info = call.infos.first()?.clone();
    let out = info.dims.clone()?;
    let mut arguments: Vec<TermId> = call.arguments.iter().copied().flatten().collect();
    let is_full = |terms: &Terms<'_>, id: TermId| terms.table.dims(id) == Some(&out);
    // Arguments that are broadcast, where another argument has the shape of the result.
    for index in 0..arguments.len() {
        let others = (0..arguments.len()).any(|other| other != index && is_full(terms, arguments[other]));
        if let Term::Expand(inner) = *terms.table.term(arguments[index])
            && others
            && terms.table.dims(inner).is_some()
        {
            arguments[index] = inner;
        }
    }
    call.arguments = arguments.iter().copied().map(Some).collect();
    let mut full = arguments.iter().copied().filter(|&id| is_full(terms, id));
    let is_stored = |id: &TermId| matches!(terms.table.term(terms.root(*id)), Term::Constant(_));
    let first = full.clone().find(|id| !is_stored(id)).or_else(|| full.next())?;
    let root = terms.root(first);
    if root != first {
        let dims = terms.table.dims(root)?.clone();
        let groups = align(&mut terms.symbols, &out, &dims)?;
        let arguments = arguments.iter().map(|&id| {
            let own = terms.table.dims(id)?.clone();
            if own.is_empty() {
                return Some(Some(id));
            }
            let sizes = broadcast_through(&own, &groups, &out, &dims)?;
            Some(Some(reshaped_short(terms, id, sizes)))
        });
        let arguments = arguments.collect::<Option<Arguments>>()?;
        let inner = Info { dtype: info.dtype, dims: Some(dims) };
        let computed = terms.only(call, arguments, inner)?;
        return Some(vec![terms.reshaped(computed, &out)]);
    }
    let Term::Permute(base, order) = terms.table.term(first).clone() else { return None };
    let dims = terms.table.dims(base)?.clone();
    let back = inverse(&order);
    let moved = arguments.iter().map(|&id| {
        let own = terms.table.dims(id)?.clone();
        if own.is_empty() {
            return Some(Some(id));
        }
        let mut padded = vec![Dim::Known(1); out.len().checked_sub(own.len())?];
        padded.extend_from_slice(&own);
        let padded: Dims = padded.into();
        let id = terms.reshaped(id, &padded);
        let moved = terms.permuted(id, &back)?;
        Some(Some(reshaped_short(terms, moved, permuted(&padded, &back))))
    });
    let moved = moved.collect::<Option<Arguments>>()?;
    let inner = Info { dtype: info.dtype, dims: Some(dims) };
    let computed = terms.only(call, moved, inner)?;
    Some(vec![terms.permuted(computed, &order)?])
}

/// A term in a shape without the axes of size 1 in front.
fn reshaped_short(terms: &mut Terms<'_>, id: TermId, sizes: Vec<Dim>) -> TermId {
    let ones = sizes.iter().take_while(|&&dim| dim == Dim::Known(1)).count();
    terms.reshaped(id, &sizes[ones..].into())
}
