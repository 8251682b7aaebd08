//! The model after its edits, and its file.

use std::path::Path;

use bytes::Bytes;
use gradus_formats::onnx::Joint;
use gradus_formats::{Files, Splice, onnx};

use super::apply::counted;
use super::{Arc, Editor, Model, Renames, Result, Standard, Weights};
use crate::files::Spliced;
use gradus_core::convert::u64_of;
use gradus_core::graph;
use gradus_engine::infer::{InferOptions, Inference};

/// An edited model: what the edits did, and what follows for its runs.
#[derive(Clone, Debug)]
pub struct Edited {
    original: Model,
    written: Written,
    notes: Vec<String>,
    inference: Inference,
}

/// An edited model as it will be written.
#[derive(Clone, Debug)]
enum Written {
    /// Parts of the file of an ONNX model, and where its constants are.
    Onnx(Splice, Beside),
    /// The graphs of an OpenVINO model, and new names of values.
    OpenVino(Box<graph::Model>, Renames),
}

impl Written {
    fn model(&self, original: &Model) -> Result<Model> {
        match self {
            Written::Onnx(splice, beside) => original.spliced(splice, beside),
            Written::OpenVino(graphs, names) => original.edited_with(graphs, names),
        }
    }
}

/// The files that have constants of an edited model.
#[derive(Clone, Debug, Default)]
pub(crate) enum Beside {
    /// The files of the model that was read.
    #[default]
    Own,
    /// None.
    Nothing,
    /// One of this name and content.
    File(String, Splice),
}

impl Edited {
    /// Sentences about the edits, in their order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Inference of the result: its [conditions](Inference::conditions) say which inputs it takes.
    pub fn inference(&self) -> &Inference {
        &self.inference
    }

    /// The edited model, read from its bytes; elements of constants stay in the files that they are
    /// in.
    ///
    /// # Errors
    /// [`Kind::Limit`](gradus_core::Kind::Limit) if the file takes more memory than the limits
    /// allow; any error of reading it.
    pub fn model(&self) -> Result<Model> {
        self.written.model(&self.original)
    }

    /// Writes the edited model as [`Model::save_edited`] does, and returns the number of bytes.
    ///
    /// # Errors
    /// As [`Model::save_edited`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64> {
        match &self.written {
            Written::Onnx(splice, beside) => self.original.save_spliced(splice, beside, path.as_ref()),
            Written::OpenVino(graphs, names) => self.original.save_edited_with(graphs, names, path.as_ref()),
        }
    }
}

impl Editor {
    /// The result of the edits.
    ///
    /// # Errors
    /// [`Kind::Graph`](gradus_core::Kind::Graph) if the result contradicts itself and the model did
    /// not; as [`Model::save_edited`], where the graph is not that of the file.
    pub fn finish(self) -> Result<Edited> {
        let original = self.original.clone();
        self.finish_with(&Joint::default(), &[&original])
    }

    /// The result of the edits, to which the parts of another model are added. An error if it
    /// contradicts itself and none of the models did that it is made of.
    pub(super) fn finish_with(mut self, joint: &Joint, made_of: &[&Model]) -> Result<Edited> {
        let written = match self.now.source().standard {
            Standard::OpenVino => Written::OpenVino(Box::new(self.now.source().clone()), self.names.clone()),
            _ => self.written(joint)?,
        };
        let result = if joint.is_empty() { self.now.clone() } else { written.model(&self.original)? };
        let inference = result.infer(&InferOptions::default())?;
        if !inference.problems().is_empty() {
            let before = made_of.iter().map(|model| model.infer(&InferOptions::default()));
            let before = before.collect::<Result<Vec<_>>>()?;
            if before.iter().all(|inference| inference.problems().is_empty()) {
                inference.must_be_consistent("cannot edit")?;
            }
        }
        Ok(Edited { original: self.original.made_of(made_of), written, notes: self.notes, inference })
    }

    /// The file as parts of that of the model.
    fn written(&mut self, joint: &Joint) -> Result<Written> {
        let (bytes, _) = self.original.file_of()?;
        let mut stages = Stages { splice: None, original: bytes.clone() };
        stages.then(&self.original, |bytes| {
            onnx::edit_interface(bytes, self.original.source(), self.now.source(), &self.names, joint)
        })?;
        if self.no_docs {
            let mut count = 0;
            stages.then(&self.original, |bytes| {
                let (splice, removed) = onnx::without_docs(bytes)?;
                count = removed;
                Ok(splice)
            })?;
            let removed = counted(count, "text");
            self.note(format_args!("removed {removed} that document parts of the model"));
        }
        let mut beside = Beside::Own;
        if self.moves_weights() {
            let original = self.original.clone();
            stages.then(&original, |bytes| {
                let placed = self.placed(bytes)?;
                beside = match &self.weights {
                    Weights::Same => Beside::Own,
                    Weights::Embedded | Weights::Stripped => Beside::Nothing,
                    Weights::Beside(name) => Beside::File(name.clone(), placed.file),
                };
                Ok(placed.model)
            })?;
        }
        Ok(Written::Onnx(stages.splice.unwrap_or_default(), beside))
    }
}

/// A file that is changed in stages, each of which reads what the one before made.
struct Stages {
    original: Bytes,
    splice: Option<Splice>,
}

impl Stages {
    fn then(&mut self, model: &Model, stage: impl FnOnce(&Bytes) -> Result<Splice>) -> Result<()> {
        let splice = match &self.splice {
            None => stage(&self.original)?,
            Some(before) if before.is_whole(self.original.len()) => stage(&self.original)?,
            Some(before) => {
                model.limits().allow_bytes(0, u128::from(u64_of(before.len())))?;
                stage(&before.to_bytes(&self.original)?)?.after(before)
            }
        };
        self.splice = Some(splice);
        Ok(())
    }
}

/// The files that an edited model finds.
pub(crate) fn with_file(files: &Arc<dyn Files>, beside: &Beside) -> Arc<dyn Files> {
    match beside {
        Beside::Own | Beside::Nothing => files.clone(),
        Beside::File(name, content) => Arc::new(OneMore {
            files: files.clone(),
            name: name.clone(),
            content: Spliced::new(content, &Bytes::new()),
        }),
    }
}

/// Files, and one more.
#[derive(Debug)]
struct OneMore {
    files: Arc<dyn Files>,
    name: String,
    content: Spliced,
}

impl OneMore {
    fn of(&self, path: &str) -> &dyn Files {
        if path == self.name { &self.content } else { &*self.files }
    }
}

impl Files for OneMore {
    fn open(&self, path: &str) -> Result<Bytes> {
        self.of(path).open(path)
    }

    fn part(&self, path: &str, offset: u64, size: u64) -> Result<Bytes> {
        self.of(path).part(path, offset, size)
    }

    fn parts(&self, path: &str) -> Result<Vec<Bytes>> {
        self.of(path).parts(path)
    }
}
