//! NumPy's array files: `.npy` and `.npz`.
//!
//! A `.npy` file is a magic number, a version, a Python dictionary of element type, order and
//! shape, and the elements. Types that NumPy does not have (`bfloat16`, the floats of 8 bits and
//! less, the packed integers) are written as the `ml_dtypes` package writes them, as opaque
//! elements of one or two bytes; reading those takes a hint.
//!
//! Source: the format's description in NumPy's reference, versions 1.0 to 3.0.

use std::collections::HashSet;
use std::io::{Read, Seek, Write};

use bytes::Bytes;
use gradus_core::convert::{product, u64_of, usize_of};
use gradus_core::error::Position;
use gradus_core::{DType, Error, Kind, Limits, Result, Shape, Tensor};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes that an array of a `.npz` file takes besides its name and content: its entry in the list
/// of the archive, and a tensor.
const ENTRY: usize = 1 << 10;

/// Longest header that is read. NumPy itself stops at 10,000 characters.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads a `.npy` file. Elements in row-major order and little-endian share the memory of the
/// bytes.
///
/// `hint` is the wanted element type, for files that only say how wide elements are.
///
/// # Errors
/// [`Kind::Syntax`] if the bytes are not such a file, [`Kind::Unsupported`] for Python objects and
/// records.
pub fn read_npy(bytes: &Bytes, hint: Option<DType>, limits: &Limits) -> Result<Tensor> {
    let header = NpyHeader::read(bytes)?;
    let elements = bytes.slice(header.data_start..);
    let shape = Shape::new(header.shape.clone())?;
    let encoding = Encoding::of(&header.descr, hint)?;
    let wanted = product(shape.len(), encoding.width());
    if product(elements.len(), 1) < wanted {
        let what = format!("the byte length of '{}' of shape {shape}", header.descr);
        return Err(Error::mismatch(Kind::Syntax, what, elements.len(), wanted)
            .at(Position::Byte(u64_of(header.data_start))));
    }
    // Bytes after the elements are ignored: `numpy.save` may append arrays to one file.
    let elements = elements.slice(..product_to_len(wanted));
    let needs_copy = header.fortran_order && shape.rank() > 1 || encoding.needs_copy();
    if !needs_copy {
        return Tensor::from_bytes(encoding.dtype(), shape, elements);
    }
    // Texts are in a list first, and in a tensor then. A short one takes as much as a block of the
    // allocator.
    let texts = if encoding.dtype() == DType::String { shape.len() } else { 0 };
    let block = if encoding.width() == 0 { 0 } else { 32 };
    limits.allow_bytes(0, 4 * wanted + product(texts, 2 * size_of::<Box<str>>() + block))?;
    let mut elements = elements.to_vec();
    if header.fortran_order {
        elements = to_row_major(&elements, &shape, encoding.width());
    }
    encoding.decode(shape, elements)
}

fn product_to_len(bytes: u128) -> usize {
    usize_of(gradus_core::convert::low_u64(bytes))
}

/// The elements of a column-major array in row-major order.
fn to_row_major(elements: &[u8], shape: &Shape, width: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(elements.len());
    let mut index = vec![0; shape.rank()];
    for _ in 0..shape.len() {
        let at = index.iter().zip(shape.dims()).rev().fold(0, |at, (&i, &dim)| at * dim + i) * width;
        out.extend(elements.get(at..at + width).unwrap_or_default());
        for (i, &dim) in index.iter_mut().zip(shape.dims()).rev() {
            *i += 1;
            if *i < dim {
                break;
            }
            *i = 0;
        }
    }
    out
}

struct NpyHeader {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
    data_start: usize,
}

