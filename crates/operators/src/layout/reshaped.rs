//! Rules of operators that give the same elements another shape.
//!
//! | operators | shape |
//! |---|---|
//! | `Reshape` | the second input; 0 is the input's dimension there, unless `allowzero`; -1 is what is left |
//! | `Flatten` | two axes: those before `axis`, and the others |
//! | `Squeeze`, `Unsqueeze` | axes of one element less, or more |
//! | `Identity`, `Dropout` | the input's |

use std::sync::Arc;

use gradus_core::convert::i64_of;

use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::infer::{InferContext, InferError, InferResult};
use crate::{errors, indices};

/// The first input's elements under other dimensions.
pub fn reshaped(cx: &mut InferContext<'_, '_>, dims: impl Into<Dims>) -> InferResult {
    let elements = cx.elements(0);
    // A tensor holds its shape itself; integers do not, and fractions neither.
    let dims = dims.into();
    let elements = match elements {
        Elements::Known(tensor) => {
            let shape = crate::fact::known_shape(&dims);
            let tensor = shape.and_then(|shape| tensor.reshaped(shape).ok());
            tensor.map_or(Elements::Unknown, |tensor| Elements::Known(tensor.into()))
        }
        Elements::Extremes(all) if all.len() > 1 => {
            let is_kept = dims.last().is_some_and(|&last| last == Dim::from(all.len()));
            if is_kept { Elements::Extremes(all) } else { cx.moved(0, true) }
        }
        other => other,
    };
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims), elements })])
}

/// Meaning of a size of 0 that a shape names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroSize {
    /// The input's dimension there.
    Copied,
    /// 0; no other size may be -1.
    Kept,
    /// 0; -1 is the quotient of the sizes that are not 0.
    Skipped,
}

/// The quotient of a number of elements by some dimensions.
fn quotient(
    cx: &mut InferContext<'_, '_>,
    all: &[Dim],
    taken: &[Dim],
    zero: ZeroSize,
) -> Result<Dim, InferError> {
    let mut left = all.to_vec();
    let (mut both, mut below) = (Vec::new(), Vec::new());
    for dim in taken {
        // A dimension on both sides changes nothing, unless it is zero and zeros count.
        match left.iter().position(|other| other == dim) {
            Some(at) if *dim != Dim::ZERO || zero == ZeroSize::Skipped => {
                both.push(left.remove(at));
            }
            _ => below.push(*dim),
        }
    }
    if zero == ZeroSize::Skipped {
        if both.contains(&Dim::ZERO) {
            left.retain(|&dim| dim != Dim::ZERO);
        }
        if !count_the_same(cx, &left, &both, &below) {
            return Ok(cx.unknown("another size may be 0", Bounds::SIZE));
        }
    } else if below.contains(&Dim::ZERO) {
        return Err(errors::open_axis(0, "at least 1").into());
    } else {
        // The product of the others divides, and is not zero.
        for &dim in taken {
            cx.require(dim, Relation::AtLeast, Dim::ONE);
        }
    }
    let (above, below) = (cx.product(&left), cx.product(&below));
    let quotient = cx.floor_divide(above, below);
    let whole = cx.multiply(below, quotient);
    cx.require(above, Relation::Equal, whole);
    Ok(quotient)
}

/// Shape of `Reshape`: the elements of the second input.
pub fn reshape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let given = cx.known_dims(0);
    cx.integer_input(1)?;
    let Some(target) = cx.integers(1) else {
        let rank = cx.needed_len(1)?;
        let dims = match (&given, rank) {
            (Some(given), 1) => vec![cx.product(&given.clone())],
            _ => cx.any_dims("the shape is not known before the run", rank),
        };
        return reshaped(cx, dims);
    };
    let keeps = cx.attributes.flag("allowzero", false)?;
    reshape_to(cx, &target, if keeps { ZeroSize::Skipped } else { ZeroSize::Copied })
}

/// Returns true if the quotient of sizes is that of those that are not 0: of sizes of the input
/// alone, of both shapes, and of the target alone. What runs need not imply is assumed.
fn count_the_same(cx: &mut InferContext<'_, '_>, left: &[Dim], both: &[Dim], below: &[Dim]) -> bool {
    let mut may_be_zero = |dims: &[Dim]| -> Vec<Dim> {
        dims.iter().copied().filter(|&dim| !cx.symbols().at_least(dim, 1)).collect()
    };
    let (left, both, below) = (may_be_zero(left), may_be_zero(both), may_be_zero(below));
    if below.contains(&Dim::ZERO) {
        return false;
    }
    if !below.iter().all(|&dim| cx.may_assume(dim, Relation::AtLeast, Dim::ONE)) {
        return false;
    }
    if left.is_empty() || both.is_empty() {
        return true;
    }
    if both.contains(&Dim::ZERO) {
        return left.iter().all(|&dim| cx.may_assume(dim, Relation::AtLeast, Dim::ONE));
    }
    // Zeros that only the input has count unless there is one in both.
    let (own, shared) = (cx.product(&left), cx.product(&both));
    let any = cx.max(own, shared);
    cx.may_assume(any, Relation::AtLeast, Dim::ONE)
}

