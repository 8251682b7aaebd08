//! Truth values of comparisons: symbols that are 0 or 1, and the number that is above zero where
//! they are 1.

use std::sync::Arc;

use super::sum::{Sum, Term};
use super::{Dim, Symbols};

impl Symbols {
    /// Notes that a symbol is 1 where a number is above zero, and 0 elsewhere.
    ///
    /// ```
    /// use gradus_dims::{Bounds, Dim, Origin, Symbols};
    /// let mut symbols = Symbols::default();
    /// let apart = symbols.parse("n - i")?;
    /// let less = symbols.fresh("less", Origin::Input, Bounds::between(Some(0), Some(1)));
    /// symbols.note_truth(less, apart);
    /// let not = symbols.subtract(Dim::ONE, less);
    /// let reached = not.and_then(|not| symbols.above_zero_if(not));
    /// let text = reached.map(|reached| symbols.print(reached).to_string());
    /// assert_eq!(text.as_deref(), Some("i - n + 1"));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn note_truth(&mut self, symbol: Dim, above_zero: Dim) {
        if let Some(index) = self.as_symbol_index(symbol) {
            self.truths.insert(index, above_zero);
        }
    }

    /// The number that is above zero if and only if a truth value is 1, where that is known.
    pub fn above_zero_if(&mut self, truth: Dim) -> Option<Dim> {
        let noted = |this: &Symbols, dim: Dim| this.truths.get(&this.as_symbol_index(dim)?).copied();
        if truth.known().is_some() {
            return Some(truth);
        }
        if let Some(number) = noted(self, truth) {
            return Some(number);
        }
        let opposite = self.subtract(Dim::ONE, truth)?;
        let number = noted(self, opposite)?;
        self.subtract(Dim::ONE, number)
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
