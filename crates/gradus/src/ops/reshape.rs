//! Operators that give the same elements another shape.
//!
//! | operators | shape |
//! |---|---|
//! | `Reshape` | the second input; 0 is the input's extent there, unless `allowzero`; -1 is what is left |
//! | `Flatten` | two axes: those before `axis`, and the others |
//! | `Squeeze`, `Unsqueeze` | axes of one element less, or more |
//! | `Identity`, `Dropout` | the input's |

use gradus_core::DType;

use super::elementwise::same;
use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::infer::{Cx, Outcome, Rules, Stop, microsoft, onnx};

pub(super) const RULES: &[Rules] = &[
    onnx(&["Reshape"], reshape),
    onnx(&["Flatten"], flatten),
    onnx(&["Squeeze"], squeeze),
    onnx(&["Unsqueeze"], unsqueeze),
    onnx(&["Identity"], |cx| Ok(vec![cx.read_fact(0)])),
    onnx(&["Dropout"], dropout),
    microsoft(&["BitmaskDropout"], same),
];

/// The first input's elements under other extents.
pub(super) fn reshaped(cx: &mut Cx<'_, '_>, dims: impl Into<Dims>) -> Outcome {
    let elements = cx.elements(0);
    // A tensor holds its shape itself; whole numbers do not, and fractions neither.
    let dims = dims.into();
    let elements = match elements {
        Elements::Known(tensor) => {
            let shape = crate::fact::known_shape(&dims);
            let tensor = shape.and_then(|shape| tensor.reshaped(shape).ok());
            tensor.map_or(Elements::Unknown, |tensor| Elements::Known(tensor.into()))
        }
        other => other,
    };
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims), elements })])
}

/// What is left of a number of elements when some extents are taken out.
pub(super) fn quotient(cx: &mut Cx<'_, '_>, all: &[Dim], taken: &[Dim]) -> Result<Dim, Stop> {
    let mut left = all.to_vec();
    let mut below = Vec::new();
    for dim in taken {
        // Nothing is changed by what stands on both sides, unless it is zero; and then -1 has no meaning.
        match left.iter().position(|other| other == dim) {
            Some(at) if *dim != Dim::ZERO => {
                left.remove(at);
            }
            _ => below.push(*dim),
        }
    }
    let (above, below) = (cx.product(&left), cx.product(&below));
    if below == Dim::ZERO {
        return Err(Stop::shape("-1 stands beside an extent of 0"));
    }
    Ok(cx.floor_divide(above, below))
}

fn reshape(cx: &mut Cx<'_, '_>) -> Outcome {
    let given = cx.known_dims(0);
    let target: Dims = match cx.ints("shape") {
        Some(shape) => shape.iter().map(|&dim| Dim::Known(dim)).collect(),
        None => {
            if let Some(target) = cx.integers(1) {
                target
            } else {
                let rank =
                    cx.len(1).ok_or(Stop::Unknown(Some(1), "has an unknown number of elements".into()))?;
                let dims = match (&given, rank) {
                    (Some(given), 1) => vec![cx.product(&given.clone())],
                    _ => cx.any_dims("the shape is not known before the run", rank),
                };
                return reshaped(cx, dims);
            }
        }
    };
    let allow_zero = cx.flag("allowzero", false);
    reshape_to(cx, &target, allow_zero)
}

/// The first input in the shape of which these are the extents, but for 0 and -1.
pub(super) fn reshape_to(cx: &mut Cx<'_, '_>, target: &[Dim], allow_zero: bool) -> Outcome {
    let given = cx.known_dims(0);
    let mut dims: Vec<Option<Dim>> = Vec::with_capacity(target.len());
    for (axis, &dim) in target.iter().enumerate() {
        let same = given.as_ref().and_then(|given| given.get(axis)).copied();
        let resolved = match dim {
            Dim::Known(0) if !allow_zero => match (same, &given) {
                (Some(same), _) => Some(same),
                (None, Some(_)) => {
                    return Err(Stop::shape(format!("axis {axis} is copied, but the input has none")));
                }
                (None, None) => {
                    Some(cx.unknown("the extent is the input's, which is not known", Bounds::EXTENT))
                }
            },
            Dim::Known(-1) if target[..axis].contains(&dim) => {
                return Err(Stop::shape(format!("element {axis} of the shape is a second -1")));
            }
            Dim::Known(-1) => None,
            Dim::Known(value) if value < -1 => {
                return Err(Stop::shape(format!("element {axis} of the shape is {value}")));
            }
            Dim::Known(_) => Some(dim),
            // 0 would mean the input's extent, which is the same.
            _ if same == Some(dim) && cx.symbols().at_least(dim, 0) => Some(dim),
            _ if cx.symbols().at_least(dim, 1) => Some(dim),
            _ if cx.symbols().rank(dim).0 == 1 => {
                cx.assume(dim, ">=", Dim::ONE);
                Some(dim)
            }
            // The data may say -1 or 0.
            Dim::Symbolic(_) => None,
        };
        dims.push(resolved);
    }
    let open = dims.iter().filter(|dim| dim.is_none()).count();
    let rest: Vec<_> = dims.iter().flatten().copied().collect();
    let left = match (&given, open) {
        (Some(given), 1) => Some(quotient(cx, given, &rest)?),
        _ => None,
    };
    if let Some(given) = &given {
        let all: Vec<_> = rest.iter().copied().chain(left).collect();
        if all.len() == target.len() {
            let (before, after) = (cx.product(given), cx.product(&all));
            cx.not_apart(before, after, "the numbers of elements")?;
        }
    }
    let filled = dims.into_iter().map(|dim| match (dim, left) {
        (Some(dim), _) | (None, Some(dim)) => dim,
        (None, None) if given.is_none() => cx.unknown("the number of elements is not known", Bounds::EXTENT),
        (None, None) => cx.data("the shape is not known before the run", Bounds::EXTENT),
    });
    let filled: Vec<_> = filled.collect();
    reshaped(cx, filled)
}

