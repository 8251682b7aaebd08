//! Facts: what is known of a value before a graph runs.
//!
//! Facts are sound and may be incomplete: an unknown dimension is a [fresh
//! symbol](crate::dim::Origin), an unknown rank is an absent list of dimensions, unknown elements
//! are [`Elements::Unknown`].

use std::sync::Arc;

use gradus_core::convert::{Rules, i64_of};
use gradus_core::float::Parts;
use gradus_core::tensor::byte_len;
use gradus_core::{Class, DType, Number, Shape, Tensor, Value};

use crate::dim::{Dim, Symbols};
use crate::schema::{Typed, ValueType};

/// Dimensions, or elements that are integers. Shared, because graphs repeat them.
pub type Dims = Arc<[Dim]>;

/// Facts about a value.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Fact {
    /// A tensor.
    Tensor(TensorFact),
    /// A list of values of one type.
    Sequence(Arc<SequenceFact>),
    /// A value that may be missing.
    Optional(Arc<OptionalFact>),
    /// Values under keys: the types of both.
    Map(Option<DType>, Option<DType>),
    /// Anything.
    #[default]
    Unknown,
}

/// Facts about a tensor.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TensorFact {
    /// The element type.
    pub dtype: Option<DType>,
    /// The dimensions; nothing if not even their number is known.
    pub dims: Option<Dims>,
    /// The elements.
    pub elements: Elements,
}

/// Facts about a list.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceFact {
    /// The fact about each of its values.
    pub each: Fact,
    /// Length of the sequence.
    pub len: Dim,
    /// Facts of its items, if they are known one by one.
    pub items: Option<Vec<Fact>>,
}

/// Facts about a value that may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionalFact {
    /// The fact about the value, if there is one.
    pub value: Fact,
    /// True if it is there, if that is known.
    pub present: Option<bool>,
}

/// Facts about a tensor's elements.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Elements {
    /// Nothing.
    #[default]
    Unknown,
    /// All of them.
    Known(Arc<Tensor>),
    /// Whole numbers, perhaps symbolic, in row-major order; of `bool`, 0 and 1.
    Integers(Dims),
    /// Fractions of integers, perhaps symbolic: floats in which shapes are computed.
    Fractions(Arc<[Fraction]>),
    /// The first element and the difference of neighbours in row-major order: costs nothing,
    /// however many there are.
    Progression(Arc<(Dim, Dim)>),
    /// The smallest and the largest of integers, in whatever order they are: of all, or of those at
    /// each index of the last axis.
    Extremes(Arc<[Extremes]>),
}

/// The smallest and the largest element of a tensor of integers that has elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extremes {
    /// The minimum.
    pub min: Dim,
    /// The maximum.
    pub max: Dim,
    /// True for the minimum, and for the maximum, if it is an element wherever there are any; if
    /// not, it is a bound of the elements.
    pub attained: [bool; 2],
}

impl Extremes {
    /// The elements in that range.
    pub fn elements(self) -> Elements {
        Elements::Extremes(Arc::new([self]))
    }

    /// The range of the elements of both.
    pub fn joined(self, other: Extremes, symbols: &mut Symbols) -> Option<Extremes> {
        Some(Extremes {
            min: symbols.min(self.min, other.min)?,
            max: symbols.max(self.max, other.max)?,
            attained: self.both_attained(other),
        })
    }

    /// The same range, of a tensor that may lack the elements at its ends.
    #[must_use]
    pub const fn of_some(self) -> Extremes {
        Extremes { attained: [false; 2], ..self }
    }

    /// Tells of the minimum and the maximum if they are elements in both ranges.
    pub fn both_attained(self, other: Extremes) -> [bool; 2] {
        [0, 1].map(|end| self.attained[end] && other.attained[end])
    }
}

/// A float that is a fraction of integers, perhaps symbolic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// The numerator.
    pub over: Dim,
    /// The denominator, above zero.
    pub under: i64,
    /// True if the float may be the fraction rounded. Its floor and ceiling are the fraction's,
    /// nothing else.
    pub rounded: bool,
}

impl Fraction {
    /// The fraction that is an integer.
    pub const fn whole(dim: Dim) -> Fraction {
        Fraction { over: dim, under: 1, rounded: false }
    }
}

/// A finite float as a fraction, if both parts fit.
pub fn fraction_of(number: Number) -> Option<Fraction> {
    let value = match number {
        Number::Int(value) => {
            return i64::try_from(value).ok().map(|value| Fraction::whole(Dim::Known(value)));
        }
        Number::Float(value) if value.is_finite() => value,
        _ => return None,
    };
    let Parts { negative, mantissa, exponent, .. } = Parts::of_float(value);
    if mantissa == 0 {
        return Some(Fraction::whole(Dim::ZERO));
    }
    let zeros = mantissa.trailing_zeros();
    let (mantissa, exponent) =
        (i64::try_from(mantissa >> zeros).ok()?, exponent + i32::try_from(zeros).ok()?);
    let mantissa = if negative { -mantissa } else { mantissa };
    let power = 1i64.checked_shl(exponent.unsigned_abs()).filter(|power| *power > 0)?;
    if exponent >= 0 {
        Some(Fraction::whole(Dim::Known(mantissa.checked_mul(power)?)))
    } else {
        Some(Fraction { over: Dim::Known(mantissa), under: power, rounded: false })
    }
}

