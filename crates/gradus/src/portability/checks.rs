//! Conditions that rules share, and those of a single rule that take more than a line.

use gradus_core::convert::{self, Rules, counted, nearest_f32, nearest_f64, truncated, usize_of_i64};
use gradus_core::graph::Strings;
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Number, Tensor};

use super::When;
use super::conditions::{INT32, NodeFacts};
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::fact::{TensorFact, fraction_of};
use crate::normalize::Older;
use crate::operators::indices;

/// Returns true if a node casts from one of some types to one of others.
pub(super) fn cast(node: &NodeFacts<'_>, from: &[DType], to: &[DType]) -> bool {
    node.is(0, from) && node.output().and_then(|fact| fact.dtype).is_some_and(|dtype| to.contains(&dtype))
}

/// Returns true if a number rounds to another one of a type where it is rounded to float16 first.
pub(super) fn rounds_twice(x: f64, to: DType) -> bool {
    let rounded = |x: f64, to| {
        let rounded = convert::cast(&Tensor::scalar(x), to, Rules::SATURATING)?;
        Ok::<_, gradus_core::Error>(nearest_f64(rounded.only_number()?))
    };
    let (once, twice) = (rounded(x, to), rounded(x, DType::F16).and_then(|x| rounded(x, to)));
    !matches!((once, twice), (Ok(once), Ok(twice)) if once == twice || x.is_nan())
}

/// Returns true if the attribute `direction` is `LEFT`.
pub(super) fn is_left(node: &NodeFacts<'_>) -> bool {
    is_text(node, "direction", "LEFT")
}

/// Returns true if a text attribute has this value.
pub(super) fn is_text(node: &NodeFacts<'_>, name: &str, wanted: &str) -> bool {
    matches!(node.attributes.text(name), Ok(Some(text)) if text == wanted)
}

