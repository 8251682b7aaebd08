//! The search with choices that are made again, and what is refused.

use std::collections::HashMap;

use gradus_core::{Error, Kind, Limits, Result};

use super::formula::Formula;
use super::rows;
use super::search::{Choice, ChosenFormulas, FormulaSearch, Unresolved};
use super::sources::Sources;
use super::view::{ChangedModel, Ground, TriedFormulas};

/// Maximum number of searches that make a choice again.
const MAX_SEARCHES: usize = 64;

/// Finds the formulas of all constants that were sizes, and what runs on stacked inputs say of
/// them: a sentence each.
///
/// # Errors
/// [`Kind::Graph`] if a node takes no size but that of the file, if several formulas fit as well,
/// or if runs on stacked inputs differ; [`Kind::Limit`] if the limits end the search.
pub(super) fn solve(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    wanted: &HashMap<usize, String>,
    limits: Limits,
) -> Result<(TriedFormulas, ChangedModel, Vec<String>)> {
    let mut forced = ChosenFormulas::new();
    let mut open: Vec<(Choice, usize)> = Vec::new();
    let mut first: Option<Error> = None;
    for _ in 0..MAX_SEARCHES {
        let mut search = FormulaSearch::new(ground, sources, (wanted, &forced), limits);
        let mut view = search.run()?;
        let mut choices = std::mem::take(&mut search.choices);
        if let Some(unresolved) = search.unresolved.take() {
            first.get_or_insert_with(|| refused(&search, &unresolved));
            // Choices that the end depends on are made again first, and last those that only the
            // node depends on of which the problem moved there.
            let (above, near) = (search.above(unresolved.node), search.above(unresolved.end));
            let is_new = |choice: &Choice| !open.iter().any(|(other, _)| other.is_of(choice));
            let is_far = |choice: &Choice| above.contains(&choice.node) && !near.contains(&choice.node);
            let far: Vec<_> =
                choices.iter().filter(|choice| is_far(choice) && is_new(choice)).cloned().collect();
            open.splice(0..0, far.into_iter().map(|choice| (choice, 0)));
            choices.retain(|choice| near.contains(&choice.node));
        } else {
            search.refuse_alike(&mut view)?;
            let changes = search.changes;
            let left: Vec<_> =
                choices.iter().map(|choice| (choice.clone(), 0)).chain(open.iter().cloned()).collect();
            let found = (&changes, &view);
            if let Some((place, formula)) =
                decided(ground, sources, (wanted, &forced), (&left, found), limits)?
            {
                forced.insert(place, formula);
                continue;
            }
            match rows::stacked(ground, sources, wanted, (changes, view), limits) {
                Err(error) if error.kind() == Kind::Graph => _ = first.get_or_insert(error),
                found => return found,
            }
        }
        open.extend(choices.into_iter().map(|choice| (choice, 0)));
        while let Some((choice, next)) = open.last_mut() {
            let place = (choice.node, choice.input);
            if let Some(formula) = choice.others.get(*next) {
                forced.insert(place, formula.clone());
                *next += 1;
                break;
            }
            forced.remove(&place);
            open.pop();
        }
        if open.is_empty() {
            break;
        }
    }
    Err(first.unwrap_or_else(|| Error::new(Kind::Graph, "no formulas fit")))
}

fn refused(search: &FormulaSearch<'_, '_>, unresolved: &Unresolved) -> Error {
    let message = format!("the sizes stay fixed by {}: {}", search.label(unresolved.node), unresolved.text);
    Error::new(Kind::Graph, message)
}

/// A choice that a run on stacked inputs makes otherwise; nothing if all stay.
///
/// # Errors
/// [`Kind::Graph`] for a choice whose other formulas neither a node nor a run refutes.
fn decided(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    (wanted, forced): (&HashMap<usize, String>, &ChosenFormulas),
    (choices, (changes, view)): (&[(Choice, usize)], (&TriedFormulas, &ChangedModel)),
    limits: Limits,
) -> Result<Option<((usize, usize), Formula)>> {
    for (choice, next) in choices {
        let place = (choice.node, choice.input);
        let chosen = forced.get(&place).unwrap_or(&choice.formula);
        let mut fitting: Vec<&Formula> = Vec::new();
        for other in choice.others[..choice.tied].iter().skip(*next) {
            let mut forced = forced.clone();
            forced.insert(place, other.clone());
            let mut search = FormulaSearch::new(ground, sources, (wanted, &forced), limits);
            let other_view = search.run()?;
            if search.unresolved.is_none() && rows::may_be(ground, (&search.changes, &other_view), limits)? {
                fitting.push(other);
            }
        }
        if fitting.is_empty() {
            continue;
        }
        if rows::may_be(ground, (changes, view), limits)? {
            fitting.insert(0, chosen);
        } else if let [only] = fitting[..] {
            return Ok(Some((place, only.clone())));
        }
        let search = FormulaSearch::new(ground, sources, (wanted, forced), limits);
        let texts: Vec<_> = fitting.iter().map(|formula| formula.text()).collect();
        let message = format!(
            "input {} of {} may be {}: choose one with --size, or give exports of other sizes",
            choice.input,
            search.label(choice.node),
            texts.join(" or ")
        );
        return Err(Error::new(Kind::Graph, message));
    }
    Ok(None)
}
