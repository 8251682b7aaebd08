//! Proofs that two models are the same for all inputs and sizes, and witnesses that they are not.

use std::time::Duration;

use gradus_core::{Kind, Limits, Result};
use gradus_proof::ProofOptions;
pub use gradus_proof::{LawText, Proof, Side, Unproved, laws};

use crate::check::{VerifyOptions, Witness, draws};
use crate::model::Model;
use gradus_engine::infer::Sizes;

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
}

impl Default for ProveOptions {
    fn default() -> ProveOptions {
        ProveOptions { sizes: Sizes::default(), seed: 1, time: Duration::from_secs(30), limits: None }
    }
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
    /// All outputs are the same bits for all inputs that both models take.
    Equivalent,
    /// These inputs show that they are not: a run of both made this difference.
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

impl Model {
    /// Proves that another model returns the same bits for all inputs and sizes that both take, or
    /// finds inputs for which it does not. Outputs are compared by name; all NaNs are the same.
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
        let mut given = ProofOptions::of(options.sizes.clone(), options.limits);
        given.limits.get_or_insert(self.limits());
        let (proof, mut reason) = match gradus_proof::prove(self, other, &given) {
            Ok(proof) => (Some(proof), None),
            Err(error) if error.kind() == Kind::Usage => return Err(error),
            Err(error) => (None, Some(error.to_string())),
        };
        if proof.as_ref().is_some_and(Proof::is_complete) {
            return Ok(Proved { verdict: Verdict::Equivalent, proof, reason, runs: 0 });
        }
        let mut proved = Proved { verdict: Verdict::Undecided, proof, reason: reason.take(), runs: 0 };
        // Runs that chance decides show nothing.
        if draws(self) || draws(other) {
            return Ok(proved);
        }
        let (sizes, seed, time) = (options.sizes.clone(), options.seed, options.time);
        match self.witness(other, &VerifyOptions { sizes, seed, time }) {
            Ok((_, Some(witness))) => proved.verdict = Verdict::Different(Box::new(witness)),
            Ok((runs, None)) => proved.runs = runs,
            Err(error) => {
                proved.reason.get_or_insert(error.to_string());
            }
        }
        Ok(proved)
    }
}
