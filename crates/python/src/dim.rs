//! Dimensions: numbers, and expressions of symbols that print and evaluate.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use gradus::dim::{Dim as Engine, Symbols};
use gradus::fact::{Elements, Fact, TensorFact};
use gradus::graph::{DeclaredDim, Type};
use gradus::{Kind, convert};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use crate::error::{OrRaise, error, mismatch, type_name};

/// An expression of symbols: an size, or an element, that is not known as a number.
///
/// Two are equal if they have one canonical form, whatever order they are written in.
///
/// Example:
///     >>> import gradus
///     >>> dim = gradus.Dim("2*(n + 1)")
///     >>> str(dim), dim.symbols, dim.evaluate(n=3), dim == gradus.Dim("n + 2 + n")
///     ('2*n + 2', ['n'], 8, True)
#[pyclass(frozen, eq, hash, module = "gradus._native", name = "Dim")]
#[derive(Clone, Debug)]
pub(crate) struct Dim {
    text: String,
    /// The same with symbols in the order of their names.
    canonical: String,
}

impl PartialEq for Dim {
    fn eq(&self, other: &Dim) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Dim {}

impl Hash for Dim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl Dim {
    /// An expression as it is printed.
    fn printed(text: String) -> PyResult<Dim> {
        let mut symbols = Symbols::default();
        for name in names(&text)? {
            symbols.named(&name);
        }
        let dim = symbols.parse(&text).or_raise()?;
        let canonical = symbols.print(dim).to_string();
        Ok(Dim { text, canonical })
    }
}

/// The names of the symbols of an expression, in order.
fn names(text: &str) -> PyResult<Vec<String>> {
    let mut symbols = Symbols::default();
    let dim = symbols.parse(text).or_raise()?;
    let mut names: Vec<_> = symbols.symbols_of(dim).iter().map(|symbol| symbol.name.to_string()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

#[pymethods]
impl Dim {
    #[new]
    fn new(text: &str) -> PyResult<Dim> {
        let mut symbols = Symbols::default();
        let dim = symbols.parse(text).or_raise()?;
        Dim::printed(symbols.print(dim).to_string())
    }

    /// The names of its symbols, in order.
    #[getter]
    fn symbols(&self) -> PyResult<Vec<String>> {
        names(&self.text)
    }

    /// Its value where the symbols stand for these numbers.
    #[pyo3(signature = (values=None, /, **named))]
    fn evaluate(
        &self,
        values: Option<HashMap<String, i64>>,
        named: Option<HashMap<String, i64>>,
    ) -> PyResult<i64> {
        let mut all = values.unwrap_or_default();
        all.extend(named.unwrap_or_default());
        let mut symbols = Symbols::default();
        let dim = symbols.parse(&self.text).or_raise()?;
        if let Some(missing) = self.symbols()?.into_iter().find(|name| !all.contains_key(name)) {
            return Err(error(Kind::Usage, format!("symbol \"{missing}\" of {} is not given", self.text)));
        }
        symbols.evaluate(dim, &|name| all.get(name).copied()).ok_or_else(|| {
            error(
                Kind::Value,
                format!("cannot evaluate {}: it overflows 64 bits or divides by zero", self.text),
            )
        })
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Dim({:?})", self.text)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Dim>().into_any(), (self.text.clone(),)))
    }
}

/// An integer, or an expression.
pub(crate) fn to_python<'py>(py: Python<'py>, symbols: &Symbols, dim: Engine) -> PyResult<Bound<'py, PyAny>> {
    Ok(match dim {
        Engine::Known(value) => value.into_pyobject(py)?.into_any(),
        Engine::Symbolic(_) => Bound::new(py, Dim::printed(symbols.print(dim).to_string())?)?.into_any(),
    })
}

/// A type of `gradus.TensorType`, or of its kin, from what it says.
fn typed<'py>(py: Python<'py>, class: &str, values: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    py.import("gradus._models")?.getattr(class)?.call1(values)
}

fn list<'py>(
    py: Python<'py>,
    dims: impl IntoIterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyTuple::new(py, dims.into_iter().collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// Most elements of a progression that are given one by one.
const MOST_ELEMENTS: i64 = 1024;

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
                    ((Engine::Known(first), Engine::Known(step)), Some(len)) if len <= MOST_ELEMENTS => {
                        list(py, (0..len).map(|i| Ok((first + i * step).into_pyobject(py)?.into_any())))?
                    }
                    _ => none(),
                },
                _ => none(),
            };
            typed(py, "TensorType", (dtype.map(gradus::DType::name), shape, elements).into_pyobject(py)?)
        }
        Fact::Sequence(sequence) => {
            let each = fact_to_python(py, symbols, &sequence.each)?;
            typed(py, "SequenceType", (each, to_python(py, symbols, sequence.len)?).into_pyobject(py)?)
        }
        Fact::Optional(optional) => {
            let value = fact_to_python(py, symbols, &optional.value)?;
            typed(py, "OptionalType", (value, optional.present).into_pyobject(py)?)
        }
        _ => typed(py, "UnknownType", PyTuple::empty(py)),
    }
}

/// The type that a model declares for a value.
pub(crate) fn type_to_python<'py>(py: Python<'py>, declared: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
    let none = || py.None().into_bound(py);
    match declared {
        Some(Type::Tensor(dtype, sizes)) => {
            let size = |size: &DeclaredDim| match size {
                DeclaredDim::Known(len) => Ok(len.into_pyobject(py)?.into_any()),
                DeclaredDim::Symbol(text) => match Dim::new(text) {
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
            typed(py, "TensorType", (dtype.map(gradus::DType::name), shape, none()).into_pyobject(py)?)
        }
        Some(Type::Sequence(each)) => {
            typed(py, "SequenceType", (type_to_python(py, Some(each))?, none()).into_pyobject(py)?)
        }
        Some(Type::Optional(value)) => {
            typed(py, "OptionalType", (type_to_python(py, Some(value))?, none()).into_pyobject(py)?)
        }
        Some(Type::Other(_)) | None => typed(py, "UnknownType", PyTuple::empty(py)),
    }
}

/// An size that Python gives: an integer, a name or an expression, `None` for any.
pub(crate) fn size(object: &Bound<'_, PyAny>) -> PyResult<DeclaredDim> {
    if object.is_none() {
        return Ok(DeclaredDim::Unknown);
    }
    if let Ok(dim) = object.cast::<Dim>() {
        return Ok(DeclaredDim::Symbol(dim.get().text.as_str().into()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str()?;
        Symbols::default().parse(text).or_raise()?;
        return Ok(DeclaredDim::Symbol(text.into()));
    }
    let Ok(len) = object.cast::<PyInt>() else {
        let got = type_name(object);
        let got = format_args!("of type {got}");
        return Err(mismatch(Kind::Type, "a size", got, "a number, a name or None"));
    };
    let known = len.extract::<i64>().ok().and_then(convert::usize_of_i64);
    known
        .map(DeclaredDim::Known)
        .ok_or_else(|| mismatch(Kind::Value, "a size", len, "a number from 0 to 2^63 - 1"))
}

/// Dimensions that Python gives; `None` for any number of them.
pub(crate) fn sizes(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<DeclaredDim>>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    object.try_iter()?.map(|each| size(&each?)).collect::<PyResult<_>>().map(Some)
}

/// Symbols by name, with the numbers that they stand for.
pub(crate) fn numbers(dims: Option<&Bound<'_, PyDict>>) -> PyResult<HashMap<String, i64>> {
    dims.map_or_else(|| Ok(HashMap::new()), |dims| dims.extract())
}
