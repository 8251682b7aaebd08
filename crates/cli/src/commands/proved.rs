//! Proofs, as commands that write a model print them.

use gradus::prove::{ProvedOutputs, UpTo};
use gradus::{Error, Kind};
use serde::Serialize;

use crate::object::{Maybe, object};
use crate::output::{self, escaped};

/// Outputs, and whether they are proved.
pub(super) fn outputs(outputs: &[(String, bool)]) -> Vec<impl Serialize> {
    outputs.iter().map(|(name, proved)| object!(ProvedOutputJson { name, proved: *proved })).collect()
}

/// Proved outputs as JSON, and the difference that they may have.
pub(super) fn json(proof: &ProvedOutputs) -> impl Serialize {
    let (outputs, reason) = (outputs(&proof.outputs), Maybe(proof.reason.as_deref()));
    object!(ProofJson { up_to: proof.up_to.name(), outputs, reason })
}

/// A line about the outputs that are proved.
pub(super) fn text(proof: &ProvedOutputs) -> String {
    let proved = proof.proved().count();
    let counts = format!("proved: {proved} of {} outputs", proof.outputs.len());
    match &proof.reason {
        Some(reason) => format!("{counts}: {}", escaped(reason)),
        None if proved == 0 => counts,
        None if proof.up_to == UpTo::Bits => format!("{counts}, for all inputs and sizes"),
        None => format!("{counts}, for all inputs and sizes, {}", proof.up_to.says()),
    }
}

/// A line about runs of both models whose outputs are `same`: `are the same bits`.
pub(super) fn runs(elements: u64, same: &str, (runs, sizes): (usize, &[String])) -> String {
    format!("verified: {elements} elements of outputs {same} in {}", output::runs(runs, sizes))
}

/// The error of a comparison before a model is written: models that differ are a fault of Gradus.
pub(super) fn unwritten(error: Error) -> Error {
    let whose = match error.kind() {
        Kind::Usage | Kind::Unsupported | Kind::Limit | Kind::Io => "",
        _ => "; this is a bug of Gradus, please report it with the model",
    };
    error.map_message(|text| format!("{text}; nothing is written{whose}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_many_outputs_are_proved() {
        let text = |proved: &[bool], reason: Option<&str>| {
            let mut proof = ProvedOutputs::default();
            proof.outputs = proved.iter().map(|proved| ("y".to_owned(), *proved)).collect();
            proof.reason = reason.map(str::to_owned);
            text(&proof)
        };
        assert_eq!(text(&[true, true], None), "proved: 2 of 2 outputs, for all inputs and sizes");
        assert_eq!(text(&[true, false], None), "proved: 1 of 2 outputs, for all inputs and sizes");
        assert_eq!(text(&[false], None), "proved: 0 of 1 outputs");
        assert_eq!(text(&[false], Some("no time")), "proved: 0 of 1 outputs: no time");
    }

    #[test]
    fn models_that_differ_are_a_fault_of_gradus() {
        let message = |kind| unwritten(Error::new(kind, "y differs")).message().to_owned();
        assert_eq!(message(Kind::Limit), "y differs; nothing is written");
        let bug = "y differs; nothing is written; this is a bug of Gradus, please report it with the model";
        assert_eq!(message(Kind::Graph), bug);
    }
}
