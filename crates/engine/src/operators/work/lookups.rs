//! Operations of pools whose windows follow from sizes, of sums of rows of tables, and of searches.

use super::Shapes;
use crate::dim::Dim;

impl Shapes<'_> {
    /// The elements of all windows. Window `i` of `m` on an axis of `n` elements goes from
    /// `floor(i*n/m)` to `ceil((i + 1)*n/m)`, so each of the `m - 1` bounds within the axis that is
    /// no integer adds an element. A size that is not known counts as one that divides none of
    /// them.
    pub fn adaptive_pool(&mut self) -> Option<Dim> {
        let (input, output) = (self.input(0)?, self.output()?);
        let mut all = self.product(output.get(..2)?, &[])?;
        for (&before, &after) in input.iter().zip(output.iter()).skip(2) {
            let shared = match (before.known(), after.known()) {
                _ if after == Dim::ONE => Dim::ONE,
                _ if before == after => after,
                (Some(before), Some(after)) => Dim::Known(common_divisor(before, after)),
                _ => Dim::ONE,
            };
            let sum = self.symbols.add(before, after)?;
            let elements = self.symbols.subtract(sum, shared)?;
            all = self.symbols.multiply(all, elements)?;
        }
        Some(all)
    }

    /// A row of the table for each index: MACs where it is scaled, operations otherwise.
    pub fn bags(&mut self, weights: usize) -> Option<(Dim, Dim)> {
        let (table, indices) = (self.input(0)?, self.input(1)?);
        let rows = self.product(&indices, table.get(1..)?)?;
        Some(if self.has(weights) { (rows, Dim::ZERO) } else { (Dim::ZERO, rows) })
    }

    /// Comparisons of a binary search: the logarithm of one more than the elements, rounded up.
    pub fn search(&mut self, table: usize, values: usize) -> Option<Dim> {
        let (table, values) = (self.input(table)?, self.input(values)?);
        let len = u64::try_from(table.last()?.known()?).ok()?;
        self.scaled(&values, i64::from(u64::BITS - len.leading_zeros()))
    }
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
