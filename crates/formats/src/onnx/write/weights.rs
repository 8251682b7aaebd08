//! Places of the elements of initializers: in the model, in one file next to it, or nowhere. Those
//! of other tensors are in the model then.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::u64_of;
use gradus_core::graph::Constant;
use gradus_core::tensor::byte_len;
use gradus_core::{Error, Kind, Limits, Result, Tensor};
use sha2::{Digest, Sha256};

use super::encode::{self, DataFile};
use super::walk::{Change, Message, rewritten};
use crate::Splice;
use crate::files::Files;
use crate::onnx::STRIPPED;
use crate::onnx::fields::{graph_proto, tensor_proto};
use crate::onnx::model::{ModelReader, read_entry};
use crate::onnx::tensor;
use crate::wire::ByteSpan;

/// Where initializers are to lie.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// Where they are.
    Same,
    /// In the model.
    Model,
    /// In a file of this name next to the model, if they have at least so many bytes; others in the
    /// model.
    File(&'a str, u64),
    /// Nowhere, if they have at least so many bytes: the model says their types, shapes and
    /// digests. Others are in the model.
    Nowhere(u64),
}

impl Place<'_> {
    /// The destination of elements that do not stay, but for those that the model has all the same.
    fn destination(self) -> Destination {
        match self {
            Place::Same | Place::Model => Destination::Model,
            Place::File(..) => Destination::File,
            Place::Nowhere(_) => Destination::Nowhere,
        }
    }
}

/// A model whose initializers lie elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The model.
    pub model: Splice,
    /// The content of the file next to it.
    pub file: Splice,
    /// The number of initializers that went to the place, and their bytes.
    pub moved: (usize, u64),
    /// The number of stripped initializers that got their elements.
    pub restored: usize,
}

/// The model with its initializers in a place. Elements that were stripped come from `given`, by
/// name, where it has them.
///
/// # Errors
/// [`Kind::Value`] if what is given are not the elements that were stripped; as
/// [`super::super::read_model`], and errors of reading the constants.
pub fn place_weights(
    bytes: &Bytes,
    files: &Arc<dyn Files>,
    limits: Limits,
    place: Place<'_>,
    given: &dyn Fn(&str) -> Result<Option<Tensor>>,
) -> Result<Placed> {
    let reader = ModelReader::new(files.clone(), limits);
    let mut placed = Placed::default();
    let name = if let Place::File(name, _) = place { name } else { "" };
    let mut file = DataFile { name, content: Splice::default() };
    let model = rewritten(ByteSpan::of(bytes), Message::Model, &mut |message, field| {
        if message.within(field.number) != Some(Message::Tensor) {
            return Ok(None);
        }
        limits.check()?;
        let (span, is_weight) = (field.span()?, (message, field.number) == WEIGHT);
        // Others move only out of files that the model would not find.
        if !is_weight && !has_external(span)? {
            return Ok(None);
        }
        let stored = StoredWeights::of(&reader, span)?;
        let Some(to) = stored.destination(place, is_weight) else {
            return stored.restored(given, &mut placed);
        };
        let (name, constant) = (stored.name, &stored.constant);
        let tensor = match (&stored.digest, given(name)?) {
            (Some(digest), Some(tensor)) => {
                stored.check(digest, &tensor)?;
                placed.restored += 1;
                tensor
            }
            (Some(_), None) => {
                let message = "the weights are stripped, expected a file that has them (--weights)";
                return Err(Error::new(Kind::Usage, message).in_node(tensor::label(name)));
            }
            (None, _) => constant.tensor()?,
        };
        let Some(raw) = tensor.bytes() else { return Ok(None) };
        if to == place.destination() {
            placed.moved.0 += 1;
            placed.moved.1 += u64_of(raw.len());
        }
        Ok(Some(Change::Message(moved(span, raw, to, &mut file)?)))
    })?;
    placed.model = model.unwrap_or_else(|| Splice::whole(bytes.len()));
    placed.file = file.content;
    Ok(placed)
}

/// The field that has an initializer.
const WEIGHT: (Message, u32) = (Message::Graph, graph_proto::INITIALIZER);

