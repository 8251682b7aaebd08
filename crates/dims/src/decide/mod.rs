//! Claims, decided for all integers: by a proof, or by a point at which they fail.
//!
//! A claim is tried at a few thousand points first. Then the system of its opposite and of what is
//! given is refuted, if it can be: as it stands, in the cases of its minima, maxima and broadcasts,
//! with what equations say of names in their place, or with each name as `m*k + r` for all
//! remainders `r` by a number `m` that occurs as a divisor. Then all points of a box are tried,
//! which is a proof where ranges leave no others. At last the claim is proved without what is
//! given, or with names that are small numbers one by one, and others.

mod cases;
mod given;
mod interval;
mod linear;
mod points;
mod refute;
mod substitute;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use gradus_core::Limits;
use gradus_core::convert::usize_of_u32;

use points::Points;
use refute::{Refuter, Strategy};

use crate::{Atom, Bounds, Claim, Condition, Dim, Expression, Relation, Symbols};

/// The smallest and the largest number of each name; other names are sizes, 0 and above.
pub type Ranges = BTreeMap<String, (i64, Option<i64>)>;

/// The answer to a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The relation holds for all numbers that meet what is given and for which it has a meaning.
    True,
    /// The relation fails for these numbers, which meet what is given.
    False(Vec<(Arc<str>, i64)>),
    /// Neither was found.
    Unknown,
    /// No numbers meet what is given.
    Contradiction,
}

/// The strategies of a proof, in order, and those for each combination of remainders.
const STRATEGIES: [Strategy; 3] = [
    Strategy { systems: 400, products: 0, rests: false },
    Strategy { systems: 200, products: 0, rests: true },
    Strategy { systems: 60, products: 4, rests: false },
];
const OF_REMAINDERS: [Strategy; 1] = [Strategy { systems: 40, products: 0, rests: false }];
/// Largest number by whose remainders a claim is taken apart, and most combinations of remainders.
const MAX_DIVISOR: i64 = 64;
const MAX_REMAINDERS: i64 = 1500;

impl Claim {
    /// Decides whether the claim holds for all integers within ranges that meet what is given.
    /// Where it divides by zero, it says nothing. An answer is `True` by a proof alone, and `False`
    /// by numbers for which both sides are evaluated as they are written. Of claims that `or` joins,
    /// one that divides by zero leaves all without a meaning.
    ///
    /// ```
    /// use gradus_dims::{Answer, Claim, Ranges};
    /// let decide = |text: &str, given: &[Claim]| {
    ///     Ok::<_, gradus_core::Error>(Claim::parse(text)?.decide(given, &Ranges::new(), None))
    /// };
    /// assert_eq!(decide("(n + 7)//8*8 >= n", &[])?, Answer::True);
    /// assert_eq!(decide("n//8*8 == n", &[Claim::parse("n % 16 == 0")?])?, Answer::True);
    /// assert!(matches!(decide("n//8*8 == n", &[])?, Answer::False(at) if at[0].1 % 8 != 0));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn decide(&self, given: &[Claim], ranges: &Ranges, limits: Option<&Limits>) -> Answer {
        let given: Vec<Claim> = given.iter().flat_map(Claim::all).cloned().collect();
        let mut answer = Answer::True;
        for part in self.all() {
            match part.decide_alone(&given, ranges, limits) {
                Answer::True => {}
                Answer::Unknown => answer = Answer::Unknown,
                found => return found,
            }
        }
        answer
    }

    /// Decides a claim that joins no others, where claims are given of which none does.
    fn decide_alone(&self, given: &[Claim], ranges: &Ranges, limits: Option<&Limits>) -> Answer {
        let mut points = Points::new(self, given, ranges);
        if let Some(found) = points.first() {
            return Answer::False(points.smaller(&found));
        }
        let stops = || limits.is_some_and(|limits| limits.check().is_err());
        let mut proof = Proof { claim: Some(self), given, ranges, names: &points.names.clone(), divisor: 1 };
        let (is_true, near) = proof.of_cases(&[], &STRATEGIES, &stops);
        if is_true {
            return proof.contradiction(&points, &stops).unwrap_or(Answer::True);
        }
        if let Some(found) = near.iter().find_map(|known| points.near(known)) {
            return Answer::False(points.smaller(&found));
        }
        if proof.by_remainders(&stops) {
            return proof.contradiction(&points, &stops).unwrap_or(Answer::True);
        }
        match points.all(&stops) {
            Some(Err(found)) => return Answer::False(found),
            Some(Ok(true)) if points.met => return Answer::True,
            Some(Ok(true)) => return Answer::Contradiction,
            _ => {}
        }
        if !given.is_empty() && (Proof { given: &[], ..proof }).of_cases(&[], &STRATEGIES, &stops).0 {
            return Answer::True;
        }
        if proof.by_values(&stops) {
            return proof.contradiction(&points, &stops).unwrap_or(Answer::True);
        }
        let is_empty = !points.met && !given.is_empty() && Proof { claim: None, ..proof }.by_values(&stops);
        if is_empty { Answer::Contradiction } else { Answer::Unknown }
    }
}

