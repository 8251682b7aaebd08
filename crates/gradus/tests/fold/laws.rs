//! Laws of proofs: what each makes equal is so in runs, and what is nearly so is not proved.

use std::collections::HashMap;

use fastrand::Rng;
use gradus::graph::Content;
use gradus::prove::{ProveOptions, UpTo, Verdict};
use gradus::{DType, Model, Number, Rules, Shape, Tensor, Value};

use super::prove::{differ, outputs, proof, written};
use crate::common::sketch::Sketch;

/// Each number of float16, NaN, infinities and -0 among them.
fn all_numbers() -> Tensor {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    Tensor::from_bytes(DType::F16, Shape::new([256, 256]).unwrap(), bytes.into()).unwrap()
}

fn scalar(value: f64) -> Tensor {
    of_type(DType::F16, value)
}

fn of_type(dtype: DType, value: f64) -> Tensor {
    Tensor::from_numbers(dtype, Shape::new([]).unwrap(), [Number::Float(value)], Rules::IEEE).unwrap()
}

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// Operators that are applied one after the other, each with its other input and attributes.
type Chain = Vec<(&'static str, Option<Tensor>, Vec<(&'static str, Content)>)>;

fn chain(nodes: &Chain, dtype: DType) -> Model {
    let mut sketch = Sketch::of("x: float16[256, 256]");
    let mut last = "x".to_owned();
    for (index, (operator, other, attributes)) in nodes.iter().enumerate() {
        let name = if index + 1 == nodes.len() { "y".to_owned() } else { format!("v{index}") };
        let constant = format!("c{index}");
        let mut inputs = vec![&*last];
        if let Some(tensor) = other {
            sketch = sketch.constant(&constant, tensor.clone());
            inputs.push(&constant);
        }
        sketch = sketch.with(operator, &inputs, &[name.as_str()], attributes.clone());
        last = name;
    }
    sketch.output("y", dtype, &["", ""]).model()
}

/// Laws on all numbers of float16: what is proved is what a run shows, and near misses are not
/// proved.
#[test]
fn laws_hold_for_every_number_of_16_bits() {
    let plain = |name| (name, None, vec![]);
    let by = |name, value| (name, Some(scalar(value)), vec![]);
    let to = |number| ("Cast", None, vec![int("to", number)]);
    let order = |all: &[i64]| ("Transpose", None, vec![("perm", Content::Ints(all.into()))]);
    let view = |all: &[i64]| ("Reshape", Some(Tensor::vector(all)), vec![]);
    let x = || vec![plain("Identity")];
    let pairs: Vec<(Chain, Chain, bool)> = vec![
        (vec![plain("Neg"), plain("Neg")], x(), true),
        (vec![by("Mul", 1.0)], x(), true),
        (vec![by("Div", 1.0)], x(), true),
        (vec![by("Pow", 1.0)], x(), true),
        (vec![plain("Reciprocal"), plain("Reciprocal")], x(), false),
        (vec![by("Sub", 0.0)], x(), true),
        (vec![by("Add", -0.0)], x(), true),
        (vec![by("Add", 0.0)], x(), false),
        (vec![by("Sub", -0.0)], x(), false),
        (vec![by("Mul", -1.0)], x(), false),
        (vec![by("Min", f64::INFINITY)], x(), true),
        (vec![by("Max", f64::NEG_INFINITY)], x(), true),
        (vec![by("Min", f64::NEG_INFINITY)], x(), false),
        (vec![by("Max", -65504.0)], x(), false),
        (vec![to(1), to(10)], x(), true),
        (vec![to(16), to(10)], x(), false),
        (vec![plain("Abs"), plain("Abs")], vec![plain("Abs")], true),
        (vec![plain("Ceil"), plain("Ceil")], vec![plain("Ceil")], true),
        (vec![plain("Floor"), plain("Floor")], vec![plain("Floor")], true),
        (vec![plain("Relu"), plain("Relu")], vec![plain("Relu")], true),
        (vec![plain("Round"), plain("Round")], vec![plain("Round")], true),
        (vec![plain("Sign"), plain("Sign")], vec![plain("Sign")], true),
        (vec![plain("Floor"), plain("Ceil")], vec![plain("Ceil")], false),
        (vec![order(&[1, 0]), plain("Relu"), order(&[1, 0])], vec![plain("Relu")], true),
        (vec![order(&[1, 0]), plain("Relu")], vec![plain("Relu")], false),
        (vec![view(&[512, 128]), plain("Neg"), view(&[256, 256])], vec![plain("Neg")], true),
        (vec![view(&[16, 16, 256]), order(&[1, 0, 2]), order(&[1, 0, 2]), view(&[256, 256])], x(), true),
        (vec![view(&[16, 16, 256]), order(&[1, 0, 2]), view(&[256, 256])], x(), false),
        (vec![order(&[1, 0]), by("Add", 2.0), order(&[1, 0])], vec![by("Add", 2.0)], true),
        (vec![by("Add", 0.0), plain("Sqrt")], vec![plain("Sqrt")], false),
    ];
    let input = HashMap::from([("x".to_owned(), Value::from(all_numbers()))]);
    for (number, (first, second, same)) in pairs.into_iter().enumerate() {
        let (first, second) = (chain(&first, DType::F16), chain(&second, DType::F16));
        let differs = differ(&outputs(&first, &input).unwrap(), &outputs(&second, &input).unwrap());
        let proved = proof(&first, &second).is_some_and(|proof| proof.is_complete());
        assert_eq!(differs, !same, "pair {number}");
        assert_eq!(proved, same, "pair {number}");
    }
}

