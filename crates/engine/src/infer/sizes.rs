//! Sizes of a model's inputs that are given before inference.

use std::collections::{BTreeMap, BTreeSet};

use gradus_core::graph::{Graph, ValueId};
use gradus_core::{Error, Kind, Result};

use super::remarks::When;
use super::{InputFact, ModelCondition};
use crate::dim::{Bounds, Claim, Condition, Symbols};

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

/// Lets sizes meet a condition, where its guards hold.
fn assume_of(
    dims: &mut BTreeMap<String, i64>,
    symbols: &mut Symbols,
    condition: &Condition,
    guards: &[Condition],
) {
    let is_met = |symbols: &Symbols, of: &Condition| {
        let of_sides = [of.left, of.right].map(|dim| symbols.evaluate(dim, &|name| dims.get(name).copied()));
        let [Some(a), Some(b)] = of_sides else { return false };
        of.relation.holds(a, b)
    };
    if is_met(symbols, condition) || !guards.iter().all(|guard| is_met(symbols, guard)) {
        return;
    }
    if let Some((numbers, _)) = condition.among(guards) {
        let size = symbols.as_symbol(condition.left).and_then(|of| dims.get_mut(&*of.name));
        if let Some(size) = size {
            let distance = |number: &i64| number.abs_diff(*size);
            *size = numbers.into_iter().min_by_key(distance).unwrap_or(*size);
        }
        return;
    }
    symbols.assume(condition);
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
            let claim = Claim::parse(text);
            for part in claim.iter().flat_map(Claim::all) {
                if let Ok((condition, guards)) = part.guarded(&mut symbols) {
                    assume_of(dims, &mut symbols, &condition, &guards);
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
    pub(super) fn apply(&self, known: &BTreeSet<String>, graph: &Graph, symbols: &mut Symbols) -> Result<()> {
        for (name, &(least, most)) in &self.ranges {
            if !known.contains(name) {
                return Err(unknown_size(name, known, graph));
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
        [known, nameless]: [&BTreeSet<String>; 2],
        graph: &Graph,
        symbols: &mut Symbols,
    ) -> Result<Vec<ModelCondition>> {
        let mut assumptions = Vec::new();
        for text in &self.conditions {
            let claim = Claim::parse(text)?;
            for part in claim.all() {
                let (condition, guards) = part.guarded(symbols)?;
                for dim in guards.iter().chain([&condition]).flat_map(|of| [of.left, of.right]) {
                    let names: Vec<_> =
                        symbols.symbols_of(dim).into_iter().map(|symbol| symbol.name.clone()).collect();
                    for name in names {
                        if nameless.contains(&*name) {
                            symbols.expect_axis(&name);
                        } else if !known.contains(&*name) {
                            return Err(unknown_size(&name, &(known | nameless), graph));
                        }
                    }
                }
                let written = if claim.all().len() == 1 { text.trim() } else { &part.to_string() };
                assumptions.extend(assumption(symbols, written, condition, guards)?);
            }
        }
        Ok(assumptions)
    }
}

/// The condition of a model that an assumption is, which holds from now on; nothing if it does
/// already.
fn assumption(
    symbols: &mut Symbols,
    text: &str,
    condition: Condition,
    mut guards: Vec<Condition>,
) -> Result<Option<ModelCondition>> {
    if symbols.always_holds(&condition) || guards.iter().any(|guard| symbols.never_holds(guard)) {
        return Ok(None);
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
    } else if guards.is_empty() {
        symbols.assume(&condition).ok_or_else(|| {
            let what = format_args!("assumption \"{text}\"");
            let wanted = "a size that stands alone, as in \"a <= 2*b\"";
            Error::mismatch(Kind::Usage, what, "about products of sizes", wanted)
        })?
    } else {
        false
    };
    let when = if guards.is_empty() { When::Always } else { When::If(guards.into()) };
    let stated = ModelCondition::declared(text.to_owned(), OPTIONS);
    Ok(Some(ModelCondition { relation: Some(condition), when, of_sizes, ..stated }))
}

/// The error about a name that no size of an input has. An input of that name has a value.
pub(super) fn unknown_size(name: &str, known: &BTreeSet<String>, graph: &Graph) -> Error {
    let is_input = |&id: &ValueId| &*graph.value(id).name == name && graph.constant(id).is_none();
    if graph.inputs().iter().any(is_input) {
        let what = format_args!("dimension \"{name}\"");
        let wanted = format_args!("a size of one; its value is given by --set {name}=VALUE");
        return Error::mismatch(Kind::Usage, what, "an input", wanted);
    }
    Error::unknown("dimension", name, known.iter().map(String::as_str))
}

/// The place of what the caller assumes.
const OPTIONS: &str = "the options";
