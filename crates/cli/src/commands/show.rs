//! `gradus show`: what a model holds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gradus::graph::{DeclaredDim, Graph, Type, ValueId};
use gradus::sort::SharedSort;
use gradus::{Model, convert};
use serde::Serialize;

use super::fleet::FleetModel;
use super::{fleet, many};
use crate::args;
use crate::columns::{Column, fitted};
use crate::diagnostics::Failure;
use crate::json::TypeJson;
use crate::output::{self, escaped};

/// Constants that the text shows; `--json` has all.
const LARGEST: usize = 20;

#[derive(Serialize)]
struct ShownGraph {
    file: String,
    standard: &'static str,
    ir_version: i64,
    producer: String,
    opsets: BTreeMap<String, i64>,
    inputs: Vec<DeclaredJson>,
    outputs: Vec<DeclaredJson>,
    nodes: usize,
    operators: BTreeMap<String, usize>,
    functions: Vec<String>,
    constants: Vec<ConstantJson>,
    metadata: Vec<(String, String)>,
}

#[derive(Serialize)]
struct DeclaredJson {
    name: String,
    #[serde(flatten)]
    declared: TypeJson,
    #[serde(skip)]
    text: String,
    optional: bool,
}

#[derive(Serialize)]
struct ConstantJson {
    name: String,
    r#type: &'static str,
    shape: Vec<usize>,
    bytes: u64,
}

/// Runs `gradus show`: prints the contents of models.
pub(crate) fn show(args: &args::Show) -> Result<(), Failure> {
    let models = fleet::expand(&args.models)?;
    many::each(&models, &args.fleet, args.limits.limits(), |FleetModel { path, .. }, out| {
        let shown = shown(path, &args.limits.open(path)?, args.written.dialect);
        output::bounded(out, output::is_json(), |out| {
            if output::is_json() {
                return output::write_json(out, &shown);
            }
            Ok(writeln!(out, "{}", text(&shown).trim_end())?)
        })
    })
}

fn shown(path: &Path, model: &Model, dims: args::Dialect) -> ShownGraph {
    let (source, graph) = (model.source(), model.graph());
    let mut operators = BTreeMap::new();
    let nodes = count(graph, &mut operators);
    let values = |ids: &[ValueId]| ids.iter().map(|&id| value(graph, id, dims)).collect();
    let constants = model.constants().into_iter().map(|constant| ConstantJson {
        r#type: constant.dtype.name(),
        shape: constant.shape.dims().to_vec(),
        bytes: convert::low_u64(constant.byte_len()),
        name: constant.name,
    });
    ShownGraph {
        file: path.display().to_string(),
        standard: source.standard.name(),
        ir_version: source.format_version,
        producer: source.producer.clone(),
        opsets: source.opsets.iter().map(|(domain, version)| (domain.to_string(), *version)).collect(),
        inputs: values(graph.inputs()),
        outputs: values(graph.outputs()),
        nodes,
        operators,
        functions: source.functions.iter().map(|function| function.id.to_string()).collect(),
        constants: constants.collect(),
        metadata: source.metadata.clone(),
    }
}

fn value(graph: &Graph, id: ValueId, dims: args::Dialect) -> DeclaredJson {
    let info = graph.value(id);
    let unknown = Type::Tensor(None, None);
    let mut declared = info.declared.as_ref().unwrap_or(&unknown).clone();
    // Without a dialect, the text stays as the file has it.
    if dims != args::Dialect::Gradus {
        let dialect = gradus::dim::Dialect::from(dims);
        declared.replace_symbols(&|text| DeclaredDim::Symbol(dialect.declared(text).into()));
    }
    DeclaredJson {
        name: info.name.to_string(),
        declared: TypeJson::of(&declared),
        text: declared.to_string(),
        optional: graph.constant(id).is_some(),
    }
}

/// Counts nodes by operator, in inner graphs too.
fn count(graph: &Graph, operators: &mut BTreeMap<String, usize>) -> usize {
    let mut nodes = 0;
    let mut open = vec![graph];
    while let Some(graph) = open.pop() {
        nodes += graph.nodes().len();
        for node in graph.nodes() {
            *operators.entry(node.operator.to_string()).or_default() += 1;
            open.extend(node.graphs().map(|graph| &**graph));
        }
    }
    nodes
}

fn text(shown: &ShownGraph) -> String {
    let mut text = String::new();
    let sets: Vec<_> = shown
        .opsets
        .iter()
        .map(
            |(domain, version)| {
                if domain.is_empty() { format!("opset {version}") } else { format!("{domain} {version}") }
            },
        )
        .collect();
    let facts =
        [format!("{} IR {}", shown.standard, shown.ir_version), sets.join(", "), shown.producer.clone()];
    let facts: Vec<_> = facts.iter().filter(|fact| !fact.is_empty()).map(String::as_str).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}: {}", escaped(&shown.file), escaped(&facts.join("; ")));
    for (title, values) in [("inputs", &shown.inputs), ("outputs", &shown.outputs)] {
        if values.is_empty() {
            let _ = writeln!(text, "\nno {title}");
            continue;
        }
        let mut rows = vec![[title, "type", ""].map(str::to_owned)];
        rows.extend(values.iter().map(|value| {
            let default = if value.optional { "has a default" } else { "" };
            [value.name.clone(), value.text.clone(), default.to_owned()]
        }));
        let table = fitted(&rows, &[Column::NAME, Column::SHAPE, Column::WHOLE]);
        let _ = write!(text, "\n{}", table.text);
    }
    let mut operators: Vec<_> = shown.operators.iter().collect();
    operators.shared_sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let counts: Vec<_> = operators.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let colon = if counts.is_empty() { "" } else { ": " };
    let _ = writeln!(text, "\n{}{colon}{}", counted(shown.nodes, "node"), escaped(&counts.join(", ")));
    if !shown.functions.is_empty() {
        let _ = writeln!(
            text,
            "{}: {}",
            counted(shown.functions.len(), "function"),
            escaped(&shown.functions.join(", "))
        );
    }
    let total: u128 = shown.constants.iter().map(|constant| u128::from(constant.bytes)).sum();
    let _ = writeln!(text, "{}, {total} bytes", counted(shown.constants.len(), "constant"));
    if !shown.constants.is_empty() {
        let mut largest: Vec<_> = shown.constants.iter().collect();
        largest.shared_sort_by_key(|constant| (std::cmp::Reverse(constant.bytes), &constant.name));
        let mut rows = vec![["constant", "type", "bytes"].map(str::to_owned)];
        rows.extend(largest.iter().take(LARGEST).map(|constant| {
            let of_type = format!("{}{:?}", constant.r#type, constant.shape);
            [constant.name.clone(), of_type, constant.bytes.to_string()]
        }));
        let table = fitted(&rows, &[Column::NAME, Column::SHAPE, Column::WHOLE]);
        let _ = write!(text, "\n{}", table.text);
        if largest.len() > LARGEST {
            let _ = writeln!(text, "and {} smaller ones", largest.len() - LARGEST);
        }
    }
    text
}

/// `no nodes`, `1 node`, `2 nodes`.
fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