/// Returns true if a symbolic element of the shape may be taken for at least 1. 0 stands for the
/// dimension of the input there. Inference is cautious where runs may have that: unless such runs
/// fail, or the input's dimension is 0 as well.
fn may_not_be_zero(
    cx: &mut InferContext<'_, '_>,
    given: Option<&[Dim]>,
    target: &[Dim],
    axis: usize,
) -> bool {
    if !cx.is_cautious() {
        return true;
    }
    let Some(given) = given else { return false };
    let (symbols, dim) = (cx.symbols(), target[axis]);
    // Beyond the rank of the input, 0 is refused.
    let Some(&copied) = given.get(axis) else { return true };
    let times = if symbols.divides(copied, dim) { symbols.floor_divide(dim, copied) } else { None };
    let is_multiple = times.and_then(Dim::known).is_some_and(|times| times != 0);
    if is_multiple || symbols.divides(dim, copied) {
        return true;
    }
    // No number of elements is that of the input, which is 0, unless another size is 0 too.
    let names = |symbols: &Symbols, dim: Dim| -> Vec<Arc<str>> {
        symbols.symbols_of(dim).into_iter().map(|symbol| symbol.name.clone()).collect()
    };
    let own = names(symbols, dim);
    let is_other = |(at, &other): (usize, &Dim)| match other {
        _ if at == axis => true,
        Dim::Known(0) => given.get(at).is_some_and(|&size| {
            size != Dim::ZERO && !names(symbols, size).iter().any(|name| own.contains(name))
        }),
        Dim::Known(size) => size > 0,
        Dim::Symbolic(_) => !names(symbols, other).iter().any(|name| own.contains(name)),
    };
    let elements = |(at, &size): (usize, &Dim)| match size {
        Dim::ZERO => given[at],
        size => size,
    };
    target.iter().enumerate().all(is_other) && {
        let sizes: Vec<_> = target.iter().enumerate().map(elements).collect();
        let counts = symbols.product(sizes).zip(symbols.product(given.iter().copied()));
        counts.is_some_and(|(all, own)| symbols.always_holds(&Condition::new(all, Relation::Equal, own)))
    }
}

/// The first input in the shape of which these are the dimensions, but for 0 and -1.
pub fn reshape_to(cx: &mut InferContext<'_, '_>, target: &[Dim], zero: ZeroSize) -> InferResult {
    let given = cx.known_dims(0);
    let allow_zero = zero != ZeroSize::Copied;
    let mut taken = Vec::new();
    let mut dims: Vec<Option<Dim>> = Vec::with_capacity(target.len());
    for (axis, &dim) in target.iter().enumerate() {
        let same = given.as_ref().and_then(|given| given.get(axis)).copied();
        let resolved = match dim {
            Dim::Known(0) if !allow_zero => match (same, &given) {
                (Some(same), _) => Some(same),
                (None, Some(given)) => return Err(errors::copied(axis, given.len()).into()),
                (None, None) => {
                    Some(cx.unknown("the dimension is the input's, which is not known", Bounds::SIZE))
                }
            },
            Dim::Known(-1) if !target[..axis].contains(&dim) => None,
            Dim::Known(value) if value < 0 => {
                return Err(errors::element(axis, value, errors::RESHAPED).into());
            }
            Dim::Known(_) => Some(dim),
            // 0 would mean the input's dimension, which is the same.
            _ if same == Some(dim) && cx.symbols().at_least(dim, 0) => Some(dim),
            _ if cx.symbols().at_least(dim, 1) => Some(dim),
            _ if allow_zero && cx.symbols().at_least(dim, 0) => Some(dim),
            _ if cx.symbols().rank(dim).0 == 1 && may_not_be_zero(cx, given.as_deref(), target, axis) => {
                // 0 next to a dimension of 0 means that.
                let least = same.map_or(Dim::ONE, |same| cx.min(same, Dim::ONE));
                if cx.is_cautious() {
                    cx.assume(dim, Relation::AtLeast, least);
                } else {
                    // A run with 0 there may succeed, with another shape.
                    cx.take_for_granted(dim, Relation::AtLeast, least);
                    taken.push(Condition::new(dim, Relation::AtLeast, least));
                }
                Some(dim)
            }
            // The data may say -1, or 0 for another dimension.
            Dim::Symbolic(_) => None,
        };
        dims.push(resolved);
    }
    if let Some(given) = &given {
        require_target(cx, given, &dims, target, zero);
    }
    cx.guarded(&taken, |cx| filled(cx, given.as_deref(), dims, target, zero))
}

