//! Both models as one graph over shared inputs, with the bodies of functions in place of calls.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use gradus_core::graph::{
    self, Arguments, Attribute, Builder, DeclaredDim, Function, Graph, Model, Node, Origin, Slots, Type,
    ValueId,
};
use gradus_core::{Error, Kind, Limits, Result};
use gradus_engine::normalize::has_default_inputs;
use gradus_engine::program::too_deep;

use crate::inputs;

/// Separates the parts of a key: model, graph, and name of the value.
const BREAK: char = '\u{1}';

/// Values that are read as others, by key.
pub type Same = HashMap<Arc<str>, Arc<str>>;

/// Graphs of simpler operators that nodes stand for, by the key of the node's first output.
pub type Bodies = HashMap<Arc<str>, Arc<Graph>>;

/// Both models in one graph.
#[derive(Debug)]
pub struct Joined {
    /// The model that has the graph.
    pub model: Model,
    /// Outputs of one name: the name, and the value in each model.
    pub outputs: Vec<(String, [ValueId; 2])>,
    /// Outputs that are paired by their place, as neither model has the other's name: the names in
    /// both.
    pub placed: Vec<(String, String)>,
    /// Outputs that only one model has: their names.
    pub unmatched: Vec<String>,
    /// Inputs that only one model has: the number of the model, and their names.
    pub own_inputs: Vec<(usize, String)>,
}

/// The name of a value, and the number of the model whose it is; none of an input.
pub fn place(key: &str) -> (Option<usize>, &str) {
    let side = match key.as_bytes() {
        [b'0', 1, ..] => Some(0),
        [b'1', 1, ..] => Some(1),
        _ => None,
    };
    (side, key.rsplit(BREAK).next().unwrap_or(key))
}

/// Puts both models into one graph; values are read as those that they are the same as, and nodes
/// as the graphs that they stand for.
pub fn join(models: [&Model; 2], same: &Same, bodies: &Bodies, limits: &Limits) -> Result<Joined> {
    let mut builder = Builder::new("");
    let shared = inputs::shared(models)?;
    for (name, declared) in &shared.inputs {
        let id = builder.define(name, Origin::Input)?;
        builder.info(id).declared.clone_from(declared);
    }
    let mut joiner =
        Joiner { same, bodies, limits, functions: HashMap::new(), side: 0, scopes: 0, depth: 0, steps: 0 };
    let mut outputs = Vec::new();
    for (side, model) in models.into_iter().enumerate() {
        joiner.enter(side, model);
        let scope = joiner.main(model);
        joiner.nodes(&scope, &mut builder)?;
        let named = model.graph.outputs().iter().map(|&id| (model.graph.value(id), scope.key(id).clone()));
        let listed = named.map(|(info, key)| (info, builder.output(&key))).collect::<Vec<_>>();
        outputs.push(listed);
    }
    let mut model = Model::new(graph::Standard::Onnx);
    model.graph = builder.finish()?;
    let (first, second) = (&outputs[0], &outputs[1]);
    let is = |name: &str, info: &graph::ValueInfo| {
        &*info.name == name || info.aliases.iter().any(|alias| &**alias == name)
    };
    // Outputs of one place are paired if neither model has the other's name.
    let is_alone = |info: &graph::ValueInfo, others: &[(&graph::ValueInfo, ValueId)]| {
        others.iter().all(|(other, _)| !is(&info.name, other) && !is(&other.name, info))
    };
    let by_place = |at: usize, info: &graph::ValueInfo| {
        let other = second.get(at).filter(|_| first.len() == second.len())?;
        (is_alone(info, second) && is_alone(other.0, first)).then_some(other)
    };
    let mut joined = Joined {
        model,
        outputs: Vec::new(),
        placed: Vec::new(),
        unmatched: Vec::new(),
        own_inputs: shared.own,
    };
    for (at, (info, id)) in first.iter().enumerate() {
        let (name, same) = (info.name.to_string(), second.iter().find(|(other, _)| is(&info.name, other)));
        let Some((other, value)) = same.or_else(|| by_place(at, info)) else {
            joined.unmatched.push(name);
            continue;
        };
        if same.is_none() {
            joined.placed.push((name.clone(), other.name.to_string()));
        }
        joined.outputs.push((name, [*id, *value]));
    }
    let is_paired = |info: &graph::ValueInfo| {
        joined.outputs.iter().any(|(name, _)| is(name, info))
            || joined.placed.iter().any(|(_, other)| **other == *info.name)
    };
    let extra: Vec<_> = second.iter().filter(|(info, _)| !is_paired(info)).collect();
    joined.unmatched.extend(extra.into_iter().map(|(info, _)| info.name.to_string()));
    Ok(joined)
}

