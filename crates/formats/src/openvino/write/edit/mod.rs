//! Graphs of a file that were changed in memory: what did not change is copied.
//!
//! First every value that there will be gets its place; then layers that stay are patched, and new
//! ones are written before those that they come before.

mod changes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::error::Position;
use gradus_core::graph::edit::Renames;
use gradus_core::graph::{self, Constant, Graph, Node, Type, ValueId};
use gradus_core::{Error, Kind, Result};

use super::super::model::{XmlNode, child};
use super::IrParts;
use super::net::{Layer, LayerSort, Net, not_the_file};
use super::pieces::Patch;

/// The layer and the port that a value comes from.
#[derive(Clone)]
struct EditSource {
    layer: i64,
    port: i64,
    of: Option<Type>,
    /// True if the file does not declare that type at the port.
    new: bool,
}

/// A layer as it will be, with the names of its values.
struct EditedItem<'a, 'g> {
    id: i64,
    inputs: Vec<Arc<str>>,
    /// By port: the name of the value; `None` if nothing reads it.
    outputs: Vec<Option<Arc<str>>>,
    content: EditedContent<'a, 'g>,
}

enum EditedContent<'a, 'g> {
    /// A layer of the file: in its place, or one of an inner graph that replaces the layer around
    /// it; and the node before and after.
    Layer {
        layer: Layer<'a>,
        stays: bool,
        of: Option<(&'g Node, &'g Node)>,
    },
    Made(&'g Node),
    Constant(&'g Constant),
    Parameter,
    Result,
}

/// A graph while it is edited.
struct Editing<'n, 'a, 'g> {
    net: &'n Net<'a>,
    before: &'n Graph,
    graph: &'g Graph,
    /// Names of values that new layers make outputs.
    shown: HashSet<Arc<str>>,
    /// Ports of the file, by the names of values.
    old: HashMap<&'n str, (&'n Layer<'a>, XmlNode<'a>)>,
    sources: HashMap<Arc<str>, EditSource>,
    items: Vec<EditedItem<'a, 'g>>,
    next: i64,
    patches: Vec<Patch>,
    edges: Vec<((i64, i64), (i64, i64))>,
}

/// A layer of the file that is a node or a constant, and the graph that it is in.
#[derive(Clone)]
struct StoredLayer<'a, 'g> {
    layer: Layer<'a>,
    graph: &'g Graph,
    node: Option<&'g Node>,
    /// True if it is in the graph that is edited, and not within.
    stays: bool,
}

