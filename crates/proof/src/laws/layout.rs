//! Laws of operators that only move elements.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Number, Shape, Tensor};
use gradus_engine::dim::Dim;
use gradus_engine::fact::Dims;

use super::reals::order;
use super::{Call, Law, law};
use crate::attributes::{self, ContentKey};
use crate::table::{Info, Term, TermId};
use crate::terms::Terms;
use crate::views::axis_of;

pub(super) const LAWS: &[Law] = &[
    law("identity", &["Identity"], "Identity(x) = x", "the text says so", |_, call| {
        Some(vec![call.argument(0)?])
    }),
    law(
        "view",
        &["Flatten", "Reshape", "Squeeze", "Unsqueeze"],
        "a view of x = the elements of x in the shape of the output; of views, of what they view",
        "elements keep their row-major order",
        view,
    ),
    law(
        "axes-of-view",
        &["Squeeze", "Unsqueeze"],
        "axes are counted from the first one, in order",
        "the text says so",
        counted,
    ),
    law(
        "transpose",
        &["Transpose"],
        "Transpose of x = x with that order of axes; axes of size 1 and axes that stay together do not count",
        "elements are moved, and moves compose",
        transpose,
    ),
    law(
        "expand",
        &["Expand", "ConstantOfShape"],
        "Expand(x) = x broadcast to the shape of the output; ConstantOfShape broadcasts a scalar",
        "elements are repeated",
        expand,
    ),
    law(
        "whole",
        &["Tile", "Pad"],
        "Tile that leaves all sizes, Pad by zeros = x",
        "each element stays at its place",
        whole,
    ),
    law(
        "slice",
        &["Slice"],
        "Slice by known bounds = slices along axes in their order; of a slice, of what that slices; Slice forwards that leaves all sizes = x",
        "positions of elements are progressions, which compose",
        slice,
    ),
    law(
        "triangle",
        &["Trilu"],
        "Trilu(x, k) = Where(column - row >= k, x, 0), of the lower triangle with <=",
        "elements are kept or replaced by 0",
        triangle,
    ),
    order(
        "product-of-parts",
        &["Split"],
        "columns of MatMul(x, w) = MatMul(x, those columns of w)",
        product_of_parts,
    ),
    law(
        "split",
        &["Split"],
        "an output of Split = the slice that begins where those before it end",
        "the text says so",
        split,
    ),
    law(
        "gather-slice",
        &["Gather"],
        "Gather by one known index = the slice of length 1, without the axis if the index is a scalar; by indices in steps, the slice with that step",
        "the text says so",
        gather,
    ),
    law(
        "concat",
        &["Concat"],
        "Concat of one input = x; of Concats along the axis, of theirs; without empty inputs; of slices that follow one another, of their common slice",
        "elements are put one after the other",
        concat,
    ),
];

fn view(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let dims = call.infos.first()?.dims.clone()?;
    let x = call.argument(0)?;
    terms.table.dims(x)?;
    Some(vec![terms.reshaped(x, &dims)])
}

fn counted(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let axes = terms.table.numbers(call.argument(1)?)?;
    let rank = terms.table.dims(call.argument(0)?)?.len();
    let rank = if call.is("Unsqueeze") { rank + axes.len() } else { rank };
    let mut all = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Option<Vec<_>>>()?;
    all.sort_unstable();
    call.arguments[1] = Some(terms.axes(all));
    None
}

fn transpose(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let rank = terms.table.dims(x)?.len();
    let order = match attributes::ints(call.attributes(), "perm") {
        Some(order) => order.iter().map(|&axis| usize::try_from(axis).ok()).collect::<Option<Vec<_>>>()?,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        return None;
    }
    Some(vec![terms.permuted(x, &order)?])
}

fn expand(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = call.infos.first()?.clone();
    let dims = info.dims?;
    let x = if call.is("Expand") {
        let x = call.argument(0)?;
        terms.table.dims(x)?;
        x
    } else {
        let value = call.attributes().iter().find(|(name, _)| &**name == "value");
        match value {
            Some((_, ContentKey::Tensor(dtype, _, bytes))) => {
                let shape = Shape::new([]).ok()?;
                let tensor = Tensor::from_bytes(*dtype, shape, bytes.clone()).ok()?;
                terms.table.tensor(&tensor)
            }
            Some(_) => return None,
            None => terms.table.tensor(&Tensor::scalar(0f32)),
        }
    };
    Some(vec![terms.expanded(x, &dims)])
}

