//! Loops and scans at their edges.

use std::collections::HashMap;
use std::sync::Arc;

use gradus::conversion::ConvertOptions;
use gradus::element::Bool;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard::Onnx, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Model, Tensor, Value};

use super::{convert, list, tensors, whys};
use crate::common::compare::difference;
use crate::common::tensors::{counted, tensor};

fn looped(
    operator: &str,
    body: Builder,
    inputs: &[(&str, Tensor)],
    outputs: &[&str],
    attributes: Vec<(&str, Content)>,
) -> (Model, HashMap<String, Value>) {
    looped_of(3, operator, body, inputs, outputs, attributes)
}

/// A model of ONNX of one node with a graph, whose inputs and outputs all have these dimensions; of
/// a Loop, the number of runs.
fn looped_of(
    runs: i64,
    operator: &str,
    body: Builder,
    inputs: &[(&str, Tensor)],
    outputs: &[&str],
    mut attributes: Vec<(&str, Content)>,
) -> (Model, HashMap<String, Value>) {
    let mut builder = Builder::new("loops");
    let mut given = HashMap::new();
    for (name, value) in inputs {
        if name.is_empty() {
            continue;
        }
        let id = builder.define(name, Origin::Input).unwrap();
        let sizes = value.shape().dims().iter().map(|_| DeclaredDim::Unknown).collect();
        builder.info(id).declared = Some(Type::Tensor(Some(value.dtype()), Some(sizes)));
        given.insert((*name).to_owned(), Value::from(value.clone()));
    }
    builder.constant("runs", Tensor::scalar(runs).into()).unwrap();
    attributes.push(("body", Content::Graph(Arc::new(body.finish().unwrap()))));
    let mut names: Vec<_> = inputs.iter().map(|(name, _)| *name).collect();
    if operator == "Loop" {
        names.insert(0, "runs");
    }
    builder.apply("loop", operator, 21, &names, outputs, attributes).unwrap();
    for output in outputs {
        builder.output(output);
    }
    let mut model = graph::Model::new(Onnx);
    model.opsets = vec![("".into(), 21)];
    model.graph = builder.finish().unwrap();
    (Model::from_source(model), given)
}

fn input_of(body: &mut Builder, name: &str, dtype: DType, rank: usize) {
    let id = body.define(name, Origin::Input).unwrap();
    body.info(id).declared = Some(Type::Tensor(Some(dtype), Some(vec![DeclaredDim::Unknown; rank])));
}

/// A Scan along the last axis that adds up.
fn summed() -> (Model, HashMap<String, Value>) {
    let mut body = Builder::nested("body");
    input_of(&mut body, "sum", DType::I64, 1);
    input_of(&mut body, "part", DType::I64, 1);
    body.apply("", "Add", 21, &["sum", "part"], &["next"], vec![]).unwrap();
    body.apply("", "Identity", 21, &["next"], &["shown"], vec![]).unwrap();
    body.output("next");
    body.output("shown");
    let axes = |name| (name, Content::Ints([-1].into()));
    let attributes =
        vec![("num_scan_inputs", Content::Int(1)), axes("scan_input_axes"), axes("scan_output_axes")];
    let inputs = [("first", list(&[10, 20])), ("x", counted(&[2, 3]))];
    looped("Scan", body, &inputs, &["last", "all"], attributes)
}

/// ONNX Runtime refuses a `SequenceMap` whose body says nothing of its outputs, and a `Scan` whose
/// body says no shape of them.
#[test]
fn bodies_say_the_types_of_their_outputs() {
    let mut options = ConvertOptions::default();
    options.opset = Some(18);
    let converted = summed().0.convert(Onnx, &options).unwrap();
    let scan = &converted.model.graph().nodes()[0];
    let body = scan.graphs().next().unwrap();
    let declared: Vec<_> = body.outputs().iter().map(|id| body.value(*id).declared.clone()).collect();
    assert_eq!(declared, vec![Some(Type::Tensor(Some(DType::I64), Some(vec![DeclaredDim::Unknown]))); 2]);
}

