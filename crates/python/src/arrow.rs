//! Arrow's C data interface: an array that other libraries take over without a copy.
//!
//! Source: "The Arrow C data interface" of the Arrow columnar format, version 1.5, and its PyCapsule
//! interface for Python.

#![allow(unsafe_code, reason = "the protocol hands pointers over")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use gradus::{DType, Kind};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::mismatch;

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct ArrowCArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowCArray,
    dictionary: *mut ArrowCArray,
    release: Option<unsafe extern "C" fn(*mut ArrowCArray)>,
    private: *mut c_void,
}

/// The buffers of an array, no bitmap of nulls and the elements, and what keeps the elements.
struct Buffers {
    pointers: [*const c_void; 2],
    _owner: Py<PyAny>,
}

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The format string of an element type.
fn format(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::I8 => c"c",
        DType::U8 => c"C",
        DType::I16 => c"s",
        DType::U16 => c"S",
        DType::I32 => c"i",
        DType::U32 => c"I",
        DType::I64 => c"l",
        DType::U64 => c"L",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"g",
        _ => return None,
    })
}

/// The capsules of `__arrow_c_array__`, of an array with one axis and its elements side by side.
pub(crate) fn capsules<'py>(
    elements: &Bound<'py, PyAny>,
    dtype: DType,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let format = format(dtype)
        .ok_or_else(|| mismatch(Kind::Type, "element type", dtype, "a type of Arrow: int8 to float64"))?;
    let address: usize = elements.getattr("ctypes")?.getattr("data")?.extract()?;
    let owner = Box::new(Buffers {
        pointers: [null_mut(), std::ptr::with_exposed_provenance(address)],
        _owner: elements.clone().unbind(),
    });
    let schema = Schema {
        format: format.as_ptr(),
        name: c"".as_ptr(),
        metadata: null_mut(),
        flags: 0,
        n_children: 0,
        children: null_mut(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private: null_mut(),
    };
    let private = Box::into_raw(owner);
    let array = ArrowCArray {
        length: elements.len().map(gradus::convert::i64_of)?,
        null_count: 0,
        offset: 0,
        n_buffers: 2,
        n_children: 0,
        // SAFETY: the buffers were just made, and stay where they are until `release_array`.
        buffers: unsafe { (&raw mut (*private).pointers).cast() },
        children: null_mut(),
        dictionary: null_mut(),
        release: Some(release_array),
        private: private.cast(),
    };
    let py = elements.py();
    // SAFETY: the interpreter is attached; the names are static, and the destructors are those of
    // what the capsules hold.
    unsafe {
        let schema = Box::into_raw(Box::new(schema)).cast();
        let schema = ffi::PyCapsule_New(schema, SCHEMA.as_ptr(), Some(destroy_schema));
        let array = Box::into_raw(Box::new(array)).cast();
        let array = ffi::PyCapsule_New(array, ARRAY.as_ptr(), Some(destroy_array));
        let owned = |capsule| Bound::from_owned_ptr_or_err(py, capsule);
        Ok((owned(schema)?.cast_into_unchecked(), owned(array)?.cast_into_unchecked()))
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the consumer passes the schema that it took, once.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn release_array(array: *mut ArrowCArray) {
    // SAFETY: the consumer passes the array that it took, once; the buffers were made by `capsules`.
    unsafe {
        drop(Box::from_raw((*array).private.cast::<Buffers>()));
        (*array).release = None;
    }
}

/// Drops the schema of a capsule; a consumer that took it has marked it as released.
unsafe extern "C" fn destroy_schema(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with a capsule that `capsules` made.
    unsafe {
        let mut schema = Box::from_raw(ffi::PyCapsule_GetPointer(capsule, SCHEMA.as_ptr()).cast::<Schema>());
        if let Some(release) = schema.release {
            release(&raw mut *schema);
        }
    }
}

/// Drops the array of a capsule; a consumer that took it has marked it as released.
unsafe extern "C" fn destroy_array(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with a capsule that `capsules` made.
    unsafe {
        let mut array =
            Box::from_raw(ffi::PyCapsule_GetPointer(capsule, ARRAY.as_ptr()).cast::<ArrowCArray>());
        if let Some(release) = array.release {
            release(&raw mut *array);
        }
    }
}
