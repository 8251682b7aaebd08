//! Recurrent networks and sequences in the operators of another standard: converted models give
//! what the source gives.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common {
    pub mod compare;
    pub mod one;
}

use std::collections::HashMap;
use std::sync::Arc;

use common::compare::difference;
use common::one::One;
use gradus::conversion::{ConvertOptions, Exactness, Obstacles};
use gradus::convert::Rules;
use gradus::element::Bool;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Fact, Kind, Model, Number, Shape, Tensor, Value};

type Values = HashMap<String, Value>;

/// Checks that a model gives what is wanted, bit for bit if `exact`.
fn same(what: &str, want: &gradus::Outputs, model: &Model, inputs: &Values, exact: bool) {
    let got = model.run(inputs).unwrap_or_else(|error| panic!("{what}: {error}"));
    for ((name, want), (_, got)) in want.iter().zip(&got) {
        if let Some(how) = difference(want.tensor().unwrap(), got.tensor().unwrap(), exact) {
            panic!("{what}: {name}: {how}");
        }
    }
}

/// Converts to OpenVINO and back, and compares both with the source.
fn there_and_back(what: &str, model: &Model, inputs: &Values) -> Model {
    let want = model.run(inputs).unwrap_or_else(|error| panic!("{what}: {error}"));
    let to = |model: &Model, standard| {
        model.convert(standard, &ConvertOptions::default()).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    let there = to(model, Standard::OpenVino);
    same(what, &want, &there.model, inputs, there.report.is_exact());
    let back = to(&there.model, Standard::Onnx);
    same(what, &want, &back.model, inputs, there.report.is_exact() && back.report.is_exact());
    there.model
}

/// Why a model does not become OpenVINO's.
fn refusal(model: &Model) -> String {
    let error = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    Obstacles::of(&error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn floats(random: &mut fastrand::Rng, dims: &[usize]) -> Tensor {
    let count: usize = dims.iter().product();
    let numbers: Vec<_> = (0..count).map(|_| Number::Float(f64::from(random.i32(-16..=16)) / 16.0)).collect();
    Tensor::from_numbers(DType::F32, Shape::new(dims.to_vec()).unwrap(), numbers, Rules::IEEE).unwrap()
}

fn words(words: &[&str]) -> Content {
    Content::Strings(words.iter().map(|word| (*word).to_owned().into()).collect())
}

/// A network with some of its inputs, as a model of one node.
fn network(random: &mut fastrand::Rng, operator: &str) -> (String, Model, Values) {
    let (steps, batch, size, hidden) = (random.usize(1..4), random.usize(1..4), 3, 2);
    let direction = ["forward", "reverse", "bidirectional"][random.usize(..3)];
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let gates = match operator {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let first = random.bool();
    let (x, state) = if first {
        ([batch, steps, size], [batch, directions, hidden])
    } else {
        ([steps, batch, size], [directions, batch, hidden])
    };
    let mut given = vec![
        ("X", floats(random, &x)),
        ("W", floats(random, &[directions, gates * hidden, size])),
        ("R", floats(random, &[directions, gates * hidden, hidden])),
    ];
    let lengths: Vec<i32> = (0..batch).map(|_| i32::try_from(random.usize(1..=steps)).unwrap()).collect();
    let optional = [
        ("B", floats(random, &[directions, 2 * gates * hidden])),
        ("lengths", Tensor::vector(&lengths)),
        ("h", floats(random, &state)),
        ("c", floats(random, &state)),
    ];
    let mut builder = Builder::new("network");
    let mut keys: Vec<&str> = vec!["X", "W", "R"];
    for (name, tensor) in optional.into_iter().take(if operator == "LSTM" { 4 } else { 3 }) {
        if random.bool() {
            given.push((name, tensor));
            keys.push(name);
        } else {
            keys.push("");
        }
    }
    let mut inputs = Values::new();
    for (name, tensor) in given {
        let id = builder.define(name, Origin::Input).unwrap();
        let dims = tensor.shape().dims().iter().map(|&len| DeclaredDim::Known(len)).collect();
        builder.info(id).declared = Some(Type::Tensor(Some(tensor.dtype()), Some(dims)));
        inputs.insert(name.to_owned(), tensor.into());
    }
    let mut attributes = vec![
        ("hidden_size", Content::Int(2)),
        ("direction", Content::Bytes(direction.into())),
        ("layout", Content::Int(i64::from(first))),
    ];
    if operator == "GRU" {
        attributes.push(("linear_before_reset", Content::Int(i64::from(random.bool()))));
    }
    if random.bool() {
        attributes.push(("clip", Content::Float(0.75)));
    }
    if operator == "RNN" && random.bool() {
        attributes.push(("activations", words(&vec!["Relu"; directions])));
    }
    let what = format!("{operator} {keys:?} {attributes:?}");
    let outputs: &[&str] = if operator == "LSTM" { &["Y", "Y_h", "Y_c"] } else { &["Y", "Y_h"] };
    builder.apply("node", operator, 22, &keys, outputs, attributes).unwrap();
    for output in outputs {
        builder.output(output);
    }
    (what, onnx(builder, 22), inputs)
}

fn onnx(builder: Builder, opset: i64) -> Model {
    let mut model = graph::Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), opset)];
    model.graph = builder.finish().unwrap();
    Model::from_source(model)
}

#[test]
fn recurrent_networks_are_the_same_there_and_back_again() {
    let mut random = fastrand::Rng::with_seed(19);
    for operator in ["RNN", "GRU", "LSTM"] {
        for _ in 0..60 {
            let (what, model, inputs) = network(&mut random, operator);
            let there = there_and_back(&what, &model, &inputs);
            let name = format!("{operator}Sequence");
            assert!(there.graph().nodes().iter().any(|node| *node.operator.name == *name), "{what}");
        }
    }
}

#[test]
fn a_cell_is_a_sequence_of_one_step() {
    let mut random = fastrand::Rng::with_seed(20);
    for (operator, gates, states) in [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)] {
        let (input, state_weights, bias) = (
            floats(&mut random, &[gates * 2, 3]),
            floats(&mut random, &[gates * 2, 2]),
            floats(&mut random, &[gates * 2]),
        );
        let (x, state) = (floats(&mut random, &[4, 3]), floats(&mut random, &[4, 2]));
        let (cell, sequence) = (format!("{operator}Cell"), format!("{operator}Sequence"));
        let shaped =
            |tensor: &Tensor, dims: &[usize]| tensor.reshaped(Shape::new(dims.to_vec()).unwrap()).unwrap();
        let initial = vec![state.clone(); states];
        let (one, inputs) = One::of(Standard::OpenVino, &cell, 4)
            .inputs(&[vec![x.clone()], initial.clone()].concat())
            .constants(&[input.clone(), state_weights.clone(), bias.clone()])
            .text("hidden_size", "2")
            .outputs(states)
            .model();
        let got = one.run(&inputs).unwrap();
        let initial: Vec<_> = initial.iter().map(|state| shaped(state, &[4, 1, 2])).collect();
        let (all, inputs) = One::of(Standard::OpenVino, &sequence, 5)
            .inputs(&[vec![shaped(&x, &[4, 1, 3])], initial].concat())
            .constants(&[
                Tensor::vector(&[1i32; 4]),
                shaped(&input, &[1, gates * 2, 3]),
                shaped(&state_weights, &[1, gates * 2, 2]),
                shaped(&bias, &[1, gates * 2]),
            ])
            .text("hidden_size", "2")
            .text("direction", "forward")
            .outputs(1 + states)
            .model();
        let want = all.run(&inputs).unwrap();
        for state in 0..states {
            let want = want[1 + state].tensor().unwrap();
            assert_eq!(difference(&shaped(want, &[4, 2]), got[state].tensor().unwrap(), true), None);
        }
    }
}

