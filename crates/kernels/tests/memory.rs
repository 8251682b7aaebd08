//! Fills write what they are given and nothing else, wherever it lies: at every level, with every
//! kernel, type, length and offset, through the caches and past them.
//!
//! Slices end where their memory does, so that valgrind sees what is written after them: `cargo
//! xtask test memcheck`. It emulates no AVX-512; at that level slices have neighbours after them
//! too, which must stay as they are.

#![cfg(feature = "vectors")]
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{DType, Number, dispatch};
use gradus_kernels::{Fill, Level, Options, Stores, Write, Writer};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};

use Number::{Float, Int};

/// Lengths of slices: more than any number of elements that is made at a time.
const LONGEST: usize = 300;

/// Bytes that offsets go up to: a line of the caches.
const LINE: usize = 64;

fn check(plan: &impl Fill) {
    dispatch!(plan.dtype(),
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => check_as(plan),
        other => panic!("{other} has no Rust type"));
}

fn check_as<T: Write>(plan: &impl Fill) {
    let all: Vec<T> = (0..plan.len()).map(|i| T::from_number(plan.at(i))).collect();
    let offsets = LINE / size_of::<T>();
    for level in Level::available() {
        for stores in [Stores::Cached, Stores::Streaming] {
            let mut options = Options::ONE_THREAD;
            (options.level, options.stores) = (Some(level), stores);
            let writer = Writer::new(plan, options);
            let check = |len: usize, offset: usize| {
                let lo = (len + 3 * offset) % (all.len() - len);
                let behind = if level == Level::Avx512 { offsets } else { 0 };
                let mut memory = vec![T::default(); offset + len + behind].into_boxed_slice();
                writer.write(u64_of(lo), &mut memory[offset..offset + len]);
                let bytes = bytemuck::cast_slice::<T, u8>;
                let neighbours = bytes(&memory[..offset]).iter().chain(bytes(&memory[offset + len..]));
                let right = bytes(&memory[offset..offset + len]) == bytes(&all[lo..lo + len]);
                assert!(
                    right && neighbours.copied().all(|byte| byte == 0),
                    "{level:?}, {stores:?}, {len} elements from {lo} at {offset}"
                );
            };
            for len in 0..=LONGEST {
                check(len, 0);
                check(len, len % offsets);
                check(len, (5 * len + 3) % offsets);
            }
            for offset in 0..offsets {
                for len in [1, 2, 3, 15, 16, 17, 33, 65, 129, 257] {
                    check(len, offset);
                }
            }
        }
    }
}

const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];
const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// The number of samples: enough for two blocks of the tables of powers, and a slice from anywhere.
const NUM: u64 = 1500;

fn linspace(start: Number, stop: Number, dtype: DType) {
    check(&LinspacePlan::new(start, stop, NUM, true, dtype).unwrap());
}

fn logspace(base: Number, stop: Number, dtype: DType) {
    check(&LogspacePlan::new(base, Float(0.1), stop, NUM, true, dtype).unwrap());
}

#[test]
fn levels() {
    // The levels depend on what valgrind emulates.
    println!("levels: {:?}; the longest slice: {LONGEST}", Level::available());
    assert!(usize_of(NUM) > 2 * LONGEST);
}

#[test]
fn ranges() {
    let plan = |start, limit, step, dtype| check(&RangePlan::new(start, limit, step, dtype).unwrap());
    for dtype in INTEGERS {
        plan(Int(-7), Int(4493), Int(3), dtype);
        plan(Float(0.5), Float(1125.0), Float(0.75), dtype);
    }
    for dtype in FLOATS {
        plan(Int(-7), Int(4493), Int(3), dtype);
        plan(Float(-0.1), Float(150.0), Float(0.1), dtype);
    }
}

#[test]
fn linspaces() {
    for dtype in INTEGERS {
        linspace(Int(0), Int(127), dtype);
    }
    for dtype in FLOATS {
        linspace(Float(-0.1), Int(1000), dtype);
    }
}

#[test]
fn logspaces() {
    for dtype in INTEGERS {
        logspace(Int(2), Float(6.9), dtype);
    }
    for dtype in FLOATS {
        logspace(Int(10), Int(4), dtype);
        // Beyond what products of tables reach, at both ends.
        logspace(Int(2), Int(1100), dtype);
        logspace(Float(0.5), Int(1200), dtype);
    }
}

#[test]
fn geomspaces_and_what_has_no_kernel() {
    for dtype in FLOATS {
        check(&GeomspacePlan::new(Float(-0.5), Int(-1000), NUM, true, dtype).unwrap());
        linspace(Float(0.25), Float(0.25), dtype);
        linspace(Float(f64::INFINITY), Float(f64::INFINITY), dtype);
    }
    check(&RangePlan::new(Int(-1), Int(1499), Int(1), DType::Bool).unwrap());
    linspace(Int(0), Number::Complex(1.0, -1.0), DType::C64);
    linspace(Int(0), Number::Complex(1.0, -1.0), DType::C128);
}
