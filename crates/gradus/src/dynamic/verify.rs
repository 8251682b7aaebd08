//! Proofs and runs that show that a dynamic model is the models it was made of.

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::sort::SharedSort;
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Limits, Result, Shape, Tensor, Value};

use crate::check::accepted::Accepted;
use crate::check::plan::{PlannedRun, SizeChoice};
use crate::dim::Dim;
use crate::model::Model;
use crate::prove::{ProveOptions, Verdict};
use gradus_engine::infer::{InferOptions, Inference, Sizes};

/// Shows that the dynamic model is a source at its sizes, but for rounding if a table of it is
/// rounded otherwise; how it was shown.
///
/// # Errors
/// [`Kind::Graph`] if it is not, or if nothing shows it.
pub(super) fn same_at_source(
    dynamic: &Model,
    source: &Model,
    rounded: bool,
    options: &ProveOptions,
) -> Result<&'static str> {
    let proved = source.prove(dynamic, options)?;
    match proved.verdict {
        Verdict::Equivalent => Ok("proved"),
        Verdict::Undecided if proved.runs > 0 => Ok("compared by runs"),
        Verdict::Undecided => {
            let reason = proved.reason.unwrap_or_else(|| "no run ended".to_owned());
            Err(Error::new(
                Kind::Graph,
                format!("cannot compare the dynamic model with its source: {reason}"),
            ))
        }
        Verdict::Different(_) if rounded && is_near_at_source(dynamic, source, options)? => {
            Ok("but for the rounding of a table, compared by runs")
        }
        Verdict::Different(witness) => {
            let name = witness.outputs.first().map_or("", |output| &output.name);
            let message = format!(
                "the dynamic model is not its source at the source's sizes: output \"{name}\" differs"
            );
            Err(Error::new(Kind::Graph, message))
        }
    }
}

