//! The order in which sums, products and operands are printed: by what they are, not by when they
//! were made, so that equal expressions have the same text in every inference.

use std::cmp::Ordering;

use super::sum::{Sum, Term};
use super::{Atom, AtomId, Dim, Symbols};
use gradus_core::sort::SharedSort;

impl Symbols {
    /// The terms of a sum as they are printed: those of more factors first.
    pub(crate) fn printed_terms<'s>(&self, sum: &'s Sum) -> Vec<(&'s Term, Vec<AtomId>)> {
        let mut terms: Vec<_> = sum.terms.iter().map(|term| (term, self.printed_factors(term))).collect();
        if terms.len() > 1 {
            terms.shared_sort_by(|(_, a), (_, b)| self.order_of_factors(a, b));
        }
        terms
    }

    /// Operands as they are printed: numbers last.
    pub(crate) fn printed_operands(&self, all: &[Dim]) -> Vec<Dim> {
        let mut all = all.to_vec();
        all.shared_sort_by(|a, b| self.order_of_dims(*a, *b));
        all
    }

    fn printed_factors(&self, term: &Term) -> Vec<AtomId> {
        let mut factors = term.factors.to_vec();
        if factors.len() > 1 {
            factors.shared_sort_by(|a, b| self.order_of_atoms(*a, *b));
        }
        factors
    }

    fn order_of_factors(&self, a: &[AtomId], b: &[AtomId]) -> Ordering {
        let each = || a.iter().zip(b).map(|(a, b)| self.order_of_atoms(*a, *b)).find(|order| order.is_ne());
        b.len().cmp(&a.len()).then_with(|| each().unwrap_or(Ordering::Equal))
    }

    /// Symbols first; others by the first symbol, the number of leaves, and then by form.
    fn order_of_atoms(&self, a: AtomId, b: AtomId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let ((one, size), (other, other_size)) = (self.atom(a), self.atom(b));
        let form = |atom: &Atom| match atom {
            Atom::Symbol(_) => 0,
            Atom::Floor(..) => 1,
            Atom::Min(_) => 2,
            Atom::Max(_) => 3,
            Atom::Broadcast(..) => 4,
        };
        let lists = || match (one, other) {
            (Atom::Floor(a, b) | Atom::Broadcast(a, b), Atom::Floor(c, d) | Atom::Broadcast(c, d)) => {
                self.order_of_lists(&[*a, *b], &[*c, *d])
            }
            (Atom::Min(a) | Atom::Max(a), Atom::Min(b) | Atom::Max(b)) => {
                self.order_of_lists(&self.printed_operands(a), &self.printed_operands(b))
            }
            _ => Ordering::Equal,
        };
        let is_composed = |atom: &Atom| !matches!(atom, Atom::Symbol(_));
        is_composed(one)
            .cmp(&is_composed(other))
            .then_with(|| self.first_symbol(a).cmp(&self.first_symbol(b)))
            .then_with(|| size.size.cmp(&other_size.size))
            .then_with(|| form(one).cmp(&form(other)))
            .then_with(lists)
    }

    fn order_of_lists(&self, a: &[Dim], b: &[Dim]) -> Ordering {
        let each = a.iter().zip(b).map(|(a, b)| self.order_of_dims(*a, *b));
        each.fold(a.len().cmp(&b.len()), Ordering::then)
    }

    fn order_of_dims(&self, a: Dim, b: Dim) -> Ordering {
        let (a, b) = match (a, b) {
            _ if a == b => return Ordering::Equal,
            (Dim::Known(a), Dim::Known(b)) => return a.cmp(&b),
            (Dim::Known(_), Dim::Symbolic(_)) => return Ordering::Greater,
            (Dim::Symbolic(_), Dim::Known(_)) => return Ordering::Less,
            (Dim::Symbolic(a), Dim::Symbolic(b)) => (self.sum(a), self.sum(b)),
        };
        let (terms, others) = (self.printed_terms(a), self.printed_terms(b));
        let each = terms.iter().zip(&others).map(|((a, factors), (b, other_factors))| {
            self.order_of_factors(factors, other_factors).then(a.coefficient.cmp(&b.coefficient))
        });
        let each = each.fold(Ordering::Equal, Ordering::then);
        each.then(terms.len().cmp(&others.len())).then(a.constant.cmp(&b.constant))
    }

    /// The number of the first symbol of an atom, in the order in which symbols were made.
    fn first_symbol(&self, atom: AtomId) -> u32 {
        let first = |dim: Dim| match dim {
            Dim::Known(_) => u32::MAX,
            Dim::Symbolic(id) => {
                let atoms = self.sum(id).terms.iter().flat_map(|term| term.factors.iter());
                atoms.map(|atom| self.first_symbol(*atom)).min().unwrap_or(u32::MAX)
            }
        };
        match &self.atom(atom).0 {
            Atom::Symbol(index) => *index,
            Atom::Floor(a, b) | Atom::Broadcast(a, b) => first(*a).min(first(*b)),
            Atom::Min(all) | Atom::Max(all) => all.iter().map(|dim| first(*dim)).min().unwrap_or(u32::MAX),
        }
    }
}
