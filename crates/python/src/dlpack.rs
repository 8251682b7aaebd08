//! DLPack: memory that other libraries take over without a copy.
//!
//! Source: the header `dlpack.h`, version 1.1; the Python specification of DLPack.

#![allow(unsafe_code, reason = "the protocol hands pointers over")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use gradus::{Class, DType};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// `kDLCPU` and `kDLCUDA`.
pub(crate) const CPU: i32 = 1;
pub(crate) const CUDA: i32 = 2;

/// Elements side by side, and what keeps their memory.
pub(crate) struct Exported {
    pub(crate) address: u64,
    /// The kind of the device and its number.
    pub(crate) device: (i32, i32),
    pub(crate) dtype: DType,
    pub(crate) len: i64,
    /// True if others read the memory too. Only a capsule of version 1 can say so.
    pub(crate) read_only: bool,
    pub(crate) owner: Box<dyn Send>,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct PlainManaged {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut PlainManaged)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// The one axis and the owner: what pointers of a tensor lead to.
struct Manager {
    shape: [i64; 1],
    strides: [i64; 1],
    _owner: Box<dyn Send>,
}

/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// The capsule of `__dlpack__`: of the protocol before version 1, or of that version.
pub(crate) fn capsule(py: Python<'_>, exported: Exported, versioned: bool) -> PyResult<Bound<'_, PyCapsule>> {
    let Exported { address, device: (device_type, device_id), dtype, len, read_only, owner } = exported;
    let manager = Box::into_raw(Box::new(Manager { shape: [len], strides: [1], _owner: owner }));
    let code = match (dtype, dtype.class()) {
        (DType::BF16, _) => 4,
        (_, Class::Signed) => 0,
        (_, Class::Unsigned) => 1,
        _ => 2,
    };
    // SAFETY: the manager was just made, and stays where it is until a deleter drops it.
    let (shape, strides) = unsafe { (&raw mut (*manager).shape[0], &raw mut (*manager).strides[0]) };
    let tensor = DlTensor {
        data: std::ptr::with_exposed_provenance_mut(gradus::convert::usize_of(address)),
        device_type,
        device_id,
        ndim: 1,
        code,
        bits: gradus::convert::low_u8(gradus::convert::u64_of(dtype.bits())),
        lanes: 1,
        shape,
        strides,
        byte_offset: 0,
    };
    let manager = manager.cast();
    let (pointer, name): (*mut c_void, _) = if versioned {
        let flags = if read_only { READ_ONLY } else { 0 };
        let managed =
            Versioned { major: 1, minor: 0, manager, deleter: Some(delete_versioned), flags, tensor };
        (Box::into_raw(Box::new(managed)).cast(), VERSIONED)
    } else {
        (Box::into_raw(Box::new(PlainManaged { tensor, manager, deleter: Some(delete_plain) })).cast(), PLAIN)
    };
    // SAFETY: the interpreter is attached; the name is static. Whoever takes the tensor over
    // renames the capsule and calls the deleter; if nobody does, the destructor calls it.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy));
        Ok(Bound::from_owned_ptr_or_err(py, capsule)?.cast_into_unchecked())
    }
}

/// Drops a tensor that was given to another library.
unsafe extern "C" fn delete_plain(managed: *mut PlainManaged) {
    // SAFETY: both were made by `capsule`, and a deleter is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.manager.cast::<Manager>()));
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: both were made by `capsule`, and a deleter is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.manager.cast::<Manager>()));
    }
}

/// Drops the tensor of a capsule that no consumer took; consumers rename the capsule.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with a capsule that `capsule` made; of that name, it holds what was
    // put in.
    unsafe {
        for (name, versioned) in [(PLAIN, false), (VERSIONED, true)] {
            if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
                continue;
            }
            if let Some(pointer) = NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr())) {
                if versioned {
                    delete_versioned(pointer.as_ptr().cast());
                } else {
                    delete_plain(pointer.as_ptr().cast());
                }
            }
        }
    }
}
