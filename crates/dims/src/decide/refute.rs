//! Systems of inequalities between expressions, shown to have no integer solution.
//!
//! Products of atoms are unknowns of a linear system. To the inequalities that are given come the
//! meanings of atoms (`d*q <= x` and `x < d*q + d` for `q = x//d`), bounds of products (those of
//! `(x - 1)*(y - 2)`, where both factors have these lower bounds), and products of inequalities.
//! Where the system has a rational solution, it is taken apart: into the operands of a minimum, the
//! signs of a divisor, or the integers on both sides of a part of the solution. It has no integer
//! solution if no part has.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::linear::{Found, Row, solve};
use crate::sum::{Sum, Term, floor, gcd};
use crate::{Atom, AtomId, Bounds, Condition, Dim, Relation, Symbols};
use gradus_core::sort::SharedSort;

/// The maximum number of rows of a system.
const MAX_ROWS: usize = 160;
/// The maximum number of terms of two inequalities that are multiplied.
const MAX_TERMS: usize = 16;
/// The maximum depth of parts within parts.
const MAX_DEPTH: usize = 24;
/// Largest bound that products follow from.
const MAX_BOUND: i64 = 1 << 10;
/// Rounds in which bounds follow from one another.
const ROUNDS: usize = 4;

type Factors = Arc<[AtomId]>;

/// Inequalities, each of a sum that is at least 0, and what is said of them by alternatives.
#[derive(Clone, Default)]
struct System {
    facts: Vec<Sum>,
    /// Sums that are not 0.
    unequal: Vec<Sum>,
    defined: HashSet<AtomId>,
    /// Atoms that are taken apart.
    apart: HashSet<AtomId>,
    /// Quotients whose rests are known to be 0, or not to be.
    rests: HashSet<AtomId>,
}

/// The way in which a system is refuted.
#[derive(Clone, Copy)]
pub(super) struct Strategy {
    /// Systems that are solved, at most.
    pub(super) systems: usize,
    /// Products to which others are added, at most.
    pub(super) products: usize,
    /// True if the remainders of divisions are split into 0 and the others.
    pub(super) rests: bool,
}

/// Refutes systems of the expressions of some symbols.
pub(super) struct Refuter<'s> {
    symbols: &'s mut Symbols,
    how: Strategy,
    /// Says when to give up.
    stops: &'s dyn Fn() -> bool,
    /// Systems that may still be solved.
    left: usize,
    /// Values of symbols near solutions, by the index of a symbol.
    pub(super) points: Vec<Vec<(u32, i64)>>,
}

