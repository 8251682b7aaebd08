//! Types as files declare them, with as much of the shape as they state.

use std::fmt;

use crate::dtype::DType;
use crate::shape::Shape;
use crate::value::Value;

/// The size of one axis as a file declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredDim {
    /// A known size.
    Known(usize),
    /// A name, or an expression of names: the same in all places.
    Symbol(Box<str>),
    /// At least the first; at most the second, if there is a second (OpenVINO).
    Between(usize, Option<usize>),
    /// Any.
    Unknown,
}

impl DeclaredDim {
    /// The size, if it is known.
    pub fn known(&self) -> Option<usize> {
        if let DeclaredDim::Known(len) = self { Some(*len) } else { None }
    }

    /// Returns true if an axis of this dimension may have that size.
    pub fn admits(&self, len: usize) -> bool {
        match *self {
            DeclaredDim::Known(known) => known == len,
            DeclaredDim::Between(least, most) => least <= len && most.is_none_or(|most| len <= most),
            DeclaredDim::Symbol(_) | DeclaredDim::Unknown => true,
        }
    }
}

impl fmt::Display for DeclaredDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredDim::Known(len) => write!(f, "{len}"),
            DeclaredDim::Symbol(name) => f.write_str(name),
            DeclaredDim::Between(least, None) => write!(f, "{least}.."),
            DeclaredDim::Between(least, Some(most)) => write!(f, "{least}..{most}"),
            DeclaredDim::Unknown => f.write_str("?"),
        }
    }
}

/// The type of a value as a file declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A tensor; element type and shape may be left open.
    Tensor(Option<DType>, Option<Vec<DeclaredDim>>),
    /// A list of values of one type.
    Sequence(Box<Type>),
    /// A value that may be missing.
    Optional(Box<Type>),
    /// Values under keys (ONNX): the type of the keys, and that of the values.
    Map(Option<DType>, Box<Type>),
    /// Something that Gradus keeps but does not compute with: a sparse tensor, an opaque type.
    Other(Box<str>),
}

impl Type {
    /// The type of that tensor.
    pub fn tensor(dtype: DType, shape: &Shape) -> Type {
        Type::Tensor(Some(dtype), Some(shape.dims().iter().map(|&len| DeclaredDim::Known(len)).collect()))
    }

    /// The sizes of a tensor whose shape is declared in full.
    pub fn known_dims(&self) -> Option<Vec<usize>> {
        let Type::Tensor(_, Some(sizes)) = self else { return None };
        sizes.iter().map(DeclaredDim::known).collect()
    }

    /// Replaces all symbols within.
    pub fn replace_symbols(&mut self, of: &impl Fn(&str) -> DeclaredDim) {
        match self {
            Type::Tensor(_, Some(sizes)) => {
                for size in sizes {
                    if let DeclaredDim::Symbol(text) = size {
                        *size = of(text);
                    }
                }
            }
            Type::Sequence(inner) | Type::Optional(inner) | Type::Map(_, inner) => inner.replace_symbols(of),
            Type::Tensor(_, None) | Type::Other(_) => {}
        }
    }

    /// The declared element type of the tensor, or of the tensors within.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Type::Tensor(dtype, _) => *dtype,
            Type::Sequence(inner) | Type::Optional(inner) | Type::Map(_, inner) => inner.dtype(),
            Type::Other(_) => None,
        }
    }

    /// Returns true if a value is of this type: sort, element type, rank and dimensions. Symbols
    /// admit any size.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Type::Tensor(dtype, sizes), Value::Tensor(tensor)) => {
                let dims = tensor.shape().dims();
                dtype.is_none_or(|dtype| dtype == tensor.dtype())
                    && sizes.as_ref().is_none_or(|sizes| {
                        sizes.len() == dims.len()
                            && sizes.iter().zip(dims).all(|(size, &len)| size.admits(len))
                    })
            }
            (Type::Sequence(inner), Value::Sequence(values)) => {
                values.iter().all(|value| inner.admits(value))
            }
            (Type::Optional(inner), Value::Optional(value)) => {
                value.as_ref().is_none_or(|value| inner.admits(value))
            }
            (Type::Map(key, of), Value::Map(map)) => {
                let alike = |declared: Option<DType>, dtype| declared.is_none_or(|known| known == dtype);
                alike(*key, map.keys().dtype()) && alike(of.dtype(), map.values().dtype())
            }
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(dtype, sizes) => {
                match dtype {
                    Some(dtype) => write!(f, "{dtype}")?,
                    None => f.write_str("tensor")?,
                }
                match sizes {
                    Some(sizes) => {
                        let sizes: Vec<_> = sizes.iter().map(DeclaredDim::to_string).collect();
                        write!(f, "[{}]", sizes.join(", "))
                    }
                    None => f.write_str("[...]"),
                }
            }
            Type::Sequence(inner) => write!(f, "sequence of {inner}"),
            Type::Optional(inner) => write!(f, "optional {inner}"),
            Type::Map(key, of) => {
                let name = |dtype: Option<DType>| dtype.map_or("?", DType::name);
                write!(f, "map from {} to {}", name(*key), name(of.dtype()))
            }
            Type::Other(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    #[test]
    fn a_type_admits_what_it_declares() {
        let sizes = vec![
            DeclaredDim::Symbol("batch".into()),
            DeclaredDim::Known(3),
            DeclaredDim::Between(1, Some(4)),
            DeclaredDim::Unknown,
        ];
        let declared = Type::Tensor(Some(DType::F32), Some(sizes));
        assert_eq!(declared.to_string(), "float32[batch, 3, 1..4, ?]");
        let of = |dims: &[usize]| {
            let shape = Shape::new(dims).unwrap();
            Value::from(Tensor::from_vec(shape.clone(), vec![0f32; shape.len()]).unwrap())
        };
        assert!(declared.admits(&of(&[7, 3, 4, 0])));
        assert!(!declared.admits(&of(&[7, 3, 5, 0])));
        assert!(!declared.admits(&of(&[7, 2, 4, 0])));
        assert!(!declared.admits(&of(&[7, 3, 4])));
        assert!(!declared.admits(&Value::from(Tensor::scalar(1i32))));
        assert!(Type::Sequence(Box::new(Type::Tensor(None, None))).admits(&Value::Sequence(vec![of(&[1])])));
    }
}
