//! Proofs that two models are the same for all inputs and sizes, and witnesses that they are not.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Standard, Type, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Limits, Result};
use gradus_proof::ProofOptions;
pub use gradus_proof::{Law, Proof, Side, Unproved, UpTo, laws};

use crate::check::{OutputCheck, VerifyOptions, Witness, draws};
use crate::conversion::ConvertOptions;
use crate::dim::Dim;
use crate::fact::{Dims, TensorFact};
use crate::model::Model;
use gradus_engine::infer::{InferOptions, InputFact, Sizes, nameless_axes, symbols_of_inputs};

/// Options of [`Model::prove`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProveOptions {
    /// Sizes of inputs, and what is assumed of them: the proof is about these alone.
    pub sizes: Sizes,
    /// The seed of the inputs that are tried where there is no proof.
    pub seed: u64,
    /// The time for runs that look for a witness where there is no proof.
    pub time: Duration,
    /// Limits of the proof; if none are given, those of the first model.
    pub limits: Option<Limits>,
    /// True if the steps of a complete proof are wanted as a [certificate](Proof::certificate).
    pub certificate: bool,
    /// The difference that equal outputs may have; by default nothing.
    pub up_to: UpTo,
}

impl Default for ProveOptions {
    fn default() -> ProveOptions {
        let time = Duration::from_secs(30);
        let (sizes, up_to) = (Sizes::default(), UpTo::Bits);
        ProveOptions { sizes, seed: 1, time, limits: None, certificate: false, up_to }
    }
}

impl ProveOptions {
    fn of_proof(&self, first: &Model) -> ProofOptions {
        let mut given = ProofOptions::of(self.sizes.clone(), self.limits.or(Some(first.limits())));
        (given.certificate, given.up_to) = (self.certificate, self.up_to);
        given
    }
}

/// Replays the certificate of a proof: nothing is searched, and nothing that the certificate says
/// is believed. Sizes and limits are to be those of the proof.
///
/// ```
/// use gradus::Model;
/// use gradus::prove::{ProveOptions, verify};
/// let model = Model::open("../../examples/heads.onnx")?;
/// let folded = model.edited(&model.fold(&Default::default())?.model)?;
/// let mut options = ProveOptions::default();
/// options.certificate = true;
/// let proof = model.prove(&folded, &options)?.proof.unwrap();
/// let certificate = proof.certificate.unwrap();
/// assert!(verify(&model, &folded, &certificate, &options)?.is_complete());
/// let changed = certificate.replacen("\"call\":1", "\"call\":2", 1);
/// assert!(verify(&model, &folded, &changed, &options).is_err());
/// # Ok::<(), gradus::Error>(())
/// ```
///
/// # Errors
/// [`Kind::Syntax`] and [`Kind::Value`] with the line of the certificate that is refused: one of
/// other models, options or another version of Gradus, and any that was changed;
/// [`Kind::Unsupported`] if the models do not go together; [`Kind::Limit`] at the end of the time.
pub fn verify(first: &Model, second: &Model, certificate: &str, options: &ProveOptions) -> Result<Proof> {
    in_onnx([first, second], |first, second| {
        gradus_proof::verify(first, second, certificate, &options.of_proof(first))
    })
}

/// A proof of models in ONNX's operators: those of another standard mean what conversion writes for
/// them, and the proof tells where that is not the same to the bit.
fn in_onnx(models: [&Model; 2], prove: impl Fn(&Model, &Model) -> Result<Proof>) -> Result<Proof> {
    let mut readings = Vec::new();
    let mut read = |model: &Model| {
        if model.source().standard == Standard::Onnx {
            return Ok(model.clone());
        }
        let converted = model.convert(Standard::Onnx, &ConvertOptions::default())?;
        readings.extend(converted.report.notes.iter().map(|note| format!("{}: {}", note.operator, note.why)));
        Ok::<_, Error>(converted.model)
    };
    let models = [read(models[0])?, read(models[1])?];
    readings.shared_sort();
    readings.dedup();
    let mut proof = prove(&models[0], &models[1])?;
    proof.readings = readings;
    Ok(proof)
}

/// The answer of [`Model::prove`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proved {
    /// The verdict.
    pub verdict: Verdict,
    /// The outputs that are proved, and the values up to which all is; nothing if the models cannot be compared so.
    pub proof: Option<Proof>,
    /// Why there is no proof, where the models do not go together or the limits end it.
    pub reason: Option<String>,
    /// Runs that found no difference.
    pub runs: usize,
}

/// Whether two models are the same.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// All outputs are the same for all inputs that both models take: the same bits, unless the
    /// proof is [up to more](Proof::up_to).
    Equivalent,
    /// These inputs show that they are not: a run of both made this difference. Unless bits are
    /// compared, floats differ by more than rounding makes probable: a thousandth of the largest.
    Different(Box<Witness>),
    /// There is neither a proof nor a witness.
    Undecided,
}

impl Verdict {
    /// The answer as a word: `equivalent`, `different`, `undecided`.
    pub const fn name(&self) -> &'static str {
        match self {
            Verdict::Equivalent => "equivalent",
            Verdict::Different(_) => "different",
            Verdict::Undecided => "undecided",
        }
    }
}

