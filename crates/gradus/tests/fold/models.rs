//! Folding: what is removed, what is kept, and that nothing else changes.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use gradus::check::VerifyOptions;
use gradus::fold::{FoldOptions, Level, RuleSet};
use gradus::formats::onnx::encode_model;
use gradus::graph::{self, Content, Standard};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Model, Outputs, Shape, Tensor, Value};

use crate::common::folder::models;
use crate::common::sketch::{Sketch, read, tensor_type};

#[test]
fn a_model_in_memory_is_folded_as_its_file_is() {
    let file = Model::open("../../examples/heads.onnx").unwrap();
    let memory = Model::from_source(file.source().clone());
    let [one, other] = [&file, &memory].map(|model| {
        let folded = model.fold(&FoldOptions::default()).unwrap().model;
        encode_model(model.edited(&folded).unwrap().source()).unwrap().to_bytes(&[]).unwrap()
    });
    assert!(one == other);
}

/// The folded model, of which folding again changes nothing.
fn folded(model: &Model) -> Model {
    folded_with(model, &FoldOptions::default())
}

fn folded_with(model: &Model, options: &FoldOptions) -> Model {
    let once = model.edited(&model.fold(options).unwrap().model).unwrap();
    let mut options = options.clone();
    options.sizes.dims.clear();
    options.sizes.inputs.clear();
    let again = once.fold(&options).unwrap();
    let twice = once.edited(&again.model).unwrap();
    assert!(
        twice.bytes() == once.bytes(),
        "folding again makes {:?} of {:?}",
        operators(&twice),
        operators(&once)
    );
    once
}

/// The operators of the main graph in order.
fn operators(model: &Model) -> Vec<&str> {
    model.graph().nodes().iter().map(|node| &*node.operator.name).collect()
}

/// Both models give the same for zeros of these shapes, or for these integers.
fn same(before: &Model, after: &Model, inputs: &[(&str, Tensor)]) {
    let inputs: HashMap<_, _> =
        inputs.iter().map(|(name, tensor)| ((*name).to_owned(), Value::from(tensor.clone()))).collect();
    let run = |model: &Model| model.run(&inputs).unwrap();
    let text = |values: Outputs| format!("{values:?}");
    assert_eq!(text(run(before)), text(run(after)));
}

fn floats(dims: &[usize]) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let elements: Vec<_> = (0u16..).take(shape.len()).map(|i| f32::from(i) / 3.0).collect();
    Tensor::from_vec(shape, elements).unwrap()
}

/// x of shape [batch, seq, 8], its shape taken apart: `batch`, `seq` are vectors of one element.
fn taken_apart() -> Sketch {
    Sketch::of(
        "x: float32[batch, seq, 8]; zero = [0]; one = [1]; two = [2]; shape_a = Shape(x);
         batch = Gather(shape_a, zero); shape_b = Shape(x); seq = Gather(shape_b, one);
         shape_c = Shape(x); width = Gather(shape_c, two); half = Div(width, two)",
    )
}

#[test]
fn heads_of_attention_need_no_shapes() {
    let model = taken_apart()
        .text(
            "target = Concat(batch, seq, two, half, axis=0); y = Reshape(x, target);
             return y: float32[batch, seq, 2, 4]",
        )
        .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Reshape"]);
    assert_eq!(&*after.graph().value(after.graph().nodes()[0].inputs[1].unwrap()).name, "shape[0,0,2,4]");
    for dims in [[2, 3, 8], [1, 1, 8], [0, 5, 8], [5, 0, 8]] {
        same(&model, &after, &[("x", floats(&dims))]);
    }
}

#[test]
fn what_is_left_is_left_only_where_no_other_size_may_be_zero() {
    let model = |size: &str| {
        taken_apart()
            .text(
                "long = Mul(seq, half); target = Concat(batch, long, two, axis=0);
                 y = Reshape(x, target)",
            )
            .output("y", DType::F32, &[size, "", "2"])
            .model()
    };
    // -1 next to a dimension of 0 has no meaning, and batch may be 0.
    let after = folded(&model("batch"));
    assert!(operators(&after).contains(&"Shape"));
    same(&model("batch"), &after, &[("x", floats(&[0, 3, 8]))]);
    let mut options = FoldOptions::default();
    options.sizes.dims = BTreeMap::from([("batch".to_owned(), 2)]);
    let after = folded_with(&model("batch"), &options);
    assert_eq!(operators(&after), ["Reshape"]);
    same(&model("batch"), &after, &[("x", floats(&[2, 3, 8]))]);
}

