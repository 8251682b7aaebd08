//! Test cases of an operator: small models of one node, with hard inputs and the exact outputs, for
//! people who write runtimes.
//!
//! ```
//! use gradus::cases::{Cases, CasesOptions};
//! let mut options = CasesOptions::default();
//! options.count = 3;
//! for case in Cases::new("Softmax", &options)? {
//!     let case = case?;
//!     let outputs = case.model.run(case.inputs.clone())?;
//!     assert_eq!(outputs.len(), case.outputs.len());
//! }
//! # Ok::<(), gradus::Error>(())
//! ```

mod draw;
mod elements;
mod forms;
mod node;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use gradus_core::graph::{Graph, Standard, Type, ValueId};
use gradus_core::{Error, Kind, Limits, Number, Result, Tensor, Value};
use gradus_formats::onnx;

use crate::Sums;
use crate::files::{self, NewFiles};
use crate::model::Model;
use crate::operators::{self, Chance, Row};
use crate::program::RunOptions;
use crate::schema::{Arity, Signature};
use draw::CaseDraw;
#[doc(hidden)]
pub use node::{Draw, RandomNode};

/// Options of [`Cases`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CasesOptions {
    /// The number of cases.
    pub count: usize,
    /// The seed of all that is random. The first cases are the same for any number of cases.
    pub seed: u64,
    /// The operator set; by default that of the newest version of the operator that is not deprecated.
    pub opset: Option<i64>,
    /// The limits of each run.
    pub limits: Limits,
}

impl Default for CasesOptions {
    fn default() -> CasesOptions {
        CasesOptions { count: 100, seed: 1, opset: None, limits: Limits::DEFAULT }
    }
}

type NamedTensors = Vec<(String, Tensor)>;

/// A model of one node with inputs and the exact outputs, each sum of floats rounded once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The name of its folder: "test", the operator, and a number.
    pub name: String,
    /// The model, in memory.
    pub model: Model,
    /// The inputs of the model by name, in its order.
    pub inputs: NamedTensors,
    /// The outputs by name, in the order of the model.
    pub outputs: NamedTensors,
}

impl Case {
    /// Saves the case in a new folder of its name, in the layout of `onnx.backend.test`:
    /// `model.onnx`, and `input_0.pb`, `output_0.pb`, … in `test_data_set_0`.
    ///
    /// # Errors
    /// [`Kind::Io`] if a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let folder = folder.join(&self.name);
        let data = folder.join("test_data_set_0");
        std::fs::create_dir_all(&data).map_err(|error| files::cannot_write(&data, error))?;
        let mut files = NewFiles::default();
        let mut write = |path: &Path, bytes: &[u8]| {
            let failed = |error| files::cannot_write(path, error);
            files.create(path, |out| out.write_all(bytes).map_err(failed))
        };
        write(&folder.join("model.onnx"), &self.model.to_onnx()?)?;
        for (what, tensors) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (index, (name, tensor)) in tensors.iter().enumerate() {
                let bytes = onnx::encode_tensor(name, tensor)?;
                write(&data.join(format!("{what}_{index}.pb")), &bytes)?;
            }
        }
        files.commit()
    }
}

/// An iterator over test cases of an operator.
#[derive(Debug)]
pub struct Cases {
    row: &'static Row,
    signature: &'static Signature,
    opset: i64,
    options: CasesOptions,
    random: fastrand::Rng,
    made: usize,
    /// The digests of the cases so far.
    known: HashSet<u64>,
    failed: bool,
}

/// Maximum number of nodes that are tried for a case.
const MAX_TRIES: usize = 4_000;
/// Maximum number of elements of the outputs of a case.
const MAX_ELEMENTS: usize = 1 << 12;

