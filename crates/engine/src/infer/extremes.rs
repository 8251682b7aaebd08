//! The smallest and the largest element of integer inputs, and the conditions that follow.

use gradus_core::DType;
use gradus_core::graph::{Origin as From, ValueId};
use gradus_core::sort::SharedSort;

use super::context::InferContext;
use super::remarks::ElementRange;
use crate::dim::{Condition, Dim, Relation};
use crate::fact::{Elements, Extremes, TensorFact, range_of};
use crate::operators::operation::Operation;
use crate::operators::row::Role;

impl<'m> InferContext<'_, 'm> {
    /// The smallest and the largest element of an input of integers or truth values that has
    /// elements, if sizes decide them.
    pub fn extremes(&mut self, input: usize) -> Option<Extremes> {
        self.read(input);
        let fact = self.tensor(input)?.clone();
        self.extremes_of(&fact)
    }

    /// The smallest and the largest element of a tensor of integers or truth values that has
    /// elements, if sizes decide them.
    pub(super) fn extremes_of(&mut self, fact: &TensorFact) -> Option<Extremes> {
        /// Elements whose minimum is one expression.
        const MAX_OPERANDS: usize = 8;
        let dtype = fact.dtype?;
        if dtype == DType::Bool && fact.elements == Elements::Unknown {
            return Some(Extremes { min: Dim::ZERO, max: Dim::ONE, attained: [false; 2] });
        }
        if !dtype.is_integer() {
            return None;
        }
        let (min, max) = match &fact.elements {
            Elements::Extremes(all) => {
                let symbols = self.symbols();
                return all.iter().copied().map(Some).reduce(|a, b| a?.joined(b?, symbols)).flatten();
            }
            Elements::Progression(both) => {
                let (first, step) = **both;
                let dims = fact.dims.clone()?;
                let symbols = self.symbols();
                let count = symbols.product(dims.iter().copied())?;
                let steps = symbols.subtract(count, Dim::ONE)?;
                let span = symbols.multiply(steps, step)?;
                let last = symbols.add(first, span)?;
                if symbols.at_least(step, 0) {
                    (first, last)
                } else if symbols.bounds(step).upper().is_some_and(|most| most <= 0) {
                    (last, first)
                } else {
                    return None;
                }
            }
            Elements::Known(tensor) => {
                let all = tensor.to_i64().ok()?;
                (Dim::Known(*all.iter().min()?), Dim::Known(*all.iter().max()?))
            }
            Elements::Integers(all) => {
                let symbols = self.symbols();
                let mut each = all.to_vec();
                each.shared_sort();
                each.dedup();
                let known = each.iter().filter(|dim| dim.known().is_some()).copied();
                let ends = known.clone().min().into_iter().chain(known.max());
                let open: Vec<_> = each.iter().filter(|dim| dim.known().is_none()).copied().collect();
                if open.len() > MAX_OPERANDS {
                    return None;
                }
                let mut both: Option<(Dim, Dim)> = None;
                for dim in ends.chain(open) {
                    both = Some(match both {
                        Some((min, max)) => (symbols.min(min, dim)?, symbols.max(max, dim)?),
                        None => (dim, dim),
                    });
                }
                both?
            }
            Elements::Unknown | Elements::Fractions(_) => return None,
        };
        let of_sizes = |dim: Dim| self.pass.shared.symbols.rank(dim).0 <= 1;
        (of_sizes(min) && of_sizes(max)).then_some(Extremes { min, max, attained: [true; 2] })
    }

    /// The smallest and the largest element of an input in another order, each at least as often as
    /// it is there: of some of them only, if not all are kept.
    pub fn moved(&mut self, input: usize, all: bool) -> Elements {
        let Some(extremes) = self.extremes(input) else { return Elements::Unknown };
        if all { extremes } else { extremes.of_some() }.elements()
    }

    /// The smallest and the largest element of an input of integers at each index of its last axis,
    /// which has that size.
    pub fn columns(&mut self, input: usize, count: usize) -> Option<Vec<Extremes>> {
        if let Elements::Extremes(all) = self.elements(input)
            && all.len() == count
        {
            return Some(all.to_vec());
        }
        let all = self.extremes(input)?;
        Some(vec![if count == 1 { all } else { all.of_some() }; count])
    }

    /// Notes that the node checks, if a tensor of these dimensions has elements, that a size is at
    /// least a number.
    pub fn require_if_any(&mut self, dims: &[Dim], size: Dim, least: Dim) {
        if self.symbols().rank(least).0 > 1 {
            return;
        }
        let mut guards = Vec::new();
        for &dim in dims {
            let symbols = self.symbols();
            // A multiple of a dimension of 0 requires nothing more.
            if symbols.at_least(dim, 1) || symbols.divides(dim, least) {
                continue;
            }
            let guard = symbols.shortest(Condition::new(dim, Relation::AtLeast, Dim::ONE));
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        self.guarded(&guards, |cx| cx.require(size, Relation::AtLeast, least));
    }

    /// Notes that each element of an input must lie from one number to another, if they are those
    /// of an input of the model.
    pub fn require_elements(&mut self, input: usize, min: Dim, max: Dim) {
        if self.pass.depth > 0 {
            return;
        }
        if [min, max].iter().any(|&dim| self.symbols().rank(dim).0 > 1) {
            if self.is_of_model(input) {
                let [min, max] = [min, max].map(|end| self.symbols().print(end).to_string());
                let what = self.input_label(input);
                self.require_of_values(format!("elements of {what} are from {min} to {max}"));
            }
            return;
        }
        let Some((name, added)) = self.id(input).and_then(|id| self.input_of(id)) else { return };
        let [min, max] = [min, max].map(|end| self.subtract(end, Dim::Known(added)));
        let elements = ElementRange { input: name.to_owned(), min, max };
        if self.pass.conditions.iter().all(|noted| noted.elements.as_ref() != Some(&elements)) {
            let node = self.label();
            self.pass.note_elements(elements, node);
        }
    }

    /// Returns true if the elements of an input are those of an input of the model, or follow from
    /// them by a sum.
    pub fn is_of_model(&mut self, input: usize) -> bool {
        self.pass.depth == 0 && self.id(input).is_some_and(|id| self.input_of(id).is_some())
    }

    /// The comparison that makes an input, if it compares another input with one integer, and that
    /// integer.
    pub fn compared_with(&mut self, truth: usize, input: usize) -> Option<(Operation, Dim)> {
        let graph = self.frame.graph;
        let From::Node(index, 0) = graph.value(self.id(truth)?).origin else { return None };
        let node = &graph.nodes()[index];
        let [Some(first), Some(second)] = *node.inputs else { return None };
        let operation = self.pass.resolve(node).row()?.operation.filter(|of| of.orders())?;
        if Some(first) != self.id(input) {
            return None;
        }
        self.pass.read(self.frame, second);
        let fact = self.frame.facts[second.index()].as_tensor()?.clone();
        let all = self.extremes_of(&fact).filter(|all| all.min == all.max)?;
        Some((operation, all.min))
    }

    /// The input of the graph whose elements, each at least once, are those of a value, and the
    /// number that is added to each.
    fn input_of(&mut self, id: ValueId) -> Option<(&'m str, i64)> {
        let (mut id, mut added) = (id, 0i64);
        loop {
            let graph = self.frame.graph;
            let (index, 0) = (match graph.value(id).origin {
                From::Input => return Some((&graph.value(id).name, added)),
                From::Node(index, output) => (index, output),
                _ => return None,
            }) else {
                return None;
            };
            let node = &graph.nodes()[index];
            let value = |input: usize| node.inputs.get(input).copied().flatten();
            let next = value(0)?;
            let facts = &self.frame.facts;
            let fact = |id: ValueId| facts[id.index()].as_tensor();
            let row = self.pass.resolve(node).row()?;
            match row.role {
                Role::Copy | Role::Reshape | Role::View | Role::Transpose => {}
                Role::Cast => {
                    let range = |id: ValueId| range_of(fact(id)?.dtype?);
                    let (from, to) = (range(next)?, range(id)?);
                    if from.0 < to.0 || to.1 < from.1 {
                        return None;
                    }
                }
                _ if row.operation == Some(Operation::Add) => {
                    let Elements::Integers(all) = &fact(value(1)?)?.elements else { return None };
                    let [Dim::Known(number)] = **all else { return None };
                    added = added.checked_add(number)?;
                }
                _ => return None,
            }
            id = next;
        }
    }
}
