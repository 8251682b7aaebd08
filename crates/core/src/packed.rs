//! Elements narrower than a byte: one little-endian bit stream.
//!
//! Element `i` of width `w` occupies the bits `i*w .. (i+1)*w` of the stream, bit 0 being the
//! lowest of byte 0. This is how ONNX packs its 2-, 4- and 6-bit types (the first of two nibbles is
//! the low one) and OpenVINO its `u2`, `i4`, `u4`, `nf4` and `f4e2m1`; its reader reorders the
//! rest. Bits after the last element are written as 0 and not read.

use crate::convert::low_u8;

/// The element at an index.
pub fn get(bytes: &[u8], bits: usize, index: usize) -> u8 {
    let (byte, shift) = (index * bits / 8, index * bits % 8);
    let low = u64::from(bytes[byte]);
    let high = if shift + bits > 8 { u64::from(bytes[byte + 1]) } else { 0 };
    low_u8((high << 8 | low) >> shift) & mask(bits)
}

/// Packs elements, of which the low `bits` bits count.
pub fn pack(codes: &[u8], bits: usize) -> Vec<u8> {
    let mut bytes = vec![0; (codes.len() * bits).div_ceil(8)];
    for (i, &code) in codes.iter().enumerate() {
        let (byte, shift) = (i * bits / 8, i * bits % 8);
        let spread = u64::from(code & mask(bits)) << shift;
        bytes[byte] |= low_u8(spread);
        if shift + bits > 8 {
            bytes[byte + 1] |= low_u8(spread >> 8);
        }
    }
    bytes
}

/// Unpacks that many elements.
pub fn unpack(bytes: &[u8], bits: usize, count: usize) -> Vec<u8> {
    (0..count).map(|i| get(bytes, bits, i)).collect()
}

const fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_own_examples() {
        struct Case {
            about: &'static str,
            bits: usize,
            codes: &'static [u8],
            bytes: &'static [u8],
        }
        let cases = [
            Case { about: "ONNX int4: low nibble first", bits: 4, codes: &[1, 0xe, 3], bytes: &[0xe1, 3] },
            Case { about: "ONNX uint2", bits: 2, codes: &[0, 1, 2, 3, 1], bytes: &[0xe4, 1] },
            Case {
                about: "ONNX float6: a bit stream",
                bits: 6,
                codes: &[4, 8, 48, 1, 20],
                bytes: &[4, 2, 7, 0x14],
            },
            Case { about: "one bit each", bits: 1, codes: &[1, 0, 0, 1, 1, 0, 1, 0, 1], bytes: &[0x59, 1] },
            Case { about: "nothing", bits: 3, codes: &[], bytes: &[] },
        ];
        for Case { about, bits, codes, bytes } in cases {
            assert_eq!(pack(codes, bits), bytes, "{about}");
            assert_eq!(unpack(bytes, bits, codes.len()), codes, "{about}");
        }
    }
}
