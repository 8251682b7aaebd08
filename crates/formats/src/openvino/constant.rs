//! Constants: tensors in the `.bin` file.
//!
//! Elements lie there as tensors hold them, but for
//!
//! | type | how |
//! |---|---|
//! | `u1` | eight in a byte, the first in the highest bit |
//! | `u3` | eight in three bytes: the low two bits of four, of the other four, and the high bits of all eight; first highest |
//! | `u6` | four in three bytes: the low nibbles of two, of the other two, and the high two bits of all four; first highest |
//! | `string` | a count, the end of each text (and 0 before the first), all as 32-bit numbers; then the texts |
//!
//! A tensor without elements takes one byte in files that OpenVINO writes, and none in ours; it
//! reads both.
//!
//! Source: files that OpenVINO 2026.4 writes.

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::{product, usize_of_u32};
use gradus_core::error::Position;
use gradus_core::graph::{Constant, Stored};
use gradus_core::tensor::byte_len;
use gradus_core::{Class, DType, Error, Kind, Result, Shape, Tensor};

use crate::files::Files;

/// Location of a constant's elements, as a `Const` layer states it.
#[derive(Debug)]
pub(super) struct StoredElements {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) position: Position,
}

/// A constant that will be read from the `.bin` file.
///
/// # Errors
/// [`Kind::Syntax`] if type and shape take another number of bytes than stated.
pub(super) fn constant(placed: StoredElements, bin: &str, files: &Arc<dyn Files>) -> Result<Constant> {
    let (dtype, shape) = (placed.dtype, placed.shape.clone());
    let wanted = stored_len(dtype, &shape);
    let empty = wanted == 0 && placed.size == 1;
    if dtype.class() != Class::Text && u128::from(placed.size) != wanted && !empty {
        let what = format!("the size of {dtype}{shape}");
        return Err(Error::mismatch(Kind::Syntax, what, placed.size, wanted));
    }
    let stored = InBin { placed, bin: bin.to_owned(), files: files.clone() };
    Ok(Constant::stored(dtype, shape, Arc::new(stored)))
}

/// Elements that share their bytes, and how many bytes that is.
fn group(dtype: DType) -> Option<(usize, usize)> {
    match dtype {
        DType::U3 => Some((8, 3)),
        DType::U6 => Some((4, 3)),
        _ => None,
    }
}

fn stored_len(dtype: DType, shape: &Shape) -> u128 {
    match group(dtype) {
        Some((elements, bytes)) => product(shape.len(), 1).div_ceil(product(elements, 1)) * product(bytes, 1),
        None => byte_len(dtype, shape),
    }
}

#[derive(Debug)]
struct InBin {
    placed: StoredElements,
    bin: String,
    files: Arc<dyn Files>,
}

impl Stored for InBin {
    fn load(&self) -> Result<Tensor> {
        let StoredElements { name, dtype, shape, offset, size, position } = &self.placed;
        if shape.is_empty() {
            return Tensor::zeros(*dtype, shape.clone());
        }
        let load = || {
            let bytes = self.files.part(&self.bin, *offset, *size)?;
            decode(*dtype, shape.clone(), &bytes)
        };
        load().map_err(|error: Error| error.in_node(format!("constant \"{name}\"")).at(*position))
    }
}

fn decode(dtype: DType, shape: Shape, bytes: &Bytes) -> Result<Tensor> {
    let bit = |byte: u8, place: usize| byte >> (7 - place) & 1;
    let pair = |byte: u8, place: usize| byte >> (6 - 2 * place) & 3;
    let nibble = |byte: u8, place: usize| byte >> (4 - 4 * place) & 15;
    let count = shape.len();
    let codes: Vec<u8> = match dtype {
        DType::String => return texts(shape, bytes),
        DType::U1 => bytes.iter().flat_map(|&byte| (0..8).map(move |i| bit(byte, i))).collect(),
        DType::U3 => groups(bytes, |[a, b, high]| {
            (0..8).map(move |i| pair(if i < 4 { a } else { b }, i % 4) | bit(high, i) << 2)
        }),
        DType::U6 => groups(bytes, |[a, b, high]| {
            (0..4).map(move |i| nibble(if i < 2 { a } else { b }, i % 2) | pair(high, i) << 4)
        }),
        _ => return Tensor::from_bytes(dtype, shape, bytes.clone()),
    };
    Tensor::from_codes(dtype, shape, codes.get(..count).unwrap_or(&codes))
}

/// The bytes of a tensor as the file holds them.
///
/// # Errors
/// [`Kind::Limit`] if texts are longer than 32 bits count.
pub(super) fn encode(tensor: &Tensor) -> Result<Bytes> {
    let packed = |codes: &[u8], elements: usize, of: fn(&[u8]) -> [u8; 3]| -> Bytes {
        codes.chunks(elements).flat_map(|chunk| of(&padded(chunk))).collect()
    };
    match tensor.dtype() {
        DType::String => encode_texts(tensor.texts()?),
        DType::U1 => {
            let byte = |chunk: &[u8]| padded(chunk).iter().fold(0, |byte, bit| byte << 1 | bit & 1);
            Ok(tensor.codes()?.chunks(8).map(byte).collect())
        }
        DType::U3 => Ok(packed(&tensor.codes()?, 8, |codes| {
            let (low, high) = codes.split_at(4);
            let lows = |codes: &[u8]| codes.iter().fold(0, |byte, code| byte << 2 | code & 3);
            [lows(low), lows(high), codes.iter().fold(0, |byte, code| byte << 1 | code >> 2 & 1)]
        })),
        DType::U6 => Ok(packed(&tensor.codes()?, 4, |codes| {
            let codes = codes.split_at(4).0;
            let (low, high) = codes.split_at(2);
            let lows = |codes: &[u8]| codes.iter().fold(0, |byte, code| byte << 4 | code & 15);
            [lows(low), lows(high), codes.iter().fold(0, |byte, code| byte << 2 | code >> 4 & 3)]
        })),
        _ => Ok(tensor.bytes().cloned().unwrap_or_default()),
    }
}

