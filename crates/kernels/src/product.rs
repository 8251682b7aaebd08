//! Products of matrices, added in float64 in the order of the summed axis.
//!
//! A sum is carried through the blocks of the summed axis and never split, so that a result has the
//! bits of a plain loop, whatever the level and however the work is shared. A multiplication is
//! fused with its addition where the product of the factors is exact, as that of two numbers of 24
//! bits is in float64: the fused operation then rounds what the two operations round. NaN becomes
//! the positive quiet one, as processors disagree about its sign.
//!
//! Blocks of both factors are packed in float64: of the first, a few rows side by side; of the
//! second, as many columns as `VECTORS` vectors have. A tile of the result stays in registers
//! while a block of the summed axis passes. A result of very few rows is added to row by row
//! instead.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd};
use gradus_core::convert::{FromNumber, product};
use rayon::prelude::*;

use crate::options::{Options, at_level};

/// A matrix that is read row by row.
pub trait Rows: Sync {
    /// Writes the elements of a row from a column on.
    fn read(&self, row: usize, column: usize, out: &mut [f64]);
}

/// Elements of a matrix as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Float32 in the byte order of the machine, at any alignment.
    Singles(&'a [[u8; 4]]),
    /// Float64.
    Doubles(&'a [f64]),
}

impl<'a> Numbers<'a> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Singles(all) => all.len(),
            Numbers::Doubles(all) => all.len(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of a range.
    #[must_use]
    pub fn range(&self, range: Range<usize>) -> Numbers<'a> {
        match self {
            Numbers::Singles(all) => Numbers::Singles(&all[range]),
            Numbers::Doubles(all) => Numbers::Doubles(&all[range]),
        }
    }

    /// Writes elements that lie `step` apart, from one on.
    pub fn read(&self, first: usize, step: usize, out: &mut [f64]) {
        match (self, step) {
            (Numbers::Singles(all), 1) => {
                let all = &all[first..][..out.len()];
                at_level!(Token::new(), _ => {
                    for (out, &x) in out.iter_mut().zip(all) {
                        *out = f64::from(f32::from_ne_bytes(x));
                    }
                });
            }
            (Numbers::Doubles(all), 1) => out.copy_from_slice(&all[first..][..out.len()]),
            (Numbers::Singles(all), _) => {
                let all = all[first..].iter().step_by(step);
                out.iter_mut().zip(all).for_each(|(out, &x)| *out = f64::from(f32::from_ne_bytes(x)));
            }
            (Numbers::Doubles(all), _) => {
                out.iter_mut().zip(all[first..].iter().step_by(step)).for_each(|(out, &x)| *out = x);
            }
        }
    }

    /// Returns true if all elements are numbers of float32, or NaN: then their products are exact.
    pub fn are_singles(&self) -> bool {
        match self {
            Numbers::Singles(_) => true,
            Numbers::Doubles(all) => all.chunks(1024).all(|some| {
                let single = |&x: &f64| (f64::from(f32::from_f64(x)) == x) | x.is_nan();
                some.iter().fold(true, |all, x| all & single(x))
            }),
        }
    }
}

/// A matrix in memory, and how far its neighbours are apart.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The elements.
    pub numbers: Numbers<'a>,
    /// Elements from a row to the next one.
    pub row: usize,
    /// Elements from a column to the next one.
    pub column: usize,
}

impl Rows for Matrix<'_> {
    fn read(&self, row: usize, column: usize, out: &mut [f64]) {
        self.numbers.read(row * self.row + column * self.column, self.column, out);
    }
}

/// A product of two matrices.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "a matrix that is computed has nothing to show")]
pub struct Product<'a> {
    /// The first factor: `rows` rows of `inner` elements.
    pub a: &'a dyn Rows,
    /// The second factor: `inner` rows of `columns` elements.
    pub b: &'a dyn Rows,
    /// True if the products of all elements of both are exact in float64.
    pub exact: bool,
}

/// The sizes of products.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of the first factor and of the result.
    pub rows: usize,
    /// The size that is summed.
    pub inner: usize,
    /// Columns of the second factor and of the result.
    pub columns: usize,
}

