//! The discrete Fourier transform of a line of complex numbers, in float64.

use std::f64::consts::PI;

use gradus_core::convert::{float_of, product};
use gradus_core::{Limits, Result};

/// A complex number: the real and the imaginary part.
pub type Complex = (f64, f64);

/// Largest odd factor of a length whose sums are added one by one.
const MAX_DIRECT: usize = 64;
/// Length of lines from which the deadline is asked.
const LONG: usize = 1 << 12;

/// Tables that the transforms of one length share.
pub struct Transform {
    /// The powers of the root of unity of the length.
    turns: Vec<Complex>,
    /// The transform of an odd length that is not added one by one.
    chirp: Option<Box<Chirp>>,
}

/// The transform of a length as a convolution with a chirp (Bluestein 1970), whose length is a
/// power of two: `jk` is `(j² + k² - (k - j)²) / 2`.
struct Chirp {
    /// The powers `k² / 2` of the root of unity of the length.
    powers: Vec<Complex>,
    /// The transform of the conjugate of the chirp, repeated.
    spectrum: Vec<Complex>,
    transform: Transform,
}

/// The largest odd factor of a length, and 0 of 0.
fn odd_factor(len: usize) -> usize {
    len >> len.trailing_zeros().min(63)
}

/// The work of one transform of a length: about the number of multiplications.
pub fn work(len: usize) -> u128 {
    let odd = odd_factor(len);
    product(len, if odd > MAX_DIRECT { 512 } else { 64 + odd })
}

/// The bytes of the tables of a length and of the lines that a transform has at a time.
pub fn bytes(len: usize) -> u128 {
    product(len, if odd_factor(len) > MAX_DIRECT { 768 } else { 128 })
}

/// The length of the convolution that a chirp of a length needs: a power of two that holds
/// `2 len - 1` elements.
fn padded(len: usize) -> usize {
    (2 * len - 1).next_power_of_two()
}

fn times((a, b): Complex, (c, d): Complex) -> Complex {
    (a * c - b * d, a * d + b * c)
}

/// The `at`-th power of the root of unity of a length, to the right for a positive sign.
fn turn(at: usize, len: usize, sign: f64) -> Complex {
    let angle = sign * 2.0 * PI * float_of(at) / float_of(len);
    (libm::cos(angle), libm::sin(angle))
}

impl Transform {
    /// Tables for transforms of a length, with exponents of a sign.
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn new(len: usize, sign: f64, limits: &Limits) -> Result<Transform> {
        let turns = limits.watched((0..len).map(|at| turn(at, len, sign))).collect::<Result<_>>()?;
        let odd = odd_factor(len);
        let chirp = if odd > MAX_DIRECT { Some(Box::new(Chirp::new(odd, sign, limits)?)) } else { None };
        Ok(Transform { turns, chirp })
    }

    /// The transform of a line of the length, not divided by the length.
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn of(&self, line: &[Complex], limits: &Limits) -> Result<Vec<Complex>> {
        self.part(line, 1, limits)
    }

    /// The transform of a line whose length is a part of the whole, `step` times smaller: halves
    /// while the length is even.
    fn part(&self, line: &[Complex], step: usize, limits: &Limits) -> Result<Vec<Complex>> {
        let count = line.len();
        if count >= LONG {
            limits.check()?;
        }
        if count > 1 && count.is_multiple_of(2) {
            let half = |first: usize| {
                let half: Vec<_> = line.iter().skip(first).step_by(2).copied().collect();
                self.part(&half, step * 2, limits)
            };
            let (even, odd) = (half(0)?, half(1)?);
            let element = |at: usize| {
                let (a, b) = times(odd[at % (count / 2)], self.turns[at * step]);
                let (c, d) = even[at % (count / 2)];
                (a + c, b + d)
            };
            return Ok((0..count).map(element).collect());
        }
        if let Some(chirp) = &self.chirp {
            return chirp.of(line, limits);
        }
        let element = |frequency: usize| {
            line.iter().enumerate().fold((0.0, 0.0), |(a, b), (at, &x)| {
                // Both are below `MAX_DIRECT`.
                let (c, d) = times(x, self.turns[at * frequency % count * step]);
                (a + c, b + d)
            })
        };
        Ok((0..count).map(element).collect())
    }
}

