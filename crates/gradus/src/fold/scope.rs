//! A graph while it is folded: first every node is looked at in order, then what is needed is found
//! from the end.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::Tensor;
use gradus_core::convert::u64_of;
use gradus_core::graph::{Graph, Node, OPSET_OF_MADE, Origin, Standard, ValueId};

use super::dialect::Role;
use super::join::Joined;
use super::reproducible::{has_negative_zero, is_exact, is_settled, is_whole, widens};
use super::rules::{NodeView, Pass, Replacement, RuleSet, Source};
use super::shape_source::InputSizes;
use super::{GraphFolder, KnownOperator, cse, inline, intervals, representable, rules, simplify_shapes};
use crate::fact::{Fact, TensorFact};
use crate::normalize::Form;
use crate::operator;

/// Bytes of a constant that may be larger than what computes it.
const SMALL: u64 = 1 << 10;

/// Bytes of a constant that may take the place of nodes that read small constants alone.
const LARGE: u64 = 1 << 14;

/// Maximum number of nodes between a constant and the constants that it replaces.
const MAX_REPLACED: usize = 32;

/// Maximum number of sweeps over a graph after it was studied: each makes some node simpler.
const MAX_SWEEPS: usize = 4;

/// The source of a value in the folded graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// The value itself.
    Own,
    /// Another value, which is defined before it.
    Other(ValueId),
    /// A constant.
    Constant(Tensor),
    /// Dimensions of an input.
    InputSizes(InputSizes),
}

/// Change in the bytes of a model if a constant takes the place of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gain {
    Some,
    /// If the other readers of its constants go.
    Later,
    None,
}

/// A value while its graph is folded.
#[allow(clippy::struct_excessive_bools, reason = "independent properties of a value")]
pub(super) struct ValueState {
    pub(super) fact: Fact,
    pub(super) read: Read,
    /// True if the value is the same bits in every implementation.
    pub(super) exact: bool,
    /// True if the value must keep its name and its source.
    pub(super) fixed: bool,
    /// True if the value is an output of the graph.
    pub(super) output: bool,
    /// Something reads it.
    pub(super) needed: bool,
    /// True if the value is known, and larger as a constant than what computes it.
    pub(super) costly: bool,
}

/// A node while its graph is folded.
#[allow(clippy::struct_excessive_bools, reason = "independent properties of a node")]
pub(super) struct NodeState {
    pub(super) role: Role,
    /// The node and all that it reads are left as they are: its operator is unknown.
    pub(super) opaque: bool,
    /// Inputs of the newest version of its operator are attributes, or have other indices.
    pub(super) moves_inputs: bool,
    /// The index of the rules that look at its operator.
    pub(super) looking: u16,
    /// The node is kept.
    pub(super) stays: bool,
    /// Another node is written in its place.
    is_replaced: bool,
    /// Some input reads another value than in the file.
    pub(super) reads_another: bool,
}

/// A graph while it is folded.
pub(super) struct FoldState<'m> {
    pub(super) standard: Standard,
    /// ONNX: the version of the operator set.
    pub(super) opset: i64,
    pub(super) graph: &'m Graph,
    /// The nodes around it, as in [`gradus_engine::infer::Subgraph`].
    pub(super) place: Vec<(usize, usize)>,
    pub(super) values: Vec<ValueState>,
    pub(super) nodes: Vec<NodeState>,
    pub(super) rules: RuleSet,
    /// By node and input: the value that the node reads in place of the file's.
    inputs: BTreeMap<(usize, usize), Source>,
    /// By node: the node that is written in its place.
    replacements: BTreeMap<usize, Replacement>,
    /// By node: the values that a Split gives where it was.
    pub(super) joined: BTreeMap<usize, Joined>,
    /// Slices that a Split takes the place of: nothing needs their bounds.
    pub(super) in_parts: HashSet<usize>,
    /// Values that have another shape than in the file, and their new names.
    pub(super) reshaped: BTreeMap<ValueId, Arc<str>>,
    /// By value: the output of the graph whose name it takes.
    pub(super) renamed: HashMap<ValueId, ValueId>,
    /// By value: inputs of live nodes, subgraphs and outputs of the graph that read it.
    pub(super) reads: Vec<u32>,
    /// Values that lost readers, or whose node was replaced, after their readers were studied.
    pub(super) changed: HashSet<ValueId>,
    /// By node and number: its graphs.
    pub(super) children: BTreeMap<(usize, usize), FoldState<'m>>,
    /// Values that subgraphs read.
    pub(super) captured: HashSet<ValueId>,
    pub(super) seen: cse::Seen,
}

