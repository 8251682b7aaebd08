//! Conditions: two expressions and how they are related.

use std::fmt;

use super::sum::{Sum, Term, floor, gcd};
use super::{Atom, AtomId, Bounds, Dialect, Dim, Factor, Symbols};
use gradus_core::sort::SharedSort;

/// How two expressions are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// They are equal.
    Equal,
    /// The first is at most the second.
    AtMost,
    /// The first is at least the second.
    AtLeast,
    /// They are equal, or one of them is 1.
    Broadcast,
    /// They are not equal.
    NotEqual,
}

impl Relation {
    /// The relation as text between two operands.
    pub const fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
            Relation::Broadcast => "broadcasts with",
            Relation::NotEqual => "!=",
        }
    }

    /// Returns true if two numbers are related so.
    pub const fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Relation::Equal => a == b,
            Relation::AtMost => a <= b,
            Relation::AtLeast => a >= b,
            Relation::Broadcast => a == b || a == 1 || b == 1,
            Relation::NotEqual => a != b,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// A condition on symbols. It has a meaning within the [`Symbols`] that made its expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The first expression.
    pub left: Dim,
    /// How they are related.
    pub relation: Relation,
    /// The second expression.
    pub right: Dim,
}

impl Condition {
    /// The condition that two expressions are related so.
    pub const fn new(left: Dim, relation: Relation, right: Dim) -> Condition {
        Condition { left, relation, right }
    }

    /// The numbers one of which its first expression must be, where guards under which it applies
    /// are that it is none of the others; and the guards that are left.
    ///
    /// ```
    /// let mut symbols = gradus_dims::Symbols::default();
    /// let texts = ["sr == 8000", "sr != 16000", "c == 0"];
    /// let [is, not, of_c] = texts.map(|text| symbols.parse_condition(text).unwrap());
    /// assert_eq!(is.among(&[of_c, not]), Some((vec![8000, 16000], vec![of_c])));
    /// ```
    pub fn among(&self, guards: &[Condition]) -> Option<(Vec<i64>, Vec<Condition>)> {
        let Condition { left, relation: Relation::Equal, right: Dim::Known(number) } = *self else {
            return None;
        };
        let (mut numbers, mut others) = (vec![number], Vec::new());
        for guard in guards {
            match *guard {
                Condition { left: of, relation: Relation::NotEqual, right: Dim::Known(other) }
                    if of == left =>
                {
                    numbers.push(other);
                }
                _ => others.push(*guard),
            }
        }
        numbers.shared_sort();
        numbers.dedup();
        (numbers.len() > 1).then_some((numbers, others))
    }

    /// The bounds that it gives its first expression, where the second is a number.
    pub fn bounds(&self) -> Option<Bounds> {
        let number = self.right.known()?;
        match self.relation {
            Relation::Equal => Some(Bounds::exactly(number)),
            Relation::AtMost => Some(Bounds::between(None, Some(number))),
            Relation::AtLeast => Some(Bounds::between(Some(number), None)),
            Relation::Broadcast | Relation::NotEqual => None,
        }
    }
}

/// How a number is related to another where a multiple of it is related to a rest.
pub(crate) fn of_one(times: i64, relation: Relation, rest: i64) -> Option<(Relation, i64)> {
    let relation = match relation {
        Relation::AtMost if times < 0 => Relation::AtLeast,
        Relation::AtLeast if times < 0 => Relation::AtMost,
        other => other,
    };
    let below = floor(rest, times)?;
    let bound = match relation {
        Relation::AtMost => below,
        Relation::AtLeast => floor(rest.checked_neg()?, times)?.checked_neg()?,
        Relation::Equal if below.checked_mul(times)? == rest => below,
        Relation::Equal | Relation::NotEqual | Relation::Broadcast => return None,
    };
    Some((relation, bound))
}

impl Symbols {
    /// A condition as text: `seq <= 512`; `h%32 == 0` for `h == 32*(h//32)`. `SymPy` and torch,
    /// where `==` compares forms, write `Eq(Mod(h, 32), 0)`.
    pub fn print_condition(&self, condition: &Condition) -> String {
        let Condition { left, relation, right } = *condition;
        let is_called = matches!(self.dialect, Dialect::SymPy | Dialect::Torch);
        if let (Relation::Equal, Some((dividend, divisor))) = (relation, self.divided(left, right)) {
            return if is_called {
                format!("Eq(Mod({}, {divisor}), 0)", self.print(dividend))
            } else {
                format!("{}%{divisor} == 0", self.print_operand(dividend))
            };
        }
        // A number comes last.
        let (left, relation, right) = match (left, relation) {
            (Dim::Symbolic(_), _) => (left, relation, right),
            (_, Relation::AtLeast) => (right, Relation::AtMost, left),
            (_, Relation::AtMost) => (right, Relation::AtLeast, left),
            (_, Relation::Equal | Relation::NotEqual | Relation::Broadcast) => (right, relation, left),
        };
        let name = match relation {
            Relation::Equal if is_called => "Eq",
            Relation::NotEqual if is_called => "Ne",
            _ => return format!("{} {relation} {}", self.print(left), self.print(right)),
        };
        format!("{name}({}, {})", self.print(left), self.print(right))
    }

