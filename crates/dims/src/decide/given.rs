//! Expressions where conditions hold: their symbols, and their smallest and largest value.

use std::sync::Arc;

use gradus_core::{Limits, Result};

use super::points::Points;
use super::{Answer, Ranges};
use crate::{Bounds, Claim, Expression, Symbols};

/// Rounds in which an end of an expression is looked for.
const ROUNDS: usize = 4;

impl Claim {
    /// Returns true if the claim is proved: if [`Self::decide`] answers [`Answer::True`].
    pub fn prove(&self, given: &[Claim], ranges: &Ranges, limits: Option<&Limits>) -> bool {
        self.decide(given, ranges, limits) == Answer::True
    }

    /// Numbers that meet what is given and for which the claim fails, if [`Self::decide`] finds
    /// some.
    ///
    /// ```
    /// use gradus_dims::{Claim, Ranges};
    /// let claim = Claim::parse("n//8*8 == n")?;
    /// assert_eq!(claim.refute(&[], &Ranges::new(), None), Some(vec![("n".into(), 1)]));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn refute(
        &self,
        given: &[Claim],
        ranges: &Ranges,
        limits: Option<&Limits>,
    ) -> Option<Vec<(Arc<str>, i64)>> {
        match self.decide(given, ranges, limits) {
            Answer::False(found) => Some(found),
            Answer::True | Answer::Unknown | Answer::Contradiction => None,
        }
    }
}

impl Symbols {
    /// Symbols that are within ranges, and for which conditions hold as far as they can be
    /// [assumed](Symbols::assume).
    ///
    /// # Errors
    /// [`gradus_core::Kind::Limit`] if an expression is too large.
    ///
    /// ```
    /// use gradus_dims::{Claim, Ranges, Symbols};
    /// let mut symbols = Symbols::assuming(&[Claim::parse("h % 32 == 0")?], &Ranges::new())?;
    /// let dim = symbols.parse("h//32*32")?;
    /// assert_eq!(symbols.print(dim).to_string(), "h");
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn assuming(given: &[Claim], ranges: &Ranges) -> Result<Symbols> {
        let mut symbols = Symbols::default();
        for (name, (least, most)) in ranges {
            symbols.bound_integer(name, Bounds::between(Some(*least), *most));
        }
        for claim in given.iter().flat_map(Claim::all) {
            if let Some((of, numbers)) = claim.among() {
                let of = symbols.canonical(of)?;
                symbols.assume_among(of, &numbers);
                continue;
            }
            let condition = claim.condition(&mut symbols)?;
            symbols.assume(&condition);
        }
        Ok(symbols)
    }
}

impl Expression {
    /// The smallest and the largest value for numbers within ranges that meet what is given, where
    /// they are proved; other ends are wider, or open.
    ///
    /// ```
    /// use gradus_dims::{Expression, Ranges};
    /// let bounds = Expression::parse("n - n//8*8 + min(k, 3)")?.bounds(&[], &Ranges::new(), None);
    /// assert_eq!((bounds.lower(), bounds.upper()), (Some(0), Some(10)));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn bounds(&self, given: &[Claim], ranges: &Ranges, limits: Option<&Limits>) -> Bounds {
        let known = Symbols::assuming(given, ranges).ok().and_then(|mut symbols| {
            let dim = symbols.canonical(self).ok()?;
            Some(symbols.bounds(dim))
        });
        let known = known.unwrap_or(Bounds::ANY);
        let first = Points::new(&Claim::bound(self, true, 0), given, ranges).ends_of_left();
        let Some((least, most)) = first else { return known };
        let proved = |is_lower: bool, mut end: i64| {
            for _ in 0..ROUNDS {
                let claim = Claim::bound(self, is_lower, end);
                match claim.decide(given, ranges, limits) {
                    Answer::True => return Some(end),
                    Answer::False(at) => {
                        let of =
                            |name: &str| at.iter().find(|(known, _)| **known == *name).map(|(_, at)| *at);
                        end = self.evaluate(of)?;
                    }
                    Answer::Unknown | Answer::Contradiction => return None,
                }
            }
            None
        };
        known.and(Bounds::between(proved(true, least), proved(false, most)))
    }
}
