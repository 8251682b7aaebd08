//! Models as graphs, whatever file they came from.
//!
//! A [`Model`] has one main [`Graph`] and perhaps [`Function`]s. A graph has [values](ValueInfo),
//! each defined once: by being an input, a constant, captured from the graph around it, or the
//! output of a [`Node`]. Nodes name operators by standard, domain, name and version; what these
//! mean is not known here. Graphs are made by a [`Builder`], which checks that every value is
//! defined once and that nodes can be put in order.

mod apply;
mod attribute;
mod build;
pub mod edit;
mod needed;
mod ports;
mod strings;
mod types;

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use smallvec::SmallVec;

pub use apply::OPSET_OF_MADE;
pub use attribute::{Attribute, Content};
pub use build::Builder;
pub use needed::Needed;
pub use ports::{Port, Ports, Slices};
pub use strings::{Strings, StringsBuilder};
pub use types::{DeclaredDim, Type};

use crate::dtype::DType;
use crate::error::{Position, Result};
use crate::shape::Shape;
use crate::tensor::{Tensor, byte_len};

/// The standard that defines the operators of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standard {
    /// ONNX: `ModelProto` files.
    Onnx,
    /// OpenVINO: IR files, `.xml` with `.bin`.
    OpenVino,
    /// Paddle: programs, `.json` or `.pdmodel` with `.pdiparams`.
    Paddle,
}

crate::names!(Standard { Onnx = "onnx", OpenVino = "openvino", Paddle = "paddle" });

impl Standard {
    /// Returns the standard of a file by its ending: `.onnx`, `.xml`, `.json` or `.pdmodel`, in
    /// either case.
    ///
    /// ```
    /// use gradus_core::graph::Standard;
    /// assert_eq!(Standard::of_file("model.XML".as_ref()), Some(Standard::OpenVino));
    /// assert_eq!(Standard::of_file("model.pb".as_ref()), None);
    /// ```
    pub fn of_file(path: &Path) -> Option<Standard> {
        match &*path.extension()?.to_ascii_lowercase().to_string_lossy() {
            "onnx" => Some(Standard::Onnx),
            "xml" => Some(Standard::OpenVino),
            "json" | "pdmodel" => Some(Standard::Paddle),
            _ => None,
        }
    }
}

/// A model: what a file holds, as far as it has a meaning here.
#[derive(Clone, Debug)]
pub struct Model {
    /// The standard of the nodes' operators.
    pub standard: Standard,
    /// The version of the file format: ONNX's or OpenVINO's "IR version".
    pub format_version: i64,
    /// The program that wrote the file, if it says so.
    pub producer: String,
    /// Operator sets by domain, with their versions; the standard's own domain is empty.
    pub opsets: Vec<(Arc<str>, i64)>,
    /// Further facts the file states about itself, in its order.
    pub metadata: Vec<(String, String)>,
    /// The main graph.
    pub graph: Graph,
    /// Functions that nodes may call.
    pub functions: Vec<Function>,
}

impl Model {
    /// A model with nothing in it.
    pub fn new(standard: Standard) -> Model {
        Model {
            standard,
            format_version: 0,
            producer: String::new(),
            opsets: Vec::new(),
            metadata: Vec::new(),
            graph: Graph::default(),
            functions: Vec::new(),
        }
    }
}

/// A function: an operator that the model itself defines by a graph.
#[derive(Clone, Debug)]
pub struct Function {
    /// Domain, name and overload that nodes call it by.
    pub id: OperatorId,
    /// Attributes that a node may or must set, with the default of those that it may.
    pub attributes: Vec<(Arc<str>, Option<Attribute>)>,
    /// The body: its inputs and outputs are those of the function.
    pub body: Graph,
}

/// The contents of a function's attributes in a call, by name.
pub type Arguments = HashMap<Arc<str>, Content>;

