//! Results of programs for one call, for the table that Python makes of it, and for a model.

use std::collections::BTreeMap;

use gradus::compare::{Difference, Found, compare as compared};
use gradus::portability::{PROGRAMS, Portability, VERSIONS};
use gradus::profiles::{FailureKind, Profile};
use gradus::seq::RangePlan;
use gradus::{DType, Error, Number, text};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::OrRaise;
use crate::functions::range_recipe;
use crate::number::truth;
use crate::sequence::{Recipe, ResultForm, output_type, with_plan};
use crate::spaces::SpaceCall;

/// The fields of `gradus.Portability` as a dict.
pub(crate) fn portability_to_python<'py>(
    py: Python<'py>,
    found: &Portability,
) -> PyResult<Bound<'py, PyDict>> {
    let by_program = |texts: [&'static str; 3]| PROGRAMS.into_iter().zip(texts).collect::<BTreeMap<_, _>>();
    let differences = found.differences.iter().map(|it| {
        let (rule, of) = (it.rule.name, it.when.name());
        let sequences: BTreeMap<_, _> = it.sequences.iter().cloned().collect();
        (&it.node, &it.operator, rule, of, it.condition(), by_program(it.rule.results), sequences)
    });
    let inference = found.inference();
    let assumptions: Vec<_> = inference.conditions().iter().map(|a| (&a.node, &a.text)).collect();
    let problems: Vec<_> = inference.problems().iter().map(|p| (&p.place, &p.message)).collect();
    let warnings: Vec<_> = inference.warnings().iter().map(|p| (&p.place, &p.message)).collect();
    let fields = PyDict::new(py);
    fields.set_item("programs", by_program(VERSIONS))?;
    fields.set_item("differences", differences.collect::<Vec<_>>())?;
    let mut sequences = Vec::new();
    for it in &found.sequences {
        let exact = it.results.first().and_then(|(_, exact)| Some(exact.as_ref().ok()?.dtype));
        let rows = it.results.iter().map(|(profile, result)| {
            let dtype = exact.or_else(|| Some(result.as_ref().ok()?.dtype)).unwrap_or(DType::F64);
            row(py, *profile, result.clone(), dtype)
        });
        sequences.push((&it.node, &it.operator, &it.call, rows.collect::<PyResult<Vec<_>>>()?));
    }
    fields.set_item("sequences", sequences)?;
    fields.set_item("assumptions", assumptions)?;
    fields.set_item("warnings", warnings)?;
    fields.set_item("problems", problems)?;
    Ok(fields)
}

fn shown(number: Number, dtype: DType) -> String {
    match number {
        Number::Complex(re, im) => {
            let part = |x| text::shortest(Number::Float(x), dtype.component());
            format!("{}{}{}j", part(re), if im.is_sign_negative() { "" } else { "+" }, part(im))
        }
        _ => text::shortest(number, dtype),
    }
}

fn row(
    py: Python<'_>,
    profile: Profile,
    found: Result<Found, String>,
    exact: DType,
) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("profile", profile.name())?;
    row.set_item("program", profile.program())?;
    match found {
        Err(message) => row.set_item("error", message)?,
        Ok(Found {
            dtype,
            len,
            first,
            last,
            tolerance,
            exact: is_exact,
            compared,
            differing,
            difference,
            largest,
            parts: _,
            why,
        }) => {
            let all = |numbers: Vec<Number>| numbers.into_iter().map(|x| shown(x, dtype)).collect::<Vec<_>>();
            row.set_item("dtype", dtype.name())?;
            row.set_item("length", len)?;
            row.set_item("first", all(first))?;
            row.set_item("last", last.map(|number| shown(number, dtype)))?;
            row.set_item("tolerance", tolerance)?;
            row.set_item("exact", is_exact)?;
            row.set_item("compared", compared)?;
            row.set_item("differing", differing)?;
            let texts = |d: Difference| (d.index, shown(d.value, dtype), shown(d.exact, exact));
            row.set_item("difference", difference.map(texts))?;
            row.set_item("largest", largest.and_then(|d| Some((d.index, d.ulps?))))?;
            row.set_item("why", why)?;
        }
    }
    Ok(row)
}

/// The message with which a program refuses a call, or `None`; `third` is the step or the base.
#[pyfunction]
pub(crate) fn _refusal(
    py: Python<'_>,
    profile: &str,
    function: &str,
    start: Option<&Bound<'_, PyAny>>,
    stop: &Bound<'_, PyAny>,
    third: Option<&Bound<'_, PyAny>>,
    num: Option<&Bound<'_, PyAny>>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<Option<String>> {
    let profile: Profile = profile.parse().or_raise()?;
    let recipe = recipe(py, function, [start, Some(stop), third], num, true, Some(dtype))?;
    let failure = recipe.outcome(profile)?.err().filter(|failure| failure.kind() == FailureKind::Refused);
    Ok(failure.map(|failure| failure.message().to_owned()))
}

/// The sequence that a call asks for, by the name of its function; the third number is the step or
/// the base.
fn recipe<'py>(
    py: Python<'py>,
    function: &str,
    [start, stop, third]: [Option<&Bound<'py, PyAny>>; 3],
    num: Option<&Bound<'py, PyAny>>,
    endpoint: bool,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Recipe> {
    let dtype = output_type(dtype, None)?;
    match (function, start, stop) {
        ("linspace", Some(start), Some(stop)) => {
            SpaceCall::of_numbers(ResultForm::Linspace, [start, stop], None, num, endpoint, dtype).recipe(py)
        }
        ("logspace", Some(start), Some(stop)) => {
            SpaceCall::of_numbers(ResultForm::Logspace, [start, stop], third, num, endpoint, dtype).recipe(py)
        }
        ("geomspace", Some(start), Some(stop)) => {
            SpaceCall::of_numbers(ResultForm::Geomspace, [start, stop], None, num, endpoint, dtype).recipe(py)
        }
        _ => range_recipe(py, [start, stop, third], dtype, Profile::Exact),
    }
}

/// Returns each program's result for a call, and the call as text; `third` is the step or the base.
#[pyfunction]
pub(crate) fn _compare<'py>(
    py: Python<'py>,
    function: &str,
    start: Option<&Bound<'py, PyAny>>,
    stop: Option<&Bound<'py, PyAny>>,
    third: Option<&Bound<'py, PyAny>>,
    num: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = truth)] endpoint: bool,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, Vec<Bound<'py, PyDict>>)> {
    let recipe = recipe(py, function, [start, stop, third], num, endpoint, dtype)?;
    // Either all programs can be predicted or none.
    let _checked = recipe.outcome(Profile::Exact)?;
    let predict = |profile| recipe.outcome(profile).expect("the arguments have been checked");
    let rows = match recipe.exact() {
        Ok(sequence) => with_plan!(sequence, plan => compared(&Ok::<_, Error>(plan), predict)),
        Err(error) => compared::<RangePlan>(&Err(error), predict),
    };
    let rows = rows.into_iter().map(|(profile, found)| row(py, profile, found, recipe.dtype));
    Ok((recipe.text(py)?, rows.collect::<PyResult<_>>()?))
}
