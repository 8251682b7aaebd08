//! Sequences of any kind: planned from what Python gives, written into arrays of NumPy.

use gradus::element::Bool;
use gradus::profiles::{self, LinspaceCall, LogspaceCall, Outcome, Predicted, Profile, RangeCall};
use gradus::seq::{ExactNumber, GeomspacePlan, LinspacePlan, LogspacePlan, Plan as _, RangePlan, SpaceError};
use gradus::{DType, Each, Fill, FillOptions, Kind, Stores, Write, Writer, convert};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::dtype::{descriptor, named};
use crate::error::{OrRaise, engine, error, mismatch, type_name};
use crate::number::exact_to_python;
use crate::signals;

/// Elements that are made on the stack, and while Python waits: it takes less than to let it go on.
const FEW: usize = 64;

/// A plan of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Sequence {
    Range(RangePlan),
    Linspace(LinspacePlan),
    Logspace(LogspacePlan),
    Geomspace(GeomspacePlan),
    Predicted(Each<Predicted>),
}

/// Does something with a plan, whatever its kind.
macro_rules! with_plan {
    ($sequence:expr, $plan:ident => $work:expr) => {
        match $sequence {
            $crate::sequence::Sequence::Range($plan) => $work,
            $crate::sequence::Sequence::Linspace($plan) => $work,
            $crate::sequence::Sequence::Logspace($plan) => $work,
            $crate::sequence::Sequence::Geomspace($plan) => $work,
            $crate::sequence::Sequence::Predicted($plan) => $work,
        }
    };
}
pub(crate) use with_plan;

impl Sequence {
    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        with_plan!(self, plan => plan.dtype())
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> u64 {
        with_plan!(self, plan => plan.len())
    }

    /// The elements from `lo`, below `hi`.
    pub(crate) fn slice(&self, lo: u64, hi: u64) -> Sequence {
        match self {
            Sequence::Range(plan) => Sequence::Range(plan.slice(lo..hi)),
            Sequence::Linspace(plan) => Sequence::Linspace(plan.slice(lo..hi)),
            Sequence::Logspace(plan) => Sequence::Logspace(plan.slice(lo..hi)),
            Sequence::Geomspace(plan) => Sequence::Geomspace(plan.slice(lo..hi)),
            Sequence::Predicted(plan) => Sequence::Predicted(plan.slice(lo..hi)),
        }
    }

    /// Returns true if the elements are known to grow or to shrink all the way.
    pub(crate) fn is_monotone(&self) -> bool {
        if !self.dtype().is_real() {
            return false;
        }
        match self {
            // Integers wrap around.
            Sequence::Range(plan) if plan.dtype().is_integer() => {
                let exact = plan.line().map(|line| line.bounds(plan.len()));
                exact.is_none_or(|ends| ends.into_iter().all(|end| convert::holds(plan.dtype(), end)))
            }
            Sequence::Range(_) | Sequence::Linspace(_) | Sequence::Geomspace(_) => true,
            Sequence::Logspace(plan) => plan.line().is_some(),
            Sequence::Predicted(_) => false,
        }
    }

    /// All elements, as a new array.
    pub(crate) fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_plan!(self, plan => array(py, plan))
    }

    /// All elements, written into an array of one axis.
    pub(crate) fn fill(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        with_plan!(self, plan => fill(plan, out, FillOptions::default()))
    }
}

/// The function whose sequence it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultForm {
    Range,
    Linspace,
    Logspace,
    Geomspace,
}

impl ResultForm {
    pub(crate) const ALL: [(ResultForm, &str); 4] = [
        (ResultForm::Range, "arange"),
        (ResultForm::Linspace, "linspace"),
        (ResultForm::Logspace, "logspace"),
        (ResultForm::Geomspace, "geomspace"),
    ];

    /// The name of its function.
    pub(crate) fn name(self) -> &'static str {
        ResultForm::ALL.iter().find(|(each, _)| *each == self).map_or("", |(_, name)| name)
    }
}

/// The arguments of a call, from which a plan is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recipe {
    pub(crate) form: ResultForm,
    pub(crate) start: ExactNumber,
    pub(crate) stop: ExactNumber,
    /// The step of a range, the base of a logspace.
    pub(crate) third: ExactNumber,
    /// Unused by ranges.
    pub(crate) num: u64,
    pub(crate) endpoint: bool,
    pub(crate) dtype: DType,
    pub(crate) profile: Profile,
}

impl Recipe {
    /// The plan.
    pub(crate) fn plan(&self) -> PyResult<Sequence> {
        if self.profile == Profile::Exact { self.exact().or_raise() } else { self.predicted() }
    }

