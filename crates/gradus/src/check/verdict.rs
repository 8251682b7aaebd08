//! Verdicts about differences of nodes: rounding, or more than arithmetic allows.

use gradus_core::convert::{Rules, cast, code, u64_of};
use gradus_core::{DType, Number, Tensor, Value, display};

use super::allowed::{Margin, Unit, numbers};
use super::compared::type_of;

/// The label of a value that a runtime computed, next to the exact result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NodeLabel {
    /// All elements have the same bits.
    Exact,
    /// No error is larger than the arithmetic of the type allows.
    Rounding,
    /// Elements differ, and no bound of their errors is known.
    Unbounded,
    /// An error is larger than the arithmetic of the type allows.
    Beyond,
}

gradus_core::names!(NodeLabel { Exact = "exact", Rounding = "rounding", Unbounded = "unbounded", Beyond = "beyond" });

/// A known cause of errors, by the pattern of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorPattern {
    /// The type or the shape is another.
    OtherType,
    /// NaN or an infinity in place of a number, or a number in place of one.
    NotFinite,
    /// Zeros in place of subnormal numbers.
    FlushedSubnormals,
    /// All results are numbers of bfloat16, or most errors are of its size.
    Bfloat16,
    /// All results are numbers of TF32, or most errors are of its size and that of float16.
    Tf32,
    /// All results are numbers of float16.
    Float16,
}

gradus_core::names!(ErrorPattern {
    OtherType = "other type", NotFinite = "not finite", FlushedSubnormals = "flushed subnormals",
    Bfloat16 = "bfloat16", Tf32 = "tf32", Float16 = "float16",
});

/// The element whose error is the largest part of what is allowed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorstElement {
    /// Its index, in row-major order.
    pub index: u64,
    /// The exact element.
    pub exact: String,
    /// The element of the runtime.
    pub given: String,
    /// The error that is allowed.
    pub bound: f64,
}

/// The errors of a value next to those that are allowed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The label, which says whether the errors are those of rounding.
    pub label: NodeLabel,
    /// The largest error as a part of what is allowed; infinite where nothing is allowed.
    pub ratio: f64,
    /// The element of that error, where elements have bounds.
    pub worst: Option<WorstElement>,
    /// The cause of errors beyond the bound, if their pattern tells it.
    pub pattern: Option<ErrorPattern>,
}

impl Verdict {
    /// The verdict about a value of equal bits.
    pub(super) const EXACT: Verdict =
        Verdict { label: NodeLabel::Exact, ratio: 0.0, worst: None, pattern: None };

    /// The verdict about a value that differs.
    pub(super) fn of(exact: &Value, given: &Value, margin: &Margin) -> Verdict {
        let beyond =
            |pattern| Verdict { label: NodeLabel::Beyond, ratio: f64::INFINITY, worst: None, pattern };
        let (Value::Tensor(a), Value::Tensor(b)) = (exact, given) else {
            return if type_of(exact) == type_of(given) {
                Verdict { label: NodeLabel::Unbounded, ..Verdict::EXACT }
            } else {
                beyond(Some(ErrorPattern::OtherType))
            };
        };
        if a.dtype() != b.dtype() || a.shape() != b.shape() {
            return beyond(Some(ErrorPattern::OtherType));
        }
        let elements = numbers(exact).zip(numbers(given));
        let Some((x, y)) = elements else {
            return match margin {
                Margin::None => beyond(None),
                _ => Verdict { label: NodeLabel::Unbounded, ..Verdict::EXACT },
            };
        };
        Verdict::of_elements([a, b], &x, &y, margin)
    }

    fn of_elements([a, b]: [&Tensor; 2], x: &[f64], y: &[f64], margin: &Margin) -> Verdict {
        let errors = Errors::new(a.dtype(), x, y, margin);
        let reduced = errors.represented(b);
        if *margin == Margin::Unknown && reduced.is_none() {
            return Verdict { label: NodeLabel::Unbounded, ..Verdict::EXACT };
        }
        let (mut ratio, mut at) = (0.0, None);
        for index in 0..x.len() {
            let part = errors.part(index);
            if at.is_none() || part > ratio {
                (ratio, at) = (part, Some(index));
            }
        }
        let is_beyond = ratio > 1.0 || reduced.is_some();
        let worst = at.filter(|_| *margin != Margin::Unknown).map(|index| WorstElement {
            index: u64_of(index),
            exact: display::element(a, index),
            given: display::element(b, index),
            bound: errors.bound(index),
        });
        Verdict {
            label: if is_beyond { NodeLabel::Beyond } else { NodeLabel::Rounding },
            ratio,
            worst,
            pattern: if is_beyond { reduced.or_else(|| errors.pattern()) } else { None },
        }
    }

    /// Keeps the worse one of two runs.
    pub(super) fn add(&mut self, other: Verdict) {
        if other.rank() > self.rank() {
            *self = other;
        }
    }

    /// The order of verdicts, the worst last.
    pub(super) fn rank(&self) -> (NodeLabel, u64) {
        // Bits of numbers of at least zero are in their order.
        (self.label, self.ratio.to_bits())
    }
}

/// Exact elements of a type, those of a runtime, and what is allowed between them.
struct Errors<'a> {
    dtype: DType,
    unit: Option<Unit>,
    exact: &'a [f64],
    given: &'a [f64],
    margin: &'a Margin,
}

