//! Laws of reductions.

use gradus_core::convert::i64_of;
use gradus_engine::dim::Dim;
use gradus_engine::fact::Dims;

use super::{Call, Law, law};
use crate::attributes::{self, ContentKey};
use crate::table::{Info, TermId};
use crate::terms::Terms;
use crate::views::axis_of;

const REDUCTIONS: &[&str] = &[
    "ArgMax",
    "ArgMin",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
];

pub(super) const LAWS: &[Law] = &[law(
    "kept-axes",
    REDUCTIONS,
    "a reduction without its axes = the view of the one that keeps them; axes are counted from the first one, in order; of axes of size 1, ReduceMax, ReduceMin and ReduceProd are views",
    "the same elements are reduced; nothing is computed of one element",
    kept,
)];

fn kept(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let dims = terms.table.dims(x)?.clone();
    let info = call.infos.first()?.clone();
    let by_attribute = call.name().starts_with("Arg");
    let axes: Vec<usize> = if by_attribute {
        vec![axis_of(call.int("axis", 0), dims.len())?]
    } else {
        let given = match call.argument(1) {
            Some(axes) => terms.table.numbers(axes)?,
            None => Vec::new(),
        };
        if given.is_empty() {
            if call.int("noop_with_empty_axes", 0) != 0 {
                return None;
            }
            (0..dims.len()).collect()
        } else {
            given.iter().map(|&axis| axis_of(axis, dims.len())).collect::<Option<_>>()?
        }
    };
    let mut axes = axes;
    axes.sort_unstable();
    axes.dedup();
    if by_attribute {
        attributes::set(call.attributes_mut(), "axis", Some(ContentKey::Int(i64_of(axes[0]))));
    } else {
        let list = terms.axes(axes.iter().copied());
        call.arguments.truncate(1);
        call.arguments.push(Some(list));
        call.drop(&["noop_with_empty_axes"]);
    }
    let out = info.dims.clone()?;
    let units = axes.iter().all(|&axis| dims[axis] == Dim::Known(1));
    if units && matches!(call.name(), "ReduceMax" | "ReduceMin" | "ReduceProd") {
        return Some(vec![terms.reshaped(x, &out)]);
    }
    let keeps = call.int("keepdims", 1) != 0;
    call.drop(&["keepdims"]);
    if keeps {
        return None;
    }
    let mut sizes = dims.to_vec();
    for &axis in &axes {
        sizes[axis] = Dim::Known(1);
    }
    let sizes: Dims = sizes.into();
    let arguments = call.arguments.clone();
    let kept = terms.only(call, arguments, Info { dtype: info.dtype, dims: Some(sizes) })?;
    Some(vec![terms.reshaped(kept, &out)])
}
