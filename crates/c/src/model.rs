//! Models: opened, folded, converted, written.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use bytes::Bytes;
use gradus::check::VerifyOptions;
use gradus::conversion::ConvertOptions;
use gradus::fold::{FoldOptions, RuleSet};
use gradus::graph::{Standard, ValueId};
use gradus::infer::Sizes;
use gradus::prove::{ProveOptions, Verdict};
use gradus::{Error, Kind, Model, Result};

use crate::error::{ErrorHandle, done, made};
use crate::given::{NamedSize, array, c_text, free, object, sizes, text, text_or};

/// A model: a graph of operators with inputs and outputs.
#[derive(Debug)]
pub struct ModelHandle {
    pub(crate) model: Model,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
    /// Notes of a conversion about its result.
    notes: Vec<CString>,
}

impl ModelHandle {
    fn of(model: Model) -> ModelHandle {
        let graph = model.graph();
        let names = |ids: &[ValueId]| ids.iter().map(|&id| c_text(&graph.value(id).name)).collect();
        let (inputs, outputs) = (names(graph.inputs()), names(graph.outputs()));
        ModelHandle { model, inputs, outputs, notes: Vec::new() }
    }
}

/// A text of a list that an object has; NULL if there is no such text.
pub(crate) fn nth(list: Option<&Vec<CString>>, index: usize) -> *const c_char {
    list.and_then(|list| list.get(index)).map_or(ptr::null(), |text| text.as_ptr())
}

/// The sizes that symbols stand for.
///
/// # Safety
/// The rules of the header.
pub(crate) unsafe fn fixed(first: *const NamedSize, count: usize) -> Result<Sizes> {
    // SAFETY: as above.
    let all = unsafe { sizes(first, count) }?;
    let dims = all.into_iter().map(|(name, size)| (name.to_owned(), size)).collect();
    Ok(Sizes { dims, ..Sizes::default() })
}

/// Opens a model: ONNX, OpenVINO IR with its `.bin` next to it, or a Paddle program with its
/// `.pdiparams`. The file is mapped, and must not be changed while the model is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_open(
    path: *const c_char,
    error: *mut *mut ErrorHandle,
) -> *mut ModelHandle {
    // SAFETY: the rules of the header.
    unsafe { made(error, || Ok(ModelHandle::of(Model::open(text(path, "path")?)?))) }
}

/// Reads a model that stands alone from `len` bytes, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_read(
    bytes: *const c_void,
    len: usize,
    error: *mut *mut ErrorHandle,
) -> *mut ModelHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let bytes = Bytes::copy_from_slice(array(bytes.cast::<u8>(), len, "bytes")?);
            Ok(ModelHandle::of(Model::from_bytes(&bytes)?))
        })
    }
}

/// Frees a model. What was made of it may be used on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_free(model: *mut ModelHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(model) }
}

/// The number of inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_inputs(model: *const ModelHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { model.as_ref() }.map_or(0, |model| model.inputs.len())
}

/// The name of an input, by its number; NULL if there is no such input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_input(model: *const ModelHandle, index: usize) -> *const c_char {
    // SAFETY: the rules of the header.
    nth(unsafe { model.as_ref() }.map(|model| &model.inputs), index)
}

/// The number of outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_outputs(model: *const ModelHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { model.as_ref() }.map_or(0, |model| model.outputs.len())
}

/// The name of an output, by its number; NULL if there is no such output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_output(model: *const ModelHandle, index: usize) -> *const c_char {
    // SAFETY: the rules of the header.
    nth(unsafe { model.as_ref() }.map(|model| &model.outputs), index)
}

/// Folds a model: what is known before a run becomes constants, and nodes that nothing needs go.
///
/// `level` is "exact" (the same bits, also if it is NULL), "shapes" or "fuse". Symbols among `dims`
/// are fixed in the folded model. Outputs are proved to be the same, or compared in runs, in some
/// seconds; a difference is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_fold(
    model: *const ModelHandle,
    level: *const c_char,
    dims: *const NamedSize,
    count: usize,
    error: *mut *mut ErrorHandle,
) -> *mut ModelHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let model = &object(model, "model")?.model;
            let mut options = FoldOptions::default();
            options.rules = RuleSet::of(text_or(level, "exact", "level")?.parse()?);
            options.sizes = fixed(dims, count)?;
            let folded = model.edited(&model.fold(&options)?.model)?;
            let mut verify = VerifyOptions::default();
            verify.sizes = options.sizes.clone();
            model.verify(&folded, options.rules, &verify)?;
            Ok(ModelHandle::of(folded))
        })
    }
}

