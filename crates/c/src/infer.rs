//! Inference: types, shapes as formulas and numbers, conditions.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::OnceLock;

use gradus::fact::{Dims, TensorFact};
use gradus::graph::ValueId;
use gradus::infer::{InferOptions, Inference};
use gradus::{Error, Kind, Model, Result, dim};

use crate::error::{ErrorHandle, done, made};
use crate::given::{NamedSize, c_text, free, object, sizes, text};
use crate::model::{ModelHandle, fixed, nth};

/// Facts about all values of a model before it runs.
#[derive(Debug)]
pub struct InferenceHandle {
    model: Model,
    inference: Inference,
    values: Vec<ValueId>,
    /// Texts of values, made when they are first asked for.
    texts: Vec<OnceLock<ValueTexts>>,
    conditions: Vec<CString>,
    problems: Vec<CString>,
}

#[derive(Debug)]
struct ValueTexts {
    name: CString,
    dtype: Option<CString>,
    shape: CString,
    dims: Vec<CString>,
}

impl InferenceHandle {
    fn of(model: &Model, options: &InferOptions) -> Result<InferenceHandle> {
        let inference = model.infer(options)?;
        let values: Vec<_> = model.graph().ids().collect();
        let placed = |(text, place): (&str, &str)| c_text(&format!("{text} ({place})"));
        let conditions = inference.conditions().iter().map(|it| placed((&it.text, &it.node))).collect();
        let problems = inference.problems().iter().map(|it| placed((&it.message, &it.place))).collect();
        let texts = values.iter().map(|_| OnceLock::new()).collect();
        Ok(InferenceHandle { model: model.clone(), inference, values, texts, conditions, problems })
    }

    fn tensor(&self, value: usize) -> Option<&TensorFact> {
        self.inference.fact(*self.values.get(value)?).as_tensor()
    }

    fn dims(&self, value: usize) -> Option<&Dims> {
        self.tensor(value)?.dims.as_ref()
    }

    fn texts(&self, value: usize) -> Option<&ValueTexts> {
        let id = *self.values.get(value)?;
        Some(self.texts.get(value)?.get_or_init(|| ValueTexts {
            name: c_text(&self.model.graph().value(id).name),
            dtype: self.tensor(value).and_then(|it| it.dtype).map(|dtype| c_text(dtype.name())),
            shape: c_text(&self.inference.describe(self.inference.fact(id))),
            dims: self.dims(value).map_or_else(Vec::new, |dims| {
                dims.iter().map(|&dim| c_text(&self.inference.symbols().print(dim).to_string())).collect()
            }),
        }))
    }
}

/// A text of a value that an inference keeps.
unsafe fn text_of(
    inference: *const InferenceHandle,
    value: usize,
    of: impl FnOnce(&ValueTexts) -> Option<&CString>,
) -> *const c_char {
    // SAFETY: the rules of the header.
    let inference = unsafe { inference.as_ref() };
    inference.and_then(|it| it.texts(value)).and_then(of).map_or(ptr::null(), |text| text.as_ptr())
}

/// Infers the types and shapes of all values of a model, without running it. Symbols among `dims`
/// stand for these numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_infer(
    model: *const ModelHandle,
    dims: *const NamedSize,
    count: usize,
    error: *mut *mut ErrorHandle,
) -> *mut InferenceHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let options = InferOptions::of(fixed(dims, count)?);
            InferenceHandle::of(&object(model, "model")?.model, &options)
        })
    }
}

/// Frees an inference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_free(inference: *mut InferenceHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(inference) }
}

/// The number of values: inputs, constants, and what nodes compute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_values(inference: *const InferenceHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { inference.as_ref() }.map_or(0, |it| it.values.len())
}

/// The number of the value of that name; the number of values if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_find(
    inference: *const InferenceHandle,
    name: *const c_char,
) -> usize {
    // SAFETY: the rules of the header.
    let (Some(it), name) = (unsafe { (inference.as_ref(), text(name, "name")) }) else { return 0 };
    let id = name.and_then(|name| it.model.value(name));
    let found = id.ok().and_then(|id| it.values.iter().position(|value| *value == id));
    found.unwrap_or(it.values.len())
}

