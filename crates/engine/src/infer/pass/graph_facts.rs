//! Facts of one graph and of the graphs within its nodes.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;
use gradus_core::graph::{Graph, Node};
use gradus_core::text::name_in_message;

use crate::attributes::Parameters;
use crate::dim::{Condition, Dim};
use crate::fact::Fact;
use crate::operators::{Chance, Row};

/// Path to a graph: the numbers of the nodes around it, each with the number of the graph among
/// those in its attributes. The body of a function that a node calls comes after these.
pub type SubgraphPath = Arc<[(usize, usize)]>;

/// The facts about a subgraph.
#[derive(Clone, Debug)]
pub struct Subgraph {
    /// The nodes around it and the attribute that holds it.
    pub path: String,
    /// The path to the graph.
    pub place: SubgraphPath,
    /// Its values by name, with what is known of them in every run of the graph.
    pub values: Vec<(Arc<str>, Fact)>,
    /// By value: whether a node of the graph computes it.
    pub(super) computed: Vec<bool>,
    /// True if every run of the graph fails, though the model runs where it does not.
    pub fails: bool,
}

impl Subgraph {
    /// Facts about the values that nodes of the graph compute.
    pub fn computed(&self) -> impl Iterator<Item = &Fact> {
        let values = self.values.iter().zip(&self.computed);
        values.filter(|(_, computed)| **computed).map(|((_, fact), _)| fact)
    }
}

/// The facts of subgraphs.
#[derive(Debug)]
pub struct SubgraphFacts {
    facts: HashMap<SubgraphPath, Vec<Fact>>,
    /// The graphs that fail whenever they run.
    failing: Vec<SubgraphPath>,
}

impl SubgraphFacts {
    /// Facts about the values of subgraphs, by the place of each subgraph.
    pub fn new(bodies: Vec<Subgraph>) -> SubgraphFacts {
        let failing = bodies.iter().filter(|body| body.fails).map(|body| body.place.clone()).collect();
        let facts = |body: Subgraph| (body.place, body.values.into_iter().map(|(_, fact)| fact).collect());
        SubgraphFacts { facts: bodies.into_iter().map(facts).collect(), failing }
    }

    /// Returns true if a graph of a node fails whenever it runs, by the place of the node's graph.
    pub fn fails(&self, place: &[(usize, usize)], node: usize) -> bool {
        let is_of = |path: &[(usize, usize)]| {
            path.split_last().is_some_and(|(last, around)| last.0 == node && around == place)
        };
        self.failing.iter().any(|path| is_of(path))
    }

    /// Forgets what is known of the graphs of nodes of the main graph within which one fails
    /// whenever it runs, and returns the numbers of these nodes.
    pub fn forget_failing(&mut self) -> BTreeSet<usize> {
        let failing: Vec<_> = self.failing.iter().filter_map(|path| path.first().copied()).collect();
        self.facts.retain(|place, _| place.first().is_none_or(|first| !failing.contains(first)));
        failing.into_iter().map(|(node, _)| node).collect()
    }

    /// The facts of the graph at a place; nothing if it was not inferred.
    pub fn get(&self, place: &[(usize, usize)]) -> Option<&[Fact]> {
        self.facts.get(place).map(Vec::as_slice)
    }

    /// The facts of a graph, which is at that place: of one that was not inferred, none is known.
    pub fn facts(&self, graph: &Graph, place: &[(usize, usize)]) -> Vec<Fact> {
        self.get(place).map_or_else(|| vec![Fact::Unknown; graph.values().len()], <[Fact]>::to_vec)
    }
}

/// How often a subgraph runs, in each run of the graph around it.
#[derive(Clone, Copy, Debug)]
pub struct GraphRuns {
    /// The number of runs.
    pub count: Dim,
    /// Symbols from this one on differ from one run to the next.
    pub mark: u32,
}

/// Why a subgraph is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The graph runs once.
    Certain,
    /// The graph may run, or runs many times; the condition tells whether it does, if sizes decide
    /// that.
    Perhaps(Option<Condition>),
    /// The graph never runs, and is inferred for the report alone.
    Never,
    /// One of many runs of the graph, of which all together were inferred before.
    Again,
}

/// A subgraph, to be inferred.
pub struct Inner<'m> {
    pub graph: &'m Graph,
    /// The attributes of a function as its call gives them.
    pub parameters: Option<Parameters<'m>>,
    /// The last part of a [`SubgraphPath`].
    pub place: (usize, usize),
    pub name: String,
    /// True if its inputs depend on what the inputs of the model hold.
    pub depends: bool,
    pub how: Visit,
}

/// A graph while its facts are found.
pub struct GraphFacts<'m> {
    pub graph: &'m Graph,
    pub facts: Vec<Fact>,
    /// By value: whether its elements depend on what inputs hold, and not only on their shapes.
    pub depends: Vec<bool>,
    /// By value: whether nodes leave its rank open, as branches and iterations of other ranks do.
    pub several: Vec<bool>,
    /// By value: why nothing or little is known of it.
    pub reasons: HashMap<usize, Arc<str>>,
    pub parameters: Parameters<'m>,
    pub path: Rc<str>,
    pub place: SubgraphPath,
}

impl GraphFacts<'_> {
    /// A node in words, after the nodes around it.
    pub fn label(&self, node: &Node, index: usize) -> String {
        let slash = if self.path.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.path, label(node, index))
    }

    /// Why a node's outputs are not known.
    pub(super) fn reason(&self, node: &Node, input: Option<usize>, why: &str) -> Arc<str> {
        let Some((input, id)) = input.and_then(|i| Some((i, node.inputs.get(i).copied().flatten()?))) else {
            return why.into();
        };
        let [operator, name] =
            [&node.operator.name, &self.graph.value(id).name].map(|of| name_in_message(of));
        format!("{operator}: input {input} \"{name}\" {why}").into()
    }
}

/// A node in words: `node "pos" (Range)`.
pub fn label(node: &Node, index: usize) -> String {
    format!("{} ({})", node.label(index), name_in_message(&node.operator.to_string()))
}

/// Returns true if the results of a node depend on elements of inputs, on chance or on variables.
pub(super) fn depends(frame: &GraphFacts<'_>, node: &Node, row: Option<&Row>) -> bool {
    let drawn = row.is_some_and(|row| row.chance == Chance::Yes || row.stateful);
    drawn || node.needs().any(|id| frame.depends[id.index()])
}
