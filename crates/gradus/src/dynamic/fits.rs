//! Expressions of sizes that are the numbers of all sources.

use std::sync::Arc;

use super::sources::Sources;
use super::view::{ChangedModel, Ground};
use crate::dim::{Dim, Symbols};
use crate::fact::{Elements, Fact};
use gradus_core::sort::SharedSort;

/// An expression, and how likely it is: 0 is a size at the node.
pub(super) type RatedExpression = (u8, Arc<str>);

/// Maximum number of expressions of one number.
const MAX_FITS: usize = 16;
/// Maximum number of sizes at a node that are looked at.
const MAX_SIZES: usize = 24;

/// The first tier of expressions that pass through any two numbers: that they fit shows little, so
/// another of the same tier is as likely.
pub(super) const FIRST_LINE: u8 = 4;

/// Expressions that are these numbers in the sources, the most likely first: sizes in `near`, sizes
/// that the node sees, their products, multiples and quotients; with several sources, sizes of
/// other nodes and affine expressions.
pub(super) fn fits(
    view: &mut ChangedModel,
    (ground, sources): (&Ground<'_>, &Sources<'_>),
    node: usize,
    numbers: &[i64],
    near: &[Dim],
) -> Vec<RatedExpression> {
    let seen = sizes_at(view, ground, node, near);
    let others = if numbers.len() > 1 { view.sizes_of_nodes(ground) } else { Vec::new() };
    let symbols = view.inference.symbols_mut();
    let mut found: Vec<(u8, Dim)> = Vec::new();
    let sized: Vec<(Dim, Vec<i64>)> =
        seen.into_iter().filter_map(|dim| Some((dim, sources.values(symbols, dim)?))).collect();
    let mut note = |symbols: &Symbols, tier: u8, dim: Option<Dim>| {
        let Some(dim) = dim else { return };
        let is_open = symbols.symbols_of(dim).iter().any(|symbol| ground.open.contains(&symbol.name));
        let fits = is_open && sources.values(symbols, dim).is_some_and(|all| all == numbers);
        if fits && !found.iter().any(|(_, other)| *other == dim) {
            found.push((tier, dim));
        }
    };
    for (dim, _) in &sized {
        note(symbols, 0, Some(*dim));
    }
    // Every number is a multiple of a size that is 1.
    let many = |own: &[i64]| own.first().is_some_and(|size| *size != 1);
    let sized: Vec<_> = sized.into_iter().filter(|(_, own)| many(own) && many(numbers)).collect();
    for (i, (a, own)) in sized.iter().enumerate() {
        if let Some(times) = times(numbers, own) {
            let product = symbols.multiply(*a, Dim::Known(times));
            note(symbols, 1, product);
        }
        for (b, others) in &sized[i..] {
            if own.iter().zip(others).zip(numbers).all(|((a, b), of)| a.checked_mul(*b) == Some(*of)) {
                let product = symbols.multiply(*a, *b);
                note(symbols, 1, product);
            }
        }
        if let Some(by) = times(own, numbers).filter(|by| *by > 1) {
            let quotient = symbols.floor_divide(*a, Dim::Known(by));
            note(symbols, 2, quotient);
        }
        if numbers.len() > 1 {
            for (tier, dim) in affine(symbols, *a, own, numbers) {
                note(symbols, tier, Some(dim));
            }
        }
    }
    for dim in others {
        note(symbols, 3, Some(dim));
    }
    found.shared_sort_by_key(|(tier, _)| *tier);
    let text = |(tier, dim): (u8, Dim)| Some((tier, view.text(ground, dim)?));
    found.into_iter().filter_map(text).take(MAX_FITS).collect()
}

/// The number by which all of the others are multiplied.
fn times(products: &[i64], numbers: &[i64]) -> Option<i64> {
    let (product, number) = (*products.first()?, *numbers.first()?);
    let times = product.checked_div(number).filter(|times| *times >= 1)?;
    let all =
        products.iter().zip(numbers).all(|(product, number)| number.checked_mul(times) == Some(*product));
    all.then_some(times)
}

/// Affine expressions of a size through the numbers, and their quotients rounded down and up. A
/// number that is always as far from a size is the most likely, then one that is nearly a multiple.
fn affine(symbols: &mut Symbols, dim: Dim, own: &[i64], numbers: &[i64]) -> Vec<(u8, Dim)> {
    let (run, rise) = (own[1] - own[0], numbers[1] - numbers[0]);
    let mut found = Vec::new();
    if run == 0 {
        return found;
    }
    if rise % run == 0 {
        let slope = rise / run;
        let rest = numbers[0] - slope * own[0];
        let tier = match slope {
            1 => 3,
            _ if rest.unsigned_abs() <= slope.unsigned_abs() => FIRST_LINE,
            _ => FIRST_LINE + 1,
        };
        let scaled = symbols.multiply(dim, Dim::Known(slope));
        found.extend(scaled.and_then(|scaled| Some((tier, symbols.add(scaled, Dim::Known(rest))?))));
        return found;
    }
    // Rounding moves each number by less than the divisor.
    for by in 2..=64 {
        for more in [0, by - 1] {
            let over = symbols.add(dim, Dim::Known(more));
            let quotient = over.and_then(|over| symbols.floor_divide(over, Dim::Known(by)));
            let rest = numbers[0] - (own[0] + more).div_euclid(by);
            let tier = if rest.abs() <= 1 { FIRST_LINE } else { FIRST_LINE + 1 };
            found
                .extend(quotient.and_then(|quotient| Some((tier, symbols.add(quotient, Dim::Known(rest))?))));
        }
    }
    found
}

/// The sizes that a node sees, those in `near` first, and the symbols of the inputs.
fn sizes_at(view: &mut ChangedModel, ground: &Ground<'_>, node: usize, near: &[Dim]) -> Vec<Dim> {
    let mut found = near.to_vec();
    let facts: Vec<Fact> = {
        let inputs = view.node(node).map(|node| node.inputs.clone()).unwrap_or_default();
        inputs.iter().flatten().map(|id| view.inference.fact(*id).clone()).collect()
    };
    for fact in facts.iter().filter_map(Fact::as_tensor) {
        found.extend(fact.dims.iter().flat_map(|dims| dims.iter().copied()));
        if let Elements::Integers(all) = &fact.elements {
            found.extend(all.iter().copied());
        }
    }
    found.retain(|dim| dim.known().is_none());
    found.truncate(MAX_SIZES);
    let mut names: Vec<_> = ground.open.iter().cloned().collect();
    names.shared_sort();
    found.extend(names.iter().filter_map(|name| view.inference.symbols().find(name)));
    let mut once = Vec::new();
    for dim in found {
        if !once.contains(&dim) {
            once.push(dim);
        }
    }
    once
}
