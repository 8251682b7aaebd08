//! Rules about the nodes of a model.

use foldhash::{HashMap, HashMapExt as _};
use gradus_core::Result;
use gradus_core::graph::{Graph, Node, Standard, ValueId};
use gradus_engine::infer::is_understood;

use super::Fault;
use super::subject::{Subject, input, place_of};
use crate::constants::is_constant_node;
use crate::diff::have_same_attributes;
use crate::fold::FoldOptions;
use crate::operators::{Chance, Role};

/// Inputs that no output depends on.
pub(super) fn unused_inputs(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let graph = of.model.graph();
    let needed = of.needed(graph);
    let unread = |id: &&ValueId| !needed.values[id.index()] && graph.constant(**id).is_none();
    let unused = graph.inputs().iter().filter(unread);
    Ok(unused.map(|&id| Fault::at(input(graph, id), "no output depends on it")).collect())
}

/// Nodes that no output depends on.
pub(super) fn unneeded_nodes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    for (label, graph) in of.graphs() {
        let unneeded = of.needed(graph).nodes.into_iter().enumerate().filter(|(_, needed)| !needed);
        found.extend(unneeded.map(|(index, _)| {
            let node = &graph.nodes()[index];
            let place = place_of(&label, node, index);
            Fault::at(place, "no output depends on it").positioned(node.position)
        }));
    }
    Ok(found)
}

/// Nodes that compute what another node computes.
pub(super) fn duplicate_nodes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    for (label, graph) in of.graphs() {
        let mut seen: HashMap<_, Vec<usize>> = HashMap::new();
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            if !may_be_duplicate(of, node) {
                continue;
            }
            let earlier = seen.entry((&node.operator, node.version, &node.inputs)).or_default();
            let mut same = None;
            for &other in earlier.iter() {
                if have_same_attributes(&graph.nodes()[other], node)? {
                    same = Some(other);
                    break;
                }
            }
            match same {
                Some(first) => {
                    let first = graph.nodes()[first].label(first);
                    let message = format!("computes what {first} computes");
                    found.push(Fault::at(place_of(&label, node, index), message).positioned(node.position));
                }
                None => earlier.push(index),
            }
        }
    }
    Ok(found)
}

/// Returns true if a node returns the same whenever it has the same inputs, and no runtime fuses it
/// with its reader alone.
fn may_be_duplicate(of: &Subject<'_>, node: &Node) -> bool {
    let Some(row) = of.row(node) else { return false };
    row.chance == Chance::No
        && !row.stateful
        && !is_constant_node(node)
        && node.graphs().next().is_none()
        && !node.inputs.is_empty()
        && !matches!(row.role, Role::Dequantize | Role::Quantize)
}

/// Nodes that folding removes.
pub(super) fn foldable_nodes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    if of.standard() == Standard::Paddle || !of.inference.problems().is_empty() {
        return Ok(Vec::new());
    }
    let options = FoldOptions { limits: of.options.limits, ..FoldOptions::default() };
    let (before, after) = of.model.fold(&options)?.report.nodes();
    if after >= before {
        return Ok(Vec::new());
    }
    let message = format!("{} of {before} nodes can be folded", before - after);
    Ok(vec![Fault::at("the model", message)])
}

/// Nodes that draw numbers at random.
pub(super) fn random_nodes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let random = of.nodes().filter(|(_, _, node)| of.row(node).is_some_and(|row| row.chance == Chance::Yes));
    let message = |node: &Node| match node.attribute("seed") {
        Some(_) => "draws random numbers, by a seed that each runtime reads in its own way",
        None => "draws random numbers",
    };
    Ok(random.map(|(place, _, node)| Fault::at(place, message(node)).positioned(node.position)).collect())
}

/// Nodes of operators that Gradus does not know.
pub(super) fn unknown_operators(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let unknown = of.nodes().filter(|(_, _, node)| !is_understood(of.model, node));
    let message = "no standard, runtime that Gradus knows, or function of the model has the operator";
    Ok(unknown.map(|(place, _, node)| Fault::at(place, message).positioned(node.position)).collect())
}

/// The nodes of a graph that read each value.
pub(super) fn readers(graph: &Graph) -> HashMap<ValueId, Vec<&Node>> {
    let mut readers: HashMap<ValueId, Vec<&Node>> = HashMap::new();
    for node in graph.nodes() {
        node.needs().for_each(|id| readers.entry(id).or_default().push(node));
    }
    readers
}