impl<'a> Errors<'a> {
    fn new(dtype: DType, exact: &'a [f64], given: &'a [f64], margin: &'a Margin) -> Errors<'a> {
        Errors { dtype, unit: Unit::of(dtype), exact, given, margin }
    }

    /// The error that is allowed: the bound, and the rounding of the exact element itself.
    fn bound(&self, index: usize) -> f64 {
        match self.margin {
            Margin::None => 0.0,
            Margin::Each(all) => {
                all[index] + self.unit.map_or(0.0, |unit| unit.relative * self.exact[index].abs())
            }
            Margin::Unknown => f64::INFINITY,
        }
    }

    /// The error as a part of what is allowed.
    fn part(&self, index: usize) -> f64 {
        let (x, y, bound) = (self.exact[index], self.given[index], self.bound(index));
        if x == y || (x.is_nan() && y.is_nan()) {
            return 0.0;
        }
        match (x.is_finite() && y.is_finite(), bound) {
            (_, f64::INFINITY) => 0.0,
            (true, bound) => (x - y).abs() / bound,
            (false, _) => f64::INFINITY,
        }
    }

    /// The shorter type of which all elements of the runtime are, where most exact ones are not.
    fn represented(&self, given: &Tensor) -> Option<ErrorPattern> {
        /// Elements that are no accident.
        const FEW: usize = 8;
        if self.dtype != DType::F32 {
            return None;
        }
        let short = |bits: u32| {
            move |x: f64| code(DType::F32, Number::Float(x), Rules::IEEE).trailing_zeros() >= bits
        };
        let half = cast(given, DType::F16, Rules::IEEE).and_then(|half| cast(&half, DType::F32, Rules::IEEE));
        let is_half = half.is_ok_and(|half| half.bytes() == given.bytes());
        // Bits of a mantissa that float32 has beyond the shorter type.
        let kinds = [(16, ErrorPattern::Bfloat16), (13, ErrorPattern::Tf32)];
        let all = |bits| self.given.iter().all(|&x| short(bits)(x));
        let (bits, pattern) = kinds.into_iter().find(|(bits, _)| all(*bits))?;
        let others = self.exact.iter().filter(|&&x| x.is_finite() && !short(bits)(x)).count();
        let pattern = if is_half && pattern == ErrorPattern::Tf32 { ErrorPattern::Float16 } else { pattern };
        (others >= FEW && 2 * others > self.exact.len()).then_some(pattern)
    }

    /// The cause that the errors beyond the bound tell.
    fn pattern(&self) -> Option<ErrorPattern> {
        let beyond: Vec<_> = (0..self.exact.len()).filter(|&index| self.part(index) > 1.0).collect();
        let pairs = || beyond.iter().map(|&index| (self.exact[index], self.given[index]));
        if pairs().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
            return Some(ErrorPattern::NotFinite);
        }
        let normal = match self.dtype {
            DType::F16 => 2f64.powi(-14),
            DType::F64 => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        if pairs().all(|(x, y)| x.abs() < normal && y == 0.0) {
            return Some(ErrorPattern::FlushedSubnormals);
        }
        if self.dtype != DType::F32 || 2 * beyond.len() <= self.exact.len() {
            return None;
        }
        // The mean square of errors next to that of the elements.
        let square = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
        let size = (square(&mut pairs().map(|(x, y)| x - y)) / square(&mut pairs().map(|(x, _)| x))).sqrt();
        match size.log2() {
            -11.0..=-7.0 => Some(ErrorPattern::Bfloat16),
            -14.5..-11.0 => Some(ErrorPattern::Tf32),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(exact: &[f32], given: &[f32], margin: f64) -> Verdict {
        let [a, b] = [exact, given].map(|all| Value::from(Tensor::vector(all)));
        Verdict::of(&a, &b, &Margin::Each(vec![margin; exact.len()]))
    }

    #[test]
    fn patterns_are_told_from_each_other() {
        let exact: Vec<f32> = (1..40u8).map(|x| 1.0 / f32::from(x) + 0.1).collect();
        let cut = |bits: u32| -> Vec<f32> {
            exact.iter().map(|x| f32::from_bits(x.to_bits() >> bits << bits)).collect()
        };
        let scaled = |by: f32| -> Vec<f32> { exact.iter().map(|x| x * (1.0 + by)).collect() };
        for (given, label, pattern) in [
            (cut(16), NodeLabel::Beyond, Some(ErrorPattern::Bfloat16)),
            (cut(13), NodeLabel::Beyond, Some(ErrorPattern::Float16)),
            (scaled(0.003), NodeLabel::Beyond, Some(ErrorPattern::Bfloat16)),
            (scaled(0.0002), NodeLabel::Beyond, Some(ErrorPattern::Tf32)),
            (scaled(0.1), NodeLabel::Beyond, None),
            (scaled(1e-7), NodeLabel::Rounding, None),
        ] {
            let found = verdict(&exact, &given, 1e-6);
            assert_eq!((found.label, found.pattern), (label, pattern), "{found:?}");
        }
        let tiny = verdict(&[1.0, 1e-40], &[1.0, 0.0], 1e-45);
        assert_eq!(tiny.pattern, Some(ErrorPattern::FlushedSubnormals));
        let lost = verdict(&[1.0, 2.0], &[1.0, f32::NAN], 1.0);
        assert_eq!((lost.label, lost.pattern), (NodeLabel::Beyond, Some(ErrorPattern::NotFinite)));
    }

    #[test]
    fn the_worst_element_is_the_one_of_the_largest_part() {
        let found = verdict(&[1000.0, 1.0], &[1000.0001, 1.5], 0.25);
        let worst = found.worst.unwrap();
        assert_eq!((worst.index, &*worst.exact, &*worst.given), (1, "1.0", "1.5"));
        assert!(found.ratio > 1.9 && found.ratio < 2.1 && found.label == NodeLabel::Beyond);
        // Where the type may be exceeded, anything is rounding.
        let any = verdict(&[1.0], &[f32::INFINITY], f64::INFINITY);
        assert_eq!((any.label, any.ratio), (NodeLabel::Rounding, 0.0));
    }
}
