//! Sums that stay in registers while rows of both factors pass.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd};

use super::pack::Source;
use super::{MAX_COLUMNS, Sizes, Term};
use crate::options::Options;
use crate::vectors::levels::at_level;
use crate::vectors::stream::load_ahead;

/// Maximum number of vectors side by side.
pub(super) const MAX_VECTORS: usize = 3;

/// Rows of a tile and vectors side by side: sums, a row of the second factor and an element of the
/// first stay in registers, of which there are 32 of 512 bits, and 16 otherwise.
pub(super) const fn tile<S: Simd, T: Term>(_: S) -> (usize, usize) {
    if large::<S>() { (8, T::VECTORS) } else { (4, 2) }
}

/// Returns true at levels with the large tile. In a constant, it keeps the compiler from making the
/// loops of the other tile as well.
pub(super) const fn large<S: Simd>() -> bool {
    S::f64s::LEN == 8
}

/// Adds to each sum the products of numbers and of as many elements, in their order: for the first
/// sum those at some places, for the next one those after them. `exact` is true if the products are
/// exact in float64.
///
/// # Panics
/// If there are fewer places than numbers, or fewer elements after one than sums.
pub fn add_shifted<T: Term>(
    exact: bool,
    a: &[T],
    elements: &[T],
    places: &[usize],
    sums: &mut [T],
    options: Options,
) {
    T::add_lines((options.token(), exact), a, elements, places, sums);
}

/// Adds as [`add_shifted`] does elements of a kind.
pub(super) fn add_lines<E: Source<T>, T: Term>(
    (token, exact): (Token, bool),
    a: &[T],
    elements: &[E::Element],
    places: &[usize],
    sums: &mut [T],
) {
    at_level!(token, simd => if const { T::FUSED } || T::fuses(token, exact) {
        add_lines_of::<_, E, T, true>(simd, a, elements, places, sums);
    } else {
        add_lines_of::<_, E, T, false>(simd, a, elements, places, sums);
    });
}

#[inline(always)]
fn add_lines_of<S: Simd, E: Source<T>, T: Term, const FUSED: bool>(
    simd: S,
    a: &[T],
    elements: &[E::Element],
    places: &[usize],
    sums: &mut [T],
) {
    let (lanes, width) = (T::Native::<S>::LEN, MAX_VECTORS * T::Native::<S>::LEN);
    let mut terms = [T::default(); MAX_COLUMNS];
    let places = &places[..a.len()];
    let whole = sums.len() / width * width;
    let (wide, rest) = sums.split_at_mut(whole);
    for (at, sums) in wide.chunks_exact_mut(width).enumerate() {
        let mut own = [T::Native::<S>::splat(simd, T::default()); MAX_VECTORS];
        for v in 0..MAX_VECTORS {
            own[v] = T::Native::<S>::from_slice(simd, &sums[v * lanes..][..lanes]);
        }
        for k in 0..a.len() {
            let (x, line) = (T::Native::<S>::splat(simd, a[k]), &elements[places[k] + at * width..][..width]);
            for v in 0..MAX_VECTORS {
                E::terms(simd, &line[v * lanes..][..lanes], &mut terms[..lanes]);
                let y = T::Native::<S>::from_slice(simd, &terms[..lanes]);
                own[v] = if FUSED { x.mul_add_precise(y, own[v]) } else { own[v] + x * y };
            }
        }
        for v in 0..MAX_VECTORS {
            own[v].store_slice(&mut sums[v * lanes..][..lanes]);
        }
    }
    for (&x, place) in a.iter().zip(places) {
        let line = &elements[place + whole..][..rest.len()];
        for (sum, &y) in rest.iter_mut().zip(line) {
            let y = E::term(y);
            *sum = if FUSED { x.fused(y, *sum) } else { *sum + x * y };
        }
    }
}

/// Rows of a tile at a level.
pub(super) fn rows<T: Term>(token: Token) -> usize {
    at_level!(token, simd => tile::<_, T>(simd).0)
}

/// Adds to the sums the products of packed blocks. The first blocks begin the sums, and the last
/// ones end them.
pub(super) fn tiles<T: Term>(
    (token, exact): (Token, bool),
    factors: [&[T]; 2],
    of: Sizes,
    ends: [bool; 2],
    sums: &mut [T],
) {
    at_level!(token, simd => if const { T::FUSED } || T::fuses(token, exact) {
        tiles_of::<_, T, true>(simd, factors, of, ends, sums);
    } else {
        tiles_of::<_, T, false>(simd, factors, of, ends, sums);
    });
}