#[test]
fn networks_that_openvino_lacks_are_refused() {
    let [x, w, r] = [vec![2, 1, 3], vec![1, 8, 3], vec![1, 8, 2]]
        .map(|dims| floats(&mut fastrand::Rng::with_seed(1), &dims));
    let lstm = |name, content| {
        let one = One::of(Standard::Onnx, "LSTM", 22).inputs(&[x.clone(), w.clone(), r.clone()]).known();
        one.attribute("hidden_size", Content::Int(2)).attribute(name, content).model().0
    };
    let coupled = lstm("input_forget", Content::Int(1));
    assert!(refusal(&coupled).contains("input_forget"), "{}", refusal(&coupled));
    let softsign = lstm("activations", words(&["Sigmoid", "Softsign", "Tanh"]));
    assert!(refusal(&softsign).contains("softsign"), "{}", refusal(&softsign));
}

/// A model of one input, `x`, whose nodes a function adds; it gives `y`.
fn model(tensor: &Tensor, open: bool, nodes: impl FnOnce(&mut Builder)) -> (Model, Values) {
    let mut builder = Builder::new("sequence");
    let id = builder.define("x", Origin::Input).unwrap();
    let dims = tensor.shape().dims().iter();
    let dims = dims.map(|&len| if open { DeclaredDim::Unknown } else { DeclaredDim::Known(len) }).collect();
    builder.info(id).declared = Some(Type::Tensor(Some(tensor.dtype()), Some(dims)));
    nodes(&mut builder);
    builder.output("y");
    (onnx(builder, 20), HashMap::from([("x".to_owned(), tensor.clone().into())]))
}

fn constant(builder: &mut Builder, key: &str, tensor: Tensor) {
    builder.constant(key, tensor.into()).unwrap();
}

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// An If that squeezes `x`, or what is negative of it: `s`, whose rank is not known before the run.
fn squeezed(b: &mut Builder) {
    let mut branches = vec![];
    for (name, operator) in [("then_branch", "Identity"), ("else_branch", "Neg")] {
        let mut branch = Builder::nested(name);
        let [own, output] = [format!("{operator}_x"), format!("{operator}_s")];
        branch.apply("", operator, 20, &["x"], &[&own], vec![]).unwrap();
        branch.apply("", "Squeeze", 20, &[&own], &[&output], vec![]).unwrap();
        branch.output(&output);
        branches.push((name, Content::Graph(Arc::new(branch.finish().unwrap()))));
    }
    constant(b, "zero", Tensor::scalar(0f32));
    b.apply("max", "ReduceMax", 20, &["x"], &["max"], vec![int("keepdims", 0)]).unwrap();
    b.apply("positive", "Greater", 20, &["max", "zero"], &["positive"], vec![]).unwrap();
    b.apply("if", "If", 20, &["positive"], &["s"], branches).unwrap();
}

#[test]
fn weights_tell_the_rank_that_inputs_leave_open() {
    let random = &mut fastrand::Rng::with_seed(8);
    let x = floats(random, &[1, 2, 3, 8]);
    let [kernel, w, r] = [vec![4, 3, 3], vec![1, 8, 8], vec![1, 8, 2]].map(|dims| floats(random, &dims));
    let (of_conv, inputs) = model(&x, true, |b| {
        squeezed(b);
        constant(b, "w", kernel);
        b.apply("conv", "Conv", 20, &["s", "w"], &["y"], vec![]).unwrap();
    });
    there_and_back("Conv", &of_conv, &inputs);
    let (of_lstm, inputs) = model(&x, true, |b| {
        squeezed(b);
        constant(b, "w", w);
        constant(b, "r", r);
        let hidden = vec![int("hidden_size", 2)];
        b.apply("lstm", "LSTM", 20, &["s", "w", "r"], &["y"], hidden).unwrap();
    });
    there_and_back("LSTM", &of_lstm, &inputs);
}

