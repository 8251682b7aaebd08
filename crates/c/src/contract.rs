//! Contracts: which sizes of its inputs a model takes, and the shapes that follow.

use std::ffi::c_char;
use std::ptr;

use gradus::contract::{Contract, ContractShapes, OutputShape};
use gradus::infer::InferOptions;

use crate::error::{ErrorHandle, made};
use crate::given::{NamedSize, array, free, object, sizes, text};
use crate::model::ModelHandle;

/// The sizes of an input.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct InputSizes {
    /// The name of the input.
    pub name: *const c_char,
    /// Its sizes, one for each axis.
    pub sizes: *const i64,
    /// The number of axes.
    pub rank: usize,
}

/// The sizes of its inputs that a model takes.
#[derive(Debug)]
pub struct ContractHandle(Contract);

/// Shapes and memory for sizes that a model takes.
#[derive(Debug)]
pub struct ShapesHandle {
    outputs: Vec<Option<[Vec<i64>; 2]>>,
    shapes: ContractShapes,
}

impl ShapesHandle {
    fn of(shapes: ContractShapes) -> ShapesHandle {
        let ends = |output: &OutputShape| {
            let sizes = output.sizes.as_ref()?.iter();
            let (least, most) = sizes.map(|&(least, most)| (least, most.unwrap_or(-1))).unzip();
            Some([least, most])
        };
        ShapesHandle { outputs: shapes.outputs.iter().map(ends).collect(), shapes }
    }
}

/// Makes the contract of a model, which fails if the model contradicts itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_contract_make(
    model: *const ModelHandle,
    error: *mut *mut ErrorHandle,
) -> *mut ContractHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || Ok(ContractHandle(object(model, "model")?.model.contract(&InferOptions::default())?)))
    }
}

/// Frees a contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_contract_free(contract: *mut ContractHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(contract) }
}

/// Shapes and memory for the sizes of all inputs that have axes and no default. It fails with an
/// error of kind `GRADUS_KIND_SHAPE`, which names the condition and the node, if the model does not
/// take the sizes.
///
/// `numbers` are those of symbols that no axis is alone, and may have elements of inputs that
/// decide conditions, by the name of their symbol.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_contract_shapes(
    contract: *const ContractHandle,
    inputs: *const InputSizes,
    input_count: usize,
    numbers: *const NamedSize,
    number_count: usize,
    error: *mut *mut ErrorHandle,
) -> *mut ShapesHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let contract = &object(contract, "contract")?.0;
            let inputs = array(inputs, input_count, "inputs")?.iter().map(|input| {
                let sizes = array(input.sizes, input.rank, "the sizes of an input")?;
                Ok((text(input.name, "the name of an input")?, sizes))
            });
            let inputs = inputs.collect::<gradus::Result<Vec<_>>>()?;
            Ok(ShapesHandle::of(contract.shapes(&inputs, &sizes(numbers, number_count)?)?))
        })
    }
}

/// Frees shapes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_free(shapes: *mut ShapesHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(shapes) }
}

/// The sizes of an output of the model, by its number.
unsafe fn ends<'a>(shapes: *const ShapesHandle, output: usize) -> Option<&'a [Vec<i64>; 2]> {
    // SAFETY: the rules of the header.
    unsafe { shapes.as_ref() }?.outputs.get(output)?.as_ref()
}

/// The number of axes of an output; -1 if it is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_rank(shapes: *const ShapesHandle, output: usize) -> i32 {
    // SAFETY: the rules of the header.
    let least = unsafe { ends(shapes, output) }.map(|[least, _]| least);
    least.and_then(|least| i32::try_from(least.len()).ok()).unwrap_or(-1)
}

/// The sizes of an output, or the smallest that the data may make of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_min(shapes: *const ShapesHandle, output: usize) -> *const i64 {
    // SAFETY: the rules of the header.
    unsafe { ends(shapes, output) }.map_or(ptr::null(), |[least, _]| least.as_ptr())
}

/// The sizes of an output, or the largest that the data may make of them; -1 of one that is not
/// known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_max(shapes: *const ShapesHandle, output: usize) -> *const i64 {
    // SAFETY: the rules of the header.
    unsafe { ends(shapes, output) }.map_or(ptr::null(), |[_, most]| most.as_ptr())
}

/// The most bytes of an output; -1 if that is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_bytes(shapes: *const ShapesHandle, output: usize) -> i64 {
    // SAFETY: the rules of the header.
    let output = unsafe { shapes.as_ref() }.and_then(|it| it.shapes.outputs.get(output));
    output.and_then(|output| output.bytes).unwrap_or(-1)
}

/// An upper bound of the bytes of values of nodes at one time; -1 if it is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_shapes_peak_bytes(shapes: *const ShapesHandle) -> i64 {
    // SAFETY: the rules of the header.
    unsafe { shapes.as_ref() }.and_then(|it| it.shapes.peak_bytes).unwrap_or(-1)
}
