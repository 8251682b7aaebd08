//! Functions of elements after products and convolutions have the same bits whether the values
//! between are asked for, and so computed node by node, or not.

use gradus::convert::Rules;
use gradus::graph::{self, Builder, Content, Origin, Standard};
use gradus::{DType, Kind, Model, Number, Outputs, Result, RunOptions, Shape, Tensor};

/// Elements of both signs, some of which are zero, infinite or NaN.
fn tensor(dtype: DType, dims: &[usize], seed: usize) -> Tensor {
    let shape = Shape::new(dims).unwrap();
    let number = |at: usize| match (at * 31 + seed * 17) % 101 {
        7 => f64::INFINITY,
        13 => f64::NAN,
        19 => -0.0,
        other => f64::from(u8::try_from(other).unwrap()) / 7.0 - 7.0,
    };
    let numbers = (0..shape.len()).map(|at| Number::Float(number(at)));
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap()
}

/// A node: its operator, its inputs and its output.
type Row<'a> = (&'a str, &'a [&'a str], &'a str);

/// A model of such nodes, the first of which has attributes, and its values in their order.
fn model(inputs: &[&str], nodes: &[Row<'_>], attributes: Vec<(&str, Content)>) -> Model {
    let mut builder = Builder::new("chain");
    for input in inputs {
        builder.define(input, Origin::Input).unwrap();
    }
    let mut attributes = Some(attributes);
    for (operator, from, to) in nodes {
        builder.apply(to, operator, 21, from, &[to], attributes.take().unwrap_or_default()).unwrap();
    }
    builder.output(nodes.last().unwrap().2);
    let mut model = graph::Model::new(Standard::Onnx);
    model.graph = builder.finish().unwrap();
    Model::from_source(model)
}

fn run(model: &Model, wanted: &[&str], inputs: &[(&str, Tensor)]) -> Result<Outputs> {
    model.compile(wanted, &RunOptions::default())?.run(inputs.iter().cloned())
}

/// Checks that a run for the last value alone gives the bits, or the error, of one for all values.
fn check(head: Row<'_>, attributes: &[(&'static str, Content)], tail: &[Row<'_>], inputs: &[(&str, Tensor)]) {
    let nodes: Vec<_> = [head].into_iter().chain(tail.iter().copied()).collect();
    let names: Vec<_> = inputs.iter().map(|(name, _)| *name).collect();
    let model = model(&names, &nodes, attributes.to_vec());
    let last = nodes.last().unwrap().2;
    let all: Vec<_> = nodes.iter().map(|(_, _, to)| *to).collect();
    match (run(&model, &[last], inputs), run(&model, &all, inputs)) {
        (Ok(one), Ok(each)) => {
            let (one, each) = (one[last].tensor().unwrap(), each[last].tensor().unwrap());
            assert_eq!((one.dtype(), one.shape()), (each.dtype(), each.shape()), "{tail:?}");
            assert_eq!(one.bytes(), each.bytes(), "{tail:?}");
        }
        (one, each) => {
            let kinds = [one, each].map(|run| run.err().map(|error| error.kind()));
            assert_eq!(kinds, [Some(Kind::Shape); 2], "{tail:?}");
        }
    }
}

/// Tails of a head that makes `v`, with operands of other shapes.
const TAILS: &[&[Row<'_>]] = &[
    &[("Relu", &["v"], "r")],
    &[("Clip", &["v", "low", "high"], "r")],
    &[("Clip", &["v", "", "high"], "r")],
    &[("Clip", &["v"], "r")],
    &[("Clip", &["v", "low"], "c"), ("Relu", &["c"], "r")],
    &[("Sigmoid", &["v"], "s"), ("Mul", &["v", "s"], "r")],
    &[("Sigmoid", &["v"], "s"), ("Mul", &["s", "v"], "m"), ("Add", &["same", "m"], "r")],
    &[("Sigmoid", &["v"], "s"), ("Add", &["v", "s"], "r")],
    &[("Erf", &["v"], "e"), ("Tanh", &["e"], "t"), ("Div", &["t", "low"], "r")],
    &[("Exp", &["v"], "e"), ("Log", &["e"], "l"), ("Sqrt", &["l"], "r")],
    &[("Softplus", &["v"], "s"), ("Mul", &["v", "s"], "r")],
    &[("Sin", &["v"], "s"), ("Acos", &["s"], "a"), ("Sub", &["a", "line"], "r")],
    &[("Add", &["v", "same"], "a"), ("Relu", &["a"], "r")],
    &[("Sub", &["line", "v"], "r")],
    &[("Sub", &["v", "line"], "d"), ("Div", &["same", "d"], "r")],
    &[("Mul", &["v", "v"], "r")],
    &[("Mul", &["v", "more"], "m"), ("Relu", &["m"], "r")],
    &[("Add", &["v", "misfit"], "a"), ("Relu", &["a"], "r")],
    &[("Add", &["v", "column"], "a"), ("Relu", &["a"], "r")],
    &[("Add", &["v", "same"], "a"), ("Mul", &["a", "deep"], "r")],
];

/// Checks all tails of a head whose result has a shape.
fn check_all(head: Row<'_>, attributes: &[(&'static str, Content)], own: &[(&str, Tensor)], shape: &[usize]) {
    let dtype = own[0].1.dtype();
    let (last, rank) = (shape[shape.len() - 1], shape.len());
    let mut column = shape.to_vec();
    column[rank - 1] = 1;
    let operands: [(&str, Vec<usize>); 8] = [
        ("low", vec![]),
        ("high", vec![]),
        ("same", shape.to_vec()),
        ("line", vec![1, last]),
        ("more", [&[2], shape].concat()),
        ("misfit", vec![last + 1]),
        ("column", column),
        ("deep", vec![1; rank + 1]),
    ];
    for tail in TAILS {
        let mut inputs = own.to_vec();
        for (at, (name, dims)) in operands.iter().enumerate() {
            if tail.iter().any(|(_, from, _)| from.contains(name)) {
                inputs.push((name, tensor(dtype, dims, at + 3)));
            }
        }
        check(head, attributes, tail, &inputs);
    }
}

