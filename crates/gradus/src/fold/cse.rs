//! Values that are the same as others: by their elements, by what computes them, or because nothing
//! changes them.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::HashMap;
use gradus_core::convert::u64_of;
use gradus_core::graph::{Content, Origin, Standard, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Tensor};
use gradus_engine::keys::{ContentKey, TensorKey, tensor_key};

use super::GraphFolder;
use super::dialect::Role;
use super::rules::{NodeView, Pass, Source, is_view};
use super::scope::{FoldState, Read};
use super::write::dims_of;
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::operator;

/// The values of a graph that were visited so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Tensors of integers that are not all known, by type, dimensions and elements; of a
    /// progression, its first element and step.
    whole: HashMap<(DType, Dims, Dims, bool), ValueId>,
    /// Values of the same elements in the same order, by the first value that had them, and
    /// dimensions.
    views: HashMap<(ValueId, Dims), ValueId>,
    /// By value: the first that had its elements in its order, if that is another.
    roots: HashMap<ValueId, ValueId>,
    /// Nodes by what they compute.
    nodes: HashMap<NodeKey, usize>,
}

/// An operator, with its attributes and what it reads.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NodeKey {
    operator: (Arc<str>, Arc<str>),
    version: Option<i64>,
    inputs: Vec<Option<InputKey>>,
    attributes: Vec<(Box<str>, ContentKey)>,
    outputs: usize,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum InputKey {
    Value(ValueId),
    Constant(TensorKey),
}

/// Maximum number of bytes of a constant that is compared with others.
const MAX_BYTES: u128 = 1 << 16;

/// Maximum number of bytes of a constant of the file that is read to be compared with others of its
/// shape.
pub(super) const MAX_STORED_BYTES: u128 = 1 << 20;

/// Reads constants of the graph as the first of the same bits (ONNX).
pub(super) fn constants(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>) {
    if scope.standard != Standard::Onnx || !scope.rules.has(Pass::EqualConstants) {
        return;
    }
    let mut alike: HashMap<(DType, &[usize]), Vec<ValueId>> = HashMap::default();
    for (id, constant) in scope.graph.constants() {
        let is_plain = scope.graph.value(*id).origin == Origin::Constant;
        if is_plain && constant.byte_len() <= MAX_STORED_BYTES {
            alike.entry((constant.dtype(), constant.shape().dims())).or_default().push(*id);
        }
    }
    let hasher = foldhash::fast::FixedState::default();
    let mut found = Vec::new();
    for ids in alike.values().filter(|ids| ids.len() > 1) {
        let bytes = |id: ValueId| scope.graph.constant(id)?.tensor().ok()?.bytes().cloned();
        let mut firsts: HashMap<u64, ValueId> = HashMap::default();
        for &id in ids {
            let Some(own) = bytes(id) else { continue };
            let first = *firsts.entry(hasher.hash_one(&own)).or_insert(id);
            if first != id && bytes(first).as_ref() == Some(&own) {
                found.push((id, first));
            }
        }
    }
    for (id, first) in found {
        scope.replace(folder, id, first);
    }
}

/// Returns true if a value that is read as another is known less well than that: what inference
/// concluded from it may be less than what it concludes from the other.
pub(super) fn is_vaguer(fact: &Fact, other: &Fact) -> bool {
    let (Some(fact), Some(other)) = (fact.as_tensor(), other.as_tensor()) else { return false };
    let is_open = matches!(fact.elements, Elements::Unknown | Elements::Integers(_));
    let is_known = other.elements != Elements::Unknown;
    let integers = is_open && is_known && fact.elements != other.elements;
    fact.dims != other.dims || (integers && fact.dtype.is_some_and(DType::is_integer))
}

impl Seen {
    /// An empty table with room for `nodes` nodes.
    pub(super) fn of(nodes: usize) -> Seen {
        let mut seen = Seen::default();
        seen.nodes.reserve(nodes);
        seen
    }
}

/// Reads the outputs of a node as those of an earlier one that computes the same.
pub(super) fn nodes(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize) {
    if !scope.rules.has(Pass::EqualNodes)
        || operator::find(folder.model.operators(), &scope.graph.nodes()[index]).is_some()
    {
        return;
    }
    let Some(key) = node_key(scope, index) else { return };
    let first = *scope.seen.nodes.entry(key).or_insert(index);
    if first == index {
        return;
    }
    let (earlier, node) = (&scope.graph.nodes()[first], &scope.graph.nodes()[index]);
    for (slot, id) in node.outputs.iter().enumerate() {
        if let (Some(id), Some(Some(other))) = (*id, earlier.outputs.get(slot).copied()) {
            scope.replace(folder, id, other);
        }
    }
}

