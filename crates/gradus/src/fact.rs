//! Facts: what is known of a value before a graph runs.

use std::fmt;

use gradus_core::graph::{Extent, Type};
use gradus_core::{DType, Shape, Tensor, Value};

/// What is known of a value. Unknown is not an error: it only says less.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A tensor.
    Tensor(TensorFact),
    /// A list of values of which this is known.
    Sequence(Box<Fact>),
    /// A value that may be missing.
    Optional(Box<Fact>),
    /// Anything.
    Unknown,
}

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TensorFact {
    /// The element type.
    pub dtype: Option<DType>,
    /// The extents, as far as they are known; nothing if not even their number is.
    pub dims: Option<Vec<Option<usize>>>,
    /// The elements.
    pub elements: Option<Tensor>,
}

impl TensorFact {
    /// A tensor of that type and of those extents.
    pub fn new(dtype: Option<DType>, dims: Option<Vec<Option<usize>>>) -> TensorFact {
        TensorFact { dtype, dims, elements: None }
    }

    /// The number of axes.
    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// The shape, if all of it is known.
    pub fn shape(&self) -> Option<Shape> {
        let dims = self.dims.as_ref()?.iter().copied().collect::<Option<Vec<_>>>()?;
        Shape::new(dims).ok()
    }
}

impl Fact {
    /// A tensor of that type and of those extents.
    pub fn tensor(dtype: Option<DType>, dims: Option<Vec<Option<usize>>>) -> Fact {
        Fact::Tensor(TensorFact::new(dtype, dims))
    }

    /// A tensor of that type and shape.
    pub fn shaped(dtype: DType, shape: &Shape) -> Fact {
        Fact::tensor(Some(dtype), Some(shape.dims().iter().copied().map(Some).collect()))
    }

    /// All there is to know of a value.
    pub fn of(value: &Value) -> Fact {
        match value {
            Value::Tensor(tensor) => {
                let Fact::Tensor(fact) = Fact::shaped(tensor.dtype(), tensor.shape()) else {
                    return Fact::Unknown;
                };
                Fact::Tensor(TensorFact { elements: Some(tensor.clone()), ..fact })
            }
            Value::Sequence(values) => {
                let facts = values.iter().map(Fact::of).map(Fact::without_elements);
                Fact::Sequence(Box::new(facts.reduce(|a, b| a.join(&b)).unwrap_or(Fact::Unknown)))
            }
            Value::Optional(value) => Fact::Optional(Box::new(
                value.as_ref().map_or(Fact::Unknown, |value| Fact::of(value).without_elements()),
            )),
        }
    }

    /// What a declared type says.
    pub fn declared(declared: &Type) -> Fact {
        match declared {
            Type::Tensor(dtype, extents) => {
                let dim = |extent: &Extent| if let Extent::Known(len) = extent { Some(*len) } else { None };
                Fact::tensor(*dtype, extents.as_ref().map(|extents| extents.iter().map(dim).collect()))
            }
            Type::Sequence(inner) => Fact::Sequence(Box::new(Fact::declared(inner))),
            Type::Optional(inner) => Fact::Optional(Box::new(Fact::declared(inner))),
            Type::Other(_) => Fact::Unknown,
        }
    }

    /// What is known of a tensor; nothing if it is not known to be one.
    pub fn as_tensor(&self) -> TensorFact {
        if let Fact::Tensor(fact) = self { fact.clone() } else { TensorFact::default() }
    }

    /// The same, but for the elements.
    #[must_use]
    pub fn without_elements(self) -> Fact {
        match self {
            Fact::Tensor(fact) => Fact::Tensor(TensorFact { elements: None, ..fact }),
            other => other,
        }
    }

    /// What both say.
    #[must_use]
    pub fn join(&self, other: &Fact) -> Fact {
        match (self, other) {
            (Fact::Tensor(a), Fact::Tensor(b)) => {
                let dims = a.dims.as_ref().zip(b.dims.as_ref()).filter(|(a, b)| a.len() == b.len());
                let dims =
                    dims.map(|(a, b)| a.iter().zip(b).map(|(a, b)| if a == b { *a } else { None }).collect());
                let elements = a.elements.clone().filter(|elements| Some(elements) == b.elements.as_ref());
                Fact::Tensor(TensorFact { dtype: a.dtype.filter(|_| a.dtype == b.dtype), dims, elements })
            }
            (Fact::Sequence(a), Fact::Sequence(b)) => Fact::Sequence(Box::new(a.join(b))),
            (Fact::Optional(a), Fact::Optional(b)) => Fact::Optional(Box::new(a.join(b))),
            _ => Fact::Unknown,
        }
    }

    /// Whether a value is as the fact says.
    pub fn holds_for(&self, value: &Value) -> bool {
        match (self, value) {
            (Fact::Tensor(fact), Value::Tensor(tensor)) => {
                fact.dtype.is_none_or(|dtype| dtype == tensor.dtype())
                    && fact.elements.as_ref().is_none_or(|elements| elements == tensor)
                    && fact.dims.as_ref().is_none_or(|dims| {
                        dims.len() == tensor.shape().rank()
                            && dims
                                .iter()
                                .zip(tensor.shape().dims())
                                .all(|(dim, len)| dim.is_none_or(|dim| dim == *len))
                    })
            }
            (Fact::Sequence(fact), Value::Sequence(values)) => {
                values.iter().all(|value| fact.holds_for(value))
            }
            (Fact::Optional(fact), Value::Optional(value)) => {
                value.as_ref().is_none_or(|value| fact.holds_for(value))
            }
            (Fact::Unknown, _) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Tensor(fact) => {
                let extent = |dim: &Option<usize>| dim.map_or(Extent::Unknown, Extent::Known);
                let extents = fact.dims.as_ref().map(|dims| dims.iter().map(extent).collect());
                Type::Tensor(fact.dtype, extents).fmt(f)
            }
            Fact::Sequence(inner) => write!(f, "sequence of {inner}"),
            Fact::Optional(inner) => write!(f, "optional {inner}"),
            Fact::Unknown => f.write_str("unknown"),
        }
    }
}
