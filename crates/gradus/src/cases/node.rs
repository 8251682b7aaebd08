//! Models of one random node.

use std::collections::HashMap;

use gradus_core::graph::{self, Attribute, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Type};
use gradus_core::{DType, Result, Tensor, Value};

use crate::model::Model;
use crate::operators::Row;
use crate::schema::{Arity, AttributeRule, Param, Signature};

/// The choices of a random node that its signature leaves open.
pub trait Draw {
    /// The tensor of an input, and whether it is a constant of the model.
    fn tensor(&mut self, random: &mut fastrand::Rng, input: usize, dtype: DType) -> (Tensor, bool);

    /// The content of an attribute; none if it is left out.
    fn attribute(&mut self, random: &mut fastrand::Rng, rule: &AttributeRule) -> Option<Content>;

    /// The number of inputs.
    fn inputs(&mut self, random: &mut fastrand::Rng, signature: &Signature) -> usize {
        few_inputs(random, signature)
    }

    /// Returns true if an attribute is given.
    fn gives(&mut self, random: &mut fastrand::Rng, rule: &AttributeRule) -> bool {
        mostly_given(random, rule)
    }

    /// The number of outputs.
    fn outputs(&mut self, _: &mut fastrand::Rng, signature: &Signature) -> usize {
        signature.outputs.len().clamp(1, 4)
    }
}

/// A node of some version of an operator, with inputs and attributes that its signature allows by
/// type, or nearly so.
#[derive(Clone, Debug)]
pub struct RandomNode {
    /// The model of the node.
    pub model: Model,
    /// The inputs of the model, by name.
    pub values: HashMap<String, Value>,
}

impl RandomNode {
    /// A node of an operator, of what `draw` chooses.
    ///
    /// # Errors
    /// Errors of the builder of graphs.
    pub fn new(
        random: &mut fastrand::Rng,
        row: &Row,
        signature: &Signature,
        draw: &mut dyn Draw,
    ) -> Result<RandomNode> {
        let mut builder = Builder::new("random node");
        let (mut names, mut values) = (Vec::new(), HashMap::new());
        let mut types: HashMap<&str, DType> = HashMap::new();
        for index in 0..draw.inputs(random, signature) {
            let param = &signature.inputs[index.min(signature.inputs.len() - 1)];
            let admitted: Vec<_> = param.types.tensor.iter().collect();
            if admitted.is_empty() || (param.arity == Arity::Optional && random.bool()) {
                names.push(String::new());
                continue;
            }
            let any = admitted[random.usize(..admitted.len())];
            let of_variable = *types.entry(param.variable).or_insert(any);
            let odd = random.usize(..20) == 0;
            let dtype = if odd { DType::ALL[random.usize(..DType::ALL.len())] } else { of_variable };
            let (name, (value, constant)) = (format!("in{index}"), draw.tensor(random, index, dtype));
            if constant {
                builder.constant(&name, value.into())?;
                names.push(name);
                continue;
            }
            let id = builder.define(&name, Origin::Input)?;
            let dims = value.shape().dims().iter().map(|&len| DeclaredDim::Known(len)).collect();
            builder.info(id).declared = Some(Type::Tensor(Some(dtype), Some(dims)));
            values.insert(name.clone(), Value::from(value));
            names.push(name);
        }
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let attributes = attributes(random, signature, draw);
        let outputs: Vec<_> =
            (0..draw.outputs(random, signature)).map(|index| format!("out{index}")).collect();
        let outputs: Vec<_> = outputs.iter().map(String::as_str).collect();
        let named = |key: &String| (!key.is_empty()).then(|| builder.reference(key));
        let inputs: Vec<_> = names.iter().map(named).collect();
        let node = Node {
            name: "".into(),
            operator: OperatorId { domain: row.domain.into(), name: row.name.into(), overload: "".into() },
            version: Some(signature.since),
            inputs: inputs.into(),
            outputs: Vec::new().into(),
            attributes,
            position: None,
        };
        builder.push(node, &outputs)?;
        for name in &outputs {
            builder.output(name);
        }
        let mut source = graph::Model::new(row.standard);
        source.opsets = vec![(row.domain.into(), signature.since)];
        source.graph = builder.finish()?;
        Ok(RandomNode { model: Model::from_source(source), values })
    }
}

/// A number of inputs, few of them rarely.
pub(super) fn few_inputs(random: &mut fastrand::Rng, signature: &Signature) -> usize {
    let several = |param: &Param| matches!(param.arity, Arity::Many { .. });
    let more = if signature.inputs.last().is_some_and(several) { random.usize(..3) } else { 0 };
    let count = signature.inputs.len() + more;
    if random.usize(..30) == 0 { random.usize(..=count) } else { count }
}

/// Returns true for half of the attributes, and for nearly all that are required.
pub(super) fn mostly_given(random: &mut fastrand::Rng, rule: &AttributeRule) -> bool {
    (rule.required || random.bool()) && random.usize(..30) > 0
}

/// Attributes of a signature: those that are required, and some of the others.
fn attributes(random: &mut fastrand::Rng, signature: &Signature, draw: &mut dyn Draw) -> Vec<Attribute> {
    let given: Vec<_> = signature.attributes.iter().filter(|rule| draw.gives(random, rule)).collect();
    let named = |rule: &AttributeRule| {
        let content = draw.attribute(random, rule)?;
        Some(Attribute { name: rule.name.into(), content })
    };
    given.into_iter().filter_map(named).collect()
}
