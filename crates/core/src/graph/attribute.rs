//! Attributes: what a node fixes about its operator.

use std::sync::Arc;

use bytes::Bytes;

use super::{Constant, Graph, Ports, Strings, Type};
use crate::Result;

/// A named attribute of a node.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Arc<str>,
    /// The content.
    pub content: Content,
}

impl Attribute {
    /// Attributes of these names and contents.
    pub fn list<'n>(contents: impl IntoIterator<Item = (&'n str, Content)>) -> Vec<Attribute> {
        let named = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        contents.into_iter().map(named).collect()
    }
}

/// The content of an attribute.
#[derive(Clone, Debug)]
pub enum Content {
    /// A float.
    Float(f32),
    /// An integer.
    Int(i64),
    /// Bytes, usually text.
    Bytes(Bytes),
    /// A tensor, possibly written sparsely.
    Tensor(Constant),
    /// A graph.
    Graph(Arc<Graph>),
    /// A type.
    Type(Type),
    /// Floats. Copies of a node share them, as they do other lists: they may be millions.
    Floats(Arc<[f32]>),
    /// Integers.
    Ints(Arc<[i64]>),
    /// Bytes, usually texts.
    Strings(Strings),
    /// Tensors.
    Tensors(Vec<Constant>),
    /// Graphs.
    Graphs(Vec<Arc<Graph>>),
    /// Types.
    Types(Vec<Type>),
    /// Text that the operator reads as it needs: a number, a list, a word (OpenVINO).
    Text(Box<str>),
    /// How the values of the node are those of its graph (OpenVINO).
    Ports(Arc<Ports>),
    /// In the body of a function: the function's own attribute of that name.
    Parameter(Box<str>),
}

impl Content {
    /// The graphs in it.
    pub fn graphs(&self) -> &[Arc<Graph>] {
        match self {
            Content::Graph(graph) => std::slice::from_ref(graph),
            Content::Graphs(graphs) => graphs,
            _ => &[],
        }
    }

    /// The content with other graphs in place of its own.
    ///
    /// # Errors
    /// The errors of `other`.
    pub fn with_graphs(&self, mut other: impl FnMut(&Arc<Graph>) -> Result<Arc<Graph>>) -> Result<Content> {
        Ok(match self {
            Content::Graph(graph) => Content::Graph(other(graph)?),
            Content::Graphs(all) => Content::Graphs(all.iter().map(other).collect::<Result<_>>()?),
            content => content.clone(),
        })
    }

    /// Returns the sort of content, for messages.
    pub const fn sort(&self) -> &'static str {
        match self {
            Content::Float(_) => "a float",
            Content::Int(_) => "an integer",
            Content::Bytes(_) => "a string",
            Content::Tensor(_) => "a tensor",
            Content::Graph(_) => "a graph",
            Content::Type(_) => "a type",
            Content::Floats(_) => "a list of floats",
            Content::Ints(_) => "a list of integers",
            Content::Strings(_) => "a list of strings",
            Content::Tensors(_) => "a list of tensors",
            Content::Graphs(_) => "a list of graphs",
            Content::Types(_) => "a list of types",
            Content::Text(_) => "text",
            Content::Ports(_) => "a map of ports",
            Content::Parameter(_) => "a parameter of the function",
        }
    }
}
