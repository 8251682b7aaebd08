//! Models whose nodes call functions of the model, in OpenVINO's operators and in other operator
//! sets: the same results.

use std::path::Path;
use std::sync::Arc;

use gradus::conversion::ConvertOptions;
use gradus::graph::{
    self, Attribute, Builder, Content, DeclaredDim, Function, Graph, Node, OperatorId, Origin, Standard, Type,
};
use gradus::{DType, Kind, Limits, Model, Shape, Tensor};

/// A node: the operator, which of the domain `f` calls a function, its version, inputs, outputs and
/// attributes.
type Step<'a> = (&'a str, i64, &'a [&'a str], &'a [&'a str], Vec<(&'a str, Content)>);

/// Adds nodes; `f.square` is an operator of the domain `f`.
fn push(builder: &mut Builder, steps: Vec<Step<'_>>) {
    for (operator, version, inputs, outputs, attributes) in steps {
        let (domain, name) = operator.split_once('.').unwrap_or(("", operator));
        let (name, overload) = name.split_once(':').unwrap_or((name, ""));
        let attribute = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        let node = Node {
            name: "".into(),
            operator: OperatorId { domain: domain.into(), name: name.into(), overload: overload.into() },
            version: Some(version),
            inputs: inputs.iter().map(|key| (!key.is_empty()).then(|| builder.reference(key))).collect(),
            outputs: <_>::default(),
            attributes: attributes.into_iter().map(attribute).collect(),
            position: None,
        };
        builder.push(node, outputs).unwrap();
    }
}

fn body(mut builder: Builder, inputs: &[&str], steps: Vec<Step<'_>>, outputs: &[&str]) -> Graph {
    for input in inputs {
        builder.define(input, Origin::Input).unwrap();
    }
    push(&mut builder, steps);
    for output in outputs {
        builder.output(output);
    }
    builder.finish().unwrap()
}

fn function(name: &str, attributes: &[(&str, Option<Content>)], body: Graph) -> Function {
    let (name, overload) = name.split_once(':').unwrap_or((name, ""));
    let named = |(name, default): &(&str, Option<Content>)| {
        let default = default.clone().map(|content| Attribute { name: (*name).into(), content });
        ((*name).into(), default)
    };
    Function {
        id: OperatorId { domain: "f".into(), name: name.into(), overload: overload.into() },
        attributes: attributes.iter().map(named).collect(),
        body,
    }
}

/// A model of float32 inputs of three rows and any number of columns.
fn model(functions: Vec<Function>, inputs: &[&str], steps: Vec<Step<'_>>, outputs: &[&str]) -> Model {
    let mut main = Builder::new("main");
    for input in inputs {
        let id = main.define(input, Origin::Input).unwrap();
        let dims = vec![DeclaredDim::Known(3), DeclaredDim::Symbol("n".into())];
        main.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(dims)));
    }
    let mut source = graph::Model::new(Standard::Onnx);
    (source.graph, source.functions) = (body(main, &[], steps, outputs), functions);
    Model::from_source(source)
}

fn matrix(values: [f32; 6]) -> Tensor {
    Tensor::from_vec(Shape::new([3, 2]).unwrap(), values.to_vec()).unwrap()
}

/// Converts a model to OpenVINO and to operator sets of ONNX; all give what it gives.
fn same_everywhere(model: &Model) {
    let values = [matrix([1.0, -2.0, 3.5, 0.0, -0.25, 8.0]), matrix([2.0, 5.0, -1.0, 0.5, 4.0, -8.0])];
    let names = model.graph().inputs().iter().map(|id| model.graph().value(*id).name.to_string());
    let inputs: Vec<_> = names.zip(values).collect();
    let want = model.run(inputs.clone()).unwrap();
    for (to, opset) in [(Standard::OpenVino, None), (Standard::Onnx, Some(13)), (Standard::Onnx, Some(21))] {
        let mut options = ConvertOptions::default();
        options.opset = opset;
        let converted = model.convert(to, &options).unwrap().model;
        assert!(converted.source().functions.is_empty());
        let got = converted.run(inputs.clone()).unwrap();
        for ((name, want), (other, got)) in want.iter().zip(&got) {
            assert_eq!((name, want), (other, got), "{to} {opset:?}");
        }
    }
}

fn negated() -> Function {
    function("g", &[], body(Builder::new("g"), &["x"], vec![("Neg", 13, &["x"], &["y"], vec![])], &["y"]))
}

#[test]
fn the_example_with_a_function_is_converted() {
    let model =
        Model::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/function.onnx")).unwrap();
    assert_eq!(model.source().functions.len(), 1);
    for (to, opset) in [(Standard::OpenVino, None), (Standard::Onnx, Some(13))] {
        let mut options = ConvertOptions::default();
        options.opset = opset;
        let converted = model.convert(to, &options).unwrap();
        assert!(converted.model.source().functions.is_empty());
    }
}