/// Reshapes whose -1 stands next to a size that may be 0, so that they are known by later nodes.
const SIZES_KNOWN_LATER: &str = "x: float32[n, m]; p: float32[16]; k = [-1]; q = [2]; e = [8]; \
     s = Shape(x, start=1, end=2); c = Concat(k, s, axis=0); v = Reshape(x, c, allowzero=1); \
     u = Unsqueeze(v, q); w = Add(u, p); b = Shape(x, start=0, end=1); d = Concat(b, s, k, e, axis=0); \
     t = Reshape(w, d, allowzero=1); t1 = Transpose(t, perm=[0, 2, 1, 3]); t2 = Neg(t1); \
     t3 = Transpose(t2, perm=[0, 2, 1, 3]); f = Concat(b, s, k, axis=0); z = Reshape(t3, f, allowzero=1)";

/// The graph of each side, after its inputs and before its output, and whether both are the same.
const PAIRS: &[(&str, &str, &str, bool)] = &[
    ("x: float32[n, n]", "t = Transpose(x); y = Add(x, t)", "y = Add(x, x)", false),
    ("x: float32[n, m]", "y = Softmax(x, axis=-1)", "y = Softmax(x, axis=1)", true),
    ("x: float32[n, m]", "y = Softmax(x, axis=-1)", "y = Softmax(x, axis=0)", false),
    ("x: float32[n, m]; a: float32[m]", "y = Add(x, a)", "y = Add(a, x)", true),
    ("x: float32[n, m]; a: float32[n, m]", "y = Sub(x, a)", "y = Sub(a, x)", false),
    // As many elements forwards are all of them; backwards they are in another order.
    (
        "x: float32[n, m]",
        "h = Shape(x, start=1); b = Neg(h); e = [9223372036854775807]; a = [1]; y = Slice(x, b, e, a, a)",
        "y = Identity(x)",
        true,
    ),
    (
        "x: float32[n, m]",
        "b = [-1]; e = [-9223372036854775807]; a = [1]; s = [-1]; y = Slice(x, b, e, a, s)",
        "y = Identity(x)",
        false,
    ),
    // Axes of at most one element repeat nothing; those of two do.
    (
        "x: float32[n, 3]",
        "s = Shape(x); g = Sign(s); m = [-1]; r = Reshape(x, m); e = Expand(r, g); y = Reshape(e, s, allowzero=1)",
        "y = Identity(x)",
        true,
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(x, t)",
        false,
    ),
    (
        "x: float32[a, b, c]",
        "t = Transpose(x, perm=[1, 2, 0]); y = Transpose(t, perm=[1, 2, 0])",
        "y = Transpose(x, perm=[2, 0, 1])",
        true,
    ),
    (
        "x: float32[a, b, c]",
        "t = Transpose(x, perm=[1, 2, 0]); y = Transpose(t, perm=[1, 2, 0])",
        "y = Transpose(x, perm=[1, 2, 0])",
        false,
    ),
    ("x: float32[3, 3]", "y = Transpose(x)", "y = Identity(x)", false),
    ("x: float32[1, 3]", "s = [3, 1]; y = Reshape(x, s)", "y = Transpose(x)", true),
    ("x: float32[2, 3]", "s = [3, 2]; y = Reshape(x, s)", "y = Transpose(x)", false),
    ("x: float32[a, b, c]", "y = Flatten(x, axis=1)", "s = [0, -1]; y = Reshape(x, s)", true),
    ("x: float32[a, b, c]", "y = Flatten(x, axis=2)", "s = [0, -1]; y = Reshape(x, s)", false),
    ("x: float32[n, m]", "a = [0]; y = ReduceSum(x, a)", "a = [1]; y = ReduceSum(x, a)", false),
    ("x: float32[n]; z: float32[k]", "y = Concat(x, z, axis=0)", "y = Concat(z, x, axis=0)", false),
    ("x: float32[n, m]", "y = Size(x)", "s = Shape(x); y = ReduceProd(s, keepdims=0)", true),
    ("x: float32[n, m]", "y = Shape(x)", "t = Transpose(x); y = Shape(t)", false),
    ("x: int64[n]", "t = Cast(x, to=6); y = Cast(t, to=7)", "y = Identity(x)", false),
    ("x: int64[n]", "t = Cast(x, to=11); y = Cast(t, to=7)", "y = Identity(x)", false),
    ("x: int8[n]", "t = Cast(x, to=1); y = Cast(t, to=7)", "y = Cast(x, to=7)", true),
    ("x: int8[n]", "t = Cast(x, to=1); y = Cast(t, to=2)", "y = Cast(x, to=2)", false),
    ("x: float32[n, m]", "y = RandomNormalLike(x)", "y = RandomNormalLike(x)", false),
    ("x: float32[n, m]; c: bool[n, m]", "y = Where(c, x, x)", "d = Not(c); y = Where(d, x, x)", true),
    (
        "x: float32[n, m]; z: float32[n, m]; c: bool[n, m]",
        "y = Where(c, x, z)",
        "d = Not(c); y = Where(d, x, z)",
        false,
    ),
    ("x: float32[3, 2]", "i = [-1]; y = Gather(x, i)", "i = [2]; y = Gather(x, i)", true),
    ("x: float32[3, 2]", "i = [0, 1]; y = Gather(x, i)", "i = [1, 0]; y = Gather(x, i)", false),
    ("x: float32[n]", "y = ArgMax(x)", "y = ArgMax(x, select_last_index=1)", false),
    ("x: float32[n]", "y = LeakyRelu(x, alpha=0.01)", "y = LeakyRelu(x)", true),
    ("x: float32[n]", "y = LeakyRelu(x, alpha=0.02)", "y = LeakyRelu(x)", false),
    ("x: float32[n, m]", "y = Concat(x, axis=0)", "y = Identity(x)", true),
    // Nothing is known of the sizes that steps of 1 leave.
    (
        "x: float32[n, m]; i: int64[1]; e = [9]; a = [1]; o = [1]",
        "y = Slice(x, i, e, a, o)",
        "y = Slice(x, i, e, a)",
        true,
    ),
    (
        "x: float32[n, m]; i: int64[1]; e = [9]; a = [1]; o = [2]",
        "y = Slice(x, i, e, a, o)",
        "y = Slice(x, i, e, a)",
        false,
    ),
    // More is known of the sizes of the second model, after what those of the first must be.
    (SIZES_KNOWN_LATER, "y = Add(z, w)", "y = Add(w, z)", true),
    (SIZES_KNOWN_LATER, "y = Add(z, w)", "y = Sub(z, w)", false),
];

