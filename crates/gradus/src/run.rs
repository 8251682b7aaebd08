//! Compiled models and the outputs of their runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Index;
use std::rc::Rc;
use std::sync::Arc;

use gradus_core::graph::{Graph, Type, ValueId, ValueInfo};
use gradus_core::{Element, Error, Kind, Limits, Result, Value};

use crate::model::Model;
use crate::program::{Compiler, GraphProgram, NodeRun, Replaces, RunOptions, RunState, Watch};

/// A compiled model: compile it once by [`Model::compile`] and run it many times, from any thread.
///
/// Constants are read in the first run that needs them, and then shared by all programs of the
/// model. Elements that lie in the file as they do in memory are not copied, but for float32 that
/// products multiply: the second run packs them for later ones, in at most a quarter of the memory
/// that the limits allow ([`Limits::max_bytes`](crate::Limits)).
#[derive(Debug)]
pub struct Program {
    model: Model,
    options: RunOptions,
    main: GraphProgram,
    outputs: Vec<ValueId>,
}

const _: () = {
    const fn is_shared_by_threads<T: Send + Sync>() {}
    is_shared_by_threads::<Model>();
    is_shared_by_threads::<Program>();
    is_shared_by_threads::<Outputs>();
    is_shared_by_threads::<gradus_engine::infer::Inference>();
    #[cfg(feature = "fold")]
    is_shared_by_threads::<crate::fold::Folded>();
    #[cfg(feature = "convert")]
    is_shared_by_threads::<crate::conversion::Converted>();
    is_shared_by_threads::<gradus_sequences::RangePlan>();
    is_shared_by_threads::<gradus_sequences::LinspacePlan>();
    is_shared_by_threads::<gradus_sequences::LogspacePlan>();
    is_shared_by_threads::<gradus_sequences::GeomspacePlan>();
};

impl Program {
    /// Compiles a model for the given outputs, or for all of them.
    pub(crate) fn new(model: &Model, outputs: &[&str], options: &RunOptions) -> Result<Program> {
        let options = options.within(options.limits.unwrap_or(model.limits()));
        let compile = || {
            let outputs = match outputs {
                [] => model.graph().outputs().to_vec(),
                names => names.iter().map(|name| model.value(name)).collect::<Result<_>>()?,
            };
            let compiler = Compiler::new(model.source(), model.operators(), options);
            let main = compiler.compile(model.graph(), &outputs)?;
            Ok(Program { model: model.clone(), options, main, outputs })
        };
        compile().map_err(|error| model.in_file(error))
    }

    /// Runs on inputs by name: tensors, values, or references to them.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input that is needed is missing, or a name is not known;
    /// [`Kind::Type`] or [`Kind::Shape`] if an input is not what the model declares; what goes
    /// wrong in a node, with its name.
    pub fn run<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Outputs> {
        self.run_within(inputs, self.options.limits.unwrap_or_default())
    }

    /// Runs as [`Program::run`] does, with other limits than the program was compiled with.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_within<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
        limits: Limits,
    ) -> Result<Outputs> {
        self.run_in(inputs, &mut RunState::new(&self.options.within(limits)))
    }

    /// Runs as [`Program::run`] does, and lists the nodes of the main graph with the time and
    /// memory that each took, in the order in which they ran.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_profiled<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(Outputs, Vec<NodeRun>)> {
        let mut state = RunState::new(&self.options);
        state.watch = Some(Watch::Profile(Vec::new()));
        let outputs = self.run_in(inputs, &mut state)?;
        let Some(Watch::Profile(nodes)) = state.watch else { return Ok((outputs, Vec::new())) };
        Ok((outputs, nodes))
    }

    /// Runs as [`Program::run`] does, with other values in place of those that nodes compute.
    pub(crate) fn run_replaced<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
        values: Rc<RefCell<dyn Replaces>>,
    ) -> Result<Outputs> {
        let mut state = RunState::new(&self.options);
        state.watch = Some(Watch::Replaced(values));
        self.run_in(inputs, &mut state)
    }

    /// The model that was compiled.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The values that a run returns.
    pub(crate) fn values(&self) -> &[ValueId] {
        &self.outputs
    }

    /// The inputs that a run needs besides those of these names, in the order of the model.
    pub fn missing_inputs<'a>(&'a self, given: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = &'a str> {
        let graph = self.model.graph();
        let missing = self.main.missing_inputs(move |id| given(&graph.value(id).name));
        missing.map(move |id| &*graph.value(id).name)
    }

    fn run_in<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
        state: &mut RunState,
    ) -> Result<Outputs> {
        let graph = self.model.graph();
        let run = || {
            let mut given = HashMap::new();
            for (name, value) in inputs {
                let id = self.model.given_input(name.as_ref())?;
                given.insert(id, as_declared(graph.value(id), value.into()));
            }
            check_inputs(graph, &given)?;
            let missing = self.main.missing_inputs(|id| given.contains_key(&id)).map(|id| {
                let info = graph.value(id);
                let declared = info.declared.as_ref().map_or_else(String::new, |of| format!(" ({of})"));
                format!("\"{}\"{declared}", info.name)
            });
            match &missing.collect::<Vec<_>>()[..] {
                [] => {}
                [only] => return Err(Error::new(Kind::Usage, format!("input {only} is missing"))),
                all => return Err(Error::new(Kind::Usage, format!("inputs {} are missing", all.join(", ")))),
            }
            let values = graph.inputs().iter().map(|id| given.remove(id)).collect();
            let values = self.main.run(values, &[], state)?;
            let names = self.outputs.iter().map(|&id| graph.value(id).name.clone());
            Ok(Outputs(names.zip(values).collect()))
        };
        run().map_err(|error| self.model.in_file(error))
    }
}

