//! Any arguments as a sequence: planning never panics, and a fill has the bits of the plan.
#![no_main]

use gradus::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use gradus::{DType, Fill, FillOptions, Limits, Number, Stores, Write, Writer};
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
    match take::<1>(data)[0] % 5 {
        0 => Number::Int(i64::from_le_bytes(take(data)).into()),
        1 => Number::Int(i8::from_le_bytes(take(data)).into()),
        2 => Number::Float(f32::from_le_bytes(take(data)).into()),
        3 => Number::Complex(part(data), part(data)),
        _ => Number::Float(f64::from_le_bytes(take(data))),
    }
}

/// A part of a complex number: often a small integer, so that numbers lie on the axes.
fn part(data: &mut &[u8]) -> f64 {
    match take::<1>(data)[0] % 4 {
        0 => 0.0,
        1 | 2 => i8::from_le_bytes(take(data)).into(),
        _ => f64::from_le_bytes(take(data)),
    }
}

/// Writes a part of the sequence and compares it with the plan.
fn check(plan: &impl Fill, from: u64, dtype: DType) {
    match dtype {
        DType::F64 => check_as::<f64>(plan, from),
        DType::F32 => check_as::<f32>(plan, from),
        DType::I64 => check_as::<i64>(plan, from),
        DType::I32 => check_as::<i32>(plan, from),
        DType::C64 | DType::C128 => check_complex(plan, from),
        _ => check_as::<u8>(plan, from),
    }
}

/// Compares a tensor of complex elements with the plan.
fn check_complex(plan: &impl Fill, from: u64) {
    let lo = from % plan.len().max(1);
    let part = plan.slice(lo..plan.len().min(lo + 4));
    let tensor = gradus::filled(&part, &Limits::DEFAULT, 0).expect("four elements are within the limits");
    for (i, index) in (0..part.len()).zip(0..) {
        let (got, want) = (tensor.number(index).expect("the tensor holds numbers"), part.at(i));
        let is_nan = matches!(want, Number::Complex(re, im) if re.is_nan() || im.is_nan());
        assert!(got == want || is_nan, "element {i} is {got:?}, not {want:?}");
    }
}

fn check_as<T: Write>(plan: &impl Fill, from: u64) {
    let lo = from % plan.len().max(1);
    let len = usize::try_from((plan.len() - lo).min(40)).expect("at most 40");
    let mut out = vec![T::default(); len];
    let mut options = FillOptions::ONE_THREAD;
    options.stores = Stores::Streaming;
    Writer::new(plan, options).write(lo, &mut out);
    for (i, got) in (lo..).zip(out) {
        let want = plan.at(i);
        let same = got.number() == want
            || matches!((got.number(), want), (Number::Float(a), Number::Float(b)) if a.is_nan() && b.is_nan());
        assert!(same, "element {i} is {got:?}, not {want:?}");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let [kind, dtype, samples] = take(&mut data);
    let dtypes = [DType::F64, DType::F32, DType::I64, DType::I32, DType::U8, DType::C64, DType::C128];
    let dtype = dtypes[usize::from(dtype) % dtypes.len()];
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
