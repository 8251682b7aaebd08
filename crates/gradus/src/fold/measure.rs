//! The difference that folding makes to floats, measured by runs of both models.

use gradus_core::{Error, Kind, Result};

use crate::check::plan::{Schedule, TimeBudget, measuring};
use crate::check::{NO_TIME, VerifyOptions};
use crate::model::Model;

/// The largest differences between the outputs of two models.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Elements that were compared.
    pub elements: u64,
    /// In units in the last place.
    pub ulps: u64,
    /// As a part of the largest element of the output.
    pub relative: f64,
    /// The differences of each output.
    pub outputs: Vec<MeasuredOutput>,
}

/// The largest differences between an output of two models.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeasuredOutput {
    /// Its name.
    pub name: String,
    /// Elements that were compared.
    pub elements: u64,
    /// In units in the last place.
    pub ulps: u64,
    /// As a part of the largest element of the output.
    pub relative: f64,
}

impl Model {
    /// Runs this model and what it was folded to on random inputs of few and of more sizes, while
    /// there is time, and compares the outputs.
    ///
    /// # Errors
    /// Errors of [`Model::check`]; [`Kind::Graph`] if outputs differ in type or shape;
    /// [`Kind::Limit`] if no run ends in time.
    pub fn measure(&self, folded: &Model, options: &VerifyOptions) -> Result<Measured> {
        let time = TimeBudget::of(options.time);
        let is_late = || Error::new(Kind::Limit, NO_TIME);
        let runs = measuring(self.graph(), &options.sizes);
        let check = self.compare_planned(folded, options.given(), Schedule::of(runs, time));
        let check = check.map_err(|error| if time.is_over() { is_late() } else { error })?;
        match check.failed {
            Some(error) => return Err(error),
            None if check.runs == 0 => return Err(is_late()),
            None => {}
        }
        let mut measured = Measured::default();
        for output in &check.outputs {
            if let Some((before, after)) = &output.types {
                let what = format_args!("output \"{}\" of the folded model", output.name);
                return Err(Error::mismatch(Kind::Graph, what, after, before));
            }
            measured.elements += output.elements;
            measured.ulps = measured.ulps.max(output.ulps);
            measured.relative = measured.relative.max(output.relative);
            measured.outputs.push(MeasuredOutput {
                name: output.name.clone(),
                elements: output.elements,
                ulps: output.ulps,
                relative: output.relative,
            });
        }
        Ok(measured)
    }
}
