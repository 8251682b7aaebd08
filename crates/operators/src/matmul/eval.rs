//! Evaluation of products of matrices, and of sums of products along named axes.

use std::collections::HashMap;
use std::num::Wrapping;

use gradus_core::convert::{self, FromNumber, product};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Number, Result, Shape, Tensor, Value};
use gradus_kernels::product::{Matrix, Numbers, Product as Factors, Side, Sizes};
use gradus_kernels::{Options, threads};

use crate::attributes::{Attributes, required};
use crate::equation::Equation;
use crate::errors;
use crate::floats::{Adding, Ring, matrices};
use crate::indices;
use crate::op::EvalContext;
use crate::output::{allowed, one};
use crate::strided::each_at;

/// The products of pairs of matrices, which are given by their numbers. Sums are in the order of
/// the summed axis, however the work is shared.
pub fn products<T: Ring>(
    cx: &mut EvalContext<'_>,
    a: &[T],
    b: &[T],
    sizes: Sizes,
    pairs: &[(usize, usize)],
    adding: Adding<'_>,
) -> Result<Vec<T>> {
    let count = allow::<T>(cx, sizes, pairs.len())?;
    let mut results = vec![T::default(); count];
    if count > 0 && sizes.inner > 0 {
        T::multiply([a, b], sizes, pairs, &mut results, adding)?;
    }
    Ok(results)
}

/// Allows the work and the memory of `products` products, and counts the elements of their results.
fn allow<T>(cx: &mut EvalContext<'_>, sizes: Sizes, products: usize) -> Result<usize> {
    let count = products * sizes.rows * sizes.columns;
    cx.run.touch(product(count, sizes.inner))?;
    cx.reserve(product(count, size_of::<T>()))?;
    if count > 0 {
        cx.reserve(sizes.bytes(products, threads()))?;
    }
    Ok(count)
}

