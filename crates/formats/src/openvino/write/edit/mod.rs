//! Graphs of a file with changes: what an edit does not name stays unchanged.
//!
//! First every value that there will be gets its place; then layers that stay are patched, and new
//! ones are written before those that they come before.

mod changes;

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use gradus_core::graph::{Graph, Node, Type, ValueId};
use gradus_core::{Error, Kind, Result, Tensor, graph};

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
struct EditedItem<'a, 'e> {
    id: i64,
    inputs: Vec<Arc<str>>,
    /// By port: the name of the value; `None` if nothing reads it.
    outputs: Vec<Option<Arc<str>>>,
    content: EditedContent<'a, 'e>,
}

enum EditedContent<'a, 'e> {
    /// A layer of the file: in its place, or one of an inner graph that replaces the layer around
    /// it.
    Layer {
        layer: Layer<'a>,
        stays: bool,
        of: Option<(&'e Node, &'e Kept)>,
    },
    Made(&'e Made),
    Constant(&'e Tensor),
}

/// A graph while it is edited.
struct Editing<'g, 'a, 'e> {
    net: &'g Net<'a>,
    /// Ports of the file, by the names of values.
    old: HashMap<&'g str, (&'g Layer<'a>, XmlNode<'a>)>,
    sources: HashMap<Arc<str>, EditSource>,
    items: Vec<EditedItem<'a, 'e>>,
    next: i64,
    patches: Vec<Patch>,
    edges: Vec<((i64, i64), (i64, i64))>,
}

/// The patches that an edit makes of a graph in the file.
///
/// # Errors
/// [`Kind::Graph`] if the edit is none of that graph, [`Kind::Unsupported`] if there are no numbers
/// for new layers.
pub(super) fn edit_graph(
    out: &mut IrParts,
    xml: XmlNode<'_>,
    graph: &Graph,
    edit: &Edit,
) -> Result<Vec<Patch>> {
    let net = Net::of(xml, graph)?;
    let mut old = HashMap::new();
    for layer in &net.layers {
        for port in &layer.outputs {
            old.extend(port.value.map(|id| (&*graph.value(id).name, (layer, port.xml))));
        }
    }
    let last = net.layers.iter().map(|layer| layer.id).max().unwrap_or(-1);
    let Some(next) = last.checked_add(1).filter(|&next| next < i64::MAX >> 1) else {
        let message = format!("no numbers of layers are left after {last}");
        return Err(Error::new(Kind::Unsupported, message));
    };
    let mut editing = Editing {
        net: &net,
        old,
        sources: HashMap::new(),
        items: Vec::new(),
        next,
        patches: Vec::new(),
        edges: Vec::new(),
    };
    let scope = LayerScope { net: &net, graph, types: types(edit), names: &Renames::new(), stays: true };
    editing.constants(edit, scope.names);
    for layer in &net.layers {
        let dropped = |id: ValueId| edit.dropped.contains(&graph.value(id).name);
        let goes = layer.sort == LayerSort::Constant
            && layer.outputs.iter().filter_map(|port| port.value).any(dropped);
        if matches!(layer.sort, LayerSort::Parameter | LayerSort::Constant) && !goes {
            editing.layer(&scope, layer, None)?;
        }
    }
    editing.steps(&scope, &edit.nodes)?;
    for layer in net.layers.iter().filter(|layer| layer.sort == LayerSort::Result) {
        editing.layer(&scope, layer, None)?;
    }
    editing.write(out)
}

/// A graph whose layers are placed.
struct LayerScope<'s, 'a, 'e> {
    net: &'s Net<'a>,
    graph: &'e Graph,
    types: HashMap<&'e str, &'e Type>,
    names: &'s Renames,
    /// True if layers keep their place.
    stays: bool,
}

fn types(edit: &Edit) -> HashMap<&str, &Type> {
    edit.types.iter().map(|(name, of)| (&**name, of)).collect()
}

impl LayerScope<'_, '_, '_> {
    fn name(&self, name: &Arc<str>) -> Arc<str> {
        self.names.get(name).unwrap_or(name).clone()
    }

    /// The type that the edit declares of a value, or else the file; and whether it is the edit's.
    fn type_of(&self, name: &str, id: Option<ValueId>) -> (Option<Type>, bool) {
        match (self.types.get(name), id) {
            (Some(of), _) => (Some((*of).clone()), true),
            (None, Some(id)) => (self.graph.value(id).declared.clone(), false),
            (None, None) => (None, false),
        }
    }
}

