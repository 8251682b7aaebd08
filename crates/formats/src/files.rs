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
    /// A file of another program, in words: "a GGUF file".
    Foreign(&'static str),
    /// Anything else, so perhaps protobuf: an ONNX model or tensor.
    Other,
}

/// Files that people take for models, by their first bytes; none of these can begin an ONNX model.
const FOREIGN: [(&[u8], &str); 9] = [
    (b"version https://git-lfs", "a pointer of Git LFS, which `git lfs pull` replaces by the file"),
    (b"GGUF", "a GGUF file"),
    (b"\x89HDF", "an HDF5 file, perhaps of Keras"),
    (b"\x80\x02", "a pickle, perhaps of PyTorch"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard"),
];

fn is_page(text: &[u8]) -> bool {
    let begins = |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// Returns the format of a file, by its first bytes.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match bytes {
        _ if is_page(text) => Sniffed::Foreign("a page of HTML, perhaps instead of a download"),
        _ if text.starts_with(b"<") => Sniffed::Xml,
        _ if text.starts_with(b"{") => Sniffed::Json,
        [0x0a, ..] => Sniffed::Blocks,
        // Text of 16 bits a character, of which only XML is one of the formats.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Sniffed::Xml,
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Sniffed::Npy,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Sniffed::Zip,
        // Two formats of FlatBuffers, which begin with a short offset.
        [_, _, 0, 0, b'O', b'R', b'T', b'M', ..] => Sniffed::Foreign("in ONNX Runtime's own format (ORT)"),
        [_, _, 0, 0, b'T', b'F', b'L', b'3', ..] => Sniffed::Foreign("a TensorFlow Lite model"),
        [_, _, _, _, 0, 0, 0, 0, b'{', b'"', ..] => {
            Sniffed::Foreign("a safetensors file, weights without a graph")
        }
        _ => {
            let foreign = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic));
            foreign.map_or(Sniffed::Other, |(_, words)| Sniffed::Foreign(words))
        }
    }
}
