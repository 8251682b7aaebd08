//! Inference with any features: the suite `features` runs these tests in a build without them.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;

#[path = "common"]
mod common {
    pub mod one;
    pub mod sketch;
}
use common::sketch::Sketch;
use gradus::infer::InferOptions;
use gradus::{Model, Shape, Tensor};

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
    let model = Sketch::of(
        "area = float32[1](16); side = Sqrt(area); size = Cast(side, to=7);
         y = ConstantOfShape(size); return y: float32[]",
    )
    .model();
    assert_eq!(shapes(&model), "[4]");
    let model = Sketch::of(
        "three = float32[1](3); power = Exp(three); size = Cast(power, to=7);
         y = ConstantOfShape(size); start = 0.0; limit = 1.0; delta = 0.25;
         quarters = Range(start, limit, delta); sum = ReduceSum(quarters); eight = 8.0;
         product = Mul(sum, eight); count = Cast(product, to=7); z = ConstantOfShape(count);
         return y: float32[]; return z: float32[]",
    )
    .model();
    assert_eq!(shapes(&model), "[20] [12]");
}

#[test]
fn operators_of_networks_are_inferred_without_their_evaluation() {
    let weights = Tensor::from_vec(Shape::new([5, 3, 3, 3]).unwrap(), vec![0f32; 135]).unwrap();
    let model = Sketch::of("x: float32[n, 3, 8, 8]")
        .constant("w", weights)
        .text(
            "c = Conv(x, w); p = GlobalAveragePool(c); y = Softmax(p); return c: float32[];
             return y: float32[]",
        )
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
