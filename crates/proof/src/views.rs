//! One form of terms that have the elements of another: in other shapes and orders of axes.

use std::ops::Range;

use gradus_core::Shape;
use gradus_core::convert::{counted, i64_of, usize_of_i64};
use gradus_core::sort::SharedSort;
use gradus_engine::dim::{Condition, Dim, Relation, Symbols};
use gradus_engine::fact::{Dims, known_shape};

use crate::attributes;
use crate::table::{Info, Term, TermId, View};
use crate::terms::Terms;

/// Maximum number of bytes of a constant whose axes are put in another order.
const MAX_MOVED: usize = 1 << 22;

/// Axes of two shapes that have the same product.
pub type Groups = Vec<(Range<usize>, Range<usize>)>;

/// Axes into which two shapes are cut, and those of each axis of both.
type Refined = (Vec<Dim>, [Vec<Range<usize>>; 2]);

/// Groups the axes of two shapes of the same elements into the smallest runs that have the same
/// product; nothing if products of sizes that are not numbers do not tell.
#[allow(clippy::many_single_char_names, reason = "both shapes have the same names")]
pub fn align(symbols: &mut Symbols, a: &[Dim], b: &[Dim]) -> Option<Groups> {
    let (mut i, mut j) = (0, 0);
    let mut groups = Groups::new();
    while i < a.len() || j < b.len() {
        // Axes of size 1 stand alone unless both have them.
        let (start_a, start_b) = (i, j);
        let ones = (a.get(i) == Some(&Dim::ONE), b.get(j) == Some(&Dim::ONE));
        if ones.0 || ones.1 {
            (i, j) = (i + usize::from(ones.0), j + usize::from(ones.1));
            groups.push((start_a..i, start_b..j));
            continue;
        }
        let (mut pa, mut pb) = (*a.get(i)?, *b.get(j)?);
        (i, j) = (i + 1, j + 1);
        while pa != pb {
            let extend_a = match (pa.known(), pb.known()) {
                (Some(x), Some(y)) => x < y,
                _ if symbols.divides(pa, pb) => true,
                _ if symbols.divides(pb, pa) => false,
                _ => return None,
            };
            if extend_a {
                pa = symbols.multiply(pa, *a.get(i)?)?;
                i += 1;
            } else {
                pb = symbols.multiply(pb, *b.get(j)?)?;
                j += 1;
            }
        }
        groups.push((start_a..i, start_b..j));
    }
    Some(groups)
}

/// The sizes of an operand of that shape where the result is viewed in another shape.
pub fn broadcast_through(operand: &[Dim], groups: &Groups, from: &[Dim], to: &[Dim]) -> Option<Vec<Dim>> {
    let missing = from.len().checked_sub(operand.len())?;
    let at = |axis: usize| if axis < missing { Dim::ONE } else { operand[axis - missing] };
    let mut sizes = vec![Dim::ONE; to.len()];
    for (a, b) in groups {
        let is_one = a.clone().all(|axis| at(axis) == Dim::ONE);
        let is_full = a.clone().all(|axis| at(axis) == from[axis]);
        if is_full {
            sizes[b.clone()].copy_from_slice(&to[b.clone()]);
        } else if !is_one {
            return None;
        }
    }
    Some(sizes)
}

/// The permutation that undoes another.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut undone = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        undone[from] = to;
    }
    undone
}

/// The axes into which axes of the same elements are both cut, as few as there can be, and those of
/// each axis; nothing if products of sizes that are not numbers do not tell.
fn refined(symbols: &mut Symbols, a: &[Dim], b: &[Dim]) -> Option<Refined> {
    let (mut fine, mut of, mut from) = (Vec::new(), [Vec::new(), Vec::new()], [0, 0]);
    let mut rest = [a.iter().copied(), b.iter().copied()];
    // The rest of an axis of each shape.
    let mut left = rest.each_mut().map(Iterator::next);
    loop {
        let cut = match left {
            [None, None] => return Some((fine, of)),
            // Axes of size 1 have no axis of the other shape.
            [Some(x), None] | [None, Some(x)] => x,
            [Some(x), Some(y)] if x == y || symbols.divides(x, y) => x,
            [Some(x), Some(y)] if symbols.divides(y, x) => y,
            _ => return None,
        };
        fine.push(cut);
        for side in 0..2 {
            let Some(size) = left[side] else { continue };
            if size == cut {
                of[side].push(from[side]..fine.len());
                (from[side], left[side]) = (fine.len(), rest[side].next());
            } else {
                left[side] = Some(symbols.floor_divide(size, cut)?);
            }
        }
    }
}

