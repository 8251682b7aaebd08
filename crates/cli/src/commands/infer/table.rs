//! Inferred facts as tables.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write};

use gradus::dim::{Condition, Relation};
use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{Completeness, Inference, ModelCondition, Subgraph, Why};
use gradus::{Dim, Fact};

use super::json::Totals;
use super::{ShownValues, is_unknown, operator, type_name};
use crate::columns::{Column, fitted, inline, narrow_hint};
use crate::output::{escaped, warning};

fn row(
    inference: &Inference,
    name: &str,
    operator: Option<&str>,
    fact: &Fact,
    bytes: Option<Dim>,
) -> [String; 5] {
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
    let dtype = type_name(fact).map_or_else(|| "?".to_owned(), Cow::into_owned);
    [name.to_owned(), operator.unwrap_or_default().to_owned(), dtype, shape, bytes]
}

/// The group of the node that computes a value, by the first `depth` components of its name.
fn group(graph: &Graph, id: ValueId, depth: usize) -> String {
    match graph.value(id).origin {
        Origin::Node(node, _) => graph.nodes()[node].group(depth),
        _ => String::new(),
    }
}

const COLUMNS: [Column; 5] = [Column::NAME, Column::WORD, Column::WHOLE, Column::SHAPE, Column::EXTRA];

/// Characters of a short name.
const SHORT: usize = 24;

/// Names of the values that are shown, and headings of groups of them, which have no value. On a
/// terminal, groups are as deep as short names need.
fn names(shown: &ShownValues<'_>, graph: &Graph) -> Vec<(String, Option<ValueId>)> {
    match (shown.args.sort, shown.args.depth) {
        (Some(_), _) => named(shown, graph, 0),
        (None, Some(depth)) => named(shown, graph, depth),
        (None, None) if !std::io::stdout().is_terminal() => named(shown, graph, 0),
        (None, None) => {
            let excess = |names: &Vec<(String, Option<_>)>| -> usize {
                let values = names.iter().filter(|(_, id)| id.is_some());
                values.map(|(name, _)| name.chars().count().saturating_sub(SHORT)).sum()
            };
            let depths = (2..=8).map(|depth| named(shown, graph, depth));
            depths.min_by_key(excess).unwrap_or_default()
        }
    }
}

/// Names of values in groups of the first `depth` components.
fn named(shown: &ShownValues<'_>, graph: &Graph, depth: usize) -> Vec<(String, Option<ValueId>)> {
    let mut names = Vec::new();
    let grouped: Vec<_> = shown.ids.iter().map(|&id| (id, group(graph, id, depth))).collect();
    for group in grouped.chunk_by(|(_, a), (_, b)| a == b) {
        let heading = &group[0].1;
        let first = &*graph.value(group[0].0).name;
        let has_heading = !heading.is_empty() && (group.len() > 1 || first.chars().count() > SHORT);
        if has_heading {
            let root = if first.starts_with('/') { "/" } else { "" };
            names.push((format!("{root}{heading}/"), None));
        }
        names.extend(group.iter().map(|&(id, _)| {
            let name = &*graph.value(id).name;
            let rest = name.trim_start_matches('/').strip_prefix(&**heading);
            let rest = rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
            (if has_heading { format!("  {rest}") } else { name.to_owned() }, Some(id))
        }));
    }
    names
}

