//! Products of matrices, added in float64 or in float32 in the order of the summed axis.
//!
//! Lanes of vectors are columns of the result, so that a result has the bits of a plain loop,
//! whatever the level and however the work is shared. A sum in float64 is carried through the blocks
//! of the summed axis and never split. A multiplication is fused with its addition where the product
//! of the factors is exact, as that of two numbers of 24 bits is in float64: the fused operation
//! then rounds what the two operations round. A sum in float32 fuses all multiplications, and adds
//! up each block of the summed axis from zero. NaN becomes the positive quiet one, as processors
//! disagree about its sign.
//!
//! Blocks of both factors are packed: of the first, a few rows side by side; of the second, as many
//! columns as `tile` says vectors have; a constant is packed once for many products. A tile of the
//! result stays in registers while a block of the summed axis passes. To a result of very few rows,
//! rows of the second factor are added as they are.

mod pack;
mod packed;
mod summed;
mod term;
mod tiles;

use std::ops::Range;

use bytemuck::Pod;
use fearless_simd::Level as Token;
use gradus_core::Result;
use gradus_core::convert::{FromNumber, product};

use crate::options::Options;
use crate::sums::SumType;
use crate::threads::share;
use crate::vectors::levels::at_level;
use pack::pack;
pub use pack::{Panels, SPARE, Shifted};
pub use packed::{Layout, PackedFactor, Side};
pub use summed::multiply_with;
pub use term::Term;
use tiles::MAX_VECTORS;
pub use tiles::add_shifted;

/// A matrix that is read row by row, as terms of a type.
pub trait Rows<T: Term>: Sync {
    /// Writes the elements of a row from a column on.
    fn read(&self, row: usize, column: usize, out: &mut [T]);

    /// Packs elements as a block of the second factor: rows from one on, from a column on.
    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_, T>) {
        panels.fill(|k, line| self.read(row + k, column, line));
    }

    /// The elements of a block as they were packed before for a level: terms from one on, and rows of
    /// a first factor, or columns of a second one, from one on; the numbers of both.
    fn packed(&self, _: Token, _side: Side, _from: [usize; 2], _sizes: [usize; 2]) -> Option<&[f32]> {
        None
    }

    /// Rows of float32 as they lie in memory, and elements from a row to the next one.
    fn lines(&self) -> Option<(&[[u8; 4]], usize)> {
        None
    }
}

/// A matrix that is read as terms of each type.
pub trait Elements: Rows<f64> + Rows<f32> {}

