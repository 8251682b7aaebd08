//! Runs of two models on the same inputs, and what differs in their outputs.

pub(crate) mod accepted;
mod allowed;
mod case;
mod command;
mod compared;
mod inputs;
mod intervals;
mod own;
mod paired;
pub(crate) mod plan;
mod quantized;
mod refuted;
pub(crate) mod rows;
mod runtime;
mod verdict;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use gradus_core::graph::{Graph, Origin, ValueId};
use gradus_core::{Error, Kind, Result, Value};

use accepted::Accepted;
pub use case::{FailingCase, SavedCase};
pub use command::CommandRuntime;
pub use compared::{ElementDifference, OutputCheck};
pub use intervals::{Interval, Intervals};
pub use own::GradusRuntime;
use paired::{InputPair, Named, OutputPair, input_pairs, output_pairs};
use plan::{Schedule, SizeChoice, TimeBudget};
pub use quantized::{Loss, Quantization, TensorKind, TensorLoss};
pub(crate) use runtime::computed;
pub use runtime::{NodeCheck, Runtime, RuntimeCheck, RuntimeSettings};
pub use verdict::{ErrorPattern, NodeLabel, Verdict, WorstElement};

use crate::model::Model;
use crate::operators::{self, Chance};
use crate::program::RunOptions;
use crate::prove::ProvedOutputs;
use crate::run::Program;
use gradus_engine::infer::{InferOptions, Sizes};

/// Options of [`Model::check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Dimensions and inputs that are the same in all runs.
    pub sizes: Sizes,
    /// The number of runs. Each has random sizes for the open dimensions and random elements; in
    /// every third, floats are zeros, ones, and very large and small numbers.
    pub runs: usize,
    /// The seed of all that is random.
    pub seed: u64,
    /// The time for a proof by [`Model::check`]: outputs that are proved are not run. Zero for
    /// none.
    pub proof: Duration,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions { sizes: Sizes::default(), runs: 5, seed: 1, proof: Duration::from_secs(10) }
    }
}

/// Options of [`Model::verify`] and [`Model::verify_converted`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Dimensions and inputs that are the same in all runs, and what is assumed of sizes.
    pub sizes: Sizes,
    /// The seed of all that is random.
    pub seed: u64,
    /// The time for all comparisons: runs of more sizes are made while they are likely to end
    /// before.
    pub time: Duration,
    /// The time for a proof, which comes first; zero for none.
    pub proof: Duration,
    /// True if outputs that are proved are compared in runs all the same.
    pub runs_proved: bool,
}

impl VerifyOptions {
    /// These options for comparisons that nobody asked for: a proof takes no more time than a fold
    /// or a conversion took and half a second, and so do runs of what is not proved.
    #[must_use]
    pub fn beside(self, work: Duration) -> VerifyOptions {
        let time = work.saturating_add(Duration::from_millis(500));
        VerifyOptions { time, proof: time, runs_proved: false, ..self }
    }

    /// Sizes that are the same in all runs, and the seed.
    pub(crate) fn given(&self) -> (&Sizes, u64) {
        (&self.sizes, self.seed)
    }

    /// Returns true if a proof leaves nothing for runs.
    pub(crate) fn is_settled(&self, proof: Option<&ProvedOutputs>) -> bool {
        !self.runs_proved && proof.is_some_and(ProvedOutputs::is_complete)
    }

    /// Names of outputs that are not run, as they are proved.
    pub(crate) fn spared(&self, proof: Option<&ProvedOutputs>) -> HashSet<String> {
        let proved = proof.filter(|_| !self.runs_proved);
        proved.into_iter().flat_map(ProvedOutputs::proved).map(str::to_owned).collect()
    }
}

impl Default for VerifyOptions {
    fn default() -> VerifyOptions {
        let time = Duration::from_secs(30);
        VerifyOptions { sizes: Sizes::default(), seed: 1, time, proof: time, runs_proved: true }
    }
}

