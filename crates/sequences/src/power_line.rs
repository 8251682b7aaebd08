//! Geometric sequences as powers of two, the input of fills.

use dashu_int::IBig;
use dashu_int::ops::UnsignedAbs;
use gradus_core::Number;
use gradus_core::convert::{self, i32_of, nearest_f64};
use gradus_core::float::Parts;

use crate::exp2::exp2;
use crate::line::Wide;
use crate::power::FAR;

/// The logarithms to base 2 of the magnitudes of a sequence: a straight line, where they are not
/// far away.
///
/// Elements before and after those of the line are all beyond 2^16000, or below 2^-16000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLine {
    /// The number of elements before the line.
    pub before: u64,
    /// The number of elements on the line.
    pub len: u64,
    /// True if the elements are negative.
    pub negative: bool,
    /// The logarithm at index 0, in units of 2^-176 and below 2^15. The one at index `i` is off by
    /// at most `2 (i + 1)`.
    first: Wide,
    /// The difference of neighbours.
    step: Wide,
}

/// About a logarithm.
fn nearly(logarithm: Wide) -> f64 {
    let (leading, unit) = logarithm.leading();
    convert::split(leading)[0] * 2f64.powi(unit - i32_of(LINE_BITS))
}

/// Bits of the logarithms.
pub(crate) const LINE_BITS: usize = 176;

impl PowerLine {
    /// The line `first + i * step`, in units of 2^-[`LINE_BITS`] off by less than 2 each, of two
    /// elements at least, if no part of it is far away.
    pub(crate) fn near([first, step]: [Wide; 2], len: u64, negative: bool) -> Option<PowerLine> {
        let steps = nearest_f64(Number::Int(len.checked_sub(1).filter(|&steps| steps > 0)?.into()));
        let is_near = |logarithm: f64| logarithm.abs() < f64::from(FAR - 1);
        let ends = [nearly(first), nearly(first) + nearly(step) * steps];
        ends.into_iter().all(is_near).then_some(PowerLine { before: 0, len, negative, first, step })
    }

    /// The part that is not far away of the line `first + i * step`, which has `len` elements; both
    /// are made in fixed point with as many bits as they are asked for, off by at most 4 units.
    pub(crate) fn new(
        first: impl Fn(usize) -> IBig,
        step: impl Fn(usize) -> IBig,
        len: u64,
        negative: bool,
    ) -> PowerLine {
        // 64 more bits, so that walking along the line to its first element on it adds less than a
        // unit.
        let work = LINE_BITS + 64;
        let (first, step) = (first(work), step(work));
        let far = IBig::from(FAR) << work;
        // Number of elements before the line crosses that height, which a line without a slope does
        // not.
        let crossing = |height: IBig| -> u64 {
            let (height, slope) =
                if step < IBig::ZERO { (&first - height, -&step) } else { (height - &first, step.clone()) };
            let index = (height + &slope - IBig::ONE) / slope;
            u64::try_from(index.clamp(IBig::ZERO, IBig::from(len))).expect("the index is clamped")
        };
        let last = &first + &step * len.saturating_sub(1);
        let near = |x: &IBig| x.unsigned_abs() < (&far).unsigned_abs();
        let (before, end) = if near(&first) && near(&last) {
            (0, len)
        } else if step.is_zero() {
            (len, len)
        } else {
            let (a, b) = (crossing(-&far), crossing(far));
            (a.min(b), a.max(b))
        };
        // The step between elements on the line is short; without two such, there is none.
        let wide = |x: IBig, wanted: u64| {
            if end - before < wanted { Wide { high: 0, low: 0 } } else { Wide::new(&(x >> 64usize)) }
        };
        let (first, step) = (wide(first + &step * before, 1), wide(step, 2));
        PowerLine { before, len: end - before, negative, first, step }
    }

    /// The logarithm of the magnitude at index `i`, rounded down.
    pub fn logarithm(&self, i: u64) -> i32 {
        self.first.plus(self.step, i).whole(LINE_BITS)
    }

    /// The logarithm at index 0; relatively off by less than 2^-52.
    pub fn start(&self) -> f64 {
        nearly(self.first)
    }

    /// The difference of the logarithms of neighbours, as exact.
    pub fn slope(&self) -> f64 {
        nearly(self.step)
    }

    /// The magnitude at index `i` of the line, relatively off by less than 2^-110.
    ///
    /// The index is below 2^63, so the logarithm is off by at most 2^64 units, 2^-112. Of its
    /// fraction 128 bits are kept, and `exp2` adds less than 2^-119.
    pub fn at(&self, i: u64) -> Parts {
        self.power(self.first.plus(self.step, i))
    }

    /// The ratio of the magnitudes of elements `apart` indices apart, as exact as [`at`](Self::at).
    ///
    /// The ratio must lie between 2^-16384 and 2^16384.
    pub fn ratio(&self, apart: u64) -> Parts {
        self.power(Wide { high: 0, low: 0 }.plus(self.step, apart))
    }

    fn power(&self, log2: Wide) -> Parts {
        // 112 bits of the fraction are in the upper part, and 16 more are below.
        let fraction = log2.high.cast_unsigned() << 16 | u128::from(log2.low >> 48);
        let whole = log2.whole(LINE_BITS);
        Parts { negative: self.negative, mantissa: exp2(fraction), exponent: whole - 127, sticky: false }
    }
}
