//! Runs: tensors in, tensors out.

use std::ffi::{CString, c_char, c_void};
use std::{ptr, slice};

use bytes::Bytes;
use gradus::{DType, Error, Kind, Program, Result, RunOptions, Shape, Tensor, Value};

use crate::error::{ErrorHandle, done, made};
use crate::given::{array, c_text, free, object, text};
use crate::model::ModelHandle;

/// A tensor in memory: elements in row-major order, little-endian. Those narrower than a byte are
/// packed from the lowest bit on; texts are an array of pointers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TensorView {
    /// The name of the input or output.
    pub name: *const c_char,
    /// The element type: "float32", "int64", "string".
    pub dtype: *const c_char,
    /// Its sizes, one for each axis.
    pub sizes: *const i64,
    /// The number of axes.
    pub rank: usize,
    /// The elements.
    pub data: *const c_void,
    /// The number of bytes at `data`.
    pub bytes: usize,
}

impl TensorView {
    /// A copy of the tensor.
    ///
    /// # Safety
    /// The pointers are of what they say.
    unsafe fn read(&self) -> Result<Tensor> {
        // SAFETY: as above.
        let (dtype, sizes) =
            unsafe { (text(self.dtype, "the type of a tensor")?, array(self.sizes, self.rank, "sizes")?) };
        let dtype: DType = dtype.parse()?;
        let sizes = sizes.iter().map(|&size| {
            let wanted = |_| Error::mismatch(Kind::Shape, "a size of a tensor", size, "at least 0");
            usize::try_from(size).map_err(wanted)
        });
        let shape = Shape::new(sizes.collect::<Result<Vec<_>>>()?)?;
        if dtype == DType::String {
            let count = self.bytes / size_of::<*const c_char>();
            // SAFETY: as above.
            let texts = unsafe {
                let texts =
                    array(self.data.cast::<*const c_char>(), count, "the elements of a tensor")?.iter();
                texts.map(|&each| Ok(text(each, "an element")?.into())).collect::<Result<_>>()?
            };
            return Tensor::from_text(shape, texts);
        }
        // SAFETY: as above.
        let bytes = unsafe { array(self.data.cast::<u8>(), self.bytes, "the elements of a tensor") }?;
        Tensor::from_bytes(dtype, shape, Bytes::copy_from_slice(bytes))
    }
}

/// A model that is compiled, for any number of runs.
#[derive(Debug)]
pub struct ProgramHandle(Program);

/// Compiles a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_program_make(
    model: *const ModelHandle,
    error: *mut *mut ErrorHandle,
) -> *mut ProgramHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || Ok(ProgramHandle(object(model, "model")?.model.compile(&[], &RunOptions::default())?)))
    }
}

/// Frees a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_program_free(program: *mut ProgramHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(program) }
}

/// The outputs of a run.
#[derive(Debug)]
pub struct OutputsHandle(Vec<Output>);

#[derive(Debug)]
struct Output {
    name: CString,
    dtype: CString,
    sizes: Vec<i64>,
    elements: Elements,
}

/// The elements of an output, as C reads them.
#[derive(Debug)]
enum Elements {
    /// Elements that lie as their type needs it.
    Shared(Bytes),
    /// A copy, aligned for every type.
    Aligned(Vec<u128>, usize),
    /// Pointers to texts.
    Texts(Vec<*const c_char>, #[allow(dead_code, reason = "the pointers are into these")] Vec<CString>),
    /// A value that is no tensor, in words.
    Other(String),
}

impl Elements {
    fn of(value: &Value) -> Elements {
        let Ok(tensor) = value.tensor() else { return Elements::Other(value.to_string()) };
        let Some(bytes) = tensor.bytes() else {
            let texts = tensor.texts().unwrap_or_default();
            let texts: Vec<_> = texts.iter().map(|text| c_text(text)).collect();
            return Elements::Texts(texts.iter().map(|text| text.as_ptr()).collect(), texts);
        };
        // Parts of complex numbers are the widest.
        let width = (tensor.dtype().bits() / 8).clamp(1, 8);
        if bytes.as_ptr().align_offset(width) == 0 {
            return Elements::Shared(bytes.clone());
        }
        let mut copy = vec![0u128; bytes.len().div_ceil(size_of::<u128>())];
        // SAFETY: the copy has room for as many bytes, and all bytes are numbers.
        unsafe { slice::from_raw_parts_mut(copy.as_mut_ptr().cast::<u8>(), bytes.len()) }
            .copy_from_slice(bytes);
        Elements::Aligned(copy, bytes.len())
    }
}

impl Output {
    fn of(name: &str, value: &Value) -> Output {
        let tensor = value.tensor().ok();
        let sizes = tensor.map_or_else(Vec::new, |tensor| {
            tensor.shape().dims().iter().map(|&size| gradus::convert::i64_of(size)).collect()
        });
        let dtype = tensor.map_or("", |tensor| tensor.dtype().name());
        Output { name: c_text(name), dtype: c_text(dtype), sizes, elements: Elements::of(value) }
    }

    fn view(&self) -> Result<TensorView> {
        let (data, bytes) = match &self.elements {
            Elements::Shared(bytes) => (bytes.as_ptr().cast(), bytes.len()),
            Elements::Aligned(copy, len) => (copy.as_ptr().cast(), *len),
            Elements::Texts(texts, _) => (texts.as_ptr().cast(), size_of_val(&texts[..])),
            Elements::Other(value) => {
                let what = format_args!("output \"{}\"", self.name.to_string_lossy());
                return Err(Error::mismatch(Kind::Type, what, value, "a tensor"));
            }
        };
        let (name, dtype) = (self.name.as_ptr(), self.dtype.as_ptr());
        Ok(TensorView { name, dtype, sizes: self.sizes.as_ptr(), rank: self.sizes.len(), data, bytes })
    }
}

/// Runs a program on inputs, which are copied. The order of inputs does not matter; those that have
/// a default may be left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_program_run(
    program: *const ProgramHandle,
    inputs: *const TensorView,
    count: usize,
    error: *mut *mut ErrorHandle,
) -> *mut OutputsHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let program = &object(program, "program")?.0;
            let inputs = array(inputs, count, "inputs")?.iter();
            let inputs = inputs.map(|input| Ok((text(input.name, "the name of an input")?, input.read()?)));
            let outputs = program.run(inputs.collect::<Result<Vec<_>>>()?)?;
            Ok(OutputsHandle(outputs.iter().map(|(name, value)| Output::of(name, value)).collect()))
        })
    }
}

/// The number of outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_outputs_count(outputs: *const OutputsHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { outputs.as_ref() }.map_or(0, |outputs| outputs.0.len())
}

/// Writes an output, by its number, to `tensor`, whose pointers belong to the outputs. It fails if
/// there is no such output, or it is no tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_outputs_tensor(
    outputs: *const OutputsHandle,
    index: usize,
    tensor: *mut TensorView,
    error: *mut *mut ErrorHandle,
) -> bool {
    // SAFETY: the rules of the header.
    unsafe {
        done(error, || {
            let outputs = &object(outputs, "outputs")?.0;
            let wanted = || format!("below {}", outputs.len());
            let missing = || Error::mismatch(Kind::Usage, "the number of an output", index, wanted());
            let view = outputs.get(index).ok_or_else(missing)?.view()?;
            object(tensor, "tensor")?;
            ptr::write(tensor, view);
            Ok(())
        })
    }
}

/// Frees outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_outputs_free(outputs: *mut OutputsHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(outputs) }
}
