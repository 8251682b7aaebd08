//! Costs of models, for Python.

use std::collections::BTreeMap;

use gradus::Dim;
use gradus::cost::{Amounts, Cost, Counts, Fit, MemoryPlan};
use gradus::dim::Symbols;
use gradus::graph::{Graph, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dim::to_python;

/// A size, or `None` where it is not known.
fn size<'py>(py: Python<'py>, symbols: &Symbols, dim: Option<Dim>) -> PyResult<Option<Bound<'py, PyAny>>> {
    dim.map(|dim| to_python(py, symbols, dim)).transpose()
}

fn amounts<'py>(py: Python<'py>, symbols: &Symbols, of: &Amounts) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("nodes", of.nodes)?;
    found.set_item("parameters", of.parameters)?;
    for (name, dim) in Counts::NAMES.into_iter().zip(of.counts.into_array()) {
        found.set_item(name, size(py, symbols, dim)?)?;
    }
    found.set_item("intensity", of.counts.intensity())?;
    found.set_item("uncounted", of.uncounted)?;
    found.set_item("unsized", of.unsized_nodes)?;
    Ok(found)
}

/// The fields of `gradus.Cost` as a dict; groups of nodes have the first components of their names.
pub(crate) fn cost_to_python<'py>(
    py: Python<'py>,
    graph: &Graph,
    mut cost: Cost,
    fit: Option<Fit>,
    depth: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (operators, groups) = (cost.by_operator(graph), cost.by_prefix(graph, depth));
    let live: Vec<_> = cost.memory.live.clone().into_iter().map(|id| (id, cost.bytes(id))).collect();
    let symbols = cost.inference().symbols();
    let sums = |groups: &BTreeMap<String, Amounts>| {
        groups
            .iter()
            .map(|(name, of)| Ok((name.clone(), amounts(py, symbols, of)?)))
            .collect::<PyResult<Vec<_>>>()
    };
    let nodes = cost.nodes.iter().map(|of| {
        let node = &graph.nodes()[of.node];
        let size = |dim| size(py, symbols, dim);
        let fields = (
            node.label(of.node),
            node.operator.to_string(),
            of.parameters,
            size(of.counts.macs)?,
            size(of.counts.operations)?,
            size(of.counts.arithmetic)?,
            size(of.counts.comparisons)?,
            size(of.counts.transcendentals)?,
            size(of.counts.bytes_read)?,
            size(of.counts.bytes_written)?,
            of.counts.intensity(),
            of.uncounted,
        );
        Ok(fields)
    });
    let live = live.into_iter().map(|(id, bytes)| Ok((&*graph.value(id).name, size(py, symbols, bytes)?)));
    let peak = cost.memory.peak;
    let found = PyDict::new(py);
    found.set_item("total", amounts(py, symbols, &cost.total)?)?;
    found.set_item("nodes", nodes.collect::<PyResult<Vec<_>>>()?)?;
    found.set_item("operators", sums(&operators)?)?;
    found.set_item("groups", sums(&groups)?)?;
    found.set_item("constants", cost.memory.constants)?;
    found.set_item("inputs", size(py, symbols, cost.memory.inputs)?)?;
    found.set_item("peak_bytes", size(py, symbols, peak.map(|peak| peak.bytes))?)?;
    found.set_item("peak_at", peak.map(|peak| graph.nodes()[peak.node].label(peak.node)))?;
    found.set_item("peak_unknown", peak.map_or(0, |peak| peak.unknown))?;
    let in_place = cost.memory.in_place;
    found.set_item("in_place_bytes", size(py, symbols, in_place.map(|peak| peak.bytes))?)?;
    found.set_item("in_place_at", in_place.map(|peak| graph.nodes()[peak.node].label(peak.node)))?;
    found.set_item("live", live.collect::<PyResult<Vec<_>>>()?)?;
    let fit = fit.map(|fit| {
        let sizes = fit.sizes.into_iter().map(|(name, size)| (name.to_string(), size));
        (fit.symbol.to_string(), fit.most, fit.bytes, fit.limit, sizes.collect::<BTreeMap<_, _>>())
    });
    found.set_item("fit", fit)?;
    let inference = cost.inference();
    let assumptions: Vec<_> = inference.conditions().iter().map(|a| (&a.node, &a.text)).collect();
    found.set_item("assumptions", assumptions)?;
    let problems: Vec<_> = inference.problems().iter().map(|p| (&p.place, &p.message)).collect();
    found.set_item("problems", problems)?;
    let warnings: Vec<_> = inference.warnings().iter().map(|p| (&p.place, &p.message)).collect();
    found.set_item("warnings", warnings)?;
    Ok(found)
}

/// The fields of `gradus.Block`.
type BlockFields = (String, Option<String>, Option<String>, u128, u128, usize, usize);

/// The fields of `gradus.MemoryPlan`.
pub(crate) type MemoryPlanFields = (u128, u128, u128, u64, Vec<BlockFields>);

/// A memory plan as a tuple of Python.
pub(crate) fn plan_fields(graph: &Graph, plan: MemoryPlan) -> MemoryPlanFields {
    let blocks = plan.blocks.into_iter().map(|block| {
        let name = |id: ValueId| graph.value(id).name.to_string();
        let (value, shares) = (block.value.map(name), block.shares.map(name));
        let node = graph.nodes()[block.node].label(block.node);
        (node, value, shares, block.offset, block.bytes, block.life.made, block.life.last)
    });
    (plan.bytes, plan.live, plan.apart, plan.alignment, blocks.collect())
}