/// Rows and columns of a block of the result, and the part of the summed axis that is packed at a
/// time: together they fill the second cache.
const BLOCK: Sizes = Sizes { rows: 192, inner: 192, columns: 384 };

/// Columns of a block of few rows, which is added to row by row, and of what is read at a time: long
/// blocks, as memory is read faster in order.
const FEW_BLOCK: usize = 12288;
const LINE: usize = 1024;

/// Vectors side by side in a tile.
const VECTORS: usize = 3;

/// Rows of a tile, by lanes of a vector: as many as registers hold.
const fn tile_rows(lanes: usize) -> usize {
    if lanes == 8 { 8 } else { 4 }
}

/// Most rows of a tile, and most columns.
const MOST_ROWS: usize = 8;
const MOST_COLUMNS: usize = VECTORS * 8;

impl Sizes {
    /// The block that one thread computes at a time, with whole tiles.
    fn block(self) -> Sizes {
        let columns = if self.few() { FEW_BLOCK } else { BLOCK.columns };
        Sizes {
            rows: self.rows.min(BLOCK.rows).next_multiple_of(MOST_ROWS),
            inner: self.inner.min(BLOCK.inner),
            columns: self.columns.min(columns).next_multiple_of(MOST_COLUMNS),
        }
    }

    /// Returns true if there are so few rows that packing would take longer than multiplying.
    fn few(self) -> bool {
        self.rows < 4
    }

    /// Elements of the second factor that are packed at a time.
    fn packed(self) -> usize {
        let Sizes { inner, columns, .. } = self.block();
        if self.few() { 0 } else { inner * columns }
    }

    /// Bytes that [`multiply`] takes for so many products on so many threads, beside the results.
    pub fn bytes(self, products: usize, threads: usize) -> u128 {
        let Sizes { rows, inner, columns } = self.block();
        let packed = product(rows, inner) + product(self.packed(), 1) + product(columns.max(inner), 1);
        let scratch = (packed + product(rows, columns)) * product(size_of::<f64>(), threads.max(1));
        // A place for each row of each block, in lists that may have room for twice as many.
        let places = product(self.rows, self.columns.div_ceil(columns.max(1)) + 4);
        scratch + product(products, 1).saturating_mul(places * 40 + 256)
    }
}

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
    row: Vec<f64>,
    sums: Vec<f64>,
}

impl Scratch {
    fn new(sizes: Sizes) -> Scratch {
        let Sizes { rows, inner, columns } = sizes.block();
        Scratch {
            a: vec![0.0; rows * inner],
            b: vec![0.0; sizes.packed()],
            row: vec![0.0; columns.max(inner)],
            sums: vec![0.0; rows * columns],
        }
    }
}

/// A block of the result.
struct Part<'a, T> {
    matrix: usize,
    row: usize,
    column: usize,
    rows: Vec<&'a mut [T]>,
}

/// Multiplies pairs of matrices of the same sizes. The results lie one behind the other in `out`;
/// `store` is given the number of a matrix, a row, a column, the sums from there on, and where
/// they go. `check` is called from time to time.
///
/// # Errors
/// Those of `check`.
///
/// # Panics
/// If `out` has not as many elements as the results, or a factor has not as many as the sizes say.
pub fn multiply<T: Send, E: Send>(
    products: &[Product<'_>],
    sizes: Sizes,
    out: &mut [T],
    options: Options,
    check: impl Fn() -> Result<(), E> + Sync,
    store: impl Fn(usize, usize, usize, &[f64], &mut [T]) + Sync,
) -> Result<(), E> {
    let Sizes { rows, columns, .. } = sizes;
    assert_eq!(product(out.len(), 1), product(products.len(), rows).saturating_mul(product(columns, 1)));
    if out.is_empty() {
        return Ok(());
    }
    let block = sizes.block();
    let token = options.token();
    let mut parts = Vec::new();
    for (matrix, out) in out.chunks_mut(rows * columns).enumerate() {
        for (at, out) in out.chunks_mut(block.rows * columns).enumerate() {
            let mut rest: Vec<_> = out.chunks_mut(columns).map(|row| row.chunks_mut(block.columns)).collect();
            for column in (0..columns).step_by(block.columns) {
                let rows = rest.iter_mut().filter_map(Iterator::next).collect();
                parts.push(Part { matrix, row: at * block.rows, column, rows });
            }
        }
    }
    let work = |scratch: &mut Scratch, part: Part<'_, T>| {
        let columns = part.rows.first().map_or(0, |row| row.len());
        let of = Sizes { rows: part.rows.len(), inner: sizes.inner, columns };
        products[part.matrix].sums(scratch, of, [part.row, part.column], token, &check)?;
        for (at, row) in part.rows.into_iter().enumerate() {
            store(part.matrix, part.row + at, part.column, &scratch.sums[at * columns..][..columns], row);
        }
        Ok(())
    };
    if options.threads == 1 || parts.len() == 1 {
        let mut scratch = Scratch::new(sizes);
        return parts.into_iter().try_for_each(|part| work(&mut scratch, part));
    }
    parts.into_par_iter().try_for_each_init(|| Scratch::new(sizes), work)
}

