//! Running operators that look at many elements at once: reductions, sums along an axis, orders,
//! products of matrices.
//!
//! | operators | computed |
//! |---|---|
//! | `ReduceSum`, `ReduceProd`, `ReduceMean`, `ReduceSumSquare`, `ReduceL1`, `ReduceL2`, `ReduceLogSum`, `ReduceLogSumExp` | integers wrap; floats in float64, then rounded |
//! | `ReduceMax`, `ReduceMin`, `ArgMax`, `ArgMin`, `TopK`, `Unique`, `NonZero` | exactly |
//! | `CumSum`, `MatMul`, `Gemm` | integers wrap; floats in float64, then rounded |

use gradus_core::convert::{self, FromNumber, i64_of, product, usize_of_i64};
use gradus_core::graph::Standard;
use gradus_core::tensor::byte_len;
use gradus_core::{Class, DType, Limits, Number, Result, Shape, Tensor, Value, dispatch};
use gradus_kernels::share;

use crate::attributes::Attributes;
use crate::fact::range_of;
use crate::floats::{Adding, Ring};
use crate::indices::{self, Along};
use crate::op::EvalContext;
use crate::output::{allowed, one};
use crate::strided::threads_for;
use crate::{Reduces, errors};

/// An order of numbers in which NaN comes last.
pub fn order(a: Number, b: Number) -> std::cmp::Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (a, b) => {
            let (a, b) = (convert::nearest_f64(a), convert::nearest_f64(b));
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
    }
}

/// Describes what a reduction makes of some numbers.
fn reduced(operator: &str, adding: Adding<'_>, dtype: DType, numbers: &[Number]) -> Result<Number> {
    let whole = numbers.iter().all(|number| matches!(number, Number::Int(_)));
    let none = || errors::count("elements to reduce", 0, "at least 1");
    match operator {
        // The maximum of no elements is the smallest value of the type, and the other way round.
        "ReduceMax" | "ReduceMin" if numbers.is_empty() => {
            let most = operator == "ReduceMin";
            Ok(match range_of(dtype) {
                Some((low, high)) => Number::Int(i128::from(if most { high } else { low })),
                None => Number::Float(if most { f64::INFINITY } else { f64::NEG_INFINITY }),
            })
        }
        "ReduceMax" => numbers.iter().copied().max_by(|a, b| order(*a, *b)).ok_or_else(none),
        // NaN is the minimum as well, if there is one.
        "ReduceMin" => {
            let nan = |number: &&Number| matches!(number, Number::Float(x) if x.is_nan());
            let min = || numbers.iter().min_by(|a, b| order(**a, **b));
            numbers.iter().find(nan).or_else(min).copied().ok_or_else(none)
        }
        _ if whole
            && !numbers.is_empty()
            && !matches!(operator, "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp") =>
        {
            let int = |number: &Number| if let Number::Int(x) = number { *x } else { 0 };
            let wrapped = |x: i128| i128::from(i64::from_number(Number::Int(x)));
            let all = numbers.iter().map(int);
            Ok(Number::Int(match operator {
                "ReduceProd" => all.fold(1, |product, x| wrapped(product.wrapping_mul(x))),
                "ReduceSumSquare" => all.fold(0, |sum, x| wrapped(sum + wrapped(x.wrapping_mul(x)))),
                "ReduceL1" => all.fold(0, |sum, x| sum + x.abs()),
                "ReduceMean" => all.sum::<i128>() / i128::from(i64_of(numbers.len())),
                _ => all.sum(),
            }))
        }
        _ => {
            let all = numbers.iter().map(|&number| convert::nearest_f64(number));
            Ok(Number::Float(reduced_floats(operator, adding, all)))
        }
    }
}

