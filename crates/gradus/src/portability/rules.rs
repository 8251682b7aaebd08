//! The table of differences: operator, condition, and what each program returns.
//!
//! `conformance/portability.py` has models for every row; `tests/models/portability.rs` holds the rows
//! against what the programs returned.

use gradus_core::convert::nearest_f32;
use gradus_core::{DType, Number};

use super::checks::{
    an_input, an_input_outside, becomes_one, becomes_smaller, both, bounds_outside, by_scales, cast, classes,
    cut_lengths, distant, divides_by_scales, either, fewer_rows, given_size, index_below, index_out_of_range,
    integer_product, integer_reduction, is_dilated, is_dilated_to_same, is_ignored_transform, is_left,
    is_nearest, is_plain, is_power_of_two, is_same, is_text, is_valid_rounded_up, kept_size, leaves_too_few,
    left_out, more_channels, no_elements, no_windows, open_bound_outside_int32, pools_beyond, pools_padding,
    quotient_beyond_int32, result_bounds, result_outside, returns_indices_of_open, rounded_scales,
    rounded_size, rounded_up, rounds_twice, same_size, scores, several_axes, ties, uneven_parts,
    wide_weights, zeros,
};
use super::conditions::{FLOAT32, INT32, NodeFacts};
use super::{When, range};
use crate::dim::{Bounds, Condition, Dim, Relation};
use crate::fact::range_of;
use gradus_engine::conversion::types::largest_float8;

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

