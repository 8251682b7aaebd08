//! The functions `arange`, `range`, `linspace`, `logspace` and `geomspace`, and the plans of them.

use gradus::profiles::Profile;
use gradus::{DType, Kind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::device::DeviceArray;
use crate::error::{OrRaise, mismatch, type_name};
use crate::number::{NumberArgument, argument, samples, truth};
use crate::plan::Plan;
use crate::sequence::{Recipe, ResultForm, output_type};
use crate::spaces::{SAMPLES, SpaceCall};

pub(crate) type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The exact rules, or those of a program.
fn profile_of(profile: Object<'_, '_>) -> PyResult<Profile> {
    let Some(profile) = profile else { return Ok(Profile::Exact) };
    match profile.cast::<PyString>() {
        Ok(text) => text.to_str()?.parse::<Profile>().or_raise(),
        Err(_) => {
            let got = format!("of type {}", type_name(profile));
            Err(mismatch(Kind::Type, "profile", got, "the name of a profile"))
        }
    }
}

/// The device that is named, unless it is the processor.
fn device_of(device: Object<'_, '_>) -> PyResult<Option<String>> {
    let Some(device) = device else { return Ok(None) };
    let name = device.str()?.to_string();
    Ok((name != "cpu").then_some(name))
}

/// The type in which NumPy computes with some numbers and arrays.
fn result_type(py: Python<'_>, objects: &[&Bound<'_, PyAny>], inexact: bool) -> PyResult<DType> {
    static RULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let rule = RULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("gradus._types")?.getattr("result_type")?.unbind())
    })?;
    crate::dtype::named(&rule.bind(py).call1((objects.to_vec(), inexact))?)
}

/// The element type if none is asked for: NumPy's rule, in which numbers of Python have no type of
/// their own.
pub(crate) fn default_type(
    py: Python<'_>,
    arguments: &[&NumberArgument],
    objects: &[&Bound<'_, PyAny>],
    inexact: bool,
) -> PyResult<DType> {
    let rank = |dtype| match dtype {
        DType::I64 => 0,
        DType::U64 => 1,
        DType::F64 => 2,
        _ => 3,
    };
    let mut widest_of = if inexact { DType::F64 } else { DType::I64 };
    for each in arguments {
        match each {
            NumberArgument::Weak(_, Some(dtype)) if rank(*dtype) > rank(widest_of) => widest_of = *dtype,
            NumberArgument::Weak(_, None) if !inexact => {
                let wanted = "a type that holds integers beyond 64 bits";
                return Err(mismatch(Kind::Type, "dtype", "None", wanted));
            }
            NumberArgument::Weak(..) => {}
            _ => return result_type(py, objects, inexact),
        }
    }
    Ok(widest_of)
}

/// The arguments of a range: `(stop)`, `(start, stop)` or `(start, stop, step)`.
pub(crate) fn range_recipe(
    py: Python<'_>,
    [start, stop, step]: [Object<'_, '_>; 3],
    dtype: Option<DType>,
    profile: Profile,
) -> PyResult<Recipe> {
    let whole = |number: i64| NumberArgument::Weak(number.into(), Some(DType::I64));
    let (start, stop) = match (start, stop) {
        (None, None) => {
            return Err(mismatch(Kind::Type, "stop", "missing", "a number"));
        }
        (start, None) => (None, start),
        both => both,
    };
    let objects = [start, stop, step];
    let read = |object: Object<'_, '_>, name, missing| {
        let read = object.map_or_else(|| Ok(whole(missing)), |object| argument(object, name))?;
        let number = read.number().ok_or_else(|| mismatch(Kind::Shape, name, "an array", "a number"))?;
        Ok::<_, PyErr>((read, number))
    };
    let (a, start) = read(start, "start", 0)?;
    let (b, stop) = read(stop, "stop", 0)?;
    let (c, third) = read(step, "step", 1)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => {
            let given: Vec<_> = objects.into_iter().flatten().collect();
            default_type(py, &[&a, &b, &c], &given, false)?
        }
    };
    Ok(Recipe { form: ResultForm::Range, start, stop, third, num: 0, endpoint: false, dtype, profile })
}

