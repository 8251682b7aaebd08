//! `gradus verify-proof`: replays the certificate of a proof.

use gradus::convert::u64_of;
use gradus::prove::{Proof, ProveOptions, verify};
use gradus::{Error, Kind, files};
use serde::Serialize;

use super::given;
use crate::args;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output;

/// Runs `gradus verify-proof`.
pub(crate) fn verify_proof(args: &args::VerifyProofArgs) -> Result<(), Failure> {
    let models = [args.limits.open(&args.first)?, args.limits.open(&args.second)?];
    let [first, second] = given::set_both(models, &args.sizes.shapes.inputs)?;
    let mut options = ProveOptions::default();
    options.sizes = given::sizes(&args.sizes)?;
    (options.limits, options.up_to) = (Some(args.limits.limits()), args.up_to.into());
    let in_file = |error: Error| error.in_file(args.certificate.display());
    let bytes = files::map(&args.certificate)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        in_file(Error::new(Kind::Syntax, format!("cannot read the certificate: {error}")))
    })?;
    let proof = verify(&first, &second, text, &options).map_err(in_file)?;
    if output::is_json() {
        output::print_json(&json(args, &proof))
    } else {
        output::print_line(&summary(&proof))
    }
}

fn json(args: &args::VerifyProofArgs, proof: &Proof) -> impl Serialize {
    object!(VerifyProofJson {
        first: args.first.display().to_string(),
        second: args.second.display().to_string(),
        certificate: args.certificate.display().to_string(),
        up_to: proof.up_to.name(),
        outputs: proof.outputs.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
        assumptions,
        readings,
        laws: proof
            .laws
            .iter()
            .map(|(name, steps)| object!(LawJson { name, steps: u64_of(*steps) }))
            .collect::<Vec<_>>(),
        ..proof
    })
}

fn summary(proof: &Proof) -> String {
    let count = proof.outputs.len();
    let taken = proof.assumptions.iter().map(|text| format!("assumed: {}", output::escaped(text)));
    let read = proof.readings.iter().map(|text| format!("read as ONNX: {}", output::escaped(text)));
    let head = format!(
        "verified: {count} of {count} outputs, {} for all inputs that both models take",
        proof.up_to.says()
    );
    let used = proof.laws.iter().map(|(law, steps)| format!("  {law}: {steps}"));
    let laws = (!proof.laws.is_empty()).then(|| "laws, and how often each was applied:".to_owned());
    [head].into_iter().chain(taken).chain(read).chain(laws).chain(used).collect::<Vec<_>>().join("\n")
}
