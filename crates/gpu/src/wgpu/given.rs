//! Shader parameters of a plan, as integers.

use gradus_core::convert::{low_u64, shifted_right};
use gradus_core::float::Parts;
use gradus_kernels::Form;
use gradus_kernels::prepared::{DoubleDouble, IntAffine, Tables, Wrapping};
use gradus_sequences::{Line, PowerLine, Wide};

use crate::plan::AnyPlan;

/// 192 bits, two's complement, the lowest first.
pub(super) type WideNumber = [u32; 6];

/// The shader that makes the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shader {
    Wrapping,
    Line,
    Powers,
}

/// A plan, ready to be given to a shader part by part.
#[derive(Debug)]
pub(super) enum ShaderSource {
    /// Floats on a line, of a plan of as many elements as the number says.
    Floats(Line, u64),
    /// Integers on a line.
    Integers(IntAffine),
    /// Codes modulo a power of two.
    Wrapping(Wrapping),
    /// Powers, and the codes of those before and after the line.
    Powers(Box<Tables>, [u64; 2]),
}

impl ShaderSource {
    /// Nothing, if the elements are made one by one, by the plan.
    pub(super) fn of(plan: &dyn AnyPlan) -> Option<ShaderSource> {
        let len = plan.count();
        match plan.made_from() {
            Form::Each => None,
            Form::Same => Some(ShaderSource::Wrapping(Wrapping { first: plan.code(0), step: 0 })),
            Form::Wrapping(wrapping) => Some(ShaderSource::Wrapping(wrapping)),
            Form::Line(line) if plan.element_type().is_integer() => {
                IntAffine::new(line, len).map(ShaderSource::Integers)
            }
            Form::Line(line) => Some(ShaderSource::Floats(line, len)),
            Form::Powers(line) => {
                let before = if line.before > 0 { plan.code(0) } else { 0 };
                let after = if line.before + line.len < len { plan.code(len - 1) } else { 0 };
                Some(ShaderSource::Powers(Box::new(Tables::new(line, LONGEST)), [before, after]))
            }
        }
    }

    /// The shader that writes the plan.
    pub(super) fn shader(&self) -> Shader {
        match self {
            ShaderSource::Wrapping(_) => Shader::Wrapping,
            ShaderSource::Floats(..) | ShaderSource::Integers(_) => Shader::Line,
            ShaderSource::Powers(..) => Shader::Powers,
        }
    }

    /// The shader parameters for `count` elements from index `lo` on.
    pub(super) fn part(&self, lo: u64, count: u64) -> GivenPart {
        let mut given = Given { count: low(count), ..Given::default() };
        let mut tables = vec![[0; 4]];
        match self {
            ShaderSource::Floats(line, len) => {
                given.first = words(line.first.plus(line.step, lo));
                given.step = words(line.step);
                given.bound = words(Wide { high: 0, low: len + 1 });
                given.inexact = u32::from(!line.exact);
                given.unit = line.unit;
            }
            ShaderSource::Integers(IntAffine { line, biases, fraction, .. }) => {
                given.first = words(line.first.plus(line.step, lo));
                given.step = words(line.step);
                [given.above, given.below] = biases.map(words);
                given.point = fraction + 64;
            }
            ShaderSource::Wrapping(Wrapping { first, step }) => {
                let short = |low| words(Wide { high: 0, low });
                given.first = short(first.wrapping_add(step.wrapping_mul(lo)));
                given.step = short(*step);
            }
            ShaderSource::Powers(parts, outside) => {
                [given.before, given.after] = outside.map(pair);
                tables = given.set_powers(parts, lo, count);
            }
        }
        GivenPart { given, tables }
    }
}

/// The most entries of the table of positions, and of that of blocks.
const LONGEST: [u64; 2] = [512, 256];

/// A part of a plan: parameters and tables.
#[derive(Debug)]
pub(super) struct GivenPart {
    pub(super) given: Given,
    pub(super) tables: Vec<[u32; 4]>,
}

