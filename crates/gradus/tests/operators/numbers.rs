//! Attributes of OpenVINO that are numbers: a value that no version of the operator has is an error
//! of inference and of programs, whether or not anything reads it.

use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::operators;
use gradus::{DType, RunOptions, Shape, Tensor};

use crate::common::one::One;
use crate::words::model;

fn zeros(dims: &[usize]) -> Tensor {
    Tensor::zeros(DType::F32, Shape::new(dims).unwrap()).unwrap()
}

/// Holds that a node is refused before a run, and by a run, with a message.
fn refuses(one: One<'_>, wanted: &str) {
    let (model, given) = one.model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let problems: Vec<_> = inference.problems().iter().map(|of| of.error().to_string()).collect();
    assert!(problems.iter().any(|of| of.contains(wanted)), "{wanted}: {problems:?}");
    let run = model.compile(&[], &RunOptions::default()).and_then(|program| program.run(&given));
    let error = run.unwrap_err().to_string();
    assert!(error.contains(wanted), "{wanted}: {error}");
}

#[test]
fn lists_that_nothing_reads_are_checked() {
    fn read(one: One<'_>) -> One<'_> {
        one.text("dilations", "1,1").text("pads_end", "0,0")
    }
    let node = |operator, version| One::of(Standard::OpenVino, operator, version).known();
    let image = zeros(&[1, 2, 7, 5]);
    let convolution = || {
        let inputs = [image.clone(), zeros(&[3, 2, 2, 3])];
        node("Convolution", 1).inputs(&inputs).text("auto_pad", "same_upper").text("strides", "1,1")
    };
    // Pads mean nothing where they follow from the sizes.
    refuses(
        read(convolution().text("pads_begin", "x")),
        "attribute \"pads_begin\" is \"x\", expected a list of integers",
    );
    refuses(
        read(convolution().text("pads_begin", "99999999999999999999,0")),
        "attribute \"pads_begin\" is \"99999999999999999999,0\", expected a list of integers",
    );
    refuses(
        read(convolution().text("pads_begin", "0,0,0")),
        "length of attribute \"pads_begin\" is 3, expected 2, as that of \"strides\"",
    );
    refuses(
        read(convolution().text("pads_begin", "-1,0")),
        "attribute \"pads_begin\" is -1, expected at least 0",
    );
    let pool = |operator| {
        node(operator, 14)
            .inputs(std::slice::from_ref(&image))
            .text("pads_begin", "0,0")
            .text("pads_end", "0,0")
    };
    for operator in ["AvgPool", "MaxPool"] {
        let strided = |kernel: &str| pool(operator).text("strides", "1,1").text("kernel", kernel);
        refuses(strided("0,2"), "attribute \"kernel\" is 0, expected at least 1");
        let none = pool(operator).text("kernel", "2,2").text("strides", "");
        refuses(none, "number of elements of attribute \"strides\" is 0, expected 2");
    }
    let axis = pool("MaxPool").outputs(2).text("kernel", "2,2").text("strides", "1,1").text("axis", "7");
    refuses(axis, "axis 7 is out of range");
    let bounds = [Tensor::vector(&[0i64, 0]), Tensor::vector(&[1i64, 1])];
    let slice = |mask: &str| {
        let slice = node("StridedSlice", 1).inputs(&[zeros(&[2, 3])]).constants(&bounds);
        slice.text("begin_mask", "0,0").text("end_mask", mask)
    };
    refuses(slice("0,0,1"), "length of attribute \"end_mask\" is 3, expected 2, as that of \"begin_mask\"");
    refuses(slice("0,2"), "attribute \"end_mask\" is 2, expected 0 to 1");
    let split = node("Split", 1).inputs(&[zeros(&[2])]).constants(&[Tensor::scalar(0i64)]);
    refuses(split.text("num_splits", "0"), "attribute \"num_splits\" is 0, expected at least 1");
    for (min, max) in [("2", "1"), ("nan", "1"), ("0", "nan")] {
        let clamp = node("Clamp", 1).inputs(&[zeros(&[2])]).text("min", min).text("max", max);
        refuses(clamp, "expected a");
    }
}

/// OpenVINO leaves lists of convolutions and masks out, or empty.
#[test]
fn empty_lists_are_those_of_defaults() {
    let inputs = [zeros(&[1, 2, 7, 5]), zeros(&[3, 2, 2, 3])];
    let names = ["strides", "dilations", "pads_begin", "pads_end"];
    let node = One::of(Standard::OpenVino, "Convolution", 1).inputs(&inputs).known();
    let (model, given) = names.iter().fold(node, |node, name| node.text(name, "")).model();
    let outputs = model.run(&given).unwrap();
    assert_eq!(outputs[0].tensor().unwrap().shape().dims(), [1, 3, 6, 3]);
}

#[test]
fn numbers_of_ranges_are_numbers() {
    let mut count = 0;
    for row in operators::all() {
        for &attribute in row.numbers.iter().flat_map(|numbers| numbers.attributes) {
            let known = row.signatures().iter().flat_map(|of| of.attributes).any(|of| of.name == attribute);
            if !known {
                // Lists of all windows, of which some have fewer.
                continue;
            }
            let model = model(row, attribute, Content::Text("x".into()));
            let wanted = format!("attribute \"{attribute}\" is \"x\", expected ");
            let inference = model.infer(&InferOptions::default()).unwrap();
            let [problem] = inference.problems() else { panic!("{} {attribute}", row.name) };
            let mut told = vec![problem.error().to_string()];
            if row.is_evaluated() {
                told.push(model.compile(&[], &RunOptions::default()).unwrap_err().to_string());
            }
            for error in told {
                assert!(error.contains(&wanted), "{} {attribute}: {error}", row.name);
            }
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}
