//! The largest size of an input at which a model fits a memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::Cost;
use crate::dim::{Bounds, Condition, Dim, Origin, Relation, Symbols};
use crate::model::Model;
use gradus_engine::infer::{Event, ModelCondition, Reuse, When};

/// The largest value of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The name of the symbol.
    pub symbol: Arc<str>,
    /// The largest value that fits; nothing if not even the smallest does.
    pub most: Option<i64>,
    /// Bytes of constants, inputs and values of nodes at that value, or at the smallest one.
    pub bytes: u128,
    /// The condition, and its node, that the next value does not meet though it fits; nothing where
    /// it does not fit.
    pub limit: Option<(String, String)>,
}

impl Cost {
    /// The largest value of the only symbol without a number that meets all conditions and at which
    /// constants, inputs and values of nodes take no more than `bytes` bytes at one time. Outputs
    /// that take the room of an input need none.
    ///
    /// # Errors
    /// [`Kind::Usage`] if not exactly one symbol is left; [`Kind::Unsupported`] if a size is not
    /// known, is decided by the data without an upper bound, or may fall where the symbol grows, or
    /// if no value is found that meets the conditions; [`Kind::Graph`] if the model contradicts
    /// itself.
    pub fn fit(&mut self, model: &Model, bytes: u128, reuse: Reuse) -> Result<Fit> {
        let steps = FitSteps::of(self, model, reuse)?;
        let symbols = self.inference.symbols();
        let found = steps.sizes().flat_map(|dim| symbols.symbols_of(dim));
        let found: BTreeMap<_, _> = found.map(|symbol| (&*symbol.name, symbol)).collect();
        let [symbol] = found.values().copied().collect::<Vec<_>>()[..] else {
            if let Some((symbol, only, limit)) = self.only_size().filter(|_| found.is_empty()) {
                let needed = steps.at(symbols, only).unwrap_or(u128::MAX);
                let most = Some(only).filter(|_| needed <= bytes);
                return Ok(Fit { symbol, most, bytes: needed, limit: Some(limit) });
            }
            let names: Vec<_> = found.into_keys().collect();
            let wanted = self.wanted(&names);
            let got = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Error::mismatch(
                Kind::Usage,
                "cannot fit: the list of symbols without a number",
                got,
                wanted,
            ));
        };
        if symbol.origin != Origin::Input {
            let message =
                format!("cannot fit: {} is decided by the data, without an upper bound", symbol.name);
            return Err(Error::new(Kind::Unsupported, message));
        }
        if let Some(size) = steps.sizes().find(|&dim| !symbols.never_falls(dim)) {
            let message = format!(
                "cannot fit: a value of {} bytes may become smaller as {} grows",
                symbols.print(size),
                symbol.name
            );
            return Err(Error::new(Kind::Unsupported, message));
        }
        let (least, upper) = self.range(&symbol.name);
        let fits = |value: i64| steps.at(symbols, value).filter(|&needed| needed <= bytes);
        let symbol = symbol.name.clone();
        let Some(mut needed) = fits(least) else {
            let bytes = steps.at(symbols, least).unwrap_or(u128::MAX);
            return Ok(Fit { symbol, most: None, bytes, limit: None });
        };
        // The value `low` fits, and `high` does not or is beyond the bounds.
        let (mut low, mut high) = (least, upper.saturating_add(1));
        while high - low > 1 {
            // Doubling finds the magnitude, where the upper bound is far.
            let middle = low.saturating_mul(2).min(low + (high - low) / 2);
            match fits(middle) {
                Some(bytes) => (low, needed) = (middle, bytes),
                None => high = middle,
            }
        }
        let last = low;
        while self.unmet(&symbol, low).is_some() {
            low -= 1;
            if low < least || last - low > MAX_TRIED {
                let message =
                    format!("cannot fit: no {symbol} from {} to {last} meets the conditions", low + 1);
                return Err(Error::new(Kind::Unsupported, message));
            }
            needed = steps.at(symbols, low).unwrap_or(needed);
        }
        let next = low.checked_add(1).filter(|&next| fits(next).is_some());
        let limit = next.and_then(|next| self.unmet(&symbol, next));
        let limit = limit.map(|of| (of.text.clone(), of.node.clone()));
        Ok(Fit { symbol, most: Some(low), bytes: needed, limit })
    }

    /// The first size of inputs that must be one number, and the condition.
    fn only_size(&self) -> Option<(Arc<str>, i64, (String, String))> {
        let symbols = self.inference.symbols();
        let mut always = self.inference.conditions().iter().filter(|of| of.is_of_every_run());
        always.find_map(|of| {
            let relation = of.relation.filter(|of| of.relation == Relation::Equal)?;
            let symbol = symbols.as_symbol(relation.left)?;
            Some((symbol.name.clone(), relation.right.known()?, (of.text.clone(), of.node.clone())))
        })
    }

    /// Tells what a fit wants of symbols without a number: one, and numbers or assumptions about the
    /// others, such as the equalities that the model asks for.
    fn wanted(&self, names: &[&str]) -> String {
        let symbols = self.inference.symbols();
        let link = |Condition { left, relation, right }: Condition| {
            let found: BTreeSet<_> = [left, right]
                .into_iter()
                .flat_map(|dim| symbols.symbols_of(dim))
                .map(|symbol| &*symbol.name)
                .collect();
            let is_link = matches!(relation, Relation::Equal | Relation::Broadcast)
                && found.len() > 1
                && found.iter().all(|name| names.contains(name));
            is_link.then(|| format!("\"{} == {}\"", symbols.print(left), symbols.print(right)))
        };
        let links: Vec<_> = self.every_run().filter_map(link).collect();
        match (names, &links[..]) {
            ([], _) => "exactly one".to_owned(),
            ([first, .., last], []) => format!(
                "exactly one: give the others numbers, or assume what they follow from, as \"{last} == {first}\""
            ),
            _ => format!("exactly one: give the others numbers, or assume {}", links.join(", ")),
        }
    }

    /// Relations that hold in every run.
    fn every_run(&self) -> impl Iterator<Item = Condition> + '_ {
        let always = self.inference.conditions().iter().filter(|of| of.when == When::Always);
        always.filter_map(|of| of.relation)
    }

    /// Conditions that a symbol alone decides, each with those under which it applies.
    fn conditions<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a ModelCondition, &'a [Condition], Condition)> {
        let symbols = self.inference.symbols();
        let is_alone = move |of: &Condition| {
            let mut found = [of.left, of.right].into_iter().flat_map(|dim| symbols.symbols_of(dim));
            found.all(|symbol| &*symbol.name == name)
        };
        self.inference.conditions().iter().filter_map(move |of| {
            let guards = of.when.guards()?;
            let relation = of.relation?;
            guards.iter().chain([&relation]).all(is_alone).then_some((of, guards, relation))
        })
    }

    /// The smallest and the largest value of a symbol, from 1 on, by its bounds and by the conditions
    /// that compare it with a number.
    fn range(&self, name: &str) -> (i64, i64) {
        let symbols = self.inference.symbols();
        let dim = symbols.find(name);
        let own = dim.map_or(Bounds::ANY, |dim| symbols.bounds(dim));
        let always = self.conditions(name).filter(|(_, guards, _)| guards.is_empty());
        let about = always.filter(|(.., relation)| Some(relation.left) == dim);
        let bounds = about.filter_map(|(.., relation)| relation.bounds()).fold(own, Bounds::and);
        (bounds.lower().unwrap_or(0).max(1), bounds.upper().unwrap_or(i64::MAX))
    }

    /// The first condition that a value of a symbol does not meet.
    fn unmet<'a>(&'a self, name: &'a str, value: i64) -> Option<&'a ModelCondition> {
        let symbols = self.inference.symbols();
        let holds = |of: &Condition| {
            let [left, right] = [of.left, of.right].map(|dim| symbols.evaluate(dim, &|_| Some(value)));
            left.zip(right).is_some_and(|(left, right)| of.relation.holds(left, right))
        };
        let mut all = self.conditions(name);
        all.find(|(_, guards, relation)| guards.iter().all(holds) && !holds(relation)).map(|(of, ..)| of)
    }
}