/// The differences that runs of two models show.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// The outputs that are proved to be the same, which are not run; nothing without a proof, or
    /// where proofs are not about models of these standards.
    pub proof: Option<ProvedOutputs>,
    /// The runs that were compared.
    pub runs: usize,
    /// The outputs of the runs in the order of the first model.
    pub outputs: Vec<OutputCheck>,
    /// The first value of both models that differs in the first run that has a difference.
    pub parting: Option<Parting>,
}

impl Check {
    /// Returns true if every output has the same type, shape and bits in all runs.
    pub fn is_same(&self) -> bool {
        self.outputs.iter().all(OutputCheck::is_same)
    }
}

/// A value that both models name, and that differs while all before it agree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parting {
    /// The name of the value.
    pub value: String,
    /// The node that computes it in the first model.
    pub before: String,
    /// The node that computes it in the second model.
    pub after: String,
}

pub(crate) type NamedValues = Vec<(String, Value)>;

/// Inputs for which two models return something else.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Witness {
    /// The inputs of the first model, by name.
    pub inputs: Vec<(String, Value)>,
    /// The outputs that differ.
    pub outputs: Vec<OutputCheck>,
    /// The first value of both models that differs.
    pub parting: Option<Parting>,
}

/// Runs the first model on its inputs, and returns its outputs by name.
type First<'a> = dyn FnMut(&NamedValues) -> Result<HashMap<String, Value>> + 'a;

/// Runs the second model on its inputs, and returns the outputs of these names; nothing if other
/// inputs are to be tried.
type Second<'a> = dyn FnMut(&NamedValues, &[&str]) -> Result<Option<HashMap<String, Value>>> + 'a;

/// The outputs of two models, compared.
pub(crate) struct Compared {
    pub(crate) runs: usize,
    /// The sizes of these runs, each once, in words.
    pub(crate) sizes: Vec<String>,
    pub(crate) outputs: Vec<OutputCheck>,
    /// Why the second model did not run where the first did.
    pub(crate) failed: Option<Error>,
    /// The inputs of both models in the first run that has a difference.
    differing: Option<(NamedValues, NamedValues)>,
}

impl Model {
    /// Compares all outputs of this model and another bit for bit; all NaNs are the same. Outputs
    /// are proved to be the same for all inputs that this model takes, and those that are not are
    /// those of runs on the same random inputs. Inputs and outputs that correspond have one name,
    /// or else one position. The items of a sequence `y` may be outputs `y_0`, `y_1`, or the slices
    /// of a tensor; those of an input are slices. Variables of OpenVINO are inputs, and their next
    /// values outputs.
    ///
    /// ```
    /// use gradus::Model;
    /// let model = Model::open("examples/positions.onnx")?;
    /// let check = model.check(&Model::open("examples/positions.onnx")?, &Default::default())?;
    /// assert!(check.is_same() && check.proof.is_some_and(|proof| proof.is_complete()));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Graph`](gradus_core::Kind::Graph) if inputs or outputs do not correspond;
    /// [`Kind::Usage`](gradus_core::Kind::Usage) if neither model has a dimension that is given; of
    /// the first model, the error of the last run if it runs under no binding; of the second, the error
    /// of a run that the first makes.
    pub fn check(&self, other: &Model, options: &CheckOptions) -> Result<Check> {
        let explicit = |model: &Model| -> Result<Model> {
            Ok(model.without_variables()?.map_or_else(|| model.clone(), |(explicit, _)| explicit))
        };
        let (first, second) = (self.with_given(&options.sizes)?, other.with_given(&options.sizes)?);
        let (first, second) = (explicit(&first)?, explicit(&second)?);
        let known: BTreeSet<_> =
            [&first, &second].into_iter().flat_map(|model| model.dims_of_inputs(&options.sizes)).collect();
        if let Some(name) = options.sizes.dims.keys().find(|name| !known.contains(*name)) {
            return Err(Error::unknown("dimension", name, known.iter().map(String::as_str)));
        }
        let proof = first.prove_outputs(&second, &options.sizes, options.proof);
        if proof.as_ref().is_some_and(ProvedOutputs::is_complete) {
            return Ok(Check { proof, runs: 0, outputs: Vec::new(), parting: None });
        }
        let mut schedule = Schedule::of(plan::usual(options.runs), TimeBudget::UNLIMITED);
        schedule.proved.extend(proof.iter().flat_map(ProvedOutputs::proved).map(str::to_owned));
        let given = (&options.sizes, options.seed);
        let compared = first.compare_planned(&second, given, schedule)?;
        let Compared { runs, outputs, differing, failed, .. } = compared;
        if let Some(error) = failed {
            return Err(error);
        }
        let parting = differing.and_then(|(inputs, renamed)| first.parting(&second, &inputs, &renamed));
        Ok(Check { proof, runs, outputs, parting })
    }