#[test]
fn outputs_have_the_rank_that_the_model_declares() {
    let x = floats(&mut fastrand::Rng::with_seed(9), &[1, 2, 3, 8]);
    let (model, inputs) = model(&x, true, |b| {
        squeezed(b);
        b.apply("exp", "Exp", 20, &["s"], &["y"], vec![]).unwrap();
        let y = b.find("y").unwrap();
        b.info(y).declared = Some(Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Unknown; 3])));
    });
    let there = there_and_back("Exp", &model, &inputs);
    let declared =
        |name: &str| there.graph().find(name).and_then(|id| there.graph().value(id).declared.clone());
    assert_eq!(declared("y"), Some(Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Unknown; 3]))));
    assert_eq!(declared("s"), Some(Type::Tensor(Some(DType::F32), None)));
}

#[test]
fn items_of_sequences_become_values() {
    let x = floats(&mut fastrand::Rng::with_seed(3), &[2, 5, 3]);
    for (sizes, position) in
        [(Some(Tensor::vector(&[1i64, 4])), 1), (Some(Tensor::scalar(2i64)), -1), (None, 3), (None, -2)]
    {
        for keeps in [0, 1] {
            let (model, inputs) = model(&x, sizes.is_none(), |b| {
                let mut keys = vec!["x"];
                if let Some(sizes) = &sizes {
                    constant(b, "sizes", sizes.clone());
                    keys.push("sizes");
                }
                constant(b, "at", Tensor::scalar(position));
                let axis = vec![int("axis", 1), int("keepdims", keeps)];
                b.apply("split", "SplitToSequence", 20, &keys, &["parts"], axis).unwrap();
                b.apply("at", "SequenceAt", 20, &["parts", "at"], &["y"], vec![]).unwrap();
            });
            there_and_back(&format!("item {position} of {sizes:?}"), &model, &inputs);
        }
    }
}

#[test]
fn sequences_are_changed_and_put_together() {
    let x = floats(&mut fastrand::Rng::with_seed(4), &[2, 3]);
    for (new, axis) in [(0, 1), (0, -2), (1, 0), (1, -1), (1, 1)] {
        let (model, inputs) = model(&x, false, |b| {
            constant(b, "first", Tensor::scalar(0i64));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("list", "SequenceConstruct", 20, &["x", "n", "n"], &["a"], vec![]).unwrap();
            b.apply("erase", "SequenceErase", 20, &["a"], &["b"], vec![]).unwrap();
            b.apply("insert", "SequenceInsert", 20, &["b", "n", "first"], &["c"], vec![]).unwrap();
            let axis = vec![int("axis", axis), int("new_axis", new)];
            b.apply("all", "ConcatFromSequence", 20, &["c"], &["y"], axis).unwrap();
        });
        there_and_back(&format!("new_axis={new} axis={axis}"), &model, &inputs);
    }
    let (model, inputs) = model(&x, true, |b| {
        b.apply("split", "SplitToSequence", 20, &["x"], &["rows"], vec![int("axis", 1)]).unwrap();
        b.apply("count", "SequenceLength", 20, &["rows"], &["y"], vec![]).unwrap();
    });
    there_and_back("a length", &model, &inputs);
}

/// A loop that appends its state, doubled, to a sequence; `position` inserts at the front.
fn appending(new: i64, axis: i64, front: bool) -> (Model, Values) {
    let mut body = Builder::nested("body");
    let scalar = |dtype| Some(Type::Tensor(Some(dtype), Some(vec![])));
    let state = Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Known(2), DeclaredDim::Known(3)]));
    let sequence = Some(Type::Sequence(Box::new(state.clone())));
    for (name, of) in
        [("i", scalar(DType::I64)), ("go", scalar(DType::Bool)), ("h", Some(state)), ("list", sequence)]
    {
        let id = body.define(name, Origin::Input).unwrap();
        body.info(id).declared = of;
    }
    body.apply("same", "Identity", 20, &["go"], &["go_out"], vec![]).unwrap();
    body.apply("twice", "Add", 20, &["h", "h"], &["h_out"], vec![]).unwrap();
    let keys: &[&str] = if front { &["list", "h_out", "i"] } else { &["list", "h_out"] };
    body.apply("append", "SequenceInsert", 20, keys, &["list_out"], vec![]).unwrap();
    for name in ["go_out", "h_out", "list_out"] {
        body.output(name);
    }
    let body = Content::Graph(Arc::new(body.finish().unwrap()));
    let x = floats(&mut fastrand::Rng::with_seed(5), &[2, 3]);
    model(&x, false, |b| {
        constant(b, "runs", Tensor::scalar(4i64));
        constant(b, "go", Tensor::scalar(Bool::from(true)));
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "go", "x", "none"], &["h", "list"], vec![("body", body)])
            .unwrap();
        let axis = vec![int("axis", axis), int("new_axis", new)];
        b.apply("all", "ConcatFromSequence", 20, &["list"], &["y"], axis).unwrap();
    })
}

#[test]
fn loops_that_append_to_a_sequence_give_slices() {
    for (new, axis) in [(1, 0), (1, 1), (1, -1), (0, 0), (0, 1), (0, -1)] {
        let (model, inputs) = appending(new, axis, false);
        let what = format!("a loop, new_axis={new} axis={axis}");
        let there = there_and_back(&what, &model, &inputs);
        assert!(there.graph().nodes().iter().any(|node| &*node.operator.name == "Loop"), "{what}");
    }
    let (model, inputs) = appending(1, 0, true);
    there_and_back("a loop that inserts", &model, &inputs);
}

