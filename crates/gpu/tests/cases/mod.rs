//! References for fills on devices: those of the processor, which `gradus-kernels` proves equal to
//! the plans, for all cases of its table and random ones.

#![allow(dead_code, reason = "each test takes what it needs")]

#[path = "../../../kernels/tests/cases/mod.rs"]
mod table;

use gradus_core::convert::{nearest_f64, u64_of};
use gradus_core::{DType, Number};
use gradus_kernels::{Fill, Options, Write, Writer};
use gradus_sequences::LinspacePlan;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Backend;

pub use table::*;

/// Parts of a sequence that are filled: the first elements, some in the middle, the last.
pub fn parts(len: u64) -> Vec<(u64, u64)> {
    const PART: u64 = 700;
    let mut starts = vec![0, len / 2 + 3, len.saturating_sub(PART)];
    starts.retain(|&lo| lo < len.max(1));
    starts.dedup();
    starts.into_iter().map(|lo| (lo, len.min(lo + PART))).collect()
}

/// Compares bytes with the elements of a plan from an index on, as the processor makes them.
pub fn same<T: Write>(plan: &impl Fill, lo: u64, found: &[u8], how: &str) {
    let mut wanted = vec![T::default(); found.len() / size_of::<T>()];
    Writer::new(plan, Options::ONE_THREAD).write(lo, &mut wanted);
    let wanted: &[u8] = bytemuck::cast_slice(&wanted);
    if wanted != found {
        let width = size_of::<T>();
        let place = wanted.iter().zip(found).position(|(a, b)| a != b).unwrap() / width;
        let bytes = |all: &[u8]| -> Vec<u8> { all[place * width..][..width].iter().rev().copied().collect() };
        panic!(
            "element {} of {} is {:02x?}, not {:02x?} ({:?}), {how}",
            lo + u64_of(place),
            plan.dtype(),
            bytes(found),
            bytes(wanted),
            plan.at(lo + u64_of(place)),
        );
    }
}

/// Random cases, the same ones in every run.
pub fn random(check: &impl Check) {
    run(any_linspace(), |case| case.with(check));
    run(any_range(), |case| case.with(check));
    run(any_logspace(), |case| case.with(check));
    run(any_geomspace(), |case| case.with(check));
    run(any_integers(), |cases| cases.iter().for_each(|case| case.with(check)));
}

fn run<S: Strategy>(strategy: S, check: impl Fn(S::Value)) {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 48, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    runner
        .run(&strategy, |value| {
            check(value);
            Ok(())
        })
        .unwrap();
}

/// Sequences of which a device must be certain but for some elements.
pub fn ordinary() -> Vec<Case> {
    use Number::{Float, Int};
    let mut cases = Vec::new();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        cases.push(range(Int(0), Int(3000), Int(1), dtype));
        cases.push(range(Float(0.1), Float(300.0), Float(0.1), dtype));
        cases.push(linspace(Int(0), Int(1), 3001, dtype));
        cases.push(linspace(Float(-7.3), Float(1e4), 100_000, dtype));
        cases.push(logspace(Int(10), Float(-3.5), Float(3.5), 3000, dtype));
        cases.push(geomspace(Float(0.3), Float(1e4), 3000, dtype));
    }
    for dtype in
        [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64]
    {
        cases.push(range(Int(-5), Int(3000), Int(3), dtype));
        cases.push(linspace(Float(0.1), Float(99.9), 3000, dtype));
        cases.push(linspace(Int(0), Int(100), 301, dtype));
        cases.push(logspace(Int(10), Int(0), Float(2.1), 3000, dtype));
    }
    cases
}

/// The most elements of an ordinary sequence that the processor may have decided, of any part of
/// it: doubles leave open what is nearly a tie.
pub fn decided(backend: Backend) -> u64 {
    if backend == Backend::Cuda { 80 } else { 8 }
}

/// Sequences of types of each width, that long: of several blocks, tables and launches.
pub fn long(len: u64) -> Vec<Case> {
    use Number::{Float, Int};
    let floats = [DType::F16, DType::F32, DType::F64];
    let mut cases: Vec<_> = floats
        .into_iter()
        .flat_map(|dtype| {
            let line = linspace(Float(-7.3), Float(1e4), len, dtype);
            [line, logspace(Int(10), Int(-3), Int(3), len, dtype)]
        })
        .collect();
    cases.push(logspace(Int(10), Int(0), Int(18), len, DType::I64));
    cases.push(linspace(Int(-1_000_000), Float(1e6), len, DType::I32));
    // Elements that lie below integers by less than the error of a long run.
    let below = nearest_f64(Int(i128::from(len - 1))).next_down();
    cases.extend([below, -below].map(|end| linspace(Int(0), Float(end), len, DType::I64)));
    cases.push(range(Int(0), Int(i128::from(len) * 3), Int(3), DType::U8));
    cases
}

/// A sequence that is not exact, and of which every sixth element is a tie: more doubts than any
/// device lists.
pub fn ties() -> LinspacePlan {
    let start = 1 << 24;
    LinspacePlan::new(Number::Int(start), Number::Int(start + 300_000), 900_001, true, DType::F32).unwrap()
}
