//! Shapes of operators that compute each element on its own, and what they make of symbolic
//! elements.
//!
//! | rule | operators |
//! |---|---|
//! | as the first input | functions of one tensor, normalisations, activations |
//! | broadcast | functions of two or more tensors, since version 7; before, as the first input |
//! | integers | `Add`, `Sub`, `Mul`, `Div`, `Mod`, `Min`, `Max`, `Pow`, comparisons, logic, `Where`, `Neg`, `Abs`, `Sign`, `Clip`, `Cast` are computed on symbols |
//! | fractions | `Cast` to a float, `Add`, `Sub`, `Mul`, `Div`, `Floor`, `Ceil`, `Cast` back: exactly, as long as the numbers fit the float's precision, which is an assumption where it is not known |

use std::sync::Arc;

use gradus_core::convert::counted;
use gradus_core::{DType, Error, Kind, convert};

use crate::attributes::Attributes;
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::elementwise::extremes::{extremes, extremes_of_type};
use crate::elementwise::symbolic::{combined, compare, condition_of, exact, fractions, progression};
use crate::fact::{Dims, Elements, Extremes, Fact, Fraction, TensorFact, known_shape};
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalization::infer::scaled;
use crate::normalize::Older;
use crate::operation::Operation;
use crate::{errors, indices};

/// The output has the shape of the first input.
pub fn same(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// The output has the type and shape of the first input.
pub fn alike(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.dtype(0), cx.dims(0)?)])
}

/// The first input, which has the axis; with the sums of integers along it, where other axes
/// have one index.
pub fn cumulative(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let mut axes = vec![0];
    if cx.has(1) {
        cx.one_element(1)?;
        let known = cx.known_integers(1);
        if known.is_none() {
            cx.require_axes(1, dims.len());
        }
        axes = known.map_or(Ok(Vec::new()), |known| indices::axes(&known, dims.len()))?;
    }
    let is_line = |axis: usize| (0..dims.len()).all(|at| at == axis || dims[at] == Dim::ONE);
    let ends = [cx.attributes.flag("exclusive", false)?, cx.attributes.flag("reverse", false)?];
    let along = axes.first().copied().filter(|&axis| axis < dims.len() && is_line(axis));
    let is_sum = cx.operator == "CumSum" && cx.dtype(0) == Some(DType::I64);
    let sums = along.filter(|_| is_sum).and_then(|axis| running_sums(cx, dims[axis], ends));
    let elements = sums.unwrap_or_default();
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims), elements })])
}

/// The sums of the first elements of a line of integers: without the last of them if they are
/// exclusive, from the end on if reversed. Those of a progression are its smallest and largest sum.
fn running_sums(
    cx: &mut InferContext<'_, '_>,
    count: Dim,
    [exclusive, reverse]: [bool; 2],
) -> Option<Elements> {
    let Elements::Progression(both) = cx.elements(0) else {
        let mut sums = cx.integers(0)?.to_vec();
        if reverse {
            sums.reverse();
        }
        let mut total = Dim::ZERO;
        for element in &mut sums {
            let before = total;
            total = cx.symbols().add(total, *element)?;
            *element = if exclusive { before } else { total };
        }
        if reverse {
            sums.reverse();
        }
        return Some(Elements::Integers(sums.into()));
    };
    let (first, step) = *both;
    let symbols = cx.symbols();
    let rest = symbols.subtract(count, Dim::ONE)?;
    let summed = if exclusive { rest } else { count };
    if step == Dim::ZERO {
        let start = if exclusive { Dim::ZERO } else { first };
        let both =
            if reverse { (symbols.multiply(first, summed)?, symbols.negate(first)?) } else { (start, first) };
        return Some(Elements::Progression(Arc::new(both)));
    }
    // Sums of numbers from zero on do not fall.
    let steps = symbols.multiply(step, rest)?;
    let last = symbols.add(first, steps)?;
    let is_of_sizes = [first, step, count].iter().all(|&dim| symbols.rank(dim).0 <= 1);
    if !is_of_sizes || ![first, step].iter().all(|&dim| symbols.at_least(dim, 0)) {
        return None;
    }
    let total = symbols.series(first, step, count)?;
    let (begin, end) = if reverse { (last, first) } else { (first, last) };
    let (min, max) = if exclusive { (Dim::ZERO, symbols.subtract(total, end)?) } else { (begin, total) };
    Some(Extremes { min, max, attained: [true; 2] }.elements())
}