#[test]
fn reciprocals_are_quotients_for_every_number_of_16_bits() {
    let first = written("x: float16[256, 256]; y = Reciprocal(x)");
    let second = written(
        "x: float16[256, 256]; o = Shape(x); d = Div(o, o); c = ReduceMin(d, keepdims=0); e = Cast(c, to=10); y = Div(e, x)",
    );
    let input = HashMap::from([("x".to_owned(), Value::from(all_numbers()))]);
    assert!(!differ(&outputs(&first, &input).unwrap(), &outputs(&second, &input).unwrap()));
    assert!(proof(&first, &second).is_some_and(|proof| proof.is_complete()));
}

/// Operators that move, choose and reduce all numbers of float16, and whether both are the same.
const MOVES: &[(&str, &str, bool)] = &[
    ("a = [1]; y = ReduceMax(x, a, keepdims=0)", "a = [-1]; t = ReduceMax(x, a); y = Squeeze(t, a)", true),
    ("a = [1]; y = ReduceMin(x, a, keepdims=0)", "a = [-1]; t = ReduceMin(x, a); y = Squeeze(t, a)", true),
    ("a = [0, 1]; y = ReduceSum(x, a)", "y = ReduceSum(x)", true),
    ("a = [-1, 0]; y = ReduceL1(x, a)", "a = [0, 1]; y = ReduceL1(x, a)", true),
    ("a = [0]; y = ReduceMax(x, a)", "a = [1]; t = ReduceMax(x, a); y = Transpose(t)", false),
    ("a = [1]; y = ReduceMax(x, a)", "a = [1]; y = ReduceMin(x, a)", false),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceMax(t, a, keepdims=0)", "y = Identity(x)", true),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceProd(t, a, keepdims=0)", "y = Identity(x)", true),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceL1(t, a, keepdims=0)", "y = Identity(x)", false),
    ("s = [100, 156]; a, b = Split(x, s); y = Concat(a, b, axis=0)", "y = Identity(x)", true),
    ("s = [100, 156]; a, b = Split(x, s); y = Concat(b, a, axis=0)", "y = Identity(x)", false),
    (
        "s = [128, 128]; a, b = Split(x, s); y = Concat(a, b, axis=1)",
        "s = [128, 512]; y = Reshape(x, s)",
        false,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); d = Concat(c, x, axis=0); y = Relu(d)",
        "n = Neg(x); d = Concat(x, n, x, axis=0); y = Relu(d)",
        true,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); f = [256]; t = [512]; a = [0]; y = Slice(c, f, t, a)",
        "y = Neg(x)",
        true,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); f = [255]; t = [511]; a = [0]; y = Slice(c, f, t, a)",
        "y = Neg(x)",
        false,
    ),
    ("i = [3, 4, 5]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", true),
    (
        "i = [3, 5, 7]; y = Gather(x, i, axis=-1)",
        "f = [3]; t = [8]; a = [1]; s = [2]; y = Slice(x, f, t, a, s)",
        true,
    ),
    ("i = [5, 4, 3]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", false),
    ("i = [3, 4, 6]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", false),
    ("i = [-1]; y = Gather(x, i)", "f = [255]; t = [256]; a = [0]; y = Slice(x, f, t, a)", true),
    ("y = Cast(x, to=9)", "e = Equal(x, zero); y = Not(e)", true),
    ("y = Cast(x, to=9)", "e = Equal(x, one); y = Not(e)", false),
    (
        "k = 3; y = Trilu(x, k)",
        "z = 0; o = 1; n = 256; k = 3; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = GreaterOrEqual(d, k); y = Where(c, x, zero)",
        true,
    ),
    (
        "y = Trilu(x, upper=0)",
        "z = 0; o = 1; n = 256; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = LessOrEqual(d, z); y = Where(c, x, zero)",
        true,
    ),
    (
        "y = Trilu(x)",
        "z = 0; o = 1; n = 256; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = Greater(d, z); y = Where(c, x, zero)",
        false,
    ),
];