impl NpyHeader {
    fn read(bytes: &[u8]) -> Result<NpyHeader> {
        let fail = |what: &str| Error::new(Kind::Syntax, format!("this is not a .npy file: {what}"));
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| fail("it does not start with \\x93NUMPY"))?;
        let (len, start) = match *rest {
            [1, 0, a, b, ..] => (usize::from(u16::from_le_bytes([a, b])), MAGIC.len() + 4),
            [2 | 3, 0, a, b, c, d, ..] => {
                (gradus_core::convert::usize_of_u32(u32::from_le_bytes([a, b, c, d])), MAGIC.len() + 6)
            }
            [major, minor, ..] => {
                return Err(fail(&format!("its version is {major}.{minor}, known are 1.0 to 3.0")));
            }
            _ => return Err(fail("it ends in the header")),
        };
        if len > LONGEST_HEADER {
            return Err(fail(&format!("its header has {len} bytes, more than {LONGEST_HEADER}")));
        }
        let text = bytes.get(start..start + len).ok_or_else(|| fail("it ends in the header"))?;
        let text = std::str::from_utf8(text).map_err(|_| fail("its header is not text"))?;
        Dictionary::new(text).header(start + len).ok_or_else(|| {
            let text = text.trim();
            fail(&format!("its header is {text}, not a dictionary of 'descr', 'fortran_order' and 'shape'"))
        })
    }
}

/// Reads the Python dictionary of a header.
struct Dictionary<'a> {
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn new(rest: &'a str) -> Self {
        Dictionary { rest }
    }

    fn eat(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = self.rest.trim_start().chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = self.rest.trim_start().get(1..)?.split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn number(&mut self) -> Option<usize> {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at_checked(end)?;
        // Python 2 wrote long integers with an L.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().ok()
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        self.eat("(")?;
        let mut numbers = Vec::new();
        while self.eat(")").is_none() {
            numbers.push(self.number()?);
            if self.eat(",").is_none() {
                self.eat(")")?;
                break;
            }
        }
        Some(numbers)
    }

    fn header(mut self, data_start: usize) -> Option<NpyHeader> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.eat("{")?;
        while self.eat("}").is_none() {
            let key = self.string()?;
            self.eat(":")?;
            match key {
                "descr" => descr = Some(self.string()?.to_owned()),
                "fortran_order" => {
                    fortran_order = Some(if self.eat("True").is_some() {
                        true
                    } else {
                        self.eat("False").map(|()| false)?
                    });
                }
                "shape" => shape = Some(self.tuple()?),
                _ => return None,
            }
            if self.eat(",").is_none() {
                self.eat("}")?;
                break;
            }
        }
        Some(NpyHeader { descr: descr?, fortran_order: fortran_order?, shape: shape?, data_start })
    }
}

/// How the elements of a file are written.
enum Encoding {
    /// As tensors hold them.
    Plain(DType),
    /// With the bytes of each element, or of each part of a complex number, reversed.
    Swapped(DType, usize),
    /// The code of a narrow type, one a byte.
    Codes(DType),
    /// UTF-32 text of that many characters, the bytes of each reversed or not.
    Unicode(usize, bool),
    /// Bytes of text, of that many.
    Ascii(usize),
}

