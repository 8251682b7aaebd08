//! `gradus prove`: whether two models are the same for all inputs and sizes.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use gradus::convert::u64_of;
use gradus::files::{NewFiles, cannot_write};
use gradus::prove::{Proof, ProveOptions, Proved, Side, Unproved, UpTo, Verdict};
use serde::Serialize;

use super::proved::outputs;
use super::{given, run};
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output;

#[derive(Serialize)]
struct FileJson {
    name: String,
    path: String,
}

/// Runs `gradus prove`.
pub(crate) fn prove(args: &args::ProveArgs) -> Result<(), Failure> {
    let models = [args.limits.open(&args.first)?, args.limits.open(&args.second)?];
    let [first, second] = given::set_both(models, &args.sizes.shapes.inputs)?;
    if let Some(path) = &args.certificate {
        first.check_other_output(path)?;
        second.check_other_output(path)?;
    }
    let mut options = ProveOptions::default();
    options.sizes = given::sizes(&args.sizes)?;
    (options.seed, options.time) = (args.seed, Duration::from_secs(args.seconds));
    options.limits = Some(args.limits.limits());
    (options.certificate, options.up_to) = (args.certificate.is_some(), args.up_to.into());
    let proved = first.prove(&second, &options)?;
    let steps = proved.proof.as_ref().and_then(|proof| proof.certificate.as_ref());
    if let Some((path, steps)) = args.certificate.as_deref().zip(steps) {
        let mut files = NewFiles::default();
        files
            .create(path, |out| out.write_all(steps.as_bytes()).map_err(|error| cannot_write(path, error)))?;
        files.commit()?;
    }
    let mut files = Vec::new();
    if let (Verdict::Different(witness), Some(folder)) = (&proved.verdict, &args.witness) {
        let inputs: Vec<_> =
            witness.inputs.iter().map(|(name, value)| (Arc::from(&**name), value.clone())).collect();
        let saved = run::save(&[&first, &second], folder, &inputs)?;
        files.extend(
            saved.into_iter().map(|(name, path)| FileJson { name, path: path.display().to_string() }),
        );
    }
    if output::is_json() {
        output::print_json(&json(args, &proved, files))?;
    } else {
        output::print_line(&text(args, &proved, &files))?;
    }
    match proved.verdict {
        Verdict::Equivalent => Ok(()),
        Verdict::Different(_) => Err(Failure::Different),
        Verdict::Undecided => Err(Failure::Undecided),
    }
}

fn json<'a>(args: &args::ProveArgs, proved: &'a Proved, files: Vec<FileJson>) -> impl Serialize {
    let proof = proved.proof.as_ref();
    let side = |side: &'a Side| object!(SideJson { value: side.value.as_deref(), term: &side.term });
    let pair = |pair: &'a Unproved| {
        object!(PairJson { first: side(&pair.first), second: side(&pair.second), count: u64_of(pair.count) })
    };
    let own = proof.iter().flat_map(|proof| &proof.own_inputs);
    let witness = match &proved.verdict {
        Verdict::Different(witness) => Some(object!(WitnessJson {
            outputs: witness.outputs.iter().map(|output| &*output.name).collect::<Vec<_>>(),
            parting: Maybe(witness.parting.as_ref().map(|parting| &*parting.value)),
            inputs: files,
        })),
        _ => None,
    };
    object!(ProveJson {
        first: args.first.display().to_string(),
        second: args.second.display().to_string(),
        verdict: proved.verdict.name(),
        up_to: up_to(args, proof).name(),
        outputs: outputs(proof.map_or(&[][..], |proof| &proof.outputs)),
        unmatched: proof.map_or(&[][..], |proof| &proof.unmatched),
        own_inputs: own
            .map(|(model, name)| object!(OwnInputJson { model: u64_of(*model), name }))
            .collect::<Vec<_>>(),
        assumptions: proof.map_or(&[][..], |proof| &proof.assumptions),
        inputs: proof.map_or(&[][..], |proof| &proof.inputs),
        conditions: proof.map_or(&[][..], |proof| &proof.conditions),
        readings: proof.map_or(&[][..], |proof| &proof.readings),
        frontier: proof.iter().flat_map(|proof| &proof.frontier).map(pair).collect::<Vec<_>>(),
        runs: u64_of(proved.runs),
        reason: Maybe(proved.reason.as_deref()),
        witness: Maybe(witness),
        certificate: Maybe(written(args, proved)),
    })
}

/// The difference that proved outputs may have: what is asked for where there is no proof.
fn up_to(args: &args::ProveArgs, proof: Option<&Proof>) -> UpTo {
    proof.map_or(args.up_to.into(), |proof| proof.up_to)
}