fn whole(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let idle = i64::from(call.is("Tile"));
    terms.table.numbers(call.argument(1)?)?.iter().all(|&count| count == idle).then(|| vec![x])
}

fn slice(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let own = terms.table.dims(x)?.clone();
    let out = call.infos.first()?.dims.clone()?;
    let is_forward = |steps| terms.table.numbers(steps).is_some_and(|all| all.iter().all(|&step| step > 0));
    if out == own && call.argument(4).is_none_or(is_forward) {
        return Some(vec![x]);
    }
    let starts = terms.table.elements(call.argument(1)?)?;
    let axes = match call.argument(3) {
        Some(axes) => terms.table.numbers(axes)?,
        None => (0..starts.len()).map(i64_of).collect(),
    };
    let steps = match call.argument(4) {
        Some(steps) => terms.table.numbers(steps)?,
        None => vec![1; starts.len()],
    };
    if axes.len() != starts.len() || steps.len() != starts.len() {
        return None;
    }
    let mut all = Vec::with_capacity(axes.len());
    for ((&axis, &start), &step) in axes.iter().zip(&starts).zip(&steps) {
        let axis = axis_of(axis, own.len())?;
        let first = if step > 0 {
            first_forward(terms, start, own[axis])?
        } else {
            first_backward(terms, start, own[axis])?
        };
        all.push((axis, first, step));
    }
    all.sort_by_key(|(axis, ..)| *axis);
    if all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let mut term = x;
    for (axis, first, step) in all {
        term = terms.sliced(term, axis, (first, step), out[axis])?;
    }
    Some(vec![term])
}

/// The first position that a slice forwards takes: within the axis, counted from its start.
fn first_forward(terms: &mut Terms<'_>, start: Dim, size: Dim) -> Option<Dim> {
    let symbols = &mut terms.symbols;
    let from_start = symbols.never_below(start, 0);
    let start = match start.known() {
        Some(value) if value < 0 => {
            let at = symbols.add(size, start)?;
            return symbols.max(at, Dim::ZERO);
        }
        _ if from_start => start,
        _ => return None,
    };
    if start == Dim::ZERO { Some(start) } else { symbols.min(start, size) }
}

/// The first position that a slice backwards takes.
fn first_backward(terms: &mut Terms<'_>, start: Dim, size: Dim) -> Option<Dim> {
    let symbols = &mut terms.symbols;
    let last = symbols.subtract(size, Dim::Known(1))?;
    match start.known()? {
        value if value < 0 => symbols.add(size, start),
        _ => symbols.min(start, last),
    }
}

fn triangle(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let (info, dims) = (terms.table.info(x).clone(), terms.table.dims(x)?.clone());
    let [.., rows, columns] = dims[..] else { return None };
    let square: Dims = [rows, columns].into();
    let along = |terms: &mut Terms<'_>, size: Dim| {
        let info = |dims: &[Dim]| Info { dtype: Some(DType::I64), dims: Some(dims.into()) };
        let ends = [Dim::ZERO, size, Dim::Known(1)];
        let ends = ends.map(|end| terms.table.integers([end].into(), info(&[])));
        terms.operation("Range", &ends, info(&[size]))
    };
    let (column, row) = (along(terms, columns)?, along(terms, rows)?);
    let row = terms.reshaped(row, &[rows, Dim::Known(1)].into());
    let of_square = |dtype| Info { dtype: Some(dtype), dims: Some(square.clone()) };
    let offset = terms.operation("Sub", &[column, row], of_square(DType::I64))?;
    let from = match call.argument(1) {
        Some(from) => terms.reshaped(from, &[].into()),
        None => terms.number(DType::I64, 0.0)?,
    };
    let is_upper = call.int("upper", 1) != 0;
    let comparison = if is_upper { "GreaterOrEqual" } else { "LessOrEqual" };
    let kept = terms.operation(comparison, &[offset, from], of_square(DType::Bool))?;
    let zero = terms.number(info.dtype?, 0.0)?;
    Some(vec![terms.operation("Where", &[kept, x, zero], info)?])
}

