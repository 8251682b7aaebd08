//! `gradus cost --plan`: the offsets of values in one arena.

use std::io::Write;
use std::path::Path;

use gradus::convert::nearest_f64;
use gradus::cost::{Block, Cost, MemoryPlan};
use gradus::graph::Graph;
use gradus::infer::Reuse;
use gradus::{Model, Number};
use serde::Serialize;

use super::infer::write_problems;
use crate::args::CostArgs;
use crate::columns::aligned;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output;
use crate::stream;

/// Prints the plan of one model.
pub(super) fn print(
    model: &Model,
    cost: &mut Cost,
    path: &Path,
    args: &CostArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let graph = model.graph();
    let plan = cost
        .plan(model, args.align, if args.in_place { Reuse::InPlace } else { Reuse::Views })
        .map_err(|error| error.in_file(path.display()))?;
    if output::is_json() {
        output::write_json(out, &plan_json(path.display().to_string(), graph, &plan))?;
    } else {
        write_text(graph, &plan, out)?;
        if args.plot && !plan.blocks.is_empty() {
            let last = plan.blocks.iter().map(|block| block.life.last).max().unwrap_or(0);
            let caption = "bytes that live, over the steps of the run".to_owned();
            writeln!(
                out,
                "\n{}",
                stream::draw(heights(&plan, last), caption, &["0".to_owned(), last.to_string()])
            )?;
        }
        write_problems(cost.inference(), out)?;
    }
    if cost.inference().problems().is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn plan_json(model: String, graph: &Graph, plan: &MemoryPlan) -> impl Serialize {
    let blocks = plan.blocks.iter().map(|block| {
        object!(BlockJson {
            node: graph.nodes()[block.node].label(block.node),
            value: block.value.map(|id| &*graph.value(id).name),
            shares: block.shares.map(|id| &*graph.value(id).name),
            offset,
            bytes,
            first: block.life.made,
            last: block.life.last,
            ..block
        })
    });
    let MemoryPlan { bytes, live, apart, alignment, .. } = *plan;
    object!(PlanJson { model, bytes, live, apart, alignment, blocks: blocks.collect::<Vec<_>>() })
}

fn write_text(graph: &Graph, plan: &MemoryPlan, out: &mut dyn Write) -> std::io::Result<()> {
    let name = |block: &Block| match block.value {
        Some(id) => graph.value(id).name.to_string(),
        None => format!("graphs of {}", graph.nodes()[block.node].label(block.node)),
    };
    let mut rows = vec![["value", "offset", "bytes", "first", "last", "shares"].map(str::to_owned)];
    rows.extend(plan.blocks.iter().map(|block| {
        [
            name(block),
            block.offset.to_string(),
            block.bytes.to_string(),
            block.life.made.to_string(),
            block.life.last.to_string(),
            block.shares.map_or_else(String::new, |id| graph.value(id).name.to_string()),
        ]
    }));
    write!(out, "{}", aligned(&rows))?;
    writeln!(
        out,
        "\n{} bytes hold all values; {} live at one time, and all take {}",
        plan.bytes, plan.live, plan.apart
    )
}

/// The bytes that live at each step, each block rounded up to the alignment.
fn heights(plan: &MemoryPlan, last: usize) -> Vec<f64> {
    let mut heights = vec![0.0; last + 1];
    for block in plan.blocks.iter().filter(|block| block.shares.is_none()) {
        let bytes = block.bytes.next_multiple_of(plan.alignment.into());
        let bytes = i128::try_from(bytes).map_or(f64::INFINITY, |bytes| nearest_f64(Number::Int(bytes)));
        heights[block.life.made..=block.life.last].iter_mut().for_each(|height| *height += bytes);
    }
    heights
}
