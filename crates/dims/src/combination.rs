//! Sums of any length, which are compared where every symbol of the inputs is at least 1.

use std::collections::BTreeMap;
use std::sync::Arc;

use gradus_core::convert::usize_of_u32;
use gradus_core::sort::SharedSort;

use super::sum::Term;
use super::{Atom, AtomId, Dim, Origin, Symbols};

/// A sum of products of atoms; the empty product is the constant. It may grow beyond what an
/// expression may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combination(BTreeMap<Arc<[AtomId]>, i128>);

impl Combination {
    /// Adds `times` times another combination.
    pub fn add(&mut self, other: &Combination, times: i128) {
        for (factors, coefficient) in &other.0 {
            let sum = self.0.entry(factors.clone()).or_default();
            *sum = sum.saturating_add(coefficient.saturating_mul(times));
            if *sum == 0 {
                self.0.remove(factors);
            }
        }
    }

    /// The larger coefficient of each product: at least the larger of both, where products are not
    /// negative.
    #[must_use]
    pub fn join(mut self, other: Combination) -> Combination {
        for (factors, mine) in &mut self.0 {
            *mine = (*mine).max(other.0.get(factors).copied().unwrap_or(0));
        }
        for (factors, coefficient) in other.0 {
            if coefficient > 0 {
                self.0.entry(factors).or_insert(coefficient);
            }
        }
        self.0.retain(|_, coefficient| *coefficient != 0);
        self
    }
}

impl Symbols {
    /// The terms of an expression. Symbols that the data decide are replaced by their upper bound,
    /// where that is known and they occur as factors alone.
    pub fn combination(&mut self, dim: Dim) -> Combination {
        let dim = self.at_most(dim).unwrap_or(dim);
        let sum = self.as_sum(dim);
        let terms = sum.terms.iter().map(|term| (term.factors.clone(), i128::from(term.coefficient)));
        let constant = (sum.constant != 0).then(|| (Arc::from([]), i128::from(sum.constant)));
        Combination(terms.chain(constant).collect())
    }

    /// Notes that a symbol, which the data decide, is at most an expression.
    pub fn limit(&mut self, symbol: Dim, most: Dim) {
        if let Some(index) = self.as_symbol_index(symbol) {
            let most = self.at_most(most).unwrap_or(most);
            self.limits.insert(index, most);
        }
    }

    /// The expression with the limits of symbols in their place, if no such symbol is subtracted or
    /// multiplied by what may be below zero.
    pub fn at_most(&mut self, dim: Dim) -> Option<Dim> {
        let sum = self.as_sum(dim);
        let mut total = Dim::Known(sum.constant);
        for Term { factors, coefficient } in &sum.terms {
            let mut product = Dim::Known(*coefficient);
            let may_be_negative =
                |atom: &AtomId| self.atom(*atom).1.bounds.lower().is_none_or(|least| least < 0);
            let has_sign = factors.len() > 1 && factors.iter().any(may_be_negative);
            for atom in &**factors {
                let limit = match self.atom(*atom).0 {
                    Atom::Symbol(index) => self.limits.get(&index).copied(),
                    _ => None,
                };
                let factor = match limit {
                    Some(_) if *coefficient < 0 || has_sign => return None,
                    Some(limit) => limit,
                    None => self.atom_dim(*atom),
                };
                product = self.multiply(product, factor)?;
            }
            total = self.add(total, product)?;
        }
        Some(total)
    }

    /// Returns true if one combination is at least another wherever every symbol of the inputs is
    /// at least 1. False also where that is not decided.
    pub fn covers(&self, large: &Combination, small: &Combination) -> bool {
        let mut rest = large.clone();
        rest.add(small, -1);
        let mut spare: Vec<_> =
            rest.0.iter().filter(|(_, left)| **left > 0).map(|(f, left)| (f, *left)).collect();
        // Products of few factors cover little, so they are used first.
        spare.shared_sort_by_key(|(factors, _)| factors.len());
        let mut lacks: Vec<_> = rest.0.iter().filter(|(_, left)| **left < 0).collect();
        lacks.shared_sort_by_key(|(factors, _)| std::cmp::Reverse(factors.len()));
        lacks.into_iter().all(|(factors, &lack)| {
            let mut lack = lack.saturating_neg();
            for (of, left) in spare.iter_mut().filter(|(of, left)| *left > 0 && self.is_multiple(of, factors))
            {
                debug_assert!(of.len() >= factors.len());
                let used = lack.min(*left);
                (lack, *left) = (lack - used, *left - used);
            }
            lack == 0
        })
    }

    /// Returns true if a product is at least a part of it: none of it is negative, and what it has
    /// more is at least 1.
    fn is_multiple(&self, product: &[AtomId], part: &[AtomId]) -> bool {
        let mut part = part.iter().peekable();
        let covered = product.iter().all(|atom| {
            let shared = part.next_if_eq(&atom).is_some();
            self.least(*atom) >= i64::from(!shared)
        });
        covered && part.next().is_none()
    }

    /// The lower bound of an atom, where every symbol of the inputs is at least 1.
    fn least(&self, atom: AtomId) -> i64 {
        let (atom, measure) = self.atom(atom);
        let least = measure.bounds.lower().unwrap_or(i64::MIN);
        let is_input = |index: &u32| self.named[usize_of_u32(*index)].origin == Origin::Input;
        if matches!(atom, Atom::Symbol(index) if is_input(index)) { least.max(1) } else { least }
    }

    /// The value of a combination where every symbol is that number, within 128 bits.
    pub fn about(&self, combination: &Combination, number: i64) -> i128 {
        let value = |atom: &AtomId| self.evaluate_atom(*atom, &|_| Some(number)).unwrap_or(0);
        let term = |(factors, coefficient): (&Arc<[AtomId]>, &i128)| {
            factors.iter().fold(*coefficient, |product, atom| product.saturating_mul(value(atom).into()))
        };
        combination.0.iter().map(term).fold(0, i128::saturating_add)
    }

    /// The expression that a combination is, unless it is too large.
    pub fn expression(&mut self, combination: &Combination) -> Option<Dim> {
        let mut total = Dim::ZERO;
        for (factors, coefficient) in &combination.0 {
            let coefficient = Dim::Known(i64::try_from(*coefficient).ok()?);
            let product = factors.iter().try_fold(coefficient, |product, atom| {
                let atom = self.atom_dim(*atom);
                self.multiply(product, atom)
            })?;
            total = self.add(total, product)?;
        }
        Some(total)
    }
}
