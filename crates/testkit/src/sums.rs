//! Sums of products in float32.

use crate::{Real, nearest_f32, real};

/// Terms of a block.
const BLOCK: usize = 256;

/// The product of two numbers and the sum with a third, rounded once.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let factors_are_finite = a.is_finite() && b.is_finite();
    if factors_are_finite && !c.is_finite() {
        return c;
    }
    if !factors_are_finite || a == 0.0 || b == 0.0 {
        return a * b + c;
    }
    let sum = real(a.into()) * real(b.into()) + real(c.into());
    // Opposite numbers add up to zero without a sign, as a rational does.
    if sum == Real::ZERO { 0.0 } else { nearest_f32(&sum) }
}

/// A sum of products in float32: each block of terms is added up from zero, in order, and then the
/// sums of the blocks are.
pub fn single_sum(terms: &[(f32, f32)]) -> f32 {
    let block = |terms: &[(f32, f32)]| terms.iter().fold(0.0, |sum, &(a, b)| fused(a, b, sum));
    terms.chunks(BLOCK).fold(0.0, |sum, terms| sum + block(terms))
}