/// Up to eight codes, with zeros after them.
fn padded(chunk: &[u8]) -> [u8; 8] {
    let mut codes = [0; 8];
    codes.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
    codes
}

fn encode_texts(texts: &[Box<str>]) -> Result<Bytes> {
    let number = |len: usize| {
        let fits = u32::try_from(len).map(u32::to_le_bytes);
        fits.map_err(|_| Error::new(Kind::Limit, "texts of a constant take 4 GiB at most"))
    };
    let mut bytes = number(texts.len())?.to_vec();
    let mut end = 0;
    bytes.extend(number(end)?);
    for text in texts {
        end += text.len();
        bytes.extend(number(end)?);
    }
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
    }
    Ok(bytes.into())
}

fn groups<I: Iterator<Item = u8>>(bytes: &[u8], of: impl Fn([u8; 3]) -> I) -> Vec<u8> {
    bytes.chunks_exact(3).filter_map(|group| group.try_into().ok()).flat_map(of).collect()
}

fn texts(shape: Shape, bytes: &Bytes) -> Result<Tensor> {
    let fail = |what: &str| Error::new(Kind::Syntax, format!("this is not a list of texts: {what}"));
    let number = |index: usize| {
        let four = bytes.get(index.checked_mul(4)?..)?.first_chunk()?;
        Some(usize_of_u32(u32::from_le_bytes(*four)))
    };
    let count = number(0).ok_or_else(|| fail("it is empty"))?;
    if count != shape.len() {
        return Err(fail(&format!("it has {count} texts, but shape {shape} wants {}", shape.len())));
    }
    let start = product(count, 4) + 8;
    let chars = if start <= product(bytes.len(), 1) { bytes.get((count + 2) * 4..) } else { None };
    let chars = chars.ok_or_else(|| fail("it ends among the sizes"))?;
    let text = |i: usize| {
        let range = number(i + 1).zip(number(i + 2)).map(|(start, end)| start..end);
        let text = range
            .and_then(|range| chars.get(range))
            .ok_or_else(|| fail(&format!("text {i} is not within it")))?;
        std::str::from_utf8(text).map(Into::into).map_err(|_| fail(&format!("text {i} is not UTF-8")))
    };
    Tensor::from_text(shape, (0..count).map(text).collect::<Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_types_are_read_as_openvino_writes_them() {
        struct PackedCase {
            dtype: DType,
            bytes: &'static [u8],
            codes: &'static [u8],
        }
        // The bytes are those of a file that OpenVINO 2026.4 wrote for these nine elements.
        let cases = [
            PackedCase { dtype: DType::U1, bytes: &[0x9a, 0xda], codes: &[1, 0, 0, 1, 1, 0, 1, 0, 1] },
            PackedCase { dtype: DType::U2, bytes: &[0xe4, 0xe4, 0xc1], codes: &[0, 1, 2, 3, 0, 1, 2, 3, 1] },
            PackedCase {
                dtype: DType::U3,
                bytes: &[0x1b, 0x1b, 0x0f, 0x68, 0x4c, 0x56],
                codes: &[0, 1, 2, 3, 4, 5, 6, 7, 1],
            },
            PackedCase {
                dtype: DType::U4,
                bytes: &[0x10, 0x32, 0x54, 0x76, 0x48],
                codes: &[0, 1, 2, 3, 4, 5, 6, 7, 8],
            },
            PackedCase {
                dtype: DType::U6,
                bytes: &[1, 0x23, 0, 0x45, 0x67, 0, 0x80, 0, 0],
                codes: &[0, 1, 2, 3, 4, 5, 6, 7, 8],
            },
        ];
        for PackedCase { dtype, bytes, codes } in cases {
            let shape = Shape::vector(9);
            assert_eq!(stored_len(dtype, &shape), product(bytes.len(), 1), "{dtype}");
            let tensor = decode(dtype, shape, &Bytes::from_static(bytes)).unwrap();
            assert_eq!(tensor.codes().unwrap()[..], *codes, "{dtype}");
        }
    }

    #[test]
    fn texts_are_read_as_openvino_writes_them() {
        let bytes = b"\x04\0\0\0\0\0\0\0\x02\0\0\0\x06\0\0\0\x06\0\0\0\x07\0\0\0abcd\xc3\xa9x";
        let shape = Shape::new([2, 2]).unwrap();
        let tensor = decode(DType::String, shape.clone(), &Bytes::from_static(bytes)).unwrap();
        assert_eq!(tensor.texts().unwrap().join(","), "ab,cdé,,x");
        for (damage, what) in
            [(0, "it has 5 texts, but shape [2, 2] wants 4"), (8, "text 1 is not within it")]
        {
            let mut bytes = bytes.to_vec();
            bytes[damage] += if damage == 0 { 1 } else { 100 };
            let error = decode(DType::String, shape.clone(), &bytes.into()).unwrap_err();
            assert_eq!(
                error.message(),
                format!("this is not a list of texts: {what}").replace("text 1", "text 0")
            );
        }
        assert!(decode(DType::String, shape, &Bytes::from_static(&bytes[..20])).is_err());
    }
}
