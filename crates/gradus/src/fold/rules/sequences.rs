//! Rules for sequences and optional values whose elements are known.

use gradus_core::Tensor;
use gradus_core::convert::{from_start, i64_of};
use gradus_core::graph::Content;

use super::node_view::NodeView;
use super::{Change, Replacement, Source};
use crate::dim::Symbols;

rules! { RULES:
    Exact "known-element" |of| of.is_one(&["OptionalGetElement", "SequenceAt"]) => element,
        "SequenceAt of SequenceConstruct, SplitToSequence by constants; OptionalGetElement of Optional -> the element, Slice, Gather";
    Exact "known-sequence" |of| of.is("ConcatFromSequence") => joined,
        "ConcatFromSequence(SequenceConstruct(a, b)) without a new axis -> Concat(a, b)";
}

/// A list of integers that an input is, and true if it is a scalar.
fn list(view: &NodeView<'_, '_>, input: usize) -> Option<(Vec<i64>, bool)> {
    let tensor = view.constant(input)?;
    Some((tensor.to_i64().ok()?, tensor.shape().rank() == 0))
}

/// The number of an element from the first on. If the length is not known, it must be given so.
fn position(view: &NodeView<'_, '_>, length: Option<usize>) -> Option<i64> {
    let (given, _) = list(view, 1)?;
    let [at] = given[..] else { return None };
    let at = if at < 0 { from_start(at, i64_of(length?)) } else { at };
    (at >= 0 && length.is_none_or(|length| at < i64_of(length))).then_some(at)
}

fn element(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    match (view.operator(), view.producer(0)) {
        ("OptionalGetElement", Some(first)) if first.operator() == "Optional" => first.becomes(0),
        // From operator set 18 on, a tensor is its own element.
        ("OptionalGetElement", _) if view.has_type_of(0) => view.becomes(0),
        ("SequenceAt", Some(first)) if first.operator() == "SequenceConstruct" => {
            let at = position(view, Some(first.input_count()))?;
            let id = first.value(usize::try_from(at).ok()?)?;
            Some(Change::Values(vec![(0, id)]))
        }
        ("SequenceAt", Some(first)) if first.operator() == "SplitToSequence" => split_element(view, &first),
        _ => None,
    }
}

fn split_element(view: &NodeView<'_, '_>, split: &NodeView<'_, '_>) -> Option<Change> {
    let axis = split.int("axis", 0)?;
    let whole = |element: i64| Source::Tensor(Tensor::vector(&[element]));
    let (start, end) = match split.input(1) {
        Source::Missing => {
            let at = position(view, None)?;
            if split.int("keepdims", 1)? == 0 {
                let inputs = vec![split.input(0), Source::Tensor(Tensor::scalar(at))];
                let attributes = vec![("axis", Content::Int(axis))];
                return Some(Change::Node(Replacement::new("Gather", inputs, attributes)));
            }
            (at, at.checked_add(1)?)
        }
        _ => match list(split, 1)? {
            (sizes, true) => {
                let (at, size) = (position(view, None)?, *sizes.first().filter(|&&size| size > 0)?);
                (at.checked_mul(size)?, at.checked_add(1)?.checked_mul(size)?)
            }
            (sizes, false) => {
                let at = usize::try_from(position(view, Some(sizes.len()))?).ok()?;
                let end = |count: usize| {
                    sizes
                        .iter()
                        .take(count)
                        .try_fold(0i64, |sum, &size| if size < 0 { None } else { sum.checked_add(size) })
                };
                (end(at)?, end(at + 1)?)
            }
        },
    };
    let inputs = vec![split.input(0), whole(start), whole(end), whole(axis)];
    Some(Change::Node(Replacement::new("Slice", inputs, Vec::new())))
}

fn joined(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.producer(0).filter(|first| first.operator() == "SequenceConstruct")?;
    let axis = view.attributes().int("axis").ok()??;
    if view.int("new_axis", 0)? != 0 {
        return None;
    }
    let inputs = (0..first.input_count()).map(|input| first.input(input)).collect();
    let attributes = vec![("axis", Content::Int(axis))];
    Some(Change::Node(Replacement::new("Concat", inputs, attributes)))
}
