//! Compiled models: many runs, shared functions, and limits and operators that stay with the model.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../examples/custom_operator.rs"]
mod custom_operator;

use std::sync::Arc;

use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{self, Attribute, Builder, Content, Function, Graph, Node, OperatorId, Origin, Standard};
use gradus::{Kind, Limits, Model, OpenOptions, Result, RunOptions, Shape, Tensor};

fn id(name: &str) -> OperatorId {
    OperatorId { domain: "f".into(), name: name.into(), overload: "".into() }
}

fn call(builder: &mut Builder, name: &str, attributes: Vec<(&str, Content)>, input: &str, output: &str) {
    let attribute = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
    let node = Node {
        name: output.into(),
        operator: id(name),
        version: Some(1),
        inputs: [Some(builder.reference(input))].into_iter().collect(),
        outputs: <_>::default(),
        attributes: attributes.into_iter().map(attribute).collect(),
        position: None,
    };
    builder.push(node, &[output]).unwrap();
}

/// A graph from `x` to `y` of calls, one after the other.
fn calls(names: &[&str]) -> Graph {
    let mut builder = Builder::new("");
    builder.define("x", Origin::Input).unwrap();
    let mut last = "x".to_owned();
    for (index, name) in names.iter().enumerate() {
        let next = if index + 1 == names.len() { "y".to_owned() } else { format!("v{index}") };
        if name.is_empty() {
            builder.apply("", "Identity", 21, &[&last], &[&next], vec![]).unwrap();
        } else {
            call(&mut builder, name, vec![], &last, &next);
        }
        last = next;
    }
    builder.output("y");
    builder.finish().unwrap()
}

fn model(main: Graph, functions: Vec<Function>) -> graph::Model {
    let mut model = graph::Model::new(Standard::Onnx);
    (model.graph, model.functions) = (main, functions);
    model
}

fn function(name: &str, body: Graph) -> Function {
    Function { id: id(name), attributes: vec![], body }
}

/// Functions of which each calls the one before so often.
fn chain(len: usize, times: usize) -> Vec<Function> {
    let names: Vec<_> = (0..len).map(|i| format!("f{i}")).collect();
    let before = |i: usize| if i == 0 { "" } else { names[i - 1].as_str() };
    (0..len).map(|i| function(&names[i], calls(&vec![before(i); times]))).collect()
}

#[test]
fn functions_that_double_end_at_the_limit_of_steps() {
    let source = model(calls(&["f27"]), chain(28, 2));
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 100_000;
    let error = OpenOptions::new().limits(limits).from_source(source).run([("x", Tensor::scalar(1i64))]);
    let error = error.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "the run takes more than 100000 steps (--max-steps)")
    );
}

#[test]
fn shared_functions_count_their_levels_wherever_they_are_called() {
    let run = |main: &[&str]| {
        let outputs = Model::from_source(model(calls(main), chain(33, 1))).run([("x", Tensor::scalar(1i64))]);
        outputs.map(|outputs| outputs["y"].tensor().unwrap().to_i64().unwrap())
    };
    assert_eq!(run(&["f31"]).unwrap(), [1]);
    // The second call finds 20 levels of it compiled.
    assert_eq!(run(&["f19", "f31"]).unwrap(), [1]);
    for main in [&["f32"][..], &["f19", "f32"], &["f31", "f32"]] {
        let error = run(main).unwrap_err();
        assert_eq!(error.message(), "graphs and functions are nested more than 32 deep", "{main:?}");
    }
}

#[test]
fn functions_are_compiled_for_each_argument() {
    // f(x, to) casts x, and g(x, to) calls it with its own argument.
    let parameter = || Content::Parameter("to".into());
    let mut cast = Builder::new("");
    cast.define("x", Origin::Input).unwrap();
    cast.apply("", "Cast", 21, &["x"], &["y"], vec![("to", parameter())]).unwrap();
    cast.output("y");
    let mut outer = Builder::new("");
    outer.define("x", Origin::Input).unwrap();
    call(&mut outer, "f", vec![("to", parameter())], "x", "y");
    outer.output("y");
    let attributes = || vec![(Arc::from("to"), None)];
    let functions = vec![
        Function { attributes: attributes(), ..function("f", cast.finish().unwrap()) },
        Function { attributes: attributes(), ..function("g", outer.finish().unwrap()) },
    ];
    let mut main = Builder::new("");
    main.define("x", Origin::Input).unwrap();
    for (name, to, output) in [("g", 1, "float"), ("g", 7, "long"), ("f", 7, "same"), ("f", 9, "bool")] {
        call(&mut main, name, vec![("to", Content::Int(to))], "x", output);
        main.output(output);
    }
    let outputs = Model::from_source(model(main.finish().unwrap(), functions));
    let outputs = outputs.run([("x", Tensor::scalar(2i32))]).unwrap();
    let types: Vec<_> = outputs.iter().map(|(_, value)| value.dtype().unwrap().name()).collect();
    assert_eq!(types, ["float32", "int64", "int64", "bool"]);
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn tokens(len: usize) -> [(&'static str, Tensor); 1] {
    [("tokens", Tensor::from_vec(Shape::new([1, len]).unwrap(), vec![7i64; len]).unwrap())]
}

#[test]
fn programs_run_many_times_from_many_threads() -> Result<()> {
    let model = Model::open(example("positions.onnx"))?;
    let program = model.compile(&["token_count", "phase"], &RunOptions::default())?;
    std::thread::scope(|scope| {
        for len in 1..5 {
            let program = &program;
            scope.spawn(move || {
                for _ in 0..10 {
                    let outputs = program.run(tokens(len)).unwrap();
                    let names: Vec<_> = outputs.iter().map(|(name, _)| &**name).collect();
                    assert_eq!(names, ["token_count", "phase"]);
                    assert_eq!(outputs["token_count"], outputs[0]);
                    assert_eq!(outputs["phase"].tensor().unwrap().len(), len);
                    assert!(outputs.get("position_ids").is_none());
                }
            });
        }
    });
    let error = model.compile(&["phases"], &RunOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("unknown value \"phases\"; did you mean \"phase\"?"), "{error}");
    Ok(())
}

#[test]
fn limits_stay_with_edited_and_converted_models() -> Result<()> {
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 1;
    let model = OpenOptions::new().limits(limits).open(example("positions.onnx"))?;
    let edited = model.edited(&model.fold(&FoldOptions::default())?.edit)?;
    let converted = model.convert(Standard::OpenVino, &ConvertOptions::default())?.model;
    for model in [&model, &edited, &converted] {
        let error = model.run(tokens(3)).unwrap_err();
        assert_eq!(error.message(), "the run takes more than 1 steps (--max-steps)");
        let mut options = RunOptions::default();
        options.limits = Some(Limits::DEFAULT);
        assert!(model.compile(&[], &options)?.run(tokens(3)).is_ok());
    }
    Ok(())
}

#[test]
fn registered_operators_are_inferred_run_and_folded() -> Result<()> {
    custom_operator::main()
}
