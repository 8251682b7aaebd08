//! Sums of products in blocks of rows and columns.

use std::slice::ChunksExactMut;

use fearless_simd::prelude::*;

use super::levels::{Token, at_level};
use crate::sums::{Accumulator, Exact, Plain, Single, Twofold};

/// Columns and rows whose sums go on at a time, and the part of the summed axis that is read at a
/// time.
pub(crate) const COLUMNS: usize = 64;
pub(crate) const ROWS: usize = 16;
pub(crate) const INNER: usize = 128;
/// Lanes of the widest vector.
const MAX_LANES: usize = 8;

/// Sums of products that go on in blocks.
pub(crate) trait Blocks: Accumulator {
    /// Adds the products of rows of `a` and lines of [`COLUMNS`] numbers of `b` to rows of sums,
    /// with the instructions of a level.
    fn add_block(rows: ChunksExactMut<'_, Self>, a: &[f64], b: &[f64], _: Token) {
        for (sums, a) in rows.zip(a.chunks(b.len() / COLUMNS)) {
            for (&x, b) in a.iter().zip(b.chunks(COLUMNS)) {
                sums.iter_mut().zip(b).for_each(|(sum, &y)| sum.add(x, y));
            }
        }
    }
}

impl Blocks for Exact {}
impl Blocks for Plain {}
impl Blocks for Single {}

impl Blocks for Twofold {
    fn add_block(rows: ChunksExactMut<'_, Twofold>, a: &[f64], b: &[f64], token: Token) {
        for (sums, a) in rows.zip(a.chunks(b.len() / COLUMNS)) {
            at_level!(token, simd => Twofold::add_lines(simd, sums, a, b));
        }
    }
}

impl Twofold {
    /// Adds to a row of sums the products of numbers and lines, vector by vector.
    #[inline(always)]
    fn add_lines<S: Simd>(simd: S, sums: &mut [Twofold], a: &[f64], b: &[f64]) {
        let lanes = S::f64s::LEN;
        for (at, sums) in sums.chunks_mut(lanes).enumerate() {
            let mut both = [[0.0; MAX_LANES]; 2];
            for i in 0..sums.len() {
                (both[0][i], both[1][i]) = (sums[i].sum, sums[i].rest);
            }
            let [mut sum, mut rest] = both.map(|all| S::f64s::from_slice(simd, &all[..lanes]));
            for k in 0..a.len() {
                let x = S::f64s::splat(simd, a[k]);
                let y = S::f64s::from_slice(simd, &b[k * COLUMNS + at * lanes..][..lanes]);
                let product = x * y;
                let lost = x.mul_add_precise(y, -product);
                let next = sum + product;
                let added = next - sum;
                rest += ((sum - (next - added)) + (product - added)) + lost;
                sum = next;
            }
            sum.store_slice(&mut both[0][..lanes]);
            rest.store_slice(&mut both[1][..lanes]);
            for i in 0..sums.len() {
                sums[i] = Twofold { sum: both[0][i], rest: both[1][i] };
            }
        }
    }
}