/// A body of a loop that takes its number, its condition and these values.
fn body(carried: &[(&str, Type)], nodes: impl FnOnce(&mut Builder), outputs: &[&str]) -> Content {
    let mut body = Builder::nested("body");
    let scalar = |dtype| Type::Tensor(Some(dtype), Some(vec![]));
    let before = [("i", scalar(DType::I64)), ("go", scalar(DType::Bool))];
    for (name, declared) in before.iter().chain(carried) {
        let id = body.define(name, Origin::Input).unwrap();
        body.info(id).declared = Some(declared.clone());
    }
    nodes(&mut body);
    body.apply("same", "Identity", 20, &["go"], &["go_out"], vec![]).unwrap();
    for name in ["go_out"].iter().chain(outputs) {
        body.output(name);
    }
    Content::Graph(Arc::new(body.finish().unwrap()))
}

/// A list of float32, of which nothing else is known.
fn floats_list() -> Type {
    Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), None)))
}

/// Bounds of a number that is computed have as many steps.
#[test]
fn slices_have_a_computed_number_of_axes() {
    let x = floats(&mut fastrand::Rng::with_seed(22), &[2, 3]);
    let (sliced, inputs) = model(&x, true, |b| {
        for (key, values) in [("starts", [0i64, 1, 0]), ("ends", [1, 3, 9]), ("zero", [0; 3])] {
            constant(b, key, Tensor::vector(&values[..if key == "zero" { 1 } else { 3 }]));
        }
        b.apply("shape", "Shape", 20, &["x"], &["shape"], vec![]).unwrap();
        constant(b, "one", Tensor::vector(&[1i64]));
        b.apply("count", "Slice", 20, &["shape", "zero", "one"], &["count"], vec![]).unwrap();
        for (key, own) in [("starts", "from"), ("ends", "to")] {
            b.apply(key, "Slice", 20, &[key, "zero", "count"], &[own], vec![]).unwrap();
        }
        b.apply("slice", "Slice", 20, &["x", "from", "to"], &["y"], vec![]).unwrap();
    });
    there_and_back("a slice", &sliced, &inputs);
}

/// Outputs that are sequences become an output for each item, or a tensor whose slices they are.
#[test]
fn sequences_that_are_outputs_become_tensors() {
    let x = floats(&mut fastrand::Rng::with_seed(21), &[5, 3]);
    let (split, inputs) = model(&x, false, |b| {
        constant(b, "two", Tensor::scalar(2i64));
        b.apply("parts", "SplitToSequence", 20, &["x", "two"], &["y"], vec![int("axis", 0)]).unwrap();
        declare(b, "y", floats_list());
    });
    let there = split.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let got = there.model.run(&inputs).unwrap();
    let names: Vec<_> = got.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["y_0", "y_1", "y_2"]);
    assert!(there.report.lost[0].contains("\"y\" is a sequence"), "{:?}", there.report.lost);
    let want = split.run(&inputs).unwrap();
    let Value::Sequence(items) = &want["y"] else { panic!("a sequence") };
    for (want, (name, got)) in items.iter().zip(&got) {
        assert_eq!(difference(want.tensor().unwrap(), got.tensor().unwrap(), true), None, "{name}");
    }
    assert_same(&split, &there.model);
    let content = body(
        &[("list", floats_list())],
        |b| {
            b.apply("float", "Cast", 20, &["i"], &["number"], vec![int("to", 1)]).unwrap();
            b.apply("more", "Add", 20, &["x", "number"], &["more"], vec![]).unwrap();
            b.apply("append", "SequenceInsert", 20, &["list", "more"], &["list_out"], vec![]).unwrap();
        },
        &["list_out"],
    );
    let (grown, inputs) = model(&x, false, |b| {
        constant(b, "runs", Tensor::scalar(3i64));
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "", "none"], &["y"], vec![("body", content)]).unwrap();
        declare(b, "y", floats_list());
    });
    let there = grown.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let got = there.model.run(&inputs).unwrap();
    assert_eq!(got["y"].tensor().unwrap().shape().dims(), [3, 5, 3]);
    assert!(there.report.lost.iter().any(|lost| lost.contains("slices of a tensor")));
    assert_same(&grown, &there.model);
}

fn declare(builder: &mut Builder, key: &str, declared: Type) {
    let id = builder.reference(key);
    builder.info(id).declared = Some(declared);
}

/// Compares models whose sequences have become tensors, in both orders.
fn assert_same(sequences: &Model, tensors: &Model) {
    for check in [sequences.check(tensors, &<_>::default()), tensors.check(sequences, &<_>::default())] {
        let check = check.unwrap();
        assert!(check.is_same() && check.outputs[0].name.starts_with('y'), "{check:?}");
        assert!(check.outputs[0].elements > 0, "{check:?}");
    }
}

/// Items of an input become the slices of a tensor.
#[test]
fn sequences_that_are_inputs_become_tensors() {
    let item = |sizes: &[usize]| {
        let sizes = sizes.iter().map(|&size| DeclaredDim::Known(size)).collect();
        Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), Some(sizes))))
    };
    let x = floats(&mut fastrand::Rng::with_seed(23), &[2, 3]);
    let (model, _) = model(&x, false, |b| {
        b.define("list", Origin::Input).unwrap();
        declare(b, "list", item(&[2, 3]));
        constant(b, "last", Tensor::scalar(-1i64));
        b.apply("at", "SequenceAt", 17, &["list", "last"], &["item"], vec![]).unwrap();
        b.apply("sum", "Add", 17, &["item", "x"], &["y"], vec![]).unwrap();
    });
    let there = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    assert!(there.report.lost.iter().any(|lost| lost.contains("\"list\" is a sequence")));
    let check = model.check(&there.model, &<_>::default()).unwrap();
    assert!(check.is_same() && check.runs == 5, "{check:?}");
    let mut older = ConvertOptions::default();
    older.opset = Some(13);
    let there = model.convert(Standard::Onnx, &older).unwrap();
    assert!(model.check(&there.model, &<_>::default()).unwrap().is_same());
    let (open, _) = self::model(&x, false, |b| {
        b.define("list", Origin::Input).unwrap();
        declare(b, "list", floats_list());
        b.apply("length", "SequenceLength", 17, &["list"], &["y"], vec![]).unwrap();
    });
    let error = open.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot convert: input \"list\" is sequence of float32[...], expected a tensor, or a sequence of \
         tensors whose sizes are known"
    );
}

