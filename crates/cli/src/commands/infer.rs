//! `gradus infer`: what is known of every value before a model runs.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use gradus::graph::{Graph, ValueId};
use gradus::infer::{Completeness, InferOptions, Inference, Subgraph};
use gradus::{DType, Dim, Error, Fact, Kind, Model};
use serde::Serialize;

use super::fleet::FleetModel;
use super::{fleet, given, many};
use crate::args;
use crate::diagnostics::Failure;
use crate::output::{self, escaped};

/// Lines that `--why` prints at most.
const MOST_LINES: usize = 200;

#[derive(Serialize)]
struct Inferred<'a> {
    model: String,
    values: Values<'a>,
    #[serde(skip_serializing_if = "SubgraphsJson::is_empty")]
    bodies: SubgraphsJson<'a>,
    totals: Totals,
    unknown: Reasons<'a>,
    assumptions: Vec<Remark<'a>>,
    problems: Vec<Remark<'a>>,
}

/// The shape of one value, explained.
#[derive(Serialize)]
struct Explained<'a> {
    model: String,
    value: &'a str,
    #[serde(flatten)]
    fact: InferredJson,
    why: Vec<String>,
}

/// The values of a graph by name, written as they are asked for: there may be very many.
struct Values<'a> {
    inference: &'a Inference,
    graph: &'a Graph,
    facts: &'a [Fact],
    only_unknown: bool,
}

impl Serialize for Values<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown =
            self.graph.ids().filter(|id| shown(self.only_unknown, self.inference, &self.facts[id.index()]));
        let value = |id: ValueId| {
            (&*self.graph.value(id).name, InferredJson::of(self.inference, &self.facts[id.index()]))
        };
        serializer.collect_map(shown.map(value))
    }
}

/// Graphs within nodes, by path.
struct SubgraphsJson<'a> {
    inference: &'a Inference,
    only_unknown: bool,
}

impl SubgraphsJson<'_> {
    fn is_empty(&self) -> bool {
        self.inference.subgraphs().is_empty()
    }
}

#[derive(Serialize)]
struct BodyJson<'a> {
    values: BodyValues<'a>,
}

/// The values of a graph within a node.
struct BodyValues<'a> {
    inference: &'a Inference,
    body: &'a Subgraph,
    only_unknown: bool,
}

impl Serialize for BodyValues<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown =
            self.body.values.iter().filter(|(_, fact)| shown(self.only_unknown, self.inference, fact));
        serializer.collect_map(shown.map(|(name, fact)| (&**name, InferredJson::of(self.inference, fact))))
    }
}

impl Serialize for SubgraphsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (inference, only_unknown) = (self.inference, self.only_unknown);
        serializer.collect_map(inference.subgraphs().iter().map(|body| {
            let values = BodyValues { inference, body, only_unknown };
            (&body.path, BodyJson { values })
        }))
    }
}

/// Why values are not known in full, by name.
struct Reasons<'a> {
    inference: &'a Inference,
    graph: &'a Graph,
}

impl Serialize for Reasons<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unknown = self.graph.ids().filter(|&id| is_unknown(self.inference, self.inference.fact(id)));
        serializer
            .collect_map(unknown.map(|id| (&*self.graph.value(id).name, self.inference.why_incomplete(id))))
    }
}

#[derive(Serialize)]
struct Totals {
    parameters: u128,
    peak_bytes: Option<DimJson>,
    peak_at: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Remark<'a> {
    place: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct InferredJson {
    r#type: Option<Cow<'static, str>>,
    shape: Option<Vec<DimJson>>,
    fresh: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
}

/// A number, or an expression as text.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum DimJson {
    Known(i64),
    Symbolic(String),
}

pub(crate) fn infer(args: &args::Infer) -> Result<(), Failure> {
    let mut options = InferOptions::default();
    options.dims = given::dims(&args.dims)?;
    options.ranges = given::ranges(&args.sizes)?;
    options.inputs = given::shapes(&args.input_shapes)?;
    options.ignore_declared = args.ignore_declared;
    let models = fleet::expand(&args.models)?;
    if args.why.is_some() && models.len() > 1 {
        return Err(
            Error::new(Kind::Usage, "--why explains a value of one model, but there are several").into()
        );
    }
    if let Some(to) = &args.output {
        given::check_destination(to, &models)?;
    }
    many::each(&models, args.json, &args.fleet, |model, out| one(args, model, &options, out))
}

