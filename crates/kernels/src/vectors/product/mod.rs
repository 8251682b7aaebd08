//! Products of matrices, added in float64 in the order of the summed axis.
//!
//! A sum is carried through the blocks of the summed axis and never split, so that a result has the
//! bits of a plain loop, whatever the level and however the work is shared. A multiplication is
//! fused with its addition where the product of the factors is exact, as that of two numbers of 24
//! bits is in float64: the fused operation then rounds what the two operations round. NaN becomes
//! the positive quiet one, as processors disagree about its sign.
//!
//! Blocks of both factors are packed in float64: of the first, a few rows side by side; of the
//! second, as many columns as `tile` says vectors have. A tile of the result stays in registers
//! while a block of the summed axis passes. To a result of very few rows, rows of the second factor
//! are added as they are.

mod pack;
mod summed;
mod tiles;

use std::cell::Cell;
use std::ops::Range;

use fearless_simd::Level as Token;
use gradus_core::convert::{FromNumber, product};

use crate::options::Options;
use crate::threads::share;
use crate::vectors::levels::at_level;
use pack::pack;
pub use pack::{Panels, SPARE, Shifted};
pub use summed::multiply_with;
pub use tiles::add_shifted;
use tiles::{MAX_VECTORS, add_lines, lanes, tiles};

/// A matrix that is read row by row.
pub trait Rows: Sync {
    /// Writes the elements of a row from a column on.
    fn read(&self, row: usize, column: usize, out: &mut [f64]);