impl<'s> Refuter<'s> {
    /// A refuter that has spent nothing of its strategy.
    pub(super) fn new(symbols: &'s mut Symbols, how: Strategy, stops: &'s dyn Fn() -> bool) -> Refuter<'s> {
        Refuter { symbols, how, stops, left: how.systems, points: Vec::new() }
    }

    /// Returns true if no integers meet all conditions and miss the last one.
    pub(super) fn refutes(&mut self, given: &[Condition], claim: Option<&Condition>) -> bool {
        let mut system = System::default();
        if given.iter().any(|condition| self.add(&mut system, condition).is_none()) {
            return false;
        }
        let Some(claim) = claim else { return self.is_empty(system, 0) };
        let Some(opposites) = self.opposites(claim) else { return false };
        opposites.into_iter().all(|facts| {
            let mut system = system.clone();
            for (fact, is_unequal) in facts {
                if is_unequal { system.unequal.push(fact) } else { system.facts.push(fact) }
            }
            self.is_empty(system, 0)
        })
    }

    fn difference(&self, a: Dim, b: Dim, more: i64) -> Option<Sum> {
        self.symbols.as_sum(a).plus(&self.symbols.as_sum(b).scaled(-1)?)?.plus(&Sum::constant(more))
    }

    fn add(&self, system: &mut System, condition: &Condition) -> Option<()> {
        let Condition { left, relation, right } = *condition;
        match relation {
            Relation::AtMost => system.facts.push(self.difference(right, left, 0)?),
            Relation::AtLeast => system.facts.push(self.difference(left, right, 0)?),
            Relation::Equal => {
                system.facts.push(self.difference(left, right, 0)?);
                system.facts.push(self.difference(right, left, 0)?);
            }
            Relation::NotEqual => system.unequal.push(self.difference(left, right, 0)?),
            // Less is known of a system without it.
            Relation::Broadcast => {}
        }
        Some(())
    }

    /// The alternatives that hold where a condition does not: sums that are not negative or, with
    /// true, not 0.
    fn opposites(&self, claim: &Condition) -> Option<Vec<Vec<(Sum, bool)>>> {
        let Condition { left, relation, right } = *claim;
        let above = |sum| vec![(sum, false)];
        Some(match relation {
            Relation::AtMost => vec![above(self.difference(left, right, -1)?)],
            Relation::AtLeast => vec![above(self.difference(right, left, -1)?)],
            Relation::Equal => {
                vec![above(self.difference(left, right, -1)?), above(self.difference(right, left, -1)?)]
            }
            Relation::NotEqual => {
                vec![vec![
                    (self.difference(left, right, 0)?, false),
                    (self.difference(right, left, 0)?, false),
                ]]
            }
            Relation::Broadcast => {
                let apart = [(left, right), (left, Dim::ONE), (right, Dim::ONE)];
                let apart = apart.map(|(a, b)| Some((self.difference(a, b, 0)?, true)));
                vec![apart.into_iter().collect::<Option<_>>()?]
            }
        })
    }

    /// Returns true if a system has no integer solution. False also where that is not decided.
    fn is_empty(&mut self, mut system: System, depth: usize) -> bool {
        if depth > MAX_DEPTH || self.left == 0 || (self.stops)() || self.define(&mut system).is_none() {
            return false;
        }
        self.left -= 1;
        if !normalize(&mut system.facts) {
            return true;
        }
        let Some(bounds) = self.bounds(&system) else { return true };
        let mut facts = system.facts.clone();
        for (&atom, bounds) in &bounds {
            facts.extend(above_bounds(&Sum::atom(atom), *bounds));
        }
        self.with_products(&mut facts, &bounds);
        if !normalize(&mut facts) {
            return true;
        }
        facts.truncate(MAX_ROWS);
        let unknowns = unknowns(&facts);
        let rows: Vec<_> = facts.iter().map(|fact| row(fact, &unknowns)).collect();
        let point = match solve(&rows, unknowns.len()) {
            Found::Nothing => return true,
            Found::TooLarge => None,
            Found::Point(over, under) => Some(RationalSolution { unknowns: &unknowns, over, under }),
        };
        if let Some(point) = &point {
            self.points.push(self.near(point));
        }
        let Some(parts) = self.parts(&system, &bounds, point.as_ref()) else { return false };
        parts.into_iter().all(|part| self.is_empty(part, depth + 1))
    }

    /// Adds what the atoms of a system mean.
    fn define(&self, system: &mut System) -> Option<()> {
        let mut next = 0;
        while next < system.facts.len() + system.unequal.len() {
            let sum = system.facts.get(next).or_else(|| system.unequal.get(next - system.facts.len()));
            let atoms: Vec<_> = sum?.terms.iter().flat_map(|term| term.factors.iter().copied()).collect();
            let before = system.facts.len();
            for atom in atoms {
                if system.defined.insert(atom) {
                    self.define_atom(atom, &mut system.facts)?;
                }
            }
            // New facts come before the sums that are not 0.
            next = if next >= before && system.facts.len() > before { before } else { next + 1 };
        }
        Some(())
    }

    fn define_atom(&self, atom: AtomId, facts: &mut Vec<Sum>) -> Option<()> {
        let own = Sum::atom(atom);
        let less = own.scaled(-1)?;
        let bounds = self.symbols.bounds_of_atom(atom);
        if let Some(least) = bounds.lower() {
            facts.push(own.plus(&Sum::constant(least.checked_neg()?))?);
        }
        if let Some(most) = bounds.upper() {
            facts.push(less.plus(&Sum::constant(most))?);
        }
        match &self.symbols.atom(atom).0 {
            Atom::Floor(x, by) => {
                let divisor = self.symbols.as_sum(*by);
                // The divisor is not 0 where there is a quotient.
                if self.symbols.at_least(*by, 0) {
                    if by.known().is_none() {
                        facts.push(divisor.plus(&Sum::constant(-1))?);
                    }
                    self.define_quotient(&own, *x, &divisor, facts)?;
                }
            }
            Atom::Min(all) => {
                for &of in &**all {
                    facts.push(self.symbols.as_sum(of).plus(&less)?);
                }
            }
            Atom::Max(all) => {
                for &of in &**all {
                    facts.push(own.plus(&self.symbols.as_sum(of).scaled(-1)?)?);
                }
            }
            Atom::Symbol(_) | Atom::Broadcast(..) => {}
        }
        Some(())
    }

    /// `d*q <= x < d*q + d`, of a divisor above 0.
    fn define_quotient(&self, quotient: &Sum, x: Dim, divisor: &Sum, facts: &mut Vec<Sum>) -> Option<()> {
        let rest = self.symbols.as_sum(x).plus(&quotient.times(divisor)?.scaled(-1)?)?;
        let below = divisor.plus(&rest.scaled(-1)?)?.plus(&Sum::constant(-1))?;
        facts.extend([rest, below]);
        Some(())
    }

    /// The bounds of atoms by what is known of them, and by inequalities, each of which bounds an
    /// atom by the bounds of the others.
    /// Nothing if they leave no integer for an atom.
    fn bounds(&self, system: &System) -> Option<HashMap<AtomId, Bounds>> {
        let mut bounds: HashMap<AtomId, Bounds> =
            system.defined.iter().map(|&atom| (atom, self.symbols.bounds_of_atom(atom))).collect();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for fact in &system.facts {
                for (at, Term { factors, coefficient }) in fact.terms.iter().enumerate() {
                    let [atom] = **factors else { continue };
                    // The most that all the others are.
                    let others = fact.terms.iter().enumerate().filter(|(other, _)| *other != at);
                    let others = others.fold(Bounds::exactly(fact.constant), |sum, (_, term)| {
                        let of = |product: Bounds, atom: &AtomId| product.times(bounds[atom]);
                        sum.plus(term.factors.iter().fold(Bounds::exactly(term.coefficient), of))
                    });
                    let Some(least) = others.upper().and_then(i64::checked_neg) else { continue };
                    let bound = if *coefficient > 0 {
                        let least = least.checked_neg().and_then(|rest| floor(rest, *coefficient));
                        Bounds::between(least.and_then(i64::checked_neg), None)
                    } else {
                        Bounds::between(None, floor(least, *coefficient))
                    };
                    let known = bounds.entry(atom).or_insert(Bounds::ANY);
                    let is_empty =
                        |a: Bounds, b: Bounds| a.lower().zip(b.upper()).is_some_and(|(a, b)| a > b);
                    if is_empty(*known, bound) || is_empty(bound, *known) {
                        return None;
                    }
                    let now = known.and(bound);
                    changed |= now != *known;
                    *known = now;
                }
            }
            if !changed {
                break;
            }
        }
        Some(bounds)
    }

    /// Adds what products mean, and products of inequalities.
    fn with_products(&self, facts: &mut Vec<Sum>, bounds: &HashMap<AtomId, Bounds>) {
        let mut products: Vec<Factors> = products(facts);
        let mut next = 0;
        while next < products.len() && facts.len() < MAX_ROWS {
            let factors = products[next].clone();
            next += 1;
            self.factor_bounds(&factors, bounds, facts);
            if factors.len() > 2 {
                let rest: Factors = factors[1..].into();
                if !products.contains(&rest) {
                    products.push(rest);
                }
            }
        }
        // Products that are new make the system larger, and are seldom of use where there are many.
        let is_there = |sum: &Sum| {
            let mut of_products = sum.terms.iter().filter(|term| term.factors.len() > 1);
            let is_known = |term: &Term| products.contains(&term.factors);
            if products.len() > self.how.products {
                of_products.all(is_known)
            } else {
                of_products.any(is_known)
            }
        };
        for factors in &products {
            if let [x, y] = **factors
                && x != y
                && products.contains(&Factors::from([x, x]))
                && products.contains(&Factors::from([y, y]))
            {
                facts.extend(squares(x, y));
            }
        }
        let linear: Vec<_> = facts
            .iter()
            .filter(|fact| fact.terms.iter().all(|term| term.factors.len() < 3))
            .cloned()
            .collect();
        let mut add = |sum: Option<Sum>| {
            if let Some(sum) = sum.filter(|sum| is_there(sum) && facts.len() < MAX_ROWS) {
                facts.push(sum);
            }
        };
        if products.is_empty() {
            return;
        }
        for (index, a) in linear.iter().enumerate() {
            for b in &linear[index..] {
                let terms = a.terms.len() + b.terms.len();
                if terms > 2 && terms <= MAX_TERMS {
                    add(a.times(b));
                }
            }
        }
    }

    /// Adds the consequences for a product of the bounds of its first factor and of the product of
    /// the others, and that a square of an integer is at least the integer.
    fn factor_bounds(&self, factors: &[AtomId], bounds: &HashMap<AtomId, Bounds>, facts: &mut Vec<Sum>) {
        let of =
            |atom: &AtomId| bounds.get(atom).copied().unwrap_or_else(|| self.symbols.bounds_of_atom(*atom));
        let (first, rest) = (factors[0], &factors[1..]);
        let others = rest.iter().fold(Bounds::exactly(1), |product, atom| product.times(of(atom)));
        let a = Sum::atom(first);
        let b = Sum { terms: vec![Term { factors: rest.into(), coefficient: 1 }], constant: 0 };
        let (of_first, of_others) = (above_bounds(&a, of(&first)), above_bounds(&b, others));
        for x in &of_first {
            facts.extend(of_others.iter().filter_map(|y| x.times(y)));
        }
        if rest == [first] {
            for value in [0, 1, 2] {
                let one = a.plus(&Sum::constant(-value)).zip(a.plus(&Sum::constant(-value - 1)));
                facts.extend(one.and_then(|(x, y)| x.times(&y)));
            }
            facts.extend(a.plus(&Sum::constant(1)).and_then(|x| x.times(&a)));
        }
    }

    /// The values of symbols at a point, rounded.
    fn near(&self, point: &RationalSolution<'_>) -> Vec<(u32, i64)> {
        let values = point.unknowns.iter().filter_map(|(factors, &at)| {
            let [atom] = **factors else { return None };
            let Atom::Symbol(index) = self.symbols.atom(atom).0 else { return None };
            let value = point.over[at].div_euclid(point.under);
            Some((index, i64::try_from(value).ok()?))
        });
        values.collect()
    }

    /// The parts of a system that together have all its integer solutions; nothing if it is not
    /// known how to take it apart.
    fn parts(
        &self,
        system: &System,
        bounds: &HashMap<AtomId, Bounds>,
        point: Option<&RationalSolution<'_>>,
    ) -> Option<Vec<System>> {
        let part = |facts: Vec<Sum>| {
            let mut part = system.clone();
            part.facts.extend(facts);
            part
        };
        let mut open: Vec<_> =
            system.defined.iter().copied().filter(|atom| !system.apart.contains(atom)).collect();
        open.shared_sort();
        for atom in open {
            if let Some(cases) = self.cases(atom)? {
                let parts = cases.into_iter().map(|facts| {
                    let mut part = part(facts);
                    part.apart.insert(atom);
                    part
                });
                return Some(parts.collect());
            }
        }
        let open =
            system.defined.iter().copied().filter(|atom| self.how.rests && !system.rests.contains(atom));
        let mut rests: Vec<_> = open.collect();
        rests.shared_sort();
        for atom in rests {
            if let Some(rest) = self.rest(atom)? {
                let of = |side: Sum| {
                    let mut part = part(vec![side]);
                    part.rests.insert(atom);
                    part
                };
                return Some(vec![of(rest.scaled(-1)?), of(rest.plus(&Sum::constant(-1))?)]);
            }
        }
        if let Some(sum) = system.unequal.last() {
            let sides = [sum.plus(&Sum::constant(-1))?, sum.scaled(-1)?.plus(&Sum::constant(-1))?];
            let sides = sides.map(|side| {
                let mut part = part(vec![side]);
                part.unequal.pop();
                part
            });
            return Some(sides.into());
        }
        let (atom, below) = point?.to_divide(bounds)?;
        let most = Sum::atom(atom).scaled(-1)?.plus(&Sum::constant(below))?;
        let least = Sum::atom(atom).plus(&Sum::constant(below.checked_add(1)?.checked_neg()?))?;
        Some(vec![part(vec![most]), part(vec![least])])
    }

    /// The rest of a division whose divisor is above 0 and no number.
    #[allow(clippy::option_option, reason = "sums that do not fit are told from atoms that are no quotients")]
    fn rest(&self, atom: AtomId) -> Option<Option<Sum>> {
        let Atom::Floor(x, by) = self.symbols.atom(atom).0 else { return Some(None) };
        if by.known().is_some() || !self.symbols.at_least(by, 0) {
            return Some(None);
        }
        let whole = Sum::atom(atom).times(&self.symbols.as_sum(by))?;
        Some(Some(self.symbols.as_sum(x).plus(&whole.scaled(-1)?)?))
    }

    /// The cases of an atom, by the inequalities of each; nothing within if it has no cases.
    #[allow(clippy::option_option, reason = "sums that do not fit are told from atoms without cases")]
    fn cases(&self, atom: AtomId) -> Option<Option<Vec<Vec<Sum>>>> {
        let own = Sum::atom(atom);
        let less = |of: Dim| own.plus(&self.symbols.as_sum(of).scaled(-1)?);
        let more = |of: Dim| less(of)?.scaled(-1);
        Some(Some(match &self.symbols.atom(atom).0 {
            // A minimum is an operand, and not above the others, as it is defined.
            Atom::Min(all) => all.iter().map(|&of| Some(vec![less(of)?])).collect::<Option<_>>()?,
            Atom::Max(all) => all.iter().map(|&of| Some(vec![more(of)?])).collect::<Option<_>>()?,
            Atom::Broadcast(a, b) => {
                let size = self.symbols.as_sum(*a);
                let (above, below) = (size.plus(&Sum::constant(-2))?, size.scaled(-1)?);
                let one = [size.plus(&Sum::constant(-1))?, size.scaled(-1)?.plus(&Sum::constant(1))?];
                let first = |side: Sum| Some(vec![side, less(*a)?, more(*a)?]);
                vec![first(above)?, first(below)?, [one.to_vec(), vec![less(*b)?, more(*b)?]].concat()]
            }
            Atom::Floor(x, by) if !self.symbols.at_least(*by, 0) => {
                let divisor = self.symbols.as_sum(*by);
                let (mut above, mut below) = (Vec::new(), Vec::new());
                above.push(divisor.plus(&Sum::constant(-1))?);
                self.define_quotient(&own, *x, &divisor, &mut above)?;
                below.push(divisor.scaled(-1)?.plus(&Sum::constant(-1))?);
                let opposite = self.symbols.as_sum(*x).scaled(-1)?;
                let divisor = divisor.scaled(-1)?;
                let rest = opposite.plus(&own.times(&divisor)?.scaled(-1)?)?;
                below.extend([divisor.plus(&rest.scaled(-1)?)?.plus(&Sum::constant(-1))?, rest]);
                vec![above, below]
            }
            Atom::Symbol(_) | Atom::Floor(..) => return Some(None),
        }))
    }
}

