//! Rules of quantization: one scale and zero point, one for each index of an axis, or one for each
//! block of it.

use gradus_core::DType;
use gradus_core::graph::Content;

use crate::dim::{Dim, Relation};
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::{errors, indices};

/// Checks that there is one scale or zero point, one for each index of an axis, or one for each
/// block of it.
fn spread(cx: &mut InferContext<'_, '_>, input: usize) -> Result<(), InferError> {
    let (mut dims, block) = (cx.dims(0)?.to_vec(), cx.attributes.int("block_size")?);
    let axis = match indices::axis(cx.attributes.int_or("axis", 1)?, dims.len()) {
        Ok(axis) => axis,
        Err(error) => return cx.one_element_or(input, Err(error.into())),
    };
    let (each, of) = match block {
        Some(block @ 1..) => {
            dims[axis] = cx.ceil_divide(dims[axis], Dim::Known(block));
            (dims, format!("for blocks of {block} along axis {axis}"))
        }
        _ => (vec![dims[axis]], format!("the size of axis {axis}")),
    };
    let data = cx.input_label(0);
    cx.one_element_or(input, Ok(each)).map_err(|error| match error {
        InferError::Invalid(error) => {
            InferError::Invalid(error.map_message(|message| format!("{message}, {of} of {data}")))
        }
        unknown @ (InferError::Unknown(..) | InferError::OpenOutputs(_)) => unknown,
    })
}

/// Checks that there are as many zero points as scales.
pub fn as_many(cx: &mut InferContext<'_, '_>, [zero, scale]: [usize; 2]) -> Result<(), InferError> {
    let [Some(zeros), Some(scales)] = [zero, scale].map(|input| cx.known_dims(input)) else { return Ok(()) };
    let [zeros, scales] = [zeros, scales].map(|dims| cx.product(&dims));
    if let (Dim::Known(got), Dim::Known(wanted)) = (zeros, scales)
        && got != wanted
    {
        let what = format_args!("number of elements of {}", cx.input_label(zero));
        let wanted = format_args!("{wanted}, as of {}", cx.input_label(scale));
        return Err(errors::shape(what, got, wanted).into());
    }
    cx.require(zeros, Relation::Equal, scales);
    Ok(())
}

/// The element type that an attribute names, unless it is 0.
fn type_given(cx: &InferContext<'_, '_>, name: &str) -> Result<Option<DType>, InferError> {
    let given = !matches!(cx.attributes.get(name), None | Some(Content::Int(0)));
    Ok(if given { cx.attributes.dtype(name)? } else { None })
}

/// Shape of `QuantizeLinear`: the input's, in the type of the zero point.
pub fn quantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    [1, 2].into_iter().try_for_each(|input| spread(cx, input))?;
    as_many(cx, [2, 1])?;
    type_given(cx, "precision")?;
    let given = type_given(cx, "output_dtype")?;
    let dtype = if cx.has(2) { cx.dtype(2) } else { given.or(Some(DType::U8)) };
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

/// Shape of `DequantizeLinear`: the input's, in the type of the scale.
pub fn dequantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    [1, 2].into_iter().try_for_each(|input| spread(cx, input))?;
    as_many(cx, [2, 1])?;
    let dtype = type_given(cx, "output_dtype")?.or(cx.dtype(1));
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

/// Shapes of `DynamicQuantizeLinear`: codes, a scale and a zero point.
pub fn dynamic_quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    Ok(vec![Fact::typed(DType::U8, dims), Fact::typed(DType::F32, []), Fact::typed(DType::U8, [])])
}
