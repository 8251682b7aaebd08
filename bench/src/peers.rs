//! The fills that `bench/peers.py` compares with those of other programs.

use std::hint::black_box;

use gradus_core::convert::u64_of;
use gradus_core::{DType, Number};
use gradus_kernels::{Fill, Options, Write};
use gradus_sequences::{LinspacePlan, LogspacePlan, RangePlan};
use serde_json::{Map, Value, json};

use crate::timing;

use Number::Int;

/// Prints the seconds that each sequence of each size takes, its plan included, as JSON:
/// `{"range int64": {"10": …}}`.
pub fn run(sizes: &[usize], threads: usize, rounds: usize) {
    let mut options = Options::default();
    options.threads = threads;
    let sequences: [(&str, Time); 6] = [
        ("range int64", range::<i64>),
        ("range float32", range::<f32>),
        ("linspace float32", linspace::<f32>),
        ("linspace float64", linspace::<f64>),
        ("logspace float32", logspace::<f32>),
        ("logspace float64", logspace::<f64>),
    ];
    let times: Map<String, Value> = sequences
        .into_iter()
        .map(|(name, time)| {
            let times: Map<String, Value> =
                sizes.iter().map(|&len| (len.to_string(), json!(time(len, options, rounds)))).collect();
            (name.to_owned(), times.into())
        })
        .collect();
    println!("{}", Value::from(times));
}

/// Seconds for a number of elements.
type Time = fn(usize, Options, usize) -> f64;

fn range<T: Write>(len: usize, options: Options, rounds: usize) -> f64 {
    time::<T, _>(len, options, rounds, |num, dtype| {
        RangePlan::new(Int(0), Int(num.into()), Int(1), dtype).expect("a plan")
    })
}

fn linspace<T: Write>(len: usize, options: Options, rounds: usize) -> f64 {
    time::<T, _>(len, options, rounds, |num, dtype| {
        LinspacePlan::new(Int(0), Int(1000), num, true, dtype).expect("a plan")
    })
}

fn logspace<T: Write>(len: usize, options: Options, rounds: usize) -> f64 {
    time::<T, _>(len, options, rounds, |num, dtype| {
        LogspacePlan::new(Int(10), Int(0), Int(9), num, true, dtype).expect("a plan")
    })
}

fn time<T: Write, P: Fill>(
    len: usize,
    options: Options,
    rounds: usize,
    plan: impl Fn(u64, DType) -> P,
) -> f64 {
    let mut out = vec![T::default(); len];
    let mut work = || {
        let plan = plan(black_box(u64_of(len)), T::DTYPE);
        gradus_kernels::fill_with(&plan, black_box(&mut out[..]), options);
    };
    timing::medians(rounds, &mut [&mut work])[0]
}
