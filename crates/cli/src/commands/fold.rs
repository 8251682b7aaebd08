//! `gradus fold`: what can be computed before a run becomes part of the model.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use gradus::fold::{FoldOptions, FoldReport, Verified};
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use serde::Serialize;

use super::fleet::FleetModel;
use super::{fleet, given, many};
use crate::args;
use crate::diagnostics::Failure;
use crate::output::{self, escaped};

/// Nodes that stayed and are listed where not all are asked for.
const MOST_KEPT: usize = 10;
/// Random bindings of `--verify`, and the number that they start from: the same in each run.
const BINDINGS: usize = 5;
const SEED: u64 = 1;

#[derive(Serialize)]
struct FoldedJson<'a> {
    model: String,
    output: String,
    bytes: ByteCounts,
    nodes: NodesJson<'a>,
    constants: ConstantsJson,
    inlined: usize,
    declared: usize,
    kept: Vec<KeptJson<'a>>,
    assumptions: Vec<ProblemJson<'a>>,
    problems: Vec<ProblemJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<VerifiedJson>,
}

#[derive(Serialize)]
struct ByteCounts {
    before: u64,
    after: u64,
}

#[derive(Serialize)]
struct NodesJson<'a> {
    before: BTreeMap<&'a str, usize>,
    after: BTreeMap<&'a str, usize>,
}

#[derive(Serialize)]
struct ConstantsJson {
    count: usize,
    bytes: u64,
    dropped: usize,
}

#[derive(Serialize)]
struct KeptJson<'a> {
    node: &'a str,
    operator: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    place: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct VerifiedJson {
    bindings: usize,
    values: usize,
}

pub(crate) fn fold(args: &args::FoldArgs) -> Result<(), Failure> {
    let mut options = FoldOptions::default();
    options.dims = given::dims(&args.dims)?;
    options.inputs = given::shapes(&args.input_shapes)?;
    options.max_constant = args.max_constant;
    options.declare = !args.no_declare;
    let models = fleet::expand(&args.models)?;
    given::check_destination(&args.output, &models)?;
    many::each(&models, args.json, &args.fleet, |model, out| one(args, model, &options, out))
}

fn one(
    args: &args::FoldArgs,
    of: &FleetModel,
    options: &FoldOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let model = args.limits.open(path)?;
    let to = &given::destination(&args.output, of, model.source().standard)?;
    let folded = model.fold(options).map_err(|error| error.in_file(path.display()))?;
    let verified = if args.verify {
        let mut given = InferOptions::default();
        given.dims.clone_from(&options.dims);
        given.inputs.clone_from(&options.inputs);
        let after = model.edited(&folded.edit)?;
        let verified = model.verify(&after, &given, BINDINGS, SEED);
        Some(verified.map_err(|error| error.in_file(path.display()))?)
    } else {
        None
    };
    let len = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    let is_ir = model.source().standard == Standard::OpenVino;
    let before = len(path) + if is_ir { len(&path.with_extension("bin")) } else { 0 };
    let sizes = ByteCounts { before, after: model.save_edited(&folded.edit, to)? };
    if args.json {
        let json = json(path, to, sizes, &folded.report, verified);
        writeln!(out, "{}", output::json(&json)?)?;
    } else {
        write!(out, "{}", text(args, path, to, &sizes, &folded.report, verified.as_ref()))?;
    }
    Ok(())
}

fn json<'a>(
    path: &Path,
    to: &Path,
    bytes: ByteCounts,
    report: &'a FoldReport,
    verified: Option<Verified>,
) -> FoldedJson<'a> {
    let count = |which: fn(&(usize, usize)) -> usize| {
        let all = report.operators.iter().map(|(name, counts)| (&**name, which(counts)));
        all.filter(|(_, count)| *count > 0).collect()
    };
    let kept = report.kept.iter();
    let (assumptions, problems) = (report.assumptions.iter(), report.problems.iter());
    FoldedJson {
        model: path.display().to_string(),
        output: to.display().to_string(),
        bytes,
        nodes: NodesJson { before: count(|counts| counts.0), after: count(|counts| counts.1) },
        constants: ConstantsJson {
            count: report.constants,
            bytes: report.constant_bytes,
            dropped: report.dropped,
        },
        inlined: report.inlined,
        declared: report.declared,
        kept: kept
            .map(|kept| KeptJson { node: &kept.node, operator: &kept.operator, reason: &kept.reason })
            .collect(),
        assumptions: assumptions
            .map(|assumption| ProblemJson { place: &assumption.node, message: &assumption.text })
            .collect(),
        problems: problems
            .map(|problem| ProblemJson { place: &problem.place, message: &problem.message })
            .collect(),
        verified: verified.map(|Verified { bindings, values, .. }| VerifiedJson { bindings, values }),
    }
}

fn text(
    args: &args::FoldArgs,
    path: &Path,
    to: &Path,
    bytes: &ByteCounts,
    report: &FoldReport,
    verified: Option<&Verified>,
) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let (before, after) = report.nodes();
    let _ = writeln!(out, "{} -> {}", output::path(path), output::path(to));
    let _ = writeln!(out, "nodes {before} -> {after}, bytes {} -> {}", bytes.before, bytes.after);
    let _ = writeln!(
        out,
        "constants: {} added ({} bytes), {} no longer read; {} conditions were known; {} types declared",
        report.constants, report.constant_bytes, report.dropped, report.inlined, report.declared
    );
    let mut table = output::table(&["operator", "before", "after"]);
    let changed = report.operators.iter().filter(|(_, (before, after))| before != after);
    let mut rows = 0;
    for (name, (before, after)) in changed {
        table.add_row([escaped(name).into_owned(), before.to_string(), after.to_string()]);
        rows += 1;
    }
    if rows > 0 {
        let _ = writeln!(out, "\n{}", output::render(&table));
    }
    let most = if args.all { usize::MAX } else { MOST_KEPT };
    if !report.kept.is_empty() {
        let _ = writeln!(out, "\nstayed:");
    }
    for kept in report.kept.iter().take(most) {
        let _ =
            writeln!(out, "  {}", escaped(&format!("{} ({}): {}", kept.node, kept.operator, kept.reason)));
    }
    if report.kept.len() > most {
        let _ = writeln!(out, "  and {} more (--all)", report.kept.len() - most);
    }
    if !report.assumptions.is_empty() {
        let _ = writeln!(out, "\nassumptions:");
    }
    for assumption in &report.assumptions {
        let _ = writeln!(out, "  {}", escaped(&format!("{} ({})", assumption.text, assumption.node)));
    }
    for problem in &report.problems {
        let _ = writeln!(out, "problem: {}", escaped(&format!("{}: {}", problem.place, problem.message)));
    }
    if let Some(Verified { bindings, values, .. }) = verified {
        let _ = writeln!(
            out,
            "\nverified: {values} values are the same before and after, under {bindings} random bindings"
        );
    }
    out
}
