//! Factors with orthogonal columns: `qr`, `svd` and `eigh` of Paddle, `matrix_rank` and `lstsq`, in
//! float64 and rounded once.
//!
//! Householder's reflections, and Jacobi's rotations in a fixed order until none turns anything:
//! results have the same bits on every processor. Where the sign of a vector is open, its element
//! of the largest magnitude, the first of equals, is positive; LAPACK, which Paddle calls, leaves
//! it to rounding. The triangle of `qr` has LAPACK's signs.

use gradus_core::convert::{float_of, product, usize_of_i64};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Error, Kind, Result, Shape, Value};

use crate::attributes::Attributes;
use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::fact::{Fact, TensorFact};
use crate::floats::Ring;
use crate::infer::{InferContext, InferError, InferResult};
use crate::op::EvalContext;
use crate::words;

/// Rounds of rotations after which no matrix of float64 has turned on.
const MAX_SWEEPS: usize = 60;
/// Half the distance of float64 numbers at 1.
pub(super) const EPSILON: f64 = f64::EPSILON / 2.0;

/// The axes before the last two, and these.
pub(super) fn matrices(
    cx: &mut InferContext<'_, '_>,
) -> std::result::Result<(Vec<Dim>, [Dim; 2]), InferError> {
    let dims = cx.dims(0)?;
    let &[ref before @ .., rows, columns] = &dims[..] else {
        return Err(errors::rank("input 0", dims.len(), "at least 2").into());
    };
    if cx.dtype(0).is_some_and(DType::is_complex) {
        return Err(Error::new(Kind::Unsupported, "cannot factor matrices of complex numbers").into());
    }
    Ok((before.to_vec(), [rows, columns]))
}

/// The smaller of two sizes.
pub(super) fn smaller(cx: &mut InferContext<'_, '_>, [rows, columns]: [Dim; 2]) -> Dim {
    let least = cx.symbols().min(rows, columns);
    least.unwrap_or_else(|| cx.data("the smaller of two sizes", Bounds::SIZE))
}

fn shaped(cx: &InferContext<'_, '_>, before: &[Dim], last: &[Dim]) -> Fact {
    Fact::tensor(cx.dtype(0), [before, last].concat())
}

/// Results of `qr`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Reduced,
    Complete,
    Triangle,
}

fn mode(attributes: &Attributes<'_>) -> Result<Mode> {
    match words::QR.of(attributes)? {
        "reduced" => Ok(Mode::Reduced),
        "complete" => Ok(Mode::Complete),
        _ => Ok(Mode::Triangle),
    }
}

/// Shapes of Paddle's `qr`: both factors, as the mode says.
pub fn qr_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = matrices(cx)?;
    let mode = mode(&cx.attributes)?;
    let inner = if mode == Mode::Complete { rows } else { smaller(cx, [rows, columns]) };
    let q = match mode {
        Mode::Triangle => shaped(cx, &[], &[Dim::ZERO]),
        _ => shaped(cx, &before, &[rows, inner]),
    };
    Ok(vec![q, shaped(cx, &before, &[inner, columns])])
}

/// Shapes of Paddle's `svd`: left vectors, singular values and right vectors.
pub fn svd_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = matrices(cx)?;
    let inner = smaller(cx, [rows, columns]);
    let full = cx.attributes.flag("full_matrices", false)?;
    let (left, right) = if full { (rows, columns) } else { (inner, inner) };
    Ok(vec![
        shaped(cx, &before, &[rows, left]),
        shaped(cx, &before, &[inner]),
        shaped(cx, &before, &[right, columns]),
    ])
}

/// Shape of Paddle's `svdvals`: the singular values of each matrix.
pub fn svdvals_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, sizes) = matrices(cx)?;
    let inner = smaller(cx, sizes);
    Ok(vec![shaped(cx, &before, &[inner])])
}

