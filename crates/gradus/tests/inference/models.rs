//! Inference held against what ONNX Runtime computed: every model of a corpus, with declared shapes
//! ignored.
//!
//! The corpus is the folder that the variable `GRADUS_CORPUS` names; `truth/` in it has, per model,
//! two bindings of its symbols and the shape of every value under each. Without the variable,
//! nothing is checked.

use std::collections::BTreeMap;
use std::path::Path;

use gradus::fact::TensorFact;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::{Completeness, InferOptions, Inference, InputFact};
use gradus::{Dim, Fact, Limits, Model, OpenOptions};
use serde_json::Value as Json;

use crate::common::folder::models;
use crate::common::sketch::{Sketch, function};

/// Outcomes of the outputs of all nodes.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    values: usize,
    /// Shapes that were compared with the truth.
    compared: usize,
    full: usize,
    /// With symbols for what the data decide.
    data: usize,
    partial: usize,
    none: usize,
    wrong: Vec<String>,
    incomplete: Vec<String>,
}

fn truth(corpus: &Path, model: &Path) -> Option<Json> {
    let name = model.file_name()?.to_str()?.strip_suffix(".onnx")?;
    let bytes = std::fs::read(corpus.join("truth").join(format!("{name}.json"))).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// The shape of a value under a binding, with nothing for the dimensions that data decide.
fn evaluated(
    inference: &Inference,
    fact: &Fact,
    bindings: &BTreeMap<String, i64>,
) -> Option<Vec<Option<i64>>> {
    let Fact::Tensor(TensorFact { dims: Some(dims), .. }) = fact else { return None };
    let of = |dim: &Dim| inference.symbols().evaluate(*dim, &|name| bindings.get(name).copied());
    Some(dims.iter().map(of).collect())
}

fn bindings(truth: &Json, which: &str) -> BTreeMap<String, i64> {
    let entries = truth["bind"][which].as_object().unwrap();
    entries.iter().map(|(name, value)| (name.clone(), value.as_i64().unwrap())).collect()
}

fn count(tally: &mut Tally, name: &str, model: &Model, inference: &Inference) {
    tally.models += 1;
    let graph = model.graph();
    for id in graph.ids() {
        if !matches!(graph.value(id).origin, Origin::Node(..)) {
            continue;
        }
        tally.values += 1;
        let fact = inference.fact(id);
        let of = match inference.completeness(fact) {
            Completeness::Full => &mut tally.full,
            Completeness::Data => &mut tally.data,
            Completeness::Partial => &mut tally.partial,
            Completeness::None => &mut tally.none,
        };
        *of += 1;
        if inference.completeness(fact) > Completeness::Data {
            let why = inference.why_incomplete(id).join("; ");
            let value = &graph.value(id).name;
            tally.incomplete.push(format!("{name}: {value}: {} because {why}", inference.describe(fact)));
        }
    }
}

fn check(
    tally: &mut Tally,
    name: &str,
    model: &Model,
    inference: &Inference,
    shapes: &Json,
    bindings: &BTreeMap<String, i64>,
) {
    for (value, shape) in shapes.as_object().unwrap() {
        let Some(id) = model.graph().find(value) else { continue };
        let Some(want) = shape.as_array() else { continue };
        let fact = inference.fact(id);
        let Some(got) = evaluated(inference, fact, bindings) else { continue };
        let want: Vec<_> = want.iter().map(|dim| dim.as_i64().unwrap()).collect();
        tally.compared += 1;
        let same = got.len() == want.len()
            && got.iter().zip(&want).all(|(got, want)| got.is_none_or(|got| got == *want));
        if !same {
            tally.wrong.push(format!("{name}: {value} is {}, but {want:?}", inference.describe(fact)));
        }
    }
}

/// The inputs' dimensions under a binding, as types.
fn given(model: &Model, bindings: &BTreeMap<String, i64>) -> BTreeMap<String, InputFact> {
    let graph = model.graph();
    let mut all = BTreeMap::new();
    for &id in graph.inputs() {
        let info = graph.value(id);
        let Some(Type::Tensor(dtype, Some(sizes))) = &info.declared else { continue };
        if graph.constant(id).is_some() {
            continue;
        }
        let known = |size: &DeclaredDim| match size {
            DeclaredDim::Symbol(name) => match bindings.get(&**name) {
                Some(value) => DeclaredDim::Known(usize::try_from(*value).unwrap()),
                None => size.clone(),
            },
            other => other.clone(),
        };
        let sizes = sizes.iter().map(known).collect();
        all.insert(info.name.to_string(), InputFact::Type(Type::Tensor(*dtype, Some(sizes))));
    }
    all
}

#[test]
fn sizes_that_no_tensor_has_are_refused() {
    let model = Model::open("../../examples/positions.onnx").unwrap();
    let beyond = usize::try_from(i64::MAX).unwrap() + 1;
    for size in [DeclaredDim::Known(beyond), DeclaredDim::Between(0, Some(beyond))] {
        let mut options = InferOptions::default();
        let given = Type::Tensor(None, Some(vec![size, DeclaredDim::Unknown]));
        options.sizes.inputs.insert("tokens".to_owned(), InputFact::Type(given));
        let error = model.infer(&options).err().unwrap().to_string();
        let wanted = "size of axis 0 of input \"tokens\" is 9223372036854775808, expected at most 2^63 - 1";
        assert_eq!(error, wanted);
    }
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn every_shape_of_the_corpus_is_right() {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let corpus = Path::new(&corpus);
    let (mut symbolic, mut fixed) = (Tally::default(), Tally::default());
    for path in models(corpus, &["onnx"]) {
        let name = path.strip_prefix(corpus).unwrap().display().to_string();
        let model = Model::open(&path).unwrap();
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let inference = model.infer(&options).unwrap();
        for problem in inference.problems() {
            symbolic.wrong.push(format!("{name}: {}: {}", problem.place, problem.message));
        }
        count(&mut symbolic, &name, &model, &inference);
        let Some(truth) = truth(corpus, &path) else { continue };
        for which in ["A", "B"] {
            let bindings = bindings(&truth, which);
            let Some(shapes) = truth.get(format!("truth{which}")).filter(|shapes| shapes.is_object()) else {
                continue;
            };
            check(&mut symbolic, &format!("{name} at {which}"), &model, &inference, shapes, &bindings);
            let mut options = options.clone();
            options.sizes.inputs = given(&model, &bindings);
            let inference = model.infer(&options).unwrap();
            if which == "A" {
                count(&mut fixed, &name, &model, &inference);
            }
            check(&mut fixed, &format!("{name} fixed to {which}"), &model, &inference, shapes, &bindings);
        }
    }
    for (what, tally) in [("symbolic", &symbolic), ("fixed", &fixed)] {
        if std::env::var_os("GRADUS_SHOW").is_some() {
            println!("{}", tally.incomplete.join("\n"));
        }
        let Tally { models, values, compared, full, data, partial, none, wrong, .. } = tally;
        let share = 100.0 * f64::from(u32::try_from(full + data).unwrap())
            / f64::from(u32::try_from(*values).unwrap());
        println!(
            "{what}: {models} models, {values} values: {full} full, {data} with what the data decide, {partial} partial, \
             {none} without rank; {share:.2} % complete; {compared} compared, {} wrong",
            wrong.len()
        );
    }
    for tally in [&symbolic, &fixed] {
        assert!(tally.wrong.is_empty(), "{} are wrong:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
        assert!(tally.models > 0 && tally.compared > tally.values);
        assert!((tally.full + tally.data) * 1000 >= tally.values * 995, "{}", tally.incomplete.join("\n"));
    }
}

/// A function that calls another twice, which calls another twice, and so on: more calls than can
/// be visited.
#[test]
fn functions_that_multiply_are_not_followed_for_ever() {
    const LEVELS: usize = 30;
    let called = |level: usize| {
        let operator = if level + 1 == LEVELS { "Neg".to_owned() } else { format!("f.F{}", level + 1) };
        function(&format!("F{level}"), &[], &format!("x: ?; y = {operator}(x); z = {operator}(y); return z"))
    };
    let mut source = Sketch::of("x: ?; y = f.F0(x); return y").source(20);
    source.functions = (0..LEVELS).map(called).collect();
    let model = Model::from_source(source);
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert!(inference.subgraphs().len() <= 10_000);
}

/// OpenVINO's If of a value of unknown type, which one branch converts to float32.
#[test]
fn results_of_branches_are_not_of_the_type_of_the_condition() {
    let text = "c: bool[]; x: ?; y = If@8(c, x, then_port_map=ports 1:0 / 0:0,
        then_body={p: ?; y = Squeeze(p); return y}, else_port_map=ports 1:0 / 0:0,
        else_body={p: ?; y = Convert(p, destination_type=f32); return y}); return y";
    let model = Sketch::openvino(text).unwritten(0);
    let inference = model.infer(&InferOptions::default()).unwrap();
    let y = model.graph().outputs()[0];
    assert_eq!(inference.fact(y).dtype(), None);
}

/// Bytes changed at random places, always the same ones.
fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=next(4) {
        let at = next(bytes.len());
        bytes[at] = u8::try_from(next(256)).unwrap();
    }
    bytes
}

#[test]
fn damaged_models_are_inferred_without_a_panic() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths = models(&examples, &["onnx"]);
    if let Some(corpus) = std::env::var_os("GRADUS_CORPUS") {
        paths.extend(models(&Path::new(&corpus).join("handmade"), &["onnx"]));
        paths.extend(models(&Path::new(&corpus).join("custom"), &["onnx"]));
    }
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 26, 1000);
    let mut inferred = 0;
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for seed in 0..1000 {
            let Ok(model) = OpenOptions::new().limits(limits).from_bytes(&damaged(&bytes, seed).into())
            else {
                continue;
            };
            let mut options = InferOptions::default();
            options.limits = Some(limits);
            let _ = model.infer(&options);
            inferred += 1;
        }
    }
    assert!(inferred > 100, "{inferred} damaged models could be read");
}

