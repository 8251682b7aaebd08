//! Ranges and other sequences of a model, and how far from the exact elements programs are.

use gradus::compare::Found;
use gradus::cost::Cost;
use gradus::dim::Origin;
use gradus::graph::Graph;
use gradus::infer::InferOptions;
use gradus::portability::ModelSequence;
use gradus::text::escaped;
use gradus::{Model, Result};
use maud::{Markup, html};

use crate::page::grouped;

/// Maximum number of sequences that a page shows.
const MAX_SEQUENCES: usize = 20;

/// Units in the last place, as powers of two, at which a bar has its full height.
const LEVELS: u32 = 8;

/// Pixels of a bar's width: more where there are few.
const BAR: [u32; 2] = [4, 24];

/// Pixels of a plot's height.
const HEIGHT: u32 = 36;

/// The section of a page, or nothing for a model without sequences whose arguments are known. Sizes of
/// inputs that are not given are those that the page begins with.
pub(crate) fn section(
    model: &Model,
    options: &InferOptions,
    sizes: &[(String, i64)],
) -> Result<Option<Markup>> {
    let mut options = options.clone();
    options.sizes.dims.extend(sizes.iter().cloned());
    let found = model.sequences(&options)?;
    if found.is_empty() {
        return Ok(None);
    }
    let at = sizes.iter().map(|(name, size)| format!("{} = {size}", escaped(name)));
    let at = at.collect::<Vec<_>>().join(", ");
    Ok(Some(html! {
        section #sequences aria-labelledby="sequences-title" {
            h2 #sequences-title { "Sequences (" (grouped(found.len())) ")" }
            p {
                "The largest difference of each program from the exact elements, over the index, in units in the last place (ulp), as "
                code { "gradus compare" } " predicts it"
                @if !at.is_empty() { ", at " (at) }
                ". No program is run."
            }
            @for of in found.iter().take(MAX_SEQUENCES) { (sequence(of)) }
            @if found.len() > MAX_SEQUENCES { p.quiet { "and " (grouped(found.len() - MAX_SEQUENCES)) " more" } }
        }
    }))
}

/// Sizes of the symbols of inputs that have no number: 1 for first axes, which are mostly batches.
pub(crate) fn first_sizes(graph: &Graph, cost: &Cost) -> Vec<(String, i64)> {
    let (inference, mut sizes) = (cost.inference(), Vec::<(String, i64)>::new());
    let symbols = inference.symbols();
    for &id in graph.inputs() {
        let dims = inference.fact(id).as_tensor().and_then(|fact| fact.dims.as_deref());
        for (axis, &dim) in dims.unwrap_or_default().iter().enumerate() {
            let of_dim: Vec<_> = symbols.symbols_of(dim).into_iter().collect();
            let [symbol] = of_dim[..] else { continue };
            let is_input = matches!(symbol.origin, Origin::Input);
            if !is_input || sizes.iter().any(|(name, _)| **name == *symbol.name) {
                continue;
            }
            let is_first = axis == 0 && dims.is_some_and(|dims| dims.len() > 1);
            let bounds = symbols.bounds(dim);
            let size = if is_first { 1 } else { 128 };
            let size = size.min(bounds.upper().unwrap_or(size)).max(bounds.lower().unwrap_or(1));
            sizes.push((symbol.name.to_string(), size));
        }
    }
    sizes
}

fn sequence(of: &ModelSequence) -> Markup {
    let is_exact = |result: &std::result::Result<Found, String>| result.as_ref().is_ok_and(|it| it.exact);
    let exact = of.results.iter().filter(|(_, result)| is_exact(result));
    let exact: Vec<_> = exact.map(|(profile, _)| profile.name()).filter(|&name| name != "exact").collect();
    let others: Vec<_> = of.results.iter().filter(|(_, result)| !is_exact(result)).collect();
    html! {
        h3 { span.name { (escaped(&of.node)) } " (" (escaped(&of.operator)) "): " code { (escaped(&of.call)) } }
        @if !exact.is_empty() { p.quiet { "Exact: " (exact.join(", ")) } }
        @if !others.is_empty() {
            div.scroll tabindex="0" role="region" aria-label={ "Programs at " (escaped(&of.node)) } {
                table {
                    thead { tr {
                        th scope="col" { "Program" } th scope="col" { "Difference over the index" }
                        th.number scope="col" { "Elements" } th.number scope="col" { "Largest" } th scope="col" { "Why" }
                    } }
                    tbody { @for (profile, result) in others {
                        tr {
                            th scope="row" { (profile.name()) }
                            @match result {
                                Ok(found) => {
                                    td { (plot(found)) }
                                    td.number { (grouped(found.differing)) " of " (grouped(found.compared)) }
                                    td.number { (largest(found)) }
                                    td { (escaped(found.why.as_deref().unwrap_or_default())) }
                                }
                                Err(error) => { td colspan="3" { "fails" } td { (escaped(error)) } }
                            }
                        }
                    } }
                }
            }
        }
    }
}

/// The element that differs most.
fn largest(found: &Found) -> String {
    match found.largest.map(|largest| (largest.index, largest.ulps)) {
        Some((index, Some(ulps))) => format!("{} ulp at {}", grouped(ulps), grouped(index)),
        Some((index, None)) => format!("NaN or another type at {}", grouped(index)),
        None => String::new(),
    }
}

/// A bar for each part of the elements, twice as many units in the last place for each step.
fn plot(found: &Found) -> Markup {
    let level = |&ulps: &u64| (u64::BITS - ulps.leading_zeros()).min(LEVELS);
    let heights: Vec<_> = found.parts.iter().map(|ulps| level(ulps) * HEIGHT / LEVELS).collect();
    let count = u32::try_from(heights.len()).unwrap_or(0);
    let bar = (240 / count.max(1)).clamp(BAR[0], BAR[1]);
    let width = count * bar;
    let label = format!("{} of {} parts differ", heights.iter().filter(|&&it| it > 0).count(), heights.len());
    html! {
        @if width > 0 {
            svg.ulps width=(width) height=(HEIGHT) viewBox={ "0 0 " (width) " " (HEIGHT) } role="img" aria-label=(label) {
                title { "from 1 ulp to 128 or more, in steps of twice as many" }
                @for (index, &height) in (0u32..).zip(&heights).filter(|&(_, &height)| height > 0) {
                    rect x=(index * bar) y=(HEIGHT - height) width=(bar - 1) height=(height) {}
                }
            }
        }
    }
}