/// Shapes of Paddle's `eigh`: eigenvalues and eigenvectors of each square matrix.
pub fn eigh_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = matrices(cx)?;
    cx.equal(rows, columns, "number of columns of a square matrix")?;
    Ok(vec![shaped(cx, &before, &[rows]), shaped(cx, &before, &[rows, columns])])
}

/// A matrix, column by column.
#[derive(Clone)]
struct MatrixColumns {
    rows: usize,
    all: Vec<Vec<f64>>,
}

impl MatrixColumns {
    fn read(numbers: &[f64], rows: usize, columns: usize) -> MatrixColumns {
        let column = |j: usize| (0..rows).map(|i| numbers[i * columns + j]).collect();
        MatrixColumns { rows, all: (0..columns).map(column).collect() }
    }

    fn unit(rows: usize, columns: usize) -> MatrixColumns {
        let column = |j: usize| (0..rows).map(|i| f64::from(i == j)).collect();
        MatrixColumns { rows, all: (0..columns).map(column).collect() }
    }

    /// Appends the numbers, row by row.
    fn write(&self, to: &mut Vec<f64>) {
        (0..self.rows).for_each(|i| to.extend(self.all.iter().map(|column| column[i])));
    }

    /// Appends the columns as rows.
    fn write_transposed(&self, to: &mut Vec<f64>) {
        self.all.iter().for_each(|column| to.extend(column));
    }
}

/// The dot product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Subtracts a multiple of a vector.
pub(super) fn subtract(from: &mut [f64], of: &[f64], factor: f64) {
    from.iter_mut().zip(of).for_each(|(x, y)| *x -= factor * y);
}

/// The largest magnitude, as a power of two, so that divided numbers neither overflow nor vanish;
/// 1 if there is none.
pub(super) fn magnitude(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() { 1.0 } else { libm::scalbn(1.0, libm::ilogb(largest)) }
}

/// Checks that all elements of a matrix are finite.
pub(super) fn expect_finite(numbers: &[f64], what: &str) -> Result<()> {
    if numbers.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    let what = format_args!("cannot factor by {what}: the matrix");
    Err(Error::mismatch(Kind::Value, what, "NaN or infinite", "one of finite numbers"))
}

/// The number of matrices, their rows, and their columns.
fn sizes(cx: &mut EvalContext<'_>) -> Result<[usize; 3]> {
    let dims = cx.tensor(0)?.shape().dims();
    let &[ref before @ .., rows, columns] = dims else {
        return Err(errors::rank(cx.label(0), dims.len(), "at least 2"));
    };
    let (largest, count) = (rows.max(columns), before.iter().product::<usize>());
    cx.run.touch(product(count * largest, largest).saturating_mul(product(largest, 1)))?;
    cx.reserve(product(count, 8 * largest).saturating_mul(product(largest, size_of::<f64>())))?;
    Ok([count, rows, columns])
}

/// Factors of orthonormal columns and an upper triangle.
pub fn qr(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mode = mode(attributes)?;
    let [count, rows, columns] = sizes(cx)?;
    let inner = if mode == Mode::Complete { rows } else { rows.min(columns) };
    let (mut q, mut r) = (Vec::new(), Vec::new());
    let numbers = cx.floats(0)?;
    expect_finite(&numbers, "qr")?;
    for at in 0..count {
        let matrix = &numbers[at * rows * columns..][..rows * columns];
        let scale = magnitude(matrix);
        let scaled: Vec<_> = matrix.iter().map(|x| x / scale).collect();
        let mut a = MatrixColumns::read(&scaled, rows, columns);
        // Each reflection takes away twice the part along a unit vector.
        let mut mirrors = Vec::new();
        for k in 0..rows.min(columns) {
            cx.limits().check()?;
            let mut along = a.all[k][k..].to_vec();
            let below = along[1..].iter().fold(0.0f64, |norm, x| libm::hypot(norm, *x));
            if below == 0.0 {
                mirrors.push(Vec::new());
                continue;
            }
            along[0] += libm::hypot(along[0], below).copysign(along[0]);
            let norm = dot(&along, &along).sqrt();
            for x in &mut along {
                *x /= norm;
            }
            for column in &mut a.all[k..] {
                let factor = 2.0 * dot(&along, &column[k..]);
                subtract(&mut column[k..], &along, factor);
            }
            a.all[k][k + 1..].fill(0.0);
            mirrors.push(along);
        }
        for i in 0..inner {
            r.extend((0..columns).map(|j| if i <= j { a.all[j][i] * scale } else { 0.0 }));
        }
        if mode == Mode::Triangle {
            continue;
        }
        let mut unit = MatrixColumns::unit(rows, inner);
        for (k, along) in mirrors.iter().enumerate().rev() {
            for column in &mut unit.all {
                let factor = 2.0 * dot(along, &column[k..]);
                subtract(&mut column[k..], along, factor);
            }
        }
        unit.write(&mut q);
    }
    Ok(vec![cx.rounded(0, &q)?, cx.rounded(1, &r)?])
}