fn node_key(scope: &FoldState<'_>, index: usize) -> Option<NodeKey> {
    let (node, view) = (&scope.graph.nodes()[index], NodeView::new(scope, index));
    // Runtimes fuse quantizations and dequantizations with a reader, if that is the only one.
    let same = scope.nodes[index].role != Role::Constant
        && !view.is_random()
        && node.graphs().next().is_none()
        && !matches!(&*node.operator.name, "DequantizeLinear" | "QuantizeLinear");
    if !same {
        return None;
    }
    let replaced = scope.replacement(index);
    let input = |input: usize| match view.input(input) {
        Source::Missing => Some(None),
        Source::Transposed(..) => None,
        Source::Tensor(tensor) => Some(Some(InputKey::Constant(tensor_key(&tensor)?))),
        Source::Value(id) => {
            let info = scope.graph.value(id);
            let stored = scope
                .graph
                .constant(id)
                .filter(|stored| info.origin == Origin::Constant && stored.byte_len() <= MAX_BYTES);
            let folded = stored.is_some() || matches!(scope.values[id.index()].read, Read::Constant(_));
            let is_constant = |node: usize| scope.nodes[node].role == Role::Constant;
            let made = matches!(info.origin, Origin::Node(node, _) if is_constant(node));
            let is_small = |tensor: &Tensor| u128::from(u64_of(tensor.byte_len())) <= MAX_BYTES;
            let constant = view.constant(input).filter(|tensor| folded || (made && is_small(tensor)));
            let same = constant.and_then(|tensor| tensor_key(&tensor));
            Some(Some(same.map_or(InputKey::Value(id), InputKey::Constant)))
        }
    };
    let mut attributes: Vec<(Box<str>, _)> = Vec::new();
    for (name, content) in view.newest_attributes() {
        attributes.push((name.into(), comparable(content)?));
    }
    attributes.shared_sort_by(|(a, _), (b, _)| a.cmp(b));
    let name = replaced.map_or_else(|| node.operator.name.clone(), |replaced| replaced.operator.into());
    Some(NodeKey {
        operator: (node.operator.domain.clone(), name),
        version: node.version,
        inputs: (0..view.input_count()).map(input).collect::<Option<_>>()?,
        attributes,
        outputs: node.outputs.len(),
    })
}

/// The key of an attribute; nothing for large tensors, too.
fn comparable(content: &Content) -> Option<ContentKey> {
    let is_large = matches!(content, Content::Tensor(stored) if stored.byte_len() > MAX_BYTES);
    if is_large { None } else { ContentKey::of(content) }
}

/// Notes a value, so that later ones are found to be the same.
pub(super) fn note(scope: &mut FoldState<'_>, id: ValueId) {
    if let Some(key) = whole(&scope.values[id.index()].fact) {
        scope.seen.whole.entry(key).or_insert(id);
    }
    let Origin::Node(index, _) = scope.graph.value(id).origin else { return };
    if let (Some(root), Some(dims)) = (root(scope, index), dims_of(&scope.values[id.index()].fact)) {
        let dims = dims.clone();
        scope.seen.views.entry((root, dims)).or_insert(id);
        scope.seen.roots.insert(id, root);
    }
}

/// The value that an output of a node is the same as, which is defined before it.
pub(super) fn find(
    scope: &FoldState<'_>,
    folder: &mut GraphFolder<'_>,
    index: usize,
    id: ValueId,
) -> Option<ValueId> {
    let fact = &scope.values[id.index()].fact;
    // An output keeps its node, unless another may define it or a copy costs less; OpenVINO has
    // none.
    let output = scope.values[id.index()].output;
    let views = scope.rules.has(Pass::Views);
    let found = views.then(|| view(scope, index, fact)).flatten();
    let found = found.filter(|&other| !output || scope.is_replaceable(folder, id, other));
    let whole = || whole(fact).filter(|_| scope.rules.has(Pass::EqualIntegers));
    let number = || whole().and_then(|key| scope.seen.whole.get(&key).copied());
    let copied = scope.standard != Standard::OpenVino
        && scope.nodes[index].role != Role::Copy
        && scope.is_only_output(id);
    let found = found.or_else(|| number().filter(|_| !output || copied))?;
    // A subgraph that has a value of the same name would read that.
    let name = &scope.graph.value(scope.resolved(found)).name;
    let hidden = scope.captured.contains(&id) && folder.is_shared(name);
    (!hidden).then_some(found)
}

/// CSE key of an integer tensor with symbolic elements.
fn whole(fact: &Fact) -> Option<(DType, Dims, Dims, bool)> {
    let TensorFact { dtype: Some(dtype), dims: Some(dims), elements } = fact.as_tensor()? else {
        return None;
    };
    match elements {
        Elements::Integers(all) if all.iter().any(|dim| dim.known().is_none()) => {
            Some((*dtype, dims.clone(), all.clone(), false))
        }
        Elements::Progression(both) => {
            let both: Dims = [both.0, both.1].into();
            Some((*dtype, dims.clone(), both, true))
        }
        _ => None,
    }
}

/// The value whose elements, in their order, a node only gives another shape, as rules made it.
fn root(scope: &FoldState<'_>, index: usize) -> Option<ValueId> {
    let view = NodeView::new(scope, index);
    let input = view.value(0).filter(|_| is_view(&view))?;
    Some(scope.seen.roots.get(&input).copied().unwrap_or(input))
}

fn view(scope: &FoldState<'_>, index: usize, fact: &Fact) -> Option<ValueId> {
    let (root, dims) = (root(scope, index)?, dims_of(fact)?);
    if dims_of(&scope.values[root.index()].fact) == Some(dims) {
        return Some(root);
    }
    scope.seen.views.get(&(root, dims.clone())).copied()
}
