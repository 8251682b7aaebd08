//! The model with the changes so far, and what inference says of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gradus_core::Result;
use gradus_core::graph::edit::{Edit, Kept, Step};
use gradus_core::graph::{Node, Type, ValueId};

use super::formula::{Formula, FormulaNodes, InputAxis};
use crate::dim::{Dim, Relation, Symbols};
use crate::fact::{Dims, Elements, Fact};
use crate::model::Model;
use gradus_engine::infer::{InferOptions, Inference, ModelCondition, Why, node_label};

/// The formulas that take the place of constants, by node and input.
pub(super) type TriedFormulas = BTreeMap<(usize, usize), Formula>;

/// The model and its sizes, which stay the same while formulas are tried.
pub(super) struct Ground<'m> {
    pub(super) model: &'m Model,
    /// The types of the inputs, with symbols.
    pub(super) types: Vec<(Arc<str>, Type)>,
    pub(super) axes: HashMap<Arc<str>, InputAxis>,
    /// The sizes of the symbols in the file.
    pub(super) sizes: HashMap<Arc<str>, i64>,
    /// Nodes that outputs need before any change.
    needed: HashSet<usize>,
    /// The symbols that are new.
    pub(super) open: HashSet<Arc<str>>,
}

/// The model with changes.
pub(super) struct ChangedModel {
    pub(super) model: Model,
    pub(super) inference: Inference,
    /// By node of the model that was read: its number here.
    new: Vec<Option<usize>>,
    /// Conditions that no size but that of the file meets, and contradictions: by node of the model
    /// that was read.
    pub(super) hard: Vec<(usize, Hard)>,
    /// The nodes of other conditions of sizes.
    pub(super) soft: Vec<usize>,
}

/// Something that only the sizes of the file meet.
#[derive(Clone, Debug)]
pub(super) struct Hard {
    pub(super) text: String,
    /// The expressions that it is about.
    pub(super) dims: Vec<Dim>,
    /// False for a bound, with which the model still runs for other sizes than those of the file.
    pub(super) is_fixed: bool,
}

