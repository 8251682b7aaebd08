//! Files next to a model that hold elements of its tensors: which they are, and other names for
//! them.

use std::collections::BTreeSet;

use bytes::Bytes;
use gradus_core::Result;

use super::walk::{Change, Message, rewritten};
use super::{encode, text_of};
use crate::Splice;
use crate::onnx::STRIPPED;
use crate::onnx::fields::string_string_entry_proto;
use crate::wire::{ByteSpan, Field};

/// The files next to the model that hold elements of its tensors, each once, in order; without the
/// one that [stripped](STRIPPED) weights name.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn external_files(bytes: &Bytes) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    rewritten(ByteSpan::of(bytes), Message::Model, &mut |message, field| {
        if let Some(location) = location(message, field)? {
            found.insert(location.to_owned());
            found.remove(STRIPPED);
        }
        Ok(None)
    })?;
    Ok(found.into_iter().collect())
}

/// The model with other names of the files next to it, for those that `name` gives one.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn rename_external_files(bytes: &Bytes, name: impl Fn(&str) -> Option<String>) -> Result<Splice> {
    let renamed = rewritten(ByteSpan::of(bytes), Message::Model, &mut |message, field| {
        let renamed = location(message, field)?.and_then(&name);
        Ok(renamed.map(|name| {
            let mut entry = Splice::default();
            entry.write(|out| encode::entry(out, "location", &name));
            Change::Message(entry)
        }))
    })?;
    Ok(renamed.unwrap_or_else(|| Splice::whole(bytes.len())))
}

/// The name of a file, if a field of a tensor says it.
fn location<'a>(message: Message, field: &Field<'a>) -> Result<Option<&'a str>> {
    if message.within(field.number) != Some(Message::Entry) {
        return Ok(None);
    }
    let entry = field.span()?;
    if text_of(entry, string_string_entry_proto::KEY)? != "location" {
        return Ok(None);
    }
    text_of(entry, string_string_entry_proto::VALUE).map(Some)
}