fn product_of_parts(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let product = call.argument(0)?;
    let &[Some(x), Some(w)] = terms.arguments_of(product, "MatMul")? else { return None };
    let is_last = terms.axis(product, call.int("axis", 0))? + 1 == terms.table.dims(product)?.len();
    if !is_last || terms.table.dims(w)?.len() != 2 {
        return None;
    }
    let mut start = Dim::ZERO;
    let mut outputs = Vec::with_capacity(call.infos.len());
    for info in call.infos.clone() {
        let len = *info.dims.as_ref()?.last()?;
        let columns = terms.sliced(w, 1, (start, 1), len)?;
        outputs.push(terms.operation("MatMul", &[x, columns], info)?);
        start = terms.symbols.add(start, len)?;
    }
    Some(outputs)
}

fn split(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let axis = terms.axis(x, call.int("axis", 0))?;
    let mut start = Dim::ZERO;
    let mut outputs = Vec::with_capacity(call.infos.len());
    for info in &call.infos {
        let len = *info.dims.as_ref()?.get(axis)?;
        outputs.push(terms.sliced(x, axis, (start, 1), len)?);
        start = terms.symbols.add(start, len)?;
    }
    Some(outputs)
}

fn gather(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (x, index) = (call.argument(0)?, call.argument(1)?);
    let out = call.infos.first()?.dims.clone()?;
    let all = terms.table.elements(index)?;
    let axis = terms.axis(x, call.int("axis", 0))?;
    let [at] = all[..] else {
        let all = all.into_iter().map(Dim::known).collect::<Option<Vec<_>>>()?;
        let (first, step) = (*all.first()?, all.get(1)?.checked_sub(all[0])?);
        let goes_on = |pair: &[i64]| pair[1].checked_sub(pair[0]) == Some(step);
        if first < 0 || step < 1 || terms.table.dims(index)?.len() != 1 || !all.windows(2).all(goes_on) {
            return None;
        }
        let len = Dim::Known(i64_of(all.len()));
        return Some(vec![terms.sliced(x, axis, (Dim::Known(first), step), len)?]);
    };
    let size = terms.table.dims(x)?[axis];
    let start = match at.known()? {
        value if value < 0 => terms.symbols.add(size, at)?,
        _ => at,
    };
    let one = terms.sliced(x, axis, (start, 1), Dim::Known(1))?;
    Some(vec![terms.reshaped(one, &out)])
}

fn concat(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let first = call.argument(0)?;
    if let [only] = call.arguments[..] {
        return Some(vec![only?]);
    }
    let info = call.infos.first()?.clone();
    let rank = terms.table.dims(first).or(info.dims.as_ref())?.len();
    let axis = axis_of(attributes::int(call.attributes(), "axis")?, rank)?;
    let number = i64_of(axis);
    attributes::set(call.attributes_mut(), "axis", Some(ContentKey::Int(number)));
    let mut parts: Vec<TermId> = Vec::with_capacity(call.arguments.len());
    for &argument in &call.arguments {
        let argument = argument?;
        match terms.applied(argument) {
            Some((operator, inner, 0)) if *operator == *call.operator => {
                parts.extend(inner.iter().copied().flatten());
            }
            _ => parts.push(argument),
        }
    }
    let is_empty = |part: &TermId| terms.table.dims(*part).is_some_and(|dims| dims[axis] == Dim::ZERO);
    if !parts.iter().all(is_empty) {
        parts.retain(|part| !is_empty(part));
    }
    // Slices that follow one another.
    let mut joined: Vec<TermId> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last().copied().and_then(|last| following(terms, last, part, axis)) {
            Some(both) => *joined.last_mut()? = both,
            None => joined.push(part),
        }
    }
    if let [only] = joined[..] {
        return Some(vec![only]);
    }
    call.arguments = joined.into_iter().map(Some).collect();
    None
}

/// The slice that two slices along an axis are together.
fn following(terms: &mut Terms<'_>, first: TermId, second: TermId, axis: usize) -> Option<TermId> {
    let (whole, start, len) = bounds(terms, first, axis)?;
    let (other, next, more) = bounds(terms, second, axis)?;
    let end = terms.symbols.add(start, len)?;
    if whole != other || next != end {
        return None;
    }
    let len = terms.symbols.add(len, more)?;
    terms.sliced(whole, axis, (start, 1), len)
}

fn bounds(terms: &Terms<'_>, id: TermId, axis: usize) -> Option<(TermId, Dim, Dim)> {
    match *terms.table.term(id) {
        Term::Slice(inner, own, start, 1) if own == axis => Some((inner, start, terms.table.dims(id)?[axis])),
        _ => None,
    }
}

/// The number that all elements of a term are.
pub(super) fn filled(terms: &Terms<'_>, id: TermId) -> Option<Number> {
    terms.table.scalar(id)
}