#[test]
fn laws_of_moves_and_reductions_hold_for_every_number_of_16_bits() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for (dtype, text) in [(DType::F16, "float16"), (DType::BF16, "bfloat16")] {
        let shape = Shape::new([256, 256]).unwrap();
        let numbers = Tensor::from_bytes(dtype, shape, bytes.clone().into()).unwrap();
        let input = HashMap::from([("x".to_owned(), Value::from(numbers))]);
        for (first, second, same) in MOVES {
            let model = |nodes: &str| {
                let mut sketch = Sketch::of(&format!("x: {text}[256, 256]"));
                for (name, value) in [("zero", 0.0), ("one", 1.0)] {
                    sketch = sketch.constant(name, of_type(dtype, value));
                }
                sketch = sketch.text(nodes);
                sketch.0.output("y");
                sketch.model()
            };
            let (first, second) = (model(first), model(second));
            let runs = outputs(&first, &input).zip(outputs(&second, &input));
            let (a, b) = runs.unwrap_or_else(|| panic!("{first:?} or {second:?} does not run"));
            assert_eq!(!differ(&a, &b), *same, "{text}: runs of {:?}", second.graph().nodes());
            let proved = proof(&first, &second).is_some_and(|proof| proof.is_complete());
            assert_eq!(proved, *same, "{text}: proof of {:?}", second.graph().nodes());
        }
    }
}

