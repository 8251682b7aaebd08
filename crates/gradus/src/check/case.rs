//! The first node that a runtime computes beyond its bound, as a model of its own.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use gradus_core::graph::{self, Builder, Node, Origin, Slots, Standard, Type};
use gradus_core::{Error, Kind, Limits, Result, Value};
use gradus_formats::numpy;

use super::rows::{RowAxis, woven};
use super::runtime::Forced;
use super::{ErrorPattern, NamedValues, NodeLabel, Runtime, Verdict};
use crate::files::{self, NewFiles, PrivateFolder};
use crate::model::{Model, OpenOptions};
use crate::program::NodeDone;

/// A value that a runtime computes beyond its bound, with the inputs of its node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailingCase {
    /// The node in words, with its operator.
    pub node: String,
    /// The name of the value.
    pub value: String,
    pub(super) index: usize,
    model: Model,
    /// The model that this one was compared with.
    pub(super) compared: Model,
    /// The inputs of the node, by name.
    inputs: NamedValues,
}

/// A case that was saved.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SavedCase {
    /// Rows of the inputs that are left, if they were dropped.
    pub rows: Option<(usize, usize)>,
    /// True if the runtime computes the node alone beyond its bound as well.
    pub fails_alone: bool,
    /// The cause of the errors of the node alone, if their pattern tells it.
    pub pattern: Option<ErrorPattern>,
}

impl FailingCase {
    /// A node of a model that has run.
    pub(super) fn new(model: &Model, done: &NodeDone<'_>, value: &str) -> FailingCase {
        let graph = model.graph();
        let named = graph.nodes()[done.index].inputs.iter().zip(done.inputs);
        let named =
            named.filter_map(|(id, value)| Some((graph.value((*id)?).name.to_string(), value.clone()?)));
        let mut known = HashSet::new();
        let inputs = named.filter(|(name, _)| known.insert(name.clone())).collect();
        let (node, value) = (done.label.to_owned(), value.to_owned());
        FailingCase { node, value, index: done.index, model: model.clone(), compared: model.clone(), inputs }
    }

    /// Saves the node alone as `model.onnx`, with the constants that it reads, and its other inputs
    /// as `inputs.npz`. Rows that these inputs share are dropped while the runtime still computes
    /// the value beyond its bound.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the node is none of ONNX, has graphs, or has inputs that are no
    /// tensors; [`Kind::Usage`] if a file would replace one of the models that were compared, or
    /// their constants; [`Kind::Io`] if a file cannot be written; [`Kind::Limit`].
    pub fn save(&self, folder: &Path, runtime: &dyn Runtime) -> Result<SavedCase> {
        let paths = ["model.onnx", "inputs.npz"].map(|name| folder.join(name));
        for path in &paths {
            self.model.check_other_output(path)?;
            self.compared.check_other_output(path)?;
        }
        let io = |error: std::io::Error| files::cannot_write(folder, error);
        std::fs::create_dir_all(folder).map_err(io)?;
        let verdict = |inputs: &NamedValues| self.verdict(inputs, runtime);
        let found = verdict(&self.inputs)?;
        let mut inputs = self.inputs.clone();
        let rows = if found.is_some() { self.dropped(&mut inputs, &verdict)? } else { None };
        let alone = self.alone(&inputs)?;
        alone.save(&paths[0])?;
        let given = given(&alone, &inputs);
        let arrays = given.iter().map(|(name, value)| Ok((name.as_str(), value.tensor()?)));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let mut files = NewFiles::default();
        files.create(&paths[1], |file| numpy::write_npz(arrays, file))?;
        files.commit()?;
        Ok(SavedCase { rows, fails_alone: found.is_some(), pattern: found.and_then(|it| it.pattern) })
    }

    /// The verdict about the node alone, if the runtime computes it beyond the bound of its inputs.
    fn verdict(&self, inputs: &NamedValues, runtime: &dyn Runtime) -> Result<Option<Verdict>> {
        let limits = self.model.limits();
        limits.check()?;
        let alone = self.alone(inputs)?;
        let io = |error: std::io::Error| Error::new(Kind::Io, error.to_string()).with_source(error);
        let folder = PrivateFolder::new(&std::env::temp_dir()).map_err(io)?;
        let file = folder.path().join("model.onnx");
        alone.save(&file)?;
        let inputs = given(&alone, inputs);
        let Ok(values) = runtime.run(&file, &inputs, &[&self.value]) else { return Ok(None) };
        let Some(Some(value)) = values.into_iter().next() else { return Ok(None) };
        let mut forced = Forced::of(&alone);
        let slot = alone.value(&self.value)?.index();
        forced.given = HashMap::from([(slot, (self.value.clone(), value))]);
        let forced = Rc::new(RefCell::new(forced));
        if alone.program(&[])?.run_replaced(inputs.iter().cloned(), forced.clone()).is_err() {
            return Ok(None);
        }
        let forced = forced.borrow();
        let verdict = forced.nodes.get(&slot).map(|check| &check.verdict);
        Ok(verdict.filter(|it| it.label == NodeLabel::Beyond).cloned())
    }

