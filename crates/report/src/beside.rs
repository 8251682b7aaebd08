//! A model compared with another: totals, nodes by operator, and values whose shapes differ.

use std::collections::{BTreeMap, HashMap};

use gradus::cost::Cost;
use gradus::graph::{Graph, Origin};
use gradus::infer::InferOptions;
use gradus::text::escaped;
use gradus::{Model, Result};
use maud::{Markup, html};

use crate::Other;
use crate::data::{self, OtherData};
use crate::page::{MAX_REMARKS, grouped, more};

/// The section of a page about another model, and its data.
///
/// # Errors
/// As [`Model::cost`], of the other model.
pub(crate) fn beside(
    model: &Model,
    cost: &Cost,
    other: Other<'_>,
    options: &InferOptions,
) -> Result<(Markup, OtherData)> {
    let graph = other.model.graph();
    let of_other = other.model.cost(options).map_err(|error| error.in_file(other.name))?;
    let title = escaped(other.name);
    let short = title.rsplit(['/', '\\']).next().unwrap_or_default();
    let operators = operators(model.graph(), graph);
    let shapes = shapes(model.graph(), cost, graph, &of_other);
    let markup = html! {
        section #compared aria-labelledby="compared-title" {
            h2 #compared-title { "Compared with " span.name title=(title) { (short) } }
            div .content {}
            h3 { "Nodes by operator" }
            @if operators.is_empty() { p { "Both models have as many nodes of each operator." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Nodes by operator" {
                    table {
                        thead { tr { th scope="col" { "Operator" } th.number scope="col" { "This model" } th.number scope="col" { "Other" } } }
                        tbody { @for (name, [this, that]) in &operators {
                            tr { th.name scope="row" { (escaped(name)) } td.number { (grouped(*this)) } td.number { (grouped(*that)) } }
                        } }
                    }
                }
            }
            h3 { "Values of nodes that have other types or shapes (" (grouped(shapes.len())) ")" }
            @if !shapes.is_empty() {
                div.scroll tabindex="0" role="region" aria-label="Values that have other types or shapes" {
                    table {
                        thead { tr { th scope="col" { "Value" } th scope="col" { "This model" } th scope="col" { "Other" } } }
                        tbody { @for (name, this, that) in shapes.iter().take(MAX_REMARKS) {
                            tr { th.name scope="row" { (escaped(name)) } td.name { (escaped(this)) } td.name { (escaped(that)) } }
                        } }
                    }
                }
                (more(shapes.len()))
            }
        }
    };
    Ok((markup, data::other(other.name, &of_other)))
}

/// The operators of which two graphs have different numbers of nodes, with the numbers.
fn operators(this: &Graph, that: &Graph) -> BTreeMap<String, [usize; 2]> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (side, graph) in [this, that].into_iter().enumerate() {
        for node in graph.nodes() {
            counts.entry(node.operator.to_string()).or_default()[side] += 1;
        }
    }
    counts.retain(|_, [this, that]| this != that);
    counts
}

/// The values of nodes and the outputs of one name in both graphs whose types or shapes differ, with
/// both as text.
fn shapes<'a>(this: &'a Graph, cost: &Cost, that: &Graph, of_other: &Cost) -> Vec<(&'a str, String, String)> {
    let is_of_node = |origin: &Origin| origin.is_node();
    let others = that.ids().filter(|&id| is_of_node(&that.value(id).origin));
    let others: HashMap<_, _> = others.map(|id| (&*that.value(id).name, id)).collect();
    let both = this.ids().filter(|&id| is_of_node(&this.value(id).origin)).filter_map(|id| {
        let name = &*this.value(id).name;
        let other = *others.get(name)?;
        let (here, there) = (cost.inference(), of_other.inference());
        Some((name, here.describe(here.fact(id)), there.describe(there.fact(other))))
    });
    both.filter(|(_, here, there)| here != there).collect()
}
