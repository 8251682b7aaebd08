//! `ConvertPromoteTypes` of OpenVINO: two inputs in the element type that holds both.

use gradus_core::{Class, DType, Error, Kind, Result};

use crate::errors;
use crate::lowering::{LoweredValue, Lowering};
use crate::schema::onnx_versions;

/// The signed integers, from the narrowest.
const SIGNED: [DType; 5] = [DType::I4, DType::I8, DType::I16, DType::I32, DType::I64];

/// The position of a class among those that hold each other.
fn order(dtype: DType) -> Result<u8> {
    match dtype.class() {
        Class::Bool => Ok(0),
        // ONNX casts nothing of one bit.
        Class::Signed | Class::Unsigned if dtype != DType::U1 && dtype.bits() >= 4 && dtype.bits() != 6 => {
            Ok(1)
        }
        Class::Float if dtype.bits() > 8 || matches!(dtype, DType::F8E4M3FN | DType::F8E5M2) => Ok(2),
        _ => Err(errors::dtype(dtype, "a type that ConvertPromoteTypes takes")),
    }
}

/// The type that two types become, and whether it holds all elements of both.
fn promoted([a, b]: [DType; 2], beyond: DType) -> Result<(DType, bool)> {
    // The second is of the class that holds the other, the signed of two integers, or the wider.
    let key = |dtype: DType| Ok((order(dtype)?, dtype.class() == Class::Signed, dtype.bits()));
    let (low, high) = if key(a)? <= key(b)? { (a, b) } else { (b, a) };
    if low == high || low.class() == Class::Bool {
        return Ok((high, true));
    }
    if order(low)? < order(high)? {
        return Ok((high, high.bits() > low.bits()));
    }
    if low.class() == high.class() {
        if low.bits() != high.bits() {
            return Ok((high, true));
        }
        let both = match (low.bits(), low.class()) {
            (8, Class::Float) => DType::F16,
            (16, Class::Float) => DType::F32,
            _ => return Err(errors::dtype(low, high.name())),
        };
        return Ok((both, false));
    }
    if high.bits() > low.bits() {
        return Ok((high, true));
    }
    let wider = SIGNED.into_iter().find(|signed| signed.bits() > low.bits());
    Ok((wider.unwrap_or(beyond), false))
}

/// The type that a tensor of elements and a single element become: that of the tensor, unless the
/// element is of a class that it does not hold.
fn kept(one: DType, tensor: DType) -> Result<(DType, bool)> {
    let classes = (order(one)?, order(tensor)?);
    if classes.0 > classes.1 || classes.0 == 0 {
        return promoted([one, tensor], DType::F32);
    }
    if classes.0 < classes.1 {
        return Ok((tensor, tensor.bits() > one.bits()));
    }
    let holds = match (one.class(), tensor.class()) {
        (Class::Signed, Class::Unsigned) => false,
        (Class::Unsigned, Class::Signed) => 2 * tensor.bits() >= one.bits(),
        _ => tensor.bits() >= one.bits(),
    };
    Ok((tensor, holds))
}

/// `ConvertPromoteTypes` of OpenVINO: both inputs in the element type that holds both.
pub fn promote(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let types = [l.dtype_of(0)?, l.dtype_of(1)?];
    let beyond = l.dtype("u64_integer_promotion_target")?.unwrap_or(DType::F32);
    let mut scalars = [false; 2];
    if l.attributes.flag("pytorch_scalar_promotion", false)? {
        scalars = [l.rank_of(0)? == 0, l.rank_of(1)? == 0];
    }
    let (to, holds) = match scalars {
        [true, false] => kept(types[0], types[1])?,
        [false, true] => kept(types[1], types[0])?,
        _ => promoted(types, beyond)?,
    };
    if !holds && !l.attributes.flag("promote_unsafe", false)? {
        let what = format!("element types {} and {} without promote_unsafe", types[0], types[1]);
        return Err(Error::mismatch(Kind::Type, what, to, "a type that holds both"));
    }
    let mut outputs = Vec::new();
    // Types of OpenVINO alone are cast to none.
    let castable = onnx_versions("", "Cast").last().map(|cast| cast.inputs[0].types.tensor);
    if let Some(&from) =
        types.iter().find(|&&from| from != to && castable.is_some_and(|types| !types.contains(from)))
    {
        return Err(Error::mismatch(Kind::Unsupported, "element type", from, "one that Cast of ONNX takes"));
    }
    for (input, from) in types.into_iter().enumerate() {
        let x = l.input(input)?;
        outputs.push(if from == to { l.apply("Identity", &[x], &[])? } else { l.cast(x, to)? });
    }
    Ok(outputs)
}
