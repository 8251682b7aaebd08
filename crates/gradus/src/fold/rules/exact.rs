//! Rules that leave every bit of the results.

use gradus_core::convert::{Rules, nearest_f64};
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Number, Shape, Tensor};

use super::super::dialect::{Role, bounds};
use super::super::negative_zero::is_never_negative_zero;
use super::super::write::list;
use super::node_view::NodeView;
use super::{Change, Replacement, Source, looked};
use crate::dim::Symbols;
use crate::fact::range_of;
use crate::normalize::Older;
use crate::operators::{self, Rounding};

type View<'a, 'm> = NodeView<'a, 'm>;

rules! { RULES:
    Shapes "identity" |of| of.role == Role::Copy => identity, "Identity(x) -> x";
    Shapes "same-cast" |of| of.role == Role::Cast => same_cast, "Cast(x) to the type of x -> x";
    Exact "lossless-casts" |of| of.role == Role::Cast => casts,
        "Cast(Cast(x)), the first of which loses nothing -> Cast(x), or x";
    Shapes "whole-slice"
        |of| matches!(of.role, Role::Expand | Role::Slice | Role::Split | Role::Tile) || of.is("Slice")
        => whole, "Slice, Expand, Tile, Split that leave the shape -> x";
    Exact "single-join" looked::joins => single, "Concat, Sum, Mean, Max, Min of one input -> x";
    Exact "zero-pad" |of| of.role == Role::Pad => pad, "Pad by zero -> x";
    Exact "same-transpose" looked::transposes => transpose, "Transpose that keeps the order of axes -> x";
    Exact "transposes" looked::transposes => transposes, "Transpose(Transpose(x)) -> Transpose(x), or x";
    Exact "transposes-around" |of| of.is("Transpose") => transposes_around,
        "Transpose(f(Transpose(x))) that keep the order together, f one of Abs, Neg, Relu, Sqrt, … -> f(x)";
    Exact "dropout" |of| of.is("Dropout") => dropout, "Dropout(x) in inference -> x";
    Exact "neutral-operand" |of| of.computes(&["Add", "And", "Div", "Mul", "Or", "Pow", "Sub", "Xor"])
        => neutral, "x * 1, x / 1, x - 0, x + -0, x ** 1, And true, Or false -> x";
    Exact "double-inverse" |of| of.computes(&["Mul", "Neg", "Not"]) => inverse,
        "Not(Not(x)), Neg(Neg(x)), x * -1 * -1 -> x";
    Exact "repeated" |of| operators::row(Standard::Onnx, "", of.function).is_some_and(|row| row.idempotent)
        => repeated, "Relu(Relu(x)); Abs, Ceil, Floor, Round, Sign -> the first";
    Exact "open-clip" |of| of.is("Clip") => open_clip, "Clip of integers without bounds -> x";
    Exact "known-where" |of| of.computes(&["Where"]) => choice,
        "Where of a condition that is all true or all false -> x";
    Exact "filled-operand" |of| of.is_one(&["Add", "Mul", "Neg", "Sub"]) => filled,
        "Add, Sub, Mul of ConstantOfShape and a constant of one element, Neg -> ConstantOfShape (ONNX)";
    Exact "negated-where" |of| of.computes(&["Where"]) => negated_choice,
        "Where(Not(c), a, b) -> Where(c, b, a)";
    Exact "empty-loop" |of| of.is("Loop") => no_loop,
        "Loop of no iteration, without concatenated outputs -> its initial values";
    Exact "default-inputs" |of| of.is_one(&["GRU", "LSTM", "RNN", "Slice"]) => defaults,
        "optional inputs that are the default: zero states, steps of 1 -> none";
}

fn identity(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    view.becomes(0)
}

fn same_cast(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if view.has_type_of(0) { view.becomes(0) } else { None }
}

