//! Laws of functions of elements.

use gradus_core::sort::SharedSort;
use gradus_core::{DType, Number};
use gradus_engine::dim::Dim;

use super::Call;
use crate::attributes::{self, ContentKey};
use crate::table::{Arguments, Info, Term, TermId, View};
use crate::terms::{Terms, is_whole};
use crate::views::{align, broadcast_through, inverse};

laws! {
    Bits "same-cast" ["Cast", "CastLike"] => cast,
        "Cast(x) to the type of x = x; of a Cast that keeps every number, the Cast of what that casts, but not of integers by floats to integers that have not all of them",
        "each number of the first type is one of the second, NaN and -0 too; the text wraps integers, and says nothing of floats beyond a type";
    Bits "neutral" ["Add", "And", "Div", "Max", "Min", "Mul", "Or", "Pow", "Sub"] => neutral,
        "x * 1, x / 1, x - 0, x + -0, x ** 1, x And true, x Or false, Min(x, infinity), Max(x, -infinity) = x, where x has the shape and type of the result; x + 0 = x where no element of x is -0",
        "IEEE 754 rounds none of them; -0 + 0 = 0; of NaN and infinity, both operators return NaN";
    Bits "reciprocal" ["Reciprocal"] => reciprocal,
        "Reciprocal(x) = 1 / x", "the text says so, and IEEE 754 rounds the quotient once";
    Bits "truth" ["Not"] => truth,
        "Not(x == 0) = Cast(x) to bool", "the text says that every number but zeros is true, NaN too";
    Bits "complement" ["Not"] => |terms, call| Some(vec![complement(terms, call.argument(0)?, &ORDERS)?]),
        "Not(a < b) = a >= b, Not(a <= b) = a > b, and the other way round, of integers",
        "one of both holds, as no integer is NaN";
    Bits "involution" ["Neg", "Not"] => |terms, call| Some(vec![terms.argument_of(call.argument(0)?, call.name())?]),
        "Neg(Neg(x)) = x for floats and wrapping integers, Not(Not(x)) = x",
        "the sign bit, or the truth, changes twice";
    Bits "idempotent" ["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"] => idempotent,
        "f(f(x)) = f(x)", "f leaves each of its results";
    Bits "commutative" ["Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Mul", "Or", "Xor"] => commutative,
        "f(a, b) = f(b, a)", "IEEE 754 defines sums and products of a set of two; which NaN aside";
    Bits "elements" [] => pulled,
        "a function of elements of views or permutations = the view or permutation of the function",
        "each element is computed from those at its place alone";
}

/// Comparisons that have a complement.
const ORDERS: [&str; 4] = ["Greater", "GreaterOrEqual", "Less", "LessOrEqual"];

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
    attributes::set(&mut operator.attributes, "to", name);
    let floats8 = |dtype: DType| dtype.is_float() && dtype.bits() <= 8;
    if !floats8(to) && !floats8(from) {
        call.drop(&["saturate", "round_mode"]);
    }
    let inner = terms.argument_of(x, "Cast")?;
    let first = terms.table.dtype(inner)?;
    let wraps = is_whole(first) && from.is_float() && to.is_integer() && !to.holds(first);
    // A number as text shows its type.
    if !from.holds(first) || wraps || to == DType::String {
        return None;
    }
    let info = call.infos[0].clone();
    Some(vec![terms.only(call, vec![Some(inner)], info)?])
}

/// Returns true if a term has the type and sizes of an output.
pub(super) fn is_like(terms: &Terms<'_>, id: TermId, info: &Info) -> bool {
    let own = terms.table.info(id);
    info.dims.is_some() && own.dims == info.dims && info.dtype.is_some() && own.dtype == info.dtype
}

fn neutral(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let &[Some(a), Some(b)] = &*call.arguments else { return None };
    let info = call.infos.first()?;
    let dtype = info.dtype?;
    let is = |terms: &Terms<'_>, id: TermId, value: f64| match terms.table.scalar(id) {
        Some(Number::Int(own)) => gradus_core::convert::nearest_f64(Number::Int(own)) == value,
        Some(Number::Float(own)) => own.to_bits() == value.to_bits(),
        _ => false,
    };
    let mut leaves = |x: TermId, other: TermId, is_second: bool| match call.name() {
        "Mul" | "And" => is(terms, other, 1.0),
        "Div" | "Pow" => is_second && is(terms, other, 1.0),
        "Add" if is(terms, other, -0.0) => true,
        "Add" => is(terms, other, 0.0) && (is_whole(dtype) || terms.has_no_negative_zero(x)),
        "Or" => is(terms, other, 0.0),
        "Min" => is(terms, other, f64::INFINITY),
        "Max" => is(terms, other, f64::NEG_INFINITY),
        _ => is_second && is(terms, other, 0.0),
    };
    let left = if leaves(a, b, true) { Some(a) } else { leaves(b, a, false).then_some(b) };
    left.filter(|&x| is_like(terms, x, info)).map(|x| vec![x])
}

