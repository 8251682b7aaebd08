//! `gradus report`: a page of HTML about a model.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gradus::audit::{Audit, AuditOptions, AuditStatus};
use gradus::files::{NewFiles, cannot_write};
use gradus::infer::{InferOptions, Problem};
use gradus::{Error, Kind, Model};
use gradus_report::{Besides, Conversion, IndexRow, Other, Summary};
use serde::Serialize;

use super::check::runtime_of;
use super::fleet::FleetModel;
use super::{fleet, given, many, proved};
use crate::FindRuntime;
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Flattened, Maybe, OrError, nonempty, object};
use crate::output;

/// The page that lists the others.
const INDEX: &str = "index.html";

/// Runs `gradus report`: writes a page of HTML for each model.
pub(crate) fn report(args: &args::ReportArgs, runtime: FindRuntime) -> Result<(), Failure> {
    let options = given::infer_options(&args.sizes)?;
    let models = fleet::expand(&args.models)?;
    given::check_destination(&args.output, &models)?;
    if args.compare.is_some() && models.len() > 1 {
        let message = "--compare shows one model next to another, but there are several models";
        return Err(Error::new(Kind::Usage, message).into());
    }
    let has_index = given::is_folder(&args.output) && models.len() > 1;
    if has_index && models.iter().any(|model| page_name(model) == Path::new(INDEX)) {
        let message = format!("cannot write the index of the pages: a model has the page {INDEX}");
        return Err(Error::new(Kind::Usage, message).into());
    }
    let rows = Mutex::new(BTreeMap::new());
    let index = Mutex::new(Ok(()));
    let result = many::each(&models, &args.fleet, args.limits.limits(), |model, out| {
        let result = one((args, runtime), model, &options, &index, out);
        let summary = match &result {
            Ok(summary) => Ok(summary.clone()),
            Err(Failure::Error(error)) => Err(error.clone()),
            Err(_) => return result.map(drop),
        };
        let name = page_name(model);
        let parts: Vec<_> = name.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let row = IndexRow { name: model.name.display().to_string(), page: parts.join("/"), summary };
        rows.lock().unwrap_or_else(PoisonError::into_inner).insert(name, row);
        // The page shows the problems; the exit status says that there are some.
        if result?.problems.is_empty() { Ok(()) } else { Err(Failure::Reported) }
    });
    index.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    if has_index && matches!(result, Ok(()) | Err(Failure::Reported)) {
        let rows: Vec<_> = rows.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
        write(&given::in_folder(&args.output, Path::new(INDEX))?, &gradus_report::index(&rows))?;
    }
    result
}

/// Writes a file as a whole.
fn write(to: &Path, text: &str) -> Result<(), Error> {
    let mut files = NewFiles::default();
    files.create(to, |file| file.write_all(text.as_bytes()).map_err(|error| cannot_write(to, error)))?;
    files.commit()
}

/// The name of the page of a model below the folder of the pages.
fn page_name(of: &FleetModel) -> PathBuf {
    // The ending of the model stays: m.onnx and m.xml have pages of their own.
    let mut name = of.name.clone().into_os_string();
    name.push(".html");
    name.into()
}

/// Writes the page of one model, and notes that it has no room for an index where that would
/// replace its constants.
fn one(
    (args, runtime): (&args::ReportArgs, FindRuntime),
    of: &FleetModel,
    options: &InferOptions,
    index: &Mutex<Result<(), Error>>,
    out: &mut dyn Write,
) -> Result<Summary, Failure> {
    let path = &*of.path;
    let set = &args.sizes.shapes.inputs;
    let (model, other) = match &args.compare {
        None => (given::set(&args.limits.open(path)?, set)?, None),
        Some(other) => {
            let [model, other] = given::set_both([args.limits.open(path)?, args.limits.open(other)?], set)?;
            (model, Some(other))
        }
    };
    let to = destination(&args.output, of)?;
    model.check_other_output(&to)?;
    if let Err(error) = model.check_other_output(&args.output.join(INDEX)) {
        *index.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
    }
    let name = path.display().to_string();
    let of_other = args.compare.as_ref().map(|other| other.display().to_string());
    let other = other.iter().zip(&of_other).next().map(|(model, name)| Other { model, name });
    if let Some(other) = &other {
        other.model.check_other_output(&to)?;
    }
    let in_file = |error: Error| error.in_file(path.display());
    let audits = audits((args, runtime), &model, options).map_err(in_file)?;
    let besides = Besides { other, audits: &audits };
    let report = gradus_report::report_with(&model, &name, besides, options).map_err(in_file)?;
    write(&to, &report.html)?;
    let summary = &report.summary;
    if output::is_json() {
        output::write_json(out, &json(args, path, &to, report.html.len(), (summary, &audits)))?;
    } else {
        write_text(path, &to, report.html.len(), summary, out)?;
    }
    Ok(report.summary)
}

