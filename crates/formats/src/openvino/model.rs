//! The network: layers, edges, and what the file says of itself.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::convert::{product, small_u32, u64_of};
use gradus_core::error::Position;
use gradus_core::graph::{
    Attribute, Builder, Content, Graph, Model, Node, OperatorId, Origin, Slots, Standard, Type, ValueId,
};
use gradus_core::{DType, Error, Kind, Limits, Result, Shape};
use roxmltree::{Document, ParsingOptions};

use super::body;
use super::constant::{StoredElements, constant};
use super::names::{LayerNames, list_of_names};
use super::shape::{size, tensor_type};
use crate::files::Files;
use crate::regions::Regions;

/// The newest operator set.
pub const NEWEST_OPSET: i64 = 17;

/// Versions of the format that are read.
const VERSIONS: [i64; 2] = [10, 11];

pub(super) type XmlNode<'a> = roxmltree::Node<'a, 'a>;

/// Reads a model. `bin` is the path of the file of constants, relative to the model; it is opened
/// when one is needed.
///
/// # Errors
/// [`Kind::Syntax`] where the text is not what the format says, [`Kind::Graph`] where the graph is
/// not well formed; both with line and column.
pub fn read_model(text: &[u8], bin: &str, files: &Arc<dyn Files>, limits: &Limits) -> Result<Model> {
    // A node of the document takes about 100 bytes, and four bytes of text (`<a/>`) make one.
    limits.allow_bytes(0, product(text.len(), 25))?;
    let (_, document) = parse(text)?;
    let net = document.root_element();
    if net.tag_name().name() != "net" {
        let tag = net.tag_name().name();
        return Err(at(
            net,
            Kind::Syntax,
            format!("this is not an OpenVINO model: its root is <{tag}>, not <net>"),
        ));
    }
    let version = number(net, "version")?;
    if !VERSIONS.contains(&version) {
        return Err(at(
            net,
            Kind::Unsupported,
            format!("the model's IR version is {version}; known are 10 and 11"),
        ));
    }
    let mut model = Model::new(Standard::OpenVino);
    model.format_version = version;
    for info in net.children().filter(|child| matches!(child.tag_name().name(), "rt_info" | "meta_data")) {
        metadata(info, &mut model.metadata)?;
    }
    model.producer = model
        .metadata
        .iter()
        .find(|(key, _)| key == "Runtime_version")
        .map_or_else(String::new, |(_, value)| format!("OpenVINO {value}"));
    let mut reading = IrReader {
        bin,
        files,
        lines: LineStarts::of(document.input_text()),
        regions: Regions::default(),
        depth: limits.max_depth,
    };
    model.graph = reading.graph(net)?.graph;
    reading.regions.check()?;
    Ok(model)
}

/// The most attributes of an element, and the most namespaces of a text.
const MAX_ATTRIBUTES: usize = 10_000;
const MAX_NAMESPACES: usize = 256;

/// How deep metadata is nested at most, so that the paths of all leaves are not much longer than
/// the text.
const MAX_NESTED: usize = 64;

/// The document that bytes are, and the number of bytes that mark them as UTF-8.
///
/// # Errors
/// [`Kind::Syntax`] if they are no XML, [`Kind::Limit`] if to read it would take too long.
pub(super) fn parse(bytes: &[u8]) -> Result<(usize, Document<'_>)> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mark = bytes.len() - text.len();
    let text = std::str::from_utf8(text).map_err(|error| {
        let position = Position::Byte(u64_of(error.valid_up_to()));
        Error::new(Kind::Syntax, "the text is not UTF-8").at(position)
    })?;
    // The cost of these is at least quadratic; files of OpenVINO have one namespace and few
    // attributes.
    let attributes = text.split('<').map(|tag| tag.bytes().filter(|&byte| byte == b'=').count()).max();
    if attributes.unwrap_or(0) > MAX_ATTRIBUTES || text.matches("xmlns").count() > MAX_NAMESPACES {
        let message = format!(
            "an element has more than {MAX_ATTRIBUTES} attributes, or the text more than {MAX_NAMESPACES} namespaces"
        );
        return Err(Error::new(Kind::Limit, message));
    }
    let document = Document::parse_with_options(text, ParsingOptions::default());
    Ok((mark, document.map_err(|error| not_xml(&error))?))
}

fn not_xml(error: &roxmltree::Error) -> Error {
    let place = error.pos();
    Error::new(Kind::Syntax, format!("this is not XML: {error}")).at(Position::Line(place.row, place.col))
}

fn position(node: XmlNode<'_>) -> Position {
    let place = node.document().text_pos_at(node.range().start);
    Position::Line(place.row, place.col)
}

