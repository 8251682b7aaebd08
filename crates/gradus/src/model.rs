//! Models: opened, looked at, compiled, run.

#[cfg(feature = "write")]
mod rewrite;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::{Standard, ValueId};
use gradus_core::{Error, Kind, Limits, Result, Value, graph};
#[cfg(feature = "paddle")]
use gradus_formats::paddle;
use gradus_formats::{Files, InMemory, Sniffed, onnx, openvino, sniff};

use crate::files::{Folder, map_within};
use crate::normalize::has_default_inputs;
use crate::operator::Operator;
use crate::operators::TABLE;
#[cfg(feature = "run")]
use crate::program::RunOptions;
#[cfg(feature = "run")]
use crate::run::{Outputs, Program};
use crate::source::Source;

/// A model, ready to be looked at and run. Clones share the graph and the constants.
///
/// ```
/// use gradus::{Model, Tensor};
/// let model = Model::open("examples/range.onnx")?;
/// let inputs = [("start", 1f32), ("limit", 2.5), ("delta", 0.5)];
/// let outputs = model.run(inputs.map(|(name, x)| (name, Tensor::scalar(x))))?;
/// assert_eq!(outputs["positions"].tensor()?.elements::<f32>()?[..], [1.0, 1.5, 2.0]);
/// # Ok::<(), gradus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    source: Source,
    keep_names: bool,
    file: Option<PathBuf>,
    /// The file itself, if there is one.
    bytes: Option<Bytes>,
    /// True if it was edited after it was read, so that the bytes are not those of the file.
    edited: bool,
    /// The files next to it.
    files: Option<Arc<dyn Files>>,
    /// The file next to it that has its constants, if its format says which that is.
    beside: String,
    /// Files that saving it must not replace: constants of the models that it was made of.
    spared: Vec<PathBuf>,
}

/// Opens models with limits and operators of your own. Both stay with the model: runs, inference,
/// folding, edits and conversion use them.
///
/// ```
/// use gradus::{Limits, OpenOptions};
/// let mut limits = Limits::DEFAULT;
/// limits.max_steps = 1;
/// let model = OpenOptions::new().limits(limits).open("examples/positions.onnx")?;
/// let tokens = gradus::Tensor::from_vec(gradus::Shape::new([1, 1])?, vec![7i64])?;
/// assert_eq!(model.run([("tokens", tokens)]).unwrap_err().kind(), gradus::Kind::Limit);
/// # Ok::<(), gradus::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    limits: Limits,
    operators: Vec<Arc<dyn Operator>>,
    keep_names: bool,
}

impl OpenOptions {
    /// Returns the default limits and no operators.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Sets the limits on what reading, running and inferring the model may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> OpenOptions {
        self.limits = limits;
        self
    }

    /// Registers an operator.
    #[must_use]
    pub fn operator(mut self, operator: impl Operator + 'static) -> OpenOptions {
        self.operators.push(Arc::new(operator));
        self
    }

    /// Opens a model, as [`Model::open`] does.
    ///
    /// # Errors
    /// As [`Model::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let files = Folder::of(path);
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let is_ir = Standard::of_file(path) == Some(Standard::OpenVino);
        let most = self.limits.max_bytes;
        let bytes =
            if is_ir { files.model_and(&format!("{stem}.bin"), most) } else { map_within(path, most) };
        let model = self
            .with_files(&bytes?, &stem, Arc::new(files))
            .map_err(|error| error.in_file(path.display()))?;
        Ok(Model { file: Some(path.to_owned()), ..model })
    }

    /// Reads a model that stands alone from bytes.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn from_bytes(&self, bytes: &Bytes) -> Result<Model> {
        self.with_files(bytes, "", Arc::new(InMemory::default()))
    }

    /// Reads a model from bytes; other files have the name `stem` and an ending of their own.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn with_files(&self, bytes: &Bytes, stem: &str, files: Arc<dyn Files>) -> Result<Model> {
        self.read(bytes, stem, files, None)
    }

    /// Reads a model that an edit made of another, as [`OpenOptions::with_files`] does.
    pub(crate) fn read_edited(
        &self,
        bytes: &Bytes,
        files: Arc<dyn Files>,
        source: &graph::Model,
    ) -> Result<Model> {
        self.read(bytes, "", files, Some(source))
    }

    fn read(
        &self,
        bytes: &Bytes,
        stem: &str,
        files: Arc<dyn Files>,
        source: Option<&graph::Model>,
    ) -> Result<Model> {
        let limits = &self.limits;
        let sniffed = sniff(bytes);
        let is_paddle = matches!(sniffed, Sniffed::Blocks | Sniffed::Json);
        let beside = format!("{stem}.{}", if is_paddle { "pdiparams" } else { "bin" });
        let source = match sniffed {
            Sniffed::Xml => openvino::read_model(bytes, &beside, &files, limits)?,
            #[cfg(feature = "paddle")]
            Sniffed::Blocks => paddle::read_desc(bytes, &beside, &files, limits)?,
            #[cfg(feature = "paddle")]
            Sniffed::Json => paddle::read_program(bytes, &beside, &files, limits)?,
            #[cfg(not(feature = "paddle"))]
            Sniffed::Blocks | Sniffed::Json => {
                return Err(not_a_model(
                    "a program of Paddle",
                    "one of ONNX or OpenVINO (without feature paddle)",
                ));
            }
            Sniffed::Npy => return Err(not_a_model("an array of NumPy", "a model")),
            Sniffed::Zip => {
                return Err(not_a_model("a zip archive, as NumPy and PyTorch write", "a model"));
            }
            Sniffed::Foreign(words) => return Err(not_a_model(words, "a model of ONNX, OpenVINO or Paddle")),
            Sniffed::Other if bytes.is_empty() => return Err(not_a_model("empty", "a model")),
            Sniffed::Other => match source {
                Some(source) => onnx::read_edited(bytes, files.clone(), *limits, source)?,
                None => onnx::read_model(bytes, files.clone(), *limits)?,
            },
        };
        limits.check()?;
        let (bytes, files) = (Some(bytes.clone()), Some(files));
        Ok(Model { bytes, files, beside, ..self.from_source(source) })
    }

    /// Returns a model that was made in memory.
    pub fn from_source(&self, model: graph::Model) -> Model {
        Model {
            source: Source::new(model, self.limits, self.operators.clone(), TABLE),
            keep_names: self.keep_names,
            file: None,
            bytes: None,
            edited: false,
            files: None,
            beside: String::new(),
            spared: Vec::new(),
        }
    }
}

