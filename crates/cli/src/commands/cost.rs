//! `gradus cost`: parameters, operations, bytes and memory of a model, as formulas.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use gradus::cost::{Amounts, Cost, Counts, Fit};
use gradus::graph::Graph;
use gradus::infer::{InferOptions, Inference, Peak, Reuse};
use gradus::{Dim, Error, Kind};
use serde::Serialize;

use super::fleet::FleetModel;
use super::infer::{DimJson, Remark, dim_json, peak_text, write_conditions, write_problems};
use super::sweep::{self, Sweep};
use super::{fleet, given, many, plan};
use crate::args;
use crate::columns::{Column, Fitted, fitted, inline, narrow_hint};
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output::{self, escaped};

#[derive(Serialize)]
pub(super) struct AmountsJson<'a> {
    nodes: usize,
    parameters: u128,
    #[serde(flatten)]
    counts: Counts<Option<DimJson<'a>>>,
    intensity: Option<f64>,
    uncounted: usize,
    r#unsized: usize,
}

#[derive(Serialize)]
struct NodeCostJson<'a> {
    node: String,
    operator: String,
    parameters: u128,
    #[serde(flatten)]
    counts: Counts<Option<DimJson<'a>>>,
    intensity: Option<f64>,
    uncounted: Option<&'static str>,
}

/// Runs `gradus cost`: prints parameters, operations, bytes and memory of models.
pub(crate) fn cost(args: &args::CostArgs) -> Result<(), Failure> {
    let (sweep, sizes) = sweep::taken(&args.sizes)?;
    let options = given::infer_options(&sizes)?;
    if sweep.is_some() && args.fit.is_some() {
        return Err(Error::new(Kind::Usage, "--fit finds one size, but --dim gives a range of sizes").into());
    }
    if sweep.is_none() && args.plot && !args.plan {
        let wanted = "a range of sizes: NAME=FIRST..LAST:xFACTOR";
        return Err(Error::mismatch(Kind::Usage, "cannot draw a plot: --dim", "a number", wanted).into());
    }
    if sweep.is_some() && args.plan {
        return Err(Error::new(Kind::Usage, "--plan needs numbers, but --dim gives a range of sizes").into());
    }
    let models = fleet::expand(&args.models)?;
    many::each(&models, &args.fleet, args.limits.limits(), |model, out| {
        output::bounded(out, output::is_json(), |out| one(args, model, &options, sweep.as_ref(), out))
    })
}

/// Prints the cost of one model.
fn one(
    args: &args::CostArgs,
    FleetModel { path, .. }: &FleetModel,
    options: &InferOptions,
    sweep: Option<&Sweep>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let model = given::set(&args.limits.open(path)?, &args.sizes.shapes.inputs)?;
    if args.models.len() > 1 && !output::is_json() {
        writeln!(out, "{}", output::path(path))?;
    }
    if let Some(sweep) = sweep {
        let name = path.display().to_string();
        return sweep.print(&model, options, name, args.plot, out);
    }
    let graph = model.graph();
    let mut cost = model.cost(options).map_err(|error| error.in_file(path.display()))?;
    if args.plan {
        return plan::print(&model, &mut cost, path, args, out);
    }
    let fit = args
        .fit
        .map(|bytes| cost.fit(&model, bytes.into(), if args.in_place { Reuse::InPlace } else { Reuse::None }))
        .transpose();
    let fit = fit.map_err(|error| error.in_file(path.display()))?;
    let fits = fit.as_ref().is_none_or(|fit| fit.most.is_some());
    if output::is_json() {
        let json = cost_json(path.display().to_string(), graph, &mut cost, args.depth, fit);
        output::write_json(out, &json)?;
    } else {
        write_text(graph, &mut cost, args.depth, fit.as_ref(), out)?;
    }
    // The formulas of a model that contradicts itself hold for no run.
    if fits && cost.inference().problems().is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Amounts of a model as JSON.
pub(super) fn amounts_json<'a>(inference: &'a Inference, amounts: &Amounts) -> AmountsJson<'a> {
    let json = |dim: Option<Dim>| dim.map(|dim| dim_json(inference, dim));
    AmountsJson {
        nodes: amounts.nodes,
        parameters: amounts.parameters,
        counts: amounts.counts.map(json),
        intensity: amounts.counts.intensity(),
        uncounted: amounts.uncounted,
        r#unsized: amounts.unsized_nodes,
    }
}

