//! Rules for reductions: of axes of size 1, of one another, and whether they keep the axes.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Tensor};

use super::Level::{Exact, Fuse};
use super::exact::order;
use super::node_view::NodeView;
use super::shapes::is_view;
use super::{Change, Replacement, Rule, Source, local};
use crate::dim::{Dim, Symbols};
use crate::fact::Dims;

pub(super) const RULES: &[Rule] = &[
    local("single-reduction", Exact, "ReduceMax, ReduceMin, ReduceProd of axes of size 1 -> x", single),
    local(
        "kept-axes",
        Exact,
        "Squeeze, Unsqueeze, Reshape of what ReduceMax, ReduceSum, … reduces, by the reduced axes -> keepdims",
        kept,
    ),
];

pub(super) const FUSED: &[Rule] = &[
    local(
        "transpose-into-reduction",
        Fuse,
        "ReduceMax, ReduceSum, … of a Transpose that leaves the order of the other axes, without keepdims -> of x",
        transposed,
    ),
    local(
        "reductions",
        Fuse,
        "ReduceMax, ReduceMin, ReduceProd, ReduceSum, ReduceMean of its like -> one; of axes of size 1 -> x: -0 stays",
        reductions,
    ),
];

/// Reductions of which one of all axes is one of some axes, and then of the others.
const NESTED: [&str; 5] = ["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"];

/// Other reductions.
const OTHERS: [&str; 5] = ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"];

/// A node that reduces some axes.
pub(in crate::fold) struct Reduction {
    operator: &'static str,
    /// The axes, from 0 on, in order.
    pub(in crate::fold) axes: Vec<i64>,
    pub(in crate::fold) keeps: bool,
    /// True if the axes are an attribute.
    attribute: bool,
}

impl Reduction {
    pub(in crate::fold) fn of(view: &NodeView<'_, '_>) -> Option<Reduction> {
        let operator = *NESTED.iter().chain(&OTHERS).find(|name| **name == view.operator())?;
        let rank = i64_of(view.dims(0)?.len());
        let attribute = view.version() < if operator == "ReduceSum" { 13 } else { 18 };
        let given = match (attribute, view.input(1)) {
            (true, _) => view.ints("axes").map(<[i64]>::to_vec),
            (false, Source::Missing) => None,
            (false, _) => Some(view.constant(1)?.to_i64().ok()?),
        };
        let mut axes = given.unwrap_or_default();
        if axes.is_empty() {
            if view.int("noop_with_empty_axes", 0) != 0 {
                return None;
            }
            axes = (0..rank).collect();
        }
        for axis in &mut axes {
            *axis += if *axis < 0 { rank } else { 0 };
        }
        axes.sort_unstable();
        axes.dedup();
        let inside = axes.iter().all(|axis| (0..rank).contains(axis));
        inside.then_some(Reduction { operator, axes, keeps: view.int("keepdims", 1) != 0, attribute })
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
        let Reduction { operator, axes, keeps, attribute } = self;
        let mut attributes = vec![("keepdims", Content::Int(keeps.into()))];
        let mut inputs = vec![data];
        if attribute {
            attributes.push(("axes", Content::Ints(axes)));
        } else {
            inputs.push(Source::Tensor(Tensor::vector(&axes)));
        }
        Replacement { operator, inputs, attributes }
    }
}

fn is_single(view: &NodeView<'_, '_>) -> bool {
    NESTED.contains(&view.operator()) && view.int("keepdims", 1) != 0 && view.is_like(0)
}

fn single(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let rounds = matches!(view.operator(), "ReduceSum" | "ReduceMean")
        && !view.output().and_then(|id| view.dtype_of(id)).is_some_and(DType::is_integer);
    if is_single(view) && !rounds { view.becomes(0) } else { None }
}

fn kept(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.only_producer(0).filter(|_| is_view(view))?;
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
    axes.sort_unstable();
    reduction.axes = axes;
    Some(Change::Node(reduction.node(first.input(0))))
}

fn reductions(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if is_single(view) {
        return view.becomes(0);
    }
    let first = view.only_producer(0).filter(|_| NESTED.contains(&view.operator()))?;
    let (second, mut both) = (Reduction::of(view)?, Reduction::of(&first)?);
    if second.operator != both.operator || second.keeps != both.keeps {
        return None;
    }
    let rank = i64_of(first.dims(0)?.len());
    let left: Vec<_> = (0..rank).filter(|axis| both.keeps || !both.axes.contains(axis)).collect();
    for axis in &second.axes {
        both.axes.push(*left.get(usize::try_from(*axis).ok()?)?);
    }
    both.axes.sort_unstable();
    both.axes.dedup();
    (!both.axes.is_empty()).then(|| Change::Node(both.node(first.input(0))))
}
