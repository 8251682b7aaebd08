//! How the results of operators are rounded.

use gradus_core::graph::{Content, Node};

/// How far the text of a standard determines the bits of an operator's results. Each row of the
/// table says it: folding, conversion and costs ask for it.
///
/// Integers and truth values are the same bits in all but [`Open`](Rounding::Open).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Elements are moved or repeated, or only shapes are read: nothing is rounded.
    Moved,
    /// Elements are computed, and none is rounded: signs, comparisons, truth values, bits, and
    /// integers next to a number.
    Exact,
    /// IEEE 754 rounds each element in one way: a sum, a product, a quotient, a square root or a
    /// conversion.
    Ieee,
    /// Elements are chosen by comparisons, as maxima are: the text leaves open NaN, and which of
    /// equal elements is taken.
    Chosen,
    /// Codes are computed by a scale, or numbers by one from codes: IEEE 754 rounds them in one
    /// way, but programs may compute with the codes instead.
    Quantized,
    /// Elements are interpolated by a formula of several steps, or moved with `mode` of `nearest`.
    Interpolated,
    /// A function that is not algebraic, or a formula of several steps: the text does not define
    /// how it is rounded.
    Formula,
    /// Sums or products of many elements, whose order the text does not define.
    Order,
    /// The text does not determine the results by the inputs: random numbers, variables, texts, and
    /// arguments beyond the defined ones.
    Open,
    /// Rounded by the operators of the graph that the operator is lowered to.
    Lowered,
}

gradus_core::names!(Rounding {
    Moved = "moved", Exact = "exact", Ieee = "ieee", Chosen = "chosen", Quantized = "quantized",
    Interpolated = "interpolated", Formula = "formula", Order = "order", Open = "open",
    Lowered = "lowered",
});

impl Rounding {
    /// Returns true if the text determines the bits, floats included, and every program computes
    /// them so.
    pub const fn is_exact(self) -> bool {
        matches!(self, Rounding::Moved | Rounding::Exact | Rounding::Ieee)
    }

    /// The rounding of a node of such an operator, by its attributes: what is scattered may be
    /// reduced, and what is resized only moved.
    pub fn of_node(self, node: &Node) -> Rounding {
        let word = |name: &str| match node.attribute(name) {
            Some(Content::Bytes(word)) => Some(&**word),
            Some(Content::Text(word)) => Some(word.as_bytes()),
            _ => None,
        };
        match self {
            Rounding::Moved => match word("reduction") {
                None | Some(b"none") => self,
                Some(b"max" | b"min") => Rounding::Chosen,
                Some(_) => Rounding::Order,
            },
            Rounding::Interpolated => match word("mode") {
                None | Some(b"nearest") => Rounding::Moved,
                Some(_) => Rounding::Formula,
            },
            _ => self,
        }
    }
}