/// Inputs, both graphs, and what their outputs are the same up to; nothing if they are not.
const LEVELS: &[(&str, &str, &str, Option<UpTo>)] = &[
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(x, t)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(a, t)",
        None,
    ),
    (
        "x: float32[n, 8]; a: float32[8, 4]; b: float32[8, 4]",
        "w = Concat(a, b, axis=1); p = MatMul(x, w); u, v = Split(p, axis=1, num_outputs=2); y = Sub(u, v)",
        "u = MatMul(x, a); v = MatMul(x, b); y = Sub(u, v)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 8]; a: float32[8, 4]; b: float32[8, 4]",
        "w = Concat(a, b, axis=1); p = MatMul(x, w); u, v = Split(p, axis=1, num_outputs=2); y = Sub(u, v)",
        "u = MatMul(x, a); v = MatMul(x, b); y = Sub(v, u)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]; b: float32[4]",
        "y = Gemm(x, w, b)",
        "t = MatMul(x, w); y = Add(b, t)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]; b: float32[4]",
        "y = Gemm(x, w, b, alpha=2.0)",
        "t = MatMul(x, w); y = Add(b, t)",
        None,
    ),
    (
        "x: float32[4, n]; w: float32[8, 4]",
        "y = Gemm(x, w, transA=1, transB=1)",
        "s = Transpose(x); v = Transpose(w); y = MatMul(s, v)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 3, h, h]; w: float32[4, 3, 3, 3]; b: float32[4]",
        "y = Conv(x, w, b)",
        "s = [4, 1, 1]; t = Conv(x, w, kernel_shape=[3, 3], pads=[0, 0, 0, 0]); c = Reshape(b, s); y = Add(t, c)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 3, h, h]; w: float32[4, 3, 3, 3]; b: float32[4]",
        "y = Conv(x, w, b)",
        "s = [4, 1, 1]; t = Conv(x, w, pads=[1, 1, 1, 1]); c = Reshape(b, s); y = Add(t, c)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8]; b: float32[8]",
        "y = LayerNormalization(x, w, b, epsilon=0.5)",
        "a = [-1]; e = 0.5; p = 2.0; m = ReduceMean(x, a); d = Sub(x, m); q = Pow(d, p); v = ReduceMean(q, a); u = Add(v, e); r = Sqrt(u); i = Reciprocal(r); t = Mul(d, i); s = Mul(w, t); y = Add(b, s)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n, 8]; w: float32[8]; b: float32[8]",
        "y = LayerNormalization(x, w, b, epsilon=0.5)",
        "a = [-1]; e = 0.25; p = 2.0; m = ReduceMean(x, a); d = Sub(x, m); q = Pow(d, p); v = ReduceMean(q, a); u = Add(v, e); r = Sqrt(u); i = Reciprocal(r); t = Mul(d, i); s = Mul(w, t); y = Add(b, s)",
        None,
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Mul(x, a); y = Div(t, b)",
        "t = Div(a, b); y = Mul(t, x)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Mul(x, a); y = Div(t, b)",
        "t = Div(b, a); y = Mul(t, x)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]",
        "c = 0.125; q = Mul(x, c); y = MatMul(q, w)",
        "c = 8.0; t = MatMul(x, w); y = Div(t, c)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]",
        "c = 0.125; q = Mul(x, c); y = MatMul(q, w)",
        "c = 4.0; t = MatMul(x, w); y = Div(t, c)",
        None,
    ),
    ("x: float32[n]; a: float32[n]", "t = Sub(x, a); y = Neg(t)", "y = Sub(a, x)", Some(UpTo::Rounding)),
    ("x: float32[n]; a: float32[n]", "t = Sub(x, a); y = Neg(t)", "y = Sub(x, a)", None),
    ("x: float32[n]", "t = Cast(x, to=10); y = Cast(t, to=1)", "y = Identity(x)", Some(UpTo::Rounding)),
    ("x: float32[n]", "y = Cast(x, to=10)", "y = Identity(x)", None),
    ("x: float32[n]", "t = Cast(x, to=10); y = Cast(t, to=8)", "y = Cast(x, to=8)", None),
    (
        "x: float32[n]",
        "t = Cast(x, to=10); y = BitCast(t, to=5)",
        "t = Cast(x, to=16); y = BitCast(t, to=5)",
        None,
    ),
    ("x: float32[n]", "c = 0.1; y = Mul(x, c)", "c = 10.0; y = Div(x, c)", None),
    ("x: int32[n]; a: int32[n]", "t = Div(x, a); y = Mul(t, a)", "y = Identity(x)", None),
];

