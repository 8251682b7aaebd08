//! Models: opened, looked at, run.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::edit::Edit;
use gradus_core::graph::{Extent, Graph, Standard, Type, ValueId};
use gradus_core::{Error, Kind, Limits, Result, Value, graph};
use gradus_formats::openvino::Written;
use gradus_formats::{Files, InMemory, Sniffed, onnx, openvino, paddle, sniff};

use crate::files::{Folder, Spliced, map};
use crate::program::{Compiler, RunOptions, RunState};

/// A model, ready to be looked at and run.
///
/// ```
/// use gradus::{Model, RunOptions, Tensor};
/// let model = Model::open("examples/range.onnx", &Default::default())?;
/// let inputs = [("start", Tensor::scalar(1f32)), ("limit", Tensor::scalar(2.5f32)), ("delta", Tensor::scalar(0.5f32))];
/// let inputs = inputs.into_iter().map(|(name, tensor)| (name.to_owned(), tensor.into())).collect();
/// let outputs = model.run(&inputs, &[], &RunOptions::default())?;
/// assert_eq!(outputs[0].0, "positions");
/// assert_eq!(outputs[0].1.tensor()?.elements::<f32>()?[..], [1.0, 1.5, 2.0]);
/// # Ok::<(), gradus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    source: graph::Model,
    file: Option<PathBuf>,
    /// The file itself, if there is one.
    bytes: Option<Bytes>,
    /// True if it was edited after it was read, so that the bytes are not those of the file.
    edited: bool,
    /// The files beside it.
    files: Option<Arc<dyn Files>>,
    /// The file beside it that has its constants, if its format says which that is.
    beside: String,
    /// Files that saving it must not replace: constants of the model that it was converted from.
    spared: Vec<PathBuf>,
}

