//! Files of models whose graphs, constants or names are others.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::u64_of;
use gradus_core::graph::edit::Renames;
use gradus_core::graph::{Standard, ValueId};
use gradus_core::{Error, Kind, Result, Tensor, graph};
use gradus_formats::openvino::Written;
use gradus_formats::{Files, Splice, onnx, openvino};

use super::Model;
use crate::edit::{Beside, with_file};
use crate::files::Spliced;
use crate::normalize::has_default_inputs;
use crate::save::is_same;

impl Model {
    /// This model, converted from `other`: saving it leaves the files of constants of `other`
    /// alone.
    pub(crate) fn converted_from(self, other: &Model) -> Model {
        self.made_of(&[other])
    }

    /// This model, made of others: saving it leaves their files of constants alone.
    pub(crate) fn made_of(self, others: &[&Model]) -> Model {
        let files = others.iter().flat_map(|other| other.constant_files().unwrap_or_default());
        Model { spared: files.collect(), ..self }
    }

    /// Returns true if copies of its files of constants keep their names.
    pub(crate) fn keeps_names(&self) -> bool {
        self.keep_names
    }

    /// Files that saving must not replace.
    pub(crate) fn spared(&self) -> &[PathBuf] {
        &self.spared
    }

    /// Returns true if saving must not replace a file.
    pub(crate) fn spares(&self, path: &Path) -> bool {
        self.spared.iter().any(|spared| is_same(spared, path))
    }

    /// The model whose graphs are those of another that was [made of it](Model::fold): one that was
    /// read from a file is written in memory and read again; elements of constants stay in the
    /// files that they are in.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if models like it are not written.
    pub fn edited(&self, to: &graph::Model) -> Result<Model> {
        self.edited_with(to, &Renames::new())
    }

    /// The same; `names` are new names of values of the main graph.
    pub(crate) fn edited_with(&self, to: &graph::Model, names: &Renames) -> Result<Model> {
        if self.bytes.is_none() {
            return Ok(self.with_source(to.clone()));
        }
        let (bytes, files) = self.file_of()?;
        let (edited, files) = if self.source().standard == Standard::OpenVino {
            let (written, bin) = self.rewritten(to, names)?;
            let files: Arc<dyn Files> = Arc::new(Spliced::new(&written.bin, &bin));
            (written.xml.to_bytes(bytes)?, files)
        } else {
            (onnx::edit_model(bytes, self.source(), to)?.to_bytes(bytes)?, files.clone())
        };
        let model = self.options().read_edited(&edited, files, self.source())?;
        Ok(Model { file: self.file.clone(), edited: true, ..model })
    }

    /// The model whose file is what a splice makes of its own.
    pub(crate) fn spliced(&self, splice: &Splice, beside: &Beside) -> Result<Model> {
        let (bytes, files) = self.file_of()?;
        let files = with_file(files, beside);
        self.limits().allow_bytes(0, u128::from(u64_of(splice.len())))?;
        let model = self.options().read_edited(&splice.to_bytes(bytes)?, files, self.source())?;
        Ok(Model { file: self.file.clone(), edited: true, ..model })
    }

    /// The model whose inputs are constants with these elements.
    pub(crate) fn with_constants(&self, values: &[(ValueId, Tensor)]) -> Result<Model> {
        let graph = self.graph();
        if self.bytes.is_none() || self.source().standard == Standard::Paddle {
            let mut source = self.source().clone();
            source.graph.set_inputs(values.iter().cloned());
            return Ok(Model { edited: true, ..self.with_source(source) });
        }
        let (bytes, files) = self.file_of()?;
        let (splice, files) = if self.source().standard == Standard::OpenVino {
            let number = |id| graph.inputs().iter().position(|input| *input == id);
            let values: Vec<_> =
                values.iter().filter_map(|(id, tensor)| Some((number(*id)?, tensor))).collect();
            let (written, bin) = self.with_bin(|bytes, len| openvino::set_inputs(bytes, len, &values))?;
            let files: Arc<dyn Files> = Arc::new(Spliced::new(&written.bin, &bin));
            (written.xml, files)
        } else {
            let values: Vec<_> =
                values.iter().map(|(id, tensor)| (&*graph.value(*id).name, tensor)).collect();
            (onnx::set_inputs(bytes, !has_default_inputs(self.source()), &values)?, files.clone())
        };
        self.limits().allow_bytes(0, u128::from(u64_of(splice.len())))?;
        let model = self.options().read_edited(&splice.to_bytes(bytes)?, files, self.source())?;
        Ok(Model { file: self.file.clone(), edited: true, ..model })
    }

    /// The files in which the graphs of an OpenVINO model are those of another, and the file of
    /// constants that parts of one are in; `names` are new names of values of the main graph.
    pub(crate) fn rewritten(&self, to: &graph::Model, names: &Renames) -> Result<(Written, Bytes)> {
        self.with_bin(|bytes, len| openvino::edit_model(bytes, len, self.source(), to, names))
    }

    /// The files that `write` makes of an OpenVINO model and the length of its file of constants;
    /// and that file.
    fn with_bin(&self, write: impl FnOnce(&Bytes, usize) -> Result<Written>) -> Result<(Written, Bytes)> {
        let (bytes, files) = self.file_of()?;
        let bin = files.open(&self.beside);
        let len = bin.as_ref().map_or(0, Bytes::len);
        match (write(bytes, len), bin) {
            (Ok(written), bin) => Ok((written, bin.unwrap_or_default())),
            // A model without constants needs no such file.
            (Err(_), Err(error)) | (Err(error), Ok(_)) => Err(error),
        }
    }

    /// The name of the file next to it that has its constants.
    pub(crate) fn beside(&self) -> &str {
        &self.beside
    }

    /// The file that has its bytes.
    pub(crate) fn unedited_path(&self) -> Option<&Path> {
        self.path().filter(|_| !self.edited)
    }

    /// The bytes of the model file, of a format that Gradus writes, and access to its data files.
    pub(crate) fn file_of(&self) -> Result<(&Bytes, &Arc<dyn Files>)> {
        let standard = self.source().standard;
        if standard == Standard::Paddle {
            return Err(Error::mismatch(
                Kind::Unsupported,
                "cannot write the model: its standard",
                standard,
                "onnx or openvino",
            ));
        }
        let file = self.bytes.as_ref().zip(self.files.as_ref());
        file.ok_or_else(|| {
            Error::new(Kind::Unsupported, "cannot edit the model: it was not read from a file")
        })
    }

    /// Values of the main graph that parts of the file mention which are no graph.
    pub(crate) fn mentioned(&self) -> Result<HashSet<String>> {
        let file = self.bytes.as_ref().filter(|_| self.source().standard == Standard::Onnx);
        file.map_or_else(|| Ok(HashSet::new()), onnx::mentioned)
    }

    /// Returns true if the training information of the file mentions a value of that name.
    pub(crate) fn is_in_training(&self, name: &str) -> Result<bool> {
        let file = self.bytes.as_ref().filter(|_| self.source().standard == Standard::Onnx);
        file.map_or(Ok(false), |bytes| Ok(onnx::mentioned_in_training(bytes)?.contains(name)))
    }
}
