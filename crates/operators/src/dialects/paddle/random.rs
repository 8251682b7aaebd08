//! Operators whose results are drawn at random.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};
use gradus_formats::onnx::number_of;

use crate::dialects::cannot;
use crate::dialects::indices::index;
use crate::dialects::paddle::attributes::float;
use crate::dialects::paddle::layout::list;
use crate::errors;
use crate::lowering::terms::{Term, cast, f};
use crate::lowering::{LoweredValue, Lowering, int};

/// Numbers of a distribution in the dimensions that a list says.
fn drawn(l: &mut Lowering<'_>, operator: &str, dims: LoweredValue, dtype: DType) -> Result<LoweredValue> {
    let like = l.apply("ConstantOfShape", &[dims], &[])?;
    let number = number_of(dtype).ok_or_else(|| errors::dtype(dtype, "a type of ONNX"))?;
    let mut attributes = vec![int("dtype", number)];
    let seed = l.attributes.int_or("seed", 0)?;
    if seed != 0 {
        attributes.push(float("seed", f64::from(i32::try_from(seed).unwrap_or(i32::MAX))));
    }
    l.apply(operator, &[like], &attributes)
}

/// A number that an input or an attribute says, as a scalar of the type.
fn scalar(l: &mut Lowering<'_>, input: usize, name: &str, default: f64, dtype: DType) -> Result<Term> {
    if !l.has(input) {
        return Ok(l.float(name)?.unwrap_or(default).into());
    }
    let given = l.input(input)?;
    let given = l.reshape(given, &[])?;
    Ok(l.cast(given, dtype)?.into())
}

/// `gaussian`: normal random numbers of a mean and a deviation.
pub fn gaussian(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dims, dtype) = (list(l, "shape", 0)?, l.dtype("dtype")?.unwrap_or(DType::F32));
    let (mean, deviation) = (l.float("mean")?.unwrap_or(0.0), l.float("std")?.unwrap_or(1.0));
    let x = drawn(l, "RandomNormalLike", dims, dtype)?;
    Ok(vec![(x * deviation + mean).write(l, dtype)?])
}

/// `uniform`: uniform random numbers between two bounds.
pub fn uniform(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dims, dtype) = (list(l, "shape", 0)?, l.dtype("dtype")?.unwrap_or(DType::F32));
    let (low, high) = (scalar(l, 1, "min", -1.0, dtype)?, scalar(l, 2, "max", 1.0, dtype)?);
    let x = drawn(l, "RandomUniformLike", dims, dtype)?;
    Ok(vec![(x * (high - low.clone()) + low).write(l, dtype)?])
}

/// `randint`: uniform random integers from `low`, below `high`.
pub fn randint(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dims, dtype) = (list(l, "shape", 0)?, l.dtype("dtype")?.unwrap_or(DType::I64));
    let [low, high] = ["low", "high"].map(|name| l.attributes.int_or(name, 0));
    let [low, high] = [low?, high?].map(|bound| l.constant(Tensor::scalar(bound)));
    let (low, high) = (low?, high?);
    let low = l.cast(low, DType::F64)?;
    let x = drawn(l, "RandomUniformLike", dims, DType::F64)?;
    let x = f("Floor", x * (cast(high, DType::F64) - low) + low).write(l, DType::F64)?;
    Ok(vec![l.cast(x, dtype)?])
}

/// `randperm`: a random permutation of the first `n` integers.
pub fn randperm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (count, dtype) = (list(l, "n", 0)?, l.dtype("dtype")?.unwrap_or(DType::I64));
    let x = drawn(l, "RandomUniformLike", count, DType::F32)?;
    let order = l.apply_many("TopK", &[x, count], &[int("axis", 0)], 2)?;
    Ok(vec![l.cast(order[1], dtype)?])
}

/// `-log(-log(u))`, whose sum with logarithms of shares is the largest with these probabilities.
fn gumbel(l: &mut Lowering<'_>) -> Result<Term> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let dims = l.shape(x)?;
    let drawn = drawn(l, "RandomUniformLike", dims, dtype)?;
    Ok(f("Neg", f("Log", f("Neg", f("Log", drawn)))))
}

/// `multinomial`: indices drawn without replacement, by weights.
pub fn multinomial(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = if l.has(1) {
        let given = index(l, 1)?;
        l.reshape(given, &[1])?
    } else {
        let count = l.attributes.int_or("num_samples", 1)?;
        l.list(&[count])?
    };
    if l.attributes.flag("replacement", false)? {
        return Err(cannot("multinomial with replacement"));
    }
    let dtype = l.dtype_of(0)?;
    let keys = (f("Log", l.input(0)?) + gumbel(l)?).write(l, dtype)?;
    let axis = i64_of(l.rank_of(0)?) - 1;
    Ok(vec![l.apply_many("TopK", &[keys, count], &[int("axis", axis)], 2)?[1]])
}

/// `gumbel_softmax`: the softmax of logits with Gumbel noise, by a temperature.
pub fn gumbel_softmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.attributes.flag("hard", false)? {
        return Err(cannot("gumbel_softmax of one element"));
    }
    let (x, dtype, heat) = (l.input(0)?, l.dtype_of(0)?, l.float("temperature")?.unwrap_or(1.0));
    let keys = ((Term::from(x) + gumbel(l)?) / heat).write(l, dtype)?;
    Ok(vec![l.apply("Softmax", &[keys], &[int("axis", l.attributes.int_or("axis", -1)?)])?])
}
