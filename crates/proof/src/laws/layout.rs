//! Laws of operators that only move elements.

use gradus_core::convert::i64_of;
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Shape, Tensor};
use gradus_engine::dim::Dim;

use super::Call;
use super::reals::SUMS;
use crate::attributes::{self, ContentKey};
use crate::table::{Info, Term, TermId, View};
use crate::terms::Terms;
use crate::views::axis_of;

laws! {
    Bits "identity" ["Identity"] => |_, call| Some(vec![call.argument(0)?]),
        "Identity(x) = x", "the text says so";
    Bits "view" ["Flatten", "Reshape", "Squeeze", "Unsqueeze"] => view,
        "a view of x = the elements of x in the shape of the output; of views, of what they view",
        "elements keep their row-major order";
    Bits "axes-of-view" ["Squeeze", "Unsqueeze"] => counted,
        "axes are counted from the first one, in order", "the text says so";
    Bits "transpose" ["Transpose"] => transpose,
        "Transpose of x = x with that order of axes; axes of size 1 and axes that stay together do not count",
        "elements are moved, and moves compose";
    Bits "expand" ["Expand", "ConstantOfShape"] => expand,
        "Expand(x) = x broadcast to the shape of the output; ConstantOfShape broadcasts a scalar",
        "elements are repeated";
    Bits "whole" ["Tile", "Pad"] => whole,
        "Tile that leaves all sizes, Pad by zeros = x", "each element stays at its place";
    Bits "slice" ["Slice"] => slice,
        "Slice by known bounds = slices along axes in their order; of a slice, of what that slices; Slice forwards that leaves all sizes = x",
        "positions of elements are progressions, which compose";
    Bits "triangle" ["Trilu"] => triangle,
        "Trilu(x, k) = Where(column - row >= k, x, 0), of the lower triangle with <=",
        "elements are kept or replaced by 0";
    Order "product-of-parts" ["Split"] => product_of_parts,
        "columns of MatMul(x, w) = MatMul(x, those columns of w)", SUMS;
    Bits "split" ["Split"] => split,
        "an output of Split = the slice that begins where those before it end", "the text says so";
    Bits "gather-slice" ["Gather"] => gather,
        "Gather by one known index = the slice of length 1, without the axis if the index is a scalar; by indices in steps, the slice with that step",
        "the text says so";
    Bits "concat" ["Concat"] => concat,
        "Concat of Concats along the axis, of theirs; without empty inputs; of slices that follow one another, of their common slice",
        "elements are put one after the other";
}

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
    all.shared_sort();
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
    sorted.shared_sort();
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
        match attributes::get(call.attributes(), "value") {
            Some(ContentKey::Tensor(tensor)) => {
                let (dtype, _, bytes) = &**tensor;
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
        all.push((axis, first(terms, start, own[axis], step > 0)?, step));
    }
    all.shared_sort_by_key(|(axis, ..)| *axis);
    if all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let mut term = x;
    for (axis, first, step) in all {
        term = terms.sliced(term, axis, (first, step), out[axis])?;
    }
    Some(vec![term])
}

/// The first position that a slice takes: within the axis, counted from its start.
fn first(terms: &mut Terms<'_>, start: Dim, size: Dim, is_forward: bool) -> Option<Dim> {
    let symbols = &mut terms.symbols;
    let from_end = start.known().is_some_and(|start| start < 0);
    let at = if from_end { symbols.add(size, start)? } else { start };
    match (is_forward, from_end) {
        (true, true) => symbols.max(at, Dim::ZERO),
        (true, false) if at == Dim::ZERO => Some(at),
        (true, false) => symbols.never_below(at, 0).then(|| symbols.min(at, size))?,
        (false, true) => Some(at),
        (false, false) => {
            let last = symbols.subtract(size, Dim::ONE)?;
            at.known().and_then(|_| symbols.min(at, last))
        }
    }
}

fn triangle(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let (info, dims) = (terms.table.info(x).clone(), terms.table.dims(x)?.clone());
    let [.., rows, columns] = dims[..] else { return None };
    let along = |terms: &mut Terms<'_>, size: Dim| {
        let ends = [Dim::ZERO, size, Dim::ONE];
        let ends = ends.map(|end| terms.table.integers([end].into(), Info::of(DType::I64, [])));
        terms.operation("Range", &ends, Info::of(DType::I64, [size]))
    };
    let (column, row) = (along(terms, columns)?, along(terms, rows)?);
    let row = terms.reshaped(row, &[rows, Dim::ONE].into());
    let offset = terms.operation("Sub", &[column, row], Info::of(DType::I64, [rows, columns]))?;
    let from = match call.argument(1) {
        Some(from) => terms.reshaped(from, &[].into()),
        None => terms.number(DType::I64, 0.0)?,
    };
    let comparison = if call.is_set("upper") { "GreaterOrEqual" } else { "LessOrEqual" };
    let kept = terms.operation(comparison, &[offset, from], Info::of(DType::Bool, [rows, columns]))?;
    let zero = terms.number(info.dtype?, 0.0)?;
    Some(vec![terms.operation("Where", &[kept, x, zero], info)?])
}

fn product_of_parts(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let product = call.argument(0)?;
    let &[Some(x), Some(w)] = terms.arguments_of(product, "MatMul")? else { return None };
    let is_last = terms.axis(product, call.int("axis")?)? + 1 == terms.table.dims(product)?.len();
    if !is_last || terms.table.dims(w)?.len() != 2 {
        return None;
    }
    let columns = parts(terms, call, w, 1)?.into_iter().zip(call.infos.clone());
    columns.map(|(columns, info)| terms.operation("MatMul", &[x, columns], info)).collect()
}

fn split(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let axis = terms.axis(x, call.int("axis")?)?;
    parts(terms, call, x, axis)
}

/// The slices of a term that have the sizes of outputs of Split, one after the other.
fn parts(terms: &mut Terms<'_>, call: &Call, x: TermId, axis: usize) -> Option<Vec<TermId>> {
    let along = terms.axis(call.argument(0)?, call.int("axis")?)?;
    let mut start = Dim::ZERO;
    let part = |info: &Info| {
        let len = *info.dims.as_ref()?.get(along)?;
        let part = terms.sliced(x, axis, (start, 1), len)?;
        start = terms.symbols.add(start, len)?;
        Some(part)
    };
    call.infos.iter().map(part).collect()
}

fn gather(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (x, index) = (call.argument(0)?, call.argument(1)?);
    let out = call.infos.first()?.dims.clone()?;
    let all = terms.table.elements(index)?;
    let axis = terms.axis(x, call.int("axis")?)?;
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
    let one = terms.sliced(x, axis, (start, 1), Dim::ONE)?;
    Some(vec![terms.reshaped(one, &out)])
}

fn concat(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let dims = terms.table.dims(call.argument(0)?).or(call.infos.first()?.dims.as_ref());
    let rank = dims?.len();
    let axis = axis_of(attributes::int(call.attributes(), "axis")?, rank)?;
    attributes::set(call.attributes_mut(), "axis", ContentKey::Int(i64_of(axis)));
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
        Term::View(inner, View::Slice(own, start, 1)) if own == axis => {
            Some((inner, start, terms.table.dims(id)?[axis]))
        }
        _ => None,
    }
}
