//! Outputs of nodes that become constants, where these are exact and not larger than what computes
//! them.

use gradus_core::Tensor;
use gradus_core::convert::u64_of;
use gradus_core::graph::{Origin, ValueId};

use super::{FoldState, Read};
use crate::fact::{Fact, TensorFact};
use crate::fold::dialect::Role;
use crate::fold::reproducible::{has_negative_zero, is_exact, is_settled, is_whole, widens};
use crate::fold::rules::{NodeView, Pass};
use crate::fold::{GraphFolder, intervals, representable};
use crate::operator;

/// Bytes of a constant that may be larger than what computes it.
const SMALL: u64 = 1 << 10;

/// Bytes of a constant that may take the place of nodes that read small constants alone.
const LARGE: u64 = 1 << 14;

/// Maximum number of nodes between a constant and the constants that it replaces.
const MAX_REPLACED: usize = 32;

/// Change in the bytes of a model if a constant takes the place of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gain {
    Some,
    /// If the other readers of its constants go.
    Later,
    None,
}

impl FoldState<'_> {
    /// Finds which outputs of a node are constants.
    pub(super) fn constants(&mut self, folder: &mut GraphFolder<'_>, index: usize) {
        let (node, role) = (&self.graph.nodes()[index], self.nodes[index].role);
        let whole = |id: ValueId| self.values[id.index()].fact.dtype().is_some_and(is_whole);
        let all_whole = node.inputs.iter().chain(&node.outputs).flatten().all(|id| whole(*id));
        let operator = NodeView::new(self, index).operator();
        let alone = matches!(role, Role::Shape | Role::Size)
            || matches!(operator, "SequenceLength" | "OptionalHasElement");
        // The last input of CastLike is there for its type.
        let count = if operator == "CastLike" { 1 } else { usize::MAX };
        let inputs = alone || node.needs().take(count).all(|id| self.values[id.index()].exact);
        let dtype = |id: Option<ValueId>| id.and_then(|id| self.values[id.index()].fact.dtype());
        let (from, to) = (node.inputs.first().copied(), node.outputs.first().copied());
        let widens = widens(self.standard, role, dtype(from.flatten()), dtype(to.flatten()));
        let exact = match operator::find(folder.model.operators(), node) {
            Some(_) => all_whole,
            None => is_exact(self.standard, node, all_whole) && !widens,
        };
        // Quantized weights stay narrow.
        let widens = widens || operator == "DequantizeLinear";
        let computed = self.rules.has(Pass::Arithmetic) && !widens && !NodeView::new(self, index).is_random();
        // The sign of -0 is 0 in some programs.
        let view = NodeView::new(self, index);
        let is_open = view.function() == "Sign"
            && self.result(folder, &view).is_some_and(|result| has_negative_zero(&result));
        let exact = (exact && !is_open) || computed;
        let pass = if all_whole { Pass::Integers } else { Pass::Floats };
        let is_constant = self.rules.has(pass);
        let exact = inputs && (alone || exact || self.is_representable(folder, index));
        let exact = exact || (!inputs && self.is_settled(folder, index));
        let single = node.outputs.iter().flatten().count() == 1;
        for id in node.outputs.iter().copied().flatten() {
            self.values[id.index()].exact = exact;
            // An output that must keep its name cannot be replaced if its node has others.
            let movable = single || !(self.values[id.index()].fixed || self.values[id.index()].output);
            if !exact || !movable || !is_constant || role == Role::Constant {
                continue;
            }
            let Fact::Tensor(fact) = &self.values[id.index()].fact else { continue };
            let Some(tensor) = fact.tensor_within(folder.given.max_bytes) else { continue };
            let first = self.fact(node, 0).and_then(Fact::as_tensor).and_then(TensorFact::tensor);
            if !computed && !is_settled(self.standard, node, &[first.as_ref()], &tensor) {
                continue;
            }
            match self.gain(index, u64_of(tensor.byte_len())) {
                Gain::Some => self.values[id.index()].read = Read::Constant(tensor),
                gain => {
                    self.values[id.index()].costly = true;
                    folder.report.unsettled |= gain == Gain::Later;
                }
            }
        }
    }

    /// Compares `bytes` with the constants that nothing needs without the node that computes the
    /// value.
    fn gain(&self, index: usize, bytes: u64) -> Gain {
        if bytes <= SMALL {
            return Gain::Some;
        }
        let (mut alone, mut shared) = (0u64, 0u64);
        let (mut open, mut nodes) = (vec![index], MAX_REPLACED);
        while let Some(index) = open.pop() {
            for (_, id) in NodeView::new(self, index).reads() {
                let bytes = match (&self.values[id.index()].read, self.graph.value(id).origin) {
                    (Read::Constant(tensor), _) => u64_of(tensor.byte_len()),
                    (_, Origin::Node(before, _)) if self.nodes[before].role == Role::Constant => {
                        let fact = self.values[id.index()].fact.as_tensor();
                        fact.and_then(TensorFact::tensor).map_or(0, |tensor| u64_of(tensor.byte_len()))
                    }
                    (_, Origin::Node(before, _)) => {
                        if nodes > 0 {
                            nodes -= 1;
                            open.push(before);
                        }
                        continue;
                    }
                    _ => self
                        .graph
                        .constant(id)
                        .map_or(0, |stored| u64::try_from(stored.byte_len()).unwrap_or(u64::MAX)),
                };
                let of = if self.is_read_once(id) { &mut alone } else { &mut shared };
                *of = of.saturating_add(bytes);
            }
        }
        let all = alone.saturating_add(shared);
        match bytes {
            _ if bytes <= alone || (bytes <= LARGE && all <= SMALL) => Gain::Some,
            _ if bytes <= all => Gain::Later,
            _ => Gain::None,
        }
    }

    /// Returns true if a node computes floats that rounding does not change.
    fn is_representable(&self, folder: &GraphFolder<'_>, index: usize) -> bool {
        let view = NodeView::new(self, index);
        let result = || self.result(folder, &view);
        representable::may_be(&view)
            && result().is_some_and(|result| representable::is_representable(&view, &result))
    }

    /// Returns true if a node computes what rounding of the floats before it does not change.
    fn is_settled(&self, folder: &GraphFolder<'_>, index: usize) -> bool {
        let view = NodeView::new(self, index);
        let result = || self.result(folder, &view);
        self.rules.has(Pass::Settled)
            && intervals::may_be(&view)
            && result().is_some_and(|result| intervals::is_settled(&view, &result))
    }

    /// The first output of a node, if it is known.
    fn result(&self, folder: &GraphFolder<'_>, view: &NodeView<'_, '_>) -> Option<Tensor> {
        let fact = self.values[view.output()?.index()].fact.as_tensor()?;
        fact.tensor_within(folder.given.max_bytes)
    }
}
