//! How long the inference of models takes within a process: `infer_time MODEL…` prints
//! milliseconds, a line a model.
#![allow(clippy::unwrap_used, reason = "a measurement may fail by a panic")]

use std::time::Instant;

use gradus::Model;
use gradus::infer::InferOptions;

/// Runs of which the fastest counts.
const RUNS: usize = 20;

fn main() {
    // Setup that happens once per process counts for no model.
    let started = Instant::now();
    gradus::operators::row(gradus::graph::Standard::Onnx, "", "Range");
    let empty = gradus::graph::Model::new(gradus::graph::Standard::Onnx);
    Model::from_source(empty).infer(&InferOptions::default()).unwrap();
    println!("start\t{:.3}", started.elapsed().as_secs_f64() * 1e3);
    let mut options = InferOptions::default();
    options.ignore_declared = true;
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let model = Model::open(&path).unwrap();
        let load = start.elapsed().as_secs_f64() * 1e3;
        let run = || {
            let start = Instant::now();
            let inference = model.infer(&options).unwrap();
            let time = start.elapsed().as_secs_f64() * 1e3;
            drop(inference);
            time
        };
        let times: Vec<_> = (0..RUNS).map(|_| run()).collect();
        let best = times.iter().copied().fold(f64::MAX, f64::min);
        let nodes = model.graph().nodes().len();
        println!("{path}\t{nodes}\t{load:.3}\t{:.3}\t{best:.3}", times[0]);
    }
}
