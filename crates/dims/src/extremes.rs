//! The canonical form of sums with minima and maxima.
//!
//! `max(a + c, b + c)` is `max(a, b) + c`, `max(2*a, 2*b)` is `2*max(a, b)`, and `min(a, b)` is
//! `a + b - max(a, b)`. By these, each sum becomes a polynomial of *plain* maxima, whose operands
//! have no common term, no common divisor and no negative coefficient. Equal polynomials are equal
//! sums. The polynomial is then written with the minimum, the maximum, or the difference above zero
//! that needs the fewest terms.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sum::{Sum, Term, gcd, without};
use super::{Atom, AtomId, Bounds, Dim, Measure, Symbols};
use gradus_core::sort::SharedSort;

/// Plain minima and maxima of a sum, at most: each is tried in all its forms.
const MAX_PLAIN: usize = 8;

/// Maximum number of maxima that are left out of an expression.
const MAX_ABSORBED: usize = 64;

impl Symbols {
    /// The operands of an atom that is a minimum or maximum, and true if it is a minimum.
    pub(crate) fn as_extreme(&self, atom: AtomId) -> Option<(Arc<[Dim]>, bool)> {
        match &self.atom(atom).0 {
            Atom::Min(all) => Some((all.clone(), true)),
            Atom::Max(all) => Some((all.clone(), false)),
            _ => None,
        }
    }

    /// Returns true if an atom is a minimum or maximum.
    pub(crate) fn is_extreme(&self, atom: AtomId) -> bool {
        matches!(self.atom(atom).0, Atom::Min(_) | Atom::Max(_))
    }

    /// Returns true if a minimum or maximum is a factor of one of the terms.
    pub(crate) fn has_extremes(&self, sum: &Sum) -> bool {
        sum.terms.iter().any(|term| term.factors.iter().any(|&atom| self.is_extreme(atom)))
    }

    /// The canonical form of a sum with minima or maxima; the sum itself if that is too large.
    pub(crate) fn with_canonical_extremes(&mut self, sum: Sum) -> Sum {
        self.canonical_extremes(&sum).unwrap_or(sum)
    }

    /// The canonical form of a sum with minima or maxima, if it is not too large.
    pub(crate) fn canonical_extremes(&mut self, sum: &Sum) -> Option<Sum> {
        let written = self.plain_sum(sum).and_then(|plain| self.written(plain));
        written.filter(|written| self.measure(written).size <= super::LARGEST)
    }

    /// A sum as a polynomial of plain minima and maxima.
    pub(crate) fn plain_sum(&mut self, sum: &Sum) -> Option<Sum> {
        let mut total = Sum::constant(sum.constant);
        for term in &sum.terms {
            let mut product = Sum::constant(term.coefficient);
            for &atom in &*term.factors {
                product = product.times(&*self.plain_atom(atom)?)?;
            }
            total = total.plus(&product)?;
        }
        Some(total)
    }

    /// Returns true if an expression is 0 once maxima are left out that a factor makes needless:
    /// `n*max(n, 1)` is `n*n` where n is at least 0, and `(n + k)*max(n + k, 1)` likewise.
    pub(crate) fn vanishes(&mut self, dim: Dim) -> bool {
        let sum = self.as_sum(dim);
        if !self.has_extremes(&sum) {
            return dim == Dim::ZERO;
        }
        let mut plain = self.plain_sum(&sum);
        for _ in 0..MAX_ABSORBED {
            let Some(sum) = plain else { return false };
            let Some((at, rest, max)) = self.absorbed(&sum) else { return sum == Sum::constant(0) };
            plain = self.without_max(sum, at, &rest, max);
        }
        false
    }

    /// A term of a sum that has a factor `max(x, 1)` and the first term of x, where x is at least 0:
    /// its place, its other factors, and the maximum.
    fn absorbed(&self, sum: &Sum) -> Option<(usize, Vec<AtomId>, AtomId)> {
        let max_of = |term: &Term, atom: AtomId| {
            let lead = self.above_one(atom)?.terms.first()?.clone();
            let rest = without(&term.factors, &[atom]).and_then(|rest| without(&rest, &lead.factors))?;
            (term.coefficient % lead.coefficient == 0).then_some((rest, atom))
        };
        let mut terms = sum.terms.iter().enumerate();
        terms.find_map(|(at, term)| {
            let (rest, atom) = term.factors.iter().find_map(|&atom| max_of(term, atom))?;
            Some((at, rest, atom))
        })
    }

