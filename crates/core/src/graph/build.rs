//! Building graphs: names become numbers, and what is not well formed is refused.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::{
    Attribute, Capture, Constant, Content, Graph, Node, OperatorId, Origin, Slots, Type, ValueId, ValueInfo,
};
use crate::error::{Error, Kind, Result};
use crate::sort::SharedSort;

/// Makes a [`Graph`] from values and nodes in any order.
///
/// Values are known by a key that is unique within the graph: the name in ONNX, layer and port in
/// OpenVINO.
///
/// ```
/// use gradus_core::graph::{Builder, Origin};
/// let mut builder = Builder::new("doubled");
/// let x = builder.define("x", Origin::Input)?;
/// builder.apply("twice", "Add", 14, &["x", "x"], &["y"], vec![])?;
/// let y = builder.output("y");
/// let graph = builder.finish()?;
/// assert_eq!(graph.value(y).origin, Origin::Node(0, 0));
/// # Ok::<(), gradus_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    graph: Graph,
    keys: HashMap<Arc<str>, ValueId>,
    /// By value: whether something has defined it.
    defined: Vec<bool>,
    /// By value: whether it is a constant, or an input with a default.
    constant: Vec<bool>,
    names: HashSet<Arc<str>>,
    nested: bool,
}

impl Builder {
    /// A builder of an outermost graph: a main graph or the body of a function.
    pub fn new(name: &str) -> Builder {
        Builder { graph: Graph { name: name.into(), ..Graph::default() }, ..Builder::default() }
    }

    /// A builder of a graph within a node: values that it does not define are captured from the
    /// graph around it.
    pub fn nested(name: &str) -> Builder {
        Builder { nested: true, ..Builder::new(name) }
    }

    /// Makes room for `nodes` nodes, and for a value each.
    pub fn reserve(&mut self, nodes: usize) {
        self.graph.nodes.reserve_exact(nodes);
        self.graph.values.reserve(nodes);
        self.keys.reserve(nodes);
        self.defined.reserve(nodes);
        self.constant.reserve(nodes);
    }

    /// The value of that key, which is defined or will be.
    pub fn reference(&mut self, key: &str) -> ValueId {
        self.value(key, || key.into())
    }

    /// The value of that key, which is defined or will be; a new one shares the memory of the key.
    pub fn shared(&mut self, key: &Arc<str>) -> ValueId {
        self.value(key, || key.clone())
    }

    fn value(&mut self, key: &str, owned: impl FnOnce() -> Arc<str>) -> ValueId {
        if let Some(&id) = self.keys.get(key) {
            return id;
        }
        let id = ValueId::of(self.graph.values.len());
        let key = owned();
        let info =
            ValueInfo { name: key.clone(), aliases: Vec::new(), declared: None, origin: Origin::Capture };
        self.graph.values.push(info);
        self.defined.push(false);
        self.constant.push(false);
        self.keys.insert(key, id);
        id
    }

    /// Defines the value of that key, as an input, a constant or a node's output.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is defined already.
    pub fn define(&mut self, key: &str, origin: Origin) -> Result<ValueId> {
        let id = self.reference(key);
        self.define_value(id, origin)?;
        Ok(id)
    }

    fn define_value(&mut self, id: ValueId, origin: Origin) -> Result<()> {
        if std::mem::replace(&mut self.defined[id.index()], true) {
            let key = &self.graph.value(id).name;
            let first = match self.graph.value(id).origin {
                Origin::Node(node, _) => format!("by {}", self.graph.nodes[node].label(node)),
                Origin::Input => "as an input".to_owned(),
                Origin::Constant | Origin::Capture => "as a constant".to_owned(),
            };
            return Err(Error::new(Kind::Graph, format!("value \"{key}\" is defined twice, first {first}")));
        }
        self.graph.values[id.index()].origin = origin;
        if origin == Origin::Input {
            self.graph.inputs.push(id);
        }
        Ok(())
    }

