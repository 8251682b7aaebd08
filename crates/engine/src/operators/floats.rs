//! Numbers that operators compute with: float64 for floats, 64-bit integers that wrap for integers.
//!
//! Float64 holds every float of at most 32 bits exactly, and the product of two of them. Operators
//! add in a fixed order and round once, at the end, so that results do not depend on the processor
//! or on the number of threads.

use std::fmt::Debug;
use std::num::Wrapping;
use std::ops::{AddAssign, Mul};
#[cfg(feature = "run")]
use std::sync::Arc;

use gradus_core::convert::{self, FromNumber, Rules, product};
use gradus_core::element::Element;
use gradus_core::{DType, Limits, Number, Result, Shape, Tensor, Value, dispatch};
#[cfg(feature = "run")]
pub use gradus_kernels::product::{Layout, Matrix, Numbers, PackedFactor, Side, Sizes};
use gradus_kernels::{Destination, SumType, Sums};
#[cfg(feature = "run")]
use gradus_kernels::{Options, multiply_with, product as kernel, share};

use crate::op::EvalContext;
#[cfg(feature = "run")]
use crate::operators::strided::{elements, threads_for};

/// Numbers that are added and multiplied.
pub trait Ring: Copy + Debug + Default + Send + Sync + AddAssign + Mul<Output = Self> {
    /// Reads the elements of a tensor.
    fn read(tensor: &Tensor) -> Result<Vec<Self>>;

    /// Makes a tensor: floats are rounded once, integers wrap.
    fn tensor(dtype: DType, shape: Shape, numbers: &[Self]) -> Result<Tensor>;

    /// Multiplies pairs of matrices, which are named by their numbers in `a` and `b`. Sums are in
    /// the order of the summed axis, however the work is shared.
    #[cfg(feature = "run")]
    fn multiply(
        factors: [&[Self]; 2],
        sizes: Sizes,
        pairs: &[(usize, usize)],
        results: &mut [Self],
        adding: Adding<'_>,
    ) -> Result<()>;
}

impl Ring for f64 {
    fn read(tensor: &Tensor) -> Result<Vec<f64>> {
        fn wide<T: Element>(tensor: &Tensor) -> Result<Vec<f64>> {
            Ok(tensor.elements::<T>()?.iter().map(|x| convert::nearest_f64(x.number())).collect())
        }
        #[cfg(feature = "run")]
        if tensor.dtype() == DType::F32 {
            let mut wide = vec![0.0; tensor.len()];
            Numbers::Singles(elements(tensor)).read(0, 1, &mut wide);
            return Ok(wide);
        }
        dispatch!(tensor.dtype(), [Bool, I8, U8, I32, I64, F16, BF16, F32, F64] => wide(tensor),
            _ => Ok(tensor.numbers()?.map(convert::nearest_f64).collect()))
    }

    fn tensor(dtype: DType, shape: Shape, numbers: &[f64]) -> Result<Tensor> {
        fn rounded<T: FromNumber>(shape: Shape, numbers: &[f64]) -> Result<Tensor> {
            Tensor::from_vec(shape, numbers.iter().map(|&x| T::from_f64(x)).collect())
        }
        dispatch!(dtype, [F16, BF16, F32, F64] => rounded(shape, numbers),
            _ => Tensor::from_numbers(dtype, shape, numbers.iter().map(|&x| Number::Float(x)), Rules::IEEE))
    }

    #[cfg(feature = "run")]
    fn multiply(
        [a, b]: [&[f64]; 2],
        sizes: Sizes,
        pairs: &[(usize, usize)],
        results: &mut [f64],
        adding: Adding<'_>,
    ) -> Result<()> {
        let factors = [Numbers::Doubles(a), Numbers::Doubles(b)];
        let matrices = matrices(factors, sizes, pairs);
        let exact = factors.iter().all(Numbers::are_singles);
        let products: Vec<_> = matrices.iter().map(|[a, b]| kernel::Product { a, b, exact }).collect();
        let store = |_, _, _, sums: &[f64], out: &mut [f64]| out.copy_from_slice(sums);
        adding.multiply(&products, sizes, results, Options::default(), store)
    }
}

/// How the sums of a product are added.
#[derive(Clone, Copy, Debug)]
pub struct Adding<'a> {
    pub sums: Sums,
    pub to: Destination,
    pub limits: &'a Limits,
}

