//! Factors of float32 in the order in which products read them, packed once for many products.

use std::sync::atomic::{AtomicUsize, Ordering};

use gradus_core::Result;
use gradus_core::convert::product;

use super::{LINE_BYTES, Sizes, Term, pack, tiles};
use crate::options::Options;
use crate::sums::SumType;
use crate::vectors::levels::{Token, at_level};

/// The place of a factor in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first factor, of which groups of rows are packed.
    First,
    /// The second factor, of which panels of columns are packed.
    Second,
}

/// The matrices of a factor in its elements, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    side: Side,
    matrices: usize,
    /// The size that is summed.
    inner: usize,
    /// The other size: rows of a first factor, columns of a second one.
    across: usize,
    /// Elements from one to the next along the axis that is summed, and across it.
    steps: [usize; 2],
}

impl Layout {
    /// The layout of matrices, `steps` apart from a row and from a column to the next one, as a
    /// factor of products of these sizes; nothing if their result has so few rows that nothing is
    /// packed.
    pub fn new(side: Side, matrices: usize, sizes: Sizes, [row, column]: [usize; 2]) -> Option<Layout> {
        let Sizes { rows, inner, columns } = sizes;
        let (across, steps) = match side {
            Side::First => (rows, [column, row]),
            Side::Second => (columns, [row, column]),
        };
        (!sizes.few()).then_some(Layout { side, matrices, inner, across, steps })
    }
}

/// Matrices of a factor, packed for sums of a type at the level of the processor.
#[derive(Debug)]
pub struct PackedFactor {
    layout: Layout,
    sums: SumType,
    /// Rows of a group, or columns of a panel.
    group: usize,
    bytes: usize,
    /// The first element, which begins a line of memory: vectors cross no line.
    start: usize,
    elements: Vec<f32>,
}

/// Elements of a line of memory.
const LINE: usize = LINE_BYTES / size_of::<f32>();

/// Bytes that packed factors hold.
static HELD: AtomicUsize = AtomicUsize::new(0);

impl Drop for PackedFactor {
    fn drop(&mut self) {
        HELD.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The sizes of a block: terms, and rows of a group or columns of a panel.
fn sizes(side: Side, sums: SumType, token: Token) -> [usize; 2] {
    match sums {
        SumType::Double => [f64::INNER, group::<f64>(side, token)],
        SumType::Single => [f32::INNER, group::<f32>(side, token)],
    }
}

/// Rows of a group, or columns of a panel, at a level.
fn group<T: Term>(side: Side, token: Token) -> usize {
    match side {
        Side::First => tiles::rows::<T>(token),
        Side::Second => at_level!(token, simd => pack::width::<_, T>(simd)),
    }
}

impl PackedFactor {
    /// Packs a factor of float32 that has the elements of its layout; nothing if packing
    /// would add more than a quarter to their number, if all packed factors of the process would hold
    /// more than `most` bytes, or if there is no memory. `check` is called from time to time.
    ///
    /// # Errors
    /// Errors of `check`.
    pub fn new(
        all: &[[u8; 4]],
        layout: Layout,
        sums: SumType,
        options: Options,
        most: u64,
        check: impl Fn() -> Result<()>,
    ) -> Result<Option<PackedFactor>> {
        let Layout { side, matrices, inner, across, steps } = layout;
        let [block, group] = sizes(side, sums, options.token());
        let each = inner * across;
        let padded = across.next_multiple_of(group);
        if each == 0 || all.len() != matrices * each || padded - across > across / 4 {
            return Ok(None);
        }
        let count = matrices * inner * padded + LINE;
        let bytes = count * size_of::<f32>();
        let held = |held: usize| held.checked_add(bytes).filter(|&all| product(all, 1) <= most.into());
        if HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, held).is_err() {
            return Ok(None);
        }
        let mut packed = PackedFactor { layout, sums, group, bytes, start: 0, elements: Vec::new() };
        let PackedFactor { start, elements, .. } = &mut packed;
        if elements.try_reserve_exact(count).is_err() {
            return Ok(None);
        }
        *start = elements.as_ptr().align_offset(LINE_BYTES).min(LINE);
        elements.resize(*start, 0.0);
        for all in all.chunks(each) {
            for first in (0..inner).step_by(block) {
                check()?;
                for from in (0..across).step_by(group) {
                    for k in first..inner.min(first + block) {
                        let line = &all[k * steps[0] + from * steps[1]..];
                        let count = group.min(across - from);
                        elements.extend((0..count).map(|at| f32::from_ne_bytes(line[at * steps[1]])));
                        elements.extend((count..group).map(|_| 0.0));
                    }
                }
            }
        }
        Ok(Some(packed))
    }

    /// Returns true if the factor is packed so, for sums of that type at the level of the options.
    pub fn is(&self, layout: Layout, sums: SumType, options: Options) -> bool {
        let [_, group] = sizes(layout.side, sums, options.token());
        (self.layout, self.sums, self.group) == (layout, sums, group)
    }

    /// A block of a matrix: `inner` terms from one on that begins a block of terms, of `count` rows
    /// or columns from one on.
    pub(super) fn block<T: Term>(
        &self,
        token: Token,
        matrix: usize,
        side: Side,
        [first, from]: [usize; 2],
        [inner, count]: [usize; 2],
    ) -> Option<&[f32]> {
        let fits = self.sums == T::SUMS && self.layout.side == side && self.group == group::<T>(side, token);
        let padded = self.layout.across.next_multiple_of(self.group);
        let start = self.start + (matrix * self.layout.inner + first) * padded + from * inner;
        (fits && from.is_multiple_of(self.group))
            .then(|| &self.elements[start..][..count.next_multiple_of(self.group) * inner])
    }
}
