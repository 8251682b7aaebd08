//! Audits of a runtime: pairs of runs that should have the same bits.

mod axes;
mod case;
mod pairs;
mod run;
mod sequences;
mod shrink;
mod subject;

use gradus_core::{Kind, Result};
use gradus_engine::infer::Sizes;

pub use case::DifferingPair;
use pairs::{Pair, Row, TABLE};
use run::{Cause, ComparedPair, Runner};
use subject::{Base, Subject};

use crate::check::{OutputCheck, Runtime};
use crate::model::Model;

/// A change of the surroundings of a computation that should change no bit of its result. The order
/// is that in which they are audited: those first that explain differences of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Invariance {
    /// The same run once more.
    Runs,
    /// Earlier runs of the session.
    Session,
    /// Other rows of the batch.
    Rows,
    /// The index of the row in the batch.
    Place,
    /// The number of rows of the batch.
    Batch,
    /// A sequence that is padded, with a mask.
    Padding,
    /// A sequence in one piece or in chunks, with past values.
    Chunks,
    /// The number of threads.
    Threads,
    /// Optimizations of the model.
    Optimization,
    /// Instructions of the processor.
    Processor,
}

gradus_core::names!(Invariance, "invariance" {
    Runs = "runs",
    Session = "session",
    Rows = "rows",
    Place = "place",
    Batch = "batch",
    Padding = "padding",
    Chunks = "chunks",
    Threads = "threads",
    Optimization = "optimization",
    Processor = "processor",
});

impl Invariance {
    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.invariance == self).expect("the table has a row for each")
    }
}

/// Options of [`Model::audit`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Dimensions and inputs that are the same in all runs.
    pub sizes: Sizes,
    /// The invariances that are audited.
    pub invariances: Vec<Invariance>,
    /// The name of the dimension that counts rows; by default, one that inputs and outputs share.
    pub batch: Option<String>,
    /// The name of the input that is 1 for elements of a sequence and 0 for padding; by default, an
    /// input whose name has the word `mask`.
    pub mask: Option<String>,
    /// The largest number of rows of a batch.
    pub rows: usize,
    /// The number of draws of random inputs.
    pub runs: usize,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            sizes: Sizes::default(),
            invariances: Invariance::ALL.to_vec(),
            batch: None,
            mask: None,
            rows: 8,
            runs: 3,
            seed: 1,
        }
    }
}

/// The invariances that a runtime keeps for a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Audit {
    /// The dimension that counts rows, if there is one.
    pub batch: Option<String>,
    /// The invariances in the order of the options.
    pub checks: Vec<InvarianceCheck>,
}

impl Audit {
    /// Returns true if no pair of runs has a difference that the exact results do not have.
    pub fn holds(&self) -> bool {
        let kept =
            |check: &InvarianceCheck| !matches!(check.status, AuditStatus::Differs | AuditStatus::Unsteady);
        self.checks.iter().all(kept)
    }
}

/// The result of an audit of one invariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditStatus {
    /// All pairs have the same bits.
    Holds,
    /// A pair has other bits.
    Differs,
    /// Pairs have other bits, and so have their exact results: the model itself depends on it.
    Inherent,
    /// Pairs have other bits, and so has a run that is repeated, so that the cause is not known.
    Unsteady,
    /// The model or the runtime has nothing to change, for a reason that is given.
    NotApplicable,
    /// The runtime refused all runs.
    Refused,
}

gradus_core::names!(AuditStatus {
    Holds = "holds", Differs = "differs", Inherent = "inherent", Unsteady = "unsteady",
    NotApplicable = "not applicable", Refused = "refused",
});

/// An invariance and the pairs of runs that were compared for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InvarianceCheck {
    /// The invariance.
    pub invariance: Invariance,
    /// The result.
    pub status: AuditStatus,
    /// The number of pairs that were compared.
    pub pairs: usize,
    /// The reason of a result that is neither `holds` nor `differs`.
    pub reason: Option<String>,
    /// The outputs that were compared in the first pair that differs.
    pub outputs: Vec<OutputCheck>,
    /// The outputs that were not compared, with the reason.
    pub uncompared: Vec<(String, String)>,
    /// The first node whose values differ in the smallest pair.
    pub first: Option<FirstNode>,
    /// The reason why no first node is known, if the runtime does not show it.
    pub hidden: Option<String>,
    /// The smallest pair that was found.
    pub pair: Option<DifferingPair>,
}

/// The first node that computes other bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstNode {
    /// The node in words, with its operator.
    pub node: String,
    /// The name of its value.
    pub value: String,
}

