//! Writing IR: models that were read, with changes, and models that were made in memory.
//!
//! A model that was read is written as parts of its files: what did not change is copied
//! unchanged: unknown layers and attributes, comments and the space between elements.
//! Constants that nothing reads any more leave the `.bin`.

mod bin;
mod edit;
mod graph;
mod inputs;
mod layer;
mod net;
mod patch;
mod pieces;
mod text;

use bytes::Bytes;
use gradus_core::graph::Model;
use gradus_core::graph::edit::Renames;
use gradus_core::{Error, Kind, Result};

use super::model::{XmlNode, parse};
use crate::Splice;
use bin::{Laid, New};
use pieces::{Offsets, Patch, patched};
use text::{MARK, XmlWriter};

pub use inputs::set_inputs;

/// The version of the format that is written.
const VERSION: &str = "11";

/// The two files of a model.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The `.xml` file: parts of the file that was read, if one was.
    pub xml: Splice,
    /// The `.bin` file next to it, likewise.
    pub bin: Splice,
}

/// The text that is written, and its constants.
struct IrParts {
    xml: XmlWriter,
    new: New,
}

impl IrParts {
    /// Returns the text that `write` appends, removed again so that it can go one level deeper.
    fn within(&mut self, write: impl FnOnce(&mut IrParts) -> Result<()>) -> Result<String> {
        let before = std::mem::take(&mut self.xml.text);
        self.xml.depth += 1;
        let result = write(self);
        self.xml.depth -= 1;
        let text = std::mem::replace(&mut self.xml.text, before);
        result.map(|()| text)
    }
}

/// The files that `text`, of which `before` was read, and a file of constants of `bin` bytes
/// become where the main graph is that of `after`. Nodes and constants of `after` that have a
/// position are those of the file; inputs and outputs are those of their names, or of the names of
/// which `names` has the new ones.
///
/// # Errors
/// As [`super::read_model`], where the text is not the model; [`Kind::Syntax`] if a constant is not
/// in the file of constants; [`Kind::Unsupported`] if `after` is not made of `before`.
pub fn edit_model(
    text: &Bytes,
    bin: usize,
    before: &Model,
    after: &Model,
    names: &Renames,
) -> Result<Written> {
    changed(text, bin, |out, net| edit::edit_graph(out, net, &before.graph, &after.graph, names))
}

/// The files that `text` and a file of constants of `bin` bytes become by patches of the network.
fn changed(
    text: &Bytes,
    bin: usize,
    patches: impl FnOnce(&mut IrParts, XmlNode<'_>) -> Result<Vec<Patch>>,
) -> Result<Written> {
    let (mark, document) = parse(text)?;
    let offsets = Offsets::of(document.root_element(), bin)?;
    let mut out = IrParts { xml: XmlWriter::new(""), new: New::default() };
    let patches = patches(&mut out, document.root_element())?;
    let pieces = patched(0..document.input_text().len(), patches);
    let laid = Laid::new(offsets.kept(&pieces), out.new);
    let mut xml = Splice::default();
    xml.copy(0..mark);
    offsets.write(&mut xml, &pieces, &laid, mark);
    Ok(Written { xml, bin: laid.bin })
}

/// A model that was made in memory, as files: version 11 of the format, which OpenVINO reads since
/// 2022.
///
/// Attributes of nodes are text, numbers or lists of numbers; graphs are named `body`, `then_body`
/// and `else_body`, with their maps of ports, as the reader names them. Types of ports are those
/// that the model declares of its values. A value's names are names of its tensor.
///
/// # Errors
/// [`Kind::Unsupported`] and [`Kind::Type`] if OpenVINO has nothing like what the model has;
/// whatever is wrong with a constant that must be read first.
///
/// ```
/// use gradus_core::graph::{Builder, Content, Model, Origin, Standard, Type};
/// use gradus_core::DType;
/// let mut builder = Builder::new("positive");
/// let x = builder.define("x", Origin::Input)?;
/// builder.info(x).declared = Some(Type::Tensor(Some(DType::F32), None));
/// builder.apply("act", "ReLU", 1, &["x"], &["y"], vec![])?;
/// builder.output("y");
/// let mut model = Model::new(Standard::OpenVino);
/// model.graph = builder.finish()?;
/// let written = gradus_formats::openvino::encode_model(&model)?;
/// let text = String::from_utf8(written.xml.to_bytes(&[])?.to_vec()).unwrap();
/// assert!(text.contains("<data shape=\"...\" element_type=\"f32\" />"));
/// # Ok::<(), gradus_core::Error>(())
/// ```
pub fn encode_model(model: &Model) -> Result<Written> {
    if !model.functions.is_empty() {
        return Err(Error::new(Kind::Unsupported, "OpenVINO has no functions"));
    }
    let mut out = IrParts { xml: XmlWriter::new("\n"), new: New::default() };
    out.xml.open("net", &[("name", model.graph.name()), ("version", VERSION)]);
    graph::graph(&mut out, &model.graph)?;
    out.xml.open("rt_info", &[]);
    for (key, value) in &model.metadata {
        out.xml.leaf("info", &[("name", key), ("value", value)]);
    }
    out.xml.close("rt_info");
    out.xml.close("net");
    let laid = Laid::new(Vec::new(), out.new);
    let mut xml = Splice::default();
    xml.write(|xml| xml.extend_from_slice(b"<?xml version=\"1.0\"?>"));
    fresh(&mut xml, &out.xml.text, &laid);
    xml.write(|xml| xml.push(b'\n'));
    Ok(Written { xml, bin: laid.bin })
}

/// Appends text, with places of constants in place of their numbers.
fn fresh(xml: &mut Splice, text: &str, laid: &Laid) {
    for (index, part) in text.split(MARK).enumerate() {
        // Numbers stand between two marks.
        let number = if index % 2 == 1 { part.parse::<usize>().ok() } else { None };
        let place = number.and_then(|number| laid.new.get(number));
        match place {
            Some(place) => xml.write(|xml| xml.extend_from_slice(place.to_string().as_bytes())),
            None => xml.write(|xml| xml.extend_from_slice(part.as_bytes())),
        }
    }
}
