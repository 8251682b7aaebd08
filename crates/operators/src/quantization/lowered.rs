//! Quantization in operator sets that lack a type, blocks, or the operator.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::errors;
use crate::lowering::LONGEST;
use crate::lowering::terms::{Term, cast, f, ints, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, axis as axis_of, int, wide};

/// Scales or zero points along the axis of a node, for a value of this rank.
fn along(l: &Lowering<'_>, value: LoweredValue, rank: usize) -> Result<Term> {
    let axis = axis_of(l.attributes.int_or("axis", 1)?, rank.max(2))?;
    // A scalar keeps its element, as it has no other.
    let dims: Vec<_> = (0..rank).map(|own| if own == axis { -1 } else { 1 }).collect();
    Ok(of("Reshape", value, ints(&dims)))
}

/// Codes of a type, or in blocks, that the operator set lacks: less their zero point, times their
/// scale.
pub fn dequantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    const NAME: &str = "DequantizeLinear";
    let block = l.attributes.int_or("block_size", 0)?;
    let (Ok(own), Ok(to)) = (l.dtype_of(0), l.dtype_of(1)) else { return l.itself() };
    let simple = block == 0 && l.admits(NAME, own);
    if simple || l.attributes.int_or("output_dtype", 0)? != 0 || l.signature(NAME).is_none() {
        return l.itself();
    }
    if !own.is_integer() || own.bits() > 16 || (to != DType::F32 && own.bits() > 8) {
        return l.itself();
    }
    let (dtype, codes) = (wide(to), l.input(0)?);
    let scale = l.input(1)?;
    let scale = l.in_type(scale, to, dtype)?;
    let zero = if l.has(2) { Some(cast(l.input(2)?, dtype).write(l, dtype)?) } else { None };
    let codes = l.cast(codes, dtype)?;
    if block < 0 {
        return Err(errors::value("attribute \"block_size\"", block, "at least 0"));
    }
    let axis = l.attributes.int_or("axis", 1)?;
    let places =
        if block > 0 { Some(places_of_blocks(l, codes, axis, block)?.write(l, dtype)?) } else { None };
    let spread = |value: LoweredValue| match places {
        Some(places) => Ok(with("Gather", [value.into(), places.into()], [int("axis", axis)])),
        None => along(l, value, l.rank_of(0)?),
    };
    let scale = spread(scale)?;
    let value = match zero {
        Some(zero) => (codes - spread(zero)?) * scale,
        None => codes * scale,
    };
    let value = value.write(l, dtype)?;
    Ok(vec![l.in_type(value, dtype, to)?])
}

/// The number of the block of each index of an axis, whose size may be known.
fn places_of_blocks(l: &Lowering<'_>, codes: LoweredValue, axis: i64, block: i64) -> Result<Term> {
    let dims = l.dims_of(0).ok();
    let size = dims.map(|dims| Ok::<_, gradus_core::Error>(dims[axis_of(axis, dims.len())?])).transpose()?;
    if let Some(size) = size.flatten().filter(|&size| size <= LONGEST) {
        return Ok(ints(&(0..i64_of(size)).map(|index| index / block).collect::<Vec<_>>()));
    }
    let size = of("Gather", f("Shape", codes), whole(axis));
    Ok(with("Range", [whole(0), size, whole(1)], []) / whole(block))
}

/// Codes of 16 bits, in sets that have those of 8 bits: quotients, rounded, moved by the zero point
/// and limited.
pub fn quantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (to, low, high) = match l.dtype_of(2) {
        Ok(to @ DType::I16) if l.has(2) => (to, f64::from(i16::MIN), f64::from(i16::MAX)),
        Ok(to @ DType::U16) if l.has(2) => (to, 0.0, f64::from(u16::MAX)),
        _ => return l.itself(),
    };
    if l.dtype_of(0)? != DType::F32 || l.attributes.int_or("block_size", 0)? != 0 {
        return l.itself();
    }
    let (x, scale, zero, rank) = (l.input(0)?, l.input(1)?, l.input(2)?, l.rank_of(0)?);
    let (scale, zero) = (along(l, scale, rank)?, along(l, zero, rank)?);
    let moved = f("Round", x / scale) + cast(zero, DType::F32);
    let limited = with("Clip", [moved, low.into(), high.into()], []);
    Ok(vec![cast(limited, to).write(l, DType::F32)?])
}
