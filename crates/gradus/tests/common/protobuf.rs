//! Messages of protobuf, field by field.
#![allow(dead_code, reason = "not every test file uses all of it")]

/// A number in groups of seven bits.
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// A field with an integer.
pub fn int(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value.cast_unsigned())].concat()
}

/// A field with text or bytes.
pub fn field(number: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [varint(number << 3 | 2), varint(u64::try_from(content.len()).unwrap()), content.to_vec()].concat()
}

/// A field with a message of these fields.
pub fn message(number: u64, fields: &[Vec<u8>]) -> Vec<u8> {
    field(number, fields.concat())
}