    /// The exact plan, whatever the profile.
    pub(crate) fn exact(&self) -> gradus::Result<Sequence> {
        let &Recipe { form, ref start, ref stop, ref third, num, endpoint, dtype, .. } = self;
        let space = |error: SpaceError| error.describe(["start", "stop", "base", "num"]);
        match form {
            ResultForm::Range => {
                let plan = RangePlan::new(start, stop, third, dtype).map(Sequence::Range);
                plan.map_err(|error| error.describe(["start", "stop", "step"]))
            }
            ResultForm::Linspace => {
                LinspacePlan::new(start, stop, num, endpoint, dtype).map(Sequence::Linspace).map_err(space)
            }
            ResultForm::Logspace => LogspacePlan::new(third, start, stop, num, endpoint, dtype)
                .map(Sequence::Logspace)
                .map_err(space),
            ResultForm::Geomspace => {
                GeomspacePlan::new(start, stop, num, endpoint, dtype).map(Sequence::Geomspace).map_err(space)
            }
        }
    }

    /// The call in Python that it is.
    pub(crate) fn text(&self, py: Python<'_>) -> PyResult<String> {
        let &Recipe { form, ref start, ref stop, ref third, num, endpoint, dtype, profile } = self;
        let show = |number| Ok::<_, PyErr>(exact_to_python(py, number)?.repr()?.to_string());
        let mut words = vec![show(start)?, show(stop)?];
        words.push(if form == ResultForm::Range { show(third)? } else { num.to_string() });
        if form != ResultForm::Range && !endpoint {
            words.push("endpoint=False".to_owned());
        }
        if form == ResultForm::Logspace {
            words.push(format!("base={}", show(third)?));
        }
        words.push(format!("dtype=\"{dtype}\""));
        if profile != Profile::Exact {
            words.push(format!("profile=\"{profile}\""));
        }
        Ok(format!("gradus.plan.{}({})", form.name(), words.join(", ")))
    }

    fn predicted(&self) -> PyResult<Sequence> {
        self.outcome(self.profile)?.map(|plan| Sequence::Predicted(Each(plan))).map_err(|failure| {
            error(Kind::Value, format!("{}: {}", self.profile.program(), failure.message()))
        })
    }

    /// Predicts the program's result for the call.
    pub(crate) fn outcome(&self, profile: Profile) -> PyResult<Outcome> {
        let &Recipe { form, num, endpoint, dtype, .. } = self;
        let [start, stop, third] = [&self.start, &self.stop, &self.third].map(ExactNumber::nearest);
        let num = i64::try_from(num).map_err(|_| mismatch(Kind::Limit, "num", num, "at most 2^63 - 1"))?;
        let exponents = LinspaceCall { start, stop, num, endpoint, dtype };
        Ok(match form {
            ResultForm::Range => {
                profiles::range(profile, &RangeCall::of_numbers([start, stop, third], dtype).or_raise()?)
            }
            ResultForm::Linspace => profiles::linspace(profile, &exponents),
            ResultForm::Logspace => profiles::logspace(profile, &LogspaceCall { exponents, base: third }),
            ResultForm::Geomspace => profiles::geomspace(profile, &exponents),
        })
    }
}

/// Called in a forked process, which lacks the threads of the process before it.
#[pyfunction]
pub(crate) fn _forked() {
    gradus::stay_alone();
}

/// Into memory that is new to the process: its pages are cleared when they are first touched and so
/// lie in the caches; stores past these would write it twice.
fn fresh() -> FillOptions {
    let mut options = FillOptions::default();
    options.stores = Stores::Cached;
    options
}

/// An array without elements yet.
pub(crate) fn empty(py: Python<'_>, len: u64, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    // NumPy's own allocator: it asks the kernel for large pages.
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let empty = EMPTY
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.getattr("empty")?.unbind()))?
        .bind(py);
    let array = empty.call1((len, descriptor(py, dtype)?));
    array.map_err(|failed| {
        match i64::try_from(u128::from(len) * convert::product(dtype.bits().div_ceil(8), 1)) {
            Ok(_) => failed,
            Err(_) => error(
                Kind::Limit,
                format!("{len} elements of {dtype} are more bytes than memory has addresses"),
            ),
        }
    })
}

fn array<'py>(py: Python<'py>, plan: &impl Fill) -> PyResult<Bound<'py, PyAny>> {
    gradus::dispatch!(plan.dtype(),
    [I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128] => new_array(py, plan),
    dtype => {
        let out = empty(py, plan.len(), dtype)?;
        fill(plan, &out, fresh())?;
        Ok(out)
    })
}

fn new_array<'py, T: Write + numpy::Element>(
    py: Python<'py>,
    plan: &impl Fill,
) -> PyResult<Bound<'py, PyAny>> {
    let len = convert::usize_of(plan.len());
    if len <= FEW {
        let mut few = [T::default(); FEW];
        gradus::fill_with(plan, &mut few[..len], FillOptions::ONE_THREAD);
        return Ok(PyArray1::from_slice(py, &few[..len]).into_any());
    }
    let out = empty(py, plan.len(), plan.dtype())?;
    write::<T>(plan, out.cast()?, fresh())?;
    Ok(out)
}

