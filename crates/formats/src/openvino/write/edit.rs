//! Graphs of a file with changes: what an edit does not name stays as it stands.
//!
//! First every value that there will be gets its place; then layers that stay are patched, and new ones are written before
//! those that they come before.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::Result;
use gradus_core::convert::i64_of;
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use gradus_core::graph::{Graph, Node, Type, ValueId};
use gradus_core::{Tensor, graph};

use super::super::model::{Xml, child, list_of_names};
use super::Out;
use super::layer::{Head, Output, constant, data, ports};
use super::net::{Layer, Net, Sort, not_the_file, space_before, value_of, whole};
use super::patch::{named, retyped, retyped_parameter};
use super::pieces::{Patch, Piece, patched};
use super::text::{Xml as Text, escaped, names as names_of};

/// Where a value comes from.
#[derive(Clone)]
struct Source {
    layer: i64,
    port: i64,
    of: Option<Type>,
    /// Whether the file does not say that type at the port.
    new: bool,
}

/// A layer as it will be, with the names of its values.
struct Item<'a, 'e> {
    id: i64,
    inputs: Vec<Arc<str>>,
    /// By port: the name of the value; nothing if nobody reads it.
    outputs: Vec<Option<Arc<str>>>,
    content: Content<'a, 'e>,
}

enum Content<'a, 'e> {
    /// Of the file: in its place, or one of an inner graph in place of the layer that held it.
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
    old: HashMap<&'g str, (&'g Layer<'a>, Xml<'a>)>,
    sources: HashMap<Arc<str>, Source>,
    items: Vec<Item<'a, 'e>>,
    next: i64,
    patches: Vec<Patch>,
    edges: Vec<((i64, i64), (i64, i64))>,
}

/// The patches that an edit makes of a graph in the file.
///
/// # Errors
/// [`gradus_core::Kind::Graph`] if the edit is none of that graph.
pub(super) fn edit_graph(out: &mut Out, xml: Xml<'_>, graph: &Graph, edit: &Edit) -> Result<Vec<Patch>> {
    let net = Net::of(xml, graph)?;
    let mut old = HashMap::new();
    for layer in &net.layers {
        for port in &layer.outputs {
            old.extend(port.value.map(|id| (&*graph.value(id).name, (layer, port.xml))));
        }
    }
    let mut editing = Editing {
        net: &net,
        old,
        sources: HashMap::new(),
        items: Vec::new(),
        next: net.layers.iter().map(|layer| layer.id).max().map_or(0, |most| most.saturating_add(1)),
        patches: Vec::new(),
        edges: Vec::new(),
    };
    let scope = Scope { net: &net, graph, types: types(edit), names: &Renames::new(), stays: true };
    editing.constants(edit, scope.names);
    for layer in &net.layers {
        let dropped = |id: ValueId| edit.dropped.contains(&graph.value(id).name);
        let goes =
            layer.sort == Sort::Constant && layer.outputs.iter().filter_map(|port| port.value).any(dropped);
        if matches!(layer.sort, Sort::Parameter | Sort::Constant) && !goes {
            editing.layer(&scope, layer, None)?;
        }
    }
    editing.steps(&scope, &edit.nodes)?;
    for layer in net.layers.iter().filter(|layer| layer.sort == Sort::Result) {
        editing.layer(&scope, layer, None)?;
    }
    editing.write(out)
}

/// A graph whose layers are placed.
struct Scope<'s, 'a, 'e> {
    net: &'s Net<'a>,
    graph: &'e Graph,
    types: HashMap<&'e str, &'e Type>,
    names: &'s Renames,
    /// Whether layers stay in their place.
    stays: bool,
}

fn types(edit: &Edit) -> HashMap<&str, &Type> {
    edit.types.iter().map(|(name, of)| (&**name, of)).collect()
}

