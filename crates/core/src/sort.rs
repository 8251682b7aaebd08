//! Sorting whose loops are compiled once: those of the standard library take, for each type of
//! elements, as long to compile as a few hundred lines. For lists that are sorted seldom.

use std::cmp::Ordering;
use std::mem::replace;

/// Methods that sort lists; equal elements keep their order.
pub trait SharedSort<T> {
    /// Sorts by a comparison.
    ///
    /// ```
    /// use gradus_core::sort::SharedSort;
    /// let mut words = ["of", "a", "list"];
    /// words.shared_sort_by(|a, b| b.len().cmp(&a.len()));
    /// assert_eq!(words, ["list", "of", "a"]);
    /// ```
    fn shared_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key.
    fn shared_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.shared_sort_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts by the order of the elements.
    fn shared_sort(&mut self)
    where
        T: Ord,
    {
        self.shared_sort_by(Ord::cmp);
    }
}

/// Maximum length of lists that are sorted without memory.
const FEW: usize = 20;

impl<T> SharedSort<T> for [T] {
    fn shared_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() <= FEW {
            for end in 1..self.len() {
                let mut at = end;
                while at > 0 && compare(&self[at - 1], &self[at]).is_gt() {
                    self.swap(at - 1, at);
                    at -= 1;
                }
            }
            return;
        }
        let mut from = sorted(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        // Each cycle of places is gone through once; places that are done name themselves.
        for start in 0..from.len() {
            let mut at = start;
            loop {
                let next = replace(&mut from[at], at);
                if next == start {
                    break;
                }
                self.swap(at, next);
                at = next;
            }
        }
    }
}

/// The places of elements in their order.
fn sorted(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<_> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_sorted_as_the_standard_library_sorts_them() {
        for len in [0, 1, 2, FEW, FEW + 1, 1000] {
            for keys in [1, 7, 1 << 20] {
                let mut state = 1u64;
                let mut list: Vec<_> = (0..len)
                    .map(|at| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        ((state >> 33) % keys, at)
                    })
                    .collect();
                let mut wanted = list.clone();
                wanted.sort_by_key(|&(key, _)| key);
                list.shared_sort_by_key(|&(key, _)| key);
                assert_eq!(list, wanted, "{len} of {keys}");
                wanted.sort_by(|a, b| b.cmp(a));
                list.shared_sort_by(|a, b| b.cmp(a));
                assert_eq!(list, wanted, "{len} of {keys}, down");
                wanted.sort_unstable();
                list.shared_sort();
                assert_eq!(list, wanted, "{len} of {keys}, up");
            }
        }
    }
}
