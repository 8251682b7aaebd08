//! `gradus convert`: a model in the operators of another standard.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use gradus::check::{CheckOptions, VerifyOptions};
use gradus::conversion::{ConversionReport, ConvertOptions, Verified};
use gradus::graph::Standard;
use gradus::{Error, Kind};
use serde::Serialize;

use super::check::checked;
use super::fleet::FleetModel;
use super::{fleet, given, many, proved};
use crate::args::{self, RuntimeName, Target};
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output::{self, escaped};

/// Maximum number of notes of each kind that are printed without `--all`.
const MAX_NOTES: usize = 20;

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

/// Runs `gradus convert`: writes models in the operators of another standard.
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
    options.runtime = args.runtime.map(RuntimeName::runtime);
    options.sizes = given::sizes(&args.sizes)?;
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
    many::each(&models, &args.fleet, args.limits.limits(), |model, out| {
        output::bounded(out, output::is_json() || args.all, |out| {
            one(args, model, &output, to, &options, out)
        })
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
    let model = given::set(&args.limits.open(path)?, &args.sizes.shapes.inputs)?;
    let files = OutputFiles { path, output: &output, from: model.source().standard, to };
    let begin = Instant::now();
    let converted = model.convert(to, options).map_err(|error| error.in_file(path.display()))?;
    let work = begin.elapsed();
    let refused = args.strict && !converted.report.is_exact();
    let same = if args.check && !refused {
        let mut of_check = CheckOptions::default();
        of_check.sizes.clone_from(&options.sizes);
        of_check.proof = Duration::ZERO;
        let same = checked(&model, &converted, &of_check).map_err(|error| error.in_file(path.display()));
        if same.is_err() && !output::is_json() {
            write!(out, "{}", text(args, &files, &converted.report, false))?;
        }
        Some(same?)
    } else {
        None
    };
    let verified = if refused || args.check || args.no_verify {
        None
    } else {
        let mut of_runs = VerifyOptions::default().beside(work);
        of_runs.sizes.clone_from(&options.sizes);
        let found = model.verify_converted(&converted, &of_runs);
        Some(found.map_err(|error| proved::unwritten(error).in_file(path.display()))?)
    };
    if !refused {
        converted.model.save(&output)?;
    }
    if output::is_json() {
        output::write_json(out, &json(&files, &converted.report, verified.as_ref(), !refused))?;
    } else {
        write!(out, "{}", text(args, &files, &converted.report, !refused))?;
        if let Some(same) = same {
            writeln!(out, "checked: {same}")?;
        }
        if let Some(verified) = &verified {
            for line in verified_text(verified) {
                writeln!(out, "{line}")?;
            }
        }
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
    verified: Option<&'a Verified>,
    written: bool,
) -> impl Serialize {
    let note = |note: &'a gradus::conversion::Note| {
        object!(NoteJson { place, operator, kept: note.exactness.name(), why, ..note })
    };
    object!(ConvertedJson {
        model: path.display().to_string(),
        output: output.display().to_string(),
        from: from.name(),
        to: to.name(),
        nodes,
        notes: report.notes.iter().map(note).collect::<Vec<_>>(),
        lost,
        verified: Maybe(verified.map(|verified| object!(VerifiedConversionJson {
            proof: Maybe(verified.proof.as_ref().map(proved::json)),
            runs,
            sizes,
            elements,
            inexact,
            refused: Maybe(verified.refused.as_deref()),
            ..verified
        }))),
        written: written,
        ..report
    })
}

/// Lines about the proof and the runs of both models.
fn verified_text(verified: &Verified) -> Vec<String> {
    let mut lines: Vec<_> = verified.proof.iter().map(proved::text).collect();
    match &verified.refused {
        Some(why) => lines.push(format!("outputs were not compared: {}", escaped(why))),
        None if verified.runs == 0 => {}
        None => lines.push(runs_text(verified)),
    }
    lines
}

/// A line about the runs of both models.
fn runs_text(verified: &Verified) -> String {
    let bits = format!("{} elements of outputs are the same bits", verified.elements);
    let types = match verified.inexact {
        1 => "the type of an output of inexact nodes is the same".to_owned(),
        count => format!("the types of {count} outputs of inexact nodes are the same"),
    };
    let what = match (verified.elements, verified.inexact) {
        (_, 0) => bits,
        (0, _) => types,
        _ => format!("{bits}, and {types},"),
    };
    format!("verified: {what} in {}", output::runs(verified.runs, &verified.sizes))
}

/// The report in words. Notes and losses that say the same of several places are one line, unless
/// all are asked for.
fn text(
    args: &args::ConvertArgs,
    files: &OutputFiles<'_>,
    report: &ConversionReport,
    written: bool,
) -> String {
    use std::fmt::Write;
    let &OutputFiles { path, output, from, to } = files;
    let mut out = String::new();
    let _ = if written {
        writeln!(out, "{} ({from}) -> {} ({to})", output::path(path), output::path(output))
    } else {
        writeln!(out, "{} ({from}) to {to}: not written", output::path(path))
    };
    let places: HashSet<_> = report.notes.iter().map(|note| &note.place).collect();
    let exact = report.nodes.saturating_sub(places.len());
    let _ = writeln!(out, "nodes {}: {exact} exact, {} not", report.nodes, places.len());
    let notes = grouped(&report.notes, args.all, |note| (&note.operator, note.exactness, &note.why));
    let most = if args.all { usize::MAX } else { MAX_NOTES };
    for &(note, more) in notes.iter().take(most) {
        let _ = writeln!(
            out,
            "  {} ({}){}: {}: {}",
            escaped(&note.place),
            escaped(&note.operator),
            and_more(more),
            note.exactness,
            escaped(&note.why)
        );
    }
    if notes.len() > most {
        let _ = writeln!(out, "  and {} more (--all)", notes.len() - most);
    }
    let lost = grouped(&report.lost, args.all, |lost| without_names(lost));
    for &(lost, more) in lost.iter().take(most) {
        let _ = writeln!(out, "not kept: {}{}", escaped(lost), and_more(more));
    }
    if lost.len() > most {
        let _ = writeln!(out, "not kept: and {} more (--all)", lost.len() - most);
    }
    out
}

/// The first of those items that have one key, and how many others have it; each item alone where
/// all are asked for.
fn grouped<'a, T, K: Eq + Hash>(items: &'a [T], all: bool, key: impl Fn(&'a T) -> K) -> Vec<(&'a T, usize)> {
    if all {
        return items.iter().map(|item| (item, 0)).collect();
    }
    let (mut groups, mut known) = (Vec::new(), HashMap::new());
    for item in items {
        match known.entry(key(item)) {
            Entry::Vacant(entry) => {
                entry.insert(groups.len());
                groups.push((item, 0));
            }
            Entry::Occupied(entry) => groups[*entry.get()].1 += 1,
        }
    }
    groups
}

/// ` and 2 more`, if there are more.
fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

/// A sentence without the names in quotes.
fn without_names(text: &str) -> String {
    text.split('"').step_by(2).collect()
}
