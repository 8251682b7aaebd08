//! Graphs that are inferred node by node while they are made.

use gradus::graph::{DeclaredDim, Node, OperatorId, Standard, Type};
use gradus::infer::{Trace, Traced};
use gradus::{DType, Kind, Tensor};

fn node(operator: &str) -> Node {
    let id = OperatorId { domain: "".into(), name: operator.into(), overload: "".into() };
    Node {
        name: "it".into(),
        operator: id,
        version: Some(21),
        inputs: <_>::default(),
        outputs: <_>::default(),
        attributes: <_>::default(),
        position: None,
    }
}

#[test]
fn symbols_are_the_same_in_all_nodes() {
    let mut trace = Trace::new(gradus::operators::TABLE);
    let sizes = vec![DeclaredDim::Symbol("n".into()), DeclaredDim::Known(3)];
    let x = trace.input("x", &Type::Tensor(Some(DType::F32), Some(sizes)));
    let [zero, one] = [0i64, 1].map(|number| trace.constant(Tensor::scalar(number)));
    let mut add = |operator: &str, inputs: &[(&str, &Traced)]| {
        let inputs: Vec<_> = inputs.iter().map(|&input| Some(input)).collect();
        trace.node(Standard::Onnx, &node(operator), &inputs, &["out"]).map(|mut all| all.remove(0))
    };
    let size = add("Size", &[("x", &x)]).unwrap();
    let twice = add("Add", &[("size", &size), ("size", &size)]).unwrap();
    let range = add("Range", &[("zero", &zero), ("twice", &twice), ("one", &one)]).unwrap();
    let error = add("Add", &[("x", &x), ("size", &size)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "node \"it\" (onnx Add-14): input 1 \"B\" is int64, expected float32 as input 0 \"A\""
    );
    let error = add("NoSuch", &[("x", &x)]).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    let dims = range.fact.as_tensor().and_then(|fact| fact.dims.clone()).unwrap();
    let dims: Vec<_> = dims.iter().map(|&dim| trace.symbols().print(dim).to_string()).collect();
    assert_eq!(dims, ["6*n"]);
}
