//! Element types: every one that ONNX, OpenVINO or Paddle defines, under one name each.
//!
//! A type is known by its long name (`float8_e4m3fn`), its short name (`f8e4m3fn`) and the names
//! the standards give it; all are read, the long one is printed. Elements narrower than a byte are
//! *packed*: a tensor holds them as one little-endian bit stream (see [`crate::packed`]).

use std::fmt;
use std::str::FromStr;

use crate::convert::usize_of_u32;
use crate::error::{Error, Result};
use crate::float::Format;

/// The class of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// True or false, one byte each.
    Bool,
    /// UTF-8 text of any length.
    Text,
    /// Two's complement integers.
    Signed,
    /// Integers from zero.
    Unsigned,
    /// Binary floating point of any width, and the table of `nf4`.
    Float,
    /// A pair of floats: real part, imaginary part.
    Complex,
}

/// Declares [`DType`] and its table of facts: variant, long name, short name, bits, class, further
/// names.
macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident $long:literal $short:literal $bits:literal $class:ident [$($alias:literal)*];)*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $($(#[$doc])* $variant),* }

        impl DType {
            /// All element types, in the order in which they are declared.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The name that is printed: `float32`, `bfloat16`, `float8_e4m3fn`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $long),* }
            }

            /// The short name: `f32`, `bf16`, `f8e4m3fn`.
            pub const fn short_name(self) -> &'static str {
                match self { $(DType::$variant => $short),* }
            }

            /// Bits of one element in a tensor; 0 for text, whose elements have no fixed width.
            pub const fn bits(self) -> usize {
                match self { $(DType::$variant => $bits),* }
            }

            /// The class of the elements.
            pub const fn class(self) -> Class {
                match self { $(DType::$variant => Class::$class),* }
            }

            /// All names by which the type is read, the one that is printed first.
            pub const fn names(self) -> &'static [&'static str] {
                match self { $(DType::$variant => &[$long, $short, $($alias),*]),* }
            }
        }
    };
}

