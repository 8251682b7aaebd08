//! Inputs of a model that become constants.

use bytes::Bytes;
use gradus_core::graph::Type;
use gradus_core::{Kind, Result, Tensor};

use super::super::model::{XmlNode, at, child};
use super::super::shape::shape_text;
use super::layer::known;
use super::net::value_of;
use super::patch::retyped;
use super::pieces::Patch;
use super::text::XmlWriter;
use super::{IrParts, Written, changed};

/// The files that `text` and a file of constants of `bin` bytes become where inputs, by their
/// number, are constants with these elements. A layer keeps its number, its name and its port.
///
/// # Errors
/// As [`super::super::read_model`], where the text is not the model; [`Kind::Type`] if OpenVINO has
/// no such element type.
pub fn set_inputs(text: &Bytes, bin: usize, values: &[(usize, &Tensor)]) -> Result<Written> {
    changed(text, bin, |out, net| {
        let layers = child(net, "layers").into_iter().flat_map(|layers| layers.children());
        let layers = layers.filter(|child| child.tag_name().name() == "layer");
        let parameters = layers.filter(|layer| layer.attribute("type") == Some("Parameter"));
        let mut patches = Vec::new();
        for (number, layer) in parameters.enumerate() {
            if let Some((_, tensor)) = values.iter().find(|(set, _)| *set == number) {
                patches.extend(constant(out, layer, tensor)?);
            }
        }
        Ok(patches)
    })
}

/// The changes that make a `Const` of a `Parameter`.
fn constant(out: &mut IrParts, layer: XmlNode<'_>, tensor: &Tensor) -> Result<Vec<Patch>> {
    let of = Type::tensor(tensor.dtype(), tensor.shape());
    let Type::Tensor(_, sizes) = &of else { return Ok(Vec::new()) };
    let ports = child(layer, "output")
        .ok_or_else(|| at(layer, Kind::Syntax, "a Parameter has no output".to_owned()))?;
    let start = ports.range().start;
    let data = child(layer, "data").map_or(start..start, |data| data.range());
    let (number, size) = out.new.add(tensor)?;
    let mut xml = XmlWriter::new("");
    let attributes = [("element_type", known(tensor.dtype())?), ("shape", &shape_text(sizes.as_deref()))];
    xml.placed("data", &attributes, number, size);
    let mut patches = vec![Patch::new(data, xml.text)];
    let [operator, version] = ["type", "version"].map(|name| value_of(layer, name));
    patches.extend(operator?.map(|range| Patch::new(range, "Const")));
    patches.extend(version?.map(|range| Patch::new(range, "opset1")));
    for port in ports.children().filter(|port| port.tag_name().name() == "port") {
        patches.extend(retyped(port, Some(&of))?);
    }
    Ok(patches)
}
