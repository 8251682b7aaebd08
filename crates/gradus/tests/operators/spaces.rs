//! The operators of sequences that Gradus adds to those of ONNX.

use bytes::Bytes;
use gradus::graph::{self, Attribute, Builder, Content, Node, OperatorId, Standard};
use gradus::infer::InferOptions;
use gradus::{Model, Tensor};

/// Runs `10 ^ 0, …` of three, and gives the elements as text, or the error; and the inferred
/// type.
fn run(operator: &str, num: i64, dtype: &str) -> (String, String) {
    let mut builder = Builder::new("");
    for (name, tensor) in
        [("start", 1i64), ("stop", 3), ("num", num), ("base", 10)].map(|(name, x)| (name, Tensor::scalar(x)))
    {
        builder.constant(name, tensor.into()).unwrap();
    }
    let names = if operator == "LogSpace" {
        &["start", "stop", "num", "base"][..]
    } else {
        &["start", "stop", "num"]
    };
    let content = Content::Bytes(Bytes::copy_from_slice(dtype.as_bytes()));
    let node = Node {
        name: "it".into(),
        operator: OperatorId { domain: "gradus".into(), name: operator.into(), overload: "".into() },
        version: Some(1),
        inputs: names.iter().map(|name| Some(builder.reference(name))).collect(),
        outputs: <_>::default(),
        attributes: vec![Attribute { name: "dtype".into(), content }],
        position: None,
    };
    builder.push(node, &["y"]).unwrap();
    builder.output("y");
    let mut model = graph::Model::new(Standard::Onnx);
    model.graph = builder.finish().unwrap();
    let model = Model::from_source(model);
    let inference = model.infer(&InferOptions::default()).unwrap();
    let found = inference.describe(inference.fact(model.value("y").unwrap()));
    let result = match model.run::<&str, Tensor>([]) {
        Ok(results) => gradus::display::elided(results[0].tensor().unwrap(), 8),
        Err(error) => error.to_string(),
    };
    (result, found)
}

#[test]
fn elements_are_those_of_the_plans() {
    for (operator, num, dtype, result, found) in [
        ("LinSpace", 3, "float32", "[1.0, 2.0, 3.0]", "float32[3]"),
        ("LogSpace", 3, "int64", "[10, 100, 1000]", "int64[3]"),
        ("GeomSpace", 3, "float64", "[1.0, 1.7320508075688772, 3.0]", "float64[3]"),
        ("LinSpace", 0, "float16", "[]", "float16[0]"),
        (
            "LogSpace",
            3,
            "int8",
            "node \"it\" (onnx LogSpace-1): element 2 is 1000.0, expected a number in the range of int8",
            "int8[3]",
        ),
    ] {
        assert_eq!(run(operator, num, dtype), (result.to_owned(), found.to_owned()), "{operator}");
    }
    assert!(run("LinSpace", -1, "float32").0.ends_with("expected an integer of at least 0"));
    assert!(run("LinSpace", 3, "bool").0.contains("attribute \"dtype\" is bool, expected one of"));
}