impl Product<'_> {
    /// Computes the sums of a block, row by row.
    fn sums<E>(
        &self,
        scratch: &mut Scratch,
        of: Sizes,
        [row, column]: [usize; 2],
        token: Token,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<(), E> {
        let Scratch { a, b, row: line, sums } = scratch;
        let sums = &mut sums[..of.rows * of.columns];
        sums.fill(0.0);
        for first in (0..of.inner).step_by(BLOCK.inner) {
            check()?;
            let inner = BLOCK.inner.min(of.inner - first);
            let here = Sizes { inner, ..of };
            if of.few() {
                self.add_rows([a, line], here, [row, first, column], sums, token);
                continue;
            }
            let lanes = at_level!(token, simd => lanes(simd));
            pack(a, of.rows, tile_rows(lanes), inner, |at, out| self.a.read(row + at, first, out), line);
            for k in 0..inner {
                let line = &mut line[..of.columns];
                self.b.read(first + k, column, line);
                let width = VECTORS * lanes;
                for (panel, some) in line.chunks(width).enumerate() {
                    b[(panel * inner + k) * width..][..some.len()].copy_from_slice(some);
                }
            }
            at_level!(token, simd => tiles(simd, self.exact, a, b, here, sums));
        }
        for x in sums {
            *x = if x.is_nan() { f64::NAN } else { *x };
        }
        Ok(())
    }

    /// Adds to the sums of few rows the products with one row of the second factor after the other.
    fn add_rows(
        &self,
        [a, line]: [&mut [f64]; 2],
        of: Sizes,
        [row, first, column]: [usize; 3],
        sums: &mut [f64],
        token: Token,
    ) {
        let a = &mut a[..of.rows * of.inner];
        for (at, a) in a.chunks_mut(of.inner).enumerate() {
            self.a.read(row + at, first, a);
        }
        for k in 0..of.inner {
            for from in (0..of.columns).step_by(LINE) {
                let line = &mut line[..LINE.min(of.columns - from)];
                self.b.read(first + k, column + from, line);
                for (at, sums) in sums.chunks_mut(of.columns).enumerate() {
                    let x = a[at * of.inner + k];
                    at_level!(token, simd => add_row(simd, self.exact, x, line, &mut sums[from..]));
                }
            }
        }
    }
}

/// Adds to each sum the product of a number and an element.
#[inline(always)]
fn add_row<S: Simd>(simd: S, exact: bool, x: f64, row: &[f64], sums: &mut [f64]) {
    if fuses(simd, exact) {
        for (sum, &y) in sums.iter_mut().zip(row) {
            *sum = x.mul_add(y, *sum);
        }
    } else {
        for (sum, &y) in sums.iter_mut().zip(row) {
            *sum += x * y;
        }
    }
}

/// Returns true if multiplications are fused with additions: where that rounds alike, and unless a
/// fused operation is slow for want of an instruction.
#[inline(always)]
fn fuses<S: Simd>(simd: S, exact: bool) -> bool {
    exact && !matches!(simd.level(), Token::Fallback(_))
}

#[inline(always)]
fn lanes<S: Simd>(_: S) -> usize {
    S::f64s::LEN
}