/// Repeats each element along an axis, as exporters write it: a loop takes items of two captured
/// sequences, and appends items of unequal shapes.
fn interleaved(axis: i64, open: bool, other: bool) -> (Model, Values) {
    let x = floats(&mut fastrand::Rng::with_seed(12), &[3, 3]);
    let content = body(
        &[("list", floats_list())],
        |b| {
            let ints = |values: &[i64]| Tensor::vector(values);
            constant(b, "behind", ints(&[axis + 1]));
            constant(b, "before", ints(if axis == 0 { &[1] } else { &[1, 1] }));
            constant(b, "after", ints(if axis == 0 { &[1] } else { &[] }));
            constant(b, "shape", ints(if axis == 0 { &[-1, 3] } else { &[3, -1] }));
            b.apply("r", "SequenceAt", 20, &["counts", "i"], &["r"], vec![]).unwrap();
            b.apply("p", "SequenceAt", 20, &["parts", "i"], &["p"], vec![]).unwrap();
            b.apply("wide", "Unsqueeze", 20, &["p", "behind"], &["wide"], vec![]).unwrap();
            let keys = ["before", "r", "after"];
            b.apply("dims", "Concat", 20, &keys, &["dims"], vec![int("axis", 0)]).unwrap();
            b.apply("all", "Expand", 20, &["wide", "dims"], &["all"], vec![]).unwrap();
            b.apply("flat", "Reshape", 20, &["all", "shape"], &["flat"], vec![]).unwrap();
            b.apply("append", "SequenceInsert", 20, &["list", "flat"], &["list_out"], vec![]).unwrap();
        },
        &["list_out"],
    );
    model(&x, open, |b| {
        constant(b, "one", Tensor::scalar(1i64));
        constant(b, "runs", Tensor::scalar(3i64));
        constant(b, "repeats", Tensor::vector(&[2i64, 0, 3]));
        constant(b, "ones", Tensor::vector(&[1i64; 3]));
        b.apply("counts", "SplitToSequence", 20, &["repeats", "ones"], &["counts"], vec![]).unwrap();
        b.apply("parts", "SplitToSequence", 20, &["x", "one"], &["parts"], vec![int("axis", axis)]).unwrap();
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "", "none"], &["list"], vec![("body", content)]).unwrap();
        let axis = if other { 1 - axis } else { axis };
        b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], vec![int("axis", axis)]).unwrap();
        // A node that nothing needs does not decide how the loop carries the sequence.
        b.apply("count", "SequenceLength", 20, &["list"], &["unneeded"], vec![]).unwrap();
    })
}

#[test]
fn loops_take_items_of_sequences_around_them_and_append_items_of_unequal_shapes() {
    for (axis, open) in [(0, false), (0, true), (1, false), (1, true)] {
        let (model, inputs) = interleaved(axis, open, false);
        let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
        assert!(converted.report.is_exact(), "{:?}", converted.report.notes);
        // Parts of one element each have a known shape, which OpenVINO must know.
        let sums = |node: &graph::Node| &*node.operator.name == "CumSum";
        assert!(!converted.model.graph().nodes().iter().any(sums), "axis {axis}, open={open}");
        there_and_back(&format!("axis {axis}, open={open}"), &model, &inputs);
    }
    assert!(interleaved(0, false, true).0.run(&interleaved(0, false, true).1).is_err());
}

#[test]
fn loops_take_parts_of_unequal_sizes() {
    let x = floats(&mut fastrand::Rng::with_seed(13), &[2, 5]);
    let sizes =
        [Tensor::scalar(2i64), Tensor::scalar(7i32), Tensor::vector(&[1i64, 4]), Tensor::scalar(1i64)];
    for (open, sizes) in [false, true].into_iter().flat_map(|open| sizes.iter().map(move |size| (open, size)))
    {
        let dims = vec![DeclaredDim::Known(2)];
        let content = body(
            &[("h", Type::Tensor(Some(DType::F32), Some(dims)))],
            |b| {
                constant(b, "axis", Tensor::vector(&[1i64]));
                constant(b, "last", Tensor::scalar(-1i64));
                b.apply("p", "SequenceAt", 20, &["parts", "i"], &["p"], vec![]).unwrap();
                b.apply("q", "SequenceAt", 20, &["parts", "last"], &["q"], vec![]).unwrap();
                b.apply("max", "ReduceMax", 20, &["p", "axis"], &["max"], vec![int("keepdims", 0)]).unwrap();
                b.apply("min", "ReduceMin", 20, &["q", "axis"], &["min"], vec![int("keepdims", 0)]).unwrap();
                b.apply("add", "Add", 20, &["h", "max"], &["sum"], vec![]).unwrap();
                b.apply("next", "Sub", 20, &["sum", "min"], &["h_out"], vec![]).unwrap();
            },
            &["h_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            constant(b, "sizes", sizes.clone());
            constant(b, "h", Tensor::vector(&[0f32, 1.0]));
            let axis = vec![int("axis", 1)];
            b.apply("split", "SplitToSequence", 20, &["x", "sizes"], &["parts"], axis.clone()).unwrap();
            b.apply("count", "SequenceLength", 20, &["parts"], &["runs"], vec![]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "h"], &["y"], vec![("body", content)]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["parts"], &["z"], axis).unwrap();
            b.output("z");
        });
        there_and_back(&format!("parts of {sizes:?}, open={open}"), &model, &inputs);
    }
}

