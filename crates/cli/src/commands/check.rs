//! `gradus check`: what differs when two models run on the same inputs, or one in other programs.

use std::path::Path;
use std::time::Duration;

use gradus::check::{
    Check, CheckOptions, CommandRuntime, ErrorPattern, FailingCase, GradusRuntime, NodeCheck, NodeLabel,
    OutputCheck, Runtime, RuntimeCheck, SavedCase, Verdict,
};
use gradus::conversion::Converted;
use gradus::convert::u64_of;
use gradus::graph::Type;
use gradus::{DType, Error, Kind, Limits, Model};
use serde::Serialize;

use super::{given, proved, quantized};
use crate::FindRuntime;
use crate::args;
use crate::columns::{Column, fitted, narrow_hint};
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output;

/// Runs `gradus check`: an error if the results of two models, or of programs, differ.
pub(crate) fn check(args: &args::CheckArgs, runtime: FindRuntime) -> Result<(), Failure> {
    let same = match () {
        () if args.quantized => quantized::lose(args).map(|()| true),
        () if args.with.is_empty() => compare(args),
        () => compare_in(args, runtime),
    };
    match same {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Different),
        Err(Failure::Error(error)) => Err(Failure::NotCompared(error)),
        Err(other) => Err(other),
    }
}

impl args::CheckArgs {
    /// The second model, or the only one.
    pub(super) fn second(&self) -> &Path {
        self.after.as_deref().unwrap_or(&self.before)
    }

    /// Returns true if no output differs by more than is accepted.
    fn accepts(&self, outputs: &[OutputCheck]) -> bool {
        let within = |output: &OutputCheck| {
            let near = output.ulps <= self.max_ulp || output.relative <= self.max_relative;
            output.differing == 0 || (near && (self.max_ulp > 0 || self.max_relative > 0.0))
        };
        outputs.iter().all(|output| output.types.is_none() && within(output))
    }

    /// Options of the comparison, with inputs that are given for the first model.
    pub(super) fn options(&self, before: &Model) -> Result<CheckOptions, Failure> {
        let mut options = CheckOptions::default();
        (options.runs, options.seed) = (self.runs, self.seed);
        if self.no_prove {
            options.proof = Duration::ZERO;
        }
        options.sizes.dims = given::dims(&self.shapes.dims)?;
        options.sizes.inputs = given::shapes(&self.shapes.inputs.input_shapes)?;
        let values = given::values(before, &self.inputs, self.seed, &self.limits.limits())?;
        options.sizes.inputs.extend(values);
        Ok(options)
    }
}

/// Compares two models, and returns true if they are the same.
fn compare(args: &args::CheckArgs) -> Result<bool, Failure> {
    let models = [args.limits.open(&args.before)?, args.limits.open(args.second())?];
    let [before, after] = given::set_both(models, &args.shapes.inputs)?;
    let check = before.check(&after, &args.options(&before)?);
    let check = check.map_err(|error| error.in_file(args.before.display()))?;
    let same = args.accepts(&check.outputs);
    if output::is_json() {
        output::print_json(&json(args, &check, same))?;
    } else {
        output::print_line(&text(&check))?;
    }
    Ok(same)
}

