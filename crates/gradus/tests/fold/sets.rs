//! Folding in older operator sets, whose nodes have attributes in place of inputs: what rules write
//! has the form of the set, or is not written.

use gradus::check::VerifyOptions;
use gradus::fold::{FoldOptions, Level, RuleSet};
use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::{DType, Model, Shape, Tensor};

use crate::common::sketch::{Sketch, operators};

type Attributes = Vec<(&'static str, Content)>;

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

fn ints(name: &'static str, values: &[i64]) -> (&'static str, Content) {
    (name, Content::Ints(values.into()))
}

fn float(name: &'static str, value: f32) -> (&'static str, Content) {
    (name, Content::Float(value))
}

fn tensor(dims: &[usize]) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let elements: Vec<_> = (1u16..).take(shape.len()).map(|i| f32::from(i) / 4.0).collect();
    Tensor::from_vec(shape, elements).unwrap()
}

/// A chain of nodes of one input.
fn chain(sizes: &[&str], nodes: &[(&str, Attributes)], set: i64) -> Model {
    chain_of(DType::F32, sizes, nodes, set)
}

fn chain_of(dtype: DType, sizes: &[&str], nodes: &[(&str, Attributes)], set: i64) -> Model {
    let mut sketch = Sketch::new().input("v0", dtype, sizes);
    for (number, (operator, attributes)) in nodes.iter().enumerate() {
        let [from, to] = [number, number + 1].map(|number| format!("v{number}"));
        sketch = sketch.with(operator, &[&from], &[&to], attributes.clone());
    }
    sketch.text(&format!("return v{}", nodes.len())).model_of(set)
}

/// The operators that folding leaves, where the folded model computes the same.
fn left(model: &Model, level: Level) -> String {
    let mut options = FoldOptions::default();
    options.rules = RuleSet::of(level);
    let after = model.edited(&model.fold(&options).unwrap().model).unwrap();
    let measured = model.measure(&after, &VerifyOptions::default()).unwrap();
    assert!(measured.relative < 1e-6, "{measured:?}");
    assert!(after.infer(&InferOptions::default()).unwrap().problems().is_empty());
    operators(&after)
}

#[test]
fn what_rules_write_has_the_form_of_the_set() {
    let slice = |from: i64, to: i64, axis: i64| {
        ("Slice", vec![ints("starts", &[from]), ints("ends", &[to]), ints("axes", &[axis])])
    };
    let axes = |operator: &'static str, axes: &[i64]| (operator, vec![ints("axes", axes)]);
    let clip = |low, high| ("Clip", vec![float("min", low), float("max", high)]);
    let relu = || ("Relu", vec![]);
    let cases = [
        (9, chain(&["n", "8"], &[slice(1, 7, 1), slice(2, 4, 1), relu()], 9), "Slice Relu"),
        (
            11,
            chain(&["n", "m"], &[axes("Unsqueeze", &[1]), axes("Unsqueeze", &[0]), relu()], 11),
            "Unsqueeze Relu",
        ),
        (
            11,
            chain(&["n", "1"], &[axes("ReduceMax", &[0]), axes("Squeeze", &[0]), relu()], 11),
            "ReduceMax Relu",
        ),
        (
            4,
            chain(
                &["n", "6"],
                &[
                    ("Reshape", vec![ints("shape", &[-1, 3])]),
                    ("Reshape", vec![ints("shape", &[-1, 2])]),
                    ("Neg", vec![]),
                ],
                4,
            ),
            "Reshape Neg",
        ),
        (10, chain(&["n"], &[clip(-1.0, 2.0), relu()], 10), "Clip"),
    ];
    for (set, model, wanted) in cases {
        assert_eq!(left(&model, Level::Fuse), wanted, "operator set {set}");
    }
}

/// Attributes are float32, which does not have the bound.
#[test]
fn what_the_set_has_no_form_for_is_not_written() {
    let clip = ("Clip", vec![float("min", -1.0), float("max", 2.0)]);
    let doubles = |set| {
        let sketch = Sketch::of("x: float64[n]")
            .constant("third", Tensor::scalar(1.0f64 / 3.0))
            .text("a = Relu(x); y = Min(a, third)");
        let sketch = sketch.text("return y: float64[n]");
        left(&sketch.model_of(set), Level::Fuse)
    };
    assert_eq!(doubles(8), "Relu Min");
    assert_eq!(doubles(12), "Clip");
    // Without the attribute, operands are not broadcast.
    let scaled = |set| chain(&["n"], &[clip.clone(), ("Softmax", vec![int("axis", 0)])], set);
    assert_eq!(left(&scaled(10), Level::Fuse), "Clip Softmax");
}

#[test]
fn products_are_joined_where_split_has_its_sizes_as_an_attribute() {
    let mut sketch = Sketch::of("x: float32[n, 4]");
    for (weights, columns, product) in [("a", 2, "p"), ("b", 3, "q"), ("c", 1, "r")] {
        sketch = sketch.constant(weights, tensor(&[4, columns])).node("MatMul", &["x", weights], &[product]);
    }
    let sketch = sketch.text(
        "y = Relu(p); z = Neg(q); w = Exp(r); return y: float32[n, 2];
         return z: float32[n, 3]; return w: float32[n, 1]",
    );
    assert_eq!(left(&sketch.model_of(11), Level::Fuse), "MatMul Split Relu Neg Exp");
}

/// Nodes that do not train, whose statistics are those of channels.
#[test]
fn normalizations_go_into_convolutions_of_old_sets() {
    let normalized = |attributes: Attributes, set| {
        let mut sketch =
            Sketch::of("x: float32[n, 2, 5, 5]").constant("w", tensor(&[3, 2, 3, 3])).text("a = Conv(x, w)");
        for name in ["gain", "bias", "mean", "variance"] {
            sketch = sketch.constant(name, tensor(&[3]));
        }
        let inputs = ["a", "gain", "bias", "mean", "variance"];
        let sketch = sketch.with("BatchNormalization", &inputs, &["y"], attributes);
        let model = sketch.text("return y: float32[n, 3, 3, 3]").model_of(set);
        left(&model, Level::Fuse)
    };
    assert_eq!(normalized(vec![], 8), "Conv");
    assert_eq!(normalized(vec![], 13), "Conv");
}

/// The elements of the sequence have the axis unless the attribute, a float, says otherwise.
#[test]
fn an_attribute_of_a_wrong_type_is_no_default() {
    let element = |keepdims: Content| {
        let model = Sketch::of("x: float32[4, n]; first = 0")
            .with("SplitToSequence", &["x"], &["s"], vec![("keepdims", keepdims)])
            .text("y = SequenceAt(s, first); return y: float32[, ]")
            .model();
        let folded = model.fold(&FoldOptions::default()).unwrap();
        operators(&model.edited(&folded.model).unwrap())
    };
    assert_eq!(element(Content::Int(1)), "Slice");
    assert_eq!(element(Content::Float(1.0)), "SplitToSequence SequenceAt");
}