fn casts(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.producer(0).filter(|first| first.role() == Role::Cast)?;
    let (from, between) = (view.dtype_of(first.value(0)?)?, view.dtype_of(first.output()?)?);
    // OpenVINO keeps weights narrow by such pairs.
    if view.standard() == Standard::OpenVino || from == between || !between.holds(from) {
        return None;
    }
    if Some(from) == view.output().and_then(|id| view.dtype_of(id)) {
        return first.becomes(0);
    }
    Some(Change::Inputs(vec![(0, first.input(0))]))
}

fn whole(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let role = if view.operator() == "Slice" { Role::Slice } else { view.role() };
    let is_whole = match role {
        Role::Slice => {
            let by_one = |input| view.is_number(input, 1) || matches!(view.input(input), Source::Missing);
            bounds(view.standard(), view.node).is_some_and(|bounds| by_one(bounds.steps))
        }
        Role::Split => view.node.outputs.len() == 1,
        Role::Expand | Role::Tile => true,
        _ => false,
    };
    if is_whole && view.is_like(0) { view.becomes(0) } else { None }
}

fn single(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if view.input_count() == 1 && view.has_type_of(0) { view.becomes(0) } else { None }
}

fn pad(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if !view.is_like(0) {
        return None;
    }
    if view.is_number(1, 0) && (view.standard() != Standard::OpenVino || view.is_number(2, 0)) {
        view.becomes(0)
    } else {
        None
    }
}

/// The order in which a Transpose takes the axes.
pub(in crate::fold) fn order(view: &View<'_, '_>) -> Option<Vec<i64>> {
    if view.role() != Role::Transpose && view.operator() != "Transpose" {
        return None;
    }
    if let Some(perm) = view.ints("perm").ok()? {
        return Some(perm.to_vec());
    }
    let given = view.constant(1).and_then(|order| order.to_i64().ok()).filter(|order| !order.is_empty());
    given.or_else(|| {
        let rank = i64::try_from(view.dims(0)?.len()).ok()?;
        (view.value(1).is_none() || view.constant(1).is_some()).then(|| (0..rank).rev().collect())
    })
}

fn in_order(order: &[i64]) -> bool {
    order.iter().zip(0..).all(|(&axis, i)| axis == i)
}

fn transpose(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let nothing = order(view).is_some_and(|order| in_order(&order)) && view.has_type_of(0);
    if nothing { view.becomes(0) } else { None }
}

fn transposes(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let (second, first) = (order(view)?, view.producer(0)?);
    let before = order(&first)?;
    let axis = |&axis: &i64| before.get(usize::try_from(axis).ok()?).copied();
    let both: Vec<i64> = second.iter().map(axis).collect::<Option<_>>()?;
    if in_order(&both) {
        return first.becomes(0);
    }
    if view.standard() == Standard::OpenVino {
        let order = list(view.dtype_of(view.value(1)?)?, &both)?;
        return Some(Change::Inputs(vec![(0, first.input(0)), (1, Source::Tensor(order))]));
    }
    let (inputs, attributes) = (vec![first.input(0)], vec![("perm", Content::Ints(both.into()))]);
    Some(Change::Node(Replacement::new("Transpose", inputs, attributes)))
}

/// Returns true if a function of such a rounding is rounded alike wherever the element lies.
pub(in crate::fold) fn is_rounded_alike(rounding: Rounding) -> bool {
    rounding.is_exact() || rounding == Rounding::Chosen
}

/// Returns true if vectors may round a function of such a rounding differently from the remaining
/// elements.
pub(in crate::fold) fn is_approximated(rounding: Rounding) -> bool {
    rounding == Rounding::Formula
}

/// A function of each element between two Transposes that keep the order together, without these.
fn around(view: &View<'_, '_>, is: fn(Rounding) -> bool) -> Option<Change> {
    let node = view.only_producer(0)?;
    let operator = node.plain_function(is)?;
    let first = node.only_producer(0).filter(|first| first.operator() == "Transpose")?;
    let (second, before) = (order(view)?, order(&first)?);
    let both = second.iter().map(|&axis| before.get(usize::try_from(axis).ok()?).copied());
    let inputs = vec![first.input(0)];
    let change = Change::Node(Replacement::new(operator, inputs, Vec::new()));
    in_order(&both.collect::<Option<Vec<_>>>()?).then_some(change)
}