/// When a condition about one of the inputs holds.
pub(super) fn an_input(
    node: &mut NodeFacts<'_>,
    when: impl Fn(&mut NodeFacts<'_>, usize) -> Option<When>,
) -> Option<When> {
    let found = (0..node.node.inputs.len()).fold(None, |found, index| either(found, when(node, index)));
    match found {
        // More conditions than somebody would read.
        Some(When::Sizes(text)) if text.matches(" or ").count() > 2 => Some(When::Data),
        found => found,
    }
}

/// When an element of one of two inputs lies outside a range.
pub(super) fn an_input_outside(node: &mut NodeFacts<'_>, range: (i64, i64)) -> Option<When> {
    either(node.outside(0, range), node.outside(1, range))
}

/// When two conditions hold at once.
pub(super) fn both(a: Option<When>, b: Option<When>) -> Option<When> {
    match (a?, b?) {
        (When::Always, other) | (other, When::Always) => Some(other),
        (When::Sizes(a), When::Sizes(b)) if a == b => Some(When::Sizes(a)),
        (When::Sizes(a), When::Sizes(b)) => Some(When::Sizes(format!("{a}, and {b}"))),
        _ => Some(When::Data),
    }
}

/// When one of two conditions holds that are necessary, but not sufficient.
pub(super) fn either(a: Option<When>, b: Option<When>) -> Option<When> {
    match (a, b) {
        (Some(When::Sizes(a)), Some(When::Sizes(b))) => Some(When::Sizes(format!("{a} or {b}"))),
        (Some(When::Sizes(text)), None) | (None, Some(When::Sizes(text))) => Some(When::Sizes(text)),
        (None, None) => None,
        _ => Some(When::Data),
    }
}

/// When a result of integer arithmetic lies outside a range.
pub(super) fn result_outside(node: &mut NodeFacts<'_>, range: (i64, i64)) -> Option<When> {
    let output = node.output()?.clone();
    let found = node.fact_outside(&output, range)?;
    let has_two = matches!(&*node.node.operator.name, "Add" | "Mul" | "Sub");
    match found {
        When::Data if has_two => bounds_outside(result_bounds(node), range),
        found => Some(found),
    }
}

/// Numbers between which the results of integer arithmetic lie.
pub(super) fn result_bounds(node: &NodeFacts<'_>) -> Bounds {
    let (a, b) = (node.bounds(0), node.bounds(1));
    match &*node.node.operator.name {
        "Add" => a.plus(b),
        "Sub" => a.plus(b.negated()),
        "Mul" => a.times(b),
        // The other end of the range of elements below zero is the one that may not fit.
        "Abs" if a.lower().is_some_and(|least| least >= 0) => a,
        "Abs" | "Neg" => a.negated(),
        _ => Bounds::ANY,
    }
}

/// [`When::Data`] if bounds are not known to be within a range.
pub(super) fn bounds_outside(bounds: Bounds, (low, high): (i64, i64)) -> Option<When> {
    let within = bounds.lower().is_some_and(|x| x >= low) && bounds.upper().is_some_and(|x| x <= high);
    (!within).then_some(When::Data)
}

/// The size of the axis that `axis` names, and the ends of the indices into it, if both are known.
fn size_and_indices(node: &mut NodeFacts<'_>) -> Option<(Dim, Vec<Dim>)> {
    let dims = node.input(0)?.dims.clone()?;
    let size = *dims.get(axis(node, dims.len())?)?;
    let indices = node.input(1)?.clone();
    Some((size, node.integers(&indices)?))
}

/// The axis that an attribute names.
fn axis(node: &NodeFacts<'_>, rank: usize) -> Option<usize> {
    let axis = node.attributes.int_or("axis", 0).ok()?;
    counted(axis, rank)
}

/// When an index of `Gather` or `GatherElements` is out of range.
pub(super) fn index_out_of_range(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some((size, indices)) = size_and_indices(node) else { return Some(When::Data) };
    node.any(&indices, |symbols, index| {
        [Condition::new(index, Relation::AtLeast, size), below(symbols, index, size)]
    })
}

/// When an index of `ScatterElements` is below those that count from the end.
pub(super) fn index_below(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some((size, indices)) = size_and_indices(node) else { return Some(When::Data) };
    node.any(&indices, |symbols, index| [below(symbols, index, size)])
}

fn below(symbols: &mut Symbols, index: Dim, size: Dim) -> Condition {
    // A sum that is too large for an expression is out of range, as the index is.
    let sum = symbols.add(index, size).unwrap_or(Dim::Known(-1));
    Condition::new(sum, Relation::AtMost, Dim::Known(-1))
}

/// When the indices of `GatherElements` have a smaller axis than the data, other than that of the
/// attribute.
pub(super) fn fewer_rows(node: &mut NodeFacts<'_>) -> Option<When> {
    let sizes = |node: &NodeFacts<'_>, index| node.input(index)?.dims.clone();
    let (Some(data), Some(indices)) = (sizes(node, 0), sizes(node, 1)) else { return Some(When::Data) };
    let gathered = axis(node, data.len())?;
    let others = data.iter().zip(&*indices).enumerate().filter(|&(at, _)| at != gathered);
    let mut found = None;
    for (_, (&size, &taken)) in others {
        let Some(less) = node.symbols.subtract(size, Dim::ONE) else { return Some(When::Data) };
        match node.any(&[taken], |_, taken| [Condition::new(taken, Relation::AtMost, less)]) {
            Some(When::Always) => return Some(When::Always),
            other => found = either(found, other),
        }
    }
    found
}

/// When the product of a size and a scale of `Resize` is no integer.
pub(super) fn cut_lengths(node: &mut NodeFacts<'_>) -> Option<When> {
    by_axes(node, |node, size, scale| match size {
        Dim::Known(size) => {
            let product = nearest_f32(Number::Int(size.into())) * nearest_f32(scale);
            (product.fract() != 0.0).then_some(When::Always)
        }
        Dim::Symbolic(_) => {
            let rest = fraction_of(scale).and_then(|scale| {
                let product = node.symbols.multiply(size, scale.over)?;
                node.symbols.modulo(product, Dim::Known(scale.under))
            });
            rest.map_or(Some(When::Data), |rest| {
                node.any(&[rest], |_, rest| [Condition::new(rest, Relation::AtLeast, Dim::ONE)])
            })
        }
    })
}

/// When a scale of `Resize` other than 1 leaves an axis its size.
pub(super) fn kept_size(node: &mut NodeFacts<'_>) -> Option<When> {
    by_axes(node, |_, size, scale| {
        let scale = nearest_f32(scale);
        match size {
            _ if scale == 1.0 => None,
            Dim::Known(size) => {
                let size = nearest_f32(Number::Int(size.into()));
                (size > 0.0 && (size * scale).floor() == size).then_some(When::Always)
            }
            // Products are rounded to the size if the scale is that near to 1.
            Dim::Symbolic(_) => (scale > 1.0 - f32::EPSILON && scale < 2.0).then_some(When::Data),
        }
    })
}

/// When the product of a size and a scale of `Resize` has another integer part in float32 than in
/// float64.
pub(super) fn rounded_size(node: &mut NodeFacts<'_>) -> Option<When> {
    by_axes(node, |_, size, scale| match size {
        Dim::Known(size) => {
            let (size, scale) = (Number::Int(size.into()), nearest_f32(scale));
            let exact = (nearest_f64(size) * f64::from(scale)).floor();
            (f64::from((nearest_f32(size) * scale).floor()) != exact).then_some(When::Always)
        }
        Dim::Symbolic(_) => is_rounded(nearest_f32(scale)).then_some(When::Data),
    })
}

/// When a condition of the size and the scale of an axis of `Resize` holds; of scales or ranks that
/// are not known, nothing is said.
fn by_axes<'a>(
    node: &mut NodeFacts<'a>,
    mut meets: impl FnMut(&mut NodeFacts<'a>, Dim, Number) -> Option<When>,
) -> Option<When> {
    if node.input(2)?.dims.as_deref() == Some(&[Dim::ZERO]) {
        return None;
    }
    let (Some(dims), Some(scales)) = (node.input(0)?.dims.clone(), node.constant(2)) else {
        return Some(When::Data);
    };
    let axes = match node.attributes.ints("axes").ok()? {
        Some(axes) => indices::axes(axes, dims.len()).ok()?,
        None => (0..dims.len()).collect(),
    };
    let mut found = None;
    for (axis, scale) in axes.into_iter().zip(scales) {
        found = either(found, meets(node, dims[axis], scale));
    }
    found
}

/// When pads below 0 leave fewer elements of an axis than `Pad` repeats in its mode.
pub(super) fn leaves_too_few(node: &mut NodeFacts<'_>) -> Option<When> {
    let mode = node.attributes.text("mode").ok()?.unwrap_or("constant").to_owned();
    if mode == "constant" {
        return None;
    }
    node.outside(1, (0, i64::MAX))?;
    let (Some(dims), Some(pads)) = (node.input(0)?.dims.clone(), node.constant(1)) else {
        return Some(When::Data);
    };
    let axes = match node.input(3) {
        Some(axes) => indices::axes(&axes.tensor()?.to_i64().ok()?, dims.len()).ok()?,
        None => (0..dims.len()).collect(),
    };
    let pads =
        pads.into_iter().map(|pad| truncated(nearest_f64(pad)).and_then(|pad| i64::try_from(pad).ok()));
    let pads = pads.collect::<Option<Vec<_>>>()?;
    let mut found = None;
    for (i, &axis) in axes.iter().enumerate() {
        let (before, after) = (*pads.get(i)?, *pads.get(i + axes.len())?);
        let removed = before.min(0).saturating_add(after.min(0));
        let when = match dims[axis].known() {
            _ if removed == 0 => None,
            None => Some(When::Data),
            Some(size) => {
                let left = size.saturating_add(removed);
                let repeats = before.max(after).max(0);
                (left <= 0 || mode == "reflect" && repeats >= left).then_some(When::Always)
            }
        };
        found = either(found, when);
    }
    found
}

/// When no window of a convolution or a pool fits in its input.
pub(super) fn no_windows(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some(dims) = node.output().and_then(|fact| fact.dims.clone()) else { return Some(When::Data) };
    // A size that is 0 only where one of the inputs is says nothing about windows.
    let symbols = &node.symbols;
    let is_large = |dim: &Dim| symbols.evaluate(*dim, &|_| Some(1)).is_some_and(|size| size > 0);
    let small: Vec<_> = dims.iter().skip(2).copied().filter(|dim| !is_large(dim)).collect();
    node.any(&small, |_, dim| [Condition::new(dim, Relation::AtMost, Dim::ZERO)])
}

/// Returns true for a power of two whose reciprocal is a number of float32 too.
pub(super) fn is_power_of_two(number: Number) -> bool {
    // Without the bits of the mantissa, and far from subnormal numbers.
    let of = nearest_f64(number).abs();
    (2f64.powi(-126)..=2f64.powi(126)).contains(&of) && of.to_bits() << 12 == 0
}

/// When an axis that is reduced has no elements.
pub(super) fn no_elements(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some(dims) = node.input(0)?.dims.clone() else { return Some(When::Data) };
    let axes = match node.constant(1) {
        Some(axes) => axes.into_iter().map(|axis| truncated(nearest_f64(axis))?.try_into().ok()).collect(),
        None if node.node.operator.name.starts_with("Arg") => {
            Some(vec![node.attributes.int_or("axis", 0).ok()?])
        }
        None => node.attributes.ints("axes").ok()?.map(<[i64]>::to_vec),
    };
    let size = |&axis: &i64| dims.get(counted(axis, dims.len())?).copied();
    // Axes that are not known may be all axes.
    let reduced = axes.and_then(|axes: Vec<i64>| axes.iter().map(size).collect::<Option<Vec<_>>>());
    let reduced = reduced.unwrap_or_else(|| dims.to_vec());
    node.any(&reduced, |_, size| [Condition::new(size, Relation::Equal, Dim::ZERO)])
}

/// When the exact result of a reduction, or an element, is no float64, or none of its type.
pub(super) fn integer_reduction(node: &mut NodeFacts<'_>) -> Option<When> {
    let input = node.input(0)?.clone();
    let dtype = input.dtype.filter(|dtype| [DType::I32, DType::I64].contains(dtype))?;
    let Some(numbers) = node.constant(0) else {
        // Sizes, and what is computed of them, are smaller.
        return node.integers(&input).is_none().then_some(When::Data);
    };
    let sizes = numbers.iter().filter_map(|number| match number {
        Number::Int(x) => Some(x.unsigned_abs()),
        _ => None,
    });
    let most = match &*node.node.operator.name {
        "ReduceProd" => sizes.fold(1, |all: u128, x| all.saturating_mul(x.max(1))),
        "ReduceSumSquare" => sizes.fold(0, |all: u128, x| all.saturating_add(x.saturating_mul(x))),
        _ => sizes.fold(0, u128::saturating_add),
    };
    (most > if dtype == DType::I32 { (1 << 31) - 1 } else { 1 << 53 }).then_some(When::Data)
}

/// When a sum of products of integers may exceed what float32 holds exactly.
pub(super) fn integer_product(node: &mut NodeFacts<'_>) -> Option<When> {
    /// The largest product of two differences of 8-bit integers.
    const PRODUCT: i64 = 255 * 255;
    if node.is(0, &[DType::I32, DType::I64]) {
        return Some(When::Data);
    }
    if !node.is(0, &[DType::I8, DType::U8]) {
        return None;
    }
    let summed = node.input(0)?.dims.as_ref().and_then(|dims| dims.last().copied());
    let Some(summed) = summed else { return Some(When::Data) };
    let least = Dim::Known((1 << 24) / PRODUCT + 1);
    let found = node.any(&[summed], |_, size| [Condition::new(size, Relation::AtLeast, least)])?;
    Some(if found == When::Always { When::Data } else { found })
}

/// The sizes of the window of a pool, its steps, and the padding at the end, for each axis.
fn windows(node: &NodeFacts<'_>) -> Option<Vec<(i64, i64, i64)>> {
    let list = |name, other: i64, rank| {
        let found = node.attributes.ints(name).ok()?;
        Some(found.map_or_else(|| vec![other; rank], <[i64]>::to_vec))
    };
    let kernel = node.attributes.ints("kernel_shape").ok()??;
    let rank = kernel.len();
    let (steps, dilations) = (list("strides", 1, rank)?, list("dilations", 1, rank)?);
    let pads = list("pads", 0, 2 * rank)?;
    let each = kernel.iter().zip(&dilations).zip(&steps).zip(pads.get(rank..)?);
    let size = |(((&size, &dilation), &step), &end): (((&i64, &i64), &i64), &i64)| {
        Some((size.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?, step, end))
    };
    each.map(size).collect()
}

/// When the last window of a pool, where sizes are rounded up, begins in the padding at the end.
pub(super) fn pools_padding(node: &mut NodeFacts<'_>) -> Option<When> {
    let begins = |&(window, step, end): &(i64, i64, i64)| end.saturating_add(step) > window;
    rounded_up(node, begins)
}

/// When the last window of a pool, where sizes are rounded up, ends beyond the padding, and the
/// padding counts.
pub(super) fn pools_beyond(node: &mut NodeFacts<'_>) -> Option<When> {
    let counts = node.attributes.flag("count_include_pad", false).ok()?;
    if counts { rounded_up(node, |&(_, step, _)| step > 1) } else { None }
}

/// When windows of a pool with `ceil_mode` are such, or their sizes are not known.
pub(super) fn rounded_up(node: &NodeFacts<'_>, meets: impl Fn(&(i64, i64, i64)) -> bool) -> Option<When> {
    if !node.attributes.flag("ceil_mode", false).ok()? {
        return None;
    }
    windows(node).is_none_or(|windows| windows.iter().any(meets)).then_some(When::Data)
}

/// When an element divided by a scale does not fit int32.
pub(super) fn quotient_beyond_int32(node: &mut NodeFacts<'_>) -> Option<When> {
    if !node.is(0, &[DType::F32]) {
        return None;
    }
    let floats = |index| Some(node.constant(index)?.into_iter().map(nearest_f64).collect::<Vec<_>>());
    let (Some(elements), Some(scales)) = (floats(0), floats(1)) else { return Some(When::Data) };
    let least = scales.iter().fold(f64::INFINITY, |least, scale| least.min(scale.abs()));
    elements.iter().any(|x| x.abs() / least >= 2f64.powi(31)).then_some(When::Always)
}

/// When all elements are 0.
pub(super) fn zeros(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some(numbers) = node.constant(0) else { return Some(When::Data) };
    numbers.iter().all(|&x| nearest_f64(x) == 0.0).then_some(When::Always)
}

/// When elements are so far apart that the exponential of a difference is subnormal or 0.
pub(super) fn distant(node: &mut NodeFacts<'_>) -> Option<When> {
    let Some(numbers) = node.constant(0) else { return Some(When::Data) };
    let finite = || numbers.iter().map(|&x| nearest_f64(x)).filter(|x| x.is_finite());
    let most = finite().fold(f64::NEG_INFINITY, f64::max);
    finite().any(|x| most - x >= 87.0).then_some(When::Always)
}

/// When `Split` is to make a number of parts that does not divide the size of the axis; and all
/// parts but the last are larger than the axis, or not.
pub(super) fn uneven_parts(node: &mut NodeFacts<'_>, too_many: bool) -> Option<When> {
    let parts = node.attributes.int("num_outputs").ok()?.filter(|&parts| parts > 0)?;
    let Some(dims) = node.input(0)?.dims.clone() else { return Some(When::Data) };
    let Some(size) = dims.get(axis(node, dims.len())?)?.known() else {
        return (parts > 1).then_some(When::Data);
    };
    let before_last = (parts - 1).saturating_mul(1 + (size - 1) / parts);
    (size % parts != 0 && (before_last > size) == too_many).then_some(When::Always)
}

/// When two elements of `TopK` are equal, and more than one is selected.
pub(super) fn ties(node: &mut NodeFacts<'_>) -> Option<When> {
    node.outside(1, (0, 1))?;
    let Some(numbers) = node.constant(0) else { return Some(When::Data) };
    let mut numbers: Vec<_> = numbers.into_iter().map(nearest_f64).collect();
    numbers.shared_sort_by(f64::total_cmp);
    numbers.windows(2).any(|two| two[0] == two[1]).then_some(When::Always)
}

/// When a start or an end of `Slice` that no constant tells does not fit int32.
pub(super) fn open_bound_outside_int32(node: &mut NodeFacts<'_>) -> Option<When> {
    let mut found = None;
    for index in [1, 2] {
        if node.input(index).is_some_and(|bound| bound.tensor().is_none()) {
            found = either(found, node.outside(index, INT32));
        }
    }
    found
}

/// When an operator of a set below 13 takes the named axis and those after it together, and one of
/// these has several elements.
pub(super) fn several_axes(node: &mut NodeFacts<'_>) -> Option<When> {
    if !node.attributes.form().is(Older::Flattened) {
        return None;
    }
    let Some(dims) = node.input(0)?.dims.clone() else { return Some(When::Data) };
    let axis = node.attributes.int_or("axis", 1).ok()?;
    let axis = counted(axis, dims.len())?;
    let after = dims.get(axis + 1..)?.iter().filter(|&&dim| dim != Dim::ONE);
    let sizes: Vec<_> = after.map(|dim| dim.known()).collect();
    match sizes[..] {
        [] => None,
        _ if sizes.iter().flatten().next().is_some() => Some(When::Always),
        _ => Some(When::Data),
    }
}

/// Returns true if `Resize` takes elements, and does not weigh them.
pub(super) fn is_nearest(node: &NodeFacts<'_>) -> bool {
    matches!(node.attributes.text("mode"), Ok(None | Some("nearest")))
}

/// Returns true if coordinates of `Resize` are quotients by scales.
pub(super) fn divides_by_scales(node: &NodeFacts<'_>) -> bool {
    const MODES: [&str; 4] = ["asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"];
    let mode = node.attributes.text("coordinate_transformation_mode");
    mode.is_ok_and(|mode| mode.is_none_or(|mode| MODES.contains(&mode)))
}

/// When `Resize` is given scales.
pub(super) fn by_scales(node: &NodeFacts<'_>) -> Option<When> {
    let scales = node.input(2)?;
    let none = scales.dims.as_deref() == Some(&[Dim::ZERO]);
    (!none).then_some(When::Data)
}

/// Returns true if products and quotients of a scale of `Resize` are rounded at small sizes.
fn is_rounded(scale: f32) -> bool {
    (scale * 1024.0).fract() != 0.0
}

/// When quotients by a scale of `Resize` are rounded where exact ones are integers or halves. The
/// scale of an axis whose size is given is the ratio of its sizes.
pub(super) fn rounded_scales(node: &mut NodeFacts<'_>) -> Option<When> {
    if by_scales(node).is_some() {
        let Some(scales) = node.constant(2) else { return Some(When::Data) };
        return scales.into_iter().any(|scale| is_rounded(nearest_f32(scale))).then_some(When::Data);
    }
    let dims = |fact: Option<&TensorFact>| fact?.dims.clone();
    let (Some(before), Some(after)) = (dims(node.input(0)), dims(node.output())) else {
        return Some(When::Data);
    };
    let mut found = None;
    for (&before, &after) in before.iter().zip(&*after) {
        let when = if let (Dim::Known(before), Dim::Known(after)) = (before, after) {
            misses(node, before, after).then_some(When::Always)
        } else {
            let mut multiply = |a, factor| node.symbols.multiply(a, Dim::Known(factor));
            let mut is_factor =
                |factor| multiply(before, factor) == Some(after) || multiply(after, factor) == Some(before);
            (![1, 2, 4, 8].into_iter().any(&mut is_factor)).then_some(When::Data)
        };
        found = either(found, when);
    }
    found
}

/// Returns true if quotients by the ratio of two sizes in float32 name other elements of an axis
/// than exact ones.
fn misses(node: &NodeFacts<'_>, before: i64, after: i64) -> bool {
    const MAX_SIZE: i64 = 1 << 16;
    let float = |size: i64| nearest_f32(Number::Int(size.into()));
    let scale = float(after) / float(before);
    let mode = node.attributes.text("coordinate_transformation_mode").ok().flatten();
    // A margin is added, which is the rest of the product of size and scale.
    if mode == Some("half_pixel_symmetric") || before.max(after) > MAX_SIZE {
        return is_rounded(scale);
    }
    if before == 0 || after == 0 || (mode == Some("pytorch_half_pixel") && after == 1) {
        return false;
    }
    let of_halves = mode != Some("asymmetric");
    // Halves that are added before the number is rounded up or down.
    let (shift, is_up) = match node.attributes.text("nearest_mode").ok().flatten() {
        Some("floor") => (0, false),
        Some("ceil") => (0, true),
        Some("round_prefer_ceil") => (1, false),
        _ => (-1, true),
    };
    (0..after).any(|at| {
        let quotient = if of_halves { (float(at) + 0.5) / scale - 0.5 } else { float(at) / scale };
        let rounded = quotient + 0.5 * float(shift);
        let rounded = if is_up { rounded.ceil() } else { rounded.floor() };
        let halves = if of_halves { (2 * at + 1) * before - after } else { 2 * at * before };
        let exact = halves + shift * after;
        let exact = if is_up { -(-exact).div_euclid(2 * after) } else { exact.div_euclid(2 * after) };
        rounded.clamp(0.0, float(before - 1)) != float(exact.clamp(0, before - 1))
    })
}

/// When an axis that `Resize` names from the end has another size, by one scale for all axes.
pub(super) fn ratio_of_axes_from_the_end(node: &NodeFacts<'_>) -> Option<When> {
    let stretches = node.attributes.text("keep_aspect_ratio_policy").ok()?.is_none_or(|it| it == "stretch");
    let from_the_end = node.attributes.ints("axes").ok()??.iter().any(|&axis| axis < 0);
    (!stretches && from_the_end && by_scales(node).is_none()).then(|| an_axis(node, |_, _| true)).flatten()
}

/// When `Resize` resizes a region to the sizes of the input.
pub(super) fn region_of_kept_sizes(node: &NodeFacts<'_>) -> Option<When> {
    let is = |bound: &[Number], wanted| bound.iter().all(|&bound| nearest_f32(bound) == wanted);
    let region = node.constant(1);
    if region.as_deref().is_some_and(|it| is(&it[..it.len() / 2], 0.0) && is(&it[it.len() / 2..], 1.0)) {
        return None;
    }
    match an_axis(node, |_, _| true) {
        None => Some(When::Always),
        Some(When::Always) => None,
        other => other,
    }
}

/// When the sizes of an axis before and after a node meet a condition.
fn an_axis(node: &NodeFacts<'_>, meets: impl Fn(i64, i64) -> bool) -> Option<When> {
    let dims = |fact: Option<&TensorFact>| fact?.dims.clone();
    let (Some(before), Some(after)) = (dims(node.input(0)), dims(node.output())) else {
        return Some(When::Data);
    };
    let mut found = None;
    for (&before, &after) in before.iter().zip(&*after).filter(|(before, after)| before != after) {
        match (before.known(), after.known()) {
            (Some(before), Some(after)) if meets(before, after) => return Some(When::Always),
            (Some(_), Some(_)) => {}
            _ => found = Some(When::Data),
        }
    }
    found
}

/// When an axis becomes smaller.
pub(super) fn becomes_smaller(node: &NodeFacts<'_>) -> Option<When> {
    an_axis(node, |before, after| after < before)
}

/// When an axis becomes one element.
pub(super) fn becomes_one(node: &NodeFacts<'_>) -> Option<When> {
    an_axis(node, |_, after| after == 1)
}

/// The extents of the windows of a transposed convolution, and the strides, if they are known.
fn transposed_windows(node: &NodeFacts<'_>) -> Option<Vec<(i64, i64)>> {
    let kernel: Vec<_> = match node.attributes.ints("kernel_shape").ok()? {
        Some(kernel) => kernel.to_vec(),
        None => {
            node.input(1)?.dims.as_ref()?.get(2..)?.iter().map(|dim| dim.known()).collect::<Option<_>>()?
        }
    };
    let list =
        |name| Some(node.attributes.ints(name).ok()?.map_or_else(|| vec![1; kernel.len()], <[i64]>::to_vec));
    let (strides, dilations) = (list("strides")?, list("dilations")?);
    let extent =
        |(&size, &dilation): (&i64, &i64)| size.checked_sub(1)?.checked_mul(dilation)?.checked_add(1);
    let extents = kernel.iter().zip(&dilations).map(extent).collect::<Option<Vec<_>>>()?;
    Some(extents.into_iter().zip(strides).collect())
}

/// Returns true if `auto_pad` asks for a size that follows from the stride, of dilated windows.
pub(super) fn is_dilated_to_same(node: &NodeFacts<'_>) -> bool {
    is_same(node) && is_dilated(node)
}

/// Returns true if windows that begin within the data are counted up, without padding.
pub(super) fn is_valid_rounded_up(node: &NodeFacts<'_>) -> bool {
    is_text(node, "auto_pad", "VALID") && node.attributes.flag("ceil_mode", false).unwrap_or(false)
}

/// Returns true if windows have gaps.
pub(super) fn is_dilated(node: &NodeFacts<'_>) -> bool {
    let dilations = node.attributes.ints("dilations").ok().flatten().unwrap_or(&[]);
    dilations.iter().any(|&dilation| dilation != 1)
}

/// When an image has more channels than there are samples.
pub(super) fn more_channels(node: &mut NodeFacts<'_>) -> Option<When> {
    let dims = node.input(0)?.dims.clone();
    let Some(&[samples, channels, ..]) = dims.as_deref() else { return Some(When::Data) };
    let Some(more) = node.symbols.add(samples, Dim::ONE) else { return Some(When::Data) };
    node.any(&[channels], |_, channels| [Condition::new(channels, Relation::AtLeast, more)])
}

/// Returns true if `auto_pad` asks for a size that follows from the stride.
pub(super) fn is_same(node: &NodeFacts<'_>) -> bool {
    is_text(node, "auto_pad", "SAME_UPPER") || is_text(node, "auto_pad", "SAME_LOWER")
}

/// Returns true if a pool returns indices, and a size of its data is not known.
pub(super) fn returns_indices_of_open(node: &NodeFacts<'_>) -> bool {
    let dims = node.input(0).and_then(|fact| fact.dims.as_ref());
    let is_open = dims.is_none_or(|dims| dims.iter().skip(2).any(|dim| dim.known().is_none()));
    is_open && node.node.outputs.get(1).is_some_and(Option::is_some)
}

/// When a transposed convolution whose size is stride times that of its input has windows and
/// strides that meet a condition.
pub(super) fn same_size(node: &NodeFacts<'_>, meets: impl Fn(i64, i64) -> bool) -> Option<When> {
    if !is_same(node) || node.attributes.ints("output_shape").ok()?.is_some() {
        return None;
    }
    match transposed_windows(node) {
        Some(windows) => {
            windows.iter().any(|&(extent, stride)| meets(extent, stride)).then_some(When::Always)
        }
        None => Some(When::Data),
    }
}

/// The size that a transposed convolution is given, where `auto_pad` asks for the same size or, if
/// not `same`, is not set.
pub(super) fn given_size<'a>(node: &NodeFacts<'a>, same: bool) -> Option<&'a [i64]> {
    let is_of_kind = if same { is_same(node) } else { !is_same(node) && !is_text(node, "auto_pad", "VALID") };
    node.attributes.ints("output_shape").ok()?.filter(|_| is_of_kind)
}

