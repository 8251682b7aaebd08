//! Products whose sums are not added in float64 one after the other.

use bytemuck::Pod;
use gradus_core::Result;

use super::{Product, Results, Rows, Sizes, Term};
use crate::options::Options;
use crate::sums::{Destination, SumType, Sums};
use crate::threads::share;
use crate::vectors::sums::{Blocks, COLUMNS, INNER, ROWS};
use crate::with_accumulator;

/// Multiplies pairs of matrices as [`multiply`](super::multiply) does, adding as asked: see
/// [`Sums::term`].
///
/// # Errors
/// Errors of `check`, the first one.
///
/// # Panics
/// If `out` has not as many elements as the results, or a factor has not as many as the sizes say.
pub fn multiply_with<R: Pod>(
    how: (Sums, Destination),
    products: &[Product<'_>],
    sizes: Sizes,
    out: &mut [R],
    options: Options,
    check: impl Fn() -> Result<()> + Sync,
    store: impl Fn(usize, usize, usize, &[f64], &mut [R]) + Sync,
) -> Result<()> {
    Results::erased(out, check, store, |results| multiply_into(how, products, sizes, results, options))
}

/// See [`multiply_with`].
fn multiply_into(
    (sums, to): (Sums, Destination),
    products: &[Product<'_>],
    sizes: Sizes,
    results: Results<'_>,
    options: Options,
) -> Result<()> {
    match sums.term(to, products.iter().all(|product| product.exact)) {
        Some(SumType::Double) => return f64::multiply(products, sizes, results, options),
        Some(SumType::Single) => return f32::multiply(products, sizes, results, options),
        None if results.out.is_empty() => return Ok(()),
        None => {}
    }
    let Results { out, width, check, store } = results;
    let mut parts = Vec::new();
    for (matrix, out) in out.chunks_mut(sizes.rows * sizes.columns * width).enumerate() {
        let rows = out.chunks_mut(ROWS * sizes.columns * width).enumerate();
        parts.extend(rows.map(|(at, out)| (matrix, at * ROWS, out)));
    }
    let part = |(): &mut (), (matrix, row, out): (usize, usize, &mut [u8])| {
        let rows = out.len() / (sizes.columns * width);
        for column in (0..sizes.columns).step_by(COLUMNS) {
            let of = Sizes { rows, columns: COLUMNS.min(sizes.columns - column), ..sizes };
            let totals = with_accumulator!(sums, to, A => {
                products[matrix].added::<A>([row, column], of, to, options, check)?
            });
            for (at, totals) in totals.chunks(of.columns).enumerate() {
                let out = &mut out[(at * sizes.columns + column) * width..][..of.columns * width];
                store(matrix, row + at, column, totals, out);
            }
        }
        Ok(())
    };
    share(parts.into_iter(), options, || (), part)
}

impl Product<'_> {
    /// The sums of a block.
    fn added<A: Blocks>(
        &self,
        [row, column]: [usize; 2],
        of: Sizes,
        to: Destination,
        options: Options,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<f64>> {
        let mut sums = vec![A::default(); of.rows * of.columns];
        let mut a = vec![0.0; of.rows * of.inner.min(INNER)];
        let mut b = vec![0.0; of.inner.min(INNER) * COLUMNS];
        for first in (0..of.inner).step_by(INNER) {
            check()?;
            let inner = INNER.min(of.inner - first);
            let (a, b) = (&mut a[..of.rows * inner], &mut b[..inner * COLUMNS]);
            a.chunks_mut(inner).enumerate().for_each(|(at, a)| Rows::<f64>::read(self.a, row + at, first, a));
            for (k, b) in b.chunks_mut(COLUMNS).enumerate() {
                self.b.read(first + k, column, &mut b[..of.columns]);
            }
            A::add_block(sums.chunks_exact_mut(of.columns), a, b, options.token());
        }
        let total = |sum: &A| {
            let total = sum.total(to);
            // Negative zeros sum up to zero.
            if total.is_nan() { f64::NAN } else { total + 0.0 }
        };
        Ok(sums.iter().map(total).collect())
    }
}
