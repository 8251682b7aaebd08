//! Blocks of factors in the order in which a product reads them.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd};

use super::tiles::tile;
use super::{Numbers, Rows, Sizes, lanes};
use crate::vectors::levels::at_level;

/// Elements that must lie after those of [`Shifted`] planes: whole vectors are read.
pub const SPARE: usize = 8;

/// Packs rows of the first factor in groups of `R` that lie side by side.
pub(super) fn pack<const R: usize>(
    out: &mut [f64],
    [rows, inner]: [usize; 2],
    read: impl Fn(usize, &mut [f64]),
    lines: &mut [f64],
    token: Token,
) {
    let lines = &mut lines[..R * inner];
    for (row, out) in (0..rows).step_by(R).zip(out.chunks_exact_mut(R * inner)) {
        for (at, line) in lines.chunks_exact_mut(inner).take(rows - row).enumerate() {
            read(row + at, line);
        }
        let lines: [&[f64]; R] = std::array::from_fn(|at| &lines[at * inner..][..inner]);
        at_level!(token, simd => turn(simd, lines, out));
    }
}

/// Writes the columns of `R` lines one after the other.
#[inline(always)]
fn turn<S: Simd, const R: usize>(simd: S, lines: [&[f64]; R], out: &mut [f64]) {
    let whole = if S::f64s::LEN == R { lines[0].len() / R * R } else { 0 };
    for (k, out) in (0..whole).step_by(R).zip(out.chunks_exact_mut(R * R)) {
        let mut square = [S::f64s::splat(simd, 0.0); R];
        for row in 0..R {
            square[row] = S::f64s::from_slice(simd, &lines[row][k..k + R]);
        }
        // Each time the rows of either half go between those of the other.
        for _ in 0..R.trailing_zeros() {
            let mut next = square;
            for row in 0..R / 2 {
                (next[2 * row], next[2 * row + 1]) = square[row].interleave(square[row + R / 2]);
            }
            square = next;
        }
        for (column, out) in square.into_iter().zip(out.chunks_exact_mut(R)) {
            column.store_slice(out);
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
pub struct Panels<'a> {
    out: &'a mut [f64],
    line: &'a mut [f64],
    rows: usize,
    token: Token,
}

impl<'a> Panels<'a> {
    /// Empty panels for factors of these sizes.
    pub(super) fn new(out: &'a mut [f64], lines: &'a mut [f64], of: Sizes, token: Token) -> Panels<'a> {
        Panels { out, line: &mut lines[..of.columns], rows: of.inner, token }
    }

    /// Fills each row with what a function writes, which is given its number.
    pub fn fill(&mut self, mut read: impl FnMut(usize, &mut [f64])) {
        let Panels { out, line, rows, token } = self;
        for k in 0..*rows {
            read(k, line);
            at_level!(*token, simd => split(simd, line, [k, *rows], out));
        }
    }

    /// Fills rows with float32 that lie `step` apart.
    pub(super) fn fill_singles(&mut self, all: &[[u8; 4]], step: usize) {
        let Panels { out, line, rows, token } = self;
        at_level!(*token, simd => for k in 0..*rows {
            split(simd, &all[k * step..][..line.len()], [k, *rows], out);
        });
    }
}

/// Elements that vectors of doubles are made of. Loops go over indices: functions of iterators that
/// are not inlined are not compiled for the level.
trait WideElement: Copy {
    /// Writes as many elements as a vector of doubles has.
    fn widen<S: Simd>(simd: S, from: &[Self], to: &mut [f64]);

    fn double(self) -> f64;
}

impl WideElement for f64 {
    #[inline(always)]
    fn widen<S: Simd>(_: S, from: &[f64], to: &mut [f64]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
}

/// Maximum number of lanes of float32.
const SINGLES: usize = 16;

impl WideElement for [u8; 4] {
    #[inline(always)]
    fn widen<S: Simd>(simd: S, from: &[[u8; 4]], to: &mut [f64]) {
        let mut singles = [0.0; SINGLES];
        for at in 0..S::f64s::LEN {
            singles[at] = f32::from_ne_bytes(from[at]);
        }
        let (low, _) = S::f32s::from_slice(simd, &singles[..S::f32s::LEN]).widen();
        low.store_slice(to);
    }

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(f32::from_ne_bytes(self))
    }
}

/// Writes a row: of each panel, the row of that number.
#[inline(always)]
fn split<S: Simd, T: WideElement>(simd: S, line: &[T], [k, rows]: [usize; 2], out: &mut [f64]) {
    let lanes = S::f64s::LEN;
    let vectors = tile(lanes).1;
    let width = vectors * lanes;
    let whole = line.len() / width;
    for panel in 0..whole {
        let (line, out) = (&line[panel * width..][..width], &mut out[(panel * rows + k) * width..][..width]);
        for at in 0..vectors {
            T::widen(simd, &line[at * lanes..][..lanes], &mut out[at * lanes..][..lanes]);
        }
    }
    for at in whole * width..line.len() {
        out[(whole * rows + k - whole) * width + at] = line[at].double();
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

impl Rows for Shifted<'_> {
    fn read(&self, row: usize, column: usize, mut out: &mut [f64]) {
        let (first, mut line, mut within) = (self.place(row), column / self.line, column % self.line);
        while !out.is_empty() {
            let (here, rest) = out.split_at_mut(out.len().min(self.line - within));
            self.planes.read(first + self.starts[line] + within, 1, here);
            (out, line, within) = (rest, line + 1, 0);
        }
    }

    fn pack(&self, row: usize, column: usize, panels: &mut Panels<'_>) {
        let Panels { out, line, rows, token } = panels;
        let width = tile(lanes(*token)).1 * lanes(*token);
        let segments = self.segments(column..column + line.len(), width);
        let places: Vec<_> = (row..row + *rows).map(|row| self.place(row)).collect();
        at_level!(*token, simd => match self.planes {
            Numbers::Singles(all) => copy(simd, all, &segments, &places, out),
            Numbers::Doubles(all) => copy(simd, all, &segments, &places, out),
        });
    }
}

/// Writes the segments of rows, whose first elements lie at some places. Whole vectors are written:
/// what a segment writes after its end, the next one overwrites.
#[inline(always)]
fn copy<S: Simd, T: WideElement>(
    simd: S,
    all: &[T],
    segments: &[Segment],
    places: &[usize],
    out: &mut [f64],
) {
    let lanes = S::f64s::LEN;
    let width = tile(lanes).1 * lanes;
    for segments in segments.chunk_by(|a, b| a.panel == b.panel) {
        let panel = &mut out[segments[0].panel * places.len() * width..];
        for k in 0..places.len() {
            for part in segments {
                let count = part.count.next_multiple_of(lanes);
                let from = &all[places[k] + part.place..][..count];
                let to = &mut panel[k * width + part.column..][..count];
                let mut at = 0;
                while at < count {
                    T::widen(simd, &from[at..at + lanes], &mut to[at..at + lanes]);
                    at += lanes;
                }
            }
        }
    }
}