/// The audits of a model, with the names of the programs.
fn audits(
    (args, runtime): (&args::ReportArgs, FindRuntime),
    model: &Model,
    options: &InferOptions,
) -> Result<Vec<(String, Audit)>, Error> {
    let mut audit = AuditOptions::default();
    audit.sizes.clone_from(&options.sizes);
    let of_program = |name: &String| {
        let program = runtime_of(name, runtime, args.limits.limits())?;
        Ok((name.clone(), model.audit(&*program, &audit)?))
    };
    args.audit.iter().flatten().map(of_program).collect()
}

/// Path at which the page of a model is written: the file, or the model's name in the folder.
fn destination(to: &Path, of: &FleetModel) -> Result<PathBuf, Error> {
    if given::is_folder(to) {
        return given::in_folder(to, &page_name(of));
    }
    let is_html =
        |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm");
    // A path without an ending may be a pipe or a device.
    match to.extension() {
        Some(ending) if !is_html(ending) => Err(Error::mismatch(
            Kind::Usage,
            "--output",
            to.display(),
            "a file that ends in .html, or a folder",
        )),
        _ => Ok(to.to_owned()),
    }
}

fn json(
    args: &args::ReportArgs,
    path: &Path,
    to: &Path,
    bytes: usize,
    (summary, audits): (&Summary, &[(String, Audit)]),
) -> impl Serialize {
    fn remarks(problems: &[Problem]) -> Vec<impl Serialize> {
        problems.iter().map(|of| object!(ReportProblemJson { place, message, ..of })).collect()
    }
    let conversion = |Conversion { to, outcome, .. }: &Conversion| {
        let outcome = outcome.as_ref().map(|of| (of.notes.len(), of.lost.len()));
        let outcome = outcome.map(|(notes, lost)| object!(OutcomeJson { notes, lost }));
        object!(ConversionJson {
            to: to.name(),
            outcome: Flattened(OrError(outcome.map_err(ToString::to_string)))
        })
    };
    object!(ReportJson {
        model: path.display().to_string(),
        compared: Maybe(args.compare.as_ref().map(|other| other.display().to_string())),
        output: to.display().to_string(),
        bytes: bytes,
        nodes,
        parameters,
        symbols,
        shapes: object!(ShapesJson { values, known, ..summary }),
        warnings: remarks(&summary.warnings),
        problems: remarks(&summary.problems),
        fold: OrError(summary.fold.as_ref().map(|report| {
            let (before, after) = report.nodes();
            object!(FoldJson { before, after, proof: Maybe(summary.proof.as_ref().map(proved::json)) })
        })),
        conversions: summary.conversions.iter().map(conversion).collect::<Vec<_>>(),
        audits: nonempty(audits.iter().map(audited).collect::<Vec<_>>()),
        ..summary
    })
}

/// A program, and the invariances that it does not keep.
fn audited((runtime, audit): &(String, Audit)) -> impl Serialize {
    let differs = audit.checks.iter().filter(|check| check.status == AuditStatus::Differs);
    let differ: Vec<_> = differs.map(|check| check.invariance.name()).collect();
    object!(AuditJson { runtime, differ })
}

fn write_text(
    path: &Path,
    to: &Path,
    bytes: usize,
    summary: &Summary,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{} -> {}, {bytes} bytes", output::path(path), output::path(to))?;
    writeln!(
        out,
        "{} of {} shapes known, {} contradictions",
        summary.known,
        summary.values,
        summary.problems.len()
    )
}