/// Writes facts, totals and problems as tables.
pub(super) fn write_text(
    shown: &ShownValues<'_>,
    totals: &Totals<'_>,
    graph: &Graph,
    inference: &Inference,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    write_problems(inference, out)?;
    let mut rows = vec![["value", "operator", "type", "shape", "bytes"].map(str::to_owned)];
    for (name, id) in names(shown, graph) {
        rows.push(match id {
            Some(id) => {
                row(inference, &name, operator(graph, id), inference.fact(id), shown.bytes[id.index()])
            }
            None => [name, String::new(), String::new(), String::new(), String::new()],
        });
    }
    let mut tables = Vec::new();
    if rows.len() > 1 {
        let table = fitted(&rows, &COLUMNS);
        write!(out, "{}", table.text)?;
        tables.push(table);
    }
    for body in inference.subgraphs() {
        let mut rows = vec![["value", "", "type", "shape", ""].map(str::to_owned)];
        rows.extend(shown.of(inference, body).map(|(name, fact)| row(inference, name, None, fact, None)));
        if rows.len() > 1 {
            let table = fitted(&rows, &COLUMNS);
            write!(out, "\nin {}:\n{}", escaped(&body.path), table.text)?;
            tables.push(table);
        }
    }
    let unknown = |id: &ValueId| is_unknown(inference, inference.fact(*id));
    let unknown: Vec<_> = graph.ids().filter(unknown).collect();
    if shown.args.only_unknown {
        for &id in &unknown {
            let why = inference.why_incomplete(id).join("; ");
            writeln!(out, "{}", escaped(&format!("{}: {why}", graph.value(id).name)))?;
        }
    }
    writeln!(out, "\n{}", known(graph, inference))?;
    write!(out, "{} parameters", totals.parameters)?;
    if let (Some(bytes), Some(at)) = (&totals.peak_bytes, &totals.peak_at) {
        write!(out, "; {}", peak_text(&bytes.0.to_string(), at, totals.peak_unknown))?;
    }
    writeln!(out)?;
    if shown.left_out != [0; 2] {
        let [constants, known] = shown.left_out;
        let plural = |count| if count == 1 { "" } else { "s" };
        writeln!(
            out,
            "not shown: {constants} constant{}, {known} value{} of shape arithmetic (--all)",
            plural(constants),
            plural(known)
        )?;
    }
    if let Some(hint) = narrow_hint(&tables) {
        writeln!(out, "{hint}")?;
    }
    let mut symbols = inference.symbols().symbols().iter();
    if symbols.any(|symbol| symbol.origin == gradus::dim::Origin::Input)
        && inference.problems().is_empty()
        && inference.conditions().iter().all(|of| of.why != Why::Run)
    {
        writeln!(out, "runs for all sizes")?;
    }
    write_conditions(inference, out)
}

/// Counts the values of nodes that are known in full, also in graphs within nodes.
fn known(graph: &Graph, inference: &Inference) -> String {
    let main = graph.ids().filter(|&id| graph.value(id).origin.is_node()).map(|id| inference.fact(id));
    let inner = inference.subgraphs().iter().flat_map(Subgraph::computed);
    let (mut all, mut full, mut by_data) = (0, 0, 0);
    for fact in main.chain(inner) {
        let completeness = inference.completeness(fact);
        all += 1;
        full += usize::from(completeness == Completeness::Full);
        by_data += usize::from(completeness == Completeness::Data);
    }
    let by_data = match by_data {
        0 => String::new(),
        count => format!(", {count} but for sizes that the data decide"),
    };
    format!("{full} of {all} values of nodes are known in full{by_data}")
}

/// A bound of the bytes at one time, and what it leaves out.
pub(in crate::commands) fn peak_text(bytes: &str, at: &str, unknown: usize) -> String {
    let bytes = inline(bytes);
    let most = escaped(&format!("at most {bytes} bytes of values at one time, at {at}")).to_string();
    if unknown == 0 { most } else { format!("{most}, without {unknown} of unknown size") }
}

/// Writes what contradicts itself, and which declared shapes are wrong.
pub(in crate::commands) fn write_problems(inference: &Inference, out: &mut dyn Write) -> std::io::Result<()> {
    let style = warning();
    write_remarks(
        &format!("{style}problems:{style:#}"),
        inference.problems(),
        |p| (&p.place, &p.message),
        out,
    )?;
    write_remarks("warnings:", inference.warnings(), |p| (&p.place, &p.message), out)
}

/// Writes what must hold of the inputs, the narrowest conditions first.
pub(in crate::commands) fn write_conditions(
    inference: &Inference,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    // No tensor is so large.
    let is_telling = |of: &&ModelCondition| {
        of.relation.is_none_or(|Condition { relation, right, .. }| {
            relation != Relation::AtMost || right.known().is_none_or(|most| most < i64::from(i32::MAX))
        })
    };
    let conditions = inference.conditions().iter().filter(is_telling);
    let of = |why| conditions.clone().filter(move |of| of.why == why);
    let (checked, unchecked): (Vec<_>, Vec<_>) = of(Why::Run).partition(|of| of.relation.is_some());
    write_remarks("runs if:", checked, parts, out)?;
    write_remarks("not decided by sizes:", unchecked, parts, out)?;
    write_remarks("declared, and checked by no run:", of(Why::Declared), parts, out)?;
    write_remarks("taken for granted:", of(Why::Taken), parts, out)
}

fn parts(of: &ModelCondition) -> (&str, &str) {
    (&of.node, &of.text)
}

fn write_remarks<'a, T: 'a>(
    title: &str,
    remarks: impl IntoIterator<Item = &'a T>,
    parts: impl Fn(&'a T) -> (&'a str, &'a str),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for (at, (place, message)) in remarks.into_iter().map(parts).enumerate() {
        if at == 0 {
            writeln!(out, "{title}")?;
        }
        writeln!(out, "  {} ({})", escaped(message), escaped(place))?;
    }
    Ok(())
}