impl Symbols {
    /// Returns true if a condition follows from others by a short proof, or, without a condition,
    /// if no numbers meet the others. False also where that is not decided.
    ///
    /// ```
    /// let mut symbols = gradus_dims::Symbols::default();
    /// let given = [symbols.parse_condition("a >= b")?, symbols.parse_condition("b >= c")?];
    /// let claim = symbols.parse_condition("a >= c")?;
    /// assert!(symbols.follows(&given, Some(&claim), None));
    /// assert!(!symbols.follows(&given, None, None));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn follows(
        &mut self,
        given: &[Condition],
        claim: Option<&Condition>,
        limits: Option<&Limits>,
    ) -> bool {
        const SHORT: Strategy = Strategy { systems: 24, products: 0, rests: false };
        let divided = |this: &Symbols, of: &Condition| {
            this.divided(of.left, of.right).filter(|_| of.relation == Relation::Equal)
        };
        if let Some((dividend, divisor)) = claim.and_then(|claim| divided(self, claim)) {
            let all = given.iter().filter_map(|of| divided(self, of));
            if { all }.any(|(of, by)| of == dividend && by % divisor == 0) {
                return true;
            }
        }
        let stops = || limits.is_some_and(|limits| limits.check().is_err());
        Refuter::new(self, SHORT, &stops).refutes(given, claim)
    }
}

/// The numbers that a name stands for in a part of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// All within its range.
    Any,
    /// Those that leave this remainder by the number of the proof.
    Remainder(i64),
    /// This one.
    Is(i64),
    /// This one and larger ones.
    From(i64),
}

/// A proof that is looked for.
#[derive(Clone, Copy)]
struct Proof<'c> {
    /// The claim to prove; without one, that no numbers meet the conditions that are given.
    claim: Option<&'c Claim>,
    given: &'c [Claim],
    ranges: &'c Ranges,
    names: &'c [Arc<str>],
    divisor: i64,
}

