//! Varints and tags of protobuf.

use gradus_core::convert::{u64_of, usize_of};

/// Maximum number of deprecated groups around a field that is skipped.
const MAX_GROUPS: usize = 16;

/// Error message for bytes that end within a field.
pub(crate) const CUT_OFF: &str = "the file, or the part of it that this belongs to, ends too early";

/// Encoding of the content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireType {
    Varint,
    Fixed64,
    LengthDelimited,
    StartGroup,
    EndGroup,
    Fixed32,
}

const WIRE_TYPES: [WireType; 6] = [
    WireType::Varint,
    WireType::Fixed64,
    WireType::LengthDelimited,
    WireType::StartGroup,
    WireType::EndGroup,
    WireType::Fixed32,
];

/// Number and encoding of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) number: u32,
    pub(crate) wire_type: WireType,
}

impl Tag {
    /// Reads a tag from the start of `rest`, and leaves what follows.
    pub(crate) fn decode(rest: &mut &[u8]) -> Result<Tag, &'static str> {
        let tag = u32::try_from(decode_varint(rest)?).map_err(|_| "invalid field number")?;
        let wire_type = usize::try_from(tag & 7).ok().and_then(|index| WIRE_TYPES.get(index));
        let invalid = if tag & 7 == 6 { "invalid wire type: 6" } else { "invalid wire type: 7" };
        let wire_type = *wire_type.ok_or(invalid)?;
        match tag >> 3 {
            0 => Err("invalid field number"),
            number => Ok(Tag { number, wire_type }),
        }
    }
}

/// Appends the tag of a field.
pub(crate) fn encode_tag(out: &mut Vec<u8>, number: u32, wire_type: WireType) {
    let index = WIRE_TYPES.iter().position(|each| *each == wire_type).unwrap_or_default();
    encode_varint(out, u64::from(number) << 3 | u64_of(index));
}

/// Reads a varint from the start of `rest`, and leaves what follows.
#[inline]
pub(crate) fn decode_varint(rest: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0;
    for (index, byte) in (0u32..10).zip(rest.iter()) {
        if index == 9 && *byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            *rest = rest.split_at_checked(usize_of(u64::from(index) + 1)).map_or(&[], |(_, rest)| rest);
            return Ok(value);
        }
    }
    Err(if rest.len() < 10 { CUT_OFF } else { "a varint has over 64 bits" })
}

/// Appends a varint.
pub(crate) fn encode_varint(out: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Skips a group after its first tag, with all groups in it.
pub(crate) fn skip_group(number: u32, rest: &mut &[u8]) -> Result<(), &'static str> {
    let mut open = vec![number];
    while let Some(number) = open.last() {
        let tag = Tag::decode(rest)?;
        let len = match tag.wire_type {
            WireType::Varint => {
                decode_varint(rest)?;
                0
            }
            WireType::Fixed32 => 4,
            WireType::Fixed64 => 8,
            WireType::LengthDelimited => decode_varint(rest)?,
            WireType::StartGroup if open.len() == MAX_GROUPS => return Err("groups nest too deeply"),
            WireType::StartGroup => {
                open.push(tag.number);
                0
            }
            WireType::EndGroup if tag.number == *number => {
                open.pop();
                0
            }
            WireType::EndGroup => return Err("a group ends with the tag of another"),
        };
        let len = usize::try_from(len).map_err(|_| CUT_OFF)?;
        *rest = rest.split_at_checked(len).ok_or(CUT_OFF)?.1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_they_are_written() {
        for value in (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit]).chain([u64::MAX]) {
            let mut bytes = Vec::new();
            encode_varint(&mut bytes, value);
            bytes.push(7);
            let mut rest = &bytes[..];
            assert_eq!((decode_varint(&mut rest), rest), (Ok(value), &[7][..]));
            let cut = bytes.len() - 2;
            assert_eq!(decode_varint(&mut &bytes[..cut]), Err(CUT_OFF), "{value}");
        }
    }

    #[test]
    fn varints_over_64_bits_are_errors() {
        for last in [2, 0x7f, 0x80] {
            let mut bytes = [0xff; 11];
            bytes[9] = last;
            assert!(decode_varint(&mut &bytes[..]).is_err(), "{last}");
        }
    }

    #[test]
    fn tags_have_numbers_and_types() {
        for (bytes, wanted) in [
            (&[0x07][..], "invalid wire type: 7"),
            (&[0x06][..], "invalid wire type: 6"),
            (&[0x02], "invalid field number"),
            (&[0x80, 0x80, 0x80, 0x80, 0x10], "invalid field number"),
            (&[0x80], CUT_OFF),
        ] {
            assert_eq!(Tag::decode(&mut &bytes[..]).map(|tag| tag.number), Err(wanted));
        }
    }
}