impl Function {
    /// The contents of its attributes in a call that gives these.
    pub fn arguments(&self, given: &[Attribute]) -> Arguments {
        let argument = |(name, default): &(Arc<str>, Option<Attribute>)| {
            let argument = given.iter().find(|given| given.name == *name).or(default.as_ref())?;
            Some((name.clone(), argument.content.clone()))
        };
        self.attributes.iter().filter_map(argument).collect()
    }
}

/// Name, domain and version of a node's operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperatorId {
    /// The domain; empty for the standard's own.
    pub domain: Arc<str>,
    /// The name within the domain.
    pub name: Arc<str>,
    /// Tells functions of the same name apart; empty nearly always.
    pub overload: Arc<str>,
}

impl fmt::Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dot, colon) =
            (if self.domain.is_empty() { "" } else { "." }, if self.overload.is_empty() { "" } else { ":" });
        write!(f, "{}{dot}{}{colon}{}", self.domain, self.name, self.overload)
    }
}

/// A value's number within its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(NonZeroU32);

impl ValueId {
    /// The number, to index a vector of one entry per value.
    pub const fn index(self) -> usize {
        crate::convert::usize_of_u32(self.0.get()) - 1
    }

    /// The value of that number.
    pub(crate) fn of(index: usize) -> ValueId {
        ValueId(NonZeroU32::MIN.saturating_add(crate::convert::small_u32(index)))
    }
}

/// The values that a node reads or defines; most have few, and those cost no memory of their own.
pub type Slots = SmallVec<[Option<ValueId>; 4]>;

/// Facts about a value from the file.
#[derive(Clone, Debug)]
pub struct ValueInfo {
    /// The name it is shown by. Unique in ONNX; usually unique in OpenVINO.
    pub name: Arc<str>,
    /// Further names.
    pub aliases: Vec<Box<str>>,
    /// The type that the file declares.
    pub declared: Option<Type>,
    /// The origin.
    pub origin: Origin,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller gives it.
    Input,
    /// The file holds it.
    Constant,
    /// The graph around this one has it.
    Capture,
    /// This node computes it, as this output.
    Node(usize, usize),
}

impl Origin {
    /// Returns true if a node computes it.
    pub const fn is_node(self) -> bool {
        matches!(self, Origin::Node(..))
    }
}

/// A node: an operator applied to values.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name; often empty.
    pub name: Box<str>,
    /// The operator that it applies.
    pub operator: OperatorId,
    /// The version of the operator set that defines the operator; nothing if the file names none.
    pub version: Option<i64>,
    /// The values it reads; an optional input may be missing.
    pub inputs: Slots,
    /// The values it defines; an output that the file does not name is missing.
    pub outputs: Slots,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its position in the file.
    pub position: Option<Position>,
}

impl Node {
    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|attribute| &*attribute.name == name).map(|attribute| &attribute.content)
    }

    /// The groups that its name puts it in, the outermost first: the parts between slashes without
    /// the last.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.name.rsplit_once('/').map_or("", |(groups, _)| groups);
        groups.split('/').filter(|part| !part.is_empty())
    }

    /// The name of its innermost group of at most `depth` levels: `encoder/layer.0`.
    pub fn group(&self, depth: usize) -> String {
        self.groups().take(depth).collect::<Vec<_>>().join("/")
    }

    /// The graphs in its attributes.
    pub fn graphs(&self) -> impl Iterator<Item = &Arc<Graph>> {
        self.attributes.iter().flat_map(|attribute| attribute.content.graphs())
    }

    /// The attributes within a call of a function: its arguments in place of parameters, which are
    /// left out if it has none for them, and other graphs.
    ///
    /// # Errors
    /// The errors of `other`.
    pub fn attributes_within(
        &self,
        arguments: Option<&Arguments>,
        mut other: impl FnMut(&Arc<Graph>) -> Result<Arc<Graph>>,
    ) -> Result<Vec<Attribute>> {
        let mut attributes = Vec::with_capacity(self.attributes.len());
        for Attribute { name, content } in &self.attributes {
            let content = match (content, arguments) {
                (Content::Parameter(parameter), Some(arguments)) => {
                    let Some(argument) = arguments.get(&**parameter) else { continue };
                    argument.clone()
                }
                _ => content.with_graphs(&mut other)?,
            };
            attributes.push(Attribute { name: name.clone(), content });
        }
        Ok(attributes)
    }

    /// The number of a graph among those in its attributes, if it is one of them.
    pub fn graph_number(&self, graph: &Graph) -> Option<usize> {
        self.graphs().position(|other| std::ptr::eq(Arc::as_ptr(other), graph))
    }

    /// The values it needs: its inputs, and what its graphs capture.
    pub fn needs(&self) -> impl Iterator<Item = ValueId> + '_ {
        let captured = self.graphs().flat_map(|graph| graph.captures.iter().map(|capture| capture.outer));
        self.inputs.iter().copied().flatten().chain(captured)
    }

    /// The words that name it in messages: `node "pos"`, or its position among the nodes if it has
    /// no name.
    pub fn label(&self, index: usize) -> String {
        let name = crate::text::name_in_message(&self.name);
        if name.is_empty() { format!("node {index}") } else { format!("node \"{name}\"") }
    }
}