/// The file that the certificate was written into: that of a complete proof.
fn written(args: &args::ProveArgs, proved: &Proved) -> Option<String> {
    let path = args.certificate.as_deref()?;
    proved.proof.as_ref()?.certificate.as_ref().map(|_| path.display().to_string())
}

/// Pairs that are listed, if not all are.
const LISTED: usize = 10;

fn text(args: &args::ProveArgs, proved: &Proved, files: &[FileJson]) -> String {
    let mut lines = vec![headline(proved, up_to(args, proved.proof.as_ref()))];
    if let Some(proof) = &proved.proof {
        let taken = proof.assumptions.iter().map(|text| format!("assumed: {}", output::escaped(text)));
        lines.extend(taken);
        let inputs = proof.inputs.iter().map(|text| format!("input {}", output::escaped(text)));
        lines.extend(inputs);
        let shown = if args.all { proof.conditions.len() } else { LISTED };
        let conditions = proof.conditions.iter().take(shown);
        lines.extend(conditions.map(|text| format!("where {}", output::escaped(text))));
        if proof.conditions.len() > shown {
            lines.push(format!("where {} more conditions hold (--all)", proof.conditions.len() - shown));
        }
        lines.extend(proof.readings.iter().map(|text| format!("read as ONNX: {}", output::escaped(text))));
        for (model, name) in &proof.own_inputs {
            let which = if *model == 0 { "first" } else { "second" };
            lines.push(format!("input of the {which} model alone: {}", output::escaped(name)));
        }
        for name in &proof.unmatched {
            lines.push(format!("output of one model alone: {}", output::escaped(name)));
        }
    }
    lines.extend(proved.reason.as_ref().map(|reason| format!("reason: {}", output::escaped(reason))));
    match &proved.verdict {
        Verdict::Different(witness) => {
            for output in &witness.outputs {
                let first = output.first.as_ref().map_or_else(
                    || "another type or shape".to_owned(),
                    |it| format!("element {} is {} and {}", it.index, it.before, it.after),
                );
                let line = format!("output \"{}\": {first}", output.name);
                lines.push(output::escaped(&line).into_owned());
            }
            if let Some(parting) = &witness.parting {
                let line =
                    format!("the models part at {}: {} and {}", parting.value, parting.before, parting.after);
                lines.push(output::escaped(&line).into_owned());
            }
            lines.extend(files.iter().map(|file| format!("input {} saved in {}", file.name, file.path)));
        }
        Verdict::Undecided => {
            let frontier = proved.proof.as_ref().map_or(&[][..], |proof| &proof.frontier);
            let shown = if args.all { frontier.len() } else { LISTED };
            if !frontier.is_empty() {
                lines.push("all is proved up to these pairs of values:".to_owned());
            }
            for pair in frontier.iter().take(shown) {
                let line = format!("  {} and {}", side(&pair.first), side(&pair.second));
                lines.push(output::escaped(&line).into_owned());
            }
            if frontier.len() > shown {
                lines.push(format!("  {} more (--all)", frontier.len() - shown));
            }
        }
        Verdict::Equivalent => {
            lines.extend(written(args, proved).map(|file| format!("certificate saved in {file}")));
        }
    }
    lines.join("\n")
}

fn side(side: &Side) -> String {
    match &side.value {
        Some(value) => format!("{value} ({})", side.term),
        None => side.term.clone(),
    }
}

fn headline(proved: &Proved, up_to: UpTo) -> String {
    let (count, all) = proved.proof.as_ref().map_or((0, 0), |proof| (proof.proved(), proof.outputs.len()));
    match &proved.verdict {
        Verdict::Equivalent => {
            let says = up_to.says();
            let name = if up_to == UpTo::Bits { String::new() } else { format!(" up to {}", up_to.name()) };
            format!("equivalent{name}: {count} of {all} outputs, {says} for all inputs that both models take")
        }
        Verdict::Different(_) if up_to != UpTo::Bits => {
            "different: a run of both models shows more than rounding may change".to_owned()
        }
        Verdict::Different(_) => "different: a run of both models shows it".to_owned(),
        Verdict::Undecided if proved.runs > 0 => format!(
            "undecided: proved {count} of {all} outputs; {} found no difference{}",
            if proved.runs == 1 { "1 run".to_owned() } else { format!("{} runs", proved.runs) },
            if up_to == UpTo::Bits { "" } else { " beyond rounding" }
        ),
        Verdict::Undecided => format!("undecided: proved {count} of {all} outputs"),
    }
}