/// A graph whose nodes are copied.
struct Scope<'a> {
    graph: &'a Graph,
    /// By value: the key in the graph that is written; empty for a missing one.
    keys: Vec<Arc<str>>,
    /// Arguments of the call that the graph belongs to, if it is a part of a function.
    arguments: Option<&'a Arguments>,
    /// The number in keys; nothing for a graph that a node stands for.
    number: Option<usize>,
}

impl Scope<'_> {
    fn key(&self, id: ValueId) -> &Arc<str> {
        &self.keys[id.index()]
    }
}

/// The keys of a body's values, the arguments of its call, and its number in keys.
type Place<'a> = (Vec<Arc<str>>, &'a Arguments, Option<usize>);

struct Joiner<'m> {
    same: &'m Same,
    bodies: &'m Bodies,
    limits: &'m Limits,
    functions: HashMap<&'m graph::OperatorId, &'m Function>,
    side: usize,
    scopes: usize,
    depth: usize,
    steps: usize,
}

/// Nodes between two checks of the limits.
const STEPS: usize = 1 << 10;

impl<'m> Joiner<'m> {
    fn enter(&mut self, side: usize, model: &'m Model) {
        self.side = side;
        self.functions.clear();
        for function in &model.functions {
            self.functions.entry(&function.id).or_insert(function);
        }
    }

    fn own_key(&self, scope: usize, name: &str) -> Arc<str> {
        format!("{}{BREAK}{scope}{BREAK}{name}", self.side).into()
    }

    /// The key of a value in a graph of that number, or that of the value that it is the same as.
    fn key(&self, scope: usize, name: &str) -> Arc<str> {
        self.read_as(self.own_key(scope, name))
    }

    fn read_as(&self, key: Arc<str>) -> Arc<str> {
        self.same.get(&key).cloned().unwrap_or(key)
    }

    /// A number for a graph, and the keys of its values.
    fn keys(&mut self, graph: &Graph) -> (usize, Vec<Arc<str>>) {
        self.scopes += 1;
        (self.scopes, graph.values().iter().map(|info| self.key(self.scopes, &info.name)).collect())
    }