/// Returns true if runs of both models on the same inputs have the same results but for rounding.
fn is_near_at_source(dynamic: &Model, source: &Model, options: &ProveOptions) -> Result<bool> {
    let limits = options.limits.unwrap_or(source.limits());
    let (mut draw, run) = (drawn(source, limits)?, crate::RunOptions::default().within(limits));
    let programs = (source.compile(&[], &run)?, dynamic.compile(&[], &run)?);
    for _ in 0..COPIES {
        let Some(inputs) = draw() else { return Ok(false) };
        let (own, other) = (programs.0.run(named(&inputs))?, programs.1.run(named(&inputs))?);
        for &id in source.graph().outputs() {
            let name = &*source.graph().value(id).name;
            if !is_near(own[name].tensor()?, other[name].tensor()?) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Random inputs of a model at its own sizes, of one run after the other.
fn drawn(source: &Model, limits: Limits) -> Result<impl FnMut() -> Option<Vec<(String, Value)>>> {
    let given = Sizes::default();
    let accepted = Accepted::of(&source.infer(&InferOptions::of(given.clone()))?);
    let planned = PlannedRun::plain(SizeChoice::Declared);
    let mut random = fastrand::Rng::with_seed(1);
    Ok(move || {
        let drawn = source.random_inputs(&given, &mut random, (&planned, 0, &accepted), limits);
        Some(drawn.ok().flatten()?.0)
    })
}

/// A copy of inputs, for a run.
fn named(inputs: &[(String, Value)]) -> Vec<(String, Value)> {
    inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Number of runs of the source that one of the dynamic model has the inputs of.
const COPIES: usize = 3;

/// The outcome of a run on the inputs of several runs.
pub(super) enum Stacking {
    Same,
    /// The reason: an output that differs, or the error of the run.
    Differs(String),
    /// No such run ends.
    NotRun,
}

impl Stacking {
    /// Returns true if the run returned what the several runs did.
    pub(super) const fn is_same(&self) -> bool {
        matches!(self, Stacking::Same)
    }
}

/// Returns whether a run of the dynamic model on the inputs of several runs of the source returns
/// the outputs of these, one after the other along the axes of a symbol.
pub(super) fn stacks(
    dynamic: &Model,
    inference: &Inference,
    source: &Model,
    symbol: &str,
    limits: Limits,
) -> Result<Stacking> {
    let mut draw = drawn(source, limits)?;
    let mut runs = Vec::new();
    for _ in 0..COPIES {
        let Some(inputs) = draw() else { return Ok(Stacking::NotRun) };
        runs.push(inputs);
    }
    let mut stacked = Vec::new();
    for index in 0..runs[0].len() {
        let name = runs[0][index].0.clone();
        let axis = axis_of(dynamic, &name, symbol)?;
        let Some(axis) = axis else {
            let shared = runs[0][index].clone();
            for run in &mut runs {
                run[index] = shared.clone();
            }
            stacked.push(shared);
            continue;
        };
        let parts = runs.iter().map(|run| run[index].1.tensor().cloned()).collect::<Result<Vec<_>>>()?;
        stacked.push((name, Value::from(joined(&parts, axis, &limits)?)));
    }
    let options = crate::RunOptions::default().within(limits);
    let program = source.compile(&[], &options)?;
    let mut parts = Vec::new();
    for inputs in &runs {
        match program.run(named(inputs)) {
            Ok(outputs) => parts.push(outputs),
            Err(_) => return Ok(Stacking::NotRun),
        }
    }
    let whole = match dynamic.compile(&[], &options)?.run(named(&stacked)) {
        Ok(outputs) => outputs,
        Err(error) if error.kind() == Kind::Limit => return Ok(Stacking::NotRun),
        Err(error) => return Ok(Stacking::Differs(error.to_string())),
    };
    for &id in dynamic.graph().outputs() {
        let name = &*dynamic.graph().value(id).name;
        let Some(fact) = inference.fact(id).as_tensor() else { return Ok(Stacking::NotRun) };
        let dims = fact.dims.iter().flat_map(|dims| dims.iter());
        let has = |dim: &Dim| inference.symbols().symbols_of(*dim).iter().any(|of| &*of.name == symbol);
        let axis = dims.clone().position(has);
        let all = parts.iter().map(|outputs| outputs[name].tensor().cloned()).collect::<Result<Vec<_>>>()?;
        let wanted = match axis {
            Some(axis) => joined(&all, axis, &limits)?,
            None if all.iter().all(|part| is_near(part, &all[0])) => all[0].clone(),
            None => {
                let reason = format!("output \"{}\" has one row for all of them", name_in_message(name));
                return Ok(Stacking::Differs(reason));
            }
        };
        if !is_near(&wanted, whole[name].tensor()?) {
            return Ok(Stacking::Differs(format!("output \"{}\" differs", name_in_message(name))));
        }
    }
    Ok(Stacking::Same)
}

/// The axis of an input that a symbol is the size of.
fn axis_of(model: &Model, input: &str, symbol: &str) -> Result<Option<usize>> {
    let declared = &model.graph().value(model.input(input)?).declared;
    let Some(Type::Tensor(_, Some(sizes))) = declared else { return Ok(None) };
    Ok(sizes.iter().position(|size| matches!(size, DeclaredDim::Symbol(name) if **name == *symbol)))
}

/// Tensors of one shape, one after the other along an axis.
fn joined(parts: &[Tensor], axis: usize, limits: &Limits) -> Result<Tensor> {
    let dims = parts[0].shape().dims();
    if let Some(other) = parts.iter().find(|part| part.shape() != parts[0].shape()) {
        return Err(Error::mismatch(Kind::Shape, "shape", other.shape(), parts[0].shape()));
    }
    let inner: usize = dims[axis..].iter().product();
    let mut whole = dims.to_vec();
    whole[axis] *= parts.len();
    let outer: usize = dims[..axis].iter().product();
    let places = (0..outer).flat_map(|row| {
        (0..parts.len()).flat_map(move |part| (0..inner).map(move |at| (part, row * inner + at)))
    });
    Tensor::woven(&parts.iter().collect::<Vec<_>>(), Shape::new(whole)?, places, limits)
}

/// Returns true if floats are the same but for rounding, and other elements are the same.
fn is_near(a: &Tensor, b: &Tensor) -> bool {
    const NEAR: f64 = 1e-4;
    if a.shape() != b.shape() || a.dtype() != b.dtype() {
        return false;
    }
    let (Ok(own), Ok(others)) = (a.numbers(), b.numbers()) else { return a.bytes() == b.bytes() };
    let near = |(a, b): (gradus_core::Number, gradus_core::Number)| match (a, b) {
        (gradus_core::Number::Float(a), gradus_core::Number::Float(b)) => {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= NEAR * a.abs().max(b.abs()).max(1.0)
        }
        (a, b) => a == b,
    };
    own.zip(others).all(near)
}

/// Runs the dynamic model once at sizes that no source has, if its conditions hold there: twice or
/// three times those of the first, or halfway to those of the last; the sizes in words.
///
/// # Errors
/// [`Kind::Graph`] with the error of the last run if none of them succeeds.
pub(super) fn runs_elsewhere(
    dynamic: &Model,
    sources: &[HashMap<Arc<str>, i64>],
    limits: Limits,
) -> Result<Option<String>> {
    let (first, last_source) = (&sources[0], &sources[sources.len() - 1]);
    let twice = |times: i64| first.iter().map(|(name, size)| (name.clone(), size * times)).collect();
    let halfway = |(name, size): (&Arc<str>, &i64)| {
        let other = last_source.get(name).unwrap_or(size);
        (name.clone(), size.midpoint(*other))
    };
    let mut all: Vec<HashMap<Arc<str>, i64>> = vec![twice(2), twice(3)];
    if sources.len() > 1 {
        all.push(first.iter().map(halfway).collect());
    }
    let open = dynamic.infer(&InferOptions::default())?;
    let mut last = None;
    for sizes in all {
        let size = |name: &str| sizes.get(name).copied();
        let value = |dim| open.symbols().evaluate(dim, &size);
        let fails = open.conditions().iter().filter_map(|condition| condition.relation).any(|relation| {
            let both = value(relation.left).zip(value(relation.right));
            both.is_some_and(|(left, right)| !relation.relation.holds(left, right))
        });
        if fails {
            continue;
        }
        let dims = sizes.iter().map(|(name, size)| (name.to_string(), *size)).collect();
        let given = Sizes { dims, ..Sizes::default() };
        let accepted = Accepted::of(&dynamic.infer(&InferOptions::of(given.clone()))?);
        let planned = PlannedRun::plain(SizeChoice::Declared);
        let mut random = fastrand::Rng::with_seed(2);
        let drawn = dynamic.random_inputs(&given, &mut random, (&planned, 0, &accepted), limits)?;
        let Some((inputs, _)) = drawn else { continue };
        let options = crate::RunOptions::default().within(limits);
        match dynamic.compile(&[], &options)?.run(inputs) {
            Ok(_) => {
                let mut named: Vec<_> =
                    given.dims.iter().map(|(name, size)| format!("{name} = {size}")).collect();
                named.shared_sort();
                return Ok(Some(format!("runs where {}", named.join(", "))));
            }
            Err(error) if error.kind() == Kind::Limit => return Ok(None),
            Err(error) => last = Some(error),
        }
    }
    last.map_or(Ok(None), Err)
}
