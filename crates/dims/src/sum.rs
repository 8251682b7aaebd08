//! Sums of products, and the arithmetic of expressions.

use std::sync::Arc;

use super::{Atom, AtomId, Bounds, Dim, DimOperation, Symbols};
use gradus_core::sort::SharedSort;

/// A sum in canonical form: terms in descending order, no two with the same factors, none with
/// coefficient 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: i64,
}

/// A product of atoms, in order, with a coefficient.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) factors: Arc<[AtomId]>,
    pub(crate) coefficient: i64,
}

/// Maximum number of terms of a sum while it is made.
const MAX_TERMS: usize = 64;

/// The floor of a quotient, unless the divisor is zero or the quotient does not fit.
pub(crate) fn floor(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// The greatest common divisor of two integers; 1 if it is beyond 64 bits.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// The least common multiple, or the largest number if that is more.
pub(crate) fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b).max(1)).saturating_mul(b).saturating_abs()
}

impl Sum {
    /// A sum of a constant alone.
    pub(crate) fn constant(value: i64) -> Sum {
        Sum { terms: Vec::new(), constant: value }
    }

    /// A sum of one atom.
    pub(crate) fn atom(atom: AtomId) -> Sum {
        Sum { terms: vec![Term { factors: Arc::new([atom]), coefficient: 1 }], constant: 0 }
    }

    /// The atom that the sum is and nothing else.
    pub(crate) fn only_atom(&self) -> Option<AtomId> {
        match (&self.terms[..], self.constant) {
            ([Term { factors, coefficient: 1 }], 0) if factors.len() == 1 => Some(factors[0]),
            _ => None,
        }
    }

