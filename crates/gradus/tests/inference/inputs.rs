//! Inputs as they are declared, and as they are given: names, shapes, and what fails for all of them.

use std::collections::BTreeMap;

use gradus::fold::FoldOptions;
use gradus::graph::{Content, DeclaredDim, Type};
use gradus::infer::{InferOptions, InputFact, Reuse};
use gradus::{DType, Dim, Model, Tensor};

use crate::common::sketch::{Sketch, tensor_type};

/// Numbers and names of sizes.
fn shape(sizes: &[&str]) -> Type {
    let size = |text: &&str| match text.parse() {
        Ok(len) => DeclaredDim::Known(len),
        Err(_) => DeclaredDim::Symbol((*text).into()),
    };
    Type::Tensor(None, Some(sizes.iter().map(size).collect()))
}

fn given(model: &Model, sizes: &[&str]) -> InferOptions {
    let mut options = InferOptions::default();
    options.sizes.inputs = BTreeMap::from([("x".to_owned(), InputFact::Type(shape(sizes)))]);
    assert!(model.input("x").is_ok());
    options
}

fn shape_of(model: &Model, options: &InferOptions, name: &str) -> String {
    let inference = model.infer(options).unwrap();
    inference.describe(inference.fact(model.value(name).unwrap()))
}

/// Exporters write these at each place for a size of its own.
#[test]
fn names_that_say_nothing_are_no_names() {
    for name in ["?", "-1", "None", "none", " ", "unknown", "*"] {
        let model = Sketch::new().input("x", DType::F32, &[name, name]).text("y = Relu(x)");
        let model = model.output("y", DType::F32, &[name, name]).model();
        assert_eq!(shape_of(&model, &InferOptions::default(), "y"), "float32[x_0, x_1]", "{name:?}");
        let x = Tensor::zeros(DType::F32, gradus::Shape::new([2, 3]).unwrap()).unwrap();
        assert_eq!(model.run([("x", x)]).unwrap()[0].tensor().unwrap().shape().dims(), [2, 3]);
    }
    // A number in a name, and a name with a number, are names.
    for name in ["n", "unk__12", "None1", "1"] {
        let dims = vec![DeclaredDim::Symbol(name.into()); 2];
        let mut sketch = Sketch::of("x: float32[a, b]");
        let id = sketch.0.reference("x");
        sketch.0.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(dims)));
        let model = sketch.text("y = Relu(x); return y: float32[a, b]").model();
        let shape = shape_of(&model, &InferOptions::default(), "y").replace('\'', "");
        assert_eq!(shape, format!("float32[{name}, {name}]"));
    }
}

/// A shape that is given takes the place of the declared one, with numbers as with names.
#[test]
fn given_shapes_take_the_place_of_declared_ones() {
    let model = Sketch::of("x: float32[1, 136, 6]; y = Relu(x)");
    let model = model.text("return y: float32[1, 136, 6]").model();
    let numbers = given(&model, &["1", "272", "6"]);
    let mut names = given(&model, &["1", "L", "6"]);
    names.sizes.dims.insert("L".to_owned(), 272);
    for options in [numbers, names] {
        assert_eq!(shape_of(&model, &options, "y"), "float32[1, 272, 6]");
    }
    let x = || Tensor::zeros(DType::F32, gradus::Shape::new([1, 272, 6]).unwrap()).unwrap();
    assert!(model.run([("x", x())]).is_err(), "declared numbers hold a run");
    let open = model.with_input_types([("x", &shape(&["1", "L", "6"]))]).unwrap();
    assert_eq!(open.run([("x", x())]).unwrap()[0].tensor().unwrap().shape().dims(), [1, 272, 6]);
    let rank = model.with_input_types([("x", &shape(&["1"]))]).unwrap_err();
    assert_eq!(rank.message(), "rank of input \"x\" is 1, expected 3");
}

