//! Laws of reductions.

use std::collections::BTreeSet;

use gradus_core::convert::i64_of;
use gradus_engine::dim::Dim;

use super::Call;
use crate::attributes::{self, ContentKey};
use crate::table::{Info, TermId};
use crate::terms::Terms;
use crate::views::axis_of;

laws! {
    Bits "kept-axes" [
        "ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
    ] => kept,
        "a reduction without its axes = the view of the one that keeps them; axes are counted from the first one, in order; of axes of size 1, ReduceMax, ReduceMin and ReduceProd are views",
        "the same elements are reduced; nothing is computed of one element";
}

fn kept(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let mut sizes = terms.table.dims(x)?.to_vec();
    let info = call.infos.first()?.clone();
    let by_attribute = call.name().starts_with("Arg");
    let mut given = match call.argument(1) {
        _ if by_attribute => vec![call.int("axis")?],
        Some(axes) => terms.table.numbers(axes)?,
        None => Vec::new(),
    };
    if given.is_empty() {
        if call.is_set("noop_with_empty_axes") {
            return None;
        }
        given = (0..i64_of(sizes.len())).collect();
    }
    let axes = given.iter().map(|&axis| axis_of(axis, sizes.len()));
    let axes = axes.collect::<Option<BTreeSet<_>>>()?;
    if by_attribute {
        attributes::set(call.attributes_mut(), "axis", ContentKey::Int(i64_of(*axes.first()?)));
    } else {
        let list = terms.axes(axes.iter().copied());
        call.arguments.truncate(1);
        call.arguments.push(Some(list));
        call.drop(&["noop_with_empty_axes"]);
    }
    let out = info.dims.clone()?;
    let units = axes.iter().all(|&axis| sizes[axis] == Dim::ONE);
    if units && matches!(call.name(), "ReduceMax" | "ReduceMin" | "ReduceProd") {
        return Some(vec![terms.reshaped(x, &out)]);
    }
    let keeps = call.is_set("keepdims");
    call.drop(&["keepdims"]);
    if keeps {
        return None;
    }
    for axis in axes {
        sizes[axis] = Dim::ONE;
    }
    let arguments = call.arguments.clone();
    let kept = terms.only(call, arguments, Info { dtype: info.dtype, dims: Some(sizes.into()) })?;
    Some(vec![terms.reshaped(kept, &out)])
}