    /// A condition and those under which it applies, as text: `k == 6 if n >= 2`, or
    /// `sr in {8000, 16000}` for `sr == 8000 if sr != 16000`.
    pub fn print_guarded(&self, condition: &Condition, guards: &[Condition]) -> String {
        let (text, guards) = match condition.among(guards) {
            Some((numbers, others)) => {
                let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
                (format!("{} in {{{}}}", self.print(condition.left), numbers.join(", ")), others)
            }
            None => (self.print_condition(condition), guards.to_vec()),
        };
        let guards: Vec<_> = guards.iter().map(|guard| self.print_condition(guard)).collect();
        if guards.is_empty() { text } else { format!("{text} if {}", guards.join(" and ")) }
    }

    /// An equivalent condition in its shortest form: `N == 1` for `144*N == 144`, and `h >= 3` for
    /// `(h + 1)//2 - 2 >= 0`.
    pub fn shortest(&mut self, condition: Condition) -> Condition {
        let mut condition = condition;
        while let Some(shorter) = self.shorter(&condition).filter(|shorter| *shorter != condition) {
            condition = shorter;
        }
        self.without_common_terms(&condition).unwrap_or(condition)
    }

    /// The conditions that say of each factor of a product of sizes what the condition says of the
    /// product: `a >= 1` and `h >= 2` for `a*(h//2) >= 1`.
    ///
    /// ```
    /// let mut symbols = gradus_dims::Symbols::default();
    /// let condition = symbols.parse_condition("a*(h//2) >= 1")?;
    /// let of_factors = symbols.of_factors(&condition).unwrap();
    /// let texts: Vec<_> = of_factors.iter().map(|of| symbols.print_condition(of)).collect();
    /// assert_eq!(texts, ["a >= 1", "h >= 2"]);
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn of_factors(&mut self, condition: &Condition) -> Option<Vec<Condition>> {
        let Condition { left, relation: Relation::AtLeast, right: Dim::ONE } = *condition else {
            return None;
        };
        let sum = self.as_sum(left);
        let ([Term { factors, .. }], 0) = (&sum.terms[..], sum.constant) else { return None };
        let is_size = |&atom: &AtomId| self.bounds_of_atom(atom).lower() >= Some(0);
        if factors.len() < 2 || !factors.iter().all(is_size) {
            return None;
        }
        let mut factors = factors.to_vec();
        factors.dedup();
        let one = |atom| {
            let factor = self.atom_dim(atom);
            self.shortest(Condition::new(factor, Relation::AtLeast, Dim::ONE))
        };
        Some(factors.into_iter().map(one).collect())
    }

    /// The condition without terms that both sides have, and without a number that divides both, if
    /// that is shorter: `total >= past + seq` for `b*total >= b*total - total + past + seq`.
    fn without_common_terms(&mut self, condition: &Condition) -> Option<Condition> {
        let Condition { left, relation, right } = *condition;
        if relation == Relation::Broadcast || left.known().is_some() || right.known().is_some() {
            return None;
        }
        let apart = self.subtract(left, right)?;
        let mut sum = Sum::clone(&self.as_sum(apart));
        let divisor = sum.terms.iter().fold(sum.constant, |divisor, term| gcd(divisor, term.coefficient));
        if divisor > 1 {
            sum.divide(divisor);
        }
        let (more, fewer): (Vec<_>, Vec<_>) =
            sum.terms.iter().cloned().partition(|term| term.coefficient > 0);
        let whole = Sum { terms: more, constant: sum.constant.max(0) };
        let part = Sum { terms: fewer, constant: sum.constant.min(0) }.scaled(-1)?;
        let (whole, part) = (self.intern(whole)?, self.intern(part)?);
        let is_shorter = self.size(whole) + self.size(part) < self.size(left) + self.size(right);
        (is_shorter || divisor > 1).then_some(Condition::new(whole, relation, part))
    }