#[test]
fn calls_within_calls_keep_their_values_apart() {
    // g negates; f(x) = g(g(x) + x). Both have values of the names of the main graph.
    let f = vec![
        ("f.g", 1, &["x"][..], &["y"][..], vec![]),
        ("Add", 14, &["y", "x"], &["z"], vec![]),
        ("f.g", 1, &["z"], &["w"], vec![]),
    ];
    let f = function("f", &[], body(Builder::new("f"), &["x"], f, &["w"]));
    let main = vec![
        ("f.f", 1, &["x"][..], &["z"][..], vec![]),
        ("Mul", 14, &["z", "y"], &["w"], vec![]),
        ("f.f", 1, &["w"], &["v"], vec![]),
        ("f.g", 1, &["v"], &["f/y"], vec![]),
    ];
    same_everywhere(&model(vec![f, negated()], &["x", "y"], main, &["z", "v", "f/y"]));
}

#[test]
fn a_body_of_another_operator_set_means_what_its_set_says() {
    // ReduceSum-8 has its axes as an attribute, Clip-6 its bounds.
    let f = vec![
        ("ReduceSum", 8, &["x"][..], &["s"][..], vec![("axes", Content::Ints([0].into()))]),
        ("Clip", 8, &["s"], &["y"], vec![("min", Content::Float(0.5)), ("max", Content::Float(4.0))]),
    ];
    let f = function("f", &[], body(Builder::new("f"), &["x"], f, &["y"]));
    let main = vec![
        ("Abs", 13, &["x"][..], &["a"][..], vec![]),
        ("f.f", 1, &["a"], &["y"], vec![]),
        ("Relu", 14, &["y"], &["z"], vec![]),
    ];
    same_everywhere(&model(vec![f], &["x"], main, &["z"]));
}

#[test]
fn attributes_of_a_call_or_their_defaults_are_those_of_the_body() {
    // f(x, axis = 0, keepdims) reduces; h hands its own attribute on, and leaves the other.
    let reduce = |name: &str, function_name: &str| {
        let parameter = |name: &str| Content::Parameter(name.into());
        let attributes = vec![("axis", parameter("axis")), ("keepdims", parameter("keepdims"))];
        let steps = vec![(name, 13, &["x"][..], &["y"][..], attributes)];
        let attributes = [("axis", Some(Content::Int(0))), ("keepdims", None)];
        function(function_name, &attributes, body(Builder::new("f"), &["x"], steps, &["y"]))
    };
    let handed = vec![("keepdims", Content::Parameter("keep".into()))];
    let h = vec![("f.f", 1, &["x"][..], &["y"][..], handed)];
    let h = function("h", &[("keep", None)], body(Builder::new("h"), &["x"], h, &["y"]));
    let main = vec![
        ("f.f", 1, &["x"][..], &["a"][..], vec![]),
        ("f.f", 1, &["x"], &["b"], vec![("axis", Content::Int(1)), ("keepdims", Content::Int(0))]),
        ("f.h", 1, &["x"], &["c"], vec![("keep", Content::Int(0))]),
        ("f.f:least", 1, &["x"], &["d"], vec![]),
    ];
    let functions = vec![reduce("ArgMax", "f"), h, reduce("ArgMin", "f:least")];
    same_everywhere(&model(functions, &["x"], main, &["a", "b", "c", "d"]));
}

#[test]
fn outputs_may_be_inputs_and_inputs_may_be_missing() {
    // f(x, low) gives x twice, x clipped, and clipped again under another name of the call.
    let f = vec![("Clip", 13, &["x", "low"][..], &["y"][..], vec![])];
    let f = function("f", &[], body(Builder::new("f"), &["x", "low"], f, &["x", "y", "x", "y"]));
    let zero = ("value", Content::Tensor(Tensor::scalar(0f32).into()));
    let main = vec![
        ("Constant", 13, &[][..], &["zero"][..], vec![zero]),
        ("f.f", 1, &["x", "zero"], &["a", "b", "c", "d"], vec![]),
        ("f.f", 1, &["x"], &["", "e", "g"], vec![]),
    ];
    same_everywhere(&model(vec![f], &["x"], main, &["a", "b", "c", "d", "e", "g"]));
}