    /// Packs elements as a block of the second factor: rows from one on, from a column on.
    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_>) {
        panels.fill(|k, line| self.read(row + k, column, line));
    }
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
    #[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
    pub fn read(&self, first: usize, step: usize, out: &mut [f64]) {
        match (self, step) {
            (Numbers::Singles(all), 1) => {
                let count = out.len();
                let all = &all[first..][..count];
                at_level!(Options::default().token(), _ => for i in 0..count {
                    out[i] = f64::from(f32::from_ne_bytes(all[i]));
                });
            }
            (Numbers::Doubles(all), 1) => out.copy_from_slice(&all[first..][..out.len()]),
            // Pairs are read, so that the loop has vectors.
            (Numbers::Singles(all), 2) if !out.is_empty() => {
                let (last, whole) = out.split_last_mut().expect("it is not empty");
                let pairs = &all[first..][..=2 * whole.len()];
                *last = f64::from(f32::from_ne_bytes(pairs[2 * whole.len()]));
                let count = whole.len();
                let pairs = &pairs.as_chunks::<2>().0[..count];
                at_level!(Options::default().token(), _ => for i in 0..count {
                    whole[i] = f64::from(f32::from_ne_bytes(pairs[i][0]));
                });
            }
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

    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_>) {
        match self.numbers {
            Numbers::Singles(all) if self.column == 1 => {
                panels.fill_singles(&all[row * self.row + column..], self.row);
            }
            _ => panels.fill(|k, line| self.read(row + k, column, line)),
        }
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

/// Columns of a block of few rows: long blocks, as memory is read faster in order. Columns of the
/// second factor are read in groups that fill the first cache.
const FEW_BLOCK: usize = 12288;
const LINES: usize = 8;
const LINE: usize = 512;

/// Maximum number of rows of a tile, and of its columns.
const MAX_ROWS: usize = 8;
const MAX_COLUMNS: usize = MAX_VECTORS * 8;

/// Multiplications that take less time than other threads need to wake.
const FEW_FOR_THREADS: u128 = 1 << 20;

/// Maximum number of blocks of rows, and of blocks of columns, that are made only to share a
/// product among threads.
const SHARED: usize = 16;

impl Sizes {
    /// The block that one thread computes at a time, with whole tiles. Blocks are of about the same
    /// size, and of several numbers of blocks, those are taken that all threads are done with first.
    fn block(self, products: usize, threads: usize) -> Sizes {
        let most = if self.few() { FEW_BLOCK } else { BLOCK.columns };
        let (rows, columns) = (self.rows.div_ceil(BLOCK.rows).max(1), self.columns.div_ceil(most).max(1));
        let of = |rows: usize, columns: usize| Sizes {
            rows: self.rows.div_ceil(rows).max(1).next_multiple_of(MAX_ROWS),
            inner: self.inner.min(BLOCK.inner),
            columns: self.columns.div_ceil(columns).max(1).next_multiple_of(MAX_COLUMNS),
        };
        let last = |blocks: usize| if threads == 1 { blocks } else { blocks.max(SHARED) };
        let all = (rows..=last(rows)).flat_map(|at| (columns..=last(columns)).map(move |to| of(at, to)));
        all.min_by_key(|block| self.time(*block, products, threads)).unwrap_or(of(rows, columns))
    }

    /// The time in which all threads are done with blocks: they take turns. A factor is packed in
    /// the time of a few multiplications for each element.
    fn time(self, block: Sizes, products: usize, threads: usize) -> u128 {
        const PACKING: usize = 8;
        let blocks = product(self.rows.div_ceil(block.rows), self.columns.div_ceil(block.columns));
        let rounds = blocks.saturating_mul(product(products, 1)).div_ceil(product(threads.max(1), 1));
        let (rows, columns) = (block.rows.min(self.rows), block.columns.min(self.columns));
        rounds.saturating_mul(product(rows, columns) + product(rows + columns, PACKING))
    }

    /// Number of threads that `products` products are worth, of `threads`.
    fn threads(self, products: usize, threads: usize) -> usize {
        let all = product(self.rows, self.inner).saturating_mul(product(self.columns, products));
        if all < FEW_FOR_THREADS { 1 } else { threads.max(1) }
    }

    /// Returns true if there are so few rows that packing would take longer than multiplying.
    fn few(self) -> bool {
        self.rows < 4
    }

    /// Elements of the second factor that are packed at a time.
    fn packed(self, Sizes { inner, columns, .. }: Sizes) -> usize {
        if self.few() { 0 } else { inner * columns + SPARE }
    }

    /// Bytes that [`multiply`] takes for `products` products on `threads` threads, besides the
    /// results.
    pub fn bytes(self, products: usize, threads: usize) -> u128 {
        let threads = self.threads(products, threads);
        let block = self.block(products, threads);
        let Sizes { rows, inner, columns } = block;
        let packed = product(rows, inner) + product(self.packed(block) + block.lines(), 1);
        let segments = product(columns, pack::SEGMENT) + product(inner, size_of::<usize>());
        let scratch = (packed + product(rows, columns)) * product(size_of::<f64>(), 1) + segments;
        let scratch = scratch * product(threads, 1);
        // A place for each row of each block, in lists that may have room for twice as many.
        let places = product(self.rows, self.columns.div_ceil(columns.max(1)) + 4);
        scratch + product(products, 1).saturating_mul(places * 40 + 256)
    }

    /// Elements of the rows of a factor that are read before they are packed, or added, for a block.
    fn lines(self) -> usize {
        // The last block may have few rows.
        self.columns.max(MAX_ROWS * self.inner).max(LINES * LINE.min(self.columns))
    }
}

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
    lines: Vec<f64>,
    sums: Vec<f64>,
}

thread_local! {
    /// Memory that the thread keeps from one product to the next: clearing it takes longer than small
    /// products.
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Scratch {
    /// Calls a function with memory for blocks of products of these sizes.
    fn with<R>(sizes: Sizes, block: Sizes, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let Sizes { rows, inner, columns } = block;
        let mut scratch = SCRATCH.take();
        let fit = |memory: &mut Vec<f64>, len: usize| memory.resize(memory.len().max(len), 0.0);
        fit(&mut scratch.a, rows * inner);
        fit(&mut scratch.b, sizes.packed(block));
        fit(&mut scratch.lines, block.lines());
        fit(&mut scratch.sums, rows * columns);
        let result = work(&mut scratch);
        SCRATCH.set(scratch);
        result
    }
}

/// A block of the result.
struct ResultPart<'a, T> {
    matrix: usize,
    row: usize,
    column: usize,
    rows: Vec<&'a mut [T]>,
}

/// Multiplies pairs of matrices of the same sizes. The results lie one after the other in `out`;
/// `store` is given the number of a matrix, a row, a column, the sums from there on, and where they
/// go. `check` is called from time to time.
///
/// # Errors
/// Errors of `check`, the first one.
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
    let threads = sizes.threads(products.len(), options.count());
    let block = sizes.block(products.len(), threads);
    let mut parts = Vec::new();
    for (matrix, out) in out.chunks_mut(rows * columns).enumerate() {
        for (at, out) in out.chunks_mut(block.rows * columns).enumerate() {
            let mut rest: Vec<_> = out.chunks_mut(columns).map(|row| row.chunks_mut(block.columns)).collect();
            for column in (0..columns).step_by(block.columns) {
                let rows = rest.iter_mut().filter_map(Iterator::next).collect();
                parts.push(ResultPart { matrix, row: at * block.rows, column, rows });
            }
        }
    }
    let work = |scratch: &mut Scratch, part: ResultPart<'_, T>| {
        let columns = part.rows.first().map_or(0, |row| row.len());
        let of = Sizes { rows: part.rows.len(), inner: sizes.inner, columns };
        products[part.matrix].sums(scratch, of, [part.row, part.column], options, &check)?;
        for (at, row) in part.rows.into_iter().enumerate() {
            store(part.matrix, part.row + at, part.column, &scratch.sums[at * columns..][..columns], row);
        }
        Ok(())
    };
    let work = |(): &mut (), part| Scratch::with(sizes, block, |scratch| work(scratch, part));
    share(parts.into_iter(), Options { threads, ..options }, || (), work)
}