/// Maximum number of values that are tried below the largest one of which the bytes fit.
const MAX_TRIED: i64 = 1 << 16;

/// The bytes that are always held, and those that are made and freed.
struct FitSteps {
    constants: u128,
    inputs: Dim,
    events: Vec<Event>,
}

impl FitSteps {
    fn of(cost: &mut Cost, model: &Model, reuse: Reuse) -> Result<FitSteps> {
        let (mut events, unknown) = cost.inference.events(model, reuse);
        let Some(inputs) = cost.memory.inputs.filter(|_| unknown == 0) else {
            cost.inference.must_be_consistent("cannot fit")?;
            let message = format!("cannot fit: the sizes of {} values are not known", unknown.max(1));
            return Err(Error::new(Kind::Unsupported, message));
        };
        let symbols = cost.inference.symbols_mut();
        for event in &mut events {
            if let Event::Made(bytes) | Event::Freed(bytes) = event {
                *bytes = symbols.at_most(*bytes).unwrap_or(*bytes);
            }
        }
        Ok(FitSteps { constants: cost.memory.constants, inputs, events })
    }

    /// The sizes of values.
    fn sizes(&self) -> impl Iterator<Item = Dim> + '_ {
        let made = self.events.iter().filter_map(|event| match event {
            Event::Made(bytes) => Some(*bytes),
            Event::Freed(_) | Event::Full(_) => None,
        });
        made.chain([self.inputs])
    }

    /// The most bytes at one time where the symbol has a value; nothing if they exceed 128 bits.
    fn at(&self, symbols: &Symbols, value: i64) -> Option<u128> {
        let size = |dim| u128::try_from(symbols.evaluate(dim, &|_| Some(value))?).ok();
        let (mut now, mut most) = (0u128, 0);
        for event in &self.events {
            match event {
                Event::Made(bytes) => now = now.checked_add(size(*bytes)?)?,
                Event::Freed(bytes) => now = now.checked_sub(size(*bytes)?)?,
                Event::Full(_) => most = most.max(now),
            }
        }
        self.constants.checked_add(size(self.inputs)?)?.checked_add(most)
    }
}
