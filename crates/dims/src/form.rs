//! Expressions taken apart, for programs that evaluate them elsewhere.

use gradus_core::convert::usize_of_u32;

use super::{Atom, Dim, Symbols};

/// A sum of products, which is what every expression is.
#[derive(Clone, Debug)]
pub struct SumForm<'a> {
    /// The number that is added to the products.
    pub constant: i64,
    /// The products: a coefficient, and factors.
    pub products: Vec<(i64, Vec<Factor<'a>>)>,
}

/// A factor of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor<'a> {
    /// The symbol of this index in [`Symbols::symbols`].
    Symbol(usize),
    /// The floor of a quotient; it has no value where the divisor is zero.
    Floor(Dim, Dim),
    /// The minimum.
    Min(&'a [Dim]),
    /// The maximum.
    Max(&'a [Dim]),
    /// The second if the first is 1, otherwise the first.
    Broadcast(Dim, Dim),
}

impl Symbols {
    /// The sum that an expression is.
    ///
    /// ```
    /// use gradus_dims::{Factor, Symbols};
    /// let mut symbols = Symbols::default();
    /// let seq = symbols.parse("2*seq + 1")?;
    /// let form = symbols.form(seq);
    /// assert_eq!((form.constant, form.products), (1, vec![(2, vec![Factor::Symbol(0)])]));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn form(&self, dim: Dim) -> SumForm<'_> {
        let id = match dim {
            Dim::Known(constant) => return SumForm { constant, products: Vec::new() },
            Dim::Symbolic(id) => id,
        };
        let sum = self.sum(id);
        let factor = |atom| match &self.atom(atom).0 {
            Atom::Symbol(index) => Factor::Symbol(usize_of_u32(*index)),
            Atom::Floor(a, b) => Factor::Floor(*a, *b),
            Atom::Min(all) => Factor::Min(all),
            Atom::Max(all) => Factor::Max(all),
            Atom::Broadcast(a, b) => Factor::Broadcast(*a, *b),
        };
        let products = sum
            .terms
            .iter()
            .map(|term| (term.coefficient, term.factors.iter().copied().map(factor).collect()));
        SumForm { constant: sum.constant, products: products.collect() }
    }

    /// The expression that a symbol is at most, for a symbol that the data decide and whose limit
    /// is known; by its index in [`Symbols::symbols`].
    pub fn limit_of(&self, symbol: usize) -> Option<Dim> {
        self.limits.get(&gradus_core::convert::small_u32(symbol)).copied()
    }

    /// The bounds of a symbol, by its index in [`Symbols::symbols`].
    pub fn bounds_of_symbol(&self, symbol: usize) -> super::Bounds {
        let atom = Atom::Symbol(gradus_core::convert::small_u32(symbol));
        self.atom_ids.get(&atom).map_or(super::Bounds::ANY, |id| self.atom(*id).1.bounds)
    }
}
