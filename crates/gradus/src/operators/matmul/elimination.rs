//! Determinants, inverses, systems of equations and factors of matrices, in float64 and rounded
//! once.

use gradus_core::convert::{i64_of, product};
use gradus_core::{Error, Kind, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::infer::{InferContext, InferResult};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::op::EvalContext;
use crate::operators::errors;
use crate::operators::matmul::eval::Product;
use crate::operators::matmul::infer;
use crate::operators::nn::decomposed::{like, number, unsupported, widened};
use crate::operators::nn::infer::of;

/// Makes the numbers below the diagonal zeros, by the rows with the largest pivots, and does the
/// same to the rows of `right`, so many columns wide. Returns the determinant; at a pivot of zero,
/// it ends.
fn eliminate(
    cx: &EvalContext<'_>,
    matrix: &mut [f64],
    rows: usize,
    right: &mut [f64],
    columns: usize,
) -> Result<f64> {
    let mut det = 1.0;
    for k in 0..rows {
        cx.limits().check()?;
        let pivot =
            (k..rows).max_by(|&i, &j| matrix[i * rows + k].abs().total_cmp(&matrix[j * rows + k].abs()));
        let pivot = pivot.unwrap_or(k);
        if pivot != k {
            (0..rows).for_each(|j| matrix.swap(k * rows + j, pivot * rows + j));
            (0..columns).for_each(|j| right.swap(k * columns + j, pivot * columns + j));
            det = -det;
        }
        let largest = matrix[k * rows + k];
        det *= largest;
        if largest == 0.0 {
            break;
        }
        for i in k + 1..rows {
            let factor = matrix[i * rows + k] / largest;
            (k..rows).for_each(|j| matrix[i * rows + j] -= factor * matrix[k * rows + j]);
            (0..columns).for_each(|j| right[i * columns + j] -= factor * right[k * columns + j]);
        }
    }
    Ok(det)
}

/// A triangular matrix, read from one half of a square of so many rows.
struct Triangle<'a> {
    numbers: &'a [f64],
    rows: usize,
    upper: bool,
    transposed: bool,
    /// The diagonal is ones, whatever the square has there.
    unit: bool,
}

impl Triangle<'_> {
    fn at(&self, row: usize, column: usize) -> f64 {
        let (row, column) = if self.transposed { (column, row) } else { (row, column) };
        self.numbers[row * self.rows + column]
    }

    /// Solves the system for the columns of the right side, in place.
    fn solve(&self, cx: &EvalContext<'_>, right: &mut [f64], columns: usize) -> Result<()> {
        let last_first = self.upper != self.transposed;
        for step in 0..self.rows {
            cx.limits().check()?;
            let (row, known) = if last_first {
                let row = self.rows - 1 - step;
                (row, row + 1..self.rows)
            } else {
                (step, 0..step)
            };
            for j in 0..columns {
                let sum: f64 = known.clone().map(|k| self.at(row, k) * right[k * columns + j]).sum();
                let rest = right[row * columns + j] - sum;
                right[row * columns + j] = if self.unit { rest } else { rest / self.at(row, row) };
            }
        }
        Ok(())
    }
}

fn singular(what: &str) -> Error {
    Error::mismatch(Kind::Value, format_args!("cannot {what}: the matrix"), "singular", "one with an inverse")
}

/// The sizes of square matrices: how many there are, and their rows.
fn squares(cx: &mut EvalContext<'_>, input: usize) -> Result<(usize, usize)> {
    let dims = cx.tensor(input)?.shape().dims();
    let &[ref before @ .., rows, columns] = dims else {
        return Err(errors::rank(cx.label(input), dims.len(), "at least 2"));
    };
    if rows != columns {
        return Err(errors::shape(format_args!("{}: number of columns", cx.label(input)), columns, rows));
    }
    let count = before.iter().product::<usize>();
    cx.run.touch(product(count * rows, rows).saturating_mul(product(rows, 1)))?;
    Ok((count, rows))
}

/// The determinants of matrices.
pub(crate) fn det(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (count, rows) = squares(cx, 0)?;
    let mut numbers = cx.floats(0)?;
    cx.reserve(product(count, size_of::<f64>()))?;
    let mut determinants = vec![1.0; count];
    for (matrix, det) in numbers.chunks_mut((rows * rows).max(1)).zip(&mut determinants) {
        *det = eliminate(cx, matrix, rows, &mut [], 0)?;
    }
    Ok(vec![cx.rounded(0, &determinants)?])
}

