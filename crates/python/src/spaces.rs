//! The sequences between ends that `linspace`, `logspace` and `geomspace` make.

use gradus::arrays::{self, Samples as ArraySamples};
use gradus::profiles::Profile;
use gradus::{DType, Kind, Number, Tensor};
use pyo3::prelude::*;

use crate::error::{OrRaise, engine, mismatch};
use crate::functions::{Object, default_type, given};
use crate::number::{NumberArgument, argument, samples};
use crate::plan::Plan;
use crate::sequence::{Recipe, ResultForm};
use crate::tensor;

/// The arguments of linspace, logspace or geomspace.
pub(crate) struct SpaceCall<'a, 'py> {
    form: ResultForm,
    ends: [&'a Bound<'py, PyAny>; 2],
    base: Object<'a, 'py>,
    num: Object<'a, 'py>,
    endpoint: bool,
    dtype: Option<DType>,
    axis: i64,
    profile: Profile,
}

/// One sequence, or sequences between arrays.
enum Planned {
    One(Recipe),
    Many(Box<Many>),
}

struct Many {
    form: ResultForm,
    tensors: [Tensor; 3],
    samples: ArraySamples,
}

/// The number of samples if none is given.
pub(crate) const SAMPLES: u64 = 50;

impl<'a, 'py> SpaceCall<'a, 'py> {
    /// A sequence between numbers, by the exact rules.
    pub(crate) fn of_numbers(
        form: ResultForm,
        ends: [&'a Bound<'py, PyAny>; 2],
        base: Object<'a, 'py>,
        num: Object<'a, 'py>,
        endpoint: bool,
        dtype: Option<DType>,
    ) -> Self {
        SpaceCall { form, ends, base, num, endpoint, dtype, axis: 0, profile: Profile::Exact }
    }

    /// The same sequences along another axis of the result.
    pub(crate) fn along(self, axis: i64) -> Self {
        SpaceCall { axis, ..self }
    }

    /// The same sequence by the rules of a profile.
    pub(crate) fn by(self, profile: Profile) -> Self {
        SpaceCall { profile, ..self }
    }
}

impl SpaceCall<'_, '_> {
    fn planned(&self, py: Python<'_>) -> PyResult<Planned> {
        let [start, stop] = [argument(self.ends[0], "start")?, argument(self.ends[1], "stop")?];
        let base = match self.base {
            Some(base) => argument(base, "base")?,
            None => NumberArgument::Weak(Number::Float(10.0).into(), Some(DType::F64)),
        };
        let num = self.num.map_or(Ok(SAMPLES), samples)?;
        let dtype = match self.dtype {
            Some(dtype) => dtype,
            None => {
                let of_ends = default_type(py, &[&start, &stop], &self.ends, true)?;
                let complex_base = matches!(base, NumberArgument::Weak(_, Some(DType::C128)))
                    || matches!(&base, NumberArgument::Typed(_, dtype) if dtype.is_complex())
                    || matches!(&base, NumberArgument::Array(base) if base.dtype().is_complex());
                match of_ends {
                    DType::C64 | DType::C128 if self.form == ResultForm::Geomspace => DType::C128,
                    // NumPy's geomspace takes the type that the ends have in common with float64.
                    _ if self.form == ResultForm::Geomspace => DType::F64,
                    DType::F32 if complex_base => DType::C64,
                    dtype if complex_base && !dtype.is_complex() => DType::C128,
                    dtype => dtype,
                }
            }
        };
        let endpoint = self.endpoint;
        let (Some(start), Some(stop), Some(base)) = (start.number(), stop.number(), base.number()) else {
            if self.profile != Profile::Exact {
                let message = "cannot predict a profile: an end or the base";
                return Err(mismatch(Kind::Unsupported, message, "an array", "a number"));
            }
            let tensors = [start.tensor().or_raise()?, stop.tensor().or_raise()?, base.tensor().or_raise()?];
            let samples = ArraySamples { num, endpoint, axis: self.axis, dtype };
            return Ok(Planned::Many(Box::new(Many { form: self.form, tensors, samples })));
        };
        if self.axis != 0 && self.axis != -1 {
            return Err(mismatch(Kind::Shape, "axis", self.axis, "-1 or 0 for a result of rank 1"));
        }
        let (form, profile) = (self.form, self.profile);
        Ok(Planned::One(Recipe { form, start, stop, third: base, num, endpoint, dtype, profile }))
    }

    /// The elements as a new array, or in `out`, or in the memory of a device.
    pub(crate) fn array<'py>(
        &self,
        py: Python<'py>,
        out: Object<'_, 'py>,
        device: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let many = match self.planned(py)? {
            Planned::One(recipe) => return given(py, &recipe, out, device),
            Planned::Many(many) => many,
        };
        if let Some(device) = device {
            let got = format!("\"{device}\"");
            return Err(mismatch(Kind::Unsupported, "device", got, "None for sequences between arrays"));
        }
        let Many { form, tensors: [start, stop, base], samples } = *many;
        let mut limits = crate::signals::limits();
        limits.max_bytes = u64::MAX;
        let made = engine(py, || match form {
            ResultForm::Logspace => arrays::logspace(&start, &stop, &base, samples, &limits),
            ResultForm::Geomspace => arrays::geomspace(&start, &stop, samples, &limits),
            ResultForm::Range | ResultForm::Linspace => arrays::linspace(&start, &stop, samples, &limits),
        });
        let made = tensor::to_python(py, &made.or_raise()?)?;
        let Some(out) = out else { return Ok(made) };
        py.import("gradus._types")?.call_method1("assign", (out, made))?;
        Ok(out.clone())
    }

    /// The recipe of one sequence.
    pub(crate) fn recipe(&self, py: Python<'_>) -> PyResult<Recipe> {
        match self.planned(py)? {
            Planned::One(recipe) => Ok(recipe),
            Planned::Many(_) => {
                Err(mismatch(Kind::Shape, "cannot make a plan: an end or the base", "an array", "a number"))
            }
        }
    }

    /// The plan of one sequence.
    pub(crate) fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        Plan::of(self.recipe(py)?)
    }
}
