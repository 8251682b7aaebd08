//! Assumed conditions: what a symbol is where they hold.

use std::sync::Arc;

use gradus_core::Result;
use gradus_core::convert::usize_of_u32;

use super::condition::of_one;
use super::sum::{Term, gcd};
use super::{Atom, AtomId, Bounds, Claim, Condition, Dim, Relation, Symbols};

impl Symbols {
    /// Reads a condition, as [`Claim::parse`] does.
    ///
    /// # Errors
    /// [`Kind::Syntax`](gradus_core::Kind::Syntax) if the text is no condition,
    /// [`Kind::Limit`](gradus_core::Kind::Limit) if an expression is too large.
    ///
    /// ```
    /// use gradus_dims::{Relation, Symbols};
    /// let mut symbols = Symbols::default();
    /// let condition = symbols.parse_condition("seq < 512")?;
    /// assert_eq!((condition.relation, condition.right.known()), (Relation::AtMost, Some(511)));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn parse_condition(&mut self, text: &str) -> Result<Condition> {
        Claim::parse(text)?.condition(self)
    }

    /// Lets an expression be one of some numbers from now on, as far as bounds and a common divisor
    /// say it.
    pub fn assume_among(&mut self, of: Dim, numbers: &[i64]) {
        let bound = |relation, number: Option<&i64>| Some(Condition::new(of, relation, Dim::Known(*number?)));
        let least = bound(Relation::AtLeast, numbers.iter().min());
        let most = bound(Relation::AtMost, numbers.iter().max());
        let divisor = numbers.iter().fold(0, |divisor, &number| gcd(divisor, number));
        let multiple = (divisor > 1).then(|| self.multiple_of(of, Dim::Known(divisor))).flatten();
        for condition in [least, most, multiple].into_iter().flatten() {
            self.assume(&condition);
        }
    }

    fn multiple_of(&mut self, of: Dim, divisor: Dim) -> Option<Condition> {
        let quotient = self.floor_divide(of, divisor)?;
        Some(Condition::new(of, Relation::Equal, self.multiply(quotient, divisor)?))
    }

    /// Lets a condition hold from now on: the one symbol for which it can be solved stands for what
    /// it is there, so that `h` becomes `32*(h//32)` by `h%32 == 0`, `a` becomes `b` by `a == b` and
    /// `min(a, b)` by `a <= b`. Returns true if the symbols and their bounds say all that the
    /// condition says, and nothing if there is no such symbol.
    pub fn assume(&mut self, condition: &Condition) -> Option<bool> {
        let (atom, relation, bound) = self.solved(condition)?;
        let dim = self.atom_dim(atom);
        let (result, bounds) = match (relation, bound) {
            (Relation::AtMost, Dim::Known(most)) => (Some(dim), Bounds::between(None, Some(most))),
            (Relation::AtLeast, Dim::Known(least)) => (Some(dim), Bounds::between(Some(least), None)),
            (Relation::AtMost, _) => (self.min(dim, bound), Bounds::ANY),
            (Relation::AtLeast, _) => (self.max(dim, bound), Bounds::ANY),
            (Relation::Equal, _) => (Some(bound), Bounds::ANY),
            (Relation::NotEqual | Relation::Broadcast, _) => return None,
        };
        // Expressions with the atom are there: those of the condition.
        self.raised |= bounds != Bounds::ANY;
        self.bound(dim, bounds);
        let result = result?;
        let Atom::Symbol(index) = self.atom(atom).0 else { return Some(false) };
        let within = result != dim && self.indices_of(result).contains(&index);
        if within {
            self.stands.insert(result, dim);
        }
        let name = self.named[usize_of_u32(index)].name.clone();
        self.stand(&name, dim, result);
        Some(!within)
    }

    /// Lets the axis of an input that gets this name be the symbol of an assumption.
    pub fn expect_axis(&mut self, name: &str) {
        self.awaited.insert(name.into());
    }

    /// Lets a name, which is a symbol, stand for an expression.
    fn stand(&mut self, name: &Arc<str>, symbol: Dim, result: Dim) {
        for earlier in self.fixed.values_mut().filter(|earlier| **earlier == symbol) {
            *earlier = result;
        }
        self.fixed.insert(name.clone(), result);
        let sum = self.as_sum(result);
        if let ([Term { factors, coefficient }], 0) = (&sum.terms[..], sum.constant)
            && let [atom] = **factors
            && !matches!(self.atom(atom).0, Atom::Symbol(_))
        {
            self.parts.insert(atom, (name.clone(), *coefficient));
        }
    }

    /// The symbol that is assumed to be an expression of itself, or else the expression.
    pub fn without_assumption(&self, dim: Dim) -> Dim {
        self.stands.get(&dim).copied().unwrap_or(dim)
    }

    /// How a condition relates one of its atoms to what the others say. Symbols come first, and of
    /// them the one that stands alone.
    fn solved(&mut self, condition: &Condition) -> Option<(AtomId, Relation, Dim)> {
        let apart = self.subtract(condition.left, condition.right)?;
        let sum = self.as_sum(apart);
        let alone = [condition.left, condition.right].map(|dim| self.as_sum(dim).only_atom());
        let place = |term: &&Term| {
            let atom = term.factors[0];
            let symbol = matches!(self.atom(atom).0, Atom::Symbol(_));
            let whole = term.coefficient.unsigned_abs() == 1;
            (symbol && whole, alone[0] == Some(atom), alone[1] == Some(atom), symbol, whole)
        };
        let linear = sum.terms.iter().filter(|term| term.factors.len() == 1);
        let Term { factors, coefficient } = linear.max_by_key(place)?;
        let atom = factors[0];
        // The next whole number within, for a multiple of a symbol.
        if sum.terms.len() == 1 && coefficient.unsigned_abs() > 1 {
            let (relation, bound) = of_one(*coefficient, condition.relation, sum.constant.checked_neg()?)?;
            return Some((atom, relation, Dim::Known(bound)));
        }
        let relation = match condition.relation {
            Relation::AtMost if *coefficient < 0 => Relation::AtLeast,
            Relation::AtLeast if *coefficient < 0 => Relation::AtMost,
            other => other,
        };
        if coefficient.unsigned_abs() != 1 {
            return None;
        }
        let rest = self.multiply(apart, Dim::Known(*coefficient))?;
        let dim = self.atom_dim(atom);
        Some((atom, relation, self.subtract(dim, rest)?))
    }
}