fn transposes_around(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    around(view, is_rounded_alike)
}

/// Removes a pair of `Transpose` around a function of elements whose rounding the standard does not
/// fix.
pub(super) fn transposes_around_functions(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    around(view, is_approximated)
}

fn dropout(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let training = view.form().is(Older::Training)
        || match view.input(2) {
            Source::Missing => false,
            _ => !view.is_number(2, 0),
        };
    if training { None } else { view.becomes(0) }
}

fn neutral(view: &View<'_, '_>, symbols: &mut Symbols) -> Option<Change> {
    let mut is_neutral = |operand: usize, other: usize| match view.function() {
        "Mul" | "And" => view.is_number(operand, 1),
        "Div" | "Pow" => operand == 1 && view.is_number(1, 1),
        "Sub" => operand == 1 && view.is_number(1, 0),
        "Or" | "Xor" => view.is_number(operand, 0),
        "Add" => {
            view.is_all(operand, Number::Float(-0.0))
                || view.is_all(operand, Number::Int(0))
                // Adding 0 keeps all numbers but -0.
                || (view.is_number(operand, 0) && is_never_negative_zero(view, other, symbols))
        }
        _ => false,
    };
    let kept = [(1, 0), (0, 1)].into_iter().find(|&(operand, other)| {
        view.input_count() == 2
            && is_neutral(operand, other)
            && view.is_like(other)
            && view.has_newest_meaning()
    });
    kept.and_then(|(_, other)| view.becomes(other))
}

/// The other input of a sum with zero that has the type and shape of the sum.
pub(in crate::fold) fn zero_sum_of(view: &View<'_, '_>) -> Option<usize> {
    let sum = |&(operand, other): &(usize, usize)| view.is_like(other) && view.is_number(operand, 0);
    let kept = [(1, 0), (0, 1)].into_iter().filter(|_| view.operator() == "Add").find(sum);
    kept.map(|(_, other)| other)
}

/// Replaces `x + 0` by `x`, which keeps a -0 that the sum would turn into 0.
pub(super) fn zero_sum(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    view.becomes(zero_sum_of(view)?)
}

/// The constant bounds of a Clip, and those that Relu, Max and Min have; and the number of the
/// input that has them.
fn clip_bounds(view: &View<'_, '_>) -> Option<(f64, f64, usize)> {
    let number = |input: usize| {
        let bound = view.constant(input).filter(|bound| bound.shape().len() == 1)?;
        bound.number(0).ok().map(nearest_f64)
    };
    let either = || {
        let found =
            |&(bound, other): &(usize, usize)| Some((number(bound)?, other)).filter(|_| view.is_like(other));
        [(1, 0), (0, 1)].iter().find_map(found).filter(|_| view.input_count() == 2)
    };
    let bounds = match view.operator() {
        "Relu" => (0.0, f64::INFINITY, 0),
        "Clip" => (number(1)?, number(2)?, 0),
        "Max" => either().map(|(least, other)| (least, f64::INFINITY, other))?,
        "Min" => either().map(|(most, other)| (f64::NEG_INFINITY, most, other))?,
        _ => return None,
    };
    view.has_newest_meaning().then_some(bounds)
}

/// Fuses two nodes that clip floats at constant bounds into one `Clip`; none if the bounds exclude
/// each other.
pub(super) fn clips(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let second = clip_bounds(view)?;
    let first = view.only_producer(second.2)?;
    let before = clip_bounds(&first)?;
    let (least, most) = (before.0.max(second.0), before.1.min(second.1));
    let dtype = view.dtype_of(view.output()?).filter(|dtype| dtype.is_float())?;
    let ordered = least <= most && [before, second].iter().all(|(least, most, _)| least <= most);
    if !ordered {
        return None;
    }
    let bound = |number| {
        let number = [Number::Float(number)].into_iter();
        Tensor::from_numbers(dtype, Shape::new(Vec::new()).ok()?, number, Rules::IEEE).ok()
    };
    let inputs = vec![first.input(before.2), Source::Tensor(bound(least)?), Source::Tensor(bound(most)?)];
    Some(Change::Node(Replacement::new("Clip", inputs, Vec::new())))
}

