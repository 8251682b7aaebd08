//! A layer as text.

use std::collections::HashMap;

use gradus_core::graph::{Attribute, Content, DeclaredDim, Graph, Port, Ports, Slices, Type};
use gradus_core::{DType, Error, Kind, Result, Tensor};

use super::super::body::BODIES;
use super::super::shape::{dim_text, element_type, precision, shape_text};
use super::IrParts;
use super::text::XmlWriter;

/// The facts that every layer has: number, name, type and version.
pub(super) struct Head<'a> {
    pub(super) id: i64,
    pub(super) name: &'a str,
    pub(super) operator: &'a str,
    pub(super) version: &'a str,
}

impl Head<'_> {
    /// Begins the layer; `further` are attributes of the element.
    pub(super) fn open(&self, xml: &mut XmlWriter, further: &[(&str, &str)]) {
        let id = self.id.to_string();
        let own = [("id", &*id), ("name", self.name), ("type", self.operator), ("version", self.version)];
        xml.open("layer", &[&own[..], further].concat());
    }
}

/// A port that values leave by: what is known of them, and the names of the tensor.
pub(super) struct LayerOutput<'a> {
    pub(super) id: usize,
    pub(super) of: Option<&'a Type>,
    pub(super) names: String,
}

/// The ports of a layer: inputs from 0 on.
pub(super) fn ports(xml: &mut XmlWriter, inputs: &[Option<&Type>], outputs: &[LayerOutput<'_>]) {
    if !inputs.is_empty() {
        xml.open("input", &[]);
        inputs.iter().enumerate().for_each(|(id, of)| port(xml, id, *of, ""));
        xml.close("input");
    }
    if !outputs.is_empty() {
        xml.open("output", &[]);
        for output in outputs {
            port(xml, output.id, output.of, &output.names);
        }
        xml.close("output");
    }
}

fn port(xml: &mut XmlWriter, id: usize, of: Option<&Type>, names: &str) {
    let (id, precision) = (id.to_string(), precision(of.and_then(Type::dtype)));
    let mut attributes = vec![("id", &*id), ("precision", &*precision)];
    if !names.is_empty() {
        attributes.push(("names", names));
    }
    match of {
        Some(Type::Tensor(_, Some(sizes))) if !sizes.is_empty() => {
            xml.open("port", &attributes);
            for size in sizes {
                xml.element("dim", &dim_text(size));
            }
            xml.close("port");
        }
        _ => xml.leaf("port", &attributes),
    }
}

/// A `Parameter`.
///
/// # Errors
/// [`Kind::Type`] if OpenVINO has no such element type.
pub(super) fn parameter(
    xml: &mut XmlWriter,
    id: i64,
    name: &str,
    of: Option<&Type>,
    names: String,
) -> Result<()> {
    let (dtype, sizes): (_, Option<&[DeclaredDim]>) = match of {
        Some(Type::Tensor(dtype, sizes)) => (*dtype, sizes.as_deref()),
        Some(other) => return Err(no_tensor(other)),
        None => (None, None),
    };
    let (shape, element_type) = (shape_text(sizes), dtype.map_or(Ok("dynamic"), known)?);
    Head { id, name, operator: "Parameter", version: "opset1" }.open(xml, &[]);
    xml.leaf("data", &[("shape", &shape), ("element_type", element_type)]);
    ports(xml, &[], &[LayerOutput { id: 0, of, names }]);
    xml.close("layer");
    Ok(())
}

/// A `Result`; `names` are those that the output is asked for by.
pub(super) fn result(xml: &mut XmlWriter, id: i64, name: &str, of: Option<&Type>, names: &str) {
    let head = Head { id, name, operator: "Result", version: "opset1" };
    head.open(xml, &[("output_names", names)]);
    ports(xml, &[of], &[]);
    xml.close("layer");
}

/// A `Const`; its elements go to the file of constants.
///
/// # Errors
/// [`Kind::Type`] if OpenVINO has no such element type.
pub(super) fn constant(out: &mut IrParts, id: i64, name: &str, tensor: &Tensor, names: String) -> Result<()> {
    let element_type = known(tensor.dtype())?;
    let of = Type::tensor(tensor.dtype(), tensor.shape());
    let Type::Tensor(_, sizes) = &of else { return Ok(()) };
    let shape = shape_text(sizes.as_deref());
    let (number, size) = out.new.add(tensor)?;
    Head { id, name, operator: "Const", version: "opset1" }.open(&mut out.xml, &[]);
    out.xml.placed("data", &[("element_type", element_type), ("shape", &shape)], number, size);
    ports(&mut out.xml, &[], &[LayerOutput { id: 0, of: Some(&of), names }]);
    out.xml.close("layer");
    Ok(())
}

fn no_tensor(of: &Type) -> Error {
    Error::mismatch(Kind::Unsupported, "cannot write a port for OpenVINO: its type", of, "a tensor")
}

/// The name of an element type that OpenVINO has.
pub(super) fn known(dtype: DType) -> Result<&'static str> {
    element_type(dtype).ok_or_else(|| {
        Error::mismatch(
            Kind::Type,
            "cannot write for OpenVINO: the element type",
            dtype,
            "one that OpenVINO has",
        )
    })
}