/// Returns the plan's elements as a new array, or in `out`, or in the memory of a device.
pub(crate) fn given<'py>(
    py: Python<'py>,
    recipe: &Recipe,
    out: Object<'_, 'py>,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = recipe.plan()?;
    if let Some(device) = device {
        if out.is_some() {
            let wanted = format!("None with device=\"{device}\"");
            return Err(mismatch(Kind::Usage, "out", "an array of the processor", wanted));
        }
        return Ok(Bound::new(py, DeviceArray::new(py, &plan, device)?)?.into_any());
    }
    let Some(out) = out else { return plan.array(py) };
    plan.fill(out)?;
    Ok(out.clone())
}

/// Returns evenly spaced numbers: `start`, `start + step`, … before `stop`.
///
/// With one number, that is the stop, and the start is 0. Source: NumPy
/// 2.4, `numpy.arange`, for signature, types and length.
///
/// Args:
///     start_or_stop: the start, or the stop if it is the only number: a
///         finite number, or a tensor of one element that speaks DLPack.
///         `Fraction`, `Decimal`, integers of any size and text (`"0.1"`,
///         `"1/3"`) are exact.
///     stop: the end, which is not an element.
///     step: the distance of neighbours; not zero.
///     dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
///         name. By default as in NumPy: int64 for integers, else float64
///         or the type that the arguments have in common.
///     out: an array to write into, of the result's shape and type, with
///         any strides.
///     profile: the program whose result is predicted, in place of the
///         exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
///         `gradus.compare`.
///     device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
///         …, which writes the same bits into a `gradus.DeviceArray`.
///
/// Returns:
///     An array of shape `(n,)`, where `n` is
///     `max(ceil((stop - start) / step), 0)`: exact for integers, with
///     difference and quotient rounded to 53 bits for floats. Every element
///     is the exact value, rounded once: to the nearest float with ties to
///     even, or to an integer toward zero and to its low bits.
///
/// Raises:
///     ArgumentError: if the step is zero, or an argument is NaN or
///         infinite.
///     DTypeError: if an argument is not a number.
///     ShapeError: if `out` has another shape.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.arange(0, 1, 0.25)
///     array([0.  , 0.25, 0.5 , 0.75])
///     >>> gradus.arange(3, dtype="bfloat16")
///     array([0, 1, 2], dtype=bfloat16)
#[pyfunction]
#[pyo3(signature = (start=None, stop=None, step=None, dtype=None, *, out=None, profile=None, device=None))]
#[pyo3(
    text_signature = "(start_or_stop, /, stop=None, step=1, dtype=None, *, out=None, profile=None, device=None)"
)]
pub(crate) fn arange<'py>(
    py: Python<'py>,
    start: Object<'_, 'py>,
    stop: Object<'_, 'py>,
    step: Object<'_, 'py>,
    dtype: Object<'_, 'py>,
    out: Object<'_, 'py>,
    profile: Object<'_, 'py>,
    device: Object<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let device = device_of(device)?;
    let dtype = output_type(dtype, out)?;
    let recipe = range_recipe(py, [start, stop, step], dtype, profile_of(profile)?)?;
    given(py, &recipe, out, device.as_deref())
}

