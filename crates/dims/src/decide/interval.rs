//! Claims solved for a name where the name does not stand alone.

use gradus_core::{Limits, Result};

use super::{Answer, Ranges};
use crate::{Claim, Dim, Expression, Solved, Symbols};

/// Numbers of a name that are tried one by one.
const MAX_NUMBERS: i64 = 4096;

impl Claim {
    /// The numbers of a name for which the claim holds, if they are an interval: as
    /// [`Symbols::solve_for`] finds it, or by trying the numbers of a claim's only name and
    /// proving that no others are in it. The symbols are those of [`Symbols::assuming`].
    ///
    /// # Errors
    /// [`gradus_core::Kind::Limit`] if an expression is too large.
    ///
    /// ```
    /// use gradus_dims::{Claim, Dim, Ranges, Solved, Symbols};
    /// let mut symbols = Symbols::default();
    /// let claim = Claim::parse("n*n <= 30")?;
    /// let solved = claim.solve_for("n", &[], &Ranges::new(), &mut symbols, None)?;
    /// assert_eq!(solved, Some(Solved { least: None, most: Some(Dim::Known(5)) }));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn solve_for(
        &self,
        name: &str,
        given: &[Claim],
        ranges: &Ranges,
        symbols: &mut Symbols,
        limits: Option<&Limits>,
    ) -> Result<Option<Solved>> {
        let never = self.opposite().decide(given, ranges, limits);
        if matches!(never, Answer::True | Answer::Contradiction) {
            return Ok(Some(Solved::NOTHING));
        }
        let mut solved = Some(Solved { least: None, most: None });
        for part in self.all() {
            let condition = part.condition(symbols)?;
            let both = solved.zip(symbols.solve_for(&condition, name));
            solved = both.and_then(|(known, more)| symbols.both(known, more));
        }
        Ok(solved.or_else(|| self.interval(name, given, ranges, limits)))
    }

    fn interval(
        &self,
        name: &str,
        given: &[Claim],
        ranges: &Ranges,
        limits: Option<&Limits>,
    ) -> Option<Solved> {
        if self.decide(given, ranges, limits) == Answer::True {
            return Some(Solved { least: None, most: None });
        }
        let is_only = |claim: &Claim| claim.names().iter().all(|known| **known == *name);
        if !given.iter().chain([self]).all(is_only) {
            return None;
        }
        let (least, most) = ranges.get(name).copied().unwrap_or((0, None));
        let last = least.checked_add(MAX_NUMBERS)?.min(most.unwrap_or(i64::MAX));
        let numbers = (least..=last)
            .filter(|&number| given.iter().all(|claim| claim.holds(|_| Some(number)) == Some(true)));
        let mut ends: Option<(i64, i64)> = None;
        let (mut before, mut beyond) = (None, None);
        for number in numbers {
            let holds = self.holds(|_| Some(number)) == Some(true);
            match ends {
                None if holds => ends = Some((number, number)),
                None => before = Some(number),
                Some((first, _)) if holds && beyond.is_none() => ends = Some((first, number)),
                Some(_) if holds => return None,
                Some(_) => beyond = beyond.or(Some(number)),
            }
        }
        let (first, end) = ends?;
        let is_whole = most == Some(last);
        let own = Expression::parse(&crate::text::quoted(name)).ok()?;
        let with = |claim: Claim| [given, &[claim]].concat();
        let is_proved = is_whole
            || if beyond.is_some() {
                Claim::bound(&own, false, end).prove(&with(self.clone()), ranges, limits)
            } else {
                self.prove(&with(Claim::bound(&own, true, first)), ranges, limits)
            };
        let is_one = first == end && beyond.is_some();
        is_proved.then(|| Solved {
            least: before.map(|_| first).or(is_one.then_some(first)).map(Dim::Known),
            most: beyond.map(|_| end).map(Dim::Known),
        })
    }
}
