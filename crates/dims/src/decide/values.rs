//! Proofs by the values of names: small numbers one by one, and all that are larger.
//!
//! `5//d` is a number where `d` is one, and 0 where `d` is above 5: what has no proof as it is
//! written is often plain in each of these cases.

use super::refute::Strategy;
use super::{Case, Proof};
use crate::{Claim, Expression};
use gradus_core::sort::SharedSort;

/// Cases of a proof, at most.
const MAX_CASES: usize = 250;
/// The maximum number of values of a name that are cases of their own.
const MAX_VALUES: i64 = 12;
/// The strategies for each case, in order.
const OF_CASE: [Strategy; 2] =
    [Strategy { systems: 60, products: 0, rests: false }, Strategy { systems: 60, products: 0, rests: true }];

impl Proof<'_> {
    /// Returns true if there is a proof for each case of some names.
    pub(super) fn by_values(&self, stops: &dyn Fn() -> bool) -> bool {
        let claims = || self.given.iter().chain(self.claim);
        let sides = || claims().flat_map(Claim::sides);
        // Beyond all numbers that are written, little changes.
        let largest = sides().filter_map(Expression::largest_number).max().unwrap_or(0);
        let values = largest.saturating_add(1).clamp(2, MAX_VALUES);
        // Names in divisors first, of which the quotient is a number where they are.
        let divisors: Vec<_> = sides().flat_map(Expression::divisors).collect();
        let in_divisors = |name: &str| divisors.iter().filter(|of| of.uses(name)).count();
        let mut order: Vec<_> = (0..self.names.len()).collect();
        order.shared_sort_by_key(|&at| std::cmp::Reverse(in_divisors(&self.names[at])));
        let mut cases = vec![Case::Any; self.names.len()];
        let mut left = MAX_CASES;
        self.by_values_of(&order, &mut cases, values, &mut left, stops)
    }

    fn by_values_of(
        &self,
        order: &[usize],
        cases: &mut Vec<Case>,
        values: i64,
        left: &mut usize,
        stops: &dyn Fn() -> bool,
    ) -> bool {
        let Some((&at, later)) = order.split_first() else { return false };
        let (least, most) = self.ranges.get(&*self.names[at]).copied().unwrap_or((0, None));
        let end = least.saturating_add(values);
        let has_more = most.is_none_or(|most| most >= end);
        let last = most.map_or(end - 1, |most| most.min(end - 1));
        // The case that is proved least often comes first.
        let all = has_more.then_some(Case::From(end)).into_iter().chain((least..=last).map(Case::Is));
        for case in all {
            if *left == 0 || stops() {
                return false;
            }
            *left -= 1;
            cases[at] = case;
            let is_proved = self.of_cases(cases, &OF_CASE, stops).0
                || self.by_values_of(later, cases, values, left, stops);
            if !is_proved {
                cases[at] = Case::Any;
                return false;
            }
        }
        cases[at] = Case::Any;
        true
    }
}
