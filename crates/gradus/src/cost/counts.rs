//! Counts: what a cost is made of.

use gradus_core::Number;
use gradus_core::convert::nearest_f64;
use serde::Serialize;

use crate::dim::Dim;

/// The counts of a node, or of many. One that is not known, or that exceeds what an expression may
/// be, is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts<T = Option<Dim>> {
    /// Multiplications with an addition.
    pub macs: T,
    /// Elementary operations besides multiplications with an addition. Their classes follow, which
    /// together are all of them unless a node runs one of several graphs.
    pub operations: T,
    /// Operations that are sums, products, quotients, signs, roundings, conversions or logical.
    pub arithmetic: T,
    /// Operations that are comparisons, minima, maxima, selections or look-ups.
    pub comparisons: T,
    /// Operations that are exponentials, logarithms, powers, roots, trigonometric, hyperbolic or
    /// error functions, or functions of an element with such a step.
    pub transcendentals: T,
    /// Bytes of inputs, each value of a node once, or what the nodes of its graphs read.
    pub bytes_read: T,
    /// Bytes of outputs, or what the nodes of its graphs write.
    pub bytes_written: T,
}

impl Counts<()> {
    /// The number of counts.
    pub const LEN: usize = 7;

    /// The names of the counts, in order.
    pub const NAMES: [&str; Counts::LEN] =
        ["macs", "operations", "arithmetic", "comparisons", "transcendentals", "bytes_read", "bytes_written"];
}

impl<T> From<[T; Counts::LEN]> for Counts<T> {
    fn from(counts: [T; Counts::LEN]) -> Counts<T> {
        let [macs, operations, arithmetic, comparisons, transcendentals, bytes_read, bytes_written] = counts;
        Counts { macs, operations, arithmetic, comparisons, transcendentals, bytes_read, bytes_written }
    }
}

impl<T> Counts<T> {
    /// The counts in order.
    pub fn into_array(self) -> [T; Counts::LEN] {
        let Counts { macs, operations, arithmetic, comparisons, transcendentals, bytes_read, bytes_written } =
            self;
        [macs, operations, arithmetic, comparisons, transcendentals, bytes_read, bytes_written]
    }

    /// The counts, each changed by a function.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Counts<U> {
        self.into_array().map(change).into()
    }
}

impl Counts {
    /// Operations for each byte that is read or written, of which a MAC is two; nothing if a count
    /// is not a number, or if there are no bytes.
    pub fn intensity(&self) -> Option<f64> {
        let number = |dim: Option<Dim>| Some(nearest_f64(Number::Int(dim?.known()?.into())));
        let bytes = number(self.bytes_read)? + number(self.bytes_written)?;
        (bytes > 0.0).then_some((2.0 * number(self.macs)? + number(self.operations)?) / bytes)
    }
}
