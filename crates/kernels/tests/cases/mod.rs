//! The table of sequences whose fills are compared with their plans, by every kind of fill.

#![allow(dead_code, reason = "each test takes what it needs")]

use gradus_core::{DType, Number};
use gradus_kernels::Fill;
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use proptest::prelude::*;

use Number::{Complex, Float, Int};

/// A sequence.
#[derive(Clone, Debug)]
pub enum Case {
    Range(RangePlan),
    Linspace(LinspacePlan),
    Logspace(LogspacePlan),
    Geomspace(GeomspacePlan),
}

/// A check that takes plans of any kind.
pub trait Check {
    fn check(&self, plan: &impl Fill);
}

impl Case {
    /// Checks the plan.
    pub fn with(&self, check: &impl Check) {
        match self {
            Case::Range(plan) => check.check(plan),
            Case::Linspace(plan) => check.check(plan),
            Case::Logspace(plan) => check.check(plan),
            Case::Geomspace(plan) => check.check(plan),
        }
    }
}

pub fn range(start: Number, limit: Number, step: Number, dtype: DType) -> Case {
    Case::Range(RangePlan::new(start, limit, step, dtype).unwrap())
}

pub fn linspace(start: Number, stop: Number, num: u64, dtype: DType) -> Case {
    Case::Linspace(LinspacePlan::new(start, stop, num, true, dtype).unwrap())
}

pub fn logspace(base: Number, start: Number, stop: Number, num: u64, dtype: DType) -> Case {
    Case::Logspace(LogspacePlan::new(base, start, stop, num, true, dtype).unwrap())
}

pub fn geomspace(start: Number, stop: Number, num: u64, dtype: DType) -> Case {
    Case::Geomspace(GeomspacePlan::new(start, stop, num, true, dtype).unwrap())
}

pub const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
pub const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

pub fn ranges() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in INTEGERS {
        cases.push(range(Int(-5), Int(3000), Int(3), dtype));
        cases.push(range(Int(3000), Int(-5), Int(-7), dtype));
        cases.push(range(Float(-200.5), Float(900.0), Float(0.75), dtype));
        cases.push(range(Float(0.0), Float(30.0), Float(0.1), dtype));
        cases.push(range(Int(0), Int(i128::from(u64::MAX)), Int(4), dtype));
    }
    for dtype in FLOATS {
        cases.push(range(Float(-0.0), Float(100.0), Float(0.1), dtype));
        cases.push(range(Float(100.0), Float(-100.0), Float(-0.3), dtype));
        cases.push(range(Int(0), Int(1 << 40), Int(1), dtype));
        // Many of them in the middle between two floats of 16 bits.
        cases.push(range(Int(-5), Int(9000), Int(1), dtype));
        cases.push(range(Float(3000.25), Float(-3000.0), Float(-0.125), dtype));
        cases.push(range(Int((1 << 60) + 1), Int((1 << 60) + 5000), Int(3), dtype));
        cases.push(range(Float(0.0), Float(1e-310), Float(1e-313), dtype));
        cases.push(range(Float(0.0), Float(1e-42), Float(1e-45), dtype));
        cases.push(range(Float(-1.7e308), Float(1.7e308), Float(1e305), dtype));
    }
    cases.push(range(Int(-2), Int(3), Int(1), DType::Bool));
    // Found by random cases.
    let (start, step) = (445.928_941_140_853_1, 9.618_533_947_000_738);
    cases.push(range(Float(start), Float(start + step * 589.603_343_706_7), Float(step), DType::BF16));
    cases
}

pub fn linspaces() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003, 1 << 40] {
            cases.push(linspace(Int(0), Int(1), num, dtype));
            cases.push(linspace(Float(-1.0), Float(1.0), num, dtype));
            cases.push(linspace(Float(-0.0), Float(0.0), num, dtype));
            cases.push(linspace(Float(3.7), Float(-0.0), num, dtype));
            cases.push(linspace(Int(1 << 53), Int((1 << 55) + 3), num, dtype));
            cases.push(linspace(Float(f64::MIN), Float(f64::MAX), num, dtype));
            cases.push(linspace(Float(5e-324), Float(1e-320), num, dtype));
            cases.push(linspace(Float(0.1), Float(0.1), num, dtype));
            cases.push(linspace(Float(f64::INFINITY), Float(f64::INFINITY), num, dtype));
        }
    }
    for dtype in INTEGERS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003] {
            cases.push(linspace(Int(0), Int(127), num, dtype));
            cases.push(linspace(Float(0.1), Float(99.9), num, dtype));
            cases.push(linspace(Float(100.0), Float(-0.99), num, dtype));
            cases.push(linspace(Float(1e-300), Float(2e-300), num, dtype));
        }
    }
    cases.push(linspace(Int(i64::MIN.into()), Int(i64::MAX.into()), 1000, DType::I64));
    cases.push(linspace(Int(0), Int(u64::MAX.into()), 1000, DType::U64));
    for dtype in [DType::C64, DType::C128] {
        for num in [1, 3, 4, 300, 1_000_003] {
            cases.push(linspace(Complex(0.0, 1.0), Complex(1.0, -1.0), num, dtype));
            cases.push(linspace(Complex(-0.0, 0.0), Complex(0.1, -0.0), num, dtype));
            cases.push(linspace(Complex(1e-320, -0.0), Complex(1e300, -0.0), num, dtype));
        }
    }
    // Found by random cases.
    cases.push(linspace(Float(831.712_819_363_940_4), Float(-6.011_973_245_748_263e-140), 4604, DType::BF16));
    cases.push(linspace(Float(-692.417_643_674_275_4), Float(741.0), 2635, DType::F16));
    cases
}

