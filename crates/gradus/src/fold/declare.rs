//! Types of values, as a folded model declares them.

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::edit::Edit;
use gradus_core::graph::{Extent, Type, ValueId};

use super::Folder;
use super::scope::Scope;
use crate::dim::Dim;

/// What was fixed of inputs, and what follows of outputs, is declared of them.
pub(super) fn interface(folder: &Folder<'_>, scope: &Scope<'_>, edit: &mut Edit) {
    if folder.options.dims.is_empty() && folder.options.inputs.is_empty() {
        return;
    }
    let graph = scope.graph;
    for &id in graph.inputs().iter().chain(graph.outputs()) {
        let info = graph.value(id);
        let Some(fixed) = merged(scope, id, |dim| dim.known().and_then(usize_of_i64).map(Extent::Known))
        else {
            continue;
        };
        if info.declared.as_ref() != Some(&fixed) && !edit.types.iter().any(|(name, _)| *name == info.name) {
            edit.types.push((info.name.clone(), fixed));
        }
    }
}

/// What was inferred of the values that nodes compute is declared of them.
pub(super) fn values(folder: &Folder<'_>, scope: &Scope<'_>, edit: &mut Edit) {
    let graph = scope.graph;
    let named = crate::infer::symbols_of_inputs(graph, &folder.options.inputs);
    let symbols = &folder.symbols;
    let extent = |dim: Dim| match dim {
        Dim::Known(value) => usize_of_i64(value).map(Extent::Known),
        Dim::Symbolic(_) => {
            let told = symbols.symbols_of(dim).iter().all(|symbol| named.contains(&*symbol.name));
            told.then(|| Extent::Symbol(symbols.print(dim).to_string().into()))
        }
    };
    for (index, node) in graph.nodes().iter().enumerate().filter(|(index, _)| scope.stays[*index]) {
        debug_assert!(scope.stays[index]);
        for id in node.outputs.iter().copied().flatten().filter(|id| !scope.output[id.index()]) {
            let info = graph.value(id);
            if let Some(of) = merged(scope, id, extent).filter(|of| info.declared.as_ref() != Some(of)) {
                edit.types.push((info.name.clone(), of));
            }
        }
    }
}

/// The type of a value, with its extents as they are said or, where nothing is said, declared.
fn merged(scope: &Scope<'_>, id: ValueId, say: impl Fn(Dim) -> Option<Extent>) -> Option<Type> {
    let fact = scope.facts[id.index()].as_tensor()?;
    let (dtype, dims) = (fact.dtype?, fact.dims.as_ref()?);
    let declared = match &scope.graph.value(id).declared {
        Some(Type::Tensor(_, Some(extents))) if extents.len() == dims.len() => Some(extents),
        _ => None,
    };
    let extent = |(axis, &dim): (usize, &Dim)| {
        let old = || declared.and_then(|extents| extents.get(axis).cloned());
        say(dim).or_else(old).unwrap_or(Extent::Unknown)
    };
    Some(Type::Tensor(Some(dtype), Some(dims.iter().enumerate().map(extent).collect())))
}