/// A value of an inner graph that is a value of the graph around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its number in the graph around.
    pub outer: ValueId,
    /// Its number in the inner graph.
    pub inner: ValueId,
}

/// The callback of [`Graph::declare`].
pub type Say<'a> = dyn FnMut(&[(usize, usize)], ValueId) -> Option<Type> + 'a;

/// Nodes and values.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    name: Box<str>,
    values: Vec<ValueInfo>,
    nodes: Vec<Node>,
    order: Vec<usize>,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
    constants: Vec<(ValueId, Constant)>,
    captures: Vec<Capture>,
}

impl Graph {
    /// The number of its values, and of those of the graphs within its nodes.
    pub fn values_within(&self) -> usize {
        let inner = self.nodes.iter().flat_map(Node::graphs).map(|graph| graph.values_within());
        inner.fold(self.values.len(), usize::saturating_add)
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All values, by number.
    pub fn values(&self) -> &[ValueInfo] {
        &self.values
    }

    /// The known facts about a value.
    pub fn value(&self, id: ValueId) -> &ValueInfo {
        &self.values[id.index()]
    }

    /// The first value of that name.
    pub fn find(&self, name: &str) -> Option<ValueId> {
        let names =
            |info: &ValueInfo| &*info.name == name || info.aliases.iter().any(|alias| &**alias == name);
        self.ids().find(|&id| names(self.value(id)))
    }

    /// The numbers of all values.
    pub fn ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.values.len()).map(ValueId::of)
    }

    /// All nodes, in the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Indices of the nodes in an order in which each comes after those whose values it needs. As
    /// in the file, if the file is in such an order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The inputs. One that is also a constant has that as its default.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The outputs.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Constants (ONNX: initializers) and the values that they are.
    pub fn constants(&self) -> &[(ValueId, Constant)] {
        &self.constants
    }

    /// The constant that a value is, or is by default.
    pub fn constant(&self, id: ValueId) -> Option<&Constant> {
        let index = self.constants.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.constants[index].1)
    }

    /// Values of the graph around this one that are read here.
    pub fn captures(&self) -> &[Capture] {
        &self.captures
    }

    /// Makes inputs constants; one that has a default has the tensor in its place.
    pub fn set_inputs(&mut self, values: impl IntoIterator<Item = (ValueId, Tensor)>) {
        for (id, tensor) in values {
            self.inputs.retain(|input| *input != id);
            let info = &mut self.values[id.index()];
            info.origin = Origin::Constant;
            info.declared = Some(Type::tensor(tensor.dtype(), tensor.shape()));
            match self.constants.binary_search_by_key(&id, |(id, _)| *id) {
                Ok(index) => self.constants[index].1 = tensor.into(),
                Err(index) => self.constants.insert(index, (id, tensor.into())),
            }
        }
    }

    /// Declares types of values, those of inner graphs as well.
    ///
    /// `say` is told where the graph is, by the numbers of the nodes around it, each with that of
    /// the graph among those in its attributes; and the value. Where it says nothing, what was
    /// declared stays.
    pub fn declare(&mut self, say: &mut Say<'_>) {
        self.declare_at(&mut Vec::new(), say);
    }

    fn declare_at(&mut self, place: &mut Vec<(usize, usize)>, say: &mut Say<'_>) {
        for (index, info) in self.values.iter_mut().enumerate() {
            if let Some(declared) = say(place, ValueId::of(index)) {
                info.declared = Some(declared);
            }
        }
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let graphs = node.attributes.iter_mut().flat_map(|attribute| match &mut attribute.content {
                Content::Graph(graph) => std::slice::from_mut(graph),
                Content::Graphs(graphs) => graphs.as_mut_slice(),
                _ => &mut [],
            });
            for (number, graph) in graphs.enumerate() {
                place.push((index, number));
                Arc::make_mut(graph).declare_at(place, say);
                place.pop();
            }
        }
    }
}

