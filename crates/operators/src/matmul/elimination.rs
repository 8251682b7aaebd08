//! Determinants, inverses, systems of equations and factors of matrices, in float64 and rounded
//! once.

use gradus_core::convert::{float_of, i64_of, product, usize_of_i64};
use gradus_core::{DType, Error, Kind, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::errors;
use crate::fact::Fact;
use crate::graphs::{like, number, unsupported, widened};
use crate::infer::{InferContext, InferResult};
use crate::lowering::terms::{f, pick, with};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
use crate::matmul::eval::Product;
use crate::matmul::{infer, orthogonal};
use crate::op::EvalContext;

/// The steps of an elimination.
struct EliminationSteps {
    /// The row with which that of each step changed places: the first with the largest element.
    pivots: Vec<usize>,
    /// The first step whose pivot was zero.
    stuck: Option<usize>,
}

impl EliminationSteps {
    /// The determinant of a square that was factored.
    fn det(&self, matrix: &[f64], rows: usize) -> f64 {
        if self.stuck.is_some() {
            return 0.0;
        }
        let signed = |det: f64, (k, &pivot): (usize, &usize)| {
            let det = if pivot == k { det } else { -det };
            det * matrix[k * rows + k]
        };
        self.pivots.iter().enumerate().fold(1.0, signed)
    }
}

/// Makes an upper triangle by the rows with the largest pivots. Below it, in place of zeros, are
/// the multiples of rows that were subtracted.
fn factored(
    cx: &EvalContext<'_>,
    matrix: &mut [f64],
    [rows, columns]: [usize; 2],
) -> Result<EliminationSteps> {
    let mut steps = EliminationSteps { pivots: Vec::with_capacity(rows.min(columns)), stuck: None };
    for k in 0..rows.min(columns) {
        cx.limits().check()?;
        let size = |i: usize| matrix[i * columns + k].abs();
        let larger = |best: usize, i: usize| if size(i).total_cmp(&size(best)).is_gt() { i } else { best };
        let pivot = (k + 1..rows).fold(k, larger);
        steps.pivots.push(pivot);
        if pivot != k {
            (0..columns).for_each(|j| matrix.swap(k * columns + j, pivot * columns + j));
        }
        let largest = matrix[k * columns + k];
        if largest == 0.0 {
            steps.stuck = steps.stuck.or(Some(k));
            continue;
        }
        for i in k + 1..rows {
            let factor = matrix[i * columns + k] / largest;
            matrix[i * columns + k] = factor;
            (k + 1..columns).for_each(|j| matrix[i * columns + j] -= factor * matrix[k * columns + j]);
        }
    }
    Ok(steps)
}

/// Factors a square, and does to the rows of `right`, `columns` columns wide, as to its own. A
/// matrix without an inverse is an error.
fn eliminate(
    cx: &EvalContext<'_>,
    what: &str,
    matrix: &mut [f64],
    rows: usize,
    right: &mut [f64],
    columns: usize,
) -> Result<()> {
    let steps = factored(cx, matrix, [rows, rows])?;
    if steps.stuck.is_some() {
        let what = format_args!("cannot {what}: the matrix");
        return Err(Error::mismatch(Kind::Value, what, "singular", "one with an inverse"));
    }
    for (k, &pivot) in steps.pivots.iter().enumerate().filter(|&(k, &pivot)| k != pivot) {
        (0..columns).for_each(|j| right.swap(k * columns + j, pivot * columns + j));
    }
    for k in 0..rows {
        cx.limits().check()?;
        for i in k + 1..rows {
            let factor = matrix[i * rows + k];
            (0..columns).for_each(|j| right[i * columns + j] -= factor * right[k * columns + j]);
        }
    }
    Ok(())
}

/// A triangular matrix, read from one half of a square.
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

/// The sizes of square matrices: how many there are, and their rows.
pub(super) fn squares(cx: &mut EvalContext<'_>, input: usize) -> Result<(usize, usize)> {
    let dims = cx.tensor(input)?.shape().dims();
    let &[ref before @ .., rows, columns] = dims else {
        return Err(errors::rank(cx.label(input), dims.len(), "at least 2"));
    };
    errors::expect_shape(format_args!("{}: number of columns", cx.label(input)), columns, rows)?;
    let count = before.iter().product::<usize>();
    cx.run.touch(product(count * rows, rows).saturating_mul(product(rows, 1)))?;
    Ok((count, rows))
}

/// The determinants of matrices.
pub fn det(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (count, rows) = squares(cx, 0)?;
    let mut numbers = cx.floats(0)?;
    cx.reserve(product(count, size_of::<f64>()))?;
    let mut determinants = vec![1.0; count];
    for (matrix, det) in numbers.chunks_mut((rows * rows).max(1)).zip(&mut determinants) {
        *det = factored(cx, matrix, [rows, rows])?.det(matrix, rows);
    }
    Ok(vec![cx.rounded(0, &determinants)?])
}

/// The inverses of matrices; with `adjoint`, transposed.
pub fn inverse(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let adjoint = attributes.flag("adjoint", false)?;
    let (_, rows) = squares(cx, 0)?;
    let mut numbers = cx.floats(0)?;
    let mut inverses = cx.floats(0)?;
    let size = (rows * rows).max(1);
    for (matrix, inverse) in numbers.chunks_mut(size).zip(inverses.chunks_mut(size)) {
        inverse.iter_mut().enumerate().for_each(|(at, x)| *x = f64::from(at / rows == at % rows));
        eliminate(cx, "invert", matrix, rows, inverse, rows)?;
        let upper = Triangle { numbers: matrix, rows, upper: true, transposed: false, unit: false };
        upper.solve(cx, inverse, rows)?;
        if adjoint {
            (0..rows).for_each(|i| (0..i).for_each(|j| inverse.swap(i * rows + j, j * rows + i)));
        }
    }
    Ok(vec![cx.rounded(0, &inverses)?])
}

/// Returns true if the right sides of systems are vectors: one, or one for each matrix.
pub fn are_vectors<T: PartialEq>(matrices: &[T], right: &[T]) -> bool {
    right.len() == 1 || matrices.split_last().is_some_and(|(_, rows)| rows == right)
}

/// Solutions of systems: one input has the matrices, the other the right sides, as factors of a
/// product have. Right sides that come first are matrices.
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
fn solved(
    cx: &mut EvalContext<'_>,
    [of_matrices, of_sides]: [usize; 2],
    mut solve: impl FnMut(&EvalContext<'_>, &mut [f64], usize, &mut [f64], usize) -> Result<()>,
) -> Result<Vec<Value>> {
    let (_, rows) = squares(cx, of_matrices)?;
    let (a, mut right) = (cx.tensor(of_matrices)?, cx.tensor(of_sides)?.shape().dims().to_vec());
    if of_sides > 0 && are_vectors(a.shape().dims(), &right) {
        right.push(1);
    }
    let Product { pairs, .. } = Product::new(cx, a.dtype(), a.shape().dims(), &right)?;
    let columns = right.last().copied().unwrap_or(1);
    cx.run.touch(product(pairs.len() * rows, rows).saturating_mul(product(rows + columns, 1)))?;
    let (matrices, sides) = (cx.floats(of_matrices)?, cx.floats(of_sides)?);
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
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub fn solve(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    solved(cx, [0, 1], |cx, matrix, rows, right, columns| {
        eliminate(cx, "solve", matrix, rows, right, columns)?;
        let upper = Triangle { numbers: matrix, rows, upper: true, transposed: false, unit: false };
        upper.solve(cx, right, columns)
    })
}

/// `triangular_solve` of Paddle.
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub fn solve_triangle(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (upper, transposed) = (attributes.flag("upper", true)?, attributes.flag("transpose", false)?);
    let unit = attributes.flag("unitriangular", false)?;
    solved(cx, [0, 1], |cx, numbers, rows, right, columns| {
        Triangle { numbers, rows, upper, transposed, unit }.solve(cx, right, columns)
    })
}

/// `cholesky` of Paddle: a triangular matrix whose product with its transpose is the input.
pub fn cholesky(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
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

/// `cholesky_solve` of Paddle: solutions of systems by a factor of `cholesky`, the second input.
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub fn solve_by_factor(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let upper = attributes.flag("upper", false)?;
    solved(cx, [1, 0], |cx, numbers, rows, right, columns| {
        for transposed in [upper, !upper] {
            Triangle { numbers, rows, upper, transposed, unit: false }.solve(cx, right, columns)?;
        }
        Ok(())
    })
}

/// `lu` of Paddle: both triangles of an elimination in one matrix, the rows that changed places,
/// counted from 1, and the first step without a pivot, or 0.
pub fn lu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    if !attributes.flag("pivot", true)? {
        return Err(unsupported("lu without pivots"));
    }
    let dims = cx.tensor(0)?.shape().dims();
    let &[ref before @ .., rows, columns] = dims else {
        return Err(errors::rank(cx.label(0), dims.len(), "at least 2"));
    };
    let count = before.iter().product::<usize>();
    cx.run.touch(product(count * rows, columns).saturating_mul(product(rows.min(columns), 1)))?;
    cx.reserve(product(count, (rows.min(columns) + 1) * size_of::<f64>()))?;
    let mut numbers = cx.floats(0)?;
    let (mut pivots, mut stuck) = (Vec::new(), Vec::with_capacity(count));
    let counted = |at: usize| float_of(at + 1);
    for at in 0..count {
        let matrix = &mut numbers[at * rows * columns..][..rows * columns];
        let steps = factored(cx, matrix, [rows, columns])?;
        pivots.extend(steps.pivots.into_iter().map(counted));
        stuck.push(steps.stuck.map_or(0.0, counted));
    }
    Ok(vec![cx.rounded(0, &numbers)?, cx.rounded(1, &pivots)?, cx.rounded(2, &stuck)?])
}

/// `lu_unpack` of Paddle: the permutation and the triangles of `lu`, whose product is its input.
pub fn unpack_lu(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let &[ref before @ .., rows, columns] = dims else {
        return Err(errors::rank(cx.label(0), dims.len(), "at least 2"));
    };
    let (count, inner) = (before.iter().product::<usize>(), rows.min(columns));
    let (numbers, pivots) = (cx.floats(0)?, cx.integers(1)?);
    let [(_, permuted), (_, lower), (_, upper)] = [cx.output(0)?, cx.output(1)?, cx.output(2)?];
    let most = permuted.len().max(lower.len()).max(upper.len());
    cx.reserve(product(most, 3 * size_of::<f64>()))?;
    let [mut permutation, mut below, mut above] =
        [permuted.len(), lower.len(), upper.len()].map(|len| vec![0.0; len]);
    for at in 0..count {
        let matrix = &numbers[at * rows * columns..][..rows * columns];
        let mut order: Vec<usize> = (0..rows).collect();
        for (k, &pivot) in pivots[at * inner..][..inner].iter().enumerate() {
            let from = usize_of_i64(pivot).and_then(|pivot| pivot.checked_sub(1)).filter(|&row| row < rows);
            let from = from.ok_or_else(|| errors::value("pivot", pivot, format_args!("from 1 to {rows}")))?;
            order.swap(k, from);
        }
        if !permutation.is_empty() {
            order
                .iter()
                .enumerate()
                .for_each(|(to, &from)| permutation[(at * rows + from) * rows + to] = 1.0);
        }
        for (place, &x) in matrix.iter().enumerate() {
            let (i, j) = (place / columns, place % columns);
            if i > j && !below.is_empty() {
                below[(at * rows + i) * inner + j] = x;
            }
            if i == j && !below.is_empty() {
                below[(at * rows + i) * inner + j] = 1.0;
            }
            if i <= j && !above.is_empty() {
                above[(at * inner + i) * columns + j] = x;
            }
        }
    }
    Ok(vec![cx.rounded(0, &permutation)?, cx.rounded(1, &below)?, cx.rounded(2, &above)?])
}

/// Maximum number of rows of matrices whose determinant is written step by step.
const MAX_ROWS: usize = 32;

/// `Det` as a graph: a step of elimination for each row, by the row with the largest pivot.
pub fn det_by_steps(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let &[.., rows, columns] = l.dims_of(0)? else {
        return Err(errors::rank("input 0", l.rank_of(0)?, "at least 2"));
    };
    let size = rows.or(columns).ok_or_else(|| not_known("number of rows of Det".to_owned()))?;
    if !(1..=MAX_ROWS).contains(&size) {
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
        let place = with("ArgMax", [f("Abs", column)], [int("axis", 1)]).put(l)?;
        let pivot = l.apply("GatherElements", &[column, place], &[int("axis", 1)])?;
        det = Some(match det {
            Some(det) => l.apply("Mul", &[det, pivot], &[])?,
            None => pivot,
        });
        if left == 1 {
            break;
        }
        // The row of the pivot changes places with the first row, which changes the sign.
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
        let below = l.apply("Gather", &[rest, numbers], &[int("axis", 1)])?;
        let below =
            pick(is_row, with("Gather", [rest.into(), zeroth.into()], [int("axis", 1)]), below).put(l)?;
        // A pivot of 0 makes the determinant 0, whatever it divides.
        let none = l.apply("Equal", &[pivot, zero], &[])?;
        let divisor = l.apply("Where", &[none, one, pivot], &[])?;
        let divisor = l.apply("Unsqueeze", &[divisor, last], &[])?;
        let factor = (with("Gather", [below.into(), zeroth.into()], [int("axis", 2)]) / divisor).put(l)?;
        let below = l.apply("Gather", &[below, numbers], &[int("axis", 2)])?;
        rest = (below - (factor * with("Gather", [row.into(), numbers.into()], [int("axis", 2)]))).put(l)?;
    }
    let det = l.apply("Reshape", &[det.unwrap_or(one), batch], &[])?;
    Ok(vec![like(l, det, 0)?])
}

/// The output has the shape of the product of the inputs, of which the first is square.
pub fn solution(cx: &mut InferContext<'_, '_>) -> InferResult {
    infer::square(cx)?;
    let (a, mut b) = (cx.dims(0)?, cx.dims(1)?.to_vec());
    let vectors = are_vectors(&a, &b);
    if vectors {
        b.push(Dim::ONE);
    }
    let mut dims = infer::product(cx, &a, &b)?;
    dims.truncate(dims.len() - usize::from(vectors));
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// The output has the shape of the product of the second input, which is square, and the first.
pub fn factor_solution(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (b, a) = (cx.dims(0)?, cx.dims(1)?);
    let &[.., rows, columns] = &a[..] else {
        return Err(errors::rank("input 1", a.len(), "at least 2").into());
    };
    cx.equal(rows, columns, "number of columns of a square matrix")?;
    if b.len() < 2 {
        return Err(errors::rank("input 0", b.len(), "at least 2").into());
    }
    let dims = infer::product(cx, &a, &b)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// Shapes of Paddle's `lu`: both factors in one matrix, pivots, and a status.
pub fn lu_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (mut before, [rows, columns]) = orthogonal::matrices(cx)?;
    let (whole, inner) = (cx.dims(0)?, orthogonal::smaller(cx, [rows, columns]));
    let stuck = Fact::typed(DType::I32, before.clone());
    before.push(inner);
    Ok(vec![Fact::tensor(cx.dtype(0), whole), Fact::typed(DType::I32, before), stuck])
}

/// Results that are not asked for have no elements.
pub fn unpack_lu_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = orthogonal::matrices(cx)?;
    let inner = orthogonal::smaller(cx, [rows, columns]);
    let pivots = cx.dims(1)?;
    errors::expect_rank("input 1", pivots.len(), before.len() + 1)?;
    for (&pivot, &size) in pivots.iter().zip(before.iter().chain([&inner])) {
        cx.equal(pivot, size, "number of pivots")?;
    }
    let triangles = cx.attributes.flag("unpack_ludata", true)?;
    let permuted = cx.attributes.flag("unpack_pivots", true)?;
    let dtype = cx.dtype(0);
    let shaped = |wanted: bool, last: [Dim; 2]| {
        let dims = if wanted { [&before[..], &last].concat() } else { vec![Dim::ZERO] };
        Fact::tensor(dtype, dims)
    };
    Ok(vec![
        shaped(permuted, [rows, rows]),
        shaped(triangles, [rows, inner]),
        shaped(triangles, [inner, columns]),
    ])
}