/// The name of a value; NULL if there is no such value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_name(
    inference: *const InferenceHandle,
    value: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { text_of(inference, value, |of| Some(&of.name)) }
}

/// The element type of a value, "float32"; NULL if it is not known, or the value is no tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_dtype(
    inference: *const InferenceHandle,
    value: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { text_of(inference, value, |of| of.dtype.as_ref()) }
}

/// The type and shape of a value as text: "float32[batch, 2*seq]".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_shape(
    inference: *const InferenceHandle,
    value: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { text_of(inference, value, |of| Some(&of.shape)) }
}

/// The number of axes of a value; -1 if it is not known, or the value is no tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_rank(inference: *const InferenceHandle, value: usize) -> i32 {
    // SAFETY: the rules of the header.
    let dims = unsafe { inference.as_ref() }.and_then(|it| it.dims(value));
    dims.and_then(|dims| i32::try_from(dims.len()).ok()).unwrap_or(-1)
}

/// The size of an axis as a formula, "2*seq"; NULL if there is no such axis.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_dim(
    inference: *const InferenceHandle,
    value: usize,
    axis: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { text_of(inference, value, |of| of.dims.get(axis)) }
}

/// Writes the sizes of a value into `shape`, which has room for `rank` numbers, where symbols stand
/// for `sizes`. It fails if the value has another rank, if a size depends on a symbol that is not
/// given or on data, and if a number exceeds 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_sizes(
    inference: *const InferenceHandle,
    value: usize,
    sizes: *const NamedSize,
    count: usize,
    shape: *mut i64,
    rank: usize,
    error: *mut *mut ErrorHandle,
) -> bool {
    // SAFETY: the rules of the header.
    unsafe {
        done(error, || {
            let it = object(inference, "inference")?;
            let of: HashMap<_, _> = self::sizes(sizes, count)?.into_iter().collect();
            let missing = || Error::mismatch(Kind::Usage, "the value", value, "one of a known rank");
            let dims = it.dims(value).ok_or_else(missing)?;
            if dims.len() != rank {
                return Err(Error::mismatch(Kind::Shape, "the room for sizes", rank, dims.len()));
            }
            for (axis, &dim) in dims.iter().enumerate() {
                let size = number(it.inference.symbols(), dim, &of)?;
                object(shape, "shape")?;
                shape.add(axis).write(size);
            }
            Ok(())
        })
    }
}

/// The number that a size is where symbols stand for these numbers.
fn number(symbols: &dim::Symbols, dim: dim::Dim, of: &HashMap<&str, i64>) -> Result<i64> {
    symbols.evaluate(dim, &|name| of.get(name).copied()).ok_or_else(|| {
        let open = symbols.symbols_of(dim).into_iter().find(|symbol| !of.contains_key(&*symbol.name));
        let why = match open {
            Some(symbol) => format!("\"{}\" has no number", symbol.name),
            None => "it exceeds 64 bits, or divides by zero".to_owned(),
        };
        Error::new(Kind::Usage, format!("cannot compute the size {}: {why}", symbols.print(dim)))
    })
}

/// The number of conditions under which the model runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_conditions(inference: *const InferenceHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { inference.as_ref() }.map_or(0, |it| it.conditions.len())
}

/// A condition, and the node that needs it, by its number: "seq <= 64 (node "pos" (Gather))".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_condition(
    inference: *const InferenceHandle,
    index: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    nth(unsafe { inference.as_ref() }.map(|it| &it.conditions), index)
}

/// The number of errors in the model. If it is not 0, no run succeeds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_problems(inference: *const InferenceHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { inference.as_ref() }.map_or(0, |it| it.problems.len())
}

/// An error in the model, and its place, by its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_inference_problem(
    inference: *const InferenceHandle,
    index: usize,
) -> *const c_char {
    // SAFETY: the rules of the header.
    nth(unsafe { inference.as_ref() }.map(|it| &it.problems), index)
}
