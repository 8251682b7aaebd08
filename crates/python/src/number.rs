//! Numbers and arrays that Python gives where a sequence wants numbers.

use gradus::seq::ExactNumber;
use gradus::{DType, Error, Kind, Number, Tensor};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString};

use crate::error::{OrRaise, mismatch, raised, type_name};
use crate::tensor;

/// An argument.
pub(crate) enum NumberArgument {
    /// A number of Python, which has a value and no type: NumPy's "weak" scalar. With the type that
    /// numbers of its sort have in arrays; integers beyond 64 bits have none.
    Weak(ExactNumber, Option<DType>),
    /// A number of an element type.
    Typed(Number, DType),
    /// An array of at least one axis.
    Array(Tensor),
}

impl NumberArgument {
    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<ExactNumber> {
        match self {
            NumberArgument::Weak(number, _) => Some(number.clone()),
            NumberArgument::Typed(number, _) => Some((*number).into()),
            NumberArgument::Array(_) => None,
        }
    }

    /// The numbers as a tensor, those of Python as the widest type of their sort.
    pub(crate) fn tensor(&self) -> gradus::Result<Tensor> {
        let (number, dtype) = match self {
            NumberArgument::Array(tensor) => return Ok(tensor.clone()),
            NumberArgument::Typed(number, dtype) => (*number, *dtype),
            NumberArgument::Weak(number, dtype) => (number.nearest(), dtype.unwrap_or(DType::F64)),
        };
        Tensor::from_numbers(dtype, gradus::Shape::SCALAR, [number], gradus::convert::Rules::IEEE)
    }
}

/// Reads an argument, which errors call by that name: a number of Python or NumPy, text that is
/// one, a rational number of any class, or an array.
///
/// # Errors
/// A `DTypeError` if it is not a number or an array of numbers; an `ArgumentError` for text that is
/// none.
pub(crate) fn argument(object: &Bound<'_, PyAny>, name: &str) -> PyResult<NumberArgument> {
    if let Ok(int) = object.cast_exact::<PyInt>() {
        return integer(int, name);
    }
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return Ok(weak(Number::Float(float.value()), DType::F64));
    }
    if let Ok(flag) = object.cast_exact::<PyBool>() {
        return Ok(weak(Number::Int(flag.is_true().into()), DType::I64));
    }
    if let Ok(complex) = object.cast_exact::<PyComplex>() {
        return Ok(weak(Number::Complex(complex.real(), complex.imag()), DType::C128));
    }
    // A subclass of Python's float: NumPy's float64.
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(NumberArgument::Typed(Number::Float(float.value()), DType::F64));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return exact(text.to_str()?, name);
    }
    if let Some(number) = rational(object, name)? {
        return Ok(number);
    }
    check_kept(object, name)?;
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

/// Refuses arrays that mean more than their elements: masks, units and the like would be dropped.
fn check_kept(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if !object.is_instance_of::<PyUntypedArray>() || object.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(());
    }
    if object.is_instance(&object.py().import("numpy")?.getattr("memmap")?)? {
        return Ok(());
    }
    let got = format!("of type {}", type_name(object));
    Err(mismatch(Kind::Type, name, got, "a plain array, as of numpy.asarray"))
}

fn weak(number: Number, dtype: DType) -> NumberArgument {
    NumberArgument::Weak(number.into(), Some(dtype))
}

fn integer(int: &Bound<'_, PyInt>, name: &str) -> PyResult<NumberArgument> {
    if let Ok(value) = int.extract::<i64>() {
        return Ok(weak(Number::Int(value.into()), DType::I64));
    }
    if let Ok(value) = int.extract::<u64>() {
        return Ok(weak(Number::Int(value.into()), DType::U64));
    }
    match exact(int.str()?.to_str()?, name)? {
        NumberArgument::Weak(number, _) => Ok(NumberArgument::Weak(number, None)),
        other => Ok(other),
    }
}

/// The number that a text is.
fn exact(text: &str, name: &str) -> PyResult<NumberArgument> {
    let number: ExactNumber = text.parse().map_err(|failed: Error| {
        let error = Error::new(failed.kind(), format!("{name}: {}", failed.message()));
        raised(
            &error.with_got(failed.got().unwrap_or(text)).with_wanted(failed.wanted().unwrap_or("a number")),
        )
    })?;
    let digits = text.trim().trim_start_matches(['+', '-']);
    let dtype = match number {
        ExactNumber::Number(Number::Int(value)) if i64::try_from(value).is_ok() => Some(DType::I64),
        ExactNumber::Number(Number::Int(value)) if u64::try_from(value).is_ok() => Some(DType::U64),
        _ if digits.bytes().all(|digit| digit.is_ascii_digit()) => None,
        _ => Some(DType::F64),
    };
    Ok(NumberArgument::Weak(number, dtype))
}

/// The number of an object that is a quotient of two integers and has no element type: `Fraction`,
/// `Decimal`, NumPy's `longdouble`.
fn rational(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<NumberArgument>> {
    if !object.hasattr("as_integer_ratio")? {
        return Ok(None);
    }
    if let Ok(dtype) = object.getattr("dtype")
        && !matches!(dtype.getattr("char")?.extract::<char>(), Ok('g'))
    {
        return Ok(None);
    }
    // NaN and infinities are no quotients.
    let text = match object.call_method0("as_integer_ratio") {
        Ok(ratio) => format!("{}/{}", ratio.get_item(0)?.str()?, ratio.get_item(1)?.str()?),
        Err(_) => object.str()?.to_string(),
    };
    exact(&text, name).map(Some)
}

/// A switch: on for whatever Python takes for true, as NumPy has it.
pub(crate) fn truth(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_truthy()
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

/// A number as Python has it; a fraction as text.
pub(crate) fn exact_to_python<'py>(py: Python<'py>, number: &ExactNumber) -> PyResult<Bound<'py, PyAny>> {
    match number {
        ExactNumber::Number(number) => to_python(py, *number),
        ExactNumber::Fraction(fraction) => Ok(fraction.to_string().into_pyobject(py)?.into_any()),
    }
}

/// A number of an element type as Python has it.
pub(crate) fn to_python(py: Python<'_>, number: Number) -> PyResult<Bound<'_, PyAny>> {
    Ok(match number {
        Number::Int(value) => value.into_pyobject(py)?.into_any(),
        Number::Float(value) => PyFloat::new(py, value).into_any(),
        Number::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
    })
}