/// The parameters, as `struct Given` of the shaders has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given {
    count: u32,
    first: WideNumber,
    step: WideNumber,
    bound: WideNumber,
    inexact: u32,
    unit: i32,
    above: WideNumber,
    below: WideNumber,
    point: u32,
    skip: u32,
    on_line: u32,
    before: [u32; 2],
    after: [u32; 2],
    negative: u32,
    positions: u32,
    blocks: u32,
    blocks_at: u32,
    wide_at: u32,
    pub(super) starts: u32,
}

impl Given {
    /// As the words of a buffer.
    pub(super) fn words(&self) -> Vec<u32> {
        [
            &[self.count][..],
            &self.first,
            &self.step,
            &self.bound,
            &[self.inexact, self.unit.cast_unsigned()],
            &self.above,
            &self.below,
            &[self.point, self.skip, self.on_line],
            &self.before,
            &self.after,
            &[self.negative, self.positions, self.blocks, self.blocks_at, self.wide_at, self.starts],
        ]
        .concat()
    }

    /// Sets the parameters of powers, and gives their tables: positions, blocks, wide powers.
    fn set_powers(&mut self, parts: &Tables, lo: u64, count: u64) -> Vec<[u32; 4]> {
        let PowerLine { before, len, negative, .. } = parts.line;
        let skip = before.saturating_sub(lo).min(count);
        let first = (lo + skip).saturating_sub(before);
        let on_line = len.saturating_sub(first).min(count - skip);
        let starts = on_line.div_ceil(parts.block);
        self.skip = low(skip);
        self.on_line = low(on_line);
        self.negative = u32::from(negative);
        self.positions = parts.block.ilog2();
        self.blocks = parts.count.ilog2();
        self.blocks_at = low(parts.block);
        self.wide_at = low(parts.block + parts.count);
        self.starts = low(starts);
        let entries = parts.positions.iter().chain(&parts.blocks).map(|&entry| power(entry, 0));
        let wides = parts.wides(first..first + on_line);
        let wides = wides.into_iter().map(|(mantissa, exponent)| power(mantissa, exponent));
        entries.chain(wides).collect()
    }
}

/// A positive number times `2^exponent` as a mantissa of 95 bits and the power of two of its lowest
/// bit; cut off.
fn power(x: DoubleDouble, exponent: i32) -> [u32; 4] {
    let [high, low] = [x.high, x.low].map(Parts::of_float);
    // The high part has 53 bits; with 60 more, nothing of the low part is above the lowest but 7 of
    // them.
    let unit = high.exponent - 60;
    let by = low.exponent - unit;
    let rest = if by < 0 { shifted_right(low.mantissa, by.unsigned_abs()) } else { low.mantissa << by };
    let all = if low.negative { (high.mantissa << 60) - rest } else { (high.mantissa << 60) + rest };
    let drop = 128 - all.leading_zeros() - 95;
    let mantissa = all >> drop;
    let [a, b] = pair(low_u64(mantissa));
    let power = unit + drop.cast_signed() + exponent;
    [a, b, self::low(low_u64(mantissa >> 64)), power.cast_unsigned()]
}

fn words(x: Wide) -> WideNumber {
    let mut words = [0; 6];
    let bytes = [&x.low.to_le_bytes()[..], &x.high.to_le_bytes()].concat();
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The two words of a code.
pub(super) fn pair(code: u64) -> [u32; 2] {
    [low(code), low(code >> 32)]
}

/// The low word.
pub(super) fn low(x: u64) -> u32 {
    x.to_le_bytes().first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_keep_95_bits() {
        // (2^52 + 1) 2^-52 + 2^-54, from the highest bit down.
        let x = DoubleDouble { high: 1.0 + f64::EPSILON, low: f64::EPSILON / 4.0 };
        let [a, b, c, exponent] = power(x, 3);
        let mantissa = u128::from(c) << 64 | u128::from(b) << 32 | u128::from(a);
        assert_eq!(mantissa, (1 << 94) + (1 << 42) + (1 << 40));
        assert_eq!(exponent.cast_signed(), 3 - 94);
        let below = power(DoubleDouble { high: 1.0, low: -f64::EPSILON / 8.0 }, 0);
        assert_eq!(below[3].cast_signed(), -95);
    }
}
