//! `gradus audit`: what changes the bits that programs compute.

use std::path::{Path, PathBuf};

use gradus::audit::{Audit, AuditOptions, AuditStatus, DifferingPair, InvarianceCheck};
use serde::Serialize;

use super::check::{largest, output_json, runtime_of};
use super::given;
use crate::FindRuntime;
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output;

/// Runs `gradus audit`: an error if a program does not keep an invariance.
pub(crate) fn audit(args: &args::AuditArgs, runtime: FindRuntime) -> Result<(), Failure> {
    match audit_all(args, runtime) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Different),
        Err(Failure::Error(error)) => Err(Failure::NotCompared(error)),
        Err(other) => Err(other),
    }
}

fn options(args: &args::AuditArgs, model: &gradus::Model) -> Result<AuditOptions, Failure> {
    let mut options = AuditOptions::default();
    (options.rows, options.runs, options.seed) = (args.rows, args.runs, args.seed);
    (options.batch, options.mask) = (args.batch.clone(), args.mask.clone());
    if !args.only.is_empty() {
        options.invariances.retain(|of| args.only.contains(of));
    }
    options.sizes.dims = given::dims(&args.shapes.dims)?;
    options.sizes.inputs = given::shapes(&args.shapes.inputs.input_shapes)?;
    options.sizes.inputs.extend(given::values(model, &args.inputs, args.seed, &args.limits.limits())?);
    Ok(options)
}

/// Audits a model in all programs, and returns true if these keep all invariances.
fn audit_all(args: &args::AuditArgs, runtime: FindRuntime) -> Result<bool, Failure> {
    let model = args.limits.open(&args.model)?;
    let mut options = options(args, &model)?;
    let model = given::set_in_runtime(&model, &model, &args.shapes.inputs, &mut options.sizes.inputs)?;
    let mut audits = Vec::new();
    for (name, index) in args.with.iter().flatten().zip(1..) {
        let program = runtime_of(name, runtime, args.limits.limits())?;
        let audit = model.audit(&*program, &options);
        let audit = audit.map_err(|error| error.in_file(args.model.display()))?;
        // A command line is no name of a folder.
        let name_of_folder = name.split_once(':').map_or(name.clone(), |(kind, _)| format!("{kind}-{index}"));
        let folder = args.save_case.as_ref().map(|folder| folder.join(name_of_folder));
        for check in &audit.checks {
            if let (Some(folder), Some(pair)) = (&folder, &check.pair) {
                pair.save(&folder.join(check.invariance.name()))?;
            }
        }
        audits.push((name.as_str(), audit, folder));
    }
    let same = audits.iter().all(|(_, audit, _)| audit.holds());
    if output::is_json() {
        let runtimes = audits.iter().map(|(name, audit, folder)| json(name, audit, folder.as_deref()));
        output::print_json(&object!(AuditJson {
            model: args.model.display().to_string(),
            same,
            runtimes: runtimes.collect::<Vec<_>>(),
        }))?;
    } else {
        let texts = audits.iter().map(|(name, audit, folder)| text(name, audit, folder.as_deref()));
        output::print_line(&texts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(same)
}

/// The folder of a pair that was saved.
fn saved(folder: Option<&Path>, check: &InvarianceCheck) -> Option<PathBuf> {
    folder.filter(|_| check.pair.is_some()).map(|folder| folder.join(check.invariance.name()))
}

fn text(name: &str, audit: &Audit, folder: Option<&Path>) -> String {
    let differ = audit.checks.iter().filter(|check| check.status == AuditStatus::Differs).count();
    let batch = audit.batch.as_ref().map_or_else(String::new, |name| format!("; rows are counted by {name}"));
    let head = format!(
        "{}: {differ} of {} invariances differ{}",
        output::escaped(name),
        audit.checks.len(),
        output::escaped(&batch)
    );
    let mut table = output::table(&["invariance", "result", "pairs", "outputs that differ", "largest"]);
    for check in &audit.checks {
        let differing: Vec<_> = check.outputs.iter().filter(|output| !output.is_same()).collect();
        let names: Vec<_> = differing.iter().map(|output| output::escaped(&output.name)).collect();
        let worst = differing.iter().max_by_key(|output| output.ulps);
        table.add_row([
            check.invariance.name().to_owned(),
            check.status.name().to_owned(),
            if check.pairs == 0 { String::new() } else { check.pairs.to_string() },
            names.join(", "),
            worst.map_or_else(String::new, |output| largest(output)),
        ]);
    }
    let mut texts = vec![head, output::render(&table)];
    // A reason of several invariances is one line.
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for check in &audit.checks {
        for line in notes(check, folder) {
            match lines.iter_mut().find(|(_, known)| *known == line) {
                Some((names, _)) => names.push(check.invariance.name()),
                None => lines.push((vec![check.invariance.name()], line)),
            }
        }
    }
    let lines = lines.iter().map(|(names, line)| format!("{}: {}", names.join(", "), output::escaped(line)));
    let lines: Vec<_> = lines.collect();
    if !lines.is_empty() {
        texts.push(lines.join("\n"));
    }
    texts.join("\n\n")
}

/// Lines about an invariance below the table.
fn notes(check: &InvarianceCheck, folder: Option<&Path>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(check.reason.clone());
    if let Some(first) = &check.first {
        lines.push(format!("first at {}, value {}", first.node, first.value));
    }
    lines.extend(check.hidden.as_ref().map(|why| format!("the first node is not known: {why}")));
    lines.extend(check.pair.as_ref().map(text_of_pair));
    lines.extend(saved(folder, check).map(|folder| format!("saved the pair in {}", folder.display())));
    let uncompared = check.uncompared.iter();
    lines.extend(uncompared.map(|(name, why)| format!("output {name} is not compared: {why}")));
    lines
}

fn text_of_pair(pair: &DifferingPair) -> String {
    let rows = match pair.rows {
        (1, _) => String::new(),
        (before, after) => format!("; {after} of {before} rows"),
    };
    let (elements, kept) = pair.elements;
    format!(
        "smallest pair: {}, and {}{rows}; {kept} of {elements} elements are not 0",
        pair.first, pair.second
    )
}

fn json<'a>(name: &'a str, audit: &'a Audit, folder: Option<&Path>) -> impl Serialize {
    let invariance = |check: &'a InvarianceCheck| {
        object!(InvarianceJson {
            name: check.invariance.name(),
            status: check.status.name(),
            pairs: check.pairs,
            reason: Maybe(check.reason.as_deref()),
            outputs: check.outputs.iter().map(output_json).collect::<Vec<_>>(),
            uncompared: check
                .uncompared
                .iter()
                .map(|(name, reason)| object!(UncomparedJson { name, reason }))
                .collect::<Vec<_>>(),
            first: Maybe(check.first.as_ref().map(|first| object!(NodeJson { node, value, ..first }))),
            hidden: Maybe(check.hidden.as_deref()),
            pair: Maybe(check.pair.as_ref().map(|pair| object!(PairJson {
                first,
                second,
                rows,
                elements,
                saved: Maybe(saved(folder, check).map(|folder| folder.display().to_string())),
                ..pair
            }))),
        })
    };
    object!(RuntimeJson {
        runtime: name,
        batch: audit.batch.as_deref(),
        invariances: audit.checks.iter().map(invariance).collect::<Vec<_>>(),
    })
}
