//! A node that is written in place of another, or next to it, in the form of the model's operator
//! set.

use gradus_core::graph::{Attribute, ValueId};
use gradus_core::{Result, Tensor};

use super::node_view::NodeView;
use crate::attributes::NewAttributes;
use gradus_engine::conversion::writer::downgrade::{Target, in_form_of};

/// A value that a node reads after folding.
#[derive(Clone, Debug)]
pub(in crate::fold) enum Source {
    /// A value of the graph.
    Value(ValueId),
    /// A value of the graph with its four axes in another order, which a new node gives it.
    Transposed(ValueId, [i64; 4]),
    /// A constant.
    Tensor(Tensor),
    /// An optional input that is missing.
    Missing,
}

/// A node that is written in place of another (ONNX), in the newest form of its operator.
#[derive(Debug)]
pub(in crate::fold) struct Replacement {
    pub(in crate::fold) operator: &'static str,
    pub(in crate::fold) inputs: Vec<Source>,
    pub(in crate::fold) attributes: Vec<Attribute>,
}

impl Replacement {
    /// A node of the newest version of an operator of ONNX.
    pub(in crate::fold) fn new(
        operator: &'static str,
        inputs: Vec<Source>,
        attributes: NewAttributes,
    ) -> Replacement {
        Replacement { operator, inputs, attributes: Attribute::list(attributes) }
    }

    /// Its inputs and attributes in the form of the operator set.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Unsupported`] if there is none.
    pub(in crate::fold) fn in_set(
        &self,
        opset: i64,
        view: &NodeView<'_, '_>,
    ) -> Result<(Vec<Source>, Vec<Attribute>)> {
        let mut set = OperatorSet { opset, known: |source: &Source| view.constant_of(source) };
        let (mut inputs, mut attributes) = (self.inputs.clone(), self.attributes.clone());
        in_form_of(&mut set, self.operator, &mut inputs, &mut attributes)?;
        Ok((inputs, attributes))
    }
}

/// The operator set of a model, and the constants among the values that nodes read.
struct OperatorSet<K> {
    opset: i64,
    known: K,
}

impl<K: Fn(&Source) -> Option<Tensor>> Target for OperatorSet<K> {
    type Value = Source;

    fn opset(&self) -> i64 {
        self.opset
    }

    fn missing() -> Source {
        Source::Missing
    }

    fn is_missing(source: &Source) -> bool {
        matches!(source, Source::Missing)
    }

    fn known(&self, source: &Source) -> Result<Option<Tensor>> {
        Ok((self.known)(source))
    }

    fn tensor(&mut self, tensor: Tensor) -> Source {
        Source::Tensor(tensor)
    }
}

/// The inputs after the first and the attributes of a node that reads a value and a constant, in
/// the form of the operator set.
///
/// # Errors
/// [`gradus_core::Kind::Unsupported`] if there is none.
pub(in crate::fold) fn beside_data(
    opset: i64,
    operator: &str,
    constant: Tensor,
    attributes: NewAttributes,
) -> Result<(Option<Tensor>, Vec<Attribute>)> {
    // The first input may be any.
    let data = || Source::Tensor(Tensor::vector::<f32>(&[]));
    let known = |source: &Source| match source {
        Source::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    };
    let (mut inputs, mut attributes) = (vec![data(), Source::Tensor(constant)], Attribute::list(attributes));
    in_form_of(&mut OperatorSet { opset, known }, operator, &mut inputs, &mut attributes)?;
    Ok((inputs.get(1).and_then(known), attributes))
}