/// Converts a model to a standard, "onnx" or "openvino". To ONNX, `opset` is the version of the
/// operator set, or 0 for one that most runtimes have. Symbols among `dims` are fixed. The notes of
/// the result tell what it does not keep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_convert(
    model: *const ModelHandle,
    standard: *const c_char,
    opset: i64,
    dims: *const NamedSize,
    count: usize,
    error: *mut *mut ErrorHandle,
) -> *mut ModelHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let name = text(standard, "standard")?;
            let to = [Standard::Onnx, Standard::OpenVino].into_iter().find(|it| it.name() == name);
            let to = to.ok_or_else(|| Error::unknown("standard", name, ["onnx", "openvino"]))?;
            let mut options = ConvertOptions::default();
            options.opset = (opset != 0).then_some(opset);
            options.sizes = fixed(dims, count)?;
            let converted = object(model, "model")?.model.convert(to, &options)?;
            let notes = converted
                .report
                .notes
                .iter()
                .map(|note| c_text(&format!("{} ({}): {}", note.place, note.operator, note.why)));
            let notes = notes.collect();
            Ok(ModelHandle { notes, ..ModelHandle::of(converted.model) })
        })
    }
}

/// The number of notes about a model that was converted: nodes whose results may differ, and why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_notes(model: *const ModelHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { model.as_ref() }.map_or(0, |model| model.notes.len())
}

/// A note, by its number; NULL if there is no such note.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_note(model: *const ModelHandle, index: usize) -> *const c_char {
    // SAFETY: the rules of the header.
    nth(unsafe { model.as_ref() }.map(|model| &model.notes), index)
}

/// The answer whether two models are the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofAnswer {
    /// There is neither a proof nor a run that shows a difference, or the question failed.
    Undecided,
    /// Outputs of one name, or of one place, are the same bits for all inputs and sizes.
    Equivalent,
    /// A run of both shows a difference.
    Different,
}

/// Proves that two models are the same for all inputs and sizes, or runs both to find a difference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_prove(
    first: *const ModelHandle,
    second: *const ModelHandle,
    error: *mut *mut ErrorHandle,
) -> ProofAnswer {
    let mut answer = ProofAnswer::Undecided;
    // SAFETY: the rules of the header.
    unsafe {
        done(error, || {
            let (first, second) = (object(first, "first")?, object(second, "second")?);
            answer = match first.model.prove(&second.model, &ProveOptions::default())?.verdict {
                Verdict::Equivalent => ProofAnswer::Equivalent,
                Verdict::Different(_) => ProofAnswer::Different,
                Verdict::Undecided => ProofAnswer::Undecided,
            };
            Ok(())
        });
    }
    answer
}

/// Writes a model: `.onnx`, or `.xml` with a `.bin` next to it. An existing file is replaced once
/// the new one is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_save(
    model: *const ModelHandle,
    path: *const c_char,
    error: *mut *mut ErrorHandle,
) -> bool {
    // SAFETY: the rules of the header.
    unsafe {
        done(error, || {
            object(model, "model")?.model.save(text(path, "path")?)?;
            Ok(())
        })
    }
}

/// Bytes that Gradus wrote.
#[derive(Debug)]
pub struct BytesHandle(Bytes);

/// The bytes of an ONNX model, with its constants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_model_bytes(
    model: *const ModelHandle,
    error: *mut *mut ErrorHandle,
) -> *mut BytesHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let model = &object(model, "model")?.model;
            if model.source().standard != Standard::Onnx {
                let got = model.source().standard.name();
                return Err(Error::mismatch(Kind::Usage, "the standard of the model", got, "onnx"));
            }
            Ok(BytesHandle(model.to_onnx()?))
        })
    }
}

/// The first of the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_bytes_data(bytes: *const BytesHandle) -> *const u8 {
    // SAFETY: the rules of the header.
    unsafe { bytes.as_ref() }.map_or(ptr::null(), |bytes| bytes.0.as_ptr())
}

/// The number of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_bytes_len(bytes: *const BytesHandle) -> usize {
    // SAFETY: the rules of the header.
    unsafe { bytes.as_ref() }.map_or(0, |bytes| bytes.0.len())
}

/// Frees bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_bytes_free(bytes: *mut BytesHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(bytes) }
}