#[test]
fn loops_change_sequences_and_read_them() {
    let x = floats(&mut fastrand::Rng::with_seed(14), &[2, 3]);
    for (open, runs, steps) in
        [(false, 4i64, 0), (true, 4, 0), (true, 0, 0), (true, 3, 1), (false, 3, 2), (false, 3, 3)]
    {
        let content = body(
            &[("list", floats_list())],
            |b| {
                constant(b, "last", Tensor::scalar(-1i64));
                constant(b, "first", Tensor::scalar(0i64));
                b.apply("p", "SequenceAt", 20, &["list", "last"], &["p"], vec![]).unwrap();
                b.apply("q", "SequenceAt", 20, &["list", "i"], &["q"], vec![]).unwrap();
                b.apply("add", "Add", 20, &["p", "q"], &["sum"], vec![]).unwrap();
                let at: &[&str] =
                    [&["a", "sum"][..], &["a", "sum", "i"], &["a", "sum", "last"], &["a", "sum"]][steps];
                b.apply("copy", "Identity", 20, &["list"], &["a"], vec![]).unwrap();
                b.apply("insert", "SequenceInsert", 20, at, &["b"], vec![]).unwrap();
                b.apply("again", "SequenceInsert", 20, &["b", "q"], &["c"], vec![]).unwrap();
                let at: &[&str] = [&["c"][..], &["c", "i"], &["c", "last"], &["c", "first"]][steps];
                b.apply("erase", "SequenceErase", 20, at, &["list_out"], vec![]).unwrap();
            },
            &["list_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            constant(b, "runs", Tensor::scalar(runs));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("list", "SequenceConstruct", 20, &["x", "n"], &["start"], vec![]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "start"], &["list"], vec![("body", content)]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], vec![int("axis", 1)]).unwrap();
            b.apply("count", "SequenceLength", 20, &["list"], &["count"], vec![]).unwrap();
            b.output("count");
        });
        there_and_back(&format!("{runs} runs of {steps}, open={open}"), &model, &inputs);
    }
}

/// A branch of nodes that captures values, and gives one.
fn branch(name: &'static str, nodes: impl FnOnce(&mut Builder), output: &str) -> (&'static str, Content) {
    let mut branch = Builder::nested(name);
    nodes(&mut branch);
    branch.output(output);
    (name, Content::Graph(Arc::new(branch.finish().unwrap())))
}

#[test]
fn branches_append_to_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(15), &[6, 3]);
    for (open, new) in [(false, 1), (true, 1), (true, 0)] {
        let content = body(
            &[("list", floats_list())],
            |b| {
                constant(b, "zero", Tensor::scalar(0f32));
                b.apply("row", "SequenceAt", 20, &["rows", "i"], &["v"], vec![]).unwrap();
                b.apply("max", "ReduceMax", 20, &["v"], &["max"], vec![int("keepdims", 0)]).unwrap();
                b.apply("yes", "Greater", 20, &["max", "zero"], &["yes"], vec![]).unwrap();
                let append = |b: &mut Builder| {
                    b.apply("", "SequenceInsert", 20, &["list", "v"], &["longer"], vec![]).unwrap();
                };
                let copy = |b: &mut Builder| {
                    b.apply("", "Identity", 20, &["list"], &["same"], vec![]).unwrap();
                };
                let graphs =
                    vec![branch("then_branch", append, "longer"), branch("else_branch", copy, "same")];
                b.apply("if", "If", 20, &["yes"], &["list_out"], graphs).unwrap();
            },
            &["list_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            let axis = vec![int("keepdims", 1 - new)];
            b.apply("rows", "SplitToSequence", 20, &["x"], &["rows"], axis).unwrap();
            b.apply("runs", "SequenceLength", 20, &["rows"], &["runs"], vec![]).unwrap();
            b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "none"], &["list"], vec![("body", content)]).unwrap();
            let axis = vec![int("axis", 0), int("new_axis", new)];
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], axis).unwrap();
        });
        there_and_back(&format!("rows, open={open}, new_axis={new}"), &model, &inputs);
    }
}

#[test]
fn branches_give_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(16), &[2, 3]);
    for (positive, longer, index) in
        [(true, false, 0i64), (false, false, -1), (true, true, 1), (false, true, 0)]
    {
        let (model, inputs) = model(&x, false, |b| {
            constant(b, "yes", Tensor::scalar(Bool::from(positive)));
            constant(b, "first", Tensor::scalar(0i64));
            constant(b, "at", Tensor::scalar(index));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("pair", "SequenceConstruct", 20, &["n", "x"], &["pair"], vec![]).unwrap();
            // A condition and an index that are not known before the run.
            b.apply("max", "ReduceMax", 20, &["x"], &["max"], vec![int("keepdims", 0)]).unwrap();
            b.apply("own", "Equal", 20, &["max", "max"], &["own"], vec![]).unwrap();
            b.apply("and", "And", 20, &["own", "yes"], &["cond"], vec![]).unwrap();
            b.apply("sub", "Sub", 20, &["max", "max"], &["none"], vec![]).unwrap();
            b.apply("cast", "Cast", 20, &["none"], &["whole"], vec![int("to", 7)]).unwrap();
            b.apply("index", "Add", 20, &["whole", "at"], &["index"], vec![]).unwrap();
            let list = |b: &mut Builder| {
                b.apply("", "SequenceConstruct", 20, &["x", "n"], &["a"], vec![]).unwrap();
            };
            let changed = |b: &mut Builder| {
                b.apply("", "SequenceInsert", 20, &["pair", "n"], &["three"], vec![]).unwrap();
                b.apply("", "SequenceErase", 20, &["three", "first"], &["two"], vec![]).unwrap();
            };
            let graphs = vec![
                branch("then_branch", list, "a"),
                branch("else_branch", changed, if longer { "three" } else { "two" }),
            ];
            b.apply("if", "If", 20, &["cond"], &["list"], graphs).unwrap();
            b.apply("item", "SequenceAt", 20, &["list", "index"], &["y"], vec![]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["z"], vec![int("axis", -1)]).unwrap();
            b.output("z");
        });
        there_and_back(&format!("positive={positive} longer={longer}"), &model, &inputs);
    }
}