/// A rational solution: the value of each product of atoms, over one denominator.
struct RationalSolution<'u> {
    unknowns: &'u HashMap<Factors, usize>,
    over: Vec<i128>,
    under: i128,
}

impl RationalSolution<'_> {
    fn of(&self, atom: AtomId) -> Option<i128> {
        self.unknowns.get(&Arc::from([atom])).map(|&at| self.over[at])
    }

    /// An atom, and the largest integer of its first part: one whose value is no integer, or a
    /// factor of a product that is not the product of the factors' values.
    fn to_divide(&self, bounds: &HashMap<AtomId, Bounds>) -> Option<(AtomId, i64)> {
        let mut unknowns: Vec<_> = self.unknowns.iter().collect();
        unknowns.shared_sort();
        let fraction = unknowns.iter().find_map(|(factors, at)| match ***factors {
            [atom] if self.over[**at] % self.under != 0 => {
                Some((atom, self.over[**at].div_euclid(self.under)))
            }
            _ => None,
        });
        let (atom, below) = match fraction {
            Some(found) => found,
            None => unknowns.iter().find_map(|(factors, at)| self.factor_to_divide(factors, **at, bounds))?,
        };
        // Far from the bounds, numbers grow and little follows.
        let bounds = bounds.get(&atom).copied().unwrap_or(Bounds::ANY);
        let near = |bound: i64| i128::from(bound.unsigned_abs().max(4)) * 2;
        let below = match (bounds.lower(), bounds.upper()) {
            (Some(least), _) => below.min(i128::from(least) + near(least)),
            (None, Some(most)) => below.max(i128::from(most) - near(most)),
            (None, None) => below.clamp(-16, 16),
        };
        Some((atom, i64::try_from(below).ok()?))
    }

    fn factor_to_divide(
        &self,
        factors: &[AtomId],
        at: usize,
        bounds: &HashMap<AtomId, Bounds>,
    ) -> Option<(AtomId, i128)> {
        if factors.len() < 2 {
            return None;
        }
        let values = factors.iter().map(|&factor| self.of(factor).map(|value| value / self.under));
        let product = values.clone().try_fold(1i128, |product, value| product.checked_mul(value?));
        if product.and_then(|product| product.checked_mul(self.under)) == Some(self.over[at]) {
            return None;
        }
        // The one with the fewest values, and of equals the smaller.
        let open = factors.iter().zip(values).filter_map(|(&factor, value)| {
            let bounds = bounds.get(&factor).copied().unwrap_or(Bounds::ANY);
            let count = bounds
                .lower()
                .zip(bounds.upper())
                .map_or(i64::MAX, |(least, most)| most.saturating_sub(least));
            let value = value.unwrap_or(0);
            (count > 0).then_some((count, value.abs(), factor, value, bounds))
        });
        let (_, _, factor, value, bounds) = open.min_by_key(|(count, size, ..)| (*count, *size))?;
        // Both parts must be smaller than the whole.
        let most = bounds.upper().map_or(value, |most| value.min(i128::from(most) - 1));
        Some((factor, bounds.lower().map_or(most, |least| most.max(i128::from(least)))))
    }
}

