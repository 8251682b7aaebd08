//! What programs give for one call, for the table that Python makes of it.

use gradus::compare::{Found, compare as compared};
use gradus::seq::profile::Profile;
use gradus::{DType, Error, Kind, Number, text};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::error;
use crate::plan::Plan;
use crate::sequence::{Form, with_plan};

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
        Ok(Found { dtype, len, first, last, exact: is_exact, difference, why }) => {
            let all = |numbers: Vec<Number>| numbers.into_iter().map(|x| shown(x, dtype)).collect::<Vec<_>>();
            row.set_item("dtype", dtype.name())?;
            row.set_item("length", len)?;
            row.set_item("first", all(first))?;
            row.set_item("last", last.map(|number| shown(number, dtype)))?;
            row.set_item("exact", is_exact)?;
            let difference = difference.map(|d| (d.index, shown(d.value, dtype), shown(d.exact, exact)));
            row.set_item("difference", difference)?;
            row.set_item("why", why)?;
        }
    }
    Ok(row)
}

/// What every program gives for the call that a plan was made from.
#[pyfunction]
pub(crate) fn _compare<'py>(py: Python<'py>, plan: &Bound<'py, Plan>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let plan = plan.get();
    let recipe = plan.recipe();
    if recipe.form == Form::Geomspace {
        return Err(error(Kind::Unsupported, "of geomspace, no program is predicted"));
    }
    // Arguments were checked when the plan was made.
    let _checked = recipe.outcome(Profile::Exact)?;
    let predict = |profile| recipe.outcome(profile).expect("the arguments have been checked");
    let rows = with_plan!(plan.whole(), whole => compared(&Ok::<_, Error>(whole.clone()), predict));
    rows.into_iter().map(|(profile, found)| row(py, profile, found, recipe.dtype)).collect()
}