/// An If whose branches read the value `z` from outside, and name their own value `y`.
fn branches(condition: &'static str) -> Step<'static> {
    let branch = |operator: &str| {
        let steps = vec![(operator, 13, &["z"][..], &["y"][..], vec![])];
        Content::Graph(Arc::new(body(Builder::nested("branch"), &[], steps, &["y"])))
    };
    let then = vec![("f.g", 1, &["z"][..], &["y"][..], vec![])];
    let then = Content::Graph(Arc::new(body(Builder::nested("then"), &[], then, &["y"])));
    let attributes = vec![("then_branch", then), ("else_branch", branch("Abs"))];
    ("If", 16, if condition == "up" { &["up"] } else { &["down"] }, &["chosen"], attributes)
}

#[test]
fn graphs_within_bodies_read_the_values_of_their_call() {
    let truth = |value: bool| {
        let tensor = Tensor::scalar(gradus::element::Bool::from(value));
        vec![("value", Content::Tensor(tensor.into()))]
    };
    let f = vec![
        ("Add", 14, &["y", "y"][..], &["z"][..], vec![]),
        branches("up"),
        ("Sub", 14, &["chosen", "y"], &["w"], vec![]),
    ];
    let f = function("f", &[], body(Builder::new("f"), &["y", "up"], f, &["w"]));
    let main = vec![
        ("Constant", 13, &[][..], &["true"][..], truth(true)),
        ("Constant", 13, &[], &["down"], truth(false)),
        ("f.f", 1, &["x", "true"], &["a"], vec![]),
        ("f.f", 1, &["a", "down"], &["z"], vec![]),
        branches("down"),
    ];
    same_everywhere(&model(vec![f, negated()], &["x"], main, &["a", "z", "chosen"]));
}

/// An If whose outputs are its own value, a value of the graph around, and a constant.
fn choice<'a>(condition: &'a [&'a str], outputs: &'a [&'a str], inner: Option<Step<'_>>) -> Step<'a> {
    let branch = |operator: &'static str, inner: Option<Step<'_>>| {
        let constant = ("value", Content::Tensor(Tensor::scalar(3f32).into()));
        let mut steps = vec![
            ("Constant", 13, &[][..], &["c"][..], vec![constant]),
            (operator, 13, &["x"], &["y"], vec![]),
        ];
        let own = if let Some(inner) = &inner { inner.3[0].to_owned() } else { "y".to_owned() };
        steps.extend(inner);
        Content::Graph(Arc::new(body(Builder::nested("branch"), &[], steps, &[&own, "x", "c"])))
    };
    let attributes =
        vec![("then_branch", branch("Neg", inner.clone())), ("else_branch", branch("Abs", inner))];
    ("If", 16, condition, outputs, attributes)
}

#[test]
fn the_branch_that_always_runs_takes_the_place_of_its_node() {
    let truth = |value: bool| {
        let tensor = Tensor::scalar(gradus::element::Bool::from(value));
        vec![("value", Content::Tensor(tensor.into()))]
    };
    let within = choice(&["no"], &["inner", "", ""], None);
    let main = vec![
        ("Constant", 13, &[][..], &["yes"][..], truth(true)),
        ("Constant", 13, &[], &["no"], truth(false)),
        choice(&["yes"], &["a", "b", "c"], Some(within)),
        choice(&["no"], &["d", "e", ""], None),
        ("Add", 14, &["a", "d"], &["sum"], vec![]),
    ];
    let model = model(vec![], &["x"], main, &["sum", "b", "c", "e"]);
    same_everywhere(&model);
    let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
    let operators: Vec<_> = converted.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    assert!(!operators.contains(&"If") && operators.contains(&"Abs"), "{operators:?}");
    assert_eq!(operators.iter().filter(|name| **name == "Abs").count(), 2);
}

#[test]
fn bodies_that_take_too_much_are_refused() {
    // Each function calls the one before twice; the first calls itself.
    let doubled = |name: &str, before: &str| {
        let before = format!("f.{before}");
        let steps = vec![
            (before.as_str(), 1, &["x"][..], &["y"][..], vec![]),
            (before.as_str(), 1, &["y"], &["z"], vec![]),
        ];
        function(name, &[], body(Builder::new(name), &["x"], steps, &["z"]))
    };
    let names: Vec<_> = (0..30).map(|level| format!("f{level}")).collect();
    let mut functions: Vec<_> = names.windows(2).map(|pair| doubled(&pair[1], &pair[0])).collect();
    let call = || vec![("f.f29", 1, &["x"][..], &["y"][..], vec![])];
    functions.push(Function { id: OperatorId { name: "f0".into(), ..negated().id }, ..negated() });
    let refused = |functions: &[Function]| {
        let mut limits = Limits::DEFAULT;
        limits.max_bytes = 64 << 20;
        let model = model(functions.to_vec(), &["x"], call(), &["y"]).with_limits(limits);
        model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err()
    };
    assert_eq!(refused(&functions).kind(), Kind::Limit);
    functions.push(doubled("f0", "f0"));
    functions.remove(29);
    let error = refused(&functions);
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "graphs and functions are nested more than 32 deep")
    );
}

#[test]
fn one_model_does_not_hold_two_versions_of_another_domain() {
    let wave = |version| vec![("own.Wave", version, &["x"][..], &["y"][..], vec![])];
    let f = function("f", &[], body(Builder::new("f"), &["x"], wave(1), &["y"]));
    let mut main = wave(2);
    main.push(("f.f", 1, &["y"], &["z"], vec![]));
    let mut options = ConvertOptions::default();
    options.opset = Some(13);
    let error = model(vec![f], &["x"], main, &["z"]).convert(Standard::Onnx, &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            Kind::Unsupported,
            "cannot convert: operator set of own of the node is 1, expected 2, as of the nodes before"
        )
    );
}