    /// Makes the value of that key a constant; an input defined before gets it as its default.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is a constant already, or a node's output.
    pub fn constant(&mut self, key: &str, constant: Constant) -> Result<ValueId> {
        let id = self.reference(key);
        if std::mem::replace(&mut self.constant[id.index()], true) {
            return Err(Error::new(Kind::Graph, format!("value \"{key}\" has two constants")));
        }
        if !self.defined[id.index()] || self.graph.value(id).origin != Origin::Input {
            self.define(key, Origin::Constant)?;
        }
        let declared = &mut self.graph.values[id.index()].declared;
        declared.get_or_insert_with(|| Type::tensor(constant.dtype(), constant.shape()));
        self.graph.constants.push((id, constant));
        Ok(id)
    }

    /// The value of that key, if it is defined or read.
    pub fn find(&self, key: &str) -> Option<ValueId> {
        self.keys.get(key).copied()
    }

    /// Returns true if the value of that key is defined.
    pub fn is_defined(&self, key: &str) -> bool {
        self.find(key).is_some_and(|id| self.defined[id.index()])
    }

    /// Returns the facts about a value, to add to them.
    pub fn info(&mut self, id: ValueId) -> &mut ValueInfo {
        &mut self.graph.values[id.index()]
    }

    /// Shares the memory of names that occur often: operators and domains.
    pub fn intern(&mut self, name: &str) -> Arc<str> {
        if let Some(shared) = self.names.get(name) {
            return shared.clone();
        }
        let shared: Arc<str> = name.into();
        self.names.insert(shared.clone());
        shared
    }

    /// Sets the version of all nodes of a domain: those of a model have that of its operator set.
    pub fn import(&mut self, domain: &str, version: i64) {
        for node in self.graph.nodes.iter_mut().filter(|node| &*node.operator.domain == domain) {
            node.version = Some(version);
        }
    }

    /// Adds a node. Its outputs become defined; what its graphs capture is looked up here.
    ///
    /// # Errors
    /// [`Kind::Graph`] if an output is defined already.
    pub fn push(&mut self, node: Node, outputs: &[&str]) -> Result<()> {
        let index = self.push_node(node);
        for (slot, &key) in outputs.iter().enumerate() {
            let output =
                if key.is_empty() { None } else { Some(self.define(key, Origin::Node(index, slot))?) };
            self.graph.nodes[index].outputs.push(output);
        }
        Ok(())
    }

    /// Adds a node, whose outputs are those values: they become defined. What its graphs capture is
    /// looked up here.
    ///
    /// # Errors
    /// [`Kind::Graph`] if an output is defined already.
    pub fn push_defining(&mut self, node: Node, outputs: Slots) -> Result<()> {
        let index = self.push_node(node);
        for (slot, output) in outputs.iter().enumerate() {
            output.map_or(Ok(()), |id| self.define_value(id, Origin::Node(index, slot)))?;
        }
        self.graph.nodes[index].outputs = outputs;
        Ok(())
    }

    /// Adds a node without outputs, and returns its number.
    fn push_node(&mut self, mut node: Node) -> usize {
        let index = self.graph.nodes.len();
        for attribute in &mut node.attributes {
            match &mut attribute.content {
                Content::Graph(graph) => self.resolve(graph),
                Content::Graphs(graphs) => graphs.iter_mut().for_each(|graph| self.resolve(graph)),
                _ => {}
            }
        }
        self.graph.nodes.push(node);
        index
    }

    /// Adds a node of the standard's own domain, for graphs that are written in Rust.
    ///
    /// # Errors
    /// [`Kind::Graph`] if an output is defined already.
    pub fn apply(
        &mut self,
        name: &str,
        operator: &str,
        version: i64,
        inputs: &[&str],
        outputs: &[&str],
        attributes: Vec<(&str, Content)>,
    ) -> Result<()> {
        let node = Node {
            name: name.into(),
            operator: OperatorId {
                domain: self.intern(""),
                name: self.intern(operator),
                overload: self.intern(""),
            },
            version: Some(version),
            inputs: inputs.iter().map(|key| (!key.is_empty()).then(|| self.reference(key))).collect(),
            outputs: Slots::new(),
            attributes: Attribute::list(attributes),
            position: None,
        };
        self.push(node, outputs)
    }