/// Infers one model and prints the result.
fn one(
    args: &args::Infer,
    of: &FleetModel,
    options: &InferOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let model = args.limits.open(path)?;
    let mut inference = model.infer(options).map_err(|error| error.in_file(path.display()))?;
    if let Some(to) = &args.output {
        let edit = model.declared(&inference, options).map_err(|error| error.in_file(path.display()))?;
        model.save_edited(&edit, &given::destination(to, of, model.source().standard)?)?;
    }
    if let Some(name) = &args.why {
        return write_why(args, path, &model, &inference, name, out);
    }
    if args.json {
        write_json(args, path, &model, &mut inference, out)?;
    } else {
        write_text(args, path, &model, &mut inference, out)?;
    }
    // The problems are printed; the exit status says that there are some.
    if inference.problems().is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Writes why one value has its shape.
fn write_why(
    args: &args::Infer,
    path: &Path,
    model: &Model,
    inference: &Inference,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let id = model.value(name).map_err(|error| error.in_file(path.display()))?;
    let why = inference.explain(model.graph(), id, MOST_LINES);
    if args.json {
        let fact = InferredJson::of(inference, inference.fact(id));
        let explained = Explained { model: path.display().to_string(), value: name, fact, why };
        writeln!(out, "{}", output::json(&explained)?)?;
    } else {
        for line in why {
            writeln!(out, "{}", escaped(&line))?;
        }
    }
    Ok(())
}

/// Returns true if a value is not known in full.
fn is_unknown(inference: &Inference, fact: &Fact) -> bool {
    inference.completeness(fact) > Completeness::Data
}

/// Returns true if a value is shown.
fn shown(only_unknown: bool, inference: &Inference, fact: &Fact) -> bool {
    !only_unknown || is_unknown(inference, fact)
}

pub(super) fn dim_json(inference: &Inference, dim: Dim) -> DimJson {
    match dim {
        Dim::Known(value) => DimJson::Known(value),
        Dim::Symbolic(_) => DimJson::Symbolic(inference.symbols().print(dim).to_string()),
    }
}

fn type_name(fact: &Fact) -> Option<Cow<'static, str>> {
    match fact {
        Fact::Tensor(fact) => fact.dtype.map(|dtype| dtype.name().into()),
        Fact::Sequence(list) => {
            Some(format!("sequence of {}", list.each.dtype().map_or("?", DType::name)).into())
        }
        Fact::Optional(optional) => Some(format!("optional {}", type_name(&optional.value)?).into()),
        _ => None,
    }
}

impl Remark<'_> {
    pub(super) fn assumptions(inference: &Inference) -> Vec<Remark<'_>> {
        inference.assumptions().iter().map(|a| Remark { place: &a.node, message: &a.text }).collect()
    }

    pub(super) fn problems(inference: &Inference) -> Vec<Remark<'_>> {
        inference.problems().iter().map(|p| Remark { place: &p.place, message: &p.message }).collect()
    }
}

impl InferredJson {
    fn of(inference: &Inference, fact: &Fact) -> InferredJson {
        let (fresh, unknown) = match inference.completeness(fact) {
            Completeness::Full => (Vec::new(), Vec::new()),
            _ => inference.fresh(fact),
        };
        let dims = fact.as_tensor().and_then(|fact| fact.dims.as_ref());
        InferredJson {
            r#type: type_name(fact),
            shape: dims.map(|dims| dims.iter().map(|&dim| dim_json(inference, dim)).collect()),
            fresh,
            unknown,
        }
    }
}