fn cost_json(
    model: String,
    graph: &Graph,
    cost: &mut Cost,
    depth: usize,
    fit: Option<Fit>,
) -> impl Serialize {
    let (operators, groups) = (cost.by_operator(graph), cost.by_prefix(graph, depth));
    let live = cost.memory.live.clone();
    let live: Vec<_> =
        live.into_iter().map(|id| (graph.value(id).name.to_string(), cost.bytes(id))).collect();
    let inference = cost.inference();
    let json = |dim: Option<Dim>| dim.map(|dim| dim_json(inference, dim));
    let sums = |groups: BTreeMap<String, Amounts>| {
        groups
            .into_iter()
            .map(|(name, amounts)| (name, amounts_json(inference, &amounts)))
            .collect::<BTreeMap<_, _>>()
    };
    let nodes = cost.nodes.iter().map(|node| NodeCostJson {
        node: graph.nodes()[node.node].label(node.node),
        operator: graph.nodes()[node.node].operator.to_string(),
        parameters: node.parameters,
        counts: node.counts.map(json),
        intensity: node.counts.intensity(),
        uncounted: node.uncounted,
    });
    let (peak, in_place) = (cost.memory.peak, cost.memory.in_place);
    let at = |peak: Peak| graph.nodes()[peak.node].label(peak.node);
    object!(CostJson {
        model,
        total: amounts_json(inference, &cost.total),
        memory: object!(MemoryJson {
            constants: cost.memory.constants,
            inputs: json(cost.memory.inputs),
            peak_bytes: json(peak.map(|peak| peak.bytes)),
            peak_at: peak.map(at),
            peak_unknown: peak.map_or(0, |peak| peak.unknown),
            in_place_bytes: json(in_place.map(|peak| peak.bytes)),
            in_place_at: in_place.map(at),
            live: live
                .into_iter()
                .map(|(value, bytes)| object!(LiveJson { value, bytes: json(bytes) }))
                .collect::<Vec<_>>(),
        }),
        operators: sums(operators),
        groups: sums(groups),
        nodes: nodes.collect::<Vec<_>>(),
        fit: Maybe(
            fit.map(|fit| object!(FitJson {
                symbol: fit.symbol.to_string(),
                most: fit.most,
                bytes: fit.bytes,
                limit: fit.limit.map(|(message, place)| object!(LimitJson { message, place })),
                sizes: fit
                    .sizes
                    .into_iter()
                    .map(|(name, size)| (name.to_string(), size))
                    .collect::<BTreeMap<_, _>>(),
            }))
        ),
        assumptions: Remark::assumptions(inference),
        warnings: Remark::warnings(inference),
        problems: Remark::problems(inference),
    })
}

/// A table of groups, the heading first.
fn table(heading: &str, groups: &BTreeMap<String, Amounts>, inference: &Inference) -> Fitted {
    let print = |dim: Option<Dim>| sum_text(inference, dim);
    // The last column has the operations for each byte, where all sums are numbers.
    let is_number = |dim: Option<Dim>| dim.is_some_and(|dim| dim.known().is_some());
    let of = |all: &Amounts| {
        [all.counts.macs, all.counts.operations, all.counts.bytes_read, all.counts.bytes_written]
    };
    let is_known = groups.values().flat_map(of).all(is_number);
    let last = if is_known { "per byte" } else { "" };
    let columns = [heading, "nodes", "parameters", "MACs", "operations", "read", "written", last];
    let mut rows = vec![columns.map(str::to_owned)];
    rows.extend(groups.iter().map(|(name, amounts)| {
        let counted = amounts.uncounted < amounts.nodes;
        let work = |dim| if counted { print(dim) } else { "?".to_owned() };
        let ratio = amounts.counts.intensity().filter(|_| counted && is_known);
        [
            name.clone(),
            amounts.nodes.to_string(),
            amounts.parameters.to_string(),
            work(amounts.counts.macs),
            work(amounts.counts.operations),
            print(amounts.counts.bytes_read),
            print(amounts.counts.bytes_written),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]
    }));
    let columns = [
        Column::NAME,
        Column::WHOLE,
        Column::WHOLE,
        Column::FORMULA,
        Column::FORMULA,
        Column::EXTRA,
        Column::EXTRA,
        Column::WHOLE,
    ];
    fitted(&rows, &columns)
}