/// Requires of the elements of a target that inputs of the model hold what the number of elements
/// asks for: where all are sizes, and where one of them is 0 or -1. No element is -1 where another
/// is written to be.
fn require_target(
    cx: &mut InferContext<'_, '_>,
    given: &[Dim],
    dims: &[Option<Dim>],
    target: &[Dim],
    zero: ZeroSize,
) {
    /// Elements whose cases are told apart.
    const MAX_OPEN: usize = 3;
    let written = target.iter().position(|&dim| dim == Dim::Known(-1));
    let open: Vec<usize> =
        (0..dims.len()).filter(|&axis| dims[axis].is_none() && Some(axis) != written).collect();
    let is_open = |dim: &Dim| dim.known().is_none();
    let is_told = open.iter().all(|&axis| is_open(&target[axis]) && cx.is_told(target[axis]));
    if open.is_empty() || !is_told {
        return;
    }
    let is = |axis: usize, relation, number| Condition::new(target[axis], relation, Dim::Known(number));
    if open.len() > MAX_OPEN {
        return cx.require_of_values("the target has as many elements as the input".to_owned());
    }
    // A written -1 is the only one, and of two that are at least -1 the sum is.
    let smallest = Dim::Known(if written.is_some() { 0 } else { -1 });
    for (i, &axis) in open.iter().enumerate() {
        cx.require(target[axis], Relation::AtLeast, smallest);
        for &other in open[..i].iter().filter(|_| written.is_none()) {
            let both = cx.add(target[axis], target[other]);
            cx.require(both, Relation::AtLeast, smallest);
        }
        if zero == ZeroSize::Copied && axis >= given.len() {
            cx.require(target[axis], Relation::NotEqual, Dim::ZERO);
        }
    }
    let sizes: Vec<_> = (0..dims.len()).map(|axis| dims[axis].unwrap_or(target[axis])).collect();
    let mut cases = vec![(Vec::new(), sizes, written)];
    for &axis in &open {
        let mut next = Vec::new();
        for (guards, sizes, left) in cases {
            let with = |of: Condition| [&guards[..], &[of]].concat();
            if left.is_none() {
                next.push((with(is(axis, Relation::Equal, -1)), sizes.clone(), Some(axis)));
            }
            if let Some(&copied) = given.get(axis).filter(|_| zero == ZeroSize::Copied) {
                let mut sizes = sizes.clone();
                sizes[axis] = copied;
                next.push((with(is(axis, Relation::Equal, 0)), sizes, left));
            }
            next.push((with(is(axis, Relation::AtLeast, i64::from(zero == ZeroSize::Copied))), sizes, left));
        }
        cases = next;
    }
    let all = cx.product(given);
    for (guards, sizes, left) in cases {
        cx.guarded(&guards, |cx| {
            if let Some(left) = left {
                let rest = cx.product(&[&sizes[..left], &sizes[left + 1..]].concat());
                cx.require(rest, Relation::AtLeast, Dim::ONE);
                let quotient = cx.floor_divide(all, rest);
                let whole = cx.multiply(rest, quotient);
                cx.require(all, Relation::Equal, whole);
            } else {
                let sizes = cx.product(&sizes);
                cx.require(all, Relation::Equal, sizes);
            }
        });
    }
}

/// The shape with what is left in place of -1; the number of elements stays.
fn filled(
    cx: &mut InferContext<'_, '_>,
    given: Option<&[Dim]>,
    dims: Vec<Option<Dim>>,
    target: &[Dim],
    zero: ZeroSize,
) -> InferResult {
    let open = dims.iter().filter(|dim| dim.is_none()).count();
    let rest: Vec<_> = dims.iter().flatten().copied().collect();
    // Sizes that data decide may be 0, and the others too, unless -1 is written.
    let is_quotient = target.contains(&Dim::Known(-1))
        || !rest.contains(&Dim::ZERO)
            && (!cx.is_cautious() || rest.iter().all(|&dim| cx.symbols().at_least(dim, 1)));
    let left = match (given, open) {
        (Some(given), 1) if is_quotient => Some(quotient(cx, given, &rest, zero)?),
        _ => None,
    };
    if let Some(given) = given {
        let all: Vec<_> = rest.iter().copied().chain(left).collect();
        if all.len() == target.len() {
            let (before, after) = (cx.product(given), cx.product(&all));
            match left {
                // The quotient is required to be whole.
                Some(_) => cx.may_be_equal(before, after, "number of elements")?,
                None => cx.not_apart(before, after, "number of elements")?,
            }
        }
    }
    let filled = dims.into_iter().map(|dim| match (dim, left) {
        (Some(dim), _) | (None, Some(dim)) => dim,
        (None, None) if given.is_none() => cx.unknown("the number of elements is not known", Bounds::SIZE),
        (None, None) => cx.data("the shape is not known before the run", Bounds::SIZE),
    });
    let filled: Vec<_> = filled.collect();
    reshaped(cx, filled)
}

