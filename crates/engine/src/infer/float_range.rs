//! The numbers between which floats lie that nodes compute of sizes.

use gradus_core::convert::{self, Rules, nearest_f64, truncated};
use gradus_core::graph::{Origin as From, ValueId};
use gradus_core::{DType, Number};
use gradus_kernels::{Call, Course};

use super::context::InferContext;
use crate::dim::Dim;
use crate::fact::{Elements, Extremes, MAX_INTEGERS};
use crate::operators::operation::Operation;
use crate::operators::row::{Role, Row};

/// Both ends of a range of floats without NaN. An end is zero with the sign that zeros in the range
/// have, or -0.0 if they may have both.
pub type FloatRange = [f64; 2];

/// Maximum number of nodes in a row that are asked for.
const MAX_DEPTH: usize = 24;

impl InferContext<'_, '_> {
    /// The range of the elements of an input of floats, if sizes alone decide these and none is
    /// NaN.
    pub fn float_range(&mut self, input: usize) -> Option<FloatRange> {
        let id = self.id(input).filter(|_| !self.depends_on_data(input))?;
        self.range_of_value(id, MAX_DEPTH)
    }

    /// The range of the elements of an input of floats, each rounded toward zero.
    pub fn truncated_range(&mut self, input: usize) -> Option<Extremes> {
        let ends = self.float_range(input)?.map(|end| i64::try_from(truncated(end)?).ok());
        let [min, max] = ends.map(|end| end.map(Dim::Known));
        Some(Extremes { min: min?, max: max?, attained: [false; 2] })
    }

    fn range_of_value(&mut self, id: ValueId, depth: usize) -> Option<FloatRange> {
        self.pass.read(self.frame, id);
        let fact = self.frame.facts[id.index()].as_tensor()?.clone();
        let dtype = fact.dtype?;
        let is_float = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
        if let Elements::Known(tensor) = &fact.elements
            && is_float
        {
            let all = tensor.numbers().ok().filter(|_| tensor.len() <= MAX_INTEGERS)?;
            return hull(all.map(nearest_f64));
        }
        if !is_float {
            let all = self.extremes_of(&fact)?;
            let [min, max] = [all.min, all.max].map(|end| self.symbols().bounds(end));
            let ends = [min.lower().unwrap_or(i64::MIN), max.upper().unwrap_or(i64::MAX)];
            return Some(ends.map(|end| nearest_f64(Number::Int(end.into()))));
        }
        let From::Node(index, 0) = self.frame.graph.value(id).origin else { return None };
        let node = &self.frame.graph.nodes()[index];
        let row = self.pass.resolve(node).row().filter(|_| depth > 0)?;
        let mut of = |id: &Option<ValueId>| self.range_of_value((*id)?, depth - 1);
        let range = match &node.inputs[..] {
            [first, ..] if is_of_first(row.role) => of(first)?,
            [_] | [_, _] if row.is_of_elements() => {
                let operands = node.inputs.iter().map(of).collect::<Option<Vec<_>>>()?;
                range_of_results(row, &operands)?
            }
            _ => return None,
        };
        rounded(range, dtype)
    }
}

/// Returns true if elements of results are elements of the first input, but for their type.
const fn is_of_first(role: Role) -> bool {
    use Role::{Cast, Copy, Expand, Reshape, Slice, Transpose, View};
    matches!(role, Cast | Copy | Expand | Reshape | Slice | Transpose | View)
}

/// The range of the results of an operator of elements whose operands have these ranges, apart from
/// the rounding of results; nothing if one may be NaN, or no range is known.
pub fn range_of_results(row: &Row, operands: &[FloatRange]) -> Option<FloatRange> {
    match (operands, row.operation, row.real, row.known_as()) {
        (&[a, b], Some(operation), ..) => combined(operation, a, b),
        (&[a], _, Some(function), _) if function.course() == Course::Monotone => {
            hull(a.map(|end| Call { function, parameters: [0.0; 2] }.at(end)).into_iter())
        }
        (&[a], _, _, "Abs") => hull(a.map(f64::abs).into_iter().chain(has_zero(a).then_some(0.0))),
        (&[a], _, _, "Neg") => hull(a.map(|end| -end).into_iter()),
        (&[a], _, _, "Reciprocal") => reciprocal(a),
        _ => None,
    }
}

/// Returns true if zero lies within a range.
pub fn has_zero([min, max]: FloatRange) -> bool {
    min <= 0.0 && max >= 0.0
}

/// The range of some numbers; nothing if one is NaN.
fn hull(numbers: impl Iterator<Item = f64>) -> Option<FloatRange> {
    let one = |x: f64| Some([x, x]).filter(|_| !x.is_nan());
    let both = |a: FloatRange, b: FloatRange| {
        let min = if a[0].total_cmp(&b[0]).is_le() { a[0] } else { b[0] };
        let max = if a[1].total_cmp(&b[1]).is_ge() { a[1] } else { b[1] };
        [min, max]
    };
    numbers.map(one).reduce(|a, b| Some(both(a?, b?))).flatten()
}

fn combined(operation: Operation, a: FloatRange, b: FloatRange) -> Option<FloatRange> {
    let corners =
        |of: fn(f64, f64) -> f64| hull(a.into_iter().flat_map(|x| b.into_iter().map(move |y| of(x, y))));
    // The product of a zero and an infinity is NaN, wherever they are in the ranges.
    let is_open = |ends: FloatRange| !ends.iter().all(|end| end.is_finite());
    match operation {
        Operation::Add => corners(|x, y| x + y),
        Operation::Sub => corners(|x, y| x - y),
        Operation::Min => corners(f64::min),
        Operation::Max => corners(f64::max),
        Operation::Mul if !(has_zero(a) && is_open(b) || is_open(a) && has_zero(b)) => corners(|x, y| x * y),
        Operation::Pow if a[0] > 0.0 => corners(f64::powf),
        Operation::Div => combined(Operation::Mul, a, reciprocal(b)?),
        _ => None,
    }
}

/// The range of reciprocals: one of numbers on both sides of zero has none.
fn reciprocal([min, max]: FloatRange) -> Option<FloatRange> {
    let is_single_signed = min.is_sign_positive() || max < 0.0;
    is_single_signed.then(|| [1.0 / max, 1.0 / min])
}

/// A range whose ends were computed with a small error, or rounded, to a type.
fn rounded([min, max]: FloatRange, dtype: DType) -> Option<FloatRange> {
    let error = match dtype.bits() {
        64 => 2f64.powi(-40),
        32 => 2f64.powi(-18),
        _ => 2f64.powi(-4),
    };
    let wider = [min - min.abs() * error, max + max.abs() * error];
    hull([min, max].into_iter().chain(wider).map(|end| {
        // Infinite ends have no neighbours.
        let end = Number::Float(if end.is_nan() { max } else { end });
        nearest_f64(convert::number(dtype, convert::code(dtype, end, Rules::IEEE)))
    }))
}
