//! Loops and scans at their edges.

use std::collections::HashMap;

use gradus::conversion::ConvertOptions;
use gradus::element::Bool;
use gradus::graph::{Content, DeclaredDim, Standard::Onnx, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Model, Tensor, Value};

use super::{convert, list, tensors, whys};
use crate::common::compare::difference;
use crate::common::sketch::Sketch;
use crate::common::tensors::{counted, tensor};

/// A model of one node with a graph, whose inputs all have these dimensions.
fn looped(node: &str, inputs: &[(&str, Tensor)]) -> (Model, HashMap<String, Value>) {
    let declare = |sketch: Sketch, (name, value): &(&str, Tensor)| {
        sketch.input(name, value.dtype(), &vec![""; value.shape().rank()])
    };
    let model = inputs.iter().fold(Sketch::new(), declare).text(node).unwritten(21);
    (model, inputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect())
}

/// A Scan along the last axis that adds up.
fn summed() -> (Model, HashMap<String, Value>) {
    let node = "last, all = Scan(first, x, num_scan_inputs=1, scan_input_axes=[-1], scan_output_axes=[-1],
        body={sum: int64[?]; part: int64[?]; next = Add(sum, part); shown = Identity(next);
              return next, shown}); return last, all";
    looped(node, &[("first", list(&[10, 20])), ("x", counted(&[2, 3]))])
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
    let node = "runs = 3; all = Loop(runs, start, body={run: int64[]; goes: bool[]; on = Identity(goes);
                shown = Identity(run); return on, shown}); return all";
    let (model, given) = looped(node, &[("start", Tensor::scalar(Bool::from(true)))]);
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
    let node = "runs = 3; sums, rows = Loop(runs, , x, body={
        run: int64[?]; goes: bool[?]; x: int64[?]; last = [1]; less = Less(run, last);
        on = And(less, goes); next = Add(x, run); row = Gather(x, run); return on, next, row});
        return sums, rows";
    let (model, given) = looped(node, &[("x", list(&[5, 7]))]);
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
        let node = format!(
            "runs = {runs}; rows = Loop(runs, start, body={{run: int64[]; goes: bool[]; last = 1;
             on = Less(run, last); row = Identity(run); return on, row}}); return rows"
        );
        let (model, given) = looped(&node, &[("start", Tensor::scalar(Bool::from(true)))]);
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
