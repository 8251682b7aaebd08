//! `gradus compare MODEL`: the nodes whose results depend on the program that runs the model.

use std::io::Write;

use gradus::infer::InferOptions;
use gradus::portability::{
    Difference, ModelSequence, OPENVINO_RULES, PROGRAMS, Portability, RULES, VERSIONS, When,
};
use gradus::sort::SharedSort;
use gradus::{Error, Kind};
use serde::Serialize;
use serde_json::value::RawValue;

use super::compare::outlooks;
use super::fleet::FleetModel;
use super::infer::{Remark, write_conditions, write_problems};
use super::{fleet, given, many};
use crate::args::CompareArgs;
use crate::diagnostics::Failure;
use crate::json;
use crate::object::{Maybe, object};
use crate::output::{self, escaped};

/// Maximum number of conditions of a rule, and of nodes of a condition, listed without `--all`.
const MAX_LISTED: usize = 4;

/// Prints all rules.
pub(super) fn rules() -> Result<(), Failure> {
    if output::is_json() {
        let rules = RULES.iter().chain(OPENVINO_RULES).map(|rule| {
            let results = by_program(rule.results)?;
            Ok(object!(RuleJson { rule: rule.name, operators, condition, results: results, ..rule }))
        });
        let rules = rules.collect::<Result<Vec<_>, Failure>>()?;
        return output::print_json(&object!(RulesJson { programs: by_program(VERSIONS)?, rules }));
    }
    let results = |rule: &gradus::portability::Rule| {
        let each = PROGRAMS.iter().zip(rule.results).map(|(program, result)| format!("{program} {result}"));
        each.collect::<Vec<_>>().join("; ")
    };
    let lines = RULES.iter().chain(OPENVINO_RULES).map(|rule| {
        let operators = rule.operators.join(", ");
        format!("{}: {}\n  {}: {operators}", rule.name, results(rule), rule.condition)
    });
    output::print_line(&lines.collect::<Vec<_>>().join("\n"))
}

/// Prints the nodes of models whose results depend on the program.
pub(super) fn models(args: &CompareArgs) -> Result<(), Failure> {
    if args.plot {
        let what = "cannot draw a plot: what is compared";
        return Err(Error::mismatch(Kind::Usage, what, "a model", "a call of a sequence").into());
    }
    let given = &args.models;
    // A word that is no file is rather a sequence that is written wrong.
    let word = given.models.first().filter(|path| !path.exists()).and_then(|path| path.to_str());
    if let Some(word) = word.filter(|word| word.chars().all(|c| c.is_ascii_alphabetic())) {
        let sequences = ["range", "linspace", "logspace", "geomspace"];
        return Err(Error::unknown("model or sequence", word, sequences).into());
    }
    let options = given::infer_options(&given.sizes)?;
    let models = fleet::expand(&given.models)?;
    many::each(&models, &given.fleet, given.limits.limits(), |model, out| {
        output::bounded(out, output::is_json(), |out| one(args, model, &options, out))
    })
}

/// Prints the differences of one model.
fn one(
    args: &CompareArgs,
    FleetModel { path, .. }: &FleetModel,
    options: &InferOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let model = given::set(&args.models.limits.open(path)?, &args.models.sizes.shapes.inputs)?;
    let found = model.portability(options).map_err(|error| error.in_file(path.display()))?;
    if output::is_json() {
        output::write_json(out, &portability_json(path.display().to_string(), &found)?)?;
    } else {
        if args.models.models.len() > 1 {
            writeln!(out, "{}", output::path(path))?;
        }
        write_text(&found, args.models.all, out)?;
    }
    if found.inference().problems().is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// A text about each program, by its name.
fn by_program(texts: [&'static str; 3]) -> Result<Box<RawValue>, Failure> {
    Ok(json::object(PROGRAMS.into_iter().zip(texts))?)
}

fn portability_json<'a>(model: String, found: &'a Portability) -> Result<impl Serialize, Failure> {
    let difference = |it: &'a Difference| {
        let Difference { node, operator, rule, when, .. } = it;
        let results = by_program(rule.results)?;
        let sequences = it.sequences.iter().map(|(program, why)| (*program, why));
        let sequences = (!it.sequences.is_empty()).then(|| json::object(sequences)).transpose()?;
        Ok(object!(PortabilityDifferenceJson {
            node,
            operator,
            rule: rule.name,
            of: when.name(),
            condition: it.condition(),
            results,
            sequences: Maybe(sequences),
        }))
    };
    let sequence = |it: &'a ModelSequence| {
        let results = outlooks(it.results.clone());
        let results = json::object(results.iter().map(|(profile, result)| (profile.name(), result)))?;
        Ok(object!(ModelSequenceJson { node, operator, call, results: results, ..it }))
    };
    Ok(object!(PortabilityJson {
        model,
        programs: by_program(VERSIONS)?,
        differences: found.differences.iter().map(difference).collect::<Result<Vec<_>, Failure>>()?,
        sequences: found.sequences.iter().map(sequence).collect::<Result<Vec<_>, Failure>>()?,
        assumptions: Remark::assumptions(found.inference()),
        warnings: Remark::warnings(found.inference()),
        problems: Remark::problems(found.inference()),
    }))
}