/// Writes what is known as one line of JSON.
fn write_json(
    args: &args::Infer,
    path: &Path,
    model: &Model,
    inference: &mut Inference,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let graph = model.graph();
    let totals = totals(model, inference);
    let (inference, only_unknown) = (&*inference, args.only_unknown);
    let facts = inference.facts();
    let json = Inferred {
        model: path.display().to_string(),
        values: Values { inference, graph, facts, only_unknown },
        bodies: SubgraphsJson { inference, only_unknown },
        totals,
        unknown: Reasons { inference, graph },
        assumptions: Remark::assumptions(inference),
        problems: Remark::problems(inference),
    };
    serde_json::to_writer(&mut *out, &json)?;
    writeln!(out)
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
pub(super) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    /// Names may be very long; the others still line up.
    const WIDEST: usize = 60;
    let mut widths = [0; N];
    let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(|cell| escaped(cell))).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    let mut text = String::new();
    for row in &rows {
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
        _ => "?".to_owned(),
    };
    let bytes = bytes.map_or_else(String::new, |bytes| inference.symbols().print(bytes).to_string());
    [name.to_owned(), type_name(fact).map_or_else(|| "?".to_owned(), Cow::into_owned), shape, bytes]
}

fn rows_of(args: &args::Infer, inference: &mut Inference, graph: &Graph) -> Vec<[String; 4]> {
    let heading = ["value", "type", "shape", "bytes"].map(str::to_owned);
    let mut rows = vec![heading];
    for id in graph.ids() {
        let bytes = inference.bytes(id);
        let fact = inference.fact(id);
        if shown(args.only_unknown, inference, fact) {
            rows.push(row(inference, &graph.value(id).name, fact, bytes));
        }
    }
    rows
}

fn write_text(
    args: &args::Infer,
    path: &Path,
    model: &Model,
    inference: &mut Inference,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let graph = model.graph();
    if args.models.len() > 1 {
        writeln!(out, "{}", output::path(path))?;
    }
    let rows = rows_of(args, inference, graph);
    if rows.len() > 1 {
        write!(out, "{}", aligned(&rows))?;
    }
    for body in inference.subgraphs() {
        let mut rows = vec![["value", "type", "shape", ""].map(str::to_owned)];
        for (name, fact) in &body.values {
            if shown(args.only_unknown, inference, fact) {
                rows.push(row(inference, name, fact, None));
            }
        }
        if rows.len() > 1 {
            write!(out, "\nin {}:\n{}", escaped(&body.path), aligned(&rows))?;
        }
    }
    let unknown = |id: &ValueId| is_unknown(inference, inference.fact(*id));
    let unknown: Vec<_> = graph.ids().filter(unknown).collect();
    let computed = graph.ids().filter(|&id| graph.value(id).origin.is_node()).count();
    let complete = computed - unknown.iter().filter(|&&id| graph.value(id).origin.is_node()).count();
    if args.only_unknown {
        for &id in &unknown {
            let why = inference.why_incomplete(id).join("; ");
            writeln!(out, "{}", escaped(&format!("{}: {why}", graph.value(id).name)))?;
        }
    }
    writeln!(out, "\n{complete} of {computed} values of nodes are known in full")?;
    let totals = totals(model, inference);
    write!(out, "{} parameters", totals.parameters)?;
    if let (Some(bytes), Some(at)) = (&totals.peak_bytes, &totals.peak_at) {
        let bytes = match bytes {
            DimJson::Known(bytes) => bytes.to_string(),
            DimJson::Symbolic(bytes) => bytes.clone(),
        };
        write!(out, "; at most {} bytes of values at one time, at {}", escaped(&bytes), escaped(at))?;
    }
    writeln!(out)?;
    write_remarks(inference, out)
}

/// Writes the assumptions and the problems of an inference.
pub(super) fn write_remarks(inference: &Inference, out: &mut dyn Write) -> std::io::Result<()> {
    let assumptions: Vec<_> = inference.assumptions().iter().map(|a| (&a.node, &a.text)).collect();
    let problems: Vec<_> = inference.problems().iter().map(|p| (&p.place, &p.message)).collect();
    for (title, remarks) in [("assumptions", assumptions), ("problems", problems)] {
        if !remarks.is_empty() {
            writeln!(out, "{title}:")?;
        }
        for (place, message) in remarks {
            writeln!(out, "  {} ({})", escaped(message), escaped(place))?;
        }
    }
    Ok(())
}