fn not_a_model(got: &str, wanted: &str) -> Error {
    Error::mismatch(Kind::Syntax, "cannot read the model: the file", got, wanted)
}

/// The content of the file, and inference from it.
impl Deref for Model {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

impl Model {
    /// Opens a model: ONNX, OpenVINO IR with its `.bin` next to it, or a Paddle program with its
    /// `.pdiparams`. [`OpenOptions`] sets limits.
    ///
    /// The file is mapped, not read, and elements of constants are only looked at when they are
    /// needed.
    ///
    /// # Errors
    /// [`Kind::Io`] if the file cannot be read; whatever is wrong with what it says, with the place
    /// in the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        OpenOptions::new().open(path)
    }

    /// Reads a model that stands alone from bytes.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn from_bytes(bytes: &Bytes) -> Result<Model> {
        OpenOptions::new().from_bytes(bytes)
    }

    /// A model that was made in memory.
    pub fn from_source(model: graph::Model) -> Model {
        OpenOptions::new().from_source(model)
    }

    /// The source of the model, which is copied only if another model has it too.
    pub(crate) fn into_source(self) -> graph::Model {
        self.source.into_model()
    }

    /// The options that it was opened with.
    pub fn options(&self) -> OpenOptions {
        let operators = self.operators().to_vec();
        OpenOptions { limits: self.limits(), operators, keep_names: self.keep_names }
    }

    /// This model with other limits, which inference, runs, folding, conversion, comparison and
    /// saving obey.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Model {
        self.source.limits = limits;
        self
    }

    /// This model; if `keep` is set, saving copies its files of constants under the names that the
    /// model gives them, which an untrusted model chooses.
    #[must_use]
    pub fn keep_names(mut self, keep: bool) -> Model {
        self.keep_names = keep;
        self
    }

    /// This model with other graphs, which are only in memory.
    pub(crate) fn with_source(&self, source: graph::Model) -> Model {
        let source = self.source.clone().with_model(source);
        Model { source, bytes: None, files: None, ..self.clone() }
    }

    /// The bytes that it was read from, if it is a file that Gradus writes.
    pub fn bytes(&self) -> Option<&Bytes> {
        self.bytes.as_ref()
    }

    /// The files next to it that were asked for so far, by their path from its folder, with the
    /// bytes of those that could be read; none of a model that was not opened from a file.
    pub fn files_asked(&self) -> Vec<(String, Option<Bytes>)> {
        self.files.as_ref().map_or_else(Vec::new, |files| files.asked())
    }

    /// The file that it was read from.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The input of that name, which takes values.
    pub(crate) fn given_input(&self, name: &str) -> Result<ValueId> {
        let (id, source) = (self.input(name)?, self.source());
        let is_listed = source.standard == Standard::Onnx && !has_default_inputs(source);
        if is_listed && source.graph.constant(id).is_some() {
            let what = format_args!("input \"{name}\"");
            let wanted = "an input without initializer: files before IR version 4 list constants as inputs";
            return Err(Error::mismatch(Kind::Usage, what, "a constant", wanted));
        }
        Ok(id)
    }

    /// The error with the model's file, if it has one.
    pub(crate) fn in_file(&self, error: Error) -> Error {
        match &self.file {
            Some(file) => error.in_file(file.display()),
            None => error,
        }
    }
}

/// Runs.
#[cfg(feature = "run")]
impl Model {
    /// Compiles the main graph as far as the outputs of those names need it: values of the graph,
    /// or the model's outputs if no names are given.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a name is not known; [`Kind::Unsupported`] if an operator does not run;
    /// what is wrong in a node, with its name.
    ///
    /// ```
    /// use gradus::{Model, RunOptions, Shape, Tensor};
    /// let model = Model::open("examples/positions.onnx")?;
    /// let program = model.compile(&["phase"], &RunOptions::default())?;
    /// for len in 1..4 {
    ///     let tokens = Tensor::from_vec(Shape::new([1, len])?, vec![0i64; len])?;
    ///     let outputs = program.run([("tokens", tokens)])?;
    ///     assert_eq!(outputs["phase"].tensor()?.len(), len);
    /// }
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn compile(&self, outputs: &[&str], options: &RunOptions) -> Result<Program> {
        Program::new(self, outputs, options)
    }

    /// Compiles the model and runs it once; use [`Model::compile`] to run it many times or with
    /// options. A model without inputs runs by `model.run::<&str, Tensor>([])`.
    ///
    /// # Errors
    /// As [`Model::compile`] and [`Program::run`].
    pub fn run<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Outputs> {
        self.compile(&[], &RunOptions::default())?.run(inputs)
    }
}
