//! Exports of one network at several sizes, node by node.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Graph, Node, Origin, Type, ValueId};
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Result, Shape, Tensor};

use super::formula::few_integers;
use super::table::{MAX_ELEMENTS, index};
use crate::dim::{Dim, Expression, Symbols};
use crate::model::Model;

/// The exports, the first of which is made dynamic.
pub(super) struct Sources<'m> {
    pub(super) models: Vec<&'m Model>,
    /// By source and node of the first: the node of that source.
    nodes: Vec<Vec<Option<usize>>>,
    /// By source: the numbers of the symbols.
    pub(super) sizes: Vec<HashMap<Arc<str>, i64>>,
}

impl<'m> Sources<'m> {
    /// Pairs the nodes of the models.
    ///
    /// # Errors
    /// [`Kind::Graph`] if the models are not one network.
    pub(super) fn new(models: Vec<&'m Model>, sizes: Vec<HashMap<Arc<str>, i64>>) -> Result<Sources<'m>> {
        let first = models[0].graph();
        let nodes = models.iter().skip(1).map(|other| paired(first, other.graph())).collect::<Result<_>>()?;
        Ok(Sources { models, nodes, sizes })
    }

    fn node(&self, source: usize, node: usize) -> Option<(&'m Graph, &'m Node)> {
        let graph = self.models[source].graph();
        let index = if source == 0 { Some(node) } else { self.nodes[source - 1][node] };
        Some((graph, &graph.nodes()[index?]))
    }

    /// The constants that all sources have at an input of a node of the first.
    pub(super) fn constants(&self, node: usize, input: usize) -> Option<Vec<Tensor>> {
        let of = |source| {
            let (graph, node) = self.node(source, node)?;
            Some((graph, node.inputs.get(input).copied().flatten()?))
        };
        let (graph, id) = of(0)?;
        let first = constant(graph, id)?;
        // Another export may repeat a table that the first wrote out.
        let other = |source| {
            let (graph, id) = of(source)?;
            let data = || constant(graph, expanded(graph, id)?);
            let is_alike = |data: &Tensor| data.shape().rank() == first.shape().rank();
            constant(graph, id).or_else(|| data().filter(is_alike)).or_else(|| repeated(graph, id))
        };
        let others = (1..self.models.len()).map(other).collect::<Option<Vec<_>>>()?;
        Some([first].into_iter().chain(others).collect())
    }

    /// The number that an expression is in each source.
    pub(super) fn values(&self, symbols: &Symbols, dim: Dim) -> Option<Vec<i64>> {
        let value = |sizes: &HashMap<Arc<str>, i64>| symbols.evaluate(dim, &|name| sizes.get(name).copied());
        self.sizes.iter().map(value).collect()
    }

    /// The number that a text is in each source.
    pub(super) fn values_of(&self, text: &str) -> Option<Vec<i64>> {
        let expression = Expression::parse(text).ok()?;
        let value = |sizes: &HashMap<Arc<str>, i64>| expression.evaluate(|name| sizes.get(name).copied());
        self.sizes.iter().map(value).collect()
    }

    /// The attribute of a node that is not the same in all sources.
    pub(super) fn differing_attribute(&self, node: usize) -> Option<Arc<str>> {
        let (_, own) = self.node(0, node)?;
        let is_constant = &*own.operator.name == "Constant";
        let others = (1..self.models.len()).filter_map(|source| self.node(source, node));
        let differing =
            |(_, other): (_, &Node)| own.attributes.iter().find(|of| !is_same(own, other, &of.name));
        others.filter(|_| !is_constant).find_map(differing).map(|attribute| attribute.name.clone())
    }
}

/// Returns true if an attribute of two nodes is the same; graphs are taken to be.
fn is_same(own: &Node, other: &Node, name: &str) -> bool {
    match (own.attribute(name), other.attribute(name)) {
        (Some(Content::Int(a)), Some(Content::Int(b))) => a == b,
        (Some(Content::Ints(a)), Some(Content::Ints(b))) => a == b,
        (Some(Content::Float(a)), Some(Content::Float(b))) => a.to_bits() == b.to_bits(),
        (Some(Content::Floats(a)), Some(Content::Floats(b))) => a == b,
        (Some(Content::Bytes(a)), Some(Content::Bytes(b))) => a == b,
        (Some(Content::Tensor(a)), Some(Content::Tensor(b))) => match (a.tensor(), b.tensor()) {
            (Ok(a), Ok(b)) => a.shape() == b.shape() && a.bytes() == b.bytes(),
            _ => false,
        },
        (Some(_), Some(_)) => true,
        _ => false,
    }
}

/// The tensor of a value that is a constant: of the file, or of a node `Constant`.
pub(crate) fn constant(graph: &Graph, id: ValueId) -> Option<Tensor> {
    if let Some(constant) = graph.constant(id).filter(|_| graph.value(id).origin == Origin::Constant) {
        return constant.tensor().ok();
    }
    let Origin::Node(index, 0) = graph.value(id).origin else { return None };
    let node = &graph.nodes()[index];
    if &*node.operator.name != "Constant" {
        return None;
    }
    match node.attributes.first().map(|attribute| &attribute.content) {
        Some(Content::Tensor(constant)) => constant.tensor().ok(),
        Some(Content::Int(number)) => Some(Tensor::scalar(*number)),
        Some(Content::Ints(numbers)) => Some(Tensor::vector(numbers)),
        Some(Content::Float(number)) => Some(Tensor::scalar(*number)),
        Some(Content::Floats(numbers)) => Some(Tensor::vector(numbers)),
        _ => None,
    }
}

/// For each node of a graph, the node of another that computes the same: outputs correspond by
/// position, and inputs of nodes that do.
fn paired(first: &Graph, second: &Graph) -> Result<Vec<Option<usize>>> {
    if first.outputs().len() != second.outputs().len() {
        let what = "cannot compare the exports: the number of outputs";
        return Err(Error::mismatch(Kind::Graph, what, second.outputs().len(), first.outputs().len()));
    }
    let mut nodes = vec![None; first.nodes().len()];
    let mut open: Vec<_> = first.outputs().iter().copied().zip(second.outputs().iter().copied()).collect();
    let mut seen = HashSet::new();
    while let Some((a, b)) = open.pop() {
        if !seen.insert((a, b)) || (constant(first, a).is_some() && constant(second, b).is_some()) {
            continue;
        }
        if let Some(data) = expanded(second, b).filter(|_| expanded(first, a).is_none()) {
            open.push((a, data));
            continue;
        }
        match (first.value(a).origin, second.value(b).origin) {
            (Origin::Node(own, i), Origin::Node(other, j)) if i == j => {
                let (own_node, other_node) = (&first.nodes()[own], &second.nodes()[other]);
                let count = |node: &Node| (node.operator.clone(), node.inputs.len());
                if count(own_node) != count(other_node) {
                    return Err(apart(first, a, second, b));
                }
                nodes[own].get_or_insert(other);
                for (a, b) in own_node.inputs.iter().zip(other_node.inputs.iter()) {
                    match (a, b) {
                        (Some(a), Some(b)) => open.push((*a, *b)),
                        (None, None) => {}
                        _ => return Err(apart(first, first.outputs()[0], second, second.outputs()[0])),
                    }
                }
            }
            (Origin::Input, Origin::Input) => {
                let number = |graph: &Graph, id| graph.inputs().iter().position(|input| *input == id);
                if number(first, a) != number(second, b) {
                    return Err(apart(first, a, second, b));
                }
            }
            (Origin::Constant, Origin::Constant) => {}
            _ => return Err(apart(first, a, second, b)),
        }
    }
    Ok(nodes)
}

/// The input of an Expand, which exporters leave out where it changes no size: of a batch of 1.
fn expanded(graph: &Graph, id: ValueId) -> Option<ValueId> {
    let Origin::Node(node, _) = graph.value(id).origin else { return None };
    let node = &graph.nodes()[node];
    if &*node.operator.name == "Expand" { node.inputs.first().copied().flatten() } else { None }
}

/// The tensor of an Expand of a constant to a constant shape.
fn repeated(graph: &Graph, id: ValueId) -> Option<Tensor> {
    let data = constant(graph, expanded(graph, id)?)?;
    let Origin::Node(node, _) = graph.value(id).origin else { return None };
    let wanted = constant(graph, graph.nodes()[node].inputs.get(1).copied().flatten()?)?;
    let wanted =
        few_integers(&wanted)?.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>().ok()?;
    let shape = data.shape().broadcast(&Shape::new(wanted).ok()?).ok()?;
    if shape.len() > MAX_ELEMENTS {
        return None;
    }
    let before = shape.rank() - data.shape().rank();
    let (dims, strides) = (data.shape().dims(), data.shape().strides());
    let place = |place: usize| {
        let index = index(place, shape.dims());
        let own = index[before..].iter().zip(dims).zip(&strides);
        own.map(|((index, len), by)| if *len == 1 { 0 } else { index * by }).sum::<usize>()
    };
    let places: Vec<_> = (0..shape.len()).map(place).collect();
    data.picked(shape.clone(), &places, &gradus_core::Limits::default()).ok()
}

/// The error that two values are not computed in the same way.
fn apart(first: &Graph, a: ValueId, second: &Graph, b: ValueId) -> Error {
    let how = |graph: &Graph, id: ValueId| {
        let name = name_in_message(&graph.value(id).name);
        match graph.value(id).origin {
            Origin::Node(node, _) => format!("\"{name}\" of {}", graph.nodes()[node].operator),
            Origin::Input => format!("input \"{name}\""),
            Origin::Constant | Origin::Capture => format!("constant \"{name}\""),
        }
    };
    let what = "cannot compare the exports: they differ in more than constants: a value of the second";
    Error::mismatch(Kind::Graph, what, how(second, b), how(first, a))
}

/// The sizes of a type, where all are numbers.
pub(super) fn sizes_of(of: Option<&Type>) -> Option<Vec<i64>> {
    Some(of?.known_dims()?.into_iter().map(i64_of).collect())
}
