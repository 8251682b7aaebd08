//! The slice of a sequence that a plan covers.

use std::ops::Range;

/// Consecutive indices of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    first: u64,
    len: u64,
}

impl Window {
    /// All indices of a sequence of that length.
    pub(crate) fn whole(len: u64) -> Window {
        Window { first: 0, len }
    }

    /// The index of the first element.
    pub(crate) fn first(self) -> u64 {
        self.first
    }

    /// The number of elements.
    pub(crate) fn len(self) -> u64 {
        self.len
    }

    /// The index in the whole sequence of element `i` of the slice.
    pub(crate) fn index(self, i: u64) -> u64 {
        assert!(i < self.len, "element {i} of {}", self.len);
        self.first + i
    }

    /// A slice of the slice.
    pub(crate) fn slice(self, indices: Range<u64>) -> Window {
        assert!(indices.start <= indices.end && indices.end <= self.len, "{indices:?} of {}", self.len);
        Window { first: self.first + indices.start, len: indices.end - indices.start }
    }
}
