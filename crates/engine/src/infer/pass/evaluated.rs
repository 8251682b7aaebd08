//! Elements of values: constants that are read or evaluated, and symbols for small tensors.

use std::sync::Arc;

use gradus_core::convert::product;
use gradus_core::graph::{Constant, Node, Origin as From, ValueId};
use gradus_core::tensor::byte_len;
use gradus_core::text::name_in_message;
use gradus_core::{DType, Kind, Shape, Value};

use super::Pass;
use super::graph_facts::{GraphFacts, label};
use crate::dim::{Bounds, Origin};
use crate::fact::{Elements, Fact, TensorFact};
use crate::infer::remarks::Problem;
use crate::infer::rules::Resolved;
use crate::op::EvalContext;
use crate::program::{Compiler, RunOptions, RunState};

/// Maximum number of elements of a small tensor of integers that get a symbol each.
const MAX_SYMBOLS: usize = 8;

impl<'m> Pass<'m> {
    /// Returns true if a constant of that type and shape is small enough to be read or computed.
    fn is_small(&self, dtype: Option<DType>, shape: &Shape) -> bool {
        // Texts are counted by their number.
        let bytes = dtype.map_or(0, |dtype| byte_len(dtype, shape)).max(product(shape.len(), 1));
        bytes <= u128::from(self.max_bytes)
    }