dtypes! {
    /// True or false.
    Bool "bool" "bool" 8 Bool ["boolean"];
    /// UTF-8 text.
    String "string" "str" 0 Text [];
    /// 2-bit integer, -2 to 1.
    I2 "int2" "i2" 2 Signed [];
    /// 4-bit integer, -8 to 7.
    I4 "int4" "i4" 4 Signed [];
    /// 8-bit integer.
    I8 "int8" "i8" 8 Signed [];
    /// 16-bit integer.
    I16 "int16" "i16" 16 Signed [];
    /// 32-bit integer.
    I32 "int32" "i32" 32 Signed [];
    /// 64-bit integer.
    I64 "int64" "i64" 64 Signed [];
    /// 1-bit integer, 0 or 1 (OpenVINO).
    U1 "uint1" "u1" 1 Unsigned ["bin"];
    /// 2-bit integer, 0 to 3.
    U2 "uint2" "u2" 2 Unsigned [];
    /// 3-bit integer, 0 to 7 (OpenVINO).
    U3 "uint3" "u3" 3 Unsigned [];
    /// 4-bit integer, 0 to 15.
    U4 "uint4" "u4" 4 Unsigned [];
    /// 6-bit integer, 0 to 63 (OpenVINO).
    U6 "uint6" "u6" 6 Unsigned [];
    /// 8-bit integer from zero.
    U8 "uint8" "u8" 8 Unsigned [];
    /// 16-bit integer from zero.
    U16 "uint16" "u16" 16 Unsigned [];
    /// 32-bit integer from zero.
    U32 "uint32" "u32" 32 Unsigned [];
    /// 64-bit integer from zero.
    U64 "uint64" "u64" 64 Unsigned [];
    /// IEEE 754 binary16.
    F16 "float16" "f16" 16 Float ["half" "fp16"];
    /// The upper half of a binary32.
    BF16 "bfloat16" "bf16" 16 Float [];
    /// IEEE 754 binary32.
    F32 "float32" "f32" 32 Float ["float" "fp32"];
    /// IEEE 754 binary64.
    F64 "float64" "f64" 64 Float ["double" "fp64"];
    /// 8 bits, 4 of exponent; a NaN but no infinity.
    F8E4M3FN "float8_e4m3fn" "f8e4m3fn" 8 Float ["float8e4m3fn" "f8e4m3"];
    /// 8 bits, 4 of exponent; one NaN, no infinity, no negative zero.
    F8E4M3FNUZ "float8_e4m3fnuz" "f8e4m3fnuz" 8 Float ["float8e4m3fnuz"];
    /// 8 bits, 5 of exponent, as IEEE 754 would have it.
    F8E5M2 "float8_e5m2" "f8e5m2" 8 Float ["float8e5m2"];
    /// 8 bits, 5 of exponent; one NaN, no infinity, no negative zero.
    F8E5M2FNUZ "float8_e5m2fnuz" "f8e5m2fnuz" 8 Float ["float8e5m2fnuz"];
    /// A power of two from 2^-127 to 2^127, or NaN; neither sign nor zero.
    F8E8M0 "float8_e8m0" "f8e8m0" 8 Float ["float8e8m0" "float8_e8m0fnu" "f8e8m0fnu"];
    /// 6 bits, 2 of exponent; neither NaN nor infinity.
    F6E2M3 "float6_e2m3" "f6e2m3" 6 Float ["float6e2m3" "float6_e2m3fn" "f6e2m3fn"];
    /// 6 bits, 3 of exponent; neither NaN nor infinity.
    F6E3M2 "float6_e3m2" "f6e3m2" 6 Float ["float6e3m2" "float6_e3m2fn" "f6e3m2fn"];
    /// 4 bits, 2 of exponent; neither NaN nor infinity.
    F4E2M1 "float4_e2m1" "f4e2m1" 4 Float ["float4e2m1" "float4_e2m1fn" "f4e2m1fn"];
    /// 4 bits that index sixteen quantiles of the normal distribution (OpenVINO).
    NF4 "nf4" "nf4" 4 Float [];
    /// A pair of binary32: real part, imaginary part.
    C64 "complex64" "c64" 64 Complex [];
    /// A pair of binary64: real part, imaginary part.
    C128 "complex128" "c128" 128 Complex [];
}

impl DType {
    /// Returns true if elements are narrower than a byte and so packed.
    pub const fn is_packed(self) -> bool {
        self.bits() > 0 && self.bits() < 8
    }

    /// Returns true if elements are integers; `bool` is not one of these types.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// Returns true if elements are real floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }

    /// Returns true if elements are integers or real floating-point numbers.
    pub const fn is_real(self) -> bool {
        self.is_integer() || self.is_float()
    }

    /// Returns true if elements are pairs of a real and an imaginary part.
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), Class::Complex)
    }

    /// Returns true if this type has every number of another type, and its NaN, infinities and -0.
    pub fn holds(self, other: DType) -> bool {
        let bits = other.bits();
        match (other.class(), self.class()) {
            _ if self == other => true,
            (Class::Bool, Class::Signed | Class::Unsigned) => true,
            (Class::Signed, Class::Signed) | (Class::Unsigned, Class::Unsigned) => bits <= self.bits(),
            (Class::Unsigned, Class::Signed) => bits < self.bits(),
            (class @ (Class::Bool | Class::Signed | Class::Unsigned), Class::Float) => {
                // The number of the largest magnitude below zero is a power of two.
                let digits = match class {
                    Class::Bool => 1,
                    Class::Signed => bits - 1,
                    _ => bits,
                };
                let own = Format::of(self).filter(|own| own.has_infinity());
                own.is_some_and(|own| digits <= usize_of_u32(own.precision()))
            }
            (Class::Float, Class::Float) => {
                Format::of(self).zip(Format::of(other)).is_some_and(|(own, other)| own.holds(other))
            }
            _ => false,
        }
    }

    /// The type of a complex type's parts; any other type is its own.
    #[must_use]
    pub const fn component(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Reads a type by any of its names, in any case.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::Kind::Usage), with the names that are near.
    fn from_str(text: &str) -> Result<DType> {
        let wanted = text.to_ascii_lowercase();
        DType::ALL.iter().copied().find(|dtype| dtype.names().contains(&wanted.as_str())).ok_or_else(|| {
            let all = || DType::ALL.iter();
            let others = all().flat_map(|dtype| dtype.names()).copied();
            Error::unknown("element type", text, all().map(|dtype| dtype.name()).chain(others))
        })
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct DTypeSet(u64);

impl DTypeSet {
    /// The set of none.
    pub const EMPTY: DTypeSet = DTypeSet(0);

    /// The set of these types.
    pub const fn of(dtypes: &[DType]) -> DTypeSet {
        let mut set = 0;
        let mut i = 0;
        while i < dtypes.len() {
            set |= crate::convert::bit_of(dtypes[i]);
            i += 1;
        }
        DTypeSet(set)
    }

    /// The types of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 & !other.0)
    }

    /// The types of either set.
    #[must_use]
    pub const fn or(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 | other.0)
    }

    /// Returns true if the type is in the set.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & crate::convert::bit_of(dtype) != 0
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The types of the set, in declared order.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.iter().copied().filter(move |&dtype| self.contains(dtype))
    }
}

