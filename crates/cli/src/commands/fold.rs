//! `gradus fold`: what can be computed before a run becomes part of the model.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use gradus::check::VerifyOptions;
use gradus::fold::{FoldOptions, FoldReport, Measured, MeasuredOutput, RULES, RuleSet, Verified};
use gradus::graph::Standard;
use gradus::infer::Sizes;
use gradus::{Error, Kind, Model};
use serde::Serialize;

use super::fleet::FleetModel;
use super::{fleet, given, many, proved};
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Maybe, OrError, object};
use crate::output::{self, escaped};

/// Nodes that stayed and are listed where not all are asked for.
const MAX_KEPT: usize = 10;
/// The number that random inputs start from: the same in each run.
const SEED: u64 = 1;

/// Comparisons of both models.
#[derive(Default)]
struct Checks {
    verified: Option<Verified>,
    measured: Option<gradus::Result<Measured>>,
}

#[derive(Serialize)]
struct ByteCounts {
    before: u64,
    after: u64,
}

fn list_rules() -> Result<(), Failure> {
    let mut table = output::table(&["rule", "level", "pattern"]);
    for rule in RULES.iter() {
        table.add_row([rule.name, rule.level.name(), rule.pattern]);
    }
    writeln!(std::io::stdout().lock(), "{}", output::render(&table))?;
    Ok(())
}

/// Runs `gradus fold`: writes folded models, or lists the rules.
pub(crate) fn fold(args: &args::FoldArgs) -> Result<(), Failure> {
    if args.list_rules {
        return list_rules();
    }
    let Some(output) = &args.output else { return Ok(()) };
    let mut options = FoldOptions::default();
    options.rules = RuleSet::of(args.level);
    for name in &args.rules {
        options.rules = options.rules.with(name)?;
    }
    for name in &args.no_rules {
        options.rules = options.rules.without(name)?;
    }
    if args.keep_weights {
        options.rules = options.rules.keeping_weights();
    }
    options.sizes = given::sizes(&args.sizes)?;
    options.max_constant = args.max_constant;
    options.declare = !args.no_declare;
    let models = fleet::expand(&args.models)?;
    given::check_destination(output, &models)?;
    many::each(&models, &args.fleet, args.limits.limits(), |model, out| {
        output::bounded(out, output::is_json() || args.all, |out| one(args, output, model, &options, out))
    })
}

/// How a model is compared with what it was folded to in `work`.
fn of_runs(
    args: &args::FoldArgs,
    model: &Model,
    of: &Sizes,
    work: Duration,
) -> Result<VerifyOptions, Failure> {
    let mut options = VerifyOptions::default();
    (options.sizes, options.seed) = (of.clone(), SEED);
    options.sizes.inputs.extend(given::values(model, &args.inputs, SEED, &args.limits.limits())?);
    if !args.verify {
        options = options.beside(work);
    }
    if args.prove {
        options.proof = Duration::MAX;
    }
    Ok(options)
}

/// Compares a model with what it was folded to.
fn verified(
    args: &args::FoldArgs,
    model: &Model,
    after: &Model,
    rules: RuleSet,
    options: &VerifyOptions,
) -> Result<Verified, Failure> {
    let in_file = |error: Error| match model.path() {
        Some(path) => error.in_file(path.display()),
        None => error,
    };
    let found = model.verify(after, rules, options);
    let found = found.map_err(|error| in_file(proved::unwritten(error)))?;
    match &found.refused {
        Some(why) if args.verify => {
            let message = format!(
                "outputs were not compared, and nothing is written: {why}; -i, --dim and --input-shape give the inputs of a run"
            );
            Err(in_file(Error::new(Kind::Unsupported, message)).into())
        }
        _ => Ok(found),
    }
}

