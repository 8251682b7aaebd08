//! Folding in older operator sets, whose nodes have attributes in place of inputs: what rules write
//! has the form of the set, or is not written.

use gradus::check::VerifyOptions;
use gradus::fold::{FoldOptions, Level, RuleSet};
use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::{Model, Shape, Tensor};

use crate::common::sketch::{Sketch, operators};

fn tensor(dims: &[usize]) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let elements: Vec<_> = (1u16..).take(shape.len()).map(|i| f32::from(i) / 4.0).collect();
    Tensor::from_vec(shape, elements).unwrap()
}

/// A chain of nodes, each of which reads the one before as `_`.
fn chain(sizes: &str, nodes: &[&str], set: i64) -> Model {
    let node = |(number, node): (usize, &&str)| {
        format!("v{} = {};", number + 1, node.replacen('_', &format!("v{number}"), 1))
    };
    let nodes = nodes.iter().enumerate().map(node).collect::<Vec<_>>().concat();
    let last = nodes.matches(" = ").count();
    Sketch::of(&format!("v0: float32[{sizes}]; {nodes} return v{last}")).model_of(set)
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
    let slices =
        ["Slice(_, starts=[1], ends=[7], axes=[1])", "Slice(_, starts=[2], ends=[4], axes=[1])", "Relu(_)"];
    let cases = [
        (9, chain("n, 8", &slices, 9), "Slice Relu"),
        (
            11,
            chain("n, m", &["Unsqueeze(_, axes=[1])", "Unsqueeze(_, axes=[0])", "Relu(_)"], 11),
            "Unsqueeze Relu",
        ),
        (
            11,
            chain("n, 1", &["ReduceMax(_, axes=[0])", "Squeeze(_, axes=[0])", "Relu(_)"], 11),
            "ReduceMax Relu",
        ),
        (
            4,
            chain("n, 6", &["Reshape(_, shape=[-1, 3])", "Reshape(_, shape=[-1, 2])", "Neg(_)"], 4),
            "Reshape Neg",
        ),
        (10, chain("n", &["Clip(_, min=-1.0, max=2.0)", "Relu(_)"], 10), "Clip"),
    ];
    for (set, model, wanted) in cases {
        assert_eq!(left(&model, Level::Fuse), wanted, "operator set {set}");
    }
}

/// Attributes are float32, which does not have the bound.
#[test]
fn what_the_set_has_no_form_for_is_not_written() {
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
    let scaled = |set| chain("n", &["Clip(_, min=-1.0, max=2.0)", "Softmax(_, axis=0)"], set);
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
    let normalized = |set| {
        let mut sketch =
            Sketch::of("x: float32[n, 2, 5, 5]").constant("w", tensor(&[3, 2, 3, 3])).text("a = Conv(x, w)");
        for name in ["gain", "bias", "mean", "variance"] {
            sketch = sketch.constant(name, tensor(&[3]));
        }
        let inputs = ["a", "gain", "bias", "mean", "variance"];
        let sketch = sketch.node("BatchNormalization", &inputs, &["y"]);
        let model = sketch.text("return y: float32[n, 3, 3, 3]").model_of(set);
        left(&model, Level::Fuse)
    };
    assert_eq!(normalized(8), "Conv");
    assert_eq!(normalized(13), "Conv");
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
