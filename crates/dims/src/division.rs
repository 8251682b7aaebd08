//! Division: quotients rounded down, up and toward zero, and remainders.

use std::sync::Arc;

use super::sum::{Sum, Term, floor, gcd, nearest, shared};
use super::{Atom, Bounds, Dim, DimOperation, Measure, Symbols};

/// A division within a division.
enum Within {
    /// There is none, or more than one.
    None,
    /// The two as one, if that fits.
    One(Option<Dim>),
}

/// Results are `None` where they do not fit 64 bits, grow beyond [`super::LARGEST`], or divide by
/// zero.
impl Symbols {
    /// The quotient, rounded toward negative infinity.
    pub fn floor_divide(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => floor(a, b).map(Dim::Known),
            (_, Dim::Known(0)) => None,
            (other, Dim::Known(1)) => Some(other),
            (Dim::Known(0), _) => Some(Dim::ZERO),
            _ if a == b => Some(Dim::ONE),
            (_, Dim::Known(by)) if by < 0 => {
                let (a, by) = (self.negate(a)?, by.checked_neg()?);
                self.floor_divide(a, Dim::Known(by))
            }
            _ => self.remembered(DimOperation::FloorDivide, a, b, |this| this.floor_of(a, b)),
        }
    }

    /// The quotient, rounded toward positive infinity, of a divisor above zero.
    pub fn ceil_divide(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        let less = self.subtract(b, Dim::ONE)?;
        let sum = self.add(a, less)?;
        self.floor_divide(sum, b)
    }

    /// The quotient rounded toward zero, as ONNX and C divide, of a divisor above zero.
    pub fn truncated_divide(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        let floor = self.floor_divide(a, b)?;
        if self.at_least(a, 0) {
            return Some(floor);
        }
        let ceil = self.ceil_divide(a, b)?;
        if self.bounds(a).upper().is_some_and(|max| max <= 0) {
            return Some(ceil);
        }
        let negative = self.min(ceil, Dim::ZERO)?;
        self.max(floor, negative)
    }

    /// The remainder of a floor division: of the divisor's sign.
    pub fn modulo(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        let quotient = self.floor_divide(a, b)?;
        let whole = self.multiply(quotient, b)?;
        let rest = self.subtract(a, whole)?;
        // A divisor that is not negative is above zero where there is a quotient.
        if self.at_least(b, 0) {
            let most = self.bounds(b).upper().map(|most| most.max(1) - 1);
            self.bound(rest, Bounds::between(Some(0), most));
        }
        Some(rest)
    }

    /// Returns true if the second divides the first, whatever the symbols are.
    pub fn divides(&mut self, divisor: Dim, dim: Dim) -> bool {
        self.modulo(dim, divisor) == Some(Dim::ZERO)
    }

    fn floor_of(&mut self, a: Dim, b: Dim) -> Option<Dim> {
        let (numerator, divisor) = (self.as_sum(a), self.as_sum(b));
        if divisor.terms.is_empty() {
            return self.floor_by(&numerator, divisor.constant);
        }
        if let Some(quotient) = numerator.exact_quotient(&divisor) {
            return self.intern(quotient);
        }
        // Minima and maxima may be written differently in a product.
        if self.has_extremes(&divisor)
            && let (Some(numerator), Some(divisor)) = (self.plain_sum(&numerator), self.plain_sum(&divisor))
            && let Some(quotient) = numerator.exact_quotient(&divisor)
        {
            return self.intern(quotient);
        }
        // A common factor is not zero where there is a quotient, so it can be taken out of
        // both.
        let ((mine, by), (its, its_by)) = (numerator.content(), divisor.content());
        let (factors, by) = (shared(&mine, &its), gcd(by, its_by));
        let (numerator, divisor) =
            (numerator.without_content(&factors, by)?, divisor.without_content(&factors, by)?);
        if divisor.terms.is_empty() {
            if divisor.constant < 0 {
                return self.floor_by(&numerator.scaled(-1)?, divisor.constant.checked_neg()?);
            }
            return self.floor_by(&numerator, divisor.constant);
        }
        if let Some((whole, rest)) = numerator.multiples_of(&divisor) {
            let (whole, rest) = (self.intern(whole)?, self.intern(rest)?);
            let divisor = self.intern(divisor)?;
            let part = self.floor_divide(rest, divisor)?;
            return self.add(whole, part);
        }
        let (numerator, divisor) = (self.intern(numerator)?, self.intern(divisor)?);
        if let Some(quotient) = self.small_quotient(numerator, divisor) {
            return Some(Dim::Known(quotient));
        }
        let (above, below) = (self.bounds(numerator), self.bounds(divisor));
        if let Some(joined) = self.floor_of_floor(numerator, divisor) {
            return Some(joined);
        }
        self.floor_atom(numerator, divisor, above.over(below))
    }

    /// 0 or -1, if the numerator is nearer to 0 than a divisor that is not negative. This is not 0
    /// where there is a quotient, so that it is at least what divides it.
    fn small_quotient(&mut self, numerator: Dim, divisor: Dim) -> Option<i64> {
        let (above, below) = (self.bounds(numerator), self.bounds(divisor));
        let least = self.as_sum(divisor).content().1.max(below.lower().filter(|least| *least >= 0)?);
        if above.lower().is_some_and(|min| min >= 0) {
            let is_less = above.upper().is_some_and(|most| most < least) || {
                let rest = self.subtract(divisor, numerator)?;
                self.at_least(rest, 1)
            };
            return is_less.then_some(0);
        }
        let is_below = above.upper().is_some_and(|most| most < 0)
            && (above.lower().is_some_and(|min| min >= -least) || {
                let rest = self.add(divisor, numerator)?;
                self.at_least(rest, 0)
            });
        is_below.then_some(-1)
    }

    /// The division of a division by what is not negative, made one: `a//b//c` is `a//(b*c)`, and
    /// `(a//b + k)//c` is `(a + b*k)//(b*c)`. A divisor is not zero where there is a quotient.
    fn floor_of_floor(&mut self, numerator: Dim, divisor: Dim) -> Option<Dim> {
        let sum = self.as_sum(numerator);
        let [Term { factors, coefficient: 1 }] = &sum.terms[..] else { return None };
        let [atom] = **factors else { return None };
        let Atom::Floor(of, by) = self.atom(atom).0 else { return None };
        if self.keeps_divisions || !self.at_least(divisor, 0) {
            return None;
        }
        self.joined_divisions = true;
        let more = self.multiply(by, Dim::Known(sum.constant))?;
        let (of, by) = (self.add(of, more)?, self.multiply(by, divisor)?);
        self.floor_divide(of, by)
    }

    /// By a number above zero.
    fn floor_by(&mut self, numerator: &Sum, by: i64) -> Option<Dim> {
        if by == 1 {
            return self.intern(numerator.clone());
        }
        let has_extremes = self.has_extremes(numerator);
        let canonical = has_extremes.then(|| self.with_canonical_extremes(numerator.clone()));
        let numerator = canonical.as_ref().unwrap_or(numerator);
        // Coefficients become the nearest to zero modulo the divisor; what that takes away is
        // whole.
        let (mut whole, mut rest, mut common) = (Vec::new(), Vec::new(), by);
        for term in &numerator.terms {
            let (quotient, left) = nearest(term.coefficient, by)?;
            if quotient != 0 {
                whole.push(Term { factors: term.factors.clone(), coefficient: quotient });
            }
            if left != 0 {
                rest.push(Term { factors: term.factors.clone(), coefficient: left });
                common = gcd(common, left);
            }
        }
        let carried = floor(numerator.constant, by)?;
        let whole = self.intern(Sum { terms: whole, constant: carried })?;
        let Some(first) = rest.first() else { return Some(whole) };
        let negative = first.coefficient < 0;
        for term in &mut rest {
            term.coefficient /= common;
        }
        let rest = Sum { terms: rest, constant: numerator.constant.rem_euclid(by) / common };
        let (divisor, by) = (by, by / common);
        if by == 1 {
            let rest = self.intern(rest)?;
            return self.add(whole, rest);
        }
        // The rest of a sum of minima and maxima would be written in another form, of which more
        // could be whole.
        if has_extremes && (negative || self.with_canonical_extremes(rest.clone()) != rest) {
            let numerator = self.intern(numerator.clone())?;
            let bounds = self.bounds(numerator).over(Bounds::exactly(divisor));
            return self.floor_atom(numerator, Dim::Known(divisor), bounds);
        }
        if negative {
            // floor(x/d) = -floor((d - 1 - x)/d)
            let mut mirrored = rest.scaled(-1)?;
            mirrored.constant = mirrored.constant.checked_add(by - 1)?;
            let part = self.floor_by(&mirrored, by)?;
            return self.subtract(whole, part);
        }
        let part = match self.floor_within(&rest, by) {
            Within::One(part) => part?,
            Within::None if self.is_step(&rest, by) => {
                // From k*d - 1 to k*d, the floor rises as the numerator does.
                let numerator = self.intern(rest)?;
                let most = self.bounds(numerator).upper()?;
                self.subtract(numerator, Dim::Known(most - most / by))?
            }
            Within::None if self.only_extreme(&rest).is_some() => self.floor_of_extreme(&rest, by)?,
            Within::None => {
                let (numerator, by) = (self.intern(rest)?, Dim::Known(by));
                let bounds = self.bounds(numerator).over(self.bounds(by));
                match self.floor_of_floor(numerator, by) {
                    Some(joined) => joined,
                    None => self.floor_atom(numerator, by, bounds)?,
                }
            }
        };
        self.add(whole, part)
    }

    /// Returns true if a sum is a multiple of a number above zero, or one less.
    fn is_step(&mut self, sum: &Sum, by: i64) -> bool {
        let bounds = self.intern(sum.clone()).map(|dim| self.bounds(dim));
        let ends = bounds.and_then(|bounds| bounds.lower().zip(bounds.upper()));
        ends.is_some_and(|(least, most)| most % by == 0 && most.checked_sub(1) == Some(least))
    }

    /// The operands of a minimum or maximum, one of them a number, to which nothing but a number is
    /// added; and true of a minimum.
    fn only_extreme(&self, sum: &Sum) -> Option<(Arc<[Dim]>, bool)> {
        let [Term { factors, coefficient: 1 }] = &sum.terms[..] else { return None };
        let [atom] = factors[..] else { return None };
        self.as_extreme(atom).filter(|(operands, _)| operands.iter().any(|operand| operand.known().is_some()))
    }

    /// floor(max(x, 4)/d) = max(floor(x/d), floor(4/d))
    fn floor_of_extreme(&mut self, sum: &Sum, by: i64) -> Option<Dim> {
        let (operands, is_min) = self.only_extreme(sum)?;
        let mut all = None;
        for &operand in &*operands {
            let operand = self.add(operand, Dim::Known(sum.constant))?;
            let part = self.floor_divide(operand, Dim::Known(by))?;
            all = Some(match all {
                None => part,
                Some(all) if is_min => self.min(all, part)?,
                Some(all) => self.max(all, part)?,
            });
        }
        all
    }

    /// The one division within a division, made one with it, if there is one:
    /// floor((floor(x/e) + y)/d) = floor((x + e*y)/(d*e)), where exactly one term is such a floor.
    fn floor_within(&mut self, rest: &Sum, by: i64) -> Within {
        let inner = |term: &Term| match (&*term.factors, term.coefficient) {
            ([atom], 1) => match &self.atom(*atom).0 {
                Atom::Floor(x, Dim::Known(e)) => Some((*x, *e)),
                _ => None,
            },
            _ => None,
        };
        let mut found = rest.terms.iter().enumerate().filter_map(|(i, term)| Some((i, inner(term)?)));
        let (Some((index, (x, e))), None) = (found.next(), found.next()) else { return Within::None };
        let mut others = rest.clone();
        others.terms.remove(index);
        let (Some(by), Some(others)) = (by.checked_mul(e), others.scaled(e)) else { return Within::None };
        let numerator = self.as_sum(x).plus(&others);
        Within::One(numerator.and_then(|numerator| self.floor_by(&numerator, by)))
    }

    fn floor_atom(&mut self, numerator: Dim, divisor: Dim, bounds: Bounds) -> Option<Dim> {
        let size = self.size(numerator).checked_add(self.size(divisor))?;
        if size > super::LARGEST {
            return None;
        }
        if let (Some(min), Some(max)) = (bounds.lower(), bounds.upper())
            && min == max
        {
            return Some(Dim::Known(min));
        }
        let atom = self.intern_atom(Atom::Floor(numerator, divisor), Measure { bounds, size });
        Some(self.atom_dim(atom))
    }
}
