//! Texts, arrays and handles that C gives and gets.

use std::ffi::{CStr, CString, c_char};
use std::slice;

use gradus::{Error, Kind, Result};

/// A name and a number: a symbol of sizes, such as `batch`, or an element of an input.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NamedSize {
    /// The name of the symbol.
    pub name: *const c_char,
    /// Its number.
    pub size: i64,
}

/// The error of a pointer that is NULL.
pub(crate) fn missing(what: &str) -> Error {
    Error::mismatch(Kind::Usage, what, "NULL", "a pointer")
}

/// The object of a pointer.
///
/// # Safety
/// The pointer is NULL, or of an object that lives as long as the result is used.
pub(crate) unsafe fn object<'a, T>(pointer: *const T, what: &str) -> Result<&'a T> {
    // SAFETY: as above.
    unsafe { pointer.as_ref() }.ok_or_else(|| missing(what))
}

/// The elements of an array; NULL is an array without elements.
///
/// # Safety
/// The pointer is NULL, or of as many elements that live as long as the result is used.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    match (first.is_null(), count) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(missing(what)),
        // SAFETY: as above.
        (false, _) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// A text.
///
/// # Safety
/// The pointer is NULL, or of a text with a NUL at its end that lives as long as the result.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(object(text, what)?) };
    text.to_str().map_err(|_| Error::mismatch(Kind::Usage, what, "other bytes", "UTF-8"))
}

/// A text that may be left out.
///
/// # Safety
/// The rules of [`text`].
pub(crate) unsafe fn text_or<'a>(given: *const c_char, default: &'a str, what: &str) -> Result<&'a str> {
    // SAFETY: as above.
    if given.is_null() { Ok(default) } else { unsafe { text(given, what) } }
}

/// Names and numbers.
///
/// # Safety
/// The rules of [`array`] and [`text`].
pub(crate) unsafe fn sizes<'a>(first: *const NamedSize, count: usize) -> Result<Vec<(&'a str, i64)>> {
    // SAFETY: as above.
    unsafe {
        let all = array(first, count, "sizes")?.iter();
        all.map(|of| Ok((text(of.name, "the name of a size")?, of.size))).collect()
    }
}

/// A text for C.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Frees what was made for C.
///
/// # Safety
/// The pointer is NULL, or was made by [`Box::into_raw`] and not freed.
pub(crate) unsafe fn free<T>(made: *mut T) {
    if !made.is_null() {
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(made) });
    }
}