    /// The sum x of an atom `max(x, 1)` where x is at least 0.
    fn above_one(&self, atom: AtomId) -> Option<Arc<Sum>> {
        let Atom::Max(all) = &self.atom(atom).0 else { return None };
        let [of, Dim::ONE] = all[..] else { return None };
        self.at_least(of, 0).then(|| self.as_sum(of))
    }

    /// A sum in a term of which `x*x - (x - t)*max(x, 1)` takes the place of `t*max(x, 1)`, where t
    /// is the first term of x.
    fn without_max(&self, mut sum: Sum, at: usize, rest: &[AtomId], max: AtomId) -> Option<Sum> {
        let x = self.above_one(max)?;
        let lead = x.terms.first()?.clone();
        let times = sum.terms.remove(at).coefficient / lead.coefficient;
        let lead = Sum { terms: vec![lead], constant: 0 };
        let others = x.plus(&lead.scaled(-1)?)?.times(&Sum::atom(max))?;
        let product = x.times(&x)?.plus(&others.scaled(-1)?)?;
        let product =
            if rest.is_empty() { product.scaled(times)? } else { product.times_factors(rest, times)? };
        sum.plus(&product)
    }

    fn plain_atom(&mut self, atom: AtomId) -> Option<Arc<Sum>> {
        let Some((all, is_min)) = self.as_extreme(atom) else { return Some(Arc::new(Sum::atom(atom))) };
        if let Some(plain) = self.plain.get(&atom) {
            return plain.clone();
        }
        let plain = self.plain_extreme(&all, is_min).map(Arc::new);
        self.plain.insert(atom, plain.clone());
        plain
    }

    fn plain_extreme(&mut self, all: &[Dim], is_min: bool) -> Option<Sum> {
        let operand = |dim: &Dim| {
            let sum = self.as_sum(*dim);
            self.plain_sum(&sum)
        };
        let operands = all.iter().map(operand).collect::<Option<Vec<_>>>()?;
        let common = self.common(&operands)?;
        let rest = operands.iter().map(|operand| operand.plus(&common.scaled(-1)?));
        let mut rest = rest.collect::<Option<Vec<_>>>()?;
        let numbers =
            rest.iter().flat_map(|sum| sum.terms.iter().map(|term| term.coefficient).chain([sum.constant]));
        let divisor = numbers.fold(0, gcd).max(1);
        for sum in &mut rest {
            sum.divide(divisor);
        }
        let is_dual = is_min && rest.len() == 2;
        let dims = rest.iter().map(|sum| self.intern_as_is(sum.clone())).collect::<Option<Vec<_>>>()?;
        let plain = self.extreme_atom(is_min && !is_dual, dims)?;
        let plain = if is_dual {
            rest[0].plus(&rest[1])?.plus(&Sum::atom(plain).scaled(-1)?)?
        } else {
            Sum::atom(plain)
        };
        common.plus(&plain.scaled(divisor)?)
    }

    /// The atom of operands that are interned.
    pub(crate) fn extreme_atom(&mut self, is_min: bool, mut operands: Vec<Dim>) -> Option<AtomId> {
        let size = operands.iter().try_fold(0u32, |size, &dim| size.checked_add(self.size(dim)))?;
        if size > super::LARGEST {
            return None;
        }
        let join = if is_min { Bounds::min } else { Bounds::max };
        let bounds = operands.iter().map(|&dim| self.bounds(dim)).reduce(join)?;
        // A number comes last: `min(seq, 64)`.
        operands.shared_sort_by_key(|dim| (dim.known().is_some(), *dim));
        let atom = if is_min { Atom::Min(operands.into()) } else { Atom::Max(operands.into()) };
        Some(self.intern_atom(atom, Measure { bounds, size }))
    }