/// The cosine and sine of the rotation after which two vectors of these squared lengths and this
/// product are at right angles.
fn rotation(a: f64, b: f64, across: f64) -> (f64, f64) {
    let apart = (b - a) / (2.0 * across);
    let tangent = 1f64.copysign(apart) / (apart.abs() + libm::hypot(1.0, apart));
    let cosine = 1.0 / libm::hypot(1.0, tangent);
    (cosine, cosine * tangent)
}

/// Turns two columns.
fn turn(columns: &mut [Vec<f64>], [p, q]: [usize; 2], (cosine, sine): (f64, f64)) {
    let (first, second) = columns.split_at_mut(q);
    for (x, y) in first[p].iter_mut().zip(&mut second[0]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Adds unit vectors at right angles to all columns, until there are `count`.
fn complete(columns: &mut MatrixColumns, count: usize) {
    // One of them at least is so far outside the span, and none that was passed comes there.
    let least = 0.5 / float_of(columns.rows.max(1)).sqrt();
    for at in 0..columns.rows {
        if columns.all.len() >= count {
            break;
        }
        let mut vector: Vec<_> = (0..columns.rows).map(|i| f64::from(i == at)).collect();
        for _ in 0..2 {
            for other in &columns.all {
                let factor = dot(other, &vector);
                subtract(&mut vector, other, factor);
            }
        }
        let norm = dot(&vector, &vector).sqrt();
        if norm > least {
            for x in &mut vector {
                *x /= norm;
            }
            columns.all.push(vector);
        }
    }
}

/// Returns true if the first element of the largest magnitude is negative.
fn points_back(vector: &[f64]) -> bool {
    let largest = vector.iter().fold(0.0f64, |largest, &x| if x.abs() > largest.abs() { x } else { largest });
    largest < 0.0
}

fn negate(vector: &mut [f64]) {
    for x in vector {
        *x = -*x;
    }
}

/// Left vectors, values, and right vectors of a matrix with at least as many rows as columns.
fn decomposed(
    cx: &EvalContext<'_>,
    mut a: MatrixColumns,
) -> Result<(MatrixColumns, Vec<f64>, MatrixColumns)> {
    let columns = a.all.len();
    let least = EPSILON * float_of(a.rows);
    let mut v = MatrixColumns::unit(columns, columns);
    for _ in 0..MAX_SWEEPS {
        let mut turned = false;
        for p in 0..columns {
            cx.limits().check()?;
            for q in p + 1..columns {
                let across = dot(&a.all[p], &a.all[q]);
                let (first, second) = (dot(&a.all[p], &a.all[p]), dot(&a.all[q], &a.all[q]));
                if across.abs() <= least * first.sqrt() * second.sqrt() {
                    continue;
                }
                turned = true;
                let by = rotation(first, second, across);
                turn(&mut a.all, [p, q], by);
                turn(&mut v.all, [p, q], by);
            }
        }
        if !turned {
            break;
        }
    }
    let mut values: Vec<_> = a.all.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<_> = (0..columns).collect();
    order.shared_sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let largest = order.first().map_or(0.0, |&first| values[first]);
    let mut u = MatrixColumns { rows: a.rows, all: Vec::with_capacity(a.rows) };
    let mut right = MatrixColumns { rows: columns, all: Vec::with_capacity(columns) };
    for &from in &order {
        let (value, mut along) = (values[from], v.all[from].clone());
        // Below, a column is rounding, and not at right angles to the others.
        if value > largest * least {
            let mut left: Vec<_> = a.all[from].iter().map(|x| x / value).collect();
            if points_back(&along) {
                negate(&mut left);
            }
            u.all.push(left);
        }
        if points_back(&along) {
            negate(&mut along);
        }
        right.all.push(along);
    }
    values.shared_sort_by(|a, b| b.total_cmp(a));
    complete(&mut u, columns);
    Ok((u, values, right))
}

fn svd_of(cx: &mut EvalContext<'_>, full: bool) -> Result<[Vec<f64>; 3]> {
    let [count, rows, columns] = sizes(cx)?;
    let [mut left, mut values, mut right] = [(); 3].map(|()| Vec::new());
    let numbers = cx.floats(0)?;
    expect_finite(&numbers, "svd")?;
    for at in 0..count {
        let matrix = &numbers[at * rows * columns..][..rows * columns];
        let scale = magnitude(matrix);
        let scaled: Vec<_> = matrix.iter().map(|x| x / scale).collect();
        let wide = rows < columns;
        let a = if wide {
            MatrixColumns { rows: columns, all: scaled.chunks_exact(columns).map(<[f64]>::to_vec).collect() }
        } else {
            MatrixColumns::read(&scaled, rows, columns)
        };
        let (mut u, own, v) = decomposed(cx, a)?;
        if full {
            complete(&mut u, rows.max(columns));
        }
        values.extend(own.iter().map(|value| value * scale));
        let (u, v) = if wide { (v, u) } else { (u, v) };
        u.write(&mut left);
        v.write_transposed(&mut right);
    }
    Ok([left, values, right])
}

/// Singular values, from the largest on, and their vectors.
pub fn svd(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let [left, values, right] = svd_of(cx, attributes.flag("full_matrices", false)?)?;
    Ok(vec![cx.rounded(0, &left)?, cx.rounded(1, &values)?, cx.rounded(2, &right)?])
}

/// `svdvals` of Paddle: the singular values of matrices.
pub fn svdvals(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let [_, values, _] = svd_of(cx, false)?;
    Ok(vec![cx.rounded(0, &values)?])
}

/// Returns true if `lstsq` gives residuals, whatever the ranks are, and false if it gives none:
/// there are some where more equations than unknowns have full rank, but for `gelsy`.
fn has_residuals(attributes: &Attributes<'_>, [rows, columns]: [usize; 2]) -> Result<Option<bool>> {
    match words::DRIVER.of(attributes)? {
        "gelsy" => Ok(Some(false)),
        "gels" => Ok(Some(rows > columns)),
        _ => Ok(if rows > columns { None } else { Some(false) }),
    }
}

/// Solutions, residuals, ranks and singular values.
pub fn least_squares_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = matrices(cx)?;
    let right = cx.dims(1)?;
    let &[ref own @ .., height, width] = &right[..] else {
        return Err(errors::rank("input 1", right.len(), "at least 2").into());
    };
    if own.len() != before.len() {
        return Err(errors::rank("input 1", right.len(), before.len() + 2).into());
    }
    for (&a, &b) in own.iter().zip(&before).chain([(&height, &rows)]) {
        cx.equal(a, b, "size of an axis of the right side")?;
    }
    let known = |dim: Dim| dim.known().and_then(usize_of_i64);
    let residuals = match (known(rows), known(columns)) {
        (Some(rows), Some(columns)) => has_residuals(&cx.attributes, [rows, columns])?,
        _ => has_residuals(&cx.attributes, [1, 0])?.filter(|&some| !some),
    };
    let residuals = match residuals {
        Some(true) => shaped(cx, &before, &[width]),
        Some(false) => shaped(cx, &[], &[Dim::ZERO]),
        None => Fact::Tensor(TensorFact::new(cx.dtype(0), None)),
    };
    let inner = smaller(cx, [rows, columns]);
    Ok(vec![
        shaped(cx, &before, &[columns, width]),
        residuals,
        Fact::typed(DType::I32, before.clone()),
        shaped(cx, &before, &[inner]),
    ])
}

/// `lstsq`: of all solutions with the least squares of errors the shortest. Singular values up to
/// the third input's part of the largest count as zero; `gels` counts all that are none.
pub fn least_squares(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let [count, rows, columns] = sizes(cx)?;
    let residual = has_residuals(attributes, [rows, columns])?;
    let share = match attributes.text("driver")? {
        Some("gels") => 0.0,
        _ => cx.floats(2)?.first().copied().unwrap_or(0.0).max(0.0),
    };
    let [left, values, right] = svd_of(cx, false)?;
    let (numbers, sides) = (cx.floats(0)?, cx.floats(1)?);
    let (inner, width) = (rows.min(columns), cx.tensor(1)?.shape().dims().last().copied().unwrap_or(0));
    cx.run.touch(product(count * width, inner).saturating_mul(product(rows + columns, 1)))?;
    cx.reserve(product(count * width, (columns + 1) * size_of::<f64>()))?;
    let mut solutions = vec![0.0; count * columns * width];
    let (mut ranks, mut squares) = (Vec::with_capacity(count), vec![0.0; count * width]);
    for at in 0..count {
        cx.limits().check()?;
        let own = &values[at * inner..][..inner];
        let least = share * own.first().copied().unwrap_or(0.0);
        let rank = own.iter().take_while(|&&value| value > least).count();
        ranks.push(float_of(rank));
        for j in 0..width {
            let side = |i: usize| sides[(at * rows + i) * width + j];
            let x = &mut solutions[at * columns * width..][..columns * width];
            for (k, value) in own[..rank].iter().enumerate() {
                let along: f64 = (0..rows).map(|i| left[(at * rows + i) * inner + k] * side(i)).sum();
                let turned = &right[(at * inner + k) * columns..][..columns];
                turned.iter().enumerate().for_each(|(i, v)| x[i * width + j] += along / value * v);
            }
            for i in 0..rows {
                let row = &numbers[(at * rows + i) * columns..][..columns];
                let sum: f64 = row.iter().enumerate().map(|(k, a)| a * x[k * width + j]).sum();
                squares[at * width + j] += (side(i) - sum) * (side(i) - sum);
            }
        }
    }
    let residuals = if residual.unwrap_or_else(|| ranks.iter().all(|&rank| rank == float_of(columns))) {
        let mut dims = cx.tensor(1)?.shape().dims().to_vec();
        dims.remove(dims.len() - 2);
        f64::tensor(cx.tensor(0)?.dtype(), Shape::new(dims)?, &squares)?
    } else {
        f64::tensor(cx.tensor(0)?.dtype(), Shape::new([0])?, &[])?
    };
    Ok(vec![cx.rounded(0, &solutions)?, residuals.into(), cx.rounded(2, &ranks)?, cx.rounded(3, &values)?])
}

/// Integers of the sizes before the matrices.
pub fn rank_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (before, [rows, columns]) = matrices(cx)?;
    if cx.attributes.flag("hermitian", false)? {
        cx.equal(rows, columns, "number of columns of a symmetric matrix")?;
    }
    Ok(vec![Fact::typed(DType::I64, before)])
}