/// Sizes or strides in another order.
pub fn permuted<T: Copy>(all: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&axis| all[axis]).collect()
}

impl Terms<'_> {
    /// The term whose elements, in their order, a term has in another shape.
    pub fn root(&self, id: TermId) -> TermId {
        if let Term::View(inner, View::Reshape) = self.table.term(id) { *inner } else { id }
    }

    /// The term whose elements a term has in another shape and order of axes.
    pub fn base(&self, id: TermId) -> TermId {
        let mut base = id;
        while let Term::View(inner, View::Reshape | View::Permute(_)) = self.table.term(base) {
            base = *inner;
        }
        base
    }

    /// The scalar that a term repeats.
    fn repeated(&self, id: TermId) -> Option<TermId> {
        let Term::View(inner, View::Expand) = *self.table.term(id) else { return None };
        self.table.dims(inner)?.is_empty().then_some(inner)
    }

    /// A term in a shape without the axes of size 1 in front.
    pub fn short_shape(&mut self, id: TermId) -> TermId {
        let Some(dims) = self.table.dims(id).cloned() else { return id };
        let ones = dims.iter().take_while(|&&dim| dim == Dim::ONE).count();
        if ones == 0 { id } else { self.reshaped(id, &dims[ones..].into()) }
    }

    /// The view, permutation, broadcast or slice that a term is of another, of a third term of the
    /// other's sizes.
    pub fn view_like(&mut self, id: TermId, inner: TermId) -> Option<TermId> {
        let dims = self.table.dims(id)?.clone();
        let Term::View(_, view) = self.table.term(id).clone() else { return None };
        match view {
            View::Reshape => Some(self.reshaped(inner, &dims)),
            View::Permute(order) => self.permuted(inner, &order),
            View::Slice(axis, start, step) => self.sliced(inner, axis, (start, step), *dims.get(axis)?),
            View::Expand => Some(self.expanded(inner, &dims)),
        }
    }

    /// The term of a view of these sizes.
    fn view(&mut self, id: TermId, view: View, dims: &Dims) -> TermId {
        let info = Info { dtype: self.table.dtype(id), dims: Some(dims.clone()) };
        self.table.intern(Term::View(id, view), info)
    }

    /// A term in another shape.
    pub fn reshaped(&mut self, id: TermId, dims: &Dims) -> TermId {
        let root = self.root(id);
        if self.table.dims(root) == Some(dims) {
            return root;
        }
        let info = Info { dtype: self.table.dtype(root), dims: Some(dims.clone()) };
        // A scalar is broadcast to any shape.
        if let Some(scalar) = self.repeated(root) {
            return self.view(scalar, View::Expand, dims);
        }
        match self.table.term(root).clone() {
            Term::Integers(all) => self.table.integers(all, info),
            Term::Progression(first, step) => self.table.intern(Term::Progression(first, step), info),
            _ => self.view(root, View::Reshape, dims),
        }
    }

    /// A term with its axes in another order.
    pub fn permuted(&mut self, id: TermId, order: &[usize]) -> Option<TermId> {
        let dims = self.table.dims(id)?.clone();
        if dims.len() != order.len() {
            return None;
        }
        let out: Dims = permuted(&dims, order).into();
        // Axes of size 1 go, and axes that stay together become one.
        let kept: Vec<usize> = order.iter().copied().filter(|&axis| dims[axis] != Dim::ONE).collect();
        let mut runs: Vec<Range<usize>> = Vec::new();
        let next = |axis: usize| (axis + 1..dims.len()).find(|&axis| dims[axis] != Dim::ONE);
        let mut last = None;
        for &axis in &kept {
            match runs.last_mut() {
                Some(run) if last.and_then(next) == Some(axis) => run.end = axis + 1,
                _ => runs.push(axis..axis + 1),
            }
            last = Some(axis);
        }
        if runs.len() <= 1 || self.repeated(self.root(id)).is_some() {
            return Some(self.reshaped(id, &out));
        }
        let mut sorted = runs.clone();
        sorted.shared_sort_by_key(|run| run.start);
        let size = |run: &Range<usize>| self.symbols.product(dims[run.clone()].iter().copied());
        let merged = sorted.iter().map(size).collect::<Option<Dims>>()?;
        let position = |run: &Range<usize>| sorted.iter().position(|other| other == run);
        let order = runs.iter().map(position).collect::<Option<Vec<_>>>()?;
        let argument = self.reshaped(id, &merged);
        if let Some(moved) = self.moved_constant(argument, &order) {
            return Some(self.reshaped(moved, &out));
        }
        let moved = self.of_permuted(argument, &merged, &order).unwrap_or_else(|| {
            let dims: Dims = permuted(&merged, &order).into();
            self.view(argument, View::Permute(order.into()), &dims)
        });
        Some(self.reshaped(moved, &out))
    }

    /// A constant with its axes in another order.
    fn moved_constant(&mut self, id: TermId, order: &[usize]) -> Option<TermId> {
        let shape = known_shape(self.table.dims(id)?)?;
        self.picked(id, 0, permuted(shape.dims(), order), &permuted(&shape.strides(), order))
    }

    /// The elements of a constant from one on, by the sizes and strides of axes.
    fn picked(&mut self, id: TermId, from: usize, sizes: Vec<usize>, strides: &[usize]) -> Option<TermId> {
        let stored = self.table.stored(self.root(id)).filter(|stored| stored.byte_len() <= MAX_MOVED)?;
        let mut places = vec![from];
        for (&size, &stride) in sizes.iter().zip(strides) {
            places = places.iter().flat_map(|&at| (0..size).map(move |i| at + i * stride)).collect();
        }
        let picked = stored.picked(Shape::new(sizes).ok()?, &places, self.limits).ok()?;
        Some(self.table.tensor(&picked))
    }

    /// A permutation of the axes of what is itself a permutation, perhaps in another shape.
    fn of_permuted(&mut self, argument: TermId, dims: &Dims, order: &[usize]) -> Option<TermId> {
        let root = self.root(argument);
        let Term::View(base, View::Permute(first)) = self.table.term(root).clone() else { return None };
        let own = self.table.dims(root)?.clone();
        let (fine, [of_own, of_new]) = refined(&mut self.symbols, &own, dims)?;
        // Fine axes in the order of the base, and in the order of the result.
        let of_base: Vec<usize> = inverse(&first).iter().flat_map(|&axis| of_own[axis].clone()).collect();
        let of_result: Vec<usize> = order.iter().flat_map(|&axis| of_new[axis].clone()).collect();
        if of_base.len() != fine.len() || of_result.len() != fine.len() {
            return None;
        }
        let base_dims: Dims = permuted(&fine, &of_base).into();
        let base = self.reshaped(base, &base_dims);
        self.permuted(base, &permuted(&inverse(&of_base), &of_result))
    }

    /// A term broadcast to a shape.
    pub fn expanded(&mut self, id: TermId, dims: &Dims) -> TermId {
        if self.table.dims(id) == Some(dims) {
            return id;
        }
        let inner = if let Term::View(inner, View::Expand) = *self.table.term(id) { inner } else { id };
        // Axes of size 1 in front say nothing.
        let inner = self.short_shape(inner);
        if self.table.dims(inner) == Some(dims) {
            return inner;
        }
        if self.repeats_nothing(inner, dims) {
            return self.reshaped(inner, dims);
        }
        self.view(inner, View::Expand, dims)
    }

    /// Returns true if a term that is broadcast to a shape keeps its elements: their number stays,
    /// and axes of another size have at most one.
    fn repeats_nothing(&mut self, id: TermId, dims: &Dims) -> bool {
        let Some(own) = self.table.dims(id).cloned() else { return false };
        let is_one = |size: &Dim| self.symbols.bounds(*size).upper().is_some_and(|upper| upper <= 1);
        let is_kept = |(size, own): (&Dim, &Dim)| size == own || is_one(size);
        let Some(missing) = dims.len().checked_sub(own.len()) else { return false };
        let fits = dims[..missing].iter().all(is_one) && dims[missing..].iter().zip(own.iter()).all(is_kept);
        let counts = [&own, dims].map(|dims| self.symbols.product(dims.iter().copied()));
        let [Some(own), Some(all)] = counts else { return false };
        fits && self.symbols.always_holds(&Condition::new(own, Relation::Equal, all))
    }

    /// The elements of a term from one along an axis, in steps, so that the axis has that size.
    pub fn sliced(&mut self, id: TermId, axis: usize, (start, step): (Dim, i64), len: Dim) -> Option<TermId> {
        let mut sizes = self.table.dims(id)?.to_vec();
        let own = std::mem::replace(sizes.get_mut(axis)?, len);
        if own == len && step > 0 && start == Dim::ZERO {
            return Some(id);
        }
        let sizes: Dims = sizes.into();
        if let Some(scalar) = self.repeated(id) {
            return Some(self.expanded(scalar, &sizes));
        }
        if let Some(found) = self.sliced_parts(id, axis, (start, step), len) {
            return Some(found);
        }
        // Slices along several axes are in the order of the axes.
        if let Term::View(inner, View::Slice(other, first, by)) = *self.table.term(id)
            && other > axis
        {
            let inner = self.sliced(inner, axis, (start, step), len)?;
            return self.sliced(inner, other, (first, by), sizes[other]);
        }
        let (inner, start, step) = match *self.table.term(id) {
            Term::View(inner, View::Slice(other, first, by)) if other == axis && by > 0 && step > 0 => {
                let offset = self.symbols.multiply(start, Dim::Known(by))?;
                (inner, self.symbols.add(first, offset)?, by.checked_mul(step)?)
            }
            _ => (id, start, step),
        };
        if step > 0 && start == Dim::ZERO && self.table.dims(inner).is_some_and(|dims| dims[axis] == len) {
            return Some(inner);
        }
        let step = if len == Dim::ONE { 1 } else { step };
        Some(self.view(inner, View::Slice(axis, start, step), &sizes))
    }

    /// A slice of integers, and of parts that are put one after the other where it begins and ends
    /// with some of them.
    fn sliced_parts(&mut self, id: TermId, axis: usize, from: (Dim, i64), len: Dim) -> Option<TermId> {
        let (start, step) = from;
        let info = Info { dtype: self.table.dtype(id), dims: Some([len].into()) };
        if let (Some(all), [_], true) = (self.table.elements(id), &self.table.dims(id)?[..], step > 0) {
            let (start, len) = (usize_of_i64(start.known()?)?, usize_of_i64(len.known()?)?);
            let picked: Dims = all.into_iter().skip(start).step_by(usize_of_i64(step)?).take(len).collect();
            return (picked.len() == len && len > 0).then(|| self.table.integers(picked, info));
        }
        // Columns of a matrix that is a constant.
        if let (Some(shape), (Dim::Known(first), 1), 1) = (known_shape(self.table.dims(id)?), from, axis)
            && let ([rows, all], Some(first), Some(len)) =
                (shape.dims(), usize_of_i64(first), len.known().and_then(usize_of_i64))
            && let Some(columns) = self.picked(id, first, vec![*rows, len], &[*all, 1])
        {
            return Some(columns);
        }
        let (operator, parts, _) = self.applied(id)?;
        let joins = operator.domain.is_empty() && &*operator.name == "Concat" && step == 1;
        if !joins || attributes::int(&operator.attributes, "axis")? != i64_of(axis) {
            return None;
        }
        let (attributes, parts) =
            (operator.attributes.clone(), parts.iter().copied().collect::<Option<Vec<_>>>()?);
        let end = self.symbols.add(start, len)?;
        let mut at = Dim::ZERO;
        let (mut first, mut last) = (None, None);
        for (index, &part) in parts.iter().enumerate() {
            if at == start {
                first = Some(index);
            }
            at = self.symbols.add(at, self.table.dims(part)?[axis])?;
            if at == end {
                last = Some(index);
            }
        }
        let taken = parts.get(first?..=last?)?;
        if let [only] = *taken {
            return Some(only);
        }
        let mut sizes = self.table.dims(id)?.to_vec();
        sizes[axis] = len;
        self.operation_with("Concat", attributes, taken, Info { dims: Some(sizes.into()), ..info })
    }

    /// The axis that a number means for a term.
    pub fn axis(&self, id: TermId, axis: i64) -> Option<usize> {
        axis_of(axis, self.table.dims(id)?.len())
    }
}

/// The axis that a number means, of that many.
pub fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    counted(axis, rank).filter(|&axis| axis < rank)
}