#[test]
fn items_of_unequal_shapes_at_an_unknown_index_are_refused() {
    let x = floats(&mut fastrand::Rng::with_seed(17), &[2, 3]);
    let (model, inputs) = model(&x, false, |b| {
        constant(b, "axes", Tensor::vector(&[0i64]));
        b.apply("mean", "ReduceMax", 20, &["x", "axes"], &["mean"], vec![int("keepdims", 0)]).unwrap();
        b.apply("list", "SequenceConstruct", 20, &["x", "mean"], &["list"], vec![]).unwrap();
        b.apply("max", "ReduceMax", 20, &["x"], &["max"], vec![int("keepdims", 0)]).unwrap();
        b.apply("sub", "Sub", 20, &["max", "max"], &["none"], vec![]).unwrap();
        b.apply("cast", "Cast", 20, &["none"], &["index"], vec![int("to", 7)]).unwrap();
        b.apply("item", "SequenceAt", 20, &["list", "index"], &["y"], vec![]).unwrap();
    });
    model.run(&inputs).unwrap();
    assert!(refusal(&model).contains("items of unequal shapes"), "{}", refusal(&model));
}

#[test]
fn operators_that_are_lowered_stay_where_the_operator_set_has_them() {
    let mut random = fastrand::Rng::with_seed(6);
    let inputs = [&[2, 3, 4, 8][..], &[2, 4, 4], &[2, 4, 4]].map(|dims| floats(&mut random, dims));
    let (model, inputs) = One::of(Standard::Onnx, "RotaryEmbedding", 23).inputs(&inputs).known().model();
    let want = model.run(&inputs).unwrap();
    for (opset, stays) in [(24, true), (22, false), (17, false)] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        let named =
            |name: &str| converted.model.graph().nodes().iter().any(|node| &*node.operator.name == name);
        assert_eq!(named("RotaryEmbedding"), stays, "opset {opset}");
        let noted = converted.report.notes.iter().any(|note| note.exactness == Exactness::Rounding);
        assert_eq!(noted, !stays, "opset {opset}");
        same(&format!("opset {opset}"), &want, &converted.model, &inputs, stays);
    }
}

/// A pool of windows of two by one, two steps apart.
fn pool(operator: &str, x: &Tensor, include: bool) -> (Model, Values) {
    let ints = |values: &[i64]| Content::Ints(values.into());
    let pool = One::of(Standard::Onnx, operator, 22)
        .inputs(std::slice::from_ref(x))
        .attribute("kernel_shape", ints(&[2, 1]))
        .attribute("strides", ints(&[2, 1]));
    if include { pool.attribute("count_include_pad", Content::Int(1)) } else { pool }.known().model()
}

#[test]
fn a_window_larger_than_the_data_lies_on_what_there_is() {
    let mut random = fastrand::Rng::with_seed(7);
    let x = floats(&mut random, &[1, 1, 1, 3]);
    for operator in ["MaxPool", "AveragePool"] {
        let (model, inputs) = pool(operator, &x, false);
        let got = model.run(&inputs).unwrap();
        assert_eq!(difference(&x, got[0].tensor().unwrap(), true), None, "{operator}");
        there_and_back(operator, &model, &inputs);
    }
    let refused =
        [("AveragePool", true, "no equivalent of an average"), ("LpPool", false, "cannot convert LpPool")];
    for (operator, include, why) in refused {
        let (model, inputs) = pool(operator, &x, include);
        assert_eq!(
            model.run(&inputs).unwrap()[0].tensor().unwrap().shape().dims(),
            [1, 1, 1, 3],
            "{operator}"
        );
        assert!(refusal(&model).contains(why), "{}", refusal(&model));
    }
}

#[test]
fn the_number_of_windows_is_right_for_every_size() {
    let sizes = [1, 1].map(DeclaredDim::Known).into_iter();
    let sizes = sizes.chain([DeclaredDim::Symbol("h".into()), DeclaredDim::Known(3)]).collect();
    let mut options = InferOptions::default();
    options.inputs.insert("x0".into(), InputFact::Type(Type::Tensor(Some(DType::F32), Some(sizes))));
    for height in 1..20 {
        let x = Tensor::zeros(DType::F32, Shape::new([1, 1, height, 3]).unwrap()).unwrap();
        let (model, inputs) = pool("MaxPool", &x, false);
        let inference = model.infer(&options).unwrap();
        let Fact::Tensor(fact) = inference.fact(model.graph().outputs()[0]) else { panic!("no tensor") };
        let windows = fact.dims.as_ref().unwrap()[2];
        assert_eq!(inference.symbols().print(windows).to_string(), "max(h//2, 1)");
        let bound = |name: &str| (name == "h").then(|| i64::try_from(height).unwrap());
        let run = model.run(&inputs).unwrap();
        let size = run[0].tensor().unwrap().shape().dims()[2];
        assert_eq!(inference.symbols().evaluate(windows, &bound), i64::try_from(size).ok(), "{height}");
    }
}

fn word(text: &str) -> Content {
    Content::Bytes(text.to_owned().into())
}