    /// From terms in any order.
    pub(crate) fn collect(mut terms: Vec<Term>, constant: i64) -> Option<Sum> {
        terms.shared_sort_by(|a, b| order(&a.factors, &b.factors));
        let mut kept: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match kept.last_mut() {
                Some(last) if last.factors == term.factors => {
                    last.coefficient = last.coefficient.checked_add(term.coefficient)?;
                }
                _ => kept.push(term),
            }
        }
        kept.retain(|term| term.coefficient != 0);
        (kept.len() <= MAX_TERMS).then_some(Sum { terms: kept, constant })
    }

    /// The sum of two sums; `None` if it overflows or has too many terms.
    pub(crate) fn plus(&self, other: &Sum) -> Option<Sum> {
        let terms = self.terms.iter().chain(&other.terms).cloned().collect();
        Sum::collect(terms, self.constant.checked_add(other.constant)?)
    }

    /// The sum times a number; `None` if it overflows.
    pub(crate) fn scaled(&self, by: i64) -> Option<Sum> {
        if by == 0 {
            return Some(Sum::constant(0));
        }
        let scale = |term: &Term| {
            Some(Term { factors: term.factors.clone(), coefficient: term.coefficient.checked_mul(by)? })
        };
        let terms = self.terms.iter().map(scale).collect::<Option<_>>()?;
        Some(Sum { terms, constant: self.constant.checked_mul(by)? })
    }

    /// The sum times a product of atoms.
    pub(crate) fn times_factors(&self, factors: &[AtomId], coefficient: i64) -> Option<Sum> {
        let mut terms = Vec::with_capacity(self.terms.len() + 1);
        for term in &self.terms {
            let mut all = [&term.factors, factors].concat();
            all.shared_sort();
            terms.push(Term { factors: all.into(), coefficient: term.coefficient.checked_mul(coefficient)? });
        }
        if self.constant != 0 {
            terms
                .push(Term { factors: factors.into(), coefficient: self.constant.checked_mul(coefficient)? });
        }
        Sum::collect(terms, 0)
    }

    /// The product of two sums; `None` if it overflows or has too many terms.
    pub(crate) fn times(&self, other: &Sum) -> Option<Sum> {
        if self.terms.len() * other.terms.len() > MAX_TERMS {
            return None;
        }
        let mut total = self.scaled(other.constant)?;
        for Term { factors, coefficient } in &other.terms {
            total = total.plus(&self.times_factors(factors, *coefficient)?)?;
        }
        Some(total)
    }

    /// The sum with another in place of an atom.
    pub(crate) fn with(&self, atom: AtomId, other: &Sum) -> Option<Sum> {
        let mut total = Sum::constant(self.constant);
        for Term { factors, coefficient } in &self.terms {
            let kept: Arc<[AtomId]> = factors.iter().copied().filter(|factor| *factor != atom).collect();
            let times = factors.len() - kept.len();
            let product = if kept.is_empty() {
                Sum::constant(*coefficient)
            } else {
                Sum { terms: vec![Term { factors: kept, coefficient: *coefficient }], constant: 0 }
            };
            let product = (0..times).try_fold(product, |product, _| product.times(other))?;
            total = total.plus(&product)?;
        }
        Some(total)
    }

    /// Divides by a common divisor of all numbers.
    pub(crate) fn divide(&mut self, by: i64) {
        self.terms.iter_mut().for_each(|term| term.coefficient /= by);
        self.constant /= by;
    }

    /// The quotient, if the division leaves nothing. The divisor has terms.
    pub(crate) fn exact_quotient(&self, divisor: &Sum) -> Option<Sum> {
        let lead = divisor.terms.first()?;
        let mut rest = self.clone();
        let mut quotient = Vec::new();
        while !rest.terms.is_empty() {
            if quotient.len() > MAX_TERMS {
                return None;
            }
            let first = &rest.terms[0];
            let factors = without(&first.factors, &lead.factors)?;
            if first.coefficient % lead.coefficient != 0 {
                return None;
            }
            let coefficient = first.coefficient / lead.coefficient;
            let part = if factors.is_empty() {
                divisor.scaled(coefficient)?
            } else {
                divisor.times_factors(&factors, coefficient)?
            };
            rest = rest.plus(&part.scaled(-1)?)?;
            quotient.push((factors, coefficient));
        }
        if rest.constant != 0 {
            return None;
        }
        let constant = quotient.iter().find(|(factors, _)| factors.is_empty()).map_or(0, |(_, c)| *c);
        let terms = quotient.into_iter().filter(|(factors, _)| !factors.is_empty());
        Sum::collect(
            terms.map(|(f, coefficient)| Term { factors: f.into(), coefficient }).collect(),
            constant,
        )
    }

    /// The multiples of a divisor of one term that are in the sum, each as a quotient, and the rest,
    /// whose coefficients are the nearest to zero; nothing if there are none.
    pub(crate) fn multiples_of(&self, divisor: &Sum) -> Option<(Sum, Sum)> {
        let Sum { terms, constant: 0 } = divisor else { return None };
        let [Term { factors: of, coefficient: by @ 1.. }] = &terms[..] else { return None };
        let (mut whole, mut rest) = (Sum::constant(0), Sum::constant(self.constant));
        for term in &self.terms {
            let Some(factors) = without(&term.factors, of) else {
                rest.terms.push(term.clone());
                continue;
            };
            let (quotient, left) = nearest(term.coefficient, *by)?;
            if left != 0 {
                rest.terms.push(Term { factors: term.factors.clone(), coefficient: left });
            }
            let part = Sum::constant(quotient);
            whole = whole.plus(&if factors.is_empty() { part } else { part.times_factors(&factors, 1)? })?;
        }
        (!whole.terms.is_empty() || whole.constant != 0).then_some((whole, rest))
    }

    /// The factors that all terms and the constant have in common, with the greatest common
    /// coefficient.
    pub(crate) fn content(&self) -> (Vec<AtomId>, i64) {
        let mut common: Option<Vec<AtomId>> = (self.constant != 0).then(Vec::new);
        let mut divisor = self.constant;
        for term in &self.terms {
            divisor = gcd(divisor, term.coefficient);
            common = Some(match common {
                None => term.factors.to_vec(),
                Some(common) => shared(&common, &term.factors),
            });
        }
        (common.unwrap_or_default(), divisor.max(1))
    }

    /// The sum divided by a product that all its terms have; nothing if one has it not.
    pub(crate) fn without_content(&self, factors: &[AtomId], coefficient: i64) -> Option<Sum> {
        let mut constant = self.constant / coefficient;
        let mut terms = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let rest = without(&term.factors, factors)?;
            if rest.is_empty() {
                constant = constant.checked_add(term.coefficient / coefficient)?;
            } else {
                terms.push(Term { factors: rest.into(), coefficient: term.coefficient / coefficient });
            }
        }
        Sum::collect(terms, constant)
    }
}

/// A number as a multiple of one above zero, and the rest that is the nearest to zero.
pub(super) fn nearest(number: i64, by: i64) -> Option<(i64, i64)> {
    let mut left = number.rem_euclid(by);
    if left > by / 2 {
        left -= by;
    }
    Some((number.checked_sub(left)? / by, left))
}

/// More factors first, then by the factors: an order that products keep, as exact division needs.
fn order(a: &[AtomId], b: &[AtomId]) -> std::cmp::Ordering {
    b.len().cmp(&a.len()).then_with(|| a.cmp(b))
}

