//! Operators that give the same elements another shape, or repeat them.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Reshape` | `Reshape` | 0 is the input's extent only with `special_zero` |
//! | `Squeeze` | `Squeeze` | no axes are all of one element |
//! | `Transpose` | `Transpose` | the order is an input; an empty one turns all axes |
//! | `Broadcast` | `Expand` | `numpy`: the target is the shape; `explicit`: and says which axes the input's are; `bidirectional` is `Expand` |
//! | `Tile` | `Tile` | fewer repeats or fewer axes are filled up with 1 in front |
//! | `Pad` | `Pad` | pads before and behind are two inputs; below 0 they cut |

use super::super::reshape::{named_axes, reshape_to, squeezed, unsqueeze};
use super::super::slice::{concat, expand, like_first, padded, repeated, spread, turned};
use crate::dim::{Bounds, Dim};
use crate::infer::{Cx, Outcome, Rules, Stop, openvino};

pub(in super::super) const RULES: &[Rules] = &[
    openvino(&["Reshape"], reshape),
    openvino(&["Squeeze"], squeeze),
    openvino(&["Unsqueeze"], unsqueeze),
    openvino(&["Transpose"], transpose),
    openvino(&["Broadcast"], broadcast),
    openvino(&["Tile"], tile),
    openvino(&["Concat"], concat),
    openvino(&["Pad"], pad),
];

/// The number of elements of an input that decides a rank.
pub(super) fn rank_of(cx: &Cx<'_, '_>, input: usize) -> Result<usize, Stop> {
    cx.len(input).ok_or(Stop::Unknown(Some(input), "has an unknown number of elements".into()))
}

fn reshape(cx: &mut Cx<'_, '_>) -> Outcome {
    let Some(target) = cx.integers(1) else {
        let rank = rank_of(cx, 1)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return like_first(cx, dims);
    };
    let allow_zero = !cx.flag("special_zero", false);
    reshape_to(cx, &target, allow_zero)
}

fn squeeze(cx: &mut Cx<'_, '_>) -> Outcome {
    let axes = named_axes(cx).map(|axes| axes.filter(|axes| !axes.is_empty()));
    squeezed(cx, axes)
}

fn transpose(cx: &mut Cx<'_, '_>) -> Outcome {
    let Some(order) = cx.known_integers(1) else {
        let rank = cx.dims(0)?.len();
        let dims = cx.any_dims("the order of the axes is not known before the run", rank);
        return like_first(cx, dims);
    };
    turned(cx, Some(&order[..]).filter(|order| !order.is_empty()))
}

fn broadcast(cx: &mut Cx<'_, '_>) -> Outcome {
    if cx.text("mode") == Some("bidirectional") {
        return expand(cx);
    }
    let Some(target) = cx.integers(1) else {
        let rank = rank_of(cx, 1)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return like_first(cx, dims);
    };
    spread(cx, &target)
}

fn tile(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let Some(repeats) = cx.integers(1) else {
        let rank = rank_of(cx, 1)?.max(dims.len());
        let dims = cx.any_dims("the repeats are not known before the run", rank);
        return like_first(cx, dims);
    };
    let rank = dims.len().max(repeats.len());
    let filled = |list: &[Dim]| [vec![Dim::ONE; rank - list.len()], list.to_vec()].concat();
    repeated(cx, &filled(&dims), &filled(&repeats))
}

fn pad(cx: &mut Cx<'_, '_>) -> Outcome {
    let rank = cx.dims(0)?.len();
    let (begins, ends) = (cx.integers(1), cx.integers(2));
    let (Some(begins), Some(ends)) = (begins, ends) else {
        let dims: Vec<_> =
            (0..rank).map(|_| cx.data("the pads are not known before the run", Bounds::EXTENT)).collect();
        return like_first(cx, dims);
    };
    if begins.len() != rank || ends.len() != rank {
        let (before, behind) = (begins.len(), ends.len());
        return Err(Stop::shape(format!("there are {before} pads before and {behind} behind {rank} axes")));
    }
    padded(cx, &(0..rank).collect::<Vec<_>>(), &begins, &ends)
}
