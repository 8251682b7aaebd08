//! The table of differences: operator, condition, and what each program returns.
//!
//! `conformance/portability.py` has models for every row; `tests/models/portability.rs` holds the rows
//! against what the programs returned.

use gradus_core::convert::{nearest_f32, nearest_f64};
use gradus_core::{DType, Number};

use super::checks::{
    an_input, an_input_outside, becomes_one, becomes_smaller, both, bounds_outside, by_scales, cast, classes,
    cut_lengths, distant, divides_by_scales, either, fewer_rows, given_size, index_below, index_out_of_range,
    integer_product, integer_reduction, is_dilated, is_dilated_to_same, is_ignored_transform, is_left,
    is_nearest, is_plain, is_power_of_two, is_same, is_text, is_valid_rounded_up, kept_size, leaves_too_few,
    left_out, more_channels, no_elements, no_windows, open_bound_outside_int32, pools_beyond, pools_padding,
    quotient_beyond_int32, ratio_of_axes_from_the_end, region_of_kept_sizes, result_bounds, result_outside,
    returns_indices_of_open, rounded_scales, rounded_size, rounded_up, rounds_twice, same_size, scores,
    several_axes, ties, uneven_parts, wide_weights, zeros,
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

use DType::{BF16, Bool, F16, F32, F64, I4, I8, I16, I32, I64, U4, U8, U16, U32, U64};

/// The floats of 8 bits that OpenVINO has.
const FLOAT8: [DType; 2] = [DType::F8E4M3FN, DType::F8E5M2];

/// Rules: name and operators, the data for which programs differ, their results, and when they may
/// differ at a node.
macro_rules! rules {
    ($(
        $name:literal [$($operator:ident)*] $condition:literal [$($result:literal),* $(,)?] $applies:expr;
    )*) => {
        pub(super) const RULES: &[Rule] = &[$(Rule {
            name: $name,
            operators: &[$(stringify!($operator)),*],
            condition: $condition,
            results: [$($result),*],
            applies: $applies,
        }),*];
    };
}

rules! {
    "64-bit-integers-in-32-bits" [Abs Add BitwiseAnd BitwiseNot CumSum Mul Neg Sub]
        "a result does not fit int32" ["computes in 64 bits", "computes in 32 bits", "computes in 64 bits"]
        |node| if node.is(0, &[I64]) { result_outside(node, INT32) } else { None };
    "64-bit-operands-in-32-bits" [Clip Equal Greater GreaterOrEqual Less LessOrEqual Max Min Range]
        "an element does not fit int32" ["reads 64 bits", "reads 32 bits", "reads 64 bits"]
        |node| {
            node.is(0, &[I64]).then(|| an_input(node, |node, index| node.outside(index, INT32))).flatten()
        };
    "8-bit-products-in-16-bits" [MatMulInteger]
        "a weight is below -64 or above 64, on a processor without VNNI"
        ["saturates sums of two products to 16 bits", "computes in wider types", "computes in wider types"]
        |node| wide_weights(node, 1);
    "8-bit-quantized-products-in-16-bits" [QLinearConv QLinearMatMul]
        "a weight is below -64 or above 64, on a processor without VNNI"
        [
            "saturates sums of two products to 16 bits",
            "saturates sums of two products to 16 bits",
            "computes in wider types",
        ]
        |node| wide_weights(node, 3);
    "cast-by-int32" [Cast]
        "an element does not fit int32"
        ["converts in 64 bits", "converts to int32 first", "converts in 64 bits"]
        |node| {
            let casts = cast(node, &[F32], &[I64, U64, U32]) || cast(node, &[F64, U32, U64], &[I64]);
            casts.then(|| node.outside(0, INT32)).flatten()
        };
    "cast-of-float64-to-float16" [Cast]
        "an element rounds differently if it is rounded to float32 first"
        ["rounds to float32 first", "rounds to float32 first", "rounds once"]
        |node| {
            let rounds = |x: f64| f64::from(nearest_f32(Number::Float(x))) != x;
            cast(node, &[F64], &[F16]).then(|| node.float(0, &[F64], rounds)).flatten()
        };
    "cast-of-float64-to-float32" [Cast]
        "an element is beyond float32"
        ["returns infinity", "returns the largest float32", "returns infinity"]
        |node| {
            let beyond = |x: f64| x.abs() > f64::from(f32::MAX);
            cast(node, &[F64], &[F32]).then(|| node.float(0, &[F64], beyond)).flatten()
        };
    "cast-of-float64-to-int32" [Cast]
        "an element does not fit int32" ["returns -2147483648", "saturates", "returns -2147483648"]
        |node| cast(node, &[F64], &[I32]).then(|| node.outside(0, INT32)).flatten();
    "cast-of-floats-to-4-bit-integers" [Cast]
        "an element is no integer of the type"
        [
            "rounds to the nearest integer, ties away from zero, and keeps the low 4 bits",
            "rounds to the nearest integer, ties away from zero, and computes in 8 bits",
            "cuts fractions, and returns 0 out of range",
        ]
        |node| {
            let to = [I4, U4].into_iter().find(|&to| cast(node, &[BF16, F16, F32, F64], &[to]))?;
            let (low, high) = range_of(to)?;
            let [low, high] = [low, high].map(|end| nearest_f64(Number::Int(end.into())));
            let fits = |x: f64| x.fract() == 0.0 && (low..=high).contains(&x);
            node.float(0, &[BF16, F16, F32, F64], |x| !fits(x))
        };
    "cast-of-integers-to-4-bit-integers" [Cast]
        "an element does not fit the type"
        ["keeps the low 4 bits", "keeps the low 8 bits", "keeps the low 4 bits"]
        |node| {
            let from = [I8, I16, I32, I64, U8, U16, U32, U64];
            let to = [I4, U4].into_iter().find(|&to| cast(node, &from, &[to]))?;
            node.outside(0, range_of(to)?)
        };
    "cast-of-nan-to-bool" [Cast]
        "an element is NaN" ["returns true", "returns false", "returns true"]
        |node| cast(node, &[F16, F32], &[Bool]).then(|| node.nan(0)).flatten();
    "cast-to-8-bit-integers" [Cast]
        "an element does not fit the type" ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"]
        |node| {
            let to = [I8, U8].into_iter().find(|&to| cast(node, &[F16, F32], &[to]))?;
            node.outside(0, range_of(to)?)
        };
    "cast-to-float8" [Cast]
        "an element is out of range, or rounds differently if it is rounded to float16 first"
        [
            "rounds once, and saturates",
            "rounds to float16 first, and returns NaN or infinity out of range",
            "rounds once, and saturates",
        ]
        |node| {
            let to = FLOAT8.into_iter().find(|&to| cast(node, &[F16, F32], &[to]))?;
            let saturates = node.attributes.flag("saturate", true).unwrap_or(true);
            let most = largest_float8(to)?;
            node.float(0, &[F16, F32], |x| (saturates && x.abs() > most) || rounds_twice(x, to))
        };
    "cast-to-text" [Cast]
        "always"
        [
            "writes floats with at most 8 digits, and truth as 1 or 0",
            "fails",
            "writes the shortest float that is the same, and truth as True or False",
        ]
        |node| cast(node, &[F16, F32, F64, Bool], &[DType::String]).then_some(When::Always);
    "clip-of-nan" [Clip]
        "an element is NaN" ["returns NaN", "returns a bound", "returns NaN"]
        |node| node.nan(0);
    "clip-to-nan" [Clip]
        "a bound is NaN" ["ignores the bound", "ignores the lower bound", "returns NaN"]
        |node| either(node.nan(1), node.nan(2));
    "comparison-of-nan" [Greater GreaterOrEqual]
        "an element is NaN, on some processors" ["returns false", "returns true", "returns false"]
        |node| either(node.nan(0), node.nan(1));
    "convolution-of-no-elements" [Conv]
        "no window fits in the input" ["fails", "returns no elements", "returns no elements"]
        no_windows;
    "convolution-of-same-size-with-dilation" [Conv ConvInteger]
        "auto_pad asks for the same size, and a dilation is not 1"
        ["fails", "pads for the dilated window", "pads for the dilated window"]
        |node| is_dilated_to_same(node).then_some(When::Always);
    "division-by-reciprocal" [Div]
        "a quotient is rounded"
        ["rounds the quotient", "multiplies by the rounded reciprocal", "rounds the quotient"]
        |node| {
            let powers_of_two =
                node.constant(1).is_some_and(|divisors| divisors.iter().all(|&x| is_power_of_two(x)));
            (node.is(1, &[F32]) && !powers_of_two).then_some(When::Data)
        };
    "division-of-8-bit-integers" [Div]
        "a quotient is no integer"
        ["rounds toward zero", "rounds to the nearest integer", "rounds toward zero"]
        |node| node.is(0, &[I8, U8]).then_some(When::Data);
    "division-of-the-smallest-integer" [Div]
        "the smallest integer of the type is divided by -1"
        [
            "kills the process",
            "returns the smallest integer of int32, or 0",
            "returns the smallest integer of the type",
        ]
        |node| {
            let dtype = [I32, I64].into_iter().find(|&dtype| node.is(0, &[dtype]))?;
            let (least, _) = range_of(dtype)?;
            both(node.equal(0, least), node.equal(1, -1))
        };
    "dynamic-quantization-of-zeros" [DynamicQuantizeLinear]
        "all elements are 0" ["returns the scale 1", "returns the scale 0", "returns the scale 1/255"]
        zeros;
    "exponential-of-nan" [Exp]
        "an element is NaN" ["returns NaN", "returns infinity", "returns NaN"]
        |node| node.nan(0);
    "float64-in-float32" [
        Add Cast Ceil Div Equal Exp Gather Greater GreaterOrEqual IsInf Less LessOrEqual Log MatMul Max
        Mul Pow ReduceMean ReduceSum Relu Sigmoid Softmax Sqrt Sub Where
    ]
        "an element or a result is no float32"
        ["computes in float64", "computes in float32", "computes in float64"]
        |node| match &*node.node.operator.name {
            "Cast" => cast(node, &[I32, I64], &[F64]).then(|| node.outside(0, FLOAT32)).flatten(),
            "Where" => node.is(1, &[F64]).then_some(When::Data),
            _ => node.is(0, &[F64]).then_some(When::Data),
        };
    "gather-elements-of-fewer-rows" [GatherElements]
        "an axis of the indices, other than the one that is gathered, is smaller than that of the data"
        ["runs", "fails", "fails"]
        fewer_rows;
    "gather-elements-out-of-range" [GatherElements]
        "an index is out of range" ["fails", "fails", "returns another element"]
        index_out_of_range;
    "gather-of-strings" [Gather]
        "the elements are strings" ["copies the first string of each slice alone", "fails", "copies slices"]
        |node| node.is(0, &[DType::String]).then_some(When::Always);
    "gather-out-of-range" [Gather]
        "an index is out of range" ["fails", "returns 0", "fails"]
        index_out_of_range;
    "gelu-of-infinity" [Gelu]
        "an element is infinity, on some processors" ["returns infinity", "returns NaN", "returns infinity"]
        |node| {
            let is_exact = !is_text(node, "approximate", "tanh");
            is_exact.then(|| node.float(0, &[F16, F32], |x| x == f64::INFINITY)).flatten()
        };
    "gemm-without-bias" [Gemm]
        "beta is 0, and an element of C is NaN or infinity"
        ["does not read C", "returns NaN", "does not read C"]
        |node| {
            let is_unread = node.attributes.float("beta").ok()?.is_some_and(|beta| beta == 0.0);
            is_unread.then(|| node.float(2, &[F32], |x| !x.is_finite())).flatten()
        };
    "grid-sample-at-border" [GridSample]
        "a point of mode cubic lies outside of an image with padding_mode border"
        [
            "moves each neighbor of the point to the border",
            "moves each neighbor of the point to the border",
            "moves the point to the border",
        ]
        |node| {
            let cubic = is_text(node, "mode", "cubic") || is_text(node, "mode", "bicubic");
            (cubic && is_text(node, "padding_mode", "border")).then_some(When::Data)
        };
    "hard-sigmoid-and-selu-of-zero" [HardSigmoid Selu]
        "alpha, beta or gamma is 0" ["computes with 0", "computes with the default", "computes with 0"]
        |node| {
            let is_zero = |name| node.attributes.float(name).ok().flatten() == Some(0.0);
            ["alpha", "beta", "gamma"].into_iter().any(is_zero).then_some(When::Always)
        };
    "hard-sigmoid-of-nan" [HardSigmoid]
        "an element is NaN" ["returns NaN", "returns 1", "returns NaN"]
        |node| node.nan(0);
    "hardmax-of-nan" [Hardmax]
        "an element is NaN" ["selects a number", "selects a number", "selects NaN"]
        |node| node.nan(0);
    "hardmax-of-several-axes" [Hardmax LogSoftmax]
        "the operator set is below 13, and axes after the named one have several elements"
        ["takes the axes together", "takes the axes together", "takes the named axis alone"]
        several_axes;
    "index-of-maximum-of-nan" [ArgMax ArgMin]
        "an element is NaN"
        ["passes over NaN", "returns an index that depends on the place of NaN", "returns the index of NaN"]
        |node| node.nan(0);
    "index-of-no-elements" [ArgMax ArgMin]
        "the axis is empty" ["fails", "returns 0", "fails"]
        no_elements;
    "integer-comparison-in-float32" [Equal Greater GreaterOrEqual Less LessOrEqual]
        "an element of each input is at most -16777216 or at least 16777216"
        ["compares integers", "compares float32", "compares integers"]
        |node| {
            let large = (1 - (1 << 24), (1 << 24) - 1);
            let integers = node.is(0, &[I32, I64]);
            integers.then(|| both(node.outside(0, large), node.outside(1, large))).flatten()
        };
    "integer-division-by-zero" [Div Mod]
        "an element of the divisor is 0" ["fails", "returns -2147483648", "returns 0"]
        |node| {
            if !node.is(0, &[I32, I64]) {
                return None;
            }
            node.equal(1, 0)
        };
    "integer-division-in-float32" [Div]
        "an element is below -16777216 or above 16777216"
        ["computes in integers", "computes in float32", "computes in integers"]
        |node| node.is(0, &[I32, I64, U32]).then(|| an_input_outside(node, FLOAT32)).flatten();
    "integer-maximum-in-float32" [ReduceMax ReduceMin Relu]
        "an element is below -16777216 or above 16777216"
        ["compares integers", "compares float32", "compares integers"]
        |node| node.is(0, &[I32, I64]).then(|| node.outside(0, FLOAT32)).flatten();
    "integer-modulus-in-float32" [Mod]
        "an element is below -8388608 or above 8388608"
        ["computes in integers", "computes in float32", "computes in integers"]
        // The multiple of the divisor that is subtracted has up to a bit more.
        |node| node.is(0, &[I32, I64]).then(|| an_input_outside(node, (-(1 << 23), 1 << 23))).flatten();
    "integer-power-in-float32" [Pow]
        "a result is below -16777216 or above 16777216"
        ["computes in integers", "computes in float32", "computes in integers"]
        |node| {
            let output = node.is(0, &[I32, I64]).then(|| node.output().cloned())??;
            either(node.fact_outside(&output, FLOAT32), None)
        };
    "integer-product-in-float32" [MatMul MatMulInteger]
        "a sum of products is below -16777216 or above 16777216"
        ["computes in integers", "computes in float32", "computes in integers"]
        integer_product;
    "integer-reduction-in-float64" [ReduceL1 ReduceMean ReduceProd ReduceSum ReduceSumSquare]
        "an element or a result has more than 53 bits, or more than its type"
        ["computes in float64, and ends at the limits of the type", "computes in float32", "wraps"]
        integer_reduction;
    "integer-sum-in-float32" [ReduceL1 ReduceMean ReduceSum]
        "a sum of some of the elements is below -16777216 or above 16777216"
        ["computes in integers", "computes in float32", "computes in integers"]
        |node| {
            let output = node.is(0, &[I32, I64]).then(|| node.output().cloned())??;
            // No part of a sum is larger than the sum, if no element is below zero.
            let is_mean = &*node.node.operator.name == "ReduceMean";
            let rises = !is_mean && node.bounds(0).lower().is_some_and(|least| least >= 0);
            if rises { either(node.fact_outside(&output, FLOAT32), None) } else { Some(When::Data) }
        };
    "linear-scores-of-two-classes" [LinearClassifier]
        "one row of coefficients is for two classes"
        ["returns 1 - x for the first class", "fails", "returns -x for the first class"]
        |node| (classes(node)? == 2 && scores(node)? == 1 && is_plain(node)).then_some(When::Always);
    "linear-softmax-of-two-classes" [LinearClassifier]
        "one row of coefficients is for two classes, and post_transform is SOFTMAX or SOFTMAX_ZERO"
        ["returns 1 - x and x", "fails", "returns the softmax of -x and x"]
        |node| {
            let is_softmax = ["SOFTMAX", "SOFTMAX_ZERO"].iter().any(|name| is_text(node, "post_transform", name));
            (classes(node)? == 2 && scores(node)? == 1 && is_softmax).then_some(When::Always)
        };
    "local-response-of-even-size" [LRN]
        "the number of channels that are summed is even" ["fails", "runs", "runs"]
        |node| (node.attributes.int_or("size", 1).ok()? % 2 == 0).then_some(When::Always);
    "local-response-of-many-channels" [LRN]
        "there are more channels than samples"
        ["sums all channels", "sums all channels", "sums as many channels as there are samples"]
        more_channels;
    "local-response-of-other-rank" [LRN]
        "the rank is not 4" ["fails", "runs", "fails"]
        |node| (node.input(0)?.rank()? != 4).then_some(When::Always);
    "log-softmax-of-distant-elements" [LogSoftmax]
        "an element is 87 or more below the largest"
        ["returns a number", "returns a number", "returns -infinity, or a number that is rounded"]
        distant;
    "maximum-of-ceil-mode-and-valid" [MaxPool]
        "auto_pad is VALID, and ceil_mode is set" ["rounds up", "rounds up", "rounds down"]
        |node| is_valid_rounded_up(node).then_some(When::Data);
    "maximum-of-nan" [Max Min]
        "an element of one of several inputs is NaN"
        ["returns NaN", "returns an element that depends on the order of the inputs", "returns NaN"]
        |node| {
            (node.node.inputs.len() > 1).then(|| an_input(node, |node, index| node.nan(index))).flatten()
        };
    "maximum-of-no-elements" [ReduceMax ReduceMin]
        "the axes are empty" ["returns infinity", "returns the largest float32", "returns infinity"]
        |node| node.is(0, &[F32]).then(|| no_elements(node)).flatten();
    "mean-of-no-elements" [ReduceMean]
        "the axes are empty" ["returns 0", "returns 0", "returns NaN"]
        |node| node.is(0, &[F16, F32]).then(|| no_elements(node)).flatten();
    "negative-power-of-integers" [Pow]
        "an exponent is below 0" ["rounds toward zero", "rounds toward zero", "fails"]
        |node| {
            let integers = node.is(0, &[I32, I64]) && node.is(1, &[I32, I64]);
            integers.then(|| node.outside(1, (0, i64::MAX))).flatten()
        };
    "nonzero-of-a-scalar" [NonZero]
        "the data is a scalar" ["returns a row of indices", "returns a row of indices", "returns no row"]
        |node| {
            let is_scalar = node.input(0)?.dims.as_ref()?.is_empty();
            is_scalar.then_some(When::Always)
        };
    "normalization-by-the-largest" [Normalizer]
        "an element is negative"
        [
            "divides by the largest element",
            "divides by the largest magnitude",
            "divides by the largest magnitude",
        ]
        |node| {
            let is_max = matches!(node.attributes.text("norm"), Ok(None | Some("MAX")));
            let negative = |node: &mut NodeFacts<'_>| match node.float(0, &[F32, F64], |x| x < 0.0) {
                None if node.is(0, &[I32, I64]) => node.outside(0, (0, i64::MAX)),
                found => found,
            };
            is_max.then(|| negative(node)).flatten()
        };
    "overflow-of-8-bit-integers" [Abs Add Mul Neg Sub]
        "a result does not fit the type" ["keeps the low 8 bits", "saturates", "keeps the low 8 bits"]
        |node| {
            let dtype = [I8, U8].into_iter().find(|&dtype| node.is(0, &[dtype]))?;
            bounds_outside(result_bounds(node), range_of(dtype)?)
        };
    "pad-below-zero-by-wrapping" [Pad]
        "the mode is wrap, and a pad is below 0" ["repeats the elements that are left", "fails", "fails"]
        |node| {
            let wraps = is_text(node, "mode", "wrap");
            wraps.then(|| node.outside(1, (0, i64::MAX))).flatten()
        };
    "pad-beyond-what-is-left" [Pad]
        "pads below 0 leave fewer elements than the mode repeats"
        ["fails", "repeats removed elements", "fails"]
        leaves_too_few;
    "pad-by-wrapping" [Pad]
        "the mode is wrap" ["repeats the data", "fails", "repeats the data"]
        |node| is_text(node, "mode", "wrap").then_some(When::Always);
    "pads-below-zero" [Pad]
        "a pad is below 0" ["removes elements", "removes elements", "fails"]
        |node| node.outside(1, (0, i64::MAX));
    "pool-beyond-padding" [AveragePool]
        "a window that counts padding goes beyond it"
        [
            "divides by what lies within the padding",
            "divides by the size of the window",
            "divides by what lies within the padding",
        ]
        pools_beyond;
    "pool-of-ceil-mode-and-valid" [AveragePool LpPool]
        "auto_pad is VALID, and ceil_mode is set" ["rounds up", "rounds up", "fails"]
        |node| is_valid_rounded_up(node).then_some(When::Always);
    "pool-of-infinity" [MaxPool]
        "all elements of a window are -infinity"
        [
            "returns the lowest float32, or -infinity if indices are returned",
            "returns the lowest float32",
            "returns -infinity",
        ]
        |node| node.float(0, &[F32], |x| x == f64::NEG_INFINITY).map(|_| When::Data);
    "pool-of-int8" [MaxPool]
        "the elements are int8" ["runs", "runs", "fails"]
        |node| node.is(0, &[I8]).then_some(When::Always);
    "pool-of-nan" [MaxPool]
        "an element is NaN" ["ignores NaN at some places", "ignores NaN", "ignores NaN"]
        |node| node.float(0, &[F32], f64::is_nan);
    "pool-of-norms-beyond-padding" [LpPool]
        "a window goes beyond the padding"
        [
            "sums what lies in the window",
            "multiplies the sum by the part that is missing",
            "multiplies the sum by the part that is missing",
        ]
        |node| rounded_up(node, |&(_, step, _)| step > 1);
    "pool-of-padding" [MaxPool]
        "a window begins in the padding at the end"
        ["leaves the window out", "returns the lowest float32", "leaves the window out"]
        pools_padding;
    "pool-of-same-size-with-dilation" [AveragePool LpPool MaxPool]
        "auto_pad asks for the same size, and a dilation is not 1"
        [
            "pads for the window without gaps",
            "pads for the dilated window",
            "pads one end or leaves elements 0",
        ]
        |node| is_dilated_to_same(node).then_some(When::Always);
    "pool-of-same-size-with-indices" [MaxPool]
        "auto_pad asks for the same size, indices are returned, and sizes are open"
        ["pads both ends", "does not pad the begin", "pads both ends"]
        |node| (is_same(node) && returns_indices_of_open(node)).then_some(When::Data);
    "pool-of-valid-windows-with-dilation" [AveragePool LpPool]
        "auto_pad is VALID, and a dilation is not 1"
        ["counts dilated windows", "counts dilated windows", "counts windows without gaps"]
        |node| (is_text(node, "auto_pad", "VALID") && is_dilated(node)).then_some(When::Data);
    "quantization-beyond-int32" [QuantizeLinear]
        "a quotient does not fit int32" ["saturates", "saturates", "returns 0 or the smallest integer"]
        quotient_beyond_int32;
    "quantization-to-16-bit-integers" [QuantizeLinear]
        "a quotient is no integer of the type"
        [
            "rounds to the nearest integer, and saturates",
            "may cut to an integer, and keeps the low 16 bits",
            "rounds to the nearest integer, and saturates",
        ]
        |node| {
            let to = node.output().and_then(|fact| fact.dtype);
            to.is_some_and(|to| [I16, U16].contains(&to)).then_some(When::Data)
        };
    "quantization-to-float8" [QuantizeLinear]
        "a quotient rounds differently if it is rounded to float16 first"
        ["rounds once", "rounds to float16 first", "rounds once"]
        |node| {
            let to = FLOAT8.into_iter().find(|&to| cast(node, &[F32], &[to]))?;
            let scale = node.constant(1).and_then(|all| <[Number; 1]>::try_from(all).ok());
            let scale = scale.map(|[scale]| nearest_f32(scale));
            node.float(0, &[F32], |x| {
                let quotient = scale.map(|scale| nearest_f32(Number::Float(x)) / scale);
                quotient.is_none_or(|quotient| rounds_twice(quotient.into(), to))
            })
        };
    "range-of-float-step-zero" [Range]
        "the step is 0" ["fails", "returns no elements", "fails"]
        |node| node.is(0, &[F32]).then(|| node.equal(2, 0)).flatten();
    "range-of-float32" [Range]
        "an element or a quotient is rounded"
        [
            "counts in float64, adds up in float32",
            "counts and adds up in float32",
            "computes in float64, rounds once",
        ]
        range::of_float32;
    "range-of-float64" [Range]
        "an element or a quotient is rounded"
        ["adds up in float64", "computes in float32", "computes in float64, rounds once"]
        range::of_float64;
    "range-of-step-zero" [Range]
        "the step is 0" ["fails", "kills the process", "fails"]
        |node| node.is(0, &[I32, I64]).then(|| node.equal(2, 0)).flatten();
    "range-of-wrong-sign" [Range]
        "the limit is on the other side of the start than the step's sign says"
        ["returns no elements", "returns as many elements as for the opposite step", "returns no elements"]
        range::of_wrong_sign;
    "recurrent-lengths" [GRU LSTM RNN]
        "a sequence is shorter than the longest"
        ["keeps to the lengths", "ignores them if the batch or the steps are open", "ignores them"]
        |node| {
            node.input(4)?;
            let steps = node.input(0)?.dims.as_ref().and_then(|dims| dims.first()?.known());
            let are_steps = |lengths: Vec<Number>| {
                lengths.iter().all(|&length| steps.is_some_and(|steps| length == Number::Int(steps.into())))
            };
            let is_full = !node.attributes.flag("layout", false).ok()? && node.constant(4).is_some_and(are_steps);
            (!is_full).then_some(When::Data)
        };
    "reduced-maximum-of-nan" [GlobalMaxPool ReduceMax ReduceMin]
        "an element is NaN" ["ignores NaN at some places", "ignores NaN at other places", "returns NaN"]
        |node| node.nan(0);
    "region-without-area" [RoiAlign]
        "a region has no area, and sampling_ratio is 0" ["returns 0", "returns NaN", "returns 0"]
        |node| {
            let samples = node.attributes.int_or("sampling_ratio", 0).ok()?;
            let half = !is_text(node, "coordinate_transformation_mode", "output_half_pixel");
            (samples == 0 && half).then_some(When::Data)
        };
    "relu-of-nan" [Celu Relu]
        "an element is NaN" ["returns NaN", "returns 0", "returns NaN"]
        |node| {
            let types: &[DType] = if &*node.node.operator.name == "Celu" { &[F32] } else { &[F16, F32] };
            node.float(0, types, f64::is_nan)
        };
    "remainder-by-infinity" [Mod]
        "an element of the divisor is infinite"
        ["returns the dividend", "returns NaN", "returns the dividend"]
        |node| node.float(1, &[F16, F32], f64::is_infinite);
    "resize-antialias" [Resize]
        "antialias is set, and an axis becomes smaller"
        [
            "widens the weights as the text says",
            "widens them differently",
            "widens the weights as the text says",
        ]
        |node| {
            let smooths = node.attributes.flag("antialias", false).ok()? && !is_nearest(node);
            smooths.then(|| becomes_smaller(node)).flatten()
        };
    "resize-antialias-of-nearest" [Resize]
        "antialias is set in mode nearest" ["fails", "ignores it", "fails"]
        |node| {
            let smooths = node.attributes.flag("antialias", false).ok()? && is_nearest(node);
            smooths.then_some(When::Always)
        };
    "resize-corners-by-scales" [Resize]
        "corners are aligned, and a size times its scale is no integer"
        [
            "aligns with the last element of the result",
            "aligns with the last element of the result",
            "aligns with the product",
        ]
        |node| {
            is_text(node, "coordinate_transformation_mode", "align_corners")
                .then(|| cut_lengths(node))
                .flatten()
        };
    "resize-crop-by-scales" [Resize]
        "a region is resized, and a size times its scale is no integer"
        ["ends at the end of the region", "fails", "ends before it"]
        |node| {
            is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize")
                .then(|| cut_lengths(node))
                .flatten()
        };
    "resize-crop-of-kept-sizes" [Resize]
        "a region is resized to the sizes of the input"
        ["copies the input", "fails", "resizes the region"]
        |node| {
            is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize")
                .then(|| region_of_kept_sizes(node))
                .flatten()
        };
    "resize-crops" [Resize]
        "coordinates are those of tf_crop_and_resize" ["runs", "fails", "runs"]
        |node| {
            is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize").then_some(When::Always)
        };
    "resize-half-pixel-symmetric" [Resize]
        "coordinates are those of half_pixel_symmetric" ["runs", "fails", "runs"]
        |node| {
            is_text(node, "coordinate_transformation_mode", "half_pixel_symmetric").then_some(When::Always)
        };
    "resize-of-axes-from-the-end" [Resize]
        "keep_aspect_ratio_policy gives a negative axis another size"
        ["copies the input", "fails", "fails"]
        |node| ratio_of_axes_from_the_end(node);
    "resize-of-halves" [Resize]
        "a coordinate is halfway between two elements" ["rounds up", "may round down", "rounds up"]
        |node| {
            let asymmetric = is_text(node, "coordinate_transformation_mode", "asymmetric");
            (asymmetric && is_text(node, "nearest_mode", "round_prefer_ceil")).then_some(When::Data)
        };
    "resize-of-kept-size" [Resize]
        "a scale other than 1 leaves an axis its size"
        ["copies if no axis changes its size", "copies along the axis", "takes coordinates by the scale"]
        |node| divides_by_scales(node).then(|| kept_size(node)).flatten();
    "resize-to-one-element" [Resize]
        "pytorch_half_pixel makes one element of an axis, by a scale or in mode cubic"
        ["takes the first element", "takes the first element", "takes others too"]
        |node| {
            if !is_text(node, "coordinate_transformation_mode", "pytorch_half_pixel") {
                return None;
            }
            let scaled = if is_text(node, "mode", "cubic") { Some(When::Always) } else { by_scales(node) };
            both(scaled, becomes_one(node))
        };
    "resize-to-rounded-size" [Resize]
        "a size times its scale is rounded to another integer in float32 than in float64"
        ["multiplies float32", "multiplies float32", "multiplies float64"]
        |node| rounded_size(node);
    "resize-with-rounded-scales" [Resize]
        "mode is nearest, and a scale is no multiple of 1/1024, or a quotient by the ratio of two sizes is rounded, or coordinates are symmetric"
        ["divides float32", "divides float32 in another order", "divides float64"]
        |node| {
            if !divides_by_scales(node) || !is_nearest(node) {
                return None;
            }
            // The margin is a quotient by the product of size and scale.
            let symmetric = is_text(node, "coordinate_transformation_mode", "half_pixel_symmetric");
            either(rounded_scales(node), if symmetric { cut_lengths(node) } else { None })
        };
    "right-shift-in-float32" [BitShift]
        "an element is above 16777216" ["shifts bits", "divides float32", "shifts bits"]
        |node| (!is_left(node) && node.is(0, &[U32])).then(|| node.outside(0, FLOAT32)).flatten();
    "right-shift-of-8-bit-integers" [BitShift]
        "a shift to the right moves a bit out of the type"
        ["drops the bit", "rounds to the nearest integer", "drops the bit"]
        |node| {
            (!is_left(node) && node.is(0, &[U8]))
                .then(|| node.outside(1, (0, 0)))
                .flatten()
                .map(|_| When::Data)
        };
    "rounding-before-zero-point" [DynamicQuantizeLinear QuantizeLinear]
        "the zero point is odd, and a quotient is halfway between two integers"
        [
            "rounds, then adds the zero point",
            "adds the zero point, then rounds",
            "rounds, then adds the zero point",
        ]
        |node| {
            if &*node.node.operator.name == "DynamicQuantizeLinear" {
                return (zeros(node) != Some(When::Always)).then_some(When::Data);
            }
            let points = node.input(2).map(|_| node.constant(2))?;
            let is_odd = |point: &Number| matches!(point, Number::Int(x) if x % 2 != 0);
            points.is_none_or(|points| points.iter().any(is_odd)).then_some(When::Data)
        };
    "scatter-elements-out-of-range" [ScatterElements]
        "an index is below minus the size of the axis" ["fails", "kills the process", "fails"]
        index_below;
    "shift-by-all-bits" [BitShift]
        "a shift to the left is by 32 bits or more" ["returns 0", "returns another number", "returns 0"]
        |node| (is_left(node) && node.is(0, &[U32])).then(|| node.outside(1, (0, 31))).flatten();
    "shift-of-8-bit-integers" [BitShift]
        "a shift to the left moves a bit out of the type" ["drops the bit", "saturates", "drops the bit"]
        |node| {
            if !is_left(node) || !node.is(0, &[U8]) {
                return None;
            }
            let power = node.bounds(1).upper().filter(|&by| by < 32).map(|by| Bounds::exactly(1 << by));
            bounds_outside(node.bounds(0).times(power.unwrap_or(Bounds::ANY)), range_of(U8)?)
        };
    "sign-of-nan" [Sign]
        "an element of float16 is NaN" ["returns 0", "returns NaN", "returns NaN"]
        |node| node.float(0, &[F16], f64::is_nan);
    "slice-backward-to-the-largest-integer" [Slice]
        "a step is below 0, and its end is the largest integer of 32 or 64 bits"
        ["takes elements down to the first", "takes no elements", "takes no elements"]
        |node| {
            let backward = node.outside(4, (0, i64::MAX))?;
            let to_largest = either(node.equal(2, INT32.1), node.equal(2, i64::MAX));
            both(Some(backward), to_largest)
        };
    "slice-bounds-in-32-bits" [Slice]
        "a bound that is not constant does not fit int32"
        ["reads 64 bits", "reads 32 bits", "reads 64 bits"]
        open_bound_outside_int32;
    "softmax-of-nan" [LogSoftmax Softmax]
        "an element is NaN or infinity"
        ["returns NaN for the whole axis", "returns NaN for that element", "returns NaN for the whole axis"]
        |node| node.float(0, &[F16, F32], |x| x.is_nan() || x == f64::INFINITY);
    "softmax-of-several-axes" [Softmax]
        "the operator set is below 13, and axes after the named one have several elements"
        ["takes the axes together", "takes the named axis alone", "takes the named axis alone"]
        several_axes;
    "split-into-too-many-parts" [Split]
        "num_outputs parts of equal size, but for the last one, are larger than the axis"
        ["fails", "fails", "returns parts of no elements"]
        |node| uneven_parts(node, true);
    "split-into-uneven-parts" [Split]
        "num_outputs does not divide the size of the axis"
        ["makes the last part smaller", "fails", "makes the last part smaller"]
        |node| uneven_parts(node, false);
    "split-of-empty-text" [StringSplit]
        "delimiter is given, and an element is empty" ["returns no part", "fails", "returns an empty part"]
        |node| {
            let delimiter = node.attributes.text("delimiter").ok()??;
            (!delimiter.is_empty()).then_some(When::Data)
        };
    "squeeze-of-no-axes" [Squeeze]
        "axes is given, and has no elements"
        ["removes all axes of size 1", "removes some axes of size 1", "removes no axis"]
        |node| {
            let axes = node.input(1)?.dims.clone();
            let Some(&[count]) = axes.as_deref() else { return Some(When::Data) };
            node.any(&[count], |_, count| [Condition::new(count, Relation::Equal, Dim::ZERO)])
        };
    "suppression-at-the-threshold" [NonMaxSuppression]
        "two boxes overlap by the threshold"
        ["keeps both boxes", "keeps the better box", "keeps both boxes"]
        |_| Some(When::Data);
    "thresholded-relu-of-nan" [ThresholdedRelu]
        "an element is NaN or -infinity" ["returns 0", "returns NaN", "returns 0"]
        |node| node.float(0, &[F16, F32], |x| x.is_nan() || x == f64::NEG_INFINITY);
    "topk-of-equal-elements" [TopK]
        "two elements are equal, and more than one is selected"
        [
            "returns the lower index first",
            "returns indices in another order",
            "returns the lower index first",
        ]
        ties;
    "topk-of-nan" [TopK]
        "an element is NaN"
        ["orders NaN as the largest", "orders NaN by its place", "orders NaN as the largest"]
        |node| node.nan(0);
    "topk-of-no-elements" [TopK]
        "no element is selected" ["returns no elements", "fails", "returns no elements"]
        |node| node.equal(1, 0);
    "topk-unsorted" [TopK]
        "more than one element is selected"
        ["returns the elements in no order", "sorts the elements", "sorts the elements"]
        |node| {
            let unsorted = !node.attributes.flag("sorted", true).ok()?;
            unsorted.then(|| node.outside(1, (0, 1)).map(|_| When::Data)).flatten()
        };
    "transform-of-one-class" [LinearClassifier]
        "the only score is transformed, not by PROBIT" ["returns the score", "fails", "transforms it"]
        |node| (classes(node)? < 2 && is_ignored_transform(node)).then_some(When::Always);
    "transform-of-one-target" [LinearRegressor SVMRegressor TreeEnsembleRegressor]
        "the only target is transformed, not by PROBIT" ["returns the sum", "fails", "fails"]
        |node| {
            let is_one = |name| matches!(node.attributes.int_or(name, 1), Ok(1));
            let is_only = is_one("targets") && is_one("n_targets");
            (is_only && is_ignored_transform(node)).then_some(When::Always)
        };
    "transposed-convolution-of-given-pads" [ConvTranspose]
        "pads are given together with output_shape"
        ["computes pads from the shape", "takes the pads", "takes the pads"]
        |node| {
            let pads =
                node.attributes.ints("pads").ok()?.is_some_and(|pads| pads.iter().any(|&pad| pad != 0));
            (pads && given_size(node, false).is_some()).then_some(When::Data)
        };
    "transposed-convolution-of-given-size" [ConvTranspose]
        "output_shape is smaller than the sums, and pads are not given"
        ["leaves out sums at both ends", "leaves out sums at the end", "fails"]
        |node| {
            let pads =
                node.attributes.ints("pads").ok()?.is_some_and(|pads| pads.iter().any(|&pad| pad != 0));
            if pads { None } else { left_out(node, false, |total| total > 0) }
        };
    "transposed-convolution-of-larger-same-size" [ConvTranspose]
        "output_shape is larger than the sums by 2 or more, and auto_pad is SAME_UPPER or SAME_LOWER"
        ["fails", "adds zeros after the sums", "adds zeros on both sides"]
        |node| left_out(node, true, |total| total <= -2);
    "transposed-convolution-of-larger-size" [ConvTranspose]
        "output_shape is larger than the sums by 2 or more" ["fails", "adds zeros after the sums", "fails"]
        |node| left_out(node, false, |total| total <= -2);
    "transposed-convolution-of-odd-padding" [ConvTranspose]
        "output_shape leaves out an odd number of sums, and auto_pad says at which end one more"
        ["the end that auto_pad names", "the other end", "the end that auto_pad names"]
        |node| left_out(node, true, |total| total > 0 && total % 2 == 1);
    "transposed-convolution-of-same-size" [ConvTranspose]
        "auto_pad is SAME_UPPER or SAME_LOWER, and windows are larger than the stride"
        ["returns stride times the size", "returns all sums", "returns stride times the size"]
        |node| same_size(node, |window, stride| window > stride);
    "transposed-convolution-with-gaps" [ConvTranspose]
        "auto_pad is SAME_UPPER or SAME_LOWER, and windows are smaller than the stride"
        ["returns all sums", "returns all sums", "returns stride times the size"]
        |node| same_size(node, |window, stride| window < stride);
    "tree-without-a-class" [TreeEnsembleClassifier]
        "all scores of a row are negative, but for classes without a leaf"
        ["returns the best class that has a leaf", "fails", "returns the best class"]
        |node| {
            let weights = node.attributes.floats("class_weights").ok()??;
            (classes(node)? > 2 && weights.iter().any(|weight| *weight < 0.0)).then_some(When::Data)
        };
    "unique-of-nan" [Unique]
        "an element is NaN"
        [
            "takes elements next to NaN as equal to it",
            "takes every NaN as another element",
            "takes all NaN as one element",
        ]
        |node| node.nan(0);
    "unpool-into-a-given-shape" [MaxUnpool]
        "output_shape is given"
        ["counts indices in the given shape", "fails", "counts indices in the shape of the attributes"]
        |node| node.input(2).map(|_| When::Always);
}
