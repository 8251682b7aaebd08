//! Tensors and values from arrays, and to arrays.

use bytes::Bytes;
use gradus::{Class, DType, Kind, Map, Rules, Shape, Tensor, Value, convert};
use numpy::{
    PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::dtype::{descriptor, of_descriptor};
use crate::error::{OrRaise, copied, error, mismatch, room_for};

/// The array of an object: an array of NumPy, a tensor that speaks DLPack, or what NumPy makes an
/// array of.
pub(crate) fn as_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = object.py();
    let numpy = py.import("numpy")?;
    let is_scalar = object.is_instance(&numpy.getattr("generic")?)?;
    let array = if !is_scalar && object.hasattr("__dlpack__")? {
        py.import("gradus._dlpack")?.call_method1("from_dlpack", (object,))?
    } else {
        numpy.call_method1("asarray", (object,))?
    };
    Ok(array.cast_into()?)
}

/// Implements `__array__` for objects that create their array on demand; `copy=False` fails with
/// `why`.
pub(crate) fn new_array<'py>(
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    why: &'static str,
    array: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if copy == Some(false) {
        return Err(PyValueError::new_err(why));
    }
    let array = array()?;
    match dtype {
        Some(dtype) => array.call_method1("astype", (dtype,)),
        None => Ok(array),
    }
}

/// The tensor of an object; its elements are copied.
///
/// # Errors
/// A `DTypeError` if arrays of that type are not tensors.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let py = object.py();
    let mut array = as_array(object)?;
    if array.dtype().is_native_byteorder() == Some(false) {
        let native = array.dtype().call_method1("newbyteorder", ("=",))?;
        array = array.call_method1("astype", (native,))?.cast_into()?;
    }
    let dtype = of_descriptor(&array.dtype())?.ok_or_else(|| {
        mismatch(Kind::Type, "the type of an array", array.dtype(), "one of numbers or text")
    })?;
    let shape = Shape::new(array.shape()).or_raise()?;
    let flat = py.import("numpy")?.call_method1("ascontiguousarray", (&array,))?;
    let flat = flat.call_method1("reshape", (-1,))?;
    if dtype.class() == Class::Text {
        // Texts are read as Python has them, and then as Rust does.
        let bytes = flat.getattr("nbytes")?.extract::<usize>()?;
        drop((room_for::<u8>(bytes)?, room_for::<u8>(bytes)?));
        let texts: Vec<String> = flat
            .call_method0("tolist")?
            .extract()
            .map_err(|_| mismatch(Kind::Type, "the type of an array", "object", "one of numbers or text"))?;
        return Tensor::from_text(shape, texts.into_iter().map(Into::into).collect()).or_raise();
    }
    let bytes = with_bytes(&flat, copied)??;
    if dtype.bits() < 8 {
        drop(room_for::<u8>(bytes.len())?);
        return Tensor::from_codes(dtype, shape, &bytes).or_raise();
    }
    Tensor::from_bytes(dtype, shape, Bytes::from(bytes)).or_raise()
}

/// The results of a function for the elements of an array of one axis, as they lie in memory.
pub(crate) fn with_bytes<T>(flat: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    let bytes = flat.call_method1("view", (numpy::dtype::<u8>(flat.py()),))?.cast_into::<PyArray1<u8>>()?;
    let is_written = |_| error(Kind::Usage, "cannot read an array that another thread writes into");
    let bytes = bytes.try_readonly().map_err(is_written)?;
    let gaps = |_| error(Kind::Shape, "an array has gaps between its elements");
    Ok(read(bytes.as_slice().map_err(gaps)?))
}

/// The array of a tensor.
///
/// # Errors
/// An `UnsupportedError` for types that no array has.
pub(crate) fn to_python<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let dtype: Bound<'py, PyArrayDescr> = descriptor(py, tensor.dtype())?;
    let shape = PyTuple::new(py, tensor.shape().dims())?;
    if let Ok(texts) = tensor.texts() {
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        let empty = py.import("numpy")?.call_method("empty", (texts.len(),), Some(&options))?;
        for (i, text) in texts.iter().enumerate() {
            empty.set_item(i, &**text)?;
        }
        return empty.call_method1("reshape", (shape,));
    }
    let array = match tensor.bytes() {
        Some(bytes) if tensor.dtype().bits() >= 8 => bytes_array(py, bytes)?,
        _ => {
            drop(room_for::<u8>(tensor.shape().len())?);
            bytes_array(py, &tensor.codes().or_raise()?)?
        }
    };
    array.call_method1("view", (dtype,))?.call_method1("reshape", (shape,))
}

/// An array with a copy of bytes, or NumPy's `MemoryError`.
fn bytes_array<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let empty = py.import("numpy")?.call_method1("empty", (bytes.len(), numpy::dtype::<u8>(py)))?;
    let array = empty.cast_into::<PyArray1<u8>>()?;
    if let Ok(elements) = array.readwrite().as_slice_mut() {
        elements.copy_from_slice(bytes);
    }
    Ok(array)
}

/// The value of an object: a list stands for a sequence of values, a dict for a map, `None` for an
/// empty optional.
pub(crate) fn value_from_python(object: &Bound<'_, PyAny>, sequence: bool) -> PyResult<Value> {
    if sequence && let Ok(list) = object.cast::<PyList>() {
        let values = list.iter().map(|each| value_from_python(&each, false));
        return Ok(Value::Sequence(values.collect::<PyResult<_>>()?));
    }
    if object.is_none() {
        return Ok(Value::Optional(None));
    }
    if let Ok(map) = object.cast::<PyDict>() {
        let (keys, values) = (from_python(&map.keys())?, from_python(&map.values())?);
        // Maps of ONNX hold float32 where Python shows floats of its own.
        let values = match values.dtype() {
            DType::F64 => convert::cast(&values, DType::F32, Rules::IEEE).or_raise()?,
            _ => values,
        };
        return Ok(Value::Map(Map::new(keys, values).or_raise()?));
    }
    Ok(from_python(object)?.into())
}

/// An array, a list of them, a dict, or `None`.
pub(crate) fn value_to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Tensor(tensor) => to_python(py, tensor),
        Value::Sequence(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(value_to_python(py, value)?)?;
            }
            Ok(list.into_any())
        }
        Value::Map(map) => {
            let lists = [map.keys(), map.values()].map(|of| to_python(py, of)?.call_method0("tolist"));
            let [keys, values] = lists;
            let pairs = py.import("builtins")?.call_method1("zip", (keys?, values?))?;
            py.import("builtins")?.call_method1("dict", (pairs,))
        }
        Value::Optional(None) => Ok(py.None().into_bound(py)),
        Value::Optional(Some(value)) => value_to_python(py, value),
    }
}
