//! Sums that stay in registers while rows of both factors pass.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd};

use super::{MAX_COLUMNS, Sizes};
use crate::options::Options;
use crate::vectors::levels::at_level;

/// Vectors side by side in the widest tile.
pub(super) const MAX_VECTORS: usize = 3;

/// Rows of a tile and vectors side by side, by lanes of a vector: sums, a row of the second factor
/// and an element of the first stay in registers, of which there are 32 with 8 lanes and 16 with
/// fewer.
pub(super) const fn tile(lanes: usize) -> (usize, usize) {
    if lanes == 8 { (8, MAX_VECTORS) } else { (4, 2) }
}

/// Adds to each sum the products of numbers and of as many elements, in their order: for the first
/// sum those at some places, for the next one those after them. `exact` is true if the products are
/// exact in float64.
///
/// # Panics
/// If there are fewer places than numbers, or fewer elements after one than sums.
pub fn add_shifted(
    exact: bool,
    a: &[f64],
    elements: &[f64],
    places: &[usize],
    sums: &mut [f64],
    options: Options,
) {
    add_lines(options.token(), exact, a, elements, places, sums);
}

/// Adds as [`add_shifted`] does.
pub(super) fn add_lines(
    token: Token,
    exact: bool,
    a: &[f64],
    elements: &[f64],
    places: &[usize],
    sums: &mut [f64],
) {
    at_level!(token, simd => if fuses(simd, exact) {
        add_lines_of::<_, true>(simd, a, elements, places, sums);
    } else {
        add_lines_of::<_, false>(simd, a, elements, places, sums);
    });
}

#[inline(always)]
fn add_lines_of<S: Simd, const FUSED: bool>(
    simd: S,
    a: &[f64],
    elements: &[f64],
    places: &[usize],
    sums: &mut [f64],
) {
    let (lanes, width) = (S::f64s::LEN, MAX_VECTORS * S::f64s::LEN);
    let places = &places[..a.len()];
    let whole = sums.len() / width * width;
    let (wide, rest) = sums.split_at_mut(whole);
    for (at, sums) in wide.chunks_exact_mut(width).enumerate() {
        let mut own = [S::f64s::splat(simd, 0.0); MAX_VECTORS];
        for v in 0..MAX_VECTORS {
            own[v] = S::f64s::from_slice(simd, &sums[v * lanes..][..lanes]);
        }
        for k in 0..a.len() {
            let (x, line) = (S::f64s::splat(simd, a[k]), &elements[places[k] + at * width..][..width]);
            for v in 0..MAX_VECTORS {
                let y = S::f64s::from_slice(simd, &line[v * lanes..][..lanes]);
                own[v] = if FUSED { x.mul_add(y, own[v]) } else { own[v] + x * y };
            }
        }
        for v in 0..MAX_VECTORS {
            own[v].store_slice(&mut sums[v * lanes..][..lanes]);
        }
    }
    for (&x, place) in a.iter().zip(places) {
        let line = &elements[place + whole..][..rest.len()];
        for (sum, &y) in rest.iter_mut().zip(line) {
            *sum = if FUSED { x.mul_add(y, *sum) } else { *sum + x * y };
        }
    }
}

/// Returns true if multiplications are fused with additions: where that rounds alike, and unless a
/// fused operation is slow for want of an instruction.
#[inline(always)]
fn fuses<S: Simd>(simd: S, exact: bool) -> bool {
    exact && !matches!(simd.level(), Token::Fallback(_))
}

/// Lanes of the vectors of a level.
pub(super) fn lanes(token: Token) -> usize {
    fn of<S: Simd>(_: S) -> usize {
        S::f64s::LEN
    }
    at_level!(token, simd => of(simd))
}

/// Adds to the sums the products of packed blocks. The first blocks begin the sums, and the last
/// ones end them.
pub(super) fn tiles(
    token: Token,
    exact: bool,
    factors: [&[f64]; 2],
    of: Sizes,
    ends: [bool; 2],
    sums: &mut [f64],
) {
    at_level!(token, simd => if fuses(simd, exact) {
        tiles_of::<_, true>(simd, factors, of, ends, sums);
    } else {
        tiles_of::<_, false>(simd, factors, of, ends, sums);
    });
}