/// Plans `gradus.arange`, and writes nothing.
///
/// Args:
///     start: the start, or the stop if it is the only number.
///     stop: the end, which is not an element.
///     step: the distance of neighbours; not zero. `None` stands for 1.
///     dtype: the element type, as in `gradus.arange`.
///     profile: the program whose elements are predicted, as in
///         `gradus.arange`.
///
/// Returns:
///     A `gradus.plan.Plan`, whose elements are written when they are asked
///     for.
///
/// Raises:
///     ArgumentError: if the step is zero, or an argument is NaN or
///         infinite.
///     DTypeError: if an argument is not a number.
///     LimitError: if there are more elements than 64 bits count.
///
/// Example:
///     >>> len(gradus.plan.arange(0, 10**15, 3))
///     333333333333334
#[pyfunction]
#[pyo3(signature = (start=None, stop=None, step=None, dtype=None, *, profile=None))]
pub(crate) fn plan_arange<'py>(
    py: Python<'py>,
    start: Object<'_, 'py>,
    stop: Object<'_, 'py>,
    step: Object<'_, 'py>,
    dtype: Object<'_, 'py>,
    profile: Object<'_, 'py>,
) -> PyResult<Plan> {
    let dtype = output_type(dtype, None)?;
    let [a, b, c] = [start, stop, step];
    Plan::of(range_recipe(py, [a, b, c], dtype, profile_of(profile)?)?)
}

/// Returns `num` samples at equal distances from `start` to `stop`.
///
/// Source: NumPy 2.4, `numpy.linspace`, for signature and types.
///
/// Args:
///     start: the first end: a number, an array, or a tensor that speaks
///         DLPack. `Fraction`, `Decimal`, integers of any size and text
///         (`"0.1"`, `"1/3"`) are exact.
///     stop: the other end, alike. Arrays are broadcast: there is a
///         sequence for each pair of their elements.
///     num: the number of samples.
///     endpoint: include `stop` as the last sample.
///     retstep: also return the distance of neighbours, rounded once.
///     dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
///         name. By default as in NumPy: float64, or the type that the ends
///         have in common.
///     axis: the axis of the result along which samples lie, if an end is
///         an array.
///     out: an array to write into, of the result's shape and type, with
///         any strides.
///     profile: the program whose result is predicted, in place of the
///         exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
///         `gradus.compare`.
///     device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
///         …, which writes the same bits into a `gradus.DeviceArray`.
///
/// Returns:
///     An array of shape `(num,)`, followed by the axes of the ends if
///     these are arrays; with `retstep`, a pair of it and the distance.
///     Sample `i` is `start + i * (stop - start) / d`, exact, and rounded
///     once: floats to the nearest, integers toward zero. `d` is `num - 1`,
///     or `num` without the endpoint.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.linspace(0, 1, 5)
///     array([0.  , 0.25, 0.5 , 0.75, 1.  ])
///     >>> gradus.linspace(0, 1, 3, retstep=True)
///     (array([0. , 0.5, 1. ]), np.float64(0.5))
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, retstep=false, dtype=None, axis=0, *, out=None, profile=None, device=None))]
#[pyo3(
    text_signature = "(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, out=None, profile=None, device=None)"
)]
#[allow(clippy::fn_params_excessive_bools, reason = "the parameters are NumPy's")]
pub(crate) fn linspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    #[pyo3(from_py_with = truth)] retstep: bool,
    dtype: Object<'_, 'py>,
    axis: i64,
    out: Object<'_, 'py>,
    profile: Object<'_, 'py>,
    device: Object<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let device = device_of(device)?;
    let dtype = output_type(dtype, out)?;
    let profile = profile_of(profile)?;
    let space = SpaceCall::of_numbers(ResultForm::Linspace, [start, stop], None, num, endpoint, dtype)
        .along(axis)
        .by(profile);
    let array = space.array(py, out, device.as_deref())?;
    if !retstep {
        return Ok(array);
    }
    let num = num.map_or(Ok(SAMPLES), samples)?;
    let step = py.import("gradus._types")?.call_method1("step", (start, stop, num, endpoint))?;
    Ok((array, step).into_pyobject(py)?.into_any())
}

