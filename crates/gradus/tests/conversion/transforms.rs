//! Fourier transforms in other operator sets, and of OpenVINO as ONNX.

use std::collections::HashMap;

use gradus::graph::Standard;
use gradus::{Model, Tensor, Value};

use super::opsets::{in_other_set, in_set};
use crate::common::converted::{compare, floats, kept, run};
use crate::common::one::One;
use crate::common::sketch::Sketch;

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
    let sizes = Tensor::vector(sizes);
    let version = if operator.contains("RDFT") { 9 } else { 7 };
    let model = Sketch::openvino("sizes: int64[?]")
        .input("x", x.dtype(), &vec![""; x.shape().rank()])
        .ints("axes", axes)
        .text(&format!("y = {operator}@{version}(x, axes, sizes); return y"));
    let given = [("x", x.clone()), ("sizes", sizes)].map(|(name, tensor)| (name.to_owned(), tensor.into()));
    (model.unwritten(0), HashMap::from(given))
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