/// Packs rows in groups that lie side by side.
fn pack(
    out: &mut [f64],
    rows: usize,
    group: usize,
    inner: usize,
    read: impl Fn(usize, &mut [f64]),
    line: &mut [f64],
) {
    let line = &mut line[..inner];
    for row in 0..rows {
        read(row, line);
        let panel = &mut out[row / group * group * inner..][..group * inner];
        for (out, x) in panel[row % group..].iter_mut().step_by(group).zip(&*line) {
            *out = *x;
        }
    }
}

/// Adds to the sums the products of packed blocks.
#[inline(always)]
fn tiles<S: Simd>(simd: S, exact: bool, a: &[f64], b: &[f64], of: Sizes, sums: &mut [f64]) {
    if fuses(simd, exact) {
        tiles_of::<S, true>(simd, a, b, of, sums);
    } else {
        tiles_of::<S, false>(simd, a, b, of, sums);
    }
}

#[inline(always)]
fn tiles_of<S: Simd, const FUSED: bool>(simd: S, a: &[f64], b: &[f64], of: Sizes, sums: &mut [f64]) {
    let Sizes { rows, inner, columns } = of;
    let width = VECTORS * S::f64s::LEN;
    let group = tile_rows(S::f64s::LEN);
    for (panel, column) in (0..columns).step_by(width).enumerate() {
        let b = &b[panel * inner * width..][..inner * width];
        let here = width.min(columns - column);
        for row in (0..rows).step_by(group) {
            let a = &a[row * inner..][..inner * group];
            let mut rest = row..rows.min(row + group);
            let mut tile = Tile { a, b, sums, columns, column, here };
            if rest.len() == group && group == 8 {
                tile.add::<S, 8, FUSED>(simd, 0, row);
                continue;
            }
            while rest.len() >= 4 {
                tile.add::<S, 4, FUSED>(simd, rest.start - row, rest.start);
                rest.start += 4;
            }
            for at in rest {
                tile.add::<S, 1, FUSED>(simd, at - row, at);
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
    column: usize,
    /// Columns of the result that the tile has.
    here: usize,
}

impl Tile<'_> {
    /// Adds the products of `R` rows of the group, from one on, to rows of the sums.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const FUSED: bool>(&mut self, simd: S, from: usize, row: usize) {
        let lanes = S::f64s::LEN;
        let width = VECTORS * lanes;
        let mut sums = [[S::f64s::splat(simd, 0.0); VECTORS]; R];
        let mut edge = [0.0; MOST_COLUMNS];
        for (at, sums) in sums.iter_mut().enumerate() {
            let own = &self.sums[(row + at) * self.columns + self.column..][..self.here];
            let own = if self.here == width {
                own
            } else {
                edge[..self.here].copy_from_slice(own);
                &edge[..width]
            };
            for (sums, own) in sums.iter_mut().zip(own.chunks_exact(lanes)) {
                *sums = S::f64s::from_slice(simd, own);
            }
        }
        // A copy that nothing points to stays in registers.
        let mut tile = sums;
        for (a, b) in self.a.chunks_exact(tile_rows(lanes)).zip(self.b.chunks_exact(width)) {
            let mut columns = [S::f64s::splat(simd, 0.0); VECTORS];
            for v in 0..VECTORS {
                columns[v] = S::f64s::from_slice(simd, &b[v * lanes..(v + 1) * lanes]);
            }
            let a = &a[from..from + R];
            for r in 0..R {
                let x = S::f64s::splat(simd, a[r]);
                for v in 0..VECTORS {
                    let sum = tile[r][v];
                    tile[r][v] = if FUSED { x.mul_add(columns[v], sum) } else { sum + x * columns[v] };
                }
            }
        }
        sums = tile;
        for (at, sums) in sums.iter().enumerate() {
            let own = &mut self.sums[(row + at) * self.columns + self.column..][..self.here];
            if self.here == width {
                for (sum, own) in sums.iter().zip(own.chunks_exact_mut(lanes)) {
                    sum.store_slice(own);
                }
            } else {
                for (sum, edge) in sums.iter().zip(edge.chunks_exact_mut(lanes)) {
                    sum.store_slice(edge);
                }
                own.copy_from_slice(&edge[..self.here]);
            }
        }
    }
}