impl Chirp {
    fn new(len: usize, sign: f64, limits: &Limits) -> Result<Chirp> {
        // Squares are reduced without rounding, as the angle would lose the digits that they have.
        let square = |at: usize| {
            let square = product(at, at) % product(len, 2);
            turn(usize::try_from(square).unwrap_or(0), 2 * len, sign)
        };
        let powers: Vec<_> = limits.watched((0..len).map(square)).collect::<Result<_>>()?;
        let mut repeated = vec![(0.0, 0.0); padded(len)];
        for (at, &(a, b)) in powers.iter().enumerate() {
            repeated[at] = (a, -b);
            let back = (padded(len) - at) % padded(len);
            repeated[back] = (a, -b);
        }
        let transform = Transform::new(padded(len), -1.0, limits)?;
        let spectrum = transform.of(&repeated, limits)?;
        Ok(Chirp { powers, spectrum, transform })
    }

    fn of(&self, line: &[Complex], limits: &Limits) -> Result<Vec<Complex>> {
        let count = self.spectrum.len();
        let mut padded: Vec<_> = line.iter().zip(&self.powers).map(|(&x, &c)| times(x, c)).collect();
        padded.resize(count, (0.0, 0.0));
        // The inverse is the conjugate of the transform of the conjugate.
        let product = self.transform.of(&padded, limits)?.into_iter().zip(&self.spectrum);
        let product: Vec<_> = product.map(|(x, &y)| times(x, y)).map(|(a, b)| (a, -b)).collect();
        let convolved = self.transform.of(&product, limits)?;
        let scale = 1.0 / float_of(count);
        let element = |(&(a, b), &c): (&Complex, &Complex)| times((a * scale, -b * scale), c);
        Ok(convolved.iter().zip(&self.powers).map(element).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of a transform of pseudo-random numbers, as a part of the largest result:
    /// against sums in pairs of doubles of all products, with the same table of sines.
    fn error(len: usize, sign: f64) -> f64 {
        let line: Vec<_> =
            (0..len).map(|at| (float_of(at * 7919 % 1013) - 506.0, float_of(at % 7))).collect();
        let got = Transform::new(len, sign, &Limits::DEFAULT).unwrap().of(&line, &Limits::DEFAULT).unwrap();
        let (mut largest, mut error) = (0.0f64, 0.0f64);
        for frequency in (0..len).step_by(1 + len / 16) {
            let terms =
                line.iter().enumerate().map(|(at, &x)| times(x, turn(at * frequency % len, len, sign)));
            let (a, b): (Vec<_>, Vec<_>) = terms.unzip();
            let want = [compensated(&a), compensated(&b)];
            let (x, y) = got[frequency];
            error = error.max((x - want[0]).abs()).max((y - want[1]).abs());
            largest = largest.max(want[0].abs()).max(want[1].abs());
        }
        error / largest
    }

    /// A sum with the errors of its additions.
    fn compensated(terms: &[f64]) -> f64 {
        let (sum, errors) = terms.iter().fold((0.0, 0.0), |(sum, errors), &term| {
            let next: f64 = sum + term;
            let part = next - sum;
            (next, errors + ((sum - (next - part)) + (term - part)))
        });
        sum + errors
    }

    #[test]
    fn transforms_of_all_lengths_are_near_their_sums() {
        for len in (1..70).chain([127, 130, 243, 997, 1000, 2 * 911, 4 * 625, 4099]) {
            for sign in [-1.0, 1.0] {
                let error = error(len, sign);
                assert!(error < 1e-14, "{len}: {error}");
            }
        }
    }

    #[test]
    fn the_work_of_primes_is_not_quadratic() {
        assert!(work(99_991) < 100 * work(1 << 16));
        assert_eq!(work(0), 0);
    }
}
