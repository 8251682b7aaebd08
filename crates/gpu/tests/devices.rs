//! Fills on a device, a software one of Vulkan where there is no other, have the bits of the
//! processor.
//!
//! `GRADUS_TEST_DEVICE` names the device; without it the first of Vulkan is taken. If there is
//! none, nothing is compared, and the tests say so; `GRADUS_REQUIRE_DEVICE=1` makes that an error.

#![cfg(any(feature = "cuda", feature = "wgpu"))]
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod cases;

use std::sync::LazyLock;

use cases::Check;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{DType, Kind, Number, dispatch};
use gradus_gpu::{Backend, Device, DeviceReport};
use gradus_kernels::{Fill, Write};
use gradus_sequences::{Plan, RangePlan};

static DEVICE: LazyLock<Option<Box<dyn Device>>> = LazyLock::new(|| {
    let named = std::env::var("GRADUS_TEST_DEVICE").ok();
    // A build for CUDA alone has no device of Vulkan to be without.
    let required = named.is_some() || cfg!(feature = "wgpu");
    match gradus_gpu::open(named.as_deref().unwrap_or("vulkan")) {
        Ok(device) => {
            eprintln!("compared: {:?}", device.info());
            Some(device)
        }
        Err(error) => {
            assert!(!required || std::env::var_os("GRADUS_REQUIRE_DEVICE").is_none(), "{error}");
            // `cargo xtask test` reads this line.
            println!("\nskipped: {error}");
            None
        }
    }
});

/// Compares parts of sequences.
struct Compare<'a>(&'a dyn Device);

impl Check for Compare<'_> {
    fn check(&self, plan: &impl Fill) {
        for (lo, hi) in cases::parts(plan.len()) {
            filled(self.0, plan, lo, hi);
        }
    }
}

fn filled(device: &dyn Device, plan: &impl Fill, lo: u64, hi: u64) -> DeviceReport {
    dispatch!(plan.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => filled_as(device, plan, lo, hi),
        _ => DeviceReport::default())
}

fn filled_as<T: Write>(device: &dyn Device, plan: &impl Fill, lo: u64, hi: u64) -> DeviceReport {
    let part = plan.slice(lo..hi);
    let mut array = device.allocate(plan.dtype(), hi - lo).unwrap();
    let report = array.fill(&part).unwrap();
    let mut found = vec![0; usize_of(hi - lo) * size_of::<T>()];
    array.read(0, &mut found).unwrap();
    cases::same::<T>(plan, lo, &found, &format!("{lo} to {hi}: {report:?}"));
    report
}

#[test]
fn every_case_has_the_bits_of_the_processor() {
    let Some(device) = &*DEVICE else { return };
    for case in cases::all() {
        case.with(&Compare(&**device));
    }
}

#[test]
fn random_cases_have_the_bits_of_the_processor() {
    let Some(device) = &*DEVICE else { return };
    cases::random(&Compare(&**device));
}

/// Compares, and holds the processor to a few elements.
struct Certain<'a>(&'a dyn Device);

impl Check for Certain<'_> {
    fn check(&self, plan: &impl Fill) {
        for (lo, hi) in cases::parts(plan.len()) {
            let report = filled(self.0, plan, lo, hi);
            // Short arrays are made by the processor.
            let is_short = (hi - lo) * u64_of(plan.dtype().bits()) <= 8 * 4032;
            assert!(
                (report.copied == 0 || is_short) && report.decided <= cases::decided(self.0.info().backend),
                "{report:?} of {} {}, {lo} to {hi}, from {:?} on",
                plan.len(),
                plan.dtype(),
                plan.at(lo),
            );
        }
    }
}

#[test]
fn of_ordinary_sequences_the_device_makes_nearly_all() {
    let Some(device) = &*DEVICE else { return };
    for case in cases::ordinary() {
        case.with(&Certain(&**device));
    }
}

/// Compares whole sequences.
struct Whole<'a>(&'a dyn Device);

impl Check for Whole<'_> {
    fn check(&self, plan: &impl Fill) {
        filled(self.0, plan, 0, plan.len());
    }
}

#[test]
fn parts_of_long_sequences_meet() {
    let Some(device) = &*DEVICE else { return };
    // On Vulkan, longer than a part.
    for case in cases::long((1 << 24) + 1001) {
        case.with(&Whole(&**device));
    }
}

#[test]
fn too_many_doubts_are_left_to_the_processor() {
    let Some(device) = &*DEVICE else { return };
    let line = cases::ties();
    let report = filled(&**device, &line, 0, line.len());
    assert_eq!(report.copied, line.len(), "{report:?}");
}

#[test]
fn arrays_are_read_in_parts_and_filled_again() {
    let Some(device) = &*DEVICE else { return };
    let plan = |step| {
        RangePlan::new(Number::Int(5), Number::Int(5 + 10 * step), Number::Int(step), DType::I16).unwrap()
    };
    let mut array = device.fill(&plan(1)).unwrap();
    array.fill(&plan(3)).unwrap();
    let mut two = [0; 4];
    array.read(6, &mut two).unwrap();
    assert_eq!(two, [14, 0, 17, 0]);
    assert_eq!(array.tensor().unwrap().number(9).unwrap(), Number::Int(32));
    assert_eq!(array.read(17, &mut two).unwrap_err().kind(), Kind::Shape);
    assert_eq!(array.read(u64::MAX, &mut two).unwrap_err().kind(), Kind::Shape);
    assert_eq!(array.fill(&plan(1).slice(0..9)).unwrap_err().kind(), Kind::Shape);
    let other = RangePlan::new(Number::Int(0), Number::Int(10), Number::Int(1), DType::U16).unwrap();
    assert_eq!(array.fill(&other).unwrap_err().kind(), Kind::Type);
    let none = device.fill(&other.slice(3..3)).unwrap();
    assert!(none.is_empty() && none.tensor().unwrap().shape().dims() == [0]);
}

#[test]
fn what_no_device_holds_is_an_error() {
    let Some(device) = &*DEVICE else { return };
    let complex = device.allocate(DType::C64, 1).unwrap_err();
    assert_eq!(complex.kind(), Kind::Unsupported);
    let large = device.allocate(DType::F32, device.info().max_bytes / 4 + 1).unwrap_err();
    assert_eq!(large.kind(), Kind::Limit, "{large}");
    assert_eq!(device.allocate(DType::F64, u64::MAX).unwrap_err().kind(), Kind::Limit);
    let plan = RangePlan::new(Number::Int(0), Number::Int(1 << 62), Number::Int(1), DType::I8).unwrap();
    assert_eq!(device.fill(&plan).unwrap_err().kind(), Kind::Limit);
}