impl Adding<'_> {
    /// How sums are added that a result is computed from: narrow sums become intermediate ones.
    pub fn within(self) -> Self {
        let to = if self.to == Destination::Narrow { Destination::Intermediate } else { self.to };
        Adding { to, ..self }
    }

    /// The sum of numbers.
    pub fn sum(self, numbers: impl Iterator<Item = f64>) -> f64 {
        self.products(numbers.map(|x| (x, 1.0)))
    }

    /// The sum of products.
    pub fn products(self, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        self.sums.of(terms, self.to)
    }

    /// The sums of the terms of rows; see [`Sums::of_rows`].
    pub fn rows<const R: usize>(self, rows: [&[f64]; R], term: impl Fn(f64) -> (f64, f64)) -> [f64; R] {
        self.sums.of_rows(rows, term, self.to)
    }

    /// The type in which products, which are exact in float64 or not, are added by vectors; see
    /// [`Sums::term`].
    pub fn term(self, exact: bool) -> Option<SumType> {
        self.sums.term(self.to, exact)
    }

    /// Multiplies matrices; see [`multiply_with`].
    #[cfg(feature = "run")]
    pub fn multiply<T: Element>(
        self,
        products: &[kernel::Product<'_>],
        sizes: Sizes,
        out: &mut [T],
        options: Options,
        store: impl Fn(usize, usize, usize, &[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        let check = || self.limits.check();
        multiply_with((self.sums, self.to), products, sizes, out, options, check, store)
    }
}

/// The matrices of pairs, whose elements lie in row-major order.
#[cfg(feature = "run")]
pub fn matrices<'a>(
    [a, b]: [Numbers<'a>; 2],
    Sizes { rows, inner, columns }: Sizes,
    pairs: &[(usize, usize)],
) -> Vec<[Matrix<'a>; 2]> {
    let matrix = |all: &Numbers<'a>, at: usize, rows: usize, columns: usize| {
        Matrix::new(all.range(at * rows * columns..(at + 1) * rows * columns), columns, 1)
    };
    pairs.iter().map(|&(i, j)| [matrix(&a, i, rows, inner), matrix(&b, j, inner, columns)]).collect()
}

/// A product of two matrices, computed by this thread.
#[cfg(feature = "run")]
pub fn product_of(a: Matrix<'_>, b: Matrix<'_>, sizes: Sizes, adding: Adding<'_>) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; sizes.rows * sizes.columns];
    let exact = a.numbers.are_singles() && b.numbers.are_singles();
    let factors = [kernel::Product { a: &a, b: &b, exact }];
    let store = |_, _, _, sums: &[f64], out: &mut [f64]| out.copy_from_slice(sums);
    adding.multiply(&factors, sizes, &mut sums, Options::ONE_THREAD, store)?;
    Ok(sums)
}

/// Elements of a tensor that products are made of: as they lie there if they are float32, and in
/// float64 otherwise.
#[cfg(feature = "run")]
pub enum Factor<'a> {
    Singles(&'a [[u8; 4]]),
    Doubles(Vec<f64>),
}

#[cfg(feature = "run")]
impl Factor<'_> {
    /// The factor as numbers of its element type.
    pub fn numbers(&self) -> Numbers<'_> {
        match self {
            Factor::Singles(all) => Numbers::Singles(all),
            Factor::Doubles(all) => Numbers::Doubles(all),
        }
    }
}

impl Ring for Wrapping<i64> {
    fn read(tensor: &Tensor) -> Result<Vec<Wrapping<i64>>> {
        let wrapped = |number| Wrapping(convert::wrapped(number).cast_signed());
        Ok(tensor.numbers()?.map(wrapped).collect())
    }

    fn tensor(dtype: DType, shape: Shape, numbers: &[Wrapping<i64>]) -> Result<Tensor> {
        let number = |x: &Wrapping<i64>| Number::Int(x.0.into());
        Tensor::from_numbers(dtype, shape, numbers.iter().map(number), Rules::IEEE)
    }

    #[cfg(feature = "run")]
    fn multiply(
        [a, b]: [&[Wrapping<i64>]; 2],
        Sizes { rows, inner, columns }: Sizes,
        pairs: &[(usize, usize)],
        results: &mut [Wrapping<i64>],
        adding: Adding<'_>,
    ) -> Result<()> {
        let row = |(at, row): (usize, &mut [Wrapping<i64>])| {
            adding.limits.check()?;
            let (i, j) = pairs[at / rows];
            let a = &a[(i * rows + at % rows) * inner..][..inner];
            for (&x, b) in a.iter().zip(b[j * inner * columns..].chunks(columns)) {
                row.iter_mut().zip(b).for_each(|(sum, &y)| *sum += x * y);
            }
            Ok(())
        };
        let options = threads_for(product(results.len(), inner));
        share(results.chunks_mut(columns.max(1)).enumerate(), options, || (), |(), at| row(at))
    }
}