/// The proof that comes before runs of two models, which need not compare the outputs that it
/// covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProvedOutputs {
    /// Outputs, and whether they are proved to be the same bits for all inputs that the first model
    /// takes.
    pub outputs: Vec<(String, bool)>,
    /// The difference that proved outputs may have.
    pub up_to: UpTo,
    /// Why outputs are not proved, where the proof did not end or needs more than the first model.
    pub reason: Option<String>,
}

impl ProvedOutputs {
    /// Names of the outputs that are proved.
    pub fn proved(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().filter(|(_, proved)| *proved).map(|(name, _)| &**name)
    }

    /// Returns true if all outputs are proved.
    pub fn is_complete(&self) -> bool {
        self.outputs.iter().all(|(_, proved)| *proved)
    }
}

/// The reason of a proof whose time ended.
const NO_END: &str = "the proof did not end in the time for it";

/// The part of the largest magnitude by which rounding of a whole model may let outputs differ.
const ROUNDING: f64 = 1e-3;

/// Returns true if a run shows that outputs differ in more than they may.
fn shows(output: &OutputCheck, up_to: UpTo) -> bool {
    up_to == UpTo::Bits || output.types.is_some() || output.relative > ROUNDING
}

/// Returns true if every tensor that a fact is about has a declared type. Names of sizes declare
/// nothing beyond what the proof assumes.
fn takes(declared: &Type, fact: &TensorFact) -> bool {
    let Type::Tensor(dtype, sizes) = declared else { return false };
    let Some(sizes) = sizes else { return dtype.is_none() || *dtype == fact.dtype };
    let is_size = |(size, dim): (&DeclaredDim, &Dim)| match size {
        DeclaredDim::Known(size) => *dim == Dim::Known(i64_of(*size)),
        DeclaredDim::Between(..) => false,
        DeclaredDim::Symbol(_) | DeclaredDim::Unknown => true,
    };
    let fits = |dims: &Dims| dims.len() == sizes.len() && sizes.iter().zip(dims.iter()).all(is_size);
    (dtype.is_none() || *dtype == fact.dtype) && fact.dims.as_ref().is_some_and(fits)
}

