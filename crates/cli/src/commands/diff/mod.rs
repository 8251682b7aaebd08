//! `gradus diff`: what differs between two models.

mod markdown;

use std::io::{BufWriter, Write};

use anstyle::{AnsiColor, Style};
use gradus::diff::{Change, Diff, GraphDiff};
use serde::Serialize;

use crate::args;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output::{self, Form, Limited, Shown, escaped};

/// Things of one sort that were removed, added or changed, that are shown without `--all`.
const SHOWN: usize = 20;

/// Letters that are shown of a text; `--json` has all.
const LETTERS: usize = 160;

/// Runs `gradus diff`: prints the differences between two models.
pub(crate) fn diff(args: &args::DiffArgs) -> Result<(), Failure> {
    let open = |path| args.limits.open(path);
    let models = open(&args.before).and_then(|before| Ok([before, open(&args.after)?]));
    let models = models.map_err(Failure::NotCompared)?;
    let found = Diff::of(&models[0], &models[1]).map_err(Failure::NotCompared)?;
    if args.format == args::DiffForm::Markdown {
        let mut out = Limited::new(BufWriter::new(std::io::stdout().lock()), args.limits.limits());
        markdown::write(&args.after, models.each_ref(), &found, &mut out)?;
        out.flush()?;
    } else if output::is_json() {
        output::print_json(&json(args, &found))?;
    } else if !found.is_empty() {
        let out = Limited::new(BufWriter::new(anstream::stdout().lock()), args.limits.limits());
        let mut out = Shown::new(out, Form::Text);
        DiffText { out: &mut out, most: if args.all { usize::MAX } else { SHOWN } }.diff(&found)?;
        out.flush()?;
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::Different) }
}

fn json<'a>(args: &args::DiffArgs, found: &'a Diff) -> impl Serialize {
    let graph = |graph: &'a GraphDiff| {
        object!(GraphJson {
            path: &graph.path,
            inputs: changes(&graph.inputs),
            outputs: changes(&graph.outputs),
            nodes: changes(&graph.nodes),
            constants: changes(&graph.constants),
            types: changes(&graph.types),
        })
    };
    object!(DiffJson {
        before: args.before.display().to_string(),
        after: args.after.display().to_string(),
        equal: found.is_empty(),
        model: changes(&found.model),
        operators: &found.operators,
        functions: changes(&found.functions),
        graphs: found.graphs.iter().map(graph).collect::<Vec<_>>(),
    })
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    name: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<ChangeJson<'a>>,
}

fn changes(of: &[Change]) -> Vec<ChangeJson<'_>> {
    let mut all = Vec::with_capacity(of.len());
    for Change { name, before, after, parts } in of {
        all.push(ChangeJson {
            name,
            before: before.as_deref(),
            after: after.as_deref(),
            parts: changes(parts),
        });
    }
    all
}

/// Returns the kind of a change.
fn kind(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (_, None) => "gone",
        (None, _) => "new",
        _ => "changed",
    }
}

/// Text on one line that is not too long.
fn short(text: &str) -> String {
    shortened(text, LETTERS)
}

/// Text on one line, of at most so many letters.
fn shortened(text: &str, most: usize) -> String {
    let text = escaped(text);
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

/// Differences as lines: `-` before what was removed, `+` before what was added, `~` before what
/// changed.
struct DiffText<W> {
    out: W,
    most: usize,
}

impl<W: Write> DiffText<W> {
    fn diff(&mut self, diff: &Diff) -> std::io::Result<()> {
        self.changes("model", &diff.model)?;
        if !diff.operators.is_empty() {
            let counts =
                diff.operators.iter().map(|(name, [before, after])| format!("{name} {before} -> {after}"));
            writeln!(self.out, "operators: {}", escaped(&counts.collect::<Vec<_>>().join(", ")))?;
        }
        self.changes("functions", &diff.functions)?;
        for graph in &diff.graphs {
            let place =
                if graph.path.is_empty() { String::new() } else { format!(" in {}", escaped(&graph.path)) };
            let sorts = [
                ("inputs", &graph.inputs),
                ("outputs", &graph.outputs),
                ("nodes", &graph.nodes),
                ("constants", &graph.constants),
                ("types", &graph.types),
            ];
            for (sort, changes) in sorts {
                self.changes(&format!("{sort}{place}"), changes)?;
            }
        }
        Ok(())
    }

    /// Changes of one sort, under their numbers.
    fn changes(&mut self, sort: &str, changes: &[Change]) -> std::io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let kinds = ["gone", "new", "changed"].map(|kind| {
            (kind, changes.iter().filter(|change| self::kind(change) == kind).collect::<Vec<_>>())
        });
        let kinds = kinds.iter().filter(|(_, changes)| !changes.is_empty());
        let counts = kinds.clone().map(|(kind, changes)| format!("{} {kind}", changes.len()));
        writeln!(self.out, "{sort}: {}", counts.collect::<Vec<_>>().join(", "))?;
        for (kind, changes) in kinds {
            for change in changes.iter().take(self.most) {
                self.change(change, 1)?;
            }
            if changes.len() > self.most {
                writeln!(self.out, "  … and {} more {kind}", changes.len() - self.most)?;
            }
        }
        Ok(())
    }

    fn change(&mut self, change: &Change, depth: usize) -> std::io::Result<()> {
        let (indent, name) = ("  ".repeat(depth), short(&change.name));
        let [before, after] = [&change.before, &change.after].map(|side| side.as_deref().map(short));
        let (sign, colour, text) = match (before, after) {
            (Some(before), None) => ('-', AnsiColor::Red, format!("{name}: {before}")),
            (None, Some(after)) => ('+', AnsiColor::Green, format!("{name}: {after}")),
            // The changed parts follow below.
            (Some(before), _) if !change.parts.is_empty() => {
                ('~', AnsiColor::Yellow, format!("{name}: {before}"))
            }
            (before, after) => {
                let [before, after] = [before, after].map(Option::unwrap_or_default);
                ('~', AnsiColor::Yellow, format!("{name}: {before} -> {after}"))
            }
        };
        let style = Style::new().fg_color(Some(colour.into()));
        writeln!(self.out, "{indent}{style}{sign} {text}{style:#}")?;
        for part in &change.parts {
            self.change(part, depth + 2)?;
        }
        Ok(())
    }
}