/// When the number of sums that a given size of a transposed convolution leaves out along an axis
/// meets a condition.
pub(super) fn left_out(node: &NodeFacts<'_>, same: bool, meets: impl Fn(i64) -> bool) -> Option<When> {
    let given = given_size(node, same)?;
    let (Some(dims), Some(windows)) = (node.input(0)?.dims.clone(), transposed_windows(node)) else {
        return Some(When::Data);
    };
    // The shape may name the batch and the channels too.
    let given = &given[given.len().saturating_sub(windows.len())..];
    let padding = node.attributes.ints("output_padding").ok()?.unwrap_or(&[]);
    let mut found = None;
    for (axis, (&(extent, stride), &size)) in windows.iter().zip(given).enumerate() {
        let Some(before) = dims.get(axis + 2).and_then(|dim| dim.known()) else {
            found = Some(When::Data);
            continue;
        };
        let more = padding.get(axis).copied().unwrap_or(0);
        let sums = before.checked_sub(1)?.checked_mul(stride)?.checked_add(extent)?.checked_add(more)?;
        if meets(sums.checked_sub(size)?) {
            return Some(When::Always);
        }
    }
    found
}

/// The number of labels of a classifier.
pub(super) fn classes(node: &NodeFacts<'_>) -> Option<usize> {
    let ints = ["classlabels_ints", "classlabels_int64s"];
    let ints = ints.iter().find_map(|name| node.attributes.ints(name).ok().flatten()).map(<[i64]>::len);
    let texts = node.attributes.strings("classlabels_strings").ok()?.map(Strings::len);
    Some(ints.or(texts).unwrap_or(0))
}