/// Returns `num` powers of `base` whose exponents lie at equal distances.
///
/// Source: NumPy 2.4, `numpy.logspace`, for signature and types.
///
/// Args:
///     start: the first exponent: a number, an array, or a tensor that
///         speaks DLPack. `Fraction`, `Decimal`, integers of any size and
///         text (`"0.1"`, `"1/3"`) are exact.
///     stop: the last exponent, alike. Arrays are broadcast: there is a
///         sequence for each pair of their elements.
///     num: the number of samples.
///     endpoint: include `stop` as the last exponent.
///     base: the base: a number or an array. A base that is negative, zero,
///         infinite or NaN gives what `pow` of IEEE 754 gives.
///     dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
///         name. By default as in NumPy: float64, or the type that the ends
///         have in common.
///     axis: the axis of the result along which samples lie, if an argument
///         is an array.
///     out: an array to write into, of the result's shape and type, with
///         any strides.
///     profile: the program whose result is predicted, in place of the
///         exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
///         `gradus.compare`.
///     device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
///         …, which writes the same bits into a `gradus.DeviceArray`.
///
/// Returns:
///     An array of shape `(num,)`, followed by the axes of the arguments if
///     these are arrays. Sample `i` is
///     `base ** (start + i * (stop - start) / d)`, exact, and rounded once:
///     floats to the nearest, integers toward zero. `d` is `num - 1`, or
///     `num` without the endpoint.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.logspace(0, 1, 4, base=1000, dtype=int)
///     array([   1,   10,  100, 1000])
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, base=None, dtype=None, axis=0, *, out=None, profile=None, device=None))]
#[pyo3(
    text_signature = "(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, out=None, profile=None, device=None)"
)]
pub(crate) fn logspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    base: Object<'_, 'py>,
    dtype: Object<'_, 'py>,
    axis: i64,
    out: Object<'_, 'py>,
    profile: Object<'_, 'py>,
    device: Object<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let device = device_of(device)?;
    let dtype = output_type(dtype, out)?;
    let profile = profile_of(profile)?;
    SpaceCall::of_numbers(ResultForm::Logspace, [start, stop], base, num, endpoint, dtype)
        .along(axis)
        .by(profile)
        .array(py, out, device.as_deref())
}

/// Returns `num` samples from `start` to `stop` with equal quotients.
///
/// Source: NumPy 2.4, `numpy.geomspace`, for signature and types.
///
/// Args:
///     start: the first end: a number, an array, or a tensor that speaks
///         DLPack. `Fraction`, `Decimal`, integers of any size and text
///         (`"0.1"`, `"1/3"`) are exact.
///     stop: the other end, alike. Arrays are broadcast: there is a
///         sequence for each pair of their elements.
///     num: the number of samples.
///     endpoint: include `stop` as the last sample.
///     dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
///         name. By default as in NumPy: float64, or the type that the ends
///         have in common.
///     axis: the axis of the result along which samples lie, if an end is
///         an array.
///     out: an array to write into, of the result's shape and type, with
///         any strides.
///     profile: the program whose result is predicted, in place of the
///         exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
///         `gradus.compare`.
///     device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
///         …, which writes the same bits into a `gradus.DeviceArray`.
///
/// Returns:
///     An array of shape `(num,)`, followed by the axes of the ends if
///     these are arrays. Sample `i` is `start * (stop / start) ** (i / d)`,
///     exact, and rounded once: floats to the nearest, integers toward
///     zero. `d` is `num - 1`, or `num` without the endpoint. Between
///     complex numbers the samples lie on a spiral.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.geomspace(1, 256, 9, dtype=int)
///     array([  1,   2,   4,   8,  16,  32,  64, 128, 256])
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, dtype=None, axis=0, *, out=None, profile=None, device=None))]
#[pyo3(
    text_signature = "(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, out=None, profile=None, device=None)"
)]
pub(crate) fn geomspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    dtype: Object<'_, 'py>,
    axis: i64,
    out: Object<'_, 'py>,
    profile: Object<'_, 'py>,
    device: Object<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let device = device_of(device)?;
    let dtype = output_type(dtype, out)?;
    let profile = profile_of(profile)?;
    SpaceCall::of_numbers(ResultForm::Geomspace, [start, stop], None, num, endpoint, dtype)
        .along(axis)
        .by(profile)
        .array(py, out, device.as_deref())
}