impl Encoding {
    fn of(descr: &str, hint: Option<DType>) -> Result<Encoding> {
        let unsupported = |what: &str| {
            Error::new(Kind::Unsupported, format!("elements of NumPy type '{descr}' are not read{what}"))
        };
        let (order, kind) = match descr.split_at_checked(1) {
            Some((order @ ("<" | ">" | "=" | "|"), kind)) => (order, kind),
            _ => ("|", descr),
        };
        let swapped = order == ">";
        let plain = match kind {
            "b1" | "?" => DType::Bool,
            "i1" => DType::I8,
            "i2" => DType::I16,
            "i4" => DType::I32,
            "i8" => DType::I64,
            "u1" => DType::U8,
            "u2" => DType::U16,
            "u4" => DType::U32,
            "u8" => DType::U64,
            "f2" => DType::F16,
            "f4" => DType::F32,
            "f8" => DType::F64,
            "c8" => DType::C64,
            "c16" => DType::C128,
            "f1" => DType::F8E5M2,
            "V1" | "V2" => {
                let bits = if kind == "V1" { 8 } else { 16 };
                return match hint {
                    Some(dtype) if dtype.is_packed() && bits == 8 => Ok(Encoding::Codes(dtype)),
                    Some(dtype) if dtype.bits() == bits => Ok(Encoding::Plain(dtype)),
                    Some(dtype) => Err(unsupported(&format!(" as {dtype}"))),
                    None => Err(unsupported(" without knowing their type")),
                };
            }
            _ => {
                let width = |digits: &str| digits.parse::<usize>().ok().filter(|&width| width <= 1 << 20);
                let text = match kind.split_at_checked(1) {
                    Some(("U", digits)) => width(digits).map(|width| Encoding::Unicode(width, swapped)),
                    Some(("S", digits)) => width(digits).map(Encoding::Ascii),
                    _ => None,
                };
                return text.ok_or_else(|| unsupported(""));
            }
        };
        let part = if kind.starts_with('c') { plain.bits() / 16 } else { plain.bits() / 8 };
        Ok(if swapped && part > 1 { Encoding::Swapped(plain, part) } else { Encoding::Plain(plain) })
    }

    fn dtype(&self) -> DType {
        match *self {
            Encoding::Plain(dtype) | Encoding::Swapped(dtype, _) | Encoding::Codes(dtype) => dtype,
            Encoding::Unicode(..) | Encoding::Ascii(_) => DType::String,
        }
    }

    /// Bytes of one element.
    fn width(&self) -> usize {
        match *self {
            Encoding::Plain(dtype) | Encoding::Swapped(dtype, _) => dtype.bits() / 8,
            Encoding::Codes(_) => 1,
            Encoding::Unicode(chars, _) => chars * 4,
            Encoding::Ascii(bytes) => bytes,
        }
    }

    fn needs_copy(&self) -> bool {
        !matches!(self, Encoding::Plain(_))
    }

    fn decode(&self, shape: Shape, mut elements: Vec<u8>) -> Result<Tensor> {
        match *self {
            Encoding::Plain(dtype) => Tensor::from_bytes(dtype, shape, elements.into()),
            Encoding::Swapped(dtype, part) => {
                elements.chunks_exact_mut(part).for_each(<[u8]>::reverse);
                Tensor::from_bytes(dtype, shape, elements.into())
            }
            Encoding::Codes(dtype) => Tensor::from_codes(dtype, shape, &elements),
            Encoding::Ascii(width) => {
                texts(shape, width, &elements, |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned))
            }
            Encoding::Unicode(chars, swapped) => texts(shape, chars * 4, &elements, |bytes| {
                let code = |quad: &[u8]| {
                    let quad = quad.try_into().ok()?;
                    char::from_u32(if swapped { u32::from_be_bytes(quad) } else { u32::from_le_bytes(quad) })
                };
                bytes.chunks_exact(4).map(code).collect()
            }),
        }
    }
}

/// Texts of a fixed width, padded with NUL.
fn texts(
    shape: Shape,
    width: usize,
    elements: &[u8],
    decode: impl Fn(&[u8]) -> Option<String>,
) -> Result<Tensor> {
    let text = |i: usize| {
        let bytes = elements.get(i * width..(i + 1) * width).unwrap_or_default();
        let text =
            decode(bytes).ok_or_else(|| Error::new(Kind::Syntax, format!("text {i} is not Unicode")))?;
        Ok(text.trim_end_matches('\0').into())
    };
    let mut all = Vec::with_capacity(shape.len());
    for i in 0..shape.len() {
        all.push(text(i)?);
    }
    Tensor::from_text(shape, all)
}