    fn main(&mut self, model: &'m Model) -> Scope<'m> {
        let overridable = has_default_inputs(model);
        let graph = &model.graph;
        let (number, mut keys) = self.keys(graph);
        for &id in graph.inputs() {
            if graph.constant(id).is_none() || overridable {
                keys[id.index()] = graph.value(id).name.clone();
            }
        }
        Scope { graph, keys, arguments: None, number: Some(number) }
    }

    fn nodes(&mut self, scope: &Scope<'_>, builder: &mut Builder) -> Result<()> {
        for (id, constant) in scope.graph.constants() {
            let key = scope.key(*id);
            if !key.is_empty() && !builder.is_defined(key) {
                builder.constant(key, constant.clone())?;
            }
        }
        for &index in scope.graph.order() {
            self.steps += 1;
            if self.steps.is_multiple_of(STEPS) {
                self.limits.check()?;
            }
            let node = &scope.graph.nodes()[index];
            match self.functions.get(&node.operator).copied() {
                Some(function) => self.call(scope, builder, node, function)?,
                None => self.node(scope, builder, node)?,
            }
        }
        Ok(())
    }

    fn node(&mut self, scope: &Scope<'_>, builder: &mut Builder, node: &Node) -> Result<()> {
        let outputs: Vec<_> = node.outputs.iter().map(|id| id.map_or("", |id| &**scope.key(id))).collect();
        let is_defined = |key: &&str| key.is_empty() || builder.is_defined(key);
        if !outputs.is_empty() && outputs.iter().all(is_defined) {
            return Ok(());
        }
        if let Some((body, keys)) = self.body_of(scope, node) {
            return self.body(scope, builder, node, body, (keys, &Arguments::new(), None));
        }
        // An output that another value stands for keeps no name.
        let outputs: Vec<_> =
            outputs.into_iter().map(|key| if builder.is_defined(key) { "" } else { key }).collect();
        let keys = node.inputs.iter().map(|id| id.map(|id| scope.key(id)).filter(|key| !key.is_empty()));
        let inputs = keys.map(|key| key.map(|key| builder.reference(key))).collect();
        let copy = Node {
            name: node.name.clone(),
            operator: node.operator.clone(),
            version: node.version,
            inputs,
            outputs: Slots::new(),
            attributes: self.attributes(scope, node)?,
            position: None,
        };
        builder.push(copy, &outputs)?;
        // Concatenated outputs of no iteration have the sizes that the body declares.
        let body = node.graphs().next().filter(|_| &*node.operator.name == "Loop");
        let results = body.iter().flat_map(|body| body.outputs().iter().skip(1).map(|&id| body.value(id)));
        for (result, key) in results.zip(outputs).filter(|(_, key)| !key.is_empty()) {
            let id = builder.reference(key);
            builder.info(id).declared.clone_from(&result.declared);
        }
        Ok(())
    }

    fn attributes(&mut self, scope: &Scope<'_>, node: &Node) -> Result<Vec<Attribute>> {
        node.attributes_within(scope.arguments, |inner| self.subgraph(scope, inner))
    }

    /// The nodes of a graph within another.
    fn within(&mut self, scope: &Scope<'_>, builder: &mut Builder) -> Result<()> {
        if self.depth >= self.limits.max_depth {
            return Err(too_deep(self.limits.max_depth));
        }
        self.depth += 1;
        self.nodes(scope, builder)?;
        self.depth -= 1;
        Ok(())
    }

    fn subgraph(&mut self, scope: &Scope<'_>, inner: &Graph) -> Result<Arc<Graph>> {
        let (number, mut keys) = self.keys(inner);
        for capture in inner.captures() {
            keys[capture.inner.index()] = scope.key(capture.outer).clone();
        }
        let copied = Scope { graph: inner, keys, arguments: scope.arguments, number: Some(number) };
        let mut builder = Builder::nested(inner.name());
        for &input in inner.inputs() {
            let id = builder.define(copied.key(input), Origin::Input)?;
            // Names of sizes within a body are those of the model.
            builder.info(id).declared = inner.value(input).declared.as_ref().map(without_sizes);
        }
        self.within(&copied, &mut builder)?;
        for &output in inner.outputs() {
            builder.output(copied.key(output));
        }
        Ok(Arc::new(builder.finish()?))
    }

    /// The graph that a node stands for, and the keys of its values.
    fn body_of(&self, scope: &Scope<'_>, node: &Node) -> Option<(&'m Graph, Vec<Arc<str>>)> {
        if self.bodies.is_empty() {
            return None;
        }
        let first = node.outputs.first().copied().flatten()?;
        let own = self.own_key(scope.number?, &scope.graph.value(first).name);
        let body = self.bodies.get(&own)?;
        let key = |info: &graph::ValueInfo| self.read_as(format!("{own}{BREAK}{}", info.name).into());
        Some((body, body.values().iter().map(key).collect()))
    }

    fn call(
        &mut self,
        scope: &Scope<'_>,
        builder: &mut Builder,
        node: &Node,
        function: &'m Function,
    ) -> Result<()> {
        let body = &function.body;
        if node.inputs.len() > body.inputs().len() || node.outputs.len() > body.outputs().len() {
            let message = format!("a call of function {} has more values than the function", function.id);
            return Err(Error::new(Kind::Graph, message));
        }
        let (number, keys) = self.keys(body);
        let arguments = function.arguments(&self.attributes(scope, node)?);
        self.body(scope, builder, node, body, (keys, &arguments, Some(number)))
    }

    /// Nodes of a body whose values have these keys in place of a node.
    fn body(
        &mut self,
        scope: &Scope<'_>,
        builder: &mut Builder,
        node: &Node,
        body: &'m Graph,
        (mut keys, arguments, number): Place<'_>,
    ) -> Result<()> {
        for (slot, input) in body.inputs().iter().enumerate() {
            let given = node.inputs.get(slot).copied().flatten();
            keys[input.index()] = given.map_or_else(|| "".into(), |id| scope.key(id).clone());
        }
        let inner = Scope { graph: body, keys, arguments: Some(arguments), number };
        self.within(&inner, builder)?;
        for (output, wanted) in body.outputs().iter().zip(&node.outputs) {
            let Some(wanted) = wanted else { continue };
            let (from, to) = (inner.key(*output), scope.key(*wanted));
            if !from.is_empty() && !builder.is_defined(to) {
                builder.apply("", "Identity", 13, &[from], &[to], Vec::new())?;
            }
        }
        Ok(())
    }
}

/// A declared type of which nothing but the element type is said.
fn without_sizes(declared: &Type) -> Type {
    match declared {
        Type::Tensor(dtype, Some(sizes))
            if !sizes.iter().all(|size| matches!(size, DeclaredDim::Known(_))) =>
        {
            Type::Tensor(*dtype, None)
        }
        other => other.clone(),
    }
}