use DType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// The floats of 8 bits that OpenVINO has.
const FLOAT8: [DType; 2] = [DType::F8E4M3FN, DType::F8E5M2];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "64-bit-integers-in-32-bits",
        operators: &["Abs", "Add", "BitwiseAnd", "BitwiseNot", "CumSum", "Mul", "Neg", "Sub"],
        condition: "a result does not fit int32",
        results: ["computes in 64 bits", "computes in 32 bits", "computes in 64 bits"],
        applies: |node| if node.is(0, &[I64]) { result_outside(node, INT32) } else { None },
    },
    Rule {
        name: "64-bit-operands-in-32-bits",
        operators: &[
            "Clip",
            "Equal",
            "Greater",
            "GreaterOrEqual",
            "Less",
            "LessOrEqual",
            "Max",
            "Min",
            "Range",
        ],
        condition: "an element does not fit int32",
        results: ["reads 64 bits", "reads 32 bits", "reads 64 bits"],
        applies: |node| {
            node.is(0, &[I64]).then(|| an_input(node, |node, index| node.outside(index, INT32))).flatten()
        },
    },
    Rule {
        name: "8-bit-products-in-16-bits",
        operators: &["MatMulInteger"],
        condition: "a weight is below -64 or above 64, on a processor without VNNI",
        results: [
            "saturates sums of two products to 16 bits",
            "computes in wider types",
            "computes in wider types",
        ],
        applies: |node| wide_weights(node, 1),
    },
    Rule {
        name: "8-bit-quantized-products-in-16-bits",
        operators: &["QLinearConv", "QLinearMatMul"],
        condition: "a weight is below -64 or above 64, on a processor without VNNI",
        results: [
            "saturates sums of two products to 16 bits",
            "saturates sums of two products to 16 bits",
            "computes in wider types",
        ],
        applies: |node| wide_weights(node, 3),
    },
    Rule {
        name: "cast-by-int32",
        operators: &["Cast"],
        condition: "an element does not fit int32",
        results: ["converts in 64 bits", "converts to int32 first", "converts in 64 bits"],
        applies: |node| {
            let casts = cast(node, &[F32], &[I64, U64, U32]) || cast(node, &[F64, U32, U64], &[I64]);
            casts.then(|| node.outside(0, INT32)).flatten()
        },
    },
    Rule {
        name: "cast-of-float64-to-float16",
        operators: &["Cast"],
        condition: "an element rounds differently if it is rounded to float32 first",
        results: ["rounds to float32 first", "rounds to float32 first", "rounds once"],
        applies: |node| {
            let rounds = |x: f64| f64::from(nearest_f32(Number::Float(x))) != x;
            cast(node, &[F64], &[F16]).then(|| node.float(0, &[F64], rounds)).flatten()
        },
    },
    Rule {
        name: "cast-of-float64-to-float32",
        operators: &["Cast"],
        condition: "an element is beyond float32",
        results: ["returns infinity", "returns the largest float32", "returns infinity"],
        applies: |node| {
            let beyond = |x: f64| x.abs() > f64::from(f32::MAX);
            cast(node, &[F64], &[F32]).then(|| node.float(0, &[F64], beyond)).flatten()
        },
    },
    Rule {
        name: "cast-of-float64-to-int32",
        operators: &["Cast"],
        condition: "an element does not fit int32",
        results: ["returns -2147483648", "saturates", "returns -2147483648"],
        applies: |node| cast(node, &[F64], &[I32]).then(|| node.outside(0, INT32)).flatten(),
    },
    Rule {
        name: "cast-of-nan-to-bool",
        operators: &["Cast"],
        condition: "an element is NaN",
        results: ["returns true", "returns false", "returns true"],
        applies: |node| cast(node, &[F16, F32], &[Bool]).then(|| node.nan(0)).flatten(),
    },
    Rule {
        name: "cast-to-8-bit-integers",
        operators: &["Cast"],
        condition: "an element does not fit the type",
        results: ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"],
        applies: |node| {
            let to = [I8, U8].into_iter().find(|&to| cast(node, &[F16, F32], &[to]))?;
            node.outside(0, range_of(to)?)
        },
    },
    Rule {
        name: "cast-to-float8",
        operators: &["Cast"],
        condition: "an element is out of range, or rounds differently if it is rounded to float16 first",
        results: [
            "rounds once, and saturates",
            "rounds to float16 first, and returns NaN or infinity out of range",
            "rounds once, and saturates",
        ],
        applies: |node| {
            let to = FLOAT8.into_iter().find(|&to| cast(node, &[F16, F32], &[to]))?;
            let saturates = node.attributes.flag("saturate", true).unwrap_or(true);
            let most = largest_float8(to)?;
            node.float(0, &[F16, F32], |x| (saturates && x.abs() > most) || rounds_twice(x, to))
        },
    },
    Rule {
        name: "cast-to-text",
        operators: &["Cast"],
        condition: "always",
        results: [
            "writes floats with at most 8 digits, and truth as 1 or 0",
            "fails",
            "writes the shortest float that is the same, and truth as True or False",
        ],
        applies: |node| cast(node, &[F16, F32, F64, Bool], &[DType::String]).then_some(When::Always),
    },
    Rule {
        name: "clip-of-nan",
        operators: &["Clip"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns a bound", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "clip-to-nan",
        operators: &["Clip"],
        condition: "a bound is NaN",
        results: ["ignores the bound", "ignores the lower bound", "returns NaN"],
        applies: |node| either(node.nan(1), node.nan(2)),
    },
    Rule {
        name: "comparison-of-nan",
        operators: &["Greater", "GreaterOrEqual"],
        condition: "an element is NaN, on some processors",
        results: ["returns false", "returns true", "returns false"],
        applies: |node| either(node.nan(0), node.nan(1)),
    },
    Rule {
        name: "convolution-of-no-elements",
        operators: &["Conv"],
        condition: "no window fits in the input",
        results: ["fails", "returns no elements", "returns no elements"],
        applies: no_windows,
    },
    Rule {
        name: "convolution-of-same-size-with-dilation",
        operators: &["Conv", "ConvInteger"],
        condition: "auto_pad asks for the same size, and a dilation is not 1",
        results: ["fails", "pads for the dilated window", "pads for the dilated window"],
        applies: |node| is_dilated_to_same(node).then_some(When::Always),
    },
    Rule {
        name: "division-by-reciprocal",
        operators: &["Div"],
        condition: "a quotient is rounded",
        results: ["rounds the quotient", "multiplies by the rounded reciprocal", "rounds the quotient"],
        applies: |node| {
            let powers_of_two =
                node.constant(1).is_some_and(|divisors| divisors.iter().all(|&x| is_power_of_two(x)));
            (node.is(1, &[F32]) && !powers_of_two).then_some(When::Data)
        },
    },
    Rule {
        name: "division-of-8-bit-integers",
        operators: &["Div"],
        condition: "a quotient is no integer",
        results: ["rounds toward zero", "rounds to the nearest integer", "rounds toward zero"],
        applies: |node| node.is(0, &[I8, U8]).then_some(When::Data),
    },
    Rule {
        name: "division-of-the-smallest-integer",
        operators: &["Div"],
        condition: "the smallest integer of the type is divided by -1",
        results: [
            "kills the process",
            "returns the smallest integer of int32, or 0",
            "returns the smallest integer of the type",
        ],
        applies: |node| {
            let dtype = [I32, I64].into_iter().find(|&dtype| node.is(0, &[dtype]))?;
            let (least, _) = range_of(dtype)?;
            both(node.equal(0, least), node.equal(1, -1))
        },
    },
    Rule {
        name: "dynamic-quantization-of-zeros",
        operators: &["DynamicQuantizeLinear"],
        condition: "all elements are 0",
        results: ["returns the scale 1", "returns the scale 0", "returns the scale 1/255"],
        applies: zeros,
    },
    Rule {
        name: "exponential-of-nan",
        operators: &["Exp"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns infinity", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "float64-in-float32",
        operators: &[
            "Add",
            "Cast",
            "Ceil",
            "Div",
            "Equal",
            "Exp",
            "Gather",
            "Greater",
            "GreaterOrEqual",
            "IsInf",
            "Less",
            "LessOrEqual",
            "Log",
            "MatMul",
            "Max",
            "Mul",
            "Pow",
            "ReduceMean",
            "ReduceSum",
            "Relu",
            "Sigmoid",
            "Softmax",
            "Sqrt",
            "Sub",
            "Where",
        ],
        condition: "an element or a result is no float32",
        results: ["computes in float64", "computes in float32", "computes in float64"],
        applies: |node| match &*node.node.operator.name {
            "Cast" => cast(node, &[I32, I64], &[F64]).then(|| node.outside(0, FLOAT32)).flatten(),
            "Where" => node.is(1, &[F64]).then_some(When::Data),
            _ => node.is(0, &[F64]).then_some(When::Data),
        },
    },
    Rule {
        name: "gather-elements-of-fewer-rows",
        operators: &["GatherElements"],
        condition: "an axis of the indices, other than the one that is gathered, is smaller than that of the data",
        results: ["runs", "fails", "fails"],
        applies: fewer_rows,
    },
    Rule {
        name: "gather-elements-out-of-range",
        operators: &["GatherElements"],
        condition: "an index is out of range",
        results: ["fails", "fails", "returns another element"],
        applies: index_out_of_range,
    },
    Rule {
        name: "gather-of-strings",
        operators: &["Gather"],
        condition: "the elements are strings",
        results: ["copies the first string of each slice alone", "fails", "copies slices"],
        applies: |node| node.is(0, &[DType::String]).then_some(When::Always),
    },
    Rule {
        name: "gather-out-of-range",
        operators: &["Gather"],
        condition: "an index is out of range",
        results: ["fails", "returns 0", "fails"],
        applies: index_out_of_range,
    },
    Rule {
        name: "gelu-of-infinity",
        operators: &["Gelu"],
        condition: "an element is infinity, on some processors",
        results: ["returns infinity", "returns NaN", "returns infinity"],
        applies: |node| {
            let is_exact = !is_text(node, "approximate", "tanh");
            is_exact.then(|| node.float(0, &[F16, F32], |x| x == f64::INFINITY)).flatten()
        },
    },
    Rule {
        name: "gemm-without-bias",
        operators: &["Gemm"],
        condition: "beta is 0, and an element of C is NaN or infinity",
        results: ["does not read C", "returns NaN", "does not read C"],
        applies: |node| {
            let is_unread = node.attributes.float("beta").ok()?.is_some_and(|beta| beta == 0.0);
            is_unread.then(|| node.float(2, &[F32], |x| !x.is_finite())).flatten()
        },
    },
    Rule {
        name: "grid-sample-at-border",
        operators: &["GridSample"],
        condition: "a point of mode cubic lies outside of an image with padding_mode border",
        results: [
            "moves each neighbor of the point to the border",
            "moves each neighbor of the point to the border",
            "moves the point to the border",
        ],
        applies: |node| {
            let cubic = is_text(node, "mode", "cubic") || is_text(node, "mode", "bicubic");
            (cubic && is_text(node, "padding_mode", "border")).then_some(When::Data)
        },
    },
    Rule {
        name: "hard-sigmoid-and-selu-of-zero",
        operators: &["HardSigmoid", "Selu"],
        condition: "alpha, beta or gamma is 0",
        results: ["computes with 0", "computes with the default", "computes with 0"],
        applies: |node| {
            let is_zero = |name| node.attributes.float(name).ok().flatten() == Some(0.0);
            ["alpha", "beta", "gamma"].into_iter().any(is_zero).then_some(When::Always)
        },
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
        name: "hardmax-of-several-axes",
        operators: &["Hardmax", "LogSoftmax"],
        condition: "the operator set is below 13, and axes after the named one have several elements",
        results: ["takes the axes together", "takes the axes together", "takes the named axis alone"],
        applies: several_axes,
    },
    Rule {
        name: "index-of-maximum-of-nan",
        operators: &["ArgMax", "ArgMin"],
        condition: "an element is NaN",
        results: [
            "passes over NaN",
            "returns an index that depends on the place of NaN",
            "returns the index of NaN",
        ],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "index-of-no-elements",
        operators: &["ArgMax", "ArgMin"],
        condition: "the axis is empty",
        results: ["fails", "returns 0", "fails"],
        applies: no_elements,
    },
    Rule {
        name: "integer-comparison-in-float32",
        operators: &["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"],
        condition: "an element of each input is at most -16777216 or at least 16777216",
        results: ["compares integers", "compares float32", "compares integers"],
        applies: |node| {
            let large = (1 - (1 << 24), (1 << 24) - 1);
            let integers = node.is(0, &[I32, I64]);
            integers.then(|| both(node.outside(0, large), node.outside(1, large))).flatten()
        },
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
            node.equal(1, 0)
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
        name: "integer-maximum-in-float32",
        operators: &["ReduceMax", "ReduceMin", "Relu"],
        condition: "an element is below -16777216 or above 16777216",
        results: ["compares integers", "compares float32", "compares integers"],
        applies: |node| node.is(0, &[I32, I64]).then(|| node.outside(0, FLOAT32)).flatten(),
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
        name: "integer-product-in-float32",
        operators: &["MatMul", "MatMulInteger"],
        condition: "a sum of products is below -16777216 or above 16777216",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        applies: integer_product,
    },
    Rule {
        name: "integer-reduction-in-float64",
        operators: &["ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"],
        condition: "an element or a result has more than 53 bits, or more than its type",
        results: ["computes in float64, and ends at the limits of the type", "computes in float32", "wraps"],
        applies: integer_reduction,
    },
    Rule {
        name: "integer-sum-in-float32",
        operators: &["ReduceL1", "ReduceMean", "ReduceSum"],
        condition: "a sum of some of the elements is below -16777216 or above 16777216",
        results: ["computes in integers", "computes in float32", "computes in integers"],
        applies: |node| {
            let output = node.is(0, &[I32, I64]).then(|| node.output().cloned())??;
            // No part of a sum is larger than the sum, if no element is below zero.
            let is_mean = &*node.node.operator.name == "ReduceMean";
            let rises = !is_mean && node.bounds(0).lower().is_some_and(|least| least >= 0);
            if rises { either(node.fact_outside(&output, FLOAT32), None) } else { Some(When::Data) }
        },
    },
    Rule {
        name: "linear-scores-of-two-classes",
        operators: &["LinearClassifier"],
        condition: "one row of coefficients is for two classes",
        results: ["returns 1 - x for the first class", "fails", "returns -x for the first class"],
        applies: |node| (classes(node)? == 2 && scores(node)? == 1 && is_plain(node)).then_some(When::Always),
    },
    Rule {
        name: "local-response-of-even-size",
        operators: &["LRN"],
        condition: "the number of channels that are summed is even",
        results: ["fails", "runs", "runs"],
        applies: |node| (node.attributes.int_or("size", 1).ok()? % 2 == 0).then_some(When::Always),
    },
    Rule {
        name: "local-response-of-many-channels",
        operators: &["LRN"],
        condition: "there are more channels than samples",
        results: ["sums all channels", "sums all channels", "sums as many channels as there are samples"],
        applies: more_channels,
    },
    Rule {
        name: "local-response-of-other-rank",
        operators: &["LRN"],
        condition: "the rank is not 4",
        results: ["fails", "runs", "fails"],
        applies: |node| (node.input(0)?.rank()? != 4).then_some(When::Always),
    },
    Rule {
        name: "log-softmax-of-distant-elements",
        operators: &["LogSoftmax"],
        condition: "an element is 87 or more below the largest",
        results: ["returns a number", "returns a number", "returns -infinity, or a number that is rounded"],
        applies: distant,
    },
    Rule {
        name: "maximum-of-ceil-mode-and-valid",
        operators: &["MaxPool"],
        condition: "auto_pad is VALID, and ceil_mode is set",
        results: ["rounds up", "rounds up", "rounds down"],
        applies: |node| is_valid_rounded_up(node).then_some(When::Data),
    },
    Rule {
        name: "maximum-of-nan",
        operators: &["Max", "Min"],
        condition: "an element of one of several inputs is NaN",
        results: ["returns NaN", "returns an element that depends on the order of the inputs", "returns NaN"],
        applies: |node| {
            (node.node.inputs.len() > 1).then(|| an_input(node, |node, index| node.nan(index))).flatten()
        },
    },
    Rule {
        name: "maximum-of-no-elements",
        operators: &["ReduceMax", "ReduceMin"],
        condition: "the axes are empty",
        results: ["returns infinity", "returns the largest float32", "returns infinity"],
        applies: |node| node.is(0, &[F32]).then(|| no_elements(node)).flatten(),
    },
    Rule {
        name: "mean-of-no-elements",
        operators: &["ReduceMean"],
        condition: "the axes are empty",
        results: ["returns 0", "returns 0", "returns NaN"],
        applies: |node| node.is(0, &[F16, F32]).then(|| no_elements(node)).flatten(),
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
        name: "nonzero-of-a-scalar",
        operators: &["NonZero"],
        condition: "the data is a scalar",
        results: ["returns a row of indices", "returns a row of indices", "returns no row"],
        applies: |node| {
            let is_scalar = node.input(0)?.dims.as_ref()?.is_empty();
            is_scalar.then_some(When::Always)
        },
    },
    Rule {
        name: "normalization-by-the-largest",
        operators: &["Normalizer"],
        condition: "an element is negative",
        results: [
            "divides by the largest element",
            "divides by the largest magnitude",
            "divides by the largest magnitude",
        ],
        applies: |node| {
            let is_max = matches!(node.attributes.text("norm"), Ok(None | Some("MAX")));
            let negative = |node: &mut NodeFacts<'_>| match node.float(0, &[F32, F64], |x| x < 0.0) {
                None if node.is(0, &[I32, I64]) => node.outside(0, (0, i64::MAX)),
                found => found,
            };
            is_max.then(|| negative(node)).flatten()
        },
    },
    Rule {
        name: "overflow-of-8-bit-integers",
        operators: &["Abs", "Add", "Mul", "Neg", "Sub"],
        condition: "a result does not fit the type",
        results: ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"],
        applies: |node| {
            let dtype = [I8, U8].into_iter().find(|&dtype| node.is(0, &[dtype]))?;
            bounds_outside(result_bounds(node), range_of(dtype)?)
        },
    },
    Rule {
        name: "pad-below-zero-by-wrapping",
        operators: &["Pad"],
        condition: "the mode is wrap, and a pad is below 0",
        results: ["repeats the elements that are left", "fails", "fails"],
        applies: |node| {
            let wraps = is_text(node, "mode", "wrap");
            wraps.then(|| node.outside(1, (0, i64::MAX))).flatten()
        },
    },
    Rule {
        name: "pad-beyond-what-is-left",
        operators: &["Pad"],
        condition: "pads below 0 leave fewer elements than the mode repeats",
        results: ["fails", "repeats removed elements", "fails"],
        applies: leaves_too_few,
    },
    Rule {
        name: "pad-by-wrapping",
        operators: &["Pad"],
        condition: "the mode is wrap",
        results: ["repeats the data", "fails", "repeats the data"],
        applies: |node| is_text(node, "mode", "wrap").then_some(When::Always),
    },
    Rule {
        name: "pads-below-zero",
        operators: &["Pad"],
        condition: "a pad is below 0",
        results: ["removes elements", "removes elements", "fails"],
        applies: |node| node.outside(1, (0, i64::MAX)),
    },
    Rule {
        name: "pool-beyond-padding",
        operators: &["AveragePool"],
        condition: "a window that counts padding goes beyond it",
        results: [
            "divides by what lies within the padding",
            "divides by the size of the window",
            "divides by what lies within the padding",
        ],
        applies: pools_beyond,
    },
    Rule {
        name: "pool-of-ceil-mode-and-valid",
        operators: &["AveragePool", "LpPool"],
        condition: "auto_pad is VALID, and ceil_mode is set",
        results: ["rounds up", "rounds up", "fails"],
        applies: |node| is_valid_rounded_up(node).then_some(When::Always),
    },
    Rule {
        name: "pool-of-infinity",
        operators: &["MaxPool"],
        condition: "all elements of a window are -infinity",
        results: [
            "returns the lowest float32, or -infinity if indices are returned",
            "returns the lowest float32",
            "returns -infinity",
        ],
        applies: |node| node.float(0, &[F32], |x| x == f64::NEG_INFINITY).map(|_| When::Data),
    },
    Rule {
        name: "pool-of-int8",
        operators: &["MaxPool"],
        condition: "the elements are int8",
        results: ["runs", "runs", "fails"],
        applies: |node| node.is(0, &[I8]).then_some(When::Always),
    },
    Rule {
        name: "pool-of-nan",
        operators: &["MaxPool"],
        condition: "an element is NaN",
        results: ["ignores NaN at some places", "ignores NaN", "ignores NaN"],
        applies: |node| node.float(0, &[F32], f64::is_nan),
    },
    Rule {
        name: "pool-of-norms-beyond-padding",
        operators: &["LpPool"],
        condition: "a window goes beyond the padding",
        results: [
            "sums what lies in the window",
            "multiplies the sum by the part that is missing",
            "multiplies the sum by the part that is missing",
        ],
        applies: |node| rounded_up(node, |&(_, step, _)| step > 1),
    },
    Rule {
        name: "pool-of-padding",
        operators: &["MaxPool"],
        condition: "a window begins in the padding at the end",
        results: ["leaves the window out", "returns the lowest float32", "leaves the window out"],
        applies: pools_padding,
    },
    Rule {
        name: "pool-of-same-size-with-dilation",
        operators: &["AveragePool", "LpPool", "MaxPool"],
        condition: "auto_pad asks for the same size, and a dilation is not 1",
        results: [
            "pads for the window without gaps",
            "pads for the dilated window",
            "pads one end or leaves elements 0",
        ],
        applies: |node| is_dilated_to_same(node).then_some(When::Always),
    },
    Rule {
        name: "pool-of-same-size-with-indices",
        operators: &["MaxPool"],
        condition: "auto_pad asks for the same size, indices are returned, and sizes are open",
        results: ["pads both ends", "does not pad the begin", "pads both ends"],
        applies: |node| (is_same(node) && returns_indices_of_open(node)).then_some(When::Data),
    },
    Rule {
        name: "pool-of-valid-windows-with-dilation",
        operators: &["AveragePool", "LpPool"],
        condition: "auto_pad is VALID, and a dilation is not 1",
        results: ["counts dilated windows", "counts dilated windows", "counts windows without gaps"],
        applies: |node| (is_text(node, "auto_pad", "VALID") && is_dilated(node)).then_some(When::Data),
    },
    Rule {
        name: "quantization-beyond-int32",
        operators: &["QuantizeLinear"],
        condition: "a quotient does not fit int32",
        results: ["saturates", "saturates", "returns 0 or the smallest integer"],
        applies: quotient_beyond_int32,
    },
    Rule {
        name: "quantization-to-16-bit-integers",
        operators: &["QuantizeLinear"],
        condition: "a quotient is no integer of the type",
        results: [
            "rounds to the nearest integer, and saturates",
            "may cut to an integer, and keeps the low 16 bits",
            "rounds to the nearest integer, and saturates",
        ],
        applies: |node| {
            let to = node.output().and_then(|fact| fact.dtype);
            to.is_some_and(|to| [I16, U16].contains(&to)).then_some(When::Data)
        },
    },
    Rule {
        name: "quantization-to-float8",
        operators: &["QuantizeLinear"],
        condition: "a quotient rounds differently if it is rounded to float16 first",
        results: ["rounds once", "rounds to float16 first", "rounds once"],
        applies: |node| {
            let to = FLOAT8.into_iter().find(|&to| cast(node, &[F32], &[to]))?;
            let scale = node.constant(1).and_then(|all| <[Number; 1]>::try_from(all).ok());
            let scale = scale.map(|[scale]| nearest_f32(scale));
            node.float(0, &[F32], |x| {
                let quotient = scale.map(|scale| nearest_f32(Number::Float(x)) / scale);
                quotient.is_none_or(|quotient| rounds_twice(quotient.into(), to))
            })
        },
    },
    Rule {
        name: "range-of-float-step-zero",
        operators: &["Range"],
        condition: "the step is 0",
        results: ["fails", "returns no elements", "fails"],
        applies: |node| node.is(0, &[F32]).then(|| node.equal(2, 0)).flatten(),
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
        name: "range-of-float64",
        operators: &["Range"],
        condition: "an element or a quotient is rounded",
        results: ["adds up in float64", "computes in float32", "computes in float64, rounds once"],
        applies: range::of_float64,
    },
    Rule {
        name: "range-of-step-zero",
        operators: &["Range"],
        condition: "the step is 0",
        results: ["fails", "kills the process", "fails"],
        applies: |node| node.is(0, &[I32, I64]).then(|| node.equal(2, 0)).flatten(),
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
        operators: &["GlobalMaxPool", "ReduceMax", "ReduceMin"],
        condition: "an element is NaN",
        results: ["ignores NaN at some places", "ignores NaN at other places", "returns NaN"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "region-without-area",
        operators: &["RoiAlign"],
        condition: "a region has no area, and sampling_ratio is 0",
        results: ["returns 0", "returns NaN", "returns 0"],
        applies: |node| {
            let samples = node.attributes.int_or("sampling_ratio", 0).ok()?;
            let half = !is_text(node, "coordinate_transformation_mode", "output_half_pixel");
            (samples == 0 && half).then_some(When::Data)
        },
    },
    Rule {
        name: "relu-of-nan",
        operators: &["Celu", "Relu"],
        condition: "an element is NaN",
        results: ["returns NaN", "returns 0", "returns NaN"],
        applies: |node| {
            let types: &[DType] = if &*node.node.operator.name == "Celu" { &[F32] } else { &[F16, F32] };
            node.float(0, types, f64::is_nan)
        },
    },
    Rule {
        name: "remainder-by-infinity",
        operators: &["Mod"],
        condition: "an element of the divisor is infinite",
        results: ["returns the dividend", "returns NaN", "returns the dividend"],
        applies: |node| node.float(1, &[F16, F32], f64::is_infinite),
    },
    Rule {
        name: "resize-antialias",
        operators: &["Resize"],
        condition: "antialias is set, and an axis becomes smaller",
        results: [
            "widens the weights as the text says",
            "widens them differently",
            "widens the weights as the text says",
        ],
        applies: |node| {
            let smooths = node.attributes.flag("antialias", false).ok()? && !is_nearest(node);
            smooths.then(|| becomes_smaller(node)).flatten()
        },
    },
    Rule {
        name: "resize-antialias-of-nearest",
        operators: &["Resize"],
        condition: "antialias is set in mode nearest",
        results: ["fails", "ignores it", "fails"],
        applies: |node| {
            let smooths = node.attributes.flag("antialias", false).ok()? && is_nearest(node);
            smooths.then_some(When::Always)
        },
    },
    Rule {
        name: "resize-corners-by-scales",
        operators: &["Resize"],
        condition: "corners are aligned, and a size times its scale is no integer",
        results: [
            "aligns with the last element of the result",
            "aligns with the last element of the result",
            "aligns with the product",
        ],
        applies: |node| {
            is_text(node, "coordinate_transformation_mode", "align_corners")
                .then(|| cut_lengths(node))
                .flatten()
        },
    },
    Rule {
        name: "resize-crop-by-scales",
        operators: &["Resize"],
        condition: "a region is resized, and a size times its scale is no integer",
        results: ["ends at the end of the region", "fails", "ends before it"],
        applies: |node| {
            is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize")
                .then(|| cut_lengths(node))
                .flatten()
        },
    },
    Rule {
        name: "resize-crops",
        operators: &["Resize"],
        condition: "coordinates are those of tf_crop_and_resize",
        results: ["runs", "fails", "runs"],
        applies: |node| {
            is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize").then_some(When::Always)
        },
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
        name: "resize-of-kept-size",
        operators: &["Resize"],
        condition: "a scale other than 1 leaves an axis its size",
        results: [
            "copies if no axis changes its size",
            "copies along the axis",
            "takes coordinates by the scale",
        ],
        applies: |node| divides_by_scales(node).then(|| kept_size(node)).flatten(),
    },
    Rule {
        name: "resize-to-one-element",
        operators: &["Resize"],
        condition: "pytorch_half_pixel makes one element of an axis, by a scale or in mode cubic",
        results: ["takes the first element", "takes the first element", "takes others too"],
        applies: |node| {
            if !is_text(node, "coordinate_transformation_mode", "pytorch_half_pixel") {
                return None;
            }
            let scaled = if is_text(node, "mode", "cubic") { Some(When::Always) } else { by_scales(node) };
            both(scaled, becomes_one(node))
        },
    },
    Rule {
        name: "resize-to-rounded-size",
        operators: &["Resize"],
        condition: "a size times its scale is rounded to another integer in float32 than in float64",
        results: ["multiplies float32", "multiplies float32", "multiplies float64"],
        applies: |node| rounded_size(node),
    },
    Rule {
        name: "resize-with-rounded-scales",
        operators: &["Resize"],
        condition: "mode is nearest, and a scale is no multiple of 1/1024 or coordinates are symmetric",
        results: ["divides float32", "divides float32", "divides float64"],
        applies: |node| {
            if !divides_by_scales(node) || !is_nearest(node) {
                return None;
            }
            // The margin is a quotient by the product of size and scale.
            let symmetric = is_text(node, "coordinate_transformation_mode", "half_pixel_symmetric");
            either(rounded_scales(node), if symmetric { cut_lengths(node) } else { None })
        },
    },
    Rule {
        name: "right-shift-in-float32",
        operators: &["BitShift"],
        condition: "an element is above 16777216",
        results: ["shifts bits", "divides float32", "shifts bits"],
        applies: |node| (!is_left(node) && node.is(0, &[U32])).then(|| node.outside(0, FLOAT32)).flatten(),
    },
    Rule {
        name: "right-shift-of-8-bit-integers",
        operators: &["BitShift"],
        condition: "a shift to the right moves a bit out of the type",
        results: ["drops the bit", "rounds to the nearest integer", "drops the bit"],
        applies: |node| {
            (!is_left(node) && node.is(0, &[U8]))
                .then(|| node.outside(1, (0, 0)))
                .flatten()
                .map(|_| When::Data)
        },
    },
    Rule {
        name: "rounding-before-zero-point",
        operators: &["DynamicQuantizeLinear", "QuantizeLinear"],
        condition: "the zero point is odd, and a quotient is halfway between two integers",
        results: [
            "rounds, then adds the zero point",
            "adds the zero point, then rounds",
            "rounds, then adds the zero point",
        ],
        applies: |node| {
            if &*node.node.operator.name == "DynamicQuantizeLinear" {
                return (zeros(node) != Some(When::Always)).then_some(When::Data);
            }
            let points = node.input(2).map(|_| node.constant(2))?;
            let is_odd = |point: &Number| matches!(point, Number::Int(x) if x % 2 != 0);
            points.is_none_or(|points| points.iter().any(is_odd)).then_some(When::Data)
        },
    },
    Rule {
        name: "scatter-elements-out-of-range",
        operators: &["ScatterElements"],
        condition: "an index is below minus the size of the axis",
        results: ["fails", "kills the process", "fails"],
        applies: index_below,
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
        name: "sign-of-nan",
        operators: &["Sign"],
        condition: "an element of float16 is NaN",
        results: ["returns 0", "returns NaN", "returns NaN"],
        applies: |node| node.float(0, &[F16], f64::is_nan),
    },
    Rule {
        name: "slice-backward-to-the-largest-integer",
        operators: &["Slice"],
        condition: "a step is below 0, and its end is the largest integer of 32 or 64 bits",
        results: ["takes elements down to the first", "takes no elements", "takes no elements"],
        applies: |node| {
            let backward = node.outside(4, (0, i64::MAX))?;
            let to_largest = either(node.equal(2, INT32.1), node.equal(2, i64::MAX));
            both(Some(backward), to_largest)
        },
    },
    Rule {
        name: "slice-bounds-in-32-bits",
        operators: &["Slice"],
        condition: "a bound that is not constant does not fit int32",
        results: ["reads 64 bits", "reads 32 bits", "reads 64 bits"],
        applies: open_bound_outside_int32,
    },
    Rule {
        name: "softmax-of-nan",
        operators: &["LogSoftmax", "Softmax"],
        condition: "an element is NaN or infinity",
        results: [
            "returns NaN for the whole axis",
            "returns NaN for that element",
            "returns NaN for the whole axis",
        ],
        applies: |node| node.float(0, &[F16, F32], |x| x.is_nan() || x == f64::INFINITY),
    },
    Rule {
        name: "softmax-of-several-axes",
        operators: &["Softmax"],
        condition: "the operator set is below 13, and axes after the named one have several elements",
        results: ["takes the axes together", "takes the named axis alone", "takes the named axis alone"],
        applies: several_axes,
    },
    Rule {
        name: "split-into-too-many-parts",
        operators: &["Split"],
        condition: "num_outputs parts of equal size, but for the last one, are larger than the axis",
        results: ["fails", "fails", "returns parts of no elements"],
        applies: |node| uneven_parts(node, true),
    },
    Rule {
        name: "split-into-uneven-parts",
        operators: &["Split"],
        condition: "num_outputs does not divide the size of the axis",
        results: ["makes the last part smaller", "fails", "makes the last part smaller"],
        applies: |node| uneven_parts(node, false),
    },
    Rule {
        name: "split-of-empty-text",
        operators: &["StringSplit"],
        condition: "delimiter is given, and an element is empty",
        results: ["returns no part", "fails", "returns an empty part"],
        applies: |node| {
            let delimiter = node.attributes.text("delimiter").ok()??;
            (!delimiter.is_empty()).then_some(When::Data)
        },
    },
    Rule {
        name: "squeeze-of-no-axes",
        operators: &["Squeeze"],
        condition: "axes is given, and has no elements",
        results: ["removes all axes of size 1", "removes some axes of size 1", "removes no axis"],
        applies: |node| {
            let axes = node.input(1)?.dims.clone();
            let Some(&[count]) = axes.as_deref() else { return Some(When::Data) };
            node.any(&[count], |_, count| [Condition::new(count, Relation::Equal, Dim::ZERO)])
        },
    },
    Rule {
        name: "suppression-at-the-threshold",
        operators: &["NonMaxSuppression"],
        condition: "two boxes overlap by the threshold",
        results: ["keeps both boxes", "keeps the better box", "keeps both boxes"],
        applies: |_| Some(When::Data),
    },
    Rule {
        name: "thresholded-relu-of-nan",
        operators: &["ThresholdedRelu"],
        condition: "an element is NaN or -infinity",
        results: ["returns 0", "returns NaN", "returns 0"],
        applies: |node| node.float(0, &[F16, F32], |x| x.is_nan() || x == f64::NEG_INFINITY),
    },
    Rule {
        name: "topk-of-equal-elements",
        operators: &["TopK"],
        condition: "two elements are equal, and more than one is selected",
        results: [
            "returns the lower index first",
            "returns indices in another order",
            "returns the lower index first",
        ],
        applies: ties,
    },
    Rule {
        name: "topk-of-nan",
        operators: &["TopK"],
        condition: "an element is NaN",
        results: ["orders NaN as the largest", "orders NaN by its place", "orders NaN as the largest"],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "topk-of-no-elements",
        operators: &["TopK"],
        condition: "no element is selected",
        results: ["returns no elements", "fails", "returns no elements"],
        applies: |node| node.equal(1, 0),
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
        name: "transform-of-one-class",
        operators: &["LinearClassifier"],
        condition: "the only score is transformed, not by PROBIT",
        results: ["returns the score", "fails", "transforms it"],
        applies: |node| (classes(node)? < 2 && is_ignored_transform(node)).then_some(When::Always),
    },
    Rule {
        name: "transform-of-one-target",
        operators: &["LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"],
        condition: "the only target is transformed, not by PROBIT",
        results: ["returns the sum", "fails", "fails"],
        applies: |node| {
            let is_one = |name| matches!(node.attributes.int_or(name, 1), Ok(1));
            let is_only = is_one("targets") && is_one("n_targets");
            (is_only && is_ignored_transform(node)).then_some(When::Always)
        },
    },
    Rule {
        name: "transposed-convolution-of-given-pads",
        operators: &["ConvTranspose"],
        condition: "pads are given together with output_shape",
        results: ["computes pads from the shape", "takes the pads", "takes the pads"],
        applies: |node| {
            let pads =
                node.attributes.ints("pads").ok()?.is_some_and(|pads| pads.iter().any(|&pad| pad != 0));
            (pads && given_size(node, false).is_some()).then_some(When::Data)
        },
    },
    Rule {
        name: "transposed-convolution-of-given-size",
        operators: &["ConvTranspose"],
        condition: "output_shape is smaller than the sums, and pads are not given",
        results: ["leaves out sums at both ends", "leaves out sums at the end", "fails"],
        applies: |node| {
            let pads =
                node.attributes.ints("pads").ok()?.is_some_and(|pads| pads.iter().any(|&pad| pad != 0));
            if pads { None } else { left_out(node, false, |total| total > 0) }
        },
    },
    Rule {
        name: "transposed-convolution-of-larger-same-size",
        operators: &["ConvTranspose"],
        condition: "output_shape is larger than the sums by 2 or more, and auto_pad is SAME_UPPER or SAME_LOWER",
        results: ["fails", "adds zeros after the sums", "adds zeros on both sides"],
        applies: |node| left_out(node, true, |total| total <= -2),
    },
    Rule {
        name: "transposed-convolution-of-larger-size",
        operators: &["ConvTranspose"],
        condition: "output_shape is larger than the sums by 2 or more",
        results: ["fails", "adds zeros after the sums", "fails"],
        applies: |node| left_out(node, false, |total| total <= -2),
    },
    Rule {
        name: "transposed-convolution-of-odd-padding",
        operators: &["ConvTranspose"],
        condition: "output_shape leaves out an odd number of sums, and auto_pad says at which end one more",
        results: ["the end that auto_pad names", "the other end", "the end that auto_pad names"],
        applies: |node| left_out(node, true, |total| total > 0 && total % 2 == 1),
    },
    Rule {
        name: "transposed-convolution-of-same-size",
        operators: &["ConvTranspose"],
        condition: "auto_pad is SAME_UPPER or SAME_LOWER, and windows are larger than the stride",
        results: ["returns stride times the size", "returns all sums", "returns stride times the size"],
        applies: |node| same_size(node, |window, stride| window > stride),
    },
    Rule {
        name: "transposed-convolution-with-gaps",
        operators: &["ConvTranspose"],
        condition: "auto_pad is SAME_UPPER or SAME_LOWER, and windows are smaller than the stride",
        results: ["returns all sums", "returns all sums", "returns stride times the size"],
        applies: |node| same_size(node, |window, stride| window < stride),
    },
    Rule {
        name: "tree-without-a-class",
        operators: &["TreeEnsembleClassifier"],
        condition: "all scores of a row are negative, but for classes without a leaf",
        results: ["returns the best class that has a leaf", "fails", "returns the best class"],
        applies: |node| {
            let weights = node.attributes.floats("class_weights").ok()??;
            (classes(node)? > 2 && weights.iter().any(|weight| *weight < 0.0)).then_some(When::Data)
        },
    },
    Rule {
        name: "unique-of-nan",
        operators: &["Unique"],
        condition: "an element is NaN",
        results: [
            "takes elements next to NaN as equal to it",
            "takes every NaN as another element",
            "takes all NaN as one element",
        ],
        applies: |node| node.nan(0),
    },
    Rule {
        name: "unpool-into-a-given-shape",
        operators: &["MaxUnpool"],
        condition: "output_shape is given",
        results: [
            "counts indices in the given shape",
            "fails",
            "counts indices in the shape of the attributes",
        ],
        applies: |node| node.input(2).map(|_| When::Always),
    },
];
