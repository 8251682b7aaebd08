//! The model that is audited: its dimensions, and the random inputs that pairs are made of.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::ValueId;
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Limits, Result, Value};
use gradus_engine::infer::{InferOptions, Inference, InputFact};

use super::AuditOptions;
use super::axes::axis_of;
use crate::check::accepted::Accepted;
use crate::check::plan::{MAX_TRIES, PlannedRun, SIZES, SizeChoice, open_names};
use crate::check::rows::{RowAxis, woven};
use crate::check::{NamedValues, Runtime};
use crate::dim::Dim;
use crate::model::Model;

/// A model, the runtime, and what inference says of the shapes.
pub(super) struct Subject<'a> {
    pub(super) model: &'a Model,
    pub(super) runtime: &'a dyn Runtime,
    pub(super) options: &'a AuditOptions,
    pub(super) file: &'a Path,
    pub(super) inference: Inference,
    /// The dimension that counts rows, or why there is none.
    pub(super) batch: std::result::Result<String, String>,
}

/// Random inputs, and others of the same sizes.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) inputs: NamedValues,
    pub(super) others: NamedValues,
    /// The number of rows of both; 1 without a batch.
    pub(super) rows: usize,
    /// The sizes of the dimensions that inputs have.
    pub(super) numbers: BTreeMap<String, i64>,
}