/// The differences by a key, in the order in which they are met.
fn grouped<'a, K: PartialEq>(
    all: &[&'a Difference],
    key: impl Fn(&'a Difference) -> K,
) -> Vec<Vec<&'a Difference>> {
    let mut groups: Vec<Vec<&Difference>> = Vec::new();
    for &it in all {
        match groups.iter_mut().find(|group| key(group[0]) == key(it)) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

fn write_text(found: &Portability, all: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let most = if all { usize::MAX } else { MAX_LISTED };
    let more = |len: usize| match len.saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more (--all)"),
    };
    let differences: Vec<_> = found.differences.iter().collect();
    for rule in grouped(&differences, |it| it.rule.name) {
        let results = PROGRAMS.iter().zip(rule[0].rule.results);
        let results: Vec<_> = results.map(|(program, result)| format!("{program} {result}")).collect();
        writeln!(out, "{}: {}", rule[0].rule.name, results.join("; "))?;
        let mut conditions = grouped(&rule, Difference::condition);
        // Conditions on sizes come first: a caller can avoid them.
        conditions.shared_sort_by_key(|nodes| matches!(nodes[0].when, When::Data));
        for nodes in conditions.iter().take(most) {
            let names = nodes.iter().take(most).map(|it| format!("{} ({})", it.node, it.operator));
            let names = names.collect::<Vec<_>>().join(", ") + &more(nodes.len());
            writeln!(out, "  {}: {}", escaped(nodes[0].condition()), escaped(&names))?;
            for it in nodes.iter().take(most).filter(|it| !it.sequences.is_empty()) {
                let programs = it.sequences.iter().map(|(program, why)| format!("{program} {why}"));
                let programs = programs.collect::<Vec<_>>().join("; ");
                writeln!(out, "    not exact for {}: {programs}", escaped(&it.node))?;
            }
        }
        if conditions.len() > most {
            writeln!(out, "  conditions:{}", more(conditions.len()))?;
        }
    }
    match nodes(found) {
        0 => writeln!(out, "no known difference between {}", PROGRAMS.join(", "))?,
        nodes => writeln!(out, "nodes with differences: {nodes}")?,
    }
    write_sequences(&found.sequences, most, out)?;
    write_conditions(found.inference(), out)?;
    write_problems(found.inference(), out)
}

/// The sequences that programs return differently, or not at all.
fn write_sequences(sequences: &[ModelSequence], most: usize, out: &mut dyn Write) -> std::io::Result<()> {
    if sequences.is_empty() {
        return Ok(());
    }
    writeln!(out, "sequences that programs do not return exactly: {}", sequences.len())?;
    for it in sequences.iter().take(most) {
        writeln!(out, "  {} ({}): {}", escaped(&it.node), escaped(&it.operator), escaped(&it.call))?;
        for (profile, result) in &it.results {
            let why = match result {
                Ok(found) if found.exact => continue,
                Ok(found) if found.differing == 0 => found.why.clone().unwrap_or_default(),
                Ok(found) => {
                    let largest = found.largest.and_then(|it| it.ulps);
                    let ulps = largest.map_or_else(String::new, |ulps| format!(", at most by {ulps} ulp"));
                    let why = found.why.as_deref().unwrap_or_default();
                    format!("{} of {} differ{ulps}: {why}", found.differing, found.compared)
                }
                Err(error) => format!("fails: {error}"),
            };
            writeln!(out, "    {} {}", profile.name(), escaped(&why))?;
        }
    }
    match sequences.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more (--all)"),
    }
}

/// The number of nodes at which programs differ.
fn nodes(found: &Portability) -> usize {
    let mut names: Vec<_> = found.differences.iter().map(|it| &it.node).collect();
    names.dedup();
    names.len()
}