/// The model of a sketch, with the output `y`, as it is before it is written to a file.
fn unwritten(sketch: Sketch) -> Model {
    sketch.text("return y").unwritten(18)
}

/// The type of `y`.
fn told(model: &Model) -> String {
    let inference = model.infer(&InferOptions::default()).unwrap();
    inference.describe(inference.fact(model.value("y").unwrap()))
}

#[test]
fn parts_below_zero_are_wrong_before_a_run_as_in_one() {
    for sizes in ["[5, -1]", "[-1, 5]"] {
        let model = unwritten(Sketch::of(&format!("x: int64[4]; sizes = {sizes}; y, z = Split(x, sizes)")));
        let inference = model.infer(&InferOptions::default()).unwrap();
        assert_eq!(inference.problems().len(), 1, "{:?}", inference.problems());
        assert!(model.run([("x", gradus::Tensor::vector(&[1i64, 2, 3, 4]))]).is_err());
    }
}

/// Repeats of one axis, as exporters write `repeat_interleave`.
#[test]
fn elements_of_one_hot_are_known_by_their_indices() {
    for (index, wanted) in [(1, "[batch, n*n]"), (-2, "[batch*n, n]"), (5, "[batch, n]")] {
        let told = told(&unwritten(Sketch::of(&format!(
            "x: float32[batch, n]; index = {index}; depth = 2; one = [1]; n = Shape(x, start=1);
             both = Concat(one, n, axis=0); repeats = OneHot(index, depth, both); y = Tile(x, repeats)"
        ))));
        assert!(told.contains(wanted), "{told} of index {index}, expected {wanted}");
    }
}

