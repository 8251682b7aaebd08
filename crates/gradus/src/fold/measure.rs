//! The difference that folding makes to floats, measured by runs of both models.

use gradus_core::{Error, Kind, Result};

use crate::check::CheckOptions;
use crate::infer::Sizes;
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
    /// The same of each output.
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
    /// Runs this model and what it was folded to on random inputs, and compares the outputs.
    ///
    /// # Errors
    /// Those of [`Model::check`]; [`Kind::Graph`] if outputs differ in type or shape.
    pub fn measure(&self, folded: &Model, sizes: &Sizes, seed: u64) -> Result<Measured> {
        let check = self.compare(folded, &CheckOptions { sizes: sizes.clone(), runs: 1, seed })?;
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
