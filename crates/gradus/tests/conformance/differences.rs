//! Differences of values from upstream's.

use std::collections::BTreeMap;

use gradus::convert::{self, Rules};
use gradus::infer::{InferOptions, Inference, InputFact};
use gradus::{DType, Fact, Model, Number, Tensor, Value};

use super::lists::Bound;

/// How far floats are from upstream's, where all else is equal; nothing where they cannot be
/// compared, as infinities or floats of few bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) ulps: Option<u64>,
    pub(super) of_largest: Option<f64>,
}

pub(super) type Outcome = Result<Difference, String>;

impl Difference {
    pub(super) const NONE: Difference = Difference { ulps: Some(0), of_largest: Some(0.0) };

    pub(super) fn is_within(self, bound: Bound) -> bool {
        match bound {
            Bound::Ulps(bound) => self.ulps.is_some_and(|ulps| ulps <= bound),
            Bound::UlpsOfLargest(bound) => self.of_largest.is_some_and(|ulps| ulps <= bound),
        }
    }

    pub(super) fn max(self, other: Difference) -> Difference {
        Difference {
            ulps: self.ulps.zip(other.ulps).map(|(a, b)| a.max(b)),
            of_largest: self.of_largest.zip(other.of_largest).map(|(a, b)| a.max(b)),
        }
    }
}

/// The difference of values; NaN of any code is NaN.
pub(super) fn difference(got: &Value, want: &Value) -> Outcome {
    match (got, want) {
        (Value::Tensor(got), Value::Tensor(want))
            if got.dtype() == want.dtype() && got.shape() == want.shape() =>
        {
            difference_of_tensors(got, want).ok_or_else(|| format!("{got:?} instead of {want:?}"))
        }
        (Value::Sequence(got), Value::Sequence(want)) if got.len() == want.len() => got
            .iter()
            .zip(want)
            .try_fold(Difference::NONE, |all, (got, want)| Ok(all.max(difference(got, want)?))),
        (Value::Optional(None), Value::Optional(None)) => Ok(Difference::NONE),
        (Value::Optional(Some(got)), Value::Optional(Some(want))) => difference(got, want),
        _ => Err(format!("{got} instead of {want}")),
    }
}

/// The difference of tensors of one type and shape, if floats are all that differs.
pub(super) fn difference_of_tensors(got: &Tensor, want: &Tensor) -> Option<Difference> {
    let key = |number: Number| match number {
        Number::Float(x) if x.is_nan() => Number::Float(f64::NAN),
        other => other,
    };
    let (Ok(ours), Ok(theirs)) = (got.numbers(), want.numbers()) else {
        return (got == want).then_some(Difference::NONE);
    };
    let pairs: Vec<_> = ours.map(key).zip(theirs.map(key)).collect();
    if pairs.iter().all(|(got, want)| got == want) {
        return Some(Difference::NONE);
    }
    let dtype = want.dtype();
    if ![DType::F16, DType::BF16, DType::F32, DType::F64].contains(&dtype) {
        return None;
    }
    let code = |x: f64| i128::from(convert::code(dtype, Number::Float(x), Rules::IEEE));
    // Floats in their order are integers: the codes of the positive ones, and the negatives of the
    // others' magnitudes.
    let ordinal = |x: f64| if x.is_sign_negative() { -code(-x) } else { code(x) };
    let float = |number| if let Number::Float(x) = number { x } else { panic!("{dtype} has floats") };
    let largest = pairs.iter().map(|&(_, want)| float(want).abs()).fold(0.0, f64::max);
    let next = convert::nearest_f64(convert::number(dtype, u64::try_from(code(largest) + 1).unwrap()));
    let (mut ulps, mut distance) = (0, 0.0f64);
    for (got, want) in pairs {
        let (x, y) = (float(got), float(want));
        if got == want {
            continue;
        }
        if !x.is_finite() || !y.is_finite() {
            return None;
        }
        ulps = ulps.max(u64::try_from((ordinal(x) - ordinal(y)).abs()).unwrap());
        distance = distance.max((x - y).abs());
    }
    let of_largest = distance / (next - largest);
    // Zeros of either sign are one step apart, too.
    Some(Difference { ulps: Some(ulps.max(1)), of_largest: of_largest.is_finite().then_some(of_largest) })
}

/// A result that is right or wrong, as one of values that are equal or are not.
pub(super) fn equal((name, result): (String, Result<(), String>)) -> (String, Outcome) {
    (name, result.map(|()| Difference::NONE))
}

/// Returns true if values are the same, bit for bit.
pub(super) fn same(got: &Value, want: &Value) -> Result<(), String> {
    if difference(got, want)?.is_within(Bound::Ulps(0)) {
        return Ok(());
    }
    let shown =
        |value: &Value| value.tensor().map_or_else(|_| value.to_string(), |tensor| format!("{tensor:?}"));
    Err(format!("{} instead of {}", shown(got), shown(want)))
}

/// Infers a model from the inputs that are given alone, which no declared shape may narrow.
pub(super) fn inferred(model: &Model, inputs: BTreeMap<String, InputFact>) -> Result<Inference, String> {
    let mut options = InferOptions::default();
    options.sizes.inputs = inputs;
    options.ignore_declared = true;
    let inference = model.infer(&options).map_err(|error| error.to_string())?;
    match inference.problems().first() {
        Some(problem) => Err(format!("{}: {}", problem.place, problem.message)),
        None => Ok(inference),
    }
}

/// Returns true if what is inferred of a value tells its type and shape, and all that it tells is
/// so.
pub(super) fn agrees(
    inference: &Inference,
    fact: &Fact,
    value: &Value,
    complete: bool,
) -> Result<(), String> {
    let wrong = || Err(format!("{} instead of {value}", inference.describe(fact)));
    match (fact, value) {
        (Fact::Tensor(fact), Value::Tensor(tensor)) => {
            let dims = fact.dims.as_ref();
            let same = dims.is_none_or(|dims| {
                dims.len() == tensor.shape().rank()
                    && dims
                        .iter()
                        .zip(tensor.shape().to_i64())
                        .all(|(dim, len)| dim.known().is_none_or(|known| known == len))
            });
            let known = fact.dtype.is_some() && fact.shape().is_some();
            if !same || fact.dtype.is_some_and(|dtype| dtype != tensor.dtype()) || (complete && !known) {
                return wrong();
            }
            match fact.tensor() {
                Some(elements) => same_elements(&elements, tensor),
                None => Ok(()),
            }
        }
        (Fact::Sequence(list), Value::Sequence(values)) => {
            let len = i64::try_from(values.len()).unwrap();
            let items = list.items.as_deref().unwrap_or_default();
            if list.len.known().is_none_or(|known| known != len) && complete {
                return wrong();
            }
            let each = |i: usize| items.get(i).unwrap_or(&list.each);
            values.iter().enumerate().try_for_each(|(i, value)| agrees(inference, each(i), value, complete))
        }
        (Fact::Optional(optional), Value::Optional(value)) => match value {
            Some(value) => agrees(inference, &optional.value, value, complete),
            None => Ok(()),
        },
        (Fact::Unknown, _) if !complete => Ok(()),
        _ => wrong(),
    }
}

pub(super) fn same_elements(got: &Tensor, want: &Tensor) -> Result<(), String> {
    // Numbers rounded from float64 may differ from the reference in the last bit; onnx.toml lists
    // where.
    if want.dtype().is_float() {
        return Ok(());
    }
    same(&got.clone().into(), &want.clone().into())
}