#[test]
fn a_shape_that_is_needed_is_computed_once() {
    let model = taken_apart()
        .text(
            "zeros = 0.0; turned = Concat(seq, batch, axis=0); a = Expand(zeros, turned);
             shape_d = Shape(x); seq_again = Gather(shape_d, one);
             turned_again = Concat(seq_again, batch, axis=0); b = Expand(zeros, turned_again);
             return a: float32[seq, batch]; return b: float32[seq, batch]",
        )
        .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Shape", "Gather", "Gather", "Concat", "Expand", "Expand"]);
    same(&model, &after, &[("x", floats(&[2, 3, 8]))]);
}

#[test]
fn lists_of_sizes_that_a_concat_reads_are_its_inputs() {
    let part = |start, end| vec![("start", Content::Int(start)), ("end", Content::Int(end))];
    let model = Sketch::of("x: float32[n, 5, h, w]; zero = 0.0; a = Relu(x); b = Abs(a)")
        .with("Shape", &["b"], &["front"], part(0, 2))
        .with("Shape", &["x"], &["h"], part(2, 3))
        .with("Shape", &["x"], &["w"], part(3, 4))
        .text(
            "back = Concat(w, h, axis=0); all = Concat(front, back, axis=0);
             y = Expand(zero, all); return y: float32[n, 5, w, h];
             return b: float32[n, 5, h, w]",
        )
        .model();
    let after = folded(&model);
    assert!(operators(&after).len() <= 7, "{:?}", operators(&after));
    same(&model, &after, &[("x", floats(&[2, 5, 3, 4]))]);
}

#[test]
fn a_reshape_of_what_is_left_is_declared_by_its_data() {
    let model = Sketch::of(
        "x: float32[n, 3]; rows = [-1, 12]; open = [-1]; first = [0]; a = Reshape(x, rows);
         b = Reshape(a, open); y = Gather(b, first); return y: float32[1]",
    )
    .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Reshape", "Gather"]);
    same(&model, &after, &[("x", floats(&[8, 3]))]);
}

#[test]
fn constants_of_nodes_are_compared_by_their_elements() {
    let axis = |sketch: Sketch, name| {
        let value = Content::Int(1);
        sketch.with("Constant", &[], &[name], vec![("value_int", value)])
    };
    let sketch = Sketch::of("x: float32[n, 3]");
    let model = axis(axis(sketch, "first"), "second")
        .text("a = CumSum(x, first); b = CumSum(x, second); y = Add(a, b); return y: float32[n, 3]")
        .model();
    assert_eq!(operators(&folded(&model)), ["Constant", "CumSum", "Add"]);
}

