//! Claims with minima, maxima and broadcasts, taken apart into claims without them.
//!
//! A minimum is one of its operands where that is at most the others. With the operand in its
//! place, expressions around it may have a shorter form: `(a*b) % min(a, b)` is 0 in both cases.

use super::refute::{Refuter, Strategy};
use crate::{Atom, AtomId, Condition, Dim, Relation, Symbols};

/// The maximum number of cases of a claim.
const MAX_CASES: usize = 64;
/// The strategies for each case, in order.
const OF_CASE: [Strategy; 2] = [
    Strategy { systems: 100, products: 0, rests: false },
    Strategy { systems: 100, products: 0, rests: true },
];

/// Returns true if a claim has minima, maxima or broadcasts, and follows from what is given in each
/// case.
pub(super) fn follows(
    symbols: &mut Symbols,
    given: &[Condition],
    claim: Option<Condition>,
    stops: &dyn Fn() -> bool,
) -> bool {
    let mut left = MAX_CASES;
    first_cases(symbols, given, claim).is_some() && is_proved(symbols, given, claim, &mut left, stops)
}

fn is_proved(
    symbols: &mut Symbols,
    given: &[Condition],
    claim: Option<Condition>,
    left: &mut usize,
    stops: &dyn Fn() -> bool,
) -> bool {
    let Some((atom, cases)) = first_cases(symbols, given, claim) else {
        *left = left.saturating_sub(1);
        return *left > 0
            && (claim.is_some_and(|claim| symbols.always_holds(&claim))
                || OF_CASE
                    .iter()
                    .any(|&how| Refuter::new(symbols, how, stops).refutes(given, claim.as_ref())));
    };
    cases.into_iter().all(|Value { is, mut when }| {
        let replaced = |symbols: &mut Symbols, condition: &Condition| {
            let left = symbols.replaced(condition.left, atom, is)?;
            Some(Condition::new(left, condition.relation, symbols.replaced(condition.right, atom, is)?))
        };
        for condition in given {
            let Some(condition) = replaced(symbols, condition) else { return false };
            when.push(condition);
        }
        match claim.map(|claim| replaced(symbols, &claim)) {
            Some(None) => false,
            claim => is_proved(symbols, &when, claim.flatten(), left, stops),
        }
    })
}

/// A value of an atom, and conditions under which the atom has it.
struct Value {
    is: Dim,
    when: Vec<Condition>,
}

/// A minimum, a maximum or a broadcast whose operands have none: the atom, and its values, of which
/// it always has one.
fn first_cases(
    symbols: &Symbols,
    given: &[Condition],
    claim: Option<Condition>,
) -> Option<(AtomId, Vec<Value>)> {
    let mut open: Vec<_> = given.iter().chain(&claim).flat_map(|of| [of.left, of.right]).collect();
    let mut found = None;
    while let Some(dim) = open.pop() {
        for &atom in symbols.as_sum(dim).terms.iter().flat_map(|term| &*term.factors) {
            match &symbols.atom(atom).0 {
                Atom::Symbol(_) => continue,
                Atom::Floor(a, b) => {
                    open.extend([*a, *b]);
                    continue;
                }
                Atom::Broadcast(a, b) => open.extend([*a, *b]),
                Atom::Min(all) | Atom::Max(all) => open.extend(&**all),
            }
            found = Some(atom);
        }
    }
    let extreme = |all: &[Dim], relation| {
        let value = |&is: &Dim| {
            let others = all.iter().filter(|&&other| other != is);
            Value { is, when: others.map(|&other| Condition::new(is, relation, other)).collect() }
        };
        all.iter().map(value).collect()
    };
    let cases = match &symbols.atom(found?).0 {
        Atom::Min(all) => extreme(all, Relation::AtMost),
        Atom::Max(all) => extreme(all, Relation::AtLeast),
        // Where there is a broadcast, sizes are equal or one of them is 1.
        Atom::Broadcast(a, b) => [(b, a, Dim::ONE), (a, b, Dim::ONE), (a, a, *b)]
            .map(|(is, of, other)| Value { is: *is, when: vec![Condition::new(*of, Relation::Equal, other)] })
            .into(),
        Atom::Symbol(_) | Atom::Floor(..) => return None,
    };
    Some((found?, cases))
}

impl Symbols {
    /// The expression with another in place of an atom; nothing if it is too large, or divides by
    /// zero.
    pub(super) fn replaced(&mut self, dim: Dim, atom: AtomId, by: Dim) -> Option<Dim> {
        let sum = self.as_sum(dim);
        let mut total = Dim::Known(sum.constant);
        for term in &sum.terms {
            let mut product = Dim::Known(term.coefficient);
            for &factor in &*term.factors {
                let factor = if factor == atom { by } else { self.replaced_within(factor, atom, by)? };
                product = self.multiply(product, factor)?;
            }
            total = self.add(total, product)?;
        }
        Some(total)
    }

    fn replaced_within(&mut self, factor: AtomId, atom: AtomId, by: Dim) -> Option<Dim> {
        let all = |this: &mut Symbols, all: &[Dim], of: fn(&mut Symbols, Dim, Dim) -> Option<Dim>| {
            let mut joined = this.replaced(*all.first()?, atom, by)?;
            for &next in &all[1..] {
                let next = this.replaced(next, atom, by)?;
                joined = of(this, joined, next)?;
            }
            Some(joined)
        };
        match self.atom(factor).0.clone() {
            Atom::Symbol(_) => Some(self.atom_dim(factor)),
            Atom::Floor(a, b) => all(self, &[a, b], Symbols::floor_divide),
            Atom::Broadcast(a, b) => all(self, &[a, b], Symbols::broadcast),
            Atom::Min(of) => all(self, &of, Symbols::min),
            Atom::Max(of) => all(self, &of, Symbols::max),
        }
    }
}
