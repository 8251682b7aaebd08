//! Sizes of a model's inputs that are given before inference.

use std::collections::{BTreeMap, BTreeSet};

use gradus_core::{Error, Kind, Result};

use super::remarks::When;
use super::{InputFact, ModelCondition};
use crate::dim::{Bounds, Condition, Symbols};

/// Sizes and types of inputs, given before a model is inferred, folded, converted or compared.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Symbols and the numbers that they stand for.
    pub dims: BTreeMap<String, i64>,
    /// Facts about inputs, by name; of the others, what the model declares.
    pub inputs: BTreeMap<String, InputFact>,
    /// Assumptions about the sizes of inputs.
    pub assume: SizeAssumptions,
}

/// Assumptions about the sizes of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeAssumptions {
    /// The smallest and the largest value of a symbol.
    pub ranges: BTreeMap<String, (i64, Option<i64>)>,
    /// Conditions: `h % 32 == 0`, `a == b`, `seq <= past + 1`.
    pub conditions: Vec<String>,
    /// True if each size is at least 1.
    pub nonempty: bool,
}

impl SizeAssumptions {
    /// The number within the bounds of a symbol that is next to a number.
    pub fn clamped(&self, name: &str, value: i64) -> i64 {
        let (least, most) = self.ranges.get(name).copied().unwrap_or((0, None));
        value.clamp(least, most.unwrap_or(i64::MAX).max(least))
    }

    /// Lets sizes that were drawn meet the conditions; false if they do not.
    pub fn meet(&self, dims: &mut BTreeMap<String, i64>, given: &BTreeMap<String, i64>) -> bool {
        // Several rounds: one condition may change a size that another is about.
        for text in self.conditions.iter().cycle().take(3 * self.conditions.len()) {
            let mut symbols = Symbols::default();
            for (name, value) in given {
                symbols.fix(name, *value);
            }
            let Ok((condition, guards)) = symbols.parse_guarded(text) else { continue };
            if let Some((numbers, _)) = condition.among(&guards) {
                let size = symbols.as_symbol(condition.left).and_then(|of| dims.get_mut(&*of.name));
                if let Some(size) = size {
                    let distance = |number: &i64| number.abs_diff(*size);
                    *size = numbers.into_iter().min_by_key(distance).unwrap_or(*size);
                }
                continue;
            }
            symbols.assume(&condition);
            let names: Vec<_> = symbols.symbols().iter().map(|symbol| symbol.name.clone()).collect();
            for name in names {
                let bounds = symbols.find(&name).map_or(Bounds::SIZE, |dim| symbols.bounds(dim));
                let dim = symbols.named(&name);
                let met = symbols.evaluate(dim, &|name| dims.get(name).copied());
                if let (Some(met), Some(value)) = (met, dims.get_mut(&*name)) {
                    let (least, most) = (bounds.lower().unwrap_or(0), bounds.upper().unwrap_or(i64::MAX));
                    *value = met.clamp(least, most.max(least));
                }
            }
        }
        self.conditions.iter().all(|text| {
            let mut symbols = Symbols::default();
            for (name, value) in &*dims {
                symbols.fix(name, *value);
            }
            symbols.parse_condition(text).is_ok_and(|condition| symbols.always_holds(&condition))
        })
    }

    /// The bounds, in words.
    pub(super) fn assumptions(&self) -> impl Iterator<Item = ModelCondition> {
        let named = self.ranges.iter().map(|(name, (least, most))| match most {
            Some(most) => format!("{least} <= {name} <= {most}"),
            None => format!("{name} >= {least}"),
        });
        let all = self.nonempty.then(|| "each size of an input is at least 1".to_owned());
        named.chain(all).map(|text| ModelCondition::declared(text, OPTIONS))
    }

    /// Bounds symbols before they are made.
    pub(super) fn apply(&self, known: &BTreeSet<String>, symbols: &mut Symbols) -> Result<()> {
        for (name, &(least, most)) in &self.ranges {
            if !known.contains(name) {
                return Err(Error::unknown("dimension", name, known.iter().map(String::as_str)));
            }
            if least < 0 || most.is_some_and(|most| most < least) {
                let got = format_args!("{least} to {}", most.unwrap_or(i64::MAX));
                let what = format_args!("range of dimension \"{name}\"");
                return Err(Error::mismatch(Kind::Usage, what, got, "increasing numbers of at least 0"));
            }
            symbols.bound_inputs(Some(name), Bounds::between(Some(least), most));
        }
        if self.nonempty {
            symbols.bound_inputs(None, Bounds::between(Some(1), None));
        }
        Ok(())
    }

    /// Lets the conditions hold, after sizes that are given are known.
    pub(super) fn assume(
        &self,
        known: &BTreeSet<String>,
        nameless: &BTreeSet<String>,
        symbols: &mut Symbols,
    ) -> Result<Vec<ModelCondition>> {
        let mut assumptions = Vec::new();
        for text in &self.conditions {
            let (condition, mut guards) = symbols.parse_guarded(text)?;
            for dim in [condition.left, condition.right] {
                let names: Vec<_> =
                    symbols.symbols_of(dim).into_iter().map(|symbol| symbol.name.clone()).collect();
                for name in names {
                    if nameless.contains(&*name) {
                        symbols.expect_axis(&name);
                    } else if !known.contains(&*name) {
                        let known: BTreeSet<_> = known.iter().chain(nameless).map(String::as_str).collect();
                        return Err(Error::unknown("dimension", &name, known));
                    }
                }
            }
            if symbols.always_holds(&condition) || guards.iter().any(|guard| symbols.never_holds(guard)) {
                continue;
            }
            guards.retain(|guard| !symbols.always_holds(guard));
            if guards.is_empty() && symbols.never_holds(&condition) {
                let Condition { left, relation, right } = condition;
                let (left, right) = (symbols.print(left), symbols.print(right));
                let message =
                    format!("assumption \"{text}\" holds for no sizes, as it says {left} {relation} {right}");
                return Err(Error::new(Kind::Usage, message));
            }
            let of_sizes = if let Some((numbers, _)) = condition.among(&guards) {
                symbols.assume_among(condition.left, &numbers);
                false
            } else {
                symbols.assume(&condition).ok_or_else(|| {
                    let what = format_args!("assumption \"{text}\"");
                    let wanted = "a size that stands alone, as in \"a <= 2*b\"";
                    Error::mismatch(Kind::Usage, what, "about products of sizes", wanted)
                })?
            };
            let when = if guards.is_empty() { When::Always } else { When::If(guards.into()) };
            let relation = Some(condition);
            let stated = ModelCondition::declared(text.trim().to_owned(), OPTIONS);
            assumptions.push(ModelCondition { relation, when, of_sizes, ..stated });
        }
        Ok(assumptions)
    }
}

/// The place of what the caller assumes.
const OPTIONS: &str = "the options";
