//! Rules for reductions: of axes of size 1, of one another, and whether they keep the axes.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::{Content, Standard};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Tensor};

use super::super::negative_zero::is_never_negative_zero;
use super::exact::order;
use super::node_view::NodeView;
use super::{Change, Replacement, Source, looked};
use crate::dim::{Dim, Symbols};
use crate::fact::Dims;
use crate::operators::{self, Reduces, Row};

rules! { RULES:
    Exact "single-reduction" looked::reduces => single,
        "ReduceMax, ReduceMin, ReduceProd, sums of what is never -0, of axes of size 1 -> x, Squeeze";
    Exact "kept-axes" looked::is_view => kept,
        "Squeeze, Unsqueeze, Reshape of what ReduceMax, ReduceSum, … reduces, by the reduced axes -> keepdims";
}

rules! { FUSED:
    Fuse "transpose-into-reduction" looked::reduces => transposed,
        "ReduceMax, ReduceSum, … of a Transpose that leaves the order of the other axes, without keepdims -> of x";
    Fuse "reductions" looked::reduces => reductions,
        "ReduceMax, ReduceMin, ReduceProd, ReduceSum, ReduceMean of its like -> one; of axes of size 1 -> x, Squeeze: -0 stays";
}

/// The row of a node's operator, if it reduces axes.
fn reducing(view: &NodeView<'_, '_>) -> Option<&'static Row> {
    operators::row(Standard::Onnx, "", view.operator()).filter(|row| row.reduces != Reduces::No)
}

fn is_nested(view: &NodeView<'_, '_>) -> bool {
    reducing(view).is_some_and(|row| row.reduces == Reduces::Nested)
}

/// A node that reduces some axes.
pub(in crate::fold) struct Reduction {
    operator: &'static str,
    /// The axes, from 0 on, in order.
    pub(in crate::fold) axes: Vec<i64>,
    pub(in crate::fold) keeps: bool,
}

impl Reduction {
    /// The reduction that a node computes; `None` if its axes are not constant, or out of range.
    pub(in crate::fold) fn of(view: &NodeView<'_, '_>) -> Option<Reduction> {
        let operator = reducing(view)?.name;
        let rank = i64_of(view.dims(0)?.len());
        let given = match view.input(1) {
            Source::Missing => None,
            _ => Some(view.constant(1)?.to_i64().ok()?),
        };
        let mut axes = given.unwrap_or_default();
        if axes.is_empty() {
            if view.int("noop_with_empty_axes", 0)? != 0 {
                return None;
            }
            axes = (0..rank).collect();
        }
        for axis in &mut axes {
            *axis += if *axis < 0 { rank } else { 0 };
        }
        axes.shared_sort();
        axes.dedup();
        let inside = axes.iter().all(|axis| (0..rank).contains(axis));
        let keeps = view.int("keepdims", 1)? != 0;
        inside.then_some(Reduction { operator, axes, keeps })
    }

    /// The dimensions that are left of these.
    fn dims(&self, from: &Dims) -> Dims {
        let sizes = (0..).zip(from.iter()).filter_map(|(axis, size)| {
            if self.axes.contains(&axis) { self.keeps.then_some(Dim::ONE) } else { Some(*size) }
        });
        sizes.collect()
    }

    /// The node that reduces a value so.
    pub(in crate::fold) fn node(self, data: Source) -> Replacement {
        let Reduction { operator, axes, keeps } = self;
        let attributes = vec![("keepdims", Content::Int(keeps.into()))];
        let inputs = vec![data, Source::Tensor(Tensor::vector(&axes))];
        Replacement::new(operator, inputs, attributes)
    }
}

/// The replacement of a reduction of axes of size 1.
fn of_units(view: &NodeView<'_, '_>) -> Option<Change> {
    if !is_nested(view) {
        return None;
    }
    if view.int("keepdims", 1)? != 0 {
        return if view.is_like(0) { view.becomes(0) } else { None };
    }
    let reduction = Reduction::of(view)?;
    let dims = view.dims(0)?;
    let is_unit = |axis: &i64| usize_of_i64(*axis).and_then(|axis| dims.get(axis)) == Some(&Dim::ONE);
    if reduction.axes.is_empty() || !reduction.axes.iter().all(is_unit) {
        return None;
    }
    let inputs = vec![view.input(0), Source::Tensor(Tensor::vector(&reduction.axes))];
    Some(Change::Node(Replacement::new("Squeeze", inputs, Vec::new())))
}

fn single(view: &NodeView<'_, '_>, symbols: &mut Symbols) -> Option<Change> {
    let is_sum = || matches!(view.operator(), "ReduceSum" | "ReduceMean");
    let is_integer = || view.output().and_then(|id| view.dtype_of(id)).is_some_and(DType::is_integer);
    // A sum that begins with 0 is 0 where the element is -0.
    of_units(view).filter(|_| !is_sum() || is_integer() || is_never_negative_zero(view, 0, symbols))
}

fn kept(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.only_producer(0)?;
    let mut reduction = Reduction::of(&first)?;
    reduction.keeps = !reduction.keeps;
    let same = view.output_dims() == Some(&reduction.dims(first.dims(0)?));
    // A scalar has no axes to name, and none would be all.
    (same && !reduction.axes.is_empty()).then(|| Change::Node(reduction.node(first.input(0))))
}

fn transposed(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let mut reduction = Reduction::of(view).filter(|reduction| !reduction.keeps)?;
    let first = view.only_producer(0)?;
    let order = order(&first)?;
    let is_left = |axis: &i64| !reduction.axes.contains(axis);
    let at = |axis: i64| order.get(usize::try_from(axis).ok()?).copied();
    let left: Vec<_> = (0..i64_of(order.len())).filter(is_left).map(at).collect::<Option<_>>()?;
    let mut axes = reduction.axes.iter().map(|&axis| at(axis)).collect::<Option<Vec<_>>>()?;
    if !left.is_sorted() || axes.is_empty() {
        return None;
    }
    axes.shared_sort();
    reduction.axes = axes;
    Some(Change::Node(reduction.node(first.input(0))))
}

fn reductions(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if let Some(change) = of_units(view) {
        return Some(change);
    }
    let first = view.only_producer(0).filter(|_| is_nested(view))?;
    let (second, mut both) = (Reduction::of(view)?, Reduction::of(&first)?);
    if second.operator != both.operator || second.keeps != both.keeps {
        return None;
    }
    let rank = i64_of(first.dims(0)?.len());
    let left: Vec<_> = (0..rank).filter(|axis| both.keeps || !both.axes.contains(axis)).collect();
    for axis in &second.axes {
        both.axes.push(*left.get(usize::try_from(*axis).ok()?)?);
    }
    both.axes.shared_sort();
    both.axes.dedup();
    (!both.axes.is_empty()).then(|| Change::Node(both.node(first.input(0))))
}
