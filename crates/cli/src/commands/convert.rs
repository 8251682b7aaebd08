//! `gradus convert`: a model in the operators of another standard.

use std::io::Write;
use std::path::Path;

use gradus::check::CheckOptions;
use gradus::conversion::{ConversionReport, ConvertOptions, Runtime};
use gradus::graph::Standard;
use gradus::{Error, Kind};
use serde::Serialize;

use super::check::checked;
use super::fleet::FleetModel;
use super::{fleet, given, many};
use crate::args::{self, RuntimeName, Target};
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
        Some(Standard::Paddle) => {
            Err(usage("cannot write Paddle programs, expected .onnx, or .xml for OpenVINO's IR"))
        }
        Some(standard) => Ok(standard),
        None => {
            Err(usage("cannot tell the format by the extension, expected .onnx, or .xml for OpenVINO's IR"))
        }
    }
}

pub(crate) fn convert(args: &args::ConvertArgs) -> Result<(), Failure> {
    let mut words = args.models.clone();
    let output = match &args.output {
        Some(output) => output.clone(),
        // MODEL OUT
        None if words.len() == 2 => words.pop().unwrap_or_default(),
        None => return Err(Error::mismatch(Kind::Usage, "--output", "missing", "a file or a folder").into()),
    };
    let models = fleet::expand(&words)?;
    given::check_destination(&output, &models)?;
    let mut options = ConvertOptions::default();
    options.opset = args.opset;
    options.runtime = args.runtime.map(|runtime| match runtime {
        RuntimeName::Onnxruntime => Runtime::OnnxRuntime,
        RuntimeName::Openvino => Runtime::OpenVino,
    });
    options.dims = given::dims(&args.dims)?;
    options.stateful = args.stateful;
    let pair = |text: &String| match text.split_once('=') {
        Some((input, output)) => Ok((input.to_owned(), output.to_owned())),
        None => Err(Error::mismatch(Kind::Usage, "--state", text, "INPUT=OUTPUT")),
    };
    options.states = args.states.iter().map(pair).collect::<Result<_, _>>()?;
    let written = match args.to {
        Some(Target::Onnx) => Some(Standard::Onnx),
        Some(Target::Openvino) => Some(Standard::OpenVino),
        None if given::is_folder(&output) => {
            return Err(
                Error::mismatch(Kind::Usage, "--to", "missing", "onnx or openvino for a folder").into()
            );
        }
        None => None,
    };
    let to = written.map_or_else(|| standard_of(&output), Ok)?;
    if args.opset.is_some() && to != Standard::Onnx {
        return Err(Error::new(Kind::Usage, "cannot use --opset: the output is not an ONNX model").into());
    }
    many::each(&models, args.json, &args.fleet, args.limits.limits(), |model, out| {
        one(args, model, &output, to, &options, out)
    })
}

fn one(
    args: &args::ConvertArgs,
    of: &FleetModel,
    output: &Path,
    to: Standard,
    options: &ConvertOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let output = if given::is_folder(output) {
        let ending = if to == Standard::OpenVino { "xml" } else { "onnx" };
        given::in_folder(output, &of.name.with_extension(ending))?
    } else {
        output.to_owned()
    };
    let model = args.limits.open(path)?;
    let files = OutputFiles { path, output: &output, from: model.source().standard, to };
    let converted = model.convert(to, options).map_err(|error| error.in_file(path.display()))?;
    let refused = args.strict && !converted.report.is_exact();
    // The report comes before anything is written.
    if !args.json {
        write!(out, "{}", text(args, &files, &converted.report))?;
    }
    if args.check && !refused {
        let mut of_check = CheckOptions::default();
        of_check.given.dims.clone_from(&options.dims);
        let same = checked(&model, &converted, &of_check).map_err(|error| error.in_file(path.display()))?;
        if !args.json {
            writeln!(out, "checked: {same}")?;
        }
    }
    if !refused {
        converted.model.save(&output)?;
    }
    if args.json {
        output::write_json(out, &json(&files, &converted.report, !refused))?;
    }
    if refused {
        let count = converted.report.notes.len();
        let message = format!(
            "{count} {} not exact, and --strict is given: nothing is written",
            if count == 1 { "note says that a node is" } else { "notes say that nodes are" }
        );
        return Err(Error::new(Kind::Unsupported, message).in_file(path.display()).into());
    }
    Ok(())
}

/// The file that is read, and the one that is written.
struct OutputFiles<'a> {
    path: &'a Path,
    output: &'a Path,
    from: Standard,
    to: Standard,
}

fn json<'a>(
    &OutputFiles { path, output, from, to }: &OutputFiles<'_>,
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
        model: path.display().to_string(),
        output: output.display().to_string(),
        from: from.name(),
        to: to.name(),
        nodes: report.nodes,
        notes: report.notes.iter().map(note).collect(),
        lost: &report.lost,
        written,
    }
}

fn text(args: &args::ConvertArgs, files: &OutputFiles<'_>, report: &ConversionReport) -> String {
    use std::fmt::Write;
    let &OutputFiles { path, output, from, to } = files;
    let mut out = String::new();
    let _ = writeln!(out, "{} ({from}) -> {} ({to})", output::path(path), output::path(output));
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