fn one(
    args: &args::FoldArgs,
    output: &Path,
    of: &FleetModel,
    options: &FoldOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let model = args.limits.open(path)?.keep_names(args.names.keep_names);
    let model = given::set(&model, &args.sizes.shapes.inputs)?;
    let to = &given::destination(output, of, model.source().standard)?;
    let begin = Instant::now();
    let folded = model.fold(options).map_err(|error| error.in_file(path.display()))?;
    let measures = options.rules.may_change_floats();
    let mut checks = Checks::default();
    if measures || !args.no_verify {
        let after = model.edited(&folded.model)?;
        let of_runs = of_runs(args, &model, &options.sizes, begin.elapsed())?;
        if !args.no_verify {
            checks.verified = Some(verified(args, &model, &after, options.rules, &of_runs)?);
        }
        if measures {
            checks.measured = Some(model.measure(&after, &of_runs));
        }
    }
    let len = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    let is_ir = model.source().standard == Standard::OpenVino;
    let before = len(path) + if is_ir { len(&path.with_extension("bin")) } else { 0 };
    let sizes = ByteCounts { before, after: model.save_edited(&folded.model, to)? };
    if output::is_json() {
        let json = json(path, to, sizes, &folded.report, &checks);
        output::write_json(out, &json)?;
    } else {
        write!(out, "{}", text(args, path, to, &sizes, &folded.report, &checks))?;
    }
    // The problems are printed; the exit status says that there are some.
    if folded.report.problems.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn json<'a>(
    path: &Path,
    to: &Path,
    bytes: ByteCounts,
    report: &'a FoldReport,
    checks: &'a Checks,
) -> impl Serialize {
    let count = |which: fn(&(usize, usize)) -> usize| {
        let all = report.operators.iter().map(|(name, counts)| (&**name, which(counts)));
        all.filter(|(_, count)| *count > 0).collect::<BTreeMap<_, _>>()
    };
    let kept = report.kept.iter();
    let (assumptions, problems) = (report.assumptions.iter(), report.problems.iter());
    object!(FoldedJson {
        model: path.display().to_string(),
        output: to.display().to_string(),
        bytes: bytes,
        nodes: object!(NodesJson { before: count(|counts| counts.0), after: count(|counts| counts.1) }),
        constants: object!(ConstantsJson {
            count: report.constants,
            bytes: report.constant_bytes,
            dropped: report.dropped,
        }),
        inlined,
        declared,
        weights,
        kept: kept.map(|kept| object!(KeptJson { node, operator, reason, ..kept })).collect::<Vec<_>>(),
        assumptions: assumptions
            .map(|of| object!(ProblemJson { place: &of.node, message: &of.text }))
            .collect::<Vec<_>>(),
        problems: problems.map(|of| object!(ProblemJson { place, message, ..of })).collect::<Vec<_>>(),
        verified: Maybe(checks.verified.as_ref().map(|verified| object!(VerifiedJson {
            proof: Maybe(verified.proof.as_ref().map(proved::json)),
            bindings,
            values,
            runs,
            sizes,
            elements,
            refused: Maybe(verified.refused.as_deref()),
            ..verified
        }))),
        measured: Maybe(checks.measured.as_ref().map(|measured| OrError(measured.as_ref().map(|of| {
            let output =
                |of: &'a MeasuredOutput| object!(MeasuredOutputJson { name, elements, ulps, relative, ..of });
            object!(MeasuredJson {
                elements,
                ulps,
                relative,
                outputs: of.outputs.iter().map(output).collect::<Vec<_>>(),
                ..of
            })
        })))),
        ..report
    })
}

fn text(
    args: &args::FoldArgs,
    path: &Path,
    to: &Path,
    bytes: &ByteCounts,
    report: &FoldReport,
    checks: &Checks,
) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let same = match &checks.measured {
        None => "are the same bits",
        Some(_) => "have the same types and shapes",
    };
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
    let most = if args.all { usize::MAX } else { MAX_KEPT };
    if !report.weights.is_empty() {
        let _ = writeln!(
            out,
            "\nread weights that were computed and are constants now; runtimes may pack these and choose another kernel (--keep-weights leaves them):"
        );
    }
    for node in report.weights.iter().take(most) {
        let _ = writeln!(out, "  {}", escaped(node));
    }
    if report.weights.len() > most {
        let _ = writeln!(out, "  and {} more (--all)", report.weights.len() - most);
    }
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
    match &checks.measured {
        Some(Ok(Measured { elements, ulps, relative, outputs, .. })) => {
            let _ = writeln!(
                out,
                "\nmeasured: {elements} floats of a run on random inputs differ by at most {ulps} ulp, {relative:.1e} of the largest"
            );
            for MeasuredOutput { name, ulps, relative, .. } in outputs.iter().take(most) {
                let _ = writeln!(out, "  {}: {ulps} ulp, {relative:.1e}", escaped(name));
            }
            if outputs.len() > most {
                let _ = writeln!(out, "  and {} more (--all)", outputs.len() - most);
            }
        }
        Some(Err(error)) => {
            let _ = writeln!(out, "\nnot measured: {}", escaped(&error.to_string()));
        }
        None => {}
    }
    if let Some(found @ Verified { bindings, values, .. }) = &checks.verified {
        out.push('\n');
        if let Some(proof) = &found.proof {
            let _ = writeln!(out, "{}", proved::text(proof));
        }
        if args.verify {
            let _ = writeln!(
                out,
                "verified: {values} values are the same before and after, under {bindings} random bindings"
            );
        }
        let _ = match &found.refused {
            Some(why) => writeln!(out, "outputs were not compared: {}", escaped(why)),
            None if found.runs == 0 => Ok(()),
            None => writeln!(out, "{}", proved::runs(found.elements, same, (found.runs, &found.sizes))),
        };
    }
    out
}
