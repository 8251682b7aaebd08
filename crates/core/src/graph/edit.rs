//! Graphs as they are to be written: which of their nodes, which others instead, and what else
//! changes.
//!
//! An edit is about a graph that a file holds. A writer goes over the file and copies what the edit
//! does not name, so that what was not touched stays as it was, whether or not anyone understands
//! it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Attribute, Type};
use crate::tensor::Tensor;

/// The replacement of a name, wherever it is read.
pub type Renames = HashMap<Arc<str>, Arc<str>>;

/// A graph as it is to be written.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The nodes, in their new order.
    pub nodes: Vec<Step>,
    /// Constants that are added. One may have the name of a value that a node defined before.
    pub constants: Vec<(Arc<str>, Tensor)>,
    /// Constants of the file that go. One that is an input stays an input.
    pub dropped: HashSet<Arc<str>>,
    /// Values that are no more: what the file declares of them goes.
    pub gone: HashSet<Arc<str>>,
    /// Types that are declared of values: of inputs and outputs in place of what the file says.
    pub types: Vec<(Arc<str>, Type)>,
    /// The inputs in place of those of the graph. One may have the name of a value that a node
    /// defined before, or that was a constant.
    pub inputs: Option<Vec<Arc<str>>>,
    /// The outputs in place of those of the graph.
    pub outputs: Option<Vec<Arc<str>>>,
}

/// A node to be written, or several.
#[derive(Clone, Debug)]
pub enum Step {
    /// One of the file.
    Kept(Kept),
    /// One that the file does not have.
    Made(Box<Made>),
    /// The nodes and constants of an inner graph in place of the node that holds it.
    Inlined(Box<Inlined>),
}

/// A node of the file, and what changes of it.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Its number in the graph.
    pub node: usize,
    /// Values that it reads instead of others, by input; an empty name for none.
    pub inputs: Vec<(usize, Arc<str>)>,
    /// New names of values that it defines, by output (ONNX).
    pub outputs: Vec<(usize, Arc<str>)>,
    /// Another name of the node (ONNX).
    pub name: Option<Arc<str>>,
    /// The graphs in its attributes that change, by their number among them.
    pub graphs: Vec<(usize, Edit)>,
}

/// A node that the file does not have, of the standard's own domain.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its name.
    pub name: Arc<str>,
    /// The operator.
    pub operator: &'static str,
    /// The version of the operator set that defines it, where nodes name it (OpenVINO).
    pub version: i64,
    /// The values that it reads.
    pub inputs: Vec<Arc<str>>,
    /// The values that it defines.
    pub outputs: Vec<Arc<str>>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// An inner graph in place of its node.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// The node's number in the graph.
    pub node: usize,
    /// The graph's number among those in the node's attributes.
    pub graph: usize,
    /// The inner graph as it is to be written.
    pub edit: Edit,
    /// New names of its values, where others have the old ones.
    pub names: Renames,
}

impl Edit {
    /// The edit that changes nothing of a graph with these nodes.
    pub fn keeping(nodes: impl IntoIterator<Item = usize>) -> Edit {
        let keep = |node| Step::Kept(Kept { node, ..Kept::default() });
        Edit { nodes: nodes.into_iter().map(keep).collect(), ..Edit::default() }
    }

    /// Returns true if this writes a node that the file does not have, in the graph or within it.
    pub fn makes_nodes(&self) -> bool {
        self.nodes.iter().any(|step| match step {
            Step::Kept(kept) => kept.graphs.iter().any(|(_, edit)| edit.makes_nodes()),
            Step::Made(_) => true,
            Step::Inlined(inlined) => inlined.edit.makes_nodes(),
        })
    }
}