/// Maximum number of elements of integer tensors that facts hold one by one.
pub const MAX_INTEGERS: usize = 1024;

impl TensorFact {
    /// Returns true if the elements are known one by one, be it as expressions.
    pub fn has_elements(&self) -> bool {
        matches!(self.elements, Elements::Known(_) | Elements::Integers(_) | Elements::Fractions(_))
    }

    /// A tensor of that type and of those dimensions.
    pub fn new(dtype: Option<DType>, dims: Option<Dims>) -> TensorFact {
        TensorFact { dtype, dims, elements: Elements::Unknown }
    }

    /// The number of axes.
    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(|dims| dims.len())
    }

    /// The shape, if all of it is known.
    pub fn shape(&self) -> Option<Shape> {
        known_shape(self.dims.as_ref()?)
    }

    /// All there is to know of a tensor.
    pub fn of(tensor: Tensor) -> TensorFact {
        let dims = tensor.shape().dims().iter().map(|&len| Dim::from(len)).collect();
        let dtype = tensor.dtype();
        let whole = dtype.is_integer() || dtype == DType::Bool;
        let elements = if whole && tensor.len() <= MAX_INTEGERS {
            integers(&tensor).map(Elements::Integers)
        } else {
            None
        };
        let elements = elements.unwrap_or_else(|| Elements::Known(Arc::new(tensor)));
        TensorFact { dtype: Some(dtype), dims: Some(dims), elements }
    }

    /// Returns true if all elements are known numbers.
    pub fn is_constant(&self) -> bool {
        match &self.elements {
            Elements::Known(_) => true,
            Elements::Integers(all) => all.iter().all(|dim| dim.known().is_some()),
            Elements::Unknown | Elements::Fractions(_) | Elements::Progression(_) | Elements::Extremes(_) => {
                false
            }
        }
    }

    /// The tensor, if all elements are known and take at most `max_bytes` bytes; progressions are
    /// written out.
    pub fn tensor_within(&self, max_bytes: u64) -> Option<Tensor> {
        let (dtype, shape) = (self.dtype?, self.shape()?);
        if byte_len(dtype, &shape) > u128::from(max_bytes) {
            return None;
        }
        let Elements::Progression(both) = &self.elements else { return self.tensor() };
        let (first, step) = (both.0.known()?, both.1.known()?);
        let element = |i: usize| i128::from(first) + i128::from(step) * i128::from(i64_of(i));
        // Floats are exact up to here, however they are added up.
        let exact = |i: &usize| element(*i).abs() < 1 << 24;
        let whole = dtype.is_integer() || dtype == DType::Bool;
        let known = whole || (dtype == DType::F32 && [0, shape.len()].iter().all(exact));
        let numbers = (0..shape.len()).map(|i| Number::Int(element(i)));
        known.then(|| Tensor::from_numbers(dtype, shape.clone(), numbers, Rules::IEEE).ok()).flatten()
    }

    /// The tensor, if all elements are known; a progression is not written out.
    pub fn tensor(&self) -> Option<Tensor> {
        match &self.elements {
            Elements::Known(tensor) => Some((**tensor).clone()),
            Elements::Integers(all) => {
                let numbers = all.iter().map(|dim| dim.known().map(|value| Number::Int(value.into())));
                let numbers = numbers.collect::<Option<Vec<_>>>()?;
                Tensor::from_numbers(self.dtype?, self.shape()?, numbers, Rules::IEEE).ok()
            }
            Elements::Unknown | Elements::Fractions(_) | Elements::Progression(_) | Elements::Extremes(_) => {
                None
            }
        }
    }
}

/// The elements of a small tensor of integers; nothing if one does not fit 64 bits with a
/// sign.
fn integers(tensor: &Tensor) -> Option<Dims> {
    let whole = |number| match number {
        Number::Int(value) => i64::try_from(value).ok().map(Dim::Known),
        _ => None,
    };
    tensor.numbers().ok()?.map(whole).collect()
}

/// A shape, if all of it is known.
pub fn known_shape(dims: &[Dim]) -> Option<Shape> {
    let sizes = dims.iter().map(|dim| dim.known().and_then(gradus_core::convert::usize_of_i64));
    Shape::new(sizes.collect::<Option<Vec<_>>>()?).ok()
}

