//! Graphs that were made in memory, as elements.

use std::collections::{HashMap, HashSet};

use gradus_core::graph::{Constant, Graph, Node, Origin, Type, ValueId};
use gradus_core::{Error, Kind, Result};

use super::IrParts;
use super::layer::{self, Head, LayerOutput, data, graphs, maps, parameter, ports};
use super::text::names;

/// An input port: its layer, and its number.
type PortIndex = (i64, usize);

/// A graph while it is written.
struct GraphWriting<'a> {
    graph: &'a Graph,
    /// By value: the layer and the port that it leaves it by, and the names of its tensor.
    sources: HashMap<ValueId, (PortIndex, String)>,
    /// Names that layers have.
    taken: HashSet<String>,
    edges: Vec<(PortIndex, PortIndex)>,
    next: i64,
}

/// Writes `<layers>` and `<edges>`, and says which layers are the inputs and outputs.
///
/// # Errors
/// [`Kind::Unsupported`] and [`Kind::Type`] if OpenVINO has nothing like it; whatever is wrong with
/// a constant.
pub(super) fn graph(out: &mut IrParts, graph: &Graph) -> Result<(Vec<i64>, Vec<i64>)> {
    if let Some(capture) = graph.captures().first() {
        let name = &graph.value(capture.inner).name;
        let message = format!(
            "a graph within a node reads \"{name}\" of the graph around, but in OpenVINO it must be an input"
        );
        return Err(Error::new(Kind::Unsupported, message));
    }
    let mut writing =
        GraphWriting { graph, sources: HashMap::new(), taken: HashSet::new(), edges: Vec::new(), next: 0 };
    out.xml.open("layers", &[]);
    let parameters = graph.inputs().iter().map(|&id| writing.parameter(out, id)).collect::<Result<_>>()?;
    for (id, constant) in graph.constants() {
        let written = writing.constant(out, *id, constant);
        written.map_err(|error| error.in_node(format!("constant \"{}\"", graph.value(*id).name)))?;
    }
    for &index in graph.order() {
        let Some(node) = graph.nodes().get(index) else { continue };
        writing.node(out, node).map_err(|error| error.in_node(node.label(index)))?;
    }
    let results = graph.outputs().iter().map(|&id| writing.result(out, id)).collect::<Result<_>>()?;
    out.xml.close("layers");
    edges(out, &writing.edges);
    Ok((parameters, results))
}

fn edges(out: &mut IrParts, edges: &[(PortIndex, PortIndex)]) {
    out.xml.open("edges", &[]);
    for &((from, from_port), to) in edges {
        out.xml.edge((from, &from_port.to_string()), (to.0, &to.1.to_string()));
    }
    out.xml.close("edges");
}

impl<'a> GraphWriting<'a> {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    /// A name for a layer that no other has.
    fn layer_name(&mut self, like: &str, id: i64) -> String {
        let mut name = like.to_owned();
        while name.is_empty() || !self.taken.insert(name.clone()) {
            name = format!("{name}_{id}");
        }
        name
    }

