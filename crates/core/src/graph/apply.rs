//! Graphs that edits make, in memory. What stays keeps its [position](Node::position) in the file,
//! by which a writer finds it there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use super::{Attribute, Builder, Graph, Model, Node, OperatorId, Origin, Slots, Standard, ValueId};
use crate::error::{Error, Kind, Result};

/// The operator set that an ONNX model without ONNX's own operators is given for the nodes that an
/// edit makes: the oldest in which they take all types of its time.
pub const OPSET_OF_MADE: i64 = 13;

impl Model {
    /// The model whose main graph is edited.
    ///
    /// # Errors
    /// As [`Graph::apply`].
    pub fn apply(&self, edit: &Edit) -> Result<Model> {
        self.apply_renamed(edit, &Renames::new())
    }

    /// The model whose main graph is edited, and has other names in place of those that `names`
    /// has, wherever they stand in it and in the graphs within. What the edit says is in the old
    /// names.
    ///
    /// # Errors
    /// As [`Graph::apply`].
    pub fn apply_renamed(&self, edit: &Edit, names: &Renames) -> Result<Model> {
        let own = self.opsets.iter().find(|(domain, _)| domain.is_empty()).map(|(_, version)| *version);
        let version = own.or((self.standard == Standard::Onnx).then_some(OPSET_OF_MADE));
        let mut opsets = self.opsets.clone();
        if own.is_none() && edit.makes_nodes() {
            opsets.extend(version.map(|version| ("".into(), version)));
        }
        Ok(Model { opsets, ..self.with_graph(self.graph.applied(edit, version, names)?) })
    }

    /// The model with another main graph.
    #[must_use]
    pub fn with_graph(&self, graph: Graph) -> Model {
        Model {
            standard: self.standard,
            format_version: self.format_version,
            producer: self.producer.clone(),
            opsets: self.opsets.clone(),
            metadata: self.metadata.clone(),
            graph,
            functions: self.functions.clone(),
        }
    }
}

impl Graph {
    /// The graph that an edit makes of it; `version` is that of the operator set of new nodes,
    /// where nodes do not name it.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the edit is about another graph, [`Kind::Graph`] if what it makes
    /// is not well formed.
    pub fn apply(&self, edit: &Edit, version: Option<i64>) -> Result<Graph> {
        self.applied(edit, version, &Renames::new())
    }

    fn applied(&self, edit: &Edit, version: Option<i64>, names: &Renames) -> Result<Graph> {
        Application::new(Builder::new(&self.name), version, self, &edit.nodes).graph(self, edit, names)
    }

    fn applied_within(&self, edit: &Edit, names: &Renames, version: Option<i64>) -> Result<Arc<Graph>> {
        let builder = Builder::nested(&self.name);
        Application::new(builder, version, self, &edit.nodes).graph(self, edit, names).map(Arc::new)
    }
}

/// An error: the edit is about another graph.
fn other_graph() -> Error {
    Error::new(Kind::Unsupported, "cannot edit the graph: the edit is about another one")
}

/// The name that is written for a name.
fn new_name<'n>(names: &'n Renames, name: &'n Arc<str>) -> &'n Arc<str> {
    names.get(name).unwrap_or(name)
}

/// A graph while an edit is applied.
struct Application<'e> {
    builder: Builder,
    version: Option<i64>,
    /// By value of the graph that is edited, if its values keep their names: the value of that
    /// name.
    ids: Vec<Option<ValueId>>,
    /// Names of nodes, each with the number of nodes of inner graphs that had it too. ONNX Runtime
    /// refuses two nodes of one name.
    taken: HashMap<Cow<'e, str>, usize>,
}

