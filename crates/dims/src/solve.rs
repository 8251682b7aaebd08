//! Conditions solved for one of their names.

use std::sync::Arc;

use super::sum::{Sum, Term};
use super::{Atom, AtomId, Condition, Dim, Relation, Symbols};

/// The integers for which a condition holds: those between two ends, both of them included. There
/// are none where the first end exceeds the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The smallest one, if there is a smallest.
    pub least: Option<Dim>,
    /// The largest one, if there is a largest.
    pub most: Option<Dim>,
}

impl Solved {
    /// No number.
    pub const NOTHING: Solved = Solved { least: Some(Dim::ONE), most: Some(Dim::ZERO) };

    /// Returns true if both ends are numbers with none between them.
    pub fn is_empty(&self) -> bool {
        let ends = self.least.and_then(Dim::known).zip(self.most.and_then(Dim::known));
        ends.is_some_and(|(least, most)| least > most)
    }
}

impl Symbols {
    /// The values of a symbol for which a condition holds, as an interval whose ends do not depend
    /// on it; nothing where they are none, or are not found: where the symbol is in two terms that
    /// have no common factor, in a divisor, or in a factor of an unknown sign.
    ///
    /// ```
    /// use gradus_dims::Symbols;
    /// let mut symbols = Symbols::default();
    /// let mut ends = |condition: &str, name: &str| {
    ///     let condition = symbols.parse_condition(condition).ok()?;
    ///     let solved = symbols.solve_for(&condition, name)?;
    ///     let end = |end: Option<_>| end.map(|end| symbols.print(end).to_string());
    ///     Some([end(solved.least)?, end(solved.most)?])
    /// };
    /// assert_eq!(ends("6*L == 816", "L"), Some(["136".into(), "136".into()]));
    /// assert_eq!(ends("6*L == n", "L"), Some(["(n + 5)//6".into(), "n//6".into()]));
    /// assert_eq!(ends("(h + 2)//4 + k == 8", "h"), Some(["30 - 4*k".into(), "33 - 4*k".into()]));
    /// assert_eq!(ends("n % 4 == 0", "n"), None);
    /// ```
    pub fn solve_for(&mut self, condition: &Condition, name: &str) -> Option<Solved> {
        let symbol = self.find(name)?;
        let index = self.as_symbol_index(symbol)?;
        let apart = self.subtract(condition.left, condition.right)?;
        let mut solved = match condition.relation {
            Relation::Equal => Solved { least: Some(Dim::ZERO), most: Some(Dim::ZERO) },
            Relation::AtLeast => Solved { least: Some(Dim::ZERO), most: None },
            Relation::AtMost => Solved { least: None, most: Some(Dim::ZERO) },
            Relation::NotEqual | Relation::Broadcast => return None,
        };
        let mut sum = self.as_sum(apart);
        loop {
            let atom = self.only_factor(&sum, index, &mut solved)?;
            let of = match self.atom(atom).0.clone() {
                Atom::Symbol(_) => return Some(solved),
                Atom::Floor(of, by) if self.at_least(by, 1) && !self.has(by, index) => {
                    solved.least = self.at_end(solved.least, |this, end| this.multiply(end, by))?;
                    solved.most = self.at_end(solved.most, |this, end| {
                        let next = this.add(end, Dim::ONE)?;
                        let next = this.multiply(next, by)?;
                        this.subtract(next, Dim::ONE)
                    })?;
                    of
                }
                Atom::Max(all) => self.only_operand(&all, index, false, &mut solved)?,
                Atom::Min(all) => self.only_operand(&all, index, true, &mut solved)?,
                Atom::Floor(..) | Atom::Broadcast(..) => return None,
            };
            sum = self.as_sum(of);
        }
    }

    /// The numbers that are in both of two intervals.
    pub(crate) fn both(&mut self, a: Solved, b: Solved) -> Option<Solved> {
        let mut inner =
            |[a, b]: [Option<Dim>; 2], join: fn(&mut Symbols, Dim, Dim) -> Option<Dim>| match (a, b) {
                (Some(a), Some(b)) => join(self, a, b).map(Some),
                (end, None) | (None, end) => Some(end),
            };
        let least = inner([a.least, b.least], Symbols::max)?;
        Some(Solved { least, most: inner([a.most, b.most], Symbols::min)? })
    }