impl<'a, 'e> Editing<'_, 'a, 'e> {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    fn new_layer(
        &mut self,
        content: EditedContent<'a, 'e>,
        inputs: Vec<Arc<str>>,
        outputs: Vec<(Arc<str>, Option<Type>)>,
    ) {
        let id = self.number();
        let first = i64_of(inputs.len());
        for (port, (name, of)) in (first..).zip(&outputs) {
            self.sources.insert(name.clone(), EditSource { layer: id, port, of: of.clone(), new: true });
        }
        let outputs = outputs.into_iter().map(|(name, _)| Some(name)).collect();
        self.items.push(EditedItem { id, inputs, outputs, content });
    }

    fn constants(&mut self, edit: &'e Edit, names: &Renames) {
        for (name, tensor) in &edit.constants {
            let name = names.get(name).unwrap_or(name).clone();
            let of = Some(Type::tensor(tensor.dtype(), tensor.shape()));
            self.new_layer(EditedContent::Constant(tensor), Vec::new(), vec![(name, of)]);
        }
    }

    fn steps(&mut self, scope: &LayerScope<'_, 'a, 'e>, steps: &'e [Step]) -> Result<()> {
        for step in steps {
            match step {
                Step::Kept(kept) => self.layer(scope, scope.net.node(kept.node)?, Some(kept))?,
                Step::Inlined(inlined) => self.inlined(scope, inlined)?,
                Step::Made(made) => {
                    let of = |name: &Arc<str>| {
                        let declared = || scope.graph.value(scope.graph.find(name)?).declared.clone();
                        (scope.name(name), scope.type_of(name, None).0.or_else(declared))
                    };
                    let outputs = made.outputs.iter().map(of).collect();
                    let inputs = made.inputs.iter().map(|name| scope.name(name)).collect();
                    self.new_layer(EditedContent::Made(made), inputs, outputs);
                }
            }
        }
        Ok(())
    }

    /// A layer of the file.
    fn layer(
        &mut self,
        scope: &LayerScope<'_, 'a, 'e>,
        layer: &Layer<'a>,
        kept: Option<&'e Kept>,
    ) -> Result<()> {
        let id = if scope.stays { layer.id } else { self.number() };
        let mut outputs = Vec::with_capacity(layer.outputs.len());
        for port in &layer.outputs {
            outputs.push(port.value.map(|value| {
                let name = &scope.graph.value(value).name;
                let (of, new) = scope.type_of(name, Some(value));
                let name = scope.name(name);
                self.sources.insert(name.clone(), EditSource { layer: id, port: port.id, of, new });
                name
            }));
        }
        let mut inputs = Vec::with_capacity(layer.inputs.len());
        for (slot, port) in layer.inputs.iter().enumerate() {
            let changed = kept.and_then(|kept| kept.inputs.iter().find(|(input, _)| *input == slot));
            let name = match (changed, port.value) {
                (Some((_, name)), _) => name,
                (None, Some(value)) => &scope.graph.value(value).name,
                (None, None) => return Err(not_the_file()),
            };
            inputs.push(scope.name(name));
        }
        let node = kept.and_then(|kept| Some((scope.graph.nodes().get(kept.node)?, kept)));
        let content = EditedContent::Layer { layer: layer.clone(), stays: scope.stays, of: node };
        self.items.push(EditedItem { id, inputs, outputs, content });
        Ok(())
    }

    /// The layers of an inner graph. What is passed to it has the names of its inputs.
    fn inlined(&mut self, around: &LayerScope<'_, 'a, 'e>, inlined: &'e Inlined) -> Result<()> {
        let node = around.graph.nodes().get(inlined.node).ok_or_else(not_the_file)?;
        let graph = node.graphs().nth(inlined.graph).ok_or_else(not_the_file)?;
        let xml = body(around.net.node(inlined.node)?.xml, node, inlined.graph).ok_or_else(not_the_file)?;
        let net = Net::of(xml, graph)?;
        let mut names = around.names.clone();
        names.extend(inlined.names.iter().map(|(old, new)| (old.clone(), around.name(new))));
        let edit = &inlined.edit;
        let scope = LayerScope { net: &net, graph, types: types(edit), names: &names, stays: false };
        self.constants(edit, &names);
        for layer in net.layers.iter().filter(|layer| layer.sort == LayerSort::Constant) {
            let value = layer.outputs.first().and_then(|port| port.value);
            if value.is_some_and(|id| !edit.dropped.contains(&graph.value(id).name)) {
                self.layer(&scope, layer, None)?;
            }
        }
        self.steps(&scope, &edit.nodes)
    }
}

/// The element of a graph of a node.
fn body<'a>(layer: XmlNode<'a>, node: &Node, number: usize) -> Option<XmlNode<'a>> {
    let is_graph = |attribute: &&graph::Attribute| matches!(attribute.content, graph::Content::Graph(_));
    let attribute = node.attributes.iter().filter(is_graph).nth(number)?;
    child(layer, &attribute.name)
}
