//! Plans: sequences that are not written yet. They know their length and every element, and fit
//! into a few bytes.

use std::hash::{DefaultHasher, Hash, Hasher};

use gradus::profiles::Profile;
use gradus::{DType, Kind, convert};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PySlice, PyTuple};

use crate::error::{OrRaise, error, mismatch};
use crate::number::{argument, exact_to_python};
use crate::sequence::{Recipe, ResultForm, Sequence, check_out, empty};
use crate::tensor::new_array;
use crate::{arrow, dlpack};

/// A window of a sequence: a first element, and a stride that may be negative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlanWindow {
    first: i64,
    stride: i64,
    len: i64,
}

/// A sequence that is planned and not written: a length and exact elements.
///
/// Plans are sequences of Python: they have a length, elements, slices and
/// iteration, and they can be pickled. NumPy, DLPack and Arrow read them.
///
/// Example:
///     >>> import gradus
///     >>> plan = gradus.plan.linspace(0, 1, 10**12 + 1)
///     >>> len(plan), plan[-1]
///     (1000000000001, np.float64(1.0))
///     >>> plan[::250_000_000_000].to_numpy()
///     array([0.  , 0.25, 0.5 , 0.75, 1.  ])
#[pyclass(frozen, sequence, module = "gradus._native", name = "Plan")]
#[derive(Debug)]
pub(crate) struct Plan {
    recipe: Recipe,
    whole: Sequence,
    window: PlanWindow,
}

impl Plan {
    /// Plans the whole sequence of a recipe.
    pub(crate) fn of(recipe: Recipe) -> PyResult<Plan> {
        let whole = recipe.plan()?;
        let len = i64::try_from(whole.len())
            .map_err(|_| error(Kind::Limit, "a plan has at most 2^63 - 1 elements"))?;
        Ok(Plan { recipe, whole, window: PlanWindow { first: 0, stride: 1, len } })
    }

    fn with(&self, window: PlanWindow) -> Plan {
        Plan { recipe: self.recipe.clone(), whole: self.whole.clone(), window }
    }

    fn len(&self) -> u64 {
        self.window.len.unsigned_abs()
    }

    fn part(&self, lo: i64, hi: i64) -> Plan {
        let PlanWindow { first, stride, .. } = self.window;
        self.with(PlanWindow { first: first + lo * stride, stride, len: hi - lo })
    }

    /// The elements, if they lie side by side in the whole sequence, as a sequence of their own.
    fn side_by_side(&self) -> Option<Sequence> {
        let PlanWindow { first, stride, len } = self.window;
        let lo = u64::try_from(first).ok()?;
        (stride == 1 || len <= 1).then(|| self.whole.slice(lo, lo + self.len()))
    }

    /// Writes elements that do not lie side by side: what lies around them is made aside, a block
    /// at a time.
    fn write_strided(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        const BLOCK: i64 = 1 << 16;
        let py = out.py();
        let PlanWindow { first, stride, len } = self.window;
        let most = (BLOCK / stride.abs()).max(1);
        let mut lo = 0;
        while lo < len {
            let hi = len.min(lo + most);
            let ends = [first + lo * stride, first + (hi - 1) * stride].map(i64::unsigned_abs);
            let block = self.whole.slice(ends[0].min(ends[1]), ends[0].max(ends[1]) + 1).array(py)?;
            let every = PySlice::full(py).get_type().call1((py.None(), py.None(), stride))?;
            let place = PySlice::full(py).get_type().call1((lo, hi))?;
            out.set_item(place, block.get_item(every)?)?;
            lo = hi;
        }
        Ok(())
    }
}