/// The type of a tensor whose shape, `target`, is computed from the sizes of `x`.
fn of_sizes(statements: &str) -> String {
    let sketch = Sketch::of("x: float32[batch, n]; sizes = Shape(x)").text(statements);
    told(&unwritten(sketch.text("y = ConstantOfShape(target)")))
}

/// TensorFlow splits pairs of pads, which dilated convolutions compute from sizes.
#[test]
fn parts_of_sizes_are_known_along_any_axis() {
    for (axis, part, wanted) in
        [(1, "a", "[1, batch]"), (1, "b", "[2, n]"), (0, "a", "[1, 2]"), (0, "b", "[batch, n]")]
    {
        let told = of_sizes(&format!(
            "row = [1, 2]; zero = [0]; flat = [-1]; first = Unsqueeze(row, zero);
             second = Unsqueeze(sizes, zero); both = Concat(first, second, axis=0);
             a, b = Split(both, axis={axis}, num_outputs=2); target = Reshape({part}, flat)"
        ));
        assert!(told.contains(wanted), "{told} of part {part} along axis {axis}, expected {wanted}");
    }
}

#[test]
fn padded_sizes_are_known() {
    for (pads, wanted) in [
        ("value = 7; pads = [1, 0]; target = Pad(sizes, pads, value)", "[7, batch, n]"),
        ("value = 1; pads = [2, -1]; target = Pad(sizes, pads, value)", "[1, 1, batch]"),
        ("pads = [0, 0]; target = Pad(sizes, pads)", "[batch, n]"),
    ] {
        let told = of_sizes(pads);
        assert!(told.contains(wanted), "{told} with {pads}, expected {wanted}");
    }
}