/// An error at the position of an XML element.
pub(super) fn at(node: XmlNode<'_>, kind: Kind, message: String) -> Error {
    Error::new(kind, message).at(position(node))
}

/// The first child element of a name.
pub(super) fn child<'a>(node: XmlNode<'a>, name: &str) -> Option<XmlNode<'a>> {
    node.children().find(|child| child.tag_name().name() == name)
}

/// The text in an element, after comments too.
pub(super) fn text_of(node: XmlNode<'_>) -> Option<XmlNode<'_>> {
    node.children().find(XmlNode::is_text)
}

/// An attribute that must be there.
pub(super) fn attribute<'a>(node: XmlNode<'a>, name: &str) -> Result<&'a str> {
    let tag = node.tag_name().name();
    node.attribute(name).ok_or_else(|| at(node, Kind::Syntax, format!("<{tag}> lacks attribute \"{name}\"")))
}

/// An attribute that must be there, and a number.
pub(super) fn number<T: std::str::FromStr>(node: XmlNode<'_>, name: &str) -> Result<T> {
    let text = attribute(node, name)?;
    text.trim()
        .parse()
        .map_err(|_| at(node, Kind::Syntax, format!("attribute \"{name}\" is \"{text}\", not a number")))
}

/// The leaves of nested elements, by the path of their names.
fn metadata(node: XmlNode<'_>, into: &mut Vec<(String, String)>) -> Result<()> {
    let mut rest = vec![(node, String::new(), 0)];
    while let Some((node, path, depth)) = rest.pop() {
        if depth > MAX_NESTED {
            return Err(at(node, Kind::Limit, "metadata is nested too deep".to_owned()));
        }
        let name = |child: XmlNode<'_>| {
            let dot = if path.is_empty() { "" } else { "." };
            format!("{path}{dot}{}", child.tag_name().name())
        };
        let children: Vec<_> = node.children().filter(XmlNode::is_element).collect();
        for child in &children {
            if let Some(value) = child.attribute("value") {
                // Since 2026, what is no name of an element is an attribute.
                let named = child.attribute("name").filter(|_| child.tag_name().name() == "info");
                into.push((named.map_or_else(|| name(*child), str::to_owned), value.to_owned()));
            }
        }
        rest.extend(children.into_iter().rev().map(|child| (child, name(child), depth + 1)));
    }
    Ok(())
}

/// Offsets of the lines of a text: to count them anew for every layer takes longer than all else.
struct LineStarts {
    starts: Vec<usize>,
    /// The last place that was asked for, and the characters before it in its line, which may be
    /// long.
    last: (usize, usize),
}

impl LineStarts {
    fn of(text: &str) -> LineStarts {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineStarts { starts: starts.collect(), last: (0, 0) }
    }

    fn position(&mut self, node: XmlNode<'_>) -> Position {
        let at = node.range().start;
        let line = self.starts.partition_point(|&start| start <= at);
        let start = line.checked_sub(1).and_then(|before| self.starts.get(before)).copied().unwrap_or(0);
        let (seen, chars) = if (start..=at).contains(&self.last.0) { self.last } else { (start, 0) };
        let column =
            chars + node.document().input_text().get(seen..at).map_or(0, |text| text.chars().count());
        self.last = (at, column);
        Position::Line(small_u32(line + 1), small_u32(column + 1))
    }
}

/// A port: the layer's id, and its own.
pub(super) type PortId = (i64, i64);

/// The key of a value: the port it leaves its layer by.
fn key((layer, port): PortId) -> String {
    format!("{layer}:{port}")
}

/// State that all graphs of a model share while they are read.
pub(super) struct IrReader<'r> {
    bin: &'r str,
    files: &'r Arc<dyn Files>,
    lines: LineStarts,
    regions: Regions,
    /// Remaining levels of graphs within graphs.
    pub(super) depth: usize,
}

/// A graph, and the layers that are its inputs and outputs, in order.
pub(super) struct ReadModel {
    pub(super) graph: Graph,
    pub(super) inputs: Vec<i64>,
    pub(super) outputs: Vec<i64>,
}