    /// Compares the outputs of both models in these runs, while there is time.
    pub(crate) fn compare_planned(
        &self,
        other: &Model,
        given: (&Sizes, u64),
        schedule: Schedule,
    ) -> Result<Compared> {
        let whole = Schedule { proved: HashSet::new(), ..schedule.clone() };
        let compared = self.compare_outputs(other, given, schedule)?;
        match &compared.differing {
            // Some outputs may run for inputs that the model refuses: these show nothing.
            Some((inputs, _)) if run(&self.program(&[])?, inputs).is_err() => {
                self.compare_outputs(other, given, whole)
            }
            _ => Ok(compared),
        }
    }

    /// Compares the outputs that are not proved.
    fn compare_outputs(&self, other: &Model, given: (&Sizes, u64), schedule: Schedule) -> Result<Compared> {
        let pairs = output_pairs(self.graph(), other.graph())?;
        let pairs: Vec<_> = pairs.iter().filter(|pair| !schedule.skips(pair.name())).collect();
        let names = |of: fn(&OutputPair) -> &Named| -> Vec<_> {
            if schedule.proved.is_empty() {
                return Vec::new();
            }
            pairs.iter().flat_map(|pair| of(pair).names()).collect()
        };
        let first = self.program_within(&names(|pair| &pair.first), &schedule.time)?;
        let second = other.program_within(&names(|pair| &pair.second), &schedule.time)?;
        let mut first = |inputs: &NamedValues| run(&first, inputs);
        let mut second = |inputs: &NamedValues, _: &[&str]| run(&second, inputs).map(Some);
        self.compare_all(other, given, schedule, &mut first, &mut second)
    }

    /// Inputs for which outputs of both models differ, if runs of varied sizes find some in time:
    /// the first, or with `all` the outputs of all runs. Sizes that the second model refuses show
    /// nothing.
    pub(crate) fn witness(
        &self,
        other: &Model,
        options: &VerifyOptions,
        all: bool,
    ) -> Result<(usize, Option<Witness>)> {
        /// Maximum number of runs of each kind of sizes.
        const TURNS: usize = 16;
        let (first, second) = (self.with_given(&options.sizes)?, other.with_given(&options.sizes)?);
        let time = TimeBudget::of(options.time);
        let runs = plan::varied(first.graph(), &options.sizes);
        let runs = (0..TURNS).flat_map(|_| runs.iter().cloned()).collect();
        let schedule = Schedule { goes_on: true, ends: !all, ..Schedule::of(runs, time) };
        let Compared { runs, outputs, differing, failed, .. } =
            first.compare_planned(&second, options.given(), schedule)?;
        if let (Some(error), None, 0) = (failed, &differing, runs) {
            return Err(error);
        }
        let witness = differing.map(|(inputs, renamed)| {
            let parting = first.parting(&second, &inputs, &renamed);
            let outputs = outputs.into_iter().filter(|output| !output.is_same()).collect();
            Witness { inputs, outputs, parting }
        });
        Ok((runs, witness))
    }