#[test]
fn tails_of_products_have_the_bits_of_their_nodes() {
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for (a, b, out) in [
            (vec![3, 5], vec![5, 7], vec![3, 7]),
            (vec![2, 9, 30], vec![30, 40], vec![2, 9, 40]),
            (vec![4], vec![4, 33], vec![33]),
        ] {
            let own = [("p", tensor(dtype, &a, 1)), ("q", tensor(dtype, &b, 2))];
            check_all(("MatMul", &["p", "q"], "v"), &[], &own, &out);
        }
    }
}

#[test]
fn tails_of_convolutions_have_the_bits_of_their_nodes() {
    for (channels, filters, group, kernel, stride) in
        [(3, 5, 1, 3, 1), (6, 6, 6, 3, 2), (4, 4, 2, 1, 1), (4, 8, 4, 3, 1), (5, 9, 1, 1, 1)]
    {
        let size = 11usize;
        let windows = (size + 2 * (kernel / 2) - kernel) / stride + 1;
        let ints = |all: &[usize]| Content::Ints(all.iter().map(|&x| i64::try_from(x).unwrap()).collect());
        let attributes = [
            ("group", Content::Int(i64::try_from(group).unwrap())),
            ("pads", ints(&[kernel / 2; 4])),
            ("strides", ints(&[stride; 2])),
        ];
        let own = [
            ("x", tensor(DType::F32, &[2, channels, size, size], 1)),
            ("w", tensor(DType::F32, &[filters, channels / group, kernel, kernel], 2)),
            ("bias", tensor(DType::F32, &[filters], 3)),
        ];
        let shape = [2, filters, windows, windows];
        check_all(("Conv", &["x", "w", "bias"], "v"), &attributes, &own, &shape);
        check_all(("Conv", &["x", "w"], "v"), &attributes, &own[..2], &shape);
    }
}

#[test]
fn values_that_others_use_are_kept() {
    let nodes: [Row<'_>; 4] = [
        ("MatMul", &["a", "b"], "v"),
        ("Relu", &["v"], "r"),
        ("Neg", &["v"], "n"),
        ("Add", &["r", "n"], "y"),
    ];
    let model = model(&["a", "b"], &nodes, vec![]);
    let inputs = [("a", tensor(DType::F32, &[3, 4], 1)), ("b", tensor(DType::F32, &[4, 5], 2))];
    let (one, all) = (run(&model, &["y"], &inputs).unwrap(), run(&model, &["v", "r", "n", "y"], &inputs));
    assert_eq!(one["y"].tensor().unwrap().bytes(), all.unwrap()["y"].tensor().unwrap().bytes());
}

#[test]
fn nodes_that_read_other_values_follow_no_product() {
    let nodes: [Row<'_>; 4] = [
        ("MatMul", &["a", "b"], "v"),
        ("Sub", &["c", "d"], "s"),
        ("Neg", &["s"], "n"),
        ("Add", &["v", "n"], "y"),
    ];
    let model = model(&["a", "b", "c", "d"], &nodes, vec![]);
    let of = |dims: &[usize], seed| tensor(DType::F32, dims, seed);
    let inputs = [("a", of(&[3, 4], 1)), ("b", of(&[4, 5], 2)), ("c", of(&[], 3)), ("d", of(&[5], 4))];
    let (one, all) = (run(&model, &["y"], &inputs).unwrap(), run(&model, &["v", "s", "n", "y"], &inputs));
    assert_eq!(one["y"].tensor().unwrap().bytes(), all.unwrap()["y"].tensor().unwrap().bytes());
}