impl Scope<'_, '_, '_> {
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
        self.next = self.next.saturating_add(1);
        self.next - 1
    }

    fn new_layer(
        &mut self,
        content: Content<'a, 'e>,
        inputs: Vec<Arc<str>>,
        outputs: Vec<(Arc<str>, Option<Type>)>,
    ) {
        let id = self.number();
        let first = i64_of(inputs.len());
        for (port, (name, of)) in (first..).zip(&outputs) {
            self.sources.insert(name.clone(), Source { layer: id, port, of: of.clone(), new: true });
        }
        let outputs = outputs.into_iter().map(|(name, _)| Some(name)).collect();
        self.items.push(Item { id, inputs, outputs, content });
    }

    fn constants(&mut self, edit: &'e Edit, names: &Renames) {
        for (name, tensor) in &edit.constants {
            let name = names.get(name).unwrap_or(name).clone();
            let of = Some(Type::tensor(tensor.dtype(), tensor.shape()));
            self.new_layer(Content::Constant(tensor), Vec::new(), vec![(name, of)]);
        }
    }

    fn steps(&mut self, scope: &Scope<'_, 'a, 'e>, steps: &'e [Step]) -> Result<()> {
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
                    self.new_layer(Content::Made(made), inputs, outputs);
                }
            }
        }
        Ok(())
    }

    /// A layer of the file.
    fn layer(&mut self, scope: &Scope<'_, 'a, 'e>, layer: &Layer<'a>, kept: Option<&'e Kept>) -> Result<()> {
        let id = if scope.stays { layer.id } else { self.number() };
        let mut outputs = Vec::with_capacity(layer.outputs.len());
        for port in &layer.outputs {
            outputs.push(port.value.map(|value| {
                let name = &scope.graph.value(value).name;
                let (of, new) = scope.type_of(name, Some(value));
                let name = scope.name(name);
                self.sources.insert(name.clone(), Source { layer: id, port: port.id, of, new });
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
        let content = Content::Layer { layer: layer.clone(), stays: scope.stays, of: node };
        self.items.push(Item { id, inputs, outputs, content });
        Ok(())
    }

    /// The layers of an inner graph. What is passed to it has the names of its inputs.
    fn inlined(&mut self, around: &Scope<'_, 'a, 'e>, inlined: &'e Inlined) -> Result<()> {
        let node = around.graph.nodes().get(inlined.node).ok_or_else(not_the_file)?;
        let graph = node.graphs().nth(inlined.graph).ok_or_else(not_the_file)?;
        let xml = body(around.net.node(inlined.node)?.xml, node, inlined.graph).ok_or_else(not_the_file)?;
        let net = Net::of(xml, graph)?;
        let mut names = around.names.clone();
        names.extend(inlined.names.iter().map(|(old, new)| (old.clone(), around.name(new))));
        let edit = &inlined.edit;
        let scope = Scope { net: &net, graph, types: types(edit), names: &names, stays: false };
        self.constants(edit, &names);
        for layer in net.layers.iter().filter(|layer| layer.sort == Sort::Constant) {
            let value = layer.outputs.first().and_then(|port| port.value);
            if value.is_some_and(|id| !edit.dropped.contains(&graph.value(id).name)) {
                self.layer(&scope, layer, None)?;
            }
        }
        self.steps(&scope, &edit.nodes)
    }

    /// The patches.
    fn write(mut self, out: &mut Out) -> Result<Vec<Patch>> {
        let indent = self.net.layers.first().map_or("", |layer| space_before(layer.xml));
        let mut pending = Vec::new();
        let mut staying = HashSet::new();
        for item in std::mem::take(&mut self.items) {
            match &item.content {
                Content::Layer { layer, stays, of } => {
                    let mut patches = self.changed(&item, layer, *stays)?;
                    if let Some((node, kept)) = of {
                        patches.extend(inner(out, layer.xml, node, kept)?);
                    }
                    if *stays {
                        staying.insert(layer.id);
                        let start = whole(layer.xml).start;
                        patches.push(Patch { range: start..start, new: std::mem::take(&mut pending) });
                        self.patches.extend(patches);
                    } else {
                        patches.extend(self.renamed(&item, layer)?);
                        pending.push(Piece::Fresh(indent.to_owned()));
                        pending.extend(patched(layer.xml.range(), patches));
                    }
                }
                Content::Made(_) | Content::Constant(_) => {
                    out.xml = Text::new(indent);
                    self.text(out, &item)?;
                    pending.push(Piece::Fresh(std::mem::take(&mut out.xml.text)));
                }
            }
        }
        if let Some(last) = self.net.layers.last() {
            let end = last.xml.range().end;
            self.patches.push(Patch { range: end..end, new: pending });
        }
        let goes = |id: i64| !staying.contains(&id);
        let layers = self.net.layers.iter().filter(|layer| goes(layer.id)).map(|layer| whole(layer.xml));
        let edges = self.net.edges.iter().filter(|((to, _), _)| goes(*to)).map(|(_, (_, xml))| whole(*xml));
        self.patches.extend(layers.chain(edges).map(|range| Patch { range, new: Vec::new() }));
        self.new_edges();
        Ok(self.patches)
    }

    fn source(&self, name: &Arc<str>) -> Result<&Source> {
        self.sources.get(name).ok_or_else(not_the_file)
    }

    /// Other types at the ports of a layer; other edges that lead to it.
    fn changed(&mut self, item: &Item<'a, 'e>, layer: &Layer<'a>, stays: bool) -> Result<Vec<Patch>> {
        let mut patches = Vec::new();
        for (port, name) in layer.inputs.iter().zip(&item.inputs) {
            let source = self.source(name)?;
            let from = (source.layer, source.port);
            let mut other = !stays;
            if stays {
                let (old, edge) = self.net.edges.get(&(layer.id, port.id)).ok_or_else(not_the_file)?;
                other = *old != from;
                for (attribute, old, new) in [("from-layer", old.0, from.0), ("from-port", old.1, from.1)] {
                    let place = value_of(*edge, attribute)?.filter(|_| old != new);
                    patches.extend(place.map(|range| Patch::new(range, new.to_string())));
                }
            }
            if other || source.new {
                patches.extend(retyped(port.xml, source.of.as_ref())?);
            }
            if !stays {
                self.edges.push((from, (item.id, port.id)));
            }
        }
        for (port, name) in layer.outputs.iter().zip(&item.outputs) {
            let Some(source) = name.as_ref().map(|name| self.source(name)).transpose()? else { continue };
            if source.new && source.layer == item.id {
                patches.extend(retyped(port.xml, source.of.as_ref())?);
                if layer.sort == Sort::Parameter {
                    patches.extend(retyped_parameter(layer.xml, source.of.as_ref())?);
                }
            }
        }
        Ok(patches)
    }

    /// The number and the names of a layer that comes from an inner graph.
    fn renamed(&self, item: &Item<'_, '_>, layer: &Layer<'a>) -> Result<Vec<Patch>> {
        let mut patches = Vec::new();
        patches.extend(value_of(layer.xml, "id")?.map(|range| Patch::new(range, item.id.to_string())));
        for (port, name) in layer.outputs.iter().zip(&item.outputs) {
            let Some(name) = name else { continue };
            match self.old.get(&**name) {
                Some((old, place)) => {
                    patches.extend(named(port.xml, place.attribute("names").unwrap_or_default())?);
                    if (layer.outputs.len(), old.outputs.len()) == (1, 1) {
                        let place = value_of(layer.xml, "name")?;
                        let name = escaped(old.xml.attribute("name").unwrap_or_default()).into_owned();
                        patches.extend(place.map(|range| Patch::new(range, name)));
                    }
                }
                None if port.xml.has_attribute("names") => {
                    let names = list_of_names(port.xml.attribute("names").unwrap_or_default());
                    if !names.iter().any(|own| **own == **name) {
                        patches.extend(named(port.xml, &names_of([&**name]))?);
                    }
                }
                None => {}
            }
        }
        Ok(patches)
    }

    /// A layer that the file does not have. In place of one that the file has, its tensors have the same names.
    fn text(&mut self, out: &mut Out, item: &Item<'_, '_>) -> Result<()> {
        let first = item.outputs.first().and_then(Option::as_ref).ok_or_else(not_the_file)?;
        let old = |name: &Arc<str>| self.old.get(&**name);
        let layer_name = old(first).filter(|(layer, _)| layer.outputs.len() == 1);
        let layer_name = layer_name.and_then(|(layer, _)| layer.xml.attribute("name")).unwrap_or(first);
        let names = |name: &Arc<str>| {
            old(name).and_then(|(_, port)| port.attribute("names")).unwrap_or_default().to_owned()
        };
        let made = match item.content {
            Content::Constant(tensor) => return constant(out, item.id, layer_name, tensor, names(first)),
            Content::Made(made) => made,
            Content::Layer { .. } => return Ok(()),
        };
        let version = format!("opset{}", made.version);
        let head = Head { id: item.id, name: layer_name, operator: made.operator, version: &version };
        head.open(&mut out.xml, &[]);
        data(&mut out.xml, made.attributes.iter().map(|(name, content)| (*name, content)))?;
        let sources = item.inputs.iter().map(|name| self.source(name)).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<_> = sources.iter().map(|source| source.of.as_ref()).collect();
        let mut outputs = Vec::new();
        for (id, name) in (inputs.len()..).zip(item.outputs.iter().flatten()) {
            outputs.push(Output { id, of: self.source(name)?.of.as_ref(), names: names(name) });
        }
        ports(&mut out.xml, &inputs, &outputs);
        out.xml.close("layer");
        let from: Vec<_> = sources.iter().map(|source| (source.layer, source.port)).collect();
        self.edges.extend((0..).zip(from).map(|(port, from)| (from, (item.id, port))));
        Ok(())
    }

    /// Edges that the file does not have.
    fn new_edges(&mut self) {
        if self.edges.is_empty() {
            return;
        }
        let list = child(self.net.xml, "edges");
        let last = list.and_then(|list| list.children().rfind(Xml::is_element));
        let layers = child(self.net.xml, "layers");
        let indent = list.or(layers).map_or("", space_before);
        let mut xml = Text::new(last.map_or(indent, space_before));
        if last.is_none() {
            xml.open("edges", &[]);
        }
        for ((from, from_port), (to, to_port)) in &self.edges {
            xml.edge((*from, &from_port.to_string()), (*to, &to_port.to_string()));
        }
        if last.is_none() {
            xml.close("edges");
        }
        let end = last.or(layers).map_or(0, |xml| xml.range().end);
        self.patches.push(Patch::new(end..end, xml.text));
        if let (Some(list), None) = (list, last) {
            self.patches.push(Patch { range: whole(list), new: Vec::new() });
        }
    }
}

/// Changes of the graphs of a node.
fn inner(out: &mut Out, layer: Xml<'_>, node: &Node, kept: &Kept) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    for (number, edit) in &kept.graphs {
        let graph = node.graphs().nth(*number).ok_or_else(not_the_file)?;
        let xml = body(layer, node, *number).ok_or_else(not_the_file)?;
        patches.extend(edit_graph(out, xml, graph, edit)?);
    }
    Ok(patches)
}

/// The element of a graph of a node.
fn body<'a>(layer: Xml<'a>, node: &Node, number: usize) -> Option<Xml<'a>> {
    let is_graph = |attribute: &&graph::Attribute| matches!(attribute.content, graph::Content::Graph(_));
    let attribute = node.attributes.iter().filter(is_graph).nth(number)?;
    child(layer, &attribute.name)
}