/// Shape of `Flatten`: the products of the sizes before and after the axis.
pub fn flatten(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = cx.attributes.int_or("axis", 1)?;
    let axis = if axis == crate::shape::infer::rank_of(&dims) {
        dims.len()
    } else {
        indices::axis(axis, dims.len())?
    };
    let (before, after) = (cx.product(&dims[..axis]), cx.product(&dims[axis..]));
    reshaped(cx, [before, after])
}

/// The axes of a tensor of that rank that the second input names, or why they are not known.
/// Nothing if it is not given.
pub fn named_axes(cx: &mut InferContext<'_, '_>, rank: usize) -> Result<Option<Vec<i64>>, InferError> {
    if !cx.has(1) {
        return Ok(None);
    }
    if let Some(axes) = cx.known_integers(1) {
        return Ok(Some(axes));
    }
    cx.require_axes(1, rank);
    Err(InferError::input(1, "names axes that are not known"))
}

/// Shape of `Squeeze`: the input's without axes of size 1.
pub fn squeeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = named_axes(cx, dims.len());
    if axes.is_err() {
        require_ones(cx, &dims);
    }
    squeezed(cx, axes)
}

/// Requires that axes that the second input names have size 1, as far as its elements are told.
fn require_ones(cx: &mut InferContext<'_, '_>, dims: &[Dim]) {
    for named in cx.told_integers(1) {
        for (axis, &dim) in dims.iter().enumerate() {
            for number in [i64_of(axis), i64_of(axis) - i64_of(dims.len())].map(Dim::Known) {
                match dim {
                    Dim::ONE => {}
                    Dim::Known(_) => cx.require(named, Relation::NotEqual, number),
                    Dim::Symbolic(_) => {
                        let is_named = Condition::new(named, Relation::Equal, number);
                        cx.guarded(&[is_named], |cx| cx.require(dim, Relation::Equal, Dim::ONE));
                    }
                }
            }
        }
    }
}

/// Without these axes, or all of one element if none are given.
pub fn squeezed(cx: &mut InferContext<'_, '_>, axes: Result<Option<Vec<i64>>, InferError>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = match axes {
        Ok(Some(axes)) => indices::axes(&axes, dims.len())?,
        Ok(None) => {
            let mut axes = Vec::new();
            for (axis, &dim) in dims.iter().enumerate() {
                match dim {
                    Dim::ONE => axes.push(axis),
                    dim if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => {}
                    _ => {
                        return Err(InferError::OpenOutputs("a size that may be 1 decides the rank"));
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
        cx.equal(dims[axis], Dim::ONE, errors::squeezed(axis))?;
    }
    let left: Vec<_> =
        dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| *dim).collect();
    reshaped(cx, left)
}

/// Shape of `Unsqueeze`: the input's with axes of size 1.
pub fn unsqueeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.dims(0)?.len() + cx.len(1).unwrap_or(0);
    let axes = named_axes(cx, rank).map(Option::unwrap_or_default);
    let told = if axes.is_err() { cx.told_integers(1) } else { Vec::new() };
    for (i, &axis) in told.iter().enumerate() {
        for &other in &told[..i] {
            // An axis may be counted from either end.
            let apart = cx.subtract(axis, other);
            for same in [0, i64_of(rank), -i64_of(rank)].map(Dim::Known) {
                cx.require(apart, Relation::NotEqual, same);
            }
        }
    }
    unsqueezed(cx, axes)
}

/// With these axes, or as many as the second input names.
pub fn unsqueezed(cx: &mut InferContext<'_, '_>, axes: Result<Vec<i64>, InferError>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = match axes {
        Ok(axes) => axes,
        Err(stop) => {
            let count = cx.len(1).ok_or(stop)?;
            let dims = cx.any_dims("the axes are not known before the run", dims.len() + count);
            return reshaped(cx, dims);
        }
    };
    let rank = dims.len() + axes.len();
    let axes = indices::axes(&axes, rank)?;
    let mut rest = dims.iter().copied();
    let all: Vec<_> = (0..rank)
        .map(|axis| if axes.contains(&axis) { Dim::ONE } else { rest.next().unwrap_or(Dim::ONE) })
        .collect();
    reshaped(cx, all)
}

/// Fact of `Identity`: the input's.
pub fn identity(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![cx.read_fact(0)])
}
