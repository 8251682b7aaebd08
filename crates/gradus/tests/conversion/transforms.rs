//! Fourier transforms in other operator sets, and of OpenVINO as ONNX.

use std::collections::HashMap;

use gradus::graph::{Builder, DeclaredDim, Origin, Standard, Type};
use gradus::{Model, Tensor, Value};

use super::opsets::{in_other_set, in_set};
use crate::common::converted::{compare, floats, kept, run};
use crate::common::one::One;

#[test]
fn transforms_keep_their_axis_in_other_sets() {
    for (from, to) in [(17, 20), (20, 17), (28, 17)] {
        let one = One::of(Standard::Onnx, "DFT", from).inputs(&[floats(&[3, 2, 5, 1])]).known();
        let (model, given) = one.model();
        let converted = in_other_set(&model, to);
        let what = format!("from {from} to {to}");
        compare(&what, &run(&model, &given), &converted.model, &given, kept(&[&converted.report]));
    }
}

/// A Fourier transform of OpenVINO along constant axes, whose sizes are an input.
fn transform(operator: &str, x: &Tensor, axes: &[i64], sizes: &[i64]) -> (Model, HashMap<String, Value>) {
    let mut builder = Builder::new("transform");
    for (name, tensor) in [("x", x), ("sizes", &Tensor::vector(sizes))] {
        let id = builder.define(name, Origin::Input).unwrap();
        let rank = tensor.shape().rank();
        builder.info(id).declared =
            Some(Type::Tensor(Some(tensor.dtype()), Some(vec![DeclaredDim::Unknown; rank])));
    }
    builder.constant("axes", Tensor::vector(axes).into()).unwrap();
    let version = if operator.contains("RDFT") { 9 } else { 7 };
    builder.apply("node", operator, version, &["x", "axes", "sizes"], &["y"], vec![]).unwrap();
    builder.output("y");
    let mut model = gradus::graph::Model::new(Standard::OpenVino);
    model.format_version = 11;
    model.graph = builder.finish().unwrap();
    let given = [("x", x.clone()), ("sizes", Tensor::vector(sizes))];
    let given = given.map(|(name, tensor)| (name.to_owned(), tensor.into()));
    (Model::from_source(model), HashMap::from(given))
}

#[test]
fn transforms_take_sizes_that_are_inputs() {
    let (real, parts) = (floats(&[2, 3, 5]), floats(&[2, 3, 4, 2]));
    for sizes in [[4, 6], [-1, 3], [2, -1], [-1, -1]] {
        for (operator, x) in [("DFT", &parts), ("IDFT", &parts), ("RDFT", &real), ("IRDFT", &parts)] {
            in_set(&format!("{operator} {sizes:?}"), transform(operator, x, &[1, 2], &sizes), 20);
        }
    }
}