    /// Compares the outputs of this model, which `first` returns by name for random inputs, with
    /// those that `second` returns for the other's inputs and names of outputs.
    fn compare_runs(
        &self,
        other: &Model,
        options: &CheckOptions,
        first: &mut First<'_>,
        second: &mut Second<'_>,
    ) -> Result<Compared> {
        let schedule = Schedule::of(plan::usual(options.runs), TimeBudget::UNLIMITED);
        let given = (&options.sizes, options.seed);
        let compared = self.compare_all(other, given, schedule, first, second)?;
        match compared.failed {
            Some(error) => Err(error),
            None => Ok(compared),
        }
    }

    fn compare_all(
        &self,
        other: &Model,
        (given, seed): (&Sizes, u64),
        schedule: Schedule,
        first: &mut First<'_>,
        second: &mut Second<'_>,
    ) -> Result<Compared> {
        let (own, others) = (self.graph(), other.graph());
        let mut outputs = output_pairs(own, others)?;
        outputs.retain(|pair| !schedule.skips(pair.name()));
        let Schedule { runs, mut time, goes_on, ends, .. } = schedule;
        let names: HashMap<String, InputPair> = input_pairs(own, others)?.into_iter().collect();
        let wanted: Vec<_> = outputs.iter().flat_map(|pair| pair.second.names()).collect();
        let mut random = fastrand::Rng::with_seed(seed);
        let checks = outputs.iter().map(|pair| OutputCheck::new(pair.name())).collect();
        let mut compared =
            Compared { runs: 0, sizes: Vec::new(), outputs: checks, failed: None, differing: None };
        let mut refused = None;
        let accepted = Accepted::of(&self.infer(&InferOptions::of(given.clone()))?);
        for planned in &runs {
            for (planned, tried) in planned.tries() {
                let limits = time.limits(self.limits());
                let inputs = self.random_inputs(given, &mut random, (&planned, tried, &accepted), limits)?;
                let Some((inputs, sizes)) = inputs else { continue };
                let elements = inputs.iter().map(|(_, value)| len(value)).fold(0, usize::saturating_add);
                if !time.allows(elements) {
                    break;
                }
                let begin = Instant::now();
                let before = match first(&inputs) {
                    Ok(outputs) => outputs,
                    Err(error) => {
                        refused = Some(error);
                        continue;
                    }
                };
                let renamed = inputs.iter().map(|(name, value)| names[name].given(value));
                let renamed = renamed.collect::<Result<NamedValues>>()?;
                let after = match second(&renamed, &wanted) {
                    Ok(Some(after)) => after,
                    Ok(None) => continue,
                    Err(error) => {
                        // The end of the time says nothing of the model.
                        let is_late = error.kind() == Kind::Limit && time.is_over();
                        let error = in_second(other, error);
                        if is_late {
                            refused = Some(error);
                        } else {
                            compared.failed = Some(error);
                        }
                        break;
                    }
                };
                time.note(begin.elapsed(), elements);
                compared.runs += 1;
                if planned.sizes != SizeChoice::Declared && !compared.sizes.contains(&sizes) {
                    compared.sizes.push(sizes);
                }
                for (output, pair) in compared.outputs.iter_mut().zip(&outputs) {
                    output.add(&pair.first.value(&before), &pair.second.value(&after));
                }
                if compared.differing.is_none() && !compared.outputs.iter().all(OutputCheck::is_same) {
                    compared.differing = Some((inputs, renamed));
                }
                break;
            }
            let is_shown = ends && compared.differing.is_some();
            if is_shown || (compared.failed.is_some() && !goes_on) || time.is_over() {
                break;
            }
        }
        match refused {
            Some(error) if compared.runs == 0 => Err(error),
            _ => Ok(compared),
        }
    }