impl<'a> EvalContext<'a> {
    /// The elements of an input in float64.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`]; [`gradus_core::Kind::Limit`] if the limits do not allow the
    /// elements.
    pub fn floats(&self, input: usize) -> Result<Vec<f64>> {
        let tensor = self.tensor(input)?;
        self.reserve(product(tensor.len(), size_of::<f64>()))?;
        f64::read(tensor)
    }

    /// The elements of an input that products are made of.
    ///
    /// # Errors
    /// As [`EvalContext::floats`].
    #[cfg(feature = "run")]
    pub fn factor(&self, input: usize) -> Result<Factor<'a>> {
        let tensor = self.tensor(input)?;
        if tensor.dtype() == DType::F32 {
            return Ok(Factor::Singles(elements(tensor)));
        }
        Ok(Factor::Doubles(self.floats(input)?))
    }

    /// The matrices of an input, `steps` apart from a row and from a column to the next one, packed
    /// as a factor of products of these sizes: those of a constant, in the second run that multiplies
    /// it, for all later ones. Packed constants hold at most a quarter of the memory that the limits
    /// allow.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`]; [`gradus_core::Kind::Limit`].
    #[cfg(feature = "run")]
    pub fn packed(
        &self,
        input: usize,
        side: Side,
        sizes: Sizes,
        steps: [usize; 2],
    ) -> Result<Option<Arc<PackedFactor>>> {
        let (tensor, limits) = (self.tensor(input)?, self.limits());
        let across = if side == Side::First { sizes.rows } else { sizes.columns };
        let matrices = tensor.len().checked_div(across * sizes.inner).unwrap_or(0);
        let layout = Layout::new(side, matrices, sizes, steps).filter(|_| tensor.dtype() == DType::F32);
        let Some((layout, sums)) = layout.zip(self.adding(&limits)?.term(true)) else { return Ok(None) };
        let all = elements(tensor);
        let (options, most) = (Options::default(), limits.max_bytes / 4);
        let make = || PackedFactor::new(all, layout, sums, options, most, || limits.check());
        Ok(tensor.kept(make)?.filter(|packed| packed.is(layout, sums, options)))
    }

    /// The exact elements of an input.
    ///
    /// # Errors
    /// As [`EvalContext::floats`].
    pub fn numbers(&self, input: usize) -> Result<Vec<Number>> {
        let tensor = self.tensor(input)?;
        self.reserve(product(tensor.len(), size_of::<Number>()))?;
        self.limits().collect(tensor.numbers()?)
    }

    /// The elements of an input in float64, if it is given.
    ///
    /// # Errors
    /// As [`EvalContext::floats`].
    pub fn maybe_floats(&self, input: usize) -> Result<Option<Vec<f64>>> {
        self.has(input).then(|| self.floats(input)).transpose()
    }

    /// How a node adds that never adds in float32.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`].
    pub fn adding_doubles<'l>(&self, limits: &'l Limits) -> Result<Adding<'l>> {
        let adding = self.adding(limits)?;
        Ok(Adding { sums: adding.sums.in_doubles(), ..adding })
    }

    /// How the node adds: as the run says, to numbers of the type of the first input. A graph that
    /// stands for a node of narrow floats computes in float64, and rounds at its end. Sums of
    /// integers have more digits than float32.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`].
    pub fn adding<'l>(&self, limits: &'l Limits) -> Result<Adding<'l>> {
        let dtype = self.tensor(0)?.dtype();
        let sums = if dtype.is_float() { self.run.sums } else { self.run.sums.in_doubles() };
        let to = match dtype {
            DType::F64 if self.run.narrow => Destination::Intermediate,
            DType::F64 => Destination::Double,
            _ => Destination::Narrow,
        };
        Ok(Adding { sums, to, limits })
    }

    /// An output that has the type and shape that the rule infers.
    ///
    /// # Errors
    /// As [`EvalContext::output`].
    pub fn rounded(&self, output: usize, numbers: &[f64]) -> Result<Value> {
        let (dtype, shape) = self.output(output)?;
        Ok(f64::tensor(dtype, shape, numbers)?.into())
    }
}