/// Returns true if the elements of a tensor are in a file.
fn has_external(span: ByteSpan<'_>) -> Result<bool> {
    for field in span.fields() {
        if field?.number == tensor_proto::EXTERNAL_DATA {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The place of one initializer.
#[derive(Clone, Copy, PartialEq)]
enum Destination {
    Model,
    File,
    Nowhere,
}

/// An initializer of the file.
struct StoredWeights<'a> {
    span: ByteSpan<'a>,
    name: &'a str,
    constant: Constant,
    is_external: bool,
    /// The digest of the elements, if they are stripped.
    digest: Option<String>,
}

impl<'a> StoredWeights<'a> {
    fn of(reader: &ModelReader, span: ByteSpan<'a>) -> Result<StoredWeights<'a>> {
        let (name, constant) = tensor::read(reader, span)?;
        let mut entries = Vec::new();
        for field in span.fields() {
            let field = field?;
            if field.number == tensor_proto::EXTERNAL_DATA {
                entries.push(read_entry(field.span()?)?);
            }
        }
        let entry = |key: &str| entries.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        let is_stripped = entry("location").is_some_and(|location| location == STRIPPED);
        let digest = is_stripped.then(|| entry("sha256").cloned().unwrap_or_default());
        Ok(StoredWeights { span, name, constant, is_external: !entries.is_empty(), digest })
    }

    /// Where the elements go; nothing if they stay.
    fn destination(&self, place: Place<'_>, is_weight: bool) -> Option<Destination> {
        let len = byte_len(self.constant.dtype(), self.constant.shape());
        match place {
            Place::Same => None,
            Place::Nowhere(_) if self.digest.is_some() => None,
            Place::File(_, least) | Place::Nowhere(least) if is_weight && len >= u128::from(least.max(1)) => {
                Some(place.destination())
            }
            _ => self.is_external.then_some(Destination::Model),
        }
    }

    /// The initializer with its elements, if it was stripped and they are given.
    fn restored(
        &self,
        given: &dyn Fn(&str) -> Result<Option<Tensor>>,
        placed: &mut Placed,
    ) -> Result<Option<Change>> {
        let Some(digest) = &self.digest else { return Ok(None) };
        let Some(tensor) = given(self.name)? else { return Ok(None) };
        self.check(digest, &tensor)?;
        let Some(raw) = tensor.bytes() else { return Ok(None) };
        placed.restored += 1;
        let mut none = DataFile { name: "", content: Splice::default() };
        moved(self.span, raw, Destination::Model, &mut none).map(|content| Some(Change::Message(content)))
    }

    /// Checks that a tensor has the elements that were stripped.
    fn check(&self, digest: &str, tensor: &Tensor) -> Result<()> {
        let in_place = |error: Error| error.in_node(tensor::label(self.name));
        let constant = &self.constant;
        if (tensor.dtype(), tensor.shape()) != (constant.dtype(), constant.shape()) {
            let got = format_args!("{}{}", tensor.dtype(), tensor.shape());
            let wanted = format_args!("{}{}", constant.dtype(), constant.shape());
            let what = "cannot restore the weights: the type and shape";
            return Err(in_place(Error::mismatch(Kind::Value, what, got, wanted)));
        }
        let found = tensor.bytes().map(|raw| digest_of(raw)).unwrap_or_default();
        if found != digest {
            let what = "cannot restore the weights: the digest of the elements";
            return Err(in_place(Error::mismatch(Kind::Value, what, found, digest)));
        }
        Ok(())
    }
}

/// The digest of elements, in hexadecimal digits.
fn digest_of(raw: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(raw) {
        // Writing into a text succeeds.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A tensor whose elements are elsewhere than before: what says them is written where they stood.
fn moved(span: ByteSpan<'_>, raw: &Bytes, to: Destination, file: &mut DataFile<'_>) -> Result<Splice> {
    use tensor_proto as at;
    const ELEMENTS: [u32; 9] = [
        at::RAW_DATA,
        at::FLOAT_DATA,
        at::INT32_DATA,
        at::STRING_DATA,
        at::INT64_DATA,
        at::DOUBLE_DATA,
        at::UINT64_DATA,
        at::EXTERNAL_DATA,
        at::DATA_LOCATION,
    ];
    let (mut out, mut end, mut is_written) = (Splice::default(), span.range().start, false);
    let write = |out: &mut Splice, file: &mut DataFile<'_>| match to {
        Destination::Model => {
            out.write(|out| encode::head(out, at::RAW_DATA, raw.len()));
            out.share(raw.clone());
        }
        Destination::File => encode::elements_beside(out, raw, file),
        Destination::Nowhere => {
            let digest = digest_of(raw);
            let len = raw.len().to_string();
            encode::external(out, &[("location", STRIPPED), ("length", &len), ("sha256", &digest)]);
        }
    };
    for field in span.fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        if !ELEMENTS.contains(&field.number) {
            out.copy(field.start..field.end);
        } else if !std::mem::replace(&mut is_written, true) {
            write(&mut out, file);
        }
    }
    out.copy(end..span.range().end);
    if !is_written {
        write(&mut out, file);
    }
    Ok(out)
}