/// Largest factor that is joined with another, and the inverse of the smallest: of others, a result
/// may leave the range of the type between the two.
const MAX_FACTOR: f64 = 4_294_967_296.0;

/// A constant that a node multiplies its other input by, the shape of the constant, and the input.
fn scale(view: &View<'_, '_>) -> Option<(f64, Shape, usize)> {
    let sides: &[(usize, usize)] = match view.operator() {
        "Mul" => &[(1, 0), (0, 1)],
        "Div" => &[(1, 0)],
        _ => return None,
    };
    let found = |&(operand, other): &(usize, usize)| {
        let factor = view.constant(operand).filter(|tensor| tensor.shape().len() == 1)?;
        let number = nearest_f64(factor.number(0).ok()?);
        let joins = (MAX_FACTOR.recip()..=MAX_FACTOR).contains(&number.abs());
        let number = if view.operator() == "Div" { number.recip() } else { number };
        joins.then(|| (number, factor.shape().clone(), other))
    };
    sides.iter().find_map(found).filter(|_| view.has_newest_meaning())
}

/// Fuses two multiplications or divisions by constants of one element into one `Mul`, of float32
/// and float64.
pub(super) fn scales(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let (number, shape, other) = scale(view)?;
    let first = view.only_producer(other)?;
    let (before, shape_before, input) = scale(&first)?;
    let dtype = view.dtype_of(view.output()?).filter(|dtype| matches!(dtype, DType::F32 | DType::F64))?;
    let shape = if shape.rank() < shape_before.rank() { shape_before } else { shape };
    let product = [Number::Float(number * before)].into_iter();
    let product = Tensor::from_numbers(dtype, shape, product, Rules::IEEE).ok()?;
    let inputs = vec![first.input(input), Source::Tensor(product)];
    Some(Change::Node(Replacement::new("Mul", inputs, Vec::new())))
}

/// The input that a node negates.
fn negated(view: &View<'_, '_>) -> Option<usize> {
    let is_negated = |&(factor, other): &(usize, usize)| view.is_number(factor, -1) && view.is_like(other);
    match view.function() {
        "Neg" => Some(0),
        "Mul" => {
            let found = [(1, 0), (0, 1)].into_iter().find(is_negated).filter(|_| view.has_newest_meaning());
            found.map(|(_, other)| other)
        }
        _ => None,
    }
}

fn inverse(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    if view.function() == "Not" {
        return view.producer(0).filter(|first| first.function() == "Not")?.becomes(0);
    }
    let first = view.producer(negated(view)?)?;
    first.becomes(negated(&first)?)
}

fn repeated(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let same = view.producer(0).is_some_and(|first| first.function() == view.function());
    if same { view.becomes(0) } else { None }
}

/// The default bounds of floats make infinities finite.
fn open_clip(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let is_missing = |input| matches!(view.input(input), Source::Missing);
    let open = (1..view.input_count()).all(is_missing);
    let whole = view.output().and_then(|id| view.dtype_of(id)).is_some_and(DType::is_integer);
    if open && whole { view.becomes(0) } else { None }
}

fn choice(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let chosen =
        [(1, 1), (0, 2)].into_iter().find(|&(value, input)| view.is_number(0, value) && view.is_like(input));
    chosen.and_then(|(_, input)| view.becomes(input))
}

fn negated_choice(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.producer(0).filter(|first| first.function() == "Not")?;
    let swapped = [(0, first.input(0)), (1, view.input(2)), (2, view.input(1))];
    Some(Change::Inputs(swapped.into()))
}

/// The result of a node for a float or an integer of these values, as its type holds it.
fn computed(operator: &str, a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => Some(Number::Float(match operator {
            "Add" => a + b,
            "Mul" => a * b,
            "Sub" => a - b,
            _ => -a,
        })),
        (Number::Int(a), Number::Int(b)) => match operator {
            "Add" => a.checked_add(b),
            "Mul" => a.checked_mul(b),
            "Sub" => a.checked_sub(b),
            _ => a.checked_neg(),
        }
        .map(Number::Int),
        _ => None,
    }
}

