//! Changes of ports and parameters in the text of a file.

use gradus_core::Result;
use gradus_core::graph::{DeclaredDim, Type};

use super::super::model::{XmlNode, child, text_of};
use super::super::shape::{dim_text, precision, shape_text, size, tensor_type};
use super::net::{end_of_attributes, space_before, value_of, whole};
use super::pieces::Patch;
use super::text::escaped;

/// Another element type and other dimensions of a port, if it has others. Of what nothing is known,
/// nothing is said.
pub(super) fn retyped(port: XmlNode<'_>, of: Option<&Type>) -> Result<Vec<Patch>> {
    let Some(Type::Tensor(dtype, sizes)) = of else { return Ok(Vec::new()) };
    let sizes = sizes.as_deref().unwrap_or_default();
    let mut patches = Vec::new();
    let old = port.attribute("precision").and_then(|text| text.parse().ok());
    if dtype.is_some() && *dtype != old {
        patches.extend(value_of(port, "precision")?.map(|range| Patch::new(range, precision(*dtype))));
    }
    let dims: Vec<_> = port.children().filter(|child| child.tag_name().name() == "dim").collect();
    if dims.len() == sizes.len() {
        for (dim, new) in dims.iter().zip(sizes) {
            let text = text_of(*dim);
            let old = text.map_or("", |text| text.text().unwrap_or_default().trim());
            let same = size(old).is_some_and(|old| dim_text(&old) == dim_text(new));
            if let Some(text) = text.filter(|_| !same) {
                patches.push(Patch::new(text.range(), dim_text(new)));
            }
        }
        return Ok(patches);
    }
    let (space, text) = (space_before(port), port.document().input_text());
    let inner = if space.contains('\n') { format!("{space}\t") } else { String::new() };
    let dim = |size| format!("{inner}<dim>{}</dim>", dim_text(size));
    let list = sizes.iter().map(dim).collect::<Vec<_>>().concat();
    patches.extend(dims.iter().map(|dim| Patch { range: whole(*dim), new: Vec::new() }));
    let Some(end) = end_of_attributes(port) else { return Ok(patches) };
    let rest = text.get(end..port.range().end).unwrap_or_default();
    if rest.trim_start().starts_with("/>") {
        patches.push(Patch::new(end..port.range().end, format!(">{list}{space}</port>")));
    } else if let Some(place) = rest.find('>') {
        let start = end + place + 1;
        patches.insert(0, Patch::new(start..start, list));
    }
    Ok(patches)
}

/// Another shape and another element type of a `Parameter`, if it has others.
pub(super) fn retyped_parameter(layer: XmlNode<'_>, of: Option<&Type>) -> Result<Vec<Patch>> {
    let Some(data) = child(layer, "data") else { return Ok(Vec::new()) };
    let Some(Type::Tensor(dtype, sizes)) = of else { return Ok(Vec::new()) };
    let mut patches = Vec::new();
    let mut put = |attribute, text: &str| {
        patches.extend(value_of(data, attribute)?.map(|range| Patch::new(range, text.to_owned())));
        Ok::<_, gradus_core::Error>(())
    };
    let known = |sizes: &[DeclaredDim]| shape_text(Some(sizes));
    let old = data.attribute("shape").and_then(|shape| tensor_type(data.attribute("element_type"), shape));
    let Some(Type::Tensor(old_type, old)) = old else { return Ok(Vec::new()) };
    if old.as_deref().map(known) != sizes.as_deref().map(known) {
        put("shape", &shape_text(sizes.as_deref()))?;
    }
    if let Some(dtype) = dtype.filter(|_| old_type != *dtype) {
        put("element_type", super::layer::known(dtype)?)?;
    }
    Ok(patches)
}

/// A patch that sets the names of the tensor at a port; `None` if there are no names, or the port
/// has them.
pub(super) fn named(port: XmlNode<'_>, names: &str) -> Result<Option<Patch>> {
    if names.is_empty() || port.attribute("names") == Some(names) {
        return Ok(None);
    }
    let names = escaped(names);
    if let Some(place) = value_of(port, "names")? {
        return Ok(Some(Patch::new(place, names)));
    }
    Ok(end_of_attributes(port).map(|end| Patch::new(end..end, format!(" names=\"{names}\""))))
}
