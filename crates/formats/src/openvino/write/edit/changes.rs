//! The patches of a graph whose layers and values all have their places.

use std::collections::HashSet;
use std::sync::Arc;

use gradus_core::Result;
use gradus_core::graph::Node;
use gradus_core::graph::edit::Renames;

use super::super::super::model::{XmlNode, child};
use super::super::super::names::list_of_names;
use super::super::IrParts;
use super::super::layer::{Head, LayerOutput, constant, data, parameter, ports, result};
use super::super::net::{Layer, LayerSort, Side, not_the_file, space_before, value_of, whole};
use super::super::patch::{named, retyped, retyped_parameter};
use super::super::pieces::{Patch, XmlPiece, patched};
use super::super::text::{XmlWriter as Text, escaped, names as names_of};
use super::{EditSource, EditedContent, EditedItem, Editing, body, edit_graph};

impl<'a, 'g> Editing<'_, 'a, 'g> {
    /// The patches.
    pub(super) fn write(mut self, out: &mut IrParts) -> Result<Vec<Patch>> {
        let indent = self.net.layers.first().map_or("", |layer| space_before(layer.xml));
        let mut pending = Vec::new();
        let mut staying = HashSet::new();
        for item in std::mem::take(&mut self.items) {
            let EditedContent::Layer { layer, stays, of } = &item.content else {
                out.xml = Text::new(indent);
                self.text(out, &item)?;
                pending.push(XmlPiece::Fresh(std::mem::take(&mut out.xml.text)));
                continue;
            };
            let mut patches = self.changed(&item, layer, *stays)?;
            if let Some((before, after)) = of {
                patches.extend(inner(out, layer.xml, before, after)?);
            }
            if *stays {
                staying.insert(layer.id);
                let start = whole(layer.xml).start;
                patches.push(Patch { range: start..start, new: std::mem::take(&mut pending) });
                self.patches.extend(patches);
            } else {
                patches.extend(self.renamed(&item, layer)?);
                pending.push(XmlPiece::Fresh(indent.to_owned()));
                pending.extend(patched(layer.xml.range(), patches));
            }
        }
        if let Some(last) = self.net.layers.last() {
            let end = last.xml.range().end;
            self.patches.push(Patch { range: end..end, new: pending });
        }
        let goes = |id: i64| !staying.contains(&id);
        let layers = self.net.layers.iter().filter(|layer| goes(layer.id)).map(|layer| whole(layer.xml));
        let edges = self.net.edges.iter().filter(|((to, _), _)| goes(*to)).map(|(_, edge)| whole(edge.xml));
        self.patches.extend(layers.chain(edges).map(|range| Patch { range, new: Vec::new() }));
        self.new_edges();
        Ok(self.patches)
    }

    fn source(&self, name: &Arc<str>) -> Result<&EditSource> {
        self.sources.get(name).ok_or_else(not_the_file)
    }

    /// Changes the types at the ports of a layer, and the edges that lead to it.
    fn changed(&mut self, item: &EditedItem<'a, 'g>, layer: &Layer<'a>, stays: bool) -> Result<Vec<Patch>> {
        let mut patches = Vec::new();
        for (port, name) in layer.inputs.iter().zip(&item.inputs) {
            let source = self.source(name)?;
            let from = (source.layer, source.port);
            let mut other = !stays;
            if stays {
                let edge = self.net.edges.get(&(layer.id, port.id)).ok_or_else(not_the_file)?;
                let old = edge.from;
                other = old != from;
                for (attribute, old, new) in [("from-layer", old.0, from.0), ("from-port", old.1, from.1)] {
                    let place = value_of(edge.xml, attribute)?.filter(|_| old != new);
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
                if layer.sort == LayerSort::Parameter {
                    patches.extend(retyped_parameter(layer.xml, source.of.as_ref())?);
                }
            }
        }
        if stays {
            patches.extend(self.with_new_names(item, layer)?);
        }
        Ok(patches)
    }

    /// The names of a layer that stays, where those of its values are others, and of the tensors
    /// that are outputs now.
    fn with_new_names(&self, item: &EditedItem<'a, 'g>, layer: &Layer<'a>) -> Result<Vec<Patch>> {
        let mut patches = Vec::new();
        let name_of = |port: &Side<'_>| port.value.map(|id| &*self.before.value(id).name);
        for (port, name) in layer.outputs.iter().zip(&item.outputs) {
            let (Some(old), Some(new)) = (name_of(port), name) else { continue };
            let list = list_of_names(port.xml.attribute("names").unwrap_or_default());
            if *old != **new && layer.outputs.len() == 1 && layer.xml.attribute("name") == Some(old) {
                let place = value_of(layer.xml, "name")?;
                patches.extend(place.map(|range| Patch::new(range, escaped(new).into_owned())));
            }
            let is_shown = list.is_empty() && self.shown.contains(new);
            if is_shown || *old != **new && !list.is_empty() {
                let rest = list.iter().map(|name| &**name).filter(|name| *name != old);
                let list = names_of(std::iter::once(&**new).chain(rest));
                patches.extend(named(port.xml, &list)?);
            }
        }
        if layer.sort == LayerSort::Result
            && let (Some(old), Some(new)) = (layer.inputs.first().and_then(name_of), item.inputs.first())
        {
            let list = list_of_names(layer.xml.attribute("output_names").unwrap_or_default());
            if *old != **new && list.iter().any(|name| **name == *old) {
                let list = names_of(list.iter().map(|name| if **name == *old { &**new } else { &**name }));
                let place = value_of(layer.xml, "output_names")?;
                patches.extend(place.map(|range| Patch::new(range, escaped(&list).into_owned())));
            }
        }
        Ok(patches)
    }

    /// The number and the names of a layer that comes from an inner graph.
    fn renamed(&self, item: &EditedItem<'_, '_>, layer: &Layer<'a>) -> Result<Vec<Patch>> {
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

    /// A layer that the file does not have. In place of one that the file has, its tensors have the
    /// same names.
    fn text(&mut self, out: &mut IrParts, item: &EditedItem<'_, '_>) -> Result<()> {
        let first = item.outputs.first().and_then(Option::as_ref).or(item.inputs.first());
        let first = first.ok_or_else(not_the_file)?;
        let old = |name: &Arc<str>| self.old.get(&**name);
        let layer_name = old(first).filter(|(layer, _)| layer.outputs.len() == 1);
        let layer_name = layer_name.and_then(|(layer, _)| layer.xml.attribute("name")).unwrap_or(first);
        let names = |name: &Arc<str>| {
            old(name).and_then(|(_, port)| port.attribute("names")).unwrap_or_default().to_owned()
        };
        let made = match item.content {
            EditedContent::Constant(content) => {
                return constant(out, item.id, layer_name, &content.tensor()?, names(first));
            }
            EditedContent::Made(made) => made,
            EditedContent::Parameter => {
                let names = Some(names(first)).filter(|names| !names.is_empty());
                let names = names.unwrap_or_else(|| names_of([&**first]));
                return parameter(&mut out.xml, item.id, first, self.source(first)?.of.as_ref(), names);
            }
            EditedContent::Result => {
                let source = self.source(first)?.clone();
                let (name, names) = (format!("{first}/sink_port_0"), names_of([&**first]));
                result(&mut out.xml, item.id, &name, source.of.as_ref(), &names);
                self.edges.push(((source.layer, source.port), (item.id, 0)));
                return Ok(());
            }
            EditedContent::Layer { .. } => return Ok(()),
        };
        let version = format!("opset{}", made.version.unwrap_or(1));
        let head = Head { id: item.id, name: layer_name, operator: &made.operator.name, version: &version };
        head.open(&mut out.xml, &[]);
        data(&mut out.xml, made.attributes.iter().map(|given| (&*given.name, &given.content)))?;
        let sources = item.inputs.iter().map(|name| self.source(name)).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<_> = sources.iter().map(|source| source.of.as_ref()).collect();
        let mut outputs = Vec::new();
        for (id, name) in (inputs.len()..).zip(item.outputs.iter().flatten()) {
            outputs.push(LayerOutput { id, of: self.source(name)?.of.as_ref(), names: names(name) });
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
        let last = list.and_then(|list| list.children().rfind(XmlNode::is_element));
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
fn inner(out: &mut IrParts, layer: XmlNode<'_>, before: &Node, after: &Node) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    for (number, (before_graph, after_graph)) in before.graphs().zip(after.graphs()).enumerate() {
        if !Arc::ptr_eq(before_graph, after_graph) {
            let xml = body(layer, before, number).ok_or_else(not_the_file)?;
            patches.extend(edit_graph(out, xml, before_graph, after_graph, &Renames::new())?);
        }
    }
    Ok(patches)
}