    /// Returns true if no tensor of these values is known to be large.
    fn may_be_small<'v>(
        &self,
        frame: &GraphFacts<'m>,
        mut values: impl Iterator<Item = &'v ValueId>,
    ) -> bool {
        let small = |tensor: &TensorFact| tensor.shape().is_none_or(|s| self.is_small(tensor.dtype, &s));
        values.all(|id| frame.facts[id.index()].as_tensor().is_none_or(small))
    }

    /// The inputs of a node, if all of them are small constants.
    fn values(&mut self, frame: &mut GraphFacts<'m>, node: &Node) -> Option<Vec<Option<Value>>> {
        let shaped =
            |id: &ValueId| frame.facts[id.index()].as_tensor().is_none_or(|tensor| tensor.shape().is_some());
        let inputs = node.inputs.iter().flatten();
        if !inputs.clone().all(shaped) || !self.may_be_small(frame, inputs) {
            return None;
        }
        let value = |id: &Option<ValueId>| match *id {
            None => Some(None),
            Some(id) => {
                self.read(frame, id);
                frame.facts[id.index()].value_within(self.max_bytes).map(Some)
            }
        };
        node.inputs.iter().map(value).collect()
    }

    /// Evaluates a node of which all inputs are constants.
    pub(super) fn evaluated(
        &mut self,
        frame: &mut GraphFacts<'m>,
        node: &'m Node,
        index: usize,
        resolved: &Resolved<'m>,
    ) {
        let signature = match resolved {
            Resolved::Rule { signature: Some(signature), evaluates: true, .. } => Some(*signature),
            Resolved::Registered(_) => None,
            _ => return,
        };
        if node.graphs().next().is_some() {
            return;
        }
        let outputs = node.outputs.iter().flatten();
        let Some(inputs) = self.values(frame, node).filter(|_| self.may_be_small(frame, outputs)) else {
            return;
        };
        // Results may take a few times the bytes while they are made, as those in float64.
        let mut limits = self.limits;
        (limits.max_bytes, limits.max_steps) = (self.max_bytes.saturating_mul(8), 1);
        let options = RunOptions { limits: Some(limits), ..RunOptions::default() };
        let mut run = RunState::new(&options);
        // Results that chance decides are not known before a run.
        (run.work, run.seed) = (self.shared.work, None);
        let compiler = Compiler::plain(self.standard, options).with_parameters(frame.parameters.clone());
        let inputs: Vec<_> = inputs.iter().map(Option::as_ref).collect();
        let mut evaluate = || {
            let op = match (resolved, signature) {
                (Resolved::Rule { row, .. }, Some(signature)) => {
                    signature.check_inputs(&inputs)?;
                    compiler.build(node, signature, row)?
                }
                (Resolved::Registered(operator), _) => compiler.registered(operator, node),
                _ => return Ok(Vec::new()),
            };
            op.eval(&mut EvalContext {
                inputs: &inputs,
                operator: "",
                outputs: node.outputs.len(),
                signature,
                inferred: &[],
                frame: &[],
                run: &mut run,
            })
        };
        let values = evaluate();
        self.shared.work = run.work;
        let values = match values {
            Ok(values) => values,
            // Every run of the node fails. Of one that is too large, or that chance decides, nothing
            // is known.
            Err(error) if matches!(error.kind(), Kind::Type | Kind::Shape | Kind::Value) => {
                return self.problem(frame, node, index, &error);
            }
            Err(_) => return,
        };
        for (output, value) in node.outputs.iter().zip(values) {
            if let Some(id) = output {
                let fact = &mut frame.facts[id.index()];
                let before = fact.as_tensor().and_then(TensorFact::shape);
                let after = Fact::of(&value);
                let agrees =
                    before.is_none_or(|before| after.as_tensor().and_then(TensorFact::shape) == Some(before));
                debug_assert!(
                    agrees || signature.is_none(),
                    "{}: the rule says {fact:?}, the evaluation {after:?}",
                    node.operator
                );
                *fact = after;
            }
        }
    }

    /// Gives each element of a small tensor of integers a symbol, so that two uses of it are known
    /// to be the same.
    pub(super) fn symbols_for_elements(&mut self, frame: &mut GraphFacts<'m>, node: &'m Node, index: usize) {
        for output in node.outputs.iter().flatten() {
            let Fact::Tensor(fact) = &frame.facts[output.index()] else { continue };
            let count =
                fact.shape().filter(|shape| shape.rank() <= 1).map_or(usize::MAX, |shape| shape.len());
            let whole = matches!(fact.dtype, Some(DType::I64 | DType::I32));
            let open = matches!(fact.elements, Elements::Unknown | Elements::Extremes(_));
            if !whole || !open || count > MAX_SYMBOLS {
                continue;
            }
            let data = frame.depends[output.index()];
            let why: Arc<str> = format!("what {} computes", label(node, index)).into();
            let origin = if data { Origin::Data(why) } else { Origin::Unknown(why) };
            let dims = (0..count)
                .map(|_| self.shared.symbols.fresh(&node.operator.name, origin.clone(), Bounds::ANY));
            let dims: Vec<_> = dims.collect();
            let elements = Elements::Integers(self.list(dims));
            if let Fact::Tensor(fact) = &mut frame.facts[output.index()] {
                fact.elements = elements;
            }
        }
    }

    /// Reads the elements of a small constant, if it is one and they are not read yet.
    pub fn read(&mut self, frame: &mut GraphFacts<'m>, id: ValueId) {
        let fact = &frame.facts[id.index()];
        let Fact::Tensor(TensorFact { elements: Elements::Unknown, .. }) = fact else { return };
        match frame.graph.value(id).origin {
            From::Constant => {}
            From::Input if self.fixed_defaults => {}
            _ => return,
        }
        let small = |constant: &&Constant| self.is_small(Some(constant.dtype()), constant.shape());
        let Some(constant) = frame.graph.constant(id).filter(small) else { return };
        match constant.tensor() {
            Ok(tensor) => {
                let mut read = TensorFact::of(tensor);
                if let Elements::Integers(all) = &mut read.elements {
                    *all = self.list(all.clone());
                }
                frame.facts[id.index()] = Fact::Tensor(read);
            }
            Err(error) => {
                let place = format!("value \"{}\"", name_in_message(&frame.graph.value(id).name));
                let (kind, message) = (error.kind(), error.to_string());
                self.problems.push(Problem { kind, place, message, node: None });
            }
        }
    }
}