    /// The condition solved for its only product of symbols, or for what that is a quotient, a
    /// minimum or a maximum of.
    fn shorter(&mut self, condition: &Condition) -> Option<Condition> {
        let apart = self.subtract(condition.left, condition.right)?;
        let sum = self.as_sum(apart);
        let [term] = &sum.terms[..] else { return None };
        let rest = sum.constant.checked_neg()?;
        let (relation, bound) = of_one(term.coefficient, condition.relation, rest)?;
        let (of, relation, bound) = if let [atom] = *term.factors {
            self.within_atom(atom, relation, bound)?
        } else {
            let one = Term { factors: term.factors.clone(), coefficient: 1 };
            (self.intern(Sum { terms: vec![one], constant: 0 })?, relation, bound)
        };
        Some(Condition::new(of, relation, Dim::Known(bound)))
    }

    /// How what an atom is made of is related to a number, where the atom is related to one; else the
    /// atom itself.
    fn within_atom(&mut self, atom: AtomId, relation: Relation, bound: i64) -> Option<(Dim, Relation, i64)> {
        let whole = (self.atom_dim(atom), relation, bound);
        let (all, is_max) = match self.atom(atom).0.clone() {
            Atom::Floor(of, Dim::Known(by @ 1..)) => {
                let first = bound.checked_mul(by)?;
                return match relation {
                    Relation::AtLeast => Some((of, relation, first)),
                    Relation::AtMost => Some((of, relation, first.checked_add(by - 1)?)),
                    Relation::Equal | Relation::NotEqual | Relation::Broadcast => Some(whole),
                };
            }
            Atom::Max(all) => (all, true),
            Atom::Min(all) => (all, false),
            Atom::Symbol(_) | Atom::Floor(..) | Atom::Broadcast(..) => return Some(whole),
        };
        let ([Dim::Known(known), of] | [of, Dim::Known(known)]) = *all else { return Some(whole) };
        // Beyond the number, a maximum or a minimum is the other operand. It is the number where the
        // other is not beyond.
        let (beyond, towards) =
            if is_max { (bound > known, Relation::AtMost) } else { (bound < known, Relation::AtLeast) };
        Some(match relation {
            _ if beyond || relation == towards && bound == known => (of, relation, bound),
            Relation::Equal if bound == known => (of, towards, bound),
            _ => whole,
        })
    }

    /// The dividend and the divisor, where an expression is a multiple of a quotient that is equal
    /// to the other only if nothing is left.
    pub(crate) fn divided(&self, left: Dim, right: Dim) -> Option<(Dim, i64)> {
        let form = self.form(right);
        let [(coefficient, factors)] = &form.products[..] else { return None };
        let &[Factor::Floor(dividend, Dim::Known(divisor @ 2..))] = &factors[..] else { return None };
        let is_rest = form.constant == 0 && *coefficient % divisor == 0;
        let times = coefficient.checked_div(divisor).filter(|_| is_rest)?;
        let (whole, part) = (self.form(left), self.form(dividend));
        let is_times = |whole: i64, part: i64| part.checked_mul(times) == Some(whole);
        let is_same = is_times(whole.constant, part.constant)
            && whole.products.len() == part.products.len()
            && whole.products.iter().zip(&part.products).all(|(a, b)| is_times(a.0, b.0) && a.1 == b.1);
        is_same.then_some((dividend, divisor))
    }

    /// Returns true if a condition holds whatever its symbols are. False also where that is not
    /// decided.
    pub fn always_holds(&mut self, condition: &Condition) -> bool {
        let Condition { left, relation, right } = *condition;
        if left == right {
            return relation != Relation::NotEqual;
        }
        let Some(apart) = self.subtract(left, right) else { return false };
        match relation {
            Relation::AtLeast => self.at_least(apart, 0) || self.is_any_where(left, right),
            Relation::AtMost => self.bounds(apart).upper().is_some_and(|most| most <= 0),
            Relation::Equal => self.vanishes(apart),
            Relation::Broadcast => left == Dim::ONE || right == Dim::ONE,
            Relation::NotEqual => self.never_zero(apart),
        }
    }

    /// Returns true if a size is at least the smaller of 1 and a multiple of it.
    fn is_any_where(&mut self, size: Dim, least: Dim) -> bool {
        let Some(atom) = self.as_sum(least).only_atom() else { return false };
        let Atom::Min(all) = self.atom(atom).0.clone() else { return false };
        let ([Dim::ONE, of] | [of, Dim::ONE]) = *all else { return false };
        self.at_least(size, 0) && self.divides(size, of)
    }

    /// Returns true if a condition holds for no sizes. False also where that is not decided.
    pub fn never_holds(&mut self, condition: &Condition) -> bool {
        let Some(apart) = self.subtract(condition.left, condition.right) else { return false };
        let above = self.never_below(apart, 1);
        let below = !above && self.negate(apart).is_some_and(|apart| self.never_below(apart, 1));
        match condition.relation {
            Relation::AtLeast => below,
            Relation::AtMost => above,
            Relation::Equal => above || below,
            Relation::Broadcast => false,
            Relation::NotEqual => apart == Dim::ZERO,
        }
    }
}
