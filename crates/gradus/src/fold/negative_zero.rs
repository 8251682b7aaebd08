//! Signs of zeros: values that are never -0, and sums with zero whose readers do not tell -0 from
//! 0.
//!
//! `x + 0` differs from `x` where that is -0. Most operators give the same for both zeros, or
//! results that differ in the signs of zeros alone. A sum with zero is its other operand where a
//! node of the first kind lies on every path from the sum to an output of the graph.

use gradus_core::graph::{Origin, Standard, ValueId};
use gradus_core::{Class, DType, Number, Tensor};
use gradus_kernels::Function;

use super::dialect::Role;
use super::rules::{NodeView, Pass, fills, is_view, zero_sum_of};
use super::scope::FoldState;
use super::{GraphFolder, inline};
use crate::dim::{Dim, Symbols};
use crate::fact::{Dims, Elements};
use crate::operators::operation::Operation;
use crate::operators::{Row, ZeroSigns};

/// Maximum number of nodes between a value and what shows that it is never -0.
const MAX_DEPTH: usize = 4;

/// Maximum number of elements of a constant that is searched for -0.
const MAX_ELEMENTS: i64 = 1 << 14;

/// The effect on a node's results of the signs of zeros of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The results are the same.
    None,
    /// The results differ in the signs of zeros alone.
    Signs,
    /// The results may differ.
    Any,
}

/// The operator of a node of ONNX or of ONNX Runtime's own operators.
fn operator<'v>(view: &'v NodeView<'_, '_>) -> &'v str {
    match view.operator() {
        "" if &*view.node.operator.domain == "com.microsoft" => &view.node.operator.name,
        operator => operator,
    }
}

/// The input that a node adds last.
fn bias(view: &NodeView<'_, '_>) -> Option<usize> {
    let scales =
        operator(view) == "Gemm" && view.float("beta", 1.0).map(f32::to_bits) != Some(1f32.to_bits());
    view.row()?.bias.filter(|_| !scales)
}

/// Returns true if no element of an input is -0.
pub(super) fn is_never_negative_zero(view: &NodeView<'_, '_>, input: usize, symbols: &mut Symbols) -> bool {
    Signs { symbols, dims: view.dims(input) }.is_never(view, input, MAX_DEPTH)
}

/// Signs of the elements of a value, if it has any.
struct Signs<'s> {
    symbols: &'s mut Symbols,
    /// The dimensions of the value: each is 1 at least.
    dims: Option<&'s Dims>,
}