impl IrReader<'_> {
    /// Reads the layers and edges of a network or of a body.
    pub(super) fn graph(&mut self, net: XmlNode<'_>) -> Result<ReadModel> {
        let edges = edges(net)?;
        let mut builder = Builder::new(net.attribute("name").unwrap_or_default());
        let tag = net.tag_name().name();
        let layers =
            child(net, "layers").ok_or_else(|| at(net, Kind::Syntax, format!("<{tag}> lacks <layers>")))?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut seen = HashMap::new();
        let mut names = LayerNames::default();
        for layer in layers.children().filter(|child| child.tag_name().name() == "layer") {
            let id = number(layer, "id")?;
            if let Some(first) = seen.insert(id, layer) {
                let line = first.document().text_pos_at(first.range().start).row;
                let message = format!("layer {id} is defined twice, first in line {line}");
                return Err(at(layer, Kind::Graph, message));
            }
            match layer.attribute("type") {
                Some("Parameter") => inputs.push(id),
                Some("Result") => outputs.push(id),
                _ => {}
            }
            let name = layer.attribute("name").unwrap_or_default();
            let read = self.layer(&mut builder, layer, id, &edges, &mut names);
            read.map_err(|error| error.in_node(format!("layer \"{name}\"")).at(position(layer)))?;
        }
        let leads_nowhere = |(to, edge): (&PortId, &PortEdge<'_>)| {
            let (way, (layer, port)) = match edge.read.get() {
                false => ("to", to),
                true if !builder.is_defined(&key(edge.from)) => ("from", &edge.from),
                true => return None,
            };
            let message = format!("an edge leads {way} port {port} of layer {layer}, which does not exist");
            Some((edge.xml.range().start, position(edge.xml), message))
        };
        if let Some((_, position, message)) =
            edges.iter().filter_map(leads_nowhere).min_by_key(|(start, ..)| *start)
        {
            return Err(Error::new(Kind::Graph, message).at(position));
        }
        names.give(&mut builder);
        Ok(ReadModel { graph: builder.finish()?, inputs, outputs })
    }

    fn layer(
        &mut self,
        builder: &mut Builder,
        layer: XmlNode<'_>,
        id: i64,
        edges: &Edges<'_>,
        names: &mut LayerNames,
    ) -> Result<()> {
        let outputs = ports(layer, "output")?;
        let operator = attribute(layer, "type")?;
        match operator {
            "Result" => {
                let source = source((id, 0), layer, edges)?;
                let value = builder.output(&key(source));
                let shown =
                    list_of_names(layer.attribute("output_names").unwrap_or_default()).into_iter().next();
                names.outputs.extend(shown.map(|name| (value, name)));
                Ok(())
            }
            "Parameter" => {
                let port = outputs
                    .first()
                    .ok_or_else(|| at(layer, Kind::Syntax, "a Parameter has no output".into()))?;
                let value = builder.define(&key((id, port.id)), Origin::Input)?;
                names.describe(builder, value, layer, &outputs, 0);
                if let Some(data) = child(layer, "data") {
                    let shape = data.attribute("shape").unwrap_or("...");
                    let declared = tensor_type(data.attribute("element_type"), shape);
                    let declared = declared
                        .ok_or_else(|| at(data, Kind::Syntax, format!("\"{shape}\" is not a shape")))?;
                    builder.info(value).declared = Some(declared);
                }
                Ok(())
            }
            "Const" => {
                let port =
                    outputs.first().ok_or_else(|| at(layer, Kind::Syntax, "a Const has no output".into()))?;
                let placed = self.placed(layer)?;
                let (of, at) = (Type::tensor(placed.dtype, &placed.shape), placed.position);
                let constant = constant(placed, self.bin, self.files)?.at(at);
                let value = builder.constant(&key((id, port.id)), constant)?;
                names.describe(builder, value, layer, &outputs, 0);
                builder.info(value).declared = Some(of);
                Ok(())
            }
            _ => {
                let values = self.node(builder, layer, id, operator, &outputs, edges)?;
                for (index, value) in values.into_iter().enumerate() {
                    names.describe(builder, value, layer, &outputs, index);
                }
                Ok(())
            }
        }
    }

    fn placed(&mut self, layer: XmlNode<'_>) -> Result<StoredElements> {
        let data =
            child(layer, "data").ok_or_else(|| at(layer, Kind::Syntax, "a Const has no <data>".into()))?;
        let (element_type, shape) = (attribute(data, "element_type")?, attribute(data, "shape")?);
        let dtype = element_type.parse::<DType>().map_err(|_| {
            at(data, Kind::Type, format!("element type is \"{element_type}\", expected one of OpenVINO"))
        })?;
        let declared = tensor_type(Some(element_type), shape);
        let dims = declared.as_ref().and_then(Type::known_dims);
        let dims = dims
            .ok_or_else(|| at(data, Kind::Syntax, format!("\"{shape}\" is not the shape of a constant")))?;
        let placed = StoredElements {
            name: layer.attribute("name").unwrap_or_default().to_owned(),
            dtype,
            shape: Shape::new(dims)?,
            offset: number(data, "offset")?,
            size: number(data, "size")?,
            position: self.lines.position(layer),
        };
        self.regions.claim(self.bin, placed.offset, placed.size, &placed.name)?;
        Ok(placed)
    }
}

/// By input port: what leads to it.
pub(super) type Edges<'a> = HashMap<PortId, PortEdge<'a>>;