impl Cases {
    /// The cases of an operator of ONNX: `Add`, or with its domain, `ai.onnx.ml.Scaler`.
    ///
    /// # Errors
    /// [`Kind::Usage`] if no operator is called that, or the operator set lacks it;
    /// [`Kind::Unsupported`] if Gradus does not run it, or its outputs are random.
    pub fn new(operator: &str, options: &CasesOptions) -> Result<Cases> {
        let row = row(operator)?;
        let refused =
            |what: &str| Error::new(Kind::Unsupported, format!("cannot make cases of {operator}: {what}"));
        if !row.is_evaluated() {
            return Err(refused("Gradus does not run it"));
        }
        if row.chance == Chance::Yes || row.stateful {
            return Err(refused("its outputs depend on more than its inputs"));
        }
        let signature = match options.opset {
            Some(opset) => row.signature_in(opset),
            None => row.signatures().iter().rev().find(|it| !it.deprecated),
        };
        let signature = signature.filter(|it| !it.deprecated).ok_or_else(|| {
            let opset = options.opset.map_or_else(|| "the newest".to_owned(), |opset| opset.to_string());
            let what = format_args!("the operator set for {operator}");
            Error::mismatch(Kind::Usage, what, opset, "one that has the operator")
        })?;
        let opset = options.opset.unwrap_or(signature.since);
        Ok(Cases {
            row,
            signature,
            opset,
            options: options.clone(),
            random: fastrand::Rng::with_seed(options.seed),
            made: 0,
            known: HashSet::new(),
            failed: false,
        })
    }

    /// The name of the operator.
    pub fn operator(&self) -> &'static str {
        self.row.name
    }

    /// The version of the operator.
    pub fn version(&self) -> i64 {
        self.signature.since
    }

    /// The operator set of the models.
    pub fn opset(&self) -> i64 {
        self.opset
    }

    /// A node that runs, whose results depend little on the order of sums, and that no earlier case has.
    fn case(&mut self) -> Result<Case> {
        for _ in 0..MAX_TRIES {
            self.options.limits.check()?;
            if let Some(case) = self.tried()? {
                return Ok(case);
            }
        }
        let what = format!("cannot make cases of {}: number of cases", self.row.name);
        Err(Error::mismatch(Kind::Unsupported, what, self.made, self.options.count))
    }

    /// A random node, if it runs.
    fn tried(&mut self) -> Result<Option<Case>> {
        let mut draw = CaseDraw::new(&mut self.random, (self.row, self.signature));
        let node = RandomNode::new(&mut self.random, self.row, self.signature, &mut draw)?;
        let mut source = node.model.source().clone();
        source.opsets = vec![(self.row.domain.into(), self.opset)];
        let Some(outputs) = self.run(&Model::from_source(source.clone()), &node.values, Sums::Exact) else {
            return Ok(None);
        };
        let elements: usize = outputs.iter().map(|(_, tensor)| tensor.len()).sum();
        let is_dull = elements == 0 && self.random.usize(..8) > 0;
        if elements > MAX_ELEMENTS || is_dull || !has_types(self.signature, &source.graph, &outputs) {
            return Ok(None);
        }
        let before = source.graph.clone();
        source.graph.declare(&mut |_, id| {
            let info = before.value(id);
            let output = outputs.iter().find(|(name, _)| **name == *info.name);
            output.map_or(info.declared.clone(), |(_, it)| Some(Type::tensor(it.dtype(), it.shape())))
        });
        // Nodes that ONNX cannot say are none of ONNX.
        let Ok(bytes) = Model::from_source(source).to_onnx() else { return Ok(None) };
        let Ok(model) = Model::from_bytes(&bytes) else { return Ok(None) };
        let names = model.graph().inputs().iter().map(|&id| model.graph().value(id).name.to_string());
        let inputs: Vec<_> = names
            .filter_map(|name| Some((node.values.get(&name)?.tensor().ok()?.clone(), name)))
            .map(|(tensor, name)| (name, tensor))
            .collect();
        let near =
            |sums: NamedTensors| sums.iter().zip(&outputs).all(|(sum, exact)| is_near(&sum.1, &exact.1));
        if !self.known.insert(digest(&bytes, &inputs))
            || !self.run(&model, &node.values, Sums::Float32).is_some_and(near)
        {
            return Ok(None);
        }
        let name = format!("test_{}_{:04}", self.row.name.to_lowercase(), self.made);
        Ok(Some(Case { name, model, inputs, outputs }))
    }

    /// The outputs of a model, if it runs and all are tensors.
    fn run(&self, model: &Model, inputs: &HashMap<String, Value>, sums: Sums) -> Option<NamedTensors> {
        let mut options = RunOptions::default().within(self.limits());
        options.sums = sums;
        let outputs = model.compile(&[], &options).and_then(|program| program.run(inputs.clone())).ok()?;
        let tensor =
            |(name, value): &(Arc<str>, Value)| Some((name.to_string(), value.tensor().ok()?.clone()));
        outputs.iter().map(tensor).collect()
    }

    /// The limits of a run: small nodes need little.
    fn limits(&self) -> Limits {
        let mut limits = self.options.limits;
        limits.max_bytes = limits.max_bytes.min(1 << 24);
        limits.max_steps = limits.max_steps.min(10_000);
        limits.max_work = limits.max_work.min(1 << 24);
        limits
    }
}