    /// Adds the value of that key to the outputs.
    pub fn output(&mut self, key: &str) -> ValueId {
        let id = self.reference(key);
        self.graph.outputs.push(id);
        id
    }

    fn resolve(&mut self, graph: &mut Arc<Graph>) {
        let captured = |id: &_| graph.value(*id).origin == Origin::Capture;
        let captures = graph.ids().filter(captured).map(|inner| {
            let outer = self.reference(&graph.value(inner).name);
            Capture { outer, inner }
        });
        let captures: Vec<_> = captures.collect();
        if graph.captures != captures {
            Arc::make_mut(graph).captures = captures;
        }
    }

    /// The graph.
    ///
    /// # Errors
    /// [`Kind::Graph`] if a value is read that nothing defines, or if nodes need each other in a
    /// circle.
    pub fn finish(self) -> Result<Graph> {
        let Builder { mut graph, defined, nested, .. } = self;
        if !nested && let Some(index) = defined.iter().position(|&defined| !defined) {
            return Err(undefined(&graph, ValueId::of(index)));
        }
        graph.constants.shared_sort_by_key(|(id, _)| *id);
        graph.order = order(&graph)?;
        Ok(graph)
    }
}

fn undefined(graph: &Graph, id: ValueId) -> Error {
    let name = &graph.value(id).name;
    for (index, node) in graph.nodes.iter().enumerate() {
        let error = |what: String| {
            let error = Error::new(Kind::Graph, format!("{what} is undefined value \"{name}\""));
            let error = error.in_node(node.label(index));
            if let Some(position) = node.position { error.at(position) } else { error }
        };
        if let Some(slot) = node.inputs.iter().position(|&input| input == Some(id)) {
            return error(format!("input {slot}"));
        }
        if node.needs().any(|needed| needed == id) {
            return error("a value captured by a subgraph".to_owned());
        }
    }
    Error::new(Kind::Graph, format!("an output of the graph is undefined value \"{name}\""))
}

/// How far a node is in being put in order.
#[derive(Clone, Copy, PartialEq)]
enum SortState {
    New,
    /// The nodes that it needs are being placed.
    Open,
    Placed,
}

/// Indices of the nodes, each after those it needs, else in the order of the file.
fn order(graph: &Graph) -> Result<Vec<usize>> {
    let producer = |id: ValueId| match graph.value(id).origin {
        Origin::Node(node, _) => Some(node),
        _ => None,
    };
    let in_order =
        |(index, node): (usize, &Node)| node.needs().all(|id| producer(id).is_none_or(|of| of < index));
    if graph.nodes.iter().enumerate().all(in_order) {
        return Ok((0..graph.nodes.len()).collect());
    }
    // Depth first, without recursion: graphs come from files.
    let mut state = vec![SortState::New; graph.nodes.len()];
    let mut placed = Vec::with_capacity(graph.nodes.len());
    for root in 0..graph.nodes.len() {
        let mut path = Vec::new();
        let enter = |index: usize, path: &mut Vec<_>, state: &mut [SortState]| {
            let needed: Vec<_> = graph.nodes[index].needs().filter_map(producer).collect();
            state[index] = SortState::Open;
            path.push((index, needed.into_iter()));
        };
        if state[root] == SortState::New {
            enter(root, &mut path, &mut state);
        }
        while let Some((index, needed)) = path.last_mut() {
            match needed.next() {
                Some(next) if state[next] == SortState::New => enter(next, &mut path, &mut state),
                Some(next) if state[next] == SortState::Open => {
                    let circle = path.iter().map(|(index, _)| *index).skip_while(|&index| index != next);
                    return Err(cycle(graph, &circle.collect::<Vec<_>>()));
                }
                Some(_) => {}
                None => {
                    state[*index] = SortState::Placed;
                    placed.push(*index);
                    path.pop();
                }
            }
        }
    }
    Ok(placed)
}

/// Maximum number of nodes of a circle that a message names.
const NAMED: usize = 8;

