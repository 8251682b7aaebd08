//! Claims with what a condition says of a name in its place.
//!
//! `t == past + seq` says what `t` is, and `n % m == 0` that `n` is `m*k` for some `k`. Expressions
//! without the name may have a shorter form: `(n*a) % m` is 0.

use super::refute::{Refuter, Strategy};
use crate::{Atom, AtomId, Bounds, Condition, Dim, Origin, Relation, Symbols};

/// The maximum number of names that are replaced.
const MAX_NAMES: usize = 8;
/// The strategies for the claim without names, in order.
const STRATEGIES: [Strategy; 2] = [
    Strategy { systems: 200, products: 0, rests: false },
    Strategy { systems: 200, products: 0, rests: true },
];

/// Returns true if conditions that are given say what some names are, and a claim follows, or
/// without a claim a contradiction, where each of them is replaced.
pub(super) fn follows(
    symbols: &mut Symbols,
    given: &[Condition],
    claim: Option<Condition>,
    stops: &dyn Fn() -> bool,
) -> bool {
    let (mut given, mut claim) = (given.to_vec(), claim);
    let mut count = 0;
    while count < MAX_NAMES && !stops() {
        let found = given.iter().find_map(|of| symbols.says(of));
        let Some((name, by)) = found else { break };
        let bounds = symbols.bounds_of_atom(name);
        let replaced = |symbols: &mut Symbols, of: &Condition| {
            let [left, right] = [of.left, of.right].map(|dim| symbols.replaced(dim, name, by));
            Some(Condition::new(left?, of.relation, right?))
        };
        let all = given.iter().map(|of| replaced(symbols, of)).collect::<Option<Vec<_>>>();
        let Some(mut all) = all else { return false };
        all.retain(|of| !symbols.always_holds(of));
        let ends = [(Relation::AtLeast, bounds.lower()), (Relation::AtMost, bounds.upper())];
        let ends = ends.into_iter().filter_map(|(relation, end)| Some((relation, end?)));
        all.extend(ends.map(|(relation, end)| Condition::new(by, relation, Dim::Known(end))));
        claim = match claim.map(|claim| replaced(symbols, &claim)) {
            Some(None) => return false,
            claim => claim.flatten(),
        };
        (given, count) = (all, count + 1);
    }
    count > 0
        && (claim.is_some_and(|claim| symbols.always_holds(&claim))
            || STRATEGIES
                .iter()
                .any(|&how| Refuter::new(symbols, how, stops).refutes(&given, claim.as_ref())))
}

impl Symbols {
    /// A symbol and the expression without it that it is by a condition.
    fn says(&mut self, of: &Condition) -> Option<(AtomId, Dim)> {
        if of.relation != Relation::Equal {
            return None;
        }
        let apart = self.subtract(of.left, of.right)?;
        self.solved_for_one(apart).or_else(|| self.multiple(apart))
    }

    /// A symbol that an expression has once, in a term of its own, and what it is where the
    /// expression is 0.
    fn solved_for_one(&mut self, dim: Dim) -> Option<(AtomId, Dim)> {
        let sum = self.as_sum(dim);
        sum.terms.iter().find_map(|term| {
            let ([atom], Atom::Symbol(index)) = (&*term.factors, &self.atom(*term.factors.first()?).0) else {
                return None;
            };
            let (atom, index) = (*atom, *index);
            let own = self.atom_dim(atom);
            let by = match term.coefficient {
                1 => self.subtract(own, dim)?,
                -1 => self.add(own, dim)?,
                _ => return None,
            };
            let is_within = self.indices_of(by).contains(&index);
            (!is_within).then_some((atom, by))
        })
    }

    /// A symbol and what it is where an expression `x%d`, or its opposite, is 0: for `x` is `d*k`.
    fn multiple(&mut self, dim: Dim) -> Option<(AtomId, Dim)> {
        let sum = self.as_sum(dim);
        let mut quotients = sum.terms.iter().flat_map(|term| &*term.factors).copied();
        let (of, by) = quotients.find_map(|atom| {
            let Atom::Floor(of, by) = self.atom(atom).0 else { return None };
            let rest = self.modulo(of, by)?;
            (rest == dim || self.negate(rest)? == dim).then_some((of, by))
        })?;
        let is_size = self.at_least(of, 0) && self.at_least(by, 0);
        let bounds =
            if is_size { Bounds::between(Some(i64::from(self.at_least(of, 1))), None) } else { Bounds::ANY };
        let part = self.fresh("part", Origin::Input, bounds);
        let whole = self.multiply(by, part)?;
        let apart = self.subtract(of, whole)?;
        self.solved_for_one(apart)
    }
}