impl<'e> Application<'e> {
    fn new(builder: Builder, version: Option<i64>, graph: &'e Graph, steps: &'e [Step]) -> Application<'e> {
        let mut taken = HashMap::new();
        if steps.iter().any(|step| matches!(step, Step::Inlined(_))) {
            taken.extend(graph.nodes.iter().map(|node| (Cow::Borrowed(&*node.name), 0)));
            taken.extend(steps.iter().filter_map(|step| match step {
                Step::Made(made) => Some((Cow::Borrowed(&*made.name), 0)),
                _ => None,
            }));
        }
        Application { builder, version, ids: Vec::new(), taken }
    }

    /// The name of a node of an inner graph that stands in this one.
    fn fresh(&mut self, name: &'e str) -> Box<str> {
        let count = self.taken.get(name).copied();
        let Some(mut count) = count.filter(|_| !name.is_empty()) else {
            self.taken.insert(name.into(), 0);
            return name.into();
        };
        let fresh = loop {
            count += 1;
            let fresh = format!("{name}_{count}");
            if !self.taken.contains_key(&*fresh) {
                break fresh;
            }
        };
        self.taken.insert(name.into(), count);
        self.taken.insert(fresh.clone().into(), 0);
        fresh.into()
    }

    fn graph(mut self, graph: &'e Graph, edit: &'e Edit, names: &Renames) -> Result<Graph> {
        let steps = edit.nodes.len();
        self.builder.reserve(steps);
        if names.is_empty() {
            self.ids.resize(graph.values.len(), None);
        }
        let own = |ids: &[ValueId]| ids.iter().map(|&id| graph.value(id).name.clone()).collect();
        for name in edit.inputs.clone().unwrap_or_else(|| own(&graph.inputs)) {
            let name = new_name(names, &name);
            self.builder.shared(name);
            self.builder.define(name, Origin::Input)?;
        }
        // Before constants: a default has a shape that other values of the input need not have.
        for info in
            graph.inputs.iter().map(|&id| graph.value(id)).filter(|info| !edit.gone.contains(&info.name))
        {
            if let Some(id) = self.builder.find(new_name(names, &info.name)) {
                self.builder.info(id).declared.clone_from(&info.declared);
            }
        }
        self.constants(graph, edit, names)?;
        self.nodes(graph, &edit.nodes, names, false)?;
        for name in edit.outputs.clone().unwrap_or_else(|| own(&graph.outputs)) {
            self.builder.output(new_name(names, &name));
        }
        self.declare(graph, edit, names)?;
        self.builder.finish()
    }

    /// Defines the constants that stay, those of inner graphs that take the place of their nodes,
    /// and those that are added.
    fn constants(&mut self, graph: &Graph, edit: &Edit, names: &Renames) -> Result<()> {
        for (id, constant) in &graph.constants {
            let name = &graph.value(*id).name;
            if !edit.dropped.contains(name) {
                let name = new_name(names, name);
                self.builder.shared(name);
                self.builder.constant(name, constant.clone())?;
            }
        }
        for step in &edit.nodes {
            if let Step::Inlined(inlined) = step {
                let inner = inner(graph, inlined)?;
                self.constants(inner, &inlined.edit, &within(names, inlined))?;
            }
        }
        for (name, tensor) in &edit.constants {
            self.builder.constant(new_name(names, name), tensor.clone().into())?;
        }
        Ok(())
    }

    fn nodes(&mut self, graph: &'e Graph, steps: &'e [Step], names: &Renames, inlined: bool) -> Result<()> {
        for step in steps {
            match step {
                Step::Kept(kept) => self.kept(graph, kept, names, inlined)?,
                Step::Made(made) => self.made(made, names)?,
                Step::Inlined(inlined) => {
                    let inner = inner(graph, inlined)?;
                    self.nodes(inner, &inlined.edit.nodes, &within(names, inlined), true)?;
                }
            }
        }
        Ok(())
    }

    fn kept(&mut self, graph: &'e Graph, kept: &'e Kept, names: &Renames, inlined: bool) -> Result<()> {
        let node = graph.nodes.get(kept.node).ok_or_else(other_graph)?;
        let mut value = |changes: &[(usize, Arc<str>)], slot: usize, id: Option<ValueId>| {
            if let Some((_, name)) = changes.iter().find(|(other, _)| *other == slot) {
                let name = new_name(names, name);
                return (!name.is_empty()).then(|| self.builder.shared(name));
            }
            self.value(graph, id?, names, inlined)
        };
        let inputs = node.inputs.iter().enumerate();
        let inputs = inputs.map(|(slot, id)| value(&kept.inputs, slot, *id)).collect();
        let outputs = node.outputs.iter().enumerate();
        let outputs: Slots = outputs.map(|(slot, id)| value(&kept.outputs, slot, *id)).collect();
        let name = match &kept.name {
            Some(name) => name.to_string().into(),
            None if inlined => self.fresh(&node.name),
            None => node.name.clone(),
        };
        let mut number = 0;
        let attributes = node.attributes.iter().map(|Attribute { name, content }| {
            let content = content.with_graphs(|graph| {
                number += 1;
                let edit = kept.graphs.iter().find(|(other, _)| *other + 1 == number).map(|(_, edit)| edit);
                match edit {
                    None if names.is_empty() => Ok(graph.clone()),
                    None => graph.applied_within(&Edit::keeping(0..graph.nodes.len()), names, self.version),
                    Some(edit) => graph.applied_within(edit, names, self.version),
                }
            })?;
            Ok(Attribute { name: name.clone(), content })
        });
        let attributes = attributes.collect::<Result<_>>()?;
        let (operator, version, position) = (node.operator.clone(), node.version, node.position);
        let node = Node { name, operator, version, inputs, outputs: Slots::new(), attributes, position };
        self.builder.push_defining(node, outputs)
    }

    /// The value that has the name of one of a graph, which is the one that is edited or `inlined`
    /// in it; none for an empty name.
    fn value(&mut self, graph: &Graph, id: ValueId, names: &Renames, inlined: bool) -> Option<ValueId> {
        let known = (!inlined).then(|| self.ids.get_mut(id.index())).flatten();
        if let Some(Some(known)) = known {
            return Some(*known);
        }
        let name = new_name(names, &graph.value(id).name);
        let new = (!name.is_empty()).then(|| self.builder.shared(name));
        if let Some(known) = known {
            *known = new;
        }
        new
    }

    fn made(&mut self, made: &Made, names: &Renames) -> Result<()> {
        let input = |name: &Arc<str>| {
            let name = new_name(names, name);
            (!name.is_empty()).then(|| self.builder.shared(name))
        };
        let inputs = made.inputs.iter().map(input).collect();
        let [domain, overload] = [(); 2].map(|()| self.builder.intern(""));
        let node = Node {
            name: made.name.to_string().into(),
            operator: OperatorId { domain, name: self.builder.intern(made.operator), overload },
            version: self.version.or(Some(made.version)),
            inputs,
            outputs: Slots::new(),
            attributes: made.attributes.clone(),
            position: None,
        };
        let outputs: Vec<_> = made.outputs.iter().map(|name| &**new_name(names, name)).collect();
        self.builder.push(node, &outputs)
    }

    /// Says of values what the graph and the edit say of those of their names.
    fn declare(&mut self, graph: &Graph, edit: &Edit, names: &Renames) -> Result<()> {
        for info in &graph.values {
            let says_nothing = info.declared.is_none() && info.aliases.is_empty();
            if says_nothing || edit.gone.contains(&info.name) {
                continue;
            }
            if let Some(id) = self.builder.find(new_name(names, &info.name)) {
                let own = self.builder.info(id);
                own.declared = own.declared.take().or_else(|| info.declared.clone());
                if own.aliases.is_empty() {
                    own.aliases.clone_from(&info.aliases);
                }
            }
        }
        for (name, of) in edit.types.iter().filter(|(name, _)| !edit.gone.contains(name)) {
            if let Some(id) = self.builder.find(new_name(names, name)) {
                self.builder.info(id).declared = Some(of.clone());
            }
        }
        for step in &edit.nodes {
            if let Step::Inlined(inlined) = step {
                self.declare(inner(graph, inlined)?, &inlined.edit, &within(names, inlined))?;
            }
        }
        Ok(())
    }
}

/// The inner graph that takes the place of its node.
fn inner<'g>(graph: &'g Graph, inlined: &Inlined) -> Result<&'g Graph> {
    let node = graph.nodes.get(inlined.node).ok_or_else(other_graph)?;
    node.graphs().nth(inlined.graph).map(AsRef::as_ref).ok_or_else(other_graph)
}

/// The names in an inner graph that takes the place of its node. A value that the node around
/// renamed already has that name.
fn within(around: &Renames, inlined: &Inlined) -> Renames {
    let mut names = around.clone();
    names.extend(inlined.names.iter().map(|(old, new)| (old.clone(), new_name(around, new).clone())));
    names
}