/// Plans `gradus.linspace`, and writes nothing.
///
/// Args:
///     start: the first end, a number as in `gradus.arange`.
///     stop: the other end, alike.
///     num: the number of samples; `None` stands for 50.
///     endpoint: include `stop` as the last sample.
///     dtype: the element type, as in `gradus.linspace`.
///     profile: the program whose elements are predicted, as in
///         `gradus.arange`.
///
/// Returns:
///     A `gradus.plan.Plan`, whose elements are written when they are asked
///     for.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.plan.linspace(0, 1, 10**12 + 1)[10**11]
///     np.float64(0.1)
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, dtype=None, *, profile=None))]
pub(crate) fn plan_linspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    dtype: Object<'_, 'py>,
    profile: Object<'_, 'py>,
) -> PyResult<Plan> {
    let (dtype, profile) = (output_type(dtype, None)?, profile_of(profile)?);
    SpaceCall::of_numbers(ResultForm::Linspace, [start, stop], None, num, endpoint, dtype)
        .by(profile)
        .plan(py)
}

/// Plans `gradus.logspace`, and writes nothing.
///
/// Args:
///     start: the first exponent, a number as in `gradus.logspace`.
///     stop: the last exponent, alike.
///     num: the number of samples; `None` stands for 50.
///     endpoint: include `stop` as the last exponent.
///     base: the base, a number; `None` stands for 10.
///     dtype: the element type, as in `gradus.logspace`.
///     profile: the program whose elements are predicted, as in
///         `gradus.arange`.
///
/// Returns:
///     A `gradus.plan.Plan`, whose elements are written when they are asked
///     for.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.plan.logspace(0, 9, 10**12)[-1]
///     np.float64(1000000000.0)
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, base=None, dtype=None, *, profile=None))]
pub(crate) fn plan_logspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    base: Object<'_, 'py>,
    dtype: Object<'_, 'py>,
    profile: Object<'_, 'py>,
) -> PyResult<Plan> {
    let (dtype, profile) = (output_type(dtype, None)?, profile_of(profile)?);
    SpaceCall::of_numbers(ResultForm::Logspace, [start, stop], base, num, endpoint, dtype)
        .by(profile)
        .plan(py)
}

/// Plans `gradus.geomspace`, and writes nothing.
///
/// Args:
///     start: the first end, a number as in `gradus.arange`.
///     stop: the other end, alike.
///     num: the number of samples; `None` stands for 50.
///     endpoint: include `stop` as the last sample.
///     dtype: the element type, as in `gradus.geomspace`.
///     profile: the program whose elements are predicted, as in
///         `gradus.arange`.
///
/// Returns:
///     A `gradus.plan.Plan`, whose elements are written when they are asked
///     for.
///
/// Raises:
///     ArgumentError: if an end is NaN or infinite, `num` is negative, or
///         an integer type does not hold an element.
///     DTypeError: if an argument is not a number.
///     ShapeError: if shapes cannot be broadcast, or `out` has another.
///     LimitError: if there are more elements than memory can address.
///     UsageError: if the profile or the device is unknown.
///
/// Example:
///     >>> gradus.plan.geomspace(1, 2**40, 41)[20]
///     np.float64(1048576.0)
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, dtype=None, *, profile=None))]
pub(crate) fn plan_geomspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Object<'_, 'py>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    dtype: Object<'_, 'py>,
    profile: Object<'_, 'py>,
) -> PyResult<Plan> {
    let (dtype, profile) = (output_type(dtype, None)?, profile_of(profile)?);
    SpaceCall::of_numbers(ResultForm::Geomspace, [start, stop], None, num, endpoint, dtype)
        .by(profile)
        .plan(py)
}