/// The inverses of matrices; with `adjoint`, transposed.
pub(crate) fn inverse(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let adjoint = attributes.flag("adjoint", false)?;
    let (_, rows) = squares(cx, 0)?;
    let mut numbers = cx.floats(0)?;
    let mut inverses = cx.floats(0)?;
    let size = (rows * rows).max(1);
    for (matrix, inverse) in numbers.chunks_mut(size).zip(inverses.chunks_mut(size)) {
        inverse.iter_mut().enumerate().for_each(|(at, x)| *x = f64::from(at / rows == at % rows));
        if eliminate(cx, matrix, rows, inverse, rows)? == 0.0 {
            return Err(singular("invert"));
        }
        let upper = Triangle { numbers: matrix, rows, upper: true, transposed: false, unit: false };
        upper.solve(cx, inverse, rows)?;
        if adjoint {
            (0..rows).for_each(|i| (0..i).for_each(|j| inverse.swap(i * rows + j, j * rows + i)));
        }
    }
    Ok(vec![cx.rounded(0, &inverses)?])
}

/// Returns true if the right sides of systems are vectors: one, or one for each matrix.
pub(crate) fn are_vectors<T: PartialEq>(matrices: &[T], right: &[T]) -> bool {
    right.len() == 1 || matrices.split_last().is_some_and(|(_, rows)| rows == right)
}

/// Solutions of systems: the first input has the matrices, the second the right sides, as factors
/// of a product have.
fn solved(
    cx: &mut EvalContext<'_>,
    mut solve: impl FnMut(&EvalContext<'_>, &mut [f64], usize, &mut [f64], usize) -> Result<()>,
) -> Result<Vec<Value>> {
    let (_, rows) = squares(cx, 0)?;
    let (a, mut right) = (cx.tensor(0)?, cx.tensor(1)?.shape().dims().to_vec());
    if are_vectors(a.shape().dims(), &right) {
        right.push(1);
    }
    let Product { pairs, .. } = Product::new(cx, a.dtype(), a.shape().dims(), &right)?;
    let columns = right.last().copied().unwrap_or(1);
    cx.run.touch(product(pairs.len() * rows, rows).saturating_mul(product(rows + columns, 1)))?;
    let (matrices, sides) = (cx.floats(0)?, cx.floats(1)?);
    let mut results = Vec::with_capacity(pairs.len() * rows * columns);
    for (of_a, of_b) in pairs {
        let mut matrix = matrices[of_a * rows * rows..][..rows * rows].to_vec();
        let mut right = sides[of_b * rows * columns..][..rows * columns].to_vec();
        solve(cx, &mut matrix, rows, &mut right, columns)?;
        results.extend(right);
    }
    Ok(vec![cx.rounded(0, &results)?])
}

/// `solve` of Paddle.
pub(crate) fn solve(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    solved(cx, |cx, matrix, rows, right, columns| {
        if eliminate(cx, matrix, rows, right, columns)? == 0.0 {
            return Err(singular("solve"));
        }
        let upper = Triangle { numbers: matrix, rows, upper: true, transposed: false, unit: false };
        upper.solve(cx, right, columns)
    })
}

/// `triangular_solve` of Paddle.
pub(crate) fn solve_triangle(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (upper, transposed) = (attributes.flag("upper", true)?, attributes.flag("transpose", false)?);
    let unit = attributes.flag("unitriangular", false)?;
    solved(cx, |cx, numbers, rows, right, columns| {
        Triangle { numbers, rows, upper, transposed, unit }.solve(cx, right, columns)
    })
}

/// `cholesky` of Paddle: a triangular matrix whose product with its transpose is the input.
pub(crate) fn cholesky(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let upper = attributes.flag("upper", false)?;
    let (_, rows) = squares(cx, 0)?;
    let numbers = cx.floats(0)?;
    let mut factors = vec![0.0; numbers.len()];
    let size = (rows * rows).max(1);
    for (matrix, factor) in numbers.chunks(size).zip(factors.chunks_mut(size)) {
        let place = |row: usize, column: usize| if upper { column * rows + row } else { row * rows + column };
        for i in 0..rows {
            cx.limits().check()?;
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| factor[place(i, k)] * factor[place(j, k)]).sum();
                let rest = matrix[place(i, j)] - sum;
                factor[place(i, j)] = if i != j {
                    rest / factor[place(j, j)]
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    let what = "cannot factor by Cholesky: the matrix";
                    return Err(Error::mismatch(
                        Kind::Value,
                        what,
                        "another",
                        "one that is positive definite",
                    ));
                };
            }
        }
    }
    Ok(vec![cx.rounded(0, &factors)?])
}

/// Most rows of matrices whose determinant is written step by step.
const MOST_ROWS: usize = 32;