/// Describes what a reduction other than `ReduceMax` and `ReduceMin` makes of some floats.
fn reduced_floats(
    operator: &str,
    adding: Adding<'_>,
    all: impl ExactSizeIterator<Item = f64> + Clone,
) -> f64 {
    let count = all.len();
    match operator {
        "ReduceProd" => all.product(),
        "ReduceLogSumExp" => {
            // `f64::max` would lose a NaN.
            let larger = |most: f64, x: f64| if x > most || x.is_nan() { x } else { most };
            let most = all.clone().fold(f64::NEG_INFINITY, larger);
            let powers = all.map(|x| libm::exp(x - most));
            if most.is_finite() { most + libm::log(adding.within().sum(powers)) } else { most }
        }
        "ReduceSumSquare" | "ReduceL2" => of_sum(operator, adding.products(all.map(square)), count),
        "ReduceL1" => of_sum(operator, adding.products(all.map(magnitude)), count),
        _ => of_sum(operator, adding.products(all.map(itself)), count),
    }
}

/// Terms of sums: two factors each.
fn itself(x: f64) -> (f64, f64) {
    (x, 1.0)
}

fn square(x: f64) -> (f64, f64) {
    (x, x)
}

fn magnitude(x: f64) -> (f64, f64) {
    (x.abs(), 1.0)
}

/// The result of a reduction whose terms have a sum.
fn of_sum(operator: &str, sum: f64, count: usize) -> f64 {
    match operator {
        "ReduceMean" => sum / convert::nearest_f64(Number::Int(i128::from(i64_of(count)))),
        "ReduceSumSquare" | "ReduceL1" => sum,
        "ReduceL2" => sum.sqrt(),
        "ReduceLogSum" => libm::log(sum),
        // The sum of negative zeros is plus zero.
        _ => sum + 0.0,
    }
}

/// Number of rows that are reduced at a time.
const ROWS: usize = 8;

/// A reduction of floats along the last axes, whose elements lie side by side.
fn reduced_rows(cx: &EvalContext<'_>, size: usize, shape: Shape) -> Result<Vec<Value>> {
    let (operator, limits, numbers) = (cx.operator, cx.limits(), cx.floats(0)?);
    cx.reserve(product(shape.len(), 2 * size_of::<f64>()))?;
    let adding = cx.adding(&limits)?;
    let rows = |all: &[f64], out: &mut [f64]| {
        let sums = match (operator, out.len()) {
            ("ReduceProd" | "ReduceLogSumExp", _) | (_, ..ROWS) => None,
            _ => {
                let rows: [&[f64]; ROWS] = std::array::from_fn(|at| &all[at * size..][..size]);
                Some(match operator {
                    "ReduceSumSquare" | "ReduceL2" => adding.rows(rows, square),
                    "ReduceL1" => adding.rows(rows, magnitude),
                    _ => adding.rows(rows, itself),
                })
            }
        };
        for (at, (out, row)) in out.iter_mut().zip(all.chunks(size)).enumerate() {
            limits.check()?;
            *out = match sums {
                Some(sums) => of_sum(operator, sums[at], size),
                None => reduced_floats(operator, adding, row.iter().copied()),
            };
        }
        Ok::<_, gradus_core::Error>(())
    };
    let mut results = vec![0.0; shape.len()];
    let parts = results.chunks_mut(ROWS).zip(numbers.chunks(ROWS * size));
    share(parts, threads_for(product(numbers.len(), 1)), || (), |(), (out, all)| rows(all, out))?;
    one(f64::tensor(cx.tensor(0)?.dtype(), shape, &results)?)
}

/// The places of the elements along some axes, one group after the other.
pub struct Groups {
    places: Vec<usize>,
    count: usize,
    size: usize,
}

impl Groups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The places of a group.
    pub fn get(&self, group: usize) -> &[usize] {
        &self.places[group * self.size..(group + 1) * self.size]
    }

    /// The groups, each as the flat indices of its elements.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.count).map(|group| self.get(group))
    }
}

