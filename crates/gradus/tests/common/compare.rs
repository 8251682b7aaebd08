//! Tensors, compared.

use gradus::convert::nearest_f64;
use gradus::{DType, Number, Tensor};

/// How two tensors differ, if they do: `exact` wants the same numbers (zeros of the same sign),
/// otherwise floats may be some units in the last place of the largest apart.
pub fn difference(want: &Tensor, got: &Tensor, exact: bool) -> Option<String> {
    if (want.dtype(), want.shape()) != (got.dtype(), got.shape()) {
        return Some(format!("{}{}, not {}{}", got.dtype(), got.shape(), want.dtype(), want.shape()));
    }
    let all = |tensor: &Tensor| tensor.numbers().unwrap().collect::<Vec<_>>();
    let (want_all, got_all) = (all(want), all(got));
    let greatest =
        want_all.iter().map(|&x| nearest_f64(x).abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let ulp = match want.dtype() {
        DType::F64 => f64::EPSILON,
        DType::F32 => f32::EPSILON.into(),
        // Neighbours are twice each other.
        DType::F8E8M0 => 1.0 / 32.0,
        _ => 0.01,
    };
    let same = |a: Number, b: Number| match (a, b) {
        (Number::Float(a), Number::Float(b)) => {
            let close = (a - b).abs() <= 16.0 * ulp * greatest;
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || (!exact && close)
        }
        (a, b) => a == b,
    };
    let i = (0..want_all.len()).find(|&i| !same(want_all[i], got_all[i]))?;
    Some(format!("element {i} of {} is {:?}, not {:?}", want_all.len(), got_all[i], want_all[i]))
}
