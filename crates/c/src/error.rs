//! Errors.

use std::ffi::{CString, c_char};
use std::ptr;

use gradus::error::guarded;
use gradus::{Error, Kind, Result};

use crate::given::{c_text, free};

/// The kind of an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The caller asked for something that does not exist or does not fit together.
    Usage = 1,
    /// The operating system refused: a file is missing, unreadable, unwritable.
    Io,
    /// Bytes or text are not what their format says.
    Syntax,
    /// A graph is not well formed, or contradicts itself.
    Graph,
    /// An element type, or a kind of value, is not one that is allowed here.
    Type,
    /// A shape is not one that is allowed here.
    Shape,
    /// A value is not one that is allowed here.
    Value,
    /// Something is larger than the limits.
    Limit,
    /// Valid, but not done by Gradus.
    Unsupported,
    /// A fault of Gradus: please report it.
    Internal,
}

impl ErrorKind {
    fn of(kind: Kind) -> ErrorKind {
        match kind {
            Kind::Usage => ErrorKind::Usage,
            Kind::Io => ErrorKind::Io,
            Kind::Syntax => ErrorKind::Syntax,
            Kind::Graph => ErrorKind::Graph,
            Kind::Type => ErrorKind::Type,
            Kind::Shape => ErrorKind::Shape,
            Kind::Value => ErrorKind::Value,
            Kind::Limit => ErrorKind::Limit,
            Kind::Unsupported => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        }
    }
}

/// An error: its kind, a sentence, what was found and what was wanted.
#[derive(Debug)]
pub struct ErrorHandle {
    kind: ErrorKind,
    message: CString,
    place: Option<CString>,
    got: Option<CString>,
    wanted: Option<CString>,
}

impl ErrorHandle {
    fn of(error: &Error) -> ErrorHandle {
        let location = error.location();
        ErrorHandle {
            kind: ErrorKind::of(error.kind()),
            message: c_text(&error.to_string()),
            place: (!location.is_empty()).then(|| c_text(&location.to_string())),
            got: error.got().map(c_text),
            wanted: error.wanted().map(c_text),
        }
    }
}

/// The result of work, as a pointer that C frees; NULL, and an error, if it fails.
///
/// # Safety
/// `error` is NULL, or points to a pointer that may be written.
pub(crate) unsafe fn made<T>(error: *mut *mut ErrorHandle, work: impl FnOnce() -> Result<T>) -> *mut T {
    match guarded(work) {
        Ok(made) => Box::into_raw(Box::new(made)),
        Err(failed) => {
            // SAFETY: as above.
            unsafe { tell(error, &failed) };
            ptr::null_mut()
        }
    }
}

/// True if work is done; false, and an error, if it fails.
///
/// # Safety
/// The rules of [`made`].
pub(crate) unsafe fn done(error: *mut *mut ErrorHandle, work: impl FnOnce() -> Result<()>) -> bool {
    match guarded(work) {
        Ok(()) => true,
        Err(failed) => {
            // SAFETY: as above.
            unsafe { tell(error, &failed) };
            false
        }
    }
}

unsafe fn tell(error: *mut *mut ErrorHandle, failed: &Error) {
    if !error.is_null() {
        // SAFETY: the caller of `made` and `done` says that it may be written.
        unsafe { error.write(Box::into_raw(Box::new(ErrorHandle::of(failed)))) };
    }
}

/// A part of an error as a text that the error keeps.
unsafe fn part(
    error: *const ErrorHandle,
    of: impl FnOnce(&ErrorHandle) -> Option<&CString>,
) -> *const c_char {
    // SAFETY: the rules of the header.
    let error = unsafe { error.as_ref() };
    error.and_then(of).map_or(ptr::null(), |text| text.as_ptr())
}

/// The kind of an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_kind(error: *const ErrorHandle) -> ErrorKind {
    // SAFETY: the rules of the header.
    unsafe { error.as_ref() }.map_or(ErrorKind::Usage, |error| error.kind)
}

/// The error as a sentence, with its place: "model.onnx: node "pos" (onnx Range-11): …".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_message(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { part(error, |error| Some(&error.message)) }
}

/// Where it is: the file, the position in it, the nodes from the outermost inwards. NULL if nothing
/// is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_place(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { part(error, |error| error.place.as_ref()) }
}

/// The value that was found; NULL if the error does not say it apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_got(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { part(error, |error| error.got.as_ref()) }
}

/// The value that was expected; NULL if the error does not say it apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_wanted(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    unsafe { part(error, |error| error.wanted.as_ref()) }
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_error_free(error: *mut ErrorHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(error) }
}
