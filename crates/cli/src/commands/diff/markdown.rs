//! `gradus diff --format markdown`: answers for the reviewer of a model that changed, as a comment
//! on a pull request.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use gradus::cost::Cost;
use gradus::dim::Dim;
use gradus::graph::ValueId;
use gradus::infer::{InferOptions, Inference, Why};
use gradus::prove::{ProveOptions, Verdict};
use gradus::{Model, Result};

use super::{DiffText, SHOWN};
use crate::diagnostics::Failure;

/// Maximum time of the proof, and of the runs that look for a difference after it.
const TIME: Duration = Duration::from_secs(10);

/// Letters that are shown of a formula or a condition.
const LETTERS: usize = 300;

/// A model, and what is told of it.
pub(super) struct Side<'a> {
    model: &'a Model,
    cost: Cost,
}

impl<'a> Side<'a> {
    fn of(model: &'a Model) -> Result<Side<'a>> {
        Ok(Side { model, cost: model.cost(&InferOptions::default())? })
    }

    fn inference(&self) -> &Inference {
        self.cost.inference()
    }

    fn formula(&self, dim: Option<Dim>) -> String {
        dim.map_or_else(|| "?".to_owned(), |dim| self.inference().symbols().print(dim).to_string())
    }

    fn values(&self, ids: &[ValueId]) -> Vec<String> {
        let (graph, inference) = (self.model.graph(), self.inference());
        let open = ids.iter().filter(|id| graph.constant(**id).is_none());
        open.map(|&id| format!("{}: {}", graph.value(id).name, inference.describe(inference.fact(id))))
            .collect()
    }

    /// Conditions of a run, and errors that no run survives.
    fn conditions(&self) -> Vec<String> {
        let inference = self.inference();
        let conditions = inference.conditions().iter().filter(|it| it.why == Why::Run);
        let conditions = conditions.map(|it| format!("{} ({})", it.text, it.node));
        let problems = inference.problems().iter();
        conditions.chain(problems.map(|it| format!("never: {} ({})", it.message, it.place))).collect()
    }

    /// The rows of the table that have one entry.
    fn figures(&self) -> [(&'static str, String); 4] {
        let total = &self.cost.total;
        let peak = self.cost.memory.peak.as_ref().map(|peak| peak.bytes);
        [
            ("nodes", total.nodes.to_string()),
            ("parameters", total.parameters.to_string()),
            ("MACs", self.formula(total.counts.macs)),
            ("peak bytes of values", self.formula(peak)),
        ]
    }
}

/// Writes the answer for two models, under the path of the second.
pub(super) fn write(
    path: &Path,
    models: [&Model; 2],
    diff: &gradus::diff::Diff,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let [before, after] = models;
    writeln!(out, "### {}\n\n**{}**\n", code(&path.display().to_string()), verdict(before, after))?;
    let sides = [Side::of(before)?, Side::of(after)?];
    table(&sides, out)?;
    let conditions = sides.each_ref().map(Side::conditions);
    list("No longer needed for a run", &gone(&conditions[0], &conditions[1]), out)?;
    list("New conditions of a run", &gone(&conditions[1], &conditions[0]), out)?;
    if diff.is_empty() {
        return Ok(());
    }
    let mut text = Vec::new();
    DiffText { out: anstream::StripStream::new(&mut text), most: SHOWN }.diff(diff)?;
    let text = String::from_utf8_lossy(&text);
    // A fence is longer than any in the text.
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    writeln!(out, "<details><summary>Differences</summary>\n\n{fence}text\n{text}{fence}\n\n</details>")?;
    Ok(())
}

/// The answer whether the models compute the same.
fn verdict(before: &Model, after: &Model) -> String {
    let mut options = ProveOptions::default();
    options.time = TIME;
    let end = Instant::now() + TIME;
    let mut limits = before.limits();
    limits.deadline = Some(limits.deadline.map_or(end, |deadline| deadline.min(end)));
    options.limits = Some(limits);
    match before.prove(after, &options) {
        Err(error) => format!("Not compared: {}", code(&error.to_string())),
        Ok(proved) => match proved.verdict {
            Verdict::Equivalent => "The same bits, proved for all inputs and sizes".to_owned(),
            Verdict::Undecided => match proved.proof.filter(|proof| !proof.unmatched.is_empty()) {
                Some(proof) => format!(
                    "{} of {} outputs that both have are proved to be the same; one model alone has {}",
                    proof.proved(),
                    proof.outputs.len(),
                    shown(&proof.unmatched).collect::<Vec<_>>().join(", ")
                ),
                None if proved.runs > 0 => format!("Not proved; no difference in {} runs", proved.runs),
                None => {
                    let why = proved.reason.map_or_else(String::new, |why| format!(": {}", code(&why)));
                    format!("Neither proved nor compared in runs{why}")
                }
            },
            Verdict::Different(witness) => {
                let outputs: Vec<_> = witness.outputs.iter().map(|output| code(&output.name)).collect();
                format!("Other results of {}", outputs.join(", "))
            }
        },
    }
}

/// The entries of a list that another one lacks.
fn gone(of: &[String], other: &[String]) -> Vec<String> {
    of.iter().filter(|entry| !other.contains(entry)).cloned().collect()
}

fn table(sides: &[Side<'_>; 2], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "| | before | after |\n|---|---|---|")?;
    let [before, after] = sides.each_ref().map(Side::figures);
    for ((name, before), (_, after)) in before.into_iter().zip(after) {
        let [before, after] = [before, after].map(|text| code(&text));
        let after = if before == after { "the same".to_owned() } else { after };
        writeln!(out, "| {name} | {before} | {after} |")?;
    }
    for (name, of) in [("inputs", 0), ("outputs", 1)] {
        let [before, after] = sides.each_ref().map(|side| {
            let graph = side.model.graph();
            side.values(if of == 0 { graph.inputs() } else { graph.outputs() })
        });
        let cell = |all: &[String]| shown(all).collect::<Vec<_>>().join("<br>");
        let after = if before == after { "the same".to_owned() } else { cell(&after) };
        writeln!(out, "| {name} | {} | {after} |", cell(&before))?;
    }
    writeln!(out)
}

/// The first entries, and how many more there are.
fn shown(all: &[String]) -> impl Iterator<Item = String> {
    let more = all.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    all.iter().take(SHOWN).map(|text| code(text)).chain(more)
}

fn list(title: &str, all: &[String], out: &mut dyn Write) -> std::io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}:\n")?;
    for text in shown(all) {
        writeln!(out, "- {text}")?;
    }
    writeln!(out)
}

/// Text as code, in a table too: nothing in it is Markdown, a mention or a link.
fn code(text: &str) -> String {
    let mut text = super::shortened(text, LETTERS).replace('|', "\\|");
    if text.trim().is_empty() {
        text.push_str("\"\"");
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The length of the longest run of a letter.
fn longest_run(text: &str, letter: char) -> usize {
    text.split(|c| c != letter).map(str::len).max().unwrap_or(0)
}
