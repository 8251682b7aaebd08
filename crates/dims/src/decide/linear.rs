//! Systems of linear inequalities, decided in exact arithmetic.
//!
//! A system `A*x + k >= 0` has no rational solution if and only if rows can be added, each a number
//! of times that is not negative, to `0*x - 1 >= 0`. The numbers are found by the first phase of
//! the simplex method; where there are none, its dual is a solution of the system. All entries of
//! the tableau are integers over one denominator, the last pivot, so that none is ever rounded.

/// The outcome for a system.
pub(super) enum Found {
    /// The system has no solution.
    Nothing,
    /// A solution: numerators over one denominator above zero.
    Point(Vec<i128>, i128),
    /// The numbers do not fit, or the search is too long.
    TooLarge,
}

/// The maximum number of pivots of a search.
const MAX_PIVOTS: usize = 400;

/// Pivots after which none may be made again.
const MANY_PIVOTS: usize = 150;

/// An inequality: coefficients of unknowns by their index, and the number that is added.
pub(super) struct Row {
    pub(super) terms: Vec<(usize, i64)>,
    pub(super) constant: i64,
}

/// Decides a system of `unknowns` unknowns.
pub(super) fn solve(system: &[Row], unknowns: usize) -> Found {
    Tableau::new(system, unknowns).solve().unwrap_or(Found::TooLarge)
}

/// The tableau of the sums of rows: for each unknown a line, whose sum must be 0, and a line of the
/// constants, whose sum must be -1. The columns are the rows of the system, then an artificial one
/// for each line, then the right side.
struct Tableau {
    lines: Vec<Vec<i128>>,
    /// Reduced costs: the sum of the artificial columns is what the search minimizes.
    cost: Vec<i128>,
    basis: Vec<usize>,
    rows: usize,
    denominator: i128,
}

impl Tableau {
    fn new(system: &[Row], unknowns: usize) -> Tableau {
        let (rows, height) = (system.len(), unknowns + 1);
        let width = rows + height + 1;
        let mut lines = vec![vec![0i128; width]; height];
        for (column, row) in system.iter().enumerate() {
            for &(unknown, coefficient) in &row.terms {
                lines[unknown][column] += i128::from(coefficient);
            }
            lines[unknowns][column] = -i128::from(row.constant);
        }
        for (line, entries) in lines.iter_mut().enumerate() {
            entries[rows + line] = 1;
        }
        lines[unknowns][width - 1] = 1;
        let mut cost = vec![0i128; width];
        for (column, entry) in cost.iter_mut().enumerate() {
            if !(rows..rows + height).contains(&column) {
                *entry = -lines.iter().map(|line| line[column]).sum::<i128>();
            }
        }
        Tableau { lines, cost, basis: (rows..rows + height).collect(), rows, denominator: 1 }
    }

    fn solve(mut self) -> Option<Found> {
        let last = self.cost.len() - 1;
        for pivots in 0..MAX_PIVOTS {
            // The column that lowers the cost most; after many pivots the first one, so that no
            // basis comes twice.
            let mut lower = (0..self.rows).filter(|&column| self.cost[column] < 0);
            let column = if pivots < MANY_PIVOTS {
                lower.min_by_key(|&column| self.cost[column])
            } else {
                lower.next()
            };
            let Some(column) = column else {
                if self.cost[last] == 0 {
                    return Some(Found::Nothing);
                }
                return Some(self.point());
            };
            let mut leaving: Option<usize> = None;
            for (line, entries) in self.lines.iter().enumerate() {
                if entries[column] <= 0 {
                    continue;
                }
                let is_less = match leaving {
                    None => true,
                    Some(other) => {
                        let own = entries[last].checked_mul(self.lines[other][column])?;
                        let others = self.lines[other][last].checked_mul(entries[column])?;
                        own < others || (own == others && self.basis[line] < self.basis[other])
                    }
                };
                if is_less {
                    leaving = Some(line);
                }
            }
            // The cost is never below zero, so that a line leaves.
            self.pivot(leaving?, column)?;
        }
        None
    }

    fn pivot(&mut self, line: usize, column: usize) -> Option<()> {
        let pivot = self.lines[line][column];
        let pivoted = std::mem::take(&mut self.lines[line]);
        let denominator = self.denominator;
        let eliminate = |entries: &mut Vec<i128>| {
            let factor = entries[column];
            for (entry, &of_pivot) in entries.iter_mut().zip(&pivoted) {
                if factor != 0 || pivot != denominator {
                    let taken = factor.checked_mul(of_pivot)?;
                    *entry = entry.checked_mul(pivot)?.checked_sub(taken)? / denominator;
                }
            }
            Some(())
        };
        for (other, entries) in self.lines.iter_mut().enumerate() {
            if other != line {
                eliminate(entries)?;
            }
        }
        eliminate(&mut self.cost)?;
        self.lines[line] = pivoted;
        self.basis[line] = column;
        self.denominator = pivot;
        Some(())
    }

    /// The solution that the dual gives: how far the cost of the artificial column of each line
    /// fell.
    fn point(&self) -> Found {
        let height = self.lines.len();
        let dual = |line: usize| self.denominator - self.cost[self.rows + line];
        // The cost that is left is that of the line of constants.
        let under = dual(height - 1);
        let over: Vec<_> = (0..height - 1).map(|line| -dual(line)).collect();
        match under {
            1.. => Found::Point(over, under),
            _ => Found::TooLarge,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(terms: &[i64], constant: i64) -> Row {
        Row { terms: terms.iter().copied().enumerate().collect(), constant }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// A point meets all inequalities, and a system that an integer point meets has one.
        #[test]
        fn points_are_solutions_and_none_is_missed(
            rows in prop::collection::vec((prop::array::uniform3(-4i64..5), -6i64..7), 1..8),
            point in prop::array::uniform3(-5i64..6),
        ) {
            let system: Vec<_> = rows.iter().map(|(terms, constant)| row(terms, *constant)).collect();
            let met = |terms: &[i64; 3], constant: i64| {
                terms.iter().zip(&point).map(|(a, x)| a * x).sum::<i64>() + constant >= 0
            };
            match solve(&system, 3) {
                Found::Nothing => prop_assert!(!rows.iter().all(|(terms, constant)| met(terms, *constant))),
                Found::Point(over, under) => for (terms, constant) in &rows {
                    let sum: i128 = terms.iter().zip(&over).map(|(a, x)| i128::from(*a) * x).sum();
                    prop_assert!(sum + i128::from(*constant) * under >= 0);
                },
                Found::TooLarge => prop_assert!(false, "too large"),
            }
        }
    }
}