/// Compares a model with what runtimes make of it or another, and returns true if that is the same.
fn compare_in(args: &args::CheckArgs, runtime: FindRuntime) -> Result<bool, Failure> {
    let (before, after) = (args.limits.open(&args.before)?, args.limits.open(args.second())?);
    let mut options = args.options(&before)?;
    let before = given::set_in_runtime(&before, &after, &args.shapes.inputs, &mut options.sizes.inputs)?;
    let mut checks: Vec<(_, _, Option<SavedCase>)> = Vec::with_capacity(args.with.len());
    for name in args.with.iter().flatten() {
        let runtime = runtime_of(name, runtime, args.limits.limits())?;
        let check = before.check_in(&after, &*runtime, &options);
        let check = check.map_err(|error| error.in_file(args.before.display()))?;
        let saved = match (&args.save_case, &check.first_beyond) {
            // The first program that fails is the one whose case is kept.
            (Some(folder), Some(case)) if checks.iter().all(|(.., saved)| saved.is_none()) => {
                Some(case.save(folder, &*runtime)?)
            }
            _ => None,
        };
        checks.push((name, check, saved));
    }
    let same = checks.iter().all(|(_, check, _)| args.accepts(&check.outputs));
    if output::is_json() {
        let runtimes = checks.iter().map(|(name, check, saved)| {
            object!(RuntimeJson {
                runtime: name,
                runs: check.runs,
                outputs: check.outputs.iter().map(output_json).collect::<Vec<_>>(),
                nodes: check.nodes.iter().map(node_json).collect::<Vec<_>>(),
                first_beyond: Maybe(
                    check.first_beyond.as_ref().map(|case| beyond_json(case, saved.as_ref()))
                ),
                hidden: Maybe(check.hidden.as_ref().map(ToString::to_string)),
                refused: Maybe(check.refused.as_ref().map(ToString::to_string)),
            })
        });
        output::print_json(&object!(CheckInJson {
            before: args.before.display().to_string(),
            after: args.second().display().to_string(),
            same,
            runtimes: runtimes.collect::<Vec<_>>(),
        }))?;
    } else {
        let texts = checks.iter().map(|(name, check, saved)| {
            let saved = saved.as_ref().zip(args.save_case.as_deref());
            let saved = saved.map(|(saved, folder)| format!("\n\n{}", text_of_case(saved, folder)));
            format!("{name}: {}{}", text_in(check, args.all), saved.unwrap_or_default())
        });
        output::print_line(&texts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(same)
}

/// The program of a name, or of a command line.
pub(super) fn runtime_of(name: &str, find: FindRuntime, limits: Limits) -> Result<Box<dyn Runtime>, Error> {
    Ok(match name.strip_prefix(CommandRuntime::PREFIX) {
        Some(command) => Box::new(CommandRuntime::new(command, limits)?),
        None if name == GradusRuntime::NAME => Box::new(GradusRuntime::new(limits)),
        None => find(name)?,
    })
}

/// The largest difference of a conversion that is not exact, as a part of the largest magnitude:
/// roundings of float32; eight units in the last place of float16, or of bfloat16, which is also a
/// few codes of 8 bits, as other roundings lead to other codes.
fn rounding(model: &Model) -> f64 {
    const FLOAT32: f64 = 1e-4;
    const FLOAT16: f64 = 4e-3;
    const EIGHT_BITS: f64 = 3e-2;
    let of_type = |dtype: DType| match dtype {
        DType::F16 => FLOAT16,
        dtype if dtype == DType::BF16 || (dtype.is_float() && dtype.bits() <= 8) => EIGHT_BITS,
        _ => FLOAT32,
    };
    let (mut graphs, mut largest) = (vec![model.graph()], FLOAT32);
    while let Some(graph) = graphs.pop() {
        let constants = graph.constants().iter().map(|(_, constant)| constant.dtype());
        let declared = graph.values().iter().filter_map(|info| match info.declared {
            Some(Type::Tensor(dtype, _)) => dtype,
            _ => None,
        });
        largest = constants.chain(declared).map(of_type).fold(largest, f64::max);
        for node in graph.nodes() {
            if node.operator.name.contains("Quant") || node.operator.name.contains("QLinear") {
                largest = EIGHT_BITS;
            }
            graphs.extend(node.graphs().map(|inner| &**inner));
        }
    }
    largest
}

/// Checks what a model became before it is written: the same bits, or where the conversion says so,
/// other roundings.
pub(super) fn checked(
    before: &Model,
    converted: &Converted,
    options: &CheckOptions,
) -> Result<String, Error> {
    let check = before.check(&converted.model, options)?;
    let most = rounding(before);
    let rounded = |output: &OutputCheck| output.types.is_none() && output.relative <= most;
    if check.is_same() {
        Ok(text(&check))
    } else if !converted.report.is_exact() && check.outputs.iter().all(rounded) {
        let relative = check.outputs.iter().map(|output| output.relative).fold(0.0, f64::max);
        Ok(format!("{}: within {relative:.1e} of the largest magnitude", counts(&check.outputs, check.runs)))
    } else {
        let message = "the converted model differs; nothing is written";
        Err(Error::new(Kind::Value, format!("{message}\n\n{}", text(&check))))
    }
}

/// The outputs, elements and runs that were compared, in words.
fn counts(outputs: &[OutputCheck], runs: usize) -> String {
    let elements = outputs.iter().map(|output| output.elements).sum();
    let outputs = counted(u64_of(outputs.len()), "output");
    format!("{outputs}, {}, {}", counted(elements, "element"), counted(u64_of(runs), "run"))
}

/// A count, with its unit.
pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn text(check: &Check) -> String {
    let proof = check.proof.as_ref().filter(|proof| proof.proved().next().is_some()).map(proved::text);
    let runs = (check.runs > 0).then(|| text_of_runs(check));
    let blank = if check.is_same() { "\n" } else { "\n\n" };
    proof.into_iter().chain(runs).collect::<Vec<_>>().join(blank)
}

fn text_of_runs(check: &Check) -> String {
    if check.is_same() {
        return format!("{}: the same bits", counts(&check.outputs, check.runs));
    }
    let mut table = output::table(&OUTPUTS);
    for output in &check.outputs {
        table.add_row(row(&output.name, output));
    }
    let parting = check.parting.as_ref().map_or_else(String::new, |parting| {
        let line = format!("{}: {} and {}", parting.value, parting.before, parting.after);
        format!("\n\nthe models part at {}", output::escaped(&line))
    });
    format!("{}\n\n{}{parting}", output::render(&table), counts(&check.outputs, check.runs))
}

const OUTPUTS: [&str; 6] = ["output", "elements", "differ", "largest", "relative", "first difference"];

/// A row of a table of outputs or nodes.
fn row(name: &str, output: &OutputCheck) -> [String; 6] {
    let relative = match output.ulps {
        0 | u64::MAX => String::new(),
        _ => format!("{:.1e}", output.relative),
    };
    let name = output::escaped(name).into_owned();
    [
        name,
        output.elements.to_string(),
        output.differing.to_string(),
        largest(output),
        relative,
        first(output),
    ]
}

/// The largest difference in words.
pub(super) fn largest(output: &OutputCheck) -> String {
    match output.ulps {
        0 => String::new(),
        u64::MAX => "no distance".to_owned(),
        ulps => format!("{ulps} ulp"),
    }
}

/// Nodes or tensors that are listed, if not all are.
pub(super) const WORST: usize = 10;

/// The outputs of a runtime, and the nodes that differ most.
fn text_in(check: &RuntimeCheck, all: bool) -> String {
    let counts = counts(&check.outputs, check.runs);
    let mut texts = Vec::new();
    if check.outputs.iter().all(OutputCheck::is_same) {
        texts.push(format!("{counts}: the same bits"));
    } else {
        let mut table = output::table(&OUTPUTS);
        table.add_rows(check.outputs.iter().map(|output| row(&output.name, output)));
        texts.extend([counts, output::render(&table)]);
    }
    let differing: Vec<_> = check.nodes.iter().filter(|node| !node.value.is_same()).collect();
    if !differing.is_empty() {
        let heading = ["node alone", "label", "error/bound", "largest", "differ", "worst element"];
        let mut rows = vec![heading.map(str::to_owned)];
        let shown = differing.iter().take(if all { usize::MAX } else { WORST });
        rows.extend(shown.map(|node| row_of_node(node)));
        let table = fitted(&rows, &NODE_COLUMNS);
        let hint = narrow_hint(std::slice::from_ref(&table)).map(|hint| format!("\n{hint}"));
        texts.push(format!("{}{}", table.text.trim_end(), hint.unwrap_or_default()));
    }
    texts.push(summary(check, differing.len()));
    if let Some(case) = &check.first_beyond {
        let line = format!("first beyond its bound: {}, value {}", case.node, case.value);
        texts.push(output::escaped(&line).into_owned());
    }
    let errors =
        [("not all runs show the values of nodes", &check.hidden), ("refused a run", &check.refused)];
    for (what, error) in errors {
        texts.extend(error.as_ref().map(|error| format!("{what}: {}", output::escaped(&error.to_string()))));
    }
    texts.join("\n\n")
}

const NODE_COLUMNS: [Column; 6] =
    [Column::NAME, Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::EXTRA];

/// A row of the table of nodes.
fn row_of_node(node: &NodeCheck) -> [String; 6] {
    let Verdict { label, ratio, worst, pattern, .. } = &node.verdict;
    let label = pattern.map_or_else(|| label.to_string(), |pattern| format!("{label}: {pattern}"));
    let ratio = match node.verdict.label {
        NodeLabel::Unbounded => String::new(),
        _ if *ratio >= 1000.0 => format!("{ratio:.0e}"),
        _ => format!("{ratio:.2}"),
    };
    let worst = worst.as_ref().map_or_else(
        || first(&node.value),
        |it| format!("{}: {} for {} ± {:.1e}", it.index, it.given, it.exact, it.bound),
    );
    let [_, _, differ, largest, _, _] = row("", &node.value);
    [node.node.clone(), label, ratio, largest, differ, worst]
}

/// The numbers of values by their labels.
fn summary(check: &RuntimeCheck, differing: usize) -> String {
    let values = counted(u64_of(check.nodes.len()), "value");
    let of = |label| check.nodes.iter().filter(|node| node.verdict.label == label).count();
    let labels = [NodeLabel::Beyond, NodeLabel::Unbounded, NodeLabel::Rounding];
    let labels: Vec<_> =
        labels.map(|label| (of(label), label)).into_iter().filter(|(count, _)| *count > 0).collect();
    let labels: Vec<_> = labels.iter().map(|(count, label)| format!("{count} {label}")).collect();
    let labels = if labels.is_empty() { String::new() } else { format!(": {}", labels.join(", ")) };
    format!("{differing} of {values} of nodes differ from the exact result for the same inputs{labels}")
}

/// A line about a failing case that was saved.
fn text_of_case(saved: &SavedCase, folder: &Path) -> String {
    let rows = saved.rows.map_or_else(String::new, |(before, after)| format!(", {after} of {before} rows"));
    let alone = if saved.fails_alone { "" } else { "; alone, the node is within its bound" };
    format!(
        "saved the node and its inputs in {}{rows}{alone}",
        output::escaped(&folder.display().to_string())
    )
}

fn first(output: &OutputCheck) -> String {
    match (&output.types, &output.first) {
        (Some((before, after)), _) => format!("{after} for {before}"),
        (None, Some(it)) => {
            output::escaped(&format!("{}: {} for {}", it.index, it.after, it.before)).into_owned()
        }
        (None, None) => String::new(),
    }
}

fn json(args: &args::CheckArgs, check: &Check, same: bool) -> impl Serialize {
    object!(CheckJson {
        before: args.before.display().to_string(),
        after: args.second().display().to_string(),
        same,
        proof: Maybe(check.proof.as_ref().map(proved::json)),
        runs: check.runs,
        outputs: check.outputs.iter().map(output_json).collect::<Vec<_>>(),
        parting: Maybe(check.parting.as_ref().map(|it| object!(PartingJson { value, before, after, ..it }))),
    })
}

/// The comparison of an output, as JSON has it.
pub(super) fn output_json(output: &OutputCheck) -> impl Serialize {
    object!(OutputJson {
        name,
        elements,
        differing,
        ulps: Some(output.ulps).filter(|&ulps| ulps < u64::MAX),
        relative,
        first: Maybe(output.first.as_ref().map(|it| object!(ElementJson { index, before, after, ..it }))),
        types: Maybe(output.types.as_ref().map(|(before, after)| [&**before, &**after])),
        ..output
    })
}

fn node_json(node: &NodeCheck) -> impl Serialize {
    let Verdict { label, ratio, worst, pattern, .. } = &node.verdict;
    object!(NodeJson {
        node: &node.node,
        value: output_json(&node.value),
        label: label.name(),
        ratio: Some(*ratio).filter(|ratio| ratio.is_finite()),
        worst: Maybe(worst.as_ref().map(|it| object!(WorstJson {
            index,
            exact,
            given,
            bound: Some(it.bound).filter(|bound| bound.is_finite()),
            ..it
        }))),
        pattern: Maybe(pattern.map(ErrorPattern::name)),
    })
}

fn beyond_json(case: &FailingCase, saved: Option<&SavedCase>) -> impl Serialize {
    let saved = saved.map(|saved| object!(SavedJson { rows, fails_alone, ..saved }));
    object!(BeyondJson { node, value, saved: Maybe(saved), ..case })
}
