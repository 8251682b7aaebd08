//! Indices of rows: a table that holds 0 for the one row of a batch of 1, and counts the rows of
//! more. No condition tells it from another 0; a run on stacked inputs does.

use std::collections::HashMap;

use gradus_core::convert::Rules;
use gradus_core::graph::{Node, Standard};
use gradus_core::{Error, Kind, Limits, Number, Result, Tensor};

use super::formula::Formula;
use super::made;
use super::search::{ChosenFormulas, FormulaSearch};
use super::sources::Sources;
use super::table::{Pattern, Place, Table};
use super::verify::{Stacking, stacks};
use super::view::{ChangedModel, Ground, TriedFormulas};
use crate::model::Model;
use crate::operators;

/// Maximum number of bytes of the constants of a model that is run to compare it.
const MAX_RUN: u128 = 1 << 30;
/// Maximum number of elements of a table of indices.
const MAX_INDICES: usize = 1 << 20;

/// Compares runs on stacked inputs with runs of the first source, for each size that is 1; counts
/// rows in tables where this mends it. The formulas, and what was compared: a sentence each.
///
/// # Errors
/// [`Kind::Graph`] if the results differ.
pub(super) fn stacked(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    wanted: &HashMap<usize, String>,
    (changes, view): (TriedFormulas, ChangedModel),
    limits: Limits,
) -> Result<(TriedFormulas, ChangedModel, Vec<String>)> {
    if !is_run(ground.model) {
        let bytes = constant_bytes(ground.model);
        let text = format!("not run: its constants have {bytes} bytes, more than {MAX_RUN}");
        return Ok((changes, view, vec![text]));
    }
    let mut found = (changes, view);
    let mut checks = Vec::new();
    for name in ones(ground) {
        let mut tables = Vec::new();
        for &node in ground.model.graph().order() {
            let inputs = 0..ground.model.graph().nodes()[node].inputs.len();
            tables.extend(inputs.filter_map(|input| {
                let table = row_table(ground, sources, (&found.0, &found.1), (node, input), name)?;
                Some(((node, input), table))
            }));
        }
        let alone = tables.iter().map(std::slice::from_ref);
        let mut options = std::iter::once(&tables[..]).chain(alone.filter(|_| tables.len() > 1));
        let mut compared = compare(ground, (&found.0, &found.1), name, limits)?;
        while let Stacking::Differs(reason) = &compared {
            let Some(tables) = options.next().filter(|tables| !tables.is_empty()) else {
                let message =
                    format!("with {name} = 3, the dynamic model is not three runs of the model: {reason}");
                return Err(Error::new(Kind::Graph, message));
            };
            let forced = ChosenFormulas::new();
            let mut search = FormulaSearch::new(ground, sources, (wanted, &forced), limits);
            search.changes = found.0.clone();
            search.changes.extend(tables.iter().cloned());
            // Rows that follow from the table open sizes of later nodes.
            let Ok(view) = search.run() else { continue };
            let changes = search.changes;
            if search.unresolved.is_none()
                && view.is_open()
                && compare(ground, (&changes, &view), name, limits)?.is_same()
            {
                (found, compared) = ((changes, view), Stacking::Same);
            }
        }
        checks.push(match compared {
            Stacking::NotRun => format!("{name}: no run was compared"),
            _ => format!("{name} = 3: the same as three runs of model 1"),
        });
    }
    Ok((found.0, found.1, checks))
}

/// The symbols that are 1 in the first source.
fn ones<'g>(ground: &'g Ground<'_>) -> Vec<&'g str> {
    let mut ones: Vec<_> =
        ground.sizes.iter().filter(|(_, size)| **size == 1).map(|(name, _)| &**name).collect();
    ones.sort_unstable();
    ones
}

