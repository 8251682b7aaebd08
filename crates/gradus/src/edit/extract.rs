//! Parts of models: other inputs and outputs, and the nodes between them.

use std::collections::HashSet;

use gradus_core::graph::edit::{Kept, Step};
use gradus_core::graph::{Content, Function, Needed, Node, OperatorId, Origin, Type};

use super::apply::{counted, part, quoted};
use super::{Arc, Editor, Error, Graph, GraphEdit, Kind, Result, ValueId};
use crate::declare::{Telling, merged};
use crate::encode::container;
use gradus_engine::infer::{InferOptions, Inference};

impl Editor {
    /// Keeps the part from some values to others.
    pub(super) fn extract(&mut self, inputs: &[String], outputs: &[String]) -> Result<()> {
        let ids = |names: &[String]| {
            let mut ids = Vec::new();
            for name in names {
                let id = self.now.value(name)?;
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            Ok::<_, Error>(ids)
        };
        let (cut, wanted) = (ids(inputs)?, ids(outputs)?);
        let graph = self.graph();
        let wanted = if outputs.is_empty() { graph.outputs().to_vec() } else { wanted };
        let given: HashSet<_> = cut.iter().copied().collect();
        let needed = needed_with_variables(graph, &wanted, &given);
        let read = |id: &ValueId| needed.values[id.index()];
        if !cut.is_empty()
            && let Some(&id) = graph
                .inputs()
                .iter()
                .find(|&id| read(id) && !given.contains(id) && graph.constant(*id).is_none())
        {
            return Err(self.needs_input(id, &needed, &wanted));
        }
        let kept_inputs = || graph.inputs().iter().copied().filter(read).collect();
        let cut = if cut.is_empty() { kept_inputs() } else { cut };
        let count = (needed.nodes.iter().filter(|&&needed| needed).count(), graph.nodes().len());
        self.keep(&cut, &wanted, &needed)?;
        let ports = [self.graph().inputs(), self.graph().outputs()].map(|ids| self.listed(ids));
        let [from, to] = ports;
        self.note(format_args!("extracted {} of {} nodes: from {from} to {to}", count.0, count.1));
        Ok(())
    }

    /// Makes a value an output.
    pub(super) fn add_output(&mut self, name: &str) -> Result<()> {
        let id = self.now.value(name)?;
        if self.graph().outputs().contains(&id) {
            let message = format!("cannot add output {}: it is an output already", quoted(name));
            return Err(Error::new(Kind::Usage, message));
        }
        let mut edit = self.keeping();
        edit.outputs = Some(self.names_of(&[self.graph().outputs(), &[id]].concat()));
        if self.graph().value(id).declared.is_none() {
            edit.types = self.inferred(&[id], "add output")?;
        }
        self.change(&edit)?;
        let listed = self.graph().outputs().last().map(|&id| self.listed(&[id])).unwrap_or_default();
        self.note(format_args!("added output {listed}"));
        Ok(())
    }

    /// Makes an output none, and drops what only it needs.
    pub(super) fn remove_output(&mut self, name: &str) -> Result<()> {
        let graph = self.graph();
        let names = || graph.outputs().iter().map(|&id| &*graph.value(id).name);
        let found = graph.outputs().iter().position(|&id| *graph.value(id).name == *name);
        let at = found.ok_or_else(|| Error::unknown("output", name, names()))?;
        let mut rest = graph.outputs().to_vec();
        rest.remove(at);
        if rest.is_empty() {
            let message = format!("cannot remove output {}: the model has no other", quoted(name));
            return Err(Error::new(Kind::Usage, message));
        }
        let inputs = graph.inputs().to_vec();
        // Nodes that no output needed before stay, and what they read.
        let before = Needed::new(graph, graph.outputs(), &HashSet::new());
        let idle = graph.nodes().iter().zip(&before.nodes).filter(|(_, needed)| !**needed);
        rest.extend(idle.flat_map(|(node, _)| node.outputs.iter().flatten()));
        let needed = Needed::new(graph, &rest, &HashSet::new());
        rest.truncate(graph.outputs().len() - 1);
        let unneeded = |list: &[bool], before: &[bool]| {
            list.iter().zip(before).map(|(&now, &before)| now || !before).collect()
        };
        let needed = Needed {
            nodes: unneeded(&needed.nodes, &before.nodes),
            values: unneeded(&needed.values, &before.values),
        };
        let gone = needed.nodes.iter().filter(|&&needed| !needed).count();
        self.keep(&inputs, &rest, &needed)?;
        let gone = counted(gone, "node");
        self.note(format_args!("removed output {}, and {gone} that only it needs", quoted(name)));
        Ok(())
    }

    /// Makes the main graph one of the nodes and values that are needed, between these inputs and
    /// outputs.
    pub(super) fn keep(&mut self, inputs: &[ValueId], outputs: &[ValueId], needed: &Needed) -> Result<()> {
        let mentioned = self.original.mentioned()?;
        let graph = self.graph();
        let cut: HashSet<_> =
            inputs.iter().copied().filter(|&id| graph.value(id).origin != Origin::Input).collect();
        let mut taken = Vec::new();
        let mut edit = GraphEdit::default();
        for (index, node) in graph.nodes().iter().enumerate().filter(|(index, _)| needed.nodes[*index]) {
            let mut kept = Kept { node: index, ..Kept::default() };
            let outputs = node.outputs.iter().enumerate();
            for (slot, id) in outputs.filter_map(|(slot, id)| id.map(|id| (slot, id))) {
                // The node computes a value too that is given now.
                if cut.contains(&id) {
                    let like = format!("{}_unused", graph.value(id).name);
                    let mut name = self.fresh(&like);
                    while taken.contains(&name) {
                        name = self.fresh(&format!("{name}_"));
                    }
                    taken.push(name.clone());
                    kept.outputs.push((slot, name));
                }
            }
            edit.nodes.push(Step::Kept(kept));
        }
        for &(id, _) in graph.constants() {
            let (info, is_given) = (graph.value(id), inputs.contains(&id));
            let stays = match info.origin {
                Origin::Input => is_given || needed.values[id.index()],
                _ => !is_given && (needed.values[id.index()] || mentioned.contains(&*info.name)),
            };
            if !stays {
                edit.dropped.insert(info.name.clone());
            }
        }
        let untyped = |id: &&ValueId| {
            let info = graph.value(**id);
            info.declared.as_ref().is_none_or(|of| of.dtype().is_none())
                || (cut.contains(*id) && info.origin.is_node())
        };
        let untyped: Vec<_> = inputs.iter().chain(outputs).filter(untyped).copied().collect();
        if !untyped.is_empty() {
            edit.types = self.inferred(&untyped, "extract")?;
        }
        edit.inputs = Some(self.names_of(inputs));
        edit.outputs = Some(self.names_of(outputs));
        self.change(&edit)?;
        self.drop_functions();
        Ok(())
    }

    /// Drops functions that no node calls.
    fn drop_functions(&mut self) {
        let source = self.now.source();
        let mut called = HashSet::new();
        let mut open = vec![&source.graph];
        while let Some(graph) = open.pop() {
            for node in graph.nodes() {
                open.extend(node.graphs().map(|graph| &**graph));
                let of = source.functions.iter().find(|function| function.id == node.operator);
                if let Some(Function { id, body, .. }) = of
                    && called.insert(id.clone())
                {
                    open.push(body);
                }
            }
        }
        if called.len() < source.functions.len() {
            let mut source = source.clone();
            source.functions.retain(|function: &Function| called.contains::<OperatorId>(&function.id));
            self.now = self.now.with_source(source);
        }
    }

    /// The inferred types of values.
    fn inferred(&self, ids: &[ValueId], what: &str) -> Result<Vec<(Arc<str>, Type)>> {
        let options = InferOptions::default();
        let inference = self.now.infer(&options)?;
        let telling = Telling::new(self.now.source(), inference.symbols(), &options);
        let typed = |&id: &ValueId| {
            let info = self.graph().value(id);
            let of = type_of(self.graph(), &inference, &telling, id).or_else(|| info.declared.clone());
            let of = of.filter(|of| of.dtype().is_some()).ok_or_else(|| {
                let what = format_args!("cannot {what} {}: its type", quoted(&info.name));
                Error::mismatch(Kind::Graph, what, "unknown", "a known one").in_node(self.producer(id))
            })?;
            Ok((info.name.clone(), of))
        };
        ids.iter().map(typed).collect()
    }

    /// The node that computes a value, or what else the value is.
    fn producer(&self, id: ValueId) -> String {
        match self.graph().value(id).origin {
            Origin::Node(node, _) => self.graph().nodes()[node].label(node),
            _ => format!("{} {}", part(self.graph(), id), quoted(&self.graph().value(id).name)),
        }
    }

    /// The error of a part that needs an input that it does not begin at.
    fn needs_input(&self, id: ValueId, needed: &Needed, wanted: &[ValueId]) -> Error {
        let graph = self.graph();
        let name = &graph.value(id).name;
        let reads =
            |(index, node): &(usize, &Node)| needed.nodes[*index] && node.needs().any(|needed| needed == id);
        let reader = graph.nodes().iter().enumerate().find(reads);
        let message =
            format!("cannot extract: input {} is needed too, expected it among the inputs", quoted(name));
        let error = Error::new(Kind::Usage, message);
        match reader {
            Some((index, node)) => error.in_node(node.label(index)),
            None => match wanted.first() {
                Some(_) => error.in_node(format!("output {}", quoted(name))),
                None => error,
            },
        }
    }

    /// Values with their types, for a note.
    pub(super) fn listed(&self, ids: &[ValueId]) -> String {
        let listed = ids.iter().map(|&id| {
            let info = self.graph().value(id);
            let of = info.declared.as_ref().map_or_else(|| "?".to_owned(), Type::to_string);
            format!("{} {of}", quoted(&info.name))
        });
        let listed: Vec<_> = listed.collect();
        if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
    }
}

/// Nodes and values that wanted values need where others are given, and the nodes that store the
/// variables of OpenVINO that they read.
fn needed_with_variables(graph: &Graph, wanted: &[ValueId], given: &HashSet<ValueId>) -> Needed {
    let variable = |node: &Node| {
        let attribute = node.attributes.iter().find(|attribute| &*attribute.name == "variable_id")?;
        if let Content::Text(id) = &attribute.content { Some(id.clone()) } else { None }
    };
    let nodes = graph.nodes().iter().enumerate();
    let nodes: Vec<_> = nodes.filter_map(|(index, node)| Some((index, node, variable(node)?))).collect();
    let mut wanted = wanted.to_vec();
    loop {
        let needed = Needed::new(graph, &wanted, given);
        let read: HashSet<_> =
            nodes.iter().filter(|(index, ..)| needed.nodes[*index]).map(|(_, _, id)| id).collect();
        let stores = nodes.iter().filter(|(index, _, id)| !needed.nodes[*index] && read.contains(id));
        let before = wanted.len();
        wanted.extend(stores.flat_map(|(_, node, _)| node.outputs.iter().flatten()));
        if wanted.len() == before {
            return needed;
        }
    }
}

/// The inferred type of a value, with its sizes in the symbols of the inputs.
fn type_of(graph: &Graph, inference: &Inference, telling: &Telling<'_>, id: ValueId) -> Option<Type> {
    let fact = inference.fact(id);
    merged(graph.value(id), fact, |dim| telling.size(dim)).or_else(|| container(fact))
}
