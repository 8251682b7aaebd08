//! Conditions that no sizes meet.

use std::collections::HashMap;

use gradus_core::Limits;

use super::ModelCondition;
use crate::dim::{Answer, Claim, Condition, Dim, Ranges, Relation, Symbols};

/// Maximum number of conditions of which it is decided whether they contradict each other.
const MAX_TOGETHER: usize = 64;

/// A condition that no sizes meet, alone or with those before it, of those that every run meets.
pub fn contradiction<'c>(
    symbols: &mut Symbols,
    conditions: impl Iterator<Item = &'c ModelCondition>,
    limits: &Limits,
) -> Option<String> {
    let mut all: Vec<(Claim, &str)> = Vec::new();
    // The smallest and the largest value of an expression.
    let mut ends: HashMap<Dim, (i64, i64)> = HashMap::new();
    for of in conditions.filter(|of| of.is_of_every_run()) {
        let Some(condition) = of.relation else { continue };
        let mut is_empty = symbols.never_holds(&condition);
        if let Condition { left, relation, right: Dim::Known(right) } = condition {
            let (low, high) = match relation {
                Relation::AtLeast => (right, i64::MAX),
                Relation::AtMost => (i64::MIN, right),
                Relation::Equal => (right, right),
                Relation::Broadcast => (right.min(1), right.max(1)),
                Relation::NotEqual => (i64::MIN, i64::MAX),
            };
            let bounds = symbols.bounds(left);
            let known = (bounds.lower().unwrap_or(i64::MIN), bounds.upper().unwrap_or(i64::MAX));
            let known = ends.entry(left).or_insert(known);
            *known = (known.0.max(low), known.1.min(high));
            is_empty |= known.0 > known.1;
        }
        if is_empty {
            return Some(of.text.clone());
        }
        if !all.iter().any(|(_, text)| **text == of.text) {
            all.extend(Claim::parse(&of.text).ok().map(|claim| (claim, &*of.text)));
        }
    }
    let (claims, texts): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    // Only contradictions imply what is false.
    let never = Claim::parse("0 == 1").ok()?;
    let contradict = |count: usize| {
        let answer = never.decide(&claims[..count], &Ranges::new(), Some(limits));
        matches!(answer, Answer::True | Answer::Contradiction)
    };
    if claims.len() < 2 || claims.len() > MAX_TOGETHER || !contradict(claims.len()) {
        return None;
    }
    let with = (2..=claims.len()).find(|count| contradict(*count))?;
    Some(texts[with - 1].to_owned())
}