/// `Det` as a graph: a step of elimination for each row, by the row with the largest pivot.
pub(crate) fn det_by_steps(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let &[.., rows, columns] = l.dims_of(0)? else {
        return Err(errors::rank("input 0", l.rank_of(0)?, "at least 2"));
    };
    let size = rows.or(columns).ok_or_else(|| not_known("number of rows of Det".to_owned()))?;
    if !(1..=MOST_ROWS).contains(&size) {
        return Err(unsupported(&format!("Det of matrices of {size} rows")));
    }
    let (x, (zero, one)) = (widened(l, 0)?, (number(l, 0.0)?, number(l, 1.0)?));
    let (minus, first) = (number(l, -1.0)?, l.constant(Tensor::scalar(0i64))?);
    let batch = l.apply("Shape", &[x], &[int("start", 0), int("end", -2)])?;
    let mut rest = l.reshape(x, &[-1, i64_of(size), i64_of(size)])?;
    let mut det = None;
    for left in (1..=i64_of(size)).rev() {
        // The pivot, in the row with the largest element of the first column.
        let column = l.apply("Gather", &[rest, first], &[int("axis", 2)])?;
        let sizes = l.apply("Abs", &[column], &[])?;
        let place = l.apply("ArgMax", &[sizes], &[int("axis", 1)])?;
        let pivot = l.apply("GatherElements", &[column, place], &[int("axis", 1)])?;
        det = Some(match det {
            Some(det) => l.apply("Mul", &[det, pivot], &[])?,
            None => pivot,
        });
        if left == 1 {
            break;
        }
        // It changes places with the first row, which changes the sign.
        let (last, wide) = (l.list(&[2])?, l.list(&[1, 1, left])?);
        let of_row = l.apply("Unsqueeze", &[place, last], &[])?;
        let of_row = l.apply("Expand", &[of_row, wide], &[])?;
        let row = l.apply("GatherElements", &[rest, of_row], &[int("axis", 1)])?;
        let moves = l.apply("Greater", &[place, first], &[])?;
        let sign = l.apply("Where", &[moves, minus, one], &[])?;
        det = det.map(|det| l.apply("Mul", &[det, sign], &[])).transpose()?;
        let numbers = l.list(&(1..left).collect::<Vec<_>>())?;
        let is_row = l.apply("Equal", &[numbers, place], &[])?;
        let is_row = l.apply("Unsqueeze", &[is_row, last], &[])?;
        let zeroth = l.list(&[0])?;
        let top = l.apply("Gather", &[rest, zeroth], &[int("axis", 1)])?;
        let below = l.apply("Gather", &[rest, numbers], &[int("axis", 1)])?;
        let below = l.apply("Where", &[is_row, top, below], &[])?;
        // A pivot of 0 makes the determinant 0, whatever it divides.
        let none = l.apply("Equal", &[pivot, zero], &[])?;
        let divisor = l.apply("Where", &[none, one, pivot], &[])?;
        let divisor = l.apply("Unsqueeze", &[divisor, last], &[])?;
        let lead = l.apply("Gather", &[below, zeroth], &[int("axis", 2)])?;
        let factor = l.apply("Div", &[lead, divisor], &[])?;
        let (row, below) = (
            l.apply("Gather", &[row, numbers], &[int("axis", 2)])?,
            l.apply("Gather", &[below, numbers], &[int("axis", 2)])?,
        );
        let taken = l.apply("Mul", &[factor, row], &[])?;
        rest = l.apply("Sub", &[below, taken], &[])?;
    }
    let det = l.apply("Reshape", &[det.unwrap_or(one), batch], &[])?;
    Ok(vec![like(l, det, 0)?])
}

/// As the first input, of square matrices.
pub(crate) fn square(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let &[.., rows, columns] = &dims[..] else {
        return Err(errors::rank("input 0", dims.len(), "at least 2").into());
    };
    cx.equal(rows, columns, "number of columns of a square matrix")?;
    Ok(vec![of(cx.dtype(0), dims)])
}

/// As the product of the inputs, of which the first is square.
pub(crate) fn solution(cx: &mut InferContext<'_, '_>) -> InferResult {
    square(cx)?;
    let (a, mut b) = (cx.dims(0)?, cx.dims(1)?.to_vec());
    let vectors = are_vectors(&a, &b);
    if vectors {
        b.push(Dim::ONE);
    }
    let mut dims = infer::product(cx, &a, &b)?;
    dims.truncate(dims.len() - usize::from(vectors));
    Ok(vec![of(cx.dtype(0), dims)])
}
