//! Sources of bytes.

use std::collections::HashMap;
use std::fmt;

use bytes::Bytes;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{Error, Kind, Result};

/// The files next to a model: external data, a `.bin`.
///
/// Readers ask for them by the relative path that the model states. Whoever implements this decides
/// what may be read; the readers never touch a file system.
pub trait Files: Send + Sync + fmt::Debug {
    /// The bytes of a file, by its path relative to the model's folder.
    ///
    /// # Errors
    /// [`Kind::Io`] if there is no such file or it may not be read.
    fn open(&self, path: &str) -> Result<Bytes>;

    /// A part of a file.
    ///
    /// # Errors
    /// As [`Files::open`]; [`Kind::Syntax`] if the file is shorter.
    fn part(&self, path: &str, offset: u64, size: u64) -> Result<Bytes> {
        part_of(&self.open(path)?, path, offset, size)
    }

    /// The bytes of a file, one part after the other.
    ///
    /// # Errors
    /// As [`Files::open`].
    fn parts(&self, path: &str) -> Result<Vec<Bytes>> {
        Ok(vec![self.open(path)?])
    }

    /// The files that were asked for so far, by path, with the bytes of those that could be read.
    /// Files that are not kept on a disk are not told.
    fn asked(&self) -> Vec<(String, Option<Bytes>)> {
        Vec::new()
    }
}

/// A part of the bytes of a file.
///
/// # Errors
/// [`Kind::Syntax`] if there are fewer.
pub fn part_of(file: &Bytes, path: &str, offset: u64, size: u64) -> Result<Bytes> {
    let len = u64_of(file.len());
    let end = offset.checked_add(size).filter(|&end| end <= len).ok_or_else(|| {
        let wanted = format!("at least {}", u128::from(offset) + u128::from(size));
        Error::mismatch(Kind::Syntax, "the length of the file", len, wanted).in_file(path)
    })?;
    Ok(file.slice(usize_of(offset)..usize_of(end)))
}

/// Files that are in memory already; with none, a model that must stand alone.
#[derive(Clone, Debug, Default)]
pub struct InMemory(pub HashMap<String, Bytes>);

impl Files for InMemory {
    fn open(&self, path: &str) -> Result<Bytes> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| Error::new(Kind::Io, format!("cannot read \"{path}\": no such file")))
    }
}

/// The format that a file seems to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// XML: an OpenVINO model.
    Xml,
    /// JSON: a Paddle program.
    Json,
    /// Protobuf that begins with a message in field 1: an old Paddle program. ONNX models have a
    /// number there.
    Blocks,
    /// A NumPy array.
    Npy,
    /// A zip archive, so perhaps of NumPy arrays.
    Zip,
    /// Anything else, so perhaps protobuf: an ONNX model or tensor.
    Other,
}

/// Returns the format of a file, by its first bytes.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match bytes {
        _ if text.starts_with(b"<") => Sniffed::Xml,
        _ if text.starts_with(b"{") => Sniffed::Json,
        [0x0a, ..] => Sniffed::Blocks,
        // Text of 16 bits a character, of which only XML is one of the formats.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Sniffed::Xml,
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Sniffed::Npy,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Sniffed::Zip,
        _ => Sniffed::Other,
    }
}
