//! Arrays of tensors, which are ONNX's sequences. Programs write into an array; the readers make a
//! value of its own of every state, so that a write takes an array and gives the next one.
//!
//! | operator | inputs | result |
//! |---|---|---|
//! | `create_array` | | an array of no tensors |
//! | `array_write` | array, tensor, place | the array with the tensor there, or after the last one (`append`) |
//! | `array_read`, `slice_array_dense` | array, place | the tensor at the place |
//! | `array_length` | array | the number of tensors, a list of one element |
//! | `array_pop` | array | the array without the tensor at `index`, and the tensor |
//! | `array_to_tensor` | array | the tensors, joined or stacked along `axis`, and their sizes |

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};
use gradus_formats::onnx::number_of;

use crate::errors;
use crate::lowering::terms::{f, of};
use crate::lowering::{LoweredValue, Lowering, int};

/// `create_array`: an array without tensors.
pub fn create(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype("dtype")?.unwrap_or(DType::F32);
    let number = number_of(dtype).ok_or_else(|| errors::dtype(dtype, "a type of ONNX"))?;
    Ok(vec![l.apply("SequenceEmpty", &[], &[int("dtype", number)])?])
}

/// The place that an input of one element or an attribute says, a scalar.
fn place(l: &mut Lowering<'_>, input: usize, attribute: &str) -> Result<LoweredValue> {
    if l.has(input) {
        let place = l.input(input)?;
        return l.reshape(place, &[]);
    }
    let place = match l.attributes.get(attribute) {
        Some(Content::Ints(places)) => places.first().copied(),
        _ => l.attributes.int(attribute)?,
    };
    l.constant(Tensor::scalar(place.ok_or_else(|| errors::missing(format_args!("input {input}")))?))
}

/// `array_write`: the array with the tensor at an index, or appended.
pub fn write(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (array, tensor) = (l.input(0)?, l.input(1)?);
    if l.attributes.flag("append", false)? {
        return Ok(vec![l.apply("SequenceInsert", &[array, tensor], &[])?]);
    }
    let place = place(l, 2, "i")?;
    let place = l.cast(place, DType::I64)?;
    let within = of("Less", place, f("SequenceLength", array)).put(l)?;
    let rest = l.either(
        within,
        |l| l.apply("SequenceErase", &[array, place], &[]),
        |l| l.apply("Identity", &[array], &[]),
    )?;
    Ok(vec![l.apply("SequenceInsert", &[rest, tensor, place], &[])?])
}

/// `array_read` and `slice_array_dense`: the tensor at an index.
pub fn read(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let place = place(l, 1, "starts")?;
    Ok(vec![of("SequenceAt", l.input(0)?, place).put(l)?])
}

/// `array_length`: the number of tensors.
pub fn length(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = f("SequenceLength", l.input(0)?).put(l)?;
    Ok(vec![l.reshape(count, &[1])?])
}

/// `array_pop`: the array without the tensor at an index, and that tensor.
pub fn pop(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (array, index) = (l.input(0)?, l.attributes.int_or("index", -1)?);
    let place = l.constant(Tensor::scalar(index))?;
    let rest = l.apply("SequenceErase", &[array, place], &[])?;
    Ok(vec![rest, l.apply("SequenceAt", &[array, place], &[])?])
}

/// `array_to_tensor`: the tensors, concatenated or stacked, and the size of each.
pub fn join(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let array = l.input(0)?;
    let axis = l.attributes.int_or("axis", 0)?;
    let stacks = l.attributes.flag("use_stack", false)?;
    let attributes = [int("axis", axis), int("new_axis", i64::from(stacks))];
    let joined = l.apply("ConcatFromSequence", &[array], &attributes)?;
    if l.outputs() < 2 {
        return Ok(vec![joined]);
    }
    let sizes = l.each(array, |l, item| {
        let shape = l.shape(item)?;
        let size = if stacks {
            l.list(&[1])?
        } else {
            let axis = l.list(&[axis])?;
            l.apply("Gather", &[shape, axis], &[])?
        };
        l.cast(size, DType::I32)
    })?;
    let sizes = l.apply("ConcatFromSequence", &[sizes], &[int("axis", 0)])?;
    Ok(vec![joined, sizes])
}
