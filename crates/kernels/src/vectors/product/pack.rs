//! Blocks of factors in the order in which a product reads them.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd};

use super::tiles::{self, large, tile};
use super::{Numbers, Rows, Sizes, Term};
use crate::vectors::levels::at_level;

/// Elements that must lie after those of [`Shifted`] planes: whole vectors are read.
pub const SPARE: usize = 16;

/// Packs rows of the first factor in groups, as many as a tile has, that lie side by side.
pub(super) fn pack<T: Term>(
    out: &mut [T],
    [rows, inner]: [usize; 2],
    read: impl Fn(usize, &mut [T]),
    lines: &mut [T],
    token: Token,
) {
    let group = tiles::rows::<T>(token);
    let lines = &mut lines[..group * inner];
    for (row, out) in (0..rows).step_by(group).zip(out.chunks_exact_mut(group * inner)) {
        for (at, line) in lines.chunks_exact_mut(inner).take(rows - row).enumerate() {
            read(row + at, line);
        }
        turn(token, lines, out);
    }
}

/// Writes the columns of lines, as many as a tile has rows, one after the other.
fn turn<T: Term>(token: Token, lines: &[T], out: &mut [T]) {
    at_level!(token, simd => turn_at::<_, T>(simd, lines, out));
}

#[inline(always)]
fn turn_at<S: Simd, T: Term>(simd: S, lines: &[T], out: &mut [T]) {
    if const { large::<S>() } {
        turn_lines::<_, T, 8>(simd, lines, out);
    } else {
        turn_lines::<_, T, 4>(simd, lines, out);
    }
}

/// Writes the columns of `R` lines one after the other.
#[inline(always)]
fn turn_lines<S: Simd, T: Term, const R: usize>(simd: S, lines: &[T], out: &mut [T]) {
    let inner = lines.len() / R;
    let lines: [&[T]; R] = std::array::from_fn(|at| &lines[at * inner..][..inner]);
    let lanes = T::Native::<S>::LEN;
    let whole = if lanes >= R { lines[0].len() / lanes * lanes } else { 0 };
    for (k, out) in (0..whole).step_by(lanes).zip(out.chunks_exact_mut(R * lanes)) {
        let mut rows = [T::Native::<S>::splat(simd, T::default()); R];
        for row in 0..R {
            rows[row] = T::Native::<S>::from_slice(simd, &lines[row][k..k + lanes]);
        }
        // Each time the elements of either half go between those of the other, so that the bits of
        // the number of the row become the last ones of the place.
        for _ in 0..R.trailing_zeros() {
            let mut next = rows;
            for row in 0..R / 2 {
                (next[2 * row], next[2 * row + 1]) = rows[row].interleave(rows[row + R / 2]);
            }
            rows = next;
        }
        for (row, out) in rows.into_iter().zip(out.chunks_exact_mut(lanes)) {
            row.store_slice(out);
        }
    }
    let rest = out[whole * R..].as_chunks_mut::<R>().0;
    for (k, out) in rest.iter_mut().enumerate() {
        for row in 0..R {
            out[row] = lines[row][whole + k];
        }
    }
}

/// A block of the second factor in panels of a few columns, each row by row.
#[allow(missing_debug_implementations, reason = "memory that is written has nothing to show")]
pub struct Panels<'a, T> {
    out: &'a mut [T],
    line: &'a mut [T],
    rows: usize,
    token: Token,
}

impl<'a, T: Term> Panels<'a, T> {
    /// Empty panels for factors of these sizes.
    pub(super) fn new(out: &'a mut [T], lines: &'a mut [T], of: Sizes, token: Token) -> Panels<'a, T> {
        Panels { out, line: &mut lines[..of.columns], rows: of.inner, token }
    }

    /// Fills each row with what a function writes, which is given its number.
    pub fn fill(&mut self, mut read: impl FnMut(usize, &mut [T])) {
        let Panels { out, line, rows, token } = self;
        for k in 0..*rows {
            read(k, line);
            T::split(*token, line, [k, *rows], out);
        }
    }

    /// Fills rows with float32 that lie `step` apart.
    pub(super) fn fill_singles(&mut self, all: &[[u8; 4]], step: usize) {
        let Panels { out, line, rows, token } = self;
        T::split_singles(*token, Lines { all, step, columns: line.len(), rows: *rows }, out);
    }
}

/// Rows of float32 that lie `step` apart.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    all: &'a [[u8; 4]],
    step: usize,
    columns: usize,
    rows: usize,
}

/// Writes a row of terms into panels.
pub(super) fn split_terms<T: Term>(token: Token, line: &[T], place: [usize; 2], out: &mut [T]) {
    at_level!(token, simd => split::<_, Terms, T>(simd, line, place, out));
}

/// Writes rows of float32 into panels.
pub(super) fn split_singles<T: Term>(token: Token, lines: Lines<'_>, out: &mut [T]) {
    let Lines { all, step, columns, rows } = lines;
    at_level!(token, simd => for k in 0..rows {
        split::<_, Singles, T>(simd, &all[k * step..][..columns], [k, rows], out);
    });
}

/// Elements of a kind, from which terms are made. Loops go over indices: functions of iterators that
/// are not inlined are not compiled for the level.
pub(super) trait Source<T: Term> {
    type Element: Copy;

    /// Writes as many terms as a vector has.
    fn terms<S: Simd>(simd: S, from: &[Self::Element], to: &mut [T]);

    fn term(element: Self::Element) -> T;
}

/// Elements that are terms.
pub(super) struct Terms;

impl<T: Term> Source<T> for Terms {
    type Element = T;

