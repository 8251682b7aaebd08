//! The protobuf wire format, read in place: messages are spans of a file, fields know their
//! offsets.
//!
//! No code is generated, because readers turn fields into graphs as they meet them, and writers
//! splice the spans that they leave alone.

use bytes::Bytes;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::error::Position;
use gradus_core::{Error, Kind, Result};

use crate::varint::{CUT_OFF, Tag, WireType, decode_varint, skip_group};

/// Some bytes of a file: a message, or a field's content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteSpan<'a> {
    file: &'a Bytes,
    start: usize,
    content: &'a [u8],
}

/// The content of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload<'a> {
    Varint(u64),
    Fixed32([u8; 4]),
    Fixed64([u8; 8]),
    Bytes(ByteSpan<'a>),
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    /// Offset of the field's tag in the file.
    pub(crate) start: usize,
    /// Offset of the end of the field in the file.
    pub(crate) end: usize,
    payload: Payload<'a>,
}

impl<'a> ByteSpan<'a> {
    /// A whole file.
    pub(crate) fn of(file: &'a Bytes) -> ByteSpan<'a> {
        ByteSpan { file, start: 0, content: file }
    }

    /// The `len` bytes from `offset` on; `None` if the span is shorter.
    pub(crate) fn part(self, offset: usize, len: usize) -> Option<ByteSpan<'a>> {
        let content = self.content.get(offset..offset.checked_add(len)?)?;
        Some(ByteSpan { start: self.start + offset, content, ..self })
    }

    /// Position of its start in the file.
    pub(crate) fn position(self) -> Position {
        Position::Byte(u64_of(self.start))
    }

    /// The number of bytes.
    pub(crate) fn len(self) -> usize {
        self.content.len()
    }

    /// Range of its bytes in the file.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.content.len()
    }

    /// The bytes, sharing the file's memory.
    pub(crate) fn bytes(self) -> Bytes {
        self.file.slice(self.start..self.start + self.content.len())
    }

    /// An error at the start of the span.
    pub(crate) fn error(self, kind: Kind, message: impl Into<String>) -> Error {
        Error::new(kind, message).at(self.position())
    }

    /// The bytes as text.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if they are not UTF-8.
    pub(crate) fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.content).map_err(|_| self.error(Kind::Syntax, "the text is not UTF-8"))
    }

    /// The fields of the message that the bytes are.
    pub(crate) fn fields(self) -> Fields<'a> {
        Fields { span: self, rest: self.content }
    }

    /// The varints that the bytes are.
    pub(crate) fn varints(self) -> impl Iterator<Item = Result<u64>> {
        let mut rest = self.content;
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| decode_varint(&mut rest).map_err(|why| self.broken(why)))
        })
    }

    fn broken(self, why: &str) -> Error {
        let message = if why == CUT_OFF { why.to_owned() } else { format!("this is not protobuf: {why}") };
        self.error(Kind::Syntax, message)
    }
}

/// The fields of a message, one after the other; after an error, none.
pub(crate) struct Fields<'a> {
    span: ByteSpan<'a>,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The span of the next bytes.
    fn here(&self) -> ByteSpan<'a> {
        let start = self.span.start + (self.span.content.len() - self.rest.len());
        ByteSpan { file: self.span.file, start, content: self.rest }
    }

    fn take(&mut self, len: u64) -> Result<ByteSpan<'a>> {
        let here = self.here();
        if len > u64_of(self.rest.len()) {
            let left = self.rest.len();
            let what = "the number of bytes that follow";
            let error = Error::mismatch(Kind::Syntax, what, left, format_args!("at least {len}"));
            return Err(error.at(here.position()));
        }
        let (content, rest) = self.rest.split_at(usize_of(len));
        self.rest = rest;
        Ok(ByteSpan { content, ..here })
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let span = self.take(u64_of(N))?;
        span.content.try_into().map_err(|_| span.error(Kind::Syntax, "a number is cut off"))
    }

    fn read(&mut self) -> Result<Option<Field<'a>>> {
        while !self.rest.is_empty() {
            let here = self.here();
            let start = here.start;
            let tag = Tag::decode(&mut self.rest).map_err(|why| here.broken(why))?;
            let payload = match tag.wire_type {
                WireType::Varint => {
                    Payload::Varint(decode_varint(&mut self.rest).map_err(|why| here.broken(why))?)
                }
                WireType::Fixed32 => Payload::Fixed32(self.fixed()?),
                WireType::Fixed64 => Payload::Fixed64(self.fixed()?),
                WireType::LengthDelimited => {
                    let len = decode_varint(&mut self.rest).map_err(|why| here.broken(why))?;
                    Payload::Bytes(self.take(len)?)
                }
                WireType::StartGroup => {
                    skip_group(tag.number, &mut self.rest).map_err(|why| here.broken(why))?;
                    continue;
                }
                WireType::EndGroup => return Err(here.broken("a group ends that did not begin")),
            };
            return Ok(Some(Field { number: tag.number, start, end: self.here().start, payload }));
        }
        Ok(None)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let field = self.read().transpose();
        if matches!(field, Some(Err(_))) {
            self.rest = &[];
        }
        field
    }
}

impl<'a> Field<'a> {
    fn wrong(&self, wanted: &str) -> Error {
        Error::new(Kind::Syntax, format!("field {} is not {wanted}", self.number))
            .at(Position::Byte(u64_of(self.start)))
    }