impl Model {
    /// Opens a model: ONNX, OpenVINO IR with its `.bin` beside it, or a Paddle program with its
    /// `.pdiparams`.
    ///
    /// The file is mapped, not read, and elements of constants are only looked at when they are
    /// needed.
    ///
    /// # Errors
    /// [`Kind::Io`] if the file cannot be read; whatever is wrong with what it says, with the place in the file.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Model> {
        let path = path.as_ref();
        let files: Arc<dyn Files> = Arc::new(Folder::of(path));
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let model =
            Model::read(&map(path)?, &stem, files, limits).map_err(|error| error.in_file(path.display()))?;
        Ok(Model { file: Some(path.to_owned()), ..model })
    }

    /// Reads a model that stands alone from bytes.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn from_bytes(bytes: &Bytes, limits: &Limits) -> Result<Model> {
        Model::read(bytes, "", Arc::new(InMemory::default()), limits)
    }

    /// Reads a model from bytes; other files have the name `stem` and an ending of their own.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn with_files(bytes: &Bytes, stem: &str, files: Arc<dyn Files>, limits: &Limits) -> Result<Model> {
        Model::read(bytes, stem, files, limits)
    }

    /// A model that was made in memory.
    pub fn from_source(model: graph::Model) -> Model {
        Model {
            source: model,
            file: None,
            bytes: None,
            edited: false,
            files: None,
            beside: String::new(),
            spared: Vec::new(),
        }
    }

    /// The same, converted from another model: saving it leaves that one's files of constants
    /// alone.
    pub(crate) fn converted_from(self, other: &Model) -> Model {
        Model { spared: other.external_files().unwrap_or_default(), ..self }
    }

    /// Returns true if saving must not replace a file.
    pub(crate) fn spares(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        real(path).is_some_and(|path| self.spared.iter().any(|spared| real(spared).as_ref() == Some(&path)))
    }

    /// Reads a model; other files have the name of its own, but for the ending.
    fn read(bytes: &Bytes, stem: &str, files: Arc<dyn Files>, limits: &Limits) -> Result<Model> {
        let parameters = format!("{stem}.pdiparams");
        let beside = format!("{stem}.bin");
        let model = match sniff(bytes) {
            Sniffed::Xml => openvino::read_model(bytes, &beside, &files, limits)?,
            Sniffed::Blocks => paddle::read_desc(bytes, &parameters, &files, limits)?,
            Sniffed::Json => paddle::read_program(bytes, &parameters, &files, limits)?,
            Sniffed::Npy | Sniffed::Zip => {
                return Err(Error::new(Kind::Syntax, "this is a file of arrays, not a model"));
            }
            Sniffed::Other if bytes.is_empty() => return Err(Error::new(Kind::Syntax, "the file is empty")),
            Sniffed::Other => onnx::read_model(bytes, files.clone(), *limits)?,
        };
        let (bytes, files) = (Some(bytes.clone()), Some(files));
        Ok(Model { source: model, file: None, bytes, edited: false, files, beside, spared: Vec::new() })
    }

    /// The model that an edit makes of it, in memory; elements of constants stay in the files that
    /// they are in.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if models like it are not written.
    pub fn edited(&self, edit: &Edit) -> Result<Model> {
        let (bytes, files) = self.file_of()?;
        let (edited, files) = if self.source.standard == Standard::OpenVino {
            let (written, bin) = self.rewritten(edit)?;
            let files: Arc<dyn Files> = Arc::new(Spliced::new(&written.bin, &bin));
            (written.xml.to_bytes(bytes), files)
        } else {
            (onnx::edit_model(bytes, &self.source, edit)?.to_bytes(bytes), files.clone())
        };
        let model = Model::read(&edited.into(), "", files, &Limits::DEFAULT)?;
        Ok(Model { file: self.file.clone(), edited: true, ..model })
    }

    /// The files that an edit makes of an OpenVINO model, and the file of constants that parts of
    /// one are in.
    pub(crate) fn rewritten(&self, edit: &Edit) -> Result<(Written, Bytes)> {
        let (bytes, files) = self.file_of()?;
        let bin = files.open(&self.beside);
        let len = bin.as_ref().map_or(0, Bytes::len);
        match (openvino::edit_model(bytes, len, &self.source, edit), bin) {
            (Ok(written), bin) => Ok((written, bin.unwrap_or_default())),
            // A model without constants needs no such file.
            (Err(_), Err(error)) | (Err(error), Ok(_)) => Err(error),
        }
    }

    /// The name of the file beside it that has its constants.
    pub(crate) fn beside(&self) -> &str {
        &self.beside
    }

    /// The bytes that it was read from, if it is a file that Gradus writes.
    pub fn bytes(&self) -> Option<&Bytes> {
        self.bytes.as_ref()
    }

    /// The file that it was read from.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The file that has its bytes.
    pub(crate) fn unedited_path(&self) -> Option<&Path> {
        self.path().filter(|_| !self.edited)
    }

    /// The file that it is, of a format that Gradus writes, and the files beside it.
    pub(crate) fn file_of(&self) -> Result<(&Bytes, &Arc<dyn Files>)> {
        let standard = self.source.standard;
        if standard == Standard::Paddle {
            return Err(Error::new(Kind::Unsupported, format!("models of {standard} are not written")));
        }
        let file = self.bytes.as_ref().zip(self.files.as_ref());
        file.ok_or_else(|| Error::new(Kind::Unsupported, "only models that were read are edited"))
    }

    /// Values of the main graph that parts of the file mention which are no graph.
    pub(crate) fn mentioned(&self) -> Result<HashSet<String>> {
        let (bytes, _) = self.file_of()?;
        if self.source.standard == Standard::Onnx { onnx::mentioned(bytes) } else { Ok(HashSet::new()) }
    }

    /// Describes what the file says.
    pub fn source(&self) -> &graph::Model {
        &self.source
    }

    /// The main graph.
    pub fn graph(&self) -> &Graph {
        &self.source.graph
    }

    /// The value of that name in the main graph.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there is none, with the names that are near.
    pub fn value(&self, name: &str) -> Result<ValueId> {
        let graph = self.graph();
        let names = |id: ValueId| &*graph.value(id).name;
        graph.find(name).ok_or_else(|| {
            let others = graph.ids().filter(|id| !graph.outputs().contains(id));
            Error::unknown("value", name, graph.outputs().iter().copied().chain(others).map(names))
        })
    }

    /// The input of that name.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there is none, with the names that are near.
    pub fn input(&self, name: &str) -> Result<ValueId> {
        let graph = self.graph();
        let found = graph.find(name).filter(|id| graph.inputs().contains(id));
        let names = graph.inputs().iter().map(|&id| &*graph.value(id).name);
        found.ok_or_else(|| Error::unknown("input", name, names))
    }

    /// Runs the main graph as far as the wanted values need, and gives them by name: the outputs if
    /// none are named.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input that is needed is missing, or a name is not known; [`Kind::Type`] or
    /// [`Kind::Shape`] if an input is not what the model declares; whatever goes wrong in a node, with its name.
    pub fn run(
        &self,
        inputs: &HashMap<String, Value>,
        wanted: &[String],
        options: &RunOptions,
    ) -> Result<Vec<(String, Value)>> {
        let run = || {
            let graph = self.graph();
            let mut given = HashMap::new();
            for (name, value) in inputs {
                given.insert(self.input(name)?, value.clone());
            }
            check_inputs(graph, &given)?;
            let wanted = match wanted {
                [] => graph.outputs().to_vec(),
                names => names.iter().map(|name| self.value(name)).collect::<Result<_>>()?,
            };
            let program = Compiler::new(&self.source, *options).compile(graph, &wanted)?;
            if let Some(missing) = program.missing_inputs(|id| given.contains_key(&id)).next() {
                let info = graph.value(missing);
                let declared =
                    info.declared.as_ref().map_or_else(String::new, |declared| format!(" ({declared})"));
                return Err(Error::new(
                    Kind::Usage,
                    format!("input \"{}\"{declared} is needed, but not given", info.name),
                ));
            }
            let values = graph.inputs().iter().map(|id| given.remove(id)).collect();
            let values = program.run(values, &[], &mut RunState::new(options))?;
            Ok(wanted.iter().map(|&id| graph.value(id).name.to_string()).zip(values).collect())
        };
        run().map_err(|error: Error| match &self.file {
            Some(file) => error.in_file(file.display()),
            None => error,
        })
    }
}