    fn program(&self, outputs: &[&str]) -> Result<Program> {
        self.program_within(outputs, &TimeBudget::UNLIMITED)
    }

    /// A program whose runs end with the time.
    fn program_within(&self, outputs: &[&str], time: &TimeBudget) -> Result<Program> {
        let options = RunOptions::default().within(time.limits(self.limits()));
        let program = self.compile(outputs, &options);
        program.map_err(|error| match self.path() {
            Some(path) => error.in_file(path.display()),
            None => error,
        })
    }

    /// The first value of both models that differs; nothing if the runs of all values fail.
    fn parting(&self, other: &Model, inputs: &NamedValues, renamed: &NamedValues) -> Option<Parting> {
        let (graph, other_graph) = (self.graph(), other.graph());
        let computed = |id: &ValueId| !graph.value(*id).name.is_empty();
        let outputs = graph.nodes().iter().flat_map(|node| node.outputs.iter().flatten().copied());
        let mut others = HashMap::new();
        for id in other_graph.ids() {
            let info = other_graph.value(id);
            for name in std::iter::once(&*info.name).chain(info.aliases.iter().map(|alias| &**alias)) {
                others.entry(name).or_insert(id);
            }
        }
        let common: Vec<_> = outputs
            .filter(computed)
            .filter_map(|id| Some((id, *others.get(&*graph.value(id).name)?)))
            .collect();
        let names: Vec<_> = common.iter().map(|(id, _)| &*graph.value(*id).name).collect();
        let before = run(&self.program(&names).ok()?, inputs).ok()?;
        let after = run(&other.program(&names).ok()?, renamed).ok()?;
        common.iter().zip(&names).find_map(|(&(id, other_id), &name)| {
            let mut output = OutputCheck::new(name);
            output.add(&before[name], &after[name]);
            let parting = || Parting {
                value: name.to_owned(),
                before: computed_by(graph, id),
                after: computed_by(other_graph, other_id),
            };
            (!output.is_same()).then(parting)
        })
    }
}

/// The number of elements of the tensors of a value.
fn len(value: &Value) -> usize {
    match value {
        Value::Tensor(tensor) => tensor.shape().len(),
        Value::Sequence(items) => items.iter().map(len).fold(0, usize::saturating_add),
        Value::Optional(Some(value)) => len(value),
        Value::Optional(None) | Value::Map(_) => 0,
    }
}

/// Why nothing was compared where the time was over.
pub(crate) const NO_TIME: &str = "no run ended in the time for it";

fn in_second(other: &Model, error: Error) -> Error {
    match other.path() {
        Some(path) => error.in_file(path.display()),
        None => error.map_message(|message| format!("the second model: {message}")),
    }
}

/// Runs a program, and returns its outputs by name.
pub(crate) fn run(program: &Program, inputs: &NamedValues) -> Result<HashMap<String, Value>> {
    let outputs = program.run(inputs.iter().map(|(name, value)| (name, value.clone())))?;
    Ok(outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

/// The node that computes a value, in words.
fn computed_by(graph: &Graph, id: ValueId) -> String {
    match graph.value(id).origin {
        Origin::Node(index, _) => graph.nodes()[index].label(index),
        _ => "no node".to_owned(),
    }
}

/// Returns true if a model has a node that draws numbers at random.
pub(crate) fn draws(model: &Model) -> bool {
    let bodies = model.source().functions.iter().map(|function| &function.body);
    std::iter::once(model.graph()).chain(bodies).any(|graph| is_random(model, graph))
}

/// Returns true if a node of a graph, or of one within, draws numbers at random.
fn is_random(model: &Model, graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| {
        let row = operators::row_of(model.source().standard, node);
        row.is_some_and(|row| row.chance == Chance::Yes) || node.graphs().any(|inner| is_random(model, inner))
    })
}