impl Plan {
    fn element<'py>(&self, py: Python<'py>, at: i64) -> PyResult<Bound<'py, PyAny>> {
        self.part(at, at + 1).to_numpy(py, None)?.get_item(0)
    }

    /// The index of the first element that equals a value, and how many do.
    fn find(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<(i64, i64)>> {
        let (py, len) = (value.py(), self.window.len);
        if len == 0 {
            return Ok(None);
        }
        if !self.whole.is_monotone() {
            return self.scan(value);
        }
        let ascending = self.element(py, 0)?.le(self.element(py, len - 1)?)?;
        // The first index from which on elements are beyond the value, or equal to it.
        let bisect = |or_equal: bool| -> PyResult<i64> {
            let (mut lo, mut hi) = (0, len);
            while lo < hi {
                let middle = lo + (hi - lo) / 2;
                let element = self.element(py, middle)?;
                let before = if ascending { element.lt(value)? } else { element.gt(value)? };
                if before || (or_equal && element.eq(value)?) { lo = middle + 1 } else { hi = middle }
            }
            Ok(lo)
        };
        match bisect(false).and_then(|first| Ok((first, bisect(true)? - first))) {
            Ok((_, 0)) => Ok(None),
            Ok(found) => Ok(Some(found)),
            // Objects that have no order with numbers equal none.
            Err(failed) if failed.is_instance_of::<PyTypeError>(py) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    /// As [`Plan::find`], by comparing all elements.
    fn scan(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<(i64, i64)>> {
        const BLOCK: i64 = 1 << 16;
        let py = value.py();
        let numpy = py.import("numpy")?;
        let mut found = None;
        for lo in (0..self.window.len).step_by(1 << 16) {
            py.check_signals()?;
            let block = self.part(lo, self.window.len.min(lo + BLOCK)).to_numpy(py, None)?;
            let equal = numpy.call_method1("flatnonzero", (numpy.call_method1("equal", (block, value))?,))?;
            let count = convert::i64_of(equal.len()?);
            if count > 0 {
                let (first, before) = found.unwrap_or((lo + equal.get_item(0)?.extract::<i64>()?, 0));
                found = Some((first, before + count));
            }
        }
        Ok(found)
    }
}

#[pymethods]
impl Plan {
    fn __len__(&self) -> usize {
        convert::usize_of(self.len())
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> i64 {
        self.window.len
    }

    /// The shape: one size.
    #[getter]
    fn shape(&self) -> (i64,) {
        (self.window.len,)
    }

    /// The type that an array of the elements has.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(crate::dtype::descriptor(py, self.whole.dtype())?.into_any())
    }

    /// Bytes that an array of all elements takes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<i64> {
        let width: i64 = self.dtype(py)?.getattr("itemsize")?.extract()?;
        Ok(self.window.len.saturating_mul(width))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let PlanWindow { first, stride, len } = self.window;
        if let Ok(slice) = index.cast::<PySlice>() {
            let (lo, hi, step): (i64, i64, i64) = slice.call_method1("indices", (len,))?.extract()?;
            let span = if step > 0 { hi.saturating_sub(lo) } else { lo.saturating_sub(hi) };
            let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            // With at most one element, the stride means nothing and may be too large.
            let stride = if count > 1 { stride * step } else { 1 };
            let first = if count > 0 { first + lo * self.window.stride } else { 0 };
            return Ok(Bound::new(py, self.with(PlanWindow { first, stride, len: count }))?.into_any());
        }
        let index: i64 =
            py.import("operator")?.call_method1("index", (index,))?.extract().unwrap_or(i64::MAX);
        let at = if index < 0 { index + len } else { index };
        if !(0..len).contains(&at) {
            return Err(PyIndexError::new_err(format!(
                "index {index} is not within a plan of {len} elements"
            )));
        }
        self.element(py, at)
    }

    /// Returns true if an element equals the value.
    fn __contains__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.find(value)?.is_some())
    }

    /// Returns the index of the first element that equals a value.
    ///
    /// It is found by bisection, unless the elements wrap around or are
    /// complex.
    ///
    /// Args:
    ///     value: a number.
    ///
    /// Returns:
    ///     The index, from 0 on.
    ///
    /// Raises:
    ///     ValueError: if no element equals the value.
    ///
    /// Example:
    ///     >>> gradus.plan.arange(0, 10**15, 3).index(300)
    ///     100
    fn index(&self, value: &Bound<'_, PyAny>) -> PyResult<i64> {
        match self.find(value)? {
            Some((first, _)) => Ok(first),
            None => Err(PyValueError::new_err(format!("{} is not in the plan", value.repr()?))),
        }
    }

    /// Counts the elements that equal a value.
    ///
    /// Args:
    ///     value: a number.
    ///
    /// Returns:
    ///     The number of elements.
    ///
    /// Example:
    ///     >>> gradus.plan.linspace(0, 1, 10**6, dtype=int).count(0)
    ///     999999
    fn count(&self, value: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(self.find(value)?.map_or(0, |(_, count)| count))
    }

    /// Writes the elements from index `lo` to `hi`.
    ///
    /// Args:
    ///     lo: the first index.
    ///     hi: the index after the last one.
    ///     out: an array to write into, of shape `(hi - lo,)`.
    ///
    /// Returns:
    ///     An array of shape `(hi - lo,)`: `out`, if it is given.
    ///
    /// Raises:
    ///     ArgumentError: if an index is out of range.
    ///     DTypeError: if `out` has another element type.
    ///     ShapeError: if `out` has another shape.
    ///
    /// Example:
    ///     >>> gradus.plan.arange(10**15).chunk(7, 10)
    ///     array([7, 8, 9])
    #[pyo3(signature = (lo, hi, out=None))]
    fn chunk<'py>(
        &self,
        py: Python<'py>,
        lo: i64,
        hi: i64,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let len = self.window.len;
        if lo < 0 || hi < lo || hi > len {
            let (got, wanted) = (format!("{lo} to {hi}"), format!("within 0 to {len}"));
            return Err(mismatch(Kind::Value, "the chunk", got, wanted));
        }
        self.part(lo, hi).to_numpy(py, out)
    }

    /// Writes all elements.
    ///
    /// Args:
    ///     out: an array to write into, of the plan's shape and type.
    ///
    /// Returns:
    ///     An array of one axis: `out`, if it is given.
    ///
    /// Raises:
    ///     DTypeError: if `out` has another element type.
    ///     ShapeError: if `out` has another shape.
    ///     MemoryError: if the system has no room for the elements.
    ///
    /// Example:
    ///     >>> gradus.plan.arange(10**15)[:3].to_numpy()
    ///     array([0, 1, 2])
    #[pyo3(signature = (out=None))]
    fn to_numpy<'py>(&self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(sequence) = self.side_by_side() {
            let Some(out) = out else { return sequence.array(py) };
            sequence.fill(out)?;
            return Ok(out.clone());
        }
        let out = match out {
            Some(out) => {
                check_out(out, self.len(), self.whole.dtype())?;
                out.clone()
            }
            None => empty(py, self.len(), self.whole.dtype())?,
        };
        self.write_strided(&out)?;
        Ok(out)
    }

    /// Writes the elements into an array of Zarr, chunk by chunk.
    ///
    /// Needs the package `zarr`, from version 3 on.
    ///
    /// Args:
    ///     store: a path, or a store of Zarr.
    ///     chunks: the number of elements of a chunk.
    ///     **options: options of `zarr.create_array`: `name`, `overwrite`, …
    ///
    /// Returns:
    ///     The array of Zarr.
    ///
    /// Raises:
    ///     UsageError: if `chunks` is below 1.
    ///     ValueError: if Zarr has no such element type.
    ///
    /// Example:
    ///     >>> import gradus, os, tempfile, zarr
    ///     >>> plan = gradus.plan.linspace(0, 1, 10**6 + 1)
    ///     >>> path = os.path.join(tempfile.mkdtemp(), "ramp.zarr")
    ///     >>> array = plan.to_zarr(path, chunks=100_000)
    ///     >>> float(zarr.open_array(path)[500_000])
    ///     0.5
    #[pyo3(signature = (store, **options), text_signature = "($self, store, *, chunks=1048576, **options)")]
    fn to_zarr<'py>(
        slf: &Bound<'py, Plan>,
        store: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("gradus._stores")?.getattr("to_zarr")?.call((slf, store), options)
    }

    /// Writes the elements into a file of Parquet, row group by row group.
    ///
    /// Needs the package `pyarrow`. The file appears when it is complete.
    ///
    /// Args:
    ///     path: the file.
    ///     column: the name of the only column.
    ///     rows: the number of rows of a group.
    ///     **options: options of `pyarrow.parquet.ParquetWriter`:
    ///         `compression`, …
    ///
    /// Raises:
    ///     UsageError: if `rows` is below 1.
    ///     DTypeError: if Arrow has no such element type.
    ///
    /// Example:
    ///     >>> import gradus, os, tempfile
    ///     >>> path = os.path.join(tempfile.mkdtemp(), "ids.parquet")
    ///     >>> gradus.plan.arange(10**6).to_parquet(path, column="id")
    #[pyo3(
        signature = (path, **options),
        text_signature = "($self, path, *, column='values', rows=1048576, **options)"
    )]
    fn to_parquet<'py>(
        slf: &Bound<'py, Plan>,
        path: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("gradus._stores")?.getattr("to_parquet")?.call((slf, path), options)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        new_array(dtype, copy, "a plan has no array yet, so one must be made", || self.to_numpy(py, None))
    }

    /// Writes all elements into memory that DLPack exports.
    #[pyo3(signature = (**how))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        how: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let exported = py.import("gradus._dlpack")?.getattr("Exported")?;
        exported.call1((self.to_numpy(py, None)?,))?.call_method("__dlpack__", (), how)
    }

    /// Returns the processor, on which all plans are written.
    #[allow(clippy::unused_self, reason = "the protocol calls a method")]
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CPU, 0)
    }

    /// Writes all elements into memory that Arrow's C data interface exports.
    ///
    /// The array has the plan's element type, whatever schema is requested.
    ///
    /// Raises:
    ///     DTypeError: if Arrow has no such element type.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        arrow::capsules(&self.to_numpy(py, None)?, self.whole.dtype())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let &Recipe { form, ref start, ref stop, ref third, num, endpoint, dtype, profile } = &self.recipe;
        let PlanWindow { first, stride, len } = self.window;
        let numbers = (exact_to_python(py, start)?, exact_to_python(py, stop)?, exact_to_python(py, third)?);
        let arguments =
            (form.name(), numbers, num, endpoint, dtype.name(), profile.name(), (first, stride, len));
        Ok((py.import("gradus._native")?.getattr("_plan")?, arguments.into_pyobject(py)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Plan>().is_ok_and(|other| {
            let other = other.get();
            self.recipe == other.recipe && self.window == other.window
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{:?}{:?}", self.recipe, self.window).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the call and the elements at both ends, as a table.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let html = slf.py().import("gradus._html")?;
        html.call_method1("sequence", (slf, slf.getattr("dtype")?))?.extract()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let call = self.recipe.text(py)?;
        let PlanWindow { first, stride, len } = self.window;
        if stride == 1 && self.len() == self.whole.len() {
            return Ok(call);
        }
        // An end before the first element has no index of its own.
        let end = Some(first + len * stride).filter(|&end| end >= 0);
        let end = end.map_or_else(String::new, |end| end.to_string());
        let by = if stride == 1 { String::new() } else { format!(":{stride}") };
        Ok(format!("{call}[{first}:{end}{by}]"))
    }
}

/// A plan from what its pickle holds.
#[pyfunction]
pub(crate) fn _plan(
    form: &str,
    numbers: (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>),
    num: u64,
    endpoint: bool,
    dtype: &str,
    profile: &str,
    window: (i64, i64, i64),
) -> PyResult<Plan> {
    let wrong = |what: &str| error(Kind::Value, format!("cannot unpickle a plan: unexpected {what}"));
    let form = ResultForm::ALL.iter().find(|(_, name)| *name == form).ok_or_else(|| wrong(form))?.0;
    let number =
        |object: &Bound<'_, PyAny>| argument(object, "a number")?.number().ok_or_else(|| wrong("an array"));
    let recipe = Recipe {
        form,
        start: number(&numbers.0)?,
        stop: number(&numbers.1)?,
        third: number(&numbers.2)?,
        num,
        endpoint,
        dtype: dtype.parse::<DType>().or_raise()?,
        profile: profile.parse::<Profile>().or_raise()?,
    };
    let plan = Plan::of(recipe)?;
    let (first, stride, len) = window;
    let last = first.checked_add(stride.checked_mul(len - 1).ok_or_else(|| wrong("its window"))?);
    let whole = plan.window.len;
    let within = |index: i64| (0..whole).contains(&index);
    let fits = len == 0 || (len > 0 && within(first) && last.is_some_and(within));
    if !fits || (len == 0 && !(0..=whole).contains(&first)) {
        return Err(wrong("its window"));
    }
    Ok(plan.with(PlanWindow { first, stride, len }))
}