/// ONNX Runtime makes one quantized node of a node and the dequantizations before it, if nothing
/// else reads them.
#[test]
fn each_reader_keeps_its_quantization() {
    let model = Sketch::of(
        "x: float32[n]; scale = 0.5; c = QuantizeLinear(x, scale);
         d = QuantizeLinear(x, scale); a = DequantizeLinear(c, scale);
         b = DequantizeLinear(d, scale); y = Relu(a); same = Relu(a); z = Neg(b);
         sum = Add(y, same); return sum: float32[n]; return z: float32[n]",
    )
    .model();
    assert_eq!(
        operators(&folded(&model)),
        ["QuantizeLinear", "QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "Relu", "Neg", "Add"]
    );
}

#[test]
fn bounds_of_slices_are_counted_from_the_end_only_where_that_is_the_same() {
    let model = |less: i64| {
        taken_apart()
            .ints("less", &[less])
            .text(
                "end = Sub(seq, less); y = Slice(x, zero, end, one);
                 return y: float32[batch, , 8]",
            )
            .model()
    };
    let whole = folded(&model(0));
    // The whole axis: nothing is left to do but to give the output its name.
    assert_eq!(operators(&whole), ["Slice"]);
    same(&model(0), &whole, &[("x", floats(&[2, 3, 8]))]);
    // With seq = 3 and 5 less, the end is -2: one element; counted from the end it would be none.
    let less = folded(&model(5));
    for seq in [0, 1, 3, 7] {
        same(&model(5), &less, &[("x", floats(&[2, seq, 8]))]);
    }
}

#[test]
fn what_changes_nothing_goes() {
    let model = Sketch::of(
        "x: float32[n, 4]; ones = [1, 1]; first = [0]; flat = [-1]; shape = Shape(x);
         a = Identity(x); b = Cast(a, to=1); c = Expand(b, shape); d = Tile(c, ones);
         e = Unsqueeze(d, first); f = Squeeze(e, first); g = Reshape(f, shape);
         h = Transpose(g, perm=[0, 1]); i = Reshape(h, flat); y = Neg(i);
         return y: float32[?]",
    )
    .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Reshape", "Neg"]);
    same(&model, &after, &[("x", floats(&[3, 4]))]);
}

#[test]
fn the_branch_of_a_known_condition_takes_its_place() {
    let branch = |name: &str, operator: &str| {
        Sketch::nested()
            .node(operator, &["x"], &["inner"])
            .node("Abs", &["inner"], &[name])
            .output(name, DType::F32, &["n"])
            .graph()
    };
    let model = Sketch::of(
        "x: float32[n]; rank = 1; shape = Shape(x); size = Size(shape);
         vector = Equal(size, rank)",
    )
    .with(
        "If",
        &["vector"],
        &["y"],
        vec![("then_branch", branch("t", "Neg")), ("else_branch", branch("e", "Ceil"))],
    )
    .with(
        "If",
        &["vector"],
        &["z"],
        vec![("then_branch", branch("t", "Floor")), ("else_branch", branch("e", "Ceil"))],
    )
    .text("sum = Add(y, z); return sum: float32[n]; return z: float32[n]")
    .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Neg", "Abs", "Floor", "Abs", "Add"]);
    same(&model, &after, &[("x", floats(&[5]))]);
}

/// The branch defines an output of If that nobody reads, and one that is a value around it.
#[test]
fn outputs_of_branches_are_declared_and_named_as_if_they_had_been_around() {
    let branch = |names: [&str; 3]| {
        let split = vec![("num_outputs", Content::Int(2)), ("axis", Content::Int(1))];
        let sketch = Sketch::nested().with("Split", &["x"], &names[..2], split);
        let sketch = sketch.node("Identity", &["s"], &[names[2]]);
        names.iter().fold(sketch, |sketch, name| sketch.output(name, DType::F32, &["n", ""])).graph()
    };
    let graphs =
        vec![("then_branch", branch(["t1", "t2", "t3"])), ("else_branch", branch(["e1", "e2", "e3"]))];
    let model = Sketch::of("x: float32[n, 4]; yes = true; s = Sin(x)")
        .with("If", &["yes"], &["a", "b", "c"], graphs)
        .text("y = Relu(a); return y: float32[n, 2]; return c: float32[n, 4]")
        .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Sin", "Split", "Relu"]);
    let unread = after.graph().value(after.value("t2").unwrap());
    assert_eq!(unread.declared, Some(tensor_type(DType::F32, &["n", "2"])));
    same(&model, &after, &[("x", floats(&[3, 4]))]);
}

/// Checkers find a wrong shape as soon as folding tells them more about the inputs of its node.
#[test]
fn wrong_declared_shapes_are_removed_or_corrected() {
    let branch = |name: &str| {
        Sketch::nested().node("Identity", &["x"], &[name]).output(name, DType::F32, &["n"]).graph()
    };
    let graphs = vec![("then_branch", branch("then")), ("else_branch", branch("else"))];
    let mut sketch = Sketch::of("x: float32[n, 4]; yes = true")
        .with("If", &["yes"], &["a"], graphs)
        .text("b = Relu(a); y = Neg(b); return y: float32[n]");
    let id = sketch.0.reference("b");
    sketch.0.info(id).declared = Some(tensor_type(DType::F32, &["n"]));
    let model = sketch.model();
    let mut silent = FoldOptions::default();
    silent.declare = false;
    let right = Some(tensor_type(DType::F32, &["n", "4"]));
    for (options, inner) in [(FoldOptions::default(), right.clone()), (silent, None)] {
        let after = folded_with(&model, &options);
        assert_eq!(operators(&after), ["Relu", "Neg"]);
        let declared = |name| after.graph().value(after.value(name).unwrap()).declared.clone();
        assert_eq!((declared("b"), declared("y")), (inner, right.clone()));
        same(&model, &after, &[("x", floats(&[3, 4]))]);
    }
}

/// The first iteration takes another branch than those after it.
#[test]
fn branches_of_one_iteration_are_not_those_of_all() {
    let branch = |name: &str| {
        Sketch::nested().node("Add", &["i", "one"], &[name]).output(name, DType::I64, &[]).graph()
    };
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]; zero = 0; on = Identity(go); first = Equal(i, zero)")
        .with("If", &["first"], &["y"], vec![("then_branch", branch("t")), ("else_branch", branch("e"))])
        .text("return on: bool[]; return y: int64[]");
    let model = Sketch::of("x: int64[3]; one = 1; trips = 3")
        .with("Loop", &["trips", ""], &["ys"], vec![("body", body.graph())])
        .text("z = Add(ys, x); return z: int64[3]")
        .model();
    same(&model, &folded(&model), &[("x", Tensor::vector(&[0i64, 0, 0]))]);
}

