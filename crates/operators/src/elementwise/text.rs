//! Text and the bytes that it consists of: `StringTensorPack` and `StringTensorUnpack` of OpenVINO.

use gradus_core::convert::{Rules, cast, i64_of, product, usize_of_i64};
use gradus_core::{DType, Error, Kind, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Bounds;
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;
use crate::output::allowed;

/// Shape of OpenVINO's `StringTensorPack`: that of the begins.
pub fn packed(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    cx.same_shape(1, &dims)?;
    cx.dims_of_rank(2, 1)?;
    Ok(vec![Fact::typed(DType::String, dims)])
}

/// Shapes of OpenVINO's `StringTensorUnpack`: begins and ends by element, and all bytes.
pub fn unpacked(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let bytes = cx.data("number of bytes of all strings", Bounds::SIZE);
    let places = Fact::typed(DType::I32, dims);
    Ok(vec![places.clone(), places, Fact::typed(DType::U8, [bytes])])
}

/// Makes strings of bytes, from a begin to an end each.
pub fn pack(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (begins, ends, symbols) = (cx.integers(0)?, cx.integers(1)?, cx.tensor(2)?);
    if symbols.dtype() != DType::U8 {
        return Err(errors::dtype(symbols.dtype(), "uint8"));
    }
    let bytes = symbols.elements::<u8>()?;
    let mut texts: Vec<Box<str>> = Vec::new();
    let shape = allowed(cx, DType::String, cx.tensor(0)?.shape().dims())?;
    for (begin, end) in begins.into_iter().zip(ends) {
        let range = usize_of_i64(begin)
            .zip(usize_of_i64(end))
            .and_then(|(begin, end)| bytes.get(begin..end))
            .ok_or_else(|| {
                let wanted = format_args!("a part of {} bytes", bytes.len());
                errors::value("string", format_args!("{begin} to {end}"), wanted)
            })?;
        cx.reserve(product(range.len() + 2 * size_of::<Box<str>>(), 1))?;
        let text = std::str::from_utf8(range).map_err(|error| {
            let at = i64_of(error.valid_up_to()).saturating_add(begin);
            Error::mismatch(Kind::Unsupported, format!("byte {at} of input 2"), "another encoding", "UTF-8")
        })?;
        texts.push(text.into());
    }
    Ok(vec![Tensor::from_text(shape, texts)?.into()])
}

/// The bytes of all strings, and where each begins and ends.
pub fn unpack(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let texts = data.texts()?;
    let all = texts.iter().map(|text| product(text.len(), 1)).sum::<u128>();
    cx.reserve(all + product(texts.len(), 6 * size_of::<i64>()))?;
    let (mut begins, mut ends, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        begins.push(i64_of(symbols.len()));
        symbols.extend_from_slice(text.as_bytes());
        ends.push(i64_of(symbols.len()));
    }
    if i32::try_from(symbols.len()).is_err() {
        return Err(errors::value("number of bytes", symbols.len(), format_args!("at most {}", i32::MAX)));
    }
    let mut outputs = Vec::new();
    for places in [begins, ends] {
        let places = Tensor::from_vec(data.shape().clone(), places)?;
        outputs.push(cast(&places, DType::I32, Rules::IEEE)?.into());
    }
    outputs.push(Tensor::vector(&symbols).into());
    Ok(outputs)
}