/// Numbers of singular values above a tolerance: of symmetric matrices, magnitudes of eigenvalues.
/// The tolerance is an attribute, or grows with the largest value and the size.
pub fn rank(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let given =
        attributes.float("tol")?.filter(|_| !attributes.flag("use_default_tol", true).unwrap_or(true));
    let [count, rows, columns] = sizes(cx)?;
    let unit = if cx.tensor(0)?.dtype() == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
    let values = if attributes.flag("hermitian", false)? {
        let (values, _) = eigen_of(cx, true)?;
        values.into_iter().map(f64::abs).collect()
    } else {
        svd_of(cx, false)?[1].clone()
    };
    let inner = rows.min(columns);
    let above = |at: usize| {
        let own = &values[at * inner..][..inner];
        let largest = own.iter().copied().fold(0.0, f64::max);
        let least = given.map_or(unit * float_of(rows.max(columns)) * largest, f64::from);
        float_of(own.iter().filter(|&&value| value > least).count())
    };
    let ranks: Vec<_> = (0..count).map(above).collect();
    Ok(vec![cx.rounded(0, &ranks)?])
}

/// Eigenvalues of symmetric matrices, of which one triangle is read, from the smallest on, and
/// their vectors as columns.
pub fn eigh(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let lower = words::HALF_OF_EIGH.of_or(attributes, words::HALF_OF_EIGVALSH.of(attributes)?)? == "L";
    let (values, vectors) = eigen_of(cx, lower)?;
    Ok(vec![cx.rounded(0, &values)?, cx.rounded(1, &vectors)?])
}

