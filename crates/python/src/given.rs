//! Arguments of the methods of models: sizes, limits and values as Python gives them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gradus::Limits;
use gradus::check::{ErrorPattern, NodeCheck, OutputCheck, Verdict};
use gradus::graph::Type;
use gradus::infer::{InputFact, SizeAssumptions, Sizes};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dim::{numbers, sizes};
use crate::error::mismatch;
use crate::signals;

/// Assumptions about sizes: ranges of symbols, whether none is empty, and conditions.
pub(crate) type GivenAssumptions = (BTreeMap<String, (i64, Option<i64>)>, bool, Vec<String>);

/// Assumptions about sizes as Python gives them.
pub(crate) fn assumptions((ranges, nonempty, conditions): GivenAssumptions) -> SizeAssumptions {
    SizeAssumptions { ranges, conditions, nonempty }
}

/// Sizes of inputs as Python gives them: numbers of symbols, shapes, and assumptions.
pub(crate) type GivenSizes<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, GivenAssumptions);

/// Sizes of inputs as Python gives them.
pub(crate) fn said_of_inputs((dims, shapes, assumed): GivenSizes<'_>) -> PyResult<Sizes> {
    Ok(Sizes { dims: numbers(Some(&dims))?, inputs: given_shapes(&shapes)?, assume: assumptions(assumed) })
}

/// The fields of a `gradus.OutputCheck`.
pub(crate) type ComparedOutput =
    (String, u64, u64, Option<u64>, f64, Option<(u64, String, String)>, Option<(String, String)>);

/// Fields of the comparison of an output.
pub(crate) fn compared(output: OutputCheck) -> ComparedOutput {
    let ulps = Some(output.ulps).filter(|&ulps| ulps < u64::MAX);
    let first = output.first.map(|it| (it.index, it.before, it.after));
    (output.name, output.elements, output.differing, ulps, output.relative, first, output.types)
}

/// A node that was compared: its words, its value, label, ratio, pattern, and the index, exact
/// element, element and bound of the worst error.
type JudgedNode =
    (String, ComparedOutput, &'static str, f64, Option<&'static str>, Option<(u64, String, String, f64)>);

/// The fields of a `gradus.NodeCheck`.
pub(crate) fn judged(node: NodeCheck) -> JudgedNode {
    let Verdict { label, ratio, worst, pattern, .. } = node.verdict;
    let worst = worst.map(|it| (it.index, it.exact, it.given, it.bound));
    (node.node, compared(node.value), label.name(), ratio, pattern.map(ErrorPattern::name), worst)
}

/// Limits that a call is given: bytes, elements, and seconds from now.
#[derive(FromPyObject)]
pub(crate) struct GivenLimits(pub(crate) Option<u64>, pub(crate) Option<u64>, pub(crate) Option<f64>);

impl GivenLimits {
    /// The time alone, and the usual limits.
    pub(crate) fn of_time(timeout: Option<f64>) -> PyResult<Limits> {
        GivenLimits(None, None, timeout).over(signals::limits())
    }

    /// These limits, in place of a model's own.
    pub(crate) fn over(&self, mut limits: Limits) -> PyResult<Limits> {
        let &GivenLimits(max_bytes, max_work, timeout) = self;
        limits.max_bytes = max_bytes.unwrap_or(limits.max_bytes);
        limits.max_work = max_work.unwrap_or(limits.max_work);
        if let Some(timeout) = timeout {
            let after = Duration::try_from_secs_f64(timeout).ok();
            let wanted = "a number of seconds from 0";
            let wrong = || mismatch(gradus::Kind::Value, "timeout", timeout, wanted);
            limits.deadline = Instant::now().checked_add(after.ok_or_else(wrong)?);
        }
        Ok(limits)
    }
}

/// Shapes of inputs, by name.
pub(crate) fn given_shapes(shapes: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, InputFact>> {
    let shape = |(name, shape): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract()?, InputFact::Type(Type::Tensor(None, sizes(Some(&shape))?))))
    };
    shapes.iter().map(shape).collect()
}

/// Numbers and lists of Python have no element type of their own: they take the one that the model
/// declares.
pub(crate) fn typed<'py>(value: &Bound<'py, PyAny>, declared: Option<&Type>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let plain = ["int", "float", "bool", "complex", "list", "tuple"];
    let is_plain = plain.contains(&crate::error::type_name(value).as_str());
    match declared.and_then(Type::dtype) {
        Some(dtype) if is_plain => {
            let made = py
                .import("gradus._models")?
                .call_method1("exactly", (value, crate::dtype::descriptor(py, dtype)?))?;
            if made.is_none() {
                let wanted = format!("a number that {dtype} holds");
                return Err(mismatch(gradus::Kind::Value, "an input", value.repr()?, wanted));
            }
            Ok(made)
        }
        _ => Ok(value.clone()),
    }
}