/// The distances of a sum from its lower and its upper bound.
fn above_bounds(sum: &Sum, bounds: Bounds) -> Vec<Sum> {
    let bounds = bounds.within(MAX_BOUND);
    let above = bounds.lower().and_then(|least| sum.plus(&Sum::constant(least.checked_neg()?)));
    let below = bounds.upper().and_then(|most| sum.scaled(-1)?.plus(&Sum::constant(most)));
    [above, below].into_iter().flatten().collect()
}

/// An integer and the next have no opposite signs: of the difference and the sum of two atoms.
fn squares(x: AtomId, y: AtomId) -> impl Iterator<Item = Sum> {
    let of = move |sign: i64, more: i64| {
        let sum = Sum::atom(x).plus(&Sum::atom(y).scaled(sign)?)?;
        sum.times(&sum.plus(&Sum::constant(more))?)
    };
    [(-1, -1), (-1, 1), (1, -1), (1, 1)].into_iter().filter_map(move |(sign, more)| of(sign, more))
}

/// The products of more than one atom, each once.
fn products(facts: &[Sum]) -> Vec<Factors> {
    let mut products: Vec<_> =
        facts.iter().flat_map(|fact| &fact.terms).map(|term| term.factors.clone()).collect();
    products.retain(|factors| factors.len() > 1);
    products.shared_sort();
    products.dedup();
    products
}