impl Signs<'_> {
    /// Returns true if no element of an input is -0.
    fn is_never(&mut self, view: &NodeView<'_, '_>, input: usize, depth: usize) -> bool {
        if let Some(constant) = short_constant(view, input) {
            return constant.numbers().is_ok_and(|mut numbers| numbers.all(is_other));
        }
        let (Some(producer), Some(depth)) = (view.producer(input), depth.checked_sub(1)) else {
            return false;
        };
        let mut is_never = |input: usize| self.is_never(&producer, input, depth);
        let mut inputs = 0..producer.input_count();
        let is_above = |input: usize| is_positive(&producer, input);
        match producer.function() {
            // A sum is -0 if all are.
            "Add" | "Sum" => inputs.any(is_never),
            "Sub" | "ReduceSum" | "Sqrt" => is_never(0),
            // Elements that are read elsewhere, or chosen.
            "Concat" | "Min" => inputs.all(is_never),
            "Max" => inputs.clone().any(is_above) || inputs.all(is_never),
            "Where" => [1, 2].into_iter().all(is_never),
            "ConstantOfShape" => fills(&producer, is_other),
            _ if producer.picks_of_first() || is_copy(&producer) => is_never(0),
            _ => {
                self.is_unsigned(view, input, depth)
                    || bias(&producer).is_some_and(|bias| self.is_never(&producer, bias, depth))
            }
        }
    }

    /// Returns true if the sign bit of no element of an input is set, but of NaN.
    fn is_unsigned(&mut self, view: &NodeView<'_, '_>, input: usize, depth: usize) -> bool {
        if let Some(constant) = short_constant(view, input) {
            let is_clear = |number| match number {
                Number::Float(number) => number.is_nan() || number.is_sign_positive(),
                Number::Int(number) => number >= 0,
                Number::Complex(..) => false,
            };
            return constant.numbers().is_ok_and(|mut numbers| numbers.all(is_clear));
        }
        let (Some(producer), Some(depth)) = (view.producer(input), depth.checked_sub(1)) else {
            return false;
        };
        let mut inputs = 0..producer.input_count();
        // A square is not below 0, even if it is too small for its type; x / x is 1 or NaN.
        let is_of_one = producer.value(0).is_some() && producer.value(0) == producer.value(1);
        match producer.function() {
            _ if producer.known().is_some_and(|row| row.unsigned) => true,
            "Div" | "Mul" if is_of_one => true,
            "Pow" => is_square(&producer),
            _ if producer.known().is_some_and(keeps_unsigned) => {
                inputs.all(|input| self.is_unsigned(&producer, input, depth))
            }
            _ if producer.picks_of_first() || is_copy(&producer) => self.is_unsigned(&producer, 0, depth),
            _ if producer.role() == Role::Cast => self.is_count(&producer),
            _ => false,
        }
    }

    /// Returns true if a Cast reads integers that are not below 0.
    fn is_count(&mut self, view: &NodeView<'_, '_>) -> bool {
        let Some(id) = view.value(0) else { return false };
        match view.dtype_of(id).map(DType::class) {
            Some(Class::Bool | Class::Unsigned) => true,
            Some(Class::Signed) => match view.elements_of(id) {
                Some(Elements::Integers(all)) => all.iter().all(|&number| self.is_natural(number)),
                Some(Elements::Progression(both)) => self.is_natural(both.0) && self.is_natural(both.1),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns true if an integer is not below 0 where no dimension is 0.
    fn is_natural(&mut self, number: Dim) -> bool {
        let dims = self.dims.map(|dims| dims.iter()).into_iter().flatten();
        let mut is_above = |&dim: &Dim| {
            let beyond = self.symbols.subtract(number, dim);
            beyond.is_some_and(|beyond| self.symbols.never_below(beyond, -1))
        };
        dims.into_iter().any(&mut is_above) || self.symbols.never_below(number, 0)
    }
}

/// Returns true if no result of an operator has the sign bit set where no element of its inputs has.
fn keeps_unsigned(row: &Row) -> bool {
    let operation = row.operation.filter(|operation| *operation != Operation::Sub);
    row.real == Some(Function::Sqrt) || operation.is_some_and(Operation::is_arithmetic)
}

fn is_copy(view: &NodeView<'_, '_>) -> bool {
    is_view(view) || view.role() == Role::Copy
}

/// Returns true if a number is not -0.
fn is_other(number: Number) -> bool {
    !matches!(number, Number::Float(number) if number.to_bits() == (-0.0f64).to_bits())
}

/// Returns true if a node raises its input to an even power above zero.
fn is_square(view: &NodeView<'_, '_>) -> bool {
    all_are(view, 1, |number| match number {
        Number::Float(number) => number > 0.0 && number.is_finite() && number % 2.0 == 0.0,
        Number::Int(number) => number > 0 && number % 2 == 0,
        Number::Complex(..) => false,
    })
}

/// The effect of an input.
fn effect(view: &NodeView<'_, '_>, input: usize) -> Effect {
    let operator = operator(view);
    let class = view.output().and_then(|id| view.dtype_of(id)).map(DType::class);
    match operator {
        "Cast" | "CastLike" | "QuantizeLinear" => match (input, class) {
            (0, Some(Class::Bool | Class::Signed | Class::Unsigned)) => Effect::None,
            (0, Some(Class::Float)) => Effect::Signs,
            _ => Effect::Any,
        },
        "BatchNormalization" if input < 3 && view.int("training_mode", 0) == Some(0) => Effect::Signs,
        // Powers of zero by other exponents are infinite.
        "Pow" if input == 0 && is_positive(view, 1) => Effect::Signs,
        // The order of equal elements may decide which is the largest.
        "MaxPool" if view.node.outputs.len() == 1 => Effect::Signs,
        "Pad" | "ScatterElements" | "ScatterND" if input == 2 => Effect::Signs,
        _ => match view.row().map_or(ZeroSigns::Any, |row| row.zeros) {
            ZeroSigns::Unseen => Effect::None,
            ZeroSigns::OfAll => Effect::Signs,
            ZeroSigns::OfFirst if input == 0 => Effect::Signs,
            ZeroSigns::OfFirst | ZeroSigns::Any => Effect::Any,
        },
    }
}

/// The input that is never -0 and that a node adds to the results of another: a sum is -0 only if
/// both are. Other outputs may be without the sum.
fn raising(view: &NodeView<'_, '_>, input: usize, symbols: &mut Symbols) -> Option<usize> {
    let last = if view.operator() == "Add" { Some(1 - input.min(1)) } else { bias(view) };
    let last = last.filter(|&last| last != input && view.node.outputs.len() == 1)?;
    is_never_negative_zero(view, last, symbols).then_some(last)
}

/// The constant that an input reads, if it is not long; others are not read from their files.
fn short_constant(view: &NodeView<'_, '_>, input: usize) -> Option<Tensor> {
    if let Some(id) = view.value(input) {
        let sizes = view.dims_of(id)?.iter().map(|dim| dim.known());
        let count = sizes.into_iter().try_fold(1i64, |count, size| count.checked_mul(size?))?;
        if count > MAX_ELEMENTS {
            return None;
        }
    }
    view.constant(input)
}

/// Returns true if an input is a constant above zero.
fn is_positive(view: &NodeView<'_, '_>, input: usize) -> bool {
    all_are(view, input, |number| match number {
        Number::Float(number) => number > 0.0,
        Number::Int(number) => number > 0,
        Number::Complex(..) => false,
    })
}

/// Returns true if an input is a short constant, all of whose elements are such.
fn all_are(view: &NodeView<'_, '_>, input: usize, are: fn(Number) -> bool) -> bool {
    let constant = short_constant(view, input);
    constant.is_some_and(|constant| constant.numbers().is_ok_and(|mut numbers| numbers.all(are)))
}

/// Removes sums with zero of the main graph whose readers do not tell -0 from 0. To be called when
/// it is known what is needed. Returns true if it removes any.
pub(super) fn choose(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>) -> bool {
    if scope.standard != Standard::Onnx || !scope.rules.has(Pass::UnseenZeros) {
        return false;
    }
    let sum = |&index: &usize| {
        let view = NodeView::new(scope, index);
        let other = zero_sum_of(&view)?;
        Some((view.output()?, view.value(other)?))
    };
    let order = scope.graph.order().iter();
    let sums: Vec<_> = order.filter(|&&index| scope.nodes[index].stays).filter_map(sum).collect();
    if sums.is_empty() {
        return false;
    }
    let seen = seen(scope, &mut folder.symbols);
    let mut changed = false;
    for (id, other) in sums {
        if !seen[id.index()] && scope.is_replaceable(folder, id, other) {
            scope.replace(folder, id, other);
            changed = true;
        }
    }
    changed
}

/// Returns true if a node computes a value from others.
fn is_computed(scope: &FoldState<'_>, id: ValueId) -> bool {
    let is_constant = |node: usize| scope.nodes[node].role == Role::Constant;
    matches!(scope.graph.value(id).origin, Origin::Node(node, _) if !is_constant(node))
}

/// Values, by number, of which the signs of zeros may have an effect on what is read of the graph,
/// besides signs of zeros of other values that have none.
fn seen(scope: &FoldState<'_>, symbols: &mut Symbols) -> Vec<bool> {
    let mut seen: Vec<_> = scope.values.iter().map(|value| value.fixed).collect();
    let live = scope.graph.nodes().iter().zip(&scope.nodes).filter(|(_, state)| state.stays);
    let within = live.flat_map(|(node, _)| node.graphs()).flat_map(|graph| graph.captures());
    for id in scope.graph.outputs().iter().copied().chain(within.map(|capture| capture.outer)) {
        seen[scope.resolved(id).index()] = true;
    }
    for &index in scope.graph.order().iter().rev().filter(|&&index| scope.nodes[index].stays) {
        let view = NodeView::new(scope, index);
        // Integers have one zero.
        let has_signs = |&id: &ValueId| view.dtype_of(id).is_none_or(|dtype| !dtype.is_integer());
        let mut outputs = view.node.outputs.iter().flatten().copied();
        let is_seen = outputs.any(|id| seen[id.index()] && has_signs(&id));
        let is_open = scope.nodes[index].opaque || inline::branch(scope, index).is_some();
        for (input, id) in view.reads() {
            let effect = if is_open { Effect::Any } else { effect(&view, input) };
            let is_settled = seen[id.index()] || !is_computed(scope, id);
            if is_settled || effect == Effect::None || (effect == Effect::Signs && !is_seen) {
                continue;
            }
            match raising(&view, input, symbols).filter(|_| effect == Effect::Signs) {
                // The value that is never -0 must stay so.
                Some(last) => view.value(last).into_iter().for_each(|last| seen[last.index()] = true),
                None => seen[id.index()] = true,
            }
        }
    }
    seen
}