/// For each element of a result, the places of the elements along some axes.
///
/// # Errors
/// [`Kind::Limit`](gradus_core::Kind::Limit) if the limits do not allow the list of indices.
pub fn groups(cx: &EvalContext<'_>, dims: &[usize], axes: &[usize]) -> Result<Groups> {
    let kept: Vec<_> = (0..dims.len()).filter(|axis| !axes.contains(axis)).collect();
    let perm = [&kept[..], axes].concat();
    let size: usize = axes.iter().map(|&axis| dims[axis]).product();
    let count: usize = kept.iter().map(|&axis| dims[axis]).product();
    // One result for each group as well: without elements, there may be any number of groups.
    cx.reserve(product(count, size.saturating_mul(2).saturating_add(1).saturating_mul(size_of::<usize>())))?;
    Ok(Groups { places: indices::turned(dims, &perm), count, size })
}

/// The dimensions without some axes, or with 1 in their place.
fn left(dims: &[usize], axes: &[usize], keep: bool) -> Vec<usize> {
    let one = |axis: usize| match (axes.contains(&axis), keep) {
        (false, _) => Some(dims[axis]),
        (true, true) => Some(1),
        (true, false) => None,
    };
    (0..dims.len()).filter_map(one).collect()
}

/// `ReduceSum` and the other reductions over axes.
pub fn reduce(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axes = cx.maybe_integers(1)?.unwrap_or_default();
    let axes = match axes.is_empty() {
        false => indices::axes(&axes, dims.len())?,
        true if !attributes.flag("noop_with_empty_axes", false)? => (0..dims.len()).collect(),
        // Each element is reduced alone: it is unchanged, or becomes its square, size or logarithm.
        true if crate::row(Standard::Onnx, "", cx.operator)
            .is_some_and(|row| row.reduces == Reduces::Nested) =>
        {
            return one(data.clone());
        }
        true => Vec::new(),
    };
    let shape = Shape::new(left(dims, &axes, attributes.flag("keepdims", true)?))?;
    let last = axes.iter().copied().eq(dims.len() - axes.len()..dims.len());
    if last
        && data.dtype().is_float()
        && !data.is_empty()
        && !matches!(cx.operator, "ReduceMax" | "ReduceMin")
    {
        return reduced_rows(cx, axes.iter().map(|&axis| dims[axis]).product(), shape);
    }
    let numbers = cx.numbers(0)?;
    let groups = groups(cx, dims, &axes)?;
    // The numbers of a group, and one for each.
    cx.reserve(
        product(groups.size.saturating_add(groups.len()), size_of::<Number>())
            + byte_len(data.dtype(), &shape),
    )?;
    let limits = cx.limits();
    let adding = cx.adding(&limits)?;
    let each = groups.iter().map(|places| {
        reduced(
            cx.operator,
            adding,
            data.dtype(),
            &places.iter().map(|&place| numbers[place]).collect::<Vec<_>>(),
        )
    });
    let each = cx.limits().try_collect(each)?;
    one(Tensor::from_numbers(data.dtype(), shape, each, convert::Rules::IEEE)?)
}

/// `ArgMax` and `ArgMin`: the index of the extreme element along an axis.
pub fn arg(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(0), dims.len())?;
    allowed(cx, data.dtype(), dims)?;
    let numbers = cx.numbers(0)?;
    let (most, last) = (cx.operator == "ArgMax", attributes.flag("select_last_index", false)?);
    let groups = groups(cx, dims, &[axis])?;
    let each = groups.iter().map(|places| {
        let mut best = 0;
        for (i, &place) in places.iter().enumerate().skip(1) {
            let beside = order(numbers[place], numbers[places[best]]);
            let better = if most { beside.is_gt() } else { beside.is_lt() };
            if better || (last && beside.is_eq()) {
                best = i;
            }
        }
        if places.is_empty() {
            Err(errors::count("elements to reduce", 0, "at least 1"))
        } else {
            Ok(i64_of(best))
        }
    });
    let shape = Shape::new(left(dims, &[axis], attributes.flag("keepdims", true)?))?;
    one(Tensor::from_vec(shape, cx.limits().try_collect(each)?)?)
}

