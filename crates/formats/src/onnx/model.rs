//! `ModelProto`: what a file says of itself, its main graph and its functions.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashSet;
use gradus_core::convert::{product, u64_of};
use gradus_core::graph::{Model, Standard};
use gradus_core::{Error, Kind, Limits, Result};

use super::fields::{self, NEWEST_OPSET, model_proto, operator_set_id_proto, string_string_entry_proto};
use super::lists::LongLists;
use super::{function, graph};
use crate::files::Files;
use crate::regions::Regions;
use crate::wire::ByteSpan;

/// The oldest version of the file format that is read: the first with operator sets.
const OLDEST_IR_VERSION: i64 = 3;

/// State that the readers of a model's parts share.
pub(super) struct ModelReader {
    pub(super) files: Arc<dyn Files>,
    pub(super) limits: Limits,
    pub(super) regions: RefCell<Regions>,
    pub(super) lists: RefCell<LongLists>,
    names: RefCell<HashSet<Arc<str>>>,
    memory: Cell<u64>,
}

impl ModelReader {
    /// A reader with access to data files, within limits.
    pub(super) fn new(files: Arc<dyn Files>, limits: Limits) -> ModelReader {
        ModelReader {
            files,
            limits,
            regions: RefCell::default(),
            lists: RefCell::default(),
            names: RefCell::default(),
            memory: Cell::new(0),
        }
    }

    /// Shares the memory of names that occur often: attributes.
    pub(super) fn intern(&self, name: &str) -> Arc<str> {
        let mut names = self.names.borrow_mut();
        if let Some(shared) = names.get(name) {
            return shared.clone();
        }
        let shared: Arc<str> = name.into();
        names.insert(shared.clone());
        shared
    }

    /// Charges the memory of what is read from a span, before it is made: a few bytes of a file can
    /// ask for many.
    pub(super) fn charge(&self, span: ByteSpan<'_>, bytes: usize) -> Result<()> {
        let allowed = self.limits.allow_bytes(self.memory.get(), product(bytes, 1));
        allowed.map_err(|error| error.at(span.position()))?;
        self.memory.set(self.memory.get() + u64_of(bytes));
        Ok(())
    }

    /// Takes back what was charged for memory that is no longer in use.
    pub(super) fn release(&self, bytes: usize) {
        self.memory.set(self.memory.get().saturating_sub(u64_of(bytes)));
    }
}

/// The operator sets that a model or a function imports, by domain.
pub(super) type Opsets = Vec<(Arc<str>, i64)>;

/// Reads a model. Elements of tensors stay in `bytes`, or in the files next to the model, until
/// they are needed.
///
/// # Errors
/// [`Kind::Syntax`] where the bytes are not what the format says, [`Kind::Graph`] where the graph
/// is not well formed, [`Kind::Limit`] where it is too large; all with their place.
pub fn read_model(bytes: &Bytes, files: Arc<dyn Files>, limits: Limits) -> Result<Model> {
    read_with(&ModelReader::new(files, limits), bytes)
}

/// Reads a model that an edit made of another, whose long lists it shares.
///
/// # Errors
/// As [`read_model`].
pub fn read_edited(bytes: &Bytes, files: Arc<dyn Files>, limits: Limits, source: &Model) -> Result<Model> {
    let reader = ModelReader { lists: LongLists::of(source).into(), ..ModelReader::new(files, limits) };
    read_with(&reader, bytes)
}

fn read_with(reader: &ModelReader, bytes: &Bytes) -> Result<Model> {
    let file = ByteSpan::of(bytes);
    let mut model = Model::new(Standard::Onnx);
    let (mut graph, mut functions) = (None, Vec::new());
    let (mut producer, mut producer_version) = ("", "");
    for (index, field) in file.fields().enumerate() {
        let field = field.map_err(|error| match index {
            0 => Error::new(error.kind(), format!("this is not an ONNX model: {}", error.message())),
            _ => error,
        })?;
        match field.number {
            model_proto::IR_VERSION => model.format_version = field.int()?,
            model_proto::PRODUCER_NAME => producer = field.text()?,
            model_proto::PRODUCER_VERSION => producer_version = field.text()?,
            model_proto::OPSET_IMPORT => model.opsets.push(read_opset(field.span()?)?),
            model_proto::METADATA_PROPS => model.metadata.push(read_entry(field.span()?)?),
            model_proto::FUNCTIONS => functions.push(field.span()?),
            model_proto::GRAPH => {
                let span = field.span()?;
                if graph.replace(span).is_some() {
                    return Err(span.error(Kind::Syntax, "the model has a second graph"));
                }
            }
            _ => {}
        }
    }
    check_version(file, model.format_version)?;
    let graph =
        graph.ok_or_else(|| file.error(Kind::Syntax, "this is not an ONNX model: it has no graph"))?;
    format!("{producer} {producer_version}").trim().clone_into(&mut model.producer);
    for span in functions {
        model.functions.push(function::read(reader, span)?);
    }
    model.graph = graph::read(reader, graph, &model.opsets, None)?;
    reader.regions.take().check()?;
    Ok(model)
}

fn check_version(file: ByteSpan<'_>, version: i64) -> Result<()> {
    let newest = fields::NEWEST_IR_VERSION;
    if (OLDEST_IR_VERSION..=newest).contains(&version) {
        return Ok(());
    }
    let message = match version {
        0 => "this is not an ONNX model: it states no IR version".to_owned(),
        _ => format!("the model's IR version is {version}; known are {OLDEST_IR_VERSION} to {newest}"),
    };
    Err(file.error(if version == 0 { Kind::Syntax } else { Kind::Unsupported }, message))
}

/// Reads `OperatorSetIdProto`.
pub(super) fn read_opset(span: ByteSpan<'_>) -> Result<(Arc<str>, i64)> {
    let (mut domain, mut version) = ("", 0);
    for field in span.fields() {
        let field = field?;
        match field.number {
            operator_set_id_proto::DOMAIN => domain = canonical_domain(field.text()?),
            operator_set_id_proto::VERSION => version = field.int()?,
            _ => {}
        }
    }
    if domain.is_empty() && !(1..=NEWEST_OPSET).contains(&version) {
        return Err(span.error(
            Kind::Graph,
            format!("operator set {version} is not known; known are 1 to {NEWEST_OPSET}"),
        ));
    }
    Ok((domain.into(), version))
}

/// The standard's own domain has two names.
pub(super) fn canonical_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// Reads `StringStringEntryProto`.
pub(super) fn read_entry(span: ByteSpan<'_>) -> Result<(String, String)> {
    let (mut key, mut value) = ("", "");
    for field in span.fields() {
        let field = field?;
        match field.number {
            string_string_entry_proto::KEY => key = field.text()?,
            string_string_entry_proto::VALUE => value = field.text()?,
            _ => {}
        }
    }
    Ok((key.to_owned(), value.to_owned()))
}
