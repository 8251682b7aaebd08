//! Operators of ONNX in operator sets that lack them, or their newest form: the graphs that their
//! rows name.

use gradus_core::convert::{self, Rules};
use gradus_core::graph::{Attribute, Content, Node, OperatorId, Slots, Standard};
use gradus_core::{DType, Result};
use gradus_formats::onnx::{NEWEST_OPSET, dtype_of};

use super::columns::{OlderForm, OlderWriter};
use super::lowered;
use super::node::ConvertContext;
use super::report::not_known;
use super::writer::{GraphWriter, NONE, NewValue};
use crate::fact::{Fact, TensorFact};
use crate::lowering::{self, Goal, Known, Lower, Wanted};
use crate::operators::{Row, errors, registry};

/// An operator that is written: its inputs and attributes in its newest form.
pub struct New<'a> {
    pub inputs: &'a [NewValue],
    pub attributes: &'a [(&'a str, Content)],
}

impl New<'_> {
    /// The attribute of this name, if it is written.
    pub fn get(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, content)| content)
    }

    /// The integer attribute of this name, or its default.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        if let Some(Content::Int(value)) = self.get(name) { *value } else { default }
    }

    /// The text attribute of this name, if it is written and is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(Content::Bytes(text)) = self.get(name) { std::str::from_utf8(text).ok() } else { None }
    }

    /// The two inputs.
    pub fn two(&self) -> Result<&[NewValue; 2]> {
        self.inputs.first_chunk().ok_or_else(|| errors::missing("input 1"))
    }

    /// The input with this index, if it is given.
    pub fn input(&self, index: usize) -> Option<NewValue> {
        self.inputs.get(index).copied().filter(|&input| input != NONE)
    }
}

fn older_of(target: &GraphWriter, operator: &str) -> Option<(&'static Row, OlderForm)> {
    let row = registry::row(Standard::Onnx, "", operator).filter(|_| target.standard == Standard::Onnx)?;
    row.older.filter(|older| target.opset < older.since).map(|older| (row, older))
}

/// Returns true if an operator is written by other ones.
pub fn is_older(target: &GraphWriter, operator: &str) -> bool {
    older_of(target, operator).is_some()
}

impl ConvertContext<'_, '_> {
    /// The element type of the first input of an operator that is written.
    pub fn operand_dtype(&self) -> Result<DType> {
        match &self.operands {
            Some(operands) => {
                operands.first().and_then(Fact::dtype).ok_or_else(|| not_known("element type of input 0"))
            }
            None => self.dtype(0),
        }
    }

    /// Writes the other operators, if the operator set lacks this one.
    pub fn in_older_set(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Option<Result<Vec<NewValue>>> {
        if operator == "Cast" {
            return self.cast_of_constant(inputs, attributes).transpose();
        }
        let (row, OlderForm { is_whole, write, .. }) = older_of(self.target, operator)?;
        if self.plain == row.name {
            return None;
        }
        if is_whole {
            lowered::note_rounding(self, row.rounding);
        }
        Some(match write {
            OlderWriter::Context(write) => write(self, &New { inputs, attributes }),
            OlderWriter::Graph(lower) => self.in_graph(row.name, lower, inputs, attributes, outputs),
        })
    }

    /// Writes a graph for an operator.
    fn in_graph(
        &mut self,
        operator: &'static str,
        lower: Lower,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Result<Vec<NewValue>> {
        let facts: Vec<_> = (0..inputs.len()).map(|index| self.operand(operator, inputs, index)).collect();
        let held = |value: NewValue| self.target.held(value).cloned();
        let known = |(&value, fact): (&NewValue, &Fact)| {
            (value != NONE).then(|| Known::of_held(fact, held(value), held(value).is_some()))
        };
        let known: Vec<_> = inputs.iter().zip(&facts).map(known).collect();
        let named =
            |(name, content): &(&str, Content)| Attribute { name: (*name).into(), content: content.clone() };
        let node = Node {
            name: "".into(),
            operator: OperatorId { domain: "".into(), name: operator.into(), overload: "".into() },
            version: Some(NEWEST_OPSET),
            inputs: Slots::new(),
            outputs: (0..outputs).map(|_| None).collect(),
            attributes: attributes.iter().map(named).collect(),
            position: None,
        };
        let goal = Goal {
            task: "cannot convert: ",
            opset: self.target.opset,
            limits: self.conversion.limits,
            outputs: vec![Some(Wanted::default()); outputs],
        };
        let written = lowering::write(Standard::Onnx, &node, &known, lower, &goal)?;
        let around = std::mem::replace(&mut self.plain, operator);
        let wanted: Vec<_> = written.graph.outputs().iter().copied().map(Some).collect();
        let values = lowered::noted_graph(self, &written, inputs, &wanted, facts);
        self.plain = around;
        values
    }

    /// The fact about an input of an operator that is written.
    fn operand(&self, operator: &str, inputs: &[NewValue], index: usize) -> Fact {
        if let Some(held) = self.target.held(inputs[index]) {
            let dims = held.shape().dims().iter().map(|&len| len.into()).collect();
            let fact = Fact::Tensor(TensorFact::new(Some(held.dtype()), Some(dims)));
            return lowered::with_elements(&fact, Some(held));
        }
        if let Some(operands) = &self.operands {
            return operands.get(index).cloned().unwrap_or_default();
        }
        // Inputs of other nodes are not those of the operator that they become.
        let is_own =
            &*self.node.operator.name == operator && self.conversion.source.standard == Standard::Onnx;
        if is_own { self.fact(index).clone() } else { Fact::Unknown }
    }

    /// A Cast of a constant whose type the operator set or the runtime does not cast, if it is one:
    /// integers are widened to 8 bits, floats to the type that they are cast to.
    fn cast_of_constant(
        &mut self,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
    ) -> Result<Option<Vec<NewValue>>> {
        let to = match attributes.iter().find(|(name, _)| *name == "to") {
            Some(&(_, Content::Int(number))) => dtype_of(number),
            _ => None,
        };
        let (Some(tensor), Some(to)) = (self.target.known(inputs[0])?, to) else { return Ok(None) };
        let from = tensor.dtype();
        let types = [("T1", from), ("T2", to)];
        let runs = self.conversion.runtime.is_none_or(|runtime| runtime.takes(self.target, "Cast", &types));
        if runs && self.target.admits("Cast", from) {
            return Ok(None);
        }
        let wider = match from {
            DType::I2 | DType::I4 => DType::I8,
            _ if from.is_packed() && from.is_integer() => DType::U8,
            _ => to,
        };
        let widened = self.constant(convert::cast(&tensor, wider, Rules::IEEE)?);
        self.target.put("Cast", &[widened], attributes, 1).map(Some)
    }
}
