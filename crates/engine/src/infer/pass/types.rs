//! Element types of outputs, where rules leave them open.

use gradus_core::DType;
use gradus_core::convert::i64_of;
use gradus_core::graph::{Node, Standard};

use super::{GraphFacts, Pass};
use crate::dim::Dim;
use crate::fact::{Dims, Elements, Fact, MAX_INTEGERS, TensorFact};
use crate::infer::one_node::types_of_any_rank;
use crate::schema::{Arity, Signature};

impl<'m> Pass<'m> {
    /// The fact, its elements one by one if they are a short progression of known numbers.
    pub(super) fn listed(fact: Fact) -> Fact {
        let Fact::Tensor(tensor) = &fact else { return fact };
        let Elements::Progression(both) = &tensor.elements else { return fact };
        let (first, step) = (both.0.known(), both.1.known());
        let count = tensor.shape().map(|shape| shape.len()).filter(|&count| count <= MAX_INTEGERS);
        let (Some(first), Some(step), Some(count)) = (first, step, count) else { return fact };
        let element = |i| step.checked_mul(i64_of(i))?.checked_add(first).map(Dim::Known);
        match (0..count).map(element).collect::<Option<Dims>>() {
            Some(all) if tensor.dtype.is_some_and(DType::is_integer) => {
                Fact::Tensor(TensorFact { elements: Elements::Integers(all), ..tensor.clone() })
            }
            _ => fact,
        }
    }

    /// Element types of the outputs of a node of which the rule says nothing: those that the table
    /// of ONNX's operators tells are added later, that of OpenVINO's operators has none.
    pub(super) fn types_without_rule(&self, frame: &GraphFacts<'m>, node: &Node) -> Vec<Fact> {
        if self.standard != Standard::OpenVino || node.graphs().next().is_some() {
            return Vec::new();
        }
        let inputs: Vec<_> = node.inputs.iter().flatten().map(|id| &frame.facts[id.index()]).collect();
        types_of_any_rank(self.standard, node, &inputs, self.limits)
    }

    /// The fact with the element type that the signature tells, where the rule leaves it open.
    pub(super) fn typed(
        &self,
        frame: &GraphFacts<'m>,
        node: &Node,
        signature: Option<&Signature>,
        slot: usize,
        fact: Fact,
    ) -> Fact {
        let by_rule = fact != Fact::Unknown;
        let mut fact = Self::typed_by_signature(frame, node, signature, slot, fact);
        // The table of OpenVINO's operators has no types; rules say where an output is not of the
        // first input's. That of an operator that runs graphs is a number of runs or a condition.
        if self.standard == Standard::OpenVino
            && by_rule
            && node.graphs().next().is_none()
            && let Fact::Tensor(TensorFact { dtype: dtype @ None, .. }) = &mut fact
        {
            *dtype = node.inputs.first().copied().flatten().and_then(|id| frame.facts[id.index()].dtype());
        }
        fact
    }

    fn typed_by_signature(
        frame: &GraphFacts<'m>,
        node: &Node,
        signature: Option<&Signature>,
        slot: usize,
        fact: Fact,
    ) -> Fact {
        let open = match &fact {
            Fact::Tensor(tensor) => tensor.dtype.is_none(),
            Fact::Unknown => true,
            _ => false,
        };
        let Some(param) = signature.filter(|_| open).and_then(|s| Signature::param(s.outputs, slot)) else {
            return fact;
        };
        let signature_inputs = signature.map_or(&[][..], |signature| signature.inputs);
        let same = |input: &(usize, &crate::schema::Param)| {
            !param.variable.is_empty() && input.1.variable == param.variable
        };
        let alike = !matches!(param.arity, Arity::Many { alike: false, .. });
        let inputs = signature_inputs.iter().enumerate().filter(same).flat_map(|(index, input)| {
            // For an input that occurs several times, any tells the type.
            let end = if matches!(input.arity, Arity::Many { .. }) {
                node.inputs.len().max(index + 1)
            } else {
                index + 1
            };
            index..end
        });
        let given = || inputs.filter_map(|index| node.inputs.get(index).copied().flatten());
        let dtype = alike.then(|| given().find_map(|id| frame.facts[id.index()].dtype())).flatten();
        let types = param.types;
        let only = || {
            let mut types = types.tensor.iter();
            types.next().filter(|_| types.next().is_none())
        };
        let dtype = dtype.or_else(only);
        match fact {
            Fact::Tensor(tensor) => Fact::Tensor(TensorFact { dtype, ..tensor }),
            _ if types.sequence.is_empty()
                && types.optional.is_empty()
                && !types.other
                && !types.tensor.is_empty() =>
            {
                Fact::tensor_type(dtype)
            }
            other => other,
        }
    }
}