/// Eigenvalues and vectors of symmetric matrices, by one triangle.
fn eigen_of(cx: &mut EvalContext<'_>, lower: bool) -> Result<(Vec<f64>, Vec<f64>)> {
    let [count, rows, _] = sizes(cx)?;
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    let numbers = cx.floats(0)?;
    expect_finite(&numbers, "eigh")?;
    for which in 0..count {
        let matrix = &numbers[which * rows * rows..][..rows * rows];
        let scale = magnitude(matrix);
        let at = |i: usize, j: usize| {
            let (i, j) = if (i < j) == lower { (j, i) } else { (i, j) };
            matrix[i * rows + j] / scale
        };
        let mut a: Vec<Vec<f64>> = (0..rows).map(|j| (0..rows).map(|i| at(i, j)).collect()).collect();
        let mut v = MatrixColumns::unit(rows, rows);
        diagonalize(cx, &mut a, &mut v.all)?;
        let mut order: Vec<_> = (0..rows).collect();
        order.shared_sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
        values.extend(order.iter().map(|&i| a[i][i] * scale));
        let vector = |&from: &usize| {
            let mut vector = v.all[from].clone();
            if points_back(&vector) {
                negate(&mut vector);
            }
            vector
        };
        MatrixColumns { rows, all: order.iter().map(vector).collect() }.write(&mut vectors);
    }
    Ok((values, vectors))
}

/// Turns a symmetric matrix until nothing is left off its diagonal.
fn diagonalize(cx: &EvalContext<'_>, a: &mut [Vec<f64>], v: &mut [Vec<f64>]) -> Result<()> {
    let rows = a.len();
    for _ in 0..MAX_SWEEPS {
        let mut turned = false;
        for p in 0..rows {
            cx.limits().check()?;
            for q in p + 1..rows {
                let across = a[q][p];
                let least = EPSILON * a[p][p].abs().min(a[q][q].abs());
                // Numbers this far below the largest change no element that is rounded.
                if across == 0.0 || across.abs() <= least.max(EPSILON * EPSILON) {
                    continue;
                }
                turned = true;
                let by = rotation(a[p][p], a[q][q], across);
                turn(a, [p, q], by);
                for column in a.iter_mut() {
                    let (x, y) = (column[p], column[q]);
                    (column[p], column[q]) = (by.0 * x - by.1 * y, by.1 * x + by.0 * y);
                }
                (a[q][p], a[p][q]) = (0.0, 0.0);
                turn(v, [p, q], by);
            }
        }
        if !turned {
            break;
        }
    }
    Ok(())
}