/// Writes a tensor as a `.npy` file.
///
/// # Errors
/// [`Kind::Io`] if the output refuses, [`Kind::Unsupported`] for types that neither NumPy nor
/// `ml_dtypes` has.
pub fn write_npy(tensor: &Tensor, out: &mut impl Write) -> Result<()> {
    out.write_all(&header_of(tensor)?).map_err(io)?;
    write_elements(tensor, out)
}

/// The number of bytes that [`write_npy`] writes: texts are all as long as the longest.
///
/// # Errors
/// [`Kind::Unsupported`] for types that neither NumPy nor `ml_dtypes` has.
pub fn npy_len(tensor: &Tensor) -> Result<u128> {
    let (width, len) = match tensor.texts() {
        Ok(texts) => (4 * longest(texts), texts.len()),
        Err(_) if tensor.dtype().is_packed() => (1, tensor.shape().len()),
        Err(_) => (1, tensor.bytes().map_or(0, Bytes::len)),
    };
    Ok(product(header_of(tensor)?.len(), 1) + product(len, width))
}

fn header_of(tensor: &Tensor) -> Result<Vec<u8>> {
    let descr = match tensor.texts() {
        Ok(texts) => format!("<U{}", longest(texts)),
        Err(_) => descr(tensor.dtype())?,
    };
    Ok(header(&descr, tensor.shape()))
}

/// Writes the elements of a tensor as they follow the header: those of a large array may be written
/// in parts.
///
/// # Errors
/// [`Kind::Io`] if the output refuses.
pub fn write_elements(tensor: &Tensor, out: &mut impl Write) -> Result<()> {
    if let Ok(texts) = tensor.texts() {
        let longest = longest(texts);
        for text in texts {
            let codes = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
            codes.into_iter().try_for_each(|code| out.write_all(&code.to_le_bytes())).map_err(io)?;
        }
        Ok(())
    } else if tensor.dtype().is_packed() {
        out.write_all(&tensor.codes()?).map_err(io)
    } else {
        tensor.bytes().map_or(Ok(()), |bytes| out.write_all(bytes)).map_err(io)
    }
}

/// The error of an output, which may be one of a limit.
fn io(error: std::io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::new(Kind::Io, error.to_string()))
}

/// The characters of the longest text, 1 at least.
fn longest(texts: &[Box<str>]) -> usize {
    texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1)
}

/// NumPy's word for an element type other than text.
///
/// # Errors
/// [`Kind::Unsupported`] for types that neither NumPy nor `ml_dtypes` has.
pub fn descr(dtype: DType) -> Result<String> {
    Ok(match dtype {
        DType::Bool => "|b1".to_owned(),
        DType::I8 => "|i1".to_owned(),
        DType::U8 => "|u1".to_owned(),
        DType::I16 | DType::I32 | DType::I64 => format!("<i{}", dtype.bits() / 8),
        DType::U16 | DType::U32 | DType::U64 => format!("<u{}", dtype.bits() / 8),
        DType::F16 | DType::F32 | DType::F64 => format!("<f{}", dtype.bits() / 8),
        DType::C64 | DType::C128 => format!("<c{}", dtype.bits() / 8),
        DType::F8E5M2 => "<f1".to_owned(),
        DType::BF16 => "<V2".to_owned(),
        DType::U1 | DType::U3 | DType::U6 | DType::NF4 | DType::String => {
            return Err(Error::new(Kind::Unsupported, format!("NumPy has no element type for {dtype}")));
        }
        _ => "<V1".to_owned(),
    })
}

