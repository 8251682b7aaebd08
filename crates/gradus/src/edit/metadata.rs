//! Metadata and documentation of a model.

use super::apply::quoted;
use super::{Editor, Error, Result};

impl Editor {
    /// Sets or removes an entry of the metadata.
    pub(super) fn metadata(&mut self, key: &str, value: Option<&str>) -> Result<()> {
        self.must_be_onnx("change metadata")?;
        let mut source = self.now.source().clone();
        let entry = source.metadata.iter().position(|(known, _)| known == key);
        let note = match (entry, value) {
            (Some(at), Some(value)) => {
                value.clone_into(&mut source.metadata[at].1);
                format!("changed metadata {} to {}", quoted(key), quoted(value))
            }
            (None, Some(value)) => {
                source.metadata.push((key.to_owned(), value.to_owned()));
                format!("added metadata {}: {}", quoted(key), quoted(value))
            }
            (Some(_), None) => {
                source.metadata.retain(|(known, _)| known != key);
                format!("removed metadata {}", quoted(key))
            }
            (None, None) => {
                let known = source.metadata.iter().map(|(key, _)| &**key);
                return Err(Error::unknown("metadata", key, known));
            }
        };
        self.now = self.now.with_source(source);
        self.note(note);
        Ok(())
    }

    /// Removes texts that document parts of the model.
    pub(super) fn no_docs(&mut self) -> Result<()> {
        self.must_be_onnx("remove documentation")?;
        self.no_docs = true;
        Ok(())
    }
}
