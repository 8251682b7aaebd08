//! `gradus check`: what differs when two models run on the same inputs, or one in other programs.

use std::path::Path;
use std::time::Duration;

use gradus::check::{Check, CheckOptions, CommandRuntime, NodeCheck, OutputCheck, RuntimeCheck};
use gradus::conversion::Converted;
use gradus::convert::u64_of;
use gradus::graph::Type;
use gradus::{DType, Error, Kind, Model};
use serde::Serialize;

use super::given;
use super::proved::{self, ProofJson};
use crate::FindRuntime;
use crate::args;
use crate::diagnostics::Failure;
use crate::output;

#[derive(Serialize)]
struct CheckJson<'a> {
    before: String,
    after: String,
    same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofJson<'a>>,
    runs: usize,
    outputs: Vec<OutputJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parting: Option<PartingJson<'a>>,
}

#[derive(Serialize)]
struct OutputJson<'a> {
    name: &'a str,
    elements: u64,
    differing: u64,
    /// Nothing if no number of elements lies between the two.
    ulps: Option<u64>,
    relative: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<ElementJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<[&'a str; 2]>,
}

#[derive(Serialize)]
struct ElementJson<'a> {
    index: u64,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct PartingJson<'a> {
    value: &'a str,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct CheckInJson<'a> {
    before: String,
    after: String,
    same: bool,
    runtimes: Vec<RuntimeJson<'a>>,
}

#[derive(Serialize)]
struct RuntimeJson<'a> {
    runtime: &'a str,
    runs: usize,
    outputs: Vec<OutputJson<'a>>,
    nodes: Vec<NodeJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Serialize)]
struct NodeJson<'a> {
    node: &'a str,
    value: OutputJson<'a>,
}

/// Runs `gradus check`: an error if the results of two models, or of programs, differ.
pub(crate) fn check(args: &args::CheckArgs, runtime: FindRuntime) -> Result<(), Failure> {
    let same = if args.with.is_empty() { compare(args) } else { compare_in(args, runtime) };
    match same {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Different),
        Err(Failure::Error(error)) => Err(Failure::NotCompared(error)),
        Err(other) => Err(other),
    }
}

impl args::CheckArgs {
    /// The second model, or the only one.
    fn second(&self) -> &Path {
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

    fn options(&self, before: &Model) -> Result<CheckOptions, Failure> {
        let mut options = CheckOptions::default();
        (options.runs, options.seed) = (self.runs, self.seed);
        if self.no_prove {
            options.proof = Duration::ZERO;
        }
        options.sizes.dims = given::dims(&self.shapes.dims)?;
        options.sizes.inputs = given::shapes(&self.shapes.input_shapes)?;
        let values = given::values(before, &self.inputs, self.seed, &self.limits.limits())?;
        options.sizes.inputs.extend(values);
        Ok(options)
    }
}

/// Compares two models, and returns true if they are the same.
fn compare(args: &args::CheckArgs) -> Result<bool, Failure> {
    let models = [args.limits.open(&args.before)?, args.limits.open(args.second())?];
    let [before, after] = given::set_both(models, &args.shapes.set)?;
    let check = before.check(&after, &args.options(&before)?);
    let check = check.map_err(|error| error.in_file(args.before.display()))?;
    let same = args.accepts(&check.outputs);
    if args.json {
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
    let before = given::set_in_runtime(&before, &after, &args.shapes.set, &mut options.sizes.inputs)?;
    let mut checks = Vec::with_capacity(args.with.len());
    for name in args.with.iter().flatten() {
        let runtime = match name.strip_prefix(CommandRuntime::PREFIX) {
            Some(command) => Box::new(CommandRuntime::new(command, args.limits.limits())?),
            None => runtime(name)?,
        };
        let check = before.check_in(&after, &*runtime, &options);
        checks.push((name, check.map_err(|error| error.in_file(args.before.display()))?));
    }
    let same = checks.iter().all(|(_, check)| args.accepts(&check.outputs));
    if args.json {
        let runtimes = checks.iter().map(|(name, check)| RuntimeJson {
            runtime: name,
            runs: check.runs,
            outputs: check.outputs.iter().map(output_json).collect(),
            nodes: check.nodes.iter().map(node_json).collect(),
            hidden: check.hidden.as_ref().map(ToString::to_string),
            refused: check.refused.as_ref().map(ToString::to_string),
        });
        output::print_json(&CheckInJson {
            before: args.before.display().to_string(),
            after: args.second().display().to_string(),
            same,
            runtimes: runtimes.collect(),
        })?;
    } else {
        let texts = checks.iter().map(|(name, check)| format!("{name}: {}", text_in(check, args.all)));
        output::print_line(&texts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(same)
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

fn counted(count: u64, what: &str) -> String {
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
    let (largest, relative) = match output.ulps {
        0 => (String::new(), String::new()),
        u64::MAX => ("no distance".to_owned(), String::new()),
        ulps => (format!("{ulps} ulp"), format!("{:.1e}", output.relative)),
    };
    let name = output::escaped(name).into_owned();
    [name, output.elements.to_string(), output.differing.to_string(), largest, relative, first(output)]
}

/// Nodes that are listed, if not all are.
const WORST: usize = 10;

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
        let mut table =
            output::table(&["node alone", "elements", "differ", "largest", "relative", "first difference"]);
        let shown = differing.iter().take(if all { usize::MAX } else { WORST });
        table.add_rows(shown.map(|node| row(&node.node, &node.value)));
        texts.push(output::render(&table));
    }
    let values = counted(u64_of(check.nodes.len()), "value");
    texts.push(format!(
        "{} of {values} of nodes differ from the exact result for the same inputs",
        differing.len()
    ));
    let errors =
        [("not all runs show the values of nodes", &check.hidden), ("refused a run", &check.refused)];
    for (what, error) in errors {
        texts.extend(error.as_ref().map(|error| format!("{what}: {}", output::escaped(&error.to_string()))));
    }
    texts.join("\n\n")
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

fn json<'a>(args: &args::CheckArgs, check: &'a Check, same: bool) -> CheckJson<'a> {
    CheckJson {
        before: args.before.display().to_string(),
        after: args.second().display().to_string(),
        same,
        proof: check.proof.as_ref().map(ProofJson::of),
        runs: check.runs,
        outputs: check.outputs.iter().map(output_json).collect(),
        parting: check.parting.as_ref().map(|it| PartingJson {
            value: &it.value,
            before: &it.before,
            after: &it.after,
        }),
    }
}

fn output_json(output: &OutputCheck) -> OutputJson<'_> {
    OutputJson {
        name: &output.name,
        elements: output.elements,
        differing: output.differing,
        ulps: Some(output.ulps).filter(|&ulps| ulps < u64::MAX),
        relative: output.relative,
        first: output.first.as_ref().map(|it| ElementJson {
            index: it.index,
            before: &it.before,
            after: &it.after,
        }),
        types: output.types.as_ref().map(|(before, after)| [&**before, &**after]),
    }
}

fn node_json(node: &NodeCheck) -> NodeJson<'_> {
    NodeJson { node: &node.node, value: output_json(&node.value) }
}
