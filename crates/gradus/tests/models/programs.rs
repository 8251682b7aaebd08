//! Compiled models: many runs, shared functions, and limits and operators that stay with the model.

#[path = "../../examples/custom_operator.rs"]
mod custom_operator;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{self, Builder, Function, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Fact, Kind, Limits, Model, OpenOptions, Result, RunOptions, Shape, Tensor, Value};

use crate::common::sketch::{Sketch, function};

/// A graph from `x` to `y` of calls, one after the other.
fn calls(names: &[&str]) -> String {
    let operator = |name: &&str| if name.is_empty() { "Identity".to_owned() } else { format!("f.{name}@1") };
    let call = |(index, name)| format!("v{} = {}(v{index});", index + 1, operator(name));
    let calls = names.iter().enumerate().map(call).collect::<String>();
    format!("v0: ?; {calls} return v{}", names.len())
}

fn model(main: &str, functions: Vec<Function>) -> graph::Model {
    let mut model = Sketch::of(main).source(21);
    model.functions = functions;
    model
}

/// Functions of which each calls the one before so often.
fn chain(len: usize, times: usize) -> Vec<Function> {
    let names: Vec<_> = (0..len).map(|i| format!("f{i}")).collect();
    let before = |i: usize| if i == 0 { "" } else { names[i - 1].as_str() };
    (0..len).map(|i| function(&names[i], &[], &calls(&vec![before(i); times]))).collect()
}

#[test]
fn functions_that_double_end_at_the_limit_of_steps() {
    let source = model(&calls(&["f27"]), chain(28, 2));
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 100_000;
    let error = OpenOptions::new().limits(limits).from_source(source).run([("v0", Tensor::scalar(1i64))]);
    let error = error.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "the run takes more than 100000 steps (--max-steps)")
    );
}

/// A loop that makes a tensor of two million elements in each iteration, and reads it.
fn endless() -> graph::Model {
    let text = "trips = 9223372036854775807; x = 1.0; shape = [2000000]; y = Loop(trips, , x, body={
        i: ?; go: ?; sum: ?; wide = Expand(sum, shape); next = ReduceSum(wide, keepdims=0);
        return go, next}); return y";
    model(text, vec![])
}

static STOPPED: AtomicBool = AtomicBool::new(false);

#[test]
fn runs_end_at_the_limit_of_work_at_the_deadline_and_when_they_are_stopped() {
    let long = Duration::from_millis(100);
    let [mut elements, mut deadline, mut stop] = [Limits::DEFAULT; 3];
    elements.max_work = 100_000_000;
    deadline.deadline = Some(Instant::now() + long);
    stop.stop = Some(|| STOPPED.load(Ordering::Relaxed));
    std::thread::spawn(move || {
        std::thread::sleep(long);
        STOPPED.store(true, Ordering::Relaxed);
    });
    for (limits, message) in [
        (stop, "the work was stopped"),
        (elements, "the run touches more than 100000000 elements (--max-work)"),
        (deadline, "the time limit is exceeded (--timeout)"),
    ] {
        let model = OpenOptions::new().limits(limits).from_source(endless());
        let error = model.run::<&str, Tensor>([]).unwrap_err();
        assert_eq!((error.kind(), error.message()), (Kind::Limit, message));
        if limits.max_work == Limits::DEFAULT.max_work {
            assert_eq!(model.infer(&InferOptions::default()).unwrap_err().message(), message);
            assert_eq!(model.fold(&FoldOptions::default()).unwrap_err().message(), message);
            let converted = model.convert(Standard::OpenVino, &ConvertOptions::default());
            assert_eq!(converted.unwrap_err().message(), message);
        }
    }
}

#[test]
fn products_of_matrices_count_their_multiplications() {
    let x = Tensor::zeros(DType::F32, Shape::new([20, 20]).unwrap()).unwrap();
    let source = model("x: ?; y = MatMul(x, x); return y", vec![]);
    let run = |max_work| {
        let mut limits = Limits::DEFAULT;
        limits.max_work = max_work;
        OpenOptions::new().limits(limits).from_source(source.clone()).run([("x", x.clone())])
    };
    let work = 2 * 400 + 400 + 20 * 20 * 20;
    assert!(run(work).is_ok());
    assert_eq!(run(work - 1).unwrap_err().kind(), Kind::Limit);
}

