//! Calls of a model's functions, replaced by the nodes of their bodies.
//!
//! Values of the main graph keep their names; those of a body begin with the name of the call. Each
//! node has its own version, so a body may be of another operator set than the model.

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::convert::product;
use gradus_core::graph::{
    self, Arguments, Attribute, Builder, DeclaredDim, Function, Graph, Node, OperatorId, Origin, Slots,
};
use gradus_core::{Error, Kind, Limits, Result};
use gradus_formats::onnx::NEWEST_OPSET;

use super::scope::BYTES_OF_VALUE;
use super::writer::NamePool;
use crate::program::too_deep;

/// The model without those functions, by whether they are in a set: none of them is called by a
/// function that stays.
///
/// # Errors
/// [`Kind::Limit`] if the bodies take more than the limits allow; [`Kind::Graph`] if a call gives a
/// function more inputs or outputs than it has.
pub(crate) fn expanded(
    model: &graph::Model,
    limits: Limits,
    inlined: impl Fn(&OperatorId) -> bool,
) -> Result<graph::Model> {
    let mut functions = HashMap::new();
    for function in model.functions.iter().filter(|function| inlined(&function.id)) {
        functions.entry(&function.id).or_insert(function);
    }
    let mut names = NamePool::default();
    take_names(&model.graph, &mut names);
    let mut labels = NamePool::default();
    take_labels(&model.graph, &mut labels);
    let mut expansion = Expansion { functions, limits, names, labels, depth: 0, values: 0 };
    let keys: BodyKeys = model.graph.values().iter().map(|info| info.name.clone()).collect();
    let scope = CallScope { graph: &model.graph, keys: &keys, call: None };
    let graph = expansion.graph(&scope, Builder::new(model.graph.name()))?;
    let mut expanded = model.with_graph(graph);
    expanded.functions.retain(|function| !inlined(&function.id));
    Ok(expanded)
}

fn take_names(graph: &Graph, names: &mut NamePool) {
    graph.values().iter().for_each(|info| drop(names.fresh(&info.name)));
    graph.nodes().iter().flat_map(Node::graphs).for_each(|graph| take_names(graph, names));
}

fn take_labels(graph: &Graph, labels: &mut NamePool) {
    for node in graph.nodes() {
        drop(labels.fresh(&node.name));
        node.graphs().for_each(|graph| take_labels(graph, labels));
    }
}

/// The names of a graph's values in the graph that is written; that of a missing one is empty.
type BodyKeys = Vec<Arc<str>>;

/// A graph whose nodes are written.
#[derive(Clone, Copy)]
struct CallScope<'a> {
    graph: &'a Graph,
    keys: &'a [Arc<str>],
    /// The call that the graph belongs to, unless that is the model.
    call: Option<&'a Call>,
}

impl CallScope<'_> {
    fn key(&self, id: graph::ValueId) -> &Arc<str> {
        &self.keys[id.index()]
    }

    /// The name of a node or value, after that of the call.
    fn place(&self, name: &str) -> String {
        match self.call {
            Some(call) => format!("{}/{name}", call.name),
            None => name.to_owned(),
        }
    }
}

struct Call {
    name: String,
    /// The function's attributes.
    arguments: Arguments,
}

struct Expansion<'m> {
    functions: HashMap<&'m OperatorId, &'m Function>,
    limits: Limits,
    names: NamePool,
    /// The names of nodes: ONNX Runtime refuses a graph with two nodes of one name.
    labels: NamePool,
    /// Functions around the node that is written.
    depth: usize,
    /// Values of all bodies that were written.
    values: usize,
}

impl<'m> Expansion<'m> {
    fn graph(&mut self, scope: &CallScope<'_>, mut builder: Builder) -> Result<Graph> {
        for &input in scope.graph.inputs() {
            builder.define(scope.key(input), Origin::Input)?;
        }
        self.nodes(scope, &mut builder)?;
        for &output in scope.graph.outputs() {
            builder.output(scope.key(output));
        }
        for (info, key) in scope.graph.values().iter().zip(scope.keys) {
            let Some(id) = builder.find(key) else { continue };
            let mut declared = info.declared.clone();
            // Symbols of a function are not those of the model.
            if scope.call.is_some()
                && let Some(of) = &mut declared
            {
                of.replace_symbols(&|_| DeclaredDim::Unknown);
            }
            builder.info(id).declared = declared;
        }
        builder.finish()
    }

    fn nodes(&mut self, scope: &CallScope<'_>, builder: &mut Builder) -> Result<()> {
        for (id, constant) in scope.graph.constants() {
            builder.constant(scope.key(*id), constant.clone())?;
        }
        for &index in scope.graph.order() {
            self.limits.check()?;
            let node = &scope.graph.nodes()[index];
            match self.functions.get(&node.operator) {
                Some(&function) => {
                    let label = format!("{} (function {})", node.label(index), function.id);
                    let called = self.call(scope, builder, node, function);
                    called.map_err(|error| error.in_node(label))?;
                }
                None => self.node(scope, builder, node)?,
            }
        }
        Ok(())
    }