/// Checks that an object is an array of one axis, of that length and type.
pub(crate) fn check_out(out: &Bound<'_, PyAny>, len: u64, dtype: DType) -> PyResult<()> {
    let py = out.py();
    let array: &Bound<'_, PyUntypedArray> = out
        .cast()
        .map_err(|_| mismatch(Kind::Type, "out", format_args!("of type {}", type_name(out)), "an array"))?;
    if array.ndim() != 1 || convert::u64_of(array.len()) != len {
        let shape = array.getattr("shape")?;
        return Err(mismatch(Kind::Shape, "the shape of out", shape, format_args!("({len},)")));
    }
    let found = array.dtype();
    if !found.is(&descriptor(py, dtype)?) && crate::dtype::of_descriptor(&found)? != Some(dtype) {
        return Err(mismatch(Kind::Type, "the type of out", found, dtype));
    }
    Ok(())
}

/// Writes all elements of a plan into an array of one axis, of the same type and length.
fn fill(plan: &impl Fill, out: &Bound<'_, PyAny>, options: FillOptions) -> PyResult<()> {
    let (py, dtype) = (out.py(), plan.dtype());
    check_out(out, plan.len(), dtype)?;
    gradus::dispatch!(dtype,
    [I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128] => write(plan, out.cast()?, options),
    _ => {
        let codes = out.call_method1("view", (codes_type(py, dtype),))?;
        match dtype {
            DType::BF16 => write_into::<u16>(codes.cast()?, &|lo, out| {
                let out: &mut [half::bf16] = bytemuck::cast_slice_mut(out);
                Writer::new(plan, options).write_within(lo, out, &signals::limits())
            }),
            DType::Bool => write_into::<u8>(codes.cast()?, &|lo, out| {
                let out: &mut [Bool] = bytemuck::cast_slice_mut(out);
                Writer::new(plan, options).write_within(lo, out, &signals::limits())
            }),
            _ => write_into::<u8>(codes.cast()?, &|lo, out| {
                gradus::fill_codes_within(plan, lo, out, options, &signals::limits())
            }),
        }
    })
}

/// The type as which codes are written, for elements that have no type in both Rust and NumPy.
fn codes_type(py: Python<'_>, dtype: DType) -> Bound<'_, numpy::PyArrayDescr> {
    if dtype == DType::BF16 { numpy::dtype::<u16>(py) } else { numpy::dtype::<u8>(py) }
}

fn write<T: Write + numpy::Element>(
    plan: &impl Fill,
    out: &Bound<'_, PyArray1<T>>,
    options: FillOptions,
) -> PyResult<()> {
    if out.len() <= FEW && out.is_contiguous() {
        let mut out = writable(out)?;
        if let Ok(out) = out.as_slice_mut() {
            gradus::fill_with(plan, out, FillOptions::ONE_THREAD);
            return Ok(());
        }
    }
    let writer = Writer::new(plan, options);
    write_into(out, &|lo, out| writer.write_within(lo, out, &signals::limits()))
}

fn writable<'py, T: numpy::Element>(
    out: &Bound<'py, PyArray1<T>>,
) -> PyResult<numpy::PyReadwriteArray1<'py, T>> {
    out.try_readwrite().map_err(|failed| error(Kind::Value, format!("cannot write out: {failed}")))
}

/// Elements of a part that is made aside, where elements do not lie side by side.
const PART: usize = 4096;

/// Writes into an array while Python goes on: at once if its elements lie side by side, else in
/// parts.
fn write_into<T: numpy::Element + Copy + Send>(
    out: &Bound<'_, PyArray1<T>>,
    fill: &(dyn Fn(u64, &mut [T]) -> gradus::Result<()> + Sync),
) -> PyResult<()> {
    let py = out.py();
    let mut borrowed = writable(out)?;
    if let Ok(all) = borrowed.as_slice_mut() {
        return engine(py, || fill(0, all)).or_raise();
    }
    let mut all = borrowed.as_array_mut();
    let done = engine(py, || {
        let mut part = Vec::with_capacity(PART);
        let mut lo = 0;
        for mut places in all.axis_chunks_iter_mut(numpy::ndarray::Axis(0), PART) {
            part.clear();
            part.extend(places.iter().copied());
            fill(lo, &mut part)?;
            places.iter_mut().zip(&part).for_each(|(place, element)| *place = *element);
            lo += convert::u64_of(part.len());
        }
        Ok(())
    });
    done.or_raise()
}

/// The element type that a call names, or that of the array it writes into.
pub(crate) fn output_type(
    dtype: Option<&Bound<'_, PyAny>>,
    out: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<DType>> {
    match (dtype, out) {
        (Some(asked), _) => match named(asked)? {
            DType::String => Err(mismatch(Kind::Type, "dtype", asked, "a numeric type")),
            dtype => Ok(Some(dtype)),
        },
        (None, Some(out)) => match out.cast::<PyUntypedArray>() {
            Ok(array) => named(array.dtype().as_any()).map(Some),
            // The writer reports the actual type.
            Err(_) => Ok(None),
        },
        (None, None) => Ok(None),
    }
}
