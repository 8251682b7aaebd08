//! Operators of OpenVINO whose results are drawn at random, by the generator of `RandomUniform` of
//! ONNX: OpenVINO fixes none that is the same in all its devices.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};
use gradus_formats::onnx::number_of;

use crate::dialects::boxes::greatest;
use crate::dialects::indices::{index, size};
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// Numbers from 0 up to 1 in the dimensions that a list says. Seeds of zero draw others each time.
fn drawn(l: &mut Lowering<'_>, dims: LoweredValue, dtype: DType) -> Result<LoweredValue> {
    let like = l.apply("ConstantOfShape", &[dims], &[])?;
    let number = number_of(dtype).ok_or_else(|| errors::dtype(dtype, "a type of ONNX"))?;
    let seeds = ["global_seed", "op_seed"].map(|name| l.attributes.int_or(name, 0));
    let [global, own] = seeds;
    let seed = global?.wrapping_mul(0x1_0001).wrapping_add(own?).rem_euclid(1 << 24);
    let mut attributes = vec![int("dtype", number)];
    if seed != 0 {
        let seed = gradus_core::convert::nearest_f32(gradus_core::Number::Int(seed.into()));
        attributes.push(("seed", Content::Float(seed)));
    }
    l.apply("RandomUniformLike", &[like], &attributes)
}

/// An input as a scalar of a type.
fn scalar(l: &mut Lowering<'_>, input: usize, dtype: DType) -> Result<LoweredValue> {
    let given = l.input(input)?;
    let given = l.reshape(given, &[])?;
    l.cast(given, dtype)
}

/// `RandomUniform` of OpenVINO: uniform random numbers between two inputs.
pub fn uniform(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dims = index(l, 0)?;
    let to = l.dtype("output_type")?.map_or_else(|| l.dtype_of(1), Ok)?;
    if to.is_float() {
        let wide = if to.bits() < 32 { DType::F32 } else { to };
        let (low, high, x) = (scalar(l, 1, wide)?, scalar(l, 2, wide)?, drawn(l, dims, wide)?);
        let x = (x * (high - low) + low).write(l, wide)?;
        return Ok(vec![if wide == to { x } else { l.cast(x, to)? }]);
    }
    let (low, high) = (scalar(l, 1, DType::F64)?, scalar(l, 2, DType::F64)?);
    let x = drawn(l, dims, DType::F64)?;
    let x = f("Floor", x * (high - low) + low).write(l, DType::F64)?;
    Ok(vec![l.cast(x, to)?])
}

/// Indices of classes, by their probabilities.
pub fn multinomial(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, rank, last) = (l.input(0)?, l.rank_of(0)?, l.list(&[-1])?);
    if !(1..=2).contains(&rank) {
        return Err(errors::rank("input 0", rank, "1 or 2"));
    }
    x = l.cast(x, DType::F64)?;
    if l.attributes.flag("log_probs", false)? {
        x = l.apply("Exp", &[x], &[])?;
    }
    let samples = index(l, 1)?;
    let samples = l.reshape(samples, &[1])?;
    let to = match l.attributes.index_dtype("convert_type")? {
        Some(to) => to,
        None => l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64),
    };
    let behind = i64_of(rank) - 1;
    let classes = size(l, x, rank - 1)?;
    let found = if l.attributes.flag("with_replacement", true)? {
        let axis = l.constant(Tensor::scalar(behind))?;
        let total = l.apply("ReduceSum", &[x, last], &[])?;
        let before = l.apply("Shape", &[x], &[int("end", behind)])?;
        let dims = l.apply("Concat", &[before, samples], &[along(0)])?;
        let at = (drawn(l, dims, DType::F64)? * total).write(l, DType::F64)?;
        let ends = of("Unsqueeze", of("CumSum", x, axis), ints(&[behind])).put(l)?;
        // The class is the number of those that end before.
        let ended = of("LessOrEqual", ends, of("Unsqueeze", at, last)).put(l)?;
        let found = with("ReduceSum", [cast(ended, DType::I64), last.into()], [int("keepdims", 0)]).put(l)?;
        of("Min", found, classes - 1i64).write(l, DType::I64)?
    } else {
        // The indices of the largest sums of a logarithm and a Gumbel variable are a sample.
        let dims = l.shape(x)?;
        let noise = f("Neg", f("Log", f("Neg", f("Log", drawn(l, dims, DType::F64)?))));
        let keys = (f("Log", x) + noise).write(l, DType::F64)?;
        l.apply_many("TopK", &[keys, samples], &greatest(behind), 2)?[1]
    };
    Ok(vec![if to == DType::I64 { found } else { l.cast(found, to)? }])
}