    #[inline(always)]
    fn terms<S: Simd>(_: S, from: &[T], to: &mut [T]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn term(element: T) -> T {
        element
    }
}

/// Elements of float32 at any alignment.
pub(super) struct Singles;

impl<T: Term> Source<T> for Singles {
    type Element = [u8; 4];

    #[inline(always)]
    fn terms<S: Simd>(simd: S, from: &[[u8; 4]], to: &mut [T]) {
        T::singles(simd, from, to);
    }

    #[inline(always)]
    fn term(element: [u8; 4]) -> T {
        T::single(element)
    }
}

/// Elements of float64.
struct Doubles;

impl<T: Term> Source<T> for Doubles {
    type Element = f64;

    #[inline(always)]
    fn terms<S: Simd>(_: S, from: &[f64], to: &mut [T]) {
        T::doubles(from, to);
    }

    #[inline(always)]
    fn term(element: f64) -> T {
        T::from_f64(element)
    }
}

/// Writes a row: of each panel, the row of that number.
#[inline(always)]
fn split<S: Simd, E: Source<T>, T: Term>(simd: S, line: &[E::Element], [k, rows]: [usize; 2], out: &mut [T]) {
    let lanes = T::Native::<S>::LEN;
    let vectors = tile::<_, T>(simd).1;
    let width = vectors * lanes;
    let whole = line.len() / width;
    for panel in 0..whole {
        let (line, out) = (&line[panel * width..][..width], &mut out[(panel * rows + k) * width..][..width]);
        for at in 0..vectors {
            E::terms(simd, &line[at * lanes..][..lanes], &mut out[at * lanes..][..lanes]);
        }
    }
    for at in whole * width..line.len() {
        out[(whole * rows + k - whole) * width + at] = E::term(line[at]);
    }
}

/// A matrix whose columns are the elements of lines of a plane, one after the other. Each row is so
/// for a plane and a place to which all lines are shifted.
#[derive(Clone, Copy, Debug)]
pub struct Shifted<'a> {
    /// Planes one after the other, and [`SPARE`] more elements.
    pub planes: Numbers<'a>,
    /// Elements of a plane.
    pub plane: usize,
    /// The places of the rows of a plane.
    pub places: &'a [usize],
    /// The first element of each line.
    pub starts: &'a [usize],
    /// Elements of a line.
    pub line: usize,
}

/// Neighbouring elements of a row in one panel.
struct Segment {
    panel: usize,
    /// The first column in the panel, and its element of the plane.
    column: usize,
    place: usize,
    count: usize,
}

/// Bytes of a segment, in a list that may have room for twice as many.
pub(super) const SEGMENT: usize = 2 * size_of::<Segment>();

impl Shifted<'_> {
    /// The place of the first element of a row.
    fn place(&self, row: usize) -> usize {
        row / self.places.len() * self.plane + self.places[row % self.places.len()]
    }

    /// Writes some rows and columns into panels.
    pub(super) fn copy<T: Term>(&self, token: Token, [rows, columns]: [Range<usize>; 2], out: &mut [T]) {
        let width = at_level!(token, simd => width::<_, T>(simd));
        let segments = self.segments(columns, width);
        let places: Vec<_> = rows.map(|row| self.place(row)).collect();
        at_level!(token, simd => match self.planes {
            Numbers::Singles(all) => copy::<_, Singles, T>(simd, all, &segments, &places, out),
            Numbers::Doubles(all) => copy::<_, Doubles, T>(simd, all, &segments, &places, out),
        });
    }

    /// The elements of some columns, in panels.
    fn segments(&self, columns: Range<usize>, width: usize) -> Vec<Segment> {
        let (mut at, mut segments) = (columns.start, Vec::new());
        while at < columns.end {
            let (panel, column) = ((at - columns.start) / width, (at - columns.start) % width);
            let (line, within) = (at / self.line, at % self.line);
            let count = (self.line - within).min(width - column).min(columns.end - at);
            segments.push(Segment { panel, column, place: self.starts[line] + within, count });
            at += count;
        }
        segments
    }
}

impl<T: Term> Rows<T> for Shifted<'_> {
    fn read(&self, row: usize, column: usize, mut out: &mut [T]) {
        let (first, mut line, mut within) = (self.place(row), column / self.line, column % self.line);
        while !out.is_empty() {
            let (here, rest) = out.split_at_mut(out.len().min(self.line - within));
            self.planes.read(first + self.starts[line] + within, 1, here);
            (out, line, within) = (rest, line + 1, 0);
        }
    }

    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_, T>) {
        let Panels { out, line, rows, token } = panels;
        T::copy(*token, self, [row..row + *rows, column..column + line.len()], out);
    }
}

/// Columns of a panel.
#[inline(always)]
pub(super) fn width<S: Simd, T: Term>(simd: S) -> usize {
    tile::<_, T>(simd).1 * T::Native::<S>::LEN
}

/// Writes the segments of rows, whose first elements lie at some places. Whole vectors are written:
/// what a segment writes after its end, the next one overwrites.
#[inline(always)]
fn copy<S: Simd, E: Source<T>, T: Term>(
    simd: S,
    all: &[E::Element],
    segments: &[Segment],
    places: &[usize],
    out: &mut [T],
) {
    let (lanes, width) = (T::Native::<S>::LEN, width::<S, T>(simd));
    for segments in segments.chunk_by(|a, b| a.panel == b.panel) {
        let panel = &mut out[segments[0].panel * places.len() * width..];
        for k in 0..places.len() {
            for part in segments {
                let count = part.count.next_multiple_of(lanes);
                let from = &all[places[k] + part.place..][..count];
                let to = &mut panel[k * width + part.column..][..count];
                let mut at = 0;
                while at < count {
                    E::terms(simd, &from[at..at + lanes], &mut to[at..at + lanes]);
                    at += lanes;
                }
            }
        }
    }
}
