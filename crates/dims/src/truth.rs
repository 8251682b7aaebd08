//! Truth values of comparisons: symbols that are 0 or 1, and the condition that holds where they
//! are 1.

use std::sync::Arc;

use super::sum::{Sum, Term};
use super::{Bounds, Condition, Dim, Relation, Symbols};

impl Symbols {
    /// Notes that a symbol is 1 where a condition holds, and 0 elsewhere.
    ///
    /// ```
    /// use gradus_dims::{Bounds, Dim, Origin, Symbols};
    /// let mut symbols = Symbols::default();
    /// let is_less = symbols.parse_condition("i < n")?;
    /// let less = symbols.fresh("less", Origin::Input, Bounds::between(Some(0), Some(1)));
    /// symbols.note_truth(less, is_less);
    /// let not = symbols.subtract(Dim::ONE, less);
    /// let reached = not.and_then(|not| symbols.above_zero_if(not));
    /// let text = reached.map(|reached| symbols.print(reached).to_string());
    /// assert_eq!(text.as_deref(), Some("i - n + 1"));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn note_truth(&mut self, symbol: Dim, condition: Condition) {
        if let Some(index) = self.as_symbol_index(symbol) {
            self.truths.insert(index, condition);
        }
    }

    /// The condition that holds if and only if a truth value is 1, where that is known: one that
    /// was noted of it or of its opposite, or that an expression of inputs is above zero.
    pub fn condition_if(&mut self, truth: Dim) -> Option<Condition> {
        let noted = |this: &Symbols, dim: Dim| this.truths.get(&this.as_symbol_index(dim)?).copied();
        if let Some(condition) = noted(self, truth) {
            return Some(condition);
        }
        let opposite = self.subtract(Dim::ONE, truth)?;
        match noted(self, opposite) {
            Some(condition) => self.opposite(&condition),
            None if self.is_truth(truth) => Some(Condition::new(truth, Relation::Equal, Dim::ONE)),
            None if self.rank(truth).0 <= 1 && self.at_least(truth, 0) => {
                Some(Condition::new(truth, Relation::AtLeast, Dim::ONE))
            }
            None => None,
        }
    }

    /// Returns true if a dimension is a symbol that is 0 or 1.
    fn is_truth(&self, dim: Dim) -> bool {
        self.as_symbol(dim).is_some() && self.bounds(dim) == Bounds::between(Some(0), Some(1))
    }

    /// The condition that holds where another does not.
    pub fn opposite(&mut self, condition: &Condition) -> Option<Condition> {
        let Condition { left, relation, right } = *condition;
        if let (Relation::Equal, Dim::Known(number @ 0..=1)) = (relation, right)
            && self.is_truth(left)
        {
            return Some(Condition::new(left, Relation::Equal, Dim::Known(1 - number)));
        }
        let (relation, more) = match relation {
            Relation::Equal => (Relation::NotEqual, 0),
            Relation::NotEqual => (Relation::Equal, 0),
            Relation::AtMost => (Relation::AtLeast, 1),
            Relation::AtLeast => (Relation::AtMost, -1),
            Relation::Broadcast => return None,
        };
        Some(Condition::new(left, relation, self.add(right, Dim::Known(more))?))
    }

    /// The number that is above zero if and only if a truth value is 1, where that is known.
    pub fn above_zero_if(&mut self, truth: Dim) -> Option<Dim> {
        if truth.known().is_some() {
            return Some(truth);
        }
        let Condition { left, relation, right } = self.condition_if(truth)?;
        let apart = match relation {
            Relation::AtLeast => self.subtract(left, right)?,
            Relation::AtMost => self.subtract(right, left)?,
            Relation::NotEqual => {
                let (a, b) = (self.subtract(left, right)?, self.subtract(right, left)?);
                return self.max(a, b);
            }
            Relation::Equal | Relation::Broadcast => return None,
        };
        self.add(apart, Dim::ONE)
    }

    /// An expression as multiples of symbols and a rest: what each symbol is multiplied by, and the
    /// rest. Nothing if a product has two of the symbols. Quotients, minima and maxima of the
    /// symbols are part of the rest.
    pub fn multiples(&mut self, dim: Dim, of: &[Dim]) -> Option<(Vec<Dim>, Dim)> {
        let atoms = of.iter().map(|&symbol| self.as_sum(symbol).only_atom());
        let atoms = atoms.collect::<Option<Vec<_>>>()?;
        let sum = self.as_sum(dim);
        let mut multiples = vec![Sum::constant(0); atoms.len()];
        let mut rest = Sum::constant(sum.constant);
        for Term { factors, coefficient } in &sum.terms {
            let mut found = atoms.iter().enumerate().filter(|(_, atom)| factors.contains(atom));
            let (place, other) = (found.next(), found.next());
            let (total, kept) = match place {
                None => (&mut rest, factors.clone()),
                Some(_) if other.is_some() => return None,
                Some((at, atom)) => {
                    let kept: Arc<[_]> = factors.iter().copied().filter(|factor| factor != atom).collect();
                    if kept.len() + 1 < factors.len() {
                        return None;
                    }
                    (&mut multiples[at], kept)
                }
            };
            *total = if kept.is_empty() {
                total.plus(&Sum::constant(*coefficient))?
            } else {
                let term = Term { factors: kept, coefficient: *coefficient };
                total.plus(&Sum { terms: vec![term], constant: 0 })?
            };
        }
        let multiples = multiples.into_iter().map(|sum| self.intern(sum)).collect::<Option<_>>()?;
        Some((multiples, self.intern(rest)?))
    }

    /// The operands of the minimum (`true`) or the maximum that an expression is; nothing if it is
    /// neither. `n - max(a, b)` is the minimum of `n - a` and `n - b`.
    pub fn extremes(&mut self, dim: Dim) -> Option<(bool, Vec<Dim>)> {
        [true, false].into_iter().find_map(|is_min| {
            let all = self.operands(is_min, dim);
            (all.len() > 1).then_some((is_min, all))
        })
    }
}