    /// The field as a message, text or bytes.
    pub(crate) fn span(&self) -> Result<ByteSpan<'a>> {
        match self.payload {
            Payload::Bytes(span) => Ok(span),
            _ => Err(self.wrong("text, bytes or a message")),
        }
    }

    /// The field as text.
    pub(crate) fn text(&self) -> Result<&'a str> {
        self.span()?.text()
    }

    /// The field as a signed integer.
    pub(crate) fn int(&self) -> Result<i64> {
        match self.payload {
            Payload::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// The field as a float.
    pub(crate) fn float(&self) -> Result<f32> {
        match self.payload {
            Payload::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.wrong("a float")),
        }
    }

    /// The field as a float of 64 bits.
    pub(crate) fn double(&self) -> Result<f64> {
        match self.payload {
            Payload::Fixed64(bytes) => Ok(f64::from_le_bytes(bytes)),
            _ => Err(self.wrong("a float of 64 bits")),
        }
    }

    /// The most numbers that the field can hold, of at least that many bytes each.
    pub(crate) fn elements(&self, width: usize) -> usize {
        match self.payload {
            Payload::Bytes(span) => span.len() / width,
            _ => 1,
        }
    }

    /// Appends the field's integers: one, or a packed list.
    pub(crate) fn push_ints(&self, into: &mut Vec<i64>) -> Result<()> {
        match self.payload {
            Payload::Varint(value) => into.push(value.cast_signed()),
            Payload::Bytes(span) => {
                for value in span.varints() {
                    into.push(value?.cast_signed());
                }
            }
            _ => return Err(self.wrong("a list of integers")),
        }
        Ok(())
    }

    /// The field's fixed-width numbers as bytes: one, or a packed list.
    pub(crate) fn fixed_bytes(&self, width: usize) -> Result<FixedBytes<'a>> {
        match self.payload {
            Payload::Fixed32(bytes) if width == 4 => Ok(FixedBytes::One(bytes.into())),
            Payload::Fixed64(bytes) if width == 8 => Ok(FixedBytes::One(bytes.into())),
            Payload::Bytes(span) if span.len().is_multiple_of(width) => Ok(FixedBytes::Packed(span)),
            Payload::Bytes(span) => {
                Err(span
                    .error(Kind::Syntax, format!("{} bytes are not numbers of {width} bytes", span.len())))
            }
            _ => Err(self.wrong(&format!("a list of numbers of {width} bytes"))),
        }
    }

    /// The field's floats of 64 bits: one, or a packed list.
    pub(crate) fn doubles(&self) -> Result<Vec<f64>> {
        let bytes = self.fixed_bytes(8)?;
        let each = bytes.as_slice().chunks_exact(8).filter_map(|x| x.try_into().ok());
        Ok(each.map(f64::from_le_bytes).collect())
    }

    /// Appends the field's floats: one, or a packed list.
    pub(crate) fn push_floats(&self, into: &mut Vec<f32>) -> Result<()> {
        let bytes = self.fixed_bytes(4)?;
        into.extend(
            bytes.as_slice().chunks_exact(4).filter_map(|x| x.try_into().ok()).map(f32::from_le_bytes),
        );
        Ok(())
    }
}

/// Fixed-width numbers as they lie in the file.
pub(crate) enum FixedBytes<'a> {
    One(Vec<u8>),
    Packed(ByteSpan<'a>),
}

impl FixedBytes<'_> {
    /// The bytes, however the file packs them.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            FixedBytes::One(bytes) => bytes,
            FixedBytes::Packed(span) => span.content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &'static [u8]) -> Result<Vec<u32>> {
        let file = Bytes::from_static(bytes);
        let numbers = ByteSpan::of(&file).fields().map(|field| field.map(|field| field.number));
        numbers.collect()
    }

    #[test]
    fn fields_of_every_wire_type_are_found_and_groups_skipped() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x1d\x00\x00\x80\x3f\x21\0\0\0\0\0\0\0\0\x2b\x08\x01\x2c\x30\x01";
        assert_eq!(message(bytes).unwrap(), [1, 2, 3, 4, 6]);
    }

    #[test]
    fn damage_is_an_error_with_its_place() {
        let text = |bytes| message(bytes).unwrap_err().to_string();
        assert_eq!(
            text(b"\x08\x01\x12\x05hi"),
            "byte 4: the number of bytes that follow is 2, expected at least 5"
        );
        assert_eq!(
            text(b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
            "byte 10: the number of bytes that follow is 0, expected at least 9223372036854775807"
        );
        assert_eq!(text(b"\x08"), "byte 0: the file, or the part of it that this belongs to, ends too early");
        assert_eq!(text(b"\x00\x01"), "byte 0: this is not protobuf: invalid field number");
        assert!(message(&[0x0b; 100]).unwrap_err().message().contains("groups nest too deeply"));
    }

    #[test]
    fn a_field_of_another_type_than_wanted_is_an_error() {
        let file = Bytes::from_static(b"\x08\x01\x12\x03abc");
        let fields: Vec<_> = ByteSpan::of(&file).fields().collect::<Result<_>>().unwrap();
        assert_eq!(
            fields[0].text().unwrap_err().to_string(),
            "byte 0: field 1 is not text, bytes or a message"
        );
        assert_eq!(fields[1].int().unwrap_err().to_string(), "byte 2: field 2 is not an integer");
        assert!(fields[1].push_floats(&mut Vec::new()).is_err());
    }
}