/// Resizes that `Interpolate` does not do.
#[test]
fn resizes_become_weighted_sums_where_sizes_are_known() {
    let mut random = fastrand::Rng::with_seed(7);
    let plain = |name, number| (name, Content::Int(number));
    let coordinates = |text| ("coordinate_transformation_mode", word(text));
    let cases = [
        ("cubic", vec![plain("exclude_outside", 1)]),
        ("cubic", vec![plain("exclude_outside", 1), coordinates("asymmetric")]),
        ("linear", vec![plain("antialias", 1)]),
        ("cubic", vec![plain("antialias", 1)]),
        ("linear", vec![coordinates("half_pixel_symmetric")]),
        ("nearest", vec![coordinates("tf_crop_and_resize")]),
        ("linear", vec![coordinates("tf_crop_and_resize"), ("extrapolation_value", Content::Float(7.0))]),
    ];
    for (mode, attributes) in cases {
        for (open, dtype) in [(false, DType::F32), (false, DType::F16), (true, DType::F32)] {
            let x = floats(&mut random, &[1, 2, 5, 7]);
            let x = gradus::convert::cast(&x, dtype, Rules::IEEE).unwrap();
            let crops = attributes.iter().any(
                |(_, content)| matches!(content, Content::Bytes(text) if &**text == b"tf_crop_and_resize"),
            );
            let region: &[f32] = if crops { &[0.0, 0.0, 0.25, -0.5, 1.0, 1.0, 0.75, 1.0] } else { &[] };
            let scales = Tensor::vector(&[1.0f32, 1.0, 0.7, 1.5]);
            let one = One::of(Standard::Onnx, "Resize", 19)
                .inputs(&[x])
                .constants(&[Tensor::vector(region), scales]);
            let one =
                attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone()));
            let one = one.attribute("mode", word(mode));
            if open {
                let why = refusal(&one.model().0);
                assert!(why.contains("the shape of input 0 is not known"), "{why}");
            } else {
                let (model, given) = one.known().model();
                there_and_back(&format!("{mode} {attributes:?}"), &model, &given);
            }
        }
    }
}

#[test]
fn determinants_become_steps_of_elimination() {
    let mut random = fastrand::Rng::with_seed(9);
    for size in 1..8 {
        for batch in [&[][..], &[3], &[2, 2]] {
            let x = floats(&mut random, &[batch, &[size, size]].concat());
            let (model, given) = One::of(Standard::Onnx, "Det", 22).inputs(&[x]).known().model();
            there_and_back(&format!("{size} {batch:?}"), &model, &given);
        }
    }
    // Without a pivot, and with rows that change places.
    let rows = [0.0f32, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 5.0];
    let x = Tensor::from_vec(Shape::new([2, 3, 3]).unwrap(), rows.to_vec()).unwrap();
    let (model, given) = One::of(Standard::Onnx, "Det", 22).inputs(std::slice::from_ref(&x)).known().model();
    there_and_back("pivots", &model, &given);
    let (model, _) = One::of(Standard::Onnx, "Det", 22).inputs(&[x]).model();
    assert!(refusal(&model).contains("number of rows of Det"), "{}", refusal(&model));
}

#[test]
fn volumes_are_sampled_by_gathers() {
    let mut random = fastrand::Rng::with_seed(11);
    for mode in ["linear", "nearest"] {
        for padding in ["zeros", "border", "reflection"] {
            for corners in [0, 1] {
                let sizes: Vec<_> = (0..3).map(|_| random.usize(1..4)).collect();
                let x = floats(&mut random, &[&[2, 2], &sizes[..]].concat());
                let grid = floats(&mut random, &[2, 2, 1, 3, 3]);
                let one = One::of(Standard::Onnx, "GridSample", 20).inputs(&[x, grid]);
                let one = one.attribute("mode", word(mode)).attribute("padding_mode", word(padding));
                let (model, given) = one.attribute("align_corners", Content::Int(corners)).model();
                there_and_back(&format!("{mode} {padding} {corners} {sizes:?}"), &model, &given);
            }
        }
    }
}

/// The loss is PaddlePaddle's.
#[test]
fn ways_through_a_tree_end_before_the_first_number_below_zero() {
    let of = |dtype, dims: &[usize], numbers: &[f64]| {
        let numbers = numbers.iter().map(|&x| Number::Float(x));
        Tensor::from_numbers(dtype, Shape::new(dims).unwrap(), numbers, Rules::IEEE).unwrap()
    };
    let (x, w) =
        (of(DType::F32, &[2, 2], &[1.0, 2.0, 1.0, 2.0]), of(DType::F32, &[2, 2], &[1.0, -1.0, 0.5, 0.25]));
    let (label, bias) = (of(DType::I64, &[2, 1], &[0.0, 1.0]), of(DType::F32, &[2, 1], &[0.0, 0.0]));
    let path = of(DType::I64, &[2, 3], &[0.0, -1.0, 1.0, 1.0, 0.0, -1.0]);
    let code = of(DType::I64, &[2, 3], &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let one = One::of(Standard::Paddle, "hsigmoid_loss", 3).inputs(&[x, label, w, bias, path, code]);
    let (model, given) = one.attribute("num_classes", Content::Int(3)).model();
    let got = model.run(&given).unwrap();
    let loss = (&got).into_iter().next().unwrap().1.tensor().unwrap();
    let want = of(DType::F32, &[2, 1], &[2.699_555_9, 3.319_670_4]);
    assert!(difference(&want, loss, false).is_none(), "{loss:?}");
}

/// The same sum in another order is less than 1, and truncated to 0.
#[test]
fn windows_reach_one() {
    for operator in ["HannWindow", "HammingWindow", "BlackmanWindow"] {
        let one = One::of(Standard::Onnx, operator, 17).inputs(&[Tensor::scalar(100i64)]);
        let (model, given) = one.attribute("output_datatype", Content::Int(6)).model();
        let got = model.run(&given).unwrap();
        let got = (&got).into_iter().next().unwrap().1.tensor().unwrap();
        assert_eq!(got.elements::<i32>().unwrap()[50], 1, "{operator}");
    }
}