impl<R: Rows<f64> + Rows<f32>> Elements for R {}

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

    /// Writes elements that lie `step` apart, from one on. Doubles are rounded to the type.
    pub fn read<T: Term>(&self, first: usize, step: usize, out: &mut [T]) {
        T::read(self, first, step, out);
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

/// See [`Numbers::read`].
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
fn read<T: Term>(numbers: &Numbers<'_>, first: usize, step: usize, out: &mut [T]) {
    match (numbers, step) {
        (Numbers::Singles(all), 1) => {
            let count = out.len();
            let all = &all[first..][..count];
            at_level!(Options::default().token(), _ => for i in 0..count {
                out[i] = T::single(all[i]);
            });
        }
        (Numbers::Doubles(all), 1) => T::doubles(&all[first..][..out.len()], out),
        // Pairs are read, so that the loop has vectors.
        (Numbers::Singles(all), 2) if !out.is_empty() => {
            let (last, whole) = out.split_last_mut().expect("it is not empty");
            let pairs = &all[first..][..=2 * whole.len()];
            *last = T::single(pairs[2 * whole.len()]);
            let count = whole.len();
            let pairs = &pairs.as_chunks::<2>().0[..count];
            at_level!(Options::default().token(), _ => for i in 0..count {
                whole[i] = T::single(pairs[i][0]);
            });
        }
        (Numbers::Singles(all), _) => {
            let all = all[first..].iter().step_by(step);
            out.iter_mut().zip(all).for_each(|(out, &x)| *out = T::single(x));
        }
        (Numbers::Doubles(all), _) => {
            let all = all[first..].iter().step_by(step);
            out.iter_mut().zip(all).for_each(|(out, &x)| *out = T::from_f64(x));
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
    /// The same elements, packed before: one of its matrices.
    pub packed: Option<(&'a PackedFactor, usize)>,
}

impl<'a> Matrix<'a> {
    /// A matrix of elements, with the steps from a row and from a column to the next one.
    pub fn new(numbers: Numbers<'a>, row: usize, column: usize) -> Matrix<'a> {
        Matrix { numbers, row, column, packed: None }
    }

    /// The same matrix, as one of those of a packed factor.
    #[must_use]
    pub fn packed(self, factor: Option<&'a PackedFactor>, number: usize) -> Matrix<'a> {
        Matrix { packed: factor.map(|factor| (factor, number)), ..self }
    }
}

impl<T: Term> Rows<T> for Matrix<'_> {
    fn read(&self, row: usize, column: usize, out: &mut [T]) {
        self.numbers.read(row * self.row + column * self.column, self.column, out);
    }

    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_, T>) {
        match self.numbers {
            Numbers::Singles(all) if self.column == 1 => {
                panels.fill_singles(&all[row * self.row + column..], self.row);
            }
            _ => panels.fill(|k, line: &mut [T]| self.read(row + k, column, line)),
        }
    }

    fn packed(&self, token: Token, side: Side, from: [usize; 2], sizes: [usize; 2]) -> Option<&[f32]> {
        self.packed.and_then(|(factor, number)| factor.block::<T>(token, number, side, from, sizes))
    }

    fn lines(&self) -> Option<(&[[u8; 4]], usize)> {
        match self.numbers {
            Numbers::Singles(all) if self.column == 1 => Some((all, self.row)),
            _ => None,
        }
    }
}

/// A product of two matrices.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "a matrix that is computed has nothing to show")]
pub struct Product<'a> {
    /// The first factor: `rows` rows of `inner` elements.
    pub a: &'a dyn Elements,
    /// The second factor: `inner` rows of `columns` elements.
    pub b: &'a dyn Elements,
    /// True if the products of all elements of both are exact in float64: all are numbers of float32.
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

/// Rows and columns of a block of the result; with [`Term::INNER`], they fill the second cache.
const BLOCK_ROWS: usize = 192;
const BLOCK_COLUMNS: usize = 384;

/// Columns of a block of a second factor that lies packed: the first factor is packed less often.
const PLACED_COLUMNS: usize = 1024;

/// Columns of a block of few rows: long blocks, as memory is read faster in order. Columns of the
/// second factor are read in groups that fill the first cache.
const FEW_BLOCK: usize = 12288;
const LINES: usize = 8;
const LINE: usize = 512;

/// Maximum number of rows of a tile, and of columns side by side.
const MAX_ROWS: usize = 8;
const MAX_COLUMNS: usize = MAX_VECTORS * (LINE_BYTES / size_of::<f32>());

/// Bytes of a line of memory, and of the widest vectors.
const LINE_BYTES: usize = 64;

/// The elements from the first line of memory on: vectors of them cross no line.
fn from_line<T>(memory: &mut [T]) -> &mut [T] {
    let before = memory.as_ptr().align_offset(LINE_BYTES).min(memory.len());
    &mut memory[before..]
}

/// Multiplications that take less time than other threads need to wake.
const FEW_FOR_THREADS: u128 = 1 << 20;

/// Maximum number of blocks of rows, and of blocks of columns, that are made only to share a
/// product among threads.
const SHARED: usize = 16;

impl Sizes {
    /// The block that one thread computes at a time, with whole tiles. Blocks are of about the same
    /// size, and of several numbers of blocks, those are taken that all threads are done with first.
    /// `placed` is true if the second factor is read where it lies packed.
    fn block<T: Term>(self, products: usize, threads: usize, placed: bool) -> Sizes {
        let most = if placed { PLACED_COLUMNS } else { BLOCK_COLUMNS };
        let most = if self.few() { FEW_BLOCK } else { most };
        let (rows, columns) = (self.rows.div_ceil(BLOCK_ROWS).max(1), self.columns.div_ceil(most).max(1));
        let of = |rows: usize, columns: usize| Sizes {
            rows: self.rows.div_ceil(rows).max(1).next_multiple_of(MAX_ROWS),
            inner: self.inner.min(T::INNER),
            columns: self
                .columns
                .div_ceil(columns)
                .max(1)
                .next_multiple_of(T::VECTORS * (LINE_BYTES / size_of::<T>())),
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
    /// results, in either type.
    pub fn bytes(self, products: usize, threads: usize) -> u128 {
        self.bytes_of::<f64>(products, threads).max(self.bytes_of::<f32>(products, threads))
    }

    fn bytes_of<T: Term>(self, products: usize, threads: usize) -> u128 {
        let threads = self.threads(products, threads);
        let block = self.block::<T>(products, threads, false);
        let Sizes { rows, inner, columns } = block;
        let packed = product(rows, inner) + product(self.packed(block) + block.lines(), 1);
        let segments = product(columns, pack::SEGMENT) + product(inner, size_of::<usize>());
        let sums = product(self.sums::<T>(block), 1);
        let line = product(columns, size_of::<f64>());
        let scratch = (packed + sums) * product(size_of::<T>(), 1) + segments + line;
        let scratch = scratch + product(4, LINE_BYTES);
        let scratch = scratch * product(threads, 1);
        // A place for each row of each block, in lists that may have room for twice as many.
        let places = product(self.rows, self.columns.div_ceil(columns.max(1)) + 4);
        scratch + product(products, 1).saturating_mul(places * 40 + 256)
    }

    /// Sums of a block of the result; to few rows, those of a part of the summed axis are added.
    fn sums<T: Term>(self, Sizes { rows, columns, .. }: Sizes) -> usize {
        rows * columns * if self.few() && T::BLOCKED { 2 } else { 1 }
    }

    /// Elements of the rows of a factor that are read before they are packed, or added, for a block.
    fn lines(self) -> usize {
        // The last block may have few rows.
        self.columns.max(MAX_ROWS * self.inner).max(LINES * LINE.min(self.columns))
    }
}

/// Memory of a thread, which it keeps from one product to the next: clearing it takes longer than
/// small products.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Scratch<T> {
    a: Vec<T>,
    b: Vec<T>,
    lines: Vec<T>,
    sums: Vec<T>,
    /// Sums of a row in float64.
    wide: Vec<f64>,
}

impl<T: Term> Scratch<T> {
    /// Calls a function with memory for blocks of products of these sizes.
    fn with<R>(sizes: Sizes, block: Sizes, placed: bool, work: impl FnOnce(&mut Scratch<T>) -> R) -> R {
        let Sizes { rows, inner, .. } = block;
        let mut scratch = T::scratch().take();
        let fit = |memory: &mut Vec<T>, len: usize| {
            memory.resize(memory.len().max(len + LINE_BYTES / size_of::<T>()), T::default());
        };
        fit(&mut scratch.a, rows * inner);
        fit(&mut scratch.b, if placed { 0 } else { sizes.packed(block) });
        fit(&mut scratch.lines, block.lines());
        fit(&mut scratch.sums, sizes.sums::<T>(block));
        let result = work(&mut scratch);
        T::scratch().set(scratch);
        result
    }
}

/// A block of the result, in rows of bytes.
struct ResultPart<'a> {
    matrix: usize,
    row: usize,
    column: usize,
    rows: Vec<&'a mut [u8]>,
}

/// Writes what becomes of sums: of a matrix, a row, and columns from one on.
type StoreSums<'a> = &'a (dyn Fn(usize, usize, usize, &[f64], &mut [u8]) + Sync);

/// The results of products as bytes, and what is done with their sums: loops are compiled once,
/// whatever the type of the elements.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "a function has nothing to show")]
pub struct Results<'a> {
    pub(super) out: &'a mut [u8],
    /// Bytes of an element.
    pub(super) width: usize,
    pub(super) check: &'a (dyn Fn() -> Result<()> + Sync),
    pub(super) store: StoreSums<'a>,
}

impl Results<'_> {
    /// Calls a function with the results as bytes.
    fn erased<R: Pod>(
        out: &mut [R],
        check: impl Fn() -> Result<()> + Sync,
        store: impl Fn(usize, usize, usize, &[f64], &mut [R]) + Sync,
        work: impl FnOnce(Results<'_>) -> Result<()>,
    ) -> Result<()> {
        let store = |matrix: usize, row: usize, column: usize, sums: &[f64], out: &mut [u8]| {
            store(matrix, row, column, sums, bytemuck::cast_slice_mut(out));
        };
        let (width, out) = (size_of::<R>(), bytemuck::cast_slice_mut(out));
        work(Results { out, width, check: &check, store: &store })
    }
}

/// Multiplies pairs of matrices of the same sizes, adding in a type of terms; the elements are
/// numbers of float32 if it is that. The results lie one after the other in `out`; `store` is
/// given the number of a matrix, a row, a column, the sums from there on, and where they go.
/// `check` is called from time to time.
///
/// # Errors
/// Errors of `check`, the first one.
///
/// # Panics
/// If `out` has not as many elements as the results, or a factor has not as many as the sizes say.
pub fn multiply<T: Term, R: Pod>(
    products: &[Product<'_>],
    sizes: Sizes,
    out: &mut [R],
    options: Options,
    check: impl Fn() -> Result<()> + Sync,
    store: impl Fn(usize, usize, usize, &[f64], &mut [R]) + Sync,
) -> Result<()> {
    Results::erased(out, check, store, |results| T::multiply(products, sizes, results, options))
}

/// See [`multiply`].
fn multiply_into<T: Term>(
    products: &[Product<'_>],
    sizes: Sizes,
    results: Results<'_>,
    options: Options,
) -> Result<()> {
    let Results { out, width, check, store } = results;
    let Sizes { rows, columns, .. } = sizes;
    assert_eq!(product(out.len(), 1), product(products.len(), rows).saturating_mul(product(columns, width)));
    if out.is_empty() {
        return Ok(());
    }
    let threads = sizes.threads(products.len(), options.count());
    let token = options.token();
    let placed = |product: &Product<'_>| {
        T::rows(product.b).packed(token, Side::Second, [0, 0], [sizes.inner.min(1), 1]).is_some()
    };
    let placed = T::SUMS == SumType::Single && products.iter().all(placed);
    let block = sizes.block::<T>(products.len(), threads, placed);
    let mut parts = Vec::new();
    for (matrix, out) in out.chunks_mut(rows * columns * width).enumerate() {
        for (at, out) in out.chunks_mut(block.rows * columns * width).enumerate() {
            let rows = out.chunks_mut(columns * width);
            let mut rest: Vec<_> = rows.map(|row| row.chunks_mut(block.columns * width)).collect();
            for column in (0..columns).step_by(block.columns) {
                let rows = rest.iter_mut().filter_map(Iterator::next).collect();
                parts.push(ResultPart { matrix, row: at * block.rows, column, rows });
            }
        }
    }
    let work = |scratch: &mut Scratch<T>, part: ResultPart<'_>| {
        let columns = part.rows.first().map_or(0, |row| row.len() / width);
        let of = Sizes { rows: part.rows.len(), inner: sizes.inner, columns };
        products[part.matrix].sums(scratch, of, [part.row, part.column], options, check)?;
        for (at, row) in part.rows.into_iter().enumerate() {
            let sums = T::wide(&scratch.sums[at * columns..][..columns], &mut scratch.wide);
            store(part.matrix, part.row + at, part.column, sums, row);
        }
        Ok(())
    };
    let work = |(): &mut (), part| Scratch::with(sizes, block, placed, |scratch| work(scratch, part));
    share(parts.into_iter(), Options { threads, ..options }, || (), work)
}

/// Makes every NaN the positive quiet one.
pub fn one_nan<T: Term>(sums: &mut [T], options: Options) {
    T::one_nan(options.token(), sums);
}

#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
fn nans<T: Term>(token: Token, sums: &mut [T]) {
    let count = sums.len();
    at_level!(token, _ => for i in 0..count {
        sums[i] = sums[i].or_nan();
    });
}

impl Product<'_> {
    /// Computes the sums of a block, row by row.
    fn sums<T: Term>(
        &self,
        scratch: &mut Scratch<T>,
        of: Sizes,
        [row, column]: [usize; 2],
        options: Options,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let token = options.token();
        let Scratch { a, b, lines, sums, .. } = scratch;
        let (a, b) = (from_line(a), from_line(b));
        let (sums, part) = sums.split_at_mut(of.rows * of.columns);
        if of.few() || of.inner == 0 {
            sums.fill(T::default());
        }
        for first in (0..of.inner).step_by(T::INNER) {
            check()?;
            let inner = T::INNER.min(of.inner - first);
            let here = Sizes { inner, ..of };
            if of.few() && T::BLOCKED {
                let part = &mut part[..sums.len()];
                part.fill(T::default());
                self.add_rows([a, lines], here, [row, first, column], part, token);
                add_to(token, sums, part);
                continue;
            }
            if of.few() {
                self.add_rows([a, lines], here, [row, first, column], sums, token);
                continue;
            }
            let ends = [first == 0, first + inner == of.inner];
            let (rows, columns) = (T::rows(self.a), T::rows(self.b));
            let a = if let Some(singles) = rows.packed(token, Side::First, [first, row], [inner, of.rows]) {
                T::widened(singles, a)
            } else {
                let read = |at: usize, out: &mut [T]| rows.read(row + at, first, out);
                pack(a, [of.rows, inner], read, lines, token);
                &*a
            };
            let place = [first, column];
            let b = if let Some(singles) = columns.packed(token, Side::Second, place, [inner, of.columns]) {
                T::widened(singles, b)
            } else {
                columns.pack(first, column, &mut Panels::new(b, lines, here, token));
                &*b
            };
            tiles::tiles((token, self.exact), [a, b], here, ends, sums);
        }
        if of.few() {
            one_nan(sums, options);
        }
        Ok(())
    }

    /// Adds to the sums of few rows the products with some rows of the second factor after others.
    fn add_rows<T: Term>(
        &self,
        [a, lines]: [&mut [T]; 2],
        of: Sizes,
        [row, first, column]: [usize; 3],
        sums: &mut [T],
        token: Token,
    ) {
        let a = &mut a[..of.rows * of.inner];
        for (at, a) in a.chunks_mut(of.inner).enumerate() {
            T::rows(self.a).read(row + at, first, a);
        }
        let how = (token, self.exact);
        for k in (0..of.inner).step_by(LINES) {
            let count = LINES.min(of.inner - k);
            if let Some((all, step)) = T::rows(self.b).lines() {
                let all = &all[(first + k) * step + column..];
                let places: [usize; LINES] = std::array::from_fn(|at| at * step);
                for (at, sums) in sums.chunks_mut(of.columns).enumerate() {
                    T::add_singles(how, &a[at * of.inner + k..][..count], all, &places, sums);
                }
                continue;
            }
            for from in (0..of.columns).step_by(LINE) {
                let len = LINE.min(of.columns - from);
                let lines = &mut lines[..count * len];
                for (at, line) in lines.chunks_mut(len).enumerate() {
                    T::rows(self.b).read(first + k + at, column + from, line);
                }
                let places: [usize; LINES] = std::array::from_fn(|at| at * len);
                for (at, sums) in sums.chunks_mut(of.columns).enumerate() {
                    let (a, sums) = (&a[at * of.inner + k..][..count], &mut sums[from..][..len]);
                    T::add_lines(how, a, lines, &places, sums);
                }
            }
        }
    }
}

/// Adds numbers to as many others.
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
fn add_to<T: Term>(token: Token, sums: &mut [T], part: &[T]) {
    let (count, part) = (sums.len(), &part[..sums.len()]);
    at_level!(token, _ => for i in 0..count {
        sums[i] += part[i];
    });
}
