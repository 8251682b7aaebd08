//! `gradus infer`: what is known of every value before a model runs.

use std::collections::HashMap;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gradus::graph::{Extent, Graph, Type, ValueId};
use gradus::infer::{Body, Completeness, Given, InferOptions, Inference};
use gradus::{DType, Dim, Error, Fact, Kind, Limits, Model, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args;
use crate::diagnostics::{self, Failure};
use crate::{json, output};

/// Lines that `--why` prints at most.
const MOST_LINES: usize = 200;

#[derive(Serialize)]
struct Inferred {
    model: String,
    values: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bodies: Option<Box<RawValue>>,
    totals: Totals,
    unknown: Box<RawValue>,
    assumptions: Vec<Remark>,
    problems: Vec<Remark>,
}

#[derive(Serialize)]
struct Totals {
    parameters: u128,
    peak_bytes: Option<serde_json::Value>,
    peak_at: Option<String>,
}

#[derive(Serialize)]
struct Remark {
    place: String,
    message: String,
}

#[derive(Serialize)]
struct ValueJson {
    r#type: Option<String>,
    shape: Option<Vec<serde_json::Value>>,
    fresh: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<serde_json::Value>,
}

pub(crate) fn infer(args: &args::Infer) -> Result<(), Failure> {
    let options = options(args)?;
    if let [model] = &args.models[..] {
        return output::print(one(args, model, &options)?.as_bytes());
    }
    if args.why.is_some() {
        return Err(
            Error::new(Kind::Usage, "--why explains a value of one model, but there are several").into()
        );
    }
    several(args, &options)
}

/// Infers models in parallel, and prints what is found in their order.
fn several(args: &args::Infer, options: &InferOptions) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<Result<String, Failure>>>> =
        Mutex::new(args.models.iter().map(|_| None).collect());
    let bar = progress(args.models.len());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(args.models.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(model) =
                    args.models.get(next.fetch_add(1, Ordering::Relaxed)).map(|path| path.as_path())
                {
                    let result = one(args, model, options);
                    let index = args.models.iter().position(|path| path.as_path() == model).unwrap_or(0);
                    if let Ok(mut found) = found.lock() {
                        found[index] = Some(result);
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let found = found.into_inner().unwrap_or_default();
    let mut failed = None;
    for result in found.into_iter().flatten() {
        match result {
            Ok(text) => output::print(text.as_bytes())?,
            // One model that cannot be read does not keep the others from being shown.
            Err(failure) => failed = Some(diagnostics::report(failure, args.json)),
        }
    }
    match failed {
        None => Ok(()),
        Some(_) => Err(Failure::Reported),
    }
}

fn progress(models: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} models in {elapsed}");
    let count = u64::try_from(models).unwrap_or(u64::MAX);
    ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn usage(message: String) -> Error {
    Error::new(Kind::Usage, message)
}

fn options(args: &args::Infer) -> Result<InferOptions> {
    let mut dims = HashMap::new();
    for dim in &args.dims {
        let (name, value) = dim
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse().ok()?)))
            .ok_or_else(|| usage(format!("--dim {dim}: NAME=NUMBER is wanted")))?;
        if dims.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("--dim {name} is given twice")));
        }
    }
    let mut inputs = HashMap::new();
    for shape in &args.input_shapes {
        let (name, extents) = shape
            .split_once('=')
            .ok_or_else(|| usage(format!("--input-shape {shape}: NAME=EXTENT,… is wanted")))?;
        let extents = extents.trim_matches(['[', ']']);
        let extent = |text: &str| match text.trim() {
            "" => Err(usage(format!("--input-shape {shape}: an extent is missing"))),
            "?" => Ok(Extent::Unknown),
            text => Ok(text.parse().map_or_else(|_| Extent::Symbol(text.into()), Extent::Known)),
        };
        let extents = match extents.trim() {
            "" => Vec::new(),
            extents => extents.split(',').map(extent).collect::<Result<_>>()?,
        };
        inputs.insert(name.to_owned(), Given::Type(Type::Tensor(None, Some(extents))));
    }
    Ok(InferOptions { dims, inputs, ignore_declared: args.ignore_declared, limits: Limits::DEFAULT })
}