/// The products of factors that are read row by row, one after the other: `finish` makes the
/// elements of a result from its number, their row and first column, and their sums.
pub fn finished<T: FromNumber + Default>(
    cx: &mut EvalContext<'_>,
    products: &[Factors<'_>],
    sizes: Sizes,
    finish: impl Fn(usize, usize, usize, &[f64], &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let mut results = vec![T::default(); allow::<T>(cx, sizes, products.len())?];
    let limits = cx.limits();
    cx.adding(&limits)?.multiply(products, sizes, &mut results, Options::default(), finish)?;
    Ok(results)
}

/// Rounds sums.
pub fn round<T: FromNumber>(sums: &[f64], out: &mut [T]) {
    let sums = &sums[..out.len()];
    each_at(
        out,
        #[inline(always)]
        move |at| T::from_f64(sums[at]),
    );
}

/// A product as NumPy multiplies: batch axes broadcast, and a vector is a row or a column.
#[derive(Debug)]
pub struct Product {
    pub sizes: Sizes,
    pub pairs: Vec<(usize, usize)>,
    pub shape: Shape,
}

impl Product {
    /// The product of matrices of these dimensions.
    pub fn new(cx: &EvalContext<'_>, dtype: DType, a: &[usize], b: &[usize]) -> Result<Product> {
        let (mut x, mut y) = (a.to_vec(), b.to_vec());
        if x.is_empty() || y.is_empty() {
            return Err(errors::rank("an input of MatMul", 0, "at least 1"));
        }
        let (row, column) = (x.len() == 1, y.len() == 1);
        if row {
            x.insert(0, 1);
        }
        if column {
            y.push(1);
        }
        let (inner, rows, columns) = (x[x.len() - 1], x[x.len() - 2], y[y.len() - 1]);
        errors::expect_shape(errors::INNER_SIZE, inner, y[y.len() - 2])?;
        let (batch_x, batch_y) = (Shape::new(&x[..x.len() - 2])?, Shape::new(&y[..y.len() - 2])?);
        let batch = batch_x.broadcast(&batch_y)?;
        let mut dims = [batch.dims(), &[rows, columns]].concat();
        let shape = allowed(cx, dtype, &dims)?;
        if column {
            dims.pop();
        }
        if row {
            dims.remove(batch.rank());
        }
        // A product without elements may have any number of matrices.
        let from = |own: &Shape| indices::broadcast(own.dims(), batch.dims());
        let pairs = if shape.is_empty() {
            Vec::new()
        } else {
            from(&batch_x).into_iter().zip(from(&batch_y)).collect()
        };
        Ok(Product { sizes: Sizes { rows, inner, columns }, pairs, shape: Shape::new(dims)? })
    }
}

/// `MatMul`: products of matrices, whose other axes broadcast.
pub fn mat_mul(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let dtype = a.dtype();
    let Product { sizes, pairs, shape } = Product::new(cx, dtype, a.shape().dims(), b.shape().dims())?;
    if dtype.is_float() {
        let factors = [cx.factor(0)?, cx.factor(1)?];
        let numbers = [factors[0].numbers(), factors[1].numbers()];
        let exact = numbers.iter().all(Numbers::are_singles);
        let left = cx.packed(0, Side::First, sizes, [sizes.inner, 1])?;
        let right = cx.packed(1, Side::Second, sizes, [sizes.columns, 1])?;
        let matrices = matrices(numbers, sizes, &pairs).into_iter().zip(&pairs);
        let matrices =
            matrices.map(|([a, b], &(i, j))| [a.packed(left.as_deref(), i), b.packed(right.as_deref(), j)]);
        let matrices: Vec<_> = matrices.collect();
        let factors: Vec<_> = matrices.iter().map(|[a, b]| Factors { a, b, exact }).collect();
        return one(floats(cx, &factors, sizes, dtype, shape)?);
    }
    cx.reserve(product(a.len().saturating_add(b.len()), size_of::<i64>()))?;
    let limits = cx.limits();
    let adding = cx.adding(&limits)?;
    let numbers = products(cx, &<Wrapping<i64>>::read(a)?, &Ring::read(b)?, sizes, &pairs, adding)?;
    one(Ring::tensor(dtype, shape, &numbers)?)
}

/// Products of floats as a tensor.
fn floats(
    cx: &mut EvalContext<'_>,
    factors: &[Factors<'_>],
    sizes: Sizes,
    dtype: DType,
    shape: Shape,
) -> Result<Tensor> {
    if dtype == DType::F32 {
        let after = cx.run.take_after(&shape);
        let finish = |at: usize, row: usize, column: usize, sums: &[f64], out: &mut [f32]| {
            round(sums, out);
            after.apply((at * sizes.rows + row) * sizes.columns + column, out);
        };
        return Tensor::from_vec(shape, finished(cx, factors, sizes, finish)?);
    }
    let sums = finished::<f64>(cx, factors, sizes, |_, _, _, sums, out| round(sums, out))?;
    f64::tensor(dtype, shape, &sums)
}

/// A matrix with its axes swapped.
pub fn swapped<T: Ring>(numbers: &[T], rows: usize, columns: usize) -> Vec<T> {
    // An axis may have any size next to one without elements.
    let columns = if numbers.is_empty() { 0 } else { columns };
    let column = |column| (0..rows).map(move |row| numbers[row * columns + column]);
    (0..columns).flat_map(column).collect()
}

/// `Gemm`: `alpha * a * b + beta * c`, with factors that may be transposed.
pub fn gemm(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dtype = cx.tensor(0)?.dtype();
    if dtype == DType::F32 {
        let (shape, numbers) = Gemm::new(attributes, cx)?.floats::<f32>(cx, |x| x)?;
        return one(Tensor::from_vec(shape, numbers)?);
    }
    let gemm = Gemm::new(attributes, cx)?;
    if dtype.is_float() {
        let (shape, numbers) = gemm.floats::<f64>(cx, |x| x)?;
        return one(f64::tensor(dtype, shape, &numbers)?);
    }
    let (shape, numbers) = gemm.integers(cx)?;
    one(Tensor::from_numbers(dtype, shape, numbers, convert::Rules::IEEE)?)
}

/// A product `alpha * a b + beta * c`.
pub struct Gemm {
    shape: Shape,
    sizes: Sizes,
    turn: [bool; 2],
    alpha: f64,
    beta: f64,
    /// Elements of `c` from a row to the next, and from a column to the next; if it is given.
    bias: Option<[usize; 2]>,
}

impl Gemm {
    /// Sizes and factors of a `Gemm`, as inputs and attributes give them.
    pub fn new(attributes: &Attributes<'_>, cx: &EvalContext<'_>) -> Result<Gemm> {
        let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
        let matrix = |input: usize, tensor: &Tensor| match *tensor.shape().dims() {
            [rows, columns] => Ok([rows, columns]),
            _ => Err(errors::rank(format_args!("input {input}"), tensor.shape().rank(), 2)),
        };
        let ([ar, ac], [br, bc]) = (matrix(0, a)?, matrix(1, b)?);
        let turn = [attributes.flag("transA", false)?, attributes.flag("transB", false)?];
        let (rows, inner) = if turn[0] { (ac, ar) } else { (ar, ac) };
        let (inner_b, columns) = if turn[1] { (bc, br) } else { (br, bc) };
        errors::expect_shape(errors::INNER_SIZE, inner, inner_b)?;
        let shape = allowed(cx, a.dtype(), &[rows, columns])?;
        let bias = if cx.has(2) {
            let c = cx.tensor(2)?.shape();
            if c.broadcast(&shape)? != shape {
                let wanted = format_args!("one that broadcasts to {shape}");
                return Err(errors::shape("shape of input 2", c, wanted));
            }
            let size = |back: usize| c.rank().checked_sub(back).map_or(1, |axis| c[axis]);
            let step = |back: usize, step: usize| if size(back) == 1 { 0 } else { step };
            Some([step(2, size(1)), step(1, 1)])
        } else {
            None
        };
        let factor = |name: &str| Ok::<_, gradus_core::Error>(attributes.float(name)?.unwrap_or(1.0).into());
        let (alpha, beta) = (factor("alpha")?, factor("beta")?);
        Ok(Gemm { shape, sizes: Sizes { rows, inner, columns }, turn, alpha, beta, bias })
    }

    /// The result of floats; `last` makes an element from its number.
    pub fn floats<T: FromNumber + Default>(
        self,
        cx: &mut EvalContext<'_>,
        last: impl Fn(f64) -> f64 + Sync,
    ) -> Result<(Shape, Vec<T>)> {
        let Sizes { rows, inner, columns } = self.sizes;
        let (a, b, c) = (cx.factor(0)?, cx.factor(1)?, cx.maybe_floats(2)?);
        let (a, b) = (a.numbers(), b.numbers());
        let exact = a.are_singles() && b.are_singles();
        let steps = |turn, rows, columns| if turn { [1, rows] } else { [columns, 1] };
        let steps = [steps(self.turn[0], rows, inner), steps(self.turn[1], inner, columns)];
        let left = cx.packed(0, Side::First, self.sizes, steps[0])?;
        let right = cx.packed(1, Side::Second, self.sizes, steps[1])?;
        let matrix = |numbers, [row, column]: [usize; 2]| Matrix::new(numbers, row, column);
        let a = matrix(a, steps[0]).packed(left.as_deref(), 0);
        let b = matrix(b, steps[1]).packed(right.as_deref(), 0);
        let bias = c.as_deref().zip(self.bias);
        let finish = |_, row: usize, column: usize, sums: &[f64], out: &mut [T]| {
            for (at, (out, &sum)) in out.iter_mut().zip(sums).enumerate() {
                let added = bias.map_or(0.0, |(c, [by_row, by_column])| {
                    self.beta * c[row * by_row + (column + at) * by_column]
                });
                *out = T::from_f64(last(self.alpha * sum + added));
            }
        };
        let numbers = finished(cx, &[Factors { a: &a, b: &b, exact }], self.sizes, finish)?;
        Ok((self.shape, numbers))
    }

    /// The result of integers.
    fn integers(self, cx: &mut EvalContext<'_>) -> Result<(Shape, Vec<Number>)> {
        let Sizes { rows, inner, columns } = self.sizes;
        let count = cx.tensor(0)?.len().saturating_add(cx.tensor(1)?.len());
        // Factors, the same turned, and the numbers of the product.
        cx.reserve(product(count, 16) + product(rows * columns, 2 * size_of::<Number>()))?;
        let (mut left, mut right) =
            (<Wrapping<i64>>::read(cx.tensor(0)?)?, <Wrapping<i64>>::read(cx.tensor(1)?)?);
        if self.turn[0] {
            left = swapped(&left, inner, rows);
        }
        if self.turn[1] {
            right = swapped(&right, columns, inner);
        }
        let limits = cx.limits();
        let adding = cx.adding(&limits)?;
        let sums = products(cx, &left, &right, self.sizes, &[(0, 0)], adding)?;
        let bias = if cx.has(2) { Some(cx.numbers(2)?) } else { None };
        let element = |(place, sum): (usize, Wrapping<i64>)| {
            let added = bias.as_ref().zip(self.bias).map(|(bias, [by_row, by_column])| {
                bias[place / columns * by_row + place % columns * by_column]
            });
            match added {
                None if self.alpha == 1.0 => Number::Int(sum.0.into()),
                Some(Number::Int(added)) if self.alpha == 1.0 && self.beta == 1.0 => {
                    Number::Int(i128::from(sum.0) + added)
                }
                added => {
                    let sum = self.alpha * convert::nearest_f64(Number::Int(sum.0.into()));
                    Number::Float(sum + added.map_or(0.0, |added| self.beta * convert::nearest_f64(added)))
                }
            }
        };
        Ok((self.shape, sums.into_iter().enumerate().map(element).collect()))
    }
}

/// An operand with named axes, each once.
struct Subscripted<T> {
    names: Vec<char>,
    numbers: Vec<T>,
}

impl<T: Ring> Subscripted<T> {
    /// The elements with these axes in this order, summed along all others. An axis of size 1 is
    /// repeated.
    fn arranged(
        cx: &mut EvalContext<'_>,
        numbers: &[T],
        dims: &[usize],
        own: &[char],
        names: Vec<char>,
        sizes: &HashMap<char, usize>,
    ) -> Result<Subscripted<T>> {
        let strides = Shape::new(dims)?.strides();
        let stride = |name: char| {
            let axes = (0..dims.len()).filter(|&axis| own[axis] == name && dims[axis] != 1);
            axes.map(|axis| strides[axis]).sum::<usize>()
        };
        let mut summed: Vec<_> = own.iter().copied().filter(|name| !names.contains(name)).collect();
        summed.shared_sort();
        summed.dedup();
        let steps =
            |names: &[char]| names.iter().map(|&name| (sizes[&name], stride(name))).collect::<Vec<_>>();
        let (outer, inner) = (steps(&names), steps(&summed));
        let count =
            |steps: &[(usize, usize)]| Shape::new(steps.iter().map(|step| step.0).collect::<Vec<_>>());
        let (outer_len, inner_len) = (count(&outer)?.len(), count(&inner)?.len());
        cx.run.touch(product(outer_len, inner_len))?;
        cx.reserve(product(outer_len.saturating_add(inner_len), 2 * size_of::<usize>()))?;
        let places = |steps: &[(usize, usize)]| {
            steps.iter().fold(vec![0], |places, &(size, stride)| {
                places.iter().flat_map(|place| (0..size).map(move |at| place + at * stride)).collect()
            })
        };
        let inner = places(&inner);
        let sum = |place: usize| {
            let mut sum = T::default();
            for at in &inner {
                sum += numbers[place + at];
            }
            sum
        };
        Ok(Subscripted { numbers: places(&outer).into_iter().map(sum).collect(), names })
    }
}

/// `Einsum`: sums of products along named axes.
pub fn einsum(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    if cx.tensor(0)?.dtype().is_float() {
        contracted::<f64>(attributes, cx)
    } else {
        contracted::<Wrapping<i64>>(attributes, cx)
    }
}

/// Multiplies the operands one after the other, and sums along axes that no later one has.
fn contracted<T: Ring>(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let operands = (0..cx.inputs.len()).map(|input| cx.tensor(input)).collect::<Result<Vec<_>>>()?;
    let ranks: Vec<_> = operands.iter().map(|operand| operand.shape().rank()).collect();
    let equation = Equation::new(required("equation", attributes.text("equation")?)?, &ranks)?;
    let equation = equation.of_equal_ellipses()?;
    let mut sizes = HashMap::new();
    for (names, operand) in equation.terms.iter().zip(&operands) {
        for (&name, &size) in names.iter().zip(operand.shape().dims()) {
            let known = sizes.entry(name).or_insert(1);
            *known = if *known == 1 { size } else { *known };
        }
    }
    let (mut all, limits): (Option<Subscripted<T>>, _) = (None, cx.limits());
    for (index, operand) in operands.iter().enumerate() {
        let own = &equation.terms[index];
        let later = &equation.terms[index + 1..];
        let kept =
            |name: char| equation.result.contains(&name) || later.iter().any(|term| term.contains(&name));
        cx.reserve(product(operand.len(), size_of::<T>()))?;
        let numbers = T::read(operand)?;
        let dims = operand.shape().dims();
        let Some(before) = all else {
            let mut names: Vec<_> = own.iter().copied().filter(|&name| kept(name)).collect();
            names.shared_sort();
            names.dedup();
            all = Some(Subscripted::arranged(cx, &numbers, dims, own, names, &sizes)?);
            continue;
        };
        let both = |name: &char| own.contains(name) && before.names.contains(name);
        let mut names: Vec<_> = before.names.iter().chain(own).copied().collect();
        names.shared_sort();
        names.dedup();
        let part = |wanted: &dyn Fn(&char) -> bool| names.iter().copied().filter(wanted).collect::<Vec<_>>();
        let batch = part(&|name| both(name) && kept(*name));
        let inner = part(&|name| both(name) && !kept(*name));
        let rows = part(&|name| !own.contains(name) && kept(*name));
        let columns = part(&|name| !before.names.contains(name) && kept(*name));
        let before_dims: Vec<_> = before.names.iter().map(|name| sizes[name]).collect();
        let left = [&batch[..], &rows, &inner].concat();
        let right = [&batch[..], &inner, &columns].concat();
        let left = Subscripted::arranged(cx, &before.numbers, &before_dims, &before.names, left, &sizes)?;
        let right = Subscripted::arranged(cx, &numbers, dims, own, right, &sizes)?;
        let len = |names: &[char]| names.iter().map(|name| sizes[name]).product::<usize>();
        let of = Sizes { rows: len(&rows), inner: len(&inner), columns: len(&columns) };
        let matrices = if of.rows * of.columns == 0 { 0 } else { len(&batch) };
        let pairs: Vec<_> = (0..matrices).map(|at| (at, at)).collect();
        // Numbers of a product before may be no numbers of float32.
        let adding = if index == 1 { cx.adding(&limits)? } else { cx.adding_doubles(&limits)? };
        let numbers = products(cx, &left.numbers, &right.numbers, of, &pairs, adding)?;
        all = Some(Subscripted { names: [batch, rows, columns].concat(), numbers });
    }
    let all = all.ok_or_else(|| errors::count("operands", 0, "at least 1"))?;
    let dims: Vec<_> = all.names.iter().map(|name| sizes[name]).collect();
    let result = Subscripted::arranged(cx, &all.numbers, &dims, &all.names, equation.result, &sizes)?;
    let (dtype, shape) = cx.output(0)?;
    one(T::tensor(dtype, shape, &result.numbers)?)
}

/// The elements of an input less its zero points: one for all, or one for each row of the first
/// factor or each column of the second.
pub fn shifted(cx: &EvalContext<'_>, input: usize, zero: usize) -> Result<Vec<f64>> {
    let mut numbers = cx.floats(input)?;
    if !cx.has(zero) {
        return Ok(numbers);
    }
    let (dims, zeros) = (cx.tensor(input)?.shape().dims(), cx.tensor(zero)?);
    let mut own = zeros.shape().dims().to_vec();
    // Rows of the first factor are along its last axis but one.
    if input == 0 && own.len() == 1 && own[0] != 1 && dims.len() > 1 {
        own.push(1);
    }
    let zeros = f64::read(zeros)?;
    let places = indices::broadcast(&own, dims);
    numbers.iter_mut().zip(places).for_each(|(x, place)| *x -= zeros[place]);
    Ok(numbers)
}

/// The sums of products of shifted integers, which float64 holds.
pub fn integer_products(cx: &mut EvalContext<'_>, [a, b]: [usize; 2], zeros: [usize; 2]) -> Result<Vec<f64>> {
    let (x, y) = (shifted(cx, a, zeros[0])?, shifted(cx, b, zeros[1])?);
    let (a, b) = (cx.tensor(a)?, cx.tensor(b)?);
    let Product { sizes, pairs, .. } = Product::new(cx, DType::F64, a.shape().dims(), b.shape().dims())?;
    let limits = cx.limits();
    let adding = cx.adding(&limits)?;
    products(cx, &x, &y, sizes, &pairs, adding)
}

/// `MatMulInteger`: products of integers less their zero points.
pub fn mat_mul_integer(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let sums = integer_products(cx, [0, 1], [2, 3])?;
    Ok(vec![cx.rounded(0, &sums)?])
}