/// The header for elements in row-major order; the elements follow it at a multiple of 64 bytes.
pub fn header(descr: &str, shape: &Shape) -> Vec<u8> {
    let dims: Vec<_> = shape.dims().iter().map(usize::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let dims = dims.join(", ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}{comma}), }}");
    let version_1 = MAGIC.len() + 4 + text.len() < usize::from(u16::MAX) - 64;
    let before = MAGIC.len() + if version_1 { 4 } else { 6 };
    let padding = (before + text.len() + 1).next_multiple_of(64) - (before + text.len() + 1);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut out = MAGIC.to_vec();
    let len = gradus_core::convert::small_u32(text.len()).to_le_bytes();
    out.extend(if version_1 { &[1, 0][..] } else { &[2, 0] });
    out.extend(if version_1 { len.get(..2).unwrap_or_default() } else { &len });
    out.extend(text.as_bytes());
    out
}

/// Writes tensors by name as a `.npz` file, as `numpy.savez` does.
///
/// # Errors
/// As [`write_npy`]; [`Kind::Value`] if two have one name.
pub fn write_npz<'a>(
    arrays: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    out: impl Write + Seek,
) -> Result<()> {
    let failed = |error: zip::result::ZipError| io(error.into());
    let mut archive = zip::ZipWriter::new(out);
    let mut taken = HashSet::new();
    for (name, tensor) in arrays {
        let in_array = |error: Error| error.in_node(format!("array \"{name}\""));
        if !taken.insert(name) {
            return Err(in_array(Error::new(Kind::Value, "two arrays have this name")));
        }
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .large_file(npy_len(tensor).map_err(in_array)? > u128::from(u32::MAX));
        archive.start_file(format!("{name}.npy"), stored).map_err(failed)?;
        write_npy(tensor, &mut archive).map_err(in_array)?;
    }
    archive.finish().map_err(failed)?.flush().map_err(io)
}