impl Model {
    /// Runs this model in a runtime in pairs that should have the same bits: with other rows in the
    /// batch, with other numbers of threads, and so on ([`Invariance`]).
    ///
    /// Where a pair differs, its exact results decide whether the model itself depends on what was
    /// changed. The pair is made smaller while it differs, and the first node that differs is
    /// named if the runtime shows values of nodes.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the model is in no file, or inputs of it cannot be made;
    /// [`Kind::Usage`] if options name what the model lacks; [`Kind::Limit`]; if the runtime
    /// refuses all inputs, its last error.
    pub fn audit(&self, runtime: &dyn Runtime, options: &AuditOptions) -> Result<Audit> {
        let subject = Subject::new(self, runtime, options)?;
        let bases = subject.bases()?;
        let runner = Runner::new(&subject)?;
        let checks = options.invariances.iter().map(|of| of.row().check(&subject, &runner, &bases));
        Ok(Audit { batch: subject.batch.clone().ok(), checks: checks.collect::<Result<_>>()? })
    }
}

impl InvarianceCheck {
    /// Records the outputs of a pair that differs; the others that differ do so by the model.
    fn differs(&mut self, compared: ComparedPair, is_own: impl Fn(&str) -> bool) {
        self.status = AuditStatus::Differs;
        for output in compared.outputs {
            if output.is_same() || is_own(&output.name) {
                self.outputs.push(output);
            } else {
                self.uncompared.push((output.name, "its exact results differ too".to_owned()));
            }
        }
    }

    /// Finds the smallest pair, and the first node that differs in it.
    fn find_smallest(
        &mut self,
        subject: &Subject<'_>,
        row: &Row,
        runner: &Runner<'_>,
        found: (&Base, &Pair, usize),
    ) -> Result<()> {
        let smallest = shrink::smallest(subject, row, runner, found)?;
        match runner.first_node(&smallest.pair)? {
            Ok(first) => self.first = Some(first),
            Err(reason) => self.hidden = Some(reason),
        }
        self.pair = Some(DifferingPair::new(subject, runner, smallest)?);
        Ok(())
    }
}

impl Row {
    /// Compares pairs until one differs that the exact results do not explain.
    fn check(&self, subject: &Subject<'_>, runner: &Runner<'_>, bases: &[Base]) -> Result<InvarianceCheck> {
        let mut check = InvarianceCheck {
            invariance: self.invariance,
            status: AuditStatus::Holds,
            pairs: 0,
            reason: None,
            outputs: Vec::new(),
            uncompared: Vec::new(),
            first: None,
            hidden: None,
            pair: None,
        };
        let settle = |check: &mut InvarianceCheck, status, reason: String| {
            (check.status, check.reason) = (status, Some(reason));
        };
        let mut refused = None;
        for base in bases {
            let pairs = match (self.pairs)(subject, base, base.rows) {
                Err(error) if error.kind() == Kind::Unsupported => {
                    settle(&mut check, AuditStatus::NotApplicable, error.message().to_owned());
                    return Ok(check);
                }
                pairs => pairs?,
            };
            for (index, pair) in pairs.iter().enumerate() {
                let compared = match runner.compare(pair) {
                    Err(error) if error.kind() == Kind::Limit => return Err(error),
                    Err(error) => {
                        refused = Some(error);
                        continue;
                    }
                    Ok(compared) => compared,
                };
                check.uncompared.clone_from(&compared.uncompared);
                if compared.outputs.is_empty() {
                    continue;
                }
                check.pairs += 1;
                if compared.is_same() {
                    continue;
                }
                let (status, reason) = match runner.cause(self, pair, &compared)? {
                    Cause::Pair(own) => {
                        check.differs(compared, |name| own.iter().any(|of| of == name));
                        check.find_smallest(subject, self, runner, (base, pair, index))?;
                        return Ok(check);
                    }
                    Cause::Unproved(error) => {
                        check.reason = Some(format!("the exact results are not known: {error}"));
                        check.differs(compared, |_| true);
                        check.find_smallest(subject, self, runner, (base, pair, index))?;
                        return Ok(check);
                    }
                    Cause::Exact => {
                        let differing = compared.outputs.iter().filter(|output| !output.is_same());
                        let names: Vec<_> = differing.map(|output| &*output.name).collect();
                        let names = names.join(", ");
                        let depends = "differ too: the model itself depends on it";
                        (AuditStatus::Inherent, format!("the exact results of {names} {depends}"))
                    }
                    Cause::Unsteady => {
                        (AuditStatus::Unsteady, "the same run differs when it is repeated".to_owned())
                    }
                    Cause::Session => {
                        let reason = "fresh sessions agree; earlier runs of the session change it";
                        (AuditStatus::Unsteady, reason.to_owned())
                    }
                };
                settle(&mut check, status, reason);
            }
        }
        if check.pairs == 0 {
            if let Some(error) = refused {
                settle(&mut check, AuditStatus::Refused, error.to_string());
            } else {
                let what = if check.uncompared.is_empty() { "sizes of the inputs" } else { "outputs" };
                let reason = format!("the {what} leave nothing to compare");
                settle(&mut check, AuditStatus::NotApplicable, reason);
            }
        }
        Ok(check)
    }
}
