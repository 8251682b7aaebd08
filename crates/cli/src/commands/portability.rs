//! `gradus compare MODEL`: the nodes whose results depend on the program that runs the model.

use std::io::Write;

use gradus::infer::InferOptions;
use gradus::portability::{Difference, PROGRAMS, Portability, VERSIONS, When};
use gradus::{Error, Kind};
use serde::Serialize;
use serde_json::value::RawValue;

use super::fleet::FleetModel;
use super::infer::{Remark, write_assumptions, write_problems};
use super::{fleet, given, many};
use crate::args::CompareArgs;
use crate::diagnostics::Failure;
use crate::json;
use crate::output::{self, escaped};

/// Conditions of a rule, and nodes of a condition, that are listed without `--all`.
const MOST: usize = 4;

#[derive(Serialize)]
struct PortabilityJson<'a> {
    model: String,
    programs: Box<RawValue>,
    differences: Vec<DifferenceJson<'a>>,
    assumptions: Vec<Remark<'a>>,
    problems: Vec<Remark<'a>>,
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    node: &'a str,
    operator: &'a str,
    rule: &'static str,
    /// `always`, `sizes` or `data`.
    of: &'static str,
    condition: &'a str,
    results: Box<RawValue>,
    /// Programs that do not return the exact sequence of a range whose arguments are known, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequences: Option<Box<RawValue>>,
}

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
    many::each(&models, args.json, &given.fleet, |model, out| one(args, model, &options, out))
}

/// Prints the differences of one model.
fn one(
    args: &CompareArgs,
    FleetModel { path, .. }: &FleetModel,
    options: &InferOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let model = args.models.limits.open(path)?;
    let found = model.portability(options).map_err(|error| error.in_file(path.display()))?;
    if args.json {
        writeln!(out, "{}", output::json(&portability_json(path.display().to_string(), &found)?)?)?;
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

fn portability_json<'a>(model: String, found: &'a Portability) -> Result<PortabilityJson<'a>, Failure> {
    let difference = |it: &'a Difference| {
        let Difference { node, operator, rule, when, .. } = it;
        let results = by_program(rule.results)?;
        let sequences = it.sequences.iter().map(|(program, why)| (*program, why));
        let sequences = (!it.sequences.is_empty()).then(|| json::object(sequences)).transpose()?;
        Ok(DifferenceJson {
            node,
            operator,
            rule: rule.name,
            of: when.name(),
            condition: it.condition(),
            results,
            sequences,
        })
    };
    Ok(PortabilityJson {
        model,
        programs: by_program(VERSIONS)?,
        differences: found.differences.iter().map(difference).collect::<Result<_, Failure>>()?,
        assumptions: Remark::assumptions(found.inference()),
        problems: Remark::problems(found.inference()),
    })
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
    let most = if all { usize::MAX } else { MOST };
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
        // Those that sizes decide come first: they can be avoided.
        conditions.sort_by_key(|nodes| matches!(nodes[0].when, When::Data));
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
    write_assumptions(found.inference(), out)?;
    write_problems(found.inference(), out)
}

/// The number of nodes at which programs differ.
fn nodes(found: &Portability) -> usize {
    let mut names: Vec<_> = found.differences.iter().map(|it| &it.node).collect();
    names.dedup();
    names.len()
}