/// A table of the classes of operations of the operators that have some; nothing where none has.
fn classes(operators: &BTreeMap<String, Amounts>, inference: &Inference) -> Option<Fitted> {
    let columns = ["operations of", "arithmetic", "comparisons", "transcendentals"];
    let mut rows = vec![columns.map(str::to_owned)];
    for (name, of) in operators.iter().filter(|(_, of)| of.counts.operations != Some(Dim::ZERO)) {
        let print = |dim: Option<Dim>| sum_text(inference, dim);
        rows.push([
            name.clone(),
            print(of.counts.arithmetic),
            print(of.counts.comparisons),
            print(of.counts.transcendentals),
        ]);
    }
    let columns = [Column::NAME, Column::FORMULA, Column::FORMULA, Column::FORMULA];
    (rows.len() > 1).then(|| fitted(&rows, &columns))
}

fn sum_text(inference: &Inference, dim: Option<Dim>) -> String {
    dim.map_or_else(|| "too large".to_owned(), |dim| inference.symbols().print(dim).to_string())
}

fn write_text(
    graph: &Graph,
    cost: &mut Cost,
    depth: usize,
    fit: Option<&Fit>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (mut operators, groups) = (cost.by_operator(graph), cost.by_prefix(graph, depth));
    let live = cost.memory.live.clone();
    let live: Vec<_> =
        live.into_iter().map(|id| (graph.value(id).name.to_string(), cost.bytes(id))).collect();
    let inference = cost.inference();
    let print = |dim: Option<Dim>| {
        dim.map_or_else(|| "?".to_owned(), |dim| inference.symbols().print(dim).to_string())
    };
    let mut reasons: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (of, why) in cost.nodes.iter().filter_map(|of| Some((of, of.uncounted?))) {
        reasons.entry(graph.nodes()[of.node].operator.to_string()).or_default().insert(why);
    }
    let uncounted: Vec<_> = reasons
        .into_iter()
        .map(|(name, reasons)| {
            let (count, reasons) = (operators[&name].uncounted, Vec::from_iter(reasons));
            format!("{count} {name} ({})", reasons.join("; "))
        })
        .collect();
    operators.insert("total".to_owned(), cost.total);
    let mut tables = vec![table("operator", &operators, inference)];
    if groups.len() > 1 {
        tables.push(table("group", &groups, inference));
    }
    tables.extend(classes(&operators, inference));
    for table in &tables {
        writeln!(out, "{}", table.text)?;
    }
    if let Some(hint) = narrow_hint(&tables) {
        writeln!(out, "{hint}")?;
    }
    if !uncounted.is_empty() {
        writeln!(out, "operations not counted: {}", escaped(&uncounted.join(", ")))?;
    }
    if cost.total.unsized_nodes > 0 {
        writeln!(out, "nodes with values of unknown size: {}", cost.total.unsized_nodes)?;
    }
    let inputs = print(cost.memory.inputs);
    writeln!(out, "{} bytes of constants, {} of inputs", cost.memory.constants, escaped(&inline(&inputs)))?;
    let most = |peak: Peak| {
        let at = graph.nodes()[peak.node].label(peak.node);
        peak_text(&print(Some(peak.bytes)), &at, peak.unknown)
    };
    if let Some(peak) = cost.memory.peak {
        writeln!(out, "{}:", most(peak))?;
        for (name, bytes) in live {
            writeln!(out, "  {}", escaped(&format!("{name}: {}", inline(&print(bytes)))))?;
        }
    }
    if let Some(peak) = cost.memory.in_place {
        writeln!(out, "in place: {}", most(peak))?;
    }
    match fit {
        Some(Fit { symbol, most: Some(most), bytes, limit, sizes, .. }) => {
            let sizes: Vec<_> = sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
            let sizes = if sizes.is_empty() { String::new() } else { format!(" ({})", sizes.join(", ")) };
            let limit = limit.as_ref().map(|(text, node)| format!("; more does not run: {text} ({node})"));
            let limit = limit.unwrap_or_default();
            writeln!(
                out,
                "largest {} that fits: {most}{}, with {bytes} bytes{}",
                escaped(symbol),
                escaped(&sizes),
                escaped(&limit)
            )?;
        }
        Some(Fit { symbol, bytes, .. }) => {
            writeln!(out, "no {} fits: the smallest needs {bytes} bytes", escaped(symbol))?;
        }
        None => {}
    }
    write_conditions(inference, out)?;
    write_problems(inference, out)
}
