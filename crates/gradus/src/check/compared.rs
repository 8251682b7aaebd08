//! The differences between two results of one output.

use gradus_core::convert::{nearest_f64, u64_of};
use gradus_core::graph::Type;
use gradus_core::{DType, Limits, Number, Shape, Tensor, Value, display};
use gradus_profiles::distance;

/// The comparison of an output over all runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputCheck {
    /// The name in the first model.
    pub name: String,
    /// The elements that were compared.
    pub elements: u64,
    /// Number of elements that differ.
    pub differing: u64,
    /// The largest difference in units in the last place; of NaN, text and complex numbers, the
    /// largest integer.
    pub ulps: u64,
    /// The largest difference, as a part of the largest magnitude of the output in its run; infinite
    /// where one of two numbers is NaN or infinite.
    pub relative: f64,
    /// The first element that differs.
    pub first: Option<ElementDifference>,
    /// The types of both models in the first run in which types or shapes differ.
    pub types: Option<(String, String)>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElementDifference {
    /// Its index, in row-major order.
    pub index: u64,
    /// The element of the first model.
    pub before: String,
    /// The element of the second model.
    pub after: String,
}

impl OutputCheck {
    /// A check of an output that compared nothing yet.
    pub(crate) fn new(name: &str) -> OutputCheck {
        OutputCheck {
            name: name.to_owned(),
            elements: 0,
            differing: 0,
            ulps: 0,
            relative: 0.0,
            first: None,
            types: None,
        }
    }

    /// Returns true if type, shape and bits are the same.
    pub fn is_same(&self) -> bool {
        self.differing == 0 && self.types.is_none()
    }

    /// The order of comparisons by what they mean: other types and texts, then the largest
    /// difference relative to the largest magnitude, then that in units in the last place.
    pub(super) fn severity(&self) -> (bool, u64, u64) {
        let apart = self.types.is_some() || (self.ulps == u64::MAX && self.relative == 0.0);
        // Bits of numbers of at least zero are in their order.
        (apart, self.relative.to_bits(), self.ulps)
    }

    /// Compares the results of one run.
    pub(crate) fn add(&mut self, before: &Value, after: &Value) {
        match (before, after) {
            (Value::Tensor(a), Value::Tensor(b)) if a.dtype() == b.dtype() && a.shape() == b.shape() => {
                self.tensors(a, b);
            }
            (Value::Sequence(a), Value::Sequence(b)) if a.len() == b.len() => {
                a.iter().zip(b).for_each(|(a, b)| self.add(a, b));
            }
            (Value::Map(a), Value::Map(b)) if a.keys() == b.keys() => {
                self.add(&a.values().into(), &b.values().into());
            }
            // Items of one shape, and the values of maps of the same keys, are the slices of a
            // tensor where there are no sequences and maps.
            (Value::Sequence(items), Value::Tensor(slices))
                if slices.shape().dims().first() == Some(&items.len()) =>
            {
                for (index, item) in items.iter().enumerate() {
                    let (item, slice) = alike(item, slices, index);
                    self.add(&item, &slice);
                }
            }
            (Value::Tensor(slices), Value::Sequence(items))
                if slices.shape().dims().first() == Some(&items.len()) =>
            {
                for (index, item) in items.iter().enumerate() {
                    let (item, slice) = alike(item, slices, index);
                    self.add(&slice, &item);
                }
            }
            (Value::Optional(None), Value::Optional(None)) => {}
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => self.add(a, b),
            _ => {
                self.types.get_or_insert_with(|| (type_of(before), type_of(after)));
            }
        }
    }

    fn tensors(&mut self, a: &Tensor, b: &Tensor) {
        self.elements += u64_of(a.shape().len());
        if a.dtype() == DType::String {
            let (Ok(texts), Ok(others)) = (a.texts(), b.texts()) else { return };
            for (index, _) in texts.iter().zip(others).enumerate().filter(|(_, (a, b))| a != b) {
                self.differs(index, u64::MAX, a, b);
            }
            return;
        }
        if a.bytes() == b.bytes() {
            return;
        }
        let (Ok(numbers), Ok(others)) = (a.numbers(), b.numbers()) else { return };
        let (mut largest, mut difference) = (0f64, 0f64);
        for (index, (x, y)) in numbers.zip(others).enumerate() {
            let [near, other] = [x, y].map(parts);
            let size = near[0].hypot(near[1]);
            if size.is_finite() {
                largest = largest.max(size);
            }
            if same(x, y) {
                continue;
            }
            let apart = (near[0] - other[0]).hypot(near[1] - other[1]);
            difference = if apart.is_nan() { f64::INFINITY } else { difference.max(apart) };
            let ulps = distance(a.dtype(), x, y).unwrap_or(u64::MAX);
            self.differs(index, ulps, a, b);
        }
        if difference > 0.0 {
            self.relative = self.relative.max(difference / largest);
        }
    }