fn cycle(graph: &Graph, circle: &[usize]) -> Error {
    let mut labels: Vec<_> =
        circle.iter().take(NAMED).map(|&index| graph.nodes[index].label(index)).collect();
    if circle.len() > NAMED {
        labels.push(format!("{} more", circle.len() - NAMED));
    }
    labels.push(graph.nodes[circle[0]].label(circle[0]));
    Error::new(Kind::Graph, format!("nodes form a cycle: {}", labels.join(" needs ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    fn chain(edges: &[(&str, &[&str], &str)]) -> Result<Graph> {
        let mut builder = Builder::new("g");
        builder.define("x", Origin::Input)?;
        for &(name, inputs, output) in edges {
            builder.apply(name, "Add", 14, inputs, &[output], vec![])?;
        }
        builder.output(edges[edges.len() - 1].2);
        builder.finish()
    }

    #[test]
    fn nodes_out_of_order_are_put_in_order() {
        let graph = chain(&[("c", &["b"], "c"), ("b", &["a", "x"], "b"), ("a", &["x"], "a")]).unwrap();
        assert_eq!(graph.order(), [2, 1, 0]);
        let graph = chain(&[("a", &["x"], "a"), ("b", &["a", "x"], "b")]).unwrap();
        assert_eq!(graph.order(), [0, 1]);
    }

    #[test]
    fn what_is_not_well_formed_is_refused_by_name() {
        let message = |edges: &[(&str, &[&str], &str)]| chain(edges).unwrap_err().to_string();
        assert_eq!(
            message(&[("a", &["c"], "a"), ("b", &["a"], "b"), ("c", &["b", "x"], "c")]),
            "nodes form a cycle: node \"a\" needs node \"c\" needs node \"b\" needs node \"a\"",
        );
        assert_eq!(message(&[("a", &["x", "z"], "a")]), "node \"a\": input 1 is undefined value \"z\"",);
        assert_eq!(
            message(&[("a", &["x"], "a"), ("", &["x"], "a")]),
            "value \"a\" is defined twice, first by node \"a\""
        );
        assert_eq!(message(&[("a", &["x"], "x")]), "value \"x\" is defined twice, first as an input");
    }

    #[test]
    fn a_long_circle_is_named_in_part() {
        let names: Vec<_> = (0..1000).map(|i| format!("n{i}")).collect();
        let mut builder = Builder::new("g");
        for i in 0..1000 {
            builder.apply(&names[i], "Neg", 13, &[&names[(i + 1) % 1000]], &[&names[i]], vec![]).unwrap();
        }
        let message = builder.finish().unwrap_err().to_string();
        assert!(message.contains("992 more") && message.len() < 400, "{message}");
    }

    #[test]
    fn inner_graphs_capture_from_the_graph_around_even_what_comes_later() {
        let mut inner = Builder::nested("body");
        inner.apply("use", "Neg", 13, &["late"], &["y"], vec![]).unwrap();
        inner.output("y");
        let body = Arc::new(inner.finish().unwrap());
        let mut outer = Builder::new("g");
        outer.apply("loop", "Loop", 16, &["", ""], &["out"], vec![("body", Content::Graph(body))]).unwrap();
        outer.apply("make", "Constant", 13, &[], &["late"], vec![]).unwrap();
        outer.output("out");
        let graph = outer.finish().unwrap();
        assert_eq!(graph.order(), [1, 0]);
        let captures = graph.nodes()[0].graphs().next().unwrap().captures().to_vec();
        assert_eq!(captures.len(), 1);
        assert_eq!(&*graph.value(captures[0].outer).name, "late");
    }

    #[test]
    fn a_constant_may_be_an_inputs_default_once() {
        let mut builder = Builder::new("g");
        let x = builder.define("x", Origin::Input).unwrap();
        builder.constant("x", Tensor::scalar(1i64).into()).unwrap();
        let error = builder.constant("x", Tensor::scalar(1i64).into()).unwrap_err();
        assert_eq!(error.message(), "value \"x\" has two constants");
        assert_eq!(builder.finish().unwrap().constant(x).unwrap().shape().rank(), 0);
    }
}
