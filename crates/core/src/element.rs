//! Rust types of elements that are whole bytes and that operators compute with.

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::DType;
use crate::exact::Number;

/// A Rust type that is the element of a tensor.
///
/// Sealed: the set is that of [`of`]. The 8-bit floats and the packed types have no type of their
/// own; they are read and written as codes, see [`crate::Tensor::codes`].
pub trait Element: Pod + PartialEq + Send + Sync + std::fmt::Debug + sealed::Sealed {
    /// The element type.
    const DTYPE: DType;

    /// The exact value.
    fn number(self) -> Number;
}

mod sealed {
    pub trait Sealed {}
}

/// A boolean as tensors store it: a byte, of which every value but 0 is true.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// Returns true if it is true.
    pub const fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    fn from(value: bool) -> Self {
        Bool(u8::from(value))
    }
}

impl PartialEq for Bool {
    fn eq(&self, other: &Self) -> bool {
        self.is_true() == other.is_true()
    }
}

/// The Rust type of each element type, under the name of its [`DType`] variant;
/// [`crate::dispatch!`] looks it up.
#[allow(missing_docs, reason = "each line says what it is")]
pub mod of {
    pub type Bool = super::Bool;
    pub type I8 = i8;
    pub type I16 = i16;
    pub type I32 = i32;
    pub type I64 = i64;
    pub type U8 = u8;
    pub type U16 = u16;
    pub type U32 = u32;
    pub type U64 = u64;
    pub type F16 = half::f16;
    pub type BF16 = half::bf16;
    pub type F32 = f32;
    pub type F64 = f64;
    pub type C64 = num_complex::Complex<f32>;
    pub type C128 = num_complex::Complex<f64>;
}

macro_rules! elements {
    ($($type:ty: $variant:ident, |$x:ident| $number:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$variant;

            #[inline]
            fn number(self) -> Number {
                let $x = self;
                $number
            }
        }
    )*};
}

elements! {
    Bool: Bool, |x| Number::Int(i128::from(x.is_true()));
    i8: I8, |x| Number::Int(i128::from(x));
    i16: I16, |x| Number::Int(i128::from(x));
    i32: I32, |x| Number::Int(i128::from(x));
    i64: I64, |x| Number::Int(i128::from(x));
    u8: U8, |x| Number::Int(i128::from(x));
    u16: U16, |x| Number::Int(i128::from(x));
    u32: U32, |x| Number::Int(i128::from(x));
    u64: U64, |x| Number::Int(i128::from(x));
    f16: F16, |x| Number::Float(x.to_f64());
    bf16: BF16, |x| Number::Float(x.to_f64());
    f32: F32, |x| Number::Float(f64::from(x));
    f64: F64, |x| Number::Float(x);
    Complex<f32>: C64, |x| Number::Complex(f64::from(x.re), f64::from(x.im));
    Complex<f64>: C128, |x| Number::Complex(x.re, x.im);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_but_zero_is_true() {
        let bytes = [0u8, 1, 2, 255];
        let bools: &[Bool] = bytemuck::cast_slice(&bytes);
        assert_eq!(bools.iter().map(|b| b.is_true()).collect::<Vec<_>>(), [false, true, true, true]);
        assert_eq!(bools[1], bools[3]);
    }

    #[test]
    fn storage_is_as_wide_as_its_type_says() {
        fn bits<T: Element>() -> usize {
            assert!(size_of::<T>() * 8 == T::DTYPE.bits());
            T::DTYPE.bits()
        }
        for &dtype in DType::ALL {
            let width = crate::dispatch!(dtype,
                [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => bits(),
                _ => 0);
            assert!(width == dtype.bits() || width == 0, "{dtype}");
        }
    }
}