fn flatten(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let axis = cx.int_or("axis", 1);
    let axis = if axis == super::shape::rank_of(&dims) { dims.len() } else { cx.axis(axis, dims.len())? };
    let (before, after) = (cx.product(&dims[..axis]), cx.product(&dims[axis..]));
    reshaped(cx, [before, after])
}

/// The axes that an attribute or an input names, or why they are not known. Nothing if neither is given.
pub(super) fn named_axes(cx: &mut Cx<'_, '_>) -> Result<Option<Vec<i64>>, Stop> {
    if let Some(axes) = cx.ints("axes") {
        return Ok(Some(axes.to_vec()));
    }
    if !cx.has(1) {
        return Ok(None);
    }
    match cx.known_integers(1) {
        Some(axes) => Ok(Some(axes)),
        None => Err(Stop::Unknown(Some(1), "names axes that are not known".into())),
    }
}

fn squeeze(cx: &mut Cx<'_, '_>) -> Outcome {
    let axes = named_axes(cx);
    squeezed(cx, axes)
}

/// Without these axes, or all of one element if none are given.
pub(super) fn squeezed(cx: &mut Cx<'_, '_>, axes: Result<Option<Vec<i64>>, Stop>) -> Outcome {
    let dims = cx.dims(0)?;
    let axes = match axes {
        Ok(Some(axes)) => cx.axes(&axes, dims.len())?,
        Ok(None) => {
            let mut axes = Vec::new();
            for (axis, &dim) in dims.iter().enumerate() {
                match dim {
                    Dim::ONE => axes.push(axis),
                    dim if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => {}
                    _ => {
                        return Err(Stop::unknown(
                            "whether an extent is 1 is not known, and all that are 1 go",
                        ));
                    }
                }
            }
            axes
        }
        Err(stop) => {
            let count = cx.len(1).filter(|&count| count <= dims.len()).ok_or(stop)?;
            let rank = dims.len() - count;
            let dims = cx.any_dims("the axes are not known before the run", rank);
            return reshaped(cx, dims);
        }
    };
    for &axis in &axes {
        cx.equal(dims[axis], Dim::ONE, "an axis that is squeezed")?;
    }
    let left: Vec<_> =
        dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| *dim).collect();
    reshaped(cx, left)
}

pub(super) fn unsqueeze(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let axes = match named_axes(cx) {
        Ok(axes) => axes.unwrap_or_default(),
        Err(stop) => {
            let count = cx.len(1).ok_or(stop)?;
            let dims = cx.any_dims("the axes are not known before the run", dims.len() + count);
            return reshaped(cx, dims);
        }
    };
    let rank = dims.len() + axes.len();
    let axes = cx.axes(&axes, rank)?;
    let mut rest = dims.iter().copied();
    let all: Vec<_> = (0..rank)
        .map(|axis| if axes.contains(&axis) { Dim::ONE } else { rest.next().unwrap_or(Dim::ONE) })
        .collect();
    reshaped(cx, all)
}

fn dropout(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    // Version 12 made training an input; without it, elements stay as they are.
    let mask = if cx.version >= 10 { Some(DType::Bool) } else { cx.dtype(0) };
    let training = cx.has(2) || (cx.version < 7 && !cx.flag("is_test", false));
    let first = if training { Fact::shaped(dims.clone()) } else { cx.read_fact(0) };
    Ok(vec![first, Fact::Tensor(TensorFact::new(mask, Some(dims)))])
}