/// Makes every NaN the positive quiet one.
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
pub fn one_nan(sums: &mut [f64], options: Options) {
    let count = sums.len();
    at_level!(options.token(), _ => for i in 0..count {
        sums[i] = if sums[i].is_nan() { f64::NAN } else { sums[i] };
    });
}

impl Product<'_> {
    /// Computes the sums of a block, row by row.
    fn sums<E>(
        &self,
        scratch: &mut Scratch,
        of: Sizes,
        [row, column]: [usize; 2],
        options: Options,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<(), E> {
        let token = options.token();
        let Scratch { a, b, lines, sums } = scratch;
        let sums = &mut sums[..of.rows * of.columns];
        if of.few() || of.inner == 0 {
            sums.fill(0.0);
        }
        for first in (0..of.inner).step_by(BLOCK.inner) {
            check()?;
            let inner = BLOCK.inner.min(of.inner - first);
            let here = Sizes { inner, ..of };
            if of.few() {
                self.add_rows([a, lines], here, [row, first, column], sums, token);
                continue;
            }
            let ends = [first == 0, first + inner == of.inner];
            let read = |at: usize, out: &mut [f64]| self.a.read(row + at, first, out);
            if lanes(token) == 8 {
                pack::<8>(a, [of.rows, inner], read, lines, token);
            } else {
                pack::<4>(a, [of.rows, inner], read, lines, token);
            }
            self.b.pack(first, column, &mut Panels::new(b, lines, here, token));
            tiles(token, self.exact, [a, b], here, ends, sums);
        }
        if of.few() {
            one_nan(sums, options);
        }
        Ok(())
    }

    /// Adds to the sums of few rows the products with some rows of the second factor after others.
    fn add_rows(
        &self,
        [a, lines]: [&mut [f64]; 2],
        of: Sizes,
        [row, first, column]: [usize; 3],
        sums: &mut [f64],
        token: Token,
    ) {
        let a = &mut a[..of.rows * of.inner];
        for (at, a) in a.chunks_mut(of.inner).enumerate() {
            self.a.read(row + at, first, a);
        }
        for k in (0..of.inner).step_by(LINES) {
            let count = LINES.min(of.inner - k);
            for from in (0..of.columns).step_by(LINE) {
                let len = LINE.min(of.columns - from);
                let lines = &mut lines[..count * len];
                for (at, line) in lines.chunks_mut(len).enumerate() {
                    self.b.read(first + k + at, column + from, line);
                }
                let places: [usize; LINES] = std::array::from_fn(|at| at * len);
                for (at, sums) in sums.chunks_mut(of.columns).enumerate() {
                    let (a, sums) = (&a[at * of.inner + k..][..count], &mut sums[from..][..len]);
                    add_lines(token, self.exact, a, lines, &places, sums);
                }
            }
        }
    }
}
