//! Arithmetic with sizes, and demands of a node on them. A size without a canonical form becomes a
//! fresh symbol.

use std::fmt;
use std::ops::Range;

use gradus_core::DType;
use gradus_core::convert::i64_of;

use super::{InferContext, InferError};
use crate::dim::{Bounds, Condition, Dim, Origin, Relation, Symbol, Symbols};
use crate::fact::{Dims, range_of};
use crate::infer::element_of_input;
use crate::infer::remarks::Why;
use crate::operators::errors;

impl InferContext<'_, '_> {
    /// Returns true if the limits end inference: loops over what a file names ask from time to
    /// time.
    pub fn is_over(&mut self) -> bool {
        self.pass.is_over()
    }

    /// All symbols and expressions.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.pass.shared.symbols
    }

    /// The node in words.
    pub fn label(&self) -> String {
        self.frame.label(self.node, self.index)
    }

    /// A dimension that the data decide.
    pub fn data(&mut self, what: &str, bounds: Bounds) -> Dim {
        let what = format!("{}: {what}", self.label()).into();
        // Values that depend only on shapes could be expressed by them.
        let origin = if self.depends { Origin::Data(what) } else { Origin::Unknown(what) };
        self.pass.shared.symbols.fresh(&self.node.operator.name, origin, bounds)
    }

    /// The integer that a truth value chooses of two: one of them, or their minimum or maximum,
    /// where the condition says so; else one that the data decide.
    pub fn chosen(&mut self, truth: Option<Dim>, [yes, no]: [Dim; 2], what: &str) -> Dim {
        match truth {
            _ if yes == no => yes,
            Some(Dim::ZERO) => no,
            Some(Dim::Known(_)) => yes,
            _ => truth.and_then(|truth| self.chosen_by(truth, yes, no)).unwrap_or_else(|| {
                let bounds = self.symbols().bounds(yes).either(self.symbols().bounds(no));
                self.data(what, bounds)
            }),
        }
    }

    fn chosen_by(&mut self, truth: Dim, yes: Dim, no: Dim) -> Option<Dim> {
        let pass = &mut *self.pass;
        let (symbols, limits) = (&mut pass.shared.symbols, Some(&pass.limits));
        let on_true = symbols.condition_if(truth)?;
        let on_false = symbols.opposite(&on_true)?;
        let mut shows =
            |given, relation| symbols.follows(&[given], Some(&Condition::new(yes, relation, no)), limits);
        if shows(on_true, Relation::Equal) {
            Some(no)
        } else if shows(on_false, Relation::Equal) {
            Some(yes)
        } else if shows(on_true, Relation::AtLeast) && shows(on_false, Relation::AtMost) {
            symbols.max(yes, no)
        } else if shows(on_true, Relation::AtMost) && shows(on_false, Relation::AtLeast) {
            symbols.min(yes, no)
        } else {
            None
        }
    }

    /// A size that the data decide, and that is at most another.
    pub fn at_most(&mut self, what: &str, most: Dim) -> Dim {
        let bounds = Bounds::between(Some(0), self.symbols().bounds(most).upper());
        let size = self.data(what, bounds);
        self.symbols().limit(size, most);
        size
    }

    /// A dimension that is not known, for that reason.
    pub fn unknown(&mut self, why: &str, bounds: Bounds) -> Dim {
        let origin = Origin::Unknown(format!("{}: {why}", self.label()).into());
        self.pass.shared.symbols.fresh(&self.node.operator.name, origin, bounds)
    }

    /// `rank` dimensions of which only is known that the data decide them.
    pub fn any_dims(&mut self, what: &str, rank: usize) -> Vec<Dim> {
        (0..rank).map(|_| self.data(what, Bounds::SIZE)).collect()
    }

    /// The result of an operation, or a fresh symbol.
    pub fn or_fresh(&mut self, result: Option<Dim>) -> Dim {
        result.unwrap_or_else(|| self.unknown("an expression grows too large", Bounds::ANY))
    }

    /// The sum; a fresh symbol if it exceeds what an expression may be.
    pub fn add(&mut self, a: Dim, b: Dim) -> Dim {
        let sum = self.pass.shared.symbols.add(a, b);
        self.or_fresh(sum)
    }

    /// The difference; a fresh symbol if it exceeds what an expression may be.
    pub fn subtract(&mut self, a: Dim, b: Dim) -> Dim {
        let difference = self.pass.shared.symbols.subtract(a, b);
        self.or_fresh(difference)
    }

    /// The product; a fresh symbol if it exceeds what an expression may be.
    pub fn multiply(&mut self, a: Dim, b: Dim) -> Dim {
        let product = self.pass.shared.symbols.multiply(a, b);
        self.or_fresh(product)
    }

    /// The quotient, rounded down; a fresh symbol if it exceeds what an expression may be.
    pub fn floor_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.floor_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The quotient, rounded toward zero; a fresh symbol if it exceeds what an expression may be.
    pub fn truncated_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.truncated_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The quotient, rounded up; a fresh symbol if it exceeds what an expression may be.
    pub fn ceil_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.ceil_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The minimum; a fresh symbol if it exceeds what an expression may be.
    pub fn min(&mut self, a: Dim, b: Dim) -> Dim {
        let min = self.pass.shared.symbols.min(a, b);
        self.or_fresh(min)
    }

    /// The maximum; a fresh symbol if it exceeds what an expression may be.
    pub fn max(&mut self, a: Dim, b: Dim) -> Dim {
        let max = self.pass.shared.symbols.max(a, b);
        self.or_fresh(max)
    }

    /// The product of a list; a fresh symbol if it exceeds what an expression may be.
    pub fn product(&mut self, dims: &[Dim]) -> Dim {
        let product = self.pass.shared.symbols.product(dims.iter().copied());
        self.or_fresh(product)
    }

    /// Assumes that two are related so, as every run that succeeds implies it.
    pub fn assume(&mut self, a: Dim, relation: Relation, b: Dim) {
        self.assume_for(a, relation, b, Why::Run);
    }

    /// Takes for granted that two are related so, though a run may do without.
    pub fn take_for_granted(&mut self, a: Dim, relation: Relation, b: Dim) {
        self.assume_for(a, relation, b, Why::Taken);
    }

    fn assume_for(&mut self, a: Dim, relation: Relation, b: Dim, why: Why) {
        let (frame, node, index) = (&*self.frame, self.node, self.index);
        self.pass.assume(Condition::new(a, relation, b), why, || frame.label(node, index));
    }

    /// Notes what the node checks when it runs. No run succeeds of what holds for no sizes, unless
    /// it does not apply to all runs.
    pub fn require(&mut self, a: Dim, relation: Relation, b: Dim) {
        let (frame, node, index) = (&*self.frame, self.node, self.index);
        let condition = Condition::new(a, relation, b);
        if self.pass.was_met(condition) {
            return;
        }
        if self.pass.is_unconditional() && self.pass.shared.symbols.never_holds(&condition) {
            let error = errors::unmet(&self.pass.shared.symbols, &condition);
            return self.pass.problem(frame, node, index, &error);
        }
        self.pass.require(condition, Why::Run, || frame.label(node, index));
    }

    /// Returns true if an expression has sizes and elements of inputs alone: symbols that nodes
    /// compute of data have no name that a reader knows.
    pub fn is_told(&mut self, dim: Dim) -> bool {
        let is_told = |symbol: &Symbol| symbol.origin == Origin::Input || element_of_input(symbol).is_some();
        self.symbols().symbols_of(dim).into_iter().all(is_told)
    }

    /// The elements of an input of integers, as far as inputs of the model tell them.
    pub fn told_integers(&mut self, input: usize) -> Vec<Dim> {
        let all = self.integers(input).unwrap_or_default();
        all.iter().copied().filter(|&element| self.is_told(element)).collect()
    }

    /// Notes that the node checks that a number is not 0, if sizes and elements of inputs tell it.
    pub fn require_not_zero(&mut self, number: Dim) {
        if number.known().is_some() || !self.is_told(number) {
            return;
        }
        if self.symbols().at_least(number, 0) {
            self.require(number, Relation::AtLeast, Dim::ONE);
        } else {
            self.require(number, Relation::NotEqual, Dim::ZERO);
        }
    }

    /// Notes that the node checks that elements of an input, which are not known, are axes of a
    /// tensor of that rank.
    pub fn require_axes(&mut self, input: usize, rank: usize) {
        let (first, last) = (Dim::Known(-i64_of(rank)), Dim::Known(i64_of(rank) - 1));
        if self.integers(input).is_none() {
            self.require_elements(input, first, last);
        }
        for axis in self.told_integers(input) {
            self.require(axis, Relation::AtLeast, first);
            self.require(axis, Relation::AtMost, last);
        }
    }

    /// Does work whose conditions apply where others hold.
    pub fn guarded<T>(&mut self, guards: &[Condition], work: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.pass.shared.guards.len();
        self.pass.shared.guards.extend(guards.iter().copied().map(Some));
        let done = work(self);
        self.pass.shared.guards.truncate(around);
        done
    }

    /// Notes what the node checks of values that follow from sizes and are not known.
    pub fn require_of_values(&mut self, text: String) {
        let node = self.label();
        self.pass.note_unchecked(text, node);
    }

    /// The number of conditions that were noted.
    pub fn noted(&self) -> usize {
        self.pass.conditions.len()
    }

    /// Replaces conditions that a body of many iterations noted by what is said of all of them, as
    /// the pass does.
    pub fn settle(
        &mut self,
        noted: Range<usize>,
        each_visited: bool,
        guarded: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Condition>,
        holds: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Vec<Condition>>,
    ) {
        self.pass.settle(noted, each_visited, guarded, holds);
    }

    /// Notes that a number is at least another in every run of the node.
    pub fn note_at_least(&mut self, dim: Dim, least: i64) {
        self.pass.note_at_least(dim, least);
    }

    /// The dimension that two equal dimensions are, proved or assumed.
    pub fn equal(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<Dim, InferError> {
        if a == b {
            return Ok(a);
        }
        self.not_apart(a, b, what)?;
        self.assume(a, Relation::Equal, b);
        let rank = |dim: Dim| self.pass.shared.symbols.rank(dim);
        let (kept, other) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
        self.pass.note_equal(kept, other);
        Ok(kept)
    }

    /// The quotient of a size that must be a multiple of another.
    pub fn multiple(&mut self, size: Dim, of: Dim, what: impl fmt::Display) -> Result<Dim, InferError> {
        let quotient = self.floor_divide(size, of);
        let whole = self.multiply(quotient, of);
        if self.may_be_equal(size, whole, "").is_err() {
            let symbols = self.symbols();
            let wanted = format!("a multiple of {}", symbols.print(of));
            return Err(errors::shape(what, symbols.print(size), wanted).into());
        }
        self.equal(size, whole, what)?;
        Ok(quotient)
    }

    /// Requires that two are equal, and refuses two that never are.
    pub fn not_apart(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<(), InferError> {
        self.may_be_equal(a, b, what)?;
        self.require(a, Relation::Equal, b);
        Ok(())
    }

    /// Returns true if a size is 1 in some run.
    pub(super) fn may_be_one(&mut self, dim: Dim) -> bool {
        let bounds = self.symbols().bounds(dim);
        bounds.lower().is_none_or(|least| least <= 1) && bounds.upper().is_none_or(|most| most >= 1)
    }

    /// Requires that a size is 1 or another, and refuses one that is neither.
    pub(super) fn one_or_equal(
        &mut self,
        own: Dim,
        dim: Dim,
        what: impl fmt::Display,
    ) -> Result<(), InferError> {
        if own == Dim::ONE {
            return Ok(());
        }
        if dim == Dim::ONE || own.known().is_some() || !self.may_be_one(own) {
            return self.not_apart(own, dim, what);
        }
        self.require(own, Relation::Broadcast, dim);
        // If the other is 1, both are.
        if let Some(both) = self.symbols().broadcast(own, dim) {
            self.require(both, Relation::Equal, dim);
        }
        Ok(())
    }

    /// Refuses two that are never equal.
    pub fn may_be_equal(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<(), InferError> {
        let symbols = &mut self.pass.shared.symbols;
        let apart = symbols.subtract(a, b);
        if apart.is_none_or(|apart| !symbols.never_zero(apart)) {
            return Ok(());
        }
        let (a, b) = (symbols.print(a), symbols.print(b));
        Err(errors::shape(what, a, b).into())
    }

    /// The dimensions that several broadcast to.
    pub fn broadcast(&mut self, all: &[Dims]) -> Result<Vec<Dim>, InferError> {
        let rank = all.iter().map(|dims| dims.len()).max().unwrap_or(0);
        let mut result = Vec::with_capacity(rank);
        for axis in 0..rank {
            let mut dim = Dim::ONE;
            for dims in all {
                if let Some(own) = (axis + dims.len()).checked_sub(rank) {
                    dim = self.broadcast_dim(dim, dims[own])?;
                }
            }
            result.push(dim);
        }
        Ok(result)
    }

    fn broadcast_dim(&mut self, a: Dim, b: Dim) -> Result<Dim, InferError> {
        // Dimensions that are equal already need no expression.
        let (a, b) = (self.pass.representative(a), self.pass.representative(b));
        if a == b {
            return Ok(a);
        }
        if let (Dim::Known(x), Dim::Known(y)) = (a, b)
            && x != 1
            && y != 1
        {
            return Err(errors::broadcast(x, y).into());
        }
        let symbols = &mut self.pass.shared.symbols;
        let result = symbols.broadcast(a, b);
        // The node that broadcasts one with others requires it already.
        let mut is_assumed = symbols.is_broadcast_of(a, b) || symbols.is_broadcast_of(b, a);
        if !is_assumed && a != Dim::ONE && b != Dim::ONE {
            // seq broadcasts with min(seq, 64) only if it is at most 64.
            if let Some(whole) = result.filter(|_| self.pass.is_unconditional()) {
                let other = if whole == a { b } else { a };
                let symbols = &mut self.pass.shared.symbols;
                let symbolic = whole.known().is_none() && symbols.at_least(whole, 2);
                // A cap of 1 broadcasts to every size.
                let cap = symbols.cap_of(other, whole).filter(|_| !symbolic);
                is_assumed = true;
                if let Some(most) = cap.filter(|cap| cap.lower() > Some(1)).and_then(Bounds::upper) {
                    self.assume(whole, Relation::AtMost, Dim::Known(most));
                    self.pass.shared.symbols.bound(whole, Bounds::between(None, Some(most)));
                } else if cap != Some(Bounds::exactly(1)) {
                    is_assumed = whole == a || whole == b;
                    if is_assumed {
                        self.assume(a, Relation::Broadcast, b);
                    }
                }
            }
        }
        if !is_assumed {
            self.require(a, Relation::Broadcast, b);
        }
        Ok(self.or_fresh(result))
    }

    /// Returns true if nothing may be taken for granted but what every run implies.
    pub fn is_cautious(&self) -> bool {
        self.pass.cautious
    }

    /// Assumes what runs need not imply, unless nothing of that sort may be.
    pub fn may_assume(&mut self, a: Dim, relation: Relation, b: Dim) -> bool {
        if !self.pass.cautious {
            self.take_for_granted(a, relation, b);
        }
        !self.pass.cautious
    }

    /// Returns true if an element type holds a number: proved, assumed where that is
    /// open, or not.
    pub fn fits(&mut self, dim: Dim, dtype: DType) -> bool {
        let Some((low, high)) = range_of(dtype) else { return false };
        let bounds = self.pass.shared.symbols.bounds(dim);
        match dim {
            Dim::Known(value) => (low..=high).contains(&value),
            _ if dtype.bits() == 64 && low < 0 => true,
            Dim::Symbolic(_) => {
                let above = bounds.lower().is_some_and(|min| min >= low);
                let below = bounds.upper().is_some_and(|most| most <= high);
                // Elements of inputs may be any number; no axis has 2^31 elements, which is what 32
                // bits are used for.
                let is_size = dtype.bits() >= 32 && low < 0;
                let is_element = |symbol: &Symbol| element_of_input(symbol).is_some();
                if !(is_size || above && below) && self.symbols().symbols_of(dim).into_iter().any(is_element)
                {
                    return false;
                }
                if self.pass.cautious && !(above && below) {
                    return dtype.bits() >= 32 && self.pass.shared.symbols.rank(dim).0 <= 1;
                }
                if !above {
                    self.take_for_granted(dim, Relation::AtLeast, Dim::Known(low));
                }
                if !below {
                    self.take_for_granted(dim, Relation::AtMost, Dim::Known(high));
                }
                true
            }
        }
    }
}