#[inline(always)]
fn tiles_of<S: Simd, const FUSED: bool>(
    simd: S,
    [a, b]: [&[f64]; 2],
    of: Sizes,
    ends: [bool; 2],
    sums: &mut [f64],
) {
    let Sizes { rows, inner, columns } = of;
    let lanes = S::f64s::LEN;
    let (group, vectors) = tile(lanes);
    let width = vectors * lanes;
    for (panel, first) in (0..columns).step_by(width).enumerate() {
        let b = &b[panel * inner * width..][..inner * width];
        // Panels of few columns have no vectors to spare.
        let rest = columns - first;
        let each = if rest > (vectors - 1) * lanes { width } else { lanes };
        for row in (0..rows).step_by(group) {
            let a = &a[row * inner..][..inner * group];
            for from in (0..rest.min(width)).step_by(each) {
                let here = each.min(rest - from);
                let mut tile = Tile { a, b, sums, columns, column: first + from, from, here, ends };
                if each == width && lanes == 8 {
                    tile.rows::<S, MAX_VECTORS, FUSED>(simd, row..rows.min(row + group));
                } else if each == width {
                    tile.rows::<S, 2, FUSED>(simd, row..rows.min(row + group));
                } else {
                    tile.rows::<S, 1, FUSED>(simd, row..rows.min(row + group));
                }
            }
        }
    }
}

/// A tile of the result, and what is added to it.
struct Tile<'a> {
    a: &'a [f64],
    b: &'a [f64],
    sums: &'a mut [f64],
    columns: usize,
    /// The first column, in the result and in the panel.
    column: usize,
    from: usize,
    /// Columns of the result that the tile has.
    here: usize,
    /// True if the sums begin with these products, and if they end with them.
    ends: [bool; 2],
}

impl Tile<'_> {
    /// Adds the products of the rows of a group.
    #[inline(always)]
    fn rows<S: Simd, const V: usize, const FUSED: bool>(&mut self, simd: S, mut rest: Range<usize>) {
        let row = rest.start;
        if rest.len() == 8 {
            return self.add::<S, 8, V, FUSED>(simd, 0, row);
        }
        while rest.len() >= 4 {
            self.add::<S, 4, V, FUSED>(simd, rest.start - row, rest.start);
            rest.start += 4;
        }
        for at in rest {
            self.add::<S, 1, V, FUSED>(simd, at - row, at);
        }
    }

    /// Adds the products of `R` rows of the group, from one on, to `V` vectors of rows of the sums.
    #[allow(clippy::needless_range_loop, reason = "loops over indices are unrolled into registers")]
    #[inline(always)]
    fn add<S: Simd, const R: usize, const V: usize, const FUSED: bool>(
        &mut self,
        simd: S,
        from: usize,
        row: usize,
    ) {
        let lanes = S::f64s::LEN;
        let mut sums = [[S::f64s::splat(simd, 0.0); V]; R];
        let mut edge = [0.0; MAX_COLUMNS];
        if !self.ends[0] {
            for r in 0..R {
                let own = &self.sums[(row + r) * self.columns + self.column..][..self.here];
                let own = if self.here == V * lanes {
                    own
                } else {
                    edge[..self.here].copy_from_slice(own);
                    &edge[..V * lanes]
                };
                for v in 0..V {
                    sums[r][v] = S::f64s::from_slice(simd, &own[v * lanes..][..lanes]);
                }
            }
        }
        // A copy that nothing points to stays in registers.
        let mut tile = sums;
        let (group, vectors) = super::tiles::tile(lanes);
        for (a, b) in self.a.chunks_exact(group).zip(self.b.chunks_exact(vectors * lanes)) {
            let b = &b[self.from..][..V * lanes];
            let mut columns = [S::f64s::splat(simd, 0.0); V];
            for v in 0..V {
                columns[v] = S::f64s::from_slice(simd, &b[v * lanes..(v + 1) * lanes]);
            }
            let a = &a[from..from + R];
            for r in 0..R {
                let x = S::f64s::splat(simd, a[r]);
                for v in 0..V {
                    let sum = tile[r][v];
                    tile[r][v] = if FUSED { x.mul_add(columns[v], sum) } else { sum + x * columns[v] };
                }
            }
        }
        let nan = S::f64s::splat(simd, f64::NAN);
        for r in 0..R {
            let own = &mut self.sums[(row + r) * self.columns + self.column..][..self.here];
            let to = if self.here == V * lanes { &mut *own } else { &mut edge[..V * lanes] };
            for v in 0..V {
                let mut sum = tile[r][v];
                if self.ends[1] {
                    sum = sum.simd_eq(sum).select(sum, nan);
                }
                sum.store_slice(&mut to[v * lanes..][..lanes]);
            }
            if self.here < V * lanes {
                own.copy_from_slice(&edge[..self.here]);
            }
        }
    }
}