/// The factors of the first that the second has not, if it has no others.
pub(crate) fn without(all: &[AtomId], some: &[AtomId]) -> Option<Vec<AtomId>> {
    let mut rest = all.to_vec();
    for factor in some {
        let at = rest.iter().position(|other| other == factor)?;
        rest.remove(at);
    }
    Some(rest)
}

/// The factors that both products have, as often as both have them.
pub(super) fn shared(a: &[AtomId], b: &[AtomId]) -> Vec<AtomId> {
    let mut left = b.to_vec();
    let mut both = Vec::new();
    for factor in a {
        if let Some(at) = left.iter().position(|other| other == factor) {
            left.remove(at);
            both.push(*factor);
        }
    }
    both
}

/// Minima and maxima that a proof looks into, one within another.
const MAX_EXTREMES: usize = 2;

/// Arithmetic. Results are `None` where they do not fit 64 bits, grow beyond [`super::LARGEST`], or
/// divide by zero.
impl Symbols {
    /// The sum of two.
    pub fn add(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => a.checked_add(b).map(Dim::Known),
            (Dim::Known(0), other) | (other, Dim::Known(0)) => Some(other),
            _ => self.remembered(DimOperation::Add, a.min(b), a.max(b), |this| {
                let sum = this.as_sum(a).plus(&this.as_sum(b))?;
                this.intern(sum)
            }),
        }
    }

    /// The difference of two.
    pub fn subtract(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => a.checked_sub(b).map(Dim::Known),
            (other, Dim::Known(0)) => Some(other),
            _ if a == b => Some(Dim::ZERO),
            _ => self.remembered(DimOperation::Subtract, a, b, |this| {
                let sum = this.as_sum(a).plus(&this.as_sum(b).scaled(-1)?)?;
                this.intern(sum)
            }),
        }
    }

    /// The opposite.
    pub fn negate(&mut self, a: Dim) -> Option<Dim> {
        self.subtract(Dim::ZERO, a)
    }

    /// The product of two.
    pub fn multiply(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => a.checked_mul(b).map(Dim::Known),
            (Dim::Known(0), _) | (_, Dim::Known(0)) => Some(Dim::ZERO),
            (Dim::Known(1), other) | (other, Dim::Known(1)) => Some(other),
            _ => self.remembered(DimOperation::Multiply, a.min(b), a.max(b), |this| {
                let product = this.as_sum(a).times(&this.as_sum(b))?;
                this.intern(product)
            }),
        }
    }

    /// The product of all.
    pub fn product(&mut self, dims: impl IntoIterator<Item = Dim>) -> Option<Dim> {
        dims.into_iter().try_fold(Dim::ONE, |product, dim| self.multiply(product, dim))
    }

    /// The sum of all.
    pub fn total(&mut self, dims: impl IntoIterator<Item = Dim>) -> Option<Dim> {
        dims.into_iter().try_fold(Dim::ZERO, |total, dim| self.add(total, dim))
    }

    /// The sum of `count` numbers of which the first is known, and how much larger each next is.
    ///
    /// ```
    /// use gradus_dims::{Dim, Symbols};
    /// let mut symbols = Symbols::default();
    /// let n = symbols.parse("n")?;
    /// let total = symbols.series(Dim::ONE, Dim::ONE, n).unwrap();
    /// assert_eq!(symbols.evaluate(total, &|_| Some(100)), Some(5050));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn series(&mut self, first: Dim, step: Dim, count: Dim) -> Option<Dim> {
        let firsts = self.multiply(first, count)?;
        if step == Dim::ZERO {
            return Some(firsts);
        }
        let before = self.subtract(count, Dim::ONE)?;
        let twice = self.multiply(count, before)?;
        let steps = self.floor_divide(twice, Dim::Known(2))?;
        let steps = self.multiply(step, steps)?;
        self.add(firsts, steps)
    }

    /// Returns true if an expression is never zero, whatever its symbols are: by its bounds, or
    /// because all its terms have a divisor that its constant lacks.
    pub fn never_zero(&self, dim: Dim) -> bool {
        let bounds = self.bounds(dim);
        if bounds.lower().is_some_and(|min| min > 0) || bounds.upper().is_some_and(|most| most < 0) {
            return true;
        }
        let Dim::Symbolic(id) = dim else { return false };
        let sum = self.sum(id);
        let divisor = sum.terms.iter().fold(0, |divisor, term| gcd(divisor, term.coefficient));
        divisor > 1 && sum.constant % divisor != 0
    }

    /// Returns true if an expression is at least that number, whatever its symbols are: by its
    /// bounds, or by those of what is never more than it, with `(x - d + 1)/d` or `x/d` in place of
    /// `x//d`, and operands in place of minima and maxima.
    pub fn never_below(&mut self, dim: Dim, min: i64) -> bool {
        self.never_below_within(dim, min, MAX_EXTREMES)
    }

    fn never_below_within(&mut self, dim: Dim, min: i64, extremes: usize) -> bool {
        if self.at_least(dim, min) {
            return true;
        }
        let Dim::Symbolic(id) = dim else { return false };
        let mut sum = self.sum(id).clone();
        if min == 0 && self.is_known_sign(&sum) {
            return true;
        }
        // With d*x + c >= min, x is at least (min - c)/d, rounded up.
        let divisor = sum.terms.iter().fold(0, |divisor, term| gcd(divisor, term.coefficient));
        let Some(Some(min)) = sum.constant.checked_sub(min).map(|spare| floor(spare, divisor)?.checked_neg())
        else {
            return false;
        };
        sum.constant = 0;
        sum.divide(divisor);
        self.relaxed_floors(&sum).is_some_and(|(low, times)| {
            min.checked_sub(1)
                .and_then(|less| less.checked_mul(times)?.checked_add(1))
                .is_some_and(|min| self.at_least(low, min))
        }) || (extremes > 0 && self.each_operand(&sum, min, extremes - 1))
    }

    /// Returns true if a sum is not negative by what is known of a part of it, or of its opposite.
    fn is_known_sign(&self, sum: &Sum) -> bool {
        let mut part = sum.clone();
        part.divide(sum.terms.iter().fold(sum.constant, |divisor, term| gcd(divisor, term.coefficient)));
        let known = |sum: &Sum| self.expr_ids.get(sum).map(|id| self.bounds(Dim::Symbolic(*id)));
        let opposite = part.scaled(-1).and_then(|opposite| known(&opposite)?.upper());
        opposite.is_some_and(|most| most <= 0)
            || known(&part).and_then(Bounds::lower).is_some_and(|least| least >= 0)
    }

    /// Returns true if a sum is at least a number by the operands of one of its minima or maxima:
    /// any of a minimum that is taken away or a maximum that is added, all of the others.
    fn each_operand(&mut self, sum: &Sum, min: i64, extremes: usize) -> bool {
        for (at, term) in sum.terms.iter().enumerate() {
            let [atom] = *term.factors else { continue };
            let (operands, any) = match &self.atom(atom).0 {
                Atom::Min(all) => (all.clone(), term.coefficient < 0),
                Atom::Max(all) => (all.clone(), term.coefficient > 0),
                _ => continue,
            };
            let mut rest = sum.clone();
            rest.terms.remove(at);
            let Some(rest) = self.intern(rest) else { continue };
            let mut holds = |&operand: &Dim| {
                let part = self.multiply(operand, Dim::Known(term.coefficient));
                let whole = part.and_then(|part| self.add(rest, part));
                whole.is_some_and(|whole| self.never_below_within(whole, min, extremes))
            };
            if if any { operands.iter().any(&mut holds) } else { operands.iter().all(&mut holds) } {
                return true;
            }
        }
        false
    }

    /// A sum that is never more than a multiple of a sum, without floors by a number; nothing if
    /// there are none.
    fn relaxed_floors(&mut self, sum: &Sum) -> Option<(Dim, i64)> {
        let floor = |symbols: &Symbols, term: &Term| match *term.factors {
            [atom] => match symbols.atom(atom).0 {
                Atom::Floor(x, Dim::Known(d @ 2..)) => Some((x, d)),
                _ => None,
            },
            _ => None,
        };
        let mut times = 1i64;
        for term in &sum.terms {
            if let Some((_, d)) = floor(self, term) {
                let lacks = d / gcd(gcd(d, term.coefficient), times);
                times = times.checked_mul(lacks)?;
            }
        }
        let mut total = Dim::Known(sum.constant.checked_mul(times)?);
        let mut relaxed = false;
        for term in &sum.terms {
            let coefficient = term.coefficient.checked_mul(times)?;
            let part = match floor(self, term).filter(|(_, d)| coefficient % d == 0) {
                Some((x, d)) => {
                    relaxed = true;
                    let low = if coefficient > 0 { self.add(x, Dim::Known(1 - d))? } else { x };
                    self.multiply(low, Dim::Known(coefficient / d))?
                }
                None => {
                    self.intern(Sum { terms: vec![Term { coefficient, ..term.clone() }], constant: 0 })?
                }
            };
            total = self.add(total, part)?;
        }
        relaxed.then_some((total, times))
    }
}