/// The shape of `x[start:]`, and what is assumed, where `x` has an axis and `start` is computed
/// from axes of other inputs.
fn slice_from(axis: &str, start: &[(&str, i64)]) -> (String, Vec<String>) {
    let mut sketch = Sketch::of(&format!("x: int64[{axis}]; a: int64[n]; s0 = Shape(a)"));
    for (i, (operator, operand)) in start.iter().enumerate() {
        sketch = sketch.text(&format!("c{i} = [{operand}]; s{} = {operator}(s{i}, c{i})", i + 1));
    }
    let last = start.len();
    let model = unwritten(sketch.text(&format!("end = [9223372036854775807]; y = Slice(x, s{last}, end)")));
    let inference = model.infer(&InferOptions::default()).unwrap();
    let assumed = inference.conditions().iter().map(|assumed| assumed.text.clone());
    (inference.describe(inference.fact(model.value("y").unwrap())), assumed.collect())
}

#[test]
fn signs_of_slice_bounds_follow_from_sizes() {
    let named = "axes of one name have one size: n";
    // x[-n:] of n elements is all of them, also if there are none.
    assert_eq!(slice_from("n", &[("Mul", -1)]), ("int64[n]".into(), vec![named.into()]));
    // An axis of 2*n - 1 elements has an n of at least 1.
    let (shape, assumed) = slice_from("2*n - 1", &[("Sub", 1)]);
    let axis = "size of axis 0 of input \"x\" is 2*n - 1".to_owned();
    assert_eq!((shape.as_str(), assumed), ("int64[n]", vec![axis]));
    // x[-n:] of m elements is all of them for n = 0.
    let (shape, assumed) = slice_from("m", &[("Mul", -1)]);
    assert_eq!((shape.as_str(), &assumed[..]), ("int64[min(m, n)]", &["n >= 1".to_owned()][..]));
    // n - 1 is negative only for n = 0, where it lies before the axis either way; n - 3 may count
    // from the end of two elements.
    assert_eq!(slice_from("n", &[("Sub", 1)]).0, "int64[min(n, 1)]");
    assert_eq!(slice_from("n", &[("Sub", 2)]).0, "int64[min(n, 2)]");
    assert_eq!(slice_from("n", &[("Sub", 3)]).0, "int64[Slice]");
    let (shape, assumed) = slice_from("m", &[("Sub", 3)]);
    assert_eq!((shape.as_str(), assumed.len()), ("int64[Slice]", 0), "{assumed:?}");
}

#[test]
fn axes_without_a_name_are_fixed_by_the_name_that_they_get() {
    let mut sketch = Sketch::openvino("x: ?; y = ShapeOf@3(x); return y");
    let x = sketch.0.reference("x");
    let dims = vec![DeclaredDim::Unknown, DeclaredDim::Between(1, None)];
    sketch.0.info(x).declared = Some(Type::Tensor(Some(gradus::DType::I64), Some(dims)));
    let model = sketch.unwritten(0);
    let infer = |dims: &[(&str, i64)]| {
        let dims = dims.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let mut options = InferOptions::default();
        options.sizes.dims = dims;
        model.infer(&options)
    };
    let shown = |dims: &[(&str, i64)]| {
        let inference = infer(dims).unwrap();
        inference.describe(inference.fact(model.value("x").unwrap()))
    };
    assert_eq!(shown(&[]), "int64[x_0, x_1]");
    assert_eq!(shown(&[("x_1", 4)]), "int64[x_0, 4]");
    let error = infer(&[("y_0", 4)]).unwrap_err().to_string();
    assert_eq!(error, "unknown dimension \"y_0\"; did you mean \"x_0\"?");
    // The first of several by name is named, in every run.
    for _ in 0..20 {
        let error = infer(&[("zz", 4), ("aa", 4), ("mm", 4)]).unwrap_err().to_string();
        assert!(error.starts_with("unknown dimension \"aa\""), "{error}");
    }
}

/// A size is never -1, which would mean the size of the input.
#[test]
fn transforms_have_the_sizes_that_are_taken_from_a_shape() {
    let text = "x: float32[?]; like: float32[?]; axes = [0]; size = ShapeOf@3(like);
                y = RDFT@9(x, axes, size); return y";
    let model = Sketch::openvino(text).unwritten(0);
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert_eq!(inference.describe(inference.fact(model.value("y").unwrap())), "float32[like_0//2 + 1, 2]");
}