/// The patches that make a graph of the file another; `renames` are new names of its values, by
/// the old ones.
///
/// # Errors
/// [`Kind::Graph`] if it is not made of that graph, [`Kind::Unsupported`] if there are no numbers
/// for new layers.
pub(super) fn edit_graph(
    out: &mut IrParts,
    xml: XmlNode<'_>,
    before: &Graph,
    after: &Graph,
    renames: &Renames,
) -> Result<Vec<Patch>> {
    let net = Net::of(xml, before)?;
    let mut old = HashMap::new();
    for layer in &net.layers {
        for port in &layer.outputs {
            old.extend(port.value.map(|id| (&*before.value(id).name, (layer, port.xml))));
        }
    }
    let last = net.layers.iter().map(|layer| layer.id).max().unwrap_or(-1);
    let Some(next) = last.checked_add(1).filter(|&next| next < i64::MAX >> 1) else {
        let message = format!("no numbers of layers are left after {last}");
        return Err(Error::new(Kind::Unsupported, message));
    };
    let mut stored = HashMap::new();
    collect(&mut stored, &net, before, true)?;
    let mut editing = Editing {
        net: &net,
        before,
        graph: after,
        shown: HashSet::new(),
        old,
        sources: HashMap::new(),
        items: Vec::new(),
        next,
        patches: Vec::new(),
        edges: Vec::new(),
    };
    let names = |ids: &[ValueId]| ids.iter().map(|&id| before.value(id).name.clone()).collect::<Vec<_>>();
    let found = |old: &[ValueId], new: &[ValueId]| {
        let new = new.iter().map(|&id| &after.value(id).name);
        places(&names(old), &new.collect::<Vec<_>>(), renames)
    };
    editing.constants(&stored, before, &found(before.inputs(), after.inputs()))?;
    for node in after.nodes() {
        match node.position {
            Some(at) => {
                let stored = stored.get(&at).ok_or_else(not_the_file)?;
                editing.layer(stored, &node.inputs, &node.outputs, Some(node))?;
            }
            None => editing.new_layer(EditedContent::Made(node), &node.inputs, &node.outputs),
        }
    }
    let results = net.layers.iter().filter(|layer| layer.sort == LayerSort::Result);
    let mut results: Vec<_> = results.map(Some).collect();
    let found = found(before.outputs(), after.outputs());
    // Results have the order of the outputs: those of the file stay where new ones come last.
    let in_order = found.is_sorted_by_key(|place| place.unwrap_or(usize::MAX));
    for (&id, place) in after.outputs().iter().zip(found.into_iter().map(|place| place.filter(|_| in_order)))
    {
        if let Some(layer) = place.and_then(|place| results.get_mut(place)).and_then(Option::take) {
            let stored = StoredLayer { layer: layer.clone(), graph: before, node: None, stays: true };
            editing.layer(&stored, &[Some(id)], &vec![None; layer.outputs.len()], None)?;
        } else {
            editing.shown.insert(after.value(id).name.clone());
            editing.new_layer(EditedContent::Result, &[Some(id)], &[]);
        }
    }
    editing.write(out)
}

/// By input or output of a graph, the place in the file of the one that it is: one of its name, or of
/// which it is the new name.
fn places(old: &[Arc<str>], new: &[&Arc<str>], renames: &Renames) -> Vec<Option<usize>> {
    let (mut own, mut renamed) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
    for (place, name) in old.iter().enumerate().rev() {
        own.entry(name).or_default().push(place);
        renamed.entry(renames.get(name).unwrap_or(name)).or_default().push(place);
    }
    let mut taken = HashSet::new();
    let mut take = |name: &Arc<str>| {
        for list in [&mut renamed, &mut own].map(|all| all.get_mut(name)).into_iter().flatten() {
            while let Some(place) = list.pop() {
                if taken.insert(place) {
                    return Some(place);
                }
            }
        }
        None
    };
    new.iter().map(|name| take(name)).collect()
}

/// Finds the nodes and the constants that are read, of a graph and those within.
fn collect<'a, 'g>(
    into: &mut HashMap<Position, StoredLayer<'a, 'g>>,
    net: &Net<'a>,
    graph: &'g Graph,
    stays: bool,
) -> Result<()> {
    for layer in &net.layers {
        let (mut node, mut at) = (None, None);
        if let LayerSort::Node(index) = layer.sort {
            let of = graph.nodes().get(index).ok_or_else(not_the_file)?;
            for (number, inner) in of.graphs().enumerate() {
                let xml = body(layer.xml, of, number).ok_or_else(not_the_file)?;
                collect(into, &Net::of(xml, inner)?, inner, false)?;
            }
            (node, at) = (Some(of), of.position);
        } else if layer.sort == LayerSort::Constant {
            let value = layer.outputs.first().and_then(|port| port.value);
            at = value.and_then(|id| graph.constant(id)?.position());
        }
        into.extend(at.map(|at| (at, StoredLayer { layer: layer.clone(), graph, node, stays })));
    }
    Ok(())
}

