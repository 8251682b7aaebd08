#![doc = include_str!("../README.md")]
//!
//! # Forms
//!
//! | form | written | canonical as |
//! |---|---|---|
//! | sum of products | `2*batch*seq + 1` | terms in order, each a product of atoms with a coefficient |
//! | floor division | `(h + 1)//2` | an atom; what the divisor divides stands before it, divisions in divisions are one: `a//(b*c)` for `a//b//c` |
//! | ceiling division | | `(a + b - 1)//b` |
//! | modulus | `a%b` | `a - b*(a//b)` |
//! | minimum, maximum | `min(seq, 64)`, `max(seq, 1)` | an atom of operands in order, none of which another makes needless, in a sum of as few terms as possible |
//! | broadcast | `broadcast(a, b)` | an atom: `b` if `a` is 1, otherwise `a` |
//!
//! All expressions live in [`Symbols`], each once: equal canonical forms are the same [`Dim`], so
//! that to compare is to compare two numbers. A caller makes a fresh symbol of a result that is
//! `None`.

#![forbid(unsafe_code)]

mod assumed;
mod atoms;
mod bounds;
mod claim;
mod combination;
mod condition;
mod decide;
mod division;
mod expression;
mod extremes;
mod form;
mod naming;
mod order;
mod parser;
mod solve;
mod sum;
mod text;
mod truth;

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::convert::product;

pub use bounds::Bounds;
pub use claim::Claim;
pub use combination::Combination;
pub use condition::{Condition, Relation};
pub use decide::{Answer, Ranges};
pub use expression::Expression;
pub use form::{Factor, SumForm};
pub use naming::axis_name;
pub use solve::Solved;
use sum::{Sum, Term};
pub use text::{Dialect, Printed};

/// An integer that may be symbolic. It has a meaning within the [`Symbols`] that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// An integer that is known.
    Known(i64),
    /// An expression.
    Symbolic(ExprId),
}

/// An expression's number within its [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct AtomId(u32);

/// Maximum number of leaves (symbols and numbers) of an expression.
pub const LARGEST: u32 = 96;

impl Dim {
    /// No elements, no axis.
    pub const ZERO: Dim = Dim::Known(0);
    /// The operands of a broadcast.
    pub const ONE: Dim = Dim::Known(1);

    /// The number, if it is known.
    pub const fn known(self) -> Option<i64> {
        if let Dim::Known(value) = self { Some(value) } else { None }
    }
}

impl From<usize> for Dim {
    fn from(len: usize) -> Self {
        Dim::Known(gradus_core::convert::i64_of(len))
    }
}

/// The origin of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The model names it, or it is the dimension of an input.
    Input,
    /// The data decide it: the sentence says how.
    Data(Arc<str>),
    /// Nothing is known of it: the sentence says why.
    Unknown(Arc<str>),
}

/// A name that stands for a number.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name, unique.
    pub name: Arc<str>,
    /// The origin.
    pub origin: Origin,
}

/// The terms of sums.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Atom {
    Symbol(u32),
    /// Floor of a quotient.
    Floor(Dim, Dim),
    Min(Arc<[Dim]>),
    Max(Arc<[Dim]>),
    Broadcast(Dim, Dim),
}

/// Properties of an atom or an expression besides its form.
#[derive(Clone, Copy, Debug)]
struct Measure {
    bounds: Bounds,
    /// Leaves.
    size: u32,
}

/// Operations whose results are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DimOperation {
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Min,
    Max,
    Broadcast,
}

/// All symbols and expressions of one inference.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    named: Vec<Symbol>,
    names: HashMap<Arc<str>, u32>,
    /// Names that stand for a number, or for an expression to which they are assumed to be equal.
    fixed: HashMap<Arc<str>, Dim>,
    /// Symbols of assumptions about axes of inputs that have no name of their own.
    awaited: HashSet<Arc<str>>,
    /// Symbols that are assumed to be expressions of themselves, by these.
    stands: HashMap<Dim, Dim>,
    /// Atoms that are a name divided by a number, by assumption.
    parts: HashMap<AtomId, (Arc<str>, i64)>,
    /// Bounds of the sizes of inputs, by name, and of all.
    ranges: HashMap<Arc<str>, Bounds>,
    all_sizes: Option<Bounds>,
    /// True if divisions of divisions stay as they are, and whether one was made one.
    keeps_divisions: bool,
    joined_divisions: bool,
    atoms: Vec<(Atom, Measure)>,
    atom_ids: HashMap<Atom, AtomId>,
    exprs: Vec<(Arc<Sum>, Measure)>,
    expr_ids: HashMap<Arc<Sum>, ExprId>,
    /// Sums that minima and maxima are, with plain ones; and sums that plain ones are.
    plain: HashMap<AtomId, Option<Arc<Sum>>>,
    forms_of_plain: HashMap<AtomId, Option<Arc<[Sum]>>>,
    results: HashMap<(DimOperation, Dim, Dim), Option<Dim>>,
    /// Upper bounds of symbols that the data decide.
    limits: HashMap<u32, Dim>,
    /// By symbol that is 1 where a comparison holds: the comparison.
    truths: HashMap<u32, Condition>,
    /// True if more became known of a symbol than when the expressions with it were made.
    raised: bool,
    /// The dialect in which expressions are printed.
    dialect: Dialect,
}

