//! External data: tensors whose elements are in a file next to the model.

use std::sync::Arc;

use gradus_core::convert::{low_u64, u64_of, usize_of};
use gradus_core::graph::{Constant, Stored};
use gradus_core::tensor::byte_len;
use gradus_core::{Class, DType, Error, Kind, Result, Shape, Tensor};

use super::model::ModelReader;
use super::tensor::label;
use crate::files::Files;

/// Location of the elements of a stripped initializer, where no reader finds any.
pub const STRIPPED: &str = "stripped-weights";

/// The constant that a tensor's external data entries describe.
pub(super) fn read(
    reader: &ModelReader,
    name: &str,
    dtype: DType,
    shape: Shape,
    entries: &[(String, String)],
) -> Result<Constant> {
    let fail = |message: String| Error::new(Kind::Syntax, format!("external data: {message}"));
    let entry = |key: &str| entries.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    let number = |key: &str| match entry(key) {
        Some(text) => {
            text.trim().parse().map(Some).map_err(|_| fail(format!("{key} \"{text}\" is not a size")))
        }
        None => Ok(None),
    };
    let location = entry("location").ok_or_else(|| fail("no location is given".into()))?;
    check_location(location)?;
    if dtype.class() == Class::Text {
        return Err(fail("text cannot be stored outside the model".into()));
    }
    let offset = number("offset")?.unwrap_or(0);
    let wanted = byte_len(dtype, &shape);
    let stated: Option<u64> = number("length")?;
    if let Some(len) = stated.filter(|&len| u128::from(len) != wanted) {
        return Err(fail(format!("{dtype}{shape} takes {wanted} bytes, but the length is {len}")));
    }
    let len = low_u64(wanted);
    if location != STRIPPED {
        reader.regions.borrow_mut().claim(location, offset, len, name)?;
    }
    let (name, location) = (name.to_owned(), location.to_owned());
    let external =
        External { name, dtype, shape: shape.clone(), location, offset, len, files: reader.files.clone() };
    Ok(Constant::stored(dtype, shape, Arc::new(external)))
}

/// A location is a relative path that stays within the model's folder.
fn check_location(location: &str) -> Result<()> {
    let parts: Vec<_> = location.split(['/', '\\']).collect();
    let leaves =
        parts.contains(&"..") || parts.first().is_none_or(|part| part.is_empty() || part.contains(':'));
    if leaves || location.contains('\0') {
        let message =
            format!("external data \"{location}\" is outside the model's folder, and so is not read");
        return Err(Error::new(Kind::Io, message));
    }
    Ok(())
}

/// A tensor whose elements are in a file next to the model.
#[derive(Debug)]
struct External {
    name: String,
    dtype: DType,
    shape: Shape,
    location: String,
    offset: u64,
    len: u64,
    files: Arc<dyn Files>,
}

impl Stored for External {
    fn load(&self) -> Result<Tensor> {
        let load = || {
            let file = self.files.open(&self.location)?;
            let size = u64_of(file.len());
            let end = self.offset.checked_add(self.len).filter(|&end| end <= size).ok_or_else(|| {
                let (offset, len) = (self.offset, self.len);
                let wanted = format!("at least {}", u128::from(offset) + u128::from(len));
                Error::mismatch(Kind::Syntax, "the length of the file", size, wanted).in_file(&self.location)
            })?;
            Tensor::from_bytes(
                self.dtype,
                self.shape.clone(),
                file.slice(usize_of(self.offset)..usize_of(end)),
            )
        };
        load().map_err(|error: Error| error.in_node(label(&self.name)))
    }
}