/// Returns true if each integer that an element type holds lies from the first to the second
/// of these.
pub fn range_of(dtype: DType) -> Option<(i64, i64)> {
    let bits = i32::try_from(dtype.bits()).ok()?;
    let power = |bits: i32| 1i64.checked_shl(bits.unsigned_abs());
    match dtype.class() {
        Class::Bool => Some((0, 1)),
        Class::Signed if bits == 64 => Some((i64::MIN, i64::MAX)),
        Class::Signed => Some((-power(bits - 1)?, power(bits - 1)? - 1)),
        Class::Unsigned if bits == 64 => Some((0, i64::MAX)),
        Class::Unsigned => Some((0, power(bits)? - 1)),
        _ => None,
    }
}

impl Typed for Fact {
    fn value_type(&self) -> ValueType {
        match self {
            Fact::Tensor(tensor) => {
                tensor.dtype.map_or(ValueType::Unknown, |dtype| ValueType::Tensor(Some(dtype)))
            }
            Fact::Sequence(sequence) if matches!(sequence.each, Fact::Map(..)) => ValueType::Map,
            Fact::Sequence(sequence) => ValueType::Sequence(sequence.each.dtype()),
            Fact::Map(..) => ValueType::Map,
            Fact::Optional(optional) if optional.present == Some(false) => ValueType::Optional(None),
            Fact::Optional(optional) => ValueType::Optional(Some(Box::new(optional.value.value_type()))),
            Fact::Unknown => ValueType::Unknown,
        }
    }
}

impl Fact {
    /// The value, if all of it is known, with tensors of at most that many bytes.
    pub fn value_within(&self, max_bytes: u64) -> Option<Value> {
        let value_of = |fact: &Fact| fact.value_within(max_bytes);
        match self {
            Fact::Tensor(tensor) => tensor.tensor_within(max_bytes).map(Value::from),
            Fact::Sequence(sequence) => {
                Some(Value::Sequence(sequence.items.as_ref()?.iter().map(value_of).collect::<Option<_>>()?))
            }
            Fact::Optional(optional) => {
                if optional.present? {
                    Some(Value::Optional(Some(Box::new(value_of(&optional.value)?))))
                } else {
                    Some(Value::Optional(None))
                }
            }
            Fact::Map(..) | Fact::Unknown => None,
        }
    }

    /// A tensor of those dimensions, of a type that the signature tells.
    pub fn shaped(dims: impl Into<Dims>) -> Fact {
        Fact::Tensor(TensorFact::new(None, Some(dims.into())))
    }

    /// A tensor of that type and of those dimensions.
    pub fn typed(dtype: DType, dims: impl Into<Dims>) -> Fact {
        Fact::Tensor(TensorFact::new(Some(dtype), Some(dims.into())))
    }

    /// A tensor of those dimensions, and of that type if there is one.
    pub fn tensor(dtype: Option<DType>, dims: impl Into<Dims>) -> Fact {
        Fact::Tensor(TensorFact::new(dtype, Some(dims.into())))
    }

    /// All there is to know of a value.
    pub fn of(value: &Value) -> Fact {
        match value {
            Value::Tensor(tensor) => Fact::Tensor(TensorFact::of(tensor.clone())),
            Value::Sequence(values) => {
                let items: Vec<_> = values.iter().map(Fact::of).collect();
                let each = match &items[..] {
                    [first, rest @ ..] if rest.iter().all(|item| item == first) => first.clone(),
                    _ => Fact::tensor_type(value.dtype()),
                };
                Fact::Sequence(Arc::new(SequenceFact {
                    each,
                    len: Dim::Known(i64_of(items.len())),
                    items: Some(items),
                }))
            }
            Value::Optional(inner) => Fact::Optional(Arc::new(OptionalFact {
                value: inner.as_ref().map_or(Fact::Unknown, |inner| Fact::of(inner)),
                present: Some(inner.is_some()),
            })),
            Value::Map(map) => Fact::Map(Some(map.keys().dtype()), Some(map.values().dtype())),
        }
    }

    /// A tensor of that type, of which nothing else is known.
    pub fn tensor_type(dtype: Option<DType>) -> Fact {
        Fact::Tensor(TensorFact::new(dtype, None))
    }

    /// Facts about a tensor, if it is known to be one.
    pub fn as_tensor(&self) -> Option<&TensorFact> {
        if let Fact::Tensor(fact) = self { Some(fact) } else { None }
    }

    /// Returns true if this is a tensor whose rank is not known.
    pub fn is_of_unknown_rank(&self) -> bool {
        self.as_tensor().is_some_and(|tensor| tensor.dims.is_none())
    }

    /// This fact, without its elements.
    #[must_use]
    pub fn without_elements(self) -> Fact {
        match self {
            Fact::Tensor(fact) => Fact::Tensor(TensorFact { elements: Elements::Unknown, ..fact }),
            other => other,
        }
    }

    /// The element type of the tensors within.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Fact::Tensor(fact) => fact.dtype,
            Fact::Sequence(fact) => fact.each.dtype(),
            Fact::Optional(fact) => fact.value.dtype(),
            Fact::Map(_, of) => *of,
            Fact::Unknown => None,
        }
    }
}