impl<'a, 'g> Editing<'_, 'a, 'g> {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    fn name(&self, id: ValueId) -> Arc<str> {
        self.graph.value(id).name.clone()
    }

    fn new_layer(
        &mut self,
        content: EditedContent<'a, 'g>,
        inputs: &[Option<ValueId>],
        outputs: &[Option<ValueId>],
    ) {
        let id = self.number();
        let inputs: Vec<_> = inputs.iter().flatten().map(|id| self.name(*id)).collect();
        let mut names = Vec::new();
        for (port, value) in (i64_of(inputs.len())..).zip(outputs.iter().flatten()) {
            let of = self.graph.value(*value).declared.clone();
            self.sources.insert(self.name(*value), EditSource { layer: id, port, of, new: true });
            names.push(Some(self.name(*value)));
        }
        self.items.push(EditedItem { id, inputs, outputs: names, content });
    }

    /// New constants come first, then inputs and constants of the graph, and those of graphs that
    /// take the place of their layer.
    fn constants(
        &mut self,
        stored: &HashMap<Position, StoredLayer<'a, 'g>>,
        before: &'g Graph,
        places: &[Option<usize>],
    ) -> Result<()> {
        let (mut kept, mut moved) = (HashMap::new(), Vec::new());
        for (id, constant) in self.graph.constants() {
            let Some(at) = constant.position() else {
                self.new_layer(EditedContent::Constant(constant), &[], &[Some(*id)]);
                continue;
            };
            // Nobody reads one that is not found.
            match stored.get(&at) {
                Some(stored) if stored.stays => _ = kept.insert(stored.layer.id, *id),
                stored => moved.extend(stored.map(|stored| (stored, *id))),
            }
        }
        let (mut inputs, mut parameters) = (HashMap::new(), 0..);
        for (&id, place) in self.graph.inputs().iter().zip(places) {
            match *place {
                Some(place) => _ = inputs.insert(place, id),
                None => self.new_layer(EditedContent::Parameter, &[], &[Some(id)]),
            }
        }
        for layer in &self.net.layers {
            let value = match layer.sort {
                LayerSort::Parameter => parameters.next().and_then(|place| inputs.get(&place).copied()),
                LayerSort::Constant => kept.get(&layer.id).copied(),
                LayerSort::Result | LayerSort::Node(_) => continue,
            };
            let is_read = layer.outputs.iter().any(|port| port.value.is_some());
            if value.is_some() || !is_read && layer.sort == LayerSort::Constant {
                let stored = StoredLayer { layer: layer.clone(), graph: before, node: None, stays: true };
                self.layer(&stored, &[], &[value], None)?;
            }
        }
        moved.into_iter().try_for_each(|(stored, id)| self.layer(stored, &[], &[Some(id)], None))
    }

    /// A layer of the file, with its values; `node` is the node that it becomes.
    fn layer(
        &mut self,
        stored: &StoredLayer<'a, 'g>,
        inputs: &[Option<ValueId>],
        outputs: &[Option<ValueId>],
        node: Option<&'g Node>,
    ) -> Result<()> {
        let StoredLayer { layer, graph, stays, .. } = stored;
        if (layer.inputs.len(), layer.outputs.len()) != (inputs.len(), outputs.len()) {
            return Err(not_the_file());
        }
        let id = if *stays { layer.id } else { self.number() };
        let mut names = Vec::with_capacity(outputs.len());
        for (port, value) in layer.outputs.iter().zip(outputs) {
            names.push(value.map(|value| self.name(value)));
            let Some(value) = *value else { continue };
            let of = self.graph.value(value).declared.clone();
            let new = port.value.is_none_or(|old| graph.value(old).declared != of);
            self.sources.insert(self.name(value), EditSource { layer: id, port: port.id, of, new });
        }
        let inputs = inputs.iter().map(|id| id.map(|id| self.name(id)).ok_or_else(not_the_file));
        let inputs = inputs.collect::<Result<_>>()?;
        let content = EditedContent::Layer { layer: layer.clone(), stays: *stays, of: stored.node.zip(node) };
        self.items.push(EditedItem { id, inputs, outputs: names, content });
        Ok(())
    }
}

/// The element of a graph of a node.
fn body<'a>(layer: XmlNode<'a>, node: &Node, number: usize) -> Option<XmlNode<'a>> {
    let is_graph = |attribute: &&graph::Attribute| matches!(attribute.content, graph::Content::Graph(_));
    let attribute = node.attributes.iter().filter(is_graph).nth(number)?;
    child(layer, &attribute.name)
}
