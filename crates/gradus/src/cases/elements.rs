//! Elements of test cases: the hard numbers of each type among plain ones.

use gradus_core::convert::{self, Rules};
use gradus_core::float::Format;
use gradus_core::{Class, DType, Number, Shape, Tensor};

/// Texts of elements.
const TEXTS: [&str; 6] = ["", "a", "A", "é", "b c", "a"];

/// The integers of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// Small ones of both signs.
    Small,
    /// Integers that may be indices of short axes.
    Index,
    /// The ends of the type, and numbers next to them and to zero.
    Ends,
}

/// The elements of the tensors of one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    whole: Whole,
    /// The number of elements of eight that are hard.
    hard: usize,
    /// True if few different numbers make ties.
    tied: bool,
}

impl Elements {
    /// The choices for a new node.
    pub(super) fn new(random: &mut fastrand::Rng) -> Elements {
        let whole = [Whole::Small, Whole::Index, Whole::Ends][random.usize(..3)];
        Elements { whole, hard: [0, 0, 1, 3, 8][random.usize(..5)], tied: random.usize(..4) == 0 }
    }

    /// The integers of the node's data.
    pub(super) fn whole(self) -> Whole {
        self.whole
    }

    /// A tensor of these sizes; zeros of types that are no numbers.
    pub(super) fn tensor(
        self,
        random: &mut fastrand::Rng,
        dtype: DType,
        sizes: &[usize],
        whole: Whole,
    ) -> Tensor {
        let shape = Shape::new(sizes).unwrap_or_default();
        let count = shape.len();
        let made = if dtype == DType::String {
            let texts = (0..count).map(|_| TEXTS[random.usize(..TEXTS.len())].into()).collect();
            Tensor::from_text(shape.clone(), texts)
        } else {
            let numbers: Vec<_> = (0..count).map(|_| self.number(random, dtype, whole)).collect();
            Tensor::from_numbers(dtype, shape.clone(), numbers, Rules::IEEE)
        };
        made.or_else(|_| Tensor::zeros(dtype, shape)).unwrap_or_else(|_| Tensor::scalar(0f32))
    }

    fn number(self, random: &mut fastrand::Rng, dtype: DType, whole: Whole) -> Number {
        match dtype.class() {
            Class::Bool => Number::Int(random.i128(0..2)),
            Class::Signed | Class::Unsigned => integer(random, dtype, whole),
            Class::Complex => Number::Complex(self.float(random, dtype), self.float(random, dtype)),
            _ => Number::Float(self.float(random, dtype)),
        }
    }

    fn float(self, random: &mut fastrand::Rng, dtype: DType) -> f64 {
        match () {
            () if random.usize(..8) < self.hard => hard(random, dtype.component()),
            () if self.tied => f64::from(random.i32(-1..2)),
            // Halves and quarters, which roundings to integers find hard, and numbers of all bits.
            () if random.bool() => f64::from(random.i32(-32..33)) / 4.0,
            () => random.f64() * 8.0 - 4.0,
        }
    }
}

fn integer(random: &mut fastrand::Rng, dtype: DType, whole: Whole) -> Number {
    let unsigned = dtype.class() == Class::Unsigned;
    match whole {
        Whole::Index => Number::Int(random.i128(0..3)),
        Whole::Small if unsigned => Number::Int(random.i128(0..7)),
        Whole::Small => Number::Int(random.i128(-4..5)),
        Whole::Ends => {
            // All ones, the sign alone, all but the sign, and their neighbours.
            let bits = dtype.bits();
            let top = 1u64 << (bits - 1);
            let codes =
                [0, 1, 2, 3, top, top - 1, top.wrapping_add(1), u64::MAX, u64::MAX - 1, random.u64(..)];
            convert::number(dtype, codes[random.usize(..codes.len())])
        }
    }
}

/// Infinities, NaN, zeros of both signs, the largest, the smallest, and ones next to 1.
fn hard(random: &mut fastrand::Rng, dtype: DType) -> f64 {
    let code = |number: f64| convert::code(dtype, Number::Float(number), Rules::IEEE);
    let of_code = |code: u64| convert::nearest_f64(convert::number(dtype, code));
    let fraction = Format::of(dtype).map_or(0, Format::precision).saturating_sub(1);
    match random.usize(..14) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => 0.0,
        4 => -0.0,
        5 => -1.0,
        // The smallest numbers, subnormal and normal, and the largest.
        6 => of_code(1),
        7 => -of_code(random.u64(1..4)),
        8 => of_code(1 << fraction),
        9 => of_code(code(f64::INFINITY).wrapping_sub(1)),
        10 => -of_code(code(f64::INFINITY).wrapping_sub(1)),
        11 => of_code(code(1.0) + 1),
        12 => of_code(code(1.0).wrapping_sub(1)),
        _ => of_code(random.u64(..)),
    }
}