    /// A polynomial of plain minima and maxima, with each in the form that needs the fewest terms.
    fn written(&mut self, mut sum: Sum) -> Option<Sum> {
        let mut done = Vec::new();
        while let Some(plain) = self.last_plain(&sum, &done) {
            if done.len() == MAX_PLAIN {
                return None;
            }
            let forms = self.forms(plain)?;
            let written = forms.iter().filter_map(|form| {
                let written = sum.with(plain, form)?;
                Some((written.terms.len() + usize::from(written.constant != 0), written, form))
            });
            let (_, written, form) = written.min_by_key(|(terms, ..)| *terms)?;
            // The extreme of a form is the newest of its atoms that are extremes, and is written.
            let own = form.terms.iter().flat_map(|term| &*term.factors).copied();
            done.extend(own.filter(|&atom| self.is_extreme(atom) && !self.is_plain_within(plain, atom)));
            sum = written;
        }
        Some(sum)
    }

    /// The newest plain extreme of a sum that is not written yet: those within others are older.
    fn last_plain(&self, sum: &Sum, done: &[AtomId]) -> Option<AtomId> {
        let atoms = sum.terms.iter().flat_map(|term| &*term.factors).copied();
        atoms.filter(|atom| self.is_extreme(*atom) && !done.contains(atom)).max()
    }

    /// Returns true if an operand of a plain extreme has that atom among its factors.
    fn is_plain_within(&self, plain: AtomId, atom: AtomId) -> bool {
        let (Atom::Min(all) | Atom::Max(all)) = &self.atom(plain).0 else { return false };
        all.iter().any(|&dim| self.as_sum(dim).terms.iter().any(|term| term.factors.contains(&atom)))
    }

    /// The sums that a plain extreme is: itself; the sum of its operands less their minimum; and an
    /// operand with the extreme of what the others have more.
    fn forms(&mut self, plain: AtomId) -> Option<Arc<[Sum]>> {
        if let Some(forms) = self.forms_of_plain.get(&plain) {
            return forms.clone();
        }
        let forms = self.make_forms(plain);
        self.forms_of_plain.insert(plain, forms.clone());
        forms
    }

    fn make_forms(&mut self, plain: AtomId) -> Option<Arc<[Sum]>> {
        let (all, is_min) = self.as_extreme(plain)?;
        let sums: Vec<_> = all.iter().map(|&dim| self.as_sum(dim)).collect();
        let mut forms = Vec::new();
        if let Some(same) = self.written_extreme(is_min, &sums, &Sum::constant(0)) {
            forms.push(Sum::atom(same));
        }
        if let [a, b] = &sums[..]
            && let Some(other) = self.written_extreme(!is_min, &sums, &Sum::constant(0))
        {
            forms.push(a.plus(b)?.plus(&Sum::atom(other).scaled(-1)?)?);
        }
        for operand in &sums {
            if !self.has_extremes(operand)
                && let Some(more) = self.written_extreme(is_min, &sums, operand)
            {
                forms.push(operand.plus(&Sum::atom(more))?);
            }
        }
        Some(forms.into())
    }

    /// The extreme of sums less another, with operands as they are written; nothing if one of them
    /// is such an extreme itself, so that all are operands of one.
    fn written_extreme(&mut self, is_min: bool, sums: &[Arc<Sum>], less: &Sum) -> Option<AtomId> {
        let less = less.scaled(-1)?;
        let operand = |sum: &Arc<Sum>| {
            let written = self.written(sum.plus(&less)?)?;
            self.intern_as_is(written)
        };
        let operands = sums.iter().map(operand).collect::<Option<Vec<_>>>()?;
        let is_nested = operands.iter().any(|&dim| self.operands(is_min, dim).len() > 1);
        if is_nested { None } else { self.extreme_atom(is_min, operands) }
    }

    /// The smallest coefficient of each product in all of some sums, where no minimum or maximum is
    /// a factor: one that is added to an operand is joined with it.
    fn common(&self, sums: &[Sum]) -> Option<Sum> {
        let mut least: BTreeMap<&Arc<[AtomId]>, (usize, i64)> = BTreeMap::new();
        for term in sums.iter().flat_map(|sum| &sum.terms) {
            let (count, found) = least.entry(&term.factors).or_insert((0, i64::MAX));
            (*count, *found) = (*count + 1, term.coefficient.min(*found));
        }
        let plain =
            least.into_iter().filter(|(factors, _)| !factors.iter().any(|&atom| self.is_extreme(atom)));
        let terms = plain.map(|(factors, (count, found))| Term {
            factors: factors.clone(),
            coefficient: if count < sums.len() { found.min(0) } else { found },
        });
        Sum::collect(terms.collect(), sums.iter().map(|sum| sum.constant).min()?)
    }
}