/// Each pair is proved up to what it says, and up to no less; runs differ by as little.
#[test]
fn sums_and_real_numbers_have_laws_of_their_own() {
    for (inputs, first, second, least) in LEVELS {
        let model = |nodes: &str| written(&format!("{inputs}; {nodes}"));
        let (first_model, second_model) = (model(first), model(second));
        for up_to in UpTo::ALL {
            let mut options = ProveOptions::default();
            (options.up_to, options.certificate) = (up_to, true);
            options.time = std::time::Duration::ZERO;
            let proof = first_model.prove(&second_model, &options).unwrap().proof.unwrap();
            let wanted = least.is_some_and(|least| least <= up_to);
            assert_eq!(proof.is_complete(), wanted, "{first} and {second} up to {up_to:?}");
            if !wanted {
                continue;
            }
            assert_eq!(Some(proof.up_to), *least, "{first} and {second}");
            let steps = proof.certificate.unwrap();
            let replayed = gradus::prove::verify(&first_model, &second_model, &steps, &options).unwrap();
            assert_eq!((replayed.is_complete(), replayed.up_to), (true, proof.up_to));
            for other in UpTo::ALL.into_iter().filter(|other| *other != up_to) {
                options.up_to = other;
                let answer = gradus::prove::verify(&first_model, &second_model, &steps, &options);
                assert!(answer.is_err(), "{first} and {second}: {other:?} for {up_to:?}");
            }
        }
        let mut options = ProveOptions::default();
        (options.up_to, options.time) = (UpTo::Rounding, std::time::Duration::from_secs(2));
        let verdict = first_model.prove(&second_model, &options).unwrap().verdict;
        assert!(!(least.is_some() && matches!(verdict, Verdict::Different(_))), "{first} and {second}");
    }
}

#[test]
fn pairs_are_proved_where_they_are_the_same() {
    for (inputs, first, second, same) in PAIRS {
        let model = |nodes: &str| written(&format!("{inputs}; {nodes}"));
        let proved = proof(&model(first), &model(second)).is_some_and(|proof| proof.is_complete());
        assert_eq!(proved, *same, "{first} and {second}");
    }
}

/// A tensor of random numbers, among them those that laws may get wrong.
fn any(rng: &mut Rng, dtype: DType, sizes: &[usize]) -> Tensor {
    let shape = Shape::new(sizes).unwrap();
    let odd = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40, -1e38, 1.0];
    let number = |_| match dtype {
        DType::Bool => Number::Int(rng.i128(0..2)),
        _ if dtype.is_integer() => Number::Int(rng.i128(0..3)),
        _ if rng.u8(0..8) == 0 => Number::Float(odd[rng.usize(0..odd.len())]),
        _ => Number::Float(f64::from(rng.i32(-64..64)) / 8.0),
    };
    let numbers: Vec<_> = (0..shape.len()).map(number).collect();
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap()
}

/// Random values of all inputs that a text declares, with numbers for sizes.
pub fn random(rng: &mut Rng, inputs: &str) -> HashMap<String, Value> {
    let input = |text: &str| {
        let (name, declared) = text.trim().split_once(": ").unwrap();
        let (dtype, sizes) = declared.strip_suffix(']').unwrap().split_once('[').unwrap();
        let sizes: Vec<usize> = sizes.split(", ").map(|size| size.parse().unwrap()).collect();
        (name.to_owned(), Value::from(any(rng, dtype.parse().unwrap(), &sizes)))
    };
    inputs.split(';').map(input).collect()
}