/// A size that is rounded up from a quotient of float32 is known where an assumption leaves the
/// sizes that tensors have.
#[test]
fn quotients_are_not_known_for_a_handful_of_sizes_only() {
    for (divisor, wanted, assumed) in [
        (3f32, "float32[(n + 2)//3]", &["n <= 16777216"][..]),
        (0.25, "float32[4*n]", &["n <= 16777216", "n <= 4194304"]),
        // 10066330/2^25: a quotient above 3 may be rounded to an integer that it does not have.
        (0.3, "float32[Cast]", &["n <= 16777216"]),
    ] {
        let sketch = Sketch::of("x: float32[n]; n = Shape(x); float = Cast(n, to=1)")
            .constant("divisor", gradus::Tensor::scalar(divisor));
        let model = unwritten(sketch.text(
            "quotient = Div(float, divisor); up = Ceil(quotient); size = Cast(up, to=7);
             y = ConstantOfShape(size)",
        ));
        let inference = model.infer(&InferOptions::default()).unwrap();
        let rests = inference.conditions().iter().filter(|of| of.rests);
        let told = rests.map(|of| of.text.clone()).collect::<Vec<_>>();
        let shape = inference.describe(inference.fact(model.value("y").unwrap()));
        let told: Vec<_> = told.iter().map(String::as_str).collect();
        assert_eq!((shape.as_str(), &told[..]), (wanted, assumed), "{divisor}");
    }
}

/// `paddle2onnx` takes the larger of sizes and -1 in floats.
#[test]
fn larger_and_smaller_floats_are_sizes() {
    let sketch = Sketch::of("x: float32[n, 1]; shape = Shape(x); floats = Cast(shape, to=1)")
        .constant("least", gradus::Tensor::vector(&[-1f32, 5.0]))
        .constant("most", gradus::Tensor::vector(&[1e6f32, 4.0]));
    let model = unwritten(sketch.text(
        "larger = Max(floats, least); smaller = Min(most, larger); size = Cast(smaller, to=7);
         y = ConstantOfShape(size)",
    ));
    assert_eq!(told(&model), "float32[min(n, 1000000), 4]");
}

/// Operators of an IR that declares no types, on inputs of unknown rank: the types of their outputs
/// are those of any rank, and not those of the first input.
#[test]
fn types_of_an_ir_do_not_depend_on_ranks() {
    let text = |name: &'static str, text: &str| (name, Content::Text(text.into()));
    let top = vec![("axis", Content::Int(0)), text("mode", "max"), text("index_element_type", "i32")];
    let (float, int, truth) = (gradus::DType::F32, gradus::DType::I32, gradus::DType::Bool);
    let cases = [
        ("TopK", 11, vec!["x", "k"], top, vec![float, int]),
        ("Greater", 1, vec!["x", "x"], Vec::new(), vec![truth]),
        ("Select", 1, vec!["c", "x", "x"], Vec::new(), vec![float]),
        ("ReLU", 1, vec!["x"], Vec::new(), vec![float]),
        ("IsNaN", 10, vec!["x"], Vec::new(), vec![truth]),
    ];
    for (operator, version, inputs, attributes, types) in cases {
        let mut builder = Builder::new(operator);
        for (name, dtype) in [("x", float), ("c", truth)] {
            let id = builder.define(name, Origin::Input).unwrap();
            builder.info(id).declared = Some(Type::Tensor(Some(dtype), None));
        }
        builder.constant("k", gradus::Tensor::scalar(2i64).into()).unwrap();
        let outputs: Vec<_> = (0..types.len()).map(|output| format!("y{output}")).collect();
        let names: Vec<_> = outputs.iter().map(String::as_str).collect();
        builder.apply("node", operator, version, &inputs, &names, attributes).unwrap();
        let ids: Vec<_> = names.iter().map(|name| builder.output(name)).collect();
        let mut model = graph::Model::new(Standard::OpenVino);
        model.graph = builder.finish().unwrap();
        let inference = Model::from_source(model).infer(&InferOptions::default()).unwrap();
        let found: Vec<_> = ids.iter().map(|&id| inference.fact(id).dtype()).collect();
        assert_eq!(found, types.into_iter().map(Some).collect::<Vec<_>>(), "{operator}");
    }
}