/// The `<data>` of a node: attributes that are no graphs.
///
/// # Errors
/// [`Kind::Unsupported`] if one is no text, number or list of numbers.
pub(super) fn data<'c>(
    xml: &mut XmlWriter,
    attributes: impl Iterator<Item = (&'c str, &'c Content)>,
) -> Result<()> {
    let mut texts = Vec::new();
    for (name, content) in attributes {
        let has_own_element = BODIES.iter().any(|(body, map)| [*body, *map].contains(&name));
        if !(matches!(content, Content::Graph(_) | Content::Ports(_)) && has_own_element) {
            // An element has no attribute twice; of names with namespaces, only the last part is
            // read.
            if !texts.iter().any(|(other, _)| *other == name) {
                texts.push((named(name)?, as_text(name, content)?));
            }
        }
    }
    if !texts.is_empty() {
        let texts: Vec<_> = texts.iter().map(|(name, text)| (*name, &**text)).collect();
        xml.leaf("data", &texts);
    }
    Ok(())
}

/// A name that an attribute of an element can have.
fn named(name: &str) -> Result<&str> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(letter) && name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Ok(name);
    }
    Err(Error::new(
        Kind::Unsupported,
        format!("cannot write for OpenVINO: attribute name \"{name}\" is not an XML name"),
    ))
}

fn as_text(name: &str, content: &Content) -> Result<String> {
    let list = |texts: Vec<String>| texts.join(",");
    match content {
        Content::Text(text) => Ok(text.to_string()),
        Content::Int(value) => Ok(value.to_string()),
        Content::Float(value) => Ok(value.to_string()),
        Content::Ints(values) => Ok(list(values.iter().map(i64::to_string).collect())),
        Content::Floats(values) => Ok(list(values.iter().map(f32::to_string).collect())),
        Content::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        other => {
            let message =
                format!("attribute \"{name}\" is {}, which a file of OpenVINO cannot hold", other.sort());
            Err(Error::new(Kind::Unsupported, message))
        }
    }
}

/// By the names of elements with graphs: the layers that are inputs and outputs of these.
pub(super) type Ends = HashMap<&'static str, (Vec<i64>, Vec<i64>)>;

/// The maps of a layer with `inputs` inputs: how its values are those of its graphs.
///
/// # Errors
/// [`Kind::Graph`] if a map names what the graph does not have.
pub(super) fn maps(
    xml: &mut XmlWriter,
    attributes: &[Attribute],
    bodies: &Ends,
    inputs: usize,
) -> Result<()> {
    let find =
        |name: &str| attributes.iter().find(|attribute| &*attribute.name == name).map(|found| &found.content);
    for (body, map) in BODIES {
        let Some(ends) = bodies.get(body) else { continue };
        let Some(Content::Ports(ports)) = find(map) else {
            return Err(Error::new(
                Kind::Graph,
                format!("cannot write graph \"{body}\": its port map \"{map}\" is missing"),
            ));
        };
        port_map(xml, map, ports, ends, inputs)?;
    }
    Ok(())
}

fn port_map(
    xml: &mut XmlWriter,
    name: &str,
    ports: &Ports,
    ends: &(Vec<i64>, Vec<i64>),
    inputs: usize,
) -> Result<()> {
    let layer = |list: &[i64], index: usize| {
        let found = list.get(index).map(i64::to_string);
        found.ok_or_else(|| {
            Error::mismatch(
                Kind::Graph,
                format_args!("cannot write port map \"{name}\": the index of a value"),
                index,
                format_args!("below {}", list.len()),
            )
        })
    };
    let (parameters, results) = ends;
    xml.open(name, &[]);
    for port in &ports.inputs {
        entry(xml, "input", &port.outer.to_string(), &layer(parameters, port.inner)?, port, "");
    }
    for port in &ports.outputs {
        let outer = (inputs + port.outer).to_string();
        entry(xml, "output", &outer, &layer(results, port.inner)?, port, "");
    }
    let none = Port { outer: 0, inner: 0, slices: None };
    if let Some(input) = ports.iteration {
        entry(xml, "input", "-1", &layer(parameters, input)?, &none, "current_iteration");
    }
    if let Some(output) = ports.condition {
        entry(xml, "output", "-1", &layer(results, output)?, &none, "execution_condition");
    }
    xml.close(name);
    if !ports.back_edges.is_empty() {
        xml.open("back_edges", &[]);
        for &(from, to) in &ports.back_edges {
            xml.leaf(
                "edge",
                &[("from-layer", &layer(results, from)?), ("to-layer", &layer(parameters, to)?)],
            );
        }
        xml.close("back_edges");
    }
    Ok(())
}

fn entry(xml: &mut XmlWriter, side: &str, outer: &str, inner: &str, port: &Port, purpose: &str) {
    let slices = port.slices.map(|Slices { axis, start, end, stride, part_size }| {
        [("axis", axis), ("start", start), ("end", end), ("stride", stride), ("part_size", part_size)]
            .map(|(name, value)| (name, value.to_string()))
    });
    let mut attributes = vec![("external_port_id", outer), ("internal_layer_id", inner)];
    attributes.extend(slices.iter().flatten().map(|(name, value)| (*name, &**value)));
    if !purpose.is_empty() {
        attributes.push(("purpose", purpose));
    }
    xml.leaf(side, &attributes);
}

/// The graphs of a node, by the names of their elements.
pub(super) fn graphs(attributes: &[Attribute]) -> impl Iterator<Item = (&'static str, &Graph)> {
    BODIES.iter().filter_map(move |(body, _)| {
        let found = attributes.iter().find(|attribute| &*attribute.name == *body)?;
        if let Content::Graph(graph) = &found.content { Some((*body, &**graph)) } else { None }
    })
}