/// Bytes of an expression, of a part of one and of a result that is remembered, as
/// `tests/memory.rs` measures.
const BYTES_OF_EXPRESSION: usize = 512;

impl Symbols {
    /// Bytes that all expressions take, estimated by their number.
    pub fn bytes(&self) -> u128 {
        product(self.exprs.len() + self.atoms.len() + self.results.len(), BYTES_OF_EXPRESSION)
    }

    /// All symbols, in the order in which they were made.
    pub fn symbols(&self) -> &[Symbol] {
        &self.named
    }

    /// The symbols that an expression is made of, each once.
    pub fn symbols_of(&self, dim: Dim) -> Vec<&Symbol> {
        let indices = self.indices_of(dim).into_iter();
        indices.map(|index| &self.named[gradus_core::convert::usize_of_u32(index)]).collect()
    }

    /// The numbers of its symbols, in order.
    fn indices_of(&self, dim: Dim) -> Vec<u32> {
        let mut found = Vec::new();
        let mut open = vec![dim];
        while let Some(dim) = open.pop() {
            let Dim::Symbolic(id) = dim else { continue };
            for atom in self.sum(id).terms.iter().flat_map(|term| term.factors.iter()) {
                match &self.atom(*atom).0 {
                    Atom::Symbol(index) => found.push(*index),
                    Atom::Floor(a, b) | Atom::Broadcast(a, b) => open.extend([*a, *b]),
                    Atom::Min(all) | Atom::Max(all) => open.extend(all.iter().copied()),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Facts about the value of an expression.
    pub fn bounds(&self, dim: Dim) -> Bounds {
        match dim {
            Dim::Known(value) => Bounds::exactly(value),
            Dim::Symbolic(id) if self.raised => {
                let (sum, measure) = self.expr(id);
                measure.bounds.and(self.bounds_of(sum))
            }
            Dim::Symbolic(id) => self.expr(id).1.bounds,
        }
    }

    /// Adds to what is known of an expression. Expressions that were made of it before keep their
    /// bounds.
    pub fn bound(&mut self, dim: Dim, bounds: Bounds) {
        let Dim::Symbolic(id) = dim else { return };
        let index = gradus_core::convert::usize_of_u32(id.0);
        let (sum, measure) = &mut self.exprs[index];
        measure.bounds = measure.bounds.and(bounds);
        if let Some(atom) = sum.only_atom() {
            let measure = &mut self.atoms[gradus_core::convert::usize_of_u32(atom.0)].1;
            measure.bounds = measure.bounds.and(bounds);
        }
    }

    /// Adds that an expression is at least a number, and what that says of its symbols: with
    /// `2*n - 1 >= 0`, `n` is at least 1; with `a*b >= 1`, so are both, if neither is negative; and
    /// with `n//4 >= 1`, `n` is at least 4.
    pub fn raise(&mut self, dim: Dim, least: i64) {
        let Dim::Symbolic(id) = dim else { return };
        if self.at_least(dim, least) {
            return;
        }
        self.raised = true;
        self.bound(dim, Bounds::between(Some(least), None));
        let sum = self.sum(id).clone();
        let [Term { factors, coefficient: by @ 1.. }] = &sum.terms[..] else { return };
        let Some(rest) = least.checked_sub(sum.constant) else { return };
        let least = rest.div_euclid(*by) + i64::from(rest.rem_euclid(*by) > 0);
        match **factors {
            [atom] => self.raise_atom(atom, least),
            _ if least >= 1 && factors.iter().all(|&atom| self.bounds_of_atom(atom).lower() >= Some(0)) => {
                factors.iter().for_each(|&atom| self.raise_atom(atom, 1));
            }
            _ => {}
        }
    }

    fn raise_atom(&mut self, atom: AtomId, least: i64) {
        let (kind, measure) = &mut self.atoms[gradus_core::convert::usize_of_u32(atom.0)];
        measure.bounds = measure.bounds.and(Bounds::between(Some(least), None));
        match kind.clone() {
            Atom::Floor(x, Dim::Known(by @ 1..)) => {
                if let Some(least) = least.checked_mul(by) {
                    self.raise(x, least);
                }
            }
            Atom::Min(all) => all.iter().for_each(|&dim| self.raise(dim, least)),
            Atom::Symbol(_) | Atom::Floor(..) | Atom::Max(_) | Atom::Broadcast(..) => {}
        }
    }

    /// The bounds of an atom by what is known of its symbols by now.
    fn bounds_of_atom(&self, atom: AtomId) -> Bounds {
        let (kind, measure) = self.atom(atom);
        if !self.raised {
            return measure.bounds;
        }
        let all = |all: &[Dim], join: fn(Bounds, Bounds) -> Bounds| {
            all.iter().map(|&dim| self.bounds(dim)).reduce(join).unwrap_or(measure.bounds)
        };
        let now = match kind {
            Atom::Symbol(_) => measure.bounds,
            Atom::Floor(x, by) => self.bounds(*x).over(self.bounds(*by)),
            Atom::Min(of) => all(of, Bounds::min),
            Atom::Max(of) => all(of, Bounds::max),
            Atom::Broadcast(a, b) => self.bounds(*a).either(self.bounds(*b)),
        };
        measure.bounds.and(now)
    }

    /// The bounds of a sum by what is known of its symbols by now.
    fn bounds_of(&self, sum: &Sum) -> Bounds {
        sum.terms.iter().fold(Bounds::exactly(sum.constant), |bounds, term| {
            let of = |product: Bounds, &atom: &AtomId| product.times(self.bounds_of_atom(atom));
            bounds.plus(term.factors.iter().fold(Bounds::exactly(term.coefficient), of))
        })
    }

    /// Returns true if an expression is at least that number, whatever its symbols are.
    pub fn at_least(&self, dim: Dim, min: i64) -> bool {
        self.bounds(dim).lower().is_some_and(|known| known >= min)
    }

    /// How little an expression says: known numbers say most, then what inputs decide, what data
    /// decide, and what is not known; of equals, the larger says less.
    pub fn rank(&self, dim: Dim) -> (u8, u32) {
        let origin = |symbol: &Symbol| match symbol.origin {
            Origin::Input => 1,
            Origin::Data(_) => 2,
            Origin::Unknown(_) => 3,
        };
        (self.symbols_of(dim).into_iter().map(origin).max().unwrap_or(0), self.size(dim))
    }

    /// The number of the symbol that an expression is, in the order in which symbols were made.
    pub fn as_symbol_index(&self, dim: Dim) -> Option<u32> {
        let Dim::Symbolic(id) = dim else { return None };
        match &self.atom(self.sum(id).only_atom()?).0 {
            Atom::Symbol(index) => Some(*index),
            _ => None,
        }
    }

    /// Returns true if an expression has a symbol that was made when there were `count` symbols, or
    /// later.
    pub fn is_newer(&self, dim: Dim, count: u32) -> bool {
        self.indices_of(dim).last().is_some_and(|&index| index >= count)
    }

    /// Returns true if an expression has a symbol of which nothing is known.
    pub fn is_unknown(&self, dim: Dim) -> bool {
        self.rank(dim).0 == 3
    }

    /// Returns true if an expression is one symbol and nothing else.
    pub fn as_symbol(&self, dim: Dim) -> Option<&Symbol> {
        let index = self.as_symbol_index(dim)?;
        Some(&self.named[gradus_core::convert::usize_of_u32(index)])
    }

    /// Returns true if an expression never falls where symbols grow. False also where that is not
    /// decided.
    pub fn never_falls(&self, dim: Dim) -> bool {
        let atom = |atom: &AtomId| {
            let (atom, measure) = self.atom(*atom);
            let grows = match atom {
                Atom::Symbol(_) => true,
                Atom::Floor(a, Dim::Known(1..)) => self.never_falls(*a),
                Atom::Min(all) | Atom::Max(all) => all.iter().all(|dim| self.never_falls(*dim)),
                Atom::Floor(..) | Atom::Broadcast(..) => false,
            };
            // A factor below zero turns a product that grows into one that falls.
            (grows, measure.bounds.lower().is_some_and(|least| least >= 0))
        };
        self.as_sum(dim).terms.iter().all(|term| {
            let alone = term.factors.len() == 1;
            let factor = |id| matches!(atom(id), (true, positive) if positive || alone);
            term.coefficient > 0 && term.factors.iter().all(factor)
        })
    }

    /// The value of an expression where its symbols have these values; nothing if one has none, or
    /// where it divides by zero or exceeds 64 bits.
    pub fn evaluate(&self, dim: Dim, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let id = match dim {
            Dim::Known(value) => return Some(value),
            Dim::Symbolic(id) => id,
        };
        let sum = self.sum(id);
        let mut total = sum.constant;
        for term in &sum.terms {
            let mut product = term.coefficient;
            for atom in &*term.factors {
                product = product.checked_mul(self.evaluate_atom(*atom, of)?)?;
            }
            total = total.checked_add(product)?;
        }
        Some(total)
    }

    fn evaluate_atom(&self, atom: AtomId, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match &self.atom(atom).0 {
            Atom::Symbol(index) => of(&self.named[gradus_core::convert::usize_of_u32(*index)].name),
            Atom::Floor(a, b) => sum::floor(self.evaluate(*a, of)?, self.evaluate(*b, of)?),
            Atom::Min(all) => {
                all.iter().map(|dim| self.evaluate(*dim, of)).collect::<Option<Vec<_>>>()?.into_iter().min()
            }
            Atom::Max(all) => {
                all.iter().map(|dim| self.evaluate(*dim, of)).collect::<Option<Vec<_>>>()?.into_iter().max()
            }
            Atom::Broadcast(a, b) => {
                let a = self.evaluate(*a, of)?;
                if a == 1 { self.evaluate(*b, of) } else { Some(a) }
            }
        }
    }

    fn expr(&self, id: ExprId) -> &(Arc<Sum>, Measure) {
        &self.exprs[gradus_core::convert::usize_of_u32(id.0)]
    }

    fn sum(&self, id: ExprId) -> &Sum {
        &self.expr(id).0
    }

    fn atom(&self, id: AtomId) -> &(Atom, Measure) {
        &self.atoms[gradus_core::convert::usize_of_u32(id.0)]
    }

    /// A dim as a sum.
    fn as_sum(&self, dim: Dim) -> Arc<Sum> {
        match dim {
            Dim::Known(value) => Arc::new(Sum::constant(value)),
            Dim::Symbolic(id) => self.expr(id).0.clone(),
        }
    }

    fn intern_atom(&mut self, atom: Atom, measure: Measure) -> AtomId {
        if let Some(&id) = self.atom_ids.get(&atom) {
            return id;
        }
        let id = AtomId(gradus_core::convert::small_u32(self.atoms.len()));
        self.atom_ids.insert(atom.clone(), id);
        self.atoms.push((atom, measure));
        id
    }

    fn atom_dim(&mut self, atom: AtomId) -> Dim {
        self.intern(Sum::atom(atom)).unwrap_or(Dim::ZERO)
    }

    /// The dim that a sum is, unless it is too large.
    fn intern(&mut self, sum: Sum) -> Option<Dim> {
        let sum = if self.has_extremes(&sum) { self.with_canonical_extremes(sum) } else { sum };
        self.intern_as_is(sum)
    }

    /// The dim that a canonical sum is, unless it is too large.
    fn intern_as_is(&mut self, sum: Sum) -> Option<Dim> {
        if sum.terms.is_empty() {
            return Some(Dim::Known(sum.constant));
        }
        if let Some(&id) = self.expr_ids.get(&sum) {
            return Some(Dim::Symbolic(id));
        }
        let measure = self.measure(&sum);
        // The minimum of int64 has no opposite, so it could not be printed after a minus.
        let min = |value: i64| value == i64::MIN;
        if measure.size > LARGEST || min(sum.constant) || sum.terms.iter().any(|term| min(term.coefficient)) {
            return None;
        }
        if let (Some(min), Some(max)) = (measure.bounds.lower(), measure.bounds.upper())
            && min == max
        {
            return Some(Dim::Known(min));
        }
        let id = ExprId(gradus_core::convert::small_u32(self.exprs.len()));
        let sum = Arc::new(sum);
        self.expr_ids.insert(sum.clone(), id);
        self.exprs.push((sum, measure));
        Some(Dim::Symbolic(id))
    }

    fn measure(&self, sum: &Sum) -> Measure {
        let mut size = u32::from(sum.constant != 0);
        for Term { factors, coefficient } in &sum.terms {
            let atoms = factors.iter().map(|&atom| self.atom(atom).1.size);
            size = atoms.fold(size, u32::saturating_add).saturating_add(u32::from(*coefficient != 1));
        }
        Measure { bounds: self.bounds_of(sum), size }
    }

    fn size(&self, dim: Dim) -> u32 {
        match dim {
            Dim::Known(_) => 1,
            Dim::Symbolic(id) => self.expr(id).1.size,
        }
    }

    fn remembered(
        &mut self,
        operation: DimOperation,
        a: Dim,
        b: Dim,
        work: impl FnOnce(&mut Self) -> Option<Dim>,
    ) -> Option<Dim> {
        if let Some(result) = self.results.get(&(operation, a, b)) {
            return *result;
        }
        let result = work(self);
        self.results.insert((operation, a, b), result);
        result
    }
}