/// Sums and products of two float32 are exact in float64, or rounded there once more without
/// effect.
fn filled(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let is_unary = view.operator() == "Neg";
    let sides: &[(usize, usize)] = if is_unary { &[(0, 0)] } else { &[(0, 1), (1, 0)] };
    sides.iter().find_map(|&(input, other)| {
        let shape = view.only_producer(input).filter(|shape| shape.operator() == "ConstantOfShape")?;
        let dtype = view.dtype_of(view.value(input)?).filter(|_| view.is_like(input))?;
        let element = match shape.attribute("value") {
            None => Number::Float(0.0),
            Some(Content::Tensor(value)) => value.tensor().ok()?.number(0).ok()?,
            Some(_) => return None,
        };
        let operand = if is_unary {
            element
        } else {
            view.constant(other).filter(|one| one.shape().len() == 1)?.number(0).ok()?
        };
        let (a, b) = if input == 0 { (element, operand) } else { (operand, element) };
        let number = computed(view.operator(), a, b)?;
        let is_held = match number {
            Number::Int(number) => {
                range_of(dtype).is_some_and(|(low, high)| (low.into()..=high.into()).contains(&number))
            }
            Number::Float(number) => matches!(dtype, DType::F32 | DType::F64) && !number.is_nan(),
            Number::Complex(..) => false,
        };
        let value = Tensor::from_numbers(dtype, Shape::vector(1), [number], Rules::IEEE);
        let attributes = vec![("value", Content::Tensor(value.ok().filter(|_| is_held)?.into()))];
        let inputs = vec![shape.input(0)];
        Some(Change::Node(Replacement::new("ConstantOfShape", inputs, attributes)))
    })
}

fn no_loop(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let carried = view.node.inputs.len().checked_sub(2)?;
    let none = || view.is_number(0, 0) || view.is_number(1, 0);
    if view.node.outputs.len() > carried || !none() {
        return None;
    }
    let slots = view.node.outputs.iter().enumerate().filter(|(_, id)| id.is_some());
    let values = slots.map(|(slot, _)| Some((slot, view.value(slot + 2)?)));
    Some(Change::Values(values.collect::<Option<_>>()?))
}

/// Returns true if an input is zero everywhere, whatever its shape.
fn is_zero(view: &View<'_, '_>, input: usize) -> bool {
    if view.is_number(input, 0) {
        return true;
    }
    let Some(producer) = view.producer(input) else { return false };
    match producer.operator() {
        "Concat" => (0..producer.input_count()).all(|input| is_zero(&producer, input)),
        "ConstantOfShape" => fills(&producer, |number| match number {
            Number::Float(number) => number.to_bits() == 0,
            number => number == Number::Int(0),
        }),
        _ => producer.moves_first() && is_zero(&producer, 0),
    }
}

/// Returns true if the elements that `ConstantOfShape` makes are of a kind.
pub(in crate::fold) fn fills(view: &View<'_, '_>, is_so: impl Fn(Number) -> bool) -> bool {
    match view.attribute("value") {
        None => is_so(Number::Float(0.0)),
        Some(Content::Tensor(value)) => {
            value.tensor().is_ok_and(|value| value.numbers().is_ok_and(|mut numbers| numbers.all(is_so)))
        }
        Some(_) => false,
    }
}

fn defaults(view: &View<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let inputs: &[usize] = match view.operator() {
        "LSTM" => &[5, 6],
        "GRU" | "RNN" => &[5],
        "Slice" => &[4],
        _ => &[],
    };
    let is_default = |input: usize| match view.operator() {
        "Slice" => view.is_number(input, 1),
        _ => is_zero(view, input),
    };
    let given = |&input: &usize| !matches!(view.input(input), Source::Missing);
    let found = inputs.iter().copied().filter(given).filter(|&input| is_default(input));
    let changes: Vec<_> = found.map(|input| (input, Source::Missing)).collect();
    (!changes.is_empty()).then_some(Change::Inputs(changes))
}
