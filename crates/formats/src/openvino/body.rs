//! Graphs within layers: the bodies of loops and branches, and how their inputs and outputs are
//! those of the layer.
//!
//! | layer | graphs | maps |
//! |---|---|---|
//! | `Loop`, `TensorIterator` | `<body>` | `<port_map>`, `<back_edges>` |
//! | `If` | `<then_body>`, `<else_body>` | `<then_port_map>`, `<else_port_map>` |
//!
//! A map names the layer's ports and the layers of the body. Port -1 is none: `purpose` then says
//! that the body takes the number of the run (`current_iteration`), or gives the condition of the
//! next (`execution_condition`).

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::graph::{Attribute, Content, Port, Ports, Slices};
use gradus_core::{Kind, Result};

use super::model::{IrReader, ReadModel, XmlNode, at, child, number};

/// Names of elements with a graph, and of those with its map.
pub(super) const BODIES: [(&str, &str); 3] =
    [("body", "port_map"), ("then_body", "then_port_map"), ("else_body", "else_port_map")];

/// The graphs of a layer and their maps, as attributes named like the elements.
pub(super) fn attributes(reading: &mut IrReader<'_>, layer: XmlNode<'_>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    for (name, map) in BODIES {
        let Some(net) = child(layer, name) else { continue };
        let Some(left) = reading.depth.checked_sub(1) else {
            return Err(at(net, Kind::Limit, "graphs are nested too deep".to_owned()));
        };
        reading.depth = left;
        let body = reading.graph(net)?;
        reading.depth += 1;
        let ports = Content::Ports(Arc::new(ports(layer, map, &body)?));
        attributes.push(Attribute { name: map.into(), content: ports });
        attributes.push(Attribute { name: name.into(), content: Content::Graph(Arc::new(body.graph)) });
    }
    Ok(attributes)
}

fn ports(layer: XmlNode<'_>, map: &str, body: &ReadModel) -> Result<Ports> {
    let mut ports = Ports::default();
    let [outer_inputs, outer_outputs] = ["input", "output"].map(|side| {
        let list = child(layer, side).into_iter().flat_map(|list| list.children());
        let list = list.filter(|child| child.tag_name().name() == "port").enumerate();
        let numbers =
            list.filter_map(|(place, port)| Some((port.attribute("id")?.trim().parse().ok()?, place)));
        places(numbers)
    });
    let [inputs, outputs] =
        [&body.inputs, &body.outputs].map(|layers| places((0..).zip(layers).map(|(place, &id)| (id, place))));
    let entries = child(layer, map).into_iter().flat_map(|map| map.children()).filter(XmlNode::is_element);
    for entry in entries {
        let side = entry.tag_name().name();
        let outer: i64 = number(entry, "external_port_id")?;
        let (outers, inners) =
            if side == "input" { (&outer_inputs, &inputs) } else { (&outer_outputs, &outputs) };
        let inner = index(entry, "internal_layer_id", inners)?;
        if outer < 0 {
            match entry.attribute("purpose") {
                Some("current_iteration") if side == "input" => ports.iteration = Some(inner),
                Some("execution_condition") if side == "output" => ports.condition = Some(inner),
                _ => {}
            }
            continue;
        }
        let outer = outers.get(&outer).copied().ok_or_else(|| {
            let id = entry.attribute("external_port_id").unwrap_or_default();
            at(entry, Kind::Graph, format!("the layer has no {side} port {id}"))
        })?;
        let port = Port { outer, inner, slices: slices(entry)? };
        let list = if side == "input" { &mut ports.inputs } else { &mut ports.outputs };
        list.push(port);
    }
    let edges = child(layer, "back_edges").into_iter().flat_map(|edges| edges.children());
    for edge in edges.filter(XmlNode::is_element) {
        ports.back_edges.push((index(edge, "from-layer", &outputs)?, index(edge, "to-layer", &inputs)?));
    }
    Ok(ports)
}

/// Places by number; of several with one number, the first counts.
fn places(numbers: impl Iterator<Item = (i64, usize)>) -> HashMap<i64, usize> {
    let mut places = HashMap::new();
    for (number, place) in numbers {
        places.entry(number).or_insert(place);
    }
    places
}

/// The place of the layer that an attribute names among the inputs or outputs of the body.
fn index(entry: XmlNode<'_>, name: &str, layers: &HashMap<i64, usize>) -> Result<usize> {
    let id: i64 = number(entry, name)?;
    layers.get(&id).copied().ok_or_else(|| {
        at(entry, Kind::Graph, format!("layer {id} is no input or output of the body, as it must be here"))
    })
}

fn slices(entry: XmlNode<'_>) -> Result<Option<Slices>> {
    if entry.attribute("axis").is_none() {
        return Ok(None);
    }
    let or = |name: &str, default: i64| {
        if entry.attribute(name).is_some() { number(entry, name) } else { Ok(default) }
    };
    let slices = Slices {
        axis: number(entry, "axis")?,
        start: or("start", 0)?,
        end: or("end", -1)?,
        stride: or("stride", 1)?,
        part_size: or("part_size", 1)?,
    };
    if slices.stride == 0 || slices.part_size <= 0 {
        let message = format!("stride {} and part size {} are no steps", slices.stride, slices.part_size);
        return Err(at(entry, Kind::Value, message));
    }
    Ok(Some(slices))
}
