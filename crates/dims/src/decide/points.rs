//! Points at which a claim is tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ranges;
use crate::{Claim, Expression};
use gradus_core::sort::SharedSort;

/// Sizes that are tried first.
const SMALL: [i64; 12] = [1, 2, 0, 3, 4, 5, 7, 8, 6, 9, 16, 33];
/// The largest number of the box in which all points are tried.
const LAST: i64 = 40;
/// Points that are tried before a proof is looked for, and at most.
const FIRST: usize = 4_000;
const MAX_POINTS: u128 = 4_000_000;

/// Names and the numbers that they stand for.
pub(super) type Point = Vec<(Arc<str>, i64)>;

/// The number of points of a box; nothing if it has none, or if they do not fit.
fn count(ends: &[(i64, i64)]) -> Option<u128> {
    ends.iter().try_fold(1u128, |points, (first, last)| {
        if first > last { None } else { points.checked_mul(u128::from(last.abs_diff(*first)) + 1) }
    })
}

/// The outcome at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// Nothing: it does not meet what is given, or something is not defined there.
    Outside,
    Holds,
    Fails,
}

/// A claim whose names are numbers.
struct Numbered<'c> {
    claim: &'c Claim,
    sides: [Vec<usize>; 2],
}

impl<'c> Numbered<'c> {
    fn new(claim: &'c Claim, names: &[Arc<str>]) -> Numbered<'c> {
        let number = |side: &Expression| {
            let place = |name: &Arc<str>| names.binary_search(name).unwrap_or(0);
            side.names().iter().map(place).collect::<Vec<_>>()
        };
        Numbered { claim, sides: claim.sides().map(number) }
    }

    fn holds(&self, values: &[i64]) -> Option<bool> {
        let [left, right] = &self.sides;
        self.claim.holds_at(&|index| values[left[index]], &|index| values[right[index]])
    }
}

/// The points of a claim's names.
pub(super) struct Points<'c> {
    pub(super) names: Vec<Arc<str>>,
    /// The smallest and the largest number of each name.
    ranges: Vec<(i64, Option<i64>)>,
    claim: Numbered<'c>,
    given: Vec<Numbered<'c>>,
    /// True if a point met what is given.
    pub(super) met: bool,
}

