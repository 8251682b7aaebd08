//! Inference with any features: the suite `features` runs these tests in a build without them.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;

#[path = "common"]
mod common {
    pub mod one;
    pub mod sketch;
}
use common::sketch::Sketch;
use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::{DType, Model, Shape, Tensor};

/// The shapes of the outputs: `[n + 2, 3] [?]`.
fn shapes(model: &Model) -> String {
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert!(inference.problems().is_empty(), "{:?}", inference.problems());
    let shape = |id: &gradus::graph::ValueId| {
        let dims = inference.fact(*id).as_tensor().and_then(|tensor| tensor.dims.clone());
        let dims = dims.unwrap_or_default();
        let dims: Vec<_> = dims.iter().map(|dim| inference.symbols().print(*dim).to_string()).collect();
        format!("[{}]", dims.join(", "))
    };
    model.graph().outputs().iter().map(shape).collect::<Vec<_>>().join(" ")
}

#[test]
fn models_of_files_are_inferred() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, expected) in [("positions.onnx", "[seq] [seq] []"), ("range.xml", "[Range]")] {
        assert_eq!(shapes(&Model::open(examples.join(name)).unwrap()), expected, "{name}");
    }
}

#[test]
fn constants_that_decide_sizes_are_evaluated() {
    let model = Sketch::new()
        .constant("area", Tensor::vector(&[16f32]))
        .node("Sqrt", &["area"], &["side"])
        .with("Cast", &["side"], &["size"], vec![("to", Content::Int(7))])
        .node("ConstantOfShape", &["size"], &["y"])
        .output("y", DType::F32, &[])
        .model();
    assert_eq!(shapes(&model), "[4]");
    let model = Sketch::new()
        .constant("three", Tensor::vector(&[3f32]))
        .node("Exp", &["three"], &["power"])
        .with("Cast", &["power"], &["size"], vec![("to", Content::Int(7))])
        .node("ConstantOfShape", &["size"], &["y"])
        .constant("start", Tensor::scalar(0f32))
        .constant("limit", Tensor::scalar(1f32))
        .constant("delta", Tensor::scalar(0.25f32))
        .node("Range", &["start", "limit", "delta"], &["quarters"])
        .node("ReduceSum", &["quarters"], &["sum"])
        .constant("eight", Tensor::scalar(8f32))
        .node("Mul", &["sum", "eight"], &["product"])
        .with("Cast", &["product"], &["count"], vec![("to", Content::Int(7))])
        .node("ConstantOfShape", &["count"], &["z"])
        .output("y", DType::F32, &[])
        .output("z", DType::F32, &[])
        .model();
    assert_eq!(shapes(&model), "[20] [12]");
}

#[test]
fn operators_of_networks_are_inferred_without_their_evaluation() {
    let weights = Tensor::from_vec(Shape::new([5, 3, 3, 3]).unwrap(), vec![0f32; 135]).unwrap();
    let model = Sketch::new()
        .input("x", DType::F32, &["n", "3", "8", "8"])
        .constant("w", weights)
        .node("Conv", &["x", "w"], &["c"])
        .node("GlobalAveragePool", &["c"], &["p"])
        .node("Softmax", &["p"], &["y"])
        .output("c", DType::F32, &[])
        .output("y", DType::F32, &[])
        .model();
    assert_eq!(shapes(&model), "[n, 5, 6, 6] [n, 5, 1, 1]");
}

#[cfg(feature = "paddle")]
#[test]
fn operators_of_paddle_are_inferred_by_their_graphs() {
    use common::one::One;
    use gradus::graph::Standard;
    let [x, y] = [[2, 3], [3, 5]]
        .map(|dims| Tensor::from_vec(Shape::new(dims).unwrap(), vec![0f32; dims[0] * dims[1]]).unwrap());
    let (model, _) = One::of(Standard::Paddle, "matmul", 0).inputs(&[x, y]).known().model();
    let id = model.graph().nodes()[0].outputs[0].unwrap();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let shape = inference.fact(id).as_tensor().and_then(gradus::TensorFact::shape);
    assert_eq!(shape, Some(Shape::new([2, 5]).unwrap()));
}