fn reciprocal(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (x, info) = (call.argument(0)?, call.infos.first()?.clone());
    let one = terms.number(info.dtype?, 1.0)?;
    Some(vec![terms.operation("Div", &[one, x], info)?])
}

fn truth(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let &[Some(a), Some(b)] = terms.arguments_of(call.argument(0)?, "Equal")? else { return None };
    let x = if terms.is_zero(b) { a } else { terms.is_zero(a).then_some(b)? };
    let info = call.infos.first()?.clone();
    if terms.table.dtype(x).is_none_or(|dtype| dtype == DType::Bool)
        || terms.table.dims(x) != info.dims.as_ref()
    {
        return None;
    }
    Some(vec![terms.operation("Cast", &[x], info)?])
}

/// The comparison of integers that holds where another of these names does not.
pub(super) fn complement(terms: &mut Terms<'_>, id: TermId, names: &[&str]) -> Option<TermId> {
    let (operator, arguments, _) = terms.applied(id)?;
    let [Some(a), Some(b)] = *arguments else { return None };
    let is_one = operator.domain.is_empty() && names.contains(&&*operator.name);
    // Names of the table are in the opposite order of their complements.
    let other = ORDERS[3 - ORDERS.iter().position(|name| **name == *operator.name)?];
    if !is_one || !terms.table.dtype(a)?.is_integer() {
        return None;
    }
    let info = terms.table.info(id).clone();
    terms.operation(other, &[a, b], info)
}

fn idempotent(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let same = terms.applied(x).is_some_and(|(operator, ..)| *operator == *call.operator);
    same.then(|| vec![x])
}

fn commutative(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.arguments.len() == 2 {
        // In whatever shape an argument is.
        call.arguments.shared_sort_by_key(|id| (id.map(|id| terms.base(id)), *id));
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
        && !["", "axis", "broadcast"].iter().any(|name| call.has(name))
}

fn pulled(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if !is_of_elements(call) || call.arguments.iter().any(Option::is_none) {
        return None;
    }
    let info = call.infos.first()?.clone();
    let out = info.dims.clone()?;
    let mut arguments: Vec<TermId> = call.arguments.iter().copied().flatten().collect();
    let is_full = |terms: &Terms<'_>, id: TermId| terms.table.dims(id) == Some(&out);
    let other = |all: &[TermId], index: usize, holds: &dyn Fn(TermId) -> bool| {
        all.iter().enumerate().any(|(other, &id)| other != index && holds(id))
    };
    // Arguments that are broadcast, where another argument has the shape of the result.
    for index in 0..arguments.len() {
        if let Term::View(inner, View::Expand) = *terms.table.term(arguments[index])
            && terms.table.dims(inner).is_some()
            && other(&arguments, index, &|id| is_full(terms, id))
        {
            arguments[index] = inner;
        }
    }
    // Axes of size 1 in front say nothing where another argument has as many axes as the result.
    for index in 0..arguments.len() {
        let has_all = |id: TermId| terms.table.dims(id).is_some_and(|dims| dims.len() == out.len());
        if !is_full(terms, arguments[index]) && other(&arguments, index, &has_all) {
            arguments[index] = terms.short_shape(arguments[index]);
        }
    }
    call.arguments = arguments.iter().copied().map(Some).collect();
    // The shape of one argument, which does not depend on the shapes of the others.
    let full = arguments.iter().copied().filter(|&id| is_full(terms, id));
    let rank = |id: &TermId| {
        let base = terms.base(*id);
        (matches!(terms.table.term(base), Term::Constant(_)), base)
    };
    let first = full.min_by_key(rank)?;
    let root = terms.root(first);
    let permutation = match terms.table.term(first) {
        _ if root != first => None,
        Term::View(base, View::Permute(order)) => Some((*base, order.clone())),
        _ => return None,
    };
    let dims = terms.table.dims(permutation.as_ref().map_or(root, |(base, _)| *base))?.clone();
    let groups = if permutation.is_none() { align(&mut terms.symbols, &out, &dims)? } else { Vec::new() };
    let back = permutation.as_ref().map(|(_, order)| inverse(order));
    let arguments = arguments.into_iter().map(|id| {
        let own = terms.table.dims(id)?.clone();
        if own.is_empty() {
            return Some(Some(id));
        }
        let inner = if let Some(back) = &back {
            let mut padded = vec![Dim::ONE; out.len().checked_sub(own.len())?];
            padded.extend_from_slice(&own);
            let id = terms.reshaped(id, &padded.into());
            terms.permuted(id, back)?
        } else {
            let sizes = broadcast_through(&own, &groups, &out, &dims)?;
            terms.reshaped(id, &sizes.into())
        };
        Some(Some(terms.short_shape(inner)))
    });
    let arguments = arguments.collect::<Option<Arguments>>()?;
    let computed = terms.only(call, arguments, Info { dtype: info.dtype, dims: Some(dims) })?;
    Some(vec![match permutation {
        Some((_, order)) => terms.permuted(computed, &order)?,
        None => terms.reshaped(computed, &out),
    }])
}