#[test]
fn chains_of_insertions_are_known_item_by_item_while_they_are_few() {
    let len = 3000;
    let chain = |len: usize| {
        let insert = |i| format!("s{} = SequenceInsert(s{i}, x);", i + 1);
        let all = (0..len).map(insert).collect::<String>();
        Sketch::of(&format!("x: ?; s0 = SequenceEmpty(); {all} return s{len}")).unwritten(21)
    };
    for len in [500, len] {
        let model = chain(len);
        let inference = model.infer(&InferOptions::default()).unwrap();
        let known = |id| match inference.fact(id) {
            Fact::Sequence(list) => {
                assert!(list.len.known().is_some());
                list.items.as_ref().map_or(0, Vec::len)
            }
            _ => 0,
        };
        let items: usize = model.graph().ids().map(known).sum();
        let all = len * (len + 1) / 2;
        assert_eq!(items == all, len == 500, "{items} of {all}");
        assert!(items < 300_000, "{items}");
    }
}

#[test]
fn shared_functions_count_their_levels_wherever_they_are_called() {
    let run = |main: &[&str]| {
        let outputs =
            Model::from_source(model(&calls(main), chain(33, 1))).run([("v0", Tensor::scalar(1i64))]);
        outputs.map(|outputs| outputs[0].tensor().unwrap().to_i64().unwrap())
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
    let functions = vec![
        function("f", &[("to", None)], "x: ?; y = Cast(x, to=$to); return y"),
        function("g", &[("to", None)], "x: ?; y = f.f@1(x, to=$to); return y"),
    ];
    let main = "x: ?; float = f.g@1(x, to=1); long = f.g@1(x, to=7); same = f.f@1(x, to=7);
                bool = f.f@1(x, to=9); return float, long, same, bool";
    let outputs = Model::from_source(model(main, functions));
    let outputs = outputs.run([("x", Tensor::scalar(2i32))]).unwrap();
    let types: Vec<_> = outputs.iter().map(|(_, value)| value.dtype().unwrap().name()).collect();
    assert_eq!(types, ["float32", "int64", "int64", "bool"]);
}

/// A value that is given for an optional input is what the optional holds.
#[test]
fn optional_inputs_take_what_they_hold() {
    let mut builder = Builder::new("");
    let id = builder.define("x", Origin::Input).unwrap();
    builder.info(id).declared = Some(Type::Optional(Box::new(Type::Tensor(Some(DType::F32), None))));
    builder.apply("", "OptionalGetElement", 18, &["x"], &["y"], vec![]).unwrap();
    builder.output("y");
    let mut source = graph::Model::new(Standard::Onnx);
    source.graph = builder.finish().unwrap();
    let model = Model::from_source(source);
    let x = Value::Tensor(Tensor::vector(&[1f32, 2.0]));
    for given in [x.clone(), Value::Optional(Some(Box::new(x.clone())))] {
        assert_eq!(model.run([("x", given)]).unwrap()["y"], x);
    }
    let error = model.run([("x", Tensor::vector(&[1i64]))]).unwrap_err().to_string();
    assert!(error.contains("expected optional float32"), "{error}");
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
    let edited = model.edited(&model.fold(&FoldOptions::default())?.model)?;
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

#[test]
fn threads_share_one_model() -> Result<()> {
    const THREADS: usize = 16;
    let folder = std::env::temp_dir().join(format!("gradus-threads-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = OpenOptions::new().open(example("positions.onnx"))?;
    let program = model.compile(&[], &RunOptions::default())?;
    let work = |name: &str| {
        let inference = model.infer(&InferOptions::default())?;
        let facts: Vec<_> = inference.facts().iter().map(|fact| inference.describe(fact)).collect();
        let folded = model.fold(&FoldOptions::default())?;
        let edited = model.edited(&folded.model)?;
        // All threads write one file, and each its own.
        for name in ["one.onnx", name] {
            model.save_edited(&folded.model, folder.join(name))?;
        }
        let own = std::fs::read(folder.join(name)).unwrap();
        Ok((model.run(tokens(3))?, program.run(tokens(5))?, edited.run(tokens(3))?, facts, own))
    };
    let alone = work("alone.onnx")?;
    std::thread::scope(|scope| {
        let each = |thread| {
            let (work, alone) = (&work, &alone);
            scope.spawn(move || {
                for _ in 0..10 {
                    let found: Result<_> = work(&format!("{thread}.onnx"));
                    assert!(found.unwrap() == *alone);
                }
            })
        };
        let threads: Vec<_> = (0..THREADS).map(each).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(std::fs::read(folder.join("one.onnx")).unwrap(), alone.4);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), THREADS + 2);
    std::fs::remove_dir_all(folder).unwrap();
    Ok(())
}