/// Returns true unless a run on stacked inputs shows that a model is wrong.
///
/// # Errors
/// [`Kind::Limit`] if the limits end it.
pub(super) fn may_be(
    ground: &Ground<'_>,
    changed: (&TriedFormulas, &ChangedModel),
    limits: Limits,
) -> Result<bool> {
    for name in ones(ground) {
        if is_run(ground.model) && matches!(compare(ground, changed, name, limits)?, Stacking::Differs(_)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn constant_bytes(model: &Model) -> u128 {
    let constants = model.graph().constants().iter().map(|(_, constant)| constant.byte_len());
    constants.fold(0, u128::saturating_add)
}

/// Returns true if a model is run to compare it.
pub(super) fn is_run(model: &Model) -> bool {
    constant_bytes(model) <= MAX_RUN
}

fn compare(
    ground: &Ground<'_>,
    (changes, view): (&TriedFormulas, &ChangedModel),
    name: &str,
    limits: Limits,
) -> Result<Stacking> {
    let dynamic = ground.model.with_source(made(ground, (changes, view))?);
    stacks(&dynamic, &view.inference, ground.model, name, limits)
}

/// A table of zeros that may be indices of rows, with a step for each row.
pub(super) fn row_table(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    (changes, view): (&TriedFormulas, &ChangedModel),
    (index, input): (usize, usize),
    name: &str,
) -> Option<Formula> {
    if sources.sizes.iter().any(|sizes| sizes.get(name) != Some(&1)) {
        return None;
    }
    let all = sources.constants(index, input)?;
    let (base, mut axes, mut steps, mut from) = match changes.get(&(index, input)) {
        None => (all[0].clone(), Vec::new(), Vec::new(), Vec::new()),
        Some(Formula::Table(Table { axes, pattern: Pattern::Affine { base, steps, from } })) => {
            (base.clone(), axes.clone(), steps.clone(), from.clone())
        }
        Some(_) => return None,
    };
    let is_row = |axis: &usize| base.shape().dims()[*axis] == 1 && axes.iter().all(|(open, _)| open != axis);
    let axis = (0..base.shape().rank()).find(is_row)?;
    let node = view.node(index)?;
    steps.push(Some(row_step(ground, view, (node, index, input), &base, name)?));
    axes.push((axis, name.into()));
    from.push(Place::First);
    Some(Formula::Table(Table { axes, pattern: Pattern::Affine { base, steps, from } }))
}

/// The step of a table from a row to the next: 1 for indices of rows that are 0.
fn row_step(
    ground: &Ground<'_>,
    view: &ChangedModel,
    (node, index, input): (&Node, usize, usize),
    base: &Tensor,
    name: &str,
) -> Option<Tensor> {
    if !base.dtype().is_integer() || base.len() > MAX_INDICES {
        return None;
    }
    // The number of elements that a row has along an axis of the data.
    let of_row = |axis: usize| {
        let dims = view.dims(index, 0)?;
        let text = view.text(ground, *dims.get(axis)?)?;
        if &*text == name { Some(1) } else { text.strip_suffix(&format!("*{name}"))?.parse::<i64>().ok() }
    };
    let row = operators::row_of(Standard::Onnx, node).filter(|row| row.domain.is_empty())?;
    let numbers = base.to_i64().ok()?;
    // The elements of an index tuple follow one another.
    let step = |(at, number): (usize, &i64)| match (row.name, input) {
        ("Gather", 1) => of_row(0).filter(|step| (0..*step).contains(number)),
        ("GatherND", 1) => {
            of_row(at % base.shape().dims().last()?).filter(|step| (0..*step).contains(number))
        }
        _ => (row.operation.is_some() && numbers.len() == 1 && *number == 0).then_some(1),
    };
    let steps: Vec<i64> = numbers.iter().enumerate().map(|of| step(of).unwrap_or(0)).collect();
    if steps.iter().all(|step| *step == 0) {
        return None;
    }
    let steps = steps.into_iter().map(|step| Number::Int(step.into()));
    Tensor::from_numbers(base.dtype(), base.shape().clone(), steps, Rules::IEEE).ok()
}