/// The outputs of a run, in the order of the model or of the names that it was compiled for.
///
/// Index them by name or by number: `outputs["y"]`, `outputs[0]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs(Vec<(Arc<str>, Value)>);

impl Outputs {
    /// The number of outputs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The output of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// Copies the elements of an output into a buffer of the same length.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there is no such output, [`Kind::Type`] if it has another element type or
    /// is no tensor, [`Kind::Shape`] if it has another number of elements.
    ///
    /// ```
    /// let model = gradus::Model::open("examples/range.onnx")?;
    /// let scalar = |x: f32| gradus::Tensor::scalar(x);
    /// let inputs = [("start", scalar(1.0)), ("limit", scalar(2.5)), ("delta", scalar(0.5))];
    /// let outputs = model.run(inputs)?;
    /// let mut positions = [0f32; 3];
    /// outputs.copy_to("positions", &mut positions)?;
    /// assert_eq!(positions, [1.0, 1.5, 2.0]);
    /// assert!(outputs.copy_to("positions", &mut [0f32; 2]).is_err());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn copy_to<T: Element>(&self, name: &str, buffer: &mut [T]) -> Result<()> {
        let names = self.0.iter().map(|(name, _)| &**name);
        let value = self.get(name).ok_or_else(|| Error::unknown("output", name, names))?;
        let elements = value.tensor()?.elements::<T>()?;
        if elements.len() != buffer.len() {
            let what = format_args!("the number of elements of output \"{name}\"");
            return Err(Error::mismatch(Kind::Shape, what, elements.len(), buffer.len()));
        }
        buffer.copy_from_slice(&elements);
        Ok(())
    }

    /// Names and values, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, Value)> {
        self.0.iter()
    }
}

/// Panics if there is no output of that name.
impl Index<&str> for Outputs {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("there is no output \"{name}\""))
    }
}

/// Panics if there are not as many outputs.
impl Index<usize> for Outputs {
    type Output = Value;

    fn index(&self, number: usize) -> &Value {
        &self.0[number].1
    }
}

impl IntoIterator for Outputs {
    type Item = (Arc<str>, Value);
    type IntoIter = std::vec::IntoIter<(Arc<str>, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Outputs {
    type Item = &'a (Arc<str>, Value);
    type IntoIter = std::slice::Iter<'a, (Arc<str>, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A value for an input: an optional holds a value that is given for it.
fn as_declared(input: &ValueInfo, value: Value) -> Value {
    match (&input.declared, value) {
        (Some(Type::Optional(_)), Value::Optional(held)) => Value::Optional(held),
        (Some(Type::Optional(_)), value) => Value::Optional(Some(Box::new(value))),
        (_, value) => value,
    }
}

/// Checks inputs against what the model declares: types, ranks, and sizes that are numbers. Names of
/// sizes hold no run: [`Source::unequal_sizes`](crate::Source::unequal_sizes).
fn check_inputs(graph: &Graph, given: &HashMap<ValueId, Value>) -> Result<()> {
    for &id in graph.inputs() {
        let info = graph.value(id);
        let (Some(value), Some(declared)) = (given.get(&id), &info.declared) else { continue };
        if !declared.admits(value) {
            let dtypes_differ = declared.dtype().zip(value.dtype()).is_some_and(|(a, b)| a != b);
            let kind = if dtypes_differ { Kind::Type } else { Kind::Shape };
            return Err(Error::mismatch(kind, format_args!("input \"{}\"", info.name), value, declared));
        }
    }
    Ok(())
}
