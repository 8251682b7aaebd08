//! Elementary functions in fixed point, to any number of bits.
//!
//! A fixed-point number of `bits` bits is an integer that counts units of 2^-bits. Every function
//! takes its arguments as exact and says by how many units its result may be off. Inside, they work
//! with more bits, so that what is said holds with room to spare; the comments count in units of
//! the working precision.

use std::sync::LazyLock;

use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};
use gradus_core::Number;
use gradus_core::convert::{i64_of, nearest_f64, usize_of};

/// The number of times that an argument is halved before its series: about as many as the terms
/// that it saves.
fn halvings(bits: usize) -> usize {
    bits.isqrt()
}

/// More bits, for an argument that is halved: the error of a series of at most 2^19 terms, doubled
/// as often.
fn guard(halvings: usize) -> usize {
    halvings + 24
}

/// `e^x` for `x` from -1 to 1, off by at most 1 unit.
///
/// With `h` halvings: each term of the series is off by at most 2 units, a sum of `n` of them with
/// the rest that is left out by at most `2n + 4`; `h` squarings make that less than
/// `e 2^h (4n + 11)`, which is less than half of 2^(h + 24) for all `n` below 2^19.
pub(crate) fn exp(x: &IBig, bits: usize) -> IBig {
    let halvings = halvings(bits);
    let guard = guard(halvings);
    let work = bits + guard;
    // Exact: the guard is longer than the shift.
    let x = x << (guard - halvings);
    let one = IBig::ONE << work;
    let (mut sum, mut term) = (&one + &x, x.clone());
    for n in 2u64.. {
        term = ((term * &x) >> work) / n;
        if is_small(&term) {
            break;
        }
        sum += &term;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> work;
    }
    sum >> guard
}

/// Returns true if a term of a series is at most one unit: all following terms together add less
/// than one.
fn is_small(term: &IBig) -> bool {
    *term <= IBig::ONE && *term >= IBig::NEG_ONE
}

/// Cosine and sine of `x` from -1 to 1, each off by at most 1 unit: the series of `e^ix`, as
/// [`exp`].
pub(crate) fn cos_sin(x: &IBig, bits: usize) -> (IBig, IBig) {
    let halvings = halvings(bits);
    let guard = guard(halvings);
    let work = bits + guard;
    let x = x << (guard - halvings);
    let (mut cos, mut sin, mut term) = (IBig::ONE << work, x.clone(), x.clone());
    for n in 2u64.. {
        term = ((term * &x) >> work) / n;
        if is_small(&term) {
            break;
        }
        match n % 4 {
            0 => cos += &term,
            1 => sin += &term,
            2 => cos -= &term,
            _ => sin -= &term,
        }
    }
    for _ in 0..halvings {
        (cos, sin) = ((&cos * &cos - &sin * &sin) >> work, (&cos * &sin) >> (work - 1));
    }
    (cos >> guard, sin >> guard)
}

/// `2 atanh(z)`, or `2 atan(z)`, for `z` of at most 1/2 in magnitude, off by at most one unit for
/// each bit.
fn two_arc_tangent(z: &IBig, bits: usize, hyperbolic: bool) -> IBig {
    let square = (z * z) >> bits;
    let (mut sum, mut power) = (z.clone(), z.clone());
    for n in 1u64.. {
        power = (power * &square) >> bits;
        let term = &power / (2 * n + 1);
        if is_small(&term) {
            break;
        }
        if hyperbolic || n % 2 == 0 { sum += term } else { sum -= term }
    }
    sum << 1
}

/// More bits for the series of an arc tangent, whose error grows with their number.
const SERIES_GUARD: usize = 32;

/// The natural logarithm of `x`, which lies from 1/2 to 2, off by at most 1 unit; `x` has `x_bits`
/// bits.
///
/// The double's logarithm `y` is near; `x / e^y` is 1 and a very small rest, whose logarithm is a
/// short series. Nothing depends on how near `y` is, save the time that it takes.
pub(crate) fn ln(x: &IBig, x_bits: usize, bits: usize) -> IBig {
    let work = bits + SERIES_GUARD;
    let near = fixed(double(x, x_bits).ln(), work);
    let rest = ((exp(&-&near, work) * x) >> x_bits) - (IBig::ONE << work);
    let z = (&rest << work) / ((IBig::ONE << (work + 1)) + &rest);
    (near + two_arc_tangent(&z, work, true)) >> SERIES_GUARD
}