/// Reads a `.npz` file: named arrays, or only the one named `wanted`. `hint` is asked for the
/// wanted element type of each.
///
/// # Errors
/// As [`read_npy`]; [`Kind::Limit`] if the arrays are larger than the limits allow.
pub fn read_npz(
    bytes: &Bytes,
    wanted: Option<&str>,
    hint: impl Fn(&str) -> Option<DType>,
    limits: &Limits,
) -> Result<Vec<(String, Tensor)>> {
    let broken =
        |error: &dyn std::fmt::Display| Error::new(Kind::Syntax, format!("this is not a .npz file: {error}"));
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes[..])).map_err(|e| broken(&e))?;
    let mut arrays = Vec::new();
    let mut in_use = 0;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|e| broken(&e))?;
        let name = entry.name().map_err(|e| broken(&e))?.into_owned();
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        if wanted.is_some_and(|wanted| wanted != name) {
            continue;
        }
        in_use += u64_of(ENTRY + name.len());
        limits.allow_bytes(0, u128::from(in_use) + u128::from(entry.size()))?;
        // The size is only claimed, so it is enforced too. Memory that is reserved but not written
        // costs nothing.
        let mut content = Vec::new();
        let _ = content.try_reserve_exact(usize_of(entry.size()));
        (&mut entry).take(limits.max_bytes - in_use).read_to_end(&mut content).map_err(|e| broken(&e))?;
        in_use += u64_of(content.len());
        let tensor = read_npy(&content.into(), hint(&name), limits);
        arrays.push((name.clone(), tensor.map_err(|error| error.in_node(format!("array \"{name}\"")))?));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(tensor: &Tensor) -> Bytes {
        let mut out = Vec::new();
        write_npy(tensor, &mut out).unwrap();
        out.into()
    }

    #[test]
    fn every_type_comes_back() {
        for &dtype in DType::ALL {
            let shape = Shape::new([2, 3]).unwrap();
            let tensor = if dtype == DType::String {
                let texts = ["a", "", "déjà", "x\0y", "5", "6"];
                Tensor::from_text(shape, texts.map(Into::into).to_vec()).unwrap()
            } else {
                let numbers = (0..6).map(|i| gradus_core::Number::Int(i % 2));
                Tensor::from_numbers(dtype, shape, numbers, gradus_core::convert::Rules::IEEE).unwrap()
            };
            if matches!(dtype, DType::U1 | DType::U3 | DType::U6 | DType::NF4) {
                assert_eq!(write_npy(&tensor, &mut Vec::new()).unwrap_err().kind(), Kind::Unsupported);
                continue;
            }
            let bytes = written(&tensor);
            assert_eq!(npy_len(&tensor).unwrap(), product(bytes.len(), 1), "{dtype}");
            assert_eq!(read_npy(&bytes, Some(dtype), &Limits::DEFAULT).unwrap(), tensor, "{dtype}");
        }
    }

    #[test]
    fn the_header_is_numpys_own() {
        let bytes = written(&Tensor::vector(&[1i64, 2]));
        let want = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\0\x76\0");
        assert_eq!(std::str::from_utf8(&bytes[10..128]).unwrap().trim_end(), want);
        let text = |shape: Shape| String::from_utf8_lossy(&header("<f4", &shape)).into_owned();
        assert!(text(Shape::SCALAR).contains("'shape': (), }"));
        assert!(text(Shape::new([2, 3]).unwrap()).contains("'shape': (2, 3), }"));
    }

    fn file(header: &str, data: &[u8]) -> Bytes {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes.into()
    }

    #[test]
    fn small_arrays_and_empty_texts_count() {
        let mut limits = Limits::DEFAULT;
        limits.max_bytes = 1 << 20;
        let texts =
            |len| file(&format!("{{'descr': '<U0', 'fortran_order': False, 'shape': ({len},), }}"), &[]);
        assert_eq!(read_npy(&texts(1 << 15), None, &limits).unwrap().shape().len(), 1 << 15);
        assert_eq!(read_npy(&texts((1 << 15) + 1), None, &limits).unwrap_err().kind(), Kind::Limit);
        let archive = |arrays: usize| {
            let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for i in 0..arrays {
                out.start_file(format!("{i}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
                out.write_all(&written(&Tensor::scalar(1i8))).unwrap();
            }
            Bytes::from(out.finish().unwrap().into_inner())
        };
        let read = |arrays, wanted| read_npz(&archive(arrays), wanted, |_| None, &limits);
        assert_eq!(read(800, None).unwrap().len(), 800);
        assert_eq!(read(1000, None).unwrap_err().kind(), Kind::Limit);
        // Only the wanted one is inflated.
        assert_eq!(read(1000, Some("999")).unwrap().len(), 1);
        assert_eq!(read(1, Some("x")).unwrap().len(), 0);
    }

    #[test]
    fn column_major_and_big_endian_files_are_turned() {
        let bytes =
            file("{'descr':'>i2','fortran_order':True,'shape':(2,3)}", &[0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6]);
        let tensor = read_npy(&bytes, None, &Limits::DEFAULT).unwrap();
        assert_eq!(tensor.elements::<i16>().unwrap()[..], [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn damage_is_refused() {
        let message = |bytes: &Bytes| read_npy(bytes, None, &Limits::DEFAULT).unwrap_err().to_string();
        assert_eq!(
            message(&Bytes::from_static(b"PK")),
            "this is not a .npy file: it does not start with \\x93NUMPY"
        );
        let short = file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", &[0; 11]);
        assert_eq!(message(&short), "byte 67: the byte length of '<f4' of shape [3] is 11, expected 12");
        let huge = file("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", &[]);
        assert!(message(&huge).contains("is more than 9223372036854775807, expected"));
        let object = file("{'descr': '|O', 'fortran_order': False, 'shape': (), }", &[]);
        assert_eq!(message(&object), "elements of NumPy type '|O' are not read");
        let record = file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", &[]);
        assert!(message(&record).contains("not a dictionary of 'descr', 'fortran_order' and 'shape'"));
        let empty_texts = file("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,), }", &[]);
        assert!(message(&empty_texts).ends_with("(--max-bytes)"));
        assert!(
            message(&Bytes::from_static(b"\x93NUMPY\x02\0\xff\xff\xff\xff")).contains("4294967295 bytes")
        );
    }
}