pub fn logspaces() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003, 1 << 40] {
            cases.push(logspace(Int(10), Int(0), Int(3), num, dtype));
            cases.push(logspace(Int(10), Int(-340), Int(320), num, dtype));
            cases.push(logspace(Int(2), Int(5000), Int(-5000), num, dtype));
            cases.push(logspace(Int(2), Int(-80), Int(80), num, dtype));
            cases.push(logspace(Float(1.0 + f64::EPSILON), Int(0), Int(1000), num, dtype));
            cases.push(logspace(Float(1e-320), Int(-1), Int(1), num, dtype));
            cases.push(logspace(Int(1), Int(0), Int(9), num, dtype));
            cases.push(logspace(Int(3), Int(1), Int(1), num, dtype));
            cases.push(logspace(Int(0), Int(-1), Int(1), num.min(100), dtype));
            cases.push(logspace(Int(-2), Int(-3), Int(3), num.min(100), dtype));
            cases.push(logspace(Int(10), Float(1e300), Float(-1e300), num, dtype));
        }
    }
    for dtype in INTEGERS {
        let bits = i128::from(u8::try_from(dtype.bits()).unwrap());
        for num in [1, 2, 4, 50, 63, 257, 1000] {
            cases.push(logspace(Int(2), Int(-3), Int(bits - 2), num, dtype));
            cases.push(logspace(Int(10), Int(0), Float(2.1), num, dtype));
        }
    }
    cases.push(logspace(Int(2), Int(0), Float(63.999_999), 1000, DType::U64));
    // From just below 1 to just above, in steps that are too small to be seen in fixed point.
    cases.push(logspace(Float(5e-41), Float(1e-306), Float(-1e-219), 4_000_000, DType::I32));
    cases.push(logspace(Int(10), Float(-1e-60), Float(1e-60), 1000, DType::I64));
    cases.push(logspace(Complex(1.0, 1.0), Int(0), Int(5), 20, DType::C128));
    cases
}

pub fn geomspaces() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003] {
            cases.push(geomspace(Int(1), Int(1000), num, dtype));
            cases.push(geomspace(Int(-1), Int(-1000), num, dtype));
            cases.push(geomspace(Float(5e-324), Float(f64::MAX), num, dtype));
            cases.push(geomspace(Float(2.5), Float(2.5), num, dtype));
        }
    }
    for dtype in INTEGERS {
        for num in [2, 50, 1000] {
            cases.push(geomspace(Int(1), Int(100), num, dtype));
        }
    }
    cases.push(geomspace(Int(-1), Int(-100), 1000, DType::I8));
    cases.push(geomspace(Int(-1), Int(-(1 << 62)), 63, DType::I64));
    cases.push(geomspace(Complex(1.0, 0.0), Complex(-1.0, 0.0), 20, DType::C128));
    cases
}

/// All of them.
pub fn all() -> Vec<Case> {
    [ranges(), linspaces(), logspaces(), geomspaces()].concat()
}

pub fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        -1e3..1e3,
        (-1000i32..1000).prop_map(f64::from),
    ]
}

pub fn dtype() -> impl Strategy<Value = DType> {
    prop::sample::select(FLOATS.to_vec())
}

pub fn any_linspace() -> impl Strategy<Value = Case> {
    (float(), float(), 2u64..5000, dtype())
        .prop_map(|(start, stop, num, dtype)| linspace(Float(start), Float(stop), num, dtype))
}

pub fn any_range() -> impl Strategy<Value = Case> {
    (-1e3..1e3, 1e-3..10.0, 1f64..3000.0, dtype()).prop_map(|(start, step, len, dtype)| {
        range(Float(start), Float(start + step * len), Float(step), dtype)
    })
}

pub fn any_logspace() -> impl Strategy<Value = Case> {
    (0.01..100.0, -400.0..400.0, -400.0..400.0, 2u64..5000, dtype()).prop_map(
        |(base, start, stop, num, dtype)| logspace(Float(base), Float(start), Float(stop), num, dtype),
    )
}

pub fn any_geomspace() -> impl Strategy<Value = Case> {
    (float(), float(), 2u64..5000, dtype()).prop_filter_map("zero", |(start, stop, num, dtype)| {
        (start != 0.0 && stop != 0.0).then(|| geomspace(Float(start.abs()), Float(stop.abs()), num, dtype))
    })
}

pub fn any_integers() -> impl Strategy<Value = [Case; 3]> {
    (-128f64..127.9, -128f64..127.9, 2u64..2000).prop_map(|(start, stop, num)| {
        [
            linspace(Float(start), Float(stop), num, DType::I8),
            linspace(Float(start * 1e9), Float(stop * 1e9), num, DType::I64),
            geomspace(Float(1.0 + start.abs()), Float(1.0 + stop.abs() * 1e15), num, DType::I64),
        ]
    })
}
