//! Known facts about values, and declared types, as the types of Python's package.

use std::collections::BTreeSet;

use gradus::DType;
use gradus::dim::{Dim as Engine, Symbols};
use gradus::fact::{Elements, Fact, TensorFact};
use gradus::graph::{DeclaredDim, Type};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::dim::{Dim, to_python};

/// A type of `gradus.TensorType`, or of its kin, from what it says.
fn typed<'py>(py: Python<'py>, class: &str, values: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    py.import("gradus._models")?.getattr(class)?.call1(values)
}

fn map_type(py: Python<'_>, key: Option<DType>, of: Option<DType>) -> PyResult<Bound<'_, PyAny>> {
    typed(py, "MapType", (key.map(DType::name), of.map(DType::name)).into_pyobject(py)?)
}

fn list<'py>(
    py: Python<'py>,
    dims: impl IntoIterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyTuple::new(py, dims.into_iter().collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// Maximum number of elements of a progression that are given one by one.
const MAX_ELEMENTS: i64 = 1024;

/// The number of elements of a tensor of one axis.
fn fact_len(fact: &Fact) -> Option<i64> {
    match fact.as_tensor()?.dims.as_deref()? {
        [len] => len.known(),
        _ => None,
    }
}

/// The known facts about a value.
pub(crate) fn fact_to_python<'py>(
    py: Python<'py>,
    symbols: &Symbols,
    fact: &Fact,
) -> PyResult<Bound<'py, PyAny>> {
    let none = || py.None().into_bound(py);
    match fact {
        Fact::Tensor(TensorFact { dtype, dims, elements }) => {
            let shape = match dims {
                Some(dims) => list(py, dims.iter().map(|&dim| to_python(py, symbols, dim)))?,
                None => none(),
            };
            let elements = match elements {
                Elements::Integers(all) => list(py, all.iter().map(|&dim| to_python(py, symbols, dim)))?,
                Elements::Progression(both) => match (both.as_ref(), fact_len(fact)) {
                    ((Engine::Known(first), Engine::Known(step)), Some(len)) if len <= MAX_ELEMENTS => {
                        list(py, (0..len).map(|i| Ok((first + i * step).into_pyobject(py)?.into_any())))?
                    }
                    _ => none(),
                },
                _ => none(),
            };
            typed(py, "TensorType", (dtype.map(DType::name), shape, elements).into_pyobject(py)?)
        }
        Fact::Map(key, of) => map_type(py, *key, *of),
        Fact::Sequence(sequence) => {
            let each = fact_to_python(py, symbols, &sequence.each)?;
            typed(py, "SequenceType", (each, to_python(py, symbols, sequence.len)?).into_pyobject(py)?)
        }
        Fact::Optional(optional) => {
            let value = fact_to_python(py, symbols, &optional.value)?;
            typed(py, "OptionalType", (value, optional.present).into_pyobject(py)?)
        }
        Fact::Unknown => typed(py, "UnknownType", PyTuple::empty(py)),
    }
}

/// The type that a model declares for a value.
pub(crate) fn type_to_python<'py>(py: Python<'py>, declared: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
    let none = || py.None().into_bound(py);
    match declared {
        Some(Type::Tensor(dtype, sizes)) => {
            let size = |size: &DeclaredDim| match size {
                DeclaredDim::Known(len) => Ok(len.into_pyobject(py)?.into_any()),
                DeclaredDim::Symbol(text) => match Dim::of_text(text, &BTreeSet::new()) {
                    Ok(dim) => Ok(Bound::new(py, dim)?.into_any()),
                    // A name that is no expression stands for itself.
                    Err(_) => Ok(PyString::new(py, text).into_any()),
                },
                DeclaredDim::Between(..) => Ok(PyString::new(py, &size.to_string()).into_any()),
                DeclaredDim::Unknown => Ok(none()),
            };
            let shape = match sizes {
                Some(sizes) => list(py, sizes.iter().map(size))?,
                None => none(),
            };
            typed(py, "TensorType", (dtype.map(DType::name), shape, none()).into_pyobject(py)?)
        }
        Some(Type::Sequence(each)) => {
            typed(py, "SequenceType", (type_to_python(py, Some(each))?, none()).into_pyobject(py)?)
        }
        Some(Type::Optional(value)) => {
            typed(py, "OptionalType", (type_to_python(py, Some(value))?, none()).into_pyobject(py)?)
        }
        Some(Type::Map(key, of)) => map_type(py, *key, of.dtype()),
        Some(Type::Other(_)) | None => typed(py, "UnknownType", PyTuple::empty(py)),
    }
}