impl Iterator for Cases {
    type Item = Result<Case>;

    fn next(&mut self) -> Option<Result<Case>> {
        if self.failed || self.made == self.options.count {
            return None;
        }
        let case = self.case();
        self.failed = case.is_err();
        self.made += 1;
        Some(case)
    }
}

/// The row of an operator of ONNX by its name, or its domain and name.
fn row(operator: &str) -> Result<&'static Row> {
    let of_onnx = || operators::all().filter(|row| row.standard == Standard::Onnx);
    let domain_and_name = operator.rsplit_once('.');
    let found = match domain_and_name {
        Some((domain, name)) => operators::row(Standard::Onnx, domain, name),
        None => operators::row(Standard::Onnx, "", operator)
            .or_else(|| of_onnx().find(|row| row.name == operator)),
    };
    found.ok_or_else(|| Error::unknown("operator", operator, of_onnx().map(|row| row.name)))
}

/// Returns true if the outputs of a node have types of its signature.
fn has_types(signature: &Signature, graph: &Graph, outputs: &NamedTensors) -> bool {
    let mut types = HashMap::new();
    let dtype_of = |id: ValueId| match (graph.constant(id), &graph.value(id).declared) {
        (Some(constant), _) => Some(constant.dtype()),
        (None, Some(Type::Tensor(dtype, _))) => *dtype,
        _ => None,
    };
    let inputs = graph.nodes()[0].inputs.iter().enumerate();
    for (index, dtype) in inputs.filter_map(|(index, id)| Some((index, dtype_of((*id)?)?))) {
        types.extend(Signature::param(signature.inputs, index).map(|param| (param.variable, dtype)));
    }
    outputs.iter().enumerate().all(|(index, (_, tensor))| {
        let dtype = tensor.dtype();
        Signature::param(signature.outputs, index).is_some_and(|param| {
            let is_free =
                param.variable.is_empty() || matches!(param.arity, Arity::Many { alike: false, .. });
            let of_variable = if is_free { dtype } else { *types.entry(param.variable).or_insert(dtype) };
            param.types.tensor.contains(dtype) && of_variable == dtype
        })
    })
}

/// Returns true if sums in another precision give about the same, so that a program that adds in
/// any order passes: no cancellation, and no overflow that others lack.
fn is_near(sum: &Tensor, exact: &Tensor) -> bool {
    let (Ok(sums), Ok(exact)) = (sum.numbers(), exact.numbers()) else { return true };
    sums.zip(exact).all(|pair| match pair {
        (Number::Float(sum), Number::Float(exact)) => {
            let is_same = sum == exact || (sum.is_nan() && exact.is_nan());
            is_same || (sum - exact).abs() <= 1e-4 * exact.abs()
        }
        _ => true,
    })
}

/// A number that tells cases apart.
fn digest(model: &[u8], inputs: &[(String, Tensor)]) -> u64 {
    let mut hasher = DefaultHasher::new();
    model.hash(&mut hasher);
    for (_, tensor) in inputs {
        tensor.bytes().map(AsRef::as_ref).hash(&mut hasher);
        tensor.texts().ok().hash(&mut hasher);
    }
    hasher.finish()
}