impl<'m> Ground<'m> {
    /// A model with types of inputs in place of those that it declares.
    pub(super) fn new(
        model: &'m Model,
        types: Vec<(Arc<str>, Type)>,
        axes: HashMap<Arc<str>, InputAxis>,
        sizes: HashMap<Arc<str>, i64>,
    ) -> Ground<'m> {
        let needed = needed(model, &TriedFormulas::new());
        let open = sizes.keys().cloned().collect();
        Ground { model, types, axes, sizes, needed, open }
    }

    /// The edit that makes the changes, and the nodes that it keeps.
    pub(super) fn edit(&self, changes: &TriedFormulas) -> Result<(Edit, usize, Vec<usize>)> {
        let graph = self.model.graph();
        let mut writer = FormulaNodes::new(graph, &self.axes);
        let mut inputs: HashMap<usize, Vec<(usize, Arc<str>)>> = HashMap::new();
        for ((node, input), formula) in changes {
            inputs.entry(*node).or_default().push((*input, writer.write(formula)?));
        }
        let still = needed(self.model, changes);
        let stays = |node: &usize| still.contains(node) || !self.needed.contains(node);
        let kept: Vec<_> = graph.order().iter().copied().filter(stays).collect();
        let mut nodes = writer.made;
        let made = nodes.len();
        nodes.extend(kept.iter().map(|&node| {
            let inputs = inputs.remove(&node).unwrap_or_default();
            Step::Kept(Kept { node, inputs, ..Kept::default() })
        }));
        let reads: HashSet<ValueId> = kept
            .iter()
            .flat_map(|&node| read(&graph.nodes()[node], node, changes))
            .chain(graph.outputs().iter().copied())
            .collect();
        let before: HashSet<ValueId> = graph.nodes().iter().flat_map(Node::needs).collect();
        let gone = |id: &ValueId| before.contains(id) && !reads.contains(id);
        let constants = graph.constants().iter().map(|(id, _)| *id);
        let dropped = constants.filter(gone).map(|id| graph.value(id).name.clone()).collect();
        Ok((Edit { nodes, dropped, types: self.types.clone(), ..Edit::default() }, made, kept))
    }

    /// The model with the changes, inferred.
    pub(super) fn view(&self, changes: &TriedFormulas) -> Result<ChangedModel> {
        let (edit, made, kept) = self.edit(changes)?;
        let model = self.model.with_source(self.model.source().apply(&edit)?);
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let inference = model.infer_by_node(&options)?;
        let mut new = vec![None; self.model.graph().nodes().len()];
        for (place, &node) in kept.iter().enumerate() {
            new[node] = Some(made + place);
        }
        let mut view = ChangedModel { model, inference, new, hard: Vec::new(), soft: Vec::new() };
        self.note_conditions(&mut view, made, &kept);
        Ok(view)
    }

    fn note_conditions(&self, view: &mut ChangedModel, made: usize, kept: &[usize]) {
        let nodes = view.model.graph().nodes();
        let labels: HashMap<String, usize> = kept
            .iter()
            .enumerate()
            .map(|(at, &node)| (node_label(&nodes[made + at], made + at), node))
            .collect();
        let mut symbols = view.inference.symbols().clone();
        for condition in view.inference.conditions() {
            let Some(relation) = condition.relation.filter(|_| condition.why != Why::Declared) else {
                continue;
            };
            let Some(&node) = labels.get(&condition.node) else { continue };
            if self.is_hard(&mut symbols, condition) {
                let dims = vec![relation.left, relation.right];
                let is_fixed = matches!(relation.relation, Relation::Equal | Relation::Broadcast);
                view.hard.push((node, Hard { text: condition.text.clone(), dims, is_fixed }));
            } else {
                view.soft.push(node);
            }
        }
        for problem in view.inference.problems() {
            let node = problem.node.as_ref().filter(|(path, _)| path.is_empty()).map(|(_, node)| *node);
            let node = node.and_then(|node| kept.get(node.checked_sub(made)?).copied());
            let node = node.or_else(|| labels.get(&problem.place).copied()).unwrap_or_default();
            view.hard.push((node, Hard { text: problem.message.clone(), dims: Vec::new(), is_fixed: true }));
        }
    }

    /// Returns true if a condition fails where all open sizes are twice and three times those of
    /// the file, or where one is.
    fn is_hard(&self, symbols: &mut Symbols, condition: &ModelCondition) -> bool {
        let Some(relation) =
            condition.relation.filter(|_| condition.when.guards().is_some_and(<[_]>::is_empty))
        else {
            return false;
        };
        if relation.relation == Relation::NotEqual {
            return false;
        }
        let holds = |times: i64, only: Option<&Arc<str>>| {
            let size = |name: &str| {
                let size = *self.sizes.get(name)?;
                let moves = self.open.contains(name) && only.is_none_or(|only| &**only == name);
                Some(if moves { size * times } else { size })
            };
            let (left, right) =
                (symbols.evaluate(relation.left, &size)?, symbols.evaluate(relation.right, &size)?);
            Some(relation.relation.holds(left, right))
        };
        let all = [2, 3].iter().all(|&times| holds(times, None) == Some(false));
        let one = |name: &Arc<str>| [2, 3].iter().all(|&times| holds(times, Some(name)) == Some(false));
        let dims = [relation.left, relation.right];
        let involved: HashSet<_> =
            dims.iter().flat_map(|&dim| symbols.symbols_of(dim)).map(|symbol| symbol.name.clone()).collect();
        let open = involved.iter().filter(|name| self.open.contains(*name));
        all || (involved.len() == 1 && open.into_iter().any(one))
    }
}

/// The values that a node reads which no change replaces.
fn read<'n>(node: &'n Node, index: usize, changes: &'n TriedFormulas) -> impl Iterator<Item = ValueId> + 'n {
    let inputs = node.inputs.iter().copied().enumerate();
    let own = inputs.filter(move |(input, _)| !changes.contains_key(&(index, *input)));
    let captured = node.graphs().flat_map(|graph| graph.captures().iter().map(|capture| capture.outer));
    own.filter_map(|(_, id)| id).chain(captured)
}