    /// The model of the node alone.
    fn alone(&self, inputs: &NamedValues) -> Result<Model> {
        let source = self.model.source();
        let graph = &source.graph;
        let node = &graph.nodes()[self.index];
        if source.standard != Standard::Onnx || node.graphs().next().is_some() {
            let found = format_args!("{} ({})", self.node, source.standard);
            let what = "cannot save the failing node alone: it";
            return Err(Error::mismatch(Kind::Unsupported, what, found, "a node of ONNX without graphs"));
        }
        let mut builder = Builder::new("case");
        for (name, value) in inputs {
            let is_constant = graph.find(name).is_some_and(|id| graph.constant(id).is_some());
            let tensor = value.tensor()?;
            let id = if is_constant {
                builder.constant(name, tensor.clone().into())?
            } else {
                builder.define(name, Origin::Input)?
            };
            builder.info(id).declared = Some(Type::tensor(tensor.dtype(), tensor.shape()));
        }
        let name = |id: Option<graph::ValueId>| id.map_or("", |id| &*graph.value(id).name);
        let operands: Slots =
            node.inputs.iter().map(|&id| id.and_then(|id| builder.find(&graph.value(id).name))).collect();
        let outputs: Vec<_> = node.outputs.iter().map(|&id| name(id)).collect();
        let alone = Node { inputs: operands, outputs: Slots::new(), position: None, ..node.clone() };
        builder.push(alone, &outputs)?;
        outputs.iter().filter(|name| !name.is_empty()).for_each(|name| {
            builder.output(name);
        });
        let mut model = graph::Model::new(Standard::Onnx);
        model.opsets.clone_from(&source.opsets);
        model.functions.clone_from(&source.functions);
        model.graph = builder.finish()?;
        Ok(OpenOptions::new().limits(self.model.limits()).from_source(model))
    }

    /// Drops rows of the inputs, first halves and then smaller pieces, while the case fails: the
    /// numbers of rows before and after.
    fn dropped(
        &self,
        inputs: &mut NamedValues,
        verdict: &dyn Fn(&NamedValues) -> Result<Option<Verdict>>,
    ) -> Result<Option<(usize, usize)>> {
        /// Maximum number of runs that look for a smaller case.
        const MAX_TRIES: usize = 40;
        let graph = self.model.graph();
        let rows_of = |(name, value): &(String, Value), axis: usize| {
            let is_constant = graph.find(name).is_some_and(|id| graph.constant(id).is_some());
            let tensor = value.tensor().ok().filter(|_| !is_constant)?;
            tensor.shape().dims().get(axis).copied()
        };
        // The first axis that has more than one row.
        let most = |axis| inputs.iter().filter_map(|input| rows_of(input, axis)).max();
        let found = (0..).map_while(|axis| Some((axis, most(axis)?))).find(|&(_, rows)| rows > 1);
        let Some((axis, before)) = found else { return Ok(None) };
        let mut kept: Vec<usize> = (0..before).collect();
        let all = inputs.clone();
        let (mut piece, mut tries) = (before.div_ceil(2), 0);
        let mut at = 0;
        while kept.len() > 1 && tries < MAX_TRIES {
            let mut fewer = kept.clone();
            fewer.drain(at..kept.len().min(at + piece));
            tries += 1;
            let candidate = with_rows(&all, &fewer, axis, |input| rows_of(input, axis) == Some(before))?;
            if !fewer.is_empty() && verdict(&candidate)?.is_some() {
                (kept, *inputs) = (fewer, candidate);
            } else {
                at += piece;
            }
            if at >= kept.len() {
                if piece == 1 {
                    break;
                }
                (piece, at) = (piece.div_ceil(2), 0);
            }
        }
        Ok(Some((before, kept.len())))
    }
}

/// The values of the inputs of a model that are no constants.
fn given(alone: &Model, inputs: &NamedValues) -> NamedValues {
    let graph = alone.graph();
    let names: HashSet<_> = graph.inputs().iter().map(|&id| &*graph.value(id).name).collect();
    inputs.iter().filter(|(name, _)| names.contains(name.as_str())).cloned().collect()
}

/// Inputs of which some have only these rows of an axis.
fn with_rows(
    inputs: &NamedValues,
    rows: &[usize],
    axis: usize,
    has_rows: impl Fn(&(String, Value)) -> bool,
) -> Result<NamedValues> {
    let fewer = |input: &(String, Value)| {
        if !has_rows(input) {
            return Ok(input.clone());
        }
        let tensor = input.1.tensor()?;
        let picks: Vec<_> = rows.iter().map(|&row| (0, row)).collect();
        let fewer = woven([tensor, tensor], RowAxis { axis, each: 1 }, &picks, &Limits::DEFAULT)?;
        Ok((input.0.clone(), fewer.into()))
    };
    inputs.iter().map(fewer).collect()
}
