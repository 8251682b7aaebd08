//! Random numbers: one generator for all operators, with the same numbers on every machine.
//!
//! The numbers of a node are a stream of `SplitMix64`: number `n`, counted from 1, is `mix(key + n *
//! 0x9e3779b97f4a7c15)` in 64 bits. The key is `mix(mix(seed) + node)`: of a node that has an
//! attribute `seed`, its bits and 0, so that it draws the same numbers each time it runs;
//! of others, the seed of the run and how many of them have run, this one included.
//!
//! | operator | element `i` |
//! |---|---|
//! | `RandomUniform`, `RandomUniformLike` | `low + (high - low) * u`, where `u` is the upper 53 bits of number `i + 1`, over 2^53 |
//! | `RandomNormal`, `RandomNormalLike` | `mean + scale * sqrt(-2 ln(1 - u)) cos(2 pi v)`, of numbers `2 i + 1` and `2 i + 2` |
//! | `Bernoulli` | 1 if `u` is below the probability |
//! | `Multinomial` | the first class at which the sum of `exp(x - max)` exceeds `u` times the whole sum |
//! | `Dropout` in training | dropped if `u` is below the ratio |
//!
//! Elements are computed in float64, and rounded once.

use gradus_core::convert::product;
use gradus_core::graph::Content;
use gradus_core::{DType, DTypeSet, Number, Result, Tensor, Value, convert};

use crate::attributes::Attributes;
use crate::draws::Draws;
use crate::floats::Ring;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::output::allowed;

/// The random numbers of a node.
pub fn draws(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Draws> {
    // The seed of Dropout is an integer.
    let own = match attributes.get("seed") {
        Some(Content::Int(seed)) => Some(seed.cast_unsigned()),
        _ => attributes.float("seed")?.map(|seed| seed.to_bits().into()),
    };
    cx.run.draws(own)
}

/// A tensor of numbers that are drawn one by one.
fn drawn(cx: &EvalContext<'_>, mut number: impl FnMut() -> f64) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let numbers = cx.limits().collect((0..shape.len()).map(|_| number()))?;
    Ok(vec![f64::tensor(dtype, shape, &numbers)?.into()])
}

fn parameter(attributes: &Attributes<'_>, name: &str, default: f32) -> Result<f64> {
    Ok(attributes.float(name)?.unwrap_or(default).into())
}

/// `RandomUniform`, `RandomUniformLike`.
pub fn uniform(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (low, high) = (parameter(attributes, "low", 0.0)?, parameter(attributes, "high", 1.0)?);
    let mut draws = draws(attributes, cx)?;
    drawn(cx, || low + (high - low) * draws.uniform())
}

/// `RandomNormal`, `RandomNormalLike`.
pub fn normal(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (mean, scale) = (parameter(attributes, "mean", 0.0)?, parameter(attributes, "scale", 1.0)?);
    let mut draws = draws(attributes, cx)?;
    drawn(cx, || mean + scale * draws.normal())
}

/// `Bernoulli`: 1 with the probability of each element, otherwise 0.
pub fn bernoulli(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut draws = draws(attributes, cx)?;
    let mut probabilities = cx.floats(0)?.into_iter();
    let mut one = || f64::from(probabilities.next().is_some_and(|p| draws.uniform() < p));
    drawn(cx, &mut one)
}

/// `Multinomial`: the inputs are logarithms of probabilities, up to a factor for each row.
pub fn multinomial(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut draws = draws(attributes, cx)?;
    let mut sums = cx.floats(0)?;
    let classes = cx.tensor(0)?.shape().dims().last().copied().unwrap_or(0);
    let (dtype, shape) = cx.output(0)?;
    let samples = shape.dims().last().copied().unwrap_or(0);
    cx.reserve(product(shape.len(), size_of::<Number>()))?;
    let mut all = Vec::with_capacity(shape.len());
    for row in sums.chunks_mut(classes.max(1)) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for x in &mut *row {
            sum += libm::exp(*x - largest);
            *x = sum;
        }
        for _ in 0..samples {
            let wanted = draws.uniform() * sum;
            let class = row.partition_point(|&sum| sum <= wanted).min(classes - 1);
            all.push(Number::Int(convert::i64_of(class).into()));
        }
        cx.limits().check()?;
    }
    Ok(vec![Tensor::from_numbers(dtype, shape, all, convert::Rules::IEEE)?.into()])
}

/// `Dropout`: in training, random elements become 0 and the others are scaled; and the mask.
pub fn dropout(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let training = if attributes.form().is(Older::Training) {
        !attributes.flag("is_test", false)?
    } else {
        cx.has(2) && !cx.tensor(2)?.only_number()?.is_zero()
    };
    // Older versions have a mask of the input's type.
    let mask = cx.signature.and_then(|signature| signature.outputs.get(1));
    let of_truth = mask.is_none_or(|mask| mask.types.tensor == DTypeSet::of(&[DType::Bool]));
    let dtype = if of_truth { DType::Bool } else { data.dtype() };
    let shape = allowed(cx, dtype, data.shape().dims())?;
    let mut kept = vec![Number::Int(1); shape.len()];
    let mut output = data.clone();
    if training {
        let ratio = cx.maybe_floats(1)?.and_then(|ratio| ratio.first().copied()).unwrap_or(0.5);
        let mut numbers = cx.floats(0)?;
        cx.reserve(product(numbers.len(), 3 * size_of::<Number>()))?;
        let mut draws = draws(attributes, cx)?;
        for (x, kept) in numbers.iter_mut().zip(&mut kept) {
            let keep = draws.uniform() >= ratio;
            *kept = Number::Int(keep.into());
            *x = if keep { *x / (1.0 - ratio) } else { 0.0 };
        }
        output = f64::tensor(data.dtype(), shape.clone(), &numbers)?;
    }
    let mask = Tensor::from_numbers(dtype, shape, kept, convert::Rules::IEEE)?;
    Ok(vec![output.into(), mask.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation of `SplitMix64` with state 0.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut draws = Draws { state: 0 };
        let first = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for number in first {
            let upper = convert::nearest_f64(Number::Int((number >> 11).into()));
            assert_eq!(draws.uniform() * 9_007_199_254_740_992.0, upper);
        }
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut draws = Draws::of(7, 1);
        let all: Vec<_> = (0..100_000).map(|_| draws.normal()).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
