//! The table of differences: operator, condition, and what each program returns.
//!
//! `conformance/portability.py` has models for every row; `tests/portability.rs` holds the rows
//! against what the programs returned.

use gradus_core::{DType, Number};

use super::When;
use super::conditions::{FLOAT32, INT32, NodeFacts};
use super::range;
use crate::dim::{Bounds, Condition, Dim, Relation};
use crate::fact::range_of;

/// A difference between programs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The operators of ONNX that it is about.
    pub operators: &'static [&'static str],
    /// The data for which programs differ.
    pub condition: &'static str,
    /// The results of each of [`PROGRAMS`](super::PROGRAMS). Equal texts are equal results.
    pub results: [&'static str; 3],
    /// When programs may differ at a node; nothing if they do not.
    pub(super) applies: fn(&mut NodeFacts<'_>) -> Option<When>,
}

use DType::{Bool, F32, F64, I8, I32, I64, U8, U32, U64};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "64-bit-integers-in-32-bits",
        operators: &["Add", "CumSum", "Mul", "Sub"],
        condition: "a result does not fit int32",
        results: ["computes in 64 bits", "computes in 32 bits", "computes in 64 bits"],
        applies: |node| if node.is(0, &[I64]) { result_outside(node, INT32) } else { None },
    },
    Rule {
        name: "cast-by-int32",
        operators: &["Cast"],
        condition: "an element does not fit int32",
        results: ["converts in 64 bits", "converts to int32 first", "converts in 64 bits"],
        applies: |node| cast(node, F32, &[I64, U64, U32]).then(|| node.outside(0, INT32)).flatten(),
    },
    Rule {
        name: "cast-of-float64-to-float32",
        operators: &["Cast"],
        condition: "an element is beyond float32",
        results: ["returns infinity", "returns the largest float32", "returns infinity"],
        applies: |node| {
            if !cast(node, F64, &[F32]) {
                return None;
            }
            let beyond = |x: &Number| matches!(x, Number::Float(x) if x.abs() > f64::from(f32::MAX));
            some(node, 0, beyond)
        },
    },
    Rule {
        name: "cast-of-nan-to-bool",
        operators: &["Cast"],
        condition: "an element is NaN",
        results: ["returns true", "returns false", "returns true"],
        applies: |node| cast(node, F32, &[Bool]).then(|| node.nan(0)).flatten(),
    },
    Rule {
        name: "cast-to-8-bit-integers",
        operators: &["Cast"],
        condition: "an element does not fit the type",
        results: ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"],
        applies: |node| {
            let to = [I8, U8].into_iter().find(|&to| cast(node, F32, &[to]))?;
            node.outside(0, range_of(to)?)
        },
    },
    Rule {
        name: "clip-of-nan",
        operators: &["Clip"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns a bound", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "division-of-8-bit-integers",
        operators: &["Div"],
        condition: "a quotient is no integer",
        results: ["rounds toward zero", "rounds to the nearest integer", "rounds toward zero"],
        applies: |node| node.is(0, &[I8, U8]).then_some(When::Data),
    },
    Rule {
        name: "float64-in-float32",
        operators: &[
            "Add",
            "Div",
            "Exp",
            "Log",
            "MatMul",
            "Mul",
            "Pow",
            "ReduceMean",
            "ReduceSum",
            "Sigmoid",
            "Softmax",
            "Sqrt",
            "Sub",
        ],
        condition: "an element or a result is no float32",
        results: ["computes in float64", "computes in float32", "computes in float64"],
        applies: |node| node.is(0, &[F64]).then_some(When::Data),
    },
    Rule {
        name: "gather-elements-out-of-range",
        operators: &["GatherElements"],
        condition: "an index is out of range",
        results: ["fails", "fails", "returns another element"],
        applies: |node| index_out_of_range(node),
    },
    Rule {
        name: "gather-out-of-range",
        operators: &["Gather"],
        condition: "an index is out of range",
        results: ["fails", "returns 0", "fails"],
        applies: |node| index_out_of_range(node),
    },
    Rule {
        name: "hard-sigmoid-of-nan",
        operators: &["HardSigmoid"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns 1", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "hardmax-of-nan",
        operators: &["Hardmax"],
        condition: "an element is NaN",
        results: ["selects a number", "selects a number", "selects NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "index-of-maximum-of-nan",
        operators: &["ArgMax", "ArgMin"],
        condition: "an element is NaN",
        results: [
            "returns the index of NaN",
            "returns an index that depends on the place of NaN",
            "returns the index of NaN",
        ],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "integer-division-by-zero",
        operators: &["Div", "Mod"],
        condition: "an element of the divisor is 0",
        results: ["fails", "returns -2147483648", "returns 0"],
        applies: |node| {
            if !node.is(0, &[I32, I64]) {
                return None;
            }
            node.zero(1)
        },
    },
    Rule {
        name: "integer-division-in-float32",
        operators: &["Div"],
        condition: "an element is below -16777216 or above 16777216",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        applies: |node| node.is(0, &[I32, I64, U32]).then(|| an_input_outside(node, FLOAT32)).flatten(),
    },
    Rule {
        name: "integer-modulus-in-float32",
        operators: &["Mod"],
        condition: "an element is below -8388608 or above 8388608",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        // The multiple of the divisor that is subtracted has up to a bit more.
        applies: |node| {
            node.is(0, &[I32, I64]).then(|| an_input_outside(node, (-(1 << 23), 1 << 23))).flatten()
        },
    },
    Rule {
        name: "integer-power-in-float32",
        operators: &["Pow"],
        condition: "a result is below -16777216 or above 16777216",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        applies: |node| {
            let output = node.is(0, &[I32, I64]).then(|| node.output().cloned())??;
            either(node.fact_outside(&output, FLOAT32), None)
        },
    },
    Rule {
        name: "integer-sum-in-float32",
        operators: &["ReduceSum"],
        condition: "a sum of some of the elements is below -16777216 or above 16777216",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        applies: |node| {
            let output = node.is(0, &[I32, I64]).then(|| node.output().cloned())??;
            // No part of a sum is larger than the sum, if no element is below zero.
            let rises = node.bounds(0).lower().is_some_and(|least| least >= 0);
            if rises { either(node.fact_outside(&output, FLOAT32), None) } else { Some(When::Data) }
        },
    },
    Rule {
        name: "maximum-of-nan",
        operators: &["Max", "Min"],
        condition: "an element of the first of two inputs is NaN, or of the second",
        results: ["returns NaN", "returns the second element", "returns NaN"],
        applies: |node| if node.node.inputs.len() == 2 { either(node.nan(0), node.nan(1)) } else { None },
    },
    Rule {
        name: "negative-power-of-integers",
        operators: &["Pow"],
        condition: "an exponent is below 0",
        results: ["rounds toward zero", "rounds toward zero", "fails"],
        applies: |node| {
            let integers = node.is(0, &[I32, I64]) && node.is(1, &[I32, I64]);
            integers.then(|| node.outside(1, (0, i64::MAX))).flatten()
        },
    },
    Rule {
        name: "overflow-of-8-bit-integers",
        operators: &["Add", "Mul", "Neg", "Sub"],
        condition: "a result does not fit the type",
        results: ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"],
        applies: |node| {
            let dtype = [I8, U8].into_iter().find(|&dtype| node.is(0, &[dtype]))?;
            bounds_outside(result_bounds(node), range_of(dtype)?)
        },
    },
    Rule {
        name: "range-of-float32",
        operators: &["Range"],
        condition: "an element or a quotient is rounded",
        results: [
            "counts in float64, adds up in float32",
            "counts and adds up in float32",
            "computes in float64, rounds once",
        ],
        applies: range::of_float32,
    },
    Rule {
        name: "range-of-step-zero",
        operators: &["Range"],
        condition: "the step is 0",
        results: ["fails", "kills the process", "fails"],
        applies: |node| node.is(0, &[I32, I64]).then(|| node.zero(2)).flatten(),
    },
    Rule {
        name: "range-of-wrong-sign",
        operators: &["Range"],
        condition: "the limit is on the other side of the start than the step's sign says",
        results: [
            "returns no elements",
            "returns as many elements as for the opposite step",
            "returns no elements",
        ],
        applies: range::of_wrong_sign,
    },
    Rule {
        name: "reduced-maximum-of-nan",
        operators: &["ReduceMax", "ReduceMin"],
        condition: "an element is NaN",
        results: ["ignores NaN at some places", "ignores NaN at other places", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "relu-of-nan",
        operators: &["Celu", "Relu"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns 0", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "resize-half-pixel-symmetric",
        operators: &["Resize"],
        condition: "coordinates are those of half_pixel_symmetric",
        results: ["runs", "fails", "runs"],
        applies: |node| {
            is_text(node, "coordinate_transformation_mode", "half_pixel_symmetric").then_some(When::Always)
        },
    },
    Rule {
        name: "resize-of-halves",
        operators: &["Resize"],
        condition: "a coordinate is halfway between two elements",
        results: ["rounds up", "may round down", "rounds up"],
        applies: |node| {
            let asymmetric = is_text(node, "coordinate_transformation_mode", "asymmetric");
            (asymmetric && is_text(node, "nearest_mode", "round_prefer_ceil")).then_some(When::Data)
        },
    },
    Rule {
        name: "rounding-before-zero-point",
        operators: &["QuantizeLinear"],
        condition: "the zero point is odd, and a quotient is halfway between two integers",
        results: [
            "rounds, then adds the zero point",
            "adds the zero point, then rounds",
            "rounds, then adds the zero point",
        ],
        applies: |node| {
            node.input(2)?;
            some(node, 2, |point| matches!(point, Number::Int(x) if x % 2 != 0)).map(|_| When::Data)
        },
    },
    Rule {
        name: "shift-by-all-bits",
        operators: &["BitShift"],
        condition: "a shift to the left is by 32 bits or more",
        results: ["returns 0", "returns another number", "returns 0"],
        applies: |node| (is_left(node) && node.is(0, &[U32])).then(|| node.outside(1, (0, 31))).flatten(),
    },
    Rule {
        name: "shift-of-8-bit-integers",
        operators: &["BitShift"],
        condition: "a shift to the left moves a bit out of the type",
        results: ["drops the bit", "saturates", "drops the bit"],
        applies: |node| {
            if !is_left(node) || !node.is(0, &[U8]) {
                return None;
            }
            let power = node.bounds(1).upper().filter(|&by| by < 32).map(|by| Bounds::exactly(1 << by));
            bounds_outside(node.bounds(0).times(power.unwrap_or(Bounds::ANY)), range_of(U8)?)
        },
    },
    Rule {
        name: "thresholded-relu-of-nan",
        operators: &["ThresholdedRelu"],
        condition: "an element is NaN",
        results: ["returns 0", "returns NaN", "returns 0"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "topk-of-nan",
        operators: &["TopK"],
        condition: "an element is NaN",
        results: [
            "orders NaN by its place",
            "orders NaN by its place, otherwise",
            "orders NaN as the largest",
        ],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "topk-unsorted",
        operators: &["TopK"],
        condition: "more than one element is selected",
        results: ["returns the elements in no order", "sorts the elements", "sorts the elements"],
        applies: |node| {
            let unsorted = !node.attributes.flag("sorted", true).ok()?;
            unsorted.then(|| node.outside(1, (0, 1)).map(|_| When::Data)).flatten()
        },
    },
    Rule {
        name: "unique-of-nan",
        operators: &["Unique"],
        condition: "an element is NaN",
        results: [
            "takes elements beside NaN as equal to it",
            "takes every NaN as another element",
            "takes all NaN as one element",
        ],
        applies: |node| node.nan(0),
    },
];

/// Returns true if a node casts from one type to one of others.
fn cast(node: &NodeFacts<'_>, from: DType, to: &[DType]) -> bool {
    node.is(0, &[from]) && node.output().and_then(|fact| fact.dtype).is_some_and(|dtype| to.contains(&dtype))
}

fn is_left(node: &NodeFacts<'_>) -> bool {
    is_text(node, "direction", "LEFT")
}

fn is_text(node: &NodeFacts<'_>, name: &str, wanted: &str) -> bool {
    matches!(node.attributes.text(name), Ok(Some(text)) if text == wanted)
}

/// When an element of an input meets a condition.
fn some(node: &NodeFacts<'_>, index: usize, meets: impl Fn(&Number) -> bool) -> Option<When> {
    match node.constant(index) {
        Some(numbers) => numbers.iter().any(meets).then_some(When::Always),
        None => Some(When::Data),
    }
}

/// When an element of one of two inputs lies outside a range.
fn an_input_outside(node: &mut NodeFacts<'_>, range: (i64, i64)) -> Option<When> {
    either(node.outside(0, range), node.outside(1, range))
}

/// When one of two conditions holds that are necessary, but not sufficient.
fn either(a: Option<When>, b: Option<When>) -> Option<When> {
    match (a, b) {
        (Some(When::Sizes(a)), Some(When::Sizes(b))) => Some(When::Sizes(format!("{a} or {b}"))),
        (Some(When::Sizes(text)), None) | (None, Some(When::Sizes(text))) => Some(When::Sizes(text)),
        (None, None) => None,
        _ => Some(When::Data),
    }
}

/// When a result of integer arithmetic lies outside a range.
fn result_outside(node: &mut NodeFacts<'_>, range: (i64, i64)) -> Option<When> {
    let output = node.output()?.clone();
    let found = node.fact_outside(&output, range)?;
    let has_two = matches!(&*node.node.operator.name, "Add" | "Mul" | "Sub");
    match found {
        When::Data if has_two => bounds_outside(result_bounds(node), range),
        found => Some(found),
    }
}

/// Numbers between which the results of integer arithmetic lie.
fn result_bounds(node: &NodeFacts<'_>) -> Bounds {
    let (a, b) = (node.bounds(0), node.bounds(1));
    match &*node.node.operator.name {
        "Add" => a.plus(b),
        "Sub" => a.plus(b.negated()),
        "Mul" => a.times(b),
        "Neg" => a.negated(),
        _ => Bounds::ANY,
    }
}

fn bounds_outside(bounds: Bounds, (low, high): (i64, i64)) -> Option<When> {
    let within = bounds.lower().is_some_and(|x| x >= low) && bounds.upper().is_some_and(|x| x <= high);
    (!within).then_some(When::Data)
}

/// When an index of `Gather` or `GatherElements` is out of range.
fn index_out_of_range(node: &mut NodeFacts<'_>) -> Option<When> {
    let dims = node.input(0)?.dims.clone();
    let indices = node.input(1)?.clone();
    let axis = node.attributes.int_or("axis", 0).ok()?;
    let size = dims.and_then(|dims| {
        let axis = if axis < 0 { axis.checked_add(gradus_core::convert::i64_of(dims.len()))? } else { axis };
        dims.get(gradus_core::convert::usize_of_i64(axis)?).copied()
    });
    let (Some(size), Some(indices)) = (size, node.integers(&indices)) else { return Some(When::Data) };
    node.any(&indices, |symbols, index| {
        let above = Condition::new(index, Relation::AtLeast, size);
        // A sum that is too large for an expression is out of range, as the index is.
        let below = symbols.add(index, size).unwrap_or(Dim::Known(-1));
        [above, Condition::new(below, Relation::AtMost, Dim::Known(-1))]
    })
}
