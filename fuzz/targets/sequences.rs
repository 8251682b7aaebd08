//! Any arguments as a sequence: planning never panics, and a fill has the bits of the plan.
#![no_main]

use gradus::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use gradus::{DType, Fill, FillOptions, Number, Stores, Write, Writer};
use libfuzzer_sys::fuzz_target;

/// Takes bytes from the front; zeros when there are none left.
fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let n = data.len().min(N);
    bytes[..n].copy_from_slice(&data[..n]);
    *data = &data[n..];
    bytes
}

fn number(data: &mut &[u8]) -> Number {
    match take::<1>(data)[0] % 4 {
        0 => Number::Int(i64::from_le_bytes(take(data)).into()),
        1 => Number::Int(i8::from_le_bytes(take(data)).into()),
        2 => Number::Float(f32::from_le_bytes(take(data)).into()),
        _ => Number::Float(f64::from_le_bytes(take(data))),
    }
}

/// Writes a part of the sequence and compares it with the plan.
fn check(plan: &impl Fill, from: u64, dtype: DType) {
    match dtype {
        DType::F64 => check_as::<f64>(plan, from),
        DType::F32 => check_as::<f32>(plan, from),
        DType::I64 => check_as::<i64>(plan, from),
        DType::I32 => check_as::<i32>(plan, from),
        _ => check_as::<u8>(plan, from),
    }
}

fn check_as<T: Write>(plan: &impl Fill, from: u64) {
    let lo = from % plan.len().max(1);
    let len = usize::try_from((plan.len() - lo).min(40)).expect("at most 40");
    let mut out = vec![T::default(); len];
    Writer::new(plan, FillOptions { threads: 1, stores: Stores::Streaming, level: None }).write(lo, &mut out);
    for (i, got) in (lo..).zip(out) {
        let want = plan.at(i);
        let same = got.number() == want || matches!((got.number(), want), (Number::Float(a), Number::Float(b)) if a.is_nan() && b.is_nan());
        assert!(same, "element {i} is {got:?}, not {want:?}");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let [kind, dtype, samples] = take(&mut data);
    let dtype = [DType::F64, DType::F32, DType::I64, DType::I32, DType::U8][usize::from(dtype) % 5];
    let (a, b, c) = (number(&mut data), number(&mut data), number(&mut data));
    let num = u64::from_le_bytes(take(&mut data)) >> (samples % 64);
    let (endpoint, from) = (samples >= 128, u64::from_le_bytes(take(&mut data)));
    match kind % 4 {
        0 => RangePlan::new(a, b, c, dtype).map_or((), |plan| check(&plan, from, dtype)),
        1 => LinspacePlan::new(a, b, num, endpoint, dtype).map_or((), |plan| check(&plan, from, dtype)),
        2 => LogspacePlan::new(c, a, b, num, endpoint, dtype).map_or((), |plan| check(&plan, from, dtype)),
        _ => GeomspacePlan::new(a, b, num, endpoint, dtype).map_or((), |plan| check(&plan, from, dtype)),
    }
});