/// The output port at which an edge begins, and the element that says so.
pub(super) struct PortEdge<'a> {
    pub(super) from: PortId,
    pub(super) xml: XmlNode<'a>,
    /// True once the input port has been read.
    read: Cell<bool>,
}

/// The edges of a network, by the layer and port that they lead to.
pub(super) fn edges(net: XmlNode<'_>) -> Result<Edges<'_>> {
    let mut edges = HashMap::new();
    let list = child(net, "edges").into_iter().flat_map(|list| list.children());
    for edge in list.filter(|child| child.tag_name().name() == "edge") {
        let from = (number(edge, "from-layer")?, number(edge, "from-port")?);
        let to = (number(edge, "to-layer")?, number(edge, "to-port")?);
        if edges.insert(to, PortEdge { from, xml: edge, read: Cell::new(false) }).is_some() {
            let (layer, port) = to;
            return Err(at(edge, Kind::Graph, format!("two edges lead to port {port} of layer {layer}")));
        }
    }
    Ok(edges)
}

fn source(to: PortId, layer: XmlNode<'_>, edges: &Edges<'_>) -> Result<PortId> {
    let missing = || at(layer, Kind::Graph, format!("nothing is connected to input port {}", to.1));
    let edge = edges.get(&to).ok_or_else(missing)?;
    if edge.read.replace(true) {
        return Err(at(layer, Kind::Graph, format!("input port {} is defined twice", to.1)));
    }
    Ok(edge.from)
}

pub(super) struct OutputPort<'a> {
    pub(super) id: i64,
    pub(super) declared: Type,
    pub(super) names: Vec<Box<str>>,
    xml: XmlNode<'a>,
}

fn ports<'a>(layer: XmlNode<'a>, side: &str) -> Result<Vec<OutputPort<'a>>> {
    let list = child(layer, side).into_iter().flat_map(|list| list.children());
    list.filter(|child| child.tag_name().name() == "port")
        .map(|port| {
            let dims = port.children().filter(|child| child.tag_name().name() == "dim");
            let sizes = dims.map(|dim| {
                let text = text_of(dim).map_or("", |text| text.text().unwrap_or_default().trim());
                size(text).ok_or_else(|| at(dim, Kind::Syntax, format!("\"{text}\" is not a dimension")))
            });
            let sizes = sizes.collect::<Result<Vec<_>>>()?;
            Ok(OutputPort {
                id: number(port, "id")?,
                // A tensor without axes has no dimensions here, nor has one whose number of axes is
                // not known.
                declared: Type::Tensor(
                    port.attribute("precision").and_then(|text| text.parse().ok()),
                    (!sizes.is_empty()).then_some(sizes),
                ),
                names: list_of_names(port.attribute("names").unwrap_or_default()),
                xml: port,
            })
        })
        .collect()
}

impl IrReader<'_> {
    fn node(
        &mut self,
        builder: &mut Builder,
        layer: XmlNode<'_>,
        id: i64,
        operator: &str,
        outputs: &[OutputPort<'_>],
        edges: &Edges<'_>,
    ) -> Result<Vec<ValueId>> {
        let mut inputs = Slots::new();
        for port in ports(layer, "input")? {
            let from = source((id, port.id), port.xml, edges)?;
            inputs.push(Some(builder.reference(&key(from))));
        }
        let set = layer.attribute("version").unwrap_or_default();
        let version = set.strip_prefix("opset").and_then(|digits| digits.parse().ok());
        if version.is_some_and(|version| !(1..=NEWEST_OPSET).contains(&version)) {
            return Err(at(
                layer,
                Kind::Graph,
                format!("operator set \"{set}\" is not known; known are opset1 to opset{NEWEST_OPSET}"),
            ));
        }
        let data = child(layer, "data").into_iter().flat_map(|data| data.attributes());
        // Attributes of other namespaces are none of the operator.
        let data = data.filter(|attribute| attribute.namespace().is_none());
        let mut attributes: Vec<_> = data
            .map(|a| Attribute { name: a.name().into(), content: Content::Text(a.value().into()) })
            .collect();
        attributes.extend(body::attributes(self, layer)?);
        let node = Node {
            name: layer.attribute("name").unwrap_or_default().into(),
            operator: OperatorId {
                domain: builder.intern(if version.is_some() { "" } else { set }),
                name: builder.intern(operator),
                overload: builder.intern(""),
            },
            version,
            inputs,
            outputs: Slots::new(),
            attributes,
            position: Some(self.lines.position(layer)),
        };
        let keys: Vec<_> = outputs.iter().map(|port| key((id, port.id))).collect();
        builder.push(node, &keys.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(keys.iter().map(|key| builder.reference(key)).collect())
    }
}
