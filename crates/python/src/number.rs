//! Numbers and arrays that Python gives where a sequence wants numbers.

use gradus::{DType, Kind, Number, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use crate::error::{OrRaise, mismatch, type_name};
use crate::tensor;

/// An argument.
pub(crate) enum NumberArgument {
    /// A number of Python, which has a value and no type: NumPy's "weak" scalar.
    Weak(Number),
    /// A number of an element type.
    Typed(Number, DType),
    /// An array of at least one axis.
    Array(Tensor),
}

impl NumberArgument {
    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            NumberArgument::Weak(number) | NumberArgument::Typed(number, _) => Some(*number),
            NumberArgument::Array(_) => None,
        }
    }

    /// The numbers as a tensor, those of Python as the widest type of their sort.
    pub(crate) fn tensor(&self) -> gradus::Result<Tensor> {
        let (number, dtype) = match self {
            NumberArgument::Array(tensor) => return Ok(tensor.clone()),
            NumberArgument::Typed(number, dtype) => (*number, *dtype),
            NumberArgument::Weak(number) => (*number, widest(*number)),
        };
        Tensor::from_numbers(dtype, gradus::Shape::SCALAR, [number], gradus::convert::Rules::IEEE)
    }
}

/// The type that Python's numbers of a sort have in arrays.
pub(crate) fn widest(number: Number) -> DType {
    match number {
        Number::Int(value) if i64::try_from(value).is_err() => DType::U64,
        Number::Int(_) => DType::I64,
        Number::Float(_) => DType::F64,
        Number::Complex(..) => DType::C128,
    }
}

/// Reads an argument, which errors call by that name.
///
/// # Errors
/// A `DTypeError` if it is not a number or an array of numbers; a `ValueError` for integers beyond
/// 64 bits.
pub(crate) fn argument(object: &Bound<'_, PyAny>, name: &str) -> PyResult<NumberArgument> {
    if let Ok(int) = object.cast_exact::<PyInt>() {
        return int64(int, name).map(NumberArgument::Weak);
    }
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return Ok(NumberArgument::Weak(Number::Float(float.value())));
    }
    if let Ok(flag) = object.cast_exact::<PyBool>() {
        return Ok(NumberArgument::Weak(Number::Int(flag.is_true().into())));
    }
    if let Ok(complex) = object.cast_exact::<PyComplex>() {
        return Ok(NumberArgument::Weak(Number::Complex(complex.real(), complex.imag())));
    }
    // A subclass of Python's float: NumPy's float64.
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(NumberArgument::Typed(Number::Float(float.value()), DType::F64));
    }
    let read = tensor::from_python(object)?;
    match read.shape().rank() {
        _ if read.dtype() == DType::String => {
            let got = type_name(object);
            Err(mismatch(Kind::Type, name, format_args!("of type {got}"), "a number"))
        }
        0 => Ok(NumberArgument::Typed(read.number(0).or_raise()?, read.dtype())),
        _ => Ok(NumberArgument::Array(read)),
    }
}

fn int64(int: &Bound<'_, PyInt>, name: &str) -> PyResult<Number> {
    let read: PyResult<i64> = int.extract();
    if let Ok(value) = read {
        return Ok(Number::Int(value.into()));
    }
    let read: PyResult<u64> = int.extract();
    read.map(|value| Number::Int(value.into()))
        .map_err(|_| mismatch(Kind::Value, name, int, "an integer of at most 64 bits"))
}

/// A number of samples: an integer.
///
/// # Errors
/// Python's `TypeError` if it is none; a `ValueError` if it is negative or too large.
pub(crate) fn samples(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let int = match object.cast_exact::<PyInt>() {
        Ok(int) => int.clone(),
        Err(_) => object.py().import("operator")?.call_method1("index", (object,))?.cast_into()?,
    };
    match int.extract::<u64>() {
        Ok(num) => Ok(num),
        Err(_) => {
            let kind = if int.lt(0)? { Kind::Value } else { Kind::Limit };
            Err(mismatch(kind, "num", int, "an integer from 0 to 2^63 - 1"))
        }
    }
}

/// A number as Python has it.
pub(crate) fn to_python(py: Python<'_>, number: Number) -> PyResult<Bound<'_, PyAny>> {
    Ok(match number {
        Number::Int(value) => value.into_pyobject(py)?.into_any(),
        Number::Float(value) => PyFloat::new(py, value).into_any(),
        Number::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
    })
}
