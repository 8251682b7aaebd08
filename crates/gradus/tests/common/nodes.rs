//! Random nodes of the operators of the table, with inputs and attributes of any value.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus::cases::{Draw, RandomNode};
use gradus::graph::{Content, DeclaredDim, Type};
use gradus::operators::Row;
use gradus::schema::{AttributeRule, Signature, Sort};
use gradus::{DType, Model, Shape, Tensor};

/// Integers that stand for sizes, axes, bounds and counts.
const NUMBERS: [i64; 10] = [0, 1, -1, 2, 3, 7, -9, 1 << 40, i64::MAX, i64::MIN];

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

/// Tensors that a function makes, and attributes of any value.
struct Any<F>(F);

impl<F: FnMut(&mut fastrand::Rng, DType) -> (Tensor, bool)> Draw for Any<F> {
    fn tensor(&mut self, random: &mut fastrand::Rng, _: usize, dtype: DType) -> (Tensor, bool) {
        (self.0)(random, dtype)
    }

    fn attribute(&mut self, random: &mut fastrand::Rng, rule: &AttributeRule) -> Option<Content> {
        content(random, rule.sort)
    }
}

/// A node whose tensors have shapes of the list.
#[allow(dead_code, reason = "each test makes nodes in one of the ways")]
pub fn node_of_shapes(
    random: &mut fastrand::Rng,
    row: &Row,
    signature: &Signature,
    shapes: &[&[usize]],
) -> RandomNode {
    node_of(random, row, signature, |random, dtype| (tensor(random, dtype, shapes), false))
}

/// A node of these tensors, each of which may be a constant of the model.
pub fn node_of(
    random: &mut fastrand::Rng,
    row: &Row,
    signature: &Signature,
    tensor: impl FnMut(&mut fastrand::Rng, DType) -> (Tensor, bool),
) -> RandomNode {
    RandomNode::new(random, row, signature, &mut Any(tensor)).unwrap()
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
