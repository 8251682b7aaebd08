//! Natural numbers of up to 512 bits, which take no memory of their own.

use dashu_int::UBig;
use gradus_core::convert::{low_u64, usize_of_u32};

use crate::line::Wide;

/// Words of a natural number, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Words([u64; 8]);

impl Words {
    /// A number that fits.
    pub(crate) fn new(x: &UBig) -> Words {
        let bytes = x.to_le_bytes();
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        Words(words)
    }

    /// A number times `2^BITS`, for whole words of them.
    pub(crate) fn shifted<const BITS: usize>(x: u64) -> Words {
        const { assert!(BITS.is_multiple_of(64) && BITS < 512) };
        let mut words = [0; 8];
        words[BITS / 64] = x;
        Words(words)
    }

    /// The sum, modulo 2^512.
    pub(crate) fn plus(mut self, other: Words) -> Words {
        let mut carry = false;
        for (word, other) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = word.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(carry.into());
            (*word, carry) = (sum, first || second);
        }
        self
    }

    /// The difference, or its magnitude and `true` if it is below zero.
    pub(crate) fn minus(self, other: Words) -> (bool, Words) {
        if self.0.iter().rev().lt(other.0.iter().rev()) {
            return (true, other.minus(self).1);
        }
        let complement = Words(other.0.map(|word| !word));
        (false, self.plus(complement).plus(Words([1, 0, 0, 0, 0, 0, 0, 0])))
    }

    /// The product, if it fits.
    pub(crate) fn times(self, factor: u128) -> Option<Words> {
        let mut product = [0; 10];
        for (at, factor) in [low_u64(factor), low_u64(factor >> 64)].into_iter().enumerate() {
            let mut carry = 0;
            for (word, x) in product[at..].iter_mut().zip(self.0.into_iter().chain([0])) {
                let sum = u128::from(x) * u128::from(factor) + u128::from(*word) + carry;
                (*word, carry) = (low_u64(sum), sum >> 64);
            }
        }
        let [low @ .., 0, 0] = product else { return None };
        Some(Words(low))
    }

    /// The number over `2^by`, rounded down.
    pub(crate) fn shifted_right(self, by: u32) -> Words {
        let (from, within) = (usize_of_u32(by / 64), by % 64);
        let word = |i: usize| u128::from(self.0.get(i).copied().unwrap_or_default());
        Words(std::array::from_fn(|i| low_u64((word(i + from + 1) << 64 | word(i + from)) >> within)))
    }

    /// The quotient, rounded down.
    pub(crate) fn over(mut self, divisor: u64) -> Words {
        divide(&mut self.0, divisor);
        self
    }

    /// The number, or what is opposite, if it is below 2^190.
    pub(crate) fn wide(self, negative: bool) -> Option<Wide> {
        let [low, middle, high, 0, 0, 0, 0, 0] = self.0 else { return None };
        let high = i128::try_from(u128::from(high) << 64 | u128::from(middle))
            .ok()
            .filter(|high| high >> 126 == 0)?;
        let wide = Wide { high, low };
        Some(if negative { wide.opposite() } else { wide })
    }
}

/// Divides words, the lowest first, and returns the rest.
pub(crate) fn divide(words: &mut [u64], divisor: u64) -> u64 {
    let mut rest = 0;
    for word in words.iter_mut().rev() {
        let dividend = u128::from(rest) << 64 | u128::from(*word);
        if dividend == 0 {
            continue;
        }
        let quotient = dividend / u128::from(divisor);
        rest = low_u64(dividend - quotient * u128::from(divisor));
        *word = low_u64(quotient);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(words: Words) -> UBig {
        words.0.iter().rev().fold(UBig::ZERO, |sum, &word| (sum << 64usize) + word)
    }

    #[test]
    fn words_are_big_integers() {
        let edges = [0, 1, 2, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef];
        let numbers: Vec<Words> = (0..40)
            .map(|n| {
                Words(std::array::from_fn(|i| if i > n % 7 { 0 } else { edges[(n * 5 + i * n / 3) % 6] }))
            })
            .collect();
        for &one in &numbers {
            assert_eq!(Words::new(&big(one)), one);
            for &other in &numbers {
                let (sum, (below, difference)) = (big(one) + big(other), one.minus(other));
                assert_eq!(big(one.plus(other)), sum);
                assert_eq!(below, big(one) < big(other));
                let [low, high] = if below { [one, other] } else { [other, one] };
                assert_eq!(big(difference), big(high) - big(low));
            }
            for factor in [0, 1, u128::MAX, u128::from(u64::MAX) << 3] {
                let product = big(one) * factor;
                let fits = product < UBig::ONE << 512usize;
                assert_eq!(one.times(factor).map(big), fits.then_some(product));
            }
            for by in [0, 1, 63, 64, 65, 320, 511] {
                assert_eq!(big(one.shifted_right(by)), big(one) >> usize_of_u32(by));
            }
            for divisor in [1, 3, u64::MAX] {
                assert_eq!(big(one.over(divisor)), big(one) / divisor);
            }
            let is_wide = big(one) < UBig::ONE << 190usize;
            let wide = is_wide.then(|| Wide::new(&dashu_int::IBig::from(big(one))));
            assert_eq!(one.wide(false), wide);
            assert_eq!(one.wide(true), wide.map(|_| Wide::new(&-dashu_int::IBig::from(big(one)))));
        }
        assert_eq!(big(Words::shifted::<320>(5)), UBig::from(5u8) << 320usize);
    }
}
