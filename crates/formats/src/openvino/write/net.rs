//! The parts of a graph in a file: its layers, and which values of the graph that was read they
//! have.

use std::collections::HashMap;
use std::ops::Range;

use gradus_core::graph::{Graph, ValueId};
use gradus_core::{Error, Kind, Result};

use super::super::model::{Edges, PortId, XmlNode, at, child, edges, number};

/// A `<net>` or the element of a graph within a layer.
pub(super) struct Net<'a> {
    pub(super) xml: XmlNode<'a>,
    pub(super) layers: Vec<Layer<'a>>,
    pub(super) edges: Edges<'a>,
}

/// A layer, and its ports in order.
#[derive(Clone)]
pub(super) struct Layer<'a> {
    pub(super) xml: XmlNode<'a>,
    pub(super) id: i64,
    pub(super) sort: LayerSort,
    pub(super) inputs: Vec<Side<'a>>,
    pub(super) outputs: Vec<Side<'a>>,
}

/// A port, and the value that goes through it; `None` if nothing reads a constant.
#[derive(Clone)]
pub(super) struct Side<'a> {
    pub(super) xml: XmlNode<'a>,
    pub(super) id: i64,
    pub(super) value: Option<ValueId>,
}

/// The kind of a layer.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LayerSort {
    Parameter,
    Constant,
    Result,
    /// The node of that number.
    Node(usize),
}

/// The error of an edit that is none of the graph in the file.
pub(super) fn not_the_file() -> Error {
    Error::new(Kind::Unsupported, "the graph is not that of the file")
}

impl<'a> Net<'a> {
    /// The layers of a graph, which was read from there.
    pub(super) fn of(xml: XmlNode<'a>, graph: &Graph) -> Result<Net<'a>> {
        let mut net = Net { xml, layers: Vec::new(), edges: edges(xml)? };
        let (mut parameters, mut results, mut nodes) = (0, 0, 0);
        let count = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let mut values: HashMap<PortId, ValueId> = HashMap::new();
        let list = child(xml, "layers").into_iter().flat_map(|layers| layers.children());
        for layer in list.filter(|child| child.tag_name().name() == "layer") {
            let id = number(layer, "id")?;
            let (mut inputs, mut outputs) = (sides(layer, "input")?, sides(layer, "output")?);
            let sort = match layer.attribute("type") {
                Some("Parameter") => {
                    let value = graph.inputs().get(count(&mut parameters)).copied();
                    outputs.truncate(1);
                    for port in &mut outputs {
                        port.value = value;
                    }
                    LayerSort::Parameter
                }
                Some("Const") => {
                    outputs.truncate(1);
                    LayerSort::Constant
                }
                Some("Result") => {
                    let value = graph.outputs().get(count(&mut results)).copied();
                    inputs.truncate(1);
                    if inputs.is_empty() {
                        let message = "a Result without an input port is not edited".to_owned();
                        return Err(at(layer, Kind::Unsupported, message));
                    }
                    for port in &mut inputs {
                        port.value = value;
                    }
                    LayerSort::Result
                }
                _ => {
                    let index = count(&mut nodes);
                    let node = graph.nodes().get(index).ok_or_else(not_the_file)?;
                    if (inputs.len(), outputs.len()) != (node.inputs.len(), node.outputs.len()) {
                        return Err(not_the_file());
                    }
                    inputs.iter_mut().zip(&node.inputs).for_each(|(port, id)| port.value = *id);
                    outputs.iter_mut().zip(&node.outputs).for_each(|(port, id)| port.value = *id);
                    LayerSort::Node(index)
                }
            };
            // A Result is connected at port 0, whatever it says.
            inputs.iter_mut().filter(|_| sort == LayerSort::Result).for_each(|port| port.id = 0);
            for port in &inputs {
                let from = net.edges.get(&(id, port.id)).map(|edge| edge.from);
                values.extend(from.zip(port.value));
            }
            net.layers.push(Layer { xml: layer, id, sort, inputs, outputs });
        }
        for layer in net.layers.iter_mut().filter(|layer| layer.sort == LayerSort::Constant) {
            let id = layer.id;
            layer.outputs.iter_mut().for_each(|port| port.value = values.get(&(id, port.id)).copied());
        }
        Ok(net)
    }
}

fn sides<'a>(layer: XmlNode<'a>, side: &str) -> Result<Vec<Side<'a>>> {
    let list = child(layer, side).into_iter().flat_map(|list| list.children());
    list.filter(|child| child.tag_name().name() == "port")
        .map(|xml| Ok(Side { xml, id: number(xml, "id")?, value: None }))
        .collect()
}

/// Range of an element, with the white space before it.
pub(super) fn whole(xml: XmlNode<'_>) -> Range<usize> {
    let range = xml.range();
    range.start - space_before(xml).len()..range.end
}

/// The space before an element.
pub(super) fn space_before(xml: XmlNode<'_>) -> &str {
    let before = xml.document().input_text().get(..xml.range().start).unwrap_or_default();
    before.get(before.trim_end().len()..).unwrap_or_default()
}

/// Range of the value of an attribute.
///
/// # Errors
/// [`Kind::Unsupported`] if white space around the `=` hides the position of the value.
pub(super) fn value_of(xml: XmlNode<'_>, name: &str) -> Result<Option<Range<usize>>> {
    let Some(attribute) = xml.attribute_node(name) else { return Ok(None) };
    let (all, range) = (attribute.range(), attribute.range_value());
    let text = xml.document().input_text();
    let quote = range.start.checked_sub(1).and_then(|at| text.get(at..range.start));
    let quoted = quote
        .is_some_and(|quote| matches!(quote, "\"" | "'") && text.get(all.end - 1..all.end) == Some(quote));
    if quoted && range.end + 1 == all.end {
        return Ok(Some(range));
    }
    Err(at(xml, Kind::Unsupported, format!("there is too much space in attribute \"{name}\" to edit it")))
}

/// End of the last attribute of an element.
pub(super) fn end_of_attributes(xml: XmlNode<'_>) -> Option<usize> {
    xml.attributes().map(|attribute| attribute.range().end).max()
}
