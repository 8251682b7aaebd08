//! Minimum, maximum and broadcasting of two dimensions.

use super::sum::Term;
use super::{Atom, Bounds, Dim, DimOperation, Measure, Symbols};
use gradus_core::sort::SharedSort;

/// Maximum number of operands of a `min` or `max`.
const MAX_OPERANDS: usize = 8;

impl Symbols {
    /// Returns the minimum of two; `None` as for sums.
    pub fn min(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => Some(Dim::Known(a.min(b))),
            _ if a == b => Some(a),
            _ => self.remembered(DimOperation::Min, a.min(b), a.max(b), |this| this.extreme(true, a, b)),
        }
    }

    /// Returns the maximum of two; `None` as for sums.
    pub fn max(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => Some(Dim::Known(a.max(b))),
            _ if a == b => Some(a),
            _ => self.remembered(DimOperation::Max, a.min(b), a.max(b), |this| this.extreme(false, a, b)),
        }
    }

    /// The dim between two others: `low` if it is less, `high` if it is more.
    pub fn clamped(&mut self, dim: Dim, low: Dim, high: Dim) -> Option<Dim> {
        let raised = self.max(dim, low)?;
        self.min(raised, high)
    }

    fn extreme(&mut self, is_min: bool, a: Dim, b: Dim) -> Option<Dim> {
        let mut operands = self.operands(is_min, a);
        operands.extend(self.operands(is_min, b));
        if is_min && operands.contains(&Dim::ONE) {
            for dim in &mut operands {
                *dim = self.emptied_by(*dim);
            }
        }
        operands.shared_sort();
        operands.dedup();
        let mut kept: Vec<Dim> = Vec::new();
        for (i, &dim) in operands.iter().enumerate() {
            let others = operands[i + 1..].iter().chain(&kept).copied().collect::<Vec<_>>();
            if !others.into_iter().any(|other| self.makes_needless(is_min, other, dim)) {
                kept.push(dim);
            }
        }
        if let [only] = kept[..] {
            return Some(only);
        }
        if kept.len() > MAX_OPERANDS {
            return None;
        }
        let atom = self.extreme_atom(is_min, kept)?;
        Some(self.atom_dim(atom))
    }

    /// The operand that alone can make a broadcast 0: where a is at least 1, `min(broadcast(a, b), 1)`
    /// is `min(b, 1)`. Any other dim is returned as it is.
    fn emptied_by(&self, dim: Dim) -> Dim {
        match self.only_atom(dim) {
            Some(Atom::Broadcast(a, b)) if self.at_least(*a, 1) => *b,
            Some(Atom::Broadcast(a, b)) if self.at_least(*b, 1) => *a,
            _ => dim,
        }
    }

    /// The atom that a dim is and nothing else.
    fn only_atom(&self, dim: Dim) -> Option<&Atom> {
        let Dim::Symbolic(id) = dim else { return None };
        self.sum(id).only_atom().map(|atom| &self.atom(atom).0)
    }

    /// The dims whose `min` or `max` a dim is; the dim itself if it is neither. `n - max(a, b)` is
    /// the minimum of `n - a` and `n - b`.
    pub(crate) fn operands(&mut self, is_min: bool, dim: Dim) -> Vec<Dim> {
        self.operands_of_sum(is_min, dim).unwrap_or_else(|| vec![dim])
    }

    fn operands_of_sum(&mut self, is_min: bool, dim: Dim) -> Option<Vec<Dim>> {
        let mut sum = (*self.as_sum(dim)).clone();
        let is_extreme = |term: &Term| matches!(*term.factors, [atom] if self.is_extreme(atom));
        let mut found = sum.terms.iter().enumerate().filter(|(_, term)| is_extreme(term)).map(|(at, _)| at);
        let (Some(at), None) = (found.next(), found.next()) else { return None };
        let term = sum.terms.remove(at);
        let (all, least) = self.as_extreme(*term.factors.first()?)?;
        if (least == (term.coefficient > 0)) != is_min {
            return None;
        }
        let rest = self.intern(sum)?;
        let operand = |&operand: &Dim| {
            let part = self.multiply(operand, Dim::Known(term.coefficient))?;
            self.add(rest, part)
        };
        all.iter().map(operand).collect()
    }

    /// The bounds of the other operands, if a dim is a minimum with the other dim as an operand.
    pub fn cap_of(&mut self, dim: Dim, other: Dim) -> Option<Bounds> {
        let operands = self.operands(true, dim);
        if dim == other || !operands.contains(&other) {
            return None;
        }
        let caps = operands.iter().filter(|&&operand| operand != other).map(|&operand| self.bounds(operand));
        caps.reduce(Bounds::min)
    }

    /// Returns true if one operand is never beyond another.
    fn makes_needless(&mut self, is_min: bool, other: Dim, dim: Dim) -> bool {
        let apart = if is_min { self.subtract(dim, other) } else { self.subtract(other, dim) };
        if apart.is_some_and(|apart| self.never_below(apart, 0)) {
            return true;
        }
        // max(min(x, y), x) = x, and min(max(x, y), x) = x
        let within = self.operands(!is_min, dim);
        within.len() > 1 && within.contains(&other)
    }

    /// The dimension that two dimensions broadcast to, if they do: the second if the first is 1,
    /// otherwise the first.
    pub fn broadcast(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            _ if a == b => Some(a),
            (Dim::Known(1), other) | (other, Dim::Known(1)) => Some(other),
            (Dim::Known(_), Dim::Known(_)) => None,
            // Whatever is not 1 decides.
            (Dim::Known(_), _) => Some(a),
            (_, Dim::Known(_)) => Some(b),
            _ if self.at_least(a, 2) => Some(a),
            _ if self.at_least(b, 2) => Some(b),
            _ => {
                self.remembered(DimOperation::Broadcast, a.min(b), a.max(b), |this| this.broadcast_atom(a, b))
            }
        }
    }

    /// Returns true if a dimension is what another one broadcasts to with others.
    pub fn is_broadcast_of(&self, whole: Dim, part: Dim) -> bool {
        let Some(Atom::Broadcast(a, b)) = self.only_atom(whole) else { return false };
        [*a, *b].into_iter().any(|own| own == part || self.is_broadcast_of(own, part))
    }

    fn broadcast_atom(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        let (a, b) = (a.min(b), a.max(b));
        for (whole, part) in [(a, b), (b, a)] {
            let operands = self.operands(true, part);
            if self.absorbs(whole, part, &operands) {
                return Some(whole);
            }
            // A multiple of x is 0 where x is: broadcast(k*x, min(x, 1)) is k*x.
            if let [x, Dim::ONE] | [Dim::ONE, x] = operands[..]
                && self.at_least(x, 0)
                && self.divides(x, whole)
            {
                return Some(whole);
            }
            // With c of 0, x can only be 1: broadcast(x, min(x, c)) is x + min(c, 1) - 1.
            let is_capped = operands.len() > 1 && operands.contains(&whole);
            if is_capped && self.at_least(whole, 1) && self.at_least(part, 0) {
                let mut others = operands.iter().copied().filter(|&other| other != whole);
                let present = others.try_fold(Dim::ONE, |present, other| self.min(present, other))?;
                let sum = self.add(whole, present)?;
                return self.subtract(sum, Dim::ONE);
            }
        }
        let size = self.size(a).checked_add(self.size(b))?;
        if size > super::LARGEST {
            return None;
        }
        let bounds = self.bounds(a).either(self.bounds(b));
        let atom = self.intern_atom(Atom::Broadcast(a, b), Measure { bounds, size });
        Some(self.atom_dim(atom))
    }

    /// Returns true if a dimension is what it broadcasts to with another, of which it may be one of
    /// the operands of a minimum: where c is at least 1, `min(x, c)` is 1 if x is. A broadcast of x
    /// absorbs what x does.
    fn absorbs(&self, whole: Dim, part: Dim, operands: &[Dim]) -> bool {
        if let Some(Atom::Broadcast(x, y)) = self.only_atom(whole)
            && (self.absorbs(*x, part, operands) || self.absorbs(*y, part, operands))
        {
            return true;
        }
        let is_size = |&other: &Dim| other == whole || self.at_least(other, 1);
        whole == part || operands.contains(&whole) && operands.iter().all(is_size)
    }
}