#[inline(always)]
fn tiles_of<S: Simd, T: Term, const FUSED: bool>(
    simd: S,
    [a, b]: [&[T]; 2],
    of: Sizes,
    ends: [bool; 2],
    sums: &mut [T],
) {
    let Sizes { rows, inner, columns } = of;
    let lanes = T::Native::<S>::LEN;
    let (group, vectors) = tile::<_, T>(simd);
    let width = vectors * lanes;
    let groups = rows.div_ceil(group);
    for (panel, first) in (0..columns).step_by(width).enumerate() {
        let (b, later) = b[panel * inner * width..].split_at(inner * width);
        // Panels of few columns have no vectors to spare.
        let rest = columns - first;
        let each = if rest > (vectors - 1) * lanes { width } else { lanes };
        for (at, row) in (0..rows).step_by(group).enumerate() {
            let (a, next_a) = a[row * inner..].split_at(inner * group);
            // The first panel needs the next rows of the first factor, the others the next panel.
            let ahead = if panel == 0 {
                Ahead { elements: next_a, step: group }
            } else {
                let step = width.div_ceil(groups);
                Ahead { elements: &later[later.len().min(at * step * inner)..], step }
            };
            for from in (0..rest.min(width)).step_by(each) {
                let here = each.min(rest - from);
                let mut tile = Tile { a, b, ahead, sums, columns, column: first + from, from, here, ends };
                let rows = row..rows.min(row + group);
                if each != width {
                    tile.rows::<S, 1, FUSED>(simd, rows);
                } else if const { large::<S>() && T::VECTORS == MAX_VECTORS } {
                    tile.rows::<S, MAX_VECTORS, FUSED>(simd, rows);
                } else {
                    tile.rows::<S, 2, FUSED>(simd, rows);
                }
            }
        }
    }
}

/// Elements that are needed soon, of which each step loads some.
#[derive(Clone, Copy)]
struct Ahead<'a, T> {
    elements: &'a [T],
    step: usize,
}

/// A tile of the result, and what is added to it.
struct Tile<'a, T> {
    a: &'a [T],
    b: &'a [T],
    ahead: Ahead<'a, T>,
    sums: &'a mut [T],
    columns: usize,
    /// The first column, in the result and in the panel.
    column: usize,
    from: usize,
    /// Columns of the result that the tile has.
    here: usize,
    /// True if the sums begin with these products, and if they end with them.
    ends: [bool; 2],
}

impl<T: Term> Tile<'_, T> {
    /// Adds the products of the rows of a group.
    #[inline(always)]
    fn rows<S: Simd, const V: usize, const FUSED: bool>(&mut self, simd: S, mut rest: Range<usize>) {
        let row = rest.start;
        if const { large::<S>() } && rest.len() == 8 {
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
        let lanes = T::Native::<S>::LEN;
        let mut sums = [[T::Native::<S>::splat(simd, T::default()); V]; R];
        if !T::BLOCKED {
            self.load(simd, row, &mut sums);
        }
        // A copy that nothing points to stays in registers.
        let mut tile = sums;
        let (group, vectors) = super::tiles::tile::<_, T>(simd);
        let mut next = 0;
        for (a, b) in self.a.chunks_exact(group).zip(self.b.chunks_exact(vectors * lanes)) {
            load_ahead(self.ahead.elements, next);
            next += self.ahead.step;
            let b = &b[self.from..][..V * lanes];
            let mut columns = [T::Native::<S>::splat(simd, T::default()); V];
            for v in 0..V {
                columns[v] = T::Native::<S>::from_slice(simd, &b[v * lanes..(v + 1) * lanes]);
            }
            let a = &a[from..from + R];
            for r in 0..R {
                let x = T::Native::<S>::splat(simd, a[r]);
                for v in 0..V {
                    let sum = tile[r][v];
                    tile[r][v] =
                        if FUSED { x.mul_add_precise(columns[v], sum) } else { sum + x * columns[v] };
                }
            }
        }
        if T::BLOCKED {
            self.load(simd, row, &mut sums);
        }
        let nan = T::Native::<S>::splat(simd, T::NAN);
        let mut edge = [T::default(); MAX_COLUMNS];
        for r in 0..R {
            let own = &mut self.sums[(row + r) * self.columns + self.column..][..self.here];
            let to = if self.here == V * lanes { &mut *own } else { &mut edge[..V * lanes] };
            for v in 0..V {
                let mut sum = if T::BLOCKED { sums[r][v] + tile[r][v] } else { tile[r][v] };
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

    /// Reads the sums so far of `R` rows, which are zeros if the sums begin.
    #[allow(clippy::needless_range_loop, reason = "loops over indices are unrolled into registers")]
    #[inline(always)]
    fn load<S: Simd, const R: usize, const V: usize>(
        &self,
        simd: S,
        row: usize,
        sums: &mut [[T::Native<S>; V]; R],
    ) {
        if self.ends[0] {
            return;
        }
        let lanes = T::Native::<S>::LEN;
        let mut edge = [T::default(); MAX_COLUMNS];
        for r in 0..R {
            let own = &self.sums[(row + r) * self.columns + self.column..][..self.here];
            let own = if self.here == V * lanes {
                own
            } else {
                edge[..self.here].copy_from_slice(own);
                &edge[..V * lanes]
            };
            for v in 0..V {
                sums[r][v] = T::Native::<S>::from_slice(simd, &own[v * lanes..][..lanes]);
            }
        }
    }
}