/// An index that is out of range fails wherever its node runs.
#[test]
fn failures_of_graphs_that_may_not_run_are_none_of_the_model() {
    let failing = |name: &str| {
        let index = format!("{name}_index");
        let sketch = Sketch::nested().ints(&index, &[2]).node("GatherElements", &["x", &index], &[name]);
        sketch.output(name, DType::F32, &["1"]).graph()
    };
    let plain =
        |name: &str| Sketch::nested().node("Relu", &["x"], &[name]).output(name, DType::F32, &["2"]).graph();
    let model = || Sketch::of("x: float32[2]");
    let branches = || vec![("then_branch", failing("p")), ("else_branch", plain("q"))];
    let known = |holds: i64| {
        let sketch = model().constant("a", Tensor::scalar(holds)).text("b = 1");
        sketch.text("c = Equal(a, b)").with("If", &["c"], &["y"], branches())
    };
    let looped = |runs: i64| {
        let body = Sketch::nested().text("i: int64[]; go: bool[]");
        let body = body.text("index = [2]; row = GatherElements(x, index)");
        let body = body.text("return go: bool[]; return row: float32[1]").graph();
        let sketch = model().constant("runs", Tensor::scalar(runs));
        sketch.with("Loop", &["runs", ""], &["y"], vec![("body", body)])
    };
    let by_input = model().text("c: bool[]").with("If", &["c"], &["y"], branches());
    for (what, sketch, problems) in [
        ("a branch that may run", by_input, 0),
        ("the branch that runs", known(1), 1),
        ("the branch that does not", known(0), 0),
        ("a loop that does not run", looped(0), 0),
        ("a loop that runs", looped(3), 1),
        ("a long loop", looped(1000), 1),
    ] {
        let model = sketch.output("y", DType::F32, &[""]).model();
        let inference = model.infer(&InferOptions::default()).unwrap();
        let found: Vec<_> = inference.problems().iter().map(|problem| &*problem.message).collect();
        assert_eq!(found, vec!["index 2 is out of range for size 2"; problems], "{what}");
    }
}

/// `Reshape` of `3*N*M` elements to `9*N*M` runs for no elements, and so do others.
#[test]
fn what_runs_for_sizes_of_zero_is_no_contradiction() {
    let pairs = |name: &'static str, inputs: [&[&str]; 2], attributes: Vec<(&'static str, Content)>| {
        let sketch = Sketch::new().input("a", DType::F32, inputs[0]).input("b", DType::F32, inputs[1]);
        sketch.with(name, &["a", "b"], &["y"], attributes)
    };
    let reshaped = Sketch::of(
        "a: float32[n, m, 3]; first = [0]; second = [1]; rest = [3]; target = [0, 3, 3];
         sizes = Shape(a); rows = Gather(sizes, first); columns = Gather(sizes, second);
         count = Mul(rows, columns); flat = Concat(count, rest, axis=0); t = Reshape(a, flat);
         y = Reshape(t, target)",
    );
    let split = Sketch::of("a: float32[2*n]; b: float32[n]");
    let split = split.text("size = Shape(b)");
    let split = split.text("sizes = Concat(size, size, size, axis=0)");
    let split = split.text("y, z, w = Split(a, sizes, axis=0)");
    for (what, sketch) in [
        ("Reshape", reshaped),
        ("MatMul", pairs("MatMul", [&["4", "2*n"], &["3*n", "5"]], vec![])),
        ("Concat", pairs("Concat", [&["4", "2*n"], &["4", "3*n"]], vec![("axis", Content::Int(0))])),
        ("Add", pairs("Add", [&["2*n"], &["4*n"]], vec![])),
        ("Split", split),
    ] {
        let model = sketch.output("y", DType::F32, &[""]).model();
        let inference = model.infer(&InferOptions::default()).unwrap();
        assert_eq!(inference.problems(), [], "{what}");
        let inputs = model.graph().inputs().iter().map(|&id| model.graph().value(id)).map(|info| {
            let Some(Type::Tensor(Some(dtype), Some(sizes))) = &info.declared else { unreachable!() };
            let len = |size: &DeclaredDim| if let DeclaredDim::Known(len) = size { *len } else { 0 };
            let shape = gradus::Shape::new(sizes.iter().map(len).collect::<Vec<_>>()).unwrap();
            (info.name.to_string(), Tensor::zeros(*dtype, shape).unwrap())
        });
        assert!(model.run(inputs).is_ok(), "{what}");
    }
}

/// A batch of 1 that a trace wrote into a Reshape.
#[test]
fn what_fits_meets_the_conditions() {
    let sketch = Sketch::of("x: float32[N, 3, 8]; flat = [1, 24]");
    let model = sketch.text("y = Reshape(x, flat); return y: float32[1, 24]").model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let conditions: Vec<_> = inference.conditions().iter().map(|of| &*of.text).collect();
    assert_eq!(conditions, ["N == 1"]);
    let mut cost = model.cost(&InferOptions::default()).unwrap();
    let fit = cost.fit(&model, 1 << 30, Reuse::None).unwrap();
    assert_eq!((fit.most, fit.limit.unwrap().0.as_str()), (Some(1), "N == 1"));

    // Multiples of 32 alone.
    let sketch = Sketch::of("x: float32[h]; rows = [-1, 32]");
    let model = sketch.text("y = Reshape(x, rows); return y: float32[, 32]").model();
    let mut cost = model.cost(&InferOptions::default()).unwrap();
    let fit = cost.fit(&model, 1000, Reuse::None).unwrap();
    assert_eq!((fit.most, fit.limit.unwrap().0.as_str()), (Some(96), "h%32 == 0"));
    // The next size does not fit: 8 bytes for each, and 16 of a constant.
    let fit = cost.fit(&model, 96 * 8 + 16, Reuse::None).unwrap();
    assert_eq!((fit.most, fit.limit), (Some(96), None));
}

