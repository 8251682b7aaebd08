//! Random nodes of the operators of the table, with inputs and attributes of any value.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::HashMap;

use gradus::graph::{self, Attribute, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Type};
use gradus::operators::Row;
use gradus::schema::{Arity, AttributeRule, Param, Signature, Sort};
use gradus::{DType, Model, Shape, Tensor, Value};

/// Integers that stand for sizes, axes, bounds and counts.
const NUMBERS: [i64; 10] = [0, 1, -1, 2, 3, 7, -9, 1 << 40, i64::MAX, i64::MIN];

/// A node of some version of an operator, with any inputs and attributes that its signature allows
/// by type, or nearly so.
pub struct RandomNode {
    pub model: Model,
    pub values: HashMap<String, Value>,
}

fn number(random: &mut fastrand::Rng) -> i64 {
    NUMBERS[random.usize(..NUMBERS.len())]
}

pub fn tensor(random: &mut fastrand::Rng, dtype: DType, shapes: &[&[usize]]) -> Tensor {
    let list = dtype == DType::I64 && random.bool();
    if list {
        let few = if random.bool() { 5 } else { NUMBERS.len() };
        let list: Vec<_> = (0..random.usize(..4)).map(|_| NUMBERS[random.usize(..few)]).collect();
        return Tensor::vector(&list);
    }
    let shape = Shape::new(shapes[random.usize(..shapes.len())]).unwrap();
    Tensor::zeros(dtype, shape).unwrap()
}

fn content(random: &mut fastrand::Rng, sort: Sort) -> Option<Content> {
    Some(match sort {
        Sort::Int => Content::Int(if random.bool() { random.i64(-2..3) } else { number(random) }),
        Sort::Ints => Content::Ints((0..random.usize(..4)).map(|_| number(random)).collect()),
        Sort::Float => Content::Float([0.0, -1.0, 1.5, f32::NAN, f32::INFINITY][random.usize(..5)]),
        Sort::Floats => Content::Floats((0..random.usize(..3)).map(|_| random.f32()).collect()),
        Sort::String => Content::Bytes(["", "linear", "constant", "edge", "LEFT"][random.usize(..5)].into()),
        Sort::Tensor => Content::Tensor(Tensor::scalar(random.f32()).into()),
        _ => return None,
    })
}

#[allow(dead_code, reason = "each test makes nodes in one of the ways")]
impl RandomNode {
    /// A node whose tensors have shapes of the list.
    pub fn new(
        random: &mut fastrand::Rng,
        row: &Row,
        signature: &Signature,
        shapes: &[&[usize]],
    ) -> RandomNode {
        RandomNode::with(random, row, signature, |random, dtype| (tensor(random, dtype, shapes), false))
    }

    /// A node of these tensors, each of which may be a constant of the model.
    pub fn with(
        random: &mut fastrand::Rng,
        row: &Row,
        signature: &Signature,
        mut tensor: impl FnMut(&mut fastrand::Rng, DType) -> (Tensor, bool),
    ) -> RandomNode {
        let mut builder = Builder::new("random node");
        let (mut names, mut values) = (Vec::new(), HashMap::new());
        let mut types: HashMap<&str, DType> = HashMap::new();
        let several = |param: &Param| matches!(param.arity, Arity::Many { .. });
        let more = if signature.inputs.last().is_some_and(several) { random.usize(..3) } else { 0 };
        let count = signature.inputs.len() + more;
        let count = if random.usize(..30) == 0 { random.usize(..=count) } else { count };
        for index in 0..count {
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
            let (name, (value, constant)) = (format!("in{index}"), tensor(random, dtype));
            if constant {
                builder.constant(&name, value.into()).unwrap();
                names.push(name);
                continue;
            }
            let id = builder.define(&name, Origin::Input).unwrap();
            let dims = value.shape().dims().iter().map(|&len| DeclaredDim::Known(len)).collect();
            builder.info(id).declared = Some(Type::Tensor(Some(dtype), Some(dims)));
            values.insert(name.clone(), Value::from(value));
            names.push(name);
        }
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let inputs: Vec<_> = names.iter().map(String::as_str).collect();
        let mut chosen = |rule: &&AttributeRule| (rule.required || random.bool()) && random.usize(..30) > 0;
        let given: Vec<_> = signature.attributes.iter().filter(&mut chosen).collect();
        let attributes = given
            .into_iter()
            .filter_map(|rule| Some((rule.name, content(random, rule.sort)?)))
            .collect::<Vec<_>>();
        let count = signature.outputs.len().clamp(1, 4);
        let outputs: Vec<_> = (0..count).map(|index| format!("out{index}")).collect();
        let outputs: Vec<_> = outputs.iter().map(String::as_str).collect();
        let named = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        let node = Node {
            name: "".into(),
            operator: OperatorId { domain: row.domain.into(), name: row.name.into(), overload: "".into() },
            version: Some(signature.since),
            inputs: inputs
                .iter()
                .map(|key| (!key.is_empty()).then(|| builder.reference(key)))
                .collect::<Vec<_>>()
                .into(),
            outputs: Vec::new().into(),
            attributes: attributes.into_iter().map(named).collect(),
            position: None,
        };
        builder.push(node, &outputs).unwrap();
        for name in &outputs {
            builder.output(name);
        }
        let mut source = graph::Model::new(row.standard);
        source.opsets = vec![(row.domain.into(), signature.since)];
        source.graph = builder.finish().unwrap();
        RandomNode { model: Model::from_source(source), values }
    }
}

/// The model with a symbol for each axis of its inputs, or with inputs of unknown rank.
#[allow(dead_code, reason = "not all tests open sizes")]
pub fn opened(model: &Model, ranked: bool) -> Model {
    let mut source = model.source().clone();
    source.graph.declare(&mut |_, id| {
        let info = model.graph().value(id);
        let Some(Type::Tensor(dtype, Some(sizes))) = &info.declared else { return None };
        let symbol = |axis| DeclaredDim::Symbol(format!("{}_{axis}", info.name).into());
        Some(Type::Tensor(*dtype, ranked.then(|| (0..sizes.len()).map(symbol).collect())))
    });
    Model::from_source(source)
}

/// The shape of a tensor with some sizes that are others.
#[allow(dead_code, reason = "not all tests open sizes")]
pub fn resized(random: &mut fastrand::Rng, tensor: &Tensor) -> Shape {
    let size = |&size: &usize| if random.usize(..3) == 0 { random.usize(..5) } else { size };
    Shape::new(tensor.shape().dims().iter().map(size).collect::<Vec<_>>()).unwrap()
}
