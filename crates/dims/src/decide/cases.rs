//! Claims with minima and maxima, taken apart into claims without them.
//!
//! A minimum is one of its operands where that is at most the others. With the operand in its
//! place, expressions around it may have a shorter form: `(a*b) % min(a, b)` is 0 in both cases.

use std::sync::Arc;

use super::refute::{Refuter, Strategy};
use crate::{Atom, AtomId, Condition, Dim, Relation, Symbols};

/// The maximum number of cases of a claim.
const MAX_CASES: usize = 64;
/// The strategies for each case, in order.
const OF_CASE: [Strategy; 2] = [
    Strategy { systems: 100, products: 0, rests: false },
    Strategy { systems: 100, products: 0, rests: true },
];

/// Returns true if a claim has minima or maxima, and follows from what is given in each case.
pub(super) fn follows(
    symbols: &mut Symbols,
    given: &[Condition],
    claim: Option<Condition>,
    stops: &dyn Fn() -> bool,
) -> bool {
    let mut left = MAX_CASES;
    first_extreme(symbols, given, claim).is_some() && is_proved(symbols, given, claim, &mut left, stops)
}

fn is_proved(
    symbols: &mut Symbols,
    given: &[Condition],
    claim: Option<Condition>,
    left: &mut usize,
    stops: &dyn Fn() -> bool,
) -> bool {
    let Some((atom, operands, relation)) = first_extreme(symbols, given, claim) else {
        *left = left.saturating_sub(1);
        return *left > 0
            && (claim.is_some_and(|claim| symbols.always_holds(&claim))
                || OF_CASE
                    .iter()
                    .any(|&how| Refuter::new(symbols, how, stops).refutes(given, claim.as_ref())));
    };
    operands.iter().all(|&operand| {
        let others = operands.iter().filter(|&&other| other != operand);
        let mut case: Vec<_> = others.map(|&other| Condition::new(operand, relation, other)).collect();
        let replaced = |symbols: &mut Symbols, condition: &Condition| {
            let left = symbols.replaced(condition.left, atom, operand)?;
            Some(Condition::new(left, condition.relation, symbols.replaced(condition.right, atom, operand)?))
        };
        for condition in given {
            let Some(condition) = replaced(symbols, condition) else { return false };
            case.push(condition);
        }
        match claim.map(|claim| replaced(symbols, &claim)) {
            Some(None) => false,
            claim => is_proved(symbols, &case, claim.flatten(), left, stops),
        }
    })
}

/// A minimum or a maximum whose operands have none: its operands, and how it is related to them.
fn first_extreme(
    symbols: &Symbols,
    given: &[Condition],
    claim: Option<Condition>,
) -> Option<(AtomId, Arc<[Dim]>, Relation)> {
    let mut open: Vec<_> = given.iter().chain(&claim).flat_map(|of| [of.left, of.right]).collect();
    let mut found = None;
    while let Some(dim) = open.pop() {
        for &atom in symbols.as_sum(dim).terms.iter().flat_map(|term| &*term.factors) {
            match &symbols.atom(atom).0 {
                Atom::Symbol(_) => {}
                Atom::Floor(a, b) | Atom::Broadcast(a, b) => open.extend([*a, *b]),
                Atom::Min(all) => {
                    found = Some((atom, all.clone(), Relation::AtMost));
                    open.extend(&**all);
                }
                Atom::Max(all) => {
                    found = Some((atom, all.clone(), Relation::AtLeast));
                    open.extend(&**all);
                }
            }
        }
    }
    found
}

impl Symbols {
    /// The expression with another in place of an atom; nothing if it is too large, or divides by
    /// zero.
    fn replaced(&mut self, dim: Dim, atom: AtomId, by: Dim) -> Option<Dim> {
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