/// The output has the type and shape of the first input, for operators of ONNX Runtime.
pub fn microsoft_same(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut dims = cx.dims(0)?;
    if matches!(cx.operator, "BiasGelu" | "FastGelu") {
        cx.broadcasts_to(1, &dims)?;
    }
    // The bias and the gate are halves of one axis.
    if cx.operator == "BiasSplitGelu"
        && let [rest @ .., last] = &*dims
    {
        let half = cx.floor_divide(*last, Dim::Known(2));
        dims = rest.iter().copied().chain([half]).collect();
    }
    if cx.operator == "Rfft" {
        return Err(InferError::unknown("shape inference does not support the operator"));
    }
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// The dimensions that all inputs from one on broadcast to; those of the first where the
/// attribute `broadcast` says how the second is brought to its shape.
pub fn broadcast_inputs(cx: &mut InferContext<'_, '_>, first: usize) -> Result<Vec<Dim>, InferError> {
    // OpenVINO says it by node.
    if matches!(cx.attributes.text("auto_broadcast")?, Some("none" | "pdpd")) {
        return Ok(cx.dims(first)?.to_vec());
    }
    if let Some(broadcast) = cx.attributes.int("broadcast")? {
        return onto_first(cx, first, broadcast != 0);
    }
    let all = (first..cx.count()).map(|input| cx.dims(input)).collect::<Result<Vec<_>, _>>()?;
    cx.broadcast(&all)
}

/// The dimensions of the first operand, as whose axes the older form of an operator sees those of
/// the others: all of them or, where it broadcasts, some that follow one another.
fn onto_first(cx: &mut InferContext<'_, '_>, first: usize, broadcast: bool) -> Result<Vec<Dim>, InferError> {
    let dims = cx.dims(first)?.to_vec();
    for input in first + 1..cx.count() {
        let Some(own) = cx.known_dims(input) else { continue };
        let last = dims.len().checked_sub(own.len());
        let start = match cx.attributes.int("axis")?.filter(|_| broadcast) {
            Some(axis) => counted(axis, dims.len()),
            None => last,
        };
        let fits =
            |start: &usize| last.is_some_and(|last| if broadcast { *start <= last } else { last == 0 });
        let onto = start.filter(fits).map(|start| dims[start..start + own.len()].to_vec());
        let onto = onto.ok_or_else(|| {
            let wanted = format_args!("one for {} axes", dims.len());
            errors::rank(cx.input_label(input), own.len(), wanted).into()
        });
        if broadcast {
            // One element is broadcast whatever its rank is.
            cx.one_element_or(input, onto)?;
        } else {
            cx.same_shape(input, &onto?)?;
        }
    }
    Ok(dims)
}

/// Shape of binary operators on quantized tensors (`QLinearAdd`): both tensors broadcast.
pub fn qlinear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let all = [cx.dims(0)?, cx.dims(3)?];
    let dims = cx.broadcast(&all)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// Shape of `BitCast`: the input's, in a type of as many bits.
pub fn bit_cast(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("to")?;
    if let (Some(from), Some(to)) = (cx.dtype(0), to)
        && from.bits() != to.bits()
    {
        let wanted = format_args!("a type of {} bits", from.bits());
        return Err(Error::mismatch(Kind::Type, "attribute \"to\"", to, wanted).into());
    }
    Ok(vec![Fact::tensor(to, cx.dims(0)?)])
}

/// The elements of integers made from those of one input.
fn mapped(
    cx: &mut InferContext<'_, '_>,
    of: &mut dyn FnMut(&mut InferContext<'_, '_>, Dim) -> Option<Dim>,
) -> Option<Elements> {
    let all = cx.integers(0)?;
    let results = all.iter().map(|&dim| of(cx, dim)).collect::<Option<Vec<_>>>()?;
    Some(Elements::Integers(results.into()))
}

/// How a function of one number orders its results.
#[derive(Clone, Copy)]
enum Order {
    /// Results of larger numbers are no smaller.
    Kept,
    /// Results of larger numbers are no larger.
    Reversed,
    /// Results of numbers further from zero are no smaller, and that of zero is zero.
    FromZero,
}

/// Integers made of those of the input one by one, as far as they fit its type.
fn each(
    cx: &mut InferContext<'_, '_>,
    order: Order,
    of: impl Fn(&mut Symbols, Dim) -> Option<Dim>,
) -> InferResult {
    let dims = cx.dims(0)?;
    let integers = |dtype: &DType| dtype.is_integer() || *dtype == DType::Bool;
    let elements = cx.dtype(0).filter(integers).and_then(|dtype| {
        mapped(cx, &mut |cx, dim| {
            let result = of(cx.symbols(), dim)?;
            cx.fits(result, dtype).then_some(result)
        })
        .or_else(|| {
            let own = cx.extremes(0)?;
            let [min, max] = [own.min, own.max].map(|end| of(cx.symbols(), end));
            let (min, max, [of_min, of_max]) = (min?, max?, own.attained);
            let (min, max, attained) = match order {
                Order::Kept => (min, max, own.attained),
                Order::Reversed => (max, min, [of_max, of_min]),
                Order::FromZero => {
                    let below = cx.symbols().negate(own.min)?;
                    (Dim::ZERO, cx.symbols().max(below, own.max)?, [false, of_min && of_max])
                }
            };
            extremes_of_type(cx, Extremes { min, max, attained }, dtype)
        })
    });
    Ok(vec![Fact::Tensor(TensorFact {
        dtype: None,
        dims: Some(dims),
        elements: elements.unwrap_or_default(),
    })])
}

/// Shape of `Neg`: the input's, with negated elements.
pub fn neg(cx: &mut InferContext<'_, '_>) -> InferResult {
    each(cx, Order::Reversed, Symbols::negate)
}

/// Shape of `Not`: the input's, with `1 - x` for each truth value; of numbers, elements are left
/// to runs.
pub fn not(cx: &mut InferContext<'_, '_>) -> InferResult {
    if cx.dtype(0).is_none_or(|dtype| dtype == DType::Bool) {
        return each(cx, Order::Reversed, |symbols, dim| symbols.subtract(Dim::ONE, dim));
    }
    // OpenVINO takes numbers too, and tells zeros from others.
    let dims = cx.dims(0)?;
    Ok(vec![Fact::Tensor(TensorFact::new(cx.dtype(0), Some(dims)))])
}

/// Shape of `Relu`: the input's, with elements of at least 0.
pub fn relu(cx: &mut InferContext<'_, '_>) -> InferResult {
    each(cx, Order::Kept, |symbols, dim| symbols.max(dim, Dim::ZERO))
}

/// Shape of `Abs`: the input's, with absolute elements.
pub fn abs(cx: &mut InferContext<'_, '_>) -> InferResult {
    let is_natural = cx.extremes(0).is_some_and(|own| cx.symbols().at_least(own.min, 0));
    let order = if is_natural { Order::Kept } else { Order::FromZero };
    each(cx, order, move |symbols, dim| {
        if is_natural {
            return Some(dim);
        }
        let opposite = symbols.negate(dim)?;
        symbols.max(dim, opposite)
    })
}

/// Shape of `Sign`: the input's, with elements clipped to -1, 0 and 1.
pub fn sign(cx: &mut InferContext<'_, '_>) -> InferResult {
    each(cx, Order::Kept, |symbols, dim| {
        let positive = symbols.min(dim, Dim::ONE)?;
        symbols.max(positive, Dim::Known(-1))
    })
}

/// Shape of `Clip`: the input's, with clipped elements.
pub fn clip(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.one_element(1)?;
    cx.one_element(2)?;
    let [low, high] = [1, 2].map(|input| cx.has(input).then(|| cx.integer(input)));
    each(cx, Order::Kept, |symbols, dim| {
        // A bound that is given but not known leaves nothing known.
        let raised = match low {
            Some(low) => symbols.max(dim, low?)?,
            None => dim,
        };
        match high {
            Some(high) => symbols.min(raised, high?),
            None => Some(raised),
        }
    })
}

/// Shape of `Ceil` and `Floor`: the input's, with rounded fractions.
pub fn rounding(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let up = cx.operator == "Ceil";
    let mut elements = Elements::Unknown;
    if let Elements::Fractions(all) = cx.elements(0) {
        let whole = all.iter().map(|fraction| {
            let Fraction { over, under, .. } = *fraction;
            let symbols = cx.symbols();
            let rounded = if up {
                symbols.ceil_divide(over, Dim::Known(under))
            } else {
                symbols.floor_divide(over, Dim::Known(under))
            };
            rounded.map(Fraction::whole)
        });
        elements = whole
            .collect::<Option<Vec<_>>>()
            .map_or(Elements::Unknown, |all| Elements::Fractions(all.into()));
    }
    Ok(vec![Fact::Tensor(TensorFact { dtype: None, dims: Some(dims), elements })])
}

/// Shape of a cast to a type: the input's, with its elements where the cast keeps them.
pub fn cast(cx: &mut InferContext<'_, '_>, to: Option<DType>) -> InferResult {
    let dims = cx.known_dims(0);
    if dims.is_none() {
        return match to {
            Some(to) => Ok(vec![Fact::tensor_type(Some(to))]),
            None => Err(InferError::input(0, "has unknown rank")),
        };
    }
    let from = cx.dtype(0);
    if to.is_some() && from == to {
        return Ok(vec![cx.read_fact(0)]);
    }
    let mut elements = Elements::Unknown;
    // A constant is cast to the type of what is not one.
    if cx.has(1)
        && let (Some(to), Some(constant)) = (to, cx.constant(0))
        && (to.is_integer() || (matches!(to, DType::F32 | DType::F64) && constant.dtype().is_integer()))
    {
        let cast = convert::cast(&constant, to, convert::Rules::SATURATING)?;
        return Ok(vec![Fact::Tensor(TensorFact::of(cast))]);
    }
    if let (Some(to), Some(from)) = (to, from) {
        let whole = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
        elements = match cx.elements(0) {
            Elements::Integers(all) if to.is_float() => {
                let each = all.iter().map(|&dim| Fraction::whole(dim));
                let each = each.map(|fraction| exact(cx, fraction, to).then_some(fraction));
                let each = each.collect::<Option<Vec<_>>>();
                // Tensors whose elements are all known are evaluated.
                let symbolic = all.iter().any(|dim| dim.known().is_none());
                each.filter(|_| symbolic).map_or(Elements::Unknown, |all| Elements::Fractions(all.into()))
            }
            Elements::Integers(all) if to == DType::Bool => {
                let truth = all.iter().map(|&dim| {
                    compare(cx, Operation::Equal, dim, Dim::ZERO).map(|zero| Dim::Known(1 - zero))
                });
                truth
                    .collect::<Option<Vec<_>>>()
                    .map_or(Elements::Unknown, |all| Elements::Integers(all.into()))
            }
            Elements::Integers(all) if whole(to) && all.iter().all(|&dim| cx.fits(dim, to)) => {
                Elements::Integers(all)
            }
            Elements::Progression(both)
                if whole(from) && to.is_integer() && (to == DType::I64 || from == to) =>
            {
                Elements::Progression(both)
            }
            Elements::Fractions(all) if to.is_integer() => {
                let each = all.iter().map(|fraction| {
                    let whole = cx.symbols().truncated_divide(fraction.over, Dim::Known(fraction.under))?;
                    cx.fits(whole, to).then_some(whole)
                });
                each.collect::<Option<Vec<_>>>()
                    .map_or(Elements::Unknown, |all| Elements::Integers(all.into()))
            }
            Elements::Fractions(all)
                if to.is_float()
                    && all.iter().all(|fraction| !fraction.rounded && exact(cx, *fraction, to)) =>
            {
                Elements::Fractions(all)
            }
            _ => {
                let own = if from.is_float() { cx.truncated_range(0) } else { cx.extremes(0) };
                let own = own.filter(|_| to.is_integer());
                let all = own.and_then(|own| extremes_of_type(cx, own, to));
                // Where the type holds all, each column is as it was.
                match cx.elements(0) {
                    columns @ Elements::Extremes(_) if all.is_some() => columns,
                    _ => all.unwrap_or_default(),
                }
            }
        };
    }
    Ok(vec![Fact::Tensor(TensorFact { dtype: to, dims, elements })])
}

/// The elements of inputs of integers, brought to the shape of the result.
fn aligned(cx: &mut InferContext<'_, '_>, inputs: &[usize], result: &[Dim]) -> Option<Vec<Vec<Dim>>> {
    let result = known_shape(result).filter(|shape| shape.len() <= crate::fact::MAX_INTEGERS)?;
    let each = inputs.iter().map(|&input| {
        let all = cx.integers(input)?;
        let shape = cx.tensor(input)?.shape()?;
        Some(indices::broadcast(shape.dims(), result.dims()).into_iter().map(|place| all[place]).collect())
    });
    each.collect()
}

/// The operation that the row names.
pub fn binary(cx: &mut InferContext<'_, '_>) -> InferResult {
    let operation = cx.row.and_then(|row| row.operation);
    binary_of(
        cx,
        operation.ok_or_else(|| InferError::unknown("shape inference does not support the operator"))?,
    )
}

/// Checks that the version of a `Mod` has the remainders of such elements.
pub fn remainder_of(attributes: &Attributes<'_>, dtype: DType) -> Result<(), Error> {
    if dtype.is_float() && attributes.form().is(Older::TruncatedFloats) && !attributes.flag("fmod", false)? {
        return Err(errors::float_remainder());
    }
    Ok(())
}

/// Shape of `Mod`: both inputs broadcast, with remainders of the elements.
pub fn modulo(cx: &mut InferContext<'_, '_>) -> InferResult {
    let truncates = cx.attributes.flag("fmod", false)?;
    if let Some(dtype) = cx.dtype(0) {
        remainder_of(&cx.attributes, dtype)?;
    }
    binary_of(cx, if truncates { Operation::Fmod } else { Operation::Mod })
}

/// Shape of an operation on two elements: both inputs broadcast, with the elements it computes.
pub fn binary_of(cx: &mut InferContext<'_, '_>, operation: Operation) -> InferResult {
    if let (Some(a), Some(b)) = (cx.dtype(0), cx.dtype(1)) {
        operation.check_types(a, b)?;
    }
    let dims: Dims = broadcast_inputs(cx, 0)?.into();
    if matches!(operation, Operation::Div | Operation::FloorDiv | Operation::Mod | Operation::Fmod) {
        require_divisors(cx, &dims);
    }
    let elements = binary_elements(cx, operation, &dims).unwrap_or_default();
    let dtype = match elements {
        Elements::Unknown => None,
        _ if operation.gives_truth() => Some(DType::Bool),
        _ => cx.dtype(0),
    };
    Ok(vec![Fact::Tensor(TensorFact { dtype, dims: Some(dims), elements })])
}

/// Requires that integers that sizes or inputs decide are not divided by 0, if results of these
/// dimensions have elements.
fn require_divisors(cx: &mut InferContext<'_, '_>, dims: &[Dim]) {
    let open: Vec<_> = dims.iter().copied().filter(|&dim| !cx.symbols().at_least(dim, 1)).collect();
    if !cx.dtype(0).is_some_and(DType::is_integer) || !open.iter().all(|&dim| cx.is_told(dim)) {
        return;
    }
    let divisors = cx.integers(1).unwrap_or_else(|| match cx.extremes(1) {
        Some(all) if all.attained[0] && cx.symbols().at_least(all.min, 0) => [all.min].into(),
        _ => [].into(),
    });
    let guards: Vec<_> =
        open.into_iter().map(|dim| Condition::new(dim, Relation::AtLeast, Dim::ONE)).collect();
    if divisors.is_empty() && cx.is_of_model(1) {
        cx.require_of_values("divisors are not 0".to_owned());
    }
    cx.guarded(&guards, |cx| divisors.iter().for_each(|&divisor| cx.require_not_zero(divisor)));
}

fn binary_elements(cx: &mut InferContext<'_, '_>, operation: Operation, dims: &[Dim]) -> Option<Elements> {
    let dtype = cx.dtype(0)?;
    if cx.attributes.get("broadcast").is_some() {
        return None;
    }
    if dtype.is_float() {
        return fractions(cx, operation, dtype, dims);
    }
    if let Some(progression) = progression(cx, operation, dtype) {
        return Some(progression);
    }
    let inputs: Vec<_> = (0..cx.count()).collect();
    let Some(all) = aligned(cx, &inputs, dims) else { return extremes(cx, operation, dtype) };
    let count = all.first()?.len();
    let logical = operation.gives_truth();
    let mut results = Vec::with_capacity(count);
    for i in 0..count {
        let mut result = Some(all[0][i]);
        for operand in &all[1..] {
            result = result.and_then(|result| combined(cx, operation, result, operand[i]));
        }
        let known = all.iter().all(|operand| operand[i].known().is_some());
        let result = match result {
            Some(result) if logical || cx.fits(result, dtype) => result,
            // Known elements are evaluated, with the wrap of their type.
            _ if known => return None,
            _ if logical => {
                let truth = cx.data("a comparison of dimensions", Bounds::between(Some(0), Some(1)));
                if let [a, b] = &all[..]
                    && let Some(condition) = condition_of(cx, operation, a[i], b[i])
                {
                    cx.symbols().note_truth(truth, condition);
                }
                truth
            }
            _ => cx.data("an element that has no canonical form", Bounds::ANY),
        };
        results.push(result);
    }
    Some(Elements::Integers(results.into()))
}

/// Shape of `Where`: all inputs broadcast, with chosen elements.
pub fn select(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims: Dims = broadcast_inputs(cx, 0)?.into();
    let dtype = cx.dtype(1);
    let elements = aligned(cx, &[0, 1, 2], &dims).map(|all| {
        let each = (0..all[0].len()).map(|i| {
            let what = "an element that a condition decides";
            cx.chosen(Some(all[0][i]), [all[1][i], all[2][i]], what)
        });
        Elements::Integers(each.collect())
    });
    let elements = elements.or_else(|| {
        if let Elements::Progression(both) = cx.elements(0)
            && let (Dim::Known(condition), Dim::ZERO) = *both
        {
            return Some(cx.moved(if condition == 0 { 2 } else { 1 }, true));
        }
        let (yes, no) = (narrowed(cx, 1)?, narrowed(cx, 2)?);
        Some(yes.joined(no, cx.symbols())?.of_some().elements())
    });
    Ok(vec![Fact::Tensor(TensorFact { dtype, dims: Some(dims), elements: elements.unwrap_or_default() })])
}

/// The range of the elements that a `Where` takes from an input, where the condition compares them
/// with one number.
fn narrowed(cx: &mut InferContext<'_, '_>, input: usize) -> Option<Extremes> {
    let own = cx.extremes(input)?;
    let Some((operation, most)) = cx.compared_with(0, input) else { return Some(own) };
    let symbols = cx.symbols();
    // The opposite of a condition that does not hold.
    let (is_below, by) = match (operation, input) {
        (Operation::Less, 1) | (Operation::GreaterOrEqual, 2) => (true, -1),
        (Operation::LessOrEqual, 1) | (Operation::Greater, 2) => (true, 0),
        (Operation::Greater, 1) | (Operation::LessOrEqual, 2) => (false, 1),
        (Operation::GreaterOrEqual, 1) | (Operation::Less, 2) => (false, 0),
        _ => return Some(own),
    };
    let end = symbols.add(most, Dim::Known(by))?;
    Some(if is_below {
        Extremes { max: symbols.min(own.max, end)?, ..own }
    } else {
        Extremes { min: symbols.max(own.min, end)?, ..own }
    })
}

/// Shape of `Trilu`: the input's, which has at least two axes.
pub fn trilu(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.one_element(1)?;
    match cx.dims(0)?.len() {
        rank @ 0..2 => Err(errors::rank(cx.input_label(0), rank, "at least 2").into()),
        _ => same(cx),
    }
}

/// Shape of `Cast`: the input's, in the type that an attribute names.
pub fn cast_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("to")?;
    cast(cx, to)
}

