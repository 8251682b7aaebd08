//! Differences between two models.
//!
//! Compared is what models mean: what they say of themselves, their interface, nodes, attributes,
//! constants bit for bit, declared types, functions, and the same of the subgraphs. The
//! order of nodes and constants, the way in which a file stores elements, and documentation are no
//! differences. Nodes are paired by the values that they define and by their names, so the work is
//! linear in the nodes. Constants are compared two at a time, in the mapped files where they lie
//! there as tensors hold them.

mod content;
mod graphs;
mod pairs;

use std::collections::BTreeMap;

pub use content::attribute_text;
pub(crate) use content::have_same_attributes;
use gradus_core::graph::{self, Graph};
use gradus_core::{Limits, Result};

use crate::Model;

/// How a second model differs from a first.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// The descriptions of the models: format, producer, operator sets, metadata.
    pub model: Vec<Change>,
    /// Operators of which the number of nodes differs, with subgraphs: the numbers before and
    /// after.
    pub operators: BTreeMap<String, [usize; 2]>,
    /// Functions that only one model has, or that take other attributes.
    pub functions: Vec<Change>,
    /// The graphs that differ: the main one, those within nodes, and the bodies of functions.
    pub graphs: Vec<GraphDiff>,
}

/// How a graph differs from another.
#[derive(Clone, Debug, Default)]
pub struct GraphDiff {
    /// Path to it: empty for the main graph, else the nodes around it and their attributes, or the
    /// function.
    pub path: String,
    /// Inputs, with their declared types.
    pub inputs: Vec<Change>,
    /// Outputs, with their declared types.
    pub outputs: Vec<Change>,
    /// Nodes; the parts of one that changed are its operator, inputs, outputs and attributes.
    pub nodes: Vec<Change>,
    /// Constants: type, shape, and the elements if they are few.
    pub constants: Vec<Change>,
    /// Declared types of further values that both graphs have.
    pub types: Vec<Change>,
}

/// Something that is in one model only, or is another thing in each; all in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its description.
    pub name: String,
    /// The value before; `None` if it is new.
    pub before: Option<String>,
    /// The value after; `None` if it was removed.
    pub after: Option<String>,
    /// Changes of its parts, if it has parts.
    pub parts: Vec<Change>,
}

impl Change {
    fn new(name: impl Into<String>, before: Option<String>, after: Option<String>) -> Change {
        Change { name: name.into(), before, after, parts: Vec::new() }
    }
}

impl Diff {
    /// Compares two models within the limits of the first.
    ///
    /// ```
    /// use gradus::{Model, diff::Diff};
    /// let [a, b] = ["range", "positions"].map(|name| format!("examples/{name}.onnx"));
    /// let (a, b) = (Model::open(a)?, Model::open(b)?);
    /// assert!(Diff::of(&a, &a)?.is_empty());
    /// assert_eq!(Diff::of(&a, &b)?.operators["Shape"], [0, 1]);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    ///
    /// # Errors
    /// Whatever is wrong with elements of constants, which are read here;
    /// [`gradus_core::Kind::Limit`] after the deadline.
    pub fn of(before: &Model, after: &Model) -> Result<Diff> {
        let sources = [before.source(), after.source()];
        let mut diff = Diff {
            model: statements(sources),
            operators: operators(sources.map(|model| &model.graph)),
            ..Diff::default()
        };
        // Versions of ONNX's operators follow from the operator sets, which are compared already.
        let versions = sources.iter().any(|model| model.standard != graph::Standard::Onnx);
        let limits = before.limits();
        let graphs = graphs::GraphsDiff { versions, limits, found: Vec::new() };
        diff.graphs = graphs.compare(sources.map(|model| &model.graph), "")?;
        diff.compare_functions(sources, limits)?;
        Ok(diff)
    }

    /// Returns true if there is no difference.
    pub fn is_empty(&self) -> bool {
        self.model.is_empty() && self.functions.is_empty() && self.graphs.is_empty()
    }

    fn compare_functions(&mut self, models: [&graph::Model; 2], limits: Limits) -> Result<()> {
        let named = models.map(|model| {
            let functions = model.functions.iter().map(|function| (function.id.to_string(), function));
            functions.collect::<BTreeMap<_, _>>()
        });
        for (name, pair) in joined(named) {
            match pair {
                [Some(before), Some(after)] => {
                    let parts = content::parameters([before, after])?;
                    if !parts.is_empty() {
                        let [a, b] = [before, after].map(|function| Some(graphs::sizes(&function.body)));
                        self.functions.push(Change { parts, ..Change::new(&name, a, b) });
                    }
                    let path = format!("function \"{name}\"");
                    let graphs = graphs::GraphsDiff { versions: true, limits, found: Vec::new() };
                    self.graphs.extend(graphs.compare([&before.body, &after.body], &path)?);
                }
                [before, after] => {
                    let [before, after] = [before, after]
                        .map(|function| function.map(|function| graphs::sizes(&function.body)));
                    self.functions.push(Change::new(name, before, after));
                }
            }
        }
        Ok(())
    }
}

/// The descriptions of the models, where they differ.
fn statements(models: [&graph::Model; 2]) -> Vec<Change> {
    let stated = models.map(|model| {
        let mut stated = BTreeMap::from([
            ("standard".to_owned(), model.standard.to_string()),
            ("format version".to_owned(), model.format_version.to_string()),
            ("graph name".to_owned(), model.graph.name().to_owned()),
        ]);
        if !model.producer.is_empty() {
            stated.insert("producer".to_owned(), model.producer.clone());
        }
        for (domain, version) in &model.opsets {
            stated.insert(format!("operator set {domain:?}"), version.to_string());
        }
        for (key, value) in &model.metadata {
            stated.insert(format!("metadata {key:?}"), value.clone());
        }
        stated
    });
    let differing = joined(stated).into_iter().filter(|(_, [before, after])| before != after);
    differing.map(|(name, [before, after])| Change::new(name, before, after)).collect()
}

/// Counts of nodes, where they differ.
fn operators(graphs: [&Graph; 2]) -> BTreeMap<String, [usize; 2]> {
    let counts = graphs.map(|graph| {
        let (mut counts, mut open) = (BTreeMap::<String, usize>::new(), vec![graph]);
        while let Some(graph) = open.pop() {
            for node in graph.nodes() {
                *counts.entry(node.operator.to_string()).or_default() += 1;
                open.extend(node.graphs().map(|graph| &**graph));
            }
        }
        counts
    });
    let counts = joined(counts).into_iter().map(|(name, pair)| (name, pair.map(Option::unwrap_or_default)));
    counts.filter(|(_, [before, after])| before != after).collect()
}

/// The entries of two maps by their keys.
fn joined<K: Ord, V>([before, after]: [BTreeMap<K, V>; 2]) -> BTreeMap<K, [Option<V>; 2]> {
    let mut all: BTreeMap<_, _> = before.into_iter().map(|(key, value)| (key, [Some(value), None])).collect();
    for (key, value) in after {
        all.entry(key).or_default()[1] = Some(value);
    }
    all
}