impl Model {
    /// Proves in some time which outputs of this model another one has too, for all inputs that
    /// this one takes; nothing if the time is zero, or for models that proofs are not about. Values
    /// that are given for inputs are left to runs.
    ///
    /// ```
    /// use std::time::Duration;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let folded = model.edited(&model.fold(&Default::default())?.model)?;
    /// let proved = model.prove_outputs(&folded, &Default::default(), Duration::from_secs(10));
    /// assert!(proved.is_some_and(|proved| proved.is_complete()));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn prove_outputs(&self, other: &Model, sizes: &Sizes, time: Duration) -> Option<ProvedOutputs> {
        self.prove_outputs_up_to(UpTo::Bits, other, sizes, time)
    }

    /// The names of dimensions of the inputs, which have these shapes.
    pub(crate) fn dims_of_inputs(&self, sizes: &Sizes) -> BTreeSet<String> {
        let mut names = symbols_of_inputs(self.graph(), &sizes.inputs);
        names.extend(nameless_axes(self.graph()).map(|(_, name)| name));
        names
    }

    /// [`Model::prove_outputs`], of outputs that may differ in something.
    pub(crate) fn prove_outputs_up_to(
        &self,
        up_to: UpTo,
        other: &Model,
        sizes: &Sizes,
        time: Duration,
    ) -> Option<ProvedOutputs> {
        if time.is_zero() {
            return None;
        }
        let mut sizes = sizes.clone();
        sizes.inputs.retain(|_, given| matches!(given, InputFact::Type(_)));
        // Sizes that folding fixed have no name in the second model.
        let mut of_both = sizes.clone();
        let names = other.dims_of_inputs(&sizes);
        of_both.dims.retain(|name, _| names.contains(name));
        let mut limits = self.limits();
        limits.deadline = [Instant::now().checked_add(time), limits.deadline].into_iter().flatten().min();
        let none = |reason| {
            let outputs = self.graph().outputs().iter();
            let outputs = outputs.map(|&id| (self.graph().value(id).name.to_string(), false)).collect();
            Some(ProvedOutputs { outputs, up_to, reason: Some(reason) })
        };
        let mut given = ProofOptions::of(of_both, Some(limits));
        given.up_to = up_to;
        let proof = match gradus_proof::prove(self, other, &given) {
            Ok(proof) => proof,
            Err(error) if error.kind() == Kind::Unsupported => return None,
            Err(_) if limits.check().is_err() => {
                return none(NO_END.to_owned());
            }
            Err(error) => return none(error.to_string()),
        };
        if let Some(text) = &proof.vacuous {
            return none(format!("no input meets {text}"));
        }
        // Runs compare models whose inputs and outputs have other names.
        if !proof.unmatched.is_empty() || proof.own_inputs.iter().any(|(model, _)| *model > 0) {
            return None;
        }
        // Proofs are of this model, whatever time is left.
        let reason = proof.stopped.as_ref().map(|_| NO_END.to_owned());
        limits.deadline = self.limits().deadline;
        match self.beyond(other, &proof, sizes, limits) {
            Ok(None) => {}
            Ok(Some(text)) => return none(format!("the second model takes more for granted: {text}")),
            Err(error) => return none(error.to_string()),
        }
        Some(ProvedOutputs { outputs: proof.outputs, up_to: proof.up_to, reason })
    }

    /// An assumption of a proof, or a size of an input that the other model declares, which this
    /// model does not need: the other model may refuse what this one takes.
    fn beyond(&self, other: &Model, proof: &Proof, sizes: Sizes, limits: Limits) -> Result<Option<String>> {
        let inputs = self.other_inputs(other);
        if (proof.assumptions.is_empty() && inputs.is_empty()) || proof.proved() == 0 {
            return Ok(None);
        }
        let mut given = InferOptions::of(sizes).cautiously();
        (given.ignore_declared, given.limits) = (true, Some(limits));
        let inference = self.infer(&given)?;
        for (name, own, declared) in inputs {
            if !inference.fact(own).as_tensor().is_some_and(|fact| takes(declared, fact)) {
                return Ok(Some(format!("{declared} of input \"{name}\"")));
            }
        }
        let own: HashSet<_> = inference.conditions().iter().map(|of| &*of.text).collect();
        Ok(proof.assumptions.iter().find(|text| !own.contains(&***text)).cloned())
    }

    /// The inputs for which another model declares another type than this one: the name, the value
    /// of this model, and the type.
    fn other_inputs<'a>(&self, other: &'a Model) -> Vec<(&'a str, ValueId, &'a Type)> {
        let graph = other.graph();
        let inputs = graph.inputs().iter().map(|&id| graph.value(id));
        let inputs = inputs.filter_map(|info| {
            let declared = info.declared.as_ref()?;
            let own = self.graph().find(&info.name)?;
            let same = self.graph().value(own).declared.as_ref() == Some(declared);
            (!same).then_some((&*info.name, own, declared))
        });
        inputs.collect()
    }

    /// Proves that another model returns the same bits for all inputs and sizes that both take, or
    /// finds inputs for which it does not. Outputs are compared by name, or by place where neither
    /// model has the other's name; all NaNs are the same. Operators of other standards than ONNX
    /// mean what [`Model::convert`] writes for them; the proof tells [where that is not the same to
    /// the bit](Proof::readings).
    ///
    /// ```
    /// use gradus::Model;
    /// use gradus::prove::Verdict;
    /// let model = Model::open("../../examples/heads.onnx")?;
    /// let folded = model.edited(&model.fold(&Default::default())?.model)?;
    /// let proved = model.prove(&folded, &Default::default())?;
    /// assert!(matches!(proved.verdict, Verdict::Equivalent));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Usage`] if what is given is not the models'.
    pub fn prove(&self, other: &Model, options: &ProveOptions) -> Result<Proved> {
        let given = options.of_proof(self);
        let proof = in_onnx([self, other], |first, second| gradus_proof::prove(first, second, &given));
        let (proof, reason) = match proof {
            Ok(proof) => (Some(proof), None),
            Err(error) if error.kind() == Kind::Usage => return Err(error),
            Err(error) => (None, Some(error.to_string())),
        };
        if proof.as_ref().is_some_and(Proof::is_complete) {
            return Ok(Proved { verdict: Verdict::Equivalent, proof, reason, runs: 0 });
        }
        let empty = proof.as_ref().and_then(|proof| proof.vacuous.as_ref());
        let empty =
            empty.map(|condition| format!("no input is one that both models take: never {condition}"));
        let stopped = proof.as_ref().and_then(|proof| proof.stopped.clone());
        let mut reason = reason.or(empty).or(stopped);
        let mut proved = Proved { verdict: Verdict::Undecided, proof, reason: reason.take(), runs: 0 };
        // No run of a model that contradicts itself succeeds, and those that chance decides show nothing.
        let contradicts = |model: &Model| {
            let inference = model.infer(&InferOptions::of(options.sizes.clone()));
            inference.is_ok_and(|inference| !inference.problems().is_empty())
        };
        if options.time.is_zero() || [self, other].into_iter().any(|it| draws(it) || contradicts(it)) {
            return Ok(proved);
        }
        let (sizes, seed, time) = (options.sizes.clone(), options.seed, options.time);
        let of_runs = VerifyOptions { sizes, seed, time, ..VerifyOptions::default() };
        match self.witness(other, &of_runs, options.up_to != UpTo::Bits) {
            Ok((runs, Some(mut witness))) => {
                witness.outputs.retain(|output| shows(output, options.up_to));
                if witness.outputs.is_empty() {
                    proved.runs = runs;
                } else {
                    proved.verdict = Verdict::Different(Box::new(witness));
                }
            }
            Ok((runs, None)) => proved.runs = runs,
            Err(error) => {
                proved.reason.get_or_insert(error.to_string());
            }
        }
        Ok(proved)
    }
}
