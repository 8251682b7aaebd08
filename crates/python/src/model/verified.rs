//! Folding and conversion, with the comparison of the outputs before and after.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gradus::check::VerifyOptions;
use gradus::conversion::{ConvertOptions, Converted, Verified as VerifiedConversion};
use gradus::fold::{FoldOptions, FoldReport, Folded, Measured, Verified};
use gradus::graph::Standard;
use gradus::infer::InputFact;
use gradus::{Error, Kind, Model, Result};

use crate::loading::as_read;

/// Random bindings of symbols under which a folded model is verified, and the number that they
/// start from: the same in each run, as on the command line.
pub(super) const SEED: u64 = 1;

/// A model after folding, the report, and the comparisons of outputs and of floats that were made.
type FoldedModel = (Model, FoldReport, Option<Verified>, Option<Measured>);

/// Folds a model, and compares the outputs: `verify` is whether that must be done, by default in the
/// time that folding took, and whether proofs have no limit of time.
///
/// # Errors
/// Errors of folding and verification; [`Kind::Unsupported`] if outputs that must be compared
/// cannot be.
pub(super) fn fold(
    model: Model,
    options: &FoldOptions,
    (verify, prove): (Option<bool>, bool),
    values: BTreeMap<String, InputFact>,
) -> Result<FoldedModel> {
    let model = as_read(model)?;
    let begin = Instant::now();
    let Folded { model: folded, report, .. } = model.fold(options)?;
    let after = model.edited(&folded)?;
    let mut of_runs = VerifyOptions::default();
    (of_runs.sizes, of_runs.seed) = (options.sizes.clone(), SEED);
    of_runs.sizes.inputs.extend(values);
    if verify.is_none() {
        of_runs = of_runs.beside(begin.elapsed());
    }
    if prove {
        of_runs.proof = Duration::MAX;
    }
    let verifies = verify.unwrap_or(true);
    let verified = verifies.then(|| model.verify(&after, options.rules, &of_runs)).transpose()?;
    if let (Some(true), Some(why)) = (verify, verified.as_ref().and_then(|found| found.refused.as_ref())) {
        let message = format!(
            "outputs were not compared: {why}; dims, input_shapes and values give the inputs of a run"
        );
        return Err(Error::new(Kind::Unsupported, message));
    }
    let measures = options.rules.may_change_floats();
    let measured = measures.then(|| model.measure(&after, &of_runs).ok()).flatten();
    Ok((after, report, verified, measured))
}

/// Converts a model, and compares the outputs: `verify` is whether that must be done, by default in
/// the time that the conversion took.
///
/// # Errors
/// Errors of the conversion and verification; [`Kind::Unsupported`] if outputs that must be
/// compared cannot be.
pub(super) fn convert(
    model: Model,
    standard: Standard,
    options: &ConvertOptions,
    verify: Option<bool>,
) -> Result<(Converted, Option<VerifiedConversion>)> {
    let model = as_read(model)?;
    let begin = Instant::now();
    let converted = model.convert(standard, options)?;
    let mut of_runs = VerifyOptions::default();
    (of_runs.sizes, of_runs.seed) = (options.sizes.clone(), SEED);
    if verify.is_none() {
        of_runs = of_runs.beside(begin.elapsed());
    }
    let verifies = verify.unwrap_or(true);
    let found = verifies.then(|| model.verify_converted(&converted, &of_runs)).transpose()?;
    if let (Some(true), Some(why)) = (verify, found.as_ref().and_then(|found| found.refused.as_ref())) {
        let message = format!("outputs were not compared: {why}");
        return Err(Error::new(Kind::Unsupported, message));
    }
    Ok((converted, found))
}