/// What is printed of one model.
fn one(args: &args::Infer, path: &Path, options: &InferOptions) -> Result<String, Failure> {
    let model = Model::open(path, &options.limits)?;
    let mut inference = model.infer(options).map_err(|error| error.in_file(path.display()))?;
    if let Some(name) = &args.why {
        let id = model.value(name)?;
        return Ok(inference.explain(model.graph(), id, MOST_LINES).join("\n") + "\n");
    }
    if args.json {
        let json = as_json(args, path, &model, &mut inference)?;
        let text = serde_json::to_string(&json).map_err(|error| Error::new(Kind::Io, error.to_string()))?;
        return Ok(text + "\n");
    }
    Ok(as_text(args, path, &model, &mut inference))
}

/// Whether a value is shown.
fn shown(args: &args::Infer, inference: &Inference, fact: &Fact) -> bool {
    !args.only_unknown || inference.completeness(fact) > Completeness::Data
}

fn dim_json(inference: &Inference, dim: Dim) -> serde_json::Value {
    match dim {
        Dim::Known(value) => value.into(),
        Dim::Symbolic(_) => inference.symbols().print(dim).to_string().into(),
    }
}

fn type_name(inference: &Inference, fact: &Fact) -> Option<String> {
    match fact {
        Fact::Tensor(fact) => fact.dtype.map(|dtype| dtype.name().to_owned()),
        Fact::Sequence(list) => Some(format!("sequence of {}", list.each.dtype().map_or("?", DType::name))),
        Fact::Optional(optional) => Some(format!("optional {}", type_name(inference, &optional.value)?)),
        Fact::Unknown => None,
    }
}

fn value_json(inference: &Inference, fact: &Fact, bytes: Option<Dim>) -> ValueJson {
    let (fresh, unknown) = inference.fresh(fact);
    let dims = fact.as_tensor().and_then(|fact| fact.dims.as_ref());
    ValueJson {
        r#type: type_name(inference, fact),
        shape: dims.map(|dims| dims.iter().map(|&dim| dim_json(inference, dim)).collect()),
        fresh,
        unknown,
        bytes: bytes.map(|bytes| dim_json(inference, bytes)),
    }
}

fn as_json(args: &args::Infer, path: &Path, model: &Model, inference: &mut Inference) -> Result<Inferred> {
    let graph = model.graph();
    let mut values = Vec::new();
    let mut unknown = Vec::new();
    for id in graph.ids() {
        let bytes = inference.bytes(id);
        let fact = inference.fact(id);
        if !shown(args, inference, fact) {
            continue;
        }
        values.push((&*graph.value(id).name, value_json(inference, fact, bytes)));
        if inference.completeness(fact) > Completeness::Data {
            unknown.push((&*graph.value(id).name, inference.why_incomplete(id)));
        }
    }
    let values = json::object(values)?;
    let unknown = json::object(unknown)?;
    let body = |body: &Body| {
        let values = body.graph.ids().map(|id| {
            let fact = &body.facts[id.index()];
            (body.graph.value(id).name.to_string(), value_json(inference, fact, None))
        });
        Ok((body.path.clone(), json::object([("values", json::object(values)?)])?))
    };
    let bodies = inference.bodies().iter().map(body).collect::<Result<Vec<_>>>()?;
    let bodies = if bodies.is_empty() { None } else { Some(json::object(bodies)?) };
    let totals = totals(model, inference);
    let assumptions = inference.assumptions().iter();
    let problems = inference.problems().iter();
    Ok(Inferred {
        model: path.display().to_string(),
        values,
        bodies,
        totals,
        unknown,
        assumptions: assumptions.map(|a| Remark { place: a.node.clone(), message: a.text.clone() }).collect(),
        problems: problems.map(|p| Remark { place: p.place.clone(), message: p.message.clone() }).collect(),
    })
}

fn totals(model: &Model, inference: &mut Inference) -> Totals {
    let graph = model.graph();
    let peak = inference.peak(graph);
    Totals {
        parameters: inference.parameters(graph),
        peak_bytes: peak.map(|peak| dim_json(inference, peak.bytes)),
        peak_at: peak.map(|peak| graph.nodes()[peak.node].label(peak.node)),
    }
}