impl<'c> Points<'c> {
    /// Points within the ranges, for the names of a claim and of what is given.
    pub(super) fn new(claim: &'c Claim, given: &'c [Claim], ranges: &Ranges) -> Points<'c> {
        let mut names: Vec<_> = given.iter().chain([claim]).flat_map(Claim::names).collect();
        names.shared_sort();
        names.dedup();
        let range = |name: &Arc<str>| ranges.get(&**name).copied().unwrap_or((0, None));
        let ranges = names.iter().map(range).collect();
        let numbered = Numbered::new(claim, &names);
        let given = given.iter().map(|claim| Numbered::new(claim, &names)).collect();
        Points { names, ranges, claim: numbered, given, met: false }
    }

    fn tried(&mut self, values: &[i64]) -> Tried {
        if !self.given.iter().all(|given| given.holds(values) == Some(true)) {
            return Tried::Outside;
        }
        self.met = true;
        match self.claim.holds(values) {
            None => Tried::Outside,
            Some(true) => Tried::Holds,
            Some(false) => Tried::Fails,
        }
    }

    /// The point with its names, if the claim fails there.
    pub(super) fn counterexample(&mut self, values: &[i64]) -> Option<Point> {
        let fails = self.tried(values) == Tried::Fails;
        fails.then(|| self.names.iter().cloned().zip(values.iter().copied()).collect())
    }

    /// A point of smaller numbers at which the claim fails too, one number after the other.
    pub(super) fn smaller(&mut self, found: &Point) -> Point {
        let mut values: Vec<_> = found.iter().map(|(_, value)| *value).collect();
        for at in 0..values.len() {
            let value = values[at];
            for less in [0, 1, 2, 3, 4, 5, 6, 7, 8].into_iter().chain([value / 2, value - value.signum()]) {
                let less = self.within(at, less);
                if less.abs() >= value.abs() {
                    continue;
                }
                values[at] = less;
                if self.tried(&values) == Tried::Fails {
                    break;
                }
                values[at] = value;
            }
        }
        self.names.iter().cloned().zip(values).collect()
    }

    fn within(&self, at: usize, value: i64) -> i64 {
        let (least, most) = self.ranges[at];
        value.clamp(least, most.unwrap_or(i64::MAX).max(least))
    }

    /// A point at which the claim fails, of some that are near to where claims fail: all equal,
    /// then small sizes, and large ones.
    pub(super) fn first(&mut self) -> Option<Point> {
        self.walked(Points::counterexample)
    }

    /// The smallest and the largest value of the left side at the points of a first walk that meet
    /// what is given, and where it is an integer; nothing if there are none.
    pub(super) fn ends_of_left(&mut self) -> Option<(i64, i64)> {
        let mut ends: Option<(i64, i64)> = None;
        self.walked(|points, values| {
            if let Some(value) = points.left(values) {
                let (least, most) = ends.unwrap_or((value, value));
                ends = Some((least.min(value), most.max(value)));
            }
            None::<()>
        });
        ends
    }

    /// The value of the left side where the names have these numbers, if they meet what is given.
    fn left(&self, values: &[i64]) -> Option<i64> {
        if !self.given.iter().all(|given| given.holds(values) == Some(true)) {
            return None;
        }
        let of_left = &self.claim.sides[0];
        let (over, under) = self.claim.claim.sides()[0].value(&|index| values[of_left[index]])?;
        (over % under == 0).then(|| i64::try_from(over / under).ok())?
    }

    /// The first result for a point of some that are all equal, small, and large.
    fn walked<T>(&mut self, mut of: impl FnMut(&mut Self, &[i64]) -> Option<T>) -> Option<T> {
        let mut values = vec![0; self.names.len()];
        for value in SMALL {
            for (at, slot) in values.iter_mut().enumerate() {
                *slot = self.within(at, value);
            }
            if let Some(found) = of(self, &values) {
                return Some(found);
            }
        }
        let mut random = fastrand::Rng::with_seed(1);
        for tried in 0..FIRST {
            for (at, slot) in values.iter_mut().enumerate() {
                let value = match (tried % 4, random.u8(..8)) {
                    (3, 0..3) => 1i64 << random.u8(3..20),
                    (3, 3) => random.i64(0..1 << 20),
                    (2, _) => random.i64(0..=LAST),
                    _ => SMALL[random.usize(..SMALL.len())],
                };
                let (least, most) = self.ranges[at];
                let value = if least > 0 || most.is_some_and(|most| most < value) {
                    let span =
                        most.map_or(i64::MAX, |most| most.saturating_sub(least).saturating_add(1).max(1));
                    least.saturating_add(value.rem_euclid(span))
                } else if least < 0 && random.bool() {
                    -value
                } else {
                    value
                };
                *slot = self.within(at, value);
            }
            if let Some(found) = of(self, &values) {
                return Some(found);
            }
        }
        None
    }

    /// The ends of a box: of all points there are, if they are not too many.
    fn ends(&self) -> (Vec<(i64, i64)>, bool) {
        let whole: Option<Vec<_>> = self.ranges.iter().map(|&(least, most)| Some((least, most?))).collect();
        if let Some(whole) = whole.filter(|ends| count(ends).is_some_and(|points| points <= MAX_POINTS)) {
            return (whole, true);
        }
        let ends = self.ranges.iter().map(|&(least, most)| {
            let most = most.unwrap_or(i64::MAX);
            let first = least.max(-LAST).min(most);
            (first, most.min(first.max(0).saturating_add(LAST)))
        });
        (ends.collect(), false)
    }

    /// All points of a box: the first at which the claim fails, or whether the box has all points
    /// there are. Nothing if there are too many, or if `stop` says so.
    pub(super) fn all(&mut self, stop: &dyn Fn() -> bool) -> Option<Result<bool, Point>> {
        let (ends, is_whole) = self.ends();
        if count(&ends)? > MAX_POINTS {
            return None;
        }
        let mut values: Vec<_> = ends.iter().map(|&(first, _)| first).collect();
        let mut tried = 0u32;
        loop {
            if let Some(found) = self.counterexample(&values) {
                return Some(Err(found));
            }
            tried = tried.wrapping_add(1);
            if tried.is_multiple_of(4096) && stop() {
                return None;
            }
            let Some(at) = (0..values.len()).rev().find(|&at| values[at] < ends[at].1) else {
                return Some(Ok(is_whole));
            };
            values[at] += 1;
            for later in at + 1..values.len() {
                values[later] = ends[later].0;
            }
        }
    }

    /// Tries points near to a solution of the claim's opposite.
    pub(super) fn near(&mut self, known: &BTreeMap<Arc<str>, i64>) -> Option<Point> {
        let value = |(at, name): (usize, &Arc<str>)| self.within(at, known.get(name).copied().unwrap_or(1));
        let center: Vec<_> = self.names.iter().enumerate().map(value).collect();
        if let Some(found) = self.counterexample(&center) {
            return Some(found);
        }
        for at in 0..center.len() {
            for by in [-1, 1] {
                let mut values = center.clone();
                values[at] = self.within(at, values[at].saturating_add(by));
                if let Some(found) = self.counterexample(&values) {
                    return Some(found);
                }
            }
        }
        None
    }
}