/// Inputs, both graphs, the operator set of the first, and whether both are the same.
const RANDOM: &[(&str, &str, &str, i64, bool)] = &[
    // resize
    (
        "x: float32[1, 2, 4, 5]",
        "s = [6, 7]; y = Resize(x, , , s, axes=[2, 3])",
        "s = [1, 2, 6, 7]; y = Resize(x, , , s)",
        20,
        true,
    ),
    (
        "x: float32[1, 2, 4, 5]",
        "s = [7, 6]; y = Resize(x, , , s, axes=[3, 2], mode=linear, nearest_mode=ceil)",
        "s = [1, 2, 6, 7]; y = Resize(x, , , s, mode=linear, extrapolation_value=3.5)",
        20,
        true,
    ),
    (
        "x: float32[1, 2, 4, 5]",
        "s = [6, 7]; y = Resize(x, , , s, axes=[2, 3], mode=cubic, antialias=0)",
        "s = [1, 2, 6, 7]; y = Resize(x, , , s, mode=cubic)",
        20,
        true,
    ),
    (
        "x: float32[1, 2, 4, 5]",
        "s = [6, 7]; y = Resize(x, , , s, axes=[2, 3], nearest_mode=ceil)",
        "s = [1, 2, 6, 7]; y = Resize(x, , , s)",
        20,
        false,
    ),
    (
        "x: float32[1, 2, 4, 4]",
        "s = [8, 8]; y = Resize(x, , , s, axes=[2, 3], mode=linear)",
        "s = [1, 2, 8, 8]; y = Resize(x, , , s, mode=linear, coordinate_transformation_mode=asymmetric)",
        20,
        false,
    ),
    // complement and known-where; a NaN is neither less nor at least
    (
        "x: float32[64]; a: int64[64]; b: int64[64]",
        "c = Less(a, b); y = Where(c, x, o); o = 0.0",
        "c = GreaterOrEqual(a, b); y = Where(c, o, x); o = 0.0",
        20,
        true,
    ),
    (
        "x: float32[64]; a: int64[64]; b: int64[64]",
        "c = Greater(a, b); y = Where(c, x, o); o = 0.0",
        "c = GreaterOrEqual(a, b); y = Where(c, x, o); o = 0.0",
        20,
        false,
    ),
    (
        "x: float32[64]; a: int64[64]; b: int64[64]",
        "c = LessOrEqual(a, b); d = Not(c); y = Where(d, x, o); o = 0.0",
        "c = Greater(a, b); y = Where(c, x, o); o = 0.0",
        20,
        true,
    ),
    (
        "x: float32[64]; a: float32[64]; b: float32[64]",
        "c = Less(a, b); y = Where(c, x, o); o = 0.0",
        "c = GreaterOrEqual(a, b); y = Where(c, o, x); o = 0.0",
        20,
        false,
    ),
    ("x: bool[64]; c: bool[64]", "y = Where(c, x, o); o = false", "y = And(x, c)", 20, true),
    ("x: bool[64]; c: bool[64]", "y = Where(c, x, o); o = true", "y = And(x, c)", 20, false),
    ("a: int64[64]; b: int64[64]", "c = Less(a, b); y = Not(c)", "y = GreaterOrEqual(a, b)", 20, true),
    ("a: float32[64]; b: float32[64]", "c = Less(a, b); y = Not(c)", "y = GreaterOrEqual(a, b)", 20, false),
    // default-attributes
    ("x: float32[64]", "y = Gelu(x)", "y = Gelu(x, approximate=none)", 20, true),
    ("x: float32[64]", "y = Gelu(x)", "y = Gelu(x, approximate=tanh)", 20, false),
    (
        "x: float32[1, 1, 7, 7]",
        "y = MaxPool(x, kernel_shape=[2, 3])",
        "y = MaxPool(x, kernel_shape=[2, 3], pads=[0, 0, 0, 0], strides=[1, 1], dilations=[1, 1], ceil_mode=0)",
        20,
        true,
    ),
    (
        "x: float32[1, 1, 7, 7]",
        "y = MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])",
        "y = MaxPool(x, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0])",
        20,
        false,
    ),
    (
        "x: float32[1, 8, 2, 2]",
        "y = DepthToSpace(x, blocksize=2)",
        "y = DepthToSpace(x, blocksize=2, mode=DCR)",
        20,
        true,
    ),
    (
        "x: float32[1, 8, 2, 2]",
        "y = DepthToSpace(x, blocksize=2)",
        "y = DepthToSpace(x, blocksize=2, mode=CRD)",
        20,
        false,
    ),
    (
        "x: float32[9]",
        "k = [3]; y, i = TopK(x, k)",
        "k = [3]; y, i = TopK(x, k, largest=1, sorted=1)",
        20,
        true,
    ),
    ("x: float32[9]", "k = [3]; y, i = TopK(x, k)", "k = [3]; y, i = TopK(x, k, largest=0)", 20, false),
    // kernel
    (
        "x: float32[1, 2, 5, 5]; w: float32[3, 2, 3, 2]",
        "y = Conv(x, w)",
        "y = Conv(x, w, kernel_shape=[3, 2], auto_pad=VALID, group=1)",
        20,
        true,
    ),
    (
        "x: float32[1, 2, 5, 5]; w: float32[2, 3, 3, 2]",
        "y = ConvTranspose(x, w)",
        "y = ConvTranspose(x, w, kernel_shape=[3, 2], output_padding=[0, 0])",
        20,
        true,
    ),
    (
        "x: float32[1, 2, 5, 5]; w: float32[3, 2, 3, 3]",
        "y = Conv(x, w, pads=[1, 1, 1, 1])",
        "y = Conv(x, w, pads=[0, 0, 2, 2])",
        20,
        false,
    ),
    // last-axis
    ("x: float32[3, 5]", "y = Softmax(x)", "y = Softmax(x)", 11, true),
    ("x: float32[3, 5]", "y = LogSoftmax(x)", "y = LogSoftmax(x, axis=1)", 11, true),
    ("x: float32[2, 3, 5]", "y = Hardmax(x, axis=2)", "y = Hardmax(x)", 11, true),
    ("x: float32[2, 3, 5]", "y = Softmax(x, axis=1)", "y = Softmax(x, axis=1)", 11, false),
    ("x: float32[2, 3, 5]", "y = Hardmax(x)", "y = Hardmax(x)", 11, false),
    // unseen-zeros and neutral
    ("x: float32[64]", "z = 0.0; a = Abs(x); y = Add(a, z)", "y = Abs(x)", 20, true),
    ("x: float32[64]", "z = 0.0; a = Mul(x, x); y = Add(a, z)", "y = Mul(x, x)", 20, true),
    ("x: int64[64]", "z = 0.0; a = Cast(x, to=1); y = Add(a, z)", "y = Cast(x, to=1)", 20, true),
    (
        "x: float32[64]",
        "z = 0.0; a = Cast(x, to=10); b = Cast(a, to=1); y = Add(b, z)",
        "a = Cast(x, to=10); y = Cast(a, to=1)",
        20,
        false,
    ),
    ("x: float32[64]; w: float32[64]", "z = 0.0; a = Mul(x, w); y = Add(a, z)", "y = Mul(x, w)", 20, false),
    (
        "x: float32[64]",
        "z = 0.0; a = Add(x, z); y, s, p = DynamicQuantizeLinear(a)",
        "y, s, p = DynamicQuantizeLinear(x)",
        20,
        true,
    ),
    (
        "x: float32[64]",
        "z = 0.0; s = 0.5; a = Add(x, z); y = QuantizeLinear(a, s)",
        "s = 0.5; y = QuantizeLinear(x, s)",
        20,
        true,
    ),
    // same-cast
    (
        "x: int64[64]",
        "h = 1; d = Sub(x, h); i = Cast(d, to=3); a = Cast(i, to=5); y = Cast(a, to=2)",
        "h = 1; d = Sub(x, h); i = Cast(d, to=3); y = Cast(i, to=2)",
        20,
        true,
    ),
];

/// Laws of operators on which not every number can be tried: runs on random floats, NaN,
/// infinities and -0 among them.
#[test]
fn laws_hold_on_random_numbers() {
    let mut rng = Rng::with_seed(7);
    for (inputs, first, second, version, same) in RANDOM {
        let model = |nodes: &str, version: i64| {
            let mut sketch = Sketch::of(&format!("{inputs}; {nodes}"));
            sketch.0.output("y");
            sketch.model_of(version)
        };
        let (a, b) = (model(first, *version), model(second, 20));
        let mut is_different = false;
        for _ in 0..50 {
            let given = random(&mut rng, inputs);
            let runs = outputs(&a, &given).zip(outputs(&b, &given));
            let (a, b) = runs.unwrap_or_else(|| panic!("{first} or {second} does not run"));
            is_different |= differ(&a, &b);
        }
        assert_eq!(!is_different, *same, "runs of {first} and {second}");
        let proved = proof(&a, &b).is_some_and(|proof| proof.is_complete());
        assert_eq!(proved, *same, "proof of {first} and {second}");
    }
}