#[test]
fn axes_of_scans_are_counted_from_the_first() {
    let (model, given) = summed();
    let want = [list(&[13, 32]), tensor(&[2, 3], &[10i64, 11, 13, 23, 27, 32])];
    let converted = convert(&model).unwrap();
    for model in [&model, &converted.model] {
        for (got, want) in tensors(model, &given).iter().zip(&want) {
            assert!(difference(want, got, true).is_none(), "{:?}", difference(want, got, true));
        }
    }
    let node = converted.model.graph().nodes().iter().find(|node| &*node.operator.name == "TensorIterator");
    let Some(Content::Ports(ports)) = node.unwrap().attribute("port_map") else { panic!("there are ports") };
    let sliced = ports.inputs.iter().chain(&ports.outputs).filter_map(|port| port.slices);
    assert_eq!(sliced.map(|slices| slices.axis).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn loops_that_may_not_start_are_named() {
    let body = || {
        let mut body = Builder::nested("body");
        input_of(&mut body, "run", DType::I64, 0);
        input_of(&mut body, "goes", DType::Bool, 0);
        body.apply("", "Identity", 21, &["goes"], &["on"], vec![]).unwrap();
        body.apply("", "Identity", 21, &["run"], &["shown"], vec![]).unwrap();
        body.output("on");
        body.output("shown");
        body
    };
    let goes = ("start", Tensor::scalar(Bool::from(true)));
    let (model, given) = looped("Loop", body(), &[goes], &["all"], vec![]);
    let there = convert(&model).unwrap();
    assert!(whys(&there).contains("a loop that runs zero times"), "{}", whys(&there));
    let again = convert(&there.model).unwrap();
    assert!(whys(&again).contains("a loop that runs zero times"), "{}", whys(&again));
    for model in [&model, &there.model, &again.model] {
        assert_eq!(tensors(model, &given)[0].to_i64().unwrap(), [0, 1, 2]);
    }
}

/// A body may declare the number of the iteration and the condition as tensors of one element, and
/// break a loop whose node has no condition. ONNX Runtime and OpenVINO run such loops so.
#[test]
fn loops_break_without_a_condition_and_number_iterations_as_declared() {
    let mut body = Builder::nested("body");
    input_of(&mut body, "run", DType::I64, 1);
    input_of(&mut body, "goes", DType::Bool, 1);
    input_of(&mut body, "x", DType::I64, 1);
    body.constant("last", list(&[1]).into()).unwrap();
    body.apply("", "Less", 21, &["run", "last"], &["less"], vec![]).unwrap();
    body.apply("", "And", 21, &["less", "goes"], &["on"], vec![]).unwrap();
    body.apply("", "Add", 21, &["x", "run"], &["next"], vec![]).unwrap();
    body.apply("", "Gather", 21, &["x", "run"], &["row"], vec![]).unwrap();
    for output in ["on", "next", "row"] {
        body.output(output);
    }
    let inputs = [("", Tensor::scalar(0i64)), ("x", list(&[5, 7]))];
    let (model, given) = looped("Loop", body, &inputs, &["sums", "rows"], vec![]);
    let want = [list(&[6, 8]), tensor(&[2, 1], &[5i64, 7])];
    let shapes = model.infer(&InferOptions::default()).unwrap();
    let rows = model.graph().outputs()[1];
    assert_eq!(shapes.fact(rows).as_tensor().unwrap().rank(), Some(2));
    let there = convert(&model).unwrap();
    let again = convert(&there.model).unwrap();
    for (side, model) in [("before", &model), ("there", &there.model), ("again", &again.model)] {
        for (got, want) in tensors(model, &given).iter().zip(&want) {
            assert!(difference(want, got, true).is_none(), "{side}: {:?}", difference(want, got, true));
        }
    }
}

/// Exporters write the largest number where a loop may run any number of times. OpenVINO makes
/// room for as many slices.
#[test]
fn the_largest_trip_count_is_any() {
    for (runs, notes) in [(i64::MAX, 0), (i64::from(i32::MAX), 1)] {
        let mut body = Builder::nested("body");
        input_of(&mut body, "run", DType::I64, 0);
        input_of(&mut body, "goes", DType::Bool, 0);
        body.constant("last", Tensor::scalar(1i64).into()).unwrap();
        body.apply("", "Less", 21, &["run", "last"], &["on"], vec![]).unwrap();
        body.apply("", "Identity", 21, &["run"], &["row"], vec![]).unwrap();
        body.output("on");
        body.output("row");
        let inputs = [("start", Tensor::scalar(Bool::from(true)))];
        let (model, given) = looped_of(runs, "Loop", body, &inputs, &["rows"], vec![]);
        let there = convert(&model).unwrap();
        assert_eq!(whys(&there).matches("2147483647").count(), notes, "{}", whys(&there));
        let node = there.model.graph().nodes().iter().find(|node| &*node.operator.name == "Loop").unwrap();
        let trips = there.model.graph().constant(node.inputs[0].unwrap()).unwrap();
        assert_eq!(trips.tensor().unwrap().to_i64().unwrap(), [-1]);
        for model in [&model, &there.model] {
            assert_eq!(tensors(model, &given)[0].to_i64().unwrap(), [0, 1]);
        }
    }
}
