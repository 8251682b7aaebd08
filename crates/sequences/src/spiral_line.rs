//! Complex powers with exponents on a straight line, the input of fills.

use dashu_int::IBig;
use gradus_core::convert;

use crate::complex::placed;
use crate::power::FAR;

/// Points on a logarithmic spiral: the logarithms of their moduli to base 2, and their angles in
/// turns, are straight lines.
#[derive(Clone, Debug)]
pub struct SpiralLine {
    /// The number of points.
    pub len: u64,
    /// The part that is zero at every point, if one is: 0 for the real, 1 for the imaginary one.
    pub zero: Option<usize>,
    /// Logarithm and turns at index 0, in units of 2^-256, off by at most 10 units.
    first: [IBig; 2],
    /// The differences of neighbours, as exact.
    step: [IBig; 2],
}

/// A complex number `(re + i im) * 2^(exponent - 125)`, of which the modulus is from `2^exponent`
/// to `2^(exponent + 1)`. Each part is off by less than 2 units.
#[derive(Clone, Copy, Debug)]
pub struct ComplexParts {
    /// The real part.
    pub re: i128,
    /// The imaginary part.
    pub im: i128,
    /// The logarithm of the modulus to base 2, rounded down.
    pub exponent: i32,
}

/// Bits of the logarithms and turns of a line.
const LINE_BITS: usize = 256;

/// Bits of those of a point: an index of 63 bits leaves more of them exact.
const POINT_BITS: usize = 160;

/// Bits of the parts of a point after those of its modulus.
const PART_BITS: usize = 125;

impl SpiralLine {
    /// The line `first + i * step` of `len` points; both are made in fixed point with as many bits
    /// as they are asked for, off by at most 10 units.
    pub(crate) fn new(
        first: impl Fn(usize) -> [IBig; 2],
        step: impl Fn(usize) -> [IBig; 2],
        len: u64,
        zero: Option<usize>,
    ) -> SpiralLine {
        SpiralLine { len, zero, first: first(LINE_BITS), step: step(LINE_BITS) }
    }

    /// The logarithm of the modulus at index `i` to base 2, rounded down; at most 2^14 away from 0.
    pub fn logarithm(&self, i: u64) -> i32 {
        let whole = (&self.first[0] + &self.step[0] * i) >> LINE_BITS;
        i32::try_from(whole.clamp((-FAR).into(), FAR.into())).expect("it is clamped")
    }

    /// The difference of the logarithms of neighbours, about; at most 2^14.
    pub fn slope(&self) -> f64 {
        let far = IBig::from(FAR) << LINE_BITS;
        let step = self.step[0].clone().clamp(-far.clone(), far);
        let step = i128::try_from(step >> (LINE_BITS - 64)).expect("it is clamped");
        convert::split(step)[0] / 2f64.powi(64)
    }

    /// The point at index `i`.
    pub fn at(&self, i: u64) -> ComplexParts {
        point([0, 1].map(|k| &self.first[k] + &self.step[k] * i))
    }

    /// The quotient of points `apart` indices apart.
    pub fn ratio(&self, apart: u64) -> ComplexParts {
        point([0, 1].map(|k| &self.step[k] * apart))
    }
}

fn point(line: [IBig; 2]) -> ComplexParts {
    let [log2, turns] = line.map(|x| x >> (LINE_BITS - POINT_BITS));
    let (parts, exponent) = placed(&log2, &turns, POINT_BITS);
    let [re, im] = parts.map(|part| {
        i128::try_from(part >> (POINT_BITS - PART_BITS)).expect("the modulus is below 2 in its unit")
    });
    ComplexParts { re, im, exponent }
}
