//! Powers of two of fractions in 128 bits, the input of fills.

use std::sync::LazyLock;

use dashu_int::IBig;
use gradus_core::convert::{low_u64, usize_of};

use crate::elementary;

/// `2^(k/256)` in units of 2^-127, and the natural logarithm of 2 in units of 2^-128; each off by
/// at most 1 unit.
struct Exp2Tables {
    roots: [u128; 256],
    ln_2: u128,
}

static TABLES: LazyLock<Exp2Tables> = LazyLock::new(|| {
    // With 64 more bits than are kept, 255 products and a root that is off by a unit come to less
    // than a unit.
    const BITS: usize = 192;
    let ln_2 = elementary::ln_2(BITS);
    let root = elementary::exp(&(&ln_2 >> 8), BITS);
    let mut power = IBig::ONE << BITS;
    let kept = |x: &IBig, bits: usize| u128::try_from(x >> (BITS - bits)).expect("at most 128 bits are kept");
    let roots = std::array::from_fn(|_| {
        let kept = kept(&power, 127);
        power = (&power * &root) >> BITS;
        kept
    });
    Exp2Tables { roots, ln_2: kept(&ln_2, 128) }
});

/// `1/k!` in units of 2^-127.
const COEFFICIENTS: [u128; 12] = {
    let mut coefficients = [1 << 127; 12];
    let (mut k, mut factor) = (1, 1);
    while k < coefficients.len() {
        coefficients[k] = coefficients[k - 1] / factor;
        factor += 1;
        k += 1;
    }
    coefficients
};

/// Terms of the series from this one on need no more than 64 bits.
const SHORT: usize = 7;

/// `2^x` in units of 2^-127, for `x` below 1 in units of 2^-128, off by at most 2^7 units.
///
/// `x` is a multiple of 1/256, whose power is in the table, and a rest `r` below it. With
/// `z = r ln 2` below 2^-8.5, twelve terms of the series of `e^z` leave out less than 2^-130. The
/// last five are summed with 64 bits: off by less than 4 units of 2^-63, times `z^7`, which is less
/// than 2^-120. Every other step cuts off less than 3 units, and so does the last product, which is
/// doubled.
pub(crate) fn exp2(x: u128) -> u128 {
    let tables = &*TABLES;
    let root = tables.roots[usize_of(low_u64(x >> 120))];
    // In units of 2^-136.
    let z = high_product(x << 8, tables.ln_2);
    let short_z = u128::from(low_u64(z >> 64));
    let (long, short) = COEFFICIENTS.split_at(SHORT);
    let short_sum = short.iter().rev().fold(0, |sum: u128, &term| (term >> 64) + ((sum * short_z) >> 72));
    let sum = long.iter().rev().fold(short_sum << 64, |sum, &term| term + (high_product(sum, z) >> 8));
    high_product(root, sum) << 1
}

/// The upper half of a product.
fn high_product(a: u128, b: u128) -> u128 {
    let (a_high, a_low) = (a >> 64, u128::from(low_u64(a)));
    let (b_high, b_low) = (b >> 64, u128::from(low_u64(b)));
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + u128::from(low_u64(middle));
    a_high * b_high + (middle >> 64) + (other >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_as_near_as_they_say() {
        let ln_2 = elementary::ln_2(256);
        let mut x = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdefu128;
        let edges = [0, 1, u128::MAX, (1 << 120) - 1, 1 << 120, 255 << 120, (255 << 120) - 1];
        let random = std::iter::repeat_with(|| {
            x = x.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            x
        });
        for x in edges.into_iter().chain(random.take(2000)) {
            let exact = elementary::exp(&((IBig::from(x) * &ln_2) >> 128usize), 256) >> 129usize;
            let off = i128::try_from(IBig::from(exp2(x)) - exact).unwrap();
            assert!(off.unsigned_abs() <= 1 << 7, "2^({x} / 2^128) is off by {off}");
        }
    }
}