impl Proof<'_> {
    /// `Contradiction` if no point met what is given, and none does.
    fn contradiction(mut self, points: &Points<'_>, stops: &dyn Fn() -> bool) -> Option<Answer> {
        self.claim = None;
        let is_empty = !points.met && !self.given.is_empty() && self.of_cases(&[], &STRATEGIES, stops).0;
        is_empty.then_some(Answer::Contradiction)
    }

    /// Returns true if there is a proof for names of these cases, and solutions of systems that
    /// have some. Names without a case are any numbers.
    fn of_cases(
        &self,
        cases: &[Case],
        strategies: &[Strategy],
        stops: &dyn Fn() -> bool,
    ) -> (bool, Vec<BTreeMap<Arc<str>, i64>>) {
        let mut symbols = Symbols::default();
        let (is_proved, points) = self.of_cases_in(&mut symbols, cases, strategies, stops);
        if is_proved || !symbols.joined_divisions {
            return (is_proved, points);
        }
        // A division by a product says less of its parts than divisions by these, one by one.
        let mut symbols = Symbols { keeps_divisions: true, ..Symbols::default() };
        (self.of_cases_in(&mut symbols, cases, strategies, stops).0, points)
    }

    fn of_cases_in(
        &self,
        symbols: &mut Symbols,
        cases: &[Case],
        strategies: &[Strategy],
        stops: &dyn Fn() -> bool,
    ) -> (bool, Vec<BTreeMap<Arc<str>, i64>>) {
        for (at, name) in self.names.iter().enumerate() {
            let (least, most) = self.ranges.get(&**name).copied().unwrap_or((0, None));
            match cases.get(at).copied().unwrap_or(Case::Any) {
                Case::Any => symbols.bound_integer(name, Bounds::between(Some(least), most)),
                Case::Is(value) => symbols.fix(name, value),
                Case::From(first) => {
                    symbols.bound_integer(name, Bounds::between(Some(least.max(first)), most));
                }
                Case::Remainder(rest) => {
                    let least = -(rest - least).div_euclid(self.divisor);
                    let most = most.map(|most| (most - rest).div_euclid(self.divisor));
                    if symbols
                        .stand_for_multiple(name, (self.divisor, rest), Bounds::between(Some(least), most))
                        .is_none()
                    {
                        return (false, Vec::new());
                    }
                }
            }
        }
        let mut given = Vec::new();
        for claim in self.given {
            if !divides(claim, symbols, &mut given) {
                return (true, Vec::new());
            }
            // A condition that is too large says nothing.
            given.extend(claim.condition(symbols).ok());
        }
        let claim = match self.claim {
            None => None,
            Some(claim) if !divides(claim, symbols, &mut given) => return (true, Vec::new()),
            Some(claim) => match claim.condition(symbols) {
                Ok(condition) => Some(condition),
                Err(_) => return (false, Vec::new()),
            },
        };
        if claim.is_some_and(|claim| symbols.always_holds(&claim)) {
            return (true, Vec::new());
        }
        let mut points = Vec::new();
        let is_proved = strategies.iter().any(|&how| {
            let mut refuter = Refuter::new(symbols, how, stops);
            let is_proved = refuter.refutes(&given, claim.as_ref());
            points.append(&mut refuter.points);
            is_proved
        });
        let is_proved = is_proved
            || (cases.is_empty()
                && (cases::follows(symbols, &given, claim, stops)
                    || substitute::follows(symbols, &given, claim, stops)));
        let named = |point: Vec<(u32, i64)>| {
            let name =
                |(index, value): (u32, i64)| (symbols.symbols()[usize_of_u32(index)].name.clone(), value);
            point.into_iter().map(name).collect()
        };
        (is_proved, points.into_iter().map(named).collect())
    }

    /// Returns true if there is a proof for each combination of the remainders of all names by one
    /// number.
    fn by_remainders(&mut self, stops: &dyn Fn() -> bool) -> bool {
        let Some(divisor) = self.common_divisor() else { return false };
        self.divisor = divisor;
        let mut remainders = vec![0; self.names.len()];
        loop {
            let cases: Vec<_> = remainders.iter().map(|&rest| Case::Remainder(rest)).collect();
            if stops() || !self.of_cases(&cases, &OF_REMAINDERS, stops).0 {
                return false;
            }
            let Some(at) = (0..remainders.len()).rev().find(|&at| remainders[at] + 1 < divisor) else {
                return true;
            };
            remainders[at] += 1;
            remainders[at + 1..].fill(0);
        }
    }

    /// The least common multiple of all numbers that occur as divisors, unless it is too large.
    fn common_divisor(&self) -> Option<i64> {
        let mut symbols = Symbols::default();
        for claim in self.claim.into_iter().chain(self.given) {
            claim.condition(&mut symbols).ok()?;
        }
        let divisors = symbols.atoms.iter().filter_map(|(atom, _)| match atom {
            Atom::Floor(_, Dim::Known(by)) => Some(*by),
            _ => None,
        });
        let multiple = divisors.fold(1, |multiple, by| crate::sum::lcm(multiple, by).min(MAX_DIVISOR + 1));
        let combinations = multiple.checked_pow(u32::try_from(self.names.len()).ok()?)?;
        (multiple > 1 && multiple <= MAX_DIVISOR && combinations <= MAX_REMAINDERS).then_some(multiple)
    }
}

/// Adds that no divisor of a claim is 0, without which it says nothing; false if one always is.
fn divides(claim: &Claim, symbols: &mut Symbols, given: &mut Vec<Condition>) -> bool {
    claim.sides().into_iter().flat_map(Expression::divisors).all(|divisor| {
        let Some(quotient) = divisor.quotient(symbols) else { return true };
        let Some(divisor) = symbols.intern(quotient.over) else { return true };
        if !symbols.never_zero(divisor) && divisor.known().is_none() {
            given.push(Condition::new(divisor, Relation::NotEqual, Dim::ZERO));
        }
        divisor != Dim::ZERO
    })
}