impl<'a> Subject<'a> {
    /// The model, with the dimension that counts its rows.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the options name a dimension that inputs lack; [`Kind::Unsupported`] if
    /// the model is in no file.
    pub(super) fn new(
        model: &'a Model,
        runtime: &'a dyn Runtime,
        options: &'a AuditOptions,
    ) -> Result<Subject<'a>> {
        let file = model.file()?;
        let mut sizes = options.sizes.clone();
        // The values of an input must not fix what its shape leaves open.
        sizes.inputs.retain(|_, given| matches!(given, InputFact::Type(_)));
        let inference = model.infer(&InferOptions::of(sizes))?;
        let none = Err(String::new());
        let mut subject = Subject { model, runtime, options, file, inference, batch: none };
        subject.batch = match &options.batch {
            Some(name) if subject.input_symbols().contains(name) => Ok(name.clone()),
            Some(name) => {
                let symbols = subject.input_symbols();
                let known = symbols.iter().map(String::as_str);
                return Err(Error::unknown("dimension of the inputs", name, known));
            }
            None => subject.shared_symbol(),
        };
        Ok(subject)
    }

    /// The limits of the model.
    pub(super) fn limits(&self) -> Limits {
        self.model.limits()
    }

    /// The inputs that take values.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (ValueId, &str)> {
        let graph = self.model.graph();
        let given = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
        given.map(|&id| (id, &*graph.value(id).name))
    }

    /// The outputs, in the order of the model.
    pub(super) fn outputs(&self) -> Vec<(ValueId, &str)> {
        let graph = self.model.graph();
        graph.outputs().iter().map(|&id| (id, &*graph.value(id).name)).collect()
    }

    /// The dimensions of an input.
    pub(super) fn dims(&self, id: ValueId) -> &[Dim] {
        let fact = self.inference.fact(id).as_tensor();
        fact.and_then(|fact| fact.dims.as_deref()).unwrap_or_default()
    }

    /// The name of a dimension that is only a name.
    pub(super) fn symbol(&self, dim: Dim) -> Option<&str> {
        self.inference.symbols().as_symbol(dim).map(|symbol| &*symbol.name)
    }

    /// The names of the dimensions of inputs, those of first axes first.
    pub(super) fn input_symbols(&self) -> Vec<String> {
        let mut found: Vec<_> = self
            .inputs()
            .flat_map(|(id, _)| self.dims(id).iter().enumerate())
            .filter_map(|(axis, &dim)| Some((axis, self.symbol(dim)?.to_owned())))
            .collect();
        found.shared_sort_by_key(|(axis, _)| *axis);
        let mut seen = HashSet::new();
        found.into_iter().map(|(_, name)| name).filter(|name| seen.insert(name.clone())).collect()
    }

    /// The dimension of inputs that most outputs have; the name `batch` or the first axis decides
    /// between several.
    fn shared_symbol(&self) -> std::result::Result<String, String> {
        let symbols = self.input_symbols();
        let numbers: BTreeMap<_, _> = symbols.iter().map(|name| (name.clone(), 7)).collect();
        let outputs = self.outputs();
        let count = |name: &str| {
            let has = |(id, _): &&(ValueId, &str)| axis_of(&self.inference, *id, name, &numbers).is_some();
            outputs.iter().filter(has).count()
        };
        let rank = |name: &&String| (count(name), name.to_lowercase().contains("batch"));
        // The first of equal rank.
        let best = symbols.iter().rev().max_by_key(rank).filter(|name| count(name) > 0);
        best.cloned().ok_or_else(|| {
            if symbols.is_empty() {
                self.fixed()
            } else {
                "no dimension of an input is one of an output; --batch names one".to_owned()
            }
        })
    }

    /// The words about a model whose sizes are fixed, with the edit that makes the first axes open.
    fn fixed(&self) -> String {
        let size = |dim: &Dim| dim.known().map_or_else(|| "?".to_owned(), |size| size.to_string());
        let open = self.inputs().filter_map(|(id, name)| {
            let rest = self.dims(id).get(1..)?.iter().map(size);
            Some(format!(
                " --dynamic {name}={}",
                std::iter::once("batch".to_owned()).chain(rest).collect::<Vec<_>>().join(",")
            ))
        });
        let open: String = open.collect();
        if open.is_empty() {
            return "no input has an axis".to_owned();
        }
        format!(
            "all sizes of inputs are fixed; `gradus edit {}{open} -o OUT` makes one open",
            self.file.display()
        )
    }

    /// The axis of a value along which it has elements for each index of a dimension.
    pub(super) fn axis(&self, id: ValueId, name: &str, base: &Base) -> Option<RowAxis> {
        axis_of(&self.inference, id, name, &base.numbers)
    }

    /// Random inputs that the runtime runs, and others, for each run of the options.
    ///
    /// # Errors
    /// The last error of the runtime, if it refuses all inputs of a run; as
    /// [`Model::random_inputs`].
    pub(super) fn bases(&self) -> Result<Vec<Base>> {
        let mut random = fastrand::Rng::with_seed(self.options.seed);
        let accepted = Accepted::of(&self.inference);
        let names: Vec<_> = self.outputs().into_iter().map(|(_, name)| name).collect();
        let mut sizes = self.options.sizes.clone();
        if let Ok(batch) = &self.batch
            && open_names(self.model.graph(), &sizes).contains(batch)
        {
            sizes.dims.insert(batch.clone(), i64_of(self.options.rows));
        }
        let mut draw = |sizes: &_, tried| {
            let planned = PlannedRun::plain(SizeChoice::Between(SIZES));
            let drawn =
                self.model.random_inputs(sizes, &mut random, (&planned, tried, &accepted), self.limits())?;
            Ok::<_, Error>(drawn.map(|(inputs, _)| inputs))
        };
        let mut bases = Vec::new();
        for _ in 0..self.options.runs {
            let mut refused = Error::new(Kind::Unsupported, "no sizes meet the conditions of the model");
            for tried in 0..MAX_TRIES {
                self.limits().check()?;
                let Some(inputs) = draw(&sizes, tried)? else { continue };
                if let Err(error) = self.runtime.run(self.file, &inputs, &names) {
                    refused = error;
                    continue;
                }
                let numbers = self.numbers(&inputs);
                let mut same = sizes.clone();
                same.dims.extend(numbers.iter().map(|(name, &size)| (name.clone(), size)));
                let others = draw(&same, tried)?.unwrap_or_else(|| inputs.clone());
                let rows = self.batch.as_ref().ok().and_then(|name| usize_of_i64(*numbers.get(name)?));
                bases.push(Base { inputs, others, rows: rows.unwrap_or(1), numbers });
                break;
            }
            if bases.is_empty() {
                return Err(refused);
            }
        }
        Ok(bases)
    }

    /// The sizes of the dimensions of these inputs, by name.
    pub(super) fn numbers(&self, inputs: &NamedValues) -> BTreeMap<String, i64> {
        let mut numbers = BTreeMap::new();
        for (id, name) in self.inputs() {
            let Some(Value::Tensor(tensor)) = value(inputs, name) else { continue };
            for (&dim, size) in self.dims(id).iter().zip(tensor.shape().to_i64()) {
                if let Some(symbol) = self.symbol(dim) {
                    numbers.entry(symbol.to_owned()).or_insert(size);
                }
            }
        }
        numbers
    }

    /// Inputs of which each row is one of the base: of its inputs (0) or the others (1); without a
    /// batch, one of both.
    pub(super) fn rows(&self, base: &Base, picks: &[(usize, usize)]) -> Result<NamedValues> {
        let Ok(batch) = &self.batch else {
            let is_other = picks.iter().all(|(source, _)| *source == 1);
            return Ok(if is_other { &base.others } else { &base.inputs }.clone());
        };
        self.along(base, batch, picks)
    }

    /// Inputs of which the elements along a dimension are those of the base at these indices, each
    /// of its inputs (0) or the others (1). Inputs without the dimension are those of the base.
    pub(super) fn along(&self, base: &Base, name: &str, picks: &[(usize, usize)]) -> Result<NamedValues> {
        let pick = |(id, input): (ValueId, &str)| {
            let Some(own) = value(&base.inputs, input) else { return Ok(None) };
            let picked = match (self.axis(id, name, base), own, value(&base.others, input)) {
                (Some(axis), Value::Tensor(own), Some(Value::Tensor(other)))
                    if own.shape() == other.shape() =>
                {
                    woven([own, other], axis, picks, &self.limits())?.into()
                }
                _ => own.clone(),
            };
            Ok(Some((input.to_owned(), picked)))
        };
        self.inputs().filter_map(|input| pick(input).transpose()).collect()
    }
}

/// The value of a name.
pub(super) fn value<'v>(values: &'v NamedValues, name: &str) -> Option<&'v Value> {
    values.iter().find(|(of, _)| of == name).map(|(_, value)| value)
}
