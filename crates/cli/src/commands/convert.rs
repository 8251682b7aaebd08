//! `gradus convert`: a model in the operators of another standard.

use std::path::Path;

use gradus::conversion::{ConversionReport, ConvertOptions};
use gradus::graph::Standard;
use gradus::{Error, Kind};
use serde::Serialize;

use super::given;
use crate::args;
use crate::diagnostics::Failure;
use crate::output::{self, escaped};

/// Notes that are printed of each kind where not all are asked for.
const MOST: usize = 20;

#[derive(Serialize)]
struct ConvertedJson<'a> {
    model: String,
    output: String,
    from: &'static str,
    to: &'static str,
    nodes: usize,
    notes: Vec<NoteJson<'a>>,
    lost: &'a [String],
    written: bool,
}

#[derive(Serialize)]
struct NoteJson<'a> {
    place: &'a str,
    operator: &'a str,
    kept: &'static str,
    why: &'a str,
}

/// The standard of the file that is written, by its ending.
fn standard_of(path: &Path) -> Result<Standard, Error> {
    let usage = |message: &str| Error::new(Kind::Usage, format!("{}: {message}", path.display()));
    match Standard::of_file(path) {
        Some(Standard::Paddle) => Err(usage("programs of Paddle are read, not written")),
        Some(standard) => Ok(standard),
        None => Err(usage("the ending must say what is written: .onnx, or .xml for OpenVINO's IR")),
    }
}

pub(crate) fn convert(args: &args::ConvertArgs) -> Result<(), Failure> {
    let to = standard_of(&args.output)?;
    let mut options = ConvertOptions::default();
    options.opset = args.opset;
    options.dims = given::dims(&args.dims)?;
    if args.opset.is_some() && to != Standard::Onnx {
        return Err(Error::new(Kind::Usage, "--opset is for models of ONNX").into());
    }
    let model = args.limits.open(&args.model)?;
    let from = model.source().standard;
    let converted = model.convert(to, &options).map_err(|error| error.in_file(args.model.display()))?;
    let refused = args.strict && !converted.report.is_exact();
    // The report comes before anything is written.
    let text = if args.json { String::new() } else { text(args, from, to, &converted.report) };
    output::print(text.as_bytes())?;
    if !refused {
        converted.model.save(&args.output)?;
    }
    if args.json {
        output::print_json(&json(args, from, to, &converted.report, !refused))?;
    }
    if refused {
        let count = converted.report.notes.len();
        let message = format!(
            "{count} {} not exact, and --strict is given: nothing is written",
            if count == 1 { "note says that a node is" } else { "notes say that nodes are" }
        );
        return Err(Error::new(Kind::Unsupported, message).in_file(args.model.display()).into());
    }
    Ok(())
}

fn json<'a>(
    args: &args::ConvertArgs,
    from: Standard,
    to: Standard,
    report: &'a ConversionReport,
    written: bool,
) -> ConvertedJson<'a> {
    let note = |note: &'a gradus::conversion::Note| NoteJson {
        place: &note.place,
        operator: &note.operator,
        kept: note.exactness.name(),
        why: &note.why,
    };
    ConvertedJson {
        model: args.model.display().to_string(),
        output: args.output.display().to_string(),
        from: from.name(),
        to: to.name(),
        nodes: report.nodes,
        notes: report.notes.iter().map(note).collect(),
        lost: &report.lost,
        written,
    }
}

fn text(args: &args::ConvertArgs, from: Standard, to: Standard, report: &ConversionReport) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let _ = writeln!(out, "{} ({from}) -> {} ({to})", output::path(&args.model), output::path(&args.output));
    let mut places: Vec<_> = report.notes.iter().map(|note| &note.place).collect();
    places.dedup();
    let _ = writeln!(
        out,
        "nodes {}: {} exact, {} not",
        report.nodes,
        report.nodes.saturating_sub(places.len()),
        places.len()
    );
    let most = if args.all { usize::MAX } else { MOST };
    for note in report.notes.iter().take(most) {
        let _ = writeln!(
            out,
            "  {} ({}): {}: {}",
            escaped(&note.place),
            escaped(&note.operator),
            note.exactness,
            escaped(&note.why)
        );
    }
    if report.notes.len() > most {
        let _ = writeln!(out, "  and {} more (--all)", report.notes.len() - most);
    }
    for lost in report.lost.iter().take(most) {
        let _ = writeln!(out, "not kept: {}", escaped(lost));
    }
    if report.lost.len() > most {
        let _ = writeln!(out, "not kept: and {} more (--all)", report.lost.len() - most);
    }
    out
}