/// A tensor that a file holds: its type and shape are known, its elements are read when they are
/// needed.
#[derive(Clone, Debug)]
pub struct Constant {
    dtype: DType,
    shape: Shape,
    elements: Elements,
    position: Option<Position>,
}

#[derive(Clone, Debug)]
enum Elements {
    Here(Tensor),
    Stored(Arc<dyn Stored>, Arc<OnceLock<Tensor>>),
}

/// Elements that are still in a file.
pub trait Stored: Send + Sync + fmt::Debug {
    /// Reads them.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with what it says.
    fn load(&self) -> Result<Tensor>;
}

impl Constant {
    /// A constant whose elements will be read later, and be of that type and shape.
    pub fn stored(dtype: DType, shape: Shape, elements: Arc<dyn Stored>) -> Constant {
        Constant { dtype, shape, elements: Elements::Stored(elements, Arc::default()), position: None }
    }

    /// The constant, which stands there in its file.
    #[must_use]
    pub fn at(self, position: Position) -> Constant {
        Constant { position: Some(position), ..self }
    }

    /// Where it stands in its file; nothing if it was made in memory.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes that the elements occupy; 0 for text.
    pub fn byte_len(&self) -> u128 {
        byte_len(self.dtype, &self.shape)
    }

    /// A number that clones of the constant share. Another constant of its type and shape has it
    /// only if both are the same memory.
    pub fn identity(&self) -> usize {
        match &self.elements {
            Elements::Here(tensor) => match tensor.texts() {
                Ok(texts) => texts.as_ptr().addr(),
                Err(_) => tensor.bytes().map_or(0, |bytes| bytes.as_ptr().addr()),
            },
            Elements::Stored(_, kept) => Arc::as_ptr(kept).addr(),
        }
    }

    /// The tensor, read if need be.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with what it says.
    pub fn tensor(&self) -> Result<Tensor> {
        match &self.elements {
            Elements::Here(tensor) => Ok(tensor.clone()),
            Elements::Stored(stored, kept) => {
                kept.get().map_or_else(|| stored.load(), |kept| Ok(kept.clone()))
            }
        }
    }

    /// The tensor, read once: clones of the constant share it from then on.
    ///
    /// # Errors
    /// As [`Constant::tensor`].
    pub fn kept(&self) -> Result<Tensor> {
        if let Elements::Stored(stored, kept) = &self.elements
            && kept.get().is_none()
        {
            // Another thread may have been faster; its tensor is the same.
            let _ = kept.set(stored.load()?.keeping());
        }
        self.tensor()
    }
}

impl From<Tensor> for Constant {
    fn from(tensor: Tensor) -> Self {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
        Constant { dtype, shape, elements: Elements::Here(tensor.keeping()), position: None }
    }
}
