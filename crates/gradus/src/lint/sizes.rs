//! Rules about the sizes that a model takes, and those that are not known.

use std::collections::HashSet;
use std::sync::LazyLock;

use gradus_core::Result;
use gradus_core::graph::{DeclaredDim, Node, Type, ValueId};
use gradus_core::text::name_in_message;
use gradus_engine::infer::{Completeness, ModelCondition, Problem};
use regex::Regex;

use super::Fault;
use super::subject::{Subject, input};
use crate::dim::{Dim, Origin, Relation};

/// Nodes and declarations that contradict each other.
pub(super) fn contradictions(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    Ok(of.inference.problems().iter().map(|problem| remark(of, problem)).collect())
}

/// Declared shapes that no run shows.
pub(super) fn wrong_declarations(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    Ok(of.inference.warnings().iter().map(|problem| remark(of, problem)).collect())
}

fn remark(of: &Subject<'_>, problem: &Problem) -> Fault {
    let node = problem.node.as_ref().filter(|(path, _)| path.is_empty());
    let position = node.and_then(|(_, index)| of.model.graph().nodes().get(*index)?.position);
    Fault::at(problem.place.clone(), problem.message.clone()).positioned(position)
}

/// Symbols that a condition leaves one number.
pub(super) fn single_sizes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let single = of.inference.conditions().iter().filter(|condition| leaves_one(of, condition));
    Ok(single.map(|condition| found(condition, "the model runs only if ")).collect())
}

/// Further conditions of sizes, without which every run fails; nobody can keep those of sizes that
/// are not known.
pub(super) fn conditions(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let others = of.inference.conditions().iter();
    let others = others.filter(|condition| condition.is_of_every_run() && condition.elements.is_none());
    let symbols = of.inference.symbols();
    let is_known = |dim: Dim| {
        let mut origins = symbols.symbols_of(dim).into_iter().map(|symbol| &symbol.origin);
        !origins.any(|origin| matches!(origin, Origin::Unknown(_)))
    };
    let others = others.filter(|condition| {
        condition.relation.is_some_and(|it| is_known(it.left) && is_known(it.right))
            && !leaves_one(of, condition)
    });
    Ok(others.map(|condition| found(condition, "the model runs only if ")).collect())
}

/// Elements of inputs that nodes look up.
pub(super) fn elements(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let of_elements = of.inference.conditions().iter().filter(|condition| condition.elements.is_some());
    Ok(of_elements.map(|condition| found(condition, "")).collect())
}

fn leaves_one(of: &Subject<'_>, condition: &ModelCondition) -> bool {
    let symbols = of.inference.symbols();
    condition.is_of_every_run()
        && condition.relation.is_some_and(|it| {
            let is_single = symbols.as_symbol(it.left).is_some() && it.right.known().is_some();
            it.relation == Relation::Equal && is_single
        })
}

fn found(condition: &ModelCondition, before: &str) -> Fault {
    Fault::at(condition.node.clone(), format!("{before}{}", condition.text))
}

/// Values whose sizes are not known, each reason once; those of values that other nodes compute
/// without sizes follow from these.
pub(super) fn unknown_sizes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let (graph, inference) = (of.model.graph(), &of.inference);
    let is_unknown = |id: &ValueId| inference.completeness(inference.fact(*id)) > Completeness::Data;
    let nodes = graph.order().iter().map(|&index| &graph.nodes()[index]);
    let computed: HashSet<_> = nodes.clone().flat_map(|node| node.outputs.iter().flatten()).collect();
    let follows = |node: &Node| node.needs().any(|id| computed.contains(&id) && is_unknown(&id));
    let outputs = nodes.filter(|node| !follows(node)).flat_map(|node| node.outputs.iter().flatten());
    let (mut told, mut all) = (HashSet::new(), Vec::new());
    for &id in outputs.filter(|id| is_unknown(id)) {
        for reason in inference.why_incomplete(id).into_iter().filter(|reason| told.insert(reason.clone())) {
            let place = format!("value \"{}\"", name_in_message(&graph.value(id).name));
            all.push(Fault::at(place, format!("its shape is not known: {reason}")));
        }
    }
    Ok(all)
}

/// Axes of inputs without a name.
pub(super) fn unnamed_sizes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    Ok(axes(of, |dim| match dim {
        DeclaredDim::Unknown => Some("has neither a size nor a name".to_owned()),
        _ => None,
    }))
}

/// Names of axes that an exporter invented.
pub(super) fn invented_names(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    static INVENTED: LazyLock<Regex> = LazyLock::new(|| {
        let text = r"^(unk__\d+|s\d+|u\d+|dim_\d+|p2o\.DynamicDimension\.\d+|.+_dynamic_axes_\d+)$";
        Regex::new(text).expect("the expression is written well")
    });
    Ok(axes(of, |dim| match dim {
        DeclaredDim::Symbol(name) if INVENTED.is_match(name) => {
            Some(format!("has the name \"{}\", which says nothing", name_in_message(name)))
        }
        _ => None,
    }))
}

fn axes(of: &Subject<'_>, says: impl Fn(&DeclaredDim) -> Option<String>) -> Vec<Fault> {
    let graph = of.model.graph();
    let open = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
    let axes = |id: &ValueId| match &graph.value(*id).declared {
        Some(Type::Tensor(_, Some(dims))) => {
            dims.iter().enumerate().map(|(axis, dim)| (axis, dim.clone())).collect()
        }
        _ => Vec::new(),
    };
    open.flat_map(|id| {
        let found = axes(id).into_iter().filter_map(|(axis, dim)| Some((axis, says(&dim)?)));
        found
            .map(|(axis, says)| Fault::at(input(graph, *id), format!("axis {axis} {says}")))
            .collect::<Vec<_>>()
    })
    .collect()
}
