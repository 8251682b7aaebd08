//! Eigenvalues of matrices that need not be symmetric: `eig` and `eigvals` of Paddle, in float64
//! and rounded once.
//!
//! Householder's reflections make a Hessenberg matrix, and Francis' double shifts a Schur form,
//! whose diagonal gives the order of the eigenvalues. Values of a real matrix are real or pairs of
//! conjugates, the one with the positive imaginary part first. The element of a vector with the
//! largest magnitude is a positive real number; LAPACK leaves the sign of real vectors open.

use gradus_core::convert::Rules;
use gradus_core::{Error, Kind, Number, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::complex::complex_of;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::matmul::elimination::squares;
use crate::matmul::orthogonal::{EPSILON, dot, expect_finite, magnitude, matrices, subtract};
use crate::op::EvalContext;

/// Shifts after which a matrix of one row more has converged, however bad it is.
const MAX_SHIFTS: usize = 300;
/// Number of shifts after which another one is taken, in case they repeat.
const OTHER_SHIFT: usize = 10;
/// Magnitude from which elements of a vector are made smaller.
const LARGE: f64 = 1e100;

/// A complex number by its parts.
type ComplexPair = (f64, f64);

fn times(a: ComplexPair, b: ComplexPair) -> ComplexPair {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn less(a: ComplexPair, b: ComplexPair) -> ComplexPair {
    (a.0 - b.0, a.1 - b.1)
}

fn size(a: ComplexPair) -> f64 {
    libm::hypot(a.0, a.1)
}

/// The quotient; the divisor has a magnitude near that of the matrix.
fn over(a: ComplexPair, b: ComplexPair) -> ComplexPair {
    let square = b.0 * b.0 + b.1 * b.1;
    let (re, im) = times(a, (b.0, -b.1));
    (re / square, im / square)
}

/// Shapes of Paddle's `eig`: eigenvalues and eigenvectors, both complex.
pub fn eig_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (mut dims, [rows, columns]) = matrices(cx)?;
    cx.equal(rows, columns, "number of columns of a square matrix")?;
    let dtype = cx.dtype(0).map(complex_of).transpose()?;
    dims.push(rows);
    let values: Fact = Fact::tensor(dtype, dims.clone());
    dims.push(columns);
    Ok(vec![values, Fact::tensor(dtype, dims)])
}

/// A square matrix, row by row.
type Rows = Vec<Vec<f64>>;

/// A matrix like a real one by a change of basis: `z * t * z'`, where `t` has blocks of one or two
/// rows on its diagonal and zeros below.
struct Schur {
    t: Rows,
    z: Rows,
}

/// Mirrors rows and columns of the matrix, and the columns of its basis, from a row on.
fn mirror(t: &mut Rows, z: &mut Rows, from: usize, along: &[f64]) {
    let rows = t.len();
    for column in 0..rows {
        let part: f64 = along.iter().zip(&t[from..]).map(|(x, row)| x * row[column]).sum();
        along.iter().zip(&mut t[from..]).for_each(|(x, row)| row[column] -= 2.0 * part * x);
    }
    for row in t.iter_mut().chain(z) {
        let of_row = &mut row[from..from + along.len()];
        let part = dot(along, of_row);
        subtract(of_row, along, 2.0 * part);
    }
}

/// The unit vector along which a mirror turns numbers into a multiple of the first axis.
fn across(numbers: &[f64]) -> Option<Vec<f64>> {
    let mut along = numbers.to_vec();
    let scale = magnitude(&along);
    for x in &mut along {
        *x /= scale;
    }
    if along[1..].iter().all(|&x| x == 0.0) {
        return None;
    }
    along[0] += dot(&along, &along).sqrt().copysign(along[0]);
    let norm = dot(&along, &along).sqrt();
    for x in &mut along {
        *x /= norm;
    }
    Some(along)
}

/// The eigenvalues of a block of two rows: half their sum, and the square of half their distance.
fn halves(t: &[Vec<f64>], at: usize) -> (f64, f64) {
    let half = (t[at][at] - t[at + 1][at + 1]) / 2.0;
    (f64::midpoint(t[at][at], t[at + 1][at + 1]), half * half + t[at][at + 1] * t[at + 1][at])
}

impl Schur {
    fn of(cx: &EvalContext<'_>, numbers: &[f64], rows: usize) -> Result<Schur> {
        let t = numbers.chunks(rows.max(1)).map(<[f64]>::to_vec).collect();
        let z = (0..rows).map(|i| (0..rows).map(|j| f64::from(i == j)).collect()).collect();
        let mut form = Schur { t, z };
        form.reduce(cx)?;
        form.shift(cx)?;
        Ok(form)
    }

    /// Makes zeros below the diagonal next to the main one.
    fn reduce(&mut self, cx: &EvalContext<'_>) -> Result<()> {
        for k in 1..self.t.len().saturating_sub(1) {
            cx.limits().check()?;
            let column: Vec<_> = self.t[k..].iter().map(|row| row[k - 1]).collect();
            if let Some(along) = across(&column) {
                mirror(&mut self.t, &mut self.z, k, &along);
            }
            self.t[k + 1..].iter_mut().for_each(|row| row[k - 1] = 0.0);
        }
        Ok(())
    }

    /// Makes zeros there too, but for blocks of two rows with complex eigenvalues.
    fn shift(&mut self, cx: &EvalContext<'_>) -> Result<()> {
        let (mut end, mut tries) = (self.t.len(), 0);
        while end > 0 {
            cx.limits().check()?;
            let start = self.start_of(end);
            if end - start <= 2 {
                if end - start == 2 {
                    self.split(start);
                }
                (end, tries) = (start, 0);
                continue;
            }
            tries += 1;
            if tries > MAX_SHIFTS {
                let what = "cannot find eigenvalues: the matrix";
                return Err(Error::mismatch(Kind::Value, what, "another", "one whose shifts converge"));
            }
            self.chase(start, end, tries % OTHER_SHIFT == 0);
        }
        Ok(())
    }

    /// The first row of the last block that nothing couples to the rows before it.
    fn start_of(&mut self, end: usize) -> usize {
        for at in (1..end).rev() {
            let beside = self.t[at - 1][at - 1].abs() + self.t[at][at].abs();
            let least = EPSILON * if beside == 0.0 { 1.0 } else { beside };
            if self.t[at][at - 1].abs() <= least {
                self.t[at][at - 1] = 0.0;
                return at;
            }
        }
        0
    }

    /// One step of Francis: a bulge is made at the first row and chased to the last.
    fn chase(&mut self, start: usize, end: usize, other: bool) {
        let (mean, square) = halves(&self.t, end - 2);
        let (sum, product) = if other {
            let beside = self.t[end - 1][end - 2].abs() + self.t[end - 2][end - 3].abs();
            (1.5 * beside, beside * beside)
        } else if square < 0.0 {
            (2.0 * mean, mean * mean - square)
        } else {
            // The real value nearer to the last element, twice.
            let last = self.t[end - 1][end - 1];
            let near = mean + square.sqrt().copysign(last - mean);
            (2.0 * near, near * near)
        };
        let t = &self.t;
        let (a, b) = (t[start][start], t[start + 1][start]);
        let mut bulge = vec![
            a * a + t[start][start + 1] * b - sum * a + product,
            b * (a + t[start + 1][start + 1] - sum),
            b * t[start + 2][start + 1],
        ];
        for k in start..end - 1 {
            if let Some(along) = across(&bulge) {
                mirror(&mut self.t, &mut self.z, k, &along);
            }
            if k > start {
                let below = (k + 3).min(end);
                self.t[k + 1..below].iter_mut().for_each(|row| row[k - 1] = 0.0);
            }
            bulge = (k + 1..end.min(k + 4)).map(|row| self.t[row][k]).collect();
        }
    }

    /// Makes two blocks of a block of two rows if its eigenvalues are real.
    fn split(&mut self, at: usize) {
        let (_, square) = halves(&self.t, at);
        let below = self.t[at + 1][at];
        if square < 0.0 || below == 0.0 {
            return;
        }
        let half = (self.t[at][at] - self.t[at + 1][at + 1]) / 2.0;
        let first = half + square.sqrt().copysign(half);
        let length = libm::hypot(first, below);
        let (cosine, sine) = (first / length, below / length);
        let (above, under) = self.t.split_at_mut(at + 1);
        for (x, y) in above[at].iter_mut().zip(&mut under[0]) {
            (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
        }
        for row in self.t.iter_mut().chain(&mut self.z) {
            let (x, y) = (row[at], row[at + 1]);
            (row[at], row[at + 1]) = (cosine * x + sine * y, cosine * y - sine * x);
        }
        self.t[at + 1][at] = 0.0;
    }

    /// Returns true if a block of two rows begins at a row.
    fn is_pair(&self, at: usize) -> bool {
        at + 1 < self.t.len() && self.t[at + 1][at] != 0.0
    }

    fn values(&self) -> Vec<ComplexPair> {
        let mut values = Vec::with_capacity(self.t.len());
        while values.len() < self.t.len() {
            let at = values.len();
            if self.is_pair(at) {
                let (mean, square) = halves(&self.t, at);
                let apart = square.abs().sqrt();
                values.extend([(mean, apart), (mean, -apart)]);
            } else {
                values.push((self.t[at][at], 0.0));
            }
        }
        values
    }

    /// The vector of an eigenvalue, of which the block begins at a row.
    fn vector(&self, at: usize, value: ComplexPair) -> Vec<ComplexPair> {
        let rows = self.t.len();
        let mut x = vec![(0.0, 0.0); rows];
        let mut known = at + 1;
        x[at] = (1.0, 0.0);
        if self.is_pair(at) {
            x[at] = less(value, (self.t[at + 1][at + 1], 0.0));
            x[at + 1] = (self.t[at + 1][at], 0.0);
            known += 1;
        }
        // Values that are one to rounding have one direction, or any of a plane.
        let least = EPSILON * self.t.iter().flatten().fold(1.0f64, |most, x| most.max(x.abs()));
        let kept =
            |divisor: ComplexPair, least: f64| if size(divisor) < least { (least, 0.0) } else { divisor };
        let mut row = at;
        while row > 0 {
            let pair = row > 1 && self.is_pair(row - 2);
            row -= 1 + usize::from(pair);
            let sum = |i: usize, x: &[ComplexPair]| {
                let add = |sum: ComplexPair, k: usize| {
                    (sum.0 - self.t[i][k] * x[k].0, sum.1 - self.t[i][k] * x[k].1)
                };
                (row + 1 + usize::from(pair)..known).fold((0.0, 0.0), add)
            };
            let own = |i: usize| less((self.t[i][i], 0.0), value);
            if pair {
                let (above, below) = ((self.t[row][row + 1], 0.0), (self.t[row + 1][row], 0.0));
                let (left, right) = (own(row), own(row + 1));
                let (first, second) = (sum(row, &x), sum(row + 1, &x));
                let det = kept(less(times(left, right), times(above, below)), least * least);
                x[row] = over(less(times(first, right), times(second, above)), det);
                x[row + 1] = over(less(times(second, left), times(first, below)), det);
            } else {
                x[row] = over(sum(row, &x), kept(own(row), least));
            }
            let largest = x[row..].iter().fold(0.0f64, |most, &x| most.max(size(x)));
            if largest > LARGE {
                for x in &mut x {
                    *x = (x.0 / largest, x.1 / largest);
                }
            }
        }
        let of_basis = |row: &Vec<f64>| {
            row.iter().zip(&x).fold((0.0, 0.0), |sum, (z, x)| (sum.0 + z * x.0, sum.1 + z * x.1))
        };
        Self::directed(self.z.iter().map(of_basis).collect())
    }

    /// The vector of length 1 whose largest element is real and positive.
    fn directed(mut vector: Vec<ComplexPair>) -> Vec<ComplexPair> {
        let mut largest = (0.0, 0.0);
        for &x in &vector {
            if size(x) > size(largest) {
                largest = x;
            }
        }
        let scale = size(largest);
        if scale == 0.0 {
            return vector;
        }
        let mirrored = (largest.0 / scale, -largest.1 / scale);
        for x in &mut vector {
            *x = times((x.0 / scale, x.1 / scale), mirrored);
        }
        let norm = vector.iter().map(|x| x.0 * x.0 + x.1 * x.1).sum::<f64>().sqrt();
        for x in &mut vector {
            *x = (x.0 / norm, x.1 / norm);
        }
        vector
    }
}

fn complex(cx: &EvalContext<'_>, output: usize, pairs: &[ComplexPair]) -> Result<Value> {
    let (dtype, shape) = cx.output(output)?;
    let numbers = pairs.iter().map(|&(re, im)| Number::Complex(re, im));
    Ok(Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)?.into())
}

/// Eigenvalues, and their vectors as columns if the node names them.
pub fn eig(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (count, rows) = squares(cx, 0)?;
    let numbers = cx.floats(0)?;
    expect_finite(&numbers, "eig")?;
    let wanted = cx.outputs > 1;
    cx.reserve(gradus_core::convert::product(numbers.len(), 8 * size_of::<ComplexPair>()))?;
    let (mut values, mut vectors) = (Vec::with_capacity(count * rows), Vec::new());
    for matrix in numbers.chunks((rows * rows).max(1)) {
        let scale = magnitude(matrix);
        let scaled: Vec<_> = matrix.iter().map(|x| x / scale).collect();
        let form = Schur::of(cx, &scaled, rows)?;
        let own = form.values();
        values.extend(own.iter().map(|&(re, im)| (re * scale, im * scale)));
        if !wanted {
            continue;
        }
        let mut columns: Vec<Vec<ComplexPair>> = Vec::with_capacity(rows);
        for (at, &value) in own.iter().enumerate() {
            cx.limits().check()?;
            // The second of a pair is the mirror image of the first.
            let conjugate = columns.last().filter(|_| value.1 < 0.0);
            let conjugate = conjugate.map(|first| first.iter().map(|&(re, im)| (re, -im)).collect());
            columns.push(conjugate.unwrap_or_else(|| form.vector(at, value)));
        }
        (0..rows).for_each(|i| vectors.extend(columns.iter().map(|column| column[i])));
    }
    let mut results = vec![complex(cx, 0, &values)?];
    if wanted {
        results.push(complex(cx, 1, &vectors)?);
    }
    Ok(results)
}
