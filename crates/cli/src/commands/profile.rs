//! `gradus run --profile-nodes`: the time and memory of each node.

use gradus::NodeRun;
use gradus::sort::SharedSort;
use serde::Serialize;

use crate::output;

/// A node of the main graph.
#[derive(Debug, Serialize)]
pub(super) struct NodeTimeJson<'a> {
    node: &'a str,
    seconds: f64,
    peak_bytes: u64,
}

/// The nodes, in the order of the run.
pub(super) fn nodes(runs: &[NodeRun]) -> Vec<NodeTimeJson<'_>> {
    let all = runs.iter();
    all.map(|run| NodeTimeJson {
        node: &run.node,
        seconds: run.time.as_secs_f64(),
        peak_bytes: run.peak_bytes,
    })
    .collect()
}

/// A table, the slowest node first, and a last line with the sum.
pub(super) fn table(runs: &[NodeRun]) -> String {
    let mut sorted = nodes(runs);
    sorted.shared_sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let total: f64 = sorted.iter().map(|node| node.seconds).sum();
    let peak = sorted.iter().map(|node| node.peak_bytes).max().unwrap_or(0);
    let mut table = output::table(&["node", "ms", "share", "peak bytes"]);
    let mut row = |node: &str, seconds: f64, bytes: u64| {
        let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
        let (ms, share) = (format!("{:.3}", 1e3 * seconds), format!("{share:.1}%"));
        table.add_row(vec![node.to_owned(), ms, share, bytes.to_string()]);
    };
    for node in &sorted {
        row(&output::escaped(node.node), node.seconds, node.peak_bytes);
    }
    row(&format!("all {} nodes", sorted.len()), total, peak);
    output::render(&table)
}
