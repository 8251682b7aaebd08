//! Writing ONNX files: models that were read, with changes, and models that were made.
//!
//! A model that was read is written as parts of its file: what did not change is copied unchanged,
//! in its place, unknown fields and all. Bytes of weights are named, not touched, so a model costs
//! what its graph costs.

mod docs;
mod edit;
mod encode;
mod graph;
mod inputs;
mod joint;
mod locations;
mod mentioned;
mod ports;
mod values;
mod walk;
mod weights;

use bytes::Bytes;
use gradus_core::graph::Model;
use gradus_core::{Error, Kind, Result, Tensor};

pub use docs::without_docs;
pub use edit::{edit_interface, edit_model};
pub use inputs::set_inputs;
pub use joint::Joint;
pub use locations::{external_files, rename_external_files};
pub use mentioned::{mentioned, mentioned_in_training};
pub use weights::{Place, Placed, place_weights};

use super::fields::{model_proto, operator_set_id_proto};
use crate::Splice;
use crate::wire::ByteSpan;

/// `OperatorSetIdProto` of a model.
fn import(out: &mut Vec<u8>, domain: &str, version: i64) {
    encode::message(out, model_proto::OPSET_IMPORT, |out| {
        encode::text(out, operator_set_id_proto::DOMAIN, domain);
        encode::int(out, operator_set_id_proto::VERSION, version);
    });
}

/// A file that is one `TensorProto`.
///
/// # Errors
/// [`Kind::Limit`] if memory has no room for it.
pub fn encode_tensor(name: &str, tensor: &Tensor) -> Result<Bytes> {
    let mut out = Splice::default();
    encode::tensor(&mut out, name, tensor);
    out.to_bytes(&[])
}

/// A model that was made in memory, as a file without a source. Long constants are shared with the
/// model, not copied.
///
/// # Errors
/// [`Kind::Unsupported`] if it has functions, and whatever is wrong with a constant that must be
/// read first.
pub fn encode_model(model: &Model) -> Result<Splice> {
    encode_with(model, None)
}

/// Encodes a model whose long constants are in a file next to it: the model, and the content of the
/// file of that name.
///
/// # Errors
/// As [`encode_model`].
pub fn encode_model_beside(model: &Model, name: &str) -> Result<(Splice, Splice)> {
    let mut file = encode::DataFile { name, content: Splice::default() };
    let encoded = encode_with(model, Some(&mut file))?;
    Ok((encoded, file.content))
}

fn encode_with(model: &Model, beside: Option<&mut encode::DataFile<'_>>) -> Result<Splice> {
    if !model.functions.is_empty() {
        return Err(Error::new(Kind::Unsupported, "functions are only written as they were read"));
    }
    let mut out = Splice::default();
    out.write(|out| {
        encode::int(out, model_proto::IR_VERSION, model.format_version);
        encode::text(out, model_proto::PRODUCER_NAME, &model.producer);
    });
    out.message_of(model_proto::GRAPH, |out| graph::graph(out, &model.graph, beside))?;
    out.write(|out| {
        model.opsets.iter().for_each(|(domain, version)| import(out, domain, *version));
        for (key, value) in &model.metadata {
            encode::message(out, model_proto::METADATA_PROPS, |out| encode::entry(out, key, value));
        }
    });
    Ok(out)
}

/// The text of a message's field of that number.
fn text_of(span: ByteSpan<'_>, number: u32) -> Result<&str> {
    let mut found = "";
    for field in span.fields() {
        let field = field?;
        if field.number == number {
            found = field.text()?;
        }
    }
    Ok(found)
}
