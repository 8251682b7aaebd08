//! Exact numbers: the value of any element, without rounding.

use crate::convert::nearest_f64;
use crate::float::Parts;

/// The exact value of one element of any numeric type; `bool` counts as 0 or 1.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer. Elements have at most 64 bits, so sums and products of two never overflow.
    Int(i128),
    /// A real float: finite, infinite or NaN.
    Float(f64),
    /// Real part and imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// Returns true if the number is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Float(x) => x.is_finite(),
            Number::Complex(re, im) => re.is_finite() && im.is_finite(),
        }
    }

    /// Returns true if the number is zero, of either sign.
    pub fn is_zero(self) -> bool {
        match self {
            Number::Int(x) => x == 0,
            Number::Float(x) => x == 0.0,
            Number::Complex(re, im) => re == 0.0 && im == 0.0,
        }
    }

    /// The real part.
    #[must_use]
    pub fn re(self) -> Number {
        if let Number::Complex(re, _) = self { Number::Float(re) } else { self }
    }

    /// The imaginary part.
    #[must_use]
    pub fn im(self) -> Number {
        if let Number::Complex(_, im) = self { Number::Float(im) } else { Number::Int(0) }
    }

    /// The complex number of a real part and an imaginary part, as doubles.
    #[must_use]
    pub fn with_imaginary(self, im: Number) -> Number {
        Number::Complex(nearest_f64(self), nearest_f64(im))
    }

    /// The finite real number as sign, mantissa and exponent; of a complex number, its real part.
    pub fn parts(self) -> Parts {
        match self {
            Number::Int(x) => Parts::of_int(x),
            Number::Float(x) | Number::Complex(x, _) => Parts::of_float(x),
        }
    }
}

/// Bitwise: NaN equals itself, and 0.0 is not -0.0.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (Number::Complex(a, b), Number::Complex(c, d)) => {
                (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits())
            }
            _ => false,
        }
    }
}