/// A double near a number of at most 2 in magnitude.
fn double(x: &IBig, bits: usize) -> f64 {
    let kept = bits.min(120);
    let top = i128::try_from(x >> (bits - kept)).expect("at most 2, in 120 bits");
    nearest_f64(Number::Int(top)) / nearest_f64(Number::Int(1 << kept))
}

/// The angle of `re + i im`, where the larger of the two is from 1/2 to 1 in magnitude, off by at
/// most 1 unit.
///
/// As [`ln`]: turned back by the angle that the doubles give, the number lies almost on the real
/// axis.
pub(crate) fn angle(re: &IBig, im: &IBig, bits: usize) -> IBig {
    let work = bits + SERIES_GUARD;
    // The series of the sine wants at most 1, so the angle is turned back in quarters.
    let near = fixed(double(im, bits).atan2(double(re, bits)) / 4.0, work);
    let (mut re, mut im) = (re << SERIES_GUARD, im << SERIES_GUARD);
    let (cos, sin) = cos_sin(&near, work);
    for _ in 0..4 {
        (re, im) = ((&re * &cos + &im * &sin) >> work, (&im * &cos - &re * &sin) >> work);
    }
    let z = (im << work) / re;
    // 2 atan(z/2) would be exact only for small z; the angle itself is atan(z), half of what the
    // series gives.
    ((near << 2) + (two_arc_tangent(&z, work, false) >> 1)) >> SERIES_GUARD
}

/// A float in fixed point, rounded down.
fn fixed(x: f64, bits: usize) -> IBig {
    let parts = Number::Float(x).parts();
    let mantissa = IBig::from(parts.mantissa);
    scaled(if parts.negative { -mantissa } else { mantissa }, i64_of(bits) + i64::from(parts.exponent))
}

/// Bits of constants that are kept.
const KEPT: usize = 512;

/// A constant of which [`KEPT`] bits are kept, off by at most 2 units.
fn kept(constant: &LazyLock<IBig>, make: fn(usize) -> IBig, bits: usize) -> IBig {
    if bits < KEPT { &**constant >> (KEPT - bits) } else { make(bits) }
}

/// The natural logarithm of 2, off by at most 2 units: a sum of three series that J. W. Wrench
/// found.
pub(crate) fn ln_2(bits: usize) -> IBig {
    static LN_2: LazyLock<IBig> = LazyLock::new(|| make(KEPT));
    fn make(bits: usize) -> IBig {
        machin(&[(18, 26), (-2, 4801), (8, 8749)], bits, true)
    }
    kept(&LN_2, make, bits)
}

/// Half the circumference of the unit circle, off by at most 2 units: the series of J. Machin.
pub(crate) fn pi(bits: usize) -> IBig {
    static PI: LazyLock<IBig> = LazyLock::new(|| make(KEPT));
    fn make(bits: usize) -> IBig {
        machin(&[(16, 5), (-4, 239)], bits, false)
    }
    kept(&PI, make, bits)
}

/// A sum of multiples of the arc tangents of fractions `1/n`.
fn machin(terms: &[(i64, u64)], bits: usize, hyperbolic: bool) -> IBig {
    let work = bits + SERIES_GUARD;
    let mut sum = IBig::ZERO;
    for &(times, n) in terms {
        let mut power = (IBig::ONE << work) / n;
        let square = n * n;
        for k in 0u64.. {
            let term = &power / (2 * k + 1);
            if term.is_zero() {
                break;
            }
            if hyperbolic || k % 2 == 0 {
                sum += term * times;
            } else {
                sum -= term * times;
            }
            power /= square;
        }
    }
    sum >> SERIES_GUARD
}

/// The largest integer whose power `n` is at most `x`, if it is `x`.
pub(crate) fn exact_root(x: &UBig, n: u64) -> Option<UBig> {
    if x.is_one() {
        return Some(x.clone());
    }
    let n = usize_of(n);
    if n >= x.bit_len() {
        return None;
    }
    let root = x.nth_root(n);
    (root.pow(n) == *x).then_some(root)
}

/// `x * 2^by`, rounded down.
pub(crate) fn scaled(x: IBig, by: i64) -> IBig {
    let shift = usize_of(by.unsigned_abs());
    if by < 0 { x >> shift } else { x << shift }
}