/// `TopK`: the `k` largest or smallest elements along an axis, and their indices.
pub fn top_k(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-1), dims.len())?;
    let k = cx.integer(1)?;
    let in_range = usize_of_i64(k).filter(|&k| k <= dims[axis]);
    let k = in_range.ok_or_else(|| errors::value("k", k, format_args!("0 to {}", dims[axis])))?;
    allowed(cx, data.dtype(), dims)?;
    let numbers = cx.numbers(0)?;
    let largest = attributes.flag("largest", true)?;
    let mut result = dims.to_vec();
    result[axis] = k;
    let shape = Shape::new(result.clone())?;
    let inner: usize = dims[axis + 1..].iter().product();
    let (mut chosen, mut indices) = (vec![0; shape.len()], vec![0i64; shape.len()]);
    for (group, places) in groups(cx, dims, &[axis])?.iter().enumerate() {
        cx.limits().check()?;
        let mut ranked: Vec<_> = places.iter().copied().enumerate().collect();
        ranked.sort_by(|a, b| {
            let order = order(numbers[a.1], numbers[b.1]);
            if largest { order.reverse() } else { order }
        });
        let (row, column) = (group / inner.max(1), group % inner.max(1));
        for (rank, (index, place)) in ranked.into_iter().take(k).enumerate() {
            let at = (row * k + rank) * inner + column;
            (chosen[at], indices[at]) = (place, i64_of(index));
        }
    }
    Ok(vec![
        data.picked(shape.clone(), &chosen, &cx.limits())?.into(),
        Tensor::from_vec(shape, indices)?.into(),
    ])
}

/// `NonZero`: the indices of elements that are not zero, one row for each axis.
pub fn non_zero(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    // Lists of unknown length grow by doubling.
    cx.reserve(product(data.len(), 2 * size_of::<usize>()))?;
    let found: Vec<usize> = match data.dtype().class() {
        Class::Text => {
            (0..data.len()).filter(|&i| data.texts().is_ok_and(|texts| !texts[i].is_empty())).collect()
        }
        _ => data.numbers()?.enumerate().filter(|(_, number)| !number.is_zero()).map(|(i, _)| i).collect(),
    };
    let shape = allowed(cx, DType::I64, &[dims.len(), found.len()])?;
    let strides = data.shape().strides();
    let each = (0..dims.len()).flat_map(|axis| {
        let (stride, size) = (strides[axis], dims[axis]);
        found.iter().map(move |place| i64_of(place / stride % size))
    });
    one(Tensor::from_vec(shape, each.collect::<Vec<_>>())?)
}