/// The nodes that outputs need.
fn needed(model: &Model, changes: &TriedFormulas) -> HashSet<usize> {
    let graph = model.graph();
    let mut found = HashSet::new();
    let mut open: Vec<ValueId> = graph.outputs().to_vec();
    while let Some(id) = open.pop() {
        let gradus_core::graph::Origin::Node(node, _) = graph.value(id).origin else { continue };
        if found.insert(node) {
            open.extend(read(&graph.nodes()[node], node, changes));
        }
    }
    found
}

impl ChangedModel {
    /// Returns true if no condition fixes the sizes to those of the file.
    pub(super) fn is_open(&self) -> bool {
        !self.hard.iter().any(|(_, hard)| hard.is_fixed)
    }

    /// A node of the model that was read, as it is here.
    pub(super) fn node(&self, node: usize) -> Option<&Node> {
        Some(&self.model.graph().nodes()[self.new[node]?])
    }

    /// The fact about an input of a node.
    pub(super) fn input(&self, node: usize, input: usize) -> Option<&Fact> {
        Some(self.inference.fact(self.node(node)?.inputs.get(input).copied().flatten()?))
    }

    /// The sizes of an input of a node.
    pub(super) fn dims(&self, node: usize, input: usize) -> Option<Dims> {
        self.input(node, input)?.as_tensor()?.dims.clone()
    }

    /// The elements of an input of a node that are whole numbers.
    pub(super) fn elements(&self, node: usize, input: usize) -> Option<Dims> {
        match &self.input(node, input)?.as_tensor()?.elements {
            Elements::Integers(all) => Some(all.clone()),
            _ => None,
        }
    }

    /// The sizes of the first output of a node.
    pub(super) fn output(&self, node: usize) -> Option<Dims> {
        let id = self.node(node)?.outputs.first().copied().flatten()?;
        self.inference.fact(id).as_tensor()?.dims.clone()
    }

    /// The number of sizes of the inputs of a node that are one of these texts.
    pub(super) fn sizes_like(&self, ground: &Ground<'_>, node: usize, texts: &[Arc<str>]) -> usize {
        let inputs = self.node(node).map_or(0, |node| node.inputs.len());
        let dims = (0..inputs).filter_map(|input| self.dims(node, input));
        let is_like = |dim: &Dim| {
            dim.known().is_none() && self.text(ground, *dim).is_some_and(|text| texts.contains(&text))
        };
        dims.map(|dims| dims.iter().filter(|dim| is_like(dim)).count()).sum()
    }

    /// The open sizes of the first outputs of nodes, each once, in the order of nodes.
    pub(super) fn sizes_of_nodes(&self, ground: &Ground<'_>) -> Vec<Dim> {
        let mut seen = HashSet::new();
        let outputs = ground.model.graph().order().iter().filter_map(|&node| self.output(node));
        let sizes = outputs.flat_map(|dims| dims.iter().copied().collect::<Vec<_>>());
        sizes.filter(|dim| dim.known().is_none() && seen.insert(*dim)).collect()
    }

    /// Sizes of outputs of a node that nobody knows, and outputs of unknown rank.
    pub(super) fn unknown(&self, node: usize) -> usize {
        let Some(own) = self.node(node) else { return 0 };
        let outputs = own.outputs.iter().copied().flatten();
        let count = |id| match self.inference.fact(id).as_tensor().and_then(|fact| fact.dims.as_ref()) {
            Some(dims) => dims.iter().filter(|dim| self.inference.symbols().is_unknown(**dim)).count(),
            None => 1,
        };
        outputs.map(count).sum()
    }

    /// An expression as text, if it is one of symbols that inputs have.
    pub(super) fn text(&self, ground: &Ground<'_>, dim: Dim) -> Option<Arc<str>> {
        let symbols = self.inference.symbols();
        let known = symbols.symbols_of(dim).iter().all(|symbol| ground.axes.contains_key(&symbol.name));
        known.then(|| symbols.print(dim).to_string().into())
    }
}
