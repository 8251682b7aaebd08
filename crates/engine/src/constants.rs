//! Constants of a model, wherever its file has them.
//!
//! | place | constants |
//! |---|---|
//! | graph | initializers (ONNX), `Const` layers (OpenVINO), parameters (Paddle) |
//! | node `Constant` | the value of the node |
//! | node of an operator with the column `learned` | attributes: trees, coefficients, vocabularies |

use std::ptr;

use foldhash::{HashMap, HashSet, HashSetExt as _};
use gradus_core::convert::product;
use gradus_core::graph::{Content, Graph, Node, OperatorId, Origin, ValueId};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Shape};

use crate::operators::registry::row_of;
use crate::source::Source;

/// A constant of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldConstant {
    /// The name of the value, or of the node and the attribute that has it: `node "trees".nodes_values`.
    pub name: String,
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub shape: Shape,
}

impl HeldConstant {
    /// Bytes that the elements occupy; 0 for text.
    pub fn byte_len(&self) -> u128 {
        byte_len(self.dtype, &self.shape)
    }
}

impl Source {
    /// The constants of the main graph, of the graphs within nodes, and of the functions.
    pub fn constants(&self) -> Vec<HeldConstant> {
        let mut found = Vec::new();
        let bodies = self.source().functions.iter().map(|function| &function.body);
        let mut open: Vec<_> = bodies.rev().collect();
        open.push(self.graph());
        while let Some(graph) = open.pop() {
            let own = graph.constants().iter();
            found.extend(own.map(|(id, constant)| HeldConstant {
                name: graph.value(*id).name.to_string(),
                dtype: constant.dtype(),
                shape: constant.shape().clone(),
            }));
            for (index, node) in graph.nodes().iter().enumerate() {
                open.extend(node.graphs().map(|graph| &**graph));
                let name = |attribute: &str| match node.outputs.first() {
                    Some(&Some(id)) if is_constant_node(node) => graph.value(id).name.to_string(),
                    _ => format!("{}.{attribute}", node.label(index)),
                };
                found.extend(self.held_by(node).map(|(attribute, (dtype, shape))| HeldConstant {
                    name: name(attribute),
                    dtype,
                    shape,
                }));
            }
        }
        found
    }

    /// Elements of the constants that nodes read or have in attributes, each once.
    pub fn parameters(&self) -> u128 {
        let graph = self.graph();
        let mut readers = ConstantReaders::new(self);
        graph.nodes().iter().fold(0, |sum: u128, node| sum.saturating_add(readers.parameters(graph, node)))
    }

    /// Types and shapes of the constants that a node has in attributes.
    fn held_by<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = (&'a str, (DType, Shape))> {
        let learned = row_of(self.source().standard, node).and_then(|row| row.learned);
        let is_constant = is_constant_node(node);
        let held =
            node.attributes.iter().filter(move |it| is_constant || learned.is_some_and(|of| of(&it.name)));
        held.flat_map(move |it| {
            tensors_in(&it.content, is_constant).into_iter().map(move |held| (&*it.name, held))
        })
    }
}

/// The constants that nodes have read so far.
pub struct ConstantReaders<'m> {
    model: &'m Source,
    values: HashSet<(*const Graph, ValueId)>,
    graphs: HashSet<*const Graph>,
    functions: HashMap<&'m OperatorId, &'m Graph>,
}

impl<'m> ConstantReaders<'m> {
    /// Readers of the constants of a model, of which nothing is evaluated yet.
    pub fn new(model: &'m Source) -> ConstantReaders<'m> {
        let functions = model.source().functions.iter();
        ConstantReaders {
            model,
            values: HashSet::new(),
            graphs: HashSet::new(),
            functions: functions.map(|function| (&function.id, &function.body)).collect(),
        }
    }

    /// Elements of the constants that a node, or a node of a graph that it runs, reads or has in
    /// attributes, and no node before it does. Calls share the constants of their function.
    pub fn parameters(&mut self, graph: &'m Graph, node: &'m Node) -> u128 {
        let (mut sum, mut open) = (0u128, vec![(graph, node)]);
        while let Some((graph, node)) = open.pop() {
            if !is_constant_node(node) {
                sum = sum.saturating_add(self.held(node));
            }
            for id in node.needs() {
                if self.values.insert((graph, id)) {
                    sum = sum.saturating_add(self.elements(graph, id));
                }
            }
            let called = self.functions.get(&node.operator).copied();
            for inner in node.graphs().map(|graph| &**graph).chain(called) {
                if self.graphs.insert(ptr::from_ref(inner)) {
                    open.extend(inner.nodes().iter().map(|node| (inner, node)));
                }
            }
        }
        sum
    }

    /// Elements of the constant that a value is; 0 for other values.
    fn elements(&self, graph: &Graph, id: ValueId) -> u128 {
        match (graph.constant(id), graph.value(id).origin) {
            (Some(constant), _) => product(constant.shape().len(), 1),
            (None, Origin::Node(index, _)) if is_constant_node(&graph.nodes()[index]) => {
                self.held(&graph.nodes()[index])
            }
            _ => 0,
        }
    }

    fn held(&self, node: &Node) -> u128 {
        self.model.held_by(node).map(|(_, (_, shape))| product(shape.len(), 1)).sum()
    }
}

/// Returns true if a value is a constant of the file: an initializer that is no input, or the value
/// of a node `Constant`.
pub fn is_constant(graph: &Graph, id: ValueId) -> bool {
    match graph.value(id).origin {
        Origin::Constant => true,
        Origin::Node(index, _) => is_constant_node(&graph.nodes()[index]),
        _ => false,
    }
}

/// Returns true if a node is the operator `Constant`, whose value the file has.
pub fn is_constant_node(node: &Node) -> bool {
    node.operator.domain.is_empty() && &*node.operator.name == "Constant"
}

/// Types and shapes of the tensors that an attribute is; of lists alone, or of single elements too.
fn tensors_in(content: &Content, elements: bool) -> Vec<(DType, Shape)> {
    match content {
        Content::Tensor(constant) => vec![(constant.dtype(), constant.shape().clone())],
        Content::Tensors(all) => {
            all.iter().map(|constant| (constant.dtype(), constant.shape().clone())).collect()
        }
        Content::Floats(all) => vec![(DType::F32, Shape::vector(all.len()))],
        Content::Ints(all) => vec![(DType::I64, Shape::vector(all.len()))],
        Content::Strings(all) => vec![(DType::String, Shape::vector(all.len()))],
        Content::Float(_) if elements => vec![(DType::F32, Shape::SCALAR)],
        Content::Int(_) if elements => vec![(DType::I64, Shape::SCALAR)],
        Content::Bytes(_) if elements => vec![(DType::String, Shape::SCALAR)],
        _ => Vec::new(),
    }
}