    fn declared(&self, id: ValueId) -> Option<&'a Type> {
        self.graph.value(id).declared.as_ref()
    }

    /// Notes where a value comes from, and gives the names of its tensor: what the layer is called
    /// is not repeated.
    fn place(&mut self, id: ValueId, from: PortIndex, layer: &str) -> String {
        let info = self.graph.value(id);
        let aliases = info.aliases.iter().map(AsRef::as_ref).filter(|alias| *alias != layer);
        let names = names(std::iter::once(&*info.name).chain(aliases));
        self.sources.insert(id, (from, names.clone()));
        names
    }

    fn source(&self, id: ValueId) -> Result<&(PortIndex, String)> {
        let missing = || format!("value \"{}\" is read, but not defined before", self.graph.value(id).name);
        self.sources.get(&id).ok_or_else(|| Error::new(Kind::Graph, missing()))
    }

    fn parameter(&mut self, out: &mut IrParts, id: ValueId) -> Result<i64> {
        let info = self.graph.value(id);
        if self.graph.constant(id).is_some() {
            let message = format!("input \"{}\" has a default, which no input of OpenVINO has", info.name);
            return Err(Error::new(Kind::Unsupported, message));
        }
        let number = self.number();
        let name = self.layer_name(&info.name, number);
        let names = self.place(id, (number, 0), &name);
        let written = parameter(&mut out.xml, number, &name, self.declared(id), names);
        written.map_err(|error| error.in_node(format!("input \"{}\"", info.name)))?;
        Ok(number)
    }

    fn constant(&mut self, out: &mut IrParts, id: ValueId, constant: &Constant) -> Result<()> {
        if self.graph.value(id).origin != Origin::Constant {
            return Ok(());
        }
        let info = self.graph.value(id);
        let number = self.number();
        let name = self.layer_name(&info.name, number);
        let names = self.place(id, (number, 0), &name);
        // A name of a layer is the name of its value; further names are those of the tensor.
        let further = !info.aliases.is_empty() || self.graph.outputs().contains(&id);
        layer::constant(out, number, &name, &constant.tensor()?, if further { names } else { String::new() })
    }

    fn node(&mut self, out: &mut IrParts, node: &Node) -> Result<()> {
        let number = self.number();
        let mut inputs = Vec::with_capacity(node.inputs.len());
        let count = node.inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for (slot, id) in node.inputs.iter().take(count).enumerate() {
            let id = id.ok_or_else(|| {
                Error::new(
                    Kind::Unsupported,
                    format!("cannot write an omitted input {slot}: OpenVINO allows none before the last"),
                )
            })?;
            let from = self.source(id)?.0;
            self.edges.push((from, (number, slot)));
            inputs.push(self.declared(id));
        }
        let first = node.outputs.iter().flatten().next().map(|&id| &*self.graph.value(id).name);
        let like = if node.name.is_empty() { first.unwrap_or(&node.operator.name) } else { &node.name };
        let name = self.layer_name(like, number);
        let version = node
            .version
            .map_or_else(|| node.operator.domain.to_string(), |version| format!("opset{version}"));
        let head = Head { id: number, name: &name, operator: &node.operator.name, version: &version };
        // The maps of ports stand before the graphs, and need to know how their layers are
        // numbered.
        let mut bodies = HashMap::new();
        let mut texts = Vec::new();
        for (tag, inner) in graphs(&node.attributes) {
            let text = out.within(|out| {
                out.xml.open(tag, &[]);
                bodies.insert(tag, graph(out, inner)?);
                out.xml.leaf("rt_info", &[]);
                out.xml.close(tag);
                Ok(())
            })?;
            texts.push(text);
        }
        head.open(&mut out.xml, &[]);
        data(&mut out.xml, node.attributes.iter().map(|attribute| (&*attribute.name, &attribute.content)))?;
        maps(&mut out.xml, &node.attributes, &bodies, inputs.len())?;
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for (slot, id) in node.outputs.iter().enumerate() {
            let port = inputs.len() + slot;
            let own = if node.outputs.len() == 1 { name.clone() } else { format!("{name}.{slot}") };
            let names = id.map_or_else(String::new, |id| self.place(id, (number, port), &own));
            outputs.push(LayerOutput { id: port, of: id.and_then(|id| self.declared(id)), names });
        }
        ports(&mut out.xml, &inputs, &outputs);
        out.xml.text.extend(texts);
        out.xml.close("layer");
        Ok(())
    }

    fn result(&mut self, out: &mut IrParts, id: ValueId) -> Result<i64> {
        let info = self.graph.value(id);
        let (from, names) = self.source(id)?.clone();
        let number = self.number();
        let name = self.layer_name(&format!("{}/sink_port_0", info.name), number);
        layer::result(&mut out.xml, number, &name, self.declared(id), &names);
        self.edges.push((from, (number, 0)));
        Ok(number)
    }
}