#[test]
fn branches_within_branches_take_their_places_too() {
    let inner = |operator: &str| {
        Sketch::nested().node(operator, &["x"], &["deep"]).text("return deep: float32[n]").graph()
    };
    let branch = |name: &str| {
        let graphs = vec![("then_branch", inner("Neg")), ("else_branch", inner("Ceil"))];
        Sketch::nested().with("If", &["yes"], &[name], graphs).output(name, DType::F32, &["n"]).graph()
    };
    let model = Sketch::of(
        "x: float32[n]; rank = 1; shape = Shape(x); size = Size(shape);
         yes = Equal(size, rank)",
    )
    .with("If", &["yes"], &["y"], vec![("then_branch", branch("t")), ("else_branch", branch("e"))])
    .text("z = Abs(y); return z: float32[n]")
    .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Neg", "Abs"]);
    same(&model, &after, &[("x", floats(&[5]))]);
}

/// Runtimes infer both branches when they load a model, and refuse it if they find that one fails:
/// with the shape of `x` in place of its Shape they would.
#[test]
fn a_branch_that_fails_at_the_sizes_given_stays_as_it_is() {
    let branch = |name: &str, weights: &str| {
        let text = format!(
            "shape{name} = Shape(x); flat{name} = Reshape(x, shape{name}); {name} = Add(flat{name}, {weights})"
        );
        Sketch::nested().text(&text).output(name, DType::F32, &["n"]).graph()
    };
    let graphs = vec![("then_branch", branch("t", "four")), ("else_branch", branch("e", "three"))];
    let model = Sketch::of("x: float32[n]; long: bool[]")
        .constant("four", Tensor::vector(&[1f32; 4]))
        .constant("three", Tensor::vector(&[1f32; 3]))
        .with("If", &["long"], &["y"], graphs)
        .text("return y: float32[n]")
        .model();
    let mut options = FoldOptions::default();
    options.sizes.dims.insert("n".into(), 4);
    let report = model.fold(&options).unwrap().report;
    let [stayed] = &*report.kept else { panic!("{:?}", report.kept) };
    assert_eq!(stayed.reason, "a graph within it fails whenever it runs, and is left as it is");
    let after = folded_with(&model, &options);
    let of_branch = |name: &str| {
        let Some(Content::Graph(graph)) = after.graph().nodes()[0].attribute(name) else {
            panic!("no {name}")
        };
        graph.nodes().iter().map(|node| node.operator.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of_branch("then_branch"), ["Add"]);
    assert_eq!(of_branch("else_branch"), ["Shape", "Reshape", "Add"]);
}

#[test]
fn constants_of_old_models_are_nodes() {
    let mut source = graph::Model::new(Standard::Onnx);
    source.format_version = 3;
    source.opsets = vec![("".into(), 9)];
    let sketch = taken_apart().text(
        "target = Concat(batch, seq, two, half, axis=0); y = Reshape(x, target);
         return y: float32[batch, seq, 2, 4]",
    );
    source.graph = sketch.0.finish().unwrap();
    let model = read(&encode_model(&source).unwrap());
    assert_eq!(operators(&folded(&model)), ["Constant", "Reshape"]);
}

#[test]
fn one_of_several_outputs_that_is_known_stays_with_the_others() {
    let model = Sketch::of(
        "x: float32[4]; a, b = Split(x, num_outputs=2); s = Shape(a); return b: float32[2];
         return s: int64[1]",
    )
    .model();
    assert_eq!(operators(&folded(&model)), ["Split", "Constant"]);
}

#[test]
fn inner_graphs_are_folded_and_read_what_is_left_around_them() {
    let body = Sketch::nested()
        .text(
            "i: int64[]; go: bool[]; v: float32[batch, seq, 8]; on = Identity(go);
             inner_shape = Shape(x); wide = Expand(v, inner_shape); w = Reshape(wide, seen);
             return on: bool[]; return w: float32[batch, seq, 8]",
        )
        .graph();
    let model = taken_apart()
        .text("runs = 3; seen = Concat(batch, seq, width, axis=0)")
        .with("Loop", &["runs", "", "x"], &["y"], vec![("body", body)])
        .text("return y: float32[batch, seq, 8]")
        .model();
    let mut options = FoldOptions::default();
    options.rules = RuleSet::default().without("unrolled-loops").unwrap();
    let after = folded_with(&model, &options);
    assert_eq!(operators(&after), ["Loop"]);
    let inner = after.graph().nodes()[0].graphs().next().unwrap();
    let inner: Vec<_> = inner.nodes().iter().map(|node| &*node.operator.name).collect();
    assert!(!inner.contains(&"Shape") && !inner.contains(&"Expand"), "{inner:?}");
    same(&model, &after, &[("x", floats(&[2, 3, 8]))]);
}

/// Files before version 4 list all constants as inputs.
#[test]
fn defaults_of_inputs_may_be_replaced_from_version_4_on() {
    for (version, is_default) in [(3, false), (4, true), (8, true)] {
        let model = Sketch::of(
            "x: float32[2, 3]; k: int64[1]; k = [6]; a = Neg(k); b = Neg(a);
             c = Reshape(x, b); y = Shape(k); return c: float32[?]; return y: int64[1]",
        )
        .model();
        let mut source = model.source().clone();
        source.format_version = version;
        let model = read(&encode_model(&source).unwrap());
        let inference = model.infer(&InferOptions::default()).unwrap();
        let is_assumed = inference.conditions().iter().any(|assumed| assumed.text.contains("default"));
        assert_eq!(is_assumed, is_default, "version {version}");
        let given = || [("x", floats(&[2, 3])), ("k", Tensor::vector(&[-1i64]))];
        let after = folded(&model);
        assert_eq!(model.run(given()).is_ok(), is_default, "version {version}");
        if is_default {
            same(&model, &after, &given());
        }
    }
}

#[test]
fn outputs_keep_their_names_and_a_default_may_be_replaced() {
    let model = Sketch::of(
        "x: float32[2, 3]; d: int64[1]; d = [6]; shape = Shape(x); y = Identity(shape);
         z = Reshape(x, d); return y: int64[2]; return z: float32[?]",
    )
    .model();
    let after = folded(&model);
    assert_eq!(operators(&after), ["Constant", "Reshape"]);
    assert_eq!(after.graph().inputs().len(), 2);
    same(&model, &after, &[("x", floats(&[2, 3]))]);
    same(&model, &after, &[("x", floats(&[2, 3])), ("d", Tensor::vector(&[6i64]))]);
}

#[test]
fn floats_that_differ_between_programs_are_not_computed_beforehand() {
    let model = Sketch::of(
        "half = float32[2](0.5, 2); x: float32[2]; e = Exp(half); m = Mul(half, half);
         a = Add(x, e); y = Add(a, m); return y: float32[2]",
    )
    .model();
    assert_eq!(operators(&folded(&model)), ["Exp", "Add", "Add"]);
}

#[test]
fn what_is_not_understood_keeps_what_it_reads() {
    let mut model = taken_apart();
    let inputs = ["shape_a", "shape_b"].map(|name| Some(model.0.reference(name)));
    let node = graph::Node {
        name: "opaque".into(),
        operator: graph::OperatorId { domain: "my.domain".into(), name: "Op".into(), overload: "".into() },
        version: Some(1),
        inputs: inputs.into_iter().collect(),
        outputs: graph::Slots::new(),
        attributes: Vec::new(),
        position: None,
    };
    model.0.push(node, &["y"]).unwrap();
    let model = model.text("return y: float32[]").model();
    assert_eq!(operators(&folded(&model)), ["Shape", "Shape", "Op"]);
}

#[test]
fn constants_that_are_too_large_are_not_added() {
    let model = Sketch::of(
        "shape = [60, 60]; x: float32[60, 60]; zeros = ConstantOfShape(shape);
         y = Add(x, zeros); return y: float32[60, 60]",
    )
    .model();
    assert_eq!(operators(&folded(&model)), ["Add"]);
    let mut options = FoldOptions::default();
    options.max_constant = 14_399;
    assert_eq!(operators(&folded_with(&model, &options)), ["ConstantOfShape", "Add"]);
}

/// Folds every model of a folder, whose values must stay; folding them again at the same level must
/// change nothing.
/// Returns how many `Shape` nodes there are before and after.
fn fold_every_model(folder: &Path) -> (usize, usize) {
    let paths = models(folder, &["onnx"]);
    let (mut before, mut after, mut values) = (0, 0, 0);
    for path in &paths {
        let model = Model::open(path).unwrap();
        let fold = model.fold(&FoldOptions::default()).unwrap();
        println!("{}", path.display());
        for level in [Level::Shapes, Level::Fuse] {
            let mut options = FoldOptions::default();
            options.rules = RuleSet::of(level);
            folded_with(&model, &options);
        }
        let once = folded(&model);
        let verified = model.verify(&once, RuleSet::default(), &VerifyOptions::default());
        values += verified.unwrap_or_else(|error| panic!("{}: {error}", path.display())).values;
        let count = |counts: Option<&(usize, usize)>| counts.copied().unwrap_or_default();
        before += count(fold.report.operators.get("Shape")).0;
        after += count(fold.report.operators.get("Shape")).1;
        let (input, output) = (model.graph().inputs().len(), model.graph().outputs().len());
        assert_eq!((input, output), (once.graph().inputs().len(), once.graph().outputs().len()));
    }
    println!("{} models: {before} Shape nodes became {after}; {values} values compared", paths.len());
    assert!(!paths.is_empty(), "{} has models", folder.display());
    (before, after)
}

#[test]
fn every_example_is_folded_says_the_same_after_and_does_not_change_again() {
    fold_every_model(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn every_model_of_the_corpus_is_folded_says_the_same_after_and_does_not_change_again() {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let (before, after) = fold_every_model(Path::new(&corpus));
    assert!(after < before);
}

/// Runtimes do not hold inputs to what names of dimensions say.
#[test]
fn names_of_dimensions_that_are_numbers_are_names() {
    let model = Sketch::of("x: float32[4+4, 03]; y = Shape(x); return y: int64[2]").model();
    let folded = model.fold(&FoldOptions::default()).unwrap();
    assert_eq!(folded.report.nodes(), (1, 1));
    let id = model.value("y").unwrap();
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert_eq!(inference.elements(inference.fact(id)).unwrap(), "['4+4', 3]");
}

/// No runtime holds inputs to the expressions that they declare.
#[test]
fn sizes_that_are_not_the_declared_expressions_are_told() {
    let model = Sketch::of(
        "a: float32[n, 2*n]; b: float32[m, (n + k)//2]; y = Shape(a); z = Neg(b);
         return y: int64[2]; return z: float32[, ]",
    )
    .model();
    let run = |a: [usize; 2]| model.run([("a", floats(&a)), ("b", floats(&[1, 7]))]);
    let told = |a: [usize; 2]| {
        let given = [("a", Value::from(floats(&a))), ("b", floats(&[1, 7]).into())];
        model.unequal_sizes(|name| given.iter().find(|(known, _)| *known == name).map(|(_, value)| value))
    };
    for (sizes, wanted) in
        [([2, 4], &[][..]), ([2, 5], &["size of axis 1 of input \"a\" is 5, expected 4, which is 2*n"])]
    {
        assert!(run(sizes).is_ok());
        assert_eq!(told(sizes), wanted);
    }
}

#[test]
fn that_equal_names_are_equal_sizes_is_an_assumption() {
    let model = Sketch::of("a: float32[n]; b: float32[n, 2*n]; y = Shape(b); return y: int64[2]").model();
    let texts = |options: &FoldOptions| {
        let folded = model.fold(options).unwrap();
        folded.report.assumptions.into_iter().map(|assumption| assumption.text).collect::<Vec<_>>()
    };
    let expression = "size of axis 1 of input \"b\" is 2*n";
    assert_eq!(texts(&FoldOptions::default()), [expression, "axes of one name have one size: n"]);
    let mut fixed = FoldOptions::default();
    fixed.sizes.dims.insert("n".to_owned(), 3);
    assert_eq!(texts(&fixed), [expression]);
}

/// A shape that is given fixes the names of its axes in every binding.
#[test]
fn folding_to_given_shapes_is_verified() {
    let model = Sketch::of("x: float32[batch, 4]; y = Shape(x); return y: int64[2]").model();
    let mut options = FoldOptions::default();
    let shape = tensor_type(DType::F32, &["2", "4"]);
    options.sizes.inputs.insert("x".to_owned(), InputFact::Type(shape));
    let folded = model.fold(&options).unwrap();
    let after = model.edited(&folded.model).unwrap();
    let mut given = VerifyOptions::default();
    given.sizes.inputs.clone_from(&options.sizes.inputs);
    assert!(model.verify(&after, options.rules, &given).unwrap().values > 0);
}

/// Names that are given take the place of numbers, in the folded model too.
#[test]
fn folding_opens_the_shapes_that_are_given() {
    let model = Sketch::of("x: float32[1, 3, 4]; y = Relu(x)");
    let model = model.text("return y: float32[1, 3, 4]").model();
    let mut options = FoldOptions::default();
    options.sizes.inputs.insert("x".to_owned(), InputFact::Type(tensor_type(DType::F32, &["n", "3", "4"])));
    let after = model.edited(&model.fold(&options).unwrap().model).unwrap();
    let declared = |id: &graph::ValueId| after.graph().value(*id).declared.as_ref().map(ToString::to_string);
    for id in after.graph().inputs().iter().chain(after.graph().outputs()) {
        assert_eq!(declared(id).as_deref(), Some("float32[n, 3, 4]"));
    }
}

/// Layers of JAX and PyTorch that compute on matrices, with an activation between them.
#[test]
fn values_between_views_get_other_names_with_their_shapes() {
    let model = Sketch::of("x: float32[n, 2, 3]; rows = [-1, 3]; back = [-1, 2, 3]")
        .constant("w", Tensor::from_vec(Shape::new(vec![3, 3]).unwrap(), vec![0.5f32; 9]).unwrap())
        .text(
            "a = Reshape(x, rows); b = MatMul(a, w); c = Reshape(b, back); d = Relu(c);
             e = Reshape(d, rows); f = MatMul(e, w); y = Reshape(f, back);
             return y: float32[n, 2, 3]",
        )
        .model();
    let options = FoldOptions::default();
    let folded = model.fold(&options).unwrap();
    let after = model.edited(&folded.model).unwrap();
    assert_eq!(after.graph().nodes().len(), 5);
    let verified = model.verify(&after, options.rules, &VerifyOptions::default()).unwrap();
    assert!(verified.values > 0 && verified.runs > 0);
    let facts = |model: &Model| {
        let inference = model.infer(&InferOptions::default()).unwrap();
        let text = |id| (model.graph().value(id).name.clone(), inference.describe(inference.fact(id)));
        model.graph().ids().map(text).collect::<HashMap<_, _>>()
    };
    let (before, facts) = (facts(&model), facts(&after));
    assert!(!facts.contains_key("d"));
    assert_eq!(facts["d_reshaped"], facts["b"]);
    for (name, fact) in &facts {
        assert!(before.get(name).is_none_or(|other| other == fact), "{name}: {fact}");
    }
}

#[test]
fn verification_runs_both_models_and_names_the_outputs_that_differ() {
    let model = |factor: f32| {
        let name = format!("factor {factor}");
        Sketch::of("x: float32[n, 4]")
            .constant(&name, Tensor::scalar(factor))
            .node("Mul", &["x", &name], &["y"])
            .text(
                "z = Add(y, x); w = Relu(x); return y: float32[n, 4]; return z: float32[n, 4];
                 return w: float32[n, 4]",
            )
            .model()
    };
    let (given, exact) = (VerifyOptions::default(), RuleSet::default());
    let verify = |rules| model(0.5).verify(&model(0.75), rules, &given);
    let same = model(0.5).verify(&model(0.5), exact, &given).unwrap();
    assert!((same.bindings, same.runs, same.refused) == (5, 6, None) && same.elements > 100);
    assert_eq!(same.sizes, ["1", "unequal", "equal", "n = 0", "1 to 39"]);
    let error = verify(exact).unwrap_err().to_string();
    assert!(error.starts_with("folded output \"y\", \"z\" at element "), "{error}");
    assert!(verify(RuleSet::of(Level::Fuse)).is_ok());
    // Floats that sizes decide are known without a run.
    let of_sizes = |factor: f32| {
        Sketch::of("x: float32[n]")
            .constant("factor", Tensor::scalar(factor))
            .text(
                "sizes = Shape(x); floats = Cast(sizes, to=1); y = Mul(floats, factor);
                 return y: float32[1]",
            )
            .model()
    };
    let verify = |rules| of_sizes(0.5).verify(&of_sizes(0.50000006), rules, &given);
    assert!(verify(RuleSet::of(Level::Fuse)).is_ok());
    assert!(verify(exact).is_err());
    let mut hurried = VerifyOptions::default();
    hurried.time = Duration::ZERO;
    let late = model(0.5).verify(&model(0.75), exact, &hurried).unwrap();
    assert_eq!((late.bindings, late.runs), (0, 0));
    assert_eq!(late.refused.as_deref(), Some("no run ended in the time for it"));
    let mut fixed = VerifyOptions::default();
    let x = Tensor::from_vec(Shape::new(vec![2, 4]).unwrap(), vec![0f32; 8]).unwrap();
    fixed.sizes.inputs.insert("x".to_owned(), InputFact::Value(x.into()));
    assert!(model(0.5).verify(&model(0.75), exact, &fixed).unwrap().sizes.is_empty());
    let drawn = Sketch::of("y = RandomUniform(shape=[2]); return y: float32[2]").model();
    let verified = drawn.verify(&drawn, exact, &given).unwrap();
    assert_eq!((verified.runs, verified.refused.as_deref()), (0, Some("the model draws numbers at random")));
}

/// A model that is another for one size alone.
/// Sizes that a file declares ask the limits before inputs are made.
#[test]
fn verification_makes_no_inputs_beyond_the_limits() {
    let refused = |dtype, len: &str, time: Option<Duration>| {
        let sketch = || Sketch::new().input("x", dtype, &[len]).text("y = Shape(x)");
        let model = sketch().text("return y: int64[1]").model();
        let mut options = VerifyOptions::default();
        options.time = time.unwrap_or(options.time);
        model.verify(&model, RuleSet::default(), &options).unwrap().refused.unwrap()
    };
    for dtype in [DType::I32, DType::F32, DType::String] {
        let why = refused(dtype, "1099511627776", None);
        assert!(why.contains("cannot allocate: number of bytes"), "{why}");
    }
    // The time ends while elements are made, too.
    let why = refused(DType::I8, "134217728", Some(Duration::from_millis(20)));
    assert_eq!(why, "no run ended in the time for it");
}

#[test]
fn verification_binds_zero_one_and_equal_sizes() {
    let joined = |special: &[&str]| {
        let sketch = Sketch::of(
            "x: float32[n, m]; none = 0; one = 1; s = Shape(x); n = Gather(s, none);
             m = Gather(s, one)",
        )
        .node("Equal", special, &["is"])
        .text("y = Cast(is, to=7)");
        sketch.text("w = Identity(x); return y: int64[]; return w: float32[n, m]")
    };
    let other = Sketch::of(
        "x: float32[n, m]; never = 0; y = Identity(never); w = Identity(x); return y: int64[];
         return w: float32[n, m]",
    )
    .model();
    for special in [["n", "none"], ["m", "none"], ["n", "one"], ["m", "one"], ["n", "m"]] {
        let error = joined(&special).model().verify(&other, RuleSet::default(), &VerifyOptions::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("\"y\""), "{special:?}: {error}");
    }
}
