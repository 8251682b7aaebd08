//! How often a loop runs whose condition compares numbers that every iteration changes by the same,
//! as `i < n` or `i != n` where the body computes `i + k`; and what it makes of such numbers and of
//! their sums.

use std::ops::Range;
use std::sync::Arc;

use gradus_core::DType;

use crate::control_flow::infer::Carried;
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::infer::InferContext;

/// Numbers that every iteration changes by the same: loop-carried elements and dimensions, and the
/// index of the iteration.
#[derive(Default)]
pub struct Counters {
    /// The symbol of each number before an iteration.
    every: Vec<Dim>,
    /// The value before the first iteration.
    first: Vec<Dim>,
    /// Addend of an iteration.
    by: Vec<Dim>,
    /// Symbols from this one on are the loop's own.
    mark: u32,
}

impl Counters {
    /// The counters of a loop.
    pub fn of(symbols: &mut Symbols, carried: &[Carried], iteration: Option<Dim>, mark: u32) -> Counters {
        let mut all = Counters { mark, ..Counters::default() };
        if let Some(index) = iteration {
            all.insert(symbols, index, Dim::ZERO, Some(Dim::ONE));
        }
        for Carried { first, every, next } in carried {
            let [first, every, next] = [first, every, next].map(numbers);
            if first.len() == every.len() && next.len() == every.len() {
                for ((first, every), next) in first.into_iter().zip(every).zip(next) {
                    let by = symbols.subtract(next, every);
                    all.insert(symbols, every, first, by);
                }
            }
        }
        all
    }

    fn insert(&mut self, symbols: &Symbols, every: Dim, first: Dim, by: Option<Dim>) {
        let is_own = symbols.as_symbol_index(every).is_some_and(|index| index >= self.mark);
        let Some(by) = by.filter(|&by| is_own && !symbols.is_newer(by, self.mark)) else { return };
        if !self.every.contains(&every) {
            self.every.push(every);
            self.first.push(first);
            self.by.push(by);
        }
    }

    /// A number in the first iteration, and what each iteration adds to it.
    fn line(&self, symbols: &mut Symbols, number: Dim) -> Option<(Dim, Dim)> {
        let (multiples, rest) = symbols.multiples(number, &self.every)?;
        if [rest].iter().chain(&multiples).any(|&dim| symbols.is_newer(dim, self.mark)) {
            return None;
        }
        let mut total = |all: &[Dim]| {
            let products = all.iter().zip(&multiples).map(|(&a, &b)| symbols.multiply(a, b));
            let products = products.collect::<Option<Vec<_>>>()?;
            symbols.total(products)
        };
        let (first, by) = (total(&self.first)?, total(&self.by)?);
        Some((symbols.add(first, rest)?, by))
    }

    /// A loop-carried number after some iterations, each of which adds the same, or a number that
    /// every iteration changes by the same.
    pub fn after(&self, symbols: &mut Symbols, [first, every, next]: [Dim; 3], runs: Dim) -> Option<Dim> {
        let by = symbols.subtract(next, every)?;
        let (at_first, grows) = self.line(symbols, by)?;
        let all = symbols.series(at_first, grows, runs)?;
        symbols.add(first, all)
    }

    /// Conditions that hold if and only if one holds in every iteration of some: of the first and of
    /// the last, where it compares numbers that every iteration changes by the same.
    fn of_all(&self, symbols: &mut Symbols, condition: &Condition, count: Dim) -> Option<Vec<Condition>> {
        let Condition { left, relation, right } = *condition;
        if !symbols.is_newer(left, self.mark) && !symbols.is_newer(right, self.mark) {
            return Some(vec![*condition]);
        }
        if matches!(relation, Relation::NotEqual | Relation::Broadcast) {
            return None;
        }
        let apart = symbols.subtract(left, right)?;
        let (first, by) = self.line(symbols, apart)?;
        let steps = symbols.subtract(count, Dim::ONE)?;
        let change = symbols.multiply(by, steps)?;
        let last = symbols.add(first, change)?;
        Some(vec![first, last].into_iter().map(|apart| Condition::new(apart, relation, Dim::ZERO)).collect())
    }

    /// Says of all iterations what the body noted of any, under the guard that there is one: their
    /// number is `count`, if that is known, and at most `limit`.
    pub fn settle(
        &self,
        cx: &mut InferContext<'_, '_>,
        noted: Range<usize>,
        runs: Option<Condition>,
        [count, limit]: [Option<Dim>; 2],
    ) {
        let mark = self.mark;
        let is_own = |symbols: &Symbols, of: &Condition| {
            symbols.is_newer(of.left, mark) || symbols.is_newer(of.right, mark)
        };
        let mut guarded = |symbols: &mut Symbols, guard: &Condition| {
            if runs == Some(*guard) {
                let one = Condition::new(count.or(limit)?, Relation::AtLeast, Dim::ONE);
                return Some(symbols.shortest(one));
            }
            (!is_own(symbols, guard)).then_some(*guard)
        };
        let never = runs.and_then(|runs| cx.symbols().opposite(&runs));
        let mut holds = |symbols: &mut Symbols, condition: &Condition| {
            if never == Some(*condition) {
                return Some(vec![Condition::new(count.or(limit)?, Relation::AtMost, Dim::ZERO)]);
            }
            match count {
                Some(count) => self.of_all(symbols, condition, count),
                None => (!is_own(symbols, condition)).then(|| vec![*condition]),
            }
        };
        cx.settle(noted, false, &mut guarded, &mut holds);
    }

