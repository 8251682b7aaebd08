//! Sequences of equal steps or equal factors, in the operators of ONNX.

use gradus_core::convert::product;
use gradus_core::graph::{Builder, Node, Standard};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::caveats;
use crate::lowering::terms::{Term, cast, of, pick, range, shaped, whole};
use crate::lowering::{LoweredValue, Lowering};
use crate::program::{Compiler, RunOptions, RunState};

/// The largest number of bytes of a sequence that becomes a constant.
const MAX_BYTES: u128 = 1 << 24;

/// The result of the node, if all that it needs is known, and it is not too long.
fn computed(l: &Lowering<'_>, dtype: DType) -> Result<Option<Tensor>> {
    let mut builder = Builder::new("");
    let mut names = Vec::new();
    for input in 0..l.count() {
        let Some(tensor) = l.known(input)? else { return Ok(None) };
        if input == 2 {
            let count = tensor.to_i64()?.first().copied().and_then(gradus_core::convert::usize_of_i64);
            let long = |count: usize| {
                Shape::new([count]).map_or(product(count, 16), |shape| byte_len(dtype, &shape)) > MAX_BYTES
            };
            if count.is_some_and(long) {
                return Ok(None);
            }
        }
        names.push(format!("{input}"));
        builder.constant(&names[input], tensor.into())?;
    }
    let inputs = names.iter().map(|name| Some(builder.reference(name))).collect();
    builder.push(Node { inputs, outputs: <_>::default(), ..l.node.clone() }, &["output"])?;
    builder.output("output");
    let alone = builder.finish()?;
    let options = RunOptions::default();
    let program = Compiler::plain(Standard::Paddle, options).inner(&alone)?;
    let outputs = program.run(Vec::new(), &[], &mut RunState::new(&options))?;
    outputs[0].tensor().cloned().map(Some)
}

/// A sequence. Known elements become a constant, each rounded once, where Paddle rounds in every
/// step; otherwise they are computed in float64, and rounded in every step.
pub fn space(l: &mut Lowering<'_>, base: Option<usize>) -> Result<Vec<LoweredValue>> {
    let dtype = match l.attributes.dtype("dtype")? {
        Some(dtype) => dtype,
        None => l.dtype_of(0)?,
    };
    if let Some(tensor) = computed(l, dtype)? {
        l.rounding(caveats::FUNCTION);
        return Ok(vec![l.constant(tensor)?]);
    }
    l.rounding(
        "ONNX has no equivalent operator: elements are computed in float64, with a rounding in each step",
    );
    let (start, stop) = (double(l, 0, dtype)?, double(l, 1, dtype)?);
    let count = shaped(l.input(2)?, &[]).put(l)?;
    let count = l.in_type(count, l.dtype_of(2)?, DType::I64)?;
    let places = range(count).put(l)?;
    let last = (count - whole(1)).put(l)?;
    let step = (stop - start) / of("Max", cast(last, DType::F64), 1.0);
    // The last of several is the end itself.
    let is_end = of("And", of("Equal", places, last), of("Greater", places, whole(0)));
    let mut elements = pick(is_end, stop, start + cast(places, DType::F64) * step);
    if let Some(base) = base {
        elements = of("Pow", double(l, base, dtype)?, elements);
    }
    Ok(vec![cast(elements, dtype).write(l, DType::F64)?])
}

/// An input of one element as a scalar of float64, cast to the type of the elements before.
fn double(l: &mut Lowering<'_>, input: usize, dtype: DType) -> Result<LoweredValue> {
    let (mut value, own): (Term, _) = (shaped(l.input(input)?, &[]), l.dtype_of(input)?);
    if own != dtype {
        if own.is_float() && dtype.is_integer() {
            l.edges(caveats::CAST);
        }
        value = cast(value, dtype);
    }
    cast(value, DType::F64).put(l)
}