    fn node(&mut self, scope: &CallScope<'_>, builder: &mut Builder, node: &Node) -> Result<()> {
        let name = match scope.call {
            Some(_) => {
                let own: &str = if node.name.is_empty() { &node.operator.name } else { &node.name };
                (*self.labels.fresh(&scope.place(own))).into()
            }
            None => node.name.clone(),
        };
        let mut input = |id: graph::ValueId| {
            let key = scope.key(id);
            (!key.is_empty()).then(|| builder.reference(key))
        };
        let inputs = node.inputs.iter().map(|id| id.and_then(&mut input)).collect();
        let outputs = node.outputs.iter().map(|id| id.map_or("", |id| &**scope.key(id)));
        let outputs: Vec<_> = outputs.collect();
        let node = Node {
            name,
            operator: node.operator.clone(),
            version: node.version,
            inputs,
            outputs: Slots::new(),
            attributes: self.attributes(scope, node)?,
            position: node.position,
        };
        builder.push(node, &outputs)
    }

    /// The attributes of a node, with the arguments of the call in place of parameters.
    fn attributes(&mut self, scope: &CallScope<'_>, node: &Node) -> Result<Vec<Attribute>> {
        let arguments = scope.call.map(|call| &call.arguments);
        node.attributes_within(arguments, |inner| self.subgraph(scope, inner))
    }

    fn subgraph(&mut self, scope: &CallScope<'_>, inner: &Graph) -> Result<Arc<Graph>> {
        let mut keys: BodyKeys = Vec::with_capacity(inner.values().len());
        for id in inner.ids() {
            let info = inner.value(id);
            keys.push(if info.origin == Origin::Capture {
                let capture = inner.captures().iter().find(|capture| capture.inner == id);
                let capture = capture.ok_or_else(|| {
                    Error::new(Kind::Graph, format!("a subgraph reads undefined value \"{}\"", info.name))
                })?;
                scope.key(capture.outer).clone()
            } else if scope.call.is_some() {
                self.names.fresh(&scope.place(&info.name))
            } else {
                info.name.clone()
            });
        }
        let inner = CallScope { graph: inner, keys: &keys, call: scope.call };
        Ok(Arc::new(self.graph(&inner, Builder::nested(inner.graph.name()))?))
    }

    /// Writes the nodes of a function's body in place of a call.
    fn call(
        &mut self,
        scope: &CallScope<'_>,
        builder: &mut Builder,
        node: &Node,
        function: &'m Function,
    ) -> Result<()> {
        let body = &function.body;
        for (what, count, most) in [
            ("number of inputs of the function", node.inputs.len(), body.inputs().len()),
            ("number of outputs of the function", node.outputs.len(), body.outputs().len()),
        ] {
            if count > most {
                return Err(Error::mismatch(Kind::Graph, what, count, format_args!("at most {most}")));
            }
        }
        if self.depth >= self.limits.max_depth {
            return Err(too_deep(self.limits.max_depth));
        }
        self.values = self.values.saturating_add(body.values_within());
        self.limits.allow_bytes(0, product(self.values, BYTES_OF_VALUE))?;

        let name = if node.name.is_empty() { &*function.id.name } else { &*node.name };
        let arguments = function.arguments(&self.attributes(scope, node)?);
        let call = Call { name: scope.place(name), arguments };

        let mut keys: Vec<Option<Arc<str>>> = vec![None; body.values().len()];
        for (slot, input) in body.inputs().iter().enumerate() {
            let given = node.inputs.get(slot).copied().flatten();
            keys[input.index()] = Some(given.map_or_else(|| "".into(), |id| scope.key(id).clone()));
        }
        // Outputs that have a name already: inputs, and those that are listed twice.
        let mut copies = Vec::new();
        for (output, wanted) in body.outputs().iter().zip(&node.outputs) {
            let Some(wanted) = wanted else { continue };
            match &mut keys[output.index()] {
                Some(_) => copies.push((*output, *wanted)),
                key => *key = Some(scope.key(*wanted).clone()),
            }
        }
        let names = &mut self.names;
        let named = |(key, info): (Option<Arc<str>>, &graph::ValueInfo)| {
            key.unwrap_or_else(|| names.fresh(&format!("{}/{}", call.name, info.name)))
        };
        let keys: BodyKeys = keys.into_iter().zip(body.values()).map(named).collect();
        let inner = CallScope { graph: body, keys: &keys, call: Some(&call) };
        self.depth += 1;
        self.nodes(&inner, builder)?;
        self.depth -= 1;
        for (from, to) in copies {
            let (from, to) = (inner.key(from), scope.key(to));
            let name = self.labels.fresh(&format!("{}/Identity", call.name));
            builder.apply(&name, "Identity", NEWEST_OPSET, &[from], &[to], Vec::new())?;
        }
        Ok(())
    }
}