    fn has(&self, dim: Dim, symbol: u32) -> bool {
        self.indices_of(dim).binary_search(&symbol).is_ok()
    }

    /// An end that is there, mapped; nothing if it is too large then.
    #[allow(clippy::option_option, reason = "an end that is too large is told from none")]
    fn at_end(
        &mut self,
        end: Option<Dim>,
        of: impl FnOnce(&mut Symbols, Dim) -> Option<Dim>,
    ) -> Option<Option<Dim>> {
        end.map_or(Some(None), |end| of(self, end).map(Some))
    }

    /// The one atom with a symbol of a sum that is between two ends, which become those of the
    /// atom: the sum less what has no symbol, divided by what the atom is multiplied by.
    fn only_factor(&mut self, sum: &Sum, symbol: u32, solved: &mut Solved) -> Option<AtomId> {
        let with = |this: &mut Symbols, atom: AtomId| {
            let dim = this.atom_dim(atom);
            this.has(dim, symbol)
        };
        let (mut rest, mut times) = (Sum::constant(sum.constant), Sum::constant(0));
        let mut found = None;
        for Term { factors, coefficient } in &sum.terms {
            let (within, others): (Vec<_>, Vec<_>) = factors.iter().partition(|atom| with(self, **atom));
            let of = |factors: &[AtomId]| {
                if factors.is_empty() {
                    return Sum::constant(*coefficient);
                }
                let term = Term { factors: Arc::from(factors), coefficient: *coefficient };
                Sum { terms: vec![term], constant: 0 }
            };
            match within[..] {
                [] => rest = rest.plus(&of(factors))?,
                [atom] if *found.get_or_insert(atom) == atom => times = times.plus(&of(&others))?,
                _ => return None,
            }
        }
        let (rest, times) = (self.intern(rest)?, self.intern(times)?);
        let opposite = self.subtract(Dim::ZERO, times)?;
        let is_below = self.at_least(opposite, 1);
        if !is_below && !self.at_least(times, 1) {
            return None;
        }
        let times = if is_below { opposite } else { times };
        let mut ends = [solved.least, solved.most];
        for end in &mut ends {
            *end = self.at_end(*end, |this, end| {
                if is_below { this.subtract(rest, end) } else { this.subtract(end, rest) }
            })?;
        }
        if is_below {
            ends.reverse();
        }
        solved.least = self.at_end(ends[0], |this, end| this.ceil_divide(end, times))?;
        solved.most = self.at_end(ends[1], |this, end| this.floor_divide(end, times))?;
        found
    }

    /// The one operand with a symbol of a minimum or a maximum that is between two ends, which
    /// become those of the operand.
    fn only_operand(&mut self, all: &[Dim], symbol: u32, is_min: bool, solved: &mut Solved) -> Option<Dim> {
        let (within, others): (Vec<_>, Vec<_>) = all.iter().partition(|dim| self.has(**dim, symbol));
        let [of] = within[..] else { return None };
        let join = if is_min { Symbols::min } else { Symbols::max };
        let known = others.into_iter().try_fold(None, |joined: Option<Dim>, next| {
            joined.map_or(Some(next), |joined| join(self, joined, next)).map(Some)
        })??;
        // The end that all operands meet, and the one that any of them may meet.
        let (all_meet, any_meets) =
            if is_min { (solved.least, solved.most) } else { (solved.most, solved.least) };
        let above = |this: &mut Symbols, a: Dim, b: Dim, by: i64| {
            let (a, b) = if is_min { (b, a) } else { (a, b) };
            this.subtract(a, b).is_some_and(|apart| this.at_least(apart, by))
        };
        if all_meet.is_some_and(|end| !above(self, end, known, 0)) {
            return None;
        }
        if let Some(end) = any_meets {
            if above(self, known, end, 0) {
                *(if is_min { &mut solved.most } else { &mut solved.least }) = None;
            } else if !above(self, end, known, 1) {
                return None;
            }
        }
        Some(of)
    }
}