/// The number of scores that the coefficients of a linear classifier give.
pub(super) fn scores(node: &NodeFacts<'_>) -> Option<usize> {
    let coefficients = node.attributes.floats("coefficients").ok()??.len();
    let features = node.input(0)?.dims.as_deref()?.last()?.known()?;
    coefficients.checked_div(usize_of_i64(features)?)
}

/// Returns true if scores are returned as they are.
pub(super) fn is_plain(node: &NodeFacts<'_>) -> bool {
    matches!(node.attributes.text("post_transform"), Ok(None | Some("NONE")))
}

/// Returns true if scores are transformed by a function that ONNX Runtime does not apply to one
/// score.
pub(super) fn is_ignored_transform(node: &NodeFacts<'_>) -> bool {
    !is_plain(node) && !is_text(node, "post_transform", "PROBIT")
}

/// When bytes are multiplied by weights whose products may not fit 16 bits in pairs.
pub(super) fn wide_weights(node: &mut NodeFacts<'_>, weights: usize) -> Option<When> {
    let are_bytes = node.is(0, &[DType::U8]) && node.is(weights, &[DType::I8]);
    let found = are_bytes.then(|| node.outside(weights, (-64, 64))).flatten()?;
    Some(if found == When::Always { When::Data } else { found })
}
