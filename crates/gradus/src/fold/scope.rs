//! A graph while it is folded: first every node is looked at in order, then what is needed is found
//! from the end.

mod constants;
mod needs;

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::Tensor;
use gradus_core::graph::{Graph, Node, OPSET_OF_MADE, Origin, Standard, ValueId};

use super::dialect::Role;
use super::join::Joined;
use super::rules::{Pass, Replacement, RuleSet, Source};
use super::shape_source::InputSizes;
use super::{GraphFolder, KnownOperator, cse, inline, rules, simplify_shapes};
use crate::fact::Fact;
use crate::normalize::Form;

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
}