/// Checks inputs against what the model declares: types, ranks, dimensions, and that a symbol is
/// one dimension everywhere.
fn check_inputs(graph: &Graph, given: &HashMap<ValueId, Value>) -> Result<()> {
    let mut bound: HashMap<&str, (usize, &str)> = HashMap::new();
    for &id in graph.inputs() {
        let info = graph.value(id);
        let (Some(value), Some(declared)) = (given.get(&id), &info.declared) else { continue };
        let name = &*info.name;
        if !declared.admits(value) {
            let dtypes_differ = declared.dtype().zip(value.dtype()).is_some_and(|(a, b)| a != b);
            let kind = if dtypes_differ { Kind::Type } else { Kind::Shape };
            return Err(Error::new(
                kind,
                format!("input \"{name}\" is {value}, but the model declares {declared}"),
            ));
        }
        let (Type::Tensor(_, Some(extents)), Value::Tensor(tensor)) = (declared, value) else { continue };
        for (axis, (extent, &len)) in extents.iter().zip(tensor.shape().dims()).enumerate() {
            let Extent::Symbol(symbol) = extent else { continue };
            let (first, by) = *bound.entry(symbol).or_insert((len, name));
            if first != len {
                let message = format!(
                    "axis {axis} of input \"{name}\" is {len}, but \"{symbol}\" is {first} by input \"{by}\""
                );
                return Err(Error::new(Kind::Shape, message));
            }
        }
    }
    Ok(())
}
