//! Types of values, as a folded model declares them.

use foldhash::HashSet;
use gradus_core::convert::usize_of_i64;
use gradus_core::graph::edit::{Edit, Step};
use gradus_core::graph::{DeclaredDim, Origin, ValueId};

use super::GraphFolder;
use super::join::Joined;
use super::scope::{FoldState, Read};
use crate::declare::{Telling, is_contradicted, merged};

/// Declares the fixed dimensions of inputs and those of outputs that follow, and shapes of outputs
/// in place of others than inferred: checkers find these wrong as soon as they know more.
pub(super) fn interface(folder: &GraphFolder<'_>, scope: &FoldState<'_>, edit: &mut Edit) {
    let telling = Telling::new(folder.model.source(), &folder.symbols, &folder.given);
    for &id in scope.graph.outputs() {
        let (info, fact) = (scope.graph.value(id), &scope.values[id.index()].fact);
        let is_wrong = !telling.of_ports() && is_contradicted(info, fact);
        if is_wrong && let Some(of) = merged(info, fact, |dim| telling.size(dim)) {
            edit.types.push((info.name.clone(), of));
        }
    }
    if folder.given.sizes.dims.is_empty() && folder.given.sizes.inputs.is_empty() {
        return;
    }
    let graph = scope.graph;
    for &id in graph.inputs().iter().chain(graph.outputs()) {
        let info = graph.value(id);
        // Names that are given take the place of numbers.
        let is_given = match info.origin {
            Origin::Input => folder.given.sizes.inputs.contains_key(&*info.name),
            _ => !folder.given.sizes.inputs.is_empty(),
        };
        let fixed = merged(info, &scope.values[id.index()].fact, |dim| {
            let known = dim.known().and_then(usize_of_i64).map(DeclaredDim::Known);
            known.or_else(|| telling.size(dim).filter(|_| is_given))
        });
        let Some(fixed) = fixed.filter(|fixed| info.declared.as_ref() != Some(fixed)) else { continue };
        if !edit.types.iter().any(|(name, _)| *name == info.name) {
            edit.types.push((info.name.clone(), fixed));
        }
    }
}

/// Declares the inferred types of values that nodes compute, also of those that were
/// within a node before.
pub(super) fn values(folder: &GraphFolder<'_>, scope: &FoldState<'_>, edit: &mut Edit) {
    let graph = scope.graph;
    let telling = Telling::new(folder.model.source(), &folder.symbols, &folder.given);
    let joined: HashSet<ValueId> = scope.joined.values().flat_map(Joined::outputs).collect();
    for (index, node) in graph.nodes().iter().enumerate() {
        let made = |id: &ValueId| {
            scope.values[id.index()].needed && matches!(scope.values[id.index()].read, Read::InputSizes(_))
        };
        // Outputs that nobody reads of a branch in place of its node keep their names.
        let ends = |id: &ValueId| {
            let value = &scope.values[id.index()];
            value.output && value.needed && !telling.of_ports()
        };
        let named = |id: &ValueId| !scope.renamed.contains_key(id);
        let written = |id: &ValueId| scope.nodes[index].stays || made(id) || joined.contains(id);
        let defined = |id: &ValueId| !ends(id) && named(id) && written(id);
        for id in node.outputs.iter().copied().flatten().filter(defined) {
            let info = graph.value(id);
            let of = merged(info, &scope.values[id.index()].fact, |dim| telling.size(dim));
            if let Some(of) = of.filter(|of| telling.is_new(info.declared.as_ref(), of)) {
                edit.types.push((info.name.clone(), of));
            }
        }
    }
    for step in &mut edit.nodes {
        let Step::Inlined(inlined) = step else { continue };
        if let Some(child) = scope.children.get(&(inlined.node, inlined.graph)) {
            values(folder, child, &mut inlined.edit);
        }
    }
}

/// Declares the types of values that have other shapes than in the file, and new names.
pub(super) fn reshaped(folder: &GraphFolder<'_>, scope: &FoldState<'_>, edit: &mut Edit) {
    let telling = Telling::new(folder.model.source(), &folder.symbols, &folder.given);
    let names: HashSet<&str> = scope.reshaped.keys().map(|&id| &*scope.graph.value(id).name).collect();
    if names.is_empty() {
        return;
    }
    edit.types.retain(|(name, _)| !names.contains(&**name));
    for (&id, new) in &scope.reshaped {
        let info = scope.graph.value(id);
        edit.gone.insert(info.name.clone());
        if scope.renamed.contains_key(&id) || (!folder.declare && info.declared.is_none()) {
            continue;
        }
        let fact = &scope.values[id.index()].fact;
        let told = merged(info, fact, |dim| Some(telling.size(dim).unwrap_or(DeclaredDim::Unknown)));
        edit.types.extend(told.map(|of| (new.clone(), of)));
    }
}