impl fmt::Display for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, dtype) in self.iter().enumerate() {
            write!(f, "{}{dtype}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Calls a generic function with the Rust type of a runtime element type, for the types listed.
///
/// The last arm says what to do for any other type. The macro takes a path, so that the body stays
/// ordinary Rust, and the list at the call shows the set that is supported.
///
/// ```
/// use gradus_core::{dispatch, DType, Element};
/// fn width<T: Element>() -> Option<usize> { Some(size_of::<T>()) }
/// let of = |dtype: DType| dispatch!(dtype, [I16, F32, F64] => width(), _ => None);
/// assert_eq!((of(DType::F64), of(DType::I4)), (Some(8), None));
/// ```
#[macro_export]
macro_rules! dispatch {
    ($dtype:expr, [$($variant:ident),+ $(,)?] => $($path:ident)::+ $args:tt, $rest:pat => $other:expr $(,)?) => {
        $crate::dispatch!(@each ($dtype) [$($variant),+] [$($path)::+] $args $rest => $other)
    };
    (@each ($dtype:expr) [$($variant:ident),+] $path:tt $args:tt $rest:pat => $other:expr) => {
        match $dtype {
            $($crate::DType::$variant => $crate::dispatch!(@call $variant $path $args),)+
            $rest => $other,
        }
    };
    (@call $variant:ident [$($path:ident)::+] ($($arg:expr),* $(,)?)) => {
        $($path)::+::<$crate::element::of::$variant>($($arg),*)
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn names_are_unique_and_read_back() {
        let mut seen = std::collections::HashMap::new();
        for &dtype in DType::ALL {
            for name in dtype.names() {
                assert_eq!(name.parse::<DType>().unwrap(), dtype, "{name}");
                assert_eq!(name.to_uppercase().parse::<DType>().unwrap(), dtype, "{name}");
                let before = seen.insert(*name, dtype);
                assert!(before.is_none_or(|before| before == dtype), "{name} means {before:?} and {dtype:?}");
            }
        }
        assert!(DType::ALL.len() <= 64, "DTypeSet holds 64 types");
    }

    #[test]
    fn an_unknown_name_is_an_error_that_suggests_near_ones() {
        let error = "float7".parse::<DType>().unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().starts_with("unknown element type \"float7\"; did you mean \"float\" or"));
    }

    #[test]
    fn sets_do_what_sets_do() {
        let floats = DTypeSet::of(&[DType::F16, DType::F32]);
        let all = floats.or(DTypeSet::of(&[DType::I8]));
        assert!(all.contains(DType::I8) && !floats.contains(DType::I8));
        assert_eq!(all.without(floats).to_string(), "int8");
        assert_eq!(all.to_string(), "int8, float16, float32");
        assert!(DTypeSet::EMPTY.is_empty());
    }
}