/// Shape of `CastLike`: the input's, in the type of the second.
pub fn cast_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.dtype(1);
    cast(cx, to)
}

/// The output has the shape of both inputs together, and the type of the first.
pub fn together(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.dtype(0), broadcast_inputs(cx, 0)?)])
}

/// Shape of all inputs, broadcast.
pub fn broadcast(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::shaped(broadcast_inputs(cx, 0)?)])
}

/// Shape of `QLinearWhere`: condition and both tensors broadcast.
pub fn q_linear_where(cx: &mut InferContext<'_, '_>) -> InferResult {
    let all = [cx.dims(0)?, cx.dims(1)?, cx.dims(4)?];
    let dims = cx.broadcast(&all)?;
    Ok(vec![Fact::tensor(cx.dtype(1), dims)])
}

/// `PRelu`, whose older versions have a slope for each channel.
pub fn p_relu(cx: &mut InferContext<'_, '_>) -> InferResult {
    if !cx.attributes.form().is(Older::ByChannel) {
        return scaled(cx);
    }
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    cx.dims_of_known_rank(1, 1)?;
    cx.one_element_or(1, Ok(vec![channels]))?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `SwiGLU`: the first input's, which the second must have too.
pub fn swiglu(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    cx.same_shape(1, &dims)?;
    Ok(vec![Fact::shaped(dims)])
}
