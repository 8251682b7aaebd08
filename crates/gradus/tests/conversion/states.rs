//! Variables of OpenVINO as inputs and outputs of ONNX, and these as variables.

use std::collections::HashMap;

use gradus::check::CheckOptions;
use gradus::conversion::ConvertOptions;
use gradus::graph::{self, Standard};
use gradus::{Kind, Model, Shape, Tensor, Value};

use crate::common::sketch::Sketch;

/// The options that make variables.
fn variables(stateful: bool, states: &[(&str, &str)]) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.stateful = stateful;
    options.states = states.iter().map(|(input, output)| ((*input).into(), (*output).into())).collect();
    options
}

/// Tokens that are appended to a cache, and a sum that is carried along.
fn cache() -> Model {
    let text = "x: float32[batch, seq, 2]; past_key_values.0.key: float32[batch, past, 2]; h: float32[2];
        present.0.key = Concat(past_key_values.0.key, x, axis=1); axes = [0, 1];
        sum = ReduceSum(present.0.key, axes, keepdims=0); y = Add(sum, h); return y, present.0.key";
    Sketch::of(text).unwritten(17)
}

fn operators(model: &Model) -> Vec<String> {
    model.graph().nodes().iter().map(|node| node.operator.to_string()).collect()
}

fn names(model: &Model, ids: &[graph::ValueId]) -> Vec<String> {
    ids.iter().map(|&id| model.graph().value(id).name.to_string()).collect()
}

fn run(model: &Model, inputs: &[(&str, Tensor)]) -> HashMap<String, Value> {
    let outputs = model.run(inputs.iter().map(|(name, value)| (*name, value.clone()))).unwrap();
    outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

#[test]
fn a_cache_becomes_a_variable_and_comes_back_under_its_names() {
    let before = cache();
    let stateful = before.convert(Standard::OpenVino, &variables(true, &[])).unwrap().model;
    assert_eq!(names(&stateful, stateful.graph().inputs()), ["x", "h"]);
    assert_eq!(names(&stateful, stateful.graph().outputs()), ["y"]);
    let all = operators(&stateful);
    assert!(
        ["ReadValue", "Assign", "Broadcast"].iter().all(|name| all.iter().any(|it| it == name)),
        "{all:?}"
    );
    assert!(before.check(&stateful, &CheckOptions::default()).unwrap().is_same());

    let explicit = stateful.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
    assert_eq!(names(&explicit.model, explicit.model.graph().inputs()), ["x", "h", "past_key_values.0.key"]);
    assert_eq!(names(&explicit.model, explicit.model.graph().outputs()), ["y", "present.0.key"]);
    let lost = explicit.report.lost.iter().filter(|lost| lost.starts_with("variable")).count();
    assert_eq!(lost, 1, "{:?}", explicit.report.lost);
    assert!(before.check(&explicit.model, &CheckOptions::default()).unwrap().is_same());

    // In the first run, the cache of every sample is empty.
    let x = Tensor::vector(&[1_f32, 2., 3., 4., 5., 6.]).reshaped(Shape::new([3, 1, 2]).unwrap());
    let y = &run(&stateful, &[("x", x.unwrap()), ("h", Tensor::vector(&[0.5_f32, 0.25]))])["y"];
    assert_eq!(y.tensor().unwrap().elements::<f32>().unwrap().into_owned(), [9.5, 12.25]);
}

#[test]
fn states_are_named_one_by_one() {
    let both = [("h", "y"), ("past_key_values.0.key", "present.0.key")];
    let model = cache().convert(Standard::OpenVino, &variables(true, &both)).unwrap().model;
    assert_eq!(names(&model, model.graph().inputs()), ["x"]);
    assert!(model.graph().outputs().is_empty());
    let explicit = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap().model;
    let mut outputs = names(&explicit, explicit.graph().outputs());
    outputs.sort();
    assert_eq!(outputs, ["present.0.key", "y"]);
    assert!(cache().check(&explicit, &CheckOptions::default()).unwrap().is_same());
}

#[test]
fn states_that_are_not_there_are_refused() {
    for (stateful, states, to, message) in [
        (false, vec![("z", "y")], Standard::OpenVino, "unknown input \"z\""),
        (false, vec![("h", "z")], Standard::OpenVino, "unknown output \"z\""),
        (false, vec![("h", "y"), ("h", "y")], Standard::OpenVino, "input \"h\" is in two states"),
        (false, vec![("h", "y"), ("x", "y")], Standard::OpenVino, "output \"y\" is in two states"),
        (false, vec![("h", "present.0.key")], Standard::OpenVino, "type of output \"present.0.key\""),
        (true, vec![], Standard::Onnx, "target is onnx, expected openvino"),
    ] {
        let error = cache().convert(to, &variables(stateful, &states)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let model = Sketch::of("x: float32[2]; y = Neg(x); return y").unwritten(17);
    let error = model.convert(Standard::OpenVino, &variables(true, &[])).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("past_key_values.*"), "{error}");
}

/// A variable that is read twice, is assigned what it was before, and starts with an input.
#[test]
fn variables_of_other_names_become_inputs_and_outputs() {
    let text = "x: float32[2]; a = ReadValue@6(x, variable_id=v, variable_type=f32, variable_shape=2);
        b = ReadValue@6(x, variable_id=v, variable_type=f32, variable_shape=2);
        y = Add(a, b, auto_broadcast=numpy); w = Assign@6(a, variable_id=v); return y, w";
    let model = Sketch::openvino(text).unwritten(0);
    let explicit = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap().model;
    assert_eq!(names(&explicit, explicit.graph().inputs()), ["x", "v"]);
    assert_eq!(names(&explicit, explicit.graph().outputs())[0], "y");
    let given = Tensor::vector(&[1_f32, 2.]);
    let outputs = run(&explicit, &[("x", Tensor::vector(&[7_f32, 7.])), ("v", given.clone())]);
    assert_eq!(outputs["y"].tensor().unwrap().elements::<f32>().unwrap().into_owned(), [2., 4.]);
    assert_eq!(outputs["v_next"].tensor().unwrap().elements::<f32>().unwrap().into_owned(), [1., 2.]);
}

/// Without a first value, a variable is zeros, and has no element along open axes.
#[test]
fn a_variable_without_a_first_value_is_zeros() {
    for (shape, dims) in [("2,3", [2, 3]), ("?,3", [0, 3]), ("2..5,3", [0, 3])] {
        let text =
            format!("a = ReadValue@6(variable_id=v, variable_type=f32, variable_shape=[{shape}]); return a");
        let outputs = run(&Sketch::openvino(&text).unwritten(0), &[]);
        assert_eq!(outputs["a"].tensor().unwrap().shape().dims(), dims, "{shape}");
    }
}