/// The length of a mask follows from that of a cache, which only a node says.
#[test]
fn a_fit_names_the_link_between_sizes() {
    let model = Sketch::of(
        "past: float32[past, 4]; new: float32[1, 4]; mask: float32[total, 4];
         all = Concat(past, new, axis=0); y = Mul(all, mask); return y: float32[, 4]",
    )
    .model();
    let error = model.cost(&InferOptions::default()).unwrap().fit(&model, 1 << 20, Reuse::None).unwrap_err();
    assert!(error.message().ends_with("or assume \"past + 1 == total\""), "{error}");
    let mut options = InferOptions::default();
    options.sizes.assume.conditions.push("total == past + 1".to_owned());
    assert!(model.cost(&options).unwrap().fit(&model, 1 << 20, Reuse::None).unwrap().most.is_some());
}

/// Sizes that a product makes equal, and a batch that has a largest value.
#[test]
fn a_fit_follows_the_links_between_sizes() {
    let model = Sketch::of(
        "past: float32[past, 4]; new: float32[1, 4]; mask: float32[batch, total];
         all = Concat(past, new, axis=0); y = MatMul(mask, all); return y: float32[batch, 4]",
    )
    .model();
    let mut options = InferOptions::default();
    options.sizes.assume.ranges.insert("batch".to_owned(), (1, Some(8)));
    let bytes = |past: i64| {
        let mut options = InferOptions::default();
        options.sizes.dims = [("past", past), ("batch", 8), ("total", past + 1)]
            .map(|(name, size)| (name.to_owned(), size))
            .into();
        let cost = model.cost(&options).unwrap();
        let known = |dim: Option<Dim>| u128::try_from(dim.and_then(Dim::known).unwrap()).unwrap();
        known(cost.memory.inputs) + known(cost.memory.peak.map(|peak| peak.bytes))
    };
    for budget in [bytes(100), bytes(101) - 1] {
        let fit = model.cost(&options).unwrap().fit(&model, budget, Reuse::None).unwrap();
        let sizes: Vec<_> = fit.sizes.iter().map(|(name, size)| (&**name, *size)).collect();
        assert_eq!((&*fit.symbol, fit.most, fit.bytes), ("past", Some(100), bytes(100)));
        assert_eq!(sizes, [("batch", 8), ("total", 101)]);
    }
}

/// Callers may give an input another value than its default, of other sizes.
#[test]
fn sizes_of_defaults_are_not_declared() {
    let default = Tensor::zeros(DType::F32, gradus::Shape::new([0, 3]).unwrap()).unwrap();
    let sketch = Sketch::of("x: float32[n, m]").constant("x", default);
    let model = sketch.text("y = Neg(x); return y: float32[n, m]").model();
    let written = Model::from_bytes(&model.to_onnx().unwrap()).unwrap();
    let options = InferOptions::default();
    let inferred = written.declared(&written.infer(&options).unwrap(), &options).unwrap();
    let folded = written.fold(&FoldOptions::default()).unwrap().model;
    for (how, graph) in
        [("written", written.graph()), ("inferred", &inferred.graph), ("folded", &folded.graph)]
    {
        for id in [graph.inputs()[0], graph.outputs()[0]] {
            let declared = graph.value(id).declared.as_ref();
            assert_eq!(declared, Some(&tensor_type(DType::F32, &["n", "m"])), "{how}");
        }
    }
}

/// Maps with random seeds would name another one in each run.
#[test]
fn of_several_unknown_dimensions_the_first_by_name_is_named() {
    let model = Sketch::of("x: float32[n]; y = Neg(x); return y").model();
    for _ in 0..8 {
        let dims = ["e", "d", "c", "b", "a"].map(|name| (name.to_owned(), 1));
        let mut options = InferOptions::default();
        options.sizes.dims = dims.clone().into();
        let error = model.infer(&options).unwrap_err();
        assert_eq!(error.message(), "unknown dimension \"a\"; known: \"n\"");
        let mut options = gradus::check::CheckOptions::default();
        options.sizes.dims = dims.into();
        let error = model.check(&model, &options).unwrap_err();
        assert_eq!(error.message(), "unknown dimension \"a\"; known: \"n\"");
    }
}