    fn differs(&mut self, index: usize, ulps: u64, a: &Tensor, b: &Tensor) {
        self.differing += 1;
        self.ulps = self.ulps.max(ulps);
        if self.first.is_none() {
            let [before, after] = [a, b].map(|tensor| display::element(tensor, index));
            self.first = Some(ElementDifference { index: u64_of(index), before, after });
        }
    }
}

/// An item of a sequence, and the slice of a tensor along its first axis that takes its place. Of a
/// map, the values; a slice without axes has one then.
fn alike(item: &Value, tensor: &Tensor, index: usize) -> (Value, Value) {
    let dims = tensor.shape().dims().get(1..).unwrap_or_default();
    let len: usize = dims.iter().product();
    let (item, dims) = match item {
        Value::Map(map) if dims.is_empty() => (map.values().into(), &[1][..]),
        Value::Map(map) => (map.values().into(), dims),
        item => (item.clone(), dims),
    };
    let elements: Vec<_> = (index * len..(index + 1) * len).collect();
    let slice = Shape::new(dims).and_then(|shape| tensor.picked(shape, &elements, &Limits::DEFAULT));
    (item, slice.unwrap_or_else(|_| tensor.clone()).into())
}

/// The type of a value, in words.
pub(super) fn type_of(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => Type::tensor(tensor.dtype(), tensor.shape()).to_string(),
        Value::Sequence(values) => format!("sequence of {} values", values.len()),
        Value::Optional(value) => format!("optional, {}", if value.is_some() { "given" } else { "empty" }),
        Value::Map(_) => value.to_string(),
    }
}

/// The real and the imaginary part of a number.
fn parts(number: Number) -> [f64; 2] {
    match number {
        Number::Complex(re, im) => [re, im],
        real => [nearest_f64(real), 0.0],
    }
}

/// Returns true for numbers of equal bits, and for two NaNs.
fn same(a: Number, b: Number) -> bool {
    let alike = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => alike(a, b),
        (Number::Complex(re, im), Number::Complex(other_re, other_im)) => {
            alike(re, other_re) && alike(im, other_im)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use gradus_core::convert::Rules;

    use super::*;

    /// Numbers that larger ones cancel to are far apart in units in the last place, and near
    /// relative to the others; NaN, and complex numbers that differ, are not near.
    #[test]
    fn comparisons_are_ordered_by_the_difference_beside_the_largest_magnitude() {
        let check = |before: &[f32], after: &[f32]| {
            let mut check = OutputCheck::new("y");
            check.add(&Tensor::vector(before).into(), &Tensor::vector(after).into());
            check
        };
        let cancelled = check(&[1000.0, 1e-7], &[1000.0, 3e-7]);
        let rounded = check(&[1000.0, 1.0], &[1000.0, 1.01]);
        let lost = check(&[1000.0, 1.0], &[1000.0, f32::NAN]);
        let other = check(&[1.0], &[1.0, 2.0]);
        assert!(cancelled.ulps > rounded.ulps);
        let all = [&check(&[1.0], &[1.0]), &cancelled, &rounded, &lost, &other];
        assert!(all.is_sorted_by_key(|check| check.severity()), "{all:?}");
        assert!((rounded.relative - 1e-5).abs() < 1e-9 && lost.relative.is_infinite());
        let complex = |im: f64| {
            let numbers = [Number::Complex(3.0, im)].into_iter();
            Value::from(Tensor::from_numbers(DType::C64, Shape::vector(1), numbers, Rules::IEEE).unwrap())
        };
        let mut turned = OutputCheck::new("y");
        turned.add(&complex(4.0), &complex(4.5));
        assert!((turned.relative - 0.1).abs() < 1e-9, "{turned:?}");
    }
}