/// Rows in columns as wide as they need to be.
fn aligned(rows: &[[String; 4]]) -> String {
    /// Names may be very long; the others still line up.
    const WIDEST: usize = 60;
    let mut widths = [0; 4];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(cell);
            let gap = width.saturating_sub(cell.chars().count()) + 2;
            line.extend(std::iter::repeat_n(' ', gap));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(inference: &Inference, name: &str, fact: &Fact, bytes: Option<Dim>) -> [String; 4] {
    let shape = match fact {
        Fact::Tensor(tensor) => match &tensor.dims {
            Some(dims) => {
                let dims: Vec<_> =
                    dims.iter().map(|&dim| inference.symbols().print(dim).to_string()).collect();
                format!("[{}]", dims.join(", "))
            }
            None => "[...]".to_owned(),
        },
        Fact::Sequence(_) | Fact::Optional(_) => inference.describe(fact),
        Fact::Unknown => "?".to_owned(),
    };
    let bytes = bytes.map_or_else(String::new, |bytes| inference.symbols().print(bytes).to_string());
    [name.to_owned(), type_name(inference, fact).unwrap_or_else(|| "?".to_owned()), shape, bytes]
}

fn rows_of(args: &args::Infer, inference: &mut Inference, graph: &Graph) -> Vec<[String; 4]> {
    let heading = ["value", "type", "shape", "bytes"].map(str::to_owned);
    let mut rows = vec![heading];
    for id in graph.ids() {
        let bytes = inference.bytes(id);
        let fact = inference.fact(id);
        if shown(args, inference, fact) {
            rows.push(row(inference, &graph.value(id).name, fact, bytes));
        }
    }
    rows
}

fn as_text(args: &args::Infer, path: &Path, model: &Model, inference: &mut Inference) -> String {
    let graph = model.graph();
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    if args.models.len() > 1 {
        let _ = writeln!(text, "{}", path.display());
    }
    let rows = rows_of(args, inference, graph);
    if rows.len() > 1 {
        let _ = write!(text, "{}", aligned(&rows));
    }
    for body in inference.bodies() {
        let mut rows = vec![["value", "type", "shape", ""].map(str::to_owned)];
        for id in body.graph.ids() {
            let fact = &body.facts[id.index()];
            if shown(args, inference, fact) {
                rows.push(row(inference, &body.graph.value(id).name, fact, None));
            }
        }
        if rows.len() > 1 {
            let _ = write!(text, "\nin {}:\n{}", body.path, aligned(&rows));
        }
    }
    let unknown = |id: &ValueId| inference.completeness(inference.fact(*id)) > Completeness::Data;
    let unknown: Vec<_> = graph.ids().filter(unknown).collect();
    let computed = graph.ids().filter(|&id| graph.value(id).origin.is_node()).count();
    let complete = computed - unknown.iter().filter(|&&id| graph.value(id).origin.is_node()).count();
    if args.only_unknown {
        for &id in &unknown {
            let why = inference.why_incomplete(id).join("; ");
            let _ = writeln!(text, "{}: {why}", graph.value(id).name);
        }
    }
    let _ = writeln!(text, "\n{complete} of {computed} values of nodes are known in full");
    let totals = totals(model, inference);
    let _ = write!(text, "{} parameters", totals.parameters);
    if let (Some(bytes), Some(at)) = (&totals.peak_bytes, &totals.peak_at) {
        let bytes = bytes.as_str().map_or_else(|| bytes.to_string(), str::to_owned);
        let _ = write!(text, "; at most {bytes} bytes of values at one time, at {at}");
    }
    let _ = writeln!(text);
    let remarks = |text: &mut Vec<u8>, title: &str, all: Vec<(&str, &str)>| {
        if !all.is_empty() {
            let _ = writeln!(text, "{title}:");
        }
        for (place, message) in all {
            let _ = writeln!(text, "  {message} ({place})");
        }
    };
    let assumptions = inference.assumptions().iter().map(|a| (a.node.as_str(), a.text.as_str())).collect();
    remarks(&mut text, "assumptions", assumptions);
    let problems = inference.problems().iter().map(|p| (p.place.as_str(), p.message.as_str())).collect();
    remarks(&mut text, "problems", problems);
    String::from_utf8_lossy(&text).into_owned()
}
