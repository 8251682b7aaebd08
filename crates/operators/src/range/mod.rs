//! Ranges and spaces.

pub mod eval;
pub mod infer;
pub mod spaces;

use gradus_core::convert::truncated;

/// A length up to which nothing of a range of floats is rounded, whatever the formula: start, step,
/// limit, span, indices and elements are multiples of one power of two, at most 1, and have 24
/// bits. Nothing if start or step has no such power.
pub fn exact_length(start: f64, step: f64) -> Option<i64> {
    const MAX_EXACT: i64 = 1 << 24;
    let multiples = (0..=24).find_map(|bits| {
        let scale = f64::from(1u32 << bits);
        let [start, step] = [start, step].map(|x| (x * scale).abs());
        let is_whole = |x: f64| x.fract() == 0.0 && x <= f64::from(1u32 << 24);
        let whole = |x: f64| is_whole(x).then(|| truncated(x)).flatten().and_then(|x| i64::try_from(x).ok());
        whole(start).zip(whole(step))
    });
    let (start, step) = multiples.filter(|&(_, step)| step > 0)?;
    Some((MAX_EXACT - start) / step)
}