/// `Unique`: distinct elements or slices, with indices and counts.
pub fn unique(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    allowed(cx, data.dtype(), dims)?;
    // Slices along the axis, or single elements.
    let (axis, slices) = match attributes.int("axis")? {
        Some(axis) => {
            let axis = indices::axis(axis, dims.len())?;
            let others: Vec<_> = (0..dims.len()).filter(|&other| other != axis).collect();
            (Some(axis), groups(cx, dims, &others)?)
        }
        None => (None, Groups { places: (0..data.len()).collect(), count: data.len(), size: 1 }),
    };
    let texts = data.texts().ok();
    let numbers: Vec<Number> = if texts.is_some() { Vec::new() } else { cx.numbers(0)? };
    let compare = |a: usize, b: usize| {
        let each = slices.get(a).iter().zip(slices.get(b)).map(|(&x, &y)| match texts {
            Some(texts) => texts[x].cmp(&texts[y]),
            None => order(numbers[x], numbers[y]),
        });
        each.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    // The lists below have a number for each slice, or two.
    cx.reserve(product(slices.len(), 16 * size_of::<usize>()))?;
    let mut ranked: Vec<usize> = (0..slices.len()).collect();
    ranked.sort_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    // By kind: the first slice that is of it, and how many are.
    let mut kinds: Vec<(usize, i64)> = Vec::new();
    let mut kind_of = vec![0; slices.len()];
    for &slice in &ranked {
        match kinds.last_mut() {
            Some((first, count)) if compare(*first, slice).is_eq() => *count += 1,
            _ => kinds.push((slice, 1)),
        }
        kind_of[slice] = kinds.len() - 1;
    }
    let mut shown: Vec<usize> = (0..kinds.len()).collect();
    if !attributes.flag("sorted", true)? {
        shown.sort_by_key(|&kind| kinds[kind].0);
    }
    let mut rank_of = vec![0; kinds.len()];
    for (rank, &kind) in shown.iter().enumerate() {
        rank_of[kind] = i64_of(rank);
    }
    let firsts: Vec<usize> = shown.iter().map(|&kind| kinds[kind].0).collect();
    let values = match axis {
        None => data.picked(Shape::vector(firsts.len()), &firsts, &cx.limits())?,
        Some(axis) => {
            let mut indices = indices::all(dims);
            indices[axis] = Along::List(firsts.clone());
            let shape: Vec<_> = indices.iter().map(Along::len).collect();
            data.picked(Shape::new(shape)?, &indices::chosen(dims, &indices), &cx.limits())?
        }
    };
    let first: Vec<i64> = firsts.iter().map(|&slice| i64_of(slice)).collect();
    let inverse: Vec<i64> = kind_of.iter().map(|&kind| rank_of[kind]).collect();
    let counts: Vec<i64> = shown.iter().map(|&kind| kinds[kind].1).collect();
    let index = |all: &[i64]| Value::from(Tensor::vector(all));
    Ok(vec![values.into(), index(&first), index(&inverse), index(&counts)])
}

/// `CumSum` and `CumProd`: cumulative sums or products along an axis.
pub fn cum_sum(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    fn all<T: FromNumber>(
        data: &Tensor,
        groups: &Groups,
        exclusive: bool,
        reverse: bool,
        multiply: bool,
        limits: &Limits,
    ) -> Result<Tensor> {
        let mut elements = data.elements::<T>()?.into_owned();
        for places in groups.iter() {
            limits.check()?;
            // The first element is copied as it is, so that -0.0 stays what it is.
            let mut sum = T::from_number(match (multiply, exclusive) {
                (false, false) => Number::Float(-0.0),
                _ => Number::Int(i128::from(multiply)),
            });
            for i in 0..places.len() {
                let place = places[if reverse { places.len() - 1 - i } else { i }];
                let before = sum;
                let next = match (sum.number(), elements[place].number()) {
                    (Number::Int(a), Number::Int(b)) if multiply => Number::Int(a.wrapping_mul(b)),
                    (Number::Int(a), Number::Int(b)) => Number::Int(a + b),
                    (a, b) if multiply => Number::Float(convert::nearest_f64(a) * convert::nearest_f64(b)),
                    (a, b) => Number::Float(convert::nearest_f64(a) + convert::nearest_f64(b)),
                };
                sum = T::from_number(next);
                elements[place] = if exclusive { before } else { sum };
            }
        }
        Tensor::from_vec(data.shape().clone(), elements)
    }
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(cx.integer(1)?, dims.len())?;
    allowed(cx, data.dtype(), dims)?;
    let groups = groups(cx, dims, &[axis])?;
    let (exclusive, reverse) = (attributes.flag("exclusive", false)?, attributes.flag("reverse", false)?);
    let multiply = cx.operator == "CumProd";
    let result = dispatch!(data.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => all(data, &groups, exclusive, reverse, multiply, &cx.limits()),
        dtype => Err(errors::dtype(dtype, "integers of 8 bits or more, or a float type")));
    one(result?)
}