    /// The elements of a number of each iteration, in their order.
    pub fn listed(&self, symbols: &mut Symbols, fact: &Fact) -> Option<Elements> {
        let is_one = |dims: &Dims| dims.iter().all(|&dim| dim == Dim::ONE);
        let Fact::Tensor(TensorFact { dtype: Some(DType::I64), dims: Some(dims), elements }) = fact else {
            return None;
        };
        let Elements::Integers(all) = elements else { return None };
        let number = *all.first().filter(|_| is_one(dims))?;
        Some(Elements::Progression(Arc::new(self.line(symbols, number)?)))
    }

    /// The value of a number in an iteration: its minimum or maximum, where it is one.
    fn value_at(&self, symbols: &mut Symbols, number: Dim, iteration: i64) -> Option<Dim> {
        if let Some((is_min, all)) = symbols.extremes(number) {
            let each = all.into_iter().map(|dim| self.value_at(symbols, dim, iteration));
            let each = each.collect::<Option<Vec<_>>>()?;
            return extreme(symbols, is_min, each);
        }
        let (first, by) = self.line(symbols, number)?;
        let change = symbols.multiply(by, Dim::Known(iteration))?;
        symbols.add(first, change)
    }

    /// The number of iterations from one on in which a number is above zero, until it is not. The
    /// number falls in every iteration; or it is the larger of a number and its opposite, and zero
    /// where that passes zero. A number that starts below zero never does, which is known not to be
    /// so, or `ends`: no other condition ends the loop, so that a run does not succeed then.
    fn iterations_from(&self, symbols: &mut Symbols, number: Dim, iteration: i64, ends: bool) -> Option<Dim> {
        if let Some((is_min, all)) = symbols.extremes(number) {
            if let (false, &[a, b]) = (is_min, &all[..])
                && symbols.negate(a) == Some(b)
            {
                return self.iterations_until_zero(symbols, [a, b], iteration, ends);
            }
            let each = all.into_iter().map(|dim| self.iterations_from(symbols, dim, iteration, false));
            let each = each.collect::<Option<Vec<_>>>()?;
            return extreme(symbols, is_min, each);
        }
        if let Dim::Known(..=0) = number {
            return Some(Dim::ZERO);
        }
        let (_, by) = self.line(symbols, number)?;
        let falls = symbols.negate(by).filter(|&falls| symbols.at_least(falls, 1))?;
        let value = self.value_at(symbols, number, iteration)?;
        let count = symbols.ceil_divide(value, falls)?;
        symbols.max(count, Dim::ZERO)
    }

    /// The number of iterations from one on until the one of a number and its opposite that falls
    /// is zero.
    fn iterations_until_zero(
        &self,
        symbols: &mut Symbols,
        pair: [Dim; 2],
        iteration: i64,
        ends: bool,
    ) -> Option<Dim> {
        let (number, falls) = pair.into_iter().find_map(|number| {
            let (_, by) = self.line(symbols, number)?;
            let falls = symbols.negate(by).filter(|&falls| symbols.at_least(falls, 1))?;
            Some((number, falls))
        })?;
        let value = self.value_at(symbols, number, iteration)?;
        if !(ends || (falls == Dim::ONE && symbols.at_least(value, 0))) {
            return None;
        }
        let count = symbols.ceil_divide(value, falls)?;
        symbols.max(count, Dim::ZERO)
    }

    /// The number of iterations of a loop, before a trip count is looked at: `enters` is the
    /// condition before it, `goes_on` the one that each iteration computes, and `ends` whether
    /// nothing but them ends it.
    pub fn iterations(&self, symbols: &mut Symbols, [enters, goes_on]: [Dim; 2], ends: bool) -> Option<Dim> {
        let number = symbols.above_zero_if(goes_on)?;
        let before = symbols.above_zero_if(enters)?;
        // The body computes the condition of the first iteration.
        if self.value_at(symbols, number, -1) == Some(before) {
            return self.iterations_from(symbols, number, -1, ends);
        }
        let others = self.iterations_from(symbols, number, 0, ends)?;
        let all = symbols.add(others, Dim::ONE)?;
        let is_entered = symbols.clamped(before, Dim::ZERO, Dim::ONE)?;
        symbols.multiply(is_entered, all)
    }
}

fn extreme(symbols: &mut Symbols, is_min: bool, all: Vec<Dim>) -> Option<Dim> {
    let mut all = all.into_iter();
    let first = all.next()?;
    all.try_fold(first, |a, b| if is_min { symbols.min(a, b) } else { symbols.max(a, b) })
}

/// The dimensions and the elements of a tensor, or the length of a sequence.
fn numbers(fact: &Fact) -> Vec<Dim> {
    match fact {
        Fact::Tensor(TensorFact { dims, elements, .. }) => {
            let elements = if let Elements::Integers(all) = elements { &all[..] } else { &[] };
            dims.iter().flat_map(|dims| dims.iter()).chain(elements).copied().collect()
        }
        Fact::Sequence(list) => vec![list.len],
        _ => Vec::new(),
    }
}

/// The number of iterations of a loop: at most `most`, if that is given.
pub fn number_of_iterations(
    cx: &mut InferContext<'_, '_>,
    counters: &Counters,
    [enters, goes_on]: [Option<Dim>; 2],
    most: Option<Dim>,
) -> Option<Dim> {
    // Exporters write the largest integer where nothing but a condition ends a loop, and no run has
    // so many iterations.
    let most = most.filter(|&most| most != Dim::Known(i64::MAX));
    let symbols = cx.symbols();
    let count = counters.iterations(symbols, [enters?, goes_on?], most.is_none())?;
    symbols.bound(count, Bounds::SIZE);
    most.map_or(Some(count), |most| symbols.min(most, count))
}
