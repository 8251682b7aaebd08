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
//! while a block of the summed axis passes. To a result of very few rows, rows of the second factor
//! are added as they are.

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
            // Pairs are read, so that the loop has vectors.
            (Numbers::Singles(all), 2) if !out.is_empty() => {
                let (last, whole) = out.split_last_mut().expect("it is not empty");
                let pairs = &all[first..][..=2 * whole.len()];
                *last = f64::from(f32::from_ne_bytes(pairs[2 * whole.len()]));
                at_level!(Token::new(), _ => {
                    for (out, pair) in whole.iter_mut().zip(pairs.as_chunks::<2>().0) {
                        *out = f64::from(f32::from_ne_bytes(pair[0]));
                    }
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

/// Columns of a block of few rows: long blocks, as memory is read faster in order. Rows of the second
/// factor are read by so many, and so many columns of them at a time: they fill the first cache.
const FEW_BLOCK: usize = 12288;
const LINES: usize = 8;
const LINE: usize = 512;

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

    /// Elements of the rows of a factor that are read before they are packed, or added.
    fn lines(self) -> usize {
        let Sizes { inner, columns, .. } = self.block();
        // The last block may have few rows.
        columns.max(MOST_ROWS * inner).max(LINES * LINE.min(columns))
    }

    /// Bytes that [`multiply`] takes for so many products on so many threads, beside the results.
    pub fn bytes(self, products: usize, threads: usize) -> u128 {
        let Sizes { rows, inner, columns } = self.block();
        let packed = product(rows, inner) + product(self.packed(), 1) + product(self.lines(), 1);
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
    lines: Vec<f64>,
    sums: Vec<f64>,
}

impl Scratch {
    fn new(sizes: Sizes) -> Scratch {
        let Sizes { rows, inner, columns } = sizes.block();
        Scratch {
            a: vec![0.0; rows * inner],
            b: vec![0.0; sizes.packed()],
            lines: vec![0.0; sizes.lines()],
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
            if at_level!(token, simd => lanes(simd)) == 8 {
                pack::<8>(a, of.rows, inner, read, lines);
            } else {
                pack::<4>(a, of.rows, inner, read, lines);
            }
            for k in 0..inner {
                let line = &mut lines[..of.columns];
                self.b.read(first + k, column, line);
                at_level!(token, simd => panels(simd, line, k, inner, b));
            }
            at_level!(token, simd => tiles(simd, self.exact, [a, b], here, ends, sums));
        }
        if of.few() {
            at_level!(token, _ => sums.iter_mut().for_each(|x| *x = if x.is_nan() { f64::NAN } else { *x }));
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
                    at_level!(token, simd => add_lines(simd, self.exact, a, lines, &places, sums));
                }
            }
        }
    }
}

/// Adds to each sum the products of numbers and of as many elements, in their order: for the first
/// sum those at some places, for the next one those behind them. `exact` is true if the products
/// are exact in float64.
///
/// # Panics
/// If there are fewer places than numbers, or fewer elements behind one than sums.
pub fn add_shifted(
    exact: bool,
    a: &[f64],
    elements: &[f64],
    places: &[usize],
    sums: &mut [f64],
    options: Options,
) {
    at_level!(options.token(), simd => add_lines(simd, exact, a, elements, places, sums));
}

#[inline(always)]
fn add_lines<S: Simd>(simd: S, exact: bool, a: &[f64], elements: &[f64], places: &[usize], sums: &mut [f64]) {
    if fuses(simd, exact) {
        add_lines_of::<S, true>(simd, a, elements, places, sums);
    } else {
        add_lines_of::<S, false>(simd, a, elements, places, sums);
    }
}

#[inline(always)]
fn add_lines_of<S: Simd, const FUSED: bool>(
    simd: S,
    a: &[f64],
    elements: &[f64],
    places: &[usize],
    sums: &mut [f64],
) {
    let (lanes, width) = (S::f64s::LEN, VECTORS * S::f64s::LEN);
    let places = &places[..a.len()];
    let whole = sums.len() / width * width;
    let (wide, rest) = sums.split_at_mut(whole);
    for (at, sums) in wide.chunks_exact_mut(width).enumerate() {
        let mut own = [S::f64s::splat(simd, 0.0); VECTORS];
        for v in 0..VECTORS {
            own[v] = S::f64s::from_slice(simd, &sums[v * lanes..][..lanes]);
        }
        for k in 0..a.len() {
            let (x, line) = (S::f64s::splat(simd, a[k]), &elements[places[k] + at * width..][..width]);
            for v in 0..VECTORS {
                let y = S::f64s::from_slice(simd, &line[v * lanes..][..lanes]);
                own[v] = if FUSED { x.mul_add(y, own[v]) } else { own[v] + x * y };
            }
        }
        for v in 0..VECTORS {
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

#[inline(always)]
fn lanes<S: Simd>(_: S) -> usize {
    S::f64s::LEN
}

/// Packs rows in groups of `R` that lie side by side.
fn pack<const R: usize>(
    out: &mut [f64],
    rows: usize,
    inner: usize,
    read: impl Fn(usize, &mut [f64]),
    lines: &mut [f64],
) {
    let lines = &mut lines[..R * inner];
    for (row, out) in (0..rows).step_by(R).zip(out.chunks_exact_mut(R * inner)) {
        for (at, line) in lines.chunks_exact_mut(inner).take(rows - row).enumerate() {
            read(row + at, line);
        }
        let lines: [&[f64]; R] = std::array::from_fn(|at| &lines[at * inner..][..inner]);
        for (k, out) in out.as_chunks_mut::<R>().0.iter_mut().enumerate() {
            for row in 0..R {
                out[row] = lines[row][k];
            }
        }
    }
}

/// Packs a row of the second factor: of each panel, the row of that number.
#[inline(always)]
fn panels<S: Simd>(_: S, line: &[f64], k: usize, inner: usize, out: &mut [f64]) {
    let width = VECTORS * S::f64s::LEN;
    let mut panels = out.chunks_exact_mut(inner * width);
    let mut whole = line.chunks_exact(width);
    for line in whole.by_ref() {
        let Some(panel) = panels.next() else { return };
        panel[k * width..][..width].copy_from_slice(line);
    }
    let rest = whole.remainder();
    if let Some(panel) = panels.next() {
        panel[k * width..][..rest.len()].copy_from_slice(rest);
    }
}

/// Adds to the sums the products of packed blocks. The first blocks begin the sums, and the last
/// ones end them.
#[inline(always)]
fn tiles<S: Simd>(simd: S, exact: bool, factors: [&[f64]; 2], of: Sizes, ends: [bool; 2], sums: &mut [f64]) {
    if fuses(simd, exact) {
        tiles_of::<S, true>(simd, factors, of, ends, sums);
    } else {
        tiles_of::<S, false>(simd, factors, of, ends, sums);
    }
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
    let (lanes, width) = (S::f64s::LEN, VECTORS * S::f64s::LEN);
    let group = tile_rows(lanes);
    for (panel, first) in (0..columns).step_by(width).enumerate() {
        let b = &b[panel * inner * width..][..inner * width];
        // Panels of few columns have no vectors to spare.
        let rest = columns - first;
        let each = if rest > 2 * lanes { width } else { lanes };
        for row in (0..rows).step_by(group) {
            let a = &a[row * inner..][..inner * group];
            for from in (0..rest.min(width)).step_by(each) {
                let here = each.min(rest - from);
                let mut tile = Tile { a, b, sums, columns, column: first + from, from, here, ends };
                if each == width {
                    tile.rows::<S, VECTORS, FUSED>(simd, row..rows.min(row + group));
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
    /// Whether the sums begin and end with these products.
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
        let mut edge = [0.0; MOST_COLUMNS];
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
        for (a, b) in self.a.chunks_exact(tile_rows(lanes)).zip(self.b.chunks_exact(VECTORS * lanes)) {
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
