//! Single nodes over large tensors end soon after the deadline.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "common/one.rs"]
mod one;

use std::time::{Duration, Instant};

use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::{DType, Kind, Limits, RunOptions, Shape, Tensor};
use one::One;

/// Elements along each of the two axes.
const SIDE: usize = 1 << 12;
/// The time that a node is given: less than any processor needs to write its output of 64 MiB.
const GIVEN: Duration = Duration::from_micros(500);
/// The time that a node may take beyond the deadline, on machines that are shared.
const LATE: Duration = Duration::from_secs(4);

fn zeros(dtype: DType, dims: &[usize]) -> Tensor {
    Tensor::zeros(dtype, Shape::new(dims).unwrap()).unwrap()
}

fn integers(values: &[i64]) -> Tensor {
    Tensor::vector(values)
}

#[test]
fn large_nodes_end_soon_after_the_deadline() {
    let x = zeros(DType::F32, &[SIDE, SIDE]);
    let row = || zeros(DType::F32, &[SIDE]);
    let image = x.reshaped(Shape::new([1, 1, SIDE, SIDE]).unwrap()).unwrap();
    let of = |operator, version| One::of(Standard::Onnx, operator, version);
    let ints = |values: &[i64]| Content::Ints(values.into());
    let nodes = [
        ("Add", of("Add", 14).inputs(&[x.clone(), row()])),
        ("Less", of("Less", 13).inputs(&[x.clone(), row()])),
        ("Max", of("Max", 13).inputs(&[x.clone(), row(), row()])),
        ("Neg", of("Neg", 13).inputs(std::slice::from_ref(&x))),
        // Without a value at zero, so that each element takes the slow way.
        ("Acosh", of("Acosh", 22).inputs(std::slice::from_ref(&x))),
        ("IsNaN", of("IsNaN", 20).inputs(std::slice::from_ref(&x))),
        ("Clip", of("Clip", 13).inputs(std::slice::from_ref(&x))),
        ("ReduceSum", of("ReduceSum", 13).inputs(std::slice::from_ref(&x)).constants(&[integers(&[0])])),
        ("ReduceMax", of("ReduceMax", 18).inputs(std::slice::from_ref(&x))),
        ("ArgMax", of("ArgMax", 13).inputs(std::slice::from_ref(&x))),
        ("TopK", of("TopK", 11).inputs(std::slice::from_ref(&x)).constants(&[integers(&[2])]).outputs(2)),
        ("CumSum", of("CumSum", 14).inputs(std::slice::from_ref(&x)).constants(&[Tensor::scalar(0i64)])),
        ("Pad", of("Pad", 13).inputs(std::slice::from_ref(&x)).constants(&[integers(&[1, 1, 1, 1])])),
        ("Transpose", of("Transpose", 13).inputs(std::slice::from_ref(&x))),
        ("Expand", of("Expand", 13).inputs(&[row()]).constants(&[integers(&[4096, 4096])])),
        (
            "Slice",
            of("Slice", 13).inputs(std::slice::from_ref(&x)).constants(&[integers(&[1]), integers(&[4000])]),
        ),
        (
            "SpaceToDepth",
            of("SpaceToDepth", 13)
                .inputs(std::slice::from_ref(&image))
                .attribute("blocksize", Content::Int(2)),
        ),
        ("Trilu", of("Trilu", 14).inputs(std::slice::from_ref(&x))),
        (
            "MaxPool",
            of("MaxPool", 12).inputs(std::slice::from_ref(&image)).attribute("kernel_shape", ints(&[3, 3])),
        ),
        (
            "AveragePool",
            of("AveragePool", 19)
                .inputs(std::slice::from_ref(&image))
                .attribute("kernel_shape", ints(&[3, 3])),
        ),
        ("Conv", of("Conv", 11).inputs(&[image.clone(), zeros(DType::F32, &[1, 1, 3, 3])])),
        ("MatMul", of("MatMul", 13).inputs(&[x.clone(), x.clone()])),
    ];
    let mut late = Vec::new();
    for (name, node) in nodes {
        let (model, given) = node.model();
        let program = model.compile(&[], &RunOptions::default()).unwrap();
        let mut limits = Limits::DEFAULT;
        limits.deadline = Some(Instant::now() + GIVEN);
        let start = Instant::now();
        let outcome = program.run_within(&given, limits);
        let took = start.elapsed();
        let kind = outcome.map_err(|error| error.kind()).err();
        assert_eq!(kind, Some(Kind::Limit), "{name}, in {took:?}");
        if took > LATE {
            late.push((name, took));
        }
    }
    assert_eq!(late, []);
}

/// Work that is more than linear in the elements ends soon after the deadline too.
#[test]
fn nodes_of_few_elements_end_soon_after_the_deadline() {
    let prime = zeros(DType::F32, &[1, 99_991, 1]);
    let square = zeros(DType::F32, &[1500, 1500]);
    let of = |operator, version| One::of(Standard::Onnx, operator, version);
    let nodes = [
        ("DFT", of("DFT", 17).inputs(&[prime]).attribute("axis", Content::Int(1))),
        ("Det", of("Det", 11).inputs(std::slice::from_ref(&square))),
    ];
    for (name, node) in nodes {
        let (model, given) = node.model();
        let program = model.compile(&[], &RunOptions::default()).unwrap();
        let mut limits = Limits::DEFAULT;
        limits.deadline = Some(Instant::now() + GIVEN);
        let start = Instant::now();
        let kind = program.run_within(&given, limits).map_err(|error| error.kind()).err();
        let took = start.elapsed();
        // The determinant of zeros may be known before the time is over.
        assert!(kind == Some(Kind::Limit) || name != "DFT", "{name}, in {took:?}");
        assert!(took < LATE, "{name}, in {took:?}");
    }
}

#[test]
fn repeating_nothing_ends_at_once() {
    let times = integers(&[1 << 62]);
    let (model, _) = One::of(Standard::Onnx, "Tile", 13).constants(&[integers(&[]), times]).model();
    let begin = Instant::now();
    assert!(model.infer(&InferOptions::default()).unwrap().problems().is_empty());
    assert!(begin.elapsed() < LATE);
}