impl<'m> FoldState<'m> {
    /// The state of a graph before `study`: every value is read unchanged, and none is needed yet.
    /// `facts` has a fact for each value; `place` is the path of nodes and attributes to the graph.
    pub(super) fn new(
        folder: &mut GraphFolder<'m>,
        graph: &'m Graph,
        facts: Vec<Fact>,
        place: Vec<(usize, usize)>,
    ) -> FoldState<'m> {
        let value = |fact| ValueState {
            fact,
            read: Read::Own,
            exact: true,
            fixed: false,
            output: false,
            needed: false,
            costly: false,
        };
        let node = |node| {
            let KnownOperator { role, opaque, moves_inputs, looking } = folder.known(node);
            NodeState {
                role,
                opaque,
                moves_inputs,
                looking,
                stays: false,
                is_replaced: false,
                reads_another: false,
            }
        };
        let nodes = graph.nodes().iter().map(node).collect();
        let source = folder.model.source();
        let own = source.opsets.iter().find(|(domain, _)| domain.is_empty());
        let mut scope = FoldState {
            standard: source.standard,
            opset: own.map_or(OPSET_OF_MADE, |(_, version)| *version),
            graph,
            values: facts.into_iter().map(value).collect(),
            nodes,
            rules: folder.rules,
            inputs: BTreeMap::new(),
            replacements: BTreeMap::new(),
            joined: BTreeMap::new(),
            in_parts: HashSet::default(),
            reshaped: BTreeMap::new(),
            renamed: HashMap::default(),
            reads: vec![0; graph.values().len()],
            changed: HashSet::default(),
            children: BTreeMap::new(),
            captured: HashSet::default(),
            seen: cse::Seen::of(graph.nodes().len()),
            place,
        };
        graph.outputs().iter().for_each(|id| scope.values[id.index()].output = true);
        let main = scope.place.is_empty();
        if main && !folder.mentioned.is_empty() {
            let mentioned = |id: &ValueId| folder.mentioned.contains(&*graph.value(*id).name);
            graph.ids().filter(mentioned).for_each(|id| scope.values[id.index()].fixed = true);
        }
        for (index, node) in graph.nodes().iter().enumerate() {
            if scope.nodes[index].opaque {
                node.needs().for_each(|id| scope.values[id.index()].fixed = true);
            }
        }
        let inner = graph.nodes().iter().flat_map(Node::graphs);
        scope.captured =
            inner.flat_map(|inner| inner.captures().iter().map(|capture| capture.outer)).collect();
        scope.count_reads();
        let given = |id: &ValueId| !graph.value(*id).origin.is_node();
        for id in graph.ids().filter(given) {
            cse::note(&mut scope, id);
        }
        scope
    }

    /// Facts about an input of a node.
    pub(super) fn fact(&self, node: &Node, input: usize) -> Option<&Fact> {
        node.inputs.get(input).copied().flatten().map(|id| &self.values[id.index()].fact)
    }

    /// The value that an input of a node of the file reads in place of the file's.
    pub(super) fn own_input(&self, node: usize, input: usize) -> Option<&Source> {
        // Few nodes have any.
        if self.nodes[node].reads_another { self.inputs.get(&(node, input)) } else { None }
    }

    /// Lets an input of a node of the file read another value.
    pub(super) fn set_own_input(&mut self, node: usize, input: usize, source: Source) {
        self.nodes[node].reads_another = true;
        self.inputs.insert((node, input), source);
    }

    /// The node that is written in place of a node of the file.
    pub(super) fn replacement(&self, node: usize) -> Option<&Replacement> {
        // Few nodes have any.
        if self.nodes[node].is_replaced { self.replacements.get(&node) } else { None }
    }

    /// Writes a node in place of a node of the file.
    pub(super) fn set_replacement(&mut self, node: usize, replacement: Replacement) {
        self.nodes[node].is_replaced = true;
        self.replacements.insert(node, replacement);
    }

    /// Lets an input of a node, as it will be, read another value.
    pub(super) fn set_input(&mut self, node: usize, input: usize, source: Source) {
        let form = Form::of_node(self.standard, &self.graph.nodes()[node]);
        match (self.replacements.get_mut(&node), form.index_of(input)) {
            (Some(replacement), _) => replacement.inputs[input] = source,
            (None, Some(input)) => self.set_own_input(node, input, source),
            (None, None) => {}
        }
    }

    /// The value that is read in place of a value.
    pub(super) fn resolved(&self, mut id: ValueId) -> ValueId {
        // Each is defined before those that are read as it.
        while let Read::Other(other) = self.values[id.index()].read {
            id = other;
        }
        id
    }

    /// How a value is read that is the same as another.
    pub(super) fn read_of(&self, other: ValueId) -> Read {
        match &self.values[other.index()].read {
            Read::Own => Read::Other(other),
            read => read.clone(),
        }
    }

    /// Returns true if a value can be read as another, which is defined before it.
    pub(super) fn is_replaceable(&self, folder: &mut GraphFolder<'_>, id: ValueId, other: ValueId) -> bool {
        let value = &self.values[id.index()];
        if value.read != Read::Own || value.fixed {
            return false;
        }
        // A subgraph that has a value of the same name would read that.
        let name = &self.graph.value(self.resolved(other)).name;
        let hidden = self.captured.contains(&id) && folder.is_shared(name);
        // The output that names it: the value itself, or an output of the graph that is read as it.
        let output = if value.output { Some(id) } else { self.renamed.get(&id).copied() };
        !hidden && output.is_none_or(|output| self.can_be_named(folder, output, self.resolved(other)))
    }

    /// Returns true if the node that defines the value has no other output.
    pub(super) fn is_only_output(&self, id: ValueId) -> bool {
        let Origin::Node(index, _) = self.graph.value(id).origin else { return true };
        self.graph.nodes()[index].outputs.iter().flatten().count() == 1
    }

    /// Returns true if a node can define an output of the graph in place of a value.
    fn can_be_named(&self, folder: &mut GraphFolder<'_>, output: ValueId, id: ValueId) -> bool {
        let Origin::Node(index, _) = self.graph.value(id).origin else { return false };
        let value = &self.values[id.index()];
        let free = value.read == Read::Own && !value.output && !value.fixed;
        let named = self.rules.has(Pass::OutputNames) && !self.renamed.contains_key(&id);
        let inlined = self.nodes[index].role == Role::If || inline::branch(self, index).is_some();
        let plain = !self.nodes[index].opaque && !inlined;
        let shared = folder.is_shared(&self.graph.value(output).name);
        self.standard == Standard::Onnx && free && named && plain && !shared && self.is_movable(output)
    }

    /// Returns true if an output of the graph can come from another node than its own.
    fn is_movable(&self, output: ValueId) -> bool {
        let inlined = match self.graph.value(output).origin {
            Origin::Node(index, _) => inline::branch(self, index).is_some(),
            _ => false,
        };
        inlined || self.is_only_output(output)
    }

    /// Reads a value as another.
    pub(super) fn replace(&mut self, folder: &mut GraphFolder<'_>, id: ValueId, other: ValueId) {
        if !self.is_replaceable(folder, id, other) {
            return;
        }
        let output = if self.values[id.index()].output { Some(id) } else { self.renamed.remove(&id) };
        if let Some(output) = output {
            self.renamed.insert(self.resolved(other), output);
        }
        let fact = |id: ValueId| &self.values[id.index()].fact;
        folder.report.unsettled |= cse::is_vaguer(fact(id), fact(other));
        self.read_as(id, other);
    }

    /// A value that is read as another is as exact as that.
    fn read_as(&mut self, id: ValueId, other: ValueId) {
        self.values[id.index()].read = self.read_of(other);
        self.values[id.index()].exact |= self.values[other.index()].exact;
    }

    /// The name by which a value of this graph is written.
    pub(super) fn written_name(&self, id: ValueId) -> &Arc<str> {
        match (self.renamed.get(&id), self.reshaped.get(&id)) {
            (None, Some(name)) => name,
            (output, _) => &self.graph.value(output.copied().unwrap_or(id)).name,
        }
    }

    /// Looks at every node in order.
    pub(super) fn study(&mut self, folder: &mut GraphFolder<'m>) {
        let graph = self.graph;
        cse::constants(self, folder);
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            if self.nodes[index].opaque {
                node.outputs.iter().flatten().for_each(|id| self.values[id.index()].exact = false);
                continue;
            }
            let read = self.live_reads(index);
            self.constants(folder, index);
            inline::study(self, folder, index);
            if self.rules.has(Pass::Targets) {
                simplify_shapes::study(self, folder, index);
            }
            rules::apply(self, folder, index, true);
            simplify_shapes::settle(self, folder, index);
            cse::nodes(self, folder, index);
            for id in node.outputs.iter().copied().flatten() {
                let free = self.values[id.index()].read == Read::Own && !self.values[id.index()].fixed;
                if free && let Some(other) = cse::find(self, folder, index, id) {
                    // An output is defined by the node of the other, or copied.
                    if self.values[id.index()].output && self.is_replaceable(folder, id, other) {
                        self.replace(folder, id, other);
                    } else {
                        self.read_as(id, other);
                    }
                } else {
                    cse::note(self, id);
                }
            }
            self.recount(index, read);
        }
        // The table is not used from here on, and is large.
        self.seen = cse::Seen::default();
        self.study_again(folder);
    }

    /// Applies the rules to readers of what has fewer readers than when they were studied.
    fn study_again(&mut self, folder: &mut GraphFolder<'m>) {
        for _ in 0..MAX_SWEEPS {
            let changed = take(&mut self.changed);
            if changed.is_empty() {
                return;
            }
            for &index in self.graph.order() {
                let read = self.live_reads(index);
                let again = read.iter().any(|id| changed.contains(id) || self.changed.contains(id));
                if again && !self.nodes[index].opaque && rules::apply(self, folder, index, false) {
                    self.recount(index, read);
                    self.changed.extend(self.graph.nodes()[index].outputs.iter().flatten());
                }
            }
        }
    }

    /// Finds which outputs of a node are constants.
    fn constants(&mut self, folder: &mut GraphFolder<'_>, index: usize) {
        let (node, role) = (&self.graph.nodes()[index], self.nodes[index].role);
        let whole = |id: ValueId| self.values[id.index()].fact.dtype().is_some_and(is_whole);
        let all_whole = node.inputs.iter().chain(&node.outputs).flatten().all(|id| whole(*id));
        let operator = NodeView::new(self, index).operator();
        let alone = matches!(role, Role::Shape | Role::Size)
            || matches!(operator, "SequenceLength" | "OptionalHasElement");
        // The last input of CastLike is there for its type.
        let count = if operator == "CastLike" { 1 } else { usize::MAX };
        let inputs = alone || node.needs().take(count).all(|id| self.values[id.index()].exact);
        let dtype = |id: Option<ValueId>| id.and_then(|id| self.values[id.index()].fact.dtype());
        let (from, to) = (node.inputs.first().copied(), node.outputs.first().copied());
        let widens = widens(self.standard, role, dtype(from.flatten()), dtype(to.flatten()));
        let exact = match operator::find(folder.model.operators(), node) {
            Some(_) => all_whole,
            None => is_exact(self.standard, node, all_whole) && !widens,
        };
        // Quantized weights stay narrow.
        let widens = widens || operator == "DequantizeLinear";
        let computed = self.rules.has(Pass::Arithmetic) && !widens && !NodeView::new(self, index).is_random();
        // The sign of -0 is 0 in some programs.
        let view = NodeView::new(self, index);
        let is_open = view.function() == "Sign"
            && self.result(folder, &view).is_some_and(|result| has_negative_zero(&result));
        let exact = (exact && !is_open) || computed;
        let pass = if all_whole { Pass::Integers } else { Pass::Floats };
        let is_constant = self.rules.has(pass);
        let exact = inputs && (alone || exact || self.is_representable(folder, index));
        let exact = exact || (!inputs && self.is_settled(folder, index));
        let single = node.outputs.iter().flatten().count() == 1;
        for id in node.outputs.iter().copied().flatten() {
            self.values[id.index()].exact = exact;
            // An output that must keep its name cannot be replaced if its node has others.
            let movable = single || !(self.values[id.index()].fixed || self.values[id.index()].output);
            if !exact || !movable || !is_constant || role == Role::Constant {
                continue;
            }
            let Fact::Tensor(fact) = &self.values[id.index()].fact else { continue };
            let Some(tensor) = fact.tensor_within(folder.given.max_bytes) else { continue };
            let first = self.fact(node, 0).and_then(Fact::as_tensor).and_then(TensorFact::tensor);
            if !computed && !is_settled(self.standard, node, &[first.as_ref()], &tensor) {
                continue;
            }
            match self.gain(index, u64_of(tensor.byte_len())) {
                Gain::Some => self.values[id.index()].read = Read::Constant(tensor),
                gain => {
                    self.values[id.index()].costly = true;
                    folder.report.unsettled |= gain == Gain::Later;
                }
            }
        }
    }

    /// Compares `bytes` with the constants that nothing needs without the node that computes the
    /// value.
    fn gain(&self, index: usize, bytes: u64) -> Gain {
        if bytes <= SMALL {
            return Gain::Some;
        }
        let (mut alone, mut shared) = (0u64, 0u64);
        let (mut open, mut nodes) = (vec![index], MAX_REPLACED);
        while let Some(index) = open.pop() {
            for (_, id) in NodeView::new(self, index).reads() {
                let bytes = match (&self.values[id.index()].read, self.graph.value(id).origin) {
                    (Read::Constant(tensor), _) => u64_of(tensor.byte_len()),
                    (_, Origin::Node(before, _)) if self.nodes[before].role == Role::Constant => {
                        let fact = self.values[id.index()].fact.as_tensor();
                        fact.and_then(TensorFact::tensor).map_or(0, |tensor| u64_of(tensor.byte_len()))
                    }
                    (_, Origin::Node(before, _)) => {
                        if nodes > 0 {
                            nodes -= 1;
                            open.push(before);
                        }
                        continue;
                    }
                    _ => self
                        .graph
                        .constant(id)
                        .map_or(0, |stored| u64::try_from(stored.byte_len()).unwrap_or(u64::MAX)),
                };
                let of = if self.is_read_once(id) { &mut alone } else { &mut shared };
                *of = of.saturating_add(bytes);
            }
        }
        let all = alone.saturating_add(shared);
        match bytes {
            _ if bytes <= alone || (bytes <= LARGE && all <= SMALL) => Gain::Some,
            _ if bytes <= all => Gain::Later,
            _ => Gain::None,
        }
    }

    /// Returns true if a node computes floats that rounding does not change.
    fn is_representable(&self, folder: &GraphFolder<'_>, index: usize) -> bool {
        let view = NodeView::new(self, index);
        let result = || self.result(folder, &view);
        representable::may_be(&view)
            && result().is_some_and(|result| representable::is_representable(&view, &result))
    }

    /// Returns true if a node computes what rounding of the floats before it does not change.
    fn is_settled(&self, folder: &GraphFolder<'_>, index: usize) -> bool {
        let view = NodeView::new(self, index);
        let result = || self.result(folder, &view);
        self.rules.has(Pass::Settled)
            && intervals::may_be(&view)
            && result().is_some_and(|result| intervals::is_settled(&view, &result))
    }

    /// The first output of a node, if it is known.
    fn result(&self, folder: &GraphFolder<'_>, view: &NodeView<'_, '_>) -> Option<Tensor> {
        let fact = self.values[view.output()?.index()].fact.as_tensor()?;
        fact.tensor_within(folder.given.max_bytes)
    }

    /// Marks what the outputs of the graph need.
    pub(super) fn need_outputs(&mut self, folder: &mut GraphFolder<'m>) {
        for &id in self.graph.outputs() {
            self.need(id);
        }
        self.need_rest(folder);
    }

    /// Forgets what is needed, and gives it back.
    pub(super) fn forget_needs(&mut self) -> Needs<'m> {
        let needed = self.values.iter_mut().map(|value| take(&mut value.needed)).collect();
        let stays = self.nodes.iter_mut().map(|node| take(&mut node.stays)).collect();
        Needs { needed, stays, children: take(&mut self.children) }
    }

    /// Takes back what was needed before.
    pub(super) fn restore_needs(&mut self, needs: Needs<'m>) {
        self.values.iter_mut().zip(needs.needed).for_each(|(value, needed)| value.needed = needed);
        self.nodes.iter_mut().zip(needs.stays).for_each(|(node, stays)| node.stays = stays);
        self.children = needs.children;
    }

    /// Marks a value as read.
    pub(super) fn need(&mut self, id: ValueId) {
        self.values[id.index()].needed = true;
        let other = self.resolved(id);
        self.values[other.index()].needed = true;
        if let Read::InputSizes(sizes) = &self.values[other.index()].read {
            let input = sizes.input.index();
            self.values[input].needed = true;
        }
    }

    /// Marks what is needed by what is needed.
    pub(super) fn need_rest(&mut self, folder: &mut GraphFolder<'m>) {
        let graph = self.graph;
        for id in graph.ids().filter(|id| self.values[id.index()].fixed).collect::<Vec<_>>() {
            self.need(id);
        }
        for &index in graph.order().iter().rev() {
            let node = &graph.nodes()[index];
            let own =
                |id: &ValueId| self.values[id.index()].needed && self.values[id.index()].read == Read::Own;
            if !self.nodes[index].opaque && !node.outputs.iter().flatten().any(own) {
                continue;
            }
            self.nodes[index].stays = true;
            if let Some(branch) = inline::branch(self, index) {
                inline::need(self, folder, node, index, &branch);
                continue;
            }
            let view = NodeView::new(self, index);
            let count = if self.in_parts.contains(&index) { 1 } else { usize::MAX };
            for (_, id) in view.reads().take(count).collect::<Vec<_>>() {
                self.need(id);
            }
            if self.nodes[index].opaque {
                node.needs().for_each(|id| self.need(id));
                continue;
            }
            for (number, inner) in node.graphs().enumerate() {
                let mut child = self.child(folder, inner, (index, number));
                child.need_outputs(folder);
                self.need_captures(&child);
                folder.report.unsettled |= self.may_become_exact(folder, index, &child);
                self.children.insert((index, number), child);
            }
        }
    }

    /// Returns true if a node whose results are known may be exact without the nodes of its graph
    /// that nothing needs.
    fn may_become_exact(&self, folder: &GraphFolder<'_>, index: usize, child: &FoldState<'_>) -> bool {
        let is_known = |id: &ValueId| {
            let value = &self.values[id.index()];
            let fact = value.fact.as_tensor().filter(|_| !value.exact && value.read == Read::Own);
            fact.is_some_and(|fact| fact.tensor_within(folder.given.max_bytes).is_some())
        };
        child.nodes.iter().any(|node| !node.stays)
            && self.graph.nodes()[index].outputs.iter().flatten().any(is_known)
    }

    /// The scope of a subgraph, studied.
    pub(super) fn child(
        &self,
        folder: &mut GraphFolder<'m>,
        inner: &'m Graph,
        at: (usize, usize),
    ) -> FoldState<'m> {
        let place: Vec<_> = self.place.iter().copied().chain([at]).collect();
        let facts = folder.bodies.facts(inner, &place);
        let mut child = FoldState::new(folder, inner, facts, place);
        // Values that are not exact outside are not exact within. Of the inputs, floats may
        // be anything.
        for capture in inner.captures() {
            child.values[capture.inner.index()].exact = self.values[capture.outer.index()].exact;
        }
        for id in inner.inputs() {
            child.values[id.index()].exact = child.values[id.index()].fact.dtype().is_some_and(is_whole);
        }
        let node = &self.graph.nodes()[at.0];
        for (id, outer) in inline::passed(self.standard, node, inner) {
            child.values[id.index()].exact |= self.values[outer.index()].exact;
        }
        child.study(folder);
        child
    }

    /// Marks the values that a subgraph captures and needs as needed.
    pub(super) fn need_captures(&mut self, child: &FoldState<'_>) {
        for capture in child.graph.captures() {
            if child.values[capture.inner.index()].needed {
                self.need(capture.outer);
            }
        }
    }

    /// Constants that the file's graph reads and the folded one does not.
    pub(super) fn dropped(&self) -> std::collections::HashSet<Arc<str>> {
        let mut read = vec![false; self.graph.values().len()];
        self.graph.nodes().iter().flat_map(Node::needs).for_each(|id| read[id.index()] = true);
        let idle = |id: ValueId| {
            let plain = self.graph.value(id).origin == Origin::Constant;
            plain && read[id.index()] && !self.values[id.index()].needed && !self.values[id.index()].output
        };
        let idle = self.graph.constants().iter().map(|(id, _)| *id).filter(|&id| idle(id));
        idle.map(|id| self.graph.value(id).name.clone()).collect()
    }
}

/// The values and nodes of a graph that are needed.
pub(super) struct Needs<'m> {
    needed: Vec<bool>,
    stays: Vec<bool>,
    children: BTreeMap<(usize, usize), FoldState<'m>>,
}