/// Divides each inequality by what divides its coefficients, the constant rounded down, and drops
/// those that always hold; false if one never holds.
fn normalize(facts: &mut Vec<Sum>) -> bool {
    for fact in facts.iter_mut() {
        let divisor = fact.terms.iter().fold(0, |divisor, term| gcd(divisor, term.coefficient));
        if divisor > 1 {
            fact.terms.iter_mut().for_each(|term| term.coefficient /= divisor);
            fact.constant = fact.constant.div_euclid(divisor);
        }
    }
    let holds = facts.iter().all(|fact| !fact.terms.is_empty() || fact.constant >= 0);
    let mut seen = HashSet::default();
    facts.retain(|fact| !fact.terms.is_empty() && seen.insert(fact.clone()));
    holds
}

fn unknowns(facts: &[Sum]) -> HashMap<Factors, usize> {
    let mut unknowns = HashMap::default();
    for term in facts.iter().flat_map(|fact| &fact.terms) {
        let next = unknowns.len();
        unknowns.entry(term.factors.clone()).or_insert(next);
    }
    unknowns
}

fn row(fact: &Sum, unknowns: &HashMap<Factors, usize>) -> Row {
    let terms = fact.terms.iter().map(|term| (unknowns[&term.factors], term.coefficient)).collect();
    Row { terms, constant: fact.constant }
}
